"""
What the graphs of one reader state: the axioms, and of each node the facts that take part, with where they stand.

A memory speaks as long as it holds: one that is over or forgotten states nothing. What it says of a slot (`mem:slot`) counts as a
fact of the properties that stand for the slot (`mem:ofSlot`), and what it says it by are the premises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

import pyoxigraph as ox

from memento.assets import read
from memento.graph.inference.rules import Axiom, Rules, Term, Triple
from memento.iris import IRI, MEM, ONTOLOGY, OWL, RDF, RDFS, SKOS, TYPE

_STATED_BY_TYPE = (OWL.TransitiveProperty, OWL.SymmetricProperty, OWL.FunctionalProperty)
_STATED_BY_PREDICATE = (
    *(RDFS.subPropertyOf, RDFS.subClassOf, OWL.inverseOf, OWL.equivalentProperty, OWL.propertyChainAxiom),
    MEM.ofSlot,
)
_NAMES = (
    *(MEM.name, RDFS.label, SKOS.prefLabel, SKOS.altLabel),
    *("https://schema.org/name", "http://schema.org/name", "http://xmlns.com/foaf/0.1/name"),
)
_LONGEST_CHAIN = 2
_ENDS = (f"<{MEM.invalidAt}>", f"<{MEM.expiredAt}>")


@dataclass(frozen=True, slots=True)
class Support:
    """Where a triple stands: the graph, and the memory that says it, if one does."""

    graph: Term
    memory: Term | None = None


@dataclass(frozen=True, slots=True)
class Contribution:
    """
    What one node contributes.

    `stated` are triples that are there. `from_slots` are those that a memory's slot amounts to, each with the axiom and the triples
    that it rests on; `grounds` are these. When one of `names` changes, so may all this. `until` is when a memory stops to say it,
    None for what does not end.
    """

    stated: tuple[tuple[Triple, Support], ...] = ()
    from_slots: tuple[tuple[Triple, tuple[Triple, ...]], ...] = ()
    grounds: tuple[tuple[Triple, Support], ...] = ()
    names: tuple[Term, ...] = ()
    until: datetime | None = None


class PremiseReader:
    """Reads for one reader: their graphs, and among those the ones that have memories."""

    def __init__(self, store: ox.Store, graphs: Sequence[IRI], with_memories: Iterable[IRI]) -> None:
        self._store = store
        self.graphs = [ox.NamedNode(graph) for graph in graphs]
        self._with_memories = {ox.NamedNode(graph) for graph in with_memories}

    def axioms(self) -> dict[Axiom, list[Support]]:
        """Return every axiom that the graphs state, and those that come with the rules, with where it stands."""
        supports: dict[Axiom, list[Support]] = {axiom: [Support(f"<{ONTOLOGY}>")] for axiom in load_builtin_axioms()}
        for graph in self.graphs:
            for axiom in _read_axioms(self._store, graph):
                supports.setdefault(axiom, []).append(Support(str(graph)))
        return supports

    def everything(self, rules: Rules, now: datetime) -> dict[Term, Contribution]:
        """Return what each node contributes now; in a fraction of the time of `contribution_of` where there are no memories."""
        stated_by: dict[Term, list[tuple[Triple, Support]]] = {}
        remembered: set[Term] = set()
        for graph in self.graphs:
            support = Support(str(graph))
            quads = chain(
                *(self._match(term, None, graph) for term in rules.read),
                *(self._match(f"<{TYPE}>", term, graph) for term in rules.classes),
            )
            if graph in self._with_memories:
                slots = chain(*(self._match(f"<{MEM.slot}>", slot, graph) for slot in rules.slots))
                remembered.update(str(quad.subject) for quad in chain(quads, slots))
                continue
            for triple in map(_to_triple, quads):
                if _takes_part(triple, rules):
                    stated_by.setdefault(triple[0], []).append((triple, support))
        told = {node: self.contribution_of(node, rules, now) for node in remembered if node.startswith("<")}
        return {node: Contribution(tuple(stated)) for node, stated in stated_by.items() if node not in told} | told

    def states_axioms(self, node: Term) -> bool:
        """Tell whether a node is the subject of an axiom, so that the rules may change with it."""
        subject = _to_node(node)
        return any(
            quad.predicate.value in _STATED_BY_PREDICATE
            or (quad.predicate.value == TYPE and str(getattr(quad.object, "value", "")) in _STATED_BY_TYPE)
            for graph in self.graphs
            for quad in self._store.quads_for_pattern(subject, None, None, graph)
        )

    def contribution_of(self, node: Term, rules: Rules, now: datetime) -> Contribution:
        """Return what a node contributes now; nothing when it is not there, or is a memory that does not hold."""
        stated: list[tuple[Triple, Support]] = []
        told: list[tuple[Triple, tuple[Triple, ...]]] = []
        grounds: list[tuple[Triple, Support]] = []
        names: list[Term] = []
        until: datetime | None = None
        for graph in self.graphs:
            triples = [_to_triple(quad) for quad in self._store.quads_for_pattern(_to_node(node), None, None, graph)]
            is_memory = graph in self._with_memories and (node, f"<{TYPE}>", f"<{MEM.Memory}>") in triples
            if is_memory:
                end = _earliest_end(triples)
                if end is not None and end <= now:
                    continue
                until = end if until is None else min(until, end or until)
            support = Support(str(graph), node if is_memory else None)
            for triple in triples:
                if not _takes_part(triple, rules):
                    continue
                if is_memory and triple[2].startswith("<"):
                    # A link between two memories holds as long as both do.
                    names.append(triple[2])
                    end = self._end_of(triple[2])
                    if end is not None and end <= now:
                        continue
                    until = end if until is None else min(until, end or until)
                stated.append((triple, support))
            if is_memory and rules.slots:
                for triple, because, named in self._read_slots(node, triples, rules):
                    told.append((triple, because))
                    grounds += [(one, support if one[0] == node else Support(str(graph))) for one in because[1:]]
                    names += named
        # A memory that is in two graphs says the same twice.
        return Contribution(tuple(stated), tuple(dict.fromkeys(told)), tuple(grounds), tuple(names), until)

    def names(self, node: Term) -> list[str]:
        """Return what a node is called, by the usual properties for that."""
        names = {
            str(getattr(quad.object, "value", "")): None
            for graph in self.graphs
            for predicate in _NAMES
            for quad in self._store.quads_for_pattern(_to_node(node), ox.NamedNode(predicate), None, graph)
        }
        return [name for name in names if name]

    def _end_of(self, node: Term) -> datetime | None:
        """Return when a memory is over or forgotten; None for what does not end."""
        subject = _to_node(node)
        return _earliest_end(
            _to_triple(quad)
            for graph in self._with_memories
            for end in _ENDS
            for quad in self._store.quads_for_pattern(subject, _to_node(end), None, graph)
        )

    def _read_slots(
        self, node: Term, triples: Sequence[Triple], rules: Rules
    ) -> Iterator[tuple[Triple, tuple[Triple, ...], list[Term]]]:
        """Yield what a memory's slot amounts to: the triple, the axiom and triples it rests on, and the entity it is read as."""
        own = {triple[1]: triple for triple in triples}
        subject, slot, value = (own.get(f"<{MEM[name]}>") for name in ("subject", "slot", "slotValue"))
        if not (subject and slot and value) or slot[2] not in rules.slots:
            return
        entities = list(self._find_named(value[2], [triple for triple in triples if triple[1] == f"<{MEM.about}>"]))
        for term, axiom in rules.slots[slot[2]]:
            for entity in entities:
                yield (subject[2], term, entity[0][2]), (axiom, subject, slot, value, *entity), [entity[0][2]]
            if not entities:
                yield (subject[2], term, value[2]), (axiom, subject, slot, value), []

    def _find_named(self, value: Term, about: Sequence[Triple]) -> Iterator[tuple[Triple, Triple]]:
        """Yield the entities among what a memory is about that go by a value: that it is about each, and that this is called so."""
        wanted = _literal_text(value).casefold()
        for triple in about:
            names = (
                quad
                for graph in self.graphs
                for predicate in (MEM.name, SKOS.altLabel)
                for quad in self._store.quads_for_pattern(_to_node(triple[2]), ox.NamedNode(predicate), None, graph)
            )
            named = next((one for one in names if str(getattr(one.object, "value", "")).casefold() == wanted), None)
            if named:
                yield triple, _to_triple(named)

    def _match(self, predicate: Term, value: Term | None, graph: ox.NamedNode) -> Iterator[ox.Quad]:
        return self._store.quads_for_pattern(None, _to_node(predicate), _to_term(value) if value else None, graph)


