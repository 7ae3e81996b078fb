"""
The vocabulary as people and other programs read it: the page `docs/ontology.md` and the JSON-LD context.

*Flow:* `ontology/*.ttl` → `terms` → `page`, `diagrams`, `context`; `make docs` writes what they make.
"""
