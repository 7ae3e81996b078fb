"""
A committed RDF document as something to ask: who says what of whom, and what stands in a list.

*But:* for documents of our own, in the default graph: an error in one is ours, and a `GraphError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pyoxigraph as ox

from memento import assets
from memento.errors import GraphError
from memento.iris import IRI, RDF

_FIRST, _REST, _NIL = (ox.NamedNode(RDF[name]) for name in ("first", "rest", "nil"))

Node = IRI | str
"""An IRI, the text of a literal, or the name of a blank node, which begins with `_:`."""


class Document:
    """The triples of one document."""

    def __init__(self, name: str) -> None:
        """
        Args:
            name: as `ontology/memento.ttl`.

        Raises:
            MissingPart: there is no such file.
            GraphError: it is no Turtle.
        """
        self.text = assets.read(name).decode("utf-8")
        self._store = ox.Store()
        try:
            self._store.load(self.text, ox.RdfFormat.TURTLE)
        except SyntaxError as error:
            raise GraphError(f"{name} is no Turtle: {error}") from error

    def triples(self) -> Iterator[tuple[Node, IRI, Node]]:
        """All of them, in no order."""
        for quad in self._store:
            yield _node(quad.subject), IRI(quad.predicate.value), _node(quad.object)

    def objects(self, subject: Node, predicate: IRI) -> list[Node]:
        """What the subject has under the predicate, sorted."""
        found = self._store.quads_for_pattern(_term(subject), ox.NamedNode(predicate), None)
        return sorted(_node(quad.object) for quad in found)

    def one(self, subject: Node, predicate: IRI) -> str:
        """The first of `objects`, or nothing."""
        return next(iter(self.objects(subject, predicate)), "")

    def subjects(self, predicate: IRI, value: IRI) -> list[Node]:
        """Who has the value under the predicate, sorted."""
        found = self._store.quads_for_pattern(None, ox.NamedNode(predicate), ox.NamedNode(value))
        return sorted(_node(quad.subject) for quad in found)

    def items(self, head: Node) -> list[Node]:
        """The elements of an RDF list, in their order; nothing when there is no list there."""
        found: list[Node] = []
        at: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple = _term(head)
        while at != _NIL and not isinstance(at, ox.Literal | ox.Triple):
            first = next(self._store.quads_for_pattern(at, _FIRST, None), None)
            rest = next(self._store.quads_for_pattern(at, _REST, None), None)
            if first is None or rest is None:
                break
            found.append(_node(first.object))
            at = rest.object
        return found


@cache
def document(name: str) -> Document:
    """One document, read once."""
    return Document(name)


def _term(node: Node) -> ox.NamedNode | ox.BlankNode:
    return ox.BlankNode(node[2:]) if node.startswith("_:") else ox.NamedNode(node)


def _node(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Node:
    if isinstance(term, ox.NamedNode):
        return IRI(term.value)
    return term.value if isinstance(term, ox.Literal) else str(term)
