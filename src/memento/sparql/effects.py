"""
Determines what an update does to memories: whether it is allowed, whether the result conforms to the shapes, and which nodes the
indexes must read again.

*Guarantees:* nothing is written here. A node of ours is described in one graph only, because the indexes know it by its IRI alone.

*But:* only violations that the update causes count; existing ones stay. The check reads single nodes and what refers to them, never
a whole graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import pyoxigraph as ox

from memento.archive.forget import remove_from_description
from memento.backends import Backends
from memento.errors import Conflict, Forbidden, InputError, ShapeViolation, TooLong
from memento.graph import originals, shapes
from memento.graph.mapping import statements
from memento.graph.shapes import Violation
from memento.graph.store import Delta, Store, graph_of, select_quads, to_change
from memento.graph.terms import to_value
from memento.iris import IRI, MEM, TYPE, graph_iri, provenance_iri, self_iri, shorten
from memento.model import Change, Dataset, Quad, Scope, Value
from memento.search.nodes import Record
from memento.time import now

_TEXTS = (MEM.content, MEM.title, MEM.name, MEM.description)
_OF_TURNS = (TYPE, MEM.session, MEM.position, MEM.saidBy)
_INVERSE = (MEM.invalidator, MEM.invalidated, MEM.invalidates, MEM.supersedes, MEM.contradicts)
"""Predicates that shapes follow from the object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """
    The effect of an update on memories: the `delta` with the changes that come with it, the nodes in `graphs` that the indexes must
    read again, and the removed texts.
    """

    delta: Delta
    nodes: tuple[IRI, ...] = ()
    graphs: tuple[IRI, ...] = ()
    texts: tuple[str, ...] = ()


def judge_effect(delta: Delta, dataset: Dataset, parts: Backends, most: int) -> Effect:
    """
    Validate what a delta does to the memories of its tenant, and embed the texts that it adds.

    Args:
        most: nodes that it may touch.

    Raises:
        ShapeViolation: the result does not conform; the report says how to fix it.
        Forbidden: it describes the user, whose graph only notes write, or changes what was said or is derived
            (`graph/originals.py`).
        Conflict: a node would be described in two graphs.
        TooLong: it touches too many nodes.
        EmbeddingError: the added texts cannot be embedded.
    """
    assert dataset.tenant is not None
    if not any(map(dataset.holds_memories, delta.touched)):
        return Effect(delta=delta)
    known = (graph for graph in parts.graph.graphs() if graph.startswith(graph_iri(dataset.tenant, "")))
    graphs = tuple(dict.fromkeys([*known, *map(IRI, filter(dataset.holds_memories, delta.touched))]))
    after = GraphsAfter(parts.graph, delta, graphs)
    touched = subjects([*after.removes, *after.adds])
    if not touched:
        return Effect(delta=delta)
    _raise_if_too_many(touched, most)
    _raise_if_not_ours(touched, after)
    _raise_if_derived(touched, after)
    readable = (*graphs, self_iri(dataset.tenant))
    whole = GraphsAfter(parts.graph, delta, readable)
    _raise_if_invalid(touched, whole, GraphsAfter(parts.graph, Delta(), readable))
    _raise_if_rewritten(touched, after)
    nodes = _find_affected(touched, after, most)
    said = whole.values(nodes)
    described = {subject: graph for subject, _, _, graph in said}
    records = [Record(iri, described[iri], one) for iri, one in statements(said).items()]
    parts.indexes.bring(readable, iris=nodes)
    parts.indexes.embed(records)  # before anything is written, because a write must not fail half-way
    less = _trim_description(after, dataset.tenant, parts)
    told = list(dict.fromkeys(quad[0] for quad in less.removes))
    telling = parts.indexes.read(told, readable) if told else []
    return Effect(
        delta=delta + Change((), _find_traces(touched, after, dataset.tenant, parts)) + less,
        nodes=tuple(dict.fromkeys([*nodes, *told])),
        graphs=readable,
        texts=(*_list_removed_texts(after, graphs, parts), *map(parts.indexes.text, telling)),
    )


