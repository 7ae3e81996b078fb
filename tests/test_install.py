"""What an install brings: each dependency and extra is explained in the docs, and pictures are shown."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from conformance import PAGE

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def name_of(requirement: str) -> str:
    """The name of the package that a requirement asks for."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def rows(title: str) -> list[list[str]]:
    """The cells of the table below a heading of the page about installing."""
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    section = page.split(f"\n{title}\n", 1)[1].split("\n#", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_dependency_has_a_row_that_says_what_it_takes_and_who_uses_it() -> None:
    told = rows("## What it installs")

    assert sorted(row[0].strip("`") for row in told) == sorted(map(name_of, PROJECT["dependencies"]))
    assert all(re.fullmatch(r"\d+(\.\d)?", row[1]) and re.fullmatch(r"\d+(\.\d)?", row[2]) for row in told)
    assert all(len(row) == 5 and all(row) for row in told)


def test_every_extra_has_a_row_that_names_its_feature() -> None:
    told = rows("### Extras")

    assert sorted(row[0].strip("`") for row in told) == sorted(PROJECT["optional-dependencies"])
    assert all(len(row) == 3 and all(row) for row in told)


def test_every_file_that_the_table_names_is_there() -> None:
    for row in rows("## What it installs"):
        for file in re.findall(r"`([\w/]+\.py)`", row[4]):
            assert (ROOT / "src" / "memento" / file).is_file(), file


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "pictures").iterdir()), ids=lambda path: path.name)
def test_every_picture_is_shown_by_a_page(picture: Path) -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]

    assert any(f"pictures/{picture.name}" in page.read_text(encoding="utf-8") for page in pages)


def test_the_page_of_conformance_has_the_words_of_the_bench_that_writes_it() -> None:
    page = (ROOT / "docs" / "reference" / "conformance.md").read_text(encoding="utf-8")
    words = re.split(r"\{\w+\}", PAGE)

    assert [part for part in words if part not in page] == []


def test_running_installs_no_group_and_every_other_target_installs_it() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = dict(re.findall(r"^(\S+): (\$\(VENV\)/\S+|pyproject\.toml)$", text, re.MULTILINE))

    running = text.split("$(VENV)/.installed: pyproject.toml\n", 1)[1].split("\n\n", 1)[0]
    assert "--group" not in running
    assert {target for target, stamp in rules.items() if stamp == "$(VENV)/.installed"} == {
        "run",
        "install",
        "$(VENV)/.developed",
    }
    assert {"lint", "types", "unit", "wheel"} <= {
        name for name, stamp in rules.items() if stamp == "$(VENV)/.developed"
    }
