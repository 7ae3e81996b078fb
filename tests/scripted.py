"""
A language model that says what a function says, over real HTTP: OpenAI's, Anthropic's and Ollama's protocols on one loopback port.

    with ScriptedModel(lambda asked: {"answer": 42}) as model:
        settings = ModelSettings(provider="openai", base_url=model.openai, api_key="k", model="m")

The function gets an `Asked` and returns what the model answers: a dict or a pydantic form (as JSON, in the way that was demanded),
or text as it is. To misbehave it returns one of `Slow`, `Truncated`, `Declined`, `Status`, `Raw`, `Reset`. `requests` keeps what
was asked.

*But:* no streaming.
"""

from __future__ import annotations

import base64
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

import numpy as np
from pydantic import BaseModel

from memento.search.embedders import Trigram

Json = dict[str, Any]

TITLE = re.compile(r'"title": "(\w+)"')  # of a form whose schema stands in the prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    One request; `texts` are to be embedded.

    `form` is the name of the pydantic form that the answer must have, `schema` its JSON schema, and `mode` how it was demanded:
    "schema", "tool", "json" or "text".
    """

    protocol: str
    path: str
    headers: Mapping[str, str]
    body: Json
    model: str = ""
    system: str = ""
    turns: Sequence[tuple[str, str]] = ()
    form: str = ""
    schema: Json = field(default_factory=dict)
    mode: str = "text"
    texts: Sequence[str] = ()
    at: float = 0.0  # time.monotonic() of its arrival

    @property
    def user(self) -> str:
        """The first thing the user said: the question itself, whatever was complained of since."""
        return next((text for role, text in self.turns if role == "user"), "")

    @property
    def last(self) -> str:
        """What was said last."""
        return self.turns[-1][1] if self.turns else ""


@dataclass(frozen=True, slots=True)
class Slow:
    """`then`, after some seconds."""

    seconds: float
    then: Any


@dataclass(frozen=True, slots=True)
class Truncated:
    """Text that was cut off at the most tokens."""

    text: str = '{"ans'


@dataclass(frozen=True, slots=True)
class Declined:
    """No answer, for reasons of safety."""


@dataclass(frozen=True, slots=True)
class Status:
    """An error in the protocol's own shape."""

    status: int
    message: str = "scripted"
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes as they are, in pieces with pauses between them."""

    body: bytes
    status: int = 200
    pieces: int = 1
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset."""


Script = Callable[[Asked], Any]


class ScriptedModel:
    """A context manager; listens on a free loopback port from entry to exit."""

    def __init__(self, answer: Script | None = None, *, tokens: tuple[int, int] = (100, 20)) -> None:
        """
        Args:
            answer: default `{}`; embeddings default to hashed trigrams.
            tokens: what each answer is said to have cost, in and out.
        """
        self.answer: Script = answer or (lambda asked: _trigrams(asked) if asked.texts else {})
        self.tokens = tokens
        self.requests: list[Asked] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        # Looks for the end often, as each test waits for it.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def address(self) -> str:
        """As `http://127.0.0.1:1234`: the base URL of Anthropic's and Ollama's protocols."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def openai(self) -> str:
        """The base URL of OpenAI's protocol."""
        return f"{self.address}/v1"

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def asked(self, one: Asked) -> Any:
        """Keep a request and ask the function."""
        with self._lock:
            self.requests.append(one)
        return self.answer(one)


