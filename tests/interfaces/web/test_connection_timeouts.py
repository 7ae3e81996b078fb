"""Requests that hardly arrive: neither their connections nor the threads that would read them are held for ever."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from conftest import OFFLINE
from doors import serving
from memento.interfaces.web import connection as timeouts
from memento.python import Memento, open_memento
from memento.settings import ServerSettings

THREADS = 4
LITTLE = ServerSettings(threads=THREADS, head_s=0.3, body_s=0.3)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with few threads."""
    opened = open_memento(tmp_path_factory.mktemp("slow"), configured=replace(OFFLINE, server=LITTLE))
    assert isinstance(opened, Memento)
    with opened, serving(opened) as found:
        yield found


def connected(address: str) -> socket.socket:
    url = urlsplit(address)
    return socket.create_connection((url.hostname or "", url.port or 0), timeout=60)


def post(length: int) -> bytes:
    kind = "Content-Type: application/sparql-query"
    return f"POST /sparql HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: {length}\r\n\r\n".encode()


@pytest.mark.parametrize("begun", [b"", b"G", b"POST /sparql HTTP/1.1\r\nHost: local"])
def test_a_head_that_does_not_come_on_is_not_waited_for(address: str, begun: bytes) -> None:
    with connected(address) as connection:
        connection.sendall(begun)

        assert connection.recv(100) == b""


def test_the_head_of_a_second_request_is_not_waited_for_either(address: str) -> None:
    with connected(address) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        told = b""
        while not told.endswith(b"}"):
            told += connection.recv(65536)
        connection.sendall(b"GET /hea")
        while piece := connection.recv(65536):
            told += piece

    assert told.count(b"HTTP/1.1") == 1


def test_a_body_that_does_not_come_on_is_not_waited_for(address: str) -> None:
    with connected(address) as connection:
        connection.sendall(post(100) + b"ASK")
        told = b""
        while piece := connection.recv(65536):
            told += piece

    assert told.startswith(b"HTTP/1.1 408")
    assert b"too_slow" in told


def test_bodies_that_trickle_do_not_keep_others_waiting_for_ever(address: str) -> None:
    with ExitStack() as stack:
        for _ in range(3 * THREADS):
            stack.enter_context(connected(address)).sendall(post(100) + b"A")
        url = urlsplit(address)
        client = stack.enter_context(closing(http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)))
        client.request("GET", "/sparql?query=ASK%7B%7D", headers={"Accept": "text/csv"})

        assert client.getresponse().status == 200


def test_a_body_that_comes_in_pieces_arrives(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "SLOWEST", 1)
    query = b"ASK { } # " + b"and so on " * 5
    with connected(address) as connection:
        connection.sendall(post(len(query)) + query[:10])
        for n in range(10, len(query), 10):
            connection.sendall(query[n : n + 10])
        told = connection.recv(65536)

    assert told.startswith(b"HTTP/1.1 200")
