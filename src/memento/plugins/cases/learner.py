"""
Learn from rewards how valuable a case is for a task, and decide how much that counts beside similarity.

After a fixed number of new rewarded pairs of task and case, the network learns from the latest thousand. β, the weight of its value
against the cosine, is 0 until enough pairs of both kinds are known, and then grows from one half to 1 with their number.

*Guarantees:* never worse than similarity for long: the network judges each pair before it learns from it, and if it predicted the
latest rewards worse than the cosine did, β is 0 until it predicts them better. Weights that are missing, or do not match the
embedder or the features, are learned again from the graph. The same seed, pairs and order give the same weights on one machine.
Torch is imported only for the first learning; without it similarity alone decides. A weight file is read completely or not at all,
and never as an array of objects, so nothing in it is executed.

The network behind Q has two layers over frozen embeddings, Q = σ(W₂ᵀ·relu(W₁ᵀx + b₁) + b₂), evaluated in numpy and trained in
torch. The loss is the binary cross-entropy with the reward clipped to 0..1, −r·log Q − (1 − r)·log(1 − Q). Predictions use a
running mean of the weights, which is more stable than the latest ones. The input is both embeddings, their similarity, the past
rewards of the case, and the form of both texts.

*Because:* the embeddings are many numbers and the other features few, so the rows of W₁ that read embeddings start smaller and
learn more slowly; otherwise the network memorises a thousand pairs.

*Source:* Zhou et al. 2025, arXiv 2508.16153, §4.
"""

from __future__ import annotations

import json
import logging
import os
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from memento.archive.cases import Vector, weights_path
from memento.assets import install_line
from memento.backends import Backends
from memento.iris import IRI
from memento.plugins.cases.bank import FORM_WIDTH, Bank, Pair, Rows
from memento.plugins.cases.settings import CasesSettings

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

