"""The generated pages are those of the code, and nothing in them is missing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from memento import assets
from memento.errors import InputError
from memento.interfaces import reference
from memento.interfaces.cli import main
from memento.interfaces.mcp import catalogue
from memento.operations import TABLE
from memento.python.methods import METHODS
from memento.settings import list_tool_groups

ROOT = Path(__file__).parents[2]
PAGES = {**reference.generate(ROOT)}
REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize("path", PAGES)
def test_a_generated_page_is_that_of_the_code(path: str) -> None:
    there = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""

    assert there == PAGES[path], f"{path} is stale: run `make docs`"


def test_every_operation_tool_verb_and_query_is_on_its_page() -> None:
    pages = {name: PAGES[f"docs/reference/{name}.md"] for name in ("operations", "rest", "python", "mcp", "queries")}

    for name, operation in TABLE.items():
        assert f"\n### {METHODS[name]}\n" in pages["python"]
        assert f"[`{METHODS[name]}`]" in pages["operations"]
        assert ("rest" in operation.absent and not operation.route.startswith("POST /memory")) or (
            f"\n### {name}\n" in pages["rest"]
        )
    for tool in catalogue.tools(list_tool_groups()):
        assert f"\n### {tool}\n" in pages["mcp"]
    for query in assets.queries():
        assert f"(../../queries/{query}." in pages["queries"]


@pytest.mark.parametrize("path", sorted(REFERENCE.glob("*.md")), ids=lambda path: path.name)
def test_the_links_of_a_reference_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https:)([^)#]+)(#[^)]*)?\)", text):
        assert (path.parent / target).exists(), target
        if anchor:
            headings = re.findall(r"^### (.+)$", (path.parent / target).read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor.removeprefix("#") in [one.replace(".", "") for one in headings]


def test_stale_pages_are_named_and_written(tmp_path: Path) -> None:
    for path in PAGES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    page = tmp_path / "docs" / "sexpr.md"
    right = page.read_text(encoding="utf-8")
    page.write_text(right.replace("| `(stats)` |", "| `(numbers)` |"), encoding="utf-8")
    (tmp_path / "docs" / "reference" / "cli.md").unlink()
    checked = CliRunner().invoke(main, ["docs", str(tmp_path), "--check"])
    written = CliRunner().invoke(main, ["docs", str(tmp_path)])

    assert right != PAGES["docs/sexpr.md"].replace("(stats)", "(numbers)")
    assert (checked.exit_code, checked.output.split()) == (1, ["docs/reference/cli.md", "docs/sexpr.md"])
    assert (written.exit_code, written.output) == (0, checked.output)
    assert page.read_text(encoding="utf-8") == right
    assert reference.find_stale(tmp_path) == []


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be that of a checkout"):
        reference.generate(tmp_path)


def test_a_page_without_the_place_of_a_section_is_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/where.md").write_text("# Where is what\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"docs/where\.md has no place for the section 'rooms': add <!-- rooms -->"):
        reference.generate(tmp_path)
