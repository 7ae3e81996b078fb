"""The commands for cases: finished tasks as examples, plans made after them, and carrying those out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memento.errors import InputError
from memento.interfaces.cli import shown_cases as shown
from memento.interfaces.cli.door import FAILED, Instant, common, main
from memento.interfaces.cli.opened import Chosen, ask, opened

if TYPE_CHECKING:
    from memento.model import CaseRow

F = TypeVar("F", bound=Callable[..., Any])

_outcome = click.option("--outcome", type=click.Choice(["success", "partial", "failure"]), help="How the task ended.")
_reward = click.option("--reward", type=float, metavar="-0.2…1", help="What it earned, instead of an outcome.")
_score = click.option("--score", type=float, metavar="0…1", help="How good a judge found it.")
_efficiency = click.option("--efficiency", type=float, metavar="0…1", help="The share of its cost that it saved.")


@main.group("cases")
def cases() -> None:
    """Finished tasks as examples: what worked before, plans made after it, and carrying them out."""


def command(name: str) -> Callable[[F], F]:
    """Register a command of the group; each may name a domain."""

    def register(function: F) -> F:
        domain = click.option("--domain", metavar="NAME", help="The bank of cases; default that of the namespace.")
        cases.command(name)(common(domain(click.pass_obj(function))))
        return function

    return register


@command("list")
@click.option("--limit", type=int, default=50, show_default=True, help="Most cases to show.")
@click.option("--offset", type=int, default=0, help="How many to pass over.")
def listed(chosen: Chosen, **asked: Any) -> None:
    """The cases, the latest first."""
    _answer(chosen, "list_cases", shown.listing, **asked)


@command("show")
@click.argument("iri")
def show(chosen: Chosen, iri: str, domain: str | None) -> None:
    """Everything about the case or the run IRI."""
    if ":trajectory:" in iri:
        _answer(chosen, "task_run", shown.run, run=iri, domain=domain)
    else:
        _answer(chosen, "get_case", shown.case, case=iri, domain=domain)


@command("retrieve")
@click.argument("task")
@click.option("-k", type=int, metavar="N", help="Most cases to follow, and most to avoid.")
@click.option("--about", multiple=True, metavar="IRI", help="An entity that it concerns; may be repeated.")
@click.option("--since", type=Instant(), help="Only cases finished from then on.")
@click.option("--until", type=Instant(), help="Only cases finished before.")
@click.option("--explore", is_flag=True, help="Draw the cases by chance, the better ones more often.")
def retrieve(chosen: Chosen, **asked: Any) -> None:
    """The cases to follow and those to avoid for TASK, with why each was chosen."""
    _answer(chosen, "retrieve_cases", shown.found, **asked)


@command("reward")
@click.argument("retrieval")
@_outcome
@_reward
@_score
@_efficiency
def reward(chosen: Chosen, **asked: Any) -> None:
    """Tell what came of the task that RETRIEVAL was for: the cases it showed share the credit."""
    _answer(chosen, "reward_cases", shown.credited, **asked)


@command("add")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def add(chosen: Chosen, file: Path, domain: str | None) -> None:
    """Keep every line of FILE as a case: JSON objects with task, plan, and outcome or reward."""
    rows = _rows(file)
    with opened(chosen, "cases add") as memento:
        kept = [str(iri) for iri in memento.add_cases(rows, domain=domain)]
    _print(chosen, kept, lambda: f"{len(kept):,} cases kept.")


@command("record")
@click.argument("task")
@click.option("--plan", required=True, help="What was done, as numbered steps.")
@click.option("--retrieval", metavar="IRI", help="The cases that were shown for it, which then share its reward.")
@click.option("--reason", help="Why the verdict is what it is.")
@_outcome
@_reward
@_score
@_efficiency
def record(chosen: Chosen, task: str, plan: str, retrieval: str | None, domain: str | None, **verdict: Any) -> None:
    """Keep the finished TASK as a case, with its verdict."""
    with opened(chosen, "cases record") as memento:
        run = ask(memento, "start_case", task=task, plan=plan, retrieval=retrieval, domain=domain)
        answer = ask(memento, "complete_case", run=run["iri"], domain=domain, **verdict)
    _print(chosen, answer, lambda: shown.completed(answer))


@command("complete")
@click.argument("run")
@click.option("--plan", help="What was done; default the plan it began with.")
@click.option("--reason", help="Why the verdict is what it is.")
@_outcome
@_reward
@_score
@_efficiency
def complete(chosen: Chosen, **asked: Any) -> None:
    """End the task RUN with a verdict: it becomes a case."""
    _answer(chosen, "complete_case", shown.completed, **asked)


@command("forget")
@click.argument("case")
@click.option("--erase", is_flag=True, help="Delete its texts too, and all that it left.")
def forget(chosen: Chosen, **asked: Any) -> None:
    """Show the case IRI no more."""
    _answer(chosen, "forget_case", lambda iri: f"Forgot {iri}.", **asked)


@command("prune")
@click.option("--keep", type=click.IntRange(1), required=True, metavar="N", help="How many cases stay.")
def prune(chosen: Chosen, **asked: Any) -> None:
    """Let the least valuable cases go until N are left."""
    _answer(chosen, "prune_cases", lambda gone: f"{len(gone):,} cases let go.", **asked)


@command("plan")
@click.argument("task")
@click.option("--step", "steps", multiple=True, metavar="TEXT", help="A step of your own plan; may be repeated.")
@click.option("--retrieval", metavar="IRI", help="The cases that your steps were made of, which then share the reward.")
@click.option("-k", type=int, metavar="N", help="Most cases to follow, and most to avoid, that are shown for it.")
def plan(chosen: Chosen, task: str, steps: tuple[str, ...], **asked: Any) -> None:
    """Plan TASK after the cases that are most like it; `memento cases run` carries it out."""
    _answer(chosen, "plan_task", shown.planned, task=task, steps=list(steps), **asked)


@command("run")
@click.argument("run")
@click.option(
    "--uncertain",
    type=click.Choice(["ask", "repeat", "skip"]),
    default="ask",
    show_default=True,
    help="What to do about a call that may have happened before the process ended.",
)
@click.option(
    "--no-complete", "complete", is_flag=True, default=True, flag_value=False, help="Leave the verdict to you."
)
def execute(chosen: Chosen, run: str, domain: str | None, **asked: Any) -> None:
    """Carry out the task RUN with the tools of [executor]; exit code 1 unless it is done."""
    with opened(chosen, "cases run") as memento:
        answer = ask(memento, "execute_task", run=run, domain=domain, **asked)
    _print(chosen, answer, lambda: shown.executed(answer))
    if answer["ending"] != "done":
        sys.exit(FAILED)


@command("runs")
@click.option("--state", type=click.Choice(["pending", "done"]), help="Only those under way, or only those done.")
@click.option("--limit", type=int, default=50, show_default=True, help="Most tasks to show.")
@click.option("--offset", type=int, default=0, help="How many to pass over.")
def runs(chosen: Chosen, **asked: Any) -> None:
    """The tasks under way and done, the latest first."""
    _answer(chosen, "task_runs", shown.runs, **asked)


@command("tools")
def tools(chosen: Chosen, domain: str | None) -> None:
    """The tools of the servers in [executor]."""
    _answer(chosen, "list_tools", shown.tools)


@command("view")
@click.option("--zoom", type=click.Choice(["case", "subtask", "community"]), default="case", show_default=True)
@click.option(
    "--pan", multiple=True, metavar="TEXT", help="Only what concerns it: an entity or a word; may be repeated."
)
@click.option(
    "--tilt",
    type=click.Choice(["embedding", "keyword", "graph", "temporal"]),
    help="The order; default embedding with a task, temporal without.",
)
@click.option("--task", help="What the order is by; embedding and keyword need it.")
@click.option("--since", type=Instant(), help="Only cases finished from then on.")
@click.option("--until", type=Instant(), help="Only cases finished before.")
@click.option("--previous", metavar="IRI", help="An earlier view.")
@click.option("--limit", type=int, default=20, show_default=True, help="Most of what is seen.")
def view(chosen: Chosen, pan: tuple[str, ...], **asked: Any) -> None:
    """The cases from a point of view: how large, of what, in which order."""
    _answer(chosen, "navigate_cases", shown.view, pan=list(pan), **asked)


@command("metrics")
def metrics(chosen: Chosen, domain: str | None) -> None:
    """How well the cases do: rankings, success, execution, the learning curve, what they cost."""
    _answer(chosen, "case_metrics", shown.metrics, domain=domain)


@command("status")
def status(chosen: Chosen, domain: str | None) -> None:
    """How many cases there are, and how far the Q function has come."""
    _answer(chosen, "case_status", shown.numbers, domain=domain)


def _answer(chosen: Chosen, method: str, view: Callable[[Any], str], /, **asked: Any) -> None:
    with opened(chosen, f"cases {method}") as memento:
        answer = ask(memento, method, **asked)
    _print(chosen, answer, lambda: view(answer))


def _print(chosen: Chosen, answer: object, view: Callable[[], str]) -> None:
    click.echo(json.dumps(answer, ensure_ascii=False) if chosen.as_json else view())


def _rows(file: Path) -> list[CaseRow]:
    """The tasks of a file; raises `InputError` that names the line."""
    from memento.cases.rows import read

    rows: list[CaseRow] = []
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                rows.append(read(line))
            except InputError as error:
                raise InputError(f"line {number} of {file.name}: {error}") from error
    return rows
