"""
What an update does to memories: whether it may, whether what is left conforms, and which nodes the indexes must look at again.

*Guarantees:* nothing is written here. A node of ours is described in one graph, as the indexes know it by its IRI alone.

*But:* only faults that the update makes are held against it; those that were there before stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from memento.backends import Backends
from memento.errors import Conflict, Forbidden, InputError, ShapeViolation, TooLong
from memento.forgetting import undescribed
from memento.graph import shapes
from memento.graph.after import After, stated, subjects, targets
from memento.graph.delta import Delta
from memento.graph.mapping import statements
from memento.graph.shapes import Violation
from memento.instants import now
from memento.model import Change, Dataset, Quad, Scope
from memento.search.found import Found
from memento.vocabulary import IRI, MEM, TYPE, graph_iri, provenance_iri, self_iri

_TEXTS = (MEM.content, MEM.title, MEM.name, MEM.description)
_OF_TURNS = (TYPE, MEM.session, MEM.position, MEM.saidBy)
_INVERSE = (MEM.invalidator, MEM.invalidated, MEM.invalidates, MEM.supersedes, MEM.contradicts)
"""What shapes look at from its object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """
    What an update does to memories: `delta` with what goes along, the nodes that the indexes must look at again, in `graphs`,
    and the texts that are gone.
    """

    delta: Delta
    nodes: tuple[IRI, ...] = ()
    graphs: tuple[IRI, ...] = ()
    texts: tuple[str, ...] = ()


def effect(delta: Delta, dataset: Dataset, parts: Backends, most: int) -> Effect:
    """
    What a delta does to the memories of its tenant; what it adds to them is embedded when this returns.

    Args:
        most: nodes that may be touched.

    Raises:
        ShapeViolation: what would be left does not conform; the report says how to mend it.
        Forbidden: it describes the user, whose graph is written by notes alone.
        Conflict: a node would be described in two graphs.
        TooLong: it touches too many nodes.
        EmbeddingError: what it adds cannot be embedded.
    """
    assert dataset.tenant is not None
    if not any(map(dataset.holds_memories, delta.touched)):
        return Effect(delta=delta)
    known = (graph for graph in parts.graph.graphs() if graph.startswith(graph_iri(dataset.tenant, "")))
    graphs = tuple(dict.fromkeys([*known, *map(IRI, filter(dataset.holds_memories, delta.touched))]))
    after = parts.graph.after(delta, graphs)
    touched = subjects([*after.removes, *after.adds])
    if not touched:
        return Effect(delta=delta)
    _few(touched, most)
    _owned(touched, after)
    readable = (*graphs, self_iri(dataset.tenant))
    whole = parts.graph.after(delta, readable)
    _conforming(touched, whole, parts.graph.after(Delta(), readable))
    nodes = _affected(touched, after, most)
    said = whole.values(nodes)
    described = {subject: graph for subject, _, _, graph in said}
    found = [Found(iri, described[iri], one) for iri, one in statements(said).items()]
    parts.indexes.embedded(found)  # before anything is written, which must not fail when half of it is done
    less = _undescribed(after, dataset.tenant, parts)
    told = list(dict.fromkeys(quad[0] for quad in less.removes))
    telling = parts.indexes.read(told, readable) if told else []
    return Effect(
        delta=delta + Change((), _traces(touched, after, dataset.tenant, parts)) + less,
        nodes=tuple(dict.fromkeys([*nodes, *told])),
        graphs=readable,
        texts=(*_gone(after, graphs, parts), *map(parts.indexes.text, telling)),
    )


def _few(nodes: Sequence[IRI], most: int) -> None:
    if len(nodes) > most:
        raise TooLong(
            f"an update may touch at most {most} memories, notes and other nodes of a namespace (limits.update_nodes): "
            "split it; a free graph takes more"
        )


