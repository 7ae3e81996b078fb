"""Both stores keep the promises of the protocol: embedded, behind a SPARQL endpoint, and read from a replica of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import pyoxigraph as ox
import pytest

from endpoints import Server
from memento import assets
from memento.errors import GraphError
from memento.graph.binding import load_query
from memento.graph.oxigraph import Oxigraph
from memento.graph.store import Delta, Store, parse_quads
from memento.graph.version import load_ontology
from memento.iris import IRI, MEM, ONTOLOGY
from memento.model import Change, Value
from memento.plugins.scale.system import SYSTEM
from trig import parse_trig

A, B = IRI("urn:memento:graph:local:a"), IRI("urn:memento:graph:local:b")
X = IRI("urn:x")
ONE = (X, MEM.name, "one", A)
TWO = (X, MEM.name, "two", B)


@pytest.fixture(params=["embedded", "endpoint"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "embedded":
        opened: Store = Oxigraph(tmp_path / "store")
    else:
        server: Server = request.getfixturevalue("server")
        server.empty()
        node = server.open()
        opened = node
    yield opened
    opened.close()


def names(store: Store, *readable: IRI) -> list[str]:
    rows = store.select("search/statements", list(readable), node=X)
    return sorted(str(row["value"]) for row in rows)


def delta(removes: str = "", adds: str = "", **more: tuple[str, ...]) -> Delta:
    return Delta(
        removes=removes.encode(), adds=adds.encode(), removed=removes.count("\n"), added=adds.count("\n"), **more
    )


def test_a_read_sees_the_graphs_it_names_and_no_others(store: Store) -> None:
    store.apply(Change((ONE, TWO)))

    assert names(store, A) == ["one"]
    assert names(store, A, B) == ["one", "two"]
    assert names(store) == []


def test_removals_come_before_additions(store: Store) -> None:
    store.apply(Change((ONE,)))
    store.apply(Change(adds=(ONE,), removes=(ONE,)))

    assert names(store, A) == ["one"]


def test_a_change_with_one_bad_quad_writes_nothing(store: Store) -> None:
    with pytest.raises(GraphError):
        store.apply(Change((ONE, (IRI("not an iri"), MEM.name, "bad", A))))

    assert names(store, A) == []
    store.apply(Change())


@pytest.mark.parametrize(
    "value",
    [
        'a "quote", a \\ and a line\nand a tab\t',
        "Zoë 🌲 \u200b",
        "",
        X,
        7,
        -3,
        0.1,
        1e300,
        True,
        datetime(2024, 2, 29, 12, 30, 0, 123000, tzinfo=UTC),
    ],
    ids=repr,
)
def test_a_value_comes_back_as_it_went_in(store: Store, value: Value) -> None:
    quad = (X, MEM.name, value, A)
    store.apply(Change((quad,)))

    assert list(store.quads(A)) == [quad]
    store.apply(Change(removes=(quad,)))
    assert list(store.quads(A)) == []


def test_terms_to_the_letter_come_back_as_they_went_in(store: Store) -> None:
    adds = (
        '<urn:x> <urn:p> "chat"@fr <urn:g> .\n'
        '<urn:x> <urn:p> "P1Y"^^<http://www.w3.org/2001/XMLSchema#duration> <urn:g> .\n'
        '<urn:x> <urn:p> "nonsense"^^<urn:type> <urn:g> .\n'
        "<urn:x> <urn:p> _:b1 <urn:g> .\n"
        '_:b1 <urn:p> "blank" <urn:g> .\n'
        "<urn:x> <urn:p> <<( <urn:x> <urn:p> _:b1 )>> <urn:g> .\n"
    )
    store.apply_delta(delta(adds=adds))

    assert set(store.match(graph="urn:g")) == set(parse_quads(adds.encode()))
    assert [str(quad.object) for quad in store.match("_:b1")] == ['"blank"']
    assert all(store.holds(quad) for quad in parse_quads(adds.encode()))
    store.apply_delta(delta(removes=adds))
    assert list(store.match(graph="urn:g")) == []


def test_a_pattern_finds_what_has_its_parts(store: Store) -> None:
    store.apply(Change((ONE, TWO, (X, MEM.about, IRI("urn:y"), A), (IRI("urn:y"), MEM.name, "y", A))))

    assert {str(quad.object) for quad in store.match(X, MEM.name)} == {'"one"', '"two"'}
    assert [str(quad.subject) for quad in store.match(None, None, "urn:y")] == [f"<{X}>"]
    assert len(list(store.match(graph=A))) == 3
    assert list(store.match("urn:nobody")) == []


def test_what_is_written_after_a_pattern_was_asked_is_not_among_what_it_finds(store: Store) -> None:
    store.apply(Change((ONE,)))
    found = store.match(X)
    store.apply(Change((TWO,)))

    assert [str(quad.object) for quad in found] == ['"one"']


def test_a_delta_clears_and_drops_graphs_before_it_adds(store: Store) -> None:
    store.apply(Change((ONE, TWO)))
    store.apply_delta(delta(adds=f'<urn:x> <{MEM.name}> "new" <{A}> .\n', cleared=(A,), dropped=(B,)))

    assert names(store, A, B) == ["new"]
    assert store.graphs() == [A]
    assert not store.has_graph(B)


def test_a_delta_is_made_less_by_what_is_there_already_or_not(store: Store) -> None:
    store.apply(Change((ONE,)))
    there, absent = f'<urn:x> <{MEM.name}> "one" <{A}> .\n', f'<urn:x> <{MEM.name}> "no" <{A}> .\n'
    found = store.minimise_delta(delta(removes=there + absent, adds=there + absent))

    assert (found.removes.decode(), found.adds.decode()) == (there, absent)
    assert (found.removed, found.added) == (1, 1)


def test_the_graphs_are_those_that_hold_something(store: Store) -> None:
    assert store.graphs() == []
    store.apply(Change((TWO,)))
    store.apply(Change((ONE,)))
    assert store.graphs() == [A, B]
    assert store.has_graph(A)
    assert not store.has_graph(SYSTEM)
    assert list(store.quads(SYSTEM)) == []


def test_a_store_without_anything_has_no_graph(store: Store) -> None:
    assert not store.has_graph(A)
    assert list(store.match()) == []


def test_every_write_is_counted(store: Store) -> None:
    before = store.writes
    store.apply(Change((ONE,)))
    store.load(b"<urn:s> <urn:p> 1 .", A)
    store.extend(parse_quads(b'<urn:s> <urn:p> "2" <urn:g> .\n'), [])

    assert store.writes == before + 3
    assert store.failure is None


def test_the_ontology_is_loaded_once_and_whole(store: Store) -> None:
    load_ontology(store)
    writes, count = store.writes, len(list(store.quads(ONTOLOGY)))
    load_ontology(store)

    assert count > 500
    assert store.writes == writes
    document = ox.parse(assets.read("ontology/memento.ttl"), ox.RdfFormat.TURTLE)
    assert count > sum(1 for _ in document)


@pytest.mark.parametrize("nodes", [20, 2_000])
def test_a_write_of_any_size_is_there_with_the_quads_of_a_node_together(store: Store, nodes: int) -> None:
    quads = [(IRI(f"urn:{n}"), name, f"text {n}", A) for name in (MEM.content, MEM.name) for n in range(nodes)]
    store.apply(Change(tuple(quads)))
    subjects = [subject for subject, _, _, _ in store.quads(A)]

    assert len(subjects) == 2 * nodes
    assert len([subject for subject, _ in groupby(subjects)]) == nodes
    store.apply(Change(removes=tuple(quads)))
    assert list(store.quads(A)) == []


def test_a_long_text_is_written_in_one_piece(store: Store) -> None:
    text = "ä\n" * 600_000
    store.apply(Change(((X, MEM.content, text, A),)))

    assert [quad[2] for quad in store.quads(A)] == [text]


def test_a_query_that_is_none_is_an_error(store: Store) -> None:
    with pytest.raises(GraphError, match="no query"):
        store.select("search/nonsense", [A])
    with pytest.raises(GraphError, match="no slot"):
        store.select("search/statements", [A], nonsense=1)


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()

    with pytest.raises(GraphError, match="closed"):
        store.graphs()


OWN = {
    name
    for name in assets.queries()
    if "SERVICE" in assets.read(f"queries/{name}.rq").decode()
    or "similarity" in assets.read(f"queries/{name}.rq").decode()
}
"""Those that ask our own SERVICE or function, which the workers have and no endpoint has."""


@pytest.fixture(scope="module")
def worlds(server: Server) -> Iterator[tuple[Oxigraph, Store]]:
    """The sample world in both stores."""
    quads = Change(tuple(parse_trig(assets.read("ontology/world.trig"))))
    server.empty()
    embedded, remote = Oxigraph(), server.open()
    for store in (embedded, remote):
        store.apply(quads)
        load_ontology(store)
    yield embedded, remote
    remote.close()


def test_the_queries_that_no_endpoint_can_answer_are_those_that_ask_our_own_service() -> None:
    assert {"library/search_joined", "library/search_sources", "library/search_then"} <= OWN
    assert len(OWN) <= 5


def test_every_query_gives_the_same_rows_on_both(worlds: tuple[Oxigraph, Store]) -> None:
    embedded, remote = worlds
    readable = embedded.graphs()
    assert remote.graphs() == readable

    def rows(store: Store, name: str) -> list[list[tuple[str, str]]]:
        # What a LIMIT or an order by equal keys leaves open is open in both.
        return sorted(
            sorted((key, re.sub(r"_:[\w-]+", "_:", repr(value))) for key, value in row.items())
            for row in store.select(name, readable)
        )

    compared = 0
    for name in assets.queries():
        is_select = not any(line.startswith("CONSTRUCT") for line in load_query(name).text.splitlines())
        if name in OWN or not is_select or name.startswith("plugins/scale/"):
            continue
        assert rows(remote, name) == rows(embedded, name), name
        compared += 1
    assert compared > 80


def test_the_exchanged_quads_are_the_same_on_both(worlds: tuple[Oxigraph, Store]) -> None:
    embedded, _ = worlds

    for graph in embedded.graphs():
        theirs, ours = (ox.Dataset(store.match(graph=graph)) for store in worlds)
        for one in (theirs, ours):
            one.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
        assert theirs == ours
