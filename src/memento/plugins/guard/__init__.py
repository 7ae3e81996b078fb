"""
Two machines with one memory: each writes its changes as patches into a folder that both can reach.

*Flow:* `exchange` takes a turn: `patches` finds what changed, writes it, reads and merges what others wrote; `merge` writes that
into the memory. `ledger` records who last said what.
"""

from memento.plugin import Plugin

plugin = Plugin(
    name="guard",
    summary="Synchronise the memories of several machines through a folder that all of them can reach.",
    operations="memento.plugins.guard.operations",
    handlers="memento.plugins.guard.handlers",
    groups={},
    commands="memento.plugins.guard.commands",
)
