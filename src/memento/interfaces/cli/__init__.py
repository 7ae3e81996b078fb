"""
The `memento` command.

*Flow:* `base` (the memory, options, exit codes) → `commands` (generated from the table of operations), `documents`, `questions`,
`admin` and `clients` (written by hand) → JSON → `views`.

*Guarantees:* if two plug-ins use one name, every command fails with one line that names both.
"""

from __future__ import annotations

from memento.errors import PluginError

try:
    from memento.interfaces.cli import admin as _admin
    from memento.interfaces.cli import clients as _clients
    from memento.interfaces.cli import commands as _commands
    from memento.interfaces.cli import documents as _documents
    from memento.interfaces.cli import questions as _questions
    from memento.interfaces.cli.base import NEW_GROUPS, OLD_NAMES, add_groups, arrange_commands, main

    add_groups(NEW_GROUPS)
    arrange_commands(OLD_NAMES)
    _commands.add_plugins()
except PluginError as error:
    raise SystemExit(f"memento: {error}") from None

__all__ = ["main"]
_registered = (_commands, _documents, _questions, _admin, _clients)
