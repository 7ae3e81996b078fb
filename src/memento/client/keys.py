"""The walk over keys, and texts under keys, at a running service: the methods of `service.Keys` and `service.Remembering`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from memento.client.connection import Connection, made

if TYPE_CHECKING:
    from memento.model import (
        BatchRow,
        Cleaned,
        DirectRecall,
        FoundKeys,
        KeyPage,
        KeyType,
        MemoryRow,
        MemoryStats,
        OpenedMemory,
        Related,
        Remembered,
        ToRemember,
        TurnRow,
    )


class KeyCalls(Connection):
    """What a client asks of the key graph."""

    def find_keys(self, query: str, *, k: int = 8, namespace: str | None = None) -> FoundKeys:
        """See `Memento.find_keys`."""
        from memento.model import FoundKeys

        return made(FoundKeys, self.ask("find_keys", query=query, k=k, namespace=namespace))

    def read_key(
        self, iri: str, *, query: str | None = None, limit: int = 10, offset: int = 0, namespace: str | None = None
    ) -> KeyPage:
        """See `Memento.read_key`."""
        from memento.model import KeyPage

        page = {"query": query, "limit": limit, "offset": offset}
        return made(KeyPage, self.ask("read_key", iri=iri, namespace=namespace, **page))

    def read_memory(
        self, iri: str, *, via: str | None = None, past: bool = False, namespace: str | None = None
    ) -> OpenedMemory:
        """See `Memento.read_memory`."""
        from memento.model import OpenedMemory

        return made(OpenedMemory, self.ask("read_memory", iri=iri, via=via, past=past, namespace=namespace))

    def related(self, iri: str, *, namespace: str | None = None) -> Related:
        """See `Memento.related`."""
        from memento.model import Related

        return made(Related, self.ask("related", iri=iri, namespace=namespace))

    def recall_memories(
        self,
        query: str,
        *,
        k: int = 5,
        hops: int = 2,
        expand: bool = False,
        least_share: float = 0.0,
        least_depth: float = 0.0,
        min_score: float | None = None,
        gate_z: float | None = None,
        key_gate: float | None = None,
        namespace: str | None = None,
    ) -> DirectRecall:
        """See `Memento.recall_memories`."""
        from memento.model import DirectRecall

        how = {"k": k, "hops": hops, "expand": expand, "least_share": least_share, "least_depth": least_depth}
        gates = {"min_score": min_score, "gate_z": gate_z, "key_gate": key_gate}
        return made(DirectRecall, self.ask("recall_memories", query=query, namespace=namespace, **how, **gates))

    def remember(
        self,
        content: str,
        keys: Sequence[str] | None = None,
        *,
        types: Mapping[str, KeyType] | None = None,
        ttl_s: float | None = None,
        related_to: Sequence[str] = (),
        session: str | None = None,
        source: str = "explicit",
        namespace: str | None = None,
    ) -> Remembered:
        """See `Memento.remember`."""
        from memento.model import Remembered

        given = None if keys is None else [keys] if isinstance(keys, str) else list(keys)
        item = {"content": content, "keys": given, "types": types and dict(types), "ttl_s": ttl_s}
        more = {"related_to": list(related_to), "session": session, "source": source}
        return made(Remembered, self.ask("remember", namespace=namespace, **item, **more))

    def remember_batch(self, items: Sequence[ToRemember], *, namespace: str | None = None) -> tuple[BatchRow, ...]:
        """See `Memento.remember_batch`."""
        from memento.model import BatchRow

        answer = self.ask("remember_batch", items=[asdict(item) for item in items], namespace=namespace)
        return made(tuple[BatchRow, ...], answer)

    def conversation(
        self, session: str, *, turn: int | None = None, namespace: str | None = None
    ) -> tuple[TurnRow, ...]:
        """See `Memento.conversation`."""
        from memento.model import TurnRow

        return made(tuple[TurnRow, ...], self.ask("conversation", session=session, turn=turn, namespace=namespace))

    def list_memories(self, *, limit: int = 50, offset: int = 0, namespace: str | None = None) -> tuple[MemoryRow, ...]:
        """See `Memento.list_memories`."""
        from memento.model import MemoryRow

        return made(tuple[MemoryRow, ...], self.ask("list_memories", limit=limit, offset=offset, namespace=namespace))

    def cleanup_expired(self, *, namespace: str | None = None) -> Cleaned:
        """See `Memento.cleanup_expired`."""
        from memento.model import Cleaned

        return made(Cleaned, self.ask("cleanup_expired", namespace=namespace))

    def memory_stats(self, *, namespace: str | None = None) -> MemoryStats:
        """See `Memento.memory_stats`."""
        from memento.model import MemoryStats

        return made(MemoryStats, self.ask("memory_stats", namespace=namespace))
