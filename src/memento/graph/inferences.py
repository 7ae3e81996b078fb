"""
Keeps a graph of inferences for each reader, updated when it is read: what is inferred, with proofs, as lines to write.

A write only notes which nodes it touched; if it notes none, the count of writes reveals it, and everything is rebuilt. Before a
graph of inferences is read, the reader calls `refresh`, which looks at those nodes again and writes the differences into that
graph: a query sees what follows from every write before it. Each inferred triple has a statement node, and an inference for each
way in which it follows:

    ex:lisbon ex:partOf ex:europe .
    <urn:memento:inference:…> a mem:Inference ; mem:rule "prp-trp" ;
        mem:concludes <urn:memento:statement:…> ; mem:premise <urn:memento:statement:…> , …  .
    <urn:memento:statement:…> a rdf:Statement ; rdf:subject ex:lisbon ; rdf:predicate ex:partOf ; rdf:object ex:portugal ;
        mem:statedIn <urn:memento:data:local:places> .

A memory counts as long as it holds: one that has ended or is forgotten states nothing. What it claims (`mem:Claim`) counts, as long
as the claim holds too, as a fact of the properties that stand for the claim's relation (`mem:ofSlot`); the triples that say it are
the premises.

*Flow:* `PremiseReader` reads axioms and facts from the store, `closure` derives the conclusions, and `Inferences` writes them with
their proofs into one graph for each reader and updates it.

*Guarantees:* an updated graph equals one built from scratch. When a memory ends, is forgotten or erased, everything that rested on
it alone is removed, however many steps away; what has another proof stays. There are no blank nodes; the same triple and the same
proof have the same IRI in every store.

A stated triple is never inferred as well. A proof never rests on what it proves.

*But:* this is a subset of OWL 2 RL, and it reads only data properties that an axiom names: see docs/inference.md. Blank nodes are
ignored. After a start, and after a change of the axioms, the first reader waits until all premises have been read.
"""

from __future__ import annotations

import heapq
import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import pyoxigraph as ox

from memento.assets import read
from memento.graph.closure import (
    SAME_AS,
    TYPE,
    Axiom,
    Closure,
    Fact,
    Overflow,
    Rules,
    Term,
    Triple,
    rules_of,
    triple_of,
)
from memento.iris import IRI, MEM, ONTOLOGY, OWL, PROV, RDF, RDFS, SKOS, data_iri, inferred_iri
from memento.model import Inferred, Scope

if TYPE_CHECKING:
    from memento.graph.oxigraph import Oxigraph

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
    """Where a triple is stated: the graph, and the memory that states it, if any."""

    graph: Term
    memory: Term | None = None


@dataclass(frozen=True, slots=True)
class Contribution:
    """
    What one node contributes to the facts.

    `stated` are triples in the store. `from_slots` are those that a claim amounts to, each with the axiom and the triples that it
    rests on; `grounds` are these triples. The contribution may change when one of `names` changes. `until` is when a memory stops
    to state it, None if it does not end.
    """

    stated: tuple[tuple[Triple, Support], ...] = ()
    from_slots: tuple[tuple[Triple, tuple[Triple, ...]], ...] = ()
    grounds: tuple[tuple[Triple, Support], ...] = ()
    names: tuple[Term, ...] = ()
    until: datetime | None = None


