"""
Generated queries of one reader at a store that holds what others keep: through no door does any of it come out.

The others are another tenant with every kind of graph, another namespace of the reader's own tenant, a free graph that the reader's
token does not name, and the store's default graph, which is nobody's. What they keep are canaries: words that stand nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pyoxigraph as ox
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from conftest import OFFLINE
from doors import serving, text_of
from memento.access import Access
from memento.errors import MementoError
from memento.interfaces.cli import main
from memento.iris import IRI, MEM, cases_iri, data_iri, graph_iri, provenance_iri, self_iri
from memento.model import Change
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.living.sexpr.forms import print_form
from memento.python import Memento, open_memento
from memento.sparql.prepare import QueryRequest, VisibleGraphs, prepare_query
from memento.time import now

CANARIES = ("Xylocarp", "Quillwort", "Zirconia", "Snollygoster")
HIDDEN, SHUT = "Gallimaufry", data_iri("local", "salaries")
"""What is in a free graph of the reader's own tenant that the reader's token does not name; whoever sits at the machine sees it."""
OWN = "Lisbon"
NODE = IRI("urn:memento:shared:node")
"""A node of which everybody says something, so that a query that finds it in one graph could follow it into another."""

SECRET = [
    graph_iri("rival", "main"),
    self_iri("rival"),
    provenance_iri("rival"),
    data_iri("rival", "plans"),
    IRI("urn:memento:audit:rival"),
    IRI("urn:memento:inferred:rival:main"),
    graph_iri("local", "private"),
    cases_iri("rival", "main"),
    IRI("urn:somewhere:else"),
]
READABLE = [graph_iri("local", "work"), self_iri("local"), IRI("urn:memento:ontology"), data_iri("local", "company")]
EVERYTHING = "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


@dataclass
class Doors:
    """The ways in of a reader of the tenant `local` who has the namespace `work` alone."""

    memento: Memento
    reader: Memento
    address: str
    client: httpx2.Client
    token: str
    home: Path


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    home = tmp_path_factory.mktemp("home")
    # What is in no named graph is written before the store has an owner.
    store = ox.Store(str(home / "store"))
    store.add(ox.Quad(ox.NamedNode(NODE), ox.NamedNode(MEM.name), ox.Literal(CANARIES[3])))
    del store
    memento = open_memento(home, configured=OFFLINE)
    assert isinstance(memento, Memento)
    with memento:
        memento.with_access(Access(tenant="rival", right="write")).note(
            f"I live in {CANARIES[0]} with my dog {CANARIES[1]}."
        )
        memento.note(f"My doctor is Ana {CANARIES[2]}.", namespace="private")
        memento.note(f"I live in {OWN}.", namespace="work")
        rival = memento.with_access(Access(tenant="rival", right="write"))
        rival.keys.remember(f"{CANARIES[0]} is near.", [CANARIES[0], CANARIES[1]])
        rival.cases.add([CaseRow(task=f"Go to {CANARIES[0]}.", plan=f"Take {CANARIES[1]}.", outcome="success")])
        graph = memento.service.stores.graph
        graph.apply(
            Change(
                tuple((NODE, MEM.name, CANARIES[n % 3], name) for n, name in enumerate(SECRET))
                + tuple((NODE, MEM.name, f"{OWN} {n}", name) for n, name in enumerate(READABLE))
                + tuple((NODE, MEM.about, IRI(f"urn:{CANARIES[n % 3]}"), name) for n, name in enumerate(SECRET))
            )
            + Change(((NODE, MEM.name, HIDDEN, SHUT),))
        )
        token = memento.tokens.create(
            "reader", tenant="local", namespaces=["work"], right="read", at=now(), graphs=["company"]
        )
        with serving(memento) as address, httpx2.Client(base_url=address, timeout=60) as client:
            yield Doors(memento, memento.with_access(memento.tokens.access(token)), address, client, token, home)


VARIABLES = ["?s", "?p", "?o", "?g", "?x"]
NAMES = [f"<{NODE}>", "<urn:memento:user:rival>", "<urn:memento:user:local>", f"<{MEM.Memory}>"]
GRAPHS = [f"<{name}>" for name in (*SECRET, SHUT, *READABLE, "urn:nowhere")]
PREDICATES = [f"<{MEM[name]}>" for name in ("content", "name", "about", "extractedFrom")] + ["a", "?p"]

nodes = st.sampled_from([*VARIABLES, *NAMES])
closed = st.sampled_from(["*", "+", "?", ""])


@st.composite
def paths(draw: st.DrawFn) -> str:
    one, other = draw(st.sampled_from(PREDICATES[:-1])), draw(st.sampled_from(PREDICATES[:-1]))
    form = draw(
        st.sampled_from(
            ["{0}", "({0}|{1}){2}", "{0}/^{1}", "^({0}){2}", "!({0}|^{1})", "({0}/{1}){2}", "(!<urn:no>){2}"]
        )
    )
    return form.format(one, other, draw(closed))


triples = st.one_of(
    st.builds("{} {} {} .".format, nodes, st.sampled_from(PREDICATES), nodes),
    st.builds("{} {} {} .".format, nodes, paths(), nodes),
)


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    graph = st.sampled_from([*GRAPHS, "?g", "?x"])
    return st.one_of(
        st.builds("{} {}".format, inner, inner),
        st.builds("GRAPH {} {{ {} }}".format, graph, inner),
        st.builds("{{ {} }} UNION {{ {} }}".format, inner, inner),
        st.builds("{} OPTIONAL {{ {} }}".format, inner, inner),
        st.builds("{} MINUS {{ {} }}".format, inner, inner),
        st.builds("{} FILTER {}EXISTS {{ {} }}".format, inner, st.sampled_from(["", "NOT "]), inner),
        st.builds("{{ SELECT * {{ {} }} LIMIT 50 }}".format, inner),
        st.builds(
            "VALUES ?g {{ {} {} }} GRAPH ?g {{ {} }}".format,
            graph.filter(lambda g: g[0] == "<"),
            graph.filter(lambda g: g[0] == "<"),
            inner,
        ),
        st.builds("{} BIND(STR(?o) AS ?said)".format, inner),
    )


patterns = st.recursive(triples, combined, max_leaves=4)
datasets = st.lists(
    st.builds("FROM {}{}".format, st.sampled_from(["", "NAMED "]), st.sampled_from(GRAPHS)), max_size=2
).map(" ".join)
heads = st.sampled_from(
    [
        "SELECT * {0} {{ {1} }} LIMIT 200",
        "SELECT DISTINCT ?o ?g {0} {{ {1} }} LIMIT 200",
        "SELECT (GROUP_CONCAT(STR(?o)) AS ?all) (SAMPLE(?g) AS ?some) {0} {{ {1} }}",
        "CONSTRUCT {{ ?s ?p ?o . ?g ?p ?o }} {0} WHERE {{ {1} }} LIMIT 200",
        "DESCRIBE ?s ?o ?g {0} WHERE {{ {1} }} LIMIT 20",
        "DESCRIBE <urn:memento:user:rival> <urn:memento:shared:node> {0}",
    ]
)
queries = st.builds(lambda head, dataset, pattern: head.format(dataset, pattern), heads, datasets, patterns)
chosen = st.lists(st.sampled_from([graph[1:-1] for graph in GRAPHS]), max_size=2)

generated = settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def assert_clean(told: str, sparql: str, canaries: Sequence[str] = (*CANARIES, HIDDEN)) -> None:
    assert [canary for canary in canaries if canary in told] == [], sparql


@generated
@given(queries, chosen, chosen)
def test_nothing_of_others_comes_out_in_python(doors: Doors, sparql: str, default: list[str], named: list[str]) -> None:
    try:
        body, _ = doors.reader.graphs.query_bytes(sparql, default_graphs=default, named_graphs=named, timeout_s=2)
    except MementoError as error:
        body = str(error).encode()
    assert_clean(body.decode(), sparql)


@generated
@given(queries, chosen, chosen)
def test_nothing_of_others_comes_out_over_http(doors: Doors, sparql: str, default: list[str], named: list[str]) -> None:
    answer = doors.client.post(
        "/sparql",
        data={"query": sparql, "default-graph-uri": default, "named-graph-uri": named, "timeout": "2"},
        headers={"Authorization": f"Bearer {doors.token}", "Accept": "text/csv, application/n-quads"},
    )
    assert answer.status_code in (200, 400, 403, 504), answer.text
    assert_clean(answer.text, sparql)


@settings(parent=generated, max_examples=8)
@given(st.lists(queries, min_size=6, max_size=6))
def test_nothing_of_others_comes_out_over_mcp(doors: Doors, listed: Sequence[str]) -> None:
    async def ask() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {doors.token}"}) as http_client,
            Client(streamable_http_client(f"{doors.address}/mcp", http_client=http_client)) as client,
        ):
            for sparql in listed:
                assert_clean(text_of(await client.call_tool("memento_sparql", {"query": sparql})), sparql)

    anyio.run(ask)


@settings(parent=generated, max_examples=40)
@given(queries)
def test_nothing_of_others_comes_out_of_expressions(doors: Doors, sparql: str) -> None:
    try:
        told = doors.reader.living.evaluate(f"(sparql {print_form(sparql)})").text
    except MementoError as error:
        told = str(error)
    assert_clean(told, sparql)


WAYS: Mapping[str, Callable[[Memento], object]] = {
    "recall": lambda memory: memory.recall(" ".join(CANARIES), gate=False).memories,
    "walks": lambda memory: [
        memory.recall(CANARIES[0], engine=one, gate=False).memories for one in ("ppr", "spread", "hops")
    ],
    "keys": lambda memory: [memory.keys.find(word.lower()) for word in CANARIES],
    "memories": lambda memory: (memory.list(past=True), memory.keys.list_memories(), memory.keys.memory_stats()),
    "expressions": lambda memory: memory.living.evaluate(
        f'(recall "{" ".join(CANARIES)}") (search "{CANARIES[0]}") (stats) (snapshot)'
    ),
    "map": lambda memory: memory.graphs.manifest(fresh=True),
    "cases": lambda memory: (
        memory.cases.retrieve(" ".join(CANARIES)).positives,
        memory.cases.list(),
        memory.cases.status(),
    ),
    "views": lambda memory: (memory.cases.navigate(tilt="temporal"), memory.cases.metrics(), memory.cases.task_runs()),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_others_comes_out_of_any_other_way(doors: Doors, way: str) -> None:
    assert_clean(repr(WAYS[way](doors.reader)), way)


@settings(parent=generated, max_examples=10)
@given(queries)
def test_nothing_of_another_tenant_comes_out_on_the_command_line(doors: Doors, sparql: str) -> None:
    # Whoever sits at the machine has every namespace of the tenant `local`, but asks in one.
    words = ["--home", str(doors.home), "--namespace", "work", "query", sparql]
    done = CliRunner().invoke(main, words, prog_name="memento")

    assert_clean(done.output, sparql, CANARIES)


def test_the_canaries_are_there_for_those_whose_they_are(doors: Doors) -> None:
    rival = doors.memento.with_access(Access(tenant="rival"))
    own = doors.reader.graphs.query_bytes(EVERYTHING, accept="text/csv")[0].decode()
    at_all = prepare_query(QueryRequest(sparql=EVERYTHING, accept="text/csv"), None, doors.memento.settings.limits)

    assert CANARIES[0] in rival.graphs.query_bytes(EVERYTHING, accept="text/csv")[0].decode()
    assert (
        CANARIES[2] in doors.memento.graphs.query_bytes(EVERYTHING, accept="text/csv", namespace="private")[0].decode()
    )
    assert OWN in own
    everything = b"".join(doors.memento.service.workers.run(at_all, caller="test").chunks).decode()
    assert all(canary in everything for canary in CANARIES)


def test_a_generated_query_could_find_them(doors: Doors) -> None:
    every = VisibleGraphs(default=(*SECRET, *READABLE), named=(*SECRET, *READABLE))
    found: set[str] = set()

    @settings(parent=generated, database=None)
    @given(queries)
    def look(sparql: str) -> None:
        asked = QueryRequest(sparql=sparql, accept="text/csv, text/turtle")
        try:
            made = prepare_query(asked, every, doors.memento.settings.limits)
            told = b"".join(doors.memento.service.workers.run(made, caller="test", timeout_s=2).chunks).decode()
        except MementoError:
            return
        found.update(canary for canary in CANARIES if canary in told)

    look()

    assert len(found) == 3, found  # all that lie in named graphs
