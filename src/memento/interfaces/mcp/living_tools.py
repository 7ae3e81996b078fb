"""The tools of living memory: its numbers, feedback, links that one memory draws to another, fading, the archive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from memento.interfaces.mcp.tools import Arguments, Reach, Told, Tool
from memento.model import Activated, Archived, Association, Fading, Followed, Strength

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
Share = Meta(ge=0, le=1)


class OneArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    namespace: Namespace = None


class FeedbackArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    outcome: Annotated[Literal["success", "fail"], Meta(description="success where it helped, fail where it misled.")]
    namespace: Namespace = None


class AssociateArguments(Arguments, frozen=True, kw_only=True):
    source_id: Annotated[str, Meta(description="The memory that leads.")]
    target_id: Annotated[str, Meta(description="The memory that it leads to.")]
    relation: Annotated[str, Meta(description="The kind of link in a word or a few, as `leads to`.")] = "similar"
    weight: Annotated[float, Meta(description="How strongly; a link that is there grows by a tenth of it."), Share] = (
        0.5
    )
    namespace: Namespace = None


class TraceArguments(Arguments, frozen=True, kw_only=True):
    memory_id: Memory
    depth: Annotated[int, Meta(description="Most links of a path.", ge=1, le=6)] = 2
    namespace: Namespace = None


class ActivateArguments(Arguments, frozen=True, kw_only=True):
    seeds: Annotated[list[str], Meta(description="The memories to begin at.", min_length=1)]
    steps: Annotated[int, Meta(description="How often activation is passed on.", ge=1, le=10)] = 3
    decay: Annotated[float, Meta(description="Share that arrives over a link of weight 1."), Share] = 0.85
    threshold: Annotated[float, Meta(description="Activation above which it is passed on."), Share] = 0.1
    namespace: Namespace = None


class DecayArguments(Arguments, frozen=True, kw_only=True):
    half_life_days: Annotated[float | None, Meta(description="Days in which energies halve; default 7.")] = None
    namespace: Namespace = None


class ArchiveArguments(Arguments, frozen=True, kw_only=True):
    dry_run: Annotated[bool, Meta(description="Only say what would go.")] = False
    namespace: Namespace = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where associations lead."""

    paths: tuple[Followed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """What came to mind, the most active first."""

    memories: tuple[Activated, ...]


def strength(reach: Reach, asked: OneArguments) -> Told:
    """The numbers of a memory."""
    return Told(answer=reach.memory.strength(asked.memory_id, namespace=asked.namespace or reach.namespace))


def feedback(reach: Reach, asked: FeedbackArguments) -> Told:
    """Whether a memory helped."""
    helped = asked.outcome == "success"
    namespace = asked.namespace or reach.namespace
    return Told(answer=reach.memory.feedback(asked.memory_id, helped=helped, namespace=namespace))


def associate(reach: Reach, asked: AssociateArguments) -> Told:
    """Draw a link."""
    made = reach.memory.associate(
        asked.source_id,
        asked.target_id,
        relation=asked.relation,
        weight=asked.weight,
        namespace=asked.namespace or reach.namespace,
    )
    return Told(answer=made)


def trace(reach: Reach, asked: TraceArguments) -> Told:
    """Follow links."""
    paths = reach.memory.trace(asked.memory_id, depth=asked.depth, namespace=asked.namespace or reach.namespace)
    return Told(answer=Paths(paths=paths))


def activate(reach: Reach, asked: ActivateArguments) -> Told:
    """Spread activation."""
    found = reach.memory.activate(
        asked.seeds,
        steps=asked.steps,
        decay=asked.decay,
        threshold=asked.threshold,
        namespace=asked.namespace or reach.namespace,
    )
    return Told(answer=Active(memories=found))


def decay(reach: Reach, asked: DecayArguments) -> Told:
    """Let energies fade."""
    namespace = asked.namespace or reach.namespace
    return Told(answer=reach.memory.decay(half_life_days=asked.half_life_days, namespace=namespace))


def archive(reach: Reach, asked: ArchiveArguments) -> Told:
    """Put away what has no energy."""
    return Told(answer=reach.memory.archive(dry_run=asked.dry_run, namespace=asked.namespace or reach.namespace))


def unarchive(reach: Reach, asked: OneArguments) -> Told:
    """Bring one back."""
    return Told(answer=reach.memory.unarchive(asked.memory_id, namespace=asked.namespace or reach.namespace))


def _tool(
    run: Callable[[Reach, Any], Told],
    title: str,
    description: str,
    arguments: type[Arguments],
    answer: type,
    *,
    reads: bool = False,
    repeats: bool = True,
) -> Tool:
    return Tool(
        name=run.__name__,
        title=title,
        description=description,
        arguments=arguments,
        answer=answer,
        run=run,
        reads_only=reads,
        repeats_harmlessly=repeats,
    )


TOOLS = (
    _tool(strength, "Strength of a memory", STRENGTH, OneArguments, Strength, reads=True),
    _tool(feedback, "Give feedback", FEEDBACK, FeedbackArguments, Strength, repeats=False),
    _tool(associate, "Associate memories", ASSOCIATE, AssociateArguments, Association, repeats=False),
    _tool(trace, "Trace associations", TRACE, TraceArguments, Paths, reads=True),
    _tool(activate, "Spread activation", ACTIVATE, ActivateArguments, Active, reads=True),
    _tool(decay, "Let energies fade", DECAY, DecayArguments, Fading),
    _tool(archive, "Archive what has faded", ARCHIVE, ArchiveArguments, Archived),
    _tool(unarchive, "Bring a memory back", UNARCHIVE, OneArguments, Strength),
)
