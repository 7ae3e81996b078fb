"""
Which memories are about what others mention: the links that lead from a good memory to the one that answers.

*Flow:* `read_names` (words, spans) and `find_longest` (known labels) → `Links` (one named graph, as memories come and go) →
`Joined` (several graphs as one, for one question) → the signals:

    subject(m) = max over names e of the question: idf(e) · w(e, m) / W(e)
    link(m)    = max over seeds s: g(s)² · Σ over e mentioned by s: idf(e) · w(e, m) / W(e)
    shared(m)  = max over seeds s: g(s)² · min(1, Σ over e mentioned by s and m: idf(e)²) · left(s, m)
    tie(m)     = max over seeds s: g(s)² · min(1, Σ over e mentioned by s and m and ten others at most: idf(e)²)

w(e, m) is how surely e is the subject of m, W(e) the sum of it over all memories, at least 1; left(s, m) is the share, by
idf, of the question's words which s does not have that m has. A seed earns nothing from itself.

*Guarantees:* what is known depends only on the memories that are there, not on their order: a name that becomes somebody's
subject is found in the memories that came before. Signals come back by ascending id, for visible nodes, positive and unscaled;
what no reader sees carries no value, but still counts where names are weighed.

*But:* names are seen by their capitals; a script without them has names only where a known label begins. A frequent word that
becomes a name, or ceases to be one, costs 20 µs for every memory that has it. Not for several threads at once: whoever owns
the links holds a lock.

*Because:* on three sets of questions over passages a seed that leads to itself costs 3 to 8 points of recall@5, and names
that more than 3 % mention add nothing to `shared`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log, log1p
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM
from memento.search.arrays import Arrays, Log, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Everything, GraphTables, Update, register
from memento.search.nodes import Mask, Record
from memento.search.postings import Postings, Segment, Vocabulary, tokens
from memento.search.subjects import JOINTS, OPENERS, UNSURE, aliases

LONGEST = 8
"""Words of a label; longer ones are headlines."""

# As in `labels.normalise_label`, and hyphens and slashes part words too: "Sackville-West" is also written "Sackville West".
_WORD = re.compile(r"[^\s\"'“”‘’`«»,;:!?()\[\]{}\-‐‑–—/|]+")


@dataclass(frozen=True, slots=True)
class NameWords:
    """The words of a text as they are compared, and where a name may begin."""

    words: tuple[str, ...]
    starts: tuple[int, ...]  # ascending: places of words without a small first letter
    spans: frozenset[str]  # its own capitalised spans and four-digit numbers, as labels


def label_of(name: str) -> str:
    """
    Return a name as labels are compared here: its words, case folded, without punctuation around them; empty if none is left.

    >>> label_of("The Sackville-Wests, Jr."), label_of("Node.js"), label_of("…")
    ('the sackville wests jr', 'node.js', '')
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(word for found in _WORD.findall(folded) if (word := found.strip(".…")))


def is_telling(label: str) -> bool:
    """
    Return whether a label can name something: not too long, and no single idle word.

    >>> is_telling("the who"), is_telling("the"), is_telling("paris"), is_telling("")
    (True, False, True, False)
    """
    words = label.split()
    return 1 < len(words) <= LONGEST or (len(words) == 1 and label not in OPENERS)


def read_names(text: str) -> NameWords:
    """
    Return the words of a text and its names.

    >>> found = read_names("In 1990 Anna Smith of Faro met Bob. He left.")
    >>> sorted(found.spans), [found.words[start] for start in found.starts]
    (['1990', 'anna smith of faro', 'bob'], ['in', '1990', 'anna', 'smith', 'faro', 'bob', 'he'])
    """
    text = unicodedata.normalize("NFKC", text)
    words: list[str] = []
    starts: list[int] = []
    spans: set[str] = set()
    run: list[str] = []
    end = 0
    for found in _WORD.finditer(text):
        raw = found[0]
        word = raw.strip(".…")
        if not word:
            continue
        if run and not _is_joint(text[end : found.start()]):
            _close(run, spans)
        end = found.end()
        large = not word[0].islower()
        if large:
            starts.append(len(words))
        word = word.casefold()
        if word in JOINTS if run and not large else large and not word[0].isdigit():
            run.append(word)
        else:
            _close(run, spans)
            if len(word) == 4 and word.isdecimal():
                spans.add(word)
        words.append(word)
        if raw[-1] in ".…" and len(word) > 2:  # a full stop, unless it shortens: "J. R.", "Dr."
            _close(run, spans)
    _close(run, spans)
    return NameWords(tuple(words), tuple(starts), frozenset(spans))


