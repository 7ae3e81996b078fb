"""The tools of living memory: its numbers, feedback, links that one memory draws to another, fading, the archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from memento.interfaces.mcp.tools import Argument, Arguments, Reach, Told, Tool, tool_over
from memento.model import Activated, Followed, Strength
from memento.operations import strength as operations

STRENGTH = """The numbers of one memory now: importance, depth, energy and usefulness, each from 0 to 1, and how often it was used.

Use when the user asks how well established or how current something is."""

FEEDBACK = """Say of a memory that it helped with an answer, or that it misled.

Use once an answer that stood on it turned out right or wrong. What helped gets more important and more active."""

ASSOCIATE = """Let one memory lead to another: a link of its own, with a word for its kind and a weight.

Use when two memories belong together that share no name, as a cause and what followed. Drawn again, the link grows stronger."""

TRACE = """The paths over associations that lead away from a memory, the strongest first.

Use to tell what followed from something, or why."""

ACTIVATE = """What comes to mind from some memories: activation spreads from them over associations and shared names.

Use on what recall found, to see what lies around it. Nothing is written."""

DECAY = """Let the energy of what was not used lately fade, up to now. Asking twice changes nothing the second time.

Use when the user wants old things to step back. Nothing is lost."""

ARCHIVE = """Let memories come back no more that have no energy left and were hardly used. \
They stay whole; unarchive brings one back.

Use with dry_run first, and show the user what would go."""

UNARCHIVE = """Bring an archived memory back, with the energy that it had at first."""

Memory = Annotated[str, Meta(description="The IRI of a memory, as recall or read_memory gives it.")]
Namespace = Annotated[str | None, Meta(description="The namespace; default that of the connection.")]


class FeedbackArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    outcome: Annotated[Literal["success", "fail"], Meta(description="success where it helped, fail where it misled.")]
    namespace: Namespace = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where associations lead."""

    paths: tuple[Followed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """What came to mind, the most active first."""

    memories: tuple[Activated, ...]


def feedback(reach: Reach, asked: FeedbackArguments) -> Told:
    """Say whether a memory helped."""
    namespace = asked.namespace or reach.namespace
    helped = operations.Feedback(asked.memory_id, asked.outcome == "success", namespace=namespace)
    return Told(answer=reach.memory.call(helped))


_MEMORY = Argument(field="iri", description="The IRI of a memory, as recall or read_memory gives it.")

TOOLS = (
    tool_over(
        operations.Strength, "strength", "Strength of a memory", STRENGTH, {"memory_id": _MEMORY}, takes_namespace=True
    ),
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
            "source_id": Argument(field="source", description="The memory that leads."),
            "target_id": Argument(field="target", description="The memory that it leads to."),
            "relation": Argument(field="relation", description="The kind of link in a word or a few, as `leads to`."),
            "weight": Argument(field="weight"),
        },
        takes_namespace=True,
    ),
    tool_over(
        operations.Trace,
        "trace",
        "Trace associations",
        TRACE,
        {"memory_id": _MEMORY, "depth": Argument(field="depth")},
        wrap=(Paths, "paths"),
        takes_namespace=True,
    ),
    tool_over(
        operations.Activate,
        "activate",
        "Spread activation",
        ACTIVATE,
        {name: Argument(field=name) for name in ("seeds", "steps", "decay", "threshold")},
        wrap=(Active, "memories"),
        takes_namespace=True,
    ),
    tool_over(
        operations.Decay,
        "decay",
        "Let energies fade",
        DECAY,
        {"half_life_days": Argument(field="half_life_days")},
        takes_namespace=True,
    ),
    tool_over(
        operations.Archive,
        "archive",
        "Archive what has faded",
        ARCHIVE,
        {"dry_run": Argument(field="dry_run")},
        takes_namespace=True,
    ),
    tool_over(
        operations.Unarchive,
        "unarchive",
        "Bring a memory back",
        UNARCHIVE,
        {"memory_id": _MEMORY},
        takes_namespace=True,
    ),
)
