"""What is believed already and may bear on a note: its rivals for a slot, its duplicates, the memories most like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Draft, Existing
from memento.consolidation.resolve import said_of
from memento.graph.mapping import node
from memento.model import Memory, Scope
from memento.search.view import View
from memento.settings import WordsSettings
from memento.vocabulary import IRI


def existing(
    drafts: Sequence[Draft],
    hashes: Sequence[str],
    named: Mapping[str, IRI],
    scope: Scope,
    received: datetime,
    limit: int,
    parts: Backends,
) -> list[Existing]:
    """
    The memories that the drafts must be compared with, in no order; each once.

    Those alike are current; rivals for a slot and repetitions may be over already, as they tell where a draft belongs.

    Args:
        hashes: the content hash of each draft.
        named: the IRI of every name in the drafts that the graph has.
        limit: memories by likeness and by words, for each draft.
    """
    if not drafts:
        return []
    subjects = {named[name] for draft in drafts for name in (draft.subject, *draft.about) if name and name in named}
    rows = parts.graph.select(
        "consolidation/rivals", scope.readable, hash=hashes, subject=sorted(subjects) or [scope.user]
    )
    found = {cast(IRI, row["memory"]) for row in rows} | _similar(drafts, scope, received, limit, parts)
    return [one for one in _described(sorted(found), named, scope, parts) if one.memory.expired_at is None]


def _similar(drafts: Sequence[Draft], scope: Scope, received: datetime, limit: int, parts: Backends) -> set[IRI]:
    vectors = parts.embedder.embed([parts.embedder.windows(draft.content)[0] for draft in drafts])
    with parts.indexes.lock:
        view = View.at(parts.indexes, scope.memory_graphs, received, None, None)
        found = {hit.item for row in vectors for hit in view.nearest(row[None, :], limit, "vector")}
        for text in [draft.content for draft in drafts] + [phrase for draft in drafts for phrase in draft.ends]:
            found |= {hit.item for hit in view.wordiest(text, limit, WordsSettings(), "fulltext")}
        return set(view.iris(sorted(found)))


def _described(iris: Sequence[IRI], named: Mapping[str, IRI], scope: Scope, parts: Backends) -> list[Existing]:
    memories = [node(Memory, iri, said) for iri, said in said_of(iris, scope, parts).items()]
    anchors = {iri for memory in memories for iri in (*memory.about, memory.subject) if iri}
    names = {iri: parts.indexes.name(iri) or iri for iri in anchors}
    # What the note calls "Anna" is "Anna" to the agents, whatever her full name in the graph.
    names |= {iri: name for name, iri in named.items()}
    names[scope.user] = USER
    return [
        Existing(
            memory=memory,
            about=tuple(names.get(iri, iri) for iri in memory.about),
            subject=names.get(memory.subject) if memory.subject else None,
        )
        for memory in memories
    ]
