"""What changes the memory."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memento import library
from memento.consolidation import pipeline as consolidation
from memento.consolidation.agents import Extraction
from memento.instants import instant, now
from memento.model import Forgotten, Imported, Noted, NoteRow, Scope
from memento.ports import Progress
from memento.service.held import Held


class Writing(Held):
    """Notes come in, memories are forgotten."""

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
        namespace: str | None = None,
    ) -> Noted:
        """
        Remember a first-person note: extract its facts, skip what is known, retire what it replaces, in one atomic write.

        Args:
            content: what to remember, at most `limits.text_bytes` long.
            at: when it was said; default now. A naive time is read in the user's time zone.
            title: what the note is about, when it says so outside its text.
            speaker: who said it, when it was not the user.
            session, position: the conversation it belongs to, and its place in it, counted from 0.
            idempotency_key: a retry with the same key is the same note.

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
        return self._consolidated(row, self._in(namespace, "write"), keep=False)

    def import_notes(
        self,
        rows: Iterable[NoteRow],
        *,
        consolidate: bool = True,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """
        Note many rows, embedding them in batches.

        Args:
            consolidate: False keeps each row as one memory of its own text and retires nothing.
            progress: called with (rows done, rows in all).

        Raises:
            InputError: a row is empty or too long; names the row, counted from 1; nothing is stored.
        """
        scope, listed, keep = self._in(namespace, "write"), list(rows), not consolidate
        for number, row in enumerate(listed, start=1):
            self._checked(row.content, f"content of row {number}")
        return consolidation.imported(
            listed,
            scope,
            lambda row, extraction: self._consolidated(row, scope, keep, extraction),
            keep=keep,
            zone=self._zone,
            parts=self._parts,
            agents=self._agents,
            progress=progress,
        )

    def forget(self, iri: str, *, erase: bool = False, namespace: str | None = None) -> Forgotten:
        """
        Hide a memory, or all memories of a note, from every recall from now on; history keeps it.

        Args:
            iri: a memory or a note.
            erase: also delete its content, and the note when nothing else derives from it.

        Raises:
            NotFound: no memory or note with that IRI in this namespace.
        """
        with self._writing:
            return library.forget(iri, self._in(namespace, "write"), erase, now(), self._parts)

    def _consolidated(self, row: NoteRow, scope: Scope, keep: bool, extraction: Extraction | None = None) -> Noted:
        self._checked(row.content, "content")
        with self._writing:
            return consolidation.consolidate(
                row,
                scope,
                received=now(),
                zone=self._zone,
                keep=keep,
                agents=self._agents,
                parts=self._parts,
                knobs=self.settings.consolidation,
                extraction=extraction,
            )
