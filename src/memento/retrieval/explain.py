"""
Why each memory came back: what every signal gives to its score, the names that led to it, and a query that returns the same.

*Guarantees:* the parts of a score sum to it, up to rounding and to the cut at 0; the query reads the graph alone and runs as it
stands, in the namespace that was asked.

*But:* all of it is worked out anew, so that a recall without an explanation pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from memento.graph.binding import bound
from memento.model import Recalled, Scored, Step
from memento.retrieval.distill import candidates, weighed
from memento.retrieval.expand import best_seeds
from memento.retrieval.land import Evidence
from memento.search.links import Joined, link_signal, shared_signal
from memento.search.links.signals import CROWD
from memento.search.view import View
from memento.settings import Settings
from memento.vocabulary import IRI

MOST = 300
"""Memories that are explained at once: the query that returns them must stay short enough for the endpoint."""

NEVER = datetime(9999, 12, 31, tzinfo=UTC)

Seed = tuple[NDArray[np.int32], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why one memory came back."""

    why: dict[str, float]
    path: tuple[Step, ...] = ()

    def of(self, memory: Recalled) -> Recalled:
        """The memory with its reasons."""
        return replace(memory, why=self.why, path=self.path)


def reasons(
    chosen: Sequence[Scored[int]], question: str, evidence: Evidence, joined: Joined, view: View, settings: Settings
) -> dict[IRI, Reasons]:
    """The reasons of the memories that DISTILL chose."""
    nodes = [one.item for one in chosen]
    paths = _paths(nodes, question, evidence, joined, view, settings.expand.seeds)
    found = _why(nodes, evidence, view, settings)
    return {view.indexes.nodes.iri(node): Reasons(found[node], tuple(paths[node])) for node in nodes}


def as_published(chosen: Sequence[Scored[int]], view: View) -> dict[IRI, Reasons]:
    """The reasons of what the published phases chose: they keep one score, and the search that it came from."""
    return {view.indexes.nodes.iri(one.item): Reasons({one.source: round(one.score, 6)}) for one in chosen}


def sparql(
    memories: Sequence[Recalled], asked_at: datetime, as_of: datetime | None, believed_at: datetime | None
) -> str | None:
    """The text of a query that returns the same memories in the same order; None when there is none."""
    if not memories:
        return None
    believed = believed_at or asked_at
    return bound(
        "retrieval/explained",
        {
            "memory": [(one.iri, one.rank, one.score) for one in memories],
            "trueAt": as_of or believed,
            "believedAt": believed,
            "begunBy": as_of or NEVER,
            "writtenBy": believed_at or NEVER,
        },
    )


def _why(nodes: Sequence[int], evidence: Evidence, view: View, settings: Settings) -> dict[int, dict[str, float]]:
    """What each signal gives to the score of some memories, the largest first; what gives nothing is left out."""
    pool = candidates(evidence, view, settings.land.pool)
    shares = weighed(evidence, pool, settings.signals)
    most = sum(asdict(settings.signals).values())
    found = {}
    for node in nodes:
        place = int(np.searchsorted(pool, node))
        parts = {name: round(float(share[place]) / most, 6) for name, share in shares.items()}
        found[node] = {name: part for name, part in sorted(parts.items(), key=lambda one: -abs(one[1])) if part}
    return found


def _paths(
    nodes: Sequence[int], question: str, evidence: Evidence, joined: Joined, view: View, seeds: int
) -> Mapping[int, list[Step]]:
    """The names that the subject, link and shared signals of some memories come from, the rarest first."""
    wanted = np.zeros_like(view.visible)
    wanted[list(nodes)] = True
    postings = [passages.context for passages in view.passages()]
    best, values = best_seeds(evidence, view, seeds)
    led: dict[tuple[int, str], tuple[float, int]] = {}
    for seed, value in zip(best.tolist(), values.tolist(), strict=True):  # each alone tells who gave how much
        alone = np.array([seed], dtype=np.int32), np.array([value], dtype=np.float32)
        signals = {
            "link": link_signal(alone, joined, wanted),
            "shared": shared_signal(alone, question, joined, postings, wanted),
        }
        for name, (there, given) in signals.items():
            for node, gift in zip(there.tolist(), given.tolist(), strict=True):
                led[node, name] = max(led.get((node, name), (0.0, -1)), (gift, seed))
    named = joined.named(question)
    return {node: [*_subject(node, named, joined), *_led(node, led, joined, view)] for node in nodes}


def _subject(node: int, named: Sequence[str], joined: Joined) -> Iterator[Step]:
    for label in _rarest([label for label in named if _is_about(node, label, joined)], joined):
        yield Step(by="subject", name=label)


def _led(node: int, led: Mapping[tuple[int, str], tuple[float, int]], joined: Joined, view: View) -> Iterator[Step]:
    _, seed = led.get((node, "link"), (0.0, -1))
    if seed >= 0:
        names = [
            label
            for label in joined.mentions(seed)
            if _is_about(node, label, joined) and joined.name(label).subjects <= CROWD
        ]
        yield from (Step(by="link", name=label, via=view.indexes.nodes.iri(seed)) for label in _rarest(names, joined))
    _, seed = led.get((node, "shared"), (0.0, -1))
    if seed >= 0:
        common = [label for label in joined.mentions(seed) & joined.mentions(node) if joined.is_tie(label)]
        yield from (
            Step(by="shared", name=label, via=view.indexes.nodes.iri(seed)) for label in _rarest(common, joined)
        )


def _is_about(node: int, label: str, joined: Joined) -> bool:
    name = joined.name(label)
    return name.idf > 0 and any(node in entity.subject_of for entity in name.entities)


def _rarest(labels: Sequence[str], joined: Joined) -> list[str]:
    return sorted(labels, key=lambda label: (joined.name(label).df, label))
