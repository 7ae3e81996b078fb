"""The commands with several formats: recall, the map, s-expressions."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memento.errors import InputError, MementoError
from memento.interfaces.cli import views
from memento.interfaces.cli.base import Chosen, Instant, ask, command, opened, printed
from memento.interfaces.cli.commands import read_text_or_file

if TYPE_CHECKING:
    from memento.python import Client, Memento

HELP = """An expression goes over several lines until its last bracket closes, as (recall "tea"). q ends."""


@command("recall")
@click.argument("question")
@click.option("-k", type=int, metavar="N", help="Most memories to show.")
@click.option("--as-of", type=Instant(), help="What was true then.")
@click.option("--believed-at", type=Instant(), help="What was believed then.")
@click.option("--profile", metavar="NAME", help="Retrieval settings by name, as seed.")
@click.option("--engine", metavar="NAME", help="What ranks: signals, ppr, spread, hops or published.")
@click.option("--no-gate", is_flag=True, help="Show the best there is, even when nothing is relevant.")
@click.option("--explain", is_flag=True, help="Say why each came back, and by which SPARQL query.")
@click.option(
    "--format", "form", type=click.Choice(["text", "xml"]), help="A tree, or the block that a model is given."
)
def recall(chosen: Chosen, question: str, no_gate: bool, form: str | None, **details: Any) -> None:
    """The memories that answer QUESTION, best first; none when none is relevant."""
    details["gate"] = False if no_gate else None
    with opened(chosen, "recall") as memento:
        if form and not chosen.as_json:
            click.echo(_render(chosen, memento, form, question, details))
            return
        answer = ask(memento, "recall", question=question, **details)
    printed(chosen, answer, lambda: views.show_recollection(answer))


@command("eval-sexpr")
@click.argument("expression", required=False)
@click.option("--verbs", is_flag=True, help="Print the verbs there are, as a table in Markdown.")
def evaluated(chosen: Chosen, expression: str | None, verbs: bool) -> None:
    """The value of EXPRESSION, as (recall "tea"); the text itself, a file that holds it, or - for standard input."""
    if verbs:
        from memento.sexpr.verbs import table

        click.echo(table(), nl=False)
        return
    if expression is None:
        raise InputError("EXPRESSION is missing: write one in quotes, as '(recall \"tea\")', or ask for --verbs")
    with opened(chosen, "eval-sexpr") as memento:
        answer = ask(memento, "evaluate", expression=read_text_or_file(expression, "(;"), namespace=chosen.namespace)
    printed(chosen, answer, lambda: answer["text"])


@command("repl")
def repl(chosen: Chosen) -> None:
    """Evaluate expressions as they are typed, until q or the end of the input."""
    with opened(chosen, "repl") as memento:
        if sys.stdin.isatty():
            _with_history()
            click.echo(HELP)
        has_failed = _read_on(chosen, memento)
    if has_failed and not sys.stdin.isatty():
        raise SystemExit(1)


@command("manifest")
@click.option("--svg", is_flag=True, help="Print the picture of the map.")
@click.option("--fresh", is_flag=True, help="Draw it now instead of showing the one that is kept.")
def manifest(chosen: Chosen, svg: bool, fresh: bool) -> None:
    """The map of the memory: what hangs together, what it turns on, what is new and what fades."""
    with opened(chosen, "manifest") as memento:
        if svg:
            from memento.interfaces.picture import draw_manifest

            click.echo(draw_manifest(memento.manifest(fresh=fresh, namespace=chosen.namespace)))
            return
        answer = ask(memento, "manifest", fresh=fresh, namespace=chosen.namespace)
    printed(chosen, answer, lambda: "\n".join(map(views.clean, answer["text"].splitlines())))


def _with_history() -> None:
    """Let the arrow keys bring back earlier lines, where the platform has that."""
    try:
        import readline
    except ImportError:
        return
    readline.parse_and_bind("tab: self-insert")


def _read_on(chosen: Chosen, memento: Memento | Client) -> bool:
    """Evaluate until the end; whether anything failed."""
    text, has_failed = "", False
    while True:
        try:
            line = input(("... " if text else "> ") if sys.stdin.isatty() else "")
            is_over = False
        except EOFError:
            line, is_over = "", True
        if not text and (is_over or line.strip() in ("q", "quit", "exit")):
            return has_failed
        text = f"{text}\n{line}" if text else line
        if text.strip() and (is_over or not is_open(text)):
            try:
                click.echo(ask(memento, "evaluate", expression=text, namespace=chosen.namespace)["text"])
            except MementoError as error:
                click.echo(f"memento: {error}", err=True)
                has_failed = True
            text = ""


def is_open(text: str) -> bool:
    """
    Whether an expression goes on in the next line.

    >>> is_open('(recall "tea"'), is_open('(recall "(")'), is_open('() ; (')
    (True, False, False)
    """
    depth, state = 0, "code"
    for character in text:
        match state, character:
            case "text", '"':
                state = "code"
            case "text", "\\":
                state = "escape"
            case "escape", _:
                state = "text"
            case "comment", "\n":
                state = "code"
            case "code", '"':
                state = "text"
            case "code", ";":
                state = "comment"
            case "code", "(":
                depth += 1
            case "code", ")":
                depth -= 1
    return state in ("text", "escape") or depth > 0


def _render(chosen: Chosen, memento: Memento | Client, form: str, question: str, details: dict[str, Any]) -> str:
    from zoneinfo import ZoneInfo

    from memento.retrieval.render import as_text, as_xml

    found = memento.recall(question, **details)
    if form == "text":
        return as_text(found)
    return as_xml(found, datetime.now(ZoneInfo(chosen.settings().consolidation.time_zone)).date())
