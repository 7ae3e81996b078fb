"""The commands that ask questions: recall, the map, and a walk from key to key."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memento.interfaces.cli import views
from memento.interfaces.cli.base import Chosen, call_operation, command, open_memory, print_answer
from memento.interfaces.cli.commands import FILTERED, Option, options_of
from memento.operations.recall import Recall

if TYPE_CHECKING:
    from memento.python import Client, Memento


_OPTIONS = {
    **FILTERED,
    "k": Option(names=("-k",), metavar="N"),
    "profile": Option(metavar="NAME"),
    "engine": Option(metavar="NAME"),
    "mode": Option(metavar="NAME", help="A plain search instead of an engine: vector, keyword or hybrid."),
    "budget": Option(metavar="TOKENS"),
    "related": Option(metavar="N"),
    "explain": Option(help="Show why each memory came back, and the SPARQL query for it."),
}


@command("recall")
@click.argument("question")
@options_of(Recall, _OPTIONS, left_out={"question", "gate", "counts", "everywhere", "cases"})
@click.option("--no-gate", is_flag=True, help="Show the best memories even when none is relevant.")
@click.option(
    "--format", "form", type=click.Choice(["text", "xml"]), help="Print a tree, or the block that a model is given."
)
def recall_memories(chosen: Chosen, question: str, no_gate: bool, form: str | None, **details: Any) -> None:
    """Show the memories that answer QUESTION, best first; none when none is relevant."""
    details["gate"] = False if no_gate else None
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
