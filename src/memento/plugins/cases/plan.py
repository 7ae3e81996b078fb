"""
Plan a task from the cases shown for it, with a model, or with a template if there is none, and execute the plan.

*Flow:* `write_planner_prompt` writes the question, `prompts/plan.md` is the system prompt, and the model fills in `forms.Plan`.
Each tool call is recorded before it is made, and again after its response.

    next step ── move ── call ── write ──► …  ── over ──► next step
        │ none left: ask the planner for the answer          │ failed: the rest is passed over, and the planner plans again
        ▼                                                    ▼
      done                                         at most `cycles` plans, then failed

*Guarantees:* the graph always contains enough to continue. A call that may have happened before the process ended is repeated only
if its tool is declared repeatable, or if the caller says so. A step fails only if it was tried: a step without the model or tool it
needs waits until there is one.

A step that is itself a call, `read_file {"path": "a.txt"}`, is executed as it is, also without a model. `{{2}}` in it stands for
the result of the step with the number 2 in its plan, else of the second step.

*Source:* the planner of Zhou et al. 2025, arXiv 2508.16153: positive plans first, then negative ones, as numbered steps.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memento import assets, telemetry
from memento.errors import InputError, ModelError
from memento.llm import Chat, Prompt
from memento.model import CaseFound, CasesFound, StepState, TaskStep, ToolCall
from memento.plugins.cases.nouns import Doubt, Ending, Offered, TaskRun
from memento.plugins.cases.settings import ExecutorSettings
from memento.plugins.cases.toolbox import Toolbox
from memento.time import now

if TYPE_CHECKING:
    from memento.plugins.cases.forms import Move, Plan

SHOWN = 2000  # characters of a result or a plan in a prompt

_NUMBERED = re.compile(r"\A\s*+(?:(\d++)[.)]|[-*])\s++")
_BREAK = re.compile(r"\n+|(?<=[.!?;])\s+(?=\d+[.)]\s)")
# The values in a task: a quoted text, a path or file, a date or number, a name. Each pattern is tried once at the beginning of a
# run of characters and never backtracks: a task of a hundred thousand dashes takes no longer than one of words.
_VALUE = re.compile(
    r"\"[^\"]++\"|'[^']++'|“[^“”]++”|(?<![\w./~-])[./]*+[\w~-]++[./][\w./~-]*\w|\d[\w:.,-]*\w|\d"
    r"|\b[A-Z][\w'-]*+(?:\s[A-Z][\w'-]*+)*"
)
_QUOTES = "\"'“”"
_PLACE = re.compile(r"\{\{\s*(\d+)\s*\}\}")
_MOST_DIGITS = 9  # of the number of a step


@dataclass(frozen=True, slots=True)
class Draft:
    """
    The steps to take, or an answer if none is left; the planner, and the cases it used.

    `ids` are the numbers that the planner gave the steps, if they are all different. `solved` says whether the answer solves the
    task; `tokens` is the cost. `fits` is False if the steps were copied from a case and do its task, not this one.
    """

    steps: tuple[str, ...]
    by: str
    reason: str
    answer: str | None = None
    solved: bool = True
    tokens: int = 0
    ids: tuple[int, ...] = ()
    fits: bool = True

    @property
    def plan(self) -> str:
        """Return the steps as a numbered text."""
        return number_steps(self.steps, self.ids)


def plan_by_model(
    chat: Chat,
    task: str,
    found: CasesFound | None,
    tools: Mapping[str, Offered],
    done: Sequence[TaskStep] = (),
    most: int = 20,
) -> Draft:
    """
    Ask a model for a plan; an unusable response is sent back with a description of its error.

    Args:
        done: the steps so far, if the task is under way: the model may then answer that nothing is left to do.
        most: maximum number of steps.

    Raises:
        ModelError: the model returned no usable plan.
    """
    from memento.plugins.cases.forms import Plan

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
    ids = tuple(step.id for step in reply.value.plan)
    shown_count = len(found.positives) + len(found.negatives) if found else 0
    return Draft(
        steps=steps,
        by=chat.name,
        reason=f"planned by {chat.name} with {shown_count} cases shown",
        answer=None if steps else reply.value.finalAnswer,
        solved=reply.value.solved,
        tokens=reply.tokens_in + reply.tokens_out,
        ids=ids if len(set(ids)) == len(ids) and min(ids, default=0) >= 0 else (),
    )


def write_planner_prompt(
    task: str, found: CasesFound | None, tools: Mapping[str, Offered], done: Sequence[TaskStep] = ()
) -> str:
    """Write the prompt for the planner: task, plans that worked, plans that did not, tools, steps so far."""
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
    """Describe a step and its result for a model."""
    came = {"done": "done", "failed": "failed", "skipped": "not done", "pending": "still to do"}[step.state]
    called = f" (id {step.id})" if step.id not in (None, step.step + 1) else ""
    return f"{step.step + 1}.{called} {step.task}\n   {came}{': ' + shorten(step.result) if step.result else ''}"


def shorten(text: str | None) -> str:
    """Cut a text to the length that a model is shown."""
    return text if text is not None and len(text) <= SHOWN else f"{(text or '')[:SHOWN]}…" if text else ""


def split_steps(plan: str) -> tuple[str, ...]:
    """
    Split a plan into its steps, without their numbers.

    >>> split_steps("1. Look it up. 2. Write it down.")
    ('Look it up.', 'Write it down.')
    """
    return tuple(text for _, text in _split_plan(plan))


def read_numbers(plan: str) -> tuple[int, ...]:
    """
    Return the numbers that a plan gives its steps; nothing unless each step has one of its own.

    >>> read_numbers("11. Look it up. 12. Write it down."), read_numbers("- Look it up.")
    ((11, 12), ())
    """
    numbers = [number for number, _ in _split_plan(plan)]
    ids = tuple(number for number in numbers if number is not None)
    return ids if len(set(ids)) == len(numbers) else ()


def _split_plan(plan: str) -> list[tuple[int | None, str]]:
    """Split a plan into its steps, each with its number if it has one."""
    found = []
    for line in _BREAK.split(plan):
        mark = _NUMBERED.match(line)
        if text := line[mark.end() if mark else 0 :].strip():
            is_number = mark is not None and mark[1] is not None and len(mark[1]) <= _MOST_DIGITS
            found.append((int(mark[1]) if mark and is_number else None, text))
    return found


def number_steps(steps: Iterable[str], ids: Sequence[int] = ()) -> str:
    """Join steps into a numbered plan, by their own numbers or else by their positions."""
    return "\n".join(f"{ids[place] if ids else place + 1}. {step}" for place, step in enumerate(steps))


def write_steps(steps: Sequence[TaskStep]) -> str:
    """
    Write executed steps as a plan; they keep their numbers if these are all different, as they may not be after several plans.

    A step that names the result of another, `{{2}}`, names it by the number that the other has in the written plan.

    >>> first, again = (TaskStep(step=n, task="look {}", state="done", cycle=n + 1, id=1) for n in range(2))
    >>> write_steps([first, again, TaskStep(step=2, task='say {"text": "{{1}}"}', state="done", cycle=2, id=2)])
    '1. look {}\\n2. look {}\\n3. say {"text": "{{2}}"}'
    """
    ids = tuple(one.id for one in steps if one.id is not None)
    numbers = ids if len(set(ids)) == len(steps) else tuple(range(1, len(steps) + 1))
    return number_steps([_renumber(one, dict(zip(numbers, steps, strict=True))) for one in steps], numbers)


def _renumber(step: TaskStep, numbered: Mapping[int, TaskStep]) -> str:
    """Return the text of a step in which each place names an earlier step by its number in `numbered`."""
    before = [(number, one) for number, one in numbered.items() if one.step < step.step]
    named = {one.step + 1: number for number, one in before}
    named |= {one.id: number for number, one in before if one.id is not None and one.cycle == step.cycle}
    return _PLACE.sub(lambda place: f"{{{{{named.get(int(place[1]), place[1])}}}}}", step.task)


def plan_by_template(task: str, found: CasesFound, least: float, tried: Sequence[tuple[str, ...]] = ()) -> Draft:
    """
    Copy the steps of the best case that worked, replacing each value in its task by the value at the same position in this task.

    Values are quoted texts, files, numbers and names. If the two tasks have different numbers of values, nothing is replaced. Cases
    whose steps contain all that differs between the tasks come before the others.

    Args:
        least: the cosine below which a case is not similar enough to copy.
        tried: plans that failed and are not used again: the next case with a similarly worded task is then followed.

    Raises:
        InputError: there is no case to follow.
    """
    near = [case for case in found.positives if case.cosine >= least]
    drafts = [_copy_plan(case, task) for case in near if not tried or _is_alike(case.task, task)]
    drafts = [draft for draft in drafts if draft.steps and draft.steps not in tried]
    if drafts:
        return next((draft for draft in drafts if draft.fits), drafts[0])
    unlike = "" if found.positives or found.negatives else f" ({found.reason})"
    if found.positives and not near:
        most = max(case.cosine for case in found.positives)
        unlike = f" (the most like is at {most:.2f}, and template_from of [cases] is {least:g})"
    raise InputError(
        f"there is no model to plan and no other case that worked to follow{unlike}: "
        "give the steps, or set provider and model of [model]"
    )


def copies_other_task(task: str, steps: Sequence[TaskStep], found: CasesFound) -> bool:
    """Tell whether the latest plan among some steps is the template's copy of a plan for a task that is not this one."""
    latest = max((one.cycle for one in steps), default=1)
    taken = tuple(one.task for one in steps if one.cycle == latest)
    fits = [draft.fits for draft in (_copy_plan(case, task) for case in found.positives) if draft.steps == taken]
    return bool(fits) and not any(fits)


