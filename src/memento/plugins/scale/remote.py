"""
Read and write a store behind a SPARQL 1.1 endpoint that several nodes share.

*Guarantees:* a write is made whole or not at all. The first of an operation is made only if no other node has written since it was
decided, else it is `LostTurn`, and `Node.run` repeats the operation. A later one of the same operation is made if all that it
removes is still there. Every read is answered by the endpoint, so it sees every write that was acknowledged before.

*But:* an endpoint does not disclose stable names of its blank nodes. Ours are stored as IRIs, `urn:memento:bnode:…`, and read as
blank nodes; those that others wrote at the endpoint can be read, but not removed one by one. An empty named graph does not exist,
and the endpoint's default graph is not used.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from memento.iris import IRI, MEM, ONTOLOGY
from memento.model import Change, Quad, Value
from memento.plugins.scale.endpoint import SparqlClient
from memento.plugins.scale.system import Head, System, Writing, is_system
from memento.search.nodes import is_indexed

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
"""Predicates that the use of memories changes, and those of stored profiles."""

LOOK_S = 5.0
"""Seconds that a request waits to hear from the store whether another node has written."""

_TRIES = 100


class _Thread(threading.local):
    """What a thread has written."""

    writes = 0
    """How often it has written more than the effects of use."""
    begun = -1
    """`writes` when the operation began that may be repeated; -1 in none."""
    owed: dict[IRI, set[IRI]] | None = None
    """The nodes that the engine lacks, by debt, while it has the writers' lock."""
    is_mixed = False
    """Whether another node has written between two writes that are owed."""


