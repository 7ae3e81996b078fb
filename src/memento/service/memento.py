"""The memory of one data folder: parse, lock, delegate."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Self
from zoneinfo import ZoneInfo

from memento import library, settings, upkeep
from memento.backends import Backends
from memento.consolidation import pipeline as consolidation
from memento.consolidation.agents import Extraction
from memento.consolidation.rules import RuleAgents
from memento.errors import InputError, TooLong
from memento.home import Home, Owner
from memento.instants import instant, now
from memento.model import (
    Described,
    Difference,
    Forgotten,
    Imported,
    Listed,
    Noted,
    NoteRow,
    Recollection,
    Scope,
    Status,
)
from memento.ports import Progress
from memento.retrieval import pipeline as retrieval
from memento.retrieval.explain import MOST as MOST_EXPLAINED
from memento.settings import Settings
from memento.sparql import guard


class Memento:
    """The memory of one data folder. Use `open_memento` to get one; a context manager."""

    def __init__(self, home: Home, backends: Backends, scope: Scope, settings: Settings) -> None:
        self.home = home
        self.settings = settings
        self._parts = backends
        self._scope = scope
        self._agents = RuleAgents(settings.consolidation.time_zone)
        self._zone = ZoneInfo(settings.consolidation.time_zone)
        self._writing = threading.Lock()

    # ---- writing

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
        return self._consolidated(row, self._in(namespace), keep=False)

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
        scope, listed, keep = self._in(namespace), list(rows), not consolidate
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
            return library.forget(iri, self._in(namespace), erase, now(), self._parts)

    # ---- reading

    def recall(
        self,
        question: str,
        *,
        k: int | None = None,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        profile: str | None = None,
        gate: bool | None = None,
        explain: bool = False,
        namespace: str | None = None,
    ) -> Recollection:
        """
        The memories that answer a question, best first, with when they were true, where they came from and what they replaced.

        Args:
            k: most memories to return; default `distill.top_k`.
            as_of: what was true then, instead of what is not yet over now.
            believed_at: what Memento believed then, instead of now.
            profile: retrieval settings by name, as `seed`.
            gate: whether nothing comes back when nothing is relevant; default the setting `gate.on`.
            explain: also say why each memory came back, and which SPARQL query returns the same; for 300 of them at most.

        Raises:
            InputError: empty question, k out of range, unknown profile.
            TooLong: question over `limits.text_bytes`.
        """
        chosen = settings.with_profile(self.settings, profile) if profile else self.settings
        if gate is not None:
            chosen = replace(chosen, gate=replace(chosen.gate, on=gate))
        self._checked(question, "question")
        most = min(self.settings.limits.results, MOST_EXPLAINED) if explain else self.settings.limits.results
        if k is not None and not 1 <= k <= most:
            raise InputError(f"k must be from 1 to {most}{', explained,' if explain else ''} not {k}")
        asked = retrieval.Asked(
            question,
            self._in(namespace),
            k=k or min(chosen.distill.top_k, most),
            as_of=None if as_of is None else instant(as_of, "as_of", self._zone),
            believed_at=None if believed_at is None else instant(believed_at, "believed_at", self._zone),
            explained=explain,
        )
        return retrieval.recall(asked, self._parts, chosen)

    def get(self, iri: str, *, namespace: str | None = None) -> Described:
        """Everything the graph says of a note, memory, entity, session, invalidation or the user; raises `NotFound`."""
        return library.described(iri, self._in(namespace), self._parts)

    def list(
        self, *, limit: int = 50, offset: int = 0, past: bool = False, namespace: str | None = None
    ) -> tuple[Listed, ...]:
        """
        The memories of the namespace, newest first; with `past` also the retired and the forgotten.

        Raises:
            InputError: limit or offset out of range.
        """
        if not 1 <= limit <= self.settings.limits.results:
            raise InputError(f"limit must be from 1 to {self.settings.limits.results}, not {limit}")
        if offset < 0:
            raise InputError(f"offset must not be negative, not {offset}")
        return tuple(library.listed(self._in(namespace), limit, offset, past, now(), self._parts))

    def query(self, sparql: str, *, accept: str = "", namespace: str | None = None) -> tuple[bytes, str]:
        """
        The answer to a read-only SPARQL query over the namespace's graphs, serialised, and its media type.

        Args:
            accept: an HTTP Accept header; default JSON for rows and Turtle for graphs.

        Raises:
            InputError: no SPARQL, or no offered media type fits.
            Forbidden: an update, or a query that reaches out of the store.
            TooLong: longer than `limits.query_bytes`.
        """
        guard.check(sparql, self.settings.limits)
        return self._parts.graph.answer(sparql, self._in(namespace).readable, accept)

    def status(self, *, namespace: str | None = None) -> Status:
        """What the namespace holds and how the service stands."""
        return upkeep.status(self._in(namespace), self.home, now(), self._parts, self.settings.gate)

    # ---- care

    def check(self) -> tuple[Difference, ...]:
        """Every difference between the graph and its indexes, and every violated shape; empty when all is well."""
        with self._writing:
            return tuple(upkeep.check(self._parts))

    def rebuild(self, progress: Progress | None = None) -> int:
        """Make every index anew from the graph alone; returns how many texts were embedded or taken from the cache."""
        with self._writing:
            return upkeep.rebuild(self._parts, progress)

    def warm_up(self) -> None:
        """Load the embedder, so that the first question is as fast as the next; `status().ready` is True afterwards."""
        self._parts.warm_up()

    @property
    def ready(self) -> bool:
        """Whether the embedder is loaded."""
        return self._parts.warm

    def serve_at(self, address: str) -> None:
        """Tell other processes where this one answers."""
        self.home.publish(Owner(pid=os.getpid(), command="memento serve", address=address))

    def close(self) -> None:
        """Let go of the data folder; calling it twice is harmless."""
        self._parts.close()
        self.home.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- inside

    def _in(self, namespace: str | None) -> Scope:
        if namespace is None:
            return self._scope
        return Scope(self._scope.tenant, settings.namespace_checked(namespace))

    def _checked(self, text: str, name: str) -> None:
        if not isinstance(text, str):
            raise InputError(f"{name} must be text, not {type(text).__name__}")
        if not text.strip():
            raise InputError(f"{name} must not be empty")
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise InputError(f"{name} must be Unicode text; it has half a character at {error.start}") from error
        if size > self.settings.limits.text_bytes:
            raise TooLong(f"{name} must have at most {self.settings.limits.text_bytes} bytes, not {size}")

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
