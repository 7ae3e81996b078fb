"""Serve a memory over HTTP, in one process, until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import uvicorn
from flask import Flask

from memento.access import is_loopback
from memento.errors import MementoError, SettingsError
from memento.interfaces.mcp import server as mcp
from memento.interfaces.proxy.routes import PROXIED
from memento.interfaces.web.app import create_app
from memento.interfaces.web.connection import DEFAULTS, App, Kind, hurry, protocol, thread, waiting_client, watch
from memento.python import Memento
from memento.service import Service
from memento.settings import ServerSettings
from memento.sparql.jobs import CLIENT

RESERVED_FILES = 256
"""File descriptors reserved for the store, the workers and outgoing connections."""
logger = logging.getLogger(__name__)

SWITCH_S = 0.0005
"""The GIL switch interval in seconds. A short request switches threads a dozen times. With Python's default of five milliseconds
each switch, it would be slow while another thread parses a long query."""

_SETTLED_S = 0.1  # seconds at shutdown for connections that have not sent a request yet


class Busy:
    """The number of requests that are being answered; a stream counts until its end."""

    def __init__(self) -> None:
        self.requests = 0
        self._lock = threading.Lock()

    def until_closed(self, app: Callable[[], Iterable[bytes]]) -> Iterable[bytes]:
        """Return the application's answer, which counts as a request until it is closed."""
        self._count(1)
        try:
            return _Answer(app(), lambda: self._count(-1))
        except BaseException:
            self._count(-1)
            raise

    def _count(self, by: int) -> None:
        with self._lock:
            self.requests += by


class _Answer:
    """The body of an answer, with a function to call when it is closed."""

    def __init__(self, body: Iterable[bytes], closed: Callable[[], None]) -> None:
        self._body, self._closed = body, closed

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        try:
            getattr(self._body, "close", lambda: None)()
        finally:
            self._closed()


def serve(memento: Memento, host: str, port: int, ready: Callable[[str], None]) -> None:
    """
    Answer requests until SIGINT or SIGTERM; the caller closes the memory afterwards.

    Args:
        port: 0 picks a free one.
        ready: called once, with the address, when the service is warm.

    Raises:
        SettingsError: the host is not loopback and there is no token, or the port cannot be bound.
        MementoError: the embedder cannot be loaded.
    """
    with listening(host, port, has_tokens=bool(memento.tokens.list_issued())) as listener:
        _serve_on(listener, memento, address_of(host, listener.getsockname()[1]), ready)


def _serve_on(listener: socket.socket, memento: Memento, address: str, ready: Callable[[str], None]) -> None:
    busy = Busy()
    server = Server(configuration(asgi(memento.service, busy), memento.settings.server))
    failures: list[MementoError] = []

    def warm_up() -> None:
        try:
            memento.warm_up()
            ready(address)
        except MementoError as error:
            failures.append(error)
            server.should_exit = True

    memento.serve_at(address)
    sys.setswitchinterval(SWITCH_S)
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    # uvicorn raises the signal that stopped it again: both signals must raise KeyboardInterrupt instead of ending the process.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with listener:
            server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
    if busy.requests:
        # A running query cannot be stopped, and its thread would block the exit. Every acknowledged note is in the store.
        memento.close()
        os._exit(0)
    if failures:
        raise failures[0]


def listening(host: str, port: int, *, has_tokens: bool) -> socket.socket:
    """
    Return a listening socket; raise `SettingsError` if the port cannot be bound, or if nobody could use the address.

    Other machines need a token: if there is none, a service on an address that they can reach would refuse them all.
    """
    if not is_loopback(host) and not has_tokens:
        raise SettingsError(
            f"host must be a loopback address such as 127.0.0.1 or ::1, not {host!r}, "
            "unless there is a token: make one with `memento token create NAME`"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=1024)
        # Accepted sockets inherit TCP_NODELAY; asyncio sets it only if the socket's protocol was given. Without it, the body of
        # an answer waits up to 40 ms until the client has acknowledged the head.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OverflowError as error:
        raise SettingsError(f"port must be from 0 to 65535, not {port}") from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(
                f"port {port} of {host} is in use by another program: choose one with --port, or 0 for a free one"
            ) from error
        raise SettingsError(f"cannot listen on port {port} of {host}: {error.strerror}") from error


