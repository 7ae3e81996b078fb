"""
Estimate how surely a memory answers a question, and whether any memory does: what is below is cut, and an empty answer is possible.

    relevance(m) = open · fit(m),   open = σ(a · q),   fit(m) = σ(b · f(m))

`open` says whether the scope answers the question at all, `fit` whether this memory is the answer. Both are read from few features
(`FEATURES`): how near the memories are, how many of the question's words they have, which claims they state, how the text speaks
(`text.asking`), and whether the property that it asks for is told (`properties`).

What surely states the asked claim opens the answer; so does what is known of whom the question names, if it asks for nothing in
particular. What is claimed of another owner alone, or is no fact, is no answer.

*But:* a question of the right kind about the right thing passes even if nobody ever said the answer: one has to read the memories
to know. Names are recognised by their capitals; the words are English.

*Source:* `tests/bench/relevance.py` fits the tables, a logistic regression for each half; docs/recall.md has the rates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.iris import user_of
from memento.model import Scored
from memento.retrieval.chains import CLOSE, END
from memento.retrieval.owners import READ, find_barred
from memento.retrieval.properties import Property, find_property
from memento.retrieval.question import Question, find_named, is_first_person, list_names, wants_number, wants_time
from memento.retrieval.wording import list_held, measure_names, measure_share, stems_of, weigh_words
from memento.search.grains import find_people
from memento.search.indexes import View
from memento.search.postings import split_words, tokens
from memento.settings import GateSettings
from memento.text.asking import asks_in_particular, is_told, read_form

LOOKED_AT = 25
"""Minimum number of best memories that are judged, however few are requested."""

Values = NDArray[np.float64]
Texts = Callable[[Sequence[int]], Mapping[int, str]]
"""Reads the contents of some memories."""

_LEAST = 0.05
"""Cosine below which all memories count as equally far."""
_SIZE = 600
_FEW, _FEW_CUT = 3, 16
"""The number of first memories that are cut only below a sixteenth of the usual fitness: the best is often among them."""
_TRUSTED = 6
"""The number of best memories with the name asked about, one of which must tell the property asked for."""

FEATURES = {
    "unfilled": ("no memory of it has the property asked for", "it has not the property asked for"),
    "strange": ("it names somebody or something unheard of", ""),
    "chat": ("it asks nothing of what is known", ""),
    "topic": ("nothing is near what it asks about", ""),
    "cosine": ("nothing is near it", "it is far from the question"),
    "covered": ("no memory has its words", "it has few of the question's words"),
    "score": ("", "it scores less"),
    "kind": ("", "it names no such time or number"),
}
"""The features, each with what it says against a question, and against a memory beside the best one; "" where it is none there."""
_TELLING, _SAID = 0.3, 3
_TYPICAL = {"cosine": log(0.45), "topic": log(0.4), "covered": log(0.45)}
"""The medians of these features for questions with an answer; 0 for the others."""

LOOSE = 0.5
"""How well a claim fits a question whose relation says little, such as "use"."""

SURELY_KNOWN, KNOWN, HARDLY_KNOWN = 0.35, 0.25, 0.1
"""
Cosines of question and memory, both with the names masked, from which a memory about somebody known answers: whatever else speaks
against it; if it does not lack a property of the table; if the other features of the question are for an answer.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """
    The weights of the features for one family of embedders, and the thresholds from which an answer is open and a memory is kept.
    """

    openness: Mapping[str, float]
    fitness: Mapping[str, float]
    opens: float
    keeps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The relevance of the best memories: `openness` and each `fitness` in 0..1 (0 is never kept), and which memories are kept."""

    openness: float
    fitness: Values
    is_open: bool
    keeps: float
    against: tuple[str, ...] = ()
    """The reasons against the question as a whole, in words, the strongest first."""
    missing: tuple[tuple[str, ...], ...] = ()
    """(n,) for each memory, the features in which it is below the best one, in words."""

    @property
    def relevance(self) -> Values:
        """Return (n,) how surely each memory answers the question, 0..1."""
        return self.openness * self.fitness

    def is_kept(self, place: int, fitness: float) -> bool:
        """Tell whether a memory of this fitness at this position belongs to the answer: the first few are cut late."""
        least = self.keeps * (1 / _FEW_CUT if place < _FEW else 1) * float(self.fitness.max(initial=0.0))
        return self.is_open and fitness > 0 and (place == 0 or fitness >= least)


def judge(
    question: Question,
    chosen: Sequence[Scored[int]],
    signals: Mapping[str, NDArray[np.float32]],
    fingerprint: str,
    settings: GateSettings,
    read: Texts,
) -> Judgement:
    """Return the relevance of the best memories, best first; `signals` holds the signals so far, at least `meaning`."""
    calibration = choose_calibration(fingerprint)
    asked, fits, barred = measure_features(question, chosen, signals, read)
    openness = float(_squash(sum(calibration.openness.get(name, 0.0) * value for name, value in asked.items())))
    total = np.sum([calibration.fitness.get(name, 0.0) * values for name, values in fits.items()], axis=0)
    limit = calibration.opens
    if settings.base > 0:
        limit = max(settings.floor, settings.base + settings.slope * log(max(question.view.population, 1) / _SIZE))
    if chosen and "claim" in signals and signals["claim"][chosen[0].item] >= LOOSE:
        limit /= 2  # what the best memory states is of the relation that is asked for
    answers = find_answering(chosen, signals) & ~barred
    of_kind = find_asked_kind(question, chosen, fits) & ~barred
    is_open = openness >= limit or bool(answers[:5].any() or of_kind.any())
    if "named" in signals:
        named = signals["named"].copy()
        named[[one.item for one, is_none in zip(chosen, barred, strict=True) if is_none]] = 0.0
        is_open = is_known(question, named, is_open, has_property=not asked["unfilled"])
    fitness = _squash(total)
    fitness = np.where(answers, np.maximum(fitness, fitness.max(initial=0.0)), fitness)
    is_alone = bool(of_kind.any()) and read_form(question.text).is_whether
    fitness = np.where(barred | (is_alone & ~of_kind), 0.0, fitness)
    return Judgement(
        openness=openness,
        fitness=fitness,
        is_open=is_open and not barred.all(),
        keeps=settings.keep or calibration.keeps,
        against=_weigh_against(asked, calibration.openness),
        missing=_find_missing(fits, calibration.fitness, total),
    )


def _weigh_against(asked: Mapping[str, float], weights: Mapping[str, float]) -> tuple[str, ...]:
    shares = {
        name: weights.get(name, 0.0) * (asked[name] - _TYPICAL.get(name, 0.0)) for name in asked if name in FEATURES
    }
    return tuple(
        FEATURES[name][0] for name in sorted(shares, key=lambda name: shares[name]) if shares[name] < -_TELLING
    )[:_SAID]


def _find_missing(
    fits: Mapping[str, Values], weights: Mapping[str, float], total: Values
) -> tuple[tuple[str, ...], ...]:
    if not total.size:
        return ()
    best = int(total.argmax())
    shares = {name: weights.get(name, 0.0) * (fits[name] - fits[name][best]) for name in fits if name in FEATURES}
    return tuple(
        tuple(
            FEATURES[name][1]
            for name in sorted(shares, key=lambda name: float(shares[name][place]))
            if shares[name][place] < -_TELLING
        )[:_SAID]
        for place in range(len(total))
    )


def find_answering(chosen: Sequence[Scored[int]], signals: Mapping[str, NDArray[np.float32]]) -> NDArray[np.bool_]:
    """Return (n,) which memories state the claim that is asked for, or stand at the end of the best path of claims."""
    nodes = np.array([one.item for one in chosen], dtype=np.int32)
    found = np.zeros(len(nodes), dtype=np.bool_)
    for name, least in (("claim", CLOSE), ("path", END)):
        if name in signals:
            found |= signals[name][nodes] > least
    return found


def is_known(question: Question, named: NDArray[np.float32], is_open: bool, *, has_property: bool) -> bool:
    """
    Tell whether what is known of those whom a question names answers it: always if it asks for nothing in particular, such as "Tell
    me about Ana" or "I'm meeting Ana"; for people, if a memory about them is near; for others, if the question `is_open`.

    Args:
        is_open: whether the question is open by its other features; then a memory that is less near suffices.
        has_property: whether a memory has the property that is asked for, if it is one of the table.
    """
    if not asks_in_particular(question.text, [one.label for one in question.asked]):
        return True
    meant = [label for one in question.asked for label in one.meant]
    if not (find_people(meant) or question.has_full_name):
        return is_open
    nodes = np.flatnonzero(question.view.visible & (named > 0)).tolist()
    near = float(named[nodes].max(initial=0.0)) / question.surety
    if is_open:  # the mask of a long text says little
        return near >= HARDLY_KNOWN or question.view.indexes.vectors["memory"].has_several(nodes)
    return near >= (KNOWN if has_property else SURELY_KNOWN)


def find_asked_kind(question: Question, chosen: Sequence[Scored[int]], fits: Mapping[str, Values]) -> NDArray[np.bool_]:
    """Return (n,) which memories about the user name something of the kind that the question asks for, as in "any pets"."""
    nodes = np.array([one.item for one in chosen], dtype=np.int32)
    asked = find_asked_property(question)
    if asked is None or not asked.opens or not (own := find_own(question.text, question.view)).any():
        return np.zeros(len(nodes), dtype=np.bool_)
    return np.array(np.logical_and(own[nodes] > 0, fits["unfilled"] == 0), dtype=np.bool_)


def find_asked_property(question: Question) -> Property | None:
    """Return the property of the table that a question asks for."""
    return find_property(question.text, question.asking.reading) if question.asking else None


def find_own(text: str, view: View) -> NDArray[np.float32]:
    """Return 1 for memories about the user, if the question says "I" or "my" or names the user."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    user = user_of(view.graphs[0])
    node = view.indexes.nodes.find(user)
    if node is not None and (is_first_person(text) or find_named(text, [view.indexes.name(user)])):
        found[view.indexes.adjacency.memories(node)] = 1.0
    return found


