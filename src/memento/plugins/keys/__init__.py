"""
The associative key graph: it finds memories step by step, by association, rather than in one search by similarity.

*Flow:* a question → `match` → keys → `walk` → memories → `walk` → further keys. `remember` writes texts under keys and resolves
which key a phrase means; `learn` lets keys learn from the questions that led over them. All of them use `view`, which defines what
leads where. `labels` checks keys without importing anything heavy.

*Because:* entities act as keys without separate nodes, so notes can be walked as soon as they are written, and nothing has to be
kept in sync; a `mem:Key` that `mem:denotes` an entity is written when a link gets a weight or a key learns a name.
"""

from memento.plugin import Plugin

plugin = Plugin(
    name="keys",
    summary="Memories under keys: store texts under names and phrases, and walk from one to the next.",
    operations="memento.plugins.keys.operations",
    handlers="memento.plugins.keys.handlers",
    before_write="memento.plugins.keys.handlers:add_keys",
    corrects=("keys", "types"),
    settings={"keys": "memento.plugins.keys.settings:KeysSettings"},
    tools={"keys": "memento.plugins.keys.tools:KEY_TOOLS"},
    groups={"keys": "Walk from keys to memories, one step at a time."},
    commands="memento.plugins.keys.commands",
    views="memento.plugins.keys.views:VIEWS",
)
