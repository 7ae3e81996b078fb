"""What is in dispute is listed and settled; what Memento holds of a relation is asked in SPARQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kept import keep
from measure import fresh_memory
from memento import open_memento
from memento.errors import InputError, NotFound
from memento.graph.binding import load_query
from memento.iris import MEM
from memento.model import Scope
from memento.python import Memento
from memento.settings import EmbeddingSettings, Settings

TRIGRAM = Settings(embedding=EmbeddingSettings(model="trigram"))


@pytest.fixture
def memento() -> Iterator[Memento]:
    with fresh_memory("trigram") as opened:
        yield opened


def test_likely_rivals_both_stay_and_are_listed(memento: Memento) -> None:
    memento.note("The team hosts on Heroku.", at="2026-01-05")
    memento.note("The team hosts on Hetzner.", at="2026-02-05")

    [dispute] = memento.review.disputes()

    assert set(dispute.contents) == {"The team hosts on Heroku.", "The team hosts on Hetzner."}
    assert 0.5 <= dispute.confidence < 1
    assert len(memento.list()) == 2


def test_a_dispute_is_settled_by_hand_and_says_so(memento: Memento) -> None:
    old = memento.note("The team hosts on Heroku.", at="2026-01-05").memories[0]
    new = memento.note("The team hosts on Hetzner.", at="2026-02-05").memories[0]

    settled = memento.review.settle(new, old, reason="Heroku was given up")

    assert memento.review.disputes() == ()
    assert [one.content for one in memento.list()] == ["The team hosts on Hetzner."]
    assert (str(MEM.reason), "Heroku was given up") in memento.get(settled.invalidation).properties
    assert memento.admin.check() == ()
    with pytest.raises(InputError, match="over already"):
        memento.review.settle(new, old)

    memento.undo(settled.invalidation)

    assert len(memento.list()) == 2


@pytest.mark.parametrize("flag", ["contradiction", "rivals", "none"])
def test_what_was_settled_is_in_dispute_again_once_that_is_undone(memento: Memento, flag: str) -> None:
    if flag == "rivals":
        one = memento.note("The team hosts on Heroku.", at="2026-01-05").memories[0]
        other = memento.note("The team hosts on Hetzner.", at="2026-02-05").memories[0]
    else:
        one = keep(memento, "The launch is on Monday.")
        other = keep(memento, "The budget is small.")
    if flag == "contradiction":
        both = f"<{one}> <{MEM.contradicts}> <{other}> . <{other}> <{MEM.contradicts}> <{one}>"
        memento.graphs.update(f"INSERT DATA {{ GRAPH <{Scope().graph}> {{ {both} }} }}")
    before = memento.review.disputes()
    assert len(before) == (flag != "none")

    settled = memento.review.settle(one, other)
    assert memento.review.disputes() == ()
    memento.undo(settled.invalidation)

    assert memento.review.disputes() == before


def test_nothing_is_in_dispute_with_itself_or_with_what_is_not_there(memento: Memento) -> None:
    one = memento.note("The team hosts on Heroku.").memories[0]

    with pytest.raises(InputError):
        memento.review.settle(one, one)
    with pytest.raises(NotFound):
        memento.review.settle(one, "urn:memento:memory:none")


def test_sparql_says_what_is_held_of_a_relation_and_when(memento: Memento) -> None:
    memento.note("Ana works at Tidewater Logistics.", at="2026-01-05")
    memento.note("Ana joined Fernhill Labs.", at="2026-02-05")
    memento.note("They say Ana works at Orbital United.", at="2026-03-05")

    rows = memento.service.stores.graph.select("library/statements", [Scope().graph], name="Ana", relation="work at")

    held = [(row["value"], row["mood"], str(row["since"])[:10], str(row.get("ended", ""))[:10]) for row in rows]
    assert held[:2] == [
        ("Tidewater Logistics", "fact", "2026-01-05", "2026-02-05"),
        ("Fernhill Labs", "fact", "2026-02-05", ""),
    ]
    assert {mood for _, mood, _, _ in held[2:]} == {"report"}
    assert "mem:relationName" in load_query("library/statements").text


def test_erasing_a_memory_takes_what_it_states_with_it(memento: Memento) -> None:
    noted = memento.note("Ana works at Tidewater Logistics.")

    memento.forget(noted.memories[0], erase=True)

    answer = memento.graphs.query_bytes(
        "SELECT * { GRAPH ?g { ?s a <http://purl.org/memento/Claim> } }", accept="text/csv"
    )[0]
    assert b"claim" not in answer


def test_a_clock_says_when_a_thing_was_believed(tmp_path: Path) -> None:
    moment = [datetime(2020, 1, 1, tzinfo=UTC)]
    with open_memento(tmp_path, clock=lambda: moment[0], configured=TRIGRAM) as memento:
        noted = memento.note("I live in Rome.", at="2020-01-01")
        moment[0] = datetime(2022, 6, 1, tzinfo=UTC)
        memento.note("I moved to Oslo in March 2021.")

        assert dict(memento.get(noted.memories[0]).properties)[MEM.createdAt][:10] == "2020-01-01"
        believed = memento.recall("Where did I live in May 2021?", believed_at="2021-06-01", gate=False).memories
        assert [one.content for one in believed] == ["I live in Rome."]
        known = memento.recall("Where did I live in May 2021?", gate=False).memories
        assert known[0].content == "I moved to Oslo in March 2021."


def test_memories_that_contradict_each_other_are_counted_and_likely_rivals_are_not(memento: Memento) -> None:
    [one], [other] = (memento.note(said).memories for said in ("I like tea.", "Ana works at Google."))
    assert memento.status().contradictions == 0
    memento.graphs.update(
        f"INSERT DATA {{ <{one}> <{MEM.contradicts}> <{other}> . <{other}> <{MEM.contradicts}> <{one}> }}"
    )

    assert memento.status().contradictions == 1
    memento.forget(one)
    assert memento.status().contradictions == 0