def choose_calibration(fingerprint: str) -> Calibration:
    """Return the calibration of an embedder's family; for an unknown family, the one that uses no cosine."""
    return next((found for family, found in CALIBRATED.items() if fingerprint.startswith(family)), CALIBRATED[""])


def describe_gate(fingerprint: str, settings: GateSettings) -> str:
    """Describe the gate for a status report."""
    if not settings.on:
        return "off"
    family = next(family for family in CALIBRATED if fingerprint.startswith(family))
    return "on" if family else f"on, by words alone: no cosines are calibrated for {fingerprint}"


def measure_features(
    question: Question, chosen: Sequence[Scored[int]], signals: Mapping[str, NDArray[np.float32]], read: Texts
) -> tuple[dict[str, float], dict[str, Values], NDArray[np.bool_]]:
    """
    Return the features, by name, from which the openness of a question and (n,) the fitness of its best memories are judged; and
    (n,) which of these are no answer whatever else fits.
    """
    view, nodes = question.view, np.array([one.item for one in chosen], dtype=np.int32)
    postings = view.indexes.words(view.graphs, "memory")
    words_of = weigh_words(question.stripped, postings)
    names = list_names(question.text)
    named = {term for name in names for term in tokens(name)}
    topic = {term: weight for term, weight in words_of.items() if term not in named}
    held = list_held(words_of, nodes, postings)
    cosine = signals["meaning"][nodes].astype(np.float64)
    score = np.array([one.score for one in chosen])
    asked_for = find_asked_property(question)
    texts = read(nodes.tolist() if asked_for else nodes[:READ].tolist())
    said = [texts.get(node, "") for node in nodes.tolist()]
    barred = find_barred(question, asked_for, nodes, said)
    lacking = np.array([asked_for is not None and not asked_for.is_told_by(text) for text in said], dtype=np.float64)
    lacking = np.maximum(lacking, barred) if asked_for else lacking
    is_named = [not named or bool(some) for some in list_held(named, nodes, postings)]
    of_it = np.array(is_named, dtype=np.bool_) | ~lacking.any()  # else any memory may answer
    if "subject" in signals:
        of_it |= signals["subject"][nodes] > 0
    of_it &= ~barred
    covers = np.array([measure_share(topic, some) for some in held])
    rest = _compare_topic(question, nodes, cosine)
    is_idle = not names and words_of.keys() <= stems_of("asking") | stems_of("courtesy")
    asked = {
        "bias": 1.0,
        "cosine": _log(cosine[~barred].max(initial=0.0)),
        "topic": _log(rest[of_it].max(initial=0.0)),
        "covered": log(covers[of_it].max(initial=_LEAST)),
        "strange": 1.0 - measure_names(question.text, view.participants(), postings),
        "chat": measure_chat(question.text) + (is_idle and read_form(question.text).is_pointing),
        "unfilled": float(lacking.any() and lacking[of_it][:_TRUSTED].all()),
    }
    shapes = _read_shapes(question, nodes)
    no_time, no_number = 1.0 - shapes[:, 2], 1.0 - shapes[:, 3]
    fits = {
        "bias": np.ones(len(nodes)),
        "cosine": cosine - cosine.max(initial=0.0),
        "score": score / max(score.max(initial=0.0), 1e-9),
        "covered": np.array([measure_share(words_of, some) for some in held]),
        "kind": np.maximum(no_time * wants_time(question.text), no_number * wants_number(question.text)),
        "unfilled": lacking,
    }
    return asked, fits, barred


