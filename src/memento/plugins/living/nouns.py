"""What the operations of living memories answer with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memento.iris import IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """
    A memory as an expression gets it: its text, its `type`, and its tags.

    A recalled one has an `activation` and the `score` that it is ranked by, both in 0..1.
    """

    iri: IRI
    content: str
    created_at: datetime
    valid_at: datetime
    type: str | None = None
    tags: tuple[str, ...] = ()
    activation: float | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """
    The result of expressions: the value of each, in order, and the last one as `text`, which parses to the same value.

    `calls` is how many verbs were called.
    """

    values: tuple[Any, ...]
    text: str
    calls: int

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text)
