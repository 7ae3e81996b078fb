"""What a newcomer does takes three steps at most and comes out as it should, with commands that README and docs name."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from memento.interfaces.cli import main
from newcomer import MOST_STEPS, ROOT, TASKS, Outcome, Person, at_home, try_task, write_table


def run(words: Sequence[str]) -> str:
    """Run a command of ours in this process; what else would be installed is there."""
    if words[0] != "memento":
        return ""
    done = CliRunner().invoke(main, list(words[1:]), prog_name="memento")
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    folder = tmp_path_factory.mktemp("newcomer")
    offline = {"MEMENTO_EMBEDDING_MODEL": "trigram", "MEMENTO_EMBEDDING_CACHE": "false", "PYTHONWARNINGS": "ignore"}
    with at_home(folder, **offline):
        person = Person(run, sys.executable, folder)
        return [try_task(name, do, person) for name, do in TASKS.items()]


def test_each_task_comes_out_as_it_should_in_few_steps(outcomes: list[Outcome]) -> None:
    assert {one.task: one.fault for one in outcomes if one.fault} == {}
    assert {one.task: one.steps for one in outcomes if len(one.steps) > MOST_STEPS} == {}
    assert len(outcomes) == 9  # the tenth is the installation: `make newcomer`


def test_every_command_that_is_typed_is_one_that_the_pages_name(outcomes: list[Outcome]) -> None:
    pages = [
        ROOT / "README.md",
        *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "reference" not in path.parts),
    ]
    told = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    typed = {step for one in outcomes for step in one.steps if step.startswith(("memento ", "pip ", "jupyter "))}

    for step in typed:
        command, options = " ".join(step.split()[:2]), re.findall(r" (--[a-z-]+)", step)
        assert command in told.replace("make lab", "jupyter lab"), step
        assert all(option in told for option in options), step


def test_a_task_that_fails_or_takes_too_many_steps_is_seen(tmp_path: Path) -> None:
    def dawdle(person: Person) -> None:
        for _ in range(MOST_STEPS + 1):
            person.type("memento status")

    def err(person: Person) -> None:
        assert "Paris" in person.type("memento list")

    person = Person(lambda words: "", sys.executable, tmp_path)
    slow, wrong = try_task("slow", dawdle, person), try_task("wrong", err, person)

    assert not slow.is_good and not slow.fault
    assert not wrong.is_good and wrong.fault
    assert re.search(r"wrong +1 .*NO", write_table([slow, wrong]))
