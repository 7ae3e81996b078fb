"""Which requests get memories, where these stand, and that everything else stays the client's bytes."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from memento.errors import GraphError
from memento.interfaces.proxy.blocks import INSTRUCTIONS
from memento.interfaces.web.app import create_app
from memento.model import Recollection
from memento.operations.recall import Recall
from memento.retrieval.render import count_tokens
from memento.service import Context
from memento.service.handlers.recall import peek
from memento.settings import CaptureSettings
from memento.time import now
from proxied import Proxied, in_front_of
from upstream import Upstream

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
MESSAGES = "/v1/messages"
OLLAMA = "/api/chat"
QUESTION = "Where do I live?"
ASKED = {"role": "user", "content": QUESTION}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "sunny"}
CALL = {"type": "tool_use", "id": "t", "name": "weather", "input": {}}


def sent(proxied: Proxied, path: str, body: Any, **headers: str) -> tuple[str, bytes]:
    """What Memento says of a request, and the body that the provider received."""
    answer = proxied.post(path, body, **headers)
    assert answer.status_code == 200, answer.text
    return answer.headers["x-memento-status"], proxied.last.body


def text(block: Any) -> str:
    return str(block["text"] if isinstance(block, dict) else block)


@pytest.mark.parametrize("path", [CHAT, MESSAGES, "/v1/messages/count_tokens", OLLAMA])
def test_a_question_gets_its_memories_before_it(proxied: Proxied, path: str) -> None:
    answer = proxied.post(path, {"model": "plain", "messages": [{"role": "system", "content": "Be brief."}, ASKED]})

    system, asked = proxied.last.json["messages"]
    block, _, question = asked["content"].partition("</memento>\n\n")
    assert system["content"] == "Be brief."
    assert question == QUESTION
    assert block.startswith(f"<memento>\n{INSTRUCTIONS['lines']}\nToday: ")
    assert "Lisbon" in block
    assert answer.headers["x-memento-status"] == "ok"
    assert int(answer.headers["x-memento-count"]) == len(block.strip().splitlines()) - 3  # the frame
    assert float(answer.headers["x-memento-ms"]) > 0


def test_the_block_is_xml_with_entities_and_notes_if_the_setting_says_so(provider: Upstream, tmp_path: Path) -> None:
    with in_front_of(provider, tmp_path, format="xml") as proxied:
        proxied.memento.note("I live in Lisbon.")
        answer = proxied.post(CHAT, {"messages": [ASKED]})
        block = proxied.last.json["messages"][0]["content"].partition("</memento>\n\n")[0]

    assert block.startswith(f"<memento>\n  <instructions>{INSTRUCTIONS['xml']}</instructions>")
    assert "<entities>" in block and "<notes>" in block
    assert int(answer.headers["x-memento-count"]) == block.count("<memory ")


@pytest.mark.parametrize(
    "asked", [QUESTION, [ASKED], [{**ASKED, "content": [{"type": "input_text", "text": QUESTION}]}]]
)
def test_responses_takes_text_or_items(proxied: Proxied, asked: Any) -> None:
    state, body = sent(proxied, RESPONSES, {"model": "plain", "input": asked})
    given = json.loads(body)["input"]
    if not isinstance(given, str):
        given = given[0]["content"]
    if not isinstance(given, str):
        given = given[0]["text"]

    assert state == "ok"
    assert given.startswith("<memento>")
    assert given.endswith(f"</memento>\n\n{QUESTION}")


def test_everything_but_the_block_is_the_clients_bytes(proxied: Proxied) -> None:
    body = (
        '\ufeff {"stream" : false, "n": 1.0e0, "x":"\\u00e9\\ud83d\\ude00 \\/",\n "messages":[ {"content":"Hé 😀",'
        '"role":"user"},'
        '{"role":"assistant","content":"\\"Hi\\""} ,\t{ "role":"user", "content" : "Where do I \\u006cive?" } ],'
        ' "model":"plain" }\r\n'
    ).encode()
    state, received = sent(proxied, CHAT, body)
    begin, end = received.index(b"<memento>"), received.index(b"</memento>\\n\\n") + len(b"</memento>\\n\\n")

    assert state == "ok"
    assert received[:begin] + received[end:] == body
    assert body[begin:].startswith(b"Where do I")


def test_the_block_goes_behind_tool_results_and_behind_what_is_cached(proxied: Proxied) -> None:
    cached = {"type": "text", "text": "A long page.", "cache_control": {"type": "ephemeral"}}
    question = {"type": "text", "text": QUESTION}
    history = [{"role": "user", "content": "Hi there"}, {"role": "assistant", "content": [CALL]}]
    _, body = sent(proxied, MESSAGES, {"messages": [*history, {"role": "user", "content": [RESULT, cached, question]}]})
    result, page, asked = json.loads(body)["messages"][2]["content"]

    assert (result, page) == (RESULT, cached)
    assert asked["text"].startswith("<memento>")
    assert asked["text"].endswith(QUESTION)


def test_the_block_goes_behind_a_question_that_is_to_be_cached(proxied: Proxied) -> None:
    question = {"type": "text", "text": QUESTION, "cache_control": {"type": "ephemeral"}}
    _, body = sent(proxied, MESSAGES, {"messages": [{"role": "user", "content": [question]}]})
    first, block = json.loads(body)["messages"][0]["content"]

    assert first == question
    assert block["type"] == "text"
    assert "Lisbon" in block["text"]


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
OTHER = {"role": "user", "content": "Do I live in Lisbon or elsewhere?"}  # a question that got no block before
UNTOUCHED: list[tuple[str, str, Any]] = [
    (
        "a tool's result",
        CHAT,
        {"messages": [OTHER, {"role": "assistant", "tool_calls": [{}]}, {"role": "tool", "content": "x"}]},
    ),
    (
        "a tool's result as a person's turn",
        MESSAGES,
        {"messages": [OTHER, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [RESULT]}]},
    ),
    (
        "a result with a reminder",
        MESSAGES,
        {
            "messages": [
                OTHER,
                {"role": "assistant", "content": [THOUGHT, CALL]},
                {"role": "user", "content": [RESULT, {"type": "text", "text": "<system-reminder>x</system-reminder>"}]},
            ]
        },
    ),
    (
        "a result among items",
        RESPONSES,
        {"input": [OTHER, {"type": "function_call"}, {"type": "function_call_output", "output": "x"}]},
    ),
    (
        "a result alone",
        RESPONSES,
        {"previous_response_id": "r", "input": [{"type": "function_call_output", "output": "x"}]},
    ),
    (
        "a title",
        CHAT,
        {"messages": [{"role": "user", "content": f"{QUESTION} Please reply with a title for this chat in 3 words."}]},
    ),
    ("a title by the system", MESSAGES, {"system": "Summarize this conversation into a title.", "messages": [OTHER]}),
    (
        "tags",
        CHAT,
        {
            "messages": [
                {"role": "user", "content": f"### Task:\nGenerate tags.\n<chat_history>\n{QUESTION}</chat_history>"}
            ]
        },
    ),
    ("a look whether the key works", MESSAGES, {"max_tokens": 1, "messages": [OTHER]}),
    ("no messages", CHAT, {"messages": []}),
    ("no text", MESSAGES, {"messages": [{"role": "user", "content": [IMAGE]}]}),
    ("a reminder", CHAT, {"messages": [{"role": "user", "content": f"<system-reminder>{QUESTION}</system-reminder>"}]}),
    ("a key twice", CHAT, b'{"messages": [], "messages": [{"role": "user", "content": "Where do I live?"}]}'),
    (
        "a key twice in the turn",
        CHAT,
        b'{"messages": [{"role": "user", "content": "x", "content": "Where do I live?"}]}',
    ),
    ("no JSON", CHAT, b'{"messages": [{"role": "user", "content": "Where do I live?"}]'),
    ("no UTF-8", CHAT, b'{"messages": [{"role": "user", "content": "Where do I live? \xff"}]}'),
    ("another encoding", CHAT, '{"messages": [{"role": "user", "content": "Where do I live?"}]}'.encode("utf-16")),
    ("a list", CHAT, b"[1]"),
    ("nothing", CHAT, b""),
    ("depth", CHAT, b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "messages": []}'),
    ("messages of another kind", CHAT, {"messages": ["Where do I live?", 3]}),
]


@pytest.mark.parametrize(("path", "body"), [case[1:] for case in UNTOUCHED], ids=[case[0] for case in UNTOUCHED])
def test_what_is_no_question_goes_on_untouched(proxied: Proxied, path: str, body: Any) -> None:
    given = body if isinstance(body, bytes) else json.dumps(body, indent=1).encode()

    assert sent(proxied, path, given) == ("skipped", given)


def test_a_packed_request_goes_on_as_it_is(proxied: Proxied) -> None:
    assert sent(proxied, CHAT, b"\x1f\x8b\x08...", content_encoding="gzip") == ("skipped", b"\x1f\x8b\x08...")
    assert proxied.last.header("content-encoding") == ["gzip"]


def test_memories_are_left_out_on_demand(proxied: Proxied) -> None:
    body = json.dumps({"messages": [ASKED]}).encode()

    assert sent(proxied, CHAT, body, x_memento="off") == ("skipped", body)
    assert proxied.last.header("x-memento") == []


def test_an_answer_that_is_begun_by_the_client_still_gets_memories(proxied: Proxied) -> None:
    state, body = sent(proxied, MESSAGES, {"messages": [ASKED, {"role": "assistant", "content": "You live in"}]})

    assert state == "ok"
    assert b"Lisbon" in body


def test_the_question_is_what_the_person_wrote(proxied: Proxied, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def overheard(operation: Recall, context: Context) -> Recollection:
        asked.append(operation.question)
        return peek(operation, context)

    monkeypatch.setattr("memento.interfaces.proxy.blocks.peek", overheard)
    echo = "<memento>\n<query>Do I like tea?</query>\n</memento>\n\nWhere do I work? <system-reminder>Be brief.</system-reminder>"
    sent(proxied, CHAT, {"messages": [{"role": "user", "content": echo}]})
    blocks = [
        {"type": "text", "text": words} for words in ("I moved.", "<system-reminder>x</system-reminder>", "Where to?")
    ]
    sent(proxied, MESSAGES, {"messages": [{"role": "user", "content": blocks}]})
    half = b'{"messages": [{"role": "user", "content": "Where \\ud83d do I live?"}]}'
    sent(proxied, CHAT, half)

    assert asked == ["Where do I work?", "I moved. Where to?", "Where ? do I live?"]


def test_a_question_that_nothing_is_known_about_goes_on_untouched(provider: Upstream, tmp_path: Path) -> None:
    body = json.dumps({"messages": [ASKED]}).encode()
    with in_front_of(provider, tmp_path) as empty:
        assert sent(empty, CHAT, body) == ("empty", body)


def test_a_namespace_has_memories_of_its_own(proxied: Proxied) -> None:
    proxied.memento.note("I live in Oslo.", namespace="trip")
    _, there = sent(proxied, CHAT, {"messages": [ASKED]}, x_memento_namespace="trip")
    _, here = sent(proxied, CHAT, {"messages": [ASKED]})

    assert b"Oslo" in there
    assert b"Oslo" not in here
    assert sent(proxied, CHAT, {"messages": [ASKED]}, x_memento_namespace="x" * 300)[0] == "error"


def test_a_token_chooses_the_tenant_and_does_not_reach_the_provider(proxied: Proxied) -> None:
    token = proxied.memento.tokens.create("guest", tenant="guest", namespaces=(), right="read", at=now())
    body = {"messages": [{"role": "user", "content": "Where do I live, by the way?"}]}
    state, _ = sent(proxied, CHAT, body, authorization=f"Bearer {token}")
    assert (state, proxied.last.header("authorization")) == ("empty", [])
    state, _ = sent(proxied, CHAT, body, authorization="Bearer sk-1", x_memento_token=token)
    assert (state, proxied.last.header("authorization")) == ("empty", ["Bearer sk-1"])
    assert proxied.last.header("x-memento-token") == []
    assert sent(proxied, CHAT, body)[0] == "ok"
    refused = proxied.post(MESSAGES, body, x_memento_token="mem_unknown")
    assert (refused.status_code, refused.json()["error"]["type"]) == (401, "authentication_error")


@pytest.mark.parametrize("path", [CHAT, MESSAGES, OLLAMA, "/v1/models"])
def test_a_stranger_needs_a_token_beside_the_key_of_the_provider(proxied: Proxied, path: str) -> None:
    name = f"stranger at {path}"
    token = proxied.memento.tokens.create(name, tenant="local", namespaces=["main"], right="read", at=now())
    elsewhere = {"REMOTE_ADDR": "10.0.0.7"}
    key = {"Authorization": "Bearer sk-1"}
    before = len(proxied.upstream.requests)
    with create_app(proxied.memento.service).test_client() as client:
        refused = client.post(path, json={"messages": [ASKED]}, headers=key, environ_base=elsewhere)
        assert len(proxied.upstream.requests) == before
        admitted = client.post(
            path, json={"messages": [ASKED]}, headers={**key, "X-Memento-Token": token}, environ_base=elsewhere
        )
        proxied.memento.tokens.revoke(name)

    assert (refused.status_code, admitted.status_code) == (401, 200)
    assert proxied.last.header("authorization") == ["Bearer sk-1"]


def test_the_block_is_no_longer_than_its_limit(provider: Upstream, tmp_path: Path) -> None:
    with in_front_of(provider, tmp_path, block_tokens=150) as small:
        for number in range(20):
            small.memento.note(f"I visited the Lisbon museum number {number} in Lisbon with my aunt.")
        answer = small.post(CHAT, {"messages": [{"role": "user", "content": "Which Lisbon museum did I visit?"}]})
        block = small.last.json["messages"][0]["content"].partition("</memento>")[0]

    assert 0 < int(answer.headers["x-memento-count"]) < 10
    assert count_tokens(block) <= 150


def test_a_recall_that_takes_too_long_is_left_behind(
    provider: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"messages": [ASKED]}).encode()
    with in_front_of(provider, tmp_path, deadline_ms=20) as hasty:
        hasty.memento.note("I live in Lisbon.")
        held = threading.Event()
        monkeypatch.setattr("memento.interfaces.proxy.blocks.peek", lambda *_, **__: held.wait(60))

        assert sent(hasty, CHAT, body) == ("timeout", body)
        held.set()


def test_a_recall_that_fails_leaves_the_request_and_the_earlier_blocks(
    provider: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise GraphError("the store says Lisbon")

    with in_front_of(provider, tmp_path) as proxied:
        proxied.memento.note("I live in Lisbon.")
        _, first = sent(proxied, CHAT, {"messages": [ASKED]})
        monkeypatch.setattr("memento.interfaces.proxy.blocks.peek", broken)
        later = [
            ASKED,
            {"role": "assistant", "content": "In Lisbon."},
            {"role": "user", "content": "And where do I work?"},
        ]
        state, second = sent(proxied, CHAT, {"messages": later})

    assert state == "error"
    assert json.loads(second)["messages"] == [*json.loads(first)["messages"], *later[1:]]
    assert "Lisbon" not in caplog.text


def test_what_the_proxy_did_is_counted(proxied: Proxied) -> None:
    sent(proxied, CHAT, {"messages": [ASKED]})
    counts = proxied.client.get(f"{proxied.url}/metrics").text

    assert 'memento_events_total{event="proxy.ok"}' in counts


def test_what_a_person_said_is_captured_after_the_answer_where_that_is_asked_for(
    provider: Upstream, tmp_path: Path
) -> None:
    settings = replace(OFFLINE, capture=CaptureSettings(namespaces='{"main": "propose"}'))

    def ask(text: str, path: str = "/v1/messages", **headers: str) -> None:
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}
        assert found.post(path, body, **headers).status_code == 200

    with in_front_of(provider, tmp_path / "home", settings=settings) as found:
        found.memento.note("I live in Lisbon.")
        ask("Where do I live? I hate olives, by the way.")
        ask("Where do I live? I hate olives, by the way.")
        ask("I hate plums.", "/v1/messages/count_tokens")
        ask("Off the record: I hate kale.")
        ask("I hate figs.", **{"x-memento": "off"})
        ask("I hate mint.", **{"x-memento-namespace": "work"})
        ask("Please reply with a title for this chat in 3-4 words.")
        ask("I like pears.")
        end = time.monotonic() + 60
        while len(found.memento.intake.proposals()) < 2 and time.monotonic() < end:
            time.sleep(0.02)
        said = [one.content for one in found.memento.intake.proposals()]
        assert said == ["Where do I live? I hate olives, by the way.", "I like pears."]
        assert {one.source for one in found.memento.intake.proposals()} == {"hook:proxy"}
        assert not found.memento.intake.proposals(namespace="work")


def test_a_journal_that_cannot_be_written_harms_no_answer(provider: Upstream, tmp_path: Path) -> None:
    settings = replace(OFFLINE, capture=CaptureSettings(mode="on"))
    (tmp_path / "home" / "captures.jsonl").mkdir(parents=True)
    with in_front_of(provider, tmp_path / "home", settings=settings) as found:
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "I like pears."}]}
        assert found.post("/v1/messages", body).status_code == 200
        assert found.memento.status().proposals == 0
