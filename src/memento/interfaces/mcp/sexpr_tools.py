"""The tool of the small language: one verb after the other in one call, and the map of the memory in its description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from memento.errors import TooMuch
from memento.interfaces.mcp.tools import Arguments, Reach, Told, Tool
from memento.operations.expressions import Evaluate
from memento.sexpr.verbs import READING, VALUES, WRITING

NAME = "memory"
MOST_BYTES = 262_144
"""A longer answer is more than a model reads."""

DESCRIPTION = f"""Ask the memory and change it with expressions, nested as needed: \
(feedback (get (first (recall "tea")) "id") "success")

Reading: {" ".join(verb.signature for verb in READING)}
Writing: {" ".join(verb.signature for verb in WRITING)}
Values: {" ".join(verb.signature for verb in VALUES)}
[x=1] may be left out. Text stands in double quotes, a list is (list "a" "b"), and there are true, false and nil. A memory is \
named by the id that recall gives. Remember only what the user has agreed to, in the third person ("USER likes tea.")."""

AT_PRESENT = "\n\nThe memory at present:\n"


class ExpressionArguments(Arguments, frozen=True, kw_only=True):
    expr: Annotated[str, Meta(description='One expression or several, as (recall "tea" 5).')]


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The value of each expression, in their order; `calls` is how many verbs were called."""

    values: tuple[Any, ...]
    calls: int


def evaluate(reach: Reach, asked: ExpressionArguments) -> Told:
    """The values of expressions."""
    found = reach.memory.evaluate(asked.expr, namespace=reach.namespace)
    if len(found.text.encode()) > MOST_BYTES:
        raise TooMuch(f"the answer has more than {MOST_BYTES // 1024} KiB: ask for less of it")
    return Told(answer=Values(values=found.values, calls=found.calls), text=found.text)


TOOLS = (
    Tool(
        name=NAME,
        title="Memory",
        description=DESCRIPTION,
        arguments=ExpressionArguments,
        answer=Values,
        run=evaluate,
        asks=(Evaluate,),
    ),
)
