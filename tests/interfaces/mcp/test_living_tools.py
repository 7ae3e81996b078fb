"""The tools of living memory by the official client."""

from __future__ import annotations

import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from conftest import OFFLINE
from doors import serving, text_of
from memento.python import Memento, open_memento
from memento.settings import StrengthSettings

Json = dict[str, Any]


def test_what_use_and_time_make_of_memories_is_told_and_asked_by_tools(memory: Memento, address: str) -> None:
    [tea], [cup] = (memory.note(text).memories for text in ("I like tea.", "My cup is blue."))

    async def run() -> list[Json]:
        async with Client(f"{address}/mcp") as client:

            async def call(name: str, **arguments: object) -> Json:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, text_of(result)
                assert result.structured_content is not None
                return dict(result.structured_content)

            return [
                await call("feedback", memory_id=tea, outcome="success"),
                await call("strength", memory_id=tea),
                await call("associate", source_id=tea, target_id=cup, relation="drunk from", weight=0.8),
                await call("trace", memory_id=tea),
                await call("activate", seeds=[tea]),
                await call("decay"),
                await call("archive", dry_run=True),
            ]

    after, found, link, traced, active, faded, archived = anyio.run(run)

    assert after["success_count"] == found["success_count"] == 1
    assert link["weight"] == 0.8
    assert traced["paths"][0]["relations"] == ["drunk from"]
    assert active["memories"][0]["activation"] == 1
    assert faded["half_life"] == 7
    assert archived == {"memories": [], "dry_run": True, "contents": {}}


def test_a_tool_says_what_was_wrong(address: str) -> None:
    async def run() -> list[str]:
        async with Client(f"{address}/mcp") as client:
            calls: list[tuple[str, Json]] = [
                ("feedback", {"memory_id": "urn:x", "outcome": "perhaps"}),
                ("strength", {"memory_id": "urn:x"}),
                ("trace", {"memory_id": "urn:x", "depth": 9}),
                ("unarchive", {"memory_id": "urn:x"}),
            ]
            results = [await client.call_tool(name, given) for name, given in calls]
            assert all(one.is_error for one in results)
            return [text_of(one) for one in results]

    outcome, unknown, depth, archived = anyio.run(run)

    assert "outcome" in outcome
    assert "<urn:x>" in unknown
    assert "depth" in depth
    assert "is archived" in archived


def test_what_a_client_recalls_counts_as_use_by_mcp_and_by_rest_alike(tmp_path: Path) -> None:
    with open_memento(tmp_path, configured=replace(OFFLINE, living=StrengthSettings(count_recall=True))) as memory:
        assert isinstance(memory, Memento)
        [tea] = memory.note("I like tea.").memories

        async def ask(address: str) -> None:
            async with Client(f"{address}/mcp") as client:
                result = await client.call_tool("memento_recall", {"query": "What do I like?"})
                assert "tea" in text_of(result)

        with serving(memory) as address:
            anyio.run(ask, address)
            by_mcp = memory.living.strength(tea).access_count
            with urllib.request.urlopen(f"{address}/memory/recall?query=What+do+I+like%3F") as answer:
                assert b"tea" in answer.read()
            by_rest = memory.living.strength(tea).access_count

    assert (by_mcp, by_rest) == (1, 2)
