"""
What the names of several graphs say of a question: whose subject is asked for, and what the best memories lead to.

Every value is positive and unscaled; only visible nodes have one.

*Source:* recall measurements on question sets over encyclopaedia passages; idf as in information retrieval, scaled to 0..1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray

from memento.search.links.names import LONGEST, is_telling, read
from memento.search.links.table import Entity, Links
from memento.search.nodes import Mask
from memento.search.words import Postings, tokens

Nodes = NDArray[np.int32]
Values = NDArray[np.float32]
Seeds = tuple[Nodes, Values]
"""The best memories so far, best first, and how good each is in 0..1: (s,) each."""

COMMON = 0.03
"""A name that more than this share of memories mentions links nothing, unless it is somebody's subject."""
_NOTHING = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32))


class Joined:
    """The links of some graphs as one: names are joined by their labels, counts added."""

    def __init__(self, links: Sequence[Links]) -> None:
        self._links = links
        self._idf: dict[str, float] = {}

    @cached_property
    def n(self) -> int:
        return sum(map(len, self._links))

    def of(self, label: str) -> list[Entity]:
        return [entity for links in self._links if (entity := links.entity(label)) is not None]

    def mentions(self, node: int) -> set[str]:
        return next((links.mentions(node) for links in self._links if node in links), set())

    def idf(self, label: str) -> float:
        """
        How telling a name is: 1 − a little for one memory that mentions it, 0 for all; idf = ln((N + 1) / (df + 1)) / ln(N + 1).

        0 for a name that is nobody's subject and that one memory alone mentions, or too many.
        """
        known = self._idf.get(label)
        if known is None:
            known = self._idf[label] = self._weighed(self.of(label))
        return known

    def _weighed(self, entities: list[Entity]) -> float:
        df = sum(len(entity.mentioned) for entity in entities)
        if not any(entity.subject_of for entity in entities) and not 2 <= df <= COMMON * self.n:
            return 0.0
        return log((self.n + 1) / (df + 1)) / log(self.n + 1)

    def named(self, question: str) -> list[str]:
        """The names in a question."""
        found = read(question)
        words, large = found.words, set(found.starts)
        named, place = {}, 0
        loose = {}
        while place < len(words):
            for n in range(min(LONGEST, len(words) - place), 0, -1):
                label = " ".join(words[place : place + n])
                if is_telling(label) and self.idf(label) > 0:
                    (named if n > 1 or place in large else loose)[label] = None
                    if n > 1 or place in large:
                        place += n - 1
                    break
            place += 1
        return list(named or loose)


def subject_signal(names: Sequence[str], joined: Joined, visible: Mask) -> tuple[Nodes, Values]:
    best = _subjects_of([(name, 1.0) for name in names], joined)
    return _best(best, visible)


def _subjects_of(names, joined):
    nodes, values = [], []
    for name, strength in names:
        idf = joined.idf(name)
        entities = [entity for entity in joined.of(name) if entity.subject_of]
        if not entities or idf <= 0: continue
        total = max(1.0, sum(e.weight for e in entities))
        for e in entities:
            n, w = e.subjects()
            nodes.append(n); values.append(w * np.float32(strength * idf / total))
    return nodes, values


def _best(found, visible):
    nodes, values = found
    if not nodes: return _NOTHING
    n = np.concatenate(nodes); v = np.concatenate(values)
    keep = visible[n]; n, v = n[keep], v[keep]
    u, inv = np.unique(n, return_inverse=True)
    out = np.zeros(len(u), np.float32); np.maximum.at(out, inv, v)
    return u.astype(np.int32), out

SELF = True
def link_signal(seeds, joined, visible):
    N, V = [], []
    for s, g in zip(seeds[0].tolist(), seeds[1].tolist()):
        nodes, values = _subjects_of([(l, 1.0) for l in joined.mentions(s)], joined)
        if not nodes: continue
        n = np.concatenate(nodes); v = np.concatenate(values)
        if not SELF:
            k = n != s; n, v = n[k], v[k]
        u, inv = np.unique(n, return_inverse=True)
        N.append(u.astype(np.int32)); V.append((np.bincount(inv, weights=v, minlength=len(u)) * g * g).astype(np.float32))
    return _best((N, V), visible)

DEN='left'; CAP=None; UNKNOWN=False
def shared_signal(seeds, question, joined, postings, visible):
    terms = sorted(set(tokens(question)))
    n = sum(map(len, postings))
    size = len(visible)
    cover = np.zeros((size, len(terms)), np.float32); idf = np.zeros(len(terms), np.float32)
    for i, t in enumerate(terms):
        df = sum(p.frequency(t) for p in postings)
        if df or UNKNOWN: idf[i] = np.log1p((n - df + .5) / (df + .5))
        for p in postings:
            h = p.having(t)
            if h: cover[h[0], i] = 1
    best = np.zeros(size, np.float32)
    for s, g in zip(seeds[0].tolist(), seeds[1].tolist()):
        link = np.zeros(size, np.float32)
        for l in joined.mentions(s):
            w = joined.idf(l)
            if w <= 0: continue
            for e in joined.of(l):
                if CAP and len(e.mentioned) > CAP * joined.n: continue
                link[e.mentions()] += w * w
        left = idf * (1 - cover[s]); tot = left.sum() if DEN == 'left' else idf.sum()
        if tot <= 0: continue
        np.maximum(best, np.minimum(link, 1) * (cover @ left) / tot * g * g, out=best)
    best *= visible
    u = np.flatnonzero(best)
    return u.astype(np.int32), best[u]