def _raise_if_too_many(nodes: Sequence[IRI], most: int) -> None:
    if len(nodes) > most:
        raise TooLong(
            f"an update may touch at most {most} memories, notes and other nodes of a namespace (limits.update_nodes): "
            "split it; a free graph takes more"
        )


def _raise_if_not_ours(touched: Sequence[IRI], after: GraphsAfter) -> None:
    types = after.types_of(touched)
    for iri in touched:
        if iri.startswith("urn:memento:user:") or MEM.User in types.get(iri, ()):
            raise Forbidden(f"<{iri}> is the user, who is described by notes alone: say it of a memory or an entity")
    if after.has_nested:
        raise InputError("memories hold no triples within triples: write those into a free graph")
    ours = [iri for iri, some in types.items() if any(name.startswith(MEM.base) for name in some)]
    twice = after.list_typed_twice(ours) or after.list_described_elsewhere(
        ours, ("urn:memento:graph:", "urn:memento:self:")
    )
    if twice:
        raise Conflict(
            f"<{twice[0]}> would be described in two graphs, and a node of ours is in one: mint an IRI of its own, MOVE it, "
            "or copy it into a free graph"
        )


def _raise_if_invalid(touched: Sequence[IRI], after: GraphsAfter, now: GraphsAfter) -> None:
    """Validate the nodes that the update touches, and those that refer to removed nodes, against the shapes."""
    changed = [*after.removes, *after.adds]
    lost = subjects(after.removes, [TYPE])
    judged = list(dict.fromkeys([*touched, *targets(changed, _INVERSE), *after.sample_pointing(lost)]))
    faults = _find_violations(judged, after)
    if faults:
        before = set(_find_violations(judged, now))
        faults = [one for one in faults if one not in before]
    if faults:
        raise ShapeViolation(
            _summarise(faults), "\n".join(f"{one.target}: {_describe_violation(one)}" for one in faults)
        )


def _raise_if_derived(touched: Sequence[IRI], after: GraphsAfter) -> None:
    """Raise `Forbidden` if words of a memory, or what else Memento derives, would change; a node may be deleted whole."""
    for iri in touched:
        left = after.quads_about([iri])
        if left and (found := originals.find_derived_change(after.quads_now([iri]), left)):
            raise Forbidden(f"<{iri}> {shorten(found[0])} would change, which no update may: {found[1]}")


def _raise_if_rewritten(touched: Sequence[IRI], after: GraphsAfter) -> None:
    """Raise `Forbidden` if original statements would change, or a run be described outside the provenance graph."""
    if run := next(filter(originals.tells_of_a_run, (*after.adds, *after.removes)), None):
        raise Forbidden(f"{run.subject} {run.predicate}: who made which memory of what is written by Memento alone")
    for iri in touched:
        before = after.quads_now([iri])
        types = originals.types_of(before)
        left = after.quads_about([iri])
        if originals.select_fixed(before, types) == originals.select_fixed(left, types):
            continue
        if not left and not types & originals.NOTES:
            continue
        if left or not all(map(after.is_emptied, {graph_of(quad) for quad in before})):
            raise Forbidden(
                f"<{iri}> would not say any more what was said, when, by whom, or where it came from: "
                "annotate it with properties of your own; `correct` and `forget --erase` do what is left"
            )


def _find_violations(judged: Sequence[IRI], view: GraphsAfter) -> list[Violation]:
    """Return the violations of some nodes, each validated with its statements and the types of the nodes it refers to."""
    data = view.quads_about([*judged, *view.sample_pointing(judged, _INVERSE)])
    footing = [quad for quad in view.quads_about(targets(data)) if quad.predicate.value == TYPE]
    wanted = set(judged)
    return [one for one in shapes.violations_of([*data, *footing]) if one.focus in wanted]


def _summarise(faults: Sequence[Violation]) -> str:
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{faults[0].target} breaks a shape, so nothing was written: {_describe_violation(faults[0])}{more}"


def _describe_violation(violation: Violation) -> str:
    return f"{violation.shape.rsplit('/', 1)[-1]}: {violation.message}"


