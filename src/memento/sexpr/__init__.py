"""
A small language for the memory: what it can be asked and told, in expressions that can be written down, sent and nested.

*Flow:* `reader` (text → forms with their places) → `evaluation` (forms → values, by a table of verbs, that of `service/verbs.py`) →
`printer` (values → text). `dataset` is a memory as one expression.
"""