def _copy_plan(case: CaseFound, task: str) -> Draft:
    """Copy the plan of a case with the values of another task."""
    changes = _match_values(case.task, task)
    before = split_steps(case.plan)
    steps = tuple(_replace_values(step, changes) for step in before)
    how = f", with {', '.join(f'{old} → {new}' for old, new in changes.items())}" if changes else ""
    # What differs between the tasks must be in the steps, or they do the other task.
    is_same = _words(_replace_values(case.task, changes)) == _words(task)
    fits = is_same and all(
        any(_replace_values(step, {old: new}) != step for step in before) for old, new in changes.items()
    )
    if not fits:
        how += f"; it is the plan of {shorten(case.task)!r}, and does not contain all in which this task differs"
    ids = read_numbers(case.plan) or tuple(range(1, len(steps) + 1))
    return Draft(steps=steps, by="template", reason=f"the plan of <{case.iri}>{how}", ids=ids, fits=fits)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _is_alike(old: str, new: str) -> bool:
    """
    Tell whether two tasks have similar wording, apart from their values: nobody reviews a plan that is made during execution.

    >>> _is_alike("Copy a.txt to the log.", "Copy b.txt to the log."), _is_alike("Copy a.txt.", "Print it all.")
    (True, False)
    """
    one, other = (set(re.findall(r"\w+", _VALUE.sub(" ", text[:1].lower() + text[1:]).lower())) for text in (old, new))
    return 2 * len(one & other) >= len(one | other)


