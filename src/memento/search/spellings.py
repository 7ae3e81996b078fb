"""
Which phrases stand in a text, letter for letter and as whole words, at a cost that does not depend on how many phrases there are.

A word is a run of letters, digits and marks. In scripts that are written without spaces every character is a word, so that a phrase
is found wherever its characters occur.

*But:* case and width are ignored, endings are not: "뉴턴은" does not contain the word "뉴턴".
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from memento.iris import IRI

SHORTEST = 2
"""Minimum number of characters in a phrase, unless it is a character of a script in which each is a word."""

_PLAIN = re.compile(r"[0-9A-Za-z]+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


class Word(NamedTuple):
    """A word of a folded text, with its begin and end."""

    text: str
    begin: int
    end: int


def fold_text(text: str) -> str:
    """
    Normalise a text for comparing phrases: NFKC, case folded, single spaces.

    >>> fold_text("  Ｎew\\n York "), fold_text("STRASSE") == fold_text("Straße")
    ('new york', True)
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(text.casefold().split())


def words_of(text: str) -> list[Word]:
    """
    Return the words of a folded text.

    >>> [word.text for word in words_of("c++, node.js 我喜欢")]
    ['c', 'node', 'js', '我', '喜', '欢']
    """
    if text.isascii():  # most texts: six times as fast
        return [Word(found[0], found.start(), found.end()) for found in _PLAIN.finditer(text)]
    return list(_words(text))


def _words(text: str) -> Iterator[Word]:
    place = 0
    for kind, run in groupby(text, key=_kind):
        size = len(list(run))
        if kind == "word":
            yield Word(text[place : place + size], place, place + size)
        elif kind == "character":
            for at in range(place, place + size):
                yield Word(text[at], at, at + 1)
        place += size


def _kind(character: str) -> str:
    if character.isascii():
        return "word" if character.isalnum() else "between"
    if _UNSPACED.match(character):
        return "character" if unicodedata.category(character)[0] in "LMN" else "between"
    return "word" if unicodedata.category(character)[0] in "LMN" else "between"


def is_spelt(phrase: str) -> bool:
    """
    Return whether a phrase can be searched for: it has a word, and at least two characters unless one character is a word.

    >>> is_spelt("C"), is_spelt("C++"), is_spelt("..."), is_spelt("猫")
    (False, True, False, True)
    """
    text = fold_text(phrase)
    words = words_of(text)
    return bool(words) and (len(text) >= SHORTEST or bool(_UNSPACED.match(text)))


class Spellings:
    """
    Phrases, indexed by their first two words.

    >>> spellings = Spellings()
    >>> spellings.put(7, IRI("urn:g"), ["Isaac Newton", "Newton"])
    >>> spellings.find_in_text("Did Newton like apples?", [IRI("urn:g")])
    {7: 'newton'}
    """

    def __init__(self) -> None:
        self._tables: dict[IRI, dict[str, list[tuple[str, int]]]] = defaultdict(dict)
        self._placed: dict[int, tuple[IRI, tuple[str, ...]]] = {}

    def __len__(self) -> int:
        return len(self._placed)

    def put(self, node: int, graph: IRI, phrases: Iterable[str]) -> None:
        """Set the phrases of a node, replacing earlier ones; phrases that cannot be searched for are skipped."""
        self.drop(node)
        texts = tuple(dict.fromkeys(fold_text(phrase) for phrase in phrases if is_spelt(phrase)))
        for text in texts:
            self._tables[graph].setdefault(_slot(words_of(text), 0), []).append((text, node))
        if texts:
            self._placed[node] = (graph, texts)

    def drop(self, node: int) -> None:
        """Remove a node's phrases; harmless when it has none."""
        graph, texts = self._placed.pop(node, (None, ()))
        if graph is None:
            return
        for text in texts:
            slot = _slot(words_of(text), 0)
            row = self._tables[graph][slot]
            row.remove((text, node))
            if not row:
                del self._tables[graph][slot]

    def find_exact(self, phrase: str, graphs: Sequence[IRI]) -> list[int]:
        """Return the nodes that have a phrase, in the order of the graphs, then of their ids."""
        if not any(self._tables.get(graph) for graph in graphs):
            return []
        text = fold_text(phrase)
        words = words_of(text)
        if not words:
            return []
        slot = _slot(words, 0)
        return [
            node
            for graph in graphs
            for node in sorted(node for known, node in self._rows(graph, slot) if known == text)
        ]

    def find_in_text(self, text: str, graphs: Sequence[IRI]) -> dict[int, str]:
        """Return the nodes of some graphs that a text names, each with the longest of its phrases in the text."""
        text = fold_text(text)
        words = words_of(text)
        phrases: dict[int, str] = {}
        for place, word in enumerate(words):
            for slot in dict.fromkeys((word.text, _slot(words, place))):
                for graph in graphs:
                    for phrase, node in self._rows(graph, slot):
                        if len(phrase) > len(phrases.get(node, "")) and _is_at(phrase, text, word.begin):
                            phrases[node] = phrase
        return phrases

    @property
    def phrases(self) -> Mapping[int, tuple[IRI, tuple[str, ...]]]:
        """The graph and the normalised phrases of each node."""
        return self._placed

    def _rows(self, graph: IRI, slot: str) -> list[tuple[str, int]]:
        return self._tables[graph].get(slot, []) if graph in self._tables else []


def _slot(words: Sequence[Word], place: int) -> str:
    return " ".join(word.text for word in words[place : place + 2])


def _is_at(phrase: str, text: str, begin: int) -> bool:
    """Return whether a phrase occurs where its first word does, with no word continuing beyond either end."""
    begin -= words_of(phrase)[0].begin  # characters before the first word, as in ".net"
    end = begin + len(phrase)
    if begin < 0 or not text.startswith(phrase, begin):
        return False
    return not (_goes_on(text, begin - 1, begin) or _goes_on(text, end, end - 1))


def _goes_on(text: str, outside: int, inside: int) -> bool:
    """Return whether a letter or digit continues a word beyond a phrase's end; in a script without spaces none does."""
    if not 0 <= outside < len(text):
        return False
    return _kind(text[outside]) == "word" and _kind(text[inside]) != "character"
