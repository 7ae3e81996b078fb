"""
The nouns: what is in the graph, what goes into a write, what comes back from the service.

All are frozen, keyword-only and compare by value; times are aware and in UTC.
"""

from memento.model.answers import *
from memento.model.cases import *
from memento.model.stored import *
