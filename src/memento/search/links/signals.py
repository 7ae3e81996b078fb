"""
What the names of several graphs say of a question: whose subject is asked for, and what the best memories lead to.

    subject(m) = max over names e of the question: idf(e) · w(e, m) / W(e)
    link(m)    = max over seeds s: g(s)² · Σ over e mentioned by s: idf(e) · w(e, m) / W(e)
    shared(m)  = max over seeds s: g(s)² · min(1, Σ over e mentioned by s and m: idf(e)²) · left(s, m)
    tie(m)     = max over seeds s: g(s)² · min(1, Σ over e mentioned by s and m and ten others at most: idf(e)²)

w(e, m) is how surely e is the subject of m, W(e) the sum of it over all memories, at least 1; left(s, m) is the share, by
idf, of the question's words which s does not have that m has. A seed earns nothing from itself.

*Guarantees:* nodes come back ascending and visible, values positive and unscaled; what no reader sees carries no value, but
still counts where names are weighed.

*Because:* on three sets of questions over passages a seed that leads to itself costs 3 to 8 points of recall@5, and names
that more than 3 % mention add nothing to `shared`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log1p

import numpy as np
from numpy.typing import NDArray

from memento.search.links.joined import COMMON, Joined
from memento.search.links.table import Entity, Nodes, Weights
from memento.search.nodes import Mask
from memento.search.words import Postings, tokens

Found = tuple[Nodes, Weights]
"""Nodes and a value for each: (m,) both."""

CROWD = 1000
"""A name that is the subject of more memories than this tells a seed's reader nothing about any one of them."""
RARE = 12
"""A name that so few memories mention ties them together even if one has none of the question's words."""
MOST = 200_000
"""Shared mentions that are looked at, those of the rarest names first, so that a large graph costs no more time than this."""


def subject_signal(names: Iterable[str], joined: Joined, visible: Mask) -> Found:
    """
    How surely memories are about a name of the question, in 0..1; a name shared by many says little about each.

    Args:
        names: labels as `Joined.named` gives them.
        visible: (ids,) the memories that may have a value.

    >>> from memento.search.links import Links
    >>> links = Links()
    >>> for node, text in enumerate(["Ed Wood is a film.", "Faro is a town.", "Bela Lugosi likes tea."]):
    ...     links.put(node, text, None)
    >>> nodes, values = subject_signal(["faro"], Joined([links]), np.ones(3, dtype=np.bool_))
    >>> nodes.tolist(), values.tolist()  # ln(4 / 2) / ln 4 · 1 / 1
    ([1], [0.5])
    """
    parts: list[Found] = []
    for name in map(joined.name, names):
        strength = np.float32(name.strength)
        parts += [(nodes, weights * strength) for nodes, weights in map(Entity.subjects, name.entities)]
    nodes, values = _concatenated(parts)
    seen = visible[nodes] & (values > 0)
    return _best(nodes[seen], values[seen])


def link_signal(seeds: Found, joined: Joined, visible: Mask) -> Found:
    """
    How well good memories lead to the memories about what they mention.

    Args:
        seeds: (s,) the best memories, and how good each is in 0..1.
        visible: (ids,) the memories that may have a value.
    """
    keys: list[NDArray[np.int64]] = []  # seed · ids + node: what one seed's names say of a node adds up
    values: list[NDArray[np.float64]] = []
    for rank, seed in enumerate(seeds[0].tolist()):
        base = rank * len(visible)
        for name in map(joined.name, sorted(joined.mentions(seed))):
            if 0 < name.subjects <= CROWD and name.idf > 0:
                strength = name.strength
                for nodes, weights in map(Entity.subjects, name.entities):
                    keys.append(nodes.astype(np.int64) + base)
                    values.append(weights * np.float64(strength))
    if not keys:
        return _concatenated([])
    distinct, slots = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.bincount(slots, weights=np.concatenate(values), minlength=len(distinct))
    place, nodes = np.divmod(distinct, max(len(visible), 1))
    led = (sums * seeds[1][place] ** 2).astype(np.float32)
    seen = visible[nodes] & (nodes != seeds[0][place])
    return _best(nodes[seen].astype(np.int32), led[seen])


