"""
One step of a plan, move by move: a call of a tool, or the word that the step is done or cannot be.

A step that is itself a call, `read_file {"path": "a.txt"}`, is made as it stands, also without a model. `{{2}}` in it stands for
the result of the second step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memento import assets
from memento.cases.plan import short, told
from memento.model import Offered, TaskStep, ToolCall
from memento.ports import Chat, Prompt

if TYPE_CHECKING:
    from memento.cases.forms import Move

_CALL = re.compile(r"([A-Za-z_][\w./-]*)\s*(\{.*\})\s*\.?", re.DOTALL)
_PLACE = re.compile(r"\{\{\s*(\d+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Call:
    """A call to be made; `tokens` is what the decision cost."""

    tool: str
    arguments: dict[str, Any]
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Over:
    """The step is over."""

    result: str
    failed: bool = False
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Untried:
    """The step cannot be tried as things stand: why, and what to mend."""

    reason: str
    tokens: int = 0


def next_move(
    step: TaskStep,
    task: str,
    before: Sequence[TaskStep],
    tools: Mapping[str, Offered],
    chat: Chat | None,
) -> Call | Over | Untried:
    """
    What to do next within a step.

    Args:
        before: the steps before it, with what came of them.

    Raises:
        ModelError: the model failed, or gave no usable move.
    """
    calls = step.tools
    if literal := call_in(step.task, before):
        if isinstance(literal, Untried):
            return literal
        if not calls:
            return literal if literal.tool in tools else _unknown(literal.tool, tools)
        last = calls[-1]
        return Over(last.result or "", failed=last.state != "done")
    if chat is None:
        return Untried(
            "there is no model to carry out a step in words: set provider and model of [model], "
            'or write it as a call, as read_file {"path": "a.txt"}'
        )
    return _asked(step, task, before, tools, chat)


def call_in(text: str, before: Sequence[TaskStep]) -> Call | Untried | None:
    """
    The call that a step is, or None when it is in words; `Untried` when it wants the result of a step that has none.

    >>> call_in('read_file {"path": "a.txt"}', ())
    Call(tool='read_file', arguments={'path': 'a.txt'}, tokens=0)
    >>> call_in("Read {everything}", ()) is None
    True
    """
    found = _CALL.fullmatch(text.strip())
    if not found:
        return None
    try:
        arguments = json.loads(found[2])
    except (ValueError, RecursionError):
        return None
    results = {one.step + 1: one.result for one in before if one.state == "done"}
    wanted = {int(place) for place in _PLACE.findall(found[2])}
    if missing := sorted(wanted - results.keys()):
        return Untried(f"it needs the result of step {missing[0]}, which there is not")
    return Call(found[1], _filled(arguments, results))


def _unknown(tool: str, tools: Mapping[str, Offered]) -> Untried:
    told = f"there is no tool {tool[:80]!r}"
    if tools:
        return Untried(f"{told}: there are {', '.join(tools)}; add a server that has it to [executor.servers]")
    return Untried(f"{told}: no server is configured in [executor.servers]")


def _filled(value: Any, results: Mapping[int, str | None]) -> Any:
    match value:
        case str():
            return _PLACE.sub(lambda place: results[int(place[1])] or "", value)
        case dict():
            return {name: _filled(one, results) for name, one in value.items()}
        case list():
            return [_filled(one, results) for one in value]
    return value


def _asked(
    step: TaskStep, task: str, before: Sequence[TaskStep], tools: Mapping[str, Offered], chat: Chat
) -> Call | Over:
    from memento.cases.forms import Move

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

    system = assets.read("prompts/act.md").decode("utf-8")
    reply = chat.answer(Prompt(system=system, user=_question(step, task, before, tools)), Move, complaint)
    move, tokens = reply.value, reply.tokens_in + reply.tokens_out
    if move.action == "call":
        return Call(str(move.tool), json.loads(move.arguments or "{}"), tokens)
    return Over(move.result or "", failed=move.action == "failed", tokens=tokens)


def _question(step: TaskStep, task: str, before: Sequence[TaskStep], tools: Mapping[str, Offered]) -> str:
    parts = [f"# Task\n\n{task}"]
    if before:
        parts.append("# Steps before\n\n" + "\n".join(map(told, before)))
    parts.append(f"# Step\n\n{step.task}")
    if step.tools:
        parts.append("# Calls so far\n\n" + "\n".join(map(_call, step.tools)))
    listed = "\n".join(f"- {one.name}: {one.description}\n  arguments: {one.schema}" for one in tools.values())
    parts.append("# Tools\n\n" + (listed or "There are none."))
    return "\n\n".join(parts)


def _call(call: ToolCall) -> str:
    came = {"done": "returned", "failed": "failed"}.get(call.state, "uncertain")
    return f"- {call.tool} {short(call.arguments)}\n  {came}: {short(call.result)}"
