"""
A note on its way into the graph.

    note ─┬─ recall ── hypothesise ── search ─────────────────┐
          └─ extract ─┬─ candidates ── resolve ───────────────┴─ compare ── decide ── settle ── write
                      └─ remember ────────────────────────────┘

For a model the branches run side by side, and it is asked five questions at most. Rules answer in less time than a thread takes
to start; for them the same steps follow one another, and what they embed is embedded in one batch.

*Guarantees:* understanding writes nothing. A retry with the same idempotency key writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from memento.backends import Backends
from memento.consolidation.agents import (
    USER,
    Add,
    Agents,
    Decision,
    Draft,
    Existing,
    Extraction,
    Mention,
    Resolution,
    Resolved,
    Skip,
)
from memento.consolidation.context import Recall, context, existing
from memento.consolidation.resolve import candidates
from memento.consolidation.settle import introduced, is_user, settled, without_user
from memento.consolidation.task import Task, in_context, said_before, stranger, user_of, with_context
from memento.consolidation.write import Understood
from memento.iris import IRI, agent_iri
from memento.model import Agent, Memory, Scope, Scored, User
from memento.search.found import text_of_anchor, text_of_memory
from memento.settings import ConsolidationSettings
from memento.telemetry import Stopwatch

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What understanding a note takes; the agents are those of this note alone, as they keep its account."""

    agents: Agents
    parts: Backends
    knobs: ConsolidationSettings
    recall: Recall


class Branches:
    """Work done side by side, or at once where that is faster. Leaving the block waits for all of it."""

    def __init__(self, side_by_side: bool) -> None:
        self.side_by_side = side_by_side
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="consolidation") if side_by_side else None

    def start(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> Callable[[], T]:
        """Begin; what is returned gives the result, or raises what the work raised."""
        if self._pool:
            return self._pool.submit(work, *args, **named).result
        result = work(*args, **named)
        return lambda: result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)


def understand(task: Task, means: Means, extraction: Extraction | None = None) -> Understood:
    """
    What a note says, and what it changes; nothing is written.

    Args:
        extraction: what the note names, where it was extracted before.

    Raises:
        BackendError: store, embedder or model failed.
    """
    agents, parts, scope = means.agents, means.parts, task.scope
    watch, began = Stopwatch("note"), means.parts.clock()
    user, user_is_new = user_of(scope, parts)
    if again := said_before(task, parts):
        skip = Skip(draft=Draft(content=task.note.content, about=()), duplicate=again, reason="said before")
        return _understood(task, means, began, user, user_is_new, decisions=[skip])
    with Branches(side_by_side=agents.kind == "model" and not task.keep) as branches:
        found = branches.start(_context, task, means)
        with watch.phase("extract"):
            extraction = extraction or agents.extract_entities(task.note, user, biography=not task.keep)
            mentions = with_context(without_user(extraction.mentions, user), task, user)
        drafts_of = branches.start(_drafts, task, mentions, user, agents, watch)
        with watch.phase("embed"):
            known_drafts = [] if branches.side_by_side else drafts_of()
            embed(_texts(known_drafts, mentions, task, user), parts)
        with watch.phase("resolve"):
            biography = None if stranger(task, user) else extraction.biography
            resolved = _resolved(mentions, biography, task, user, means)
        drafts, called = introduced(drafts_of(), user)
        with watch.phase("compare"):
            known = [] if task.keep else _compared(drafts, resolved, found(), began, scope, means)
    with watch.phase("decide"):
        decisions = _decided(drafts, known, task, agents)
    return _understood(
        task,
        means,
        began,
        user,
        user_is_new,
        decisions=decisions,
        resolutions=[r for r in resolved.resolutions if not is_user(r.mention.name, r.mention.kind, called)],
        description=resolved.user_description,
        known=known,
    )


def embed(texts: Sequence[str], parts: Backends) -> None:
    """Into the cache, so that whoever needs them next has them at once."""
    if windows := [window for text in dict.fromkeys(texts) for window in parts.embedder.windows(text)]:
        parts.embedder.embed(windows)


