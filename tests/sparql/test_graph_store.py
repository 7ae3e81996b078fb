"""Updates and whole graphs, over memories in which another tenant has a canary: what may be written, and what follows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import OFFLINE
from memento.access import Access
from memento.errors import (
    Conflict,
    Forbidden,
    InputError,
    MementoError,
    NotFound,
    ShapeViolation,
    TimedOut,
    TooLong,
    WrongGraph,
)
from memento.iris import IRI, MEM, TYPE, audit_iri, data_iri, graph_iri, provenance_iri, self_iri
from memento.model import Changed, Quad
from memento.python import Memento, open_memento
from memento.settings import LimitsSettings

CANARY = "Quetzalcoatl"
MAIN, SELF = graph_iri("local", "main"), self_iri("local")
COMPANY = data_iri("local", "company")
P = "PREFIX mem: <http://purl.org/memento/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
FEW = replace(OFFLINE, limits=LimitsSettings(update_quads=300, update_nodes=20, graph_bytes=2_000))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """A memory of two tenants; tests leave the memories of `local` and of `rival` as they are."""
    opened = open_memento(tmp_path_factory.mktemp("told") / "home", configured=FEW)
    assert isinstance(opened, Memento)
    with opened:
        opened.note("I work at Google.")
        opened.note("I work at the library of Lisbon.", namespace="work")
        rival = opened.with_access(Access(tenant="rival", right="write"))
        rival.note(f"I live in {CANARY}.")
        rival.graphs.update(f"INSERT DATA {{ GRAPH <{data_iri('rival', 'x')}> {{ <urn:r> <urn:p> '{CANARY}' }} }}")
        yield opened


def quads(memento: Memento, graph: str) -> set[Quad]:
    return set(memento.service.stores.graph.quads(IRI(graph)))


def everything(memento: Memento) -> set[Quad]:
    """Every quad but those of the audit graphs."""
    graph = memento.service.stores.graph
    return {quad for name in graph.graphs() if not name.startswith("urn:memento:audit:") for quad in graph.quads(name)}


def asked(memento: Memento, sparql: str, **more: Any) -> list[list[str]]:
    body, _ = memento.graphs.query_bytes(sparql, accept="application/sparql-results+json", **more)
    found = json.loads(body)
    return [[row[name]["value"] for name in found["head"]["vars"]] for row in found["results"]["bindings"]]


def memory(memento: Memento, content: str) -> str:
    [[iri]] = asked(memento, f"{P} SELECT ?m {{ ?m a mem:Memory ; mem:content '{content}' }}")
    return iri


def test_a_free_graph_takes_any_rdf_and_is_joined_with_memories(told: Memento) -> None:
    changed = told.graphs.update(
        "PREFIX ex: <urn:ex:> INSERT DATA { GRAPH <urn:memento:data:local:company> { "
        "ex:g ex:name 'Google' , 'Gugl'@de ; ex:founded '1998'^^<http://www.w3.org/2001/XMLSchema#gYear> ; ex:in [ ex:of 1 ] } }"
    )

    assert changed == Changed(added=5, removed=0, graphs=(COMPANY,))
    joined = asked(
        told,
        P + "PREFIX ex: <urn:ex:> SELECT ?content ?year ?label { ?m mem:content ?content ; mem:about/mem:name ?name . "
        "GRAPH <urn:memento:data:local:company> { ?c ex:name ?name ; ex:founded ?year ; ex:name ?label } "
        "FILTER(LANG(?label) = 'de') }",
    )
    assert joined == [["I work at Google.", "1998", "Gugl"]]
    assert not any(str(one[2]).startswith("_:") for one in quads(told, COMPANY))
    assert asked(told, "SELECT ?b { ?s <urn:ex:in> ?b }")[0][0].startswith("urn:memento:blank:")
    assert told.graphs.update(f"DROP GRAPH <{COMPANY}>").removed == 5


@pytest.mark.parametrize(
    "graph",
    [
        graph_iri("rival", "main"),
        data_iri("rival", "x"),
        SELF,
        "urn:memento:ontology",
        provenance_iri("local"),
        audit_iri("local"),
        "urn:memento:inferred:local:main",
        "http://example.org/g",
    ],
)
def test_a_graph_that_is_not_ones_own_is_refused_by_name_whatever_is_in_it(told: Memento, graph: str) -> None:
    before = everything(told)
    for update in (
        f"INSERT DATA {{ GRAPH <{graph}> {{ <urn:a> <urn:b> 1 }} }}",
        f"DELETE DATA {{ GRAPH <{graph}> {{ <urn:a> <urn:b> 1 }} }}",
        f"DELETE {{ GRAPH ?g {{ <urn:a> <urn:b> 1 }} }} WHERE {{ BIND(<{graph}> AS ?g) }}",
        f"WITH <{graph}> DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}",
        f"CLEAR GRAPH <{graph}>",
        f"DROP SILENT GRAPH <{graph}>",
        f"CREATE SILENT GRAPH <{graph}>",
        f"ADD <{MAIN}> TO <{graph}>",
        f"MOVE <{graph}> TO <{COMPANY}>",
    ):
        with pytest.raises(Forbidden, match="not yours to write") as caught:
            told.graphs.update(update)
        assert f"<{graph}>" in str(caught.value)
    for put in (told.graphs.put, told.graphs.post):
        with pytest.raises(Forbidden, match="not yours to write"):
            put(b"<urn:a> <urn:b> 1 .", graph)
    with pytest.raises(Forbidden, match="not yours to write"):
        told.graphs.delete(graph)
    assert everything(told) == before


def test_what_would_read_another_ones_graph_is_refused_by_name(told: Memento) -> None:
    rivals = graph_iri("rival", "main")
    for update in (
        f"COPY <{rivals}> TO <{COMPANY}>",
        f"ADD SILENT <{rivals}> TO <{COMPANY}>",
        f"INSERT {{ GRAPH <{COMPANY}> {{ ?s ?p ?o }} }} USING <{rivals}> WHERE {{ ?s ?p ?o }}",
        f"INSERT {{ GRAPH <{COMPANY}> {{ ?s ?p ?o }} }} USING NAMED <{rivals}> WHERE {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    ):
        with pytest.raises(Forbidden, match="not yours to read"):
            told.graphs.update(update)
    with pytest.raises(Forbidden, match="not yours to read"):
        told.graphs.get(rivals)
    seen = told.graphs.update(
        f"INSERT {{ GRAPH <{COMPANY}> {{ ?s ?p ?o }} }} WHERE {{ ?s ?p ?o }}",
        using_graphs=[rivals],
        using_named_graphs=[rivals],
    )
    assert seen.added == 0


@pytest.mark.parametrize(
    "update",
    [
        "CLEAR ALL",
        "DROP NAMED",
        "CLEAR DEFAULT",
        "COPY <urn:memento:data:local:x> TO DEFAULT",
        "MOVE DEFAULT TO <urn:memento:data:local:x>",
    ],
)
def test_memories_are_never_emptied_without_being_named(told: Memento, update: str) -> None:
    with pytest.raises(Forbidden, match=f"<{MAIN}>"):
        told.graphs.update(update)
    with pytest.raises(Forbidden, match=f"<{MAIN}>"):
        told.graphs.put(b"")


def test_nothing_is_fetched(told: Memento) -> None:
    for update, word in (
        ("LOAD <http://127.0.0.1:1/>", "LOAD"),
        ("LOAD SILENT <http://127.0.0.1:1/> INTO GRAPH <urn:memento:data:local:x>", "LOAD"),
        ("INSERT { ?s ?p ?o } WHERE { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", "SERVICE"),
    ):
        with pytest.raises(Forbidden, match=word):
            told.graphs.update(update)
    with pytest.raises(InputError, match=r"application/ld\+json"):
        told.graphs.put(
            b'{"@context": "http://127.0.0.1:1/c", "@id": "urn:a", "b": 1}', COMPANY, media="application/ld+json"
        )


_PATTERNS = st.sampled_from(
    [
        "?s ?p ?o",
        "GRAPH ?g { ?s ?p ?o }",
        f"GRAPH <{graph_iri('rival', 'main')}> {{ ?s ?p ?o }}",
        f"GRAPH <{self_iri('rival')}> {{ ?s ?p ?o }}",
        "?x (<urn:a>|!<urn:a>)* ?o . ?s ?p ?o",
        "{ SELECT ?s ?p ?o { GRAPH ?g { ?s ?p ?o } } }",
        "?s ?p ?o FILTER EXISTS { GRAPH ?g { ?a ?b ?c FILTER(CONTAINS(STR(?c), 'Quetz')) } }",
        "OPTIONAL { GRAPH ?g { ?s ?p ?o } }",
        "{ ?s ?p ?o } UNION { GRAPH ?h { ?s ?p ?o } } MINUS { ?s ?p 1 }",
        "GRAPH ?g { ?s ?p ?o } VALUES ?g { <urn:memento:data:rival:x> <urn:memento:graph:rival:main> UNDEF }",
    ]
)
_HEADS = st.sampled_from(["", f"WITH <{COMPANY}> "])
_USING = st.sampled_from(["", f"USING <{MAIN}> ", f"USING NAMED <{MAIN}> ", f"USING <{COMPANY}> USING NAMED <{SELF}> "])


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_HEADS, _USING, st.lists(_PATTERNS, min_size=1, max_size=2, unique=True).map(" . ".join))
def test_no_pattern_brings_in_what_another_tenant_has(told: Memento, head: str, using: str, pattern: str) -> None:
    template = f"INSERT {{ GRAPH <{COMPANY}> {{ <urn:seen> ?p ?o . ?s <urn:of> 1 }} }}"
    with suppress(TimedOut, TooLong):
        told.graphs.update(
            f"{head}{template} {using}WHERE {{ {{ SELECT * {{ {pattern} }} LIMIT 100 }} }}", timeout_s=0.5
        )
    found = quads(told, COMPANY)
    told.graphs.update(f"DROP SILENT GRAPH <{COMPANY}>")

    assert not any(CANARY in str(part) or ":rival:" in str(part) for quad in found for part in quad)


def test_a_graph_that_an_operation_makes_is_read_by_the_next(told: Memento) -> None:
    fresh = data_iri("local", "fresh")
    for pattern in (f"GRAPH <{fresh}> {{ ?s ?p ?o }}", "GRAPH ?g { ?s <urn:fresh> ?o }", "?s <urn:fresh> ?o"):
        found = told.graphs.update(
            f"INSERT DATA {{ GRAPH <{fresh}> {{ <urn:a> <urn:fresh> 1 }} }} ; "
            f"INSERT {{ GRAPH <{fresh}> {{ ?s <urn:seen> ?o }} }} WHERE {{ {pattern} }}"
        )
        assert found.added == 2, pattern
        told.graphs.update(f"DROP GRAPH <{fresh}>")


def test_an_update_is_a_line_of_the_audit_graph_without_what_it_says(told: Memento) -> None:
    before = quads(told, audit_iri("local"))
    holder = told.with_access(Access(right="write", name="gardener"))
    holder.graphs.update(f"INSERT DATA {{ GRAPH <{COMPANY}> {{ <urn:a> <urn:secret> 'word' , 'other' }} }}")
    said = {predicate: value for _, predicate, value, _ in quads(told, audit_iri("local")) - before}

    assert said[TYPE] == MEM.Update
    assert (said[MEM.token], said[MEM.added], said[MEM.removed], said[MEM.graph]) == ("gardener", 2, 0, COMPANY)
    assert not any("secret" in str(value) or "word" in str(value) for value in said.values())
    lines = f"{P} SELECT ?u {{ GRAPH <{audit_iri('local')}> {{ ?u a mem:Update }} }}"
    assert asked(told, lines)
    assert asked(holder, lines) == []
    told.graphs.update(f"DELETE DATA {{ GRAPH <{COMPANY}> {{ <urn:a> <urn:secret> 'no such thing' }} }}")
    assert len(quads(told, audit_iri("local")) - before) == len(said)


@pytest.mark.parametrize(
    ("update", "kind", "words"),
    [
        ("INSERT DATA { <urn:a> <urn:b> }", InputError, "line 1, column"),
        ("CLEAR GRAPH <urn:memento:data:local:none>", NotFound, "no graph"),
        (
            "INSERT { <urn:a> <urn:b> ?x } WHERE { VALUES ?a {1 2 3 4 5 6 7 8 9 0} VALUES ?b {1 2 3 4 5 6 7 8 9 0} "
            "VALUES ?c {1 2 3 4 5} BIND(CONCAT(STR(?a), ' ', STR(?b), ' ', STR(?c)) AS ?x) }",
            TooLong,
            "limits.update_quads",
        ),
        (f"INSERT DATA {{ {' '.join(f'<urn:n{n}> <urn:b> 1 .' for n in range(21))} }}", TooLong, "limits.update_nodes"),
        ("INSERT DATA { <urn:memento:user:local> <urn:b> 1 }", Forbidden, "described by notes alone"),
        ("INSERT DATA { <urn:me> a <http://purl.org/memento/User> }", Forbidden, "described by notes alone"),
        ("INSERT DATA { <urn:a> <urn:b> <<( <urn:a> <urn:b> 1 )>> }", InputError, "triples within triples"),
    ],
)
def test_what_is_refused_changes_nothing_and_says_why(
    told: Memento, update: str, kind: type[MementoError], words: str
) -> None:
    before = everything(told)
    with pytest.raises(kind, match=words):
        told.graphs.update(update)

    assert everything(told) == before


def test_a_node_of_ours_is_described_in_one_graph(told: Memento) -> None:
    [[theirs]] = asked(told.with_access(Access(tenant="rival")), P + "SELECT ?m { ?m a mem:Memory }")
    mine = memory(told, "I work at Google.")
    for iri, graph in ((theirs, MAIN), (mine, graph_iri("local", "work"))):
        with pytest.raises(Conflict, match="two graphs"):
            told.graphs.update(f"{P} INSERT DATA {{ GRAPH <{graph}> {{ <{iri}> a mem:Memory }} }}")
    with pytest.raises(Conflict, match="two graphs"):
        told.graphs.update(f"COPY <{MAIN}> TO <{graph_iri('local', 'other')}>")
    assert CANARY in str(told.with_access(Access(tenant="rival")).recall(f"Where is {CANARY}?", gate=False).memories)


def test_a_graph_is_put_added_to_read_and_deleted(told: Memento) -> None:
    graph = data_iri("local", "people")
    put = told.graphs.put(b"<urn:a> <urn:p> 1 , 2 . <> <urn:p> <rel> .", graph)
    again = told.graphs.put(b"<urn:a> <urn:p> 3 .", graph)
    same = told.graphs.put(b"<urn:a> <urn:p> 3 .", graph)
    added = told.graphs.post(b'<urn:a> <urn:p> "x"@en .\n', graph, media="application/n-triples")
    body, media = told.graphs.get(graph, accept="application/n-triples")

    assert (put.added, put.removed, put.is_new) == (3, 0, True)
    assert (again.added, again.removed, again.is_new) == (1, 3, False)
    assert (same.added, same.removed) == (0, 0)
    assert (added.added, added.removed) == (1, 0)
    assert media == "application/n-triples"
    assert set(body.decode().splitlines()) == {
        '<urn:a> <urn:p> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        '<urn:a> <urn:p> "x"@en .',
    }
    assert told.graphs.delete(graph).removed == 2
    with pytest.raises(NotFound):
        told.graphs.get(graph)
    with pytest.raises(NotFound):
        told.graphs.delete(graph)


def test_a_patch_reads_and_writes_its_graph_alone(told: Memento) -> None:
    told.graphs.put(b"<urn:a> <urn:p> 1 .", COMPANY)
    moved = told.graphs.patch("DELETE { ?s <urn:p> ?o } INSERT { ?s <urn:q> ?o } WHERE { ?s ?p ?o }", COMPANY)
    named = told.graphs.patch(
        f"INSERT {{ GRAPH <{COMPANY}> {{ ?s <urn:r> ?o }} }} WHERE {{ GRAPH ?g {{ ?s <urn:q> ?o }} }}", COMPANY
    )

    assert (moved.added, moved.removed, moved.graphs, named.added) == (1, 1, (COMPANY,), 1)
    before = everything(told)
    for update, graph, kind, words in (
        ("INSERT DATA { <urn:a> <urn:b> 1 }", data_iri("local", "none"), NotFound, "no graph"),
        ("INSERT DATA { <urn:a> <urn:b> 1 }", graph_iri("rival", "main"), Forbidden, "not yours to write"),
        (f"INSERT DATA {{ GRAPH <{MAIN}> {{ <urn:a> <urn:b> 1 }} }}", COMPANY, WrongGraph, MAIN),
        (f"MOVE <{COMPANY}> TO <{data_iri('local', 'new')}>", COMPANY, WrongGraph, "new"),
        (f"WITH <{MAIN}> DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}", COMPANY, InputError, "by the address"),
        (f"CREATE GRAPH <{COMPANY}>", COMPANY, Conflict, "already"),
        ("INSERT DATA { <urn:a> a <http://purl.org/memento/Memory> }", MAIN, ShapeViolation, "MemoryShape"),
        (
            f"{P} DELETE {{ ?n mem:content ?c }} INSERT {{ ?n mem:content 'other' }} "
            "WHERE { ?n a mem:Note ; mem:content ?c }",
            MAIN,
            Forbidden,
            "what was said",
        ),
    ):
        with pytest.raises(kind, match=words):
            told.graphs.patch(update, graph)
    assert everything(told) == before
    with pytest.raises(Forbidden, match="right to write"):
        told.with_access(Access(right="read")).graphs.patch("CLEAR DEFAULT", COMPANY)
    told.graphs.delete(COMPANY)


@pytest.mark.parametrize("way", ["CLEAR GRAPH", "DROP GRAPH", "delete", "put"])
def test_what_empties_a_graph_of_memories_leaves_a_backup_that_undoes_it(tmp_path: Path, way: str) -> None:
    with open_memento(tmp_path / "home", configured=OFFLINE) as opened:
        assert isinstance(opened, Memento)
        opened.note("I live in Oslo.")
        opened.graphs.update(f"{P} DELETE {{ ?n mem:idempotencyKey ?k }} WHERE {{ ?n mem:idempotencyKey ?k }}")
        backups = opened.service.datadir.backups
        assert not backups.exists()
        match way:
            case "delete":
                opened.graphs.delete(MAIN)
            case "put":
                opened.graphs.put(b"", MAIN)
            case _:
                opened.graphs.update(f"{way} <{MAIN}>")
        assert (opened.status().memories, len(list(backups.iterdir()))) == (0, 1)
        opened.admin.restore(str(backups))
        assert [one.content for one in opened.recall("Where do I live?").memories] == ["I live in Oslo."]


def test_a_document_that_is_wrong_too_long_or_of_another_graph_is_refused(told: Memento) -> None:
    graph = data_iri("local", "bad")
    for document, media, kind, words in (
        (b"<urn:a> <urn:b>", "text/turtle", InputError, "line 1"),
        (b"<urn:a> <urn:b> <urn:c> <urn:g> .", "application/n-quads", InputError, "names the graph"),
        (b"<urn:a> <urn:b> '" + 2_000 * b"x" + b"' .", "text/turtle", TooLong, "limits.graph_bytes"),
        (
            b"<urn:a> <urn:b> " + 9 * b"<<( <urn:a> <urn:b> " + b"1" + 9 * b")>>" + b" .",
            "text/turtle",
            InputError,
            "deeper than 8",
        ),
    ):
        with pytest.raises(kind, match=words):
            told.graphs.put(document, graph, media=media)
    same = f"<urn:a> <urn:b> <urn:c> <{graph}> .".encode()
    assert told.graphs.put(same, graph, media="application/n-quads").added == 1
    assert told.graphs.delete(graph).removed == 1


def test_much_is_added_in_one_piece_and_changed_only_in_small_ones(told: Memento) -> None:
    graph = data_iri("local", "much")
    many = [b"".join(b"<urn:s%d> <urn:p> %d .\n" % (n, n + k) for n in range(60)) for k in range(7)]

    assert [told.graphs.post(some, graph).added for some in many] == [60] * 7
    with pytest.raises(TooLong, match="DELETE the graph first"):
        told.graphs.put(b"<urn:s> <urn:p> 1 .", graph)
    assert told.graphs.delete(graph).removed == 420


def test_a_token_of_some_namespaces_writes_those_alone(told: Memento) -> None:
    some = told.with_access(Access(right="write", namespaces=("work",), name="some"))
    work = graph_iri("local", "work")

    assert some.graphs.update("INSERT DATA { <urn:n> <urn:p> 1 }").graphs == (work,)
    with pytest.raises(Forbidden, match="not yours to write"):
        some.graphs.update(f"DELETE DATA {{ GRAPH <{MAIN}> {{ <urn:n> <urn:p> 1 }} }}")
    assert (
        some.graphs.update(
            f"INSERT {{ GRAPH <{COMPANY}> {{ ?s ?p ?o }} }} WHERE {{ GRAPH <{MAIN}> {{ ?s ?p ?o }} }}"
        ).added
        == 0
    )
    assert some.graphs.update("DELETE DATA { <urn:n> <urn:p> 1 }").removed == 1


def test_who_may_only_read_writes_nothing(told: Memento) -> None:
    reader = told.with_access(Access(right="read", name="reader"))
    attempts: list[Callable[[], object]] = [
        lambda: reader.graphs.update("INSERT DATA { <urn:a> <urn:b> 1 }"),
        lambda: reader.graphs.put(b"", COMPANY),
        lambda: reader.graphs.post(b""),
        lambda: reader.graphs.delete(COMPANY),
    ]
    for attempt in attempts:
        with pytest.raises(Forbidden, match="right to write"):
            attempt()


def test_what_is_written_meanwhile_is_seen_by_an_update_that_is_tried_again(told: Memento) -> None:
    pool, runs = told.service.workers, 0
    real = pool.run

    def interrupted(*arguments: Any, **more: Any) -> Any:
        nonlocal runs
        runs += 1
        answer = real(*arguments, **more)
        if runs == 1:
            told.service.stores.graph.apply(_one("meanwhile"))
        return answer

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(pool, "run", interrupted)
        told.graphs.update(
            f"INSERT {{ GRAPH <{COMPANY}> {{ ?s <urn:twice> ?o . <urn:s> <urn:p> 1 }} }} "
            f"WHERE {{ OPTIONAL {{ GRAPH <{COMPANY}> {{ ?s <urn:m> ?o }} }} }}"
        )

    assert runs == 2
    assert (IRI("urn:s"), IRI("urn:twice"), "meanwhile", COMPANY) in quads(told, COMPANY)


def _one(text: str) -> Any:
    from memento.model import Change

    return Change(((IRI("urn:s"), IRI("urn:m"), text, COMPANY),))


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        (
            "DELETE { ?m mem:content ?c } INSERT { ?m mem:content 'USER keeps bees.' } WHERE { ?m a mem:Memory ; mem:content ?c }",
            "`correct`",
        ),
        ("DELETE { ?m mem:content ?c } WHERE { ?m a mem:Memory ; mem:content ?c }", "`correct`"),
        ("INSERT { ?m mem:content 'USER keeps bees.' } WHERE { ?m a mem:Memory }", "`forget`"),
        ("DELETE { ?m a mem:Memory ; mem:content ?c } WHERE { ?m a mem:Memory ; mem:content ?c }", "`correct`"),
        ("INSERT { ?e mem:description 'A bank.' } WHERE { ?e a mem:Entity }", "note what is true"),
        (
            "DELETE { ?e mem:isWellKnown ?w } INSERT { ?e mem:isWellKnown ?x } "
            "WHERE { ?e a mem:Entity OPTIONAL { ?e mem:isWellKnown ?w } BIND (!COALESCE(?w, false) AS ?x) }",
            "what was said",
        ),
        (
            "INSERT { ?m mem:accessCount 99 } WHERE { ?m a mem:Memory FILTER NOT EXISTS { ?m mem:accessCount ?n } }",
            "`feedback`",
        ),
        ("INSERT { ?m mem:successCount 99 } WHERE { ?m a mem:Memory }", "`feedback`"),
        ("INSERT { ?m mem:failureCount 99 } WHERE { ?m a mem:Memory }", "`feedback`"),
        ("INSERT { ?m mem:energy 0.1 } WHERE { ?m a mem:Memory FILTER NOT EXISTS { ?m mem:energy ?n } }", "`mark`"),
    ],
)
@pytest.mark.parametrize("way", ["update", "patch", "put"])
def test_words_and_what_is_derived_are_refused_with_what_to_do_instead(
    memento: Memento, change: str, remedy: str, way: str
) -> None:
    memento.note("I work at Google.")
    before = everything(memento)
    if way == "put":
        store = ox.Store()
        document, _ = memento.graphs.get(MAIN, accept="application/n-triples")
        store.load(document, ox.RdfFormat.N_TRIPLES)
        store.update(f"{P} {change}")
        changed = ox.serialize((quad.triple for quad in store), format=ox.RdfFormat.N_TRIPLES)
        with pytest.raises(Forbidden, match=remedy):
            memento.graphs.put(changed or b"", MAIN, media="application/n-triples")
    else:
        with pytest.raises(Forbidden, match=remedy):
            memento.graphs.update(f"{P} {change}") if way == "update" else memento.graphs.patch(f"{P} {change}", MAIN)

    assert everything(memento) == before


def test_a_graph_that_is_put_back_as_it_was_read_is_taken(memento: Memento) -> None:
    memento.note("I work at Google.")
    document, _ = memento.graphs.get(MAIN, accept="application/n-triples")
    noted = document + b'<urn:memento:session:x> <urn:my:mark> "1" .'

    assert memento.graphs.put(document, MAIN, media="application/n-triples").added == 0
    assert memento.graphs.put(noted, MAIN, media="application/n-triples").added == 1


def test_a_changed_memory_is_found_by_its_new_words_and_a_deleted_one_no_more(memento: Memento) -> None:
    [first] = memento.note("I work at Google.").memories
    [second] = memento.note("I live in Lisbon.").memories
    memento.graphs.update(
        f"{P} DELETE {{ <{first}> mem:title ?old }} INSERT {{ <{first}> mem:title 'The botanical garden' }} "
        f"WHERE {{ OPTIONAL {{ <{first}> mem:title ?old }} }}"
    )

    assert [one.iri for one in memento.recall("the botanical garden", k=1).memories] == [first]
    memento.graphs.update(
        f"{P} DELETE {{ ?s ?p ?o }} WHERE {{ {{ <{second}> ?p ?o . ?s ?p ?o FILTER (?s = <{second}>) }} "
        f"UNION {{ ?s mem:statedBy <{second}> ; ?p ?o }} }}"
    )
    assert memento.datadir.erasure_mark.exists()
    assert second not in {one.iri for one in memento.recall("Where do I live? Lisbon", gate=False).memories}
    assert not [quad for quad in everything(memento) if second in quad]
    assert memento.admin.check() == ()


def test_a_memory_that_is_written_by_hand_is_recalled(memento: Memento) -> None:
    memento.note("I work at Google.")
    memento.graphs.update(
        P
        + "INSERT DATA { <urn:my:note> a mem:Note ; mem:content 'As Ada told me.' ; mem:at '2026-01-01T00:00:00Z'^^xsd:dateTime . "
        "<urn:my:ada> a mem:Entity ; mem:name 'Ada' ; mem:entityType mem:Person . "
        "<urn:my:memory> a mem:Memory ; mem:content 'Ada keeps bees in Porto.' ; mem:about <urn:my:ada> ; "
        "mem:extractedFrom <urn:my:note> ; mem:validAt '2026-01-01T00:00:00Z'^^xsd:dateTime ; "
        "mem:createdAt '2026-01-01T00:00:00Z'^^xsd:dateTime }"
    )

    [found] = memento.recall("Who keeps bees?", k=1).memories
    assert (found.content, found.about) == ("Ada keeps bees in Porto.", ("Ada",))
    assert memento.admin.check() == ()


@pytest.mark.parametrize(
    ("update", "shape"),
    [
        ("INSERT { ?m mem:title 'fr'@fr } WHERE { ?m a mem:Memory }", "MemoryShape"),
        ("DELETE { ?n ?p ?o } WHERE { ?n a mem:Note ; ?p ?o }", "MemoryShape"),
        ("DELETE { ?e a mem:Entity } WHERE { ?e a mem:Entity }", "MemoryShape"),
        ("INSERT { ?e mem:relatedTo ?e } WHERE { ?e a mem:Entity }", "EntityShape"),
        ("DELETE { ?i ?p ?o } WHERE { ?i a mem:Invalidation ; ?p ?o }", "ShortcutShape"),
        ("DELETE { ?m ?p ?o } WHERE { ?i mem:invalidated ?m . ?m ?p ?o }", "InvalidationShape"),
        ("INSERT { ?m mem:eventAt 'yesterday' } WHERE { ?m a mem:Memory }", "MemoryShape"),
    ],
)
def test_what_breaks_a_shape_is_refused_whole_with_what_to_do(memento: Memento, update: str, shape: str) -> None:
    memento.note("I work at Google.", at="2024-01-01")
    memento.note("I work at Microsoft now.", at="2025-01-01")
    before = everything(memento)
    with pytest.raises(ShapeViolation, match=rf"nothing was written: {shape}: ") as caught:
        memento.graphs.update(f"{P} {update} ; INSERT DATA {{ GRAPH <{COMPANY}> {{ <urn:a> <urn:b> 1 }} }}")

    assert "<urn:memento:" in caught.value.report
    assert everything(memento) == before


_AMONG = st.sampled_from(["Google", "Microsoft", "Lisbon", "Ada", "tea", "Porto"])
_EDITS = st.one_of(
    st.builds(
        "DELETE {{ ?m mem:title ?t }} INSERT {{ ?m mem:title 'What USER knows of {}' }} "
        "WHERE {{ ?m mem:content ?c . ?m a mem:Memory . "
        "FILTER(CONTAINS(?c, '{}')) OPTIONAL {{ ?m mem:title ?t }} }}".format,
        _AMONG,
        _AMONG,
    ),
    st.builds(
        "DELETE {{ ?e mem:name ?n }} INSERT {{ ?e mem:name '{} the second' }} "
        "WHERE {{ ?e a mem:Entity ; mem:name ?n FILTER(STRSTARTS(?n, '{}')) }}".format,
        _AMONG,
        _AMONG,
    ),
    st.builds(
        "DELETE {{ ?m ?p ?o . ?i ?q ?r . ?x mem:invalidates ?m }} WHERE {{ ?m a mem:Memory ; mem:content ?c ; ?p ?o "
        "FILTER(CONTAINS(?c, '{}')) OPTIONAL {{ ?i mem:invalidated ?m ; ?q ?r . ?x mem:invalidates ?m }} }}".format,
        _AMONG,
    ),
    st.just(
        "DELETE { ?i ?p ?o . ?m mem:invalidAt ?t . ?x mem:invalidates ?m } "
        "WHERE { ?i mem:invalidated ?m ; ?p ?o . ?m mem:invalidAt ?t . ?x mem:invalidates ?m }"
    ),
    st.just(
        "INSERT { ?m mem:expiredAt ?t } WHERE { ?m a mem:Memory ; mem:createdAt ?t FILTER NOT EXISTS { ?m mem:expiredAt ?e } }"
    ),
    st.just("DELETE { ?n mem:session ?s } WHERE { ?n mem:session ?s }"),
    st.builds("DELETE {{ ?m mem:about ?a }} WHERE {{ ?m mem:about ?a . ?a mem:name '{}' }}".format, _AMONG),
)


@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_EDITS, min_size=1, max_size=4))
def test_after_any_updates_the_indexes_are_those_that_the_graph_gives(
    tmp_path_factory: pytest.TempPathFactory, edits: list[str]
) -> None:
    opened = open_memento(tmp_path_factory.mktemp("any") / "home", configured=OFFLINE)
    assert isinstance(opened, Memento)
    with opened:
        for position, (text, speaker) in enumerate(
            [
                ("I work at Google.", None),
                ("I work at Microsoft now.", None),
                ("I live in Lisbon.", "Ada"),
                ("I like tea.", "Ada"),
            ]
        ):
            opened.note(
                text,
                at=f"202{position}-01-01",
                speaker=speaker,
                session="s" if speaker else None,
                position=position if speaker else None,
            )
        for edit in edits:
            try:
                opened.graphs.update(P + edit)
            except (ShapeViolation, Forbidden):
                continue
        found = told_by(opened)
        assert opened.admin.check() == ()
        opened.admin.rebuild()
        assert found == told_by(opened)


def told_by(memento: Memento) -> list[object]:
    questions = ("Where do I work?", "Who lives in Lisbon?", "Ada tea", "Microsoft")
    shown = [memento.recall(question, gate=False, k=5).memories for question in questions]
    then = [memento.recall("work", gate=False, as_of="2020-06-01", believed_at="2021-06-01").memories]
    links = [
        sorted(memento.service.stores.indexes.names.items()),
        sorted(memento.service.stores.indexes.retired_at.items()),
    ]
    return [
        [(one.iri, one.content, one.about, round(one.score, 4)) for one in some] for some in (*shown, *then)
    ] + links


def test_a_restart_finds_what_was_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_memento(home, configured=OFFLINE) as opened:
        [iri] = opened.note("I work at Google.").memories
        opened.graphs.update(
            f"{P} DELETE {{ ?s ?p ?o }} WHERE {{ {{ <{iri}> ?p ?o . ?s ?p ?o FILTER (?s = <{iri}>) }} "
            f"UNION {{ ?s mem:statedBy <{iri}> ; ?p ?o }} }}"
        )
        opened.graphs.update(
            P + "INSERT DATA { <urn:my:note> a mem:Note ; mem:content 'As Ada told me.' ; "
            "mem:at '2026-01-01T00:00:00Z'^^xsd:dateTime . <urn:my:memory> a mem:Memory ; "
            "mem:content 'USER keeps bees.' ; mem:about <urn:memento:user:local> ; "
            "mem:extractedFrom <urn:my:note> ; mem:validAt '2026-01-01T00:00:00Z'^^xsd:dateTime ; "
            "mem:createdAt '2026-01-01T00:00:00Z'^^xsd:dateTime }"
        )
    with open_memento(home, configured=OFFLINE) as opened:
        assert isinstance(opened, Memento)
        assert opened.recall("bees", k=1).memories[0].content == "USER keeps bees."
        assert opened.admin.check() == ()
        assert not [quad for quad in opened.service.stores.graph.quads(SELF) if "Google." in str(quad[2])]
    assert not any(b"works at Google" in path.read_bytes() for path in (home / "store").iterdir() if path.is_file())
