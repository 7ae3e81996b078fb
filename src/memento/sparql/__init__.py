"""
SPARQL from users: the single entry point for every interface.

*Flow:* `guard` checks a query. `rewrite` and `federation` insert rows where it calls the memory or other endpoints, and `prepare`
builds the job; `update` splits an update into operations. A `worker` of the `pool` runs the job on a snapshot, in a process that
can be killed, with `evaluate` or `trial`. The changes of an update come back as a delta, are checked by `effects`, and are
written atomically.

*Because:* the engine has no time limit, and a query can make it connect to the network. A user's query therefore never runs in the
process that owns the store.
"""
