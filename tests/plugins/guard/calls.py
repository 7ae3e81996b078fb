"""One call of every operation on machines on a sample, in its namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memento.operations import Operation
from memento.plugins.guard.operations import Sync
from memento.python import Memento


def prepare(memento: Memento, namespace: str) -> dict[str, str]:
    """Add nothing: what a sample has is enough."""
    return {}


CALLS: Mapping[type[Operation[Any]], Callable[[Any, str], Operation[Any]]] = {
    Sync: lambda s, n: Sync(str(s.folder), dry_run=True),
}
