"""
Read and write a store behind a SPARQL 1.1 endpoint that several nodes share; keep a replica of it in this node's folder for reads.

*Guarantees:* a write is made whole or not at all, after everything that this node has followed; otherwise `LostTurn` says that
another node was first. Writes of other nodes are followed in their order, and never before they are in the store. Reads see every
write that this node knows of: from the replica if it has them all, otherwise from the endpoint.

*But:* an endpoint does not disclose stable names of its blank nodes. Ours are stored as IRIs, `urn:memento:bnode:…`, and read as
blank nodes; those that others wrote at the endpoint can be read, but not removed one by one. An empty named graph does not exist,
and the endpoint's default graph is not used.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, takewhile
from pathlib import Path
from shutil import rmtree
from typing import NoReturn
from uuid import uuid4

import pyoxigraph as ox

from memento import telemetry
from memento.errors import GraphError, LostTurn, TooMuch, Unanswered
from memento.graph.binding import Solution, Term, bind_query, read_rows
from memento.graph.endpoint import SparqlClient
from memento.graph.feed import FEED, TOLD, Entry, Feed, Head, Neighbours, Told, Turn, Writing
from memento.graph.oxigraph import Oxigraph
from memento.graph.store import BULK, DEFAULT, Delta, Row, graph_of, parse_quads, serialise_quads
from memento.graph.terms import to_quads, to_term, to_value
from memento.iris import IRI, MEM
from memento.model import Change, Quad, Value

logger = logging.getLogger(__name__)

BLANK = "urn:memento:bnode:"
"""The prefix of IRIs that stand for blank nodes at an endpoint."""

_FOREIGN = "endpoint-"
"""The prefix, here, of the names of blank nodes that others wrote at the endpoint."""

_TRUSTED_S = 2.0
"""Seconds for which silent processes are assumed to have written nothing; one may have died before it told the others."""
_AT_ONCE = 1_000  # quads or nodes that one request looks up
_ROUNDS = 8
"""How often a replica tries to catch up with writers before it waits until they pause."""
_PIECE = 50_000  # quads copied at once
_MARK = (ox.NamedNode(FEED), ox.NamedNode(f"{FEED}:replica"))
_ENDS = (MEM.to, MEM.invalidated)
"""Predicates whose objects a write affects too: the indexes of those nodes are outdated as well."""
_FORGETTING = (MEM.content, MEM.description)
_QUIET = {
    MEM.rendered,
    MEM.renderedAt,
    MEM.accessCount,
    MEM.lastAccessedAt,
    MEM.energy,
    MEM.energyAt,
    MEM.depth,
    MEM.importance,
    MEM.weight,
    MEM.lastReinforcedAt,
    MEM.usefulness,
    MEM.successCount,
    MEM.failureCount,
}
"""Predicates that the use of memories changes, and those of the answers of pages."""


class RemoteStore:
    """`Store` over an endpoint."""

    is_on_disk = False

    def __init__(
        self, client: SparqlClient, *, node: str = "", lease_s: float = 10.0, patience_s: float | None = None
    ) -> None:
        """
        Args:
            node: a name of this node, for people.
            lease_s: seconds without a sign of life after which another node's turn to write is over.
            patience_s: seconds that a writer waits for its turn; those of the client's time limit unless given.

        Raises:
            GraphError: the endpoint cannot be reached, read or written.
        """
        self.failure: str | None = None
        """Why this node must not write, as its program is too old for the store. Not set while the endpoint is merely away."""
        self.on_failure: Callable[[], None] | None = None
        self.client = client
        self.feed = Feed(client)
        self.turn = Turn(self.feed, node, lease_s, client.timeout_s if patience_s is None else patience_s)
        """Held by a writer from before it reads what its decision depends on; a write takes it for itself if nobody holds it."""
        self.turn.on_take = self._catch_up
        self.neighbours: Neighbours | None = None
        """The other processes of this machine that share the store; None if there are none."""
        self.on_follow: Callable[[Sequence[Entry]], None] = lambda entries: None
        """Called with the writes of others, in their order, before they count as known here; called again if it raises."""
        self.on_turn: Callable[[], None] = lambda: None
        """Called when this node has taken the turn and followed all writes."""
        self._writes_of = threading.local()
        self._one_writer = threading.Lock()
        self._following = threading.Lock()
        self._names: frozenset[IRI] | None = None  # the graphs that exist, until a write may have changed that
        self._is_closed = False
        self._replica: Replica | None = None
        # After an unclear write or a failure of the endpoint, the replica is not read until the feed has been.
        self._is_unsure = False
        self.followed_at = time.monotonic()
        """When this node last knew all that the store had, by `time.monotonic`."""
        head = self.feed.begin()
        self.id = head.id
        """The id of the store, created with its feed."""
        self._sequence, self._token = head.sequence, head.token
        if any(entry.journal for entry in self.feed.list_entries(head.sequence - 1)):  # of a node that has died
            self._sequence, self._token = head.sequence - 1, ""  # the turn brings the rest
        rows = client.select("SELECT ?g WHERE { GRAPH ?g {} } LIMIT 1")
        # Some engines cannot tell whether a graph exists from its name alone.
        self._every = "GRAPH ?g {} FILTER EXISTS { GRAPH ?g { ?s ?p ?o } }" if any(rows) else "GRAPH ?g { ?s ?p ?o }"

    @property
    def writes(self) -> int:
        """The number of the last write that this node knows of."""
        return self._sequence

    def keep_replica(self, replica: Replica) -> None:
        """
        Read from a replica whenever it has all writes that this node knows; fill one of the whole store before this returns.

        Raises:
            GraphError: endpoint or disk failed.
        """
        self._replica = replica
        if replica.is_whole:
            replica.resume(self._sequence)
            self.fill_replica()

    def fill_replica(self) -> None:
        """
        Bring a replica that is behind up to what this node knows, or fill it again; do nothing if it is current.

        Raises:
            GraphError: endpoint or disk failed; the replica is not read until another try succeeds.
        """
        replica = self._replica
        if replica is None or not replica.is_whole or self._is_closed or replica.sequence >= self._sequence:
            return
        if replica.sequence < 0 and not replica.fill(self._sequence):
            return
        with self.turn, self._one_writer, self._following:
            replica.follow_others([])

    @property
    def replica_state(self) -> str:
        """`current` if reads use the replica, `filling` while it is behind, `endpoint` if there is none of the whole store."""
        if self._replica is None or not self._replica.is_whole:
            return "endpoint"
        return "current" if self._open_replica() is not None else "filling"

    @property
    def copied(self) -> int:
        """The number of statements that are copied into the folder of this node."""
        return self._replica.statements if self._replica is not None else 0

    def _open_replica(self) -> Oxigraph | None:
        """Return the replica if it may be read in place of the endpoint."""
        replica = self._replica
        is_heard = time.monotonic() - self.followed_at < max(self.client.timeout_s, 5 * _TRUSTED_S)
        if replica is None or self._is_unsure or self._is_closed or not is_heard:
            return None
        return replica.local if replica.is_whole and replica.sequence >= self._sequence else None

    @property
    def is_behind(self) -> bool:
        """Whether another process of this machine has written something that this one has not followed yet."""
        return self.neighbours is not None and self.neighbours.sequence > self._sequence

    @property
    def is_told(self) -> bool:
        """Whether the feed need not be read now: it was just followed, and only processes of this machine write, none since."""
        is_quiet = self.neighbours is not None and not self.is_behind
        return is_quiet and time.monotonic() - self.followed_at < _TRUSTED_S

    @property
    def own_writes(self) -> int:
        """The number of writes of this thread."""
        return getattr(self._writes_of, "count", 0)

    def follow_feed(self) -> bool:
        """
        Follow the writes of other nodes, unless this node is writing; return whether there were any.

        Raises:
            GraphError: the endpoint failed; the next call continues where this one ended.
        """
        with self._following:
            if self.turn.lease is not None or self._is_closed:  # a writer has followed, and no other node writes now
                return False
            try:
                entries = self._list_new(self.feed.read_head())
            except LostTurn:  # the feed is gone: somebody has emptied the store
                self._is_unsure = True
                if self.id:
                    self._names = None
                    self.on_follow([Entry(sequence=0, told=Told(is_whole=True))])
                    self.id, self._sequence, self._token = "", 0, ""
                raise
            if not any(entry.journal for entry in entries) and self._follow(entries):
                return bool(entries)
        with self.turn:  # which waits for the node that is applying it, or finishes what a dead one left
            return True

    def changes(self, after: int) -> list[Entry]:
        """
        List the writes after a number, the oldest first; if the feed no longer has them, one entry with `is_whole` and no graphs.

        Raises:
            GraphError: the endpoint failed.
        """
        return self.feed.list_entries(after)

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        names = [name for name in readable if not _is_feed(name)]
        if (local := self._open_replica()) is not None:
            return local.select(query, names, **slots)
        self._raise_if_closed()
        rows = self.client.select(bind_query(query, dict(slots)), names, names)
        return read_rows(query, ({name: _to_blank(term) for name, term in row.items()} for row in rows))

    def apply(self, change: Change) -> None:
        forgets = any(quad[1] in _FORGETTING for quad in change.removes)
        forgets = forgets or any(quad[1] == MEM.expiredAt for quad in change.adds)
        try:
            removes, adds = to_quads(change.removes), to_quads(change.adds)
        except ValueError as error:
            raise GraphError(f"the store failed: {error}") from error
        self._commit(removes, adds, forgets=forgets)

    def apply_delta(self, delta: Delta, touched: Iterable[IRI] = ()) -> None:
        removes, adds = list(parse_quads(delta.removes)), list(parse_quads(delta.adds))
        forgets = any(quad.predicate.value in _FORGETTING for quad in removes) or bool(delta.cleared or delta.dropped)
        self._commit(removes, adds, cleared=(*delta.cleared, *delta.dropped), touched=touched, forgets=forgets)

    def minimise_delta(self, delta: Delta) -> Delta:
        removes, adds = list(parse_quads(delta.removes)), list(parse_quads(delta.adds))
        there = self._find([*removes, *adds])
        removes, adds = [quad for quad in removes if quad in there], [quad for quad in adds if quad not in there]
        return Delta(
            removes=serialise_quads(removes),
            adds=serialise_quads(adds),
            removed=len(removes),
            added=len(adds),
            cleared=delta.cleared,
            dropped=delta.dropped,
            created=delta.created,
            touched=delta.touched,
        )

    def extend(self, quads: Iterable[ox.Quad], subjects: Sequence[IRI], *, many: bool = False) -> None:
        self._commit([], list(quads), touched=subjects)

    def load(self, turtle: bytes, graph: IRI) -> None:
        try:
            triples = list(ox.parse(turtle, ox.RdfFormat.TURTLE, rename_blank_nodes=True))
        except (SyntaxError, ValueError) as error:
            raise GraphError(f"the store failed: {error}") from error
        into = ox.NamedNode(graph)
        adds = [ox.Quad(quad.subject, quad.predicate, quad.object, into) for quad in triples]
        # Nobody removes statements from a document, so its blank nodes can stay, for queries.
        self._commit([], adds, cleared=(graph,), name=lambda quad: quad)

    def graphs(self) -> list[IRI]:
        known, sequence = self._names, self._sequence
        if known is None and (local := self._open_replica()) is not None:
            known = frozenset(name for name in local.graphs() if not _is_feed(name))
        elif known is None:
            known = frozenset(self.list_graphs())
        if sequence == self._sequence:
            self._names = known
        return sorted(known)

    def has_graph(self, graph: IRI) -> bool:
        if (local := self._open_replica()) is not None:
            return not _is_feed(graph) and local.has_graph(graph)
        return not _is_feed(graph) and self.client.ask(f"ASK {{ GRAPH {to_term(graph)} {{ ?s ?p ?o }} }}")

    def quads(self, graph: IRI) -> Iterator[Quad]:
        for quad in self.match(graph=graph):
            subject = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else str(quad.subject)
            yield (IRI(subject), IRI(quad.predicate.value), to_value(quad.object), graph)

    def match(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        graph: str | None = None,
    ) -> Iterator[ox.Quad]:
        if graph is not None and _is_feed(graph):
            return iter(())
        if (local := self._open_replica()) is not None:
            return (quad for quad in local.match(subject, predicate, value, graph) if not _is_feed(graph_of(quad)))
        parts = {"s": subject, "p": predicate, "o": value, "g": graph}
        known: dict[str, Term] = {
            name: ox.NamedNode(f"{BLANK}{part[2:]}" if part.startswith("_:") else part)
            for name, part in parts.items()
            if part is not None
        }
        s, p, o, g = (str(known.get(name, f"?{name}")) for name in "spog")
        # Engines return the triples of a subject together, but none guarantees it.
        order = "" if subject else "ORDER BY ?g ?s"
        text = f"SELECT * WHERE {{ GRAPH {g} {{ {s} {p} {o} }} }} {order}"
        return _yield_quads(self._select(text), known)

    def holds(self, quad: ox.Quad) -> bool:
        if (local := self._open_replica()) is not None:
            return not _is_feed(graph_of(quad)) and local.holds(quad)
        return quad in self._find([quad])

    def backup(self, folder: Path, graphs: Collection[str] | None = None) -> Collection[str] | None:
        if self._replica is None:
            _refuse_files("backup")
        return self._replica.backup(folder, graphs)

    def end_segment(self, folder: Path) -> int:
        _refuse_files("journal")

    def copy_files(self, folder: Path) -> None:
        _refuse_files("copy")

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.turn.close()
            self.client.close()
            if self._replica is not None:
                self._replica.close()

    def read_graph(self, graph: IRI) -> Iterator[ox.Quad]:
        """Yield the quads of one named graph at the endpoint, in its order."""
        text = f"SELECT * WHERE {{ GRAPH {to_term(graph)} {{ ?s ?p ?o }} }}"
        yield from _yield_quads(self._select(text), {"g": ox.NamedNode(graph)})

    def read_subjects(self, subjects: Sequence[tuple[str, str]]) -> tuple[int, set[ox.Quad]]:
        """Return the number of the last write, and the endpoint's quads of some (graph, subject) pairs at that time."""
        by_graph: defaultdict[str, list[str]] = defaultdict(list)
        for graph, subject in subjects:
            by_graph[graph].append(f"<{BLANK}{subject[2:]}>" if subject.startswith("_:") else f"<{subject}>")
        parts = [f"GRAPH <{FEED}> {{ <{FEED}> <{FEED}:head> ?head }}"]
        parts += [
            f"VALUES ?s {{ {' '.join(nodes)} }} GRAPH <{graph}> {{ ?s ?p ?o }} BIND (<{graph}> AS ?g)"
            for graph, nodes in by_graph.items()
        ]
        rows = list(self._select(f"SELECT * WHERE {{ {' UNION '.join(f'{{ {part} }}' for part in parts)} }}"))
        heads = [int(str(to_value(row["head"]))) for row in rows if "head" in row]
        if len(heads) != 1:
            raise LostTurn(
                f"the store has {len(heads)} heads in <{FEED}>: it was emptied, or does not keep writers apart"
            )
        return heads[0], set(_yield_quads((row for row in rows if "head" not in row), {}))

    def count_graph(self, graph: IRI) -> int:
        """Count the quads of one named graph at the endpoint."""
        [row] = self._select(f"SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH {to_term(graph)} {{ ?s ?p ?o }} }}")
        return int(str(to_value(row["n"])))

    def list_graphs(self) -> list[IRI]:
        """List the graphs at the endpoint."""
        rows = self._select(f"SELECT DISTINCT ?g WHERE {{ {self._every} }}")
        return sorted(IRI(str(to_value(row["g"]))) for row in rows if not _is_ours(row["g"]))

    def _select(self, text: str) -> Iterator[Solution]:
        self._raise_if_closed()
        return self.client.select(text)

    def _raise_if_closed(self) -> None:
        if self._is_closed:
            raise GraphError("the store is closed")

    def _find(self, quads: Sequence[ox.Quad]) -> set[ox.Quad]:
        """Return which of some quads are there."""
        found: set[ox.Quad] = set()
        quads = [quad for quad in quads if graph_of(quad) != DEFAULT and not _is_feed(graph_of(quad))]
        nested = [quad for quad in quads if isinstance(quad.object, ox.Triple)]  # VALUES does not accept these
        found.update(
            quad
            for quad in nested
            if self.client.ask(f"ASK {{ GRAPH {quad.graph_name} {{ {_to_named(quad).triple} }} }}")
        )
        plain = [quad for quad in quads if not isinstance(quad.object, ox.Triple)]
        for begin in range(0, len(plain), _AT_ONCE):
            some = plain[begin : begin + _AT_ONCE]
            listed = " ".join(
                f"({place} {quad.graph_name} {quad.subject} {quad.predicate} {quad.object})"
                for place, quad in enumerate(map(_to_named, some))
            )
            text = f"SELECT ?i WHERE {{ VALUES (?i ?g ?s ?p ?o) {{ {listed} }} GRAPH ?g {{ ?s ?p ?o }} }}"
            found.update(some[int(str(to_value(row["i"])))] for row in self._select(text))
        return found

    def _commit(
        self,
        removes: Sequence[ox.Quad],
        adds: Sequence[ox.Quad],
        *,
        cleared: tuple[str, ...] = (),
        touched: Iterable[IRI] = (),
        forgets: bool = False,
        name: Callable[[ox.Quad], ox.Quad] | None = None,
    ) -> Entry | None:
        self._raise_if_closed()
        gone, come = {graph_of(quad) for quad in removes}, {graph_of(quad) for quad in adds}
        graphs = dict.fromkeys([*cleared, *sorted(gone | come)])
        if not graphs:
            return None
        if any(name == DEFAULT or _is_feed(name) for name in graphs):
            raise GraphError("a store behind an endpoint is written in named graphs alone: name one of the tenant's")
        subjects = dict.fromkeys([*touched, *_list_nodes([*removes, *adds])])
        is_whole = bool(cleared) or len(subjects) > TOLD
        told = Told(
            subjects=() if is_whole else tuple(subjects),
            graphs=tuple(graphs),
            is_whole=is_whole,
            forgets=forgets,
            is_quiet=not cleared and all(quad.predicate.value in _QUIET for quad in (*removes, *adds)),
        )
        writing = Writing(
            removes=[_to_named(quad, is_removed=True) for quad in removes],
            adds=list(map(name or _to_named, adds)),
            cleared=cleared,
            told=told,
        )
        with self.turn, self._one_writer:
            lease = self._require_lease()
            entry = self._enter(writing, lambda: self.feed.write_entry(writing, self._sequence, lease))
            self._writes_of.count = self.own_writes + 1
            is_same = self._names is not None and not cleared and gone <= come <= {str(name) for name in self._names}
            if not is_same:
                self._names = None
            return entry

    def _enter(self, writing: Writing, write: Callable[[], Entry]) -> Entry:
        """Make a write, and note it here and in the replica."""
        try:
            entry = write()
        except LostTurn:
            telemetry.increment("store_lost_writes_total")
            raise
        except Unanswered:
            self._is_unsure = True
            raise
        if self._replica is not None:
            self._replica.follow_own_write(entry, writing)
        self.followed_at, self._sequence, self._token = time.monotonic(), entry.sequence, entry.token
        if self.neighbours is not None:
            self.neighbours.tell(entry.sequence)
        return entry

    def _require_lease(self) -> str:
        if self.turn.lease is None:
            raise LostTurn("another node has taken the turn: ask again")
        if self.failure is not None:
            raise GraphError(f"nothing can be written: {self.failure}")
        return self.turn.lease

    def note_step(self) -> None:
        """
        Write only the next number of the feed, so that every node checks what it has of the store.

        Raises:
            GraphError: the endpoint failed.
        """
        writing = Writing(told=Told(is_quiet=True))
        with self.turn, self._one_writer:
            lease = self._require_lease()
            self._enter(writing, lambda: self.feed.write_entry(writing, self._sequence, lease))

    def _catch_up(self, head: Head) -> None:
        """Finish what another node has left, and follow the writes of others; this node has the turn."""
        with self._following:
            entries = self._list_new(head)
            for entry in entries:
                if entry.journal is not None:
                    self.feed.finish_entry(entry, head.lease)
            self._follow(entries)
        self.on_turn()

    def _list_new(self, head: Head) -> list[Entry]:
        """List the new writes; one entry of everything if the endpoint was emptied or restored to an earlier state."""
        if head.id == self.id and head.sequence >= self._sequence:
            if head.sequence == self._sequence and head.token == self._token:
                return []
            if not self._token:
                return self.changes(self._sequence)
            known, *entries = self.changes(self._sequence - 1) or [Entry(sequence=-1)]
            if known.sequence == self._sequence and known.token == self._token:
                return entries
        self.id = head.id
        journals = [entry.journal for entry in self.changes(head.sequence - 1) if entry.journal]
        return [
            Entry(
                sequence=head.sequence, token=head.token, told=Told(is_whole=True), journal=next(iter(journals), None)
            )
        ]

    def _follow(self, entries: Sequence[Entry]) -> bool:
        """Follow some entries; return False, with none followed, if another write came in between that is not applied yet."""
        if entries:
            self._names = None
            if self._replica is not None and self._replica.is_whole:
                reached = self._replica.follow_others(entries)
                if reached is None:
                    return False
                entries = reached
            self.on_follow(entries)
            self._names = None
            self._sequence, self._token = entries[-1].sequence, entries[-1].token
        self.followed_at, self._is_unsure = time.monotonic(), False
        return True


