"""Nodes over one store, and the store, are killed in the middle of writes: all that was acknowledged is there once, whole."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from crash.node import Shared, settings_of, text
from endpoints import BINARY, Server, free_port
from memento.iris import MEM
from memento.model import Scope
from memento.python import Memento, open_memento

pytest.importorskip("lancedb", reason="pip install 'memento-rdf[lance]'")
pytestmark = pytest.mark.skipif(BINARY is None, reason="no `oxigraph`: pip install oxigraph")

NODE = Path(__file__).with_name("node.py")
NAMES = ("Alder", "Birch")


def shared(home: Path, server: Server) -> Shared:
    """Return where the store is, and the engine that the nodes share."""
    return server.query_url, server.update_url, "lance", str(home.parent / "engine")


class Node:
    """A writing process."""

    def __init__(self, home: Path, name: str, first: int, server: Server) -> None:
        self.home, self.name, self.server, self.first, self.acknowledged = home, name, server, first, first
        words = [sys.executable, str(NODE), str(home), name, str(first), *shared(home, server)]
        paths = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=paths)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def kill(self) -> int:
        """Kill it; return one more than the last number that it acknowledged."""
        self.process.kill()
        assert self.process.stdout is not None
        with self.process.stdout as told:
            numbers = [int(line) for line in told if line.endswith("\n")]
        self.process.wait()
        return numbers[-1] + 1 if numbers else self.first


def run(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    server = Server(folder / "store", free_port())
    server.start()
    nodes = [Node(folder / name, name, 0, server) for name in NAMES]
    try:
        for _ in range(kills):
            time.sleep(chance.uniform(0.1, 0.6))
            victim = chance.randrange(3)
            if victim == 2:
                server.kill()
                time.sleep(chance.uniform(0.0, 0.3))
                server.start()
            else:
                node = nodes[victim]
                nodes[victim] = Node(node.home, node.name, node.kill(), server)
        time.sleep(0.5)
        acknowledged = {node.name: node.kill() for node in nodes}
        examine(folder / "reader", server, acknowledged)
    finally:
        for node in nodes:
            node.process.kill()
            node.process.wait()
        server.kill()


def examine(home: Path, server: Server, acknowledged: dict[str, int]) -> None:
    with open_memento(home, configured=settings_of(*shared(home, server))) as memento:
        assert isinstance(memento, Memento)
        assert memento.admin.check() == ()
        quads = list(memento.service.stores.graph.quads(Scope().graph))
        keys = Counter(str(value) for _, predicate, value, _ in quads if predicate == MEM.idempotencyKey)
        assert set(keys.values()) == {1}
        notes = [
            str(value) for subject, predicate, value, _ in quads if predicate == MEM.content and ":note:" in subject
        ]
        for name, count in acknowledged.items():
            written = [number for number in range(count + 1) if f"{name}{number}" in keys]
            assert written[:count] == list(range(count))
            assert all(notes.count(text(name, number)) == 1 for number in written)
        # Of what all nodes wrote about one slot, one holds.
        jobs = [one for one in memento.list(limit=1000) if "Ltd" in one.content and one.invalid_at is None]
        assert len(jobs) == 1


def test_six_kills_of_nodes_and_store_lose_and_double_nothing(tmp_path: Path) -> None:
    run(tmp_path, 6, seed=4)


@pytest.mark.crash
@pytest.mark.parametrize("seed", range(10))
def test_three_hundred_kills_of_nodes_and_store_lose_and_double_nothing(tmp_path: Path, seed: int) -> None:
    run(tmp_path, 30, seed=seed)
