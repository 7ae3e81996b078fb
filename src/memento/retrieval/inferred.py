"""
From what a question names to what memories are about, along the relations that inference works with: a question about Portugal
finds what is known of Lisbon, where a graph of the user's own says that the one is part of the other.

    inferred(m) = max over the entities e that m is about and that a name of the question leads to: rarity(e)

*But:* names are compared as they are written, which is good enough to find something and never makes two of them the same. One
step: what is several steps away has been inferred to be one. The user is led to by nothing, as most memories are about the user.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from memento.graph.inference.inferences import Kin
from memento.iris import IRI, user_of
from memento.rank.walks import rarity
from memento.retrieval.anchor import named_entities
from memento.retrieval.signals import Signal
from memento.search.labels import Labels
from memento.search.view import View

_GRAPH = IRI("urn:memento:inferred")


def inferred_signal(question: str, kin: Kin, view: View) -> Signal:
    """(ids,) how rare an entity a memory is about that something in the question leads to, in 0..1."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    for node in reached(question, kin, view):
        degree = np.array([max(view.indexes.adjacency.degree(node), 1)])
        value = np.float32(rarity(degree, max(view.count, 1))[0])
        memories = view.indexes.adjacency.memories(node)
        found[memories] = np.maximum(found[memories], value)
    found[~view.visible] = 0.0
    return found


def reached(question: str, kin: Kin, view: View) -> set[int]:
    """The entities beside what a question names, without those that it names itself and without the user."""
    labels, nodes = _called(kin)
    named = [nodes[number] for number in named_entities(question, labels, [_GRAPH])]
    own = {anchor for node in named for anchor in _anchors(node, kin, view)}
    led = {anchor for node in named for other in kin.beside[node] for anchor in _anchors(other, kin, view)}
    return led - own - {view.indexes.nodes.find(user_of(graph)) for graph in view.graphs}


def _anchors(node: IRI, kin: Kin, view: View) -> set[int]:
    """The entities of the memories that a node is, or that go by one of its names."""
    indexes = view.indexes
    found = {anchor for name in kin.names.get(node, ()) for anchor in indexes.labels.find(name, view.graphs)}
    own = indexes.nodes.find(node)
    return found | {own} if own is not None and indexes.nodes.kind(own) == "anchor" else found


@lru_cache(maxsize=8)
def _called(kin: Kin) -> tuple[Labels, list[IRI]]:
    """The nodes by their names, as numbers, and which is which."""
    labels, nodes = Labels(), list(kin.beside)
    for number, node in enumerate(nodes):
        labels.put(number, _GRAPH, kin.names.get(node, ()))
    return labels, nodes
