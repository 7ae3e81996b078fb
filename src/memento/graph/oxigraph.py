"""
The embedded store: one Oxigraph folder, owned by this process; what its failures mean, and what is done to its files while nobody
has it open.

*Guarantees:* `apply` is one atomic update: after a kill, all of a change is there or nothing of it. Reads see only the
graphs they name.

*But:* no query can be stopped once it runs: foreign SPARQL runs in a worker on a snapshot (`sparql/worker`), never here. Opening a
store does not read its files to their end: `find_damage` does, in a child process, as damaged bytes may kill who reads them.

*Because:* the engine signals with Python's own exceptions; none of them leaves this file.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import Any, Self

import pyoxigraph as ox

from memento.errors import Damaged, GraphError
from memento.graph.binding import bind_query, iterate_solutions, read_rows
from memento.graph.store import (
    BULK,
    MARK,
    Delta,
    Row,
    apply_delta,
    minimise_delta,
    pack_rest,
    parse_quads,
    serialise_quads,
)
from memento.graph.terms import to_node, to_quads, to_term, to_value
from memento.iris import IRI, MEM
from memento.model import Change, Quad, Value
from memento.vault import Journal

logger = logging.getLogger(__name__)

_NO_DAMAGE = (
    "lock hold by",
    "While lock file",
    "No space left",
    "Permission denied",
    "Too many open files",
    "Read-only file system",
)
"""What the engine says when the files themselves are as they were: another process has them, or the machine is in the way."""

_OF_FILES = "IO error"
"""What the engine says when a file could not be written, as on a full disk."""

MANY = 10_000
"""Lines of what can be derived again from which on they are written as files."""

HELD = 5_000
"""
Quads from which on what is written goes to the tables. Until then the engine holds it in memory, half a kilobyte for each, and in
its log, .64 kilobytes for each; of logs it keeps the last two for as long as it is open, each as large as it became.
"""

Line = tuple[str, str, str]
"""Subject, predicate and object as N-Triples writes them."""


class Oxigraph:
    """`Store` over an embedded engine."""

    def __init__(self, folder: Path | None = None) -> None:
        """
        Args:
            folder: where the store is, made if it is not there; None keeps it in memory.

        Raises:
            Damaged: the files are not as they should be.
            GraphError: the folder cannot be opened.
        """
        self._open: ox.Store | None = _open_store(folder) if folder else ox.Store()
        self.is_on_disk = folder is not None
        """Whether it has files."""
        self._one_writer = _WriteTurn()
        self._held = 0  # quads written since the last flush
        self.journal: Journal | None = None
        """Where every write is noted before it is made, where the store's own files do not last."""
        self.failure: str | None = None
        """Why nothing can be written until the store is opened again, as the engine has it after a file that it could not write."""
        self.on_failure: Callable[[], None] | None = None
        """Called when that comes to be."""
        self.before_write: Callable[[Iterable[IRI]], None] | None = None
        """Told the subjects of each change, and where its links lead, before it is applied; when it raises, nothing is written."""
        self.after_write: Callable[[Iterable[IRI] | None], None] | None = None
        """Told the subjects of each change once it is applied and before it is counted, or None when anything may have changed."""

    @classmethod
    def read_only(cls, folder: Path) -> Self:
        """Open a store that nobody has open, to be read alone; raises `GraphError` when it cannot be opened."""
        store = cls()
        with translate_failures():
            store._open, store.is_on_disk = ox.Store.read_only(str(folder)), True
        return store

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        text = bind_query(query, dict(slots))
        with translate_failures(query):
            solutions = self._query(text, readable)
            if not isinstance(solutions, ox.QuerySolutions):
                raise GraphError(f"the query {query!r} is no SELECT")
            return read_rows(query, iterate_solutions(solutions))

    def apply(self, change: Change) -> None:
        if self.before_write is not None:
            quads = (*change.removes, *change.adds)
            ends = (quad[2] for quad in quads if quad[1] == MEM.to and isinstance(quad[2], IRI))
            self.before_write(dict.fromkeys([*(quad[0] for quad in quads), *ends]))
        with self._writing(lambda: (Delta(added=len(change.adds)) + change).pack()):
            if change.removes:
                self._store.update(" ; ".join(_update_operations(change)))
            else:  # as atomic, in less time: nothing is to be parsed
                is_bulk = len(change.adds) >= BULK
                (self._store.bulk_extend if is_bulk else self._store.extend)(to_quads(change.adds))
            self._hold(len(change.adds) + len(change.removes))
            if self.after_write is not None:
                self.after_write(dict.fromkeys(quad[0] for quad in (*change.removes, *change.adds)))

    def graphs(self) -> list[IRI]:
        with translate_failures():
            return sorted(IRI(name.value) for name in self._store.named_graphs())

    def quads(self, graph: IRI) -> Iterator[Quad]:
        predicates: dict[str, IRI] = {}
        with translate_failures():
            every: Iterable[ox.Quad] = self._store.quads_for_pattern(None, None, None, ox.NamedNode(graph))
            if not self.is_on_disk:  # files are in the order of graph and subject, memory is in that of writing
                every = sorted(every, key=lambda found: str(found.subject))
            for found in every:
                subject, predicate = found.subject, found.predicate.value
                name = subject.value if isinstance(subject, ox.NamedNode) else str(subject)
                known = predicates.get(predicate)
                if known is None:
                    known = predicates[predicate] = IRI(predicate)
                yield (IRI(name), known, to_value(found.object), graph)

    def has_graph(self, graph: IRI) -> bool:
        """Tell whether there is such a named graph, empty or not."""
        with translate_failures():
            return self._store.contains_named_graph(ox.NamedNode(graph))

    def minimise_delta(self, delta: Delta) -> Delta:
        """Return a delta without the quads that are not there to go, or there already."""
        with translate_failures():
            return minimise_delta(delta, self._store)

    def match(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        graph: str | None = None,
    ) -> Iterator[ox.Quad]:
        # The engine is asked for each time: whoever keeps it keeps the folder from being let go of.
        with translate_failures():
            found = self._store.quads_for_pattern(
                None if subject is None else to_node(subject),
                None if predicate is None else ox.NamedNode(predicate),
                None if value is None else to_node(value),
                None if graph is None else ox.NamedNode(graph),
            )
        return _iterate(found)

    def holds(self, quad: ox.Quad) -> bool:
        with translate_failures():
            return quad in self._store

    def apply_delta(self, delta: Delta, touched: Iterable[IRI] = ()) -> None:
        if self.before_write is not None:
            self.before_write(dict.fromkeys(touched))
        with self._writing(delta.pack):
            apply_delta(delta, self._store)
            self._hold(delta.adds.count(b"\n") + delta.removes.count(b"\n"))

    def extend(self, quads: Iterable[ox.Quad], subjects: Sequence[IRI], *, many: bool = False) -> None:
        """
        Add quads to the letter, all of them or nothing.

        Args:
            subjects: whom they are about, for `before_write`.
            many: more than fit into memory, so that new files are written at once.
        """
        if self.before_write is not None and subjects:
            self.before_write(subjects)
        if many:
            with self._writing(None) as record:
                self._store.bulk_extend(_record_quads(quads, record) if record else quads)
                if self.after_write is not None:
                    self.after_write(None)
            return
        few = list(quads)
        with self._writing(lambda: Delta(adds=serialise_quads(few), added=len(few)).pack()):
            self._store.extend(few)
            self._hold(len(few))
            if self.after_write is not None:
                self.after_write(None)

    def load(self, turtle: bytes, graph: IRI) -> None:
        if self.journal is not None:  # to the letter, as what is written again must be what was written
            triples = ox.parse(turtle, ox.RdfFormat.TURTLE, rename_blank_nodes=True)
            into = ox.NamedNode(graph)
            adds = [ox.Quad(quad.subject, quad.predicate, quad.object, into) for quad in triples]
            self.apply_delta(Delta(cleared=(graph,), adds=serialise_quads(adds), added=len(adds)))
            return
        with self._writing(None):
            triples = ox.parse(turtle, ox.RdfFormat.TURTLE)
            data = " ".join(f"{quad.triple} ." for quad in triples)
            name = to_term(graph)
            self._store.update(f"DROP SILENT GRAPH {name} ; INSERT DATA {{ GRAPH {name} {{ {data} }} }}")
            if self.after_write is not None:
                self.after_write(None)

    @contextmanager
    def reading(self) -> Iterator[ox.Store]:
        """Lend the store itself, for the rest of this room."""
        with translate_failures():
            yield self._store

    def lines(self, graph: IRI) -> Iterator[Line]:
        """Yield the triples of one named graph, each term as N-Triples writes it."""
        with translate_failures():
            for quad in self._store.quads_for_pattern(None, None, None, ox.NamedNode(graph)):
                yield (str(quad.subject), str(quad.predicate), str(quad.object))

    def derive(self, graph: IRI, gone: Sequence[Line], come: Sequence[Line]) -> None:
        """
        Take lines out of one named graph and put others in: what can be derived again, and is nobody's statement.

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

        def write_quads(lines: Sequence[Line]) -> bytes:
            return "".join(f"{s} {p} {o} {name} .\n" for s, p, o in lines).encode()

        def record() -> bytes:
            return Delta(removes=write_quads(gone), adds=write_quads(come), removed=len(gone), added=len(come)).pack()

        with self._writing(record):
            for step in steps if is_bulk or len(gone) > MANY else [" ; ".join(steps)]:
                self._store.update(step)
            if is_bulk:
                self._store.bulk_extend(parse_quads(write_quads(come)))
            self._hold(len(gone) + (0 if is_bulk else len(come)))

    def drop_graph(self, graph: IRI) -> None:
        """Let go of one named graph."""
        with self._writing(Delta(dropped=(graph,)).pack):
            self._store.update(f"DROP SILENT GRAPH {to_term(graph)}")

    def count_from(self, writes: int) -> None:
        """Count writes from where the store ended in whose place this one is: what was learned of that one holds no more."""
        self._one_writer.turns = writes

    @property
    def writes(self) -> int:
        """How many writes were made or tried: a snapshot that was taken after as many holds all there is."""
        return self._one_writer.turns

    def replay(self, journal: Journal) -> int:
        """
        Make the writes that a journal has and the store lacks; return how many those were.

        Raises:
            Damaged: the journal is not as it was written.
        """
        count = 0
        with translate_failures():
            for entry in journal.read_entries():
                apply_delta(Delta.unpack(entry), self._store)
                count += 1
        return count

    def end_segment(self, folder: Path) -> int:
        """
        Copy the store to a folder as `backup` does, and let the journal begin a new file behind it.

        Returns:
            the number of the last write that the copy has.
        """
        with self._one_writer:
            self.backup(folder)
            return self.journal.end_segment() if self.journal else 0

    def backup(self, folder: Path, graphs: Collection[str] | None = None) -> None:
        """
        Copy the whole store to a folder that is not there yet: by hard links, in milliseconds, on the same file system.

        Raises:
            GraphError: the store is in memory or closed, or the disk has no room.
        """
        if not self.is_on_disk:
            raise GraphError("a store in memory has no files to take a snapshot of: open one in a folder")
        with translate_failures():
            self._store.backup(folder)

    def copy_files(self, folder: Path) -> None:
        with translate_failures():
            target = ox.Store(folder)
            target.bulk_extend(self._store)
            target.flush()

    def close(self) -> None:
        if self._open is not None:
            self._flush()
            self._open = None

    def _hold(self, quads: int) -> None:
        """Count what the engine holds in memory and in its log, and have it written to tables when it is much."""
        self._held += quads
        if self._held >= HELD and self.is_on_disk:
            self._flush()

    def _flush(self) -> None:
        """Let the engine write what it holds; where it cannot, that is in its log, which the next start reads."""
        try:
            with translate_failures():
                self._store.flush()
            self._held = 0
        except GraphError as error:
            self._note_failure(error)

    @contextmanager
    def _writing(self, entry: Callable[[], bytes] | None) -> Iterator[Callable[[bytes], None] | None]:
        """
        Take the turn to write, and note where the engine cannot go on.

        Args:
            entry: returns what the journal is to have of the write; None where the block gives it, piece by piece.
        """
        with self._one_writer:
            try:
                with (
                    translate_failures(),
                    self.journal.recording(entry() if entry else None) if self.journal else nullcontext() as record,
                ):
                    yield record
            except GraphError as error:
                self._note_failure(error)
                raise

    def _note_failure(self, error: GraphError) -> None:
        if self.is_on_disk and self.failure is None and _OF_FILES in str(error):
            self.failure = str(error)
            logger.error("store.failing", extra={"error": str(error.__cause__ or error)[:500]})
            if self.on_failure is not None:
                self.on_failure()

    def _query(self, text: str, readable: Sequence[IRI]) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
        # Both dataset arguments, always: they are the access control. An empty dataset must read nothing, not everything.
        names = [ox.NamedNode(iri) for iri in readable] or [ox.NamedNode("urn:memento:nothing")]
        return self._store.query(text, default_graph=list(names), named_graphs=list(names))

    @property
    def _store(self) -> ox.Store:
        if self._open is None:
            raise GraphError("the store is closed")
        return self._open


class _WriteTurn:
    """The turn to write: one thread at a time, and counted."""

    def __init__(self) -> None:
        self.turns = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self.turns += 1
        self._lock.release()


def finish_rewriting(folder: Path) -> None:
    """Put a store back in its place that a kill has caught between two names, and let go of what is left of another."""
    fresh, old = _names_beside(folder)
    with translate_failures():
        if not folder.exists() and old.exists():
            old.rename(folder)
        rmtree(fresh, ignore_errors=True)
        rmtree(old, ignore_errors=True)


def rewrite(folder: Path) -> None:
    """
    Write a closed store's files once more, with nothing in them but its quads: the engine never lets go of text it has once stored,
    and packs what is written at once in half the room of what came by and by.

    A kill at any point leaves the old store or the new one. Takes about ten seconds for a million quads.

    Raises:
        GraphError: the store is open elsewhere, or the disk has no room.
    """
    finish_rewriting(folder)
    fresh, old = _names_beside(folder)
    with translate_failures():
        source, target = _open_store(folder), ox.Store(fresh)
        target.bulk_extend(source)
        target.flush()
        del source, target
        folder.rename(old)
        fresh.rename(folder)
        rmtree(old)


def _names_beside(folder: Path) -> tuple[Path, Path]:
    """Return where a store is written anew, and where the one is meanwhile that it replaces."""
    return folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")


SMALL, LARGE = 4_000_000, 128_000_000
"""Bytes of a store's files up to which they stay as they are, and above which to write them once more would take too long."""


