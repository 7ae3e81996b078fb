"""
A plan for a task, out of the cases that were shown for it: by a model, or by a template where there is none.

*Flow:* `write_planner_prompt` writes the question, `llm/prompts/plan.md` is the system prompt, `forms.Plan` is what the model
fills in.

*Source:* the planner of Zhou et al. 2025, arXiv 2508.16153: positive plans first, then negative ones, as numbered steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memento import assets
from memento.errors import InputError
from memento.llm.chat import Chat, Prompt
from memento.model import CaseFound, CasesFound, Offered, TaskStep

if TYPE_CHECKING:
    from memento.cases.forms import Plan

SHOWN = 2000  # characters of a result or a plan in a question to a model

_NUMBERED = re.compile(r"\A\s*+(?:\d++[.)]|[-*])\s++")
_BREAK = re.compile(r"\n+|(?<=[.!?;])\s+(?=\d+[.)]\s)")
# What a task names: a quoted text, a path or file, a date or number, a name. Each is tried once at the beginning of its run of
# characters and never given back: a task of a hundred thousand dashes takes no longer than one of words.
_VALUE = re.compile(
    r"\"[^\"]++\"|'[^']++'|“[^“”]++”|(?<![\w./~-])[./]*+[\w~-]++[./][\w./~-]*\w|\d[\w:.,-]*\w|\d"
    r"|\b[A-Z][\w'-]*+(?:\s[A-Z][\w'-]*+)*"
)
_QUOTES = "\"'“”"


@dataclass(frozen=True, slots=True)
class Draft:
    """
    Steps to take, or an answer where none is left; who made it, and of what.

    `solved` says whether that answer is one to the task; `tokens` is what it cost.
    """

    steps: tuple[str, ...]
    by: str
    reason: str
    answer: str | None = None
    solved: bool = True
    tokens: int = 0


def plan_by_model(
    chat: Chat,
    task: str,
    found: CasesFound | None,
    tools: Mapping[str, Offered],
    done: Sequence[TaskStep] = (),
    most: int = 20,
) -> Draft:
    """
    Ask a model for a plan; an answer that is no plan is sent back to it with what is wrong.

    Args:
        done: the steps so far, when the task is under way: then the answer may be that nothing is left to do.
        most: steps that it may have.

    Raises:
        ModelError: it gave no usable plan.
    """
    from memento.cases.forms import Plan

    def complaint(plan: Plan) -> str | None:
        if not plan.plan and not (plan.finalAnswer or "").strip():
            return "Give steps in plan, or finalAnswer."
        if not plan.plan and not done:
            return "Nothing has been done yet: give the steps in plan."
        if any(not step.description.strip() for step in plan.plan):
            return "Every step needs a description."
        return f"There may be at most {most} steps." if len(plan.plan) > most else None

    system = assets.read_prompt("plan")
    reply = chat.answer(Prompt(system=system, user=write_planner_prompt(task, found, tools, done)), Plan, complaint)
    steps = tuple(" ".join(step.description.split()) for step in reply.value.plan)
    shown_count = len(found.positives) + len(found.negatives) if found else 0
    return Draft(
        steps=steps,
        by=chat.name,
        reason=f"planned by {chat.name} with {shown_count} cases shown",
        answer=None if steps else reply.value.finalAnswer,
        solved=reply.value.solved,
        tokens=reply.tokens_in + reply.tokens_out,
    )


def write_planner_prompt(
    task: str, found: CasesFound | None, tools: Mapping[str, Offered], done: Sequence[TaskStep] = ()
) -> str:
    """Write the question to the planner: task, plans that worked, plans that did not, tools, steps so far."""
    parts = [f"# Task\n\n{task}"]
    if found and found.positives:
        parts.append("# Plans of similar tasks that worked\n\n" + "\n\n".join(map(_describe_case, found.positives)))
    if found and found.negatives:
        parts.append(
            "# Plans of similar tasks that did not work\n\n" + "\n\n".join(map(_describe_case, found.negatives))
        )
    parts.append("# Tools\n\n" + ("\n".join(map(_describe_tool, tools.values())) or "There are none."))
    if done:
        parts.append("# Steps so far\n\n" + "\n".join(map(describe_step, done)))
    if found and (found.positives or found.negatives):
        parts.append("Follow the plans that worked, and avoid the patterns of those that did not.")
    return "\n\n".join(parts)


def describe_step(step: TaskStep) -> str:
    """Describe a step and what came of it for a model."""
    came = {"done": "done", "failed": "failed", "skipped": "not done", "pending": "still to do"}[step.state]
    return f"{step.step + 1}. {step.task}\n   {came}{': ' + shorten(step.result) if step.result else ''}"


def shorten(text: str | None) -> str:
    """Cut a text to as much as a model is shown."""
    return text if text is not None and len(text) <= SHOWN else f"{(text or '')[:SHOWN]}…" if text else ""


def split_steps(plan: str) -> tuple[str, ...]:
    """
    Split a plan into its steps, without their numbers.

    >>> split_steps("1. Look it up. 2. Write it down.")
    ('Look it up.', 'Write it down.')
    """
    return tuple(one for one in (_NUMBERED.sub("", line, count=1).strip() for line in _BREAK.split(plan)) if one)


def number_steps(steps: Iterable[str]) -> str:
    """Join steps as a numbered plan."""
    return "\n".join(f"{place}. {step}" for place, step in enumerate(steps, start=1))


def plan_by_template(task: str, found: CasesFound, least: float, tried: Sequence[tuple[str, ...]] = ()) -> Draft:
    """
    Take the steps of the best case that worked, with what its task names replaced by what this task names, place by place.

    Values are quoted texts, files, numbers and names. Where the two tasks have different numbers of them, nothing is replaced.

    Args:
        least: the cosine below which a case is not like enough to be copied.
        tried: plans that failed and are not made again: then the next case is followed whose task is put in much the same words.

    Raises:
        InputError: there is no case to follow.
    """
    near = [case for case in found.positives if case.cosine >= least]
    for case in near:
        changes = _match_values(case.task, task)
        steps = tuple(_replace_values(step, changes) for step in split_steps(case.plan))
        if not steps or steps in tried or (tried and not _is_alike(case.task, task)):
            continue
        how = f", with {', '.join(f'{old} → {new}' for old, new in changes.items())}" if changes else ""
        return Draft(steps=steps, by="template", reason=f"the plan of <{case.iri}>{how}")
    unlike = ""
    if found.positives and not near:
        most = max(case.cosine for case in found.positives)
        unlike = f" (the most like is at {most:.2f}, and template_from of [cases] is {least:g})"
    raise InputError(
        f"there is no model to plan and no other case that worked to follow{unlike}: "
        "give the steps, or set provider and model of [model]"
    )


def _is_alike(old: str, new: str) -> bool:
    """
    Tell whether two tasks are put in much the same words, whatever they name: nobody looks at a plan that is made on the way.

    >>> _is_alike("Copy a.txt to the log.", "Copy b.txt to the log."), _is_alike("Copy a.txt.", "Print it all.")
    (True, False)
    """
    one, other = (set(re.findall(r"\w+", _VALUE.sub(" ", text[:1].lower() + text[1:]).lower())) for text in (old, new))
    return 2 * len(one & other) >= len(one | other)


def _match_values(old: str, new: str) -> dict[str, str]:
    """
    Map what stands in one task to what stands in its place in the other.

    >>> _match_values("Put 'a.txt' into 2 notes.", "Put 'b.txt' into 3 notes.")
    {'a.txt': 'b.txt', '2': '3'}
    """
    before, after = ([value.strip(_QUOTES) for value in _VALUE.findall(text)] for text in (old, new))
    if len(before) != len(after):
        return {}
    return {a: b for a, b in zip(before, after, strict=True) if a != b}


def _replace_values(step: str, changes: Mapping[str, str]) -> str:
    if not changes:
        return step
    longest = sorted(changes, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in longest))
    return pattern.sub(lambda place: changes[place[0]], step)


def _describe_case(case: CaseFound) -> str:
    return f"Task: {case.task}\nPlan:\n{shorten(number_steps(split_steps(case.plan)))}"


def _describe_tool(tool: Offered) -> str:
    first = tool.description.strip().partition("\n")[0]
    return f"- {tool.name}: {first}" if first else f"- {tool.name}"
