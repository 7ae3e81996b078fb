"""
Read how a text speaks, off its parse: whether it asks, tells or wants something done, whom it addresses, and what it points at.

    "Wow, nice! Which one is that?"     a question, a reaction, pointing
    "Can you write to Ana?"             a command, addressed to the one who answers
    "landlord's phone number"           a search

*Because:* a question, a chat and a task are told from each other by the same reader that reads notes; its words are in
`lexicon/questions.toml`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from memento.text.parse import parse
from memento.text.tables import LEXICON, word_lists
from memento.text.words import STOP_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

WORDS = word_lists(LEXICON / "questions.toml")
"""The lists of words, by their names in the file."""

SEARCH = 4
"""The most words of a text that counts as a search, not as a sentence."""

LONGEST = 2_000
"""The most characters of a text that are read: what is longer tells something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """
    How a text speaks.

    `is_addressed`: it asks the one who answers about themselves. `is_reaction`: it reacts to what was just said and then asks, and
    not about the asker. `is_pointing`: it refers to something said before. `is_whether`: it asks whether there is a thing.
    """

    mood: Literal["question", "command", "statement", "search"]
    is_addressed: bool
    is_reaction: bool
    is_pointing: bool
    is_whether: bool

    @property
    def is_asking(self) -> bool:
        """Tell whether an answer is wanted."""
        return self.mood in ("question", "search")


@lru_cache(maxsize=256)
def read_form(text: str) -> Form:
    """
    Read how a text speaks.

    >>> read_form("I went hiking in May yesterday.").mood, read_form("where did I hike").mood, read_form("Thanks!").mood
    ('statement', 'question', 'statement')
    >>> read_form("landlord's phone number").mood, read_form("Can you write to Ana?").mood, read_form("Tell me about Ana").mood
    ('search', 'command', 'question')
    >>> read_form("Looks cool! Is it more of a game?").is_reaction, read_form("Hi! Where do I live?").is_reaction
    (True, False)
    >>> read_form("What is it like?").is_pointing, read_form("Where am I living these days?").is_pointing
    (True, False)
    """
    doc = parse(text[:LONGEST])
    sentences = [one for one in doc.sents if any(word.is_alpha for word in one)]
    asking = [one for one in sentences if one.text.rstrip().endswith("?") or _opens_question(one)]
    last = asking[-1] if asking else None
    own = any(word.lower_ in WORDS["own"] for word in doc)
    return Form(
        mood=_find_mood(doc, last),
        is_addressed=not own and any(word.lower_ in WORDS["addressing"] for word in doc),
        is_reaction=last is not None
        and "!" in text[: last.start_char]
        and not any(w.lower_ in WORDS["own"] for w in last),
        is_pointing=any(word.lower_ in WORDS["pointing"] and not _names_a_time(word) for word in doc),
        is_whether=last is not None and (first := _find_first(last)) is not None and first.lemma_ in WORDS["whether"],
    )


def is_told(text: str) -> bool:
    """
    Tell whether a text states something, or wants something done, rather than asks for it; a few words alone count as a search.

    >>> is_told("I went hiking in May yesterday."), is_told("where did I hike"), is_told("Great! And who was there?")
    (True, False, False)
    """
    return not read_form(text).is_asking and "?" not in text


def asks_in_particular(text: str, names: Collection[str]) -> bool:
    """
    Tell whether a text asks for something particular about what it names, rather than for all, or for something to be done.

    Args:
        names: those that the text names, in lower case.

    >>> asks_in_particular("Where does Ana Ray work?", ["ana ray"]), asks_in_particular("What do you know about Ana?", ["ana"])
    (True, False)
    >>> asks_in_particular("I'm meeting Ana tomorrow", ["ana"]), asks_in_particular("Can you write to Ana?", ["ana"])
    (False, False)
    """
    if read_form(text).mood != "question":
        return False
    idle = STOP_WORDS.union(
        *(WORDS[name] for name in ("general", "opening", "courtesy")), *(name.split() for name in names)
    )
    return any(word.is_alpha and word.lower_ not in idle for word in parse(text[:LONGEST]))


def list_phrases(text: str) -> list[str]:
    """
    Return the noun phrases of a text.

    >>> list_phrases("What is Ada's shoe size?")
    ['What', "Ada's shoe size"]
    """
    return [phrase.text for phrase in parse(text[:LONGEST]).noun_chunks]


def _find_mood(doc: Doc, asking: Span | None) -> Literal["question", "command", "statement", "search"]:
    first = _find_first(doc[:]) if asking is None else _find_first(asking)
    if first is not None and asking is not None:
        is_request = first.tag_ == "MD" and first.i + 1 < len(doc) and first.nbor().lower_ in WORDS["addressing"]
        return "command" if is_request else "question"
    if first is not None and first.tag_ == "VB" and first.dep_ == "ROOT":
        return "command"
    words = [word for word in doc if word.is_alpha or word.like_num]
    says = any(word.dep_ == "nsubj" and word.i < word.head.i and word.head.dep_ == "ROOT" for word in doc)
    is_said = len(words) > SEARCH or says or "!" in doc.text or any(w.lower_ in WORDS["courtesy"] for w in words)
    return "statement" if is_said else "search"


def _opens_question(sentence: Span) -> bool:
    """Tell whether a sentence begins as a question does, whatever mark it ends with."""
    first = _find_first(sentence)
    if first is None or first.tag_ in ("WDT", "WP", "WP$", "WRB") or first.lower_ == "any":
        return first is not None
    if first.lower_ in WORDS["telling"]:
        return True
    after = first.nbor() if first.i + 1 < sentence.end else None
    return first.lower_ in WORDS["inverting"] and after is not None and after.pos_ in ("PRON", "DET", "PROPN")


def _find_first(sentence: Span) -> Token | None:
    """Return the word with which a sentence begins, whatever leads to it; None where it has none."""
    return next((word for word in sentence if word.is_alpha and word.lower_ not in WORDS["opening"]), None)


def _names_a_time(word: Token) -> bool:
    """Tell whether a word points at a time: "these days"."""
    return word.i + 1 < len(word.doc) and word.nbor().lemma_.lower() in WORDS["spans"]
