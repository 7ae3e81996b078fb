"""Cases and plans through each door: the command, MCP over HTTP with Memento's own tools as the executor's, `/metrics`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner

from doors import serving, text_of
from mcp import Client
from memento.cli import main
from memento.mcp import catalogue
from memento.service import Memento
from memento.settings import TOOL_GROUPS
from planned import Opened

Json = dict[str, Any]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shelf: tuple[Path, str]) -> Iterator[Path]:
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    monkeypatch.setenv("MEMENTO_EMBEDDING_CACHE", "false")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "memento.toml").write_text(f'[executor.servers.files]\nurl = "{shelf[1]}"\n')
    yield tmp_path


def said(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["cases", *words], prog_name="memento")
    assert done.exit_code == code, done.output
    return done.output


def test_the_command_plans_carries_out_and_tells_what_came_of_it(home: Path, folder: Path) -> None:
    assert "read_file  files" in said("tools")
    planned = said("plan", "Read a.txt.", "--step", 'read_file {"path": "a.txt"}')
    run = planned.rstrip().rpartition(" ")[2]
    done = said("run", run)
    case = json.loads(said("list", "--json"))[0]["iri"]

    assert "· 1. read_file" in planned
    assert "Done: every step is done" in done and "hello" in done
    assert "Read a.txt." in said("runs", "--state", "done")
    assert "✓ 1. read_file" in said("show", case)
    assert "✓ 1. read_file" in said("show", run)
    failed = said("run", json.loads(said("plan", "x", "--step", "fly {}", "--json"))["run"]["iri"], code=1)
    assert "there is no tool 'fly'" in failed


def test_the_command_keeps_finds_and_rewards_cases(home: Path) -> None:
    rows = home / "rows.jsonl"
    rows.write_text(
        '{"task": "Book a train.", "plan": "1. Look.", "outcome": "success"}\n{"task": "Fly.", "plan": "Jump."}\n'
    )
    assert said("add", str(rows)) == "2 cases kept.\n"
    found = json.loads(said("retrieve", "Book a train to Faro.", "--json"))
    shown = said("retrieve", "Book a train to Faro.")
    kept = said(
        "record", "Book a bus.", "--plan", "1. Call.", "--outcome", "failure", "--retrieval", found["retrieval"]
    )

    assert "To follow" in shown and "Book a train." in shown
    assert "reward -0.20" in kept and "1 cases share -0.20" in kept
    assert "1 cases share 0.40" in said("reward", found["retrieval"], "--reward", "0.4")
    assert "Book a bus." in said("list", "--limit", "1")
    assert said("view").startswith("1.00  Book a bus.")
    assert said("prune", "--keep", "1") == "2 cases let go.\n"
    assert "domains" in said("status")
    rows.write_text('{"task": "Only half."}')
    assert "line 1 of rows.jsonl: " in said("add", str(rows), code=2)


def test_an_agent_keeps_a_task_over_mcp_and_finds_it_again(opening: Opened) -> None:
    memento = opening()

    async def use(address: str) -> tuple[Json, Json, str]:
        async with Client(f"{address}/mcp") as client:

            async def called(name: str, **arguments: object) -> Json:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, text_of(result)
                return dict(result.structured_content or {})

            first = await called("memento_case_retrieve", task="Book a train.")
            calls = [{"tool": "look", "arguments": "{}", "result": "9:30"}]
            kept = await called(
                "memento_case_record",
                task="Book a train.",
                plan="1. Look.",
                outcome="success",
                retrieval=first.get("retrieval"),
                calls=calls,
            )
            again = await called("memento_case_retrieve", task="Book a train to Faro.")
            await called("memento_case_reward", retrieval=again["retrieval"], reward=0.5)
            shown = await called("memento_case_get", iri=kept["case"])
            wrong = await client.call_tool("memento_case_get", {"iri": "urn:x:none"})
            return again, shown, text_of(wrong)

    with serving(memento) as address:
        again, shown, wrong = anyio.run(use, address)

    assert [one["task"] for one in again["positives"]] == ["Book a train."]
    assert shown["steps"][0]["tools"][0]["result"] == "9:30"
    assert shown["uses"] == 1
    assert wrong == "there is no case <urn:x:none> in this domain"


def test_a_plan_uses_mementos_own_tools_and_those_of_the_files_at_once(
    opening: Opened, folder: Path, shelf: tuple[Path, str]
) -> None:
    notes = opening(home="notes")
    with serving(notes) as address:
        servers = {"files": {"url": shelf[1]}, "notes": {"url": f"{address}/mcp", "tools": ["memento_note"]}}
        memento = opening(servers=json.dumps(servers))
        steps = [
            'read_file {"path": "a.txt"}',
            'memento_note {"content": "I read {{1}} in a file.", "confirmed": true}',
        ]
        done = memento.execute_task(memento.plan_task("Note what a.txt says.", steps=steps).run.iri)

    assert done.ending == "done", done.reason
    assert "hello" in notes.list()[0].content


def test_a_plan_may_use_the_very_memory_that_keeps_it(opening: Opened, memento: Memento) -> None:
    with serving(memento) as address:
        servers = {"self": {"url": f"{address}/mcp", "tools": ["memento_note"]}}
        knobs = opening(home="unused", servers=json.dumps(servers)).settings
        memento.settings = knobs
        steps = ['memento_note {"content": "I live in Lisbon.", "confirmed": true}']
        done = memento.execute_task(memento.plan_task("Note it.", steps=steps).run.iri)

    assert done.ending == "done", done.reason
    assert "Lisbon" in memento.list()[0].content


def test_cases_are_read_by_sparql_and_by_nobody_who_may_not(opening: Opened) -> None:
    from memento.access import Access

    memento = opening()
    memento.plan_task("Fetch the canary.", steps=["Look."], domain="zoo")
    asked = (
        "SELECT ?t { GRAPH ?g { ?step a <http://purl.org/memento/SubtaskRecord> ; <http://purl.org/memento/task> ?t } }"
    )

    assert b"Look." in memento.query(asked, accept="text/csv")[0]
    for access in (
        Access(tenant="rival", right="admin"),
        Access(tenant="local", right="admin", namespaces=("main",)),
    ):
        assert b"Look." not in memento.seen_by(access).query(asked, accept="text/csv")[0]


def test_the_group_has_its_tools_under_names_of_their_own() -> None:
    names = [tool.name for tool in catalogue.GROUPS["cases"]]

    assert all(name.startswith("memento_case_") for name in names)
    assert list(catalogue.tools(TOOL_GROUPS)).count(names[0]) == 1
