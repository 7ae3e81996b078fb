"""What is written with a correction: a bookmark that got another title has the tag `renamed`."""

from __future__ import annotations

from bookmarks.handlers import BOOKMARK
from memento.consolidation.amend import Rewrite
from memento.graph.mapping import mark_quads
from memento.model import Change, Marks
from memento.service import Context


def tag_renamed(rewrite: Rewrite, context: Context) -> Change:
    """Return the statements that tag the new memory, if it takes the place of a bookmark; an error would stop the correction."""
    if not BOOKMARK.fullmatch(rewrite.replaces.content):
        return Change()
    return Change(tuple(mark_quads(rewrite.memory, Marks(tags=("renamed",)), rewrite.scope.graph)))
