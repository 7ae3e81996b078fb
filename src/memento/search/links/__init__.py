"""
Which memories are about what others mention: the links that lead from a good memory to the one that answers.

*Flow:* `names` (words, spans, known labels) → `table` (one named graph) → `joined` (several graphs as one) → `signals` (what
they say of a question).
"""

from memento.search.links.joined import Joined
from memento.search.links.signals import link_signal, shared_signal, subject_signal, tie_signal
from memento.search.links.table import Links

__all__ = ["Joined", "Links", "link_signal", "shared_signal", "subject_signal", "tie_signal"]