class PremiseReader:
    """Reads premises for one reader: their graphs, and which of these have memories."""

    def __init__(self, store: ox.Store, graphs: Sequence[IRI], with_memories: Iterable[IRI]) -> None:
        self._store = store
        self.graphs = [ox.NamedNode(graph) for graph in graphs]
        self._with_memories = {ox.NamedNode(graph) for graph in with_memories}

    def axioms(self) -> dict[Axiom, list[Support]]:
        """Return every axiom that the graphs state, and the built-in ones, each with where it is stated."""
        supports: dict[Axiom, list[Support]] = {axiom: [Support(f"<{ONTOLOGY}>")] for axiom in load_builtin_axioms()}
        for graph in self.graphs:
            for axiom in _read_axioms(self._store, graph):
                supports.setdefault(axiom, []).append(Support(str(graph)))
        return supports

    def everything(self, rules: Rules, now: datetime) -> dict[Term, Contribution]:
        """Return what each node contributes now; without memories, in a fraction of the time that `contribution_of` takes."""
        stated_by: dict[Term, list[tuple[Triple, Support]]] = {}
        remembered: set[Term] = set()
        for graph in self.graphs:
            support = Support(str(graph))
            quads = chain(
                *(self._match(term, None, graph) for term in rules.read),
                *(self._match(TYPE, term, graph) for term in rules.classes),
            )
            if graph in self._with_memories:
                slots = chain(*(self._match(f"<{MEM.relationName}>", slot, graph) for slot in rules.slots))
                remembered.update(str(quad.subject) for quad in chain(quads, slots))
                continue
            for triple in map(_to_triple, quads):
                if _takes_part(triple, rules):
                    stated_by.setdefault(triple[0], []).append((triple, support))
        told = {node: self.contribution_of(node, rules, now) for node in remembered if node.startswith("<")}
        return {node: Contribution(tuple(stated)) for node, stated in stated_by.items() if node not in told} | told

    def states_axioms(self, node: Term) -> bool:
        """Tell whether a node is the subject of an axiom, so that a change to it may change the rules."""
        subject = _to_node(node)
        return any(
            quad.predicate.value in _STATED_BY_PREDICATE
            or (quad.predicate.value == RDF.type and str(getattr(quad.object, "value", "")) in _STATED_BY_TYPE)
            for graph in self.graphs
            for quad in self._store.quads_for_pattern(subject, None, None, graph)
        )

    def contribution_of(self, node: Term, rules: Rules, now: datetime) -> Contribution:
        """Return what a node contributes now; nothing if it does not exist, or is a memory that does not hold."""
        stated: list[tuple[Triple, Support]] = []
        told: list[tuple[Triple, tuple[Triple, ...]]] = []
        grounds: list[tuple[Triple, Support]] = []
        names: list[Term] = []
        until: datetime | None = None
        for graph in self.graphs:
            triples = [_to_triple(quad) for quad in self._store.quads_for_pattern(_to_node(node), None, None, graph)]
            memory = self._find_memory(node, triples) if graph in self._with_memories else None
            if memory and memory != node:
                names.append(memory)  # a claim holds as long as it and its memory do
            if memory:
                ends = [end for end in (_earliest_end(triples), self._end_of(memory)) if end]
                end = min(ends, default=None)
                if end is not None and end <= now:
                    continue
                until = end if until is None else min(until, end or until)
            support = Support(str(graph), memory)
            for triple in triples:
                if not _takes_part(triple, rules):
                    continue
                if memory and triple[2].startswith("<"):
                    # A link between two memories holds as long as both do.
                    names.append(triple[2])
                    end = self._end_of(triple[2])
                    if end is not None and end <= now:
                        continue
                    until = end if until is None else min(until, end or until)
                stated.append((triple, support))
            if memory and memory != node:
                for triple, because in _read_claim(triples, rules):
                    told.append((triple, because))
                    grounds += [(one, support) for one in because[1:]]
        # A memory in two graphs states the same twice.
        return Contribution(tuple(stated), tuple(dict.fromkeys(told)), tuple(grounds), tuple(names), until)

    def names(self, node: Term) -> list[str]:
        """Return the names of a node, by the usual naming properties."""
        names = {
            str(getattr(quad.object, "value", "")): None
            for graph in self.graphs
            for predicate in _NAMES
            for quad in self._store.quads_for_pattern(_to_node(node), ox.NamedNode(predicate), None, graph)
        }
        return [name for name in names if name]

    def _end_of(self, node: Term) -> datetime | None:
        """Return when a memory ends or is forgotten; None if it does not."""
        subject = _to_node(node)
        return _earliest_end(
            _to_triple(quad)
            for graph in self._with_memories
            for end in _ENDS
            for quad in self._store.quads_for_pattern(subject, _to_node(end), None, graph)
        )

    def _find_memory(self, node: Term, triples: Sequence[Triple]) -> Term | None:
        """Return the memory that a node is or that states it, if the node is a memory or a claim."""
        if (node, TYPE, f"<{MEM.Memory}>") in triples:
            return node
        if (node, TYPE, f"<{MEM.Claim}>") not in triples:
            return None
        return next((value for _, predicate, value in triples if predicate == f"<{MEM.statedBy}>"), None)

    def _match(self, predicate: Term, value: Term | None, graph: ox.NamedNode) -> Iterator[ox.Quad]:
        return self._store.quads_for_pattern(None, _to_node(predicate), _to_term(value) if value else None, graph)


