"""Nodes over one store are restarted one after the other: whoever asks through a balancer loses nothing and sees no other error."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from endpoints import BINARY, Server, free_port

pytestmark = pytest.mark.skipif(BINARY is None, reason="no `oxigraph`: pip install oxigraph")

PATIENCE_S = 60.0
FACT = "The spare key of the boathouse hangs behind the clock."
HARBOUR, PILOT = "The harbour master of {} is Ines.", "The pilot of {} is Otto."
QUESTION = f"/memory/recall?question={quote('Where is the spare key of the boathouse?')}"


class Node:
    """`memento serve` over a shared store, at an address that it keeps."""

    def __init__(self, home: Path, server: Server) -> None:
        self.port = free_port()
        self._words = [sys.executable, "-m", "memento", "--home", str(home), "serve", "--port", str(self.port)]
        self._environment = {
            **os.environ,
            "MEMENTO_EMBEDDING_MODEL": "trigram",
            "MEMENTO_EMBEDDING_CACHE": "false",
            "MEMENTO_STORE_KIND": "sparql",
            "MEMENTO_STORE_QUERY_URL": server.query_url,
            "MEMENTO_STORE_UPDATE_URL": server.update_url,
            "MEMENTO_STORE_PROBE": "false",
            "MEMENTO_INDEX_KIND": "lance",
            "MEMENTO_INDEX_URI": str(home.parent / "engine"),
        }
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._words, stdout=subprocess.PIPE, text=True, env=self._environment)

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        assert "ready at " in self.process.stdout.readline()

    def wait_for_end(self) -> int:
        """Return the exit code."""
        assert self.process.stdout is not None
        code = self.process.wait(timeout=PATIENCE_S)
        self.process.stdout.close()
        return code

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any, bool]:
        """Send one request on a connection of its own: its status, its answer, and whether that says to ask again."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json", "Connection": "close"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()), "Retry-After" in answer.headers
        finally:
            connection.close()

    def count_memories(self) -> Counter[str]:
        """Say how often each memory is there that holds."""
        return Counter(one["content"] for one in self.ask("GET", "/memory/list?limit=1000")[1])


class Begun:
    """A note of which a node has got half."""

    def __init__(self, node: Node, content: str) -> None:
        text = json.dumps({"content": content}).encode()
        self._connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=PATIENCE_S)
        self._connection.putrequest("POST", "/memory/notes")
        self._connection.putheader("Content-Type", "application/json")
        self._connection.putheader("Content-Length", str(len(text)))
        self._connection.endheaders(text[:10])
        self._rest = text[10:]

    def end(self) -> int:
        """Send the rest; return the status."""
        self._connection.send(self._rest)
        status = self._connection.getresponse().status
        self._connection.close()
        return status


class Balancer:
    """Asks one node after the other, and another one where a connection is refused or a 503 says to ask again."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._turn = count()
        self.refused: Counter[str] = Counter()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer of whichever node gives one; anything but that is an error."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            node = self._nodes[next(self._turn) % len(self._nodes)]
            try:
                status, answer, is_to_ask_again = node.ask(method, path, body)
            except ConnectionRefusedError:
                self.refused["connection"] += 1
            else:
                if status < 300:
                    return answer
                assert status == 503 and is_to_ask_again, answer
                self.refused[answer["error"]["code"]] += 1
            time.sleep(0.02)
        raise AssertionError(f"no node answered: {self.refused}")


def knows(found: Any) -> bool:
    return FACT in [one["content"] for one in found["memories"]]


def wait_until(is_so: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
    until = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < until, "it did not come to be in time"
        time.sleep(0.02)


@pytest.fixture
def nodes(server: Server, tmp_path: Path) -> Iterator[list[Node]]:
    server.empty()
    made = [Node(tmp_path / name, server) for name in ("one", "two")]
    for node in made:
        node.wait_until_ready()
    yield made
    for node in made:
        node.process.kill()
        node.wait_for_end()


def test_nodes_that_are_restarted_one_after_the_other_lose_double_and_fail_nothing(nodes: list[Node]) -> None:
    balancer, noted, is_over = Balancer(nodes), dict[str, None](), threading.Event()
    balancer.ask("POST", "/memory/notes", {"content": FACT})
    for node in nodes:
        wait_until(lambda node=node: knows(node.ask("GET", QUESTION)[1]))  # type: ignore[misc]

    def repeat(call: Callable[[int], None]) -> None:
        for number in count():
            call(number)
            if is_over.wait(0.05):
                return

    def write(number: int) -> None:
        text = f"The crate alder{number} stands in hall {number}."
        balancer.ask("POST", "/memory/notes", {"content": text, "idempotency_key": text})
        noted[text] = None

    def read(number: int) -> None:
        assert knows(balancer.ask("GET", QUESTION))

    with ThreadPoolExecutor(2) as callers:
        asking = [callers.submit(repeat, write), callers.submit(repeat, read)]
        try:
            for node, other in (nodes, nodes[::-1]):
                wait_until(lambda fewer=dict(noted): len(noted) > len(fewer))  # type: ignore[misc]
                under_way = Begun(node, HARBOUR.format(node.port))
                node.process.terminate()
                # A node that is gone holds up nobody.
                assert other.ask("POST", "/memory/notes", {"content": PILOT.format(node.port)})[0] == 201
                assert under_way.end() == 201
                assert node.wait_for_end() == 0
                node.start()
                node.wait_until_ready()
        finally:
            is_over.set()
        for one in asking:
            one.result()

    assert balancer.refused["connection"]
    noted |= dict.fromkeys(told.format(node.port) for node in nodes for told in (HARBOUR, PILOT))
    for node in nodes:
        wait_until(lambda node=node: noted.keys() <= node.count_memories().keys())  # type: ignore[misc]
        assert not {text: times for text, times in node.count_memories().items() if text in noted and times > 1}
