"""
The child process that evaluates foreign SPARQL: reads jobs from a socket, answers in frames, and may be killed at any time.

A job arrives as its length in four bytes and JSON, followed by the tables that it names (`graph.similarity`). The worker sends
frames of a letter, a length and a body: once `R` (it has started); then for each job `D` with bytes of the answer, and `E` (end;
with a body, this worker ends too) or `X` (failed; JSON says how). How soon a frame follows depends on the query.

*Guarantees:* it opens only snapshots, those for reading in read-only mode. Its memory is limited, its stack is deep, it has no
network if the system lets a process give it up, it dumps no core, and it ends when its owner does.

*But:* if it exceeds its memory or stack, a signal ends it: its owner sees the closed socket and reports the error.

*Because:* it must start within some tens of milliseconds, so it imports hardly anything but the engine.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from memento.errors import DiskFull, MementoError
from memento.sparql.evaluate import QuerySyntaxError, Snapshot, open_snapshot, read_query, row_counter, write_answer

STACK_MB = 256
"""Enough for some ten thousand operators of a chain such as `1+1+1`; memory is allocated only as it is used."""
OWN_MB = 128
"""Data memory that an idle worker maps, mostly for the stacks of the engine's threads."""
SEND_BYTES, SEND_S, PIECE_BYTES = 262_144, 0.05, 4_096
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000


