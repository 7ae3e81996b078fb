"""What people have elsewhere comes in once, as what it is; what is broken is refused with its place."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from doors import serving
from memento.errors import InputError
from memento.intake.importers import harvest, list_sources
from memento.model import NoteRow
from memento.python import Client, Memento


def turn(key: str, parent: str | None, role: str, *parts: Any, children: tuple[str, ...] = (), **more: Any) -> Any:
    message = {
        "id": f"m-{key}",
        "author": {"role": role},
        "create_time": 1736935200.5,
        "content": {"content_type": "text", "parts": list(parts)},
        "recipient": "all",
        **more,
    }
    return {key: {"id": key, "message": message, "parent": parent, "children": list(children)}}


CHATGPT = [
    {
        "title": "Moving house",
        "create_time": 1736935000.0,
        "conversation_id": "c-1",
        "current_node": "e",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
            **turn("a", "root", "user", "Hello!"),
            **turn("b", "a", "assistant", "Good morning."),
            **turn(
                "c", "b", "user", "I moved to Porto in March.", {"asset_pointer": "file-service://x"}, create_time=None
            ),
            **turn("d", "c", "assistant", "An answer that was thrown away."),
            **turn("tool", "c", "assistant", "search(porto)", recipient="browser"),
            **turn("e", "tool", "assistant", "Porto has fine bridges."),
        },
    }
]
CLAUDE = [
    {
        "uuid": "u-1",
        "name": "Dinner plans",
        "created_at": "2025-02-03T10:00:00.123456Z",
        "chat_messages": [
            {
                "uuid": "x-1",
                "sender": "human",
                "text": "",
                "created_at": "2025-02-03T10:00:01Z",
                "content": [{"type": "text", "text": "I am allergic to peanuts."}],
                "attachments": [{"file_name": "menu.txt", "extracted_content": "Satay"}],
            },
            {"uuid": "x-2", "sender": "assistant", "text": "No peanuts then.", "created_at": "2025-02-03T10:00:02Z"},
        ],
    }
]
CLAUDE_CODE = [
    {"type": "summary", "summary": "Parser work", "leafUuid": "l"},
    {
        "type": "user",
        "uuid": "n-0",
        "sessionId": "s-1",
        "isMeta": True,
        "message": {"role": "user", "content": "Caveat: x"},
    },
    {
        "type": "user",
        "uuid": "n-1",
        "sessionId": "s-1",
        "timestamp": "2025-04-05T06:07:08.900Z",
        "message": {"role": "user", "content": "Our parser must keep comments."},
    },
    {
        "type": "assistant",
        "uuid": "n-2",
        "sessionId": "s-1",
        "timestamp": "2025-04-05T06:07:10Z",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "It keeps them now."},
                {"type": "tool_use", "name": "Read", "input": {}},
            ],
        },
    },
    {
        "type": "user",
        "uuid": "n-3",
        "sessionId": "s-1",
        "message": {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]},
    },
    {
        "type": "user",
        "uuid": "n-4",
        "sessionId": "s-1",
        "message": {"role": "user", "content": "<command-name>/clear</command-name>"},
    },
]
CODEX = [
    {
        "timestamp": "2025-05-06T07:00:00Z",
        "type": "session_meta",
        "payload": {"id": "r-1", "timestamp": "2025-05-06T07:00:00Z"},
    },
    {
        "timestamp": "2025-05-06T07:00:01Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>\n<cwd>/x</cwd></environment_context>"}],
        },
    },
    {
        "timestamp": "2025-05-06T07:00:02Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "We deploy with Ansible."}],
        },
    },
    {
        "timestamp": "2025-05-06T07:00:02Z",
        "type": "event_msg",
        "payload": {"type": "user_message", "message": "We deploy …"},
    },
    {
        "timestamp": "2025-05-06T07:00:03Z",
        "type": "response_item",
        "payload": {"type": "function_call", "name": "shell"},
    },
    {
        "timestamp": "2025-05-06T07:00:04Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Deployed."}]},
    },
]
GEMINI: list[dict[str, Any]] = [
    {
        "sessionId": "g-1",
        "projectHash": "3f2a",
        "startTime": "2026-06-01T08:00:00.000Z",
        "lastUpdated": "2026-06-01T08:05:00.000Z",
        "kind": "main",
    },
    {
        "id": "m-0",
        "timestamp": "2026-06-01T08:00:00.500Z",
        "type": "user",
        "content": [{"text": "<session_context>\nThis is the Gemini CLI.\n</session_context>"}],
    },
    {
        "id": "m-1",
        "timestamp": "2026-06-01T08:00:01.000Z",
        "type": "user",
        "content": [{"text": "Our office moved to Delft."}],
    },
    {
        "id": "m-2",
        "timestamp": "2026-06-01T08:00:02.000Z",
        "type": "gemini",
        "content": "",
        "toolCalls": [{"id": "t", "name": "read_file", "args": {}}],
    },
    {
        "id": "m-2",
        "timestamp": "2026-06-01T08:00:03.000Z",
        "type": "gemini",
        "content": "Delft has canals.",
        "thoughts": [{"subject": "Canals"}],
        "model": "gemini-3-pro",
    },
    {"id": "m-3", "timestamp": "2026-06-01T08:01:00.000Z", "type": "info", "content": "Update available."},
    {"id": "m-4", "timestamp": "2026-06-01T08:02:00.000Z", "type": "user", "content": "Our office moved to Rome."},
    {"$rewindTo": "m-4"},
    {"$set": {"summary": "Offices", "lastUpdated": "2026-06-01T08:05:00.000Z"}},
]
MEM0 = {
    "results": [
        {
            "id": "9f",
            "memory": "Likes hiking in the Alps",
            "created_at": "2024-07-01T08:00:00-07:00",
            "metadata": {"a": 1},
        }
    ],
    "count": 1,
}
SERVER_MEMORY = [
    {
        "type": "entity",
        "name": "Rosa_Lind",
        "entityType": "person",
        "observations": ["Plays the cello", "Rosa Lind is 41"],
    },
    {"type": "relation", "from": "Rosa_Lind", "to": "Blue Hall", "relationType": "performs_at"},
]
BASIC_MEMORY = """---
title: Bread
type: note
permalink: kitchen/bread
created: 2025-06-07
---
# Bread

