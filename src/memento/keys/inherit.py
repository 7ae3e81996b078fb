"""
What a corrected text has from the memory whose place it takes: keys and the weights of their links, links by hand, time to live.

A concept that does not fit the new text is let go, unless nothing would lead there any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memento.errors import InputError
from memento.iris import IRI, MEM
from memento.keys.given import sanitised, types_of
from memento.keys.leads import Lead
from memento.keys.remember import Desk, auto_linked, contradicted, contradiction, linked, related, weakened
from memento.keys.settle import Settled
from memento.model import Change, KeyType, Memory, Quad
from memento.ports import Vectors
from memento.search.found import REMEMBERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Better:
    """What a correction says of keys and links; None is "as before"."""

    keys: Sequence[str] | None = None
    types: Mapping[str, KeyType] | None = None
    related_to: Sequence[str] | None = None


def inherited(new: IRI, content: str, old: Memory, better: Better, desk: Desk) -> Change:
    """
    What is to be written beside a corrected text.

    Raises:
        InputError: none of the keys that were given can be used.
    """
    node = desk.parts.indexes.nodes.find(old.iri)
    if node is None:
        return Change()
    graph, vector = desk.scope.graph, desk.parts.embedder.embed(desk.parts.embedder.windows(content))
    settled = _settled(better, desk)
    weights = {one.lead: 1.0 for one in settled} if better.keys is not None else _kept(node, vector, desk)
    change = weakened(old.iri, graph, desk) + linked(new, weights, settled, desk)
    if better.keys is not None or desk.parts.indexes.keys.given(np.array([node]))[0]:
        given = {lead.iri for lead in weights}
        change += auto_linked(new, content, vector, given, desk) + Change(((new, MEM.source, REMEMBERED, graph),))
        if flagged := contradicted(content, vector, given, desk, but=[node]):
            change += contradiction(new, flagged, graph)
    links = old.related_to if better.related_to is None else related(better.related_to, desk)
    adds: list[Quad] = [(new, MEM.relatedTo, other, graph) for other in links]
    if old.expires_at is not None:
        adds.append((new, MEM.expiresAt, old.expires_at, graph))
    return change + Change(tuple(adds))


def _settled(better: Better, desk: Desk) -> list[Settled]:
    if better.keys is None:
        return []
    keys = sanitised(better.keys)
    if not keys:
        raise InputError("keys must have one text of two characters at least, or be left out to keep those there are")
    return desk.settling().settled(types_of(keys, better.types))


def _kept(node: int, vector: Vectors, desk: Desk) -> dict[Lead, float]:
    """The links of a memory that still fit a text, and their weights."""
    indexes = desk.parts.indexes
    found = {desk.leads.of(key): weight for key, weight in indexes.keys.links(node).items()}
    fits: dict[Lead, float] = {}
    for lead in found:
        assert lead.node is not None
        index = indexes.vectors[indexes.nodes.kind(lead.node)]
        fits[lead] = 1.0 if lead.is_named else float(index.cosines([lead.node], vector)[0])
    kept = {lead: weight for lead, weight in found.items() if fits[lead] >= desk.limits.content_recall}
    if not kept and fits:
        best = max(fits, key=lambda lead: fits[lead])
        kept = {best: found[best]}
    return kept
