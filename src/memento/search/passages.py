"""
What a memory is read together with: the neighbouring turns, the session it belongs to, and the shape of its sentence.

A memory outside of any conversation is its own passage: title and content.

*Guarantees:* adding or removing a turn changes its neighbours' passages too, so the state depends only on the present memories, not
on the order in which they came.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, MEM
from memento.search.arrays import Arrays, Log, begins_of, nest_arrays, pack_strings, select_part, unpack_strings
from memento.search.index import Context, Everything, GraphTables, Update, register
from memento.search.nearest import KindVectors, VectorIndex
from memento.search.nodes import Mask, Record
from memento.search.postings import Postings, Segment, Vocabulary, pair, pair_arrays, tokens

Ids = NDArray[np.int32]

BESIDE = 20
"""
The number of stems from the turn before and from the turn after that a turn is read with, those nearest to it: a short turn is read
with its whole neighbours, and the words of a neighbouring page do not drown it.
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """One memory of a conversation: its position, its speaker, and its text without the speaker's name."""

    node: int
    session: IRI
    position: int
    speaker: str
    content: str


class Turns:
    """
    The conversations of one named graph; sessions and speakers have numbers here.

    Turns are ordered by position, then by id: the memories of one note are adjacent.
    """

    def __init__(self) -> None:
        self._sessions: dict[IRI, int] = {}
        self._iris: list[IRI] = []
        self._names: list[str] = []
        self._speakers: dict[str, int] = {}
        self._spoken: list[int] = []  # number of turns of each speaker
        self._session = np.full(0, -1, dtype=np.int32)
        self._speaker = np.full(0, -1, dtype=np.int32)
        self._position = np.zeros(0, dtype=np.int64)
        self._begins = np.zeros(1, dtype=np.int64)
        self._nodes = np.zeros(0, dtype=np.int32)
        self._order: dict[int, list[tuple[int, int]]] = {}  # sessions changed since `fill`
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, turn: Turn) -> None:
        """Add or replace a turn."""
        self.drop(turn.node)
        self._grow(turn.node + 1)
        session = self.number(turn.session)
        insort(self._of(session), (turn.position, turn.node))
        self._session[turn.node], self._position[turn.node] = session, turn.position
        if turn.speaker:
            self._speaker[turn.node] = speaker = self._voice(turn.speaker)
            self._spoken[speaker] += 1
        self._count += 1

    def drop(self, node: int) -> None:
        """Remove a turn; harmless when it is missing."""
        session = self.session_of(node)
        if session < 0:
            return
        order = self._of(session)
        del order[bisect_left(order, (int(self._position[node]), node))]
        if (speaker := int(self._speaker[node])) >= 0:
            self._spoken[speaker] -= 1
        self._session[node] = self._speaker[node] = -1
        self._count -= 1

    def fill(self, turns: Collection[Turn]) -> Ids:
        """Add many turns where there are none; return their ids, conversation after conversation in order."""
        nodes = np.array([turn.node for turn in turns], dtype=np.int32)
        self._grow(int(nodes.max(initial=-1)) + 1)
        self._session[nodes] = [self.number(turn.session) for turn in turns]
        self._position[nodes] = [turn.position for turn in turns]
        self._speaker[nodes] = [self._voice(turn.speaker) if turn.speaker else -1 for turn in turns]
        return self._sort()

    def _sort(self) -> Ids:
        """Put every conversation into arrays, and count the turns of each speaker."""
        nodes = np.flatnonzero(self._session >= 0).astype(np.int32)
        nodes = nodes[np.lexsort((nodes, self._position[nodes], self._session[nodes]))]
        self._begins = begins_of(np.bincount(self._session[nodes], minlength=len(self._iris)))
        self._nodes, self._order, self._count = nodes, {}, len(nodes)
        voices = self._speaker[nodes]
        self._spoken = np.bincount(voices[voices >= 0], minlength=len(self._names)).tolist()
        return nodes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store."""
        return {
            "session": self._session,
            "speaker": self._speaker,
            "position": self._position,
            **nest_arrays({"iris": pack_strings(self._iris), "names": pack_strings(self._names)}),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore from what `arrays` returned; the arrays are modified later."""
        turns = cls()
        turns._session, turns._speaker, turns._position = (arrays[name] for name in ("session", "speaker", "position"))
        turns._iris = [IRI(iri) for iri in unpack_strings(select_part(arrays, "iris"))]
        turns._names = unpack_strings(select_part(arrays, "names"))
        turns._sessions = {iri: number for number, iri in enumerate(turns._iris)}
        turns._speakers = {name: number for number, name in enumerate(turns._names)}
        turns._sort()
        return turns

    @property
    def speakers(self) -> Counter[str]:
        """The speakers of this graph, with their numbers of turns."""
        return Counter({name: n for name, n in zip(self._names, self._spoken, strict=True) if n})

    def neighbours(self, node: int) -> tuple[int, int]:
        """Return the turns before and after a turn, −1 where there is none; (−1, −1) for a memory outside of any conversation."""
        session = self.session_of(node)
        if session < 0:
            return -1, -1
        order = self._order.get(session)
        if order is None:
            nodes = self._nodes[int(self._begins[session]) : int(self._begins[session + 1])].tolist()
            place = nodes.index(node)
        else:
            nodes = [one for _, one in order]
            place = bisect_left(order, (int(self._position[node]), node))
        return (nodes[place - 1] if place else -1), (nodes[place + 1] if place + 1 < len(nodes) else -1)

    def session(self, number: int) -> list[int]:
        """Return the turns of a conversation, in order."""
        if number in self._order:
            return [node for _, node in self._order[number]]
        if number + 1 >= len(self._begins):
            return []
        turns: list[int] = self._nodes[int(self._begins[number]) : int(self._begins[number + 1])].tolist()
        return turns

    def spoken_by(self, names: Collection[str], among: Ids | None = None) -> Ids:
        """Return the turns of some speakers, ascending, or only those among some memories."""
        codes = [self._speakers[name] for name in names if name in self._speakers]
        if among is None:
            return np.flatnonzero(np.isin(self._speaker, codes)).astype(np.int32)
        turns = among[self.sessions_of(among) >= 0]
        return turns[np.isin(self._speaker[turns], codes)]

    def number(self, session: IRI) -> int:
        """Return the number of a session; an unknown session gets a new one."""
        number = self._sessions.setdefault(session, len(self._iris))
        if number == len(self._iris):
            self._iris.append(session)
        return number

    def session_of(self, node: int) -> int:
        """Return the number of the session that a memory belongs to, −1 for none."""
        return int(self._session[node]) if node < len(self._session) else -1

    def sessions_of(self, nodes: NDArray[np.integer]) -> Ids:
        """Do the same for several memories: (len(nodes),)."""
        sessions = np.full(len(nodes), -1, dtype=np.int32)
        known = np.flatnonzero(nodes < len(self._session))
        sessions[known] = self._session[nodes[known]]
        return sessions

    def nodes(self) -> Ids:
        """Return every turn, ascending."""
        return np.flatnonzero(self._session >= 0).astype(np.int32)

    def _voice(self, name: str) -> int:
        voice = self._speakers.setdefault(name, len(self._names))
        if voice == len(self._names):
            self._names.append(name)
            self._spoken.append(0)
        return voice

    def _of(self, session: int) -> list[tuple[int, int]]:
        """Return the order of a session as a mutable list."""
        if session not in self._order:
            nodes = self.session(session)
            self._order[session] = [(int(self._position[node]), node) for node in nodes]
        return self._order[session]

    def _grow(self, size: int) -> None:
        if size > len(self._session):
            more = max(size, 2 * len(self._session), 64) - len(self._session)
            self._session = np.concatenate([self._session, np.full(more, -1, dtype=np.int32)])
            self._speaker = np.concatenate([self._speaker, np.full(more, -1, dtype=np.int32)])
            self._position = np.concatenate([self._position, np.zeros(more, dtype=np.int64)])


