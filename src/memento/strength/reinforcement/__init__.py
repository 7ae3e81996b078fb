"""
Depth, use and the weights of links, as reading moves them: noted at once, written a moment later.

*Flow:* `writer` takes effects (`model.Effect`) → `tally` counts them → `change` makes one change of them.
"""

from memento.strength.reinforcement.writer import DELAY_S, Reinforcement

__all__ = ["DELAY_S", "Reinforcement"]
