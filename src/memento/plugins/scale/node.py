"""
A node: a memory whose graph is behind an endpoint and whose index is in an engine, both shared with other nodes.

*Flow:* `refresh` asks the store for its last write before each operation, and drops what is remembered of an earlier one. `run`
repeats an operation if another node wrote first. A write notes in the store what it owes the engine; its writer pays that before it
is acknowledged, and any other node that finds a debt pays it before it answers. `adopt_shared_store` sets what all nodes share.

*Guarantees:* nothing is kept between two operations that another node could have made wrong. An entry is put again if somebody has
written while it was read and put, so that the latest one stays.

*But:* a writer that hangs while it puts an entry, whose debt another node pays meanwhile, and that dies before it looks again, may
leave an older entry there.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from hashlib import sha256
from shutil import rmtree
from types import TracebackType
from typing import TypeVar, cast

from memento.backends import Backends, note_embedding, set_aside
from memento.datadir import DataFolder, cache_folder
from memento.errors import BackendError, GraphError, InputError, LostTurn, SettingsError, StoreAway, Unanswered
from memento.graph.backups import discard_backups, finish_restore
from memento.graph.inferences import Inferences
from memento.graph.oxigraph import Oxigraph, finish_rewriting, rewrite, wait_until_released
from memento.graph.snapshot import Snapshots
from memento.graph.store import Delta, Store
from memento.iris import IRI, self_iri, tenant_of
from memento.model import Change, Scope
from memento.plugins.scale.agreement import Agreed, Review, adopt_store, join_store, review_store
from memento.plugins.scale.databases import open_engine
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.pool import Pools, list_kept
from memento.plugins.scale.probe import raise_if_unfit
from memento.plugins.scale.remote import RemoteStore
from memento.plugins.scale.settings import ALONE, ENGINES, NODES, SHARED_INDEX, IndexSettings, StoreSettings
from memento.plugins.scale.system import SYSTEM, Head, System
from memento.ports import Progress
from memento.search.embedders import Cached, embedder_of
from memento.search.indexes import Indexes
from memento.search.vectors import VectorFile, open_vector_file
from memento.settings import Settings
from memento.worker import Worker

logger = logging.getLogger(__name__)

T = TypeVar("T")

_PATIENCE_S = 30.0  # to wait for what uses a store that is to be closed
_PORTION = 200  # nodes that the engine gets at once, as many as the query of what is owed gives
_OWED = 5_000  # nodes of one debt, when everything is owed
_EVERYTHING = f"{SYSTEM}:debt:all:"
_TRIES = 5  # to put entries while others write
_DECISIONS = 2  # before one is written although others have written meanwhile
_DEBT_S = 0.25  # for a writer that is about to pay its debt
_LARGE_S = 30.0  # for one that pays a large debt to pay any of it
_LOOK_S = 1.0  # for the answer to whether the store is there


@dataclass
class Node(Backends):
    """The stores of one memory that several nodes share."""

    is_away: bool = False
    """Whether the store could not be asked for its last write."""
    agreed: Sequence[Agreed] = ()
    """The settings that must be the same on all nodes."""
    review: Review = Review()
    """How this node differs from the others."""
    _followed: int = 0
    """How often others were found to have written: a decision made before, and not written yet, may be outdated."""
    _paying: threading.Lock = field(default_factory=threading.Lock)
    _mender: Worker | None = None
    _large: dict[IRI, list[IRI]] = field(default_factory=dict)
    """What was owed of large debts when the mender looked last."""
    _quick: System | None = None

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

    def make_lock(self) -> AbstractContextManager[object]:
        return _WriteLock(self)

    def run(
        self,
        call: Callable[[], T],
        *,
        is_read: bool = False,
        graphs: Callable[[], Sequence[IRI]] | None = None,
        notices: list[str] | None = None,
    ) -> T:
        """
        Do an operation, again if another node has written before it has.

        Raises:
            LostTurn: other nodes were first for as long as a request may take; nothing was written.
            GraphError: the store does not answer; says what the caller should do.
        """
        graph = self.shared
        until = time.monotonic() + graph.client.timeout_s
        with graph.attempt() as has_written:
            while True:
                try:
                    with self.pools.opened(graphs, notices, joins=is_read):
                        return call()
                except LostTurn as error:
                    if has_written():
                        raise GraphError(f"{error}; a part was written before: look before you ask again") from error
                    if time.monotonic() > until:
                        raise
                except (StoreAway, Unanswered) as error:
                    raise _advise(error, is_read=is_read, has_written=has_written()) from error
                time.sleep(random.uniform(0.0, 0.02))
                self.refresh()

    @contextmanager
    def decide(
        self, decide: Callable[[], T], writing: AbstractContextManager[object], *, is_quick: bool
    ) -> Iterator[T]:
        for _ in range(_DECISIONS):
            followed, decided = self._followed, decide()
            with writing:
                if self._followed != followed and is_quick:
                    followed, decided = self._followed, decide()
                if self._followed == followed:
                    yield decided
                    return
        with writing:
            yield decided

    def close(self) -> None:
        if self._mender is not None:
            self._mender.stop(_PATIENCE_S)
        super().close()
        self.pools.close()

    def wake_grains(self) -> None:
        """Do nothing: whoever writes a memory computes its grains."""

    def amend(self, delta: Delta, touched: Sequence[IRI], graphs: Sequence[IRI], texts: Sequence[str]) -> None:
        super().amend(delta, touched, graphs, texts)
        if texts:
            self.pools.purge()

    def erase(self, change: Change, scope: Scope, texts: Sequence[str]) -> None:
        super().erase(change, scope, texts)
        self.pools.purge()

    def switch_embedder(self, embedder: Cached, beside: VectorFile, commit: Callable[[], None]) -> None:
        raise InputError(
            "an engine holds the index, so the embedder cannot change while the service runs: restart it, which rebuilds the index"
        )

    def refresh(self) -> None:
        """
        Drop what this node remembers of the store if another node has written since, and put into the engine what that has not.
        """
        try:
            head = self.shared.refresh(self._drop)
            if self.review.lacks_ontology:  # a backup without it was restored
                self._take_review(join_store(self.shared, self.agreed))
            if debts := head.debts - self.shared.in_flight:
                self._pay_others(debts)
            self.pools.restart()
        except BackendError as error:  # the caller's own request will report the failure
            if not self.is_away:
                logger.warning("store.not-followed", extra={"error": type(error).__name__})
            self.is_away = True
            return
        if self.is_away:
            self.is_away = False
            logger.warning("store.followed-again")

    def measure_store(self) -> dict[str, float | str]:
        if self._quick is None:
            self._quick = System(self.shared.client.with_timeout(_LOOK_S))
        begin = time.monotonic()
        head = self._quick.read_head()
        return {
            "kind": NODES,
            "sequence": head.number,
            "behind": len(head.debts),
            "ms": round((time.monotonic() - begin) * 1000, 1),
        }

    def note_indexed(self) -> None:
        """Pay what this thread owes: the engine has it now."""
        mine = self.shared.of_thread
        if mine.owed:
            self._settle(mine.owed, is_put=not self.pools.is_late)
            mine.owed.clear()

    def begin_writing(self) -> None:
        """Look at what others have written, and note what this thread owes the engine from now on."""
        try:
            if debts := self.shared.refresh(self._drop).debts:
                self._pay_others(debts)
        except Unanswered as error:  # it was only asked
            raise StoreAway(str(error)) from error
        self.pools.restart()
        self.pools.is_late = False
        self.shared.owe_here()

    def end_writing(self, *, has_failed: bool) -> None:
        """Pay what this thread still owes; what it cannot pay, the next operation of any node does."""
        graph = self.shared
        try:
            if (owed := graph.of_thread.owed) and not has_failed:
                self._settle(owed, is_put=not any(owed.values()) and not self.pools.is_late)
        finally:
            graph.end_owing()

    def mend_engine(self) -> None:
        """Fill an engine that is of another store or embedder, and pay every debt."""
        if self.shared.failure is None:
            if self.pools.is_foreign:
                self.rebuild_indexes(None)
            for debt in sorted(self.shared.system.read_head().debts):
                self._pay(debt)

    def rebuild_indexes(self, progress: Progress | None) -> int:
        pools, graph = self.pools, self.shared
        kept: defaultdict[IRI, list[IRI]] = defaultdict(list)
        for iri, place in list_kept(graph):
            kept[place].append(iri)
        portions = {
            (place, begin): nodes[begin : begin + _OWED]
            for place, nodes in kept.items()
            for begin in range(0, len(nodes), _OWED)
        }
        debts = {
            graph.system.owe(f"all:{begin}:{place}", nodes, [place]): len(nodes)
            for (place, begin), nodes in portions.items()
        }
        pools.engine.clear()
        pools.engine.put([], owner=pools.owner)
        pools.forget()
        for (place, begin), nodes in portions.items():  # again, as somebody may have paid before it was cleared
            graph.system.owe(f"all:{begin}:{place}", nodes, [place])
        done, total = 0, sum(debts.values())
        for debt, count in debts.items():
            self._pay(debt)
            done += count
            if progress:
                progress(done, total)
        pools.forget()  # what was counted meanwhile
        pools.engine.settle()
        return done

    def _note_put(self, iris: Sequence[IRI]) -> None:
        """Note that this thread owes nothing of some nodes any more; in the store too where it owes much: others look for that."""
        graph = self.shared
        owed = graph.of_thread.owed or {}
        for debt, nodes in owed.items():
            is_large = len(nodes) > _PORTION
            nodes.difference_update(iris)
            if is_large and self._is_steady():
                graph.system.forgive([debt], iris)

    def _drop(self, known: Head, head: Head) -> None:
        """Drop what this node remembers: another one has written."""
        self._followed += 1
        is_other = not self.shared.system.is_after(head, known)  # a backup was restored, or the store was emptied
        self.pools.outdate()
        self.aside.forget()
        if is_other or head.cut != known.cut:
            self._take_review(review_store(self.shared, self.agreed))
            self.pools.forget()
            self.snapshots.drop()
            for copies in self.caches:
                copies.clear()
            for notify in self.forget_listeners:
                notify(False)
        for listener in self.change_listeners:
            listener(None)
        self.tell_writing(None)
        if is_other:
            self.pools.engine.put([], owner="of another state of the store")
            self._mender = self._mender or Worker(self._mend, "engine")
            self._mender.wake()

    def _mend(self) -> float | None:
        """Fill the engine again after the store was restored; pay large debts that nobody has paid any of for a while."""
        graph = self.shared
        if graph.failure is not None:  # another embedder may fill it
            return None
        try:
            if self.pools.is_foreign:
                self.rebuild_indexes(None)
            debts = graph.system.read_head().debts - graph.in_flight
            every = {debt: graph.system.read_owed([debt])[0] for debt in debts}
            owed = {debt: nodes for debt, nodes in every.items() if len(nodes) >= _PORTION}
            for debt in [debt for debt, nodes in owed.items() if self._large.get(debt) == nodes]:
                self._pay(debt)
                del owed[debt]
        except BackendError:
            return _LOOK_S
        self._large = owed
        return _LARGE_S if owed else None

    def _take_review(self, review: Review) -> None:
        """Allow or forbid writes by this node."""
        if review.refusal is not None and review.refusal != self.graph.failure:
            logger.error("node.refused", extra={"reason": review.refusal})
        self.graph.failure, self.review = review.refusal, review

    def _is_steady(self) -> bool:
        """Tell whether no other node has written since this thread began to owe."""
        graph = self.shared
        return not graph.of_thread.is_mixed and graph.system.read_head().number == graph.writes

    def _settle(self, owed: Collection[IRI], *, is_put: bool) -> None:
        """Take debts of this thread from the store if the engine has them and nobody else has written meanwhile, else pay them."""
        if is_put and self._is_steady():
            self.shared.system.forgive(owed)
        else:
            for debt in owed:
                self._pay(debt)
        self.pools.is_late = False

    def _pay_others(self, debts: frozenset[IRI]) -> None:
        """Pay what other nodes owe, if they do not within a moment; much, which may take them a while, in the background."""
        system, until = self.shared.system, time.monotonic() + _DEBT_S
        while debts and time.monotonic() < until:
            if all(debt in self._large for debt in debts):
                return
            time.sleep(0.02)
            debts = system.read_head().debts & debts
        if debts:
            with self._paying:
                for debt in sorted(system.read_head().debts & debts):
                    if len(system.read_owed([debt])[0]) < _PORTION:
                        self._pay(debt)
                    elif debt not in self._large:
                        self._mender = self._mender or Worker(self._mend, "engine")
                        self._mender.wake()

    def _pay(self, debt: IRI) -> None:
        """Put what is owed into the engine; what others write all the time stays owed."""
        system = self.shared.system
        while True:
            nodes, graphs = system.read_owed([debt])
            if nodes and not self._put_steadily(nodes, graphs):
                return
            if len(nodes) < _PORTION:
                if debt.startswith(_EVERYTHING):  # whoever owed it may have died when the engine was empty
                    self.pools.engine.put([], owner=self.pools.owner)
                system.forgive([debt])
                return
            system.forgive([debt], nodes)

    def _put_steadily(self, nodes: Sequence[IRI], places: Sequence[IRI]) -> bool:
        """
        Put into the engine what the store says of some nodes, and of those that are derived from them, until nobody has written
        meanwhile; return False if somebody always has.
        """
        system = self.shared.system
        described = list(dict.fromkeys(one for place in places for one in (place, self_iri(tenant_of(place)))))
        for _ in range(_TRIES):
            number = system.read_head().number
            rows = self.graph.select("plugins/scale/pointing", described, node=nodes)
            pointing = list(dict.fromkeys([*nodes, *(IRI(str(row["subject"])) for row in rows)]))
            with self.pools.apart():
                self.indexes.revise(pointing, described)
            if system.read_head().number == number:
                return True
        return False


class _WriteLock:
    """The lock of the writers of this process. Use it as a `threading.Lock`."""

    def __init__(self, node: Node) -> None:
        self._node, self._local = node, threading.Lock()
        self._pool: AbstractContextManager[None] = nullcontext()

    def __enter__(self) -> None:
        self._local.acquire()
        try:
            self._node.begin_writing()
            self._pool = self._node.pools.opened()
            self._pool.__enter__()
        except BaseException:
            self._local.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._pool.__exit__(None, None, None)
            self._node.end_writing(has_failed=error is not None)
        finally:
            self._local.release()


def _advise(error: StoreAway | Unanswered, *, is_read: bool, has_written: bool) -> GraphError:
    """Add to the failure of a store that does not answer what the caller should do; a read cannot be half done."""
    if "ask" in str(error).rpartition("; ")[2]:  # from a nested call
        return error
    if has_written:
        return Unanswered(f"{error}; a part was written before: look before you ask again")
    if is_read or isinstance(error, StoreAway):
        return StoreAway(f"{error}; nothing was written: the same may be asked again, in {StoreAway.retry_after_s} s")
    return Unanswered(f"{error}; look before you ask again, or send a note again with its idempotency_key")


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
        pools = Pools(graph, embedder, file, engine, index, lambda: graph.id)
        indexes = cast(Indexes, pools)
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
    pools.on_put = node._note_put
    if mends:
        node.mend_engine()
    return node


def refuse_index(graph: Store, embedder: Cached, file: VectorFile, datadir: DataFolder, settings: Settings) -> Indexes:
    """Raise `SettingsError`: an engine holds the index of a store that nodes share, and of no other."""
    raise SettingsError(ALONE)


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
            harm="what one node writes the index of another does not get",
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
        noted = graph.system.read_agreed()
        before = adopt_store(graph, agreed)
        if any(one.is_needed and noted.get(one.name, one.value) != one.value for one in agreed):
            engine = open_engine(settings.of(IndexSettings), embedder.dimensions)
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
    return RemoteStore(client)


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
