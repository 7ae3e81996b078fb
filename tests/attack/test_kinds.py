"""The table of attacks names tests that exist, one for each kind, and there are many kinds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from attack.kinds import KINDS, draw_table

TESTS = Path(__file__).parents[1]
LEAST = 30


def test_there_are_many_kinds_of_attack_each_with_a_test_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{draw_table()}\n")

    assert len(set(KINDS.values())) == len(KINDS) >= LEAST


@pytest.mark.parametrize("kind", KINDS)
def test_the_test_of_a_kind_exists(kind: str) -> None:
    path, _, name = KINDS[kind].partition("::")

    assert f"def {name}(" in (TESTS / path).read_text(encoding="utf-8")
