"""Memory inside SPARQL, through the workers of a real memory: recall, likeness and the two times, joined with everything else."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.access import Access
from memento.errors import Forbidden, InputError
from memento.iris import data_iri
from memento.python import Memento, open_memento
from memento.settings import GateSettings, LimitsSettings
from memento.time import now

PREFIXES = """PREFIX mem: <http://purl.org/memento/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX ex: <http://example.org/>
"""
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
NOTES = (
    ("I work at Google.", 0),
    ("I live in Lisbon.", 1),
    ("My cat is called Tom.", 2),
    ("I work at Microsoft now.", 100),
    ("I like green tea.", 101),
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """A memory with a few notes, told on different days."""
    opened = open_memento(tmp_path_factory.mktemp("told"), configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        for text, day in NOTES:
            opened.note(text, at=BEGIN + timedelta(days=day))
        document = """@prefix ex: <http://example.org/> . ex:google ex:label "Google" ; ex:seat "Mountain View" .
        ex:microsoft ex:label "Microsoft" ; ex:seat "Redmond" ."""
        opened.service.stores.graph.load(document.encode(), data_iri("local", "company"))
        yield opened


def ask(memento: Memento, sparql: str, namespace: str | None = None) -> list[tuple[str, ...]]:
    body, _ = memento.graphs.query_bytes(PREFIXES + sparql, accept="text/csv", namespace=namespace)
    return [tuple(row) for row in csv.reader(io.StringIO(body.decode()))][1:]


def test_a_search_is_a_recall_as_rows(told: Memento) -> None:
    question = "Where do I work?"
    expected = [(one.content, one.score, one.rank) for one in told.recall(question, k=3, gate=False).memories]
    found = ask(
        told,
        f"""SELECT ?content ?score ?rank {{
          SERVICE mem:search {{ ?m mem:matches "{question}" ; mem:score ?score ; mem:rank ?rank ; mem:limit 3 ; mem:gate false }}
          ?m mem:content ?content }} ORDER BY ?rank""",
    )

    assert [(content, float(score), int(rank)) for content, score, rank in found] == expected


def test_what_is_not_relevant_has_no_rows_unless_the_gate_is_left_open(tmp_path: Path) -> None:
    strict = replace(OFFLINE, gate=GateSettings(base=9.0))
    opened = open_memento(tmp_path / "strict", configured=strict)
    assert isinstance(opened, Memento)
    with opened as memento:
        memento.note("I like green tea.")
        block = 'SERVICE mem:search { ?m mem:matches "chromodynamics" GATE }'

        assert memento.recall("chromodynamics").gated
        assert ask(memento, f"SELECT ?m {{ {block.replace('GATE', '')} }}") == []
        assert len(ask(memento, f"SELECT ?m {{ {block.replace('GATE', '; mem:gate false')} }}")) == 1


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "GRAPH ?g {{ {} }}",
        "OPTIONAL {{ {} }}",
        "{{ {} }} UNION {{ ?m a ex:Nothing }}",
        "{{ SELECT ?m ?content {{ {} }} LIMIT 5 }}",
    ],
)
def test_a_search_may_stand_wherever_a_group_may(told: Memento, around: str) -> None:
    search = 'SERVICE mem:search { ?m mem:matches "What is my cat called?" ; mem:limit 1 ; mem:gate false } ?m mem:content ?content'

    assert ask(told, f"SELECT ?content {{ {around.format(search)} }}") == [("My cat is called Tom.",)]


def test_a_search_is_joined_with_provenance_with_free_graphs_and_with_another_search(told: Memento) -> None:
    work = 'SERVICE mem:search { ?m mem:matches "Where do I work?" ; mem:limit 1 ; mem:gate false }'
    cat = 'SERVICE mem:search { ?other mem:matches "my cat" ; mem:limit 1 ; mem:gate false }'
    seat = "?m mem:about/mem:name ?name . ?firm ex:label ?name ; ex:seat ?seat"

    assert ask(told, f"SELECT ?seat {{ {work} {seat} }}") == [("Redmond",)]
    assert ask(told, f"SELECT ?said {{ {work} ?m mem:extractedFrom/mem:content ?said }}") == [
        ("I work at Microsoft now.",)
    ]
    assert ask(told, f"SELECT ?said {{ {work} {cat} ?other mem:extractedFrom/mem:content ?said }}") == [
        ("My cat is called Tom.",)
    ]
    agent = f"SELECT ?name {{ {work} GRAPH ?g {{ ?run prov:generated ?m ; prov:wasAssociatedWith/mem:name ?name }} }}"
    assert ask(told, agent) == [("rules",)]


def test_a_search_of_the_past_brings_back_what_was_true_then(told: Memento) -> None:
    search = (
        'SELECT ?content {{ SERVICE mem:search {{ ?m mem:matches "Where do I work?" ; mem:limit 1 ; mem:gate false {} }} '
        "?m mem:content ?content }}"
    )

    assert ask(told, search.format("")) == [("I work at Microsoft now.",)]
    assert ask(told, search.format('; mem:asOf "2025-02-01"^^xsd:date')) == [("I work at Google.",)]
    assert ask(told, search.format('; mem:believedAt "2020-01-01"^^xsd:date')) == []


def test_as_of_keeps_what_was_true_at_a_time_as_far_as_was_believed_at_another(told: Memento) -> None:
    """Every time of each axis, against what recall's own filter of the indexes says."""
    graphs = told.context.scope(None).memory_graphs
    nodes = told.service.stores.indexes.nodes
    times = [BEGIN - timedelta(days=1), BEGIN, BEGIN + timedelta(days=50), BEGIN + timedelta(days=100), now()]
    for valid_on in (None, *times):
        for believed_on in (None, BEGIN, now() + timedelta(hours=1)):
            if valid_on is None and believed_on is None:
                continue
            mask = nodes.current(graphs, now=now(), as_of=valid_on, believed_at=believed_on)
            expected = {nodes.iri(node) for node in mask.nonzero()[0].tolist()}
            said = [
                f'mem:{name} "{at.isoformat()}"^^xsd:dateTime'
                for name, at in (("validOn", valid_on), ("believedOn", believed_on))
                if at
            ]
            block = f"SERVICE mem:asOf {{ ?m {' ; '.join(said)} }}"
            then = said[0].split(" ", 1)[1]
            for sparql in (
                f"SELECT ?m {{ {block} }}",
                f"SELECT * {{ {block} }}",
                f"SELECT * {{ GRAPH <{graphs[0]}> {{ {block} }} }}",
                f"SELECT ?m {{ VALUES ?then {{ {then} }} {block.replace(then, '?then')} }}",
            ):
                assert set(ask(told, sparql)) == {(iri,) for iri in expected}, sparql


