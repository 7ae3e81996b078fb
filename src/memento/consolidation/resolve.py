"""Which entities of the graph a note's mentions may mean: by their exact label first, else by likeness and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import Candidate, Mention
from memento.graph.mapping import node_or_none
from memento.model import Entity, Scope, Value
from memento.rank.fusion import rrf
from memento.search.found import text_of_anchor
from memento.search.words import bm25
from memento.settings import WordsSettings
from memento.vocabulary import IRI, MEM, TYPE

_WORDS = WordsSettings()

Statements = dict[IRI, dict[IRI, list[Value]]]


def candidates(
    mentions: Sequence[Mention], scope: Scope, limit: int, parts: Backends, *, exact_only: bool
) -> list[list[Candidate]]:
    """
    For each mention at most `limit` entities, best first.

    Args:
        exact_only: look at labels alone, which embeds nothing.
    """
    indexes = parts.indexes
    with indexes.lock:
        ranked = [_by_label(mention, scope, parts)[:limit] for mention in mentions]
        unknown = [place for place, nodes in enumerate(ranked) if not nodes]
        if unknown and not exact_only and len(indexes.vectors["anchor"]):
            searched = _by_likeness([mentions[place] for place in unknown], scope, limit, parts)
            for place, nodes in zip(unknown, searched, strict=True):
                ranked[place] = nodes
        iris = [[(indexes.nodes.iri(found), score) for found, score in nodes] for nodes in ranked]
    entities = entities_of({iri for nodes in iris for iri, _ in nodes}, scope, parts)
    return [
        [Candidate(entity=entities[iri], similarity=score) for iri, score in nodes if iri in entities] for nodes in iris
    ]


def entities_of(iris: Iterable[IRI], scope: Scope, parts: Backends) -> dict[IRI, Entity]:
    """The entities among some IRIs, as the graph has them."""
    said = said_of(iris, scope, parts).items()
    nouns = ((iri, node_or_none(Entity, iri, found)) for iri, found in said if MEM.Entity in found.get(TYPE, ()))
    return {iri: entity for iri, entity in nouns if entity is not None}


def said_of(iris: Iterable[IRI], scope: Scope, parts: Backends) -> Statements:
    """What the readable graphs say of some nodes."""
    found: Statements = {}
    if wanted := list(iris):
        for row in parts.graph.select("search/statements", scope.readable, node=wanted):
            said = found.setdefault(cast(IRI, row["node"]), {})
            said.setdefault(cast(IRI, row["predicate"]), []).append(row["value"])
    return found


def _by_label(mention: Mention, scope: Scope, parts: Backends) -> list[tuple[int, float]]:
    labels = parts.indexes.labels
    names = (mention.name, *mention.aliases)
    # 2 is the best that the fused rank of two lists can be.
    return [
        (found, 2.0) for found in dict.fromkeys(n for name in names for n in labels.find(name, scope.memory_graphs))
    ]


def _by_likeness(
    mentions: Sequence[Mention], scope: Scope, limit: int, parts: Backends
) -> list[list[tuple[int, float]]]:
    indexes = parts.indexes
    inside = indexes.nodes.within(scope.memory_graphs, "anchor")
    texts = [text_of_anchor(mention.name, mention.description) for mention in mentions]
    asked = parts.embedder.embed([parts.embedder.windows(text)[0] for text in texts])
    found = []
    for mention, row in zip(mentions, asked, strict=True):
        near, _ = indexes.vectors["anchor"].search(row[None, :], 2 * limit, inside)
        nodes, scores = bm25(mention.name, indexes.words(scope.memory_graphs, "anchor"), _WORDS.k1, _WORDS.b)
        named = nodes[(-scores).argsort(kind="stable")][: 2 * limit]
        fused = rrf([near.tolist(), named.tolist()], k=1.0)[:limit]
        found.append([(one.item, one.score) for one in fused])
    return found
