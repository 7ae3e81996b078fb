"""Rows that another SPARQL endpoint answered with, as terms that a query can hold."""

from __future__ import annotations

from uuid import uuid4

import pyoxigraph as ox

from memento.errors import GraphError

Terms = list[list[str | None]]
"""Rows of terms as SPARQL writes them; None where a variable is unbound."""


def read(body: bytes) -> tuple[list[str], Terms]:
    """
    The variables and the rows of SPARQL results in JSON.

    A blank node becomes an IRI of its own, `urn:memento:blank:…`, the same one within the answer: a query can hold no other.

    Raises:
        GraphError: this is no such document, or the answer to an ASK.
    """
    try:
        found = ox.parse_query_results(body, format=ox.QueryResultsFormat.JSON)
        if not isinstance(found, ox.QuerySolutions):
            raise GraphError("the endpoint answered with a truth, not with rows")
        mark = uuid4().hex
        names = [variable.value for variable in found.variables]
        return names, [[None if term is None else _written(term, mark) for term in row] for row in found]
    except (SyntaxError, ValueError, OSError) as error:
        raise GraphError("the endpoint answered with something else than SPARQL results in JSON") from error


def _written(term: object, mark: str) -> str:
    if isinstance(term, ox.BlankNode):
        return f"<urn:memento:blank:{mark}:{term.value}>"
    return str(term)
