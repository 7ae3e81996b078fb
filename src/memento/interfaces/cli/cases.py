"""The commands for cases: finished tasks as examples, plans made after them, and carrying those out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memento.errors import InputError
from memento.interfaces.cli.base import GROUPS, Chosen, ask, common, opened

if TYPE_CHECKING:
    from memento.model import CaseRow

F = TypeVar("F", bound=Callable[..., Any])

_outcome = click.option("--outcome", type=click.Choice(["success", "partial", "failure"]), help="How the task ended.")
_reward = click.option("--reward", type=float, metavar="-0.2…1", help="What it earned, instead of an outcome.")
_score = click.option("--score", type=float, metavar="0…1", help="How good a judge found it.")
_efficiency = click.option("--efficiency", type=float, metavar="0…1", help="The share of its cost that it saved.")


def command(name: str) -> Callable[[F], F]:
    """Register a command of the group; each may name a domain."""

    def register(function: F) -> F:
        domain = click.option("--domain", metavar="NAME", help="The bank of cases; default that of the namespace.")
        GROUPS["cases"].command(name)(common(domain(click.pass_obj(function))))
        return function

    return register


def _answer(chosen: Chosen, method: str, view: Callable[[Any], str], /, **asked: Any) -> None:
    with opened(chosen, f"cases {method}") as memento:
        answer = ask(memento, method, **asked)
    _print(chosen, answer, lambda: view(answer))


def _print(chosen: Chosen, answer: object, view: Callable[[], str]) -> None:
    click.echo(json.dumps(answer, ensure_ascii=False) if chosen.as_json else view())


def _rows(file: Path) -> list[CaseRow]:
    """The tasks of a file; raises `InputError` that names the line."""
    from memento.cases.rows import parse_row

    rows: list[CaseRow] = []
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                rows.append(parse_row(line))
            except InputError as error:
                raise InputError(f"line {number} of {file.name}: {error}") from error
    return rows
