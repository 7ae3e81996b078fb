"""
Order memories that cannot all be true by time: the one that is true at the time of the question comes first.

*Because:* similarity cannot distinguish last year's rent from this year's. Memories that fill the same slot of the same thing keep
the ranks that their scores gave them as a group; time decides their order within it.

If nothing says which is current, the later memory on a subject counts as the newer one: a memory is moved down as far as a later
one is similar to it and matches the question as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations, product
from math import log1p
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento.graph.store import Store
from memento.iris import IRI, user_of
from memento.model import Scored
from memento.retrieval.news import find_news
from memento.retrieval.question import Question, list_names
from memento.search.claims import Claims, Stated
from memento.search.postings import split_words, tokens
from memento.text.claims import single_relations, words
from memento.text.dates import dates, period
from memento.text.kin import kin_name
from memento.text.sentences import is_readable
from memento.text.words import ONE_OF_A_KIND, RELATIVES

MARGIN = 15
"""Number of memories beyond those requested among which rivals are sought."""


_BACK = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|predecessors?|used\s+to|history|over\s+the\s+years|everyone\s+who|all\s+the"
    r"|(?:has|have)\s+(?:\S+\s+){1,4}?been|while|since)\b",
    re.IGNORECASE,
)
_HAPPENINGS = re.compile(
    r"^\W*(?:what|anything|something|which\s+(?:things|events))\b.{0,30}?\b(?:happen(?:s|ed|ing)?|went\s+on|going\s+on|took\s+place|up\s+to"
    r"|(?:did|have)\s+(?:i|we)\s+(?:do|done|experience)d?|(?:was|were)\s+(?:i|we)\s+doing)\b",
    re.IGNORECASE,
)
"""A question about what happened in general, not about a person or thing."""
_AUXILIARIES = "do|does|did|is|are|am|was|were|has|have|had|will|would|can|could|should|shall|may|might|must"
_POINT = re.compile(rf"\b(?P<word>before|while|when(?!\s+(?:{_AUXILIARIES})\b)|during)\s+(?P<rest>.+)$", re.IGNORECASE)
"""Words that name a time by what was then; "When is …?" asks for a time."""

MADE_UP = ("possible", "report", "condition", "question", "wish", "rumour", "joke")
"""Moods of a memory or claim whose content is not a fact; a plan still counts as news."""

_HAPPENED = re.compile(r"\b(?:did|was|were|had|would|why)\b", re.IGNORECASE)

NEAR = 0.4
"""Minimum share of a memory's score that a later one must have to move it down."""

FIRST = 3
"""How many of the first memories may be old news."""

RELATED = 0.3
"""Cosine from which two memories about what the question names can be rivals, with the names masked."""

STEP = 0.7
"""The share of its score that a memory loses to a later one that is fully similar."""

ALIKE = (0.25, 0.6)
"""The similarities from which on a later memory may be, and surely is, the newer word on a matter."""

TURNED = (0.2, 1.5)
"""
For a later memory that says that something has changed: the likeness above which it is about the same matter, and what the likeness
is multiplied by. 1.25 and 1.75 do no better on lives of strangers.
"""

LITTLE = 0.05
"""Smaller values count as zero."""

APART = timedelta(hours=1)
"""With less time between two memories, neither counts as newer."""


_SEVERAL = {kin_name(word) for word in RELATIVES} - {kin_name(word) for word in ONE_OF_A_KIND}
"""Properties with several values at a time: two sisters are not rivals."""


@dataclass(slots=True)
class _Place:
    """How one memory relates to time."""

    at: int
    valid_at: datetime
    group: int
    until: datetime | None = None
    values: set[str] = field(default_factory=set)
    of: set[tuple[str, str]] = field(default_factory=set)
    slots: set[tuple[IRI, str]] = field(default_factory=set)
    things: dict[tuple[object, str], set[frozenset[str]]] = field(default_factory=dict)
    """By a slot without its numbers, what tells the thing from others of its kind: "4" of "flat 4 tenant"."""
    is_said: bool = True  # its content is only said, wished or planned

    @property
    def subjects(self) -> set[IRI]:
        """Whose slots it fills."""
        return {subject for subject, _ in self.slots}

    @property
    def roles(self) -> set[tuple[IRI, str]]:
        """Who is what to whom, of what it says: (Ana, "sister")."""
        return {(subject, slot) for subject, slot in self.slots if slot in words("people")}


