"""What leaves texts under keys, and what takes away those whose time is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memento.consolidation.task import Task, in_order, order
from memento.errors import InputError, MementoError
from memento.graph.mapping import quads
from memento.iris import IRI, MEM, TYPE, session_iri, tag_iri
from memento.keys import learn, listing
from memento.keys.given import sanitised
from memento.keys.remember import Written, remembered
from memento.model import BatchRow, Change, Cleaned, KeyType, Marks, Remembered, Scope, Session, ToRemember, Value
from memento.service.held import Held

MOST_ITEMS = 100


class Remembering(Held):
    """Texts under keys that somebody gives them; no model is asked."""

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
            keys: names and short phrases that lead to it; without any it is reached by its own names and nouns, as a note is.
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
            keys=None if keys is None else tuple(sanitised(keys)),
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

    def cleanup_expired(self, *, namespace: str | None = None) -> Cleaned:
        """Let go of the memories whose time is over, and of learned phrases that nobody used; history keeps the memories."""
        scope, at = self._in(namespace, "write"), self._parts.clock()
        with self._writing, self._parts.indexes.lock:
            self._reinforcement.write_held()
            over, expired = listing.overdue(scope, at, self._parts.graph)
            idle, phrases = learn.unlearned(self._desk(scope, at), self.settings.keys.autokey_days)
            change = over + idle
            if change.adds or change.removes:
                self._parts.commit(change, scope)
        return Cleaned(expired=expired, phrases=phrases)

    def _remembered(self, item: ToRemember, scope: Scope, marks: Marks | None = None) -> Remembered:
        self._checked(item.content, "content")
        self._checked(item.source, "source")
        # Before anybody waits for the lock: what was embedded is remembered.
        texts = [*self._parts.embedder.windows(item.content), *sanitised(item.keys or ())]
        self._parts.embedder.embed(texts)
        with self._writing, self._parts.indexes.lock:
            at = self._parts.clock()
            if item.related_to or item.keys:
                self._reinforcement.write_held()
            written = remembered(item, self._desk(scope, at))
            change = written.change + self._placed(item, written, scope, at)
            if marks and written.note is not None:
                change += marking(written.told.saved, marks, scope)
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


def marking(memory: IRI, marks: Marks, scope: Scope) -> Change:
    """What is said of a memory beside its text; a tag is written with it."""
    values: dict[IRI, Value | None] = {MEM.memoryType: marks.type, MEM.importance: marks.importance}
    said = [(memory, name, value, scope.graph) for name, value in values.items() if value not in (None, "")]
    names = {tag_iri(name): " ".join(name.split()) for name in marks.tags if name.strip()}
    tags = [
        quad
        for tag, name in names.items()
        for quad in (
            (memory, MEM.tagged, tag, scope.graph),
            (tag, TYPE, MEM.Tag, scope.graph),
            (tag, MEM.name, name.casefold(), scope.graph),
        )
    ]
    return Change((*said, *tags))
