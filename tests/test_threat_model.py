"""What the threat model says is kept and shown can be looked up: its files, its tests, its settings are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from memento.settings import table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
TEXTS = {
    found.group(1): found.group() for found in re.finditer(r"^\*\*(P\d+) .*?(?=^\*\*P\d+ |^## )", PAGE, re.M | re.S)
}


@pytest.mark.parametrize("name", re.findall(r"`((?:src|tests|docs)/[^`]+)`", PAGE))
def test_a_file_or_test_that_is_named_is_there(name: str) -> None:
    path, _, function = name.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    functions = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}

    assert not function or function in functions


@pytest.mark.parametrize("name", TEXTS)
def test_a_promise_names_what_keeps_it_and_what_shows_it(name: str) -> None:
    assert re.search(r"Kept by `src/", TEXTS[name])
    assert re.search(r"shown by\s+`tests/", TEXTS[name])


def test_the_promises_are_counted_and_every_verdict_names_one_that_there_is() -> None:
    assert list(TEXTS) == [f"P{n + 1}" for n in range(len(TEXTS))]
    assert set(re.findall(r"\bP\d+\b", PAGE)) == set(TEXTS)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:server|sparql|limits)\.[a-z_]+)`", PAGE))))
def test_a_setting_that_is_named_is_one(name: str) -> None:
    group, _, knob = name.partition(".")

    assert re.search(rf"^## .*{group}.*$.*?`{knob}`", table(), flags=re.M | re.S)


def test_no_file_is_read_as_code() -> None:
    """Neither pickle nor what loads it, nor code from text."""
    loads = re.compile(
        r"\bpickle\b|\bmarshal\b|\bjoblib\b|\bshelve\b|allow_pickle=True|torch\.load\(|(?<![.\w])(?:eval|exec)\("
    )
    users = [path.name for path in (ROOT / "src").rglob("*.py") if loads.search(path.read_text(encoding="utf-8"))]

    assert users == []