def anticipated(task: Task, extraction: Extraction, user: User, agents: Agents) -> list[str]:
    """Every text that understanding the note by rules will embed."""
    mentions = with_context(extraction.mentions, task, user)
    return _texts(_drafts(task, mentions, user, agents, Stopwatch("anticipate")), mentions, task, user)


def _context(task: Task, means: Means) -> list[Scored[IRI]]:
    return context(task.note.content, means.agents, task.scope, task.received, means.recall, means.parts, means.knobs)


def _drafts(task: Task, mentions: Sequence[Mention], user: User, agents: Agents, watch: Stopwatch) -> list[Draft]:
    """The memories of a note. Where rules find none, one of its own text; a model may say that there is none."""
    names = tuple(mention.name for mention in mentions)
    if task.keep:
        return [Draft(content=task.note.content, about=names, subject=task.title)]
    with watch.phase("remember"):
        drafts = agents.extract_memories(task.note, mentions, user)
    if not drafts and agents.kind == "rules":
        drafts = [Draft(content=task.note.content, about=(USER, *names))]
    if task.session:  # a turn is never lost: what follows may lean on it
        drafts = [replace(draft, noise="") for draft in drafts]
    return in_context(drafts, task, user)


def _texts(drafts: Sequence[Draft], mentions: Sequence[Mention], task: Task, user: User) -> list[str]:
    speaker = stranger(task, user)
    memories = [text_of_memory(draft.content, speaker, task.title) for draft in drafts if not draft.noise]
    return memories + [text_of_anchor(mention.name, mention.description) for mention in mentions]


def _resolved(mentions: Sequence[Mention], biography: str | None, task: Task, user: User, means: Means) -> Resolved:
    if not mentions and biography is None:
        return Resolved(resolutions=())
    offered = candidates(mentions, task.scope, means.knobs.entity_candidates, means.parts, exact_only=task.keep)
    return means.agents.resolve_entities(list(zip(mentions, offered, strict=True)), biography, user)


def _compared(
    drafts: Sequence[Draft],
    resolved: Resolved,
    found: Sequence[Scored[IRI]],
    moment: datetime,
    scope: Scope,
    means: Means,
) -> list[Existing]:
    named = {USER: scope.user} | {r.mention.name: r.entity for r in resolved.resolutions if r.entity}
    return existing(drafts, named, found, means.agents, scope, moment, means.parts, means.knobs)


def _understood(
    task: Task,
    means: Means,
    began: datetime,
    user: User,
    user_is_new: bool,
    *,
    decisions: Sequence[Decision],
    resolutions: Sequence[Resolution] = (),
    description: str | None = None,
    known: Sequence[Existing] = (),
) -> Understood:
    agents = means.agents
    return Understood(
        task=task,
        agent=Agent(iri=agent_iri(agents.name), name=agents.name, kind=agents.kind),
        account=agents.account(),
        began=began,
        ended=means.parts.clock(),
        resolutions=resolutions,
        decisions=decisions,
        user=user,
        user_is_new=user_is_new,
        user_description=description,
        retirable=_retirable(known, task.scope, means.parts),
        longest_description=means.knobs.description_chars,
    )


def _decided(drafts: Sequence[Draft], known: Sequence[Existing], task: Task, agents: Agents) -> list[Decision]:
    if task.keep:
        return [Add(draft=draft) for draft in drafts]
    return settled(agents.resolve_memories(drafts, known, task.note), known, task.note) if drafts else []


def _retirable(known: Sequence[Existing], scope: Scope, parts: Backends) -> dict[IRI, Memory]:
    """The memories in the graph that is written: a note retires nothing in a namespace it does not belong to."""
    indexes = parts.indexes
    with indexes.lock:
        inside = indexes.nodes.within([scope.graph], "memory")
        found = [(one.memory, indexes.nodes.find(one.memory.iri)) for one in known]
        return {memory.iri: memory for memory, place in found if place is not None and inside[place]}
