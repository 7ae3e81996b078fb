"""
The phases with the constants of the first published design, for comparison: `--profile seed`, or `half` without the walk.

*Flow:* `land` fuses two searches, `anchor` weighs entities, `expand` walks from them, `distill` fuses again and diversifies.
"""

from __future__ import annotations

from memento.graph.store import Store
from memento.model import Scope, Scored
from memento.ports import Vectors
from memento.retrieval.published.anchor import anchor
from memento.retrieval.published.distill import distill
from memento.retrieval.published.expand import expand
from memento.retrieval.published.land import land
from memento.search.view import View
from memento.settings import Settings
from memento.telemetry import Stopwatch


def chosen(
    question: str,
    asked: Vectors,
    view: View,
    k: int,
    graph: Store,
    scope: Scope,
    settings: Settings,
    watch: Stopwatch,
) -> tuple[list[Scored[int]], int]:
    """The `k` memories to return, in the order they were chosen, and how many were considered."""
    with watch.phase("land"):
        seeds = land(question, asked, view, settings.land, settings.fusion, settings.words)
    if settings.expand.iterations == 0:
        with watch.phase("distill"):
            return distill(seeds, (), view, k, settings.distill, settings.fusion), len(seeds)
    with watch.phase("anchor"):
        anchors = anchor(seeds, asked, view, graph, scope.readable, scope.user, settings.anchor)
    with watch.phase("expand"):
        reached = expand(anchors, asked, view, settings.land.candidates, settings.expand)
    with watch.phase("distill"):
        return distill(seeds, reached, view, k, settings.distill, settings.fusion), len(seeds) + len(reached)
