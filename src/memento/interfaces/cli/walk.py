"""A walk in the terminal: what is there, and a question where to go, until the walker has enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from memento.errors import MementoError
from memento.interfaces.cli import views
from memento.interfaces.cli.base import Chosen, ask, command, opened
from memento.iris import MEM

HELP = "A number goes there, b goes back, q ends; anything else is a new question."

Way = Callable[[], "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walker stands: what is shown, and the ways on by their numbers."""

    text: str
    ways: list[Way] = field(default_factory=list)


class Walk:
    """One walk; going back shows what was there, and asks nothing anew."""

    def __init__(self, asked: Callable[..., Any], k: int) -> None:
        """
        Args:
            asked: a method of the service by its name, with its arguments; gives plain JSON.
            k: most keys to show.
        """
        self._asked = asked
        self._k = k

    def go(self, query: str | None) -> None:
        """Walk from a question, or from one that is asked for first, until the walker ends it or the input does."""
        click.echo(HELP)
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
                    been.append(self._next(been[-1], choice))
        except click.Abort:  # the input is at its end
            click.echo()

    def _next(self, place: Place, choice: str) -> Place:
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
        return Place(views.show_keys(found), [self._to_key(one["key"], query) for one in found["keys"]])

    def _to_key(self, key: str, query: str, offset: int = 0) -> Way:
        def page() -> Place:
            found = self._asked("read_key", iri=key, query=query, offset=offset)
            for one in found["memories"]:
                described = self._asked("get", iri=one["memory"])
                one["content"] = next((value for name, value in described["properties"] if name == MEM.content), "")
            ways = [self._to_memory(one["memory"], key, query) for one in found["memories"]]
            more = [self._to_key(key, query, found["next_offset"])] if found["next_offset"] else []
            return Place(views.show_key_page(found), [*ways, *more])

        return page

    def _to_memory(self, memory: str, via: str, query: str) -> Way:
        def opened() -> Place:
            found = self._asked("read_memory", iri=memory, via=via)
            return Place(views.show_memory(found), [self._to_key(one["key"], query) for one in found["keys"]])

        return opened


@command("walk")
@click.argument("query", required=False)
@click.option("-k", type=click.IntRange(1, 20), default=8, show_default=True, help="Most keys to show.")
def walk(chosen: Chosen, query: str | None, k: int) -> None:
    """Walk from QUERY to keys, from a key to memories, from a memory to further keys; asks at each step where to go."""
    with opened(chosen, "walk") as memento:
        if chosen.as_json:
            click.echo(json.dumps(ask(memento, "find_keys", query=query or "", k=k), ensure_ascii=False))
        else:
            Walk(lambda method, **given: ask(memento, method, **given), k).go(query)
