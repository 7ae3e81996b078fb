"""
The evidence for each memory: one registered function for each signal, and the combined result of all of them.

A signal is one number for each id, at least 0. Its unit does not matter, since DISTILL divides it by its best value among the
candidates. A signal without data (no session, no speaker, no date in the question) is zero everywhere. The parameters of its
function declare what it needs (`SOURCES`, or an earlier signal by name). The registration declares the rest: its weight becomes a
setting of `[signals]`, its description is printed in docs/settings.md and docs/recall.md.

*Guarantees:* a signal that is removed here disappears from the settings, the score, the explanations, the ablation and the docs;
one that is added here appears in all of them.

*Source:* docs/recall.md has the recipe, docs/measurements.md what it reaches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, make_dataclass, replace
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from memento import plugin
from memento.iris import user_of
from memento.model import Filter
from memento.retrieval.chains import CLOSE, Path, Step, score_paths, score_steps, walk_claims
from memento.retrieval.question import (
    Asking,
    Question,
    find_named,
    is_assistant,
    is_first_person,
    wants_number,
    wants_time,
)
from memento.search.arrays import distinct
from memento.search.claims import Claims
from memento.search.links import Joined, link_signal, shared_signal, subject_signal, tie_signal
from memento.search.postings import pairs as pairs_of
from memento.search.postings import tokens
from memento.search.words import bm25 as bm25_scores
from memento.search.words import bm25_of_terms
from memento.settings import ExpandSettings, LandSettings, Settings, SignalsSettings, WordsSettings, constant, knob
from memento.text.dates import PartialDate, find_dates

if TYPE_CHECKING:  # the weights below define the settings: importing settings must not import the indexes
    from memento.model import Anchor
    from memento.ports import Vectors
    from memento.search.claims import Stated
    from memento.search.indexes import View
    from memento.search.nodes import Ids, Mask

Signal = NDArray[np.float32]
"""(ids,) the value of one signal for each memory."""

Seeds = tuple[NDArray[np.int32], Signal]
"""(s,) memories with scores in 0..1, best first."""

Prominent: TypeAlias = "tuple[NDArray[np.integer], float]"
"""The memories that share a property, and their number relative to the largest such number."""

Law: TypeAlias = "Callable[[Seeds, Sequence[Anchor], View, Joined, ExpandSettings], Signal]"
"""The way in which a walk from seeds and anchors ranks memories."""

Phase = Literal["land", "anchor", "expand"]

SOURCES = frozenset(
    (
        "text",
        "stripped",
        "vectors",
        "view",
        "bm25",
        "nodes",
        "joined",
        "seeds",
        "anchors",
        "law",
        "walking",
        "prominent",
        "asking",
        "steps",
        "mentioned",
        "masked",
        "surety",
    )
)
"""
What the function of a signal may request by its parameter names: the fields of `Question`, the constants of BM25, the ids to score
(None: all), and in EXPAND the best memories, the entities to start from, the law of the walk and its settings.
"""

MANY_SESSIONS = 10
"""Number of sessions from which on the session signal has its full value."""


_LEAST_NAMED = 0.05
"""Minimum value of the signal for mentioning what the question names."""

_PROMINENT = 10
_STARTS = 3
"""Number of the best memories' entities from which a walk starts if the question names none."""

_REACH = 3
"""Above `land.whole`, vectors add this many times the pool's size, so that the windows around the candidates are complete."""

F = TypeVar("F", bound=Callable[..., Signal])


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSignal:
    """
    A registered signal.

    `is_channel`: its best memories become candidates. `is_bounded`: it is in 0..1 and not divided by its best value. `is_seed`: it
    helps to choose the memories that EXPAND starts from. `kinds`: the groups with which the ablation switches it off.
    """

    name: str
    weight: float
    about: str
    phase: Phase
    is_channel: bool
    is_bounded: bool
    is_seed: bool
    kinds: tuple[str, ...]
    needs: tuple[str, ...]
    measure: Callable[..., Signal]


SIGNALS: dict[str, RegisteredSignal] = {}
"""Every signal by name, in the order in which they are summed."""


