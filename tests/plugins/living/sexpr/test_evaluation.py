"""The evaluator: what is checked before anything runs, what runs, and that it always ends."""

from __future__ import annotations

from typing import Any

import pytest

from memento.errors import InputError, NotFound
from memento.plugins.living.sexpr.evaluation import FUEL, VALUES, Evaluation, Parameter, Verb

DONE: list[Any] = []


def _again(evaluation: Evaluation) -> Any:
    return evaluation.evaluate_text("(again)")


def _write(_: Evaluation, *values: Any) -> int:
    DONE.append(values)
    return len(DONE)


def _lost(_: Evaluation) -> None:
    raise NotFound("nothing is called so")


TABLE = {
    verb.name: verb
    for verb in (
        *VALUES,
        Verb(
            name="write",
            does="Write it down.",
            parameters=(
                Parameter("text", "text"),
                Parameter("weight", "number", 0.5),
                Parameter("tags", "texts", None),
            ),
            run=_write,
            writes=True,
        ),
        Verb(name="again", does="Itself.", parameters=(), run=_again),
        Verb(name="lost", does="Not there.", parameters=(), run=_lost),
        Verb(name="found", does="A record.", parameters=(), run=lambda _: [{"id": "urn:a", "score": 0.5}]),
    )
}


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


def run(text: str) -> list[Any]:
    return Evaluation(TABLE).evaluate_text(text)


def test_inner_lists_are_called_first() -> None:
    assert run('(write (get (first (found)) "id") (get (nth (found) 0) "score") (list "a" "b"))') == [1]
    assert DONE == [("urn:a", 0.5, ["a", "b"])]


def test_what_is_not_given_has_its_default() -> None:
    run('(write "a")')
    run('(write "a" 1 nil)')

    assert DONE == [("a", 0.5, None), ("a", 1, None)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(wirte)", r"line 1, column 2: unknown verb wirte: is \(write text \[weight=0.5\] \[tags=nil\]\) meant\?"),
        ("(write)", r"line 1, column 1: write takes 1 to 3 values, not 0: \(write text"),
        ('(write "a" "b")', r"line 1, column 12: weight of write is a number: \(write"),
        ('(write "a" 1 "b")', "line 1, column 14: tags of write is a list of texts"),
        ('(write "a" true)', "weight of write is a number"),
        ("(write tea)", 'line 1, column 8: tea stands for nothing here: put text in quotes, as "tea"'),
        ("((write))", "line 1, column 1: a list begins with a verb"),
        ("()", "a list begins with a verb"),
        ("", "there is no expression"),
        ('(get (found) "id")', "only a record has fields"),
        ('(get (first (found)) "name")', "no field 'name': it has id, score"),
        ("(nth 3 0)", "only a list has places"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_the_signature(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        run(text)


def test_nothing_is_written_when_a_later_form_is_wrong() -> None:
    for wrong in ("(wirte)", "(write)", "(write 3)", '(list (write "b" "c"))'):
        with pytest.raises(InputError):
            run(f'(write "a") {wrong}')

    assert DONE == []


def test_a_verb_that_calls_itself_comes_to_an_end() -> None:
    with pytest.raises(InputError, match="nested deeper than 64"):
        run("(again)")


def test_calls_cost_fuel() -> None:
    assert len(run("(list) " * FUEL)) == FUEL
    with pytest.raises(InputError, match=f"more than {FUEL} calls"):
        run("(list) " * (FUEL + 1))


def test_an_error_of_a_verb_keeps_its_class_and_is_placed_once() -> None:
    with pytest.raises(NotFound, match=r"^line 2, column 7: lost: nothing is called so: \(lost\)$"):
        run("(list\n(list (lost)))")
