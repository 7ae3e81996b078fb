"""
Tell when claims begin and end, as their sentences say: "from 2 June to 1 August", "for two weeks", "my last day is 20 June".

*Because:* a claim that begins next month is no answer today, and a date with the wrong year ends what still holds. A date without a
year is in the past where the verb is, and ahead where something is to come.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise

from memento.consolidation.passages import Passage
from memento.text.claims import Assertion, words
from memento.text.dates import Amount, Dated, Leaning, date_signs, dates, length, move, period
from memento.text.words import MONTHS

_DAY = timedelta(days=1)

LONGEST = 1000
"""The most characters of a passage that is dated as a whole."""

_DAYS = re.compile(
    rf"\b(?P<first>\d{{1,2}})(?:\s*(?P<other>{'|'.join(MONTHS)}))?\s*(?:to|–|-|until|till|(?P<and>and))\s*(?P<last>\d{{1,2}})\s*"
    rf"(?P<month>{'|'.join(MONTHS)})\b(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
"""Two days of a month or of two: "5–23 May"; with "and" only behind "between"."""
_YEARS = re.compile(r"\b(?:from\s+)?((?:19|20)\d\d)\s*(?:to|–|-|until|till)\s*((?:19|20)\d\d)\b(?!-)", re.IGNORECASE)
_BETWEEN_YEARS = re.compile(r"\bbetween\s+((?:19|20)\d\d)\s+and\s+((?:19|20)\d\d)\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_STAY = re.compile(r"be (?:(?:in|at|on) |(?:away|off|out|abroad|closed)\b)")
"""The beginning of a claim that says where somebody is for a time."""
_PUTS_OFF = re.compile(
    r"\b(?:mov(?:e[sd]?|ing)|(?:postpon|reschedul|chang|delay|extend)\w*|(?:shift|push|slip)\w*|br(?:ing|ought)\w*|puts?)\b",
    re.IGNORECASE,
)
"""Words of one day that becomes another: "moved the exam from 3 June to 9 July"."""
_STOP = re.compile(r"\n|[.!?](?=\s)")
_MARK = re.compile(r"[,;:()–]")
_PARENTHESIS = re.compile(r"[(\[]")
_FEW = 8
"""The most words that open a sentence before its claim: "INC-27, yesterday 11:20 to 11:55: card payments failed"."""
_BETWEEN = re.compile(r"\bbetween\s+$", re.IGNORECASE)
_TO = re.compile(r"(?:to|until|till|through|[–-])\b|[–-]", re.IGNORECASE)
_AND = re.compile(r"and\s+", re.IGNORECASE)

_PERFECT = re.compile(
    r"\b(?:have|has|\w+['’](?:ve|s))\s+(?:(?:not|never|always|also|now|already)\s+)?"
    r"(?:been|had|known|kept|run|led|taught|held|driven|done|\w{2,}ed)\b",
    re.IGNORECASE,
)
"""A verb of a state that goes on: "have lived", "has been"."""
_ONGOING = re.compile(
    r"\bfor\s+the\s+next\b|(?:\b(?:am|is|are)|['’](?:m|re|s))\s+(?:(?:also|currently|still|now)\s+)?(?:\w+ing\b|on\b|in\b|at\b|away\b|off\b)"
    r"|\b(?:will|['’]ll)\b",
    re.IGNORECASE,
)
"""Words of a state that lasts for a time: "is staying", "are away", "for the next two weeks"."""


def date_claims(claims: Sequence[Assertion], text: str, at: datetime, zone: tzinfo) -> Iterator[Assertion]:
    """Yield the claims of a text told at a time, with the times from which and until which they hold, where it says so."""
    event: Assertion | None = None
    told = Counter(_sentence_around(text, claim) for claim in claims if not claim.is_result)
    for claim in claims:
        if claim.is_result and event is not None and event.begins:
            yield replace(claim, begins=event.begins, stops=event.stops, mood=event.mood)
            continue
        span = _sentence_around(text, claim)
        inside = (claim.start - span[0], claim.end - span[0]) if told[span] == 1 else None
        dated = _date_claim(claim, text[slice(*span)], inside, at, zone)
        event = event if claim.is_result else dated
        yield dated


def _date_claim(
    claim: Assertion, sentence: str, inside: tuple[int, int] | None, at: datetime, zone: tzinfo
) -> Assertion:
    """
    Return a claim with its times.

    Args:
        inside: where its words are in the sentence; None if there are other claims, whose dates may be theirs.
    """
    leaning: Leaning = "future" if _looks_ahead(claim) else "past"
    if _tells_age(claim):
        return claim
    since = _read_begin(claim, at, zone, leaning)
    ahead: Leaning = "past" if claim.verb_tense == "past" else "future"
    until = _read_time(f"until {claim.until}", at, zone, ahead) if claim.until else None
    if until is not None and "end of" in claim.until.casefold():
        until += _DAY  # the last day belongs to it
    span = None if _PUTS_OFF.search(sentence) else _read_span(sentence, at, zone, ahead)
    if span and until is None and (since is None or claim.since.startswith("from")):
        since, until = span
    if claim.relation in words("standing_in") and claim.when and until is None and claim.verb_tense != "past":
        since, until = _read_period(claim.when, at, zone)
    if since is None and claim.when:
        since = _begins_at(claim, _read_time(claim.when, at, zone, ahead), at)
    if inside and since is None and until is None:
        since, until = _read_sentence(claim, sentence, inside, at, zone)
    if until is None and (lasting := _read_length(claim, sentence)):
        until = move(since or at, lasting)
    if claim.mood == "plan" and since is not None and claim.is_announced:
        claim = replace(claim, mood="fact")  # it is settled, for that day
    return replace(claim, begins=since, stops=until)


def _looks_ahead(claim: Assertion) -> bool:
    """Tell whether a date without a year is ahead of a claim's note."""
    if claim.verb_tense == "past":
        return False
    is_to_come = claim.tense == "future" or claim.mood == "plan" or claim.changed or claim.is_event
    return is_to_come or bool(claim.until or claim.ends)


