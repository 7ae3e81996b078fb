"""
The embedded store: one Oxigraph folder, owned by this process; the meaning of its failures, and maintenance of its files while no
process has it open.

*Guarantees:* `apply` is one atomic update: after a kill, the store has all of a change or nothing of it. A read sees only the
graphs it names.

*But:* a running query cannot be stopped: SPARQL of users runs in a worker on a snapshot (`sparql/worker`), never here. Opening a
store does not read its files completely: `find_damage` does, in a child process, because damaged bytes may crash the reader.

*Because:* the engine signals errors with Python's built-in exceptions; none of them leaves this module.
"""

from __future__ import annotations

import fnmatch
import logging
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import Any, Self

import pyoxigraph as ox

from memento.datadir import Journal
from memento.errors import Damaged, DiskFull, GraphError
from memento.graph.binding import bind_query, iterate_solutions, read_rows
from memento.graph.store import (
    BULK,
    MARK,
    Delta,
    Row,
    apply_delta,
    minimise_delta,
    pack_rest,
    serialise_quads,
)
from memento.graph.terms import to_node, to_quads, to_term, to_value
from memento.iris import IRI, MEM
from memento.model import Change, Quad, Value

logger = logging.getLogger(__name__)

_NO_DAMAGE = (
    "lock hold by",
    "While lock file",
    "No space left",
    "Permission denied",
    "Too many open files",
    "Read-only file system",
)
"""Messages of the engine when the files are intact: another process has them, or the system refuses."""

_OF_FILES = "IO error"
"""Messages of the engine when a file could not be written, for example on a full disk."""

MANY = 10_000
"""Quads that are recorded in the journal at once."""

HELD = 5_000
"""
After this number of written quads they are flushed to tables. Until then the engine holds them in memory, half a kilobyte each, and
in its log, .64 kilobytes each; while open it keeps the last two logs at their full size.
"""

Line = tuple[str, str, str]
"""Subject, predicate and object in N-Triples syntax."""


