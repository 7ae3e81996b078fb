"""What comes back from a question to the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memento.vocabulary import IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRef:
    """The note that a memory was taken from."""

    iri: IRI
    content: str
    at: datetime


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
    why: dict[str, float] = field(default_factory=dict)
    path: tuple[Step, ...] = ()

    def _repr_html_(self) -> str:
        from memento.model import html

        return html.of_recalled(self)


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
    `anchors` are the entities it started from, the heaviest first, and `sparql` a query that returns the same memories.
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
    degraded: str | None = None
    """Why these are memories of an earlier time; None when all is well."""

    def _repr_html_(self) -> str:
        from memento.model import html

        return html.of_recollection(self)


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

    def _repr_html_(self) -> str:
        from memento.model import html

        return html.of_listed(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """
    One memory in a timeline.

    `state` is how it stands at the time that was asked about: it `holds`, it `ended` because something else came true, or it was
    `corrected`, as it had never been true. `successor` and `reason` say what ended it, where something did.
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

    def _repr_html_(self) -> str:
        from memento.model import html

        return html.of_believed(self)


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

    def _repr_html_(self) -> str:
        from memento.model import html

        return html.of_timeline(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Everything the graph says of one IRI, as (predicate, value) pairs, and who points at it, as (subject, predicate)."""

    iri: IRI
    type: str
    namespace: str
    properties: tuple[tuple[str, str], ...]
    pointed_at_by: tuple[tuple[str, str], ...] = ()

    def _repr_html_(self) -> str:
        from memento.model import html

        return html.of_described(self)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """
    What questions are answered with, and what is left to do; `status` is `starting` until they are answered at full speed, and
    `degraded` where a backup stands in for a store that is damaged: `degraded` then says why, and of what time it is.

    `indexes` counts the nodes in them, `pending` the notes that are still to be understood, `failed` those that were given up.
    `upstreams` has the origin of the provider of each protocol, which is not asked how it does.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that is not as the graph says it should be; `what` is a stable word such as `missing-vector`."""

    what: str
    iri: str
    detail: str