def test_the_time_may_come_from_the_graph_and_the_memory_be_one(told: Memento) -> None:
    then = 'VALUES ?then { "2025-02-01"^^xsd:date } SERVICE mem:asOf { ?m mem:validOn ?then } '
    employer = '?m ^mem:statedBy/mem:relationName "work at" ; mem:content ?c'
    [memory] = told.recall("Where do I work?", k=1).memories

    assert ask(told, f"SELECT ?c {{ {then} {employer} }}") == [("I work at Google.",)]
    held = f'ASK {{ SERVICE mem:asOf {{ <{memory.iri}> mem:validOn "2025-02-01" }} }}'
    body, _ = told.graphs.query_bytes(PREFIXES + held, accept="text/csv")
    assert body.strip() == b"false"


def test_an_ending_that_was_learned_of_later_does_not_count_before(memento: Memento) -> None:
    memento.note("I work at Google.", at="2025-01-01")
    learned = now()
    memento.note("I have worked at Microsoft since 1 February 2025.", at=now() + timedelta(seconds=1))
    told = 'SELECT ?c {{ SERVICE mem:asOf {{ ?m mem:validOn "2025-03-01" ; mem:believedOn "{}" }} ?m mem:content ?c }}'

    assert [row[0] for row in ask(memento, told.format(learned.isoformat()))] == ["I work at Google."]
    after = ask(memento, told.format((now() + timedelta(seconds=2)).isoformat()))
    assert [row[0] for row in after] == ["I have worked at Microsoft since 1 February 2025."]