def _find_affected(touched: Sequence[IRI], after: GraphsAfter, most: int) -> list[IRI]:
    """Return the nodes whose index entries depend on what the update touches."""
    changed = [*after.removes, *after.adds]
    named = subjects(changed, [TYPE, MEM.name])
    turns = subjects(changed, _OF_TURNS)
    nodes = [
        *touched,
        *after.list_pointing(named, [MEM.saidBy, MEM.subject], most),
        *after.list_pointing(turns, [MEM.extractedFrom], most),
        *targets(changed, [MEM.invalidated, MEM.to]),
    ]
    nodes = list(dict.fromkeys([*nodes, *after.list_pointing(nodes, [MEM.invalidated], most)]))
    _raise_if_too_many(nodes, most * 2)
    return nodes


def _find_traces(touched: Sequence[IRI], after: GraphsAfter, tenant: str, parts: Backends) -> tuple[Quad, ...]:
    """Return the provenance of nodes of which nothing is left."""
    left = {quad[0] for quad in after.values(touched)}
    vanished = [iri for iri in touched if iri not in left]
    rows = parts.graph.select("library/traces", [provenance_iri(tenant)], node=vanished) if vanished else []
    quads = ((row["subject"], row["predicate"], row["value"], row["graph"]) for row in rows)
    return tuple(dict.fromkeys(cast(Quad, quad) for quad in quads))


def _trim_description(after: GraphsAfter, tenant: str, parts: Backends) -> Change:
    """Return the change of the user's description that removes what only removed or reworded memories have told."""
    reworded = subjects(after.removes, [MEM.content])
    said = [str(value) for value in values_of(after.removes, MEM.content)]
    return remove_from_description(reworded, said, Scope(tenant=tenant), now(), parts) if reworded else Change()


def _list_removed_texts(after: GraphsAfter, graphs: Sequence[IRI], parts: Backends) -> tuple[str, ...]:
    """Return the texts that are removed, as written and as embedded."""
    poorer = subjects(after.removes, _TEXTS)
    if not poorer:
        return ()
    embedded = [parts.indexes.text(one) for one in parts.indexes.read(poorer, graphs)]
    written = [str(value) for name in _TEXTS for value in values_of(after.removes, name)]
    return tuple(dict.fromkeys([*embedded, *written]))


_MOST_POINTING = 10_000
"""Most statements read that refer to one node."""
_OF_EACH = 20
"""Subjects sampled for each predicate that refers to a node: if one is wrong, so are the others."""


