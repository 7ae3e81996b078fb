"""One query to a memory, and its answer as what Python people want."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento.errors import NotAcceptable
from memento.interfaces.notebook.rows import Rows, rows_of
from memento.interfaces.notebook.triples import Triples, triples_of

if TYPE_CHECKING:
    from memento.client import Client
    from memento.service import Memento

_ROWS, _TRIPLES = "application/sparql-results+json", "application/n-triples"


def answer(memento: Memento | Client, sparql: str, *, namespace: str | None = None) -> Rows | bool | Triples:
    """
    Rows for a SELECT, a truth for an ASK, triples for a CONSTRUCT or a DESCRIBE.

    Raises:
        MementoError: as `Memento.query`.
    """
    body, media = memento.query(sparql, accept=f"{_ROWS}, {_TRIPLES}", namespace=namespace)
    if media == _ROWS:
        return rows_of(body)
    if media == _TRIPLES:
        return triples_of(body)
    raise NotAcceptable(f"an answer came as {media}, which cannot be shown here")
