"""
HTTP: parse, call the service, render.

*Flow:* `server` (one process, one port) → `app` (who may ask, how errors are told) → `rest`, `sparql_http`, `proxy` → `requests`
(what is asked) → `service`. `connection` tells of clients that leave or hardly send.
"""
