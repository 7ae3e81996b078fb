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

from memento.ports import Vectors
from memento.retrieval.question import (
    Named,
    asked_slots,
    is_assistant,
    is_first_person,
    named_among,
    wants_number,
    wants_time,
)
from memento.search.passages import Passages
from memento.search.view import View
from memento.search.words import bm25, bm25_of_terms, pairs, tokens
from memento.settings import WordsSettings
from memento.vocabulary import user_of

Signal = NDArray[np.float32]
"""(ids,) what one signal says of each memory."""

MANY_SESSIONS = 10
"""Sessions from which on the best of them says as much as it can."""


def meaning(asked: Vectors, view: View) -> Signal:
    """Cosine of the memory to the question, negative ones cut to 0."""
    return np.maximum(view.indexes.vectors["memory"].likeness(asked, len(view.visible)), 0.0)


def window(own: Signal, view: View) -> Signal:
    """
    Cosine of the question to the sum of the turn before, the turn itself and the turn after; `own` where there is no conversation.

    The sum stands in for the three turns embedded as one text: it needs no further vector, and follows every new turn at once.
    """
    found = own.copy()
    for passages in view.passages():
        turns = passages.turn_nodes()
        beside, there = passages.beside(turns), passages.beside(turns) >= 0
        total = own[turns] + np.where(there, own[beside], 0.0).sum(axis=1)
        found[turns] = total / _norms(passages, turns, beside, view)
    return found


def words(question: str, view: View, knobs: WordsSettings) -> Signal:
    """BM25 of the memory read together with its title or with the turn before it."""
    return spread(*bm25(question, [p.context for p in view.passages()], knobs.k1, knobs.b), view)


def neighbouring_words(question: str, view: View) -> Signal:
    """BM25 over pairs of neighbouring stems, in the window of three turns."""
    asked = pairs(tokens(question))
    # Pairs are rare: lengths matter less than for single words.
    return spread(*bm25_of_terms(asked, [p.pairs for p in view.passages()], 1.2, 0.5), view)


def session(question: str, view: View, knobs: WordsSettings) -> Signal:
    """
    BM25 of the whole session that the memory belongs to, divided by its best; of fewer sessions than ten only so many tenths.

    To be told which of three conversations it was says little of where in it the answer stands.
    """
    found = np.zeros(len(view.visible), dtype=np.float32)
    sessions = 0
    for passages in view.passages():
        sessions += len(passages.sessions)
        numbers, scores = bm25(question, [passages.sessions], knobs.k1, knobs.b)
        turns = passages.turn_nodes()
        of_session = np.zeros(int(passages.session_of(turns).max(initial=-1)) + 1, dtype=np.float32)
        of_session[numbers] = scores
        found[turns] = of_session[passages.session_of(turns)]
    best = float(found.max(initial=0.0, where=view.visible))
    return found * np.float32(min(1.0, sessions / MANY_SESSIONS) / max(best, 1e-9))


def speaker(question: str, view: View) -> Signal:
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
        found[passages.turns.said_by(named)] = 1.0
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
    """1 for what fills the property that the question asks for, as an employer; only the user's, when it is about the user."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    for name in asked_slots(question):
        found[list(view.indexes.slots.get(name, ()))] = 1.0
    mine = own(question, view) if found.any() else found
    return found * mine if mine.any() else found


def when(dates: Sequence[Named], view: View) -> Signal:
    """
    How well the day of the memory fits a date in the question.

    A day: 1 from the day before to eight days after, ½ up to a month after. A month: 1 in it, ½ in the next, a fifth of that in
    another year than the named one. A year: 1 in it. What is told is told soon after it happened, not before.
    """
    found = np.zeros(len(view.visible), dtype=np.float32)
    if not dates:
        return found
    days = view.indexes.nodes.days()
    for one in dates:
        found = np.maximum(found, _fits(one, days))
    return found


def form(question: str, view: View) -> Signal:
    """
    Long sentences answer, questions do not; who asks when wants a time word, who asks how many a number.

    May be negative: it is a prior, added as it is.
    """
    weights = np.array([1.0, -1.0, float(wants_time(question)), float(wants_number(question))], dtype=np.float32)
    found = np.zeros(len(view.visible), dtype=np.float32)
    for passages in view.passages():
        known = passages.nodes()
        nodes = known[view.visible[known]]
        found[nodes] = 0.3 * (passages.shapes(nodes) @ weights)
    return found


def _norms(passages: Passages, turns: NDArray[np.int32], beside: NDArray[np.int32], view: View) -> Signal:
    """(len(turns),) lengths of the sums of three turns; worked out once for each window and kept until it changes."""
    missing = np.isnan(passages.norms[turns])
    if missing.any():
        vectors = view.indexes.vectors["memory"]
        new, around = turns[missing], beside[missing]
        summed = vectors.vectors(new)
        for side in (0, 1):
            there = around[:, side] >= 0
            summed[there] += vectors.vectors(around[there, side])
        passages.norms[new] = np.maximum(np.linalg.norm(summed, axis=1), 1e-6)
    return passages.norms[turns]


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
