"""
The associative key graph: memories found by association, one step after the other, rather than by likeness at once.

*Flow:* a question → `match` → keys → `walk` → memories → `walk` → further keys. `remember` writes texts under keys, with `settle`
and `inherit`; `trail` and `learn` let keys learn from the questions that led over them; `direct` does a whole walk at once. All of
them stand on `leads`, which says what leads where, and on `thresholds`, which knows each family of embedders.

*Because:* entities are keys without a node of their own, so notes can be walked as soon as they are written, and nothing has to be
kept in step; a `mem:Key` that `mem:denotes` an entity is written when a link gets a weight or a key learns a name.
"""
