"""What follows for SPARQL: the address of a bookmark is its `schema:url`, in the graph of inferred triples."""

from __future__ import annotations

from datetime import datetime

from bookmarks.operations import ListBookmarks
from memento.graph.inferences import Premises
from memento.model import Scope
from memento.service import Context, handle

URL = "<https://schema.org/url>"


def infer_addresses(scope: Scope, now: datetime, context: Context) -> Premises:
    """Read the bookmarks of a reader. The triples are derived again only when another bookmark is among them, or one is gone."""
    rows = handle(ListBookmarks(limit=context.settings.limits.results, namespace=scope.namespace), context)
    facts = frozenset((f"<{one.memory}>", URL, f"<{one.address}>") for one in rows)
    return Premises(facts=facts, derive=lambda: facts)
