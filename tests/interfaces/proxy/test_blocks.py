"""Blocks stay where they were: over a conversation, over a restart, until one of their memories is forgotten."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conftest import OFFLINE
from memento.datadir import DataFolder
from memento.errors import GraphError
from memento.interfaces.cli.views import show_status
from memento.interfaces.proxy.blocks import Block, Deadline, Sticky
from memento.model import Recollection
from memento.operations.recall import Recall
from memento.python import Memento, open_memento
from memento.service import Context
from memento.service.handlers.recall import peek
from proxied import Proxied, in_front_of
from upstream import Upstream

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
ASKED = {"role": "user", "content": "Where do I live?"}
ANSWERED = {"role": "assistant", "content": "In Lisbon."}
NEXT = {"role": "user", "content": "Which editor do I use?"}


def received(proxied: Proxied, messages: list[Any], path: str = CHAT, **fields: Any) -> list[Any]:
    """The messages as the provider received them."""
    assert proxied.post(path, {"messages": messages, **fields}).status_code == 200
    found: list[Any] = proxied.last.json["messages"]
    return found


def block(name: str, made: float = 1.0) -> Block:
    return Block(text=name, behind=False, memories=1, made=made)


@pytest.fixture
def home(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path)


@pytest.fixture
def living(provider: Upstream, tmp_path: Path) -> Any:
    with in_front_of(provider, tmp_path) as proxied:
        proxied.memento.note("I live in Lisbon.")
        proxied.memento.note("I use VS Code for everything.")
        yield proxied


def test_the_blocks_of_earlier_turns_are_put_where_they_were(living: Proxied) -> None:
    [first] = received(living, [ASKED])
    living.memento.note("I live in Porto.")
    later = received(living, [ASKED, ANSWERED, NEXT])

    assert later[:2] == [first, ANSWERED]
    assert "Lisbon" in later[0]["content"]
    assert "<memento>" in later[2]["content"]


def test_a_turn_with_tools_keeps_its_block_and_gets_no_other(living: Proxied) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {}}]}
    result = {"role": "tool", "tool_call_id": "c", "content": "sunny"}
    [first] = received(living, [ASKED])
    answer = living.post(CHAT, {"messages": [ASKED, call, result]})

    assert living.last.json["messages"] == [first, call, result]
    assert answer.headers["x-memento-status"] == "skipped"


def test_a_turn_asked_again_gets_the_same_block_without_a_recall(
    living: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    [first] = received(living, [ASKED], "/v1/messages/count_tokens")
    monkeypatch.setattr("memento.interfaces.proxy.blocks.peek", lambda *_, **__: pytest.fail("asked again"))

    assert received(living, [ASKED], MESSAGES) == [first]


def test_an_old_opening_is_recalled_anew(provider: Upstream, tmp_path: Path) -> None:
    with in_front_of(provider, tmp_path, repeat_s=0.0) as proxied:
        proxied.memento.note("I live in Lisbon.")
        received(proxied, [ASKED])
        proxied.memento.note("I live in Porto.")

        assert "Porto" in received(proxied, [ASKED])[0]["content"]


def test_marks_for_the_cache_and_the_form_of_a_content_may_change_from_turn_to_turn(living: Proxied) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    text = {"type": "text", "text": ASKED["content"]}
    [first] = received(living, [{"role": "user", "content": [{**text, **mark}]}], MESSAGES)
    as_list, *_ = received(living, [{"role": "user", "content": [text]}, ANSWERED, NEXT], MESSAGES)
    as_string, *_ = received(living, [ASKED, ANSWERED, NEXT], MESSAGES)

    assert first["content"][0] == {**text, **mark}
    assert as_list["content"] == as_string["content"] == [text, first["content"][1]]


def test_blocks_outlive_the_service(provider: Upstream, tmp_path: Path) -> None:
    with in_front_of(provider, tmp_path) as proxied:
        proxied.memento.note("I live in Lisbon.")
        [first] = received(proxied, [ASKED])
    with in_front_of(provider, tmp_path, deadline_ms=1) as proxied:
        assert received(proxied, [ASKED, ANSWERED, NEXT])[0] == first


def test_conversations_of_others_have_blocks_of_their_own(living: Proxied) -> None:
    received(living, [ASKED])
    body = {"messages": [ASKED, ANSWERED, NEXT]}
    living.post(CHAT, body, x_memento_namespace="elsewhere")

    assert living.last.json["messages"][0] == ASKED


@pytest.mark.parametrize("erase", [False, True])
def test_a_block_goes_with_its_memory(living: Proxied, erase: bool) -> None:
    received(living, [ASKED])
    [memory] = [one for one in living.memento.list() if "Lisbon" in one.content]
    living.client.delete(f"{living.url}/memory/{memory.iri}", params={"erase": str(erase).lower()})
    left = b"".join(file.read_bytes() for file in living.memento.datadir.path.glob("blocks.sqlite*"))

    assert b"Lisbon" not in left
    assert received(living, [ASKED, ANSWERED, NEXT])[0] == ASKED


@pytest.mark.parametrize("erase", [False, True])
def test_what_the_user_is_described_by_goes_from_every_block_with_its_memory(
    provider: Upstream, tmp_path: Path, erase: bool
) -> None:
    with in_front_of(provider, tmp_path, format="xml") as proxied:
        [home] = proxied.memento.note("I live in Lisbon.").memories
        proxied.memento.note("I play the violin in an orchestra.")
        asked = {"role": "user", "content": "Which instrument do I play?"}
        [before] = received(proxied, [asked])
        proxied.memento.forget(home, erase=erase)
        [after] = received(proxied, [asked])
        again = received(proxied, [asked, ANSWERED, NEXT])[0]
        kept = [path.name for path in (tmp_path).glob("blocks*") if b"Lisbon" in path.read_bytes()]

    assert "I live in Lisbon." in before["content"]
    assert "violin" in after["content"]
    assert "Lisbon" not in after["content"] + again["content"]
    assert kept == []


def test_what_is_forgotten_while_no_proxy_runs_leaves_no_block_behind(provider: Upstream, tmp_path: Path) -> None:
    with in_front_of(provider, tmp_path) as proxied:
        proxied.memento.note("I live in Lisbon.")
        received(proxied, [ASKED])
        assert proxied.memento.datadir.blocks.exists()
    memento = open_memento(tmp_path, configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento:
        memento.forget(memento.list()[0].iri, erase=True)

        assert not memento.datadir.blocks.exists()


def test_a_block_with_a_memory_that_was_forgotten_meanwhile_is_not_kept(home: DataFolder) -> None:
    sticky = Sticky(home, 10)
    sticky.forget_shown(["urn:a"])
    sticky.put(b"1", block("with a"), ["urn:a", "urn:b"])
    sticky.put(b"2", block("with b"), ["urn:b"])

    assert sticky.find_blocks([b"1", b"2"]) == {b"2": block("with b")}
    sticky.close()


def test_the_longest_unused_blocks_go_first(home: DataFolder) -> None:
    sticky = Sticky(home, 20)
    for number in range(30):
        sticky.put(bytes([number]), block(str(number)), ["urn:a"])
    kept = sticky.find_blocks([bytes([number]) for number in range(30)])
    sticky.close()

    assert len(kept) <= 20
    assert max(kept) == bytes([29])
    with sqlite3.connect(home.blocks) as db:
        assert db.execute("SELECT count(*) FROM shown").fetchone() == (len(kept),)
    db.close()


def test_a_file_that_is_none_is_made_anew_and_one_that_cannot_be_is_done_without(home: DataFolder) -> None:
    home.blocks.write_bytes(b"no database at all, but long enough to look like one" * 100)
    sticky = Sticky(home, 10)
    sticky.put(b"1", block("one"), [])
    assert sticky.find_blocks([b"1"]) == {b"1": block("one")}
    sticky.close()
    home.delete_blocks()
    home.blocks.mkdir()
    broken = Sticky(home, 10)
    broken.put(b"1", block("one"), [])

    assert broken.find_blocks([b"1"]) == {}


def test_only_the_user_can_read_the_file(home: DataFolder) -> None:
    sticky = Sticky(home, 10)
    sticky.put(b"1", block("one"), [])
    sticky.close()

    assert home.blocks.stat().st_mode & 0o077 == 0


def prefix_hits(requests: list[Any]) -> list[int]:
    """How many messages of each request a provider has cached: the longest beginning that an earlier request had too."""
    seen: set[str] = set()
    hits = []
    for messages in requests:
        prefixes = [json.dumps(messages[:count]) for count in range(len(messages) + 1)]
        hits.append(max(count for count, prefix in enumerate(prefixes) if count == 0 or prefix in seen))
        seen.update(prefixes)
    return hits


def conversation() -> list[list[Any]]:
    """Ten turns of an agent; every turn calls a tool twice, and the last block of each request is marked for the cache."""
    said: list[Any] = []
    requests = []
    for turn in range(10):
        said.append(
            {"role": "user", "content": [{"type": "text", "text": f"Question {turn}: where do I live, and how?"}]}
        )
        for step in range(3):
            requests.append([*said[:-1], marked(said[-1])])
            if step == 2:
                said.append({"role": "assistant", "content": f"Answer {turn}."})
                continue
            use = {"type": "tool_use", "id": f"t{turn}{step}", "name": "look", "input": {}}
            said.append(
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, use]}
            )
            said.append(
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": "found"}]}
            )
    return requests


def marked(message: dict[str, Any]) -> dict[str, Any]:
    *blocks, last = message["content"]
    return {**message, "content": [*blocks, {**last, "cache_control": {"type": "ephemeral"}}]}


def unmarked(message: dict[str, Any]) -> Any:
    if isinstance(message["content"], str):
        return message
    blocks = [{key: value for key, value in one.items() if key != "cache_control"} for one in message["content"]]
    return {**message, "content": blocks}


def test_a_provider_finds_as_much_in_its_cache_as_without_memento(living: Proxied) -> None:
    requests = conversation()
    through = []
    blocks = 0
    for number, messages in enumerate(requests):
        if number % 7 == 3:
            living.memento.note(f"I live in house number {number}.")
        found = received(living, messages, MESSAGES)
        through.append([unmarked(one) for one in found])
        blocks = json.dumps(found).count("<memento>")
    without = prefix_hits([[unmarked(one) for one in messages] for messages in requests])

    assert blocks == 10
    assert prefix_hits(through) == without
    assert sum(without) > 500


def test_a_turn_that_went_without_its_memories_gets_them_with_the_next(
    provider: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with in_front_of(provider, tmp_path, deadline_ms=1000) as proxied:
        proxied.memento.note("I live in Lisbon.")
        proxied.memento.note("I use VS Code for everything.")
        held = threading.Event()
        recall = peek
        monkeypatch.setattr("memento.interfaces.proxy.blocks.LONGEST", 1)
        monkeypatch.setattr("memento.interfaces.proxy.blocks.peek", lambda *asked: held.wait(60) and recall(*asked))
        late = proxied.post(CHAT, {"messages": [ASKED]})
        assert late.headers["x-memento-status"] == "timeout" and proxied.last.json["messages"] == [ASKED]
        held.set()
        monkeypatch.undo()

        answer = proxied.post(CHAT, {"messages": [ASKED, ANSWERED, NEXT]})
        first, _, second = proxied.last.json["messages"]
        assert (answer.headers["x-memento-status"], answer.headers["x-memento-caught-up"]) == ("ok", "1")
        assert first == ASKED  # what was sent already stays as it is
        assert "Lisbon" in second["content"] and "VS Code" in second["content"]

        after = proxied.post(CHAT, {"messages": [ASKED, ANSWERED, NEXT, ANSWERED, {**ASKED, "content": "Who am I?"}]})
        assert "x-memento-caught-up" not in after.headers
        assert proxied.last.json["messages"][:3] == [ASKED, ANSWERED, second]
        counts = proxied.client.get(f"{proxied.url}/health").json()["proxied"]
        assert counts == proxied.memento.status().proxied
        told = show_status(msgspec.to_builtins(proxied.memento.status()))
        assert "too late for their memories" in told and "got theirs with a later turn" in told
        assert counts["timeout"] >= 1 and counts["caught_up"] >= 1


def test_a_turn_whose_recall_failed_is_caught_up_once(
    provider: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fail_for_home(operation: Recall, context: Context) -> Recollection:
        asked.append(operation.question)
        if "live" in operation.question:
            raise GraphError("the store does not answer")
        return peek(operation, context)

    with in_front_of(provider, tmp_path) as proxied:
        proxied.memento.note("I use VS Code for everything.")
        monkeypatch.setattr("memento.interfaces.proxy.blocks.peek", fail_for_home)
        assert proxied.post(CHAT, {"messages": [ASKED]}).headers["x-memento-status"] == "error"
        talk = [ASKED, ANSWERED, NEXT]
        answer = proxied.post(CHAT, {"messages": talk})
        assert answer.headers["x-memento-status"] == "ok" and "x-memento-caught-up" not in answer.headers
        proxied.post(CHAT, {"messages": [*talk, ANSWERED, {**NEXT, "content": "Which shell do I use?"}]})

    assert sum("live" in question for question in asked) == 2


def test_the_deadline_follows_what_recalls_take() -> None:
    deadline = Deadline(0.15)
    assert deadline.seconds == 1.5
    for _ in range(20):
        deadline.record(0.02)
    assert deadline.seconds == 0.15
    for _ in range(100):
        deadline.record(0.3)
    assert deadline.seconds == pytest.approx(0.6)
    for _ in range(100):
        deadline.record(40.0)
    assert deadline.seconds == 1.5
    for _ in range(97):
        deadline.record(0.1)
    assert deadline.seconds == pytest.approx(0.2)
