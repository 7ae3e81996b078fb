"""A block for a model keeps to its limit, by leaving out what matters least."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memento.iris import IRI
from memento.model import NoteRef, Recalled, RecalledEntity, Recollection
from memento.retrieval.render import as_xml, count_tokens, fit_block

TODAY = date(2026, 3, 1)


def remembered(count: int, words: str = "lives in Lisbon") -> Recollection:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    memories = tuple(
        Recalled(
            rank=number + 1,
            iri=IRI(f"urn:memory:{number}"),
            content=f"USER {words} {number}.",
            score=0.5,
            source="meaning",
            valid_at=at,
            about=(f"Thing {number}",),
            about_iris=(IRI(f"urn:entity:{number}"),),
            note=NoteRef(iri=IRI(f"urn:note:{number}"), content=f"I {words} {number}.", at=at),
        )
        for number in range(count)
    )
    entities = tuple(
        RecalledEntity(iri=IRI(f"urn:entity:{number}"), name=f"Thing {number}", kind="Concept")
        for number in range(count)
    )
    return Recollection(
        query="Where?", namespace="main", memories=memories, entities=entities, total_candidates=count, timings_ms={}
    )


@pytest.mark.parametrize("most", [0, 50, 120, 200, 400, 700, 1000, 5000])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 10, 40])
def test_as_many_memories_as_fit_are_shown_and_not_one_more(most: int, count: int) -> None:
    found = remembered(count)
    shown, block = fit_block(found, TODAY, most)
    kept = len(shown.memories)

    assert count_tokens(block) <= most
    assert block.count("<memory ") == block.count("<note ") == block.count("<entity name") == kept
    assert [one.iri for one in shown.memories] == [one.iri for one in found.memories[:kept]]
    assert kept == count or count_tokens(fit_block(found, TODAY, 10**6)[1]) > most


def test_one_more_memory_would_be_too_long() -> None:
    shown, _ = fit_block(remembered(10), TODAY, 600)
    one_more = remembered(len(shown.memories) + 1)

    assert count_tokens(as_xml(one_more, TODAY)) > 600


def test_long_texts_are_cut_so_that_something_can_be_shown() -> None:
    shown, block = fit_block(remembered(3, "walked " * 5000), TODAY, 1000)

    assert shown.memories
    assert "…</content>" in block
    assert count_tokens(block) <= 1000


def test_instructions_come_first() -> None:
    _, block = fit_block(remembered(1), TODAY, 1000, "Mind <the> dates.")

    assert block.startswith("<memento>\n  <instructions>Mind &lt;the&gt; dates.</instructions>\n\n  <current-date>")
