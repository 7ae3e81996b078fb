"""
ANCHOR: find where EXPAND starts: the entities that the question names, the best memories, and the entities they are about.

*Flow:* names in the text give a signal (`subject`), which helps to find the best memories. Then a query on the graph finds the
entities that the question names and those that these memories are about (`queries/retrieval/entities.rq`). Rare ones weigh more.

*But:* the user is an anchor if the question says "I", but not because of the memories, unless the settings say so: most memories
are about the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Anchor, Scope
from memento.rank import rarity
from memento.retrieval.chains import find_asked, find_stating
from memento.retrieval.question import Question, find_named, is_first_person
from memento.retrieval.signals import SIGNALS, Evidence, Seeds, Signal, measure_signals, order_largest
from memento.search.arrays import distinct
from memento.search.grains import find_people
from memento.search.indexes import View
from memento.search.links import Asked
from memento.search.nodes import Ids
from memento.settings import AnchorSettings


def anchor(
    question: Question, evidence: Evidence, graph: Store, scope: Scope, settings: AnchorSettings, seeds: int
) -> Evidence:
    """
    Add what EXPAND starts from: the signal `subject`, the best memories so far, and the entities, heaviest first.

    Args:
        seeds: number of best memories that EXPAND follows; only the entities of the first few are added.
    """
    named = find_named_anchors(question, graph, scope)
    mentioned, confused = find_mentioning([*named], question)
    asking = question.asking
    steps = []
    if asking:
        meant = {one.label: list_meant(one, question) for one in question.asked}
        steps = find_asked(
            asking.reading.clauses, question.view, asking.at, past=asking.past, text=question.text, named=meant
        )
    sources = question.list_sources() | ({"steps": steps} if asking else {})
    if question.masked is not None and mentioned.size:
        sources |= {"mentioned": mentioned, "masked": question.masked, "surety": question.surety}
    evidence = evidence.with_signals(measure_signals("anchor", sources), question.view)
    best = best_seeds(evidence, question.view, seeds)
    anchors = find_anchors(question, named, best, graph, scope, settings)
    return replace(evidence, seeds=best, anchors=anchors, mentioned=mentioned, confused=confused, steps=tuple(steps))


def find_named_anchors(question: Question, graph: Store, scope: Scope) -> dict[IRI, str]:
    """Return the entities that the question names, and the user if it says "I", with their names."""
    named = list(dict.fromkeys(iri for one in question.asked for iri in list_meant(one, question)))
    if is_first_person(question.text) or find_named(question.text, [question.view.indexes.name(scope.user)]):
        named.append(scope.user)
    rows = graph.select("retrieval/named", scope.readable, named=named) if named else []
    found = {row["anchor"]: str(row["name"]) if "name" in row else "" for row in rows}
    return {iri: name or ("USER" if iri == scope.user else iri) for iri, name in found.items()}


def list_meant(asked: Asked, question: Question) -> list[IRI]:
    """List the nodes that a name of a question may mean, as far as a memory has them."""
    known, links = question.view.indexes.links.anchors, question.view.links()
    numbers = [number for label in sorted(asked.meant) for number in known.find_anchors(label)[0].tolist()]
    return [known.iri(number) for number in numbers if any(graph.frequency(number) for graph in links)]


def find_mentioning(named: Sequence[IRI], question: Question) -> tuple[Ids, Ids]:
    """Return the memories about or mentioning some entities, without the user; and those about others with a similar name only."""
    known, links = question.view.indexes.links.anchors, question.view.links()
    numbers = [known.number(iri) for iri in named if iri in known]
    nothing = np.zeros(0, dtype=np.int32)
    mentioned = distinct(
        np.concatenate([nothing, *(graph.mentioning(number) for number in numbers for graph in links)])
    )
    others = question.joined.find_confusable(question.asked)
    return mentioned, np.setdiff1d(question.joined.mentioning(others), mentioned) if others else nothing


def take_sides(nodes: Sequence[int], evidence: Evidence, question: Question) -> NDArray[np.int8] | None:
    """
    Return (n,) 1 for memories about or mentioning what the question names in full, −1 for those that have another name only, 0 for
    the rest. Without a full name it is 1 for those that state the claim that is asked for, −1 for those that state it of somebody
    else; None if there is neither.
    """
    if evidence.mentioned is None or not (evidence.mentioned.size and question.has_full_name):
        if not evidence.asked:
            return None
        states, is_other = find_stating(evidence.asked, nodes, question.view)
        return states.astype(np.int8) - is_other.astype(np.int8) if states.any() else None
    sides = np.isin(nodes, evidence.mentioned).astype(np.int8)
    for place in np.flatnonzero(sides == 0).tolist():
        mentions = question.joined.mentions(nodes[place])
        if find_people(mentions) or any(" " in label for label in mentions):
            sides[place] = -1
    return sides


def find_anchors(
    question: Question,
    named: Mapping[IRI, str],
    seeds: Seeds,
    graph: Store,
    scope: Scope,
    settings: AnchorSettings,
) -> tuple[Anchor, ...]:
    """
    Return the entities to start from, heaviest first. The weight of an entity that the question names is its rarity; that of a
    seed's entity is a share of its rarity, larger for better seeds.
    """
    view = question.view
    nodes, goods = seeds[0][: settings.seeds].tolist(), seeds[1][: settings.seeds].tolist()
    if not nodes and not named:
        return ()
    good = dict(zip(view.iris(nodes), goods, strict=True))
    rows = graph.select("retrieval/entities", scope.readable, memory=[*good]) if good else []
    shares: dict[IRI, float] = dict.fromkeys(named, 1.0)
    names: dict[IRI, str] = dict(named)
    for row in rows:
        iri = row["anchor"]
        if iri != scope.user or settings.user:
            shares[iri] = max(shares.get(iri, 0.0), settings.seed_share * good[row["memory"]])
            names.setdefault(iri, str(row.get("name", "USER" if iri == scope.user else iri)))
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