def address_of(host: str, port: int) -> str:
    """Return the address for programs on this machine: a wildcard address is replaced, because nobody can connect to it."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def asgi(service: Service, busy: Busy) -> App:
    """Return everything that one port serves as one ASGI application: Flask, with disconnect detection, and MCP."""
    limits = service.settings.server
    return _compose(hurry(mcp.app(service), limits), host(create_app(service), busy, limits))


def host(app: Flask, busy: Busy, limits: ServerSettings) -> App:
    """Wrap a Flask application as ASGI, with disconnect detection; it serves `limits.threads` requests at once."""

    def until_the_end(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        # Without it a chunked body, which has no Content-Length, would be read as empty.
        environ["wsgi.input_terminated"] = True
        CLIENT.set(waiting_client(environ))  # each request has a context of its own
        return busy.until_closed(lambda: app(environ, start_response))

    return watch(thread(until_the_end, limits, _kind_of), limits)


def _kind_of(path: str) -> Kind:
    """Return the kind of a request by its path."""
    if path in ("/health", "/health/ready", "/metrics"):
        return "aside"
    return "proxy" if path.startswith(PROXIED) else "memory"


class Server(uvicorn.Server):
    """Uvicorn that logs a lack of resources at most once a minute, and goes on."""

    _said_at = -60.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        asyncio.get_running_loop().set_exception_handler(self._report_failure)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down: answer clients that have connected by then, and refuse later ones."""
        for listener in sockets or []:
            await self._stop_listening(listener)
        await asyncio.sleep(_SETTLED_S)
        await super().shutdown(sockets)

    async def _stop_listening(self, listener: socket.socket) -> None:
        # Closing the socket resets connections that are still in the kernel's accept queue.
        taken = []
        listener.setblocking(False)
        with suppress(OSError):
            while True:
                taken.append(listener.accept()[0])
        for server in self.servers:
            server.close()
        listener.close()
        kind = cast(Callable[..., asyncio.Protocol], self.config.http_protocol_class)
        for one in taken:
            one.setblocking(False)
            with suppress(OSError):
                await asyncio.get_running_loop().connect_accepted_socket(
                    lambda: kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state), one
                )

    def _report_failure(self, loop: asyncio.AbstractEventLoop, failure: dict[str, Any]) -> None:
        # The event loop reports a lack of resources, such as file descriptors, a hundred times a second.
        if time.monotonic() - self._said_at >= 60:
            self._said_at = time.monotonic()
            logger.error("server.failing", extra={"error": f"{failure.get('message')}: {failure.get('exception')}"})


def _limit_connections(limits: ServerSettings) -> ServerSettings:
    """Raise the process's limit of open files as far as needed and allowed, and limit the connections so that some stay free."""
    try:
        import resource
    except ImportError:
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.connections + 2 * RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = limits.connections if soft == resource.RLIM_INFINITY else max(soft - RESERVED_FILES, soft // 4)
    return replace(limits, connections=min(limits.connections, most))


def configuration(app: App, limits: ServerSettings = DEFAULTS) -> uvicorn.Config:
    """Return the configuration of the server: uvicorn writes no log and adds no headers."""
    # A stop in the middle of a request is not an error; uvicorn would print a traceback.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    return uvicorn.Config(
        cast(Any, app),
        http=protocol(_limit_connections(limits)),
        backlog=256,
        log_config=None,
        proxy_headers=False,  # otherwise a header could claim that a request comes from this machine
        access_log=False,
        lifespan="on",
        date_header=False,  # a provider's answer has one already
        server_header=False,
        timeout_keep_alive=cast(int, limits.idle_s),
        timeout_graceful_shutdown=5,
    )


def _compose(mcp_app: App, rest: App) -> App:
    """Compose one application: MCP at its path, Flask everywhere else. Only MCP has a lifespan."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        mine = scope["type"] == "lifespan" or scope.get("path", "").rstrip("/") == mcp.PATH
        await (mcp_app if mine else rest)(scope, receive, send)

    return app
