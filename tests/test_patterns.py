"""No pattern of the package runs away on any text that is made of its own atoms."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
LONGEST_S = 300
"""Seconds of the processor, of which it takes some twenty; the clock says what else the machine does."""


def run(*words: str) -> list[str]:
    """The lines that Python prints; a process of its own, as what runs away cannot be stopped in this one."""
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_S, LONGEST_S)),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_no_pattern_of_the_package_runs_away() -> None:
    *running_away, count = run(str(TESTS / "runaway.py"))

    assert running_away == []
    assert int(count.split()[0]) > 400


def test_what_runs_away_is_found_and_what_may_not_is_left_alone() -> None:
    running_away = (
        r"(?:a+)+$",  # a repeat shares a text with itself
        r"^(?:\w+\s?)*:",
        r"\s+x",  # a search begins at every blank
        r"<think>.*?</think>",  # or looks to the end from every beginning
        r"\d+\w*\.",
        r"^(?:(?:in|on)\s+(?:\w+\s+){0,2}?\w+\s+)+(?=USER\b)",  # what froze the service once
    )
    harmless = (r"a(?>b*)(?:c|d)[e-g]{1,5}\s", r"(?<!\s)\s++x", r"^(?:\w++\s?)*+:")
    program = (
        "import re\nfrom runaway import *\nstop_when_slow()\n"
        f"for one in {(*running_away, *harmless)!r}: print(bool(runs_away(Found('it', re.compile(one, re.DOTALL), False))))"
    )

    assert run("-c", program) == ["True"] * len(running_away) + ["False"] * len(harmless)