def _match_values(old: str, new: str) -> dict[str, str]:
    """
    Map each value of one task to the value at the same position in the other.

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
    plan = shorten(number_steps(split_steps(case.plan), read_numbers(case.plan)))
    verdict = f"\nVerdict: {shorten(' '.join(case.verdict.split()))}" if case.verdict else ""
    return f"Task: {case.task}\nPlan:\n{plan}{verdict}"


def _describe_tool(tool: Offered) -> str:
    first = tool.description.strip().partition("\n")[0]
    named = f"- {tool.name}: {first}" if first else f"- {tool.name}"
    return f"{named}\n  arguments: {tool.schema}" if tool.schema else named


ANSWER = "Give the answer."
"""The step that holds the planner's final answer."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How one execution ended, and its cost."""

    ending: Ending
    reason: str
    steps: tuple[TaskStep, ...]
    answer: str | None
    calls: int
    tokens: int
    seconds: float


class _Stop(Exception):
    """A limit is reached, or the user must decide."""

    def __init__(self, reason: str, ending: Ending = "stopped") -> None:
        super().__init__(reason)
        self.ending = ending


@dataclass(frozen=True, slots=True)
class Examples:
    """
    The cases for planning a task again: `find` looks them up, `follow` is called when a plan was made from them.

    `least` is the cosine from which on the template copies a case.
    """

    find: Callable[[], CasesFound]
    follow: Callable[[CasesFound], None]
    least: float


