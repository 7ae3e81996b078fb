"""Claims are edges: filled as they are followed, kept, forgotten with their memories, and brought along by every engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE, at
from endpoints import serve_graphs
from memento.iris import IRI
from memento.model import Scope
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.search import cache
from memento.search.claims import Claims, Stated
from memento.time import now

NOTES = (
    ("2024-01-01", "My rent is 700."),
    ("2024-01-02", "My sister is Leila Haddad."),
    ("2024-01-03", "Leila Haddad works at Brel Labs."),
    ("2024-01-04", "I might move to Faro."),
    ("2024-01-05", "I don't own a car."),
    ("2024-06-01", "My rent is 800."),
)
USER = Scope().user


def opened(home: Path) -> Memento:
    memento = open_memento(home, configured=OFFLINE)
    assert isinstance(memento, Memento)
    return memento


@pytest.fixture
def memento(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memento]:
    monkeypatch.setattr(cache, "FEWEST", 1)
    with opened(tmp_path / "home") as memento:
        for day, text in NOTES:
            memento.note(text, at=at(day))
        yield memento


def claims(memento: Memento) -> Claims:
    return memento.service.stores.indexes[Claims]


def every(memento: Memento) -> list[Stated]:
    """All claims, by every way in which one finds them."""
    known = claims(memento)
    owners = [USER, *(IRI(one.iri) for one in memento.graphs.entities(limit=100))]
    memories = [one.iri for one in memento.list(past=True, limit=100)]
    by_owner = [one for owner in owners for one in known.of_owner(owner)]
    by_memory = [one for memory in memories for one in known.of_memory(memory)]
    assert sorted(by_owner, key=lambda one: one.iri) == sorted(by_memory, key=lambda one: one.iri)
    assert len(known) == len(by_owner)
    return by_owner


def told(memento: Memento, relation: str) -> list[Stated]:
    return [one for one in claims(memento).of_owner(USER) if one.relation == relation]


def test_a_claim_is_an_edge_from_its_owner_to_its_value(memento: Memento) -> None:
    [leila] = [IRI(one.iri) for one in memento.graphs.entities() if one.name == "Leila Haddad"]
    [labs] = [IRI(one.iri) for one in memento.graphs.entities() if one.name == "Brel Labs"]
    [sister], [work] = told(memento, "sister"), claims(memento).of_owner(leila)

    assert (sister.entity, sister.value, sister.words) == (leila, "Leila Haddad", "My sister is Leila Haddad")
    assert (work.relation, work.entity, work.since) == ("work at", labs, at("2024-01-03").timestamp())
    assert claims(memento).of_value(leila) == [sister]


def test_what_is_only_possible_or_denied_is_no_edge(memento: Memento) -> None:
    said = {one.words for one in every(memento)}

    assert not any("Faro" in words or "car" in words for words in said)


def test_a_claim_that_ended_says_until_when_it_held(memento: Memento) -> None:
    old, new = told(memento, "rent")

    assert (old.value, old.until) == ("700", at("2024-06-01").timestamp())
    assert old.holds(at("2024-03-01").timestamp()) and not old.holds(at("2024-06-01").timestamp())
    assert new.holds(now().timestamp()) and not new.holds(at("2024-03-01").timestamp())


def test_what_was_followed_is_what_the_graph_gives_and_what_is_kept(memento: Memento, tmp_path: Path) -> None:
    followed = every(memento)
    memento.admin.rebuild()
    assert every(memento) == followed
    memento.close()
    with opened(tmp_path / "home") as again:  # from what was kept
        assert every(again) == followed
        again.note("My rent is 900.")
        assert [one.value for one in told(again, "rent")] == ["700", "800", "900"]
        followed = every(again)
        again.admin.rebuild()
        assert every(again) == followed
        assert again.admin.check() == ()


def test_what_is_erased_has_no_claims_and_what_an_undo_brings_back_holds_again(memento: Memento) -> None:
    [latest] = [one for one in memento.list() if one.content == "My rent is 800."]
    [first] = [one for one in memento.list(past=True) if one.content == "My rent is 700."]
    memento.undo(first.iri)
    assert [one.until for one in told(memento, "rent")] == [float("inf")] * 2

    memento.forget(latest.iri, erase=True)
    assert [one.value for one in told(memento, "rent")] == ["700"]
    assert claims(memento).of_memory(latest.iri) == []
    followed = every(memento)
    memento.admin.rebuild()
    assert every(memento) == followed


def test_an_update_of_a_claim_is_followed_and_a_memory_that_is_touched_keeps_its_claims(memento: Memento) -> None:
    update = "PREFIX mem: <http://purl.org/memento/> "
    memento.graphs.update(update + "DELETE { ?c ?p ?o } WHERE { ?c a mem:Claim ; mem:relationName 'sister' ; ?p ?o }")
    assert told(memento, "sister") == []

    memento.graphs.update(
        update + "INSERT { ?m mem:title 'Flat' } WHERE { ?m a mem:Memory ; mem:content 'My rent is 800.' }"
    )
    assert [one.value for one in told(memento, "rent")] == ["700", "800"]
    followed = every(memento)
    memento.admin.rebuild()
    assert every(memento) == followed


def test_an_index_that_holds_a_part_brings_the_claims_of_its_memories(tmp_path: Path) -> None:
    index = IndexSettings(kind="lance", uri=str(tmp_path / "lance"), whole=0, pool=20)
    with serve_graphs(tmp_path / "store") as server:
        store = StoreSettings("sparql", server.query_url, server.update_url, probe=False)
        pooled = open_memento(tmp_path / "pooled", configured=replace(OFFLINE, store=store, index=index))
        assert isinstance(pooled, Memento)
        with pooled as memento:
            for day, text in NOTES:
                memento.note(text, at=at(day))
            graphs, stores = memento.context.scope(None).memory_graphs, memento.service.stores

            def find(relation: str, **asked: Any) -> list[Stated]:
                stores.indexes.bring(graphs, **asked)
                return [one for one in stores.indexes[Claims].of_owner(USER) if one.relation == relation]

            rents = stores.run(lambda: find("rent", texts=["How much is my rent?"]))
            assert [(one.value, one.until < float("inf")) for one in rents] == [("700", True), ("800", False)]
            assert [one.value for one in stores.run(lambda: find("sister", keys=["slot:sister"]))] == ["Leila Haddad"]
            found = memento.recall("How much is my rent?", explain=True, gate=False).memories[0]
            assert found.content == "My rent is 800." and found.why["claim"] > 0
