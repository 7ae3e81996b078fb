"""The forms that a model fills in when it plans and acts; a separate module, because pydantic is needed only with a model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Form(BaseModel):
    """A form that ignores unknown fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PlanStep(Form):
    id: int
    description: str


class Plan(Form):
    """The steps to take, or the answer if nothing is left to do."""

    plan: list[PlanStep]
    finalAnswer: str | None = None
    solved: bool = True


class Move(Form):
    """The next action within a step; `arguments` is a JSON object as text."""

    action: Literal["call", "done", "failed"]
    tool: str | None = None
    arguments: str | None = None
    result: str | None = None
