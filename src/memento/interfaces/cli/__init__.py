"""
The `memento` command.

*Flow:* `base` (the memory, options, exit codes) → `commands` (a loop over operations; beside it `recall`, `documents`, `cases` …)
→ JSON → `views`.
"""

from __future__ import annotations

from memento.interfaces.cli import care as _care
from memento.interfaces.cli import cases as _cases
from memento.interfaces.cli import commands as _commands
from memento.interfaces.cli import connect as _connect
from memento.interfaces.cli import documents as _documents
from memento.interfaces.cli import expressions as _expressions
from memento.interfaces.cli import sparql as _sparql
from memento.interfaces.cli import tokens as _tokens
from memento.interfaces.cli import walk as _walk
from memento.interfaces.cli.base import main

__all__ = ["main"]
_registered = (_commands, _care, _cases, _connect, _documents, _expressions, _sparql, _tokens, _walk)
