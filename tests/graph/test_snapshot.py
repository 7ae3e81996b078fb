"""Snapshots: what they hold, and when they go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memento.errors import GraphError
from memento.graph.oxigraph import Oxigraph
from memento.graph.snapshot import Snapshots
from memento.iris import IRI, MEM
from memento.model import Change

A, B = IRI("urn:memento:graph:local:a"), IRI("urn:memento:graph:local:b")
ONE = (IRI("urn:x"), MEM.name, "one", A)
TWO = (IRI("urn:x"), MEM.name, "two", B)


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Oxigraph]:
    graph = Oxigraph(tmp_path / "store")
    graph.apply(Change((ONE, TWO)))
    yield graph
    graph.close()


@pytest.fixture
def snapshots(graph: Oxigraph, tmp_path: Path) -> Iterator[Snapshots]:
    snapshots = Snapshots(graph, tmp_path / "snapshots")
    yield snapshots
    snapshots.close()


def values(snapshot: Path) -> set[str]:
    return {str(getattr(quad.object, "value", "")) for quad in Oxigraph.read_only(snapshot).match()}


def folders(tmp_path: Path) -> int:
    folder = tmp_path / "snapshots"
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_a_snapshot_holds_what_was_written_before_and_stays_as_it_is(graph: Oxigraph, snapshots: Snapshots) -> None:
    with snapshots.lease() as before:
        graph.apply(Change(removes=(ONE,)))
        with snapshots.lease() as after:
            assert values(before) == {"one", "two"}
            assert values(after) == {"two"}


def test_it_is_taken_anew_only_when_something_was_written(graph: Oxigraph, snapshots: Snapshots) -> None:
    with snapshots.lease() as first, snapshots.lease() as second:
        assert first == second
    with snapshots.lease() as third:
        assert third == first
    graph.apply(Change())
    with snapshots.lease() as fourth:
        assert fourth != first


def test_an_old_one_is_deleted_when_nobody_reads_it_any_more(
    graph: Oxigraph, snapshots: Snapshots, tmp_path: Path
) -> None:
    with snapshots.lease() as first:
        graph.apply(Change())
        with snapshots.lease():
            assert first.exists()
    assert not first.exists()
    assert folders(tmp_path) == 1


def test_none_is_left_after_a_drop_nor_at_the_end_nor_by_a_process_that_was_killed(
    graph: Oxigraph, snapshots: Snapshots, tmp_path: Path
) -> None:
    with snapshots.lease() as read:
        snapshots.drop()
        snapshots.drop()
        assert read.exists()  # somebody reads it
    assert folders(tmp_path) == 0
    with snapshots.lease():
        pass
    assert folders(tmp_path) == 1
    Snapshots(graph, tmp_path / "snapshots")
    assert folders(tmp_path) == 0


def test_a_store_in_memory_has_none_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="in memory"), Snapshots(Oxigraph(), tmp_path / "s").lease():
        pass