def test_similarity_is_the_cosine_of_text_and_memory(told: Memento) -> None:
    text = "Which tea do I like?"
    found = ask(
        told, f'SELECT ?c (mem:similarity(?m, "{text}") AS ?s) {{ ?m a mem:Memory ; mem:content ?c }} ORDER BY DESC(?s)'
    )
    embed = told.service.stores.embedder
    expected = {content: float((embed.embed([text]) @ embed.embed([content]).T)[0, 0]) for content, _ in found}

    assert len(found) == len(NOTES)
    assert found[0][0] == "I like green tea."
    assert {content: float(score) for content, score in found} == pytest.approx(
        expected, abs=1e-3
    )  # kept in half precision


def test_similarity_filters_binds_and_compares_with_several_texts_and_with_memories(told: Memento) -> None:
    each = (
        'SELECT ?t ?c { VALUES ?t { "green tea" "a cat called Tom" } ?m a mem:Memory ; mem:content ?c '
        "BIND(mem:similarity(?m, ?t) AS ?s) FILTER(?s > 0.3) } ORDER BY ?t"
    )
    assert ask(told, each) == [
        ("a cat called Tom", "My cat is called Tom."),
        ("green tea", "I like green tea."),
    ]
    [tea] = told.recall("green tea", k=1).memories
    like = f"SELECT ?c {{ ?m mem:content ?c FILTER(mem:similarity(?m, <{tea.iri}>) > 0.999) }}"
    assert ask(told, like) == [("I like green tea.",)]
    entity = 'SELECT ?n { ?e a mem:Entity ; mem:name ?n } ORDER BY DESC(mem:similarity(?e, "Lisbon")) LIMIT 1'
    assert ask(told, entity) == [("Lisbon",)]


def test_similarity_of_what_is_no_memory_is_an_error_of_its_expression(told: Memento) -> None:
    unbound = 'SELECT ?s { BIND(mem:similarity(<urn:x>, "a") AS ?s) }'
    literal = 'SELECT ?s { BIND(mem:similarity("a", "a") AS ?s) }'

    assert ask(told, unbound) == ask(told, literal) == [()]


def test_another_tenant_and_another_namespace_find_nothing(told: Memento) -> None:
    [memory] = told.recall("green tea", k=1).memories
    search = 'SELECT ?m { SERVICE mem:search { ?m mem:matches "green tea" ; mem:gate false } }'
    like = f'SELECT ?s {{ BIND(mem:similarity(<{memory.iri}>, "green tea") AS ?s) }}'
    likest = f"SELECT ?s {{ BIND(mem:similarity(<urn:x>, <{memory.iri}>) AS ?s) }}"
    for other in (told.with_access(Access(tenant="other")), told.with_access(Access(namespaces=("work",)))):
        assert ask(other, search) == []
        assert ask(other, like) == ask(other, likest) == [()]


def test_a_mistake_names_its_place_and_a_foreign_service_stays_forbidden(told: Memento) -> None:
    with pytest.raises(InputError, match=r"line 3, column 48 .*\?q is bound to none"):
        ask(told, "SELECT * { SERVICE mem:search { ?m mem:matches ?q } }")
    with pytest.raises(InputError, match=r"line 3, column 12 .*mem:limit must be from 1 to 1000, not 0"):
        ask(told, 'SELECT * { SERVICE mem:search { ?m mem:matches "a" ; mem:limit 0 } }')
    with pytest.raises(InputError, match=r"line 3, column 12 .*nothing"):
        ask(told, 'SELECT * { SERVICE mem:search { ?m mem:matches "a" ; mem:profile "nothing" } }')
    with pytest.raises(InputError, match=r"line 4, column 10 .*'}' cannot stand here"):
        ask(told, 'SELECT * { SERVICE mem:search { ?m mem:matches "a" }\n ?m ex:p }')
    with pytest.raises(Forbidden):
        ask(told, "SELECT * { SERVICE <http://127.0.0.1:1/> { ?m ?p ?o } }")


def test_a_thousand_rows_are_no_matter_of_the_limits_of_a_query(tmp_path: Path, told: Memento) -> None:
    opened = open_memento(tmp_path / "small", configured=replace(OFFLINE, limits=LimitsSettings(query_bytes=400)))
    assert isinstance(opened, Memento)
    with opened as memento:
        for number in range(20):
            memento.note(f"I like tea number {number}.")
        search = 'SERVICE mem:search { ?m mem:matches "tea" ; mem:limit 20 ; mem:gate false }'

        assert len(ask(memento, f"SELECT ?m {{ {search} }}")) > 10
