"""Cases and plans through each door: the command, MCP over HTTP with Memento's own tools as the executor's, `/metrics`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner
from mcp import Client

from doors import serving, text_of
from memento import settings
from memento.interfaces.cli import main
from memento.interfaces.mcp import catalogue
from memento.interfaces.web.app import create_app
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.cases.settings import CasesSettings
from memento.python import Memento
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
    assert said("prune", "--keep", "1") == "2 cases removed.\n"
    assert "domains" in said("status")
    rows.write_text('{"task": "Only half."}')
    assert "line 1 of rows.jsonl: " in said("add", str(rows), code=2)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('"outcme": "failure"', "unknown field `outcme`: a"),
        ('"outcome": "failure", "reward": 1', "reward 1 contradicts the outcome 'failure'"),
        ('"outcome": "yes"', "outcome must be one of success, partial, failure, not 'yes'"),
    ],
)
def test_a_row_that_would_lose_its_verdict_is_refused_and_named(
    row: str, told: str, home: Path, opening: Opened
) -> None:
    good, bad = '{"task": "Fly.", "plan": "Jump."}', f'{{"task": "Fly.", "plan": "Jump.", {row}}}'
    (home / "rows.jsonl").write_text(f"{good}\n{bad}\n")
    refused = said("add", str(home / "rows.jsonl"), code=2)
    with create_app(opening(home="web").service).test_client() as client:
        answer = client.post("/cases", data=f'{{"rows": [{good}, {bad}]}}', content_type="application/json")

    assert told in refused and ("line 2" in refused or "row 2" in refused)
    assert answer.status_code == 400 and told in answer.text.replace("\\u0027", "'")
    assert "rows[1]" in answer.text or "row 2" in answer.text
    assert said("list") == "No cases yet.\n"


def test_what_is_wrong_is_told_in_plain_words_that_name_the_field(home: Path, opening: Opened) -> None:
    memento = opening(home="web")
    run = memento.cases.plan_task("Look.", steps=["Look."]).run.iri
    wrong = [
        ("/cases/plan", '{"task": ""}', "task must not be empty"),
        ("/cases/plan", '{"task": "x", "steps": [" "]}', "step 1 must not be empty"),
        ("/cases/plan", "", "send a JSON object with task: the body is empty"),
        ("/cases/retrieve", '{"task": "x", "k": 0}', "k must be from 1 to 1000, not 0"),
        ("/cases/retrievals/urn:x:y/reward", '{"reward": 3}', "reward must be from -0.2 to 1, not 3"),
        ("/cases/retrievals/urn:x:y/reward", '{"outcome": "yes"}', "outcome must be one of success, partial, failure"),
        (f"/cases/runs/{run}/complete", '{"reward": 1, "outcome": "failure"}', "contradicts the outcome"),
    ]
    with create_app(memento.service).test_client() as client:
        for path, sent, told in wrong:
            answer = client.post(path, data=sent, content_type="application/json")
            assert (answer.status_code, told in str(answer.json)) == (400, True), answer.text
        for kind in ("application/json", None):
            executed = client.post(f"/cases/runs/{run}/execute", content_type=kind)
            assert (executed.status_code, json.loads(executed.data)["ending"]) == (200, "stopped")
        assert client.post("/cases/plan", data="task=x").status_code == 415

    assert "TASK must not be empty" in said("plan", "", code=2)
    assert "k must be from 1 to" in said("retrieve", "x", "-k", "0", code=2)
    assert "reward must be from -0.2 to 1, not 3.0" in said("reward", "urn:x:y", "--reward", "3", code=2)
    assert "--outcome, --reward or --score" in said("reward", "urn:x:y", code=2)


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
        done = memento.cases.execute_task(memento.cases.plan_task("Note what a.txt says.", steps=steps).run.iri)

    assert done.ending == "done", done.reason
    assert "hello" in notes.list()[0].content


def test_a_plan_may_use_the_very_memory_that_keeps_it(opening: Opened, memento: Memento) -> None:
    with serving(memento) as address:
        servers = {"self": {"url": f"{address}/mcp", "tools": ["memento_note"]}}
        knobs = opening(home="unused", servers=json.dumps(servers)).settings
        memento.service.settings = knobs
        steps = ['memento_note {"content": "I live in Lisbon.", "confirmed": true}']
        done = memento.cases.execute_task(memento.cases.plan_task("Note it.", steps=steps).run.iri)

    assert done.ending == "done", done.reason
    assert "Lisbon" in memento.list()[0].content


def test_cases_are_read_by_sparql_and_by_nobody_who_may_not(opening: Opened) -> None:
    from memento.access import Access

    memento = opening()
    memento.cases.plan_task("Fetch the canary.", steps=["Look."], domain="zoo")
    asked = (
        "SELECT ?t { GRAPH ?g { ?step a <http://purl.org/memento/SubtaskRecord> ; <http://purl.org/memento/task> ?t } }"
    )

    assert b"Look." in memento.graphs.query_bytes(asked, accept="text/csv")[0]
    for access in (
        Access(tenant="rival", right="admin"),
        Access(tenant="local", right="admin", namespaces=("main",)),
    ):
        assert b"Look." not in memento.with_access(access).graphs.query_bytes(asked, accept="text/csv")[0]


def test_the_group_has_its_tools_under_names_of_their_own() -> None:
    names = [tool.name for tool in catalogue.GROUPS["cases"]]

    assert all(name.startswith("memento_case_") for name in names)
    assert list(catalogue.tools(("cases",))).count(names[0]) == 1


def test_a_single_case_may_be_posted_and_cases_are_listed_by_a_task(opening: Opened) -> None:
    with create_app(opening().service).test_client() as client:
        one = client.post("/cases", json={"task": "Book a train.", "plan": "1. Look.", "outcome": "success"})
        other = client.post("/cases", json={"task": "Feed the cat.", "plan": "1. Call it.", "tags": ["home"]})
        listed = client.get("/cases?task=Book+a+train+to+Faro&limit=1")
        apart = client.post("/cases", json={"task": "Sleep.", "plan": "1. Lie down.", "domain": "night"})
        wrong = client.post("/cases", json={"task": "Sleep.", "plan": "1. Lie down.", "outcme": "success"})

        assert [answer.status_code for answer in (one, other, apart, wrong)] == [201, 201, 201, 400]
        assert [case["task"] for case in listed.get_json()] == ["Book a train."]
        assert listed.get_json()[0]["iri"] == one.get_json()[0]
        assert "unknown field `outcme`" in wrong.text
        assert len(client.get("/cases").get_json()) == 2
        assert len(client.get("/cases?domain=night").get_json()) == 1


def test_recall_brings_cases_where_they_are_asked_for(opening: Opened) -> None:
    memento = opening()
    memento.note("I book trains at the station in Faro.")
    [case] = memento.cases.add([CaseRow(task="Book a train to Faro.", plan="1. Look.", outcome="success")])
    asked = memento.recall("How do I book a train to Faro?", cases=2)

    assert asked.cases is not None and [one.iri for one in asked.cases.positives] == [case]
    assert asked.cases.retrieval is not None
    assert memento.recall("How do I book a train to Faro?").cases is None


def test_a_case_as_the_first_design_writes_it_in_turtle_is_taken_in(opening: Opened, tmp_path: Path) -> None:
    memento = opening()
    (tmp_path / "case.ttl").write_text(
        """@prefix m: <http://purl.org/memento/> . @prefix prov: <http://www.w3.org/ns/prov#> .
        m:case_7 a m:Case ; m:hasState "How deep is the sea?" ; m:hasStateEmbedding "AAAA" ; m:hasReward 0.75 ;
          m:hasAction '''
            1. Ask a diver.
            2. Measure it.
          ''' ; m:timestamp "2025-02-03T04:05:06Z" ; prov:wasDerivedFrom <urn:x:book> ."""
    )
    first, again = (memento.intake.import_rdf(tmp_path / "case.ttl") for _ in range(2))
    [case] = memento.cases.list()

    assert (first.cases, again.added) == (1, 0)
    assert (case.task, case.plan, case.reward) == ("How deep is the sea?", "1. Ask a diver.\n2. Measure it.", 0.75)
    assert case.at.isoformat() == "2025-02-03T04:05:06+00:00"
    assert memento.cases.retrieve("How deep is the ocean?").positives[0].iri == case.iri
    assert memento.admin.check() == ()


def test_a_group_that_is_switched_off_is_not_told_of() -> None:
    assert settings.offered_groups(settings.Settings(), {"MEMENTO_TOOLS": "keys,cases"}) == ("cases", "keys")
    assert settings.offered_groups(
        settings.Settings().having(CasesSettings(on=False)), {"MEMENTO_TOOLS": "cases,keys"}
    ) == ("keys",)
