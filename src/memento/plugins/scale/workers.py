"""
Several processes for one data folder, for `memento serve --workers N`: a store served by `oxigraph serve` on this machine, and
workers that share one port.

    memento serve --workers 3 ─┬─ oxigraph serve        the store of the folder; updates reach it one at a time (`server.Front`)
                               ├─ worker 1 ─┐
                               ├─ worker 2  ├─ accept from the same socket, write by compare-and-set
                               └─ worker 3 ─┘

*Guarantees:* a process that dies is restarted, the store too; acknowledged writes are in the store. The service is announced only
when every worker is warm. A new connection goes to the worker with the fewest.

*But:* every program on this machine can reach the engine's port, which is chosen at each start, just as it can reach Memento's. Do
not use this on a machine that several people share.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from memento.access import Tokens, new_token
from memento.datadir import DataFolder, Owner
from memento.errors import MementoError, SettingsError
from memento.interfaces.web.server import address_of, asgi, listening, serve_on
from memento.model import Scope
from memento.plugins.scale.node import finish_files
from memento.plugins.scale.server import Child, serve_engine, start_child
from memento.plugins.scale.settings import ENGINES, NODES, SHARED_INDEX, StoreSettings
from memento.python.memento import Memento
from memento.service import open_service
from memento.settings import Settings, home_and_namespace, load, resolve_namespace
from memento.telemetry import configure_logging, trace_to

_READY_S, _LOOK_S = 900.0, 0.2
_AWAY = 2**32 - 1  # the count of a worker that accepts no connections
_DEFERRED, _DEFER_S = 5, 0.001  # how often a worker leaves a connection to one with fewer, and seconds each time


class SharedListener(socket.socket):
    """
    A listening socket that several workers share: the one with the fewest connections accepts the next.

    *Because:* asyncio accepts all waiting connections when it wakes up, so all connections of a client that opens several at once
    would go to one worker. *But:* the others wait only 5 ms for a worker that has fewer connections and is too busy to accept.
    """

    def __init__(self, descriptor: int, counts: memoryview, place: int) -> None:
        """
        Args:
            descriptor: the file descriptor of the socket.
            counts: the number of connections of each worker, in shared memory.
            place: the index of this worker in it.
        """
        super().__init__(fileno=descriptor)
        self._counts, self._place = counts, place
        self._accepted: list[socket.socket] = []
        self._deferred = 0

    def listen(self, backlog: int = 1024) -> None:
        """Start to accept."""
        self._counts[self._place] = len(self._accepted)
        super().listen(backlog)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; raise `BlockingIOError` if there is none, or if another worker should take it."""
        self._accepted = [one for one in self._accepted if one.fileno() >= 0]
        self._counts[self._place] = len(self._accepted)
        if min(self._counts) < len(self._accepted) and self._deferred < _DEFERRED:
            self._deferred += 1
            time.sleep(_DEFER_S)
            raise BlockingIOError
        connection, address = super().accept()
        self._deferred = 0
        self._accepted.append(connection)
        self._counts[self._place] = len(self._accepted)
        return connection, address

    def close(self) -> None:
        """Leave connections that are not accepted yet to the other workers."""
        self._counts[self._place] = _AWAY
        super().close()


def map_counts(path: Path, workers: int = 0) -> memoryview:
    """Map the file with the connection counts of all workers into memory; create it for `workers` workers if that is not 0."""
    if workers:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(_AWAY.to_bytes(4, sys.byteorder) * workers)
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0)).cast("I")


