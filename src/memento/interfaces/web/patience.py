"""
How long a request may take to arrive: clients that send a byte now and then hold neither a connection nor a thread for ever.

*Because:* uvicorn waits for the rest of a head or a body as long as it may take, and each body that is waited for holds one of
`server.threads`. How long an answer takes is not limited here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from memento.errors import InputError

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