def _is_joint(between: str) -> bool:
    return between in (" ", "-", "- ", "'", "’", "–")


def _close(run: list[str], spans: set[str]) -> None:
    """Turn a run of capitalised words into a span, freed of the idle words it begins with and the joints it ends with."""
    first = 0
    while first < len(run) and (run[first] in OPENERS or run[first] in JOINTS):
        first += 1
    while len(run) > first and run[-1] in JOINTS:
        run.pop()
    label = run[first:]
    run.clear()
    if label and is_telling(" ".join(label)):
        spans.add(" ".join(label))


def find_longest(
    words: Sequence[str], starts: Sequence[int], limits: Mapping[str, int], is_known: Callable[[str], bool]
) -> set[str]:
    """
    Return the known labels found from left to right, each as long as can be; a word belongs to one of them at most.

    Args:
        starts: places where a label may begin, ascending.
        limits: by the first word of a label, how many words the longest one has.

    >>> known = {"new york", "york", "new york city"}
    >>> find_longest(("new", "york", "city", "hall"), [0, 1, 2], {"new": 3, "york": 1}, known.__contains__)
    {'new york city'}
    """
    labels: set[str] = set()
    free = 0
    for start in starts:
        if start < free:
            continue
        for n in range(min(limits.get(words[start], 0), len(words) - start), 0, -1):
            label = " ".join(words[start : start + n])
            if is_known(label):
                labels.add(label)
                free = start + n
                break
    return labels


UNIT = 10_000
"""What a weight of 1 is kept as: whole numbers, so that sums do not depend on their order."""
_SLOTS = 1 << 16
"""Lists that the first words of names are spread over: short enough at a million memories, few enough at ten."""


@dataclass(frozen=True, slots=True)
class Text:
    """A memory as `Links.fill` takes it; `extra` are the names of the entities that the graph says it is about."""

    node: int
    content: str
    title: str | None
    extra: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What is kept of a memory: its words as one text between spaces, and the names that are always its own."""

    node: int
    text: bytes
    starts: Sequence[int]
    own: frozenset[str]  # its spans and subjects
    subjects: Mapping[str, int]  # label → weight
    slots: frozenset[int]

    @classmethod
    def of(cls, text: Text) -> Self:
        subjects = _find_subjects(text.content, text.title, text.extra)
        words = read_names(f"{text.title}. {text.content}" if text.title else text.content)
        return cls(
            node=text.node,
            text=f" {' '.join(words.words)} ".encode("utf-8", errors="surrogatepass"),
            starts=words.starts,
            own=words.spans | {label for label, _ in subjects},
            subjects={label: max(round(weight * UNIT), 1) for label, weight in subjects},
            slots=_slots_of(words.words, words.starts),
        )


def _find_subjects(content: str, title: str | None, extra: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Return a memory's labels as its subjects, each once with its largest weight."""
    best: dict[str, float] = {}
    for name, weight in (*aliases(content, title), *((name, UNSURE) for name in extra)):
        label = label_of(name)
        if is_telling(label):
            best[label] = max(best.get(label, 0.0), weight)
    return tuple(best.items())


def _slots_of(words: Sequence[str], starts: Sequence[int]) -> frozenset[int]:
    """Return where a memory is listed: under each word that may begin a name, alone and with the next."""
    return frozenset(_slot_of(words[start : start + n]) for start in starts for n in (1, 2))


