"""
Foreign SPARQL: the one way in for every interface.

*Flow:* `query/` reads a query and prepares the job, or `update/` cuts an update into operations; `worker/` does the job in
a process that can be killed, on a snapshot; what an update would change comes back as a delta, is judged, and is written
in one piece.

*Because:* the engine knows no time limit and can be sent out to the network; what somebody else wrote never runs in the process
that owns the store.
"""
