"""The tools of the key graph by the official client: a walk, and everything that leaves texts under keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import stdio_client

from doors import serving, shim_of, text_of
from memento.interfaces.mcp import catalogue
from memento.plugins.keys.settings import KeysSettings
from memento.python import Memento

Json = dict[str, Any]
Call = Callable[..., Awaitable[Json]]


def with_client(address: str, work: Callable[[Call], Awaitable[Any]]) -> Any:
    """What some calls of tools come to; a call that fails fails the test."""

    async def run() -> Any:
        async with Client(f"{address}/mcp") as client:

            async def call(name: str, **arguments: object) -> Json:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, text_of(result)
                return dict(result.structured_content or {})

            return await work(call)

    return anyio.run(run)


def failed(address: str, name: str, **arguments: object) -> str:
    async def run() -> str:
        async with Client(f"{address}/mcp") as client:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            return text_of(result)

    return anyio.run(run)


def listed(address: str) -> list[str]:
    async def run() -> list[str]:
        async with Client(f"{address}/mcp") as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    return anyio.run(run)


def test_newton_leads_over_the_apple_to_the_strawberry_in_notes(address: str) -> None:
    async def walk(call: Call) -> list[str]:
        for note in (
            "Isaac Newton watched an apple fall from a tree.",
            "An apple is a fruit.",
            "A strawberry is a fruit.",
        ):
            await call("memento_note", content=note, confirmed=True)
        told = []
        keys = (await call("recall", query="Newton"))["keys"]
        at = next(one["key"] for one in keys if one["name"] == "Newton")
        for onward in ("apple", "fruit", ""):
            page = await call("read_key", key_id=at)
            opened = [await call("read_memory", memory_id=m["memory"], via_key_id=at) for m in page["memories"]]
            told += [one["content"] for one in opened]
            at = next((k["key"] for one in opened for k in one["keys"] if k["name"] == onward), at)
        return told

    told = with_client(address, walk)

    assert told[0].startswith("Isaac Newton")
    assert told[-1] in ("A strawberry is a fruit.", "An apple is a fruit.")
    assert "A strawberry is a fruit." in told[3:]


def test_what_is_remembered_under_keys_is_walked_corrected_and_forgotten(address: str) -> None:
    async def use(call: Call) -> None:
        where = {"namespace": "tools"}
        one = await call(
            "remember",
            content="The harbour of Faro opens at six.",
            keys=["harbour", "Faro"],
            key_types={"Faro": "proper_noun"},
            source={"session": "monday", "tool": "chat"},
            ttl_seconds=3600,
            **where,
        )
        batch = await call(
            "remember_batch",
            items=[
                {"content": "The harbour master is Ana.", "keys": '["harbour", "Ana"]', "key_types": {"Ana": "name"}},
                {"content": "Nothing leads here.", "keys": ["x"]},
            ],
            **where,
        )
        [key] = (await call("recall", query="harbour", top_k=1, **where))["keys"]
        assert (key["name"], key["memory_count"], key["is_hub"]) == ("harbour", 2, False)
        related = await call("related", memory_id=one["saved"], **where)
        assert [row["content"] for row in related["memories"]] == ["The harbour master is Ana."]
        better = await call("correct", memory_id=one["saved"], content="The harbour of Faro opens at seven.", **where)
        assert better["superseded"] == one["saved"]
        old = await call("read_memory", memory_id=one["saved"], past=True, **where)
        assert old["superseded_by"] == better["new_id"]
        assert old["source"] == "chat"
        turns = (await call("get_conversation", session_id="monday", **where))["turns"]
        assert [turn["content"] for turn in turns] == ["The harbour of Faro opens at six."]
        stats = await call("memory_stats", **where)
        assert (stats["keys"] >= 3, stats["by_source"]) == (True, {"chat": 1, "explicit": 1})
        gone = await call("forget", memory_id=batch["results"][0]["remembered"]["saved"], **where)
        assert gone["hidden"]
        assert "two characters" in batch["results"][1]["error"]
        mixed = [{"content": "The pier is long.", "keys": ["pier"]}, {"keys": ["pier"]}, 7, {"content": 1, "keys": "x"}]
        apart = (await call("remember_batch", items=mixed, **where))["results"]
        assert [bool(row.get("error")) for row in apart] == [False, True, True, True]
        assert "content" in apart[1]["error"] and "an object with content" in apart[2]["error"]
        await call("forget", memory_id=apart[0]["remembered"]["saved"], **where)
        rows = (await call("list_memories", **where))["memories"]
        own = [row["content"] for row in rows if row["namespace"] == "tools"]
        assert own == ["The harbour of Faro opens at seven."]
        assert await call("cleanup_expired", **where) == {"expired": 0, "phrases": 0}

    with_client(address, use)


def test_forget_erases_a_text_only_once_it_is_confirmed(memento: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_TOOLS", "keys")
    saved = memento.keys.remember("The locker opens with 4711.", ["locker"]).saved
    asked = {"memory_id": saved, "erase": True}
    with serving(memento) as address:
        waiting = with_client(address, lambda call: call("forget", **asked))
        untouched = with_client(address, lambda call: call("read_memory", memory_id=saved))
        gone = with_client(address, lambda call: call("forget", **asked, confirmed=True))
        assert "no memory" in failed(address, "read_memory", memory_id=saved, past=True)

    assert (waiting["hidden"], waiting["erased"]) == (False, False)
    assert untouched["content"] == "The locker opens with 4711."
    assert (gone["hidden"], gone["erased"], gone["memories"]) == (True, True, [saved])
    # The digits alone may be part of an IRI or a digest.
    assert "opens with 4711" not in str(memento.graphs.query_bytes("SELECT ?o { GRAPH ?g { ?s ?p ?o } }"))


def test_what_cannot_be_done_says_what_would_be_right(address: str) -> None:
    assert "no key <urn:x>" in failed(address, "read_key", key_id="urn:x")
    assert "top_k" in failed(address, "recall", query="x y", top_k=99)
    assert "remember needs the argument keys" in failed(address, "remember", content="Something.")
    assert "MEMENTO_KEYS_DIRECT" in failed(address, "recall_memories", query="tea")


def test_the_group_has_twelve_tools_and_the_thirteenth_behind_its_flag(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMENTO_TOOLS", "keys")
    with serving(memento) as address:
        twelve = listed(address)
    memento.service.settings = memento.settings.having(replace(memento.settings.of(KeysSettings), direct=True))
    memento.keys.remember("Tea is served at four.", ["tea"])
    with serving(memento) as address:
        thirteen = listed(address)
        found = with_client(address, lambda call: call("recall_memories", query="tea"))

    assert len(twelve) == len(catalogue.tools(())) + 12
    assert [*twelve, "recall_memories"] == thirteen == list(catalogue.tools(("keys",)))
    assert [one["content"] for one in found["memories"]] == ["Tea is served at four."]


@pytest.mark.parametrize(("direct", "count"), [("false", 12), ("true", 13)])
def test_the_shim_lists_what_the_service_would(memory: Memento, address: str, direct: str, count: int) -> None:
    async def names() -> list[str]:
        start = shim_of(memory.datadir.path, MEMENTO_TOOLS="keys", MEMENTO_KEYS_DIRECT=direct)
        async with Client(stdio_client(start)) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert len(anyio.run(names)) - len(catalogue.tools(())) == count


def test_the_prompt_tells_who_can_walk_how_to(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def prompt() -> str:
        async with Client(f"{address}/mcp") as client:
            [message] = (await client.get_prompt("memory_system_prompt")).messages
            return str(message.content.text)  # type: ignore[union-attr]

    monkeypatch.setenv("MEMENTO_TOOLS", "")
    assert "read_key" not in anyio.run(prompt)
    monkeypatch.setenv("MEMENTO_TOOLS", "keys")
    text = anyio.run(prompt)
    assert "read_key" in text and "memories" in text
