"""
Graphs as they would be after a delta: what is looked at before it is applied.

*But:* it looks at single nodes and at what points at them; nothing here reads a whole graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyoxigraph as ox

from memento.graph.delta import Delta, change, graph_of, within
from memento.graph.terms import to_value
from memento.iris import IRI, TYPE
from memento.model import Quad, Value

_MOST_POINTING = 10_000
"""Statements that point at one node which are looked through."""
_OF_EACH = 20
"""Subjects that are taken for each way to point at a node: where one is wrong, so are the others."""


class After:
    """Some graphs of a store after a delta that is not applied; `removes` and `adds` are what it does to them."""

    def __init__(self, store: ox.Store, delta: Delta, graphs: Sequence[IRI]) -> None:
        self._store = store
        self._graphs = set(graphs)
        self.removes = within(delta.removes, graphs)
        self.adds = within(delta.adds, graphs)
        self._gone = set(self.removes)
        self._new: dict[str, list[ox.Quad]] = {}
        self._new_pointing: dict[str, list[ox.Quad]] = {}
        for quad in self.adds:
            self._new.setdefault(_name(quad.subject), []).append(quad)
            if isinstance(quad.object, ox.NamedNode):
                self._new_pointing.setdefault(quad.object.value, []).append(quad)

    @property
    def has_nested(self) -> bool:
        """Whether it adds triples within triples."""
        return any(isinstance(quad.object, ox.Triple) for quad in self.adds)

    def before(self, nodes: Iterable[str]) -> list[ox.Quad]:
        """What the graphs say of some nodes now."""
        return [quad for iri in nodes for quad in self._here(ox.NamedNode(iri), None, None)]

    def about(self, nodes: Iterable[str]) -> list[ox.Quad]:
        """What the graphs would say of some nodes."""
        listed = list(nodes)
        kept = [quad for quad in self.before(listed) if quad not in self._gone]
        return [*kept, *(quad for iri in listed for quad in self._new.get(iri, ()))]

    def values(self, nodes: Iterable[str]) -> list[Quad]:
        """The same in our own terms."""
        return list(change((), self.about(nodes)).adds)

    def types(self, nodes: Iterable[str]) -> dict[IRI, set[str]]:
        """What some nodes would be; one that would be nothing is left out."""
        found: dict[IRI, set[str]] = {}
        for quad in self.about(nodes):
            if quad.predicate.value == TYPE:
                found.setdefault(IRI(_name(quad.subject)), set()).add(_name(quad.object))
        return found

    def twice(self, nodes: Iterable[str]) -> list[IRI]:
        """Nodes that would be typed in several of the graphs."""
        found: dict[str, set[str]] = {}
        for quad in self.about(nodes):
            if quad.predicate.value == TYPE:
                found.setdefault(_name(quad.subject), set()).add(graph_of(quad))
        return [IRI(iri) for iri, graphs in found.items() if len(graphs) > 1]

    def elsewhere(self, nodes: Iterable[str], kinds: tuple[str, ...]) -> list[IRI]:
        """Nodes that another graph describes, one whose name begins as one of `kinds`."""
        return [
            IRI(iri)
            for iri in nodes
            for quad in self._store.quads_for_pattern(ox.NamedNode(iri), None, None, None)
            if graph_of(quad).startswith(kinds) and graph_of(quad) not in self._graphs
        ]

    def pointing(self, nodes: Iterable[str], predicates: Sequence[IRI] = ()) -> list[IRI]:
        """Subjects that would point at some nodes, by some predicates or by any: a sample where there are many."""
        return subjects(quad for iri in nodes for quad in self._sample(iri, predicates))

    def all_pointing(self, nodes: Iterable[str], predicates: Sequence[IRI], most: int) -> list[IRI]:
        """Every subject that points at some nodes now or would, until there are more than `most` at one."""
        found: dict[IRI, None] = {}
        for iri in nodes:
            old = [
                quad
                for predicate in predicates
                for quad in islice(self._here(None, ox.NamedNode(predicate), ox.NamedNode(iri)), most + 1)
            ]
            new = (quad for quad in self._new_pointing.get(iri, ()) if quad.predicate.value in predicates)
            found.update(dict.fromkeys(subjects([*old, *new])))
        return list(found)

    def _here(
        self, subject: ox.NamedNode | None, predicate: ox.NamedNode | None, value: ox.NamedNode | None
    ) -> Iterator[ox.Quad]:
        found = self._store.quads_for_pattern(subject, predicate, value, None)
        return (quad for quad in found if graph_of(quad) in self._graphs)

    def _sample(self, iri: str, predicates: Sequence[IRI]) -> list[ox.Quad]:
        counted: dict[str, int] = {}
        found = []
        pointing = islice(self._here(None, None, ox.NamedNode(iri)), _MOST_POINTING)
        old = (quad for quad in pointing if quad not in self._gone)
        for quad in [*old, *self._new_pointing.get(iri, ())]:
            predicate = quad.predicate.value
            counted[predicate] = counted.get(predicate, 0) + 1
            if (not predicates or predicate in predicates) and counted[predicate] <= _OF_EACH:
                found.append(quad)
        return found


def targets(quads: Iterable[ox.Quad], predicates: Sequence[IRI] = ()) -> list[IRI]:
    """The nodes that some quads point at, by some predicates or by any."""
    return list(
        dict.fromkeys(
            IRI(quad.object.value)
            for quad in quads
            if isinstance(quad.object, ox.NamedNode) and (not predicates or quad.predicate.value in predicates)
        )
    )


def subjects(quads: Iterable[ox.Quad], predicates: Sequence[IRI] = ()) -> list[IRI]:
    """The subjects of some quads, of those with some predicates or with any; each once."""
    return list(
        dict.fromkeys(
            IRI(_name(quad.subject)) for quad in quads if not predicates or quad.predicate.value in predicates
        )
    )


def stated(quads: Iterable[ox.Quad], predicate: IRI) -> list[Value]:
    """What some quads state by a predicate."""
    return [to_value(quad.object) for quad in quads if quad.predicate.value == predicate]


def _name(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> str:
    return term.value if isinstance(term, ox.NamedNode) else str(term)