class _Server(ThreadingHTTPServer):
    model: ScriptedModel
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        at = time.monotonic()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        protocol = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic", "/api/chat": "ollama"}.get(self.path)
        if protocol is None and self.path in ("/v1/embeddings", "/api/embed"):
            inputs = body["input"] if isinstance(body["input"], list) else [body["input"]]
            protocol = "openai" if self.path.startswith("/v1") else "ollama"
            asked = Asked(
                protocol=protocol, path=self.path, headers=headers, body=body, model=body["model"], texts=inputs, at=at
            )
        elif protocol is not None:
            asked = _asked(protocol, self.path, headers, body, at)
        else:
            self._send(404, _error("openai", Status(404, f"no such path: {self.path}")))
            return
        self._play(asked, self.server.model.asked(asked))

    def _play(self, asked: Asked, answer: Any) -> None:
        match answer:
            case Slow(seconds, then):
                time.sleep(seconds)
                self._play(asked, then)
            case Reset():
                # Lingering for no time makes closing a reset, not a polite end.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                self.connection.close()
            case Status():
                self._send(answer.status, _error(asked.protocol, answer), answer.headers)
            case Raw():
                self._drip(answer)
            case _ if asked.texts:
                self._send(200, _embedded(asked, answer, self.server.model.tokens))
            case _:
                self._send(200, _WRITTEN[asked.protocol](asked, answer, self.server.model.tokens))

    def _send(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _drip(self, raw: Raw) -> None:
        self.send_response(raw.status)
        self.send_header("content-length", str(len(raw.body)))
        self.end_headers()
        size = -(-len(raw.body) // raw.pieces) or 1
        for begin in range(0, len(raw.body), size):
            self.wfile.write(raw.body[begin : begin + size])
            self.wfile.flush()
            time.sleep(raw.pause_s)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the output belongs to the tests."""


def _asked(protocol: str, path: str, headers: Mapping[str, str], body: Json, at: float) -> Asked:
    """The request with what the protocols spell differently brought together."""
    messages = [(one["role"], _plain(one["content"])) for one in body["messages"]]
    system = _plain(body.get("system") or "") or next((text for role, text in messages if role == "system"), "")
    form, schema, mode = _demanded(protocol, body)
    told = TITLE.findall(system + (messages[-1][1] if messages else ""))
    return Asked(
        protocol=protocol,
        path=path,
        headers=headers,
        body=body,
        model=body["model"],
        system=system,
        turns=[(role, text) for role, text in messages if role != "system"],
        form=form or str(schema.get("title", "")) or (told[-1] if told else ""),
        schema=schema,
        mode=mode,
        at=at,
    )


def _demanded(protocol: str, body: Json) -> tuple[str, Json, str]:
    """Name of the form, its schema, and the mode."""
    if protocol == "ollama":
        wanted = body.get("format")
        return ("", wanted, "schema") if isinstance(wanted, dict) else ("", {}, "json" if wanted else "text")
    if body.get("tools"):
        tool = body["tools"][0]
        if protocol == "openai":
            return tool["function"]["name"], tool["function"]["parameters"], "tool"
        return tool["name"], tool["input_schema"], "tool"
    if protocol == "anthropic":
        wanted = (body.get("output_config") or {}).get("format")
        return ("", wanted["schema"], "schema") if wanted else ("", {}, "text")
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return wanted["json_schema"]["name"], wanted["json_schema"]["schema"], "schema"
    return "", {}, "json" if wanted.get("type") == "json_object" else "text"


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else " ".join(block.get("text", "") for block in content)


def _worded(answer: Any) -> str:
    match answer:
        case str():
            return answer
        case Truncated(text):
            return text
        case Declined():
            return ""
        case BaseModel():
            return answer.model_dump_json()
    return json.dumps(answer)


def _openai(asked: Asked, answer: Any, tokens: tuple[int, int]) -> Json:
    message: Json = {"role": "assistant", "content": _worded(answer), "refusal": None}
    reason = "length" if isinstance(answer, Truncated) else "stop"
    if isinstance(answer, Declined):
        message |= {"content": None, "refusal": "I cannot help with that."}
    elif asked.mode == "tool":
        call = {"id": "call_1", "type": "function", "function": {"name": asked.form, "arguments": _worded(answer)}}
        message |= {"content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }


def _anthropic(asked: Asked, answer: Any, tokens: tuple[int, int]) -> Json:
    reason = {Truncated: "max_tokens", Declined: "refusal"}.get(type(answer), "end_turn")
    content: list[Json] = [{"type": "text", "text": _worded(answer)}]
    if asked.mode == "tool" and isinstance(answer, dict | BaseModel):
        content = [{"type": "tool_use", "id": "toolu_1", "name": asked.form, "input": json.loads(_worded(answer))}]
        reason = "tool_use"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
    }


def _ollama(asked: Asked, answer: Any, tokens: tuple[int, int]) -> Json:
    return {
        "model": asked.model,
        "created_at": "2025-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": _worded(answer)},
        "done": True,
        "done_reason": "length" if isinstance(answer, Truncated) else "stop",
        "prompt_eval_count": tokens[0],
        "eval_count": tokens[1],
    }


_WRITTEN = {"openai": _openai, "anthropic": _anthropic, "ollama": _ollama}


def _embedded(asked: Asked, vectors: Any, tokens: tuple[int, int]) -> Json:
    """Vectors in the order of the texts; a `dict` of index → vector is answered in its own order."""
    if asked.protocol == "ollama":
        return {"model": asked.model, "embeddings": vectors, "prompt_eval_count": tokens[0]}
    places = vectors.items() if isinstance(vectors, dict) else enumerate(vectors)
    packed = asked.body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": place, "embedding": _packed(vector) if packed else vector}
        for place, vector in places
    ]
    usage = {"prompt_tokens": tokens[0], "total_tokens": tokens[0]}
    return {"object": "list", "model": asked.model, "data": data, "usage": usage}


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()


def _trigrams(asked: Asked) -> list[list[float]]:
    return [[float(x) for x in row] for row in Trigram(int(asked.body.get("dimensions") or 256)).embed(asked.texts)]


def _error(protocol: str, status: Status) -> Json:
    if protocol == "ollama":
        return {"error": status.message}
    inner: Json = {"type": "scripted_error", "message": status.message}
    return {"type": "error", "error": inner} if protocol == "anthropic" else {"error": {**inner, "code": status.code}}
