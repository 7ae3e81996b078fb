"""
All indexes of one store, how they follow the graph, and the `View` of one reader at one moment.

*Flow:* the graph's records → `Indexes.reconcile` (everything, at start) or `Indexes.refresh` (some nodes, after a write) → ids in
the vector file, `nodes`, and each registered index in turn.

*Not all here:* an index that is elsewhere overrides `bring`, which `find_all`, `names_of`, `View.at` and the like call with what
they are about to read. Nobody else needs to know where an index is.

*Guarantees:* both ways give the same indexes, because indexes are a function of the graph. A vector is reused when the file holds
the digest of the text that the graph has now.

*But:* readers and the writer share one lock; a search over a hundred thousand memories holds it for some ten milliseconds.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import RLock
from typing import Generic, cast

import numpy as np
from numpy.typing import NDArray

from memento.graph.mapping import statements
from memento.graph.store import Store
from memento.graph.terms import to_value
from memento.iris import IRI, MEM, TYPE
from memento.model import Change, Difference, Filter, Scored, Value
from memento.ports import Embedder, Progress, Vectors
from memento.rank import MIDDLING, Csr, Decay, decay_associations
from memento.search.adjacency import Adjacency, Associations, Successions
from memento.search.attributes import Fadings, Numbers, Sorting
from memento.search.grains import Grains, list_grains
from memento.search.index import FLAT, Context, Everything, I, Placed, Update, find_predicates, find_types
from memento.search.keygraph import KeyGraph
from memento.search.labels import Labels
from memento.search.links import GraphLinks, Links
from memento.search.mentions import find_mentions
from memento.search.nearest import KindVectors
from memento.search.nodes import Edge, Kind, Mask, Record, read_records
from memento.search.passages import GraphPassages, Passages
from memento.search.postings import Postings, StemNumbers
from memento.search.vectors import VectorFile, digest, round_vectors
from memento.search.words import Words, bm25
from memento.settings import Above, WordsSettings
from memento.text.sentences import sentences
from memento.time import BEGINNING, NEVER

_BATCH = 256
_ENDS = (MEM.expiredAt, MEM.expiresAt)
_TEXTS = (MEM.content, MEM.title, MEM.name)
_SHOWN = 10_000
"""Nodes that are read between two calls of `progress`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """
    Memories, the latest written first; (n,) when each was written, in seconds since 1970; and (n,) some numbers of each by
    predicate, NaN where it has none.
    """

    iris: list[IRI]
    written: NDArray[np.float64]
    numbers: Mapping[IRI, NDArray[np.float64]]

    @property
    def importance(self) -> NDArray[np.float64]:
        """(n,) the importance of each in 0..1."""
        values = self.numbers[MEM.importance]
        return np.where(np.isnan(values), MIDDLING, values)


@dataclass(frozen=True, slots=True)
class Pending:
    """A memory without grains: the digest of its text, and the texts of its grains as `list_grains` returns them."""

    iri: IRI
    mark: bytes
    texts: Sequence[str]


class _Shortcut(Generic[I]):
    """Makes `indexes.labels` an alias of `indexes[Labels]`."""

    def __init__(self, kind: type[I]) -> None:
        self._kind = kind

    def __get__(self, indexes: Context, owner: object = None) -> I:
        return indexes[self._kind]


