"""Somebody else's SPARQL: what may run is decided here, before the engine sees it."""
