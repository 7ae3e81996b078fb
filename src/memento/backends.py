"""Choose the concrete backends: store, embedder and indexes. No other file does this."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from shutil import rmtree
from socket import gethostname
from threading import Lock
from time import monotonic
from typing import cast
from uuid import uuid4

import faiss

from memento.datadir import DataFolder, cache_folder
from memento.errors import BackendError, Damaged, GraphError, InputError, SettingsError
from memento.graph.agreement import Agreed, Review, adopt_store, is_of_ontology, join_store, load_ontology, review_store
from memento.graph.backups import (
    discard_backups,
    drop_fallback,
    finish_restore,
    list_all_backups,
    seal_closed,
    use_fallback,
)
from memento.graph.endpoint import SparqlClient
from memento.graph.feed import Entry, WriteLock
from memento.graph.inferences import Inferences
from memento.graph.oxigraph import Oxigraph, finish_rewriting, rewrite, tidy, wait_until_released
from memento.graph.probe import raise_if_unfit
from memento.graph.ranges import Aside
from memento.graph.remote import RemoteStore
from memento.graph.snapshot import Snapshots, delete_snapshots
from memento.graph.store import Delta, Store
from memento.iris import CASES, IRI, MEM, TYPE, self_iri, tenant_of
from memento.model import Change, Degraded, Scope
from memento.ports import Progress
from memento.search import cache
from memento.search.databases import open_engine
from memento.search.embedders import Cached, embedder_of
from memento.search.grains import list_grains
from memento.search.indexes import Indexes, split_memory
from memento.search.mentions import find_mentions
from memento.search.nearest import KindVectors
from memento.search.nodes import Record, is_indexed
from memento.search.pool import Pools
from memento.search.vectors import (
    CLAIMED,
    UPGRADED,
    VectorFile,
    delete_vector_file,
    finish_replacing,
    open_vector_file,
    read_marks,
    replace_vector_file,
)
from memento.settings import SHARED_INDEX, EmbeddingSettings, Settings
from memento.time import now
from memento.worker import Worker

logger = logging.getLogger(__name__)

_PATIENCE_S = 30.0  # to wait for readers of a store that is to be closed
_AT_MOST_S = 600.0
_QUIET_S = 0.5  # after the last write, before grains are computed in the background: an import goes first
_GRAINED_AT_ONCE = 8  # memories whose grains are computed together; few, so that questions are answered in between
_PORTION = 5_000  # nodes that the indexes reload at once


@dataclass(frozen=True, slots=True)
class CopyCache:
    """
    A cache of texts from memories: how to drop some copies, how to close its files and connections, and how to drop all copies.
    """

    forget: Callable[[Sequence[IRI]], None]
    close: Callable[[], None]
    clear: Callable[[], None]


@dataclass(slots=True)
class Backends:
    """The stores of one memory: graph, indexes and embedder, for all packages above."""

    graph: Store
    embedder: Cached
    indexes: Indexes
    datadir: DataFolder
    snapshots: Snapshots
    inferences: Inferences
    aside: Aside
    degraded: Degraded | None = None
    """Set while a backup is read in place of the store, which is then read-only."""
    harm: str | None = None
    """The damage found when the store's files were last read completely."""
    erasures: int = 0
    """The number of erasures: earlier copies still contain the erased texts."""
    forget_listeners: list[Callable[[], None]] = field(default_factory=list)
    """Listeners for forgetting, for texts that were made from several memories."""
    warm: bool = field(default=False)
    followed: int = 0
    """The number of writes by other nodes: a decision made before one, and not written yet, may be outdated."""
    is_away: bool = False
    """Whether a shared store could not be asked for the writes of other nodes."""
    is_following: bool = False
    """
    Whether a write of another node is being followed: that node has already made the changes to the graph that a writer makes.
    """
    agreed: Sequence[Agreed] = ()
    """The settings that must be the same on all nodes of a shared store."""
    review: Review = Review()
    """How this node differs from the others of a shared store."""
    is_migrating: bool = False
    """Whether vectors of another embedder are being built beside those in use."""
    _is_erased: bool = field(default=False)
    _is_closed: bool = field(default=False)
    caches: list[CopyCache] = field(default_factory=list)
    return_listeners: list[Callable[[], None]] = field(default_factory=list)
    """Listeners for the return of a store behind an endpoint that was unavailable."""
    change_listeners: list[Callable[[Change | None], None]] = field(default_factory=list)
    """Listeners for every change, called right after the write; None means any change."""
    write_listeners: list[Callable[[Collection[IRI] | None], None]] = field(default_factory=list)
    """
    Listeners for the graphs that were written, called right after the write; None means any graph. Changes by use are not reported.
    """
    clock: Callable[[], datetime] = now
    """The clock: the record time of writes, and the default time of a question."""
    _sealing: Lock = field(default_factory=Lock)
    _sealer: Worker | None = None
    _grainer: Worker | None = None
    _written_at: float = 0.0
    """When memories without grains were last written, by `time.monotonic`."""
    _has_erased_text: bool = False
    _followers: list[Worker] = field(default_factory=list)
    _owner: str = ""
    """The store and embedder that the engine of a shared index is known to have been filled from."""
    _indexed: int = -1
    """The last write that the engine of a shared index is known to contain; -1 if unknown."""
    _lagging: int = -1
    """The last write in the engine when it was last found behind the store."""

    def load_embedder(self) -> None:
        """Load the embedder; raises `MissingPart` or `EmbeddingError` if it cannot be loaded."""
        # Use the model itself: the cache would answer without loading it.
        self.embedder.embedder.embed(["warm"])

    def commit(self, change: Change, scope: Scope) -> None:
        """
        Write a change, then update the indexes: when this returns, the next recall sees it. New memories get edges to the entities
        that their texts name.

        If the process dies between the two, the next start repairs the indexes from the graph.

        Raises:
            EmbeddingError: the additions cannot be embedded; nothing was written.
            GraphError: the store refused; nothing was written.
        """
        with self.indexes.pool():
            self._commit(change, scope)

    def _commit(self, change: Change, scope: Scope) -> None:
        texts = [
            str(value) for _, predicate, value, _ in change.adds if predicate in (MEM.content, MEM.title, MEM.name)
        ]
        self.indexes.bring(
            scope.readable, texts=texts, iris=list(dict.fromkeys(quad[0] for quad in (*change.removes, *change.adds)))
        )
        change += find_mentions(change, self.indexes)
        made = self.indexes.find_made(change, scope.readable)
        vectors = self.indexes.anticipate(change)
        self.apply(change)
        # No index contains nodes of other graphs, such as provenance.
        touched = [quad for quad in (*change.removes, *change.adds) if quad[3] in scope.readable]
        ends = (quad[2] for quad in touched if quad[1] == MEM.to and isinstance(quad[2], IRI))
        self.indexes.refresh(
            list(dict.fromkeys([*(quad[0] for quad in touched), *ends])), scope.readable, made, vectors
        )
        self._follow_grains(made)
        self._note_indexed()
        self.aside.look_at(dict.fromkeys(quad[0] for quad in (*change.removes, *change.adds)))

    def _follow_grains(self, made: Sequence[Record]) -> None:
        """Store the grains of new memories whose texts were embedded with their note; wake the worker for the others."""
        if self.indexes.is_pooled or not self.indexes.grains.pending:
            return
        for record in made:
            if record.kind == "memory":
                one = self.indexes.list_grain_texts(record)
                vectors = self.embedder.find_known([text for text in one.texts if text])
                if vectors is not None:
                    self.indexes.put_grains([one], vectors)
        if self.indexes.grains.pending:
            self.wake_grains()

    def wake_grains(self) -> None:
        """Compute the grains that memories lack in the background."""
        self._written_at = monotonic()
        if not (self.indexes.is_pooled or self._is_closed):
            self._grainer = self._grainer or Worker(self._make_grains, "grains")
            self._grainer.wake()

    def _make_grains(self) -> float | None:
        """Compute the grains of the next memories, unless something is being written; return when to go on, if at all."""
        if not self.indexes.grains.pending:
            return None
        if (wait_s := self._written_at + _QUIET_S - monotonic()) > 0:
            return wait_s
        begun = monotonic()
        some = self.indexes.read_pending(_GRAINED_AT_ONCE)
        texts = [text for one in some for text in one.texts if text]
        self.indexes.put_grains(some, self.embedder.embed_aside(texts))
        logger.info("grains.made", extra={"memories": len(some), "left": len(self.indexes.grains.pending)})
        return monotonic() - begun  # half of the time is for others

    def reinforce(self, change: Change, memories: Sequence[IRI], done: Callable[[], None]) -> None:
        """
        Write the effects of use on some memories and their links: numbers and weights, and keys that were not written yet.

        Args:
            done: called when the indexes contain the change, before they can be read again.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        with self.indexes.pool():
            self._reinforce(change, memories, done)

    def _reinforce(self, change: Change, memories: Sequence[IRI], done: Callable[[], None]) -> None:
        self.indexes.anticipate(change)
        if change.adds or change.removes:
            self.graph.apply(change)
        with self.indexes.lock:
            graphs = list(dict.fromkeys(quad[3] for quad in (*change.adds, *change.removes)))
            self.indexes.refresh([quad[0] for quad in change.adds if quad[1:3] == (TYPE, MEM.Key)], graphs)
            self.indexes.recount(memories, graphs)
            self._note_indexed()
            done()
        self.aside.look_at(memories)

    def reschedule(self, change: Change, memories: Sequence[IRI], graph: IRI) -> None:
        """
        Write a change that only sets until when some memories of a graph are believed: the indexes have nothing else to read.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        self.apply(change)
        with self.indexes.pool():
            self.indexes.reschedule(memories, graph)
        self._note_indexed()

    def amend(self, delta: Delta, touched: Sequence[IRI], graphs: Sequence[IRI], texts: Sequence[str]) -> None:
        """
        Write the changes of a SPARQL update, then update the indexes: when this returns, the next recall sees them.

        Args:
            touched: the nodes that the indexes must reload, in `graphs`.
            texts: removed texts, all copies of which are erased too, as in `erase`.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        if texts:
            self._begin_erasing()
        if touched and delta.removed:
            cache.discard(self.datadir.indexes, self.indexes)  # an update of the saved indexes would only add to them
        self.graph.apply_delta(delta, touched)
        for begin in range(0, len(touched), _PORTION):
            with self.indexes.pool():
                self.indexes.revise(touched[begin : begin + _PORTION], graphs)
        self._follow_grains(())
        self._note_indexed()
        self.aside.look_at(touched)
        if texts:
            self.indexes.purge()
            self.snapshots.drop()
            self._discard_texts(texts)
        self.tell_writing(None)

    def tell_writing(self, graphs: Collection[IRI] | None) -> None:
        """Notify the caches of answers which graphs were written; None is any."""
        for notify in self.write_listeners:
            notify(graphs)

    def switch_embedder(self, embedder: Cached, beside: VectorFile, commit: Callable[[], None]) -> None:
        """
        Switch to the vectors of another embedder, from a complete file built beside the current one: each read sees either the old
        or the new vectors. Nobody may write meanwhile; the indexes are locked only for a moment.

        Args:
            commit: makes the embedder that of the next start too. A kill before it leaves the old vectors, a kill after it the new.

        Raises:
            GraphError: a file could not be moved; the next start completes the switch.
        """
        if isinstance(self.indexes, Pools):
            raise InputError(
                "an engine holds the index, so the embedder cannot change while the service runs: "
                "restart it, which rebuilds the index"
            )
        indexes, path = self.indexes, self.datadir.vectors
        with indexes.lock:
            vectors = KindVectors(indexes, embedder.dimensions)
        vectors.fill_vectors(beside)
        cache.discard(self.datadir.indexes, indexes)
        beside.take_marks(indexes.file)
        note_embedding(beside, embedder)
        beside.flush()
        commit()
        with indexes.lock:
            indexes.file.close()
            beside.close()
            try:
                replace_vector_file(path, self.datadir.next_vectors)
            except OSError as error:
                raise GraphError(f"{path} could not be replaced: restart, which replaces it") from error
            indexes.switch_embedder(embedder, VectorFile(path, embedder.fingerprint), vectors)
            self.embedder = embedder
        self.wake_grains()
        for listener in self.change_listeners:
            listener(None)
        self.tell_writing(None)

    def apply(self, change: Change) -> None:
        """
        Write a change that no index contains; caches of data from the graph are notified.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        self.graph.apply(change)
        for notify in self.change_listeners:
            notify(change)
        self.tell_writing({quad[3] for quad in (*change.removes, *change.adds)})

    @property
    def is_shared(self) -> bool:
        """Whether other nodes may write to the store."""
        return isinstance(self.graph, RemoteStore)

    def make_write_lock(self) -> AbstractContextManager[object]:
        """Return the write lock: of this process, and of all nodes if they share a store."""
        return WriteLock(self.graph.turn) if isinstance(self.graph, RemoteStore) else Lock()

    def begin_following(self, graph: RemoteStore) -> None:
        """Keep the write turn alive while this node has it, and mend the engine where another node has died, until `close`."""
        graph.on_follow, graph.on_turn = self._follow_entries, self._mend_engine

        def look_at_engine() -> float:
            with suppress(BackendError):  # the next round checks again
                self._take_over(graph)
            return graph.turn.lease_s

        def renew_turn() -> float:
            with suppress(GraphError):
                graph.turn.renew()
            return graph.turn.lease_s / 8

        assert isinstance(self.indexes, Pools)  # the settings see to it
        self.indexes.on_debt = self._pay_debt
        self._followers = [Worker(renew_turn, "turn"), Worker(look_at_engine, "engine")]
        for worker in self._followers:
            worker.wake()

    def catch_up(self) -> None:
        """
        Drop what this node knows of a shared store if another node has written since, and put into the engine what a write has left
        out. Does nothing if the store is not shared.
        """
        graph = self.graph
        if not isinstance(graph, RemoteStore):
            return
        try:
            graph.follow_feed()
            if self.review.lacks_ontology:  # a backup without it was restored
                self._take_review(join_store(graph, self.agreed, is_alone=False))
        except BackendError as error:  # the caller's own request will report the failure
            if not self.is_away:
                logger.warning("feed.not-followed", extra={"error": type(error).__name__})
            self.is_away = True
            return
        if self.is_away:
            self.is_away = False
            logger.warning("feed.followed-again")
            for notify in self.return_listeners:
                notify()

    @property
    def own_writes(self) -> int:
        """How often this thread has written to a shared store."""
        return self.graph.own_writes if isinstance(self.graph, RemoteStore) else 0

    def _note_indexed(self) -> None:
        """Record that the indexes contain what was written; hold the write lock."""
        if not (isinstance(self.indexes, Pools) and isinstance(self.graph, RemoteStore)):
            self.indexes.note_followed()
        elif self.indexes.is_late or self._indexed < 0:
            self._mend_engine()
        else:
            self._indexed = self.graph.writes
            self.indexes.engine.put([], seen=self._indexed)

    def _mend_engine(self) -> None:
        """
        Write into a shared engine what the store contains and it lacks: from a node that died in between, or from a failed call of
        the engine. This node must hold the write lease.
        """
        pools, graph = self.indexes, self.graph
        if not (isinstance(pools, Pools) and isinstance(graph, RemoteStore)) or graph.failure is not None:
            return
        last, engine = graph.writes, pools.engine
        if self._indexed == last and not pools.is_late and pools.owner == self._owner:
            return
        seen = engine.seen
        if (
            pools.is_foreign or not 0 < seen <= last
        ):  # filled from another store or embedder, empty, or the store was restored
            pools.rebuild()
            engine.put([], seen=last)
        elif seen != last or pools.is_late:
            self._follow_indexes(graph.changes(seen))
            engine.put([], seen=last)
        self._indexed, self._owner, pools.is_late = last, pools.owner, False

    def rebuild_indexes(self, progress: Progress | None) -> int:
        """
        Rebuild every index from the graph alone; return how many nodes were embedded. Hold the write lock.

        Raises:
            EngineError: an engine failed; another attempt starts over.
        """
        pools, graph = self.indexes, self.graph
        if not (isinstance(pools, Pools) and isinstance(graph, RemoteStore)):
            done = pools.rebuild(progress)
            self.wake_grains()
            return done
        graph.note_step()  # if this node dies, the others see that the engine is incomplete
        self._indexed = -1
        done = pools.rebuild(progress)
        pools.engine.put([], seen=graph.writes)
        self._indexed, self._owner = graph.writes, pools.owner
        return done

    def _take_over(self, graph: RemoteStore) -> None:
        """Repair the engine if it has been behind for a while: the node responsible has died."""
        if not isinstance(self.indexes, Pools) or graph.failure is not None:
            return
        seen = self.indexes.engine.seen
        is_other = self._owner not in ("", self.indexes.owner)
        if is_other or (
            seen != graph.writes and seen == self._lagging
        ):  # it is ahead of the store if a backup was restored
            self._indexed = -1
            with graph.turn:  # acquiring it repairs the engine
                pass
        self._lagging = seen

    def _follow_indexes(self, entries: Sequence[Entry]) -> None:
        """Put what some writes have changed into the engine."""
        everything = any(entry.told.is_whole and not entry.told.graphs for entry in entries)
        graphs = list(dict.fromkeys(IRI(graph) for entry in entries for graph in entry.told.graphs))
        indexed = list(dict.fromkeys([one for name in filter(is_indexed, graphs) for one in _list_described(name)]))
        # A blank node belongs to somebody's own RDF, and no index contains it.
        nodes = list(
            dict.fromkeys(IRI(one) for entry in entries for one in entry.told.subjects if not one.startswith("_:"))
        )
        whole = (IRI(graph) for entry in entries if entry.told.is_whole for graph in entry.told.graphs)
        if everything or any(map(is_indexed, whole)):
            self.indexes.rebuild()
            self.aside.look()
        elif indexed:
            for begin in range(0, len(nodes), _PORTION):
                some = nodes[begin : begin + _PORTION]
                rows = self.graph.select("feed/pointing", indexed, node=some)
                pointing = list(dict.fromkeys([*some, *(IRI(str(row["subject"])) for row in rows)]))
                with self.indexes.pool():
                    self.indexes.revise(pointing, indexed)
            self.aside.look_at(nodes)

    def _follow_entries(self, entries: Sequence[Entry]) -> None:
        """
        Drop what this node knows and other nodes have changed. A shared engine was already updated by the writer.
        """
        everything = any(entry.told.is_whole and not entry.told.graphs for entry in entries)
        graphs = list(dict.fromkeys(IRI(graph) for entry in entries for graph in entry.told.graphs))
        nodes = list(dict.fromkeys(IRI(one) for entry in entries for one in entry.told.subjects))
        forgets = any(entry.told.forgets for entry in entries)
        if isinstance(self.graph, RemoteStore) and (everything or is_of_ontology(graphs)):
            self._take_review(review_store(self.graph, self.agreed))
        self.is_following = True
        try:
            assert isinstance(self.indexes, Pools)  # the settings see to it
            if everything or forgets:
                self.indexes.forget()
            if self.indexes.is_begun:
                self._evict_written(self.indexes, entries)
            if everything:
                self.aside.look()
            else:
                self.aside.look_at(nodes)
            if forgets or everything:
                self.snapshots.drop()
                for copies in self.caches:
                    copies.forget(nodes)
                for notify in self.forget_listeners:
                    notify()
            if everything or any(graph.startswith(CASES) for graph in graphs):
                for listener in self.change_listeners:
                    listener(None)
            if everything or not all(entry.told.is_quiet for entry in entries):
                self.followed += 1
                self.tell_writing(None if everything else graphs)
        finally:
            self.is_following = False

    def _take_review(self, review: Review) -> None:
        """Allow or forbid writes by this node."""
        if review.refusal is not None and review.refusal != self.graph.failure:
            logger.error("node.refused", extra={"reason": review.refusal})
        self.graph.failure, self.review = review.refusal, review

    def _evict_written(self, pools: Pools, entries: Sequence[Entry]) -> None:
        """Invalidate in the pool of this thread what other nodes have written, and what depends on it."""
        if any(entry.told.is_whole for entry in entries):
            pools.restart()
            return
        for entry in entries:
            nodes = [IRI(one) for one in entry.told.subjects if not one.startswith("_:")]
            indexed = [one for name in map(IRI, entry.told.graphs) if is_indexed(name) for one in _list_described(name)]
            if indexed and nodes:
                rows = self.graph.select("feed/pointing", indexed, node=nodes)
                pointing = list(dict.fromkeys([*nodes, *(IRI(str(row["subject"])) for row in rows)]))
                pools.evict(pointing, indexed)

    def _pay_debt(self) -> None:
        """Put into the engine what a node that died has left out; a node that is writing does so itself."""
        graph = self.graph
        assert isinstance(graph, RemoteStore)
        with suppress(BackendError):  # the caller's own request will report the failure
            if not graph.feed.read_head().lease:
                with graph.turn:  # acquiring it mends the engine
                    pass

    def invalidate_copies(self, iris: Sequence[IRI]) -> None:
        """
        Remove some texts of memories and notes from every cache; delete the file of a cache that does not run.

        Raises:
            GraphError: a copy could not be removed.
        """
        for copies in self.caches:
            copies.forget(iris)
        for notify in self.forget_listeners:
            notify()
        if not self.caches:
            try:
                self.datadir.delete_blocks()
            except OSError as error:
                raise GraphError(f"{self.datadir.blocks} still holds what was to be forgotten: delete it") from error

    def erase(self, change: Change, scope: Scope, texts: Sequence[str]) -> None:
        """
        Remove quads and every copy of some texts.

        The vectors are overwritten at once; the store's own files are rewritten at the next start.
        """
        self.erasing()
        self.commit(change, scope)
        self.indexes.purge()
        self.inferences.forget_tenant(scope.tenant)
        self.snapshots.drop()
        self._discard_texts(texts)

    def _discard_texts(self, texts: Sequence[str]) -> None:
        """Delete the vectors of some texts, of their sentences and of their grains from the cache."""
        parts = [part for text in texts for part in (*split_memory(text), *list_grains(text, is_turn=False))]
        self.embedder.discard([*texts, *parts])

    def erasing(self) -> None:
        """Prepare the erasure of text: the next start rewrites the store's own files, and the current indexes are not saved."""
        self._begin_erasing()
        cache.discard(self.datadir.indexes, self.indexes)

    def _begin_erasing(self) -> None:
        self.datadir.erasure_mark.touch()
        self._is_erased = True
        self.erasures += 1
        for notify in self.forget_listeners:
            notify()
        discard_backups(self.datadir.checkpoints)
        if not self.is_migrating:  # the migration updates its file itself
            delete_vector_file(self.datadir.next_vectors)

    def seal(self) -> None:
        """
        Write the archive of an encrypted folder in use, and delete the journal before it; does nothing for a plain folder.

        Raises:
            OSError: the disk is full; the journal continues.
            GraphError: the store cannot be copied.
        """
        with self._sealing:
            if self.datadir.journal is None or self.datadir.vault is None:
                return
            folder = self.datadir.work / "sealing"
            rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            try:
                with self.indexes.file.pin() as pinned:
                    pinned.hold()
                    sequence = self.graph.end_segment(folder / "store")
                    pinned.copy(folder / "vectors.sqlite")
                self.datadir.vault.seal(sorted(folder.iterdir()), sequence)
            finally:
                rmtree(folder, ignore_errors=True)

    def seal_when_long(self) -> None:
        """Write the archive in the background whenever the journal has become long."""
        if self.datadir.journal is not None:
            self._sealer = self._sealer or Worker(self.seal, "sealing")
            self.datadir.journal.on_long = self._sealer.wake

    def _seal_closed(self) -> None:
        """Write the archive at the end; if that fails, the next start reads the journal instead."""
        journal, vault = self.datadir.journal, self.datadir.vault
        is_changed = self._is_erased or self.datadir.captures.exists()
        if journal is None or vault is None or not (is_changed or journal.sequence != vault.sequence):
            return
        try:
            seal_closed(self.datadir)
            if not self._has_erased_text:
                self.datadir.erasure_mark.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("folder.not-sealed", extra={"folder": str(self.datadir.path), "error": error.strerror})

    def _rewrite_erased(self) -> None:
        """Rewrite the store of an encrypted folder without the erased texts, before it is sealed."""
        self._has_erased_text = self.datadir.erasure_mark.exists()
        if self.datadir.journal is None or not self._has_erased_text:
            return
        try:
            wait_until_released(self.datadir.store, wait_s=_PATIENCE_S)
            rewrite(self.datadir.store)
            self._has_erased_text = False
        except GraphError as error:  # the next start does it
            logger.warning("store.not-rewritten", extra={"folder": str(self.datadir.store), "error": str(error)})

    def close(self) -> None:
        """Save the indexes for the next start and close the files. You may call this twice."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._sealer is not None:
            self._sealer.stop(_AT_MOST_S)
        if self._grainer is not None:
            self._grainer.stop(_AT_MOST_S)
        for worker in self._followers:
            worker.stop(_PATIENCE_S)
        for copies in self.caches:
            copies.close()
        try:
            if not self._is_erased and self.graph.is_on_disk:  # the indexes still contain words of the erased texts
                _save_indexes(self.datadir, self.indexes)
        finally:
            self.snapshots.close()
            self.graph.close()
            if isinstance(self.indexes, Pools):
                self.indexes.close()
            if self.graph.is_on_disk:
                self._rewrite_erased()
                _tidy_store(self.datadir, self.indexes)
                cache.note_closed(self.indexes, cache.fingerprint_files(self.datadir.store))
            self.indexes.file.close()
            self._seal_closed()
            drop_fallback(self.datadir)


def open_backends(
    datadir: DataFolder,
    settings: Settings,
    *,
    mends: bool = True,
    keep: Callable[[Store, str], object] | None = None,
    progress: Progress | None = None,
) -> Backends:
    """
    Open the embedded stores of a data folder that this process owns; indexes match the graph when this returns, unless not `mends`.

    A damaged store is left as it is; a backup is read in its place, and the result is `degraded`.

    Args:
        keep: called with the store and the fingerprint before vectors of another embedder are replaced.

    Raises:
        Damaged: the store cannot be read, and there is no backup in the folder.
        GraphError: the store or the vector file cannot be opened.
        MissingPart: the ontology or the embedder's files are not installed.
        SettingsError: the vectors are to stay those of another model, and that model is unknown.
    """
    # Spinning threads slow each other down several times on the two cores of a small machine.
    faiss.omp_set_num_threads(settings.embedding.threads)
    delete_snapshots(
        datadir.snapshots
    )  # left by a kill; delete them before the rewrite, which must leave nothing of the old files
    drop_fallback(datadir)  # a kill leaves a copy
    finish_restore(datadir)
    is_shared = settings.store.kind == "sparql"
    # A cache of embedded texts outside the folder would reveal texts of an encrypted one, and texts that another node erases.
    keeps = settings.embedding.cache and datadir.vault is None and not is_shared
    embedder = _choose_embedder(datadir, replace(settings.embedding, cache=keeps))
    if is_shared:
        return _open_shared(datadir, settings, embedder, mends=mends)
    degraded = None
    try:
        graph, indexes, inferences, aside = _open_store(
            datadir, settings, embedder, mends=mends, keep=keep, progress=progress
        )
    except Damaged as damage:
        degraded = use_fallback(datadir, damage)
        graph, indexes, inferences, aside = _open_store(datadir, settings, embedder, mends=mends, progress=progress)
    parts = Backends(
        graph, embedder, indexes, datadir, Snapshots(graph, datadir.snapshots), inferences, aside, degraded
    )
    parts._is_erased = not mends  # indexes that may not match the graph are not saved
    parts.seal_when_long()
    return parts


def _open_shared(datadir: DataFolder, settings: Settings, embedder: Cached, *, mends: bool) -> Backends:
    """Open the stores over an endpoint: everything about them in the data folder is derived."""
    if datadir.vault is not None:
        raise SettingsError(
            f"{datadir.path} is encrypted and has a store of its own, which store.kind = sparql would ignore: choose another --home"
        )
    if datadir.store.is_dir() and any(datadir.store.iterdir()):
        raise SettingsError(
            f"{datadir.path} has a store of its own, which store.kind = sparql would ignore: choose another --home, and move "
            "its memory there with `memento export` and `memento import`"
        )
    if settings.index.kind == "faiss":
        raise SettingsError(SHARED_INDEX)
    graph = _connect(settings)
    is_alone = datadir.is_of_worker  # except for workers over the same folder, which have the same settings
    agreed = () if is_alone else _list_agreed(settings, embedder.fingerprint)
    try:
        datadir.erasure_mark.unlink(missing_ok=True)
        graph.most_copied = settings.store.snapshot_quads
        file = open_vector_file(datadir.vectors, embedder.fingerprint)
        note_embedding(file, embedder)
        review = join_store(graph, agreed, is_alone=is_alone)
        engine = open_engine(settings.index, embedder.dimensions, datadir.index_copy)
        assert engine is not None
        pools = Pools(graph, embedder, file, engine, settings.index, lambda: graph.id, is_shared=True)
        indexes = cast(Indexes, pools)  # the first node with the write lease fills the engine
        aside = _set_aside(graph, indexes, is_ours=False)
    except BaseException:
        graph.close()
        raise
    parts = Backends(
        graph,
        embedder,
        indexes,
        datadir,
        Snapshots(graph, datadir.snapshots),
        Inferences(Oxigraph()),  # empty: the settings refuse inference
        aside,
        agreed=agreed,
        review=review,
    )
    parts.begin_following(graph)
    if mends:
        with graph.turn:
            parts._mend_engine()
    return parts


def _list_agreed(settings: Settings, fingerprint: str) -> tuple[Agreed, ...]:
    """List the settings that must be the same on all nodes of a shared store."""
    engine, redaction = settings.index, settings.redaction
    place = sha256(f"{engine.kind} {engine.uri}".encode()).hexdigest()[:16]
    return (
        Agreed(
            name=f"embedding of the index {place}",
            value=fingerprint,
            harm="the index that they share would hold vectors that do not go together",
            is_needed=True,
        ),
        Agreed(
            name="index.kind with index.uri",
            value=place,
            harm="what one node writes the index of another has only after store.lease_s",
            is_shown=False,
        ),
        Agreed(
            name="consolidation.time_zone",
            value=settings.consolidation.time_zone,
            harm="what yesterday means depends on who takes a note",
        ),
        Agreed(
            name="[redaction]",
            value=sha256(repr(redaction).encode()).hexdigest()[:16],
            harm="a secret that one node takes out another keeps",
            is_shown=False,
        ),
        Agreed(
            name="store.lease_s",
            value=f"{settings.store.lease_s:g}",
            harm="a node with a shorter one may take the turn from one that is alive, whose writer is then told to ask again",
        ),
    )


def adopt_shared_store(settings: Settings) -> str | None:
    """
    Write the ontology of this program to a shared store, and set these settings for all nodes. An index with vectors of another
    embedder is emptied; the next node that starts fills it again.

    Returns:
        the previous version of the ontology; None if there was none.

    Raises:
        SettingsError: the store is in a data folder, or cannot be used.
        GraphError: the endpoint failed, or has an ontology that this program cannot read.
        EngineError: the engine cannot be emptied.
    """
    if settings.store.kind != "sparql":
        raise SettingsError("store.kind is embedded: a data folder has one owner, who opens it as it is")
    embedder = embedder_of(replace(settings.embedding, cache=False), cache_folder())
    graph, agreed = _connect(settings), _list_agreed(settings, embedder.fingerprint)
    try:
        noted = graph.feed.read_agreed()
        before = adopt_store(graph, agreed)
        if any(one.is_needed and noted.get(one.name, one.value) != one.value for one in agreed):
            engine = open_engine(settings.index, embedder.dimensions)
            assert engine is not None
            with graph.turn:
                engine.clear()
            engine.close()
    finally:
        graph.close()
    return before


def _connect(settings: Settings) -> RemoteStore:
    """Open the store behind an endpoint; raises as `_open_shared`."""
    chosen = settings.store
    client = SparqlClient(
        chosen.query_url,
        chosen.update_url,
        token=chosen.token,
        timeout_s=chosen.timeout_s,
    )
    client.wait_until_there(
        chosen.start_s,
        lambda: logger.warning(
            "store.awaited", extra={"store": client.mask_url(chosen.query_url), "at_most_s": chosen.start_s}
        ),
    )
    if chosen.probe:
        raise_if_unfit(client)
    return RemoteStore(client, node=f"{gethostname()}:{os.getpid()}", lease_s=chosen.lease_s)


_STORE = "store-id"  # in the vector file: the id by which an engine that holds the index knows the store of this folder
_EMBEDDING = "embedding"  # in the vector file: the settings of the embedder that made it
_KEPT = ("provider", "model", "dimensions", "base_url", "provider_name", "max_chars")
"""The settings to compare, without keys."""


def _choose_embedder(datadir: DataFolder, settings: EmbeddingSettings) -> Cached:
    """Return the embedder of the settings, or the one that made the vectors if these are to stay."""
    chosen = embedder_of(settings, cache_folder())
    finish_replacing(datadir.vectors, datadir.next_vectors, chosen.fingerprint)
    marks = read_marks(datadir.vectors)
    made_by = marks.get("fingerprint", chosen.fingerprint)
    if settings.auto_migrate or made_by == chosen.fingerprint:
        return chosen
    if _EMBEDDING in marks:
        earlier = embedder_of(replace(settings, **json.loads(marks[_EMBEDDING])), cache_folder())
        if earlier.fingerprint == made_by:
            logger.warning("embedding.kept", extra={"embedder": made_by, "settings": chosen.fingerprint})
            return earlier
    raise SettingsError(
        f"the vectors were made by {made_by}, the settings say {chosen.fingerprint}, and auto_migrate of [embedding] is off: "
        "set the model of the vectors again, or set auto_migrate = true"
    )


def _list_described(graph: IRI) -> tuple[IRI, ...]:
    """List the graphs that may describe nodes named in a graph of memories: itself, and that of the user."""
    return (graph, self_iri(tenant_of(graph)))


def _name_store(file: VectorFile) -> str:
    """Return the id by which an engine knows the store of a folder; create it on first use."""
    if (name := file.get_mark(_STORE)) is None:
        name = uuid4().hex
        file.set_mark(_STORE, name)
    return name


def note_embedding(file: VectorFile, embedder: Cached) -> None:
    """Record in a vector file the settings of the embedder that makes it."""
    said = json.dumps({name: getattr(embedder.settings, name) for name in _KEPT})
    if file.get_mark(_EMBEDDING) != said:
        file.set_mark(_EMBEDDING, said)


def reopen(parts: Backends, settings: Settings, change: Callable[[], None]) -> None:
    """
    Close store and vectors while `change` replaces them, and open the new ones. Nobody may write meanwhile; a reader gets a
    `GraphError`.

    Raises:
        GraphError: the store could not be closed, or not be opened again.
    """
    for copies in parts.caches:
        copies.clear()
    for notify in parts.forget_listeners:
        notify()
    writes, has_failed = parts.graph.writes, parts.graph.failure is not None
    parts.graph.close()
    parts.indexes.file.close()
    try:
        wait_until_released(parts.datadir.store, wait_s=_PATIENCE_S)
        if has_failed and parts.datadir.vault is not None:
            parts.datadir.vault.fill_folder(again=True)  # the plain files in memory may be ahead of the journal
        change()
        parts.harm = None
        if parts.degraded:
            drop_fallback(parts.datadir)
            parts.degraded = None
    finally:
        wait_until_released(parts.datadir.store, wait_s=_AT_MOST_S)  # nothing works without a store
        graph, parts.indexes, parts.inferences, parts.aside = _open_store(parts.datadir, settings, parts.embedder)
        graph.count_from(writes + 1)
        graph.on_failure = parts.graph.on_failure
        parts.graph = graph
        parts.snapshots.switch_to(graph)
        for listener in parts.change_listeners:
            listener(None)
        parts.tell_writing(None)
        parts._is_erased = False
        parts.seal_when_long()


def _open_store(
    datadir: DataFolder,
    settings: Settings,
    embedder: Cached,
    *,
    mends: bool = True,
    keep: Callable[[Store, str], object] | None = None,
    progress: Progress | None = None,
) -> tuple[Oxigraph, Indexes, Inferences, Aside]:
    """
    Open store and indexes of a data folder, after completing what an earlier process left undone, and find statements that cannot
    be used.
    """
    finish_restore(datadir)
    finish_rewriting(datadir.store)
    replayed = bring_into_memory(datadir)
    datadir.adopt_erasures()
    if datadir.erasure_mark.exists():
        rewrite(datadir.store)
        if datadir.journal is not None:
            seal_closed(datadir)
        datadir.erasure_mark.unlink()
    raise_if_store_is_missing(datadir)
    before = cache.fingerprint_files(datadir.store)
    graph = Oxigraph(datadir.store)
    graph.journal = datadir.journal
    try:
        marks = read_marks(datadir.vectors)
        if keep and mends and marks.get("fingerprint", embedder.fingerprint) != embedder.fingerprint:
            keep(graph, marks["fingerprint"])
        file, land = open_vector_file(datadir.vectors, embedder.fingerprint), settings.land
        for name in (UPGRADED, CLAIMED):
            if name in marks:
                file.set_mark(name, marks[name])  # the mark is about the graph, whichever embedder made the vectors
        engine = open_engine(settings.index, embedder.dimensions, datadir.index_copy)
        if engine is None:
            indexes = Indexes(graph, embedder, file, land.flat, land.above)
        else:  # a new store is up to date
            name = _name_store(file)
            indexes = cast(Indexes, Pools(graph, embedder, file, engine, settings.index, lambda: name))
        note_embedding(file, embedder)
        is_ours = cache.note_opened(indexes, before) and not replayed
        load_ontology(graph)
        if isinstance(indexes, Pools):
            indexes.catch_up(is_ours=is_ours, progress=progress)
        elif not (is_ours and mends and cache.load_indexes(datadir.indexes, graph, indexes)):
            if mends or not is_ours:
                cache.discard(datadir.indexes, indexes)
            indexes.reconcile(progress, mends=mends)
            if mends:
                _save_indexes(datadir, indexes)
        graph.before_write = lambda iris: indexes.file.touch(iris)  # the file in use at that time
        inferences = Inferences(graph)
        aside = _set_aside(graph, indexes, is_ours)
    except BaseException:
        graph.close()
        raise
    return graph, indexes, inferences, aside


def raise_if_store_is_missing(datadir: DataFolder) -> None:
    """Raise `Damaged` if a folder has backups, vectors or indexes of a store, and no store: an empty one would hide the loss."""
    is_there = datadir.store.is_dir() and any(datadir.store.iterdir())
    if is_there or (datadir.vault is not None and any(datadir.vault.journal.segments())):
        return
    if found := list_all_backups(datadir):
        raise Damaged(
            f"the store {datadir.store} is missing, but {found[0]} is a backup of it; "
            f"move {datadir.checkpoints} and {datadir.backups} away to begin with an empty memory"
        )
    texts, kept = 0, datadir.indexes.is_dir() and any(datadir.indexes.iterdir())
    if datadir.vectors.is_file():
        with suppress(GraphError):  # a damaged file tells nothing
            texts = VectorFile.count_nodes(datadir.vectors)
    if texts or kept:
        left = " and ".join(map(str, [*([datadir.vectors] if texts else []), *([datadir.indexes] if kept else [])]))
        raise Damaged(f"the store {datadir.store} is missing, but files derived from it exist ({left})")


def finish_files(datadir: DataFolder) -> None:
    """
    Complete what an earlier owner left undone with the files of a store that another process is to serve, and remove erased texts
    from them and from checkpoints, which only the owner can do.

    Raises:
        GraphError: the store is open, or the disk is full; the next start tries again.
    """
    finish_restore(datadir)
    finish_rewriting(datadir.store)
    datadir.adopt_erasures()
    if datadir.erasure_mark.exists():
        discard_backups(datadir.checkpoints)
        rmtree(datadir.indexes, ignore_errors=True)  # they contain words of the erased texts
        wait_until_released(datadir.store, wait_s=_PATIENCE_S)
        rewrite(datadir.store)
        datadir.erasure_mark.unlink()


def bring_into_memory(datadir: DataFolder) -> bool:
    """Load the store of an encrypted folder into memory, with every write of its journal; return whether there were any."""
    journal = datadir.journal
    if journal is None or datadir.vault is None:
        return False
    datadir.vault.fill_folder()
    if journal.is_read:
        return False
    if not journal.segments():
        return any(journal.read_entries())
    graph = Oxigraph(datadir.store)
    try:
        replayed = graph.replay(journal) > 0
    finally:
        graph.close()
    wait_until_released(datadir.store, wait_s=_PATIENCE_S)
    if replayed:
        datadir.delete_blocks()  # they may contain texts forgotten meanwhile
    return replayed


def _set_aside(graph: Store, indexes: Indexes, is_ours: bool) -> Aside:
    """Find the statements that cannot be used: the saved list, if only this program has written since."""
    aside = Aside(graph, lambda text: indexes.file.set_mark("aside", text))
    if not (is_ours and aside.restore_counts(indexes.file.get_mark("aside"))):
        aside.look()
    statements, nodes = aside.within(lambda name: True)
    if statements:
        logger.warning("store.set-aside", extra={"statements": statements, "nodes": len(nodes)})
    return aside


def _tidy_store(datadir: DataFolder, indexes: Indexes) -> None:
    """Compact the store's files; if they cannot be rewritten they stay as they are."""
    try:
        packed = tidy(datadir.store, int(indexes.file.get_mark("packed") or 0))
        indexes.file.set_mark("packed", str(packed))
    except GraphError as error:
        logger.warning("store.not-tidied", extra={"folder": str(datadir.store), "error": str(error)})


def _save_indexes(datadir: DataFolder, indexes: Indexes) -> None:
    """Save the indexes if that is worth it; a full disk is no reason to fail."""
    if isinstance(indexes, Pools):
        return
    try:
        cache.save_if_late(datadir.indexes, indexes)
    except OSError as error:
        cache.discard(datadir.indexes, indexes)
        # The next start reads the graph instead.
        logger.warning("indexes.not-kept", extra={"folder": str(datadir.indexes), "error": error.strerror})
