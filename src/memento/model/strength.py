"""What use makes of a memory: its numbers, and the effects that move them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memento.iris import IRI
from memento.model.stored import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """The numbers of a memory that its use moves; `rank/laws.py` has their laws. None is a number that was never set."""

    importance: float | None = None
    depth: float = 0.0
    energy: float | None = None
    usefulness: float | None = None
    access_count: int = 0
    success_count: int = 0
    failure_count: int = 0
    last_accessed_at: datetime | None = None
    energy_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A memory was read in full."""

    memory: IRI
    graph: IRI
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A memory came back from a question: it was used, which makes it no deeper."""

    memory: IRI
    graph: IRI
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversed:
    """
    Somebody came to a memory over a key. `graph` is the memory's, `key_graph` the key's, which may be written only now.

    `weight` is that of the link where none is written yet.
    """

    key: Key
    key_graph: IRI
    memory: IRI
    graph: IRI
    at: datetime
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A link was looked at and not taken; one that is not written stays as it is."""

    key: IRI
    memory: IRI
    graph: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Something else that counts its uses was used once more, as a phrase that a key has learned."""

    node: IRI
    graph: IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """
    A path over associations: its memories in order and what they say, and the kind and the weight, 0..1, of the link to each but
    the first.
    """

    memories: tuple[IRI, ...]
    contents: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Activated:
    """A memory that activation has reached, and how active it is: 0..1."""

    memory: IRI
    activation: float
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """The memories that had no energy left, and the text of each; with `dry_run` they are still there."""

    memories: tuple[IRI, ...]
    dry_run: bool = False
    contents: Mapping[IRI, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """
    A memory as an expression gets it: what it says, of what `type` it is, and its tags.

    Recalled, it has an `activation` and the `score` that it is ranked by, both in 0..1.
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
class Marks:
    """What is said of a memory beside its text: its type in a word, how important it is, 0..1, and its tags."""

    type: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """
    What expressions came to: the value of each, in their order, and the last one as `text` that reads back as the same.

    `calls` is how many verbs were called.
    """

    values: tuple[Any, ...]
    text: str
    calls: int

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text)


Effect = Read | Used | Traversed | Skipped | Counted