def serve_many(
    folder: DataFolder, settings: Settings, count: int, host: str, port: int, ready: Callable[[str], None]
) -> None:
    """
    Answer requests with several workers until SIGINT or SIGTERM.

    Args:
        folder: the data folder, which this process owns.
        count: the number of workers; the store has another process.
        port: 0 picks a free one.
        ready: called once, with the address, when every worker is warm.

    Raises:
        MissingPart: the program `oxigraph` is not installed.
        SettingsError: the port cannot be bound, or only a single process can serve this folder.
        BackendError: the store or a worker does not start; has its message.
    """
    if sys.platform == "win32":
        raise SettingsError("--workers shares a socket among processes, which Windows has not: leave it out")
    if folder.is_encrypted or settings.encryption.on:
        raise SettingsError("an encrypted folder is served by one process: leave --workers out")
    if settings.store.kind != "embedded":
        raise SettingsError(
            '--workers starts a store of its own over the folder: with store.kind = "sparql" start a service on each port'
        )
    if settings.index.kind not in ENGINES:
        raise SettingsError(f"--workers shares a store among processes: {SHARED_INDEX}")
    finish_files(folder)
    has_tokens = bool(Tokens(folder.tokens).list_issued())
    with contextlib.ExitStack() as opened:
        listener = opened.enter_context(listening(host, port, has_tokens=has_tokens))
        address = address_of(host, listener.getsockname()[1])
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        opened.callback(signal.signal, signal.SIGTERM, before)
        opened.callback(finish_files, folder)
        token = new_token()
        front = opened.enter_context(listening("127.0.0.1", 0, has_tokens=True))
        store = opened.enter_context(serve_engine(folder.store, front, token))
        urls = (f"{store.address}/query", f"{address_of(*front.getsockname()[:2])}/update")
        counts = map_counts(folder.workers / "connections", count)
        workers = [
            Child(f"worker {number}", partial(_start_worker, folder.path, number, listener, counts, urls, token))
            for number in range(1, count + 1)
        ]
        for worker in workers:
            opened.callback(worker.stop)
            worker.start()
        try:
            for worker in workers:
                worker.wait_until_ready(_READY_S)
            folder.publish(Owner(pid=os.getpid(), command="memento serve", address=address, token=token))
            ready(address)
            while True:
                for one in (store, *workers):
                    one.revive()
                time.sleep(_LOOK_S)
        except KeyboardInterrupt:
            pass


def _start_worker(
    home: Path, number: int, listener: socket.socket, counts: memoryview, urls: Sequence[str], token: str
) -> subprocess.Popen[bytes]:
    counts[number - 1] = _AWAY  # a worker that was killed could not set this itself
    words = [sys.executable, "-m", __name__, str(home), str(number), str(listener.fileno()), *urls]
    process = start_child(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[listener.fileno()])
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as told:  # a worker that has ended reports that itself
        told.write(f"{token}\n".encode())
    return process


def work(home: Path, number: int, descriptor: int, query_url: str, update_url: str) -> None:
    """
    Answer requests as one of the workers until SIGTERM; write a line when it is warm.

    Args:
        number: the number of the worker, from 1.
        descriptor: the file descriptor of the socket that all workers listen on.
    """
    configure_logging()
    token = sys.stdin.readline().strip()
    settings = load(home / "memento.toml")
    namespace = home_and_namespace()[1] or settings.scope.namespace
    if settings.telemetry.otlp_endpoint:
        trace_to(settings.telemetry.otlp_endpoint)
    # The parent process has already checked the store.
    where = StoreSettings(NODES, query_url, update_url, token=token, probe=False)
    own = DataFolder(DataFolder(home).workers / str(number), shared=home)
    own.acquire("memento serve", settings.server.lock_wait_s)
    listener = SharedListener(descriptor, map_counts(own.path.parent / "connections"), number - 1)
    scope = Scope(namespace=resolve_namespace(namespace))
    with Memento(open_service(own, scope, replace(settings, store=where))) as memento:
        memento.tokens.lent = token
        memento.resume()
        address = address_of(*listener.getsockname()[:2])
        serve_on(listener, memento, lambda busy: asgi(memento.service, busy), address, _announce)


def _announce(address: str) -> None:
    """Tell the parent that this worker is warm."""
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    home, number, descriptor, *urls = sys.argv[1:]
    try:
        work(Path(home), int(number), int(descriptor), *urls)
    except MementoError as error:
        sys.exit(f"memento: worker {number}: {error}")
