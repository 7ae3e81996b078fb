"""What a case is worth for a task, as learned from rewards, and how much that counts beside likeness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memento.backends import Backends
from memento.cases.bank import Bank, Pair, Vector
from memento.settings import CasesSettings


@dataclass(frozen=True, slots=True)
class Weight:
    """How much Q counts, in 0..1, and why."""

    beta: float
    reason: str
    guarded: bool = False
    auc_q: float | None = None
    auc_cosine: float | None = None


class Learner:
    """The Q function of one domain."""

    def __init__(self, bank: Bank, pairs: Sequence[Pair], parts: Backends, knobs: CasesSettings) -> None:
        self._bank = bank
        self._knobs = knobs
        self._pairs = list(pairs)
        self.updates = 0

    @property
    def weight(self) -> Weight:
        """How much Q counts in the next ranking."""
        needed = self._knobs.pairs_needed
        return Weight(0.0, f"only {len(self._pairs)} of {needed} pairs have a reward yet: by likeness alone")

    @property
    def retrievals(self) -> int:
        """Look-ups whose reward is known."""
        return len({pair.retrieval for pair in self._pairs})

    @property
    def labelled(self) -> tuple[int, int]:
        """Pairs with a reward: those from one half on, and the others."""
        good = sum(pair.reward >= 0.5 for pair in self._pairs)
        return good, len(self._pairs) - good

    def q(self, state: Vector, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(len(rows),) the chance that a task succeeds when each case is shown for it."""
        return np.full(len(rows), 0.5, dtype=np.float32)

    def learn(self, pairs: Sequence[Pair]) -> None:
        """Take rewarded pairs in, and learn when it is time."""
        self._pairs += pairs

    def discard(self) -> None:
        """Keep nothing of what was learned."""
