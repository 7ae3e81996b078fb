"""Choose the concrete backends: store, embedder and indexes. No other file does this."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from shutil import rmtree
from threading import Lock
from time import monotonic
from typing import Any, Literal, TypeVar

import faiss

from memento import plugin
from memento.datadir import DataFolder, cache_folder
from memento.errors import Damaged, GraphError, SettingsError
from memento.graph.backups import (
    discard_backups,
    drop_fallback,
    finish_restore,
    list_all_backups,
    seal_closed,
    use_fallback,
)
from memento.graph.inferences import Inferences
from memento.graph.oxigraph import Oxigraph, finish_rewriting, rewrite, tidy, wait_until_released
from memento.graph.ranges import Aside
from memento.graph.snapshot import Snapshots, delete_snapshots
from memento.graph.store import Delta, Store
from memento.graph.version import load_ontology
from memento.iris import IRI, MEM, TYPE
from memento.model import Change, Degraded, Scope
from memento.ports import Progress
from memento.search import cache
from memento.search.embedders import Cached, embedder_of
from memento.search.grains import list_grains
from memento.search.indexes import Indexes, split_memory
from memento.search.nearest import KindVectors
from memento.search.nodes import Record
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
from memento.settings import EmbeddingSettings, Settings, find_provider
from memento.time import now
from memento.worker import Worker

logger = logging.getLogger(__name__)

T = TypeVar("T")

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
    forget_listeners: list[Callable[[bool], None]] = field(default_factory=list)
    """
    Listeners for forgetting, for texts made from several memories; called with whether this process forgets, and so has to
    remove what the graph has of them.
    """
    warm: bool = field(default=False)
    is_migrating: bool = False
    """Whether vectors of another embedder are being built beside those in use."""
    _is_erased: bool = field(default=False)
    _is_closed: bool = field(default=False)
    caches: list[CopyCache] = field(default_factory=list)
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
        change, made, vectors = self.indexes.prepare(change, scope.readable)
        self.apply(change)
        # No index contains nodes of other graphs, such as provenance.
        touched = [quad for quad in (*change.removes, *change.adds) if quad[3] in scope.readable]
        ends = (quad[2] for quad in touched if quad[1] == MEM.to and isinstance(quad[2], IRI))
        self.indexes.refresh(
            list(dict.fromkeys([*(quad[0] for quad in touched), *ends])), scope.readable, made, vectors
        )
        self._follow_grains(made)
        self.note_indexed()
        self.aside.look_at(dict.fromkeys(quad[0] for quad in (*change.removes, *change.adds)))

    def _follow_grains(self, made: Sequence[Record]) -> None:
        """Store the grains of new memories whose texts were embedded with their note; wake the worker for the others."""
        if not self.indexes.grains.pending:
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
        if not self._is_closed:
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
        self.indexes.anticipate(change)
        if change.adds or change.removes:
            self.graph.apply(change)
        with self.indexes.lock:
            graphs = list(dict.fromkeys(quad[3] for quad in (*change.adds, *change.removes)))
            self.indexes.refresh([quad[0] for quad in change.adds if quad[1:3] == (TYPE, MEM.Key)], graphs)
            self.indexes.recount(memories, graphs)
            self.note_indexed()
            done()
        self.aside.look_at(memories)

    def reschedule(self, change: Change, memories: Sequence[IRI], graph: IRI) -> None:
        """
        Write a change that only sets until when some memories of a graph are believed: the indexes have nothing else to read.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        self.apply(change)
        self.indexes.reschedule(memories, graph)
        self.note_indexed()

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
            self.indexes.revise(touched[begin : begin + _PORTION], graphs)
        self._follow_grains(())
        self.note_indexed()
        self.aside.look_at(touched)
        if texts:
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
        return False

    @property
    def differences(self) -> tuple[str, ...]:
        """How this node differs from the others of a shared store, without harm so far."""
        return ()

    def make_lock(self) -> AbstractContextManager[object]:
        """Return the lock of the writers of this process."""
        return Lock()

    def refresh(self) -> None:
        """Drop what is remembered of a store that others write too, if they have; called before each operation."""

    def run(
        self,
        call: Callable[[], T],
        *,
        is_read: bool = False,
        graphs: Callable[[], Sequence[IRI]] | None = None,
        notices: list[str] | None = None,
    ) -> T:
        """
        Do an operation; where others write too, once more if one of them was first.

        Args:
            graphs: the graphs of which it may read everything.
            notices: takes what an answer should say about what was left out.
        """
        return call()

    @contextmanager
    def decide(
        self, decide: Callable[[], T], writing: AbstractContextManager[object], *, is_quick: bool
    ) -> Iterator[T]:
        """
        Decide what to write, and take the write lock until the block ends; where others write too, decide on what they wrote.

        Args:
            is_quick: deciding is so quick that it can be done as often as others write, and with the lock held.
        """
        decided = decide()
        with writing:
            yield decided

    def measure_store(self) -> dict[str, float | str]:
        """Return what `/health` tells of the store; raise `GraphError` if it does not answer."""
        return {"kind": "embedded", "sequence": self.graph.writes}

    def note_indexed(self) -> None:
        """Record that the indexes contain what was written, where others look for that; hold the write lock."""

    def rebuild_indexes(self, progress: Progress | None) -> int:
        """
        Rebuild every index from the graph alone; return how many nodes were embedded. Hold the write lock.

        Raises:
            EngineError: an engine failed; another attempt starts over.
        """
        done = self.indexes.rebuild(progress)
        self.wake_grains()
        return done

    def invalidate_copies(self, iris: Sequence[IRI]) -> None:
        """
        Remove some texts of memories and notes from every cache; delete the file of a cache that does not run.

        Raises:
            GraphError: a copy could not be removed.
        """
        for copies in self.caches:
            copies.forget(iris)
        for notify in self.forget_listeners:
            notify(True)
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
            notify(True)
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
        for copies in self.caches:
            copies.close()
        try:
            if not self._is_erased and self.graph.is_on_disk:  # the indexes still contain words of the erased texts
                _save_indexes(self.datadir, self.indexes)
        finally:
            self.snapshots.close()
            self.graph.close()
            if self.graph.is_on_disk:
                self._rewrite_erased()
                _tidy_store(self.datadir, self.indexes)
                cache.note_closed(self.indexes, cache.fingerprint_files(self.datadir.store))
            self.indexes.file.close()
            self._seal_closed()
            drop_fallback(self.datadir)


