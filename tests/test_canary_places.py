"""
A canary in every kind of place, and every operation of the table asked for it by every kind of narrow token: none sings.

A canary is a word that stands in one kind of place of the namespace `private` alone. Each token is for another namespace, or of
another tenant. A word that only comes back because the asking token has sent it does not count. A new operation is asked as soon as
it is declared: it needs a call in `operations/samples.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceTemplateReference

from conftest import OFFLINE
from memento.access import Access
from memento.codec import plain
from memento.errors import MementoError
from memento.interfaces.web.pages import OWN
from memento.iris import IRI, MEM, TYPE, branch_iri, data_iri, graph_iri
from memento.model import CapturedTurn, Change, NoteRow, ToolCall
from memento.operations import TABLE, Operation
from memento.plugins.cases.nouns import CaseRow
from memento.python import Client, Memento
from memento.settings import CaptureSettings
from memento.time import now
from operations.samples import CALLS, Sample, make_sample
from proxied import in_front_of
from upstream import Upstream

PLACES = (
    *(
        "memory",
        "note",
        "profile",
        "entity",
        "alias",
        "description",
        "receipt",
        "event",
        "session",
        "title",
        "summary",
        "turn",
    ),
    *("case", "plan", "step", "key", "rendered", "policy", "proposal", "file", "document", "branch"),
    *("archived", "forgotten", "corrected", "tag", "container", "source", "graph", "graphname", "token", "backup"),
    *("association", "property", "imported"),
)
CANARIES: Mapping[str, str] = {place: f"Xq{place}zorb" for place in PLACES}
GRAPH = data_iri("local", CANARIES["graphname"])

TOKENS: Mapping[str, Access] = {
    "read": Access(namespaces=("work",), right="read", name="read"),
    "write": Access(namespaces=("work",), right="write", name="write"),
    "admin": Access(namespaces=("work",), right="admin", name="admin"),
    "another tenant": Access(tenant="rival", right="admin", name="another tenant"),
    "read with a graph": Access(namespaces=("work",), right="read", name="read with a graph", graphs=("company",)),
}


@dataclass
class World:
    """A memory that serves, what is in its namespaces, and what the tokens were told."""

    memento: Memento
    address: str
    folder: Path
    upstream: Upstream
    own: Sample
    foreign: Sample
    tokens: Mapping[str, str]
    calls: int = 0
    leaks: list[str] = field(default_factory=list)

    def judge(self, who: str, what: str, sent: object, told: str) -> None:
        """Count a call, and what came out that the token has not sent."""
        self.calls += 1
        known, heard = repr(sent).casefold(), told.casefold()
        for place, word in CANARIES.items():
            if word.casefold() in heard and word.casefold() not in known:
                self.leaks.append(f"{who}: {what}: {place}")

    def conclude(self, what: str, before: int) -> None:
        """Assert that nothing leaked, and print how much was asked."""
        said = f"{what}: {self.calls - before} calls, {len(self.leaks)} leaks"
        sys.stdout.write(f"{said}\n")
        assert self.calls > before, said
        assert self.leaks == [], f"{said}: {self.leaks[:20]}"


def plant(memento: Memento, folder: Path) -> None:
    """Put a canary into every kind of place of the namespace `private`, as the owner."""
    n, c = "private", CANARIES
    memento.note(f"My doctor is Ana {c['entity']}.", namespace=n)
    kept = memento.keys.remember(f"The {c['memory']} is in the safe.", [c["key"]], namespace=n)
    memento.note(f"I noted {c['note']}.", idempotency_key=c["receipt"], namespace=n)
    memento.note(f"I meet {c['event']} on 3 May 2031 in Rome.", namespace=n)
    memento.intake.import_notes(
        [NoteRow(content=f"I said {c['turn']}.", speaker="Mel", session=c["session"], title=c["title"], position=0)],
        namespace=n,
    )
    memento.sessions.start(c["session"], namespace=n)
    memento.note(f"I counted {c['summary']} sheep.", session="evening", namespace=n)
    memento.sessions.summarize("evening", namespace=n)
    memento.cases.add([CaseRow(task=f"Do {c['case']}.", plan=f"Take {c['plan']}.", reward=1.0)], namespace=n)
    run = memento.cases.start("Move to Turin.", plan="Ask.", namespace=n)
    memento.cases.record_step(
        run.iri, f"Try {c['step']}.", tools=[ToolCall(tool="t", arguments="{}", result="r")], namespace=n
    )
    memento.living.set_policy(c["policy"], f'(recall "{c["policy"]}")', namespace=n)
    memento.intake.capture("talk", [CapturedTurn(role="user", text=f"I like {c['proposal']}.")], namespace=n)
    memento.intake.memory_file("create", path="/memories/x.txt", file_text=f"- USER likes {c['file']}\n", namespace=n)
    (folder / "secret.md").write_text(f"# {c['document']}\n\nIt is about {c['document']}.")
    memento.intake.ingest(str(folder / "secret.md"), namespace=n)
    gone = memento.keys.remember(f"Once {c['forgotten']} was here.", ["gone"], namespace=n)
    memento.forget(gone.saved, namespace=n)
    wrong = memento.keys.remember(f"{c['corrected']} is blue.", ["colour"], namespace=n)
    memento.correct(wrong.saved, f"{c['corrected']} is red.", namespace=n)
    memento.keys.remember(
        f"Put {c['archived']} away.",
        ["away"],
        tags=[c["tag"]],
        container=c["container"],
        source=c["source"],
        namespace=n,
    )
    memento.intake.import_notes([NoteRow(content=f"I imported {c['imported']}.")], namespace=n)
    memento.graphs.put(f"<urn:a> <urn:b> '{c['graph']}' .".encode(), GRAPH)
    memento.tokens.create(c["token"], tenant="local", namespaces=[n], right="read", at=now())
    private, entity = graph_iri("local", n), IRI("urn:memento:entity:00000000-0000-7000-8000-000000000001")
    other = memento.keys.remember("The safe is grey.", ["safe"], namespace=n)
    memento.living.associate(kept.saved, other.saved, relation=c["association"], namespace=n)
    memento.service.stores.graph.apply(
        Change(
            (
                (entity, TYPE, MEM.Entity, private),
                (entity, MEM.name, "Bo Lind", private),
                (entity, MEM.alias, c["alias"], private),
                (entity, MEM.description, f"A friend of {c['description']}.", private),
                (entity, IRI("urn:my:property"), c["property"], private),
                (IRI("urn:memento:profile:x"), MEM.rendered, f"It says {c['rendered']}.", private),
                (IRI("urn:memento:profile:x"), TYPE, MEM.Profile, private),
                (IRI("urn:memento:profile:x"), MEM.rendered, f"USER is {c['profile']}.", private),
                (entity, MEM.name, c["branch"], branch_iri("local", n)),
            )
        )
    )
    memento.admin.backup(str(folder / c["backup"]))
    memento.admin.rebuild()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("places")
    (folder / "document.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    settings = replace(OFFLINE, capture=CaptureSettings(mode="propose"))
    with Upstream() as upstream, in_front_of(upstream, folder / "home", settings=settings) as proxied:
        memento = proxied.memento
        plant(memento, folder)
        memento.graphs.put(b"<urn:acme> <urn:seat> 'Zug' .", data_iri("local", "company"))
        tokens = {
            name: memento.tokens.create(
                one.name, tenant=one.tenant, namespaces=one.namespaces, right=one.right, at=now(), graphs=one.graphs
            )
            for name, one in TOKENS.items()
        }
        own = make_sample(memento, "work", folder)
        foreign = make_sample(memento, "private", folder)
        yield World(memento, proxied.url, folder, upstream, own, foreign, tokens)


def list_unasked(table: Mapping[str, type[Operation[Any]]]) -> list[str]:
    """The operations of a table that no token can be tried with."""
    return [name for name, operation in table.items() if operation not in CALLS]


class CountLetters(Operation[int], frozen=True):
    """Count letters: an operation that was declared a moment ago."""


def test_every_declared_operation_is_asked_and_one_without_a_call_fails() -> None:
    assert list_unasked(TABLE) == [], "add a call to operations/samples.py"
    assert list_unasked({**TABLE, "count_letters": CountLetters}) == ["count_letters"]


def test_every_canary_is_where_the_owner_finds_it(world: World) -> None:
    memento = world.memento
    world.memento.export(world.folder / "all.trig", audit=True)
    branches = memento.graphs.query_bytes("SELECT * { GRAPH ?g { ?s ?p ?o } }", "text/csv")[0].decode()
    found = [
        (world.folder / "all.trig").read_text(encoding="utf-8"),
        branches,
        repr(
            (memento.admin.list_tokens(), memento.intake.proposals(namespace="private"), list(world.folder.iterdir()))
        ),
    ]
    told = " ".join(found).casefold()
    assert [place for place, word in CANARIES.items() if word.casefold() not in told] == []


def answer_of(memory: Memento | Client, asked: Operation[Any], folder: Path) -> str:
    """Everything that a caller is told, the file of an export included."""
    for file in folder.glob("*.trig"):
        file.unlink()
    try:
        answer = memory.call(asked)
        told = repr(answer if isinstance(answer, bytes | tuple) else plain(answer))
    except MementoError as error:
        told = f"{error} {getattr(error, 'report', '')}"
    return told + "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.trig"))


def test_the_same_operations_tell_the_owner_of_nearly_every_place(world: World) -> None:
    told = " ".join(
        answer_of(world.memento, CALLS[operation](world.foreign, "private"), world.folder)
        for operation in TABLE.values()
        if operation.right == "read" or operation is TABLE["list_tokens"]
    )
    rows, _ = world.memento.graphs.query_bytes(f"SELECT * {EVERYTHING}", "text/csv", namespace="private")
    told = f"{told} {rows.decode()}".casefold()
    unheard = [place for place, word in CANARIES.items() if word.casefold() not in told]

    assert set(unheard) <= {"backup"}  # the name of a folder, which no operation lists


@pytest.mark.parametrize("who", TOKENS)
def test_no_operation_tells_a_canary_over_http(world: World, who: str) -> None:
    before = world.calls
    client = Client(world.address, token=world.tokens[who])
    usual = "work" if TOKENS[who].namespaces else "main"
    for name in sorted(TABLE):
        for sample, namespace in ((world.own, usual), (world.foreign, usual), (world.foreign, "private")):
            asked = CALLS[TABLE[name]](sample, namespace)
            world.judge(who, f"{name} in {namespace}", asked, answer_of(client, asked, world.folder))
    world.conclude(f"operations over HTTP, token {who}", before)


@pytest.mark.parametrize("who", TOKENS)
def test_no_operation_tells_a_canary_in_this_process(world: World, who: str) -> None:
    before = world.calls
    reader = world.memento.with_access(TOKENS[who])
    usual = "work" if TOKENS[who].namespaces else "main"
    for name in sorted(TABLE):
        for sample in (world.own, world.foreign):
            asked = CALLS[TABLE[name]](sample, usual)
            world.judge(who, f"{name} of {sample.namespace}", asked, answer_of(reader, asked, world.folder))
    world.conclude(f"operations in this process, token {who}", before)


EVERYTHING = "{ { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
PRIVATE = graph_iri("local", "private")


def forms(graph: str) -> Iterator[str]:
    """Queries in every form, which name a graph and do not."""
    yield from (f"SELECT * {EVERYTHING}", f"CONSTRUCT {{ ?s ?p ?o }} {EVERYTHING}".replace("} {", "} WHERE {", 1))
    yield from (
        "SELECT DISTINCT ?g { GRAPH ?g {} }",
        "SELECT (COUNT(*) AS ?n) ?g { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g",
    )
    yield from (
        f"SELECT * FROM <{graph}> {{ ?s ?p ?o }}",
        f"SELECT * FROM NAMED <{graph}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    )
    yield from (f"SELECT * {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}", f"DESCRIBE ?s {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}")
    yield "DESCRIBE <urn:a> <urn:memento:user:local>"
    for service in ("mem:search", "mem:asOf"):
        yield f"PREFIX mem: <{MEM.base}> SELECT * {{ SERVICE {service} {{ ?m mem:matches 'safe doctor' }} ?m ?p ?o }}"


@pytest.mark.parametrize("who", TOKENS)
def test_no_form_of_sparql_nor_of_the_graph_store_tells_a_canary(world: World, who: str) -> None:
    before = world.calls
    headers = {"Authorization": f"Bearer {world.tokens[who]}"}
    with httpx2.Client(base_url=world.address, headers=headers, timeout=60) as client:
        for graph in (PRIVATE, GRAPH, data_iri("local", "nothing"), branch_iri("local", "private")):
            for query in forms(graph):
                for fields in ({}, {"default-graph-uri": graph}, {"named-graph-uri": graph}):
                    for accept in ("text/csv, text/turtle", "application/sparql-results+xml, application/ld+json"):
                        sent = {"query": query, **fields}
                        told = client.post("/sparql", data=sent, headers={"Accept": accept}).text
                        world.judge(who, query, sent, told)
            for verb in ("GET", "HEAD"):
                path = f"/sparql/graphs?graph={quote(graph, safe='')}"
                world.judge(who, f"{verb} {path}", (path, graph), client.request(verb, path).text)
            insert = f"INSERT {{ <urn:n> <urn:got> ?o }} USING <{graph}> WHERE {{ ?s ?p ?o }}"
            for update in (insert, f"COPY <{graph}> TO <{graph_iri('local', 'work')}>", f"CREATE GRAPH <{graph}>"):
                told = client.post("/sparql/update", data={"update": update}).text
                world.judge(who, update, (update, graph), told)
        for path in ("/sparql", "/.well-known/void", "/sparql/graphs?default", "/metrics", "/health", "/health/ready"):
            world.judge(who, path, path, client.get(path).text)
    world.conclude(f"SPARQL and graph store, token {who}", before)


@pytest.mark.parametrize("who", TOKENS)
def test_no_page_tells_a_canary(world: World, who: str) -> None:
    before = world.calls
    headers = {"Authorization": f"Bearer {world.tokens[who]}", "Accept": "text/html"}
    iris = [world.foreign.memory, world.foreign.note, world.foreign.plugged["key"], world.own.memory]
    with httpx2.Client(base_url=world.address, headers=headers, timeout=60) as client:
        paths = ["/", "/memory", "/cases", "/graph/data?q=safe", *OWN, f"/cases/{world.foreign.plugged['case']}"]
        paths += ["/search?q=safe+doctor", "/memory?past=true", "/memory?entity=Bo+Lind", "/timeline?subject=Bo+Lind"]
        paths += [f"/memory/{iri}" for iri in iris] + [f"/graph/data?node={iri}" for iri in iris]
        paths += ["/memory/openapi.json", "/context.jsonld", "/ontology", "/nothing/x"]
        for form in ("trig", "nquads", "turtle", "jsonld", "jsonl", "json", "csv", "markdown"):
            paths += [f"/memory/export?format={form}", f"/memory/export?format={form}&namespace=private"]
        for path in paths:
            for extra in ({}, {"HX-Request": "true"}, {"Memento-Namespace": "private"}):
                answer = client.get(path, headers=extra)
                world.judge(who, path, path, f"{answer.headers} {answer.text}")
    world.conclude(f"pages and exports, token {who}", before)


def arguments_of(schema: Mapping[str, Any], iri: str) -> dict[str, object]:
    """Arguments for a tool: an IRI where one is wanted, a question else."""
    given: dict[str, object] = {}
    for name, one in schema.get("properties", {}).items():
        kind = one.get("type")
        if name == "namespace" or (name not in schema.get("required", ()) and name != "confirmed"):
            continue
        if "enum" in one:
            given[name] = one["enum"][0]
        elif kind in ("integer", "number"):
            given[name] = one.get("minimum", 1)
        elif kind == "boolean":
            given[name] = True
        elif kind == "array":
            given[name] = [iri]
        elif kind == "object":
            given[name] = {}
        else:
            is_text = name in ("query", "question", "content", "text", "task", "expression", "session", "name")
            given[name] = "safe doctor" if is_text else iri
    return given


@pytest.mark.parametrize("who", TOKENS)
def test_no_tool_resource_prompt_or_completion_tells_a_canary(world: World, who: str) -> None:
    before = world.calls

    async def told(ask: Callable[[], Any]) -> str:
        try:
            return repr(await ask())
        except MCPError as error:
            return str(error)

    async def ask() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {world.tokens[who]}"}) as http_client,
            McpClient(streamable_http_client(f"{world.address}/mcp", http_client=http_client)) as client,
        ):
            tools = (await client.list_tools()).tools
            for tool in tools:
                world.judge(who, f"tool {tool.name}", "", repr(tool))
                for iri in (world.foreign.memory, world.foreign.plugged["key"], world.own.memory):
                    sent = arguments_of(tool.input_schema, iri)
                    call = await told(partial(client.call_tool, tool.name, sent))
                    world.judge(who, f"tool {tool.name} {json.dumps(sent)}", sent, call)
            for query in forms(PRIVATE):
                call = await told(partial(client.call_tool, "memento_sparql", {"query": query}))
                world.judge(who, query, query, call)
            resources = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            world.judge(who, "lists", "", repr((resources, templates)))
            uris = [str(one.uri) for one in resources]
            for template in templates:
                head = template.uri_template.partition("{")[0]
                uris += [head + iri for iri in (world.foreign.memory, world.foreign.note, "private", "evening")]
                name = template.uri_template.partition("{")[2].partition("}")[0].lstrip("+?/")
                for start in ("", "X", "Xq", "xq", "e", "urn:memento:"):
                    reference = ResourceTemplateReference(uri=template.uri_template)
                    call = await told(partial(client.complete, reference, {"name": name, "value": start}))
                    world.judge(who, f"completion {name} {start}", start, call)
            for uri in uris:
                world.judge(who, uri, uri, await told(partial(client.read_resource, uri)))
            for prompt in (await client.list_prompts()).prompts:
                needed = {one.name: "safe" for one in prompt.arguments or () if one.required}
                call = await told(partial(client.get_prompt, prompt.name, needed))
                world.judge(who, f"prompt {prompt.name}", needed, call)

    anyio.run(ask)
    world.conclude(f"MCP, token {who}", before)


@pytest.mark.parametrize("who", TOKENS)
def test_the_proxy_puts_no_canary_into_a_chat(world: World, who: str) -> None:
    before, received = world.calls, len(world.upstream.requests)
    headers = {"Authorization": "Bearer sk-provider", "X-Memento-Token": world.tokens[who]}
    with httpx2.Client(base_url=world.address, headers=headers, timeout=60) as client:
        for question in (
            "Who is my doctor?",
            "What is in the safe?",
            "What did I say in the evening?",
            "Who is Bo Lind?",
        ):
            for extra in ({}, {"x-memento-namespace": "private"}):
                body = {"model": "plain", "messages": [{"role": "user", "content": question}]}
                answer = client.post("/v1/chat/completions", json=body, headers=extra)
                world.judge(who, f"chat {question}", body, f"{answer.headers} {answer.text}")
        for request in world.upstream.requests[received:]:
            world.judge(who, "what the provider got", "", repr((request.headers, request.body)))
    world.conclude(f"proxy, token {who}", before)


def test_the_calls_are_counted(world: World) -> None:
    sys.stdout.write(f"canary: {world.calls} calls, {len(world.leaks)} leaks\n")
    assert world.leaks == [], f"{world.calls} calls: {world.leaks[:20]}"
