"""Whoever may write a note cannot stop the service or lose a note: what cannot be read is kept word for word, and says so."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import OFFLINE
from memento.consolidation.agents import NotUnderstood
from memento.consolidation.pipeline import MOST_DRAFTS, MOST_READ_CHARS
from memento.consolidation.rules import RuleAgents
from memento.interfaces.cli import main
from memento.interfaces.mcp import catalogue
from memento.interfaces.mcp.tools import Reach, Told
from memento.interfaces.web.app import create_app
from memento.iris import mint, user_iri
from memento.model import Note, NoteRow, User
from memento.python import Memento, open_memento

USER = User(iri=user_iri("local"))
LONG = "I met Ana in Oslo." + " We moved the launch of the ferry to Friday." * (MOST_READ_CHARS // 40)
"""Longer than what rules read."""
WHY = f"it has {len(LONG):,} characters, and rules read {MOST_READ_CHARS:,}, so it is kept in its own words: send it in parts"


def note(content: str) -> Note:
    return Note(iri=mint("note"), content=content, at=datetime(2024, 5, 15, tzinfo=UTC))


def break_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reader of claims fail on what nobody thought of."""

    def fail(text: str) -> Iterator[None]:
        if "zebra" in text:
            raise RecursionError(text)
        return iter(())

    monkeypatch.setattr("memento.consolidation.rules.read_claims", fail)


def test_a_note_on_which_the_reader_fails_is_kept_whole_and_says_so(
    memento: Memento, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_reader(monkeypatch)
    with caplog.at_level(logging.WARNING):
        noted = memento.note("My safe opens with zebra4711. I like tea.")
    (kept,) = memento.list()
    status = memento.review.note_status(str(noted.note))

    assert kept.content == "My safe opens with zebra4711. I like tea."
    assert noted.verbatim is not None
    assert noted.verbatim.startswith("the rules failed on it (RecursionError at fail:")
    assert (status.state, status.error, status.reason) == ("consolidated", "NotUnderstood", noted.verbatim)
    assert "zebra" not in noted.verbatim + caplog.text
    assert memento.admin.check() == ()


def test_a_correction_on_which_the_reader_fails_is_kept_whole_too(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = memento.note("I live in Oslo.").memories
    break_reader(monkeypatch)
    corrected = memento.correct(old, "I live where the zebra lives.")

    assert corrected.verbatim
    assert corrected.invalidated == (old,)
    assert memento.admin.check() == ()


def test_two_notes_that_once_froze_everything_are_read_at_once(memento: Memento) -> None:
    memento.note("I live in Oslo.")
    trap = memento.note("in May " * 60 + ".")
    noted = memento.note("I no longer live in Oslo.")

    assert trap.verbatim is noted.verbatim is None
    assert len(noted.invalidated) == 1


def test_a_note_that_is_too_long_to_be_read_is_kept_whole_and_says_so(memento: Memento) -> None:
    noted = memento.note(LONG, speaker="Ana", title="Launches")
    status = memento.review.note_status(str(noted.note))
    (listed,) = memento.list()

    assert noted.verbatim == WHY
    assert listed.content == LONG
    assert (status.state, status.error, status.reason) == ("consolidated", "NotUnderstood", WHY)
    assert {"Ana", "Launches"} <= {one.name for one in memento.recall("Who met Ana in Oslo?", gate=False).entities}


def test_a_note_that_says_too_many_things_is_kept_whole(memento: Memento) -> None:
    noted = memento.note(
        "\n\n".join(f"We met at pier {n} of the old dock and rang Bo." for n in range(MOST_DRAFTS + 50))
    )

    assert noted.verbatim is not None
    assert f"a note may say {MOST_DRAFTS}" in noted.verbatim
    assert len(memento.list()) == 1


def test_what_was_kept_whole_traps_no_later_note_not_even_after_a_restart(tmp_path: Path) -> None:
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        memento.note("I live in Oslo.")
        assert memento.note(LONG).verbatim
    with open_memento(tmp_path / "home", configured=OFFLINE) as memento:
        noted = memento.note("I no longer live in Oslo.")

        assert noted.verbatim is None
        assert len(noted.invalidated) == 1
        assert memento.note(LONG).skipped == "it is already known"


def test_a_retry_with_the_same_key_says_so_again(memento: Memento) -> None:
    first = memento.note(LONG, idempotency_key="one")
    again = memento.note(LONG, idempotency_key="one")

    assert first.verbatim
    assert again.note == first.note
    assert again.verbatim


def test_an_import_counts_what_is_kept_whole_and_reads_the_rest(memento: Memento) -> None:
    imported = memento.intake.import_notes([NoteRow(content="I live in Oslo."), NoteRow(content=LONG)])

    assert (imported.verbatim, imported.memories) == (1, 2)
    assert {one.content for one in memento.list()} == {"I live in Oslo.", LONG}


def test_a_note_that_is_read_later_is_kept_whole_too(memento: Memento) -> None:
    pending = memento.note(LONG, wait=False)
    (status,) = memento.review.retry() or (memento.review.note_status(str(pending.note)),)

    assert status.error == "NotUnderstood"


def test_a_long_note_is_read_in_steps_that_grow_with_its_length() -> None:
    """A parse is linear; nothing that is done with it may be more."""

    def count_steps(sentences: int) -> int:
        text = "I moved and he lived and they rowed " * sentences
        steps = 0

        def count(frame: object, event: str, given: object) -> None:
            nonlocal steps
            steps += event == "call"

        agents = RuleAgents()
        agents.extract_memories(note("I live in Oslo."), (), USER)
        sys.setprofile(count)
        try:
            agents.extract_memories(note(text), (), USER)
        finally:
            sys.setprofile(None)
        return steps

    assert count_steps(400) < 3 * count_steps(200)


def test_long_memories_are_known_again_and_end_nothing(memento: Memento) -> None:
    said = "We talked about boats and " + "boats and " * 300 + "harbours."
    memento.note("I use VS Code.")
    first = memento.note(said, at="2024-05-01")
    again = memento.note(f"{said} ", at="2024-05-03")

    assert len(first.memories) == 1
    assert again.skipped == "it is already known"


def test_what_rules_cannot_read_is_an_answer_and_not_an_error() -> None:
    agents = RuleAgents()
    with pytest.raises(NotUnderstood, match="the rules failed"):
        agents.extract_memories(replace(note("tea"), content=None), (), USER)  # type: ignore[arg-type]


def test_every_interface_says_that_a_note_is_kept_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    monkeypatch.setenv("MEMENTO_EMBEDDING_CACHE", "false")
    by_command = CliRunner().invoke(main, ["note", LONG])
    with open_memento(tmp_path / "other", configured=OFFLINE) as memento:
        assert isinstance(memento, Memento)
        by_rest = create_app(memento.service).test_client().post("/memory/notes", json={"content": LONG}).get_json()
        tool = catalogue.tools(())["memento_note"]
        told = tool.run(
            Reach(memory=memento, namespace=None), tool.parse_arguments({"content": f"Yes. {LONG}", "confirmed": True})
        )

    assert f"As said  {WHY}" in by_command.output
    assert by_rest["verbatim"] == WHY
    assert isinstance(told, Told)
    assert told.text is not None
    assert "\nBut it has 110,0" in told.text and "kept in its own words" in told.text
