"""Each row of a table of the language is seen in its example and not in its counter-example; a wrong row is named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memento.errors import MissingPart
from memento.retrieval.relevance import Property, find_property, list_properties
from memento.text import dates, kinds, names
from memento.text.kinds import Cue, cue_rows, join_cues, kind_by_context
from memento.text.noise import explain_noise, noise_rows
from memento.text.sentences import Opening, introduced, join_openings, opening_rows
from memento.text.tables import LEXICON, Entry, Row, entries, section, word_lists, word_set

SIGNS = [
    (row, read()[row.name])
    for file, read in (
        (LEXICON / "kinds.toml", kinds.signs),
        (LEXICON / "names.toml", names.signs),
        (LEXICON / "dates.toml", dates.date_signs),
    )
    for row in section(file, "sign", list[Row])
]


LISTS: dict[str, str] = json.loads((Path(__file__).parent / "lists.json").read_text(encoding="utf-8"))
"""The words that are declared for each list of a table."""


def kind_in(text: str, cues: kinds.Cues) -> str | None:
    before, rest = text.split("[", 1)
    name, after = rest.split("]", 1)
    return kind_by_context(before, name, after, cues)


@pytest.mark.parametrize("row", cue_rows(), ids=lambda row: row.name)
def test_a_cue_tells_the_kind_in_its_example_and_no_other_cue_does(row: Cue) -> None:
    text, kind = row.example

    assert kind_in(text, kinds.cues()) == kind == row.kind
    assert kind_in(text, join_cues(other for other in cue_rows() if other is not row)) != kind
    assert kind_in(row.counter, join_cues([row])) is None


@pytest.mark.parametrize("row", opening_rows(), ids=lambda row: row.name)
def test_an_opening_leaves_what_its_example_says_and_no_other_opening_does(row: Opening) -> None:
    sentence, rest = row.example
    meaning = rest, row.kind == "correction"

    assert introduced(sentence) == meaning
    assert introduced(sentence, [other for other in opening_rows() if other is not row]) != meaning
    assert not join_openings([row])[row.kind].match(row.counter)


@pytest.mark.parametrize(("row", "pattern"), SIGNS, ids=lambda part: getattr(part, "name", ""))
def test_a_sign_is_seen_in_its_example_and_not_in_its_counter_example(row: Row, pattern: re.Pattern[str]) -> None:
    assert pattern.search(beside(row.example[0]))
    assert not pattern.search(beside(row.counter))


@pytest.mark.parametrize(("row", "asked", "filled"), list_properties(), ids=lambda part: getattr(part, "name", ""))
def test_a_property_is_asked_for_and_filled_in_its_example_and_not_in_its_counter_example(
    row: Property, asked: re.Pattern[str], filled: re.Pattern[str]
) -> None:
    question, memory = row.example

    assert asked.search(question)
    assert [found[1] for found in [find_property(question)] if found] == [filled]
    assert filled.search(memory)
    assert not asked.search(row.counter)
    assert not filled.search(row.lacks)


def beside(text: str) -> str:
    """The text on that side of a name, written [], on which there is some."""
    before, _, after = text.partition("[]")
    return before or after


@pytest.mark.parametrize("entry", noise_rows(), ids=lambda entry: entry.row.name)
def test_noise_is_skipped_for_the_reason_of_its_row_and_of_no_other(entry: Entry[Row]) -> None:
    sentence, reason = entry.row.example

    assert explain_noise(sentence) == reason
    assert [other.row.name for other in noise_rows() if other.pattern.match(sentence)] == [entry.row.name]
    assert explain_noise(entry.row.counter) == ""


@pytest.mark.parametrize("place", LISTS)
def test_no_word_is_taken_out_of_a_list_unnoticed(place: str) -> None:
    table, name = place.split(", ")

    assert word_set(LISTS[place]) - word_lists(LEXICON / f"{table}.toml")[name] == set()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('name = "one"', "table.toml, row 1 (one)"),
        ('name = "one"\nmeaning = "m"\npattern = "("\nexample = ["("]\ncounter = "x"', "table.toml, row 1 (one)"),
        ('name = "one"\nmeaning = "m"\npattern = "{WHAT}"\nexample = ["x"]\ncounter = "y"', "no fragment {WHAT}"),
        ('name = "one"\nmeaning = "m"\npattern = "x"\nexample = ["x"]\ncounter = "y"\nmore = 1', "more"),
    ],
)
def test_a_row_that_is_wrong_is_named_with_its_file(tmp_path: Path, row: str, message: str) -> None:
    file = tmp_path / "table.toml"
    file.write_text(f"[[row]]\n{row}\n")

    with pytest.raises(MissingPart) as raised:
        entries(file, Row, {})

    assert message in str(raised.value)


def test_two_rows_of_one_name_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    file.write_text('[[row]]\nname = "a"\nmeaning = "m"\npattern = "x"\nexample = ["x"]\ncounter = "y"\n' * 2)

    with pytest.raises(MissingPart, match="two rows are called a"):
        entries(file, Row, {})