def tidy(folder: Path, packed: int) -> int:
    """
    Let a closed store's files take no more room than they need; harmless where it is still read.

    The log goes, which the engine keeps until it opens the store again. Tables that have doubled are written once more.

    Args:
        packed: the bytes that this returned last, 0 if it never did.

    Returns:
        the bytes of the tables when they were last packed.
    """
    if _measure(folder, "*") < SMALL + packed:
        return packed
    try:
        ox.Store(folder)
    except (OSError, RuntimeError, ValueError):
        return packed  # who opens it next is told
    tables = _measure(folder, "*.sst")
    if not SMALL + 2 * packed < tables < LARGE:
        return packed
    rewrite(folder)
    return _measure(folder, "*.sst")


def _measure(folder: Path, pattern: str) -> int:
    """Return the bytes of some files."""
    return sum(path.stat().st_size for path in folder.glob(pattern))


def count_quads(folder: Path) -> int:
    """Count the quads of a store that nobody has open; its files stay as they are."""
    with translate_failures():
        return len(ox.Store.read_only(str(folder)))


def wait_until_released(folder: Path, *, wait_s: float) -> None:
    """
    Wait until this process has let go of a store that was closed: what is still read from it holds it open.

    Raises:
        GraphError: it took longer.
    """
    last = time.monotonic() + wait_s
    while (folder / "LOCK").exists():  # else the engine would begin a store there
        try:
            ox.Store(folder)
            return
        except (OSError, RuntimeError) as error:
            if isinstance(_explain_open_failure(folder, error), Damaged):
                return  # nobody holds it: whoever opens it next is told
            if time.monotonic() > last:
                raise GraphError(f"the store is still being read: {error}") from error
            time.sleep(0.02)


