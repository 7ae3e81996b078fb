"""
Three ways to write one question and to read its answer: OpenAI's chat completions, Anthropic's messages, Ollama's chat.

*Because:* bodies are plain JSON, not objects of a provider's SDK: fields that a user passes on through `options` stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Mode = Literal["schema", "tool", "json", "text"]
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One request: who is asked, what was said so far, and the form of the answer by name and JSON schema."""

    model: str
    system: str
    turns: Sequence[Turn]
    form: str
    schema: Body
    temperature: float | None
    max_tokens: int
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the model answered: text that should be JSON, whether it was cut off or declined, and what it cost in tokens."""

    text: str
    cut: bool = False
    declined: bool = False
    tokens_in: int = 0
    tokens_out: int = 0


class Dialect(Protocol):
    """How a provider is spoken to."""

    path: str
    """Below the base URL."""

    inner: str
    """The end of a base URL that people give or leave out, and that `path` has already; or ""."""

    modes: Sequence[Mode]
    """Ways to demand a form, the strictest first."""

    def headers(self, key: str) -> dict[str, str]: ...

    def body(self, asking: Asking, mode: Mode) -> Body: ...

    def said(self, body: Mapping[str, Any]) -> Said:
        """What an answer says; an answer of another shape says nothing."""
        ...


class OpenAi:
    """Chat completions, as OpenAI and many others offer them."""

    path = "/chat/completions"
    inner = ""
    modes: Sequence[Mode] = ("schema", "tool", "json", "text")

    def __init__(self, limit: str = "max_tokens") -> None:
        """
        Args:
            limit: the field that bounds the answer; OpenAI itself wants `max_completion_tokens`, others may not know it.
        """
        self._limit = limit

    def headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, asking: Asking, mode: Mode) -> Body:
        body: Body = {
            "model": asking.model,
            "messages": [{"role": "system", "content": asking.system}, *_messages(asking.turns)],
            self._limit: asking.max_tokens,
        }
        if asking.temperature is not None:
            body["temperature"] = asking.temperature
        match mode:
            case "schema":
                form = {"name": asking.form, "schema": asking.schema, "strict": True}
                body["response_format"] = {"type": "json_schema", "json_schema": form}
            case "tool":
                body["tools"] = [
                    {"type": "function", "function": {"name": asking.form, "parameters": asking.schema, "strict": True}}
                ]
                body["tool_choice"] = {"type": "function", "function": {"name": asking.form}}
            case "json":
                body["response_format"] = {"type": "json_object"}
        return _with(body, asking.options)

    def said(self, body: Mapping[str, Any]) -> Said:
        choice = _first(body.get("choices"))
        message = _mapping(choice.get("message"))
        called = _mapping(_first(message.get("tool_calls")).get("function")).get("arguments")
        why, usage = choice.get("finish_reason"), _mapping(body.get("usage"))
        return Said(
            text=_text(called) or _text(message.get("content")),
            cut=why == "length",
            declined=bool(message.get("refusal")) or why == "content_filter",
            tokens_in=_number(usage.get("prompt_tokens")),
            tokens_out=_number(usage.get("completion_tokens")),
        )


class Anthropic:
    """Messages, as Anthropic offers them."""

    path = "/v1/messages"
    inner = "/v1"
    modes: Sequence[Mode] = ("schema", "tool", "text")

    def headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def body(self, asking: Asking, mode: Mode) -> Body:
        body: Body = {
            "model": asking.model,
            "system": asking.system,
            "messages": _messages(asking.turns),
            "max_tokens": asking.max_tokens,
        }
        if asking.temperature is not None:
            body["temperature"] = min(asking.temperature, 1.0)  # its scale ends at 1
        match mode:
            case "schema":
                body["output_config"] = {"format": {"type": "json_schema", "schema": asking.schema}}
            case "tool":
                body["tools"] = [
                    {"name": asking.form, "description": "Give the answer.", "input_schema": asking.schema}
                ]
                body["tool_choice"] = {"type": "tool", "name": asking.form}
        return _with(body, asking.options)

    def said(self, body: Mapping[str, Any]) -> Said:
        blocks = [_mapping(block) for block in body.get("content") or ()]
        called = next((block.get("input") for block in blocks if block.get("type") == "tool_use"), None)
        spoken = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        why, usage = body.get("stop_reason"), _mapping(body.get("usage"))
        read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        return Said(
            text=_text(called) or spoken,
            cut=why in ("max_tokens", "model_context_window_exceeded"),
            declined=why == "refusal",
            tokens_in=sum(_number(usage.get(name)) for name in read),
            tokens_out=_number(usage.get("output_tokens")),
        )


class Ollama:
    """Chat, as Ollama offers it. It cannot be made to call a tool, so that mode is left out."""

    path = "/api/chat"
    inner = "/api"
    modes: Sequence[Mode] = ("schema", "json", "text")

    def headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, asking: Asking, mode: Mode) -> Body:
        passed = dict(asking.options)
        inner = _mapping(passed.pop("options", None))
        options: Body = {"num_predict": asking.max_tokens}
        if asking.temperature is not None:
            options["temperature"] = asking.temperature
        body: Body = {
            "model": asking.model,
            "messages": [{"role": "system", "content": asking.system}, *_messages(asking.turns)],
            "stream": False,
            "options": _with(options, inner),
        }
        match mode:
            case "schema":
                body["format"] = asking.schema
            case "json":
                body["format"] = "json"
        return _with(body, passed)

    def said(self, body: Mapping[str, Any]) -> Said:
        return Said(
            text=_text(_mapping(body.get("message")).get("content")),
            cut=body.get("done_reason") == "length",
            tokens_in=_number(body.get("prompt_eval_count")),
            tokens_out=_number(body.get("eval_count")),
        )


def _with(body: Body, options: Mapping[str, Any]) -> Body:
    """
    The body with the user's fields laid over it; a null takes a field out.

    >>> _with({"model": "m", "max_tokens": 9}, {"max_tokens": None, "max_completion_tokens": 9})
    {'model': 'm', 'max_completion_tokens': 9}
    """
    return {name: value for name, value in {**body, **options}.items() if value is not None}


def _messages(turns: Sequence[Turn]) -> list[Body]:
    return [{"role": turn.role, "content": turn.text} for turn in turns]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first(value: object) -> Mapping[str, Any]:
    return _mapping(value[0]) if isinstance(value, list) and value else {}


def _text(value: object) -> str:
    """Text as it is, an object as JSON: a tool's arguments come as either."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