def _slot_of(words: Sequence[str]) -> int:
    """Return the list for names that begin with these words, by the first two of them."""
    return crc32(" ".join(words[:2]).encode("utf-8", errors="surrogatepass")) & (_SLOTS - 1)


Nodes = NDArray[np.int32]
Weights = NDArray[np.float32]

_OWN, _MATCHED = 1, 2  # how a memory came to a name: by its spelling or as its subject, or because others are about it


class Entity:
    """A name: the nodes that mention it, and those whose subject it is. To be let go of before the next write."""

    def __init__(self, label: str, key: int, df: int, mentions: Postings, subjects: Postings) -> None:
        self.label = label
        self.df = df
        """Nodes that mention it."""
        self._key, self._mentions, self._subjects = key, mentions, subjects

    @cached_property
    def about(self) -> int:
        """Nodes whose subject it is."""
        return self._subjects.frequency(self._key)

    def mentions(self) -> Nodes:
        """Return (df,) in no order."""
        having = self._mentions.having(self._key)
        return np.zeros(0, dtype=np.int32) if having is None else having[0]

    def subjects(self) -> tuple[Nodes, Weights]:
        """Return the nodes whose subject it is, and how surely: (about,) each, in no order."""
        return self._about

    @cached_property
    def subject_of(self) -> dict[int, float]:
        """Node → weight in 0..1."""
        nodes, weights = self._about
        exact = np.rint(weights * np.float64(UNIT)) / UNIT
        return dict(zip(nodes.tolist(), exact.tolist(), strict=True))

    @cached_property
    def weight(self) -> float:
        """Sum of the weights of the nodes whose subject it is."""
        return round(float(self._about[1].sum(dtype=np.float64)) * UNIT) / UNIT

    @cached_property
    def _about(self) -> tuple[Nodes, Weights]:
        having = self._subjects.having(self._key)
        if having is None:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
        return having[0], having[1] / np.float32(UNIT)


