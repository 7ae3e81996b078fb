"""
A synthetic working life: first-person notes about people, projects, tools, firms and places, and questions about them.

A few names are frequent and most are rare: the n-th name is drawn with a probability proportional to 1 / n.

Source: Zipf 1949, Human Behavior and the Principle of Least Effort (exponent 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from memento.model import NoteRow

NAMES: Mapping[str, str] = {
    "first": "Ada Bruno Carla Dario Elena Farid Greta Hugo Ines Jonas Katja Liam Mira Nils Olga Pavel Quinn Rosa Sven Tara",
    "last": "Abel Brandt Costa Dietz Eriksen Ferrari Gruber Haas Ivanov Jansen Keller Lopez Moreau Novak Okoye Petit",
    "stem": "Aurora Basalt Cobalt Delta Ember Falcon Garnet Harbor Indigo Juniper Kestrel Lumen Meadow Nimbus Onyx",
    "firm": "Labs Systems Works Partners Industries Software Energy Media",
    "tool": "Postgres Kafka Terraform Grafana Rust TypeScript Zed Docker Redis PyTorch Kotlin Figma Jira Ansible",
    "place": "Berlin Lisbon Turin Oslo Vienna Porto Ghent Zagreb Bergen Leipzig Toulouse Krakow Malmo Bilbao",
}
NOTES = (
    "I met {person} at {firm} in {place} to talk about {project}.",
    "I fixed the {tool} build of {project} together with {person}, which took {n} minutes.",
    "{person} told me that {project} moves from {tool} to {other}.",
    "I had lunch with {person} in {place} and we planned the {project} release.",
    "I reviewed {n} pull requests of {person} for {project}.",
    "My notes from the {firm} workshop: {person} wants {tool} for {project}.",
    "I sent {person} the budget of {project}, about {n} thousand euros.",
    "I read about {tool} on the train to {place} and thought of {project}.",
)
QUESTIONS = (
    "What did I talk about with {person}?",
    "Which tool does {project} use?",
    "When did I meet {person} in {place}?",
    "Who works with me on {project}?",
    "What do I know about {tool} at {firm}?",
    "How large was the budget of {project}?",
)
BEGIN = datetime(2024, 1, 1, 8, tzinfo=UTC)


class Life:
    """Notes and questions about the same names; the same seed gives the same life."""

    def __init__(self, names: int, seed: int = 20_240_229) -> None:
        """
        Args:
            names: how many people there may be; projects and firms are a third as many each.
        """
        self._rng = np.random.default_rng(seed)
        parts, some = {kind: text.split() for kind, text in NAMES.items()}, max(names // 3, 5)
        stems = parts["stem"]
        self._pools: dict[str, list[str]] = {
            "person": _combined(parts["first"], parts["last"], names),
            "project": _combined(["Project"], [first + second.lower() for first in stems for second in stems], some),
            "firm": _combined(stems, parts["firm"], some),
            "tool": parts["tool"],
            "other": parts["tool"][::-1],
            "place": parts["place"],
        }

    def notes(self, n: int) -> list[NoteRow]:
        """`n` notes of 8 to 16 words, an hour apart, no two alike."""
        texts: dict[str, None] = {}
        while len(texts) < n:
            texts[self._filled(NOTES)] = None
        return [NoteRow(content=text, at=BEGIN + timedelta(hours=hour)) for hour, text in enumerate(texts)]

    def questions(self, n: int) -> list[str]:
        """`n` questions, no two alike."""
        texts: dict[str, None] = {}
        while len(texts) < n:
            texts[self._filled(QUESTIONS)] = None
        return list(texts)

    def _filled(self, templates: Sequence[str]) -> str:
        template = templates[int(self._rng.integers(len(templates)))]
        names = {kind: pool[self._zipf(len(pool))] for kind, pool in self._pools.items()}
        return template.format(**names, n=int(self._rng.integers(3, 900)))

    def _zipf(self, n: int) -> int:
        """A place in 0..n-1, the first far more often than the last; by inversion of the continuous 1/x law."""
        return min(int((n + 1) ** self._rng.random()) - 1, n - 1)


def _combined(firsts: Sequence[str], seconds: Sequence[str], n: int) -> list[str]:
    """At most `n` pairs, in an order that mixes both."""
    pairs = [f"{first} {second}" for second in seconds for first in firsts]
    return [pairs[i] for i in np.random.default_rng(0).permutation(len(pairs))[:n]]
