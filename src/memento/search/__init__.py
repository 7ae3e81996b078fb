"""
The derived indexes: dense ids, vectors, words, labels and links, all made from the graph and from nothing else.

*Flow:* `graph` → `reconcile` (at start) or `indexes.refresh` (after a write) → `nodes`, `vectors`, `words`, `labels`, `adjacency`.

*Guarantees:* every index is a function of the graph and the embedder; deleting all of them loses nothing.
"""
