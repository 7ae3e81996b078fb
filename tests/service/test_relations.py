"""Memories nearly alike are kept, linked or skipped as a setting says; what is related is found by memory and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from conftest import OFFLINE
from kept import keep
from memento.errors import InputError, NotFound
from memento.iris import IRI
from memento.python import Memento, open_memento
from memento.settings import EmbeddingSettings


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Memento]]:
    memories: list[Memento] = []

    def opener(near: Literal["keep", "relate", "skip"], cosine: float = 0.9) -> Memento:
        consolidation = replace(OFFLINE.consolidation, near=near, near_cosine=cosine, near_related=0.2)
        configured = replace(OFFLINE, embedding=EmbeddingSettings(model="trigram"), consolidation=consolidation)
        memory = open_memento(tmp_path, namespace="main", configured=configured)
        assert isinstance(memory, Memento)
        memories.append(memory)
        return memory

    yield opener
    for memory in memories:
        memory.close()


def tell(memento: Memento, *texts: str) -> list[IRI | None]:
    return [next(iter(memento.note(text).memories), None) for text in texts]


GREEN = "The printer in the green room on the second floor is broken."
BLUE = "The printer in the blue room on the second floor is broken."
AGAIN = "The printer in the green room on second floor is broken."


def test_by_default_what_is_nearly_alike_is_kept_and_linked_with_nothing(opened: Callable[..., Memento]) -> None:
    memento = opened("keep", 0.8)
    told = tell(memento, GREEN, BLUE, AGAIN)

    assert None not in told
    linked = {one.relation for iri in told if iri for one in memento.graphs.relations(iri)}
    assert not linked & {"similar", "references"}


def test_what_says_no_more_is_skipped_and_another_value_never(opened: Callable[..., Memento]) -> None:
    memento = opened("skip", 0.8)
    first, blue, again = tell(memento, GREEN, BLUE, AGAIN)

    assert (first and blue, again) == (blue, None)
    assert memento.note(AGAIN).skipped == "it is already known"
    assert tell(memento, "The printer in the green room on the third floor is broken.") != [None]


def test_the_nearest_are_linked_and_found_from_both_sides_and_by_name(opened: Callable[..., Memento]) -> None:
    memento = opened("relate")
    green, again, other = tell(
        memento, "Ana broke " + GREEN, "Ana broke " + AGAIN, "Bert likes the printer on the second floor."
    )
    assert green and again and other

    relations = {(one.memory, one.relation, one.way) for one in memento.graphs.relations(green)}
    assert (again, "similar", "in") in relations
    assert any(one.relation == "references" for one in memento.graphs.relations(other))
    [similar] = [one for one in memento.graphs.relations(again) if one.relation == "similar"]
    assert (similar.memory, similar.way) == (green, "out")
    assert similar.strength and 0.9 <= similar.strength <= 1
    assert {one.memory for one in memento.graphs.relations(entity="Ana")} == {green, again}
    assert {one.relation for one in memento.graphs.relations(entity="Ana")} == {"about"}
    memento.forget(again)
    assert again not in {one.memory for one in memento.graphs.relations(green)}
    saved = keep(memento, "Ana broke " + GREEN + " Twice.")
    assert memento.graphs.relations(saved)


def test_merges_corrections_and_links_by_hand_are_relations_too(opened: Callable[..., Memento]) -> None:
    memento = opened("keep")
    [old] = tell(memento, "The heating costs 540 euros.")
    assert old
    new = memento.correct(old, "The heating costs 560 euros.").memories[0]
    other = memento.keys.remember("Heating oil is dear.", ["oil"], related_to=[new]).saved

    assert ("supersedes", "out", old) in {(one.relation, one.way, one.memory) for one in memento.graphs.relations(new)}
    assert ("relatedTo", "in", other) in {(one.relation, one.way, one.memory) for one in memento.graphs.relations(new)}
    assert ("supersedes", "in", new) in {(one.relation, one.way, one.memory) for one in memento.graphs.relations(old)}
    with pytest.raises(InputError, match="either a memory or an entity"):
        memento.graphs.relations()
    with pytest.raises(NotFound):
        memento.graphs.relations("urn:memento:memory:none")
    with pytest.raises(NotFound):
        memento.graphs.relations(entity="Zebulon")


@pytest.mark.parametrize("kind", ["similar", "supersedes", "references", "contradicts", "elaborates"])
def test_a_relation_of_each_published_kind_keeps_its_strength(memento: Memento, kind: str) -> None:
    source, target = (keep(memento, text) for text in ("Postgres stays.", "The queue is in SQLite."))
    memento.living.associate(source, target, relation=kind, weight=0.42)

    [told] = [one for one in memento.graphs.relations(source) if one.relation == kind]
    assert (told.memory, told.way, told.strength) == (target, "out", 0.42)


CODE = "The bug is in Auth.py: validate_token() ignores LEDGER_SECRET, see https://example.org/doc."


def test_code_named_in_a_note_or_a_saved_text_leads_to_it(memento: Memento) -> None:
    (noted,) = memento.note(CODE).memories
    saved = keep(memento, "Auth.py was split; run pip install httpx first.")
    other = memento.note("I like tea.").memories[0]

    def find(entity: str) -> set[IRI]:
        return {one.memory for one in memento.graphs.relations(entity=entity) if one.relation == "refers"}

    assert find("auth.py") == find("uth.P") == {noted, saved}
    assert find("validate_token") == find("ledger_secret") == find("example.org") == {noted}
    assert find("httpx") == {saved}
    with pytest.raises(NotFound):
        find("tea.py")
    assert other not in find("auth")


def test_a_class_in_a_note_is_code_by_its_last_word_or_a_sign_beside_it_and_a_brand_is_not(memento: Memento) -> None:
    (gateway,) = memento.note("The PaymentGateway retries three times.").memories
    (book,) = memento.note("OrderBook() is slow, and so is LedgerLine.close().").memories
    (tree,) = memento.note("Somebody changed SyntaxTree.java last week.").memories
    memento.note("I saw the iPhone on YouTube, near a McDonald and the AppStore of JetBrains (see WordPress.com).")

    def find(entity: str) -> set[IRI]:
        return {one.memory for one in memento.graphs.relations(entity=entity) if one.relation == "refers"}

    classes = (
        "SELECT ?n { ?e <http://purl.org/memento/codeType> 'class' ; <http://purl.org/memento/name> ?n } ORDER BY ?n"
    )
    assert find("paymentgateway") == {gateway}
    assert find("orderbook") == find("ledgerline") == {book}
    assert find("syntaxtree") == {tree}
    assert memento.graphs.query_bytes(classes, accept="text/csv")[0].decode().split() == [
        "n",
        "LedgerLine",
        "OrderBook",
        "PaymentGateway",
        "SyntaxTree",
    ]


def test_an_entity_is_found_by_a_part_of_its_name_and_several_are_named(memento: Memento) -> None:
    (ferry,) = memento.note("Nadja Petersen lives in Flensburg.").memories
    (harbour,) = memento.note("Tom works for Flemming Shipping.").memories

    def find(entity: str) -> set[IRI]:
        return {one.memory for one in memento.graphs.relations(entity=entity)}

    assert (
        find("petersen")
        == find("peters")
        == find("nad")
        == find("nad pet")
        == find("flens")
        == find("ensbu")
        == {ferry}
    )
    assert find("shipp") == {harbour}
    with pytest.raises(NotFound, match="'fle' may be any of Flemming Shipping, Flensburg: give the whole name"):
        find("fle")
    for none in ("ip", "hip", "na", "flens tom"):
        with pytest.raises(NotFound, match="nothing in the namespace"):
            find(none)


def test_what_is_erased_takes_the_code_with_it_that_nothing_else_names(memento: Memento) -> None:
    (noted,) = memento.note(CODE).memories
    kept = keep(memento, "Auth.py was split.")
    memento.forget(noted, erase=True)

    names = memento.graphs.query_bytes(
        "SELECT ?n { ?e a <http://purl.org/memento/CodeEntity> ; <http://purl.org/memento/name> ?n }"
    )[0]
    assert b"Auth.py" in names and not any(
        one in names for one in (b"validate_token", b"LEDGER_SECRET", b"example.org")
    )
    assert [one.memory for one in memento.graphs.relations(entity="auth.py")] == [kept]


def test_an_argument_that_lacks_is_called_what_every_caller_calls_it(memento: Memento) -> None:
    with pytest.raises(InputError, match="a memory or an entity") as refused:
        memento.graphs.relations()
    assert "iri" not in str(refused.value)
