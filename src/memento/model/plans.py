"""What comes back from the service about plans and how they were carried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memento.model.episodes import CasesFound, Completed, TaskRun

Ending = Literal["done", "failed", "stopped", "uncertain"]
"""
How carrying out a task ended: its steps are done; its last plan failed; a limit was reached, or a step cannot be tried for want
of a model or a tool, and it can go on; or it waits for a word about a call that may have happened.
"""

Doubt = Literal["ask", "repeat", "skip"]
"""What to do about a call of a tool that may have happened before the process ended: wait to be told, make it again, or pass on."""
DOUBTS: tuple[Doubt, ...] = ("ask", "repeat", "skip")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """
    A tool of a configured server; `schema` is the JSON schema of its arguments as text.

    `repeatable` is what its server says: that it changes nothing, or that a second call changes nothing more.
    """

    name: str
    server: str
    description: str
    schema: str
    repeatable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """
    A plan that is stored and waits to be carried out as `run`.

    `by` is who made it: the name of a model, `template`, or `caller`; `reason` says of what. `found` are the cases that were shown.
    """

    run: TaskRun
    by: str
    reason: str
    found: CasesFound
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """
    How far a task has come. `answer` is the planner's last word or the result of the last step, `reason` why it ended here.

    `calls`, `tokens` and `seconds` are those of this go; `completed` is the case that came of it.
    """

    run: TaskRun
    ending: Ending
    reason: str
    answer: str | None = None
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    completed: Completed | None = None
