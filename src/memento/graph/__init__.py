"""
The store, for our own queries: terms, slots, nouns as quads, and the embedded Oxigraph.

*Flow:* `model` nouns → `mapping` → quads → `terms` → `oxigraph`; `queries/*.rq` → `binding` → `oxigraph` → rows.
"""
