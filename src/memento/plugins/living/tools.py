"""The tools of living memories for models: the groups `living` and `sexpr`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from memento.errors import TooMuch
from memento.interfaces.mcp.core_tools import MOST_BYTES
from memento.interfaces.mcp.tools import Argument, Arguments, Reach, Told, Tool, tool_over
from memento.model import Strength
from memento.plugins.living import operations
from memento.plugins.living.operations import Evaluate
from memento.plugins.living.sexpr.verbs import READING, VALUES, WRITING

STRENGTH = """Show the current strength of a memory: importance, depth, energy and usefulness, each from 0 to 1, and its uses.

Use when the user asks how well established or how current something is."""

FEEDBACK = """Report that a memory helped with an answer, or that it misled.

Use once an answer based on it turned out right or wrong. A memory that helped becomes more important and more active."""

ASSOCIATE = """Link one memory to another, with a word for the kind of link and a weight.

Use when two memories belong together but share no name, for example a cause and its effect. Adding a link again strengthens it."""

TRACE = """Follow the associations that lead away from a memory, and return the paths, strongest first.

Use to explain what followed from something, or why it happened."""

ACTIVATE = """Find what is associated with some memories: activation spreads from them over associations and shared names.

Use on memories that a recall returned, to see their neighbours. Nothing is written."""

DECAY = """Decay the energy of memories that were not used lately, up to now. Calling it again at once changes nothing more.

Use when the user wants old things to matter less. Nothing is lost."""

ARCHIVE = """Archive memories that have no energy left and were hardly used: recall no longer returns them. \
They stay complete; unarchive brings one back.

Use with dry_run first, and show the user what would be archived."""

UNARCHIVE = """Bring an archived memory back, with its original energy."""

MemoryIri = Annotated[str, Meta(description="The IRI of a memory, as recall or read_memory returns it.")]


class FeedbackArguments(Arguments, frozen=True, kw_only=True):
    memory_id: MemoryIri
    outcome: Annotated[Literal["success", "fail"], Meta(description="success if it helped, fail if it misled.")]
    namespace: Annotated[str | None, Meta(description="The namespace; default that of the connection.")] = None


def feedback(reach: Reach, asked: FeedbackArguments) -> Told:
    """Report whether a memory helped."""
    namespace = asked.namespace or reach.namespace
    helped = operations.Feedback(asked.memory_id, asked.outcome == "success", namespace=namespace)
    return Told(answer=reach.memory.call(helped))


_MEMORY = Argument(field="iri", description="The IRI of a memory, as recall or read_memory returns it.")

LIVING_TOOLS = (
    tool_over(operations.Strength, "strength", "Strength of a memory", STRENGTH, {"memory_id": _MEMORY}),
    Tool(
        name="feedback",
        title="Give feedback",
        description=FEEDBACK,
        arguments=FeedbackArguments,
        answer=Strength,
        run=feedback,
        asks=(operations.Feedback,),
    ),
    tool_over(
        operations.Associate,
        "associate",
        "Associate memories",
        ASSOCIATE,
        {
            "source_id": Argument(field="source", description="The memory that the link starts from."),
            "target_id": Argument(field="target", description="The memory that it leads to."),
            "relation": Argument(field="relation", description="The kind of link in a few words, as `leads to`."),
            "weight": "weight",
        },
    ),
    tool_over(
        operations.Trace,
        "trace",
        "Trace associations",
        TRACE,
        {"memory_id": _MEMORY, "depth": "depth"},
        wrap="paths",
    ),
    tool_over(
        operations.Activate,
        "activate",
        "Spread activation",
        ACTIVATE,
        {name: Argument(field=name) for name in ("seeds", "steps", "decay", "threshold")},
        wrap="memories",
    ),
    tool_over(operations.Decay, "decay", "Decay energies", DECAY, {"half_life_days": "half_life_days"}),
    tool_over(operations.Archive, "archive", "Archive what has faded", ARCHIVE, {"dry_run": "dry_run"}),
    tool_over(
        operations.ListFading,
        "list_fading",
        "List what fades",
        "List the memories that will be archived if nobody uses them, the next one first, with their energy and the day.",
        {"limit": Argument(field="limit", description="The most memories."), "offset": "offset"},
        wrap="memories",
    ),
    tool_over(
        operations.ListArchived,
        "list_archived",
        "List what is archived",
        "List the archived memories, newest first; unarchive brings one back.",
        {"limit": Argument(field="limit", description="The most memories."), "offset": "offset"},
        wrap="memories",
    ),
    tool_over(operations.Unarchive, "unarchive", "Bring a memory back", UNARCHIVE, {"memory_id": _MEMORY}),
)


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
    found = reach.memory.living.evaluate(asked.expr, namespace=reach.namespace)
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
