"""
The protocol's own conformance package against a real service: every server scenario that needs no tools made for the purpose.

Needs npm and fetches the package: `pytest -m live -s tests/interfaces/mcp/test_conformance.py` prints the table.

*But:* most scenarios of the package ask for tools, prompts and resources of fixed names (`test_simple_text` …) or for capabilities
that we do not announce (logging, completion, sampling, subscriptions of the older era), or check nothing where there are no
sessions; those do not apply.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

PACKAGE = ("--package=node@22", "--package=@modelcontextprotocol/conformance@0.2.0-alpha.12")

OLDER = "2025-11-25"
NEWER = "2026-07-28"
SCENARIOS = [
    *(
        (OLDER, scenario)
        for scenario in (
            "server-initialize",
            "ping",
            "tools-list",
            "resources-list",
            "prompts-list",
            "dns-rebinding-protection",
        )
    ),
    *(
        (NEWER, scenario)
        for scenario in (
            "server-stateless",
            "tools-list",
            "resources-list",
            "sep-2164-resource-not-found",
            "prompts-list",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
            "caching",
            "http-header-validation",
            "input-required-result-unsupported-methods",
            "input-required-result-validate-input",
        )
    ),
]

pytestmark = [pytest.mark.live, pytest.mark.skipif(not shutil.which("npx"), reason="npx is not installed")]


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_a_scenario_passes(address: str, revision: str, scenario: str) -> None:
    command = ["npx", "--yes", *PACKAGE, "conformance", "server", "--verbose", "--url", f"{address}/mcp"]
    done = subprocess.run(
        [*command, "--scenario", scenario, "--spec-version", revision],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    checks = found(done.stdout)
    failed = {check["id"]: check.get("errorMessage") for check in checks if check["status"] == "FAILURE"}
    # What asks for a tool made for the purpose is marked so by the package itself.
    untestable = {check["id"] for check in checks if (check.get("details") or {}).get("untestable")}
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    counts = f"{passed:>2} passed, {len(failed.keys() - untestable)} failed, {len(untestable)} not applicable"
    print(f"{revision}  {scenario:<40} {counts}")  # noqa: T201

    assert {name: why for name, why in failed.items() if name not in untestable} == {}
    assert passed, done.stderr


def found(output: str) -> list[dict[str, Any]]:
    """The checks that the package prints as a JSON array, somewhere in its output."""
    start = output.find("[\n")
    checks: list[dict[str, Any]] = json.JSONDecoder().raw_decode(output[start:])[0] if start >= 0 else []
    return checks