def asked_time(question: str, now: datetime) -> datetime | None:
    """
    Return the past date that a question names, or None: "Who was captain in May 2021?" → the middle of May 2021.

    >>> asked_time("Who was captain in May 2021?", datetime(2026, 1, 1, tzinfo=UTC)).isoformat()
    '2021-05-16T00:00:00+00:00'
    """
    if not is_readable(question):
        return None
    found = [one for one in dates(question, now) if one.value < now and one.role in ("at", "for")]
    if len(found) != 1:
        return None
    words = question[found[0].start : found[0].end]
    value = found[0].value
    numbers = sum(part.strip("stndrh,.?").isdigit() for part in words.split())
    if value.day == 1 and numbers == 1:
        month = any(letter.isalpha() for letter in words.split()[-1]) or len(words.split()) > 2
        return value + timedelta(days=15 if month else 182)
    return value


def asked_span(question: str, now: datetime) -> tuple[datetime, datetime] | None:
    """
    Return the begin and end of the period of which a question asks what happened: a year, month, week or day; None if it asks
    otherwise.

    >>> since, until = asked_span("What happened in May?", datetime(2026, 7, 1, tzinfo=UTC))
    >>> f"{since:%Y-%m-%d} {until:%Y-%m-%d}"
    '2026-05-01 2026-06-01'
    >>> asked_span("Where did I live in May?", datetime(2026, 7, 1, tzinfo=UTC)) is None
    True
    """
    if not (is_readable(question) and _HAPPENINGS.search(question)):
        return None
    found = [one for one in dates(question, now) if one.role in ("at", "for")]
    if len(found) != 1:
        return None
    return period(found[0], question)


def looks_back(question: str) -> bool:
    """
    Tell whether a question asks about the past or about all times, so that memories that have ended may answer it.

    >>> looks_back("Who was captain before Ana?"), looks_back("Who is captain?")
    (True, False)
    """
    return bool(_BACK.search(question))


@dataclass(frozen=True, slots=True)
class Likeness:
    """The similarity of some memories with each other and with a question."""

    among: NDArray[np.float32]
    """(n, n) cosines between the memories."""
    near: NDArray[np.float32]
    """(n,) cosines with the question."""
    covered: NDArray[np.float64]
    """(n,) shares of the question's words that each memory has."""
    named: NDArray[np.float64]
    """(n,) shares of the names in the question that each memory has."""
    noted: NDArray[np.bool_]
    """(n,) False for turns of a conversation, where all turns are about one topic."""
    turning: NDArray[np.bool_]
    """(n,) True for memories whose words say that something has changed: "back", "again", "no more"."""
    stating: NDArray[np.bool_]
    """(n,) True for memories that state a claim that is asked for."""
    news: NDArray[np.bool_]
    """(n, n) True where the second tells what became of what the first names as the answer: `news.find_news`."""
    related: NDArray[np.bool_]
    """(n, n) False for two memories that say different things of somebody whom the question names, with the names masked."""


def compare(
    question: Question, nodes: Sequence[int], texts: Mapping[int, str], stating: Collection[int] = ()
) -> Likeness:
    """
    Compare some memories with each other and with the question, by their vectors and by its words. If it has a full
    name, the names are masked, because a shared name makes texts alike.

    Args:
        stating: the memories that state a claim that is asked for.
    """
    view = question.view
    vectors = view.indexes.vectors["memory"].vectors(nodes)
    near = (question.vectors @ vectors.T).max(axis=0, initial=0.0)
    masked = view.indexes.grains.masked.vectors(nodes)
    there = np.asarray(masked.any(axis=1), dtype=np.bool_) & (question.masked is not None)
    related = (masked @ masked.T >= RELATED) | ~(there[None, :] & there[:, None])
    if question.masked is not None and question.has_full_name:
        vectors = np.where(there[:, np.newaxis], masked, vectors)
        near = np.where(there, (question.masked @ vectors.T).max(axis=0, initial=0.0), near)
    postings = [passages.context for passages in view.passages()]
    count = sum(map(len, postings))
    known = {term: sum(words.frequency(term) for words in postings) for term in set(tokens(question.stripped))}
    idf = {term: log1p((count - df + 0.5) / (df + 0.5)) for term, df in known.items() if df}
    has = [{term for words in postings for term in words.terms(node)} for node in nodes]
    names = {term for name in list_names(question.text) for term in tokens(name)} & idf.keys()
    covered, named = (
        np.array([sum(idf[term] for term in wanted & terms) for terms in has])
        / (sum(idf[term] for term in wanted) or 1.0)
        for wanted in (idf.keys(), names)
    )
    noted = np.ones(len(nodes), dtype=np.bool_)
    for passages in view.passages():
        noted &= passages.session_of(np.asarray(nodes, dtype=np.int32)) < 0
    turning = np.array([tells_of_change(texts.get(node, "")) for node in nodes], dtype=np.bool_)
    news = find_news(question, nodes, texts)
    states = np.array([node in stating for node in nodes], dtype=np.bool_)
    return Likeness(vectors @ vectors.T, near, covered, named, noted, turning, states, news, related)


