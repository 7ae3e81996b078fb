"""
A note is understood, checked against what is known, and written whole.

*Flow:* `task` takes a note in and `queue` keeps it; `pipeline` asks the `agents` five questions (`rules` answer without a model,
`models` by asking one); `context` finds the entities and the memories that matter, `settle` makes the decisions consistent,
`write` makes one change of it all. `amend` is for what a person changes by hand.

*Guarantees:* one note is one atomic write; what fails before it leaves nothing behind.
"""
