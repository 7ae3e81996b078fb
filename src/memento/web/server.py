"""One process that serves a memory over HTTP until it is told to stop."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast

import uvicorn
from a2wsgi import WSGIMiddleware

from memento.access import is_loopback
from memento.errors import MementoError, SettingsError
from memento.mcp import server as mcp
from memento.service import Memento
from memento.web.app import create_app

ASGI = Callable[[Any, Any, Any], Awaitable[None]]


class Busy:
    """How many requests are being answered; a context manager around each."""

    def __init__(self) -> None:
        self.requests = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.requests += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self.requests -= 1


def serve(memento: Memento, host: str, port: int, ready: Callable[[str], None]) -> None:
    """
    Answer requests until SIGINT or SIGTERM; the caller closes the memory afterwards.

    Args:
        port: 0 picks a free one.
        ready: called with the address, once, when the first question would be answered at full speed.

    Raises:
        SettingsError: the host is not loopback and there is no token, or the port cannot be had.
        MementoError: the embedder cannot be loaded.
    """
    with listening(host, port, has_tokens=bool(memento.tokens.issued())) as listener:
        address = _address(host, listener.getsockname()[1])
        busy = Busy()
        server = uvicorn.Server(_configuration(memento, busy))
        failures: list[MementoError] = []

        def warm_up() -> None:
            try:
                memento.warm_up()
                ready(address)
            except MementoError as error:
                failures.append(error)
                server.should_exit = True

        memento.serve_at(address)
        threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
        # uvicorn raises the signal that stopped it once more: both must end in a KeyboardInterrupt, not in the end of the process.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        finally:
            signal.signal(signal.SIGTERM, before)
    if busy.requests:
        # Nothing can stop a query, and its thread would hold the exit. Every acknowledged note is in the store.
        memento.close()
        os._exit(0)
    if failures:
        raise failures[0]


def listening(host: str, port: int, *, has_tokens: bool) -> socket.socket:
    """
    A socket that listens; raises `SettingsError` when the port cannot be had, or nobody could use it.

    Other machines need a token: without one, an address that they reach would only refuse them.
    """
    if not is_loopback(host) and not has_tokens:
        raise SettingsError(
            f"host must be a loopback address such as 127.0.0.1 or ::1, not {host!r}, "
            "unless there is a token: make one with `memento token create NAME`"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OverflowError as error:
        raise SettingsError(f"port must be from 0 to 65535, not {port}") from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(
                f"port {port} of {host} is in use by another program: choose one with --port, or 0 for a free one"
            ) from error
        raise SettingsError(f"cannot listen on port {port} of {host}: {error.strerror}") from error


def _address(host: str, port: int) -> str:
    """Where programs of this machine reach the service: an address that stands for all of them is not one to ask."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _configuration(memento: Memento, busy: Busy) -> uvicorn.Config:
    app = create_app(memento)
    # A stop in the middle of a request is no error of ours; uvicorn would print a traceback.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    def until_the_end(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        # Without it a body sent in chunks, which has no length, would be read as empty.
        environ["wsgi.input_terminated"] = True
        with busy:
            return app(environ, start_response)

    flask = cast(Any, WSGIMiddleware(cast(Any, until_the_end), workers=memento.settings.server.threads))
    return uvicorn.Config(
        _composed(mcp.app(memento), flask),
        log_config=None,
        proxy_headers=False,  # else a header could say that a request comes from this machine
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=5,
    )


def _composed(mcp_app: ASGI, flask: ASGI) -> ASGI:
    """One application: MCP at its path, Flask everywhere else. Only MCP has something to start and to end."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        mine = scope["type"] == "lifespan" or scope.get("path", "").rstrip("/") == mcp.PATH
        await (mcp_app if mine else flask)(scope, receive, send)

    return app
