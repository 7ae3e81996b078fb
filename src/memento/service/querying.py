"""What answers SPARQL: the one way that every door takes, through the guard and a worker that can be killed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memento.service.held import Held
from memento.sparql.asking import Asked, Visible, job
from memento.sparql.jobs import Answer, Waiting


class Querying(Held):
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

        Without FROM the default graph is the union of the namespace's graphs and the tenant's free ones; GRAPH reads these one by
        one, the tenant's provenance, and for an admin the audit graph.

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
        sparql, limits = self._endpoints.asked(asked.sparql, self.settings.limits)
        found = job(replace(asked, sparql=sparql), self._visible(namespace), limits)
        return self._workers.run(found, caller=self._access.caller, timeout_s=timeout_s, waiting=waiting)

    def _visible(self, namespace: str | None) -> Visible:
        """The graphs that the caller may read by SPARQL."""
        is_whole = not self._access.namespaces
        is_admin = is_whole and self._access.may("admin")
        return self._listing.visible(self._in(namespace), is_whole=is_whole, is_admin=is_admin)
