"""The commands of cases: their answers as text, and those that ask several operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memento.codec import decode
from memento.errors import InputError
from memento.interfaces.cli.base import GROUPS, Chosen, call_operation, common, open_memory, print_answer
from memento.interfaces.cli.commands import Command, Option, options_of
from memento.interfaces.cli.views import Json, clean, day, dim, rows, show_fields
from memento.operations.base import raise_if_unknown_field
from memento.plugins.cases.operations import CompleteCase

if TYPE_CHECKING:
    from memento.plugins.cases.nouns import CaseRow

F = TypeVar("F", bound=Callable[..., Any])

BARS = "▁▂▃▄▅▆▇█"


show_cases = rows(
    lambda one: (
        f"{day(one['at'])}  {_number(one['reward']):>5}  {clean(one['task'])}\n                   {dim(one['iri'])}"
    ),
    "No cases yet.",
)


def show_case(found: Json) -> str:
    """Show a case's task, plan, values, verdicts and steps."""
    earned = (
        f"earned {_number(found['earned'])} in {found['uses']} uses" if found["uses"] else "never rewarded for others"
    )
    lines = [
        click.style(clean(found["task"]), bold=True),
        f"  {dim(found['iri'])}  {day(found['at'])}  reward {_number(found['reward'])}, {earned}",
        *(f"  {clean(line)}" for line in found["plan"].splitlines()),
    ]
    for one in found["verdicts"]:
        reason = f": {clean(one['reason'])}" if one["reason"] else ""
        lines.append(f"  {day(one['at'])} {one['outcome'] or 'rewarded'} {_number(one['reward'])}{reason}")
    return "\n".join([*lines, *_steps(found["steps"])])


def show_cases_found(answer: Json) -> str:
    """Show the cases to follow and the cases to avoid, each with its values and why it was chosen."""
    lines: list[str] = []
    for section, head in (("positives", "To follow"), ("negatives", "To avoid")):
        if answer[section]:
            lines.append(click.style(head, bold=True))
        for one in answer[section]:
            lines.append(f"{one['rank']:>2}. {clean(one['task'])}  {dim(format(one['score'], '.2f'))}")
            lines += [f"    {clean(line)}" for line in one["plan"].splitlines()]
            lines.append(f"    {dim(clean(one['reason']))}  {dim(one['iri'])}")
    if not lines:
        return f"No case to show: {clean(answer['reason'])}." if not answer["candidates"] else "No case to show."
    return "\n".join(
        [*lines, dim(f"by {answer['ranking']}: {clean(answer['reason'])}"), *filter(None, [answer["retrieval"]])]
    )


def show_credited(answer: Json) -> str:
    """Show how many cases share the reward, and the progress of learning."""
    return (
        f"{len(answer['cases'])} cases share {_number(answer['reward'])}. {answer['labelled']:,} pairs have a reward, "
        f"{answer['updates']:,} rounds of learning; {clean(answer['reason'])}."
    )


def show_completed(answer: Json) -> str:
    """Show the stored case, its reward, and the effect of the reward."""
    lines = [f"Kept as {answer['case']}, reward {_number(answer['reward'])}."]
    if answer["credited"]:
        lines.append(show_credited(answer["credited"]))
    if answer["pruned"]:
        lines.append(f"{len(answer['pruned']):,} cases removed.")
    return "\n".join(lines)


def show_planned(answer: Json) -> str:
    """Show the steps of a plan, what made them, and the command that runs it."""
    return "\n".join(
        [*_steps(answer["run"]["steps"]), dim(clean(answer["reason"])), f"memento cases run {answer['run']['iri']}"]
    )


def show_executed(answer: Json) -> str:
    """Show the steps of a task, how it ended, and its result."""
    colour = {"done": "green", "failed": "red"}.get(answer["ending"], "yellow")
    lines = [*_steps(answer["run"]["steps"])]
    lines.append(f"{click.style(answer['ending'].capitalize(), fg=colour)}: {clean(answer['reason'])}")
    if answer["answer"]:
        lines.append(clean(answer["answer"]))
    lines.append(dim(f"{answer['calls']} calls, {answer['tokens']:,} tokens, {answer['seconds']:.1f} s"))
    return "\n".join([*lines, *([show_completed(answer["completed"])] if answer["completed"] else [])])


