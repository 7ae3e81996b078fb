"""
The data folder encrypted at rest, and one memory on several machines.

*Flow:* `folder` unlocks an encrypted folder, encrypts, decrypts and reencrypts one; `vault` has its keys, its sealed files and the
journal of its writes. Machines write their changes as patches into a folder that all can reach: `exchange` takes a turn, in which
`patches` finds what changed, writes it, reads and merges what others wrote; `merge` writes that into the memory. `ledger` records
who last said what.
"""

from memento.plugin import Plugin

plugin = Plugin(
    name="guard",
    summary="Encrypt the data folder; synchronise the memories of several machines through a folder that all can reach.",
    operations="memento.plugins.guard.operations",
    handlers="memento.plugins.guard.handlers",
    settings={"encryption": "memento.plugins.guard.settings:EncryptionSettings"},
    protects={"encryption.json": "memento.plugins.guard.folder:open_folder"},
    groups={},
    commands="memento.plugins.guard.commands",
)
