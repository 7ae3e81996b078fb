"""The map in 500 tokens: its lines, its order, and what goes when it does not fit."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memento.iris import IRI
from memento.manifest import EMPTY, MOST_CHARS, write_text
from memento.model import Crossing, Layout, Manifest, Place, Region


def place(text: str, score: float = 0.5) -> Place:
    return Place(iri=IRI(f"urn:x:{abs(hash(text))}"), text=text, score=score)


def manifest(text: str = "USER works at Google") -> Manifest:
    region = Region(
        label=f"{text}/Zurich", size=12, keywords=("work", "city"), importance=0.5, volatility=0.1, places=()
    )
    return Manifest(
        namespace="main",
        at=datetime(2026, 3, 1, tzinfo=UTC),
        energy=41.7,
        layout=Layout(
            memories=1234,
            anchors=90,
            links=2468,
            average_degree=4.04,
            density=0.1,
            clustering=0.65,
            modularity=0.4,
            largest=0.9,
        ),
        regions=(region,) * 5,
        seasons={name: (place(text),) * 5 for name in ("emerging", "active", "stable", "decaying")},
        keys=tuple(place(f"{text} {n}", 0.9 - n / 10) for n in range(8)),
        crossings=(Crossing(ends=(place("Google"), place("Anna")), regions=(0, 1), weight=0.4),),
        recent="noted: I work at Google",
    )


def test_the_lines_come_in_their_order() -> None:
    lines = write_text(manifest()).splitlines()

    assert lines[0] == "Memory: 1,234 items, 2,468 edges (4.0 avg degree), energy 42/100"
    assert lines[1].startswith("Communities: [USER works at Google/Zurich (tags: work/city): 12 items], [")
    assert lines[1].count("items]") == 3
    assert re.match(r"Emerging: .* \| Active: .* \| Stable: .* \| Decaying: ", lines[2])
    assert lines[3].count('"') == 2 * 5
    assert lines[3].startswith('Key nodes: "USER works at Google 0" (0.90), ')
    assert lines[4] == "Topology: medium density (0.10), high clustering (0.65), bridge: Google↔Anna (0.40)"
    assert lines[5] == "Recent: noted: I work at Google"


def test_a_season_without_memories_is_left_out() -> None:
    some = replace(manifest(), seasons={"emerging": (), "active": (place("tea"),), "stable": (), "decaying": ()})

    assert "Active: tea" in write_text(some).splitlines()
    assert "Emerging" not in write_text(some)


@pytest.mark.parametrize("text", ["W" * 300, "many short words " * 30, "ß" * 50, "日本語" * 40])
def test_it_never_exceeds_its_budget(text: str) -> None:
    assert len(write_text(manifest(text))) <= MOST_CHARS


def test_an_empty_memory_says_how_to_begin() -> None:
    empty = manifest()

    assert write_text(replace(empty, layout=replace(empty.layout, memories=0))) == EMPTY


def test_what_room_there_is_goes_to_longer_texts() -> None:
    long = "USER walked along the river with Anna and talked about the house that they want to build in spring"
    lines = write_text(replace(manifest(), keys=(place(long, 0.9),))).splitlines()

    assert f'"{long}" (0.90)' in lines[3]
    assert MOST_CHARS / 2 < len(write_text(manifest(long))) <= MOST_CHARS