def tells_of_change(text: str) -> bool:
    """
    Tell whether a text has a word that says that something has changed.

    >>> tells_of_change("Jamie is back at football."), tells_of_change("Jamie plays football.")
    (True, False)
    """
    return not words("turning").isdisjoint(split_words(text))


def asks_of_a_state(question: str) -> bool:
    """
    Tell whether a question asks for a present state, so that the latest statement counts, rather than for an event.

    >>> asks_of_a_state("Who is captain?"), asks_of_a_state("Why did Ana resign?"), asks_of_a_state("Who was captain before Ana?")
    (True, False, False)
    """
    return not (looks_back(question) or _HAPPENED.search(question))


def asks_of_the_unreal(question: str) -> bool:
    """
    Tell whether a question asks for plans, wishes or hearsay, so that it does not matter whether they are true.

    >>> asks_of_the_unreal("What do I want to learn?"), asks_of_the_unreal("Where do I live?")
    (True, False)
    """
    return not words("unreal").isdisjoint(split_words(question))


def order_by_time(
    chosen: Sequence[Scored[IRI]],
    asked: datetime,
    graph: Store,
    readable: Sequence[IRI],
    question: str = "",
    likeness: Likeness | None = None,
    sides: NDArray[np.int8] | None = None,
) -> list[Scored[IRI]]:
    """
    Return the memories in the order of time: among rivals, first those that hold at `asked`, then those that ended last; among
    other similar memories, the later before the earlier.

    If the question names a holder ("before Ana", "while Ana was captain"), it asks about the time when that holder began.

    Args:
        likeness: of the memories; None if it does not matter which is later.
        sides: (n,) 1 for memories about people whom the question names, −1 for those about other people, which are no rivals of the
            former, 0 for the others; None if it names nobody.
    """
    if len(chosen) < 2:
        return list(chosen)
    places = _places([one.item for one in chosen], graph, readable)
    is_named = np.zeros(len(chosen), dtype=np.bool_) if sides is None else sides > 0
    comparable = np.ones((len(chosen), len(chosen)), dtype=np.bool_)
    if sides is not None:
        comparable = sides[None, :] * sides[:, None] >= 0
        if likeness is not None:  # the job of somebody is no rival of the same person's pet
            comparable &= likeness.related | ~is_named[:, None]
    for place, other in combinations(places, 2):
        if _are_of_two_things(place, other):
            comparable[place.at, other.at] = comparable[other.at, place.at] = False
    comparable[np.ix_(*_split_by_owner(places, user_of(readable[0])))] = False
    if asks_of_the_unreal(question):
        for place in places:
            place.is_said = False
    point = _POINT.search(question)
    is_before = point is not None and point["word"].lower() == "before"
    if point and (named := _find_named(point["rest"], places, _asked_for(question, places) if is_before else ())):
        asked = _began(named, places) + (-timedelta(seconds=1) if is_before else timedelta(days=1))
    since = _find_since(question, asked) if looks_back(question) and not point else None
    groups: dict[tuple[int, bool], list[_Place]] = {}
    for place in places:  # when something was true of others says nothing about those whom the question names
        of_others = sides is not None and bool(sides[place.at] < 0)
        groups.setdefault((_root(places, place.at), of_others), []).append(place)
    order = list(range(len(chosen)))
    for group in groups.values():
        if len(group) > 1:
            ranked = sorted(group, key=lambda place: (place.is_said, _distance(place, asked), place.at))
            if since:  # every holder once, by the statement with which it began
                ranked.sort(key=lambda place: (place.is_said, not since <= place.valid_at <= _began(place, places)))
            for slot, place in zip(sorted(place.at for place in group), ranked, strict=True):
                order[slot] = place.at
    if likeness:
        # That Wren moved does not make "Wren keeps bees" less true where that is what is asked for.
        may_pass = comparable & (likeness.related | ~likeness.stating[:, None])
        order = _by_newness(order, places, chosen, likeness, asked, is_named, may_pass)
        order = _put_news_first(order, places, likeness, asked, comparable)
    if looks_back(question):
        wanted = {_root(places, place.at) for place in _asked_for(question, places)}
        order.sort(key=lambda at: _root(places, at) not in wanted)
    return [Scored(chosen[at].item, chosen[to].score, chosen[at].source) for to, at in enumerate(order)]


