"""Reports how the service stands, finds where it is not as it should be, and rebuilds what is derived."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import chain
from typing import Literal

from memento.access import Access
from memento.assets import VERSION
from memento.backends import Backends
from memento.datadir import DataFolder
from memento.errors import BackendError
from memento.graph import shapes
from memento.graph.oxigraph import find_damage
from memento.iris import IRI, MEM, graph_iri, namespace_of, parse_graph_name
from memento.model import Difference, Health, Scope, SetAside, Status
from memento.ports import Progress
from memento.retrieval import relevance
from memento.search import cache
from memento.settings import Settings


def report_status(
    scope: Scope, access: Access, datadir: DataFolder, now: datetime, parts: Backends, settings: Settings
) -> Status:
    """Report counts over the readable graphs of a scope, and how the service stands."""
    inferred = parts.inferences.current(scope, now) if settings.inference.on else None
    rows = parts.graph.select("library/counted", scope.memory_graphs)
    counts = {str(row["type"]): int(str(row["count"])) for row in rows}
    states = parts.graph.select("library/waiting", scope.memory_graphs)
    waiting = {str(row["state"]): int(str(row["count"])) for row in states}
    owner = datadir.owner()
    disputes = parts.graph.select("library/disputed", [scope.graph])
    disputed = sum("confidence" not in row for row in disputes)  # with one they are rivals, which may both be true
    with parts.indexes.lock:
        current = int(parts.indexes.nodes.current(scope.memory_graphs, now=now).sum())
        vectors = len(parts.indexes.nodes)
    names = {namespace_of(graph) for graph in _graphs_of(scope.tenant, parts)}
    return Status(
        version=VERSION,
        home=str(datadir.path),
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
        contradictions=disputed + (inferred.contradictions if inferred else 0),
        vectors=vectors,
        gate=relevance.describe_gate(parts.embedder.fingerprint, settings.gate),
        address=owner.address if owner else None,
        degraded=_explain_damage(parts),
        set_aside=find_set_aside(scope.tenant, access, parts),
    )


def report_health(scope: Scope, access: Access, upstreams: Mapping[str, str], parts: Backends) -> Health:
    """Report how the service stands, in a few milliseconds however much it holds; a failing store is reported, not raised."""
    harm = _explain_damage(parts)
    store: Literal["ok", "failing", "damaged"] = "damaged" if harm else "ok"
    if not harm and parts.graph.failure:
        harm, store = explain_failure(parts.graph.failure), "failing"
    waiting: dict[str, int] = {}
    try:
        graphs = [g for g in _graphs_of(scope.tenant, parts) if access.sees(namespace_of(g))]
        rows = parts.graph.select("library/waiting", graphs or scope.memory_graphs)
        waiting = {str(row["state"]): int(str(row["count"])) for row in rows}
    except BackendError:
        store = "failing"
    return Health(
        status="starting" if not parts.warm else "degraded" if harm else "ok",
        version=VERSION,
        embedder=parts.embedder.fingerprint,
        runtime=parts.embedder.runtime,
        store=store,
        indexes=len(parts.indexes.nodes),
        pending=waiting.get("pending", 0),
        failed=waiting.get("failed", 0),
        upstreams=upstreams,
        degraded=harm,
        set_aside=find_set_aside(scope.tenant, access, parts),
    )


def find_set_aside(tenant: str, access: Access, parts: Backends) -> SetAside | None:
    """Find what of the graphs that the caller sees no reader can take; None when that is nothing."""

    def is_seen(graph: IRI) -> bool:
        found = parse_graph_name(graph)
        if found is None or found.tenant != tenant:
            return False
        return access.sees(found.name) if found.name else found.kind == "self" or not access.namespaces

    statements, nodes = parts.aside.within(is_seen)
    return SetAside(statements=statements, nodes=nodes[:_SHOWN]) if statements else None


def read_store_files(parts: Backends) -> str | None:
    """Read all of the store's files and say what is damaged; None for a store in memory, or a sound one."""
    if not parts.graph.is_on_disk:
        return None
    with parts.snapshots.lease() as snapshot:
        parts.harm = find_damage(snapshot)
    return parts.harm


def find_differences(parts: Backends) -> list[Difference]:
    """
    Find where indexes differ from the graph, and where the graph breaks a shape; change nothing. Where indexes differ, what is kept
    of them for the next start is given up: it reads the graph.
    """
    found = [Difference(what="degraded", iri="", detail=str(parts.degraded))] if parts.degraded else []
    if parts.harm:  # what is asked of a damaged store fails, or is told as a difference
        return [*found, Difference(what=DAMAGED, iri="", detail=f"{parts.harm}. {_REMEDY}")]
    differing = parts.indexes.check()
    if differing:
        cache.discard(parts.datadir.indexes, parts.indexes)
    found += differing
    # All graphs at once: a memory of one namespace may be about an entity of another.
    names = [name for name in parts.graph.graphs() if name.startswith(_OURS)]
    quads = chain.from_iterable(parts.graph.quads(name) for name in names)
    return found + [Difference(what="shape", iri=one.focus, detail=one.line) for one in shapes.violations(quads)]


def explain_failure(failure: str) -> str:
    """Explain why nothing can be written, and what helps."""
    return (
        f"nothing can be written: {failure}. Make room: writing goes on by itself, and questions are answered meanwhile"
    )


def _explain_damage(parts: Backends) -> str | None:
    if parts.degraded:
        return str(parts.degraded)
    return f"the store is damaged: {parts.harm}. {_REMEDY}" if parts.harm else None


def rebuild_indexes(parts: Backends, progress: Progress | None) -> int:
    """Make every index from the graph alone; return how many nodes were embedded."""
    return parts.indexes.rebuild(progress)


def _graphs_of(tenant: str, parts: Backends) -> list[IRI]:
    return [graph for graph in parts.graph.graphs() if graph.startswith(graph_iri(tenant, ""))]


_SHOWN = 100  # nodes that are named
DAMAGED = "damaged-store"
"""The word of `find_differences` for files that cannot be read to their end."""
_REMEDY = (
    "`memento restore` puts a backup in its place; where there is none, `memento export` takes out what can be read"
)
_OURS = tuple(f"urn:memento:{kind}:" for kind in ("graph", "self", "provenance", "cases", "audit"))
