"""
What keys learn from the questions that led over them (a phrase as another name, or a new key), and what they unlearn.

A question that nearly equals the key becomes another name of it. One that is only similar becomes a new concept for the same
memory. One that nearly missed the key becomes a name once it is repeated often enough.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memento.backends import Backends
from memento.graph.mapping import quads
from memento.iris import IRI, MEM, TYPE, learned_iri, link_iri, mint
from memento.model import Change, Counted, Effect, Key, KeyLink, Quad, Scope
from memento.plugins.keys.match import Matches, is_short
from memento.plugins.keys.remember import WriteContext
from memento.plugins.keys.settings import KeysSettings
from memento.plugins.keys.view import KeyEntry
from memento.search.spellings import fold_text

_LENGTH = 32  # questions that are remembered
_LIFETIME = timedelta(seconds=300)
_COUNTED = 4096  # pairs of key and question that are counted


@dataclass(slots=True)
class _LoggedQuery:
    """One question, the keys that it led to without naming them, and those that its words named."""

    at: datetime
    graph: IRI
    text: str
    likeness: dict[IRI, float]
    spelt: dict[IRI, str]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a key may learn: a question that led over it often enough, and its cosine with the key."""

    phrase: str
    likeness: float


@dataclass(slots=True)
class QueryLog:
    """The last questions of all readers; each reader finds only those of one namespace."""

    _questions: deque[_LoggedQuery] = field(default_factory=lambda: deque(maxlen=_LENGTH))
    _counts: dict[tuple[IRI, IRI, str], int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def log(self, text: str, graph: IRI, found: Matches, at: datetime) -> None:
        """Record a question in a namespace, with the keys that it led to and those that it nearly matched."""
        likeness = {iri: one.own for iri, one in found.candidates.items() if one.spelt is None and one.own}
        if is_short(text):
            likeness |= found.missed
        spelt = {iri: one.spelt for iri, one in found.candidates.items() if one.spelt}
        with self._lock:
            self._questions.append(_LoggedQuery(at, graph, text, likeness, spelt))

    def find_phrase(self, key: IRI, graph: IRI, at: datetime) -> str | None:
        """Return the phrase by which the latest question that named a key did so."""
        with self._lock:
            return next((one.spelt[key] for one in self._latest(graph, at) if key in one.spelt), None)

    def take_lesson(self, key: IRI, graph: IRI, at: datetime, enough: int) -> Lesson | None:
        """
        Count the latest question that led to a key which was then traversed; return what to learn if it has done so often enough.
        """
        with self._lock:
            query = next((one for one in self._latest(graph, at) if key in one.likeness), None)
            if query is None:
                return None
            likeness = query.likeness.pop(key)
            pair = (graph, key, fold_text(query.text))
            count = self._counts.pop(pair, 0) + 1
            if count >= enough:
                return Lesson(" ".join(query.text.split()), likeness) if is_short(query.text) else None
            self._counts[pair] = count
            while len(self._counts) > _COUNTED:
                self._counts.pop(next(iter(self._counts)))
        return None

    def _latest(self, graph: IRI, at: datetime) -> list[_LoggedQuery]:
        return [one for one in reversed(self._questions) if one.graph == graph and at - one.at < _LIFETIME]


def learn_phrase(lesson: Lesson, entry: KeyEntry, memory: IRI, context: WriteContext, settings: KeysSettings) -> Change:
    """
    Return the change that applies a lesson; an empty one if a key already has the phrase, or this key has too many names.
    """
    if entry.is_named or entry.node is None or context.view.find_named(lesson.phrase) is not None:
        return Change()
    if context.stores.indexes.nodes.graph(entry.node) != context.scope.graph:
        return Change()
    if context.limits.auto_link <= lesson.likeness < context.limits.merge:
        return _create_concept(lesson.phrase, lesson.likeness, memory, context)
    if lesson.likeness < settings.autokey_floor:
        return Change()
    known = context.stores.graph.select("search/statements", [context.scope.graph], node=entry.iri)
    if sum(row["predicate"] == MEM.alias for row in known) >= settings.autokey_aliases:
        return Change()
    graph, phrase = context.scope.graph, learned_iri(entry.iri, fold_text(lesson.phrase))
    adds: list[Quad] = [
        *context.resolver().write_key(entry),
        (entry.iri, MEM.alias, lesson.phrase, graph),
        (phrase, TYPE, MEM.LearnedPhrase, graph),
        (phrase, MEM["from"], entry.iri, graph),
        (phrase, MEM.alias, lesson.phrase, graph),
        (phrase, MEM.createdAt, context.now, graph),
    ]
    return Change(tuple(adds))


def count_use(key: IRI, phrase: str, scope: Scope, stores: Backends) -> list[Effect]:
    """Return the effect that counts a use of a learned phrase; none if the phrase is not a learned name of the key."""
    node = learned_iri(key, fold_text(phrase))
    is_learned = stores.graph.select("search/statements", [scope.graph], node=node)
    return [Counted(node=node, graph=scope.graph)] if is_learned else []


def unlearn_idle(context: WriteContext, days: float) -> tuple[Change, int]:
    """Return the change that removes the phrases learned at least this many days ago and never used, and their number."""
    graph, old = context.scope.graph, context.now - timedelta(days=days)
    removes: list[Quad] = []
    count = 0
    for row in context.stores.graph.select("plugins/keys/learned", [graph]):
        if row.get("uses") or row["at"] > old:
            continue
        count += 1
        learned = row["learned"]
        rows = context.stores.graph.select("search/statements", [graph], node=learned)
        removes += [(learned, one["predicate"], one["value"], graph) for one in rows]
        removes.append((row["key"], MEM.alias, row["phrase"], graph))
    return Change((), tuple(removes)), count


def _create_concept(phrase: str, weight: float, memory: IRI, context: WriteContext) -> Change:
    key = Key(iri=mint("key"), name=phrase, type="concept", created_at=context.now)
    link = KeyLink(
        iri=link_iri(key.iri, memory), key=key.iri, memory=memory, weight=round(weight, 4), created_at=context.now
    )
    return Change((*quads(key, context.scope.graph), *quads(link, context.scope.graph)))
