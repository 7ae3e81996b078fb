"""A real SPARQL endpoint for tests: `oxigraph serve` on a free port, shared by what one process of tests asks of it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from faulty import Front
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.remote import RemoteStore

BINARY = shutil.which("oxigraph", path=str(Path(sys.executable).parent)) or shutil.which("oxigraph")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class Server:
    """
    One server over a folder, which may be killed and started again. Updates come to it through a front, one at a time: over a
    folder it lets two writers win.
    """

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    front: Front | None = None

    @property
    def query_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/query"

    @property
    def update_url(self) -> str:
        self.front = self.front or Front(self.port)
        return self.front.urls[1]

    def start(self) -> None:
        assert BINARY
        words = [BINARY, "serve", "-l", str(self.folder), "-b", f"127.0.0.1:{self.port}", "--timeout-s", "60"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = self.client()
        client.wait_until_there(60, lambda: None)
        assert self.process.poll() is None
        client.close()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def client(self, timeout_s: float = 30.0) -> SparqlClient:
        return SparqlClient(self.query_url, self.update_url, timeout_s=timeout_s)

    def open(self) -> RemoteStore:
        return RemoteStore(self.client())

    def empty(self) -> None:
        """Drop all that is in it, the feed included."""
        client = self.client()
        client.update("DROP ALL")
        client.close()


@contextmanager
def serve_graphs(folder: Path) -> Iterator[Server]:
    """Serve a folder of its own, until the end of the block."""
    if BINARY is None:
        pytest.skip("oxigraph, the server, is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    made = Server(folder, free_port())
    made.start()
    try:
        yield made
    finally:
        made.kill()


@contextmanager
def serve_milvus(folder: Path, port: int) -> Iterator[None]:
    """Serve a folder with `milvus-lite server`, which is killed at the end."""
    command = [str(Path(sys.executable).parent / "milvus-lite"), "server", "--data-dir", str(folder)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--host", "127.0.0.1", "--port", str(port)], stdout=log, stderr=log)
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()
