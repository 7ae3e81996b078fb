"""The embedded store keeps its promises: whole writes, closed datasets, no foreign exceptions."""

from itertools import groupby
from pathlib import Path

import pytest

from memento import assets
from memento.errors import GraphError, InputError
from memento.graph import oxigraph
from memento.graph.oxigraph import Oxigraph, finish_rewriting, measure_files, tidy
from memento.graph.store import Delta, serialise_quads
from memento.graph.terms import to_quads
from memento.iris import IRI, MEM, ONTOLOGY
from memento.model import Change
from trig import parse_trig

A, B = IRI("urn:memento:graph:local:a"), IRI("urn:memento:graph:local:b")
ONE = (IRI("urn:x"), MEM.name, "one", A)
TWO = (IRI("urn:x"), MEM.name, "two", B)


def names(graph: Oxigraph, *readable: IRI) -> list[str]:
    rows = graph.select("search/statements", list(readable), node=IRI("urn:x"))
    return sorted(str(row["value"]) for row in rows)


def test_a_read_sees_the_graphs_it_names_and_no_others() -> None:
    graph = Oxigraph()
    graph.apply(Change((ONE, TWO)))

    assert names(graph, A) == ["one"]
    assert names(graph, A, B) == ["one", "two"]
    assert names(graph) == []


def test_removals_come_before_additions() -> None:
    graph = Oxigraph()
    graph.apply(Change((ONE,)))
    graph.apply(Change(adds=(ONE,), removes=(ONE,)))

    assert names(graph, A) == ["one"]


def test_a_change_with_one_bad_quad_writes_nothing() -> None:
    graph = Oxigraph()
    bad = (IRI("not an iri"), MEM.name, "bad", A)

    with pytest.raises(GraphError):
        graph.apply(Change((ONE, bad)))

    assert names(graph, A) == []


def test_an_empty_change_is_allowed() -> None:
    Oxigraph().apply(Change())


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    graph = Oxigraph(tmp_path / "store")
    graph.apply(Change((ONE,)))
    graph.close()

    assert names(Oxigraph(tmp_path / "store"), A) == ["one"]


def test_a_closed_store_says_so() -> None:
    graph = Oxigraph()
    graph.close()
    graph.close()

    with pytest.raises(GraphError, match="closed"):
        graph.graphs()


def test_every_write_is_counted() -> None:
    graph = Oxigraph()
    before = graph.writes
    graph.apply(Change((ONE,)))
    graph.load(b"<urn:s> <urn:p> 1 .", A)

    assert graph.writes == before + 2


def test_loading_a_graph_twice_leaves_it_as_it_was() -> None:
    graph = Oxigraph()
    turtle = assets.read("ontology/memento.ttl")
    graph.load(turtle, ONTOLOGY)
    once = len(list(graph.quads(ONTOLOGY)))
    graph.load(turtle, ONTOLOGY)

    assert len(list(graph.quads(ONTOLOGY))) == once > 100


def test_a_document_that_is_not_trig_is_refused() -> None:
    with pytest.raises(InputError, match="not TriG"):
        list(parse_trig(b"this is nothing"))


@pytest.mark.parametrize("is_kept", [True, False])
def test_the_quads_of_a_node_come_together(tmp_path: Path, is_kept: bool) -> None:
    graph = Oxigraph(tmp_path if is_kept else None)
    name, nodes = IRI("urn:g"), [IRI(f"urn:{n}") for n in range(20)]
    for predicate in (MEM.content, MEM.name):
        for node in nodes:  # one after the other, so that they do not lie together by chance
            graph.apply(Change(((node, predicate, "x", name),)))
    subjects = [subject for subject, _, _, _ in graph.quads(name)]

    assert len(subjects) == 40
    assert len([subject for subject, _ in groupby(subjects)]) == 20


def large(folder: Path, nodes: int) -> list[tuple[IRI, IRI, str, IRI]]:
    """A store that is closed, and what is in it."""
    quads = [
        (IRI(f"urn:memento:memory:{node}"), IRI(f"urn:p:{place}"), f"value {place} of {node}", A)
        for node in range(nodes)
        for place in range(5)
    ]
    store = Oxigraph(folder)
    for begin in range(0, len(quads), 500):
        store.apply(Change(adds=tuple(quads[begin : begin + 500])))
    store.close()
    return quads


def test_a_closed_store_that_is_tidied_keeps_its_quads_in_less_room_and_no_log(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    quads = large(folder, 4_000)
    before = sum(path.stat().st_size for path in folder.iterdir())
    packed = tidy(folder, 0)
    after = sum(path.stat().st_size for path in folder.iterdir())

    assert 0 < packed <= after < 0.3 * before
    assert sum(path.stat().st_size for path in folder.glob("*.log")) < 1_000
    assert tidy(folder, packed) == packed, "what is packed is not written again"
    assert sorted(Oxigraph(folder).quads(A)) == sorted(quads)


def test_a_file_that_goes_while_a_store_is_measured_counts_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    large(folder, 10)
    size = measure_files(folder)
    (folder / "000001.sst").symlink_to(folder / "gone.sst")

    assert measure_files(folder) == size > 0
    assert tidy(folder, 0) == 0


def test_a_store_that_is_still_read_is_not_tidied(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    quads = large(folder, 4_000)
    reader = Oxigraph(folder)

    assert tidy(folder, 0) == 0
    assert len(list(reader.quads(A))) == len(quads)


def test_a_kill_between_two_names_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    quads = large(folder, 10)
    folder.rename(tmp_path / "store.old")
    large(tmp_path / "store.new", 3)
    finish_rewriting(folder)

    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert sorted(Oxigraph(folder).quads(A)) == sorted(quads)


def test_the_log_of_an_open_store_stays_as_small_as_what_is_not_yet_in_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oxigraph, "HELD", 500)
    store = Oxigraph(tmp_path)
    sizes = []
    for turn in range(8):
        quads = [(IRI(f"urn:{turn}:{n}"), MEM.content, f"text {turn} {n}", ONTOLOGY) for n in range(500)]
        for begin in range(0, 500, 50):
            few = quads[begin : begin + 50]
            if begin % 150 == 0:
                store.apply(Change(tuple(few)))
            elif begin % 100 == 0:
                store.extend(to_quads(few), [])
            else:
                store.apply_delta(Delta(adds=serialise_quads(to_quads(few)), added=50))
        sizes.append(sum(path.stat().st_size for path in tmp_path.glob("*.log")))
    store.close()

    assert sizes[-1] < 1.5 * sizes[1], sizes
