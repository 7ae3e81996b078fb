"""
ANCHOR: the places that EXPAND starts from: what the question names, the best memories, and the entities those are about.

*Flow:* names in the text give a signal (`subject`) and with it the best memories; the graph then says which entities the question
names and which those memories are about (`queries/retrieval/entities.rq`), and each weighs as much as it is rare.

*But:* the user comes with a question that says "I", not with the memories, unless the settings say so: most are about the user.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Anchor, Scope
from memento.rank.walks import rarity
from memento.retrieval.land import Evidence
from memento.retrieval.question import is_first_person, named_among
from memento.retrieval.signals import Signal, largest, spread
from memento.search.labels import Labels
from memento.search.links import Joined, subject_signal
from memento.search.links.names import LONGEST, is_telling
from memento.search.view import View
from memento.settings import AnchorSettings

NOTHING = IRI("urn:memento:nothing")
"""What a slot is given that has no value: it is never in a graph."""

Seeds = tuple[NDArray[np.int32], Signal]
"""(s,) memories, best first, and how good each is in 0..1."""


@dataclass(frozen=True, slots=True)
class Anchored:
    """What ANCHOR adds: `subject` among the evidence, the best memories so far, and the entities to start from, heaviest first."""

    evidence: Evidence
    seeds: Seeds
    anchors: tuple[Anchor, ...]


def anchor(
    question: str,
    evidence: Evidence,
    joined: Joined,
    view: View,
    graph: Store,
    scope: Scope,
    knobs: AnchorSettings,
    seeds: int,
) -> Anchored:
    """
    Where EXPAND starts.

    Args:
        seeds: best memories that it follows; the first few of them bring entities along.
    """
    subject = spread(*subject_signal(joined.named(question), joined, view.visible), view)
    evidence = evidence.with_(subject=subject)
    best = best_seeds(evidence, view, seeds)
    return Anchored(evidence, best, anchors(question, best, view, graph, scope, knobs))


def anchors(
    question: str, seeds: Seeds, view: View, graph: Store, scope: Scope, knobs: AnchorSettings
) -> tuple[Anchor, ...]:
    """
    The entities to start from, heaviest first: one that the question names weighs its rarity, one that comes with a seed a share
    of it, the larger the better the seed is.
    """
    nodes, goods = seeds[0][: knobs.seeds].tolist(), seeds[1][: knobs.seeds].tolist()
    named = view.iris(named_entities(question, view.indexes.labels, view.graphs))
    if is_first_person(question) or named_among(question, [view.indexes.name(scope.user)]):
        named.append(scope.user)
    if not nodes and not named:
        return ()
    good = dict(zip(view.iris(nodes), goods, strict=True))
    rows = graph.select("retrieval/entities", scope.readable, named=named or [NOTHING], memory=[*good] or [NOTHING])
    share: dict[IRI, float] = {}
    called: dict[IRI, str] = {}
    for row in rows:
        iri = cast(IRI, row["anchor"])
        if iri != scope.user or row["part"] == "named" or knobs.user:
            led = 1.0 if row["part"] == "named" else knobs.seed_share * good[cast(IRI, row["memory"])]
            share[iri] = max(share.get(iri, 0.0), led)
            called[iri] = str(row.get("name", "USER" if iri == scope.user else iri))
    there = [(iri, node) for iri in share if (node := view.indexes.nodes.find(iri)) is not None]
    links = np.array([view.indexes.adjacency.degree(node) for _, node in there], dtype=np.int64)
    rare = rarity(np.maximum(links, 1), int(np.count_nonzero(view.visible)))
    found = [
        Anchor(iri=iri, name=called[iri], weight=round(share[iri] * float(how_rare), 6), named=iri in named)
        for (iri, _), how_rare in zip(there, rare, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: (-one.weight, one.iri)))


def named_entities(question: str, labels: Labels, graphs: Sequence[IRI]) -> list[int]:
    """
    The entities whose name or alias stands in a question, from left to right, each name as long as can be.

    A single word in small letters counts only where nothing else is named.
    """
    raw = re.findall(r"[^\s\"'“”‘’«»,;:!?()\[\]{}]+", unicodedata.normalize("NFKC", question))
    words = [word.casefold() for word in raw]
    large: dict[int, None] = {}
    small: dict[int, None] = {}
    place = 0
    while place < len(words):
        length, nodes = _longest(words[place : place + LONGEST], labels, graphs)
        into = small if length == 1 and raw[place].islower() else large
        into.update(dict.fromkeys(nodes))
        place += max(length, 1)
    return list(large or small)


def _longest(words: Sequence[str], labels: Labels, graphs: Sequence[IRI]) -> tuple[int, list[int]]:
    """How many of the words make the longest name that begins with the first, and what goes by it; 0 where none does."""
    for length in range(len(words), 0, -1):
        label = " ".join(words[:length])
        for form in dict.fromkeys((label, label.rstrip(".…"))):
            if is_telling(form) and (nodes := labels.find(form, graphs)):
                return length, nodes
    return 0, []


def best_seeds(evidence: Evidence, view: View, count: int) -> Seeds:
    """
    (≤ count,) memories and how good each is in 0..1, best first: half meaning, half words, half subject.
    """
    everyone = np.flatnonzero(view.visible) if evidence.pool is None else evidence.pool.nodes
    meaning, words, subject = (evidence.found[name] for name in ("meaning", "words", "subject"))
    total = 0.5 * scaled(meaning, everyone) + 0.5 * scaled(words, everyone) + 0.5 * subject[everyone]
    order = largest(total, count)
    order = order[total[order] > 0]
    best = float(total[order[0]]) if order.size else 1.0
    return everyone[order].astype(np.int32), (total[order] / best).astype(np.float32)


def scaled(signal: Signal, nodes: NDArray[np.integer]) -> Signal:
    """(len(nodes),) the values of some memories, divided by the best of all; zero stays zero."""
    return np.asarray(signal[nodes] / max(float(signal.max(initial=0.0)), 1e-9))
