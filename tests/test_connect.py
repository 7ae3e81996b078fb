"""What `memento connect` prints is what the client reads; what it writes stands beside what was there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from memento.interfaces.cli import main
from memento.interfaces.cli.clients import CLIENTS, write_page

ADDRESS = "http://127.0.0.1:7777"


@pytest.fixture(autouse=True)
def somewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def connected(client: str, *options: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["connect", client, "--address", ADDRESS, *options], prog_name="memento")
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("client", CLIENTS)
def test_every_snippet_names_the_service_and_leaves_no_gap(client: str) -> None:
    shown = connected(client)

    assert "{address}" not in shown
    assert "{launch}" not in shown
    assert ADDRESS in shown or '/memento", "args": ["mcp"]' in shown


def test_writing_what_cannot_be_written_says_so() -> None:
    assert "Memento cannot write the configuration of openai-sdk" in connected("openai-sdk", "--write")
    assert "Memento cannot write" not in connected("openai-sdk")


@pytest.mark.parametrize("client", [name for name, one in CLIENTS.items() if any(s.can_write for s in one.snippets)])
def test_writing_twice_writes_once_and_keeps_what_was_there(client: str, somewhere: Path) -> None:
    for snippet in CLIENTS[client].snippets:
        if snippet.can_write and snippet.form in ("json", "toml"):
            path = Path(str(snippet.file)).expanduser()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('{"theirs": {"x": 1}}' if snippet.form == "json" else "# theirs\n[theirs]\nx = 1\n")
    connected(client, "--write")
    files = {Path(str(s.file)).expanduser(): s.form for s in CLIENTS[client].snippets if s.can_write}
    first = {path: path.read_text() for path in files}
    connected(client, "--write")

    assert {path: path.read_text() for path in files} == first
    for path, form in files.items():
        if form in ("json", "toml"):
            there = json.loads(first[path]) if form == "json" else tomllib.loads(first[path])
            assert there["theirs"] == {"x": 1}
        assert "memento" in first[path].lower()


def test_a_file_that_cannot_be_read_is_left_as_it_was(somewhere: Path) -> None:
    (somewhere / ".mcp.json").write_text("{ half")

    assert "not JSON" in connected("claude-code", "--write", code=2)
    assert (somewhere / ".mcp.json").read_text() == "{ half"


def test_the_page_of_clients_is_made_from_the_table() -> None:
    assert (Path(__file__).parents[1] / "docs" / "clients.md").read_text() == write_page()


@pytest.mark.parametrize("client", [name for name, one in CLIENTS.items() if any(s.by_address for s in one.snippets)])
def test_the_entry_starts_the_service_itself_unless_an_address_is_given(client: str) -> None:
    done = CliRunner().invoke(main, ["connect", client], prog_name="memento")

    assert done.exit_code == 0, done.output
    assert "/mcp" not in done.output.replace("/mcpServers", "").replace("/mcp.json", "")
    assert '["mcp"]' in done.output
    assert f"{ADDRESS}/mcp" in connected(client)
