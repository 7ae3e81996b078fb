"""
How well Memento recalls, on any set of documents, questions and judgements.

*Flow:* a folder → `sets` → `trial` (drives `service.Memento`) → `report` → figures, table.
"""
