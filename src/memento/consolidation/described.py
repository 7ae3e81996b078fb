"""What a note changes of the user: their name, and the description that grows with what they tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memento.consolidation.agents import Add, Invalidate
from memento.graph import mapping
from memento.model import Change, Memory, User

if TYPE_CHECKING:
    from memento.consolidation.write import Understood


def user_change(memories: Sequence[tuple[Add | Invalidate, Memory]], understood: Understood) -> Change:
    """The user is made with the first memory about them, and renamed or described anew when the note says so."""
    old, graph = understood.user, understood.scope.self_graph
    name = next((d.draft.user_name for d, _ in memories if d.draft.user_name), None) or old.name
    described = understood.user_description if understood.user_description is not None else old.description
    fresh = User(iri=old.iri, name=name, description=bounded(described, understood.longest_description))
    is_needed = any(old.iri in memory.about for _, memory in memories) or fresh.description != old.description
    if not is_needed or (fresh == old and not understood.user_is_new):
        return Change()
    before = () if understood.user_is_new else tuple(mapping.quads(old, graph))
    after = tuple(mapping.quads(fresh, graph))
    return Change(tuple(q for q in after if q not in before), tuple(q for q in before if q not in after))


def bounded(description: str, most: int) -> str:
    """
    A description of at most so many characters: its last sentences, which are the newest.

    >>> bounded("USER grew up in Rome. USER works at Acme.", 25)
    'USER works at Acme.'
    """
    if len(description) <= most:
        return description
    end = description[-most:]
    sentence = end.find(". ")
    return (end[sentence + 2 :] if sentence >= 0 else end).strip()
