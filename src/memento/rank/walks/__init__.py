"""
Who is near, by walking: three laws over one undirected adjacency.

`ppr` conserves what the sources give and shares it out; `spread` adds up and saturates at 1; `hops` pays a fixed price for each
step. Their numbers are not comparable, and are not made so.
"""

from memento.rank.walks.csr import Csr, rarity
from memento.rank.walks.ppr import ppr, push
from memento.rank.walks.spreading import hops, spread

__all__ = ["Csr", "hops", "ppr", "push", "rarity", "spread"]
