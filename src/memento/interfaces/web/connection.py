"""
How long a client is waited for, and who left: a request that stops coming or breaks off, and an answer that nobody reads any more.

WSGI has no word for a client that leaves: a generator is never told that nobody listens, one that ends has ended well, and so
has a body. So each request carries a `WaitingClient`, which Flask finds in its environment and whoever waits on another service
hands its socket to, and a body that its sender left unfinished raises where it is read: half of an update may be an update.

*Guarantees:* clients that send a byte now and then hold neither a connection nor a thread for ever.

*Because:* uvicorn waits for the rest of a head or a body as long as it may take, and each body that is waited for holds one of
`server.threads`. How long an answer takes is not limited here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, ClassVar, TypeVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from memento.errors import InputError
from memento.sparql.jobs import WaitingClient

T = TypeVar("T")

HEAD_S = 30.0
"""For the head of a request, from its first byte; of a new connection from its beginning."""
BODY_S = 30.0
"""For the body of a request, beside what it may take at `SLOWEST`."""
SLOWEST = 4096
"""Bytes a second: slower than any network, and 64 MiB may take four and a half hours."""


class TooSlow(InputError):
    """A request took longer to arrive than it may."""

    status: ClassVar[int] = 408


class Impatient(H11Protocol):
    """HTTP/1.1 that closes connections whose next request does not come on."""

    _waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first head."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a head that has begun; between requests the server has a limit of its own."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._rest()
        elif self._waits is None and not self.transport.is_closing():
            self._wait()

    def on_response_complete(self) -> None:
        """Wait for the rest of a head that began before the last answer had ended."""
        super().on_response_complete()
        if self._waits is None and self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._wait()

    def _wait(self) -> None:
        self._waits = self.loop.call_later(HEAD_S, self._close)

    def _rest(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _close(self) -> None:
        self._waits = None
        self.transport.close()


class Patience:
    """How much longer the body of one request is waited for."""

    def __init__(self) -> None:
        self.is_over = False
        self._left = BODY_S

    def took(self, size: int) -> None:
        """So many bytes have come."""
        self._left += size / SLOWEST

    async def wait(self, receive: Callable[[], Awaitable[T]]) -> T:
        """
        What comes next; the time that nobody waits does not count.

        Raises:
            TooSlow: nothing came in time.
        """
        begin = time.monotonic()
        try:
            return await asyncio.wait_for(receive(), max(self._left, 0))
        except TimeoutError:
            self.is_over = True
            raise TooSlow(f"the body of the request came slower than {SLOWEST} bytes a second") from None
        finally:
            self._left -= time.monotonic() - begin


Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PRESENCE_KEY = "memento.presence"


class BrokenOff(Exception):
    """The answer ended before it was complete; the server closes the connection, as it was closed to us."""


class Unfinished(InputError):
    """The sender of a request left before its end; nobody reads this."""


def watch(app: App) -> App:
    """The application, with a `WaitingClient` in the scope of each request."""

    async def watch_request(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        presence = scope[PRESENCE_KEY] = WaitingClient()
        watchers: list[asyncio.Task[None]] = []
        first: list[Event] = []
        patience = Patience()

        async def until_gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            presence.leave()

        async def receive_event() -> Event:
            event = first.pop() if first else await patience.wait(receive)
            patience.took(len(event.get("body", b"")))
            if event["type"] == "http.disconnect":
                presence.leave()
                raise Unfinished("the request ended before its body was complete")
            if not event.get("more_body", False) and not watchers:
                watchers.append(asyncio.ensure_future(until_gone()))
            return event

        if not _has_body(scope):  # which nobody would read, and so nobody would notice who leaves
            first.append(await receive_event())

        async def send_event(event: Event) -> None:
            if presence.is_broken and event["type"] == "http.response.body" and not event.get("more_body", False):
                raise BrokenOff
            if patience.is_over and event["type"] == "http.response.start":
                event["headers"] = [*event["headers"], (b"connection", b"close")]  # or it would wait for the rest
            await send(event)

        try:
            await app(scope, receive_event, send_event)
        finally:
            for task in watchers:
                task.cancel()
            presence.leave()  # a server that stops does not wait; otherwise nothing is held any more

    return watch_request


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


def waiting_client(request: MutableMapping[str, Any]) -> WaitingClient:
    """Return who waits for the answer to a WSGI request; one who never leaves where no server watches."""
    found = (scope_of(request) or {}).get(PRESENCE_KEY)
    return found if isinstance(found, WaitingClient) else WaitingClient()
