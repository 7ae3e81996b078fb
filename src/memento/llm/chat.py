"""
Language models behind OpenAI-compatible, Anthropic and Ollama endpoints, each filling in pydantic forms.

Ask by the strictest means that the provider takes, check the answer, and ask again with what was wrong:

    prompt ── request ── endpoint ── response ── form? ── complaint? ──► reply
                 ▲                                 │          │
                 └── what was wrong ───────────────┴──────────┘

*Guarantees:* without a provider in the settings nothing is connected.

*But:* all retries of one answer, of the network's and of the form's, come out of the same few.

*Because:* bodies are plain JSON, not objects of a provider's SDK: fields that a user passes on through `options` stay as they are.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from memento import telemetry
from memento.breaker import Breaker
from memento.errors import ModelError
from memento.llm.endpoint import UNFIT, Answer, Endpoint, Limits, error_message
from memento.settings import AgentSettings, ModelSettings

if TYPE_CHECKING:
    from pydantic import BaseModel

Form = TypeVar("Form", bound="BaseModel")
"""The shape that a model's answer must have."""

AGENTS = (
    "extract_entities",
    "resolve_entities",
    "hypothesise",
    "extract_memories",
    "resolve_memories",
    "plan",
    "act",
)
"""The questions that a model is asked; each may have settings of its own under [model]."""

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"


def chats_of(settings: ModelSettings) -> dict[str, Chat]:
    """
    Make a model for each of `AGENTS`, all behind one connection and one circuit breaker; none when the provider is `none`.

    Nothing is connected before the first question.

    >>> chats_of(ModelSettings())
    {}
    """
    if settings.provider == "none":
        return {}
    service = _connect(settings)
    called = settings.provider_name or settings.provider

    def chat(agent: AgentSettings) -> Chat:
        model = agent.model or settings.model
        return Chat(
            name=f"{called}:{model}",
            service=service,
            model=model,
            temperature=settings.temperature if agent.temperature is None else agent.temperature,
            max_tokens=agent.max_tokens or settings.max_tokens,
            max_retries=settings.max_retries,
            call_s=settings.call_s,
            options={**_parse_options(settings.options), **_parse_options(agent.options)},
        )

    return {name: chat(getattr(settings, name)) for name in AGENTS}


def _connect(settings: ModelSettings) -> Service:
    known: dict[str, tuple[Dialect, str]] = {
        "openai": (OpenAi("max_completion_tokens"), "https://api.openai.com/v1"),
        "google": (OpenAi(), GOOGLE),
        "openai-compatible": (OpenAi(), ""),
        "anthropic": (Anthropic(), "https://api.anthropic.com"),
        "ollama": (Ollama(), "http://localhost:11434"),
    }
    dialect, usual = known[settings.provider]
    limits = Limits(connect_s=settings.connect_s, silence_s=settings.timeout_s, retry_wait_s=settings.retry_wait_s)
    base_url = (settings.base_url or usual).rstrip("/")
    endpoint = Endpoint(
        base_url.removesuffix(dialect.inner),
        headers=dialect.headers(settings.api_key),
        secret=settings.api_key,
        called=settings.provider_name or settings.provider,
        error=ModelError,
        limits=limits,
        breaker=Breaker(settings.breaker_failures, settings.breaker_rest_s),
    )
    return Service(endpoint, dialect)


def _parse_options(text: str) -> dict[str, object]:
    options: dict[str, object] = json.loads(text) if text else {}
    return options


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is asked: the rules, the input, and how freely and how long it may answer (None: as configured)."""

    system: str
    user: str
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[Form]):
    """A model's answer in the form asked for, and what it cost over all attempts; 0 where the provider does not say."""

    value: Form
    tokens_in: int = 0
    tokens_out: int = 0
    attempts: int = 1


@dataclass(slots=True)
class Service:
    """A provider's endpoint and what was learnt about its models: the modes and fields that they refuse."""

    endpoint: Endpoint
    dialect: Dialect
    refused_modes: dict[str, int] = field(default_factory=dict)  # model → how many of the dialect's modes
    cold: set[str] = field(default_factory=set)  # models that take no temperature


