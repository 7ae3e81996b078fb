"""One call of every operation of several nodes on a sample, in its namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memento.operations import Operation
from memento.plugins.scale.operations import ProbeStore
from memento.python import Memento


def prepare(memento: Memento, namespace: str) -> dict[str, str]:
    """Add nothing: what a sample has is enough."""
    return {}


CALLS: Mapping[type[Operation[Any]], Callable[[Any, str], Operation[Any]]] = {
    ProbeStore: lambda s, n: ProbeStore("http://127.0.0.1:9/query", "http://127.0.0.1:9/update"),
}