class Oxigraph:
    """`Store` over an embedded engine."""

    def __init__(self, folder: Path | None = None) -> None:
        """
        Args:
            folder: of the store, created if needed; None keeps the store in memory.

        Raises:
            Damaged: the files are damaged.
            GraphError: the folder cannot be opened.
        """
        self._open: ox.Store | None = _open_store(folder) if folder else ox.Store()
        self.is_on_disk = folder is not None
        """Whether the store has files."""
        self._one_writer = _WriteTurn()
        self._held = 0  # quads written since the last flush
        self.journal: Journal | None = None
        """The journal that records each write in advance, if the store's own files are not durable."""
        self.failure: str | None = None
        """Why nothing can be written until the store is reopened, for example after the engine could not write a file."""
        self.on_failure: Callable[[], None] | None = None
        """Called when `failure` is set."""
        self.before_write: Callable[[Iterable[IRI]], None] | None = None
        """
        Called with the subjects of each change, and the targets of its links, before it is applied; if it raises, nothing is
        written.
        """

    @classmethod
    def read_only(cls, folder: Path) -> Self:
        """Open a store that no process has open, for reading only; raise `GraphError` if it cannot be opened."""
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
            else:  # equally atomic and faster: nothing has to be parsed
                is_bulk = len(change.adds) >= BULK
                (self._store.bulk_extend if is_bulk else self._store.extend)(to_quads(change.adds))
            self._hold(len(change.adds) + len(change.removes))

    def graphs(self) -> list[IRI]:
        with translate_failures():
            return sorted(IRI(name.value) for name in self._store.named_graphs())

    def quads(self, graph: IRI) -> Iterator[Quad]:
        predicates: dict[str, IRI] = {}
        with translate_failures():
            every: Iterable[ox.Quad] = self._store.quads_for_pattern(None, None, None, ox.NamedNode(graph))
            if not self.is_on_disk:  # files are ordered by graph and subject, memory by time of writing
                every = sorted(every, key=lambda found: str(found.subject))
            for found in every:
                subject, predicate = found.subject, found.predicate.value
                name = subject.value if isinstance(subject, ox.NamedNode) else str(subject)
                known = predicates.get(predicate)
                if known is None:
                    known = predicates[predicate] = IRI(predicate)
                yield (IRI(name), known, to_value(found.object), graph)

    def has_graph(self, graph: IRI) -> bool:
        """Tell whether a named graph exists, empty or not."""
        with translate_failures():
            return self._store.contains_named_graph(ox.NamedNode(graph))

    def minimise_delta(self, delta: Delta) -> Delta:
        """Return a delta without removals of missing quads and additions of existing ones."""
        with translate_failures():
            return minimise_delta(delta, self._store)

    def match(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        graph: str | None = None,
    ) -> Iterator[ox.Quad]:
        # Fetch the engine each time: keeping a reference would keep the folder open.
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
        Add quads to the letter, atomically.

        Args:
            subjects: of the quads, for `before_write`.
            many: they do not fit into memory, so write new files at once.
        """
        if self.before_write is not None and subjects:
            self.before_write(subjects)
        if many:
            with self._writing(None) as record:
                self._store.bulk_extend(_record_quads(quads, record) if record else quads)
            return
        few = list(quads)
        with self._writing(lambda: Delta(adds=serialise_quads(few), added=len(few)).pack()):
            self._store.extend(few)
            self._hold(len(few))

    def load(self, turtle: bytes, graph: IRI) -> None:
        into = ox.NamedNode(graph)
        if self.journal is not None:  # to the letter: a replayed write must equal the original
            adds = _read_turtle(turtle, into)
            self.apply_delta(Delta(cleared=(graph,), adds=serialise_quads(adds), added=len(adds)))
            return
        with self._writing(None):
            if not self._store.contains_named_graph(into):
                # As tables at once, in a third of the time: all of it or nothing, and `close` has nothing to flush.
                self._store.bulk_load(turtle, ox.RdfFormat.TURTLE, to_graph=into)
                return
            data = " ".join(f"{quad.triple} ." for quad in _read_turtle(turtle, into))
            name = to_term(graph)
            self._store.update(f"DROP SILENT GRAPH {name} ; INSERT DATA {{ GRAPH {name} {{ {data} }} }}")

    @contextmanager
    def reading(self) -> Iterator[ox.Store]:
        """Lend the underlying store to other modules of this package."""
        with translate_failures():
            yield self._store

    def lines(self, graph: IRI) -> Iterator[Line]:
        """Yield the triples of one named graph, each term in N-Triples syntax."""
        with translate_failures():
            for quad in self._store.quads_for_pattern(None, None, None, ox.NamedNode(graph)):
                yield (str(quad.subject), str(quad.predicate), str(quad.object))

    def derive(self, graph: IRI, gone: Sequence[Line], come: Sequence[Line]) -> None:
        """
        Remove lines from one named graph and add others. Only for derived data, which can be derived again.

        It is one write; `BULK` lines or more are added by a second one, as files, several times faster.
        """
        name = to_term(graph)
        removes, adds = ("".join(f"{s} {p} {o} {name} .\n" for s, p, o in lines).encode() for lines in (gone, come))
        whole = Delta(removes=removes, adds=adds, removed=len(gone), added=len(come))
        is_bulk = gone and len(come) >= BULK
        for delta in (
            (replace(whole, adds=b"", added=0), replace(whole, removes=b"", removed=0)) if is_bulk else (whole,)
        ):
            self.apply_delta(delta)

    def drop_graph(self, graph: IRI) -> None:
        """Remove one named graph."""
        with self._writing(Delta(dropped=(graph,)).pack):
            self._store.update(f"DROP SILENT GRAPH {to_term(graph)}")

    def count_from(self, writes: int) -> None:
        """Count writes from where the replaced store ended, so that what was cached for that store is outdated."""
        self._one_writer.turns = writes

    @property
    def writes(self) -> int:
        """The number of writes made or tried: a snapshot taken after this many is current."""
        return self._one_writer.turns

    def replay(self, journal: Journal) -> int:
        """
        Make the writes that a journal has and the store lacks; return their number.

        Raises:
            Damaged: the journal was changed or is damaged.
        """
        count = 0
        with translate_failures():
            for entry in journal.read_entries():
                apply_delta(Delta.unpack(entry), self._store)
                count += 1
        return count

    def end_segment(self, folder: Path) -> int:
        """
        Copy the store to a folder as `backup` does, and start a new file of the journal after it.

        Returns:
            the number of the last write in the copy.
        """
        with self._one_writer:
            self.backup(folder)
            return self.journal.end_segment() if self.journal else 0

    def backup(self, folder: Path, graphs: Collection[str] | None = None) -> None:
        """
        Copy the whole store to a new folder: by hard links, within milliseconds, if it is on the same file system.

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
        """Count the quads that the engine holds in memory and in its log, and flush them to tables when there are many."""
        self._held += quads
        if self._held >= HELD and self.is_on_disk:
            self._flush()

    def _flush(self) -> None:
        """Let the engine flush; if it cannot, the data is in its log, which the next start reads."""
        try:
            with translate_failures():
                self._store.flush()
            self._held = 0
        except GraphError as error:
            self._note_failure(error)

    @contextmanager
    def _writing(self, entry: Callable[[], bytes] | None) -> Iterator[Callable[[bytes], None] | None]:
        """
        Take the write lock, and note when the engine cannot continue.

        Args:
            entry: returns the journal's entry for the write; None if the block writes it piece by piece.
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
        # Always pass both dataset arguments: they are the access control. An empty dataset must read nothing, not everything.
        names = [ox.NamedNode(iri) for iri in readable] or [ox.NamedNode("urn:memento:nothing")]
        return self._store.query(text, default_graph=list(names), named_graphs=list(names))

    @property
    def _store(self) -> ox.Store:
        if self._open is None:
            raise GraphError("the memory is closed: open it again")
        return self._open


class _WriteTurn:
    """The write lock of one thread at a time, which counts writes."""

    def __init__(self) -> None:
        self.turns = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self.turns += 1
        self._lock.release()


def finish_rewriting(folder: Path) -> None:
    """Put a store back in place that a kill left between two names, and delete leftovers."""
    fresh, old = _names_beside(folder)
    with translate_failures():
        if not folder.exists() and old.exists():
            old.rename(folder)
        rmtree(fresh, ignore_errors=True)
        rmtree(old, ignore_errors=True)


def rewrite(folder: Path) -> None:
    """
    Rewrite the files of a closed store with nothing but its quads: the engine never frees text that it has stored, and data written
    at once takes half the room of data written over time.

    A kill at any point leaves either the old store or the new one. Takes about ten seconds for a million quads.

    Raises:
        GraphError: another process has the store open, or the disk is full.
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
    """Return where a rewritten store is built, and where the replaced one is kept meanwhile."""
    return folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")


