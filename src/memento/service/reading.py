"""What asks the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from memento import library, settings, upkeep
from memento.errors import InputError
from memento.instants import instant, now
from memento.model import Described, Health, Listed, RecalledEntity, Recollection, Source, Status, Timeline
from memento.retrieval import pipeline as retrieval
from memento.retrieval.explain import MOST as MOST_EXPLAINED
from memento.service.held import Held
from memento.sparql import guard


class Reading(Held):
    """Questions, look-ups, listings and queries; none of them changes anything."""

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
        """
        The memories that answer a question, best first, with when they were true, where they came from and what they replaced.

        Args:
            k: most memories to return; default `distill.top_k`.
            as_of: what was true then, instead of what is not yet over now.
            believed_at: what Memento believed then, instead of now.
            profile: retrieval settings by name, as `seed`.
            engine: what ranks, as `ppr`; default the setting `land.engine`, or what the profile says.
            gate: whether nothing comes back when nothing is relevant; default the setting `gate.on`.
            explain: also say why each memory came back, and which SPARQL query returns the same; for 300 of them at most.

        Raises:
            InputError: empty question, k out of range, unknown profile or engine.
            TooLong: question over `limits.text_bytes`.
        """
        chosen = settings.with_profile(self.settings, profile) if profile else self.settings
        if engine:
            chosen = settings.with_engine(chosen, engine)
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

    def sources(self, iri: str, *, namespace: str | None = None) -> tuple[Source, ...]:
        """Who told it and what made a memory of it, for a memory or each memory of a note; raises `NotFound`."""
        return tuple(library.sources(iri, self._in(namespace), self._parts))

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

    def entities(self, *, limit: int = 10, namespace: str | None = None) -> tuple[RecalledEntity, ...]:
        """The entities that most memories are about, the most mentioned first; raises `InputError` when limit is out of range."""
        if not 1 <= limit <= self.settings.limits.results:
            raise InputError(f"limit must be from 1 to {self.settings.limits.results}, not {limit}")
        return library.entities(self._in(namespace), limit, self._parts)

    def timeline(
        self,
        subject: str,
        *,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        limit: int = 50,
        namespace: str | None = None,
    ) -> Timeline:
        """
        The history of an entity, the user, a memory or a note: its memories in the order they became true, with what ended them.

        Args:
            subject: an IRI, the name of an entity, or `me`. Of a memory the history is what it replaced and what replaced it.
            as_of: only what was true then.
            believed_at: as far as Memento knew then, instead of now.
            limit: most memories; the latest are kept.

        Raises:
            NotFound: nothing goes by that name or IRI.
            InputError: empty subject, or limit out of range.
        """
        self._checked(subject, "subject")
        if not 1 <= limit <= self.settings.limits.results:
            raise InputError(f"limit must be from 1 to {self.settings.limits.results}, not {limit}")
        return library.timeline(
            subject,
            self._in(namespace),
            limit,
            self._parts,
            now=now(),
            as_of=None if as_of is None else instant(as_of, "as_of", self._zone),
            believed_at=None if believed_at is None else instant(believed_at, "believed_at", self._zone),
        )

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
        return self._parts.graph.answer(sparql, self._dataset(self._in(namespace)), accept)

    def status(self, *, namespace: str | None = None) -> Status:
        """What the namespace holds and how the service stands."""
        return upkeep.status(self._in(namespace), self._access, self.home, now(), self._parts, self.settings.gate)

    def health(self, upstreams: Mapping[str, str]) -> Health:
        """
        Whether questions are answered at full speed yet, and how the parts stand, over all namespaces that the caller sees.

        Args:
            upstreams: the providers by protocol that a proxy in front of this memory serves.
        """
        return upkeep.health(self._in(None), self._access, upstreams, self._parts)
