"""What agents on a machine have written is found where it lies, comes in on demand, and goes again as one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from doors import serving
from memento.errors import InputError, NotFound
from memento.interfaces.cli import main
from memento.python import Client, Memento

AWS = "AKIA" + "QYLPMN5HFIQR7XYA"


def write(file: Path, content: str | list[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = content if isinstance(content, str) else "".join(f"{json.dumps(one)}\n" for one in content)
    file.write_text(lines, encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder as the agents leave it, with a project in it, and next to it what is nobody's business."""
    home = tmp_path / "ana"
    slug = str(home / "parser").replace("/", "-").replace("_", "-")
    claude = home / ".claude/projects" / slug
    write(home / ".claude/CLAUDE.md", "# Style\n\n- Use tabs, never spaces.\n- Answer in British English.\n")
    write(home / ".claude/settings.json", '{"model": "opus"}')
    write(
        claude / "memory/MEMORY.md",
        f"---\nname: index\n---\n# Memory\n\n- The tests need Postgres 16.\n- The key was {AWS}.\n",
    )
    write(
        claude / "0b1f.jsonl",
        [
            {"type": "queue-operation", "operation": "enqueue", "sessionId": "s-1"},
            {
                "type": "user",
                "uuid": "n-1",
                "parentUuid": None,
                "sessionId": "s-1",
                "cwd": str(home / "parser"),
                "timestamp": "2026-04-05T06:07:08.900Z",
                "message": {"role": "user", "content": "I work at Halden Foods now."},
            },
            {
                "type": "assistant",
                "uuid": "n-2",
                "sessionId": "s-1",
                "timestamp": "2026-04-05T06:07:10Z",
                "message": {"role": "assistant", "content": [{"type": "text", "text": "Congratulations."}]},
            },
        ],
    )
    with (claude / "0b1f.jsonl").open("a") as log:
        log.write('{"type": "user", "sessionId": "s-1", "mess')  # the agent is writing just now
    write(home / ".codex/AGENTS.md", "Prefer ripgrep over grep.\n")
    write(home / ".codex/auth.json", '{"OPENAI_API_KEY": "none of this"}')
    write(
        home / ".codex/sessions/2026/05/06/rollout-2026-05-06T07-00-00-r1.jsonl",
        [
            {"timestamp": "2026-05-06T07:00:00Z", "type": "session_meta", "payload": {"id": "r-1"}},
            {
                "timestamp": "2026-05-06T07:00:02Z",
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "We deploy with Ansible."}],
                },
            },
        ],
    )
    write(home / ".gemini/GEMINI.md", "## Gemini Added Memories\n- My cat is called Miso.\n")
    write(
        home / ".gemini/tmp/3f2a/chats/session-2026-06-01T08-00-aa.jsonl",
        [
            {"sessionId": "g-1", "projectHash": "3f2a", "startTime": "2026-06-01T08:00:00Z", "kind": "main"},
            {
                "id": "a",
                "timestamp": "2026-06-01T08:00:01Z",
                "type": "user",
                "content": [{"text": "Our office moved to Delft."}],
            },
            {"id": "b", "timestamp": "2026-06-01T08:00:02Z", "type": "gemini", "content": "Noted."},
            {"id": "c", "timestamp": "2026-06-01T08:00:03Z", "type": "user", "content": "Our office moved to Rome."},
            {"$rewindTo": "c"},
            {"$set": {"summary": "Offices"}},
        ],
    )
    write(home / ".codeium/windsurf/memories/global_rules.md", "Write small commits.\n")
    write(home / "Documents/Cline/Rules/style.md", "Keep functions short.\n")
    parser = home / "parser"
    write(parser / "AGENTS.md", "Run make test before a commit.\n")
    (parser / "CLAUDE.md").symlink_to("AGENTS.md")
    write(parser / "web/CLAUDE.md", "The pages need Node 22.\n\n@../AGENTS.md\n")
    write(parser / "node_modules/x/CLAUDE.md", "Somebody else's rules.\n")
    write(parser / ".cursorrules", "No default exports.\n")
    write(parser / ".cursor/rules/api.mdc", "---\nglobs: src/**\nalwaysApply: false\n---\nRoutes are in snake case.\n")
    write(parser / ".windsurf/rules/db.md", "Migrations are never edited.\n")
    write(parser / ".clinerules/01.md", "Ask before you delete.\n")
    write(parser / ".github/copilot-instructions.md", "Docstrings have examples.\n")
    write(tmp_path / "outside/secret.md", "Not for anybody.\n")
    (home / ".claude/rules").symlink_to(tmp_path / "outside")
    write(parser / "GEMINI.md", "")
    (parser / "GEMINI.md").unlink()
    (parser / "GEMINI.md").symlink_to(tmp_path / "outside/secret.md")
    return home


