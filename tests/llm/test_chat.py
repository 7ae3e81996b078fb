"""Whatever a provider takes or refuses and however a model answers, a form comes back, or an error that says what to do."""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, Field

from memento.errors import ModelError
from memento.llm import AGENTS, Chat, Prompt, chats_of
from memento.settings import AgentSettings, ModelSettings
from scripted import Asked, Declined, Raw, Reset, ScriptedModel, Slow, Status, Truncated

KEY = "sk-very-secret-0123456789"
PROMPT = Prompt(system="Answer.", user="What did Ada drink?")
PROTOCOLS = ("openai", "anthropic", "ollama")
SPENT = (100, 20)


class Drinks(BaseModel):
    drinks: list[str] = Field(min_length=1)
    note: str | None = None


TEA = {"drinks": ["tea"], "note": None}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(lambda asked: TEA) as scripted:
        yield scripted


def chat(model: ScriptedModel, provider: Any = "openai", **changes: Any) -> Chat:
    url = model.address if provider in ("anthropic", "ollama") else model.openai
    known: dict[str, Any] = {"api_key": KEY, "model": "m", "retry_wait_s": 0.001, **changes}
    return chats_of(ModelSettings(provider=provider, base_url=url, **known))["hypothesise"]


def in_turn(*answers: Any) -> Callable[[Asked], Any]:
    """One answer after the other, whoever asks; an exhausted script is a failure of the test."""
    left = list(answers)
    return lambda asked: left.pop(0)


@pytest.mark.parametrize("provider", [*PROTOCOLS, "google", "openai-compatible"])
def test_a_form_is_filled_in_over_every_protocol(model: ScriptedModel, provider: str) -> None:
    asked = chat(model, provider)
    reply = asked.answer(PROMPT, Drinks)

    assert asked.name == f"{provider}:m"
    assert reply.value == Drinks(drinks=["tea"])
    assert (reply.tokens_in, reply.tokens_out, reply.attempts) == (*SPENT, 1)
    (request,) = model.requests
    assert (request.system, request.user, request.mode, request.form) == ("Answer.", PROMPT.user, "schema", "Drinks")
    assert KEY in request.headers["x-api-key" if provider == "anthropic" else "authorization"]


def test_the_schema_that_is_sent_is_one_that_providers_enforce(model: ScriptedModel) -> None:
    chat(model).answer(PROMPT, Drinks)

    schema = model.requests[0].schema
    assert schema["required"] == ["drinks", "note"]
    assert schema["additionalProperties"] is False
    assert "default" not in json.dumps(schema)