def _read_begin(claim: Assertion, at: datetime, zone: tzinfo, leaning: Leaning) -> datetime | None:
    """Return the day from which a claim says that it holds: what is so "from 1 May" is so on the nearest one."""
    if not claim.since:
        return None
    last, following = (_read_time(claim.since, at, zone, one) for one in ("past", "future"))
    is_so = claim.tense == "present" and claim.mood == "fact" and not claim.is_event
    if last and following and is_so and claim.since.startswith("from"):
        return min(last, following, key=lambda day: abs(day - at))
    return following if leaning == "future" else last


def _tells_age(claim: Assertion) -> bool:
    """Tell whether the date of a claim is that of its thing: "bought a Kia from 2022"."""
    is_act = claim.verb_tense == "past" and (claim.is_event or claim.is_result)
    return is_act and re.fullmatch(r"from \d{4}", claim.since) is not None


def _begins_at(claim: Assertion, day: datetime | None, at: datetime) -> datetime | None:
    """Return the day on which a claim began or will begin, if a day in its words can be that one."""
    if day is None:
        return None
    if claim.verb_tense == "past":
        return day if day <= at and (claim.is_event or claim.changed) else None
    is_act = claim.is_event or bool(claim.ends)
    if claim.mood == "plan" or (claim.tense == "present" and (is_act or claim.changed)):
        return day if is_act or day > at else None  # "two years ago" is past in any tense
    return None  # what only recurs then


def _read_sentence(
    claim: Assertion, sentence: str, inside: tuple[int, int], at: datetime, zone: tzinfo
) -> tuple[datetime | None, datetime | None]:
    """Return when a claim begins and ends by the dates of a sentence that says nothing else."""
    is_perfect = claim.verb_tense == "present" and _PERFECT.search(sentence) is not None
    found = dates(sentence, at, str(zone), "future" if _looks_ahead(claim) else "past", is_perfect)
    since = next((one.value for one in found if one.role in ("since", "for") and not one.has_time), None)
    if since or claim.since or len(found) != 1 or found[0].role != "at":
        return since, None
    day, said = found[0], sentence[found[0].start : found[0].end]
    if not _belongs(day, sentence, inside):
        return None, None
    if claim.kind == "time" and claim.value in said:
        return None, None  # "the meeting moved to 3 June"
    if claim.tense == "present" and _STAY.match(f"{claim.relation} {claim.value}") and not day.has_time:
        return _read_period(said, at, zone)
    return _begins_at(claim, day.value, at), None


def _belongs(day: Dated, sentence: str, inside: tuple[int, int]) -> bool:
    """Tell whether a date is that of the only claim of a sentence: it opens the sentence, or no mark is between them."""
    start, end = inside
    if day.start >= end:
        return not _MARK.search(sentence, end, day.start)
    return day.start >= start or not (_PARENTHESIS.search(sentence, 0, day.start) or sentence[:start].count(" ") > _FEW)


