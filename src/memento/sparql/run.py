"""
One job on its way through a worker: until its first byte may go out, and from there to the end.

*Guarantees:* whatever happens, `finish` gives back worker, snapshot and place; a worker that has not ended its job is killed.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memento.errors import Conflict, GraphError, InputError, MementoError, NotFound, TimedOut, TooLong, TooMuch
from memento.sparql.jobs import Answer, Job, Rewrite, Upload, Waiting
from memento.sparql.lanes import Place
from memento.sparql.mistakes import misread
from memento.sparql.process import Frame, Process

if TYPE_CHECKING:
    from memento.sparql.pool import Pool

HELD_BYTES = 262_144
"""How much of an answer is kept back in the kept lane, where nothing may go out before it is over."""

LONG_S = 1.0
"""From when on one of several jobs lets all others go first: two long ones would halve the pace of everything on two cores."""


_ERRORS: Mapping[str, type[InputError]] = {
    "input_error": InputError,
    "not_found": NotFound,
    "conflict": Conflict,
    "too_long": TooLong,
}
"""What is the caller's fault, as a worker calls it."""


class Gone(MementoError):
    """Whoever asked has left; nobody reads this."""

    status = 499


class Run:
    """One job, which may need several workers one after the other when it has to give way."""

    def __init__(self, pool: Pool, job: Job, caller: str, seconds: float, waiting: Waiting | None) -> None:
        self.place = Place(caller, job.weight, self._stop)
        self._pool, self._job, self._seconds, self._waiting = pool, job, seconds, waiting
        self._process: Process | None = None
        self._lease: AbstractContextManager[Path] | None = None
        self._stopping = threading.Lock()
        self._is_over = False  # its worker waits for the next job
        self._until = 0.0

    def is_gone(self) -> bool:
        """Whether whoever asked has left."""
        return self._waiting is not None and self._waiting.has_left

    def begun(self) -> Answer | None:
        """The answer, as far as it is there; None when the job had to give way and is to begin again."""
        process = self._sent()
        held: list[bytes] = []
        while process is not None:
            frame = self._frame(process)
            if frame is not None and frame.letter == b"E":
                self._end(frame)
                whole = b"".join(held)
                return Answer(media=self._job.media, chunks=iter((whole,)), close=self.finish, whole=whole)
            if frame is not None:
                held.append(frame.body)
            if self.place.is_stopped:
                break
            if held and self.place.lane == "open" and not process.has_end:
                return self._streamed(process, held)
            if sum(map(len, held)) > HELD_BYTES and not self._pool.lanes.overran(self.place):
                break
        return None

    def finish(self) -> None:
        """Let go of worker, snapshot and place; harmless when done before."""
        if self._waiting is not None:
            self._waiting.release()  # before another job gets the worker, whose socket it would shut
        with self._stopping:
            process, self._process = self._process, None
        lease, self._lease = self._lease, None
        is_usable = self._is_over and not self.is_gone() and not self.place.is_stopped
        if process is not None and is_usable and not process.is_put_back:
            self._pool.returned(process)  # before the place is anybody's, who would start another one
            self._pool.lanes.leave(self.place)
        else:
            self._pool.lanes.leave(self.place)  # before the worker ends, which takes a moment
            if process is not None:
                self._pool.ended(process)
        if lease is not None:
            lease.__exit__(None, None, None)

    def _sent(self) -> Process | None:
        """A worker that has the job; None when the place is lost already."""
        lease = self._pool.snapshots.lease(stale=self._job.takes_stale)
        folder, self._lease = lease.__enter__(), lease
        process = self._process = self._pool.taken()
        self._is_over = False
        if self.place.is_stopped:
            return None
        if self._waiting is not None and not self._waiting.hold(process.channel):
            raise Gone("whoever asked has left")
        self._until = time.monotonic() + self._seconds
        limits = self._pool.limits
        with suppress(OSError):  # a dead one is seen when it does not answer
            job = self._job.sent(folder=str(folder), rows=limits.rows, bytes=limits.bytes)
            process.send(json.dumps(job).encode(), [table.data for table in self._job.tables])
        return process

    def _streamed(self, process: Process, held: list[bytes]) -> Answer:
        chunks = self._chunks(process, held)

        def close() -> None:
            chunks.close()
            self.finish()  # a generator that never began runs nothing when it is closed

        return Answer(media=self._job.media, chunks=chunks, close=close)

    def _chunks(self, process: Process, held: list[bytes]) -> Generator[bytes, None, None]:
        patience = self._pool.limits.stall_s
        frame: Frame | None = Frame(b"D", b"".join(held))
        try:
            while frame is None or frame.letter != b"E":
                if frame is not None:
                    before = time.monotonic()
                    yield frame.body
                    stalled = min(time.monotonic() - before, patience)
                    patience -= stalled
                    self._until += stalled
                frame = self._frame(process)
            self._end(frame)
        finally:
            self.finish()

    def _frame(self, process: Process) -> Frame | None:
        """
        The next frame of bytes or the end; None when the job must give way, or a slice of time is over in the kept lane.

        Raises:
            MementoError: it is no SPARQL, failed, took too much, or its worker has died.
        """
        now = time.monotonic()
        if now > self._until - self._seconds + LONG_S and not process.is_put_back and self._pool.is_crowded:
            process.put_back()
        wait_s = self._until - now
        if self.place.lane == "kept":
            wait_s = min(wait_s, self.place.slice_s)
        elif not process.is_put_back:
            wait_s = min(wait_s, LONG_S)
        try:
            frame = process.receive(wait_s)
        except TimeoutError:
            if time.monotonic() < self._until:
                self._pool.lanes.overran(self.place)
                return None
            raise TimedOut(
                f"the {self._what} took longer than {self._seconds:g} s (sparql.query_s is {self._pool.limits.query_s:g})"
            ) from None
        if frame is None:
            if self.place.is_stopped:
                return None
            raise self._death(process)
        if frame.letter == b"R":  # it has just started, which is no fault of the query
            self.place.since = time.monotonic()
            self._until = self.place.since + self._seconds
            return None
        if frame.letter == b"X":
            self._is_over = True
            raise self._failure(json.loads(frame.body))
        return frame

    def _end(self, frame: Frame) -> None:
        self._is_over = not frame.body  # with a body it is the last thing that this worker said
        self.finish()

    def _death(self, process: Process) -> MementoError:
        if self.is_gone():
            return Gone("whoever asked has left")
        if self._pool.is_closed:
            return GraphError("the store is closed")
        process.death()
        return self._memory_ran_out()

    def _failure(self, told: dict[str, str]) -> MementoError:
        limits = self._pool.limits
        match told["kind"]:
            case "misread":
                line, column = int(told["line"]), int(told["column"])
                edited = self._job.edited
                return (
                    misread(edited.source, *edited.original(line, column))
                    if edited
                    else misread(self._job.sparql, line, column)
                )
            case "rows":
                return TooMuch(f"the answer has more than {limits.rows} rows (sparql.rows): add a LIMIT")
            case "bytes":
                return TooMuch(f"the answer has more than {limits.bytes} bytes (sparql.bytes): add a LIMIT")
            case "memory":
                return self._memory_ran_out()
            case "input_error" | "not_found" | "conflict" | "too_long" as code:
                return _ERRORS[code](told["message"])
            case _:
                return GraphError(told.get("message", "the query failed"))

    @property
    def _what(self) -> str:
        return "document" if isinstance(self._job, Upload | Rewrite) else "query"

    def _memory_ran_out(self) -> MementoError:
        """The end of a worker by its memory or its stack: a document is to blame for it itself."""
        said = (
            f"the {self._what} took more memory than a worker has: {self._pool.limits.memory_mb} MiB (sparql.memory_mb)"
        )
        return TooLong(f"{said}: send it in parts, or as N-Quads") if self._what == "document" else TooMuch(said)

    def _stop(self) -> None:
        with self._stopping:  # a worker that is somebody else's by now must live
            if self._process is not None:
                self._process.kill()
