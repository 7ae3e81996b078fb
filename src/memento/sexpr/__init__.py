"""
A small language for the memory: what it can be asked and told, in expressions that can be written down, sent and nested.

*Flow:* `forms` (text → forms with their places) → `evaluation` (forms → values, by a table of verbs) → `forms` (values → text).
The table is that of `verbs`, each of which asks the service.
"""
