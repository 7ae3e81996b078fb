"""What asks the memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from memento.archive import library, upkeep
from memento.errors import InputError
from memento.model import Described, Health, Listed, RecalledEntity, Recollection, Source, Status, Timeline, Used
from memento.retrieval import pipeline as retrieval
from memento.service.questions import Questions
from memento.time import instant


class Reading(Questions):
    """Questions, look-ups and listings; none of them changes anything."""

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
        asked, chosen = self._asked(
            question,
            self._in(namespace),
            k=k,
            as_of=as_of,
            believed_at=believed_at,
            profile=profile,
            engine=engine,
            gate=gate,
            explain=explain,
        )
        found = retrieval.recall(asked, self._parts, chosen)
        if self.settings.living.count_recall and self._access.may("write"):
            self._reinforcement.note(*self._uses(found))
        return found

    def glimpse(self, question: str, *, gate: bool | None = None, namespace: str | None = None) -> Recollection:
        """The same for somebody who has not asked, as a prompt that memories are put into: never counted as use."""
        asked, chosen = self._asked(question, self._in(namespace), gate=gate)
        return retrieval.recall(asked, self._parts, chosen)

    def _uses(self, found: Recollection) -> tuple[Used, ...]:
        nodes, at = self._parts.indexes.nodes, self._parts.clock()
        with self._parts.indexes.lock:
            known = [(one.iri, node) for one in found.memories if (node := nodes.find(one.iri)) is not None]
            return tuple(Used(memory=iri, graph=nodes.graph(node), at=at) for iri, node in known)

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
        return tuple(library.listed(self._in(namespace), limit, offset, past, self._parts.clock(), self._parts))

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
            now=self._parts.clock(),
            as_of=None if as_of is None else instant(as_of, "as_of", self._zone),
            believed_at=None if believed_at is None else instant(believed_at, "believed_at", self._zone),
        )

    def status(self, *, namespace: str | None = None) -> Status:
        """What the namespace holds and how the service stands."""
        return upkeep.status(
            self._in(namespace), self._access, self.home, self._parts.clock(), self._parts, self.settings
        )

    def health(self, upstreams: Mapping[str, str]) -> Health:
        """
        Whether questions are answered at full speed yet, and how the parts stand, over all namespaces that the caller sees.

        Args:
            upstreams: the providers by protocol that a proxy in front of this memory serves.
        """
        return upkeep.health(self._in(None), self._access, upstreams, self._parts)
