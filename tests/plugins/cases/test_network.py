"""The network answers in numpy what it learned in torch, and learns."""

import numpy as np
import pytest
import torch

from memento.plugins.cases.learner import PARTS, Network, Numbers, Trainer, auc


def task(n: int, seed: int = 0) -> tuple[Numbers, Numbers]:
    """Features of which the last two decide together."""
    draw = np.random.default_rng(seed)
    seen = draw.normal(size=(n, 12)).astype(np.float32)
    return seen, (seen[:, -1] * seen[:, -2] > 0).astype(np.float32)


def test_numpy_answers_as_torch_would() -> None:
    network, (seen, _) = Network.fresh(12, 8, seed=1), task(50)
    embedded, other, bias, out, last = (torch.from_numpy(getattr(network, name)) for name in PARTS)
    x = torch.from_numpy(seen)
    hidden = torch.relu(x[:, :8] @ embedded + x[:, 8:] @ other + bias)

    assert network.q(seen) == pytest.approx(torch.sigmoid((hidden @ out)[:, 0] + last).numpy(), abs=1e-6)


def test_a_step_goes_down_the_gradient_that_differences_give() -> None:
    """The loss after a small step along the numerical gradient of the last layer falls as that gradient says."""
    network, (seen, wanted) = Network.fresh(12, 8, seed=1), task(64)

    def loss(out: Numbers) -> float:
        q = Network(network.embedded, network.other, network.bias, out, network.last).q(seen).astype(np.float64)
        return float(-(wanted * np.log(q) + (1 - wanted) * np.log(1 - q)).mean())

    def nudged(row: int, by: float) -> float:
        moved = network.out.copy()
        moved[row, 0] += by
        return loss(moved)

    numerical = np.array([(nudged(row, 1e-2) - nudged(row, -1e-2)) / 2e-2 for row in range(len(network.out))])
    embedded, other, bias, out, last = (torch.from_numpy(getattr(network, name).copy()) for name in PARTS)
    out.requires_grad_()
    x = torch.from_numpy(seen)
    logit = (torch.relu(x[:, :8] @ embedded + x[:, 8:] @ other + bias) @ out)[:, 0] + last
    torch.nn.functional.binary_cross_entropy_with_logits(logit, torch.from_numpy(wanted)).backward()  # type: ignore[no-untyped-call]

    assert out.grad is not None
    assert out.grad[:, 0].numpy() == pytest.approx(numerical, abs=1e-3)


def test_it_learns_what_no_single_feature_tells() -> None:
    fresh = Network.fresh(12, 8, seed=1)
    trainer = Trainer(fresh, fresh, 0)
    seen, wanted = task(600)
    losses = [trainer.train(seen, wanted, 100, np.random.default_rng(step)) for step in range(8)]
    unseen, right = task(300, seed=1)

    assert losses[-1] < losses[0] / 2
    assert auc(trainer.mean.q(unseen).astype(np.float64), right > 0.5) > 0.85
    assert trainer.steps == 800


def test_the_same_seed_gives_the_same_weights() -> None:
    def learned() -> Numbers:
        fresh = Network.fresh(12, 8, seed=3)
        trainer = Trainer(fresh, fresh, 0)
        trainer.train(*task(100), 30, np.random.default_rng(5))
        return trainer.mean.q(task(20)[0])

    assert np.array_equal(learned(), learned())


def test_a_reward_below_zero_is_a_failure_and_one_half_stays_one_half() -> None:
    fresh = Network.fresh(12, 8, seed=1)
    trainer = Trainer(fresh, fresh, 0)
    seen = np.zeros((64, 12), dtype=np.float32)
    trainer.train(seen, np.full(64, -0.2, dtype=np.float32), 300, np.random.default_rng(0))
    low = float(trainer.mean.q(seen[:1])[0])
    trainer = Trainer(fresh, fresh, 0)
    trainer.train(seen, np.full(64, 0.5, dtype=np.float32), 300, np.random.default_rng(0))

    assert low < 0.4
    assert float(trainer.mean.q(seen[:1])[0]) == pytest.approx(0.5, abs=0.05)


def test_rare_successes_weigh_as_much_as_all_failures() -> None:
    """Of ten alike pairs one succeeded: balanced, the chance is one half."""
    fresh = Network.fresh(12, 8, seed=1)
    trainer = Trainer(fresh, fresh, 0)
    rewards = np.array([1.0] * 10 + [0.0] * 90, dtype=np.float32)
    trainer.train(np.zeros((100, 12), dtype=np.float32), rewards, 300, np.random.default_rng(0))

    assert float(trainer.mean.q(np.zeros((1, 12), dtype=np.float32))[0]) == pytest.approx(0.5, abs=0.1)
