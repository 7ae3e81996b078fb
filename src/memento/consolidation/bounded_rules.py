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

*But:* patterns are kept linear and texts bounded all the same (`text.sentences.is_readable`, `tests/runaway.py`): the deadline is
for what nobody has thought of.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TypeVar

from memento import codec
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
from memento.consolidation.rule_process import (
    PROCESSES,
    Decided,
    ExtractEntities,
    ExtractMemories,
    Job,
    Question,
    ResolveEntities,
    ResolveMemories,
)
from memento.model import AgentKind, Note, User

T = TypeVar("T")

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
        self._read: ExtractMemories | None = None
        self._drafts: list[Draft] = []

    def account(self) -> Account:
        """Nothing: rules cost no tokens."""
        return Account()

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        """What the note names, and its sentences about the user's life."""
        return self._ask(Extraction, ExtractEntities(note, user, biography))

    def resolve_entities(
        self, mentions: Sequence[tuple[Mention, Sequence[Candidate]]], biography: str | None, user: User
    ) -> Resolved:
        """Matches by name; what has no sure match is new."""
        offered = [(mention, list(candidates)) for mention, candidates in mentions]
        return self._ask(Resolved, ResolveEntities(offered, biography, user))

    def hypothesise(self, memories: Sequence[Existing]) -> Hypotheses:
        """None: rules do not guess."""
        return Hypotheses()

    def extract_memories(self, note: Note, mentions: Sequence[Mention], user: User) -> list[Draft]:
        """One draft for each statement of the note; an import asks twice, first to know what it will embed."""
        question = ExtractMemories(note, list(mentions), user)
        if question != self._read:
            self._drafts = self._ask(list[Draft], question)
            self._read = question
        return list(self._drafts)

    def resolve_memories(self, drafts: Sequence[Draft], existing: Sequence[Existing], note: Note) -> list[Decision]:
        """Adds, skips or retires; in doubt adds."""
        decided = self._ask(list[Decided], ResolveMemories(list(drafts), list(existing), note))
        return [decision for one in decided if (decision := one.add or one.skip or one.invalidate)]

    def _ask(self, kind: type[T], question: Question) -> T:
        """
        The answer of the rules.

        Raises:
            NotUnderstood: the seconds of this note are used up, or the rules failed on it.
            BackendError: no process could be started.
        """
        if self._over:
            raise NotUnderstood(self._over)
        answer = PROCESSES.ask(Job(question, self._zone, self._left))
        if answer is None:
            self._over = f"understanding it took more than {self._seconds:g} seconds, {_KEPT}"
        elif answer.failure:
            self._over = f"the rules failed on it ({answer.failure}), {_KEPT}"
        else:
            self._left -= answer.seconds
            return codec.decode(kind, answer.value)
        # What failed and where, never what the note says.
        failure = answer.failure if answer else "overdue"
        logger.warning("rules.gave-up", extra={"question": type(question).__name__, "failure": failure})
        raise NotUnderstood(self._over)
