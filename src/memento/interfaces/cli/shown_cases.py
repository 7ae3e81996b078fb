"""Answers about cases as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from memento.interfaces.cli.shown import Json, clean, day, fields

BARS = "▁▂▃▄▅▆▇█"


def listing(found: Iterable[Json]) -> str:
    """A line for each case: when, what it earned, its task, its IRI."""
    lines = [
        f"{day(one['at'])}  {_number(one['reward']):>5}  {clean(one['task'])}\n                   {_dim(one['iri'])}"
        for one in found
    ]
    return "\n".join(lines) or "No cases yet."


def case(found: Json) -> str:
    """Task, plan, values, verdicts and steps."""
    earned = (
        f"earned {_number(found['earned'])} in {found['uses']} uses" if found["uses"] else "never rewarded for others"
    )
    lines = [
        click.style(clean(found["task"]), bold=True),
        f"  {_dim(found['iri'])}  {day(found['at'])}  reward {_number(found['reward'])}, {earned}",
        *(f"  {clean(line)}" for line in found["plan"].splitlines()),
    ]
    for one in found["verdicts"]:
        reason = f": {clean(one['reason'])}" if one["reason"] else ""
        lines.append(f"  {day(one['at'])} {one['outcome'] or 'rewarded'} {_number(one['reward'])}{reason}")
    return "\n".join([*lines, *_steps(found["steps"])])


def found(answer: Json) -> str:
    """The cases of both sections, each with its values and why it is here."""
    lines: list[str] = []
    for section, head in (("positives", "To follow"), ("negatives", "To avoid")):
        if answer[section]:
            lines.append(click.style(head, bold=True))
        for one in answer[section]:
            lines.append(f"{one['rank']:>2}. {clean(one['task'])}  {_dim(format(one['score'], '.2f'))}")
            lines += [f"    {clean(line)}" for line in one["plan"].splitlines()]
            lines.append(f"    {_dim(clean(one['reason']))}  {_dim(one['iri'])}")
    if not lines:
        return f"No case to show: {clean(answer['reason'])}." if not answer["candidates"] else "No case to show."
    return "\n".join(
        [*lines, _dim(f"by {answer['ranking']}: {clean(answer['reason'])}"), *filter(None, [answer["retrieval"]])]
    )


def credited(answer: Json) -> str:
    """Who shares the reward, and how far learning has come."""
    return (
        f"{len(answer['cases'])} cases share {_number(answer['reward'])}. {answer['labelled']:,} pairs have a reward, "
        f"{answer['updates']:,} rounds learned; {clean(answer['reason'])}."
    )


def completed(answer: Json) -> str:
    """The case, what it earned, and what that did."""
    lines = [f"Kept as {answer['case']}, reward {_number(answer['reward'])}."]
    if answer["credited"]:
        lines.append(credited(answer["credited"]))
    if answer["pruned"]:
        lines.append(f"{len(answer['pruned']):,} cases let go.")
    return "\n".join(lines)


def planned(answer: Json) -> str:
    """The steps, who made them, and how to go on."""
    return "\n".join(
        [*_steps(answer["run"]["steps"]), _dim(clean(answer["reason"])), f"memento cases run {answer['run']['iri']}"]
    )


def executed(answer: Json) -> str:
    """The steps, how it ended, and what came of it."""
    colour = {"done": "green", "failed": "red"}.get(answer["ending"], "yellow")
    lines = [*_steps(answer["run"]["steps"])]
    lines.append(f"{click.style(answer['ending'].capitalize(), fg=colour)}: {clean(answer['reason'])}")
    if answer["answer"]:
        lines.append(clean(answer["answer"]))
    lines.append(_dim(f"{answer['calls']} calls, {answer['tokens']:,} tokens, {answer['seconds']:.1f} s"))
    return "\n".join([*lines, *([completed(answer["completed"])] if answer["completed"] else [])])


def run(answer: Json) -> str:
    """A task with its steps."""
    head = f"{click.style(clean(answer['task']), bold=True)}  {_dim(answer['state'])}"
    return "\n".join([head, *_steps(answer["steps"]), *([answer["case"]] if answer["case"] else [])])


def runs(found: Iterable[Json]) -> str:
    """A line for each task."""
    lines = [
        f"{day(one['at'])}  {one['state']:<8}  {clean(one['task'])}\n            {_dim(one['iri'])}" for one in found
    ]
    return "\n".join(lines) or "No task is under way."


def tools(found: Sequence[Json]) -> str:
    """A line for each tool."""
    lines = [
        f"{one['name']}  {_dim(one['server'])}  {clean(one['description'].partition(chr(10))[0])}" for one in found
    ]
    return "\n".join(lines) or "No server is configured in [executor]."


def view(answer: Json) -> str:
    """A line for each thing that is seen."""
    lines = [f"{one['score']:.2f}  {clean(one['label'])}  {_dim(clean(one['reason']))}" for one in answer["seen"]]
    return (
        "\n".join([*lines, *([_dim(answer["view"])] if answer["view"] else [])])
        if lines
        else "There is nothing to be seen from here."
    )


def metrics(answer: Json) -> str:
    """The figures, and the learning curve as bars."""
    curve = answer["curve"]
    bars = "".join(BARS[min(int(max(one["reward"], 0) * len(BARS)), len(BARS) - 1)] for one in curve)
    shown = numbers({name: value for name, value in answer.items() if name != "curve"})
    return f"{shown}\ncurve  {bars}  {_number(curve[0]['reward'])} → {_number(curve[-1]['reward'])}" if curve else shown


def numbers(answer: Json) -> str:
    """Name and value, a line each."""
    return fields({name: round(value, 4) if isinstance(value, float) else value for name, value in answer.items()})


def _steps(steps: Iterable[Json]) -> list[str]:
    """A line for each step and each of its calls."""
    signs = {"done": "✓", "failed": "✗", "skipped": "-", "pending": "·"}
    lines = []
    for one in steps:
        result = f"  {_dim(_cut(one['result']))}" if one["result"] else ""
        lines.append(f"{signs[one['state']]} {one['step'] + 1}. {clean(one['task'])}{result}")
        lines += [
            f"     {signs[call['state']]} {call['tool']} {_dim(_cut(call['arguments']))}" for call in one["tools"]
        ]
    return lines


def _cut(text: str) -> str:
    line = clean(text)
    return line if len(line) <= 120 else f"{line[:119]}…"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _dim(text: str) -> str:
    return click.style(text, dim=True)
