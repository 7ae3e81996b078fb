"""One call of every operation of living memories on a sample, in its namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memento.operations import Operation
from memento.plugins.living import operations

CALLS: Mapping[type[Operation[Any]], Callable[[Any, str], Operation[Any]]] = {
    operations.Evaluate: lambda s, n: operations.Evaluate('(recall "Oslo")', namespace=n),
    operations.RecallItems: lambda s, n: operations.RecallItems("Oslo", namespace=n),
    operations.GetItem: lambda s, n: operations.GetItem(s.memory, namespace=n),
    operations.Policies: lambda s, n: operations.Policies(namespace=n),
    operations.SetPolicy: lambda s, n: operations.SetPolicy("again", "(stats)", namespace=n),
}
