"""DISTILL: seeds and reached memories become one short list that does not repeat itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memento.model import Scored
from memento.rank.fusion import fuse
from memento.rank.mmr import adaptive_lambda, mmr
from memento.search.view import View
from memento.settings import DistillSettings, FusionSettings


def distill(
    seeds: Sequence[Scored[int]],
    reached: Sequence[Scored[int]],
    view: View,
    k: int,
    knobs: DistillSettings,
    fusion: FusionSettings,
) -> list[Scored[int]]:
    """The `k` memories to return, in the order they were chosen, scores 0..1."""
    fused = fuse(seeds, reached, fusion)
    if len(fused) <= k:
        return fused
    scores = np.array([one.score for one in fused])
    lam = adaptive_lambda(scores, knobs.lambda_min, knobs.lambda_max)
    vectors = view.indexes.vectors["memory"].vectors([one.item for one in fused])
    return [fused[row] for row in mmr(scores, vectors, k, lam)]
