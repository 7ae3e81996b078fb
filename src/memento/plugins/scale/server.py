"""
A store that several nodes share: `oxigraph serve` over a folder, behind a front end that passes on one update at a time.

*Guarantees:* an update that has begun ends before the next one starts, even if its client disconnects. If a token is set, every
request needs it. The engine itself listens on a loopback port that is chosen at each start.

*Because:* the engine does not isolate concurrent updates: each reads a snapshot and writes its changes without checking what was
written in between. Two nodes that compare-and-set the same number would both succeed (docs/scale.md, "Does my store fit?").
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hmac import compare_digest
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from memento.access import bearer
from memento.datadir import DataFolder
from memento.errors import BackendError, MissingPart, SettingsError
from memento.interfaces.web.server import address_of, listening
from memento.plugins.scale.node import finish_files

logger = logging.getLogger(__name__)

_START_S, _STOP_S, _LOOK_S = 60.0, 15.0, 0.2
_HEALTH_S = 2.0
_AGAIN_S = (0.2, 30.0)
"""Seconds to wait before a process that died is restarted: at first, and at most."""
_MOST_BYTES = 256 * 1024 * 1024
_MOST_UPDATES = 256
_PASSED_ON = (b"content-type", b"accept")
_ANSWERED = (b"content-type",)


class Child:
    """A child process that must run as long as this one."""

    def __init__(self, name: str, start: Callable[[], subprocess.Popen[bytes]], address: str = "") -> None:
        """
        Args:
            address: the address at which it answers, if any.
        """
        self.name, self.address, self._start = name, address, start
        self._process: subprocess.Popen[bytes] | None = None
        self._wait_s, self._due, self._began = _AGAIN_S[0], 0.0, 0.0

    def start(self) -> None:
        """Start the process."""
        self._process, self._began = self._start(), time.monotonic()

    @property
    def is_running(self) -> bool:
        """Whether the process is still running."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None
        return self._process.pid

    def revive(self) -> None:
        """Restart the process if it has ended, with a growing delay if it keeps ending early."""
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
        """Ask the process to end, and kill it if it does not; harmless if it has ended."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Front:
    """The ASGI application: passes `/query` on to the engine at once, and `/update` one after the other."""

    def __init__(self, engine: str, token: str = "", most_updates: int = _MOST_UPDATES) -> None:
        """
        Args:
            engine: the address of the engine.
            token: the token that every request needs; empty if none is needed.
            most_updates: the most updates that may wait in the queue.
        """
        self._updates, self._most_updates = 0, most_updates
        self._engine, self._token = engine, token
        self._one = asyncio.Lock()
        limits = httpx2.Limits(max_connections=256, max_keepalive_connections=64)
        self._client = httpx2.AsyncClient(base_url=engine, timeout=httpx2.Timeout(None, connect=5.0), limits=limits)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
            await self._client.aclose()
            return
        headers = dict(scope["headers"])
        path = scope["path"]
        if path == "/health":
            is_well = await self._is_engine_well()
            await _say(send, 200 if is_well else 503, "ok" if is_well else "the engine does not answer")
        elif self._token and not self._is_known(headers):
            await _say(send, 401, "this store takes its token")
        elif path not in ("/query", "/update") or scope["method"] not in ("GET", "POST"):
            await _say(send, 404, "there is /query and /update")
        elif (body := await _read_body(receive)) is None:
            await _say(send, 413, f"at most {_MOST_BYTES} bytes")
        else:
            query = scope["query_string"].decode("latin-1")
            request = self._client.build_request(
                scope["method"],
                f"{path}?{query}" if query else path,
                content=body,
                headers=[(name, value) for name, value in scope["headers"] if name in _PASSED_ON],
            )
            if path != "/update":
                await self._relay(request, send)
            elif self._updates >= self._most_updates:
                # 429 and not 503: it tells the client that nothing was passed on.
                text = f"{self._updates} updates are queued, the most that are allowed: ask again"
                await _say(send, 429, text, (b"retry-after", b"1"))
            else:
                self._updates += 1
                try:
                    async with self._one:
                        await self._relay(request, send)
                finally:
                    self._updates -= 1

    async def _is_engine_well(self) -> bool:
        try:
            answer = await self._client.get("/query", params={"query": "ASK {}"}, timeout=_HEALTH_S)
        except httpx2.HTTPError:
            return False
        return answer.is_success

    def _is_known(self, headers: dict[bytes, bytes]) -> bool:
        given = bearer(headers.get(b"authorization", b"").decode("latin-1")) or ""
        return compare_digest(given.encode(), self._token.encode())

    async def _relay(self, request: httpx2.Request, send: Any) -> None:
        """Forward a request, and return its answer; read the answer to its end even if the client has disconnected."""
        try:
            answer = await self._client.send(request, stream=True)
        except httpx2.HTTPError as error:
            logger.warning("store.not-reached", extra={"error": type(error).__name__})
            await _say(send, 502, "the engine did not answer")
            return
        try:  # an answer that breaks off closes the connection, so the client notices
            headers = [(name, value) for name, value in answer.headers.raw if name.lower() in _ANSWERED]
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            async for chunk in answer.aiter_bytes():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await answer.aclose()


async def _live(receive: Any, send: Any) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


async def _read_body(receive: Any) -> bytes | None:
    """Return the body of a request; None if it is too long or incomplete: half of an update may be a valid update."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > _MOST_BYTES:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