def signal(
    weight: float,
    about: str,
    *,
    phase: Phase = "land",
    channel: bool = False,
    bounded: bool = False,
    seed: bool = False,
    kinds: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Register a function `score_…` as the signal of that name; `about` completes the sentence "weight of …"."""

    def register(measure: F) -> F:
        name = measure.__name__.removeprefix("score_")
        needs = tuple(inspect.signature(measure).parameters)
        if unknown := [need for need in needs if need not in SOURCES and need not in SIGNALS]:
            raise TypeError(f"the signal {name} asks for {', '.join(unknown)}: there are {', '.join(sorted(SOURCES))}")
        SIGNALS[name] = RegisteredSignal(
            name=name,
            weight=weight,
            about=about,
            phase=phase,
            is_channel=channel,
            is_bounded=bounded,
            is_seed=seed,
            kinds=kinds,
            needs=needs,
            measure=measure,
        )
        return measure

    return register


def weights_class() -> type[SignalsSettings]:
    """Return the settings class of the registered signals: one weight for each."""
    return _weights_class(tuple((one.name, one.weight, one.about) for one in SIGNALS.values()))


@lru_cache(maxsize=8)
def _weights_class(rows: tuple[tuple[str, float, str], ...]) -> type[SignalsSettings]:
    # Only one that is off by default is a setting: the others are weighed together, and nobody weighs them anew.
    weights = [
        (name, float, constant(weight) if weight else knob(weight, f"weight of {about}"))
        for name, weight, about in rows
    ]
    return make_dataclass("SignalsSettings", weights, bases=(SignalsSettings,), frozen=True, slots=True)


def with_weights(settings: Settings, **weights: float) -> Settings:
    """Return the settings with other weights for some signals."""
    return replace(settings, signals=weights_class()(**{**asdict(settings.signals), **weights}))


def is_needed(source: str, settings: SignalsSettings) -> bool:
    """Tell whether a signal with a nonzero weight needs a source."""
    weights = asdict(settings)
    return any(source in one.needs and weights[one.name] > 0 for one in SIGNALS.values())


def document_signals() -> str:
    """Return the table of docs/recall.md: every signal with its weight and description."""
    rows = [f"| {one.name} | {one.weight:g} | {one.about} |" for one in SIGNALS.values()]
    return "\n".join(["| signal | weight | what it is |", "| --- | --- | --- |", *rows]) + "\n"


def measure_signals(
    phase: Phase, sources: Mapping[str, object], known: Mapping[str, Signal] | None = None
) -> dict[str, Signal]:
    """
    Compute the signals of a phase whose inputs are available, each from earlier ones.

    Args:
        known: signals that are computed already.
    """
    found: dict[str, Signal] = {}
    for name, one in SIGNALS.items():
        if one.phase == phase:
            there: Mapping[str, Any] = {**sources, **found}
            if known and name in known:
                found[name] = known[name]
            elif all(need in there for need in one.needs):
                found[name] = one.measure(**{need: there[need] for need in one.needs})
    return found


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of a large scope: their ids, ascending, the number from each channel, and what scores further memories."""

    nodes: Ids
    size: int
    sources: Mapping[str, object] = field(repr=False)
    everywhere: Mapping[str, Signal] = field(repr=False)
    """Signals that are computed for all memories anyway."""

    def score(self, nodes: Ids) -> dict[str, Signal]:
        """Compute the signals of LAND for some memories."""
        return measure_signals("land", {**self.sources, "nodes": nodes}, self.everywhere)


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    The results so far: each signal as (ids,), unscaled; with a pool, zero outside of it. From ANCHOR on, also the best memories and
    the entities to start from, heaviest first.
    """

    signals: Mapping[str, Signal]
    pool: Pool | None = None
    seeds: Seeds | None = None
    anchors: tuple[Anchor, ...] = ()
    mentioned: Ids | None = None
    """The memories about or mentioning what the question names; None if it names nothing known."""
    confused: Ids | None = None
    """The memories about others with a similar name."""
    steps: tuple[Step, ...] = ()
    """The claims that the question may ask for, and how well each fits."""

    @property
    def asked(self) -> tuple[Stated, ...]:
        """The claims that surely are what the question asks for."""
        return tuple(step.claim for step in self.steps if step.fit > CLOSE)

    def with_signals(self, more: Mapping[str, Signal], view: View) -> Evidence:
        """Return the evidence with more signals; with a pool, the best memories by the new signals join it."""
        signals = {**self.signals, **more}
        if self.pool is None:
            return replace(self, signals=signals)
        pool = self.pool
        best = [pick_leading(signal, view.visible, pool.size) for signal in more.values()]
        new = distinct(np.concatenate([*best, pool.nodes[:0]]))
        place = np.minimum(np.searchsorted(pool.nodes, new), max(len(pool.nodes) - 1, 0))
        new = new[pool.nodes[place] != new] if pool.nodes.size else new
        if new.size:
            for name, signal in pool.score(new).items():
                if name not in pool.everywhere:
                    signals[name][new] = signal[new]
        return replace(self, signals=signals, pool=replace(pool, nodes=distinct(np.concatenate([pool.nodes, new]))))


def land(question: Question, words: WordsSettings, settings: LandSettings) -> Evidence:
    """
    Compute the signals that need no link: from meaning, words, people, dates and form of the memories.

    Up to `whole` memories, every signal is computed for every memory. Above, vectors and words choose a pool, later phases add to
    it, and the other signals are computed for the pool only; the value for a memory is the same either way.

    *But:* above `whole`, a memory whose own vector, and whose neighbouring turns' vectors, are far from the question is not found
    by the window around it.
    """
    view, sources = question.view, {**question.list_sources(), "bm25": words}
    everywhere = measure_signals("land", sources)
    if view.visible_count <= max(settings.whole, settings.pool):
        return Evidence(measure_signals("land", {**sources, "nodes": None}, everywhere))
    near, _ = view.indexes.vectors["memory"].search(question.vectors, _REACH * settings.pool, view.visible)
    channels = [signal for name, signal in everywhere.items() if SIGNALS[name].is_channel]
    brought = [
        with_neighbours(near, view),
        *(pick_leading(signal, view.visible, settings.pool) for signal in channels),
    ]
    nodes = distinct(np.concatenate(brought))
    pool = Pool(nodes[view.visible[nodes]], settings.pool, sources, everywhere)
    return Evidence(pool.score(pool.nodes), pool)


@signal(
    0.5,
    "the cosine of question and memory; the names of the participants of the conversation are removed from the question first",
    channel=True,
    seed=True,
    kinds=("meaning",),
)
def score_meaning(vectors: Vectors, view: View, nodes: Ids | None = None) -> Signal:
    """
    Return the cosine of each memory with the question, negative ones cut to 0; with `nodes`, for these and their neighbouring
    turns.
    """
    index = view.indexes.vectors["memory"]
    if nodes is None:
        return np.maximum(index.likeness(vectors, len(view.visible)), 0.0)
    around = with_neighbours(nodes, view)
    return spread(around, np.maximum(index.cosines(around, vectors), 0.0), view)


@signal(
    0.5,
    "the cosine of question and the sum of the turn before, the turn and the turn after",
    channel=True,
    kinds=("meaning", "conversation"),
)
def score_window(meaning: Signal, vectors: Vectors, view: View, nodes: Ids | None = None) -> Signal:
    """
    Return the cosine of the question with the sum of three turns' vectors; equal to `meaning` outside of conversations.

    The sum approximates the vector of the three turns embedded as one text: it needs no additional vector, and follows every new
    turn.
    """
    found = meaning.copy() if nodes is None else spread(nodes, meaning[nodes], view)
    here = np.flatnonzero(found > 0).astype(np.int32)
    found[here] = np.maximum(view.indexes.vectors["memory"].first_cosines(here, vectors), 0.0)
    for passages in view.passages():
        turns = passages.turn_nodes() if nodes is None else nodes[passages.session_of(nodes) >= 0]
        neighbours = passages.neighbours(turns)
        total = meaning[turns] + np.where(neighbours >= 0, meaning[neighbours], 0.0).sum(axis=1)
        found[turns] = total / passages.measure(turns, view.indexes.vectors["memory"])
    return found


@signal(
    0.35,
    "BM25 on title and content, or on the end of the turn before and this one without the speakers' names",
    channel=True,
    seed=True,
    kinds=("words",),
)
def score_words(stripped: str, view: View, bm25: WordsSettings) -> Signal:
    """Return the BM25 of each memory, read together with its title or with the end of the previous turn."""
    return spread(*bm25_scores(stripped, [p.context for p in view.passages()], bm25.k1, bm25.b), view)


@signal(
    0.25,
    "BM25 on neighbouring stems, over a turn with the end of the one before and the beginning of the next",
    kinds=("words", "conversation"),
)
def score_pairs(stripped: str, view: View) -> Signal:
    """Return the BM25 over pairs of neighbouring stems, including the adjacent parts of the neighbouring turns."""
    # Pairs are rare, so text length matters less than for single words.
    return spread(*bm25_of_terms(pairs_of(tokens(stripped)), [p.pairs for p in view.passages()], 1.2, 0.5), view)


@signal(
    0.6,
    "stating the claim that the question asks for, as it holds at the asked time",
    phase="anchor",
    channel=True,
    bounded=True,
    kinds=("claims",),
)
def score_claim(steps: Sequence[Step], view: View) -> Signal:
    """Return how well each memory's claims fit what the question asks for, in 0..1."""
    return place_scores(score_steps(steps, view), view)


@signal(
    1.0,
    "standing on a path of claims, if the question asks for a chain; the end of the best path most",
    phase="expand",
    channel=True,
    bounded=True,
    kinds=("claims",),
)
def score_path(
    text: str,
    asking: Asking,
    steps: Sequence[Step],
    seeds: Seeds,
    anchors: Sequence[Anchor],
    vectors: Vectors,
    view: View,
) -> Signal:
    """Return how much each memory is an answer at the end of a chain; 0 everywhere if the question asks for no chain."""
    paths = find_paths(text, asking, steps, seeds, anchors, vectors, view)
    return place_scores(score_paths(paths, asking.reading.steps, view), view)


def find_paths(
    text: str,
    asking: Asking,
    steps: Sequence[Step],
    seeds: Seeds,
    anchors: Sequence[Anchor],
    vectors: Vectors,
    view: View,
) -> list[Path]:
    """Return the best paths of claims from what a question names, best first; none if it asks for no chain."""
    if asking.reading.steps < 2:
        return []
    user = user_of(view.graphs[0])
    others = [one for one in anchors if one.iri != user]
    named = [one.iri for one in others if one.named]
    if not named and not is_first_person(text):
        named = [one.iri for one in others[:_STARTS]]
    first = [one.claim for one in steps if one.fit >= CLOSE and one.claim.owner == user]
    if is_first_person(text):  # what the user's claims say in other words than the question does
        best = view.iris(seeds[0][:_STARTS].tolist())
        first += [one for memory in best for one in view.indexes[Claims].of_memory(memory) if one.owner == user]
    return walk_claims(named, first, vectors, view, asking.at, past=asking.past, text=text, asked=asking.reading)


def place_scores(scores: Mapping[int, float], view: View) -> Signal:
    """Return (ids,) the scores of some memories, 0 for all others."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    found[[*scores]] = [*scores.values()]
    return found


@signal(
    0.25,
    "BM25 on the whole session; with fewer than ten sessions, only a tenth of it for each session",
    bounded=True,
    kinds=("words", "conversation"),
)
def score_session(text: str, view: View, bm25: WordsSettings, nodes: Ids | None = None) -> Signal:
    """
    Return the BM25 of each memory's whole session, divided by the best; with n < 10 sessions, only n tenths of it.

    Which of three conversations it was says little about where in it the answer is.
    """
    found = np.zeros(len(view.visible), dtype=np.float32)
    parts: list[tuple[Ids, Signal]] = []
    count, best = 0, 0.0
    for passages in view.passages():
        numbers, scores = bm25_scores(text, [passages.sessions], bm25.k1, bm25.b)
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


@signal(
    0.5,
    'being said by the only participant that the question names; for "my" or "our", by anybody but the assistant',
    bounded=True,
    kinds=("conversation", "priors"),
)
def score_speaker(text: str, view: View, nodes: Ids | None = None) -> Signal:
    """
    Return 1 for what the one participant said whom the question names, 0 if it names several.

    If the question says "my" or "our" in a conversation with an assistant, the asker is not the assistant: return 1 for what the
    others said, including the user, whose turns name no speaker.
    """
    found = np.zeros(len(view.visible), dtype=np.float32)
    people = view.participants()
    named = set(find_named(text, people))
    if assistants := {name for name in people if is_assistant(name)} if not named and is_first_person(text) else set():
        for passages in view.passages():
            turns = passages.turn_nodes() if nodes is None else nodes[passages.session_of(nodes) >= 0]
            found[turns] = 1.0
            found[passages.turns.spoken_by(assistants, nodes)] = 0.0
    elif len(named) == 1:
        for passages in view.passages():
            found[passages.turns.spoken_by(named, nodes)] = 1.0
    return found


@signal(0.5, "how well the day of the memory fits a date in the question", bounded=True, kinds=("priors",))
def score_when(text: str, view: View, nodes: Ids | None = None) -> Signal:
    """
    Return how well the day of each memory matches a date in the question.

    A day: 1 from the day before to eight days after, ½ up to a month after. A month: 1 in it, ½ in the next, a fifth of that in
    another year than the named one. A year: 1 in it. People tell things soon after they happened, not before.
    """
    return score_dates(find_dates(text), view, nodes)


def score_dates(dates: Sequence[PartialDate], view: View, nodes: Ids | None = None) -> Signal:
    """Return how well the day of each memory matches one of some dates."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    if not dates:
        return found
    days = view.indexes.nodes.days(nodes)
    fits = np.max([_fit_days(one, days) for one in dates], axis=0)
    return np.asarray(fits, dtype=np.float32) if nodes is None else spread(nodes, fits, view)


@signal(
    0.5,
    'the shape of the sentence: long rather than short, no question; a time word for "when", a number for "how many"',
    bounded=True,
    kinds=("priors",),
)
def score_form(text: str, view: View, nodes: Ids | None = None) -> Signal:
    """
    Return how much the form of each memory resembles an answer: a long sentence, not a question, with a time or number if asked
    for.

    It may be negative: it is a prior, added without scaling.
    """
    weights = np.array([1.0, -1.0, float(wants_time(text)), float(wants_number(text))], dtype=np.float32)
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


@signal(
    1.5,
    "for memories about or mentioning what the question names: the cosine of question and memory with the names masked",
    phase="anchor",
    channel=True,
    bounded=True,
    seed=True,
)
def score_named(mentioned: Ids, masked: Vectors, surety: float, view: View) -> Signal:
    """
    Return for each memory about or mentioning what the question names its cosine with the question, both with the names masked, and
    about a third of it if there is no full name; its own vector counts where it is not masked.
    """
    nodes = mentioned[view.visible[mentioned]]
    grains, own = view.indexes.grains.masked, view.indexes.vectors["memory"]
    bare = np.array([node not in grains for node in nodes.tolist()], dtype=np.bool_)
    cosines = np.where(bare, own.cosines(nodes, masked), grains.cosines(nodes, masked))
    return spread(nodes, surety * np.maximum(cosines, _LEAST_NAMED).astype(np.float32), view)


@signal(
    0.5,
    "being about what the question names: its idf, shared among the memories about it",
    phase="anchor",
    channel=True,
    bounded=True,
    seed=True,
)
def score_subject(text: str, joined: Joined, view: View) -> Signal:
    """Return how surely each memory is about a name of the question."""
    return spread(*subject_signal(joined.find_names(text), joined, view.visible), view)


@signal(1.0, "being about what one of the best twenty memories mentions", phase="expand", channel=True, bounded=True)
def score_link(seeds: Seeds, joined: Joined, view: View) -> Signal:
    """Return how strongly the best memories lead to each memory about what they mention."""
    return spread(*link_signal(seeds, joined, view.visible), view)


@signal(
    0.5,
    "sharing a rare name with one of the best twenty, and having the words of the question that the other one lacks",
    phase="expand",
    channel=True,
    bounded=True,
)
def score_shared(text: str, seeds: Seeds, joined: Joined, view: View) -> Signal:
    """Return how well each memory that shares a name with a good one covers the question's words that the good one lacks."""
    postings = [passages.context for passages in view.passages()]
    return spread(*shared_signal(seeds, text, joined, postings, view.visible), view)


@signal(
    0.3,
    "sharing a name that at most twelve memories have with one of the best twenty",
    phase="expand",
    channel=True,
    bounded=True,
)
def score_tie(seeds: Seeds, joined: Joined, view: View) -> Signal:
    """Return how rare a name each memory shares with a good one."""
    return spread(*tie_signal(seeds, joined, view.visible), view)


@signal(
    0.4,
    "the rank in a walk from the anchors and from the best twenty; 0 skips the walk",
    phase="expand",
    channel=True,
)
def score_walk(
    law: Law, seeds: Seeds, anchors: Sequence[Anchor], view: View, joined: Joined, walking: ExpandSettings
) -> Signal:
    """
    Return the rank of each memory on a walk from the best memories and from the anchors; 0 for turns of a conversation.

    In a conversation everything is near everything else through the few speakers, as with shared names.
    """
    found = law(seeds, anchors, view, joined, walking)
    reached = np.flatnonzero(found).astype(np.int32)
    for passages in view.passages():
        found[reached[passages.session_of(reached) >= 0]] = 0.0
    return found


@signal(
    0.0,
    "being about, or tagged with, what is most frequent in its namespace ([profile](sessions.md)); 0 skips the profile",
    bounded=True,
)
def score_profile(prominent: Sequence[Prominent], view: View) -> Signal:
    """
    Return for each memory the largest prominence of what it has: the count of memories with it, relative to the largest of its
    kind.
    """
    found = np.zeros(len(view.visible), dtype=np.float32)
    for memories, share in prominent:
        found[memories] = np.maximum(found[memories], np.float32(share))
    found[~view.visible] = 0.0
    return found


def list_prominent(view: View) -> list[Prominent]:
    """
    List what most memories of a view are about, without the user, and their most frequent tags: at most ten of each kind.

    What only one memory has is not prominent.
    """
    indexes, csr = view.indexes, view.matrix()
    degrees = np.diff(csr.indptr)
    degrees[indexes.nodes.within(view.graphs, "memory")[: len(degrees)]] = 0
    for user in {user_of(graph) for graph in view.graphs}:
        if (node := indexes.nodes.find(user)) is not None and node < len(degrees):
            degrees[node] = 0
    named = [
        (indexes.adjacency.memories(node), int(degrees[node])) for node in order_largest(degrees, _PROMINENT).tolist()
    ]
    tags = sorted(indexes.sorting.count_tags(view.visible).items(), key=lambda pair: (-pair[1], pair[0]))[:_PROMINENT]
    size = len(view.visible)
    tagged = [(np.flatnonzero(indexes.sorting.filter_nodes(Filter(tags=(tag,)), size)), count) for tag, count in tags]
    found: list[Prominent] = []
    for kind in (named, tagged):
        most = max((count for _, count in kind), default=0)
        found += [(memories, count / most) for memories, count in kind if count > 1]
    return found


def with_neighbours(nodes: Ids, view: View) -> Ids:
    """Return some memories and their neighbouring turns, ascending."""
    parts = [nodes]
    for passages in view.passages():
        neighbours = passages.neighbours(nodes[passages.session_of(nodes) >= 0])
        parts.append(neighbours[neighbours >= 0])
    return distinct(np.concatenate(parts))


def pick_leading(signal: Signal, visible: Mask, count: int) -> Ids:
    """Return the `count` visible memories with the largest positive values, unordered."""
    nodes = np.flatnonzero(signal > 0).astype(np.int32)
    nodes = nodes[visible[nodes]]
    return nodes if len(nodes) <= count else nodes[np.argpartition(-signal[nodes], count)[:count]]


def order_largest(values: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    """Return the positions of the `k` largest values, largest first; ties in order of position."""
    if k < len(values):
        least = np.partition(values, len(values) - k)[len(values) - k]
        places = np.flatnonzero(values >= least)
        return places[np.argsort(-values[places], kind="stable")[:k]]
    return np.argsort(-values, kind="stable")


def spread(nodes: NDArray[np.int32], scores: NDArray[np.float32], view: View) -> Signal:
    """Return (ids,) an array with the scores at the nodes' ids, zero elsewhere."""
    found = np.zeros(len(view.visible), dtype=np.float32)
    found[nodes] = scores
    return found


def _fit_days(one: PartialDate, days: NDArray[np.int64]) -> Signal:
    """Return (ids,) how well each day (since 1970) matches one date."""
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


def add_plugins() -> None:
    """Register the signals of the plug-ins; raise `PluginError` if a name is taken."""
    plugin.name_beside("signals", SIGNALS)
    plugin.collect("signals")


add_plugins()
