"""The commands that ask questions: recall, the map, and a walk from key to key."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memento.interfaces.cli import views
from memento.interfaces.cli.base import Chosen, Instant, call_operation, command, open_memory, print_answer
from memento.interfaces.cli.commands import filter_options

if TYPE_CHECKING:
    from memento.python import Client, Memento


@command("recall")
@click.argument("question")
@click.option("-k", type=int, metavar="N", help="The most memories to show.")
@click.option("--as-of", type=Instant(), help="Show what was true at this time.")
@click.option("--believed-at", type=Instant(), help="Show what was believed at this time.")
@click.option("--profile", metavar="NAME", help="The profile of retrieval settings, for example seed.")
@click.option("--engine", metavar="NAME", help="The ranking engine, for example ppr.")
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