REPLAY = 1_000
"""Number of pairs that an update learns from: the latest."""
STEPS = 20
"""Number of batches per update."""
_FULL = 500  # number of pairs from which on Q alone decides
_GOOD = 0.5  # reward from which on a pair is a success
_EPOCHS, _LEAST_STEPS, _MOST_STEPS = 8, 400, 3_000  # for learning from scratch
_MOST_PAIRS = 10_000  # maximum number of pairs for it
_WINDOW = 200  # latest pairs on which Q and the cosine are compared
_ENOUGH = 50  # minimum number of them for the comparison
_MARGIN = 0.05  # by which Q must be worse: about one standard error of the difference on this many pairs
_SAVED_EVERY = 10  # in updates


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight of Q, in 0..1, and the reason; `auc_q` and `auc_cosine` are the accuracies of both on the latest rewards."""

    beta: float
    reason: str
    guarded: bool = False
    auc_q: float | None = None
    auc_cosine: float | None = None


class Learner:
    """The Q function of one domain."""

    def __init__(self, bank: Bank, pairs: Sequence[Pair], parts: Backends, knobs: CasesSettings) -> None:
        """
        Args:
            bank: without any credited use.
            pairs: those with a reward, oldest first.
        """
        self._bank, self._knobs = bank, knobs
        self._fingerprint = parts.embedder.fingerprint
        self._path = weights_path(bank.graph, parts.datadir)
        self._trainer: Trainer | None = None
        self._centre: Vector = np.zeros(bank.dimensions, dtype=np.float32)
        self._seen = np.zeros((REPLAY, feature_width(bank.dimensions)), dtype=np.float32)
        self._rewards = np.zeros(REPLAY, dtype=np.float32)
        self._window: deque[tuple[float, float, bool]] = deque(maxlen=_WINDOW)
        self._good = self._bad = self._learned = self._saved = 0
        self._places = 0  # pairs ever added to the replay
        self._newest = self._last = IRI("")  # the latest use with a reward, and the latest that was learned from
        self.updates = self.retrievals = 0
        self._restore(pairs)

    @property
    def label_counts(self) -> tuple[int, int]:
        """Return the numbers of pairs with a reward of at least one half, and of the others."""
        return self._good, self._bad

    @property
    def weight(self) -> Weight:
        """Return the weight of Q in the next ranking, and the reason."""
        needed, count = self._knobs.pairs_needed, self._good + self._bad
        if self._knobs.ranking == "cosine":
            return Weight(0.0, "by likeness alone, as the settings say")
        if count < needed:
            return Weight(0.0, f"only {count} of {needed} pairs have a reward yet: by likeness alone")
        if self._trainer is None and find_spec("torch") is None:
            return Weight(0.0, f"torch, which learning takes, is not installed ({install_line()}): by likeness alone")
        if self._trainer is None or not (self._good and self._bad):
            return Weight(
                0.0, f"all {count} pairs earned alike, there is nothing to learn from them yet: by likeness alone"
            )
        aucs = self._compare_aucs()
        if aucs and aucs[0] < aucs[1] - _MARGIN:
            reason = f"Q told the latest {len(self._window)} rewards worse (AUC {aucs[0]:.2f}) than the cosine did ({aucs[1]:.2f})"
            return Weight(0.0, f"{reason}: by likeness alone", True, *aucs)
        beta = 0.5 + 0.5 * min(1.0, (count - needed) / max(_FULL - needed, 1))
        return Weight(beta, f"learned from {count} pairs with a reward in {self.updates} updates", False, *(aucs or ()))

    def q(self, state: Vector, form: NDArray[np.float32], rows: Rows, now_ms: float) -> NDArray[np.float32] | None:
        """Return (len(rows),) the probability of success when each case is shown for a task; None before anything was learned."""
        if self._trainer is None:
            return None
        return self._trainer.mean.q(self._features(state, form, rows, now_ms))

    def learn(self, pairs: Sequence[Pair]) -> None:
        """Add the pairs of some retrievals, oldest retrieval first, and learn when due."""
        for pair in pairs:
            if pair.q is not None:
                self._window.append((pair.q, pair.cosine, pair.reward >= _GOOD))
        self._add_to_replay(pairs)
        self._update()

    def save(self) -> None:
        """Save the weights if they have changed; without them the next start learns from the graph."""
        if self._trainer is None or self._saved == self.updates:
            return
        arrays = {"centre": self._centre, **self._trainer.last.pack("last"), **self._trainer.mean.pack("mean")}
        about = {**self._describe_maker(), "last": self._last, "updates": self.updates, "steps": self._trainer.steps}
        try:
            write_weights(self._path, arrays, about)
            self._saved = self.updates
        except OSError as error:
            logger.warning("cases.weights-not-kept", extra={"file": str(self._path), "error": error.strerror})

    def mark_unsaved(self) -> None:
        """Have the weights saved again: a write that removes cases deletes their file."""
        self._saved = -1

    def discard(self) -> None:
        """Delete the saved weights; the next use learns from the graph."""
        self._trainer = None
        self._path.unlink(missing_ok=True)

    def fit(self, pairs: Sequence[Pair]) -> None:
        """Learn from these pairs alone, discarding earlier weights; no later use of their cases may be credited yet."""
        self._begin_network()
        assert self._trainer is not None
        rows = [self._add_to_replay(list(some)) for _, some in groupby(pairs, key=lambda pair: pair.retrieval)]
        seen = np.concatenate([found for found, _ in rows])
        rewards = np.concatenate([found for _, found in rows])
        steps = int(np.clip(_EPOCHS * len(rewards) // 32, _LEAST_STEPS, _MOST_STEPS))
        if len(rewards):
            self._trainer.train(seen, rewards, steps, np.random.default_rng([self._knobs.seed, 0]))
            self.updates = len(rewards) // self._knobs.update_every
            self._learned, self._last = self._good + self._bad, self._newest

    def _restore(self, pairs: Sequence[Pair]) -> None:
        """Continue after an earlier process: credit the rewards, and load the weights, or learn them."""
        for pair in pairs:
            if pair.q is not None:
                self._window.append((pair.q, pair.cosine, pair.reward >= _GOOD))
        learned = self._load_weights([pair.use for pair in pairs])
        fits = learned is not None or len(pairs) < self._knobs.update_every or find_spec("torch") is None
        first = max(len(pairs) - (REPLAY if fits else _MOST_PAIRS), 0)
        while 0 < first < len(pairs) and pairs[first].retrieval == pairs[first - 1].retrieval:
            first += 1
        self._credit(pairs[:first])
        if fits:
            for _, some in groupby(pairs[first:], key=lambda pair: pair.retrieval):
                self._add_to_replay(list(some))
            self._learned = learned or 0
            self._update()
        else:
            self.fit(pairs[first:])
            self.save()

    def _load_weights(self, uses: Sequence[IRI]) -> int | None:
        """Load the weights that an earlier process saved; return how many uses they learned from, or None if they do not match."""
        stored = read_weights(self._path)
        if stored is None or any(stored[1].get(key) != value for key, value in self._describe_maker().items()):
            return None
        arrays, about = stored
        try:
            learned = uses.index(about["last"]) + 1
            last, mean = Network.unpack(arrays, "last"), Network.unpack(arrays, "mean")
            self._centre = np.array(arrays["centre"], dtype=np.float32)
            self._trainer = Trainer(last, mean, int(about["steps"]))
            self.updates = self._saved = int(about["updates"])
        except (KeyError, ValueError):
            return None
        return learned

    def _describe_maker(self) -> dict[str, object]:
        """Return the properties that must match for saved weights to be used."""
        return {
            "graph": self._bank.graph,
            "embedder": self._fingerprint,
            "features": FEATURES_VERSION,
            "seed": self._knobs.seed,
            "width": feature_width(self._bank.dimensions),
        }

    def _begin_network(self) -> None:
        bank, before = self._bank, self._centre
        if bank.alive.any():
            self._centre = bank.vectors[bank.alive].mean(axis=0)
            self._seen[: self._places, : 2 * bank.dimensions] += np.tile(before - self._centre, 2)
        fresh = Network.fresh(feature_width(bank.dimensions), 2 * bank.dimensions, self._knobs.seed)
        self._trainer = Trainer(fresh, fresh, 0)

    def _add_to_replay(self, pairs: Sequence[Pair]) -> tuple[Features, NDArray[np.float32]]:
        """Add the pairs of one retrieval to the replay, in their state before the reward, and then credit the reward."""
        there = [(pair, row) for pair in pairs if (row := self._bank.row(pair.case)) is not None]
        seen = np.zeros((0, feature_width(self._bank.dimensions)), dtype=np.float32)
        if there:
            first = there[0][0]
            rows = np.array([row for _, row in there], dtype=np.int64)
            seen = self._features(first.state, first.form, rows, first.at_ms)
        rewards = np.array([pair.reward for pair, _ in there], dtype=np.float32)
        for features, reward in zip(seen, rewards, strict=True):
            place = self._places % REPLAY
            self._seen[place], self._rewards[place] = features, reward
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
        """Learn once for every so many new pairs, provided that both successes and failures are known."""
        due = (self._good + self._bad - self._learned) // self._knobs.update_every
        if due < 1 or not (self._good and self._bad) or not self._places or find_spec("torch") is None:
            return
        if self._trainer is None:
            self._begin_network()
        assert self._trainer is not None
        used = min(self._places, REPLAY)
        for _ in range(min(due, _MOST_STEPS // STEPS)):
            self.updates += 1
            draw = np.random.default_rng([self._knobs.seed, self.updates])
            self._trainer.train(self._seen[:used], self._rewards[:used], STEPS, draw)
        self._learned, self._last = self._good + self._bad, self._newest
        if self.updates - self._saved >= _SAVED_EVERY:
            self.save()

    def _compare_aucs(self) -> tuple[float, float] | None:
        """
        Return the AUC of Q and of the cosine on the latest pairs, judged before learning from them; None without enough pairs.
        """
        if len(self._window) < _ENOUGH:
            return None
        q, cosine, good = (np.array(column) for column in zip(*self._window, strict=True))
        if good.all() or not good.any():
            return None
        return auc(q, good), auc(cosine, good)

    def _features(self, state: Vector, form: NDArray[np.float32], rows: Rows, now_ms: float) -> Features:
        return compute_features(state, form, rows, self._bank, now_ms, self._centre)


def auc(values: NDArray[np.float64], good: NDArray[np.bool_]) -> float:
    """
    Return the probability that a good item has the larger value, ties counting half; ½ is chance. Both kinds must occur.

    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    """
    order = np.sort(values[~good])
    below = np.searchsorted(order, values[good], side="left")
    upto = np.searchsorted(order, values[good], side="right")
    return float((below + upto).mean() / 2 / len(order))


Features = NDArray[np.float32]

FEATURES_VERSION = 2
"""Version of the network's input; raise it with every change: weights of another version are not used."""

