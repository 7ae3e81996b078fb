"""MCP over HTTP by the official client, in both eras of the protocol."""

from __future__ import annotations

import http.client
import json
import re
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import anyio
import pytest
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequestParams, ElicitResult, TextResourceContents

from conftest import OFFLINE
from doors import serving, text_of
from memento.access import Access
from memento.errors import GraphError
from memento.interfaces.mcp import catalogue
from memento.iris import short_id
from memento.operations.care import Status
from memento.python import Memento, open_memento
from memento.service import HANDLERS, Context
from memento.settings import McpSettings
from memento.time import now

Era = Literal["auto", "legacy"]
eras = pytest.mark.parametrize("era", ["auto", "legacy"])
Json = dict[str, Any]


def called(address: str, era: Era, name: str, **arguments: object) -> str:
    """The text of a call that works, which is all of its answer."""

    async def call() -> str:
        async with Client(f"{address}/mcp", mode=era) as client:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, text_of(result)
            assert result.structured_content is None
            return text_of(result)

    return anyio.run(call)


def failed(address: str, name: str, **arguments: object) -> str:
    """What a call that does not work says."""

    async def call() -> str:
        async with Client(f"{address}/mcp") as client:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            return text_of(result)

    return anyio.run(call)


def posted(address: str, message: object, **headers: str) -> tuple[int, Any]:
    """The status of one POST, and its JSON."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    media = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", json.dumps(message), {**media, **headers})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, json.loads(body) if body else None


@eras
def test_the_lists_are_those_of_the_catalogue(address: str, era: Era) -> None:
    async def listed() -> dict[str, list[str]]:
        async with Client(f"{address}/mcp", mode=era) as client:
            return {
                "era": [client.protocol_version],
                "tools": [one.name for one in (await client.list_tools()).tools],
                "resources": [one.uri for one in (await client.list_resources()).resources],
                "templates": [one.uri_template for one in (await client.list_resource_templates()).resource_templates],
                "prompts": [one.name for one in (await client.list_prompts()).prompts],
            }

    assert anyio.run(listed) == {
        "era": ["2026-07-28" if era == "auto" else "2025-11-25"],
        "tools": list(catalogue.tools(())),
        "resources": ["memento://manifest", "memento://status", "memento://ontology"],
        "templates": ["memento://memory/{id}", "memento://entity/{id}"],
        "prompts": ["memory_system_prompt", "review_memories"],
    }


@eras
def test_a_note_that_is_not_confirmed_is_shown_and_not_stored(memory: Memento, address: str, era: Era) -> None:
    before = memory.status().notes
    text = called(address, era, "memento_note", content="I own a yacht.", confirmed=False)

    assert called(address, era, "memento_note", content="I own a yacht.") == text
    assert text.startswith("Nothing is stored yet.")
    assert "I own a yacht." in text and "confirmed=true" in text
    assert memory.status().notes == before


@eras
def test_a_confirmed_note_is_stored_and_recalled_with_its_source(memory: Memento, address: str, era: Era) -> None:
    town = {"auto": "Lisbon", "legacy": "Porto"}[era]
    text = called(address, era, "memento_note", content=f"I live in {town}.", confirmed=True, at="2024-02-01")
    again = called(address, era, "memento_note", content=f"I live in {town}.", confirmed=True)
    found = called(address, era, "memento_recall", query="Where do I live?", k=1)
    [one] = memory.recall("Where do I live?", k=1).memories

    assert text.splitlines()[0] == f"Noted: user · live in · {town} (since 2024-02-01) {short_id(one.iri)}"
    assert again.startswith("Skipped: ")
    assert one.note is not None
    assert one.note.content == f"I live in {town}."
    # Both towns were told for one instant, so the later one says that they contradict each other.
    against = "; contradicted by “I live in Lisbon.”" if town == "Porto" else ""
    assert found == f"- I live in {town}. (since 2024-02-01{against}) {short_id(one.iri)}"


def test_a_note_is_answered_with_its_claims_and_what_ended(memory: Memento, address: str) -> None:
    first = called(address, "auto", "memento_note", content="I work at Siemens.", confirmed=True, at="2023-01-01")
    then = called(
        address, "auto", "memento_note", content="I left Siemens and joined Bosch.", confirmed=True, at="2024-01-01"
    )
    id = first.rsplit(" ", 1)[-1]

    assert "user · work at · Siemens (since 2023-01-01)" in first
    assert "Bosch (since 2024-01-01)" in then
    assert f"Ended: “I work at Siemens.” {id}" in then
    assert "urn:" not in first + then


@eras
def test_the_end_of_an_iri_corrects_and_forgets(memory: Memento, address: str, era: Era) -> None:
    noted = called(address, era, "memento_note", content=f"My {era} cat is called Tam.", confirmed=True)
    asked = called(address, era, "memento_correct", id=noted.split()[-1], content=f"My {era} cat is called Tom.")
    right = called(
        address, era, "memento_correct", id=noted.split()[-1], content=f"My {era} cat is called Tom.", confirmed=True
    )
    new = right.splitlines()[0].split()[-1]
    found = called(address, era, "memento_recall", query=f"What is my {era} cat called?", k=1)
    history = called(address, era, "memento_timeline", subject=new)
    hidden = called(address, era, "memento_forget", id=new, confirmed=True)

    assert asked.startswith("Nothing is corrected yet.") and "Tam" in asked and "Tom" in asked
    assert right.startswith("Corrected: ")
    assert found.endswith(new) and "Tam" not in found  # what was never true is not told again
    assert "- never true: " in history
    assert hidden == f"Hidden, not deleted. The user can bring it back with `memento unforget {new}`."


@eras
def test_forgetting_shows_what_would_go_and_waits(memory: Memento, address: str, era: Era) -> None:
    [iri] = memory.note(f"My password hint is {era}.").memories
    asked = called(address, era, "memento_forget", iri=iri, confirmed=False)
    memory.get(iri)
    done = called(address, era, "memento_forget", iri=iri, confirmed=True, erase=True)

    assert era in asked and asked.startswith("Nothing is forgotten yet.")
    assert done == "Erased."
    assert "nothing is known" in failed(address, "memento_forget", iri=iri, confirmed=False)


def test_the_timeline_sparql_and_status_answer(memory: Memento, address: str) -> None:
    memory.note("My editor is Vim.", at="2023-01-01")
    memory.note("My editor is Zed.", at="2025-01-01")
    history = called(address, "auto", "memento_timeline", subject="me", as_of="2024-01-01")
    rows = called(
        address, "auto", "memento_sparql", query="SELECT ?c { ?m <http://purl.org/memento/content> ?c }", limit=1
    )
    truth = called(address, "auto", "memento_sparql", query="ASK { ?s ?p ?o }")
    nothing = called(address, "auto", "memento_sparql", query="SELECT ?s { ?s <urn:none> ?o }")
    turtle = called(address, "auto", "memento_sparql", query="CONSTRUCT { ?s a ?o } { ?s a ?o } LIMIT 1")
    status = called(address, "auto", "memento_status")

    assert (
        "- 2023-01-01 to 2025-01-01: My editor is Vim." in history or "since 2023-01-01: My editor is Vim." in history
    )
    assert (rows.splitlines()[0], len(rows.splitlines())) == ("c", 3)
    assert rows.splitlines()[2].startswith("More rows were left out")
    assert (truth, nothing) == ("true", "No row matches.\ns\n")
    assert "urn:memento:" in turtle
    assert f"from {memory.status().notes:,} notes" in status


DOUBLED = " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(17))


def test_an_answer_that_is_longer_than_a_model_reads_is_cut_at_a_row(memory: Memento, address: str) -> None:
    values = " ".join(f"'{n:03}'" for n in range(900))
    query = f"SELECT (CONCAT(?v, '{'ä' * 300}') AS ?x) {{ VALUES ?v {{ {values} }} }}"
    _, *rows, more = called(address, "auto", "memento_sparql", query=query, limit=1_000).splitlines()

    assert more.startswith("More rows were left out")
    assert 300 < len(rows) < 900
    assert rows == [f"{n:03}{'ä' * 300}" for n in range(len(rows))]


def test_one_row_that_is_longer_than_a_model_reads_is_refused(address: str) -> None:
    told = failed(address, "memento_sparql", query=f"SELECT ?x17 {{ BIND('01234567' AS ?x0) {DOUBLED} }}")

    assert "SUBSTR" in told


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memento_note", {"confirmed": True}, "needs the argument content"),
        ("memento_note", {"content": " ", "confirmed": True}, "content must not be empty"),
        ("memento_recall", {"query": "x", "k": 0}, "k must be from 1"),
        ("memento_recall", {"query": "x", "as_of": "yesterday"}, "as_of must be an ISO 8601 time"),
        ("memento_timeline", {"subject": "Nobody"}, "nothing in the namespace 'main' is called 'Nobody'"),
        ("memento_sparql", {"query": "DROP ALL"}, "quer"),
        ("memento_sparql", {"query": "SELECT"}, "line 1, column 7"),
    ],
)
def test_what_cannot_be_done_is_said_in_the_result(
    address: str, name: str, arguments: dict[str, object], told: str
) -> None:
    assert told in failed(address, name, **arguments)


def test_an_unexpected_failure_says_nothing_of_the_inside(
    memory: Memento, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("canary")

    monkeypatch.setitem(cast("dict[Any, Any]", HANDLERS), Status, broken)
    assert "canary" not in failed(address, "memento_status")

    def down(*_: object, **__: object) -> None:
        raise GraphError("the store refused")

    monkeypatch.setitem(cast("dict[Any, Any]", HANDLERS), Status, down)
    assert failed(address, "memento_status") == "the store refused"


@eras
def test_resources_and_prompts_have_live_counts(memory: Memento, address: str, era: Era) -> None:
    [iri] = memory.note(f"I work at {era.title()} Industries.").memories
    entity = memory.graphs.entities(limit=1)[0].iri

    async def read() -> tuple[str, str, str, str, str, str]:
        async with Client(f"{address}/mcp", mode=era) as client:

            async def at(uri: str) -> str:
                [content] = (await client.read_resource(uri)).contents
                assert isinstance(content, TextResourceContents)
                return content.text

            prompt = await client.get_prompt("memory_system_prompt")
            review = await client.get_prompt("review_memories", {"limit": "1"})
            return (
                await at("memento://manifest"),
                await at(f"memento://memory/{iri.rsplit(':', 1)[-1]}"),
                await at(f"memento://entity/{entity.rsplit(':', 1)[-1]}"),
                await at("memento://ontology"),
                str(prompt.messages[0].content),
                str(review.messages[0].content),
            )

    manifest, one, thing, ontology, prompt, review = anyio.run(read)
    counted = f"{memory.status().memories:,} memories"

    assert counted in manifest and counted in prompt
    assert not {"read_key", "Topology", "Most mentioned"} & set(re.findall(r"\w+", prompt))
    assert len(manifest) <= 2000
    assert json.loads(one)["iri"] == iri
    assert json.loads(thing)["type"] == "Entity"
    assert "mem:Memory" in ontology
    assert f"{era.title()} Industries" in review


@eras
def test_what_is_not_there_is_an_error_of_the_protocol(address: str, era: Era) -> None:
    async def ask() -> list[str]:
        async with Client(f"{address}/mcp", mode=era) as client:
            told = []
            for work in (
                lambda: client.read_resource("memento://memory/none"),
                lambda: client.read_resource("memento://nothing"),
                lambda: client.get_prompt("nothing"),
                lambda: client.get_prompt("review_memories", {"limit": "0"}),
                lambda: client.call_tool("nothing"),
            ):
                with pytest.raises(MCPError) as error:
                    await work()
                told.append(f"{error.value.error.code} {error.value}")
            return told

    found = anyio.run(ask)

    assert all(one.startswith("-32602") for one in found)
    assert "memento://manifest" in found[1] and "review_memories" in found[2] and "1 to 100" in found[3]


def test_a_client_that_shows_questions_is_asked_by_the_newer_era(memory: Memento, address: str) -> None:
    asked: list[str] = []
    before = memory.status().notes

    async def note(answer: Literal["accept", "decline", "cancel"], content: str) -> str:
        async def callback(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
            asked.append(params.message)
            return ElicitResult(action=answer, content={} if answer == "accept" else None)

        async with Client(f"{address}/mcp", elicitation_callback=callback) as client:
            return text_of(await client.call_tool("memento_note", {"content": content, "confirmed": False}))

    assert anyio.run(note, "decline", "I collect stamps.").startswith("The user said no")
    assert anyio.run(note, "cancel", "I collect stamps.").startswith("The user said no")
    assert memory.status().notes == before
    assert anyio.run(note, "accept", "I collect coins.").startswith("Noted: ")
    assert memory.status().notes == before + 1
    assert "I collect coins." in asked[-1]


def test_a_client_that_asks_by_itself_is_not_made_to_ask_twice(tmp_path: Path) -> None:
    opened = open_memento(tmp_path / "home", configured=replace(OFFLINE, mcp=McpSettings(confirmation="client")))
    assert isinstance(opened, Memento)
    with opened, serving(opened) as address:
        assert called(address, "auto", "memento_note", content="I collect stamps.").startswith("Noted: ")
        assert called(address, "legacy", "memento_note", content="I own a kayak.", confirmed=False).startswith(
            "Noted: "
        )
        [iri] = opened.note("I live in Oslo.").memories
        assert called(address, "auto", "memento_correct", id=iri, content="I live in Bergen.").startswith("Corrected: ")
        assert "ask" in called(address, "auto", "memento_forget", id=iri, erase=True)  # it cannot be undone
        assert called(address, "auto", "memento_forget", id=iri).startswith("Hidden")


def test_a_call_that_takes_long_shows_progress_to_the_newer_era(
    memory: Memento, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memento.interfaces.mcp.server.BEAT_S", 0.05)
    quick = HANDLERS[Status]

    def slow(operation: Status, context: Context) -> object:
        beaten.wait(60)
        return quick(operation, context)

    monkeypatch.setitem(cast("dict[Any, Any]", HANDLERS), Status, slow)
    beats: list[float] = []
    beaten = Event()

    async def call() -> None:
        async def beat(progress: float, total: float | None, message: str | None) -> None:
            beats.append(progress)
            if len(beats) == 2:
                beaten.set()

        async with Client(f"{address}/mcp") as client:
            await client.call_tool("memento_status", {}, progress_callback=beat)

    anyio.run(call)

    assert len(beats) >= 2
    assert beats == sorted(beats)


def test_a_subscriber_hears_of_a_note_and_fresh_lists_may_be_kept(address: str) -> None:
    async def listen() -> tuple[str, int | None]:
        async with (
            Client(f"{address}/mcp") as client,
            client.listen(resource_subscriptions=["memento://manifest"]) as events,
        ):
            await client.call_tool("memento_note", {"content": "I play the cello.", "confirmed": True})
            async for event in events:
                return str(getattr(event, "uri", "")), (await client.list_tools()).ttl_ms
        raise AssertionError("no event came")

    assert anyio.run(listen) == ("memento://manifest", catalogue.LISTS_TTL_MS)


def test_calls_may_come_all_at_once(memory: Memento, address: str) -> None:
    async def call() -> list[str]:
        texts: list[str] = []

        async with Client(f"{address}/mcp") as client, anyio.create_task_group() as tasks:

            async def one(number: int) -> None:
                content = f"Parcel {number} weighs {number} kilos."
                texts.append(text_of(await client.call_tool("memento_note", {"content": content, "confirmed": True})))

            for number in range(20):
                tasks.start_soon(one, number)
        return texts

    assert [text.partition(":")[0] for text in anyio.run(call)] == ["Noted"] * 20
    assert memory.admin.check() == ()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"X-Forwarded-For": "10.0.0.1"}, 401),
        ({"Authorization": "Bearer mem_wrong"}, 401),
        ({"MCP-Protocol-Version": "1999-01-01"}, 400),
    ],
)
def test_strangers_get_nothing(address: str, headers: dict[str, str], status: int) -> None:
    got, answer = posted(address, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **headers)

    assert got == status
    assert ("error" in answer) is (status != 200)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_session_to_open_or_to_end(address: str, method: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    connection.request(method, "/mcp", headers={"Accept": "text/event-stream"})
    response = connection.getresponse()
    connection.close()

    assert (response.status, response.headers["Allow"]) == (405, "POST")


def test_an_older_client_is_answered_in_json_and_without_a_session(address: str) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    status, answer = posted(address, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})

    assert status == 200
    assert answer["result"]["serverInfo"]["name"] == "memento"
    assert "memento_note" in answer["result"]["instructions"]


ROLES = {"nobody": None, "reader": "read", "writer": "write", "other": "write"}
TABLE: dict[str, tuple[Json, tuple[str, ...]]] = {
    "memento_note": ({"content": "I like tea.", "confirmed": True}, ("writer", "other")),
    "memento_recall": ({"query": "Where do I live?"}, ("reader", "writer", "other")),
    "memento_correct": ({"iri": "urn:memento:memory:none", "content": "I like tea.", "confirmed": True}, ()),
    "memento_forget": ({"iri": "{iri}", "confirmed": True}, ("writer",)),
    "memento_timeline": ({"subject": "me"}, ("reader", "writer", "other")),
    "memento_sparql": (
        {"query": "SELECT ?o { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"},
        ("reader", "writer", "other"),
    ),
    "memento_status": ({}, ("reader", "writer", "other")),
    "search": ({"query": "Where do I live?"}, ("reader", "writer", "other")),
    "fetch": ({"id": "{iri}"}, ("reader", "writer")),
}


def test_the_table_has_every_tool() -> None:
    assert set(TABLE) == set(catalogue.tools(("connectors",)))


def test_each_role_gets_what_it_may_and_nothing_of_another(memento: Memento) -> None:
    canary = "Quetzalcoatl"
    tokens: dict[str, str] = {}
    for role, right in ROLES.items():
        if right:
            tenant = "rival" if role == "other" else "local"
            tokens[role] = memento.tokens.create(role, tenant=tenant, namespaces=[], right=right, at=now())  # type: ignore[arg-type]
    memento.with_access(Access(tenant="rival", right="write")).note(f"I live in {canary}.")

    async def ask(address: str, role: str) -> dict[str, bool]:
        headers = {"Authorization": f"Bearer {tokens[role]}"} if role in tokens else {"X-Forwarded-For": "10.0.0.7"}
        done: dict[str, bool] = {}
        async with create_mcp_http_client(headers=headers) as http_client:
            try:
                async with Client(streamable_http_client(f"{address}/mcp", http_client=http_client)) as client:
                    for name, (arguments, _) in TABLE.items():
                        iri = parcels[name, role] if "{iri}" in arguments.values() else ""
                        given = {key: iri if value == "{iri}" else value for key, value in arguments.items()}
                        result = await client.call_tool(name, given)
                        assert role == "other" or canary not in text_of(result), (role, name)
                        done[name] = not result.is_error
            except* MCPError as refused:
                assert "takes a token" in str(refused.exceptions)  # not admitted at all
        return done

    told_apart = [(name, role) for name in ("memento_forget", "fetch") for role in ROLES]
    parcels = {
        (name, role): memento.note(f"Parcel {name} for {role} weighs a kilo.").memories[0] for name, role in told_apart
    }
    with serving(memento) as address:
        got = {role: anyio.run(ask, address, role) for role in ROLES}

    assert got == {
        role: {} if role == "nobody" else {name: role in allowed for name, (_, allowed) in TABLE.items()}
        for role in ROLES
    }


def test_the_namespace_comes_with_the_address_or_a_header(memory: Memento, address: str) -> None:
    memory.note("My boss is Ana.", namespace="work")

    async def recalled(url: str) -> str:
        async with Client(url) as client:
            return text_of(await client.call_tool("memento_status"))

    assert "Namespace work:" in anyio.run(recalled, f"{address}/mcp?namespace=work")
    assert "Namespace main:" in anyio.run(recalled, f"{address}/mcp")


def test_connectors_find_search_and_fetch_when_they_are_switched_on(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMENTO_TOOLS", "connectors")
    memento.note("I live in Lisbon.")

    async def connect(address: str) -> tuple[list[str], Json]:
        async with Client(f"{address}/mcp") as client:
            names = [one.name for one in (await client.list_tools()).tools]
            hits = json.loads(text_of(await client.call_tool("search", {"query": "Where do I live?"})))
            [hit, *_] = hits["results"]
            return names, json.loads(text_of(await client.call_tool("fetch", {"id": hit["id"]})))

    with serving(memento) as address:
        names, document = anyio.run(connect, address)

    assert names[-2:] == ["search", "fetch"]
    assert document["title"] == "I live in Lisbon."
    assert document["text"].endswith("From the note: I live in Lisbon.")
    assert document["url"].startswith("memento://memory/")
