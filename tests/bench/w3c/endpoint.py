"""A SPARQL service over HTTP: three addresses, and the processes that the suites are run against."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import httpx2
from pyoxigraph import Dataset, DefaultGraph, NamedNode, Quad, RdfFormat, parse, serialize

from startup import READY_S, free_port
from w3c.answers import BY_ENDING, GRAPHS, Solutions, media_type, read_answer
from w3c.cases import Checkout, Data

ALL = "SELECT ?s ?p ?o ?g { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
UPDATE = {"Content-Type": "application/sparql-update"}
QUERY = {"Content-Type": "application/sparql-query"}
JSON = "application/sparql-results+json"
N_TRIPLES = {"Content-Type": "application/n-triples"}


@dataclass
class Endpoint:
    """A service that holds one dataset, which the suites may empty."""

    name: str
    origin: str
    query: str
    update: str
    graphs: str
    client: httpx2.Client
    pid: int = 0
    held: Data | None = field(default=None)

    def send(self, method: str, url: str, *, headers: Mapping[str, str], content: bytes) -> httpx2.Response:
        """A request as it stands; what is held afterwards is unknown."""
        self.held = None
        return self.client.send(httpx2.Request(method, url, headers={"accept": "*/*", **headers}, content=content))

    def ask(self, query: bytes, accept: str) -> httpx2.Response:
        """The answer to a query."""
        return self.client.post(self.query, content=query, headers={**QUERY, "Accept": accept})

    def change(self, update: bytes) -> httpx2.Response:
        """The answer to an update; what is held afterwards is unknown."""
        self.held = None
        return self.client.post(self.update, content=update, headers=UPDATE)

    def hold(self, data: Data, checkout: Checkout) -> None:
        """Hold these files and nothing else."""
        if self.held == data:
            return
        _checked(self.change(b"DROP ALL"))
        graphs: dict[NamedNode | DefaultGraph, list[Quad]] = {NamedNode(name): [] for name, _ in data.named}
        for quad in dataset_of(data, checkout):
            graphs.setdefault(quad.graph_name, []).append(quad)  # type: ignore[arg-type]
        if any(file.endswith((".trig", ".nq")) for file in data.default):
            # Blank nodes that graphs share stay shared within one operation only.
            _checked(self.change(_inserting(graphs)))
            graphs = {}
        for graph, quads in graphs.items():
            body = serialize((quad.triple for quad in quads), format=RdfFormat.N_TRIPLES)
            where = {"default": ""} if isinstance(graph, DefaultGraph) else {"graph": graph.value}
            _checked(self.client.put(self.graphs, params=where, content=body, headers=N_TRIPLES))
        self.held = data

    def dataset(self) -> Dataset:
        """Everything that it holds."""
        answer = _checked(self.ask(ALL.encode(), JSON))
        found = read_answer(answer.content, media_type(answer))
        assert isinstance(found, Solutions)
        return Dataset(Quad(row["s"], row["p"], row["o"], row.get("g", DefaultGraph())) for row in found.rows)  # type: ignore[arg-type]


def _inserting(graphs: Mapping[NamedNode | DefaultGraph, list[Quad]]) -> bytes:
    blocks = []
    for graph, quads in graphs.items():
        triples = serialize((quad.triple for quad in quads), format=RdfFormat.N_TRIPLES) or b""
        blocks.append(
            triples.decode() if isinstance(graph, DefaultGraph) else f"GRAPH {graph} {{\n{triples.decode()}}}"
        )
    return f"INSERT DATA {{\n{''.join(blocks)}}}".encode()


def dataset_of(data: Data, checkout: Checkout) -> Iterator[Quad]:
    """The quads of files; no two files share a blank node."""
    for graph, file in [(DefaultGraph(), file) for file in data.default] + [(NamedNode(n), f) for n, f in data.named]:
        form = GRAPHS[BY_ENDING[file.rpartition(".")[2]]]
        for quad in parse(checkout.read(file), form, base_iri=file, rename_blank_nodes=True):
            name = quad.graph_name if isinstance(graph, DefaultGraph) else graph
            yield Quad(quad.subject, quad.predicate, quad.object, name)


@contextmanager
def oxigraph() -> Iterator[Endpoint]:
    """`oxigraph serve`, with a folder of its own."""
    with TemporaryDirectory(prefix="memento-oxigraph-") as folder:
        port = free_port()
        command = [str(Path(sys.executable).with_name("oxigraph")), "serve"]
        command += ["--location", folder, "--bind", f"127.0.0.1:{port}"]
        at = f"http://127.0.0.1:{port}"
        with _process(command, lambda: at, "/query", {}) as (process, origin), httpx2.Client(timeout=60) as client:
            addresses = (f"{origin}/query", f"{origin}/update", f"{origin}/store")
            yield Endpoint("oxigraph serve", origin, *addresses, client, process.pid)


@contextmanager
def memento(**environment: str) -> Iterator[Endpoint]:
    """Memento's SPARQL over a plain dataset, in a folder of its own."""
    with TemporaryDirectory(prefix="memento-dataset-") as folder:
        port = free_port()
        command = [sys.executable, str(Path(__file__).parents[2] / "dataset.py"), folder, str(port)]
        at = f"http://127.0.0.1:{port}"
        with _process(command, lambda: at, "/health", environment) as (process, origin), _client() as client:
            yield _endpoint("memento dataset", origin, client, process.pid)


@contextmanager
def serving(home: Path, **environment: str) -> Iterator[Endpoint]:
    """`memento serve` on a data folder."""
    command = [sys.executable, "-m", "memento", "--home", str(home), "serve", "--port", "0"]

    def found() -> str:
        return str(json.loads(home.joinpath("owner.json").read_text())["address"] or "")

    with _process(command, found, "/health", environment) as (process, origin), _client() as client:
        yield _endpoint("memento serve", origin, client, process.pid)


def _client() -> httpx2.Client:
    return httpx2.Client(timeout=60)


def _endpoint(name: str, origin: str, client: httpx2.Client, pid: int) -> Endpoint:
    sparql = f"{origin}/sparql"
    return Endpoint(name, origin, sparql, f"{sparql}/update", f"{sparql}/graphs", client, pid)


@contextmanager
def _process(
    command: list[str], found: Callable[[], str], path: str, environment: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process and its origin, once it answers there."""
    with TemporaryFile() as said:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=said)
        try:
            begin, origin = time.perf_counter(), ""
            while not origin:
                with suppress(OSError, ValueError, httpx2.HTTPError):
                    at = found()
                    origin = at if at and httpx2.get(at + path, timeout=5).status_code < 500 else ""
                if process.poll() is not None or time.perf_counter() - begin > READY_S:
                    said.seek(0)
                    raise RuntimeError(f"{' '.join(command)} did not become ready: {said.read()[-2_000:].decode()}")
                time.sleep(0.02)
            yield process, origin
            if process.poll() is not None:
                said.seek(0)
                raise RuntimeError(
                    f"{' '.join(command)} ended with {process.returncode}: {said.read()[-2_000:].decode()}"
                )
        finally:
            process.terminate()
            process.wait(timeout=30)


def _checked(answer: httpx2.Response) -> httpx2.Response:
    if not answer.is_success:
        raise RuntimeError(f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text[:200]}")
    return answer
