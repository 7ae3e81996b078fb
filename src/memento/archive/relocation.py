"""
Move the memory of one tenant from one store to another while both are served.

    copying   copy the tenant's graphs to the target, and follow the source, which still answers and accepts writes
    cut       hold the write turns of both stores: copy the rest, compare both sides, and record the tenant's new place
    removing  once every node has followed, compare the source's data with the digest once more, and remove it

*Guarantees:* at any moment one store has the tenant. In the other one nobody reads it, and writes raise `Moved`, because every
writer follows the store's feed before it writes. The tenant's place changes only if the digests of all its graphs are the same on
both sides. After a kill, a note says how far the move was; the next call continues from there or takes it back. If two nodes try
to move the same tenant, one of them is refused.

*But:* a blank node that others wrote at the endpoint has no permanent name: if an engine names it differently in each answer, the
graphs count as different, and the move ends. Nodes of an earlier version do not know of moves: upgrade all of them first.

*Because:* an ordinary digest of a whole graph could only be computed while nobody writes. Here it is the sum of the digests of its
statements, by subject: it is computed during writes, and only what was written since is read again while the turns are held.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from itertools import groupby
from socket import gethostname
from typing import Any, Literal
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.errors import BackendError, Conflict, GraphError, InputError, LostTurn, NotFound
from memento.graph.feed import Placement
from memento.graph.remote import RemoteStore
from memento.graph.transfer import Statement
from memento.iris import IRI
from memento.model import TenantMoved
from memento.ports import Progress
from memento.worker import Worker

logger = logging.getLogger(__name__)

FOLLOWED_S = 2.0
"""Seconds after which every node has followed the cut, and has answered the requests that it had before."""

_PORTION = 1_000  # statements that are written together: their writers wait that long
_AT_ONCE = 200  # subjects that are looked at together
_LEVEL = 20  # changed subjects that are few enough for the cut
_ROUNDS = 20  # of following, before a cut is tried all the same; and of cuts that met a write of everything
_LANES = np.uint64

Stage = Literal["copying", "cut", "removing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Hold one store of a move: its name, its parts, and the lock of its writers."""

    name: str
    parts: Backends
    writing: AbstractContextManager[object]

    @property
    def graph(self) -> RemoteStore:
        """Its graph; raises `InputError` if that is an embedded store."""
        if not isinstance(self.parts.graph, RemoteStore):
            raise InputError("tenants can only move between stores behind endpoints: see docs/scale.md")
        return self.parts.graph

    def list_graphs(self, tenant: str) -> list[IRI]:
        """List the graphs of a tenant in this store."""
        return self.graph.list_tenants().get(tenant, [])


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """
    Record a tenant's move: from where to where, its stage, who moves it (empty: nobody now), a number that the mover increases as
    a sign of life, and the digest of the tenant's data at the cut.
    """

    source: str
    target: str
    stage: Stage = "copying"
    mover: str = ""
    holder: str = ""
    beat: int = 0
    digest: str = ""

    def pack(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def read_moves(main: Backends) -> dict[str, Move]:
    """Return the moves in progress, by tenant, as the main store records them."""
    if not isinstance(main.graph, RemoteStore):
        return {}
    return {tenant: Move(**json.loads(said)) for tenant, said in main.graph.feed.read_moves().items()}


@dataclass(slots=True)
class Digests:
    """
    Hold, for each subject of a graph, its key, (n,) sorted; the sum of the digests of its statements in two lanes, (n, 2); and the
    number of these statements, (n,).
    """

    keys: NDArray[np.uint64]
    sums: NDArray[np.uint64]
    counts: NDArray[np.int64]

    @classmethod
    def sum_graph(cls, graph: RemoteStore, name: IRI) -> Digests:
        """Read a whole graph and sum its digests, keeping 32 bytes per subject."""
        keys, lanes, counts = array("Q"), array("Q"), array("q")
        for subject, quads in _group(graph.read_graph(name)):
            low, high = _sum_up(quads)
            keys.append(_make_key(subject))
            lanes.extend((low, high))
            counts.append(len(quads))
        found = cls(
            np.array(keys, dtype=_LANES), np.array(lanes, dtype=_LANES).reshape(-1, 2), np.array(counts, dtype=np.int64)
        )
        order, begins = np.unique(found.keys, return_index=True)
        if len(order) == len(keys):
            return cls(order, found.sums[begins], found.counts[begins])
        places = np.argsort(found.keys, kind="stable")  # an engine that gives a subject in pieces
        begins = np.flatnonzero(np.r_[True, np.diff(found.keys[places]) != 0])
        return cls(
            order,
            np.add.reduceat(found.sums[places], begins, axis=0),
            np.add.reduceat(found.counts[places], begins),
        )

    def compare_subject(self, key: int, lanes: tuple[int, int]) -> bool | None:
        """Tell whether the statements of a subject have some sum here; None if the subject is not here."""
        place = int(np.searchsorted(self.keys, _LANES(key)))
        if place == len(self.keys) or int(self.keys[place]) != key:
            return None
        return (int(self.sums[place, 0]), int(self.sums[place, 1])) == lanes

    def differ(self, other: Digests) -> set[int]:
        """Return the keys of the subjects that differ between the two."""
        _, mine, theirs = np.intersect1d(self.keys, other.keys, assume_unique=True, return_indices=True)
        same = (self.sums[mine] == other.sums[theirs]).all(axis=1) & (self.counts[mine] == other.counts[theirs])
        return set(np.setxor1d(self.keys, other.keys, assume_unique=True).tolist()) | set(
            self.keys[mine[~same]].tolist()
        )

    def total(self, without: Iterable[int] = ()) -> tuple[int, int, int]:
        """Return the sum of all digests and the number of statements, without some subjects."""
        kept = ~np.isin(self.keys, np.array([*without], dtype=_LANES))
        low, high = self.sums[kept].sum(axis=0, dtype=_LANES).tolist() if kept.any() else (0, 0)
        return int(low), int(high), int(self.counts[kept].sum())


Wanted = Mapping[IRI, set[IRI]]
"""Subjects to read, by graph."""


@dataclass(slots=True)
class _Changes:
    """Hold what was written of a tenant up to a number: subjects by graph, and graphs of which anything may have changed."""

    until: int
    subjects: dict[IRI, set[IRI]] = field(default_factory=dict)
    whole: set[IRI] = field(default_factory=set)

    @property
    def subject_count(self) -> int:
        return sum(map(len, self.subjects.values()))


class Differing(GraphError):
    """The digests of a graph are not the same on both sides."""


class Relocation:
    """One call that moves a tenant, or takes a move back."""

    def __init__(
        self,
        tenant: str,
        main: Side,
        source: Side,
        target: Side,
        *,
        locate: Callable[[], str],
        settle: Callable[[], object] = lambda: None,
        progress: Progress | None = None,
    ) -> None:
        """
        Args:
            main: the store that every node asks first.
            locate: returns the name of the store that has the tenant, after asking the stores themselves.
            settle: called with both turns held, to write what waits at the source.
            progress: called with (statements copied and compared so far, all of them).
        """
        self._tenant, self._main, self._source, self._target = tenant, main, source, target
        self._locate, self._settle, self._progress = locate, settle, progress
        self._move = Move(source=source.name, target=target.name)
        self._noting = threading.Lock()
        self._is_lost = self._is_cutting = False
        self._done = self._all = self._statements = 0
        self._waited_s = 0.0

    def move_tenant(self) -> TenantMoved:
        """
        Move the tenant, or continue a move that was interrupted.

        Raises:
            Conflict: another node is moving it, or so much is written that the copy cannot catch up.
            Differing: source and target differ; the tenant stays where it is, and the copy is removed.
            GraphError: a store failed; the same call continues the move.
        """
        begin = time.monotonic()
        with self._claiming(is_new=True):
            if self._move.stage == "copying" and not self._is_placed():
                try:
                    self._copy_all()
                except Differing:
                    self._take_back()
                    raise
            self.begin_step("cut")
            self._place_in_main()
            if self._move.stage != "removing":
                self._wait_for_nodes()
                self._compare_left()
                self._note(stage="removing")
            self.begin_step("removing")
            self._remove(self._source)
            self._note(is_over=True)
        return self._report(begin)

    def cancel(self) -> TenantMoved:
        """
        Take an unfinished move back: the tenant stays where it is, and the copy is removed.

        Raises:
            NotFound: the tenant is not being moved.
            Conflict: another node is moving it, or it is in its new store already.
        """
        begin = time.monotonic()
        with self._claiming(is_new=False):
            if self._is_placed():
                raise Conflict(
                    f"the tenant {self._tenant!r} is in {self._target.name!r} already: wait until the move ends, then move it to "
                    f"{self._source.name!r}"
                )
            self._take_back()
        return replace(self._report(begin), cancelled=True)

    def begin_step(self, step: str) -> None:
        """Log the beginning of a step."""
        logger.info("tenant.move", extra={"step": step, "source": self._source.name, "target": self._target.name})

    def _report(self, begin: float) -> TenantMoved:
        return TenantMoved(
            tenant=self._tenant,
            source=self._source.name,
            target=self._target.name,
            statements=self._statements,
            digest=self._move.digest,
            seconds=round(time.monotonic() - begin, 3),
            waited_s=round(self._waited_s, 3),
        )

    @contextmanager
    def _claiming(self, *, is_new: bool) -> Iterator[None]:
        """Claim the move of the tenant for this call, and renew the claim until the block ends."""
        known = read_moves(self._main.parts).get(self._tenant)
        if known is None and not is_new:
            raise NotFound(f"the tenant {self._tenant!r} is not being moved")
        if known is not None and known.mover:
            known = self._wait_for_silence(known)
            if known is None:
                raise Conflict(
                    f"another node has just ended the move of the tenant {self._tenant!r}: check which store it is in"
                )
        feed = self._main.graph.feed
        mine = replace(known or self._move, mover=uuid4().hex, holder=f"{gethostname()}:{os.getpid()}")
        if not feed.swap_move(self._tenant, known.pack() if known else "", mine.pack()):
            raise Conflict(f"the tenant {self._tenant!r} is being moved by another node: ask it, or ask again later")
        self._move = mine
        lease_s = self._main.graph.turn.lease_s

        def beat() -> float:
            with suppress(BackendError):
                self._note()
            return lease_s / 4

        beating = Worker(beat, "move")
        beating.wake()
        try:
            if known is None and self._locate() != self._source.name:
                self._note(is_over=True)
                raise Conflict(
                    f"the tenant {self._tenant!r} has just been moved by another node: check which store it is in"
                )
            yield
        finally:
            beating.stop(lease_s)
            with suppress(BackendError):
                if self._tenant in feed.read_moves() and not self._is_lost:
                    self._note(mover="")

    def _wait_for_silence(self, known: Move) -> Move | None:
        """Return the move's record if its mover is dead or has ended; raise `Conflict` if the mover is alive."""
        until = time.monotonic() + self._main.graph.turn.lease_s
        while time.monotonic() < until:
            time.sleep(0.1)
            now = read_moves(self._main.parts).get(self._tenant)
            if now is None or not now.mover:
                return now
            if now != known:
                raise Conflict(f"the tenant {self._tenant!r} is being moved to {now.target!r} by {now.holder}")
        return known

    def _note(self, *, is_over: bool = False, **changes: Any) -> None:
        """Record the stage of the move and that its mover is alive; delete the record if the move is over."""
        with self._noting:
            move = replace(self._move, beat=self._move.beat + 1, **changes)
            feed = self._main.graph.feed
            if self._is_lost or not feed.swap_move(self._tenant, self._move.pack(), "" if is_over else move.pack()):
                self._is_lost = True
                raise LostTurn(f"another node moves the tenant {self._tenant!r} now: ask that one")
            self._move = move

    def _is_placed(self) -> bool:
        """Tell whether the cut was made, by asking the source itself: this node may not have followed it yet."""
        found = self._source.graph.feed.read_placements().get(self._tenant)
        return found is not None and found.shard == self._target.name

    def _copy_all(self) -> None:
        """Copy everything to the target, and cut over."""
        source, target = self._source, self._target
        if target.graph.placements.get(self._tenant) != Placement(shard=source.name):
            target.graph.place_tenant(self._tenant, Placement(shard=source.name))  # nothing there counts before the cut
        self.begin_step("copying")
        with source.writing:  # whatever was being written is finished
            after = source.graph.writes
        pending = {*source.list_graphs(self._tenant), *target.list_graphs(self._tenant)}
        self._all = 2 * sum(map(source.graph.count_graph, pending))
        for _ in range(_ROUNDS):
            for graph in sorted(pending):
                self._bring_graph(graph)
            self.begin_step("level")
            after = self._level(after)
            self.begin_step("comparing")
            if pending := self._compare_and_cut(after):
                continue
            return
        raise Conflict(f"{self._tenant!r} changes faster than it can be compared: ask again when less is written")

    def _bring_graph(self, graph: IRI) -> None:
        """Make one graph of the target equal to that of the source, without rewriting what is equal already."""
        there = Digests.sum_graph(self._target.graph, graph)
        portion: list[Statement] = []
        differing: set[IRI] = set()
        seen: set[int] = set()
        for subject, quads in _group(self._source.graph.read_graph(graph)):
            known = None
            if len(there.keys):
                key = _make_key(subject)
                seen.add(key)
                known = there.compare_subject(key, _sum_up(quads))
            if known is None:
                portion += quads
            elif not known:
                differing.add(subject)
            if len(portion) >= _PORTION:
                self._write(self._target, [], portion)
                portion = []
            self._count(len(quads))
        self._write(self._target, [], portion)
        if extra := set(there.keys.tolist()) - seen:
            differing |= _find_subjects(self._target.graph, graph, extra)
        self._bring_subjects({graph: differing})

    def _level(self, after: int) -> int:
        """Copy what was written since a number, until little is left; return the number up to which the target is complete."""
        for _ in range(_ROUNDS):
            changes = self._list_changes(after)
            for graph in changes.whole:
                self._bring_graph(graph)
            self._bring_subjects(changes.subjects)
            after = changes.until
            if changes.subject_count <= _LEVEL and not changes.whole:
                break
        return after

    def _list_changes(self, after: int) -> _Changes:
        """List what was written of the tenant since a number, up to a write that is still being applied."""
        found = _Changes(after)
        graphs: set[IRI] | None = None
        for entry in self._source.graph.changes(after):
            if entry.journal is not None:
                break
            told, found.until = entry.told, entry.sequence
            if graphs is None:
                graphs = set(self._source.list_graphs(self._tenant)) | set(self._target.list_graphs(self._tenant))
            mine = {IRI(one) for one in told.graphs} & graphs if told.graphs else graphs
            if told.is_whole:
                found.whole |= mine
            else:
                for graph in mine:
                    found.subjects.setdefault(graph, set()).update(map(IRI, told.subjects))
        return found

    def _bring_subjects(self, wanted: Wanted) -> None:
        """Make some subjects of the target equal to those of the source."""
        for graph, some in wanted.items():
            subjects = sorted(some)
            for begin in range(0, len(subjects), _AT_ONCE):
                new, old = self._read_both(graph, subjects[begin : begin + _AT_ONCE])
                self._write(self._target, list(old - new), list(new - old))

    def _read_both(self, graph: IRI, subjects: Sequence[IRI]) -> tuple[set[Statement], set[Statement]]:
        pairs = [(graph, one) for one in subjects]
        (_, new), (_, old) = (side.graph.read_subjects(pairs) for side in (self._source, self._target))
        return new, old

    def _compare_and_cut(self, after: int) -> set[IRI]:
        """
        Compare the digests of all graphs during writes; then, with the write turns held, compare what was written meanwhile, and
        place the tenant. Return the graphs to copy again, because anything in them may have changed.

        Raises:
            Differing: a graph differs; the message names it.
        """
        graphs = sorted({*self._source.list_graphs(self._tenant), *self._target.list_graphs(self._tenant)})
        known: dict[IRI, Digests] = {}
        unsure: dict[IRI, set[IRI]] = {}
        for graph in graphs:
            known[graph], there = (
                Digests.sum_graph(self._source.graph, graph),
                Digests.sum_graph(self._target.graph, graph),
            )
            if keys := known[graph].differ(there):
                found = _find_subjects(self._source.graph, graph, keys) | _find_subjects(
                    self._target.graph, graph, keys
                )
                unsure[graph] = found
            self._count(int(known[graph].counts.sum()))
        changes = self._list_changes(after)
        if changes.whole:
            return changes.whole
        for graph, found in unsure.items():
            if found - changes.subjects.get(graph, set()):
                raise self._describe_difference(graph)
        self._bring_subjects(changes.subjects)
        self.begin_step("cutting")
        sides = sorted((self._source, self._target), key=lambda one: one.name)  # as every mover: none waits for another
        with ExitStack() as held:
            for side in sides:
                held.enter_context(side.writing)
            self._is_cutting = True
            held.callback(setattr, self, "_is_cutting", False)
            held_since = time.monotonic()
            self._settle()
            rest = self._list_changes(changes.until)
            if rest.whole:
                return rest.whole
            self._bring_subjects(rest.subjects)
            digest = self._compare_rest(known, [changes.subjects, rest.subjects])
            self._note(digest=digest)  # which fails where another node has taken over
            self.begin_step("placing")
            self._place()
            self._waited_s = time.monotonic() - held_since
        logger.info("tenant.placed", extra={"shard": self._target.name, "seconds": round(self._waited_s, 3)})
        for side in sides:
            side.parts.tell_writing(None)
        return set()

    def _place(self) -> None:
        """
        Record the tenant's new place in both stores; what the source records counts.

        *Because:* nobody asks the target before the source names it, so the target may be first. But if the target is the main
        store, which every node asks, it must be second, after writes to the source have become impossible.
        """
        target, source = self._target, self._source
        sides = [
            (target, Placement(shard=target.name)),
            (source, Placement(shard=target.name, since=target.graph.writes)),
        ]
        if target.name == self._main.name:
            sides.reverse()
        for side, placement in sides:
            side.graph.place_tenant(self._tenant, placement)
            self.begin_step("placed")

    def _compare_rest(self, known: Mapping[IRI, Digests], changed: Sequence[Wanted]) -> str:
        """Compare what was written since the digests were computed, and statement counts; return the digest of all graphs."""
        graphs = sorted({*self._source.list_graphs(self._tenant), *self._target.list_graphs(self._tenant)})
        said = blake2b(digest_size=16)
        self._statements = 0
        for graph in graphs:
            subjects = sorted({one for wanted in changed for one in wanted.get(graph, ())})
            low, high, count = known[graph].total(map(_make_key, subjects)) if graph in known else (0, 0, 0)
            for begin in range(0, len(subjects), _AT_ONCE):
                new, old = self._read_both(graph, subjects[begin : begin + _AT_ONCE])
                if new != old:
                    raise self._describe_difference(graph)
                more = _sum_up(new)
                low, high, count = (low + more[0]) % 2**64, (high + more[1]) % 2**64, count + len(new)
            if {self._source.graph.count_graph(graph), self._target.graph.count_graph(graph)} != {count}:
                raise self._describe_difference(graph)
            if count:
                said.update(f"{graph} {low} {high} {count}\n".encode())
            self._statements += count
        return said.hexdigest()

    def _describe_difference(self, graph: IRI) -> Differing:
        return Differing(
            f"the graph {graph} is not the same in {self._source.name!r} and {self._target.name!r}: the tenant stays where it is, "
            "and what was brought is removed"
        )

    def _place_in_main(self) -> None:
        """Record the tenant's place in the main store too, where every node looks first, and allow its writes at the target."""
        self._target.graph.place_tenant(self._tenant, Placement(shard=self._target.name))
        found = self._source.graph.feed.read_placements().get(self._tenant)
        if found is not None and self._main.name not in (self._source.name, self._target.name):
            self._main.graph.place_tenant(self._tenant, found)
            self._main.parts.tell_writing(None)
        if self._move.stage == "copying":
            self._note(stage="cut")

    def _wait_for_nodes(self) -> None:
        time.sleep(FOLLOWED_S)

    def _compare_left(self) -> None:
        """Raise `GraphError` if the source has changed since the tenant was placed: somebody wrote past the nodes."""
        said = blake2b(digest_size=16)
        self._statements = 0
        for graph in sorted(self._source.list_graphs(self._tenant)):
            low, high, count = Digests.sum_graph(self._source.graph, graph).total()
            self._statements += count
            if count:
                said.update(f"{graph} {low} {high} {count}\n".encode())
        if said.hexdigest() != self._move.digest:
            raise GraphError(
                f"something of {self._tenant!r} was written in {self._source.name!r} after it was moved to {self._target.name!r}, "
                "which no node of Memento does: what is there was not removed"
            )

    def _take_back(self) -> None:
        """Remove the copy from the target, and end the move."""
        if self._target.graph.placements.get(self._tenant) != Placement(shard=self._source.name):
            self._target.graph.place_tenant(self._tenant, Placement(shard=self._source.name))
        self._remove(self._target)
        self._note(is_over=True)

    def _remove(self, side: Side) -> None:
        """Remove the tenant's graphs from a store, and check that they are gone."""
        for graph in side.list_graphs(self._tenant):
            portion: list[Statement] = []
            for quad in side.graph.read_graph(graph):
                portion.append(quad)
                if len(portion) >= _PORTION:
                    self._write(side, portion, [])
                    portion = []
            self._write(side, portion, [])
        with side.writing:
            side.parts.indexes.purge()
        if left := side.list_graphs(self._tenant):
            raise GraphError(f"{left[0]} is still in {side.name!r}: ask again")

    def _write(self, side: Side, removes: Sequence[Statement], adds: Sequence[Statement]) -> None:
        if self._is_lost:
            raise LostTurn(f"another node moves the tenant {self._tenant!r} now: ask that one")
        if not (removes or adds):
            return
        if adds:
            self._lend_vectors(dict.fromkeys(str(quad.subject)[1:-1] for quad in adds))
        if self._is_cutting:
            side.parts.transfer(removes, adds)
            return
        with side.writing:
            side.parts.transfer(removes, adds)

    def _lend_vectors(self, subjects: Iterable[str]) -> None:
        """Give the target's index on this node the vectors that the source's has, so that nothing is embedded again."""
        mine, theirs = self._source.parts.indexes.file, self._target.parts.indexes.file
        iris = list(map(IRI, subjects))
        found = [
            (iri, *row) for iri in iris if theirs.find_id(iri) is None and mine.find_id(iri) and (row := mine.find(iri))
        ]
        theirs.write_entries([one for one in found if one[2].ndim == 2])
        theirs.write_states([(iri, *row) for iri, row in mine.find_states(iris).items()])

    def _count(self, statements: int) -> None:
        self._done = min(self._done + statements, self._all)
        if self._progress:
            self._progress(self._done, self._all)


def _group(quads: Iterator[Statement]) -> Iterator[tuple[IRI, list[Statement]]]:
    """Yield each subject with its statements."""
    for name, some in groupby(quads, key=lambda quad: str(quad.subject)):
        yield IRI(name[1:-1] if name.startswith("<") else name), list(some)


def _sum_up(quads: Iterable[Statement]) -> tuple[int, int]:
    """Return the sum of the digests of some statements, in two lanes of 64 bits; it does not depend on their order."""
    low = high = 0
    for quad in quads:
        found = blake2b(str(quad.triple).encode(), digest_size=16).digest()
        low, high = low + int.from_bytes(found[:8]), high + int.from_bytes(found[8:])
    return low % 2**64, high % 2**64


def _make_key(subject: str) -> int:
    return int.from_bytes(blake2b(subject.encode(), digest_size=8).digest())


def _find_subjects(graph: RemoteStore, name: IRI, keys: set[int]) -> set[IRI]:
    """Return the subjects of a graph with some keys."""
    return {subject for subject, _ in _group(graph.read_graph(name)) if _make_key(subject) in keys}
