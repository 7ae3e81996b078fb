"""What the documents say is true: their blocks run, their tables are those of the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml  # type: ignore[import-untyped]  # its types are a package of their own
from nbclient import NotebookClient

import pictures
from memento import settings
from memento.interfaces.cli.base import OLD_NAMES
from memento.python import Memento
from words import MOST, count_words

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

    assert len(README.split()) <= 900
    assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


def test_the_picture_of_claims_is_that_of_the_code() -> None:
    assert pictures.PICTURE.read_text(encoding="utf-8") == pictures.draw(), "run `make pictures`"


def test_the_docs_are_not_too_long() -> None:
    counts = count_words()

    assert "docs/recall.md" in counts and "docs/settings.md" not in counts
    assert sum(counts.values()) <= MOST, "shorten the pages that `make words` lists first"


def list_pages(entry: object) -> list[str]:
    """Return the pages of an entry of the navigation, and of what is below it."""
    if isinstance(entry, str):
        return [entry]
    entries = entry.values() if isinstance(entry, dict) else entry
    return [page for one in entries for page in list_pages(one)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = list_pages(yaml.safe_load(text)["nav"])
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}

    assert sorted(named) == sorted(set(named))
    assert pages <= set(named)


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("notebooks/*.ipynb"))]
)
def test_no_page_names_a_command_by_its_old_name(path: Path) -> None:
    called = re.findall(r"\bmemento((?: [a-z][a-z-]*){1,2})", path.read_text(encoding="utf-8"))

    assert [words for words in called if words.split()[0] in OLD_NAMES] == []


def test_the_settings_page_is_that_of_the_code() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings.table(), "run `make docs`"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    assert len(notebook.cells) <= 15
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
