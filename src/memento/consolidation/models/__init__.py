"""
The five questions of consolidation put to a language model.

*Flow:* `shown` writes the question, `prompts` has what the model is told, `forms` what it fills in, `mended` checks the answer.

*Guarantees:* at most five questions a note, and no more tokens than the budget. What a model says is never trusted: ids are those
it was shown, counts and order are those of the question.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from memento.consolidation.agents import (
    Account,
    Agents,
    Candidate,
    Decision,
    Draft,
    Existing,
    Extraction,
    Hypotheses,
    Mention,
    Resolved,
)
from memento.consolidation.models import forms, mended, prompts, shown
from memento.consolidation.models.filled import placed, with_slots
from memento.consolidation.rules import RuleAgents
from memento.errors import ModelError
from memento.llm import chats_of
from memento.model import AgentKind, Note, User
from memento.ports import Chat, Prompt
from memento.settings import ModelSettings

__all__ = ["ModelAgents", "Models"]

F = TypeVar("F", bound=BaseModel)

_CHARS_PER_TOKEN = 4
_GUESSES = 3


class ModelAgents:
    """Answers for one note by asking a model; may be asked from two threads."""

    kind: AgentKind = "model"

    def __init__(self, chats: Mapping[str, Chat], rules: RuleAgents, tokens: int = 0) -> None:
        """
        Args:
            chats: the model for each of `prompts.QUESTIONS`.
            rules: tell which slot a fact fills, so that rules and models understand each other's memories.
            tokens: most tokens that the note may cost; 0 sets no bound.
        """
        self._chats = chats
        self._rules = rules
        self._budget = tokens
        self.name = chats["resolve_memories"].name  # the model that decides; the other questions may go to others
        self._lock = threading.Lock()
        self._calls = self._tokens = 0

    def account(self) -> Account:
        """Questions and tokens so far."""
        with self._lock:
            return Account(calls=self._calls, tokens=self._tokens, prompts=prompts.digest())

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """What the note names, never the user, and what it says of the user's life."""
        answer = self._asked("extract_entities", shown.note_alone(note, user), forms.Entities)
        return mended.extraction(answer, user)

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """One resolution for each mention; nothing is asked when nothing is known that they could be."""
        if biography is None and not any(candidates for _, candidates in mentions):
            return mended.resolved(forms.EntityChoices(entities=[]), mentions, user)
        answer = self._asked("resolve_entities", shown.entities(mentions, biography, user), forms.EntityChoices)
        return mended.resolved(answer, mentions, user)

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """Three of each kind at most."""
        answer = self._asked("hypothesise", shown.memories(memories), forms.Guesses)
        return Hypotheses(
            semantic=tuple(text for text in answer.semantic if text.strip())[:_GUESSES],
            state_change=tuple(text for text in answer.stateChange if text.strip())[:_GUESSES],
        )

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """
        The facts of the note, with the slots that rules see in them; empty when it states none.

        A fact with a name or a number that the note does not have is sent back once; after that the note's own words take its
        place.
        """
        asked = shown.note_with_names(note, mentions, user)
        found = mended.drafts(self._asked("extract_memories", asked, forms.Facts), note, mentions)
        if strange := mended.ungrounded(found, note, mentions, user):
            asked = shown.with_objection(asked, [draft.content for draft in strange])
            found = mended.drafts(self._asked("extract_memories", asked, forms.Facts), note, mentions)
            found = mended.grounded(found, note, mentions, user)
        return [with_slots(one, note, mentions, user, self._rules) for one in found]

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """One decision for each draft; nothing is asked when nothing is known."""
        if not existing:
            return mended.decisions(forms.MemoryChoices(memories=[]), drafts, existing, note)
        answer = self._asked("resolve_memories", shown.comparison(drafts, existing, note), forms.MemoryChoices)
        return placed(mended.decisions(answer, drafts, existing, note), existing, note, self._rules)

    def _asked(self, question: str, text: str, form: type[F]) -> F:
        """
        One answer.

        Raises:
            ModelError: the model failed, or the budget of the note is used up.
        """
        told = prompts.prompt(question)
        with self._lock:
            expected = self._tokens + (len(told) + len(text)) // _CHARS_PER_TOKEN
            if self._budget and expected > self._budget:
                raise ModelError(
                    f"the note would cost more than {self._budget} tokens: {self._tokens} are spent before {question}; "
                    "raise model.tokens_per_note or split the note"
                )
            self._calls += 1
        try:
            reply = self._chats[question].answer(Prompt(system=told, user=text), form)
        except ModelError as error:
            self._spent(error.tokens_in + error.tokens_out)
            raise
        self._spent(reply.tokens_in + reply.tokens_out)
        return reply.value

    def _spent(self, tokens: int) -> None:
        with self._lock:
            self._tokens += tokens


class Models:
    """Makes the agents of each note, all on the same connections."""

    def __init__(self, settings: ModelSettings, rules: RuleAgents) -> None:
        self._chats = chats_of(settings)
        self._rules = rules
        self._tokens = settings.tokens_per_note

    def __call__(self) -> Agents:
        return ModelAgents(self._chats, self._rules, self._tokens)

    def close(self) -> None:
        """Let go of the connections; calling it twice is harmless."""
        for chat in self._chats.values():
            chat.close()
