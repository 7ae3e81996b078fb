"""
A client that leaves is noticed, and an answer or a request that breaks off is seen to break off, although Flask is told of none.

WSGI has no word for them: a generator is never told that nobody listens, one that ends has ended well, and so has a body. So each
request carries a `Presence`, which Flask finds in its environment and whoever waits on another service hands its socket to, and a
body that its sender left unfinished raises where it is read: half of an update may be an update.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from memento.errors import InputError
from memento.interfaces.web.patience import Patience

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

KEY = "memento.presence"


class BrokenOff(Exception):
    """The answer ended before it was complete; the server closes the connection, as it was closed to us."""


class Unfinished(InputError):
    """The sender of a request left before its end; nobody reads this."""


class Presence:
    """Who waits for an answer, and the socket that the answer comes from."""

    def __init__(self) -> None:
        self.has_left = False
        self.is_broken = False
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    def hold(self, answering: socket.socket) -> bool:
        """Have this socket shut down when the caller leaves; False when that has happened already."""
        with self._lock:
            self._socket = None if self.has_left else answering
            return not self.has_left

    def release(self) -> None:
        """The socket may be used for somebody else from now on."""
        with self._lock:
            self._socket = None

    def leave(self) -> None:
        """Wake whoever waits on the socket; a thread that is blocked in a read can be woken in no other way."""
        with self._lock:
            self.has_left = True
            if self._socket:
                with suppress(OSError):
                    # Not the method of a TLS socket, which would take the session away under the reader.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
                self._socket = None


def watched(app: App) -> App:
    """The application, with a `Presence` in the scope of each request."""

    async def watching(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        presence = scope[KEY] = Presence()
        watch: list[asyncio.Task[None]] = []
        first: list[Event] = []
        patience = Patience()

        async def until_gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            presence.leave()

        async def received() -> Event:
            event = first.pop() if first else await patience.wait(receive)
            patience.took(len(event.get("body", b"")))
            if event["type"] == "http.disconnect":
                presence.leave()
                raise Unfinished("the request ended before its body was complete")
            if not event.get("more_body", False) and not watch:
                watch.append(asyncio.ensure_future(until_gone()))
            return event

        if not _has_body(scope):  # which nobody would read, and so nobody would notice who leaves
            first.append(await received())

        async def sent(event: Event) -> None:
            if presence.is_broken and event["type"] == "http.response.body" and not event.get("more_body", False):
                raise BrokenOff
            if patience.is_over and event["type"] == "http.response.start":
                event["headers"] = [*event["headers"], (b"connection", b"close")]  # or it would wait for the rest
            await send(event)

        try:
            await app(scope, received, sent)
        finally:
            for task in watch:
                task.cancel()
            presence.leave()  # a server that stops does not wait; otherwise nothing is held any more

    return watching


def _has_body(scope: Scope) -> bool:
    """Whether a body follows the head of a request."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )


def scope_of(request: MutableMapping[str, Any]) -> Scope | None:
    """The ASGI scope of a WSGI request; None where none is behind it."""
    found: Scope | None = request.get("asgi.scope")
    return found


def presence_of(request: MutableMapping[str, Any]) -> Presence:
    """The caller of a WSGI request; one who never leaves where no server watches."""
    found = (scope_of(request) or {}).get(KEY)
    return found if isinstance(found, Presence) else Presence()