_TIME = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|last|next|since|week(?:end)?s?|months?|years?|days?|morning|evening|noon|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|(?:19|20)\d\d|\d{1,2}(?::\d\d)?\s?[ap]m)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|once|twice|"
    r"couple|few|several|half)\b",
    re.IGNORECASE,
)

Shapes = NDArray[np.float32]
"""(n, 4): words / 40, at most 1; ends with a question mark; has a time word; has a number word."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    A memory in the form that `fill` takes. The stem numbers are those of the content; without a turn, those of the title come
    first.
    """

    node: int
    content: str
    stems: Sequence[int]
    turn: Turn | None


class Passages:
    """The passages of the memories of one named graph."""

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self.turns = Turns()
        self.context = Postings(self.vocabulary)
        """Title and content, or this turn after the end of the previous one, without the speakers' names."""
        self.pairs = Postings(self.vocabulary)
        """Pairs of neighbouring stems, over the end of the previous turn, this turn, and the beginning of the next."""
        self._sessions = Postings(self.vocabulary)
        self._unread: set[int] = set()
        self._said = Log(np.int32)  # the stem numbers of each turn
        self._shapes = np.zeros((0, 4), dtype=np.float32)
        self._beside = np.full((0, 2), -1, dtype=np.int32)
        self._known = np.zeros(0, dtype=np.bool_)
        self._used = 0  # one more than the largest id
        self.norms = np.full(0, np.nan, dtype=np.float32)
        """(n,) the length of the sum of a window's three vectors, where it is cached; else NaN."""

    def put(self, node: int, content: str, title: str, turn: Turn | None) -> None:
        """Add or replace a memory; `turn` is its place in a conversation, if it has one."""
        self.put_all([(node, content, title, turn)])

    def put_all(self, memories: Iterable[tuple[int, str, str, Turn | None]]) -> None:
        """Do the same for several memories, given as id, content, title and turn; neighbouring turns are read once."""
        turns = [node for node, content, title, turn in memories if self._add_memory(node, content, title, turn)]
        beside: dict[int, set[int]] = defaultdict(set)
        for node in turns:
            beside[self.turns.session_of(node)].update((node, *self.turns.neighbours(node)))
        for session, changed in beside.items():
            self._refresh_turns(session, changed)

    def _add_memory(self, node: int, content: str, title: str, turn: Turn | None) -> bool:
        """Add a memory, and return whether it is a turn, which must then be read again with its neighbours."""
        self.drop(node)
        self._grow(node + 1)
        self._used = max(self._used, node + 1)
        self._shapes[node] = _shape_of(content)
        self._known[node] = True
        if turn is None:
            stems = self.vocabulary.numbers(tokens(f"{title}. {content}" if title else content))
            self.context.add_keys(node, stems)
            self.pairs.add_keys(node, [pair(a, b) for a, b in pairwise(stems)])
            return False
        self.turns.put(turn)
        self._said.put(node, self.vocabulary.numbers(tokens(turn.content)))
        return True

    def drop(self, node: int) -> None:
        """Remove a memory; harmless when it is missing."""
        self.context.remove(node)
        self.pairs.remove(node)
        if node < len(self._beside):
            self._beside[node] = -1
            self._known[node] = False
        session, beside = self.turns.session_of(node), self.turns.neighbours(node)
        self.turns.drop(node)
        if session >= 0:
            self._said.put(node, [])
            self._refresh_turns(session, beside)

    def fill(self, rows: Sequence[Row]) -> None:
        """Add many memories where there are none: the same as `put` for each, in a fraction of the time."""
        nodes = np.array([row.node for row in rows], dtype=np.int32)
        self._grow(int(nodes.max(initial=-1)) + 1)
        self._known[nodes] = True
        self._used = int(nodes.max(initial=-1)) + 1
        self._shapes[nodes] = np.array([_shape_of(row.content) for row in rows], dtype=np.float32).reshape(-1, 4)
        spoken = self.turns.fill([row.turn for row in rows if row.turn])
        sessions = self.turns.sessions_of(spoken)
        same = sessions[1:] == sessions[:-1]
        self._beside[spoken[1:][same], 0] = spoken[:-1][same]
        self._beside[spoken[:-1][same], 1] = spoken[1:][same]
        self.norms[nodes] = np.nan
        counts = np.array([len(row.stems) for row in rows], dtype=np.int64)
        flat = np.fromiter((stem for row in rows for stem in row.stems), dtype=np.int32, count=int(counts.sum()))
        all_stems = Log.of(nodes, counts, flat)
        self._said = Log.of(spoken, all_stems.count_values(spoken), all_stems.gather(spoken))
        nodes = np.sort(nodes)
        lead, tail = self._beside[nodes, 0], self._beside[nodes, 1]
        stems, lengths = all_stems.join_columns([lead, nodes], [-BESIDE, 0])
        self.context = Postings(self.vocabulary, Segment.of(nodes, lengths, lengths, stems))
        stems, lengths = all_stems.join_columns([lead, nodes, tail], [-BESIDE, 0, BESIDE])
        keys, lengths = _pair_neighbours(stems, lengths)
        self.pairs = Postings(self.vocabulary, Segment.of(nodes, lengths, lengths, keys))
        self._fill_sessions(spoken, sessions)

    def _fill_sessions(self, spoken: NDArray[np.int32], sessions: NDArray[np.int32]) -> None:
        numbers = np.unique(sessions)
        lengths = np.bincount(sessions, weights=self._said.count_values(spoken))[numbers].astype(np.int64)
        stems = self._said.gather(spoken).astype(np.int64)
        self._sessions = Postings(self.vocabulary, Segment.of(numbers, lengths, lengths, stems))

    @property
    def sessions(self) -> Postings:
        """
        The postings of whole sessions, by session number; built on demand, because each new turn would rebuild a long session.
        """
        for session in self._unread:
            turns = self.turns.session(session)
            if turns:
                self._sessions.add_keys(session, [key for node in turns for key in self._said.get(node).tolist()])
            else:
                self._sessions.remove(session)
        self._unread.clear()
        return self._sessions

    def measure(self, turns: NDArray[np.int32], vectors: VectorIndex) -> NDArray[np.float32]:
        """Return (len(turns),) the lengths of the sums of three turns' vectors; cached for each window until it changes."""
        missing = np.isnan(self.norms[turns])
        if missing.any():
            new = turns[missing]
            around = self._beside[new]
            summed = vectors.vectors(new)
            for side in (0, 1):
                there = around[:, side] >= 0
                summed[there] += vectors.vectors(around[there, side])
            self.norms[new] = np.maximum(np.linalg.norm(summed, axis=1), 1e-6)
        return self.norms[turns]

    def has(self, node: int) -> bool:
        """Return whether a memory is in this index."""
        return node < len(self._known) and bool(self._known[node])

    def nodes(self) -> NDArray[np.int32]:
        """Return the ids in this index, ascending."""
        return np.flatnonzero(self._known).astype(np.int32)

    def among(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return those of some nodes that are in this index, in their order."""
        return nodes[self._known[np.minimum(nodes, len(self._known) - 1)] & (nodes < len(self._known))]

    def turn_nodes(self) -> NDArray[np.int32]:
        """Return the ids of the memories that are turns of a conversation, ascending."""
        return self.turns.nodes()

    def session_of(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return (len(nodes),) the number of the session of each memory, −1 for none."""
        return self.turns.sessions_of(nodes)

    def shapes(self, nodes: NDArray[np.int32]) -> Shapes:
        """Return (len(nodes), 4) the shapes of some memories' sentences."""
        return self._shapes[nodes]

    def every_shape(self) -> tuple[Shapes, Mask]:
        """Return (n, 4) the shape of each id, and (n,) which ids are in this index; n may be less than the number of ids."""
        return self._shapes[: self._used], self._known[: self._used]

    def neighbours(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return (len(nodes), 2) the memories before and after each in its conversation, −1 where there is none."""
        return self._beside[nodes]

    def arrays(self) -> Arrays:
        """Return the arrays to store; this merges the terms of all postings into arrays."""
        parts = {
            "turns": self.turns.arrays(),
            "context": self.context.merge_all(),
            "pairs": self.pairs.merge_all(),
            "sessions": self.sessions.merge_all(),
            "said": self._said.arrays(),
            "": {"shapes": self._shapes, "beside": self._beside, "known": self._known, "norms": self.norms},
        }
        return nest_arrays(parts)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> Self:
        """Restore from what `arrays` returned; the arrays of the single memories are modified later."""
        passages = cls(vocabulary)
        passages.turns = Turns.from_arrays(select_part(arrays, "turns"))
        passages.context, passages.pairs, passages._sessions = (
            Postings(vocabulary, Segment.from_arrays(select_part(arrays, name)))
            for name in ("context", "pairs", "sessions")
        )
        passages._said = Log.from_arrays(select_part(arrays, "said"))
        passages._shapes, passages._beside = arrays["shapes"], arrays["beside"]
        passages._used = int(np.flatnonzero(arrays["known"]).max(initial=-1)) + 1
        passages._known, passages.norms = arrays["known"], arrays["norms"]
        return passages

    def _refresh_turns(self, session: int, changed: Iterable[int]) -> None:
        """Read some turns again, each with its neighbours; their session is read later."""
        for node in changed:
            if node >= 0:
                before, after = self.turns.neighbours(node)
                self.norms[node] = np.nan
                self._beside[node] = (before, after)
                lead = self._said.get(before)[-BESIDE:].tolist() if before >= 0 else []
                own = self._said.get(node).tolist()
                tail = self._said.get(after)[:BESIDE].tolist() if after >= 0 else []
                self.context.add_keys(node, [*lead, *own])
                self.pairs.add_keys(node, [pair(a, b) for a, b in pairwise([*lead, *own, *tail])])
        self._unread.add(session)

    def _grow(self, size: int) -> None:
        if size > len(self._shapes):
            more = max(size, 2 * len(self._shapes), 64) - len(self._shapes)
            self._shapes = np.concatenate([self._shapes, np.zeros((more, 4), dtype=np.float32)])
            self._beside = np.concatenate([self._beside, np.full((more, 2), -1, dtype=np.int32)])
            self._known = np.concatenate([self._known, np.zeros(more, dtype=np.bool_)])
            self.norms = np.concatenate([self.norms, np.full(more, np.nan, dtype=np.float32)])


def _pair_neighbours(
    stems: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of neighbours within each list, and the number of pairs in each."""
    if not len(stems):
        return stems, lengths
    keys = pair_arrays(stems[:-1], stems[1:])
    inside = np.ones(len(stems), dtype=np.bool_)
    ends = np.cumsum(lengths)
    inside[ends[lengths > 0] - 1] = False  # the last item of a list has no neighbour
    return keys[inside[:-1]], np.maximum(lengths - 1, 0)


@lru_cache(maxsize=20_000)  # the same memories are in many pools
def _shape_of(content: str) -> tuple[float, bool, bool, bool]:
    return (
        min(len(content.split()), 40) / 40,
        content.rstrip().endswith("?"),
        _TIME.search(content) is not None,
        _NUMBER.search(content) is not None,
    )


@register
class GraphPassages(GraphTables[Passages]):
    """The passages of the memories of each named graph."""

    name = "passages"
    version = 2

    def apply(self, update: Update) -> None:
        of: dict[IRI, list[tuple[int, str, str, Turn | None]]] = defaultdict(list)
        for node, record in update.fresh:
            if record.kind == "memory":
                content, title = record.first(MEM.content), record.first(MEM.title)
                of[record.graph].append((node, content, title, turn_of(node, record, self.context)))
        for graph, memories in of.items():
            self.need(graph, lambda: Passages(self.context.vocabulary)).put_all(memories)

    def fill(self, everything: Everything) -> None:
        for graph, memories in everything.by_graph("memory").items():
            rows = []
            for node, record in memories:
                title, content = everything.stem(node, record)
                turn = turn_of(node, record, self.context)
                stems = content if turn or not title else [*title, *content]
                rows.append(Row(node, record.first(MEM.content), stems, turn))
            self.need(graph, lambda: Passages(self.context.vocabulary)).fill(rows)

    def drop(self, node: int) -> None:
        for passages in self.among([self.context.nodes.graph(node)]):
            passages.drop(node)

    def forget_lengths(self) -> None:
        """Discard the cached lengths, because the vectors are now those of another embedder."""
        for graph in self:
            self[graph].norms[:] = np.nan

    def complete(self) -> None:
        for graph in self:
            self[graph].measure(self[graph].turn_nodes(), self.context[KindVectors]["memory"])

    def holds(self, node: int, record: Record) -> bool:
        return record.kind != "memory" or any(passages.has(node) for passages in self.among([record.graph]))

    def arrays(self) -> Arrays:
        return self.pack_tables(Passages.arrays)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.unpack_tables(arrays, lambda some: Passages.from_arrays(some, self.context.vocabulary))


def turn_of(node: int, record: Record, context: Context) -> Turn | None:
    """Return a memory's place in a conversation, when its note has one."""
    place = context.turn_place(record)
    if place is None:
        return None
    speaker = context.name(IRI(record.first(MEM.saidBy)))
    return Turn(node=node, session=place[0], position=place[1], speaker=speaker, content=record.first(MEM.content))
