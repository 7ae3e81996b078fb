"""Keys and what they lead to as text for people: a numbered line for each way on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from memento.interfaces.cli.shown import clean, day

Json = Mapping[str, Any]


def keys(found: Json) -> str:
    """The keys that a question leads to."""
    lines = []
    for number, one in enumerate(found["keys"], start=1):
        why = f"{one['score']:.2f} {one['match']}, {_count(one['memory_count'])}"
        lines.append(f"{number:>3}. {_name(one)}  {_dim(why)}{_hub(one)}\n     {_dim(one['key'])}")
    return "\n".join(lines) or "No key leads anywhere from there."


def page(found: Json) -> str:
    """Where a key leads."""
    head = f"{_name(found)} leads to {_count(found['total'])}{_hub(found)}"
    lines = []
    for number, one in enumerate(found["memories"], start=1):
        how = f"score {one['score']:.2f}, weight {one['weight']:.2f}, {one['band']}"
        lines.append(f"{number:>3}. {day(one['created_at'])}  {_dim(how)}\n     {_dim(one['memory'])}")
    more = [f"{len(lines) + 1:>3}. further ones"] if found["next_offset"] else []
    return "\n".join([head, *lines, *more])


def memory(found: Json) -> str:
    """One memory, and the keys that lead on from it."""
    lines = [
        click.style(clean(found["content"]), bold=True),
        _dim(f"{found['memory']}  since {day(found['valid_at'])}, depth {found['depth']:.2f} ({found['band']})"),
    ]
    if found["superseded_by"]:
        lines.append(_dim(f"superseded by {found['superseded_by']}"))
    lines += [_dim(f"contradicts {one}") for one in found["contradicts"]]
    for number, one in enumerate(found["keys"], start=1):
        how = f"weight {one['weight']:.2f}, {_count(one['memory_count'])}"
        lines.append(f"{number:>3}. {_name(one)}  {_dim(how)}")
    return "\n".join(lines)


def remembered(answer: Json) -> str:
    """What became of a text."""
    what = "Known already, and deeper now" if answer["repeated"] else "Remembered"
    lines = [f"{what}: {answer['saved']}"]
    if answer["superseded"]:
        why = "it had a key in common" if answer["conflict"] else "it said nearly the same"
        lines.append(f"In the place of {answer['superseded']}: {why}.")
    lines += [f"It may contradict {one}." for one in answer["contradicts"]]
    return "\n".join(lines)


def related(answer: Json) -> str:
    """The neighbours of a memory."""
    lines = [
        f"{one['score']:.2f}  {clean(one['content'])}  "
        f"{_dim(', '.join(clean(name) for name in one['shared']) or 'linked by hand')}"
        for one in answer["memories"]
    ]
    return "\n".join([*lines, *(f"contradicts {one}" for one in answer["contradicts"])]) or "It has no neighbours."


def direct(answer: Json) -> str:
    """The memories that direct recall found."""
    lines = []
    for one in answer["memories"]:
        way = f"hop {one['hop']}: {', '.join(map(clean, one['via']))}"
        lines.append(f"{one['score']:.4f}  {clean(one['content'])}  {_dim(way)}")
    return "\n".join(lines) or "Nothing relevant comes to mind."


def listing(rows: Iterable[Json]) -> str:
    """A line for each memory, and one for its keys."""
    lines = [
        f"{day(one['created_at'])}  {clean(one['content'])}\n            {_dim(', '.join(map(clean, one['keys'])))}"
        for one in rows
    ]
    return "\n".join(lines) or "Nothing here yet."


def turns(rows: Sequence[Json]) -> str:
    """A line for each turn."""
    return "\n".join(f"{one['turn']:>3}  {clean(one['role'])}: {clean(one['content'])}" for one in rows) or "Nothing."


def _name(one: Json) -> str:
    name = click.style(clean(one["name"]), bold=True)
    return name if one["type"] == "concept" else f"{name} {_dim('(' + one['type'].replace('_', ' ') + ')')}"


def _hub(one: Json) -> str:
    return _dim(", a hub") if one["is_hub"] else ""


def _count(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def _dim(text: str) -> str:
    return click.style(text, dim=True)
