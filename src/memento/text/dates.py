"""
Find the dates that a sentence names, as times in UTC: "in 2021" is the beginning of 2021, "last week" seven days before the note.

Days and longer spans begin in the user's time zone; amounts ("3 days ago") count back from the note itself.

*But:* "today" and "this morning" are no dates (the note's own time is more exact), and recurring times ("every Monday") have none.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache, lru_cache
from typing import Literal, cast
from zoneinfo import ZoneInfo

from memento.text.tables import LEXICON, named_patterns, section
from memento.text.words import MONTHS, NUMBER_WORDS, WEEKDAYS

_TABLE = LEXICON / "dates.toml"
_SEASONS, _DAYS = section(_TABLE, "seasons", dict[str, int]), section(_TABLE, "days", dict[str, int])
_UNITS = section(_TABLE, "units", dict[str, tuple[int, int, int]])
"""(months, days, minutes)"""
_FEASTS = section(_TABLE, "feasts", dict[str, tuple[int, str]])
"""(day, month) of fixed-date holidays, by words of their names."""
_LEADS = section(_TABLE, "leads", dict[str, frozenset[str]])


@cache
def date_signs() -> Mapping[str, re.Pattern[str]]:
    """Return the signs for dates, by name."""
    return named_patterns(_TABLE, {"NUMBERS": "|".join(NUMBER_WORDS)}, flags=re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A length of time in calendar units; adding months never leaves the resulting month."""

    months: int = 0
    days: int = 0
    minutes: int = 0

    def after(self, moment: datetime, times: int = 1) -> datetime:
        """
        Return the moment that is so much later, or earlier if `times` is negative.

        >>> Amount(months=1).after(datetime(2024, 3, 31), -1).isoformat()
        '2024-02-29T00:00:00'
        """
        count = moment.year * 12 + moment.month - 1 + self.months * times
        year, month = count // 12, count % 12 + 1
        day = min(moment.day, monthrange(year, month)[1])
        return moment.replace(year=year, month=month, day=day) + timedelta(
            days=self.days * times, minutes=self.minutes * times
        )


