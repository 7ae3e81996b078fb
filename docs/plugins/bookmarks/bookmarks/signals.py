"""A signal of recall: one number for each memory. Its weight is the setting `signals.address`, which is 0 until you set it."""

from __future__ import annotations

from memento.retrieval.signals import Signal, signal, spread
from memento.search import words
from memento.search.indexes import View
from memento.settings import WordsSettings


# Its parameters say what it needs: here the memories that may be seen, and the constants of BM25.
@signal(0.0, "having a web address")
def score_address(view: View, bm25: WordsSettings) -> Signal:
    """Score the memories that have an address in them."""
    return spread(*words.bm25("https http", [one.context for one in view.passages()], bm25.k1, bm25.b), view)
