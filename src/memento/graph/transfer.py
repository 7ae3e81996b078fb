"""
Import and export of parts of a dataset: a staging store for a document until it is validated and poured into the real store; what
one namespace needs to be complete; vectors beside their nodes.

*Guarantees:* `pour` is atomic; before it, nothing of the document is in the real store.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, product
from pathlib import Path

import pyoxigraph as ox

from memento.errors import Conflict, Forbidden, InputError
from memento.graph import originals
from memento.graph.oxigraph import translate_failures
from memento.graph.shapes import Violation, looked_back, violations_of
from memento.graph.store import Store, graph_of
from memento.graph.terms import to_node, to_term, to_value
from memento.iris import CASES, IRI, MEM, PROV, TYPE, XSD
from memento.model import Quad, Value

VECTORS = IRI("urn:memento:vectors")
"""The graph of vectors in the staging store; the real store never has it."""

_FREE = "urn:memento:data:"
_OF_VECTORS = (MEM.embedding, MEM.hasStateEmbedding, MEM.embeddedBy, MEM.embeddedHash)
_STAYS = (MEM.name, MEM.entityType, MEM.description, MEM.isWellKnown, MEM.updatedAt)
"""Predicates with one value per anchor: a known value stays."""
_PROGRESS = frozenset(
    {
        *(MEM.state, MEM.attempts, MEM.error, MEM.reason, MEM.retryAt, MEM.tokens, MEM.isIsolated),
        *(PROV.startedAtTime, PROV.endedAtTime),
    }
)
"""Predicates for the progress of a note or a run: for existing ones the known value stays."""
_USED = (
    *(MEM.accessCount, MEM.lastAccessedAt, MEM.successCount, MEM.failureCount, MEM.usefulness),
    *(MEM.depth, MEM.importance, MEM.energy, MEM.energyAt, MEM.weight, MEM.lastReinforcedAt),
    *(MEM.at, MEM.halfLife, MEM.archivedAt, MEM.expiredAt, MEM.rendered, MEM.renderedAt),
)
"""Predicates with one value per node of a graph of memories, which use and time change: a known value stays."""
_RUNS = "urn:memento:provenance:"
_MEMORIES = "urn:memento:graph:"
_MANY = 500_000  # more quads are written as new files, which needs no memory
_BODIES = (MEM.Memory, MEM.Note)
"""The types of nodes with a text."""
_AT_ONCE = 10_000  # quads validated together, besides those of their neighbours


class StagingStore:
    """The quads of a document, by their target graphs."""

    def __init__(self, folder: Path | None = None) -> None:
        """
        Args:
            folder: for many quads; None keeps them in memory.
        """
        with translate_failures():
            self._store = ox.Store(folder) if folder else ox.Store()

    def fill(
        self, quads: Iterable[ox.Quad], placed: Callable[[str], IRI | None], renamed: Mapping[str, IRI]
    ) -> Counter[str]:
        """
        Read quads, each into the graph that `placed` returns for its graph name ("" outside of any); None skips it.

        Args:
            renamed: nodes that have another name here.

        Returns:
            the number of quads by graph name.

        Raises:
            InputError: from `quads` or `placed`, or a blank node in a graph of memories.
        """
        counted: Counter[str] = Counter()
        graphs: dict[str, ox.NamedNode | None] = {}
        vectors = ox.NamedNode(VECTORS)

        def relocate_quads() -> Iterator[ox.Quad]:
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
                subject, value = _rename_term(quad.subject, renamed), _rename_term(quad.object, renamed)
                yield ox.Quad(subject, quad.predicate, value, graph)  # type: ignore[arg-type]  # a node stays a node

        with translate_failures():
            self._store.bulk_extend(relocate_quads())
        return counted

    def add_own(self, quads: Iterable[Quad]) -> None:
        """Add quads of our own, to be poured with the document."""
        for subject, predicate, value, graph in quads:
            self._store.add(ox.Quad(to_node(subject), ox.NamedNode(predicate), to_term(value), ox.NamedNode(graph)))

    def subjects(self, begin: str) -> list[tuple[IRI, IRI]]:
        """Return (subject, graph) of all subjects in graphs whose names begin with `begin`."""
        places = dict.fromkeys((_iri_of(quad.subject), _graph_of(quad)) for quad in self._quads())
        return [place for place in places if place[1].startswith(begin)]

    def list_quads(self) -> Iterator[ox.Quad]:
        """Yield the quads to pour."""
        return self._quads()

    def rename(self, names: Mapping[IRI, IRI]) -> None:
        """Rename nodes wherever they occur."""
        for old, new in names.items():
            node, other = ox.NamedNode(old), {str(old): new}
            quads = [*self._store.quads_for_pattern(node, None, None), *self._store.quads_for_pattern(None, None, node)]
            for quad in quads:
                subject, value = _rename_term(quad.subject, other), _rename_term(quad.object, other)
                self._store.remove(quad)
                self._store.add(ox.Quad(subject, quad.predicate, value, quad.graph_name))  # type: ignore[arg-type]

    def drop_settled(self, real: Store) -> int:
        """
        Drop quads for which the real store has another value that takes precedence; return their number.

        Known values of cases and look-ups take precedence: mean values, rewards and the states of steps change with use. So do
        those of memories and links: how often they were used, and how strong they are by now.
        """
        gone, known = [], dict[tuple[str, str], bool]()
        for quad in self._quads():
            place = (_iri_of(quad.subject), _graph_of(quad))
            if place[1].startswith(CASES):
                if place not in known:
                    known[place] = any(True for _ in real.match(place[0], graph=place[1]))
                if known[place] and not real.holds(quad):
                    gone.append(quad)
            elif quad.predicate.value in _PROGRESS and place[1].startswith((_MEMORIES, _RUNS)):
                if place not in known:
                    known[place] = any(True for _ in real.match(place[0], TYPE, graph=place[1]))
                if known[place] and not real.holds(quad):
                    gone.append(quad)
        for predicate in map(ox.NamedNode, _STAYS):
            for quad in self._store.quads_for_pattern(None, predicate, None):
                if _has_another(real, quad):
                    gone.append(quad)
        for predicate in map(ox.NamedNode, _USED):
            for quad in self._store.quads_for_pattern(None, predicate, None):
                if _graph_of(quad).startswith(_MEMORIES) and _has_another(real, quad):
                    gone.append(quad)
        for quad in gone:
            self._store.remove(quad)
        return len(gone)

    def raise_if_rewriting(self, real: Store, name: str) -> None:
        """
        Raise if the document would change what was said in the real store, or who made memories of it.

        Args:
            name: the document's name in errors.

        Raises:
            Forbidden: a memory graph of the document describes a run.
            Conflict: an existing node would get other original words or another origin.
        """
        known = dict[tuple[IRI, IRI], frozenset[IRI]]()
        for quad in self._quads():
            place = (_iri_of(quad.subject), _graph_of(quad))
            if place[1].startswith(_MEMORIES):
                if originals.tells_of_a_run(quad):
                    raise Forbidden(
                        f"{name} was not taken: <{place[1]}> tells of a run, which the provenance graph does"
                    )
                if place not in known:
                    types = originals.types_of(real.match(place[0], TYPE, graph=place[1]))
                    known[place] = originals.fixed_predicates(types)
                is_fixed = quad.predicate.value in known[place]
            elif place[1].startswith(_RUNS):
                is_fixed = _is_about_known(quad, place[1], real)
            else:
                continue
            if is_fixed and not real.holds(quad):
                raise Conflict(
                    f"{name} was not taken: <{place[0]}> is here already, and what was said or who made what of it stays as it is"
                )

    def fresh(self, real: Store) -> Counter[tuple[IRI, IRI]]:
        """Return (subject, graph) → the number of quads that the real store does not have yet."""
        counted: Counter[tuple[IRI, IRI]] = Counter()
        with translate_failures():
            for quad in self._quads():
                if not real.holds(quad):
                    counted[_iri_of(quad.subject), _graph_of(quad)] += 1
        return counted

    def describe(self, subject: IRI) -> dict[IRI, list[Value]]:
        """Return what the document states about a node: predicate → values."""
        values: dict[IRI, list[Value]] = {}
        for quad in self._statements_about(subject):
            values.setdefault(IRI(quad.predicate.value), []).append(to_value(quad.object))
        return values

    def list_of_type(self, type_: IRI) -> Iterator[tuple[IRI, IRI]]:
        """Yield (subject, graph) of the nodes of a type."""
        for quad in self._store.quads_for_pattern(None, ox.NamedNode(TYPE), ox.NamedNode(type_)):
            yield _iri_of(quad.subject), _graph_of(quad)

    def vector(self, subject: IRI) -> dict[str, str]:
        """
        Return what the document states about a node's vectors: `embedding` or `hasStateEmbedding`, `embeddedBy`, `embeddedHash`.
        """
        quads = self._store.quads_for_pattern(ox.NamedNode(subject), None, None, ox.NamedNode(VECTORS))
        return {
            quad.predicate.value.removeprefix(MEM.base): quad.object.value
            for quad in quads
            if isinstance(quad.object, ox.Literal)
        }

    def find_violations(
        self, subjects: Sequence[IRI], real: Store, graphs: Collection[IRI], progress: Callable[[int], None]
    ) -> list[Violation]:
        """
        Return the violations of these nodes with the document in the real store; some 10 ms for a memory and its note.

        Args:
            graphs: the graphs of the real store to include.
            progress: called during the work with the number of validated nodes.
        """
        violations: list[Violation] = []
        batch: dict[IRI, set[ox.Quad]] = {}
        count = 0
        by_age = sorted(subjects, key=lambda iri: iri.rsplit(":", 1)[-1])  # related nodes come together
        for done, subject in enumerate(by_age):
            batch[subject] = set(self._merge_statements(subject, real, graphs))
            count += len(batch[subject])
            if count >= _AT_ONCE:
                violations += self._judge_batch(batch, real, graphs)
                batch, count = {}, 0
                progress(done)
        return sorted(violations + self._judge_batch(batch, real, graphs))

    def pour(self, real: Store, subjects: Sequence[IRI]) -> None:
        """Write everything into the real store, atomically."""
        real.extend(self._quads(), subjects, many=len(self._store) > _MANY)

    def _judge_batch(self, batch: Mapping[IRI, set[ox.Quad]], real: Store, graphs: Collection[IRI]) -> list[Violation]:
        """
        Return the violations of some nodes. They are validated with the nodes they refer to, those that refer to them if shapes
        look back, and the types of what these refer to.
        """
        if not batch:
            return []
        own = set().union(*batch.values())
        near = _object_iris(own)
        for subject, predicate in product(batch, looked_back()):
            pointing = self._store.quads_for_pattern(None, ox.NamedNode(predicate), ox.NamedNode(subject))
            known = (real.match(predicate=predicate, value=subject, graph=graph) for graph in graphs)
            near |= {_iri_of(quad.subject) for quad in chain(pointing, *known)}
        near -= batch.keys()
        beside = {quad for node in near for quad in self._merge_statements(node, real, graphs)}
        far = _object_iris(beside) - near - batch.keys()
        types = {
            quad for node in far for quad in self._merge_statements(node, real, graphs) if quad.predicate.value == TYPE
        }
        return [fault for fault in violations_of(own | beside | types) if fault.focus in batch]

    def _merge_statements(self, subject: IRI, real: Store, graphs: Collection[IRI]) -> Iterator[ox.Quad]:
        yield from self._statements_about(subject)
        for graph in graphs:
            yield from real.match(subject, graph=graph)

    def _statements_about(self, subject: IRI) -> Iterator[ox.Quad]:
        """Yield what memory graphs state about a node; RDF of users may state anything about it."""
        for quad in self._store.quads_for_pattern(to_node(subject), None, None):
            if not str(getattr(quad.graph_name, "value", "")).startswith((VECTORS, _FREE)):
                yield quad

    def _quads(self) -> Iterator[ox.Quad]:
        vectors = ox.NamedNode(VECTORS)
        return (quad for quad in self._store if quad.graph_name != vectors)


def _is_about_known(quad: ox.Quad, graph: IRI, real: Store) -> bool:
    """Tell whether a provenance statement is about a known run or agent, or says who made a known node."""
    if any(True for _ in real.match(_iri_of(quad.subject), TYPE, graph=graph)):
        return True
    if quad.predicate.value not in (PROV.used, PROV.generated):
        return False
    return any(graph_of(said).startswith(_MEMORIES) for said in real.match(_iri_of(quad.object), TYPE))


def _has_another(store: Store, quad: ox.Quad) -> bool:
    """Tell whether a store has other values for the quad's subject and predicate in its graph, but not this one."""
    known = store.match(_iri_of(quad.subject), quad.predicate.value, graph=_graph_of(quad))
    return any(True for _ in known) and not store.holds(quad)


