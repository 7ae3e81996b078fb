"""
Read and write a store behind a SPARQL 1.1 endpoint that several nodes share.

*Guarantees:* a write is made whole or not at all, after everything that this node has followed; otherwise `LostTurn` says that
another node was first. Every read is answered by the endpoint, so it sees every write that was acknowledged before.

*But:* an endpoint does not disclose stable names of its blank nodes. Ours are stored as IRIs, `urn:memento:bnode:…`, and read as
blank nodes; those that others wrote at the endpoint can be read, but not removed one by one. An empty named graph does not exist,
and the endpoint's default graph is not used.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn

import pyoxigraph as ox

from memento import telemetry
from memento.errors import GraphError, LostTurn, TooMuch
from memento.graph.binding import Solution, Term, bind_query, read_rows
from memento.graph.oxigraph import Oxigraph
from memento.graph.store import DEFAULT, Delta, Row, graph_of, parse_quads, serialise_quads
from memento.graph.terms import to_quads, to_term, to_value
from memento.iris import IRI, MEM
from memento.model import Change, Quad, Value
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.feed import FEED, TOLD, Entry, Feed, Head, Told, Turn, Writing

logger = logging.getLogger(__name__)

BLANK = "urn:memento:bnode:"
"""The prefix of IRIs that stand for blank nodes at an endpoint."""

_FOREIGN = "endpoint-"
"""The prefix, here, of the names of blank nodes that others wrote at the endpoint."""

_AT_ONCE = 1_000  # quads or nodes that one request looks up
_PIECE = 50_000  # quads copied at once
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


LOOK_S = 5.0
"""Seconds that a request waits to hear from the store whether another node has written."""


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
        self._quick = client.with_timeout(min(client.timeout_s, LOOK_S))
        self.turn = Turn(self.feed, node, lease_s, client.timeout_s if patience_s is None else patience_s)
        """Held by a writer from before it reads what its decision depends on; a write takes it for itself if nobody holds it."""
        self.turn.on_take = self._catch_up
        self.on_follow: Callable[[Sequence[Entry]], None] = lambda entries: None
        """Called with the writes of others, in their order, before they count as known here; called again if it raises."""
        self.most_copied = 0
        """Statements that `backup` copies at most."""
        self.on_turn: Callable[[], None] = lambda: None
        """Called when this node has taken the turn and followed all writes."""
        self._writes_of = threading.local()
        self._one_writer = threading.Lock()
        self._following = threading.Lock()
        self._names: frozenset[IRI] | None = None  # the graphs that exist, until a write may have changed that
        self._is_closed = False
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

    @property
    def own_writes(self) -> int:
        """The number of writes of this thread."""
        return getattr(self._writes_of, "count", 0)

    def follow_feed(self) -> bool:
        """
        Follow the writes of other nodes, unless this node is writing; return whether there were any.

        A store that stops to answer holds nobody up for longer than twice `LOOK_S`, as a query is asked twice.

        Raises:
            GraphError: the endpoint failed; the next call continues where this one ended.
        """
        if not self._following.acquire(timeout=LOOK_S):
            raise GraphError(f"{self.client.mask_url(self.client.query_url)} did not answer within {LOOK_S:g} s")
        try:
            if self.turn.lease is not None or self._is_closed:  # a writer has followed, and no other node writes now
                return False
            try:
                entries = self._list_new(Feed(self._quick).read_head())
            except LostTurn:  # the feed is gone: somebody has emptied the store
                if self.id:
                    self._names = None
                    self.on_follow([Entry(sequence=0, told=Told(is_whole=True))])
                    self.id, self._sequence, self._token = "", 0, ""
                raise
            if not any(entry.journal for entry in entries):
                self._follow(entries)
                return bool(entries)
        finally:
            self._following.release()
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
        if known is None:
            known = frozenset(self.list_graphs())
        if sequence == self._sequence:
            self._names = known
        return sorted(known)

    def has_graph(self, graph: IRI) -> bool:
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
        return quad in self._find([quad])

    def backup(self, folder: Path, graphs: Collection[str] | None = None) -> Collection[str] | None:
        """
        Copy the current state of some graphs, or of all, to a new folder; return their names, None for all.

        Raises:
            TooMuch: they have more statements than `most_copied`.
            GraphError: endpoint or disk failed.
        """
        wanted = [name for name in self.list_graphs() if graphs is None or name in graphs]
        listed = " ".join(str(to_term(name)) for name in wanted)
        [row] = self._select(f"SELECT (COUNT(*) AS ?n) WHERE {{ VALUES ?g {{ {listed} }} GRAPH ?g {{ ?s ?p ?o }} }}")
        if (needed := int(str(to_value(row["n"])))) > self.most_copied:
            raise TooMuch(
                f"SPARQL is answered on a copy of the graphs that it may read, which have {needed} statements: more than "
                f"{self.most_copied} (store.snapshot_quads); name fewer graphs, ask the endpoint itself, or raise the setting"
            )
        copy = Oxigraph(folder)
        try:
            # One request is answered on one state of the store.
            quads = _yield_quads(
                self._select(f"SELECT * WHERE {{ VALUES ?g {{ {listed} }} GRAPH ?g {{ ?s ?p ?o }} }}"), {}
            )
            while some := list(islice(quads, _PIECE)):
                copy.extend(some, (), many=True)
        finally:
            copy.close()
        return graphs

    def end_segment(self, folder: Path) -> int:
        _refuse_files("journal")

    def copy_files(self, folder: Path) -> None:
        _refuse_files("copy")

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.turn.close()
            self._quick.close()
            self.client.close()

    def read_graph(self, graph: IRI) -> Iterator[ox.Quad]:
        """Yield the quads of one named graph at the endpoint, in its order."""
        text = f"SELECT * WHERE {{ GRAPH {to_term(graph)} {{ ?s ?p ?o }} }}"
        yield from _yield_quads(self._select(text), {"g": ox.NamedNode(graph)})

    def list_graphs(self) -> list[IRI]:
        """List the graphs at the endpoint."""
        rows = self._select(f"SELECT DISTINCT ?g WHERE {{ {self._every} }}")
        return sorted(IRI(str(to_value(row["g"]))) for row in rows if not _is_ours(row["g"]))

    def _select(self, text: str) -> Iterator[Solution]:
        self._raise_if_closed()
        return self.client.select(text)

    def _raise_if_closed(self) -> None:
        if self._is_closed:
            raise GraphError("the memory is closed: open it again")

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
        """Make a write, and note it here."""
        try:
            entry = write()
        except LostTurn:
            telemetry.increment("store_lost_writes_total")
            raise
        self._sequence, self._token = entry.sequence, entry.token
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

    def _follow(self, entries: Sequence[Entry]) -> None:
        if entries:
            self._names = None
            self.on_follow(entries)
            self._names = None
            self._sequence, self._token = entries[-1].sequence, entries[-1].token


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
