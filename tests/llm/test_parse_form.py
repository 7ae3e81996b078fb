"""Text becomes a form however it is wrapped, and a misfit is told in words that a model can act on."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from memento.llm import parse_form, strict_schema


class Inner(BaseModel):
    title: str
    kind: Literal["a", "b"] = "a"


class Outer(BaseModel):
    inner: list[Inner]
    other: Inner | None = None


GOOD = '{"inner": [{"title": "x", "kind": "b"}], "other": null}'
FOUND = Outer(inner=[Inner(title="x", kind="b")])


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here you are:\n```\n{GOOD}\n```\nAnything else?",
        f"Sure! {GOOD} I hope that helps.",
        f'<think>Perhaps {{"inner": 3}}?</think>{GOOD}',
        f'{{"no": "json",, }} but {GOOD}',
        f'The schema is {{"type": "object"}}, so: {GOOD}',
    ],
)
def test_a_form_is_found_in_what_a_model_may_say(text: str) -> None:
    assert parse_form(text, Outer) == FOUND


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "It is not JSON."),
        ("[1, 2]", "It is not JSON."),
        ('{"inner": [{"kind": "c"}]}', "inner.0.title: Field required; inner.0.kind: Input should be 'a' or 'b'"),
        ("{}", "inner: Field required"),
        ('{"inner": [1,2,3,4,5,6,7]}', "and 2 more"),
    ],
)
def test_a_misfit_says_where_and_what(text: str, wrong: str) -> None:
    found = parse_form(text, Outer)

    assert isinstance(found, str)
    assert wrong in found


@settings(max_examples=50)
@given(st.text(alphabet='{}[]":,a1 `<think>\n'))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert isinstance(parse_form(text, Outer), str | Outer)


@pytest.mark.parametrize("text", ['{"inner":' * 20_000, "{" * 20_000, '{"inner":[' + "[" * 20_000])
def test_text_that_never_closes_its_brackets_is_read_without_an_error(text: str) -> None:
    assert parse_form(text, Outer) == "It is not JSON."


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(ge=0, le=9, description="How many.")


class Dog(BaseModel):
    kind: Literal["dog"]


class Pets(BaseModel):
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = Field(min_length=1)
    first: Cat = Field(description="The eldest.")


def test_what_providers_do_not_know_is_left_out_of_a_strict_schema_and_bounds_are_told_in_words() -> None:
    schema = strict_schema(Pets)

    assert schema["properties"] == {
        "pets": {
            "type": "array",
            "items": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
            "description": "(minItems: 1)",
        },
        "first": {"$ref": "#/$defs/Cat"},
    }
    assert schema["$defs"]["Cat"]["properties"]["lives"] == {
        "type": "integer",
        "description": "How many. (minimum: 0, maximum: 9)",
    }


def test_a_strict_schema_requires_every_property_at_every_depth() -> None:
    schema = strict_schema(Outer)

    assert schema["title"] == "Outer"
    assert schema["required"] == ["inner", "other"]
    assert schema["$defs"]["Inner"] == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "kind": {"enum": ["a", "b"], "type": "string"}},
        "required": ["title", "kind"],
        "additionalProperties": False,
    }
