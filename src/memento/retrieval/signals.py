"""
What speaks for a memory, one function for each signal.

A signal is one number for each id, at least 0; its unit does not matter, as LAND divides it by its best value among the candidates.
A signal whose data is not there (no session, no speaker, no date in the question) is zero everywhere.

*Source:* the recipe and its measurements are in docs/recall.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from memento.iris import user_of
from memento.ports import Vectors
from memento.retrieval.question import (
    KIN_SLOTS,
    Named,
    asked_slots,
    is_assistant,
    is_first_person,
    named_among,
    of_whom,
    wants_number,
    wants_time,
)
from memento.search.nodes import Ids, Mask
from memento.search.ragged import distinct
from memento.search.view import View
from memento.search.words import bm25, bm25_of_terms, pairs, tokens
from memento.settings import WordsSettings

Signal = NDArray[np.float32]
"""(ids,) what one signal says of each memory."""

MANY_SESSIONS = 10
"""Sessions from which on the best of them says as much as it can."""


def meaning(asked: Vectors, view: View, nodes: Ids | None = None) -> Signal:
    """Cosine of the memory to the question, negative ones cut to 0."""
    vectors = view.indexes.vectors["memory"]
    if nodes is None:
        return np.maximum(vectors.likeness(asked, len(view.visible)), 0.0)
    return spread(nodes, np.maximum(vectors.cosines(nodes, asked), 0.0), view)


def window(own: Signal, view: View, nodes: Ids | None = None) -> Signal:
    """
    Cosine of the question to the sum of the turn before, the turn itself and the turn after; `own` where there is no conversation.

    The sum stands in for the three turns embedded as one text: it needs no further vector, and follows every new turn at once.
    """
    found = own.copy() if nodes is None else spread(nodes, own[nodes], view)
    for passages in view.passages():
        turns = passages.turn_nodes() if nodes is None else nodes[passages.session_of(nodes) >= 0]
        beside = passages.beside(turns)
        total = own[turns] + np.where(beside >= 0, own[beside], 0.0).sum(axis=1)
        found[turns] = total / passages.measure(turns, view.indexes.vectors["memory"])
    return found


def with_neighbours(nodes: Ids, view: View) -> Ids:
    """Some memories and the turns beside them, ascending."""
    parts = [nodes]
    for passages in view.passages():
        beside = passages.beside(nodes[passages.session_of(nodes) >= 0])
        parts.append(beside[beside >= 0])
    return distinct(np.concatenate(parts))


def leading(signal: Signal, visible: Mask, count: int) -> Ids:
    """The `count` visible memories with the largest positive values, in no order."""
    nodes = np.flatnonzero(signal > 0).astype(np.int32)
    nodes = nodes[visible[nodes]]
    return nodes if len(nodes) <= count else nodes[np.argpartition(-signal[nodes], count)[:count]]


def words(question: str, view: View, knobs: WordsSettings) -> Signal:
    """BM25 of the memory read together with its title or with the turn before it."""
    return spread(*bm25(question, [p.context for p in view.passages()], knobs.k1, knobs.b), view)


def neighbouring_words(question: str, view: View) -> Signal:
    """BM25 over pairs of neighbouring stems, in the window of three turns."""
    asked = pairs(tokens(question))
    # Pairs are rare: lengths matter less than for single words.
    return spread(*bm25_of_terms(asked, [p.pairs for p in view.passages()], 1.2, 0.5), view)


def session(question: str, view: View, knobs: WordsSettings, nodes: Ids | None = None) -> Signal:
    """
    BM25 of the whole session that the memory belongs to, divided by its best; of fewer sessions than ten only so many tenths.

    To be told which of three conversations it was says little of where in it the answer stands.
    """
    found = np.zeros(len(view.visible), dtype=np.float32)
    parts: list[tuple[Ids, Signal]] = []
    count, best = 0, 0.0
    for passages in view.passages():
        numbers, scores = bm25(question, [passages.sessions], knobs.k1, knobs.b)
        turns = passages.turn_nodes() if nodes is None else nodes[passages.session_of(nodes) >= 0]
        sessions = passages.session_of(turns)
        of_session = np.zeros(int(max(sessions.max(initial=-1), numbers.max(initial=-1))) + 1, dtype=np.float32)
        of_session[numbers] = scores
        parts.append((turns, of_session[sessions]))
        count, best = count + len(passages.sessions), max(best, float(scores.max(initial=0.0)))
    share = np.float32(min(1.0, count / MANY_SESSIONS) / max(best, 1e-9))
    for turns, values in parts:
        found[turns] = values * share
    return found


def speaker(question: str, view: View, nodes: Ids | None = None) -> Signal:
    """
    1 for what the one participant said whom the question names; silent when it names several.

    Who asks about "my" or "our" of a conversation with an assistant is not the assistant: then it is 1 for what the others said.
    """
    found = np.zeros(len(view.visible), dtype=np.float32)
    people = view.participants()
    named = set(named_among(question, people))
    if not named and is_first_person(question) and any(map(is_assistant, people)):
        named = {name for name in people if not is_assistant(name)}
    elif len(named) != 1:
        return found
    for passages in view.passages():
        found[passages.turns.said_by(named, nodes)] = 1.0
    return found


def own(question: str, view: View) -> Signal:
    """1 for what is about the user, when the question says "I" or "my" or calls the user by name."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    user = user_of(view.graphs[0])
    node = view.indexes.nodes.find(user)
    if node is not None and (is_first_person(question) or named_among(question, [view.indexes.name(user)])):
        found[view.indexes.adjacency.memories(node)] = 1.0
    return found


