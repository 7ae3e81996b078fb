"""The simulation of a cluster agrees with queueing theory, and is deterministic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cluster import Cluster, draw_from, interval, simulate, wait_of_erlang

PLAIN = Cluster(nodes=1, writes=0.0, skew=0.0, policy="round robin", for_s=4_000.0, warm_s=200.0)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (1, 0.8), (3, 0.7)])
def test_the_mean_wait_is_that_of_erlang_within_its_own_confidence_interval(servers: int, load: float) -> None:
    service_s = 0.05
    rate = load * servers / service_s
    found = simulate(replace(PLAIN, cores=servers, rate=rate, read_s=lambda rng: rng.expovariate(1 / service_s)))
    mean, error = interval(found.waits)
    expected = wait_of_erlang(rate, service_s, servers)
    assert error < expected / 10  # else anything would agree
    assert abs(mean - expected) < 3 * error
    assert found.per_s == pytest.approx(rate, rel=0.02)
    assert found.node_load[0] == pytest.approx(load, rel=0.03)


def test_the_wait_of_one_server_is_that_of_the_textbook() -> None:
    assert wait_of_erlang(8.0, 0.1, 1) == pytest.approx(0.4)  # ρ s / (1 − ρ)


def test_the_same_cluster_gives_the_same_outcome_and_another_seed_another() -> None:
    short = replace(PLAIN, for_s=60.0, warm_s=5.0)
    one, two, other = (simulate(replace(short, seed=seed)).reads for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_a_node_that_dies_loses_what_it_had_and_the_others_take_its_part() -> None:
    base = replace(PLAIN, nodes=3, rate=60.0, for_s=200.0, warm_s=20.0, policy="least connections")
    well, hurt = simulate(base), simulate(replace(base, dies=(100.0, 130.0)))
    assert well.lost == 0
    assert 0 < hurt.lost < 10
    assert hurt.node_load[0] < well.node_load[0]
    assert hurt.per_s == pytest.approx(well.per_s, rel=0.05)


def test_writes_of_a_tenant_that_moves_wait_and_none_is_lost() -> None:
    base = replace(
        PLAIN, nodes=4, shards=2, rate=20.0, writes=0.5, skew=1.0, for_s=200.0, warm_s=20.0, turn_s=lambda rng: 0.01
    )
    well, moved = simulate(base), simulate(replace(base, moves=(100.0, 103.0)))
    assert well.writes.max() < 1.0
    assert 2.0 < moved.writes.max() < 4.0
    assert len(moved.writes) == pytest.approx(len(well.writes), abs=5)


def test_what_is_drawn_has_the_quantiles_that_were_measured() -> None:
    import random

    draw, rng = draw_from([0.0, 1.0, 10.0]), random.Random(1)
    drawn = [draw(rng) for _ in range(20_000)]
    assert np.quantile(drawn, (0.25, 0.5, 0.75)) == pytest.approx([0.5, 1.0, 5.5], rel=0.05)
