"""
LAND: what meaning, words, people, dates and form say of the memories; the best by each are the candidates.

Up to `whole` memories every signal is worked out for every memory. Above, vectors and words bring in a pool, later phases add to
it, and the other signals are worked out for what is in the pool alone; a signal of a memory is the same either way.

*But:* above `whole` a memory that is far from the question by its own vector, and by those of the turns beside it, is not found by
the window around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memento.ports import Vectors
from memento.retrieval import signals
from memento.retrieval.question import dates
from memento.retrieval.signals import Signal
from memento.search.arrays import distinct
from memento.search.view import View
from memento.settings import LandSettings, WordsSettings

Ids = NDArray[np.int32]

CHANNELS = ("meaning", "window", "words", "subject", "link", "shared", "tie", "slot", "walk", "inferred")
"""The signals that bring in candidates."""
_REACH = 3
"""Above `whole`, as many times the pool are brought in by their vectors, so that the windows around them are all there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the signals of LAND take it, and what is known of it without looking at a memory."""

    question: str
    vectors: Vectors
    view: View
    words: WordsSettings
    everywhere: Mapping[str, Signal] = field(repr=False)  # signals that are worked out for all memories anyway

    def scored(self, nodes: Ids | None) -> dict[str, Signal]:
        """(ids,) each signal, worked out for some memories or for all."""
        view = self.view
        around = None if nodes is None else signals.with_neighbours(nodes, view)
        own = signals.meaning(self.vectors, view, around)
        return {
            "meaning": own,
            "window": signals.window(own, view, nodes),
            **self.everywhere,
            "session": signals.session(self.question, view, self.words, nodes),
            "speaker": signals.speaker(self.question, view, nodes),
            "when": signals.when(dates(self.question), view, nodes),
            "form": signals.form(self.question, view, nodes),
        }


@dataclass(frozen=True, slots=True)
class Pool:
    """What may be chosen above `whole` memories."""

    asked: Asked
    nodes: Ids  # ascending
    size: int  # candidates that each channel brings in


@dataclass(frozen=True, slots=True)
class Evidence:
    """What has been found out so far: each signal as (ids,), unscaled; with a pool, zero outside of it."""

    found: Mapping[str, Signal]
    pool: Pool | None = None

    def with_(self, **more: Signal) -> Evidence:
        """The same and more; with a pool, the best of what is new join it."""
        found = {**self.found, **more}
        if self.pool is None:
            return Evidence(found)
        pool, view = self.pool, self.pool.asked.view
        best = [signals.leading(signal, view.visible, pool.size) for signal in more.values()]
        new = distinct(np.concatenate([*best, pool.nodes[:0]]))
        place = np.minimum(np.searchsorted(pool.nodes, new), max(len(pool.nodes) - 1, 0))
        new = new[pool.nodes[place] != new] if pool.nodes.size else new
        if new.size:
            for name, signal in pool.asked.scored(new).items():
                if name not in pool.asked.everywhere:
                    found[name][new] = signal[new]
        return Evidence(found, Pool(pool.asked, distinct(np.concatenate([pool.nodes, new])), pool.size))


def land(
    question: str,
    stripped: str,
    asked: Vectors,
    view: View,
    words: WordsSettings,
    knobs: LandSettings,
) -> Evidence:
    """
    The signals that need no link.

    Args:
        stripped: the question without the names of those who take part in the conversation.
        asked: (w, d) unit rows, the windows of `stripped`.
    """
    everywhere = {
        "words": signals.words(stripped, view, words),
        "pairs": signals.neighbouring_words(stripped, view),
        "own": signals.own(question, view),
        "slot": signals.slot(question, view),
    }
    known = Asked(question, asked, view, words, everywhere)
    if view.count <= max(knobs.whole, knobs.pool):
        return Evidence(known.scored(None))
    near, _ = view.indexes.vectors["memory"].search(asked, _REACH * knobs.pool, view.visible)
    brought = [
        signals.with_neighbours(near, view),
        *(signals.leading(everywhere[name], view.visible, knobs.pool) for name in ("words", "slot")),
    ]
    nodes = distinct(np.concatenate(brought))
    nodes = nodes[view.visible[nodes]]
    return Evidence(known.scored(nodes), Pool(known, nodes, knobs.pool))


def best(evidence: Evidence, name: str, view: View, count: int, among: Sequence[int] | Ids | None) -> Ids:
    """The `count` visible memories that a signal speaks for most, only positive values; among some, where it says which."""
    if among is None:
        return signals.leading(evidence.found[name], view.visible, count)
    nodes = np.asarray(among, dtype=np.int32)
    values = evidence.found[name][nodes]
    nodes, values = nodes[values > 0], values[values > 0]
    return nodes if len(nodes) <= count else nodes[np.argpartition(-values, count)[:count]]
