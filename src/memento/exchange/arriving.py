"""
What comes in: a document's graphs into those of the caller, checked and embedded first, and then written at once.

IRIs stay as they are, but for the user's, which is the tenant's, and those that another namespace or tenant of this store has: an
IRI is in one place only, so a copy gets others, the same each time. What is here already stays: statements are added, none is
removed; where an entity or the user has another name, kind or description here, that one stays too, and so does what is known of
a case. An audit, what was inferred, and the ontology are passed over.

*Guarantees:* all or nothing; the same document twice changes nothing.

*Flow:* `staged` (read, placed, settled) → `faults` (shapes) → `trial` (indexes) → `prepared` (vectors) → `poured` (written, indexes
follow).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from memento.access import Access
from memento.backends import Backends
from memento.errors import Forbidden, InputError, ShapeViolation
from memento.exchange.names import GraphName, another, graph_name
from memento.exchange.vectors import Prepared
from memento.graph import mapping
from memento.graph.documents import read_lines
from memento.graph.exact import Exact
from memento.graph.staged import Staged
from memento.instants import now
from memento.model import Merged, Scope, Update
from memento.ports import Progress
from memento.search.found import Found
from memento.search.trial import find_refused
from memento.settings import namespace_checked
from memento.vocabulary import CASES, IRI, MEM, ONTOLOGY, TYPE, audit_iri, mint, user_iri

_MEMORIES, _SELVES, _RUNS = "urn:memento:graph:", "urn:memento:self:", "urn:memento:provenance:"
_USER = "urn:memento:user:"
_PASSED_OVER = ("audit", "inferred")
_PORTION = 500
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """
    A document as it comes in: as the N-Quads `lines` that a worker has made of it.

    `only` is the namespace that all memories go to, whatever theirs was; `data` the name of the free graph that triples outside
    of any graph go to. `folder` is where it may lie meanwhile, None for in memory.
    """

    lines: IO[bytes]
    name: str
    only: str | None = None
    data: str | None = None
    check: bool = True
    folder: Path | None = None


@dataclass(slots=True)
class Ready:
    """A document that is known to be right: what is new in it, node by node, and how many of its vectors were taken."""

    staged: Staged
    statements: int
    graphs: tuple[IRI, ...]
    prepared: Prepared
    kept: int = 0
    passed_over: int = 0
    is_checked: bool = True
    fresh: Counter[tuple[IRI, IRI]] = field(default_factory=Counter)


def ready(one: Arriving, scope: Scope, access: Access, parts: Backends, progress: Progress | None) -> Ready:
    """
    Take a document in apart, hold it against the shapes, and make what vectors it lacks; the store is as it was.

    Args:
        progress: called with (nodes checked and texts embedded, all of them).

    Raises:
        InputError: the document says nothing, or names a graph that memories cannot be in.
        Forbidden: the caller has no access to a namespace in it.
        ShapeViolation: it would break a shape; nothing is written.
        EmbeddingError: the embedder failed; nothing is written.
    """
    staged = Staged(one.folder)
    placing = _Placing(one, scope, access)
    counted = staged.fill(read_lines(one.lines), placing.graph, placing.renamed)
    if not counted:
        raise InputError(
            f"{one.name} says nothing: in JSON-LD a term that the @context does not define is no statement"
        )
    real = Exact(parts.graph)
    found = Ready(staged, sum(counted.values()), tuple(sorted(set(placing.targets))), Prepared(staged, parts))
    found.is_checked = one.check
    found.passed_over = sum(count for name, count in counted.items() if placing.graph(name) is None)
    staged.rename(_taken(staged, scope, real))
    found.kept = staged.settle(real)
    found.fresh = staged.fresh(real)
    checked = list(dict.fromkeys(iri for iri, graph in found.fresh if _kind(graph) != "data")) if one.check else []
    texts = sum(1 for _ in _nodes(found))

    def told(done: int) -> None:
        if progress:
            progress(done, len(checked) + texts)

    _hold_against_shapes(found, checked, real, scope, one.name, told)
    _try_indexes(found, parts, one.name)
    found.prepared.put(_nodes(found), lambda done: told(len(checked) + done))
    found.prepared.put_states(_states(found))
    return found


def poured(one: Ready, scope: Scope, parts: Backends, token: str) -> Merged:
    """
    Write it, with a line in the audit graph, and let the indexes follow; nobody else may write meanwhile.

    Args:
        token: who brings it, for the audit.
    """
    real = Exact(parts.graph)
    one.kept += one.staged.settle(real)
    ended = [subject for subject, _ in one.fresh if MEM.expiredAt in one.staged.said(subject)]
    if ended:
        parts.forget_copies(ended)
    subjects = list(dict.fromkeys(subject for subject, _ in one.fresh))
    if subjects:
        written = Update(
            iri=mint("update"), at=now(), token=token, graphs=one.graphs, added=one.fresh.total(), removed=0
        )
        one.staged.add(mapping.quads(written, audit_iri(scope.tenant)))
        one.staged.pour(real, subjects)
    indexed = [name for name in one.graphs if _kind(name) in ("graph", "self")]
    places: dict[IRI, set[IRI]] = {}
    for subject, graph in one.fresh:
        if graph in indexed:
            places.setdefault(subject, set()).add(graph)
    # What memories are about before the memories: their links need it.
    order = sorted(places, key=lambda iri: MEM.Memory in one.staged.said(iri).get(TYPE, ()))
    readable = tuple(dict.fromkeys([*scope.readable, *indexed]))
    for begin in range(0, len(order), _PORTION):
        parts.indexes.refresh(order[begin : begin + _PORTION], readable)
    parts.aside.look_at(subjects, unchecked=not one.is_checked)
    if any(_kind(name) == "cases" for name in one.graphs):
        for follow in parts.followers:
            follow(None)
    return _merged(one)


class _Placing:
    """Where each graph of a document goes, and what goes by another name there."""

    def __init__(self, one: Arriving, scope: Scope, access: Access) -> None:
        self._one, self._scope, self._access = one, scope, access
        self._tenant: str | None = None
        self.renamed: dict[str, IRI] = {}
        self.targets: list[IRI] = []

    def graph(self, name: str) -> IRI | None:
        """The graph that one of the document goes to, None for one that is passed over."""
        found = graph_name(name)
        if name == ONTOLOGY or (found and found.kind in _PASSED_OVER):
            return None
        placed = self._free() if not name else self._ours(found, name)
        self.targets.append(placed.iri)
        return placed.iri

    def _free(self) -> GraphName:
        """Where triples go that stand in no graph."""
        if not self._one.data:
            raise InputError(
                f"{self._one.name} has triples outside of any graph: say which of your own graphs they go to, with `data`"
            )
        return self._owned(GraphName("data", self._scope.tenant, self._one.data))

    def _ours(self, found: GraphName | None, name: str) -> GraphName:
        if found is None:
            raise InputError(
                f"{self._one.name}: the graph <{name[:120]}> is none that Memento has: memories are in "
                "urn:memento:graph:…, cases in urn:memento:cases:…, and your own RDF in urn:memento:data:…"
            )
        if self._tenant not in (None, found.tenant):
            raise InputError(f"{self._one.name} has graphs of two tenants, {self._tenant!r} and {found.tenant!r}")
        if self._tenant is None:
            self._tenant = found.tenant
            if found.tenant != self._scope.tenant:
                self.renamed[user_iri(found.tenant)] = self._scope.user
        here = found.within(self._scope.tenant)
        if here.kind in ("graph", "cases"):
            here = replace(here, name=namespace_checked(self._one.only or here.name))
            self._access.namespace(here.name, here.name)
        return self._owned(here)

    def _owned(self, here: GraphName) -> GraphName:
        if here.kind == "data" and self._access.namespaces:
            raise Forbidden("a token for some namespaces has no graphs of its own: use one for all of them")
        return here


def _taken(staged: Staged, scope: Scope, real: Exact) -> dict[IRI, IRI]:
    """The nodes that others have in this store, and what they are to be called here; with them the runs that made them."""
    names = {
        subject: another(subject, graph)
        for subject, graph in (*staged.subjects(_MEMORIES), *staged.subjects(CASES))
        if (subject.startswith(_USER) and subject != scope.user)
        or real.is_elsewhere(subject, graph, (_MEMORIES, _SELVES, CASES))
    }
    runs = staged.subjects(_RUNS) if names else ()
    for run, _ in runs:
        said = {value for values in staged.said(run).values() for value in values}
        if copied := sorted(names[value] for value in said if isinstance(value, IRI) and value in names):
            names[run] = another(run, copied[0])
    return names


def _hold_against_shapes(
    one: Ready, subjects: Sequence[IRI], real: Exact, scope: Scope, name: str, told: Callable[[int], None]
) -> None:
    here = [graph for graph in one.graphs if _kind(graph) != "data"]
    faults = one.staged.faults(subjects, real, dict.fromkeys([*here, *scope.readable, scope.provenance]), told)
    if faults:
        said = [f"{one.place}: {one.message}" for one in faults]
        more = f" (and {len(said) - _SHOWN} more)" if len(said) > _SHOWN else ""
        raise ShapeViolation(f"{name} was not taken: {' '.join(said[:_SHOWN])}{more}", "\n".join(said))


def _try_indexes(one: Ready, parts: Backends, name: str) -> None:
    """Raises `InputError` when the indexes cannot take in what is new, which would leave them without the rest."""
    found = (
        Found(subject, graph, one.staged.said(subject))
        for subject, graph in one.fresh
        if _kind(graph) in ("graph", "self") and not subject.startswith("_:")
    )
    if broken := find_refused(found, parts.indexes):
        raise InputError(
            f"{name} was not taken: <{broken}> cannot be indexed: see that its values are what its properties take"
        )


def _nodes(one: Ready) -> Iterator[Found]:
    """The nodes with text to be searched for that are new, or of which something new is said; anchors first."""
    for kind in (MEM.Entity, MEM.User, MEM.Memory):
        for subject, graph in one.staged.typed(kind):
            if one.fresh[subject, graph]:
                yield Found(subject, graph, one.staged.said(subject))


def _states(one: Ready) -> dict[IRI, str]:
    """The task of each case and of each look-up that is new."""
    found = {}
    for kind in (MEM.Case, MEM.CaseRetrieval):
        for subject, graph in one.staged.typed(kind):
            states = one.staged.said(subject).get(MEM.hasState, ()) if one.fresh[subject, graph] else ()
            tasks = [task for state in states for task in one.staged.said(IRI(str(state))).get(MEM.content, ())]
            if tasks:
                found[subject] = str(tasks[0])
    return found


def _merged(one: Ready) -> Merged:
    return Merged(
        graphs=one.graphs,
        statements=one.statements,
        added=one.fresh.total(),
        kept=one.kept,
        passed_over=one.passed_over,
        memories=_count(one, MEM.Memory),
        notes=_count(one, MEM.Note),
        cases=_count(one, MEM.Case),
        vectors=one.prepared.taken,
        embedded=one.prepared.embedded,
    )


def _count(one: Ready, kind: IRI) -> int:
    return sum(bool(one.fresh[place]) for place in one.staged.typed(kind))


def _kind(name: IRI) -> str:
    found = graph_name(name)
    return found.kind if found else ""
