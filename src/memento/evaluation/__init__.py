"""
How well Memento recalls, on any set of documents, questions and judgements.

*Flow:* a folder → `sets` → `report` (drives `service.Memento`) → `metrics` → figures, table.
"""
