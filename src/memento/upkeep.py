"""How the service stands, where it is not as it should be, and how it is mended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import chain
from typing import Literal

from memento import __version__
from memento.access import Access
from memento.backends import Backends
from memento.errors import BackendError
from memento.exchange.names import graph_name
from memento.graph import shapes, whole
from memento.graph.exact import Exact
from memento.home import Home
from memento.model import Difference, Health, Scope, SetAside, Status
from memento.ports import Progress
from memento.retrieval import gate
from memento.search import reconcile
from memento.settings import Settings
from memento.vocabulary import IRI, MEM, graph_iri, namespace_of


def status(scope: Scope, access: Access, home: Home, now: datetime, parts: Backends, settings: Settings) -> Status:
    """Counts over the readable graphs of a scope, and how the service stands."""
    inferred = parts.inferences.current(scope, now) if settings.inference.on else None
    rows = parts.graph.select("library/counted", scope.memory_graphs)
    counts = {str(row["type"]): int(str(row["count"])) for row in rows}
    states = parts.graph.select("library/waiting", scope.memory_graphs)
    waiting = {str(row["state"]): int(str(row["count"])) for row in states}
    owner = home.owner()
    with parts.indexes.lock:
        current = int(parts.indexes.nodes.current(scope.memory_graphs, now=now).sum())
        vectors = len(parts.indexes.nodes)
    names = {namespace_of(graph) for graph in _graphs_of(scope.tenant, parts)}
    return Status(
        version=__version__,
        home=str(home.path),
        namespace=scope.namespace,
        namespaces=tuple(sorted(filter(access.sees, names))),
        ready=parts.warm,
        embedder=parts.embedder.fingerprint,
        runtime=parts.embedder.runtime,
        notes=counts.get(MEM.Note, 0),
        memories=counts.get(MEM.Memory, 0),
        current=current,
        entities=counts.get(MEM.Entity, 0),
        invalidations=counts.get(MEM.Invalidation, 0),
        pending=waiting.get("pending", 0),
        failed=waiting.get("failed", 0),
        inferred=inferred.triples if inferred else 0,
        contradictions=inferred.contradictions if inferred else 0,
        vectors=vectors,
        gate=gate.described(parts.embedder.fingerprint, settings.gate),
        address=owner.address if owner else None,
        degraded=_told(parts),
        set_aside=set_aside(scope.tenant, access, parts),
    )


def health(scope: Scope, access: Access, upstreams: Mapping[str, str], parts: Backends) -> Health:
    """How the service stands, in a few milliseconds however much it holds; a store that fails is said, not raised."""
    harm = _told(parts)
    store: Literal["ok", "failing", "damaged"] = "damaged" if harm else "ok"
    waiting: dict[str, int] = {}
    try:
        graphs = [g for g in _graphs_of(scope.tenant, parts) if access.sees(namespace_of(g))]
        rows = parts.graph.select("library/waiting", graphs or scope.memory_graphs)
        waiting = {str(row["state"]): int(str(row["count"])) for row in rows}
    except BackendError:
        store = "failing"
    return Health(
        status="starting" if not parts.warm else "degraded" if harm else "ok",
        version=__version__,
        embedder=parts.embedder.fingerprint,
        runtime=parts.embedder.runtime,
        store=store,
        indexes=len(parts.indexes.nodes),
        pending=waiting.get("pending", 0),
        failed=waiting.get("failed", 0),
        upstreams=upstreams,
        degraded=harm,
        set_aside=set_aside(scope.tenant, access, parts),
    )


def set_aside(tenant: str, access: Access, parts: Backends) -> SetAside | None:
    """What of the graphs that the caller sees no reader can take; None when that is nothing."""

    def is_seen(graph: IRI) -> bool:
        found = graph_name(graph)
        if found is None or found.tenant != tenant:
            return False
        return access.sees(found.name) if found.name else found.kind == "self" or not access.namespaces

    statements, nodes = parts.aside.within(is_seen)
    return SetAside(statements=statements, nodes=nodes[:_SHOWN]) if statements else None


def read_whole(parts: Backends) -> str | None:
    """What is damaged in the store's files, all of them read as they are now; None for a store in memory, or a sound one."""
    if not Exact(parts.graph).is_on_disk:
        return None
    with parts.snapshots.lease() as snapshot:
        parts.harm = whole.damage(snapshot)
    return parts.harm


def check(parts: Backends) -> list[Difference]:
    """Where indexes differ from the graph, and where the graph breaks a shape; changes nothing."""
    found = [Difference(what="degraded", iri="", detail=str(parts.degraded))] if parts.degraded else []
    if parts.harm:  # what is asked of a damaged store fails, or is told as a difference
        return [*found, Difference(what=DAMAGED, iri="", detail=f"{parts.harm}. {_REMEDY}")]
    found += reconcile.differences(parts.graph, parts.indexes)
    # All graphs at once: a memory of one namespace may be about an entity of another.
    names = [name for name in parts.graph.graphs() if name.startswith(_OURS)]
    quads = chain.from_iterable(parts.graph.quads(name) for name in names)
    return found + [Difference(what="shape", iri=one.focus, detail=one.line) for one in shapes.violations(quads)]


def _told(parts: Backends) -> str | None:
    if parts.degraded:
        return str(parts.degraded)
    return f"the store is damaged: {parts.harm}. {_REMEDY}" if parts.harm else None


def rebuild(parts: Backends, progress: Progress | None) -> int:
    """Make every index from the graph alone; returns how many nodes were embedded."""
    return reconcile.rebuild(parts.graph, parts.indexes, progress)


def _graphs_of(tenant: str, parts: Backends) -> list[IRI]:
    return [graph for graph in parts.graph.graphs() if graph.startswith(graph_iri(tenant, ""))]


_SHOWN = 100  # nodes that are named
DAMAGED = "damaged-store"
"""The word of `check` for files that cannot be read to their end."""
_REMEDY = (
    "`memento restore` puts a backup in its place; where there is none, `memento export` takes out what can be read"
)
_OURS = tuple(f"urn:memento:{kind}:" for kind in ("graph", "self", "provenance", "cases", "audit"))
