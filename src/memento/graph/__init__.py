"""
The store: the protocol that the packages above use, the embedded Oxigraph behind it, our queries, model classes as quads,
documents, shapes and inference.

*Flow:* classes of `model` → `mapping` → quads → `terms` → `oxigraph`; `queries/*.rq` → `binding` → `oxigraph` → rows.
"""