def _read_claim(triples: Sequence[Triple], rules: Rules) -> Iterator[tuple[Triple, tuple[Triple, ...]]]:
    """Yield what a claim amounts to: a triple, and the axiom and the triples that it rests on; nothing if it is no fact."""
    own = {triple[1]: triple for triple in triples}
    owner, relation, entity, text, mood, polarity = (
        own.get(f"<{MEM[name]}>") for name in ("owner", "relationName", "value", "valueText", "mood", "polarity")
    )
    value = entity or text
    if not (owner and relation and value and mood and polarity):
        return
    if mood[2] == '"fact"' and _literal_text(polarity[2]) in ("true", "1"):
        for term, axiom in rules.slots.get(relation[2], ()):
            yield (owner[2], term, value[2]), (axiom, owner, relation, value)


def load_builtin_axioms() -> list[Axiom]:
    """Return the axioms of `ontology/rules.ttl`, which apply without being stated."""
    store = ox.Store()
    store.load(read("ontology/rules.ttl"), format=ox.RdfFormat.TURTLE, to_graph=ox.NamedNode(ONTOLOGY))
    return list(_read_axioms(store, ox.NamedNode(ONTOLOGY)))


def _read_axioms(store: ox.Store, graph: ox.NamedNode) -> Iterator[Axiom]:
    for kind in _STATED_BY_TYPE:
        for quad in store.quads_for_pattern(None, ox.NamedNode(RDF.type), ox.NamedNode(kind), graph):
            yield Axiom(_to_triple(quad))
    for predicate in _STATED_BY_PREDICATE:
        for quad in store.quads_for_pattern(None, ox.NamedNode(predicate), None, graph):
            if predicate != OWL.propertyChainAxiom:
                yield Axiom(_to_triple(quad))
            elif members := _list_members(store, quad.object, graph):
                # A list has no name to refer to: the text of its members stands for it.
                shown = ox.Literal(" / ".join(members))
                yield Axiom((str(quad.subject), str(quad.predicate), str(shown)), members)


def _list_members(store: ox.Store, head: object, graph: ox.NamedNode) -> tuple[Term, ...]:
    """Return the members of an RDF list; none if it is broken or too long."""
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
    """Tell whether rules use a triple; triples with blank nodes are ignored."""
    subject, predicate, value = triple
    if subject.startswith("_:") or value.startswith(("_:", "<<")):
        return False
    return predicate in rules.read or (predicate == TYPE and value in rules.classes)


def _to_triple(quad: ox.Quad) -> Triple:
    value = f"<<( {quad.object} )>>" if isinstance(quad.object, ox.Triple) else str(quad.object)
    return (str(quad.subject), str(quad.predicate), value)


def _to_node(term: Term) -> ox.NamedNode:
    return ox.NamedNode(term[1:-1])


def _to_term(term: Term) -> ox.NamedNode | ox.Literal:
    return _to_node(term) if term.startswith("<") else ox.Literal(_literal_text(term))


def _literal_text(term: Term) -> str:
    """Return the text of a literal given in N-Triples syntax."""
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


logger = logging.getLogger(__name__)

_MOST_TOUCHED = 20_000
"""From this number of touched nodes on, rebuilding everything is faster."""
_MOST_READERS = 8
"""Readers whose facts are kept in memory; another one evicts the one built first."""


@dataclass(slots=True)
class _ReaderEntry:
    """One reader's inferences, None until they are built, and the nodes touched since."""

    found: Materialisation | None
    graphs: tuple[IRI, ...]
    touched: set[IRI] = field(default_factory=set)
    is_stale: bool = False


