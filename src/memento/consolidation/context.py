"""Find existing memories that may be relevant to a note: by the note itself, by guessed texts, and by its drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Agents, Candidate, Draft, Existing, Held, Mention
from memento.consolidation.endings import find_slots
from memento.graph.mapping import node_or_none
from memento.iris import IRI, MEM, TYPE
from memento.model import Claim, Entity, Memory, Recollection, Scope, Scored, Stated, Value
from memento.rank import rrf
from memento.search.indexes import View
from memento.search.labels import Labels
from memento.search.nodes import content_hash, text_of_anchor
from memento.search.words import bm25
from memento.settings import ConsolidationSettings, WordsSettings
from memento.text.claims import Assertion, Kind, is_place, words

Recall = Callable[[str, Scope], Recollection]
"""Recalls the memories of a scope for a text, best first."""

_NEAREST = 3
"""The number of nearest memories for each draft of a model, in addition to those that its guesses found."""
_SAME = 3
"""Number of memories whose words are compared with a draft by rules to see whether they say the same."""


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
    guesses = agents.hypothesise(load_existing([one.iri for one in recalled], {}, scope, parts))
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
    told = [draft for draft in drafts if not draft.noise]
    if not told:
        return []
    others = _find_rivals(told, iris_by_name, scope, parts)
    if not is_turn:
        find = _find_named if agents.kind == "rules" else _find_similar
        others |= find(told, scope, received, knobs.similar_memories, parts)
    iris = dict.fromkeys([*(hit.item for hit in context), *sorted(others)])
    return [one for one in load_existing(list(iris), iris_by_name, scope, parts) if one.memory.expired_at is None]


def _find_rivals(drafts: Sequence[Draft], iris_by_name: Mapping[str, IRI], scope: Scope, parts: Backends) -> set[IRI]:
    """Find memories that state a relation of an owner which a draft states or ends, and memories with the same text."""
    claims = [claim for draft in drafts for claim in draft.claims if claim.owner in iris_by_name]
    slots = {slot for claim in claims for slot in find_slots(claim)}
    rows = parts.graph.select(
        "consolidation/rivals",
        scope.readable,
        hash=[content_hash(draft.content) for draft in drafts],
        owner=sorted({iris_by_name[claim.owner] for claim in claims}) or [scope.user],
        relation=sorted({relation for relation, _ in slots}) or [""],
        slot=sorted("|".join(slot) for slot in slots) or [""],
        value=sorted({value for claim in claims for value in _ended_values(claim)}) or [""],
    )
    return {cast(IRI, row["memory"]) for row in rows}


def _search_guesses(
    texts: Sequence[str], scope: Scope, received: datetime, parts: Backends, knobs: ConsolidationSettings
) -> list[Scored[IRI]]:
    """Find the memories nearest to each text; the texts are embedded in one batch and searched under one lock."""
    if not texts:
        return []
    vectors = parts.embedder.embed([parts.embedder.windows(text)[0] for text in texts])
    with parts.indexes.lock:
        view = View.at(parts.indexes, scope.memory_graphs, received, None, None, texts)
        hits = [hit for row in vectors for hit in view.nearest(row[None, :], knobs.guessed_memories, "guess")]
        # From −1..1 to the 0..1 of recall scores.
        return [Scored(parts.indexes.nodes.iri(hit.item), (1 + hit.score) / 2, "guess") for hit in hits]


def _find_similar(drafts: Sequence[Draft], scope: Scope, received: datetime, limit: int, parts: Backends) -> set[IRI]:
    """Find the memories nearest to each draft, by meaning and by words, for a model that compares them."""
    limit = min(limit, _NEAREST)
    vectors = parts.embedder.embed([parts.embedder.windows(draft.content)[0] for draft in drafts])
    with parts.indexes.lock:
        texts = [draft.content for draft in drafts]
        view = View.at(parts.indexes, scope.memory_graphs, received, None, None, texts)
        nodes = {hit.item for row in vectors for hit in view.nearest(row[None, :], limit, "vector")}
        nodes |= {hit.item for one in drafts for hit in view.wordiest(one.content, limit, _WORDS, "fulltext")}
        return set(view.iris(sorted(nodes)))


def _find_named(drafts: Sequence[Draft], scope: Scope, received: datetime, limit: int, parts: Backends) -> set[IRI]:
    """Find the memories with the words of what a draft says is over, and those that may say the same as a draft."""
    over = {value for draft in drafts for claim in draft.claims for value in _ended_values(claim)}
    texts = {**dict.fromkeys((draft.content for draft in drafts), _SAME), **dict.fromkeys(sorted(over), limit)}
    with parts.indexes.lock:
        view = View.at(parts.indexes, scope.memory_graphs, received, None, None, [*texts])
        nodes = {hit.item for text, most in texts.items() for hit in view.wordiest(text, most, _WORDS, "fulltext")}
        return set(view.iris(sorted(nodes)))


def _ended_values(claim: Assertion) -> Iterable[str]:
    """Yield the values that a claim says are over, or that somebody else has now."""
    yield from claim.instead
    if claim.changed and claim.relation in words("exclusive"):
        yield claim.value
    yield from (value for _, value in claim.ends if value)
    if not claim.polarity and claim.value:
        yield claim.value


def load_existing(iris: Sequence[IRI], named: Mapping[str, IRI], scope: Scope, parts: Backends) -> list[Existing]:
    """Load memories with the names of what they are about, in the order of `iris`."""
    statements = load_statements(iris, scope, parts)
    memories = [memory for iri in iris if iri in statements and (memory := node_or_none(Memory, iri, statements[iri]))]
    anchors = {iri for memory in memories for iri in (*memory.about, memory.subject) if iri}
    names = {iri: str(iri) for iri in anchors} | parts.indexes.names_of(anchors, scope.memory_graphs)
    # An entity that the note calls "Anna" is "Anna" to the agents, whatever her full name in the graph is.
    names |= {iri: name for name, iri in named.items()}
    names[scope.user] = USER
    claims = load_claims([memory.iri for memory in memories], scope, parts)
    return [
        Existing(
            memory=memory,
            about=tuple(names.get(iri, iri) for iri in memory.about),
            claims=tuple(hold_claim(claim, names) for claim in claims.get(memory.iri, ())),
        )
        for memory in memories
    ]


def hold_claim(claim: Claim, names: Mapping[IRI, str]) -> Held:
    """Return a claim as it is compared; `names` are those by which owners are called."""
    return Held(
        iri=claim.iri,
        memory=claim.memory,
        owner=names.get(claim.owner, claim.owner) if claim.owner else "",
        relation=claim.relation,
        complement=frozenset(claim.complement),
        is_place=is_place(claim.words, claim.value),
        value=claim.value,
        since=claim.valid_at,
        until=claim.invalid_at,
        polarity=claim.polarity,
        mood=claim.mood,
        is_event=bool(claim.is_event),
        kind=cast(Kind, claim.kind),
        span=(claim.start, claim.end),
    )


def load_claims(memories: Sequence[IRI], scope: Scope, parts: Backends) -> dict[IRI, list[Claim]]:
    """Load the claims that some memories state and that are believed, in the order of their words."""
    statements: Statements = {}
    rows = parts.graph.select("consolidation/claims", scope.readable, memory=list(memories)) if memories else []
    for row in rows:
        of_claim = statements.setdefault(cast(IRI, row["claim"]), {})
        of_claim.setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
    found: dict[IRI, list[Claim]] = {}
    for iri, said in statements.items():
        if claim := node_or_none(Claim, iri, said):
            found.setdefault(claim.memory, []).append(claim)
    return {memory: sorted(claims, key=lambda one: (one.start, one.iri)) for memory, claims in found.items()}


def describe_claims(claims: Iterable[Claim], names: Mapping[IRI, str]) -> Iterator[Stated]:
    """Yield claims with the names by which their owners are called; not those of nobody, or whose owner has no name."""
    for claim in claims:
        if claim.owner and names.get(claim.owner):
            yield Stated(
                iri=claim.iri,
                memory=claim.memory,
                owner=names[claim.owner],
                relation=claim.relation,
                value=claim.value,
                valid_at=claim.valid_at,
                invalid_at=claim.invalid_at,
                is_event=claim.is_event is True,
                polarity=claim.polarity,
                mood=claim.mood,
            )


def list_stated(memories: Sequence[IRI], scope: Scope, parts: Backends) -> tuple[Stated, ...]:
    """List what some memories state of an owner, in the order of the memories and of their words."""
    found = load_claims(memories, scope, parts)
    claims = [claim for memory in memories for claim in found.get(memory, ())]
    names = {claim.owner: parts.indexes.name(claim.owner) for claim in claims if claim.owner} | {scope.user: USER}
    return tuple(describe_claims(claims, names))


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
    with indexes.lock:
        names = [name for one in mentions for name in (one.name, *one.aliases)]
        labels = indexes.find_labels(names, scope.memory_graphs)
        ranked = [_rank_by_label(mention, scope, labels)[:limit] for mention in mentions]
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


def find_current(iris: Iterable[str], scope: Scope, parts: Backends) -> list[IRI]:
    """Return the current memories among some IRIs, each once."""
    named = [IRI(iri) for iri in iris if isinstance(iri, str) and ":" in iri]
    with parts.indexes.lock:
        known = parts.indexes.find_all(named, scope.memory_graphs)
        current = parts.indexes.nodes.current(scope.memory_graphs, now=parts.clock())
        return [iri for iri, node in known.items() if current[node]]


def load_contents(memories: Iterable[IRI], scope: Scope, parts: Backends) -> dict[IRI, str]:
    """Load the texts of some memories that the scope can see."""
    wanted = list(memories)
    rows = parts.graph.select("search/texts", scope.memory_graphs, memory=wanted) if wanted else []
    return {cast(IRI, row["memory"]): str(row["content"]) for row in rows}


def _rank_by_label(mention: Mention, scope: Scope, labels: Labels) -> list[tuple[int, float]]:
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
