"""
Infers what follows from the axioms that a reader's graphs state, by RDFS and OWL 2 RL, into one graph for each reader.

*Flow:* queries of `queries/inference` read the axioms, the facts of the properties and classes that an axiom names, and what
current memories claim in a relation with a property (`mem:ofSlot`); `owlrl` derives what follows; the differences are written to
the graph of inferences. That happens when that graph is read, if something was written since or a memory has ended meanwhile, and
the premises have changed. Why a triple follows is a query: `queries/library/why.rq`.

*Guarantees:* what is read follows from every write before. A memory counts as long as it holds: when it ends, is forgotten or
erased, everything that rested on it alone is gone. A stated triple is never inferred as well, and no `owl:sameAs` ever is: several
values of a functional property are counted, and never treated as the same.

*But:* facts and axioms with blank nodes are ignored, except the lists of property chains, and so are axioms about the vocabularies
of RDF, RDFS and OWL themselves. If more than `MOST` facts take part, nothing is inferred.

*Source:* OWL 2 Profiles, section 4.3, https://www.w3.org/TR/owl2-profiles/
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pyoxigraph as ox

from memento.graph.binding import SlotValues, bind_query
from memento.iris import IRI, OWL, RDF, RDFS, data_iri, inferred_iri
from memento.model import Inferred, Scope

if TYPE_CHECKING:
    from memento.graph.oxigraph import Oxigraph

logger = logging.getLogger(__name__)

MOST = 100_000
"""Facts, given or derived, from which nothing is inferred: so many take half a minute."""

_RESERVED = tuple(namespace.base for namespace in (RDF, RDFS, OWL))
_OF_CLASSES = (RDFS.subClassOf, OWL.equivalentClass)
_LINKS = (RDF.first, RDF.rest)

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Fact = tuple[Term, Term, Term]


class Premises(NamedTuple):
    """
    What follows from what: axioms, stated facts, and the facts that claims amount to, which are inferred.

    `properties` and `classes` are those that an axiom names. `due` is when the next memory ends.
    """

    axioms: frozenset[Fact] = frozenset()
    stated: frozenset[Fact] = frozenset()
    claimed: frozenset[Fact] = frozenset()
    properties: frozenset[IRI] = frozenset()
    classes: frozenset[IRI] = frozenset()
    due: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """A graph of inferences as it was written: after how many writes, from which premises, and until when it is right."""

    writes: int
    premises: int
    due: datetime | None
    is_complete: bool


class TooMuch(Exception):
    """More facts take part than allowed; never raised outside this module."""


class Inferences:
    """What follows, for every scope. Thread-safe."""

    def __init__(self, graph: Oxigraph, most: int = MOST) -> None:
        """
        Args:
            most: facts, given or derived, that may take part for one reader; if there are more, nothing is inferred for it.
        """
        self._graph = graph
        self._most = most
        self._known: dict[IRI, _Known] = {}
        self._lock = threading.RLock()

    def current(self, scope: Scope, now: datetime) -> Inferred:
        """Update the graph of inferences of a scope and count what it has; raise `GraphError`."""
        with self._lock:
            self.refresh(scope, now)
            graph = scope.inferred
            if not self._known[graph].is_complete:
                return Inferred(namespace=scope.namespace, graph=graph, is_complete=False)
            return Inferred(
                namespace=scope.namespace,
                graph=graph,
                triples=sum(1 for _ in self._graph.lines(graph)),
                contradictions=sum(1 for _ in self._rows("inference/functional", [*self._sources(scope), graph])),
            )

    def refresh(self, scope: Scope, now: datetime) -> None:
        """Update the graph of inferences of a scope; raise `GraphError`."""
        with self._lock:
            known, writes = self._known.get(scope.inferred), self._graph.writes
            if known and known.writes == writes and not (known.due and known.due <= now):
                return
            premises = self._read(scope, now)
            digest, is_complete = hash(premises[:3]), True
            if known is None or known.premises != digest:
                try:
                    lines = set(derive(premises, self._most))
                except TooMuch:
                    logger.warning("inference.given-up", extra={"graph": scope.inferred, "most": self._most})
                    lines, is_complete = set(), False
                there = set(self._graph.lines(scope.inferred))
                if lines != there:
                    self._graph.derive(scope.inferred, sorted(there - lines), sorted(lines - there))
                    writes += 1  # another write meanwhile makes this one too few, and so is read next time
            else:
                is_complete = known.is_complete
            self._known[scope.inferred] = _Known(writes, digest, premises.due, is_complete)

    def forget_tenant(self, tenant: str) -> None:
        """Delete every graph of inferences of a tenant whose data is erased; the next read writes them again."""
        with self._lock:
            for graph in self._graph.graphs():
                if graph.startswith(inferred_iri(tenant, "")):
                    self._known.pop(graph, None)
                    self._graph.drop_graph(graph)

    def _read(self, scope: Scope, now: datetime) -> Premises:
        """Read the premises of a scope that hold now."""
        graphs = self._sources(scope)
        axioms = frozenset(_drop_unusable(self._rows("inference/axioms", graphs)))
        if not axioms:
            return Premises()
        properties, classes = _names_of(axioms)
        ended, due = self._read_ends(scope, now)

        def takes_part(fact: Fact) -> bool:
            """A fact of a memory, or a link between two memories, counts as long as they hold."""
            subject, _, value = fact
            return not any(isinstance(term, ox.BlankNode | ox.Triple) or term in ended for term in (subject, value))

        found = self._rows("inference/facts", graphs, property=sorted({*properties, OWL.sameAs}))
        stated = set(islice(filter(takes_part, found), self._most + 1))
        if classes:
            kind = ox.NamedNode(RDF.type)
            members = (
                (one, kind, of) for one, of in self._rows("inference/members", graphs, **{"class": sorted(classes)})
            )
            stated.update(islice(filter(takes_part, members), self._most + 1))
        claimed = set(self._rows("inference/slot", graphs, now=now.astimezone(UTC))) - stated
        return Premises(axioms, frozenset(stated), frozenset(claimed), properties, classes, due)

    def _read_ends(self, scope: Scope, now: datetime) -> tuple[set[Term], datetime | None]:
        """Return the memories and claims that have ended, and when the next one does."""
        ended: set[Term] = set()
        due: datetime | None = None
        for node, written in self._rows("inference/ended", scope.memory_graphs):
            with suppress(ValueError):  # an end that is no time ends nothing
                end = datetime.fromisoformat(written.value)
                end = end if end.tzinfo else end.replace(tzinfo=UTC)
                if end <= now:
                    ended.add(node)
                else:
                    due = min(due or end, end)
        return ended, due

    def _rows(self, name: str, graphs: Sequence[IRI], **slots: SlotValues) -> Iterator[Any]:
        """Yield the solutions of a query of `queries/inference` over some graphs, each as its terms in order."""
        text = bind_query(name, slots)
        with self._graph.reading() as store:
            found = store.query(text, default_graph=[ox.NamedNode(graph) for graph in graphs])
            assert isinstance(found, ox.QuerySolutions)
            yield from map(tuple, found)

    def _sources(self, scope: Scope) -> list[IRI]:
        """Return the graphs that premises are read from: memories, the user, and the free graphs that the reader sees."""
        every = (graph for graph in self._graph.graphs() if graph.startswith(data_iri(scope.tenant, "")))
        free = [graph for graph in every if scope.free is None or graph in scope.free]
        return [*scope.memory_graphs, *scope.user_graphs, *free]


def _drop_unusable(axioms: Iterator[Fact]) -> Iterator[Fact]:
    """Yield axioms about named properties and classes that RDF, RDFS and OWL do not define, and the lists of chains."""
    for subject, predicate, value in axioms:
        assert isinstance(predicate, ox.NamedNode)
        ends = (subject,) if predicate.value == RDF.type else (subject, value)
        is_list = predicate.value in (*_LINKS, OWL.propertyChainAxiom)
        is_ours = not any(isinstance(end, ox.NamedNode) and end.value.startswith(_RESERVED) for end in ends)
        is_named = not any(isinstance(end, ox.BlankNode) for end in ends)
        if (is_ours and (is_list or is_named)) or (is_list and value == ox.NamedNode(RDF.nil)):
            yield subject, predicate, value


def _names_of(axioms: Collection[Fact]) -> tuple[frozenset[IRI], frozenset[IRI]]:
    """Return the properties and the classes that axioms name."""
    properties: set[IRI] = set()
    classes: set[IRI] = set()
    for subject, predicate, value in axioms:
        kind = getattr(predicate, "value", "")
        of_class = (kind in _OF_CLASSES, kind in (*_OF_CLASSES, RDFS.domain, RDFS.range))
        for end, is_class in zip((subject, value), of_class, strict=True):
            if isinstance(end, ox.NamedNode) and not end.value.startswith(_RESERVED):
                (classes if is_class else properties).add(IRI(end.value))
    return frozenset(properties), frozenset(classes)


def derive(premises: Premises, most: int) -> Iterator[tuple[str, str, str]]:
    """
    Yield what follows from some premises and is not stated, each term in N-Triples syntax.

    Raises:
        TooMuch: more than `most` facts take part.
    """
    if not premises.axioms:
        return
    # Imported here: rdflib and owlrl take a tenth of a second, and most memories have no axioms.
    import rdflib
    from owlrl import OWLRL_Semantics

    literals: list[ox.Literal] = []
    nodes: dict[Term, Any] = {}

    def to_rdflib(term: Term) -> Any:
        # A literal goes as a number, because rdflib rewrites some: the time zone Z becomes +00:00.
        if term not in nodes:
            if isinstance(term, ox.Literal):
                nodes[term] = rdflib.Literal(str(len(literals)))
                literals.append(term)
            else:
                nodes[term] = rdflib.URIRef(term.value) if isinstance(term, ox.NamedNode) else rdflib.BNode(str(term))
        return nodes[term]

    properties = {rdflib.URIRef(name) for name in premises.properties}
    classes = {rdflib.URIRef(name) for name in premises.classes}

    def is_fact(triple: tuple[Any, Any, Any]) -> bool:
        return triple[1] in properties or (triple[1] == rdflib.RDF.type and triple[2] in classes)

    class Semantics(OWLRL_Semantics):  # type: ignore[misc]
        """OWL 2 RL without what says nothing: that everything is a thing, and the same as itself."""

        def one_time_rules(self) -> None:
            """Leave out the axioms of datatypes."""

        def rules(self, triple: tuple[Any, Any, Any], cycle: int) -> None:
            if not is_fact(triple):  # every rule that we need begins with an axiom, or with names that are the same
                super().rules(triple, cycle)

        def store_triple(self, triple: tuple[Any, Any, Any]) -> None:
            subject, predicate, value = triple
            is_same = predicate == rdflib.OWL.sameAs and subject != value
            if isinstance(subject, rdflib.Literal) or not (is_same or is_fact(triple)) or triple in self.graph:
                return
            self.added_triples.add(triple)
            if len(self.graph) + len(self.added_triples) > most:
                raise TooMuch

    graph = rdflib.Graph()
    # Several values of a functional property are no reason to treat them as the same.
    functional = ox.NamedNode(OWL.FunctionalProperty)
    given = {*(one for one in premises.axioms if one[2] != functional), *premises.stated, *premises.claimed}
    for fact in given:
        graph.add(tuple(map(to_rdflib, fact)))
    if len(graph) > most:
        raise TooMuch
    Semantics(graph, False, False).closure()
    stated = {tuple(map(to_rdflib, fact)) for fact in premises.stated}
    for triple in graph:
        if is_fact(triple) and triple not in stated:
            subject, predicate, value = triple
            shown = str(literals[int(value)]) if isinstance(value, rdflib.Literal) else f"<{value}>"
            yield f"<{subject}>", f"<{predicate}>", shown
