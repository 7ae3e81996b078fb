"""The triples of a CONSTRUCT or a DESCRIBE, drawn where they are few, and as a DataFrame."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from memento.graph.documents import read_lines
from memento.graph.terms import to_value
from memento.model import Value
from memento.model.html import table
from memento.notebook.drawing import drawn
from memento.notebook.rows import Rows
from memento.vocabulary import IRI, shortened

if TYPE_CHECKING:
    import pandas as pd

Triple = tuple[IRI, IRI, Value]

_SHOWN = 50
_NODES = 40
"""More than these are not drawn: nobody could read it."""


@dataclass(frozen=True, slots=True, repr=False)
class Triples(Sequence[Triple]):
    """What a query built, as (subject, predicate, object); `data` is the same as N-Triples."""

    values: tuple[Triple, ...]
    data: bytes

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> Triple: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Triple]: ...
    def __getitem__(self, at: int | slice) -> Triple | Sequence[Triple]:
        return self.values[at]

    def __iter__(self) -> Iterator[Triple]:
        return iter(self.values)

    def to_frame(self, *, short: bool = False) -> pd.DataFrame:
        """The triples as a DataFrame of subject, predicate and object; see `Rows.to_frame`."""
        return Rows(("subject", "predicate", "object"), self.values).to_frame(short=short)

    def svg(self) -> str:
        """The graph as a drawing: a box for each node, with its texts and dates inside, and an arrow for each link."""
        return drawn(self.values, alone=True)

    def __repr__(self) -> str:
        return f"Triples({len(self):,})"

    @property
    def _is_small(self) -> bool:
        nodes = {one for subject, _, value in self.values for one in (subject, value) if isinstance(one, IRI)}
        return 0 < len(nodes) <= _NODES

    def _repr_svg_(self) -> str | None:
        return self.svg() if self._is_small else None  # for viewers that take no drawing inside of HTML

    def _repr_html_(self) -> str:
        if self._is_small:
            return drawn(self.values)
        cells = [[shortened(one) if isinstance(one, IRI) else one for one in triple] for triple in self.values[:_SHOWN]]
        more = f", the first {_SHOWN} of them" if len(self) > _SHOWN else ""
        return table(("subject", "predicate", "object"), cells, f"{len(self):,} triples{more}")


def triples_of(data: bytes) -> Triples:
    """The triples of an N-Triples document, subject by subject."""
    found = []
    for quad in read_lines(io.BytesIO(data)):
        subject = to_value(quad.subject)
        found.append((IRI(str(subject)), IRI(quad.predicate.value), to_value(quad.object)))
    return Triples(tuple(sorted(found, key=lambda one: (one[0], one[1], str(one[2])))), data)
