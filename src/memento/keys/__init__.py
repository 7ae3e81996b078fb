"""
The associative key graph: memories found by association, one step after the other, rather than by likeness at once.

*Flow:* a question → `match` → keys → `walk` → memories → `walk` → further keys. `remember` writes texts under keys, with `settle`,
which says which key a phrase means; `learn` lets keys learn from the questions that led over them. All of them stand on `view`,
which says what leads where. `labels` has what is known of keys before anything heavy is imported.

*Because:* entities are keys without a node for themselves, so notes can be walked as soon as they are written, and nothing has to
be kept in step; a `mem:Key` that `mem:denotes` an entity is written when a link gets a weight or a key learns a name.
"""
