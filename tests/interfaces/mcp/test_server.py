"""MCP over HTTP by the official client, in both eras of the protocol."""

from __future__ import annotations

import http.client
import json
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
from memento.operations.care import Status
from memento.python import Memento, open_memento
from memento.service import HANDLERS, Context
from memento.settings import McpSettings
from memento.time import now

Era = Literal["auto", "legacy"]
eras = pytest.mark.parametrize("era", ["auto", "legacy"])
Json = dict[str, Any]


def called(address: str, era: Era, name: str, **arguments: object) -> tuple[str, Json]:
    """The text and the structured content of a call that works."""

    async def call() -> tuple[str, Json]:
        async with Client(f"{address}/mcp", mode=era) as client:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, text_of(result)
            assert result.structured_content is not None
            return text_of(result), result.structured_content

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
        "templates": ["memento://memory/{id}", "memento://entity/{id}", "memento://page/{name}"],
        "prompts": ["memory_system_prompt", "review_memories"],
    }


@eras
def test_a_note_that_is_not_confirmed_is_shown_and_not_stored(memory: Memento, address: str, era: Era) -> None:
    before = memory.status().notes
    text, answer = called(address, era, "memento_note", content="I own a yacht.", confirmed=False)

    assert answer["status"] == "unconfirmed"
    assert "I own a yacht." in text and "confirmed=true" in text
    assert memory.status().notes == before


@eras
def test_a_confirmed_note_is_stored_and_recalled_with_its_source(memory: Memento, address: str, era: Era) -> None:
    town = {"auto": "Lisbon", "legacy": "Porto"}[era]
    text, answer = called(address, era, "memento_note", content=f"I live in {town}.", confirmed=True, at="2024-02-01")
    again, _ = called(address, era, "memento_note", content=f"I live in {town}.", confirmed=True)
    found, recalled = called(address, era, "memento_recall", query="Where do I live?", k=1)

    assert text == "Noted."
    assert again.startswith("Skipped: ")
    assert recalled["memories"][0]["iri"] == answer["memories"][0]
    assert recalled["memories"][0]["note"]["content"] == f"I live in {town}."
    assert recalled["memories"][0]["valid_at"].startswith("2024-02-01")
    # Both towns were told for one instant, so the later one says that they contradict each other.
    against = "; contradicted by “I live in Lisbon.”" if town == "Porto" else ""
    assert found == f"- I live in {town}. (since 2024-02-01{against}) {answer['memories'][0]}"


@eras
def test_forgetting_shows_what_would_go_and_waits(memory: Memento, address: str, era: Era) -> None:
    [iri] = memory.note(f"My password hint is {era}.").memories
    asked, unconfirmed = called(address, era, "memento_forget", iri=iri, confirmed=False)
    memory.get(iri)
    done, gone = called(address, era, "memento_forget", iri=iri, confirmed=True, erase=True)

    assert era in asked and unconfirmed["status"] == "unconfirmed"
    assert (done, gone["status"], gone["retired"]) == ("Erased.", "erased", [iri])
    assert "nothing is known" in failed(address, "memento_forget", iri=iri, confirmed=False)


def test_the_timeline_sparql_and_status_answer(memory: Memento, address: str) -> None:
    memory.note("My editor is Vim.", at="2023-01-01")
    memory.note("My editor is Zed.", at="2025-01-01")
    _, history = called(address, "auto", "memento_timeline", subject="me", as_of="2024-01-01")
    _, rows = called(
        address, "auto", "memento_sparql", query="SELECT ?c { ?m <http://purl.org/memento/content> ?c }", limit=1
    )
    _, truth = called(address, "auto", "memento_sparql", query="ASK { ?s ?p ?o }")
    _, turtle = called(address, "auto", "memento_sparql", query="CONSTRUCT { ?s a ?o } { ?s a ?o } LIMIT 1")
    _, status = called(address, "auto", "memento_status")

    assert any("Vim" in one["content"] for one in history["memories"])
    assert (rows["kind"], rows["columns"], len(rows["rows"]), rows["more"]) == ("rows", ["c"], 1, True)
    assert truth["truth"] is True
    assert "urn:memento:" in turtle["turtle"]
    assert status["notes"] == memory.status().notes


DOUBLED = " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(17))


def test_an_answer_that_is_longer_than_a_model_reads_is_cut_at_a_row(memory: Memento, address: str) -> None:
    values = " ".join(f"'{n:03}'" for n in range(900))
    query = f"SELECT (CONCAT(?v, '{'ä' * 300}') AS ?x) {{ VALUES ?v {{ {values} }} }}"
    _, rows = called(address, "auto", "memento_sparql", query=query, limit=1_000)

    assert rows["more"] is True
    assert 300 < len(rows["rows"]) < 900
    assert rows["rows"] == [[f"{n:03}{'ä' * 300}"] for n in range(len(rows["rows"]))]


def test_one_row_that_is_longer_than_a_model_reads_is_refused(address: str) -> None:
    told = failed(address, "memento_sparql", query=f"SELECT ?x17 {{ BIND('01234567' AS ?x0) {DOUBLED} }}")

    assert "SUBSTR" in told


def test_a_correction_replaces_what_was_never_true(memory: Memento, address: str) -> None:
    [iri] = memory.note("My sister is called Anna.").memories
    text, answer = called(address, "auto", "memento_correct", iri=iri, content="USER's sister is called Hannah.")

    assert (text, answer["status"], answer["retired"]) == ("Corrected.", "corrected", [iri])


def test_a_note_may_return_before_it_is_understood(memory: Memento, address: str) -> None:
    text, answer = called(address, "auto", "memento_note", content="I own a kayak.", confirmed=True, wait=False)

    assert (text, answer["status"]) == ("Noted.", "pending")
    assert memory.note_status(answer["note"]).state in ("pending", "consolidated")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memento_note", {"content": "x"}, "needs the argument confirmed"),
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
    entity = memory.entities(limit=1)[0].iri

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
    assert anyio.run(note, "accept", "I collect coins.") == "Noted."
    assert memory.status().notes == before + 1
    assert "I collect coins." in asked[-1]


def test_a_client_that_asks_by_itself_is_not_made_to_ask_twice(tmp_path: Path) -> None:
    opened = open_memento(tmp_path / "home", configured=replace(OFFLINE, mcp=McpSettings(confirmation="client")))
    assert isinstance(opened, Memento)
    with opened, serving(opened) as address:
        assert called(address, "auto", "memento_note", content="I collect stamps.")[0] == "Noted."
        assert called(address, "legacy", "memento_note", content="I own a kayak.", confirmed=False)[0] == "Noted."
        [iri] = opened.note("I live in Oslo.").memories
        assert called(address, "auto", "memento_forget", iri=iri, confirmed=False)[1]["status"] == "unconfirmed"


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

    assert anyio.run(call) == ["Noted."] * 20
    assert memory.check() == ()


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
    "memento_correct": ({"iri": "urn:memento:memory:none", "content": "USER likes tea."}, ()),
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

    assert '"namespace": "work"' in anyio.run(recalled, f"{address}/mcp?namespace=work")
    assert '"namespace": "main"' in anyio.run(recalled, f"{address}/mcp")


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
