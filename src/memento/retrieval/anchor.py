"""ANCHOR: what the question names, and the memories that are about it."""

from __future__ import annotations

from memento.retrieval.land import Evidence
from memento.retrieval.signals import spread
from memento.search.links import Joined, subject_signal
from memento.search.view import View


def anchor(question: str, evidence: Evidence, joined: Joined, view: View) -> Evidence:
    """The evidence with `subject`: how rare the name is, shared among the memories that are about it."""
    return evidence.with_(subject=spread(*subject_signal(joined.named(question), joined, view.visible), view))
