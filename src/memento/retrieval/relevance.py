"""
Estimate how surely a memory answers a question, and whether any memory does: what is below is cut, and an empty answer is possible.

    relevance(m) = open · fit(m),   open = σ(a · q),   fit(m) = σ(b · f(m))

`open` says whether the scope answers the question at all. It depends on the best cosine, with and without the names, and its
distance to the fifth; on the share of the question's words, by idf, that occur in any memory and in a single one; on names that no
memory has; and on whether the text is a question, a statement or an exclamation, how polite it is, and whom it addresses. `fit`
says whether this memory is the answer. It depends on its cosine and its score relative to the best, on its words, on whether it is
about or said by what the question names, and on whether it contains the date or number asked for. Words that only say what kind of
answer is wanted count little, words of courtesy hardly at all, and everyday synonyms count as the same word.

Both check whether a property that is often asked for, such as a phone number or a birthday, is filled: by a text of its form, in a
memory that has the name asked about. A question about an attribute of something ("what is Ada's …") is answered less often than
others.

A question of the user about the user stays open if a memory fills the property that it asks for, or names something of the kind
that it asks for ("any pets").

*But:* a question of the right kind about the right thing passes even if nobody ever said the answer: one has to read the memories
to know. Names are recognised by their capitals; the words are English.

*Source:* `tests/bench/relevance.py` fits the tables, a logistic regression for each half; docs/recall.md has the rates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.assets import lexicon
from memento.iris import user_of
from memento.model import Scored
from memento.retrieval.chains import CLOSE, END, LOOSE
from memento.retrieval.question import (
    Question,
    find_named,
    is_first_person,
    list_names,
    list_short_forms,
    wants_number,
    wants_time,
)
from memento.search.grains import MASK, find_people, mask_names
from memento.search.indexes import View
from memento.search.postings import Postings, tokens
from memento.settings import GateSettings
from memento.text.tables import LEXICON, Row, alternatives, compile_pattern, entries, fill
from memento.text.words import ONE_OF_A_KIND, RELATIVES, STOP_WORDS

LOOKED_AT = 25
"""Minimum number of best memories that are judged, however few are requested."""

Values = NDArray[np.float64]
Texts = Callable[[Sequence[int]], Mapping[int, str]]
"""Reads the contents of some memories."""

_ASKING, _COURTESY = 0.4, 0.1
"""The weight of a question word and of a word of courtesy relative to a word that names something."""
_SPARE = 0.5
"""Weight added to every question's words, so that a single word decides nothing."""
_LEAST = 0.05
"""Cosine below which all memories count as equally far."""
_SIZE, _LEAST_SIZE = 600, 30
_KEYWORDS = 4
"""Maximum number of words in a text that counts as a search, not as a sentence."""
_FEW, _FEW_CUT = 3, 16
"""The number of first memories that are cut only below a sixteenth of the usual fitness: the best is often among them."""
_FIFTH = 4
_TRUSTED = 6
"""The number of best memories with the name asked about, one of which must fill the property asked for."""

_WORD = re.compile(r"[^\W_]+")
_SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_ASKED = re.compile(
    r"^(?:(?:and|so|but|ok|okay|hey|well|btw|please)[,\s]+)*(?:(?:who|whom|whose|what|when|where|why|how|which|any|tell|list|show|remind"
    r"|find|give)\b|(?:do|does|did|am|is|are|was|were|can|could|would|will|should|shall|may|have|has|had)\s+(?:i|we|he|she|it|they|you|my"
    r"|our|the|there|any)\b)",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"^\W*(?:(?:and|so|but|ok|okay|hey|well)[,\s]+)*(?:do|does|did|am|is|are|have|has|had|any)\b", re.IGNORECASE
)
"""A question whether there is a thing, answered only by a memory that names one."""
_OF_ANOTHER = re.compile(
    rf"^(?:USER['’]s|[Mm]y|[Oo]ur)\s+(?:[a-z-]+\s+)?(?:{alternatives(RELATIVES | ONE_OF_A_KIND)})\b(?:\s+(?-i:[A-Z])[\w-]+)*"
)
"""The beginning of a memory about somebody close to the user."""
_YOU = re.compile(r"\b(?:you|your|yours|ya|u)\b", re.IGNORECASE)
_SPAN_NAMED = re.compile(
    r"\b(?:this|these|that)\s+(?:days?|weeks?|months?|years?|morning|evening|time|spring|summer|autumn|winter)\b",
    re.IGNORECASE,
)
"""Words that refer to a time and not to something said before."""
_POINTING = re.compile(r"\b(?:it|its|they|them|their|that|this|those|these|he|she|him|her|there)\b", re.IGNORECASE)