class Inferences:
    """What follows, for every scope. Thread-safe."""

    def __init__(self, graph: Oxigraph, most: int) -> None:
        """
        Args:
            most: facts that may be derived for one reader; if more follow, nothing is inferred for that reader.
        """
        self._graph = graph
        self._most = most
        self._kept: dict[IRI, _ReaderEntry] = {}
        self._lock = threading.RLock()
        self._noting = threading.Lock()
        self._noted = graph.writes

    def note_write(self, nodes: Iterable[IRI] | None) -> None:
        """Note which nodes a write touched; None if it may be any."""
        with self._noting:
            self._noted += 1
            listed = None if nodes is None else list(nodes)
            for entry in self._kept.values():
                if listed is None or len(entry.touched) > _MOST_TOUCHED:
                    entry.is_stale, entry.touched = True, set()
                else:
                    entry.touched.update(listed)

    def current(self, scope: Scope, now: datetime) -> Inferred:
        """Update the graph of inferences of a scope and return its content; raise `GraphError`."""
        with self._lock:
            self.refresh(scope, now)
            return _summarise(scope, self._kept[scope.inferred])

    def kin(self, scope: Scope, now: datetime) -> Kin:
        """Return the relations between nodes in the graphs of a scope, by the properties that axioms name; raise `GraphError`."""
        with self._lock:
            self.refresh(scope, now)
            inferences = self._kept[scope.inferred].found
            with self._graph.reading():
                return inferences.kin() if inferences and inferences.is_complete else Kin()

    def refresh(self, scope: Scope, now: datetime) -> None:
        """Update the graph of inferences of a scope; raise `GraphError`."""
        with self._lock:
            kept = self._kept.get(scope.inferred)
            with self._noting:
                if (writes := self._graph.writes) > self._noted:
                    self._noted = writes
                    for entry in self._kept.values():
                        entry.is_stale = True
                touched, is_stale = (kept.touched, kept.is_stale) if kept else (set(), True)
                if kept:
                    kept.touched, kept.is_stale = set(), False
            if kept and not touched and not is_stale and not (kept.found and kept.found.due(now)):
                return
            try:
                self._update(scope, kept, touched, is_stale, now)
            except BaseException:
                self._kept.pop(scope.inferred, None)
                raise

    def forget_tenant(self, tenant: str) -> None:
        """Delete every graph of inferences of a tenant whose data is erased; the next read rebuilds them."""
        with self._lock:
            for graph in self._graph.graphs():
                if graph.startswith(inferred_iri(tenant, "")):
                    self._kept.pop(graph, None)
                    self._derive(graph, None, ())

    def close(self) -> None:
        """Release the store; calling it twice is harmless."""
        with self._lock, self._noting:
            self._kept.clear()

    def _update(
        self, scope: Scope, kept: _ReaderEntry | None, touched: set[IRI], is_stale: bool, now: datetime
    ) -> None:
        nodes = {f"<{node}>" if not node.startswith("_:") else node for node in touched}
        graphs = self._sources(scope) if kept is None or is_stale or touched else kept.graphs
        is_new = kept is None or is_stale or graphs != kept.graphs
        if is_new or kept is None or kept.found is None or self._is_outdated(kept.found, nodes):
            self._build(scope, graphs, now)
        elif not kept.found.is_complete:
            with self._graph.reading():
                is_concerned = kept.found.concerns(nodes, now)
            if is_concerned:
                self._build(scope, graphs, now)
        else:
            try:
                with self._graph.reading():
                    gone, come = kept.found.follow_changes(nodes, now)
            except Overflow:
                self._build(scope, graphs, now)  # removed facts may have made room: only a rebuild can tell
            else:
                self._derive(scope.inferred, gone, come)

    def _build(self, scope: Scope, graphs: tuple[IRI, ...], now: datetime) -> None:
        # Stored before it is read, so that a concurrent write leaves its note.
        kept = _ReaderEntry(None, graphs)
        with self._noting:
            self._kept.pop(scope.inferred, None)
            while len(self._kept) >= _MOST_READERS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[scope.inferred] = kept
        with self._graph.reading() as store:
            kept.found = Materialisation(PremiseReader(store, graphs, scope.memory_graphs), self._most, now)
            wanted = set(kept.found.follow_changes((), now)[1]) if kept.found.is_complete else set()
        if not kept.found.is_complete:
            logger.warning("inference.given-up", extra={"graph": scope.inferred, "most": self._most})
        there = set(self._graph.lines(scope.inferred))
        self._derive(scope.inferred, sorted(there - wanted), sorted(wanted - there))

    def _derive(self, graph: IRI, gone: Sequence[Line] | None, come: Sequence[Line]) -> None:
        """Write derived lines without noting them as a write; None removes the whole graph."""
        if gone is None:
            self._graph.drop_graph(graph)
        elif gone or come:
            self._graph.derive(graph, gone, come)
        else:
            return
        with self._noting:
            self._noted += 1

    def _is_outdated(self, inferences: Materialisation, nodes: Iterable[str]) -> bool:
        with self._graph.reading():
            return inferences.is_outdated(nodes)

    def _sources(self, scope: Scope) -> tuple[IRI, ...]:
        """Return the graphs that premises are read from: memories, the user, and the free graphs that the reader sees."""
        every = (graph for graph in self._graph.graphs() if graph.startswith(data_iri(scope.tenant, "")))
        free = [graph for graph in every if scope.free is None or graph in scope.free]
        return (*scope.memory_graphs, *scope.user_graphs, *free)


