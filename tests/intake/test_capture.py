"""What sessions say is captured where that is asked for, by the published rules, without secrets, and once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.errors import BackendError, InputError, SettingsError
from memento.intake.capture import Captured, Journal, find_reason, list_rules
from memento.model import CapturedTurn, NoteRow
from memento.python import Memento, open_memento
from memento.settings import CaptureSettings, RedactionSettings, Settings, check_settings, load
from memento.time import now

RULES = [(table, entry) for table in ("deny", "keep", "signal") for entry in list_rules(table)]
LONG = "The queue is a table of SQLite, as nothing else was there."


def user(text: str, turn: str | None = None) -> CapturedTurn:
    return CapturedTurn(role="user", text=text, turn=turn)


def tool(name: str, text: str, command: str = "") -> CapturedTurn:
    return CapturedTurn(role="tool", tool=name, text=text, command=command)


def entry(id: str, text: str = "I like tea.", namespace: str = "main") -> Captured:
    row = NoteRow(content=text, session="s", idempotency_key=f"test:{id}", source="hook:stop")
    return Captured(id=id, at=now(), state="waiting", tenant="local", namespace=namespace, client="test", row=row)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Memento]:
    """Open a memory that captures; the folder is the same each time."""

    def open_capturing(mode: str = "propose", **capture: object) -> Memento:
        settings = replace(OFFLINE, capture=CaptureSettings(mode=mode, **capture))  # type: ignore[arg-type]
        memento = open_memento(tmp_path / "home", configured=settings)
        assert isinstance(memento, Memento)
        return memento

    return open_capturing


def wait_until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(("table", "rule"), RULES, ids=[f"{table}-{one.row.name}" for table, one in RULES])
def test_a_rule_is_seen_in_its_examples_and_not_in_its_counter_example(table: str, rule: object) -> None:
    row, pattern = rule.row, rule.pattern  # type: ignore[attr-defined]
    assert [one for one in row.example if not pattern.search(one)] == []
    assert not pattern.search(row.counter)


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (tool("mcp__memento__memento_recall", LONG), "its tool is passed over"),
        (tool("memory_save", LONG), "its tool is passed over"),
        (tool("Grep", f"remember: {LONG}"), "its tool is passed over"),
        (tool("Bash", LONG, "cat notes.txt"), "its command only looks"),
        (tool("Bash", "x" * 49), "it has less than 50 characters"),
        (tool("Bash", "x" * 50), ""),
        (tool("WebFetch", LONG), "its tool changes nothing, and no word of it says that it matters"),
        (tool("WebFetch", f"A workaround is known. {LONG}"), ""),
        (CapturedTurn(role="assistant", text="Done."), "it has less than 50 characters"),
        (CapturedTurn(role="assistant", text=LONG), ""),
        (user("I like tea."), ""),
        (user("Off the record, I am leaving the company."), "it is not to be kept"),
        (user(""), "it has no text"),
        (user("Thanks a lot!"), "it is thanks"),
    ],
)
def test_what_is_passed_over_is_as_published(turn: CapturedTurn, why: str) -> None:
    assert find_reason(turn) == why


def test_nothing_is_captured_where_nobody_asked_for_it(memento: Memento) -> None:
    done = memento.intake.capture("s", [user("I like tea.")])
    assert (done.mode, done.kept) == ("off", 0)
    assert not memento.service.datadir.captures.exists()


def test_a_proposal_waits_for_a_yes_and_a_rejected_one_is_gone_for_good(opened: Callable[..., Memento]) -> None:
    turns = [user("I moved to Lisbon in March 2025.", "u1"), user("I hate olives.", "u2"), user("x", "u3")]
    with opened(deny="Never this, X ") as memento:
        done = memento.intake.capture("monday", turns, client="claude-code")
        assert (done.mode, done.kept, done.left_out) == ("propose", 2, {"it is not to be kept": 1})
        lisbon, olives = memento.intake.proposals()
        assert (lisbon.content, lisbon.session, lisbon.source) == (turns[0].text, "claude-code:monday", "hook:stop")
        assert memento.intake.proposals(limit=1, offset=1) == (olives,)
        assert not memento.list() and not memento.intake.proposals(namespace="work")
        assert (memento.status().proposals, memento.status(namespace="work").proposals) == (2, 0)
        assert memento.status().capture == "propose"

        assert memento.intake.reject_proposals([olives.id, "nobody"]).unknown == ("nobody",)
        assert "olives" not in memento.service.datadir.captures.read_text()
        accepted = memento.intake.accept_proposals(every=True)
        assert (accepted.decided, accepted.memories) == ((lisbon.id,), 1)
        assert memento.intake.capture("monday", turns, client="claude-code").kept == 0
        [memory] = memento.list()
        described = {name.rpartition("/")[2]: value for name, value in memento.get(memory.note).properties}
        assert (described["source"], described["idempotencyKey"]) == ("hook:stop", "claude-code:u1")
        with pytest.raises(InputError, match="every"):
            memento.intake.accept_proposals()


def test_what_is_captured_becomes_notes_once_and_after_a_restart_too(opened: Callable[..., Memento]) -> None:
    turns = [user("I moved to Lisbon in March 2025.", "u1"), tool("Bash", f"bug: {LONG}", "make test")]
    with opened("on") as memento:
        assert memento.intake.capture("s", turns, client="claude-code").kept == 2
        wait_until(lambda: not memento.intake.write_ahead_log())
        told = {one.content.partition("\n")[0] for one in memento.list()}
        assert told == {"I moved to Lisbon in March 2025.", "Bash: make test"}
        memento.service.journal.append([entry("left-by-a-hook", "I like tea.")])
    with opened("on") as memento:
        assert [one.kind for one in memento.intake.write_ahead_log()] == ["captured"]
        memento.resume()
        wait_until(lambda: not memento.intake.write_ahead_log())
        assert len(memento.list()) == 3
        assert memento.intake.capture("s", turns, client="claude-code").left_out == {"it is known": 2}


def test_what_a_tool_says_again_is_noted_once_and_what_a_user_says_is_for_the_rules(
    opened: Callable[..., Memento],
) -> None:
    with opened("on") as memento:
        for number in range(3):
            memento.intake.capture("s", [tool("Bash", f"Finished in {number} s. {LONG} {LONG}", "make test")])
            wait_until(lambda: not memento.intake.write_ahead_log())
        memento.intake.capture(
            "s", [tool("Bash", "The port of the new service is 8080, not 80 as the old one had.", "ss")]
        )
        wait_until(lambda: not memento.intake.write_ahead_log())
        assert len(memento.list()) == 2


def test_an_entry_whose_note_was_written_before_a_kill_is_noted_once(opened: Callable[..., Memento]) -> None:
    with opened("on") as memento:
        one = entry("x", "I like tea.")
        memento.note(one.row.content, session="s", idempotency_key="test:x", source="hook:stop")
        memento.service.journal.append([one])
        memento.resume()
        wait_until(lambda: not memento.intake.write_ahead_log())
        assert len(memento.list()) == 1


def test_the_log_has_a_note_until_it_is_written(memento: Memento) -> None:
    with memento.service.understanding:  # nobody understands a note meanwhile
        noted = memento.note("I moved to Lisbon.", wait=False)
        [one] = memento.intake.write_ahead_log()
        assert (one.id, one.kind, one.operation, one.committed) == (noted.note, "note", "upsert", False)
        assert not memento.intake.write_ahead_log(namespace="work")
    wait_until(lambda: not memento.intake.write_ahead_log())
    assert memento.status().pending == 0 and memento.list()


def test_each_namespace_has_its_setting(opened: Callable[..., Memento]) -> None:
    with opened("off", namespaces='{"work": "propose"}') as memento:
        assert memento.intake.capture("s", [user("I like tea.")]).mode == "off"
        assert memento.intake.capture("s", [user("I like tea.")], namespace="work").kept == 1
        assert not memento.intake.proposals() and len(memento.intake.proposals(namespace="work")) == 1


def test_secrets_are_out_before_anything_is_written_or_refuse_the_turn_alone(tmp_path: Path) -> None:
    settings = replace(OFFLINE, capture=CaptureSettings(mode="propose"), redaction=RedactionSettings(refuse="strict"))
    turns = [user("The password is hunter2xy.", "u1"), user("I like tea.", "u2")]
    with open_memento(tmp_path / "home", configured=settings) as memento:
        assert isinstance(memento, Memento)
        assert memento.intake.capture("s", turns).redacted == {"PASSWORD": 1}
        done = memento.intake.capture("s", turns, namespace="strict")
        assert (done.kept, done.left_out) == (1, {"it holds a secret, and the namespace takes none": 1})
        assert "hunter2xy" not in memento.service.datadir.captures.read_text()


def test_our_own_block_is_never_captured(opened: Callable[..., Memento]) -> None:
    with opened() as memento:
        memento.intake.capture(
            "s", [user("<memento>USER has a cat.</memento> I like tea."), user("<memento>USER has a c")]
        )
        assert [one.content for one in memento.intake.proposals()] == ["I like tea."]


def test_a_journal_is_bounded(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "captures.jsonl", most=2)
    kept, left_out = journal.append([entry(id) for id in "abc"])
    assert (kept, dict(left_out)) == (2, {"2 wait already": 1})
    journal.remove_entries(["a"], "noted")
    assert journal.append([entry("a"), entry("c")])[0] == 1


def test_a_line_that_a_kill_left_half_is_passed_over_and_ended(tmp_path: Path) -> None:
    path = tmp_path / "captures.jsonl"
    journal = Journal(path, most=9)
    journal.append([entry("a")])
    with path.open("ab") as file:
        file.write(path.read_bytes()[:40])
    journal.append([entry("b")])
    assert [one.id for one in journal.list_waiting()] == ["a", "b"]
    first = json.loads(path.read_text().split("\n")[0])
    assert (first["id"], first["operation"], first["committed"]) == ("a", "upsert", False) and first["timestamp"]
    assert path.stat().st_mode & 0o077 == 0


KILLED = """
import time
from pathlib import Path
from filelock import FileLock
from memento.intake.capture import Captured, Journal
from memento.model import NoteRow
from memento.time import now
path = Path({path!r})
if {holds}:
    with FileLock(path.with_suffix(".lock")):
        print("held", flush=True)
        time.sleep(60)
