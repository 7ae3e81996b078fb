"""
Writes `docs/coverage.md` from the JSON of a measurement: branch coverage by room, and what is not covered, with the reason.

Run: `make coverage`, which runs every test with tracing and then this.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PACKAGE = "src/memento/"
FULL = 90
"""Percent of lines and branches from which on a file is not listed."""

REASONS: Mapping[str, str] = {
    "sparql/worker.py": "runs in worker processes, most of which are killed and so report nothing",
    "interfaces/web/server.py": "runs in processes that tests end by signals",
    "interfaces/mcp/shim.py": "runs in processes that tests end by signals",
    "interfaces/mcp/launch.py": "runs in processes that tests end by signals",
    "search/embedders.py": "models and services that tests do not load; `-m live` does",
    "llm/": "providers' own errors, which `-m live` meets",
    "__main__.py": "is run as a process of its own",
}
"""Why a room or a file is not covered, where it is known; the longest beginning of a path counts."""


def write_page(measured: Json) -> str:
    """Return the page."""
    files = {
        path.removeprefix(PACKAGE): one for path, one in sorted(measured["files"].items()) if path.startswith(PACKAGE)
    }
    lines = [
        "# Coverage",
        "",
        "Written by `make coverage`: lines and branches that the tests of `make test` run, processes they start included.",
        "There is no threshold; what is not covered is listed, with the reason where there is one.",
        "",
        "| room | statements | branches | covered |",
        "| --- | --- | --- | --- |",
    ]
    rooms: dict[str, list[Json]] = {}
    for path, one in files.items():
        rooms.setdefault(path.partition("/")[0], []).append(one["summary"])
    for room, parts in [*rooms.items(), ("**all**", [one["summary"] for one in files.values()])]:
        statements, branches = (sum(one[name] for one in parts) for name in ("num_statements", "num_branches"))
        lines.append(f"| {room} | {statements:,} | {branches:,} | {percent_of(parts):.0f} % |")
    lines += ["", f"## Files below {FULL} %", "", "| file | covered | not run | why |", "| --- | --- | --- | --- |"]
    lines += list(list_uncovered(files))
    return "\n".join(lines) + "\n"


def percent_of(summaries: list[Json]) -> float:
    """
    Return the share of lines and branches that ran, in percent.

    >>> percent_of([{"covered_lines": 1, "num_statements": 2, "covered_branches": 1, "num_branches": 2}])
    50.0
    """
    ran = sum(one["covered_lines"] + one["covered_branches"] for one in summaries)
    there = sum(one["num_statements"] + one["num_branches"] for one in summaries)
    return 100 * ran / there if there else 100.0


def list_uncovered(files: Mapping[str, Json]) -> Iterator[str]:
    """Yield a row for each file of which much does not run, the least covered first."""
    shares = {path: percent_of([one["summary"]]) for path, one in files.items()}
    for path in sorted(shares, key=shares.__getitem__):
        if shares[path] < FULL:
            known = [begin for begin in REASONS if path.startswith(begin)]
            why = REASONS[max(known, key=len)] if known else ""
            yield f"| `{path}` | {shares[path]:.0f} % | {list_ranges(files[path]['missing_lines'])} | {why} |"


def list_ranges(numbers: list[int]) -> str:
    """
    Return numbers as ranges.

    >>> list_ranges([1, 2, 3, 7])
    '1–3, 7'
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("–".join(map(str, one)) for one in ranges)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(write_page(json.loads(source.read_text(encoding="utf-8"))), encoding="utf-8")
