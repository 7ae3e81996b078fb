"""Memories that are in the graph are read: what rows claim that were imported as they are, and why a memory ended nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE, at
from memento.iris import MEM
from memento.model import NoteRow
from memento.python import Memento, open_memento
from memento.service.understanding import read_some
from memento.settings import ConsolidationSettings

_CLAIMS = """
PREFIX mem: <http://purl.org/memento/>
SELECT ?relation ?value ?words WHERE {
  GRAPH ?graph { ?claim a mem:Claim ; mem:relationName ?relation ; mem:valueText ?value ; mem:words ?words }
}
ORDER BY ?relation ?value
"""
_ROWS = [
    NoteRow(content="My boss is Ana Ruiz.", at=at("2026-01-05")),
    NoteRow(content="Karim Osei lives in Turin.", at=at("2026-01-05")),
    NoteRow(content="My boss is Ben Olsen.", at=at("2026-01-06")),
    NoteRow(content="Ok.", at=at("2026-01-06")),
]


def list_claims(memento: Memento) -> list[str]:
    body, _ = memento.graphs.query_bytes(_CLAIMS, accept="text/csv")
    return body.decode().split("\r\n")[1:-1]


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(1200):
        if is_so():
            return
        time.sleep(0.05)
    pytest.fail("it did not happen within a minute")


def read_all(memento: Memento) -> int:
    count = 0
    while some := read_some(memento.service):
        count += some
    return count


@pytest.mark.parametrize(
    ("known", "told", "why"),
    [
        ("I work at Acme.", "I plan to work at Zeta.", "a plan"),
        ("My phone is 555-01.", "Rumour has it my phone is 555-02.", "a report"),
        ("I work at Acme.", "I might work at Zeta.", "a possibility"),
        ("Bought a Koga for 350.", "Bought a Trek for 200.", "an event"),
        ("We use Redis.", "We use Postgres.", "may stand together"),
        ("My supplier is Molino.", "My supplier is Alpenkorn until May.", "for a time"),
        ("My manager is Ana Ruiz.", "His manager is Douwe Postma.", "no owner"),
    ],
)
def test_it_is_explained_why_a_claim_did_not_end(known: str, told: str, why: str, memento: Memento) -> None:
    memento.note(known, at=at("2026-01-05"))
    foreseen = memento.note(told, at=at("2026-02-05"), dry_run=True)
    noted = memento.note(told, at=at("2026-02-05"))
    assert noted.note
    [memory] = noted.memories

    spared = memento.get(memory, explain=True).spared

    assert not noted.invalidated and not noted.ended
    assert why in [one.reason for one in spared]
    assert all(one.words in known for one in spared)
    assert memento.get(noted.note, explain=True).spared == spared
    assert memento.get(memory).spared == ()
    assert why == "no owner" or foreseen.readings[0].spared == spared


def test_what_ended_and_what_has_nothing_in_common_is_not_explained(memento: Memento) -> None:
    for day, text in (("2026-01-05", "My boss is Ana Ruiz."), ("2026-01-06", "I like tea.")):
        memento.note(text, at=at(day))
    noted = memento.note("My boss is Ben Olsen now.", at=at("2026-02-05"))

    assert len(noted.invalidated) == 1
    assert memento.get(noted.memories[0], explain=True).spared == ()


def test_rows_are_found_at_once_and_their_claims_follow_without_ending_anything(memento: Memento) -> None:
    memento.intake.import_notes(_ROWS, consolidate=False)
    assert "Karim Osei lives in Turin." in [
        one.content for one in memento.recall("Where does Karim Osei live?").memories
    ]
    assert (memento.status().unread, list_claims(memento)) == (4, [])

    assert read_all(memento) == 4

    assert memento.status().unread == 0
    assert list_claims(memento) == [
        "boss,Ana Ruiz,My boss is Ana Ruiz",
        "boss,Ben Olsen,My boss is Ben Olsen",
        "live in,Turin,Karim Osei lives in Turin",
    ]
    assert [one.invalid_at for one in memento.list()] == [None] * 4
    assert memento.admin.check() == ()


def test_a_later_note_ends_what_a_row_claims(memento: Memento) -> None:
    memento.intake.import_notes(_ROWS[1:2], consolidate=False)
    read_all(memento)

    noted = memento.note("Karim Osei lives in Genoa now.", at=at("2026-02-05"))

    assert [noted.contents[iri] for iri in noted.invalidated] == ["Karim Osei lives in Turin."]


def test_what_another_speaker_says_of_himself_is_his(memento: Memento) -> None:
    memento.intake.import_notes([NoteRow(content="My boss is Ana Ruiz.", speaker="Olga")], consolidate=False)
    read_all(memento)

    [memory] = memento.list()
    claim = next(one for one, predicate in memento.get(memory.iri).pointed_at_by if predicate == MEM.statedBy)
    owner = next(value for name, value in memento.get(claim).properties if name == MEM.owner)

    assert ("Olga" in dict(memento.get(owner).properties).values()) is True


def test_the_next_process_reads_what_a_row_claims(tmp_path: Path) -> None:
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        memento.intake.import_notes(_ROWS, consolidate=False)
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        assert read_all(memento) == 4
        assert len(list_claims(memento)) == 3


def test_an_erased_row_waits_for_nothing(memento: Memento) -> None:
    memento.intake.import_notes(_ROWS, consolidate=False)
    [turin] = [one.iri for one in memento.list() if "Turin" in one.content]
    memento.forget(turin, erase=True)

    read_all(memento)

    assert memento.status().unread == 0
    assert [one for one in list_claims(memento) if "Turin" in one] == []


def test_a_document_claims_nothing_for_the_user(memento: Memento, tmp_path: Path) -> None:
    (tmp_path / "novel.md").write_text("# A novel\n\nMy boss is Ana Ruiz. I live in Lima.\n", encoding="utf-8")
    memento.intake.ingest(str(tmp_path / "novel.md"))

    assert memento.status().unread == 0


def test_a_process_that_resumes_reads_in_the_background(tmp_path: Path) -> None:
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        memento.intake.import_notes(_ROWS, consolidate=False)
    usual = replace(OFFLINE, consolidation=ConsolidationSettings())
    with open_memento(tmp_path / "home", configured=usual) as memento:
        wait_until(lambda: memento.status().unread == 0)
        memento.intake.import_notes([NoteRow(content="I live in Lima.")], consolidate=False)
        wait_until(lambda: memento.status().unread == 0)
        assert isinstance(memento, Memento)
        assert len(list_claims(memento)) == 4
