"""
What a case is worth for a task, as learned from rewards, and how much that counts beside likeness.

Every so many rewarded pairs of a task and a case the network learns from the latest thousand. β, the weight of its value against
the cosine, is 0 until enough pairs of both kinds are known, and then grows from one half to 1 with them.

*Guarantees:* never worse than likeness for long: each pair is judged by the network before the network learns from it, and where
that told the latest pairs' rewards worse than the cosine did, β is 0 until it tells them better. Weights that do not fit the
embedder or the features, or are not there, are learned anew from the graph.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.cases import weights
from memento.cases.bank import Bank, Pair, Rows, Vector
from memento.cases.features import VERSION, Features, features, width
from memento.cases.network import Network, Trainer
from memento.cases.policy import auc
from memento.datadir import DataFolder
from memento.iris import IRI
from memento.settings import CasesSettings

logger = logging.getLogger(__name__)

REPLAY = 1_000
"""Pairs that an update learns from: the latest."""
STEPS = 20
"""Batches of one update."""
_FULL = 500  # pairs from which on Q alone decides
_GOOD = 0.5  # reward from which a pair is a success
_EPOCHS, _LEAST_STEPS, _MOST_STEPS = 8, 400, 3_000  # of learning anew
_MOST_PAIRS = 10_000  # pairs that it is done from
_WINDOW = 200  # latest pairs that Q and the cosine are compared on
_ENOUGH = 50  # of them, before they are
_MARGIN = 0.05  # by which Q must be worse: about one standard error of the difference on that many pairs
_SAVED_EVERY = 10  # updates


@dataclass(frozen=True, slots=True)
class Weight:
    """How much Q counts, in 0..1, and why; `auc_q` and `auc_cosine` are how well either told the latest rewards."""

    beta: float
    reason: str
    guarded: bool = False
    auc_q: float | None = None
    auc_cosine: float | None = None


def weights_of(graph: IRI, home: DataFolder) -> Path:
    """The file of what a domain's Q function has learned."""
    return home.weights / f"{sha256(graph.encode()).hexdigest()[:32]}.npz"


