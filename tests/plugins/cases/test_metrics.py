"""The figures of case memory."""

import pytest

from memento.plugins.cases.domain import learning_curve, ndcg, reciprocal_rank
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento


def test_the_golden_numbers() -> None:
    assert reciprocal_rank([0, 0, 1, 0]) == pytest.approx(0.33333, abs=1e-5)
    assert ndcg([0, 1, 0, 1], 4) == pytest.approx(0.65092, abs=1e-5)
    assert (reciprocal_rank([0, 0]), ndcg([0, 0], 2), ndcg([1, 1, 0], 3)) == (0, 0, 1)


def test_a_curve_has_at_most_so_many_points_and_leaves_nothing_out() -> None:
    points = learning_curve([float(n % 2) for n in range(105)], 20)

    assert len(points) == 20
    assert points[-1].until == 105
    assert learning_curve([]) == ()
    assert [point.reward for point in learning_curve([0.0, 1.0])] == [0, 1]


def test_figures_are_told_from_the_graph(memento: Memento) -> None:
    memento.cases.add(
        [CaseRow(task=f"Feed the {who}.", plan="1. Feed.", outcome="success") for who in ("cat", "dog", "cow")]
    )
    found = memento.cases.retrieve("Feed the cat.", k=3)
    assert found.retrieval
    memento.cases.reward(found.retrieval, single={one.iri: float(one.rank == 2) for one in found.positives})
    run = memento.cases.start("Feed the pig.")
    memento.cases.record_step(run.iri, "Find it.")
    memento.cases.record_step(run.iri, "Feed it.", state="failed")
    memento.cases.complete(run.iri, "failure")
    figures = memento.cases.metrics()

    assert (figures.cases, figures.retrievals) == (4, 1)
    assert figures.mrr == 0.5
    assert figures.ndcg == pytest.approx(0.6309, abs=1e-4)
    assert figures.success_rate == 0.75
    assert figures.execution_accuracy == 0.5
    assert [point.reward for point in figures.curve] == pytest.approx([1 / 3])
    assert figures.earned_per_case == pytest.approx(1 / 12)
    assert figures.bytes_per_case > 1_000


def test_nothing_is_told_of_an_empty_domain(memento: Memento) -> None:
    figures = memento.cases.metrics(domain="new")

    assert (figures.mrr, figures.ndcg, figures.success_rate, figures.execution_accuracy) == (None, None, None, None)
    assert figures.curve == ()
