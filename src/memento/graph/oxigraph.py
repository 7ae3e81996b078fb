"""
The embedded store: one Oxigraph folder, owned by this process.

*Guarantees:* `apply` is one atomic update: after a kill, all of a change is there or nothing of it. Reads see only the
graphs they name.

*But:* no query can be stopped once it runs: foreign SPARQL runs in a worker on a snapshot (`sparql/pool.py`), never here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

import pyoxigraph as ox

from memento.errors import GraphError
from memento.graph import damage
from memento.graph.after import After
from memento.graph.binding import bound
from memento.graph.binding import query as known
from memento.graph.delta import BULK, Delta, apply, exact
from memento.graph.quads import operations, to_quads
from memento.graph.terms import to_term, to_value
from memento.model import Change, Quad, Value
from memento.ports import Row
from memento.vocabulary import IRI, MEM

MANY = 10_000
"""Lines of what can be derived anew from which on they are written as files."""

Line = tuple[str, str, str]
"""Subject, predicate and object as N-Triples writes them."""


class Oxigraph:
    """`ports.Graph` over an embedded store."""

    def __init__(self, folder: Path | None = None) -> None:
        """
        Args:
            folder: where the store lies, made if it is not there; None keeps it in memory.

        Raises:
            Damaged: the files are not as they should be.
            GraphError: the folder cannot be opened.
        """
        self._open: ox.Store | None = _opened(folder) if folder else ox.Store()
        self._in_folder = folder is not None
        self._one_writer = _OneWriter()
        self.before_write: Callable[[Iterable[IRI]], None] | None = None
        """Told the subjects of each change, and where its links lead, before it is applied; when it raises, nothing is written."""
        self.after_write: Callable[[Iterable[IRI] | None], None] | None = None
        """Told the subjects of each change once it is applied and before it is counted, or None when anything may have changed."""

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        text, readable_part = bound(query, dict(slots)), known(query).drop_unreadable
        with _failures(query):
            solutions = self._query(text, readable)
            if not isinstance(solutions, ox.QuerySolutions):
                raise GraphError(f"the query {query!r} is no SELECT")
            names = [variable.value for variable in solutions.variables]
            rows = (
                {name: to_value(term) for name, term in zip(names, row, strict=True) if term is not None}
                for row in solutions
            )
            return [row for found in rows if (row := readable_part(found)) is not None]

    def apply(self, change: Change) -> None:
        if self.before_write is not None:
            quads = (*change.removes, *change.adds)
            ends = (quad[2] for quad in quads if quad[1] == MEM.to and isinstance(quad[2], IRI))
            self.before_write(dict.fromkeys([*(quad[0] for quad in quads), *ends]))
        with self._one_writer, _failures():
            if change.removes:
                self._store.update(" ; ".join(operations(change)))
            else:  # as atomic, in less time: nothing is to be parsed
                is_bulk = len(change.adds) >= BULK
                (self._store.bulk_extend if is_bulk else self._store.extend)(to_quads(change.adds))
            if self.after_write is not None:
                self.after_write(dict.fromkeys(quad[0] for quad in (*change.removes, *change.adds)))

    def graphs(self) -> list[IRI]:
        with _failures():
            return sorted(IRI(name.value) for name in self._store.named_graphs())

    def quads(self, graph: IRI) -> Iterator[Quad]:
        predicates: dict[str, IRI] = {}
        with _failures():
            every: Iterable[ox.Quad] = self._store.quads_for_pattern(None, None, None, ox.NamedNode(graph))
            if not self._in_folder:  # files are in the order of graph and subject, memory is in that of writing
                every = sorted(every, key=lambda found: str(found.subject))
            for found in every:
                subject, predicate = found.subject, found.predicate.value
                name = subject.value if isinstance(subject, ox.NamedNode) else str(subject)
                known = predicates.get(predicate)
                if known is None:
                    known = predicates[predicate] = IRI(predicate)
                yield (IRI(name), known, to_value(found.object), graph)

    def has(self, graph: IRI) -> bool:
        """Whether there is such a named graph, empty or not."""
        with _failures():
            return self._store.contains_named_graph(ox.NamedNode(graph))

    def after(self, delta: Delta, graphs: Sequence[IRI]) -> After:
        """Some graphs as they would be after a delta."""
        with _failures():
            return After(self._store, delta, graphs)

    def exact(self, delta: Delta) -> Delta:
        """A delta without what is not there to go, or there already."""
        with _failures():
            return exact(delta, self._store)

    def amend(self, delta: Delta, touched: Iterable[IRI] = ()) -> None:
        """
        Write what an update would change, all of it or nothing.

        Args:
            touched: the nodes whose indexes it outdates.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        if self.before_write is not None:
            self.before_write(dict.fromkeys(touched))
        with self._one_writer, _failures():
            apply(delta, self._store)

    def extend(self, quads: Iterable[ox.Quad], subjects: Sequence[IRI], *, many: bool = False) -> None:
        """
        Add quads to the letter, all of them or nothing.

        Args:
            subjects: whom they are about, for `before_write`.
            many: more than fit into memory, so that new files are written at once.
        """
        if self.before_write is not None and subjects:
            self.before_write(subjects)
        with self._one_writer, _failures():
            (self._store.bulk_extend if many else self._store.extend)(quads)
            if self.after_write is not None:
                self.after_write(None)

    def load(self, turtle: bytes, graph: IRI) -> None:
        with self._one_writer, _failures():
            triples = ox.parse(turtle, ox.RdfFormat.TURTLE)
            data = " ".join(f"{quad.triple} ." for quad in triples)
            name = to_term(graph)
            self._store.update(f"DROP SILENT GRAPH {name} ; INSERT DATA {{ GRAPH {name} {{ {data} }} }}")
            if self.after_write is not None:
                self.after_write(None)

    @contextmanager
    def reading(self) -> Iterator[ox.Store]:
        """The store itself, for the rest of this room."""
        with _failures():
            yield self._store

    def lines(self, graph: IRI) -> Iterator[Line]:
        """The triples of one named graph, each term as N-Triples writes it."""
        with _failures():
            for quad in self._store.quads_for_pattern(None, None, None, ox.NamedNode(graph)):
                yield (str(quad.subject), str(quad.predicate), str(quad.object))

    def derive(self, graph: IRI, gone: Sequence[Line], come: Sequence[Line]) -> None:
        """
        Take lines out of one named graph and put others in: what can be derived anew, and is nobody's statement.

        Up to `MANY` lines are one atomic write; more come as files, several times faster.
        """
        name = to_term(graph)
        is_bulk = len(come) > MANY
        operations = [("DELETE", gone[at : at + MANY]) for at in range(0, len(gone), MANY)]
        if not is_bulk:
            operations.append(("INSERT", come))
        steps = [
            f"{verb} DATA {{ GRAPH {name} {{ {' '.join(f'{s} {p} {o} .' for s, p, o in found)} }} }}"
            for verb, found in operations
            if found
        ]
        with self._one_writer, _failures():
            for step in steps if is_bulk or len(gone) > MANY else [" ; ".join(steps)]:
                self._store.update(step)
            if is_bulk:
                quads = "".join(f"{s} {p} {o} {name} .\n" for s, p, o in come)
                self._store.bulk_extend(ox.parse(quads, ox.RdfFormat.N_QUADS))

    def clear(self, graph: IRI) -> None:
        """Let go of one named graph."""
        with self._one_writer, _failures():
            self._store.update(f"DROP SILENT GRAPH {to_term(graph)}")

    def follow(self, other: Oxigraph) -> None:
        """Count writes from where the store ended in whose place this one is: what was learned of that one holds no more."""
        self._one_writer.turns = other.writes + 1

    @property
    def writes(self) -> int:
        """How many writes were made or tried: a snapshot that was taken after as many holds all there is."""
        return self._one_writer.turns

    def backup(self, folder: Path) -> None:
        """
        Copy the store to a folder that is not there yet: by hard links, in milliseconds, on the same file system.

        Raises:
            GraphError: the store is in memory or closed, or the disk has no room.
        """
        if not self._in_folder:
            raise GraphError("a store in memory has no files to take a snapshot of: open one in a folder")
        with _failures():
            self._store.backup(folder)

    def close(self) -> None:
        if self._open is not None:
            with _failures():
                self._open.flush()
            self._open = None

    def _query(self, text: str, readable: Sequence[IRI]) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
        # Both dataset arguments, always: they are the access control. An empty dataset must read nothing, not everything.
        names = [ox.NamedNode(iri) for iri in readable] or [ox.NamedNode("urn:memento:nothing")]
        return self._store.query(text, default_graph=list(names), named_graphs=list(names))

    @property
    def _store(self) -> ox.Store:
        if self._open is None:
            raise GraphError("the store is closed")
        return self._open


