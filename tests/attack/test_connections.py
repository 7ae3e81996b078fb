"""Clients that send no end of anything: bodies without one, connections without a request, more than there are descriptors for."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conftest import OFFLINE
from doors import serving
from memento.interfaces.web.connection import EARLY_BYTES
from memento.python import Memento, open_memento
from memento.settings import ServerSettings

THREADS, CONNECTIONS = 8, 60


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    limits = ServerSettings(threads=THREADS, connections=CONNECTIONS, body_s=3600)
    opened = open_memento(tmp_path_factory.mktemp("many"), configured=replace(OFFLINE, server=limits))
    assert isinstance(opened, Memento)
    with opened, serving(opened) as found:
        opened.warm_up()
        yield found


def connected(address: str) -> socket.socket:
    url = urlsplit(address)
    return socket.create_connection((url.hostname or "", url.port or 0), timeout=60)


def answered(address: str, method: str, path: str, body: str | None = None) -> int:
    """The status of a request of somebody else, who waits for a minute: bodies that never end may take an hour."""
    url = urlsplit(address)
    with closing(http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)) as client:
        client.request(method, path, body, {"Content-Type": "application/json"})
        return client.getresponse().status


def head(path: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize("path", ["/memory/notes", "/mcp", "/v1/messages", "/sparql/graphs?default"])
def test_bodies_that_never_end_take_no_thread(address: str, path: str) -> None:
    with ExitStack() as stack:
        for _ in range(3 * THREADS):
            stack.enter_context(connected(address)).sendall(head(path, 1000) + b'{"content": "')

        assert answered(address, "POST", "/memory/notes", json.dumps({"content": "I live in Lisbon."})) in (200, 201)
        assert answered(address, "GET", "/sparql?query=ASK%7B%7D") == 200


def test_long_bodies_that_never_end_leave_threads_for_others(address: str) -> None:
    with ExitStack() as stack:
        for _ in range(3 * THREADS):
            sender = stack.enter_context(connected(address))
            sender.sendall(head("/sparql/graphs?default", 4 * EARLY_BYTES) + b" " * (EARLY_BYTES + 1))

        assert answered(address, "POST", "/memory/notes", json.dumps({"content": "I work at Google."})) in (200, 201)


def test_a_long_body_arrives_whole(address: str) -> None:
    document = b"".join(b"<urn:x:%d> <urn:p> %d .\n" % (n, n) for n in range(EARLY_BYTES // 10))
    url = urlsplit(address)
    with closing(http.client.HTTPConnection(url.hostname or "", url.port, timeout=60)) as client:
        client.request("POST", "/sparql/graphs/mine", document, {"Content-Type": "text/turtle"})
        answer = client.getresponse()

        assert answer.status == 201
        assert json.load(answer)["added"] == EARLY_BYTES // 10


def test_idle_connections_make_room_for_those_that_ask(address: str) -> None:
    with ExitStack() as stack:
        idle = [stack.enter_context(connected(address)) for _ in range(3 * CONNECTIONS)]
        for _ in range(3):
            assert answered(address, "GET", "/health") == 200
        until = time.monotonic() + 60
        while sum(map(_is_closed, idle)) < 2 * CONNECTIONS:
            assert time.monotonic() < until
            time.sleep(0.05)


def _is_closed(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@contextmanager
def served_with_few_files(home: Path, files: int) -> Iterator[tuple[str, Path]]:
    """A service in a process that may have so many files open, and what it writes to its log."""
    import resource

    log = home.with_name("log")
    own = {
        "MEMENTO_HOME": str(home),
        "MEMENTO_EMBEDDING_MODEL": "trigram",
        "MEMENTO_EMBEDDING_CACHE": "false",
        "MEMENTO_SERVER_PORT": "0",
    }
    with log.open("wb") as target:
        process = subprocess.Popen(
            [sys.executable, "-m", "memento", "serve"],
            env={**os.environ, **own},
            stdout=target,
            stderr=target,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )
    try:
        for _ in range(600):
            with suppress(OSError, ValueError, TypeError):
                if found := json.loads((home / "owner.json").read_text())["address"]:
                    break
            time.sleep(0.1)
        for _ in range(600):
            if answered(found, "GET", "/health") == 200:
                break
            time.sleep(0.1)
        yield found, log
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
def test_a_service_without_descriptors_answers_and_does_not_fill_its_log(tmp_path: Path) -> None:
    with served_with_few_files(tmp_path / "home", 160) as (address, log), ExitStack() as stack:
        before = log.stat().st_size
        for _ in range(400):
            with suppress(OSError):
                stack.enter_context(connected(address))
        time.sleep(2)

        assert answered(address, "GET", "/health") == 200
        assert log.stat().st_size - before < 10_000
