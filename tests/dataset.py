"""
The SPARQL room alone: one plain dataset without owners, in which every graph may be read and written, the default one too.

`python tests/dataset.py FOLDER PORT` serves it; the suites of the W3C are run against it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from flask import Flask, Response, g, request

from memento.access import OWNER, Tokens, admit
from memento.errors import InputError
from memento.graph.oxigraph import Oxigraph
from memento.graph.snapshot import Snapshots
from memento.interfaces import sparql_http
from memento.interfaces.web.app import caller, most_bytes, new_app
from memento.interfaces.web.server import Busy, Server, configuration, host, listening
from memento.iris import mint
from memento.model import Changed, Dataset
from memento.service.handlers.graphs import GraphCall, Graphs
from memento.settings import Settings, load
from memento.sparql.description import Statistics
from memento.sparql.federation import Endpoints
from memento.sparql.jobs import Answer
from memento.sparql.pool import Pool
from memento.sparql.prepare import QueryRequest, prepare_query
from memento.sparql.update import GraphStore, Using, WriteRequest, is_absolute


class PlainGraphs(Graphs):
    """The graphs of a dataset that is no memory: the guard, the workers and the one write are those of memories."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.settings = settings
        self.graph = Oxigraph(folder / "store")
        self.snapshots = Snapshots(self.graph, folder / "snapshots")
        self.workers = Pool(self.snapshots, settings.sparql)
        self.endpoints = Endpoints.from_settings(settings.sparql)
        self.writing = threading.Lock()
        self._statistics = Statistics(self.workers)
        self.caller, self.may_write = OWNER.caller, True

    def answer_query(self, query: QueryRequest, call: GraphCall) -> Answer:
        _refuse_namespace(call.namespace)
        sparql, limits = self.endpoints.answer_services(query.sparql, self.settings.limits)
        job = prepare_query(replace(query, sparql=sparql), None, limits)
        return self.workers.run(job, caller=self.caller, timeout_s=call.timeout_s, waiting=call.waiting)

    def update(self, sparql: str, using: Using, call: GraphCall) -> Changed:
        return self.store.commit_update(sparql, self.write_request(call), using)

    def read_graph(self, graph: str | None, call: GraphCall, *, accept: str = "") -> Answer:
        return self.store.read_graph(graph, Dataset(), accept=accept, caller=self.caller, waiting=call.waiting)

    def named_graph(self, name: str, address: str) -> str:
        return name if is_absolute(name) else address

    def fresh_graph(self, address: str) -> str:
        return f"{address.rstrip('/')}/{mint('graph').rpartition(':')[2]}"

    @property
    def store(self) -> GraphStore:
        return GraphStore(self.graph, self.workers, self.settings.limits, self.writing)

    def dataset(self, namespace: str | None, right: str) -> Dataset:
        _refuse_namespace(namespace)
        return Dataset()

    def write_request(self, call: GraphCall) -> WriteRequest:
        return WriteRequest(
            dataset=self.dataset(call.namespace, "write"),
            caller=self.caller,
            commit=self.graph.apply_delta,
            base=call.base,
            timeout_s=call.timeout_s,
            waiting=call.waiting,
        )


def _refuse_namespace(namespace: str | None) -> None:
    if namespace is not None:
        raise InputError("a plain dataset has no namespaces: name a graph")


@contextmanager
def open_dataset(folder: Path, settings: Settings) -> Iterator[PlainGraphs]:
    """The dataset of a folder, empty the first time."""
    graphs = PlainGraphs(folder, settings)
    try:
        yield graphs
    finally:
        graphs.workers.close()
        graphs.snapshots.close()
        graphs.graph.close()


def create_dataset_app(graphs: PlainGraphs) -> Flask:
    """The SPARQL protocols over a dataset, for programs on this machine."""
    app, tokens = new_app(), Tokens(Path("/nonexistent"))

    @app.before_request
    def admit_request() -> None:
        if request.method != "OPTIONS":
            admit(caller(), tokens, required=False)
        g.graphs = graphs
        request.max_content_length = most_bytes(request, graphs.settings.limits)

    @app.get("/health")
    def health() -> Response:
        return Response("ok")

    for addresses in sparql_http.blueprints(graphs.settings.sparql):
        app.register_blueprint(addresses)
    return app


def main(folder: Path, port: int) -> None:
    """Serve the dataset until it is told to stop; settings come from the environment."""
    settings = load(folder / "memento.toml")
    with open_dataset(folder, settings) as graphs, listening("127.0.0.1", port, has_tokens=False) as listener:
        graphs.workers.start()
        app = host(create_dataset_app(graphs), Busy(), settings.server)
        Server(configuration(app, settings.server)).run(sockets=[listener])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