def load_builtin_axioms() -> list[Axiom]:
    """Return the axioms of `ontology/rules.ttl`, which need not be stated."""
    store = ox.Store()
    store.load(read("ontology/rules.ttl"), format=ox.RdfFormat.TURTLE, to_graph=ox.NamedNode(ONTOLOGY))
    return list(_read_axioms(store, ox.NamedNode(ONTOLOGY)))


def _read_axioms(store: ox.Store, graph: ox.NamedNode) -> Iterator[Axiom]:
    for kind in _STATED_BY_TYPE:
        for quad in store.quads_for_pattern(None, ox.NamedNode(TYPE), ox.NamedNode(kind), graph):
            yield Axiom(_to_triple(quad))
    for predicate in _STATED_BY_PREDICATE:
        for quad in store.quads_for_pattern(None, ox.NamedNode(predicate), None, graph):
            if predicate != OWL.propertyChainAxiom:
                yield Axiom(_to_triple(quad))
            elif members := _list_members(store, quad.object, graph):
                # A list has no name to be pointed at by: its members as text stand for it.
                shown = ox.Literal(" / ".join(members))
                yield Axiom((str(quad.subject), str(quad.predicate), str(shown)), members)


def _list_members(store: ox.Store, head: object, graph: ox.NamedNode) -> tuple[Term, ...]:
    """Return the members of an RDF list; none when it is broken or too long."""
    members: list[Term] = []
    while isinstance(head, ox.NamedNode | ox.BlankNode) and head != ox.NamedNode(RDF.nil):
        first = next(store.quads_for_pattern(head, ox.NamedNode(RDF.first), None, graph), None)
        rest = next(store.quads_for_pattern(head, ox.NamedNode(RDF.rest), None, graph), None)
        if (
            first is None
            or rest is None
            or not isinstance(first.object, ox.NamedNode)
            or len(members) == _LONGEST_CHAIN
        ):
            return ()
        members.append(str(first.object))
        head = rest.object
    return tuple(members)


