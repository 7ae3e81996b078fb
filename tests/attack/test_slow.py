"""One caller who wants to be slow: unread answers, heavy queries, exports, expressions and notes; others are answered."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from urllib.parse import quote, urlsplit

import pytest

from conftest import OFFLINE
from doors import serving
from memento.consolidation.pipeline import MOST_READ_CHARS
from memento.model import NoteRow
from memento.python import Memento, open_memento
from memento.settings import SparqlSettings

QUADS = 30_000
CROSS = "SELECT (COUNT(*) AS ?n) WHERE { GRAPH <urn:memento:ontology> { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } }"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memento, str]]:
    """A memory with a graph whose answers are longer than what sockets buffer."""
    settings = replace(OFFLINE, sparql=SparqlSettings(query_s=20.0, stall_s=600.0))
    opened = open_memento(tmp_path_factory.mktemp("slow") / "home", configured=settings)
    assert isinstance(opened, Memento)
    with opened, serving(opened) as address:
        opened.warm_up()
        document = b"".join(b'<urn:x:%d> <urn:p> "%s %d" .\n' % (n, b"x" * 300, n) for n in range(QUADS))
        assert ask(address, "POST", "/sparql/graphs/big", document, media="application/n-triples")[0] == 201
        yield opened, address


def ask(
    address: str, method: str, path: str, body: object = None, media: str = "application/json"
) -> tuple[int, bytes]:
    """The status and the body of an answer."""
    url = urlsplit(address)
    data = body if isinstance(body, bytes) or body is None else json.dumps(body)
    with closing(http.client.HTTPConnection(url.hostname or "", url.port, timeout=120)) as client:
        client.request(method, path, data, {"Content-Type": media})
        answer = client.getresponse()
        return answer.status, answer.read()


def begin(address: str, path: str) -> socket.socket:
    """Ask, and read the first bytes of the answer only."""
    url = urlsplit(address)
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    reader.settimeout(120)
    reader.connect((url.hostname or "", url.port or 0))
    reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert reader.recv(1) == b"H"
    return reader


def others_are_answered(address: str, number: int) -> None:
    """A note, a question and a query of somebody else."""
    assert ask(address, "GET", "/health")[0] == 200
    assert ask(address, "POST", "/memory/notes", {"content": f"I bought lamp {number} today."})[0] in (200, 201)
    assert ask(address, "GET", "/memory/recall?question=lamp")[0] == 200
    assert ask(address, "GET", "/sparql?query=ASK%7B%7D")[0] == 200


SLOWLY_READ = {
    "a query": "/sparql?query=" + quote("SELECT * { ?s ?p ?o }"),
    "an export": "/memory/export",
    "a graph": "/sparql/graphs/big",
}


@pytest.mark.parametrize("what", SLOWLY_READ)
def test_answers_that_nobody_reads_hold_nobody_up(what: str, served: tuple[Memento, str]) -> None:
    _, address = served
    with ExitStack() as readers:
        for _ in range(2):
            readers.enter_context(begin(address, SLOWLY_READ[what]))
        others_are_answered(address, 1)
        if what == "an export":
            assert ask(address, "GET", SLOWLY_READ[what])[0] == 200


def test_an_answer_that_is_read_slowly_is_whole(served: tuple[Memento, str]) -> None:
    _, address = served
    with begin(address, SLOWLY_READ["a graph"]) as reader:
        others_are_answered(address, 2)
        data = _read(reader)

    assert data.count(b"urn:x:") >= QUADS


def _read(reader: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"0\r\n\r\n"):
        part = reader.recv(1 << 20)
        if not part:
            break
        data += part
    return data


def test_heavy_queries_of_one_caller_leave_workers_for_others(served: tuple[Memento, str]) -> None:
    memento, address = served
    path = "/sparql?timeout=5&query=" + quote(CROSS)
    with ThreadPoolExecutor(12) as pool:
        sent = [pool.submit(ask, address, "GET", path) for _ in range(12)]
        while not memento.service.workers.is_crowded:
            assert not all(one.done() for one in sent)
        others_are_answered(address, 3)
        left = [one for one in sent if not one.done()]

    assert left
    assert {one.result()[0] for one in sent} <= {429, 503, 504}


def test_exports_at_once_hold_no_writer_up(served: tuple[Memento, str]) -> None:
    _, address = served
    with ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(ask, address, "GET", "/memory/export") for _ in range(4)]
        others_are_answered(address, 4)

    assert {one.result()[0] for one in sent} == {200}


EXPRESSIONS = {
    "open lists": "(" * 1_000_000,
    "deep lists": "(list " * 50_000 + ")" * 50_000,
    "a long list": "(list " + "1 " * 300_000 + ")",
    "a long text": '"' + "x" * 3_000_000 + '"',
    "a text without end": '"' + "x" * 3_000_000,
    "many calls": "(list " + "(recall 'lamp') " * 5_000 + ")",
}


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_long_expressions_are_bounded_and_hold_nobody_up(kind: str, served: tuple[Memento, str]) -> None:
    _, address = served
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(ask, address, "POST", "/memory/sexpr", {"expression": EXPRESSIONS[kind]})
        others_are_answered(address, 5)

    assert sent.result()[0] in (200, 400, 413)


BODIES = {
    "deep JSON": b"[" * 500_000,
    "many fields": b"{" + b",".join(b'"k%d":1' % number for number in range(100_000)) + b"}",
    "a long number": b'{"content": ' + b"9" * 500_000 + b"}",
    "no JSON": b"\0" * 500_000,
}


@pytest.mark.parametrize("kind", BODIES)
def test_odd_bodies_are_refused_and_hold_nobody_up(kind: str, served: tuple[Memento, str]) -> None:
    _, address = served
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(ask, address, "POST", "/memory/notes", BODIES[kind])
        others_are_answered(address, 6)

    assert sent.result()[0] == 400


def test_the_longest_note_is_kept_in_its_own_words(served: tuple[Memento, str]) -> None:
    memento, address = served
    text = "zyxwvortia " + "green tea and " * (MOST_READ_CHARS // 14 + 1)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(ask, address, "POST", "/memory/notes", {"content": text})
        others_are_answered(address, 7)

    status, answer = sent.result()
    told = json.loads(answer)
    assert status == 201
    assert "kept in its own words" in told["verbatim"]
    assert len(told["memories"]) == 1
    assert memento.get(told["memories"][0]).iri == told["memories"][0]


def test_many_rows_of_one_import_let_notes_of_others_pass(served: tuple[Memento, str]) -> None:
    memento, address = served
    rows = [NoteRow(content=f"The crate {number} is in hall {number}.") for number in range(300)]
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(memento.intake.import_notes, rows)
        while not any("crate" in one.content for one in memento.list(limit=5)):
            assert not sent.done()
        others_are_answered(address, 8)
        assert not sent.done()

    assert sent.result().memories >= 300


def test_erasing_many_memories_while_notes_come_leaves_nothing_half(served: tuple[Memento, str]) -> None:
    memento, address = served
    memories = [
        memory
        for number in range(10)
        for memory in memento.note(f"I own item {number} named Canary{number}x in Rome.").memories
    ]
    with ThreadPoolExecutor(3) as pool:
        said = [
            pool.submit(
                ask, address, "POST", "/memory/notes", {"content": f"I own item {number} named Robin{number}x."}
            )
            for number in range(10)
        ]
        erased = [pool.submit(ask, address, "DELETE", f"/memory/{quote(one)}?erase=true") for one in memories]

    assert {one.result()[0] for one in said} <= {200, 201}
    assert {one.result()[0] for one in erased} == {200}
    assert memento.admin.check() == ()
    assert not any("Canary" in one.content for one in memento.list(limit=1_000))
