"""Find existing memories that may be relevant to a note: by the note itself, by guessed texts, and by its drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Agents, Candidate, Draft, Existing, Mention
from memento.consolidation.rules.rivals import RELATED, SAME, SEVERAL, comparable_frames, kinds_of_frames
from memento.graph.mapping import node_or_none
from memento.iris import IRI, MEM, TYPE
from memento.model import Entity, Memory, Recollection, Scope, Scored, Value
from memento.rank import rrf
from memento.search.indexes import View
from memento.search.nodes import content_hash, text_of_anchor
from memento.search.words import bm25
from memento.settings import ConsolidationSettings, WordsSettings

Recall = Callable[[str, Scope], Recollection]
"""Recalls the memories of a scope for a text, best first."""

_NEAREST = 3
"""The number of nearest memories for each draft of a model, in addition to those that its guesses found."""


def find_context(
    content: str,
    agents: Agents,
    scope: Scope,
    received: datetime,
    recall: Recall,
    parts: Backends,
    knobs: ConsolidationSettings,
) -> list[Scored[IRI]]:
    """
    Find the memories that a note may repeat or end, best first: those that it recalls, and those near the texts that a model
    guesses from them.

    For rules the result is empty: they find memories by slot and name, later. If nothing is recalled, nothing is guessed.

    Source: HyDE, Gao et al. 2022, https://arxiv.org/abs/2212.10496
    """
    if agents.kind == "rules":
        return []
    recalled = recall(content, scope).memories
    if not recalled:
        return []
    best = {one.iri: Scored(one.iri, one.score, "recall") for one in recalled}
    guesses = agents.hypothesise(_load_existing([one.iri for one in recalled], {}, scope, parts))
    for hit in _search_guesses((*guesses.semantic, *guesses.state_change), scope, received, parts, knobs):
        if hit.item not in best or hit.score > best[hit.item].score:
            best[hit.item] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.item))[: knobs.similar_memories]


def find_existing(
    drafts: Sequence[Draft],
    iris_by_name: Mapping[str, IRI],
    context: Sequence[Scored[IRI]],
    agents: Agents,
    scope: Scope,
    received: datetime,
    parts: Backends,
    knobs: ConsolidationSettings,
    *,
    is_turn: bool = False,
) -> list[Existing]:
    """
    Find the memories that the drafts must be compared with, each once: those in the context, rivals, and similar ones.

    Similar ones are current. Rivals for a slot and repetitions may have ended, because they show where in history a draft belongs.

    Args:
        iris_by_name: the IRIs of the names in the drafts that the graph has.
        context: what `find_context` found.
        is_turn: the drafts are a turn of a conversation; no rivals are searched for.
    """
    if all(draft.noise for draft in drafts):
        return []
    by_rules = agents.kind == "rules"
    find_rivals = _find_by_subject if by_rules else _find_by_slot
    limit = knobs.similar_memories if by_rules else _NEAREST
    told = [draft for draft in drafts if not draft.noise]
    followed = {} if is_turn else _find_followed(drafts, iris_by_name, scope, parts)
    others = (
        find_rivals(drafts, iris_by_name, scope, parts)
        | followed.keys()
        | _find_similar(told, scope, received, limit, parts)
    )
    iris = dict.fromkeys([*(hit.item for hit in context), *sorted(others)])
    parts.indexes.bring(scope.memory_graphs, iris=[*iris])
    known = [
        replace(one, followed=followed.get(one.memory.iri, ()))
        for one in _load_existing(list(iris), iris_by_name, scope, parts)
        if one.memory.expired_at is None
    ]
    return _compare_with(known, drafts, parts) if by_rules and not is_turn else known


def _find_by_subject(
    drafts: Sequence[Draft], iris_by_name: Mapping[str, IRI], scope: Scope, parts: Backends
) -> set[IRI]:
    """Find memories that state something about the subjects of the drafts, and memories with the same text."""
    named = (name for draft in drafts for name in (draft.subject, *draft.about))
    subjects = {iris_by_name[name] for name in named if name and name in iris_by_name}
    rows = parts.graph.select(
        "consolidation/rivals",
        scope.readable,
        hash=[content_hash(draft.content) for draft in drafts],
        subject=sorted(subjects) or [scope.user],
    )
    return {cast(IRI, row["memory"]) for row in rows}


def _find_by_slot(drafts: Sequence[Draft], iris_by_name: Mapping[str, IRI], scope: Scope, parts: Backends) -> set[IRI]:
    """Find memories that fill the same slot of the same subject as a draft, and memories with the same text."""
    filling = [draft for draft in drafts if draft.slot and draft.subject in iris_by_name]
    subjects = {iris_by_name[draft.subject] for draft in filling if draft.subject}
    rows = parts.graph.select(
        "consolidation/same_slot",
        scope.readable,
        hash=[content_hash(draft.content) for draft in drafts],
        subject=sorted(subjects) or [scope.user],
        slot=sorted({draft.slot for draft in filling if draft.slot}) or [""],
    )
    return {cast(IRI, row["memory"]) for row in rows}


def _find_followed(
    drafts: Sequence[Draft], iris_by_name: Mapping[str, IRI], scope: Scope, parts: Backends
) -> dict[IRI, tuple[tuple[int, str, int], ...]]:
    """
    Find memories with another value of a relation that a draft states, if values of that relation are known to replace each other.

    Slots of drafts are skipped, because they have one value at a time anyway. If several values hold now, as for friends, nothing
    is found.
    """
    stated = {
        (iris_by_name[one.subject], one.relation): (place, one.value.casefold())
        for place, draft in enumerate(drafts)
        if not draft.noise
        for one in draft.states
        if one.polarity and one.mood == "fact" and one.relation != draft.slot and one.subject in iris_by_name
    }
    if not stated:
        return {}
    rows = parts.graph.select(
        "consolidation/values",
        scope.readable,
        subject=sorted({subject for subject, _ in stated}),
        relation=sorted({relation for _, relation in stated}),
    )
    held: dict[tuple[IRI, str], dict[str, set[IRI]]] = {}
    for row in rows:
        of = held.setdefault((cast(IRI, row["subject"]), str(row["relation"])), {})
        of.setdefault(str(row["value"]).casefold(), set()).add(cast(IRI, row["memory"]))
    single = {
        key: values
        for key, values in held.items()
        if key in stated and len(values) == 1 and stated[key][1] not in values
    }
    if not single:
        return {}
    often = {
        str(row["relation"]): cast(int, row["times"])
        for row in parts.graph.select("library/functional", scope.readable)
    }
    found: dict[IRI, tuple[tuple[int, str, int], ...]] = {}
    for key, values in single.items():
        if key[1] in often:
            for iri in next(iter(values.values())):
                found[iri] = (*found.get(iri, ()), (stated[key][0], key[1], often[key[1]]))
    return found


def _search_guesses(
    texts: Sequence[str], scope: Scope, received: datetime, parts: Backends, knobs: ConsolidationSettings
) -> list[Scored[IRI]]:
    """Find the memories nearest to each text; the texts are embedded in one batch and searched under one lock."""
    if not texts:
        return []
    vectors = parts.embedder.embed([parts.embedder.windows(text)[0] for text in texts])
    parts.indexes.bring(scope.memory_graphs, texts=texts, now=received)
    with parts.indexes.lock:
        view = View.at(parts.indexes, scope.memory_graphs, received, None, None)
        hits = [hit for row in vectors for hit in view.nearest(row[None, :], knobs.guessed_memories, "guess")]
        # From −1..1 to the 0..1 of recall scores.
        return [Scored(parts.indexes.nodes.iri(hit.item), (1 + hit.score) / 2, "guess") for hit in hits]


def _find_similar(drafts: Sequence[Draft], scope: Scope, received: datetime, limit: int, parts: Backends) -> set[IRI]:
    vectors = parts.embedder.embed([parts.embedder.windows(draft.content)[0] for draft in drafts])
    parts.indexes.bring(scope.memory_graphs, texts=[draft.content for draft in drafts], now=received)
    with parts.indexes.lock:
        view = View.at(parts.indexes, scope.memory_graphs, received, None, None)
        nodes = {hit.item for row in vectors for hit in view.nearest(row[None, :], limit, "vector")}
        for text in [draft.content for draft in drafts] + [phrase for draft in drafts for phrase in draft.ends]:
            nodes |= {hit.item for hit in view.wordiest(text, limit, WordsSettings(), "fulltext")}
        return set(view.iris(sorted(nodes)))


def _compare_with(known: Sequence[Existing], drafts: Sequence[Draft], parts: Backends) -> list[Existing]:
    """Return the memories with their cosines to each draft, of the texts as they are and of their masked sentences."""
    rows = [parts.embedder.embed([parts.embedder.windows(draft.content)[0]]) for draft in drafts]
    with parts.indexes.lock:
        nodes = [parts.indexes.nodes.find(one.memory.iri) for one in known]
        placed = [node for node in nodes if node is not None]
        columns = [parts.indexes.vectors["memory"].cosines(placed, row) for row in rows] if placed else []
    likeness = {node: tuple(float(column[at]) for column in columns) for at, node in enumerate(placed)}
    compared = [
        replace(one, likeness=likeness[node] if node is not None else ())
        for one, node in zip(known, nodes, strict=True)
    ]
    framed = _compare_frames(compared, drafts, parts)
    return [replace(one, framed=tuple(by_draft)) for one, by_draft in zip(compared, framed, strict=True)]


def _compare_frames(known: Sequence[Existing], drafts: Sequence[Draft], parts: Backends) -> list[list[float]]:
    """
    Return for each memory the cosines of its masked sentences with those of each draft.

    Only sentences that may differ in a single name, figure, day or thing are embedded: these are few, mostly none. A sentence of a
    kind that may be true several times at once counts 0.
    """
    pairs = [
        (at, place, new, old, least)
        for at, one in enumerate(known)
        for place, draft in enumerate(drafts)
        if one.likeness and one.likeness[place] >= RELATED
        for new, old, least in comparable_frames(draft, one)
    ]
    framed = [[0.0] * len(drafts) for _ in known]
    if not pairs:
        return framed
    single, several = kinds_of_frames()
    texts = list(dict.fromkeys(frame.masked for _, _, new, old, _ in pairs for frame in (new, old)))
    vectors = parts.embedder.embed([*single, *several, *(parts.embedder.windows(text)[0] for text in texts)])
    kinds, rows = vectors[: len(single) + len(several)], vectors[len(single) + len(several) :]
    likes = rows @ kinds.T
    margin = likes[:, : len(single)].max(axis=1) - likes[:, len(single) :].max(axis=1)
    row_of = {text: row for row, text in enumerate(texts)}
    for at, place, new, old, least in pairs:
        one, other = row_of[new.masked], row_of[old.masked]
        alike = float(rows[one] @ rows[other])
        if min(margin[one], margin[other]) < SEVERAL:  # a word of change may make it likely, but never certain
            alike = min(alike, (least + SAME) / 2) if new.tells_of_change else 0.0
        if alike >= least:
            framed[at][place] = max(framed[at][place], alike)
    return framed


def _load_existing(iris: Sequence[IRI], named: Mapping[str, IRI], scope: Scope, parts: Backends) -> list[Existing]:
    """Load memories with the names of what they are about, in the order of `iris`."""
    statements = load_statements(iris, scope, parts)
    memories = [memory for iri in iris if iri in statements and (memory := node_or_none(Memory, iri, statements[iri]))]
    anchors = {iri for memory in memories for iri in (*memory.about, memory.subject) if iri}
    names = {iri: parts.indexes.name(iri) or iri for iri in anchors}
    # An entity that the note calls "Anna" is "Anna" to the agents, whatever her full name in the graph is.
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


_WORDS = WordsSettings()

Statements = dict[IRI, dict[IRI, list[Value]]]


def find_candidates(
    mentions: Sequence[Mention],
    scope: Scope,
    limit: int,
    parts: Backends,
    *,
    exact_only: bool,
    known: dict[IRI, Entity] | None = None,
) -> list[list[Candidate]]:
    """
    Find at most `limit` entities for each mention, best first.

    Args:
        exact_only: compare labels only, which embeds nothing.
        known: entities that are already loaded and are not loaded again; newly loaded ones are added.
    """
    indexes = parts.indexes
    indexes.bring(scope.memory_graphs, texts=[name for one in mentions for name in (one.name, *one.aliases)])
    with indexes.lock:
        ranked = [_rank_by_label(mention, scope, parts)[:limit] for mention in mentions]
        unknown = [place for place, nodes in enumerate(ranked) if not nodes]
        if unknown and not exact_only and len(indexes.vectors["anchor"]):
            searched = _rank_by_likeness([mentions[place] for place in unknown], scope, limit, parts)
            for place, nodes in zip(unknown, searched, strict=True):
                ranked[place] = nodes
        iris = [[(indexes.nodes.iri(found), score) for found, score in nodes] for nodes in ranked]
    entities = {} if known is None else known
    entities |= load_entities({iri for nodes in iris for iri, _ in nodes} - entities.keys(), scope, parts)
    return [
        [Candidate(entity=entities[iri], similarity=score) for iri, score in nodes if iri in entities] for nodes in iris
    ]


def load_entities(iris: Iterable[IRI], scope: Scope, parts: Backends) -> dict[IRI, Entity]:
    """Load the entities among some IRIs from the graph."""
    statements = load_statements(iris, scope, parts).items()
    nouns = ((iri, node_or_none(Entity, iri, found)) for iri, found in statements if MEM.Entity in found.get(TYPE, ()))
    return {iri: entity for iri, entity in nouns if entity is not None}


def load_statements(iris: Iterable[IRI], scope: Scope, parts: Backends) -> Statements:
    """Load the statements of the readable graphs about some nodes."""
    statements: Statements = {}
    if wanted := list(iris):
        for row in parts.graph.select("search/statements", scope.readable, node=wanted):
            of_node = statements.setdefault(cast(IRI, row["node"]), {})
            of_node.setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
    return statements


def load_contents(memories: Iterable[IRI], scope: Scope, parts: Backends) -> dict[IRI, str]:
    """Load the texts of some memories that the scope can see."""
    wanted = list(memories)
    rows = parts.graph.select("keys/texts", scope.memory_graphs, memory=wanted) if wanted else []
    return {cast(IRI, row["memory"]): str(row["content"]) for row in rows}


def _rank_by_label(mention: Mention, scope: Scope, parts: Backends) -> list[tuple[int, float]]:
    labels = parts.indexes.labels
    names = (mention.name, *mention.aliases)
    # 2 is the highest fused rank of two lists.
    return [
        (found, 2.0)
        for found in dict.fromkeys(n for name in names for n in labels.find_exact(name, scope.memory_graphs))
    ]


def _rank_by_likeness(
    mentions: Sequence[Mention], scope: Scope, limit: int, parts: Backends
) -> list[list[tuple[int, float]]]:
    indexes = parts.indexes
    inside = indexes.nodes.within(scope.memory_graphs, "anchor")
    texts = [text_of_anchor(mention.name, mention.description) for mention in mentions]
    asked = parts.embedder.embed([parts.embedder.windows(text)[0] for text in texts])
    ranked = []
    for mention, row in zip(mentions, asked, strict=True):
        near, _ = indexes.vectors["anchor"].search(row[None, :], 2 * limit, inside)
        nodes, scores = bm25(mention.name, indexes.words(scope.memory_graphs, "anchor"), _WORDS.k1, _WORDS.b)
        by_words = nodes[(-scores).argsort(kind="stable")][: 2 * limit]
        fused = rrf([near.tolist(), by_words.tolist()], k=1.0)[:limit]
        ranked.append([(one.item, one.score) for one in fused])
    return ranked
