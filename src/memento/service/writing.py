"""What changes the memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from memento.archive import forgetting
from memento.consolidation import amend, pipeline, queue
from memento.consolidation.task import Task, task_of, user_of
from memento.errors import BackendError, ShapeViolation
from memento.keys.inherit import Better
from memento.model import Forgotten, Imported, KeyType, Noted, NoteRow, NoteStatus, Scope, Undone
from memento.ports import Progress
from memento.service.consolidating import Consolidating
from memento.time import instant

_BATCH = 128


class Writing(Consolidating):
    """Notes come in, memories are corrected and forgotten."""

    def note(
        self,
        content: str,
        *,
        at: datetime | str | None = None,
        title: str | None = None,
        speaker: str | None = None,
        session: str | None = None,
        position: int | None = None,
        idempotency_key: str | None = None,
        wait: bool = True,
        namespace: str | None = None,
    ) -> Noted:
        """
        Remember a first-person note: extract its facts, skip what is known, retire what it replaces, in one atomic write.

        Before a model is asked the note is kept as pending. When the model fails, the answer is a pending note: it is tried again
        in the background. Rules answer at once, and keep nothing when they fail.

        Args:
            content: what to remember, at most `limits.text_bytes` long.
            at: when it was said; default now. A naive time is read in the user's time zone.
            title: what the note is about, when it says so outside its text.
            speaker: who said it, when it was not the user.
            session, position: the conversation it belongs to, and its place in it, counted from 0.
            idempotency_key: a retry with the same key is the same note.
            wait: False returns as soon as the note is kept; `note_status` tells what becomes of it.

        Raises:
            InputError: empty content.
            TooLong: content over the limit.
            Conflict: the key was used for another content.
            BackendError: store or embedder failed; nothing was written.
        """
        row = NoteRow(
            content=content,
            at=None if at is None else instant(at, "at", self._zone),
            title=title,
            speaker=speaker,
            session=session,
            position=position,
            idempotency_key=idempotency_key,
        )
        self._checked(content, "content")
        return self._noted(task_of(row, self._in(namespace, "write"), self._parts.clock(), self._zone), wait)

    def note_status(self, iri: str, *, namespace: str | None = None) -> NoteStatus:
        """How far a note has come: pending, consolidated, skipped or failed, and why; raises `NotFound`."""
        scope = self._in(namespace)
        with self._writing:  # what it says was written is then found by a recall, too
            return queue.status_of(iri, scope, self._parts)

    def retry(self) -> tuple[NoteStatus, ...]:
        """
        Try every note now that is pending or was given up, of every namespace the caller may write to; what became of each.

        A note that fails again is put off as it would be by itself.
        """
        self._access.needs("write")
        self._writable()
        states = []
        for one in queue.waiting(self._parts, ("pending", "failed")):
            if one.scope.tenant != self._access.tenant or not self._access.sees(one.scope.namespace):
                continue
            if task := queue.task_again(one, self._parts):
                self._tried(task, self._agents())
                states.append(queue.status_of(one.note, one.scope, self._parts))
        return tuple(states)

    def import_notes(
        self,
        rows: Iterable[NoteRow],
        *,
        consolidate: bool = True,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """
        Note many rows, embedding them in batches. Where a model understands notes they are kept, and understood in the background.

        Args:
            consolidate: False keeps each row as one memory of its own text and retires nothing.
            progress: called with (rows done, rows in all).

        Raises:
            InputError: a row is empty or too long; names the row, counted from 1; nothing is stored.
        """
        scope, listed = self._in(namespace, "write"), list(rows)
        for number, row in enumerate(listed, start=1):
            self._checked(row.content, f"content of row {number}")
        noted: list[Noted] = []
        for begin in range(0, len(listed), _BATCH):
            batch = listed[begin : begin + _BATCH]
            tasks = [task_of(row, scope, self._parts.clock(), self._zone, keep=not consolidate) for row in batch]
            noted += self._taken_in(tasks, scope)
            if progress:
                progress(len(noted), len(listed))
        return Imported(
            notes=tuple(one.note for one in noted),
            memories=sum(len(one.memories) for one in noted),
            invalidated=sum(len(one.invalidated) for one in noted),
            skipped=sum(one.note is None for one in noted),
            pending=sum(one.pending for one in noted),
        )

    def correct(
        self,
        iri: str,
        content: str,
        *,
        at: datetime | str | None = None,
        keys: Sequence[str] | None = None,
        types: Mapping[str, KeyType] | None = None,
        related_to: Sequence[str] | None = None,
        namespace: str | None = None,
    ) -> Noted:
        """
        Say better what a memory got wrong: it is retired as never having been true, and the new text takes its place.

        It loses depth; what is deep resists. The new text has its keys, as far as they fit, its links and its time to live.

        Args:
            iri: the memory.
            content: what is right, in the first or the third person.
            at: since when that holds; default since the memory did.
            keys, types: the keys of the new text instead, as for `remember`.
            related_to: the memories that it is linked to instead.

        Raises:
            NotFound: no such memory in this namespace, or it is forgotten.
            InputError: the content is empty or the same, or the memory was corrected already; names what took its place.
            TooLong: content over the limit.
        """
        self._checked(content, "content")
        scope = self._in(namespace, "write")
        since = None if at is None else instant(at, "at", self._zone)
        better = Better(keys=keys, types=types, related_to=related_to)
        with self._understanding, self._writing:
            self._reinforcement.write_held()
            return amend.correct(
                amend.Correction(iri=iri, content=content, since=since, better=better),
                self._desk(scope, self._parts.clock()),
                self._rules,
            )

    def undo(self, iri: str, *, namespace: str | None = None) -> Undone:
        """
        Take an invalidation back: the memory it retired holds again.

        The memory that had retired it stays; `forget` it if it is wrong.

        Args:
            iri: the invalidation, or the retired memory, whose latest one is meant.

        Raises:
            NotFound: no such invalidation in this namespace, and no memory that one has retired.
        """
        scope = self._in(namespace, "write")
        with self._writing:
            return amend.undo(iri, scope, self._parts.clock(), self._parts)

    def forget(self, iri: str, *, erase: bool = False, namespace: str | None = None) -> Forgotten:
        """
        Hide a memory, all memories of a note, or all that a model made, from every recall from now on; history keeps them.

        A note that is still pending is not understood any more.

        Args:
            iri: a memory, a note, or an agent as `sources` names it.
            erase: also delete its content, and the note when nothing else derives from it.

        Raises:
            NotFound: no memory, note or agent with that IRI in this namespace.
        """
        with self._writing:
            return forgetting.forget(iri, self._in(namespace, "write"), erase, self._parts.clock(), self._parts)

    def _noted(self, task: Task, wait: bool) -> Noted:
        agents = self._agents()
        if wait and agents.kind == "rules":
            return self._consolidated(task, agents) or Noted(note=None)
        kept = self._accepted(task)
        if isinstance(kept, Noted):
            return kept
        if not wait:
            self._worker.wake()
            return Noted(note=kept.note.iri, pending=True)
        try:
            noted = self._consolidated(kept, agents)
        except (BackendError, ShapeViolation) as error:
            noted = self._put_off(kept, agents, error)
            self._worker.wake()
        return noted or Noted(note=None, skipped="it was forgotten before it was understood")

    def _taken_in(self, tasks: Sequence[Task], scope: Scope) -> list[Noted]:
        """One batch of an import: by rules one after the other, embedded at once beforehand; for a model kept as pending."""
        agents = self._agents()
        if agents.kind == "model" and not any(task.keep for task in tasks):
            return [self._noted(task, wait=False) for task in tasks]
        user, _ = user_of(scope, self._parts)
        found = [self._rules.extract_entities(task.note, user, biography=not task.keep) for task in tasks]
        read = list(zip(tasks, found, strict=True))
        texts = [text for task, one in read for text in pipeline.anticipated(task, one, user, self._rules)]
        pipeline.embed(texts, self._parts)
        return [self._consolidated(task, self._rules, one) or Noted(note=None) for task, one in read]
