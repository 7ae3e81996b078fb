"""
Language models, each behind a connection that is opened on first use.

**An endpoint** gets JSON from a service that may be slow, busy or unreachable: one POST with its retries, under a time limit and a
circuit breaker. The key is in no error, no log line and no `repr`. Threads may share an endpoint. There is no retry library,
because most of the loop is waiting as Retry-After says, within what is left of the limit.

**A chat** is a model behind an OpenAI-compatible, Anthropic or Ollama endpoint that fills in pydantic forms. It asks in the
strictest way that the provider supports, checks the answer, and asks again with what was wrong:

    prompt ── request ── endpoint ── response ── form? ── complaint? ──► reply
                 ▲                                 │          │
                 └── what was wrong ───────────────┴──────────┘

Retries of one answer, for the network and for the form, share one time limit. Bodies are plain JSON, not objects of a provider's
SDK: fields that a user passes through `options` stay unchanged.

*Guarantees:* only what is configured is started or connected to. The prompts for models are in `prompts/`.
"""

from __future__ import annotations

import json
import logging
import random
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from memento import telemetry
from memento.breaker import Breaker
from memento.errors import BackendError, ModelError
from memento.settings import AgentSettings, ModelSettings

if TYPE_CHECKING:
    import httpx2
    from pydantic import BaseModel


logger = logging.getLogger(__name__)

