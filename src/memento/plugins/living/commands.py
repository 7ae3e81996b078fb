"""The commands of living memories: evaluate expressions, one or interactively."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from memento.errors import InputError, MementoError
from memento.interfaces.cli.base import Chosen, call_operation, command, open_memory, print_answer
from memento.interfaces.cli.commands import read_text_or_file

if TYPE_CHECKING:
    from memento.python import Client, Memento

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
