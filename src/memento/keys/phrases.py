"""
The names and nouns of a text, as phrases that may lead from it to others: what a memory that came without keys is walked by.

*But:* English; nouns are told from other words by lists and endings, so that a few verbs pass for nouns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from memento.model import KeyType
from memento.rank import laws
from memento.search.links.names import label_of, read
from memento.search.subjects import aliases
from memento.search.words import STOP_WORDS, Postings, tokens

MENTIONED = laws.LIGHTEST
"""The weight of what a text only mentions; that of its subject is 1."""

_LOOKED_UP = 8  # memories that are asked for a word one by one, rather than the word for its memories
_MOST = 40  # phrases of one text that are looked at
_NOUN = re.compile(r"[^\W\d_]{3,}(?:-[^\W\d_]+)*")
# What is no noun, or one that says nothing of a text.
_OTHER = STOP_WORDS | frozenset(
    re.findall(
        r"\w+",
        """
    able above across actually after again against ago all almost alone along already also although always among another
    anyone anything around away back bad because become becomes became before began begin begins behind below best better
    between beyond big born both bought bring brought buy call called calls came cannot certain clear close come comes common
    day days despite different don done down drank drink drinks drove due during early easy eat eats ate either else enough
    even eventually ever every everyone everything fall falls famous far favorite favourite fell felt few find finds first
    five for found four former full further gave get gets give given gives go goes gone good got great grew grow grows half
    hard hate hates hear heard held help helps here high however huge important inside instead join just keep keeps kept knew
    know known knows large last late later latest least leave leaves led left less let like likes little live lives long look
    looks lost lot lots love loves low made main major make makes many maybe mean means meant meet meets met mine minor month
    months moves much must name near need needs neither never new next nice nine none nor not nothing notable now off often
    old one only onto open other others out outside over part particular past people per perhaps play plays possible prefer
    prefers pretty previous put puts quite ran rather read real recent right run runs said same saw say says second see seem
    seems seen sell sells sent set seven several shall short show shows shown simple since six slight slow small sold somebody
    someone something sometimes somewhat soon spend spent stand start starts stay stays still stood strong such sure take
    taken takes talk tell tells ten thank thanks thing things think thinks third thought three through thus till time times
    today together told tomorrow tonight took toward towards tried true try turn two type under unless until unto upon use
    uses user usual various via visit visits wait walk want wants watch watches way ways week weeks well went whether whose
    wide will within without won work works worse worst worth wrote year years yes yesterday yet young zero
        """,
    )
)
_ENDINGS = ("ly", "ing", "ed", "est", "ous", "ful", "less", "able", "ible")
"""How adverbs, many adjectives and most forms of verbs end."""
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """
    A phrase of a text, as it is written there, how surely the text is about it (1 for its subject), and what it is compared by.
    """

    name: str
    type: KeyType
    weight: float
    stems: tuple[str, ...]

    @classmethod
    def of(cls, name: str, type: KeyType = "concept", weight: float = MENTIONED) -> Self:
        return cls(name, type, weight, tuple(tokens(name)))


def phrases_of(content: str, title: str | None = None) -> list[Phrase]:
    """
    The phrases of a text, its subject first, then names, then nouns as they come; each once.

    >>> [(one.name, one.type) for one in phrases_of("Isaac Newton watched an apple fall from a tree.")]
    [('Isaac Newton', 'proper_noun'), ('apple', 'concept'), ('tree', 'concept')]
    """
    content = unicodedata.normalize("NFKC", content)
    found: dict[tuple[str, ...], Phrase] = {}
    for name, weight in aliases(content, title):
        _add(found, _subject(_spelt(name, f"{title or ''} {content}"), weight))
    for label in sorted(read(content).spans, key=lambda label: _place(label, content)):
        if not label.isdecimal():
            _add(found, Phrase.of(_spelt(label, content), "proper_noun"))
    for noun in nouns_of(content):
        _add(found, Phrase.of(noun))
    return list(found.values())[:_MOST]


def nouns_of(text: str) -> list[str]:
    """
    The words of a text that may be nouns, in small letters, each once, and pairs of neighbouring ones.

    >>> nouns_of("She bakes sourdough bread on Sundays with her red oven.")
    ['bakes', 'bakes sourdough', 'sourdough', 'sourdough bread', 'bread', 'oven']
    """
    found: dict[str, None] = {}
    before = None
    for match in _NOUN.finditer(text):
        word = match[0]
        is_noun = word.islower() and word not in _OTHER and not word.endswith(_ENDINGS)
        if is_noun:
            found[word] = None
            if before and text[before.end() : match.start()] == " ":
                found.pop(word)
                found[f"{before[0]} {word}"] = None
                found[word] = None
        before = match if is_noun else None
    return list(found)


def mentioning(
    stems: Sequence[str], postings: Sequence[Postings], most: int, having: Callable[[str], int] | None = None
) -> NDArray[np.int32]:
    """
    The memories that have all of some stems, ascending; none where more than `most` have the rarest of them.

    Args:
        having: how many have a stem, where that is known already.

    >>> words = Postings()
    >>> words.add(1, "green tea"); words.add(2, "black tea")
    >>> mentioning(["tea"], [words], 9).tolist(), mentioning(["black", "tea"], [words], 9).tolist()
    ([1, 2], [2])
    """
    counted = having or (lambda stem: sum(some.frequency(stem) for some in postings))
    times = {stem: counted(stem) for stem in dict.fromkeys(stems)}
    ordered = sorted(times, key=lambda stem: times[stem])
    if not ordered or not 0 < times[ordered[0]] <= most:
        return np.zeros(0, dtype=np.int32)
    nodes = np.sort(np.concatenate([some.nodes(ordered[0]) for some in postings]))
    for stem in ordered[1:]:
        if len(nodes) <= _LOOKED_UP:
            has = [any(some.has(stem, node) for some in postings) for node in nodes.tolist()]
            nodes = nodes[np.array(has, dtype=np.bool_)]
        else:
            has_it = np.zeros(int(nodes.max(initial=-1)) + 1, dtype=np.bool_)
            for others in (some.nodes(stem) for some in postings):
                has_it[others[others < len(has_it)]] = True
            nodes = nodes[has_it[nodes]]
    return nodes


def _add(found: dict[tuple[str, ...], Phrase], phrase: Phrase) -> None:
    stems = phrase.stems
    if stems and (stems not in found or found[stems].weight < phrase.weight):
        found[stems] = phrase


def _subject(name: str, weight: float) -> Phrase:
    """What a text is about: a kind of thing after an article and in small letters, else a name."""
    bare = _ARTICLE.sub("", name)
    return Phrase.of(bare, "concept", weight) if bare.islower() else Phrase.of(name, "proper_noun", weight)


def _place(label: str, text: str) -> int:
    match = _pattern(label).search(text)
    return match.start() if match else len(text)


def _spelt(label: str, text: str) -> str:
    """A label as it is written in the text that it comes from."""
    match = _pattern(label_of(label) or label).search(text)
    return " ".join(match[0].split()) if match else label


def _pattern(label: str) -> re.Pattern[str]:
    return re.compile(r"[\W_]+".join(map(re.escape, label.split())), re.IGNORECASE)
