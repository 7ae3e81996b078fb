"""
SPARQL from users: every interface passes it through this package.

*Flow:* `guard` reads a query, `rewrite` and `federation` put rows where it asks for memory or other endpoints, and `prepare` makes
the job; `update` splits an update into operations. A `worker` of the `pool` does the job on a snapshot, in a process that can be
killed, with `evaluate` or `trial`. The changes of an update come back as a delta, which is validated (`effects`) and written
atomically.

*Because:* the engine has no time limit and can be made to access the network: SPARQL from users never runs in the process that owns
the store.
"""
