"""Operations of s-expressions: their evaluation, and what their verbs alone ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Iri, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model


class Evaluate(Operation["model.Evaluated"], frozen=True):
    """
    Evaluate one or several s-expressions, as `(recall "tea")`; see docs/sexpr.md for the verbs.

    All of them are checked before the first runs. Those that change the memory take the right to write, others that to read.

    Raises:
        InputError: no expression, an unknown verb, wrong values, or too many calls; with line, column and the verb's signature.
            Errors of a verb keep their class, and are told with their place.
        TooLong: more than `sexpr.chars` characters.
        Forbidden: it would change the memory, and the caller may not.
    """

    route: ClassVar[str] = "POST /memory/sexpr"
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "an expression is evaluated as it stands"}

    expression: Annotated[Text, Meta(description="one or several expressions")]


class RecallItems(Operation["tuple[model.Item, ...]"], frozen=True):
    """
    Find the memories whose text or tags have the query in them, and those tied to them, by activation, recency and importance.

    They count as used.

    Raises:
        InputError: empty query, or limit out of range.
    """

    route: ClassVar[str] = "GET /memory/items"
    fails: ClassVar[tuple[int, ...]] = (413,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "the tool `memory` has it as an expression"}

    query: Annotated[Text, Meta(description="what to find")]
    limit: Annotated[int, Meta(description="most memories")] = 10


class GetItem(Operation["model.Item"], frozen=True):
    """
    Show one memory with its type, tags and dates.

    Raises:
        NotFound: no such memory here.
    """

    route: ClassVar[str] = "GET /memory/items/{iri}"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "the tool `memory` has it as an expression"}

    iri: Annotated[Iri, Meta(description="the memory")]


class Policies(Operation["dict[str, str]"], frozen=True):
    """List the policies, expressions that are kept to be run again, by name."""

    route: ClassVar[str] = "GET /memory/policies"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "the tool `memory` has it as an expression"}


class SetPolicy(Operation["str"], frozen=True):
    """
    Keep an expression under a name, to be run again.

    Raises:
        InputError: no expression, or no name.
    """

    route: ClassVar[str] = "POST /memory/policies/{name}"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "the tool `memory` has it as an expression"}

    name: Annotated[Text, Meta(description="its name")]
    expression: Annotated[Text, Meta(description="one expression")]