class Links:
    """
    The names of one named graph.

    >>> links = Links()
    >>> links.put(1, "Anna moved to Faro.", None)
    >>> links.put(2, "Faro is a town in Algarve, Portugal.", None)
    >>> sorted(links.mentions(1)), links.entity("faro portugal").subject_of
    (['anna', 'faro'], {2: 0.8})
    """

    def __init__(self) -> None:
        self._labels = Vocabulary()
        self._mentions = Postings(self._labels)
        self._subjects = Postings(self._labels)
        self._slots = Postings()
        self._texts = Log(np.uint8)  # words between spaces
        self._starts = Log(np.int32)  # places of words without a small first letter
        self._limits: dict[str, int] | None = None

    def __len__(self) -> int:
        """Count the memories that take part."""
        return len(self._mentions)

    def __contains__(self, node: int) -> bool:
        return node in self._mentions

    def entity(self, label: str) -> Entity | None:
        """Return what is known of a name, given as `label_of` writes it."""
        key = self._labels.number(label)
        df = 0 if key is None else self._mentions.frequency(key)
        return Entity(label, key, df, self._mentions, self._subjects) if key is not None and df else None

    def is_subject(self, label: str) -> bool:
        """Return whether some memory is about what goes by this name."""
        key = self._labels.number(label)
        return key is not None and self._subjects.frequency(key) > 0

    def entities(self) -> Iterator[Entity]:
        """Return every name that a memory has, in no order."""
        return (entity for label in self._labels.words() if (entity := self.entity(label)))

    def mentions(self, node: int) -> set[str]:
        """Return the labels that a memory mentions; none when it takes no part."""
        return set(self._mentions.terms(node))

    def put(
        self, node: int, content: str, title: str | None, extra: Sequence[str] = (), *, is_turn: bool = False
    ) -> None:
        """
        Take in a memory, or replace what is known of it.

        Args:
            extra: names of the entities that the graph says it is about.
            is_turn: a turn of a conversation: its first words are no subject, so it takes no part.
        """
        self.drop(node)
        if is_turn:
            return
        kept = Reading.of(Text(node, content, title, extra))
        number = self._labels.whole
        new = [label for label in kept.subjects if not self.is_subject(label)]
        self._texts.put(node, np.frombuffer(kept.text, dtype=np.uint8))
        self._starts.put(node, kept.starts)
        self._slots.add_counts(node, dict.fromkeys(kept.slots, 1), 0)
        self._subjects.add_counts(node, {number(label): weight for label, weight in kept.subjects.items()}, 0)
        self._widen(kept.subjects)
        self._match(node, {number(label) for label in kept.own})
        for label in new:
            self._match_again(label)

    def drop(self, node: int) -> None:
        """Let a memory go; harmless when it is not there."""
        if node not in self._mentions:
            return
        subjects = self._subjects.terms(node)
        for postings in (self._mentions, self._subjects, self._slots):
            postings.remove(node)
        self._texts.put(node, np.zeros(0, dtype=np.uint8))
        self._starts.put(node, [])
        for label in subjects:
            if not self.is_subject(label):
                self._match_again(label)

    def fill(self, texts: Iterable[Text]) -> None:
        """Take in many memories where there are none: the same as `put` for each, in a fraction of the time."""
        readings = [Reading.of(text) for text in sorted(texts, key=lambda text: text.node)]
        known = {label for reading in readings for label in reading.subjects}
        self._widen(known)
        assert self._limits is not None
        nodes = np.array([reading.node for reading in readings], dtype=np.int32)
        number, limits = self._labels.whole, self._limits
        mentions, subjects, slots = _Flat(), _Flat(), _Flat()
        for reading in readings:
            matched = (
                find_longest(reading.text.decode().split(), reading.starts, limits, known.__contains__) - reading.own
            )
            counts = {number(label): _OWN for label in sorted(reading.own)}
            mentions.add(counts | {number(label): _MATCHED for label in sorted(matched)})
            subjects.add({number(label): weight for label, weight in reading.subjects.items()})
            slots.add(dict.fromkeys(reading.slots, 1))
        self._mentions = Postings(self._labels, mentions.segment(nodes))
        self._subjects = Postings(self._labels, subjects.segment(nodes))
        self._slots = Postings(segment=slots.segment(nodes))
        sizes = np.array([len(reading.text) for reading in readings], dtype=np.int32)
        self._texts = Log.of(
            nodes, sizes, np.frombuffer(b"".join(reading.text for reading in readings), dtype=np.uint8)
        )
        sizes = np.array([len(reading.starts) for reading in readings], dtype=np.int32)
        starts = np.array([start for reading in readings for start in reading.starts], dtype=np.int32)
        self._starts = Log.of(nodes, sizes, starts)

    def arrays(self) -> Arrays:
        """Return what is to be kept."""
        parts = {
            "mentions": self._mentions.settle(),
            "subjects": self._subjects.settle(),
            "slots": self._slots.settle(),
            "labels": pack_strings(self._labels.words()),
            "texts": self._texts.arrays(),
            "starts": self._starts.arrays(),
        }
        return nest_arrays(parts)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return what `arrays` gave."""
        links = cls()
        links._labels = Vocabulary(unpack_strings(select_part(arrays, "labels")))
        links._mentions, links._subjects, links._slots = (
            Postings(links._labels, Segment.from_arrays(select_part(arrays, name)))
            for name in ("mentions", "subjects", "slots")
        )
        links._texts, links._starts = (Log.from_arrays(select_part(arrays, name)) for name in ("texts", "starts"))
        return links

    def _match_again(self, label: str) -> None:
        """Match the memories again whose words have a label that became known, or is no more."""
        between = f" {label} ".encode()
        having = self._slots.having(_slot_of(label.split()))
        for node in [] if having is None else having[0].tolist():
            if between in self._texts.get(node).tobytes():
                self._match(node, {key for key, how in self._mentions.counts(node).items() if how == _OWN})

    def _match(self, node: int, own: set[int]) -> None:
        """Set what a memory mentions: its own names, and the known ones in its words."""
        if self._limits is None:
            self._limits = {}
            self._widen([label for label in self._labels.words() if self.is_subject(label)])
        words = self._texts.get(node).tobytes().decode().split()
        labels = find_longest(words, self._starts.get(node).tolist(), self._limits, self.is_subject)
        matched = {self._labels.whole(label) for label in labels} - own
        self._mentions.add_counts(node, {**dict.fromkeys(own, _OWN), **dict.fromkeys(matched, _MATCHED)}, 0)

    def _widen(self, labels: Iterable[str]) -> None:
        """Say which names there may be; those that are no more only cost time."""
        if self._limits is None:
            if len(self._labels):
                return  # they are all looked at when they are needed
            self._limits = {}
        for label in labels:
            first, *rest = label.split()
            self._limits[first] = max(self._limits.get(first, 0), 1 + len(rest))


class _Flat:
    """The terms of many nodes, one after the other."""

    def __init__(self) -> None:
        self._counts: list[int] = []
        self._keys: list[int] = []
        self._times: list[int] = []

    def add(self, counts: Mapping[int, int]) -> None:
        self._counts.append(len(counts))
        self._keys += counts.keys()
        self._times += counts.values()

    def segment(self, nodes: Nodes) -> Segment:
        keys, times = (np.array(column, dtype=np.int64) for column in (self._keys, self._times))
        return Segment.of(
            nodes, np.zeros(len(nodes), dtype=np.int32), np.array(self._counts, dtype=np.int64), keys, times
        )


COMMON = 0.03
"""What more than this share of memories mentions links nothing; nobody's subject then, it is no name."""


