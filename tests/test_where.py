"""The page that says where things are: every room and file that it names is there, and each recipe is all that is needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memento.interfaces.reference import FLOORS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "where.md").read_text(encoding="utf-8")
READ_FIRST = PAGE.partition("## What to read first")[2].partition("\n## ")[0]
FENCE = re.compile(r"```(\w+)\n(.*?)\n```", re.DOTALL)

TELL = """
with open_memento(home) as memento:
    for text in said:
        noted = memento.note(text)
    for iri in noted.invalidated:
        print(noted.contents[iri])
"""
COUNT = """
with open_memento(home) as memento:
    memento.note("I drink tea.")
    memento.note("I row.")
    print(memento.call(CountNotes()))
"""
SCORE = """
with open_memento(home) as memento:
    memento.note("Tea: see https://example.org/tea for times.")
    [one] = memento.recall("When is tea?", explain=True, gate=False).memories
    print(round(one.why.get("address", 0.0), 1) > 0)
"""
KEEP = """
for _ in range(2):
    with open_memento(home) as memento:
        if not memento.list():
            memento.note("I row.")
        print(*memento.service.stores.indexes[Lengths].of.values())
"""


def recipe(title: str) -> str:
    """What the page says of adding something."""
    found = PAGE.partition(f"### … {title}\n")[2].partition("\n### ")[0]
    assert found, title
    return found


def blocks(title: str) -> list[str]:
    return [text for _, text in FENCE.findall(recipe(title))]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, which a recipe may change."""
    for name in ("src", "queries"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "ontology").symlink_to(ROOT / "ontology")
    return tmp_path


def follow(copy: Path, title: str) -> None:
    """Put the blocks of a recipe where their first lines say: at the end of that file, or into a new one."""
    for text in blocks(title):
        head, _, rest = text.partition("\n")
        path = copy / head.removeprefix("# ")
        before = path.read_text(encoding="utf-8") + "\n\n" if path.exists() else ""
        path.write_text(f"{before}{rest}\n", encoding="utf-8")


def run(copy: Path, program: str, *said: str, home: str = "home", **variables: str) -> list[str]:
    """Run a program with the copy, and return the lines that it prints."""
    head = """
import sys
from pathlib import Path
from memento.python import open_memento
home, said = Path(sys.argv[1]), sys.argv[2:]
"""
    done = subprocess.run(
        [sys.executable, "-c", head + program, str(copy / home), *said],
        env={**os.environ, "PYTHONPATH": str(copy / "src"), "MEMENTO_EMBEDDING_MODEL": "trigram", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_room_is_on_the_page_and_every_file_that_it_names_is_there() -> None:
    rooms = {
        room for floor in FLOORS for room, what in floor.items() if what and (ROOT / "src/memento" / room).is_dir()
    }
    rows = [row.split("|")[1:4] for row in READ_FIRST.splitlines() if row.startswith("| `")]
    named = [file for _, _, files in rows for file in re.findall(r"`([^`]+)`", files)]

    assert {room.strip(" `/") for room, _, _ in rows} == rooms
    assert [file for file in named if not (ROOT / "src/memento" / file).is_file()] == []
    assert all(len(re.findall("`", files)) == 6 for _, _, files in rows)
    walks = re.findall(r"`((?:service|consolidation|retrieval|graph|search|text)/[\w/]+\.py)`", READ_FIRST)
    assert [file for file in walks if not (ROOT / "src/memento" / file).is_file()] == []


def test_an_operation_and_a_query_are_what_the_page_shows(copy: Path) -> None:
    follow(copy, "an operation")
    [query] = blocks("a query")
    (copy / "queries/library/notes_counted.rq").write_text(f"{query}\n", encoding="utf-8")

    program = "from memento.operations.notes import CountNotes\n" + COUNT

    assert run(copy, program) == ["2"]
    command = "import sys\nfrom memento.interfaces.cli import main\nmain(['--home', str(home), '--json', *said])"
    assert run(copy, command, "count-notes") == ["2"]


def test_a_signal_is_what_the_page_shows(copy: Path) -> None:
    follow(copy, "a signal of recall")

    assert run(copy, SCORE) == ["False"]
    assert run(copy, SCORE, home="again", MEMENTO_SIGNALS_ADDRESS="2") == ["True"]


def test_an_index_is_what_the_page_shows_and_is_kept(copy: Path) -> None:
    follow(copy, "a derived index")

    assert run(copy, "from memento.search.lengths import Lengths\n" + KEEP) == ["6", "6"]


def test_a_setting_is_what_the_page_shows(copy: Path) -> None:
    [line] = blocks("a setting")
    path = copy / "src/memento/settings.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("class LandSettings:\n", f"class LandSettings:\n    {line}\n"), encoding="utf-8")
    program = "from memento.settings import load\nprint(load(home).land.patience)"

    assert run(copy, program) == ["3"]
    assert run(copy, program, MEMENTO_LAND_PATIENCE="5") == ["5"]


def test_the_row_of_the_recipe_is_all_that_a_new_ending_needs(copy: Path) -> None:
    title = "a way in which something ends"
    [row] = blocks(title)
    state, end = re.findall(r'"([A-Z][^"]*\.)"', recipe(title))
    table = copy / "src/memento/text/lexicon/claims.toml"

    assert run(copy, TELL, state, end, home="before") == []

    table.write_text(table.read_text(encoding="utf-8").replace("[endings]\n", f"[endings]\n{row}\n"), encoding="utf-8")

    assert run(copy, TELL, state, end, home="after") == [state]


def test_each_recipe_is_tried_or_says_what_tries_it() -> None:
    titles = re.findall(r"^### … (.+)$", PAGE, flags=re.MULTILINE)
    tried = {
        "an operation",
        "a query",
        "a signal of recall",
        "a derived index",
        "a setting",
        "a way in which something ends",
    }

    assert tried < {*titles}
    assert [title for title in titles if title not in tried and "`tests/" not in recipe(title)] == []
