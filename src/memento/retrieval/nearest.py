"""
Where nothing surely answers, choose what is nearest: memories that are shown apart from answers, and only to those who asked.

A text that asks for nothing that a memory could hold has none: thanks, small talk, a task, a question of general knowledge.

*But:* a question of general knowledge in the first person ("How do I boil an egg?") has one if a memory is near enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memento.assets import lexicon
from memento.model import Scored
from memento.retrieval.question import Question, is_first_person
from memento.retrieval.relevance import is_reaction, is_told, measure_courtesy, points_back

MOST = 3
"""The most memories that are shown where nothing answers."""
NEAR, NEAR_OTHERS = 0.3, 0.4
"""
The least cosine of a memory that is near: to a question about the user or about what memories name, and to any other.

*Source:* `tests/bench/nearest.py`.
"""


def find_nearest(
    question: Question, ordered: Sequence[Scored[int]], signals: Mapping[str, NDArray[np.float32]]
) -> list[Scored[int]]:
    """
    Return the first few of some memories, best first, that are near a question which nothing answers.

    Args:
        signals: at least `meaning`.
    """
    is_named = bool(question.asked)
    if not is_asking(question.text, is_named=is_named):
        return []
    least = NEAR if is_named or is_first_person(question.text) else NEAR_OTHERS
    return [one for one in ordered if signals["meaning"][one.item] >= least][:MOST]


def is_asking(text: str, *, is_named: bool) -> bool:
    """
    Tell whether a text asks for something that a memory could hold.

    Args:
        is_named: whether it names something that memories name.

    >>> is_asking("Where does my sister work?", is_named=False), is_asking("Thanks a lot!", is_named=False)
    (True, False)
    >>> is_asking("How do I boil an egg?", is_named=False), is_asking("Draft a mail to Ana", is_named=True)
    (False, True)
    """
    if measure_courtesy(text) >= 0.5 or (is_told(text) and not is_named):
        return False
    return is_named or not (is_task(text) or is_reaction(text) or points_back(text))


def is_task(text: str) -> bool:
    """
    Tell whether a text asks for something to be done, or how it is done.

    >>> is_task("Please write a haiku."), is_task("Where is my coat?")
    (True, False)
    """
    words = " ".join(text.casefold().removeprefix("please ").split())
    return any(words.startswith(beginning) for beginning in _list_tasks())


@lru_cache(maxsize=1)
def _list_tasks() -> tuple[str, ...]:
    return tuple(f"{line} " for line in lexicon("tasks"))
