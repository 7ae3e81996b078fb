"""
What is settled but yet to begin: "USER will move to ① ②" fills the slot that "USER moved to ①" fills, from ② on.

*But:* only where a verb of beginning is in the plain future or the present and a date is named; an intention ("plans to", "might")
fills nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from memento.consolidation.rules.skeleton import Skeleton
from memento.text.dates import Dated

LATER_SLOTS = ("employer", "job title", "home", "headquarters")
"""Ends of the names of slots whose coming value may be known before its time."""

_PAST = {
    "start": "started",
    "begin": "started",
    "join": "joined",
    "mov": "moved",
    "relocat": "relocated",
    "work": "works",
    "liv": "lives",
}
_BEGINS = re.compile(
    r"(?<=[\w\ue000-\uf8ff] )(?:(?:will|shall)(?: be)?|(?:is|are)(?: going to)?(?: be)?|'ll(?: be)?)? ?"
    r"\b(?P<verb>start|begin|join|mov|relocat|(?<=will )(?:work|liv)"
    r"|(?<=will be )(?:work|liv)|(?<=going to )(?:work|liv)|(?<=going to be )(?:work|liv))"
    r"(?:n?ing|es|e|s)?\b"
)
_OPEN = re.compile(
    r"\b(?:not|never|n't|won't|plan\w*|intend\w*|hop\w*|want\w*|might|may|could|would|should|if|maybe|perhaps|probably"
    r"|possibly|likely|needs?|has to|have to|decid\w+|agreed|promised|supposed|expects?|about to|aim\w*)\b"
)


def begins_at(skeleton: Skeleton, now: datetime) -> Dated | None:
    """The date to come at which what the clause tells begins, or None."""
    if _OPEN.search(skeleton.text) or not _BEGINS.search(skeleton.text):
        return None
    return next((one for one in skeleton.dates if one.value > now and one.role in ("at", "since")), None)


def begun(skeleton: Skeleton) -> Skeleton:
    """
    The clause as it will be told once it has begun.

    >>> begun(Skeleton("USER is going to move to Rome", (), ())).text, begun(Skeleton("USER starts at Acme", (), ())).text
    ('USER moved to Rome', 'USER started at Acme')
    """
    return replace(skeleton, text=_BEGINS.sub(lambda match: _PAST[match["verb"]], skeleton.text, count=1))
