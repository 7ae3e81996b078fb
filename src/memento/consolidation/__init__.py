"""
A note is understood, checked against what is known, and written whole.

*Flow:* `pipeline` asks the `agents` five questions; `resolve` finds the entities, `context` the memories that matter,
`write` makes one change of it all. `rules` are the agents that need no model.

*Guarantees:* one note is one atomic write; what fails before it leaves nothing behind.
"""