_ATTRIBUTE = re.compile(
    r"^\W*(?:what|when|who)(?:['’]s|\s+(?:is|are|was|were))\b.*?(?:['’]s|\b(?:my|our|his|her|their|the|its))\s+(?:[\w-]+\s+){0,2}[\w-]+"
    r"\s*(?:\?|$|\b(?:of|for|in|at|on|from|to|called|with)\b)",
    re.IGNORECASE,
)


class Property(Row, frozen=True, kw_only=True):
    """
    A property that is often asked for: patterns of memories that fill it, and that do not; `opens` if such a memory opens the
    question.
    """

    filled: str
    lacks: str
    opens: bool = False


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
    asked, fits = measure_features(question, chosen, signals, read)
    openness = float(_squash(sum(calibration.openness.get(name, 0.0) * value for name, value in asked.items())))
    total = np.sum([calibration.fitness.get(name, 0.0) * values for name, values in fits.items()], axis=0)
    limit = calibration.opens
    if settings.base > 0:
        limit = max(settings.floor, settings.base + settings.slope * log(max(question.view.population, 1) / _SIZE))
    stated = float(signals["claim"][chosen[0].item]) if chosen and "claim" in signals else 0.0
    if stated >= LOOSE:
        limit /= 2  # what the best memory states is of the relation that is asked for
    of_kind = find_asked_kind(question, chosen, signals, fits)
    is_open = openness >= limit or bool(find_answering(chosen[:5], signals).any()) or bool(of_kind.any())
    fitness = _squash(total)
    answering = find_answering(chosen, signals)
    fitness = np.where(answering, np.maximum(fitness, fitness.max(initial=0.0)), fitness)
    if "named" in signals:
        is_known_of = is_known(question, signals["named"], is_open, has_property=not asked["unfilled"])
        is_open = is_known_of or (is_open and stated > LOOSE)
    is_alone = bool(of_kind.any()) and _WHETHER.match(question.text) is not None
    return Judgement(
        openness=openness,
        fitness=np.where(of_kind, fitness, 0.0) if is_alone else fitness,
        is_open=is_open,
        keeps=settings.keep or calibration.keeps,
        against=_weigh_against(asked, calibration.openness),
        missing=_find_missing(fits, calibration.fitness, total),
    )


AGAINST = {
    "unfilled": "no memory of it has the property asked for",
    "strange": "it names somebody or something unheard of",
    "told": "nothing is asked",
    "addressed": "it asks the one who answers",
    "courtesy": "it is made of courtesy",
    "reacting": "it reacts to what was just said",
    "pointing": "it points at something said before",
    "topic cosine": "nothing is near what it asks about",
    "cosine": "nothing is near it",
    "topic covered": "no memory has its words",
    "ahead": "all memories are equally near",
}
"""The message for a feature of a question that speaks against an answer."""
MISSING = {
    "unfilled": "it has not the property asked for",
    "cosine": "it is far from the question",
    "behind": "it is farther than the best",
    "score": "it scores less",
    "covered": "it has few of the question's words",
    "subject": "it is not about what is named",
    "no time": "it names no time",
    "no number": "it has no number",
}
"""The message for a feature in which a memory is below the best one."""
_TELLING, _SAID = 0.3, 3
_TYPICAL = {"cosine": log(0.45), "topic cosine": log(0.4), "topic covered": log(0.45), "ahead": 0.15}
"""The medians of these features for questions with an answer; 0 for the others."""


def _weigh_against(asked: Mapping[str, float], weights: Mapping[str, float]) -> tuple[str, ...]:
    shares = {name: weights.get(name, 0.0) * (asked[name] - _TYPICAL.get(name, 0.0)) for name in AGAINST}
    return tuple(AGAINST[name] for name in sorted(shares, key=lambda name: shares[name]) if shares[name] < -_TELLING)[
        :_SAID
    ]