The oven is old.

- [method] Dough rests for twelve hours #dough #slow (in winter)
- [ ] buy rye
- needs [[Sourdough Starter]] (always)
"""
OBSIDIAN = """---
tags: [garden]
---
# Garden

The pears come from [[Otto Brand|Otto]] and [[Old Farm#Trees]]. %%private%%

![[pear.png]]

```py
a = 1

b = 2
```
"""


def lines(records: list[Any]) -> str:
    return "\n".join(json.dumps(one) for one in records) + "\n"


FILES = {
    "chatgpt": ("conversations.json", json.dumps(CHATGPT)),
    "claude": ("claude.json", json.dumps(CLAUDE, indent=1)),
    "claude-code": ("s-1.jsonl", lines(CLAUDE_CODE)),
    "codex": ("rollout-1.jsonl", lines(CODEX)),
    "gemini": ("session-2026-06-01T08-00-3f2a.jsonl", lines(GEMINI)),
    "mem0": ("mem0.json", json.dumps(MEM0, indent=2)),
    "server-memory": ("memory.jsonl", lines(SERVER_MEMORY)),
    "basic-memory": ("bread.md", BASIC_MEMORY),
    "obsidian": ("2025-08-09.md", OBSIDIAN),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of every source, secrets, hidden folders, and what is none of it."""
    (tmp_path / "all" / "deep").mkdir(parents=True)
    (tmp_path / "all" / ".obsidian").mkdir()
    (tmp_path / "all" / ".obsidian" / "app.md").write_text("Settings are no notes.")
    (tmp_path / "all" / ".env").write_text("TOKEN=x")
    (tmp_path / "all" / "deep" / "credentials.json").write_text("[]")
    (tmp_path / "all" / "user.json").write_text('{"id": "user-1"}')
    (tmp_path / "all" / "half.json").write_text('[{"mapping"')
    (tmp_path / "all" / "photo.png").write_bytes(b"\x89PNG")
    for name, text in FILES.values():
        (tmp_path / "all" / "deep" / name).write_text(text, encoding="utf-8")
    return tmp_path / "all"


EXPECTED = {
    "chatgpt": [
        NoteRow(
            content="I moved to Porto in March.",
            at=datetime.fromtimestamp(1736935000, UTC),
            title="Moving house",
            session="chatgpt:c-1",
            position=2,
            idempotency_key="chatgpt:m-c",
        )
    ],
    "claude": [
        NoteRow(
            content="I am allergic to peanuts.",
            at=datetime(2025, 2, 3, 10, 0, 1, tzinfo=UTC),
            title="Dinner plans",
            session="claude:u-1",
            position=0,
            idempotency_key="claude:x-1",
        )
    ],
    "claude-code": [
        NoteRow(
            content="Our parser must keep comments.",
            at=datetime(2025, 4, 5, 6, 7, 8, 900000, tzinfo=UTC),
            title="Parser work",
            session="claude-code:s-1",
            position=0,
            idempotency_key="claude-code:n-1",
        )
    ],
    "codex": [
        NoteRow(
            content="We deploy with Ansible.",
            at=datetime(2025, 5, 6, 7, 0, 2, tzinfo=UTC),
            session="codex:r-1",
            position=0,
            idempotency_key="codex:r-1:2",
        )
    ],
    "gemini": [
        NoteRow(
            content="Our office moved to Delft.",
            at=datetime(2026, 6, 1, 8, 0, 1, tzinfo=UTC),
            session="gemini:g-1",
            position=0,
            idempotency_key="gemini:g-1:m-1",
        )
    ],
}


@pytest.mark.parametrize("source", EXPECTED)
def test_the_users_own_turns_become_notes_in_their_place(source: str, folder: Path) -> None:
    assert harvest(folder / "deep" / FILES[source][0]).rows == EXPECTED[source]
    assert harvest(folder / "deep" / FILES[source][0], source).rows == EXPECTED[source]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("chatgpt", [("ChatGPT", 3, "Porto has fine bridges.")]),
        ("claude", [("Claude", 1, "No peanuts then.")]),
        ("claude-code", [("Claude", 1, "It keeps them now.")]),
        ("codex", [("Codex", 1, "Deployed.")]),
        ("gemini", [("Gemini", 1, "Delft has canals.")]),
    ],
)
def test_what_assistants_said_comes_in_on_demand(source: str, said: list[Any], folder: Path) -> None:
    rows = harvest(folder / "deep" / FILES[source][0], all_turns=True).rows

    assert [(one.speaker, one.position, one.content) for one in rows if one.speaker] == said
    assert "An answer that was thrown away." not in {one.content for one in rows}
    assert "search(porto)" not in {one.content for one in rows}


