"""
Write what patches change in a memory: check and embed it first, then write it at once, with the indexes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from memento.archive.exchange import PreparedImport, VectorStaging, check_and_embed, kind_of
from memento.backends import Backends
from memento.graph.store import Delta, Store, graph_of, serialise_quads
from memento.graph.terms import to_quads
from memento.graph.transfer import StagingStore, Statement, is_iri
from memento.iris import IRI, MEM, TYPE
from memento.model import Quad, Scope
from memento.ports import Progress


class Without:
    """A store without some quads, with the methods that shapes need."""

    def __init__(self, store: Store, gone: Collection[Statement]) -> None:
        self._store, self._gone = store, gone

    def match(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        graph: str | None = None,
    ) -> Iterator[Statement]:
        """Yield what `Store.match` yields, without the removed quads."""
        return (quad for quad in self._store.match(subject, predicate, value, graph) if quad not in self._gone)


def prepare_merge(
    adds: Iterable[Statement],
    removes: Collection[Statement],
    scope: Scope,
    parts: Backends,
    name: str,
    folder: Path | None,
    progress: Progress | None,
) -> PreparedImport:
    """
    Validate the changes of another machine against the shapes, and embed what has no vectors; do not change the store.

    Args:
        name: what errors call it.
        folder: where to stage it, None for in memory.

    Raises:
        InputError, ShapeViolation, EmbeddingError: as `prepare_import`; nothing is written.
    """
    staged, real = StagingStore(folder), parts.graph
    counted = staged.fill(adds, IRI, {})
    graphs = {*map(IRI, counted), *(graph_of(quad) for quad in removes)}
    found = PreparedImport(staged, sum(counted.values()), tuple(sorted(map(IRI, graphs))), VectorStaging(staged, parts))
    found.fresh = staged.fresh(real)
    touched = [
        *(iri for iri, graph in found.fresh if kind_of(graph) != "data"),
        *(_subject_of(quad) for quad in removes),
    ]
    checked = list(dict.fromkeys(iri for iri in touched if not iri.startswith("_:")))
    left = cast(Store, Without(real, removes)) if removes else real
    check_and_embed(found, checked, left, scope, name, parts, progress)
    return found


_TEXTS = (MEM.content, MEM.title, MEM.name, MEM.description)
"""Predicates whose removed texts are erased everywhere: for the first two always, for the others if the whole node is removed."""
_LOOKING = (MEM.saidBy, MEM.subject, MEM.extractedFrom)


def write_merge(
    prepared: PreparedImport, removes: Collection[Statement], beside: Sequence[Quad], scope: Scope, parts: Backends
) -> None:
    """
    Write the changes of another machine, and what belongs to them, atomically, and update the indexes; call this with the write
    lock held.
    """
    own = [quad for quad in beside if not quad[3].startswith("urn:memento:audit:")]
    adds = [*prepared.staged.list_quads(), *to_quads(tuple(beside))]
    delta = parts.graph.minimise_delta(
        Delta(removes=serialise_quads(removes), adds=serialise_quads(adds), removed=len(removes), added=len(adds))
    )
    staged = prepared.staged
    order = sorted(
        dict.fromkeys([*(iri for iri, _ in prepared.fresh), *map(_subject_of, removes), *(quad[0] for quad in own)]),
        key=lambda iri: MEM.Memory in staged.describe(iri).get(TYPE, ()),
    )
    ended = [iri for iri in order if not staged.describe(iri) or MEM.expiredAt in staged.describe(iri)]
    pointing = [
        IRI(_text_of(quad.object))
        for quad in (*removes, *adds)
        if quad.predicate.value in (MEM.invalidated, MEM.invalidator, MEM.to)
    ]
    looking = [
        _subject_of(quad) for iri in order for predicate in _LOOKING for quad in parts.graph.match(None, predicate, iri)
    ]
    left = Without(parts.graph, removes)
    gone = {iri for iri in map(_subject_of, removes) if not staged.describe(iri) and not any(left.match(iri))}
    texts = [
        _text_of(quad.object)
        for quad in removes
        if quad.predicate.value in (_TEXTS if _subject_of(quad) in gone else _TEXTS[:2])
    ]
    if ended:
        parts.invalidate_copies(ended)
    indexed = [name for name in prepared.graphs if kind_of(name) in ("graph", "self")]
    nodes = [iri for iri in dict.fromkeys([*order, *pointing, *looking]) if not iri.startswith("_:")]
    parts.amend(delta, nodes, tuple(dict.fromkeys([*scope.readable, *indexed])), texts)
    for follow in parts.change_listeners:
        follow(None)


def _subject_of(quad: Statement) -> IRI:
    return IRI(_text_of(quad.subject) if is_iri(quad.subject) else str(quad.subject))


def _text_of(term: object) -> str:
    return str(getattr(term, "value", ""))
