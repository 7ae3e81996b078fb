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

from memento.backends import Backends
from memento.graph.mapping import quads
from memento.graph.store import Store
from memento.iris import IRI, MEM, SKOS, mint
from memento.keys.match import Thresholds, is_short
from memento.keys.view import KeyEntry, KeyView
from memento.model import Change, Key, KeyType, Quad, Scope
from memento.ports import Embedder, Vectors
from memento.search.spellings import fold_text
from memento.search.words import tokens
from memento.strength.reinforcement import Reinforcement

_NEAR = 8  # keys that a new one is compared with

# What tells siblings apart: one letter, or anything with a digit, or a number in Roman figures.
_MARK = re.compile(r"\b(?:[^\W\d_]|\w*\d\w*|(?=[ivx]+\b)(?:x{0,3}(?:ix|iv|v?i{0,3})))\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedKey:
    """What a phrase means, and what is to be written for it; `vector` is that of a new concept (d,)."""

    phrase: str
    entry: KeyEntry
    written: Change = Change()
    vector: Vectors | None = None


def are_siblings(one: str, other: str) -> bool:
    """
    Tell whether two labels differ in what tells one of a kind from the next, as a letter or a number.

    >>> are_siblings("Agent A", "Agent B"), are_siblings("GPT-3", "GPT-4"), are_siblings("Rocky II", "Rocky III")
    (True, True, True)
    >>> are_siblings("vector database", "vector databases")
    False
    """
    first, second = (set(_MARK.findall(fold_text(label))) for label in (one, other))
    return first != second


class KeyResolver:
    """Resolves the keys of one memory after the other, within one change. Ask under `indexes.lock`, as one of the writers."""

    def __init__(
        self, view: KeyView, embedder: Embedder, graph: Store, own: IRI, limits: Thresholds, at: datetime
    ) -> None:
        """
        Args:
            own: the graph that is written.
            at: when new keys are made.
        """
        self._view = view
        self._embedder = embedder
        self._graph = graph
        self._own = own
        self._limits = limits
        self._at = at
        self._new: list[ResolvedKey] = []

    def resolve(self, types: Mapping[str, KeyType]) -> list[ResolvedKey]:
        """Return what each phrase means; `types` says as what it matches."""
        found: list[ResolvedKey] = []
        open_: list[tuple[str, KeyType]] = []
        for phrase, type in types.items():
            known = self._find_same(phrase, type)
            if known:
                found.append(known)
            else:
                open_.append((phrase, type))
        labels = [phrase for phrase, type in open_ if type == "concept"]
        vectors = dict(zip(labels, self._embedder.embed(labels), strict=True)) if labels else {}
        for phrase, type in open_:
            # One that was just made for the phrase before may be the same.
            one = (
                self._find_new(phrase)
                or self._find_synonym(phrase, vectors.get(phrase))
                or self._create_key(phrase, type, vectors.get(phrase))
            )
            found.append(one)
        return list({one.entry.iri: one for one in reversed(found)}.values())[::-1]

    def write_key(self, entry: KeyEntry) -> list[Quad]:
        """
        Return the quads of the key of an entity, which is written when there is something to say of it; none when it is already.
        """
        if not entry.denotes or entry.node is None:
            return []
        graph = self._view.indexes.nodes.graph(entry.node)
        if self._graph.select("search/statements", [graph], node=entry.iri):
            return []
        key = Key(iri=entry.iri, name=entry.name, type=entry.type, created_at=self._at, denotes=entry.denotes)
        return quads(key, graph)

    def _find_same(self, phrase: str, type: KeyType) -> ResolvedKey | None:
        entry = self._view.find_named(phrase, first=self._own) or self._view.find_worded(phrase, first=self._own)
        if entry is None:
            return None
        written = Change()
        if type != "concept" and entry.type == "concept" and self._is_own(entry):
            written = Change(
                ((entry.iri, MEM.keyType, type, self._own),), ((entry.iri, MEM.keyType, entry.type, self._own),)
            )
            entry = KeyEntry(iri=entry.iri, name=entry.name, type=type, node=entry.node)
        return ResolvedKey(phrase=phrase, entry=entry, written=written)

    def _find_new(self, phrase: str) -> ResolvedKey | None:
        stems = tokens(phrase)
        for one in self._new:
            if fold_text(one.phrase) == fold_text(phrase) or (stems and tokens(one.phrase) == stems):
                return ResolvedKey(phrase=phrase, entry=one.entry)
        return None

    def _find_synonym(self, phrase: str, vector: Vectors | None) -> ResolvedKey | None:
        """Return the concept that means the same, and learns the phrase as another of its names."""
        least = self._limits.short_merge if is_short(phrase) else self._limits.merge
        if vector is None or not least:
            return None
        best: tuple[float, KeyEntry] | None = None
        for cosine, entry in (*self._list_near(vector), *self._list_near_new(vector)):
            is_same = cosine >= least and not are_siblings(phrase, entry.name)
            if is_same and (best is None or cosine > best[0]):
                best = (cosine, entry)
        if best is None:
            return None
        return ResolvedKey(phrase=phrase, entry=best[1], written=self._add_name(best[1], phrase))

    def _list_near(self, vector: Vectors) -> list[tuple[float, KeyEntry]]:
        found = []
        for kind in ("key", "anchor"):
            nodes, cosines = self._view.indexes.vectors[kind].near(vector[None, :], _NEAR, self._view.concepts)
            found += [(c, self._view.entry_of(n)) for n, c in zip(nodes.tolist(), cosines.tolist(), strict=True)]
        return found

    def _list_near_new(self, vector: Vectors) -> list[tuple[float, KeyEntry]]:
        return [(float(np.dot(one.vector, vector)), one.entry) for one in self._new if one.vector is not None]

    def _add_name(self, entry: KeyEntry, phrase: str) -> Change:
        if entry.node is not None and self._view.indexes.nodes.graph(entry.node) != self._own:
            return Change()
        adds: list[Quad] = [(entry.iri, SKOS.altLabel, phrase, self._own)]
        if entry.denotes:
            adds = [*self.write_key(entry), *adds]
        return Change(tuple(adds))

    def _create_key(self, phrase: str, type: KeyType, vector: Vectors | None) -> ResolvedKey:
        key = Key(iri=mint("key"), name=phrase, type=type, created_at=self._at)
        entry = KeyEntry(iri=key.iri, name=phrase, type=type)
        made = ResolvedKey(phrase=phrase, entry=entry, written=Change(tuple(quads(key, self._own))), vector=vector)
        self._new.append(made)
        return made

    def _is_own(self, entry: KeyEntry) -> bool:
        nodes = self._view.indexes.nodes
        return entry.node is not None and entry.denotes is None and nodes.graph(entry.node) == self._own


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext:
    """What writing under keys stands on. Use it under `indexes.lock`, as one of the writers."""

    scope: Scope
    view: KeyView
    stores: Backends
    strengths: Reinforcement
    limits: Thresholds
    now: datetime

    def resolver(self) -> KeyResolver:
        """Return what resolves the keys of one memory."""
        return KeyResolver(self.view, self.stores.embedder, self.stores.graph, self.scope.graph, self.limits, self.now)