@pytest.mark.parametrize(
    ("source", "contents", "title"),
    [
        ("mem0", ["Likes hiking in the Alps"], None),
        (
            "server-memory",
            ["Rosa Lind: Plays the cello", "Rosa Lind is 41", "Rosa Lind performs at Blue Hall."],
            "Rosa Lind",
        ),
        (
            "basic-memory",
            [
                "Bread: Dough rests for twelve hours (in winter)",
                "Bread needs Sourdough Starter (always).",
                "The oven is old.",
                "- [ ] buy rye",
            ],
            "Bread",
        ),
        (
            "obsidian",
            ["The pears come from Otto and Old Farm.", "```py\na = 1\n\nb = 2\n```"],
            "2025-08-09",
        ),
    ],
)
def test_notes_and_memories_of_other_programs_say_what_they_are_about(
    source: str, contents: list[str], title: str | None, folder: Path
) -> None:
    rows = harvest(folder / "deep" / FILES[source][0]).rows

    assert [one.content for one in rows] == contents
    assert {one.title for one in rows} == {title}
    assert len({one.idempotency_key for one in rows}) == len(rows)


def test_days_are_those_that_notes_name(folder: Path) -> None:
    assert {one.at for one in harvest(folder / "deep" / "bread.md").rows} == {datetime(2025, 6, 7)}
    assert {one.at for one in harvest(folder / "deep" / "2025-08-09.md").rows} == {datetime(2025, 8, 9)}