@dataclass(slots=True)
class _Cost:
    """What one answer has cost so far."""

    tokens_in: int = 0
    tokens_out: int = 0
    attempts: int = 0


@dataclass(slots=True, kw_only=True)
class Chat:
    """One model of a service, with what is configured for it: answers in a given form. May be asked from several threads."""

    name: str
    """Provider and model, as `openai:gpt-5-mini`: goes into the provenance of what it says."""
    service: Service
    model: str
    temperature: float | None
    max_tokens: int
    max_retries: int
    call_s: float
    options: Mapping[str, Any]

    def answer(
        self, asked: Prompt, form: type[Form], complaint: Callable[[Form], str | None] | None = None
    ) -> Reply[Form]:
        """
        Answer one prompt.

        Args:
            form: a pydantic model; an answer that does not fit is sent back with what is wrong, as often as is configured.
            complaint: what is wrong with an answer that fits the form, or None; it is sent back too.

        Raises:
            ModelError: no fitting answer after the last attempt, the provider refuses, or the circuit is open; it carries the
                tokens that were spent.
        """
        until = time.monotonic() + self.call_s
        spent, turns = _Cost(), [Turn("user", asked.user)]
        wrong = "It is empty."
        while spent.attempts <= self.max_retries:
            answer = self._ask(asked, turns, form, spent, until)
            if answer.declined:
                raise self._failure("declined to answer", spent)
            filled = parse_form(answer.text, form)
            if not isinstance(filled, str):
                objection = complaint(filled) if complaint else None
                if objection is None:
                    return Reply(
                        value=filled, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out, attempts=spent.attempts
                    )
                wrong = objection
            else:
                wrong = "It was cut off at the most tokens an answer may have. Be brief." if answer.cut else filled
            telemetry.count("model.unfit")
            turns = [turns[0], *_ask_again(answer, wrong, form)]
        raise self._failure(f"gave no fitting answer in {spent.attempts} attempts. {wrong}", spent)

    def close(self) -> None:
        """Let go of the service's connections, which the other models of the service share; the next question opens new ones."""
        self.service.endpoint.close()

    def _ask(self, asked: Prompt, turns: list[Turn], form: type[Form], spent: _Cost, until: float) -> ChatResponse:
        """Ask once, in the strictest mode that is not refused."""
        service, dialect = self.service, self.service.dialect
        place = service.refused_modes.get(self.model, 0)
        cold = self.model in service.cold
        while True:
            mode = dialect.modes[place]
            body = dialect.body(self._build_request(asked, turns, form, mode, cold), mode)
            answer = self._post(body, spent, until)
            if answer.status not in UNFIT:
                service.refused_modes[self.model] = place
                if cold:
                    service.cold.add(self.model)
                break
            why = error_message(answer.body)
            if not cold and "temperature" in why.lower():
                cold = True
            elif place + 1 < len(dialect.modes):
                place += 1
            else:
                raise self._failure(f"refuses the request: {service.endpoint.complaint(answer.status, why)}", spent)
        response = dialect.parse_response(answer.body)
        spent.attempts += answer.attempts
        spent.tokens_in += response.tokens_in
        spent.tokens_out += response.tokens_out
        telemetry.count("model.tokens_in", response.tokens_in)
        telemetry.count("model.tokens_out", response.tokens_out)
        return response

    def _post(self, body: dict[str, Any], spent: _Cost, until: float) -> Answer:
        retries = max(self.max_retries - spent.attempts, 0)
        try:
            return self.service.endpoint.post(self.service.dialect.path, body, retries=retries, until=until)
        except ModelError as error:
            raise ModelError(str(error), tokens_in=spent.tokens_in, tokens_out=spent.tokens_out) from error.__cause__

    def _build_request(self, asked: Prompt, turns: list[Turn], form: type[Form], mode: Mode, cold: bool) -> ChatRequest:
        schema = strict_schema(form)
        system = asked.system if mode in ("schema", "tool") else f"{asked.system}\n\n{_write_demand(schema)}"
        wanted = self.temperature if asked.temperature is None else asked.temperature
        return ChatRequest(
            model=self.model,
            system=system,
            turns=turns,
            form=form.__name__,
            schema=schema,
            temperature=None if cold else wanted,
            max_tokens=asked.max_tokens or self.max_tokens,
            options=self.options,
        )

    def _failure(self, how: str, spent: _Cost) -> ModelError:
        return ModelError(f"{self.name} {how}", tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)


