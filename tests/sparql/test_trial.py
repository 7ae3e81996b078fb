"""What an update would change: the same as the engine's own update makes of it, read from the dataset alone, and on no snapshot."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memento.errors import Conflict, InputError, NotFound, TooLong
from memento.graph import store as deltas
from memento.graph.store import Delta
from memento.iris import IRI
from memento.model import Dataset
from memento.sparql.guard import tokenise
from memento.sparql.jobs import TrialOptions, operation_from_plain
from memento.sparql.trial import collect_data, copy_snapshot, try_operations
from memento.sparql.update import Using, parse_operations, plan_operations

PLAIN = Dataset()
DATA = """
<urn:a> <urn:p> 1 , 2 , "x"@en . <urn:b> <urn:p> _:n . _:n <urn:q> <urn:a> .
<urn:g> { <urn:a> <urn:p> <urn:b> . _:m <urn:p> "1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> }
<urn:h> { <urn:b> <urn:q> <urn:c> . <urn:a> <urn:p> <urn:b> }
"""


def stored(data: str = DATA) -> ox.Store:
    store = ox.Store()
    store.extend(ox.parse(data, ox.RdfFormat.TRIG))
    return store


def twin(store: ox.Store) -> ox.Store:
    made = ox.Store()
    made.extend(store)
    for graph in store.named_graphs():
        made.add_graph(graph)
    return made


def changes(
    sparql: str,
    store: ox.Store,
    dataset: Dataset = PLAIN,
    terms: TrialOptions | None = None,
    using: Using | None = None,
) -> Delta:
    """What an update would change, as a worker says it."""
    acts = plan_operations(parse_operations(sparql, tuple(tokenise(sparql))), dataset, using or Using(), "http://base/")
    travelled = [operation_from_plain(json.loads(json.dumps(asdict(act)))) for act in acts]
    return Delta.unpack(
        try_operations(travelled, store, lambda: twin(store), terms or TrialOptions(base="http://base/")).pack()
    )


def shown(store: ox.Store) -> tuple[set[str], set[str]]:
    """The quads, whatever their blank nodes are called, and the named graphs."""
    dataset = ox.Dataset(store)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, dataset)), set(map(str, store.named_graphs()))


def same_as_the_engine(sparql: str, data: str = DATA) -> None:
    store, engines = stored(data), stored(data)
    before = shown(store)
    found = changes(sparql, store)

    assert shown(store) == before, "the snapshot changed"
    deltas.apply_delta(found, store)
    engines.update(sparql, base_iri="http://base/")
    assert shown(store) == shown(engines)


@pytest.mark.parametrize(
    "sparql",
    [
        "INSERT DATA { <urn:c> <urn:p> <rel> , 'y'@fr , '2026'^^<urn:t> ; <urn:q> ( 1 [ <urn:p> true ] ) }",
        "DELETE DATA { <urn:a> <urn:p> 1 , 7 . GRAPH <urn:g> { <urn:a> <urn:p> <urn:b> } GRAPH <urn:none> { <urn:a> <urn:p> 1 } }",
        "DELETE WHERE { ?s <urn:p> ?o }",
        "DELETE WHERE { GRAPH ?g { ?s ?p ?o } ?s ?p2 ?o2 }",
        "DELETE { ?s <urn:p> ?o } INSERT { ?o <urn:p> ?s . ?s <urn:was> ?o } WHERE { ?s <urn:p> ?o }",
        "INSERT { GRAPH ?g { ?s ?p [ <urn:p> ?o ] } } WHERE { ?s ?p ?o VALUES ?g { <urn:g> <urn:new> 'text' } }",
        "INSERT { _:x <urn:p> ?n ; <urn:q> _:x } WHERE { VALUES ?n { 1 1 2 } }",
        "INSERT { <urn:n> <urn:p> ?unbound } WHERE { OPTIONAL { <urn:none> <urn:p> ?unbound } }",
        "INSERT { ?s <urn:p> 1 } WHERE { BIND(BNODE() AS ?s) }",
        "WITH <urn:g> DELETE { ?s ?p ?o } INSERT { ?o ?p ?s } WHERE { ?s ?p ?o }",
        "WITH <urn:g> INSERT { ?s <urn:z> ?g } WHERE { GRAPH ?g { ?s <urn:q> ?o } }",
        "WITH <urn:g> DELETE { ?s ?p ?o } USING <urn:h> WHERE { ?s ?p ?o }",
        "INSERT { ?s <urn:z> ?o } USING <urn:g> USING NAMED <urn:h> WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
        "INSERT { ?s <urn:z> ?o } USING NAMED <urn:h> WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }",
        "INSERT { <urn:x> <urn:n> ?n } WHERE { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } }",
        "INSERT { <urn:x> <urn:n> <<( <urn:a> <urn:p> ?o )>> } WHERE { <urn:a> <urn:p> ?o }",
        "PREFIX ex: <urn:> INSERT DATA { ex:a ex:p ex:z {| ex:q 1 |} }",
        "CLEAR GRAPH <urn:g>",
        "CLEAR DEFAULT",
        "CLEAR NAMED",
        "CLEAR ALL",
        "DROP GRAPH <urn:g> ; DROP SILENT GRAPH <urn:none>",
        "DROP DEFAULT",
        "DROP NAMED",
        "DROP ALL ; INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> 1 } }",
        "CREATE GRAPH <urn:new> ; CREATE SILENT GRAPH <urn:g>",
        "CREATE GRAPH <urn:new> ; DROP GRAPH <urn:new>",
        "COPY <urn:g> TO <urn:h>",
        "COPY DEFAULT TO <urn:new>",
        "MOVE <urn:g> TO DEFAULT",
        "MOVE <urn:g> TO <urn:g>",
        "ADD <urn:h> TO <urn:g> ; ADD SILENT <urn:none> TO <urn:h>",
        "INSERT DATA { <urn:c> <urn:p> 1 } ; DELETE DATA { <urn:c> <urn:p> 1 }",
        "DELETE WHERE { ?s ?p ?o } ; INSERT { <urn:was> <urn:p> ?n } WHERE { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } }",
        "INSERT DATA { <urn:c> <urn:p> 9 } ; INSERT { ?s <urn:twice> ?o } WHERE { ?s <urn:p> ?o FILTER(?o > 1) }",
        "DELETE DATA { <urn:a> <urn:p> 1 } ; CLEAR GRAPH <urn:g> ; "
        "INSERT DATA { <urn:a> <urn:p> 1 GRAPH <urn:g> { <urn:a> <urn:p> <urn:b> } }",
        "MOVE <urn:g> TO <urn:h> ; INSERT { ?s <urn:z> ?o } WHERE { GRAPH <urn:h> { ?s <urn:p> ?o } }",
    ],
)
def test_a_trial_comes_to_what_the_engine_makes_of_it(sparql: str) -> None:
    same_as_the_engine(sparql)


_TERMS = st.sampled_from(["?s", "?o", "<urn:a>", "<urn:b>", "1", "'x'@en"])
_NODES = st.sampled_from(["?s", "?o", "<urn:a>", "<urn:b>"])
_GRAPHS = st.sampled_from(["<urn:g>", "<urn:h>", "<urn:new>"])
_TRIPLES = st.builds("{} {} {} .".format, _NODES, st.sampled_from(["<urn:p>", "<urn:q>", "?p"]), _TERMS)
_QUADS = st.one_of(_TRIPLES, st.builds("GRAPH {} {{ {} }}".format, st.one_of(_GRAPHS, st.just("?g")), _TRIPLES))
_GROUPS = st.lists(_QUADS, min_size=1, max_size=3).map(" ".join)
_ACTS = st.one_of(
    st.builds("DELETE {{ {} }} INSERT {{ {} }} WHERE {{ {} }}".format, _GROUPS, _GROUPS, _GROUPS),
    st.builds("WITH {} INSERT {{ {} }} WHERE {{ {} }}".format, _GRAPHS, _GROUPS, _GROUPS),
    st.builds("DELETE {{ {} }} USING {} USING NAMED {} WHERE {{ {} }}".format, _GROUPS, _GRAPHS, _GRAPHS, _GROUPS),
    st.builds("DELETE WHERE {{ {} }}".format, _GROUPS),
    st.builds(
        "{} SILENT {}".format,
        st.sampled_from(["CLEAR", "DROP"]),
        st.one_of(st.just("DEFAULT"), _GRAPHS.map("GRAPH {}".format)),
    ),
    st.builds(
        "{} {} TO {}".format,
        st.sampled_from(["COPY", "MOVE", "ADD"]),
        st.just("<urn:g>"),
        st.sampled_from(["DEFAULT", "<urn:h>"]),
    ),
)


@settings(max_examples=60)
@given(st.lists(_ACTS, min_size=1, max_size=3).map(" ; ".join))
@example("DELETE { ?s ?p ?o } INSERT { GRAPH ?g { ?s <urn:p> ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }")
def test_whatever_the_update_the_engine_comes_to_the_same(sparql: str) -> None:
    store, engines = stored(), stored()
    try:
        engines.update(sparql)
    except RuntimeError:  # a graph that is not there: the engine takes a COPY of it for one of nothing
        return
    try:
        found = changes(sparql, store)
    except NotFound:
        return
    deltas.apply_delta(found, store)

    assert shown(store)[0] == shown(engines)[0]


@pytest.mark.parametrize(
    "sparql",
    [
        "INSERT DATA { <urn:a> <urn:p> 1 , 9 } ; DELETE DATA { <urn:a> <urn:p> 9 , 2 , 8 }",
        "DELETE DATA { <urn:a> <urn:p> 1 } ; INSERT DATA { <urn:a> <urn:p> 1 } ; INSERT DATA { GRAPH <urn:g> { _:x <urn:p> _:x } }",
        "DELETE DATA { GRAPH <urn:none> { <urn:a> <urn:p> 1 } }",
    ],
)
def test_given_data_come_to_the_same_whatever_snapshot_they_are_read_beside(sparql: str) -> None:
    store, engines = stored(), stored()
    acts = plan_operations(parse_operations(sparql, tuple(tokenise(sparql))), PLAIN, Using(), None)
    found = deltas.minimise_delta(collect_data(acts, TrialOptions()), store)
    tries = try_operations(acts, store, lambda: twin(store), TrialOptions())

    assert (found.added, found.removed, set(found.touched)) == (tries.added, tries.removed, set(tries.touched))
    deltas.apply_delta(found, store)
    engines.update(sparql)
    assert shown(store) == shown(engines)


def test_a_pattern_reads_its_dataset_and_nothing_else() -> None:
    mine = Dataset(default=(IRI("urn:g"),), named=(IRI("urn:g"),), into=IRI("urn:memento:data:local:x"), tenant="local")
    patterns = [
        "?s ?p ?o",
        "GRAPH ?g { ?s ?p ?o }",
        "GRAPH <urn:h> { ?s ?p ?o }",
        "?s (<urn:p>|<urn:q>|!<urn:p>)* ?o",
        "{ SELECT ?s ?p ?o { GRAPH ?g { ?s ?p ?o } } }",
        "<urn:a> <urn:p> ?o FILTER EXISTS { GRAPH <urn:h> { ?s ?p ?o } }",
    ]
    for pattern in patterns:
        found = changes(f"INSERT {{ ?s <urn:seen> ?o }} WHERE {{ {pattern} }}", stored(), mine)
        assert b"urn:c" not in found.adds, pattern
        assert b'"2"' not in found.adds, pattern
        assert b'"x"' not in found.adds, pattern


def test_the_graphs_that_a_request_chooses_take_the_place_of_all() -> None:
    chosen = Using(default=("urn:h",), named=("urn:g",))
    found = changes(
        "INSERT { ?s <urn:z> ?o } WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }", stored(), using=chosen
    )

    assert b"urn:c" in found.adds
    assert b'"2"' not in found.adds
    for text in (
        "WITH <urn:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "DELETE { ?s ?p ?o } USING <urn:g> WHERE { ?s ?p ?o }",
    ):
        with pytest.raises(InputError, match="not by both"):
            changes(text, stored(), using=chosen)


def test_what_would_be_a_blank_node_is_an_iri_where_none_is_wanted() -> None:
    update = "INSERT DATA { _:x <urn:p> _:x } ; INSERT { ?s <urn:q> ?o . [] <urn:r> ?s } WHERE { ?s <urn:p> ?o }"
    found = changes(update, stored(""), terms=TrialOptions(no_blanks=True))
    quads = list(deltas.parse_quads(found.adds))

    assert len(quads) == 3
    assert b"_:" not in found.adds
    assert len({quad.subject for quad in quads if quad.predicate.value in ("urn:p", "urn:q")}) == 1


def test_it_names_every_graph_that_it_would_write_whether_that_changes_anything_or_not() -> None:
    update = (
        "DELETE { GRAPH ?g { ?s ?p 'nothing like it' } } WHERE { GRAPH ?g { ?s ?p ?o } } ; "
        "DELETE DATA { GRAPH <urn:x> { <urn:a> <urn:p> 1 } }"
    )
    found = changes(update, stored())

    assert (found.added, found.removed) == (0, 0)
    assert set(found.touched) == {"urn:g", "urn:h", "urn:x"}


def test_a_graph_that_is_emptied_comes_back_quad_by_quad_only_where_that_is_asked() -> None:
    whole = changes("CLEAR GRAPH <urn:g>", stored())
    listed = changes("CLEAR GRAPH <urn:g>", stored(), terms=TrialOptions(listed="urn:g"))

    assert (whole.removed, whole.removes, whole.cleared) == (2, b"", ("urn:g",))
    assert (listed.removed, listed.removes.count(b"\n"), listed.cleared) == (2, 2, ())


@pytest.mark.parametrize(
    ("sparql", "kind", "told"),
    [
        ("CLEAR GRAPH <urn:none>", NotFound, "no graph <urn:none>"),
        ("COPY <urn:none> TO <urn:g>", NotFound, "no graph <urn:none>"),
        ("CREATE GRAPH <urn:g>", Conflict, "a graph <urn:g> already"),
        (
            "INSERT DATA { <urn:a> <urn:p> 1 } ;\n  INSERT DATA { <urn:a> 1 }",
            InputError,
            "line 2, column 25 of the update: this is not SPARQL from here on",
        ),
        ("INSERT { ?s ?p } WHERE { }", InputError, "line 1, column 16 of the update: this is not SPARQL"),
        ("INSERT DATA { ?s <urn:p> 1 }", InputError, "of the update"),
        ("DELETE { _:x <urn:p> 1 } WHERE { }", InputError, "of the update"),
        (
            "INSERT { ?s <urn:p> ?o } WHERE { VALUES ?s { <urn:a> <urn:b> } VALUES ?o { 1 2 3 } }",
            TooLong,
            "at most 5 quads",
        ),
        ("INSERT DATA { nope:a <urn:p> 1 }", InputError, "line 1, column 21 of the update: its prefix is not declared"),
    ],
)
def test_what_fails_says_why_and_changes_nothing(sparql: str, kind: type[Exception], told: str) -> None:
    store = stored()
    with pytest.raises(kind) as caught:
        changes(sparql, store, terms=TrialOptions(most=5))

    assert told in str(caught.value)
    assert shown(store) == shown(stored())


def test_a_copy_of_a_snapshot_is_written_and_the_snapshot_stays(tmp_path: Path) -> None:
    made = ox.Store(tmp_path / "store")
    made.extend(ox.parse(DATA, ox.RdfFormat.TRIG))
    made.backup(tmp_path / "snapshot")
    snapshot = ox.Store.read_only(str(tmp_path / "snapshot"))
    acts = plan_operations(
        parse_operations(
            text := "CLEAR ALL ; INSERT { <urn:x> <urn:n> ?n } WHERE { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } }",
            tuple(tokenise(text)),
        ),
        PLAIN,
        Using(),
        None,
    )
    found = try_operations(acts, snapshot, lambda: copy_snapshot(snapshot, tmp_path / "copy"), TrialOptions())

    assert b'"0"' in found.adds
    assert (tmp_path / "copy").exists()
    assert shown(snapshot) == shown(ox.Store.read_only(str(tmp_path / "snapshot"))) == shown(made)
