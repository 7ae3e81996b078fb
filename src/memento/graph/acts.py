"""What a worker is asked to try on a snapshot: the operations of an update, or documents for a graph; nouns that travel as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

DEFAULT = ""
"""How the default graph is called where a name is expected."""

NAMED, ALL = "NAMED", "ALL"
"""Every named graph, and these with the default graph: no IRI is called so."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Modify:
    """
    INSERT, DELETE or both; of given data when `where` is empty.

    `deletes` and `inserts` are what the braces of the templates hold, with the IRI `marker` + name in the place of each variable;
    `variables` are those names. `where` is a group in its braces. `default` and `named` are the graphs that it reads, None for
    those of the store; with `free_default` and `free_named` also the free graphs that there are by then, those of the same request
    among them. Quads that name no graph are written `into` one.
    """

    deletes: str = ""
    inserts: str = ""
    where: str = ""
    marker: str = ""
    variables: tuple[str, ...] = ()
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    free_default: bool = False
    free_named: bool = False
    into: str = DEFAULT
    kind: Literal["modify"] = "modify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clear:
    """CLEAR or DROP of a graph, of the default graph, of the `NAMED` ones or of `ALL`."""

    graph: str
    is_drop: bool = False
    is_silent: bool = False
    kind: Literal["clear"] = "clear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """CREATE of an empty graph."""

    graph: str
    is_silent: bool = False
    kind: Literal["create"] = "create"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """ADD of one graph to another; `replaces` what is there, for COPY and MOVE; MOVE also `drops` the source."""

    source: str
    target: str
    replaces: bool = False
    drops: bool = False
    is_silent: bool = False
    kind: Literal["transfer"] = "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a request: what it does, the prefixes and the base before it, and its own text with its place."""

    act: Modify | Clear | Create | Transfer
    prologue: str
    text: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """
    How a trial treats terms and graphs.

    With `no_blanks`, an IRI stands in the place of what would be a new blank node. A graph whose name begins with `listed`, when it
    is emptied, comes back quad by quad; others are only named. The names of free graphs begin with `free`. `most` quads may go and
    come.
    """

    base: str | None = None
    no_blanks: bool = False
    listed: str = ""
    free: str = ""
    most: int = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An RDF document in a file, and what its relative IRIs are relative to."""

    path: str
    media: str
    base: str | None = None


def operation_of(plain: Mapping[str, Any]) -> Operation:
    """An operation that was made plain by `dataclasses.asdict` and has been JSON since."""
    acts = {"modify": Modify, "clear": Clear, "create": Create, "transfer": Transfer}
    act: Any = acts[plain["act"]["kind"]]
    return Operation(**{**plain, "act": made(act, plain["act"])})


def made(cls: type[T], plain: Mapping[str, Any]) -> T:
    """A noun of this module that was made plain: what JSON has as a list was a tuple."""
    names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in plain.items() if name in names})
