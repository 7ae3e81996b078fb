"""
A small expression language for the memory: its queries and commands as text that can be stored, sent and nested.

*Flow:* `forms` (text → forms with positions) → `evaluation` (forms → values, by a table of verbs) → `forms` (values → text).
`verbs` has the table; each verb calls operations of the service.
"""