def _open_store(folder: Path) -> ox.Store:
    _raise_if_incomplete(folder)
    try:
        return ox.Store(folder)
    except (OSError, RuntimeError, ValueError) as error:
        raise _explain_open_failure(folder, error) from error


def _raise_if_incomplete(folder: Path) -> None:
    """
    Look at a store before it is opened: where the file is gone by which the engine knows the others, it would begin an empty store
    in their place.

    Raises:
        Damaged: there are files of a store, and that one is not among them.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "CURRENT").is_file():
        raise Damaged(f"the store {folder} is damaged: its file CURRENT is missing")


def _explain_open_failure(folder: Path, error: Exception) -> GraphError:
    """Return what an exception of the engine means that came as it opened a store."""
    said = f"the store {folder} cannot be opened: {error}"
    return GraphError(said) if any(words in str(error) for words in _NO_DAMAGE) else Damaged(said)


def _explain_failure(error: Exception, where: str) -> GraphError:
    """Return what an exception of the engine means that came as it read or wrote; `where` is the query, in words."""
    said = f"the store failed{where}: {error}"
    return Damaged(said) if str(error).startswith("Corruption") else GraphError(said)


@contextmanager
def translate_failures(query: str = "") -> Iterator[None]:
    """Raise what the engine signals with Python's own exceptions as a `GraphError`."""
    try:
        yield
    except (SyntaxError, OSError, RuntimeError, ValueError) as error:
        raise _explain_failure(error, f" in queries/{query}.rq" if query else "") from error


