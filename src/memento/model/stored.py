"""
What is in the graph, what goes into a write, and whose it is: the graphs of a scope, the dataset of a caller of SPARQL.

Everything is frozen, keyword-only and compares by value. Times are aware and in UTC. A field that is stored names its predicate
right here (`prop(MEM.validAt)`), and `graph/mapping.py` needs nothing more to turn nouns into quads and back.

*But:* no vectors. An array has no useful equality; vectors are in `search/vectors.py`, keyed by IRI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Literal, Self, TypeVar
from urllib.parse import quote, unquote

from memento.iris import (
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

Mode = Literal["state-change", "correction", "heuristic"]

StepState = Literal["pending", "done", "skipped", "failed"]
"""How far a note has come on its way into memory, or a trajectory or one of its steps."""

AgentKind = Literal["rules", "model"]

KeyType = Literal["concept", "name", "proper_noun"]
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
class Note:
    """
    What was said, verbatim and immutable: the provenance of memories.

    `state` is set until the note is understood, and stays when nothing came of it; `title` and `speaker` are what its caller
    said beside it, kept as long as it is pending.
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


@dataclass(frozen=True, slots=True)
class Scope:
    """
    Whose memory, and which part of it: decides the graph that is written and the graphs that may be read.

    What the user's description says comes from all namespaces: `with_self` is False for a reader of some of them.
    """

    tenant: str = "local"
    namespace: str = "main"
    with_main: bool = True  # whether reads cover `main` too
    with_self: bool = True  # whether they cover what is said of the user

    @property
    def graph(self) -> IRI:
        """The named graph that this scope writes to."""
        return graph_iri(self.tenant, self.namespace)

    @property
    def memory_graphs(self) -> tuple[IRI, ...]:
        """The graphs whose memories this scope may recall: its own, and mostly `main`."""
        return tuple(dict.fromkeys((self.graph, graph_iri(self.tenant, "main")))) if self.with_main else (self.graph,)

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
        return inferred_iri(self.tenant, self.namespace, alone=is_alone, narrow=not self.with_self and not is_alone)

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

    def writes(self, graph: str) -> bool:
        """Tell whether a graph may be written, whether it is there or not; "" is the default graph."""
        return self.is_plain or self.holds_memories(graph) or self.is_free(graph)

    def reads(self, graph: str) -> bool:
        """Tell whether a graph may be read, whether it is there or not."""
        return self.named is None or graph in self.named or graph in (self.default or ()) or self.writes(graph)

    def among(self, graphs: Iterable[str]) -> tuple[IRI, ...]:
        """Return those of some graphs that may be read; what is not there reads as empty."""
        return tuple(IRI(graph) for graph in graphs if self.reads(graph))

    def choosing(self, default: Iterable[str], named: Iterable[str]) -> Self:
        """Narrow the choice of what is read, as FROM and USING make it."""
        return replace(self, default=self.among(default), named=self.among(named))

    def _name(self, graph: str, called: Callable[[str, str], IRI]) -> str | None:
        """Return what a graph of this tenant is called, when it is of a kind and spelled in the one way that counts."""
        if self.tenant is None:
            return None
        start = called(self.tenant, "")
        name = unquote(graph.removeprefix(start)) if graph.startswith(start) else ""
        is_name = bool(name.strip()) and len(name) <= _LONGEST and name.isprintable()
        return name if is_name and graph == start + quote(name, safe="") else None