def show_run(answer: Json) -> str:
    """Show a task with its steps."""
    head = f"{click.style(clean(answer['task']), bold=True)}  {dim(answer['state'])}"
    return "\n".join([head, *_steps(answer["steps"]), *([answer["case"]] if answer["case"] else [])])


show_runs = rows(
    lambda one: f"{day(one['at'])}  {one['state']:<8}  {clean(one['task'])}\n            {dim(one['iri'])}",
    "No task is under way.",
)


show_tools = rows(
    lambda one: f"{one['name']}  {dim(one['server'])}  {clean(one['description'].partition(chr(10))[0])}",
    "No server is configured in [executor].",
)


def show_view(answer: Json) -> str:
    """Show a line for each case, subtask or community in the view."""
    lines = [f"{one['score']:.2f}  {clean(one['label'])}  {dim(clean(one['reason']))}" for one in answer["seen"]]
    return "\n".join([*lines, *([dim(answer["view"])] if answer["view"] else [])]) if lines else "The view is empty."


def show_metrics(answer: Json) -> str:
    """Show the figures, and the learning curve as bars."""
    curve = answer["curve"]
    bars = "".join(BARS[min(int(max(one["reward"], 0) * len(BARS)), len(BARS) - 1)] for one in curve)
    shown = show_numbers({name: value for name, value in answer.items() if name != "curve"})
    return f"{shown}\ncurve  {bars}  {_number(curve[0]['reward'])} → {_number(curve[-1]['reward'])}" if curve else shown


def _steps(steps: Iterable[Json]) -> list[str]:
    """Return a line for each step and each of its calls."""
    signs = {"done": "✓", "failed": "✗", "skipped": "-", "pending": "·"}
    lines = []
    for one in steps:
        result = f"  {dim(_cut(one['result']))}" if one["result"] else ""
        lines.append(f"{signs[one['state']]} {one['step'] + 1}. {clean(one['task'])}{result}")
        lines += [f"     {signs[call['state']]} {call['tool']} {dim(_cut(call['arguments']))}" for call in one["tools"]]
    return lines


def show_numbers(answer: Json) -> str:
    """Show a line for each number, rounded to four decimals."""
    return show_fields({name: round(value, 4) if isinstance(value, float) else value for name, value in answer.items()})


def _cut(text: str) -> str:
    line = clean(text)
    return line if len(line) <= 120 else f"{line[:119]}…"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


_ENDED = Option(type=click.Choice(["success", "partial", "failure"]), help="How the task ended.")

COMMANDS: Mapping[str, Command] = {
    "list_cases": Command(path="cases list", view=show_cases),
    "retrieve_cases": Command(
        path="cases retrieve", view=show_cases_found, options={"k": Option(names=("-k",), metavar="N")}
    ),
    "reward_cases": Command(
        path="cases reward",
        view=show_credited,
        options={"outcome": _ENDED},
        left_out=frozenset({"single"}),
    ),
    "complete_case": Command(path="cases complete", view=show_completed, options={"outcome": _ENDED}),
    "forget_case": Command(path="cases forget", view=lambda iri: f"Forgot {iri}."),
    "prune_cases": Command(
        path="cases prune",
        view=lambda gone: f"{len(gone):,} cases removed.",
        places={},
        options={"keep": Option(metavar="N")},
    ),
    "plan_task": Command(
        path="cases plan",
        view=show_planned,
        options={
            "steps": Option(names=("--step",), metavar="TEXT", help="A step of your own plan; may be repeated."),
            "k": Option(names=("-k",), metavar="N"),
        },
    ),
    "execute_task": Command(
        path="cases run",
        view=show_executed,
        help="Execute the task RUN with the tools of [executor]; exit code 1 unless it is done.",
        options={
            "uncertain": Option(type=click.Choice(["ask", "repeat", "skip"])),
            "complete": Option(names=("--no-complete",), help="Leave the verdict to you."),
        },
        fails_when=lambda answer: answer["ending"] != "done",
    ),
    "task_runs": Command(
        path="cases runs",
        view=show_runs,
        options={"state": Option(type=click.Choice(["pending", "done", "failed"]))},
    ),
    "list_tools": Command(path="cases tools", view=show_tools),
    "navigate_cases": Command(
        path="cases view",
        view=show_view,
        options={
            "zoom": Option(type=click.Choice(["case", "subtask", "community"])),
            "tilt": Option(type=click.Choice(["embedding", "keyword", "graph", "temporal"])),
        },
    ),
    "case_metrics": Command(path="cases metrics", view=show_metrics),
    "case_status": Command(path="cases status", view=show_numbers),
}

