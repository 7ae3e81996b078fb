"""The processes that evaluate foreign SPARQL: who gets one, for how long, and what becomes of one that is killed or dies."""

from __future__ import annotations

from memento.graph.snapshot import Snapshots
from memento.settings import SparqlSettings
from memento.sparql.jobs import Answer, Job, Waiting


class Pool:
    """Killable workers on snapshots of one store."""

    def __init__(self, snapshots: Snapshots, limits: SparqlSettings) -> None: ...

    def start(self) -> None:
        """Start the workers now, as a service does; otherwise the first job starts one."""
        raise NotImplementedError

    def run(self, job: Job, *, caller: str, timeout_s: float | None = None, waiting: Waiting | None = None) -> Answer:
        """
        Have a job done on a snapshot that holds every write that was acknowledged before this call.

        Args:
            caller: whose share of the workers it uses: the name of a token, or one name for all programs of this machine.
            timeout_s: seconds of evaluation, at most `sparql.query_s`, which is the default.
            waiting: who may leave before the answer is there; the job ends then.

        Raises:
            InputError: the engine takes it for no SPARQL; names line and column.
            Busy: the queue is full, or the wait was too long.
            TimedOut: the time ran out before the first byte.
            TooMuch: memory, rows or bytes ran out before the first byte; names the limit.
            GraphError: the store failed.
        """
        raise NotImplementedError

    def close(self) -> None:
        """End every worker; calling it twice is harmless."""
        raise NotImplementedError