@dataclass(frozen=True, slots=True)
class Clock:
    """The moment `now` in the user's zone; `leaning` says whether a date without a year is in the past or in the future."""

    now: datetime
    leaning: Literal["past", "future"] = "past"

    @property
    def today(self) -> datetime:
        """The beginning of the user's day."""
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0)

    def absolute(self, text: str) -> datetime | None:
        """
        Parse a date in figures.

        >>> from datetime import UTC
        >>> Clock(datetime(2024, 5, 15, tzinfo=UTC)).absolute("5/6/2023").isoformat()
        '2023-05-06T00:00:00+00:00'
        """
        parsed = _parse(text)
        return parsed if parsed is None or parsed.tzinfo else parsed.replace(tzinfo=self.now.tzinfo)

    def day(self, day: int, month: str, year: str | None) -> datetime:
        """
        Return a day of a month; without a year, the nearest one in the direction that the sentence leans to.

        >>> from datetime import UTC
        >>> Clock(datetime(2024, 5, 15, tzinfo=UTC), "past").day(20, "May", None).year
        2023
        """
        value = self.today.replace(year=int(year) if year else self.now.year, month=_month(month), day=1)
        value = value.replace(day=day)
        if year:
            return value
        if self.leaning == "past":
            return value if value <= self.now else value.replace(year=value.year - 1)
        return value if value >= self.today else value.replace(year=value.year + 1)

    def word(self, word: str) -> datetime:
        """Return the day that "yesterday", "tomorrow" and the like name."""
        return self.today + timedelta(days=_DAYS[" ".join(word.lower().split())])

    def feast(self, text: str, year: str | None) -> datetime:
        """
        Return a fixed-date holiday; without a year, the nearest one in the direction that the sentence leans to.

        >>> from datetime import UTC
        >>> Clock(datetime(2024, 5, 15, tzinfo=UTC)).feast("last Christmas", None).isoformat()[:10]
        '2023-12-25'
        """
        lowered = text.lower()
        near = next((word for word in ("last", "next") if lowered.startswith(word)), "")
        name = " ".join(lowered.removeprefix(near).split())
        day, month = next(found for words, found in _FEASTS.items() if words in name)
        value = self.day(day, month, year)
        if year or not near or (near == "last") == (value <= self.now):
            return value
        return value.replace(year=value.year + (1 if near == "next" else -1))

    def weekday(self, name: str, near: str | None) -> datetime:
        """
        Return the last or the next such weekday; with "this" or no word, the sentence decides.

        >>> from datetime import UTC
        >>> wednesday = datetime(2024, 5, 15, 9, tzinfo=UTC)
        >>> [Clock(wednesday, "future").weekday("Friday", near).day for near in ("last", None, "next")]
        [10, 17, 17]
        """
        ahead = (WEEKDAYS[name.lower()] - self.now.weekday()) % 7
        near = _near(near)
        if near in _LEADS["back"] or (near not in _LEADS["ahead"] and self.leaning == "past"):
            return self.today - timedelta(days=(7 - ahead) if ahead or near in _LEADS["back"] else 0)
        return self.today + timedelta(days=ahead or (7 if near in _LEADS["ahead"] else 0))

    def span(self, group: dict[str, str | None]) -> datetime | None:
        """Return the beginning of a week, month, season, quarter or year; "end of" and "middle of" return their own day in it."""
        edge = (group["edge"] or group["edge2"] or "").lower()
        begin, size = self._begin(group, bool(edge))
        if begin is None or not edge or edge in ("beginning", "start", "early", "first half"):
            return begin
        if edge == "end":
            return size.after(begin) - timedelta(days=1)
        middle = (size.after(begin) - begin) / (1.5 if edge == "late" else 2)
        return (begin + middle).replace(hour=0, minute=0, second=0, microsecond=0)

    def _begin(self, group: dict[str, str | None], aligned: bool) -> tuple[datetime | None, Amount]:
        """Return where the span begins and its length; `aligned` starts a week on its Monday and a month on its first day."""
        if month := group["m3"] or group["m4"] or group["m5"]:
            return self._month(_month(month), group["y3"], _near(group["near1"])), Amount(months=1)
        if season := group["season"]:
            return self._first(int(group["y4"] or 0), _SEASONS[season.lower()]), Amount(months=3)
        if lone := group["lone"]:
            begins = _SEASONS[lone.lower()]
            if self.leaning == "past":
                sign = -1 if self._first(self.now.year, begins) > self.now else 0
                return self._season(begins, sign), Amount(months=3)
            return self._season(begins, 1), Amount(months=3)
        if quarter := group["quarter"]:
            return self._quarter(int(quarter[1]), group["y6"]), Amount(months=3)
        if year := group["y5"]:
            return self._first(int(year), 1), Amount(months=12)
        return self._near_span((group["span"] or "").lower(), _near(group["near2"]), aligned)

    def _near_span(self, span: str, near: str, aligned: bool) -> tuple[datetime | None, Amount]:
        sign = -1 if near in _LEADS["back"] else 1 if near in _LEADS["ahead"] else 0
        if span in _SEASONS:
            return self._season(_SEASONS[span], sign), Amount(months=3)
        if span == "weekend":
            return self.today + timedelta(days=5 - self.now.weekday() + 7 * sign), Amount(days=2)
        sizes = {
            "week": Amount(days=7),
            "month": Amount(months=1),
            "quarter": Amount(months=3),
            "year": Amount(months=12),
        }
        size = sizes.get(span, Amount(months=120))
        if not sign and not aligned:
            # "this week" says no more than the note's own time.
            return None, size
        moved = size.after(self.now, sign)
        return (self._aligned(moved, span) if aligned else moved), size

    def _aligned(self, moment: datetime, span: str) -> datetime:
        day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        if span == "week":
            return day - timedelta(days=day.weekday())
        return day.replace(day=1, month=1 if span in ("year", "decade") else day.month)

    def _month(self, month: int, year: str | None, near: str) -> datetime:
        if year:
            return self._first(int(year), month)
        this = self._first(self.now.year, month)
        back = near in _LEADS["back"] or (near not in _LEADS["ahead"] and near != "this" and self.leaning == "past")
        if back:
            return (
                this
                if this <= self.now and not (near in _LEADS["back"] and month == self.now.month)
                else this.replace(year=this.year - 1)
            )
        later = this < self._first(self.now.year, self.now.month) or (
            near in _LEADS["ahead"] and month == self.now.month
        )
        return this.replace(year=this.year + 1) if later and near != "this" else this

    def _season(self, month: int, sign: int) -> datetime:
        this = self._first(self.now.year, month)
        if sign < 0:
            over = Amount(months=3).after(this) <= self.now
            return this if over else this.replace(year=this.year - 1)
        return this.replace(year=this.year + 1) if sign > 0 and this <= self.now else this

    def _quarter(self, number: int, year: str | None) -> datetime:
        this = self._first(int(year) if year else self.now.year, 3 * number - 2)
        if year:
            return this
        if self.leaning == "past":
            return this if this <= self.now else this.replace(year=this.year - 1)
        return this if Amount(months=3).after(this) > self.now else this.replace(year=this.year + 1)

    def _first(self, year: int, month: int) -> datetime:
        return self.today.replace(year=year, month=month, day=1)