@pytest.mark.parametrize(
    ("provider", "modes"),
    [
        ("openai", ["schema", "tool", "json", "text"]),
        ("anthropic", ["schema", "tool", "text"]),
        ("ollama", ["schema", "json", "text"]),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_mode_gives_way_to_the_next_and_is_remembered(
    model: ScriptedModel, provider: str, modes: list[str], status: int
) -> None:
    model.answer = lambda asked: "```json\n" + json.dumps(TEA) + "\n```" if asked.mode == "text" else Status(status)
    asked = chat(model, provider)
    replies = [asked.answer(PROMPT, Drinks) for _ in range(2)]

    assert [reply.value.drinks for reply in replies] == [["tea"], ["tea"]]
    assert [request.mode for request in model.requests] == [*modes, "text"]
    assert '"drinks"' in model.requests[-1].system, "who is not made to must be told"
    assert [request.form for request in model.requests] == ["Drinks"] * len(model.requests)


def test_a_request_that_is_refused_in_every_mode_fails_with_the_reason_and_nothing_is_learnt(
    model: ScriptedModel,
) -> None:
    model.answer = lambda asked: Status(400, "context too long")
    asked = chat(model)
    with pytest.raises(ModelError, match=r"openai:m refuses the request.*context too long"):
        asked.answer(PROMPT, Drinks)
    model.answer = lambda asked: TEA
    asked.answer(PROMPT, Drinks)

    assert model.requests[-1].mode == "schema"


def test_a_model_that_takes_no_temperature_is_asked_without(model: ScriptedModel) -> None:
    model.answer = lambda asked: Status(400, "Unsupported: 'temperature'") if "temperature" in asked.body else TEA
    asked = chat(model)
    asked.answer(PROMPT, Drinks)
    asked.answer(PROMPT, Drinks)

    assert ["temperature" in request.body for request in model.requests] == [True, False, False]
    assert {request.mode for request in model.requests} == {"schema"}


@pytest.mark.parametrize("provider", PROTOCOLS)
def test_what_does_not_fit_is_sent_back_with_what_is_wrong(model: ScriptedModel, provider: str) -> None:
    model.answer = in_turn({"drinks": []}, "tea, of course", TEA)
    reply = chat(model, provider).answer(PROMPT, Drinks)

    assert reply.attempts == 3
    assert (reply.tokens_in, reply.tokens_out) == (3 * SPENT[0], 3 * SPENT[1])
    first, second = model.requests[1:]
    assert [role for role, _ in first.turns] == ["user", "assistant", "user"]
    assert first.turns[1][1] == '{"drinks": []}'
    assert "drinks: List should have at least 1 item" in first.last
    assert "It is not JSON" in second.last
    assert len(second.turns) == 3, "only the last try is kept"


@pytest.mark.parametrize("provider", PROTOCOLS)
def test_a_cut_off_answer_is_told_so(model: ScriptedModel, provider: str) -> None:
    model.answer = in_turn(Truncated('{"drinks": ["te'), TEA)
    reply = chat(model, provider).answer(PROMPT, Drinks)

    assert reply.attempts == 2
    assert "cut off" in model.requests[1].last


def test_a_complaint_of_the_asker_is_sent_back(model: ScriptedModel) -> None:
    model.answer = in_turn({"drinks": ["rum"], "note": None}, TEA)

    def complaint(found: Drinks) -> str | None:
        return "No rum was mentioned." if "rum" in found.drinks else None

    reply = chat(model).answer(PROMPT, Drinks, complaint)

    assert reply.value.drinks == ["tea"]
    assert "No rum was mentioned." in model.requests[1].last


def test_the_last_unfit_answer_is_an_error_that_tells_the_cost_and_not_what_was_said(model: ScriptedModel) -> None:
    model.answer = lambda asked: {"drinks": "Ada's secret"}
    with pytest.raises(ModelError, match="openai:m gave no fitting answer in 3 attempts") as failed:
        chat(model, max_retries=2).answer(PROMPT, Drinks)

    assert len(model.requests) == 3
    assert (failed.value.tokens_in, failed.value.tokens_out) == (3 * SPENT[0], 3 * SPENT[1])
    assert "Ada" not in "".join(traceback.format_exception(failed.value))


def test_the_retries_of_the_network_and_of_the_form_are_the_same_few(model: ScriptedModel) -> None:
    model.answer = in_turn(Status(500), {"drinks": []}, Reset(), TEA)

    assert chat(model, max_retries=3).answer(PROMPT, Drinks).attempts == 4


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_model_that_declines_is_not_asked_again(model: ScriptedModel, provider: str) -> None:
    model.answer = lambda asked: Declined()
    with pytest.raises(ModelError, match="declined to answer"):
        chat(model, provider).answer(PROMPT, Drinks)

    assert len(model.requests) == 1


@pytest.mark.parametrize("body", [b"{}", b'{"choices": null}', b'{"choices": [{"message": 3}]}', b'{"choices": [7]}'])
def test_an_answer_of_another_shape_is_an_unfit_answer(model: ScriptedModel, body: bytes) -> None:
    model.answer = in_turn(Raw(body), TEA)

    assert chat(model).answer(PROMPT, Drinks).attempts == 2


def test_each_question_has_its_own_settings_over_those_of_the_model(model: ScriptedModel) -> None:
    chats = chats_of(
        ModelSettings(
            provider="openai-compatible",
            provider_name="box",
            base_url=model.openai,
            model="small",
            temperature=0.5,
            max_tokens=100,
            options='{"seed": 1, "top_p": 0.9}',
            resolve_memories=AgentSettings(model="large", temperature=0.0, max_tokens=200, options='{"top_p": null}'),
        )
    )
    for name in AGENTS:
        chats[name].answer(PROMPT, Drinks)
    asked = dict(zip(AGENTS, [request.body for request in model.requests], strict=True))

    assert chats["resolve_memories"].name == "box:large"
    assert [asked["extract_entities"][key] for key in ("model", "temperature", "max_tokens", "seed", "top_p")] == [
        "small", 0.5, 100, 1, 0.9,
    ]  # fmt: skip
    assert [asked["resolve_memories"].get(key) for key in ("model", "temperature", "max_tokens", "seed", "top_p")] == [
        "large", 0.0, 200, 1, None,
    ]  # fmt: skip
    assert asked["hypothesise"]["temperature"] == 0.7


def test_what_the_prompt_says_wins_over_what_is_configured(model: ScriptedModel) -> None:
    chat(model, "anthropic").answer(Prompt(system="s", user="u", temperature=1.5, max_tokens=7), Drinks)
    chat(model, "ollama").answer(Prompt(system="s", user="u", temperature=0.1, max_tokens=7), Drinks)
    anthropic, ollama = (request.body for request in model.requests)

    assert (anthropic["temperature"], anthropic["max_tokens"]) == (1.0, 7), "Anthropic's scale ends at 1"
    assert ollama["options"] == {"temperature": 0.1, "num_predict": 7}


def test_options_of_ollama_are_laid_into_its_own(model: ScriptedModel) -> None:
    chat(model, "ollama", options='{"think": false, "options": {"num_ctx": 8192}}').answer(PROMPT, Drinks)
    (request,) = model.requests

    assert request.body["think"] is False
    assert request.body["options"]["num_ctx"] == 8192
    assert request.body["options"]["num_predict"] == 15000


@pytest.mark.parametrize(("provider", "suffix"), [("anthropic", "/v1"), ("ollama", "/api"), ("ollama", "/")])
def test_a_base_url_may_have_the_part_that_the_protocol_adds(model: ScriptedModel, provider: Any, suffix: str) -> None:
    settings = ModelSettings(provider=provider, base_url=model.address + suffix, model="m")

    assert chats_of(settings)["hypothesise"].answer(PROMPT, Drinks).value.drinks == ["tea"]


def test_a_whole_question_has_a_time_limit(model: ScriptedModel) -> None:
    model.answer = lambda asked: Slow(0.6, TEA)
    with pytest.raises(ModelError, match="did not answer"):
        chat(model, call_s=0.1).answer(PROMPT, Drinks)

    assert len(model.requests) == 1


def test_without_a_provider_there_is_no_model() -> None:
    assert chats_of(ModelSettings()) == {}


@pytest.mark.parametrize("key", ["sk-line\nbreak-secret", "sk-größe-secret"])
def test_a_key_that_no_header_can_hold_is_in_no_error_either(model: ScriptedModel, key: str) -> None:
    with pytest.raises(ModelError, match=r"cannot be asked .* check its base_url and api_key") as failed:
        chat(model, api_key=key).answer(PROMPT, Drinks)

    assert "secret" not in "".join(traceback.format_exception(failed.value))
    assert model.requests == []


@pytest.mark.parametrize("answer", [Status(401, f"bad key {KEY}"), Status(500, KEY), Reset(), {"drinks": []}])
def test_the_key_is_in_no_error_and_no_repr(
    model: ScriptedModel, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    model.answer = lambda asked: answer
    asked = chat(model)
    with pytest.raises(ModelError) as failed:
        asked.answer(PROMPT, Drinks)

    assert KEY not in "".join(traceback.format_exception(failed.value))
    assert KEY not in repr(asked) + repr(ModelSettings(api_key=KEY))
    assert KEY not in caplog.text


def test_nothing_heavy_is_imported_until_a_model_is_configured() -> None:
    program = """
import sys
import memento.interfaces.cli
from memento import settings
from memento.llm import chats_of
from memento.search.embedders import embedder_of
found = settings.load(None, {})
chats_of(found.model), embedder_of(found.embedding, None)
print(sorted({"httpx2", "pydantic", "dotenv", "torch"} & set(sys.modules)))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.strip() == "[]"