class Name(NamedTuple):
    """A name as some graphs together know it."""

    entities: list[Entity]
    df: int  # memories that mention it
    subjects: int  # memories whose subject it is
    idf: float

    @property
    def strength(self) -> float:
        """idf / W: what the name gives to a memory that is surely about it."""
        return self.idf / max(1.0, fsum(entity.weight for entity in self.entities))


class Joined:
    """The links of the graphs that one reader sees: names are joined by their labels, counts added. For one question."""

    def __init__(self, links: Sequence[Links]) -> None:
        self._links = links
        self._names: dict[str, Name] = {}
        self._mentions: dict[int, set[str]] = {}

    @cached_property
    def n(self) -> int:
        """Memories in all."""
        return sum(map(len, self._links))

    def mentions(self, node: int) -> set[str]:
        """Return the labels that a memory mentions; none for a node that takes no part."""
        known = self._mentions.get(node)
        if known is None:
            known = next((links.mentions(node) for links in self._links if node in links), set())
            self._mentions[node] = known
        return known

    def is_subject(self, label: str) -> bool:
        """Return whether some memory is about what goes by this name."""
        return any(links.is_subject(label) for links in self._links)

    def is_tie(self, label: str) -> bool:
        """Return whether two memories that mention a name have something in common: few others mention it."""
        name = self.name(label)
        return name.idf > 0 and name.df <= max(COMMON * self.n, 2)

    def name(self, label: str) -> Name:
        """
        Return what is known of a name.

        Its idf, in 0..1, is ln((N + 1) / (df + 1)) / ln(N + 1); but 0 for what is nobody's subject and stands in one memory
        alone, or in more than 3 % of them.
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
        Return the names in a question, from left to right, each as long as can be; single small words only if there is no other.

        >>> links = Links()
        >>> links.put(1, "Ed Wood is a film.", None); links.put(2, "The film was long.", None)
        >>> Joined([links]).find_names("Who was in the film Ed Wood?"), Joined([links]).find_names("who saw that film?")
        (['the film', 'ed wood'], ['film'])
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

    def _longest(self, words: Sequence[str], place: int) -> int:
        """Count the words of the longest name that begins at a place, 0 if none does."""
        lengths = range(min(LONGEST, len(words) - place), 0, -1)
        return next((n for n in lengths if self.name(" ".join(words[place : place + n])).idf > 0), 0)


Values = tuple[Nodes, Weights]
"""Nodes and a value for each: (m,) both."""

CROWD = 1000
"""A name that is the subject of more memories than this tells a seed's reader nothing about any one of them."""
RARE = 12
"""A name that so few memories mention ties them together even if one has none of the question's words."""
MOST = 200_000
"""Shared mentions that are looked at, those of the rarest names first, so that a large graph costs no more time than this."""


