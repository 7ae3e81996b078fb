"""
How much does the SPARQL service cost compared with an empty Flask view in the same stack, and with `oxigraph serve` on the same
data?

Data: generated here: people with names, ages and cities who know each other, in one free graph. Every query names it with FROM, so
that each engine reads the same. Three servers run at a time, each in a separate process: `memento serve`, a Flask application with
one empty view in the same a2wsgi and uvicorn, and `oxigraph serve-read-only` on a copy of the files. Requests go over persistent
connections, written and read without a library, from one process per four clients.

Run: `.venv/bin/python tests/bench/sparql.py [--triples N] [--json] [--plot FILE] [--record]`, two minutes on two cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

from measure import arguments, record, shown, spread
from memento.datadir import DataFolder
from startup import free_port, serving
from wire import Wire

GRAPH = "urn:memento:data:local:people"
E = "http://example.org/"
PER_PERSON = 6
CITIES = 50

SIMPLE = {
    "ASK {}": "ASK {}",
    "one subject": f"SELECT ?p ?o FROM <{GRAPH}> {{ <{E}person/%d> ?p ?o }}",
    "ten rows of a join": f"SELECT ?name FROM <{GRAPH}> "
    f"{{ <{E}person/%d> <{E}knows>/<{E}knows> ?x . ?x <{E}name> ?name }} LIMIT 10",
}
HEAVY = {
    "count all": f"SELECT (COUNT(*) AS ?n) FROM <{GRAPH}> {{ ?s ?p ?o }}",
    "group and sort": f"SELECT ?city (COUNT(?s) AS ?n) (AVG(?age) AS ?mean) FROM <{GRAPH}> "
    f"{{ ?s <{E}city> ?city ; <{E}age> ?age }} GROUP BY ?city ORDER BY DESC(?n)",
    "join of three": f"SELECT (COUNT(*) AS ?n) FROM <{GRAPH}> {{ ?a <{E}knows> ?b . ?b <{E}knows> ?c . ?c <{E}city> '7' }}",
    "regex": f"SELECT (COUNT(*) AS ?n) FROM <{GRAPH}> {{ ?s <{E}name> ?name FILTER(REGEX(?name, '7.*7$')) }}",
    "export as JSON": f"SELECT ?s ?name ?age FROM <{GRAPH}> {{ ?s <{E}name> ?name ; <{E}age> ?age }}",
    "export as Turtle": f"CONSTRUCT {{ ?s <{E}name> ?name }} FROM <{GRAPH}> {{ ?s <{E}name> ?name }}",
}
ROWS = "application/sparql-results+json, text/turtle;q=0.9"


def main(argv: Sequence[str] | None = None) -> dict[str, object]:
    """Print and return milliseconds, requests per second, and their ratios."""
    parser = arguments(__doc__ or "", notes=0)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1.5, help="how long a throughput is measured in each round")
    parser.add_argument("--asked", type=int, default=400, help="simple queries of each kind at one client")
    parser.add_argument("--rounds", type=int, default=5, help="how often throughputs and heavy queries are measured")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    parser.add_argument("--plot", type=Path, help="draw the ratios into this file, as PNG or SVG")
    chosen = parser.parse_args(argv)
    people = max(chosen.triples // PER_PERSON, 10)
    with TemporaryDirectory(prefix="memento-bench-") as name, ExitStack() as running:
        folder = Path(name)
        home = DataFolder(folder / "home")
        filled(home.store, people)
        ox.Store.read_only(str(home.store)).backup(str(folder / "copy"))
        running.enter_context(serving(home.path, "trigram"))
        owner = home.serving_owner()
        assert owner is not None and owner.address is not None
        ports = {
            "memento": int(owner.address.rpartition(":")[2]),
            "empty view": running.enter_context(empty_view()),
            "oxigraph serve": running.enter_context(oxigraph(folder / "copy")),
        }
        figures: dict[str, object] = {"triples": people * PER_PERSON}
        figures["simple_ms"] = latencies(ports, people, chosen.asked)
        figures["simple_per_s"] = throughputs(ports, people, chosen.seconds, chosen.rounds)
        figures["heavy_s"] = heavy(ports, chosen.rounds)
        figures["first_row_ms"] = {
            name: first_row(ports[name], name, min(10, chosen.asked)) for name in ("memento", "oxigraph serve")
        }
        figures["write_visible_ms"] = visible(ports["memento"], min(20, chosen.asked))
    figures["ratios"] = ratios(figures)
    print(json.dumps(figures) if chosen.json else report(figures))
    if chosen.plot:
        plot(_mapping(figures["ratios"]), chosen.plot)
    record("sparql", figures, chosen.record)
    return figures


def filled(store: Path, people: int) -> None:
    """Put the people into a store; the ontology and all else come with the first start."""

    def quads() -> Iterator[ox.Quad]:
        graph, named = ox.NamedNode(GRAPH), {one: ox.NamedNode(E + one) for one in ("name", "age", "city", "knows")}
        kind, person = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), ox.NamedNode(E + "Person")
        integer = ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer")
        for n in range(people):
            one = ox.NamedNode(f"{E}person/{n}")
            yield ox.Quad(one, kind, person, graph)
            yield ox.Quad(one, named["name"], ox.Literal(f"Person number {n} of the city {n % CITIES}"), graph)
            yield ox.Quad(one, named["age"], ox.Literal(str(n * 7 % 90), datatype=integer), graph)
            yield ox.Quad(one, named["city"], ox.Literal(str(n % CITIES)), graph)
            for other in (n * 31 + 7, n * 17 + 3):
                yield ox.Quad(one, named["knows"], ox.NamedNode(f"{E}person/{other % people}"), graph)

    filling = ox.Store(str(store))
    filling.bulk_extend(quads())
    filling.flush()


@contextmanager
def empty_view() -> Iterator[int]:
    """A Flask view that answers with nothing, in the stack that the service runs in; gives its port."""
    with started([sys.executable, str(Path(__file__).with_name("empty_view.py"))]) as port:
        yield port


@contextmanager
def oxigraph(folder: Path) -> Iterator[int]:
    """Oxigraph's own server; gives its port."""
    command = [str(Path(sys.executable).with_name("oxigraph")), "serve-read-only", "--location", str(folder), "--bind"]
    with started(command, "127.0.0.1:") as port:
        yield port


