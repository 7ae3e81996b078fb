"""Calendar arithmetic seen from one moment: where "next Friday", "last summer" or "June" begin."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, cast

from memento.consolidation.rules.lexicon import MONTHS, WEEKDAYS

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_FEASTS = (
    (re.compile(r"christmas\s+eve"), (24, "december")),
    (re.compile(r"christmas"), (25, "december")),
    (re.compile(r"boxing"), (26, "december")),
    (re.compile(r"eve"), (31, "december")),
    (re.compile(r"new\s+year"), (1, "january")),
    (re.compile(r"halloween"), (31, "october")),
)
"""(words, (day, month)) of feasts that have a fixed day."""
_BACK = ("last", "past", "previous", "this past")
_AHEAD = ("next", "coming", "this coming", "the coming", "the following")


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A length of time as the calendar counts it; adding months stays within the month that they lead to."""

    months: int = 0
    days: int = 0
    minutes: int = 0

    def after(self, moment: datetime, times: int = 1) -> datetime:
        """
        The moment so much later, or earlier when `times` is negative.

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
    """The moment `now` in the user's zone; `leaning` says where a date without a year lies."""

    now: datetime
    leaning: Literal["past", "future"] = "past"

    @property
    def today(self) -> datetime:
        """Where the user's day begins."""
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0)

    def absolute(self, text: str) -> datetime | None:
        """
        A date in figures.

        >>> from datetime import UTC
        >>> Clock(datetime(2024, 5, 15, tzinfo=UTC)).absolute("5/6/2023").isoformat()
        '2023-05-06T00:00:00+00:00'
        """
        parsed = _parsed(text)
        return parsed if parsed is None or parsed.tzinfo else parsed.replace(tzinfo=self.now.tzinfo)

    def day(self, day: int, month: str, year: str | None) -> datetime:
        """
        A day of a month; without a year the nearest one on the side that the sentence leans to.

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
        """Yesterday, tomorrow and their neighbours."""
        lowered = " ".join(word.lower().split())
        days = {
            "yesterday": -1,
            "tomorrow": 1,
            "the day before yesterday": -2,
            "the day after tomorrow": 2,
            "last night": -1,
            "the night before last": -2,
            "the week before last": -14,
        }
        return self.today + timedelta(days=days.get(lowered, -3))

    def feast(self, text: str, year: str | None) -> datetime:
        """
        A feast with a fixed day; without a year the nearest on the side that the sentence leans to.

        >>> from datetime import UTC
        >>> Clock(datetime(2024, 5, 15, tzinfo=UTC)).feast("last Christmas", None).isoformat()[:10]
        '2023-12-25'
        """
        lowered = text.lower()
        near = next((word for word in ("last", "next") if lowered.startswith(word)), "")
        name = lowered.removeprefix(near)
        day, month = next(found for words, found in _FEASTS if words.search(name))
        value = self.day(day, month, year)
        if year or not near or (near == "last") == (value <= self.now):
            return value
        return value.replace(year=value.year + (1 if near == "next" else -1))

    def weekday(self, name: str, near: str | None) -> datetime:
        """
        The last or the next such day; "this" and no word at all follow the sentence.

        >>> from datetime import UTC
        >>> wednesday = datetime(2024, 5, 15, 9, tzinfo=UTC)
        >>> [Clock(wednesday, "future").weekday("Friday", near).day for near in ("last", None, "next")]
        [10, 17, 17]
        """
        ahead = (WEEKDAYS[name.lower()] - self.now.weekday()) % 7
        near = _near(near)
        if near in _BACK or (near not in _AHEAD and self.leaning == "past"):
            return self.today - timedelta(days=(7 - ahead) if ahead or near in _BACK else 0)
        return self.today + timedelta(days=ahead or (7 if near in _AHEAD else 0))

    def span(self, group: dict[str, str | None]) -> datetime | None:
        """A week, month, season, quarter or year; "end of" and "middle of" take their own day of it."""
        edge = (group["edge"] or group["edge2"] or "").lower()
        begin, size = self._begin(group, bool(edge))
        if begin is None or not edge or edge in ("beginning", "start", "early", "first half"):
            return begin
        if edge == "end":
            return size.after(begin) - timedelta(days=1)
        middle = (size.after(begin) - begin) / (1.5 if edge == "late" else 2)
        return (begin + middle).replace(hour=0, minute=0, second=0, microsecond=0)

    def _begin(self, group: dict[str, str | None], aligned: bool) -> tuple[datetime | None, Amount]:
        """Where the span begins and how long it is; `aligned` starts a week on its Monday and a month on its first."""
        if month := group["m3"] or group["m4"] or group["m5"]:
            return self._month(_month(month), group["y3"], _near(group["near1"])), Amount(months=1)
        if season := group["season"]:
            return self._first(int(group["y4"] or 0), _SEASONS[season.lower()]), Amount(months=3)
        if quarter := group["quarter"]:
            return self._quarter(int(quarter[1]), group["y6"]), Amount(months=3)
        if year := group["y5"]:
            return self._first(int(year), 1), Amount(months=12)
        return self._near_span((group["span"] or "").lower(), _near(group["near2"]), aligned)

    def _near_span(self, span: str, near: str, aligned: bool) -> tuple[datetime | None, Amount]:
        sign = -1 if near in _BACK else 1 if near in _AHEAD else 0
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
            # "this week" says no more than the note's own time does.
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
        back = near in _BACK or (near not in _AHEAD and near != "this" and self.leaning == "past")
        if back:
            return (
                this
                if this <= self.now and not (near in _BACK and month == self.now.month)
                else this.replace(year=this.year - 1)
            )
        later = this < self._first(self.now.year, self.now.month) or (near in _AHEAD and month == self.now.month)
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
def _parsed(text: str) -> datetime | None:
    # dateparser takes 0.1 s to import and to warm up: only a date in figures pays for it.
    import dateparser

    return cast("datetime | None", dateparser.parse(text, languages=["en"]))