def _iterate(quads: Iterator[ox.Quad]) -> Iterator[ox.Quad]:
    with translate_failures():
        yield from quads


def _record_quads(quads: Iterable[ox.Quad], record: Callable[[bytes], None]) -> Iterator[ox.Quad]:
    """Yield quads as they come, and write them down as a delta that adds them."""
    record(MARK)
    count, rest = 0, iter(quads)
    while some := list(islice(rest, MANY)):
        record(serialise_quads(some))
        count += len(some)
        yield from some
    record(pack_rest({"added": count}))


def _update_operations(change: Change) -> Iterator[str]:
    """Yield a change as operations of an update: the one that removes, then the one that adds; none for what is empty."""
    for verb, found in (("DELETE", change.removes), ("INSERT", change.adds)):
        if found:
            yield f"{verb} DATA {{ {' '.join(_write_quad(quad) for quad in found)} }}"


def _write_quad(quad: Quad) -> str:
    subject, predicate, value, graph = quad
    return f"GRAPH {to_term(graph)} {{ {to_term(subject)} {to_term(predicate)} {to_term(value)} }}"


_BOOT = (
    "import sys; sys.path[:] = sys.argv[1].split(chr(10)); from memento.graph.oxigraph import main; main(sys.argv[2])"
)
_NICE = 10
_PLACE = re.compile(r"(/[^\s:]*)?/")

