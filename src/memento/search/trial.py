"""
Try what is to be written on indexes of no consequence: whether they take it in.

*Guarantees:* the indexes that answer questions are not touched, and nothing is embedded.

*Because:* a write must not fail when half of it is done, and a start not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from memento.iris import IRI
from memento.search.indexes import Indexes
from memento.search.records import Record

_PORTION = 2_000
_FAILURES = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""How code fails that meets a value which it was not written for."""


def find_refused(records: Iterable[Record], like: Indexes) -> IRI | None:
    """Find the first node that indexes such as these would not take in; None when there is none."""
    every = iter(records)
    while portion := list(islice(every, _PORTION)):
        try:
            _take_in(portion, like)
        except _FAILURES:
            return next((one.iri for one in portion if not _is_taken(one, like)), portion[0].iri)
    return None


def _is_taken(one: Record, like: Indexes) -> bool:
    try:
        _take_in([one], like)
    except _FAILURES:
        return False
    return True


def _take_in(portion: Sequence[Record], like: Indexes) -> None:
    indexes = like.blank()
    try:
        for one in portion:
            indexes.learn(one)
            indexes.learn_end(one)
        nodes = list(enumerate({one.iri: one for one in portion if one.kind is not None}.values()))
        others = [one for one in portion if one.kind is None and not one.edge]
        indexes.fill(nodes, others, [edge for one in portion if (edge := one.edge)])
    finally:
        indexes.file.close()
