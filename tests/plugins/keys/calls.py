"""One call of every operation of keys on a sample, in its namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memento.operations import Operation
from memento.plugins.keys import operations
from memento.plugins.keys.nouns import ToRemember
from memento.python import Memento


def prepare(memento: Memento, namespace: str) -> dict[str, str]:
    """Put a memory of the sample under a key, and return the key."""
    done = memento.keys.remember("Oslo is cold.", ["Oslo"], namespace=namespace)
    return {"key": done.keys[0]}


CALLS: Mapping[type[Operation[Any]], Callable[[Any, str], Operation[Any]]] = {
    operations.FindKeys: lambda s, n: operations.FindKeys("Oslo", namespace=n),
    operations.ReadKey: lambda s, n: operations.ReadKey(s.plugged["key"], namespace=n),
    operations.ReadMemory: lambda s, n: operations.ReadMemory(s.other, namespace=n),
    operations.Related: lambda s, n: operations.Related(s.other, namespace=n),
    operations.RecallMemories: lambda s, n: operations.RecallMemories("Oslo is cold.", namespace=n),
    operations.Remember: lambda s, n: operations.Remember("Rome is warm.", ["Rome"], namespace=n),
    operations.RememberBatch: lambda s, n: operations.RememberBatch(
        (ToRemember(content="Tea.", keys=("tea",)),), namespace=n
    ),
    operations.Conversation: lambda s, n: operations.Conversation("monday", namespace=n),
    operations.ListMemories: lambda s, n: operations.ListMemories(namespace=n),
    operations.CleanupExpired: lambda s, n: operations.CleanupExpired(namespace=n),
    operations.MemoryStats: lambda s, n: operations.MemoryStats(namespace=n),
}
