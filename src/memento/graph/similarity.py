"""
How similar each memory is to a text: a table that is sent to a worker, and the function that searches it there.

A table is sorted 64-bit digests of IRIs, followed by one single-precision cosine for each: 12 bytes a memory, with binary search.

*Because:* the cosines of all memories with a text are one matrix-vector product, which takes the process that has the vectors ten
milliseconds for 100,000; a worker has neither vectors nor numpy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b

import pyoxigraph as ox

from memento.iris import MEM

Function = Callable[..., "ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None"]

_KEY_BYTES, _SCORE_BYTES = 8, 4
_DIGITS = 6


def digest_iri(iri: str) -> int:
    """Return the number of an IRI in a table."""
    return int.from_bytes(blake2b(iri.encode(), digest_size=_KEY_BYTES).digest(), "little")


class SimilarityTable:
    """One table, as received."""

    def __init__(self, data: bytes) -> None:
        count = len(data) // (_KEY_BYTES + _SCORE_BYTES)
        view = memoryview(data)
        self._keys: Sequence[int] = view[: count * _KEY_BYTES].cast("Q")
        self._scores: Sequence[float] = view[count * _KEY_BYTES :].cast("f")

    def score(self, iri: str) -> float | None:
        """Return the cosine of the node with an IRI, −1 to 1; None if it is not in the table."""
        wanted = digest_iri(iri)
        place = bisect_left(self._keys, wanted)
        return self._scores[place] if place < len(self._keys) and self._keys[place] == wanted else None


def similarity_functions(tables: Mapping[tuple[str, bool], bytes]) -> dict[ox.NamedNode, Function]:
    """
    Return `mem:similarity`, a function of a memory or an entity and something that a table was made for.

    Args:
        tables: by a text or an IRI, and whether it is an IRI.
    """
    read = {asked: SimilarityTable(data) for asked, data in tables.items()}

    def similarity(node: object, other: object) -> ox.Literal:
        asked = (getattr(other, "value", ""), isinstance(other, ox.NamedNode))
        score = read[asked].score(node.value) if isinstance(node, ox.NamedNode) and asked in read else None
        if score is None:
            raise ValueError  # which the engine treats as unbound
        return ox.Literal(round(score, _DIGITS))

    return {ox.NamedNode(MEM.similarity): similarity}
