"""Rules that no text gets out of: whoever asks them holds the interpreter's lock until the process ends."""

from __future__ import annotations

import re

from memento.consolidation.agents import Extraction
from memento.consolidation.rules import RuleAgents
from memento.model import Note, User

AGENTS = "endless:EndlessRules"


class EndlessRules(RuleAgents):
    """They try a pattern that takes some thousand years on a note that says "endless", and fail on one that says "fail"."""

    def extract_entities(self, note: Note, user: User, *, biography: bool = True) -> Extraction:
        if "fail" in note.content:
            raise ValueError(note.content)
        if "endless" in note.content:
            re.match(r"(?:a+)+$", "a" * 60 + "!")
        return super().extract_entities(note, user, biography=biography)
