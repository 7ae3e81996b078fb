"""The tool `memory`: expressions in, values out, and the map of the memory in its description."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import stdio_client

from conftest import OFFLINE
from doors import serving, shim_of, text_of
from memento.interfaces.mcp.catalogue import AT_PRESENT
from memento.plugins.living.tools import EXPRESSION_TOOL
from memento.python import Memento, open_memento


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Memento, str]]:
    """A memory whose service lists the tool, and its address."""
    monkeypatch.setenv("MEMENTO_TOOLS", "sexpr")
    memento = open_memento(tmp_path / "home", configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento:
        memento.note("I live in Lisbon.")
        memento.graphs.manifest()
        with serving(memento) as address:
            yield memento, address


async def description(client: Client) -> str:
    [tool] = [one for one in (await client.list_tools()).tools if one.name == EXPRESSION_TOOL]
    return str(tool.description)


def test_expressions_are_evaluated_and_mistakes_are_told_to_the_model(served: tuple[Memento, str]) -> None:
    async def call() -> tuple[str, object, str]:
        async with Client(f"{served[1]}/mcp") as client:
            found = await client.call_tool(EXPRESSION_TOOL, {"expr": '(get (first (recall "lisbon")) "content")'})
            wrong = await client.call_tool(EXPRESSION_TOOL, {"expr": '(recal "lisbon")'})
            assert wrong.is_error
            return text_of(found), found.structured_content, text_of(wrong)

    text, structured, wrong = anyio.run(call)

    assert text == '"I live in Lisbon."'
    assert structured == {"values": ["I live in Lisbon."], "calls": 3}
    assert wrong == "line 1, column 2: unknown verb recal: is (recall query [limit=10]) meant?"


def test_the_description_has_the_verbs_and_the_map_over_http_and_stdio(served: tuple[Memento, str]) -> None:
    async def both() -> tuple[str, str]:
        async with (
            Client(f"{served[1]}/mcp") as there,
            Client(stdio_client(shim_of(served[0].datadir.path, MEMENTO_TOOLS="sexpr"))) as here,
        ):
            return await description(there), await description(here)

    there, here = anyio.run(both)

    assert there == here
    assert "(remember text [type=" in there
    assert f"{AT_PRESENT}Memory: 1 items" in there
    assert len(there.partition(AT_PRESENT)[2]) <= 2_000


def test_a_client_hears_that_the_list_changed_when_the_map_was_drawn_anew(served: tuple[Memento, str]) -> None:
    memento, address = served

    async def listen() -> tuple[str, str]:
        async with Client(f"{address}/mcp") as client, client.listen(tools_list_changed=True) as events:
            for number in range(memento.settings.manifest.updates):
                memento.living.evaluate(f'(set-policy "p{number}" (stats))')
            memento.note("I like tea.")
            async for event in events:
                return type(event).__name__, await description(client)
        raise AssertionError("no event came")

    with anyio.from_thread.start_blocking_portal() as portal:
        name, told = portal.call(listen)

    assert name == "ToolsListChanged"
    assert AT_PRESENT in told
