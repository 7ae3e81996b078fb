"""What walks over keys."""

from __future__ import annotations

from memento.errors import Forbidden, InputError, NotFound
from memento.iris import IRI
from memento.keys import direct, learn, listing, match, walk
from memento.keys.thresholds import thresholds
from memento.keys.walk import Page, Way
from memento.model import (
    Change,
    DirectRecall,
    FoundKeys,
    KeyOf,
    KeyPage,
    MemoryRow,
    MemoryStats,
    OpenedMemory,
    Related,
    Scope,
    TurnRow,
)
from memento.ports import Vectors
from memento.search.spellings import folded
from memento.service.held import Held
from memento.time import now

MOST_KEYS = 20
MOST_ROWS = 50
MOST_HOPS = 5


class Keys(Held):
    """The walk over keys: a question leads to keys, a key to memories, a memory to further keys."""

    def find_keys(self, query: str, *, k: int = 8, namespace: str | None = None) -> FoundKeys:
        """
        The keys that a question leads to, best first; no text of any memory. Nothing is written.

        Args:
            query: a short phrase or a question.
            k: most keys, 1 to 20.

        Raises:
            InputError: empty query, or k out of range.
            TooLong: query over `limits.text_bytes`.
        """
        self._checked(query, "query")
        _within(k, "k", MOST_KEYS)
        scope, at = self._in(namespace), now()
        vectors = self._embedded(query)
        limits = thresholds(self._parts.embedder.fingerprint, self.settings.keys)
        with self._parts.indexes.lock:
            leads = self._leads(scope, at)
            found = match.matched(
                match.Asked(text=query, vectors=vectors, limits=limits), leads, self._parts.graph, self.settings.keys
            )
            best = match.chosen(found, leads, k)
            called = match.aliases([one.lead for one in best], scope.readable, self._parts.graph)
            rows = match.shown(best, leads, called, self.settings.keys.hub)
        if self.settings.keys.autokey:
            self._trail.note(query, scope.graph, found, at)
        return FoundKeys(query=query, namespace=scope.namespace, keys=tuple(rows))

    def read_key(
        self, iri: str, *, query: str | None = None, limit: int = 10, offset: int = 0, namespace: str | None = None
    ) -> KeyPage:
        """
        Where a key leads: the memories, best first, without their text. Nothing is written.

        Args:
            iri: a key as `find_keys` gives it, or an entity.
            query: rank by likeness to this too.
            limit: most memories, 1 to 50.
            offset: how many to pass over; `next_offset` of the page before.

        Raises:
            NotFound: no such key here.
            InputError: limit or offset out of range.
        """
        _within(limit, "limit", MOST_ROWS)
        if offset < 0:
            raise InputError(f"offset must not be negative, not {offset}")
        if query is not None:
            self._checked(query, "query")
        scope = self._in(namespace)
        wanted = Page(limit=limit, offset=offset, asked=None if query is None else self._embedded(query))
        with self._parts.indexes.lock:
            way = self._way(scope)
            lead = way.leads.lead(iri)
            if lead is None:
                raise NotFound(
                    f"there is no key <{iri[:200]}> in the namespace {scope.namespace!r}: ask for keys first"
                )
            called = match.aliases([lead], scope.readable, self._parts.graph)
            return walk.page(lead, wanted, way, called.get(lead.iri, ()), self.settings.keys.hub)

    def read_memory(
        self, iri: str, *, via: str | None = None, past: bool = False, namespace: str | None = None
    ) -> OpenedMemory:
        """
        A memory in full, with the keys that lead on from it. It grows deeper, and the link that was trodden stronger; not where
        the caller may not write, or nobody may.

        Args:
            via: the key that led here.
            past: also a memory that was superseded, is over or forgotten; it is read without a trace.

        Raises:
            NotFound: no such memory here.
            InputError: it was superseded, by which one; or the key does not lead to it.
        """
        scope = self._in(namespace)
        traced = self._access.may("write") and self.degraded is None
        with self._parts.indexes.lock:
            way = self._way(scope)
            opened, effects = walk.opened(iri, via, way, past=past, traced=traced)
        if effects:
            self._reinforcement.note(*effects)
            trodden = next((one for one in opened.keys if one.is_traversed), None)
            if trodden and self.settings.keys.autokey:
                self._learn(trodden, opened.memory, scope)
        return opened

    def related(self, iri: str, *, namespace: str | None = None) -> Related:
        """The memories that share keys with one, the rarest keys counting most, or were linked to it; raises `NotFound`."""
        scope = self._in(namespace)
        with self._parts.indexes.lock:
            return walk.related(iri, self._way(scope))

    def conversation(
        self, session: str, *, turn: int | None = None, namespace: str | None = None
    ) -> tuple[TurnRow, ...]:
        """What was said in a session, in order, or the five turns around one; nothing when there is no such session."""
        self._checked(session, "session")
        return listing.conversation(session, turn, self._in(namespace), self._parts.graph)

    def list_memories(self, *, limit: int = 50, offset: int = 0, namespace: str | None = None) -> tuple[MemoryRow, ...]:
        """The memories that hold, newest first, with their keys, depth and links; raises `InputError` as `list` does."""
        _within(limit, "limit", self.settings.limits.results)
        if offset < 0:
            raise InputError(f"offset must not be negative, not {offset}")
        scope = self._in(namespace)
        with self._parts.indexes.lock:
            return listing.memories(limit, offset, self._way(scope))

    def memory_stats(self, *, namespace: str | None = None) -> MemoryStats:
        """Counts of keys, links, memories, notes and sessions over what the namespace reads."""
        scope = self._in(namespace)
        size = sum(file.stat().st_size for file in self.datadir.path.rglob("*") if file.is_file())
        with self._parts.indexes.lock:
            return listing.stats(scope, self._way(scope), size)

    def recall_memories(
        self,
        query: str,
        *,
        k: int = 5,
        hops: int = 2,
        expand: bool = False,
        least_share: float = 0.0,
        least_depth: float = 0.0,
        min_score: float | None = None,
        gate_z: float | None = None,
        key_gate: float | None = None,
        namespace: str | None = None,
    ) -> DirectRecall:
        """
        The memories for a question at once, by words, meaning and hops over keys. They grow deeper, the links to them stronger.

        Args:
            k: most memories, 1 to 50; twice as many with `expand`.
            hops: 1 leads nowhere on, 5 at most.
            expand: look farther; what only hops found counts less.
            least_share: share of the best score below which a memory is left out, 0 to .9.
            least_depth: depth below which it is, 0 to 1.
            min_score, gate_z, key_gate: the settings of the same names, for this question.

        Raises:
            Forbidden: the setting `keys.direct` is off.
            InputError: empty query, or a number out of range.
        """
        if not self.settings.keys.direct:
            raise Forbidden("direct recall over keys is off: set MEMENTO_KEYS_DIRECT=true, or walk with find_keys")
        self._checked(query, "query")
        _within(k, "k", MOST_ROWS)
        _within(hops, "hops", MOST_HOPS)
        for name, value, most in (("least_share", least_share, 0.9), ("least_depth", least_depth, 1.0)):
            if not 0 <= value <= most:
                raise InputError(f"{name} must be from 0 to {most}, not {value}")
        scope, knobs = self._in(namespace), self.settings.keys
        limits = thresholds(self._parts.embedder.fingerprint, knobs)
        asked = match.Asked(text=query, vectors=self._embedded(query), limits=limits)
        wanted = direct.Wanted(
            k=k,
            hops=hops,
            expand=expand,
            least_share=least_share,
            least_depth=least_depth,
            min_score=min_score,
            gate_z=gate_z,
            key_gate=key_gate,
        )
        with self._parts.indexes.lock:
            found, effects = direct.recalled(asked, wanted, self._way(scope), knobs, self.settings.words)
        if self._access.may("write"):
            self._reinforcement.note(*effects)
        return DirectRecall(query=query, namespace=scope.namespace, memories=tuple(found))

    def _learn(self, trodden: KeyOf, memory: IRI, scope: Scope) -> None:
        """Let the key that was trodden learn from the question that led to it, when it did so often enough."""
        at, knobs, key = now(), self.settings.keys, trodden.key
        phrase = self._trail.named(key, scope.graph, at)
        if phrase and phrase != folded(trodden.name):
            self._reinforcement.note(*learn.counted(key, phrase, scope, self._parts))
        lesson = self._trail.taken(key, scope.graph, at, knobs.autokey_after)
        if lesson is None:
            return
        with self._writing, self._parts.indexes.lock:
            desk = self._desk(scope, at)
            lead = desk.leads.lead(key)
            change = learn.learned(lesson, lead, memory, desk, knobs) if lead else Change()
            if change.adds:
                self._parts.commit(change, scope)

    def _way(self, scope: Scope) -> Way:
        at = now()
        leads = self._leads(scope, at)
        return Way(leads, self._reinforcement, self._parts.graph, scope.readable, at)

    def _embedded(self, text: str) -> Vectors:
        return self._parts.embedder.embed(self._parts.embedder.windows(text))


def _within(number: int, name: str, most: int) -> None:
    if not 1 <= number <= most:
        raise InputError(f"{name} must be from 1 to {most}, not {number}")
