"""A token for some namespaces reads and writes the free graphs that it names, and of the others not even that they exist."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from conftest import OFFLINE
from memento.access import Access, Tokens
from memento.errors import Forbidden, InputError, MementoError, NotFound
from memento.interfaces.cli import main
from memento.interfaces.web.app import create_app
from memento.iris import data_iri, inferred_iri
from memento.plugins.living.sexpr.forms import print_form
from memento.python import Memento, open_memento
from memento.time import now

OPEN, SHUT, ABSENT, MINE = (data_iri("local", name) for name in ("company", "salaries", "nothing", "mine"))
CANARY = "Xylocarp"
NARROW = Access(namespaces=("work",), right="write", name="narrow", graphs=("company",))
AXIOM = (
    "<http://purl.org/memento/name> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> "
    f"<http://example.org/{CANARY}> ."
)


@pytest.fixture(scope="module")
def memento(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    opened = open_memento(tmp_path_factory.mktemp("graphs"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        opened.note("My sister is Maria Silva.", namespace="work")
        opened.graphs.put(b"<urn:acme> <urn:seat> 'Zug' .", OPEN)
        opened.graphs.put(f"<urn:acme> <urn:{CANARY}> '{CANARY}' . {AXIOM}".encode(), SHUT)
        yield opened


@pytest.fixture
def narrow(memento: Memento) -> Memento:
    return memento.with_access(NARROW)


def csv(
    memento: Memento,
    sparql: str,
    default_graphs: Sequence[str] | None = None,
    named_graphs: Sequence[str] | None = None,
) -> str:
    accept = "text/csv, application/n-triples"
    return memento.graphs.query_bytes(sparql, accept, default_graphs=default_graphs, named_graphs=named_graphs)[
        0
    ].decode()


EVERYTHING = "SELECT * WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
READS: Mapping[str, Callable[[Memento], str]] = {
    "the default dataset": lambda memory: csv(memory, "SELECT * { ?s ?p ?o }"),
    "GRAPH of a variable": lambda memory: csv(memory, EVERYTHING),
    "GRAPH of a name": lambda memory: csv(memory, f"SELECT * {{ GRAPH <{SHUT}> {{ ?s ?p ?o }} }}"),
    "the graphs": lambda memory: csv(memory, "SELECT DISTINCT ?g { GRAPH ?g {} }"),
    "FROM": lambda memory: csv(memory, f"SELECT * FROM <{SHUT}> {{ ?s ?p ?o }}"),
    "FROM NAMED": lambda memory: csv(memory, f"SELECT * FROM NAMED <{SHUT}> {{ GRAPH ?g {{ ?s ?p ?o }} }}"),
    "default-graph-uri": lambda memory: csv(memory, EVERYTHING, default_graphs=[SHUT], named_graphs=[]),
    "named-graph-uri": lambda memory: csv(memory, EVERYTHING, default_graphs=[], named_graphs=[SHUT]),
    "a path": lambda memory: csv(memory, "SELECT * { <urn:acme> (<urn:no>|!<urn:no>)+ ?o }"),
    "DESCRIBE": lambda memory: csv(memory, "DESCRIBE <urn:acme>"),
    "a search": lambda memory: csv(
        memory,
        "PREFIX mem: <http://purl.org/memento/> SELECT * { SERVICE mem:search { ?m mem:matches 'acme' } GRAPH ?g { ?s ?p ?o } }",
    ),
    "the graph store": lambda memory: memory.graphs.get(SHUT)[0].decode(),
    "an expression": lambda memory: memory.living.evaluate(f"(sparql {print_form(EVERYTHING)})").text,
    "inferences": lambda memory: csv(
        memory, f"SELECT * {{ GRAPH <{inferred_iri('local', 'work', alone=True)}> {{ ?s ?p ?o }} }}"
    ),
    "recall": lambda memory: repr(memory.recall("What is acme?", gate=False)),
    "status": lambda memory: repr((memory.status(), memory.graphs.infer(), memory.keys.memory_stats())),
}


@pytest.mark.parametrize("way", READS)
def test_a_graph_that_the_token_does_not_name_is_read_in_no_way(narrow: Memento, way: str) -> None:
    try:
        told = READS[way](narrow)
    except MementoError as error:
        told = str(error)
    assert CANARY not in told
    assert SHUT not in told or way in ("FROM", "FROM NAMED", "the graph store")  # which repeat the name that was sent


@pytest.mark.parametrize("way", ["GRAPH of a variable", "the graph store", "FROM", "the graphs"])
def test_the_owner_and_a_token_for_all_namespaces_read_every_graph(memento: Memento, way: str) -> None:
    for whole in (memento, memento.with_access(Access(right="read", name="whole"))):
        assert (CANARY if way != "the graphs" else SHUT) in READS[way](whole)


@pytest.mark.parametrize("verb", ["get_graph", "query"])
def test_a_graph_that_the_token_names_is_read(narrow: Memento, verb: str) -> None:
    if verb == "get_graph":
        assert "Zug" in narrow.graphs.get(OPEN)[0].decode()
    else:
        assert "Zug" in csv(narrow, EVERYTHING) and "Zug" in csv(narrow, f"SELECT * FROM <{OPEN}> {{ ?s ?p ?o }}")


WRITES: Mapping[str, Callable[[Memento, str], object]] = {
    "INSERT DATA": lambda memory, graph: memory.graphs.update(
        f"INSERT DATA {{ GRAPH <{graph}> {{ <urn:a> <urn:b> 1 }} }}"
    ),
    "WITH": lambda memory, graph: memory.graphs.update(f"WITH <{graph}> INSERT {{ <urn:a> <urn:b> 1 }} WHERE {{}}"),
    "DELETE WHERE": lambda memory, graph: memory.graphs.update(f"DELETE WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"),
    "CLEAR": lambda memory, graph: memory.graphs.update(f"CLEAR GRAPH <{graph}>"),
    "CLEAR SILENT": lambda memory, graph: memory.graphs.update(f"CLEAR SILENT GRAPH <{graph}>"),
    "CREATE": lambda memory, graph: memory.graphs.update(f"CREATE GRAPH <{graph}>"),
    "a variable": lambda memory, graph: memory.graphs.update(
        f"INSERT {{ GRAPH ?g {{ <urn:a> <urn:b> 1 }} }} WHERE {{ BIND(<{graph}> AS ?g) }}"
    ),
    "PUT": lambda memory, graph: memory.graphs.put(b"<urn:a> <urn:b> 1 .", graph),
    "POST": lambda memory, graph: memory.graphs.post(b"<urn:a> <urn:b> 1 .", graph),
    "PATCH": lambda memory, graph: memory.graphs.patch("INSERT DATA { <urn:a> <urn:b> 1 }", graph),
    "DELETE": lambda memory, graph: memory.graphs.delete(graph),
}


def outcome(ask: Callable[[Memento, str], object], memory: Memento, graph: str) -> str:
    """What a caller is told, without the name that it sent."""
    try:
        said: object = ask(memory, graph)
    except MementoError as error:
        said = f"{type(error).__name__} {error}"
    return str(said).replace(graph, "GRAPH")


@pytest.mark.parametrize("way", WRITES)
def test_a_write_to_a_graph_that_is_hidden_or_absent_or_only_read_is_refused_alike(
    memento: Memento, narrow: Memento, way: str
) -> None:
    before = csv(memento, EVERYTHING)
    said = [outcome(WRITES[way], narrow, graph) for graph in (SHUT, ABSENT, OPEN)]

    assert said[0] == said[1] and said[2].startswith("Forbidden")
    assert said[0].startswith("Forbidden") or way == "DELETE WHERE"  # which finds nothing to delete
    assert csv(memento, EVERYTHING) == before


@pytest.mark.parametrize("way", ["FROM", "the graph store"])
def test_an_error_does_not_tell_a_hidden_graph_from_an_absent_one(narrow: Memento, way: str) -> None:
    ways: Mapping[str, Callable[[Memento, str], object]] = {
        "FROM": lambda memory, graph: memory.query(f"SELECT * FROM <{graph}> {{ ?s ?p ?o }}"),
        "the graph store": lambda memory, graph: memory.graphs.get(graph),
    }
    said = outcome(ways[way], narrow, SHUT)

    assert said.startswith("Forbidden") and said == outcome(ways[way], narrow, ABSENT)


INTO = f"INSERT {{ GRAPH <{MINE}> {{ <urn:n> <urn:got> ?o }} }}"


@pytest.mark.parametrize(
    "update",
    [
        f"{INTO} WHERE {{ <urn:acme> ?p ?o }}",
        f"{INTO} WHERE {{ GRAPH ?g {{ <urn:acme> ?p ?o }} }}",
        f"{INTO} WHERE {{ GRAPH <{SHUT}> {{ <urn:acme> ?p ?o }} }}",
        f"{INTO} USING <{SHUT}> WHERE {{ ?s ?p ?o }}",
        f"{INTO} USING NAMED <{SHUT}> WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}",
        f"COPY <{SHUT}> TO <{MINE}>",
        f"ADD <{SHUT}> TO <{MINE}>",
        f"MOVE SILENT <{SHUT}> TO <{MINE}>",
    ],
)
def test_an_update_reads_only_graphs_that_the_token_names(memento: Memento, update: str) -> None:
    mine = memento.with_access(
        Access(namespaces=("work",), right="write", name="narrow", graphs=("company", "mine:write"))
    )
    with suppress(Forbidden):
        mine.graphs.update(update)
    with suppress(Forbidden):
        mine.graphs.update(f"{INTO} WHERE {{ ?s ?p ?o }}", using_graphs=[SHUT])

    assert CANARY not in csv(mine, EVERYTHING)
    assert CANARY in csv(memento, f"SELECT * FROM <{SHUT}> {{ ?s ?p ?o }}")


def test_a_token_that_names_a_graph_to_write_makes_and_writes_it(memento: Memento) -> None:
    fresh = data_iri("local", "plans")
    writer = memento.with_access(Access(namespaces=("work",), right="write", name="w", graphs=("plans:write",)))
    with pytest.raises(NotFound, match="no graph"):
        writer.graphs.get(fresh)
    assert writer.graphs.put(b"<urn:a> <urn:b> 'Oslo' .", fresh).is_new
    writer.graphs.update(
        f"INSERT {{ GRAPH <{fresh}> {{ ?s <urn:c> ?o }} }} WHERE {{ GRAPH <{fresh}> {{ ?s <urn:b> ?o }} }}"
    )

    assert csv(writer, f"SELECT ?o {{ GRAPH <{fresh}> {{ <urn:a> <urn:c> ?o }} }}").split() == ["o", "Oslo"]
    with pytest.raises(Forbidden):
        memento.with_access(Access(namespaces=("work",), right="read", name="r", graphs=("plans",))).graphs.delete(
            fresh
        )
    assert writer.graphs.delete(fresh).removed == 2


def test_an_import_goes_into_a_graph_that_the_token_may_write(memento: Memento, tmp_path: Path) -> None:
    (tmp_path / "one.ttl").write_text("<urn:a> <urn:b> 'Bergen' .")
    writer = memento.with_access(
        Access(namespaces=("work",), right="write", name="w", graphs=("trips:write", "company"))
    )

    assert writer.intake.import_rdf(tmp_path / "one.ttl", data="trips").added == 1
    for name in ("company", "salaries", "nothing"):
        with pytest.raises(Forbidden, match="--graph NAME:write"):
            writer.intake.import_rdf(tmp_path / "one.ttl", data=name)


def test_what_follows_from_a_hidden_graph_is_not_inferred_for_the_token(memento: Memento) -> None:
    named = "SELECT * { ?s <http://example.org/Xylocarp> ?o }"
    sees = memento.with_access(Access(namespaces=("work",), right="read", name="s", graphs=("salaries",)))

    assert memento.graphs.infer(namespace="work").triples
    assert [
        memory.graphs.query_bytes(named, "text/csv", namespace="work")[0].count(b"Maria") for memory in (memento, sees)
    ] == [
        1,
        1,
    ]
    assert b"Maria" not in memento.with_access(NARROW).graphs.query_bytes(named, "text/csv")[0]


@pytest.fixture
def http(memento: Memento) -> Iterator[Callable[[Access | None], tuple[FlaskClient, dict[str, str]]]]:
    with create_app(memento.service).test_client() as client:

        def ask(access: Access | None) -> tuple[FlaskClient, dict[str, str]]:
            if access is None:
                return client, {}
            tokens: Tokens = memento.tokens
            if any(one.name == access.name for one in tokens.list_issued()):
                tokens.revoke(access.name)
            token = tokens.create(
                access.name,
                tenant=access.tenant,
                namespaces=access.namespaces,
                right=access.right,
                at=now(),
                graphs=access.graphs,
            )
            return client, {"Authorization": f"Bearer {token}"}

        yield ask


def test_the_protocols_over_http_agree(
    http: Callable[[Access | None], tuple[FlaskClient, dict[str, str]]],
) -> None:
    client, headers = http(NARROW)
    ask = {"query": "SELECT * { GRAPH ?g { ?s ?p ?o } }", "named-graph-uri": SHUT}

    assert CANARY not in client.post("/sparql", data=ask, headers=headers).text
    assert [client.get(f"/sparql/graphs/{name}", headers=headers).status_code for name in ("salaries", "nothing")] == [
        403
    ] * 2
    assert client.get("/sparql/graphs/company", headers=headers).status_code == 200
    turtle = {"data": b"<urn:a> <urn:b> 1 .", "content_type": "text/turtle"}
    assert client.post("/sparql/graphs", headers=headers, **turtle).status_code == 403  # a graph that nobody has named
    for address in ("/sparql", "/.well-known/void", "/health", "/metrics", "/memory/status"):
        told = client.get(address, headers=headers).text
        assert SHUT not in told and "salaries" not in told, address
    assert OPEN in client.get("/sparql", headers=headers).text
    client, headers = http(None)
    assert SHUT in client.get("/sparql", headers=headers).text


def test_an_export_of_the_token_has_no_hidden_graph(narrow: Memento, tmp_path: Path) -> None:
    for form in ("trig", "nquads", "turtle", "jsonld", "jsonl", "csv", "markdown"):
        file = tmp_path / f"out.{form}"
        narrow.export(file, form=form)
        assert CANARY not in file.read_text(encoding="utf-8") and SHUT not in file.read_text(encoding="utf-8")


def test_a_token_stores_the_graphs_that_it_names(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    given = ["company", f"{data_iri('local', 'my plans')}:write"]
    token = tokens.create("phone", tenant="local", namespaces=["work"], right="write", at=now(), graphs=given)
    access = Tokens(tmp_path / "tokens.json").access(token)

    assert access.graphs == ("company", "my plans:write")
    assert access.readable_graphs == ("company", "my plans")
    assert access.writable_graphs == ("my plans",)


@pytest.mark.parametrize(
    ("namespaces", "right", "graph", "why"),
    [
        ([], "write", "company", "all namespaces"),
        (["work"], "read", "company:write", "cannot write"),
        (["work"], "write", " ", "no free graph"),
        (["work"], "write", ":write", "no free graph"),
        (["work"], "write", "urn:memento:data:rival:company", "no free graph"),
        (["work"], "write", "urn:memento:graph:local:private", "no free graph"),
        (["work"], "write", "a" * 201, "no free graph"),
    ],
)
def test_a_graph_that_a_token_cannot_have_is_named_in_the_error(
    tmp_path: Path, namespaces: list[str], right: str, graph: str, why: str
) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    with pytest.raises(InputError, match=why):
        tokens.create("x", tenant="local", namespaces=namespaces, right=right, at=now(), graphs=[graph])  # type: ignore[arg-type]
    assert tokens.list_issued() == []


def test_tokens_of_an_earlier_version_open_and_name_no_graph(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    tokens = Tokens(file)
    token = tokens.create("old", tenant="local", namespaces=["work"], right="write", at=now())
    rows = json.loads(file.read_text())

    assert [key for row in rows for key in row] == ["name", "tenant", "namespaces", "right", "digest", "created_at"]
    assert Tokens(file).access(token).readable_graphs == ()


def test_tokens_with_graphs_are_made_and_listed_by_command_by_operation_and_on_the_page(
    memento: Memento, tmp_path: Path
) -> None:
    home = ["--home", str(tmp_path / "cli"), "token"]
    run = CliRunner()
    made = run.invoke(main, [*home, "create", "phone", "--namespace", "work", "--graph", "company", "--graph", "plans"])
    listed = run.invoke(main, [*home, "list"])
    refused = run.invoke(main, [*home, "create", "all", "--graph", "company"])

    assert made.output.startswith("mem_") and "graphs company, plans" in listed.output
    assert refused.exit_code and "all namespaces" in refused.output
    shown = memento.admin.create_token("pad", scope="write", namespaces=["work"], graphs=["company", "plans:write"])
    assert shown.graphs == ("company", "plans:write")
    assert [one.graphs for one in memento.admin.list_tokens() if one.name == "pad"] == [shown.graphs]
    with create_app(memento.service).test_client() as client:
        page = client.get("/tokens", headers={"Accept": "text/html"}).text
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        assert "plans:write" in page and found
        form = {"csrf": found[1], "name": "desk", "scope": "read", "namespaces": "work", "graphs": "company, trips"}
        assert client.post("/do/create_token", data=form).status_code == 200
    assert [one.graphs for one in memento.admin.list_tokens() if one.name == "desk"] == [("company", "trips")]
