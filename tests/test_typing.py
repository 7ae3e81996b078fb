"""What a type checker says of a program that uses Memento: it knows every method, argument and answer."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import warnings
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from memento.errors import InputError
from memento.model import Imported
from memento.python import Client, Memento
from memento.python.methods import FORMER

ROOT = Path(__file__).parents[1]

RIGHT = """
from datetime import UTC, datetime

from memento import open_memento

with open_memento("my-memory") as memento:
    noted = memento.note("I live in Lisbon.", at=datetime(2024, 5, 20, tzinfo=UTC), tags=["home"])
    print(noted.memories[0], noted.remarks)
    found = memento.recall("Where do I live?", k=3, as_of="2024-06-01")
    for one in found:
        print(one.rank + 1, one.content.upper(), one.valid_at)
    print(found, len(found), found[0].iri, found[:2])
    memento.correct(found[0].iri, "I live in Porto.")
    memento.forget(found[0].iri, erase=True)
    rows = memento.query("SELECT ?s ?n { ?s ?p ?n }")
    for row in rows:
        print(row["s"], row["n"] + 1)
    print(rows.to_dicts()[0]["s"], len(rows), rows.columns)
    if memento.query("ASK { ?s ?p ?o }"):
        print([one.content for one in memento.list(limit=5)])
    print(memento.status().memories, memento.timeline("me").memories)
    print(memento.cases.retrieve("Pack for Oslo."), memento.keys.find("Oslo"))
    memento.intake.import_notes([{"content": "I paint."}], progress=lambda done, total: None)
    memento.intake.import_files("chats.zip", all_turns=True)
    memento.admin.backup("backups", keep=3)
    memento.export("all.trig", overwrite=True)
"""

WRONG = """
from memento import open_memento

memento = open_memento("my-memory")
memento.note(3)  # arg-type
memento.note("I paint.", when="2024-01-01")  # call-arg
memento.note("I paint.", priority="urgent")  # arg-type
memento.note("I paint.").memory  # attr-defined
memento.recal("Where do I live?")  # union-attr
memento.recall("Where do I live?", k="three")  # arg-type
memento.recall()  # call-arg
memento.recall("Where do I live?").memories[0].text  # attr-defined
for one in memento.recall("Where do I live?"):
    print(one.since)  # attr-defined
memento.correct("urn:memento:memory:1")  # call-arg
memento.query("SELECT * { ?s ?p ?o }").rows  # attr-defined
memento.query("SELECT * { ?s ?p ?o }", limit=3)  # call-arg
memento.status().memories.strip()  # attr-defined
memento.cases.retreive("Pack for Oslo.")  # attr-defined
memento.cases.add("Pack for Oslo.")  # arg-type
memento.retrieve_cases("Pack for Oslo.")  # union-attr
memento.keys.read_memory("urn:memento:memory:1").content.strip(1)  # arg-type
memento.admin.backup(keep="all")  # arg-type
memento.export("all.trig", overwrite="yes")  # arg-type
memento.intake.import_notes(["I paint."])  # list-item
"""


def check_types(program: str, folder: Path) -> list[tuple[int, str]]:
    """Return the line and the kind of each mistake that mypy finds in a program."""
    file = folder / "program.py"
    file.write_text(program)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
    ]
    run = subprocess.run([*command, str(file)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = re.findall(r"program\.py:(\d+): error: .*\[([\w-]+)\]$", run.stdout, re.MULTILINE)
    return [(int(line), kind) for line, kind in found]


def test_a_type_checker_finds_every_mistake_of_a_user_and_no_other(tmp_path: Path) -> None:
    planted = [(row, line.rpartition("# ")[2]) for row, line in enumerate(WRONG.split("\n"), start=1) if "  # " in line]

    found = dict(check_types(RIGHT + WRONG.replace("from memento import open_memento\n", "\n"), tmp_path))
    offset = RIGHT.count("\n")
    assert found == {row + offset: kind for row, kind in planted}


def test_a_memory_lists_twenty_names_and_groups_print_theirs(memento: Memento) -> None:
    names = [name for name in dir(memento) if not name.startswith("_")]

    assert names == [name for name in dir(Memento) if not name.startswith("_")]
    assert names == [name for name in dir(Client) if not name.startswith("_")]
    assert len(names) <= 20
    assert {"note", "recall", "query", "cases", "admin"} <= set(names)
    assert "retrieve" in dir(memento.cases) and "call" not in dir(memento.cases)
    assert "\n  retrieve: Find the cases to follow" in repr(memento.cases)


def test_a_method_helps_with_its_arguments(memento: Memento) -> None:
    assert inspect.ismethod(memento.note) and memento.note.__name__ == "note"
    text = inspect.getdoc(memento.note) or ""
    assert text.startswith("Remember a first-person note") and "\nArgs:\n    content: what to remember" in text
    shown = str(inspect.signature(memento.cases.retrieve)).replace("'", "")
    assert shown.startswith("(task: str, k: int | None = None, ") and shown.endswith(") -> CasesFound")
    with pytest.raises(TypeError, match=r"cases\.retrieve: Missing required argument 'task'; its arguments are task, "):
        memento.cases.retrieve()  # type: ignore[call-arg]


def test_former_names_work_and_say_the_new_one(memento: Memento) -> None:
    with pytest.warns(DeprecationWarning, match=r"`memento\.import_notes` is `memento\.intake\.import_notes` now"):
        imported = memento.import_notes([{"content": "I live in Lisbon."}])  # type: ignore[attr-defined]
    assert isinstance(imported, Imported) and imported.memories == 1
    with pytest.raises(AttributeError, match="no attribute 'recal'"):
        memento.recal("Lisbon")  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, path in FORMER.items():
            now: Any = reduce(getattr, path.split("."), memento)
            assert getattr(memento, name).__func__ is now.__func__


def test_rows_of_an_import_may_be_mappings_and_a_wrong_one_is_named(memento: Memento) -> None:
    with pytest.raises(InputError, match=r"row 2 has no contents: its keys are content, "):
        memento.intake.import_notes([{"content": "I paint."}, {"contents": "I paint."}])
    with pytest.raises(InputError, match="row 1 must be a CaseRow or a mapping, not str"):
        memento.cases.add(["Pack."])  # type: ignore[list-item]
    assert memento.status().memories == 0
