"""Links that lead from one memory to another: drawn, strengthened, followed, and walked by activation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from memento.backends import Backends
from memento.errors import InputError, NotFound
from memento.graph.mapping import quads
from memento.iris import IRI, MEM, SKOS, TYPE, association_iri, relation_iri, relation_name
from memento.model import Activated, Association, Change, Followed, Quad, Scope
from memento.rank import laws
from memento.rank.walks import spread
from memento.search.indexes import View

MOST_ACTIVE = 20
DEEPEST = 6
MOST_PATHS = 200


def associate(
    source: str, target: str, relation: str, weight: float, scope: Scope, now: datetime, parts: Backends
) -> Association:
    """
    Associate one memory with another, or strengthen the link that is there.

    Args:
        relation: the kind of link in a word, as "similar" or "leads to".
        weight: 0..1.

    Raises:
        NotFound: one of them is no current memory of the namespace's graphs, or the first is not in its own.
        InputError: a memory that leads to itself, no relation, or a weight out of range.
    """
    if not 0 <= weight <= 1:
        raise InputError(f"weight must be from 0 to 1, not {weight}")
    if not relation.strip() or len(relation) > 100:
        raise InputError("relation must be a word or a few, such as similar")
    if source == target:
        raise InputError(f"<{source}> cannot lead to itself: give another memory as the second")
    indexes = parts.indexes
    with indexes.lock:
        _find_current([source], Scope(scope.tenant, scope.namespace, with_main=False), now, parts)
        _find_current([target], scope, now, parts)
        iri = association_iri(source, relation_iri(relation), target)
        known = indexes.associations.get(iri)
    drawn = Association(
        iri=iri,
        source=IRI(source),
        target=IRI(target),
        relation=relation_iri(relation),
        weight=weight,
        created_at=now,
        last_reinforced_at=now,
    )
    if known is None:
        parts.commit(Change((*quads(drawn, scope.graph), *_describe_relation(drawn.relation, scope.graph))), scope)
        return drawn
    left = laws.decay_association(known.weight, known.at, indexes.fadings.of(scope.graph))
    rows = parts.graph.select("search/statements", [scope.graph], node=iri)
    removes = [(iri, IRI(str(row["predicate"])), row["value"], scope.graph) for row in rows]
    created = next((row["value"] for row in rows if str(row["predicate"]).endswith("createdAt")), now)
    after = replace(
        drawn,
        weight=round(laws.strengthen_association(left, weight), 9),
        created_at=created if isinstance(created, datetime) else now,
    )
    adds = quads(after, scope.graph)
    parts.commit(Change(tuple(q for q in adds if q not in removes), tuple(q for q in removes if q not in adds)), scope)
    return after


def trace_paths(start: str, depth: int, scope: Scope, now: datetime, parts: Backends) -> tuple[Followed, ...]:
    """
    Trace the paths that lead away from a memory over associations, the strongest link first; no memory twice on one.

    Args:
        depth: links of a path at most, 1 to 6.

    Raises:
        NotFound: no current memory of the namespace's graphs is called so.
        InputError: a depth out of range.
    """
    if not 1 <= depth <= DEEPEST:
        raise InputError(f"depth must be from 1 to {DEEPEST}, not {depth}")
    indexes = parts.indexes
    with indexes.lock:
        [begin] = _find_current([start], scope, now, parts)
        visible = indexes.nodes.current(scope.memory_graphs, now=now)
        found: list[Followed] = []
        _follow_arcs(begin, Followed(memories=(IRI(start),)), {begin}, depth, visible, parts, found)
    texts = _read_texts({memory for path in found for memory in path.memories}, scope, parts)
    return tuple(replace(path, contents=tuple(texts[memory] for memory in path.memories)) for path in found)


def spread_activation(
    seeds: Sequence[str],
    steps: int,
    decay: float,
    threshold: float,
    scope: Scope,
    now: datetime,
    parts: Backends,
) -> tuple[Activated, ...]:
    """
    Spread activation from some memories, and return those it reaches, the most active first, twenty at most.

    Args:
        seeds: IRIs of memories, active by 1.
        steps: 1 to 10.
        decay, threshold: 0..1.

    Raises:
        NotFound: a seed is no current memory of the namespace's graphs.
        InputError: no seed, or a number out of range.
    """
    if not seeds:
        raise InputError("seeds must name at least one memory")
    if not 1 <= steps <= 10:
        raise InputError(f"steps must be from 1 to 10, not {steps}")
    for name, value in (("decay", decay), ("threshold", threshold)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} must be from 0 to 1, not {value}")
    indexes = parts.indexes
    with indexes.lock:
        begin = _find_current(list(dict.fromkeys(seeds)), scope, now, parts)
        view = View.at(indexes, scope.memory_graphs, now, None, None)
        rare, neighbours = view.matrix().rare, view.association_matrix()
        nodes, active = spread(rare, np.array(begin), np.ones(len(begin)), steps, decay, threshold, beside=neighbours)
        visible_now = view.visible[nodes]
        nodes, active = nodes[visible_now], active[visible_now]
        order = np.lexsort((nodes, -active))[:MOST_ACTIVE]
        reached = [indexes.nodes.iri(node) for node in nodes[order].tolist()]
    texts = _read_texts(reached, scope, parts)
    return tuple(
        Activated(memory=iri, activation=round(value, 9), content=texts[iri])
        for iri, value in zip(reached, active[order].tolist(), strict=True)
    )


def _follow_arcs(
    node: int, path: Followed, on: set[int], depth: int, visible: np.ndarray, parts: Backends, found: list[Followed]
) -> None:
    indexes = parts.indexes
    arcs = [arc for _, arc in indexes.associations.of(node) if arc.source == node and arc.target not in on]
    weighed = [
        (laws.decay_association(arc.weight, arc.at, indexes.fadings.of(indexes.nodes.graph(node))), arc)
        for arc in arcs
        if arc.target < len(visible) and visible[arc.target]
    ]
    for weight, arc in sorted(weighed, key=lambda one: (-one[0], one[1].target)):
        if len(found) >= MOST_PATHS:
            return
        further = Followed(
            memories=(*path.memories, indexes.nodes.iri(arc.target)),
            relations=(*path.relations, relation_name(arc.relation)),
            weights=(*path.weights, round(weight, 9)),
        )
        found.append(further)
        if depth > 1:
            _follow_arcs(arc.target, further, on | {arc.target}, depth - 1, visible, parts, found)


def _describe_relation(relation: IRI, graph: IRI) -> tuple[Quad, ...]:
    """Describe a relation that the ontology does not have."""
    if relation.startswith(MEM.base):
        return ()
    return (relation, TYPE, MEM.Relation, graph), (relation, SKOS.prefLabel, relation_name(relation), graph)


def _read_texts(memories: Iterable[IRI], scope: Scope, parts: Backends) -> dict[IRI, str]:
    """Read what some memories say; nothing of one that went meanwhile."""
    wanted = sorted(memories)
    rows = parts.graph.select("keys/texts", scope.memory_graphs, memory=wanted) if wanted else []
    return dict.fromkeys(wanted, "") | {IRI(str(row["memory"])): str(row["content"]) for row in rows}


def _find_current(iris: Sequence[str], scope: Scope, now: datetime, parts: Backends) -> list[int]:
    """Find the ids of some memories; raise `NotFound` for one that is not current."""
    nodes = parts.indexes.nodes
    visible = nodes.current(scope.memory_graphs, now=now)
    found = [nodes.find(IRI(iri)) for iri in iris]
    for iri, node in zip(iris, found, strict=True):
        if node is None or not visible[node]:
            raise NotFound(f"there is no current memory <{iri[:200]}> in the namespace {scope.namespace!r}")
    return [node for node in found if node is not None]
