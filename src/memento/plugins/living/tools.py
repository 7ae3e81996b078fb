"""The tools of living memories for models: the group `sexpr`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from memento.errors import TooMuch
from memento.interfaces.mcp.core_tools import MOST_BYTES
from memento.interfaces.mcp.tools import Arguments, Reach, Told, Tool
from memento.plugins.living.operations import Evaluate
from memento.plugins.living.sexpr.verbs import READING, VALUES, WRITING

EXPRESSION_TOOL = "memory"

EXPRESSIONS = f"""Query and change the memory with expressions, nested as needed: \
(feedback (get (first (recall "tea")) "id") "success")

Reading: {" ".join(verb.signature for verb in READING)}
Writing: {" ".join(verb.signature for verb in WRITING)}
Values: {" ".join(verb.signature for verb in VALUES)}
[x=1] is optional. Text is in double quotes, a list is (list "a" "b"), and there are true, false and nil. Name a memory by the \
id that recall returns. Remember only what the user has agreed to, in the third person ("USER likes tea.")."""


class ExpressionArguments(Arguments, frozen=True, kw_only=True):
    expr: Annotated[str, Meta(description='One or more expressions, as (recall "tea" 5).')]


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The value of each expression, in order; `calls` is how many verbs were called."""

    values: tuple[Any, ...]
    calls: int


def evaluate(reach: Reach, asked: ExpressionArguments) -> Told:
    """Evaluate expressions."""
    found = reach.memory.evaluate(asked.expr, namespace=reach.namespace)
    if len(found.text.encode()) > MOST_BYTES:
        raise TooMuch(f"the answer has more than {MOST_BYTES // 1024} KiB: ask for less of it")
    return Told(answer=Values(values=found.values, calls=found.calls), text=found.text)


EXPRESSION_TOOLS = (
    Tool(
        name=EXPRESSION_TOOL,
        title="Memory",
        description=EXPRESSIONS,
        arguments=ExpressionArguments,
        answer=Values,
        run=evaluate,
        asks=(Evaluate,),
        stores_unasked=True,
        shows_map=True,
    ),
)