def _summarise(scope: Scope, kept: _ReaderEntry) -> Inferred:
    inferences = kept.found
    if inferences is None or not inferences.is_complete:
        return Inferred(namespace=scope.namespace, graph=scope.inferred, is_complete=False)
    return Inferred(
        namespace=scope.namespace,
        graph=scope.inferred,
        triples=inferences.triples,
        contradictions=inferences.contradictions,
        by_rule=inferences.by_rule,
    )


K = TypeVar("K")
V = TypeVar("V")

_NOTHING = Contribution()


class Materialisation:
    """The inferences of one reader; if more follow than allowed, there are none and `is_complete` is False."""

    def __init__(self, reader: PremiseReader, most: int, now: datetime) -> None:
        self.reader = reader
        self._axioms = reader.axioms()
        self.rules: Rules = rules_of(self._axioms)
        self._axiom_supports = {axiom.triple: supports for axiom, supports in self._axioms.items()}
        self._closure = Closure(self.rules, most)
        self._page = ProofGraph()
        self._kin: Kin | None = None
        self._said: dict[Term, Contribution] = {}
        self._stated: dict[Triple, dict[Support, None]] = {}
        self._from_slots: dict[Triple, dict[tuple[Triple, ...], None]] = {}
        self._grounds: dict[Triple, dict[Support, int]] = {}
        self._ends: list[tuple[datetime, Term]] = []
        self._leaning: dict[Term, set[Term]] = {}  # a node → the memories and claims that hold only as long as it does
        self.is_complete = True
        try:
            self._apply(reader.everything(self.rules, now) if self.rules.read else {})
        except Overflow:
            self.is_complete = False

    @property
    def triples(self) -> int:
        """The number of inferred triples."""
        return len(self._page.proofs)

    @property
    def contradictions(self) -> int:
        return len(self._page.contradictions)

    @property
    def by_rule(self) -> dict[str, int]:
        """The number of inferences by the name of their rule."""
        return dict(Counter(proof[0] for proofs in self._page.proofs.values() for proof in proofs))

    def kin(self) -> Kin:
        """Return the relations between nodes, cached until they change."""
        if self._kin is None:
            self._kin = kin_of(self._closure.facts, self.reader)
        return self._kin

    def is_outdated(self, nodes: Iterable[Term]) -> bool:
        """Tell whether a change to some nodes may have changed the axioms, so that everything must be rebuilt."""
        known = {one.triple[0] for one in self._axioms}
        return any(node in known or node.startswith("_:") or self.reader.states_axioms(node) for node in nodes)

    def concerns(self, nodes: Iterable[Term], now: datetime) -> bool:
        """Tell whether some nodes contribute, or did."""
        known = (node in self._said or self.reader.contribution_of(node, self.rules, now) != _NOTHING for node in nodes)
        return any(known)

    def follow_changes(self, nodes: Iterable[Term], now: datetime) -> tuple[list[Line], list[Line]]:
        """
        Return the lines to remove and to add after some nodes have changed, or time has passed.

        Args:
            nodes: all nodes of which statements may have come or gone.

        Raises:
            Overflow: more follows than allowed; do not use this object any more.
        """
        if self.rules.read:
            changed = set(nodes)
            while self._ends and self._ends[0][0] <= now:
                changed.add(heapq.heappop(self._ends)[1])
            changed |= {memory for node in list(changed) for memory in self._leaning.get(node, ())}
            self._apply(
                {node: self.reader.contribution_of(node, self.rules, now) for node in changed if node.startswith("<")}
            )
        return self._page.take_changes(self._supports)

    def due(self, now: datetime) -> bool:
        """Tell whether a memory has ended since the last update."""
        return bool(self._ends) and self._ends[0][0] <= now

    def _apply(self, said: dict[Term, Contribution]) -> None:
        gone: set[Triple] = set()
        come: set[Triple] = set()
        shifted: set[Triple] = set()
        for node, after in said.items():
            before = self._said.pop(node, _NOTHING)
            if before == after:
                if after is not _NOTHING:
                    self._said[node] = after
                continue
            touched = {one[0] for one in (*before.stated, *after.stated, *before.from_slots, *after.from_slots)}
            held = {triple for triple in touched if self._holds(triple)}
            self._withdraw(node, before)
            self._state(node, after)
            shifted |= touched | {one[0] for one in (*before.grounds, *after.grounds)}
            for triple in touched:
                if self._holds(triple) != (triple in held):
                    # Nodes of one change may remove a triple and add it again.
                    (gone if triple in held else come).add(triple)
        gone = {triple for triple in gone if not self._holds(triple)}
        come = {triple for triple in come if self._holds(triple)}
        if shifted:
            self._kin = None
        entered = self.rules.fact_of
        changed = self._closure.change(map(entered, sorted(gone)), map(entered, sorted(come)))
        conclusions = {found for fact in changed if (found := triple_of(fact)) is not None}
        for triple in shifted | conclusions:
            self._page.prove(triple, self._proofs(triple))
        self._page.restate(shifted)
        for predicate, axiom in self.rules.functional.items():
            for subject in {triple[0] for triple in shifted | conclusions if triple[1] == predicate}:
                self._page.contradict(subject, predicate, self._different(predicate, subject), axiom)

    def _holds(self, triple: Triple) -> bool:
        return triple in self._stated or triple in self._from_slots

    def _state(self, node: Term, said: Contribution) -> None:
        if said == _NOTHING:
            return
        self._said[node] = said
        for triple, support in said.stated:
            self._stated.setdefault(triple, {})[support] = None
        for triple, because in said.from_slots:
            self._from_slots.setdefault(triple, {})[because] = None
        for triple, support in said.grounds:
            counted = self._grounds.setdefault(triple, {})
            counted[support] = counted.get(support, 0) + 1
        for name in said.names:
            self._leaning.setdefault(name, set()).add(node)
        if said.until:
            heapq.heappush(self._ends, (said.until, node))

    def _withdraw(self, node: Term, said: Contribution) -> None:
        for triple, support in said.stated:
            _remove_from(self._stated, triple, support)
        for triple, because in said.from_slots:
            _remove_from(self._from_slots, triple, because)
        for triple, support in said.grounds:
            counted = self._grounds[triple]
            counted[support] -= 1
            if counted[support] <= 0:
                _remove_from(self._grounds, triple, support)
        for name in said.names:
            self._leaning.get(name, set()).discard(node)

    def _proofs(self, triple: Triple) -> tuple[Proof, ...]:
        """Return every way in which a triple follows; none if it is stated, or says that two names mean the same."""
        if triple in self._stated or triple[1] == SAME_AS:
            return ()
        told = [("slot", because) for because in self._from_slots.get(triple, ())]
        derived = [
            (rule.name, (rule.axiom, *premises) if rule.axiom else premises)
            for rule, premises in self._closure.proofs(triple)
        ]
        return (*sorted(told), *derived)

    def _different(self, predicate: Term, subject: Term) -> list[Term]:
        """Return the distinct values of a property of a subject; of names that mean the same, only the first."""
        values: list[Term] = []
        known: set[Term] = set()
        for value in sorted(self._closure.values(predicate, subject)):
            if value not in known:
                values.append(value)
                known |= self._closure.same(value)
        return values

    def _supports(self, triple: Triple) -> list[Support]:
        supports = [
            *self._stated.get(triple, ()),
            *self._grounds.get(triple, ()),
            *self._axiom_supports.get(triple, ()),
        ]
        return list(dict.fromkeys(supports))