def _object_iris(quads: Iterable[ox.Quad]) -> set[IRI]:
    return {_iri_of(quad.object) for quad in quads if isinstance(quad.object, ox.NamedNode)}


def _rename_term(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple, names: Mapping[str, IRI]) -> object:
    if isinstance(term, ox.NamedNode) and term.value in names:
        return ox.NamedNode(names[term.value])
    return term


def _iri_of(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> IRI:
    return IRI(term.value if isinstance(term, ox.NamedNode) else str(term))


def _graph_of(quad: ox.Quad) -> IRI:
    return IRI(str(getattr(quad.graph_name, "value", "")))


Statement = ox.Quad
"""One quad of the engine."""
Statements = Iterable[ox.Quad]
"""Quads of the engine, grouped by subject."""


@dataclass(frozen=True, slots=True)
class NodeVectors:
    """The vectors of one node as float32 bytes, one window after the other; their embedder, and a hash of the embedded text."""

    data: bytes
    fingerprint: str
    digest: bytes


def add_vectors(quads: Statements, vector_of: Callable[[IRI], NodeVectors | None]) -> Iterator[ox.Quad]:
    """Yield the quads, each subject's followed by its vectors; the quads of one subject must come together."""
    for subject, said in groupby(quads, key=lambda quad: quad.subject):
        graph: ox.NamedNode | ox.BlankNode | ox.DefaultGraph = ox.DefaultGraph()
        for quad in said:
            graph = quad.graph_name
            yield quad
        if isinstance(subject, ox.NamedNode) and (vector := vector_of(IRI(subject.value))):
            encoded = ox.Literal(b64encode(vector.data).decode(), datatype=ox.NamedNode(XSD.base64Binary))
            is_state = str(getattr(graph, "value", "")).startswith(CASES)
            predicate = MEM.hasStateEmbedding if is_state else MEM.embedding
            yield ox.Quad(subject, ox.NamedNode(predicate), encoded, graph)
            yield ox.Quad(subject, ox.NamedNode(MEM.embeddedBy), ox.Literal(vector.fingerprint), graph)
            yield ox.Quad(subject, ox.NamedNode(MEM.embeddedHash), ox.Literal(vector.digest.hex()), graph)


def excerpt(real: Store, own: Sequence[IRI], provenance: IRI, beside: IRI | None) -> list[Statements]:
    """
    Return what some memory graphs need to be complete: the graphs themselves; the runs that made their content, with their agents;
    and from the graph `beside` the nodes they refer to, such as entities shared by all namespaces, and what those refer to.
    """
    known = {_to_iri(quad.subject) for graph in own for quad in real.match(graph=graph) if is_iri(quad.subject)}
    made, agents = _find_runs(real, known, provenance)
    parts: list[Statements] = [real.match(graph=graph) for graph in own]
    if beside is not None and beside not in own:
        parts.append(_walk_from(real, known, own, beside))
    parts.append(quad for iri in sorted(made | agents) for quad in real.match(iri, graph=provenance))
    return parts


def excerpt_memories(
    real: Store, own: Sequence[IRI], provenance: IRI, beside: IRI | None, memories: Collection[IRI]
) -> list[Statements]:
    """
    Return what some memories need to be complete: the memories and their notes, without references to other memories and notes;
    links and invalidations only among them; the runs that made them; and what all of that refers to, also in `beside`.
    """
    bodies, pointing, notes = set[IRI](), dict[IRI, set[IRI]](), set[IRI]()
    for graph in own:
        for quad in real.match(graph=graph):
            if quad.predicate.value == TYPE and getattr(quad.object, "value", "") in _BODIES:
                bodies.add(_to_iri(quad.subject))
            elif is_iri(quad.object):
                pointing.setdefault(_to_iri(quad.subject), set()).add(_to_iri(quad.object))
                if quad.predicate.value == MEM.extractedFrom and _to_iri(quad.subject) in memories:
                    notes.add(_to_iri(quad.object))
    chosen = {*memories, *notes}
    links = {
        one for one, ends in pointing.items() if one not in bodies and ends & chosen and not ends & bodies - chosen
    }
    kept, further = set[IRI](), {*chosen, *links}
    while further:
        kept |= further
        further = {end for one in further for end in pointing.get(one, ())} - bodies - kept
    left_out = bodies - chosen

    def pick(quads: Iterable[ox.Quad]) -> Statements:
        return (quad for quad in quads if _to_iri(quad.object) not in left_out)

    made, agents = _find_runs(real, chosen, provenance)
    parts: list[Statements] = [
        pick(quad for iri in sorted(kept) for graph in own for quad in real.match(iri, graph=graph)),
        pick(quad for iri in sorted(made | agents) for quad in real.match(iri, graph=provenance)),
    ]
    if beside is not None and beside not in own:
        known = {one for one in pointing if one in kept}
        wanted = {end for one in known for end in pointing[one]} - bodies - known
        parts.append(_follow(real, wanted, known, beside))
    return parts


def _find_runs(real: Store, known: set[IRI], provenance: IRI) -> tuple[set[IRI], set[IRI]]:
    """Return the runs about known nodes, and their agents."""
    made, agents = set(), set()
    for run, said in groupby(real.match(graph=provenance), key=lambda quad: quad.subject):
        quads = [quad for quad in said if is_iri(quad.object)]
        if isinstance(run, ox.NamedNode) and any(_to_iri(quad.object) in known for quad in quads):
            made.add(IRI(run.value))
            agents |= {_to_iri(quad.object) for quad in quads if quad.predicate.value == PROV.wasAssociatedWith}
    return made, agents


def _walk_from(real: Store, known: set[IRI], own: Sequence[IRI], beside: IRI) -> Iterator[ox.Quad]:
    wanted = {_to_iri(quad.object) for graph in own for quad in real.match(graph=graph) if is_iri(quad.object)} - known
    return _follow(real, wanted, known, beside)


def _follow(real: Store, wanted: set[IRI], known: set[IRI], beside: IRI) -> Iterator[ox.Quad]:
    asked: set[IRI] = set()
    while wanted:
        asked |= wanted
        further: set[IRI] = set()
        for iri in sorted(wanted):
            for quad in real.match(iri, graph=beside):
                yield quad
                if is_iri(quad.object):
                    further.add(_to_iri(quad.object))
        wanted = further - known - asked


def is_iri(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> bool:
    """Tell whether a term is an IRI."""
    return isinstance(term, ox.NamedNode)


def _to_iri(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> IRI:
    return IRI(str(getattr(term, "value", "")))
