"""
What goes out: the graphs that a caller may read, whole, as one document.

Memories, cases, the user, the provenance and the tenant's own RDF go out; what was done with the store (audit) on demand, for
reading. Never go out: the ontology, which everybody has; what is inferred, which is inferred again; other tenants; tokens.

*But:* an export of some namespaces has no RDF of the tenant's own, which belongs to none of them; of the provenance it has what
made the memories in it, and of `main` what these point at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memento.access import Access
from memento.backends import Backends
from memento.exchange.apart import Snapshot, apart
from memento.exchange.names import graph_name
from memento.graph.documents import Form, writable, written
from memento.graph.exact import Exact
from memento.graph.streams import Statements, Vector, excerpt, with_vectors
from memento.model import Scope
from memento.search.vectors import VectorFile
from memento.vocabulary import IRI, graph_iri

_WHOLE = ("self", "graph", "cases", "provenance", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """A document on its way out: its format, how many statements it has beside those of vectors, and its pieces."""

    form: Form
    statements: int
    pieces: Iterator[bytes]


def leaving(
    form: Form, scope: Scope, access: Access, parts: Backends, *, only: str | None, vectors: bool, audit: bool
) -> Leaving:
    """
    The document of a tenant's graphs, or of one namespace. What is written after this call is not in it.

    Args:
        only: the namespace; None for all that the caller sees.
        vectors: put the vectors beside what they are of.
        audit: put in what was done with the store; an import passes it over.

    Raises:
        NotAcceptable: the format has no named graphs.
    """
    writable(form)
    names = _names(scope.tenant, parts)
    named = [name for name in names if _kind(name) in ("graph", "cases")]
    own = [name for name in named if _name(name) == (only or _name(name)) and access.sees(_name(name))]
    is_whole = only is None and not access.namespaces
    kinds = (*_WHOLE, "audit") if audit else _WHOLE
    chosen = [name for kind in kinds for name in names if _kind(name) == kind]
    beside = graph_iri(scope.tenant, "main") if access.sees("main") else None
    snapshot = Snapshot(parts)

    def streams(of: Exact) -> list[Statements]:
        if is_whole:
            return [of.statements(name) for name in chosen]
        return excerpt(of, [scope.self_graph, *own], scope.provenance, beside)

    def pieces() -> Iterator[bytes]:
        found = streams(snapshot.opened())
        if vectors:
            file, made_by = parts.indexes.file, parts.embedder.fingerprint
            found = [with_vectors(quads, lambda iri: _vector(iri, file, made_by)) for quads in found]
        return written(found, form)

    if is_whole:
        count = sum(int(str(row["count"])) for row in parts.graph.select("exchange/counted", chosen))
    else:
        count = sum(1 for some in streams(Exact(parts.graph)) for _ in some)
    return Leaving(form=form, statements=count, pieces=apart(pieces))


def _names(tenant: str, parts: Backends) -> list[IRI]:
    return [name for name in parts.graph.graphs() if (found := graph_name(name)) and found.tenant == tenant]


def _kind(name: IRI) -> str:
    found = graph_name(name)
    return found.kind if found else ""


def _name(name: IRI) -> str:
    found = graph_name(name)
    return found.name if found else ""


def _vector(iri: IRI, file: VectorFile, fingerprint: str) -> Vector | None:
    stored = file.stored(iri)
    return Vector(stored[1].tobytes(), fingerprint, stored[0]) if stored and len(stored[1]) else None