class Learner:
    """The Q function of one domain."""

    def __init__(self, bank: Bank, pairs: Sequence[Pair], parts: Backends, knobs: CasesSettings) -> None:
        """
        Args:
            bank: has no use credited yet.
            pairs: those with a reward, oldest first.
        """
        self._bank, self._knobs = bank, knobs
        self._fingerprint = parts.embedder.fingerprint
        self._path = weights_of(bank.graph, parts.datadir)
        self._trainer: Trainer | None = None
        self._centre: Vector = np.zeros(bank.dimensions, dtype=np.float32)
        self._seen = np.zeros((REPLAY, width(bank.dimensions)), dtype=np.float32)
        self._rewards = np.zeros(REPLAY, dtype=np.float32)
        self._window: deque[tuple[float, float, bool]] = deque(maxlen=_WINDOW)
        self._good = self._bad = self._learned = self._saved = 0
        self._places = 0  # pairs ever put into the replay
        self._newest = self._last = IRI("")  # the latest use with a reward, and the latest that was learned from
        self.updates = self.retrievals = 0
        self._take_up(pairs)

    @property
    def labelled(self) -> tuple[int, int]:
        """Pairs with a reward: those from one half on, and the others."""
        return self._good, self._bad

    @property
    def weight(self) -> Weight:
        """How much Q counts in the next ranking, and why."""
        needed, count = self._knobs.pairs_needed, self._good + self._bad
        if self._knobs.ranking == "cosine":
            return Weight(0.0, "by likeness alone, as the settings say")
        if count < needed:
            return Weight(0.0, f"only {count} of {needed} pairs have a reward yet: by likeness alone")
        if self._trainer is None or not (self._good and self._bad):
            return Weight(
                0.0, f"all {count} pairs earned alike, there is nothing to learn from them yet: by likeness alone"
            )
        told = self._compared()
        if told and told[0] < told[1] - _MARGIN:
            reason = f"Q told the latest {len(self._window)} rewards worse (AUC {told[0]:.2f}) than the cosine did ({told[1]:.2f})"
            return Weight(0.0, f"{reason}: by likeness alone", True, *told)
        beta = 0.5 + 0.5 * min(1.0, (count - needed) / max(_FULL - needed, 1))
        return Weight(beta, f"learned from {count} pairs with a reward in {self.updates} updates", False, *(told or ()))

    def q(self, state: Vector, written: NDArray[np.float32], rows: Rows, now_ms: float) -> NDArray[np.float32] | None:
        """(len(rows),) the chance that a task succeeds when each case is shown for it; None before anything was learned."""
        if self._trainer is None:
            return None
        return self._trainer.mean.q(self._features(state, written, rows, now_ms))

    def learn(self, pairs: Sequence[Pair]) -> None:
        """Take the pairs of a retrieval in, oldest retrieval first, and learn when it is time."""
        for pair in pairs:
            if pair.q is not None:
                self._window.append((pair.q, pair.cosine, pair.reward >= _GOOD))
        self._remember(pairs)
        self._update()

    def save(self) -> None:
        """Keep the weights, when they have changed; without them the next start learns from the graph."""
        if self._trainer is None or self._saved == self.updates:
            return
        arrays = {"centre": self._centre, **self._trainer.last.arrays("last"), **self._trainer.mean.arrays("mean")}
        about = {**self._maker(), "last": self._last, "updates": self.updates, "steps": self._trainer.steps}
        try:
            weights.write(self._path, arrays, about)
            self._saved = self.updates
        except OSError as error:
            logger.warning("cases.weights-not-kept", extra={"file": str(self._path), "error": error.strerror})

    def discard(self) -> None:
        """Keep nothing of what was learned; whoever asks next learns from the graph."""
        self._trainer = None
        self._path.unlink(missing_ok=True)

    def fit(self, pairs: Sequence[Pair]) -> None:
        """Learn from pairs alone, forgetting what was learned before; their cases must have no use credited after them."""
        self._begin()
        assert self._trainer is not None
        rows = [self._remember(list(some)) for _, some in groupby(pairs, key=lambda pair: pair.retrieval)]
        seen = np.concatenate([found for found, _ in rows])
        rewards = np.concatenate([found for _, found in rows])
        steps = int(np.clip(_EPOCHS * len(rewards) // 32, _LEAST_STEPS, _MOST_STEPS))
        if len(rewards):
            self._trainer.train(seen, rewards, steps, np.random.default_rng([self._knobs.seed, 0]))
            self.updates = len(rewards) // self._knobs.update_every
            self._learned, self._last = self._good + self._bad, self._newest

    def _take_up(self, pairs: Sequence[Pair]) -> None:
        """Where an earlier process left off: credit what was earned, and have the weights, or learn them."""
        for pair in pairs:
            if pair.q is not None:
                self._window.append((pair.q, pair.cosine, pair.reward >= _GOOD))
        learned = self._kept([pair.use for pair in pairs])
        fits = learned is not None or len(pairs) < self._knobs.update_every
        first = max(len(pairs) - (REPLAY if fits else _MOST_PAIRS), 0)
        while 0 < first < len(pairs) and pairs[first].retrieval == pairs[first - 1].retrieval:
            first += 1
        self._credit(pairs[:first])
        if fits:
            for _, some in groupby(pairs[first:], key=lambda pair: pair.retrieval):
                self._remember(list(some))
            self._learned = learned or 0
            self._update()
        else:
            self.fit(pairs[first:])
            self.save()

    def _kept(self, uses: Sequence[IRI]) -> int | None:
        """Have the weights that an earlier process kept; how many of the uses they learned from, or None when they do not fit."""
        found = weights.read(self._path)
        if found is None or any(found[1].get(key) != value for key, value in self._maker().items()):
            return None
        arrays, about = found
        try:
            learned = uses.index(about["last"]) + 1
            last, mean = Network.from_arrays(arrays, "last"), Network.from_arrays(arrays, "mean")
            self._centre = np.array(arrays["centre"], dtype=np.float32)
            self._trainer = Trainer(last, mean, int(about["steps"]))
            self.updates = self._saved = int(about["updates"])
        except (KeyError, ValueError):
            return None
        return learned

    def _maker(self) -> dict[str, object]:
        """What weights must have been made by to be used."""
        return {
            "graph": self._bank.graph,
            "embedder": self._fingerprint,
            "features": VERSION,
            "seed": self._knobs.seed,
            "width": width(self._bank.dimensions),
        }

    def _begin(self) -> None:
        bank, before = self._bank, self._centre
        if bank.alive.any():
            self._centre = bank.vectors[bank.alive].mean(axis=0)
            self._seen[: self._places, : 2 * bank.dimensions] += np.tile(before - self._centre, 2)
        fresh = Network.fresh(width(bank.dimensions), 2 * bank.dimensions, self._knobs.seed)
        self._trainer = Trainer(fresh, fresh, 0)

    def _remember(self, pairs: Sequence[Pair]) -> tuple[Features, NDArray[np.float32]]:
        """Put the pairs of one retrieval into the replay, as they were before their reward, and then credit it."""
        there = [(pair, row) for pair in pairs if (row := self._bank.row(pair.case)) is not None]
        seen = np.zeros((0, width(self._bank.dimensions)), dtype=np.float32)
        if there:
            first = there[0][0]
            rows = np.array([row for _, row in there], dtype=np.int64)
            seen = self._features(first.state, first.written, rows, first.at_ms)
        rewards = np.array([pair.reward for pair, _ in there], dtype=np.float32)
        for found, reward in zip(seen, rewards, strict=True):
            place = self._places % REPLAY
            self._seen[place], self._rewards[place] = found, reward
            self._places += 1
        self._credit(pairs)
        self._newest = pairs[-1].use if pairs else self._newest
        return seen, rewards

    def _credit(self, pairs: Sequence[Pair]) -> None:
        for pair in pairs:
            if (row := self._bank.row(pair.case)) is not None:
                self._bank.credit(row, pair.reward)
        good = sum(pair.reward >= _GOOD for pair in pairs)
        self._good, self._bad = self._good + good, self._bad + len(pairs) - good
        self.retrievals += len({pair.retrieval for pair in pairs})

    def _update(self) -> None:
        """Learn as often as there were so many new pairs, as soon as there is a difference to learn."""
        due = (self._good + self._bad - self._learned) // self._knobs.update_every
        if due < 1 or not (self._good and self._bad) or not self._places:
            return
        if self._trainer is None:
            self._begin()
        assert self._trainer is not None
        used = min(self._places, REPLAY)
        for _ in range(min(due, _MOST_STEPS // STEPS)):
            self.updates += 1
            draw = np.random.default_rng([self._knobs.seed, self.updates])
            self._trainer.train(self._seen[:used], self._rewards[:used], STEPS, draw)
        self._learned, self._last = self._good + self._bad, self._newest
        if self.updates - self._saved >= _SAVED_EVERY:
            self.save()

    def _compared(self) -> tuple[float, float] | None:
        """The AUC of Q and of the cosine on the latest pairs, each judged before it was learned from; None when it says nothing."""
        if len(self._window) < _ENOUGH:
            return None
        q, cosine, good = (np.array(column) for column in zip(*self._window, strict=True))
        if good.all() or not good.any():
            return None
        return auc(q, good), auc(cosine, good)

    def _features(self, state: Vector, written: NDArray[np.float32], rows: Rows, now_ms: float) -> Features:
        return features(state, written, rows, self._bank, now_ms, self._centre)
