"""
The store: the protocol that all modules above use, the embedded Oxigraph store behind it, query files, the mapping of nouns to
quads, documents, shapes and inference.

*Flow:* classes of `model` → `mapping` → quads → `terms` → `oxigraph`; `queries/*.rq` → `binding` → `oxigraph` → rows.
"""
