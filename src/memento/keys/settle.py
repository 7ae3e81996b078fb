"""
Which key a phrase means: one that is there, one that is there under another name, or a new one.

In this order: the same text, or the same words but for their endings, is the same key, whatever its type, and a concept that is now
called a name becomes one; a name is never merged by meaning; a concept is, from a cosine on that is higher for labels of one or two
words. Siblings such as "Agent A" and "Agent B" are as alike as synonyms, and stay apart.

*But:* keys of another namespace that the reader sees are used as they are; only those of the namespace itself learn names or types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memento.graph.mapping import quads
from memento.graph.store import Store
from memento.iris import IRI, MEM, SKOS, mint
from memento.keys.leads import Lead, Leads
from memento.keys.match import is_short
from memento.keys.thresholds import Thresholds
from memento.model import Change, Key, KeyType, Quad
from memento.ports import Embedder, Vectors
from memento.search.spellings import folded
from memento.search.words import tokens

_NEAR = 8  # keys that a new one is compared with

# What tells siblings apart: one letter, or anything with a digit, or a number in Roman figures.
_MARK = re.compile(r"\b(?:[^\W\d_]|\w*\d\w*|(?=[ivx]+\b)(?:x{0,3}(?:ix|iv|v?i{0,3})))\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What a phrase means, and what is to be written for it; `vector` is that of a new concept (d,)."""

    phrase: str
    lead: Lead
    written: Change = Change()
    vector: Vectors | None = None


def are_siblings(one: str, other: str) -> bool:
    """
    Whether two labels differ in what tells one of a kind from the next, as a letter or a number.

    >>> are_siblings("Agent A", "Agent B"), are_siblings("GPT-3", "GPT-4"), are_siblings("Rocky II", "Rocky III")
    (True, True, True)
    >>> are_siblings("vector database", "vector databases")
    False
    """
    first, second = (set(_MARK.findall(folded(label))) for label in (one, other))
    return first != second


class Settling:
    """Settles the keys of one memory after the other, within one change. Ask under `indexes.lock`, as one of the writers."""

    def __init__(
        self, leads: Leads, embedder: Embedder, graph: Store, own: IRI, limits: Thresholds, at: datetime
    ) -> None:
        """
        Args:
            own: the graph that is written.
            at: when new keys are made.
        """
        self._leads = leads
        self._embedder = embedder
        self._graph = graph
        self._own = own
        self._limits = limits
        self._at = at
        self._new: list[Settled] = []

    def settled(self, types: Mapping[str, KeyType]) -> list[Settled]:
        """What each phrase means; `types` says as what it matches."""
        found: list[Settled] = []
        open_: list[tuple[str, KeyType]] = []
        for phrase, type in types.items():
            known = self._same(phrase, type)
            if known:
                found.append(known)
            else:
                open_.append((phrase, type))
        labels = [phrase for phrase, type in open_ if type == "concept"]
        vectors = dict(zip(labels, self._embedder.embed(labels), strict=True)) if labels else {}
        for phrase, type in open_:
            # One that was just made for the phrase before may be the same.
            one = (
                self._just_made(phrase)
                or self._alike(phrase, vectors.get(phrase))
                or self._made(phrase, type, vectors.get(phrase))
            )
            found.append(one)
        return list({one.lead.iri: one for one in reversed(found)}.values())[::-1]

    def key(self, lead: Lead) -> list[Quad]:
        """The quads of the key of an entity, which is written when there is something to say of it; none when it is already."""
        if not lead.denotes or lead.node is None:
            return []
        graph = self._leads.indexes.nodes.graph(lead.node)
        if self._graph.select("search/statements", [graph], node=lead.iri):
            return []
        key = Key(iri=lead.iri, name=lead.name, type=lead.type, created_at=self._at, denotes=lead.denotes)
        return quads(key, graph)

    def _same(self, phrase: str, type: KeyType) -> Settled | None:
        lead = self._leads.called(phrase, first=self._own) or self._leads.worded(phrase, first=self._own)
        if lead is None:
            return None
        written = Change()
        if type != "concept" and lead.type == "concept" and self._is_own(lead):
            written = Change(
                ((lead.iri, MEM.keyType, type, self._own),), ((lead.iri, MEM.keyType, lead.type, self._own),)
            )
            lead = Lead(iri=lead.iri, name=lead.name, type=type, node=lead.node)
        return Settled(phrase=phrase, lead=lead, written=written)

    def _just_made(self, phrase: str) -> Settled | None:
        stems = tokens(phrase)
        for one in self._new:
            if folded(one.phrase) == folded(phrase) or (stems and tokens(one.phrase) == stems):
                return Settled(phrase=phrase, lead=one.lead)
        return None

    def _alike(self, phrase: str, vector: Vectors | None) -> Settled | None:
        """The concept that means the same, and learns the phrase as another of its names."""
        least = self._limits.short_merge if is_short(phrase) else self._limits.merge
        if vector is None or not least:
            return None
        best: tuple[float, Lead] | None = None
        for cosine, lead in (*self._near(vector), *self._near_new(vector)):
            is_same = cosine >= least and not are_siblings(phrase, lead.name)
            if is_same and (best is None or cosine > best[0]):
                best = (cosine, lead)
        if best is None:
            return None
        return Settled(phrase=phrase, lead=best[1], written=self._called_too(best[1], phrase))

    def _near(self, vector: Vectors) -> list[tuple[float, Lead]]:
        found = []
        for kind in ("key", "anchor"):
            nodes, cosines = self._leads.indexes.vectors[kind].near(vector[None, :], _NEAR, self._leads.concepts)
            found += [(c, self._leads.of(n)) for n, c in zip(nodes.tolist(), cosines.tolist(), strict=True)]
        return found

    def _near_new(self, vector: Vectors) -> list[tuple[float, Lead]]:
        return [(float(np.dot(one.vector, vector)), one.lead) for one in self._new if one.vector is not None]

    def _called_too(self, lead: Lead, phrase: str) -> Change:
        if lead.node is not None and self._leads.indexes.nodes.graph(lead.node) != self._own:
            return Change()
        adds: list[Quad] = [(lead.iri, SKOS.altLabel, phrase, self._own)]
        if lead.denotes:
            adds = [*self.key(lead), *adds]
        return Change(tuple(adds))

    def _made(self, phrase: str, type: KeyType, vector: Vectors | None) -> Settled:
        key = Key(iri=mint("key"), name=phrase, type=type, created_at=self._at)
        lead = Lead(iri=key.iri, name=phrase, type=type)
        made = Settled(phrase=phrase, lead=lead, written=Change(tuple(quads(key, self._own))), vector=vector)
        self._new.append(made)
        return made

    def _is_own(self, lead: Lead) -> bool:
        nodes = self._leads.indexes.nodes
        return lead.node is not None and lead.denotes is None and nodes.graph(lead.node) == self._own