def _read_length(claim: Assertion, sentence: str) -> Amount | None:
    """Return how long a state of now or of later lasts: "I'm staying at Karim's for two weeks"."""
    if claim.verb_tense == "past" or claim.is_event or not _ONGOING.search(sentence) or _PERFECT.search(sentence):
        return None
    match = date_signs()["stay"].search(sentence)
    found = length(match["length"]) if match else None
    return found if found and (found.days or found.months) else None


def _read_span(text: str, at: datetime, zone: tzinfo, leaning: Leaning) -> tuple[datetime, datetime] | None:
    """Read "from 5 to 23 May", "5–23 May", "between June and August", "2015 to 2019": when something begins and stops."""
    match = _DAYS.search(text)
    if match and not (match["and"] and not _BETWEEN.search(text[: match.start()])):
        month, year = match["month"], match["year"] or ""
        first = _read_time(f"on {match['first']} {match['other'] or month} {year}", at, zone, leaning)
        last = _read_time(f"on {match['last']} {month} {year}", at, zone, leaning)
        if first and last and first < last:
            return first, last + _DAY
    if (years := _YEARS.search(text) or _BETWEEN_YEARS.search(text)) and years[1] < years[2]:
        return datetime(int(years[1]), 1, 1, tzinfo=zone), datetime(int(years[2]) + 1, 1, 1, tzinfo=zone)
    found = dates(text, at, str(zone), leaning)
    for one, other in pairwise(found):
        between = text[one.end : other.start].strip()
        joined = f"{between} {text[other.start : other.end]}".strip()
        is_between = _AND.match(joined) and _BETWEEN.search(text[: one.start])
        if (_TO.match(joined) or is_between) and not between.partition(" ")[2]:
            begin, end = one.value, period(other, text)[1]
            if begin.year != other.value.year and not _YEAR.search(text[one.start : one.end]):
                begin = Amount(months=12 * (other.value.year - begin.year)).after(begin)  # "from March to May 2023"
            if begin < end:
                return begin, end
    return None


def _read_period(text: str, at: datetime, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Read "in July", "next week", "on Friday": when the next such period begins and ends; None for what it does not say."""
    if "this week" in text.casefold():
        return None, (at + _DAY * (7 - at.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    found = dates(text, at, str(zone), "future")
    return period(found[0], text) if found else (None, None)


def _sentence_around(text: str, claim: Assertion) -> tuple[int, int]:
    """Return the span of the line or sentence of a passage in which a claim stands."""
    starts = [end.end() for end in _STOP.finditer(text, 0, claim.start)]
    stop = _STOP.search(text, claim.end)
    return max(starts, default=0), stop.start() + 1 if stop else len(text)


def _read_time(text: str, at: datetime, zone: tzinfo, leaning: Leaning) -> datetime | None:
    """Return the first date in some words, or None."""
    found = dates(text, at, str(zone), leaning)
    return found[0].value if found else None


def date_passage(
    passage: Passage, claims: Sequence[Assertion], at: datetime, zone: tzinfo
) -> tuple[datetime | None, datetime | None, datetime | None]:
    """
    Return when a passage of one sentence began to hold, the date that a passage is about, and when all of it stops.

    Several sentences hold from the note on; each claim has its own times.

    Args:
        claims: those of the passage, as `date_claims` returns them.
        at: the time of the note.
    """
    if len(passage.text) > LONGEST:
        return None, None, None
    told = [claim for claim in claims if claim.mood in ("fact", "past") and not claim.is_result]
    past = bool(told) and all(claim.tense == "past" for claim in told)
    found: list[Dated] = dates(passage.text, at, str(zone), "past" if past else "future")
    day = next((one.value for one in found if one.role == "at"), None)
    if len(passage.sentences) != 1:
        return None, day, None
    begun = [claim.begins for claim in told or claims if claim.begins]
    since = min(begun, default=None) or next((one.value for one in found if one.role in ("since", "for")), None)
    if begun and len(begun) < len(told):
        since = None  # some of it holds from the note on
    until = next((claim.stops for claim in claims if claim.stops), None)
    until = until if until and until > at and len(claims) == 1 else None
    if since is not None:
        happened = any(claim.is_event and claim.begins == day for claim in claims)
        return since, day if day != since or happened else None, until
    is_of_all = len(told) == sum(not claim.is_result for claim in claims)
    if day is not None and past and is_of_all and day <= at:
        return day, day, until
    return None, day, until
