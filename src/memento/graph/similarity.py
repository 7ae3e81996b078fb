"""
How like a text every memory is, as a table that travels to a worker, and the function that looks it up there.

A table is sorted 64-bit digests of IRIs, then a cosine for each, in single precision: 12 bytes a memory, found by halving.

*Because:* the cosines of all memories with one text are one product of a matrix and a vector, which takes the owner of the vectors
ten milliseconds for 100,000; a worker has neither them nor numpy.
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
    """Return the number that stands for an IRI in a table."""
    return int.from_bytes(blake2b(iri.encode(), digest_size=_KEY_BYTES).digest(), "little")


class SimilarityTable:
    """One table, as it came."""

    def __init__(self, data: bytes) -> None:
        count = len(data) // (_KEY_BYTES + _SCORE_BYTES)
        view = memoryview(data)
        self._keys: Sequence[int] = view[: count * _KEY_BYTES].cast("Q")
        self._scores: Sequence[float] = view[count * _KEY_BYTES :].cast("f")

    def score(self, iri: str) -> float | None:
        """Return the cosine of what an IRI names, −1 to 1; None for what is not in the table."""
        wanted = digest_iri(iri)
        place = bisect_left(self._keys, wanted)
        return self._scores[place] if place < len(self._keys) and self._keys[place] == wanted else None


def similarity_functions(tables: Mapping[tuple[str, bool], bytes]) -> dict[ox.NamedNode, Function]:
    """
    `mem:similarity`, of a memory or an entity and what the tables were made for.

    Args:
        tables: by a text, or an IRI, and whether it is one.
    """
    read = {asked: SimilarityTable(data) for asked, data in tables.items()}

    def similarity(node: object, other: object) -> ox.Literal:
        asked = (getattr(other, "value", ""), isinstance(other, ox.NamedNode))
        score = read[asked].score(node.value) if isinstance(node, ox.NamedNode) and asked in read else None
        if score is None:
            raise ValueError  # which the engine takes for an unbound value
        return ox.Literal(round(score, _DIGITS))

    return {ox.NamedNode(MEM.similarity): similarity}
