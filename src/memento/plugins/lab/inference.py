"""
Derives what follows from the axioms that a reader's graphs state, by RDFS and OWL 2 RL.

*Flow:* `read_premises` reads the axioms, the facts of the properties and classes that an axiom names, and what current memories
claim in a relation with a property (`mem:ofSlot`), by queries; `derive` has `owlrl` derive what follows. Why a triple follows is a
query: `queries/library/why.rq`.

*Guarantees:* a memory counts as long as it holds: when it ends, is forgotten or erased, everything that rested on it alone is gone.
A stated triple is never inferred as well, and no `owl:sameAs` ever is: several values of a functional property are counted, and
never treated as the same.

*But:* facts and axioms with blank nodes are ignored, except the lists of property chains, and so are axioms about the vocabularies
of RDF, RDFS and OWL themselves. If more than `MOST` facts take part, nothing is inferred.

*Source:* OWL 2 Profiles, section 4.3, https://www.w3.org/TR/owl2-profiles/
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, cast

from memento.graph.inferences import Inferences, Premises, TooMuch
from memento.iris import IRI, OWL, RDF, RDFS
from memento.model import Scope
from memento.plugins.lab.settings import InferenceSettings
from memento.service import Context

MOST = 100_000
"""Facts, given or derived, from which nothing is inferred: so many take half a minute."""

_RESERVED = tuple(f"<{namespace.base}" for namespace in (RDF, RDFS, OWL))
_OF_CLASSES = tuple(f"<{one}>" for one in (RDFS.subClassOf, OWL.equivalentClass))
_LINKS = tuple(f"<{one}>" for one in (RDF.first, RDF.rest))
_CHAIN, _NIL, _TYPE = f"<{OWL.propertyChainAxiom}>", f"<{RDF.nil}>", f"<{RDF.type}>"
_FUNCTIONAL = f"<{OWL.FunctionalProperty}>"

Fact = tuple[str, str, str]
"""A triple, with each term in N-Triples syntax."""


class Facts(NamedTuple):
    """
    What follows from what: axioms, stated facts, and the facts that claims amount to, which are inferred.

    `properties` and `classes` are those that an axiom names.
    """

    axioms: frozenset[Fact]
    stated: frozenset[Fact]
    claimed: frozenset[Fact]
    properties: frozenset[IRI]
    classes: frozenset[IRI]


def infer(scope: Scope, now: datetime, context: Context) -> Premises | None:
    """Read the premises of a reader, if inference is on."""
    is_on = context.settings.of(InferenceSettings).on
    return read_premises(context.stores.inferences, scope, now) if is_on else None


def read_premises(source: Inferences, scope: Scope, now: datetime, most: int = MOST) -> Premises | None:
    """
    Read the premises of a scope that hold now; None without axioms.

    Args:
        most: facts, given or derived, that may take part; if there are more, nothing is inferred.
    """
    graphs = source.list_sources(scope)
    axioms = frozenset(_drop_unusable(cast(Iterator[Fact], source.select("plugins/lab/axioms", graphs))))
    if not axioms:
        return None
    properties, classes = _names_of(axioms)
    ended, due = _read_ends(source, scope, now)

    def takes_part(fact: Fact) -> bool:
        """A fact of a memory, or a link between two memories, counts as long as they hold."""
        subject, _, value = fact
        return not any(term.startswith(("_:", "<<")) or term in ended for term in (subject, value))

    found = cast(Iterator[Fact], source.select("plugins/lab/facts", graphs, property=sorted({*properties, OWL.sameAs})))
    stated = set(islice(filter(takes_part, found), most + 1))
    if classes:
        rows = source.select("plugins/lab/members", graphs, **{"class": sorted(classes)})
        stated.update(islice(filter(takes_part, ((one, _TYPE, of) for one, of in rows)), most + 1))
    claims = cast(Iterator[Fact], source.select("plugins/lab/slot", graphs, now=now.astimezone(UTC)))
    facts = Facts(axioms, frozenset(stated), frozenset(claims) - stated, properties, classes)
    return Premises(facts=facts[:3], derive=partial(derive, facts, most), due=due)


def _read_ends(source: Inferences, scope: Scope, now: datetime) -> tuple[set[str], datetime | None]:
    """Return the memories and claims that have ended, and when the next one does."""
    ended: set[str] = set()
    due: datetime | None = None
    for node, written in source.select("plugins/lab/ended", scope.memory_graphs):
        with suppress(ValueError):  # an end that is no time ends nothing
            end = datetime.fromisoformat(written.partition('"')[2].partition('"')[0])
            end = end if end.tzinfo else end.replace(tzinfo=UTC)
            if end <= now:
                ended.add(node)
            else:
                due = min(due or end, end)
    return ended, due


def _drop_unusable(axioms: Iterator[Fact]) -> Iterator[Fact]:
    """Yield axioms about named properties and classes that RDF, RDFS and OWL do not define, and the lists of chains."""
    for subject, predicate, value in axioms:
        ends = (subject,) if predicate == _TYPE else (subject, value)
        is_list = predicate in (*_LINKS, _CHAIN)
        is_ours = not any(end.startswith(_RESERVED) for end in ends)
        is_named = not any(end.startswith("_:") for end in ends)
        if (is_ours and (is_list or is_named)) or (is_list and value == _NIL):
            yield subject, predicate, value


def _names_of(axioms: Collection[Fact]) -> tuple[frozenset[IRI], frozenset[IRI]]:
    """Return the properties and the classes that axioms name."""
    properties: set[IRI] = set()
    classes: set[IRI] = set()
    ranges = (*_OF_CLASSES, f"<{RDFS.domain}>", f"<{RDFS.range}>")
    for subject, predicate, value in axioms:
        of_class = (predicate in _OF_CLASSES, predicate in ranges)
        for end, is_class in zip((subject, value), of_class, strict=True):
            if _is_iri(end) and not end.startswith(_RESERVED):
                (classes if is_class else properties).add(IRI(end[1:-1]))
    return frozenset(properties), frozenset(classes)


def _is_iri(term: str) -> bool:
    return term.startswith("<") and not term.startswith("<<")


def derive(facts: Facts, most: int) -> Iterator[Fact]:
    """
    Yield what follows from some facts and is not stated.

    Raises:
        TooMuch: more than `most` facts take part.
    """
    # Imported here: rdflib and owlrl take a tenth of a second, and most memories have no axioms.
    import rdflib
    from owlrl import OWLRL_Semantics

    literals: list[str] = []
    nodes: dict[str, Any] = {}

    def to_rdflib(term: str) -> Any:
        # A literal goes as a number, because rdflib rewrites some: the time zone Z becomes +00:00.
        if term not in nodes:
            if term.startswith('"'):
                nodes[term] = rdflib.Literal(str(len(literals)))
                literals.append(term)
            else:
                nodes[term] = rdflib.URIRef(term[1:-1]) if _is_iri(term) else rdflib.BNode(term)
        return nodes[term]

    properties = {rdflib.URIRef(name) for name in facts.properties}
    classes = {rdflib.URIRef(name) for name in facts.classes}

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
    for fact in {*(one for one in facts.axioms if one[2] != _FUNCTIONAL), *facts.stated, *facts.claimed}:
        graph.add(tuple(map(to_rdflib, fact)))
    if len(graph) > most:
        raise TooMuch
    Semantics(graph, False, False).closure()
    stated = {tuple(map(to_rdflib, fact)) for fact in facts.stated}
    for triple in graph:
        if is_fact(triple) and triple not in stated:
            subject, predicate, value = triple
            shown = literals[int(value)] if isinstance(value, rdflib.Literal) else f"<{value}>"
            yield f"<{subject}>", f"<{predicate}>", shown
