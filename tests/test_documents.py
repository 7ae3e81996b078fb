"""What the documents say is true: their blocks run, their tables are those of the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from memento import settings
from memento.python import Memento

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.M | re.S)


def environment(home: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "MEMENTO_HOME": str(home), "MEMENTO_EMBEDDING_MODEL": "trigram"}


def test_the_shell_block_of_the_readme_runs(tmp_path: Path) -> None:
    (block,) = blocks("sh")
    run = subprocess.run(
        ["sh", "-e", "-c", block], env=environment(tmp_path / "home"), capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, run.stderr
    assert "Microsoft" in run.stdout
    assert "Google" in run.stdout


def test_the_python_block_of_the_readme_runs(tmp_path: Path) -> None:
    (block,) = blocks("python")
    run = subprocess.run(
        [sys.executable, "-c", block],
        env=environment(tmp_path / "home"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert "Lisbon" in run.stdout
    assert "Paris" in run.stdout


def test_the_sparql_block_of_the_readme_finds_what_was_replaced(memento: Memento) -> None:
    (block,) = blocks("sparql")
    memento.note("I work at Google.")
    memento.note("I work at Microsoft.")
    body, _ = memento.graphs.query_bytes(block, accept="text/csv")

    assert b"Google" in body
    assert b"Microsoft" in body


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)

    assert README.count("\n") <= 150
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


def test_the_settings_page_is_that_of_the_code() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings.table(), "run `make docs`"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    assert len(notebook.cells) <= 15
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
