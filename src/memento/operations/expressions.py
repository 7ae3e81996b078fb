"""Operations of s-expressions: their evaluation, and what only their verbs need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Iri, Operation, Right, Text

if TYPE_CHECKING:
    from memento import model

GROUP = "living"


class Evaluate(Operation["model.Evaluated"], frozen=True):
    """
    Evaluate one or several s-expressions, such as `(recall "tea")`; see docs/sexpr.md for the verbs.

    All of them are checked before the first runs. Expressions that change the memory require the right to write, others that to
    read.

    Raises:
        InputError: no expression, an unknown verb, wrong values, or too many calls; with line, column and the verb's signature.
            Errors of a verb keep their class, and their message has the place.
        TooLong: more than `sexpr.chars` characters.
        Forbidden: it would change the memory, and the caller may not.
    """

    route: ClassVar[str] = "POST /memory/sexpr"
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "an expression is evaluated directly"}

    expression: Annotated[Text, Meta(description="one or several expressions")]


class RecallItems(Operation["tuple[model.Item, ...]"], frozen=True):
    """
    Find the memories whose text or tags contain the query, and those tied to them, by activation, recency and importance.

    The memories that are found count as used.

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
    """List the policies by name; a policy is an expression that is stored to be run again."""

    route: ClassVar[str] = "GET /memory/policies"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "the tool `memory` has it as an expression"}


class SetPolicy(Operation["str"], frozen=True):
    """
    Store an expression under a name, to be run again.

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
