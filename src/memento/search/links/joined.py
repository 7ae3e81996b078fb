"""What several graphs together know of a name, for one question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import fsum, log
from typing import NamedTuple

from memento.search.links.names import LONGEST, read
from memento.search.links.table import Entity, Links
from memento.search.subjects import OPENERS

COMMON = 0.03
"""What more than this share of memories mentions links nothing; nobody's subject then, it is no name."""


class Name(NamedTuple):
    """A name as some graphs together know it."""

    entities: list[Entity]
    df: int  # memories that mention it
    subjects: int  # memories whose subject it is
    idf: float

    @property
    def strength(self) -> float:
        """idf / W: what the name gives to a memory that is surely about it."""
        return self.idf / max(1.0, fsum(entity.weight for entity in self.entities))


class Joined:
    """The links of the graphs that one reader sees: names are joined by their labels, counts added. For one question."""

    def __init__(self, links: Sequence[Links]) -> None:
        self._links = links
        self._names: dict[str, Name] = {}
        self._mentions: dict[int, set[str]] = {}

    @cached_property
    def n(self) -> int:
        """Memories in all."""
        return sum(map(len, self._links))

    def mentions(self, node: int) -> set[str]:
        """The labels that a memory mentions; none for a node that takes no part."""
        known = self._mentions.get(node)
        if known is None:
            known = next((links.mentions(node) for links in self._links if node in links), set())
            self._mentions[node] = known
        return known

    def is_subject(self, label: str) -> bool:
        """Whether some memory is about what goes by this name."""
        return any(links.is_subject(label) for links in self._links)

    def is_tie(self, label: str) -> bool:
        """Whether two memories that mention a name have something in common: few others mention it."""
        name = self.name(label)
        return name.idf > 0 and name.df <= max(COMMON * self.n, 2)

    def name(self, label: str) -> Name:
        """
        What is known of a name.

        Its idf, in 0..1, is ln((N + 1) / (df + 1)) / ln(N + 1); but 0 for what is nobody's subject and stands in one memory
        alone, or in more than 3 % of them.
        """
        known = self._names.get(label)
        if known is None:
            known = self._names[label] = self._name(label)
        return known

    def _name(self, label: str) -> Name:
        df = subjects = 0
        entities = []
        for links in self._links:
            if entity := links.entity(label):
                entities.append(entity)
                df += entity.df
                subjects += entity.about
        telling = subjects or 2 <= df <= COMMON * self.n
        idf = log((self.n + 1) / (df + 1)) / log(self.n + 1) if telling else 0.0
        return Name(entities, df, subjects, idf)

    def named(self, question: str) -> list[str]:
        """
        The names in a question, from left to right, each as long as can be; single small words only if there is nothing else.

        >>> links = Links()
        >>> links.put(1, "Ed Wood is a film.", None); links.put(2, "The film was long.", None)
        >>> Joined([links]).named("Who was in the film Ed Wood?"), Joined([links]).named("who saw that film?")
        (['the film', 'ed wood'], ['film'])
        """
        found = read(question)
        words, large = found.words, set(found.starts)
        named: dict[str, None] = {}
        small: dict[str, None] = {}
        place = 0
        while place < len(words):
            n = self._longest(words, place)
            span = words[place : place + max(n, 1)]
            if n and (place in large or (n > 1 and not OPENERS.issuperset(span))):
                named[" ".join(span)] = None
            elif n:
                small[" ".join(span)] = None
            place += len(span)
        return list(named or small)

    def _longest(self, words: Sequence[str], place: int) -> int:
        """Words of the longest name that begins at a place, 0 if none does."""
        lengths = range(min(LONGEST, len(words) - place), 0, -1)
        return next((n for n in lengths if self.name(" ".join(words[place : place + n])).idf > 0), 0)