def _find_missing(
    fits: Mapping[str, Values], weights: Mapping[str, float], total: Values
) -> tuple[tuple[str, ...], ...]:
    if not total.size:
        return ()
    best = int(total.argmax())
    shares = {name: weights.get(name, 0.0) * (fits[name] - fits[name][best]) for name in MISSING}
    return tuple(
        tuple(
            MISSING[name]
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


SURELY_KNOWN, KNOWN, HARDLY_KNOWN = 0.35, 0.25, 0.1
"""
Cosines of question and memory, both with the names masked, from which a memory about somebody known answers: whatever else speaks
against it; if it does not lack a property of the table; if the other features of the question are for an answer.
"""
_GENERAL = re.compile(
    r"\b(?:know|knew|remember|recall|tell|remind|give|show|list|find|hear|heard|everything|anything|something|all|about|who|what|do|you)\b",
    re.IGNORECASE,
)
"""Words of a question that asks for whatever is known."""
_REQUEST = re.compile(r"^\W*(?:please\s+)?(?:can|could|would|will)\s+you\b", re.IGNORECASE)


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


def asks_in_particular(text: str, labels: Sequence[str]) -> bool:
    """
    Tell whether a text asks for something particular about what it names, rather than for all, or for something to be done.

    >>> asks_in_particular("Where does Ana Ray work?", ["ana ray"]), asks_in_particular("What do you know about Ana?", ["ana"])
    (True, False)
    >>> asks_in_particular("I'm meeting Ana tomorrow", ["ana"]), asks_in_particular("Can you write to Ana?", ["ana"])
    (False, False)
    """
    if not _ASKED.match(text) or _REQUEST.match(text):
        return False
    rest = _GENERAL.sub(" ", mask_names(text, labels))
    return any(word not in STOP_WORDS and word != MASK for word in map(str.casefold, _WORD.findall(rest)))


def find_asked_kind(
    question: Question,
    chosen: Sequence[Scored[int]],
    signals: Mapping[str, NDArray[np.float32]],
    fits: Mapping[str, Values],
) -> NDArray[np.bool_]:
    """
    Return (n,) which memories about the user, or about whom the question names, name something of the kind that it asks for, as in
    "any pets".
    """
    nodes = np.array([one.item for one in chosen], dtype=np.int32)
    asked = find_property(question.text)
    if asked is None or not asked[0].opens:
        return np.zeros(len(nodes), dtype=np.bool_)
    own = find_own(question.text, question.view)
    if "named" in signals:
        own = np.maximum(own, signals["named"])
    return np.array(np.logical_and(own[nodes] > 0, fits["unfilled"] == 0), dtype=np.bool_)


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
) -> tuple[dict[str, float], dict[str, Values]]:
    """
    Return the features, by name, from which the openness of a question and (n,) the fitness of its best memories are judged.

    Args:
        read: called only if the question asks for a property of the table.
    """
    view, nodes = question.view, np.array([one.item for one in chosen], dtype=np.int32)
    postings = view.indexes.words(view.graphs, "memory")
    words = weigh_words(question.stripped, postings)
    names = list_names(question.text)
    named = {term for name in names for term in tokens(name)}
    topic = {term: weight for term, weight in words.items() if term not in named}
    heard = {term for term in words if any(_frequency(form, postings) for form in _forms(term))}
    held = list_held(words, nodes, postings)
    covers = np.array([_share(words, some) for some in held])
    about = np.array([_share(topic, some) for some in held])
    cosine = signals["meaning"][nodes].astype(np.float64)
    rest = _compare_topic(question, nodes, cosine)
    score = np.array([one.score for one in chosen])
    found = {name: _take_signal(name, signals, nodes) for name in ("speaker", "subject", "link")}
    shapes = _read_shapes(question, nodes)
    lacking = _find_lacking(question.text, nodes, read)
    lacking = np.where(
        _take_signal("claim", signals, nodes) > LOOSE, 0.0, lacking
    )  # what states the relation has the property
    is_named = [not named or bool(some) for some in list_held(named, nodes, postings)]
    of_it = np.array(is_named, dtype=np.bool_) | (found["subject"] > 0) | ~lacking.any()  # else any memory may answer
    asked = {
        "bias": 1.0,
        "cosine": _log(cosine.max(initial=0.0)),
        "topic cosine": _log(rest[of_it].max(initial=0.0)),
        "known": log(_share(words, heard)),
        "topic known": log(_share(topic, heard)),
        "covered": log(covers[of_it].max(initial=_LEAST)),
        "topic covered": log(about[of_it].max(initial=_LEAST)),
        "size": log(max(view.population, _LEAST_SIZE) / _SIZE),
        "strange": 1.0 - measure_names(question.text, view.participants(), postings),
        "told": float(is_told(question.text)),
        "addressed": float(bool(_YOU.search(question.text)) and not is_first_person(question.text)),
        "courtesy": measure_courtesy(question.text),
        "reacting": float(is_reaction(question.text)),
        "pointing": float(points_back(question.text) and not names and words.keys() <= _idle()),
        "speaker": float(found["speaker"].max(initial=0.0)),
        "ahead": _lead(cosine),
        "unfilled": float(lacking.any() and lacking[of_it][:_TRUSTED].all()),
        "attribute": float(asks_for_attribute(question.text)),
    }
    fits = {
        "bias": np.ones(len(nodes)),
        "cosine": cosine,
        "behind": cosine - cosine.max(initial=0.0),
        "score": score / max(score.max(initial=0.0), 1e-9),
        "covered": covers,
        "speaker": found["speaker"],
        "subject": found["subject"],
        "link": (found["link"] > 0).astype(np.float64),
        "no time": (1.0 - shapes[:, 2]) * wants_time(question.text),
        "no number": (1.0 - shapes[:, 3]) * wants_number(question.text),
        "unfilled": lacking,
    }
    return asked, fits


def weigh_words(question: str, postings: Sequence[Postings]) -> dict[str, float]:
    """
    Return the stems of a question with their weights: their idf, less for question words and words of courtesy.

    >>> words = Postings()
    >>> words.add(1, "green tea"); words.add(2, "black tea")
    >>> {stem: round(weight, 2) for stem, weight in weigh_words("Which kind of green tea, please?", [words]).items()}
    {'kind': 0.72, 'green': 0.69, 'tea': 0.18, 'pleas': 0.18}
    """
    n = sum(words.population for words in postings)
    weights = {}
    for term in dict.fromkeys(tokens(question)):
        if not _SPACELESS.search(term):
            df = _frequency(term, postings)
            share = _COURTESY if term in _stems("courtesy") else _ASKING if term in _stems("asking") else 1.0
            weights[term] = share * log1p((n - df + 0.5) / (df + 0.5))  # a word that no memory has weighs most
    return weights


def find_topic(question: str) -> str:
    """
    Return a question without its names, or the whole question if little else is left: a common name alone makes texts similar.

    >>> find_topic("When is Angela's birthday?"), find_topic("Who is Bob?")
    ('When is birthday?', 'Who is Bob?')
    """
    names = list_names(question)
    if not names:
        return question
    forms = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    rest = " ".join(re.sub(rf"\b(?:{forms})\b(?:['’]s)?", " ", question).split())
    return rest if tokens(rest) else question


def measure_names(question: str, people: Collection[str], postings: Sequence[Postings]) -> float:
    """
    Return the share of the capitalised words after the first that occur in a scope; 1 when there are none. Dates are not names.

    >>> words = Postings()
    >>> words.add(1, "Anna likes tea.")
    >>> measure_names("Did Anna meet Bob in May?", [], [words]), measure_names("Who is Ben?", ["Ben Ray"], [words])
    (0.5, 1.0)
    >>> measure_names("who?", [], [])
    1.0
    """
    names = list_names(question)
    if not names:
        return 1.0
    forms = {part.casefold() for form in list_short_forms(people) for part in form.split()}
    heard = [
        name.casefold() in forms or any(words.frequency(term) for term in tokens(name) for words in postings)
        for name in names
    ]
    return sum(heard) / len(heard)


def is_told(text: str) -> bool:
    """
    Tell whether a text states something rather than asks for it; a few words alone count as a search.

    >>> is_told("I went hiking in May yesterday."), is_told("where did I hike"), is_told("Great! And who was there?")
    (True, False, False)
    >>> is_told("Thanks!"), is_told("landlord's phone number")
    (True, False)
    """
    is_said = len(_WORD.findall(text)) > _KEYWORDS or "!" in text or measure_courtesy(text) > 0
    return is_said and "?" not in text and not _ASKED.match(text)


def points_back(text: str) -> bool:
    """
    Tell whether a text refers to something said before, and not only to a time.

    >>> points_back("What is it like?"), points_back("Where am I living these days?")
    (True, False)
    """
    return _POINTING.search(_SPAN_NAMED.sub(" ", text)) is not None


def is_reaction(text: str) -> bool:
    """
    Tell whether somebody reacts to what was just said and then asks about it, and not about themselves.

    >>> is_reaction("Looks cool! Is it more of a game?"), is_reaction("Hi! Where do I live?"), is_reaction("Who won?")
    (True, False, False)
    """
    before, _, asked = text[: text.rfind("?") + 1].rpartition("!")
    return bool(before) and not is_first_person(asked)


def asks_for_attribute(question: str) -> bool:
    """
    Tell whether a question asks for an attribute of something.

    >>> asks_for_attribute("What is Ada's shoe size?"), asks_for_attribute("When is the deadline for it?")
    (True, True)
    >>> asks_for_attribute("What does Ada wear?"), asks_for_attribute("Where is my coat?")
    (False, False)
    """
    return _ATTRIBUTE.match(question) is not None


@lru_cache(maxsize=1)
def list_properties() -> tuple[tuple[Property, re.Pattern[str], re.Pattern[str]], ...]:
    """
    Return the properties of the table, each with the pattern of questions that ask for it and the pattern of memories that fill it.
    """
    rows = entries(LEXICON / "properties.toml", Property, {}, flags=re.IGNORECASE)
    return tuple((one.row, one.pattern, compile_pattern(fill(one.row.filled, {}), re.IGNORECASE)) for one in rows)


def find_property(question: str) -> tuple[Property, re.Pattern[str]] | None:
    """
    Return the first row of the table that a question asks for, and the pattern of memories that fill it.

    >>> found = find_property("What is Ada's shoe size?")
    >>> bool(found[1].search("Ada takes size 39.")), find_property("What does Ada wear?")
    (True, None)
    """
    return next(((row, filled) for row, asked, filled in list_properties() if asked.search(question)), None)


def measure_courtesy(text: str) -> float:
    """
    Return the share of a text's words that are words of courtesy.

    >>> measure_courtesy("Thanks, that was great!"), measure_courtesy("Where do I live?")
    (0.5, 0.0)
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    return sum(not _stems("courtesy").isdisjoint(tokens(word)) for word in words) / max(len(words), 1)


def _compare_topic(question: Question, nodes: NDArray[np.int32], cosine: Values) -> Values:
    """Return (n,) the cosine of each memory with the question without its names."""
    if question.topic is None:
        return cosine
    index = question.view.indexes.vectors["memory"]
    return np.maximum(index.cosines(nodes, question.topic), 0.0).astype(np.float64)


def _lead(cosine: Values) -> float:
    """Return the distance from the best cosine to the fifth, or to the last: if all are equally near, nothing answers."""
    ordered = np.sort(cosine)[::-1]
    return float(ordered[0] - ordered[: _FIFTH + 1][-1]) if len(ordered) else 0.0


def _read_shapes(question: Question, nodes: NDArray[np.int32]) -> NDArray[np.float32]:
    shapes = np.zeros((len(nodes), 4), dtype=np.float32)
    for passages in question.view.passages():
        there = np.array([passages.has(node) for node in nodes.tolist()], dtype=np.bool_)
        if there.any():
            shapes[there] = passages.shapes(nodes[there])
    return shapes


def _find_lacking(question: str, nodes: NDArray[np.int32], read: Texts) -> Values:
    """Return (n,) 1 for each memory without the property asked for; 0 everywhere if the question asks for none of the table."""
    found = find_property(question)
    if found is None:
        return np.zeros(len(nodes))
    texts = read(nodes.tolist())
    return np.array([float(not _fills(texts.get(node, ""), *found)) for node in nodes.tolist()])


def _fills(text: str, row: Property, filled: re.Pattern[str]) -> bool:
    """Tell whether a memory fills a property; "USER's aunt has a van" does not fill one of the user."""
    match = filled.search(text)
    if match is None or not row.opens:
        return match is not None
    other = _OF_ANOTHER.match(text)
    return other is None or match.start() < other.end()


def _take_signal(name: str, signals: Mapping[str, NDArray[np.float32]], nodes: NDArray[np.int32]) -> Values:
    return signals[name][nodes].astype(np.float64) if name in signals else np.zeros(len(nodes))


def _share(weights: Mapping[str, float], some: Collection[str]) -> float:
    return (sum(weights[term] for term in weights if term in some) + _SPARE) / (sum(weights.values()) + _SPARE)


def list_held(terms: Collection[str], nodes: NDArray[np.int32], postings: Sequence[Postings]) -> list[set[str]]:
    """Return for each memory which of the terms it has in some form."""
    held: list[set[str]] = [set() for _ in nodes]
    for words in postings:
        forms = {term: {words.vocabulary.key(form) for form in _forms(term)} for term in terms}
        for some, node in zip(held, nodes.tolist(), strict=True):
            keys = set(words.keys(node))
            some |= {term for term, known in forms.items() if not known.isdisjoint(keys)}
    return held


def _frequency(term: str, postings: Sequence[Postings]) -> int:
    return sum(words.document_frequency(term) for words in postings)


def _forms(term: str) -> frozenset[str]:
    return _synonyms().get(term, frozenset((term,)))


@lru_cache(maxsize=1)
def _synonyms() -> Mapping[str, frozenset[str]]:
    """Return each stem of the table with its synonyms."""
    found: dict[str, frozenset[str]] = {}
    for line in lexicon("synonyms"):
        group = frozenset(tokens(line))
        for term in group:
            found[term] = found.get(term, frozenset()) | group
    return found


@lru_cache(maxsize=4)
def _stems(name: str) -> frozenset[str]:
    return frozenset(term for line in lexicon(name) for term in tokens(line))


@lru_cache(maxsize=1)
def _idle() -> frozenset[str]:
    """Return the stems that name nothing."""
    return _stems("asking") | _stems("courtesy")


def _log(cosine: float) -> float:
    return log(max(float(cosine), _LEAST))


def _squash(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -30, 30)))


CALIBRATED: Mapping[str, Calibration] = {
    "all-MiniLM-L6-v2": Calibration(
        openness={
            "bias": 2.15,
            "cosine": 0.81,
            "topic cosine": 1.27,
            "known": -0.12,
            "topic known": 0.19,
            "covered": 0.36,
            "topic covered": 0.35,
            "size": -0.20,
            "strange": -1.27,
            "told": -3.09,
            "addressed": -2.49,
            "courtesy": -2.81,
            "reacting": -2.37,
            "pointing": -1.37,
            "speaker": 0.61,
            "ahead": 3.32,
            "unfilled": -2.54,
            "attribute": -0.73,
        },
        fitness={
            "bias": -4.59,
            "cosine": 1.52,
            "behind": 2.00,
            "score": 3.42,
            "covered": 1.01,
            "subject": 0.98,
            "no time": -0.32,
            "no number": -0.82,
            "unfilled": -0.45,
        },
        opens=0.22,
        keeps=0.5,
    ),
    "trigram": Calibration(
        openness={
            "bias": 4.12,
            "cosine": 1.73,
            "topic cosine": 0.06,
            "known": 0.49,
            "topic known": 0.49,
            "covered": 0.37,
            "topic covered": 0.54,
            "size": -0.31,
            "strange": -2.87,
            "told": -3.14,
            "addressed": -3.34,
            "courtesy": -5.34,
            "pointing": -2.30,
            "speaker": 1.49,
        },
        fitness={
            "bias": -5.36,
            "cosine": -1.23,
            "behind": 0.12,
            "score": 4.57,
            "covered": 2.01,
            "subject": 3.81,
            "link": 0.41,
            "no time": -0.76,
            "no number": -0.60,
        },
        opens=0.2,
        keeps=0.2,
    ),
    "": Calibration(
        openness={
            "bias": 1.29,
            "topic known": 0.17,
            "covered": 0.61,
            "topic covered": 0.40,
            "size": -0.07,
            "strange": -1.48,
            "told": -3.26,
            "addressed": -2.64,
            "courtesy": -3.00,
            "reacting": -2.42,
            "pointing": -1.69,
            "speaker": 0.55,
            "unfilled": -2.53,
            "attribute": -0.67,
        },
        fitness={
            "bias": -5.13,
            "score": 4.47,
            "covered": 1.36,
            "subject": 0.96,
            "no time": -0.28,
            "no number": -0.79,
            "unfilled": -0.50,
        },
        opens=0.18,
        keeps=0.4,
    ),
}
"""By the beginning of the embedder's fingerprint; the last entry, fitted without the cosines of MiniLM, is for all others."""
