"""
Foreign SPARQL: the one way in for every interface.

*Flow:* `guard` reads a query, `rewrite` and `federation` put rows where it asks for memory or for other endpoints, and `prepare`
makes the job, or `update` cuts an update into operations; a `worker` of the `pool` does the job in a process that can be killed, on
a snapshot, by `evaluate` or `trial`; what an update would change comes back as a delta, is judged (`effects`), and is written in
one piece.

*Because:* the engine knows no time limit and can be sent out to the network; what somebody else wrote never runs in the process
that owns the store.
"""
