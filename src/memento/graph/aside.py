"""
Count what is in the graphs of memory and no reader can take: statements out of the range of their property, from before it was
looked at or written by the owner without a check. Readers pass them over; here they are counted, so that every interface can say
so.

*Guarantees:* the graph is only read.

*But:* a store whose files somebody else has written to is read once for it, which takes some seconds for 100,000 memories.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from hashlib import sha256
from typing import Any, cast

from memento import assets
from memento.graph.ranges import read_ranges
from memento.graph.store import Row, Store
from memento.iris import IRI, XSD
from memento.model import Value

OURS = tuple(f"urn:memento:{kind}:" for kind in ("graph", "self", "cases", "provenance", "audit"))
"""How the names of the graphs begin that we write; in the others anything may stand."""
_LEAST, _MOST = 1e-300, 1e300
_MANY = 1_000
"""Nodes above which it is quicker to look through everything."""


class Aside:
    """The nodes of one store of which something is set aside. May be used from many threads; one writes at a time."""

    def __init__(self, graph: Store, keep: Callable[[str], None] = lambda text: None) -> None:
        """
        Args:
            keep: called with `text` whenever it has changed, to be given to `take` at the next start.
        """
        self._graph, self._keep = graph, keep
        self._found: dict[tuple[IRI, IRI], int] = {}

    def look(self) -> None:
        """Look through all graphs."""
        self._found = _counted(self._rows())
        self._keep(self.text())

    def look_at(self, nodes: Iterable[IRI], *, unchecked: bool = False) -> None:
        """
        Look again at those of some nodes of which something is set aside.

        Args:
            unchecked: at all of them, as they were written without being held against the shapes.
        """
        known = {node for _, node in self._found}
        again = [node for node in nodes if unchecked or node in known]
        if len(again) > _MANY:
            self.look()
        elif again:
            wanted = set(again)
            kept = {place: count for place, count in self._found.items() if place[1] not in wanted}
            self._found = kept | _counted(self._of(again))
            self._keep(self.text())

    def within(self, is_seen: Callable[[IRI], bool]) -> tuple[int, tuple[IRI, ...]]:
        """How many statements are set aside in the graphs that somebody sees, and of which nodes."""
        seen = {place: count for place, count in self._found.items() if is_seen(place[0])}
        return sum(seen.values()), tuple(sorted({node for _, node in seen}))

    def take(self, text: str | None) -> bool:
        """Take what an earlier process has found; False when it is not of these ranges, and nothing is taken."""
        kept = json.loads(text) if text else {}
        if kept.get("ranges") != _mark():
            return False
        self._found = {(IRI(graph), IRI(node)): count for graph, node, count in kept["found"]}
        return True

    def text(self) -> str:
        """What is known, as text."""
        return json.dumps(
            {"ranges": _mark(), "found": [[graph, node, count] for (graph, node), count in self._found.items()]}
        )

    def _rows(self) -> list[Row]:
        graphs = [graph for graph in self._graph.graphs() if graph.startswith(OURS)]
        return self._graph.select("graph/unread", graphs, **_slots()) if graphs else []

    def _of(self, nodes: Collection[IRI]) -> list[Row]:
        graphs = [graph for graph in self._graph.graphs() if graph.startswith(OURS)]
        names = [node for node in nodes if not node.startswith("_:")]
        rows = self._graph.select("search/statements", graphs, node=names) if names and graphs else []
        return [{**row, "property": row["predicate"]} for row in rows]


def _counted(rows: Iterable[Row]) -> dict[tuple[IRI, IRI], int]:
    known = read_ranges()
    counted: Counter[tuple[IRI, IRI]] = Counter()
    for row in rows:
        one = known.get(cast(IRI, row["property"]))
        if one is not None and not one.fits(row["value"]):
            counted[IRI(str(row["graph"])), IRI(str(row["node"]))] += 1
    return dict(counted)


def _slots() -> dict[str, Any]:
    """The properties that have a range, by its kind, as the query takes them."""
    links, times, flags = list[Value](), list[Value](), list[Value]()
    numbers, words = list[tuple[Value, ...]](), list[tuple[Value, ...]]()
    for predicate, one in read_ranges().items():
        if one.is_name:
            links.append(predicate)
        elif one.words:
            words += [(predicate, word) for word in sorted(one.words)]
        elif one.datatype == XSD.dateTime:
            times.append(predicate)
        elif one.datatype == XSD.boolean:
            flags.append(predicate)
        else:
            least = one.least if one.least is not None else _LEAST if one.above is not None else -_MOST
            numbers.append((predicate, least, _MOST if one.most is None else one.most))
    return {"link": links, "time": times, "flag": flags, "number": numbers, "word": words}


def _mark() -> str:
    """What tells these ranges from those of another version."""
    return sha256(assets.read("ontology/values.ttl")).hexdigest()[:16]
