"""
Which memories are about what others mention: the links that lead from a good memory to the one that answers.

*Flow:* `names` (words, spans, known labels) → `table` (one named graph) → `signals` (what several graphs say of a question).
"""

from memento.search.links.signals import Joined, link_signal, shared_signal, subject_signal, tie_signal
from memento.search.links.table import Links

__all__ = ["Joined", "Links", "link_signal", "shared_signal", "subject_signal", "tie_signal"]