def _near(word: str | None) -> str:
    return " ".join((word or "").lower().split())


def _month(name: str) -> int:
    return MONTHS[name.lower().rstrip(".")]


@lru_cache(maxsize=512)
def _parse(text: str) -> datetime | None:
    # Importing and initialising dateparser takes 0.1 s, so it is only used for dates in figures.
    import dateparser

    return cast("datetime | None", dateparser.parse(text, languages=["en"]))


_RECENT = timedelta(days=31)
_PLAIN = frozenset(("", "at", "by", "for", "from", "in", "of", "on"))
"""The leads of a date that another word may deny: "not until May" denies none."""

Role = Literal["at", "since", "until", "for"]
Leaning = Literal["past", "future"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """
    A date in a sentence.

    `start` and `end` are its span including the preposition; `has_time` is true if it names an hour. `role` is "since" for the
    beginning of a state, "until" for its end, and "for" for a length of time up to the note.
    """

    value: datetime
    start: int
    end: int
    role: Role = "at"
    has_time: bool = False


def dates(text: str, at: datetime, zone: str = "UTC", leaning: Leaning = "past", perfect: bool = False) -> list[Dated]:
    """
    Return the dates of a sentence, in order.

    Args:
        leaning: whether a date without a year is the last or the next such day.
        perfect: the verb says that a state continues ("has lived"), so that "for two years" gives its beginning.

    >>> at = datetime(2024, 5, 15, 12, tzinfo=UTC)
    >>> [f"{found.value:%Y-%m-%d} {found.role}" for found in dates("I left Acme last week and lived in Oslo since 2021", at)]
    ['2024-05-08 at', '2021-01-01 since']
    >>> [f"{found.value:%Y-%m-%d %H:%M}" for found in dates("the meeting is at 3pm on Friday", at, leaning="future")]
    ['2024-05-17 15:00']
    """
    if not date_signs()["hint"].search(text):
        return []
    clock = Clock(at.astimezone(zone_of(zone)), leaning)
    found: list[Dated] = []
    end = 0
    recurs = bool(date_signs()["often"].search(text))
    behind = Clock(clock.now, "past")
    for match in date_signs()["date"].finditer(text):
        # What began "since January" began in the past, whatever the rest of the sentence leans to.
        lead = (match["lead"] or "").lower().strip()
        one = _read_date(match, text, behind if lead.endswith("since") else clock)
        is_put_on = _is_scheduled(text[: match.start()], match["lead"] or "")
        if (
            one
            and leaning == "past"
            and (is_put_on or date_signs()["starts"].match(lead))
            and not (match["weekday"] or date_signs()["range-follows"].match(text, one.end))
        ):
            # "From 1 July", said in June, is in the future whatever the tense: the nearer of the last and the next one is meant;
            # "postponed to 1 March" is the next one, unless the last one is a few weeks ago.
            other = _read_date(match, text, Clock(clock.now, "future")) or one
            if is_put_on:
                one = one if clock.now - one.value < _RECENT else other
            else:
                one = min(one, other, key=lambda either: abs(either.value - clock.now))
        if one is not None and one.start >= end and not (recurs and match["weekday"]):
            found.append(one)
            end = one.end
    return sorted(found + _lengths(text, clock, perfect, found), key=lambda one: one.start)


def period(found: Dated, text: str) -> tuple[datetime, datetime]:
    """
    Return the begin and end of the year, month, week or day that a date in a text names.

    >>> text = "in May"
    >>> since, until = period(dates(text, datetime(2026, 7, 1, tzinfo=UTC))[0], text)
    >>> f"{since:%Y-%m-%d} {until:%Y-%m-%d}"
    '2026-05-01 2026-06-01'
    """
    words = text[found.start : found.end].lower().strip(" ?.")
    since = found.value.replace(hour=0, minute=0, second=0, microsecond=0)
    if re.search(r"\b(?:week|weekend)$", words):
        since -= timedelta(days=since.weekday())
        return since, since + timedelta(days=7)
    if words.endswith("year") or re.fullmatch(r"(?:in\s+|during\s+)?\d{4}", words):
        return since.replace(month=1, day=1), since.replace(year=since.year + 1, month=1, day=1)
    if words.endswith("month") or (since.day == 1 and not re.search(r"\b\d{1,2}(?:st)?\b", words)):
        since = since.replace(day=1)
        return since, (since + timedelta(days=32)).replace(day=1)
    return since, since + timedelta(days=1)


def zone_of(name: str) -> tzinfo:
    """
    Return the named time zone, or UTC if the name is unknown.

    >>> str(zone_of("Nowhere/Atlantis"))
    'UTC'
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


def _read_date(match: re.Match[str], text: str, clock: Clock) -> Dated | None:
    group = match.groupdict()
    lead = (group["lead"] or "").strip().lower()
    before = text[: match.start()]
    if date_signs()["recurs"].search(before) or date_signs()["recurs-behind"].match(text, match.end()):
        return None
    if not _plausible(match, lead) or (lead in _PLAIN and date_signs()["denied"].search(before)):
        return None
    if group["y5"] and lead == "from" and date_signs()["of-a-thing"].search(before):
        return None  # "a Kia from 2022" says how old a thing is
    try:
        value = _value(group, clock)
        bare = group["clock3"]
        # An appointment "at 3" is in the afternoon.
        hour = group["clock1"] or group["clock2"] or (f"{bare}pm" if bare and int(bare) < 8 else bare and f"{bare}:00")
        value = _at_clock(value, hour) if value is not None and hour else value
        if value is None:
            return None
        return Dated(
            value=value.astimezone(UTC),
            start=match.start(),
            end=match.end(),
            role="at" if lead == "from" and date_signs()["range-follows"].search(match.group()) else _role(lead),
            has_time=bool(hour),
        )
    except (ValueError, OverflowError):
        return None


def _plausible(match: re.Match[str], lead: str) -> bool:
    """Tell whether words that may mean something else ("may", "march", a bare number, "the year") are a date here."""
    group = match.groupdict()
    lone = group["m5"] or group["y5"]
    if group["m5"]:
        proper = group["m5"][0].isupper() and match.start("m5") > 0
        return bool(
            (lead and lead not in ("at", "to", "of", "for"))
            or group["edge"]
            or group["edge2"]
            or (proper and lone.lower() not in ("may", "march", "mar", "jan"))
        )
    if group["y5"]:
        return bool(
            (lead and lead not in ("at", "to", "for", "on", "over", "through")) or group["edge"] or group["edge2"]
        )
    if (group["near2"] or "").lower() == "the":
        return bool(
            group["edge"]
            or (
                group["span"].lower() in ("spring", "summer", "autumn", "fall", "winter")
                and lead in ("in", "during", "since")
            )
        )
    if (group["near2"] or "").lower() == "this" and group["span"].lower() == "decade":
        return False
    return not (
        group["m2"] and group["m2"].lower() == "may" and group["m2"][0].islower() and not lead and match.start("m2") > 0
    )


def _is_scheduled(before: str, lead: str) -> bool:
    return date_signs()["scheduled"].search(before + lead.lower()) is not None


def _role(lead: str) -> Role:
    return next((role for role in ("since", "until") if lead in _LEADS[role]), "at")


def _value(group: dict[str, str | None], clock: Clock) -> datetime | None:
    """Return the beginning of the named date, in the user's zone."""
    if text := group["iso"] or group["numeric"]:
        return clock.absolute(text)
    if day := group["d1"] or group["d2"]:
        month = group["m1"] or group["m2"] or ""
        return clock.day(int(re.sub(r"\D", "", day)), month, group["y1"])
    if amount := group["ago"]:
        return length(amount).after(clock.now, -1)
    if amount := group["ahead"]:
        return length(amount).after(clock.now)
    if feast := group["feast"]:
        return clock.feast(feast, group["y7"])
    if word := group["word"]:
        return clock.word(word)
    if weekday := group["weekday"]:
        return clock.weekday(weekday, group["near3"])
    return clock.span(group)


def _at_clock(value: datetime, text: str) -> datetime:
    """
    Return the same day at a time of day.

    >>> _at_clock(datetime(2024, 5, 5), "3:30 pm").time().isoformat()
    '15:30:00'
    """
    if text.lower() in ("noon", "midnight"):
        return value.replace(hour=12 if text.lower() == "noon" else 0, minute=0, second=0, microsecond=0)
    parts = date_signs()["clock-parts"].match(text)
    if parts is None:
        return value
    hour, half = int(parts[1]), (parts[3] or "").lower()
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    return value.replace(hour=hour, minute=int(parts[2] or 0), second=0, microsecond=0)


def length(amount: str) -> Amount:
    """
    Parse an amount of time in words.

    >>> length("two months").months, length("a couple of days").days, length("half a year").months
    (2, 2, 6)
    """
    words = amount.lower().split()
    unit = next(word for word in reversed(words) if word not in ("and", "a", "half")).rstrip("s")
    number = next((_number(word) for word in reversed(words[:-1]) if _number(word)), 1)
    halves = 2 * number + 1 if "half" in words and "and" in words else 1 if "half" in words else 2 * number
    months, days, minutes = _UNITS[unit]
    return Amount(months=months * halves // 2, days=days * halves // 2, minutes=minutes * halves // 2)


def move(moment: datetime, amount: Amount, times: int = 1) -> datetime | None:
    """
    Return the moment that is so much later, or earlier if `times` is negative; None if no calendar has it.

    >>> move(datetime(2024, 3, 31), Amount(months=12_000), -3)
    """
    try:
        return amount.after(moment, times)
    except (ValueError, OverflowError):
        return None


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBER_WORDS.get(word, 0)


def _lengths(text: str, clock: Clock, perfect: bool, known: list[Dated]) -> list[Dated]:
    """Find "for two years" if it gives the beginning of a state, and "in two weeks" if the sentence is about the future."""
    found = [(match, -1) for match in date_signs()["length"].finditer(text)] if perfect else []
    found += [(match, 1) for match in date_signs()["in-so-much"].finditer(text)] if clock.leaning == "future" else []
    taken = [(one.start, one.end) for one in known]
    return [
        Dated(
            value=value.astimezone(UTC),
            start=match.start(),
            end=match.end(),
            role="for" if sign < 0 else "at",
        )
        for match, sign in found
        if (value := move(clock.now, length(match["length"]), sign))
        and not any(start < match.end() and match.start() < end for start, end in taken)
    ]


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as far as a question gives it: a day, a month with or without a year, or a year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def full(self) -> date | None:
        """Return the day if year, month and day are given and valid together."""
        try:
            return date(self.year, self.month, self.day) if self.year and self.month and self.day else None
        except ValueError:
            return None


def find_dates(question: str) -> list[PartialDate]:
    """
    Return the dates that a question names, in order.

    >>> find_dates("What did I do on 8 May 2023, and in June?")
    [PartialDate(year=2023, month=5, day=8), PartialDate(year=None, month=6, day=None)]
    """
    found = []
    for match in date_signs()["partial"].finditer(question):
        group = match.groupdict()
        if group["iso"]:
            year, month, day = (int(part) for part in group["iso"].split("-"))
            found.append(PartialDate(year, month, day))
        elif group["only"]:
            found.append(PartialDate(int(group["only"])))
        elif group["month"].islower() and group["month"] in ("may", "march", "mar"):
            continue  # the verb, not the month
        else:
            month = MONTHS[group["month"].lower()]
            number = group["day"] or group["day2"]
            found.append(
                PartialDate(int(group["year"]) if group["year"] else None, month, int(number) if number else None)
            )
    return found


def is_date_word(word: str) -> bool:
    """
    Tell whether a word names a month or a weekday, in full or abbreviated.

    >>> is_date_word("May"), is_date_word("Sept"), is_date_word("Friday"), is_date_word("Mayer")
    (True, True, True, False)
    """
    return word.lower() in MONTHS or word.lower() in WEEKDAYS
