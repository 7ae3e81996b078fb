"""What the addresses below `/cases` take as JSON: one form for each POST, which the OpenAPI page shows and requests are read by."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from flask import request
from msgspec import Meta
from werkzeug.exceptions import UnsupportedMediaType

from memento.cases import rows
from memento.cases.rewards import LEAST, MOST
from memento.cases.rows import Row
from memento.codec import decode
from memento.errors import InputError
from memento.interfaces.web.asked import namespace
from memento.model import OUTCOMES, Doubt, StepState, ToolCall

Text = Annotated[str, Meta(min_length=1, pattern=r"\S")]
# These the service checks, and says what is wrong in plain words; the schema tells them to whoever reads it.
Words = Annotated[str, Meta(extra_json_schema={"minLength": 1, "pattern": r"\S"})]
Count = Annotated[int, Meta(extra_json_schema={"minimum": 1})]
Ended = Annotated[str, Meta(extra_json_schema={"enum": [*OUTCOMES]})]
Reward = Annotated[
    float,
    Meta(
        description="what it earned; beside an outcome it counts, and must say the same",
        extra_json_schema={"minimum": LEAST, "maximum": MOST},
    ),
]
Share = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})]


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a call works: `domain` is a bank of cases, by default that of the namespace's name."""

    domain: Text | None = None
    namespace: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class Rows(Body, frozen=True, kw_only=True):
    """Finished tasks."""

    rows: list[Row]


class Wanted(Body, frozen=True, kw_only=True):
    """A task that cases are wanted for."""

    task: Words
    k: Count | None = None
    about: list[str] = []
    since: datetime | None = None
    until: datetime | None = None
    explore: bool = False


class WantedEach(Body, frozen=True, kw_only=True):
    """Tasks that cases are wanted for, each for itself."""

    tasks: Annotated[list[Words], Meta(extra_json_schema={"minItems": 1})]
    k: Count | None = None
    since: datetime | None = None
    until: datetime | None = None


class Verdicts(Body, frozen=True, kw_only=True):
    """What a task earned: a verdict, or the reward itself."""

    outcome: Ended | None = None
    reward: Reward | None = None
    efficiency: Share | None = None
    score: Share | None = None


class Earned(Verdicts, frozen=True, kw_only=True):
    """What the task earned that cases were shown for."""

    single: dict[str, Reward] = {}


class Start(Body, frozen=True, kw_only=True):
    """A task that begins."""

    task: Words
    plan: Text | None = None
    retrieval: Text | None = None
    about: list[str] = []
    derived_from: list[str] = []


class StepDone(Body, frozen=True, kw_only=True):
    """A step of a task, with the calls of tools that it made."""

    task: Words
    result: str | None = None
    state: StepState = "done"
    tools: list[ToolCall] = []
    step: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    derived_from: list[str] = []


class End(Verdicts, frozen=True, kw_only=True):
    """How a task ended."""

    plan: Text | None = None
    reason: str | None = None


class Task(Body, frozen=True, kw_only=True):
    """A task to be planned; `steps` is the plan, when the caller has one, and `retrieval` the look-up that it was made of."""

    task: Words
    steps: list[Words] = []
    retrieval: Text | None = None
    k: Count | None = None
    about: list[str] = []


class Execute(Body, frozen=True, kw_only=True):
    """How a run is to be carried on."""

    uncertain: Doubt = "ask"
    complete: bool = True


class Prune(Body, frozen=True, kw_only=True):
    """How many cases are to stay."""

    keep: Annotated[int, Meta(le=2**31 - 1, extra_json_schema={"minimum": 1})]


def body(form: type[Body]) -> dict[str, Any]:
    """
    The fields of the request's body by name; a namespace in the query string or the header counts when the body has none.

    No body at all is an empty object, where nothing in it is needed.

    Raises:
        InputError: no JSON, or not in that form; names the field.
        UnsupportedMediaType: the body says that it is something else.
    """
    sent = request.get_data()
    needed = msgspec.structs.fields(form)
    if not sent.strip() and not any(one.required for one in needed):
        sent = b"{}"
    elif not request.is_json:
        raise UnsupportedMediaType(
            f"send JSON with the header Content-Type: application/json, not {request.mimetype or 'nothing'}"
        )
    if not sent.strip():
        names = ", ".join(one.name for one in needed if one.required)
        raise InputError(f"send a JSON object with {names}: the body is empty")
    read = msgspec.structs.asdict(decode(form, sent))
    return {**read, "namespace": read["namespace"] or namespace()}


def kept() -> dict[str, Any]:
    """The same for rows; raises as `body` does, and names the row that has an unknown field."""
    try:
        read = body(Rows)
    except InputError as error:
        raise InputError(rows.told(str(error))) from error
    return {**read, "rows": [row.noun() for row in read["rows"]]}
