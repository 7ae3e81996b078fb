"""The constants of the published phases, and the profiles that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from memento.settings import Settings, Share, constant, knob, refuse


@dataclass(frozen=True, slots=True)
class PublishedSettings:
    # Memories taken from each of the two searches and from the walk.
    candidates: int = constant(100)
    # Share of the first list when two ranked lists are fused; the second gets the rest.
    vector_weight: float = constant(0.7)
    # Normalised score below which an item of the second list is dropped.
    quality_threshold: float = constant(0.3)
    # Results a list needs to keep its whole weight.
    full_weight_results: int = constant(5)
    # Mean that scores are aligned to before they are scaled to 0..1.
    target_mean: float = constant(0.5)
    # Standard deviation that scores are aligned to.
    target_deviation: float = constant(0.2)
    # Seed memories that must be about an entity before it becomes an anchor.
    min_memories: int = constant(1)
    # Weight of the similarity between the entity and the question.
    semantic: float = constant(0.5)
    # Weight of the mean similarity of the seed memories about the entity.
    memory: float = constant(0.3)
    # Weight of the entity's degree in the graph; the three weights sum to 1.
    structural: float = constant(0.2)
    # Let the user be an anchor too; the user is a hub with very many links.
    user: bool = constant(False)
    # Share of the rank that follows links; the rest restarts at the anchors.
    damping: float = constant(0.75)
    # Most steps of the walk; 0 skips ANCHOR and EXPAND.
    iterations: int = constant(25)
    # Share of the walk in the score of EXPAND; cosine gets the rest.
    structural_weight: float = constant(0.5)
    # Restart at the anchors in proportion to their weights instead of equally.
    weighted: bool = constant(False)
    # How walk scores are scaled before they are mixed with cosines.
    normalise: Literal["none", "max", "minmax"] = constant("none")
    lambda_min: Share = knob(0.5, "relevance share of MMR when the best score hardly stands out")
    lambda_max: Share = knob(0.7, "relevance share of MMR when the best score stands out; 1 turns diversity off")

    def check(self, every: Settings) -> None:
        """Raise `SettingsError` if the two shares contradict each other."""
        if self.lambda_min > self.lambda_max:
            refuse("published", "lambda_min", "must not exceed lambda_max")


SEED: Mapping[str, Mapping[str, object]] = {
    "land": {"engine": "published"},
    "published": asdict(PublishedSettings()),
    "distill": {"top_k": 10},
    "gate": {"on": False},
}
"""The constants of the first published design, independent of the settings in force."""

HALF: Mapping[str, Mapping[str, object]] = {
    "land": {"engine": "published"},
    "published": {
        "candidates": 1000,
        "vector_weight": 0.5,
        "quality_threshold": 0.0,
        "full_weight_results": 1,
        "iterations": 0,
        "lambda_min": 1.0,
        "lambda_max": 1.0,
    },
    "gate": {"on": False},
}
"""The plain hybrid that every design should beat: half vectors, half words, over the whole scope, and nothing else."""
