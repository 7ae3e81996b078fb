"""Whoever may write a note cannot stop the service: what cannot be read in time is kept word for word, and says so."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from conftest import OFFLINE
from endless import AGENTS
from memento.consolidation import bounded_rules
from memento.consolidation.agents import NotUnderstood
from memento.consolidation.bounded_rules import BoundedRules, ExtractEntities, Job, RuleProcesses
from memento.errors import BackendError
from memento.interfaces.cli import main
from memento.interfaces.mcp import catalogue
from memento.interfaces.mcp.core_tools import Change
from memento.interfaces.mcp.tools import Reach, Told
from memento.interfaces.web.app import create_app
from memento.iris import mint, user_iri
from memento.model import Note, NoteRow, User
from memento.python import Memento, open_memento

USER = User(iri=user_iri("local"))
LONG = " ".join(
    f"I met Ana Number{n} in Oslo on {n % 27 + 1} May and we moved the launch of Project{n}." for n in range(240)
)
LONG += " It was endless."
"""A long text that the rules of these tests never finish."""
HASTY = 0.5
"""Seconds that end the rules soon, and a hundred times what a short note takes."""


def note(content: str) -> Note:
    return Note(iri=mint("note"), content=content, at=datetime(2024, 5, 15, tzinfo=UTC))


@pytest.fixture(autouse=True, scope="module")
def endless_rules() -> Iterator[RuleProcesses]:
    """The rules of every memory in these tests never finish a note that says "endless"."""
    found = RuleProcesses(AGENTS)
    with patch.object(bounded_rules, "PROCESSES", found):
        yield found
    found.close()


@contextmanager
def hasty(home: Path) -> Iterator[Memento]:
    """A memory whose rules have very little time."""
    consolidation = replace(OFFLINE.consolidation, rules_s=HASTY)
    opened = open_memento(home, configured=replace(OFFLINE, consolidation=consolidation))
    assert isinstance(opened, Memento)
    with opened:
        yield opened


@pytest.fixture
def processes() -> Iterator[RuleProcesses]:
    found = RuleProcesses(AGENTS)
    yield found
    found.close()


def names(content: str, seconds: float = 60.0) -> Job:
    return Job(ExtractEntities(note(content), USER, False), "UTC", seconds)


def test_a_pattern_that_never_ends_is_ended_and_holds_no_other_thread(processes: RuleProcesses) -> None:
    processes.run_job(names("I live in Oslo."))
    beats = list[int]()
    over = threading.Event()

    def beat() -> None:
        while not over.wait(0.005):
            beats.append(1)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        answer = processes.run_job(names("endless", 1.0))
    finally:
        over.set()
        thread.join()

    assert answer is None
    assert len(beats) > 10


def test_another_process_takes_the_place_of_one_that_was_ended(processes: RuleProcesses) -> None:
    assert processes.run_job(names("endless", 0.1)) is None

    answer = processes.run_job(names("I live in Oslo."))

    assert answer is not None
    assert [mention["name"] for mention in answer.value["mentions"]] == ["Oslo"]


def test_a_process_that_somebody_kills_is_replaced_without_a_word(processes: RuleProcesses) -> None:
    processes.run_job(names("I live in Oslo."))
    os.kill(processes.idle[-1], signal.SIGKILL)

    answer = processes.run_job(names("I live in Oslo."))

    assert answer is not None
    assert answer.failure is None


def test_what_the_rules_fail_on_is_told_without_a_word_of_the_note(processes: RuleProcesses) -> None:
    answer = processes.run_job(names("This will fail."))

    assert answer is not None
    assert answer.failure is not None
    assert re.fullmatch(r"ValueError at extract_entities:\d+", answer.failure)


def test_a_process_that_cannot_start_is_an_error_and_no_note_kept_word_for_word() -> None:
    with pytest.raises(BackendError, match="ended with code 1"):
        RuleProcesses("endless:Nobody").run_job(names("I live in Oslo."))


def test_a_fork_has_a_process_of_its_own() -> None:
    program = (
        "import os, sys, endless\n"
        "from memento.consolidation.bounded_rules import PROCESSES\n"
        "from test_bounded_rules import names\n"
        "assert PROCESSES.run_job(names('I live in Oslo.')).value['mentions'][0]['name'] == 'Oslo'\n"
        "child = os.fork()\n"
        "found = PROCESSES.run_job(names('I live in Rome.' if child else 'I live in Bern.')).value['mentions'][0]['name']\n"
        "if not child: os._exit(found != 'Bern')\n"
        "sys.exit(os.waitpid(child, 0)[1] or found != 'Rome')\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])

    subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, check=True, timeout=120)


def test_all_questions_of_a_note_share_its_seconds(
    endless_rules: RuleProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = BoundedRules("UTC", HASTY)
    with pytest.raises(NotUnderstood, match=r"took more than 0.5 seconds"):
        rules.extract_entities(note(LONG), USER)

    monkeypatch.setattr(endless_rules, "run_job", lambda job: pytest.fail("asked though no time is left"))
    with pytest.raises(NotUnderstood):
        rules.extract_memories(note("I live in Oslo."), (), USER)


def test_two_notes_that_once_froze_everything_are_read_at_once(memento: Memento) -> None:
    memento.note("I live in Oslo.")
    trap = memento.note("in May " * 60 + ".")
    noted = memento.note("I no longer live in Oslo.")

    assert trap.verbatim is noted.verbatim is None
    assert len(noted.invalidated) == 1


def test_a_note_that_takes_too_long_is_kept_word_for_word_and_says_so(tmp_path: Path) -> None:
    with hasty(tmp_path / "home") as memento:
        noted = memento.note(LONG, speaker="Ana", title="Launches")
        status = memento.note_status(str(noted.note))
        (listed,) = memento.list()

        assert noted.verbatim == "understanding it took more than 0.5 seconds, so it is kept in its own words"
        assert listed.content == LONG
        assert (status.state, status.error, status.reason) == ("consolidated", "NotUnderstood", noted.verbatim)
        assert {"Ana", "Launches"} <= {one.name for one in memento.recall("Who met Ana in Oslo?", gate=False).entities}


def test_what_was_kept_word_for_word_traps_no_later_note_not_even_after_a_restart(tmp_path: Path) -> None:
    with hasty(tmp_path / "home") as memento:
        memento.note("I live in Oslo.")
        assert memento.note(LONG).verbatim
    with hasty(tmp_path / "home") as memento:
        noted = memento.note("I no longer live in Oslo.")

        assert noted.verbatim is None
        assert len(noted.invalidated) == 1
        assert memento.note(LONG).skipped == "it is already known"


def test_a_retry_with_the_same_key_says_so_again(tmp_path: Path) -> None:
    with hasty(tmp_path / "home") as memento:
        first = memento.note(LONG, idempotency_key="one")
        again = memento.note(LONG, idempotency_key="one")

    assert first.verbatim
    assert again.note == first.note
    assert again.verbatim


def test_an_import_counts_what_is_kept_word_for_word_and_reads_the_rest(tmp_path: Path) -> None:
    with hasty(tmp_path / "home") as memento:
        imported = memento.import_notes([NoteRow(content="I live in Oslo."), NoteRow(content=LONG)])

        assert (imported.verbatim, imported.memories) == (1, 2)
        assert {one.content for one in memento.list()} == {"USER lives in Oslo.", LONG}


def test_a_note_that_is_read_later_is_kept_word_for_word_too(tmp_path: Path) -> None:
    with hasty(tmp_path / "home") as memento:
        pending = memento.note(LONG, wait=False)
        (status,) = memento.retry() or (memento.note_status(str(pending.note)),)

    assert status.error == "NotUnderstood"


def test_a_correction_that_takes_too_long_is_kept_word_for_word(tmp_path: Path) -> None:
    with hasty(tmp_path / "home") as memento:
        (old,) = memento.note("I live in Oslo.").memories
        corrected = memento.correct(old, LONG)

        assert corrected.verbatim
        assert corrected.invalidated == (old,)


def test_a_sentence_too_long_to_be_read_stays_as_it_was_said(memento: Memento) -> None:
    endless = "I live in Rome and " + "so on and " * 300 + "so forth."
    memento.note(f"I live in Oslo. {endless} I work at Acme.")

    assert [one.content for one in memento.list()][::-1] == ["USER lives in Oslo.", endless, "USER works at Acme."]


def test_long_memories_are_known_again_and_end_nothing(memento: Memento) -> None:
    said = "We talked about boats and " + "boats and " * 300 + "harbours."
    memento.note("I use VS Code.")
    first = memento.note(said, at="2024-05-01")
    again = memento.note(f"{said} ", at="2024-05-03")

    assert len(first.memories) == 1
    assert again.skipped == "it is already known"


def test_every_interface_says_that_a_note_is_kept_word_for_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "understanding it took more than 0.5 seconds, so it is kept in its own words"
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    monkeypatch.setenv("MEMENTO_EMBEDDING_CACHE", "false")
    monkeypatch.setenv("MEMENTO_CONSOLIDATION_RULES_S", str(HASTY))
    by_command = CliRunner().invoke(main, ["note", LONG])
    with hasty(tmp_path / "other") as memento:
        by_rest = create_app(memento.service).test_client().post("/memory/notes", json={"content": LONG}).get_json()
        tool = catalogue.tools(())["memento_note"]
        told = tool.run(
            Reach(memory=memento, namespace=None), tool.parse_arguments({"content": f"{LONG} Yes.", "confirmed": True})
        )

    assert f"As said  {why}" in by_command.output
    assert by_rest["verbatim"] == why
    assert isinstance(told, Told)
    assert isinstance(told.answer, Change)
    assert (told.answer.reason, told.text) == (why, f"Noted. But {why}.")
