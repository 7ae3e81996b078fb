"""What use did to memories and links and is not written yet, as counts: the laws are applied to whatever the graph says by then."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from memento.iris import IRI, link_iri
from memento.model import Counted, Effect, Read, Skipped, Strength, Traversed, Used
from memento.rank import laws

_EXACT = 9
"""Decimals of a written number: sums of twentieths stay what they are."""


@dataclass(slots=True)
class Reads:
    """What happened to one memory and is not written yet: how often it was read in full, and how often used otherwise."""

    graph: IRI
    count: int = 0
    used: int = 0
    at: datetime | None = None

    def over(self, strength: Strength) -> Strength:
        """The numbers of the memory afterwards."""
        depth = strength.depth
        for _ in range(min(self.count, round(1 / laws.READ))):
            depth = laws.deepen(depth)
        times = [at for at in (strength.last_accessed_at, self.at) if at]
        return replace(
            strength,
            depth=round(depth, _EXACT),
            access_count=strength.access_count + self.count + self.used,
            last_accessed_at=max(times, default=None),
        )


@dataclass(slots=True)
class Steps:
    """What happened to one link and is not written yet; `first` says what to write where no link is."""

    memory: IRI
    key: IRI
    graph: IRI
    first: Traversed | None = None
    trodden: int = 0
    passed: int = 0
    at: datetime | None = None

    def over(self, weight: float) -> float:
        """The weight of the link afterwards, .1..3."""
        for _ in range(self.trodden):
            weight = laws.reinforce_link(weight)
        for _ in range(self.passed):
            weight = laws.weaken_link(weight)
        return round(weight, _EXACT)


@dataclass(slots=True)
class Tally:
    """All of it, by memory, by link, and by what else counts its uses."""

    reads: dict[IRI, Reads] = field(default_factory=dict)
    steps: dict[IRI, Steps] = field(default_factory=dict)
    counts: dict[IRI, tuple[IRI, int]] = field(default_factory=dict)  # node → its graph and how often

    def __bool__(self) -> bool:
        return bool(self.reads or self.steps or self.counts)

    def take(self, effect: Effect) -> None:
        """Add one effect."""
        match effect:
            case Read():
                one = self.reads.setdefault(effect.memory, Reads(effect.graph))
                one.count += 1
                one.at = max(one.at or effect.at, effect.at)
            case Used():
                one = self.reads.setdefault(effect.memory, Reads(effect.graph))
                one.used += 1
                one.at = max(one.at or effect.at, effect.at)
            case Traversed():
                steps = self._steps(effect.key.iri, effect.memory, effect.graph)
                steps.first = steps.first or effect
                steps.trodden += 1
                steps.at = effect.at
            case Counted():
                self.counts[effect.node] = (effect.graph, self.counts.get(effect.node, (effect.graph, 0))[1] + 1)
            case Skipped():
                self._steps(effect.key, effect.memory, effect.graph).passed += 1

    def merge(self, later: Tally) -> None:
        """Add what came later."""
        for iri, reads in later.reads.items():
            known = self.reads.setdefault(iri, Reads(reads.graph))
            known.count += reads.count
            known.used += reads.used
            known.at = max((at for at in (known.at, reads.at) if at), default=None)
        for node, (graph, count) in later.counts.items():
            self.counts[node] = (graph, self.counts.get(node, (graph, 0))[1] + count)
        for steps in later.steps.values():
            mine = self._steps(steps.key, steps.memory, steps.graph)
            mine.first = mine.first or steps.first
            mine.trodden += steps.trodden
            mine.passed += steps.passed
            mine.at = steps.at or mine.at

    def _steps(self, key: IRI, memory: IRI, graph: IRI) -> Steps:
        return self.steps.setdefault(link_iri(key, memory), Steps(memory, key, graph))