def _write_demand(schema: Mapping[str, Any]) -> str:
    return f"Answer with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"


def _ask_again(answer: ChatResponse, wrong: str, form: type[Form]) -> tuple[Turn, Turn]:
    """Return the unfit answer and what is wrong with it as two turns. Only the last try is kept: a talk would grow for nothing."""
    again = f"That answer cannot be used. {wrong}\n{_write_demand(strict_schema(form))}"
    return Turn("assistant", answer.text.strip() or "(nothing)"), Turn("user", again)


FENCED = re.compile(r"```[a-zA-Z]*+[^\S\n]*+\n(.*?)```", re.DOTALL)
# Up to the next tag of a thought, whichever: one that is never closed would be looked for to the end, from each that opens.
THOUGHT = re.compile(r"<think(?:ing)?>[^<]*+(?:<(?!/?think(?:ing)?>)[^<]*+)*+</think(?:ing)?>")
UNKNOWN = ("default", "title", "discriminator")
BOUNDS = (
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "multipleOf",
    "exclusiveMinimum",
    "exclusiveMaximum",
)
MOST_TRIED = 100  # braces at which an object may begin: text made of nothing else would take for ever
MOST_NAMED = 5  # mistakes told at once; the first ones mostly cause the others


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """
    Write the form's JSON schema in the subset that providers enforce: every property required, nothing beside them, no defaults.

    Bounds, which not all of them know, move into descriptions; pydantic checks them. A field that may be left out must be nullable.
    """
    return {**_to_strict(form.model_json_schema()), "title": form.__name__}