def list_contents(memory: Memento | Client) -> set[str]:
    return {one.content for one in memory.list(limit=100)}


def dump(memory: Memento) -> set[str]:
    """The statements of the namespace, but for what counts and logs."""
    return {str(quad) for quad in memory.service.stores.graph.quads(memory.service.default_scope.graph)}


FOUND = {
    ("claude-code", "rules"): 2,
    ("claude-code", "memory"): 2,
    ("claude-code", "sessions"): 1,
    ("codex", "rules"): 1,
    ("codex", "sessions"): 1,
    ("gemini", "rules"): 1,
    ("gemini", "sessions"): 1,
    ("windsurf", "rules"): 1,
    ("cline", "rules"): 1,
}
IN_PROJECT = {
    ("claude-code", "rules"): 1,
    ("codex", "rules"): 1,
    ("cursor", "rules"): 2,
    ("windsurf", "rules"): 1,
    ("cline", "rules"): 1,
    ("copilot", "rules"): 1,
}


def test_what_would_come_is_listed_by_source_and_nothing_is_written(memento: Memento, home: Path) -> None:
    before = dump(memento)
    of_home = memento.intake.adopt(user_home=home)
    of_both = memento.intake.adopt([home / "parser"], user_home=home)

    assert {(one.agent, one.kind): one.rows for one in of_home.found} == FOUND
    more = {(one.agent, one.kind): one.rows for one in of_both.found if one.place == str(home / "parser")}
    assert more == IN_PROJECT
    assert of_home.found[0].lines == ("# Style - Use tabs, never spaces.", "- Answer in British English.")
    assert of_home.redacted == {"AWS_KEY": 1}
    assert dump(memento) == before and of_both.iri is None


def test_no_link_that_leads_out_of_a_folder_is_followed(memento: Memento, home: Path) -> None:
    done = memento.intake.adopt([home / "parser"], user_home=home, apply=True)

    assert "parser/GEMINI.md: it is a link that leads out of the folder" in done.names
    assert not any("anybody" in text or "else's" in text for text in list_contents(memento))
    assert sum(text == "Run make test before a commit." for text in list_contents(memento)) == 1


def test_it_comes_in_with_its_speaker_its_project_and_without_secrets(memento: Memento, home: Path) -> None:
    memento.intake.adopt([home / "parser"], user_home=home, apply=True)
    told = {one.content: one for one in memento.list(limit=100)}

    assert not any(AWS in text for text in told)
    [about] = memento.query(
        'PREFIX mem: <http://purl.org/memento/> SELECT ?title { ?m mem:content "The pages need Node 22." ; mem:title ?title }'
    )
    assert about["title"] == "parser"
    assert [one.content for one in memento.list(source="adopt:codex")] == [
        "We deploy with Ansible.",
        "Run make test before a commit.",
        "Prefer ripgrep over grep.",
    ]
    assert "Our office moved to Delft." in told and "Our office moved to Rome." not in told
    assert "Congratulations." not in told
    [source] = memento.review.sources(told["# Memory\n\n- The tests need Postgres 16."].iri)
    assert source.said_by == "Claude"


