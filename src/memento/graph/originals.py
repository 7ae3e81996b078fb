"""
What no document and no update may change: a note's text, when, where and by whom it was said, the source of a memory and when it
was written, whether an entity is common knowledge, and the runs that made memories from notes. An update may not change either what
Memento derives: the words of a memory, descriptions, what use has counted, and profiles.

Everything else about a node is annotation and may be changed. A note is removed by `forget --erase`, or with its whole graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyoxigraph as ox

from memento.iris import IRI, MEM, PROV, TYPE

_OF_NOTES = frozenset(
    {
        *(MEM.content, MEM.at, MEM.saidBy, MEM.speaker, MEM.source, MEM.container, MEM.idempotencyKey),
        *(
            MEM.session,
            MEM.position,
            MEM.follows,
            MEM.parent,
            MEM.piece,
            MEM.pieces,
            MEM.overlap,
            PROV.wasAttributedTo,
            PROV.wasDerivedFrom,
        ),
    }
)
_OF_MEMORIES = frozenset({MEM.extractedFrom, MEM.saidBy, MEM.createdAt, PROV.wasAttributedTo, PROV.wasDerivedFrom})
_FIXED: Mapping[str, frozenset[IRI]] = {
    MEM.Note: _OF_NOTES,
    MEM.Turn: _OF_NOTES,
    MEM.Memory: _OF_MEMORIES,
    MEM.Entity: frozenset({MEM.isWellKnown}),
}
NOTES = frozenset({MEM.Note, MEM.Turn})
_RUNS = frozenset({MEM.Consolidation, MEM.Reversal, MEM.Agent})
_OF_RUNS = frozenset({PROV.used, PROV.generated, PROV.wasAssociatedWith})
MADE = frozenset({*_OF_RUNS, MEM.restored})
"""The predicates with which a run names its notes and memories, and its agent."""

Said = frozenset[tuple[str, str]]
"""Predicates with objects, the latter in N-Triples syntax."""


def types_of(quads: Iterable[ox.Quad]) -> set[str]:
    """Return the types that some quads give to one node."""
    return {
        quad.object.value for quad in quads if quad.predicate.value == TYPE and isinstance(quad.object, ox.NamedNode)
    }


def fixed_predicates(types: Iterable[str]) -> frozenset[IRI]:
    """Return the predicates that must not change for a node with these types."""
    return frozenset().union(*(_FIXED.get(name, ()) for name in types))


def select_fixed(quads: Iterable[ox.Quad], types: Iterable[str]) -> Said:
    """Return those of the quads about a node with these types that must not change, including its types in our vocabulary."""
    ours, wanted = {name for name in types if name in _FIXED}, fixed_predicates(types)
    return frozenset(
        (quad.predicate.value, str(quad.object))
        for quad in quads
        if quad.predicate.value in wanted
        or (quad.predicate.value == TYPE and getattr(quad.object, "value", "") in ours)
    )


_WORDED = "`correct` says it in other words and keeps the history, `forget` removes the memory"
_DESCRIBED = "descriptions follow from notes: note what is true, or `correct` or `forget` the memory that it comes from"
_COUNTED = "use counts this: `feedback` says whether a memory helped, `mark` says how important it is"
_RENDERED = "this is rendered from memories: note, `correct` or `forget` what it is made of"
_DERIVED: Mapping[str, Mapping[IRI, str]] = {
    MEM.Memory: {
        **dict.fromkeys((MEM.content, MEM.contentHash, MEM.isVerbatim), _WORDED),
        **dict.fromkeys((MEM.accessCount, MEM.successCount, MEM.failureCount, MEM.lastAccessedAt), _COUNTED),
        **dict.fromkeys((MEM.depth, MEM.usefulness, MEM.energy, MEM.energyAt), _COUNTED),
    },
    MEM.Entity: {MEM.description: _DESCRIBED},
    MEM.LearnedPhrase: {MEM.accessCount: _COUNTED},
    MEM.Profile: dict.fromkeys((MEM.rendered, MEM.renderedAt), _RENDERED),
}
"""What an update may not change of a known node of a type, and what to do instead. Whole new nodes may bring it along."""


def find_derived_change(before: Iterable[ox.Quad], after: Iterable[ox.Quad]) -> tuple[IRI, str] | None:
    """Return a derived predicate of a node that would have other values, and what to do instead; None if there is none."""
    known, left = list(before), list(after)
    for name in types_of(known):
        for predicate, remedy in _DERIVED.get(name, {}).items():
            was, would_be = (
                {str(quad.object) for quad in some if quad.predicate.value == predicate} for some in (known, left)
            )
            if was != would_be:
                return predicate, remedy
    return None


def tells_of_a_run(quad: ox.Quad) -> bool:
    """Tell whether a quad states what a run or an agent did, which only the provenance graph may contain."""
    is_type = quad.predicate.value == TYPE and getattr(quad.object, "value", "") in _RUNS
    return is_type or quad.predicate.value in _OF_RUNS
