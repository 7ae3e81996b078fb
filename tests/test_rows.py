"""The table of features is complete, and what it names is there; `make rows` runs the tests it names."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import rows
from rows import Row

COUNTS = {"C": 8, "S0": 85, "S1": 68, "S2": 42, "S3": 45, "S4": 60, "SX": 4}
"""How many features each group has: of the product as a whole, of each of the five designs, and of what joins them."""

ROWS = rows.read_rows()


@cache
def names_in(path: Path) -> frozenset[str]:
    """The names of the test functions of a file, `Class::name` for those of a class."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test_"))


def is_there(test: str) -> bool:
    """Whether a test that is named `FILE::NAME`, with or without its parameters, exists."""
    file, _, name = test.partition("::")
    path = rows.ROOT / file
    return path.is_file() and name.partition("[")[0] in names_in(path)


def faults_of(name: str, row: Row) -> list[str]:
    """What is wrong with a row."""
    faults = [f"{name}: there is no test {test}" for test in row.tests if not is_there(test)]
    if not row.title.strip():
        faults.append(f"{name}: has no title")
    if row.status not in {"works", *rows.UNFINISHED}:
        faults.append(f"{name}: unknown status {row.status!r}")
    if row.status in rows.UNFINISHED and not row.reason.strip():
        faults.append(f"{name}: {row.status} without a reason")
    if row.status == "works" and not row.tests:
        faults.append(f"{name}: works, but no test tries it")
    if row.profile not in {"", "seed"}:
        faults.append(f"{name}: unknown profile {row.profile!r}")
    return faults


def test_every_feature_has_its_row() -> None:
    """No id is missing, and there is none besides."""
    wanted = {"C": [f"C-{number}" for number in range(1, 9)]} | {
        group: [f"{group}-{number:02}" for number in range(1, count + 1)]
        for group, count in COUNTS.items()
        if group != "C"
    }
    assert list(ROWS) == [name for names in wanted.values() for name in names]


def test_every_row_can_be_tried() -> None:
    """A row that works names tests that exist; another one says why not."""
    assert [fault for name, row in ROWS.items() for fault in faults_of(name, row)] == []


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (
            Row(title="t", tests=("tests/test_rows.py::test_nowhere",)),
            "there is no test tests/test_rows.py::test_nowhere",
        ),
        (Row(title="t", tests=("tests/nowhere.py::test_it",)), "there is no test tests/nowhere.py::test_it"),
        (Row(title="t"), "works, but no test tries it"),
        (Row(title="t", status="part"), "part without a reason"),
        (Row(title="t", status="missing"), "missing without a reason"),
        (Row(title="t", status="perhaps"), "unknown status 'perhaps'"),
        (Row(title=" ", status="part", reason="r"), "has no title"),
        (Row(title="t", status="part", reason="r", profile="lean"), "unknown profile 'lean'"),
    ],
)
def test_a_wrong_row_is_seen(row: Row, fault: str) -> None:
    """Each rule of the table is one that can be broken."""
    assert faults_of("S0-01", row) == [f"S0-01: {fault}"]


def test_a_test_may_be_named_without_its_parameters() -> None:
    """`test_x[a]` and `test_x` both name `test_x`."""
    assert is_there("tests/test_rows.py::test_a_wrong_row_is_seen")
    assert is_there("tests/test_rows.py::test_a_wrong_row_is_seen[row0]")


def test_rows_are_counted_by_group_and_the_unfinished_named() -> None:
    """What only the profile `seed` does works, and is told apart."""
    some = {
        "S0-01": Row(title="a", tests=("x",)),
        "S0-02": Row(title="b", tests=("x",), profile="seed"),
        "S0-03": Row(title="c", status="part", reason="half of it"),
        "S1-01": Row(title="d", status="missing", reason="nobody built it"),
    }
    assert [line.split() for line in rows.count_rows(some).splitlines()[:3]] == [
        ["group", "rows", "works", "part", "missing"],
        ["S0", "3", "2", "1", "0", "(1", "of", "them", "by", "the", "profile", "seed", "alone)"],
        ["S1", "1", "0", "0", "1"],
    ]
    assert rows.count_rows(some).splitlines()[-2:] == [
        "S0-03 part: c: half of it",
        "S1-01 missing: d: nobody built it",
    ]


def test_a_part_is_chosen_by_group_or_id() -> None:
    """What `ONLY` names, and everything without it."""
    assert list(rows.select_rows(ROWS, ["S0-15", "SX"])) == ["S0-15", "SX-01", "SX-02", "SX-03", "SX-04"]
    assert rows.select_rows(ROWS, []) == ROWS
    assert rows.main(["S9"]) == 2
