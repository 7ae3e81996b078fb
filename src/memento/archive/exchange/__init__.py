"""
Memories as RDF documents: written whole, and read into the same or another place.

*Flow:* `names` (whose graph is this) → `leaving` (what goes out) → a document → `arriving` (what comes in).
"""
