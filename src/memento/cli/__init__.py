"""
The `memento` command.

*Flow:* `door` (options, exit codes) → `commands`, `documents`, `cases`, `care` → `opened` (a running service, or the folder itself)
→ JSON → `shown`.

*Because:* commands print what the service answers as JSON, or a view of it, and make no nouns of it: a question to a running
service must not wait for their import, nor for the store's.
"""

from __future__ import annotations

from memento.cli import care as _care
from memento.cli import cases as _cases
from memento.cli import commands as _commands
from memento.cli import connect as _connect
from memento.cli import documents as _documents
from memento.cli import expressions as _expressions
from memento.cli import keys as _keys
from memento.cli import living as _living
from memento.cli import sparql as _sparql
from memento.cli import tokens as _tokens
from memento.cli.door import main

__all__ = ["main"]
_registered = (_care, _cases, _commands, _connect, _documents, _expressions, _keys, _living, _sparql, _tokens)
