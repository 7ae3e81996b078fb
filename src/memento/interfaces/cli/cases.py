"""The commands for cases: finished tasks as examples, plans made after them, and carrying those out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memento.errors import InputError
from memento.interfaces.cli import views
from memento.interfaces.cli.base import GROUPS, Chosen, ask, common, opened, printed

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


@command("show")
@click.argument("iri")
def show_case(chosen: Chosen, iri: str, domain: str | None) -> None:
    """Show everything about the case or the run IRI."""
    with opened(chosen, "cases show") as memento:
        if ":trajectory:" in iri:
            run = ask(memento, "task_run", run=iri, domain=domain)
            printed(chosen, run, lambda: views.show_run(run))
        else:
            case = ask(memento, "get_case", case=iri, domain=domain)
            printed(chosen, case, lambda: views.show_case(case))


@command("add")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def add_cases(chosen: Chosen, file: Path, domain: str | None) -> None:
    """Keep every line of FILE as a case: JSON objects with task, plan, and outcome or reward."""
    rows = _rows(file)
    with opened(chosen, "cases add") as memento:
        kept = [str(iri) for iri in memento.add_cases(rows, domain=domain)]
    printed(chosen, kept, lambda: f"{len(kept):,} cases kept.")


@command("record")
@click.argument("task")
@click.option("--plan", required=True, help="What was done, as numbered steps.")
@click.option("--retrieval", metavar="IRI", help="The cases that were shown for it, which then share its reward.")
@click.option("--reason", help="Why the verdict is what it is.")
@_outcome
@_reward
@_score
@_efficiency
def record_case(
    chosen: Chosen, task: str, plan: str, retrieval: str | None, domain: str | None, **verdict: Any
) -> None:
    """Keep the finished TASK as a case, with its verdict."""
    with opened(chosen, "cases record") as memento:
        run = ask(memento, "start_case", task=task, plan=plan, retrieval=retrieval, domain=domain)
        answer = ask(memento, "complete_case", run=run["iri"], domain=domain, **verdict)
    printed(chosen, answer, lambda: views.show_completed(answer))


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
