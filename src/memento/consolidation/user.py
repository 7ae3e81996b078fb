"""The one user as they will be after a note: made with the first memory about them, renamed or described anew by it."""

from __future__ import annotations

from memento.graph.mapping import quads
from memento.model import Change, Scope, User


def user_change(
    old: User, name: str | None, description: str | None, most: int, *, is_new: bool, is_met: bool, scope: Scope
) -> Change:
    """
    What changes about the user; nothing when nothing does.

    Args:
        name, description: what the note gives, if it does.
        most: characters of a description.
        is_new: the graph has no user yet.
        is_met: a memory of the note is about the user.
    """
    told = old.description if description is None else bounded(description, most)
    fresh = User(iri=old.iri, name=name or old.name, description=told)
    is_needed = is_met or told != old.description
    if not is_needed or (fresh == old and not is_new):
        return Change()
    before = () if is_new else tuple(quads(old, scope.self_graph))
    after = tuple(quads(fresh, scope.self_graph))
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
