"""
The store: the protocol that all rooms above use, the embedded Oxigraph behind it, our queries, nouns as quads, documents, shapes
and inference.

*Flow:* `model` nouns → `mapping` → quads → `terms` → `oxigraph`; `queries/*.rq` → `binding` → `oxigraph` → rows.
"""