class Execution:
    """One execution of a task."""

    def __init__(
        self,
        run: TaskRun,
        shown: Examples,
        tools: Toolbox,
        chats: tuple[Chat, Chat] | None,
        knobs: ExecutorSettings,
        keep: Callable[[TaskStep], None],
        redact: Callable[[str], str],
    ) -> None:
        """
        Args:
            chats: the models for planning and acting; without them, templates are used.
            keep: writes a step to the graph, replacing the one with its number.
            redact: removes secrets from a tool's response before it is stored or shown to a model.
        """
        self._task = run.task
        self._follows_cases = run.retrieval is not None
        self._steps = list(run.steps)
        self._shown = shown
        self._found: CasesFound | None = None
        self._tools = tools
        self._planner = chats[0] if chats else None
        self._actor = chats[1] if chats else None
        self._knobs = knobs
        self._keep = keep
        self._redact = redact
        self._begun = time.monotonic()
        self._calls = self._tokens = 0

    def go(self, doubt: Doubt = "ask") -> RunResult:
        """
        Continue until the task is done, has failed, or must stop.

        Raises:
            GraphError: the store failed; earlier writes remain.
        """
        try:
            self._settle_doubt(doubt)
            ending, reason, answer = self._run_steps()
        except _Stop as stop:
            ending, reason, answer = stop.ending, str(stop), None
            telemetry.count("executor.stopped")
        except ModelError as error:
            self._tokens += error.tokens_in + error.tokens_out
            ending, reason, answer = "stopped", str(error), None
        seconds = round(time.monotonic() - self._begun, 3)
        return RunResult(ending, reason, tuple(self._steps), answer, self._calls, self._tokens, seconds)

    def _run_steps(self) -> tuple[Ending, str, str | None]:
        if self._planner is None and self._follows_cases:
            found = self._found = self._shown.find()
            if copies_other_task(self._task, self._steps, found):
                raise _Stop(
                    "the steps were copied from a similar task and would do that one, not this one: plan it again with steps of "
                    "your own, correct a step with `record_step`, or set provider and model of [model]"
                )
        while True:
            step = next((one for one in self._steps if one.state == "pending"), None)
            if step is None:
                ended = self._conclude()
            else:
                step = self._run_step(step)
                ended = self._replan_after(step) if step.state == "failed" else None
            if ended:
                return ended

    def _run_step(self, step: TaskStep) -> TaskStep:
        """Execute one step to its end."""
        before = [one for one in self._steps if one.step < step.step]
        while True:
            self._check_limit("tokens" if self._actor else "wall_s")
            move = decide_move(step, self._task, before, self._tools.offered, self._actor)
            self._tokens += move.tokens
            if isinstance(move, CallRequest):
                step = self._call_tool(step, move)
                continue
            if isinstance(move, Blocked):
                # Only a model can plan around what is missing, and only if it has other tools.
                if self._planner is None or not self._tools.offered:
                    raise _Stop(f"step {step.step + 1} cannot be tried: {move.reason}; the task can go on then")
                telemetry.count("executor.failed_step")
                return self._replace_step(replace(step, state="failed", result=self._cap(move.reason)))
            telemetry.count("executor.failed_step" if move.failed else "executor.step")
            result = self._cap(move.result)
            return self._replace_step(replace(step, state="failed" if move.failed else "done", result=result or None))

    def _call_tool(self, step: TaskStep, move: CallRequest) -> TaskStep:
        """Make one call, recorded before and after."""
        arguments = json.dumps(move.arguments, ensure_ascii=False)
        call = ToolCall(tool=move.tool, arguments=arguments, state="pending", at=now())
        self._check_limit("calls")
        step = self._replace_step(replace(step, tools=(*step.tools, call)))
        begin = time.monotonic()
        result = self._tools.call_tool(move.tool, move.arguments, self._begun + self._knobs.wall_s)
        self._calls += 1
        telemetry.count("executor.call_failed" if result.failed else "executor.call")
        text = f"{result.text}; it may have happened all the same" if result.uncertain else result.text
        done = replace(
            call,
            state="failed" if result.failed else "done",
            result=self._cap(text) or None,
            took_ms=round((time.monotonic() - begin) * 1000),
        )
        return self._replace_step(replace(step, tools=(*step.tools[:-1], done)))

    def _conclude(self) -> tuple[Ending, str, str | None] | None:
        """Return how the task ended, once every step is over; None if the planner wants more steps."""
        last = next((one.result for one in reversed(self._steps) if one.state == "done"), None)
        if self._planner is None or (self._steps and self._steps[-1].task == ANSWER):
            return "done", "every step is done", last
        self._check_limit("tokens")
        return self._make_next_plan(f"the planner wants more than {self._knobs.cycles} plans", "every step is done")

    def _replan_after(self, failed: TaskStep) -> tuple[Ending, str, str | None] | None:
        """Plan again after a failure: return None if there is another plan, else how the task ended."""
        for step in self._steps:
            if step.state == "pending":
                self._replace_step(replace(step, state="skipped"))
        why = f"step {failed.step + 1} failed: {failed.result or 'it does not say why'}"
        return self._make_next_plan(f"{why} (plan {self._cycle} of at most {self._knobs.cycles})", why)

    def _make_next_plan(self, over: str, why: str) -> tuple[Ending, str, str | None] | None:
        room = self._knobs.steps - len(self._steps)
        # After the last plan, the planner is still asked for an answer, but not for more steps.
        if room <= 0:
            return "failed", f"{why}; a task may have {self._knobs.steps} steps", None
        if self._planner is None and self._cycle >= self._knobs.cycles:
            return "failed", over, None
        found = self._found = self._found or self._shown.find()
        if self._planner is None:
            tried = [tuple(one.task for one in self._steps if one.cycle == n + 1) for n in range(self._cycle)]
            try:
                draft = plan_by_template(self._task, found, self._shown.least, tried)
            except InputError:
                return "failed", why, None
            if not draft.fits:
                return "failed", why, None
            if len(draft.steps) > room:
                return "failed", f"{why}; another plan would have more than {self._knobs.steps} steps", None
        else:
            draft = plan_by_model(self._planner, self._task, found, self._tools.offered, self._steps, self._knobs.steps)
            self._tokens += draft.tokens
        if draft.answer is not None:
            self._append((ANSWER,), draft.answer)
            return ("done" if draft.solved else "failed"), ("answered" if draft.solved else why), draft.answer
        if self._cycle >= self._knobs.cycles or len(draft.steps) > room:
            return "failed", over if self._cycle >= self._knobs.cycles else f"{why}; no room for another plan", None
        telemetry.count("executor.replan")
        self._shown.follow(found)
        self._append(draft.steps, ids=draft.ids)
        return None

    def _append(self, tasks: tuple[str, ...], result: str | None = None, ids: tuple[int, ...] = ()) -> None:
        cycle = self._cycle + (result is None)
        first = max((one.step for one in self._steps), default=-1) + 1
        for place, task in enumerate(tasks):
            state: StepState = "pending" if result is None else "done"
            number = ids[place] if ids else None
            step = TaskStep(step=first + place, task=task, state=state, result=result, cycle=cycle, id=number)
            self._steps.append(step)
            self._keep(step)

    @property
    def _cycle(self) -> int:
        return max((one.cycle for one in self._steps), default=1)

    def _settle_doubt(self, doubt: Doubt) -> None:
        """Decide what happens to a call that was in progress when the process ended."""
        for step in self._steps:
            if step.state != "pending" or not step.tools or step.tools[-1].state != "pending":
                continue
            call = step.tools[-1]
            offered = self._tools.offered.get(call.tool)
            if doubt == "repeat" or (offered and offered.repeatable):
                self._replace_step(replace(step, tools=step.tools[:-1]))
            elif doubt == "skip":
                passed = replace(
                    call, state="skipped", result="it may have happened; whoever carries on passed it over"
                )
                self._replace_step(replace(step, state="skipped", tools=(*step.tools[:-1], passed)))
            else:
                raise _Stop(
                    f"the call of {call.tool} in step {step.step + 1} was under way when the process ended and may have happened: "
                    "look, then carry on with uncertain=repeat to make it again, or uncertain=skip to pass on",
                    "uncertain",
                )

    def _check_limit(self, limit: str) -> None:
        """Raise `_Stop` if the wall time is over or the named limit is reached."""
        knobs = self._knobs
        if time.monotonic() - self._begun >= knobs.wall_s:
            raise _Stop(f"{knobs.wall_s:g} s are over (wall_s of [executor]); the task can go on")
        if limit == "calls" and self._calls >= knobs.calls:
            raise _Stop(f"{knobs.calls} calls were made (calls of [executor]); the task can go on")
        if limit == "tokens" and knobs.tokens and self._tokens >= knobs.tokens:
            raise _Stop(f"{self._tokens} tokens are spent (tokens of [executor] is {knobs.tokens}); the task can go on")

    def _replace_step(self, step: TaskStep) -> TaskStep:
        place = next(place for place, one in enumerate(self._steps) if one.step == step.step)
        self._steps[place] = step
        self._keep(step)
        return step

    def _cap(self, text: str) -> str:
        most, text = self._knobs.result_chars, self._redact(text)
        return text if len(text) <= most else f"{text[: most - 1]}…"


