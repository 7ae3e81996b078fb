"""Dates in words, seen from Wednesday 15 May 2024, noon in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memento.text.dates import Leaning, dates

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def found(text: str, leaning: Leaning = "past", perfect: bool = False) -> list[str]:
    return [f"{one.value:%Y-%m-%d}" for one in dates(text, AT, leaning=leaning, perfect=perfect)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I left yesterday", "2024-05-14"),
        ("the day before yesterday", "2024-05-13"),
        ("I moved last week", "2024-05-08"),
        ("two months ago I quit", "2024-03-15"),
        ("I met her 3 days ago", "2024-05-12"),
        ("a year ago", "2023-05-15"),
        ("half a year ago", "2023-11-15"),
        ("a couple of weeks ago", "2024-05-01"),
        ("on May 5th", "2024-05-05"),
        ("on May 20", "2023-05-20"),
        ("on 5 May 2023", "2023-05-05"),
        ("on the 5th of May 2023", "2023-05-05"),
        ("May 5, 2023", "2023-05-05"),
        ("on 2023-05-05", "2023-05-05"),
        ("on 05/06/2023", "2023-05-06"),
        ("in 2021", "2021-01-01"),
        ("back in 2010", "2010-01-01"),
        ("in March", "2024-03-01"),
        ("in November", "2023-11-01"),
        ("in March 2022", "2022-03-01"),
        ("last summer", "2023-06-01"),
        ("in the summer of 2020", "2020-06-01"),
        ("last month", "2024-04-15"),
        ("last Tuesday", "2024-05-14"),
        ("on Sunday", "2024-05-12"),
        ("in Q3 2023", "2023-07-01"),
        ("at the end of last year", "2023-12-31"),
        ("last March", "2024-03-01"),
    ],
)
def test_a_past_date_is_computed_from_the_note(text: str, day: str) -> None:
    assert found(text) == [day]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("next Friday", "2024-05-17"),
        ("on Friday", "2024-05-17"),
        ("tomorrow", "2024-05-16"),
        ("next week", "2024-05-22"),
        ("on June 5", "2024-06-05"),
        ("on May 5", "2025-05-05"),
        ("in two weeks", "2024-05-29"),
        ("3 weeks from now", "2024-06-05"),
        ("at the end of June", "2024-06-30"),
        ("in March", "2025-03-01"),
        ("next year", "2025-05-15"),
    ],
)
def test_a_coming_date_lies_ahead(text: str, day: str) -> None:
    assert found(text, "future") == [day]


@pytest.mark.parametrize(
    "text",
    [
        "I may go",
        "we march on",
        "we use Python 3.12",
        "every Monday",
        "the fee is due in March each year",
        "on Tuesdays",
        "I have 2000 users",
        "this morning",
        "today",
        "February 30",
        "version 5.10",
        "a second ago of nothing",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "perfect", "role", "day"),
    [
        ("since January", False, "since", "2024-01-01"),
        ("since 2019", False, "since", "2019-01-01"),
        ("until 2019", False, "until", "2019-01-01"),
        ("has lived here for two years", True, "for", "2022-05-15"),
    ],
)
def test_a_date_says_what_it_does_to_a_state(text: str, perfect: bool, role: str, day: str) -> None:
    one = dates(text, AT, perfect=perfect)[0]

    assert (one.role, f"{one.value:%Y-%m-%d}") == (role, day)


def test_since_looks_back_even_where_the_sentence_looks_ahead() -> None:
    assert found("since November", "future") == ["2023-11-01"]


@pytest.mark.parametrize("text", ["at 3pm on Tuesday", "on Tuesday at 15:00", "3pm Tuesday"])
def test_an_hour_belongs_to_its_day(text: str) -> None:
    one = dates(text, AT, leaning="future")[0]

    assert one.value == datetime(2024, 5, 21, 15, tzinfo=UTC)
    assert one.has_time


def test_yesterday_begins_where_the_user_lives() -> None:
    one = dates("yesterday", AT, zone="Asia/Tokyo")[0]

    assert one.value == datetime(2024, 5, 13, 15, tzinfo=UTC)


def test_what_begins_from_a_near_day_on_lies_ahead_whatever_the_tense() -> None:
    said = datetime(2024, 6, 18, tzinfo=UTC)

    [ahead] = dates("The museum has signed again, three years from 1 July.", said, leaning="past")
    [behind] = dates("I worked there from May.", said, leaning="past")

    assert (f"{ahead.value:%Y-%m-%d}", f"{behind.value:%Y-%m-%d}") == ("2024-07-01", "2024-05-01")


@pytest.mark.parametrize(
    "text", ["The kiln is a Rohde from 2009.", "Ana drives a van, from 2016.", "The barn is from 1871."]
)
def test_how_old_a_thing_is_says_nothing_of_when(text: str) -> None:
    assert dates(text, datetime(2026, 5, 3, tzinfo=UTC)) == []


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I moved my exam, not 24 Oct but 12 Dec.", ["2026-12-12"]),
        ("The talk was postponed to 3 March.", ["2027-03-03"]),
        ("The talk was postponed to 12 August.", ["2026-08-12"]),
        ("We moved to Leeds on 12 December.", ["2025-12-12"]),
        ("The party was on 3 June, not on 1 June.", ["2026-06-03"]),
        ("I was not there until 5 May.", ["2026-05-05"]),
    ],
)
def test_a_denied_date_is_none_and_what_is_put_on_a_day_is_ahead(text: str, days: list[str]) -> None:
    assert [f"{one.value:%Y-%m-%d}" for one in dates(text, datetime(2026, 8, 20, tzinfo=UTC))] == days