async def _say(send: Any, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
    headers = ((b"content-type", b"text/plain; charset=utf-8"), *headers)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


@contextmanager
def serve_engine(folder: Path, listener: socket.socket, token: str = "") -> Iterator[Child]:
    """
    Serve a store on a socket, in a thread, until the end of the block; yield the engine's process, which the caller must supervise.

    Raises:
        MissingPart: the program `oxigraph` is not installed.
        BackendError: the engine does not start.
    """
    url = f"http://127.0.0.1:{_find_free_port()}"
    engine = Child("store", partial(_start_engine, find_program(), folder, url), url)
    config = uvicorn.Config(
        Front(url, token), log_config=None, access_log=False, lifespan="on", server_header=False, date_header=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="store", daemon=True)
    engine.start()
    try:
        _wait_for(url, engine)
        thread.start()
        yield engine
    finally:
        server.should_exit = True
        if thread.is_alive():
            thread.join(_STOP_S)
        engine.stop()


def serve_store(folder: Path, host: str, port: int, token: str, ready: Callable[[str], None]) -> None:
    """
    Serve a store until SIGINT or SIGTERM.

    Args:
        folder: the folder of the store alone, created if it is missing; its lock keeps other processes out.
        token: the token that nodes must send; required if the host is not loopback.
        ready: called with the address.

    Raises:
        SettingsError: the host is not loopback and there is no token, or the port cannot be bound.
        MissingPart: the program `oxigraph` is not installed.
        FolderInUse: another process serves the folder.
        BackendError: the engine does not start.
    """
    home = DataFolder(folder)
    home.acquire("memento store serve")
    with home, contextlib.ExitStack() as opened:
        finish_files(home)
        try:
            listener = opened.enter_context(listening(host, port, has_tokens=bool(token)))
        except SettingsError as error:
            if token or "token" not in str(error):
                raise
            raise SettingsError(
                f"{host} is reached from elsewhere: give the store a token in MEMENTO_STORE_TOKEN"
            ) from error
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        opened.callback(signal.signal, signal.SIGTERM, before)
        engine = opened.enter_context(serve_engine(home.store, listener, token))
        try:
            ready(address_of(host, listener.getsockname()[1]))
            while True:
                engine.revive()
                time.sleep(_LOOK_S)
        except KeyboardInterrupt:
            pass


def find_program() -> str:
    """Return the path of the program `oxigraph`; raise `MissingPart` if there is none."""
    beside = Path(sysconfig.get_path("scripts")) / "oxigraph"
    found = str(beside) if beside.is_file() else shutil.which("oxigraph")
    if found is None:
        raise MissingPart("the program `oxigraph`, which serves a store, is missing: pip install oxigraph")
    return found


def _start_child(words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a process that ends with this one. The terminal's Ctrl-C does not reach it, so that we decide the order of shutdown."""
    return subprocess.Popen(words, start_new_session=True, preexec_fn=_end_with_parent, **options)


_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1


def _end_with_parent() -> None:
    """Make the system end this process when its parent ends; this works on Linux only."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _start_engine(program: str, folder: Path, url: str) -> subprocess.Popen[bytes]:
    words = [program, "serve", "--location", str(folder), "--bind", url.removeprefix("http://")]
    quiet = subprocess.DEVNULL
    return _start_child(words, stdin=quiet, stdout=quiet, stderr=quiet)


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _wait_for(url: str, engine: Child) -> None:
    last = time.monotonic() + _START_S
    while time.monotonic() < last:
        if not engine.is_running:
            raise BackendError("`oxigraph serve` ended at once: the folder may be open elsewhere, or damaged")
        try:
            with urllib.request.urlopen(f"{url}/query?query=ASK%20%7B%7D", timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise BackendError(f"`oxigraph serve` does not answer at {url}")
