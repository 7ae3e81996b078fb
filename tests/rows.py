"""
Prints which of the product's features work, and runs the tests that try them: `make rows`, or `make rows ONLY='S0 S4-38'`.

`rows.toml` has one table per feature, by its id: a `title`; the `tests` that try it through an interface that its user has
(command, MCP, REST, proxy, SPARQL, Python); `status` "part" or "missing" with the `reason`, absent where it works; `profile`
where only that profile does it.

Exits with 1 if a test fails, with 2 if `ONLY` names nothing.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("rows.toml")
UNFINISHED = ("part", "missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One feature, and the tests that try it."""

    title: str
    tests: tuple[str, ...] = ()
    status: str = "works"
    reason: str = ""
    profile: str = ""


def read_rows(file: Path = FILE) -> dict[str, Row]:
    """
    Return every row by its id, in the order of the file.

    *But:* nothing is checked but the names of the fields; `test_rows.py` checks the rest.
    """
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: Row(**{**table, "tests": tuple(table.get("tests", ()))}) for name, table in tables.items()}


def select_rows(rows: Mapping[str, Row], only: Sequence[str]) -> dict[str, Row]:
    """Return the rows whose id or group is among `only`, all if that is empty."""
    return {name: row for name, row in rows.items() if not only or name in only or group_of(name) in only}


def group_of(name: str) -> str:
    """
    Return the group of an id.

    >>> group_of("S0-15")
    'S0'
    """
    return name.partition("-")[0]


def count_rows(rows: Mapping[str, Row]) -> str:
    """Return the table of groups, and below it each row that is not whole, with the reason."""
    lines = [f"{'group':<6} {'rows':>5} {'works':>6} {'part':>5} {'missing':>8}"]
    for group in dict.fromkeys(map(group_of, rows)):
        of_group = [row for name, row in rows.items() if group_of(name) == group]
        works, part, missing = (
            sum(row.status == status for row in of_group) for status in ("works", "part", "missing")
        )
        apart = sum(row.status == "works" and bool(row.profile) for row in of_group)
        note = f"  ({apart} of them by the profile seed alone)" if apart else ""
        lines.append(f"{group:<6} {len(of_group):>5} {works:>6} {part:>5} {missing:>8}{note}")
    unfinished = [
        f"{name} {row.status}: {row.title}: {row.reason}" for name, row in rows.items() if row.status in UNFINISHED
    ]
    return "\n".join(lines + (["", *unfinished] if unfinished else []))


class Outcomes:
    """A plugin of pytest that keeps which tests failed, as they are named in the rows."""

    def __init__(self) -> None:
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: object) -> None:
        """Keep the name of what failed, with and without its parameters."""
        if getattr(report, "failed", False):
            name = str(getattr(report, "nodeid", ""))
            self.failed |= {name, name.partition("[")[0]}


def main(arguments: Sequence[str]) -> int:
    """Print the table, run the tests, print the rows that are red."""
    parser = argparse.ArgumentParser(description="Which features work, and the tests that try them.")
    parser.add_argument("only", nargs="*", metavar="ID", help="a group (S0) or a feature (S0-15); all without one")
    parser.add_argument("--no-tests", action="store_true", help="print the table and run nothing")
    asked = parser.parse_args(arguments)
    rows = select_rows(read_rows(), asked.only)
    if not rows:
        sys.stderr.write(f"no such row: {' '.join(asked.only)}; name a group such as S0, or an id such as S0-15\n")
        return 2
    sys.stdout.write(count_rows(rows) + "\n")
    sys.stdout.flush()
    named = list(dict.fromkeys(test for row in rows.values() for test in row.tests))
    if asked.no_tests or not named:
        return 0
    outcomes = Outcomes()
    # Marks of its own instead of the project's: a row may name a bench or a test of crashes.
    code = int(pytest.main(["-q", "-m", "not live", "--dist", "loadfile", "--rootdir", str(ROOT), *named], [outcomes]))
    red = [name for name, row in rows.items() if outcomes.failed.intersection(row.tests)]
    sys.stdout.write(
        ("\n".join(f"red: {name} {rows[name].title}" for name in red) or f"{len(rows)} rows, none is red") + "\n"
    )
    return 1 if red or code else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