Pattern = tuple[Any, Any, Any, Any]
"""Subject, predicate, object, graph; None is any."""


def find_damage(folder: Path) -> str | None:
    """
    Read a store that nobody writes to, as a snapshot or a backup, to its end; return what is damaged, None when nothing is.

    Every index is read: the checksum of a block is looked at when the block is read, and a lookup reads only blocks of its own
    order. Each of the six orders is read quad by quad: 300,000 quads take some 20 s of a core and 250 MiB.
    """
    words = [sys.executable, "-I", "-S", "-c", _BOOT, "\n".join(sys.path), str(folder)]
    # What the engine says when it dies might quote a text.
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        return f"its files cannot be read to the end: the reader ended with {done.returncode}"
    return done.stdout.decode(errors="replace").strip() or None


def main(folder: str) -> None:
    """In the child: write what is damaged, or nothing."""
    with suppress(OSError):
        os.nice(_NICE)
    sys.stdout.write(_PLACE.sub("", " ".join(read_to_end(Path(folder)).split())))


def read_to_end(folder: Path) -> str:
    """Read the store to its end; returns what is damaged, in words, or an empty string."""
    order = "the files as a whole"
    try:
        store = ox.Store.read_only(str(folder))
        order = "the index by graph and subject, or the texts"
        count, orders = _plan_lookups(store)
        for order, patterns in orders.items():
            read = sum(1 for pattern in patterns for quad in store.quads_for_pattern(*pattern) if _fits(quad, pattern))
            if read != count:
                return f"{order} holds {read} statements, and the one by graph and subject {count}"
    except (OSError, RuntimeError, ValueError, SyntaxError) as error:
        return f"{order} cannot be read: {error}"
    return ""


def _fits(quad: ox.Quad, pattern: Pattern) -> bool:
    """
    Tell whether a quad has the object that was looked up: of a store on disk a lookup of the number 255, and of any whose bytes end
    like its, brings the next 255 numbers too (Oxigraph 0.5.13; queries do not).
    """
    return pattern[2] is None or quad.object == pattern[2]


def _plan_lookups(store: ox.Store) -> tuple[int, dict[str, Iterable[Pattern]]]:
    """Count the quads in the order that holds each graph together, and list what is to be looked up in each of the others."""
    terms: dict[Any, Any] = {}  # one object for each: a quad brings new ones
    subjects, by_predicate, by_object = set(), set(), set()
    count = 0
    for quad in store.quads_for_pattern(None, None, None, None):
        count += 1
        graph, predicate = (terms.setdefault(term, term) for term in (quad.graph_name, quad.predicate))
        subjects.add(quad.subject)
        by_predicate.add((predicate, graph))
        by_object.add((quad.object, graph))
    return count, {
        "the index by subject": ((one, None, None, None) for one in subjects),
        "the index by predicate": ((None, one, None, None) for one in {one for one, _ in by_predicate}),
        "the index by object": ((None, None, one, None) for one in dict.fromkeys(one for one, _ in by_object)),
        "the index by graph and predicate": ((None, one, None, graph) for one, graph in by_predicate),
        "the index by graph and object": ((None, None, one, graph) for one, graph in by_object),
    }
