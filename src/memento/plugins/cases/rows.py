"""Read finished tasks from lines of JSON."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Annotated, cast

import msgspec
from msgspec import Meta

from memento.codec import decode
from memento.errors import InputError
from memento.model import Outcome
from memento.plugins.cases.nouns import OUTCOMES, CaseRow
from memento.plugins.cases.operations import LEAST_REWARD, MOST_REWARD

# Rules of the schema are checked when rows become cases, where the errors can name the row.
_Ended = Annotated[str | None, Meta(extra_json_schema={"enum": [*OUTCOMES, None]})]
_Earned = Annotated[float | None, Meta(extra_json_schema={"minimum": LEAST_REWARD, "maximum": MOST_REWARD})]
CASE_FIELDS = tuple(one.name for one in fields(CaseRow))


class CaseLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finished task: what was asked, what was done, and its outcome or reward."""

    task: str
    plan: str
    outcome: _Ended = None
    reward: _Earned = None
    at: datetime | None = None
    about: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def to_row(self) -> CaseRow:
        """Return the case as it is stored."""
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


def parse_case_row(line: bytes) -> CaseRow:
    """
    Parse a row from a JSON object.

    Raises:
        InputError: it is not JSON, or a field is missing, unknown or of the wrong type; names the field.

    >>> parse_case_row(b'{"task": "Look.", "plan": "1. Look.", "outcme": "failure"}')
    Traceback (most recent call last):
    memento.errors.InputError: unknown field `outcme`: a case has task, plan, outcome, reward, at, about, derived_from, tags
    """
    try:
        return decode(CaseLine, line).to_row()
    except InputError as error:
        raise InputError(_explain_error(str(error))) from error


def _explain_error(error: str) -> str:
    """Put a decoding error about rows into plain words."""
    where, unknown, name = error.partition("Object contains unknown field ")
    return (
        f"{where.removeprefix('the body: ')}unknown field {name}: a case has {', '.join(CASE_FIELDS)}"
        if unknown
        else error
    )