def measure_chat(text: str) -> float:
    """
    Measure how much of a text asks nothing of what is known: it tells something or wants it done, addresses the one who answers,
    reacts to what was just said, or is made of courtesy.

    >>> [round(measure_chat(text), 1) for text in ("Where do I live?", "How are you?", "Thanks, great!")]
    [0.0, 1.0, 2.0]
    """
    form = read_form(text)
    return float(is_told(text)) + form.is_addressed + form.is_reaction + measure_courtesy(text)


def measure_courtesy(text: str) -> float:
    """
    Measure the share of a text's words that are courtesy.

    >>> measure_courtesy("Thanks, Ana!"), measure_courtesy("Where do I live?")
    (0.5, 0.0)
    """
    said = split_words(text)
    return sum(not stems_of("courtesy").isdisjoint(tokens(word)) for word in said) / max(len(said), 1)


def _compare_topic(question: Question, nodes: NDArray[np.int32], cosine: Values) -> Values:
    """Return (n,) the cosine of each memory with the question without its names."""
    if question.topic is None:
        return cosine
    index = question.view.indexes.vectors["memory"]
    return np.maximum(index.cosines(nodes, question.topic), 0.0).astype(np.float64)


def _read_shapes(question: Question, nodes: NDArray[np.int32]) -> NDArray[np.float32]:
    shapes = np.zeros((len(nodes), 4), dtype=np.float32)
    for passages in question.view.passages():
        there = np.array([passages.has(node) for node in nodes.tolist()], dtype=np.bool_)
        if there.any():
            shapes[there] = passages.shapes(nodes[there])
    return shapes


def _log(cosine: float) -> float:
    return log(max(float(cosine), _LEAST))


def _squash(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -30, 30)))


CALIBRATED: Mapping[str, Calibration] = {
    "all-MiniLM-L6-v2": Calibration(
        openness={
            "bias": 3.27,
            "cosine": 1.41,
            "topic": 1.24,
            "covered": 0.74,
            "strange": -1.52,
            "chat": -2.77,
            "unfilled": -2.5,
        },
        fitness={"bias": -3.92, "score": 3.07, "cosine": 3.03, "covered": 1.33, "kind": -0.48, "unfilled": -0.26},
        opens=0.18,
        keeps=0.35,
    ),
    "": Calibration(
        openness={"bias": 1.28, "covered": 1.07, "strange": -1.99, "chat": -3.12, "unfilled": -2.5},
        fitness={"bias": -5.07, "score": 4.08, "covered": 1.4, "kind": -0.56, "unfilled": -0.22},
        opens=0.16,
        keeps=0.35,
    ),
}
"""By the beginning of the embedder's fingerprint; the last entry, without cosines, is for all others."""
