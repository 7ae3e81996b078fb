"""
Several processes that answer for one data folder: a store served by `oxigraph serve` on this machine, and workers that share one
port. `memento serve --workers N`.

    memento serve --workers 3 ─┬─ oxigraph serve        the store of the folder, on a loopback port of its own
                               ├─ worker 1 ─┐
                               ├─ worker 2  ├─ accept from the same socket, write by compare-and-set
                               └─ worker 3 ─┘

*Guarantees:* whoever dies is started again, the store too; what was acknowledged is in the store. Nothing is announced before every
worker answers at full speed.

*But:* every program of this machine reaches the port of the store, as it reaches Memento's own; a machine that several people share
is no place for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from memento.access import Tokens, new_token
from memento.datadir import DataFolder, Owner
from memento.errors import BackendError, MementoError, MissingPart, SettingsError
from memento.graph.backups import discard_backups, finish_restore
from memento.graph.oxigraph import finish_rewriting, rewrite, wait_until_released
from memento.interfaces.web.server import address_of, asgi, listening, serve_on
from memento.model import Scope
from memento.python.memento import Memento
from memento.service import open_service
from memento.settings import Settings, StoreSettings, home_and_namespace, load, resolve_namespace
from memento.telemetry import configure_logging, trace_to

logger = logging.getLogger(__name__)

_PLACE = "workers"
_STORE_S, _READY_S, _STOP_S, _LOOK_S = 60.0, 900.0, 15.0, 0.2
_AGAIN_S = (0.2, 30.0)
"""How long a process that died is waited with before it is started again: at first, and at most."""


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
    program = find_program()
    rewrite_erased(folder)
    (folder.path / _PLACE / "sequence").unlink(missing_ok=True)  # of an earlier store, if that was put back
    has_tokens = bool(Tokens(folder.tokens).list_issued())
    with contextlib.ExitStack() as opened:
        listener = opened.enter_context(listening(host, port, has_tokens=has_tokens))
        address = address_of(host, listener.getsockname()[1])
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        opened.callback(signal.signal, signal.SIGTERM, before)
        opened.callback(rewrite_erased, folder)
        url, token = f"http://127.0.0.1:{_find_free_port()}", new_token()
        store = _Supervised("store", partial(_start_store, program, folder.store, url))
        opened.callback(store.stop)
        store.start()
        _wait_for_store(url, store)
        workers = [
            _Supervised(f"worker {number}", partial(_start_worker, folder.path, number, listener, url, token))
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


def rewrite_erased(folder: DataFolder) -> None:
    """
    Let what workers erased be gone from the files of the store and from checkpoints, which only their owner can see to; finish what
    an earlier owner of the folder left to be done.

    Raises:
        GraphError: the store is open, or the disk has no room; the next start tries again.
    """
    finish_restore(folder)
    finish_rewriting(folder.store)
    marks = [*folder.path.glob(f"{_PLACE}/*/{folder.erasure_mark.name}"), folder.erasure_mark]
    if any(mark.exists() for mark in marks):
        discard_backups(folder.checkpoints)
        rmtree(folder.indexes, ignore_errors=True)  # which have words of it
        wait_until_released(folder.store, wait_s=_STOP_S)
        rewrite(folder.store)
        for mark in marks:
            mark.unlink(missing_ok=True)


def find_program() -> str:
    """Return the program that serves a store; raises `MissingPart` where there is none."""
    beside = Path(sysconfig.get_path("scripts")) / "oxigraph"
    found = str(beside) if beside.is_file() else shutil.which("oxigraph")
    if found is None:
        raise MissingPart(
            "--workers needs the program `oxigraph`, which serves the store: pip install 'memento-rdf[workers]'"
        )
    return found


class _Supervised:
    """A process that is to run as long as we do."""

    def __init__(self, name: str, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self.name, self._start = name, start
        self._process: subprocess.Popen[bytes] | None = None
        self._wait_s, self._due, self._began = _AGAIN_S[0], 0.0, 0.0

    def start(self) -> None:
        """Start the process."""
        self._process, self._began = self._start(), time.monotonic()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process is not None
        return self._process.pid

    def wait_until_ready(self, wait_s: float) -> None:
        """Wait until the process has written its first line; raises `BackendError` where it ends before."""
        assert self._process is not None
        assert self._process.stdout is not None
        timer = threading.Timer(wait_s, self._process.kill)
        timer.start()
        try:
            if not self._process.stdout.readline():
                raise BackendError(
                    f"{self.name} ended with {self._process.wait()} before it answered: see what it logged"
                )
        finally:
            timer.cancel()

    def revive(self) -> None:
        """Start the process again where it has ended, later each time that it ends soon."""
        if self.is_running:
            return
        now = time.monotonic()
        if not self._due:
            assert self._process is not None
            lived_s = now - self._began
            self._wait_s = _AGAIN_S[0] if lived_s > 60 else min(2 * self._wait_s, _AGAIN_S[1])
            self._due = now + self._wait_s
            logger.error("process.ended", extra={"which": self.name, "code": self._process.returncode})
        if now >= self._due:
            self._due = 0.0
            self.start()

    def stop(self) -> None:
        """Let the process end; harmless when it has."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _start_store(program: str, folder: Path, url: str) -> subprocess.Popen[bytes]:
    words = [program, "serve", "--location", str(folder), "--bind", url.removeprefix("http://")]
    return _start(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _start_worker(home: Path, number: int, listener: socket.socket, store: str, token: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", __name__, str(home), str(number), str(listener.fileno()), store]
    process = _start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[listener.fileno()])
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as told:  # one that has ended already says so itself
        told.write(f"{token}\n".encode())
    return process


def _start(words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a process that ends when we do, and that the terminal's Ctrl-C does not reach: the workers end before the store."""
    return subprocess.Popen(words, start_new_session=True, preexec_fn=_end_with_parent, **options)


_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1


def _end_with_parent() -> None:
    """Let the system stop this process when its parent is gone; elsewhere than on Linux it goes on until it is stopped."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_for_store(url: str, store: _Supervised) -> None:
    last = time.monotonic() + _STORE_S
    while time.monotonic() < last:
        if not store.is_running:
            raise BackendError("`oxigraph serve` ended at once: see what it wrote above")
        try:
            with urllib.request.urlopen(f"{url}/query?query=ASK%20%7B%7D", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise BackendError(f"`oxigraph serve` does not answer at {url}")


def work(home: Path, number: int, listener: socket.socket, store: str) -> None:
    """Answer requests as one of the workers, until SIGTERM; writes a line when it answers at full speed."""
    configure_logging()
    token = sys.stdin.readline().strip()
    settings = load(home / "memento.toml")
    namespace = home_and_namespace()[1] or settings.scope.namespace
    if settings.telemetry.otlp_endpoint:
        trace_to(settings.telemetry.otlp_endpoint)
    where = StoreSettings(kind="sparql", query_url=f"{store}/query", update_url=f"{store}/update")
    own = DataFolder(home / _PLACE / str(number), shared=home)
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
    home, number, descriptor, store = sys.argv[1:]
    try:
        work(Path(home), int(number), socket.socket(fileno=int(descriptor)), store)
    except MementoError as error:
        sys.exit(f"memento: worker {number}: {error}")