def _remove_from(table: dict[Triple, dict[K, V]], key: Triple, value: K) -> None:
    values = table[key]
    del values[value]
    if not values:
        del table[key]


Proof = tuple[str, tuple[Triple, ...]]
"""The name of a rule, and the triples it was applied to, its axiom first."""

Line = Triple

_STATEMENT, _INFERENCE, _CONTRADICTION = f"<{RDF.Statement}>", f"<{MEM.Inference}>", f"<{MEM.Contradiction}>"
_SUBJECT, _PREDICATE, _OBJECT = f"<{RDF.subject}>", f"<{RDF.predicate}>", f"<{RDF.object}>"
_RULE, _CONCLUDES, _PREMISE = f"<{MEM.rule}>", f"<{MEM.concludes}>", f"<{MEM.premise}>"
_STATED_IN, _DERIVED_FROM = f"<{MEM.statedIn}>", f"<{PROV.wasDerivedFrom}>"


def statement_iri(triple: Triple) -> Term:
    """Return the IRI of the statement node of a triple."""
    return _mint_iri("statement", triple)


def inference_iri(triple: Triple, proof: Proof) -> Term:
    """Return the IRI of one way in which a triple follows."""
    return _mint_iri("inference", (*triple, proof[0], *(term for premise in proof[1] for term in premise)))


