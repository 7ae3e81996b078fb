"""EXPAND: from the best memories to those about what they mention, and to those that cover what they leave open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memento.retrieval.land import Evidence
from memento.retrieval.signals import Signal, largest, spread
from memento.search.links import Joined, link_signal, shared_signal
from memento.search.view import View
from memento.settings import ExpandSettings


def expand(question: str, evidence: Evidence, joined: Joined, view: View, knobs: ExpandSettings) -> Evidence:
    """The evidence with `link` and `shared`."""
    seeds = best_seeds(evidence, view, knobs.seeds)
    postings = [passages.context for passages in view.passages()]
    return evidence.with_(
        link=spread(*link_signal(seeds, joined, view.visible), view),
        shared=spread(*shared_signal(seeds, question, joined, postings, view.visible), view),
    )


def best_seeds(evidence: Evidence, view: View, count: int) -> tuple[NDArray[np.int32], Signal]:
    """
    (≤ count,) memories and how good each is in 0..1, best first: half meaning, half words, half subject.
    """
    everyone = np.flatnonzero(view.visible) if evidence.pool is None else evidence.pool.nodes
    meaning, words, subject = (evidence.found[name] for name in ("meaning", "words", "subject"))
    total = 0.5 * scaled(meaning)[everyone] + 0.5 * scaled(words)[everyone] + 0.5 * subject[everyone]
    order = largest(total, count)
    order = order[total[order] > 0]
    best = float(total[order[0]]) if order.size else 1.0
    return everyone[order].astype(np.int32), (total[order] / best).astype(np.float32)


def scaled(signal: Signal) -> Signal:
    """Divided by its best value; zero stays zero."""
    return signal / max(float(signal.max(initial=0.0)), 1e-9)
