"""
The pool of processes that evaluate SPARQL from users: who gets a worker, for how long, and what happens when one is killed or dies.

*Flow:* `PriorityQueue` assigns a place, `graph.snapshot` a folder with everything written so far; `Process` is the child process as
its owner sees it; `Run` takes one job through all three, first until its first byte may be sent, then to the end.

*Guarantees:* a job ends within its time limit, whatever it does; so does one that takes more memory, rows or bytes than allowed, or
whose client disconnects. Its worker is killed and replaced, and the caller gets an error; if a worker dies, that is an error too,
and never a job without an answer. A syntax error is reported even if no worker was free to parse the text, or one died first. If an
answer has begun and cannot be finished, reading it raises, so no part can be taken for the whole. A job sees every write that was
acknowledged before it came. Whatever happens, `Run.finish` returns worker, snapshot and place. No caller takes all workers, and
long queries never keep a short one waiting, not even of the same caller.

*But:* the clock of a job stops while its reader does not read, for at most `sparql.stall_s` in all: a slow client is not a slow
query, but does not keep a worker forever either.

*Because:* whether a query is short is unknown before it has run, but can be guessed. So N - 1 of N workers are the *open* lane, of
which a caller has at most a share. One is *reserved*: a query may use it for a slice of time. A query that ends within the slice
was short; any other moves to a free place of the open lane, or is stopped and restarted there later. Nothing of its answer has been
sent by then, so its caller only waits longer. Queries that find no place in the open lane use the reserved lane in this order:

1. Those whose shape promises an immediate answer, by their cost class: lighter ones come first, and a heavier one in the reserved
   lane yields to them at once.
2. Any other, once: most queries finish within the slice although their shape does not show it. Since one that does not costs its
   worker, it is admitted only while another worker is ready to take over.
3. A query that was stopped is known to be long, and waits for the open lane.

In either lane the caller who uses the fewest workers is next, then the one that has waited longest. A caller has at most half of
the places in the queue, so that others still find some.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from memento import telemetry
from memento.errors import Busy, Conflict, GraphError, InputError, MementoError, NotFound, TimedOut, TooLong, TooMuch
from memento.graph.snapshot import Snapshots
from memento.settings import SparqlSettings
from memento.sparql.guard import syntax_error_at
from memento.sparql.jobs import CHEAP, Answer, Call, Job, Query, Rewrite, Update, Upload, WaitingClient

SLICES_S = (1.0, 0.25, 0.1)
"""Seconds for which a query may use the reserved worker while others wait, by cost class: light queries end more surely."""
LOOK_S = 0.05
"""Seconds between checks of a waiting query whether its client has disconnected or a slice has ended."""

Lane = Literal["open", "reserved"]


@dataclass(eq=False, slots=True)
class Ticket:
    """A query's place in a lane, or its wait for one. Another thread calls `stop` when it must yield."""

    caller: str
    cost: int
    stop: Callable[[], None]
    order: int = 0
    lane: Lane | None = None
    is_long: bool = False  # it was stopped once
    is_stopped: bool = False
    since: float = 0.0  # when its slice began
    called: threading.Event | None = None  # set once it has a place; there when it had to wait for one

    @property
    def slice_s(self) -> float:
        """How long it may use the reserved worker while others wait."""
        return SLICES_S[self.cost]