def _owned(touched: Sequence[IRI], after: After) -> None:
    types = after.types(touched)
    for iri in touched:
        if iri.startswith("urn:memento:user:") or MEM.User in types.get(iri, ()):
            raise Forbidden(f"<{iri}> is the user, who is described by notes alone: say it of a memory or an entity")
    if after.has_nested:
        raise InputError("memories hold no triples within triples: write those into a free graph")
    ours = [iri for iri, some in types.items() if any(name.startswith(MEM.base) for name in some)]
    twice = after.twice(ours) or after.elsewhere(ours, ("urn:memento:graph:", "urn:memento:self:"))
    if twice:
        raise Conflict(
            f"<{twice[0]}> would be described in two graphs, and a node of ours is in one: mint an IRI of its own, MOVE it, "
            "or copy it into a free graph"
        )


def _conforming(touched: Sequence[IRI], after: After, now: After) -> None:
    """Hold what the update touches, and what it leaves without a footing, against the shapes."""
    changed = [*after.removes, *after.adds]
    lost = subjects(after.removes, [TYPE])
    judged = list(dict.fromkeys([*touched, *targets(changed, _INVERSE), *after.pointing(lost)]))
    found = _faults(judged, after)
    if found:
        before = set(_faults(judged, now))
        found = [one for one in found if one not in before]
    if found:
        raise ShapeViolation(_told(found), "\n".join(f"{one.place}: {_line(one)}" for one in found))


def _faults(judged: Sequence[IRI], view: After) -> list[Violation]:
    """What is wrong with some nodes, each with all that is said of it and the types of all that it refers to."""
    data = view.about([*judged, *view.pointing(judged, _INVERSE)])
    footing = [quad for quad in view.about(targets(data)) if quad.predicate.value == TYPE]
    wanted = set(judged)
    return [one for one in shapes.violations_of([*data, *footing]) if one.focus in wanted]


def _told(found: Sequence[Violation]) -> str:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{found[0].place} breaks a shape, so nothing was written: {_line(found[0])}{more}"


def _line(one: Violation) -> str:
    return f"{one.shape.rsplit('/', 1)[-1]}: {one.message}"


def _affected(touched: Sequence[IRI], after: After, most: int) -> list[IRI]:
    """The nodes whose place in the indexes depends on what the update touches."""
    changed = [*after.removes, *after.adds]
    named = subjects(changed, [TYPE, MEM.name])
    turns = subjects(changed, _OF_TURNS)
    nodes = [
        *touched,
        *after.all_pointing(named, [MEM.saidBy, MEM.subject], most),
        *after.all_pointing(turns, [MEM.extractedFrom], most),
        *targets(changed, [MEM.invalidated, MEM.to]),
    ]
    nodes = list(dict.fromkeys([*nodes, *after.all_pointing(nodes, [MEM.invalidated], most)]))
    _few(nodes, most * 2)
    return nodes


def _traces(touched: Sequence[IRI], after: After, tenant: str, parts: Backends) -> tuple[Quad, ...]:
    """What is known of the making of nodes of which nothing is left."""
    left = {quad[0] for quad in after.values(touched)}
    vanished = [iri for iri in touched if iri not in left]
    rows = parts.graph.select("library/traces", [provenance_iri(tenant)], node=vanished) if vanished else []
    quads = ((row["subject"], row["predicate"], row["value"], row["graph"]) for row in rows)
    return tuple(dict.fromkeys(cast(Quad, quad) for quad in quads))


def _undescribed(after: After, tenant: str, parts: Backends) -> Change:
    """The user's description without what only memories have told that say something else now, or nothing."""
    reworded = subjects(after.removes, [MEM.content])
    said = [str(value) for value in stated(after.removes, MEM.content)]
    return undescribed(reworded, said, Scope(tenant=tenant), now(), parts) if reworded else Change()


def _gone(after: After, graphs: Sequence[IRI], parts: Backends) -> tuple[str, ...]:
    """The texts that are not said any more, as they are written and as they were embedded."""
    poorer = subjects(after.removes, _TEXTS)
    if not poorer:
        return ()
    embedded = [parts.indexes.text(one) for one in parts.indexes.read(poorer, graphs)]
    written = [str(value) for name in _TEXTS for value in stated(after.removes, name)]
    return tuple(dict.fromkeys([*embedded, *written]))
