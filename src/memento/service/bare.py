"""
A plain dataset behind SPARQL: no memories, no ontology, any graph, the default graph too; what `memento serve --bare` serves.

*Guarantees:* it lies in a folder of its own and never opens the memories' store. Queries and updates go the way that they go over
memories: the guard, a worker that can be killed, and one write.

*But:* it has no owners: whoever may ask may read all of it and write all of it. Blank nodes stay what they are.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Literal, Self

from memento.access import OWNER, Access, Tokens
from memento.datadir import DataFolder, Owner
from memento.errors import Forbidden, InputError
from memento.graph.oxigraph import Oxigraph
from memento.graph.snapshot import Snapshots
from memento.iris import mint
from memento.model import Dataset
from memento.service.graphs import Graphs
from memento.settings import Settings
from memento.sparql.asking import Asked, job
from memento.sparql.change import Errand, GraphStore, is_absolute
from memento.sparql.description import Statistics
from memento.sparql.federation import Endpoints
from memento.sparql.jobs import Answer, Waiting
from memento.sparql.pool import Pool


class Bare(Graphs):
    """The plain dataset of one data folder; a context manager. Methods may be called from many threads."""

    def __init__(self, home: DataFolder, settings: Settings, *, wait_s: float = 0.0) -> None:
        """
        Open it, empty the first time.

        Args:
            home: the data folder, below which the dataset has one of its own.
            wait_s: seconds to wait for another process that has it open.

        Raises:
            FolderInUse: another process has it open.
            GraphError: the store cannot be opened.
        """
        self.datadir = DataFolder(home.bare)
        self.settings = settings
        self.tokens = Tokens(self.datadir.tokens)
        self.datadir.acquire("memento serve --bare", wait_s)
        try:
            self._graph = Oxigraph(self.datadir.store)
            self._snapshots = Snapshots(self._graph, self.datadir.snapshots)
        except BaseException:
            self.datadir.release()
            raise
        self._workers = Pool(self._snapshots, settings.sparql)
        self._statistics = Statistics(self._workers)
        self._endpoints = Endpoints.of(settings.sparql)
        self._writing = threading.Lock()

    def seen_by(self, access: Access) -> Self:
        """The same for everybody who gets in, which are programs of this machine."""
        if access != OWNER:
            raise Forbidden("a plain dataset knows no tokens: send none")
        return self

    def query(
        self,
        sparql: str,
        *,
        accept: str = "",
        timeout_s: float | None = None,
        default_graphs: Sequence[str] | None = None,
        named_graphs: Sequence[str] | None = None,
    ) -> tuple[bytes, str]:
        """The answer to a query over the whole dataset, and its media type; without any dataset given, FROM is the query's own."""
        answer = self.answer(
            Asked(
                sparql=sparql,
                accept=accept,
                default_graphs=tuple(default_graphs) if default_graphs else None,
                named_graphs=tuple(named_graphs) if named_graphs else None,
            ),
            timeout_s=timeout_s,
        )
        try:
            return b"".join(answer.chunks), answer.media
        finally:
            answer.close()

    def answer(
        self,
        asked: Asked,
        *,
        timeout_s: float | None = None,
        namespace: str | None = None,
        waiting: Waiting | None = None,
    ) -> Answer:
        """The same as it comes; see `Memento.answer`."""
        self._unspaced(namespace)
        sparql, limits = self._endpoints.asked(asked.sparql, self.settings.limits)
        found = job(replace(asked, sparql=sparql), None, limits)
        return self._workers.run(found, caller=OWNER.caller, timeout_s=timeout_s, waiting=waiting)

    def named_graph(self, name: str, address: str) -> str:
        """The graph at the end of an address: an IRI itself, or else the whole address."""
        return name if is_absolute(name) else address

    def fresh_graph(self, address: str) -> str:
        """An address below the graph store's own."""
        return f"{address.rstrip('/')}/{mint('graph').rpartition(':')[2]}"

    @property
    def _caller(self) -> str:
        return OWNER.caller

    @property
    def _may_write(self) -> bool:
        return True

    @property
    def _store(self) -> GraphStore:
        return GraphStore(self._graph, self._workers, self.settings.limits, self._writing)

    def _dataset(self, namespace: str | None, right: Literal["read", "write"]) -> Dataset:
        self._unspaced(namespace)
        return Dataset()

    def _errand(
        self,
        namespace: str | None,
        *,
        base: str | None = None,
        timeout_s: float | None = None,
        waiting: Waiting | None = None,
    ) -> Errand:
        return Errand(
            dataset=self._dataset(namespace, "write"),
            caller=self._caller,
            commit=self._graph.amend,
            base=base,
            timeout_s=timeout_s,
            waiting=waiting,
        )

    @staticmethod
    def _unspaced(namespace: str | None) -> None:
        if namespace is not None:
            raise InputError("a plain dataset has no namespaces: name a graph")

    def warm_up(self) -> None:
        """Nothing has to be loaded; here as a process that serves asks for it."""

    def serve_at(self, address: str) -> None:
        """Have workers ready, and tell other processes where this one answers."""
        self._workers.start()
        self.datadir.publish(Owner(pid=os.getpid(), command="memento serve --bare", address=address))

    def close(self) -> None:
        """Let go of the folder; calling it twice is harmless."""
        self._workers.close()
        self._snapshots.close()
        self._graph.close()
        self.datadir.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