class RemoteStore:
    """`Store` over an endpoint."""

    is_on_disk = False

    def __init__(self, client: SparqlClient) -> None:
        """
        Raises:
            GraphError: the endpoint cannot be reached, read or written.
        """
        self.failure: str | None = None
        """Why this node must not write, as its program is too old for the store. Not set while the endpoint is merely away."""
        self.on_failure: Callable[[], None] | None = None
        self.client = client
        self.system = System(client)
        self._quick = client.with_timeout(min(client.timeout_s, LOOK_S))
        self._quick_system = System(self._quick)
        self.most_copied = 0
        """Statements that `backup` copies at most."""
        self.of_thread = _Thread()
        self._one_writer = threading.Lock()
        self._following = threading.Lock()
        self._names: tuple[Head, frozenset[IRI]] | None = None  # the graphs that existed at a head
        self._is_closed = False
        self.head = self.system.begin()
        """The last write that this node knows of."""
        self._behind: Head | None = (
            None  # where this node was when it wrote after others, whose writes it has not looked at
        )
        self.in_flight = frozenset[IRI]()
        """The debts that writers of this node are about to pay."""
        rows = client.select("SELECT ?g WHERE { GRAPH ?g {} } LIMIT 1")
        # Some engines cannot tell whether a graph exists from its name alone.
        self._every = "GRAPH ?g {} FILTER EXISTS { GRAPH ?g { ?s ?p ?o } }" if any(rows) else "GRAPH ?g { ?s ?p ?o }"

    @property
    def id(self) -> str:
        """The id of the store, created with its system graph."""
        return self.head.id

    @property
    def writes(self) -> int:
        """The number of the last write that this node knows of."""
        return self.head.number

    def refresh(self, drop: Callable[[Head, Head], None]) -> Head:
        """
        Ask for the last write, and return it.

        A store that stops to answer holds nobody up for longer than twice `LOOK_S`, as a query is asked twice.

        Args:
            drop: called with the known head and the new one if another node has written since, before the new one is known.

        Raises:
            GraphError: the endpoint failed, or `drop` did; the next call tries again.
        """
        self._raise_if_closed()
        before = self.head
        found = self._quick_system.read_head()
        if not self._following.acquire(timeout=LOOK_S):
            raise GraphError(f"{self.client.mask_url(self.client.query_url)} did not answer within {LOOK_S:g} s")
        try:
            known = self.head
            seen = self._behind or known
            is_late = known is not before and found.id == known.id and found.number <= known.number
            if not is_late and not found.is_at(seen):
                drop(seen, found)
                with self._one_writer:
                    if self.head is known:
                        self.head, self._behind = replace(found, debts=frozenset()), None
            return found
        finally:
            self._following.release()

    @contextmanager
    def attempt(self) -> Iterator[Callable[[], bool]]:
        """Let writes of this thread fail if another node was first, until it has written; yields whether it has."""
        mine, before = self.of_thread, self.of_thread.begun
        mine.begun = begun = mine.writes
        try:
            yield lambda: mine.writes != begun
        finally:
            mine.begun = before

    def owe_here(self) -> None:
        """Begin to note what the writes of this thread owe the engine."""
        self.of_thread.owed, self.of_thread.is_mixed = {}, False

    def end_owing(self) -> None:
        """Leave to any node what this thread has not paid."""
        owed, self.of_thread.owed = self.of_thread.owed or {}, None
        with self._one_writer:
            self.in_flight -= owed.keys()

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        names = [name for name in readable if not is_system(name)]
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
        head, known = self.head, self._names
        if known is None or known[0] is not head:
            known = self._names = head, frozenset(self.list_graphs())
        return sorted(known[1])

    def has_graph(self, graph: IRI) -> bool:
        return not is_system(graph) and self.client.ask(f"ASK {{ GRAPH {to_term(graph)} {{ ?s ?p ?o }} }}")

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
        if graph is not None and is_system(graph):
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
        quads = [quad for quad in quads if graph_of(quad) != DEFAULT and not is_system(graph_of(quad))]
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
    ) -> None:
        self._raise_if_closed()
        gone, come = ({graph_of(quad) for quad in quads} for quads in (removes, adds))
        graphs = dict.fromkeys([*cleared, *sorted(gone | come)])
        if not graphs:
            return
        if any(graph == DEFAULT or is_system(graph) for graph in graphs):
            raise GraphError("a store behind an endpoint is written in named graphs alone: name one of the tenant's")
        if self.failure is not None:
            raise GraphError(f"nothing can be written: {self.failure}")
        indexed = [graph for graph in graphs if is_indexed(IRI(graph))]
        quads = [quad for quad in (*removes, *adds) if graph_of(quad) in indexed]
        # A blank node belongs to somebody's own RDF, and no index contains it.
        nodes = [one for one in dict.fromkeys([*touched, *_list_nodes(quads)]) if not one.startswith("_:")]
        writing = Writing(
            removes=[_to_named(quad, is_removed=True) for quad in removes],
            adds=list(map(name or _to_named, adds)),
            cleared=cleared,
            nodes=nodes if indexed else (),
            graphs=indexed,
            cuts=forgets or bool(cleared) or ONTOLOGY in graphs,
        )
        is_quiet = not cleared and all(quad.predicate.value in _QUIET for quad in (*removes, *adds))
        mine = self.of_thread
        with self._one_writer:
            before = self.head
            try:
                made = self.system.write(writing, before)
            except LostTurn:
                telemetry.increment("store_lost_writes_total")
                if mine.begun == mine.writes and not is_quiet:
                    raise
                made = self._write_later(writing, removes)
                self._behind, mine.is_mixed = self._behind or before, bool(mine.owed)
            self.head, names = replace(made, debts=frozenset()), self._names
            if names and names[0] is before and self._behind is None and not cleared and gone <= come <= names[1]:
                self._names = self.head, names[1]  # no graph has come or gone
            if mine.owed is not None:
                mine.owed.update((debt, set(nodes)) for debt in made.debts)
                self.in_flight |= made.debts
            mine.writes += not is_quiet

    def _write_later(self, writing: Writing, removes: Sequence[ox.Quad]) -> Head:
        """Make a write after those of other nodes that came first, if all that it removes is still there."""
        for _ in range(_TRIES):
            head = self.system.read_head()
            if not self._find(removes).issuperset(removes):
                raise LostTurn("another node has changed the same: ask again")
            try:
                return self.system.write(writing, head)
            except LostTurn:
                time.sleep(random.uniform(0.0, 0.02))
        raise LostTurn("other nodes write all the time: ask again")


def _is_ours(term: Term) -> bool:
    return isinstance(term, ox.NamedNode) and is_system(term.value)


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