def subject_signal(names: Iterable[str], joined: Joined, visible: Mask) -> Values:
    """
    Return how surely memories are about a name of the question, in 0..1; a name shared by many says little about each.

    Args:
        names: labels as `Joined.find_names` gives them.
        visible: (ids,) the memories that may have a value.

    >>> from memento.search.links import Links
    >>> links = Links()
    >>> for node, text in enumerate(["Ed Wood is a film.", "Faro is a town.", "Bela Lugosi likes tea."]):
    ...     links.put(node, text, None)
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
    Return how well good memories lead to the memories about what they mention.

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
        return _concatenate([])
    distinct, slots = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.bincount(slots, weights=np.concatenate(values), minlength=len(distinct))
    place, nodes = np.divmod(distinct, max(len(visible), 1))
    led = (sums * seeds[1][place] ** 2).astype(np.float32)
    seen = visible[nodes] & (nodes != seeds[0][place])
    return _best(nodes[seen].astype(np.int32), led[seen])


def shared_signal(seeds: Values, question: str, joined: Joined, postings: Sequence[Postings], visible: Mask) -> Values:
    """
    Return how well memories that share a name with a good memory cover the question's words that this one leaves open.

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
    covered, idf = _cover_terms(question, postings, slots, len(there))
    left = idf * (1.0 - covered[slots[seeds[0]] - 1])  # (s, terms)
    left /= np.maximum(left.sum(axis=1, keepdims=True), np.float32(1e-9))
    share = np.einsum("ij,ij->i", covered[slot], left[seed])
    values = (np.minimum(sums[pairs], 1.0) * share * seeds[1][seed] ** 2).astype(np.float32)
    seen = visible[there[slot]] & (values > 0)
    return _best(there[slot[seen]].astype(np.int32), values[seen])


def tie_signal(seeds: Values, joined: Joined, visible: Mask) -> Values:
    """
    Return how rare a name memories share with a good memory, whatever else they say: "her husband" has no word of "married".

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
    Return (place of a seed, idf² of a name it mentions, the memories that mention it), the rarest first, `MOST` at most.

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


def _cover_terms(
    question: str, postings: Sequence[Postings], slots: NDArray[np.int32], n: int
) -> tuple[Weights, Weights]:
    """Return (n, terms) 1 where the memory of a slot has a word of the question, and (terms,) the idf of each known word."""
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
    """The names in the memories of each named graph."""

    name = "links"
    reads = frozenset({MEM.subject})

    def apply(self, update: Update) -> None:
        for node, record in update.fresh:
            if record.kind == "memory":
                text, is_turn = self._text_of(node, record), self.context.turn_place(record) is not None
                self.need(record.graph, Links).put(node, text.content, text.title, text.extra, is_turn=is_turn)

    def fill(self, everything: Everything) -> None:
        for graph, memories in everything.by_graph("memory").items():
            apart = [placed for placed in memories if self.context.turn_place(placed[1]) is None]
            self.need(graph, Links).fill(self._text_of(node, record) for node, record in apart)

    def _text_of(self, node: int, record: Record) -> Text:
        """Return a memory with the name of its subject. It mentions much that it is not about in the sense of a link."""
        name = self.context.name(IRI(record.first(MEM.subject)))
        return Text(node, record.first(MEM.content), record.first(MEM.title) or None, (name,) if name else ())

    def drop(self, node: int) -> None:
        for links in self.among([self.context.nodes.graph(node)]):
            links.drop(node)

    def arrays(self) -> Arrays:
        return self.pack_tables(Links.arrays)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.unpack_tables(arrays, Links.from_arrays)
