"""
A running service as a Python object: the methods of `service.Memento`, over HTTP.

*Guarantees:* errors are those of the service, by class and message; a service that does not answer is `Unreachable`. May be
used from many threads: each call has a connection of its own.

*But:* an import travels in portions. One that fails leaves the portions before it stored; the error says which rows it is about.

*Because:* nouns are imported where they are made: `ask` needs none, and a command must not wait for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from memento.client.connection import addressed, made
from memento.client.documents import Documents
from memento.client.keys import KeyCalls
from memento.client.living import LivingCalls
from memento.client.plans import PlanCalls
from memento.client.sparql import Sparql
from memento.errors import InputError, MementoError

if TYPE_CHECKING:
    from datetime import datetime

    from memento.model import (
        Described,
        Difference,
        Evaluated,
        Forgotten,
        Imported,
        Inferred,
        KeyType,
        Listed,
        Manifest,
        Noted,
        NoteRow,
        NoteStatus,
        RecalledEntity,
        Recollection,
        Source,
        Status,
        Timeline,
        Undone,
    )
    from memento.ports import Progress

PORTION = 200
"""Rows that an import sends at once: a few seconds of work, so that progress shows."""


class Client(KeyCalls, LivingCalls, Sparql, Documents, PlanCalls):
    """The memory behind a running service; a context manager."""

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
        """See `Memento.note`."""
        from memento.model import Noted

        row = {"title": title, "speaker": speaker, "session": session, "position": position}
        key = {"idempotency_key": idempotency_key, "namespace": namespace}
        return made(Noted, self.ask("note", content=content, at=at, wait=wait, **row, **key))

    def note_status(self, iri: str, *, namespace: str | None = None) -> NoteStatus:
        """See `Memento.note_status`."""
        from memento.model import NoteStatus

        return made(NoteStatus, self.ask("note_status", iri=iri, namespace=namespace))

    def retry(self) -> tuple[NoteStatus, ...]:
        """See `Memento.retry`."""
        from memento.model import NoteStatus

        return made(tuple[NoteStatus, ...], self.ask("retry"))

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
        """See `Memento.correct`."""
        from memento.model import Noted

        listed = {
            name: given if given is None else list(given)
            for name, given in (("keys", keys), ("related_to", related_to))
        }
        better = {**listed, "types": types and dict(types)}
        return made(Noted, self.ask("correct", iri=iri, content=content, at=at, namespace=namespace, **better))

    def undo(self, iri: str, *, namespace: str | None = None) -> Undone:
        """See `Memento.undo`."""
        from memento.model import Undone

        return made(Undone, self.ask("undo", iri=iri, namespace=namespace))

    def sources(self, iri: str, *, namespace: str | None = None) -> tuple[Source, ...]:
        """See `Memento.sources`."""
        from memento.model import Source

        return made(tuple[Source, ...], self.ask("sources", iri=iri, namespace=namespace))

    def import_notes(
        self,
        rows: Iterable[NoteRow],
        *,
        consolidate: bool = True,
        namespace: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """See `Memento.import_notes`; but rows before a failing portion stay stored."""
        from memento.model import Imported

        listed = list(rows)
        done = Imported(notes=(), memories=0, invalidated=0)
        for first in range(0, len(listed), PORTION):
            some = self._imported(listed[first : first + PORTION], first, consolidate, namespace)
            done = Imported(
                notes=done.notes + some.notes,
                memories=done.memories + some.memories,
                invalidated=done.invalidated + some.invalidated,
                skipped=done.skipped + some.skipped,
                pending=done.pending + some.pending,
                verbatim=done.verbatim + some.verbatim,
            )
            if progress:
                progress(len(done.notes), len(listed))
        return done

    def forget(self, iri: str, *, erase: bool = False, namespace: str | None = None) -> Forgotten:
        """See `Memento.forget`."""
        from memento.model import Forgotten

        return made(Forgotten, self.ask("forget", iri=iri, erase=erase, namespace=namespace))

    def recall(
        self,
        question: str,
        *,
        k: int | None = None,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        profile: str | None = None,
        engine: str | None = None,
        gate: bool | None = None,
        explain: bool = False,
        namespace: str | None = None,
    ) -> Recollection:
        """See `Memento.recall`."""
        from memento.model import Recollection

        when = {"as_of": as_of, "believed_at": believed_at}
        how = {"profile": profile, "engine": engine, "gate": gate, "explain": explain or None}
        return made(Recollection, self.ask("recall", question=question, k=k, namespace=namespace, **when, **how))

    def get(self, iri: str, *, namespace: str | None = None) -> Described:
        """See `Memento.get`."""
        from memento.model import Described

        return made(Described, self.ask("get", iri=iri, namespace=namespace))

    def list(
        self, *, limit: int = 50, offset: int = 0, past: bool = False, namespace: str | None = None
    ) -> tuple[Listed, ...]:
        """See `Memento.list`."""
        from memento.model import Listed

        answer = self.ask("list", limit=limit, offset=offset, past=past, namespace=namespace)
        return made(tuple[Listed, ...], answer)

    def entities(self, *, limit: int = 10, namespace: str | None = None) -> tuple[RecalledEntity, ...]:
        """See `Memento.entities`."""
        from memento.model import RecalledEntity

        return made(tuple[RecalledEntity, ...], self.ask("entities", limit=limit, namespace=namespace))

    def timeline(
        self,
        subject: str,
        *,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        limit: int = 50,
        namespace: str | None = None,
    ) -> Timeline:
        """See `Memento.timeline`."""
        from memento.model import Timeline

        when = {"as_of": as_of, "believed_at": believed_at}
        return made(Timeline, self.ask("timeline", subject=subject, limit=limit, namespace=namespace, **when))

    def infer(self, *, namespace: str | None = None) -> Inferred:
        """See `Memento.infer`."""
        from memento.model import Inferred

        return made(Inferred, self.ask("infer", namespace=namespace))

    def evaluate(self, expression: str, *, namespace: str | None = None) -> Evaluated:
        """See `Memento.evaluate`."""
        from memento.model import Evaluated

        return made(Evaluated, self.ask("evaluate", expression=expression, namespace=namespace))

    def manifest(self, *, fresh: bool = False, namespace: str | None = None) -> Manifest:
        """See `Memento.manifest`."""
        from memento.model import Manifest

        return made(Manifest, self.ask("manifest", fresh=fresh or None, namespace=namespace))

    def status(self, *, namespace: str | None = None) -> Status:
        """See `Memento.status`."""
        from memento.model import Status

        return made(Status, self.ask("status", namespace=namespace))

    def check(self) -> tuple[Difference, ...]:
        """See `Memento.check`."""
        from memento.model import Difference

        return made(tuple[Difference, ...], self.ask("check"))

    def rebuild(self, progress: Progress | None = None) -> int:
        """See `Memento.rebuild`; progress is told of at the end only."""
        done = made(int, self.ask("rebuild"))
        if progress:
            progress(done, done)
        return done

    @property
    def ready(self) -> bool:
        """Whether the service says that its embedder is loaded."""
        try:
            return self.send("GET", "/health").status == 200
        except MementoError:
            return False

    def close(self) -> None:
        """Nothing to let go of; here so that both kinds of memory close alike."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _imported(self, portion: Sequence[NoteRow], before: int, consolidate: bool, namespace: str | None) -> Imported:
        from memento.codec import encode
        from memento.model import Imported

        path = addressed("/memory/import", {"consolidate": consolidate, "namespace": namespace or self.namespace})
        body = b"\n".join(encode(row) for row in portion)
        try:
            return made(Imported, self.send("POST", path, body, {"Content-Type": "application/jsonl"}).body)
        except InputError as error:
            raise type(error)(f"in the portion of rows {before + 1} to {before + len(portion)}: {error}") from error
