"""
The cases of one domain as arrays: their vectors, rewards and times, the entities they concern, and the results of showing them.

The bank is read from the graph on first use and updated with every write. Vectors come from the vector file; a text that is missing
there is embedded.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memento.archive.cases import Vector, load_tasks, load_vectors
from memento.backends import Backends
from memento.iris import IRI
from memento.ports import Vectors

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A case in the form that the bank takes."""

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
    A case that was shown for a task, and the reward of the task.

    `state` (d,) is the vector of the task, `form` describes how it is written, `at_ms` is the time of the retrieval; `q` is the Q
    value before the reward.
    """

    use: IRI
    retrieval: IRI
    case: IRI
    state: Vector
    form: NDArray[np.float32]
    at_ms: float
    cosine: float
    reward: float
    q: float | None = None


class Bank:
    """Rows are only appended; a removed case leaves its row empty. `reward` is NaN where there is none."""

    def __init__(self, graph: IRI, dimensions: int) -> None:
        self.graph = graph
        self.dimensions = dimensions
        self.iris: list[IRI] = []
        self.about: list[tuple[IRI, ...]] = []
        self.retrievals: deque[IRI] = deque()
        """The retrievals that the graph stores, the oldest first."""
        self._row: dict[IRI, int] = {}
        self._concerning: dict[IRI, set[int]] = defaultdict(set)
        self._vectors: Vectors = np.zeros((0, dimensions), dtype=np.float32)
        # at in ms since 1970, reward, mean Q, number of rankings in that mean, rewarded uses, sum of their rewards
        self._numbers = np.zeros((6, 0))
        self._alive = np.zeros(0, dtype=np.bool_)
        self._form = np.zeros((0, FORM_WIDTH), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._row)

    @property
    def size(self) -> int:
        """Number of rows in use, including those of removed cases."""
        return len(self.iris)

    @property
    def vectors(self) -> Vectors:
        """(size, d) unit rows."""
        return self._vectors[: self.size]

    @property
    def form(self) -> NDArray[np.float32]:
        """(size, 6) how each task is written; see `measure_form`."""
        return self._form[: self.size]

    @property
    def at(self) -> NDArray[np.float64]:
        """(size,) when each task was finished, in milliseconds since 1970."""
        return self._numbers[0, : self.size]

    @property
    def reward(self) -> NDArray[np.float64]:
        """(size,) the reward of each task; NaN where there is none."""
        return self._numbers[1, : self.size]

    @property
    def q(self) -> NDArray[np.float64]:
        """(size,) mean Q over the rankings; NaN before the first."""
        return self._numbers[2, : self.size]

    @property
    def rankings(self) -> NDArray[np.float64]:
        """(size,) the number of rankings in that mean."""
        return self._numbers[3, : self.size]

    @property
    def uses(self) -> NDArray[np.float64]:
        """(size,) how often each case was shown for a task with a known reward."""
        return self._numbers[4, : self.size]

    @property
    def reward_sums(self) -> NDArray[np.float64]:
        """(size,) the sum of those rewards."""
        return self._numbers[5, : self.size]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """(size,) whether a row is a case that may be shown."""
        return self._alive[: self.size]

    def row(self, iri: IRI) -> int | None:
        """Return the row of a case, or None."""
        return self._row.get(iri)

    def put(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Add or replace cases."""
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
            self._form[row] = measure_form(entry.task)
            self._numbers[:4, row] = (_to_ms(entry.at), _or_nan(entry.reward), _or_nan(entry.q), entry.uses)

    def drop(self, iri: IRI) -> None:
        """Remove a case, so that it is no longer shown; harmless when it is missing."""
        row = self._row.pop(iri, None)
        if row is not None:
            self._alive[row] = False
            for entity in self.about[row]:
                self._concerning[entity].discard(row)

    def credit(self, row: int, reward: float) -> None:
        """Count the reward of a task for which the case was shown."""
        self._numbers[4, row] += 1
        self._numbers[5, row] += reward

    def add_q(self, row: int, q: float) -> tuple[float, int]:
        """Add a Q value to the running mean; return the mean and the number of values in it."""
        count = int(self._numbers[3, row]) + 1
        before = 0.0 if count == 1 else float(self._numbers[2, row])
        self._numbers[2:4, row] = (before + (q - before) / count, count)
        return float(self._numbers[2, row]), count

    def count_shared(self, entities: Iterable[IRI]) -> dict[int, int]:
        """Count, for each row of a case about any of some entities, how many of these entities it is about."""
        shared: dict[int, int] = defaultdict(int)
        for entity in entities:
            for row in self._concerning.get(entity, ()):
                shared[row] += 1
        return shared

    def mask_finished(self, since: datetime | None, until: datetime | None) -> NDArray[np.bool_]:
        """Return (size,) True for cases that may be shown and were finished at since ≤ at < until."""
        mask = self.alive.copy()
        if since is not None:
            mask &= self.at >= _to_ms(since)
        if until is not None:
            mask &= self.at < _to_ms(until)
        return mask

    def finished_at(self, row: int) -> datetime:
        """Return when the task of a case was finished."""
        return datetime.fromtimestamp(self.at[row] / 1000, UTC)

    @property
    def nbytes(self) -> int:
        """The size of the arrays in bytes."""
        return self._vectors.nbytes + self._numbers.nbytes + self._alive.nbytes + self._form.nbytes

    def _grow(self, size: int) -> None:
        more = max(size, 2 * len(self._alive), 64) - len(self._alive)
        if size > len(self._alive):
            self._vectors = np.concatenate([self._vectors, np.zeros((more, self._vectors.shape[1]), dtype=np.float32)])
            self._numbers = np.concatenate([self._numbers, np.zeros((6, more))], axis=1)
            self._alive = np.concatenate([self._alive, np.zeros(more, dtype=np.bool_)])
            self._form = np.concatenate([self._form, np.zeros((more, FORM_WIDTH), dtype=np.float32)])


