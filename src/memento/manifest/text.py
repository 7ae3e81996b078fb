"""The map for a model: six lines, in 500 tokens of four characters each."""

from __future__ import annotations

from collections.abc import Sequence

from memento.model import Manifest, Place

MOST_CHARS = 2_000
EMPTY = "Memory: nothing yet. Tell it something to remember."

_TEXT, _NAME = 40, 24


def written(manifest: Manifest) -> str:
    """
    The map in at most 2,000 characters; what does not fit goes from the end: seasons that are over, key nodes, communities.

    *Because:* it stands in the description of a tool, where a model reads it before it asks.
    """
    if not manifest.layout.memories:
        return EMPTY
    for seasons, keys, regions in ((4, 5, 3), (2, 5, 3), (2, 3, 3), (2, 3, 1), (0, 3, 1)):
        text = "\n".join(line for line in _lines(manifest, seasons, keys, regions) if line)
        if len(text) <= MOST_CHARS:
            return text
    return text[: MOST_CHARS - 1] + "…"


def _lines(manifest: Manifest, seasons: int, keys: int, regions: int) -> tuple[str, ...]:
    layout = manifest.layout
    return (
        f"Memory: {layout.memories:,} items, {layout.links:,} edges ({layout.average_degree:.1f} avg degree), "
        f"energy {manifest.energy:.0f}/100",
        _regions(manifest, regions),
        _seasons(manifest, seasons),
        _keys(manifest.keys[:keys]),
        _topology(manifest),
        f"Recent: {shorten(manifest.recent, 2 * _TEXT)}" if manifest.recent else "",
    )


def _regions(manifest: Manifest, most: int) -> str:
    told = []
    for one in manifest.regions[:most]:
        tags = f" (tags: {'/'.join(one.keywords[:2])})" if one.keywords else ""
        told.append(f"[{shorten(one.label, 2 * _NAME)}{tags}: {one.size:,} items]")
    return f"Communities: {', '.join(told)}" if told else ""


def _seasons(manifest: Manifest, most: int) -> str:
    told = [
        f"{name.capitalize()}: {', '.join(shorten(one.text, _TEXT) for one in some[:3])}"
        for name, some in list(manifest.seasons.items())[:most]
        if some
    ]
    return " | ".join(told)


def _keys(keys: Sequence[Place]) -> str:
    told = [f'"{shorten(one.text, _TEXT)}" ({one.score:.2f})' for one in keys]
    return f"Key nodes: {', '.join(told)}" if told else ""


def _topology(manifest: Manifest) -> str:
    layout = manifest.layout
    bridge = ""
    if manifest.crossings:
        first = manifest.crossings[0]
        ends = "↔".join(shorten(one.text, _NAME) for one in first.ends)
        bridge = f", bridge: {ends} ({first.weight:.2f})"
    return (
        f"Topology: {density(layout.density)} density ({layout.density:.2f}), "
        f"{clustering(layout.clustering)} clustering ({layout.clustering:.2f}){bridge}"
    )


def density(value: float) -> str:
    """
    >>> density(0.09), density(0.1), density(0.3)
    ('sparse', 'medium', 'dense')
    """
    return "sparse" if value < 0.1 else "medium" if value < 0.3 else "dense"


def clustering(value: float) -> str:
    """
    >>> clustering(0.19), clustering(0.2), clustering(0.6)
    ('low', 'medium', 'high')
    """
    return "low" if value < 0.2 else "medium" if value < 0.6 else "high"


def shorten(text: str, most: int) -> str:
    """
    One line of at most so many characters, cut at a word where it can be.

    >>> shorten("USER works at Google in Zurich", 20), shorten("short", 20)
    ('USER works at…', 'short')
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return (cut[: cut.rfind(" ")] if cut.rfind(" ") > most // 2 else cut) + "…"