class PriorityQueue:
    """The places of one pool. Thread-safe."""

    def __init__(self, limits: SparqlSettings, may_try: Callable[[], bool] = lambda: True) -> None:
        """
        Args:
            may_try: whether a worker is left for a light query if an unknown one gets the reserved lane, where it may have to be
                killed together with its worker.
        """
        self._limits = limits
        self._may_try = may_try
        self._lock = threading.Lock()
        self._open: list[Ticket] = []
        self._reserved: Ticket | None = None
        self._waiting: list[Ticket] = []
        self._order = 0

    def enter(self, ticket: Ticket, is_gone: Callable[[], bool]) -> None:
        """
        Wait for a place in a lane.

        Args:
            is_gone: whether the client has disconnected; ends the wait.

        Raises:
            Busy: the queue is full, or the wait took longer than `sparql.wait_s`.
        """
        limits = self._limits
        with self._lock:
            if not ticket.is_long:
                self._order += 1
                ticket.order = self._order
            ticket.is_stopped = False
            if not self._waiting and self._has_open(ticket.caller):  # the usual case
                ticket.lane = "open"
                self._open.append(ticket)
                return
            ticket.called = threading.Event()
            self._waiting.append(ticket)
            self._assign()
            if ticket.lane:
                return
            own = sum(one.caller == ticket.caller for one in self._waiting)
            if not ticket.is_long and (len(self._waiting) > limits.queue or own > max(limits.queue // 2, 1)):
                self._waiting.remove(ticket)
                telemetry.increment("refused_total", what="queries")
                raise Busy(
                    f"{len(self._waiting)} queries wait for a worker already (sparql.queue is {limits.queue}, and half of it "
                    "for one caller): ask again later",
                    self._retry_after_s,
                )
        self._wait(ticket, ticket.called, is_gone)

    def may_continue(self, ticket: Ticket) -> bool:
        """
        Tell whether a query in the reserved lane may continue after its slice, or with more output than can be held back.

        It continues in the open lane if that has a place.
        """
        with self._lock:
            if ticket.lane == "reserved" and not ticket.is_stopped and self._has_open(ticket.caller):
                self._reserved = None
                ticket.lane = "open"
                self._open.append(ticket)
                self._assign()
            return ticket.lane == "open"

    def leave(self, ticket: Ticket) -> None:
        """Give the place to the next query; do nothing if it has none."""
        with self._lock:
            if self._reserved is ticket:
                self._reserved = None
            elif ticket in self._open:
                self._open.remove(ticket)
            ticket.lane = None
            if self._waiting:
                self._assign()

    def _wait(self, ticket: Ticket, called: threading.Event, is_gone: Callable[[], bool]) -> None:
        until = time.monotonic() + self._limits.wait_s
        while not called.wait(LOOK_S):
            with self._lock:
                self._assign()
                if ticket.lane:
                    return
                if is_gone() or time.monotonic() > until:
                    self._waiting.remove(ticket)
                    telemetry.increment("refused_total", what="queries")
                    raise Busy(
                        f"no worker was free within {self._limits.wait_s:g} s (sparql.wait_s): ask again later",
                        self._retry_after_s,
                    )

    def _assign(self) -> None:
        """Give every free place to the next query for it."""
        while ticket := self._take_next(lambda one: self._has_open(one.caller)):
            self._open.append(ticket)
            self._assign_lane(ticket, "open")
        if self._reserved is not None and self._must_yield(self._reserved):
            self._reserved.is_stopped = True
            self._reserved.stop()
            self._reserved = None
        ticket = None if self._reserved else self._take_next(lambda one: not one.is_long, by_cost=True)
        if ticket and (ticket.cost == CHEAP or self._may_try()):
            self._reserved = ticket
            self._assign_lane(ticket, "reserved")

    def _take_next(self, may: Callable[[Ticket], bool], *, by_cost: bool = False) -> Ticket | None:
        known = [one for one in self._waiting if may(one)]
        if not known:
            return None
        return min(known, key=lambda one: (by_cost and one.cost, self._count_used(one.caller), one.order))

    def _assign_lane(self, ticket: Ticket, lane: Lane) -> None:
        self._waiting.remove(ticket)
        ticket.lane = lane
        ticket.since = time.monotonic()
        if ticket.called:
            ticket.called.set()

    def _must_yield(self, reserved: Ticket) -> bool:
        """
        Tell whether the query in the reserved lane must leave: for a lighter one, or because its slice is over and others wait.
        """
        others = [one.cost for one in self._waiting if not one.is_long]
        return bool(others) and (min(others) < reserved.cost or time.monotonic() - reserved.since > reserved.slice_s)

    def _has_open(self, caller: str) -> bool:
        own = sum(one.caller == caller for one in self._open)
        return len(self._open) < self._limits.workers - 1 and own < min(self._limits.share, self._limits.workers - 1)

    def _count_used(self, caller: str) -> int:
        return sum(one.caller == caller for one in self._open) + (
            self._reserved is not None and self._reserved.caller == caller
        )

    @property
    def _retry_after_s(self) -> int:
        return max(1, round(self._limits.query_s / 2))


_BOOT = (
    "import sys; sys.path[:] = sys.argv[1].split(chr(10)); from memento.sparql.worker import main; main(*sys.argv[2:])"
)
"""The code that the interpreter runs, without site packages; the first argument is the owner's path."""

SPARE = 1
"""Spare workers beyond the concurrency limit, so that a killed one is replaced at once."""


class Pool:
    """Killable workers on snapshots of one store. Thread-safe."""

    def __init__(self, snapshots: Snapshots, limits: SparqlSettings) -> None:
        self.limits = limits
        self.snapshots = snapshots
        self.queue = PriorityQueue(limits, self._may_try)
        self.is_closed = False
        self._lock = threading.Lock()
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._least = 0
        self._reading = threading.Lock()
        self._reader: Process | None = None
        snapshots.on_drop = self._end_idle

    def start(self) -> None:
        """
        Keep workers ready from now on, as a service does: start a few now, the rest with the first job.

        Otherwise each is started when a job needs it.
        """
        self._least = 1 + SPARE
        self._fill()

    def run(
        self, job: Job, *, caller: str, timeout_s: float | None = None, waiting: WaitingClient | None = None
    ) -> Answer:
        """
        Do a job on a snapshot with every write that was acknowledged before this call.

        Args:
            caller: whose share of the workers it uses: the name of a token, or one name for all programs of this machine.
            timeout_s: seconds of evaluation, at most `sparql.query_s`, the default.
            waiting: the client, which may disconnect before the answer is there; the job ends then.

        Raises:
            InputError: the engine cannot parse it; names line and column. Or a document is not well formed, or nested too deep.
            TooLong: a document took more memory than a worker has.
            Busy: the queue is full, or the wait was too long.
            TimedOut: the time ran out before the first byte.
            TooMuch: memory, rows or bytes ran out before the first byte; names the limit.
            GraphError: the store failed.
            Gone: the client has disconnected.
        """
        most = job.seconds if isinstance(job, Rewrite | Call) else self.limits.query_s
        run = Run(self, job, caller, min(timeout_s or most, most), waiting)
        while True:
            try:
                self.queue.enter(run.ticket, run.is_gone)
                answer = run.start()
            except BaseException as error:
                run.finish()
                if isinstance(error, Busy | TimedOut | TooMuch) and (mistake := self._find_mistake(run)):
                    error = mistake
                telemetry.count(f"sparql.{getattr(error, 'code', 'failed')}")
                raise error
            if answer is not None:
                telemetry.count("sparql.answered")
                return answer
            run.finish()
            run.ticket.is_long = True
            telemetry.count("sparql.begun_again")

    def close(self) -> None:
        """End every worker, even a busy one; calling it twice is harmless."""
        with self._lock:
            self.is_closed = True
            idle, self._idle = self._idle, []
            for process in self._busy:
                process.kill()  # its reader sees it die, and releases it
        for process in idle:
            process.end()
        with self._reading:
            if self._reader is not None:
                self._reader.end()
                self._reader = None

    @property
    def processes(self) -> list[int]:
        """The process ids of all workers; busy ones come first."""
        with self._lock:
            return [process.pid for process in (*self._busy, *self._idle)]

    @property
    def is_busy(self) -> bool:
        """Whether a worker is busy."""
        with self._lock:
            return bool(self._busy)

    @property
    def is_crowded(self) -> bool:
        """Whether several workers are busy."""
        return len(self._busy) > 1

    def take_process(self) -> Process:
        """Take the worker that was used last, because it has the snapshot open, or a new one; raise `GraphError` if closed."""
        with self._lock:
            if self.is_closed:
                raise GraphError("the memory is closed: open it again")
            process = self._idle.pop() if self._idle else self._new()
            while not process.is_alive:  # it was killed from outside, for example by the OOM killer
                process.end()
                process = self._idle.pop() if self._idle else self._new()
            self._busy.add(process)
            if self._least:
                self._least = self.limits.workers + SPARE
        self._fill()
        return process

    def return_process(self, process: Process) -> None:
        """Take back a worker that is ready for its next job."""
        with self._lock:
            self._busy.discard(process)
            if not self.is_closed and len(self._idle) < self.limits.workers + SPARE:
                self._idle.append(process)
                return
        process.end()

    def end_process(self, process: Process) -> None:
        """End a worker that is not ready for another job; a running service starts a replacement."""
        with self._lock:
            self._busy.discard(process)
        process.end()
        self._fill()

    def _find_mistake(self, run: Run) -> MementoError | None:
        """
        Find the syntax error of a text that no worker has parsed: a separate process parses it without evaluating it.

        Return None if there is none, or it takes longer than `READ_S`.
        """
        if not isinstance(run.job, Query | Update) or not self._reading.acquire(timeout=READ_S):
            return None
        try:
            reader, self._reader = self._reader, None
            if reader is None or not reader.is_alive:
                reader = Process(self.limits.memory_mb)
            try:
                mistake = run.read_with(reader)
            except (OSError, TimeoutError):
                reader.end()
                return None
            self._reader = reader
            return mistake
        finally:
            self._reading.release()

    def _may_try(self) -> bool:
        """Tell whether two started workers are idle; always True if none are started ahead, because then no service runs."""
        with self._lock:
            return not self._least or sum(process.is_ready for process in self._idle) > 1

    def _new(self) -> Process:
        return Process(self.limits.memory_mb, self.snapshots.newest)

    def _end_idle(self) -> None:
        """End the idle workers, because they have erased data open."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()
        self._fill()

    def _fill(self) -> None:
        with self._lock:
            while not self.is_closed and len(self._idle) + len(self._busy) < self._least:
                self._idle.insert(0, self._new())


READ_S = 2.0
"""Seconds for parsing a text for syntax errors if no worker has parsed it."""
BUFFERED_BYTES = 262_144
"""Bytes of an answer held back in the reserved lane, where nothing may be sent before the end."""

LONG_S = 1.0
"""Seconds after which one of several jobs gets the lowest priority: two long ones would halve all other speed on two cores."""


_ERRORS: Mapping[str, type[InputError]] = {
    "input_error": InputError,
    "not_found": NotFound,
    "conflict": Conflict,
    "too_long": TooLong,
}
"""Errors of the caller, by the worker's names."""


class ClientGone(MementoError):
    """The client has disconnected; nobody reads this."""

    status = 499


class Run:
    """One job, which may need several workers one after the other if it must yield."""

    def __init__(self, pool: Pool, job: Job, caller: str, seconds: float, waiting: WaitingClient | None) -> None:
        self.ticket = Ticket(caller, job.cost, self._stop)
        self.job = job
        self._pool, self._seconds, self._waiting = pool, seconds, waiting
        self._process: Process | None = None
        self._lease: AbstractContextManager[Path] | None = None
        self._stopping = threading.Lock()
        self._is_over = False  # its worker is ready for the next job
        self._until = 0.0

    def is_gone(self) -> bool:
        """Tell whether the client has disconnected."""
        return self._waiting is not None and self._waiting.has_left

    def start(self) -> Answer | None:
        """Start, and return the answer as far as it is there; None if the job had to yield and must be restarted."""
        process = self._send_job()
        pieces: list[bytes] = []
        while process is not None:
            frame = self._receive(process)
            if frame is not None and frame.letter == b"E":
                self._end(frame)
                whole = b"".join(pieces)
                return Answer(media=self.job.media, chunks=iter((whole,)), close=self.finish, whole=whole)
            if frame is not None:
                pieces.append(frame.body)
            if self.ticket.is_stopped:
                break
            if pieces and self.ticket.lane == "open" and not process.has_end:
                return self._stream(process, pieces)
            if sum(map(len, pieces)) > BUFFERED_BYTES and not self._pool.queue.may_continue(self.ticket):
                break
        return None

    def finish(self) -> None:
        """Release worker, snapshot and place; calling it twice is harmless."""
        if self._waiting is not None:
            self._waiting.release()  # before another job gets the worker: its socket would be shut down
        with self._stopping:
            process, self._process = self._process, None
        lease, self._lease = self._lease, None
        is_usable = self._is_over and not self.is_gone() and not self.ticket.is_stopped
        if process is not None and is_usable and not process.is_put_back:
            self._pool.return_process(process)  # before the place is free, or its next owner would start another worker
            self._pool.queue.leave(self.ticket)
        else:
            self._pool.queue.leave(self.ticket)  # before the worker ends, which takes a moment
            if process is not None:
                self._pool.end_process(process)
        if lease is not None:
            lease.__exit__(None, None, None)

    def read_with(self, process: Process) -> MementoError | None:
        """
        Have the text of the job parsed but not evaluated; return the error in it, None if there is none.

        Raises:
            TimeoutError: it took longer than `READ_S`.
            OSError: the worker died.
        """
        plain = self.job.to_plain()
        job = {**plain, "kind": f"read {plain['kind']}", "tables": [], "folder": "", "rows": 0, "bytes": 0}
        process.send(json.dumps(job).encode())
        until = time.monotonic() + READ_S
        while (frame := process.receive(until - time.monotonic())) is not None:
            if frame.letter in (b"E", b"X"):
                failure = self._to_error(json.loads(frame.body)) if frame.letter == b"X" else None
                return failure if isinstance(failure, InputError) else None
        raise ConnectionError("the worker has died")

    def _send_job(self) -> Process | None:
        """Send the job to a worker and return the worker; None if the place is lost already."""
        lease = self._pool.snapshots.lease(stale=self.job.is_data, graphs=self.job.reads)
        folder, self._lease = lease.__enter__(), lease
        process = self._process = self._pool.take_process()
        self._is_over = False
        if self.ticket.is_stopped:
            return None
        if self._waiting is not None and not self._waiting.hold(process.channel):
            raise ClientGone("whoever asked has left")
        self._until = time.monotonic() + self._seconds
        limits = self._pool.limits
        with suppress(OSError):  # a dead one is noticed when it does not answer
            job = {**self.job.to_plain(), "folder": str(folder), "rows": limits.rows, "bytes": limits.bytes}
            process.send(json.dumps(job).encode(), [table.data for table in self.job.tables])
        return process

    def _stream(self, process: Process, pieces: list[bytes]) -> Answer:
        chunks = self._chunks(process, pieces)

        def close() -> None:
            chunks.close()
            self.finish()  # a generator that was never started runs nothing when it is closed

        return Answer(media=self.job.media, chunks=chunks, close=close)

    def _chunks(self, process: Process, pieces: list[bytes]) -> Generator[bytes, None, None]:
        stall_left_s = self._pool.limits.stall_s
        frame: Frame | None = Frame(b"D", b"".join(pieces))
        try:
            while frame is None or frame.letter != b"E":
                if frame is not None:
                    before = time.monotonic()
                    yield frame.body
                    stalled = min(time.monotonic() - before, stall_left_s)
                    stall_left_s -= stalled
                    self._until += stalled
                frame = self._receive(process)
            self._end(frame)
        finally:
            self.finish()

    def _receive(self, process: Process) -> Frame | None:
        """
        Receive the next frame with bytes or the end; None if the job must yield, or its slice of the reserved lane is over.

        Raises:
            MementoError: it is not SPARQL, failed, took too much, or its worker has died.
        """
        now = time.monotonic()
        if now > self._until - self._seconds + LONG_S and not process.is_put_back and self._pool.is_crowded:
            process.put_back()
        wait_s = self._until - now
        if self.ticket.lane == "reserved":
            wait_s = min(wait_s, self.ticket.slice_s)
        elif not process.is_put_back:
            wait_s = min(wait_s, LONG_S)
        try:
            frame = process.receive(wait_s)
        except TimeoutError:
            if time.monotonic() < self._until:
                self._pool.queue.may_continue(self.ticket)
                return None
            raise TimedOut(
                f"the {self._what} took longer than {self._seconds:g} s (sparql.query_s is {self._pool.limits.query_s:g})"
            ) from None
        if frame is None:
            if self.ticket.is_stopped:
                return None
            raise self._explain_death(process)
        if frame.letter == b"R":  # it has just started, which does not count against the query
            self.ticket.since = time.monotonic()
            self._until = self.ticket.since + self._seconds
            return None
        if frame.letter == b"X":
            self._is_over = True
            raise self._to_error(json.loads(frame.body))
        return frame

    def _end(self, frame: Frame) -> None:
        self._is_over = not frame.body  # with a body, it is this worker's last frame
        self.finish()

    def _explain_death(self, process: Process) -> MementoError:
        if self.is_gone():
            return ClientGone("whoever asked has left")
        if self._pool.is_closed:
            return GraphError("the memory is closed: open it again")
        process.wait_for_end()
        return self._memory_ran_out()

    def _to_error(self, failure: dict[str, str]) -> MementoError:
        limits = self._pool.limits
        match failure["kind"]:
            case "misread":
                line, column = int(failure["line"]), int(failure["column"])
                edited = self.job.edited
                return (
                    syntax_error_at(edited.source, *edited.original_place(line, column))
                    if edited
                    else syntax_error_at(self.job.sparql, line, column)
                )
            case "rows":
                return TooMuch(f"the answer has more than {limits.rows} rows (sparql.rows): add a LIMIT")
            case "bytes":
                return TooMuch(f"the answer has more than {limits.bytes} bytes (sparql.bytes): add a LIMIT")
            case "memory":
                return self._memory_ran_out()
            case "input_error" | "not_found" | "conflict" | "too_long" as code:
                return _ERRORS[code](failure["message"])
            case _:
                return GraphError(failure.get("message", "the query failed"))

    @property
    def _what(self) -> str:
        return "document" if isinstance(self.job, Upload | Rewrite | Call) else "query"

    def _memory_ran_out(self) -> MementoError:
        """Return the error for a worker that ran out of memory or stack; for a document, the document is the cause."""
        message = (
            f"the {self._what} took more memory than a worker has: {self._pool.limits.memory_mb} MiB (sparql.memory_mb)"
        )
        return TooLong(f"{message}: send it in parts, or as N-Quads") if self._what == "document" else TooMuch(message)

    def _stop(self) -> None:
        with self._stopping:  # a worker that another job uses by now must live
            if self._process is not None:
                self._process.kill()


_HEAD = 5
_READ = 262_144
_AT_ONCE = 65_536
"""Bytes that the socket accepts without blocking, because the worker has read everything before."""
_REAP_S = 10.0
_LAST_NICE = 15


class Frame(NamedTuple):
    """One piece of an answer; see `worker`."""

    letter: bytes
    body: bytes


class Process:
    """One child process and the socket to it. For one thread at a time, except `kill`."""

    def __init__(self, memory_mb: int, folder: Path | None = None) -> None:
        """
        Start the process; you can send jobs at once, and it reads them some tens of milliseconds later.

        Args:
            folder: the snapshot that its first job will most likely use.
        """
        ours, theirs = socket.socketpair()
        self.channel = ours
        self.channel.settimeout(_REAP_S)
        self._buffer = bytearray()
        self._is_ready = False
        self.is_put_back = False
        path = "\n".join(sys.path)
        with theirs:
            boot = [sys.executable, "-I", "-S", "-c", _BOOT, path]
            self._child = subprocess.Popen(
                [*boot, str(theirs.fileno()), str(memory_mb), str(folder or "")],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # the engine's last words might quote the query
                start_new_session=True,  # Ctrl-C is meant for its owner, which then ends it
            )

    @property
    def is_alive(self) -> bool:
        """Whether it is still running."""
        return self._child.poll() is None

    @property
    def is_ready(self) -> bool:
        """Whether it has started; only for a process without a job."""
        if not self._is_ready:
            self.channel.settimeout(0)
            with suppress(OSError):
                self._buffer += self.channel.recv(_READ)
            self.channel.settimeout(_REAP_S)
            frame = self.next_frame()
            self._is_ready = frame is not None
        return self._is_ready

    def send(self, job: bytes, tables: Sequence[bytes] = ()) -> None:
        """Send it a job, as JSON, and the tables that it names; raise `OSError` if it is dead."""
        if tables or len(job) > _AT_ONCE:
            self.channel.settimeout(_REAP_S)  # otherwise the rest of the last job's timeout would apply
        self.channel.sendall(len(job).to_bytes(4, "big") + job)
        for table in tables:
            self.channel.sendall(table)

    def receive(self, timeout_s: float) -> Frame | None:
        """
        Receive the next frame; None if the process has died.

        Raises:
            TimeoutError: no frame arrived in time.
        """
        while (frame := self.next_frame()) is None:
            if timeout_s <= 0:
                raise TimeoutError
            self.channel.settimeout(timeout_s)
            try:
                data = self.channel.recv(_READ)
            except ConnectionError:
                data = b""
            if not data:
                return None
            self._buffer += data
        return frame

    def next_frame(self) -> Frame | None:
        """Return the next frame if it has arrived already."""
        buffer = self._buffer
        if len(buffer) < _HEAD or len(buffer) < (end := _HEAD + int.from_bytes(buffer[1:_HEAD], "big")):
            return None
        frame = Frame(bytes(buffer[:1]), bytes(buffer[_HEAD:end]))
        del buffer[:end]
        return frame

    def put_back(self) -> None:
        """Lower its priority below all other processes; this cannot be undone, so this job is its last."""
        self.is_put_back = True
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._child.pid, _LAST_NICE)

    @property
    def has_end(self) -> bool:
        """Whether the next frame has arrived and is the last one."""
        return len(self._buffer) >= _HEAD and self._buffer[:1] == b"E"

    @property
    def pid(self) -> int:
        return self._child.pid

    def kill(self) -> None:
        """Kill it at once; may be called by any thread, and twice."""
        self._child.kill()

    def end(self) -> int:
        """Kill it, release it and return its exit status: negative for a signal."""
        self._child.kill()
        self.channel.close()
        return self._child.wait(_REAP_S)

    def wait_for_end(self) -> int:
        """Wait for a process that closed its socket, and return its exit status."""
        try:
            return self._child.wait(1.0)
        except subprocess.TimeoutExpired:
            return self.end()
