"""What a model fills in when it plans and when it acts; apart from the rest, as pydantic is needed only where there is a model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Form(BaseModel):
    """What is beyond the fields is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PlanStep(Form):
    id: int
    description: str


class Plan(Form):
    """The steps that are to be taken, or the answer when there is nothing left to do."""

    plan: list[PlanStep]
    finalAnswer: str | None = None
    solved: bool = True


class Move(Form):
    """What to do next within a step; `arguments` is a JSON object as text."""

    action: Literal["call", "done", "failed"]
    tool: str | None = None
    arguments: str | None = None
    result: str | None = None
