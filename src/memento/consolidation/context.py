"""What is believed already and may bear on a note: found by the note itself, by guesses, and by what its drafts say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Agents, Draft, Existing, Invalidate, Skip
from memento.consolidation.resolve import said_of
from memento.consolidation.write import Understood
from memento.graph.mapping import node_or_none
from memento.model import Memory, Recollection, Scope, Scored
from memento.search.found import content_hash
from memento.search.view import View
from memento.settings import ConsolidationSettings, WordsSettings
from memento.vocabulary import IRI

Recall = Callable[[str, Scope], Recollection]
"""The memories that a text brings back in a scope, best first."""

_NEAREST = 3
"""Memories by likeness for each draft of a model, beside what its guesses found."""


def context(
    content: str,
    agents: Agents,
    scope: Scope,
    received: datetime,
    recall: Recall,
    parts: Backends,
    knobs: ConsolidationSettings,
) -> list[Scored[IRI]]:
    """
    The memories that a note may repeat or end, best first: what it brings back, and what guesses about those find.

    Rules find them by slot and name, later: for them this is empty. Where nothing comes back nothing is guessed.

    Source: HyDE, Gao et al. 2022, https://arxiv.org/abs/2212.10496
    """
    if agents.kind == "rules":
        return []
    recalled = recall(content, scope).memories
    if not recalled:
        return []
    best = {one.iri: Scored(one.iri, one.score, "recall") for one in recalled}
    guesses = agents.hypothesise(_memories([one.iri for one in recalled], scope, parts))
    for hit in _searched((*guesses.semantic, *guesses.state_change), scope, received, parts, knobs):
        if hit.item not in best or hit.score > best[hit.item].score:
            best[hit.item] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.item))[: knobs.similar_memories]


def existing(
    drafts: Sequence[Draft],
    named: Mapping[str, IRI],
    found: Sequence[Scored[IRI]],
    agents: Agents,
    scope: Scope,
    received: datetime,
    parts: Backends,
    knobs: ConsolidationSettings,
) -> list[Existing]:
    """
    The memories that the drafts must be compared with, each once: what the context found, then rivals and those alike.

    Those alike are current; rivals for a slot and repetitions may be over already, as they tell where a draft belongs.

    Args:
        named: the IRI of every name in the drafts that the graph has.
        found: what `context` found.
    """
    if not drafts:
        return []
    hashes = [content_hash(draft.content) for draft in drafts]
    if agents.kind == "rules":
        subjects = {named[name] for draft in drafts for name in (draft.subject, *draft.about) if name and name in named}
        rows = parts.graph.select(
            "consolidation/rivals", scope.readable, hash=hashes, subject=sorted(subjects) or [scope.user]
        )
        limit = knobs.similar_memories
    else:
        filling = [draft for draft in drafts if draft.slot and draft.subject in named]
        subjects = {named[draft.subject] for draft in filling if draft.subject}
        slots = {draft.slot for draft in filling if draft.slot}
        rows = parts.graph.select(
            "consolidation/same_slot",
            scope.readable,
            hash=hashes,
            subject=sorted(subjects) or [scope.user],
            slot=sorted(slots) or [""],
        )
        limit = _NEAREST
    others = {cast(IRI, row["memory"]) for row in rows} | _similar(drafts, scope, received, limit, parts)
    iris = dict.fromkeys([*(hit.item for hit in found), *sorted(others)])
    return [one for one in _described(list(iris), named, scope, parts) if one.memory.expired_at is None]


def reread(understood: Understood, parts: Backends) -> Understood:
    """The same with the memories it retires as they are now: one that was retired or forgotten meanwhile is left alone."""
    touched = {
        iri
        for decision in understood.decisions
        if not isinstance(decision, Skip)
        for iri in (
            *(target.memory for target in (decision.targets if isinstance(decision, Invalidate) else ())),
            *decision.contradicts,
            *([decision.successor.memory] if decision.successor else []),
        )
        if iri in understood.retirable
    }
    if not touched:
        return understood
    said = said_of(touched, understood.scope, parts)
    fresh = {iri: memory for iri in touched if iri in said and (memory := node_or_none(Memory, iri, said[iri]))}
    same = {
        iri: memory
        for iri, memory in fresh.items()
        if memory.expired_at is None and memory.invalid_at == understood.retirable[iri].invalid_at
    }
    return replace(understood, retirable=same)


def _memories(iris: Sequence[IRI], scope: Scope, parts: Backends) -> list[Existing]:
    return _described(iris, {}, scope, parts)


def _searched(
    texts: Sequence[str], scope: Scope, received: datetime, parts: Backends, knobs: ConsolidationSettings
) -> list[Scored[IRI]]:
    """The memories most like each text; the texts are embedded in one batch and searched under one lock."""
    if not texts:
        return []
    vectors = parts.embedder.embed([parts.embedder.windows(text)[0] for text in texts])
    with parts.indexes.lock:
        view = View.at(parts.indexes, scope.memory_graphs, received, None, None)
        hits = [hit for row in vectors for hit in view.nearest(row[None, :], knobs.guessed_memories, "guess")]
        # From −1..1 to the 0..1 of a recall's scores.
        return [Scored(parts.indexes.nodes.iri(hit.item), (1 + hit.score) / 2, "guess") for hit in hits]


def _similar(drafts: Sequence[Draft], scope: Scope, received: datetime, limit: int, parts: Backends) -> set[IRI]:
    vectors = parts.embedder.embed([parts.embedder.windows(draft.content)[0] for draft in drafts])
    with parts.indexes.lock:
        view = View.at(parts.indexes, scope.memory_graphs, received, None, None)
        found = {hit.item for row in vectors for hit in view.nearest(row[None, :], limit, "vector")}
        for text in [draft.content for draft in drafts] + [phrase for draft in drafts for phrase in draft.ends]:
            found |= {hit.item for hit in view.wordiest(text, limit, WordsSettings(), "fulltext")}
        return set(view.iris(sorted(found)))


def _described(iris: Sequence[IRI], named: Mapping[str, IRI], scope: Scope, parts: Backends) -> list[Existing]:
    """Memories with the names of what they are about, in the order of `iris`."""
    said = said_of(iris, scope, parts)
    memories = [memory for iri in iris if iri in said and (memory := node_or_none(Memory, iri, said[iri]))]
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
