"""
What a request has changed so far, against the snapshot it began on: quads that are gone, quads that are new, graphs emptied.

*Guarantees:* what comes and goes within one request leaves no trace, but in a graph that was emptied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyoxigraph as ox

from memento.errors import TooLong
from memento.graph.acts import DEFAULT
from memento.graph.delta import Delta, dumped, graph_of

GraphName = ox.NamedNode | ox.DefaultGraph
_Step = Callable[[ox.Store], None]


class Ledger:
    """One request's balance."""

    def __init__(self, snapshot: ox.Store, listed: str, most: int) -> None:
        """
        Args:
            listed: how the names of graphs begin whose quads come back one by one when they are emptied; "" is none.
            most: quads that may go and come together; those of graphs that are emptied as a whole do not count.
        """
        self._snapshot, self._listed, self._most = snapshot, listed, most
        self._adds: dict[ox.Quad, None] = {}
        self._removes: dict[ox.Quad, None] = {}
        self._cleared: dict[str, None] = {}
        self._graphs: dict[str, bool] = {}  # those that came or went: whether they are there
        self._touched: dict[str, None] = {}
        self._steps: list[_Step] = []

    def touch(self, graph: str) -> None:
        """Note that the request names a graph as one to be written."""
        self._touched[graph] = None

    def has(self, graph: str) -> bool:
        """Whether there is such a graph; the default graph always is."""
        known = self._graphs.get(graph)
        if known is None:
            return graph == DEFAULT or self._snapshot.contains_named_graph(ox.NamedNode(graph))
        return known

    def graphs(self) -> list[str]:
        """Every named graph there is."""
        here = dict.fromkeys(name.value for name in self._snapshot.named_graphs() if isinstance(name, ox.NamedNode))
        return [graph for graph in {**here, **self._graphs} if graph != DEFAULT and self.has(graph)]

    def add(self, quads: Iterable[ox.Quad]) -> None:
        come = list(quads)
        for quad in come:
            graph = graph_of(quad)
            self._touched[graph] = None
            self._graphs[graph] = True
            if quad in self._removes:
                del self._removes[quad]
            elif graph in self._cleared or quad not in self._snapshot:
                self._adds[quad] = None
        self.bounded(0)
        self._steps.append(lambda store: store.extend(come))

    def remove(self, quads: Iterable[ox.Quad]) -> None:
        gone = list(quads)
        for quad in gone:
            self._touched[graph_of(quad)] = None
            if quad in self._adds:
                del self._adds[quad]
            elif graph_of(quad) not in self._cleared and quad in self._snapshot:
                self._removes[quad] = None
        self.bounded(0)

        def step(store: ox.Store) -> None:
            for quad in gone:
                store.remove(quad)

        self._steps.append(step)

    def clear(self, graph: str) -> None:
        """Take everything out of a graph."""
        self._touched[graph] = None
        if self._listed and graph.startswith(self._listed):
            new = [quad for quad in self._adds if graph_of(quad) == graph]
            old = self._snapshot.quads_for_pattern(None, None, None, node(graph))
            self.remove([*new, *(quad for quad in old if quad not in self._removes)])
            return
        for quads in (self._adds, self._removes):
            for quad in [quad for quad in quads if graph_of(quad) == graph]:
                del quads[quad]
        self._cleared[graph] = None
        self._steps.append(lambda store: store.clear_graph(node(graph)))

    def create(self, graph: str) -> None:
        """Let there be a graph, empty or not."""
        self._graphs[graph] = True
        self._steps.append(lambda store: store.add_graph(node(graph)))

    def drop(self, graph: str) -> None:
        """Take a graph away with everything in it."""
        self.clear(graph)
        if graph != DEFAULT:
            self._graphs[graph] = False
            self._steps.append(lambda store: store.remove_graph(node(graph)))

    def bounded(self, more: int) -> None:
        """Raises `TooLong` when more quads would go and come than may."""
        if len(self._adds) + len(self._removes) + more > self._most:
            raise TooLong(
                f"an update may remove and add at most {self._most} quads (limits.update_quads): split it, "
                "or load a document with POST to the graph store"
            )

    def settle(self, store: ox.Store) -> None:
        """Do to a copy of the snapshot what was done since the last time."""
        for step in self._steps:
            step(store)
        self._steps.clear()

    @property
    def is_settled(self) -> bool:
        """Whether nothing was done since the last time."""
        return not self._steps

    def delta(self) -> Delta:
        """The balance."""
        was = {graph: self._snapshot.contains_named_graph(ox.NamedNode(graph)) for graph in self._graphs if graph}
        filled = {graph_of(quad) for quad in self._adds}
        return Delta(
            removes=dumped(self._removes),
            adds=dumped(self._adds),
            removed=len(self._removes) + sum(map(self._count, self._cleared)),
            added=len(self._adds),
            cleared=tuple(graph for graph in self._cleared if graph == DEFAULT or was.get(graph, self.has(graph))),
            dropped=tuple(graph for graph, before in was.items() if before and not self.has(graph)),
            created=tuple(g for g, before in was.items() if not before and self.has(g) and g not in filled),
            touched=tuple(self._touched),
        )

    def _count(self, graph: str) -> int:
        counted = self._snapshot.query(_COUNT, default_graph=[node(graph)], named_graphs=[])
        assert isinstance(counted, ox.QuerySolutions)
        [row] = counted
        return int(row[0].value)


def node(graph: str) -> GraphName:
    """A graph's name as a term."""
    return ox.NamedNode(graph) if graph else ox.DefaultGraph()


_COUNT = "SELECT (COUNT(*) AS ?count) WHERE { ?s ?p ?o }"
