"""The commands of living memories: their strength, and expressions, one or interactively."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from memento.errors import InputError, MementoError
from memento.interfaces.cli import views
from memento.interfaces.cli.base import Chosen, call_operation, command, open_memory, print_answer
from memento.interfaces.cli.commands import Command, Option, read_text_or_file
from memento.interfaces.cli.views import Json, clean, day, dim

if TYPE_CHECKING:
    from memento.python import Client, Memento


def show_path(path: Json) -> str:
    """Show a path over associations."""
    begin, *texts = map(clean, path["contents"])
    links = zip(path["relations"], path["weights"], texts, strict=True)
    return begin + "".join(f"\n  {clean(relation)} ({weight:.2f}) → {text}" for relation, weight, text in links)


show_active = views.rows(lambda one: f"{one['activation']:.2f}  {clean(one['content'])}  {dim(one['memory'])}", "")


show_fading = views.rows(
    lambda one: f"{day(one['archived_on'])}  energy {one['energy']:.2f}  {clean(one['content'])}  {dim(one['iri'])}",
    "No memory fades.",
    dim("`memento mark IRI --importance 1` keeps one for ever."),
)


def show_archived(answer: Json) -> str:
    """Show the memories that were archived, or would be."""
    if not answer["memories"]:
        return "Every memory has energy left, or is used."
    head = "Would be archived:" if answer["dry_run"] else "Archived; `memento living unarchive` brings one back:"
    rows = [(clean(answer["contents"][iri]), iri) for iri in answer["memories"]]
    return "\n".join([head, *(f"- {text}  {dim(iri)}" for text, iri in rows)])


_SUCCESS = {"success": True, "fail": False}

COMMANDS: Mapping[str, Command] = {
    "strength": Command(path="living strength", view=views.show_fields, places={"iri": "MEMORY"}),
    "feedback": Command(
        path="living feedback",
        view=views.show_fields,
        help="Report that MEMORY helped (success) or misled (fail).",
        places={"iri": "MEMORY", "helped": "OUTCOME"},
        options={"helped": Option(type=click.Choice(list(_SUCCESS)))},
        reads={"helped": _SUCCESS.__getitem__},
    ),
    "associate": Command(
        path="living associate",
        view=lambda answer: f"It leads there with the weight {answer['weight']:.2f}.",
    ),
    "trace": Command(
        path="living trace",
        view=lambda answer: "\n".join(map(show_path, answer)) or "Nothing leads away from it.",
        places={"iri": "MEMORY"},
    ),
    "activate": Command(
        path="living activate",
        view=show_active,
        places={"seeds": "MEMORY..."},
    ),
    "decay": Command(
        path="living decay",
        view=lambda answer: f"Faded until {answer['until']}, by half in {answer['half_life']:g} days.",
        options={"half_life_days": Option(names=("--half-life",), metavar="DAYS")},
    ),
    "archive": Command(path="living archive", view=show_archived),
    "list_fading": Command(path="living fading", view=show_fading),
    "list_archived": Command(path="living archived", view=views.show_listing),
    "unarchive": Command(path="living unarchive", view=views.show_fields, places={"iri": "MEMORY"}),
}
BY_HAND: Mapping[str, str] = dict.fromkeys(
    ("evaluate", "recall_items", "get_item", "policies", "set_policy"), "eval-sexpr"
)
"""Items and policies are asked by expressions."""
OLD_NAMES: Mapping[str, str] = {"eval-sexpr": "expressions eval", "repl": "expressions repl"}

HELP = """An expression goes over several lines until its last bracket closes, as (recall "tea"). q ends."""


@command("eval-sexpr")
@click.argument("expression", required=False)
@click.option("--verbs", is_flag=True, help="Print all verbs, as a Markdown table.")
def evaluate_expression(chosen: Chosen, expression: str | None, verbs: bool) -> None:
    """Print the value of EXPRESSION, as (recall "tea"): give its text, a file with it, or - for standard input."""
    if verbs:
        from memento.plugins.living.sexpr.verbs import table

        click.echo(table(), nl=False)
        return
    if expression is None:
        raise InputError("EXPRESSION is missing: write one in quotes, as '(recall \"tea\")', or ask for --verbs")
    with open_memory(chosen, "eval-sexpr") as memento:
        answer = call_operation(
            memento, "evaluate", expression=read_text_or_file(expression, "(;"), namespace=chosen.namespace
        )
    print_answer(chosen, answer, lambda: answer["text"])


@command("repl")
def read_expressions(chosen: Chosen) -> None:
    """Evaluate expressions as you type them, until q or the end of the input."""
    with open_memory(chosen, "repl") as memento:
        if sys.stdin.isatty():
            _enable_history()
            click.echo(HELP)
        has_failed = _evaluate_lines(chosen, memento)
    if has_failed and not sys.stdin.isatty():
        raise SystemExit(1)


def _enable_history() -> None:
    """Enable the line history on the arrow keys, where the platform has it."""
    try:
        import readline
    except ImportError:
        return
    readline.parse_and_bind("tab: self-insert")


def _evaluate_lines(chosen: Chosen, memento: Memento | Client) -> bool:
    """Evaluate expressions until the end of the input; return whether any failed."""
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
                click.echo(call_operation(memento, "evaluate", expression=text, namespace=chosen.namespace)["text"])
            except MementoError as error:
                click.echo(f"memento: {error}", err=True)
                has_failed = True
            text = ""


def is_open(text: str) -> bool:
    """
    Tell whether an expression goes on in the next line.

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