SMALL, LARGE = 4_000_000, 128_000_000
"""Bytes of a store's files up to which they are not rewritten, and above which rewriting would take too long."""


def tidy(folder: Path, packed: int) -> int:
    """
    Shrink the files of a closed store; harmless while it is still read.

    Delete the log, which the engine keeps until it opens the store again. Rewrite the tables if they have doubled in size.

    Args:
        packed: the result of the last call, 0 if there was none.

    Returns:
        the bytes of the tables when they were last rewritten.
    """
    if measure_files(folder) < SMALL + packed:
        return packed
    try:
        ox.Store(folder)
    except (OSError, RuntimeError, ValueError):
        return packed  # the next process that opens it reports the error
    tables = measure_files(folder, "*.sst")
    if not SMALL + 2 * packed < tables < LARGE:
        return packed
    rewrite(folder)
    return measure_files(folder, "*.sst")


def measure_files(folder: Path, pattern: str = "*") -> int:
    """Return the bytes of the files below a folder whose names match; the engine may be deleting some, and they count nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in fnmatch.filter(names, pattern):
            with suppress(FileNotFoundError):
                total += Path(parent, name).stat().st_size
    return total


def count_quads(folder: Path) -> int:
    """Count the quads of a store that no process has open, without changing its files."""
    with translate_failures():
        return len(ox.Store.read_only(str(folder)))


def wait_until_released(folder: Path, *, wait_s: float) -> None:
    """
    Wait until this process has released a closed store: pending reads keep it open.

    Raises:
        GraphError: it took too long.
    """
    last = time.monotonic() + wait_s
    while (folder / "LOCK").exists():  # without the file, the engine would create a store there
        try:
            ox.Store(folder)
            return
        except (OSError, RuntimeError) as error:
            if isinstance(_explain_open_failure(folder, error), Damaged):
                return  # no process holds it; the next one that opens it reports the error
            if time.monotonic() > last:
                raise GraphError(f"the store is still being read: {error}") from error
            time.sleep(0.02)


def _read_turtle(turtle: bytes, into: ox.NamedNode) -> list[ox.Quad]:
    """Read a document as quads of one graph, with blank nodes of their own."""
    with translate_failures():
        triples = ox.parse(turtle, ox.RdfFormat.TURTLE, rename_blank_nodes=True)
        return [ox.Quad(quad.subject, quad.predicate, quad.object, into) for quad in triples]


def _open_store(folder: Path) -> ox.Store:
    _raise_if_incomplete(folder)
    try:
        return ox.Store(folder)
    except (OSError, RuntimeError, ValueError) as error:
        raise _explain_open_failure(folder, error) from error


def _raise_if_incomplete(folder: Path) -> None:
    """
    Check a store before it is opened: if the file that lists the others is missing, the engine would create an empty store in
    their place.

    Raises:
        Damaged: there are files of a store, but not that one.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "CURRENT").is_file():
        raise Damaged(f"the store {folder} is damaged: its file CURRENT is missing")


