"""What walks over keys, and what leaves texts under keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memento.consolidation.task import Task, in_order, order
from memento.errors import InputError, MementoError, NotFound
from memento.graph.mapping import quads
from memento.instants import now
from memento.keys import learn, listing, match, walk
from memento.keys.remember import Written, remembered
from memento.keys.thresholds import thresholds
from memento.keys.walk import Page, Way
from memento.model import (
    BatchRow,
    Change,
    Cleaned,
    FoundKeys,
    KeyPage,
    KeyType,
    MemoryRow,
    MemoryStats,
    OpenedMemory,
    Related,
    Remembered,
    Scope,
    Session,
    ToRemember,
    TurnRow,
)
from memento.ports import Vectors
from memento.service.held import Held
from memento.vocabulary import IRI, MEM, TYPE, session_iri

MOST_KEYS = 20
MOST_ROWS = 50
MOST_ITEMS = 100


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
        A memory in full, with the keys that lead on from it. It grows deeper, and the link that was trodden stronger.

        Args:
            via: the key that led here.
            past: also a memory that was superseded, is over or forgotten; it is read without a trace.

        Raises:
            NotFound: no such memory here.
            InputError: it was superseded, by which one; or the key does not lead to it.
        """
        scope = self._in(namespace)
        with self._parts.indexes.lock:
            way = self._way(scope)
            opened, effects = walk.opened(iri, via, way, past=past)
        if effects and self._access.may("write"):
            self._reinforcement.note(*effects)
            if via and self.settings.keys.autokey:
                self._learn(via, opened.memory, scope)
        return opened

    def related(self, iri: str, *, namespace: str | None = None) -> Related:
        """The memories that share keys with one, the rarest keys counting most, or were linked to it; raises `NotFound`."""
        scope = self._in(namespace)
        with self._parts.indexes.lock:
            return walk.related(iri, self._way(scope))

    def remember(
        self,
        content: str,
        keys: Sequence[str] | None = None,
        *,
        types: Mapping[str, KeyType] | None = None,
        ttl_s: float | None = None,
        related_to: Sequence[str] = (),
        session: str | None = None,
        source: str = "explicit",
        namespace: str | None = None,
    ) -> Remembered:
        """
        Keep a text under some keys, in one atomic write and without a model; see `Remembered` for what becomes of what is known.

        Args:
            keys: names and short phrases that lead to it; default those that the text itself offers.
            types: which keys are names (`name`, `proper_noun`), found by spelling alone; all others are concepts.
            ttl_s: seconds after which it is forgotten.
            related_to: memories to link it to; those that do not exist are passed over.
            session: the conversation that it belongs to.
            source: how it came in, as a short word.

        Raises:
            InputError: empty content or source, or no usable key.
            TooLong: content over the limit.
        """
        item = ToRemember(
            content=content,
            keys=None if keys is None else tuple(keys) if not isinstance(keys, str) else (keys,),
            types=dict(types or {}),
            ttl_s=ttl_s,
            related_to=tuple(related_to),
            session=session,
            source=source,
        )
        return self._remembered(item, self._in(namespace, "write"))

    def remember_batch(self, items: Sequence[ToRemember], *, namespace: str | None = None) -> tuple[BatchRow, ...]:
        """
        Remember several texts one after the other, at most 100; one that cannot be remembered is no hindrance to the others.

        Raises:
            InputError: too many items.
        """
        scope = self._in(namespace, "write")
        if len(items) > MOST_ITEMS:
            raise InputError(f"items must be {MOST_ITEMS} at most, not {len(items)}: send the rest in a further call")
        rows = []
        for item in items:
            try:
                rows.append(BatchRow(remembered=self._remembered(item, scope)))
            except MementoError as error:
                rows.append(BatchRow(error=str(error)))
        return tuple(rows)

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

    def cleanup_expired(self, *, namespace: str | None = None) -> Cleaned:
        """Let go of the memories whose time is over, and of learned phrases that nobody used; history keeps the memories."""
        scope, at = self._in(namespace, "write"), now()
        with self._writing, self._parts.indexes.lock:
            self._reinforcement.write_held()
            over, expired = listing.overdue(scope, at, self._parts.graph)
            idle, phrases = learn.unlearned(self._desk(scope, at), self.settings.keys.autokey_days)
            change = over + idle
            if change.adds or change.removes:
                self._parts.commit(change, scope)
        return Cleaned(expired=expired, phrases=phrases)

    def memory_stats(self, *, namespace: str | None = None) -> MemoryStats:
        """Counts of keys, links, memories, notes and sessions over what the namespace reads."""
        scope = self._in(namespace)
        size = sum(file.stat().st_size for file in self.home.path.rglob("*") if file.is_file())
        with self._parts.indexes.lock:
            return listing.stats(scope, self._way(scope), size)

    def _remembered(self, item: ToRemember, scope: Scope) -> Remembered:
        self._checked(item.content, "content")
        self._checked(item.source, "source")
        self._embedded(item.content)  # before anybody waits for the lock
        with self._writing, self._parts.indexes.lock:
            at = now()
            if item.related_to or item.keys:
                self._reinforcement.write_held()
            written = remembered(item, self._desk(scope, at))
            change = written.change + self._placed(item, written, scope, at)
            if change.adds or change.removes:
                self._parts.commit(change, scope)
        self._reinforcement.note(*written.effects)
        return written.told

    def _placed(self, item: ToRemember, written: Written, scope: Scope, at: datetime) -> Change:
        """The note as the next turn of its conversation."""
        if not item.session or written.note is None:
            return Change()
        session = Session(iri=session_iri(scope.graph, item.session), name=item.session)
        note = replace(written.note, session=session.iri)
        task = in_order(Task(note=note, scope=scope, received=at, session=session), self._parts)
        assert task.note.position is not None
        place = (
            (note.iri, TYPE, MEM.Turn, scope.graph),
            (note.iri, MEM.session, session.iri, scope.graph),
            (note.iri, MEM.position, task.note.position, scope.graph),
        )
        return Change((*place, *quads(session, scope.graph))) + order(task)

    def _learn(self, via: str, memory: IRI, scope: Scope) -> None:
        """Let the key that was trodden learn from the question that led to it, when it did so often enough."""
        at, knobs = now(), self.settings.keys
        with self._parts.indexes.lock:
            lead = self._leads(scope, at).lead(via)
        if lead is None:
            return
        if phrase := self._trail.named(lead.iri, scope.graph, at):
            self._reinforcement.note(*learn.counted(lead, phrase, scope, self._parts))
        lesson = self._trail.taken(lead.iri, scope.graph, at, knobs.autokey_after)
        if lesson is None:
            return
        with self._writing, self._parts.indexes.lock:
            change = learn.learned(lesson, lead, memory, self._desk(scope, at), knobs)
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