def _by_newness(
    order: Sequence[int],
    places: Sequence[_Place],
    chosen: Sequence[Scored[IRI]],
    likeness: Likeness,
    asked: datetime,
    is_named: NDArray[np.bool_],
    comparable: NDArray[np.bool_],
) -> list[int]:
    """
    Return the order after each memory has moved down for a later one that matches the question as well.

        kept(i) = 1 − STEP · max over later j of ramp(likeness(i, j) · near(i, j) · √covered(i, j) · named(i, j))

    near, covered and named are the ratios of j's value to i's, at most 1. For a j that says that something has changed, TURNED ·
    cosine(i, j) · √near(i, j) · named(i, j) counts instead where it is more: it need not have the question's words. Of two memories
    about people whom the question names in full, only how much more alike than `RELATED` they are counts, times near(i, j):
    everything about somebody is a little alike.

    A memory that fills a slot never moves down for one that fills another slot, and no fact moves down for something only said,
    wished or planned; the latter moves down for a fact as for a later statement, whenever the fact was told.
    """
    scores = np.zeros(len(order))
    scores[list(order)] = [one.score for one in chosen]
    began = np.array([place.valid_at.timestamp() for place in places])
    said = np.array([place.is_said for place in places])
    later = (began[None, :] >= began[:, None] + APART.total_seconds()) | said[:, None]
    later &= (began[None, :] <= asked.timestamp()) & ~said[None, :]
    later &= scores[None, :] > NEAR * scores[:, None]
    later &= likeness.noted[None, :] & likeness.noted[:, None]
    if not comparable.all():
        later &= comparable
    is_both = is_named[None, :] & is_named[:, None]
    # Where names are masked, nothing but what is said makes two memories alike.
    base = np.where(is_both, 0.0, 0.3)
    alike = base + (1.0 - base) * np.maximum(likeness.among, 0.0)
    alike *= _shares(np.maximum(likeness.near, 0.0)) * np.sqrt(_shares(likeness.covered)) * _shares(likeness.named)
    turned = np.maximum(likeness.among, 0.0) * np.sqrt(_shares(np.maximum(likeness.near, 0.0)))
    turned *= _shares(likeness.named)
    sameness = np.clip((likeness.among - RELATED) / (1.0 - RELATED), 0.0, 1.0)
    turned = np.where(is_both, sameness * _shares(np.maximum(likeness.near, 0.0)), turned)
    alike = np.where(likeness.turning[None, :] & (turned > TURNED[0]), np.maximum(alike, TURNED[1] * turned), alike)
    newer = np.where(later, np.clip((alike - ALIKE[0]) / (ALIKE[1] - ALIKE[0]), 0.0, 1.0), 0.0).max(axis=1)
    kept = scores * (1.0 - STEP * newer)
    return sorted(order, key=lambda at: -kept[at])


def _put_news_first(
    order: Sequence[int],
    places: Sequence[_Place],
    likeness: Likeness,
    asked: datetime,
    comparable: NDArray[np.bool_],
) -> list[int]:
    """
    Return the order in which what became of what one of the first memories names stands before that memory; turns of a conversation
    stay where they are.
    """
    moved = list(order)
    for at in order[:FIRST]:
        for other in order:
            is_later = places[at].valid_at + APART <= places[other].valid_at <= asked
            is_behind = moved.index(other) > moved.index(at)
            if (
                likeness.news[at, other]
                and comparable[at, other]
                and likeness.noted[at]
                and likeness.noted[other]
                and is_later
                and is_behind
                and not places[other].is_said
            ):
                moved.remove(other)
                moved.insert(moved.index(at), other)
    return moved


