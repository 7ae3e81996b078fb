"""EXPAND: memories that the anchors lead to, by personalised PageRank over who is about what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memento.model import Scored
from memento.ports import Vectors
from memento.rank.fusion import minmax
from memento.rank.walks import ppr
from memento.search.view import View
from memento.settings import ExpandSettings


def expand(
    anchors: Sequence[Scored[int]], asked: Vectors, view: View, limit: int, knobs: ExpandSettings
) -> list[Scored[int]]:
    """
    At most `limit` memories that the walk reaches, best first; empty without anchors.

    The score mixes the walk with likeness to the question: `α · rank + (1 − α) · cosine`.

    Args:
        asked: (w, d) unit rows, the question's windows.
    """
    if not anchors:
        return []
    restart = np.zeros(view.indexes.nodes.size)
    restart[[one.item for one in anchors]] = [one.score for one in anchors]
    ranks = ppr(view.matrix(), restart, knobs.damping, knobs.iterations, weighted=knobs.weighted)
    ranks[~view.visible] = 0.0
    reached = np.argsort(-ranks, kind="stable")[:limit]
    reached = reached[ranks[reached] > 0]
    nodes: list[int] = reached.tolist()
    structure = _scaled(ranks[reached], knobs.normalise)
    likeness = view.indexes.vectors["memory"].cosines(nodes, asked)
    mixed = knobs.structural_weight * structure + (1 - knobs.structural_weight) * likeness
    found = [Scored(node, score, "sem-ppr") for node, score in zip(nodes, mixed.tolist(), strict=True)]
    return sorted(found, key=lambda one: -one.score)


def _scaled(ranks: NDArray[np.float64], how: str) -> NDArray[np.float64]:
    if how == "max" and ranks.size:
        return np.asarray(ranks / ranks.max())
    return np.asarray(minmax(ranks)) if how == "minmax" else ranks
