"""Clients without manners: they leave before the answer or within it, and dawdle over what they read and what they send."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from urllib.parse import urlsplit

from siege.asked import GIVEN_UP, Came, Request
from siege.raw import UNFINISHED, post
from w3c.endpoint import Endpoint

SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
STREAM = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"


def exchanged(endpoint: Endpoint, name: str, sent: bytes, wanted: Sequence[int | str], patience_s: float) -> Came:
    """Send bytes and read the status."""
    begin = time.perf_counter()
    with closing(_connected(endpoint)) as connection:
        connection.settimeout(patience_s)
        got = b""
        with suppress(OSError):  # an answer may be there nonetheless
            connection.sendall(sent)
            if name in UNFINISHED:
                connection.shutdown(socket.SHUT_WR)  # else the server waits for the rest
        try:
            while piece := connection.recv(65536):
                got += piece
                if _is_whole(got):
                    break
        except TimeoutError:
            return Came(_named(name, wanted), GIVEN_UP, time.perf_counter() - begin, len(got), "")
        except OSError:
            pass
    status = int(got.split(b" ", 2)[1]) if got.startswith(b"HTTP/1.") else "closed"
    return Came(_named(name, wanted), status, time.perf_counter() - begin, len(got), got[:300].decode(errors="replace"))


def leaving(endpoint: Endpoint, count: int, *, after_s: float) -> None:
    """Ask what takes long, and leave before the answer; so many at once."""

    def leave(_: int) -> None:
        with closing(_connected(endpoint)) as connection:
            connection.sendall(post(_path(endpoint.query), SLOW.encode()))
            time.sleep(after_s)

    _at_once(leave, count)


def leaving_midway(endpoint: Endpoint, count: int) -> None:
    """Ask for a stream without an end, read its beginning, and leave; so many at once."""

    def leave(_: int) -> None:
        with closing(_connected(endpoint)) as connection:
            connection.sendall(post(_path(endpoint.query), STREAM.encode()))
            connection.settimeout(30)
            connection.recv(1_000)

    _at_once(leave, count)


def dawdling(endpoint: Endpoint, count: int, *, most_s: float) -> list[float]:
    """Ask for a stream and hardly read it, so many at once: the seconds until the service has enough of each."""

    def dawdle(_: int) -> float:
        begin = time.perf_counter()
        with closing(socket.socket()) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(most_s)
            connection.connect(_address(endpoint))
            connection.sendall(post(_path(endpoint.query), STREAM.encode()))
            with suppress(OSError):
                while connection.recv(64) and time.perf_counter() - begin < most_s:
                    time.sleep(0.1)
        return time.perf_counter() - begin

    return _at_once(dawdle, count)


def trickling(endpoint: Endpoint, count: int, *, head_only: bool, most_s: float) -> list[float]:
    """Send a request a byte at a time, so many at once: the seconds until the service has enough of each, at most `most_s`."""
    whole = post(_path(endpoint.query), b"ASK {} #" + b"x" * 10_000)
    start = 40 if head_only else whole.index(b"ASK")

    def trickle(_: int) -> float:
        begin = time.perf_counter()
        with closing(_connected(endpoint)) as connection:
            connection.sendall(whole[:start])
            connection.setblocking(False)
            for n in range(start, len(whole)):
                if time.perf_counter() - begin > most_s:
                    break
                try:
                    connection.send(whole[n : n + 1])
                    if connection.recv(1) == b"":
                        break
                    return time.perf_counter() - begin
                except BlockingIOError:
                    time.sleep(0.2)
                except OSError:
                    break
        return time.perf_counter() - begin

    return _at_once(trickle, count)


def _at_once(work: Callable[[int], object], count: int) -> list[float]:
    with ThreadPoolExecutor(count) as pool:
        return [float(value or 0) for value in pool.map(work, range(count))]  # type: ignore[arg-type]


def _named(name: str, wanted: Sequence[int | str]) -> Request:
    return Request(name=name, family="raw", text="", wanted=tuple(wanted))


def _is_whole(got: bytes) -> bool:
    head, found, body = got.partition(b"\r\n\r\n")
    lengths = [line.partition(b":")[2] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return bool(found and lengths and len(body) >= int(lengths[0]))


def _connected(endpoint: Endpoint) -> socket.socket:
    return socket.create_connection(_address(endpoint), timeout=30)


def _address(endpoint: Endpoint) -> tuple[str, int]:
    url = urlsplit(endpoint.query)
    return url.hostname or "", url.port or 80


def _path(url: str) -> str:
    return urlsplit(url).path
