"""
Answer the five questions of consolidation without a model.

*Flow:*

    extract_entities   text.names (kinds) · entities
    resolve_entities   entities
    extract_memories   statements: text (sentences, person, mood, dates) · wording · skeleton · slots (patterns, offices) · ends
                       memories
    resolve_memories   decide: succession (relations, reversals, ends) · rivals

What the rules know about the language is in tables: `data/*.toml` here, and `text/lexicon` for what is also used to read questions.

*Because:* the default install must understand a note with no key and no network, in milliseconds. The rules would rather miss a
fact than claim a wrong one: a hypothetical fills no slot, and a belief is retired only by the same property of the same subject.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memento.consolidation.agents import (
    Account,
    Candidate,
    Decision,
    Draft,
    Existing,
    Extraction,
    Hypotheses,
    Mention,
    Resolved,
)
from memento.consolidation.rules import (
    decide,
    ends,
    entities,
    memories,
    offices,
    patterns,
    relations,
    skeleton,
    wording,
)
from memento.model import AgentKind, Note, User
from memento.text import dates, kinds, mood, names, person
from memento.text.sentences import openings

__all__ = ["RuleAgents"]

TABLES: tuple[Callable[[], object], ...] = (
    *(
        kinds.plain_names,
        kinds.cues,
        kinds.signs,
        mood.signs,
        names.signs,
        openings,
        dates.date_signs,
        person.person_signs,
    ),
    *(
        patterns.slot_rows,
        patterns.dated_rows,
        patterns.role_beside,
        patterns.signs,
        skeleton.cuts,
        relations.relation_rows,
    ),
    *(ends.end_rows, ends.sign_rows, ends.other_rows, ends.denial_rows, ends.outcome_rows),
    *(wording.noise_rows, offices.office_rows, offices.role_signs),
)
"""The functions that read the tables of the language and cache them."""


class RuleAgents:
    """Answers by rules; `zone` is the user's time zone, which sets where days begin."""

    name = "rules"
    kind: AgentKind = "rules"

    def __init__(self, zone: str = "UTC") -> None:
        self.zone = zone

    @staticmethod
    def prepare() -> None:
        """Read every table and compile its patterns, so that the first note need not wait for it."""
        for read in TABLES:
            read()

    def account(self) -> Account:
        """Return an empty account: rules use no tokens."""
        return Account()

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """Extract what the note names; what it says of the user's life is in its memories."""
        return Extraction(mentions=offices.with_offices(note.content, names.mentions(note.content, user)))

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """Match mentions to entities by name; a mention without a certain match is a new entity."""
        return entities.resolve_entities(mentions)

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """Return no guesses: rules find what a note repeats or ends by slot and name."""
        return Hypotheses()

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """Return one draft for each statement of the note."""
        return memories.drafts(note, mentions, user, self.zone)

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """Decide to add, skip or retire; in doubt, add."""
        return decide.resolve_memories(drafts, existing, note)