@contextmanager
def started(command: Sequence[str], host: str = "") -> Iterator[int]:
    """A server that takes its address as the last argument; gives its port once it answers."""
    port = free_port()
    process = subprocess.Popen([*command, f"{host}{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.perf_counter() + 30
        while True:
            try:
                Wire(port).close()
                break
            except OSError:
                if process.poll() is not None or time.perf_counter() > until:
                    raise SystemExit(f"{command[0]} did not start") from None
                time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def request(name: str, sparql: str) -> bytes:
    """A request to one of the servers as it goes over the wire."""
    path = {"memento": "/sparql", "oxigraph serve": "/query"}.get(name, "/")
    query = f"?query={quote(sparql)}" if path != "/" else ""
    return f"GET {path}{query} HTTP/1.1\r\nHost: localhost\r\nAccept: {ROWS}\r\n\r\n".encode()


def latencies(ports: Mapping[str, int], people: int, asked: int) -> dict[str, dict[str, dict[str, float]]]:
    """p50 and p95 at one client, by kind of query and server; the servers are asked in turns."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    wires = {name: Wire(port) for name, port in ports.items()}
    for kind, sparql in SIMPLE.items():
        seconds: dict[str, list[float]] = {name: [] for name in ports}
        for n in range(asked + 20):
            text = sparql % (n * 97 % people) if "%d" in sparql else sparql
            for name, wire in wires.items():
                sent = request(name, text)
                begin = time.perf_counter()
                wire.ask(sent)
                seconds[name].append(time.perf_counter() - begin)
        found[kind] = {name: spread(times[20:]) for name, times in seconds.items()}
    for wire in wires.values():
        wire.close()
    return found


def throughputs(ports: Mapping[str, int], people: int, seconds: float, rounds: int) -> dict[str, dict[str, float]]:
    """Requests per second at 1 and 8 clients, by server: the median of the rounds, in which the servers take turns."""
    found: dict[str, dict[str, float]] = {}
    for clients in (1, 8):
        turns: dict[str, list[float]] = {name: [] for name in ports}
        for _ in range(rounds):
            for name, port in ports.items():
                turns[name].append(throughput(name, port, people, clients, seconds))
        found[str(clients)] = {name: round(median(each), 1) for name, each in turns.items()}
    return found


def throughput(name: str, port: int, people: int, clients: int, seconds: float) -> float:
    """Requests per second of so many clients, each of which asks again when it is answered."""
    sent = [request(name, SIMPLE["one subject"] % (n * 97 % people)) for n in range(200)]
    shares = [min(4, clients - begin) for begin in range(0, clients, 4)]
    command = [sys.executable, str(Path(__file__).with_name("wire.py")), str(port)]
    processes = [
        subprocess.Popen([*command, str(share), str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for share in shares
    ]
    text = json.dumps([one.decode() for one in sent])
    for process in processes:
        assert process.stdin
        with process.stdin:
            process.stdin.write(text)
    rates = []
    for process in processes:
        assert process.stdout
        with process.stdout:
            rates.append(float(process.stdout.read()))
        process.wait()
    return sum(rates)


def heavy(ports: Mapping[str, int], rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of each heavy query, by server: the median of the rounds, in which the servers take turns."""
    found = {}
    for kind, sparql in HEAVY.items():
        seconds: dict[str, list[float]] = {"memento": [], "oxigraph serve": []}
        sizes = {}
        for _ in range(rounds):
            for name, times in seconds.items():
                wire = Wire(ports[name])
                begin = time.perf_counter()
                status, sizes[name] = wire.ask(request(name, sparql))
                times.append(time.perf_counter() - begin)
                wire.close()
                assert status == 200, (name, kind, status)
        assert len(set(sizes.values())) == 1, (kind, sizes)
        found[kind] = {name: round(median(times), 4) for name, times in seconds.items()}
    return found


def first_row(port: int, name: str, asked: int) -> dict[str, float]:
    """Milliseconds until the first bytes of a long answer are there."""
    seconds = []
    for _ in range(asked):
        wire = Wire(port)
        begin = time.perf_counter()
        wire.begin(request(name, HEAVY["export as JSON"]))
        seconds.append(time.perf_counter() - begin)
        wire.close()
    return spread(seconds)


def visible(port: int, writes: int) -> dict[str, float]:
    """Milliseconds of a query right after a note was acknowledged, which must see it; one that follows no write beside it."""
    after = []
    wire = Wire(port)
    for n in range(writes):
        text = f"I have seen comet number {n} today."
        body = json.dumps({"content": text}).encode()
        head = f"POST /memory/notes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        status, _ = wire.ask(f"{head}\r\n\r\n".encode() + body)
        assert status in (200, 201), status
        sent = request(
            "memento", f"ASK {{ ?note a <http://purl.org/memento/Note> ; <http://purl.org/memento/content> '{text}' }}"
        )
        begin = time.perf_counter()
        wire.ask(sent)
        after.append(time.perf_counter() - begin)
        assert b"true" in wire.body, "a write was not seen"
    wire.close()
    return {**spread(after), "most": round(max(after) * 1000, 2)}


def ratios(figures: Mapping[str, object]) -> dict[str, float]:
    """What the figures are held to."""
    per_s, heavy_s = _mapping(figures["simple_per_s"]), _mapping(figures["heavy_s"])
    found = {}
    for clients, servers in per_s.items():
        found[f"throughput over empty view, {clients} clients"] = servers["memento"] / servers["empty view"]
        found[f"throughput over oxigraph serve, {clients} clients"] = servers["memento"] / servers["oxigraph serve"]
    for kind, servers in heavy_s.items():
        found[f"time over oxigraph serve, {kind}"] = servers["memento"] / servers["oxigraph serve"]
    return {name: round(ratio, 3) for name, ratio in found.items()}


def report(figures: Mapping[str, object]) -> str:
    """The figures for people."""
    lines = [f"{figures['triples']:,} triples, {os.cpu_count()} cores", "", "one client"]
    for kind, servers in _mapping(figures["simple_ms"]).items():
        lines += [shown(f"{kind}, {name}", ms) for name, ms in servers.items()]
    lines += ["", "requests per second"]
    for clients, per_s in _mapping(figures["simple_per_s"]).items():
        lines.append(f"{clients} clients: " + ", ".join(f"{name} {value:,.0f}" for name, value in per_s.items()))
    lines += ["", "heavy queries, seconds"]
    for kind, seconds in _mapping(figures["heavy_s"]).items():
        lines.append(f"{kind:<20}" + "".join(f"{name} {value:8.3f}   " for name, value in seconds.items()))
    lines.append("")
    lines += [shown(f"first row, {name}", ms) for name, ms in _mapping(figures["first_row_ms"]).items()]
    lines.append(shown("query right after a write", _mapping(figures["write_visible_ms"])))
    lines += ["", *(f"{name:<52} {ratio:6.2f}" for name, ratio in _mapping(figures["ratios"]).items())]
    return "\n".join(lines)


def plot(ratios: Mapping[str, float], file: Path) -> None:
    """Draw each ratio as a bar beside the line at 1, where the other is."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 0.35 * len(ratios) + 1), layout="constrained")
    axes.barh(list(ratios), list(ratios.values()), color="#3a6ea5")
    axes.axvline(1.0, color="#888888", linewidth=1)
    axes.invert_yaxis()
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _mapping(value: object) -> Mapping[str, Any]:
    assert isinstance(value, dict)
    return value


if __name__ == "__main__":
    main()
