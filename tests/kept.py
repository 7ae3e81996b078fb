"""A text that is kept word for word, by what every memory has."""

from __future__ import annotations

from collections.abc import Sequence

from memento.iris import IRI
from memento.model import NoteRow
from memento.python import Client, Memento


def keep(
    memento: Memento | Client,
    content: str,
    *,
    tags: Sequence[str] = (),
    container: str | None = None,
    ttl_s: float | None = None,
    namespace: str | None = None,
) -> IRI:
    """Store a text as one memory, and return it."""
    row = NoteRow(content=content, tags=tuple(tags), container=container, ttl_s=ttl_s)
    done = memento.intake.import_notes([row], consolidate=False, namespace=namespace)
    [note] = done.notes
    assert note is not None
    rows = memento.query(
        f"SELECT ?memory {{ GRAPH ?graph {{ ?memory <http://purl.org/memento/extractedFrom> <{note}> }} }}",
        namespace=namespace,
    )
    return next(IRI(str(row["memory"])) for row in rows)
