"""Whether two texts that are alike are of different things, by the names and the numbers in them."""

from __future__ import annotations

import re

from memento.search.subjects import OPENERS

# Capitalised words, and single letters but "I" and an article that opens a text.
NAME = re.compile(r"\b(?:[^\W\d_a-z]\w+|(?<=\s)[^\W\d_a-zI]\b)")
NUMBER = re.compile(r"\b\w*\d\w*")


def differ(marks: re.Pattern[str], one: str, other: str) -> bool:
    """
    Whether each of two texts has a name, or a number, that the other has not.

    >>> differ(NAME, "Agent A likes tea.", "Agent B likes tea."), differ(NAME, "I own a car.", "My car is red.")
    (True, False)
    >>> differ(NUMBER, "The dog weighs 20 kg.", "The dog weighs 25 kg."), differ(NUMBER, "It is 9.", "It is.")
    (True, False)
    """
    first, second = (
        {mark for mark in marks.findall(text) if len(mark) == 1 or mark.casefold() not in OPENERS}
        for text in (one, other)
    )
    return bool(first - second) and bool(second - first)
