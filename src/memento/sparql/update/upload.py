"""
Documents tried on a snapshot: what they would change in the one graph that they are put into, or added to.

*Guarantees:* nothing is fetched, whatever a document refers to; its blank nodes are none of the store's.

*But:* nothing here can be stopped: it runs in a worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyoxigraph as ox

from memento.errors import InputError
from memento.graph.delta import Delta
from memento.graph.parsing import parse_quads, refuse_unsafe
from memento.iris import mint
from memento.sparql.update.trial import ChangeLog, graph_term
from memento.sparql.worker.jobs import Document, TrialOptions

FORMATS: Mapping[str, ox.RdfFormat] = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/x-turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
    "application/trig": ox.RdfFormat.TRIG,
    "application/n-quads": ox.RdfFormat.N_QUADS,
    "text/n3": ox.RdfFormat.N3,
}
"""The media types that are read."""


def uploaded(
    documents: Sequence[Document], graph: str, replaces: bool, snapshot: ox.Store | None, terms: TrialOptions
) -> Delta:
    """
    What some documents would change in a graph; "" is the default graph.

    Args:
        replaces: whether all goes that is there and that no document says.
        snapshot: None gives back all that the documents say, as if nothing were there.

    Raises:
        InputError: a document is not well formed, or names another graph.
        TooLong: more than `options.most` quads go and come.
    """
    snapshot = ox.Store() if snapshot is None else snapshot
    ledger = ChangeLog(snapshot, terms.listed, terms.most)
    ledger.touch(graph)
    ledger.create(graph)
    new: set[ox.Quad] = set()
    named: dict[ox.BlankNode, ox.NamedNode] = {}

    def kept(
        term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple,
    ) -> ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple:
        if isinstance(term, ox.Triple):
            return ox.Triple(kept(term.subject), term.predicate, kept(term.object))  # type: ignore[arg-type]
        if not isinstance(term, ox.BlankNode) or not terms.no_blanks:
            return term
        if term not in named:
            named[term] = ox.NamedNode(mint("blank"))
        return named[term]

    for document in documents:
        for quad in _quads(document, graph):
            new.add(ox.Quad(kept(quad.subject), quad.predicate, kept(quad.object), graph_term(graph)))  # type: ignore[arg-type]
            ledger.raise_if_too_many(len(new))
    if replaces:
        old = snapshot.quads_for_pattern(None, None, None, graph_term(graph))
        ledger.remove(quad for quad in old if quad not in new)
    ledger.add(new)
    return ledger.delta()


def _quads(document: Document, graph: str) -> Iterator[ox.Quad]:
    path, of, name = Path(document.path), FORMATS[document.media], f"the {document.media} document"
    refuse_unsafe(path, of, name)
    with path.open("rb") as file:
        for quad in parse_quads(file, of, name, base=document.base, rename_blank_nodes=True):
            if not isinstance(quad.graph_name, ox.DefaultGraph) and quad.graph_name != graph_term(graph):
                raise InputError(
                    f"the document names the graph {quad.graph_name}, and goes into <{graph}>: send it to the graph that it names"
                )
            yield quad