def _to_strict(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    strict = {key: value for key, value in schema.items() if key not in (*UNKNOWN, *BOUNDS)}
    if bounds := ", ".join(f"{key}: {schema[key]}" for key in BOUNDS if key in schema):
        strict["description"] = f"{schema.get('description', '')} ({bounds})".strip()
    for key in ("$defs", "properties"):
        if key in strict:
            strict[key] = {name: _to_strict(one) for name, one in strict[key].items()}
    if "oneOf" in strict:
        strict["anyOf"] = strict.pop("oneOf")
    if "anyOf" in strict:
        strict["anyOf"] = [_to_strict(one) for one in strict["anyOf"]]
    if isinstance(strict.get("items"), dict):
        strict["items"] = _to_strict(strict["items"])
    if "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


def parse_form(text: str, form: type[Form]) -> Form | str:
    """
    Parse the form from bare JSON, a fenced block, or JSON with words around it; else return what is wrong, to be told to the model.

    The complaint names places and rules, never what the model wrote.
    """
    from pydantic import ValidationError

    wrong = "It is not JSON."
    for candidate in _find_objects(text):
        try:
            return form.model_validate(candidate)
        except ValidationError as error:
            mistakes = [
                f"{'.'.join(str(step) for step in one['loc']) or 'the object'}: {one['msg']}"
                for one in error.errors(include_url=False, include_input=False, include_context=False)
            ]
            more = f" and {len(mistakes) - MOST_NAMED} more" if len(mistakes) > MOST_NAMED else ""
            wrong = f"It does not fit: {'; '.join(mistakes[:MOST_NAMED])}{more}."
    return wrong


def _find_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every JSON object that the text may mean, likeliest first."""
    bare = THOUGHT.sub("", text).strip()
    for piece in (bare, *FENCED.findall(bare)):
        try:
            value = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
    decoder = json.JSONDecoder()
    place = bare.find("{")
    for _ in range(MOST_TRIED):
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(bare, place)
        except (ValueError, RecursionError):
            place = bare.find("{", place + 1)
            continue
        yield value
        place = bare.find("{", end)


Mode = Literal["schema", "tool", "json", "text"]
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
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
class ChatResponse:
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

    def body(self, asking: ChatRequest, mode: Mode) -> Body: ...

    def parse_response(self, body: Mapping[str, Any]) -> ChatResponse:
        """Read what an answer says; an answer of another shape says nothing."""
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

    def body(self, asking: ChatRequest, mode: Mode) -> Body:
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
        return _override(body, asking.options)

    def parse_response(self, body: Mapping[str, Any]) -> ChatResponse:
        choice = _first_mapping(body.get("choices"))
        message = _as_mapping(choice.get("message"))
        called = _as_mapping(_first_mapping(message.get("tool_calls")).get("function")).get("arguments")
        why, usage = choice.get("finish_reason"), _as_mapping(body.get("usage"))
        return ChatResponse(
            text=_as_text(called) or _as_text(message.get("content")),
            cut=why == "length",
            declined=bool(message.get("refusal")) or why == "content_filter",
            tokens_in=_as_count(usage.get("prompt_tokens")),
            tokens_out=_as_count(usage.get("completion_tokens")),
        )


class Anthropic:
    """Messages, as Anthropic offers them."""

    path = "/v1/messages"
    inner = "/v1"
    modes: Sequence[Mode] = ("schema", "tool", "text")

    def headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def body(self, asking: ChatRequest, mode: Mode) -> Body:
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
        return _override(body, asking.options)

    def parse_response(self, body: Mapping[str, Any]) -> ChatResponse:
        blocks = [_as_mapping(block) for block in body.get("content") or ()]
        called = next((block.get("input") for block in blocks if block.get("type") == "tool_use"), None)
        spoken = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        why, usage = body.get("stop_reason"), _as_mapping(body.get("usage"))
        read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        return ChatResponse(
            text=_as_text(called) or spoken,
            cut=why in ("max_tokens", "model_context_window_exceeded"),
            declined=why == "refusal",
            tokens_in=sum(_as_count(usage.get(name)) for name in read),
            tokens_out=_as_count(usage.get("output_tokens")),
        )


class Ollama:
    """Chat, as Ollama offers it. It cannot be made to call a tool, so that mode is left out."""

    path = "/api/chat"
    inner = "/api"
    modes: Sequence[Mode] = ("schema", "json", "text")

    def headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, asking: ChatRequest, mode: Mode) -> Body:
        passed = dict(asking.options)
        inner = _as_mapping(passed.pop("options", None))
        options: Body = {"num_predict": asking.max_tokens}
        if asking.temperature is not None:
            options["temperature"] = asking.temperature
        body: Body = {
            "model": asking.model,
            "messages": [{"role": "system", "content": asking.system}, *_messages(asking.turns)],
            "stream": False,
            "options": _override(options, inner),
        }
        match mode:
            case "schema":
                body["format"] = asking.schema
            case "json":
                body["format"] = "json"
        return _override(body, passed)

    def parse_response(self, body: Mapping[str, Any]) -> ChatResponse:
        return ChatResponse(
            text=_as_text(_as_mapping(body.get("message")).get("content")),
            cut=body.get("done_reason") == "length",
            tokens_in=_as_count(body.get("prompt_eval_count")),
            tokens_out=_as_count(body.get("eval_count")),
        )


def _override(body: Body, options: Mapping[str, Any]) -> Body:
    """
    Lay the user's fields over a body; a null takes a field out.

    >>> _override({"model": "m", "max_tokens": 9}, {"max_tokens": None, "max_completion_tokens": 9})
    {'model': 'm', 'max_completion_tokens': 9}
    """
    return {name: value for name, value in {**body, **options}.items() if value is not None}


def _messages(turns: Sequence[Turn]) -> list[Body]:
    return [{"role": turn.role, "content": turn.text} for turn in turns]


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first_mapping(value: object) -> Mapping[str, Any]:
    return _as_mapping(value[0]) if isinstance(value, list) and value else {}


def _as_text(value: object) -> str:
    """Return text as it is, an object as JSON: a tool's arguments come as either."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else ""


def _as_count(value: object) -> int:
    return value if isinstance(value, int) else 0
