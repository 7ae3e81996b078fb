"""
The processes that evaluate foreign SPARQL: who gets one, for how long, and what becomes of one that is killed or dies.

*Flow:* `lanes` gives a place, `graph.snapshot` a folder that holds all that was written, `process` the child that answers from it;
`run` takes one job through the three.

*Guarantees:* a job ends within its time, whatever it does; one that takes more memory, rows or bytes than it may, or whose caller
leaves, ends too. Its worker is killed, another takes its place, and the caller is told; a worker that dies is an error, never a
job without an answer. An answer that has begun and cannot be finished raises where it is read, so that no part passes for the
whole. A job sees every write that was acknowledged before it came.

*But:* the clock of a job stands still while its reader does not read, for `sparql.stall_s` altogether: a slow client is not a slow
query, and does not hold a worker for ever either.
"""

from __future__ import annotations

import threading

from memento import telemetry
from memento.errors import GraphError
from memento.graph.snapshot import Snapshots
from memento.settings import SparqlSettings
from memento.sparql.jobs import Answer, Job, Rewrite, Waiting
from memento.sparql.lanes import Lanes
from memento.sparql.process import Process
from memento.sparql.run import Run

SPARE = 1
"""Workers beyond those that may work at once, so that one that is killed has been replaced already."""


class Pool:
    """Killable workers on snapshots of one store. May be used from many threads."""

    def __init__(self, snapshots: Snapshots, limits: SparqlSettings) -> None:
        self.limits = limits
        self.snapshots = snapshots
        self.lanes = Lanes(limits, self._may_try)
        self.is_closed = False
        self._lock = threading.Lock()
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._least = 0
        snapshots.dropped = self._let_go

    def start(self) -> None:
        """
        Have workers ready from now on, as a service does: a few at once, all with the first job.

        Otherwise each is started when a job wants it.
        """
        self._least = 1 + SPARE
        self._fill()

    def run(self, job: Job, *, caller: str, timeout_s: float | None = None, waiting: Waiting | None = None) -> Answer:
        """
        Have a job done on a snapshot that holds every write that was acknowledged before this call.

        Args:
            caller: whose share of the workers it uses: the name of a token, or one name for all programs of this machine.
            timeout_s: seconds of evaluation, at most `sparql.query_s`, which is the default.
            waiting: who may leave before the answer is there; the job ends then.

        Raises:
            InputError: the engine takes it for no SPARQL; names line and column. A document is not well formed, or nested too deep.
            TooLong: a document took more memory than a worker has.
            Busy: the queue is full, or the wait was too long.
            TimedOut: the time ran out before the first byte.
            TooMuch: memory, rows or bytes ran out before the first byte; names the limit.
            GraphError: the store failed.
            Gone: whoever asked has left.
        """
        most = job.seconds if isinstance(job, Rewrite) else self.limits.query_s
        run = Run(self, job, caller, min(timeout_s or most, most), waiting)
        while True:
            try:
                self.lanes.enter(run.place, run.is_gone)
                answer = run.begun()
            except BaseException as error:
                run.finish()
                telemetry.count(f"sparql.{getattr(error, 'code', 'failed')}")
                raise
            if answer is not None:
                telemetry.count("sparql.answered")
                return answer
            run.finish()
            run.place.is_long = True
            telemetry.count("sparql.begun_again")

    def close(self) -> None:
        """End every worker, whatever it does; calling it twice is harmless."""
        with self._lock:
            self.is_closed = True
            idle, self._idle = self._idle, []
            for process in self._busy:
                process.kill()  # whoever reads from it sees it die, and lets go of it
        for process in idle:
            process.end()

    @property
    def processes(self) -> list[int]:
        """The process ids of all workers; those that work are the first."""
        with self._lock:
            return [process.pid for process in (*self._busy, *self._idle)]

    @property
    def is_busy(self) -> bool:
        """Whether some worker works."""
        with self._lock:
            return bool(self._busy)

    @property
    def is_crowded(self) -> bool:
        """Whether several workers work."""
        return len(self._busy) > 1

    def taken(self) -> Process:
        """A worker: the one that worked last, as it has the snapshot open, else a new one; raises `GraphError` when closed."""
        with self._lock:
            if self.is_closed:
                raise GraphError("the store is closed")
            process = self._idle.pop() if self._idle else self._new()
            while not process.is_alive:  # somebody else has killed it, as a system that runs out of memory does
                process.end()
                process = self._idle.pop() if self._idle else self._new()
            self._busy.add(process)
            if self._least:
                self._least = self.limits.workers + SPARE
        self._fill()
        return process

    def returned(self, process: Process) -> None:
        """Take back a worker that waits for its next job."""
        with self._lock:
            self._busy.discard(process)
            if not self.is_closed and len(self._idle) < self.limits.workers + SPARE:
                self._idle.append(process)
                return
        process.end()

    def ended(self, process: Process) -> None:
        """End a worker that waits for nothing; where a service runs, another one takes its place."""
        with self._lock:
            self._busy.discard(process)
        process.end()
        self._fill()

    def _may_try(self) -> bool:
        """Whether two workers wait that have started; always where none are started ahead, as nobody is served there."""
        with self._lock:
            return not self._least or sum(process.is_ready for process in self._idle) > 1

    def _new(self) -> Process:
        return Process(self.limits.memory_mb, self.snapshots.newest)

    def _let_go(self) -> None:
        """End the workers that wait, as they have open what was erased."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()
        self._fill()

    def _fill(self) -> None:
        with self._lock:
            while not self.is_closed and len(self._idle) + len(self._busy) < self._least:
                self._idle.insert(0, self._new())