_PRIOR, _PRIOR_USES = 0.3, 5.0
"""The prior reward of a case that was never shown, and its number of uses: it keeps a few rewards from deciding too much."""


def feature_width(dimensions: int) -> int:
    """Return the number of features of a pair, the two embeddings first."""
    return 2 * dimensions + 5 + 3 * FORM_WIDTH


def compute_features(state: Vector, form: Vector, rows: Rows, bank: Bank, now_ms: float, centre: Vector) -> Features:
    """
    Return (len(rows), width) features, one row for each case.

    Args:
        state: (d,) the task's vector.
        form: (6,) its form.
        now_ms: the time of the retrieval, in milliseconds since 1970.
        centre: (d,) subtracted from every embedding, so that it describes how a text differs from the others.
    """
    d, count = bank.dimensions, len(rows)
    features = np.empty((count, feature_width(d)), dtype=np.float32)
    vectors, form_of = bank.vectors[rows], bank.form[rows]
    features[:, :d] = state - centre
    np.subtract(vectors, centre, out=features[:, d : 2 * d])
    own = bank.reward[rows]
    # Whole days: the speed of a machine must not affect what is learned.
    uses, age_days = bank.uses[rows], np.floor(np.maximum(now_ms - bank.at[rows], 0) / 86_400_000)
    features[:, 2 * d] = vectors @ state
    features[:, 2 * d + 1] = np.where(np.isnan(own), 0.5, np.clip(own, 0, 1))
    features[:, 2 * d + 2] = (bank.reward_sums[rows] + _PRIOR * _PRIOR_USES) / (uses + _PRIOR_USES)
    features[:, 2 * d + 3] = np.log1p(uses) / 3
    features[:, 2 * d + 4] = np.log1p(age_days) / 6
    tail = 2 * d + 5
    features[:, tail : tail + FORM_WIDTH] = form
    features[:, tail + FORM_WIDTH : tail + 2 * FORM_WIDTH] = form_of
    np.abs(form_of - form, out=features[:, tail + 2 * FORM_WIDTH :])
    return features


