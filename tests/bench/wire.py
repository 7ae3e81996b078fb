"""
An HTTP/1.1 connection without a library, so that the client costs next to nothing.

As a script it is several clients in a separate process: `wire.py PORT CLIENTS SECONDS` reads requests from standard input, as JSON,
and prints how many were answered per second.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Sequence


class Wire:
    """One connection that stays open."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        self.body = b""
        """What came last, or its last part when it came in chunks."""

    def ask(self, request: bytes) -> tuple[int, int]:
        """Send a request; the status of the answer and the bytes of its body."""
        status, headers = self.begin(request)
        if b"transfer-encoding: chunked" in headers:
            return status, self._chunked()
        if b"content-length: " not in headers:
            return status, 0
        size = int(headers.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])
        self.body = self._exactly(size)
        return status, size

    def begin(self, request: bytes) -> tuple[int, bytes]:
        """Send a request; the status and the headers, in lower case, of the answer. Its first bytes are there."""
        self._socket.sendall(request)
        while b"\r\n\r\n" not in self._rest:
            self._more()
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        if not self._rest and b"content-length: 0" not in head.lower():
            self._more()
        return int(head[9:12]), head.lower() + b"\r\n"

    def close(self) -> None:
        self._socket.close()

    def _chunked(self) -> int:
        total = 0
        while True:
            while b"\r\n" not in self._rest:
                self._more()
            head, _, self._rest = self._rest.partition(b"\r\n")
            size = int(head, 16)
            data = self._exactly(size + 2)
            if size == 0:
                return total
            self.body = data
            total += size

    def _exactly(self, size: int) -> bytes:
        parts, have = [self._rest], len(self._rest)
        while have < size:
            parts.append(self._socket.recv(1 << 20))
            if not parts[-1]:
                raise ConnectionError("the server closed the connection")
            have += len(parts[-1])
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]

    def _more(self) -> None:
        data = self._socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the server closed the connection")
        self._rest += data


def hammer(port: int, sent: Sequence[bytes], clients: int, seconds: float) -> float:
    """Requests per second of some clients, each of which asks again when it is answered; after a quarter of the time to warm up."""
    counts = [0] * clients
    begin = time.perf_counter()
    counted_from, until = begin + seconds / 4, begin + seconds * 5 / 4

    def run(client: int) -> None:
        wire, n = Wire(port), client
        while (now := time.perf_counter()) < until:
            wire.ask(sent[n % len(sent)])
            counts[client] += now > counted_from
            n += 1
        wire.close()

    threads = [threading.Thread(target=run, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


if __name__ == "__main__":
    requests = [one.encode() for one in json.load(sys.stdin)]
    print(hammer(int(sys.argv[1]), requests, int(sys.argv[2]), float(sys.argv[3])))