def test_twice_is_once_and_only_what_is_new_comes(memento: Memento, home: Path) -> None:
    first = memento.intake.adopt(user_home=home, apply=True)
    again = memento.intake.adopt(user_home=home, apply=True)
    write(home / ".codex/AGENTS.md", "Prefer ripgrep over grep.\n\nUse uv.\n")
    third = memento.intake.adopt(user_home=home, apply=True)

    assert first.notes == sum(FOUND.values()) and first.iri
    assert (again.notes, again.iri) == (0, None) and all(one.known == one.rows for one in again.found)
    assert (third.notes, third.memories) == (1, 1)


def test_the_whole_is_undone_as_one_and_can_come_again(memento: Memento, home: Path) -> None:
    memento.note("I work at Google.", at="2024-01-08")
    before, contents = dump(memento), list_contents(memento)
    done = memento.intake.adopt([home / "parser"], user_home=home, apply=True)
    assert done.invalidated == 1 and "I work at Google." not in list_contents(memento)
    [shown] = memento.intake.imports()
    assert (shown.iri, shown.source, shown.notes) == (done.iri, "adopt", done.notes)

    gone = memento.intake.undo_import(shown.iri)

    assert (gone.notes, gone.restored) == (done.notes, 1)
    assert list_contents(memento) == contents and dump(memento) == before
    assert memento.intake.imports() == () and memento.admin.check() == ()
    with pytest.raises(NotFound, match="there is no import"):
        memento.intake.undo_import(shown.iri)
    assert memento.intake.adopt([home / "parser"], user_home=home, apply=True).notes == done.notes


def test_only_some_agents_and_no_sessions(memento: Memento, home: Path) -> None:
    some = memento.intake.adopt(user_home=home, agents=["codex", "gemini"], sessions=False)

    assert [(one.agent, one.kind) for one in some.found] == [("codex", "rules"), ("gemini", "rules")]


def test_a_file_that_cannot_be_read_is_named_and_keeps_no_other_from_coming(memento: Memento, home: Path) -> None:
    rollout = next((home / ".codex/sessions").rglob("*.jsonl"))
    rollout.write_text('{"type": "session_meta", "payload": {"id": "r"}}\n{"type": oops}\n')
    (home / ".codex/AGENTS.md").write_bytes(b"Caf\xe9\n")
    os.mkfifo(home / ".codex/AGENTS.override.md")
    done = memento.intake.adopt(user_home=home, apply=True)

    assert f"~/{rollout.relative_to(home)}: {rollout.name} line 2: not JSON: Expecting value at column 10" in done.names
    assert "~/.codex/AGENTS.md: AGENTS.md line 1: not UTF-8 text" in done.names
    assert done.notes == sum(FOUND.values()) - 2


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda memory, home: memory.intake.adopt(user_home=home, agents=["aider"]),
            "'aider' is no agent that is known: choose",
        ),
        (lambda memory, home: memory.intake.adopt(user_home=home / "nowhere"), "there is no file or folder .*nowhere"),
        (
            lambda memory, home: memory.intake.adopt([home / ".claude/CLAUDE.md"], user_home=home),
            "CLAUDE.md is not a folder",
        ),
    ],
)
def test_a_mistake_is_named(ask: Callable[[Memento, Path], object], said: str, memento: Memento, home: Path) -> None:
    with pytest.raises(InputError, match=said):
        ask(memento, home)


def test_a_service_adopts_for_programs_of_its_machine(memento: Memento, home: Path) -> None:
    with serving(memento) as address, Client(address) as client:
        done = client.intake.adopt(user_home=home, apply=True)
        assert done.notes == sum(FOUND.values())
        assert client.intake.undo_import(str(done.iri)[-12:]).notes == done.notes


def test_a_shell_shows_asks_and_undoes(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "data"))

    def run(*words: str) -> str:
        answer = CliRunner().invoke(main, words)
        assert answer.exit_code == 0, answer.output
        return answer.output

    ask = ("adopt", str(home / "parser"), "--user-home", str(home))
    assert "--yes brings it in" in run(*ask)
    done = run(*ask, "--yes")
    key = done.split("`memento undo ")[1].split("`")[0]
    assert "Nothing is new." in run(*ask)
    assert key in run("show", "imports")
    assert "are out again" in run("undo", key)
    assert "Nothing was imported." in run("show", "imports")