OpenStore = Callable[[DataFolder, Settings, Cached, bool], Backends]
"""
What `Plugin.stores` names: opens a memory over a store that is not in its data folder, with the index that `index.kind` names. Its
last argument is False if nothing may be mended. An index that is written to must match the store when this returns.
"""

OpenIndex = Callable[[Store, Cached, VectorFile, DataFolder, Settings], Indexes]
"""
What `Plugin.indexes` names: opens an index over the embedded store, whose ids and marks are in the vector file.
"""


def _load_part(kind: Literal["stores", "indexes"], name: str) -> Any:
    """Import what opens a store or an index of a plug-in; raise `SettingsError` if it cannot be loaded."""
    found = plugin.collect(kind).get(name)
    if found is None:
        owner = plugin.name_owners(kind)[name]
        raise SettingsError(f"{name!r} of the plug-in {owner} cannot be used: {plugin.find_plugins()[owner].problem}")
    return found


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
    is_elsewhere = bool(find_provider(settings, "store"))
    # A cache of embedded texts outside the folder would reveal texts of an encrypted one, and texts that another node erases.
    keeps = settings.embedding.cache and datadir.vault is None and not is_elsewhere
    embedder = _choose_embedder(datadir, replace(settings.embedding, cache=keeps))
    if is_elsewhere:
        open_store: OpenStore = _load_part("stores", settings.store.kind)
        return open_store(datadir, settings, embedder, mends)
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
        notify(True)
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
    datadir.drop_outdated()
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
        if find_provider(settings, "index"):
            open_index: OpenIndex = _load_part("indexes", settings.index.kind)
            indexes = open_index(graph, embedder, file, datadir, settings)
        else:
            indexes = Indexes(graph, embedder, file, land.flat, land.above)
        note_embedding(file, embedder)
        is_ours = cache.note_opened(indexes, before) and not replayed
        load_ontology(graph)
        if not (is_ours and mends and cache.load_indexes(datadir.indexes, graph, indexes)):
            if mends or not is_ours:
                cache.discard(datadir.indexes, indexes)
            indexes.reconcile(progress, mends=mends)
            if mends:
                _save_indexes(datadir, indexes)
        graph.before_write = lambda iris: indexes.file.touch(iris)  # the file in use at that time
        inferences = Inferences(graph)
        aside = set_aside(graph, indexes, is_ours)
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


def set_aside(graph: Store, indexes: Indexes, is_ours: bool) -> Aside:
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
    try:
        cache.save_if_late(datadir.indexes, indexes)
    except OSError as error:
        cache.discard(datadir.indexes, indexes)
        # The next start reads the graph instead.
        logger.warning("indexes.not-kept", extra={"folder": str(datadir.indexes), "error": error.strerror})