def _shares(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return (n, n) the ratio of the second's value to the first's, at most 1; 1 where the first is zero."""
    eased = np.asarray(values, dtype=np.float64) + LITTLE
    return np.minimum(1.0, eased[None, :] / eased[:, None])


def find_successions(chosen: Sequence[IRI], graph: Store, readable: Sequence[IRI], question: str) -> list[IRI]:
    """
    Return the memories, beyond those chosen, of everybody who ever filled the slot asked for, or the slot by which the question
    names a time.

    *Because:* of twenty holders of an office, few are similar enough to the question to be found by its words.
    """
    places = _places(list(chosen), graph, readable)
    parts = [question, point["rest"]] if (point := _POINT.search(question)) else [question]
    slots = [slot for part in parts for place in _asked_for(part, places) for slot in place.slots]
    if not slots:
        return []
    subjects, names = {subject for subject, _ in slots}, {name for _, name in slots}
    rows = graph.select("retrieval/succession", readable, subject=sorted(subjects), slot=sorted(names))
    known = set(chosen)
    return [iri for row in rows if (iri := cast(IRI, row["memory"])) not in known]


def _asked_for(question: str, places: Sequence[_Place]) -> list[_Place]:
    """Return the statements that fill a slot which the question names, and for the right owner, before its reference to a time."""
    point = _POINT.search(question)
    asked = question[: point.start()].casefold() if point else question.casefold()
    return [place for place in places if any(name and name in asked and slot in asked for name, slot in place.of)]


def _find_named(text: str, places: Sequence[_Place], wanted: Sequence[_Place]) -> _Place | None:
    """
    Return what the words after "before" or "while" name: the latest statement with that value, preferably of what is asked for.
    """
    folded = text.casefold()
    found = [place for place in places if not place.is_said and any(one and one in folded for one in place.values)]
    fitting = [one for one in found if one in wanted or any(name in folded and slot in folded for name, slot in one.of)]
    return max(fitting or found, key=lambda place: place.valid_at, default=None)


def _find_since(question: str, now: datetime) -> datetime | None:
    """Return the time since when a question asks for all: "every captain since 2012"; the earliest if it names none."""
    found = [one.value for one in dates(question, now) if one.role == "since"] if is_readable(question) else []
    return min(found, default=datetime.min.replace(tzinfo=UTC))


def _began(named: _Place, places: Sequence[_Place]) -> datetime:
    """Return when a stated value began: with its first statement after any other value of the same slot."""
    same = [
        place
        for place in places
        if _root(list(places), place.at) == _root(list(places), named.at) and not place.is_said
    ]
    began = named.valid_at
    for place in sorted(same, key=lambda place: place.valid_at, reverse=True):
        if place.valid_at > began:
            continue
        if not place.values & named.values:
            break
        began = place.valid_at
    return began


def _distance(place: _Place, asked: datetime) -> tuple[int, timedelta]:
    """Return how far from the asked time a memory holds: first what holds then, then what ended before, then what begins later."""
    if place.valid_at > asked:
        return 2, place.valid_at - asked
    # A predecessor begins before its successor; only an announced end leaves the slot to the previous value.
    return (0 if place.until is None or asked < place.until else 1), asked - place.valid_at


def _places(iris: list[IRI], graph: Store, readable: Sequence[IRI]) -> list[_Place]:
    rows = graph.select("retrieval/slots", readable, memory=iris) if iris else []
    at_of = {iri: at for at, iri in enumerate(iris)}
    epoch = datetime(1, 1, 1, tzinfo=UTC)
    rows = [row for row in rows if str(row.get("slot")) not in _SEVERAL]
    unreal = {row["memory"] for row in rows if row.get("meant") in MADE_UP}
    places = [_Place(at, epoch, at) for at in range(len(iris))]
    for place in places:
        place.is_said = False
    slots: dict[tuple[object, object, frozenset[str]], int] = {}
    # What ended once has one value at a time.
    single = {(row["subject"], row["slot"]) for row in rows if "until" in row and row["slot"] not in words("open")}
    lasting = {row["memory"] for row in rows if "slot" in row and "until" not in row and not row.get("isEvent")}
    for row in rows:
        place = places[at_of[cast(IRI, row["memory"])]]
        if "validAt" in row:
            place.valid_at = cast(datetime, row["validAt"])
            continue
        if row["mood"] in MADE_UP and row["memory"] not in unreal:
            continue
        if "until" in row and row["memory"] not in lasting:
            place.until = max(cast(datetime, row["until"]), place.until or epoch)
        if not row.get("isEvent"):  # who "took over as captain" is not named by "captain"
            place.values.add(str(row["value"]).casefold())
        place.of.add((str(row.get("name", "")).casefold(), str(row["slot"]).casefold()))
        place.slots.add((cast(IRI, row["subject"]), str(row["slot"])))
        of_what = frozenset(str(row.get("complement", "")).split())
        numbers = frozenset(word for word in str(row["slot"]).split() if any(letter.isdigit() for letter in word))
        kind = " ".join(word for word in str(row["slot"]).split() if word not in numbers)
        place.things.setdefault((row["subject"], kind), set()).add(of_what | numbers)
        if str(row["slot"]) in single_relations() or (row["subject"], row["slot"]) in single:
            first = slots.setdefault((row["subject"], row["slot"], of_what), place.at)
            _join(places, first, place.at)
    for place in places:
        place.is_said = place.is_said or iris[place.at] in unreal
    return places


def _are_of_two_things(place: _Place, other: _Place) -> bool:
    """
    Tell whether two memories say the same of different things: "the plumber for the office", "the plumber for the flat"; or who is
    what to somebody: "my mother", "my mother-in-law".
    """
    roles, others = place.roles, other.roles
    if roles and others and roles.isdisjoint(others) and {one for one, _ in roles} & {one for one, _ in others}:
        return True
    shared = place.things.keys() & other.things.keys()
    return any(
        all(not (one <= two or two <= one) for one, two in product(place.things[kind], other.things[kind]))
        for kind in shared
    )


def _split_by_owner(places: Sequence[_Place], user: IRI) -> tuple[list[int], list[int]]:
    """
    Return the memories that say what the user has one of at a time, such as an employer, and those that say what others have: that
    "Maria moved to Porto" later does not make "I live in Ghent" less true.
    """
    own = [at for at, place in enumerate(places) if any((user, slot) in place.slots for slot in single_relations())]
    others = [at for at, place in enumerate(places) if place.slots and user not in place.subjects]
    return own, others


def _root(places: list[_Place], at: int) -> int:
    while places[at].group != at:
        at = places[at].group
    return at


def _join(places: list[_Place], one: int, other: int) -> None:
    first, second = sorted((_root(places, one), _root(places, other)))
    places[second].group = first


def asks_who(question: str) -> bool:
    """
    Tell whether a question asks for somebody.

    >>> asks_who("Who's my boss?"), asks_who("Where is my boss?")
    (True, False)
    """
    return not {"who", "whom"}.isdisjoint(split_words(question))


def find_stand_ins(memory: int, question: Question, named: Collection[IRI], at: float) -> list[int]:
    """
    Return the memories that say who stands in, at a time, for somebody whom a memory gives as the answer and the question does not
    name.

    Args:
        named: what the question names.
        at: in seconds since 1970.
    """
    view = question.view
    claims, nodes = view.indexes[Claims], view.indexes.nodes
    said = [one for one in claims.of_memory(nodes.iri(memory)) if one.holds(at) and not one.is_event]
    people = dict.fromkeys(
        one.owner if one.relation in words("duties") else one.entity for one in said if _is_duty(one)
    )
    found = (
        nodes.find(one.memory)
        for iri in people
        if iri not in named
        for one in claims.of_value(iri)
        if _stands_in(one, at)
    )
    return [node for node in dict.fromkeys(found) if node is not None and node != memory and view.visible[node]]


def _is_duty(claim: Stated) -> bool:
    """Tell whether a claim says who has a duty that somebody else can do for them: "Vikram heads the lab", "my physio is Lars"."""
    role = claim.relation.rpartition(" ")[2]
    return claim.relation in words("duties") or (bool(claim.entity) and role in words("posts_of_duty"))


def _stands_in(claim: Stated, at: float) -> bool:
    """Tell whether somebody does what somebody else does, for a time; who covered last week does so no more."""
    if claim.relation == "replace" or claim.is_event:
        is_for_a_time = claim.relation == "replace" and claim.until < float("inf")
    else:
        is_for_a_time = claim.relation in words("standing_in")
    return is_for_a_time and claim.holds(at)
