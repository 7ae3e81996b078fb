"""What becomes of notes that are told, for tests: of one its drafts, of many a life."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memento.consolidation.agents import Decision, Draft, Existing, Invalidate, Skip
from memento.consolidation.rules import RuleAgents
from memento.iris import mint, user_iri
from memento.model import Memory, Note, User

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)
START = datetime(2024, 1, 10, 12, tzinfo=UTC)


def drafts(text: str, name: str | None = None) -> list[Draft]:
    agents, user = RuleAgents(), User(iri=user_iri("local"), name=name)
    note = Note(iri=mint("note"), content=text, at=AT)
    return agents.extract_memories(note, agents.extract_entities(note, user).mentions, user)


class Life:
    """Notes in the order in which they are told, thirty days apart, and every memory that came of them."""

    def __init__(self, *notes: str) -> None:
        self.agents = RuleAgents()
        self.user = User(iri=user_iri("local"))
        self.known: list[Existing] = []
        self.now = START
        self.decisions: list[Decision] = []
        for text in notes:
            self.tell(text)

    def tell(self, text: str, at: datetime | None = None) -> None:
        note = Note(iri=mint("note"), content=text, at=at or self.now)
        extraction = self.agents.extract_entities(note, self.user)
        drafts = self.agents.extract_memories(note, extraction.mentions, self.user)
        self.decisions = self.agents.resolve_memories(drafts, self.known, note)
        for decision in self.decisions:
            self._write(decision, note)
        self.now = max(self.now, note.at) + timedelta(days=30)

    def _write(self, decision: Decision, note: Note) -> None:
        if isinstance(decision, Skip):
            return
        draft = decision.draft
        began = draft.valid_at or note.at
        if isinstance(decision, Invalidate):
            retired = {target.memory for target in decision.targets}
            self.known = [ended(old, began) if old.memory.iri in retired else old for old in self.known]
        follows = decision.successor
        later = [old.memory.valid_at for old in self.known if follows and old.memory.iri == follows.memory]
        memory = Memory(
            iri=mint("memory"),
            content=draft.content,
            extracted_from=note.iri,
            valid_at=began,
            invalid_at=later[0] if later else None,
            created_at=note.at,
            event_at=draft.event_at,
            slot=draft.slot,
            slot_value=draft.slot_value,
        )
        self.known.append(Existing(memory=memory, about=draft.about, subject=draft.subject))
        if draft.user_name:
            self.user = replace(self.user, name=draft.user_name)

    @property
    def believed(self) -> list[str]:
        return [old.memory.content for old in self.known if old.memory.invalid_at is None]

    def believed_of(self, at: datetime) -> list[str]:
        """What held at a time, as far as is known now."""
        return [
            old.memory.content
            for old in self.known
            if old.memory.valid_at <= at and (old.memory.invalid_at is None or at < old.memory.invalid_at)
        ]


def ended(old: Existing, at: datetime) -> Existing:
    return replace(old, memory=replace(old.memory, invalid_at=max(at, old.memory.valid_at)))
