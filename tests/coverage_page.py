"""
Writes `docs/coverage.md` from the JSON of a measurement: branch coverage by room, and the uncovered lines, with the reason.

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
"""Files with at least this percentage of lines and branches covered are not listed."""

REASONS: Mapping[str, str] = {
    "sparql/worker.py": "runs in worker processes; most of them are killed, and so report no coverage",
    "interfaces/web/server.py": "runs in processes that the tests end with signals",
    "interfaces/mcp/shim.py": "runs in processes that the tests end with signals",
    "interfaces/mcp/launch.py": "runs in processes that the tests end with signals",
    "search/embedders.py": "needs models and services that only the tests of `-m live` load",
    "llm/": "errors of real providers, which only the tests of `-m live` meet",
    "__main__.py": "runs as a separate process",
}
"""Known reasons why a room or a file is not covered; the longest matching prefix of a path counts."""


def write_page(measured: Json) -> str:
    """Return the page."""
    files = {
        path.removeprefix(PACKAGE): one for path, one in sorted(measured["files"].items()) if path.startswith(PACKAGE)
    }
    lines = [
        "# Coverage",
        "",
        "Written by `make coverage`: the lines and branches that the tests of `make test` execute, including the processes that",
        "they start. There is no threshold. Files with low coverage are listed below, with the reason if it is known.",
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
    """Yield a row for each file below `FULL` percent, the least covered first."""
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
