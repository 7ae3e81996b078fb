"""Each row of a table reads its example as it says, does not read its counter-example, and no other row does its work."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memento.consolidation.agents import Draft, Existing
from memento.consolidation.rules.ends import (
    DenialRow,
    EndRow,
    OutcomeRow,
    affirm,
    denial_rows,
    end_rows,
    ended,
    is_outcome,
    other_rows,
    outcome_rows,
    rule_of,
    sign_rows,
)
from memento.consolidation.rules.patterns import DatedRow, SlotRow, dated_rows, slot_rows
from memento.consolidation.rules.relations import Relation, relation_rows, relations
from memento.consolidation.rules.skeleton import Skeleton, skeleton
from memento.consolidation.rules.slots import slot_of
from memento.iris import mint, user_iri
from memento.model import Memory, User
from memento.text.dates import dates
from memento.text.names import mentions
from memento.text.tables import AnyRow, Entry
from telling import AT

USER = User(iri=user_iri("local"))


def reduce(clause: str) -> Skeleton:
    return skeleton(clause, mentions(clause, USER), dates(clause, AT, leaning="future"))


def without(entries: Sequence[Entry[AnyRow]], name: str) -> list[Entry[AnyRow]]:
    return [entry for entry in entries if entry.row.name != name]


def slot_read(clause: str, rows: Sequence[Entry[SlotRow]], dated: Sequence[Entry[DatedRow]]) -> tuple[str, ...]:
    filled = slot_of(reduce(clause), rows, dated)
    return (filled.subject, filled.slot, filled.value) if filled else ()


@pytest.mark.parametrize("entry", slot_rows(), ids=lambda entry: entry.row.name)
def test_a_row_of_slots_fills_what_its_example_says_and_no_other_row_does(entry: Entry[SlotRow]) -> None:
    clause, *meaning = entry.row.example

    assert slot_read(clause, slot_rows(), dated_rows()) == tuple(meaning)
    assert slot_read(clause, without(slot_rows(), entry.row.name), dated_rows()) != tuple(meaning)
    assert slot_read(entry.row.counter, [entry], []) == ()


@pytest.mark.parametrize("entry", dated_rows(), ids=lambda entry: entry.row.name)
def test_a_row_of_dates_reads_what_its_example_says_and_no_other_row_does(entry: Entry[DatedRow]) -> None:
    clause, *meaning = entry.row.example

    assert slot_read(clause, slot_rows(), dated_rows()) == tuple(meaning)
    assert slot_read(clause, slot_rows(), without(dated_rows(), entry.row.name)) != tuple(meaning)
    assert slot_read(entry.row.counter, [], [entry]) == ()


@pytest.mark.parametrize("entry", end_rows(), ids=lambda entry: entry.row.name)
def test_a_row_of_endings_ends_what_its_example_says_and_no_other_row_does(entry: Entry[EndRow]) -> None:
    clause, *phrases = entry.row.example
    meaning = tuple(phrases), entry.row.rule

    assert ended(reduce(clause), clause) == meaning
    assert ended(reduce(clause), clause, without(end_rows(), entry.row.name)) != meaning
    assert ended(reduce(entry.row.counter), entry.row.counter, [entry]) == ((), "")


@pytest.mark.parametrize("entry", other_rows().values(), ids=lambda entry: entry.row.name)
def test_a_row_that_is_asked_for_finds_what_its_example_says(entry: Entry[EndRow]) -> None:
    clause, phrase = entry.row.example
    match = entry.pattern.search(reduce(clause).text)

    assert match and reduce(clause).phrase(match["v"]) == phrase
    assert entry.pattern.search(reduce(entry.row.counter).text) is None


@pytest.mark.parametrize("entry", denial_rows(), ids=lambda entry: entry.row.name)
def test_a_row_of_denials_affirms_its_example_and_no_other_row_does(entry: Entry[DenialRow]) -> None:
    clause, affirmed = entry.row.example
    read, other = (affirm(reduce(clause), rows) for rows in (denial_rows(), without(denial_rows(), entry.row.name)))

    assert read is not None and read.text == reduce(affirmed).text
    assert other is None or other.text != read.text
    assert affirm(reduce(entry.row.counter)) is None


@pytest.mark.parametrize("entry", sign_rows(), ids=lambda entry: entry.row.name)
def test_a_sign_of_an_ending_names_its_rule_and_no_other_sign_does(entry: Entry[EndRow]) -> None:
    content, rule = entry.row.example
    draft = Draft(content=content, about=())

    assert rule_of(draft) == rule == entry.row.rule
    assert rule_of(draft, without(sign_rows(), entry.row.name)) != rule
    assert entry.pattern.search(entry.row.counter) is None


@pytest.mark.parametrize("entry", [entry for entry, _ in outcome_rows()], ids=lambda entry: entry.row.name)
def test_an_outcome_ends_what_was_under_way_and_no_other_row_does(entry: Entry[OutcomeRow]) -> None:
    content, known = entry.row.example
    others = [row for row in outcome_rows() if row[0].row.name != entry.row.name]

    assert is_outcome(draft_of(content), known_of(known))
    assert not is_outcome(draft_of(content), known_of(known), others)
    assert not is_outcome(draft_of(entry.row.counter), known_of(known))


@pytest.mark.parametrize("row", relation_rows(), ids=lambda row: row.name)
def test_a_relation_is_expressed_by_its_example_and_by_no_other_row(row: Relation) -> None:
    assert row.name in relations(row.example)
    assert row.name not in relations(row.example, rows=[other for other in relation_rows() if other is not row])
    assert row.name not in relations(row.counter)


def draft_of(content: str) -> Draft:
    return Draft(content=content, about=about(content))


def known_of(content: str) -> Existing:
    memory = Memory(iri=mint("memory"), content=content, extracted_from=mint("note"), valid_at=AT, created_at=AT)
    return Existing(memory=memory, about=about(content))


def about(content: str) -> tuple[str, ...]:
    return (*(["USER"] if "USER" in content else []), *(mention.name for mention in mentions(content, USER)))
