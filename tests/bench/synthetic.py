"""
A synthetic memory of any size, as quads for one bulk write: facts about entities, conversations, beliefs that ended.

Words and entities are drawn by Zipf–Mandelbrot, p(r) ∝ 1 / (r + q): a few entities are everywhere and most are rare. The same seed
gives the same memory. Vectors need no model: `RandomVectors` gives each text its own random direction.

Source: Mandelbrot 1953; q is set so that the most frequent word is in some 5 % of texts, as in real texts without stop words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zlib import crc32

import numpy as np

from memento.graph import mapping
from memento.iris import IRI, MEM, TYPE, session_iri
from memento.model import KINDS, Entity, Invalidation, Memory, Note, Quad, Scope, Session, User
from memento.ports import Vectors
from memento.rank import unit

BEGIN = datetime(2015, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=50)
TURNS = 40  # in a conversation
SPEAKERS = 50
TALK = 0.4  # share of the memories that are turns of a conversation
ENDED = 0.02  # share of the memories that retire the one before about the same
SYLLABLES = "ba ce di fo gu ha ki lo mu na pe ri so tu va wen xi yor zel dran".split()  # noqa: SIM905


class RandomVectors:
    """`ports.Embedder`: a direction for each text, the same in every process."""

    def __init__(self, dimensions: int = 384) -> None:
        self.dimensions = dimensions
        self.fingerprint = f"random-{dimensions}"

    def windows(self, text: str) -> list[str]:
        return [text]

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(self.dimensions) for text in texts]
        return unit(np.array(rows))


class WordVectors(RandomVectors):
    """`ports.Embedder`: the sum of the directions of a text's words, so that texts that share words are near each other."""

    def __init__(self, dimensions: int = 384) -> None:
        super().__init__(dimensions)
        self.fingerprint = f"words-{dimensions}"
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit(
            np.array([sum(map(self._direction, text.lower().split()), np.zeros(self.dimensions)) for text in texts])
        )

    def _direction(self, word: str) -> Vectors:
        if word not in self._known:
            [row] = super().embed([word])
            self._known[word] = row.astype(np.float32)
        return self._known[word]


class World:
    """`n` memories of one namespace, and questions about them."""

    def __init__(self, n: int, seed: int = 20_240_229) -> None:
        self.n = n
        self.scope = Scope()
        self._rng = np.random.default_rng(seed)
        self._words = [_word(i, 2) for i in range(30_000)]
        self._names = [f"{_word(i, 2).title()} {_word(i * 7 + 3, 3).title()}" for i in range(max(n // 5, SPEAKERS))]
        self._speakers = [name.split()[0] for name in self._names[:SPEAKERS]]
        self._draws: list[float] = []

    def quads(self) -> Iterator[Quad]:
        """Everything that notes of this life would have written, in no useful order."""
        graph, user = self.scope.graph, User(iri=self.scope.user)
        yield from mapping.quads(user, self.scope.self_graph)
        for i, name in enumerate([*self._names, *self._speakers]):
            yield from mapping.quads(Entity(iri=_iri("entity", i), name=name, kind=KINDS[i % len(KINDS)]), graph)
        talk = int(self.n * TALK)
        for i in range(talk):
            yield from self._turn(i)
        last: dict[int, int] = {}  # entity → the newest memory about it
        for i in range(talk, self.n):
            yield from self._fact(i, last)

    def questions(self, n: int) -> Iterator[str]:
        """About an entity, about two of them, of somebody who spoke, and of a date; in turn."""
        for i in range(n):
            a, b = self._name(), self._name()
            match i % 4:
                case 0:
                    yield f"What was {self._text(3)} of {a}?"
                case 1:
                    yield f"How many {self._text(2)} do {a} and {b} share?"
                case 2:
                    yield f"What did {self._speakers[i % SPEAKERS]} say of {self._text(3)}?"
                case _:
                    yield f"When did {a} {self._text(2)} in May {2015 + i % 9}?"

    def _turn(self, i: int) -> Iterator[Quad]:
        graph, place = self.scope.graph, i % TURNS
        name = f"talk {i // TURNS}"
        session = Session(iri=session_iri(graph, name), name=name)
        pair = np.random.default_rng(i // TURNS).integers(0, SPEAKERS, 2)
        said_by = _iri("entity", len(self._names) + int(pair[place % 2]))
        content = f"{self._text(12).capitalize()}{'?' if place % 5 == 4 else '.'}"
        note, at = _iri("note", i), BEGIN + i * STEP
        yield from mapping.quads(session, graph)
        yield (note, TYPE, MEM.Turn, graph)
        yield from mapping.quads(
            Note(iri=note, content=content, at=at, session=session.iri, position=place, said_by=said_by), graph
        )
        if place:
            yield (note, MEM.follows, _iri("note", i - 1), graph)
        memory = Memory(
            iri=_iri("memory", i), content=content, extracted_from=note, valid_at=at, created_at=at, said_by=said_by
        )
        yield from mapping.quads(memory, graph)

    def _fact(self, i: int, last: dict[int, int]) -> Iterator[Quad]:
        graph, at = self.scope.graph, BEGIN + i * STEP
        subject, other = self._drawn(len(self._names), 0), self._drawn(len(self._names), 0)
        content = f"{self._names[subject]} was {self._text(7)} {self._names[other]} and {self._text(3)}."
        note = Note(iri=_iri("note", i), content=content, at=at)
        about = tuple(dict.fromkeys((_iri("entity", subject), _iri("entity", other))))
        memory = Memory(
            iri=_iri("memory", i),
            content=content,
            about=about,
            subject=about[0],
            extracted_from=note.iri,
            valid_at=at,
            created_at=at,
        )
        yield from mapping.quads(note, graph)
        yield from mapping.quads(memory, graph)
        if subject in last and self._rng.random() < ENDED / (1 - TALK):
            yield from self._ended(_iri("memory", last[subject]), memory, i)
        last[subject] = i

    def _ended(self, old: IRI, new: Memory, i: int) -> Iterator[Quad]:
        graph = self.scope.graph
        ending = Invalidation(
            iri=_iri("invalidation", i),
            invalidator=new.iri,
            invalidated=old,
            reason="it changed",
            at=new.created_at,
            mode="state-change",
        )
        yield from mapping.quads(ending, graph)
        yield mapping.invalidates(new.iri, old, graph)
        yield (old, MEM.invalidAt, new.valid_at, graph)

    def _name(self) -> str:
        return self._names[self._drawn(len(self._names), 0)]

    def _text(self, n: int) -> str:
        return " ".join(self._words[self._drawn(len(self._words), 20)] for _ in range(n))

    def _drawn(self, n: int, offset: int) -> int:
        """A rank in 0..n-1, by inversion of the continuous 1 / (r + offset) law."""
        begin = offset + 1
        return min(int(begin * ((n + begin) / begin) ** self._uniform()) - begin, n - 1)

    def _uniform(self) -> float:
        if not self._draws:  # one number at a time is ten times slower
            self._draws = self._rng.random(65_536).tolist()
        return self._draws.pop()


def _word(i: int, least: int) -> str:
    """A word of at least so many syllables, another one for each number."""
    parts: list[str] = []
    while i or len(parts) < least:
        i, place = divmod(i, len(SYLLABLES))
        parts.append(SYLLABLES[place])
    return "".join(parts)


def _iri(kind: str, i: int) -> IRI:
    return IRI(f"urn:memento:{kind}:{i:032x}")
