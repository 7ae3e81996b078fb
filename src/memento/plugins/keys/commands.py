"""The commands of keys: their answers as text, and a walk from key to key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import click

from memento.errors import MementoError
from memento.interfaces.cli import views
from memento.interfaces.cli.base import Chosen, call_operation, command, open_memory
from memento.interfaces.cli.commands import FILTERED, Command, Option, read_text
from memento.interfaces.cli.views import Json, clean, day, dim, show_redacted
from memento.iris import MEM


def show_keys(found: Json) -> str:
    """List the keys that a question leads to."""
    lines = []
    for number, one in enumerate(found["keys"], start=1):
        why = f"{one['score']:.2f} {one['match']}, {_count_memories(one['memory_count'])}"
        lines.append(f"{number:>3}. {_key_name(one)}  {dim(why)}{_hub(one)}\n     {dim(one['key'])}")
    return "\n".join(lines) or "No key was found."


def show_key_page(found: Json) -> str:
    """Show the memories that a key leads to."""
    head = f"{_key_name(found)} leads to {_count_memories(found['total'])}{_hub(found)}"
    lines = []
    for number, one in enumerate(found["memories"], start=1):
        how = f"score {one['score']:.2f}, weight {one['weight']:.2f}, {one['band']}"
        lines.append(f"{number:>3}. {day(one['created_at'])}  {dim(how)}\n     {dim(one['memory'])}")
        if one.get("content"):
            lines[-1] += f"\n     {clean(' '.join(one['content'].split())[:200])}"
    more = [f"{len(lines) + 1:>3}. further ones"] if found["next_offset"] else []
    return "\n".join([head, *lines, *more])


def show_memory(found: Json) -> str:
    """Show one memory, and the keys that lead on from it."""
    lines = [
        click.style(clean(found["content"]), bold=True),
        dim(f"{found['memory']}  since {day(found['valid_at'])}, depth {found['depth']:.2f} ({found['band']})"),
    ]
    if found["superseded_by"]:
        lines.append(dim(f"superseded by {found['superseded_by']}"))
    lines += [dim(f"contradicts {one}") for one in found["contradicts"]]
    for number, one in enumerate(found["keys"], start=1):
        how = f"weight {one['weight']:.2f}, {_count_memories(one['memory_count'])}"
        lines.append(f"{number:>3}. {_key_name(one)}  {dim(how)}")
    return "\n".join(lines)


def show_remembered(answer: Json) -> str:
    """Show what was stored for a text, and what it superseded or may contradict."""
    what = "Known already, and deeper now" if answer["repeated"] else "Remembered"
    lines = [f"{what}: {answer['saved']}"]
    if answer["superseded"]:
        why = "it had a key in common" if answer["conflict"] else "it said nearly the same"
        lines.append(f"It replaces {answer['superseded']}: {why}.")
    lines += [f"It may contradict {one}." for one in answer["contradicts"]]
    return "\n".join(lines) + show_redacted(answer)


def show_related(answer: Json) -> str:
    """List the neighbours of a memory."""
    lines = [
        f"{one['score']:.2f}  {clean(one['content'])}  "
        f"{dim(', '.join(clean(name) for name in one['shared']) or 'linked by hand')}"
        for one in answer["memories"]
    ]
    return "\n".join([*lines, *(f"contradicts {one}" for one in answer["contradicts"])]) or "It has no neighbours."


def show_direct_recall(answer: Json) -> str:
    """List the memories that direct recall found."""
    lines = []
    for one in answer["memories"]:
        way = f"hop {one['hop']}: {', '.join(map(clean, one['via']))}"
        lines.append(f"{one['score']:.4f}  {clean(one['content'])}  {dim(way)}")
    return "\n".join(lines) or "Nothing relevant comes to mind."


show_memory_rows = views.rows(
    lambda one: (
        f"{day(one['created_at'])}  {clean(one['content'])}\n            {dim(', '.join(map(clean, one['keys'])))}"
    ),
    "Nothing here yet.",
)


show_turns = views.rows(lambda one: f"{one['turn']:>3}  {clean(one['role'])}: {clean(one['content'])}", "Nothing.")


def _key_name(one: Json) -> str:
    name = click.style(clean(one["name"]), bold=True)
    return name if one["type"] == "concept" else f"{name} {dim('(' + one['type'].replace('_', ' ') + ')')}"


def _hub(one: Json) -> str:
    return dim(", a hub") if one["is_hub"] else ""


def _count_memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


_REPEATED_KEY = Option(
    names=("--key", "-k"), metavar="KEY", help="A key; may be repeated. Default the names and nouns of TEXT."
)


COMMANDS: Mapping[str, Command] = {
    "remember": Command(
        path="remember",
        view=show_remembered,
        help="Store TEXT word for word under your own keys, without extracting facts (`note` does that). - reads standard input.",
        places={"content": "TEXT"},
        options={
            "keys": _REPEATED_KEY,
            "types": Option(names=("--type",), metavar="KEY TYPE", help="A key that is a name."),
            "ttl_s": Option(names=("--ttl",), metavar="SECONDS"),
            "related_to": Option(names=("--related",), metavar="IRI"),
            "type": Option(names=("--kind",)),
            "tags": Option(names=("--tag",)),
        },
        left_out=frozenset({"piece"}),
        reads={"content": read_text},
    ),
    "find_keys": Command(path="keys find", view=show_keys, options={"k": Option(names=("-k",))}),
    "read_key": Command(path="keys open", view=show_key_page, places={"iri": "KEY"}),
    "read_memory": Command(path="keys read", view=show_memory, places={"iri": "MEMORY"}),
    "related": Command(path="keys related", view=show_related, places={"iri": "MEMORY"}),
    "recall_memories": Command(path="keys recall", view=show_direct_recall, options={"k": Option(names=("-k",))}),
    "list_memories": Command(path="keys list", view=show_memory_rows, options=FILTERED),
    "conversation": Command(path="keys conversation", view=show_turns),
    "cleanup_expired": Command(
        path="keys cleanup",
        view=lambda answer: f"{answer['expired']:,} memories and {answer['phrases']:,} names removed.",
    ),
    "memory_stats": Command(path="keys stats", view=views.show_fields),
}
BY_HAND: Mapping[str, str] = {}
OLD_NAMES: Mapping[str, str] = {"walk": "keys walk", "remember": "keys remember"}

GUIDE = "A number goes there, b goes back, q ends; anything else is a new question."


Way = Callable[[], "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a walk: its text, and the ways on by their numbers."""

    text: str
    ways: list[Way] = field(default_factory=list)


