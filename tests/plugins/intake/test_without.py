"""Without the plug-in its commands and tools are gone, and what it would have read is refused with the reason; rows come in."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import OFFLINE
from memento.errors import InputError, NotFound
from memento.interfaces.cli import main
from memento.interfaces.mcp import catalogue
from memento.python import open_memento
from memento.settings import without_plugins

OFF = {"MEMENTO_PLUGINS_OFF": "intake"}
WITHOUT = without_plugins(OFFLINE, ["intake"])


@pytest.mark.parametrize("words", ["ingest", "adopt", "files", "hook run", "watch", "index", "memory-file"])
def test_its_commands_are_gone(words: str) -> None:
    done = CliRunner().invoke(main, [*words.split(), "--help"], env=OFF)
    listed = CliRunner().invoke(main, ["--help"], env=OFF).output

    assert done.exit_code == 2 and "`memento plugins --on intake` switches it on" in done.stderr
    assert f" {words.split()[0]}," not in listed and " import," in listed
    assert CliRunner().invoke(main, [*words.split(), "--help"]).exit_code == 0


def test_its_tools_are_gone_from_the_group_that_lists_them_too() -> None:
    gone = {"memory_ingest", "memory_index", "memory_import"}

    assert gone <= catalogue.tools(("care",)).keys() & catalogue.tools(("intake",)).keys()
    assert not gone & catalogue.tools(("care", "intake"), left_out=["intake"]).keys()


def test_rows_come_in_and_what_it_reads_is_refused_with_the_reason(tmp_path: Path) -> None:
    rows, chats = tmp_path / "rows.jsonl", tmp_path / "chats.json"
    rows.write_text('{"content": "I like tea."}', encoding="utf-8")
    chats.write_text('[{"chat_messages": []}]', encoding="utf-8")
    with open_memento(tmp_path / "home", configured=WITHOUT) as memento:
        assert memento.intake.import_files(rows).memories == 1
        with pytest.raises(InputError, match=r"no source of notes: the plug-in intake is switched off by plugins\.off"):
            memento.intake.import_files(chats, source="claude")
        with pytest.raises(NotFound, match=r"there is no operation ingest: the plug-in intake is switched off"):
            memento.intake.ingest(rows)
        with pytest.raises(InputError, match=r"folder cannot be given: there is no operation index_project"):
            memento.sessions.start(folder=str(tmp_path))
        [shown] = memento.intake.imports()
        assert memento.intake.undo_import(shown.iri).memories == 1
