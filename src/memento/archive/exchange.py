"""
Export of RDF from a memory, and import: a document of the graphs that a caller may read, and the graphs of a document into those of
the caller. Memories alone can also be exported as rows (`archive/tables.py`).

An export has memories, cases, the user, the provenance and the tenant's own RDF, completely; on request also the audit, for reading
only. It never has the ontology, which everybody has; inferences, which are derived again; other tenants; or tokens.

An import is first validated and embedded, then written at once. IRIs stay as they are, with two exceptions: the user's IRI becomes
the tenant's; and an IRI that another namespace or tenant of this store has is replaced, the same way each time, because an IRI may
be in one place only. Existing data stays: statements are added and none is removed; if an entity or the user has another name, kind
or description here, the existing one stays, and so does what is known of a case. The audit, inferences and the ontology are
skipped.

*Guarantees:* an import is atomic; importing a document twice changes nothing.

*Flow:* `staged` (read, placed, settled) → `find_violations` (shapes) → `find_refused` (indexes) → `VectorStaging` → `write_import`
(written, indexes follow).

*But:* an export of some namespaces lacks the tenant's own RDF, which belongs to no namespace; it has only the provenance of their
memories, and only those nodes of `main` that they refer to.

*Because:* the engine's iterators must be used and freed in the thread that created them, but a web server reads and drops an answer
in any thread: so one thread reads a copy of the store as of one instant, made by hard links. An export blocks neither writers nor a
restore. Embedding takes long and may fail, which a write must not: so the vectors are put into the vector file before anything is
written, those of the document if they fit, new ones otherwise.
"""

from __future__ import annotations

import os
import queue
import re
import threading
import weakref
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from shutil import rmtree
from typing import IO
from uuid import uuid4

import numpy as np

from memento.access import Access
from memento.archive.cases import embed_tasks, list_case_iris
from memento.archive.okf import build_files, pack_files
from memento.archive.tables import (
    OKF,
    Anonymity,
    Row,
    TableForm,
    anonymise_rows,
    list_case_rows,
    list_rows,
    write_table,
)
from memento.backends import Backends
from memento.errors import Forbidden, GraphError, InputError, MementoError, NotAcceptable, ShapeViolation
from memento.graph import mapping, originals
from memento.graph.documents import Form, adopt_cases, flatten_graphs, writable, write_document
from memento.graph.oxigraph import Oxigraph
from memento.graph.store import Store
from memento.graph.terms import to_quads
from memento.graph.transfer import (
    NodeVectors,
    StagingStore,
    Statements,
    add_vectors,
    excerpt,
    excerpt_memories,
)
from memento.iris import (
    CASES,
    IRI,
    MEM,
    ONTOLOGY,
    TYPE,
    GraphName,
    audit_iri,
    cases_iri,
    check_namespace,
    graph_iri,
    mint,
    parse_graph_name,
    user_iri,
)
from memento.model import Filter, Merged, Scope, Update
from memento.ports import Progress, Vectors
from memento.search.indexes import Indexes
from memento.search.nodes import Record
from memento.search.vectors import VectorFile, digest
from memento.time import now

