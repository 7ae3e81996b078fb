"""
The SPARQL protocols over HTTP: parse, call the service, render.

*Flow:* `query` (the query operation at `/sparql`), `cors` (which pages of other origins may ask).
"""
