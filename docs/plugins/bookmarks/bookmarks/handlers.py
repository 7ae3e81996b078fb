"""How it is answered: a handler gets the operation and the context of the caller, who may see less than is there."""

from __future__ import annotations

import re

from bookmarks.operations import Bookmark, ListBookmarks
from memento.operations.recall import List
from memento.service import Context, handle
from memento.service.context import handles

BOOKMARK = re.compile(r"(?P<title>.+): (?P<address>https?://\S+)\.?")


@handles(ListBookmarks)
def list_bookmarks(operation: ListBookmarks, context: Context) -> tuple[Bookmark, ...]:
    """Look up the memories that end with an address."""
    context.require_page(operation.limit)
    rows = handle(List(limit=context.settings.limits.results, namespace=operation.namespace), context)
    found = [(row, match) for row in rows if (match := BOOKMARK.fullmatch(row.content))]
    return tuple(
        Bookmark(memory=row.iri, title=match["title"], address=match["address"])
        for row, match in found[: operation.limit]
    )
