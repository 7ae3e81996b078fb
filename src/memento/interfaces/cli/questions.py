"""The commands that ask questions: recall, the map, and a walk from key to key."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memento.errors import MementoError
from memento.interfaces.cli import views
from memento.interfaces.cli.base import Chosen, Instant, call_operation, command, open_memory, print_answer
from memento.interfaces.cli.commands import filter_options
from memento.iris import MEM

if TYPE_CHECKING:
    from memento.python import Client, Memento


@command("recall")
@click.argument("question")
@click.option("-k", type=int, metavar="N", help="The most memories to show.")
@click.option("--as-of", type=Instant(), help="Show what was true at this time.")
@click.option("--believed-at", type=Instant(), help="Show what was believed at this time.")
@click.option("--profile", metavar="NAME", help="The profile of retrieval settings, for example seed.")
@click.option("--engine", metavar="NAME", help="The ranking engine: signals, ppr, spread, hops or published.")
@click.option("--mode", metavar="NAME", help="A plain search instead of an engine: vector, keyword or hybrid.")
@click.option("--budget", type=int, metavar="TOKENS", help="The most tokens, best memories first; counts the rest.")
@click.option("--no-gate", is_flag=True, help="Show the best memories even when none is relevant.")
@click.option(
    "--related", type=int, default=0, metavar="N", help="Also show up to N memories that are linked to those."
)
@filter_options
@click.option("--explain", is_flag=True, help="Show why each memory came back, and the SPARQL query for it.")
@click.option(
    "--format", "form", type=click.Choice(["text", "xml"]), help="Print a tree, or the block that a model is given."
)
def recall_memories(
    chosen: Chosen, question: str, no_gate: bool, form: str | None, only: dict[str, Any], **details: Any
) -> None:
    """Show the memories that answer QUESTION, best first; none when none is relevant."""
    details |= {"gate": False if no_gate else None, **only}
    with open_memory(chosen, "recall") as memento:
        if form and not chosen.as_json:
            click.echo(_render(chosen, memento, form, question, details))
            return
        answer = call_operation(memento, "recall", question=question, **details)
    print_answer(chosen, answer, lambda: views.show_recollection(answer))


@command("manifest")
@click.option("--svg", is_flag=True, help="Print the map as an SVG picture.")
@click.option("--fresh", is_flag=True, help="Draw the map now, in place of the cached one.")
def show_manifest(chosen: Chosen, svg: bool, fresh: bool) -> None:
    """Show the map of the memory: what belongs together, what is central, what is new and what fades."""
    with open_memory(chosen, "manifest") as memento:
        if svg:
            from memento.interfaces.picture import draw_manifest

            click.echo(draw_manifest(memento.graphs.manifest(fresh=fresh, namespace=chosen.namespace)))
            return
        answer = call_operation(memento, "manifest", fresh=fresh, namespace=chosen.namespace)
    print_answer(chosen, answer, lambda: "\n".join(map(views.clean, answer["text"].splitlines())))


def _render(chosen: Chosen, memento: Memento | Client, form: str, question: str, details: dict[str, Any]) -> str:
    from zoneinfo import ZoneInfo

    from memento.retrieval.render import as_text, as_xml

    found = memento.recall(question, **details)
    if form == "text":
        return as_text(found)
    return as_xml(found, datetime.now(ZoneInfo(chosen.settings().consolidation.time_zone)).date())


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
        def read_memory() -> Place:
            found = self._asked("read_memory", iri=memory, via=via)
            return Place(views.show_memory(found), [self._to_key(one["key"], query) for one in found["keys"]])

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