def test_every_source_has_a_sample() -> None:
    assert {*FILES, "okf"} == set(list_sources())  # a bundle is a folder, and is tried where bundles are


def test_a_folder_is_read_file_by_file_and_secrets_are_left_where_they_are(folder: Path) -> None:
    found = harvest(folder)

    assert set(found.sources) == set(FILES)
    assert (found.files, found.conversations) == (len(FILES), 5)
    assert not any("Settings" in one.content for one in found.rows)
    assert found.skipped["its name says that secrets are in it"] == 2
    assert found.skipped["it is of no known format"] == 1
    assert found.refused == ["half.json: not JSON: Expecting ':' delimiter at column 12"]
    assert found.skipped["an assistant said it"] == 6


def test_of_a_folder_a_broken_file_is_named_and_the_others_come_in(folder: Path) -> None:
    broken = [*CHATGPT, {"title": "x", "mapping": 3}]
    (folder / "half.json").write_text(json.dumps(broken, indent=1))
    found = harvest(folder)

    assert found.refused == ["half.json item 2: mapping must be an object, not 3"]
    assert sum(one.content == "I moved to Porto in March." for one in found.rows) == 1


def test_an_older_chat_of_gemini_is_one_object(tmp_path: Path) -> None:
    head, messages = dict(GEMINI[0]), GEMINI[1:4]
    (tmp_path / "session-1.json").write_text(json.dumps({**head, "messages": messages}, indent=2))

    assert harvest(tmp_path / "session-1.json").rows == EXPECTED["gemini"]


@pytest.mark.parametrize("source", FILES)
def test_a_trial_shows_the_first_lines_and_one_step_takes_an_import_out_again(
    source: str, folder: Path, memento: Memento, caplog: pytest.LogCaptureFixture
) -> None:
    graph = memento.service.default_scope.graph
    memento.note("Tea is fine.", at="2025-01-01")
    before = set(memento.service.stores.graph.quads(graph))
    file = folder / "deep" / FILES[source][0]
    trial = memento.intake.import_files(file, dry_run=True)
    assert trial.lines[0] == harvest(file).rows[0].content and trial.iri is None
    assert set(memento.service.stores.graph.quads(graph)) == before

    with caplog.at_level("INFO", "memento"):
        done = memento.intake.import_files(file)
    [shown] = memento.intake.imports()
    assert (shown.iri, shown.source, shown.memories) == (done.iri, source, done.memories)
    total = len(harvest(file).rows)
    assert [(one.done, one.total) for one in caplog.records if one.msg == "import.progress"] == [(total, total)]  # type: ignore[attr-defined]

    gone = memento.intake.undo_import(shown.iri)
    assert gone.memories == done.memories > 0
    assert set(memento.service.stores.graph.quads(graph)) == before
    assert memento.intake.import_files(file).memories == done.memories


