"""
A map of the memory: which parts belong together, what they turn on, what is new and what fades.

*Flow:* `structure` (communities, ranks, bridges, of numbers alone) → `maps` (names and texts of it, cached).
"""
