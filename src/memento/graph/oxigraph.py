"""
The embedded store: one Oxigraph folder, owned by this process.

*Guarantees:* `apply` is one atomic update: after a kill, all of a change is there or nothing of it. Reads see only the
graphs they name.

*But:* no query can be stopped once it runs; foreign SPARQL must pass `sparql/guard.py` first.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

import pyoxigraph as ox

from memento.errors import GraphError, InputError, NotAcceptable
from memento.graph.binding import bound
from memento.graph.terms import to_term, to_value
from memento.model import Change, Quad, Value
from memento.ports import Row
from memento.vocabulary import IRI

_ROW_FORMATS = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
    "application/xml": ox.QueryResultsFormat.XML,
    "text/csv": ox.QueryResultsFormat.CSV,
    "text/tab-separated-values": ox.QueryResultsFormat.TSV,
}
_GRAPH_FORMATS = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
}


class Oxigraph:
    """`ports.Graph` over an embedded store."""

    def __init__(self, folder: Path | None = None) -> None:
        """
        Args:
            folder: where the store lies, made if it is not there; None keeps it in memory.

        Raises:
            GraphError: the folder cannot be opened.
        """
        with _failures():
            self._open: ox.Store | None = ox.Store(folder) if folder else ox.Store()
        self._in_folder = folder is not None
        self._one_writer = threading.Lock()
        self.before_write: Callable[[Iterable[IRI]], None] | None = None
        """Told the subjects of each change before it is applied; when it raises, nothing is written."""

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        text = bound(query, dict(slots))
        with _failures(query):
            solutions = self._query(text, readable)
            if not isinstance(solutions, ox.QuerySolutions):
                raise GraphError(f"the query {query!r} is no SELECT")
            names = [variable.value for variable in solutions.variables]
            return [
                {name: to_value(term) for name, term in zip(names, row, strict=True) if term is not None}
                for row in solutions
            ]

    def apply(self, change: Change) -> None:
        if self.before_write is not None:
            self.before_write(dict.fromkeys(quad[0] for quad in (*change.removes, *change.adds)))
        with self._one_writer, _failures():
            if change.removes:
                self._store.update(" ; ".join(_operations(change)))
            else:  # as atomic, in less time: nothing is to be parsed
                self._store.extend(_quads(change.adds))

    def answer(self, sparql: str, readable: Sequence[IRI], accept: str) -> tuple[bytes, str]:
        try:
            found = self._query(sparql, readable)
        except SyntaxError as error:
            raise InputError(f"this is not SPARQL: {error}") from error
        except (OSError, ValueError, RuntimeError) as error:
            raise GraphError(f"the query failed: {error}") from error
        is_graph = isinstance(found, ox.QueryTriples)
        formats = _GRAPH_FORMATS if is_graph else _ROW_FORMATS
        media = _negotiated(accept, list(formats))
        with _failures():
            return found.serialize(format=formats[media]), media  # type: ignore[arg-type, return-value]

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

    def load(self, turtle: bytes, graph: IRI) -> None:
        with self._one_writer, _failures():
            triples = ox.parse(turtle, ox.RdfFormat.TURTLE)
            data = " ".join(f"{quad.triple} ." for quad in triples)
            name = to_term(graph)
            self._store.update(f"DROP SILENT GRAPH {name} ; INSERT DATA {{ GRAPH {name} {{ {data} }} }}")

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
        source, target = ox.Store(folder), ox.Store(fresh)
        target.bulk_extend(source)
        target.flush()
        del source, target
        folder.rename(old)
        fresh.rename(folder)
        rmtree(old)


def _operations(change: Change) -> Iterator[str]:
    for verb, found in (("DELETE", change.removes), ("INSERT", change.adds)):
        if found:
            yield f"{verb} DATA {{ {' '.join(_written(quad) for quad in found)} }}"


def _quads(found: Iterable[Quad]) -> list[ox.Quad]:
    made: dict[str, ox.NamedNode] = {}

    def name(iri: IRI) -> ox.NamedNode:
        known = made.get(iri)
        if known is None:
            known = made[iri] = ox.NamedNode(iri)
        return known

    return [
        ox.Quad(name(subject), name(predicate), name(value) if isinstance(value, IRI) else to_term(value), name(graph))
        for subject, predicate, value, graph in found
    ]


def _written(quad: Quad) -> str:
    subject, predicate, value, graph = quad
    return f"GRAPH {to_term(graph)} {{ {to_term(subject)} {to_term(predicate)} {to_term(value)} }}"


def _negotiated(accept: str, offered: list[str]) -> str:
    """The offered media type that an Accept header likes best; the first one when it says nothing."""
    best, best_quality = "", 0.0
    for part in accept.split(",") if accept.strip() else ["*/*"]:
        wanted, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((_quality(p[2:]) for p in parameters if p.startswith("q=")), 1.0)
        pattern = re.compile(re.escape(wanted.lower()).replace(r"\*", ".*"))
        found = next((media for media in offered if pattern.fullmatch(media)), None)
        if found and quality > best_quality:
            best, best_quality = found, quality
    if not best:
        raise NotAcceptable(f"none of the media types in {accept!r} can be had here: {', '.join(offered)}")
    return best


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


@contextmanager
def _failures(query: str = "") -> Iterator[None]:
    """The store signals with Python's own exceptions; none of them leaves this room."""
    try:
        yield
    except (SyntaxError, OSError, RuntimeError, ValueError) as error:
        where = f" in queries/{query}.rq" if query else ""
        raise GraphError(f"the store failed{where}: {error}") from error


def parsed_quads(document: bytes, graph: IRI | None = None) -> Iterable[Quad]:
    """
    The quads of a TriG document, or of a Turtle document put into `graph`.

    Raises:
        InputError: the document is not well formed.
    """
    try:
        for found in ox.parse(document, ox.RdfFormat.TRIG):
            name = graph or IRI(getattr(found.graph_name, "value", ""))
            yield (
                IRI(str(getattr(found.subject, "value", ""))),
                IRI(found.predicate.value),
                to_value(found.object),
                name,
            )
    except (SyntaxError, ValueError) as error:
        raise InputError(f"this is not TriG: {error}") from error
