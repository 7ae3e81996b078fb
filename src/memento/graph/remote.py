"""
The store behind a SPARQL 1.1 endpoint, which several nodes share, and the copy of some of its graphs that foreign SPARQL is run on.

*Guarantees:* a write is whole or not there, and comes after all that this node has followed; else `LostTurn` says that another node
was first. What others wrote is followed in their order, and never before it is in the store.

*But:* an endpoint tells nobody the names of its blank nodes. Ours are kept as IRIs, `urn:memento:bnode:…`, and are blank nodes
again for whoever reads them here; those that somebody else has written there can be read, and not be taken out one by one. An empty
named graph is none, and its default graph is left alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from shutil import rmtree
from types import TracebackType
from typing import NoReturn

import pyoxigraph as ox

from memento.errors import GraphError, LostTurn, TooMuch
from memento.graph.binding import bind_query, load_query
from memento.graph.endpoint import Solution, SparqlClient, Term
from memento.graph.feed import FEED, TOLD, Entry, Feed, Head, Neighbours, Told, Turn, Writing
from memento.graph.oxigraph import Oxigraph
from memento.graph.store import DEFAULT, Delta, Row, graph_of, parse_quads, serialise_quads
from memento.graph.terms import to_quads, to_term, to_value
from memento.iris import IRI, MEM
from memento.model import Change, Quad, Value

BLANK = "urn:memento:bnode:"
"""How the IRIs begin that stand for blank nodes at an endpoint."""

_FOREIGN = "endpoint-"
"""How the names begin, here, of blank nodes that somebody else has written at the endpoint."""

_AT_ONCE = 1_000  # quads that are looked for, or nodes that are read, by one request
_ENDS = (MEM.to, MEM.invalidated)
"""Where what a write says leads on: the indexes of what is there are outdated too."""
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
"""What use does to memories, and the answers of pages."""


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
        """Why this node must not write, as its program is too old for the store; an endpoint that was away is no such reason."""
        self.on_failure: Callable[[], None] | None = None
        self.client = client
        self.feed = Feed(client)
        self.turn = Turn(self.feed, node, lease_s, client.timeout_s if patience_s is None else patience_s)
        """Held by whoever writes, from before it reads what it decides by; each write takes it for itself where nobody does."""
        self.turn.on_take = self._catch_up
        self.neighbours: Neighbours | None = None
        """The other processes of this machine that share the store, where there are any."""
        self.on_follow: Callable[[Sequence[Entry]], None] = lambda entries: None
        """Told what others wrote, in their order, before it counts as known here; what it raises is tried again."""
        self.on_turn: Callable[[], None] = lambda: None
        """Called when this node has taken the turn and followed all there is."""
        self._one_writer = threading.Lock()
        self._following = threading.Lock()
        self._names: frozenset[IRI] | None = None  # the graphs there are, until a write may have changed that
        self._is_closed = False
        head = self.feed.begin()
        self.id = head.id
        """That of the store, made with its feed."""
        self._sequence, self._token = head.sequence, head.token
        if any(entry.journal for entry in self.feed.list_entries(head.sequence - 1)):  # of a node that has died
            self._sequence, self._token = head.sequence - 1, ""
        rows = client.select("SELECT ?g WHERE { GRAPH ?g {} } LIMIT 1")
        # Some engines know no graph by its name alone.
        self._every = "GRAPH ?g {} FILTER EXISTS { GRAPH ?g { ?s ?p ?o } }" if any(rows) else "GRAPH ?g { ?s ?p ?o }"

    @property
    def writes(self) -> int:
        """The number of the last write that this node knows of."""
        return self._sequence

    @property
    def is_behind(self) -> bool:
        """Whether another process of this machine has written what is not followed yet."""
        return self.neighbours is not None and self.neighbours.sequence > self._sequence

    def follow_feed(self) -> bool:
        """
        Follow what others wrote, unless this node is writing; return whether there was any.

        Raises:
            GraphError: the endpoint failed; the next call goes on where this one ended.
        """
        with self._following:
            if self.turn.lease is not None or self._is_closed:  # a writer has followed, and nobody else writes now
                return False
            try:
                head = self.feed.read()
            except LostTurn:  # somebody has emptied the store
                if self.id:
                    self._follow([Entry(sequence=0, told=Told(is_whole=True))])
                    self.id = ""
                raise
            entries = self._list_new(head)
            if not any(entry.journal for entry in entries):
                self._follow(entries)
                return bool(entries)
        with self.turn:  # which waits for who is applying it, and finishes what a dead one has left
            return True

    def changes(self, after: int) -> list[Entry]:
        """
        List what was written after a number, the oldest first; where that is not known any more, one entry with `is_whole` and no
        graphs.

        Raises:
            GraphError: the endpoint failed.
        """
        return self.feed.list_entries(after)

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        text, readable_part = bind_query(query, dict(slots)), load_query(query).drop_unreadable
        rows = (
            {name: to_value(_to_blank(term)) for name, term in row.items()}
            for row in self._select_within(text, readable)
        )
        return [row for found in rows if (row := readable_part(found)) is not None]

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
        # Nobody takes a statement out of a document: its blank nodes may stay what they are, for queries that look at it.
        self._commit([], adds, cleared=(graph,), name=lambda quad: quad)

    def graphs(self) -> list[IRI]:
        known, sequence = self._names, self._sequence
        if known is None:
            rows = self._select(f"SELECT DISTINCT ?g WHERE {{ {self._every} }}")
            known = frozenset(IRI(str(to_value(row["g"]))) for row in rows if not _is_ours(row["g"]))
            if sequence == self._sequence:
                self._names = known
        return sorted(known)

    def has(self, graph: IRI) -> bool:
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
        # Engines give the triples of a subject together, but none says so.
        order = "" if subject else "ORDER BY ?g ?s"
        text = f"SELECT * WHERE {{ GRAPH {g} {{ {s} {p} {o} }} }} {order}"
        return _yield_quads(self._select(text), known)

    def holds(self, quad: ox.Quad) -> bool:
        return quad in self._find([quad])

    def backup(self, folder: Path) -> None:
        _refuse_files("backup")

    def end_segment(self, folder: Path) -> int:
        _refuse_files("journal")

    def copy(self, folder: Path) -> None:
        _refuse_files("copy")

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.turn.close()
            self.client.close()

    def read_subjects(self, graph: IRI, subjects: Sequence[str] | None = None) -> Iterator[ox.Quad]:
        """Yield the quads of one named graph, those of some subjects alone where they are given."""
        if subjects is None:
            yield from self.match(graph=graph)
            return
        for begin in range(0, len(subjects), _AT_ONCE):
            some = subjects[begin : begin + _AT_ONCE]
            nodes = " ".join(f"<{BLANK}{one[2:]}>" if one.startswith("_:") else f"<{one}>" for one in some)
            text = f"SELECT * WHERE {{ VALUES ?s {{ {nodes} }} GRAPH {to_term(graph)} {{ ?s ?p ?o }} }}"
            yield from _yield_quads(self._select(text), {"g": ox.NamedNode(graph)})

    def count_graph(self, graph: IRI) -> int:
        """Count the quads of one named graph."""
        [row] = self._select(f"SELECT (COUNT(*) AS ?n) WHERE {{ GRAPH {to_term(graph)} {{ ?s ?p ?o }} }}")
        return int(str(to_value(row["n"])))

    def _select(self, text: str) -> Iterator[Solution]:
        self._raise_if_closed()
        return self.client.select(text)

    def _select_within(self, text: str, readable: Sequence[IRI]) -> Iterator[Solution]:
        self._raise_if_closed()
        names = [name for name in readable if not _is_feed(name)]
        return self.client.select(text, names, names)

    def _raise_if_closed(self) -> None:
        if self._is_closed:
            raise GraphError("the store is closed")

    def _find(self, quads: Sequence[ox.Quad]) -> set[ox.Quad]:
        """Return which of some quads are there."""
        found: set[ox.Quad] = set()
        quads = [quad for quad in quads if graph_of(quad) != DEFAULT and not _is_feed(graph_of(quad))]
        nested = [quad for quad in quads if isinstance(quad.object, ox.Triple)]  # which VALUES do not take
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
        gone, come = {graph_of(quad) for quad in removes}, {graph_of(quad) for quad in adds}
        graphs = dict.fromkeys([*cleared, *sorted(gone | come)])
        if not graphs:
            return
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
        known = {str(one) for one in self._names or ()}
        self._write(writing, is_same=not cleared and gone <= come <= known)

    def _write(self, writing: Writing, *, is_same: bool) -> None:
        """Make the next write; `is_same` where there are the same graphs afterwards, if those before are known."""
        with self.turn, self._one_writer:
            if self.turn.lease is None:
                raise LostTurn("another node has taken the turn: ask again")
            if self.failure is not None:
                raise GraphError(f"nothing can be written: {self.failure}")
            entry = self.feed.write(writing, self._sequence, self.turn.lease)
            self._sequence, self._token = entry.sequence, entry.token
            if self.neighbours is not None:
                self.neighbours.tell(entry.sequence)
            if not is_same:
                self._names = None

    def note_step(self) -> None:
        """
        Write nothing but the next number of the feed, so that every node looks at what it has of the store.

        Raises:
            GraphError: the endpoint failed.
        """
        self._write(Writing(told=Told(is_quiet=True)), is_same=True)

    def _catch_up(self, head: Head) -> None:
        """Finish what another node has left, and follow what others wrote: the turn is this node's."""
        with self._following:
            entries = self._list_new(head)
            for entry in entries:
                if entry.journal is not None:
                    self.feed.finish_entry(entry, head.lease)
            self._follow(entries)
        self.on_turn()

    def _list_new(self, head: Head) -> list[Entry]:
        """List what was written since; anything at all where the endpoint was put back to an earlier state, or emptied."""
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


