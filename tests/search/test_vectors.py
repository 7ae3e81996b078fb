"""The vector file keeps ids and vectors together; the index finds exactly the nearest that may be seen."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from conftest import OFFLINE
from memento.errors import GraphError, StaleIndex
from memento.iris import IRI
from memento.model import NoteRow
from memento.ports import Vectors
from memento.python import open_memento
from memento.rank import unit
from memento.search.nearest import VectorIndex
from memento.search.vectors import VectorFile, digest, round_vectors
from memento.settings import LandSettings

A, B = IRI("urn:a"), IRI("urn:b")


def some(seed: int, count: int, dimensions: int = 8) -> Vectors:
    return unit(np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32))


def test_an_id_is_kept_when_the_text_changes_and_never_given_twice(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v.sqlite", "test")
    (a,) = file.write_entries([(A, digest("one"), some(1, 1))])
    (again,) = file.write_entries([(A, digest("two"), some(2, 2))])
    file.write_entries([], gone=[A])
    (b,) = file.write_entries([(B, digest("b"), some(3, 1))])

    assert again == a
    assert b > a
    assert file.read_digests() == {B: (b, digest("b"))}
    assert len(list(file.read_all())) == 1


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v.sqlite", "test")
    vectors = some(1, 3)
    (node,) = file.write_entries([(A, digest("a"), vectors)])
    file.close()
    rows = list(VectorFile(tmp_path / "v.sqlite", "test").read_all())

    assert [owner for owner, _ in rows] == [node] * 3
    assert np.array_equal(np.stack([vector for _, vector in rows]), round_vectors(vectors))
    assert np.allclose(round_vectors(vectors), vectors, atol=1e-3)


def test_vectors_that_an_earlier_version_kept_in_single_precision_are_read_beside_newer_ones(tmp_path: Path) -> None:
    file, old, new = VectorFile(tmp_path / "v.sqlite", "test"), some(1, 1), some(2, 1)
    a, b = file.write_entries([(A, digest("a"), old), (B, digest("b"), new)])
    file.close()
    with sqlite3.connect(tmp_path / "v.sqlite") as db:
        db.execute("UPDATE vector SET data = ? WHERE node = ?", (old[0].tobytes(), a))
    db.close()
    file = VectorFile(tmp_path / "v.sqlite", "test")

    assert {node: vector.tolist() for node, vector in file.read_all()} == {
        a: old[0].tolist(),
        b: round_vectors(new)[0].tolist(),
    }
    assert (found := file.find(A)) and np.array_equal(found[1], old)


def test_vectors_of_another_embedder_are_refused(tmp_path: Path) -> None:
    VectorFile(tmp_path / "v.sqlite", "one").close()

    with pytest.raises(StaleIndex, match="made by one, the embedder is two"):
        VectorFile(tmp_path / "v.sqlite", "two")


def test_a_damaged_file_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").write_bytes(b"this is no database, and long enough to be looked at as one" * 20)

    with pytest.raises(GraphError, match="deleting it loses nothing"):
        VectorFile(tmp_path / "v.sqlite", "test")


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v.sqlite", "test")
    with pytest.raises((GraphError, sqlite3.Error)):
        file.write_entries([(A, digest("a"), some(1, 1)), (B, None, some(2, 1))])  # type: ignore[list-item]

    assert file.read_digests() == {}


@settings(max_examples=40)
@example(seed=514, count=16, k=4, share=1.0)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 12), st.floats(0.1, 1.0))
def test_search_equals_brute_force_under_any_filter(seed: int, count: int, k: int, share: float) -> None:
    chance = np.random.default_rng(seed)
    index = VectorIndex(8)
    windows = [some(seed + node, int(chance.integers(1, 4))) for node in range(count)]
    index.put(list(range(count)), windows)
    gone = int(chance.integers(0, count))
    index.drop(gone)
    inside = chance.random(count) < share
    asked = some(seed + 999, int(chance.integers(1, 3)))

    nodes, scores = index.search(asked, k, inside)

    best = {n: float((w @ asked.T).max()) for n, w in enumerate(windows) if inside[n] and n != gone}
    expected = sorted(best.values(), reverse=True)[:k]
    assert np.allclose(scores, expected, atol=1e-5)
    assert [best[node] for node in nodes.tolist()] == pytest.approx(scores.tolist(), abs=1e-5)
    assert len(set(nodes.tolist())) == len(nodes)


@pytest.fixture(scope="module")
def graph() -> tuple[VectorIndex, Vectors]:
    """Three thousand vectors in an HNSW graph."""
    rows = some(1, 3_000, 32)
    index = VectorIndex(32, flat=0, above="hnsw")
    index.fill(np.arange(3_000, dtype=np.int32), np.ones(3_000, dtype=np.int64), rows)
    return index, rows


def exact(rows: Vectors, asked: Vectors, k: int, inside: NDArray[np.bool_]) -> list[int]:
    nodes = np.flatnonzero(inside)
    order: list[int] = nodes[np.argsort(-(rows[nodes] @ asked[0]), kind="stable")[:k]].tolist()
    return order


def share_found(index: VectorIndex, rows: Vectors, inside: NDArray[np.bool_]) -> float:
    """How many of the ten nearest that may come back an index brings, over forty questions."""
    found = 0
    for seed in range(40):
        asked = some(1_000 + seed, 1, 32)
        found += len({*index.search(asked, 10, inside)[0].tolist()} & {*exact(rows, asked, 10, inside)})
    return found / 400


def test_an_hnsw_graph_is_built_and_searched_as_published(graph: tuple[VectorIndex, Vectors]) -> None:
    index, rows = graph
    built: Any = faiss.deserialize_index(index.arrays()["links"])

    assert (built.hnsw.nb_neighbors(1), built.hnsw.efSearch, built.hnsw.efConstruction) == (16, 50, 200)
    assert not index.is_whole
    assert share_found(index, rows, np.ones(len(rows), dtype=np.bool_)) >= 0.95


def test_a_recall_over_an_hnsw_graph_finds_what_an_exact_one_finds(tmp_path: Path) -> None:
    rows = [NoteRow(content=f"Crate {n} holds {n * 7 % 83} lamps for room {n % 19}.") for n in range(300)]
    found: list[list[set[str]]] = []
    graph, whole = LandSettings(whole=0, flat=0, above="hnsw"), LandSettings(whole=0, flat=1_000)
    for name, land in (("graph", graph), ("whole", whole)):
        with open_memento(tmp_path / name, configured=replace(OFFLINE, land=land)) as memento:
            memento.intake.import_notes(rows, consolidate=False)
            asked = [
                memento.recall(f"Which lamps are in crate {n}?", mode="vector").memories for n in range(0, 300, 30)
            ]
            found.append([{one.content for one in some} for some in asked])

    shared = sum(len(one & other) for one, other in zip(*found, strict=True))
    assert shared >= 0.95 * sum(map(len, found[1]))


@pytest.mark.parametrize("share", [0.5, 0.12, 0.02, 0.004])
def test_an_hnsw_graph_does_not_starve_where_a_filter_lets_little_pass(
    graph: tuple[VectorIndex, Vectors], share: float
) -> None:
    index, rows = graph
    inside = np.random.default_rng(5).random(len(rows)) < share

    assert all(len(index.search(some(seed, 1, 32), 10, inside)[0]) == 10 for seed in range(20))
    assert share_found(index, rows, inside) >= 0.95


def test_what_is_dropped_from_an_hnsw_graph_is_found_no_more_and_leads_on_until_it_is_built_again() -> None:
    rows = some(2, 1_000, 32)
    index = VectorIndex(32, flat=0, above="hnsw")
    index.fill(np.arange(1_000, dtype=np.int32), np.ones(1_000, dtype=np.int64), rows)
    inside = np.ones(1_000, dtype=np.bool_)

    inside[:200] = False
    for node in range(200):
        index.drop(node)
    with_tombstones = index.arrays()
    assert len(with_tombstones["rows"]) == 1_000

    inside[200:600] = False
    for node in range(200, 600):
        index.drop(node)
    assert len(index.arrays()["rows"]) == 400

    for kept in (with_tombstones, index.arrays()):
        again = VectorIndex.from_arrays(kept, 32, 0, "hnsw")
        assert share_found(again, rows, inside) >= 0.95
    assert len(VectorIndex.from_arrays(with_tombstones, 32, 0, "hnsw")) == 800


def test_a_kept_hnsw_graph_takes_more_and_gives_back_what_was_put_anew() -> None:
    rows = some(3, 600, 32)
    index = VectorIndex(32, flat=0, above="hnsw")
    index.fill(np.arange(500, dtype=np.int32), np.ones(500, dtype=np.int64), rows[:500])
    index.put([7], [rows[500:502]])
    index.put([700], [rows[502:503]])
    kept = index.arrays()

    for again in (VectorIndex.from_arrays(kept, 32, 0, "hnsw"), VectorIndex.from_arrays(kept, 32, 10_000, "ivf")):
        inside = np.ones(701, dtype=np.bool_)
        assert [again.search(rows[at][None], 1, inside)[0].tolist() for at in (500, 501, 502, 8)] == [
            [7],
            [7],
            [700],
            [8],
        ]
        assert again.search(rows[7][None], 1, inside)[1][0] < 0.99
        again.put([701], [rows[503:504]])
        assert again.search(rows[503][None], 1, np.ones(702, dtype=np.bool_))[0].tolist() == [701]


def test_what_was_kept_without_an_hnsw_graph_is_not_taken_for_one() -> None:
    index = VectorIndex(32, flat=0)
    index.fill(np.arange(100, dtype=np.int32), np.ones(100, dtype=np.int64), some(4, 100, 32))

    with pytest.raises(KeyError):
        VectorIndex.from_arrays(index.arrays(), 32, 0, "hnsw")


def test_cosines_take_the_best_window_and_zero_where_there_is_none() -> None:
    index = VectorIndex(2)
    index.put([5], [np.array([[1, 0], [0, 1]], dtype=np.float32)])
    asked = np.array([[0, 1]], dtype=np.float32)

    assert index.cosines([5, 6], asked).tolist() == [1.0, 0.0]
    assert index.vectors([6, 5]).tolist() == [[0.0, 0.0], [1.0, 0.0]]


def test_an_empty_index_finds_nothing() -> None:
    nodes, scores = VectorIndex(8).search(some(1, 1), 5, np.zeros(0, dtype=np.bool_))

    assert len(nodes) == len(scores) == 0


def test_a_batch_gives_the_ids_in_its_order_whether_a_node_is_known_or_not() -> None:
    file = VectorFile(None, "test")
    (b,) = file.write_entries([(B, digest("b"), some(1, 1))])
    odd = IRI('urn:é"\\')
    ids = file.write_entries(
        [(odd, digest("odd"), some(2, 2)), (B, digest("new"), some(3, 3)), (A, digest("a"), some(4, 1))]
    )

    assert ids[1] == b
    assert [file.find_id(iri) for iri in (odd, B, A)] == ids
    assert [len(stored[1]) for iri in (odd, B, A) if (stored := file.find(iri))] == [2, 3, 1]


def test_the_log_beside_the_file_does_not_grow_with_what_is_written(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v.sqlite", "test")
    for number in range(600):
        file.write_entries([(IRI(f"urn:{number}"), digest(str(number)), some(number, 2, 384))])

    assert (tmp_path / "v.sqlite-wal").stat().st_size < 1.5 * 2**20
    file.close()