class Overrun(Exception):
    """The answer exceeds its limit of `what`, rows or bytes."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class AnswerWriter:
    """Writes the frames of one answer: the first piece at once, later ones in larger portions, the last with the end."""

    def __init__(self, channel: socket.socket, media: str, most_rows: int, most_bytes: int) -> None:
        self._channel = channel
        self._rows = row_counter(media)
        self._most_rows, self._left = most_rows, most_bytes
        self._pending: list[bytes] = []
        self._size, self._sent = 0, 0.0

    def write(self, data: bytes) -> None:
        """Add bytes of the answer; split long ones, such as a text of megabytes, into frames. Raise `Overrun`."""
        for at in range(0, len(data), SEND_BYTES):
            self._add(data[at : at + SEND_BYTES])

    def end(self, is_last: bool) -> None:
        """End the answer; with `is_last`, this worker ends too."""
        self._channel.sendall(self._take_pending() + frame(b"E", b"1" if is_last else b""))

    def fail(self, **told: object) -> None:
        """End the answer as incomplete."""
        self._channel.sendall(frame(b"X", json.dumps(told).encode()))

    def _add(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            raise Overrun("bytes")
        if self._rows(data) > self._most_rows:
            raise Overrun("rows")
        self._pending.append(data)
        self._size += len(data)
        if len(data) < PIECE_BYTES and self._size < SEND_BYTES:
            return  # probably the last piece
        now = time.monotonic()
        if self._size >= SEND_BYTES or now - self._sent > SEND_S:
            self._channel.sendall(self._take_pending())
            self._sent = now

    def _take_pending(self) -> bytes:
        data = b"".join(self._pending)
        self._pending, self._size = [], 0
        return frame(b"D", data) if data else b""


def frame(letter: bytes, body: bytes = b"") -> bytes:
    """Return one frame: a letter, the length of the body in four bytes, the body."""
    return letter + len(body).to_bytes(4, "big") + body


def main(channel: str, memory_mb: str, folder: str) -> None:
    """Serve the socket with this file descriptor until its other end is closed; open `folder` ahead if it still exists."""
    import resource  # not available on every system that Memento supports
    import select

    _leave_network()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would contain memories
    most = (int(memory_mb) + STACK_MB + OWN_MB) << 20
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    threading.stack_size(STACK_MB << 20)
    with socket.socket(fileno=int(channel)) as owner:
        # Leave with half of the memory in use: used memory is seldom returned to the system.
        leaves_at_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + (int(memory_mb) << 9)
        threading.Thread(target=_serve_jobs, args=(owner, leaves_at_kb, folder), daemon=True).start()
        ended = select.poll()
        ended.register(owner, select.POLLHUP | select.POLLERR)
        ended.poll()
        os._exit(0)  # even during an evaluation


def _serve_jobs(owner: socket.socket, leaves_at_kb: int, folder: str) -> None:
    import resource

    store = None
    with suppress(MementoError):
        store = open_snapshot(folder) if folder else None
    try:
        owner.sendall(frame(b"R"))
        while job := _receive_job(owner):
            out = AnswerWriter(owner, job["media"], job["rows"], job["bytes"])
            try:
                if store is None or job["folder"] != folder:
                    store = None  # frees its memory before the next one is opened
                    folder, store = job["folder"], open_snapshot(job["folder"])
                WORK[job["kind"]](job, store, out.write)
                is_last = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > leaves_at_kb
                out.end(is_last)
                if is_last:
                    break
            except QuerySyntaxError as error:
                out.fail(kind="misread", line=error.line, column=error.column)
            except Overrun as error:
                out.fail(kind=error.what)
            except MementoError as error:
                out.fail(kind=error.code, message=str(error))
            except MemoryError:
                out.fail(kind="memory")
            except RecursionError:
                out.fail(kind="input_error", message="it is nested too deep")
            except (ValueError, KeyError, TypeError) as error:
                out.fail(kind="internal", message=f"the worker could not take the job: {type(error).__name__}")
    except OSError:
        pass  # nobody listens any more
    os._exit(0)


def _answer_query(job: dict[str, Any], store: Snapshot, write: Callable[[bytes], None]) -> None:
    write_answer(
        store,
        job["sparql"],
        job["media"],
        write,
        default_graphs=job["default_graphs"],
        named_graphs=job["named_graphs"],
        base=job["base"],
        functions=_similarity_functions(job["tables"]),
    )


def _read_query(job: dict[str, Any], store: Snapshot, write: Callable[[bytes], None]) -> None:
    read_query(store, job["sparql"], job["base"])


def _read_update(job: dict[str, Any], store: Snapshot, write: Callable[[bytes], None]) -> None:
    from memento.sparql.jobs import operation_from_plain
    from memento.sparql.trial import raise_if_unreadable

    for one in job["operations"]:
        raise_if_unreadable(operation_from_plain(one), job["options"]["base"])


def _try_update(job: dict[str, Any], store: Snapshot, write: Callable[[bytes], None]) -> None:
    from memento.sparql.jobs import TrialOptions, from_plain, operation_from_plain  # most workers never need them
    from memento.sparql.trial import collect_data, copy_snapshot, try_operations

    def copy() -> Snapshot:
        scratch = Path(job["scratch"])
        scratch.mkdir(exist_ok=True)  # an earlier worker may have been killed while it copied
        return copy_snapshot(store, scratch / str(os.getpid()))

    operations = [operation_from_plain(one) for one in job["operations"]]
    options = from_plain(TrialOptions, job["options"])
    found = collect_data(operations, options) if job["is_data"] else try_operations(operations, store, copy, options)
    write(found.pack())


def _try_upload(job: dict[str, Any], store: Snapshot, write: Callable[[bytes], None]) -> None:
    from memento.sparql.jobs import Document, TrialOptions, from_plain
    from memento.sparql.trial import try_upload

    documents = [from_plain(Document, one) for one in job["documents"]]
    snapshot = None if job["is_data"] else store
    write(
        try_upload(documents, job["graph"], job["replaces"], snapshot, from_plain(TrialOptions, job["options"])).pack()
    )


def _rewrite_document(job: dict[str, Any], store: Snapshot, write: Callable[[bytes], None]) -> None:
    from memento.graph.documents import form_called, rewrite

    try:
        count = rewrite(
            Path(job["path"]), form_called(job["form"]), job["name"], Path(job["target"]), job["most_bytes"]
        )
    except OSError as error:
        if error.errno in DiskFull.errors:
            raise DiskFull(Path(job["target"]).parent) from error
        raise
    write(json.dumps({"quads": count}).encode())


def _call_function(job: dict[str, Any], store: Snapshot, write: Callable[[bytes], None]) -> None:
    from importlib import import_module

    module, _, name = job["function"].partition(":")
    write(getattr(import_module(module), name)(**job["arguments"]))


def _similarity_functions(tables: list[dict[str, Any]]) -> dict[Any, Any]:
    """Return the custom functions that the query may call."""
    if not tables:
        return {}
    from memento.graph.similarity import similarity_functions

    return similarity_functions({(one["asked"], one["is_iri"]): one["data"] for one in tables})


WORK: dict[str, Callable[[dict[str, Any], Snapshot, Callable[[bytes], None]], None]] = {
    "query": _answer_query,
    "read query": _read_query,
    "read update": _read_update,
    "update": _try_update,
    "upload": _try_upload,
    "rewrite": _rewrite_document,
    "call": _call_function,
}


def _receive_job(owner: socket.socket) -> dict[str, Any] | None:
    """Receive the next job; None if no more will come."""
    head = _receive_exactly(owner, 4)
    body = head and _receive_exactly(owner, int.from_bytes(head, "big"))
    if not body:
        return None
    job: dict[str, Any] = json.loads(body)
    for table in job.get("tables", ()):
        table["data"] = _receive_exactly(owner, table["size"]) or b""
    return job


def _receive_exactly(owner: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = owner.recv(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _leave_network() -> None:
    """Leave the network, if the system allows it without privileges; the guard has refused SERVICE in any case."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).unshare(_NEW_USER | _NEW_NET)
