"""LAND: where the question comes down first, by meaning and by words."""

from __future__ import annotations

from memento.model import Scored
from memento.ports import Vectors
from memento.rank.fusion import fuse
from memento.search.view import View
from memento.settings import FusionSettings, LandSettings, WordsSettings


def land(
    question: str, asked: Vectors, view: View, knobs: LandSettings, fusion: FusionSettings, words: WordsSettings
) -> list[Scored[int]]:
    """
    The seeds: at most `candidates` memories, best first, scores 0..1.

    Args:
        asked: (w, d) unit rows, the question's windows.
    """
    by_meaning = view.nearest(asked, knobs.candidates, "vector")
    by_words = view.wordiest(question, knobs.candidates, words, "fulltext")
    return fuse(by_meaning, by_words, fusion)[: knobs.candidates]
