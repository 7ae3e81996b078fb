"""Who may see a memory, and when."""

from datetime import UTC, datetime

import pytest

from memento.iris import IRI
from memento.search.nodes import Lifetime, Nodes

MAIN, WORK = IRI("urn:g:main"), IRI("urn:g:work")


def day(number: int) -> datetime:
    return datetime(2025, 1, number, tzinfo=UTC)


@pytest.fixture
def nodes() -> Nodes:
    """0: Google, true from the 1st, over on the 10th, learned on the 12th; 1: its successor; 2: elsewhere; 3: an anchor."""
    found = Nodes()
    found.put(
        0,
        IRI("urn:google"),
        "memory",
        MAIN,
        Lifetime(valid_at=day(1), invalid_at=day(10), created_at=day(2), retired_at=day(12)),
    )
    found.put(1, IRI("urn:apple"), "memory", MAIN, Lifetime(valid_at=day(10), created_at=day(12)))
    found.put(2, IRI("urn:work"), "memory", WORK, Lifetime(valid_at=day(1), created_at=day(1)))
    found.put(3, IRI("urn:entity"), "anchor", MAIN, Lifetime())
    return found


def seen(nodes: Nodes, graphs: list[IRI], as_of: int | None = None, believed_at: int | None = None) -> list[int]:
    mask = nodes.current(
        graphs,
        now=day(20),
        as_of=day(as_of) if as_of else None,
        believed_at=day(believed_at) if believed_at else None,
    )
    return [int(node) for node in mask.nonzero()[0]]


def test_without_a_time_what_is_not_over_comes_back(nodes: Nodes) -> None:
    assert seen(nodes, [MAIN]) == [1]


def test_a_reader_sees_its_own_graphs_only(nodes: Nodes) -> None:
    assert seen(nodes, [WORK]) == [2]
    assert seen(nodes, [MAIN, WORK]) == [1, 2]
    assert seen(nodes, []) == []


@pytest.mark.parametrize(("as_of", "expected"), [(1, [0]), (9, [0]), (10, [1]), (15, [1])])
def test_valid_time_includes_its_beginning_and_not_its_end(nodes: Nodes, as_of: int, expected: list[int]) -> None:
    assert seen(nodes, [MAIN], as_of=as_of) == expected


@pytest.mark.parametrize(("believed_at", "expected"), [(1, []), (2, [0]), (11, [0]), (12, [1])])
def test_before_it_learned_better_it_believed_the_old(nodes: Nodes, believed_at: int, expected: list[int]) -> None:
    assert seen(nodes, [MAIN], believed_at=believed_at) == expected


def test_both_axes_at_once(nodes: Nodes) -> None:
    assert seen(nodes, [MAIN], as_of=15, believed_at=11) == [0]
    assert seen(nodes, [MAIN], as_of=5, believed_at=15) == [0]


def test_a_fact_about_next_month_is_known_today(nodes: Nodes) -> None:
    nodes.put(
        4, IRI("urn:plan"), "memory", MAIN, Lifetime(valid_at=datetime(2030, 1, 1, tzinfo=UTC), created_at=day(3))
    )

    assert seen(nodes, [MAIN]) == [1, 4]


def test_a_forgotten_memory_is_believed_no_more_from_then_on(nodes: Nodes) -> None:
    nodes.put(1, IRI("urn:apple"), "memory", MAIN, Lifetime(valid_at=day(10), created_at=day(12), expired_at=day(15)))

    assert seen(nodes, [MAIN]) == []
    assert seen(nodes, [MAIN], believed_at=14) == [1]


def test_what_is_dropped_is_found_no_more(nodes: Nodes) -> None:
    nodes.drop(1)
    nodes.drop(1)

    assert seen(nodes, [MAIN]) == []
    assert nodes.find(IRI("urn:apple")) is None


def test_the_newest_comes_first(nodes: Nodes) -> None:
    mask = nodes.within([MAIN, WORK], "memory")

    assert nodes.newest(mask).tolist() == [1, 0, 2]
