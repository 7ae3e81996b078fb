"""
The data classes: what is in the graph, what a write contains, cases with their plans and rewards, and the answers of a service.

All are frozen, keyword-only and compare by value; times are timezone-aware and in UTC. A field that is stored names its predicate
here (`prop(MEM.validAt)`), and `graph/mapping.py` needs nothing more to convert objects to quads and back.

*But:* there are no vectors here. An array has no useful equality; vectors are in `search/vectors.py`, keyed by IRI.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Literal, Self, TypeVar, overload

from memento.iris import (
    GLOBAL,
    IRI,
    MEM,
    ONTOLOGY,
    PROV,
    SKOS,
    data_iri,
    graph_iri,
    inferred_iri,
    name_within,
    provenance_iri,
    self_iri,
    user_iri,
)

Value = IRI | str | int | float | bool | datetime
"""The values that the object of a quad may have. A `str` is text; only an `IRI` is a name."""

Quad = tuple[IRI, IRI, Value, IRI]
"""Subject, predicate, object, named graph."""

EntityKind = Literal["Person", "Organization", "Project", "Technology", "Location", "Event", "Concept"]
KINDS: tuple[EntityKind, ...] = ("Person", "Organization", "Project", "Technology", "Location", "Event", "Concept")

Priority = Literal["low", "normal", "high"]
"""The importance that the author of a text gave it."""

Mode = Literal["state-change", "correction", "heuristic"]

StepState = Literal["pending", "done", "skipped", "failed"]
"""The state of a note on its way into memory, or of a trajectory or one of its steps."""

AgentKind = Literal["rules", "model"]

KeyType = Literal["concept", "name", "proper_noun"]
CodeType = Literal["file", "function", "class", "package", "url", "env_var"]
"""How a key matches: a concept by meaning, the others by spelling only."""

T = TypeVar("T")


def prop(predicate: IRI, default: Any = ...) -> Any:
    """Declare a dataclass field that is stored under `predicate`; a tuple field is one triple for each element."""
    metadata = {"predicate": predicate}
    return field(metadata=metadata) if default is ... else field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation that notes belong to."""

    iri: IRI
    name: str = prop(MEM.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """
    A file or a page. It is also the session of the notes that its pieces become; `name` is its whole path or address.

    `content_hash` is the SHA-256 of its bytes as read at `at`; `revision` counts its versions from 1.
    It has not existed since `invalid_at`, if that is set, for `reason`.
    """

    iri: IRI
    name: str = prop(MEM.name)
    form: str = prop(MEM.format)
    content_hash: str = prop(MEM.contentHash)
    revision: int = prop(MEM.revision)
    at: datetime = prop(MEM.at)
    file: IRI | None = prop(MEM.refers, None)
    invalid_at: datetime | None = prop(MEM.invalidAt, None)
    reason: str | None = prop(MEM.reason, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEntity:
    """A piece of code that code or a text names, by its spelling; an ingested file defines and imports others."""

    iri: IRI
    name: str = prop(MEM.name)
    type: CodeType = prop(MEM.codeType)
    defines: tuple[IRI, ...] = prop(MEM.defines, ())
    imports: tuple[IRI, ...] = prop(MEM.imports, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """
    What was said, verbatim and immutable: the provenance of memories.

    `state` is set until the note is understood, and stays if nothing resulted from it. `title` and `speaker` come from the caller
    and are stored while the note is pending. `source` is how the note came in, None for one that a person told on purpose. A long
    text is split into pieces: the note is the `piece`, counted from 1, of `pieces`; `parent` is the first piece, None for the first
    piece itself; `overlap` is the number of characters at its beginning that end the piece before. Its memories end at
    `expires_at`.
    """

    iri: IRI
    content: str = prop(MEM.content)
    at: datetime = prop(MEM.at)
    mentions: tuple[IRI, ...] = prop(MEM.mentions, ())
    session: IRI | None = prop(MEM.session, None)
    position: int | None = prop(MEM.position, None)
    said_by: IRI | None = prop(MEM.saidBy, None)
    idempotency_key: str | None = prop(MEM.idempotencyKey, None)
    state: StepState | None = prop(MEM.state, None)
    title: str | None = prop(MEM.title, None)
    speaker: str | None = prop(MEM.speaker, None)
    source: str | None = prop(MEM.source, None)
    container: str | None = prop(MEM.container, None)
    priority: Priority | None = prop(MEM.priority, None)
    tags: tuple[IRI, ...] = prop(MEM.tagged, ())
    parent: IRI | None = prop(MEM.parent, None)
    piece: int | None = prop(MEM.piece, None)
    pieces: int | None = prop(MEM.pieces, None)
    overlap: int | None = prop(MEM.overlap, None)
    expires_at: datetime | None = prop(MEM.expiresAt, None)
    imported_by: IRI | None = prop(MEM.importedBy, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import of notes from elsewhere; `source` is the program that they are from."""

    iri: IRI
    at: datetime = prop(MEM.at)
    source: str = prop(MEM.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something memories are about."""

    iri: IRI
    name: str = prop(MEM.name)
    kind: EntityKind = prop(MEM.entityType)
    description: str = prop(MEM.description, "")
    is_well_known: bool = prop(MEM.isWellKnown, False)
    aliases: tuple[str, ...] = prop(SKOS.altLabel, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The one person whose memory this is."""

    iri: IRI
    name: str | None = prop(MEM.name, None)
    description: str = prop(MEM.description, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """
    A passage of a note, word for word; by a model, a fact in the third person with USER for the speaker.

    It is true from `valid_at` until before `invalid_at`, which is set only when all that it claims is past; Memento believes it
    from `created_at` until before `expired_at`. `subject` is what it is mainly about.
    `is_verbatim`: it is a note that could not be read, word for word. `mood` is how it is meant, unless it tells a fact.
    """

    iri: IRI
    content: str = prop(MEM.content)
    about: tuple[IRI, ...] = prop(MEM.about, ())
    extracted_from: IRI = prop(MEM.extractedFrom)
    valid_at: datetime = prop(MEM.validAt)
    created_at: datetime = prop(MEM.createdAt)
    invalid_at: datetime | None = prop(MEM.invalidAt, None)
    expired_at: datetime | None = prop(MEM.expiredAt, None)
    event_at: datetime | None = prop(MEM.eventAt, None)
    said_by: IRI | None = prop(MEM.saidBy, None)
    title: str | None = prop(MEM.title, None)
    subject: IRI | None = prop(MEM.subject, None)
    mood: str | None = prop(MEM.mood, None)
    content_hash: str = prop(MEM.contentHash, "")
    is_verbatim: bool | None = prop(MEM.isVerbatim, None)
    expires_at: datetime | None = prop(MEM.expiresAt, None)
    related_to: tuple[IRI, ...] = prop(MEM.relatedTo, ())
    depth: float | None = prop(MEM.depth, None)
    access_count: int | None = prop(MEM.accessCount, None)
    last_accessed_at: datetime | None = prop(MEM.lastAccessedAt, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """
    What a passage states: a relation of an owner, and its value, which is an entity where the graph knows one.

    `words` is the very span of the passage, from `start` to `end`. It holds from `valid_at` until before `invalid_at`; Memento
    believes it from `created_at` until before `expired_at`. `polarity` is False if the passage denies it. An event happened
    once and never ends. A claim without an owner is nobody's, and ends nothing. `complement` are the words that tell what it is
    about from others of its kind ("office" of "the plumber for the office").
    """

    iri: IRI
    memory: IRI = prop(MEM.statedBy)
    owner: IRI | None = prop(MEM.owner, None)
    relation: str = prop(MEM.relationName)
    complement: tuple[str, ...] = prop(MEM.complement, ())
    value: str = prop(MEM.valueText, "")
    value_entity: IRI | None = prop(MEM.value, None)
    words: str = prop(MEM.words)
    start: int = prop(MEM.wordsStart)
    end: int = prop(MEM.wordsEnd)
    polarity: bool = prop(MEM.polarity, True)
    mood: str = prop(MEM.mood, "fact")
    is_event: bool | None = prop(MEM.isEvent, None)
    kind: str = prop(MEM.valueKind, "thing")
    valid_at: datetime = prop(MEM.validAt)
    created_at: datetime = prop(MEM.createdAt)
    invalid_at: datetime | None = prop(MEM.invalidAt, None)
    expired_at: datetime | None = prop(MEM.expiredAt, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivalry:
    """Two memories that probably cannot both be true; `confidence` is in 0..1. It ends neither of them."""

    iri: IRI
    rivals: tuple[IRI, ...] = prop(MEM.rival)
    confidence: float = prop(MEM.confidence)
    reason: str | None = prop(MEM.reason, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A word or phrase by which an agent navigates. `aliases` were given with memories, `learned` come from questions."""

    iri: IRI
    name: str = prop(MEM.name)
    type: KeyType = prop(MEM.keyType)
    created_at: datetime | None = prop(MEM.createdAt, None)
    aliases: tuple[str, ...] = prop(SKOS.altLabel, ())
    learned: tuple[str, ...] = prop(MEM.alias, ())
    denotes: IRI | None = prop(MEM.denotes, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLink:
    """A link from a key to a memory; `weight` is in .1..3."""

    iri: IRI
    key: IRI = prop(MEM["from"])
    memory: IRI = prop(MEM.to)
    weight: float = prop(MEM.weight)
    created_at: datetime | None = prop(MEM.createdAt, None)
    last_reinforced_at: datetime | None = prop(MEM.lastReinforcedAt, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """A link from one memory to another of some kind; `weight` is in 0..1, as it was at `last_reinforced_at`."""

    iri: IRI
    source: IRI = prop(MEM["from"])
    target: IRI = prop(MEM.to)
    relation: IRI = prop(MEM.relation)
    weight: float = prop(MEM.weight)
    created_at: datetime = prop(MEM.createdAt)
    last_reinforced_at: datetime = prop(MEM.lastReinforcedAt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """A span over which the energies of a graph decayed: up to an instant, by a half-life in days."""

    iri: IRI
    graph: IRI = prop(MEM.fades)
    until: datetime = prop(MEM.at)
    half_life: float = prop(MEM.halfLife)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidation:
    """The reason why a belief ended."""

    iri: IRI
    invalidator: IRI = prop(MEM.invalidator)
    invalidated: IRI = prop(MEM.invalidated)
    reason: str = prop(MEM.reason)
    at: datetime = prop(MEM.at)
    mode: Mode = prop(MEM.mode)
    rule: str | None = prop(MEM.rule, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The agent that understands notes: the rules, or a model by provider and name."""

    iri: IRI
    name: str = prop(MEM.name)
    kind: AgentKind = prop(MEM.agentKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """
    The run that turned a note into memories, or that will.

    `at` is when the note came in. `error` is the class of the last failure and `reason` its message, or why nothing resulted from
    the note; `attempts` counts the failures, `tokens` is the cost of the run. An `isolated` note is only compared with its own
    namespace.
    """

    iri: IRI
    note: IRI = prop(PROV.used)
    at: datetime = prop(MEM.at)
    state: StepState = prop(MEM.state)
    agent: IRI | None = prop(PROV.wasAssociatedWith, None)
    generated: tuple[IRI, ...] = prop(PROV.generated, ())
    started_at: datetime | None = prop(PROV.startedAtTime, None)
    ended_at: datetime | None = prop(PROV.endedAtTime, None)
    rules: tuple[str, ...] = prop(MEM.rule, ())
    prompts: str | None = prop(MEM.promptHash, None)
    tokens: int | None = prop(MEM.tokens, None)
    attempts: int | None = prop(MEM.attempts, None)
    error: str | None = prop(MEM.error, None)
    reason: str | None = prop(MEM.reason, None)
    retry_at: datetime | None = prop(MEM.retryAt, None)
    isolated: bool | None = prop(MEM.isIsolated, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversal:
    """The record of an undone invalidation: when, which memory holds again, and why it had been retired."""

    iri: IRI
    at: datetime = prop(MEM.at)
    restored: IRI = prop(MEM.restored)
    reason: str = prop(MEM.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """The audit entry of a change by SPARQL: when, by which token, in which graphs, and how many quads."""

    iri: IRI
    at: datetime = prop(MEM.at)
    token: str = prop(MEM.token)
    graphs: tuple[IRI, ...] = prop(MEM.graph, ())
    added: int = prop(MEM.added)
    removed: int = prop(MEM.removed)


@dataclass(frozen=True, slots=True)
class Change:
    """Quads to remove and to add in one atomic write; removals come first."""

    adds: tuple[Quad, ...] = ()
    removes: tuple[Quad, ...] = ()

    def __add__(self, other: Change) -> Change:
        return Change(self.adds + other.adds, self.removes + other.removes)


@dataclass(frozen=True, slots=True)
class Scored(Generic[T]):
    """Something with a score, and the source of the score."""

    item: T
    score: float
    source: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """
    The tenant and namespace of a call: they determine the graph that is written and the graphs that may be read.

    The description of the user comes from all namespaces: `with_self` is False for a reader of only some of them.
    """

    tenant: str = "local"
    namespace: str = "main"
    with_main: bool = True  # whether reads cover `main` too
    with_global: bool = False  # whether reads cover `__global__`, which exists once something was written to it
    with_self: bool = True  # whether they cover the statements about the user
    others: tuple[str, ...] = ()  # further namespaces that reads cover
    free: tuple[IRI, ...] | None = None  # the free graphs that inferences may use; None for all of the tenant

    @property
    def graph(self) -> IRI:
        """The named graph that this scope writes to."""
        return graph_iri(self.tenant, self.namespace)

    @property
    def memory_graphs(self) -> tuple[IRI, ...]:
        """The graphs whose memories this scope may recall: its own, usually `main` and `__global__`, and the others requested."""
        shared = [name for name, is_read in (("main", self.with_main), (GLOBAL, self.with_global)) if is_read]
        shared += self.others
        return tuple(dict.fromkeys((self.graph, *(graph_iri(self.tenant, name) for name in shared))))

    def narrow(self, *, alone: bool) -> Scope:
        """Return the scope, or, with `alone`, the one that reads its own namespace and nothing that namespaces share."""
        return replace(self, with_main=self.namespace == "main", with_global=False) if alone else self

    @property
    def readable(self) -> tuple[IRI, ...]:
        """Every graph that this scope may read: its memories, the tenant's user, the ontology."""
        return (*self.memory_graphs, *self.user_graphs, ONTOLOGY)

    @property
    def user_graphs(self) -> tuple[IRI, ...]:
        """The graph of the tenant's user, if this scope may read it."""
        return (self.self_graph,) if self.with_self else ()

    @property
    def self_graph(self) -> IRI:
        """The named graph of the tenant's user."""
        return self_iri(self.tenant)

    @property
    def provenance(self) -> IRI:
        """The named graph of the tenant's runs: which agent made which memory from which note."""
        return provenance_iri(self.tenant)

    @property
    def inferred(self) -> IRI:
        """The named graph of the triples inferred from the graphs that this scope reads."""
        is_alone = not self.with_main and self.namespace != "main"
        return inferred_iri(
            self.tenant,
            self.namespace,
            alone=is_alone,
            narrow=not self.with_self and not is_alone,
            shared=self.with_global and not self.with_self,
            free=self.free or (),
        )

    @property
    def user(self) -> IRI:
        """The one user of the tenant."""
        return user_iri(self.tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """
    The graphs that one caller reads and writes: by name, never by content.

    `default` is read where a pattern names no graph, `named` where it names one; None for both is a plain dataset, all of it. Quads
    without a graph are written `into` a graph; None is the default graph. A `tenant` writes the memories of its `namespaces` (of
    all if none are listed) and its free graphs; None writes everywhere. Of the free graphs, `free_readable` may be read and
    `free_writable` written, by name; None for all.
    """

    default: tuple[IRI, ...] | None = None
    named: tuple[IRI, ...] | None = None
    into: IRI | None = None
    tenant: str | None = None
    namespaces: tuple[str, ...] = ()
    free_readable: tuple[str, ...] | None = None
    free_writable: tuple[str, ...] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the dataset has no owners: all of it may be read and written."""
        return self.tenant is None

    def holds_memories(self, graph: str) -> bool:
        """Tell whether a graph contains memories that the caller may write."""
        name = self._name(graph, graph_iri)
        return name is not None and (not self.namespaces or name in self.namespaces)

    @property
    def free(self) -> str:
        """The prefix of the names of the tenant's free graphs; "" without a tenant."""
        return data_iri(self.tenant, "") if self.tenant is not None else ""

    @property
    def free_names(self) -> tuple[IRI, ...] | None:
        """The free graphs that may be read, whether they exist or not; None for all."""
        if self.tenant is None or self.free_readable is None:
            return None
        return tuple(data_iri(self.tenant, name) for name in self.free_readable)

    def may_write(self, graph: str) -> bool:
        """Tell whether a graph may be written, whether it exists or not; "" is the default graph."""
        return self.is_plain or self.holds_memories(graph) or self._is_free(graph, self.free_writable)

    def may_read(self, graph: str) -> bool:
        """Tell whether a graph may be read, whether it exists or not."""
        return (
            self.named is None
            or graph in self.named
            or graph in (self.default or ())
            or self.may_write(graph)
            or self._is_free(graph, self.free_readable)
        )

    def _is_free(self, graph: str, names: Collection[str] | None) -> bool:
        """Tell whether a graph is a free graph of the tenant, which may contain any RDF, and one of some names if any are given."""
        name = self._name(graph, data_iri)
        return name is not None and (names is None or name in names)

    def keep_readable(self, graphs: Iterable[str]) -> tuple[IRI, ...]:
        """Return the graphs that may be read; one that does not exist reads as empty."""
        return tuple(IRI(graph) for graph in graphs if self.may_read(graph))

    def choosing(self, default: Iterable[str], named: Iterable[str]) -> Self:
        """Narrow the graphs that are read, as FROM and USING do."""
        return replace(self, default=self.keep_readable(default), named=self.keep_readable(named))

    def _name(self, graph: str, called: Callable[[str, str], IRI]) -> str | None:
        """Return the name of a graph of this tenant, if it is of a known kind and in its canonical spelling."""
        if self.tenant is None:
            return None
        return name_within(graph, called(self.tenant, ""))


Outcome = Literal["success", "partial", "failure"]
"""How a task ended."""

Section = Literal["positive", "negative"]
"""Whether a case is shown as one to follow or to avoid."""

Ranking = Literal["cosine", "q"]
"""How cases were ranked: by similarity alone, or also by the learned value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The situation in which a case began: the task in words."""

    iri: IRI
    content: str = prop(MEM.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """The decision: a plan of numbered steps as text."""

    iri: IRI
    content: str = prop(MEM.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One finished task as an example for later ones.

    `at` is when it was finished, `created_at` when it was stored, if that is another time. `reward` is in −0.2…1, None until there
    is a verdict. `q` is the mean of the values that the Q function gave it in `uses` rankings.
    """

    iri: IRI
    state: IRI = prop(MEM.hasState)
    action: IRI = prop(MEM.hasAction)
    at: datetime = prop(MEM.timestamp)
    created_at: datetime | None = prop(MEM.createdAt, None)
    reward: float | None = prop(MEM.hasReward, None)
    about: tuple[IRI, ...] = prop(MEM.about, ())
    tags: tuple[IRI, ...] = prop(MEM.tagged, ())
    derived_from: tuple[IRI, ...] = prop(PROV.wasDerivedFrom, ())
    trajectory: IRI | None = prop(MEM.hasTrajectory, None)
    q: float | None = prop(MEM.hasQValue, None)
    uses: int | None = prop(MEM.uses, None)
    expired_at: datetime | None = prop(MEM.expiredAt, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """One verdict on a case: its parts, and the reward that they result in."""

    iri: IRI
    case: IRI = prop(MEM.rewards)
    value: float = prop(MEM.hasReward)
    at: datetime = prop(MEM.at)
    outcome: Outcome | None = prop(MEM.outcome, None)
    efficiency: float | None = prop(MEM.efficiency, None)
    score: float | None = prop(MEM.judgeScore, None)
    reason: str | None = prop(MEM.reason, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """
    A run of a task, with the state in which it began. The case made from it names it as its `trajectory`.

    `packed` is the whole run, gzipped JSON in base64; the texts of the steps beside it are then shortened.
    """

    iri: IRI
    state: IRI = prop(MEM.hasState)
    at: datetime = prop(MEM.at)
    progress: StepState = prop(MEM.state)
    action: IRI | None = prop(MEM.hasAction, None)
    retrieval: IRI | None = prop(MEM.retrieval, None)
    about: tuple[IRI, ...] = prop(MEM.about, ())
    derived_from: tuple[IRI, ...] = prop(PROV.wasDerivedFrom, ())
    subtasks: tuple[IRI, ...] = prop(MEM.hasSubtask, ())
    packed: str | None = prop(MEM.packed, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskRecord:
    """
    One step of a trajectory, counted from 0.

    `cycle` is the plan that it belongs to, counted from 1, and `number` is its number in that plan.
    """

    iri: IRI
    step: int = prop(MEM.step)
    task: str = prop(MEM.task)
    progress: StepState = prop(MEM.state)
    result: str | None = prop(MEM.result, None)
    tool_calls: tuple[IRI, ...] = prop(MEM.hasToolCall, ())
    cycle: int = prop(MEM.cycle, 1)
    number: int | None = prop(MEM.planStep, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRecord:
    """
    One call of a tool within a step, counted from 0; `arguments` is a JSON object.

    `result` is the tool's answer, or why the call failed; `at` is when it was made, `took_ms` its duration.
    """

    iri: IRI
    step: int = prop(MEM.step)
    tool: str = prop(MEM.tool)
    arguments: str = prop(MEM.arguments)
    progress: StepState = prop(MEM.state)
    result: str | None = prop(MEM.result, None)
    at: datetime | None = prop(MEM.at, None)
    took_ms: int | None = prop(MEM.milliseconds, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRetrieval:
    """
    A retrieval of cases: for which task, when, and how they were ranked.

    `beta` is the weight of Q against the cosine; `reason` explains it. `reward` is what the task earned in the end.
    """

    iri: IRI
    state: IRI = prop(MEM.hasState)
    at: datetime = prop(MEM.at)
    ranking: Ranking = prop(MEM.ranking)
    beta: float = prop(MEM.beta)
    reason: str = prop(MEM.reason)
    about: tuple[IRI, ...] = prop(MEM.about, ())
    reward: float | None = prop(MEM.hasReward, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseUse:
    """
    A case that a retrieval showed: its section and rank, its values, and why it was shown.

    `q` is the value of the Q function for this case and task, absent if it was not used; `reward` is what the task earned.
    """

    iri: IRI
    retrieval: IRI = prop(MEM.retrieval)
    case: IRI = prop(MEM.case)
    section: Section = prop(MEM.section)
    rank: int = prop(MEM.rank)
    cosine: float = prop(MEM.cosine)
    score: float = prop(MEM.score)
    reason: str = prop(MEM.reason)
    q: float | None = prop(MEM.hasQValue, None)
    reward: float | None = prop(MEM.hasReward, None)


CaseNode = Case | State | Action | Reward | Trajectory | SubtaskRecord | ToolRecord | CaseRetrieval | CaseUse

Node = (
    Session
    | Document
    | CodeEntity
    | Note
    | Import
    | Entity
    | User
    | Memory
    | Claim
    | Rivalry
    | Key
    | KeyLink
    | Association
    | Fading
    | Invalidation
    | Agent
    | Consolidation
    | Reversal
    | Update
    | CaseNode
)
"""Every class that `graph/mapping.py` converts to quads and back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """
    One call of a tool: `arguments` is a JSON object as text, `result` the tool's answer or why the call failed.

    A `pending` call was about to be made when the process last recorded it: it may have been executed.
    """

    tool: str
    arguments: str = "{}"
    result: str | None = None
    state: StepState = "done"
    at: datetime | None = None
    took_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFound:
    """
    A case that a retrieval found; `rank` counts from 1 within its section.

    `score` is β·q + (1 − β)·similarity, which combines the cosine with the entities and tags that the case shares with the task.
    `q` is None if the Q function was not used. `reward` is what the case earned as a task, `earned` the mean reward of the tasks it
    was shown for, `uses` their number. `reason` says why it is here, `verdict` why the task ended as it did.
    """

    iri: IRI
    task: str
    plan: str
    section: Section
    rank: int
    cosine: float
    score: float
    reason: str
    at: datetime
    q: float | None = None
    reward: float | None = None
    earned: float | None = None
    uses: int = 0
    about: tuple[IRI, ...] = ()
    verdict: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CasesFound:
    """
    The cases for a task: those to follow and those to avoid, each best first, at most k of each.

    `retrieval` identifies this retrieval when you report the task's reward; None if it was not stored. `beta` is the weight of the
    learned value, and `reason` explains it. `candidates` counts the cases that were ranked.
    """

    task: str
    domain: str
    positives: tuple[CaseFound, ...]
    negatives: tuple[CaseFound, ...]
    ranking: Ranking
    beta: float
    reason: str
    retrieval: IRI | None = None
    candidates: int = 0
    timings_ms: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """
    One step of a trajectory, counted from 0.

    `cycle` is the plan that it belongs to: a failed task is planned again. `id` is its number in the plan, if it has one.
    """

    step: int
    task: str
    state: StepState
    result: str | None = None
    tools: tuple[ToolCall, ...] = ()
    cycle: int = 1
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One verdict on a case: its parts, and the reward that they result in."""

    reward: float
    at: datetime
    outcome: Outcome | None = None
    efficiency: float | None = None
    score: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseShown:
    """Everything about one case. `q` is the mean of the values that the Q function gave it when it was shown."""

    iri: IRI
    task: str
    plan: str
    domain: str
    at: datetime
    reward: float | None = None
    q: float | None = None
    earned: float | None = None
    uses: int = 0
    about: tuple[IRI, ...] = ()
    derived_from: tuple[IRI, ...] = ()
    trajectory: IRI | None = None
    tags: tuple[str, ...] = ()
    steps: tuple[TaskStep, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    expired_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRef:
    """
    The note that a memory was taken from; `said_by` is who said it, empty for the user.

    For a long text: the `piece`, counted from 1, of how many; `parent` is the first.
    """

    iri: IRI
    content: str
    at: datetime
    said_by: str = ""
    parent: IRI | None = None
    piece: int | None = None
    pieces: int | None = None

    @property
    def place(self) -> str:
        """Its place in a long text, such as `piece 2 of 5`; empty for a whole note."""
        return f"piece {self.piece} of {self.pieces}" if self.piece and self.pieces else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A belief that a returned memory replaced, and what that one had replaced."""

    iri: IRI
    content: str
    reason: str
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    invalidated_at: datetime | None = None
    invalidates: tuple[Retired, ...] = ()

    @property
    def was_never_true(self) -> bool:
        """Tell whether the belief was corrected: it ended where it began."""
        return self.valid_at is not None and self.invalid_at is not None and self.invalid_at <= self.valid_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """A current memory that contradicts a returned one; `confidence` is 1, or that both cannot be true, from 0.5 on."""

    iri: IRI
    content: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    A name that led to a memory, and the signal. `subject`: the question names it. `link`: the memory `via` mentions it and this one
    is about it. `shared`: both mention it. `entity`: the memory is about `via`, from which recall started. `claim`: the name is the
    property path of a chain of claims, from `via` or from a claim to the memory, to be asked as `SELECT ?memory { … }`.
    """

    by: Literal["subject", "link", "shared", "entity", "claim"]
    name: str
    via: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An entity from which recall started: `named` in the question, or found with a good memory; `weight` is in 0..1."""

    iri: IRI
    name: str
    weight: float
    named: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """
    A claim of a memory that has ended: its words, a span of the memory's content, when, by which claim or memory, and why.
    """

    words: str
    at: datetime
    by: IRI | None = None
    reason: str = ""
    iri: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """
    A recalled memory; `rank` counts from 1, `score` is in 0..1, `about` are names for people to read.

    `relevance` is how certainly it answers the question, 0..1; None if the gate was off (`gate=false`). It stands for `count`
    memories that say the same: if there are several, `notes` are the notes of all, its own first, and `merged` the others. An
    explained memory has `why`, the contribution of each signal to the score, largest first, and `path`, the names that led to it.
    `ended` are its claims that have ended; `sentence` is the one that answers, a span of the content, if it has several.
    `contradicts` are current memories that cannot be true together with it, as `disputes` has them.
    """

    rank: int
    iri: IRI
    content: str
    score: float
    source: str
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    about: tuple[str, ...] = ()
    about_iris: tuple[IRI, ...] = ()
    note: NoteRef | None = None
    invalidates: tuple[Retired, ...] = ()
    relevance: float | None = None
    count: int = 1
    notes: tuple[NoteRef, ...] = ()
    merged: tuple[IRI, ...] = ()
    tags: tuple[str, ...] = ()
    why: dict[str, float] = field(default_factory=dict)
    path: tuple[Step, ...] = ()
    ended: tuple[Ended, ...] = ()
    sentence: str | None = None
    contradicts: tuple[Contradiction, ...] = ()

    @property
    def is_quoted(self) -> bool:
        """Tell whether the content is what was said, word for word."""
        return self.note is not None and _join_lines(self.content) in _join_lines(self.note.content)

    @property
    def speaker(self) -> str:
        """
        Whose words these are: a name, or `you` for the user.

        Empty if a model worded the content, or if it begins with the name, as a turn of a conversation does.
        """
        if self.note is None or not self.is_quoted or _SPEAKER.match(self.content):
            return ""
        return self.note.said_by or "you"

    def __str__(self) -> str:
        """Return a line: the day it was said, whose words these are, the words, and what of them holds no longer."""
        said_at = self.note.at if self.note and self.is_quoted else self.valid_at
        dates = [
            ("since", self.valid_at if self.valid_at and said_at and self.valid_at.date() != said_at.date() else None)
        ]
        remarks = [f"{name} {at.date()}" for name, at in (*dates, ("until", self.invalid_at)) if at]
        remarks += [f"“{_join_lines(one.words)}” until {one.at.date()}" for one in self.ended]
        remarks += [
            f"before: “{one.content}”" + (f" until {one.invalid_at.date()}" if one.invalid_at else "")
            for one in self.invalidates
            if not one.was_never_true
        ]
        remarks += [f"against it: “{one.content}”" for one in self.contradicts]
        head = " ".join(filter(None, (f"{said_at.date()}" if said_at else "", self.speaker)))
        line = f"{head}: {_join_lines(self.content)}" if head else _join_lines(self.content)
        return f"{line} ({'; '.join(remarks)})" if remarks else line


_SPEAKER = re.compile(r"[^\W\d_][\w .'’-]{0,40}: ")
"""Who speaks, at the beginning of a turn of a conversation."""


def _join_lines(text: str) -> str:
    return " ".join(text.split())


NEAREST = "Nothing told about this. Nearest:"
"""The heading of memories that are near a question and do not answer it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """
    A memory that was found and not returned: its relevance, why it was left out, and its first 120 characters.
    """

    iri: IRI
    relevance: float
    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledEntity:
    """An entity that returned memories are about; the user comes first, then the most mentioned."""

    iri: IRI
    name: str
    kind: str
    description: str = ""
    is_well_known: bool = False
    is_user: bool = False
    memory_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """
    The answer to a question: memories best first, the entities they are about, milliseconds by phase.

    `gated` means that nothing was relevant enough to be an answer; then `nearest` are up to three memories that are near the
    question and do not answer it, none if the text asks for nothing that a memory could hold. For an explained answer, `anchors`
    are the entities it started from, heaviest first, `sparql` a query that returns the same memories, and `cut` the best of the
    memories that were not returned. `left_out` counts relevant memories that did not fit into the budget.
    """

    query: str
    namespace: str
    memories: tuple[Recalled, ...]
    entities: tuple[RecalledEntity, ...]
    total_candidates: int
    timings_ms: dict[str, float]
    gated: bool = False
    nearest: tuple[Recalled, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    sparql: str | None = None
    cut: tuple[Cut, ...] = ()
    left_out: int = 0
    degraded: str | None = None
    """Why these memories are from an earlier time, or were found by words only; None when all is well."""
    notice: str | None = None
    """A further notice, such as that the requested namespace is empty; None if there is none."""
    cases: CasesFound | None = None
    """Cases whose tasks are similar to the question, if requested."""
    related: tuple[Relation, ...] = ()
    """Further memories that are linked to those returned, relevant to the question or not, if requested; the strongest first."""
    cached: Literal["fresh", "stale"] | None = None
    """Whether the answer comes from the cache: nothing was written since, or a new one is being made."""

    def __iter__(self) -> Iterator[Recalled]:
        """Yield the memories, best first."""
        return iter(self.memories)

    def __len__(self) -> int:
        """Return the number of memories."""
        return len(self.memories)

    @overload
    def __getitem__(self, at: int) -> Recalled: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Recalled, ...]: ...
    def __getitem__(self, at: int | slice) -> Recalled | tuple[Recalled, ...]:
        """Return the memory at a place, the best at 0."""
        return self.memories[at]

    def __str__(self) -> str:
        """Return a line for each memory; if none answers, say so, with what is nearest."""
        lines = [f"Note: {one}" for one in (self.degraded, self.notice) if one]
        lines += map(str, self.memories)
        if not self.memories:
            lines += [NEAREST, *map(str, self.nearest)] if self.nearest else ["No memory answers this."]
        if self.left_out:
            lines.append(f"{self.left_out} more were left out: a larger budget shows them.")
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One memory in a listing."""

    iri: IRI
    content: str
    note: IRI
    valid_at: datetime
    created_at: datetime
    invalid_at: datetime | None = None
    expired_at: datetime | None = None
    archived_at: datetime | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TagCount:
    """A tag and how many current memories have it; `meaning` is when a rule assigns it, empty for a free tag."""

    tag: str
    count: int
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The tags, container and importance of a memory."""

    iri: IRI
    content: str
    tags: tuple[str, ...] = ()
    container: str | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """
    A filter of memories; a memory must match each part that is given.

    `tags`: it has one of them; `about`: it is about one of them; `after`, `before`: it became valid from `after` until before
    `before`.
    """

    tags: tuple[IRI, ...] = ()
    container: str | None = None
    source: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    about: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """
    One memory in a timeline.

    `state` is its state at the requested time: it `holds`, it `ended` because something else came true, or it was `corrected`, as
    it had never been true. `successor` and `reason` say what ended it, if something did, and `retired_at` when that was learned.
    `ended` are those of its claims that have ended.
    """

    iri: IRI
    content: str
    note: IRI
    valid_at: datetime
    created_at: datetime
    state: Literal["holds", "ended", "corrected"]
    invalid_at: datetime | None = None
    successor: IRI | None = None
    reason: str | None = None
    retired_at: datetime | None = None
    ended: tuple[Ended, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BelievedClaim:
    """
    One claim in a timeline: whose it is, its relation and its value, in the very `words` of the memory that states it.

    `state` is as in `Believed`; `by` is the claim or memory that ended it. `entity` is the value, where the graph knows it as one.
    `complement` are the words that tell what it is about from others of its kind ("office" of "the plumber for the office").
    """

    iri: IRI
    memory: IRI
    owner: IRI
    name: str
    """Of its owner, for people: "you" for the user."""
    relation: str
    value: str
    words: str
    valid_at: datetime
    created_at: datetime
    state: Literal["holds", "ended", "corrected"]
    entity: IRI | None = None
    mood: str = "fact"
    complement: str = ""
    is_denied: bool = False
    is_event: bool = False
    invalid_at: datetime | None = None
    retired_at: datetime | None = None
    by: IRI | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """
    The history of a subject: its memories in the order in which they became true; `earlier` counts those that were left out.

    `claims`, of an entity or the user, are what it is said to be and do, and those of others whose value it is, in the same
    order; of more than 300, those that hold and the latest.
    `sparql`, if the question was what was true of an entity or the user at one time, is a query that returns the same memories.
    """

    subject: str
    namespace: str
    iris: tuple[IRI, ...]
    memories: tuple[Believed, ...]
    claims: tuple[BelievedClaim, ...] = ()
    earlier: int = 0
    sparql: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgraded:
    """The number of memories whose claims were read, and the folder of the backup of before, empty if none was needed."""

    memories: int
    backup: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spared:
    """A known claim that a memory has something in common with and did not end: its words, and why not."""

    claim: IRI
    memory: IRI
    words: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """
    Every statement about one IRI, as (predicate, value) pairs, and every statement that points at it, as (subject, predicate).
    For an explained memory or note, `spared` are the claims that it might have ended, and why it did not.
    """

    iri: IRI
    type: str
    namespace: str
    properties: tuple[tuple[str, str], ...]
    pointed_at_by: tuple[tuple[str, str], ...] = ()
    spared: tuple[Spared, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """
    A node of the graph for people: `label` is its text or name, `kind` its class, or for an entity which of the seven kinds.

    `is_past` means that a memory ended, was corrected or is forgotten.
    """

    iri: IRI
    label: str
    kind: str
    is_past: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLink:
    """A link from one node to another; `relation` is the name of the property, or of the association."""

    source: IRI
    target: IRI
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """Nodes with the links among them; `left_out` counts neighbours that are not shown."""

    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    """
    The state of a store that cannot be opened: `reason` says why; all reads are from `backup`, made at the time `at`.

    The memory is read-only until you restore a backup.
    """

    reason: str
    backup: str
    at: str

    @property
    def brief(self) -> str:
        """The same for callers of the memory, without the names of folders of the machine."""
        return (
            f"the memory is read-only and of {self.at[:19]}Z, and what was noted later is not in it, as its store cannot be "
            "opened: `memento restore` puts the backup that is read instead in its place"
        )

    def __str__(self) -> str:
        return f"{self.brief}. {self.reason}. The backup is {self.backup}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """
    Statements in the caller's graphs that no reader can use, such as a text in place of a number: how many, and the nodes they are
    about, a hundred at most. All other statements about these nodes are used.
    """

    statements: int
    nodes: tuple[IRI, ...]


PartName = Literal["store", "index", "embedder", "model", "notes", "disk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHealth:
    """
    The state of one part of a service: `ok`, `starting` until it is loaded, `away` if it does not answer, `failing` or `damaged` if
    it answers and does not work, `full` if it accepts no more.

    A part that `is_needed` is required to answer questions. `detail` says what is wrong, `figures` has measurements: for the store
    the number of its last write and how far this process is behind it, for the index its size, for notes how many wait.
    """

    part: PartName
    state: Literal["ok", "starting", "away", "failing", "damaged", "full"]
    is_needed: bool
    detail: str = ""
    figures: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """
    Whether requests should be sent here: `ready`, `starting`, or `away` if a required part is unavailable. `away` names those
    parts; `parts` has all of them, for callers who may see them.
    """

    status: Literal["ready", "starting", "away"]
    away: tuple[PartName, ...] = ()
    parts: tuple[PartHealth, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The contents of the service and its state. It is `ready` once a service has warmed up; without a service it always is."""

    version: str
    home: str
    namespace: str
    namespaces: tuple[str, ...]
    ready: bool
    embedder: str
    notes: int
    memories: int
    current: int
    entities: int
    invalidations: int
    pending: int
    vectors: int
    failed: int = 0
    unread: int = 0
    """The number of memories, in every namespace, that were imported as they are and whose claims are still to be read."""
    inferred: int = 0
    contradictions: int = 0
    gate: str = ""
    runtime: str = ""
    address: str | None = None
    degraded: str | None = None
    """Why the memory is read-only, and the time of the backup that is read; None when all is well."""
    set_aside: SetAside | None = None
    """The statements that cannot be used; None if there are none."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many secrets of each kind were redacted in this namespace since the folder was created."""
    proposals: int = 0
    """The number of captured proposals that wait for approval."""
    capture: str = ""
    """What becomes of conversations that hooks hand over in this namespace: off, propose or on."""
    parts: tuple[PartHealth, ...] = ()
    """The state of the parts, as in `/health/ready`."""
    differences: tuple[str, ...] = ()
    """Harmless differences of this node from the others of a shared store, a sentence each."""
    proxied: Mapping[str, int] | None = None
    """The requests of chat apps since this process started, as in `/health`; None if there were none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """
    The parts that answer questions, and the work that is left; `status` is `starting` until questions are answered at full speed,
    and `degraded` while a backup is read in place of a damaged store: `degraded` then says why, and the time of the backup.

    `indexes` counts the nodes in them, `pending` the notes that are not understood yet, `failed` those that were given up.
    `upstreams` has the origin of each protocol's provider, whose state is not checked. `differences` lists harmless differences of
    a node from the others of a shared store, a sentence each. `proxied` counts, for callers who may manage the
    whole folder, the requests of chat apps since this process started: `ok` with memories, `empty` without a relevant one,
    `timeout` and `error` forwarded without memories, and the turns that have `caught_up`: their memories came with a later turn.
    `plugins` has the plug-ins that could not be loaded, each with the reason.
    """

    status: Literal["starting", "ok", "degraded"]
    version: str
    embedder: str
    runtime: str
    store: Literal["ok", "failing", "damaged"]
    indexes: int
    pending: int
    failed: int
    upstreams: Mapping[str, str]
    degraded: str | None = None
    set_aside: SetAside | None = None
    differences: tuple[str, ...] = ()
    proxied: Mapping[str, int] | None = None
    plugins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between an index or file and the graph; `what` is a stable word such as `missing-vector`."""

    what: str
    iri: str
    detail: str


NoteState = Literal["pending", "consolidated", "skipped", "failed"]
"""The state of a note: stored and waiting, understood, without anything new, or given up until `retry`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """
    A memory as a note would be understood; `about` are names, "USER" for the user. `retires` are the texts of the memories that it
    would end, or the words that would end of one that holds on; `spared` are claims that it would not end, and why. `relation` and
    `value` are what it states, if rules find that; `mood` is how it is meant.
    """

    content: str
    about: tuple[str, ...] = ()
    valid_at: datetime | None = None
    until: datetime | None = None
    event_at: datetime | None = None
    relation: str | None = None
    value: str | None = None
    mood: str = "fact"
    tags: tuple[str, ...] = ()
    retires: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    spared: tuple[Spared, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """
    A claim that a new memory makes, in names for people: a relation of an owner ("USER" for the user), and its value.

    `polarity` is False if the memory denies it; `mood` is how it is meant. An event happened at `valid_at` and never ends.
    """

    iri: IRI
    memory: IRI
    owner: str
    relation: str
    value: str
    valid_at: datetime
    invalid_at: datetime | None = None
    is_event: bool = False
    polarity: bool = True
    mood: str = "fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """
    The result of a note: the memories stored, those that they retired, and those that they contradict without retiring them.
    `claims` is what the new memories state of an owner. `ended` are the words that ended of memories that hold on otherwise.

    A `pending` note is stored, but not yet understood: `memories` are still to come. `note` is None if it was `skipped`. `verbatim`
    is why the note could not be parsed; its one memory is then the note word for word. `remarks` are sentences for the author of
    the note: what of it is not stored and why, and what is stored without being parsed. `contents` has the text of every memory
    that is named. `redacted` counts the redacted secrets by kind. For a dry run, `readings` say what the note would become, and
    nothing else is stored.
    """

    note: IRI | None
    memories: tuple[IRI, ...] = ()
    invalidated: tuple[IRI, ...] = ()
    claims: tuple[Stated, ...] = ()
    ended: tuple[Ended, ...] = ()
    skipped: str | None = None
    contradicts: tuple[IRI, ...] = ()
    pending: bool = False
    verbatim: str | None = None
    remarks: tuple[str, ...] = ()
    contents: Mapping[IRI, str] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteStatus:
    """
    The state of a note. `agent` understood it; `attempts` failed, the last one with `error` and `reason`.

    For a skipped note `reason` says why nothing resulted from it; for a pending one `retry_at` is the time of the next attempt.
    `contents` has the text of every memory that is named.
    """

    note: IRI
    state: NoteState
    memories: tuple[IRI, ...] = ()
    invalidated: tuple[IRI, ...] = ()
    agent: str | None = None
    attempts: int = 0
    error: str | None = None
    reason: str | None = None
    retry_at: datetime | None = None
    contents: Mapping[IRI, str] = field(default_factory=dict)
    said: str = ""
    """The text of the note, in listings of notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """
    Two current memories, the older IRI first.

    `confidence` is 1 if they contradict each other, else the probability that they do, from 0.5 on; `reason` is the evidence.
    """

    one: IRI
    other: IRI
    confidence: float
    contents: tuple[str, str]
    since: tuple[datetime, datetime]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The invalidation that settled a dispute, the memory that stays and the one that ended; `contents` of both."""

    invalidation: IRI
    kept: IRI
    ended: IRI
    contents: Mapping[IRI, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """
    An undone invalidation: the memory that holds again, or some claims of it, and the one that had ended it, which is unchanged.

    `contents` has the text of both.
    """

    invalidation: IRI
    restored: IRI
    invalidator: IRI
    contents: Mapping[IRI, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unforgotten:
    """
    The memories that are recalled again, in order, the claims that are believed again, or the notes that wait again to be
    understood; `contents` has their texts.
    """

    memories: tuple[IRI, ...]
    contents: Mapping[IRI, str] = field(default_factory=dict)
    notes: tuple[IRI, ...] = ()
    claims: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """
    The origin of one memory: the note, who said it, and the agent that made the memory.

    `agent` is "rules", a model by provider and name, or "" if the note was stored verbatim; `agent_iri` can be given to `forget`.
    """

    memory: IRI
    content: str
    note: NoteRef
    said_by: str
    agent: str = ""
    agent_iri: IRI | None = None
    kind: str = ""
    at: datetime | None = None
    rules: tuple[str, ...] = ()
    prompts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """
    The receipt of an erasure: who requested it and when, its graph, how much was erased, and the SHA-256 of the erased IRIs,
    sorted, one per line. It contains nothing that was said; the audit graph has who, when, where and the digest as `iri`.
    """

    iri: IRI
    at: datetime
    by: str
    graph: IRI
    memories: int
    notes: int
    cases: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """
    The result of a forget: the memories it hid, or also deleted together with notes that nothing else derives from.

    `still_told` are notes that still contain what was erased, since other memories come from them. `cases` are those that were made
    with what was erased: they are erased as well, since their plans and results may contain it. An erasure has a `receipt`.
    `claims` were forgotten alone. `restored` are those that hold again, since what had ended them is taken back, with their texts.
    """

    memories: tuple[IRI, ...]
    notes: tuple[IRI, ...] = ()
    restored: Mapping[IRI, str] = field(default_factory=dict)
    erased: bool = False
    receipt: Receipt | None = None
    still_told: tuple[IRI, ...] = ()
    cases: tuple[IRI, ...] = ()
    claims: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """
    One row of an import, before it is a note. `position` is its place in the session, counted from 0; `ttl_s` is how many seconds
    its memories are remembered.
    """

    content: str
    at: datetime | None = None
    title: str | None = None
    speaker: str | None = None
    session: str | None = None
    position: int | None = None
    idempotency_key: str | None = None
    tags: tuple[str, ...] = ()
    container: str | None = None
    priority: Priority | None = None
    source: str | None = None
    ttl_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """
    The result of an import. `notes` has one entry for each row, in order: its note, or None if it was skipped.

    `pending` of them are stored and not yet understood, `verbatim` are stored word for word, since they could not be parsed,
    `known` were already stored under their keys. `redacted` counts the redacted secrets by kind. `refused` names the rows that
    could not be read, each with its line and what is wrong with it; they are not counted otherwise. `iri` is the import, which
    `undo_import` takes out again; None if nothing was written. `lines` are the beginnings of what a trial would bring in.
    """

    notes: tuple[IRI | None, ...]
    memories: int
    invalidated: int
    skipped: int = 0
    pending: int = 0
    verbatim: int = 0
    known: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    iri: IRI | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportShown:
    """An import of which something is still there: when, from which program, and how many notes and memories are left of it."""

    iri: IRI
    at: datetime
    source: str
    notes: int
    memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportUndone:
    """What went with an import: its notes and their memories; `restored` counts what it had ended and holds again."""

    iri: IRI
    notes: int
    memories: int
    restored: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedTurn:
    """
    A turn of a session that a client's hook reports: by the user, by the model, or the output of a tool.

    `turn` identifies it within its client; without it the text does.
    """

    role: Literal["user", "assistant", "tool"]
    text: str
    turn: str | None = None
    at: datetime | None = None
    tool: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capturing:
    """The result of a capture: how many turns were stored, to be noted or `proposed`, and why the others were not."""

    mode: Literal["off", "propose", "on"]
    kept: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A captured turn that becomes a note once the user approves it; `source` is the hook that reported it."""

    id: str
    content: str
    at: datetime
    client: str
    session: str | None = None
    speaker: str | None = None
    source: str | None = None
    priority: Priority | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The result for proposals: those accepted or rejected, and those that are unknown or no longer wait."""

    decided: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    memories: int = 0
    skipped: int = 0
    """How many contained nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """
    An unfinished write, in the terms of a write-ahead log: it is replayed at the next start, or earlier.

    `id` is the note, or the captured entry; `error` is the class of the failure of the last of its `attempts`.
    """

    id: str
    timestamp: datetime
    operation: Literal["upsert"] = "upsert"
    committed: bool = False
    kind: Literal["note", "captured", "proposal"] = "note"
    attempts: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The result of a change by SPARQL: quads that were added, quads that were removed, and the graphs it wrote to."""

    added: int
    removed: int
    graphs: tuple[IRI, ...] = ()
    is_new: bool = False
    """Whether a write to the graph store created the graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """
    The triples inferred from the graphs that a namespace reads; they are written to `graph`.

    `triples` are inferred. `contradictions` are several values where only one is possible. If more than 100,000 facts would take
    part, nothing is inferred, and `is_complete` is false.
    """

    namespace: str
    graph: IRI
    triples: int = 0
    contradictions: int = 0
    is_complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A written document: where, its format and size; `statements` does not count vectors."""

    file: str
    form: str
    statements: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """
    The result of an import of a document: the graphs of its statements, and how many of them were new.

    `kept` are statements whose local version was kept, `passed_over` those of graphs that no import writes. `memories`, `notes` and
    `cases` count those with something new; of their texts, `vectors` had their vectors in the document and `embedded` were embedded
    here. `redacted` counts the redacted secrets by kind.
    """

    graphs: tuple[IRI, ...]
    statements: int
    added: int
    kept: int = 0
    passed_over: int = 0
    memories: int = 0
    notes: int = 0
    cases: int = 0
    vectors: int = 0
    embedded: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A new backup: its folder, its contents in numbers, and the older ones that were deleted."""

    folder: str
    bytes: int
    statements: int
    vectors: int
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """
    A move to another embedder: the fingerprints and dimensions before and after, the number of texts, how many of them an
    interrupted run had already embedded (`resumed`), and the backup. For a dry run `embedded` is how many would be.
    """

    before: str
    after: str
    dimensions_before: int
    dimensions_after: int
    texts: int
    embedded: int
    resumed: int = 0
    backup: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A restored backup: which one, its contents in numbers, and where the previous memory is kept."""

    folder: str
    statements: int
    vectors: int
    aside: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantShown:
    """A tenant, and the number of its statements."""

    tenant: str
    statements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenShown:
    """
    A token: its name and rights; no `namespaces` means all. `graphs` are the free graphs that a token for some namespaces may read,
    and those with `:write` also write. `token` itself is only returned once, when it is created.
    """

    name: str
    tenant: str
    namespaces: tuple[str, ...]
    right: str
    created_at: str
    graphs: tuple[str, ...] = ()
    token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A memory or an anchor on the map, by its IRI and its text (400 characters) or name; `score` is in 0..1."""

    iri: IRI
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """
    Memories and anchors that belong together: `label` names it, `size` counts its memories, `keywords` are its tags or else names.

    `importance` is its share of all rank, `volatility` the share of it that was touched within a week; both in 0..1.
    """

    label: str
    size: int
    keywords: tuple[str, ...]
    importance: float
    volatility: float
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A link between two regions; `regions` are their positions on the list of regions, or -1 for one that is not listed."""

    ends: tuple[Place, Place]
    regions: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """
    The graph of the map in numbers; the user is left out, since nearly everything is about them.

    `density`, `clustering` and `largest` (share of the largest component) are in 0..1, `modularity` in −½..1.
    """

    memories: int
    anchors: int
    links: int
    average_degree: float
    density: float
    clustering: float
    modularity: float
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """
    The map of a namespace at a time: its regions, its central nodes, what is new and what decays, and the links between regions.

    `energy` is the mean of the memories, 0..100. `seasons` names some memories of each season, in the order emerging, active,
    stable, decaying. `recent` lists the latest events.
    """

    namespace: str
    at: datetime
    energy: float
    layout: Layout
    regions: tuple[Region, ...]
    seasons: dict[str, tuple[Place, ...]]
    keys: tuple[Place, ...]
    crossings: tuple[Crossing, ...]
    recent: str
    left_out: int = 0
    """How many memories of a large namespace are not on the map, which only has the latest."""
    text: str = ""
    """The same for a model, in 2,000 characters at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    The main topics of a namespace, counted over the current memories: names, and how many memories have each, most frequent first.

    `languages` are those of the files that memories name. `decisions` are the latest memories with the tag `decision`, newest
    first. `line` says the same in one sentence; `at` is when it was counted, and `is_cached` means that nothing was written since.
    """

    namespace: str
    memories: int
    notes: int
    sessions: int
    tags: dict[str, int]
    entities: dict[str, int]
    files: dict[str, int]
    functions: dict[str, int]
    packages: dict[str, int]
    languages: dict[str, int]
    decisions: tuple[str, ...]
    line: str
    at: datetime
    is_cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A memory in a bundle: the beginning of its text."""

    id: IRI
    preview: str
    tags: tuple[str, ...]
    timestamp: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBundle:
    """
    What a session starts from: the profile in a line, and memories grouped by their tags, each in the first group that fits.

    `indexed` means that the project folder was ingested just now; `waiting` counts notes that are not understood yet.
    """

    namespace: str
    profile: str
    decisions: tuple[Preview, ...]
    architecture: tuple[Preview, ...]
    errors: tuple[Preview, ...]
    other: tuple[Preview, ...]
    text: str
    indexed: bool = False
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """
    The summary of a session as a memory. `members` are the memories that it was made of, in order; `model` wrote it, None if it
    consists of their beginnings. It replaces `replaced`, if the session had a summary.
    """

    id: IRI
    session: str
    summary: str
    members: tuple[IRI, ...]
    model: str | None = None
    replaced: IRI | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """
    A question with the memories relevant to it, and a model's answer from them; None if no answer was requested, or no model is
    set.
    """

    memories: Recollection
    answer: str | None = None
    model: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """The numbers of a memory that change with its use; `rank.py` has the formulas. None is a number that was never set."""

    importance: float | None = None
    effective_importance: float | None = None
    """The importance reduced by age: .2 % less each day."""
    depth: float = 0.0
    energy: float | None = None
    usefulness: float | None = None
    access_count: int = 0
    success_count: int = 0
    failure_count: int = 0
    last_accessed_at: datetime | None = None
    energy_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The event that a memory was read in full."""

    memory: IRI
    graph: IRI
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """The event that a memory was recalled: this counts as use, and does not make it deeper."""

    memory: IRI
    graph: IRI
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversed:
    """
    The event that a caller reached a memory over a key. `graph` is the memory's, `key_graph` the key's, which may not be written
    yet.

    `weight` is that of the link, used if the link is not written yet.
    """

    key: Key
    key_graph: IRI
    memory: IRI
    graph: IRI
    at: datetime
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The event that a link was looked at and not followed; a link that is not written yet stays unchanged."""

    key: IRI
    memory: IRI
    graph: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The event that another node with a usage counter was used, such as a learned phrase of a key."""

    node: IRI
    graph: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """
    How a memory is related to the requested one: `similar`, `references`, `merges`, `rival` or another word, its strength (0..1)
    where known, and whether the link leads `out` to it, comes `in` from it, or has no direction (`both`). `of` is the requested
    memory, None if an entity was requested.
    """

    memory: IRI
    content: str
    relation: str
    way: Literal["out", "in", "both"]
    strength: float | None = None
    at: datetime | None = None
    of: IRI | None = None


BranchStage = Literal["staged", "applied", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A memory that a compaction removes, and why; one that is `merged` says the same as `into`, which then has its notes."""

    memory: IRI
    content: str
    why: Literal["expired", "merged", "evicted"]
    detail: str
    into: IRI | None = None
    into_content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """
    The plan or result of a compaction, by reason, of `total` memories of which `remaining` are left.

    `branch` is the graph with its additions; None if nothing is removed. `alike` pairs are similar in meaning and yet differ in
    content, so that both stay. `changes` are the first lines of the removals, `more` counts those that are not listed.
    """

    branch: IRI | None
    stage: BranchStage
    expired: int
    merged: int
    evicted: int
    total: int
    remaining: int
    alike: int = 0
    changes: tuple[Compaction, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Attributes of a memory beside its text: its type in a word, its importance, 0..1, its tags and its container."""

    type: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    container: str | None = None


Effect = Read | Used | Traversed | Skipped | Counted
