"""The commands for cases: finished tasks as examples, plans made after them, and carrying those out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import click
import msgspec
from msgspec import Meta

from memento.codec import decode
from memento.errors import InputError
from memento.interfaces.cli import views
from memento.interfaces.cli.base import GROUPS, Chosen, ask, common, opened, printed
from memento.model import LEAST_REWARD, MOST_REWARD, OUTCOMES, CaseRow, Outcome

if TYPE_CHECKING:
    from memento.model import CaseRow

# What the schema tells is checked where rows become cases, in words that name the row.
Ended = Annotated[str | None, Meta(extra_json_schema={"enum": [*OUTCOMES, None]})]
Earned = Annotated[float | None, Meta(extra_json_schema={"minimum": LEAST_REWARD, "maximum": MOST_REWARD})]
FIELDS = tuple(one.name for one in fields(CaseRow))


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finished task: what was asked, what was done, and how it ended or what it earned."""

    task: str
    plan: str
    outcome: Ended = None
    reward: Earned = None
    at: datetime | None = None
    about: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def noun(self) -> CaseRow:
        """Return the same as it is kept."""
        return CaseRow(
            task=self.task,
            plan=self.plan,
            outcome=cast("Outcome | None", self.outcome),
            reward=self.reward,
            at=self.at,
            about=self.about,
            derived_from=self.derived_from,
            tags=self.tags,
        )


def parse_row(line: bytes) -> CaseRow:
    """
    Parse a row from a JSON object.

    Raises:
        InputError: not JSON, a field is missing, of the wrong type, or none that a case has; names it.

    >>> parse_row(b'{"task": "Look.", "plan": "1. Look.", "outcme": "failure"}')
    Traceback (most recent call last):
    memento.errors.InputError: unknown field `outcme`: a case has task, plan, outcome, reward, at, about, derived_from, tags
    """
    try:
        return decode(Row, line).noun()
    except InputError as error:
        raise InputError(explain_error(str(error))) from error


def explain_error(error: str) -> str:
    """Put an error about rows into plain words."""
    where, unknown, name = error.partition("Object contains unknown field ")
    return (
        f"{where.removeprefix('the body: ')}unknown field {name}: a case has {', '.join(FIELDS)}" if unknown else error
    )


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
    from memento.interfaces.cli.cases import parse_row

    rows: list[CaseRow] = []
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                rows.append(parse_row(line))
            except InputError as error:
                raise InputError(f"line {number} of {file.name}: {error}") from error
    return rows
