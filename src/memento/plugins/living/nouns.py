"""What the operations of living memories answer with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """
    A path over associations: its memories in order with their texts, and the kind and weight (0..1) of the link to each except the
    first.
    """

    memories: tuple[IRI, ...]
    contents: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Activated:
    """A memory that activation has reached, and its activation: 0..1."""

    memory: IRI
    activation: float
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """The memories without energy, and the text of each; with `dry_run` they are not archived."""

    memories: tuple[IRI, ...]
    dry_run: bool = False
    contents: Mapping[IRI, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FadingMemory:
    """
    A memory that is archived if nobody uses it: its energy now, and the time from which `archive` takes it.

    A memory that is important, or used often, is none.
    """

    iri: IRI
    content: str = ""
    energy: float
    importance: float
    access_count: int
    archived_on: datetime | None = None
