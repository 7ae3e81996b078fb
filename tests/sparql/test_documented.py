"""What docs/sparql.md says is true: its blocks run, its settings are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from memento.interfaces.cli import main
from memento.python import Memento
from memento.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "sparql.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.M | re.S)


def test_the_query_joins_memories_with_a_free_graph(memento: Memento) -> None:
    memento.note("I work at Google.")
    memento.graphs.put(
        b'PREFIX ex: <urn:ex:> ex:g ex:name "Google" ; ex:founded 1998 .', "urn:memento:data:local:company"
    )
    body, _ = memento.graphs.query_bytes(blocks("sparql")[0], accept="text/csv")

    assert body == b"content,founded\r\nI work at Google.,1998\r\n"


def test_the_commands_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMENTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMENTO_EMBEDDING_MODEL", "trigram")
    Path("company.ttl").write_text("<urn:ex:acme> <urn:ex:boss> 'Ada' .")
    for line in blocks("sh")[0].splitlines():
        done = CliRunner().invoke(main, shlex.split(line, comments=True)[1:], prog_name="memento")
        assert done.exit_code == 0, (line, done.stderr)

    assert done.stdout == '<urn:ex:acme> <urn:ex:boss> "Ada" .\n'


def test_every_setting_that_it_names_is_one() -> None:
    named = set(re.findall(r"`(limits|sparql)\.(\w+)`", PAGE))

    assert {("limits", "update_quads"), ("sparql", "query_s")} <= named
    assert [key for group, key in named if not hasattr(getattr(Settings(), group), key)] == []
