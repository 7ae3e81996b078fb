"""
A provider that is none: it speaks the three protocols over real sockets, keeps what it received, and misbehaves on request.

The field `model` of a request says how to answer: `plain`, `tool`, `thinking`, `gzip`, `429` or another status, `slow`, `silent`,
`broken`, `paced`, `stepped` (each piece but the first waits for `Received.step`).
As a program it prints its port and answers until its standard input ends.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

Chunks = list[bytes]


@dataclass(slots=True)
class Received:
    """A request as it came in, and whether its sender left before the answer was complete."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    has_left: threading.Event = field(default_factory=threading.Event)
    step: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name]


class Upstream:
    """The provider in a thread of its own; a context manager."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def last(self) -> Received:
        return self.requests[-1]

    def __enter__(self) -> Upstream:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="upstream", daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self.listening(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stopped(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def listening(self) -> asyncio.Server:
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _stopped(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _read(reader):
                self.requests.append(request)
                gone = asyncio.ensure_future(reader.read(1))  # nobody sends two requests at once
                answering = asyncio.ensure_future(_answer(request, writer))
                await asyncio.wait({gone, answering}, return_when=asyncio.FIRST_COMPLETED)
                if not answering.done():
                    request.has_left.set()
                    answering.cancel()
                    break
                answering.result()
                if gone.done():
                    break
                gone.cancel()
                await asyncio.gather(gone, return_exceptions=True)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, target, _ = head[0].split(" ", 2)
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in head[1:] if line)]
    lengths = [int(value) for name, value in headers if name.lower() == "content-length"]
    body = await reader.readexactly(lengths[0]) if lengths else b""
    return Received(method, target, headers, body)


async def _answer(request: Received, writer: asyncio.StreamWriter) -> None:
    try:
        asked = request.json
    except (ValueError, RecursionError):
        asked = {}
    asked = asked if isinstance(asked, dict) else {}
    model = str(asked.get("model", "plain"))
    if model == "silent":
        await asyncio.sleep(3600)
    if model.isdigit():
        return await _whole(writer, int(model), json.dumps(failure(request.path, int(model))).encode(), request)
    is_streamed = bool(asked.get("stream", request.path.startswith("/api/") and request.path != "/api/tags"))
    if model in ("slow", "broken", "paced", "stepped") or is_streamed:
        media = "application/x-ndjson" if request.path.startswith("/api/") else "text/event-stream"
        writer.write(_head(200, [("Content-Type", media), ("Transfer-Encoding", "chunked")]))
        async for chunk in _paced(request, model, asked):
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            await writer.drain()
        if model == "broken":
            writer.transport.abort() if asked.get("abort") else writer.close()
            raise ConnectionError
        writer.write(b"0\r\n\r\n")
        return await writer.drain()
    return await _whole(writer, 200, whole(request.path, model), request, packed=model == "gzip")


async def _paced(request: Received, model: str, asked: dict[str, Any]) -> AsyncIterator[bytes]:
    chunks, pause = streamed(request.path, model), 0.0
    if model == "slow":
        chunks, pause = chunks[:1] * 200, 0.05
    if model == "paced":
        chunks, pause = chunks[:1] * int(asked["chunks"]), float(asked["pause"])
    for place, chunk in enumerate(chunks):
        if place and model == "stepped":
            await asyncio.to_thread(request.step.acquire, timeout=60)
        elif place:
            await asyncio.sleep(pause)
        if model == "broken" and place == len(chunks) - 1:
            return
        yield chunk


async def _whole(
    writer: asyncio.StreamWriter, status: int, body: bytes, request: Received, packed: bool = False
) -> None:
    headers = [("Content-Type", "application/json"), ("Content-Length", "0")]
    if packed:
        body = gzip.compress(body, mtime=0)  # the same bytes at any second
        headers.append(("Content-Encoding", "gzip"))
    headers[1] = ("Content-Length", str(len(body)))
    if status == 429:
        headers += [("Retry-After", "7"), ("X-RateLimit-Remaining-Requests", "0")]
    writer.write(_head(status, headers) + (b"" if request.method == "HEAD" else body))
    await writer.drain()


def _head(status: int, headers: list[tuple[str, str]]) -> bytes:
    fixed = [
        ("Date", "Mon, 02 Mar 2026 09:00:00 GMT"),
        ("X-Request-Id", "req-1"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
    ]
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in (*headers, *fixed)), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def failure(path: str, status: int) -> dict[str, Any]:
    """An error as the provider of this path words it."""
    if path.startswith("/v1/messages"):
        return {"type": "error", "error": {"type": "overloaded_error", "message": f"status {status}"}}
    if path.startswith("/api/"):
        return {"error": f"status {status}"}
    return {"error": {"message": f"status {status}", "type": "t", "param": None, "code": "c"}}


def whole(path: str, model: str) -> bytes:
    """An answer at once, written with blanks that no serialiser would leave."""
    known: dict[str, dict[str, Any]] = {
        "/v1/chat/completions": _completion(model),
        "/v1/responses": _response("completed"),
        "/v1/messages": _message(model),
        "/v1/messages/count_tokens": {"input_tokens": 42},
        "/v1/models": {"object": "list", "data": [{"id": "plain", "object": "model", "created": 1, "owned_by": "us"}]},
        "/v1/embeddings": {
            "object": "list",
            "model": "plain",
            "data": [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        },
        "/api/chat": _ollama("Hello.", True),
        "/api/tags": {"models": [{"model": "plain"}]},
    }
    return json.dumps(known.get(path, {"path": path}), indent=3).encode() + b"\n \n"


def streamed(path: str, model: str) -> Chunks:
    """An answer in pieces: events with comments and pings between them, one of them cut in the middle of a character."""
    if path.startswith("/api/"):
        pieces = [_ollama(word, False) for word in ("Hel", "lo é")] + [_ollama("", True)]
        return [json.dumps(piece, ensure_ascii=False).encode() + b"\n" for piece in pieces]
    if path == "/v1/messages":
        return _cut([f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in _message_events(model)])
    if path == "/v1/responses":
        events = [
            {"type": "response.created", "response": _response("in_progress"), "sequence_number": 0},
            {"type": "response.output_text.delta", "delta": "Hello é.", "item_id": "m", "output_index": 0}
            | {"content_index": 0, "sequence_number": 1, "logprobs": []},
            {"type": "response.completed", "response": _response("completed"), "sequence_number": 2},
        ]
        return _cut([f"event: {one['type']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n" for one in events])
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo é"}]
    if model == "tool":
        deltas = [{"role": "assistant", "tool_calls": [{"index": 0, **_CALL}]}]
    ends = [None] * len(deltas) + ["tool_calls" if model == "tool" else "stop"]
    lines = [f": keep-alive\n\ndata: {_chunk(delta, end)}\n\n" for delta, end in zip([*deltas, {}], ends, strict=True)]
    usage = {**json.loads(_chunk({}, None)), "choices": [], "usage": _USAGE}
    return _cut([*lines, f"data: {json.dumps(usage)}\n\n", "data: [DONE]\n\n"])


_CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
_USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


def _cut(events: list[str]) -> Chunks:
    data = "".join(events).encode()
    at = data.find("é".encode()) + 1
    return [data[:at], data[at:]] if at else [event.encode() for event in events]


def _chunk(delta: dict[str, Any], end: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": end}
    return json.dumps(
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "plain", "choices": [choice]},
        ensure_ascii=False,
    )


def _completion(model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "Hello.", "refusal": None}
    if model == "tool":
        message |= {"content": None, "tool_calls": [_CALL]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if model == "tool" else "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": _USAGE}


def _response(status: str) -> dict[str, Any]:
    text = {"type": "output_text", "text": "Hello.", "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "plain",
        "status": status,
        "output": [item] if status == "completed" else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _message(model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": "Hello."}]
    if model == "thinking":
        content.insert(0, {"type": "thinking", "thinking": "Hm.", "signature": "s"})
    if model == "tool":
        content.append({"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Lisbon"}})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if model == "tool" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 3, "cache_read_input_tokens": 5},
    }


def _message_events(model: str) -> list[tuple[str, dict[str, Any]]]:
    start = {**_message(model), "content": [], "stop_reason": None}
    events: list[tuple[str, dict[str, Any]]] = [("message_start", {"message": start}), ("ping", {})]
    for index, block in enumerate(_message(model)["content"]):
        empty: dict[str, dict[str, Any]] = {
            "text": {"text": ""},
            "thinking": {"thinking": "", "signature": ""},
            "tool_use": {"input": {}},
        }
        delta = {
            "text": {"type": "text_delta", "text": block.get("text")},
            "thinking": {"type": "thinking_delta", "thinking": block.get("thinking")},
            "tool_use": {"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))},
        }[block["type"]]
        events += [
            ("content_block_start", {"index": index, "content_block": {**block, **empty[block["type"]]}}),
            ("content_block_delta", {"index": index, "delta": delta}),
            ("content_block_stop", {"index": index}),
        ]
    end = {
        "delta": {"stop_reason": _message(model)["stop_reason"], "stop_sequence": None},
        "usage": {"output_tokens": 3},
    }
    return [(name, {"type": name, **data}) for name, data in [*events, ("message_delta", end), ("message_stop", {})]]


def _ollama(word: str, is_done: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": word}
    found: dict[str, Any] = {
        "model": "plain",
        "created_at": "2026-03-02T09:00:00Z",
        "message": message,
        "done": is_done,
    }
    return found | ({"done_reason": "stop", "prompt_eval_count": 11, "eval_count": 3} if is_done else {})


async def _serve() -> None:
    upstream = Upstream()
    upstream.requests = Forgetful()
    async with await upstream.listening():
        sys.stdout.write(f"{upstream.port}\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


class Forgetful(list[Received]):
    """A list that keeps nothing, for measurements."""

    def append(self, item: Received) -> None:
        pass


if __name__ == "__main__":
    asyncio.run(_serve())
