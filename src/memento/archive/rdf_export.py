"""
Exports RDF: the graphs that a caller may read, whole, as one document.

Memories, cases, the user, the provenance and the tenant's own RDF go out; what was done with the store (audit) on demand, for
reading. Never go out: the ontology, which everybody has; what is inferred, which is inferred again; other tenants; tokens.

*But:* an export of some namespaces has no RDF of the tenant's own, which belongs to none of them; of the provenance it has what
made the memories in it, and of `main` what these point at.

*Because:* the engine's iterators live and die in the thread that made them, and a web server reads and drops an answer in any: so
a copy of the store as it was at one instant, by hard links, is read by one thread. An export delays nobody: not who writes, and
not who puts a backup in the store's place.
"""

from __future__ import annotations

import os
import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from shutil import rmtree
from uuid import uuid4

from memento.access import Access
from memento.backends import Backends
from memento.errors import GraphError, MementoError
from memento.graph.documents import Form, writable, written
from memento.graph.oxigraph import Oxigraph
from memento.graph.store import Store
from memento.graph.transfer import NodeVectors, Statements, add_vectors, excerpt
from memento.iris import IRI, graph_iri, parse_graph_name
from memento.model import Scope
from memento.search.vectors import VectorFile

_WHOLE = ("self", "graph", "cases", "provenance", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportDocument:
    """A document on its way out: its format, how many statements it has beside those of vectors, and its pieces."""

    form: Form
    statements: int
    pieces: Iterator[bytes]


def export_document(
    form: Form, scope: Scope, access: Access, parts: Backends, *, only: str | None, vectors: bool, audit: bool
) -> ExportDocument:
    """
    Export the document of a tenant's graphs, or of one namespace. What is written after this call is not in it.

    Args:
        only: the namespace; None for all that the caller sees.
        vectors: put the vectors beside what they are of.
        audit: put in what was done with the store; an import passes it over.

    Raises:
        NotAcceptable: the format has no named graphs.
    """
    writable(form)
    names = _list_graphs(scope.tenant, parts)
    named = [name for name in names if _kind_of(name) in ("graph", "cases")]
    own = [name for name in named if _name_of(name) == (only or _name_of(name)) and access.sees(_name_of(name))]
    is_whole = only is None and not access.namespaces
    kinds = (*_WHOLE, "audit") if audit else _WHOLE
    chosen = [name for kind in kinds for name in names if _kind_of(name) == kind]
    main_graph = graph_iri(scope.tenant, "main") if access.sees("main") else None
    snapshot = StoreCopy(parts)

    def streams(of: Store) -> list[Statements]:
        if is_whole:
            return [of.match(graph=name) for name in chosen]
        return excerpt(of, [scope.self_graph, *own], scope.provenance, main_graph)

    def pieces() -> Iterator[bytes]:
        found = streams(snapshot.open())
        if vectors:
            file, made_by = parts.indexes.file, parts.embedder.fingerprint
            found = [add_vectors(quads, lambda iri: _read_vector(iri, file, made_by)) for quads in found]
        return written(found, form)

    if is_whole:
        count = sum(int(str(row["count"])) for row in parts.graph.select("exchange/counted", chosen))
    else:
        count = sum(1 for some in streams(parts.graph) for _ in some)
    return ExportDocument(form=form, statements=count, pieces=produce_in_thread(pieces))


def _list_graphs(tenant: str, parts: Backends) -> list[IRI]:
    return [name for name in parts.graph.graphs() if (found := parse_graph_name(name)) and found.tenant == tenant]


def _kind_of(name: IRI) -> str:
    found = parse_graph_name(name)
    return found.kind if found else ""


def _name_of(name: IRI) -> str:
    found = parse_graph_name(name)
    return found.name if found else ""


def _read_vector(iri: IRI, file: VectorFile, fingerprint: str) -> NodeVectors | None:
    stored = file.find(iri)
    return NodeVectors(stored[1].tobytes(), fingerprint, stored[0]) if stored and len(stored[1]) else None


_WAITING = 8  # pieces that are made before anybody reads them


class StoreCopy:
    """The store as it is now, in a folder that goes when this object goes; nobody may write while it is made."""

    def __init__(self, parts: Backends) -> None:
        """Copy the store; raise `GraphError` when there is no room for it."""
        self._live = parts.graph
        if self._live.is_on_disk:
            for left in parts.datadir.path.glob("export-*"):
                if not left.name.startswith(f"export-{os.getpid()}-"):  # of a process that was killed
                    rmtree(left, ignore_errors=True)
            self._folder = parts.datadir.path / f"export-{os.getpid()}-{uuid4().hex}"
            self._live.backup(self._folder)
            weakref.finalize(self, rmtree, self._folder, ignore_errors=True)

    def open(self) -> Store:
        """Open the copy, to be read by this thread; what is in memory is as it is now."""
        return Oxigraph.read_only(self._folder) if self._live.is_on_disk else self._live


def produce_in_thread(make: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """
    Yield the pieces that `make` gives, made and dropped in one background thread, whoever reads them and however far.

    Raises:
        MementoError: as the pieces.
    """
    ready: queue.Queue[bytes | MementoError | None] = queue.Queue(_WAITING)
    stopped = threading.Event()

    def put(one: bytes | MementoError | None) -> bool:
        while not stopped.is_set():
            try:
                ready.put(one, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    def run() -> None:
        try:
            for piece in make():
                if not put(piece):
                    return
            put(None)
        except MementoError as error:
            put(type(error)(*error.args))  # without the frames of this thread, which hold what must die here
        except Exception as error:
            put(GraphError(f"the export broke off: {type(error).__name__}: {error}"))

    threading.Thread(target=run, name="export", daemon=True).start()
    try:
        while (piece := ready.get()) is not None:
            if isinstance(piece, MementoError):
                raise piece
            yield piece
    finally:
        stopped.set()
