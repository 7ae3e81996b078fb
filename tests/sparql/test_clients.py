"""Programs that other people wrote, as they come, against a real service: rdflib, SPARQLWrapper, Comunica and curl."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rdflib import Dataset, Graph, Literal, URIRef, Variable
from rdflib.compare import isomorphic
from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore
from SPARQLWrapper import CSV, JSON, POST, POSTDIRECTLY, TSV, TURTLE, URLENCODED, XML, SPARQLWrapper

from w3c.endpoint import Endpoint, memento, serving

PAGE = "https://yasgui.example"
COMUNICA = Path(__file__).with_name("comunica.cjs")
WORKS_AT, ADA, BOB, ACME = (URIRef(f"http://example.org/{name}") for name in ("worksAt", "ada", "bob", "acme"))
PEOPLE, PLACES = URIRef("http://example.org/people"), URIRef("http://example.org/places")
WORLD = """
PREFIX : <http://example.org/>
INSERT DATA {
  :ada :worksAt :acme ; :name "Ada"@en ; :born "1815-12-10"^^<http://www.w3.org/2001/XMLSchema#date> .
  :bob :worksAt :acme ; :name "Bob" ; :knows [ :name "Nobody \\"quoted\\" \\n 日本" ] .
  GRAPH :people { :ada :likes :bob }
  GRAPH :places { :acme :in "Lisbon" }
}
"""


@pytest.fixture(scope="module")
def service() -> Iterator[Endpoint]:
    """An empty dataset behind a real service, which pages of one origin may ask."""
    with memento(MEMENTO_SPARQL_ORIGINS=PAGE) as running:
        yield running


@pytest.fixture
def world(service: Endpoint) -> Endpoint:
    """The same service with a few people in it."""
    assert service.change(b"DROP ALL").is_success
    assert service.change(WORLD.encode()).is_success
    return service


def test_rdflib_reads_as_from_a_graph_of_its_own(world: Endpoint) -> None:
    graph = Graph(SPARQLStore(world.query, returnFormat="json"))

    assert set(graph.subjects(WORKS_AT, ACME)) == {ADA, BOB}
    assert graph.value(ADA, URIRef("http://example.org/name")) == Literal("Ada", lang="en")
    assert (ADA, WORKS_AT, BOB) not in graph
    assert len(graph) == 7


@pytest.mark.parametrize("form", ["json", "xml", "csv", "tsv"])
@pytest.mark.parametrize("method", ["GET", "POST", "POST_FORM"])
def test_rdflib_takes_solutions_in_every_form(world: Endpoint, form: str, method: str) -> None:
    store: Any = SPARQLStore(world.query, returnFormat=form, method=method)
    query = "SELECT ?who WHERE { ?who <http://example.org/worksAt> ?at } ORDER BY ?who"

    assert [row[0].n3().strip('"') for row in store.query(query)] in (  # CSV does not tell an IRI from a literal
        [ADA.n3(), BOB.n3()],
        [str(ADA), str(BOB)],
    )


def test_rdflib_binds_asks_and_constructs(world: Endpoint) -> None:
    graph = Graph(SPARQLStore(world.query))
    bound = graph.query("SELECT ?name { ?who <http://example.org/name> ?name }", initBindings={"who": BOB})
    built = graph.query("CONSTRUCT { ?b ?p ?o } WHERE { ?b ?p ?o FILTER isBlank(?b) }").graph

    assert [row[Variable("name")] for row in bound.bindings] == [Literal("Bob")]
    assert graph.query("ASK { ?who <http://example.org/worksAt> ?at }").askAnswer is True
    assert built is not None
    assert [str(o) for o in built.objects()] == ['Nobody "quoted" \n 日本']


def test_rdflib_writes_triples_and_graphs(service: Endpoint) -> None:
    service.change(b"DROP ALL")
    data = Dataset(SPARQLUpdateStore(service.query, service.update, context_aware=True), default_union=False)
    people, places = data.graph(PEOPLE), data.graph(PLACES)
    people.add((ADA, WORKS_AT, ACME))
    people.addN([(BOB, WORKS_AT, ACME, people), (BOB, WORKS_AT, ADA, people)])
    places.add((ACME, URIRef("http://example.org/in"), Literal('a "place"\nfar\\away')))
    people.remove((BOB, WORKS_AT, ADA))

    assert set(people) == {(ADA, WORKS_AT, ACME), (BOB, WORKS_AT, ACME)}
    assert [str(o) for o in places.objects()] == ['a "place"\nfar\\away']

    data.remove_graph(people)

    assert len(service.dataset()) == 1


@pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")  # within rdflib
@pytest.mark.parametrize("is_union", [False, True])
def test_a_dataset_of_rdflib_reads_and_writes_the_default_graph(world: Endpoint, is_union: bool) -> None:
    store = SPARQLUpdateStore(world.query, world.update, context_aware=True)
    data = Dataset(store, default_union=is_union)
    data.update("INSERT DATA { <http://example.org/cy> <http://example.org/worksAt> <http://example.org/acme> }")
    data.update("DELETE { ?who ?p ?o } WHERE { ?who <http://example.org/name> 'Bob' ; ?p ?o }")
    rows: Any = data.query("SELECT ?who { ?who <http://example.org/worksAt> ?at } ORDER BY ?who")

    assert [str(row[0]).rpartition("/")[2] for row in rows] == ["ada", "cy"]
    assert {str(graph) for graph in data.store.contexts()} == {str(PEOPLE), str(PLACES)}
    assert len(Dataset(SPARQLStore(world.query), default_union=is_union)) == 5


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[Endpoint]:
    """A real service over memories."""
    with serving(tmp_path / "home", MEMENTO_EMBEDDING_MODEL="trigram") as running:
        yield running


@pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")
def test_a_dataset_of_rdflib_reads_memories(memories: Endpoint) -> None:
    noted = memories.client.post(f"{memories.origin}/memory/notes", json={"content": "I live in Oslo."})
    assert noted.is_success, noted.text
    data = Dataset(SPARQLUpdateStore(memories.query, memories.update, context_aware=True), default_union=False)
    data.update("INSERT DATA { <urn:a> <urn:b> 'by rdflib' }")
    own = data.graph(URIRef("urn:memento:data:local:own"))
    own.add((ADA, WORKS_AT, ACME))
    rows: Any = data.query("SELECT ?c { ?m a <http://purl.org/memento/Memory> ; <http://purl.org/memento/content> ?c }")

    assert [str(row[0]) for row in rows] == ["I live in Oslo."]
    rows = data.query("SELECT ?o { <urn:a> <urn:b> ?o }")
    assert [str(row[0]) for row in rows] == ["by rdflib"]
    assert set(own) == {(ADA, WORKS_AT, ACME)}


def test_rdflib_updates_in_its_own_graph(service: Endpoint) -> None:
    service.change(b"DROP ALL")
    store: Any = SPARQLUpdateStore(service.query, service.update)
    people = Graph(store, identifier=PEOPLE)
    people.update("INSERT DATA { <http://example.org/ada> <http://example.org/worksAt> <http://example.org/acme> }")

    assert set(people) == {(ADA, WORKS_AT, ACME)}
    assert {str(quad.graph_name.value) for quad in service.dataset()} == {str(PEOPLE)}


@pytest.mark.parametrize(
    ("form", "kind"), [(JSON, "json"), (XML, "xml"), (CSV, "csv"), (TSV, "tab-separated"), (TURTLE, "turtle")]
)
@pytest.mark.parametrize("method", ["GET", POST])
def test_sparqlwrapper_is_answered_in_the_form_it_asks_for(world: Endpoint, form: str, kind: str, method: str) -> None:
    wrapper = SPARQLWrapper(world.query)
    wrapper.setMethod(method)
    wrapper.setQuery(
        "CONSTRUCT WHERE { ?s <http://example.org/name> ?name }"
        if form == TURTLE
        else "SELECT ?name { ?s <http://example.org/name> ?name }"
    )
    wrapper.setReturnFormat(form)
    answer: Any = wrapper.query()

    assert kind in answer.info()["content-type"]
    assert b"Ada" in answer.response.read()


def test_sparqlwrapper_chooses_graphs(world: Endpoint) -> None:
    wrapper = SPARQLWrapper(world.query, returnFormat=JSON)
    wrapper.addParameter("default-graph-uri", str(PLACES))
    wrapper.addParameter("named-graph-uri", str(PEOPLE))
    wrapper.setQuery("SELECT * { ?s ?p ?o OPTIONAL { GRAPH ?g { ?a ?b ?c } } }")
    rows: Any = wrapper.queryAndConvert()

    assert [(r["o"]["value"], r["g"]["value"]) for r in rows["results"]["bindings"]] == [("Lisbon", str(PEOPLE))]


@pytest.mark.parametrize("how", [POSTDIRECTLY, URLENCODED])
def test_sparqlwrapper_updates(service: Endpoint, how: str) -> None:
    service.change(b"DROP ALL")
    wrapper = SPARQLWrapper(service.query, service.update)
    wrapper.setMethod(POST)
    wrapper.setRequestMethod(how)
    wrapper.setQuery("INSERT DATA { <urn:a> <urn:b> 'plus + and & stay' }")
    wrapper.query()

    assert [quad.object.value for quad in service.dataset()] == ["plus + and & stay"]


def test_sparqlwrapper_is_told_of_a_broken_query(service: Endpoint) -> None:
    from SPARQLWrapper.SPARQLExceptions import QueryBadFormed

    wrapper = SPARQLWrapper(service.query)
    wrapper.setQuery("SELECT * {\n  ?s ?p }")

    with pytest.raises(QueryBadFormed, match="line 2"):
        wrapper.query()


def comunica(service: Endpoint, kind: str, text: str) -> Any:
    """What Comunica makes of a query: rows, a boolean, or Turtle."""
    folder = os.environ.get("COMUNICA", "")
    if not shutil.which("node") or not (Path(folder) / "node_modules" / "@comunica" / "query-sparql").is_dir():
        pytest.skip("no Comunica: `npm install --prefix FOLDER @comunica/query-sparql@4`, then set COMUNICA=FOLDER")
    command = ["node", str(COMUNICA), folder, service.query, service.update, kind, text]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_comunica_joins_what_it_reads(world: Endpoint) -> None:
    query = """PREFIX : <http://example.org/>
    SELECT ?name (COUNT(?other) AS ?others) WHERE {
      ?s :worksAt ?at ; :name ?name . ?other :worksAt ?at FILTER(?other != ?s)
      OPTIONAL { GRAPH :places { ?at :in ?city } }
    } GROUP BY ?name ORDER BY ?name"""

    assert [(row["name"], row["others"]) for row in comunica(world, "rows", query)] == [("Ada", "1"), ("Bob", "1")]


def test_comunica_asks_and_constructs(world: Endpoint) -> None:
    assert comunica(world, "ask", "ASK { ?s <http://example.org/worksAt> <http://example.org/acme> }") is True
    assert len(comunica(world, "quads", "CONSTRUCT WHERE { ?s <http://example.org/worksAt> ?o }")) == 2


def test_comunica_updates(service: Endpoint) -> None:
    service.change(b"DROP ALL")
    comunica(service, "update", "INSERT DATA { <urn:a> <urn:b> 'from elsewhere' }")

    assert [quad.object.value for quad in service.dataset()] == ["from elsewhere"]


def curl(*words: str) -> str:
    """What curl prints; it fails for 4xx and 5xx."""
    if not shutil.which("curl"):
        pytest.skip("no curl on this machine")
    done = subprocess.run(["curl", "--silent", "--show-error", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_curl_asks_in_three_ways(world: Endpoint) -> None:
    query = "SELECT ?name { <http://example.org/bob> <http://example.org/name> ?name }"
    accept = ("--fail", "--header", "Accept: text/csv")
    answers = [
        curl(*accept, "--get", "--data-urlencode", f"query={query}", world.query),
        curl(*accept, "--data-urlencode", f"query={query}", world.query),
        curl(*accept, "--header", "Content-Type: application/sparql-query", "--data", query, world.query),
        curl(*accept, "--http1.0", "--get", "--data-urlencode", f"query={query}", world.query),
        curl(*accept, "--compressed", "--get", "--data-urlencode", f"query={query}", world.query),
    ]

    assert [answer.split() for answer in answers] == [["name", "Bob"]] * 5


def test_curl_carries_a_graph_there_and_back(service: Endpoint, tmp_path: Path) -> None:
    service.change(b"DROP ALL")
    file = tmp_path / "graph.ttl"
    file.write_text("@prefix : <http://example.org/> . :ada :knows [ :name 'Bob' ] .", encoding="utf-8")
    where = f"{service.graphs}?graph=http%3A%2F%2Fexample.org%2Fpeople"
    status = ("--output", "/dev/null", "--write-out", "%{http_code}")

    assert curl(*status, "--upload-file", str(file), "--header", "Content-Type: text/turtle", where) == "201"
    assert curl(*status, "--upload-file", str(file), "--header", "Content-Type: text/turtle", where) in ("200", "204")
    back = curl("--fail", "--header", "Accept: application/rdf+xml", where)
    assert isomorphic(Graph().parse(data=back, format="xml"), Graph().parse(file))
    assert "200" in curl("--head", where).splitlines()[0]
    assert curl(*status, "--request", "DELETE", where) in ("200", "204")
    assert curl(*status, where) == "404"


def test_curl_is_told_where_a_query_breaks(service: Endpoint) -> None:
    told = curl("--write-out", "\n%{http_code}", "--data-urlencode", "query=ASK {\n ?s ?p }", service.query)

    assert told.endswith("400")
    assert "line 2" in told
    assert "column" in told


@pytest.mark.parametrize(("origin", "is_let_in"), [(PAGE, True), ("https://evil.example", False)])
def test_curl_sees_what_a_browser_would_before_it_asks(service: Endpoint, origin: str, is_let_in: bool) -> None:
    preflight = ("--request", "OPTIONS", "--header", f"Origin: {origin}", "--include")
    told = curl(*preflight, "--header", "Access-Control-Request-Method: POST", service.query).lower()

    assert told.split()[1] in ("200", "204")
    assert ("access-control-allow-methods" in told) is is_let_in
