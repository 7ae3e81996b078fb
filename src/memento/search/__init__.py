"""
The derived indexes (dense ids, vectors, words, labels, keys, links, numbers), all built from the graph alone.

*Flow:* the graph's records → `Indexes.reconcile` (at start) or `Indexes.refresh` (after a write) → each registered index.

*Guarantees:* every index is a function of the graph and the embedder; deleting all of them loses nothing. To add an index, add one
file (see `index.py`).
"""
