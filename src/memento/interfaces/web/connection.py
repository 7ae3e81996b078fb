"""
Timeouts and client disconnects: requests that arrive too slowly or break off, and answers that nobody reads any more.

WSGI does not report a disconnect: a generator does not learn that its reader has left, and a body that breaks off looks complete.
So each request carries a `WaitingClient`. Flask finds it in the environment, and code that waits for another service registers its
socket with it. Reading a body that the sender left unfinished raises an error, because half of an update may be a valid update.

*Guarantees:* a client that sends a byte now and then holds neither a connection nor a thread for ever. The event loop reads the
body: a request gets a thread once its body is complete or longer than `EARLY_BYTES`, and only a few threads wait for the rest of
long bodies. There are never more connections than `server.connections`.

*Because:* uvicorn has no timeout for the rest of a head or a body, and accepts connections until the process has no file descriptor
left. The time that an answer takes is not limited here.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import math
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, ClassVar, Literal, TypeVar, cast

import h11
from a2wsgi.wsgi import Body, build_environ
from uvicorn.protocols.http.h11_impl import H11Protocol

from memento import telemetry
from memento.errors import InputError
from memento.settings import ServerSettings
from memento.sparql.jobs import WaitingClient

T = TypeVar("T")

DEFAULTS = ServerSettings()
SLOWEST = 4096
"""The lowest rate in bytes per second: slower than any network, so that 64 MiB may take four and a half hours."""
EARLY_BYTES = 262_144
"""Bytes of a body that are read before its request gets a thread."""
LONG_SHARE = 4
"""One in this many threads may read a longer body."""


class TooSlow(InputError):
    """A request took longer to arrive than it may."""

    status: ClassVar[int] = 408


class Impatient(H11Protocol):
    """HTTP/1.1 that closes connections on which a request head stalls, and the longest idle one when there are too many."""

    limits: ClassVar[ServerSettings] = DEFAULTS
    _waits: asyncio.TimerHandle | None = None
    _latest = 0.0
    """The time of the last data that was received or sent."""

    def connection_made(self, transport: Any) -> None:
        """Wait for the first head; above the limit of connections, close the longest idle one."""
        super().connection_made(transport)
        self._latest = time.monotonic()
        self._wait()
        if len(self.connections) > self.limits.connections:
            idle = [one for one in self.connections if isinstance(one, Impatient) and one.is_idle]
            min(idle, key=lambda one: one._latest, default=self).give_up()

    @property
    def is_idle(self) -> bool:
        """Whether no request is open on this connection."""
        return self.conn.their_state is h11.IDLE and (self.cycle is None or self.cycle.response_complete)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Start the timeout for a head that has begun; between requests the server's keep-alive timeout applies."""
        self._latest = time.monotonic()
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._rest()
        elif self._waits is None and not self.transport.is_closing():
            self._wait()

    def on_response_complete(self) -> None:
        """Start the timeout for a head that began before the last answer had ended."""
        self._latest = time.monotonic()
        super().on_response_complete()
        if self._waits is None and self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._wait()

    def give_up(self) -> None:
        """Close the connection and remove it from the count."""
        self._rest()
        self.connections.discard(self)
        self.transport.abort()

    def _wait(self) -> None:
        self._waits = self.loop.call_later(self.limits.head_s, self.give_up)

    def _rest(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None


def protocol(limits: ServerSettings) -> type[Impatient]:
    """Return the protocol class with these limits."""
    return type("Impatient", (Impatient,), {"limits": limits})


class Patience:
    """The time left for the body of one request."""

    def __init__(self, limits: ServerSettings) -> None:
        self.is_over = False
        self._left = limits.body_s

    def extend(self, size: int) -> None:
        """Add the time that the bytes received so far may take."""
        self._left += size / SLOWEST

    async def wait(self, receive: Callable[[], Awaitable[T]]) -> T:
        """
        Return the next event; only time spent waiting here counts.

        Raises:
            TooSlow: nothing arrived in time.
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
Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]

PRESENCE_KEY = "memento.presence"
EARLY_KEY = "memento.early"
"""The key of a scope for the body events that were read before the application was called."""
ON_LOOP_KEY = "memento.on_loop"

Headers = list[tuple[bytes, bytes]]
OnLoop = Callable[[Headers, Send], Awaitable[None]]
"""Answers a request on the event loop, with the headers that the application set in its thread."""

PIECES = 10
"""Pieces of an answer that are buffered for a slow reader before the producing thread waits."""


class BrokenOff(Exception):
    """The answer ended before it was complete; the server closes the connection to the client."""


class Crowded(InputError):
    """Too many long requests are being sent at once."""

    status: ClassVar[int] = 503


class Unfinished(InputError):
    """The sender disconnected in the middle of a request; nobody reads this error."""


class WatchedRequest:
    """
    One HTTP request whose body is read, up to `EARLY_BYTES`, before it gets a thread.

    An error during this early read is raised when the application reads the body.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, limits: ServerSettings) -> None:
        self.scope = scope
        self.presence = scope[PRESENCE_KEY] = WaitingClient()
        self._receive = receive
        self._send = send
        self._patience = Patience(limits)
        self._early: deque[Event | InputError] = deque()
        scope[EARLY_KEY] = self._early
        self._watchers: list[asyncio.Task[None]] = []
        self._give_place: Callable[[], None] | None = None

    async def run(self, app: App, long_bodies: asyncio.Semaphore, patience_s: float) -> None:
        """Run the application; with a long body, wait first for a free place for long bodies."""
        try:
            if await self._read_early():
                await app(self.scope, self._receive_event, self._send_event)
                return
            try:
                await asyncio.wait_for(long_bodies.acquire(), patience_s)
            except TimeoutError:
                telemetry.increment("refused_total", what="bodies")
                self._early.appendleft(Crowded("too many long requests are being sent: try again"))
                await app(self.scope, self._receive_event, self._send_event)
                return
            self._give_place = long_bodies.release
            await app(self.scope, self._receive_event, self._send_event)
        finally:
            self._end_body()
            for task in self._watchers:
                task.cancel()
            self.presence.leave()  # a server that stops does not wait; otherwise this releases nothing

    async def _read_early(self) -> bool:
        """Read the body up to `EARLY_BYTES`; return whether that is all of it."""
        lengths = [value for name, value in self.scope["headers"] if name == b"content-length"]
        if lengths and int(lengths[0]) > EARLY_BYTES:
            return False  # it may be refused before any of it arrives
        size = 0
        try:
            while size <= EARLY_BYTES:
                event = await self._next_event()
                self._early.append(event)
                size += len(event.get("body", b""))
                if not event.get("more_body", False):
                    return True
        except InputError as error:
            self._early.append(error)
            return True
        return False

    async def _next_event(self) -> Event:
        event = await self._patience.wait(self._receive)
        self._patience.extend(len(event.get("body", b"")))
        if event["type"] == "http.disconnect":
            self.presence.leave()
            raise Unfinished("the request ended before its body was complete")
        if not event.get("more_body", False):
            self._end_body()
            self._watchers.append(asyncio.ensure_future(self._watch_leaving()))
        return event

    def _end_body(self) -> None:
        """Free the place for a long body, because the answer may take minutes."""
        give_place, self._give_place = self._give_place, None
        if give_place:
            give_place()

    async def _watch_leaving(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.presence.leave()

    async def _receive_event(self) -> Event:
        event = self._early.popleft() if self._early else await self._next_event()
        if isinstance(event, InputError):
            raise event
        return event

    async def _send_event(self, event: Event) -> None:
        if self.presence.is_broken and event["type"] == "http.response.body" and not event.get("more_body", False):
            raise BrokenOff
        if self._patience.is_over and event["type"] == "http.response.start":
            event["headers"] = [
                *event["headers"],
                (b"connection", b"close"),
            ]  # otherwise it would wait for the rest of the body
        await self._send(event)


def watch(app: App, limits: ServerSettings = DEFAULTS) -> App:
    """Wrap an application: each request has a `WaitingClient` in its scope, and is passed on once enough of its body is read."""
    long_bodies = asyncio.Semaphore(max(1, limits.threads // LONG_SHARE))

    async def watch_request(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await WatchedRequest(scope, receive, send, limits).run(app, long_bodies, limits.body_s)
        else:
            await app(scope, receive, send)

    return watch_request


def hurry(app: App, limits: ServerSettings = DEFAULTS) -> App:
    """Wrap an application that needs no thread with a timeout for request bodies: a slower one is answered with 408."""

    async def limit_request(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        patience = Patience(limits)
        is_whole = has_begun = False

        async def receive_event() -> Event:
            nonlocal is_whole
            if is_whole:
                return await receive()
            event = await patience.wait(receive)
            patience.extend(len(event.get("body", b"")))
            is_whole = not event.get("more_body", False)
            return event

        async def send_event(event: Event) -> None:
            nonlocal has_begun
            if patience.is_over and not has_begun:  # whatever the application answers
                has_begun = True
                headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
                await send({"type": "http.response.start", "status": TooSlow.status, "headers": headers})
                await send({"type": "http.response.body", "body": b"the body of the request came too slowly"})
            elif not patience.is_over:
                has_begun = True
                await send(event)

        try:
            await app(scope, receive_event, send_event)
        except TooSlow:
            await send_event({})

    return limit_request


AT_ONCE = 2
"""Threads that may start to answer at the same time: more only compete for the GIL, and the event loop waits for them all."""
TURN_S = 0.01
"""Seconds after which the next thread may start: one that takes longer is mostly waiting for something else."""


class ThreadedRequest:
    """
    One request that a WSGI application answers in a thread.

    *Because:* each wait of the thread for the event loop costs both of them a thread switch. So the early part of the body is
    available at once, and the thread waits when it sends the answer only if the reader is slow.
    """

    def __init__(self, app: Wsgi, scope: Scope, receive: Receive, send: Send) -> None:
        self._app, self._scope, self._receive, self._send = app, scope, receive, send
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._room = threading.Semaphore(PIECES)
        self._is_abandoned = False
        self._head: Event | None = None
        self._headers: Headers = []
        self._body: Iterable[bytes] = ()

    async def run(self, threads: Executor, give_turn: Callable[[], None], give_thread: Callable[[], None]) -> None:
        """
        Run the application and send its answer; `give_turn` is called when another request may start, `give_thread` when the
        thread is free.
        """
        answered = self._loop.run_in_executor(threads, contextvars.copy_context().run, self._answer)
        turn = self._loop.call_later(TURN_S, give_turn)

        def end(_: object) -> None:
            give_thread()
            if not turn.cancelled() and turn.when() > self._loop.time():
                turn.cancel()
                give_turn()
            self._events.put_nowait(None)

        answered.add_done_callback(end)
        try:
            while (event := await self._events.get()) is not None:
                await self._send(event)
                self._room.release()
            if on_loop := await answered:
                await self._answer_on_loop(on_loop)
        finally:
            self._is_abandoned = True
            self._room.release(PIECES)
            answered.add_done_callback(lambda _: self._close())

    def _answer(self) -> OnLoop | None:
        """Run the application; return the part of the answer that is left to the event loop, if any."""
        environ = cast(dict[str, Any], build_environ(cast(Any, self._scope), self._input()))
        self._body = self._app(environ, self._start)
        if on_loop := cast("OnLoop | None", environ.pop(ON_LOOP_KEY, None)):
            return on_loop
        try:
            for piece in self._body:
                self._put(piece, more=True)
            self._put(b"", more=False)
        finally:
            self._close()  # not on the event loop, which would wait for it
        return None

    def _close(self) -> None:
        body, self._body = self._body, ()
        getattr(body, "close", lambda: None)()

    def _input(self) -> Body:
        early: deque[Event | InputError] = self._scope.get(EARLY_KEY, deque())

        async def receive() -> Any:
            return await self._receive()

        return _EarlyBody(self._loop, receive, early)

    def _start(self, status: str, headers: list[tuple[str, str]], failure: object = None) -> Callable[[bytes], None]:
        self._headers = [
            (name.strip().lower().encode("latin-1"), value.strip().encode("latin-1")) for name, value in headers
        ]
        self._head = {"type": "http.response.start", "status": int(status.split(" ", 1)[0]), "headers": self._headers}
        return lambda piece: self._put(piece, more=True)

    def _put(self, piece: bytes, *, more: bool) -> None:
        """Queue a piece of the answer to be sent; the head is sent before the first."""
        if more and not piece:
            return
        self._room.acquire()
        if self._is_abandoned:
            raise BrokenOff
        events: list[Event] = [{"type": "http.response.body", "body": piece, "more_body": more}]
        if self._head is not None:
            events.insert(0, self._head)
            self._room.acquire()
            self._head = None
        for event in events:
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    async def _answer_on_loop(self, on_loop: OnLoop) -> None:
        """Run `on_loop` until it has answered or the client disconnects."""
        presence: WaitingClient = self._scope.get(PRESENCE_KEY) or WaitingClient()
        if presence.has_left:
            return
        answering = asyncio.ensure_future(on_loop(self._headers, self._send))
        presence.on_leave = answering.cancel
        try:
            await asyncio.wait({answering})
        finally:
            presence.on_leave = None
            answering.cancel()
        if not answering.cancelled():
            answering.result()


class _EarlyBody(Body):
    """The body of a request whose beginning was already read."""

    def __init__(self, loop: asyncio.AbstractEventLoop, receive: Any, early: deque[Event | InputError]) -> None:
        super().__init__(loop, receive)
        self._early = early

    def _receive_more_data(self) -> bytes:
        if not (self._has_more and self._early):
            return super()._receive_more_data()
        event = self._early.popleft()
        if isinstance(event, InputError):
            raise event
        self._has_more = event.get("more_body", False)
        return cast(bytes, event.get("body", b""))


Kind = Literal["memory", "proxy", "aside"]
"""The kind of a request: for a memory, for a provider, or about the service itself. No kind waits for another."""
SPARE = 4
"""Threads reserved for requests about the service itself, such as health checks."""


class Lane:
    """The thread pool for one kind of request, and the number of its requests. Used on the event loop."""

    def __init__(self, kind: Kind, threads: int, most: float) -> None:
        """
        Args:
            most: the most requests that may run or wait for a thread.
        """
        self._kind, self._threads, self._most = kind, threads, most
        self._executor = ThreadPoolExecutor(threads, "WSGI" if kind == "memory" else kind)
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._count = 0

    async def run(self, app: Wsgi, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in one of the threads, or refuse it if too many wait."""
        if self._count >= self._most:
            telemetry.increment("refused_total", what="requests")
            await _refuse(send, f"{self._count} requests are being answered or wait, as many as server.waiting lets")
            return
        is_counted = True
        self._add(1)

        def give_thread() -> None:
            nonlocal is_counted
            if is_counted:
                is_counted = False
                self._add(-1)

        try:
            await self._turns.acquire()
            await ThreadedRequest(app, scope, receive, send).run(self._executor, self._turns.release, give_thread)
        except asyncio.CancelledError:  # it got no thread
            give_thread()
            raise

    def _add(self, by: int) -> None:
        self._count += by
        if self._kind == "memory":
            telemetry.set_level("requests", min(self._count, self._threads))
            telemetry.set_level("requests_waiting", max(self._count - self._threads, 0))


async def _refuse(send: Send, message: str) -> None:
    body = json.dumps({"error": {"code": "overloaded", "message": f"{message}: ask again"}}).encode()
    headers = [(b"content-type", b"application/json"), (b"retry-after", b"1")]
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def thread(app: Wsgi, limits: ServerSettings, kind_of: Callable[[str], Kind] = lambda path: "memory") -> App:
    """
    Wrap a WSGI application as an ASGI application that answers `limits.threads` requests at once.

    Args:
        kind_of: returns the kind of a request by its path. A request for a provider is never refused and never waits for a memory.
    """
    lanes: dict[Kind, Lane] = {
        "memory": Lane("memory", limits.threads, limits.threads + limits.waiting),
        "proxy": Lane("proxy", limits.threads, math.inf),
        "aside": Lane("aside", SPARE, SPARE + limits.waiting),
    }

    async def run_in_thread(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await lanes[kind_of(scope["path"])].run(app, scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
        else:
            for moment in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{moment}.complete"})

    return run_in_thread


def answer_on_loop(request: MutableMapping[str, Any], answer: OnLoop) -> None:
    """Leave the answer of a WSGI request to the event loop; the application's response supplies its headers."""
    request[ON_LOOP_KEY] = answer


def scope_of(request: MutableMapping[str, Any]) -> Scope | None:
    """Return the ASGI scope of a WSGI request; None if it has none."""
    found: Scope | None = request.get("asgi.scope")
    return found


def waiting_client(request: MutableMapping[str, Any]) -> WaitingClient:
    """Return the client of a WSGI request; without a watching server, one that never disconnects."""
    found = (scope_of(request) or {}).get(PRESENCE_KEY)
    return found if isinstance(found, WaitingClient) else WaitingClient()
