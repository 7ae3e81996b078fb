"""When what a note says began, begins or takes place; noted on Wednesday 15 May 2024."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memento.consolidation.rules import RuleAgents
from memento.iris import mint, user_iri
from memento.model import Note, User
from telling import drafts


@pytest.mark.parametrize(
    ("text", "valid", "event"),
    [
        ("I live in Berlin.", None, None),
        ("I visited Rome last week.", "2024-05-08", None),
        ("I moved to Rome in March.", "2024-03-01", None),
        ("I have lived in Rome since 2019.", "2019-01-01", None),
        ("I have lived in Rome for two years.", "2022-05-15", None),
        ("I met Ana yesterday.", "2024-05-14", None),
        ("In 2015 I moved to Paris.", "2015-01-01", None),
        ("I'm meeting Carla tomorrow.", None, "2024-05-16"),
        ("The launch is on June 5.", None, "2024-06-05"),
        ("The launch was moved to June 1.", None, "2024-06-01"),
        ("I will join Google in June.", "2024-06-01", None),
        ("I start at Acme next month.", "2024-06-15", None),
        ("I'm starting at Acme in June.", "2024-06-01", None),
        ("I want to move to Berlin next year.", None, "2025-05-15"),
        ("I moved my meeting to Friday.", None, "2024-05-17"),
        ("I might move to Paris next year.", None, "2025-05-15"),
        ("I ordered two lamps, to arrive in June.", None, "2024-06-01"),
        ("My birthday is on March 3.", None, None),
        ("I run every Monday.", None, None),
    ],
)
def test_a_statement_knows_when_it_began_and_what_date_it_is_about(
    text: str, valid: str | None, event: str | None
) -> None:
    (draft,) = drafts(text)
    told = [f"{time:%Y-%m-%d}" if time else None for time in (draft.valid_at, draft.event_at)]

    assert told == [valid, event]


def test_what_one_of_several_sentences_says_to_end_leaves_the_others_as_they_are() -> None:
    (several,) = drafts("I met Ana. She is my tutor from the club. Lends me a box till July.")
    (two,) = drafts("I stay with Ana. Two rooms until July.")

    assert several.until is None
    assert two.until is not None


def test_facts_of_one_sentence_share_its_date() -> None:
    assert {draft.valid_at for draft in drafts("In March I moved to Berlin and I joined Siemens.")} == {
        datetime(2024, 3, 1, tzinfo=UTC)
    }


def test_a_meeting_that_is_moved_on_a_sunday_lies_ahead() -> None:
    note = Note(iri=mint("note"), content="I moved my meeting to Friday.", at=datetime(2024, 5, 19, 12, tzinfo=UTC))
    (draft,) = RuleAgents().extract_memories(note, (), User(iri=user_iri("local")))

    assert draft.event_at == datetime(2024, 5, 24, tzinfo=UTC)
