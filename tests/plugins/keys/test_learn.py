"""Keys learn from the questions that lead over them again and again, and unlearn what nobody uses."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

import pytest

from memento.access import Access
from memento.iris import MEM, TYPE, learned_iri
from memento.model import Change, Scope
from memento.plugins.keys.match import is_short
from memento.plugins.keys.nouns import FoundKey
from memento.plugins.keys.settings import KeysSettings
from memento.python import Memento
from memento.settings import Settings

GRAPH = Scope().graph
KEY, QUERY = "swimming pool", "swiming pool"
SLIPS = ("swiming pool", "swimmin pool", "swimming pooly")


def with_(memento: Memento, **changed: object) -> Settings:
    return memento.settings.having(replace(memento.settings.of(KeysSettings), **changed))  # type: ignore[arg-type]


def asked(memento: Memento, query: str) -> FoundKey:
    return memento.keys.find(query).keys[0]


def walked(memento: Memento, query: str, times: int) -> FoundKey:
    """So many times from a question over its first key to its first memory; what the question finds afterwards."""
    for _ in range(times):
        key = asked(memento, query).key
        memento.keys.read_memory(memento.keys.read(key).memories[0].memory, via=key)
    return asked(memento, query)


@pytest.fixture
def pool(memento: Memento) -> Memento:
    memento.keys.remember("It opens at nine.", [KEY])
    return memento


def test_after_three_walks_a_question_is_a_name_of_its_key(pool: Memento) -> None:
    assert [walked(pool, QUERY, 1).match for _ in range(2)] == ["semantic", "semantic"]
    learned = walked(pool, QUERY, 1)

    assert (learned.name, learned.match, learned.aliases) == (KEY, "alias", (QUERY,))
    assert pool.admin.check() == ()
    pool.admin.rebuild()
    assert asked(pool, QUERY).match == "alias"


def test_a_question_that_is_only_like_a_key_becomes_a_key_of_its_own(memento: Memento) -> None:
    done = memento.keys.remember("It opens at nine.", [KEY])
    memento.service.settings = with_(memento, merge=0.99, auto_link=0.65)
    key = walked(memento, QUERY, 3)

    assert (key.name, key.match, key.memory_count) == (QUERY, "concept", 1)
    names = {one.name: one.weight for one in memento.keys.read_memory(done.saved).keys}
    assert set(names) == {KEY, QUERY}
    assert 0.65 <= names[QUERY] < 0.99
    assert memento.admin.check() == ()


def test_a_near_miss_that_keeps_being_meant_becomes_a_name(memento: Memento) -> None:
    done = memento.keys.remember("It opens at nine.", [KEY])
    memento.service.settings = with_(memento, key_recall=0.95, merge=0.99, auto_link=0.98)
    assert memento.keys.find(QUERY).keys == ()
    for _ in range(3):
        memento.keys.find(QUERY)
        memento.keys.read_memory(done.saved, via=done.keys[0])

    assert asked(memento, QUERY).match == "alias"


def test_what_is_below_the_floor_or_too_long_is_not_learned(memento: Memento) -> None:
    memento.keys.remember("It opens at nine.", [KEY])
    memento.service.settings = with_(memento, merge=0.99, auto_link=0.98, autokey_floor=0.97)
    assert walked(memento, QUERY, 4).match == "semantic"
    memento.service.settings = with_(memento, merge=0.5, autokey_floor=0.45)
    sentence = "swimming pools or a swimming pool"
    assert not is_short(sentence)
    assert walked(memento, sentence, 4).match in ("semantic", "concept")
    assert asked(memento, KEY).aliases == ()


def test_a_key_learns_so_many_names_and_no_more(pool: Memento) -> None:
    pool.service.settings = pool.settings.having(
        replace(pool.settings.of(KeysSettings), autokey_aliases=2, autokey_after=1)
    )
    for slip in SLIPS:
        walked(pool, slip, 1)

    assert len(asked(pool, KEY).aliases) == 2


def test_nothing_is_learned_when_it_is_switched_off_or_the_reader_may_not_write(pool: Memento) -> None:
    reader = pool.with_access(Access(tenant="local", right="read"))
    assert walked(reader, QUERY, 4).match == "semantic"
    pool.service.settings = pool.settings.having(replace(pool.settings.of(KeysSettings), autokey=False))
    assert walked(pool, QUERY, 4).match == "semantic"


def test_one_question_counts_once_however_often_the_memory_is_read(pool: Memento) -> None:
    key = asked(pool, QUERY).key
    memory = pool.keys.read(key).memories[0].memory
    for _ in range(4):
        pool.keys.read_memory(memory, via=key)

    assert asked(pool, QUERY).match == "semantic"


def test_a_question_in_another_namespace_teaches_nothing_here(pool: Memento) -> None:
    for _ in range(4):
        found = pool.keys.find(QUERY, namespace="work").keys[0]
        pool.keys.read_memory(pool.keys.read(found.key).memories[0].memory, via=found.key)

    assert asked(pool, QUERY).match == "semantic"


def test_names_that_nobody_uses_go_after_a_month_and_used_ones_stay(pool: Memento) -> None:
    for slip in SLIPS[:2]:
        walked(pool, slip, 3)
    walked(pool, SLIPS[0], 1)
    pool.service.reinforcement.write_effects()
    graph, old = pool.service.stores.graph, timedelta(days=31)
    times = [
        quad for quad in graph.quads(GRAPH) if quad[1] == MEM.createdAt and quad[0].startswith("urn:memento:learned:")
    ]
    aged = tuple((s, p, cast(datetime, at) - old, g) for s, p, at, g in times)
    pool.service.stores.commit(Change(aged, tuple(times)), Scope())
    key = asked(pool, KEY)

    assert key.aliases == SLIPS[:2]
    assert pool.keys.cleanup_expired().phrases == 1
    assert asked(pool, KEY).aliases == SLIPS[:1]
    said = {s: v for s, p, v, _ in graph.quads(GRAPH) if p == TYPE and v == MEM.LearnedPhrase}
    assert list(said) == [learned_iri(key.key, SLIPS[0])]
    assert pool.admin.check() == ()


def test_the_key_of_an_entity_learns_too(memento: Memento) -> None:
    memento.note("I use a relational database called Postgres.")
    entity = next((one for one in memento.graphs.entities() if one.kind in ("Technology", "Concept")), None)
    assert entity is not None
    memento.service.settings = with_(memento, merge=0.3, key_recall=0.3, autokey_after=1, phrases=False)
    query = f"{entity.name[:-1]}x"
    found = [one for one in memento.keys.find(query).keys if one.denotes == entity.iri]
    assert [one.match for one in found] == ["semantic"]
    memento.keys.read_memory(memento.keys.read(found[0].key).memories[0].memory, via=found[0].key)
    again = next(one for one in memento.keys.find(query).keys if one.denotes == entity.iri)

    assert again.match == "alias"
    assert query in again.aliases
    assert memento.admin.check() == ()