_WHOLE = ("self", "graph", "cases", "provenance", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportDocument:
    """An export: its format, its number of statements (without those of vectors) or rows, and its pieces."""

    form: Form | TableForm
    statements: int
    pieces: Iterator[bytes]


def export_document(
    form: Form | TableForm,
    scope: Scope,
    access: Access,
    parts: Backends,
    *,
    only: str | None,
    vectors: bool = False,
    audit: bool = False,
    past: bool = False,
    wanted: Filter | None = None,
    anonymity: Anonymity | None = None,
) -> ExportDocument:
    """
    Export the graphs of a tenant, or one namespace. Writes after this call are not included.

    Args:
        only: the namespace; None for all that the caller can read.
        vectors: add the vectors to their nodes.
        audit: add the audit; an import skips it.
        past: for rows, also export memories that are over or forgotten.
        wanted: the memories to export, with all statements about them; None for everything in the graphs.
        anonymity: how to anonymise rows; None keeps names.

    Raises:
        NotAcceptable: the format has no named graphs, or vectors or the audit are requested with rows.
    """
    names = _list_graphs(scope.tenant, parts)
    named = [name for name in names if kind_of(name) in ("graph", "cases")]
    own = [name for name in named if _name_of(name) == (only or _name_of(name)) and access.sees(_name_of(name))]
    if isinstance(form, TableForm):
        if vectors or audit:
            raise NotAcceptable(f"{form.name} has neither vectors nor an audit: export as trig, nquads or jsonld")
        if form is OKF:
            if anonymity:
                raise NotAcceptable("okf contains IRIs, which identify people: anonymise jsonl, json, csv or markdown")
            return _export_bundle(own, scope, access, parts, wanted)
        return _export_rows(form, own, names, access, parts, past, wanted, anonymity)
    if anonymity:
        raise NotAcceptable(
            f"{form.name} contains IRIs and your own RDF, which identify people: anonymise jsonl, json, csv or markdown"
        )
    writable(form)
    is_whole = only is None and not access.namespaces and wanted is None
    kinds: tuple[str, ...] = (*_WHOLE, "audit") if audit else _WHOLE
    usual = scope.graph
    if not form.has_graphs:  # a user's own RDF may be about memories; outside its graph it would look like ours
        kinds = tuple(kind for kind in kinds if kind != "data")
    chosen = [name for kind in kinds for name in names if kind_of(name) == kind]
    main_graph = graph_iri(scope.tenant, "main") if access.sees("main") else None
    memories = {iri for one in own for iri in _list_memories(one, True, wanted, parts)} if wanted else None
    snapshot = StoreCopy(parts)
    # A caller who may not read about the user still gets the user's IRI, because memories are about it.
    who = (
        () if scope.with_self and wanted is None else tuple(to_quads([(scope.user, TYPE, MEM.User, scope.self_graph)]))
    )

    def streams(of: Store) -> list[Statements]:
        if is_whole:
            return [of.match(graph=name) for name in chosen]
        if memories is not None:
            return excerpt_memories(of, own, scope.provenance, main_graph, memories)
        return excerpt(of, [*scope.user_graphs, *own], scope.provenance, main_graph)

    def pieces() -> Iterator[bytes]:
        found = streams(snapshot.open())
        if vectors:
            file, made_by = parts.indexes.file, parts.embedder.fingerprint
            found = [add_vectors(quads, lambda iri: _read_vector(iri, file, made_by)) for quads in found]
        found = [*found, who]
        return write_document(found if form.has_graphs else flatten_graphs(found, usual), form)

    if is_whole:
        count = sum(int(str(row["count"])) for row in parts.graph.select("exchange/counted", chosen))
    else:
        count = sum(1 for some in [*streams(parts.graph), who] for _ in some)
    return ExportDocument(form=form, statements=count, pieces=produce_in_thread(pieces))


def _list_memories(graph: IRI, past: bool, wanted: Filter | None, parts: Backends) -> list[IRI]:
    """List the memories of a graph that hold, or all, if a filter accepts them; the oldest first."""
    return parts.indexes.list_newest([graph], None if past else parts.clock(), wanted).iris[::-1]


def _export_rows(
    form: TableForm,
    graphs: Sequence[IRI],
    names: Sequence[IRI],
    access: Access,
    parts: Backends,
    past: bool,
    wanted: Filter | None,
    anonymity: Anonymity | None,
) -> ExportDocument:
    """Export the memories of some graphs, the oldest of each first, and the cases if all are exported without names."""
    snapshot = StoreCopy(parts)
    memories = [iri for one in graphs if kind_of(one) == "graph" for iri in _list_memories(one, past, wanted, parts)]
    banks = [one for one in graphs if kind_of(one) == "cases"] if anonymity and wanted is None else []
    cases = sum(len(list_case_iris(one, past, parts.graph)) for one in banks)
    readable = [one for one in names if kind_of(one) in ("graph", "self") and access.sees(_name_of(one) or "main")]

    def pieces() -> Iterator[bytes]:
        store = snapshot.open()
        rows: Iterator[Row] = chain(list_rows(memories, readable, store), list_case_rows(banks, readable, past, store))
        told = anonymise_rows(rows, readable, store, anonymity) if anonymity else rows
        return write_table(told, form, has_cases=cases > 0)

    return ExportDocument(form=form, statements=len(memories) + cases, pieces=produce_in_thread(pieces))


def _export_bundle(
    graphs: Sequence[IRI], scope: Scope, access: Access, parts: Backends, wanted: Filter | None
) -> ExportDocument:
    """Export the memories of some graphs that hold as a bundle of the Open Knowledge Format."""
    snapshot = StoreCopy(parts)
    own = [one for one in graphs if kind_of(one) == "graph"]
    memories = {iri for one in own for iri in _list_memories(one, False, wanted, parts)}
    beside = graph_iri(scope.tenant, "main") if access.sees("main") else None
    about_user = scope.with_self and wanted is None

    def pieces() -> Iterator[bytes]:
        store = snapshot.open()
        found = excerpt_memories(store, own, scope.provenance, beside, memories)
        who = store.match(scope.user, graph=scope.self_graph) if about_user else ()
        known = to_quads([(scope.user, TYPE, MEM.User, scope.self_graph)])
        yield from pack_files(build_files(chain(*found, who, known)))

    return ExportDocument(form=OKF, statements=len(memories), pieces=produce_in_thread(pieces))


def _list_graphs(tenant: str, parts: Backends) -> list[IRI]:
    return [name for name in parts.graph.graphs() if (found := parse_graph_name(name)) and found.tenant == tenant]


def kind_of(name: IRI) -> str:
    found = parse_graph_name(name)
    return found.kind if found else ""


def _name_of(name: IRI) -> str:
    found = parse_graph_name(name)
    return found.name if found else ""


def _read_vector(iri: IRI, file: VectorFile, fingerprint: str) -> NodeVectors | None:
    stored = file.find(iri)
    return NodeVectors(stored[1].tobytes(), fingerprint, stored[0]) if stored and len(stored[1]) else None


_WAITING = 8  # pieces that are produced before anybody reads them


class StoreCopy:
    """The current state of the store, in a folder that is deleted with this object; make it with the write lock held."""

    def __init__(self, parts: Backends) -> None:
        """Copy the store; raise `GraphError` if there is no room for it."""
        self._live = parts.graph
        if self._live.is_on_disk:
            for left in parts.datadir.work.glob("export-*"):
                if not left.name.startswith(f"export-{os.getpid()}-"):  # of a process that was killed
                    rmtree(left, ignore_errors=True)
            self._folder = parts.datadir.work / f"export-{os.getpid()}-{uuid4().hex}"
            self._live.backup(self._folder)
            weakref.finalize(self, rmtree, self._folder, ignore_errors=True)

    def open(self) -> Store:
        """Open the copy, to be read by this thread; for a store in memory, its current state."""
        return Oxigraph.read_only(self._folder) if self._live.is_on_disk else self._live


def produce_in_thread(make: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """
    Yield the pieces of `make`, which one background thread produces and frees, whatever thread reads them and however far.

    Raises:
        MementoError: whatever producing the pieces raises.
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

    def produce() -> None:
        try:
            for piece in make():
                if not put(piece):
                    return
            put(None)
        except MementoError as error:
            # Without the frames of this thread: they hold objects that must be freed here.
            put(type(error)(*error.args))
        except Exception as error:
            put(GraphError(f"the export broke off: {type(error).__name__}: {error}"))

    threading.Thread(target=produce, name="export", daemon=True).start()
    try:
        while (piece := ready.get()) is not None:
            if isinstance(piece, MementoError):
                raise piece
            yield piece
    finally:
        stopped.set()


_MEMORIES, _SELVES, _RUNS = "urn:memento:graph:", "urn:memento:self:", "urn:memento:provenance:"
_USER = "urn:memento:user:"
_PASSED_OVER = ("audit", "inferred")
_PORTION = 500
_TRIED_AT_ONCE = 2_000
_FAILURES = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""Exceptions of code that meets an unexpected value."""
_SHOWN = 5
_MINTED = re.compile(r"urn:memento:\w+:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDocument:
    """
    A document to import: the N-Quads `lines` that a worker has made from it.

    `only` is the namespace for all memories, whatever theirs was; `data` the name of the free graph for triples outside of any
    graph. `folder` is where to stage it, None for in memory.
    """

    lines: IO[bytes]
    name: str
    only: str | None = None
    data: str | None = None
    check: bool = True
    folder: Path | None = None


@dataclass(slots=True)
class PreparedImport:
    """A validated document: what is new in it, node by node, and how many of its vectors were used."""

    staged: StagingStore
    statements: int
    graphs: tuple[IRI, ...]
    vectors: VectorStaging
    kept: int = 0
    passed_over: int = 0
    is_checked: bool = True
    fresh: Counter[tuple[IRI, IRI]] = field(default_factory=Counter)


def prepare_import(
    document: ImportDocument, scope: Scope, access: Access, parts: Backends, progress: Progress | None
) -> PreparedImport:
    """
    Stage a document, validate it against the shapes, and embed what has no vectors; do not change the store.

    Args:
        progress: called with (nodes validated and texts embedded, all of them).

    Raises:
        InputError: the document is empty, or names a graph that cannot hold memories.
        Forbidden: the caller has no access to a namespace in it, or to what a run in it was about.
        Conflict: it would change what was said, or who made a memory from it.
        ShapeViolation: it would violate a shape; nothing is written.
        EmbeddingError: the embedder failed; nothing is written.
    """
    staged = StagingStore(document.folder)
    placing = _GraphMapping(document, scope, access)
    bank = cases_iri(scope.tenant, document.only or scope.namespace)
    counted = staged.fill(adopt_cases(document.lines, bank), placing.map_graph, placing.renamed)
    if placing.names_user:
        staged.add_own([(scope.user, TYPE, MEM.User, scope.self_graph)])
    if not counted:
        raise InputError(f"{document.name} has no statements: JSON-LD ignores a term that the @context does not define")
    real = parts.graph
    found = PreparedImport(
        staged, sum(counted.values()), tuple(sorted(set(placing.targets))), VectorStaging(staged, parts)
    )
    found.is_checked = document.check
    found.passed_over = sum(count for name, count in counted.items() if placing.map_graph(name) is None)
    staged.rename(_rename_taken(staged, scope, real))
    found.kept = staged.drop_settled(real)
    staged.raise_if_rewriting(real, document.name)
    _raise_if_not_ours(staged, scope, access, real, document.name)
    found.fresh = staged.fresh(real)
    checked = (
        list(dict.fromkeys(iri for iri, graph in found.fresh if kind_of(graph) != "data")) if document.check else []
    )
    check_and_embed(found, checked, real, scope, document.name, parts, progress)
    return found


def check_and_embed(
    found: PreparedImport,
    checked: Sequence[IRI],
    real: Store,
    scope: Scope,
    name: str,
    parts: Backends,
    progress: Progress | None,
) -> None:
    """
    Validate what is staged beside what is in a store, and embed what has no vectors; do not change the store.

    Args:
        checked: the nodes that must fit the shapes.
        name: what errors call what is staged.

    Raises:
        InputError, ShapeViolation, EmbeddingError: as `prepare_import`; nothing is written.
    """
    texts = sum(1 for _ in _iterate_nodes(found))

    def report(done: int) -> None:
        if progress:
            progress(done, len(checked) + texts)

    _check_shapes(found, checked, real, scope, name, report)
    _check_indexable(found, parts, name)
    found.vectors.put(_iterate_nodes(found), lambda done: report(len(checked) + done))
    found.vectors.put_states(_read_states(found))


def write_import(prepared: PreparedImport, scope: Scope, parts: Backends, token: str) -> Merged:
    """
    Write a prepared import with an entry in the audit graph, and update the indexes; call this with the write lock held.

    Args:
        token: of the caller, for the audit.
    """
    real = parts.graph
    prepared.kept += prepared.staged.drop_settled(real)
    prepared.staged.raise_if_rewriting(real, "the document")  # because of concurrent writes since
    ended = [subject for subject, _ in prepared.fresh if MEM.expiredAt in prepared.staged.describe(subject)]
    if ended:
        parts.invalidate_copies(ended)
    subjects = list(dict.fromkeys(subject for subject, _ in prepared.fresh))
    if subjects:
        audit_entry = Update(
            iri=mint("update"), at=now(), token=token, graphs=prepared.graphs, added=prepared.fresh.total(), removed=0
        )
        prepared.staged.add_own(mapping.quads(audit_entry, audit_iri(scope.tenant)))
        prepared.staged.pour(real, subjects)
    indexed = [name for name in prepared.graphs if kind_of(name) in ("graph", "self")]
    places: dict[IRI, set[IRI]] = {}
    for subject, graph in prepared.fresh:
        if graph in indexed:
            places.setdefault(subject, set()).add(graph)
    # What memories are about comes before them: their links need it.
    order = sorted(places, key=lambda iri: MEM.Memory in prepared.staged.describe(iri).get(TYPE, ()))
    readable = tuple(dict.fromkeys([*scope.readable, *indexed]))
    for begin in range(0, len(order), _PORTION):
        parts.indexes.refresh(order[begin : begin + _PORTION], readable)
    parts.aside.look_at(subjects, unchecked=not prepared.is_checked)
    if any(kind_of(name) == "cases" for name in prepared.graphs):
        for follow in parts.change_listeners:
            follow(None)
    parts.tell_writing(None)
    return _report_merge(prepared)


class _GraphMapping:
    """Decides into which graph each graph of a document goes, and which nodes are renamed there."""

    def __init__(self, document: ImportDocument, scope: Scope, access: Access) -> None:
        self._document, self._scope, self._access = document, scope, access
        self._tenant: str | None = None
        self.renamed: dict[str, IRI] = {}
        self.names_user = False
        """Whether the document describes the user; a caller restricted to some namespaces may name the user but not describe it."""
        self.targets: list[IRI] = []

    def map_graph(self, name: str) -> IRI | None:
        """Return the target for a graph of the document; None to skip it."""
        found = parse_graph_name(name)
        if name == ONTOLOGY or (found and found.kind in _PASSED_OVER):
            return None
        if found and found.kind == "self" and self._access.namespaces:
            self._rename_user(found.tenant)
            self.names_user = True
            self.targets.append(self._scope.self_graph)
            return None
        placed = self._free() if not name else self._ours(found, name)
        self.targets.append(placed.iri)
        return placed.iri

    def _free(self) -> GraphName:
        """Return the target for triples that are in no graph."""
        if not self._document.data:
            raise InputError(
                f"{self._document.name} has triples outside of any graph: name the graph of your own that they go to with `data`"
            )
        return self._check_owner(GraphName("data", self._scope.tenant, self._document.data))

    def _ours(self, found: GraphName | None, name: str) -> GraphName:
        if found is None:
            raise InputError(
                f"{self._document.name}: the graph <{name[:120]}> is not a graph of Memento: memories are in "
                "urn:memento:graph:…, cases in urn:memento:cases:…, and your own RDF in urn:memento:data:…"
            )
        if self._tenant not in (None, found.tenant):
            raise InputError(f"{self._document.name} has graphs of two tenants, {self._tenant!r} and {found.tenant!r}")
        if self._tenant is None:
            self._tenant = found.tenant
            self._rename_user(found.tenant)
        here = found.within(self._scope.tenant)
        if here.kind in ("graph", "cases"):
            here = replace(here, name=check_namespace(self._document.only or here.name))
            self._access.namespace(here.name, here.name)
        return self._check_owner(here)

    def _rename_user(self, tenant: str) -> None:
        if tenant != self._scope.tenant:
            self.renamed[user_iri(tenant)] = self._scope.user

    def _check_owner(self, here: GraphName) -> GraphName:
        writable = self._access.writable_graphs
        if here.kind == "data" and writable is not None and here.name not in writable:
            raise Forbidden(
                f"this token for some namespaces may not write the free graph <{here.iri}>: use one for all namespaces, or one "
                "that names it (`memento token create --graph NAME:write`)"
            )
        return here


def _rename_taken(staged: StagingStore, scope: Scope, real: Store) -> dict[IRI, IRI]:
    """Rename the nodes whose IRIs are taken in this store, and the runs that made them."""
    names = {
        subject: rename_beside(subject, graph)
        for subject, graph in (*staged.subjects(_MEMORIES), *staged.subjects(CASES))
        if (subject.startswith(_USER) and subject != scope.user) or _is_elsewhere(real, subject, graph)
    }
    runs = staged.subjects(_RUNS) if names else ()
    for run, _ in runs:
        said = {value for values in staged.describe(run).values() for value in values}
        if copied := sorted(names[value] for value in said if isinstance(value, IRI) and value in names):
            names[run] = rename_beside(run, copied[0])
    return names


def _raise_if_not_ours(staged: StagingStore, scope: Scope, access: Access, real: Store, name: str) -> None:
    """Raise `Forbidden` if the document has a run that was about nothing in it, nor in a namespace of the caller."""
    if not access.namespaces:
        return
    ours = {subject for subject, _ in (*staged.subjects(_MEMORIES), *staged.subjects(CASES))}
    allowed = [graph_iri(scope.tenant, namespace) for namespace in access.namespaces]
    runs, agents = [], set()
    for subject, _ in staged.subjects(_RUNS):
        said = staged.describe(subject)
        if MEM.Agent in said.get(TYPE, ()):
            agents.add(subject)
        else:
            runs.append((subject, [IRI(str(value)) for way in originals.MADE for value in said.get(way, ())]))
    for run, made in runs:
        concerned = [iri for iri in made if iri not in agents and not iri.startswith("urn:memento:agent:")]
        if not concerned or not all(iri in ours or _is_in(real, iri, allowed) for iri in concerned):
            raise Forbidden(f"{name} was not taken: <{run}> is about nodes that are in none of your namespaces")


def _is_in(real: Store, subject: IRI, graphs: Sequence[IRI]) -> bool:
    return any(True for graph in graphs for _ in real.match(subject, graph=graph))


def _is_elsewhere(real: Store, subject: IRI, graph: IRI) -> bool:
    """Tell whether another graph of memories, cases or a user describes a subject."""
    names = (getattr(quad.graph_name, "value", "") for quad in real.match(subject))
    return any(name != graph and name.startswith((_MEMORIES, _SELVES, CASES)) for name in names)


def _check_shapes(
    prepared: PreparedImport,
    subjects: Sequence[IRI],
    real: Store,
    scope: Scope,
    name: str,
    report: Callable[[int], None],
) -> None:
    here = [graph for graph in prepared.graphs if kind_of(graph) != "data"]
    faults = prepared.staged.find_violations(
        subjects, real, dict.fromkeys([*here, *scope.readable, scope.self_graph, scope.provenance]), report
    )
    if faults:
        said = [f"{one.target}: {one.message}" for one in faults]
        more = f" (and {len(said) - _SHOWN} more)" if len(said) > _SHOWN else ""
        raise ShapeViolation(f"{name} was not taken: {' '.join(said[:_SHOWN])}{more}", "\n".join(said))


def _check_indexable(prepared: PreparedImport, parts: Backends, name: str) -> None:
    """Raise `InputError` if the indexes cannot accept what is new, because they would then lack the rest."""
    records = (
        Record(subject, graph, prepared.staged.describe(subject))
        for subject, graph in prepared.fresh
        if kind_of(graph) in ("graph", "self") and not subject.startswith("_:")
    )
    if broken := find_refused(records, parts.indexes):
        raise InputError(
            f"{name} was not taken: <{broken}> cannot be indexed: check that each value has the type that its property takes"
        )


def find_refused(records: Iterable[Record], like: Indexes) -> IRI | None:
    """
    Find the first node that indexes like these would not accept; None if they accept all.

    This uses temporary indexes: the real ones are not touched, and nothing is embedded.
    """
    every = iter(records)
    while portion := list(islice(every, _TRIED_AT_ONCE)):
        try:
            _take_in(portion, like)
        except _FAILURES:
            return next((one.iri for one in portion if not _is_taken(one, like)), portion[0].iri)
    return None


def _is_taken(one: Record, like: Indexes) -> bool:
    try:
        _take_in([one], like)
    except _FAILURES:
        return False
    return True


def _take_in(portion: Sequence[Record], like: Indexes) -> None:
    indexes = like.blank()
    try:
        for one in portion:
            indexes.learn(one)
            indexes.learn_end(one)
        nodes = list(enumerate({one.iri: one for one in portion if one.kind is not None}.values()))
        others = [one for one in portion if one.kind is None and not one.edge]
        indexes.fill(nodes, others, [edge for one in portion if (edge := one.edge)])
    finally:
        indexes.file.close()


def _iterate_nodes(prepared: PreparedImport) -> Iterator[Record]:
    """Yield the searchable nodes that are new, or about which something new is stated; anchors first."""
    for kind in (MEM.Entity, MEM.User, MEM.Memory):
        for subject, graph in prepared.staged.list_of_type(kind):
            if prepared.fresh[subject, graph]:
                yield Record(subject, graph, prepared.staged.describe(subject))


def _read_states(prepared: PreparedImport) -> dict[IRI, str]:
    """Return the task of each new case and each new look-up."""
    found = {}
    for kind in (MEM.Case, MEM.CaseRetrieval):
        for subject, graph in prepared.staged.list_of_type(kind):
            states = prepared.staged.describe(subject).get(MEM.hasState, ()) if prepared.fresh[subject, graph] else ()
            tasks = [
                task for state in states for task in prepared.staged.describe(IRI(str(state))).get(MEM.content, ())
            ]
            if tasks:
                found[subject] = str(tasks[0])
    return found


def _report_merge(prepared: PreparedImport) -> Merged:
    return Merged(
        graphs=prepared.graphs,
        statements=prepared.statements,
        added=prepared.fresh.total(),
        kept=prepared.kept,
        passed_over=prepared.passed_over,
        memories=_count_new(prepared, MEM.Memory),
        notes=_count_new(prepared, MEM.Note),
        cases=_count_new(prepared, MEM.Case),
        vectors=prepared.vectors.taken,
        embedded=prepared.vectors.embedded,
    )


def _count_new(prepared: PreparedImport, kind: IRI) -> int:
    return sum(bool(prepared.fresh[place]) for place in prepared.staged.list_of_type(kind))


def rename_beside(iri: IRI, beside: IRI) -> IRI:
    """
    Rename a node whose IRI is taken, depending on another IRI such as its graph's: deterministic, and keeping the order.

    >>> rename_beside(IRI("urn:memento:note:018083e4-0340-7468-adf9-ea111c1907b1"), IRI("urn:memento:graph:local:copy"))
    'urn:memento:note:018083e4-0340-7468-adf9-ea11c7204d41'
    """
    mark = sha256(f"{beside} {iri}".encode()).hexdigest()
    if _MINTED.fullmatch(iri):
        return IRI(iri[:-8] + mark[:8])  # in front of it are the time, and a counter within one millisecond
    return IRI(f"urn:memento:node:{mark[:8]}-{mark[8:12]}-7{mark[12:15]}-8{mark[15:18]}-{mark[18:30]}")


_BATCH = 256


class VectorStaging:
    """The vectors of nodes that are not in the store yet; those of known nodes are updated from the graph."""

    def __init__(self, staged: StagingStore, parts: Backends) -> None:
        self._staged, self._parts = staged, parts
        self._names: dict[IRI, str] = {}
        self._written: list[IRI] = []
        self._states: list[IRI] = []
        self.taken = 0
        self.embedded = 0

    def put(self, nodes: Iterable[Record], report: Callable[[int], None]) -> None:
        """
        Write the vectors of some nodes to the file, anchors before memories.

        Args:
            report: called during the work with the number of nodes done.

        Raises:
            EmbeddingError: the embedder failed; the file is as before.
        """
        try:
            done = 0
            every = iter(nodes)
            while batch := list(islice(every, _BATCH)):
                self._put(batch)
                done += len(batch)
                report(done)
        except BaseException:
            self.undo()
            raise

    def put_states(self, tasks: Mapping[IRI, str]) -> None:
        """
        Write the state vectors of cases and look-ups, by the text of their tasks; existing vectors stay.

        Raises:
            EmbeddingError: the embedder failed; the file is as before.
        """
        file = self._parts.indexes.file
        known = file.find_states(list(tasks))
        missing = [iri for iri in tasks if iri not in known]
        try:
            for begin in range(0, len(missing), _BATCH):
                batch = missing[begin : begin + _BATCH]
                own = {iri: rows[0] for iri in batch if (rows := self._own(iri, digest(tasks[iri]))) is not None}
                rest = [iri for iri in batch if iri not in own]
                made = (
                    dict(zip(rest, embed_tasks([tasks[iri] for iri in rest], self._parts.embedder), strict=True))
                    if rest
                    else {}
                )
                file.write_states([(iri, digest(tasks[iri]), row) for iri, row in (own | made).items()])
                self._states += batch
                self.taken, self.embedded = self.taken + len(own), self.embedded + len(made)
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """Remove what was written."""
        self._parts.indexes.file.write_entries([], self._written)
        self._parts.indexes.file.write_states([], self._states)
        self._written, self._states = [], []

    def _put(self, batch: Sequence[Record]) -> None:
        indexes, embedder = self._parts.indexes, self._parts.embedder
        named = [node.iri if node.kind == "anchor" else IRI(node.first(MEM.saidBy)) for node in batch]
        known = indexes.names_of(filter(None, named), list({node.graph for node in batch}))
        for node in batch:
            if node.kind == "anchor":
                self._names[node.iri] = known.get(node.iri) or node.name
        texts = {node.iri: node.text(self._speaker(node)) for node in batch}
        own = {iri: found for iri, text in texts.items() if (found := self._own(iri, digest(text))) is not None}
        windows = {node.iri: indexes.windows(node, texts[node.iri]) for node in batch if node.iri not in own}
        every = [window for some in windows.values() for window in some]
        rows = embedder.embed(every) if every else np.zeros((0, embedder.dimensions), dtype=np.float32)
        begin, entries = 0, [(iri, digest(texts[iri]), vectors) for iri, vectors in own.items()]
        for iri, some in windows.items():
            entries.append((iri, digest(texts[iri]), rows[begin : begin + len(some)]))
            begin += len(some)
        fresh = [entry for entry in entries if indexes.file.find_id(entry[0]) is None]
        indexes.file.write_entries(fresh)
        self._written += [iri for iri, _, _ in fresh]
        self.taken += len(own)
        self.embedded += len(windows)

    def _speaker(self, node: Record) -> dict[IRI, str]:
        """Return the name of the speaker as it will be once the document is in the store."""
        speaker = IRI(node.first(MEM.saidBy))
        return {speaker: self._parts.indexes.name(speaker) or self._names.get(speaker, "")}

    def _own(self, iri: IRI, mark: bytes) -> Vectors | None:
        """Return the document's vectors of a node if our embedder made them from the same text."""
        said, embedder = self._staged.vector(iri), self._parts.embedder
        if said.get("embeddedBy") != embedder.fingerprint or said.get("embeddedHash") != mark.hex():
            return None
        try:
            encoded = said.get("embedding", said.get("hasStateEmbedding", ""))
            rows = np.frombuffer(b64decode(encoded, validate=True), dtype="<f4")
            rows = rows.reshape(-1, embedder.dimensions).astype(np.float32)
        except ValueError:
            return None
        is_usable = (
            len(rows) > 0 and bool(np.isfinite(rows).all()) and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-2)
        )
        return rows if is_usable else None