class Indexes(Context):
    """The indexes of one store. Hold `lock` while reading several of them together."""

    adjacency = _Shortcut(Adjacency)
    associations = _Shortcut(Associations)
    fadings = _Shortcut(Fadings)
    grains = _Shortcut(Grains)
    keys = _Shortcut(KeyGraph)
    labels = _Shortcut(Labels)
    links = _Shortcut(GraphLinks)
    numbers = _Shortcut(Numbers)
    passages = _Shortcut(GraphPassages)
    sorting = _Shortcut(Sorting)
    successions = _Shortcut(Successions)
    vectors = _Shortcut(KindVectors)

    def __init__(
        self, graph: Store, embedder: Embedder, file: VectorFile, flat: int = FLAT, above: Above = "ivf"
    ) -> None:
        """
        Args:
            flat: number of vectors of a kind up to which a search compares every one.
            above: the index structure that a search uses above that number.
        """
        self._graph = graph
        self.embedder = embedder
        self.file = file
        self._lock = RLock()
        super().__init__(embedder.dimensions, flat, above)

    @property
    def lock(self) -> RLock:
        """The lock that a thread holds while it reads several indexes."""
        return self._lock

    def blank(self) -> Indexes:
        """Return empty indexes with the same settings, and a vector file in memory."""
        return Indexes(self._graph, self.embedder, VectorFile(None, self.embedder.fingerprint), self.flat, self.above)

    def bring(
        self,
        graphs: Sequence[IRI],
        *,
        texts: Sequence[str] = (),
        iris: Sequence[IRI] = (),
        keys: Sequence[str] = (),
        names: Sequence[str] = (),
        around: Sequence[IRI] = (),
        steps: int = 1,
        now: datetime | None = None,
    ) -> None:
        """
        Load the nodes that some texts or keys may need, and some nodes; does nothing here, where all are loaded.

        *Because:* this is the one hook of an index that is elsewhere. `find_all`, `View.at` and the like call it.

        Args:
            names: load what has one of these names or of their words, or a name of nearly the same meaning, and memories about it.
            around: load these nodes and the memories linked to them, then those linked to these, for so many `steps`.
            now: load by texts only what holds at this instant; without it also what has ended.
        """

    def bring_question(
        self, question: str, graphs: Sequence[IRI], only: Filter | None, now: datetime, *, is_past: bool
    ) -> None:
        """
        Load what may answer a question; does nothing here.

        Args:
            only: the answers are among the memories that it accepts.
            is_past: the question is about an earlier time, or asked as if at one.
        """

    def find_all(
        self,
        iris: Sequence[IRI],
        graphs: Sequence[IRI],
        *,
        steps: int = 0,
        texts: Sequence[str] = (),
        now: datetime | None = None,
    ) -> dict[IRI, int]:
        """
        Return the ids of those of some nodes that are indexed, in their order. Ask for all at once, and before a mask of nodes.

        Args:
            graphs: the graphs that the caller reads.
            steps: how far from these nodes the caller follows links.
            texts: what the caller compares with the memories that may say it, as far as they hold `now`.
        """
        self.bring(graphs, iris=iris, around=iris if steps else (), steps=steps, texts=texts, now=now)
        return {iri: node for iri in iris if (node := self.nodes.find(iri)) is not None}

    def names_of(self, anchors: Iterable[IRI], graphs: Sequence[IRI]) -> dict[IRI, str]:
        """Return the names of those of some anchors and keys that have one."""
        self.bring(graphs, iris=(wanted := list(dict.fromkeys(anchors))))
        return {iri: name for iri in wanted if (name := self.name(iri))}

    def find_labels(self, names: Sequence[str], graphs: Sequence[IRI], *, longer: bool = False) -> Labels:
        """
        Return the index of labels, to look for some names in some graphs.

        Args:
            longer: also for longer names that contain the words of these.
        """
        self.bring(graphs, names=names)
        return self.labels

    def find_decay(self, graph: IRI) -> Decay:
        """Return how associations and energies decay in a graph."""
        self.bring([graph])
        return self.fadings.decay_of(graph)

    def list_newest(
        self,
        graphs: Sequence[IRI],
        now: datetime | None,
        only: Filter | None = None,
        *,
        skip: int = 0,
        most: int | None = None,
        numbers: Sequence[IRI] = (MEM.importance,),
    ) -> Newest:
        """
        List the memories of some graphs, the latest written first.

        Args:
            now: only memories that hold at this instant; None for all.
            only: only those that a filter accepts; None for all.
            numbers: the predicates whose values are wanted.
        """
        with self.lock:
            mask = self.nodes.within(graphs, "memory") if now is None else self.nodes.current(graphs, now=now)
            nodes = self.nodes.newest(mask & self.filter_nodes(only) if only else mask)[skip:][:most]
            return Newest(
                iris=[self.nodes.iri(node) for node in nodes.tolist()],
                written=self.nodes.creation_times(nodes) / 1000.0,
                numbers={name: self.numbers.column(name, nodes) for name in numbers},
            )

    def hold_newest(self, graphs: Sequence[IRI], now: datetime, most: int) -> list[IRI] | None:
        """Return None if every memory of some graphs is here, else the latest `most` that hold, which are."""
        return None

    def count_tags(self, graphs: Sequence[IRI], now: datetime) -> dict[IRI, int]:
        """Count the current memories of some graphs by tag."""
        with self.lock:
            return dict(self.sorting.count_tags(self.nodes.current(graphs, now=now)))

    def count_about(self, graphs: Sequence[IRI]) -> dict[IRI, int]:
        """Count the memories about each entity of some graphs, past ones included."""
        with self.lock:
            inside = np.flatnonzero(self.nodes.within(graphs, "anchor")).tolist()
            return {self.nodes.iri(node): self.adjacency.degree(node) for node in inside}

    def find_idle(self, memories: Sequence[IRI], graph: IRI, graphs: Sequence[IRI]) -> tuple[list[IRI], list[IRI]]:
        """Find the names that occur only in some memories of a graph, and the keys that lead only to them: they may be private."""
        with self.lock:
            gone = np.array([*self.find_all(memories, graphs).values()], dtype=np.int32)
            keys = dict.fromkeys(key for node in gone.tolist() for key in self.keys.links(node))
            own = [key for key in keys if self.nodes.kind(key) == "key"]
            idle = [self.nodes.iri(key) for key in own if np.isin(self.keys.led_to(key)[0], gone).all()]
            names: list[IRI] = []
            if graph in self.links:
                links = self.links[graph]
                numbers = np.unique(links.gather(gone)[1]).tolist()
                names = [links.anchors.iri(one) for one in numbers if np.isin(links.mentioning(one), gone).all()]
            return [iri for iri in names if iri.startswith("urn:memento:name:")], idle

    def prepare(self, change: Change, graphs: Sequence[IRI]) -> tuple[Change, list[Record], dict[IRI, Vectors]]:
        """
        Return a change with the edges that the texts of its new memories need, and for `refresh` the nodes that it creates and
        their vectors. Nothing is written.

        Args:
            graphs: where its nodes may be described.
        """
        texts = [str(value) for _, predicate, value, _ in change.adds if predicate in _TEXTS]
        self.bring(graphs, texts=texts, iris=list(dict.fromkeys(quad[0] for quad in (*change.removes, *change.adds))))
        change += find_mentions(change, self)
        return change, self.find_made(change, graphs), self.anticipate(change)

    def has_whole(self, graphs: Sequence[IRI]) -> bool:
        """Load everything of some graphs if they are small enough; return whether it is loaded, which in memory it always is."""
        return True

    def count_beyond(self, graphs: Sequence[IRI]) -> int:
        """Return the number of memories of some graphs if these indexes hold only a part of them; 0 if they hold all."""
        return 0

    def knows(self, graph: IRI) -> bool:
        """Tell whether a graph describes a node."""
        return self.nodes.knows(graph)

    def count_current(self, graphs: Sequence[IRI], now: datetime) -> int:
        """Return the number of current memories of some graphs."""
        with self.lock:
            return int(self.nodes.current(graphs, now=now).sum())

    def count_nodes(self) -> int:
        """Return the number of nodes of all graphs."""
        return len(self.nodes)

    def filter_nodes(self, wanted: Filter) -> Mask:
        """Return (size,) the nodes that a filter accepts, whatever their graph and time."""
        chosen = self.sorting.filter_nodes(wanted, self.nodes.size)
        if wanted.after or wanted.before:
            first, last = wanted.after or BEGINNING, wanted.before or NEVER
            chosen &= self.nodes.find_begun(first, last)[: chosen.size]
        if wanted.about:
            known = [node for iri in wanted.about if (node := self.nodes.find(iri)) is not None]
            about = np.zeros_like(chosen)
            for node in known:
                about[self.adjacency.memories(node)] = True
            chosen &= about
        return chosen

    def words(self, graphs: Sequence[IRI], kind: Kind) -> list[Postings]:
        """Return the postings of some graphs, for `words.bm25`."""
        return self[Words].postings(graphs, kind)

    def participants(self, graphs: Sequence[IRI]) -> list[str]:
        """Return the participants of the conversations of some graphs, the most talkative first."""
        counted: Counter[str] = Counter()
        for passages in self.passages.among(graphs):
            counted.update(passages.turns.speakers)
        return [name for name, _ in counted.most_common()]

    def read(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> list[Record]:
        """Read some nodes as the graph has them now; nodes that it does not describe are left out."""
        grouped: dict[IRI, tuple[IRI, dict[IRI, list[Value]]]] = {}
        for row in self._graph.select("search/statements", graphs, node=iris):
            _, values = grouped.setdefault(cast(IRI, row["node"]), (cast(IRI, row["graph"]), {}))
            values.setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
        return [Record(iri, graph, values) for iri, (graph, values) in grouped.items()]

    def anticipate(self, change: Change) -> dict[IRI, Vectors]:
        """
        Embed what a change adds, before it is written, because a write must not fail halfway. Return the vectors of the nodes that
        it creates, for `refresh`.
        """
        graphs = {subject: graph for subject, _, _, graph in change.adds}
        return self.embed([Record(iri, graphs[iri], values) for iri, values in statements(change.adds).items()])

    def embed(self, records: Sequence[Record]) -> dict[IRI, Vectors]:
        """
        Return the (windows, d) vectors of the nodes whose current text is not indexed yet: taken from the file where it has them,
        the others embedded in one call.
        """
        for record in records:
            self.learn(record)
        vectors: dict[IRI, Vectors] = {}
        changed: list[Record] = []
        for record in records:
            if record.kind is None:
                continue
            if self.file.find_digest(record.iri) != digest(self.text(record)):
                changed.append(record)
            elif not self._is_placed(record) and (stored := self.file.find(record.iri)):
                vectors[record.iri] = stored[1].reshape(len(stored[1]), self.dimensions)
        return vectors | dict(zip([record.iri for record in changed], self._embed_texts(changed), strict=True))

    def windows(self, record: Record, text: str) -> list[str]:
        """
        Return the windows of a node's text to embed; none for a node that is found by its spelling alone, or that has no text.
        """
        return _split_text(record, text, self.embedder)

    def _embed_texts(self, records: Sequence[Record]) -> list[Vectors]:
        return embed_records(records, [self.text(one) for one in records], self.embedder)

    def list_grain_texts(self, record: Record) -> Pending:
        """Return the texts of a memory's grains; `learn` it first."""
        text, is_turn = self.text(record), self.turn_place(record) is not None
        return Pending(record.iri, digest(text), list_grains(text, is_turn=is_turn))

    def read_pending(self, most: int, nodes: Sequence[int] | None = None) -> list[Pending]:
        """
        Return memories that have no grains yet, with the texts of these.

        Args:
            nodes: the only memories to look at; None for all, the latest first.
        """
        with self.lock:
            pending = self.grains.pending
            some = [*reversed(pending)] if nodes is None else [node for node in nodes if node in pending]
            places = {self.nodes.iri(node): self.nodes.graph(node) for node in some[:most]}
        graphs = list(dict.fromkeys(places.values()))
        records = self._with_notes(self.read([*places], graphs), graphs) if places else []
        return [self.list_grain_texts(one) for one in records]

    def put_grains(self, pending: Sequence[Pending], vectors: Vectors) -> None:
        """
        Store the grains of some memories; those that have been changed or removed meanwhile are left out.

        Args:
            vectors: (texts, d) the vectors of their texts that are not empty, in order.
        """
        counts = [sum(map(bool, one.texts)) for one in pending]
        with self.lock:
            entries: list[tuple[int, Vectors]] = []
            for one, rows in zip(pending, np.split(vectors, np.cumsum(counts)[:-1]), strict=True):
                node = self.nodes.find(one.iri)
                if node in self.grains.pending and self.file.find_digest(one.iri) in (one.mark, None):
                    blank = np.zeros((0 if one.texts[0] else 1, self.dimensions), dtype=np.float32)
                    entries.append((node, np.concatenate([blank, round_vectors(rows)])))
            self._keep_grains(entries)
            self.grains.put([node for node, _ in entries], [rows for _, rows in entries])

    def _keep_grains(self, entries: Sequence[tuple[int, Vectors]]) -> None:
        self.file.write_grains(entries)

    def switch_embedder(self, embedder: Embedder, file: VectorFile, vectors: KindVectors) -> None:
        """Switch to the vectors of another embedder, in a file that gives every node the same id as before."""
        with self.lock:
            self.embedder, self.file, self.dimensions = embedder, file, embedder.dimensions
            self.replace_index(vectors)
            grains = Grains(self)
            grains.fill_vectors(file)
            self.replace_index(grains)
            self.passages.forget_lengths()

    def _is_placed(self, record: Record) -> bool:
        """Return whether a node is indexed, with its present graph and kind."""
        node = self.nodes.find(record.iri)
        return node is not None and (self.nodes.graph(node), self.nodes.kind(node)) == (record.graph, record.kind)

    def find_made(self, change: Change, graphs: Sequence[IRI]) -> list[Record]:
        """List the nodes that a change creates, as it describes them: being new, they have no other statements to read."""
        places = {
            subject: graph for subject, predicate, _, graph in change.adds if predicate == TYPE and graph in graphs
        }
        for subject, *_ in change.removes:
            places.pop(subject, None)
        adds = (quad for quad in dict.fromkeys(change.adds) if quad[0] in places)
        return [Record(iri, places[iri], values) for iri, values in statements(adds).items() if not self._is_known(iri)]

    def refresh(
        self,
        iris: Sequence[IRI],
        graphs: Sequence[IRI],
        made: Sequence[Record] = (),
        vectors: Mapping[IRI, Vectors] | None = None,
    ) -> None:
        """
        Update the indexes to what the graph now says of some nodes; nodes that it does not describe are removed.

        Args:
            graphs: where the nodes may be described.
            made: those among them that `find_made` listed before the write; they are not read again.
            vectors: what `anticipate` returned; the nodes in `made` are not embedded again.
        """
        if not iris:
            return
        new = {record.iri for record in made}
        old = [iri for iri in iris if iri not in new]
        records = self._with_notes([*made, *(self.read(old, graphs) if old else ())], graphs)
        described = {record.iri for record in records}
        embedded = {iri: found for iri, found in (vectors or {}).items() if iri in new}
        embedded |= self.embed([record for record in records if record.iri not in embedded])
        self.absorb(records, [iri for iri in iris if iri not in described], embedded)
        unlinked = new - {record.edge[1] for record in records if record.edge}
        self.read_edges(sorted(_find_linked(records) - unlinked), graphs)

    def _is_known(self, iri: IRI) -> bool:
        if iri in self.names or iri in self.turn_places or iri in self.links.anchors:
            return True
        return not iri.startswith("urn:memento:name:") and self.file.find_id(iri) is not None

    def recount(self, memories: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        """Update the numbers of some memories, which change with use, and their links from the graph; nothing else has changed."""
        if not graphs:
            return
        records = self.read(memories, graphs)
        known = [(node, record) for record in records if (node := self.nodes.find(record.iri)) is not None]
        with self.lock:
            for index in self:
                if index.follows_use:
                    index.apply(Update(known))
        self.read_edges(memories, graphs)

    def reschedule(self, memories: Sequence[IRI], graph: IRI) -> None:
        """Update when the belief in some memories of a graph ends, from the graph; nothing else of them has changed."""
        ends: dict[IRI, list[datetime]] = {}
        for iri in memories:
            said = (to_value(one.object) for name in _ENDS for one in self._graph.match(iri, name, None, graph))
            ends[iri] = [end for end in said if isinstance(end, datetime)]
        with self.lock:
            for iri, some in ends.items():
                if (node := self.nodes.find(iri)) is not None and self.nodes.graph(node) == graph:
                    self.nodes.expire(node, min(some, default=None))

    def revise(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        """
        Rebuild all that derives from some nodes, for a write that may have changed anything.

        Args:
            iris: every node that the write touched; for a memory, its invalidations too.
            graphs: where the nodes may be described; nodes indexed from other graphs are left alone.
        """
        if not iris:
            return
        with self.lock:
            mine = [iri for iri in iris if (node := self.nodes.find(iri)) is None or self.nodes.graph(node) in graphs]
            known = [iri for iri in mine if self.file.find_id(iri) is not None]
            mine, linked = self.drop_whole(mine)
            for iri in mine:
                self.unlearn(iri)
            records = self._with_notes(self.read(mine, graphs), graphs) if mine else []
            held = {record.iri for record in records if record.kind is not None}
            self.absorb(records, [iri for iri in known if iri not in held], self.embed(records))
            self.read_edges(sorted(_find_linked(records) | linked), graphs)

    def drop_whole(self, iris: Sequence[IRI]) -> tuple[list[IRI], set[IRI]]:
        """
        Remove some nodes and everything that depends on them.

        Returns:
            every node that must be read again, and the memories whose links must be.
        """
        lost: set[IRI] = set()
        linked: set[IRI] = set()
        for iri in iris:
            for index in self:
                records, memories = index.find_dependents(iri)
                lost |= records
                linked |= memories
        every = [*iris, *sorted(lost.difference(iris))]
        for iri in every:
            self.drop(iri)
        return every, linked

    def absorb(self, records: Sequence[Record], gone: Sequence[IRI], vectors: Mapping[IRI, Vectors]) -> None:
        """Index everything that derives from some nodes; `vectors` are those that `embed` returned."""
        with self.lock:
            held = [record for record in records if record.kind is not None]
            fresh = [record for record in held if record.iri in vectors]
            ids = self.file.write_entries([(one.iri, digest(self.text(one)), vectors[one.iri]) for one in fresh], gone)
            for record in records:
                self.learn_end(record)
            for iri in gone:
                self.drop(iri)
                self.names.pop(iri, None)
            self.place(records, dict(zip([record.iri for record in fresh], ids, strict=True)), vectors)

    def place(self, records: Sequence[Record], ids: Mapping[IRI, int], vectors: Mapping[IRI, Vectors]) -> None:
        """Index records that were learned; those with `ids` and `vectors` have a new text. The caller holds `lock`."""
        # Anchors before memories: a memory's edges need the ids of what it is about.
        held = sorted(
            (record for record in records if record.kind is not None), key=lambda record: record.kind == "memory"
        )
        update = Update(
            nodes=[self._place(record, ids.get(record.iri)) for record in held],
            fresh=[(ids[record.iri], record) for record in records if record.iri in ids],
            others=[record for record in records if record.kind is None],
            vectors={ids[iri]: vectors[iri] for iri in ids},
        )
        for index in self:
            index.apply(update)

    def _place(self, record: Record, fresh: int | None) -> Placed:
        """Set a node's times and place; if its kind or graph has changed, remove it first."""
        known = self.nodes.find(record.iri)
        if known is not None and not self._is_placed(record):
            for index in self:
                index.drop(known)
        if MEM.invalidAt not in record.statements:
            self.retired_at.pop(record.iri, None)  # the invalidation may have been taken back
        node = known if fresh is None else fresh
        assert node is not None
        lifetime = record.lifetime(self.retired_at.get(record.iri))
        self.nodes.put(node, record.iri, cast(Kind, record.kind), record.graph, lifetime)
        return node, record

    def drop(self, iri: IRI) -> None:
        """Make a node unfindable; harmless when it is missing. Its vector stays in the file."""
        node = self.nodes.find(iri)
        for index in self:
            if node is None:
                index.forget(iri)
            else:
                index.drop(node)
        if node is not None:
            self.nodes.drop(node)

    def _with_notes(self, records: list[Record], graphs: Sequence[IRI]) -> list[Record]:
        """Read the notes that the texts and places of some records need, and learn which of them are turns."""
        for record in records:
            self.learn(record)
        notes = {IRI(record.first(MEM.extractedFrom)) for record in records if record.kind == "memory"}
        if unread := sorted(note for note in notes if note and note not in self.turn_places):
            for record in self.read(unread, graphs):
                self.learn(record)
        return records

    def read_edges(self, memories: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        """Update the links from keys to some memories from the graph."""
        rows = self._graph.select("search/links", graphs, memory=memories) if memories else []
        edges = [(IRI(str(row["key"])), IRI(str(row["memory"])), float(str(row["weight"]))) for row in rows]
        with self.lock:
            for index in self:
                index.follow_edges(memories, edges)

    def reconcile(self, progress: Progress | None = None, *, mends: bool = True) -> int:
        """
        Fill the indexes from the whole graph, reusing the vectors that still match.

        Args:
            progress: called with (nodes read, 0), and then with (done, total) for the nodes to embed.
            mends: whether to update the vector file; if False, mismatches stay for `check` to find.

        Returns:
            the number of nodes that had to be embedded.
        """
        with self.lock:
            self.clear()
            held: dict[IRI, Record] = {}
            edges: list[Edge] = []
            others: list[Record] = []
            types = find_types()
            with pause_collector():
                for record in read_records(self._graph, find_predicates()):
                    self.learn(record)
                    self.learn_end(record)
                    if record.kind is not None:
                        held[record.iri] = record
                        if progress and not len(held) % _SHOWN:
                            progress(len(held), 0)
                    elif edge := record.edge:
                        edges.append(edge)
                    elif any(kind in types for kind in record.statements.get(TYPE, ())):
                        others.append(record)
            known = self.file.read_digests()
            if stale := self._embed_stale(held, known, progress) if mends else 0:
                known = self.file.read_digests()
            with pause_collector():
                ids = sorted((node, iri) for iri, (node, _) in known.items() if iri in held)
                nodes = [(node, held.pop(iri)) for node, iri in ids]
                self.fill(nodes, others, edges)
            del nodes, ids, known, others, edges
            for index in self:
                index.fill_vectors(self.file)
            return stale

    def fill(self, nodes: Sequence[Placed], others: Sequence[Record], edges: Sequence[Edge]) -> None:
        """Fill empty indexes from records that were learned; vectors are filled separately."""
        everything = Everything(nodes, nodes, others, edges=edges, numbers=StemNumbers(self.vocabulary))
        self.nodes.fill(
            [
                (
                    node,
                    record.iri,
                    cast(Kind, record.kind),
                    record.graph,
                    record.lifetime(self.retired_at.get(record.iri)),
                )
                for node, record in nodes
            ]
        )
        for index in self:
            index.fill(everything)

    def _embed_stale(
        self, held: Mapping[IRI, Record], known: Mapping[IRI, tuple[int, bytes]], progress: Progress | None
    ) -> int:
        """Make the vector file hold the text of every node and no other; return how many were embedded."""
        # By IRI, which is by age: ids come out in the order in which they were first given, and ties in recall keep their order.
        stale = [iri for iri in sorted(held) if iri not in known or known[iri][1] != digest(self.text(held[iri]))]
        self.file.write_entries([], [iri for iri in known if iri not in held])
        for begin in range(0, len(stale), _BATCH):
            batch = [held[iri] for iri in stale[begin : begin + _BATCH]]
            rows = zip(batch, self._embed_texts(batch), strict=True)
            self.file.write_entries([(record.iri, digest(self.text(record)), vectors) for record, vectors in rows])
            if progress:
                progress(begin + len(batch), len(stale))
        return len(stale)

    def rebuild(self, progress: Progress | None = None) -> int:
        """Discard every vector and rebuild all indexes from the graph; return how many nodes were embedded."""
        with self.lock:
            self.file.clear(self.embedder.fingerprint)
            return self.reconcile(progress)

    def check(self) -> list[Difference]:
        """
        Return the differences between indexes and graph (missing, orphaned, outdated); change nothing.

        The lock is held for a few nodes at a time, so concurrent writes may show up as differences.
        """
        records = read_records(self._graph, find_predicates())
        held = {record.iri: record for record in records if record.kind is not None}
        names = {record.iri: record.name for record in held.values() if record.kind == "anchor"}
        known = self.file.read_digests()
        with self.lock:
            in_memory = set(self.nodes.iris())
        lacking = self._list_lacking([held[iri] for iri in held.keys() & in_memory])
        outdated = [iri for iri in held.keys() & known.keys() if known[iri][1] != digest(held[iri].text(names))]
        differences = [
            *_differ("missing-vector", held.keys() - known, "no vector in the file"),
            *_differ("orphan-vector", known.keys() - held, "the graph has no such node"),
            *_differ("outdated-vector", outdated, "the text has changed since it was embedded"),
            *_differ("not-indexed", held.keys() - in_memory, "in the graph, not in the indexes in memory"),
            *_differ("orphan-index", in_memory - held.keys(), "in the indexes in memory, not in the graph"),
            *(Difference(what="not-indexed", iri=iri, detail=f"not in the index `{name}`") for iri, name in lacking),
        ]
        return sorted(differences, key=lambda difference: (difference.what, difference.iri, difference.detail))

    def _list_lacking(self, records: Sequence[Record]) -> list[tuple[IRI, str]]:
        """List the nodes that an index lacks or has in another form than their record, with the name of that index."""
        lacking: list[tuple[IRI, str]] = []
        for begin in range(0, len(records), _BATCH):
            with self.lock:
                for record in records[begin : begin + _BATCH]:
                    if (node := self.nodes.find(record.iri)) is not None:  # else it was removed meanwhile
                        lacking += [(record.iri, index.name) for index in self if not index.holds(node, record)]
        return lacking


def embed_records(records: Sequence[Record], texts: Sequence[str], embedder: Embedder) -> list[Vectors]:
    """Embed the texts of some records in one call: the (windows, d) vectors of each."""
    windows = [_split_text(one, text, embedder) for one, text in zip(records, texts, strict=True)]
    every = [window for some in windows for window in some]
    flat = round_vectors(embedder.embed(every)) if every else np.zeros((0, embedder.dimensions), dtype=np.float32)
    return np.split(flat, np.cumsum([len(some) for some in windows])[:-1]) if records else []


def _split_text(record: Record, text: str, embedder: Embedder) -> list[str]:
    """Return the windows of a text, and, for a memory of several sentences, each sentence: it is found by each of them too."""
    if not record.is_embedded or not text.strip():
        return []
    return [*embedder.windows(text), *(split_memory(record.first(MEM.content)) if record.kind == "memory" else [])]


def split_memory(content: str) -> list[str]:
    """Return the sentences of a memory that have vectors of their own: none if it is one sentence."""
    parts = sentences(content)
    return parts[:MOST_SENTENCES] if len(parts) > 1 else []


MOST_SENTENCES = 24
"""The most sentences of one memory that have vectors of their own."""


@contextmanager
def pause_collector() -> Iterator[None]:
    """Disable the garbage collector: records form no cycles, and walking all of them repeatedly takes a fifth of a fill."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _differ(what: str, iris: Iterable[IRI], detail: str) -> list[Difference]:
    return [Difference(what=what, iri=iri, detail=detail) for iri in iris]


def _find_linked(records: Iterable[Record]) -> set[IRI]:
    """Return the memories among some records, and the memories that links among them point to."""
    ends: set[IRI] = set()
    for record in records:
        if record.kind == "memory":
            ends.add(record.iri)
        elif edge := record.edge:
            ends.add(edge[1])
    return ends


@dataclass(frozen=True, slots=True)
class View:
    """
    The part of the indexes that one reader may see. Nodes are dense ids.

    Use it while holding `indexes.lock`: a write in between would make its masks stale.
    """

    indexes: Indexes
    graphs: Sequence[IRI]
    visible: Mask  # (ids,) the memories that may be returned
    now: datetime

    @property
    def visible_count(self) -> int:
        """The number of memories that may be returned."""
        return int(np.count_nonzero(self.visible))

    @property
    def population(self) -> int:
        """The number of memories, including those that an engine has not loaded."""
        return max(self.visible_count, self.indexes.count_beyond(self.graphs))

    @classmethod
    def at(
        cls,
        indexes: Indexes,
        graphs: Sequence[IRI],
        now: datetime,
        as_of: datetime | None,
        believed_at: datetime | None,
        texts: Sequence[str] = (),
    ) -> View:
        """
        Return a view of the memories of some graphs that were true at `as_of`, by what was believed at `believed_at`.

        Args:
            texts: what will be searched for in it.
        """
        if texts:
            indexes.bring(graphs, texts=texts, now=now)
        visible = indexes.nodes.current(graphs, now=now, as_of=as_of, believed_at=believed_at)
        return cls(indexes, graphs, visible, now)

    def nearest(self, asked: Vectors, k: int, label: str) -> list[Scored[int]]:
        """Return the `k` memories most similar to any row of `asked` (w, d) by cosine, best first."""
        nodes, scores = self.indexes.vectors["memory"].search(asked, k, self.visible)
        return [Scored(node, score, label) for node, score in zip(nodes.tolist(), scores.tolist(), strict=True)]

    def wordiest(self, question: str, k: int, knobs: WordsSettings, label: str) -> list[Scored[int]]:
        """Return the `k` memories that share the most telling words with a question, by BM25, best first; ties by id."""
        nodes, scores = bm25(question, self.indexes.words(self.graphs, "memory"), knobs.k1, knobs.b)
        seen = self.visible[nodes]
        nodes, scores = nodes[seen], scores[seen]
        best = np.lexsort((nodes, -scores))[:k]
        return [
            Scored(node, score, label) for node, score in zip(nodes[best].tolist(), scores[best].tolist(), strict=True)
        ]

    def passages(self) -> list[Passages]:
        """Return the passages of each graph: the texts that its memories are read with."""
        return self.indexes.passages.among(self.graphs)

    def links(self) -> list[Links]:
        """Return the names in the memories of each graph."""
        return self.indexes.links.among(self.graphs)

    def participants(self) -> list[str]:
        """Return the participants of the conversations of these graphs, the most talkative first."""
        return self.indexes.participants(self.graphs)

    def matrix(self) -> Csr:
        """Return the links of every memory in these graphs, retired ones too: a walk may cross them, but they are not returned."""
        return self.indexes.adjacency.matrix(self.indexes.nodes.within(self.graphs, "memory"))

    def association_matrix(self) -> Csr:
        """Return the decayed associations between returnable memories; a walk follows them besides the `matrix`."""
        arcs = self.indexes.associations.among(self.visible)
        weights = np.zeros(len(arcs.source))
        for graph, of in self.indexes.nodes.by_graph(arcs.source):
            weights[of] = decay_associations(arcs.weight[of], arcs.at[of], self.indexes.fadings.decay_of(graph))
        return self.indexes.associations.csr(arcs, weights, len(self.visible))

    def iris(self, nodes: Sequence[int]) -> list[IRI]:
        """Return the IRIs of some nodes, in their order."""
        return [self.indexes.nodes.iri(node) for node in nodes]
