"""
DISTILL: combine all signals of a candidate into one score, and select the few best. Duplicates are merged: the most complete memory
takes the rank of the best one, with the number of memories that it stands for and all their notes.

Two memories are duplicates if all sentences of one stand in the other; or if their vectors are near, one has every content word of
the other, and no number, name, date or "not" is in only one of them. So nothing that was said is hidden.

*But:* paraphrases without a word in common are not merged: a wrong merge hides a fact, a missed one costs a line.

*Because:* adaptive MMR, which also removes what is merely similar, cost 1 to 3 points of recall@10 on every set (docs/recall.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memento.assets import lexicon
from memento.model import NoteRef, Recalled, Scored
from memento.retrieval.chains import find_stating
from memento.retrieval.signals import SIGNALS, Evidence, order_largest, pick_leading
from memento.search.arrays import distinct
from memento.search.indexes import View
from memento.search.nodes import Ids
from memento.search.postings import tokens
from memento.settings import SignalsSettings
from memento.text.dates import is_date_word
from memento.text.sentences import sentences


def distill(
    evidence: Evidence, view: View, k: int, pool: int, settings: SignalsSettings, *, only: str | None = None
) -> tuple[list[Scored[int]], int]:
    """
    Return the `k` best memories, best first, with scores in 0..1, and the number of candidates.

    Args:
        pool: number of candidates from each channel.
        only: the one signal to rank by, instead of the weighted sum.
    """
    if only:
        return _rank_by_one(only, evidence, view, k)
    nodes = candidates(evidence, view, pool)
    shares = weigh_signals(evidence, nodes, settings)
    total = np.sum([*shares.values()], axis=0) if nodes.size else np.zeros(0)
    if evidence.mentioned is not None and evidence.confused is not None:
        # Who has a part of the asked name cannot come before whoever has all of it.
        is_asked, is_other = np.isin(nodes, evidence.mentioned), np.isin(nodes, evidence.confused)
        total[is_other] = np.minimum(total[is_other], total[is_asked].min(initial=np.inf))
    if evidence.asked and nodes.size:
        # Where somebody else works is no answer where the asked one's work is known.
        states, is_other = find_stating(evidence.asked, nodes.tolist(), view)
        if states.any():
            total[is_other] = np.minimum(total[is_other], _BEHIND * total[states].max())
    order = order_largest(total, k)
    most = sum(asdict(settings).values()) or 1.0
    best = [
        Scored(int(nodes[place]), float(total[place]) / most, _find_strongest(shares, int(place)))
        for place in order.tolist()
    ]
    # Ties are told apart by IRI: ids differ between two nodes, and after a tenant has moved.
    best.sort(key=lambda one: (-round(one.score, 6), view.indexes.nodes.iri(one.item)))
    return best, len(nodes)


def _rank_by_one(name: str, evidence: Evidence, view: View, k: int) -> tuple[list[Scored[int]], int]:
    """Return the `k` best memories by one signal, and the number of memories for which it is positive."""
    signal = evidence.signals[name]
    nodes = np.flatnonzero(view.visible & (signal > 0))
    order = nodes[order_largest(signal[nodes], k)]
    most = float(signal[order[0]]) if order.size else 1.0
    return [Scored(int(node), float(signal[node]) / most, name) for node in order.tolist()], len(nodes)


def candidates(evidence: Evidence, view: View, pool: int) -> Ids:
    """
    Return the ids of the `pool` best visible memories by each channel, ascending; only positive values count.

    A scope of no more than `pool` memories is included whole.
    """
    if view.visible_count <= pool:
        return np.flatnonzero(view.visible).astype(np.int32)
    among = evidence.pool.nodes if evidence.pool else None
    channels = [name for name in evidence.signals if SIGNALS[name].is_channel]
    return distinct(np.concatenate([_pick_best(evidence, name, view, pool, among) for name in channels]))


def weigh_signals(evidence: Evidence, nodes: Ids, settings: SignalsSettings) -> dict[str, NDArray[np.float32]]:
    """
    Return (len(nodes),) the contribution of each signal to the score of some memories.

    A signal without an upper bound is divided by its best value among these memories.
    """
    weights = asdict(settings)
    shares = {}
    for name, signal in evidence.signals.items():
        values = signal[nodes]
        best = 1.0 if SIGNALS[name].is_bounded else max(float(values.max(initial=0.0)), 1e-9)
        shares[name] = np.asarray(values * (weights[name] / best), dtype=np.float32)
    return shares


def _pick_best(evidence: Evidence, name: str, view: View, count: int, among: Sequence[int] | Ids | None) -> Ids:
    """Return the `count` visible memories with the largest positive values of a signal; only those in `among`, where given."""
    if among is None:
        return pick_leading(evidence.signals[name], view.visible, count)
    nodes = np.asarray(among, dtype=np.int32)
    values = evidence.signals[name][nodes]
    nodes, values = nodes[values > 0], values[values > 0]
    return nodes if len(nodes) <= count else nodes[np.argpartition(-values, count)[:count]]


def _find_strongest(shares: dict[str, NDArray[np.float32]], place: int) -> str:
    return max(shares, key=lambda name: float(shares[name][place]))


_BEHIND = 0.99
"""The most that a claim of somebody else has of the score of the best claim that is asked for."""

ALIKE = 0.85
"""Cosine from which on two memories may be duplicates."""

_LEAD = 5  # number of letters of a stem that are compared, as in "allergic" and "allergy"
_MARK = re.compile(r"\d+|\b[^\W\d_]+")
_NOT = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|except|hardly|cannot|used\s+to|longer|anymore)\b|n['’]t\b",
    re.IGNORECASE,
)
_STAMP = re.compile(r"\[[^\[\]]{0,40}\]")


def find_twins(vectors: NDArray[np.float32]) -> int:
    """Return how many of some memories have a possible duplicate before them, by (n, d) unit vectors."""
    if len(vectors) < 2:
        return 0
    alike = np.tril(vectors @ vectors.T, -1)
    return int((alike.max(axis=1) >= ALIKE).sum())


def merge_twins(memories: Sequence[Recalled], vectors: NDArray[np.float32]) -> list[Recalled]:
    """Return the memories in their order, with duplicates merged into one."""
    groups: list[list[int]] = []
    marks = [_Marks.from_text(one.content) for one in memories]
    said = [{" ".join(_MARK.findall(part)).casefold() for part in sentences(one.content)} for one in memories]
    for place in range(len(memories)):
        group = next(
            (
                group
                for group in groups
                if (
                    all(float(vectors[place] @ vectors[other]) >= ALIKE for other in group)
                    and any(
                        marks[place].covers(marks[other]) or marks[other].covers(marks[place]) for other in group[:1]
                    )
                )
                or any(said[place] <= said[other] or said[other] <= said[place] for other in group[:1])
            ),
            None,
        )
        if group is None:
            groups.append([place])
        elif said[group[0]] < said[place] or (
            marks[place].covers(marks[group[0]]) and not marks[group[0]].covers(marks[place])
        ):
            group.insert(0, place)
        else:
            group.append(place)
    return [_join([memories[place] for place in group], min(group), memories) for group in groups]


def says_no_more(text: str, known: str) -> bool:
    """
    Tell whether a text adds nothing to another: the other has all its words, and both have the same names, numbers, days and
    negations.

    >>> says_no_more("I like tea.", "I like green tea."), says_no_more("I like tea.", "I do not like tea.")
    (True, False)
    """
    return _Marks.from_text(known).covers(_Marks.from_text(text))


def merge_overlaps(memories: Sequence[Recalled], question: str) -> list[Recalled]:
    """
    Return the memories in their order, without a piece of a long text that adds nothing to a neighbouring piece placed before it:
    both contain the sentence that has most of the question's words.
    """
    asked, groups = set(tokens(question)), list[list[Recalled]]()
    for one in memories:
        beside = next((group for group in groups if _are_beside(one.note, group[0].note)), None)
        if beside is not None and _find_best_sentence(one.content, asked) in beside[0].content:
            beside.append(one)
        else:
            groups.append([one])
    return [_join(group, 0, group) for group in groups]


def _are_beside(one: NoteRef | None, other: NoteRef | None) -> bool:
    """Tell whether two notes are consecutive pieces of one text."""
    if one is None or other is None or one.piece is None or other.piece is None:
        return False
    return (one.parent or one.iri) == (other.parent or other.iri) and abs(one.piece - other.piece) == 1


def _find_best_sentence(text: str, asked: set[str]) -> str:
    """Return the sentence with most of the given words, the first if several tie; the whole text where no sentence has one."""
    parts = re.split(r"(?<=[.!?…])\s+", text)
    best = max(parts, key=lambda part: len(asked & set(tokens(part))))
    return best if asked & set(tokens(best)) else text


def _join(group: Sequence[Recalled], place: int, memories: Sequence[Recalled]) -> Recalled:
    """Merge a group of duplicates into its first memory, with the best score of the group."""
    if len(group) == 1:
        return group[0]
    fullest, best = group[0], memories[place]
    ordered = sorted(group, key=lambda one: one.rank)
    told = [note for one in (fullest, *ordered) for note in ((one.note, *one.notes) if one.note else one.notes)]
    notes: dict[str, NoteRef] = {note.iri: note for note in told}
    return replace(
        fullest,
        score=best.score,
        source=best.source,
        relevance=best.relevance,
        count=sum(one.count for one in group),
        notes=tuple(notes.values()),
        merged=tuple(iri for one in ordered for iri in (*(() if one is fullest else (one.iri,)), *one.merged)),
    )


@dataclass(frozen=True, slots=True)
class _Marks:
    """What must be equal in two duplicates, and the words of which one must contain all of the other's."""

    words: frozenset[str]
    named: tuple[str, ...]  # numbers, and capitalised words that do not begin a sentence, in order
    days: frozenset[str]
    is_denied: bool

    @classmethod
    def from_text(cls, content: str) -> _Marks:
        text = _STAMP.sub(" ", content)
        named = [word for word in _MARK.findall(text)[1:] if word[0].isupper() or word.isdigit()]
        return cls(
            frozenset(term[:_LEAD] for term in tokens(text) if term not in _courtesy()),
            tuple(word.casefold() for word in named if word != "USER"),
            frozenset(word.casefold().rstrip("s") for word in _MARK.findall(text) if is_date_word(word.rstrip("s"))),
            _NOT.search(text) is not None,
        )

    def covers(self, other: _Marks) -> bool:
        return (
            other.words <= self.words
            and self.named == other.named
            and self.days == other.days
            and self.is_denied == other.is_denied
        )


@lru_cache(maxsize=1)
def _courtesy() -> frozenset[str]:
    return frozenset(term for line in lexicon("courtesy") for term in tokens(line))
