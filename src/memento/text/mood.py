"""
Classify how a clause in the third person is meant: as a fact, as past, as a plan, as a mere possibility, as a question or a
command.

Only facts fill slots and end beliefs; plans may still give the date of something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from memento.text.tables import LEXICON, Row, compile_pattern, entries, fill
from memento.text.words import BASES, MODALS, PAST, base_of, is_adverb, is_past

Mood = Literal["fact", "past", "plan", "possible", "question", "command", "chatter"]
Tense = Literal["past", "present", "future"]


@dataclass(frozen=True, slots=True)
class Reading:
    """
    Mood and tense of a clause.

    `perfect`: a state that continues ("has lived"); `additional`: the clause says that something else holds too; `changed`: it says
    that something is new ("now", "switched").
    """

    mood: Mood
    tense: Tense = "present"
    perfect: bool = False
    additional: bool = False
    changed: bool = False


Tone = Literal["fact", "past", "plan", "wish", "rumour", "joke", "quotation", "possible", "question"]
"""How a statement is meant; the graph stores the same words."""


_WORD = re.compile(r"[\w'’]+")


class Sign(Row, frozen=True, kw_only=True):
    """A part of the expression that recognises a mood."""

    mood: str


@cache
def sign_rows() -> tuple[Sign, ...]:
    """Return the rows of the table of moods."""
    return tuple(entry.row for entry in entries(LEXICON / "moods.toml", Sign, {}, flags=re.IGNORECASE))


def join_signs(rows: Iterable[Sign]) -> Mapping[str, re.Pattern[str]]:
    """Compile the rows of each mood into one expression."""
    parts: dict[str, list[str]] = {}
    for row in rows:
        parts.setdefault(row.mood, []).append(fill(row.pattern, {}))
    return {mood: compile_pattern("|".join(texts), re.IGNORECASE) for mood, texts in parts.items()}


@cache
def signs() -> Mapping[str, re.Pattern[str]]:
    """Return the compiled expression of each mood."""
    return join_signs(sign_rows())


@lru_cache(maxsize=8192)
def reading(clause: str) -> Reading:
    """
    Tell how a clause in the third person is meant.

    >>> [reading(text).mood for text in ("USER lives in Oslo", "USER used to live in Oslo", "USER might go to Oslo")]
    ['fact', 'past', 'possible']
    >>> [reading(text).mood for text in ("USER will move to Oslo", "Is USER in Oslo?", "Buy milk")]
    ['plan', 'question', 'command']
    """
    tense, perfect = _tense(clause)
    return Reading(
        mood=_mood(clause, tense, perfect),
        tense=tense,
        perfect=perfect,
        additional=bool(signs()["additional"].search(clause)),
        changed=bool(signs()["changed"].search(clause)),
    )


def tone(clause: str, how: Reading) -> Tone:
    """
    Tell how a statement is meant: as a fact, or as only planned, wished, reported or said in jest.

    >>> [tone(text, reading(text)) for text in ("Ana left", "Gossip: Ana left", "Just kidding, Ana left", "USER wants to leave")]
    ['fact', 'rumour', 'joke', 'wish']
    """
    if how.mood == "question":
        return "question"
    if signs()["joke"].search(clause):
        return "joke"
    if signs()["rumour"].search(clause):
        return "rumour"
    if how.mood in ("possible", "command"):
        return (
            "quotation"
            if signs()["reported"].search(clause)
            else "wish"
            if signs()["wish"].search(clause)
            else "possible"
        )
    return "plan" if how.mood == "plan" else "past" if how.mood == "past" else "fact"


def is_no_longer(clause: str) -> bool:
    """
    Tell whether a clause is about something over, done or only possible, so that nothing in it can end again.

    >>> is_no_longer("USER no longer uses Vim"), is_no_longer("USER uses Vim")
    (True, False)
    """
    return reading(clause).mood in ("past", "possible", "plan") or bool(signs()["over"].search(clause))


def _mood(clause: str, tense: Tense, perfect: bool) -> Mood:
    if clause.rstrip("\"”') ").endswith(("?", "？")) or (
        signs()["question"].search(clause) and not clause.startswith("USER")
    ):
        return "question"
    if signs()["chatter"].search(clause) or _is_exclamation(clause):
        return "chatter"
    if _is_command(clause):
        return "command"
    if signs()["possible"].search(clause) or signs()["reported"].search(clause):
        return "possible"
    if signs()["plan"].search(clause) or tense == "future":
        return "plan"
    if perfect and signs()["goes-on"].search(clause):
        return "fact"
    if tense == "past" and signs()["until"].search(clause):
        return "past"
    if signs()["former"].search(clause) or (tense == "past" and signs()["state-then"].search(clause)):
        return "past"
    return "fact"


def _is_exclamation(clause: str) -> bool:
    """Tell whether a few words without a verb, a figure or the user are a mere exclamation: "Onward!", "Of course", "Jolene!"."""
    words = _WORD.findall(clause)
    return (
        0 < len(words) <= (3 if clause.rstrip().endswith("!") else 2)
        and "USER" not in clause
        and not re.search(r"\w\s*[:–—-]\s+\w", clause)
        and not any(base_of(word) or is_past(word) or word[0].isdigit() or "'" in word for word in words)
    )


def _is_command(clause: str) -> bool:
    """Tell whether the first significant word is a bare verb: "Please call Ana", "Don't use tabs"."""
    words = [
        word for word in _WORD.findall(clause)[:4] if word.lower() not in ("please", "kindly") and not is_adverb(word)
    ]
    if not words:
        return False
    first = words[0].lower().replace("’", "'")
    return first in ("don't", "let's") or (
        first in BASES
        and first not in PAST
        and words[0] != "USER"
        and not _has_later_verb(words[1:])
        and first not in ("love", "hope", "last")
    )


def _has_later_verb(words: list[str]) -> bool:
    """Tell whether one of the next words is finite, so that the first is a noun: "Work is busy"."""
    return any(
        word.lower() in ("is", "was", "are", "were", "has", "had", "does", "did") or word.lower() in MODALS
        for word in words[:2]
    )


def _tense(clause: str) -> tuple[Tense, bool]:
    """Return the tense of the first finite verb, and whether it is a perfect."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(clause)]
    for index, word in enumerate(words):
        rest = [later for later in words[index + 1 : index + 5] if not is_adverb(later) and later != "not"]
        if (
            (word in ("has", "have", "hasn't", "haven't") or word.endswith("'s"))
            and rest
            and (is_past(rest[0]) or rest[0] == "been")
            and (not word.endswith("'s") or rest[0] == "been")
        ):
            return "past", True
        if word in ("will", "won't", "'ll"):
            return "future", False
        if (
            word
            in (
                "is",
                "are",
                "am",
                "has",
                "have",
                "does",
                "do",
                "isn't",
                "aren't",
                "doesn't",
                "don't",
                "hasn't",
                "haven't",
            )
            or word in MODALS
        ):
            return (
                "future"
                if signs()["soon"].search(clause) and word in ("is", "are") and rest[:1] != ["using"]
                else "present"
            ), False
        if word in ("was", "were", "had", "did", "wasn't", "weren't", "hadn't", "didn't") or is_past(word):
            return "past", False
        if (
            index
            and word.endswith("s")
            and base_of(word)
            and words[index - 1] not in ("the", "a", "an", "my", "of", "user's")
        ):
            return "present", False
        if (
            word in ("split", "quit", "hurt", "hit", "cut", "put", "set", "let", "bet", "read")
            and (index or word in ("quit", "split", "cut", "hit"))
            and signs()["past-time"].search(clause)
        ):
            return "past", False
        if word in ("quit", "put", "cut", "let", "set", "hit") and _follows_user(words, index):
            return "past", False
    return "present", False


def _follows_user(words: list[str], index: int) -> bool:
    before = next((word for word in reversed(words[:index]) if not is_adverb(word)), "")
    return before == "user"