class Walk:
    """One walk; going back shows the earlier place without asking the service again."""

    def __init__(self, asked: Callable[..., Any], k: int) -> None:
        """
        Args:
            asked: calls an operation of the service by its name, with its arguments, and returns plain JSON.
            k: the most keys to show.
        """
        self._asked = asked
        self._k = k

    def go(self, query: str | None) -> None:
        """Walk from a question, which is asked for if there is none, until the user quits or the input ends."""
        click.echo(GUIDE)
        try:
            been = [self._keys(query or str(click.prompt("What about")))]
            while True:
                click.echo(f"\n{been[-1].text}")
                choice = str(click.prompt(">", prompt_suffix=" ")).strip()
                if choice == "q":
                    return
                if choice == "b":
                    been = been[:-1] or been
                else:
                    been.append(self._follow_choice(been[-1], choice))
        except click.Abort:  # the end of the input
            click.echo()

    def _follow_choice(self, place: Place, choice: str) -> Place:
        is_number = choice.isascii() and choice.isdigit()
        is_way = is_number and 1 <= int(choice) <= len(place.ways)
        if is_number and not is_way:
            return Place(f"There is no {choice} there: {len(place.ways)} ways lead on. b goes back.", place.ways)
        try:
            return place.ways[int(choice) - 1]() if is_way else self._keys(choice)
        except MementoError as error:
            return Place(str(error))

    def _keys(self, query: str) -> Place:
        found = self._asked("find_keys", query=query, k=self._k)
        return Place(show_keys(found), [self._to_key(one["key"], query) for one in found["keys"]])

    def _to_key(self, key: str, query: str, offset: int = 0) -> Way:
        def page() -> Place:
            found = self._asked("read_key", iri=key, query=query, offset=offset)
            for one in found["memories"]:
                described = self._asked("get", iri=one["memory"])
                one["content"] = next((value for name, value in described["properties"] if name == MEM.content), "")
            ways = [self._to_memory(one["memory"], key, query) for one in found["memories"]]
            more = [self._to_key(key, query, found["next_offset"])] if found["next_offset"] else []
            return Place(show_key_page(found), [*ways, *more])

        return page

    def _to_memory(self, memory: str, via: str, query: str) -> Way:
        def read_memory() -> Place:
            found = self._asked("read_memory", iri=memory, via=via)
            return Place(show_memory(found), [self._to_key(one["key"], query) for one in found["keys"]])

        return read_memory


@command("walk")
@click.argument("query", required=False)
@click.option("-k", type=click.IntRange(1, 20), default=8, show_default=True, help="The most keys to show.")
def walk_keys(chosen: Chosen, query: str | None, k: int) -> None:
    """Walk from QUERY to keys, from a key to memories, from a memory to further keys; ask at each step where to go."""
    with open_memory(chosen, "walk") as memento:
        if chosen.as_json:
            click.echo(json.dumps(call_operation(memento, "find_keys", query=query or "", k=k), ensure_ascii=False))
        else:
            Walk(lambda method, **given: call_operation(memento, method, **given), k).go(query)
