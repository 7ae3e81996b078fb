"""What use does counts at once, is in the graph soon after, and is never in the way of a memory."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from conftest import OFFLINE
from memento.iris import IRI, MEM, TYPE, key_iri, link_iri, mint
from memento.model import Change, Key, Read, Scope, Skipped, Traversed
from memento.python import Memento, open_memento
from memento.strength import DELAY_S, Reinforcement
from memento.time import now

GRAPH = Scope().graph


@pytest.fixture
def memory(memento: Memento) -> IRI:
    [iri] = memento.note("Anna works at Google.").memories
    return iri


def read(memory: IRI, times: int = 1) -> list[Read]:
    return [Read(memory=memory, graph=GRAPH, at=now()) for _ in range(times)]


def of(memento: Memento) -> Reinforcement:
    return memento.service.reinforcement


def values(memento: Memento, subject: IRI, predicate: IRI) -> list[object]:
    return [v for s, p, v, _ in memento.service.stores.graph.quads(GRAPH) if (s, p) == (subject, predicate)]


def entity(memento: Memento, name: str) -> IRI:
    return next(one.iri for one in memento.graphs.entities() if one.name == name)


def test_a_read_counts_before_it_is_written_and_the_same_after(memento: Memento, memory: IRI) -> None:
    of(memento).note_effects(*read(memory, 3))
    before = of(memento).read_numbers(memory)

    assert (before.depth, before.access_count) == (0.15, 3)
    assert values(memento, memory, MEM.depth) == []
    assert of(memento).write_effects() == 1
    after = of(memento).read_numbers(memory)
    assert replace(after, energy=None, energy_at=None) == before
    assert (after.energy, after.energy_at) == (0.5, before.last_accessed_at)
    assert values(memento, memory, MEM.depth) == [0.15]
    assert values(memento, memory, MEM.accessCount) == [3]


def test_twenty_one_reads_are_as_deep_as_can_be_however_they_are_written(memento: Memento, memory: IRI) -> None:
    for _ in range(21):
        of(memento).note_effects(*read(memory))
        of(memento).write_effects()

    assert values(memento, memory, MEM.depth) == [1.0]
    assert values(memento, memory, MEM.accessCount) == [21]
    assert memento.admin.check() == ()


def test_it_is_written_within_a_second_without_being_asked(memento: Memento, memory: IRI) -> None:
    of(memento).note_effects(*read(memory))
    deadline = time.monotonic() + 60 * DELAY_S
    while not values(memento, memory, MEM.depth) and time.monotonic() < deadline:
        time.sleep(DELAY_S / 10)

    assert values(memento, memory, MEM.depth) == [0.05]


def test_what_waits_is_written_when_the_memory_is_closed(tmp_path: Path) -> None:
    with open_memento(tmp_path, configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        [iri] = memento.note("I live in Lisbon.").memories
        of(memento).note_effects(*read(iri))
    with open_memento(tmp_path, configured=OFFLINE) as again:
        assert isinstance(again, Memento)
        assert of(again).read_numbers(iri).depth == 0.05


def test_the_link_of_an_entity_is_written_with_its_key_when_it_is_first_trodden(memento: Memento, memory: IRI) -> None:
    google = entity(memento, "Google")
    key = Key(iri=key_iri(google), name="Google", type="proper_noun", created_at=now(), denotes=google)
    step = Traversed(key=key, key_graph=GRAPH, memory=memory, graph=GRAPH, at=now())
    of(memento).note_effects(step, step)
    link = link_iri(key.iri, memory)

    assert of(memento).weight(key.iri, memory, 1.0) == 1.2
    of(memento).write_effects()
    assert values(memento, link, MEM.weight) == [1.2]
    assert values(memento, key.iri, TYPE) == [MEM.Key]
    node = memento.service.stores.indexes.nodes.find(google)
    assert node is not None
    _, weights = memento.service.stores.indexes.keys.led_to(node)
    assert weights.tolist() == [1.2]
    of(memento).note_effects(step)
    of(memento).write_effects()
    assert values(memento, link, MEM.weight) == [1.3]
    assert values(memento, key.iri, MEM.name) == ["Google"]
    assert memento.admin.check() == ()


def test_a_link_that_is_passed_by_fades_and_one_that_is_not_written_stays_so(memento: Memento, memory: IRI) -> None:
    google = entity(memento, "Google")
    key = Key(iri=key_iri(google), name="Google", type="proper_noun", denotes=google)
    passed = Skipped(key=key.iri, memory=memory, graph=GRAPH)
    of(memento).note_effects(passed)
    of(memento).write_effects()

    assert values(memento, link_iri(key.iri, memory), MEM.weight) == []
    of(memento).note_effects(Traversed(key=key, key_graph=GRAPH, memory=memory, graph=GRAPH, at=now()), passed)
    of(memento).write_effects()
    assert values(memento, link_iri(key.iri, memory), MEM.weight) == [1.095]


def test_a_correction_in_between_is_not_undone(memento: Memento, memory: IRI) -> None:
    of(memento).note_effects(*read(memory, 10))
    of(memento).write_effects()
    of(memento).note_effects(*read(memory))
    deeper = Change(((memory, MEM.depth, 0.1, GRAPH),), ((memory, MEM.depth, 0.5, GRAPH),))
    memento.service.stores.commit(deeper, Scope())
    of(memento).write_effects()

    assert values(memento, memory, MEM.depth) == [0.15]


def test_a_memory_that_is_erased_meanwhile_stays_erased(memento: Memento, memory: IRI) -> None:
    of(memento).note_effects(*read(memory))
    memento.forget(memory, erase=True)
    of(memento).write_effects()

    assert [quad for quad in memento.service.stores.graph.quads(GRAPH) if memory in quad] == []


def test_what_could_not_be_written_waits_for_the_next_time(
    memento: Memento, memory: IRI, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    of(memento).note_effects(*read(memory))
    with monkeypatch.context() as patch:
        patch.setattr(type(memento.service.stores), "reinforce", broken)
        with pytest.raises(RuntimeError):
            of(memento).write_effects()
    of(memento).note_effects(*read(memory))

    assert of(memento).read_numbers(memory).access_count == 2
    of(memento).write_effects()
    assert values(memento, memory, MEM.accessCount) == [2]


def test_depths_of_many_are_those_of_each(memento: Memento, memory: IRI) -> None:
    [other] = memento.note("Ben works at Apple.").memories
    of(memento).note_effects(*read(memory, 2), *read(other, 4))
    of(memento).write_effects()
    of(memento).note_effects(*read(other))
    find = memento.service.stores.indexes.nodes.find
    nodes = np.array([find(memory), find(other)])

    assert of(memento).depths(nodes).tolist() == pytest.approx([0.1, 0.25])


def test_the_last_use_is_the_latest_however_it_is_told(memento: Memento, memory: IRI) -> None:
    at = now()
    later, earlier = (Read(memory=memory, graph=GRAPH, at=at + timedelta(seconds=s)) for s in (5, -5))
    of(memento).note_effects(later)
    of(memento).write_effects()
    of(memento).note_effects(earlier)
    of(memento).write_effects()

    assert of(memento).read_numbers(memory).last_accessed_at == at + timedelta(seconds=5)


def test_a_memory_that_nobody_knows_is_passed_over(memento: Memento) -> None:
    of(memento).note_effects(*read(mint("memory")))

    assert of(memento).write_effects() == 1
    assert list(memento.service.stores.graph.quads(GRAPH)) == []
