"""The SPARQL protocols of a running service: queries, updates and whole graphs, as `service.Memento` has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memento.client.connection import Connection, addressed, made

if TYPE_CHECKING:
    from memento.model import Changed


class Sparql(Connection):
    """The part of a client that speaks SPARQL."""

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
        """See `Memento.query`."""
        headers = {"Content-Type": "application/sparql-query", "Accept": accept or "*/*"}
        given: list[tuple[str, object]] = [("namespace", namespace or self.namespace)]
        given += [("default-graph-uri", graph) for graph in default_graphs or ()]
        given += [("named-graph-uri", graph) for graph in named_graphs or ()]
        if timeout_s is not None:
            given.append(("timeout", timeout_s))
        answer = self.send("POST", addressed("/sparql", given), sparql.encode("utf-8", errors="replace"), headers)
        return answer.body, answer.media

    def update(
        self,
        sparql: str,
        *,
        using_graphs: Sequence[str] | None = None,
        using_named_graphs: Sequence[str] | None = None,
        timeout_s: float | None = None,
        namespace: str | None = None,
    ) -> Changed:
        """See `Memento.update`."""
        from memento.model import Changed

        given: list[tuple[str, object]] = [("namespace", namespace or self.namespace)]
        given += [("using-graph-uri", graph) for graph in using_graphs or ()]
        given += [("using-named-graph-uri", graph) for graph in using_named_graphs or ()]
        if timeout_s is not None:
            given.append(("timeout", timeout_s))
        body, headers = sparql.encode("utf-8", errors="replace"), {"Content-Type": "application/sparql-update"}
        return made(Changed, self.send("POST", addressed("/sparql/update", given), body, headers).body)

    def get_graph(
        self, graph: str | None = None, *, accept: str = "", namespace: str | None = None
    ) -> tuple[bytes, str]:
        """See `Memento.get_graph`."""
        answer = self.send("GET", self._graph(graph, namespace), headers={"Accept": accept or "*/*"})
        return answer.body, answer.media

    def put_graph(
        self, document: bytes, graph: str | None = None, *, media: str = "text/turtle", namespace: str | None = None
    ) -> Changed:
        """See `Memento.put_graph`."""
        from memento.model import Changed

        headers = {"Content-Type": media, "Content-Length": str(len(document))}
        return made(Changed, self.send("PUT", self._graph(graph, namespace), document, headers).body)

    def post_graph(
        self, document: bytes, graph: str | None = None, *, media: str = "text/turtle", namespace: str | None = None
    ) -> Changed:
        """See `Memento.post_graph`."""
        from memento.model import Changed

        headers = {"Content-Type": media, "Content-Length": str(len(document))}
        return made(Changed, self.send("POST", self._graph(graph, namespace), document, headers).body)

    def delete_graph(self, graph: str, *, namespace: str | None = None) -> Changed:
        """See `Memento.delete_graph`."""
        from memento.model import Changed

        return made(Changed, self.send("DELETE", self._graph(graph, namespace)).body)

    def _graph(self, graph: str | None, namespace: str | None) -> str:
        named: tuple[str, object] = ("default", "") if graph is None else ("graph", graph)
        return addressed("/sparql/graphs", [named, ("namespace", namespace or self.namespace)])
