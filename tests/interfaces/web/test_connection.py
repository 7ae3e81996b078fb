"""Clients that leave, over a real socket: within their own request, and before the answer to one that has no body."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import quote, urlsplit

import httpx2
import pytest

from conftest import OFFLINE
from doors import serving
from memento.python import Memento, open_memento
from memento.settings import SparqlSettings
from siege.watched import children

LONG = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?s{n} ?p{n} ?o{n} ." for n in range(9)) + " }"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Memento]]:
    configured = replace(OFFLINE, sparql=SparqlSettings(query_s=3600))
    opened = open_memento(tmp_path_factory.mktemp("left"), configured=configured)
    assert isinstance(opened, Memento)
    with opened, serving(opened) as address:
        opened.note("I live in Lisbon.")
        yield address, opened


def connected(address: str) -> socket.socket:
    url = urlsplit(address)
    return socket.create_connection((url.hostname or "", url.port or 0), timeout=60)


def told(memento: Memento) -> int:
    """How many notes there are."""
    body, _ = memento.graphs.query_bytes("SELECT ?note { ?note a <http://purl.org/memento/Note> }", accept="text/csv")
    return len(body.split()) - 1


def until(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold in a while."""
    for _ in range(1_200):  # a minute, of the hour that a query may take
        if holds():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("framing", ["Content-Length", "Transfer-Encoding"])
def test_a_request_that_breaks_off_is_not_taken_for_a_shorter_one(served: tuple[str, Memento], framing: str) -> None:
    address, memento = served
    first, second = (f'{{"content": "I like the {word} of {framing}."}}\n'.encode() for word in ("head", "tail"))
    length, piece = str(len(first + second)), first
    if framing == "Transfer-Encoding":
        length, piece = "chunked", f"{len(first):x}\r\n".encode() + first + b"\r\n"
    head = f"POST /memory/import HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n{framing}: {length}\r\n\r\n"
    before = told(memento)
    with connected(address) as connection:
        connection.sendall(head.encode() + piece)
        time.sleep(0.2)
    time.sleep(0.2)
    cut = told(memento)
    httpx2.post(f"{address}/memory/import", content=first + second, headers={"Content-Type": "application/x-ndjson"})

    assert cut == before
    assert told(memento) == before + 2


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_leaves_before_the_answer_frees_a_worker(served: tuple[str, Memento], method: str) -> None:
    address, _ = served
    query = f"query={quote(LONG)}"
    body = query if method == "POST" else ""
    target = "/sparql" if method == "POST" else f"/sparql?{query}"
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    workers = set(children(os.getpid()))
    with connected(address) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        time.sleep(0.5)
        assert workers <= set(children(os.getpid()))

    assert until(lambda: bool(workers - set(children(os.getpid()))))
