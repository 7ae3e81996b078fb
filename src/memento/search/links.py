"""
Which memories are about what other memories mention: the links from a good memory to the one that answers.

*Flow:* `mem:about` and `mem:mentions` of each memory, and the names of each anchor → `Links` (one named graph, updated as memories
come and go) and `Anchors` (all graphs) → `Joined` (several graphs as one, for one question) → the signals:

    subject(m) = max over names e of the question: idf(e) · w(e, m) / W(e)
    link(m)    = max over seeds s: g(s)² · Σ over e mentioned by s: idf(e) · w(e, m) / W(e)
    shared(m)  = max over seeds s: g(s)² · min(1, Σ over e mentioned by s and m: idf(e)²) · left(s, m)
    tie(m)     = max over seeds s: g(s)² · min(1, Σ over e mentioned by s and m and ten others at most: idf(e)²)

A name e is a label: everything with that label, in any graph, is the same name. w(e, m) is how surely m is about something called
e: 1 if that is the main subject of m (`mem:subject`, or the only thing that it is about), less for other names of the subject; m
only mentions whatever else it is about (`read_edges`). W(e) is the sum over all memories, at least 1. left(s, m) is the share, by
idf, of the question's words that s lacks and m has. A seed gets no value from itself. Turns of a conversation take no part in these
four signals: only walks follow their edges (`neighbourhood`).

*Guarantees:* only triples decide, whoever wrote them: an edge that an update adds, moves or removes counts at once, and neither
`mem:subject` nor a statement restores one. The state depends only on the present memories, not on the order in which they came.
Signals are returned by ascending id, for visible nodes, positive and unscaled; memories that the reader may not see get no value,
but count where names are weighed.

*But:* being about the user is not a name, because most memories are. Not thread-safe: the owner of the links holds a lock.

*Because:* on three sets of questions over passages, a seed that leads to itself costs 3 to 8 points of recall@5, and names that
more than 3 % of memories mention add nothing to `shared`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import fsum, log, log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM, TYPE
from memento.search.arrays import Arrays, distinct, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Context, Everything, GraphTables, Update, register
from memento.search.names import (
    LONGEST,
    NameWords,
    find_longest,
    is_everyday,
    is_telling,
    label_of,
    read_names,
    strip_remark,
)
from memento.search.nodes import Mask, Record
from memento.search.postings import Postings, Segment, Vocabulary, tokens
from memento.search.subjects import OPENERS

UNIT = 10_000
"""The stored value of weight 1: whole numbers, so that sums do not depend on their order."""
OTHERWISE, PARTLY = 0.8, 0.5
"""The weight of another name of the subject; and of a part of such a name, or of any other name where there is a title."""

Nodes = NDArray[np.int32]
Weights = NDArray[np.float32]
Values = tuple[Nodes, Weights]
"""Nodes and a value for each: (m,) both."""

_USER, _NAME = "urn:memento:user:", "urn:memento:name:"


class Anchors:
    """
    The labels of everything that a memory may be about or mention, in all graphs.

    >>> anchors = Anchors()
    >>> anchors.put(IRI("urn:a"), {"ed wood": 1.0})
    >>> anchors.find_anchors("ed wood"), anchors.labels(0)
    ((array([0], dtype=int32), array([1.], dtype=float32)), {'ed wood': 1.0})
    """

    def __init__(self) -> None:
        self._iris = Vocabulary()
        self._labels = Vocabulary()
        self._names = Postings(self._labels)  # labels of each anchor, by its number; the count is the weight
        self._limits: dict[str, int] | None = None
        self._ends: dict[str, list[int]] = {}  # labels of several words by their first and by their last word
        self._ends_read = 0

    def __contains__(self, iri: IRI) -> bool:
        """Return whether an anchor has any name."""
        number = self._iris.number(iri)
        return number is not None and number in self._names

    def has_names(self) -> bool:
        """Return whether any anchor has a name."""
        return any(iri.startswith(_NAME) for iri in self._iris.word_list())

    def number(self, iri: IRI) -> int:
        """Return the number of an anchor, whether it is described or not."""
        return self._iris.whole(iri)

    def iri(self, number: int) -> IRI:
        """Return the anchor with a number."""
        return IRI(self._iris.word_list()[number])

    @property
    def limits(self) -> Mapping[str, int]:
        """The word count of the longest label, by first word; labels that no longer exist only cost time."""
        if self._limits is None:
            self._limits = {}
            self._widen(self._labels.word_list())
        return self._limits

    def _widen(self, labels: Iterable[str]) -> None:
        if self._limits is not None:
            for label in labels:
                first, *rest = label.split()
                self._limits[first] = max(self._limits.get(first, 0), 1 + len(rest))

    def find_longer(self, word: str) -> list[str]:
        """Return the labels of several words that begin or end with a word; labels that no longer exist may be among them."""
        labels = self._labels.word_list()
        for key in range(self._ends_read, len(labels)):
            first, *_, last = labels[key].split() * 2
            for end in {first, last} if first != labels[key] else ():
                self._ends.setdefault(end, []).append(key)
        self._ends_read = len(labels)
        return [labels[key] for key in self._ends.get(word, ())]

    def put(self, iri: IRI, labels: Mapping[str, float]) -> None:
        """Set the names of an anchor, replacing earlier ones: each label with how surely it means this anchor."""
        counts = {self._labels.whole(label): max(round(weight * UNIT), 1) for label, weight in labels.items()}
        number = self._iris.whole(iri)
        if self._names.counts(number) != counts or number not in self._names:
            self._names.add_counts(number, counts, 0)
            self._widen(labels)

    def drop(self, iri: IRI) -> None:
        """Remove an anchor's names; harmless when it has none."""
        number = self._iris.number(iri)
        if number is not None:
            self._names.remove(number)

    def labels(self, number: int) -> dict[str, float]:
        """Return the labels of an anchor, with their weights."""
        words = self._labels.word_list()
        return {words[key]: times / UNIT for key, times in self._names.counts(number).items()}

    def label_keys(self, number: int) -> Sequence[int]:
        """Return the numbers of an anchor's labels."""
        return self._names.keys(number)

    def label(self, key: int) -> str:
        """Return the label with a number."""
        return self._labels.word_list()[key]

    def find_anchors(self, label: str) -> Values:
        """Return the numbers of the anchors that have a label, and how surely it means each."""
        key = self._labels.number(label)
        return self.find_key(-1 if key is None else key)

    def find_key(self, key: int) -> Values:
        """Do the same for a label given by its number."""
        having = self._names.having(key)
        if having is None:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
        return having[0], having[1] / np.float32(UNIT)

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        parts = {"names": self._names.merge_all()}
        return nest_arrays(
            {**parts, "iris": pack_strings(self._iris.word_list()), "labels": pack_strings(self._labels.word_list())}
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore from what `arrays` returned, into an empty object."""
        self._iris, self._labels = (
            Vocabulary(unpack_strings(select_part(arrays, name))) for name in ("iris", "labels")
        )
        self._names = Postings(self._labels, Segment.from_arrays(select_part(arrays, "names")))


class Entity:
    """
    A name in one graph: the nodes that mention something called so, and those that are about it.

    Do not keep it across a write.
    """

    def __init__(self, anchors: Values, mentions: Postings, about: Postings) -> None:
        self._anchors = list(zip(anchors[0].tolist(), anchors[1].tolist(), strict=True))
        self._mentions_of, self._about_of = mentions, about

    @cached_property
    def df(self) -> int:
        """The number of nodes that mention it."""
        if len(self._anchors) == 1:
            return self._mentions_of.frequency(self._anchors[0][0])
        return len(self.mentions())

    @cached_property
    def about(self) -> int:
        """The number of nodes that are about it."""
        if len(self._anchors) == 1:
            return self._about_of.frequency(self._anchors[0][0])
        return len(self._about[0])

    def mentions(self) -> Nodes:
        """Return (df,) the nodes that mention it, unordered."""
        parts = [self._mentions_of.nodes(anchor) for anchor, _ in self._anchors]
        return parts[0] if len(parts) == 1 else distinct(np.concatenate([np.zeros(0, dtype=np.int32), *parts]))

    def subjects(self) -> Values:
        """Return the nodes that are about it, and how surely: (about,) each, unordered."""
        return self._about

    @cached_property
    def subject_of(self) -> dict[int, float]:
        """Node → weight in 0..1."""
        nodes, weights = self._about
        exact = np.rint(weights * np.float64(UNIT)) / UNIT
        return dict(zip(nodes.tolist(), exact.tolist(), strict=True))

    @cached_property
    def weight(self) -> float:
        """The sum of the weights of the nodes that are about it."""
        return round(float(self._about[1].sum(dtype=np.float64)) * UNIT) / UNIT

    @cached_property
    def _about(self) -> Values:
        parts: list[Values] = []
        for anchor, sure in self._anchors:
            if having := self._about_of.having(anchor):
                parts.append((having[0], having[1] * np.float32(sure / UNIT)))
        return _concatenate(parts) if len(parts) < 2 else _best(*_concatenate(parts))


class Links:
    """
    What the memories of one named graph are about, and what they mention.

    >>> anchors = Anchors()
    >>> anchors.put(IRI("urn:anna"), {"anna": 1.0}); anchors.put(IRI("urn:faro"), {"faro": 1.0})
    >>> links = Links(anchors)
    >>> links.put(1, {IRI("urn:anna"): 1.0}, [IRI("urn:faro")])
    >>> sorted(links.mentions(1)), links.entity("anna").subject_of
    (['anna', 'faro'], {1: 1.0})
    """

    def __init__(self, anchors: Anchors) -> None:
        self.anchors = anchors
        self._mentions = Postings()  # an anchor is a term of the memories that mention it or are about it
        self._about = Postings()  # the count is the weight
        self._turns = Postings()  # the anchors of turns
        self.beyond = 0
        """The number of all memories, set where these links cover only a part of them."""

    def __len__(self) -> int:
        """Count the memories."""
        return len(self._mentions)

    @property
    def population(self) -> int:
        """The number of memories, including those that are not loaded here."""
        return max(len(self), self.beyond)

    def __contains__(self, node: int) -> bool:
        return node in self._mentions

    def entity(self, label: str) -> Entity | None:
        """Return the entity with a name, given as `label_of` writes it; None when there is none."""
        anchors = self.anchors.find_anchors(label)
        if not anchors[0].size:
            return None
        entity = Entity(anchors, self._mentions, self._about)
        return entity if entity.df else None

    def mentions(self, node: int) -> set[str]:
        """Return the labels that a memory mentions; empty for a missing memory."""
        keys = {key for anchor in self._mentions.keys(node) for key in self.anchors.label_keys(anchor)}
        return {self.anchors.label(key) for key in keys}

    def gather(self, nodes: Nodes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (m,) pairs of memories and the numbers of the anchors that they mention or are about; turns included."""
        owners, anchors = zip(*((postings.gather(nodes)) for postings in (self._mentions, self._turns)), strict=True)
        rows = [np.repeat(np.arange(len(nodes)), counts) for counts in owners]
        return np.concatenate(rows), np.concatenate(anchors)

    def mentioning(self, anchor: int) -> Nodes:
        """Return the memories that mention an anchor or are about it, turns included, unordered."""
        return np.concatenate([self._mentions.nodes(anchor), self._turns.nodes(anchor)])

    def frequency(self, anchor: int) -> int:
        """Return the number of memories that mention an anchor or are about it, turns included."""
        return self._mentions.frequency(anchor) + self._turns.frequency(anchor)

    def find_subjects(self, names: NameWords) -> set[str]:
        """Return the longest labels in a text that name the subject of some memory."""
        return find_longest(names.words, names.starts, self.anchors.limits, self._is_subject)

    def _is_subject(self, label: str) -> bool:
        return any(self._about.frequency(anchor) for anchor in self.anchors.find_anchors(label)[0].tolist())

    def put(self, node: int, about: Mapping[IRI, float], mentions: Iterable[IRI], *, is_turn: bool = False) -> None:
        """Add or replace a memory: what it is about and how surely, and what else it mentions."""
        of_about, of_mentions = self._count(about, mentions)
        if is_turn or node in self._turns:
            self.drop(node)
        if is_turn:
            self._turns.add_counts(node, of_mentions, 0)
            return
        if (
            node in self._mentions
            and self._about.counts(node) == of_about
            and self._mentions.counts(node) == of_mentions
        ):
            return
        self._about.add_counts(node, of_about, 0)
        self._mentions.add_counts(node, of_mentions, 0)

    def drop(self, node: int) -> None:
        """Remove a memory; harmless when it is missing."""
        for postings in (self._mentions, self._about, self._turns):
            postings.remove(node)

    def fill(self, memories: Iterable[tuple[int, Mapping[IRI, float], Iterable[IRI], bool]]) -> None:
        """Add many memories where there are none: the same as `put` for each, in a fraction of the time."""
        mentions, subjects, turns = _Flat(), _Flat(), _Flat()
        for node, about, mentioned, is_turn in sorted(memories, key=lambda memory: memory[0]):
            of_about, of_mentions = self._count(about, mentioned)
            if is_turn:
                turns.add(node, of_mentions)
            else:
                subjects.add(node, of_about)
                mentions.add(node, of_mentions)
        self._mentions, self._about, self._turns = (
            Postings(segment=flat.segment()) for flat in (mentions, subjects, turns)
        )

    def arrays(self) -> Arrays:
        """Return the arrays to store, without the anchors."""
        return nest_arrays(
            {"mentions": self._mentions.merge_all(), "about": self._about.merge_all(), "turns": self._turns.merge_all()}
        )

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> Links:
        """Restore from what `arrays` returned, into an empty object."""
        self._mentions, self._about, self._turns = (
            Postings(segment=Segment.from_arrays(select_part(arrays, name))) for name in ("mentions", "about", "turns")
        )
        return self

    def _count(self, about: Mapping[IRI, float], mentions: Iterable[IRI]) -> tuple[dict[int, int], dict[int, int]]:
        number = self.anchors.number
        of_about = {number(iri): max(round(weight * UNIT), 1) for iri, weight in about.items()}
        return of_about, {**dict.fromkeys(map(number, mentions), 1), **dict.fromkeys(of_about, 1)}


class _Flat:
    """The terms of many nodes, one after the other."""

    def __init__(self) -> None:
        self._nodes: list[int] = []
        self._counts: list[int] = []
        self._keys: list[int] = []
        self._times: list[int] = []

    def add(self, node: int, counts: Mapping[int, int]) -> None:
        self._nodes.append(node)
        self._counts.append(len(counts))
        self._keys += counts.keys()
        self._times += counts.values()

    def segment(self) -> Segment:
        nodes = np.array(self._nodes, dtype=np.int32)
        keys, times = (np.array(column, dtype=np.int64) for column in (self._keys, self._times))
        return Segment.of(
            nodes, np.zeros(len(nodes), dtype=np.int32), np.array(self._counts, dtype=np.int64), keys, times
        )


COMMON = 0.03
"""A name that more than this share of memories mentions links nothing; a name that is nobody's subject is then ignored."""


class Name(NamedTuple):
    """A name over several graphs together."""

    entities: list[Entity]
    df: int  # number of memories that mention it
    subjects: int  # number of memories whose subject it is
    idf: float

    @property
    def strength(self) -> float:
        """idf / W: the value that the name gives to a memory that is surely about it."""
        return self.idf / max(1.0, fsum(entity.weight for entity in self.entities))


class Joined:
    """The links of the graphs that one reader sees: names are joined by label, counts added. For one question."""

    def __init__(self, links: Sequence[Links]) -> None:
        self._links = links
        self._names: dict[str, Name] = {}
        self._mentions: dict[int, set[str]] = {}

    @cached_property
    def n(self) -> int:
        """The number of memories."""
        return sum(links.population for links in self._links)

    def mentions(self, node: int) -> set[str]:
        """Return the labels that a memory mentions; empty for a node that takes no part."""
        known = self._mentions.get(node)
        if known is None:
            known = next((links.mentions(node) for links in self._links if node in links), set())
            self._mentions[node] = known
        return known

    def is_tie(self, label: str) -> bool:
        """Return whether a shared mention of a name connects two memories, because few others mention it."""
        name = self.name(label)
        return name.idf > 0 and name.df <= max(COMMON * self.n, 2)

    def name(self, label: str) -> Name:
        """
        Return a name with its counts over all graphs.

        Its idf, in 0..1, is ln((N + 1) / (df + 1)) / ln(N + 1); it is 0 for a name that is nobody's subject and that one memory
        alone, or more than 3 % of them, mentions.
        """
        known = self._names.get(label)
        if known is None:
            known = self._names[label] = self._name(label)
        return known

    def _name(self, label: str) -> Name:
        df = subjects = 0
        entities = []
        for links in self._links:
            if entity := links.entity(label):
                entities.append(entity)
                df += entity.df
                subjects += entity.about
        telling = subjects or 2 <= df <= COMMON * self.n
        idf = log((self.n + 1) / (df + 1)) / log(self.n + 1) if telling else 0.0
        return Name(entities, df, subjects, idf)

    def find_names(self, question: str) -> list[str]:
        """
        Return the longest names in a question, from left to right; single lower-case words only if there is no other name.

        >>> anchors = Anchors()
        >>> for name in ("ed wood", "the film"):
        ...     anchors.put(IRI(f"urn:{name}"), {name: 1.0})
        >>> links = Links(anchors)
        >>> links.put(1, {IRI("urn:ed wood"): 1.0}, []); links.put(2, {IRI("urn:the film"): 1.0}, [])
        >>> Joined([links]).find_names("Who was in the film Ed Wood?")
        ['the film', 'ed wood']
        """
        read = read_names(question)
        words, large = read.words, set(read.starts)
        named: dict[str, None] = {}
        small: dict[str, None] = {}
        place = 0
        while place < len(words):
            n = self._longest(words, place)
            span = words[place : place + max(n, 1)]
            if n and (place in large or (n > 1 and not OPENERS.issuperset(span))):
                named[" ".join(span)] = None
            elif n:
                small[" ".join(span)] = None
            place += len(span)
        return list(named or small)

    def find_asked(self, question: str) -> list[Asked]:
        """
        Return the names in a question, from left to right, as long as possible, with what each may mean: a full name means whoever
        has it, a part of one everybody who has it, unless something is known by that word alone.

        >>> anchors = Anchors(); links = Links(anchors)
        >>> for number, name in enumerate(("ana costa", "ana lopes", "porto")):
        ...     anchors.put(IRI(f"urn:{name}"), {name: 1.0}); links.put(number, {IRI(f"urn:{name}"): 1.0}, [])
        >>> joined = Joined([links])
        >>> [(one.label, sorted(one.meant)) for one in joined.find_asked("Did Ana Costa meet Ana in Porto?")]
        [('ana costa', ['ana costa']), ('ana', ['ana costa', 'ana lopes']), ('porto', ['porto'])]
        >>> joined.find_asked("Where does Ana Prado live?")
        []
        """
        read = read_names(question)
        words, large = read.words, set(read.starts)
        asked: list[Asked] = []
        small: list[Asked] = []
        place = 0
        while place < len(words):
            length = next(
                (n for n in range(min(LONGEST, len(words) - place), 0, -1) if self._is_name(words[place : place + n])),
                0,
            )
            label = " ".join(words[place : place + max(length, 1)])
            is_large = place in large and not (place == 0 and length < 2 and is_everyday(label))
            meant = {label} if length else set()
            if is_large and (not length or (length == 1 and self._is_merely_written(label))):
                # Beside another capitalised word it is a part of a full name that nobody has.
                is_part = any(f" {pair} " in f" {span} " for pair in _pair_up(words, place) for span in read.spans)
                longer = [] if is_part else self._find_longer(label)
                meant |= {one for one in longer if self._is_name(one.split()) and (not length or one.startswith(label))}
            if is_large and length == 1 and len(label) <= ABBREVIATION and label.upper() in question:
                meant = set()  # "the API" is a kind of thing, and written in small letters elsewhere
            if meant and (is_large or length > 1):
                asked.append(Asked(label, frozenset(meant)))
            elif meant and not is_everyday(label):
                small.append(Asked(label, frozenset(meant)))
            place += max(length, 1)
        return asked or small

    def find_confusable(self, asked: Sequence[Asked]) -> set[str]:
        """Return the full names that share their first or last word with an asked full name and do not mean it."""
        meant = {label for one in asked for label in one.meant}
        found: set[str] = set()
        for label in {one.label for one in asked if " " in one.label}:
            words = set(label.split())
            longer = (other for end in words - OPENERS for other in self._find_longer(end))
            found |= {other for other in longer if not (words <= set(other.split()) or words >= set(other.split()))}
        return found - meant

    def mentioning(self, labels: Iterable[str]) -> Nodes:
        """Return the memories that mention one of some names, or are about it, ascending."""
        parts = [entity.mentions() for label in labels for entity in self.name(label).entities]
        return distinct(np.concatenate([np.zeros(0, dtype=np.int32), *parts]))

    def _is_name(self, words: Sequence[str]) -> bool:
        label = " ".join(words)
        return not OPENERS.issuperset(words) and is_telling(label) and self.name(label).df > 0

    def _is_merely_written(self, label: str) -> bool:
        """Tell whether memories only write a name, and nothing is known by it alone."""
        known = [links.anchors for links in self._links[:1]]
        return all(one.iri(int(at)).startswith(_NAME) for one in known for at in one.find_anchors(label)[0])

    def _find_longer(self, word: str) -> set[str]:
        return {label for links in self._links[:1] for label in links.anchors.find_longer(word)}

    def _longest(self, words: Sequence[str], place: int) -> int:
        """Return the word count of the longest name that begins at a position, 0 if none does."""
        lengths = range(min(LONGEST, len(words) - place), 0, -1)
        return next((n for n in lengths if self.name(" ".join(words[place : place + n])).idf > 0), 0)


def _pair_up(words: Sequence[str], place: int) -> list[str]:
    """Return a word with the one before, unless that opens the text, and with the one after."""
    return [" ".join(words[n : n + 2]) for n in (place - 1, place) if n + 1 < len(words) and (n > 0 or n == place)]


class Asked(NamedTuple):
    """A name in a question: its label there, and the labels of what it may mean."""

    label: str
    meant: frozenset[str]


ABBREVIATION = 4
"""Maximum number of letters of an abbreviation."""
CROWD = 1000
"""A name that is the subject of more memories than this says nothing about any single one."""
RARE = 12
"""A name that so few memories mention connects them even if a memory has none of the question's words."""
FEW_TIED = 0.05
"""Share of all memories below which sorting a subset is quicker than scanning all."""
MOST = 200_000
"""Maximum number of shared mentions examined, the rarest names first; it bounds the time in a large graph."""


def subject_signal(names: Iterable[str], joined: Joined, visible: Mask) -> Values:
    """
    Return how surely memories are about a name of the question, in 0..1; the more memories share a name, the less it says about
    each.

    Args:
        names: labels as `Joined.find_names` returns them.
        visible: (ids,) the memories that may have a value.

    >>> anchors, faro = Anchors(), IRI("urn:faro")
    >>> anchors.put(faro, {"faro": 1.0})
    >>> links = Links(anchors)
    >>> for node in range(3):
    ...     links.put(node, {faro: 1.0} if node == 1 else {}, [])
    >>> nodes, values = subject_signal(["faro"], Joined([links]), np.ones(3, dtype=np.bool_))
    >>> nodes.tolist(), values.tolist()  # ln(4 / 2) / ln 4 · 1 / 1
    ([1], [0.5])
    """
    parts: list[Values] = []
    for name in map(joined.name, names):
        strength = np.float32(name.strength)
        parts += [(nodes, weights * strength) for nodes, weights in map(Entity.subjects, name.entities)]
    nodes, values = _concatenate(parts)
    seen = visible[nodes] & (values > 0)
    return _best(nodes[seen], values[seen])


def link_signal(seeds: Values, joined: Joined, visible: Mask) -> Values:
    """
    Return how strongly good memories lead to the memories about what they mention.

    Args:
        seeds: (s,) the best memories, and how good each is in 0..1.
        visible: (ids,) the memories that may have a value.
    """
    keys: list[NDArray[np.int64]] = []  # seed · ids + node: sums what the names of one seed say about a node
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
        return _concatenate([])
    distinct, slots = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.bincount(slots, weights=np.concatenate(values), minlength=len(distinct))
    place, nodes = np.divmod(distinct, max(len(visible), 1))
    led = (sums * seeds[1][place] ** 2).astype(np.float32)
    seen = visible[nodes] & (nodes != seeds[0][place])
    return _best(nodes[seen].astype(np.int32), led[seen])


def shared_signal(seeds: Values, question: str, joined: Joined, postings: Sequence[Postings], visible: Mask) -> Values:
    """
    Return how well memories that share a name with a good memory cover the question's words that the good memory lacks.

    Args:
        seeds: (s,) the best memories, and how good each is in 0..1.
        postings: the words of the same graphs.
        visible: (ids,) the memories that may have a value.
    """
    ties = _ties(seeds[0].tolist(), joined)
    if not ties:
        return _concatenate([])
    nodes = np.concatenate([found for _, _, found in ties])
    lengths = [len(found) for _, _, found in ties]
    slots = np.zeros(len(visible), dtype=np.int32)
    if len(nodes) < FEW_TIED * len(slots):
        there = distinct(np.concatenate([nodes[visible[nodes]], seeds[0]]).astype(np.int32))
    else:
        slots[nodes] = visible[nodes]
        slots[seeds[0]] = 1
        there = np.flatnonzero(slots != 0).astype(np.int32)  # several times quicker than on the numbers themselves
    slots[there] = np.arange(1, len(there) + 1)  # 0: neither a seed nor both tied and visible
    n = len(seeds[0])
    keys = (slots[nodes] - 1) * n + np.repeat([seed for seed, _, _ in ties], lengths)
    strengths = np.repeat([strength for _, strength, _ in ties], lengths)
    tied = keys >= 0
    sums = np.bincount(keys[tied], weights=strengths[tied])
    pairs = np.flatnonzero(sums > 0)
    slot, seed = np.divmod(pairs, n)
    covered, idf = _cover_terms(question, postings, slots, len(there))
    left = idf * (1.0 - covered[slots[seeds[0]] - 1])  # (s, terms)
    left /= np.maximum(left.sum(axis=1, keepdims=True), np.float32(1e-9))
    share = np.einsum("ij,ij->i", covered[slot], left[seed])
    values = (np.minimum(sums[pairs], 1.0) * share * seeds[1][seed] ** 2).astype(np.float32)
    seen = visible[there[slot]] & (values > 0)
    return _best(there[slot[seen]].astype(np.int32), values[seen])


def tie_signal(seeds: Values, joined: Joined, visible: Mask) -> Values:
    """
    Return how rare the names are that memories share with a good memory, whatever else they say: "her husband" has no word of
    "married".

    Args:
        seeds: (s,) the best memories, and how good each is in 0..1.
        visible: (ids,) the memories that may have a value.
    """
    ties = _ties(seeds[0].tolist(), joined, RARE)
    if not ties:
        return _concatenate([])
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
    Return (position of a seed, idf² of a name it mentions, the memories that mention it), the rarest first, at most `MOST`
    memories.

    Args:
        most: leave out names that more memories mention than this.
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


def _cover_terms(
    question: str, postings: Sequence[Postings], slots: NDArray[np.int32], n: int
) -> tuple[Weights, Weights]:
    """Return (n, terms) 1 where the memory of a slot has a word of the question, and (terms,) the idf of each known word."""
    total = sum(words.population for words in postings)
    df = {term: sum(words.document_frequency(term) for words in postings) for term in dict.fromkeys(tokens(question))}
    terms = [term for term in df if df[term]]
    covered = np.zeros((n + 1, len(terms)), dtype=np.float32)
    for column, term in enumerate(terms):
        for words in postings:
            if found := words.having(term):
                covered[slots[found[0]], column] = 1.0
    idf = [log1p((total - df[term] + 0.5) / (df[term] + 0.5)) for term in terms]
    return covered[1:], np.array(idf, dtype=np.float32)


def _concatenate(parts: Sequence[Values]) -> Values:
    if not parts:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
    return np.concatenate([nodes for nodes, _ in parts]), np.concatenate([values for _, values in parts])


def _best(nodes: Nodes, values: Weights) -> Values:
    """Return distinct nodes, ascending, and the largest value of each."""
    order = np.lexsort((-values, nodes))
    nodes, values = nodes[order], values[order]
    first = np.ones(len(nodes), dtype=np.bool_)
    first[1:] = nodes[1:] != nodes[:-1]
    return nodes[first], values[first]


@register
class GraphLinks(GraphTables[Links]):
    """What the memories of each named graph are about, and what they mention."""

    name = "links"
    version = 2
    reads = frozenset({MEM.about, MEM.mentions, MEM.subject})
    learns_from = frozenset({MEM.Name})

    def __init__(self, context: Context | None = None) -> None:
        super().__init__(context)
        self.anchors = Anchors()

    def apply(self, update: Update) -> None:
        for record in (*(record for _, record in update.nodes), *update.others):
            self._learn(record)
        for node, record in update.nodes:
            if record.kind == "memory":
                links, is_turn = self.need(record.graph, self._create), self.context.turn_place(record) is not None
                links.put(node, *self.read_edges(record), is_turn=is_turn)

    def fill(self, everything: Everything) -> None:
        for record in (*(record for _, record in everything.nodes), *everything.others):
            self._learn(record)
        for graph, memories in everything.by_graph("memory").items():
            rows = ((node, *self.read_edges(one), self.context.turn_place(one) is not None) for node, one in memories)
            self.need(graph, self._create).fill(rows)

    def _create(self) -> Links:
        return Links(self.anchors)

    def _learn(self, record: Record) -> None:
        if record.kind in ("anchor", "key") or MEM.Name in record.statements.get(TYPE, ()):
            self.anchors.put(record.iri, read_labels(record))

    def read_edges(self, record: Record) -> tuple[dict[IRI, float], list[IRI]]:
        """
        Return the subject of a memory under its names, each with its weight, and what else the memory mentions or is about, without
        the user.

        The subject is its `mem:subject`, as long as the memory is about that, or the only thing it is about, and the names beside
        it.
        """
        said = [value for value in record.statements.get(MEM.about, ()) if isinstance(value, IRI)]
        about = [iri for iri in said if not iri.startswith(_USER)]
        subject = record.first(MEM.subject)
        chief = subject if subject in about else about[0] if len(said) == 1 and about else None
        sure: dict[IRI, float] = {}
        if chief is not None:
            words = {word for label in self._labels_of(chief) for word in label.split()}
            for iri in about:
                if iri.startswith(_NAME):
                    is_part = any(words.issuperset(label.split()) for label in self._labels_of(iri))
                    sure[iri] = PARTLY if is_part or MEM.title in record.statements else OTHERWISE
            sure[IRI(chief)] = 1.0
        mentions = [value for value in record.statements.get(MEM.mentions, ()) if isinstance(value, IRI)]
        return sure, [*(iri for iri in about if iri not in sure), *mentions]

    def _labels_of(self, iri: str) -> dict[str, float]:
        return self.anchors.labels(self.anchors.number(IRI(iri)))

    def drop(self, node: int) -> None:
        if self.context.nodes.kind(node) != "memory":
            self.anchors.drop(self.context.nodes.iri(node))
        for links in self.among([self.context.nodes.graph(node)]):
            links.drop(node)

    def forget(self, iri: IRI) -> None:
        self.anchors.drop(iri)

    def arrays(self) -> Arrays:
        return nest_arrays({"anchors": self.anchors.arrays(), "graphs": self.pack_tables(Links.arrays)})

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.anchors.restore(select_part(arrays, "anchors"))
        self.unpack_tables(select_part(arrays, "graphs"), lambda table: self._create().restore(table))


def read_labels(record: Record) -> dict[str, float]:
    """
    Return every label of an anchor and how surely it means the anchor; a final remark in parentheses may be left out of a name.

    >>> read_labels(Record(IRI("urn:a"), IRI("urn:g"), {MEM.name: ["Ed Wood (film)"]}))
    {'ed wood film': 1.0, 'ed wood': 1.0}
    """
    names = [form for name in record.labels for form in (name, strip_remark(name))]
    return {label: 1.0 for name in names if is_telling(label := label_of(name))}
