"""
The data classes: what is in the graph, what a write contains, cases with their plans and rewards, and the answers of a service.

All are frozen, keyword-only and compare by value; times are timezone-aware and in UTC. A field that is stored names its predicate
here (`prop(MEM.validAt)`), and `graph/mapping.py` needs nothing more to convert objects to quads and back.

*But:* there are no vectors here. An array has no useful equality; vectors are in `search/vectors.py`, keyed by IRI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Literal, Self, TypeVar
from urllib.parse import quote, unquote

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
    provenance_iri,
    self_iri,
    user_iri,
)

Value = IRI | str | int | float | bool | datetime
"""What an object of a quad may be. A `str` is text; only an `IRI` is a name."""

Quad = tuple[IRI, IRI, Value, IRI]
"""Subject, predicate, object, named graph."""

EntityKind = Literal["Person", "Organization", "Project", "Technology", "Location", "Event", "Concept"]
KINDS: tuple[EntityKind, ...] = ("Person", "Organization", "Project", "Technology", "Location", "Event", "Concept")

Priority = Literal["low", "normal", "high"]
"""How much whoever gave a text made of it."""

Mode = Literal["state-change", "correction", "heuristic"]

StepState = Literal["pending", "done", "skipped", "failed"]
"""How far a note has come on its way into memory, or a trajectory or one of its steps."""

AgentKind = Literal["rules", "model"]

KeyType = Literal["concept", "name", "proper_noun"]
CodeType = Literal["file", "function", "class", "package", "url", "env_var"]
"""How a key matches: a concept by meaning, the other two by spelling alone."""

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
    A file or a page whose pieces are the notes of a session, which it is: `name` is its whole path or address.

    `content_hash` is the SHA-256 of its bytes as they were read at `at`; `revision` counts from 1 how often they were others.
    It is gone since `invalid_at`, if it is, for `reason`.
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
    """Something that code or a text about it names, by its spelling; a file that was taken in defines and imports others."""

    iri: IRI
    name: str = prop(MEM.name)
    type: CodeType = prop(MEM.codeType)
    defines: tuple[IRI, ...] = prop(MEM.defines, ())
    imports: tuple[IRI, ...] = prop(MEM.imports, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """
    What was said, verbatim and immutable: the provenance of memories.

    `state` is set until the note is understood, and stays when nothing came of it; `title` and `speaker` are what its caller
    said beside it, kept as long as it is pending. `source` is how it came in, None for what somebody said on purpose.
    Of a text that was too long it is the `piece`, counted from 1, of so many `pieces`; `parent` is the first of them, None of the
    first itself; `overlap` are the characters at its beginning that end the piece before. Its memories end at `expires_at`.
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
    One sentence of a note in the note's own words, with USER for the speaker.

    It was true from `valid_at` until before `invalid_at`; Memento believed it from `created_at` until before `expired_at`.
    `subject` and `slot` say which single-valued property it fills ("employer" of the user), if any: a new value retires it.
    `is_verbatim`: it is a note that nobody could read, word for word. `mood` is how it is meant, where it tells no fact.
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
    slot: str | None = prop(MEM.slot, None)
    slot_value: str | None = prop(MEM.slotValue, None)
    mood: str | None = prop(MEM.mood, None)
    content_hash: str = prop(MEM.contentHash, "")
    is_verbatim: bool | None = prop(MEM.isVerbatim, None)
    expires_at: datetime | None = prop(MEM.expiresAt, None)
    related_to: tuple[IRI, ...] = prop(MEM.relatedTo, ())
    depth: float | None = prop(MEM.depth, None)
    access_count: int | None = prop(MEM.accessCount, None)
    last_accessed_at: datetime | None = prop(MEM.lastAccessedAt, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """
    What a memory states: a relation of a subject, its value, and how that is meant.

    `polarity` is False where the memory denies it; `until` is when it stops or stopped to hold, where the memory says so.
    """

    iri: IRI
    memory: IRI = prop(MEM.statedBy)
    subject: IRI = prop(MEM.statementSubject)
    relation: str = prop(MEM.statementRelation)
    value: str = prop(MEM.statementValue)
    value_entity: IRI | None = prop(MEM.valueEntity, None)
    polarity: bool = prop(MEM.polarity, True)
    mood: str = prop(MEM.mood, "fact")
    since: datetime | None = prop(MEM.since, None)
    until: datetime | None = prop(MEM.until, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivalry:
    """That two memories hardly hold together, and how sure that is: `confidence` is in 0..1. It ends neither of them."""

    iri: IRI
    rivals: tuple[IRI, ...] = prop(MEM.rival)
    confidence: float = prop(MEM.confidence)
    reason: str | None = prop(MEM.reason, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A word or phrase that an agent navigates by. `aliases` were given with memories, `learned` come from questions."""

    iri: IRI
    name: str = prop(MEM.name)
    type: KeyType = prop(MEM.keyType)
    created_at: datetime | None = prop(MEM.createdAt, None)
    aliases: tuple[str, ...] = prop(SKOS.altLabel, ())
    learned: tuple[str, ...] = prop(MEM.alias, ())
    denotes: IRI | None = prop(MEM.denotes, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLink:
    """That a key leads to a memory, and how strongly: `weight` is in .1..3."""

    iri: IRI
    key: IRI = prop(MEM["from"])
    memory: IRI = prop(MEM.to)
    weight: float = prop(MEM.weight)
    created_at: datetime | None = prop(MEM.createdAt, None)
    last_reinforced_at: datetime | None = prop(MEM.lastReinforcedAt, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """That one memory leads to another, in what way, and how strongly: `weight` is in 0..1, as it was at `last_reinforced_at`."""

    iri: IRI
    source: IRI = prop(MEM["from"])
    target: IRI = prop(MEM.to)
    relation: IRI = prop(MEM.relation)
    weight: float = prop(MEM.weight)
    created_at: datetime = prop(MEM.createdAt)
    last_reinforced_at: datetime = prop(MEM.lastReinforcedAt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """That the energies of a graph were let fade until an instant, by a half-life in days, since the span before it."""

    iri: IRI
    graph: IRI = prop(MEM.fades)
    until: datetime = prop(MEM.at)
    half_life: float = prop(MEM.halfLife)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalidation:
    """Why a belief ended."""

    iri: IRI
    invalidator: IRI = prop(MEM.invalidator)
    invalidated: IRI = prop(MEM.invalidated)
    reason: str = prop(MEM.reason)
    at: datetime = prop(MEM.at)
    mode: Mode = prop(MEM.mode)
    rule: str | None = prop(MEM.rule, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """What understands notes: the rules, or a model by provider and name."""

    iri: IRI
    name: str = prop(MEM.name)
    kind: AgentKind = prop(MEM.agentKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """
    The run that turned a note into memories, or is still to do so.

    `at` is when the note came in. `error` is the class of the last failure and `reason` what it said, or why nothing came of the
    note; `attempts` counts the failures, `tokens` what the run cost. An `isolated` note is compared with its own namespace alone.
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
    """What remains of an invalidation that was taken back: when, which memory holds again, and why it had been retired."""

    iri: IRI
    at: datetime = prop(MEM.at)
    restored: IRI = prop(MEM.restored)
    reason: str = prop(MEM.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What is written down of a change by SPARQL: when, by which token, in which graphs, and by how many quads."""

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
    """Something with a score, and where the score came from."""

    item: T
    score: float
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """
    A query or a question that stands: it is answered again after every write that touches its namespace.

    `rendered` is the answer as Markdown; None until it is answered, and after something was forgotten. `rendered_at` is when.
    """

    iri: IRI
    name: str = prop(MEM.name)
    query: str | None = prop(MEM.query, None)
    question: str | None = prop(MEM.question, None)
    rendered: str | None = prop(MEM.rendered, None)
    rendered_at: datetime | None = prop(MEM.renderedAt, None)


@dataclass(frozen=True, slots=True)
class Scope:
    """
    Whose memory, and which part of it: decides the graph that is written and the graphs that may be read.

    What the user's description says comes from all namespaces: `with_self` is False for a reader of some of them.
    """

    tenant: str = "local"
    namespace: str = "main"
    with_main: bool = True  # whether reads cover `main` too
    with_global: bool = False  # whether they cover `__global__`, which there is when something was written to it
    with_self: bool = True  # whether they cover what is said of the user
    others: tuple[str, ...] = ()  # further namespaces that reads cover

    @property
    def graph(self) -> IRI:
        """The named graph that this scope writes to."""
        return graph_iri(self.tenant, self.namespace)

    @property
    def memory_graphs(self) -> tuple[IRI, ...]:
        """The graphs whose memories this scope may recall: its own, mostly `main` and `__global__`, and the others asked for."""
        shared = [name for name, is_read in (("main", self.with_main), (GLOBAL, self.with_global)) if is_read]
        shared += self.others
        return tuple(dict.fromkeys((self.graph, *(graph_iri(self.tenant, name) for name in shared))))

    @property
    def readable(self) -> tuple[IRI, ...]:
        """Every graph this scope may read: its memories, the tenant's user, the ontology."""
        return (*self.memory_graphs, *self.user_graphs, ONTOLOGY)

    @property
    def user_graphs(self) -> tuple[IRI, ...]:
        """The graph of the tenant's user, where this scope may read it."""
        return (self.self_graph,) if self.with_self else ()

    @property
    def self_graph(self) -> IRI:
        """The named graph of the tenant's user."""
        return self_iri(self.tenant)

    @property
    def provenance(self) -> IRI:
        """The named graph of the tenant's runs: who made which memory of which note."""
        return provenance_iri(self.tenant)

    @property
    def inferred(self) -> IRI:
        """The named graph of what follows from the graphs that this scope reads."""
        is_alone = not self.with_main and self.namespace != "main"
        return inferred_iri(
            self.tenant,
            self.namespace,
            alone=is_alone,
            narrow=not self.with_self and not is_alone,
            shared=self.with_global and not self.with_self,
        )

    @property
    def user(self) -> IRI:
        """The one user of the tenant."""
        return user_iri(self.tenant)


_LONGEST = 200  # characters of a name, as of a namespace's


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """
    What one caller reads and writes: graphs by name, never by what is in them.

    `default` is read where a pattern names no graph, `named` where it names one; None for both is a plain dataset, all of it.
    Quads that name no graph are written `into` a graph; None is the default graph. A `tenant` writes the memories of its
    `namespaces`, of all of them when there are none here, and its free graphs; None writes everywhere.
    """

    default: tuple[IRI, ...] | None = None
    named: tuple[IRI, ...] | None = None
    into: IRI | None = None
    tenant: str | None = None
    namespaces: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is a dataset without owners: all of it may be read and written."""
        return self.tenant is None

    def holds_memories(self, graph: str) -> bool:
        """Tell whether a graph is one of the memories that may be written here."""
        name = self._name(graph, graph_iri)
        return name is not None and (not self.namespaces or name in self.namespaces)

    @property
    def free(self) -> str:
        """How the names of the tenant's free graphs begin; "" where there is no tenant."""
        return data_iri(self.tenant, "") if self.tenant is not None else ""

    def is_free(self, graph: str) -> bool:
        """Tell whether a graph is one of the tenant's own, in which any RDF may stand."""
        return self._name(graph, data_iri) is not None

    def may_write(self, graph: str) -> bool:
        """Tell whether a graph may be written, whether it is there or not; "" is the default graph."""
        return self.is_plain or self.holds_memories(graph) or self.is_free(graph)

    def may_read(self, graph: str) -> bool:
        """Tell whether a graph may be read, whether it is there or not."""
        return self.named is None or graph in self.named or graph in (self.default or ()) or self.may_write(graph)

    def keep_readable(self, graphs: Iterable[str]) -> tuple[IRI, ...]:
        """Return those of some graphs that may be read; what is not there reads as empty."""
        return tuple(IRI(graph) for graph in graphs if self.may_read(graph))

    def choosing(self, default: Iterable[str], named: Iterable[str]) -> Self:
        """Narrow the choice of what is read, as FROM and USING make it."""
        return replace(self, default=self.keep_readable(default), named=self.keep_readable(named))

    def _name(self, graph: str, called: Callable[[str, str], IRI]) -> str | None:
        """Return what a graph of this tenant is called, when it is of a kind and spelled in the one way that counts."""
        if self.tenant is None:
            return None
        start = called(self.tenant, "")
        name = unquote(graph.removeprefix(start)) if graph.startswith(start) else ""
        is_name = bool(name.strip()) and len(name) <= _LONGEST and name.isprintable()
        return name if is_name and graph == start + quote(name, safe="") else None


Outcome = Literal["success", "partial", "failure"]
OUTCOMES: tuple[Outcome, ...] = ("success", "partial", "failure")
LEAST_REWARD, MOST_REWARD = -0.2, 1.0
"""What a task may have earned."""

Section = Literal["positive", "negative"]
"""Whether a case is shown to be followed or to be avoided."""

Ranking = Literal["cosine", "q"]
"""What put cases in order: likeness alone, or the learned value as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The situation a case began in: the task in words."""

    iri: IRI
    content: str = prop(MEM.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What was decided: a plan of numbered steps as text."""

    iri: IRI
    content: str = prop(MEM.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One finished task as an example for later ones.

    `at` is when it was finished, `created_at` when it was kept, where that is another time. `reward` is in −0.2…1, None until
    somebody has judged. `q` is the mean of the values that the Q function gave it in `uses` rankings.
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
    """One verdict on a case: its parts, and the one number they make."""

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
    The way a task is carried out. While it is `pending` it has a state; when it is done, `case` is what came of it.

    `packed` is the whole way, gzipped JSON in base64; the steps beside it then have their texts shortened.
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

    `cycle` says which plan it is of, counted from 1, and `number` which number that plan gives it.
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
    One call of a tool within a step, counted from 0; `arguments` are a JSON object.

    `result` is what the tool said, or why the call failed; `at` is when it was made, `took_ms` how long it took.
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
    Cases were asked for: for which task, when, and how they were put in order.

    `beta` is the weight of Q against the cosine; `reason` says why it was that. `reward` is what the task came to earn.
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
    A case that a retrieval showed: in which section and place, with which values, and why.

    `q` is what the Q function said of this case for this task, absent when it was not asked; `reward` is what the task earned.
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
    | Entity
    | User
    | Memory
    | Statement
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
    | Page
    | CaseNode
)
"""Everything that `graph/mapping.py` turns into quads and back."""


Zoom = Literal["case", "subtask", "community"]
"""How large what one looks at is."""

Tilt = Literal["embedding", "keyword", "graph", "temporal"]
"""By what it is put in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """
    A finished task, before it is a case.

    Args:
        outcome, reward: how it ended, or what it earned, in −0.2…1; neither when nobody has judged.
        at: when it was finished; default now.
        about: entities that it concerns, by IRI; the names of known ones are also found in the task.
        derived_from: memories, notes or cases that were used.
        tags: words that tell what kind of task it is.
    """

    task: str
    plan: str
    outcome: Outcome | None = None
    reward: float | None = None
    at: datetime | None = None
    about: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """
    One call of a tool: `arguments` are a JSON object as text, `result` what it said or why it failed.

    A call that is `pending` was about to be made when it was last heard of: it may have happened.
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
    A case that came back; `rank` counts from 1 within its section.

    `score` is β·q + (1 − β)·likeness, which is the cosine and what the case shares of the task's entities and tags; `q` is None
    where the Q function was not asked. `reward` is what the case earned as a task, `earned` the mean of what the tasks it was shown
    for earned, `uses` how many those are. `reason` says why it is here.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CasesFound:
    """
    The cases for a task: those to follow and those to avoid, each best first, at most k of either.

    `retrieval` names this look-up when the task's reward is told; None when it was not kept. `beta` is the weight of the
    learned value, and `reason` says why it is that. `candidates` counts the cases that were ranked.
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

    `cycle` says which plan it is of: a task that fails is planned again. `id` is the number that the plan gives it, where it does.
    """

    step: int
    task: str
    state: StepState
    result: str | None = None
    tools: tuple[ToolCall, ...] = ()
    cycle: int = 1
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRun:
    """A task under way or done: its steps in order, the retrieval it began with, and the case that came of it."""

    iri: IRI
    task: str
    domain: str
    state: StepState
    at: datetime
    plan: str | None = None
    retrieval: IRI | None = None
    steps: tuple[TaskStep, ...] = ()
    about: tuple[IRI, ...] = ()
    derived_from: tuple[IRI, ...] = ()
    case: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One verdict on a case: its parts, and the one number they make."""

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
class Credited:
    """
    What became of a reward: the cases that share it, and how far the Q function has come.

    `labelled` counts the pairs of a task and a case with a reward, `updates` the rounds of learning; `beta` is what the next
    retrieval will use, for the `reason` given.
    """

    retrieval: IRI
    reward: float
    cases: tuple[IRI, ...]
    labelled: int
    updates: int
    beta: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A finished task: the case that came of it, what it earned, what that taught, and the cases that had to go for it."""

    case: IRI
    reward: float
    credited: Credited | None = None
    pruned: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStatus:
    """
    How case memory stands in one domain.

    `positives` and `negatives` count labelled pairs; `auc_q` and `auc_cosine` are what either ranking reached on the latest
    held-out pairs, None while there are too few; `guarded` says that Q is not used because it was the worse one there.
    """

    domain: str
    cases: int
    successes: int
    retrievals: int
    labelled: int
    positives: int
    negatives: int
    updates: int
    beta: float
    guarded: bool
    reason: str
    auc_q: float | None = None
    auc_cosine: float | None = None
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark:
    """Something seen from a point of view: a case, a step or a community of cases; `cases` are those it stands for."""

    iri: IRI
    label: str
    score: float
    reason: str
    cases: tuple[IRI, ...] = ()
    about: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigated:
    """What is to be seen from a point of view; `view` is the record of having looked, which later ones follow, if it was kept."""

    view: IRI | None
    zoom: Zoom
    pan: tuple[str, ...]
    tilt: Tilt
    seen: tuple[Landmark, ...]
    previous: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A stretch of rewarded retrievals: how many until its end, and the mean reward within it."""

    until: int
    reward: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMetrics:
    """
    How well case memory does in one domain, all of it from the graph.

    `retrievals` counts the look-ups whose reward was told; `mrr` and `ndcg` rate their rankings by which shown cases were
    successes. `success_rate` is the share of judged cases with a reward from 0.5, `execution_accuracy` the share of steps that
    were done, `curve` the mean reward over time, `bytes_per_case` the memory held for one case, `earned_per_case` the reward per
    case kept.
    """

    domain: str
    cases: int
    retrievals: int
    mrr: float | None
    ndcg: float | None
    success_rate: float | None
    execution_accuracy: float | None
    curve: tuple[CurvePoint, ...]
    bytes_per_case: float
    earned_per_case: float


Ending = Literal["done", "failed", "stopped", "uncertain"]
"""
How carrying out a task ended: its steps are done; its last plan failed; a limit was reached, or a step cannot be tried for want
of a model or a tool, and it can go on; or it waits for a word about a call that may have happened.
"""

Doubt = Literal["ask", "repeat", "skip"]
"""What to do about a call of a tool that may have happened before the process ended: wait to be told, make it again, or pass on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """
    A tool of a configured server; `schema` is the JSON schema of its arguments as text.

    `repeatable` is what its server says: that it changes nothing, or that a second call changes nothing more.
    """

    name: str
    server: str
    description: str
    schema: str
    repeatable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """
    A plan that is stored and waits to be carried out as `run`.

    `by` is who made it: the name of a model, `template`, or `caller`; `reason` says of what. `found` are the cases that were shown.
    """

    run: TaskRun
    by: str
    reason: str
    found: CasesFound
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """
    How far a task has come. `answer` is the planner's last word or the result of the last step, `reason` why it ended here.

    `calls`, `tokens` and `seconds` are those of this go; `completed` is the case that came of it.
    """

    run: TaskRun
    ending: Ending
    reason: str
    answer: str | None = None
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    completed: Completed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRef:
    """The note that a memory was taken from: of a long text the `piece`, counted from 1, of so many; `parent` is the first."""

    iri: IRI
    content: str
    at: datetime
    parent: IRI | None = None
    piece: int | None = None
    pieces: int | None = None

    @property
    def place(self) -> str:
        """Its place in a long text, as `piece 2 of 5`; empty for a note that is whole."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    A name that led to a memory, and by which signal: `subject`, it is named in the question; `link`, the memory `via` mentions
    it and this one is about it; `shared`, both mention it. By `entity`, the memory is about `via`, from which recall started.
    """

    by: Literal["subject", "link", "shared", "entity"]
    name: str
    via: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An entity of the graph that recall started from: `named` in the question, or come with a good memory; `weight` is in 0..1."""

    iri: IRI
    name: str
    weight: float
    named: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """
    A memory that came back; `rank` counts from 1, `score` is in 0..1, `about` are names for people to read.

    `relevance` is how surely it answers the question, 0..1; None where nobody asked (`gate=false`). It stands for `count` memories
    that say the same: where there are several, `notes` are the notes of all, its own first, and `merged` the others.
    Explained, it has `why`, what each signal gives to the score, the largest first, and `path`, the names that led to it.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """
    A memory that was found and did not come back: how relevant it is, why it was left out, and what it says in 120 characters.
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

    `gated` says that nothing was relevant enough, so what would have come back was held back. When the answer is explained,
    `anchors` are the entities it started from, the heaviest first, `sparql` a query that returns the same memories, and `cut` the
    best of what did not come back. `left_out` counts what was relevant and did not fit into the budget.
    """

    query: str
    namespace: str
    memories: tuple[Recalled, ...]
    entities: tuple[RecalledEntity, ...]
    total_candidates: int
    timings_ms: dict[str, float]
    gated: bool = False
    anchors: tuple[Anchor, ...] = ()
    sparql: str | None = None
    cut: tuple[Cut, ...] = ()
    left_out: int = 0
    degraded: str | None = None
    """Why these are memories of an earlier time, or found by words alone; None when all is well."""
    notice: str | None = None
    """What else to know, as that nothing is remembered in the namespace asked for; None when there is nothing."""
    cases: CasesFound | None = None
    """Cases whose tasks are like the question, where they were asked for."""
    cached: Literal["fresh", "stale"] | None = None
    """Whether it was given to the same caller before: with nothing written since, or while a new one is being made."""


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
    """A tag and how many of the memories that hold have it; `meaning` is what a rule gives it for, empty for a free tag."""

    tag: str
    count: int
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What stands beside a memory: its tags, its container, its importance."""

    iri: IRI
    content: str
    tags: tuple[str, ...] = ()
    container: str | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """
    Which memories are meant; each part that is given must hold of a memory.

    `tags`: it has one of them; `about`: it is about one of them; it began to hold from `after` until before `before`.
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

    `state` is how it stands at the time that was asked about: it `holds`, it `ended` because something else came true, or it was
    `corrected`, as it had never been true. `successor` and `reason` say what ended it, where something did, and `retired_at` when
    that was learned.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """
    The history of a subject: its memories in the order they became true; `earlier` counts those that were left out.

    `sparql`, where it was asked what was true of an entity or of the user at one time, is a query that returns the same memories.
    """

    subject: str
    namespace: str
    iris: tuple[IRI, ...]
    memories: tuple[Believed, ...]
    earlier: int = 0
    sparql: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Everything the graph says of one IRI, as (predicate, value) pairs, and who points at it, as (subject, predicate)."""

    iri: IRI
    type: str
    namespace: str
    properties: tuple[tuple[str, str], ...]
    pointed_at_by: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """
    A node of the graph for people: `label` is what it says or is called, `kind` its class, of an entity which of the seven.

    `is_past` says of a memory that it ended, was corrected or is forgotten.
    """

    iri: IRI
    label: str
    kind: str
    is_past: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLink:
    """That one node leads to another; `relation` is the name of the property, or of the association."""

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
    What it means that the store cannot be opened: `reason` says why, and all that is read is of `backup`, which was made `at`.

    Nothing is written until a backup is put in the place of the store.
    """

    reason: str
    backup: str
    at: str

    @property
    def brief(self) -> str:
        """For whoever asks the memory; folders of the machine are not named."""
        return (
            f"the memory is read-only and of {self.at[:19]}Z, and what was noted later is not in it, as its store cannot be "
            "opened: `memento restore` puts the backup that is read instead in its place"
        )

    def __str__(self) -> str:
        return f"{self.brief}. {self.reason}. The backup is {self.backup}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """
    What is in the graphs that the caller sees and no reader can take, as a text where a number must be: how many statements, and
    of which nodes, a hundred at most. All else that is said of them is read.
    """

    statements: int
    nodes: tuple[IRI, ...]


PartName = Literal["store", "index", "embedder", "model", "notes", "disk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHealth:
    """
    How one part of a service stands: `ok`, `starting` until it is loaded, `away` where it does not answer, `failing` or `damaged`
    where it does and cannot, `full` where it takes no more.

    Without a part that `is_needed` no question is answered. `detail` says what is wrong, `figures` what was measured: of the store
    the number of its last write and how far this process is behind it, of the index what it holds, of notes how many wait.
    """

    part: PartName
    state: Literal["ok", "starting", "away", "failing", "damaged", "full"]
    is_needed: bool
    detail: str = ""
    figures: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """
    Whether requests should be sent here: `ready`, `starting`, or `away` where a part is not there that is needed. `away` names
    those parts; `parts` has all, for those who may ask.
    """

    status: Literal["ready", "starting", "away"]
    away: tuple[PartName, ...] = ()
    parts: tuple[PartHealth, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the service holds and how it stands."""

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
    inferred: int = 0
    contradictions: int = 0
    gate: str = ""
    runtime: str = ""
    address: str | None = None
    degraded: str | None = None
    """Why the memory is read-only and of what time it is; None when all is well."""
    set_aside: SetAside | None = None
    """What cannot be read; None when there is nothing."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many secrets of which kind were taken out of texts for this namespace since the folder was made."""
    proposals: int = 0
    """What was captured and waits for a yes."""
    parts: tuple[PartHealth, ...] = ()
    """How the parts stand, as `/health/ready` tells it."""
    differences: tuple[str, ...] = ()
    """Where this node differs from the others of a shared store without harm, a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """
    What questions are answered with, and what is left to do; `status` is `starting` until they are answered at full speed, and
    `degraded` where a backup stands in for a store that is damaged: `degraded` then says why, and of what time it is.

    `indexes` counts the nodes in them, `pending` the notes that are still to be understood, `failed` those that were given up.
    `upstreams` has the origin of the provider of each protocol, which is not asked how it does. `differences` says where a node
    differs from the others of a shared store without harm, a sentence each. `shards` says of each store of a memory that has
    several whether it is `ok`, `failing` or `not open` in this process, to who may care for all of it.
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
    shards: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that is not as the graph says it should be; `what` is a stable word such as `missing-vector`."""

    what: str
    iri: str
    detail: str


NoteState = Literal["pending", "consolidated", "skipped", "failed"]
"""How far a note has come: kept and waiting, understood, nothing new in it, or given up until `retry`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """
    One memory as a note would be understood; `about` are names, "USER" for the user. `retires` are the memories that it would end,
    in their words. `relation` and `value` are what it states, where rules see that; `mood` is how it is meant.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """
    What became of a note: what was stored, what that retired, what it contradicts without retiring it.

    A `pending` note is kept, but not yet understood: `memories` are still to come. `note` is None when it was `skipped`. `verbatim`
    is why the note could not be read, where its one memory is the note word for word.
    `remarks` are sentences for the writer of the note: what of it is not kept and why, and what is kept without being read.
    `contents` has the text of every memory that is named. `redacted` counts the secrets by kind that were taken out of the text.
    Of a dry run, `readings` say what the note would become, and nothing else of it is kept.
    """

    note: IRI | None
    memories: tuple[IRI, ...] = ()
    invalidated: tuple[IRI, ...] = ()
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
    How far a note has come. `agent` understood it; `attempts` failed, the last one by `error`, which said `reason`.

    For a skipped note `reason` says why nothing came of it; for a pending one `retry_at` is when it is tried again.
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
    """What the note says, where notes are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """
    Two current memories, the older IRI first.

    `confidence` is 1 where they contradict each other, else how likely they do, from 0.5 on; `reason` says what speaks for it.
    """

    one: IRI
    other: IRI
    confidence: float
    contents: tuple[str, str]
    since: tuple[datetime, datetime]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The invalidation with which a dispute was settled, the memory that stays and the one that is over; `contents` of both."""

    invalidation: IRI
    kept: IRI
    ended: IRI
    contents: Mapping[IRI, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """
    A taken-back invalidation: the memory that holds again, and the one that had retired it, which stays as it is.

    `contents` has the text of both.
    """

    invalidation: IRI
    restored: IRI
    invalidator: IRI
    contents: Mapping[IRI, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unforgotten:
    """The memories that are recalled again, in order, or the notes that wait again to be understood; `contents` has their texts."""

    memories: tuple[IRI, ...]
    contents: Mapping[IRI, str] = field(default_factory=dict)
    notes: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """
    Where one memory comes from: the note, who said it, and what made the memory of it.

    `agent` is "rules", a model by provider and name, or "" when the note was kept as it was; `agent_iri` can be given to `forget`.
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
    What an erasure leaves: who asked for it and when, the graph it was made in, how much went, and the SHA-256 of the IRIs that
    went, sorted, a line each. It has nothing that was said; the audit graph keeps who, when, where and the digest as `iri`.
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
    What a forget did: the memories it hid, or also deleted together with notes nothing else derives from.

    `still_told` are notes that still say what was erased, as other memories come from them. `cases` are those that had been made
    with what was erased: they are erased as well, as their plans and results may tell of it. An erasure has a `receipt`.
    """

    memories: tuple[IRI, ...]
    notes: tuple[IRI, ...] = ()
    erased: bool = False
    receipt: Receipt | None = None
    still_told: tuple[IRI, ...] = ()
    cases: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """
    One row of an import, before it is a note. `position` is its place in the session, counted from 0; `ttl_s` is for how many
    seconds its memories are remembered.
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
    What an import did. `notes` has one entry for each row, in their order: its note, or None where it was skipped.

    `pending` of them are kept and not yet understood, `verbatim` are kept word for word, as they could not be read, `known` were
    here before by their keys. `redacted` counts the secrets by kind that were taken out of the rows.
    """

    notes: tuple[IRI | None, ...]
    memories: int
    invalidated: int
    skipped: int = 0
    pending: int = 0
    verbatim: int = 0
    known: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """
    What became of a file, a folder or a page. Of the documents there, `fresh` are new, `changed` were others before, `unchanged`
    are passed over, and `gone` were there before; `left` more are to be read, where no more were wanted.

    `pieces` is how many pieces came of those that are new or changed, `memories` how many were stored, and `retired` how many
    hold no longer. `left_out` counts what was not read by the reason, `names` says of which files, the first of them.
    """

    fresh: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    left: int = 0
    pieces: int = 0
    memories: int = 0
    retired: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedTurn:
    """
    Something said in a session that a client's hook tells of: by the user, by the model, or what a tool answered to a command.

    `turn` tells it from all others of its client; without one its words do.
    """

    role: Literal["user", "assistant", "tool"]
    text: str
    turn: str | None = None
    at: datetime | None = None
    tool: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capturing:
    """What became of what was said: how many turns are kept, to be noted or `proposed`, and why the others are not."""

    mode: Literal["off", "propose", "on"]
    kept: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Something captured that becomes a note once the user says yes; `source` is the hook that told it."""

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
    """What became of proposals: those that were accepted or rejected, and those that do not wait, or not any more."""

    decided: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    memories: int = 0
    skipped: int = 0
    """How many had nothing new in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """
    A write that is not done yet, in the words of a write-ahead log: it is replayed at the next start, or sooner.

    `id` is the note, or what was captured; `error` the class of what went wrong at the last of its `attempts`.
    """

    id: str
    timestamp: datetime
    operation: Literal["upsert"] = "upsert"
    committed: bool = False
    kind: Literal["note", "captured", "proposal"] = "note"
    attempts: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAnswer:
    """What the memory tool answers a command, worded as published; `failed` where nothing was done."""

    text: str
    failed: bool = False
    memories: int = 0
    """How many memories were stored."""
    retired: int = 0
    """How many hold no longer."""
    redacted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a change by SPARQL came to: quads that had not been there, quads that had, and the graphs it wrote to."""

    added: int
    removed: int
    graphs: tuple[IRI, ...] = ()
    is_new: bool = False
    """Whether a graph came into being that was written to the graph store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred:
    """
    What follows from the graphs that a namespace reads, and is written into `graph`.

    `triples` are inferred, each in at least one way; `by_rule` counts the ways by the name of their rule. `contradictions` are
    several values where there can be one. Nothing is inferred, and `is_complete` false, when more follows than `inference.most`.
    """

    namespace: str
    graph: IRI
    triples: int = 0
    contradictions: int = 0
    by_rule: Mapping[str, int] = field(default_factory=dict)
    is_complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A document that was written: where, in which format, and how long; `statements` are those beside vectors."""

    file: str
    form: str
    statements: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """
    What became of a document: the graphs that its statements went to, and how many of them were new.

    `kept` are those that stayed as they were here, `passed_over` those of graphs that no import writes. `memories`, `notes` and
    `cases` count those of which something was new; of their texts, `vectors` came with the document and `embedded` were made.
    `redacted` counts the secrets by kind that were taken out of it.
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
    """A backup that was made: its folder, how much it holds, and which earlier ones were let go of."""

    folder: str
    bytes: int
    statements: int
    vectors: int
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """
    What machines told one another: statements that this one sent and took back (`sent`, `withdrawn`), patches of others that came,
    and what they added and removed here. `rivals` are memories of several machines that can hardly both hold, and `overruled`
    values that gave way to a later one. `joined` says that this machine was not part of it before.
    """

    machine: str
    sent: int
    withdrawn: int
    patches: int
    added: int
    removed: int
    rivals: int = 0
    overruled: int = 0
    machines: tuple[str, ...] = ()
    joined: bool = False
    redacted: Mapping[str, int] = field(default_factory=dict)
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """
    A move to another embedder: the fingerprints and lengths of vectors before and after, how many texts there are, how many of
    them an earlier try had embedded (`resumed`), and the backup. Of a dry run `embedded` is how many there would be.
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
class Converted:
    """
    A data folder that was made an encrypted or a plain one, or has another key: how many backups were converted with it, and which
    folders in it could not be.
    """

    folder: str
    encrypted: bool
    backups: int
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A backup that is the memory now: which one, how much it holds, and where what was here before is kept."""

    folder: str
    statements: int
    vectors: int
    aside: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFinding:
    """What a probe found of one thing that a store should have: the request that showed it, and what came back."""

    name: str
    is_needed: bool
    """Whether a memory cannot be kept without; the rest is wished."""
    outcome: Literal["ok", "failed", "unknown"]
    asked: str
    answered: str
    why: str
    """What would happen to memories where it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """Whether a memory can be kept in a SPARQL endpoint; `verdict` says so in a line, with the reasons where it cannot."""

    query_url: str
    update_url: str
    reachable: bool
    fit: bool
    verdict: str
    findings: tuple[ProbeFinding, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantShown:
    """
    A tenant: in which store its memory is, and how many statements that has (None where that store is away).
    While it is moved, where to, and how far that is: `copying`, then `cut` and `removing`, when it is there already; `is_moving`
    tells whether a node is at work on it.
    """

    tenant: str
    shard: str
    statements: int | None
    moving_to: str | None = None
    stage: str | None = None
    is_moving: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantMoved:
    """
    A tenant that was moved, or whose move was taken back: how many statements went, their digest, which both stores had, and for
    how many seconds nobody could write to either.
    """

    tenant: str
    source: str
    target: str
    statements: int = 0
    digest: str = ""
    seconds: float = 0.0
    waited_s: float = 0.0
    cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenShown:
    """A token: who has it and what it is good for; no `namespaces` are all. `token` itself is there once, when it was created."""

    name: str
    tenant: str
    namespaces: tuple[str, ...]
    right: str
    created_at: str
    token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A memory or an anchor on the map, by its IRI and what it says, in 400 characters, or is called; `score` is in 0..1."""

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
    """A link that joins two regions, `regions` by their places on the list of them, or -1 for one that is not listed."""

    ends: tuple[Place, Place]
    regions: tuple[int, int]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """
    The graph of the map in numbers; the user is left out, as everything is about them.

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
    The map of a namespace at a time: what belongs together, what it turns on, what is new and what fades, and what joins it.

    `energy` is the mean of the memories, 0..100. `seasons` names some memories of each season, in the order emerging, active,
    stable, decaying. `recent` says what was done last.
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
    """Memories of a large namespace, all but the latest, that are not on the map."""
    text: str = ""
    """The same for a model, in 2,000 characters at most."""


Match = Literal["concept", "alias", "semantic", "content"]
"""Why a key came: the question spells it, or another name of it; it means the same; a memory it leads to does."""

Band = Literal["shallow", "medium", "deep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundKey:
    """
    A key that a question leads to, without a word of any memory.

    `specificity` is one over the memories that it leads to now, `cluster` counts the names that it goes by.
    """

    key: IRI
    name: str
    type: KeyType
    score: float
    match: Match
    memory_count: int
    is_hub: bool
    specificity: float
    aliases: tuple[str, ...] = ()
    cluster: int = 1
    denotes: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundKeys:
    """The keys that a question leads to, best first."""

    query: str
    namespace: str
    keys: tuple[FoundKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedMemory:
    """A memory that a key leads to, without its text."""

    memory: IRI
    score: float
    weight: float
    depth: float
    band: Band
    created_at: datetime
    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPage:
    """Where a key leads, best first: one page of it, and the offset of the next, if there is one."""

    key: IRI
    name: str
    type: KeyType
    memories: tuple[ReachedMemory, ...]
    total: int
    is_hub: bool
    specificity: float
    aliases: tuple[str, ...] = ()
    denotes: IRI | None = None
    next_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOf:
    """A key of a memory: from here the walk goes on. `memory_count` says to how many memories it leads, this one included."""

    key: IRI
    name: str
    type: KeyType
    weight: float
    memory_count: int
    is_traversed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedMemory:
    """One memory in full, and the keys that lead on from it, the heaviest first; the numbers are those after it was read."""

    memory: IRI
    content: str
    namespace: str
    created_at: datetime
    valid_at: datetime
    depth: float
    band: Band
    access_count: int
    keys: tuple[KeyOf, ...]
    note: IRI
    last_accessed_at: datetime | None = None
    invalid_at: datetime | None = None
    expires_at: datetime | None = None
    supersedes: IRI | None = None
    superseded_by: IRI | None = None
    related_to: tuple[IRI, ...] = ()
    contradicts: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedMemory:
    """A memory that shares keys with another, or was linked to it by hand: `link` says which."""

    memory: IRI
    content: str
    score: float
    link: Literal["key", "explicit", "both"]
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """The neighbours of a memory, best first, and what contradicts it."""

    memory: IRI
    memories: tuple[RelatedMemory, ...]
    contradicts: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToRemember:
    """
    A text to be remembered under some keys.

    `types` says of keys whether they are names or proper nouns; those that it does not name are concepts. Without `keys` it is
    reached by its own names and nouns. `ttl_s` is how many seconds it is to be remembered, `source` says how it came in.
    """

    content: str
    keys: tuple[str, ...] | None = None
    types: dict[str, KeyType] | None = None
    ttl_s: float | None = None
    related_to: tuple[str, ...] = ()
    session: str | None = None
    source: str = "explicit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """
    What became of a text: the memory it is `saved` as.

    It `superseded` one that said nearly the same (`deduplicated`; `conflict` when both had a key in common); where exactly this
    was remembered before, nothing is written and that one is `repeated`, and deeper. `contradicts` is only a flag. `redacted`
    counts the secrets by kind that were taken out of the text.
    """

    saved: IRI
    superseded: IRI | None = None
    deduplicated: bool = False
    conflict: bool = False
    repeated: bool = False
    contradicts: tuple[IRI, ...] = ()
    keys: tuple[IRI, ...] = ()
    expires_at: datetime | None = None
    redacted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """What became of one item of a batch: what was remembered, or why it was not."""

    remembered: Remembered | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectMemory:
    """
    A memory that direct recall found. `hop` is 1 when the question led to it by itself; `via` are the keys that did; `relevance` is
    its plain cosine to the question.
    """

    memory: IRI
    content: str
    score: float
    relevance: float
    hop: int
    depth: float
    created_at: datetime
    via: tuple[str, ...] = ()
    contradicts: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectRecall:
    """The memories that direct recall found, best first; none when nothing anchors the question."""

    query: str
    namespace: str
    memories: tuple[DirectMemory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One turn of a conversation, as it was said."""

    turn: int
    role: str
    content: str
    at: datetime
    note: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """A memory in a listing by keys."""

    memory: IRI
    content: str
    namespace: str
    created_at: datetime
    depth: float
    access_count: int
    keys: tuple[str, ...] = ()
    supersedes: IRI | None = None
    expires_at: datetime | None = None
    related_to: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What was let go of: memories whose time was over, and learned phrases that nobody used."""

    expired: int
    phrases: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """
    Counts over what a caller reads: keys that are written and entities that are keys, current memories, links; then all memories,
    notes and sessions, the first and last memory, and the bytes on disk.
    """

    namespace: str
    keys: int
    entities: int
    memories: int
    links: int
    total: int
    notes: int
    sessions: int
    mean_per_session: float
    bytes_on_disk: int
    by_source: dict[str, int]
    by_tag: dict[str, int]
    oldest: datetime | None = None
    newest: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    What a namespace is mostly about, counted over the memories that hold: names, and how many memories have each, most first.

    `languages` are those of the files that memories name. `decisions` are the latest memories with the
    tag `decision`, newest first. `line` says the same in one sentence; `at` is when it was
    counted, and `is_cached` that nothing was written since.
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
    """A memory in a bundle: the beginning of what it says."""

    id: IRI
    preview: str
    tags: tuple[str, ...]
    timestamp: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBundle:
    """
    What a session starts from: the profile in a line, and memories by what they are tagged as, each in its first group.

    `indexed` says that the project folder was taken in just now; `waiting` counts notes that are still to be understood.
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
    The summary of a session as a memory. `members` are the memories that it was made of, in their order; `model` is who worded
    it, None where its memories did. It takes the place of `replaced`, where the session had one.
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
    """A question with the memories that bear on it, and what a model makes of them; None where none is asked, or none is set."""

    memories: Recollection
    answer: str | None = None
    model: str | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """The numbers of a memory that its use moves; `rank.py` has their laws. None is a number that was never set."""

    importance: float | None = None
    effective_importance: float | None = None
    """What age has left of the importance: less by .2 % each day."""
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
    """A memory was read in full."""

    memory: IRI
    graph: IRI
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A memory came back from a question: it was used, which makes it no deeper."""

    memory: IRI
    graph: IRI
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversed:
    """
    Somebody came to a memory over a key. `graph` is the memory's, `key_graph` the key's, which may be written only now.

    `weight` is that of the link where none is written yet.
    """

    key: Key
    key_graph: IRI
    memory: IRI
    graph: IRI
    at: datetime
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A link was looked at and not taken; one that is not written stays as it is."""

    key: IRI
    memory: IRI
    graph: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Something else that counts its uses was used once more, as a phrase that a key has learned."""

    node: IRI
    graph: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """
    A path over associations: its memories in order and what they say, and the kind and the weight, 0..1, of the link to each but
    the first.
    """

    memories: tuple[IRI, ...]
    contents: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Activated:
    """A memory that activation has reached, and how active it is: 0..1."""

    memory: IRI
    activation: float
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """
    How a memory is related to what was asked about: `similar`, `references`, `merges`, `rival` or another word, how strongly (0..1)
    where that is known, and whether the link leads `out` to it, comes `in` from it, or is of `both` sides.
    """

    memory: IRI
    content: str
    relation: str
    way: Literal["out", "in", "both"]
    strength: float | None = None
    at: datetime | None = None


BranchStage = Literal["staged", "applied", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A memory that a compaction lets go, and why; one that is `merged` says the same as `into`, which has its notes then."""

    memory: IRI
    content: str
    why: Literal["expired", "merged", "evicted"]
    detail: str
    into: IRI | None = None
    into_content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """
    What a compaction does or did, by reason, of `total` memories of which `remaining` are left.

    `branch` is the graph that has what it adds; None where nothing goes. `alike` pairs are near in meaning and yet say something
    else, so that both stay. `changes` are the first lines of what goes, `more` counts those that are not listed.
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
class Archived:
    """The memories that had no energy left, and the text of each; with `dry_run` they are still there."""

    memories: tuple[IRI, ...]
    dry_run: bool = False
    contents: Mapping[IRI, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """
    A memory as an expression gets it: what it says, of what `type` it is, and its tags.

    Recalled, it has an `activation` and the `score` that it is ranked by, both in 0..1.
    """

    iri: IRI
    content: str
    created_at: datetime
    valid_at: datetime
    type: str | None = None
    tags: tuple[str, ...] = ()
    activation: float | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What is said of a memory beside its text: its type in a word, how important it is, 0..1, its tags and its container."""

    type: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    container: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """
    What expressions came to: the value of each, in their order, and the last one as `text` that reads back as the same.

    `calls` is how many verbs were called.
    """

    values: tuple[Any, ...]
    text: str
    calls: int

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text)


Effect = Read | Used | Traversed | Skipped | Counted
