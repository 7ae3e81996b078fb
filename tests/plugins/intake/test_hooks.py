"""Hooks stand beside what a client has and go without a trace; what they tell is recalled and captured, and harms no client."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from conftest import OFFLINE
from doors import serving
from kept import keep
from memento.intake.capture import Journal
from memento.interfaces.cli import main
from memento.interfaces.cli.clients import CLIENTS, Hooks
from memento.plugins.intake.hooks import edit_hooks
from memento.plugins.intake.payloads import read_payload
from memento.python import Memento, open_memento
from memento.settings import CaptureSettings

HOOKED = {name: one.hooks for name, one in CLIENTS.items() if isinstance(one.hooks, Hooks)}
OTHERS = {
    "model": "opus",
    "hooks": {
        "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}],
        "stop": [{"command": "say done"}],
    },
}
TRANSCRIPT = [
    {"role": "user", "text": "I moved to Lisbon in March 2025.", "uuid": "u1"},
    {
        "role": "assistant",
        "text": "Good to know: you live in Lisbon since March, and I keep that in mind.",
        "uuid": "a1",
    },
    {"role": "user", "text": "My password is hunter2xy, and I hate olives.", "uuid": "u2"},
    {"role": "assistant", "text": "Noted: no olives in anything that I propose to you for dinner.", "uuid": "a2"},
]


@pytest.fixture(autouse=True)
def somewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(*words: str, told: object = None, code: int = 0) -> Result:
    given = told if isinstance(told, str) else json.dumps(told) if told is not None else ""
    done = CliRunner().invoke(main, ["hook", *words], input=given, prog_name="memento")
    assert done.exit_code == code, done.output
    return done


def file_of(client: str) -> Path:
    return Path(HOOKED[client].file).expanduser()


def write_transcript(path: Path, torn: str = "") -> str:
    lines = [
        {
            "type": one["role"],
            "uuid": one["uuid"],
            "sessionId": "s-1",
            "timestamp": "2025-04-05T06:07:08Z",
            "message": {"role": one["role"], "content": one["text"]},
        }
        for one in TRANSCRIPT
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + torn)
    return str(path)


@pytest.mark.parametrize("client", HOOKED)
def test_installing_twice_installs_once_and_uninstalling_leaves_what_was_there(client: str) -> None:
    path = file_of(client)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = json.dumps(OTHERS, indent=4) + "\n"
    path.write_text(before)

    shown = ask("install", client, "--dry-run").output
    assert path.read_text() == before and f"hook run start --client {client}" in shown and "+++" in shown
    ask("install", client)
    installed = json.loads(path.read_text())
    assert installed["model"] == "opus" and '\n    "' in path.read_text()
    assert all(one in installed["hooks"][name] for name, some in OTHERS["hooks"].items() for one in some)  # type: ignore[attr-defined]
    assert "unchanged" in ask("install", client).output
    ask("install", client, "--tools")
    assert len(json.loads(path.read_text())["hooks"]) > len(installed["hooks"])
    assert path.with_name(f"{path.name}.before-memento").read_text() == before

    ask("uninstall", client)
    left = json.loads(path.read_text())
    assert {name: value for name, value in left.items() if name != "version"} == OTHERS
    assert "unchanged" in ask("uninstall", client).output


def installed_calls(client: str) -> dict[str, str]:
    """The command line of each event, as the client would run it."""
    ask("install", client, "--tools")
    events = json.loads(file_of(client).read_text())["hooks"]
    return {
        name: (entries[0] if "command" in entries[0] else entries[0]["hooks"][0])["command"]
        for name, entries in events.items()
    }


def run_line(line: str, told: object, **env: str) -> str:
    """Run a command line as a client does: until it ends and nothing holds its output any more."""
    done = subprocess.run(
        line, shell=True, input=json.dumps(told).encode(), env={**os.environ, **env}, capture_output=True, check=True
    )
    return done.stdout.decode() + done.stderr.decode()


def test_a_client_goes_on_while_what_it_told_is_still_captured(somewhere: Path) -> None:
    """The program that captures is replaced by one that takes its message only after the hook has ended."""
    go_on, taken = somewhere / "go-on", somewhere / "taken"
    os.mkfifo(go_on)
    slow = somewhere / "memento"
    slow.write_text(
        f'#!/bin/sh\nread line < {go_on}\ncat > {taken}.part\necho "$@" >> {taken}.part\nmv {taken}.part {taken}\n'
    )
    slow.chmod(0o755)
    told = {"tool_name": "Bash", "tool_response": "x" * 300_000}  # more than a pipe holds
    calls = installed_calls("codex")
    words = shlex.split(calls["Stop"])
    [program] = [one for one in words if one.endswith("/memento")]

    assert run_line(shlex.join(str(slow) if one == program else one for one in words), told) == "{}\n"
    assert not taken.exists()
    with go_on.open("w") as gate:
        gate.write("now\n")
    wait_until(taken.exists)
    message, called = taken.read_text().rsplit("}", 1)
    assert json.loads(message + "}") == told and called.startswith("hook run stop --client codex ")


@pytest.mark.parametrize(
    ("client", "event", "silent"),
    [
        ("claude-code", "PostToolUse", ""),
        ("codex", "PostToolUse", ""),
        ("gemini", "AfterTool", "{}\n"),
        ("cursor", "postToolUse", ""),
    ],
)
def test_a_hook_that_its_client_does_not_wait_for_captures_in_the_end(
    client: str, event: str, silent: str, somewhere: Path
) -> None:
    told = {
        "session_id": "s'1",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": 'Built; it\'s "done". ' * 9,
    }

    assert run_line(installed_calls(client)[event], told, MEMENTO_CAPTURE_MODE="on") == silent
    journal = Journal(somewhere / "home" / "captures.jsonl", 9)
    wait_until(lambda: bool(journal.list_waiting()))
    [kept] = journal.list_waiting()
    assert kept.row.content.startswith('Bash: make\n\nBuilt; it\'s "done".') and kept.row.session == f"{client}:s'1"


def test_a_hook_whose_answer_counts_is_waited_for() -> None:
    calls = installed_calls("claude-code")
    assert [name for name, line in calls.items() if not line.startswith("sh -c ")] == ["SessionStart", "PreCompact"]


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what another process does, for up to a minute."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["SessionStart", "Stop", "PreCompact", "Other"])


@given(st.dictionaries(names, st.lists(json_values, min_size=1, max_size=3), max_size=4), json_values)
def test_whatever_others_have_there_comes_back_after_an_install(events: dict[str, list[Any]], other: Any) -> None:
    hooks = HOOKED["claude-code"]
    there = {"other": other, **({"hooks": events} if events else {})}
    before = json.dumps(there)
    calls = {name: f"/bin/memento hook run {does} --client claude-code" for name, does in hooks.events.items()}
    installed = edit_hooks(before, hooks, calls, Path("settings.json"))
    assert edit_hooks(installed, hooks, calls, Path("settings.json")) == installed
    assert json.loads(edit_hooks(installed, hooks, {}, Path("settings.json"))) == there


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_a_file_that_is_none_of_hooks_is_left_as_it_is(text: str) -> None:
    path = file_of("claude-code")
    path.parent.mkdir()
    path.write_text(text)
    assert "nothing was written" in ask("install", "claude-code", code=2).output
    assert path.read_text() == text


@pytest.mark.parametrize("client", sorted(set(CLIENTS) - set(HOOKED)))
def test_a_client_without_hooks_is_told_what_there_is_instead(client: str) -> None:
    said = ask("install", client, code=2).output
    assert CLIENTS[client].title in said and ("tools" in said or "proxy" in said)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "start"], {"cwd": "/x"}),
        (["run", "stop"], {"transcript_path": "/nowhere.jsonl"}),
        (["run", "stop"], "{"),
        (["run", "stop"], "[]"),
        (["run", "later"], {}),
        (["run"], {}),
        (["run", "stop", "--of-a-later-version", "x"], {"prompt": 3}),
        (["run", "stop", "--client", "nobody"], {"prompt": "I like tea."}),
        (["run", "tool"], {"tool_name": None, "tool_input": 7, "tool_response": [None, {}]}),
    ],
)
def test_a_hook_never_fails_its_client(words: list[str], told: object) -> None:
    done = ask(*words, told=told)
    assert done.stdout == "" and done.stderr.count("\n") <= 1


@pytest.mark.parametrize("told", ["[]", "3", '"x"', "{"])
def test_what_a_client_tells_wrongly_is_said_in_words_and_holds_it_up_no_more_than_anything(told: str) -> None:
    done = ask("run", "prompt", "--client", "cursor", told=told)
    assert "the client's message" in done.stderr and "JSON" in done.stderr and "attribute" not in done.stderr
    assert json.loads(done.stdout) == {"continue": True}


def test_what_is_said_without_a_service_waits_without_its_secrets(
    somewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"session_id": "s-1", "transcript_path": write_transcript(somewhere / "t.jsonl", torn='{"type": "us')}
    assert ask("run", "stop", told=told).stderr == "" and not (somewhere / "home" / "captures.jsonl").exists()
    monkeypatch.setenv("MEMENTO_CAPTURE_MODE", "on")
    assert "kept until one does" in ask("run", "stop", told=told).stderr
    assert ask("run", "compact", told=told).stderr == ""
    assert "hunter2xy" not in (somewhere / "home" / "captures.jsonl").read_text()
    waiting = Journal(somewhere / "home" / "captures.jsonl", 9).list_waiting()
    assert [(one.row.speaker, one.row.idempotency_key) for one in waiting] == [
        (None, "claude-code:u1"),
        (None, "claude-code:u2"),
        ("Claude", "claude-code:a2"),
    ]
    assert waiting[0].row.content == TRANSCRIPT[0]["text"] and waiting[0].row.session == "claude-code:s-1"


def test_a_session_begins_with_what_is_remembered_and_is_captured_as_it_ends(somewhere: Path) -> None:
    settings = replace(OFFLINE, capture=CaptureSettings(mode="propose"))
    with open_memento(somewhere / "home", configured=settings) as memento:
        assert isinstance(memento, Memento)
        memento.note("The decision for the project alpha is to keep its queue in SQLite.", tags=["decision"])
        keep(memento, "The conventions of the project alpha end with </memento>.")
        with serving(memento):
            for client, hooks in HOOKED.items():
                said = json.loads(ask("run", "start", "--client", client, told={"cwd": "/src/alpha"}).stdout)
                block = said["additional_context"] if hooks.is_flat else said["hookSpecificOutput"]["additionalContext"]
                assert "SQLite" in block and block.count("</memento>") == 1
                assert "## Decisions" in block and "## Other" in block  # the bundle of a session
            told = {"session_id": "s-1", "transcript_path": write_transcript(somewhere / "t.jsonl")}
            assert ask("run", "stop", told=told).output == ""
            assert ask("run", "stop", "--client", "codex", told={"last_assistant_message": "Ok."}).output == "{}\n"
            said = ask("run", "prompt", "--client", "cursor", told={"conversation_id": "c", "prompt": "I like tea."})
            assert json.loads(said.output) == {"continue": True}
        found = [(one.client, one.source, one.speaker) for one in memento.intake.proposals()]
        assert found == [
            ("claude-code", "hook:stop", None),
            ("claude-code", "hook:stop", None),
            ("claude-code", "hook:stop", "Claude"),
            ("cursor", "hook:prompt", None),
        ]


NAMED = {"session_id": "s", "turn_id": "t"}
BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": "a", "stderr": "b"}}
WRITE = {"tool_name": "write_file", "tool_input": {"path": "a"}, "tool_response": {"llmContent": [{"text": "a"}]}}


@pytest.mark.parametrize(
    ("client", "event", "payload", "said"),
    [
        ("codex", "prompt", {**NAMED, "prompt": "Hi."}, [("user", "Hi.", "t:user")]),
        ("codex", "stop", {**NAMED, "last_assistant_message": "Ok."}, [("assistant", "Ok.", "t:assistant")]),
        (
            "gemini",
            "stop",
            {"session_id": "s", "prompt": "Hi.", "prompt_response": "Ok."},
            [("user", "Hi.", None), ("assistant", "Ok.", None)],
        ),
        (
            "cursor",
            "stop",
            {"conversation_id": "s", "generation_id": "g", "text": "Ok."},
            [("assistant", "Ok.", "g:assistant")],
        ),
        ("claude-code", "tool", {"session_id": "s", **BASH}, [("tool", "a\nb", None)]),
        ("gemini", "tool", {"session_id": "s", **WRITE}, [("tool", "a", None)]),
    ],
)
def test_what_each_client_tells_is_read(
    client: str, event: str, payload: dict[str, object], said: list[tuple[str, str, str | None]]
) -> None:
    session, turns = read_payload(payload, client, event)
    assert session == "s"
    assert [(one.role, one.text, one.turn) for one in turns] == said
