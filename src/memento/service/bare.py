"""
A plain dataset behind SPARQL, which `memento serve --bare` serves: no memories, no ontology, any graph, including the default
graph.

*Guarantees:* it has its own folder and never opens the memories' store. Queries and updates use the same path as over memories:
the guard, a worker that can be killed, and one write.

*But:* it has no access rights per graph: a caller with access may read and write everything. Blank nodes stay blank nodes.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from types import TracebackType
from typing import Literal, Self

from memento.access import OWNER, Access, Tokens
from memento.datadir import DataFolder, Owner
from memento.errors import Forbidden, InputError, SettingsError
from memento.graph.oxigraph import Oxigraph
from memento.graph.snapshot import Snapshots
from memento.iris import mint
from memento.model import Dataset
from memento.service.graphs import GraphCall, Graphs
from memento.settings import Settings
from memento.sparql.description import Statistics
from memento.sparql.federation import Endpoints
from memento.sparql.jobs import Answer
from memento.sparql.pool import Pool
from memento.sparql.prepare import QueryRequest, prepare_query
from memento.sparql.update import GraphStore, WriteRequest, is_absolute


class Bare(Graphs):
    """The plain dataset of one data folder; a context manager. Methods may be called from many threads."""

    def __init__(self, datadir: DataFolder, settings: Settings, *, wait_s: float = 0.0) -> None:
        """
        Open it, empty the first time.

        Args:
            datadir: the data folder; the dataset has a folder below it.
            wait_s: seconds to wait while another process has it open.

        Raises:
            FolderInUse: another process has it open.
            GraphError: the store cannot be opened.
        """
        self.datadir = DataFolder(datadir.bare)
        self.settings = settings
        self.tokens = Tokens(self.datadir.tokens)
        if datadir.is_encrypted or settings.encryption.on:
            raise SettingsError(
                f"the dataset of `memento serve --bare` is in plain text, and {datadir.path} is encrypted: choose another --home"
            )
        self.datadir.acquire("memento serve --bare", wait_s)
        try:
            self._graph = Oxigraph(self.datadir.store)
            self._snapshots = Snapshots(self._graph, self.datadir.snapshots)
        except BaseException:
            self.datadir.release()
            raise
        self._workers = Pool(self._snapshots, settings.sparql)
        self._endpoints = Endpoints.from_settings(settings.sparql)
        self._writing = threading.Lock()
        super().__init__(Statistics(self._workers), OWNER.caller, may_write=True)

    def admit(self, access: Access) -> Self:
        """Return the dataset for a caller: the same for every caller with access, that is programs of this machine."""
        if access != OWNER:
            raise Forbidden("a plain dataset has no tokens: send none")
        return self

    def answer_query(self, query: QueryRequest, call: GraphCall) -> Answer:
        """Run a query over the whole dataset; without a given dataset, the query's own FROM applies."""
        self._refuse_namespace(call.namespace)
        sparql, limits = self._endpoints.answer_services(query.sparql, self.settings.limits)
        found = prepare_query(replace(query, sparql=sparql), None, limits)
        return self._workers.run(found, caller=self.caller, timeout_s=call.timeout_s, waiting=call.waiting)

    def named_graph(self, name: str, address: str) -> str:
        """Return the graph that the end of an address names: an IRI itself, or else the whole address."""
        return name if is_absolute(name) else address

    def fresh_graph(self, address: str) -> str:
        """Return an address below that of the graph store."""
        return f"{address.rstrip('/')}/{mint('graph').rpartition(':')[2]}"

    @property
    def store(self) -> GraphStore:
        """Return the graphs, the same for every caller."""
        return GraphStore(self._graph, self._workers, self.settings.limits, self._writing)

    def dataset(self, namespace: str | None, right: Literal["read", "write"]) -> Dataset:
        """Return the whole dataset."""
        self._refuse_namespace(namespace)
        return Dataset()

    def write_request(self, call: GraphCall) -> WriteRequest:
        """Return a write request that goes straight to the store."""
        return WriteRequest(
            dataset=self.dataset(call.namespace, "write"),
            caller=self.caller,
            commit=self._graph.apply_delta,
            base=call.base,
            timeout_s=call.timeout_s,
            waiting=call.waiting,
        )

    @staticmethod
    def _refuse_namespace(namespace: str | None) -> None:
        if namespace is not None:
            raise InputError("a plain dataset has no namespaces: name a graph")

    def warm_up(self) -> None:
        """Do nothing: a plain dataset has nothing to warm up, but a serving process calls this."""

    def serve_at(self, address: str) -> None:
        """Start the workers, and tell other processes the address of this one."""
        self._workers.start()
        self.datadir.publish(Owner(pid=os.getpid(), command="memento serve --bare", address=address))

    def close(self) -> None:
        """Release the folder. You may call this twice."""
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
