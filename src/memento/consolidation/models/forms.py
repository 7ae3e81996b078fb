"""The forms that a model fills in, one for each question. What it says goes by short ids that only its prompt knows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memento.model import EntityKind


def _text(value: Any) -> Any:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_text)]
"""Text for which a model may write null."""


class Form(BaseModel):
    """Fields have the names that the prompts use; what is beyond them is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class NamedEntity(Form):
    name: str
    type: EntityKind
    description: Text = ""
    isWellKnown: bool = False
    aliases: list[str] = Field(default_factory=list)


class Entities(Form):
    """What a note names."""

    entities: list[NamedEntity]
    userBiographicalFacts: str | None = None


class EntityChoice(Form):
    id: str
    action: Literal["CREATE", "MATCH"]
    matchedEntityId: str | None = None
    updateDescription: str | None = None
    reason: Text = ""


class DescriptionUpdate(Form):
    newDescription: Text = ""
    shouldUpdate: bool
    reason: Text = ""


class EntityChoices(Form):
    """Which known thing each named one is."""

    entities: list[EntityChoice]
    userDescriptionUpdate: DescriptionUpdate | None = None


class Guesses(Form):
    """Memories that may exist."""

    semantic: list[str] = Field(default_factory=list)
    stateChange: list[str] = Field(default_factory=list)


class Fact(Form):
    content: str
    aboutEntities: list[str] = Field(default_factory=list)
    validAt: str | None = None
    eventAt: str | None = None
    corrects: bool = False


class Facts(Form):
    """The facts of a note."""

    memories: list[Fact]


class Ending(Form):
    existingMemoryId: str
    reason: Text = ""
    isCorrection: bool = False


class MemoryChoice(Form):
    id: str
    action: Literal["ADD", "SKIP", "INVALIDATE"]
    duplicateOf: str | None = None
    invalidates: list[Ending] = Field(default_factory=list)
    reason: Text = ""


class MemoryChoices(Form):
    """What becomes of each new fact."""

    memories: list[MemoryChoice]
