"""
The network behind Q: two layers over frozen embeddings, Q = σ(W₂ᵀ·relu(W₁ᵀx + b₁) + b₂), in numpy; and how it learns, in torch.

The loss is the binary cross-entropy with the reward clipped to 0..1, −r·log Q − (1 − r)·log(1 − Q). What answers is a running mean
of the weights, which is steadier than the last of them.

*Guarantees:* the same seed, pairs and order give the same weights on one machine; torch is not imported before the first learning.

*Because:* the embeddings are many numbers and the other features few, so the rows of W₁ that read embeddings begin smaller and
learn more slowly; otherwise a thousand pairs are learned by heart.

*Source:* Zhou et al. 2025, arXiv 2508.16153, §4.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.cases.features import Features

if TYPE_CHECKING:
    import torch

Numbers = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]

HIDDEN = 32
BATCH = 32
_RATE, _DECAY = 3e-3, 1e-2  # of AdamW
_SLOWER = 0.1  # the embeddings' share of the rate
_SMALLER = 0.3  # and of the size that weights begin with
_MEAN = 0.99  # what is left of the mean of the weights after a step

PARTS = ("embedded", "other", "bias", "out", "last")


@dataclass(frozen=True, slots=True)
class Network:
    """
    The weights: `embedded` (2d, h) and `other` (F − 2d, h) are W₁, `bias` (h,) is b₁, `out` (h, 1) is W₂ and `last` (1,) is b₂.
    """

    embedded: Numbers
    other: Numbers
    bias: Numbers
    out: Numbers
    last: Numbers

    @classmethod
    def fresh(cls, width: int, embedded: int, seed: int) -> Self:
        """A network that has learned nothing; of `width` features the first `embedded` are embeddings."""
        draw, rest = np.random.default_rng(seed), width - embedded
        return cls(
            embedded=(draw.normal(size=(embedded, HIDDEN)) * _SMALLER / embedded**0.5).astype(np.float32),
            other=(draw.normal(size=(rest, HIDDEN)) * (2 / rest) ** 0.5).astype(np.float32),
            bias=np.zeros(HIDDEN, dtype=np.float32),
            out=(draw.normal(size=(HIDDEN, 1)) * 0.1 / HIDDEN**0.5).astype(np.float32),
            last=np.zeros(1, dtype=np.float32),
        )

    def q(self, features: Features) -> Numbers:
        """(n,) the chance of success for (n, F) features, in 0..1."""
        split = len(self.embedded)
        hidden = features[:, :split] @ self.embedded + features[:, split:] @ self.other + self.bias
        logit = np.maximum(hidden, 0) @ self.out[:, 0] + self.last[0]
        return np.asarray(1 / (1 + np.exp(-np.clip(logit, -60, 60))), dtype=np.float32)

    def arrays(self, prefix: str) -> Arrays:
        """What is to be kept."""
        return {f"{prefix}/{name}": getattr(self, name) for name in PARTS}

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str) -> Self:
        """What `arrays` gave; raises `KeyError` where one is missing."""
        return cls(**{name: np.array(arrays[f"{prefix}/{name}"], dtype=np.float32) for name in PARTS})


class Trainer:
    """Takes a network further; `mean` is what answers."""

    def __init__(self, last: Network, mean: Network, steps: int) -> None:
        """
        Args:
            last: the weights after the latest step.
            steps: how many there were.
        """
        self.last, self.mean, self.steps = last, mean, steps
        self._weights: list[torch.Tensor] = []
        self._optimiser: Any = None

    def train(self, features: Features, rewards: Numbers, steps: int, draw: np.random.Generator) -> float:
        """
        Learn from random batches of (n, F) features and (n,) rewards; returns the mean loss.

        Successes weigh as much as failures together, where they are fewer.
        """
        import torch
        from torch.nn.functional import binary_cross_entropy_with_logits

        with torch.enable_grad(), _one_thread():
            self._begin()
            seen, target = torch.from_numpy(features), torch.from_numpy(np.clip(rewards, 0, 1).astype(np.float32))
            share = float(target.mean())
            heavier = 1 + (max(1.0, (1 - share) / max(share, 1e-3)) - 1) * target
            mean = [torch.from_numpy(getattr(self.mean, name).copy()) for name in PARTS]
            split, total = len(self.last.embedded), 0.0
            for _ in range(steps):
                batch = torch.from_numpy(draw.integers(0, len(target), BATCH))
                some = seen[batch]
                embedded, other, bias, out, last = self._weights
                hidden = torch.relu(some[:, :split] @ embedded + some[:, split:] @ other + bias)
                logit = (hidden @ out)[:, 0] + last
                loss = binary_cross_entropy_with_logits(logit, target[batch], weight=heavier[batch])
                self._optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch has types, but not for this
                self._optimiser.step()
                self.steps += 1
                kept = min(_MEAN, self.steps / (self.steps + 10))
                for slow, fast in zip(mean, self._weights, strict=True):
                    slow.mul_(kept).add_(fast.detach(), alpha=1 - kept)
                total += float(loss.detach())
        self.mean = Network(*(weight.numpy().copy() for weight in mean))
        self.last = Network(*(weight.detach().numpy().copy() for weight in self._weights))
        return total / max(steps, 1)

    def _begin(self) -> None:
        if self._optimiser is not None:
            return
        import torch

        self._weights = [torch.from_numpy(getattr(self.last, name).copy()).requires_grad_() for name in PARTS]
        self._optimiser = torch.optim.AdamW(
            [
                {"params": self._weights[:1], "lr": _RATE * _SLOWER, "weight_decay": 0.0},
                {"params": self._weights[1:], "lr": _RATE, "weight_decay": _DECAY},
            ],
            fused=True,
        )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Batches this small are learned fastest by one thread; several wait for each other, on a busy machine for seconds."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
