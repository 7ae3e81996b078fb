"""
Load the tables that say which slot a clause fills, the fragments that their patterns share, and patterns for a settled future.

"USER will move to ① ②" fills the slot that "USER moved to ①" fills, from ② on.

*But:* this requires a verb of beginning in the plain future or the present, and a date; an intention ("plans to", "might") fills
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal

from memento.consolidation.agents import USER
from memento.consolidation.rules.skeleton import DATE, FIRST_NAME, KIN, NAME, Skeleton
from memento.text.dates import Dated
from memento.text.tables import Entry, Row, alternatives, compile_pattern, entries, fill, named_patterns, section
from memento.text.words import JOBS, MONTHS, NUMBER_WORDS, RELATIVES, WEEKDAYS

DATA = Path(__file__).parent / "data"
SLOTS = DATA / "slots.toml"
SIGNED = ("slots", "ends", "relations", "reversals", "statements", "succession", "wording")
"""The tables with signs that code looks up by name."""


class SlotRow(Row, frozen=True, kw_only=True):
    """
    A pattern for a slot.

    `slot` may contain groups of the pattern in braces; `kinds` are the permitted kinds of the value, and "?" also permits plain
    words.
    """

    slot: str
    kinds: str = "?"


class DatedRow(Row, frozen=True, kw_only=True):
    """
    A pattern for the date of something.

    `of` restricts the subject if the clause names no event: "verb" allows what a verb dates, "event" only an event.
    """

    of: Literal["", "verb", "event"] = ""


@cache
def fragments() -> Mapping[str, str]:
    """Return the signs and words that patterns over skeletons refer to in braces."""
    known = {"USER": USER, "NAME": NAME, "DATE": DATE, "KIN": KIN, "JOBS": alternatives(JOBS)}
    known |= {"NUMBERS": "|".join(NUMBER_WORDS), "RELATIVE": alternatives(RELATIVES)}
    known["MONTH_OR_DAY"] = alternatives(frozenset({*MONTHS, *WEEKDAYS}))
    for name, text in section(SLOTS, "fragments", dict[str, str]).items():
        known[name] = fill(text, known, f"{SLOTS.name}, fragment {name}")
    return known


@cache
def slot_rows() -> tuple[Entry[SlotRow], ...]:
    """Return the rows that find slots, in the order in which they are tried."""
    return entries(SLOTS, SlotRow, fragments())


@cache
def dated_rows() -> tuple[Entry[DatedRow], ...]:
    """Return the rows that find dates of events: "the launch moved to ①", "Orion ships ①"."""
    return entries(SLOTS, DatedRow, fragments(), table="dated")


@cache
def signs() -> Mapping[str, re.Pattern[str]]:
    """Return the signs of all tables here, by name."""
    found: dict[str, re.Pattern[str]] = {}
    for name in SIGNED:
        found |= named_patterns(DATA / f"{name}.toml", fragments(), flags=re.IGNORECASE)
    return found


def replace_by_sign(phrase: str, content: str) -> str:
    """
    Replace a phrase by the sign of a name, which patterns then know as {NAME}.

    >>> replace_by_sign("acme", "USER left Acme.") == "USER left \\ue000."
    True
    """
    return re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", FIRST_NAME, content, flags=re.IGNORECASE)


@cache
def role_beside() -> re.Pattern[str]:
    """Return the pattern for a job title next to an employer: "as a nurse"."""
    return compile_pattern(fill(r"\bas (?:an? |the |its |their )?(?P<role>{ROLE})(?=$|[ ,.])", fragments()))


LATER_SLOTS = ("employer", "job title", "home", "headquarters")
"""Endings of the names of slots whose future value may be stored before it holds."""

_PAST = {
    "start": "started",
    "begin": "started",
    "join": "joined",
    "mov": "moved",
    "relocat": "relocated",
    "work": "works",
    "liv": "lives",
}


def begins_at(skeleton: Skeleton, now: datetime) -> Dated | None:
    """Return the future date at which what the clause says begins, or None."""
    if signs()["open"].search(skeleton.text) or not signs()["begins"].search(skeleton.text):
        return None
    return next((one for one in skeleton.dates if one.value > now and one.role in ("at", "since")), None)


def begun(skeleton: Skeleton) -> Skeleton:
    """
    Return the clause as it will read once it has begun.

    >>> begun(Skeleton("USER is going to move to Rome", (), ())).text, begun(Skeleton("USER starts at Acme", (), ())).text
    ('USER moved to Rome', 'USER started at Acme')
    """
    return replace(skeleton, text=signs()["begins"].sub(lambda match: _PAST[match["verb"]], skeleton.text, count=1))
