"""
Take a note through the steps of consolidation into the graph.

    note ─┬─ recall ── hypothesise ── search ─────────────────┐
          └─ extract ─┬─ candidates ── resolve ───────────────┴─ compare ── decide ── settle ── write
                      └─ remember ────────────────────────────┘

With a model, the branches run in parallel, and the model is asked at most five questions, six if the facts are asked for again.
Rules answer in less time than a thread takes to start; for them the same steps run one after the other, and their texts are
embedded in one batch.

*Guarantees:* understanding writes nothing. A retry with the same idempotency key writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from memento.backends import Backends
from memento.consolidation.agents import (
    NEW,
    USER,
    Add,
    Agents,
    Candidate,
    Decision,
    Draft,
    Existing,
    Extraction,
    Mention,
    NotUnderstood,
    Resolution,
    Resolved,
    Skip,
)
from memento.consolidation.context import Recall, find_candidates, find_context, find_existing, load_contents
from memento.consolidation.settle import apply_introduction, drop_user, is_user, settle_decisions
from memento.consolidation.task import (
    Task,
    add_context,
    add_context_mentions,
    drop_overlap,
    find_repetition,
    load_user,
    name_other_speaker,
)
from memento.consolidation.write import Understanding
from memento.iris import IRI, agent_iri
from memento.model import Agent, Entity, Memory, RecalledEntity, Scope, Scored, User
from memento.retrieval.distill import says_no_more
from memento.retrieval.trace import describe_entities
from memento.search.indexes import split_memory
from memento.search.mentions import is_fragment
from memento.search.names import read_names
from memento.search.nodes import text_of_anchor, text_of_memory
from memento.settings import ConsolidationSettings
from memento.telemetry import Stopwatch

P = ParamSpec("P")
T = TypeVar("T")


_Offer = tuple[Mention, tuple[Entity, ...]]

MOST_DRAFTS = 250
"""Statements of one note by rules: nobody else writes while they are compared and written, some milliseconds each."""
MOST_READ_CHARS = 100_000
"""The longest note that rules read, in characters: longer sentences than anybody writes take seconds to compare."""
MOST_RESOLVED = 4_096
"""The number of mentions whose resolutions an import caches."""


@dataclass(slots=True)
class Batch:
    """
    A cache for the rows of a batch that are kept word for word: the user, the entities that they name, and which mention means
    which entity.

    *Because:* such a row describes no entity and says nothing of the user. Reading them for every row takes a quarter of an import,
    and asking the rules, which run in another process, a third of the rest.
    """

    user: tuple[User, bool] | None = None
    entities: dict[IRI, Entity] = field(default_factory=dict)
    resolutions: dict[_Offer, Resolution] = field(default_factory=dict)
    """The rules' answer for a mention and the entities of its name; it holds beyond the batch."""

    def read_user(self, scope: Scope, parts: Backends) -> tuple[User, bool]:
        """Return the user, and whether the graph has none yet; if it had none, look again once the indexes know one."""
        if self.user is None or (self.user[1] and parts.indexes.nodes.find(scope.user) is not None):
            self.user = load_user(scope, parts)
        return self.user

    def resolve_by_name(
        self, offered: Sequence[tuple[Mention, list[Candidate]]], user: User, rules: Agents
    ) -> Resolved:
        """Resolve mentions by rules and cache the result, which depends on nothing but the mention and its candidates."""
        keys = [(mention, tuple(one.entity for one in some)) for mention, some in offered]
        asked = {key: pair for key, pair in zip(keys, offered, strict=True) if pair[1] and key not in self.resolutions}
        if asked:
            if len(self.resolutions) > MOST_RESOLVED:
                self.resolutions.clear()
                asked = {key: pair for key, pair in zip(keys, offered, strict=True) if pair[1]}
            told = rules.resolve_entities([*asked.values()], None, user).resolutions
            self.resolutions |= dict(zip(asked, told, strict=True))
        return Resolved(
            resolutions=tuple(
                self.resolutions[key] if key[1] else Resolution(mention=key[0], entity=None, reason=NEW) for key in keys
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What understanding a note needs; the agents belong to this note alone, because they count its cost."""

    agents: Agents
    parts: Backends
    knobs: ConsolidationSettings
    recall: Recall
    batch: Batch | None = None
    """The cache of the batch, for a row of an import that is kept word for word."""


class Branches:
    """Runs work in parallel, or at once where that is faster. Leaving the block waits for all of it."""

    def __init__(self, side_by_side: bool) -> None:
        self.side_by_side = side_by_side
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="consolidation") if side_by_side else None

    def start(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> Callable[[], T]:
        """Start work; the returned function gives the result, or raises what the work raised."""
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


def understand(task: Task, means: Resources, extraction: Extraction | None = None) -> Understanding:
    """
    Find out what a note says and what it changes, without writing. A note that cannot be understood is kept word for word.

    Args:
        extraction: what the note names, if it was extracted before.

    Raises:
        BackendError: store, embedder or model failed.
    """
    writes = means.parts.graph.writes
    return replace(_understand_task(task, means, extraction), writes=writes)


def _understand_task(task: Task, means: Resources, extraction: Extraction | None) -> Understanding:
    began = means.parts.clock()
    user, user_is_new = (means.batch or Batch()).read_user(task.scope, means.parts)
    if again := find_repetition(task, means.parts):
        skip = Skip(draft=Draft(content=task.note.content, about=()), duplicate=again, reason="said before")
        return _conclude(task, means, began, user, user_is_new, decisions=[skip])
    try:
        read = task if task.keep else drop_overlap(task)
        _raise_if_long(read, means.agents)
        return replace(_understand_parts(read, means, extraction, began, user, user_is_new), task=task)
    except NotUnderstood as error:
        return _keep_verbatim(task, means, began, user, user_is_new, error.reason)


def _understand_parts(
    task: Task, means: Resources, extraction: Extraction | None, began: datetime, user: User, user_is_new: bool
) -> Understanding:
    agents, parts = means.agents, means.parts
    watch = Stopwatch("note")
    with Branches(side_by_side=agents.kind == "model" and not task.keep) as branches:
        context = branches.start(_find_context, task, means)
        with watch.phase("extract"):
            extraction = extraction or _extract_entities(task, user, agents)
            mentions = add_context_mentions(drop_user(extraction.mentions, user), task, user)
        drafts_of = branches.start(_extract_drafts, task, mentions, user, agents, watch)
        with watch.phase("embed"):
            texts = _collect_texts([], mentions, task, user)
            if not branches.side_by_side:
                texts = _collect_texts(drafts_of(), mentions, task, user)
                texts += _foresee_user(drafts_of(), task, user, user_is_new, agents)
            warm_embeddings(texts, parts)
        with watch.phase("resolve"):
            biography = None if name_other_speaker(task, user) else extraction.biography
            resolved = _resolve(mentions, biography, task, user, means)
        drafts, called = apply_introduction(drafts_of(), user)
        with watch.phase("compare"):
            known = [] if task.keep else _compare(drafts, resolved, context(), began, task, means)
    with watch.phase("decide"):
        decisions = _decide(drafts, known, task, agents)
    return _conclude(
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


def warm_embeddings(texts: Sequence[str], parts: Backends) -> None:
    """Embed texts into the cache, so that the next caller finds them there."""
    if windows := [window for text in dict.fromkeys(texts) for window in parts.embedder.windows(text)]:
        parts.embedder.embed(windows)


def foresee(
    task: Task, user: User, agents: Agents, *, user_is_new: bool = False
) -> tuple[Extraction | None, list[str]]:
    """Read a note ahead by rules: what it names, if they can tell, and every text that understanding it will embed."""
    read, extraction = task if task.keep else drop_overlap(task), None
    try:
        _raise_if_long(read, agents)
        extraction = _extract_entities(read, user, agents)
        mentions = add_context_mentions(drop_user(extraction.mentions, user), read, user)
        drafts = _extract_drafts(read, mentions, user, agents, Stopwatch("anticipate"))
        texts = _collect_texts(drafts, mentions, read, user)
        return extraction, texts + _foresee_user(drafts, read, user, user_is_new, agents)
    except NotUnderstood:
        return extraction, [text_of_memory(task.note.content, name_other_speaker(task, user), task.title)]


def _raise_if_long(task: Task, agents: Agents) -> None:
    """Raise `NotUnderstood` for a note that is too long to be read by rules."""
    if agents.kind == "rules" and not task.keep and (length := len(task.note.content)) > MOST_READ_CHARS:
        raise NotUnderstood(
            f"it has {length:,} characters, and rules read {MOST_READ_CHARS:,}, so it is kept in its own words: send it in parts"
        )


def _extract_entities(task: Task, user: User, agents: Agents) -> Extraction:
    """Extract what a note names; if its text is kept as it is, drop parts of longer names."""
    if task.is_code:
        return Extraction(mentions=())
    extraction = agents.extract_entities(task.note, user, biography=not task.keep)
    if not task.keep:
        return extraction
    read = read_names(task.note.content)
    return replace(extraction, mentions=tuple(one for one in extraction.mentions if not is_fragment(one.name, read)))


def _keep_verbatim(
    task: Task, means: Resources, began: datetime, user: User, user_is_new: bool, reason: str
) -> Understanding:
    """Keep the note as one memory in its own words, about its speaker and its title, without asking the agents."""
    mentions = add_context_mentions((), task, user)
    offered = find_candidates(mentions, task.scope, means.knobs.entity_candidates, means.parts, exact_only=True)
    known = [
        next((one.entity.iri for one in some if one.entity.kind == mention.kind), None)
        for mention, some in zip(mentions, offered, strict=True)
    ]
    about = () if task.is_code else (name_other_speaker(task, user) or USER, *([task.title] if task.title else []))
    draft = Draft(content=task.note.content, about=about)
    return _conclude(
        task,
        means,
        began,
        user,
        user_is_new,
        decisions=[Add(draft=draft, reason=reason)],
        resolutions=[
            Resolution(mention=mention, entity=entity, reason="the same name" if entity else NEW)
            for mention, entity in zip(mentions, known, strict=True)
        ],
        unread=reason,
    )


def _find_context(task: Task, means: Resources) -> list[Scored[IRI]]:
    return find_context(
        task.note.content, means.agents, task.scope, task.received, means.recall, means.parts, means.knobs
    )


def _extract_drafts(
    task: Task, mentions: Sequence[Mention], user: User, agents: Agents, watch: Stopwatch
) -> list[Draft]:
    """Extract the drafts of a note. If rules find none, make one of its own text; a model may say that there is none."""
    names = tuple(mention.name for mention in mentions)
    if task.keep:
        return [Draft(content=task.note.content, about=names)]
    with watch.phase("remember"):
        drafts = agents.extract_memories(task.note, mentions, user)
    if len(drafts) > MOST_DRAFTS and agents.kind == "rules":
        raise NotUnderstood(
            f"it says {len(drafts)} things, and a note may say {MOST_DRAFTS}, so it is kept in its own words: send it in parts"
        )
    if not drafts and agents.kind == "rules":
        drafts = [Draft(content=task.note.content, about=(USER, *names))]
    if task.session:  # a turn is always kept: later turns may refer to it
        drafts = [replace(draft, noise="") for draft in drafts]
    return add_context(drafts, task, user)


def _collect_texts(drafts: Sequence[Draft], mentions: Sequence[Mention], task: Task, user: User) -> list[str]:
    """List the texts of a note that are embedded: its memories as stored and as compared, and what it names."""
    speaker = name_other_speaker(task, user)
    told = [draft for draft in drafts if not draft.noise]
    memories = [text_of_memory(draft.content, speaker, task.title) for draft in told]
    memories += [sentence for draft in told for sentence in split_memory(draft.content)]
    compared = [] if task.keep else [draft.content for draft in drafts]
    return [*memories, *compared, *(text_of_anchor(mention.name, mention.description) for mention in mentions)]


def _foresee_user(drafts: Sequence[Draft], task: Task, user: User, is_new: bool, agents: Agents) -> list[str]:
    """List the texts about the user that are embedded, if rules give the user another name after this note."""
    if task.keep or agents.kind != "rules" or name_other_speaker(task, user):
        return []
    name = next((draft.user_name for draft in drafts if draft.user_name), None) or user.name
    return [] if name == user.name and not is_new else [text_of_anchor(name or "user", user.description)]


def _resolve(mentions: Sequence[Mention], biography: str | None, task: Task, user: User, means: Resources) -> Resolved:
    if not mentions and biography is None:
        return Resolved(resolutions=())
    offered = find_candidates(
        mentions,
        task.scope,
        means.knobs.entity_candidates,
        means.parts,
        exact_only=task.keep,
        known=means.batch.entities if means.batch else None,
    )
    if means.agents.kind != "rules":  # a model is shown what this writer may read and what is current
        told = user.description if task.scope.with_self else ""
        known = RecalledEntity(iri=user.iri, name=user.name or USER, kind="User", description=told, is_user=True)
        user = replace(user, description=describe_entities([known], task.scope, means.parts)[0].description)
    pairs = list(zip(mentions, offered, strict=True))
    if means.batch and biography is None and means.agents.kind == "rules":
        return means.batch.resolve_by_name(pairs, user, means.agents)
    return means.agents.resolve_entities(pairs, biography, user)


def _compare(
    drafts: Sequence[Draft],
    resolved: Resolved,
    context: Sequence[Scored[IRI]],
    moment: datetime,
    task: Task,
    means: Resources,
) -> list[Existing]:
    iris_by_name = {USER: task.scope.user} | {r.mention.name: r.entity for r in resolved.resolutions if r.entity}
    return find_existing(
        drafts,
        iris_by_name,
        context,
        means.agents,
        task.scope,
        moment,
        means.parts,
        means.knobs,
        is_turn=task.session is not None,
    )


def _conclude(
    task: Task,
    means: Resources,
    began: datetime,
    user: User,
    user_is_new: bool,
    *,
    decisions: Sequence[Decision],
    resolutions: Sequence[Resolution] = (),
    description: str | None = None,
    known: Sequence[Existing] = (),
    unread: str | None = None,
) -> Understanding:
    agents = means.agents
    decisions, alike = _compare_nearest(decisions, task, means, user)
    return Understanding(
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
        retirable=_select_retirable(known, task.scope, means.parts),
        held={one.memory.iri: one.claims for one in known},
        longest_description=means.knobs.description_chars,
        tag_rules=means.knobs.tag_rules,
        unread=unread,
        alike=alike,
        alike_from=means.knobs.near_cosine,
    )


_NEAREST = 5


def _compare_nearest(
    decisions: Sequence[Decision], task: Task, means: Resources, user: User
) -> tuple[Sequence[Decision], dict[str, list[tuple[IRI, float]]]]:
    """
    Compare the drafts to be added with the nearest memories of the namespace, if the setting `near` asks for it.

    Either skip a draft that a near memory already covers, or return the memories to link with each text, and their cosines.
    """
    knobs, parts = means.knobs, means.parts
    added = [one for one in decisions if isinstance(one, Add) and not one.successors]
    if knobs.near == "keep" or not added:
        return decisions, {}
    speaker = name_other_speaker(task, user)
    least = knobs.near_related if knobs.near == "relate" else knobs.near_cosine
    alike: dict[str, list[tuple[IRI, float]]] = {}
    for one in added:
        windows = parts.embedder.windows(text_of_memory(one.draft.content, speaker, task.title))
        vectors = parts.embedder.embed(windows)
        with parts.indexes.lock:
            own = parts.indexes.nodes.current([task.scope.graph], now=parts.clock())
            nodes, cosines = parts.indexes.vectors["memory"].near(vectors, _NEAREST, own)
            iris = [parts.indexes.nodes.iri(node) for node in nodes.tolist()]
        near = [(iri, cosine) for iri, cosine in zip(iris, cosines.tolist(), strict=True) if cosine >= least]
        if near:
            alike[one.draft.content] = near
    if knobs.near == "relate":
        return decisions, alike
    rows = [iri for near in alike.values() for iri, _ in near]
    texts = load_contents(rows, task.scope, parts) if rows else {}
    return [_skip_repeated(one, alike, texts) for one in decisions], {}


def _skip_repeated(
    decision: Decision, alike: Mapping[str, Sequence[tuple[IRI, float]]], texts: Mapping[IRI, str]
) -> Decision:
    """Skip the draft of a decision if a very similar memory already says all of it."""
    if not isinstance(decision, Add):
        return decision
    near = alike.get(decision.draft.content, ())
    known = next((iri for iri, _ in near if iri in texts and says_no_more(decision.draft.content, texts[iri])), None)
    return decision if known is None else Skip(draft=decision.draft, duplicate=known, reason="nearly the same is known")


def _decide(drafts: Sequence[Draft], known: Sequence[Existing], task: Task, agents: Agents) -> list[Decision]:
    if task.keep:
        return [Add(draft=draft) for draft in drafts]
    return settle_decisions(agents.resolve_memories(drafts, known, task.note), known, task.note) if drafts else []


def _select_retirable(known: Sequence[Existing], scope: Scope, parts: Backends) -> dict[IRI, Memory]:
    """Select the memories in the graph that is written: a note retires nothing in another namespace."""
    indexes = parts.indexes
    with indexes.lock:
        inside = indexes.nodes.within([scope.graph], "memory")
        places = [(one.memory, indexes.nodes.find(one.memory.iri)) for one in known]
        return {memory.iri: memory for memory, place in places if place is not None and inside[place]}
