"""What a question names and what kind of answer it wants: people, dates, a time, a number."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTH = "|".join(rf"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>{_MONTH})\b\.?"
    rf"(?:\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?"
    rf"|\b(?P<iso>(?:19|20)\d\d-\d\d-\d\d)\b|\b(?P<only>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_DATE_WORD = re.compile(
    rf"{_MONTH}|sept|(?:mon|tue|wed|thu|fri|sat|sun)|(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE
)
_WHEN = re.compile(
    r"\b(when|how long|what (?:date|day|month|year|time)|which (?:date|day|month|year|week))\b", re.IGNORECASE
)
_HOW_MANY = re.compile(r"\b(how (?:many|much|often|old|far)|what number)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """A date as far as a question gives it: a day, a month of some or of a known year, or a year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def full(self) -> date | None:
        """The day, when year, month and day are there and make one."""
        try:
            return date(self.year, self.month, self.day) if self.year and self.month and self.day else None
        except ValueError:
            return None


def dates(question: str) -> list[Named]:
    """
    The dates that a question names, in order.

    >>> dates("What did I do on 8 May 2023, and in June?")
    [Named(year=2023, month=5, day=8), Named(year=None, month=6, day=None)]
    """
    found = []
    for match in _DATE.finditer(question):
        group = match.groupdict()
        if group["iso"]:
            year, month, day = (int(part) for part in group["iso"].split("-"))
            found.append(Named(year, month, day))
        elif group["only"]:
            found.append(Named(int(group["only"])))
        elif group["month"].islower() and group["month"] in ("may", "march", "mar"):
            continue  # the verb, not the month
        else:
            month = 1 + next(i for i, name in enumerate(_MONTHS) if name.startswith(group["month"].lower()[:3]))
            number = group["day"] or group["day2"]
            found.append(Named(int(group["year"]) if group["year"] else None, month, int(number) if number else None))
    return found


def is_date_word(word: str) -> bool:
    """
    Whether a word is the name of a month or of a day of the week, whole or shortened.

    >>> is_date_word("May"), is_date_word("Sept"), is_date_word("Friday"), is_date_word("Mayer")
    (True, True, True, False)
    """
    return _DATE_WORD.fullmatch(word) is not None


def wants_time(question: str) -> bool:
    """Whether the answer is a time or a date."""
    return _WHEN.search(question) is not None


def wants_number(question: str) -> bool:
    """Whether the answer is a number."""
    return _HOW_MANY.search(question) is not None


def without(question: str, names: Collection[str]) -> str:
    """
    The question without the names of those who take part in the conversation; the question itself when nothing else is left.

    An embedder that sees a name finds greetings, not answers.

    >>> without("What does Caroline's sister think of Mel?", ["Caroline", "Melanie"])
    'What does sister think of ?'
    """
    forms = sorted(short_forms(names), key=len, reverse=True)
    if not forms:
        return question
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, forms))})\b(?:['’]s)?", re.IGNORECASE)
    stripped = " ".join(pattern.sub(" ", question).split())
    return stripped if re.search(r"\w", stripped) else question


def named_among(question: str, names: Collection[str]) -> list[str]:
    """The names of which the question has the whole, the first part or the usual short form, in the order given."""
    words = set(re.findall(r"\w+", question.casefold()))
    return [name for name in names if not words.isdisjoint(_called(name))]


@lru_cache(maxsize=4096)
def _called(name: str) -> frozenset[str]:
    """The short forms of a name that are one word, case folded."""
    return frozenset(form.casefold() for form in short_forms([name]) if " " not in form)


def short_forms(names: Collection[str]) -> set[str]:
    """
    How people call each other: the whole name, the first one, its first three letters.

    >>> sorted(short_forms(["Melanie Ray"]))
    ['Mel', 'Melanie', 'Melanie Ray']
    """
    forms = set()
    for name in names:
        first = name.split()[0] if name.split() else name
        forms |= {name, first} | ({first[:3]} if len(first) > 4 else set())
    return {form for form in forms if form}


def is_first_person(question: str) -> bool:
    """
    Whether the question is about the one who asks.

    >>> is_first_person("Where do I work?"), is_first_person("Our budget?"), is_first_person("Who in the US works?")
    (True, True, False)
    """
    return re.search(r"\bI\b|\b(?:[Mm]y|me|mine|myself|[Ww]e|[Oo]ur|ours|us|ourselves)\b", question) is not None


def of_whom(question: str) -> tuple[bool, ...]:
    """
    Whose properties a question in the first person asks for: True for the user's own, False for those of somebody else.

    >>> of_whom("Where do I work?"), of_whom("Where does my elder brother work?"), of_whom("Where did I meet my boss?")
    ((True,), (False,), (True, False))
    """
    if not _KIN.search(question):
        return (True,)
    return (True, False) if re.search(r"\b(?:I|[Ww]e)\b", question) else (False,)


_KIN = re.compile(
    r"\b(?:my|our)\s+(?:\w+\s+){0,2}?(?:step|grand|half-|great-)*(?:brother|sister|sibling|mother|mum|mom|father|dad|parent|son|"
    r"daughter|child|kid|uncle|aunt|cousin|nephew|niece|wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|friend|"
    r"boss|manager|colleague|coworker|co-worker|neighbou?r|flatmate|roommate|teacher|doctor|dentist|landlord|in-law)",
    re.IGNORECASE,
)


def is_assistant(participant: str) -> bool:
    """
    Whether a participant of a conversation is a program that answers, by the names that chat formats give it.

    >>> is_assistant("Assistant"), is_assistant("Ana")
    (True, False)
    """
    return participant.casefold() in _ASSISTANTS


_ASSISTANTS = frozenset("assistant ai bot chatbot model agent system tool".split())  # noqa: SIM905


def asked_slots(question: str) -> list[str]:
    """
    The properties of one value at a time that a question asks for, by their names in the graph (`mem:slot`).

    >>> asked_slots("Where do I work now?"), asked_slots("What did I eat?")
    (['employer'], [])
    """
    return [slot for slot, cue in _SLOTS.items() if cue.search(question)]


KIN_SLOTS = frozenset(("partner", "manager"))
"""Slots of the user that a person fills."""

_SLOTS = {
    slot: re.compile(rf"\b(?:{cues})\b", re.IGNORECASE)
    for slot, cues in {
        "employer": r"employer|where\b.{0,30}\bwork(?:ing|s|ed)?|(?:who|company|companies)\b.{0,30}\bwork(?:ing|s|ed)? (?:for|at)",
        "job title": r"job(?: title)?|role|position|profession|occupation|do for a living",
        "home": r"(?:where|city|town|country)\b.{0,30}\b(?:live|living|lives|lived|reside|based)|home|address|residence",
        "name": r"(?:my|full|first|last) name|who am I|called",
        "manager": r"manager|boss|supervisor|report to",
        "partner": r"partner|wife|husband|spouse|girlfriend|boyfriend|married",
        "editor": r"editor|IDE",
        "browser": r"browser",
        "operating system": r"operating system|OS",
        "team size": r"team size|(?:many|people|big|large)\b.{0,30}\bteam|team\b.{0,20}\bsize",
        "theme": r"(?:dark|light) mode|theme",
        "age": r"how old|age",
        "birthday": r"birthday|born",
        "phone": r"phone|number",
        "email": r"e-?mail",
        "diet": r"diet|vegetarian|vegan",
    }.items()
}
