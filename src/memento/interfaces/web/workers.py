"""
Several processes that answer for one data folder: a store served by `oxigraph serve` on this machine, and workers that share one
port. `memento serve --workers N`.

    memento serve --workers 3 ─┬─ oxigraph serve        the store of the folder; updates reach it one at a time (`store.Front`)
                               ├─ worker 1 ─┐
                               ├─ worker 2  ├─ accept from the same socket, write by compare-and-set
                               └─ worker 3 ─┘

*Guarantees:* whoever dies is started again, the store too; what was acknowledged is in the store. Nothing is announced before every
worker answers at full speed.

*But:* every program of this machine reaches the port of the engine, which is chosen at each start, as it reaches Memento's own; a
machine that several people share is no place for it.
"""

from __future__ import annotations

import contextlib
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

from memento.access import Tokens, new_token
from memento.backends import finish_files
from memento.datadir import DataFolder, Owner
from memento.errors import MementoError, SettingsError
from memento.interfaces.web.server import address_of, asgi, listening, serve_on
from memento.interfaces.web.store import Child, serve_engine, start_child
from memento.model import Scope
from memento.python.memento import Memento
from memento.service import open_service
from memento.settings import Settings, StoreSettings, home_and_namespace, load, resolve_namespace
from memento.telemetry import configure_logging, trace_to

_READY_S, _LOOK_S = 900.0, 0.2


def serve_many(
    folder: DataFolder, settings: Settings, count: int, host: str, port: int, ready: Callable[[str], None]
) -> None:
    """
    Answer requests with several workers until SIGINT or SIGTERM.

    Args:
        folder: the data folder, which this process owns.
        count: workers; the store has a process of its own.
        port: 0 picks a free one.
        ready: called with the address, once, when every worker answers at full speed.

    Raises:
        MissingPart: the program `oxigraph` is not installed.
        SettingsError: the port cannot be had, or the folder is one that only a single process can serve.
        BackendError: the store or a worker does not start; says what it said.
    """
    if sys.platform == "win32":
        raise SettingsError("--workers shares a socket among processes, which Windows has not: leave it out")
    if folder.is_encrypted or settings.encryption.on:
        raise SettingsError("an encrypted folder is served by one process: leave --workers out")
    if settings.store.kind != "embedded":
        raise SettingsError(
            '--workers starts a store of its own over the folder: with store.kind = "sparql" start a service on each port'
        )
    finish_files(folder)
    (folder.workers / "sequence").unlink(missing_ok=True)  # of an earlier store, if that was put back
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
        workers = [
            Child(f"worker {number}", partial(_start_worker, folder.path, number, listener, urls, token))
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
    home: Path, number: int, listener: socket.socket, urls: Sequence[str], token: str
) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", __name__, str(home), str(number), str(listener.fileno()), *urls]
    process = start_child(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[listener.fileno()])
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as told:  # one that has ended already says so itself
        told.write(f"{token}\n".encode())
    return process


def work(home: Path, number: int, listener: socket.socket, query_url: str, update_url: str) -> None:
    """Answer requests as one of the workers, until SIGTERM; writes a line when it answers at full speed."""
    configure_logging()
    token = sys.stdin.readline().strip()
    settings = load(home / "memento.toml")
    namespace = home_and_namespace()[1] or settings.scope.namespace
    if settings.telemetry.otlp_endpoint:
        trace_to(settings.telemetry.otlp_endpoint)
    # Whoever started us knows what store it is.
    where = StoreSettings("sparql", query_url, update_url, token=token, probe=False, shards=settings.store.shards)
    own = DataFolder(DataFolder(home).workers / str(number), shared=home)
    own.acquire("memento serve", settings.server.lock_wait_s)
    scope = Scope(namespace=resolve_namespace(namespace))
    with Memento(open_service(own, scope, replace(settings, store=where))) as memento:
        memento.tokens.lent = token
        memento.resume()
        address = address_of(*listener.getsockname()[:2])
        serve_on(listener, memento, lambda busy: asgi(memento.service, busy), address, _announce)


def _announce(address: str) -> None:
    """Tell the parent that this worker answers at full speed."""
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    home, number, descriptor, *urls = sys.argv[1:]
    try:
        work(Path(home), int(number), socket.socket(fileno=int(descriptor)), *urls)
    except MementoError as error:
        sys.exit(f"memento: worker {number}: {error}")
