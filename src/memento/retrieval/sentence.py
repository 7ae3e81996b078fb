"""
Choose the sentence of a passage that answers a question: the one with the claim that is asked for and most of the question's words.

*But:* a sentence that answers in other words than the question's is not recognised where its claim is not; then none is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memento.search.postings import tokens
from memento.text.sentences import sentences


def choose_sentence(content: str, weights: Mapping[str, float], claims: Sequence[tuple[str, float]] = ()) -> str | None:
    """
    Return the sentence of a passage that answers, a span of the passage, the first of equals; None if it has one sentence, or if
    none of them stands out.

    Args:
        weights: what each stem of the question is worth.
        claims: the words of the claims of the passage that may be asked for, and how well each fits, in 0..1. A claim that fits is
            worth as much as all words of the question.

    >>> asked = {"rent": 2.0, "flat": 1.0}
    >>> choose_sentence("We found a flat. The rent is 900.", asked), choose_sentence("The rent is 900.", asked)
    ('The rent is 900.', None)
    >>> choose_sentence("We found a flat. It costs 900 a month.", asked, [("costs 900", 1.0)])
    'It costs 900 a month.'
    """
    parts = [part for part in sentences(content) if part in content]
    if len(parts) < 2:
        return None
    whole = sum(weights.values())
    worth = [
        sum(weights.get(stem, 0.0) for stem in set(tokens(part)))
        + whole * max((fit for words, fit in claims if words in part), default=0.0)
        for part in parts
    ]
    best = max(worth)
    return parts[worth.index(best)] if best > min(worth) else None


def split_at(content: str, sentence: str | None) -> tuple[str, str, str]:
    """
    Return what stands before a sentence in a passage, the sentence and what stands after; all is before if there is none.

    >>> split_at("It rains. We stay.", "We stay."), split_at("It rains.", None)
    (('It rains. ', 'We stay.', ''), ('It rains.', '', ''))
    """
    if not sentence or sentence not in content:
        return content, "", ""
    return content.partition(sentence)