_CALL = re.compile(r"([A-Za-z_][\w./-]*)\s*(\{.*\})\s*\.?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call to make; `tokens` is the cost of the decision."""

    tool: str
    arguments: dict[str, Any]
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The step is over."""

    result: str
    failed: bool = False
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Blocked:
    """The step cannot be tried at present: the reason, and the remedy."""

    reason: str
    tokens: int = 0


def decide_move(
    step: TaskStep,
    task: str,
    before: Sequence[TaskStep],
    tools: Mapping[str, Offered],
    chat: Chat | None,
) -> CallRequest | StepOutcome | Blocked:
    """
    Decide on the next action within a step.

    Args:
        before: the earlier steps, with their results.

    Raises:
        ModelError: the model failed, or returned no usable move.
    """
    calls = step.tools
    if literal := parse_call(step.task, before, step.cycle):
        if isinstance(literal, Blocked):
            return literal
        if not calls:
            return literal if literal.tool in tools else _refuse_unknown_tool(literal.tool, tools)
        last = calls[-1]
        return StepOutcome(last.result or "", failed=last.state != "done")
    if chat is None:
        return Blocked(
            "there is no model to carry out a step in words: set provider and model of [model], "
            'or write it as a call, as read_file {"path": "a.txt"}'
        )
    return _ask_for_move(step, task, before, tools, chat)


def parse_call(text: str, before: Sequence[TaskStep], cycle: int = 1) -> CallRequest | Blocked | None:
    """
    Parse a step that is a call; return None if it is in words, and `Blocked` if it needs the result of a step without one.

    >>> parse_call('read_file {"path": "a.txt"}', ())
    CallRequest(tool='read_file', arguments={'path': 'a.txt'}, tokens=0)
    >>> parse_call("Read {everything}", ()) is None
    True
    """
    match = _CALL.fullmatch(text.strip())
    if not match:
        return None
    try:
        arguments = json.loads(match[2])
    except (ValueError, RecursionError):
        return None
    done = [one for one in before if one.state == "done"]
    results = {one.step + 1: one.result for one in done}
    results |= {one.id: one.result for one in done if one.id is not None and one.cycle == cycle}
    wanted = {int(place) for place in _PLACE.findall(match[2])}
    if missing := sorted(wanted - results.keys()):
        return Blocked(f"it needs the result of step {missing[0]}, which there is not")
    return CallRequest(match[1], _fill_places(arguments, results))


def _refuse_unknown_tool(tool: str, tools: Mapping[str, Offered]) -> Blocked:
    reason = f"there is no tool {tool[:80]!r}"
    if tools:
        return Blocked(f"{reason}: there are {', '.join(tools)}; add a server that has it to [executor.servers]")
    return Blocked(f"{reason}: no server is configured in [executor.servers]")


def _fill_places(value: Any, results: Mapping[int, str | None]) -> Any:
    match value:
        case str():
            return _PLACE.sub(lambda place: results[int(place[1])] or "", value)
        case dict():
            return {name: _fill_places(one, results) for name, one in value.items()}
        case list():
            return [_fill_places(one, results) for one in value]
    return value


def _ask_for_move(
    step: TaskStep, task: str, before: Sequence[TaskStep], tools: Mapping[str, Offered], chat: Chat
) -> CallRequest | StepOutcome:
    from memento.plugins.cases.forms import Move

    def complaint(move: Move) -> str | None:
        if move.action != "call":
            return None if (move.result or "").strip() else "Say in result what came of the step, or why it failed."
        if move.tool not in tools:
            return f"There is no tool {str(move.tool)[:80]!r}: choose from {', '.join(tools) or 'none: there are no tools'}."
        try:
            arguments = json.loads(move.arguments or "{}")
        except (ValueError, RecursionError) as error:
            return f"arguments is not JSON: {error}"
        return None if isinstance(arguments, dict) else "arguments must be a JSON object."

    system = assets.read_prompt("act")
    reply = chat.answer(Prompt(system=system, user=_write_move_prompt(step, task, before, tools)), Move, complaint)
    move, tokens = reply.value, reply.tokens_in + reply.tokens_out
    if move.action == "call":
        return CallRequest(str(move.tool), json.loads(move.arguments or "{}"), tokens)
    return StepOutcome(move.result or "", failed=move.action == "failed", tokens=tokens)


def _write_move_prompt(step: TaskStep, task: str, before: Sequence[TaskStep], tools: Mapping[str, Offered]) -> str:
    parts = [f"# Task\n\n{task}"]
    if before:
        parts.append("# Steps before\n\n" + "\n".join(map(describe_step, before)))
    parts.append(f"# Step\n\n{step.task}")
    if step.tools:
        parts.append("# Calls so far\n\n" + "\n".join(map(_describe_call, step.tools)))
    listed = "\n".join(f"- {one.name}: {one.description}\n  arguments: {one.schema}" for one in tools.values())
    parts.append("# Tools\n\n" + (listed or "There are none."))
    return "\n\n".join(parts)


def _describe_call(call: ToolCall) -> str:
    came = {"done": "returned", "failed": "failed"}.get(call.state, "uncertain")
    return f"- {call.tool} {shorten(call.arguments)}\n  {came}: {shorten(call.result)}"
