"""
The associative key graph: finds memories by association, step by step, instead of by similarity in one search.

*Flow:* a question → `match` → keys → `walk` → memories → `walk` → further keys. `remember` writes texts under keys; `settle`
decides which key a phrase means; `learn` updates keys from the questions that led over them. All of them use `view`, which says
what leads where. `labels` has the functions on key names that need no heavy import.

*Because:* an entity is a key without a node of its own, so a note can be walked as soon as it is written, and no second copy has to
be kept in sync. A `mem:Key` that `mem:denotes` an entity is written only when a link gets a weight or a key learns a name.
"""
