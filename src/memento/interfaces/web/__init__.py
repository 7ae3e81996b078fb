"""
Every HTTP door: parse, call the service, render.

*Flow:* `server` (one process, one port) → `app` (who may ask, how errors are told) → `rest`, `sparql`, `proxy` → `asked` →
`service`.
`departures` tells the proxy of clients that leave.
"""
