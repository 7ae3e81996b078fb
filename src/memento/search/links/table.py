"""
Who mentions what and who is about what, in one named graph, as memories come and go.

*Guarantees:* what is known depends only on the memories that are there, not on their order: a name that becomes somebody's
subject is found in the memories that came before.

*But:* a frequent word that becomes a name, or ceases to be one, costs 20 µs for every memory it stands in. Not for several
threads at once: whoever owns the links holds a lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.search.archive import nested, part, strings, unpacked
from memento.search.links.names import longest
from memento.search.links.reading import UNIT, Read, Text, slot
from memento.search.postings import Postings
from memento.search.ragged import Log
from memento.search.segment import Arrays, Segment
from memento.search.vocabulary import Vocabulary

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
        """(df,) in no order."""
        found = self._mentions.having(self._key)
        return np.zeros(0, dtype=np.int32) if found is None else found[0]

    def subjects(self) -> tuple[Nodes, Weights]:
        """The nodes whose subject it is, and how surely: (about,) each, in no order."""
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
        found = self._subjects.having(self._key)
        if found is None:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
        return found[0], found[1] / np.float32(UNIT)


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
        """Memories that take part."""
        return len(self._mentions)

    def __contains__(self, node: int) -> bool:
        return node in self._mentions

    def entity(self, label: str) -> Entity | None:
        """What is known of a name, given as `names.label_of` writes it."""
        key = self._labels.number(label)
        df = 0 if key is None else self._mentions.frequency(key)
        return Entity(label, key, df, self._mentions, self._subjects) if key is not None and df else None

    def is_subject(self, label: str) -> bool:
        """Whether some memory is about what goes by this name."""
        key = self._labels.number(label)
        return key is not None and self._subjects.frequency(key) > 0

    def entities(self) -> Iterator[Entity]:
        """Every name that a memory has, in no order."""
        return (entity for label in self._labels.words() if (entity := self.entity(label)))

    def mentions(self, node: int) -> set[str]:
        """The labels that a memory mentions; none when it takes no part."""
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
        kept = Read.of(Text(node, content, title, extra))
        number = self._labels.whole
        new = [label for label in kept.subjects if not self.is_subject(label)]
        self._texts.put(node, np.frombuffer(kept.text, dtype=np.uint8))
        self._starts.put(node, kept.starts)
        self._slots.add_counts(node, dict.fromkeys(kept.slots, 1), 0)
        self._subjects.add_counts(node, {number(label): weight for label, weight in kept.subjects.items()}, 0)
        self._widen(kept.subjects)
        self._match(node, {number(label) for label in kept.own})
        for label in new:
            self._reread(label)

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
                self._reread(label)

    def fill(self, texts: Iterable[Text]) -> None:
        """Take in many memories where there are none: the same as `put` for each, in a fraction of the time."""
        read_ = [Read.of(text) for text in sorted(texts, key=lambda text: text.node)]
        known = {label for one in read_ for label in one.subjects}
        self._widen(known)
        assert self._limits is not None
        nodes = np.array([one.node for one in read_], dtype=np.int32)
        number, limits = self._labels.whole, self._limits
        mentions, subjects, slots = _Flat(), _Flat(), _Flat()
        for one in read_:
            matched = longest(one.text.decode().split(), one.starts, limits, known.__contains__) - one.own
            counts = {number(label): _OWN for label in sorted(one.own)}
            mentions.add(counts | {number(label): _MATCHED for label in sorted(matched)})
            subjects.add({number(label): weight for label, weight in one.subjects.items()})
            slots.add(dict.fromkeys(one.slots, 1))
        self._mentions = Postings(self._labels, mentions.segment(nodes))
        self._subjects = Postings(self._labels, subjects.segment(nodes))
        self._slots = Postings(segment=slots.segment(nodes))
        sizes = np.array([len(one.text) for one in read_], dtype=np.int32)
        self._texts = Log.of(nodes, sizes, np.frombuffer(b"".join(one.text for one in read_), dtype=np.uint8))
        sizes = np.array([len(one.starts) for one in read_], dtype=np.int32)
        starts = np.array([start for one in read_ for start in one.starts], dtype=np.int32)
        self._starts = Log.of(nodes, sizes, starts)

    def arrays(self) -> Arrays:
        """What is to be kept."""
        parts = {
            "mentions": self._mentions.settle(),
            "subjects": self._subjects.settle(),
            "slots": self._slots.settle(),
            "labels": strings(self._labels.words()),
            "texts": self._texts.arrays(),
            "starts": self._starts.arrays(),
        }
        return nested(parts)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """What `arrays` gave."""
        links = cls()
        links._labels = Vocabulary(unpacked(part(arrays, "labels")))
        links._mentions, links._subjects, links._slots = (
            Postings(links._labels, Segment.from_arrays(part(arrays, name)))
            for name in ("mentions", "subjects", "slots")
        )
        links._texts, links._starts = (Log.from_arrays(part(arrays, name)) for name in ("texts", "starts"))
        return links

    def _reread(self, label: str) -> None:
        """A label became known, or is no more: match the memories anew in whose words it stands."""
        between = f" {label} ".encode()
        found = self._slots.having(slot(label.split()))
        for node in [] if found is None else found[0].tolist():
            if between in self._texts.get(node).tobytes():
                self._match(node, {key for key, how in self._mentions.counts(node).items() if how == _OWN})

    def _match(self, node: int, own: set[int]) -> None:
        """Set what a memory mentions: its own names, and the known ones in its words."""
        if self._limits is None:
            self._limits = {}
            self._widen([label for label in self._labels.words() if self.is_subject(label)])
        words = self._texts.get(node).tobytes().decode().split()
        found = longest(words, self._starts.get(node).tolist(), self._limits, self.is_subject)
        matched = {self._labels.whole(label) for label in found} - own
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
