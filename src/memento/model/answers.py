"""What comes back from the service: answers to questions, what became of changes, rows that an import takes, and the map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from memento.iris import IRI
from memento.model.cases import CasesFound
from memento.model.stored import Key, KeyType


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
    why: dict[str, float] = field(default_factory=dict)
    path: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A memory that was found and did not come back: how relevant it is, and why it was left out."""

    iri: IRI
    relevance: float
    reason: str


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
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many secrets of which kind were taken out of texts for this namespace since the folder was made."""


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


NoteState = Literal["pending", "consolidated", "skipped", "failed"]
"""How far a note has come: kept and waiting, understood, nothing new in it, or given up until `retry`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """
    What became of a note: what was stored, what that retired, what it contradicts without retiring it.

    A `pending` note is kept, but not yet understood: `memories` are still to come. `note` is None when it was `skipped`. `verbatim`
    is why the note could not be read, where its one memory is the note word for word.
    `remarks` are sentences for the writer of the note: what of it is not kept and why, and what is kept without being read.
    `contents` has the text of every memory that is named. `redacted` counts the secrets by kind that were taken out of the text.
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
class Forgotten:
    """
    What a forget did: the memories it hid, or also deleted together with notes nothing else derives from.

    `still_told` are notes that still say what was erased, as other memories come from them. `cases` are those that had been made
    with what was erased: they are erased as well, as their plans and results may tell of it.
    """

    memories: tuple[IRI, ...]
    notes: tuple[IRI, ...] = ()
    erased: bool = False
    still_told: tuple[IRI, ...] = ()
    cases: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """One row of an import, before it is a note. `position` is its place in the session, counted from 0."""

    content: str
    at: datetime | None = None
    title: str | None = None
    speaker: str | None = None
    session: str | None = None
    position: int | None = None
    idempotency_key: str | None = None


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
class Restored:
    """A backup that is the memory now: which one, how much it holds, and where what was here before is kept."""

    folder: str
    statements: int
    vectors: int
    aside: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A memory or an anchor on the map, by its IRI and what it says or is called; `score` is in 0..1."""

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
class Strength:
    """The numbers of a memory that its use moves; `rank/laws.py` has their laws. None is a number that was never set."""

    importance: float | None = None
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
    """What is said of a memory beside its text: its type in a word, how important it is, 0..1, and its tags."""

    type: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()


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