def contradiction_iri(subject: Term, predicate: Term, values: Collection[Term]) -> Term:
    """Return the IRI of a contradiction: several values of a property that allows one."""
    return _mint_iri("contradiction", (subject, predicate, *sorted(values)))


class ProofGraph:
    """What is written about one reader's inferences, and the changes that are not written yet."""

    def __init__(self) -> None:
        self.proofs: dict[Triple, tuple[Proof, ...]] = {}
        self.contradictions: dict[tuple[Term, Term], tuple[frozenset[Term], Triple]] = {}
        self._spoken_of: Counter[Triple] = Counter()
        self._described: dict[Triple, tuple[Line, ...]] = {}
        self._again: set[Triple] = set()
        self._net: Counter[Line] = Counter()

    def prove(self, triple: Triple, proofs: tuple[Proof, ...]) -> None:
        """Write how a triple follows, replacing what was written; without proofs, remove it."""
        before = self.proofs.pop(triple, ())
        if proofs:
            self.proofs[triple] = proofs
        if bool(proofs) != bool(before):
            self._net[triple] += 1 if proofs else -1
            self._speak_of(triple, 1 if proofs else -1)
        for sign, some in ((-1, before), (1, proofs)):
            for proof in some:
                self._add(_inference_lines(triple, proof), sign)
                for premise in proof[1]:
                    self._speak_of(premise, sign)

    def contradict(self, subject: Term, predicate: Term, values: Collection[Term], axiom: Triple | None) -> None:
        """
        Write that a property that allows one value has several, replacing what was written; nothing for fewer than two values.
        """
        before = self.contradictions.pop((subject, predicate), None)
        if before:
            self._add_contradiction(subject, predicate, before, -1)
        if axiom and len(values) > 1:
            contradiction = frozenset(values), axiom
            self.contradictions[subject, predicate] = contradiction
            self._add_contradiction(subject, predicate, contradiction, 1)

    def restate(self, triples: Iterable[Triple]) -> None:
        """Check again where some triples are stated."""
        self._again.update(triples)

    def take_changes(self, supports: Callable[[Triple], Collection[Support]]) -> tuple[list[Line], list[Line]]:
        """Return the lines to remove and to add since the last call."""
        for triple in self._again:
            before = self._described.pop(triple, ())
            after = _statement_lines(triple, supports(triple)) if self._spoken_of[triple] > 0 else ()
            if after:
                self._described[triple] = after
            else:
                del self._spoken_of[triple]
            if after != before:
                self._add(before, -1)
                self._add(after, 1)
        self._again.clear()
        gone = [line for line, count in self._net.items() if count < 0]
        come = [line for line, count in self._net.items() if count > 0]
        self._net.clear()
        return gone, come

    def _add_contradiction(
        self, subject: Term, predicate: Term, contradiction: tuple[frozenset[Term], Triple], sign: int
    ) -> None:
        values, axiom = contradiction
        node = contradiction_iri(subject, predicate, values)
        premises = [axiom, *((subject, predicate, value) for value in sorted(values))]
        lines = [(node, TYPE, _CONTRADICTION), (node, _SUBJECT, subject), (node, _PREDICATE, predicate)]
        lines += [(node, _OBJECT, value) for value in values]
        self._add([*lines, *((node, _PREMISE, statement_iri(premise)) for premise in premises)], sign)
        for premise in premises:
            self._speak_of(premise, sign)

    def _speak_of(self, triple: Triple, sign: int) -> None:
        self._spoken_of[triple] += sign
        self._again.add(triple)

    def _add(self, lines: Iterable[Line], sign: int) -> None:
        for line in lines:
            self._net[line] += sign


