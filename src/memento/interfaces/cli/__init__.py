"""
The `memento` command.

*Flow:* `door` (options, exit codes) → `commands`, `documents`, `cases`, `care` → `opened` (a running service, or the folder itself)
→ JSON → `shown`.

*Because:* commands print what the service answers as JSON, or a view of it, and make no nouns of it: a question to a running
service must not wait for their import, nor for the store's.
"""

from __future__ import annotations

from memento.interfaces.cli import care as _care
from memento.interfaces.cli import cases as _cases
from memento.interfaces.cli import commands as _commands
from memento.interfaces.cli import connect as _connect
from memento.interfaces.cli import documents as _documents
from memento.interfaces.cli import expressions as _expressions
from memento.interfaces.cli import keys as _keys
from memento.interfaces.cli import living as _living
from memento.interfaces.cli import sparql as _sparql
from memento.interfaces.cli import tokens as _tokens
from memento.interfaces.cli.door import main

__all__ = ["main"]
_registered = (_care, _cases, _commands, _connect, _documents, _expressions, _keys, _living, _sparql, _tokens)
