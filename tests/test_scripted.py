"""The scripted model is a faithful stand-in: the providers' own clients take its answers, and its misbehaviour, for real."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import ollama
import openai
import pytest
from pydantic import BaseModel

from scripted import Asked, Declined, Reset, ScriptedModel, Slow, Status, Truncated


class Pet(BaseModel):
    name: str
    legs: int


CAT = Pet(name="Tom", legs=4)
SAY: Any = [{"role": "user", "content": "Which pet?"}]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(lambda asked: CAT) as scripted:
        yield scripted


def test_the_openai_client_reads_a_structured_answer(model: ScriptedModel) -> None:
    with openai.OpenAI(base_url=model.openai, api_key="k") as client:
        answer = client.chat.completions.parse(model="m", messages=SAY, response_format=Pet)

    assert answer.choices[0].message.parsed == CAT
    assert answer.usage is not None
    assert answer.usage.total_tokens == 120
    (asked,) = model.requests
    assert (asked.protocol, asked.form, asked.mode, asked.user) == ("openai", "Pet", "schema", "Which pet?")


def test_the_openai_client_reads_a_tool_call(model: ScriptedModel) -> None:
    tool = openai.pydantic_function_tool(Pet)
    with openai.OpenAI(base_url=model.openai, api_key="k") as client:
        answer = client.chat.completions.parse(model="m", messages=SAY, tools=[tool])

    calls = answer.choices[0].message.tool_calls
    assert calls is not None
    assert calls[0].function.parsed_arguments == CAT
    assert model.requests[0].mode == "tool"


def test_the_openai_client_sees_a_cut_off_answer_and_a_declined_one(model: ScriptedModel) -> None:
    with openai.OpenAI(base_url=model.openai, api_key="k") as client:
        model.answer = lambda asked: Truncated('{"na')
        with pytest.raises(openai.LengthFinishReasonError):
            client.chat.completions.parse(model="m", messages=SAY, response_format=Pet)
        model.answer = lambda asked: Declined()
        declined = client.chat.completions.create(model="m", messages=SAY)

    assert declined.choices[0].message.refusal


def test_the_anthropic_client_reads_a_structured_answer(model: ScriptedModel) -> None:
    with anthropic.Anthropic(base_url=model.address, api_key="k") as client:
        answer = client.messages.parse(model="m", max_tokens=9, messages=SAY, output_format=Pet, system="Be brief.")

    assert answer.parsed_output == CAT
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (100, 20)
    (asked,) = model.requests
    assert (asked.protocol, asked.mode, asked.system) == ("anthropic", "schema", "Be brief.")


def test_the_anthropic_client_reads_a_tool_call_and_a_refusal(model: ScriptedModel) -> None:
    tool: Any = {"name": "Pet", "input_schema": Pet.model_json_schema()}
    with anthropic.Anthropic(base_url=model.address, api_key="k") as client:
        called = client.messages.create(model="m", max_tokens=9, messages=SAY, tools=[tool])
        model.answer = lambda asked: Declined()
        declined = client.messages.create(model="m", max_tokens=9, messages=SAY)

    assert [block.input for block in called.content if block.type == "tool_use"] == [CAT.model_dump()]
    assert called.stop_reason == "tool_use"
    assert declined.stop_reason == "refusal"


def test_the_ollama_client_reads_a_structured_answer(model: ScriptedModel) -> None:
    with ollama.Client(host=model.address) as client:
        answer = client.chat(model="m", messages=SAY, format=Pet.model_json_schema())

    assert Pet.model_validate_json(answer.message.content or "") == CAT
    assert (answer.prompt_eval_count, answer.eval_count, answer.done_reason) == (100, 20, "stop")
    assert (model.requests[0].form, model.requests[0].mode) == ("Pet", "schema")


def test_embeddings_come_in_the_shapes_that_the_clients_expect() -> None:
    def vectors(asked: Asked) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in asked.texts]

    with ScriptedModel(vectors) as model:
        with openai.OpenAI(base_url=model.openai, api_key="k") as client:
            found = client.embeddings.create(model="m", input=["a", "bb"])
        with ollama.Client(host=model.address) as other:
            same = other.embed(model="m", input=["a", "bb"])

    assert [one.embedding for one in found.data] == [[1.0, 1.0], [2.0, 1.0]]
    assert same.embeddings == [[1.0, 1.0], [2.0, 1.0]]


def test_the_clients_know_its_errors_by_their_shapes(model: ScriptedModel) -> None:
    model.answer = lambda asked: Status(429, "too many", {"retry-after": "0"})
    with openai.OpenAI(base_url=model.openai, api_key="k", max_retries=0) as client:
        with pytest.raises(openai.RateLimitError, match="too many"):
            client.chat.completions.create(model="m", messages=SAY)
        model.answer = lambda asked: Reset()
        with pytest.raises(openai.APIConnectionError):
            client.chat.completions.create(model="m", messages=SAY)
    model.answer = lambda asked: Status(500, "broken")
    with (
        anthropic.Anthropic(base_url=model.address, api_key="k", max_retries=0) as client,
        pytest.raises(anthropic.InternalServerError, match="broken"),
    ):
        client.messages.create(model="m", max_tokens=9, messages=SAY)
    with ollama.Client(host=model.address) as client, pytest.raises(ollama.ResponseError, match="broken"):
        client.chat(model="m", messages=SAY)


def test_it_can_be_slower_than_a_client_waits(model: ScriptedModel) -> None:
    model.answer = lambda asked: Slow(60, CAT)
    with (
        openai.OpenAI(base_url=model.openai, api_key="k", max_retries=0, timeout=0.05) as client,
        pytest.raises(openai.APITimeoutError),
    ):
        client.chat.completions.create(model="m", messages=SAY)