Numbers = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]

HIDDEN = 32
BATCH = 32
_RATE, _DECAY = 3e-3, 1e-2  # of AdamW
_SLOWER = 0.1  # learning rate of the embeddings' rows, relative to the others
_SMALLER = 0.3  # and their initial size
_MEAN = 0.99  # share of the running mean that is kept in each step

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
        """Return an untrained network; of `width` features the first `embedded` are embeddings."""
        draw, rest = np.random.default_rng(seed), width - embedded
        return cls(
            embedded=(draw.normal(size=(embedded, HIDDEN)) * _SMALLER / embedded**0.5).astype(np.float32),
            other=(draw.normal(size=(rest, HIDDEN)) * (2 / rest) ** 0.5).astype(np.float32),
            bias=np.zeros(HIDDEN, dtype=np.float32),
            out=(draw.normal(size=(HIDDEN, 1)) * 0.1 / HIDDEN**0.5).astype(np.float32),
            last=np.zeros(1, dtype=np.float32),
        )

    def q(self, features: Features) -> Numbers:
        """Return (n,) the probability of success for (n, F) features, in 0..1."""
        split = len(self.embedded)
        hidden = features[:, :split] @ self.embedded + features[:, split:] @ self.other + self.bias
        logit = np.maximum(hidden, 0) @ self.out[:, 0] + self.last[0]
        return np.asarray(1 / (1 + np.exp(-np.clip(logit, -60, 60))), dtype=np.float32)

    def pack(self, prefix: str) -> Arrays:
        """Return the weights by name, for a file."""
        return {f"{prefix}/{name}": getattr(self, name) for name in PARTS}

    @classmethod
    def unpack(cls, arrays: Arrays, prefix: str) -> Self:
        """Return the network that `pack` packed; raise `KeyError` if an array is missing."""
        return cls(**{name: np.array(arrays[f"{prefix}/{name}"], dtype=np.float32) for name in PARTS})


class Trainer:
    """Trains a network further; `mean` is the running mean used for predictions."""

    def __init__(self, last: Network, mean: Network, steps: int) -> None:
        """
        Args:
            last: the weights after the latest step.
            steps: number of steps so far.
        """
        self.last, self.mean, self.steps = last, mean, steps
        self._weights: list[torch.Tensor] = []
        self._optimiser: Any = None

    def train(self, features: Features, rewards: Numbers, steps: int, draw: np.random.Generator) -> float:
        """
        Learn from random batches of (n, F) features and (n,) rewards; return the mean loss.

        If there are fewer successes than failures, they are weighted so that both count equally in sum.
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
                share_kept = min(_MEAN, self.steps / (self.steps + 10))
                for slow, fast in zip(mean, self._weights, strict=True):
                    slow.mul_(share_kept).add_(fast.detach(), alpha=1 - share_kept)
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
    """Learn with one thread: batches are so small that several threads wait for each other, on a busy machine for seconds."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_ABOUT, _DIGEST = "about", "sha256"


def write_weights(path: Path, arrays: Arrays, about: Mapping[str, object]) -> None:
    """
    Write arrays and their metadata (as JSON) to a file, replacing its content.

    Raises:
        OSError: there is no room, or no permission to write.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = json.dumps(dict(about), sort_keys=True).encode("utf-8")
    entries: Arrays = {**arrays, _ABOUT: np.frombuffer(text, dtype=np.uint8)}
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        np.savez(
            file, allow_pickle=False, **entries, **{_DIGEST: np.frombuffer(_digest_arrays(entries), dtype=np.uint8)}
        )
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def read_weights(path: Path) -> tuple[Arrays, dict[str, Any]] | None:
    """Read what `write_weights` wrote; None if the file is missing, damaged, or of another kind."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        digest = arrays.pop(_DIGEST).tobytes()
        if digest != _digest_arrays(arrays):
            return None
        return arrays, json.loads(arrays.pop(_ABOUT).tobytes())
    except (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile):
        return None


def _digest_arrays(arrays: Arrays) -> bytes:
    whole = sha256()
    for name, array in sorted(arrays.items()):
        whole.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.digest()