BUSY = {408, 409, 425, 429}  # a retry may help, as after any 5xx
UNFIT = {400, 422}  # the request itself is refused; a different one may be accepted
LONGEST_WAIT_S = 60.0  # between two attempts; if a service asks for more, it is not retried
LONGEST_ANSWER = 32 << 20  # bytes
SECRET = 4  # the shortest key that is masked; masking a shorter one would only garble the message
MOST_SHOWN = 300  # the most characters of a service's own message in an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """In seconds: the time to connect, the longest silence, and the wait before the first retry."""

    connect_s: float = 5.0
    silence_s: float = 120.0
    retry_wait_s: float = 0.5


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a service: `status` is 2xx, 400 or 422; `attempts` counts the requests."""

    status: int
    body: Mapping[str, Any]
    attempts: int


class Endpoint:
    """One service at a base URL."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        secret: str,
        called: str,
        error: type[BackendError],
        limits: Limits,
        breaker: Breaker,
    ) -> None:
        """
        Args:
            secret: masked in everything that the service says.
            called: how errors name the provider and the model or use, such as `openai`.
            error: the class of errors that are raised.
        """
        self.base_url = base_url.rstrip("/")
        self.called = called
        self.breaker = breaker
        self._headers = dict(headers)
        self._secret = secret
        self._error = error
        self._limits = limits
        self._client: httpx2.Client | None = None
        self._lock = threading.Lock()

    def post(self, path: str, body: Mapping[str, Any], *, retries: int, until: float) -> Answer:
        """
        Post a body and return the JSON object of the answer.

        Args:
            retries: how often to retry if the service is busy or unreachable.
            until: `time.monotonic()` at which to stop trying.

        Raises:
            the given error class: the service is unreachable, stays busy, or refuses; or the circuit is open.
        """
        for attempt in range(1, retries + 2):
            if not self.breaker.allows():
                raise self._error(
                    f"{self.called} at {self._shown_url} has failed {self.breaker.failures} times in a row; "
                    f"it is left alone for another {self.breaker.rest_s:.0f} s"
                )
            status, reply, wait_s, why = self._attempt(path, body, until)
            if 200 <= status < 300 or status in UNFIT:
                return Answer(status, reply, attempt)
            wait_s = self._pause(attempt) if wait_s is None else wait_s
            hopeless = not _may_pass(status, reply) or attempt > retries
            if hopeless or wait_s > LONGEST_WAIT_S or time.monotonic() + wait_s >= until:
                raise self._error(self.complaint(status, why))
            telemetry.count("endpoint.retry")
            logger.info("endpoint.retry", extra={"service": self.called, "status": status, "wait_s": round(wait_s, 3)})
            time.sleep(wait_s)
        raise AssertionError("unreachable")

    def complaint(self, status: int, why: str) -> str:
        """Write one line that names the service and a possible fix; `why` is the service's own message."""
        message = " ".join(why.split())
        if len(self._secret) >= SECRET:
            message = message.replace(self._secret, "***")
        message = message if len(message) <= MOST_SHOWN else f"{message[:MOST_SHOWN]}…"
        fix = {401: "; check its api_key", 403: "; check its api_key", 404: "; check its base_url and model"}.get(
            status, ""
        )
        answered = f"answered {status}" if status else "did not answer"
        return f"{self.called} at {self._shown_url} {answered}{f': {message}' if message else ''}{fix}"

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    @property
    def _shown_url(self) -> str:
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def _attempt(
        self, path: str, body: Mapping[str, Any], until: float
    ) -> tuple[int, Mapping[str, Any], float | None, str]:
        """
        Try once and report the result to the breaker; return status (0: no answer), body, seconds to wait if asked to, and problem.
        """
        import httpx2

        reported = False
        try:
            status, headers, text = self._send_request(path, body, until)
            reported = True
            (self.breaker.record_failure if status >= 500 or status == 408 else self.breaker.record_success)()
        except httpx2.TimeoutException as error:
            return 0, {}, None, f"{type(error).__name__} after the time that its settings allow"
        except (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL, UnicodeEncodeError) as error:
            # The messages of these errors may contain a header, and so the key.
            raise self._error(
                f"{self.called} at {self._shown_url} cannot be asked ({type(error).__name__}); check its base_url and api_key"
            ) from None
        except httpx2.HTTPError as error:
            return 0, {}, None, f"{type(error).__name__}: {error}"
        finally:
            if not reported:
                self.breaker.record_failure()
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            return status, parsed, _parse_retry_after(headers), error_message(parsed)
        if 200 <= status < 300:
            raise self._error(f"{self.called} at {self._shown_url} answered no JSON object; check its base_url")
        return status, {}, _parse_retry_after(headers), text.decode("utf-8", "replace")

    def _send_request(self, path: str, body: Mapping[str, Any], until: float) -> tuple[int, Mapping[str, str], bytes]:
        import httpx2

        left = max(until - time.monotonic(), 0.001)
        silence = min(self._limits.silence_s, left)
        timeout = httpx2.Timeout(silence, connect=min(self._limits.connect_s, left))
        telemetry.count("endpoint.request")
        with self._open_client().stream("POST", self.base_url + path, json=body, timeout=timeout) as response:
            text = bytearray()
            for chunk in response.iter_bytes():
                text += chunk
                if time.monotonic() > until:
                    raise httpx2.ReadTimeout("the answer took too long")
                if len(text) > LONGEST_ANSWER:
                    raise httpx2.ReadError("the answer is too long")
            return response.status_code, response.headers, bytes(text)

    def _open_client(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._client is None:
                self._client = httpx2.Client(headers=self._headers)
                weakref.finalize(self, self._client.close)
            return self._client

    def _pause(self, attempt: int) -> float:
        """
        Return the wait before the next attempt.

        It doubles each time, and half of it is random, so that clients do not retry together.
        """
        longest: float = min(self._limits.retry_wait_s * 2 ** (attempt - 1), LONGEST_WAIT_S)
        return longest * random.uniform(0.5, 1.0)


def error_message(body: Mapping[str, Any]) -> str:
    """Return a service's own message: `error.message` of OpenAI and Anthropic, `error` of Ollama; "" if there is none."""
    error = body.get("error", body.get("message", body.get("detail", "")))
    message = error.get("message", "") if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(message)


def _may_pass(status: int, body: Mapping[str, Any]) -> bool:
    """
    Tell whether the same request may succeed later.

    An account without credit looks like a busy service, but waiting does not help.
    """
    error = body.get("error")
    if isinstance(error, dict) and "insufficient_quota" in (error.get("code"), error.get("type")):
        return False
    return status == 0 or status in BUSY or status >= 500


def _parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """
    Return the seconds of a Retry-After header, given as a number or as an HTTP date; None if it is missing or unreadable.

    >>> _parse_retry_after({"retry-after": "2"}), _parse_retry_after({"retry-after": "soon"})
    (2.0, None)
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(float(value) * unit, 0.0)
        except ValueError:
            pass
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            continue
        return max(((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds(), 0.0)
    return None


Form = TypeVar("Form", bound="BaseModel")
"""The form that a model's answer must fit."""

AGENTS = (
    "extract_entities",
    "resolve_entities",
    "hypothesise",
    "extract_memories",
    "resolve_memories",
    "plan",
    "act",
    "answer",
)
"""The questions to a model; each may have its own settings under [model]."""

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"


def chats_of(settings: ModelSettings) -> dict[str, Chat]:
    """
    Make a model for each of `AGENTS`, all on one connection pool and one circuit breaker; none if the provider is `none`.

    No connection is opened before the first prompt.

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
    """A prompt: the rules, the input, the temperature and the most tokens of the answer (None: as configured)."""

    system: str
    user: str
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[Form]):
    """A model's answer in the requested form, and its cost over all attempts; 0 if the provider does not report it."""

    value: Form
    tokens_in: int = 0
    tokens_out: int = 0
    attempts: int = 1


@dataclass(slots=True)
class Service:
    """A provider's endpoint, and what was learnt about its models: the modes and fields that they refuse."""

    endpoint: Endpoint
    dialect: Dialect
    refused_modes: dict[str, int] = field(default_factory=dict)  # model → how many of the dialect's modes
    cold: set[str] = field(default_factory=set)  # models that accept no temperature


@dataclass(slots=True)
class _Cost:
    """The cost of one answer so far."""

    tokens_in: int = 0
    tokens_out: int = 0
    attempts: int = 0


@dataclass(slots=True, kw_only=True)
class Chat:
    """One model of a service, with its configuration; it answers in a given form. Several threads may call it."""

    name: str
    """Provider and model, such as `openai:gpt-5-mini`; recorded in the provenance of its answers."""
    service: Service
    model: str
    temperature: float | None
    max_tokens: int
    max_retries: int
    call_s: float
    options: Mapping[str, Any]

    @property
    def rest_s(self) -> float:
        """Seconds until the service is asked again after repeated failures; 0 if it is asked now."""
        return self.service.endpoint.breaker.rest_s

    def answer(
        self, asked: Prompt, form: type[Form], complaint: Callable[[Form], str | None] | None = None
    ) -> Reply[Form]:
        """
        Answer one prompt.

        Args:
            form: a pydantic model; an answer that does not fit is sent back with the errors, as often as configured.
            complaint: returns what is wrong with an answer that fits the form, or None; it is sent back too.

        Raises:
            ModelError: no attempt gave a fitting answer, the provider refuses, or the circuit is open; it carries the tokens spent.
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
        """Close the service's connections, which its other models share; the next question opens new ones."""
        self.service.endpoint.close()

    def _ask(self, asked: Prompt, turns: list[Turn], form: type[Form], spent: _Cost, until: float) -> ChatResponse:
        """Ask once, in the strictest mode that the model accepts."""
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
    """
    Return the unfit answer and its errors as two turns.

    Only the last attempt is kept, so that the conversation does not grow.
    """
    again = f"That answer cannot be used. {wrong}\n{_write_demand(strict_schema(form))}"
    return Turn("assistant", answer.text.strip() or "(nothing)"), Turn("user", again)


FENCED = re.compile(r"```[a-zA-Z]*+[^\S\n]*+\n(.*?)```", re.DOTALL)
# Match up to the next thinking tag of any kind: otherwise each unclosed tag would cost a search to the end of the text.
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
MOST_TRIED = 100  # opening braces that are tried; a text of nothing but braces would take for ever
MOST_NAMED = 5  # errors that are reported at once; the first ones mostly cause the others


def strict_schema(form: type[BaseModel]) -> dict[str, Any]:
    """
    Write the form's JSON schema in the subset that providers enforce: every property required, no additional ones, no defaults.

    Bounds, which not all providers support, move into descriptions; pydantic checks them. A field that may be left out must be
    nullable.
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
    Parse the form from bare JSON, a fenced block, or JSON with words around it; else return the errors, to be sent to the model.

    The errors name places and rules, never what the model wrote.
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
    """Yield every JSON object that the text may contain, the likeliest first."""
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
    """One request: the model, the conversation so far, and the form of the answer by name and JSON schema."""

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
    """The answer of a model: text that should be JSON, whether it was cut off or declined, and the tokens it cost."""

    text: str
    cut: bool = False
    declined: bool = False
    tokens_in: int = 0
    tokens_out: int = 0


class Dialect(Protocol):
    """The API of a provider."""

    path: str
    """The path below the base URL."""

    inner: str
    """The end of a base URL that users may include or omit and that `path` already contains; or ""."""

    modes: Sequence[Mode]
    """The ways to demand a form, the strictest first."""

    def headers(self, key: str) -> dict[str, str]: ...

    def body(self, asking: ChatRequest, mode: Mode) -> Body: ...

    def parse_response(self, body: Mapping[str, Any]) -> ChatResponse:
        """Parse an answer; an answer of an unknown shape becomes an empty one."""
        ...


class OpenAi:
    """Chat completions, in the protocol of OpenAI and many others."""

    path = "/chat/completions"
    inner = ""
    modes: Sequence[Mode] = ("schema", "tool", "json", "text")

    def __init__(self, limit: str = "max_tokens") -> None:
        """
        Args:
            limit: the field that limits the answer; OpenAI itself wants `max_completion_tokens`, which others may not support.
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
    """Messages, in the protocol of Anthropic."""

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
            body["temperature"] = min(asking.temperature, 1.0)  # the scale ends at 1
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
    """Chat, as Ollama offers it. It cannot be forced to call a tool, so that mode is left out."""

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
    Merge the user's fields into a body; a null removes a field.

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
    """Return text as it is, and an object as JSON: the arguments of a tool come as either."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else ""


def _as_count(value: object) -> int:
    return value if isinstance(value, int) else 0