def _takes_part(triple: Triple, rules: Rules) -> bool:
    """Tell whether rules use a triple; what has no name takes no part."""
    subject, predicate, value = triple
    if subject.startswith("_:") or value.startswith(("_:", "<<")):
        return False
    return predicate in rules.read or (predicate == f"<{TYPE}>" and value in rules.classes)


def _to_triple(quad: ox.Quad) -> Triple:
    value = f"<<( {quad.object} )>>" if isinstance(quad.object, ox.Triple) else str(quad.object)
    return (str(quad.subject), str(quad.predicate), value)


def _to_node(term: Term) -> ox.NamedNode:
    return ox.NamedNode(term[1:-1])


def _to_term(term: Term) -> ox.NamedNode | ox.Literal:
    return _to_node(term) if term.startswith("<") else ox.Literal(_literal_text(term))


def _literal_text(term: Term) -> str:
    """Return the text of a literal as N-Triples writes it."""
    [quad] = ox.parse(f"<urn:s> <urn:p> {term} .", ox.RdfFormat.N_TRIPLES)
    return str(getattr(quad.object, "value", ""))


def _earliest_end(triples: Iterable[Triple]) -> datetime | None:
    return min((_time(value) for _, predicate, value in triples if predicate in _ENDS), default=None)


def _time(term: Term) -> datetime:
    try:
        time = datetime.fromisoformat(_literal_text(term))
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
