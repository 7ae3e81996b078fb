"""
A small language to query and change the memory, in expressions that can be stored, sent and nested.

*Flow:* `forms` (text → forms with their positions) → `evaluation` (forms → values, with the table of verbs) → `forms` (values →
text). The table is in `verbs`; each verb calls the service.
"""
