"""One call of every operation of living memories on a sample, in its namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memento.operations import Operation
from memento.plugins.living import operations
from memento.python import Memento


def prepare(memento: Memento, namespace: str) -> dict[str, str]:
    """Store a policy."""
    memento.living.set_policy("numbers", "(stats)", namespace=namespace)
    return {}


CALLS: Mapping[type[Operation[Any]], Callable[[Any, str], Operation[Any]]] = {
    operations.Strength: lambda s, n: operations.Strength(s.memory, namespace=n),
    operations.Feedback: lambda s, n: operations.Feedback(s.memory, True, namespace=n),
    operations.Associate: lambda s, n: operations.Associate(s.memory, s.other, namespace=n),
    operations.Trace: lambda s, n: operations.Trace(s.memory, namespace=n),
    operations.Activate: lambda s, n: operations.Activate([s.memory], namespace=n),
    operations.Decay: lambda s, n: operations.Decay(namespace=n),
    operations.Archive: lambda s, n: operations.Archive(True, namespace=n),
    operations.ListFading: lambda s, n: operations.ListFading(namespace=n),
    operations.ListArchived: lambda s, n: operations.ListArchived(namespace=n),
    operations.Unarchive: lambda s, n: operations.Unarchive(s.memory, namespace=n),
    operations.Evaluate: lambda s, n: operations.Evaluate('(recall "Oslo")', namespace=n),
    operations.RecallItems: lambda s, n: operations.RecallItems("Oslo", namespace=n),
    operations.GetItem: lambda s, n: operations.GetItem(s.memory, namespace=n),
    operations.Policies: lambda s, n: operations.Policies(namespace=n),
    operations.SetPolicy: lambda s, n: operations.SetPolicy("again", "(stats)", namespace=n),
}
