"""Named sets of retrieval settings, laid over the defaults."""

from __future__ import annotations

from collections.abc import Mapping

PROFILES: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    # The constants of the first published design, whatever the defaults become.
    "seed": {
        "land": {"engine": "published", "candidates": 100},
        "fusion": {"vector_weight": 0.7, "quality_threshold": 0.3, "full_weight_results": 5},
        "anchor": {"min_memories": 1, "semantic": 0.5, "memory": 0.3, "structural": 0.2, "user": False},
        "expand": {"damping": 0.75, "iterations": 25, "structural_weight": 0.5, "weighted": False, "normalise": "none"},
        "distill": {"top_k": 10, "lambda_min": 0.5, "lambda_max": 0.7},
        "gate": {"on": False},
    },
    # The plain hybrid that every design should beat: half meaning, half words, over the whole scope, and nothing else.
    "half": {
        "land": {"engine": "published", "candidates": 1000},
        "fusion": {"vector_weight": 0.5, "quality_threshold": 0.0, "full_weight_results": 1},
        "expand": {"iterations": 0},
        "distill": {"lambda_min": 1.0, "lambda_max": 1.0},
        "gate": {"on": False},
    },
}
