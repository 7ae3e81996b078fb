"""LAND: what meaning, words, people, dates and form say of every memory; the best by each are the candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memento.ports import Vectors
from memento.retrieval import signals
from memento.retrieval.question import dates
from memento.retrieval.signals import Signal
from memento.search.view import View
from memento.settings import WordsSettings


@dataclass(frozen=True, slots=True)
class Evidence:
    """What has been found out so far: each signal as (ids,), unscaled."""

    found: Mapping[str, Signal]

    def with_(self, **more: Signal) -> Evidence:
        """The same and more."""
        return Evidence({**self.found, **more})


def land(question: str, stripped: str, asked: Vectors, view: View, words: WordsSettings) -> Evidence:
    """
    The signals that need no link.

    Args:
        stripped: the question without the names of those who take part in the conversation.
        asked: (w, d) unit rows, the windows of `stripped`.
    """
    own = signals.meaning(asked, view)
    return Evidence(
        {
            "meaning": own,
            "window": signals.window(own, view),
            "words": signals.words(stripped, view, words),
            "pairs": signals.neighbouring_words(stripped, view),
            "session": signals.session(question, view, words),
            "speaker": signals.speaker(question, view),
            "own": signals.own(question, view),
            "slot": signals.slot(question, view),
            "when": signals.when(dates(question), view),
            "form": signals.form(question, view),
        }
    )
