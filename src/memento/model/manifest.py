"""A map of the memory, as it is given to people and models."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memento.iris import IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A memory or an anchor on the map, by its IRI and what it says or is called; `score` is in 0..1."""

    iri: IRI
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """
    Memories and anchors that hang together: `label` names it, `size` counts its memories, `keywords` are its tags or else names.

    `importance` is its share of all rank, `volatility` the share of it that was touched within a week; both in 0..1.
    """

    label: str
    size: int
    keywords: tuple[str, ...]
    importance: float
    volatility: float
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A link that joins two regions, `regions` by their places on the list of them, or -1 for one that is not listed."""

    ends: tuple[Place, Place]
    regions: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """
    The graph of the map in numbers; the user is left out, as everything hangs on them.

    `density`, `clustering` and `largest` (share of the largest component) are in 0..1, `modularity` in −½..1.
    """

    memories: int
    anchors: int
    links: int
    average_degree: float
    density: float
    clustering: float
    modularity: float
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """
    The map of a namespace at a time: what hangs together, what it turns on, what is new and what fades, and what joins it.

    `energy` is the mean of the memories, 0..100. `seasons` names some memories of each season, in the order emerging, active,
    stable, decaying. `recent` says what was done last.
    """

    namespace: str
    at: datetime
    energy: float
    layout: Layout
    regions: tuple[Region, ...]
    seasons: dict[str, tuple[Place, ...]]
    keys: tuple[Place, ...]
    crossings: tuple[Crossing, ...]
    recent: str
    text: str = ""
    """The same for a model, in 2,000 characters at most."""

    def _repr_html_(self) -> str:
        from memento.model import html

        return html.of_manifest(self)