class _OneWriter:
    """The turn to write: one thread at a time, and counted."""

    def __init__(self) -> None:
        self.turns = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self.turns += 1
        self._lock.release()


def rewrite(folder: Path) -> None:
    """
    Write a closed store's files anew, with nothing in them but its quads: the engine never lets go of text it has once stored.

    A kill at any point leaves the old store or the new one. Takes about ten seconds for a million quads.

    Raises:
        GraphError: the store is open elsewhere, or the disk has no room.
    """
    fresh, old = folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")
    with _failures():
        if not folder.exists() and old.exists():
            old.rename(folder)
        rmtree(fresh, ignore_errors=True)
        source, target = _opened(folder), ox.Store(fresh)
        target.bulk_extend(source)
        target.flush()
        del source, target
        folder.rename(old)
        fresh.rename(folder)
        rmtree(old)


def _opened(folder: Path) -> ox.Store:
    damage.looked_at(folder)
    try:
        return ox.Store(folder)
    except (OSError, RuntimeError, ValueError) as error:
        raise damage.opening(folder, error) from error


@contextmanager
def _failures(query: str = "") -> Iterator[None]:
    """The store signals with Python's own exceptions; none of them leaves this room."""
    try:
        yield
    except (SyntaxError, OSError, RuntimeError, ValueError) as error:
        raise damage.met(error, f" in queries/{query}.rq" if query else "") from error
