"""
Record in the audit graph who wrote and who read graphs of cases: each record names nodes and contains no text.

*But:* a SPARQL query counts as an access to all cases of its dataset, whatever it reads of them. The access of a call that concerns
many nodes names the first hundred.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import datetime
from hashlib import sha256
from itertools import islice

from memento.backends import Backends
from memento.errors import MementoError
from memento.iris import IRI, MEM, PROV, TYPE, audit_iri, mint
from memento.model import Change, Quad
from memento.worker import Worker

logger = logging.getLogger(__name__)

MOST_NODES = 100
"""Maximum number of nodes that one access names."""


def access_quads(
    operation: str, actor: str, tenant: str, at: datetime, nodes: Iterable[IRI] = (), asked: str | None = None
) -> tuple[Quad, ...]:
    """
    Return the quads that record a call.

    Args:
        operation: the call, such as `cases.retrieve`.
        actor: the name of the token.
        nodes: what was returned or written.
        asked: a text of the caller, of which only the digest is stored.
    """
    iri, graph = mint("access"), audit_iri(tenant)
    quads: list[Quad] = [
        (iri, TYPE, MEM.Access, graph),
        (iri, MEM.at, at, graph),
        (iri, MEM.actor, actor, graph),
        (iri, MEM.operation, operation, graph),
    ]
    if asked is not None:
        quads.append((iri, MEM.queryHash, sha256(asked.encode("utf-8")).hexdigest(), graph))
    quads += [(iri, PROV.used, node, graph) for node in islice(dict.fromkeys(nodes), MOST_NODES)]
    return tuple(quads)


READS_S = 5.0
"""Seconds within which similar queries of one caller count as one access."""


class ReadLog:
    """
    Records who could read the cases by SPARQL or in an export; written in batches every `READS_S` seconds, so that no reader waits
    for a write.

    *But:* records since the last write are lost when the process is killed.
    """

    def __init__(self, parts: Backends, writing: AbstractContextManager[object]) -> None:
        """
        Args:
            writing: the lock of all writers; the caller of `note_read` must not hold it.
        """
        self._parts, self._writing = parts, writing
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str, str, str, tuple[IRI, ...]], datetime] = {}
        self._worker = Worker(self._write_when_due, "reads of cases")

    def note_read(
        self,
        actor: str,
        tenant: str,
        digest: str,
        graphs: tuple[IRI, ...],
        at: datetime,
        *,
        operation: str = "cases.sparql",
    ) -> None:
        """
        Note that somebody ran a query over some graphs of cases, or received them as a document.

        Args:
            digest: of the query without its strings and numbers; left out while very many reads wait to be written.
        """
        if self._parts.degraded:
            return
        with self._lock:
            key = (operation, actor, tenant, digest if len(self._waiting) < MOST_NODES else "", graphs)
            was_empty = not self._waiting
            self._waiting.setdefault(key, at)
        if was_empty:
            self._worker.wake()

    def write_reads(self) -> None:
        """Write the noted records now; if that raises `GraphError`, they are kept."""
        with self._writing:
            with self._lock:
                reads, self._waiting = self._waiting, {}
            quads: list[Quad] = []
            for (operation, actor, tenant, digest, graphs), at in reads.items():
                access = access_quads(operation, actor, tenant, at, graphs)
                quads += [*access, (access[0][0], MEM.queryHash, digest, audit_iri(tenant))] if digest else access
            try:
                if quads:
                    self._parts.apply(Change(tuple(quads)))
            except BaseException:
                with self._lock:
                    self._waiting = reads | self._waiting
                raise

    def close(self, wait_s: float) -> None:
        """Write the remaining records and stop; call it before the store is closed."""
        self._worker.stop(wait_s)
        self.write_reads()

    def _write_when_due(self) -> float | None:
        if self._worker.stopping.wait(READS_S):
            return None
        try:
            self.write_reads()
        except MementoError as error:
            logger.warning("reads-of-cases.put-off", extra={"error": type(error).__name__})
            return 60.0
        with self._lock:
            return 0.0 if self._waiting else None