journal = Journal(path, 99_999)
for number in range(99_999):
    row = NoteRow(content="I like tea.")
    one = Captured(
        id=f"{{number:06}}", at=now(), state="waiting", tenant="local", namespace="main", client="test", row=row
    )
    journal.append([one])
    print(number, flush=True)
"""


@pytest.mark.parametrize("holds", [True, False], ids=["the-lock", "nothing-for-long"])
def test_a_killed_process_leaves_the_lock_and_what_it_had_appended(holds: bool, tmp_path: Path) -> None:
    path = tmp_path / "captures.jsonl"
    code = KILLED.format(path=str(path), holds=holds)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        said = [other.stdout.readline() for _ in range(1 if holds else 20)]
        os.kill(other.pid, signal.SIGKILL)
        said += other.stdout.readlines()
    journal = Journal(path, most=99_999)
    journal.append([entry("mine")])  # which fails while a lock is held
    ids = [one.id for one in journal.list_waiting()]
    assert ids[-1] == "mine"
    if not holds:
        acknowledged = [f"{int(line):06}" for line in said if line.endswith("\n")]
        assert ids[: len(acknowledged)] == acknowledged and len(ids) <= len(acknowledged) + 2


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files as Linux has them")
def test_a_full_disk_is_said_and_nothing_is_half(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "captures.jsonl"
    journal = Journal(path, most=9)
    journal.append([entry("a")])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, hard))
        with pytest.raises(BackendError, match="make room"):
            journal.append([entry("b")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [one.id for one in journal.list_waiting()] == ["a"]
    assert journal.append([entry("b")])[0] == 1
    assert [one.id for one in journal.list_waiting()] == ["a", "b"]


def test_a_folder_where_the_journal_should_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "captures.jsonl").mkdir()
    with pytest.raises(BackendError, match="cannot be kept in"):
        Journal(tmp_path / "captures.jsonl", most=9).append([entry("a")])


@pytest.mark.parametrize(
    ("capture", "why"),
    [({"namespaces": '{"work": "maybe"}'}, "must say off, propose, on of 'work'")]
)  # fmt: skip
def test_a_setting_that_is_none_is_refused(capture: dict[str, str], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        check_settings(Settings(capture=CaptureSettings(**capture)))  # type: ignore[arg-type]


def test_the_setting_of_a_namespace_stands_in_a_table_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "memento.toml"
    file.write_text('[capture]\nmode = "off"\n[capture.namespaces]\nwork = "on"\n')
    capture = load(file).capture
    assert (capture.find_mode("work"), capture.find_mode("main")) == ("on", "off")