def load_bank(graph: IRI, parts: Backends) -> tuple[Bank, list[Pair]]:
    """
    Read the bank of a domain from the graph, and the pairs with a reward, oldest first.

    Raises:
        GraphError: the store failed.
        EmbeddingError: a task without a vector in the file cannot be embedded.
    """
    about: dict[Any, list[IRI]] = defaultdict(list)
    for row in parts.graph.select("plugins/cases/about", [graph]):
        about[row["case"]].append(row["entity"])
    entries = [
        Entry(
            iri=row["case"],
            task=str(row["task"]),
            at=row["at"],
            reward=row.get("reward"),
            q=row.get("q"),
            uses=row.get("uses", 0),
            about=tuple(about[row["case"]]),
        )
        for row in parts.graph.select("plugins/cases/bank", [graph])
    ]
    vectors = load_vectors(load_tasks(graph, parts), parts)
    entries = [entry for entry in entries if entry.iri in vectors]
    labelled = [row for row in parts.graph.select("plugins/cases/pairs", [graph]) if row["retrieval"] in vectors]
    bank = Bank(graph, parts.embedder.dimensions)
    bank.put(entries, np.array([vectors[entry.iri] for entry in entries], np.float32).reshape(-1, bank.dimensions))
    bank.retrievals.extend(row["retrieval"] for row in parts.graph.select("plugins/cases/looked_up", [graph]))
    pairs = [
        Pair(
            use=row["use"],
            retrieval=row["retrieval"],
            case=row["case"],
            state=vectors[row["retrieval"]],
            form=measure_form(str(row["task"])),
            at_ms=row["at"].timestamp() * 1000,
            cosine=float(str(row["cosine"])),
            reward=float(str(row["reward"])),
            q=row.get("q"),
        )
        for row in labelled
    ]
    return bank, pairs


def _to_ms(at: datetime) -> float:
    return at.timestamp() * 1000


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


FORM_WIDTH = 6
"""The length of a form."""
_DIGIT = re.compile(r"\d")


def measure_form(text: str) -> NDArray[np.float32]:
    """
    Measure how a text is written as (6,), each from 0 to about 1.

    The numbers are: its length, the share of capitalised words, whether it ends with a question mark, begins with a capital, and
    has a digit; and the length of its words.

    *Because:* a sentence embedder lower-cases a text and ignores how it is written. Length, capitals and question marks distinguish
    kinds of tasks with the same words.

    >>> measure_form("who won the cup").tolist()[1:5]
    [0.0, 0.0, 0.0, 0.0]
    >>> measure_form("Who won the World Cup in 1998?").tolist()[2:5]
    [1.0, 1.0, 1.0]
    """
    words = text.split()
    count = max(len(words), 1)
    large = [word[0].isupper() for word in words]
    return np.array(
        [
            log1p(len(words)) / 4,
            sum(large) / count,
            bool(words) and words[-1].endswith("?"),
            bool(words) and large[0],
            _DIGIT.search(text) is not None,
            sum(map(len, words)) / count / 8,
        ],
        dtype=np.float32,
    )
