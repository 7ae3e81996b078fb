"""The queries about memory that are there to be read and changed: what a page offers, each with its title and its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memento.graph.binding import query

EXAMPLES = (
    "library/search_then",
    "library/search_sources",
    "library/search_joined",
    "library/alike",
    "library/successions",
    "library/contradictions",
    "library/disputed",
    "library/statements",
    "library/entity_history",
    "library/who_told",
    "library/changed_since",
    "library/why",
    "library/cases_earned",
    "library/cases_chosen",
)
"""In the order in which they are best read."""

_HEADER = re.compile(r"\A(?:#[^\n]*\n)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A query: the name of its file, its first sentence, its text without the header."""

    name: str
    title: str
    sparql: str


def examples() -> list[Example]:
    """
    Every example.

    >>> examples()[0].title.partition(":")[0]
    'What answers a question, as it was true at one time'
    """
    texts = ((name, query(name).text) for name in EXAMPLES)
    return [
        Example(name=name, title=text.partition("\n")[0].removeprefix("# "), sparql=_HEADER.sub("", text))
        for name, text in texts
    ]
