"""
A document held apart in a store of its own until it is known to be right, and then poured into the real one, whole.

*Guarantees:* nothing of the document is in the real store before `pour`; then all of it is, or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from pathlib import Path

import pyoxigraph as ox

from memento.errors import InputError
from memento.graph.exact import Exact, failures, node_of
from memento.graph.shapes import Violation, looked_back, violations_of
from memento.graph.terms import to_term, to_value
from memento.iris import CASES, IRI, MEM, TYPE
from memento.model import Quad, Value

VECTORS = IRI("urn:memento:vectors")
"""The graph in the staging store that vectors go to: they never lie in the real one."""

_FREE = "urn:memento:data:"
_OF_VECTORS = (MEM.embedding, MEM.hasStateEmbedding, MEM.embeddedBy, MEM.embeddedHash)
_STAYS = (MEM.name, MEM.entityType, MEM.description, MEM.isWellKnown, MEM.updatedAt)
"""What one anchor has once: where it is known already, what is known stays."""
_MANY = 500_000  # quads above which they are written as new files, which need no memory
_AT_ONCE = 10_000  # quads that are held against the shapes together, beside those of their neighbours


class Staged:
    """The quads of a document, by the graphs they are meant for."""

    def __init__(self, folder: Path | None = None) -> None:
        """
        Args:
            folder: where they lie when they are many; None keeps them in memory.
        """
        with failures():
            self._store = ox.Store(folder) if folder else ox.Store()

    def fill(
        self, quads: Iterable[ox.Quad], placed: Callable[[str], IRI | None], renamed: Mapping[str, IRI]
    ) -> Counter[str]:
        """
        Take the quads in, each into the graph that the name of its own is `placed` in ("" outside of any); None passes it over.

        Args:
            renamed: nodes that go by another name here.

        Returns:
            how many quads there were, by the name of their graph.

        Raises:
            InputError: of `quads` or `placed`; or a blank node where memories are.
        """
        counted: Counter[str] = Counter()
        graphs: dict[str, ox.NamedNode | None] = {}
        vectors = ox.NamedNode(VECTORS)

        def moved() -> Iterator[ox.Quad]:
            for quad in quads:
                name = (
                    "" if isinstance(quad.graph_name, ox.DefaultGraph) else str(getattr(quad.graph_name, "value", ""))
                )
                if name not in graphs:
                    target = placed(name)
                    graphs[name] = None if target is None else ox.NamedNode(target)
                counted[name] += 1
                graph = graphs[name]
                if graph is None:
                    continue
                is_free = graph.value.startswith(_FREE)
                if not is_free and isinstance(quad.subject, ox.BlankNode):
                    raise InputError(f"memories have IRIs: the graph <{name}> has a blank node")
                if not is_free and quad.predicate.value in _OF_VECTORS:
                    graph = vectors
                subject, value = _renamed(quad.subject, renamed), _renamed(quad.object, renamed)
                yield ox.Quad(subject, quad.predicate, value, graph)  # type: ignore[arg-type]  # a node stays a node

        with failures():
            self._store.bulk_extend(moved())
        return counted

    def add(self, quads: Iterable[Quad]) -> None:
        """Put something of our own beside it, to be poured with it."""
        for subject, predicate, value, graph in quads:
            self._store.add(ox.Quad(node_of(subject), ox.NamedNode(predicate), to_term(value), ox.NamedNode(graph)))

    def subjects(self, begin: str) -> list[tuple[IRI, IRI]]:
        """(subject, graph) of all in graphs whose names begin so."""
        found = dict.fromkeys((_name(quad.subject), _graph(quad)) for quad in self._quads())
        return [place for place in found if place[1].startswith(begin)]

    def rename(self, names: Mapping[IRI, IRI]) -> None:
        """Let nodes go by other names, wherever they stand."""
        for old, new in names.items():
            node, other = ox.NamedNode(old), {str(old): new}
            found = [*self._store.quads_for_pattern(node, None, None), *self._store.quads_for_pattern(None, None, node)]
            for quad in found:
                subject, value = _renamed(quad.subject, other), _renamed(quad.object, other)
                self._store.remove(quad)
                self._store.add(ox.Quad(subject, quad.predicate, value, quad.graph_name))  # type: ignore[arg-type]

    def settle(self, real: Exact) -> int:
        """
        Let go of what the real store has another value of, where what is known stays; how many quads that were.

        What is known of a case or of a look-up stays as it is: mean values, rewards and states of steps change with use.
        """
        gone, known = [], dict[tuple[str, str], bool]()
        for quad in self._quads():
            place = (_name(quad.subject), _graph(quad))
            if place[1].startswith(CASES):
                if place not in known:
                    known[place] = any(True for _ in real.statements(place[1], place[0]))
                if known[place] and not real.holds(quad):
                    gone.append(quad)
        for predicate in map(ox.NamedNode, _STAYS):
            for quad in self._store.quads_for_pattern(None, predicate, None):
                if real.has_another(quad):
                    gone.append(quad)
        for quad in gone:
            self._store.remove(quad)
        return len(gone)

    def fresh(self, real: Exact) -> Counter[tuple[IRI, IRI]]:
        """(subject, graph) → how many quads the real store does not have yet."""
        counted: Counter[tuple[IRI, IRI]] = Counter()
        with failures():
            for quad in self._quads():
                if not real.holds(quad):
                    counted[_name(quad.subject), _graph(quad)] += 1
        return counted

    def said(self, subject: IRI) -> dict[IRI, list[Value]]:
        """What the document says of a node: predicate → values."""
        found: dict[IRI, list[Value]] = {}
        for quad in self._about(subject):
            found.setdefault(IRI(quad.predicate.value), []).append(to_value(quad.object))
        return found

    def typed(self, type_: IRI) -> Iterator[tuple[IRI, IRI]]:
        """(subject, graph) of the nodes of a type."""
        for quad in self._store.quads_for_pattern(None, ox.NamedNode(TYPE), ox.NamedNode(type_)):
            yield _name(quad.subject), _graph(quad)

    def vector(self, subject: IRI) -> dict[str, str]:
        """What the document says of the vectors of a node: `embedding` or `hasStateEmbedding`, `embeddedBy`, `embeddedHash`."""
        quads = self._store.quads_for_pattern(ox.NamedNode(subject), None, None, ox.NamedNode(VECTORS))
        return {
            quad.predicate.value.removeprefix(MEM.base): quad.object.value
            for quad in quads
            if isinstance(quad.object, ox.Literal)
        }

    def faults(
        self, subjects: Sequence[IRI], real: Exact, graphs: Collection[IRI], progress: Callable[[int], None]
    ) -> list[Violation]:
        """
        What of these nodes would break a shape, were the document in the real store; some 10 ms for a memory and its note.

        Args:
            graphs: those of the real store that count.
            progress: called with how many were judged, as the work goes on.
        """
        found: list[Violation] = []
        batch: dict[IRI, set[ox.Quad]] = {}
        count = 0
        by_age = sorted(subjects, key=lambda iri: iri.rsplit(":", 1)[-1])  # what hangs together is together
        for done, subject in enumerate(by_age):
            batch[subject] = set(self._merged(subject, real, graphs))
            count += len(batch[subject])
            if count >= _AT_ONCE:
                found += self._of_batch(batch, real, graphs)
                batch, count = {}, 0
                progress(done)
        return sorted(found + self._of_batch(batch, real, graphs))

    def pour(self, real: Exact, subjects: Sequence[IRI]) -> None:
        """Put all of it into the real store, or nothing."""
        real.extend(self._quads(), subjects, many=len(self._store) > _MANY)

    def _of_batch(self, batch: Mapping[IRI, set[ox.Quad]], real: Exact, graphs: Collection[IRI]) -> list[Violation]:
        """
        The faults of some nodes, judged beside what they point at, what points at them where shapes look back, and the types of
        what these point at.
        """
        if not batch:
            return []
        own = set().union(*batch.values())
        near = _objects(own)
        for subject, predicate in product(batch, map(ox.NamedNode, looked_back())):
            pointing = self._store.quads_for_pattern(None, predicate, ox.NamedNode(subject))
            near |= {_name(quad.subject) for quad in chain(pointing, real.pointing(subject, predicate, graphs))}
        near -= batch.keys()
        beside = {quad for node in near for quad in self._merged(node, real, graphs)}
        far = _objects(beside) - near - batch.keys()
        types = {quad for node in far for quad in self._merged(node, real, graphs) if quad.predicate.value == TYPE}
        return [fault for fault in violations_of(own | beside | types) if fault.focus in batch]

    def _merged(self, subject: IRI, real: Exact, graphs: Collection[IRI]) -> Iterator[ox.Quad]:
        yield from self._about(subject)
        for graph in graphs:
            yield from real.statements(graph, subject)

    def _about(self, subject: IRI) -> Iterator[ox.Quad]:
        """What memories say of a node; somebody's own RDF may say of it what it likes."""
        for quad in self._store.quads_for_pattern(node_of(subject), None, None):
            if not str(getattr(quad.graph_name, "value", "")).startswith((VECTORS, _FREE)):
                yield quad

    def _quads(self) -> Iterator[ox.Quad]:
        vectors = ox.NamedNode(VECTORS)
        return (quad for quad in self._store if quad.graph_name != vectors)


def _objects(quads: Iterable[ox.Quad]) -> set[IRI]:
    return {_name(quad.object) for quad in quads if isinstance(quad.object, ox.NamedNode)}


def _renamed(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple, names: Mapping[str, IRI]) -> object:
    if isinstance(term, ox.NamedNode) and term.value in names:
        return ox.NamedNode(names[term.value])
    return term


def _name(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> IRI:
    return IRI(term.value if isinstance(term, ox.NamedNode) else str(term))


def _graph(quad: ox.Quad) -> IRI:
    return IRI(str(getattr(quad.graph_name, "value", "")))
