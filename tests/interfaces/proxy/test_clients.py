"""The providers' own clients through Memento: what they get is what they get without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import ollama
import openai
import pytest

from proxied import Proxied

QUESTION = "Where do I live?"
KEY = "sk-canary-4711"
TOOL: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture
def gpt(proxied: Proxied) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{proxied.url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture
def claude(proxied: Proxied) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=proxied.url, api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture
def llama(proxied: Proxied) -> Iterator[ollama.Client]:
    client = ollama.Client(host=proxied.url)
    yield client
    client._client.close()


def has_block(message: Any) -> bool:
    return str(message["content"]).count("Lisbon") > 0


def test_openai_completes_a_chat(gpt: openai.OpenAI, proxied: Proxied) -> None:
    raw = gpt.chat.completions.with_raw_response.create(model="plain", messages=[{"role": "user", "content": QUESTION}])
    answer = raw.parse()

    assert answer.choices[0].message.content == "Hello."
    assert answer.usage
    assert answer.usage.total_tokens == 14
    assert raw.headers["x-memento-status"] == "ok"
    assert raw.headers["x-request-id"] == "req-1"
    assert has_block(proxied.last.json["messages"][0])
    assert proxied.last.header("authorization") == [f"Bearer {KEY}"]


def test_openai_streams_a_chat_with_usage(gpt: openai.OpenAI) -> None:
    stream = gpt.chat.completions.create(
        model="plain",
        messages=[{"role": "user", "content": QUESTION}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)

    assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == "Hello é"
    assert [one.choices[0].finish_reason for one in chunks if one.choices][-1] == "stop"
    assert chunks[-1].usage
    assert chunks[-1].usage.prompt_tokens == 11


@pytest.mark.parametrize("is_streamed", [False, True])
def test_openai_calls_a_tool_and_goes_on(gpt: openai.OpenAI, proxied: Proxied, is_streamed: bool) -> None:
    said: list[Any] = [{"role": "user", "content": "Which colours do I prefer, dark mode or light?"}]
    if is_streamed:
        chunks = list(gpt.chat.completions.create(model="tool", messages=said, tools=[TOOL], stream=True))
        calls = [one.choices[0].delta.tool_calls for one in chunks if one.choices and one.choices[0].delta.tool_calls]
        [[call]] = calls
        assert call.function
        assert call.function.arguments == '{"city": "Lisbon"}'
    asked = proxied.last.json["messages"][0] if is_streamed else None
    message = gpt.chat.completions.create(model="tool", messages=said, tools=[TOOL]).choices[0].message
    assert message.tool_calls
    first = proxied.last.json["messages"][0]
    said += [message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}]
    gpt.chat.completions.create(model="plain", messages=said, tools=[TOOL])

    assert asked in (None, first)
    assert proxied.last.json["messages"] == [first, *said[1:]]


def test_openai_sends_an_image(gpt: openai.OpenAI, proxied: Proxied) -> None:
    parts: Any = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": QUESTION},
    ]
    gpt.chat.completions.create(model="plain", messages=[{"role": "user", "content": parts}])
    image, text = proxied.last.json["messages"][0]["content"]

    assert image == parts[0]
    assert text["text"].endswith(f"</memento>\n\n{QUESTION}")


def test_openai_responds(gpt: openai.OpenAI, proxied: Proxied) -> None:
    assert gpt.responses.create(model="plain", input=QUESTION).output_text == "Hello."
    assert proxied.last.json["input"].endswith(QUESTION)
    events = list(gpt.responses.create(model="plain", input=[{"role": "user", "content": QUESTION}], stream=True))
    assert [one.type for one in events] == ["response.created", "response.output_text.delta", "response.completed"]
    assert has_block(proxied.last.json["input"][0])


def test_openai_lists_and_embeds(gpt: openai.OpenAI, proxied: Proxied) -> None:
    assert [one.id for one in gpt.models.list()] == ["plain"]
    assert gpt.embeddings.create(model="plain", input=QUESTION, encoding_format="float").data[0].embedding == [
        0.5,
        0.25,
    ]
    assert b"memento" not in proxied.last.body


@pytest.mark.parametrize(
    ("status", "error"),
    [("401", openai.AuthenticationError), ("429", openai.RateLimitError), ("500", openai.InternalServerError)],
)
def test_openai_is_refused_as_by_the_provider(
    gpt: openai.OpenAI, status: str, error: type[openai.APIStatusError]
) -> None:
    with pytest.raises(error, match=f"status {status}") as caught:
        gpt.chat.completions.create(model=status, messages=[{"role": "user", "content": QUESTION}])

    assert caught.value.code == "c"
    if status == "429":
        assert caught.value.response.headers["retry-after"] == "7"


def test_openai_sees_a_stream_break_off(gpt: openai.OpenAI) -> None:
    stream = gpt.chat.completions.create(model="broken", messages=[{"role": "user", "content": QUESTION}], stream=True)
    with pytest.raises(openai.APIConnectionError) as caught:
        list(stream)

    assert "incomplete chunked read" in str(caught.value.__cause__)


def test_anthropic_answers_with_thought_and_usage(claude: anthropic.Anthropic, proxied: Proxied) -> None:
    message = claude.messages.create(
        model="thinking",
        max_tokens=100,
        system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        messages=[{"role": "user", "content": QUESTION}],
    )

    assert [one.type for one in message.content] == ["thinking", "text"]
    assert message.usage.cache_read_input_tokens == 5
    assert proxied.last.json["system"] == [
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    ]
    assert has_block(proxied.last.json["messages"][0])
    assert proxied.last.header("authorization") == [f"Bearer {KEY}"]
    assert proxied.last.header("anthropic-version")


@pytest.mark.parametrize("model", ["plain", "thinking", "tool"])
def test_anthropic_streams(claude: anthropic.Anthropic, model: str) -> None:
    with claude.messages.stream(model=model, max_tokens=9, messages=[{"role": "user", "content": QUESTION}]) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()

    assert text == "Hello."
    assert message.stop_reason == ("tool_use" if model == "tool" else "end_turn")
    if model == "tool":
        assert message.content[1].type == "tool_use"
        assert message.content[1].input == {"city": "Lisbon"}


def test_anthropic_goes_on_after_a_tool(claude: anthropic.Anthropic, proxied: Proxied) -> None:
    said: list[Any] = [{"role": "user", "content": "Where do I work, and with whom?"}]
    message = claude.messages.create(model="tool", max_tokens=9, messages=said)
    first = proxied.last.json["messages"][0]
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}
    said += [
        {"role": "assistant", "content": [one.model_dump(exclude_none=True) for one in message.content]},
        {"role": "user", "content": [result]},
    ]
    claude.messages.create(model="plain", max_tokens=9, messages=said)

    assert proxied.last.json["messages"] == [first, *said[1:]]


def test_anthropic_counts_the_block_too(claude: anthropic.Anthropic, proxied: Proxied) -> None:
    count = claude.messages.count_tokens(model="plain", messages=[{"role": "user", "content": QUESTION}])
    counted = proxied.last.json["messages"]
    claude.messages.create(model="plain", max_tokens=9, messages=[{"role": "user", "content": QUESTION}])

    assert count.input_tokens == 42
    assert has_block(counted[0])
    assert proxied.last.json["messages"] == counted


@pytest.mark.parametrize(
    ("status", "error"),
    [("401", anthropic.AuthenticationError), ("429", anthropic.RateLimitError), ("500", anthropic.InternalServerError)],
)
def test_anthropic_is_refused_as_by_the_provider(
    claude: anthropic.Anthropic, status: str, error: type[anthropic.APIStatusError]
) -> None:
    with pytest.raises(error, match="overloaded_error"):
        claude.messages.create(model=status, max_tokens=9, messages=[{"role": "user", "content": QUESTION}])


def test_ollama_chats(llama: ollama.Client, proxied: Proxied) -> None:
    whole = llama.chat(model="plain", messages=[{"role": "user", "content": QUESTION, "images": ["AAAA"]}])
    assert proxied.last.json["messages"][0]["images"] == ["AAAA"]
    assert has_block(proxied.last.json["messages"][0])
    words = [
        one.message.content
        for one in llama.chat(model="plain", messages=[{"role": "user", "content": QUESTION}], stream=True)
    ]

    assert whole.message.content == "Hello."
    assert words == ["Hel", "lo é", ""]
    assert [one.model for one in llama.list().models] == ["plain"]


def test_ollama_is_refused_as_by_the_provider(llama: ollama.Client) -> None:
    with pytest.raises(ollama.ResponseError, match="status 500") as caught:
        llama.chat(model="500", messages=[{"role": "user", "content": QUESTION}])

    assert caught.value.status_code == 500