class _Dropped(GraphError):
    """The folder of a replica could not be written or read, and the replica was dropped."""


class Replica:
    """
    Keep a copy of a shared store, or of some of its graphs, in a local folder, and update it by the feed.

    *Guarantees:* a copy with the mark of a write is the store right after that write. An update in several pieces removes the mark
    first, so that a kill leaves either a correct copy or one that the next start drops.

    The store updates a copy of everything, write by write. A copy of some graphs is updated when it is copied for SPARQL, and never
    read itself.
    """

    def __init__(self, store: RemoteStore, folder: Path, *, whole: int, some: int) -> None:
        """
        Args:
            folder: created when needed.
            whole: quads up to which the whole store is copied; 0 to copy only requested graphs.
            some: most quads of requested graphs.
        """
        self._store, self._folder, self._whole, self._some = store, folder, whole, some
        self.is_whole = whole > 0
        """Whether it has, or will have, the whole store; false once that has too many quads."""
        self.sequence = -1
        """The write up to which it has everything; -1 if it is empty."""
        self.on_forget: Callable[[], None] = lambda: None
        """Called when texts are removed, because the engine still keeps them in its files."""
        self._local: Oxigraph | None = None
        self._graphs: set[str] = set()  # its graphs, unless it has the whole store
        self._mark: ox.Quad | None = None
        self._count = 0  # the number of quads, or a few more
        self._lock = threading.RLock()

    @property
    def local(self) -> Oxigraph | None:
        """The local copy, if it is the state of one moment; None otherwise."""
        return self._local if self._mark is not None else None

    def resume(self, sequence: int) -> None:
        """Reopen the copy of an earlier process if the feed leads on from it; otherwise delete it."""
        with self._lock:
            self.drop(spare=True)
            for path in self._folder.glob("*"):
                self._local = None
                with suppress(GraphError):
                    self._local = Oxigraph(path)
                    self._mark = next(self._local.match(_MARK[0].value, _MARK[1].value), None)
                said = json.loads(self._mark.object.value) if self._mark else {}  # type: ignore[union-attr]
                at = said.get("sequence", 0)
                if 0 < at <= sequence and said["id"] == self._store.id:
                    before = self._store.changes(at - 1)[:1]
                    if [(entry.sequence, entry.token) for entry in before] == [(at, said["token"])]:
                        self.sequence, self._count = at, said["quads"]
                        return
                self.drop()

    def fill(self, sequence: int) -> bool:
        """
        Copy the whole store as of some write, parts of it possibly as of a later one; return False if it is too large.

        Raises:
            GraphError: endpoint or disk failed.
        """
        begin, token = time.monotonic(), ""
        for entry in self._store.changes(sequence - 1)[:1]:
            token = entry.token if entry.sequence == sequence else ""
        graphs = self._store.list_graphs()
        count = sum(map(self._store.count_graph, graphs))
        if count > self._whole:
            self._refuse(count)
            return False
        with self._lock:
            self._open()
        for graph in graphs:
            self._copy_graph(graph)
        with self._lock:
            self._write((), (), (), sequence, token)
        logger.info("replica.filled", extra={"quads": self._count, "seconds": round(time.monotonic() - begin, 1)})
        return True

    def follow_own_write(self, entry: Entry, writing: Writing) -> None:
        """Apply a write of this node to the copy too, if the copy has everything before it."""
        with self._lock:
            if self.local is None or not self.is_whole or self.sequence != entry.sequence - 1:
                return
            removes, adds = ([_to_local(quad) for quad in side] for side in (writing.removes, writing.adds))
            if writing.cleared and writing.told.forgets:
                self.on_forget()
            with suppress(_Dropped):
                self._write(writing.cleared, removes, adds, entry.sequence, entry.token)
            if self._count > self._whole:
                self._refuse(self._count)

    def follow_others(self, entries: Sequence[Entry]) -> list[Entry] | None:
        """
        Apply the writes of others, and those that they make meanwhile.

        Returns:
            all writes that the copy now has; None if this must be tried again while nobody writes. A copy that cannot be brought up
            to date is dropped.

        Raises:
            GraphError: the endpoint failed; it may be tried again.
        """
        with self._lock:
            reached = list(entries)
            if self.sequence < 0:
                return reached
            is_next = bool(entries) and entries[0].sequence == self.sequence + 1
            news = reached if is_next else self._store.changes(self.sequence)
            reached += [entry for entry in news if not entries or entry.sequence > entries[-1].sequence]
            found: dict[tuple[str, str], set[ox.Quad]] = {}
            try:
                for _ in range(_ROUNDS):
                    if any(entry.journal for entry in reached[len(entries) :]):
                        return None
                    if any(entry.told.is_whole and not entry.told.graphs for entry in [*entries, *news]):
                        self.drop()
                        return reached
                    last = max([self.sequence, *(entry.sequence for entry in reached)])
                    head = self._read_news(news, found)
                    if last == self.sequence and not news:
                        return reached
                    if head <= last:
                        self._write_news(found, last, next((one.token for one in reversed(reached)), ""))
                        return reached
                    news = self._store.changes(last)
                    reached += news
            except _Dropped:
                return reached
            return None

    def backup(self, folder: Path, graphs: Collection[str] | None) -> Collection[str] | None:
        """
        Copy the current state of some graphs, or of all, to a new folder; the copy may have further graphs.

        Returns:
            the graphs that the copy has; None for all.

        Raises:
            TooMuch: they have more quads than the limit.
            GraphError: endpoint or disk failed, or the replica is being filled.
        """
        with self._lock:
            if not self.is_whole:
                self._bring(graphs)
            if self.local is None:
                raise GraphError("the copy of the store that SPARQL is answered on is being made: ask again")
            self.local.backup(folder)
            without_mark = Oxigraph(folder)
            without_mark.drop_graph(FEED)
            without_mark.close()
            return None if self.is_whole else frozenset(self._graphs)

    def drop(self, *, spare: bool = False) -> None:
        """Forget the copy; delete its files too, unless `spare` is set."""
        with self._lock:
            self._local = self._mark = None  # open readers keep their files until they finish
            self.sequence, self._count, self._graphs = -1, 0, set()
            if not spare:
                rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Close the copy; keep the files of a copy of the whole store for the next start."""
        with self._lock:
            if self._local is not None:
                self._local.close()
            self.drop(spare=self.is_whole)

    @property
    def _opened(self) -> Oxigraph:
        if self._local is None:
            raise _Dropped("the copy of the store was let go of meanwhile")
        return self._local

    def _open(self) -> None:
        self.drop()
        path = self._folder / uuid4().hex  # open readers keep an earlier one
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._local = Oxigraph(path)
        except OSError as error:
            raise GraphError(f"{self._folder} cannot hold a copy: {error.strerror}") from error

    @property
    def statements(self) -> int:
        """The number of its quads, or a few more."""
        return self._count

    def _refuse(self, count: int) -> None:
        logger.warning(
            "replica.too-large", extra={"quads": count, "most": self._whole, "setting": "store.replica_quads"}
        )
        self.is_whole = False
        self.drop()

    def _read_news(self, news: Sequence[Entry], found: dict[tuple[str, str], set[ox.Quad]]) -> int:
        """Read the current state of what some writes changed; return the number of the last write at that time."""
        told = [entry.told for entry in news]
        if any(one.is_whole and one.forgets for one in told):
            self.on_forget()
        for graph in dict.fromkeys(graph for one in told if one.is_whole for graph in one.graphs if self._has(graph)):
            for pair in [pair for pair in found if pair[0] == graph]:
                del found[pair]
            self._copy_graph(IRI(graph))
        pairs = dict.fromkeys(
            (graph, f"_:{subject[len(BLANK) :]}" if subject.startswith(BLANK) else subject)
            for one in told
            if not one.is_whole
            for graph in one.graphs
            if self._has(graph)
            for subject in one.subjects
        )
        listed, head = list(pairs), 0
        for begin in range(0, max(len(listed), 1), _AT_ONCE):
            some = listed[begin : begin + _AT_ONCE]
            at, quads = self._store.read_subjects(some)
            found.update((pair, set()) for pair in some)
            for quad in quads:
                subject = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else str(quad.subject)
                found[graph_of(quad), subject].add(quad)
            head = max(head, at)
        return head

    def _write_news(self, found: dict[tuple[str, str], set[ox.Quad]], sequence: int, token: str) -> None:
        removes: list[ox.Quad] = []
        adds: list[ox.Quad] = []
        for (graph, subject), new in found.items():
            old = set(self._opened.match(subject, graph=graph))
            removes += old - new
            adds += new - old
        self._write((), removes, adds, sequence, token)

    def _has(self, graph: str) -> bool:
        return self.is_whole or graph in self._graphs

    def _copy_graph(self, graph: IRI) -> None:
        """Copy the current state of one graph, piece by piece."""
        self._unmark()
        with self._dropping():
            if self._opened.has_graph(graph):
                self._count -= sum(1 for _ in self._opened.match(graph=graph))
                self._opened.drop_graph(graph)
        quads = self._store.read_graph(graph)
        while some := list(islice(quads, _PIECE)):
            with self._dropping():
                self._opened.extend(some, (), many=True)
            self._count += len(some)

    def _unmark(self) -> None:
        if self._mark is not None:
            old, self._mark = self._mark, None
            with self._dropping():
                self._opened.apply_delta(Delta(removes=serialise_quads([old]), removed=1))

    def _write(
        self, cleared: Sequence[str], removes: Sequence[ox.Quad], adds: Sequence[ox.Quad], sequence: int, token: str
    ) -> None:
        """Write, and mark the copy as complete up to some write; in one piece, unless much is added."""
        if any(quad.predicate.value == MEM.content for quad in removes):
            self.on_forget()
        with self._dropping():
            self._count += len(adds) - len(removes)
            self._count -= sum(1 for graph in cleared for _ in self._opened.match(graph=graph))
            if len(adds) >= BULK:
                self._unmark()
                if cleared or removes:
                    self._opened.apply_delta(Delta(removes=serialise_quads(removes), cleared=tuple(cleared)))
                self._opened.extend(adds, (), many=True)
                cleared, removes, adds = (), (), ()
            said = {"id": self._store.id, "sequence": sequence, "token": token, "quads": self._count}
            mark = ox.Quad(*_MARK, ox.Literal(json.dumps(said)), _MARK[0])
            old = [self._mark] if self._mark is not None else []
            self._opened.apply_delta(
                Delta(
                    removes=serialise_quads([*removes, *old]),
                    adds=serialise_quads([*adds, mark]),
                    cleared=tuple(cleared),
                )
            )
            for graph in {*cleared, *map(graph_of, removes)}:
                if next(self._opened.match(graph=graph), None) is None:
                    self._opened.drop_graph(IRI(graph))
            self._mark, self.sequence = mark, sequence

    @contextmanager
    def _dropping(self) -> Iterator[None]:
        """Drop the copy if its folder cannot be written or read."""
        try:
            yield
        except GraphError as error:
            if not isinstance(error, _Dropped):
                logger.warning("replica.dropped", extra={"error": str(error.__cause__ or error)[:500]})
                self.drop()
            raise _Dropped(str(error)) from error

    def _bring(self, graphs: Collection[str] | None) -> None:
        """Copy the current state of some graphs, or of all; keep graphs requested earlier while there is room."""
        known = self._store.list_graphs()
        wanted = [graph for graph in known if graphs is None or graph in graphs]
        if self._local is not None:
            news = list(takewhile(lambda entry: entry.journal is None, self._store.changes(self.sequence)))
            if news and self.follow_others(news) is None:
                self.drop()
        if self._local is None:
            sequence = self._store.feed.read_head().sequence
            self._open()
            self._write((), (), (), sequence, "")
        missing = {graph: self._store.count_graph(graph) for graph in wanted if graph not in self._graphs}
        needed = sum(missing.values())
        if missing and needed + self._count > self._some and self._graphs - set(wanted):
            self.drop()  # the graphs of another caller, for an earlier query
            self._bring(graphs)
            return
        if needed + self._count > self._some:
            raise TooMuch(
                f"SPARQL is answered on a copy of the graphs that it may read, which have {needed + self._count} statements: more "
                f"than {self._some} (store.snapshot_quads); name fewer graphs, ask the endpoint itself, or raise the setting"
            )
        sequence = self.sequence
        for graph in missing:
            self._copy_graph(graph)
            self._graphs.add(graph)
        self._write((), (), (), sequence, "")


def _is_feed(graph: str) -> bool:
    return graph == FEED or graph.startswith(f"{FEED}:")


def _is_ours(term: Term) -> bool:
    return isinstance(term, ox.NamedNode) and _is_feed(term.value)


def _refuse_files(what: str) -> NoReturn:
    raise GraphError(
        f"a store behind an endpoint has no files here, and so no {what}: use the engine's own, or `memento export`"
    )


def _to_named(quad: ox.Quad, *, is_removed: bool = False) -> ox.Quad:
    """Return a quad as an endpoint stores it: with IRIs for its blank nodes."""

    def to_name(term: Term) -> Term:
        if isinstance(term, ox.BlankNode):
            if is_removed and term.value.startswith(_FOREIGN):
                raise GraphError(
                    "a blank node that was written at the endpoint itself has no name by which it could be taken out: "
                    "take it out there"
                )
            return ox.NamedNode(BLANK + term.value)
        if isinstance(term, ox.Triple):
            return ox.Triple(to_name(term.subject), term.predicate, to_name(term.object))  # type: ignore[arg-type]
        return term

    return ox.Quad(to_name(quad.subject), quad.predicate, to_name(quad.object), quad.graph_name)  # type: ignore[arg-type]


def _to_blank(term: Term) -> Term:
    """Return a term of an endpoint as callers wrote it: with blank nodes for their IRIs."""
    if isinstance(term, ox.NamedNode) and term.value.startswith(BLANK):
        return ox.BlankNode(term.value[len(BLANK) :])
    if isinstance(term, ox.BlankNode):
        return ox.BlankNode(_FOREIGN + term.value)
    if isinstance(term, ox.Triple):
        return ox.Triple(_to_blank(term.subject), term.predicate, _to_blank(term.object))  # type: ignore[arg-type]
    return term


def _to_local(quad: ox.Quad) -> ox.Quad:
    """Return a quad that was written to an endpoint as this node reads it."""
    return ox.Quad(_to_blank(quad.subject), quad.predicate, _to_blank(quad.object), quad.graph_name)  # type: ignore[arg-type]


def _yield_quads(rows: Iterable[Solution], known: dict[str, Term]) -> Iterator[ox.Quad]:
    for row in rows:
        graph = known.get("g") or row["g"]
        if _is_ours(graph):
            continue
        s, p, o = (_to_blank(known.get(name) or row[name]) for name in "spo")
        yield ox.Quad(s, p, o, graph)  # type: ignore[arg-type]


def _list_nodes(quads: Iterable[ox.Quad]) -> list[IRI]:
    """List the subjects of some quads, and the objects of the predicates in `_ENDS`."""
    nodes = []
    for quad in quads:
        subject = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else str(quad.subject)
        nodes.append(IRI(subject))
        if quad.predicate.value in _ENDS and isinstance(quad.object, ox.NamedNode):
            nodes.append(IRI(quad.object.value))
    return nodes
