"""
Understand a note, check it against what is known, and write it as a whole.

*Flow:* `task` accepts a note and `queue` stores it. `pipeline` asks the `agents` five questions (`rules` answer without a model,
`models` by asking one). `context` finds the relevant entities and memories, `settle` makes the decisions consistent, and `write`
turns everything into one change. `amend` is for changes that a person makes by hand.

*Guarantees:* one note is one atomic write; a failure before it leaves nothing behind.
"""
