"""
The rules for one note, asked in a process that is ended when the note's time is up.

    BoundedRules ── question, texts ──▸ RuleProcess ──▸ RuleAgents     (one process for all memories of this interpreter)
         ◂──────── answer, seconds ─────────────┘  ╳ the time is up: kept in its own words

*Guarantees:* a note by rules costs no more than `consolidation.rules_s` seconds of computing, whatever it says and whatever a
pattern makes of it. A note that is over, or that the rules fail on, raises `NotUnderstood`, and `pipeline` keeps it word for word,
marked, so that no later note is compared with it by rules.

*Because:* `re` holds the interpreter's lock while it matches. A pattern that runs away stops every thread, one that would watch it
included, and Python cannot interrupt it: signals reach the main thread alone, and notes are understood by others. So the rules run
where they may be killed.

Short notes are no exception, or the promise would rest on the patterns. It costs little: one process serves all memories of an
interpreter, starts with the first note, and imports the rules in the place of its owner; a question takes some tenths of a
millisecond more.

*But:* patterns are kept linear and texts bounded all the same (`rules.sentences.is_readable`, `tests/runaway.py`): the deadline is
for what nobody has thought of.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from memento.consolidation.agents import (
    Account,
    Candidate,
    Decision,
    Draft,
    Existing,
    Extraction,
    Hypotheses,
    Mention,
    NotUnderstood,
    Resolved,
)
from memento.consolidation.rule_process import PROCESSES, Question
from memento.model import AgentKind, Note, User

logger = logging.getLogger(__name__)

_KEPT = "so it is kept in its own words"


class BoundedRules:
    """
    The rules for one note: all its questions together have so many seconds of computing.

    Whoever asks once more when they are used up is told so at once.
    """

    name = "rules"
    kind: AgentKind = "rules"

    def __init__(self, zone: str, seconds: float) -> None:
        self._zone = zone
        self._seconds = self._left = seconds
        self._over: str | None = None

    def account(self) -> Account:
        """Nothing: rules cost no tokens."""
        return Account()

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """What the note names, and its sentences about the user's life."""
        found: Extraction = self._ask("extract_entities", note, user, biography=biography)
        return found

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """Matches by name; what has no sure match is new."""
        resolved: Resolved = self._ask("resolve_entities", mentions, biography, user)
        return resolved

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """None: rules do not guess."""
        return Hypotheses()

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """One draft for each statement of the note."""
        drafts: list[Draft] = self._ask("extract_memories", note, mentions, user)
        return drafts

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """Adds, skips or retires; in doubt adds."""
        decisions: list[Decision] = self._ask("resolve_memories", drafts, existing, note)
        return decisions

    def _ask(self, name: str, *given: Any, **named: Any) -> Any:
        """
        The answer of the rules.

        Raises:
            NotUnderstood: the seconds of this note are used up, or the rules failed on it.
            BackendError: no process could be started.
        """
        if self._over:
            raise NotUnderstood(self._over)
        question = Question(self._zone, name, given, named, self._left)
        answer = PROCESSES.ask(question)
        if answer is None:
            self._over = f"understanding it took more than {self._seconds:g} seconds, {_KEPT}"
        elif answer.failure:
            self._over = f"the rules failed on it ({answer.failure}), {_KEPT}"
        else:
            self._left -= answer.seconds
            return answer.value
        # What failed and where, never what the note says.
        logger.warning("rules.gave-up", extra={"question": name, "failure": answer.failure if answer else "overdue"})
        raise NotUnderstood(self._over)