class WriteLock:
    """
    The lock of all writers of this process, and of all nodes: as a `threading.Lock`, but that whoever has it has the turn among the
    nodes too, and the indexes have followed all that others wrote.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._lock = threading.Lock()
        self._count = threading.Lock()

    def __enter__(self) -> None:
        with self._count:
            self._turn.waiting += 1
        try:
            self._lock.acquire()
        finally:
            with self._count:
                self._turn.waiting -= 1
        try:
            self._turn.__enter__()
        except BaseException:
            self._lock.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._turn.__exit__(kind, error, traceback)
        finally:
            self._lock.release()


class Mirror:
    """
    A copy of some graphs of a shared store in a local folder, brought up to date by what the feed tells, for whoever needs files.

    Used under a lock of its owner.
    """

    def __init__(self, store: RemoteStore, folder: Path, most: int) -> None:
        """
        Args:
            folder: made when it is needed; what an earlier process left there is no good.
            most: quads that it may hold.
        """
        self._store, self._folder, self._most = store, folder, most
        self._local: Oxigraph | None = None
        self._counts: dict[IRI, int] = {}
        self._sequence = -1
        rmtree(folder, ignore_errors=True)

    def backup(self, folder: Path, graphs: Collection[str] | None) -> None:
        """
        Copy some graphs, or all, as they are now, to a folder that is not there yet; others may be there too.

        Raises:
            TooMuch: they have more quads than it may hold.
            GraphError: endpoint or disk failed.
        """
        known = self._store.graphs()
        wanted = known if graphs is None else [graph for graph in known if graph in graphs]
        try:
            if self._local is None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._local, self._sequence = Oxigraph(self._folder), self._store.feed.read().sequence
            self._refresh_graphs(self._local)
            self._bring(self._local, wanted)
            self._local.backup(folder)
        except OSError as error:
            self.drop()
            raise GraphError(f"{self._folder} cannot hold a copy: {error.strerror}") from error
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Let go of every copy."""
        if self._local is not None:
            self._local.close()
        self._local, self._counts = None, {}
        rmtree(self._folder, ignore_errors=True)

    def _refresh_graphs(self, local: Oxigraph) -> None:
        for entry in self._store.changes(self._sequence):
            if entry.journal is not None:  # which is being applied
                break
            told = entry.told
            concerned = [graph for graph in self._counts if not told.graphs or graph in told.graphs]
            for graph in concerned:
                if told.is_whole:
                    local.drop_graph(graph)
                    del self._counts[graph]
                    continue
                old = [quad for one in told.subjects for quad in local.match(one, None, None, graph)]
                new = list(self._store.read_subjects(graph, told.subjects))
                local.apply_delta(Delta(removes=serialise_quads(old), adds=serialise_quads(new), added=len(new)))
                self._counts[graph] += len(new) - len(old)
            self._sequence = entry.sequence

    def _bring(self, local: Oxigraph, wanted: Sequence[IRI]) -> None:
        missing = {graph: self._store.count_graph(graph) for graph in wanted if graph not in self._counts}
        if missing and sum(missing.values()) + sum(self._counts.values()) > self._most:
            for graph in [
                graph for graph in self._counts if graph not in wanted
            ]:  # somebody else's, of an earlier question
                local.drop_graph(graph)
                del self._counts[graph]
        needed = sum(missing.values()) + sum(self._counts.values())
        if needed > self._most:
            raise TooMuch(
                f"SPARQL is answered on a copy of the graphs that it may read, which have {needed} statements: more than "
                f"{self._most} (store.snapshot_quads); name fewer graphs, ask the endpoint itself, or raise the setting"
            )
        for graph in missing:
            self._counts[graph] = 0
            found = iter(self._store.read_subjects(graph))
            while some := list(islice(found, 50_000)):
                local.extend(some, (), many=True)
                self._counts[graph] += len(some)


def _is_feed(graph: str) -> bool:
    return graph == FEED or graph.startswith(f"{FEED}:")


def _is_ours(term: Term) -> bool:
    return isinstance(term, ox.NamedNode) and _is_feed(term.value)


def _refuse_files(what: str) -> NoReturn:
    raise GraphError(
        f"a store behind an endpoint has no files here, and so no {what}: use the engine's own, or `memento export`"
    )


def _to_named(quad: ox.Quad, *, is_removed: bool = False) -> ox.Quad:
    """Return a quad as it is kept at an endpoint: with IRIs for its blank nodes."""

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
    """Return a term of an endpoint as it was written here."""
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
    """List the subjects of some quads, and the nodes at the ends of those that lead on."""
    nodes = []
    for quad in quads:
        subject = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else str(quad.subject)
        nodes.append(IRI(subject))
        if quad.predicate.value in _ENDS and isinstance(quad.object, ox.NamedNode):
            nodes.append(IRI(quad.object.value))
    return nodes