def shared_signal(seeds: Found, question: str, joined: Joined, postings: Sequence[Postings], visible: Mask) -> Found:
    """
    How well memories that share a name with a good memory cover the question's words that this one leaves open.

    Args:
        seeds: (s,) the best memories, and how good each is in 0..1.
        postings: the words of the same graphs.
        visible: (ids,) the memories that may have a value.
    """
    ties = _ties(seeds[0].tolist(), joined)
    if not ties:
        return _concatenated([])
    nodes = np.concatenate([found for _, _, found in ties])
    lengths = [len(found) for _, _, found in ties]
    slots = np.zeros(len(visible), dtype=np.int32)
    slots[nodes] = visible[nodes]
    slots[seeds[0]] = 1
    there = np.flatnonzero(slots != 0)  # several times quicker than of the numbers themselves
    slots[there] = np.arange(1, len(there) + 1)  # 0: neither tied and visible nor a seed
    n = len(seeds[0])
    keys = (slots[nodes] - 1) * n + np.repeat([seed for seed, _, _ in ties], lengths)
    strengths = np.repeat([strength for _, strength, _ in ties], lengths)
    tied = keys >= 0
    sums = np.bincount(keys[tied], weights=strengths[tied])
    pairs = np.flatnonzero(sums > 0)
    slot, seed = np.divmod(pairs, n)
    covered, idf = _covered(question, postings, slots, len(there))
    left = idf * (1.0 - covered[slots[seeds[0]] - 1])  # (s, terms)
    left /= np.maximum(left.sum(axis=1, keepdims=True), np.float32(1e-9))
    share = np.einsum("ij,ij->i", covered[slot], left[seed])
    values = (np.minimum(sums[pairs], 1.0) * share * seeds[1][seed] ** 2).astype(np.float32)
    seen = visible[there[slot]] & (values > 0)
    return _best(there[slot[seen]].astype(np.int32), values[seen])


def tie_signal(seeds: Found, joined: Joined, visible: Mask) -> Found:
    """
    How rare a name memories share with a good memory, whatever else they say: "her husband" has no word of "married".

    Args:
        seeds: (s,) the best memories, and how good each is in 0..1.
        visible: (ids,) the memories that may have a value.
    """
    ties = _ties(seeds[0].tolist(), joined, RARE)
    if not ties:
        return _concatenated([])
    n = len(seeds[0])
    nodes = np.concatenate([found for _, _, found in ties])
    lengths = [len(found) for _, _, found in ties]
    keys = nodes.astype(np.int64) * n + np.repeat([seed for seed, _, _ in ties], lengths)
    distinct, slots = np.unique(keys, return_inverse=True)
    sums = np.bincount(slots, weights=np.repeat([strength for _, strength, _ in ties], lengths))
    nodes, seed = np.divmod(distinct, n)
    values = (np.minimum(sums, 1.0) * seeds[1][seed] ** 2).astype(np.float32)
    seen = visible[nodes] & (nodes != seeds[0][seed])
    return _best(nodes[seen].astype(np.int32), values[seen])


def _ties(seeds: Sequence[int], joined: Joined, most: int | None = None) -> list[tuple[int, float, Nodes]]:
    """
    (place of a seed, idf² of a name it mentions, the memories that mention it), the rarest first, `MOST` at most.

    Args:
        most: leave out what more memories mention than this.
    """
    common = max(COMMON * joined.n, 2)
    if most is not None:
        common = min(common, most)
    rarest: list[tuple[int, int, str]] = []
    for place, node in enumerate(seeds):
        rarest += [
            (joined.name(label).df, place, label) for label in joined.mentions(node) if joined.name(label).idf > 0
        ]
    ties, looked_at = [], 0
    for df, place, label in sorted(rarest):
        looked_at += df
        if df > common or looked_at > MOST:
            break
        name = joined.name(label)
        ties += [(place, name.idf**2, entity.mentions()) for entity in name.entities]
    return ties


def _covered(question: str, postings: Sequence[Postings], slots: NDArray[np.int32], n: int) -> tuple[Weights, Weights]:
    """(n, terms) 1 where the memory of a slot has a word of the question, and (terms,) the idf of each word that is known."""
    total = sum(map(len, postings))
    df = {term: sum(words.frequency(term) for words in postings) for term in dict.fromkeys(tokens(question))}
    terms = [term for term in df if df[term]]
    covered = np.zeros((n + 1, len(terms)), dtype=np.float32)
    for column, term in enumerate(terms):
        for words in postings:
            if found := words.having(term):
                covered[slots[found[0]], column] = 1.0
    idf = [log1p((total - df[term] + 0.5) / (df[term] + 0.5)) for term in terms]
    return covered[1:], np.array(idf, dtype=np.float32)


def _concatenated(parts: Sequence[Found]) -> Found:
    if not parts:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
    return np.concatenate([nodes for nodes, _ in parts]), np.concatenate([values for _, values in parts])


def _best(nodes: Nodes, values: Weights) -> Found:
    """Distinct nodes, ascending, and the largest value of each."""
    order = np.lexsort((-values, nodes))
    nodes, values = nodes[order], values[order]
    first = np.ones(len(nodes), dtype=np.bool_)
    first[1:] = nodes[1:] != nodes[:-1]
    return nodes[first], values[first]
