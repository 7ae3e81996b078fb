"""Questions as callers put them, checked; and whoever answers those inside a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memento import settings
from memento.errors import InputError
from memento.iris import IRI
from memento.model import Scope
from memento.retrieval import pipeline as retrieval
from memento.retrieval.explain import MOST as MOST_EXPLAINED
from memento.retrieval.likeness import table, table_of
from memento.service.held import Held
from memento.settings import Settings
from memento.sparql.blocks import Search
from memento.time import instant


class Questions(Held):
    """What recall and queries share."""

    def _asked(
        self,
        question: str,
        scope: Scope,
        *,
        k: int | None = None,
        as_of: datetime | str | None = None,
        believed_at: datetime | str | None = None,
        profile: str | None = None,
        engine: str | None = None,
        gate: bool | None = None,
        explain: bool = False,
    ) -> tuple[retrieval.Asked, Settings]:
        """A question for the pipeline, and the settings to answer it with; raises as `Memento.recall`."""
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
            scope,
            k=k or min(chosen.distill.top_k, most),
            as_of=None if as_of is None else instant(as_of, "as_of", self._zone),
            believed_at=None if believed_at is None else instant(believed_at, "believed_at", self._zone),
            explained=explain,
        )
        return asked, chosen


@dataclass(frozen=True, slots=True)
class Inside:
    """`sparql.rewrite.Memory`: the memory of one scope, asked from inside a query."""

    memento: Questions
    scope: Scope

    @property
    def zone(self) -> tzinfo:
        """Where a time without an offset is meant."""
        return self.memento._zone

    def recalled(self, question: str, asked: Search) -> Sequence[tuple[IRI, float]]:
        """What a recall of the same question brings back, and how well each memory answers it."""
        most = self.memento.settings.limits.results
        if asked.k is not None and not 1 <= asked.k <= most:
            raise InputError(f"mem:limit must be from 1 to {most}, not {asked.k}")
        found, chosen = self.memento._asked(
            question,
            self.scope,
            k=asked.k,
            as_of=asked.as_of,
            believed_at=asked.believed_at,
            profile=asked.profile,
            engine=asked.engine,
            gate=asked.gate,
        )
        return [(one.item, one.score) for one in retrieval.ranked(found, self.memento._parts, chosen)]

    def likeness(self, asked: str, *, is_iri: bool) -> bytes:
        """How like a text, or a memory or entity, every memory and entity of the scope is."""
        if is_iri:
            return table_of(IRI(asked), self.scope, self.memento._parts)
        self.memento._checked(asked, "the text of mem:similarity")
        return table(asked, self.scope, self.memento._parts)
