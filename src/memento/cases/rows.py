"""Finished tasks as JSON has them: what is misspelt is refused, and not passed over."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Annotated, cast

import msgspec
from msgspec import Meta

from memento.codec import decode
from memento.errors import InputError
from memento.model import LEAST_REWARD, MOST_REWARD, OUTCOMES, CaseRow, Outcome

# What the schema tells is checked where rows become cases, in words that name the row.
Ended = Annotated[str | None, Meta(extra_json_schema={"enum": [*OUTCOMES, None]})]
Earned = Annotated[float | None, Meta(extra_json_schema={"minimum": LEAST_REWARD, "maximum": MOST_REWARD})]
FIELDS = tuple(one.name for one in fields(CaseRow))


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finished task: what was asked, what was done, and how it ended or what it earned."""

    task: str
    plan: str
    outcome: Ended = None
    reward: Earned = None
    at: datetime | None = None
    about: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def noun(self) -> CaseRow:
        """Return the same as it is kept."""
        return CaseRow(
            task=self.task,
            plan=self.plan,
            outcome=cast("Outcome | None", self.outcome),
            reward=self.reward,
            at=self.at,
            about=self.about,
            derived_from=self.derived_from,
            tags=self.tags,
        )


def parse_row(line: bytes) -> CaseRow:
    """
    Parse a row from a JSON object.

    Raises:
        InputError: not JSON, a field is missing, of the wrong type, or none that a case has; names it.

    >>> parse_row(b'{"task": "Look.", "plan": "1. Look.", "outcme": "failure"}')
    Traceback (most recent call last):
    memento.errors.InputError: unknown field `outcme`: a case has task, plan, outcome, reward, at, about, derived_from, tags
    """
    try:
        return decode(Row, line).noun()
    except InputError as error:
        raise InputError(explain_error(str(error))) from error


def explain_error(error: str) -> str:
    """Put an error about rows into plain words."""
    where, unknown, name = error.partition("Object contains unknown field ")
    return (
        f"{where.removeprefix('the body: ')}unknown field {name}: a case has {', '.join(FIELDS)}" if unknown else error
    )