def _inference_lines(triple: Triple, proof: Proof) -> list[Line]:
    node = inference_iri(triple, proof)
    lines = [(node, TYPE, _INFERENCE), (node, _RULE, f'"{proof[0]}"'), (node, _CONCLUDES, statement_iri(triple))]
    return [*lines, *((node, _PREMISE, statement_iri(one)) for one in dict.fromkeys(proof[1]))]


def _statement_lines(triple: Triple, supports: Collection[Support]) -> tuple[Line, ...]:
    node, (subject, predicate, value) = statement_iri(triple), triple
    lines = [(node, TYPE, _STATEMENT), (node, _SUBJECT, subject), (node, _PREDICATE, predicate), (node, _OBJECT, value)]
    for support in supports:
        lines.append((node, _STATED_IN, support.graph))
        if support.memory:
            lines.append((node, _DERIVED_FROM, support.memory))
    return tuple(sorted(set(lines)))


def _mint_iri(kind: str, terms: Iterable[Term]) -> Term:
    return f"<urn:memento:{kind}:{sha256(' '.join(terms).encode()).hexdigest()[:32]}>"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Kin:
    """`beside` has the neighbours of each node in both directions; `names` its labels in any language."""

    beside: Mapping[IRI, frozenset[IRI]] = field(default_factory=dict)
    names: Mapping[IRI, tuple[str, ...]] = field(default_factory=dict)


def kin_of(facts: Iterable[Fact], reader: PremiseReader) -> Kin:
    """Collect the relations between nodes from some facts; literals and classes are left out."""
    beside: dict[IRI, set[IRI]] = {}
    for fact in facts:
        triple = triple_of(fact)
        if triple is None or fact[0].startswith("a ") or not triple[2].startswith("<"):
            continue
        first, other = _iri_of(triple[0]), _iri_of(triple[2])
        if first != other:
            beside.setdefault(first, set()).add(other)
            beside.setdefault(other, set()).add(first)
    names = {node: tuple(reader.names(f"<{node}>")) for node in beside}
    return Kin({node: frozenset(others) for node, others in beside.items()}, names)


def _iri_of(term: Term) -> IRI:
    return IRI(term[1:-1])
