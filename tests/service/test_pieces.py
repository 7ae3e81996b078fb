"""Long texts: kept in pieces with their place in the whole, read once, recalled by piece; and pieces that overlap come once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import OFFLINE
from memento.iris import MEM
from memento.python import Memento, open_memento
from memento.retrieval.render import as_list, as_text, as_xml
from memento.text.sentences import split_long
from memento.time import now

FILLER = "The ferry of line {n} leaves the pier at noon and comes back by night with salt and post. "
CHUNKED = replace(OFFLINE, consolidation=replace(OFFLINE.consolidation, chunk_over=1000))
LONG = "\n\n".join(
    [
        *("".join(FILLER.format(n=10 * part + n) for n in range(6)).strip() for part in range(9)),
        "Our boat Zelda has a keel of seasoned oak.",
        *("".join(FILLER.format(n=100 + 10 * part + n) for n in range(6)).strip() for part in range(4)),
    ]
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    opened = open_memento(tmp_path_factory.mktemp("pieces"), configured=CHUNKED)
    assert isinstance(opened, Memento)
    with opened:
        opened.note(LONG, title="Harbour book", tags=["harbour"], idempotency_key="book")
        opened.intake.import_notes([{"content": LONG, "idempotency_key": "row"}], consolidate=False, namespace="kept")
        yield opened


def test_a_text_of_a_thousand_words_is_one_piece_and_a_longer_one_overlaps_by_a_hundred() -> None:
    words = [f"w{n}" for n in range(1300)]
    [whole] = split_long(" ".join(words[:1000]))
    pieces = split_long(" ".join(words))

    assert (len(whole.text.split()), whole.overlap) == (1000, 0)
    assert [len(piece.text.split()) for piece in pieces] == [500, 500, 500]
    for before, piece in pairwise(pieces):
        assert piece.text[: piece.overlap].split() == before.text.split()[-100:]


def test_a_piece_ends_with_a_paragraph_else_with_a_sentence_else_with_a_word() -> None:
    paragraph = " ".join(["word"] * 299) + " end."
    sentences = " ".join([" ".join(["word"] * 29) + " stop."] * 50)

    assert all(piece.text.endswith(" end.") for piece in split_long("\n\n".join([paragraph] * 5)))
    assert all(piece.text.endswith(" stop.") for piece in split_long(sentences))
    assert not split_long(" ".join(["word"] * 1200))[0].text.endswith(".")


@given(
    st.lists(st.sampled_from(["a", "bb.", "c\n", "d\n\n", "ee!"]), max_size=120), st.integers(1, 9), st.integers(0, 9)
)
def test_pieces_say_all_of_a_text_once_in_its_order(words: list[str], most: int, overlap: int) -> None:
    text = " ".join(words)
    pieces = split_long(text, over=most, most=most, overlap=overlap)

    assert " ".join(piece.text[piece.overlap :] for piece in pieces).split() == text.split()
    assert all(len(piece.text.split()) <= most for piece in pieces)


def notes_of(memory: Memento, namespace: str) -> list[dict[str, object]]:
    """What is said of each note of a namespace, in the order of its pieces."""
    scope = memory.context.scope(namespace)
    store = memory.service.stores.graph
    found: dict[str, dict[str, object]] = {}
    for subject, predicate, value, _ in store.quads(scope.graph):
        if subject.startswith("urn:memento:note:"):
            found.setdefault(subject, {"iri": subject})[predicate] = value
    return sorted(found.values(), key=lambda one: str(one.get(MEM.piece)))


@pytest.mark.parametrize("namespace", ["main", "kept"])
def test_pieces_are_notes_that_point_at_the_first_which_has_no_parent(memory: Memento, namespace: str) -> None:
    first, *others = notes_of(memory, namespace)

    assert len(others) == 3
    assert MEM.parent not in first
    assert {one[MEM.parent] for one in others} == {first["iri"]}
    assert [one[MEM.piece] for one in (first, *others)] == [1, 2, 3, 4]
    assert {one[MEM.pieces] for one in (first, *others)} == {4}
    assert not memory.admin.check()


def test_what_stands_in_two_pieces_is_remembered_once(memory: Memento) -> None:
    contents = [one.content for one in memory.list(limit=300)]

    assert len(contents) == len(set(contents)) > 20
    assert sorted(" ".join(contents).split()) == sorted(LONG.split())


def test_the_same_long_text_again_is_the_same_note(memory: Memento) -> None:
    before = len(memory.list(limit=300))
    again = memory.note(LONG, title="Harbour book", tags=["harbour"], idempotency_key="book")
    row = memory.intake.import_notes([{"content": LONG, "idempotency_key": "row"}], consolidate=False, namespace="kept")

    assert again.note == notes_of(memory, "main")[0]["iri"]
    assert (row.known, row.notes) == (1, (notes_of(memory, "kept")[0]["iri"],))
    assert len(memory.list(limit=300)) == before
    assert len(notes_of(memory, "kept")) == 4


def test_recall_shows_the_piece_with_its_place_in_the_whole(memory: Memento) -> None:
    found = memory.recall("What is the keel of Zelda made of?", k=1)
    [best] = found.memories
    assert best.note
    place = f"piece {best.note.piece} of 4"

    assert "Zelda" in best.content
    assert "Zelda" in best.note.content
    assert best.note.content != LONG
    assert best.note.parent in (None, notes_of(memory, "main")[0]["iri"])
    assert best.note.place == place
    assert place in as_text(found)
    assert place in as_xml(found, now().date())
    assert place in as_list(found)


def test_pieces_that_were_found_by_what_they_share_come_once(memory: Memento) -> None:
    pieces = notes_of(memory, "kept")
    shared = str(pieces[1][MEM.content])[: int(str(pieces[1][MEM.overlap]))]
    sentence = shared.split(". ")[-2]
    found = memory.recall(f"{sentence}?", k=60, gate=False, namespace="kept").memories
    own = [one for one in found if one.note and one.note.iri in {piece["iri"] for piece in pieces[:2]}]

    assert shared.split() == str(pieces[0][MEM.content]).split()[-100:]
    assert len(own) == 1
    assert own[0].count == 1 + len(own[0].merged) > 1


def test_a_text_stays_whole_where_the_setting_says_so(memory: Memento) -> None:
    service = memory.service
    before = service.settings
    service.settings = replace(before, consolidation=replace(before.consolidation, chunk_over=0))
    try:
        done = memory.intake.import_notes([{"content": LONG}], consolidate=False, namespace="whole")
    finally:
        service.settings = before

    assert done.memories == len(notes_of(memory, "whole")) == 1


def test_forgetting_or_erasing_the_first_piece_takes_all_of_the_text(memory: Memento) -> None:
    done = memory.intake.import_notes([{"content": LONG}], consolidate=False, namespace="gone")
    first = str(done.notes[0])
    hidden = memory.forget(first, namespace="gone")
    back = memory.review.unforget(first, namespace="gone")
    [*marked] = memory.review.mark(first, ["book"], namespace="gone")

    assert len(hidden.memories) == len(back.memories) == len(marked) == 4
    assert len(memory.forget(first, erase=True, namespace="gone").memories) == 4
    assert notes_of(memory, "gone") == []
