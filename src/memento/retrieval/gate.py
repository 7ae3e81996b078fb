"""
Whether a scope has anything to say to a question: "nothing relevant" is an answer too.

    score     = c · (½ + ½ v) · (½ + ½ k)
    threshold = max(floor · min(1, N / 10), base + slope · ln(N / 600))

c is the best cosine of a memory to the question, v the best share of the question's words, by idf, that one of the five best
memories has, k the share of the names in the question that the scope has ever heard of, N the memories that can be found.
What is unrelated scores higher in a larger scope, by chance, so the threshold grows with it. A scope of a few memories is hardly
ever emptied: there is little in it to tell related from unrelated by, and little to read in vain.

A question of the user about the user is judged more mildly: it stays open when a memory fills the very property it asks for, and
the threshold is never above the floor. Where recall infers, it stays open when one of the best is about what the question leads to.

*But:* a question of the right kind about the wrong person passes: only reading tells. Names are seen by their capitals.

*Source:* base and slope for MiniLM were chosen on five sets of questions asked of the wrong corpus, the floor on short facts
in the third person and questions in the first; docs/recall.md has the rates.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from memento.retrieval.question import Question, list_short_forms
from memento.search.words import STOP_WORDS, Postings, tokens
from memento.settings import GateSettings
from memento.text.dates import is_date_word

TOP = 5
"""Best memories that are looked at for the words of the question."""

_SIZE = 600  # memories at which the threshold is `base`
_FEW = 10  # memories below which the floor is lowered
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the gate closes, for one family of embedders."""

    base: float
    slope: float
    floor: float

    def at(self, memories: int) -> float:
        """
        Return the score below which nothing is relevant in a scope of some memories.

        >>> of = Thresholds(base=0.2, slope=0.04, floor=0.1)
        >>> round(of.at(600), 3), round(of.at(8000), 3), of.at(12)
        (0.2, 0.304, 0.1)
        >>> of.at(3)
        0.03
        """
        return max(self.floor * min(1.0, memories / _FEW), self.base + self.slope * log(max(memories, 1) / _SIZE))


CALIBRATED: Mapping[str, Thresholds] = {
    "all-MiniLM-L6-v2": Thresholds(base=0.20, slope=0.04, floor=0.10),
    # Only roughly: trigrams see spelling, so related and unrelated overlap. Conversations of 600 turns gave the base; on the few
    # sentences of the tests no floor parts the two, so there is none, and a scope of up to 14 memories is never emptied.
    "trigram": Thresholds(base=0.15, slope=0.04, floor=0.0),
}
"""By the beginning of the embedder's fingerprint."""


def choose_thresholds(fingerprint: str, settings: GateSettings) -> Thresholds | None:
    """
    Return where the gate closes: as the settings say, else as calibrated for the embedder; None when neither is known.

    >>> choose_thresholds("someone-elses-model-7", GateSettings()) is None
    True
    >>> choose_thresholds("trigram-256", GateSettings(base=0.3))
    Thresholds(base=0.3, slope=0.04, floor=0.1)
    """
    if settings.base > 0:
        return Thresholds(settings.base, settings.slope, settings.floor)
    return next((found for family, found in CALIBRATED.items() if fingerprint.startswith(family)), None)


def describe_gate(fingerprint: str, settings: GateSettings) -> str:
    """Return what a status says of the gate."""
    if not settings.on:
        return "off"
    return "on" if choose_thresholds(fingerprint, settings) else f"off: not calibrated for {fingerprint}, set gate.base"


def is_closed(
    question: Question, top: Sequence[int], signals: Mapping[str, NDArray[np.float32]], limits: Thresholds
) -> bool:
    """
    Tell whether nothing here is relevant to a question.

    Args:
        top: the best memories, best first.
        signals: what has been found; `meaning` at least.
    """
    view = question.view
    is_own, is_filled = (
        bool(((signals[name] > 0) & view.visible).any()) if name in signals else False for name in ("own", "slot")
    )
    is_led = "inferred" in signals and bool((signals["inferred"][list(top[:TOP])] > 0).any())
    if is_led or (is_own and is_filled):
        return False
    postings = [passages.context for passages in view.passages()]
    best = float((signals["meaning"] * view.visible).max(initial=0.0))
    reached = score_scope(
        best,
        measure_coverage(question.stripped, top[:TOP], postings),
        measure_names(question.text, view.participants(), postings),
    )
    limit = limits.at(view.count)
    # "I" and "my" have little in common with memories in the third person, in a large scope as in a small one.
    return reached < (min(limit, limits.floor) if is_own else limit)


def score_scope(cosine: float, covered: float, known: float) -> float:
    """
    Return how much speaks for a scope, 0..1.

    >>> score_scope(0.5, covered=1.0, known=1.0), score_scope(0.5, covered=0.0, known=0.0), score_scope(-0.1, 1.0, 1.0)
    (0.5, 0.125, 0.0)
    """
    return max(cosine, 0.0) * (0.5 + 0.5 * covered) * (0.5 + 0.5 * known)


def measure_coverage(question: str, top: Sequence[int], postings: Sequence[Postings]) -> float:
    """
    Return the best share of the question's words, by idf, that one memory has; 1 when the question has no telling word.

    >>> words = Postings()
    >>> words.add(1, "green tea"); words.add(2, "black tea")
    >>> measure_coverage("tea?", [1, 2], [words]), measure_coverage("Who?", [1, 2], [words])
    (1.0, 1.0)
    >>> round(measure_coverage("Ming tea", [1, 2], [words]), 2)
    0.09
    """
    n = sum(map(len, postings))
    df = {term: sum(words.frequency(term) for words in postings) for term in tokens(question)}
    idf = {term: log1p((n - df[term] + 0.5) / (df[term] + 0.5)) for term in df}  # a word nobody has weighs most
    total = sum(idf.values())
    if not total:
        return 1.0
    found = ({term for words in postings for term in words.terms(node)} for node in top)
    return max((sum(idf[term] for term in idf.keys() & terms) for terms in found), default=0.0) / total


def measure_names(question: str, people: Collection[str], postings: Sequence[Postings]) -> float:
    """
    Return the share of the capitalised words after the first that a scope has heard of; 1 when there is none. Dates are no names.

    >>> words = Postings()
    >>> words.add(1, "Anna likes tea.")
    >>> measure_names("Did Anna meet Bob in May?", [], [words]), measure_names("Who is Ben?", ["Ben Ray"], [words])
    (0.5, 1.0)
    >>> measure_names("who?", [], [])
    1.0
    """
    names = [
        word
        for word in _WORD.findall(question)[1:]
        if word[0].isupper() and word.lower() not in STOP_WORDS and not is_date_word(word)
    ]
    if not names:
        return 1.0
    forms = {part.casefold() for form in list_short_forms(people) for part in form.split()}
    heard = [
        name.casefold() in forms or any(words.frequency(term) for term in tokens(name) for words in postings)
        for name in names
    ]
    return sum(heard) / len(heard)