def test_a_second_import_changes_nothing_and_a_stopped_one_goes_on(folder: Path, memento: Memento) -> None:
    rows = harvest(folder).rows
    part = memento.intake.import_notes(rows[: len(rows) // 2])
    trial = memento.intake.import_files(folder, dry_run=True)
    whole = memento.intake.import_files(folder)
    memories = memento.list(limit=100)
    again = memento.intake.import_files(folder)

    assert part.known == 0 and part.memories
    assert trial.known == whole.known == len(rows) // 2
    assert (trial.memories, trial.notes) == (0, ())
    assert again.known >= len(rows) - again.skipped and again.memories == again.invalidated == 0
    assert memento.list(limit=100) == memories


def test_a_trial_writes_nothing_and_counts_secrets(memento: Memento, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps([{"id": "1", "memory": "The key is AKIAIOSFODNN7EXAMPLE."}]))
    trial = memento.intake.import_files(tmp_path / "m.json", dry_run=True)

    assert trial.redacted == {"AWS_KEY": 1}
    assert memento.list() == () and memento.status().redacted == {}
    assert memento.intake.import_files(tmp_path / "m.json").redacted == {"AWS_KEY": 1}
    assert "AKIA" not in memento.list()[0].content


def test_a_client_imports_what_lies_on_its_machine(memento: Memento, folder: Path) -> None:
    with serving(memento) as address:
        client = Client(address)
        trial = client.intake.import_files(folder / "deep" / "conversations.json", dry_run=True)
        done = client.intake.import_files(folder / "deep" / "conversations.json")
        again = client.intake.import_files(folder / "deep" / "conversations.json", dry_run=True)

    assert (trial.known, trial.memories, done.memories, again.known) == (0, 0, 1, 1)


@pytest.mark.parametrize(
    ("name", "text", "source", "said"),
    [
        ("c.json", '[{"title": "x", "mapping": 3}]', None, "c.json item 1: mapping must be an object"),
        (
            "c.json",
            '[{"mapping": {}, "current_node": "zz"}]',
            None,
            "c.json item 1: the tree of messages has no node 'zz'",
        ),
        ("c.json", '[{"id": 1}]', "chatgpt", "c.json item 1: mapping must be an object"),
        ("c.json", '[{"chat_messages": ["x"]}]', None, "c.json item 1 message 1: must be an object"),
        ("c.json", '[{"chat_messages": [{"text": "x"}]}]', None, "c.json item 1 message 1: sender is missing"),
        ("c.json", '[{"mapping": {"a"', None, "c.json.*not JSON"),
        (
            "c.jsonl",
            '{"type": "user", "sessionId": "s", "message": "x"}',
            None,
            "c.jsonl line 1: message must be an object",
        ),
        (
            "c.jsonl",
            '{"type": "entity", "name": "A", "observations": "x"}',
            None,
            "c.jsonl line 1: observations must be",
        ),
        ("c.jsonl", '{"type": "relation", "relationType": "x", "from": "A"}', None, "c.jsonl line 1: to is missing"),
        ("c.json", '{"results": ["x"]}', "mem0", "c.json results 1: must be an object"),
        ("c.json", '[{"memory": "x", "created_at": "soon"}]', None, "c.json item 1: created_at must be"),
        ("c.md", "---\ntitle: x\n\nText", "obsidian", "c.md line 1: the front matter has no end"),
        ("c.json", '[{"mapping": {}}]', "notion", "'notion' is no source of notes"),
        (".env.json", "{}", "mem0", "files of this name hold secrets"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(
    name: str, text: str, source: str | None, said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(InputError, match=said):
        harvest(tmp_path / name, source)


def test_a_folder_without_anything_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no file that can be read"):
        harvest(tmp_path)


def test_the_key_of_a_text_tells_nothing_of_its_secret(tmp_path: Path) -> None:
    for name, secret in (("a", "hunter2"), ("b", "letmein3")):
        (tmp_path / f"{name}.json").write_text(json.dumps([{"memory": f"my password is {secret}"}]))

    assert harvest(tmp_path / "a.json").rows[0].idempotency_key == harvest(tmp_path / "b.json").rows[0].idempotency_key
