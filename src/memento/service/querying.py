"""What answers SPARQL: the one way that every door takes, through the guard and a worker that can be killed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memento.errors import Forbidden
from memento.model import Inferred, Scope
from memento.service.questions import Inside, Questions
from memento.sparql.asking import Asked, Visible, job
from memento.sparql.jobs import Answer, Waiting
from memento.sparql.rewrite import SERVICES
from memento.time import now


class Querying(Questions):
    """Queries over the graphs of the caller; none of them changes anything."""

    def query(
        self,
        sparql: str,
        *,
        accept: str = "",
        timeout_s: float | None = None,
        default_graphs: Sequence[str] | None = None,
        named_graphs: Sequence[str] | None = None,
        namespace: str | None = None,
    ) -> tuple[bytes, str]:
        """
        The answer to a read-only SPARQL query over the caller's graphs, serialised, and its media type.

        Without FROM the default graph is the union of the namespace's graphs, the tenant's free ones and what follows from them;
        GRAPH reads these one by one, the tenant's provenance, and for an admin the audit graph. `SERVICE mem:search`,
        `SERVICE mem:asOf` and `mem:similarity` ask the memory from inside the query: see docs/memory-in-sparql.md.

        Args:
            accept: an HTTP Accept header; default JSON for rows and Turtle for graphs.
            timeout_s: seconds it may take, at most `sparql.query_s`, which is the default.
            default_graphs, named_graphs: the dataset, instead of FROM and FROM NAMED; what the caller may not see is left out.

        Raises:
            InputError: no SPARQL; names line and column.
            NotAcceptable: no offered media type fits.
            Forbidden: an update, SERVICE, or FROM with a graph of somebody else.
            TooLong: longer than `limits.query_bytes`.
            Busy: too many queries wait.
            TimedOut, TooMuch: it took more time, memory, rows or bytes than it may; names the limit.
        """
        answer = self.answer(
            Asked(
                sparql=sparql,
                accept=accept,
                default_graphs=tuple(default_graphs) if default_graphs else None,
                named_graphs=tuple(named_graphs) if named_graphs else None,
            ),
            timeout_s=timeout_s,
            namespace=namespace,
        )
        try:
            return b"".join(answer.chunks), answer.media
        finally:
            answer.close()

    def answer(
        self,
        asked: Asked,
        *,
        timeout_s: float | None = None,
        namespace: str | None = None,
        waiting: Waiting | None = None,
    ) -> Answer:
        """
        The same as it comes, for whoever can pass on a part; raises as `query`, and from the chunks what comes later.

        Args:
            waiting: who may leave before the end; the query ends then.
        """
        scope = self._in(namespace)
        sparql, limits = self._endpoints.asked(asked.sparql, self.settings.limits, others=SERVICES)
        found = job(replace(asked, sparql=sparql), self._visible(scope), limits, Inside(self, scope))
        if scope.inferred in {*(found.default_graphs or ()), *(found.named_graphs or ())}:
            self._parts.inferences.refresh(scope, now())  # it may follow from what was written a moment ago
        return self._workers.run(found, caller=self._access.caller, timeout_s=timeout_s, waiting=waiting)

    def infer(self, *, namespace: str | None = None) -> Inferred:
        """
        Bring what follows from the graphs of the namespace up to date, as every query does that reads it; how much that is.

        It lies in a graph of its own, each triple with its proofs.

        Raises:
            Forbidden: inference is switched off (`inference.on`).
        """
        scope = self._in(namespace)
        if not self.settings.inference.on:
            raise Forbidden("inference is switched off: set inference.on = true")
        return self._parts.inferences.current(scope, now())

    def _visible(self, scope: Scope) -> Visible:
        """The graphs that the caller may read by SPARQL."""
        inferred = (scope.inferred,) if self.settings.inference.on else ()
        derived = (*inferred, *self._case_graphs(scope))
        is_whole = not self._access.namespaces
        is_admin = is_whole and self._access.may("admin")
        return self._listing.visible(scope, is_whole=is_whole, is_admin=is_admin, derived=derived)