class GraphsAfter:
    """Some graphs of a store as a delta would leave them; `removes` and `adds` are its quads for these graphs."""

    def __init__(self, store: Store, delta: Delta, graphs: Sequence[IRI]) -> None:
        self._store = store
        self._graphs = set(graphs)
        self.removes = select_quads(delta.removes, graphs)
        self.adds = select_quads(delta.adds, graphs)
        self._gone = set(self.removes)
        self._new: dict[str, list[ox.Quad]] = {}
        self._new_pointing: dict[str, list[ox.Quad]] = {}
        for quad in self.adds:
            self._new.setdefault(_term_name(quad.subject), []).append(quad)
            if isinstance(quad.object, ox.NamedNode):
                self._new_pointing.setdefault(quad.object.value, []).append(quad)

    @property
    def has_nested(self) -> bool:
        """Whether the delta adds nested triples."""
        return any(isinstance(quad.object, ox.Triple) for quad in self.adds)

    def is_emptied(self, graph: str) -> bool:
        """Tell whether a graph would be empty."""
        is_refilled = any(graph_of(quad) == graph for quad in self.adds)
        return not is_refilled and all(quad in self._gone for quad in self._store.match(graph=graph))

    def quads_now(self, nodes: Iterable[str]) -> list[ox.Quad]:
        """Return the current statements about some nodes."""
        return [quad for iri in nodes for quad in self._match(subject=iri)]

    def quads_about(self, nodes: Iterable[str]) -> list[ox.Quad]:
        """Return the statements about some nodes after the delta."""
        listed = list(nodes)
        kept = [quad for quad in self.quads_now(listed) if quad not in self._gone]
        return [*kept, *(quad for iri in listed for quad in self._new.get(iri, ()))]

    def values(self, nodes: Iterable[str]) -> list[Quad]:
        """Return the statements about some nodes after the delta, as our quads."""
        return list(to_change((), self.quads_about(nodes)).adds)

    def types_of(self, nodes: Iterable[str]) -> dict[IRI, set[str]]:
        """Return the types of some nodes after the delta; nodes without any are left out."""
        types: dict[IRI, set[str]] = {}
        for quad in self.quads_about(nodes):
            if quad.predicate.value == TYPE:
                types.setdefault(IRI(_term_name(quad.subject)), set()).add(_term_name(quad.object))
        return types

    def list_typed_twice(self, nodes: Iterable[str]) -> list[IRI]:
        """List the nodes that would be typed in several of the graphs."""
        typed_in: dict[str, set[str]] = {}
        for quad in self.quads_about(nodes):
            if quad.predicate.value == TYPE:
                typed_in.setdefault(_term_name(quad.subject), set()).add(graph_of(quad))
        return [IRI(iri) for iri, graphs in typed_in.items() if len(graphs) > 1]

    def list_described_elsewhere(self, nodes: Iterable[str], kinds: tuple[str, ...]) -> list[IRI]:
        """List the nodes that another graph describes whose name begins with one of `kinds`."""
        return [
            IRI(iri)
            for iri in nodes
            for quad in self._store.match(iri)
            if graph_of(quad).startswith(kinds) and graph_of(quad) not in self._graphs
        ]

    def sample_pointing(self, nodes: Iterable[str], predicates: Sequence[IRI] = ()) -> list[IRI]:
        """List subjects that would refer to some nodes, by some predicates or by any; only a sample if there are many."""
        return subjects(quad for iri in nodes for quad in self._sample(iri, predicates))

    def list_pointing(self, nodes: Iterable[str], predicates: Sequence[IRI], most: int) -> list[IRI]:
        """List all subjects that refer to some nodes, before or after the delta, but stop after more than `most` for one node."""
        pointing: dict[IRI, None] = {}
        for iri in nodes:
            old = [
                quad
                for predicate in predicates
                for quad in islice(self._match(predicate=predicate, value=iri), most + 1)
            ]
            new = (quad for quad in self._new_pointing.get(iri, ()) if quad.predicate.value in predicates)
            pointing.update(dict.fromkeys(subjects([*old, *new])))
        return list(pointing)

    def _match(
        self, subject: str | None = None, predicate: str | None = None, value: str | None = None
    ) -> Iterator[ox.Quad]:
        return (quad for quad in self._store.match(subject, predicate, value) if graph_of(quad) in self._graphs)

    def _sample(self, iri: str, predicates: Sequence[IRI]) -> list[ox.Quad]:
        counted: dict[str, int] = {}
        sample = []
        pointing = islice(self._match(value=iri), _MOST_POINTING)
        old = (quad for quad in pointing if quad not in self._gone)
        for quad in [*old, *self._new_pointing.get(iri, ())]:
            predicate = quad.predicate.value
            counted[predicate] = counted.get(predicate, 0) + 1
            if (not predicates or predicate in predicates) and counted[predicate] <= _OF_EACH:
                sample.append(quad)
        return sample


def targets(quads: Iterable[ox.Quad], predicates: Sequence[IRI] = ()) -> list[IRI]:
    """Return the objects of some quads that are nodes, for some predicates or for any."""
    return list(
        dict.fromkeys(
            IRI(quad.object.value)
            for quad in quads
            if isinstance(quad.object, ox.NamedNode) and (not predicates or quad.predicate.value in predicates)
        )
    )


def subjects(quads: Iterable[ox.Quad], predicates: Sequence[IRI] = ()) -> list[IRI]:
    """Return the subjects of some quads, for some predicates or for any; each once."""
    return list(
        dict.fromkeys(
            IRI(_term_name(quad.subject)) for quad in quads if not predicates or quad.predicate.value in predicates
        )
    )


def values_of(quads: Iterable[ox.Quad], predicate: IRI) -> list[Value]:
    """Return the values of a predicate in some quads."""
    return [to_value(quad.object) for quad in quads if quad.predicate.value == predicate]


def _term_name(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> str:
    return term.value if isinstance(term, ox.NamedNode) else str(term)