def _explain_open_failure(folder: Path, error: Exception) -> GraphError:
    """Translate an exception that the engine raised while opening a store."""
    if "No space left" in str(error):
        return DiskFull(folder)
    said = f"the store {folder} cannot be opened: {error}"
    return GraphError(said) if any(words in str(error) for words in _NO_DAMAGE) else Damaged(said)


def _explain_failure(error: Exception, where: str) -> GraphError:
    """Translate an exception that the engine raised while reading or writing; `where` describes the query."""
    said = f"the store failed{where}: {error}"
    return Damaged(said) if str(error).startswith("Corruption") else GraphError(said)


@contextmanager
def translate_failures(query: str = "") -> Iterator[None]:
    """Translate the engine's built-in exceptions to `GraphError`."""
    try:
        yield
    except (SyntaxError, OSError, RuntimeError, ValueError) as error:
        raise _explain_failure(error, f" in queries/{query}.rq" if query else "") from error


def _iterate(quads: Iterator[ox.Quad]) -> Iterator[ox.Quad]:
    with translate_failures():
        yield from quads


def _record_quads(quads: Iterable[ox.Quad], record: Callable[[bytes], None]) -> Iterator[ox.Quad]:
    """Yield quads as they come, and record them as a delta that adds them."""
    record(MARK)
    count, rest = 0, iter(quads)
    while some := list(islice(rest, MANY)):
        record(serialise_quads(some))
        count += len(some)
        yield from some
    record(pack_rest({"added": count}))


def _update_operations(change: Change) -> Iterator[str]:
    """Yield a change as operations of an update: first removals, then additions; none for empty parts."""
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
"""Subject, predicate, object, graph; None matches any."""


def find_damage(folder: Path) -> str | None:
    """
    Read a store completely, such as a snapshot or backup that is not written to; return the damage, None if there is none.

    This reads every index: the engine verifies the checksum of a block when it reads it, and a lookup reads only blocks of its own
    order. Each of the six orders is read quad by quad: 300,000 quads take some 20 s of a core and 250 MiB.
    """
    words = [sys.executable, "-I", "-S", "-c", _BOOT, "\n".join(sys.path), str(folder)]
    # The engine's last words may quote a text.
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        return f"its files cannot be read to the end: the reader ended with {done.returncode}"
    return done.stdout.decode(errors="replace").strip() or None


def main(folder: str) -> None:
    """Run in the child process: print the damage, or nothing."""
    with suppress(OSError):
        os.nice(_NICE)
    sys.stdout.write(_PLACE.sub("", " ".join(read_to_end(Path(folder)).split())))


def read_to_end(folder: Path) -> str:
    """Read the store completely; return the damage in words, or an empty string."""
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
    Tell whether a quad has the object that was looked up. In a store on disk, a lookup of the number 255, or of any number whose
    bytes end like its, also returns the next 255 numbers (Oxigraph 0.5.13; queries do not).
    """
    return pattern[2] is None or quad.object == pattern[2]


def _plan_lookups(store: ox.Store) -> tuple[int, dict[str, Iterable[Pattern]]]:
    """Count the quads in the order that groups them by graph, and list the lookups to make in each of the other orders."""
    terms: dict[Any, Any] = {}  # one object per term: each quad brings new ones
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
