"""What use makes of a memory: how it stands, and what happened to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memento.model.stored import Key
from memento.vocabulary import IRI


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """The numbers of a memory that its use moves; `dynamics` has their laws. None is a number that was never set."""

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
class Trodden:
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
class Passed:
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
    """A path over associations: its memories in order, and the kind and the weight, 0..1, of the link to each but the first."""

    memories: tuple[IRI, ...]
    relations: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Activated:
    """A memory that activation has reached, and how active it is: 0..1."""

    memory: IRI
    activation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """The memories that had no energy left; with `dry_run` they are still there."""

    memories: tuple[IRI, ...]
    dry_run: bool = False


Effect = Read | Trodden | Passed | Counted
