"""What goes out and comes back: bytes, headers, failures, clients that leave."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from doors import serving
from memento.interfaces.web.app import create_app
from memento.python import Memento, open_memento
from memento.settings import ProxySettings
from proxied import Proxied, in_front_of
from upstream import Upstream, streamed

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
OWN = ("x-memento-status", "x-memento-count", "x-memento-ms")
KEY = "sk-canary-4711"

Reply = tuple[int, list[tuple[str, str]], list[bytes]]


def raw(url: str, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Reply:
    """Status, headers and the pieces of the body as they arrive, undecoded."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    pieces = []
    try:
        while piece := answer.read1(65536):
            pieces.append(piece)
    except http.client.IncompleteRead as error:
        pieces += [error.partial, b"<incomplete>"]
    finally:
        connection.close()
    return answer.status, answer.getheaders(), pieces


def told(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    hop = ("connection", "transfer-encoding", *OWN)
    return sorted((name.lower(), value) for name, value in headers if name.lower() not in hop)


def both(proxied: Proxied, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[Reply, Reply]:
    """The answers of the provider itself and of Memento."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return raw(proxied.upstream.url, method, path, body, named), raw(proxied.url, method, path, body, named)


@pytest.mark.parametrize(
    ("method", "path", "asked"),
    [
        ("GET", "/v1/models", None),
        ("HEAD", "/v1/models", None),
        ("GET", "/v1/models/plain%2Fx?a=%20b&a=c", None),
        ("DELETE", "/v1/responses/resp_1", None),
        ("POST", "/v1/embeddings", {"model": "plain", "input": "I live in Lisbon."}),
        ("POST", "/v1/completions", {"model": "plain", "prompt": "Where do I live?"}),
        ("POST", "/api/generate", {"model": "plain", "prompt": "Where do I live?", "stream": False}),
        ("GET", "/api/tags", None),
        ("POST", "/v1/audio/speech", {"input": "é"}),
        ("POST", CHAT, {"model": "gzip", "messages": [{"role": "user", "content": "Where do I live?"}]}),
        ("POST", CHAT, {"model": "429", "messages": [{"role": "user", "content": "Where do I live?"}]}),
        ("POST", MESSAGES, {"model": "500", "messages": [{"role": "user", "content": "Where do I live?"}]}),
        ("POST", "/api/chat", {"model": "401", "messages": [{"role": "user", "content": "Where do I live?"}]}),
    ],
)
def test_an_answer_is_the_providers(proxied: Proxied, method: str, path: str, asked: Any) -> None:
    body = None if asked is None else json.dumps(asked).encode()
    direct, through = both(proxied, method, path, body, Authorization=f"Bearer {KEY}", Accept_Encoding="gzip")

    assert through[0] == direct[0]
    assert told(through[1]) == told(direct[1])
    assert b"".join(through[2]) == b"".join(direct[2])


@pytest.mark.parametrize("path", [CHAT, MESSAGES, "/v1/responses", "/api/chat"])
@pytest.mark.parametrize("model", ["plain", "tool", "thinking", "broken"])
def test_a_stream_is_the_providers_also_when_it_breaks_off(proxied: Proxied, path: str, model: str) -> None:
    key = "input" if path == "/v1/responses" else "messages"
    asked = {"model": model, "stream": True, key: [{"role": "user", "content": "Where do I live?"}]}
    direct, through = both(proxied, "POST", path, json.dumps(asked).encode())

    assert told(through[1]) == told(direct[1])
    assert b"".join(through[2]) == b"".join(direct[2])
    assert (direct[2][-1] == b"<incomplete>") == (model == "broken")


def test_a_piece_of_a_stream_arrives_before_the_next_is_sent(proxied: Proxied) -> None:
    asked = {"model": "stepped", "stream": True, "messages": [{"role": "user", "content": "Hi there."}]}
    connection = http.client.HTTPConnection(proxied.url.removeprefix("http://"), timeout=60)
    connection.request("POST", MESSAGES, json.dumps(asked))
    answer = connection.getresponse()
    pieces = []
    while piece := answer.read1(65536):
        pieces.append(piece)
        proxied.last.step.release()
    connection.close()

    assert pieces == streamed(MESSAGES, "stepped")


def test_a_request_arrives_as_it_was_sent_but_for_the_headers_of_the_hop(proxied: Proxied) -> None:
    body = b'{ "model":"plain",\n "input" : "\\u00e9" }'
    sent = {
        "X-Api-Key": KEY,
        "X-Stainless-Lang": "python",
        "Cookie": "session=1",
        "TE": "trailers",
        "X-Memento-Namespace": "w",
    }
    raw(
        proxied.url,
        "POST",
        "/v1/embeddings?x=1",
        body,
        {**sent, "Authorization": "Bearer z", "Connection": "close, X-Own", "X-Own": "1"},
    )

    last = proxied.last
    assert (last.method, last.target, last.body) == ("POST", "/v1/embeddings?x=1", body)
    assert last.header("x-api-key") == [KEY]
    assert last.header("x-stainless-lang") == ["python"]
    assert last.header("host") == [proxied.upstream.url.removeprefix("http://")]
    assert last.header("content-length") == [str(len(body))]
    assert [
        name for name in ("cookie", "te", "x-own", "connection", "x-memento-namespace", "accept") if last.header(name)
    ] == []


@pytest.mark.parametrize("model", ["slow", "silent"])
def test_a_client_that_leaves_closes_the_call_of_the_provider(proxied: Proxied, model: str) -> None:
    asked = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hi there."}]}).encode()
    before = len(proxied.upstream.requests)
    host, _, port = proxied.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(
            b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (CHAT.encode(), len(asked), asked)
        )
        if model == "slow":
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
        while len(proxied.upstream.requests) == before:
            time.sleep(0.01)

    assert proxied.last.has_left.wait(60)


def test_a_connection_is_used_again_and_a_client_that_is_gone_takes_nobody_with_it(proxied: Proxied) -> None:
    def ask(number: int) -> str:
        body = {"model": "plain", "messages": [{"role": "user", "content": f"Message {number}."}]}
        return str(proxied.post(CHAT, body).json()["choices"][0]["message"]["content"])

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(ask, range(64))) == {"Hello."}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (CHAT, ["error", "message"]),
        (MESSAGES, ["error", "message"]),
        ("/api/chat", ["error"]),
        ("/v1/models", ["error", "message"]),
    ],
)
def test_a_provider_that_cannot_be_reached_is_told_in_its_own_shape_and_without_the_key(
    path: str, kind: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        closed = Upstream()
        closed.port = taken.getsockname()[1]
        with in_front_of(closed, tmp_path) as proxied:
            answer = proxied.post(path, {"messages": [], "key": KEY}, authorization=f"Bearer {KEY}", x_api_key=KEY)

    found = answer.json()
    for step in kind:
        found = found[step]
    assert answer.status_code == 502
    assert f"http://127.0.0.1:{closed.port} cannot be reached" in found
    assert answer.headers["x-memento-status"] == "error"
    assert KEY not in answer.text + caplog.text


def test_a_provider_that_hangs_up_without_an_answer_is_a_bad_gateway(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as rude:
        threading.Thread(target=lambda: rude.accept()[0].close(), daemon=True).start()
        gone = Upstream()
        gone.port = rude.getsockname()[1]
        with in_front_of(gone, tmp_path) as proxied:
            answer = proxied.post(MESSAGES, {"messages": []})

    assert answer.status_code == 502
    assert answer.json()["type"] == "error"


def test_a_protocol_without_an_upstream_is_refused_with_those_that_have_one(provider: Upstream, tmp_path: Path) -> None:
    with in_front_of(provider, tmp_path, openai_base_url="", ollama_base_url="") as proxied:
        before = len(provider.requests)
        answers = [proxied.post(path, {}) for path in (CHAT, "/api/chat", "/v1/models", MESSAGES)]

    assert [answer.status_code for answer in answers] == [400, 400, 400, 200]
    assert "needs an upstream for openai: set openai_base_url" in answers[0].json()["error"]["message"]
    assert "served are anthropic" in answers[1].json()["error"]
    assert len(provider.requests) == before + 1


def test_memento_does_not_ask_itself(tmp_path: Path) -> None:
    knobs = ProxySettings(openai_base_url="http://localhost:6366/v1")
    memento = open_memento(tmp_path, configured=replace(OFFLINE, proxy=knobs))
    assert isinstance(memento, Memento)
    with memento, create_app(memento.service).test_client() as client:
        answer = client.get("/v1/models", base_url="http://127.0.0.1:6366")

    assert answer.status_code == 400
    assert "is the address of Memento itself" in answer.get_json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "headers", "target"),
    [
        ("/v1/models", {}, "/v1/models"),
        ("/v1/models", {"anthropic_version": "2023-06-01"}, "/anthropic/v1/models"),
        ("/v1/files", {"x_api_key": "k"}, "/anthropic/v1/files"),
        ("/v1/files", {"x_api_key": "k", "authorization": "Bearer k"}, "/v1/files"),
        ("/v1/messages/batches", {}, "/anthropic/v1/messages/batches"),
        ("/api/embed", {}, "/ollama/api/embed"),
    ],
)
def test_each_protocol_has_an_upstream_of_its_own(
    provider: Upstream, tmp_path: Path, path: str, headers: dict[str, str], target: str
) -> None:
    bases = {"anthropic_base_url": f"{provider.url}/anthropic/v1/", "ollama_base_url": f"{provider.url}/ollama/api"}
    with in_front_of(provider, tmp_path, **bases) as proxied:
        proxied.post(path, {}, **headers)

    assert provider.last.target == target


def test_a_request_without_a_length_is_read_to_its_end(proxied: Proxied) -> None:
    body = json.dumps({"model": "plain", "messages": [{"role": "user", "content": "Where do I live?"}]}).encode()
    connection = http.client.HTTPConnection(proxied.url.removeprefix("http://"), timeout=60)
    connection.request("POST", CHAT, iter([body[:9], body[9:]]), {"Transfer-Encoding": "chunked"}, encode_chunked=True)
    answer = connection.getresponse()
    answer.read()
    connection.close()

    assert answer.getheader("x-memento-status") == "ok"
    assert proxied.last.header("content-length") == [str(len(proxied.last.body))]
    assert proxied.last.header("transfer-encoding") == []


def test_a_service_that_stops_ends_its_streams(provider: Upstream, tmp_path: Path) -> None:
    body = json.dumps({"model": "silent", "messages": []}).encode()
    before = len(provider.requests)
    with in_front_of(provider, tmp_path) as proxied:
        host, _, port = proxied.url.removeprefix("http://").partition(":")
        client = socket.create_connection((host, int(port)))
        client.sendall(
            b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (CHAT.encode(), len(body), body)
        )
        while len(provider.requests) == before:
            time.sleep(0.01)
        client.close()

    assert provider.last.has_left.wait(60)


def test_a_provider_that_thinks_holds_no_thread(provider: Upstream, tmp_path: Path) -> None:
    knobs = ProxySettings(openai_base_url=f"{provider.url}/v1")
    one_thread = replace(OFFLINE, proxy=knobs, server=replace(OFFLINE.server, threads=1))
    memento = open_memento(tmp_path, configured=one_thread)
    assert isinstance(memento, Memento)
    before = len(provider.requests)
    with memento, serving(memento) as url, ExitStack() as stack:
        for _ in range(2):
            waiting = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
            stack.callback(waiting.close)
            waiting.request("POST", CHAT, json.dumps({"model": "silent", "messages": []}))
        while len(provider.requests) < before + 2:
            time.sleep(0.01)
        answer = raw(url, "POST", CHAT, b'{"model": "plain", "messages": []}', {})

    assert answer[0] == 200
    assert len(provider.requests) == before + 3


def test_a_request_may_be_large_but_not_without_end(proxied: Proxied) -> None:
    image = "A" * (8 * 1024 * 1024)
    parts = [{"type": "image_url", "image_url": {"url": image}}, {"type": "text", "text": "Where do I live?"}]
    answer = proxied.post(CHAT, {"model": "plain", "messages": [{"role": "user", "content": parts}]})
    assert answer.status_code == 200
    assert "Lisbon" in proxied.last.json["messages"][0]["content"][1]["text"]

    too_long = raw(proxied.url, "POST", MESSAGES, b"", {"Content-Length": str(65 * 1024 * 1024)})
    assert too_long[0] == 413
    assert json.loads(b"".join(too_long[2]))["error"]["type"] == "request_too_large"


def test_a_page_of_another_origin_or_name_gets_nothing(proxied: Proxied) -> None:
    before = len(proxied.upstream.requests)
    stranger = proxied.post(CHAT, {}, origin="https://evil.example")
    rebound = proxied.post(MESSAGES, {}, host="evil.example")

    assert (stranger.status_code, rebound.status_code) == (403, 403)
    assert rebound.json()["error"]["type"] == "permission_error"
    assert len(proxied.upstream.requests) == before
