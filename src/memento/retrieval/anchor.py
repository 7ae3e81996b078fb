"""
ANCHOR: find where EXPAND starts: the entities that the question names, the best memories, and the entities they are about.

*Flow:* names in the text give a signal (`subject`), which helps to find the best memories. Then a query on the graph finds the
entities that the question names and those that these memories are about (`queries/retrieval/entities.rq`). Rare ones weigh more.

*But:* the user is an anchor if the question says "I", but not because of the memories, unless the settings say so: most memories
are about the user.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Anchor, Scope
from memento.rank import rarity
from memento.retrieval.question import Question, find_named, is_first_person, named_entities
from memento.retrieval.signals import SIGNALS, Evidence, Seeds, Signal, measure_signals, order_largest
from memento.search.indexes import View
from memento.settings import AnchorSettings

NOTHING = IRI("urn:memento:nothing")
"""The value of a query parameter that has none: it occurs in no graph."""


def anchor(
    question: Question, evidence: Evidence, graph: Store, scope: Scope, settings: AnchorSettings, seeds: int
) -> Evidence:
    """
    Add what EXPAND starts from: the signal `subject`, the best memories so far, and the entities, heaviest first.

    Args:
        seeds: number of best memories that EXPAND follows; only the entities of the first few are added.
    """
    evidence = evidence.with_signals(measure_signals("anchor", question.list_sources()), question.view)
    best = best_seeds(evidence, question.view, seeds)
    return replace(evidence, seeds=best, anchors=find_anchors(question, best, graph, scope, settings))


def find_anchors(
    question: Question, seeds: Seeds, graph: Store, scope: Scope, settings: AnchorSettings
) -> tuple[Anchor, ...]:
    """
    Return the entities to start from, heaviest first. The weight of an entity that the question names is its rarity; that of a
    seed's entity is a share of its rarity, larger for better seeds.
    """
    view = question.view
    nodes, goods = seeds[0][: settings.seeds].tolist(), seeds[1][: settings.seeds].tolist()
    named = list(
        dict.fromkeys(
            [*view.iris(named_entities(question.text, view.indexes.labels, view.graphs)), *_find_names(question)]
        )
    )
    if is_first_person(question.text) or find_named(question.text, [view.indexes.name(scope.user)]):
        named.append(scope.user)
    if not nodes and not named:
        return ()
    good = dict(zip(view.iris(nodes), goods, strict=True))
    rows = graph.select("retrieval/entities", scope.readable, named=named or [NOTHING], memory=[*good] or [NOTHING])
    shares: dict[IRI, float] = {}
    names: dict[IRI, str] = {}
    for row in rows:
        iri = cast(IRI, row["anchor"])
        if iri != scope.user or row["part"] == "named" or settings.user:
            share = 1.0 if row["part"] == "named" else settings.seed_share * good[cast(IRI, row["memory"])]
            shares[iri] = max(shares.get(iri, 0.0), share)
            names[iri] = str(row.get("name", "USER" if iri == scope.user else iri))
    known, links = view.indexes.links.anchors, view.links()
    degrees = [sum(graph.frequency(known.number(iri)) for graph in links) for iri in shares]
    if scope.user in shares and (me := view.indexes.nodes.find(scope.user)) is not None:
        degrees[[*shares].index(scope.user)] = view.indexes.adjacency.degree(me)
    rare = rarity(np.maximum(np.array(degrees, dtype=np.int64), 1), view.population)
    anchors = [
        Anchor(iri=iri, name=names[iri], weight=round(shares[iri] * float(how_rare), 6), named=iri in named)
        for iri, how_rare in zip(shares, rare, strict=True)
    ]
    return tuple(sorted(anchors, key=lambda one: (-one.weight, one.iri)))


def _find_names(question: Question) -> list[IRI]:
    """Return the anchors named in the question that the reader's memories mention."""
    links = question.view.links()
    known = question.view.indexes.links.anchors
    numbers = [
        number for name in question.joined.find_names(question.text) for number in known.find_anchors(name)[0].tolist()
    ]
    return [known.iri(number) for number in numbers if any(graph.frequency(number) for graph in links)]


def best_seeds(evidence: Evidence, view: View, count: int) -> Seeds:
    """
    Return (≤ count,) memories with scores in 0..1, best first: half meaning, half words, half subject.
    """
    everyone = np.flatnonzero(view.visible) if evidence.pool is None else evidence.pool.nodes
    total = np.zeros(len(everyone), dtype=np.float32)
    for name, signal in evidence.signals.items():
        if SIGNALS[name].is_seed:
            total += 0.5 * (signal[everyone] if SIGNALS[name].is_bounded else scale_to_best(signal, everyone))
    order = order_largest(total, count)
    order = order[total[order] > 0]
    best = float(total[order[0]]) if order.size else 1.0
    return everyone[order].astype(np.int32), (total[order] / best).astype(np.float32)


def scale_to_best(signal: Signal, nodes: NDArray[np.integer]) -> Signal:
    """Return (len(nodes),) the values of some memories, divided by the largest value of all; zero stays zero."""
    return np.asarray(signal[nodes] / max(float(signal.max(initial=0.0)), 1e-9))
