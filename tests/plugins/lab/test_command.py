"""The command that measures recall: what it prints, and that it is gone without its plug-in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from memento.interfaces.cli import main


def call(*words: str) -> Any:
    """What the command prints, as JSON if it is."""
    done = CliRunner().invoke(main, list(words), env={"MEMENTO_EMBEDDING_MODEL": "trigram"})
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout) if "--json" in words else done.stdout


def test_a_folder_of_questions_is_evaluated(tmp_path: Path) -> None:
    rows: dict[str, list[dict[str, object]]] = {
        "corpus": [{"id": "a", "text": "Ada lives in Lisbon."}, {"id": "b", "text": "Bob plays chess."}],
        "queries": [
            {"id": "1", "text": "Where does Ada live?", "type": "place"},
            {"id": "2", "text": "?", "type": "odd"},
        ],
        "qrels": [{"query": "1", "doc": "a", "rel": 1}, {"query": "2", "doc": "b", "rel": 1}],
    }
    for name, objects in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps(one) for one in objects))
    figures = call("eval", "--data", str(tmp_path), "--exclude-type", "odd", "--profile", "seed", "--json")

    assert set(figures) == {
        *(
            "dataset",
            "queries",
            "recall@5",
            "recall@10",
            "all@5",
            "all@10",
            "mrr@10",
            "ndcg@10",
            "any@5",
            "any@10",
            "session@5",
            "session@10",
            "answered",
            "latency_ms",
            "phases_ms",
        )
    }
    assert (figures["queries"], figures["recall@5"]) == (1, 1.0)
    assert "place" in call("eval", "--data", str(tmp_path), "--limit", "1", "--per-type")
    assert "default − half" in call("eval", "--data", str(tmp_path), "--limit", "1", "--compare", "half")


@pytest.mark.parametrize("words", [("care", "eval"), ("eval",)])
def test_a_folder_that_is_not_there_is_named(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, [*words, "--data", "/nowhere"])

    assert done.exit_code == 2 and "/nowhere" in done.stderr


def test_without_the_plugin_the_command_is_gone_from_its_group_and_under_its_old_name() -> None:
    off = {"MEMENTO_PLUGINS_OFF": "lab"}
    group = CliRunner().invoke(main, ["care", "--help"], env=off)
    called = [CliRunner().invoke(main, [*words, "--data", "."], env=off) for words in (("care", "eval"), ("eval",))]

    assert group.exit_code == 0 and "disputes" in group.output and "  eval " not in group.output
    assert "  eval " in CliRunner().invoke(main, ["care", "--help"]).output
    for done in called:
        assert done.exit_code == 2
        assert "its plug-in is switched off; `memento plugins --on lab` switches it on" in done.stderr
