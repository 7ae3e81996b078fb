"""
HTTP: parse, call the service, render.

*Flow:* `server` (one process, one port) → `app` (authorization, error responses) → `rest`, `sparql_http`, `proxy` → `requests`
(parameters) → `service`. `connection` handles clients that disconnect or send too slowly.
"""
