"""
A map of the memory: what hangs together, what it turns on, what is new and what fades.

*Flow:* `structure` (communities, ranks, bridges, of numbers alone) → `text` (500 tokens of it, for a model).
"""
