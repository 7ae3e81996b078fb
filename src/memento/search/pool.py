"""
The indexes of one question, where an engine holds the index: filled with what the engine brings in, and gone with the question.

*Flow:* a question's vectors, words, names and keys → `Engine.nearest`, `words`, `linked` → the entries and what they are about →
`Indexes.fill`, the same as for a whole memory → a `View` of it. A write: the pool follows the graph as indexes in memory do, and
what has changed is put into the engine, after the store has it.

*Guarantees:* a namespace of at most `index.whole` nodes is brought in whole and ranked as ever. The engine is never ahead of the
store: what a kill leaves behind is put at the next start. How rare words
and names are is counted in the whole memory, see `Samples`.

*But:* in a larger namespace a question sees what its searches bring in, and whatever asks for the whole of it is refused.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import replace
from datetime import datetime
from threading import RLock
from typing import Any, cast

import numpy as np

from memento import telemetry
from memento.errors import EngineError, InputError
from memento.graph.store import Store
from memento.iris import IRI, MEM, TYPE, user_of
from memento.model import Change, Difference, Value
from memento.ports import Embedder, Progress, Vectors
from memento.search.engine import Engine, Entry, Hit, Where, pack_records, unpack_records
from memento.search.index import find_predicates, find_types
from memento.search.indexes import Indexes, embed_records, pause_collector
from memento.search.labels import normalise_label
from memento.search.links import read_labels
from memento.search.names import LONGEST, is_telling, label_of, read_names
from memento.search.nodes import Kind, Record, column_of, is_indexed, milliseconds, read_records
from memento.search.postings import Frequencies, tokens
from memento.search.vectors import VectorFile, digest
from memento.settings import IndexSettings

_AT_ONCE = 256  # nodes that a rebuild puts together
_SEEDS = 20  # memories whose subjects are followed, as EXPAND does
_BESIDE = 1  # turns before and after one that is brought in
_SAMPLED, _CHANGED, _KEPT = 5_000, 0.1, 500  # texts of a sample, the growth after which it is old, and graphs kept
_MARK = "archive"  # in the vector file: as long as it is set, every write notes what it touches
_READERS = ThreadPoolExecutor(8, thread_name_prefix="engine")
_NODES: tuple[Kind, ...] = ("memory", "anchor", "key")


class PooledIndexes(Indexes):
    """Indexes that hold what was brought in from an engine. For one question or one write, in one thread."""

    def __init__(
        self,
        graph: Store,
        embedder: Embedder,
        engine: Engine,
        settings: IndexSettings,
        on_failure: Callable[[], None] = lambda: None,
        samples: Samples | None = None,
    ) -> None:
        """
        Args:
            samples: what is known of the words of the whole memory.
            on_failure: called when the engine has not taken what the store has.
        """
        self._store, self._engine, self._settings, self._on_failure = graph, engine, settings, on_failure
        self._samples = samples or Samples(engine, graph)
        self._brought: set[IRI] = set()
        self._unkept: list[tuple[int, Entry, Record]] = []  # what the vector file has not yet
        self._whole: tuple[IRI, ...] | None = None
        super().__init__(graph, embedder, VectorFile(None, embedder.fingerprint))

    def bring(
        self,
        graphs: Sequence[IRI],
        *,
        texts: Sequence[str] = (),
        iris: Sequence[IRI] = (),
        keys: Sequence[str] = (),
        now: datetime | None = None,
    ) -> None:
        """
        Bring in what may bear on some texts, what has some keys, and some nodes, with what they are about.

        Args:
            now: bring in by texts only what holds at this instant; without it also what is over.
        """
        graphs = tuple(filter(is_indexed, graphs))
        if self._whole is not None and set(graphs) <= set(self._whole):
            return
        if self._bring_whole(graphs):
            return
        found = dict.fromkeys(iris)
        where = Where(graphs=graphs, current=None if now is None else milliseconds(now))
        others = Where(graphs=graphs, kinds=("other",))
        searched, linked, settings = _ask_together(
            lambda: self._search(texts, where) if texts else [],
            lambda: self._engine.linked(keys, self._settings.pool, where) if keys else [],
            lambda: self._engine.linked(["setting"], self._settings.pool, others),
        )
        entries = self._fetch(dict.fromkeys([*found, *searched, *linked, *map(user_of, graphs), *settings]))
        entries += self._fetch(self._neighbours(entries, where))
        self._take_entries(entries + self._fetch(IRI(about) for one in entries for about in _subjects(one)))
        self._count_held(graphs)

    def _count_held(self, graphs: Sequence[IRI]) -> None:
        """Let what counts memories count those of the whole, so that a word or a name is as rare as it is there."""
        self.beyond = 0
        for graph in graphs:
            known = self._samples.find(graph)
            self.beyond += known.nodes
            for words in self.words([graph], "memory"):
                words.beyond = known
            for passages in self.passages.among([graph]):
                passages.context.beyond = known
            for links in self.links.among([graph]):
                links.beyond = known.nodes

    def _bring_whole(self, graphs: tuple[IRI, ...]) -> bool:
        """Bring in everything of some graphs where that is little."""
        most = self._settings.whole
        if self._samples.count(Where(graphs=graphs, kinds=())) > most:
            return False
        entries = [one for one in self._engine.records(None, graphs) if one.iri not in self._brought]
        self._brought.update(one.iri for one in entries)
        about = (IRI(about) for one in entries for about in _subjects(one))
        self._take_entries(entries + self._fetch([*about, *map(user_of, graphs)]))
        self._whole = (*(self._whole or ()), *graphs)
        return True

    def require_whole(self, graphs: Sequence[IRI]) -> None:
        """
        Bring in everything of some graphs.

        Raises:
            InputError: that is more than `index.whole` nodes.
        """
        if self._whole is None and not self._bring_whole(tuple(filter(is_indexed, graphs))):
            raise InputError(
                f"this works on the whole of a namespace, and this one has more than index.whole = {self._settings.whole} nodes: "
                "an index in memory has it, index.kind = 'faiss'"
            )

    def _search(self, texts: Sequence[str], where: Where) -> list[IRI]:
        """Return the memories that are near some texts, share their words, or are about what they name; the best seeds first."""
        windows = [window for text in texts for window in (self.embedder.windows(text) if text.strip() else [])]
        asked = getattr(self.embedder, "embed_questions", self.embedder.embed)(windows) if windows else None
        stems = list(dict.fromkeys(stem for text in texts for stem in tokens(text)))
        most = self._settings.pool

        def find_about() -> list[IRI]:
            named = [f"about:{iri}" for iri in self._find_named(texts, where)]
            return self._engine.linked(named, most, where) if named else []

        near, told, about = _ask_together(
            lambda: self._engine.nearest(asked, most, where) if asked is not None and asked.any() else [],
            lambda: self._engine.words(stems, most, where),
            find_about,
        )
        return [*_fuse(near, told), *about]

    def _find_named(self, texts: Sequence[str], where: Where) -> list[IRI]:
        """Return what goes by a name in some texts."""
        labels = {f"label:{label}" for text in texts for label in _list_labels(text)}
        where = Where(graphs=where.graphs, kinds=(*_NODES[1:], "name"))
        return self._engine.linked(sorted(labels), self._settings.pool, where) if labels else []

    def _neighbours(self, entries: Sequence[Entry], where: Where) -> list[IRI]:
        """Return the turns beside those brought in, and what else is about the subjects of the best, `index.pool` at most."""
        beside = {
            f"turn:{session}#{int(place) + step}"
            for one in entries
            for session, place in _turns(one)
            for step in range(-_BESIDE, _BESIDE + 1)
            if step
        }
        seeds = [one for one in entries if one.kind == "memory"][:_SEEDS]
        about = list(
            dict.fromkeys(
                f"about:{iri}" for one in seeds for iri in _subjects(one) if not iri.startswith("urn:memento:user:")
            )
        )
        most = self._settings.pool
        turns, same = _ask_together(
            lambda: self._engine.linked(sorted(beside), 4 * most, where) if beside else [],
            lambda: self._engine.linked(about, most, where) if about else [],
        )
        return [*turns, *same]

    def _fetch(self, iris: Iterable[IRI]) -> list[Entry]:
        """
        Return what is not brought in yet, in the order asked for.

        *Because:* a user, or what a memory is about, may be described in another graph than the memory; what a reader may see of
        it the indexes know, as those of a whole memory do.
        """
        wanted = [iri for iri in dict.fromkeys(iris) if iri not in self._brought]
        self._brought.update(wanted)
        found = {one.iri: one for one in (self._engine.records(wanted) if wanted else [])}
        return [found[iri] for iri in wanted if iri in found]

    def _take_entries(self, entries: Sequence[Entry]) -> None:
        """Fill the indexes with some entries, or add them to what is here."""
        self._brought.update(one.iri for one in entries)
        of = {one.iri: one for one in entries}
        records = {record.iri: record for one in entries for record in unpack_records(one.packed)}
        for record in records.values():
            self.learn(record)
            self.learn_end(record)
        edges = [edge for record in records.values() if (edge := record.edge)]
        types = find_types()
        others = [
            record
            for record in records.values()
            if record.kind is None
            and not record.edge
            and any(kind in types for kind in record.statements.get(TYPE, ()))
        ]
        # By IRI, which is by age: ties in recall are as in a whole memory.
        held = [(of[iri], records[iri]) for iri in sorted(of) if records[iri].kind is not None]
        with self.lock, pause_collector():
            if len(self.nodes):
                vectors = {record.iri: one.vectors for one, record in held}
                self.absorb([*(record for _, record in held), *others], [], vectors)
                for index in self:
                    index.follow_edges([record.iri for _, record in held if record.kind == "memory"], edges)
                return
            nodes = [(node, record) for node, (_, record) in enumerate(held, start=1)]
            self._unkept = [(node, one, record) for node, (one, record) in enumerate(held, start=1)]
            self.fill(nodes, others, edges)
            for kind in _NODES:
                some = [(node, one.vectors) for node, (one, record) in enumerate(held, start=1) if record.kind == kind]
                self.vectors[kind].put(
                    [node for node, rows in some if len(rows)], [rows for _, rows in some if len(rows)]
                )
            self.vectors.forget_file()

    def _keep(self) -> None:
        """Let the vector file have what was brought in first, before it is to give more ids: a question never asks it."""
        self.file.adopt([(node, one.iri, digest(self.text(record)), one.vectors) for node, one, record in self._unkept])
        self._unkept = []

    def absorb(self, records: Sequence[Record], gone: Sequence[IRI], vectors: Mapping[IRI, Vectors]) -> None:
        self._keep()
        super().absorb(records, gone, vectors)

    def find_made(self, change: Change, graphs: Sequence[IRI]) -> list[Record]:
        self._keep()
        return super().find_made(change, graphs)

    def embed(self, records: Sequence[Record]) -> dict[IRI, Vectors]:
        self._keep()
        return super().embed(records)

    def refresh(
        self,
        iris: Sequence[IRI],
        graphs: Sequence[IRI],
        made: Sequence[Record] = (),
        vectors: Mapping[IRI, Vectors] | None = None,
    ) -> None:
        new = {record.iri for record in made}
        self.bring(graphs, iris=[iri for iri in iris if iri not in new])
        super().refresh(iris, graphs, made, vectors)
        self._put_nodes(iris, graphs)

    def revise(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        self.bring(graphs, iris=iris)
        self._keep()
        super().revise(iris, graphs)
        self._put_nodes(iris, graphs)

    def recount(self, memories: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        self.bring(graphs, iris=memories)
        super().recount(memories, graphs)
        self._put_nodes(memories, graphs)

    def reschedule(self, memories: Sequence[IRI], graph: IRI) -> None:
        self.bring([graph], iris=memories)
        super().reschedule(memories, graph)
        self._put_nodes(memories, [graph])

    def _put_nodes(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> None:
        """Put into the engine what the graph says of some nodes now, and of those that they belong to."""
        self._keep()
        records = {record.iri: record for record in self.read(iris, graphs)}
        owners = [owner for record in records.values() for owner in _list_owners(record)]
        if unread := [iri for iri in dict.fromkeys(owners) if iri not in records]:
            self.bring(graphs, iris=unread)
            records |= {record.iri: record for record in self.read(unread, graphs)}
        beside = self._read_companions([*records], graphs)
        entries = []
        for iri, record in records.items():
            stored = self.file.find(iri) if record.kind is not None else None
            if record.kind is not None and stored is None:
                continue
            vectors = stored[1] if stored else np.zeros((0, 0), dtype=np.float32)
            if one := self.entry(record, beside.get(iri, ()), vectors):
                entries.append(one)
        try:
            self._engine.put(entries, [iri for iri in iris if iri not in records])
        except EngineError:
            self._on_failure()
            raise

    def _read_companions(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> dict[IRI, list[Record]]:
        """Return what belongs to some nodes beside what is said of them."""
        said: dict[tuple[IRI, IRI, IRI], dict[IRI, list[Value]]] = {}
        for row in self._store.select("search/companions", graphs, of=iris) if iris else ():
            place = (cast(IRI, row["of"]), cast(IRI, row["graph"]), cast(IRI, row["node"]))
            said.setdefault(place, {}).setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
        found: dict[IRI, list[Record]] = defaultdict(list)
        for (of, graph, node), statements in said.items():
            found[of].append(Record(node, graph, statements))
        return found

    def entry(self, record: Record, companions: Iterable[Record], vectors: Vectors) -> Entry | None:
        """Return a node as an engine holds it, once what belongs to it is learned; None for what is found with others alone."""
        beside = {one.iri: one for one in companions if one.iri != record.iri}
        for one in (record, *beside.values()):
            self.learn(one)
            self.learn_end(one)
        types = record.statements.get(TYPE, ())
        if record.kind is not None:
            kind: str = record.kind
        elif MEM.Name in types:
            kind = "name"
        elif MEM.Fading in types:
            kind = "other"
        else:
            return None
        return Entry(
            iri=record.iri,
            graph=record.graph,
            kind=kind,
            vectors=vectors if vectors.size else np.zeros((0, self.dimensions), dtype=np.float32),
            text=" ".join(tokens(self.text(record))) if record.kind is not None else "",
            times=column_of(record.lifetime(self.retired_at.get(record.iri))),
            keys=tuple(dict.fromkeys(_list_keys(record, beside.values(), self.turn_place(record)))),
            packed=pack_records(map(_shorten, (record, *beside.values()))),
        )

    @contextmanager
    def pool(self) -> Iterator[None]:
        yield


def _ask_together(*calls: Callable[[], list[Any]]) -> list[list[Any]]:
    """Return what some calls of an engine return, which waits most of its time for files or for the network."""
    first, *rest = calls
    waiting = [_READERS.submit(copy_context().run, call) for call in rest]
    return [first(), *(one.result() for one in waiting)]


class Samples:
    """How often words are in the memories of each graph, as a sample says, and how many there are; one for all questions."""

    def __init__(self, engine: Engine, graph: Store) -> None:
        self._engine, self._graph = engine, graph
        self._known: OrderedDict[IRI, Frequencies] = OrderedDict()
        self._counts: dict[tuple[tuple[IRI, ...], tuple[str, ...]], int] = {}
        self._writes = -1

    def count(self, where: Where) -> int:
        """Count entries, whatever their time; once after each write."""
        writes = self._graph.writes
        if writes != self._writes:
            self._counts, self._writes = {}, writes
        key = (tuple(where.graphs), where.kinds)
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = self._engine.count(where)
        return count

    def find(self, graph: IRI) -> Frequencies:
        """Return what is known of a graph; a sample is taken again when the graph has become a tenth larger or smaller."""
        where = Where(graphs=[graph])
        nodes, known = self.count(where), self._known.get(graph)
        if known is None or abs(nodes - known.nodes) > known.nodes * _CHANGED:
            texts = self._engine.sample(_SAMPLED, where)
            known = Frequencies(
                nodes, max(len(texts), 1), Counter(word for text in texts for word in set(text.split()))
            )
            self._known[graph] = known
        self._known.move_to_end(graph)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return replace(known, nodes=nodes)


class Pools:
    """
    Stands where `Indexes` stand: whoever asks has the indexes of what they do, which `pool` or `whole` opens.

    *Because:* what reads the index need not know where it is; a thread that asks outside of both is refused.
    """

    is_pooled = True

    def __init__(
        self, graph: Store, embedder: Embedder, file: VectorFile, engine: Engine, settings: IndexSettings
    ) -> None:
        self.graph, self.embedder, self.file, self.engine = graph, embedder, file, engine
        self._settings = settings
        self._current: ContextVar[PooledIndexes | Callable[[], PooledIndexes] | None] = ContextVar("pool", default=None)
        self._known: set[IRI] = set()
        self.is_late = False
        """Whether something that the store has is not in the engine."""
        self._lock = RLock()
        self._samples = Samples(engine, graph)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._find(), name)

    def __getitem__(self, kind: Any) -> Any:
        return self._find()[kind]

    def __iter__(self) -> Any:
        return iter(self._find())

    @property
    def lock(self) -> RLock:
        """What a thread holds while it reads several indexes: its own, as nobody else has its pool."""
        return self._lock if self._current.get() is None else self._find().lock

    def _find(self) -> PooledIndexes:
        found = self._current.get()
        if found is None:
            raise InputError("this works on the index of a whole memory: index.kind = 'faiss' has it")
        if not isinstance(found, PooledIndexes):
            found = found()
            self._current.set(found)
        return found

    def _create(self) -> PooledIndexes:
        return PooledIndexes(self.graph, self.embedder, self.engine, self._settings, self._note_late, self._samples)

    def _note_late(self) -> None:
        self.is_late = True

    @contextmanager
    def pool(self) -> Iterator[None]:
        """Let the thread have indexes that `bring` fills, until the block ends; those it has already, where it has some."""
        if isinstance(self._current.get(), PooledIndexes):
            yield
            return
        token = self._current.set(made := self._create())
        try:
            yield
        finally:
            self._current.reset(token)
            telemetry.observe("pool_nodes", len(made.nodes))

    @contextmanager
    def whole(self, graphs: Callable[[], Sequence[IRI]]) -> Iterator[None]:
        """Let the thread have the whole of some graphs as soon as it asks, until the block ends; see `require_whole`."""

        def make() -> PooledIndexes:
            made = self._create()
            made.require_whole(graphs())
            return made

        before = self._current.get()
        token = self._current.set(before if isinstance(before, PooledIndexes) else make)
        try:
            yield
        finally:
            self._current.reset(token)

    def bring(self, graphs: Sequence[IRI], **asked: Any) -> None:
        self._find().bring(graphs, **asked)

    def knows(self, graph: IRI) -> bool:
        """Tell whether a graph describes a node."""
        if graph not in self._known and self.engine.count(Where(graphs=[graph], kinds=())):
            self._known.add(graph)
        return graph in self._known

    def count_current(self, graphs: Sequence[IRI], now: datetime) -> int:
        """Return how many memories of some graphs hold."""
        return self.engine.count(Where(graphs=graphs, current=milliseconds(now)))

    def count_nodes(self) -> int:
        """Return how many nodes there are, of all graphs."""
        return self.engine.count(Where(graphs=(), kinds=_NODES))

    def catch_up(self, *, is_ours: bool, progress: Progress | None = None) -> int:
        """
        Put into the engine what a kill has left out, or everything where it is not known to hold this store.

        Args:
            is_ours: nobody but this process and those before it has written to the store.

        Returns:
            how many nodes had to be embedded.
        """
        if not is_ours or self.file.get_mark(_MARK) != "engine" or not self.engine.count(Where(graphs=(), kinds=())):
            return self.rebuild(progress)
        self.is_late = True
        self.note_followed()
        return 0

    def note_followed(self) -> None:
        """Forget what was touched, as the engine has it: also what it did not take earlier. The one writer calls it."""
        last = self.file.last_touch()
        if self.is_late and (late := self.file.touched_since(0)):
            with self.pool():
                self._find().refresh(late, [name for name in self.graph.graphs() if is_indexed(name)])
        self.is_late = False
        if self.file.get_mark(_MARK) is None:  # an erasure lets a kill rebuild everything
            self.file.set_mark(_MARK, "engine")
        self.file.forget_touches(last)

    def purge(self) -> None:
        """Leave nothing of what was erased in the files of the engine."""
        self.engine.purge()

    def check(self) -> list[Difference]:
        """Return where the engine is not what the graph says; change nothing."""
        found: list[Difference] = []
        reader = self._create()
        records = {}
        for record in read_records(self.graph, find_predicates()):
            reader.learn(record)
            if record.kind is not None:
                records[record.iri] = record
        iris, here = sorted(records), 0
        for begin in range(0, len(iris), _AT_ONCE):
            some = iris[begin : begin + _AT_ONCE]
            entries = {one.iri: one for one in self.engine.records(some)}
            here += len(entries)
            for iri in some:
                if iri not in entries:
                    found.append(Difference(what="not-indexed", iri=iri, detail="in the graph, not in the engine"))
                elif entries[iri].text != " ".join(tokens(reader.text(records[iri]))):
                    found.append(Difference(what="outdated-vector", iri=iri, detail="the text has changed since"))
        if (orphans := self.count_nodes() - here) > 0:
            detail = f"{orphans} nodes are in the engine, not in the graph"
            found.append(Difference(what="orphan-index", iri=IRI("urn:memento:index"), detail=detail))
        return found

    def rebuild(self, progress: Progress | None = None) -> int:
        """Make everything in the engine from the graph; return how many nodes were embedded."""
        self.file.set_mark(_MARK, "engine")
        touched = self.file.last_touch()
        self.engine.clear()
        self._known.clear()
        with self.pool():
            done = _put_everything(self._find(), self.graph, self.engine, progress)
        self.file.forget_touches(touched)
        self.engine.settle()
        return done


def _put_everything(pool: PooledIndexes, graph: Store, engine: Engine, progress: Progress | None) -> int:
    records, beside = {}, defaultdict(list)
    for record in read_records(graph, find_predicates()):
        records[record.iri] = record
        pool.learn(record)
        pool.learn_end(record)
        for owner in _list_owners(record):
            beside[owner].append(record)
    embedded = 0
    every = [records[iri] for iri in sorted(records)]
    for begin in range(0, len(every), _AT_ONCE):
        some = every[begin : begin + _AT_ONCE]
        held = [record for record in some if record.kind is not None]
        rows = dict(
            zip(
                [one.iri for one in held],
                embed_records(held, [pool.text(one) for one in held], pool.embedder),
                strict=True,
            )
        )
        embedded += len(held)
        entries = []
        for record in some:
            own = [one for name in (MEM.extractedFrom, MEM.saidBy) if (one := records.get(IRI(record.first(name))))]
            nothing = np.zeros((0, 0), dtype=np.float32)
            if made := pool.entry(record, [*beside.get(record.iri, ()), *own], rows.get(record.iri, nothing)):
                entries.append(made)
        engine.put(entries)
        if progress:
            progress(begin + len(some), len(every))
    return embedded


def _list_owners(record: Record) -> list[IRI]:
    """Return the nodes that a record belongs to, of those that it tells itself; a link from a key belongs to its memory."""
    types = record.statements.get(TYPE, ())
    names = [MEM.invalidated, MEM.to, MEM.denotes] + ([MEM["from"]] if MEM.Association in types else [])
    return [value for name in names for value in record.statements.get(name, ()) if isinstance(value, IRI)]


def _shorten(record: Record) -> Record:
    """Return a record without what no index reads."""
    if record.kind is None and MEM.Note in record.statements.get(TYPE, ()):
        kept: Collection[IRI] = (TYPE, MEM.session, MEM.position, MEM.source)
    else:
        kept = find_predicates()
    return Record(
        record.iri, record.graph, {name: values for name, values in record.statements.items() if name in kept}
    )


def _list_keys(record: Record, beside: Iterable[Record], place: tuple[IRI, int] | None) -> Iterator[str]:
    """Yield the keys by which a node is found."""
    if record.kind == "memory":
        for name in (MEM.about, MEM.mentions, MEM.subject):
            yield from (f"about:{value}" for value in record.statements.get(name, ()) if isinstance(value, IRI))
        yield from (f"about:{edge[0]}" for one in beside if (edge := one.edge))
        yield from (f"tag:{value}" for value in record.statements.get(MEM.tagged, ()))
        if slot := record.first(MEM.slot):
            yield f"slot:{slot}"
        if place:
            yield f"turn:{place[0]}#{place[1]}"
        return
    if MEM.Fading in record.statements.get(TYPE, ()):
        yield "setting"
    for one in (record, *(one for one in beside if MEM.denotes in one.statements)):
        yield from (f"label:{label}" for label in read_labels(one))
        yield from (f"label:{label}" for name in one.labels if (label := normalise_label(name)))


def _subjects(entry: Entry) -> list[str]:
    """Return what a memory is about, mentions, or is led to from."""
    return [key.removeprefix("about:") for key in entry.keys if key.startswith("about:")]


def _turns(entry: Entry) -> list[tuple[str, str]]:
    return [
        (session, place)
        for key in entry.keys
        if key.startswith("turn:")
        for session, _, place in [key[5:].rpartition("#")]
    ]


def _list_labels(text: str) -> set[str]:
    """Return whatever in a text may be a name: each run of words, as labels are written."""
    words = list(read_names(text).words)
    spelled = normalise_label(text).split()
    runs = {
        " ".join(some[begin : begin + length])
        for some in (words, [word.strip(".,;:!?…\"'()") for word in spelled])
        for begin in range(len(some))
        for length in range(1, LONGEST + 1)
        if begin + length <= len(some)
    }
    return {run for run in runs if is_telling(run)} | {
        label for run in runs if (label := label_of(run)) and is_telling(label)
    }


def _fuse(*rankings: Sequence[Hit]) -> list[IRI]:
    """Return what is in some rankings, by the sum of the reciprocal ranks."""
    scores: dict[IRI, float] = defaultdict(float)
    for ranking in rankings:
        for rank, hit in enumerate(ranking):
            scores[hit.iri] += 1 / (60 + rank)
    return sorted(scores, key=lambda iri: (-scores[iri], iri))
