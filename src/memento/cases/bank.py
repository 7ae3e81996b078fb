"""
The cases of one domain as arrays: their vectors, rewards and times, what they concern, and what came of showing them.

Read from the graph at first use, and brought up to date with every write; the vectors come from the vector file, and what it has
not is embedded.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.cases.form import FORM, form
from memento.ports import Vectors
from memento.search.vectors import digest
from memento.vocabulary import IRI

Vector = NDArray[np.float32]
Rows = NDArray[np.int64]

_BATCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A case as the bank takes it in."""

    iri: IRI
    task: str
    at: datetime
    reward: float | None = None
    q: float | None = None
    uses: int = 0
    about: tuple[IRI, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """
    A case that was shown for a task, and what the task earned.

    `state` (d,) is the task's vector and `written` its form, `at_ms` when it was asked for; `q` is what Q said before the reward.
    """

    use: IRI
    retrieval: IRI
    case: IRI
    state: Vector
    written: NDArray[np.float32]
    at_ms: float
    cosine: float
    reward: float
    q: float | None = None


class Bank:
    """Rows only grow; a case that goes leaves its row empty. `reward` is NaN where nobody has judged."""

    def __init__(self, graph: IRI, dimensions: int) -> None:
        self.graph = graph
        self.dimensions = dimensions
        self.iris: list[IRI] = []
        self.about: list[tuple[IRI, ...]] = []
        self.retrievals: deque[IRI] = deque()
        """The look-ups that the graph keeps, the oldest first."""
        self._row: dict[IRI, int] = {}
        self._concerning: dict[IRI, set[int]] = defaultdict(set)
        self._vectors: Vectors = np.zeros((0, dimensions), dtype=np.float32)
        # at in ms since 1970, reward, mean Q, rankings that mean is over, rewarded uses, sum of their rewards
        self._numbers = np.zeros((6, 0))
        self._alive = np.zeros(0, dtype=np.bool_)
        self._form = np.zeros((0, FORM), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._row)

    @property
    def size(self) -> int:
        """Rows in use, those of cases that went among them."""
        return len(self.iris)

    @property
    def vectors(self) -> Vectors:
        """(size, d) unit rows."""
        return self._vectors[: self.size]

    @property
    def form(self) -> NDArray[np.float32]:
        """(size, 6) how each task is written."""
        return self._form[: self.size]

    @property
    def at(self) -> NDArray[np.float64]:
        """(size,) when each task was finished, in milliseconds since 1970."""
        return self._numbers[0, : self.size]

    @property
    def reward(self) -> NDArray[np.float64]:
        """(size,) what each task earned; NaN where nobody has judged."""
        return self._numbers[1, : self.size]

    @property
    def q(self) -> NDArray[np.float64]:
        """(size,) mean Q over the rankings; NaN before the first."""
        return self._numbers[2, : self.size]

    @property
    def ranked(self) -> NDArray[np.float64]:
        """(size,) how many rankings that mean is over."""
        return self._numbers[3, : self.size]

    @property
    def uses(self) -> NDArray[np.float64]:
        """(size,) how often each case was shown for a task whose reward is known."""
        return self._numbers[4, : self.size]

    @property
    def earned(self) -> NDArray[np.float64]:
        """(size,) the sum of those rewards."""
        return self._numbers[5, : self.size]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """(size,) whether a row is a case that may be shown."""
        return self._alive[: self.size]

    def row(self, iri: IRI) -> int | None:
        """Where a case is, or None."""
        return self._row.get(iri)

    def put(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Take cases in, or replace what is known of them."""
        self._grow(self.size + len(entries))
        for entry, vector in zip(entries, vectors, strict=True):
            row = self._row.get(entry.iri)
            if row is None:
                row = self._row[entry.iri] = self.size
                self.iris.append(entry.iri)
                self.about.append(())
                self._numbers[4:, row] = 0.0
            for entity in self.about[row]:
                self._concerning[entity].discard(row)
            self.about[row] = entry.about
            for entity in entry.about:
                self._concerning[entity].add(row)
            self._vectors[row] = vector
            self._alive[row] = True
            self._form[row] = form(entry.task)
            self._numbers[:4, row] = (_ms(entry.at), _number(entry.reward), _number(entry.q), entry.uses)

    def drop(self, iri: IRI) -> None:
        """Show a case no more; harmless when it is not there."""
        row = self._row.pop(iri, None)
        if row is not None:
            self._alive[row] = False
            for entity in self.about[row]:
                self._concerning[entity].discard(row)

    def credit(self, row: int, reward: float) -> None:
        """A task that the case was shown for has earned this."""
        self._numbers[4, row] += 1
        self._numbers[5, row] += reward

    def value(self, row: int, q: float) -> tuple[float, int]:
        """Take a Q value into the running mean; returns the mean and how many it is over."""
        count = int(self._numbers[3, row]) + 1
        before = 0.0 if count == 1 else float(self._numbers[2, row])
        self._numbers[2:4, row] = (before + (q - before) / count, count)
        return float(self._numbers[2, row]), count

    def concerning(self, entities: Iterable[IRI]) -> dict[int, int]:
        """Rows of the cases about any of some entities, with how many of them."""
        shared: dict[int, int] = defaultdict(int)
        for entity in entities:
            for row in self._concerning.get(entity, ()):
                shared[row] += 1
        return shared

    def within(self, since: datetime | None, until: datetime | None) -> NDArray[np.bool_]:
        """(size,) True for cases that may be shown and were finished in since ≤ at < until."""
        mask = self.alive.copy()
        if since is not None:
            mask &= self.at >= _ms(since)
        if until is not None:
            mask &= self.at < _ms(until)
        return mask

    def when(self, row: int) -> datetime:
        return datetime.fromtimestamp(self.at[row] / 1000, UTC)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self._vectors.nbytes + self._numbers.nbytes + self._alive.nbytes + self._form.nbytes

    def _grow(self, size: int) -> None:
        more = max(size, 2 * len(self._alive), 64) - len(self._alive)
        if size > len(self._alive):
            self._vectors = np.concatenate([self._vectors, np.zeros((more, self._vectors.shape[1]), dtype=np.float32)])
            self._numbers = np.concatenate([self._numbers, np.zeros((6, more))], axis=1)
            self._alive = np.concatenate([self._alive, np.zeros(more, dtype=np.bool_)])
            self._form = np.concatenate([self._form, np.zeros((more, FORM), dtype=np.float32)])


def states(graph: IRI, parts: Backends) -> dict[IRI, str]:
    """The task of every case of a domain, and of every retrieval: what has a vector in the file. A blank one has none."""
    rows = parts.graph.select("cases/states", [graph])
    return {cast(IRI, row["node"]): task for row in rows if (task := str(row["task"])).strip()}


def read(graph: IRI, parts: Backends) -> tuple[Bank, list[Pair], int]:
    """
    The bank of a domain as the graph has it, the pairs with a reward, oldest first, and how many vectors there are.

    Raises:
        GraphError: the store failed.
        EmbeddingError: a task whose vector is not in the file cannot be embedded.
    """
    about: dict[Any, list[IRI]] = defaultdict(list)
    for row in parts.graph.select("cases/about", [graph]):
        about[row["case"]].append(cast(IRI, row["entity"]))
    entries = [
        Entry(
            iri=cast(IRI, row["case"]),
            task=str(row["task"]),
            at=cast(datetime, row["at"]),
            reward=cast("float | None", row.get("reward")),
            q=cast("float | None", row.get("q")),
            uses=cast(int, row.get("uses", 0)),
            about=tuple(about[row["case"]]),
        )
        for row in parts.graph.select("cases/bank", [graph])
    ]
    vectors = vectors_of(states(graph, parts), parts)
    entries = [entry for entry in entries if entry.iri in vectors]
    shown = [row for row in parts.graph.select("cases/pairs", [graph]) if row["retrieval"] in vectors]
    bank = Bank(graph, parts.embedder.dimensions)
    bank.put(entries, np.array([vectors[entry.iri] for entry in entries], np.float32).reshape(-1, bank.dimensions))
    bank.retrievals.extend(cast(IRI, row["retrieval"]) for row in parts.graph.select("cases/looked_up", [graph]))
    pairs = [
        Pair(
            use=cast(IRI, row["use"]),
            retrieval=cast(IRI, row["retrieval"]),
            case=cast(IRI, row["case"]),
            state=vectors[cast(IRI, row["retrieval"])],
            written=form(str(row["task"])),
            at_ms=cast(datetime, row["at"]).timestamp() * 1000,
            cosine=float(str(row["cosine"])),
            reward=float(str(row["reward"])),
            q=cast("float | None", row.get("q")),
        )
        for row in shown
    ]
    return bank, pairs, len(vectors)


def vectors_of(texts: Mapping[IRI, str], parts: Backends) -> dict[IRI, Vector]:
    """The vector of each task, by what it belongs to: from the vector file where it has it, and else embedded and put there."""
    file = parts.indexes.file
    found = {iri: vector for iri, (mark, vector) in file.states(list(texts)).items() if mark == digest(texts[iri])}
    missing = [iri for iri in texts if iri not in found]
    for begin in range(0, len(missing), _BATCH):
        batch = missing[begin : begin + _BATCH]
        rows = embedded([texts[iri] for iri in batch], parts)
        file.write_states([(iri, digest(texts[iri]), row) for iri, row in zip(batch, rows, strict=True)])
        found |= zip(batch, rows, strict=True)
    return found


def embedded(texts: Sequence[str], parts: Backends) -> Vectors:
    """(len(texts), d) unit rows: one for each task, the mean of its windows where it is longer than the model sees."""
    windows = [parts.embedder.windows(text) for text in texts]
    flat = parts.embedder.embed([window for some in windows for window in some])
    if len(flat) == len(texts):
        return flat
    ends = np.cumsum([len(some) for some in windows])
    means = np.array([rows.mean(axis=0) for rows in np.split(flat, ends[:-1])], dtype=np.float32)
    return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def _ms(at: datetime) -> float:
    return at.timestamp() * 1000


def _number(value: float | None) -> float:
    return np.nan if value is None else value