BY_HAND: Mapping[str, str] = {
    "add_cases": "cases add",
    "get_case": "cases show",
    "task_run": "cases show",
    "start_case": "cases record",
}

_VERDICT = {
    "outcome": _ENDED,
    "reward": Option(metavar="-0.2…1", help="The reward, instead of an outcome."),
    "efficiency": Option(metavar="0…1"),
    "score": Option(metavar="0…1"),
}


def case_command(name: str) -> Callable[[F], F]:
    """Register a command of the group `cases`, with the option `--domain`."""

    def add_command(function: F) -> F:
        domain = click.option("--domain", metavar="NAME", help="The bank of cases; default the namespace's.")
        GROUPS["cases"].command(name)(common(domain(click.pass_obj(function))))
        return function

    return add_command


@case_command("show")
@click.argument("iri")
def show_case_or_run(chosen: Chosen, iri: str, domain: str | None) -> None:
    """Show everything about the case or the run with this IRI."""
    with open_memory(chosen, "cases show") as memento:
        if ":trajectory:" in iri:
            run = call_operation(memento, "task_run", run=iri, domain=domain)
            print_answer(chosen, run, lambda: show_run(run))
        else:
            case = call_operation(memento, "get_case", case=iri, domain=domain)
            print_answer(chosen, case, lambda: show_case(case))


@case_command("add")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def add_cases(chosen: Chosen, file: Path, domain: str | None) -> None:
    """Store every line of FILE as a case: JSON objects with task, plan, and outcome or reward."""
    rows = _rows(file)
    with open_memory(chosen, "cases add") as memento:
        kept = [str(iri) for iri in memento.cases.add(rows, domain=domain)]
    print_answer(chosen, kept, lambda: f"{len(kept):,} cases kept.")


@case_command("record")
@click.argument("task")
@click.option("--plan", required=True, help="What was done, as numbered steps.")
@click.option("--retrieval", metavar="IRI", help="The retrieval that returned cases for it; they share its reward.")
@options_of(CompleteCase, _VERDICT, left_out={"run", "plan", "tags", "domain"})
def record_case(
    chosen: Chosen, task: str, plan: str, retrieval: str | None, domain: str | None, **verdict: Any
) -> None:
    """Store the finished TASK as a case, with its verdict."""
    with open_memory(chosen, "cases record") as memento:
        run = call_operation(memento, "start_case", task=task, plan=plan, retrieval=retrieval, domain=domain)
        answer = call_operation(memento, "complete_case", run=run["iri"], domain=domain, **verdict)
    print_answer(chosen, answer, lambda: show_completed(answer))


def _rows(file: Path) -> list[CaseRow]:
    """Return the tasks of a file; raise an `InputError` that names the line."""
    from memento.plugins.cases.nouns import CaseRow

    rows: list[CaseRow] = []
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                raise_if_unknown_field(decode(dict[str, Any], line), CaseRow)
                rows.append(decode(CaseRow, line))
            except InputError as error:
                raise InputError(f"line {number} of {file.name}: {error}") from error
    return rows
