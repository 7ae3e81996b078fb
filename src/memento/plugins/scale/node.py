"""
A node: a memory whose graph is behind an endpoint and whose index is in an engine, both shared with other nodes.

*Flow:* before an operation, `catch_up` follows the feed and drops what this node knows and others have written. A writer has the
turn, so that it has followed everything; after the write, the engine gets it. `adopt_shared_store` sets what all nodes share.

*Guarantees:* the engine is never ahead of the store. If a node dies between the two writes, the next one with the turn puts what is
missing into the engine; a running node looks for that twice in `store.lease_s`.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from shutil import rmtree
from socket import gethostname
from typing import cast

from memento.backends import Backends, note_embedding, set_aside
from memento.datadir import DataFolder, cache_folder
from memento.errors import BackendError, GraphError, SettingsError
from memento.graph.backups import discard_backups, finish_restore
from memento.graph.inferences import Inferences
from memento.graph.oxigraph import Oxigraph, finish_rewriting, rewrite, wait_until_released
from memento.graph.snapshot import Snapshots
from memento.iris import CASES, IRI, self_iri, tenant_of
from memento.plugins.scale.agreement import Agreed, Review, adopt_store, is_of_ontology, join_store, review_store
from memento.plugins.scale.databases import open_engine
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.feed import Entry, Feed, WriteLock
from memento.plugins.scale.pool import Pools
from memento.plugins.scale.probe import raise_if_unfit
from memento.plugins.scale.remote import RemoteStore
from memento.plugins.scale.settings import ENGINES, NODES, SHARED_INDEX, IndexSettings, StoreSettings
from memento.ports import Progress
from memento.search.embedders import Cached, embedder_of
from memento.search.indexes import Indexes
from memento.search.nodes import is_indexed
from memento.search.vectors import open_vector_file
from memento.settings import Settings
from memento.worker import Worker

logger = logging.getLogger(__name__)

_PATIENCE_S = 30.0  # to wait for what uses a store that is to be closed
_PORTION = 5_000  # nodes that the engine gets at once
_LOOK_S = 1.0  # for the answer to whether the store is there


@dataclass
class Node(Backends):
    """The stores of one memory that several nodes share."""

    is_away: bool = False
    """Whether the store could not be asked for the writes of other nodes."""
    agreed: Sequence[Agreed] = ()
    """The settings that must be the same on all nodes."""
    review: Review = Review()
    """How this node differs from the others."""
    _followers: list[Worker] = field(default_factory=list)
    _owner: str = ""
    """The store and embedder that the engine is known to have been filled from."""
    _indexed: int = -1
    """The last write that the engine is known to contain; -1 if unknown."""
    _lagging: int = -1
    """The last write in the engine when it was last found behind the store."""
    _quick: Feed | None = None

    @property
    def shared(self) -> RemoteStore:
        """The store."""
        return cast(RemoteStore, self.graph)

    @property
    def pools(self) -> Pools:
        """The index."""
        return cast(Pools, self.indexes)

    @property
    def is_shared(self) -> bool:
        return True

    @property
    def differences(self) -> tuple[str, ...]:
        return self.review.differences

    @property
    def own_writes(self) -> int:
        return self.shared.own_writes

    def make_locks(self) -> tuple[AbstractContextManager[object], AbstractContextManager[object]]:
        lock = WriteLock(self.shared.turn)
        return lock, lock.local

    def begin_following(self) -> None:
        """Keep the write turn alive while this node has it, and mend the engine where another node has died, until `close`."""
        graph = self.shared
        graph.on_follow, graph.on_turn = self._follow_entries, self.mend_engine

        def look_at_engine() -> float:
            with suppress(BackendError):  # the next round checks again
                self._take_over()
            return graph.turn.lease_s

        def renew_turn() -> float:
            with suppress(GraphError):
                graph.turn.renew()
            return graph.turn.lease_s / 8

        self.pools.on_debt = self._pay_debt
        self._followers = [Worker(renew_turn, "turn"), Worker(look_at_engine, "engine")]
        for worker in self._followers:
            worker.wake()

    def close(self) -> None:
        for worker in self._followers:
            worker.stop(_PATIENCE_S)
        super().close()

    def catch_up(self) -> None:
        """
        Drop what this node knows if another node has written since, and put into the engine what a write has left out.
        """
        graph = self.shared
        try:
            graph.follow_feed()
            if self.review.lacks_ontology:  # a backup without it was restored
                self._take_review(join_store(graph, self.agreed))
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

    def measure_store(self) -> dict[str, float | str]:
        if self._quick is None:
            self._quick = Feed(self.shared.client.with_timeout(_LOOK_S))
        begin = time.monotonic()
        head = self._quick.read_head()
        return {"kind": NODES, "sequence": head.sequence, "ms": round((time.monotonic() - begin) * 1000, 1)}

    def note_indexed(self) -> None:
        if self.pools.is_late or self._indexed < 0:
            self.mend_engine()
        else:
            self._indexed = self.graph.writes
            self.pools.engine.put([], seen=self._indexed)

    def mend_engine(self) -> None:
        """
        Write into a shared engine what the store contains and it lacks: from a node that died in between, or from a failed call of
        the engine. This node must hold the write lease.
        """
        pools, graph = self.pools, self.shared
        if graph.failure is not None:
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
        pools, graph = self.pools, self.shared
        graph.note_step()  # if this node dies, the others see that the engine is incomplete
        self._indexed = -1
        done = pools.rebuild(progress)
        pools.engine.put([], seen=graph.writes)
        self._indexed, self._owner = graph.writes, pools.owner
        return done

    def _take_over(self) -> None:
        """Repair the engine if it has been behind for a while: the node responsible has died."""
        graph = self.shared
        if graph.failure is not None:
            return
        seen = self.pools.engine.seen
        is_other = self._owner not in ("", self.pools.owner)
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
                rows = self.graph.select("plugins/scale/pointing", indexed, node=some)
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
        if everything or is_of_ontology(graphs):
            self._take_review(review_store(self.shared, self.agreed))
        self.is_following = True
        try:
            if everything or forgets:
                self.pools.forget()
            if self.pools.is_begun:
                self._evict_written(self.pools, entries)
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
                rows = self.graph.select("plugins/scale/pointing", indexed, node=nodes)
                pointing = list(dict.fromkeys([*nodes, *(IRI(str(row["subject"])) for row in rows)]))
                pools.evict(pointing, indexed)

    def _pay_debt(self) -> None:
        """Put into the engine what a node that died has left out; a node that is writing does so itself."""
        graph = self.shared
        with suppress(BackendError):  # the caller's own request will report the failure
            if not graph.feed.read_head().lease:
                with graph.turn:  # acquiring it mends the engine
                    pass


def _list_described(graph: IRI) -> tuple[IRI, ...]:
    """List the graphs that may describe nodes named in a graph of memories: itself, and that of the user."""
    return (graph, self_iri(tenant_of(graph)))


def open_node(datadir: DataFolder, settings: Settings, embedder: Cached, mends: bool) -> Node:
    """
    Open a memory over an endpoint and an engine: everything about them in the data folder is derived.

    Raises:
        SettingsError: the folder has a store of its own, the engine is not chosen, or the endpoint cannot store a memory.
        GraphError: the endpoint cannot be reached, or the node must not write to its store.
        EngineError: the engine cannot be reached.
    """
    if datadir.vault is not None:
        raise SettingsError(
            f"{datadir.path} is encrypted and has a store of its own, which store.kind = sparql would ignore: choose another --home"
        )
    if datadir.store.is_dir() and any(datadir.store.iterdir()):
        raise SettingsError(
            f"{datadir.path} has a store of its own, which store.kind = sparql would ignore: choose another --home, and move "
            "its memory there with `memento export` and `memento import`"
        )
    index = settings.of(IndexSettings)
    if index.kind not in ENGINES:
        raise SettingsError(SHARED_INDEX)
    graph = _connect(settings)
    agreed = _list_agreed(settings, embedder.fingerprint)
    try:
        datadir.drop_outdated()
        datadir.erasure_mark.unlink(missing_ok=True)
        graph.most_copied = settings.of(StoreSettings).snapshot_quads
        file = open_vector_file(datadir.vectors, embedder.fingerprint)
        note_embedding(file, embedder)
        review = join_store(graph, agreed)
        engine = open_engine(index, embedder.dimensions)
        pools = Pools(graph, embedder, file, engine, index, lambda: graph.id, is_shared=True)
        indexes = cast(Indexes, pools)  # the first node with the write lease fills the engine
        aside = set_aside(graph, indexes, is_ours=False)
    except BaseException:
        graph.close()
        raise
    node = Node(
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
    node.begin_following()
    if mends:
        with graph.turn:
            node.mend_engine()
    return node


def _list_agreed(settings: Settings, fingerprint: str) -> tuple[Agreed, ...]:
    """List the settings that must be the same on all nodes of a shared store."""
    engine, redaction = settings.of(IndexSettings), settings.redaction
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
            value=f"{settings.of(StoreSettings).lease_s:g}",
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
    if settings.store.kind != NODES:
        raise SettingsError("store.kind is embedded: a data folder has one owner, who opens it as it is")
    embedder = embedder_of(replace(settings.embedding, cache=False), cache_folder())
    graph, agreed = _connect(settings), _list_agreed(settings, embedder.fingerprint)
    try:
        noted = graph.feed.read_agreed()
        before = adopt_store(graph, agreed)
        if any(one.is_needed and noted.get(one.name, one.value) != one.value for one in agreed):
            engine = open_engine(settings.of(IndexSettings), embedder.dimensions)
            with graph.turn:
                engine.clear()
            engine.close()
    finally:
        graph.close()
    return before


def _connect(settings: Settings) -> RemoteStore:
    """Open the store behind an endpoint; raises as `open_node`."""
    chosen = settings.of(StoreSettings)
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


def finish_files(datadir: DataFolder) -> None:
    """
    Complete what an earlier owner left undone with the files of a store that another process is to serve, and remove erased texts
    from them and from checkpoints, which only the owner can do.

    Raises:
        GraphError: the store is open, or the disk is full; the next start tries again.
    """
    finish_restore(datadir)
    finish_rewriting(datadir.store)
    datadir.drop_outdated()
    if datadir.erasure_mark.exists():
        discard_backups(datadir.checkpoints)
        rmtree(datadir.indexes, ignore_errors=True)  # they contain words of the erased texts
        wait_until_released(datadir.store, wait_s=_PATIENCE_S)
        rewrite(datadir.store)
        datadir.erasure_mark.unlink()