def slot(question: str, view: View) -> Signal:
    """1 for what fills the property that the question asks for, as an employer: the user's, their brother's, or anybody's."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    slots = asked_slots(question)
    if not slots:
        return found
    mine = own(question, view)
    whose = of_whom(question) if mine.any() else (True, False)
    for name in slots:
        # Who the wife of "my wife" is, is the user's own, whatever else is asked of her.
        for is_own in (True,) if mine.any() and name in KIN_SLOTS else whose:
            found[list(view.indexes.slots.get((name, is_own), ()))] = 1.0
    return found * mine if mine.any() else found


def when(dates: Sequence[Named], view: View, nodes: Ids | None = None) -> Signal:
    """
    How well the day of the memory fits a date in the question.

    A day: 1 from the day before to eight days after, ½ up to a month after. A month: 1 in it, ½ in the next, a fifth of that in
    another year than the named one. A year: 1 in it. What is told is told soon after it happened, not before.
    """
    found = np.zeros(len(view.visible), dtype=np.float32)
    if not dates:
        return found
    days = view.indexes.nodes.days(nodes)
    fits = np.max([_fits(one, days) for one in dates], axis=0)
    return np.asarray(fits, dtype=np.float32) if nodes is None else spread(nodes, fits, view)


def form(question: str, view: View, nodes: Ids | None = None) -> Signal:
    """
    Long sentences answer, questions do not; who asks when wants a time word, who asks how many a number.

    May be negative: it is a prior, added as it is.
    """
    weights = np.array([1.0, -1.0, float(wants_time(question)), float(wants_number(question))], dtype=np.float32)
    found = np.zeros(len(view.visible), dtype=np.float32)
    for passages in view.passages():
        if nodes is None:
            shapes, known = passages.every_shape()
            seen = known & view.visible[: len(known)]
            found[: len(known)] += np.where(seen, 0.3 * (shapes @ weights), np.float32(0.0))
        else:
            some = passages.among(nodes)
            found[some] = np.where(view.visible[some], 0.3 * (passages.shapes(some) @ weights), 0.0)
    return found


def largest(values: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    """The places of the `k` largest values, largest first, of equal ones the first."""
    if k < len(values):
        least = np.partition(values, len(values) - k)[len(values) - k]
        places = np.flatnonzero(values >= least)
        return places[np.argsort(-values[places], kind="stable")[:k]]
    return np.argsort(-values, kind="stable")


def spread(nodes: NDArray[np.int32], scores: NDArray[np.float32], view: View) -> Signal:
    """(ids,) some values at their ids, zero elsewhere."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    found[nodes] = scores
    return found


def _fits(one: Named, days: NDArray[np.int64]) -> Signal:
    """(ids,) how well each day (since 1970) fits one named date."""
    fits = np.zeros(len(days), dtype=np.float32)
    if one.full:
        late = days - (one.full - date(1970, 1, 1)).days
        fits[(late >= -1) & (late <= 31)] = 0.5
        fits[(late >= -1) & (late <= 8)] = 1.0
        return fits
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    years = months // 12 + 1970
    if one.month is None:
        fits[years == one.year] = 1.0
        return fits
    ahead = (months % 12 - (one.month - 1)) % 12
    fits[ahead == 0], fits[ahead == 1] = 1.0, 0.5
    if one.year:
        fits[months - ahead != (one.year - 1970) * 12 + one.month - 1] *= 0.2
    return fits
