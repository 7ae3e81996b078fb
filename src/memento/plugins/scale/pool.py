"""
Rank in indexes of the entries that questions load from an engine, where an engine holds the index: the pool.

*Flow:* a question's vectors, words, names and keys → `Engine.nearest`, `words`, `linked` → the entries and what they are about →
`Indexes.fill`, as for a whole memory → a `View` of it. A write: the pool follows the graph as indexes in memory do, and the changed
nodes are put into the engine after the store has them. A pool ends with its operation, and is used by its thread alone.

*Guarantees:* if the graphs that a question reads have at most `index.whole` nodes together, all of them are loaded and ranked as in
memory. The engine is never ahead of the store: the next start puts what a kill has left out. The rarity of words and names is that
in the whole memory, see `Samples`.

*But:* above `index.whole` a question sees only what its searches find, and the latest thousand memories linked to the nodes that it
names; an operation that needs the whole graph is refused.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import replace
from datetime import datetime
from itertools import islice
from threading import RLock
from typing import Any, cast

import numpy as np

from memento import telemetry
from memento.errors import EmbeddingError, EngineError, InputError
from memento.graph.store import Store
from memento.iris import IRI, MEM, TYPE, user_of
from memento.model import Change, Difference, Filter, Value
from memento.plugins.scale.engine import Engine, Entry, Hit, Where, pack_records, unpack_entry
from memento.plugins.scale.settings import IndexSettings
from memento.plugins.scale.walk import walk_memories
from memento.ports import Embedder, Vectors
from memento.retrieval import timely
from memento.search.attributes import to_number
from memento.search.index import find_predicates, find_types
from memento.search.indexes import Indexes, Newest, pause_collector
from memento.search.labels import Labels, normalise_label
from memento.search.links import read_labels
from memento.search.names import LONGEST, is_telling, label_of, read_names
from memento.search.nodes import Kind, Record, column_of, is_indexed, milliseconds, read_records
from memento.search.postings import Frequencies, tokens
from memento.search.vectors import VectorFile, digest
from memento.text.claims import read_question
from memento.text.sentences import is_readable
from memento.text.words import BIOGRAPHICAL

logger = logging.getLogger(__name__)

_AT_ONCE = 256  # entries that a check reads at once
_SEEDS = 20  # memories whose subjects are followed, as EXPAND does
_BESIDE = 1  # turns before and after a loaded one that are loaded too
_SAMPLED, _CHANGED, _KEPT = 5_000, 0.1, 500  # texts of a sample, the growth that outdates it, and graphs cached
_BESIDE_MOST = 1_000  # memories that `around` returns
_cut: ContextVar[list[str] | None] = ContextVar("cut", default=None)
"""Notices of what an operation has left out, for its caller."""
_READERS = ThreadPoolExecutor(8, thread_name_prefix="engine")
_NODES: tuple[Kind, ...] = ("memory", "anchor", "key")
_DOORS = frozenset(
    {
        *("bring", "bring_question", "find_all", "names_of", "find_labels", "find_decay", "prepare", "find_idle"),
        *("list_newest", "hold_newest", "count_tags", "count_about", "refresh", "revise", "recount", "reschedule"),
    }
)
"""The methods of indexes that load what they need; all others need whole graphs."""


class PooledIndexes(Indexes):
    """
    Hold the entries that one operation has loaded from an engine.

    They follow what it writes, as indexes in memory do.
    """

    def __init__(
        self,
        graph: Store,
        embedder: Embedder,
        engine: Engine,
        settings: IndexSettings,
        on_put: Callable[[PooledIndexes, Sequence[IRI], bool], None] = lambda pool, iris, is_done: None,
        samples: Samples | None = None,
        graphs: Callable[[], Sequence[IRI]] | None = None,
    ) -> None:
        """
        Args:
            graphs: what is loaded whole if it is read before anything was loaded.
            samples: word frequencies of the whole memory.
            on_put: called with the nodes that were written to the store, and whether the engine has accepted them.
        """
        self._store, self._engine, self._settings, self._on_put = graph, engine, settings, on_put
        self._samples = samples or Samples(engine, graph)
        self._reached: dict[IRI, Entry] = {}  # what is loaded
        self._unkept: dict[IRI, tuple[int, Entry, Record]] = {}  # what the vector file does not have yet
        self._whole: set[IRI] = set()
        self._absent: set[IRI] = set()  # what the engine does not have
        self._asked: set[tuple[str, tuple[IRI, ...], bool]] = set()  # keys whose entries are all loaded
        self._last = 0  # the highest id
        self.age = 0
        self.unread = graphs
        super().__init__(graph, embedder, VectorFile(None, embedder.fingerprint))

    @pause_collector()
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
        Load the entries that match some texts, those with some keys, and some nodes, with what they are about.

        Args:
            names: load what has one of these names or of their words, or a name of nearly the same meaning, and memories about it.
            around: load these nodes and the memories linked to them, then those linked to these, for so many `steps`; of each step
                the latest thousand, and no further step once there are as many.
            now: load by texts only what holds at this instant; without it also what has ended.
        """
        graphs = tuple(filter(is_indexed, graphs))
        if self._bring_whole(graphs):
            return
        where = Where(graphs=graphs, current=None if now is None else milliseconds(now))
        others = Where(graphs=graphs, kinds=("other",))
        searched, linked, settings, named = _ask_together(
            lambda: self._search(texts, where) if texts else [],
            lambda: self._follow(keys, self._settings.pool, where),
            lambda: self._follow(["setting"], self._settings.pool, others),
            lambda: self._find_names(names, where) if names else [],
        )
        iris = [*iris, *around, *self._list_beside(around, steps, graphs)]
        found = [*map(Hit, iris), *searched, *linked, *named, *(Hit(user_of(graph)) for graph in graphs), *settings]
        taken: dict[IRI, Entry] = {}
        reached = self._read(found, taken)
        # Called here because the caller may hold the lock while it reads.
        _, beside = _ask_together(
            lambda: self._read(_list_subjects(reached), taken), lambda: self._neighbours(reached, where)
        )
        self._read(_list_subjects(self._read(beside, taken)), taken)
        self._take(taken)
        self._count_held(graphs)

    def bring_question(
        self, question: str, graphs: Sequence[IRI], only: Filter | None, now: datetime, *, is_past: bool
    ) -> None:
        only = only or Filter()
        looks_back = is_past or timely.looks_back(question) or timely.asked_time(question, now)
        clauses = read_question(question).clauses if is_readable(question) else ()
        keys = [f"slot:{name}" for name in dict.fromkeys(one.relation for one in clauses)]
        keys += [*(f"tag:{tag}" for tag in only.tags), *(f"about:{iri}" for iri in only.about)]
        self.bring(graphs, texts=[question], keys=keys, now=None if looks_back else now)

    def find_all(
        self,
        iris: Sequence[IRI],
        graphs: Sequence[IRI],
        *,
        steps: int = 0,
        texts: Sequence[str] = (),
        now: datetime | None = None,
    ) -> dict[IRI, int]:
        if any(
            iri.startswith("urn:memento:user:") for iri in iris
        ):  # what is said of the user: where they live, and so on
            self.bring(graphs, keys=[f"slot:{slot}" for slot in BIOGRAPHICAL], now=now)
        return super().find_all(iris, graphs, steps=steps, texts=texts, now=now)

    def find_labels(self, names: Sequence[str], graphs: Sequence[IRI], *, longer: bool = False) -> Labels:
        rarest = [max(words, key=len) for name in names if longer and (words := normalise_label(name).split())]
        if rarest and not self.has_whole(graphs):
            rows = [row for part in rarest for row in self._store.select("plugins/scale/longer", graphs, part=part)]
            self.bring(graphs, iris=[cast(IRI, row["entity"]) for row in rows])
        return super().find_labels(names, graphs, longer=longer)

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
        if self.has_whole(graphs):
            return super().list_newest(graphs, now, only, skip=skip, most=most, numbers=numbers)
        found = [*islice(walk_memories(self._store, graphs, now, only, skip=skip), most)]
        written = np.array([one.written.timestamp() for one in found], dtype=np.float64)
        columns = {name: np.array([to_number(one.value_of(name)) for one in found]) for name in numbers}
        return Newest(iris=[one.iri for one in found], written=written, numbers=columns)

    def hold_newest(self, graphs: Sequence[IRI], now: datetime, most: int) -> list[IRI] | None:
        if self.has_whole(graphs):
            return None
        found = self.list_newest(graphs, now, most=most).iris
        self.bring(graphs, iris=found)
        return found

    def count_tags(self, graphs: Sequence[IRI], now: datetime) -> dict[IRI, int]:
        if self.has_whole(graphs):
            return super().count_tags(graphs, now)
        rows = self._store.select("plugins/scale/tag_counts", graphs, now=now)
        return {cast(IRI, row["tag"]): int(str(row["count"])) for row in rows}

    def count_about(self, graphs: Sequence[IRI]) -> dict[IRI, int]:
        if self.has_whole(graphs):
            return super().count_about(graphs)
        rows = self._store.select("plugins/scale/entity_counts", graphs)
        return {cast(IRI, row["entity"]): int(str(row["count"])) for row in rows}

    def find_idle(self, memories: Sequence[IRI], graph: IRI, graphs: Sequence[IRI]) -> tuple[list[IRI], list[IRI]]:
        if not self.has_whole(graphs):  # one other memory of each name and key is enough
            rows = self._store.select("plugins/scale/kept_by", [graph], gone=memories, other=memories)
            self.bring(graphs, iris=[cast(IRI, row["memory"]) for row in rows])
        return super().find_idle(memories, graph, graphs)

    def count_beyond(self, graphs: Sequence[IRI]) -> int:
        return sum(
            self._samples.find(graph).nodes for graph in graphs if is_indexed(graph) and graph not in self._whole
        )

    def _count_held(self, graphs: Sequence[IRI]) -> None:
        """Give the counts of the whole memory to everything that counts memories, so that words and names are as rare as there."""
        for graph in graphs:
            known = self._samples.find(graph)
            with self.lock:
                for words in self.words([graph], "memory"):
                    words.beyond = known
                for passages in self.passages.among([graph]):
                    passages.context.beyond = known
                for links in self.links.among([graph]):
                    links.beyond = known.nodes

    @pause_collector()
    def _bring_whole(self, graphs: tuple[IRI, ...]) -> bool:
        """Load some graphs whole if they are small enough; return whether the pool has all of them."""
        if self._samples.count(Where(graphs=graphs, kinds=())) > self._settings.whole:
            self._whole.difference_update(graphs)
            return False
        missing = [graph for graph in graphs if graph not in self._whole]
        if not missing:
            return True
        hits = [Hit(one.iri, entry=one) for one in self._engine.records(None, missing)]
        taken: dict[IRI, Entry] = {}
        reached = self._read([*hits, *(Hit(user_of(graph)) for graph in missing)], taken)
        self._read(_list_subjects(reached), taken)
        self._take(taken)
        self._whole.update(missing)
        return True

    def has_whole(self, graphs: Sequence[IRI]) -> bool:
        return self._bring_whole(tuple(filter(is_indexed, graphs)))

    def require_whole(self, graphs: Sequence[IRI]) -> None:
        """
        Load everything of some graphs.

        Raises:
            InputError: they have more than `index.whole` nodes.
        """
        if not self.has_whole(graphs):
            raise InputError(
                f"this needs the whole namespace in memory, which has more than index.whole = {self._settings.whole} nodes: "
                "raise index.whole above their number, or use an index in memory, index.kind = 'faiss'"
            )

    def _list_beside(self, nodes: Sequence[IRI], steps: int, graphs: Sequence[IRI]) -> list[IRI]:
        """Return the memories at most some steps from some nodes; if some are left out, note that for the caller."""
        found, edge = dict.fromkeys(nodes), list(nodes)
        for _ in range(steps if nodes else 0):
            rows = self._store.select("plugins/scale/around", graphs, node=edge) if edge else []
            edge = [iri for row in rows if (iri := cast(IRI, row["memory"])) not in found]
            found |= dict.fromkeys(edge)
            if len(found) >= _BESIDE_MOST:
                notice = f"of the memories beside what was asked for, only the latest {_BESIDE_MOST:,} were looked at"
                if (cut := _cut.get()) is not None and notice not in cut:
                    cut.append(notice)
                break
        return list(found)

    def _find_names(self, names: Sequence[str], where: Where) -> list[Hit]:
        """Return what has one of some names, or one of their words, or a name of nearly the same meaning, and memories about it."""
        most, named = self._settings.pool, Where(graphs=where.graphs, kinds=_NODES[1:])
        windows = [window for name in names for window in (self.embedder.windows(name) if name.strip() else [])]
        asked = self.embedder.embed(windows) if windows else None
        near = self._engine.nearest(asked, most, named) if asked is not None and asked.any() else []
        told = self._engine.words(list(dict.fromkeys(stem for name in names for stem in tokens(name))), most, named)
        about = self._follow([f"about:{hit.iri}" for hit in (*near, *told)], most, where)
        return [*near, *told, *self._follow_names(names, where), *about]

    def _search(self, texts: Sequence[str], where: Where) -> list[Hit]:
        """Return the memories near some texts, with words in common, or about what they name; the best seeds first."""
        windows = [window for text in texts for window in (self.embedder.windows(text) if text.strip() else [])]
        asked = getattr(self.embedder, "embed_questions", self.embedder.embed)(windows) if windows else None
        stems = list(dict.fromkeys(stem for text in texts for stem in tokens(text)))
        most = self._settings.pool
        near, told, about = _ask_together(
            lambda: self._engine.nearest(asked, most, where) if asked is not None and asked.any() else [],
            lambda: self._engine.words(stems, most, where),
            lambda: self._follow_names(texts, where),
        )
        # Hits that are both near and share words come first, so that the worst of either search alone need not be read.
        return [*_fuse(near, told)[: most + most // 2], *about]

    def _follow_names(self, texts: Sequence[str], where: Where) -> list[Hit]:
        """Return the nodes that some texts name, and the memories about them."""
        labels, most = {f"label:{label}" for text in texts for label in _list_labels(text)}, self._settings.pool
        named = Where(graphs=where.graphs, kinds=(*_NODES[1:], "name"))
        found = self._engine.linked(sorted(labels), most, named) if labels else []
        return [*self._follow([f"about:{hit.iri}" for hit in found], most, where), *found]

    def _follow(self, keys: Iterable[str], most: int, where: Where) -> list[Hit]:
        """
        Return the entries with some keys, without keys that were looked up before.

        *Because:* entries loaded by a key stay in the pool, and entries that get the key later are loaded when they are written.
        """
        place = (tuple(where.graphs), where.current is None)
        new = [key for key in dict.fromkeys(keys) if (key, *place) not in self._asked]
        found = self._engine.linked(new, most, where) if new else []
        self._asked.update((key, *place) for key in new)
        return found

    def _neighbours(self, reached: Sequence[Entry], where: Where) -> list[Hit]:
        """Return the turns next to the loaded ones, and other memories about the subjects of the best."""
        most = self._settings.pool
        memories = [one for one in reached if one.kind == "memory"]
        beside = {
            f"turn:{session}#{int(place) + step}"
            for one in memories[:most]
            for session, place in _turns(one)
            for step in range(-_BESIDE, _BESIDE + 1)
            if step
        }
        seeds = memories[:_SEEDS]
        about = (f"about:{iri}" for one in seeds for iri in _subjects(one) if not iri.startswith("urn:memento:user:"))
        turns, same = _ask_together(
            lambda: self._follow(sorted(beside), 2 * most, where), lambda: self._follow(about, most, where)
        )
        return [*turns, *same]

    def _read(self, hits: Iterable[Hit], taken: dict[IRI, Entry]) -> list[Entry]:
        """
        Return what was found, in its order, and put the entries that the pool does not have yet into `taken`.

        *Because:* a user, or what a memory is about, may be described in another graph than the memory; the indexes know what of it
        a reader may see, as those of a whole memory do.
        """
        found: dict[IRI, Entry | None] = {}
        for hit in hits:
            found[hit.iri] = found.get(hit.iri) or hit.entry  # when two searches ran at once, only one may have read it
        known = {iri: one for iri in found if (one := self._reached.get(iri))}
        unread = [
            iri
            for iri, entry in found.items()
            if entry is None and iri not in known and iri not in taken and iri not in self._absent
        ]
        read = self._engine.records(unread) if unread else []
        new = {iri: entry for iri, entry in found.items() if entry is not None and iri not in known}
        new |= {one.iri: one for one in read}
        with self.lock:
            self._absent.update(iri for iri in unread if iri not in new)
        taken.update(new)
        return [known.get(iri) or taken[iri] for iri in found if iri in known or iri in taken]

    def _take(self, entries: Mapping[IRI, Entry]) -> None:
        """Add some entries to the indexes, all at once: adding a turn later means reading the turns next to it again."""
        with self.lock:
            self._take_entries([one for iri, one in entries.items() if iri not in self._reached])

    def _take_entries(self, entries: Sequence[Entry]) -> None:
        """Fill the indexes with some entries, or add them to what is here."""
        if not entries:
            return
        of = {one.iri: one for one in entries}
        self._reached |= of
        records = {record.iri: record for one in entries for record in unpack_entry(one.packed)[0]}
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
        # By IRI, which is by age: ties in recall are resolved as in a whole memory.
        held = [(of[iri], records[iri]) for iri in sorted(of) if records[iri].kind is not None]
        first = self._last + 1
        nodes = [(node, record) for node, (_, record) in enumerate(held, start=first)]
        self._unkept |= {one.iri: (node, one, record) for node, (one, record) in enumerate(held, start=first)}
        if len(self.nodes):
            ids = {record.iri: node for node, record in nodes}
            self.place([*(record for _, record in held), *others], ids, {one.iri: one.vectors for one, _ in held})
            for index in self:
                index.follow_edges([record.iri for _, record in held if record.kind == "memory"], edges)
            self._take_masked(nodes, of)
            return
        self._last = len(nodes)
        self.fill(nodes, others, edges)
        self.grains.pending = dict.fromkeys(node for node, record in nodes if record.kind == "memory")
        for kind in _NODES:
            some = [(node, one.vectors) for node, (one, record) in enumerate(held, start=first) if record.kind == kind]
            self.vectors[kind].put([node for node, rows in some if len(rows)], [rows for _, rows in some if len(rows)])
        self.vectors.forget_file()
        self._take_masked(nodes, of)

    def _take_masked(self, nodes: Iterable[tuple[int, Record]], entries: Mapping[IRI, Entry]) -> None:
        """Add the masked vectors that some entries have."""
        found = [
            (node, unpack_entry(entries[record.iri].packed)[1]) for node, record in nodes if record.kind == "memory"
        ]
        known = [(node, masked) for node, masked in found if masked is not None]
        some = [(node, masked) for node, masked in known if masked.size]  # `put` would look at every number
        if some:
            rows = np.concatenate([masked for _, masked in some])
            self.grains.masked.fill(
                np.array([node for node, _ in some], dtype=np.int32), np.ones(len(some), dtype=np.int64), rows
            )
        for node, _ in known:
            self.grains.pending.pop(node, None)

    def place(self, records: Sequence[Record], ids: Mapping[IRI, int], vectors: Mapping[IRI, Vectors]) -> None:
        super().place(records, ids, vectors)
        self._last = max(self._last, *ids.values(), 0)

    def _keep(self) -> None:
        """Write loaded entries to the vector file before it assigns further ids; questions never read that file."""
        with self.lock:
            unkept, self._unkept = self._unkept, {}
            self.file.adopt(
                [(node, iri, digest(self.text(record)), one.vectors) for iri, (node, one, record) in unkept.items()]
            )

    def _keep_grains(self, entries: Sequence[tuple[int, Vectors]]) -> None:
        """Do nothing: `_put_nodes` puts the grains into the entries."""

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
        """Put into the engine what the graph now says of some nodes, and of the nodes that they belong to."""
        if not iris:
            return
        self._keep()
        records = {record.iri: record for record in self.read(iris, graphs)}
        owners = [owner for record in records.values() for owner in _list_owners(record)]
        if unread := [iri for iri in dict.fromkeys(owners) if iri not in records]:
            self.bring(graphs, iris=unread)
            records |= {record.iri: record for record in self.read(unread, graphs)}
        beside = self._read_companions([*records], graphs)
        self._make_grains(records.values())
        entries = []
        for iri, record in records.items():
            stored = self.file.find(iri) if record.kind is not None else None
            if record.kind is not None and stored is None:
                continue
            vectors = stored[1] if stored else np.zeros((0, 0), dtype=np.float32)
            node = self.nodes.find(iri) if record.kind == "memory" else None
            masked = None if node is None or node in self.grains.pending else self.grains.masked.vectors([node])
            if one := self.entry(record, beside.get(iri, ()), vectors, masked):
                entries.append(one)
        written = list(dict.fromkeys([*iris, *records]))
        try:
            self._engine.put(entries, [iri for iri in iris if iri not in records])
        except EngineError:
            self._on_put(self, written, False)
            raise
        with self.lock:
            for one in entries:
                self._reached[one.iri] = one
            for iri in iris:
                if iri not in records:
                    self._reached.pop(iri, None)
            self._absent.difference_update(written)
        self._on_put(self, written, True)

    def _make_grains(self, records: Iterable[Record]) -> None:
        """Compute the grains that some memories lack, so that each question ranks by the same ones; without embedder leave them."""
        lacking = [one for one in records if one.kind == "memory" and self.nodes.find(one.iri) in self.grains.pending]
        pending = [self.list_grain_texts(one) for one in lacking]
        with suppress(EmbeddingError):
            if pending:
                self.put_grains(pending, self.embedder.embed([text for one in pending for text in one.texts if text]))

    def _read_companions(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> dict[IRI, list[Record]]:
        """Return the records that belong to some nodes, beside their own."""
        said: dict[tuple[IRI, IRI, IRI], dict[IRI, list[Value]]] = {}
        for row in self._store.select("search/companions", graphs, of=iris) if iris else ():
            place = (cast(IRI, row["of"]), cast(IRI, row["graph"]), cast(IRI, row["node"]))
            said.setdefault(place, {}).setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
        found: dict[IRI, list[Record]] = defaultdict(list)
        for (of, graph, node), statements in said.items():
            found[of].append(Record(node, graph, statements))
        return found

    def entry(
        self, record: Record, companions: Iterable[Record], vectors: Vectors, masked: Vectors | None = None
    ) -> Entry | None:
        """
        Learn a node and what belongs to it, and return its entry for the engine; None for a node without its own entry.

        Args:
            masked: (1, d) the masked vector of a memory; None if it is not known.
        """
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
            packed=pack_records(map(_shorten, (record, *beside.values())), masked),
        )


def _list_subjects(reached: Iterable[Entry]) -> list[Hit]:
    return [Hit(iri) for iri in dict.fromkeys(IRI(about) for one in reached for about in _subjects(one))]


def _ask_together(*calls: Callable[[], list[Any]]) -> list[list[Any]]:
    """Run some calls of an engine concurrently, as it mostly waits for files or the network, and return their results."""
    first, *rest = calls
    waiting = [_READERS.submit(copy_context().run, call) for call in rest]
    return [first(), *(one.result() for one in waiting)]


class Samples:
    """Estimate word frequencies in each graph from a sample of its memories, and count these; shared by all questions."""

    def __init__(self, engine: Engine, graph: Store) -> None:
        self._engine, self._graph = engine, graph
        self._known: OrderedDict[IRI, Frequencies] = OrderedDict()
        self._counts: dict[tuple[tuple[IRI, ...], tuple[str, ...]], tuple[int, int]] = {}

    def count(self, where: Where) -> int:
        """Count entries of any time; count again once a hundredth of them may have been written since."""
        writes = self._graph.writes
        key = (tuple(where.graphs), where.kinds)
        count, then = self._counts.get(key, (0, -1))
        if then < 0 or not 0 <= writes - then <= count // 100:
            count = self._engine.count(where)
            if len(self._counts) > _KEPT:
                self._counts.clear()
            self._counts[key] = count, writes
        return count

    def forget(self) -> None:
        """Forget everything, because the samples may contain erased words."""
        self._known.clear()
        self._counts.clear()

    def find(self, graph: IRI) -> Frequencies:
        """Return the frequencies of a graph; take a new sample when the graph has become a tenth larger or smaller."""
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
    Stand in for `Indexes`: within `pool` or `whole`, a thread has the indexes of its operation; outside of both it is refused.

    *Because:* code that reads the index need not know where it is held.
    """

    def __init__(
        self,
        graph: Store,
        embedder: Embedder,
        file: VectorFile,
        engine: Engine,
        settings: IndexSettings,
        name_store: Callable[[], str] = str,
    ) -> None:
        """
        Args:
            name_store: returns the id of the store.
        """
        self._name_store = name_store
        self.graph, self.embedder, self.file, self.engine = graph, embedder, file, engine
        self._settings = settings
        self._current: ContextVar[PooledIndexes | None] = ContextVar("pool", default=None)
        self._known: set[IRI] = set()
        self.is_late = False
        """Whether the engine lacks something that the store has."""
        self._lock = RLock()
        self._samples = Samples(engine, graph)
        self._age = 0
        self.on_put: Callable[[Sequence[IRI]], object] = lambda iris: None
        """Called with the nodes that the engine has now as the store has them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._find(is_part=name in _DOORS), name)

    def __getitem__(self, kind: Any) -> Any:
        return self._find()[kind]

    def __iter__(self) -> Any:
        return iter(self._find())

    @property
    def owner(self) -> str:
        """The owner that an engine records if it has the index of this store, with vectors of this embedder."""
        return f"{self._name_store()} {self.embedder.fingerprint}"

    @property
    def is_foreign(self) -> bool:
        """Whether the engine records no owner or another store or embedder; the log says which."""
        owner = self.engine.owner
        if owner and owner != self.owner:
            logger.warning("engine.foreign", extra={"engine": owner, "expected": self.owner})
        return owner != self.owner

    @property
    def lock(self) -> RLock:
        """The lock that a thread holds while it reads several indexes: that of its pool, if it has one."""
        found = self._current.get()
        return self._lock if found is None else found.lock

    def _find(self, *, is_part: bool = False) -> PooledIndexes:
        """Return the pool of this thread; load its graphs whole if nothing was loaded yet and `is_part` is not set."""
        found = self._current.get()
        if found is None:
            raise InputError("this needs the index of a whole memory: set index.kind = 'faiss'")
        graphs, found.unread = found.unread, None
        if graphs and not is_part:
            found.require_whole(graphs())
        return found

    def _create(self, graphs: Callable[[], Sequence[IRI]] | None = None) -> PooledIndexes:
        made = PooledIndexes(
            self.graph, self.embedder, self.engine, self._settings, self._note_put, self._samples, graphs
        )
        made.age = self._age
        return made

    def outdate(self) -> None:
        """Note that what every pool has loaded may have changed."""
        self._age += 1

    def restart(self) -> None:
        """Give this thread an empty pool if what it has loaded may have changed."""
        found = self._current.get()
        if found is not None and found.age != self._age:
            self._current.set(self._create(found.unread))

    def forget(self) -> None:
        """Drop what is known of the words of the whole memory."""
        self._known.clear()
        self._samples.forget()
        unpack_entry.cache_clear()

    def _note_put(self, pool: PooledIndexes, iris: Sequence[IRI], is_done: bool) -> None:
        self.is_late = self.is_late or not is_done
        if is_done:
            self.on_put(iris)

    @contextmanager
    def opened(
        self,
        graphs: Callable[[], Sequence[IRI]] | None = None,
        notices: list[str] | None = None,
        *,
        joins: bool = False,
    ) -> Iterator[None]:
        """
        Give the thread a pool until the block ends; without graphs within another such block, the pool of that one if it is read.

        Args:
            joins: take the pool of a block around this one even if nothing has read it yet.
            graphs: what is loaded whole if something is read before anything was loaded, see `require_whole`.
        """
        found = self._current.get()
        if graphs is None and found is not None and (joins or found.unread is None):
            yield
            return
        cut = _cut.set(_cut.get() if notices is None else notices)
        token = self._current.set(self._create(graphs))
        try:
            yield
        finally:
            if (made := self._current.get()) is not None and len(made.nodes):
                telemetry.observe("pool_nodes", len(made.nodes))
            self._current.reset(token)
            _cut.reset(cut)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Give the thread an empty pool until the block ends, whatever it has."""
        token = self._current.set(self._create())
        try:
            yield
        finally:
            self._current.reset(token)

    def has_whole(self, graphs: Sequence[IRI]) -> bool:
        found = self._current.get() or self._create()
        if has_whole := found.has_whole(graphs):
            found.unread = None
        return has_whole

    def read(self, iris: Sequence[IRI], graphs: Sequence[IRI]) -> list[Record]:
        return self._create().read(iris, graphs)

    def knows(self, graph: IRI) -> bool:
        """Tell whether a graph describes a node."""
        if graph not in self._known and self.engine.count(Where(graphs=[graph], kinds=())):
            self._known.add(graph)
        return graph in self._known

    def count_current(self, graphs: Sequence[IRI], now: datetime) -> int:
        """Count the memories of some graphs that hold."""
        return self.engine.count(Where(graphs=graphs, current=milliseconds(now)))

    def count_nodes(self) -> int:
        """Count the nodes of all graphs."""
        return self.engine.count(Where(graphs=(), kinds=_NODES))

    def close(self) -> None:
        self.forget()
        self.engine.close()

    def purge(self) -> None:
        """Remove erased data from the files of the engine and from this process."""
        self.forget()
        self.engine.purge()

    def check(self) -> list[Difference]:
        """Return the differences between engine and graph; change nothing."""
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


def list_kept(graph: Store) -> Iterator[tuple[IRI, IRI]]:
    """Yield the nodes that an engine has entries for, and the graphs that describe them."""
    for record in read_records(graph, find_predicates()):
        types = record.statements.get(TYPE, ())
        if record.kind is not None or MEM.Name in types or MEM.Fading in types:
            yield record.iri, record.graph


def _list_owners(record: Record) -> list[IRI]:
    """Return the nodes that a record belongs to by its own statements; a claim and a link from a key belong to their memory."""
    types = record.statements.get(TYPE, ())
    names = [MEM.statedBy, MEM.invalidated, MEM.to, MEM.denotes] + ([MEM["from"]] if MEM.Association in types else [])
    return [value for name in names for value in record.statements.get(name, ()) if isinstance(value, IRI)]


def _shorten(record: Record) -> Record:
    """Return a record without the predicates that no index reads."""
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
        yield from (f"slot:{relation}" for one in beside if (relation := one.first(MEM.relationName)))
        if place:
            yield f"turn:{place[0]}#{place[1]}"
        return
    if MEM.Fading in record.statements.get(TYPE, ()):
        yield "setting"
    for one in (record, *(one for one in beside if MEM.denotes in one.statements)):
        yield from (f"label:{label}" for label in read_labels(one))
        yield from (f"label:{label}" for name in one.labels if (label := normalise_label(name)))


def _subjects(entry: Entry) -> list[str]:
    """Return the subjects of a memory, its mentions, and the keys that lead to it."""
    return [key.removeprefix("about:") for key in entry.keys if key.startswith("about:")]


def _turns(entry: Entry) -> list[tuple[str, str]]:
    return [
        (session, place)
        for key in entry.keys
        if key.startswith("turn:")
        for session, _, place in [key[5:].rpartition("#")]
    ]


def _list_labels(text: str) -> set[str]:
    """Return every run of words in a text, each of which may be a name, written as labels are."""
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


def _fuse(*rankings: Sequence[Hit]) -> list[Hit]:
    """Merge some rankings by the sum of the reciprocal ranks."""
    scores: dict[IRI, float] = defaultdict(float)
    entries: dict[IRI, Entry | None] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking):
            scores[hit.iri] += 1 / (60 + rank)
            entries[hit.iri] = hit.entry or entries.get(hit.iri)
    return [Hit(iri, scores[iri], entries[iri]) for iri in sorted(scores, key=lambda iri: (-scores[iri], iri))]
