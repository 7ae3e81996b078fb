"""Operations of living memories: their strength, feedback, associations, fading, the archive, and s-expressions over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Iri, Limit, Offset, Operation, Right, Share, Text
from memento.plugins.living.nouns import Activated, Archived, Evaluated, FadingMemory, Followed, Item

if TYPE_CHECKING:
    from memento import model

GROUP = "living"


class Strength(Operation["model.Strength"], frozen=True):
    """
    Show the importance, depth, energy and usefulness of a memory now.

    Raises:
        NotFound: no such memory here.
    """

    route: ClassVar[str] = "GET /memory/{iri}/strength"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    iri: Annotated[Iri, Meta(description="the memory")]


class Feedback(Operation["model.Strength"], frozen=True):
    """
    Report that a memory helped or misled; return its updated numbers.

    Raises:
        NotFound: the namespace has no such memory.
    """

    route: ClassVar[str] = "POST /memory/{iri}/feedback"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)

    iri: Annotated[Iri, Meta(description="the memory")]
    helped: Annotated[bool, Meta(description="true: it helped; false: it misled")]


class Associate(Operation["model.Association"], frozen=True):
    """
    Create an association from one memory to another, or strengthen an existing one.

    Raises:
        NotFound: one of them is no current memory.
        InputError: both are the same memory, or the weight is out of range.
    """

    route: ClassVar[str] = "POST /memory/associations"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)

    source: Annotated[Iri, Meta(description="the memory that it starts from; must be in the namespace itself")]
    target: Annotated[Iri, Meta(description="the memory that it leads to")]
    relation: Annotated[
        Text, Meta(description="the kind of link, in one or a few words", extra_json_schema={"maxLength": 100})
    ] = "similar"
    weight: Annotated[Share, Meta(description="its strength; an existing link grows by a tenth of it")] = 0.5


class Trace(Operation["tuple[Followed, ...]"], frozen=True):
    """
    List the paths of associations that start from a memory, depth first.

    Raises:
        NotFound: no such memory here.
    """

    route: ClassVar[str] = "GET /memory/{iri}/trace"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    iri: Annotated[Iri, Meta(description="the memory to start from")]
    depth: Annotated[int, Meta(ge=1, le=6, description="most links of a path")] = 2


class Activate(Operation["tuple[Activated, ...]"], frozen=True):
    """
    Spread activation from some memories over associations and shared names; return the twenty most active memories.

    Raises:
        NotFound: a seed is no current memory.
        InputError: no seed, or a number out of range.
    """

    route: ClassVar[str] = "POST /memory/activate"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 413, 415)

    seeds: Annotated[
        Sequence[str],
        Meta(description="the memories to start from", extra_json_schema={"minItems": 1, "maxItems": 1000}),
    ]
    steps: Annotated[int, Meta(ge=1, le=10, description="how often activation is passed on")] = 3
    decay: Annotated[Share, Meta(description="share that arrives over a link")] = 0.85
    threshold: Annotated[Share, Meta(description="activation above which it is passed on")] = 0.1


class Decay(Operation["model.Fading"], frozen=True):
    """
    Decay the energies of the namespace up to now, from each memory's last use; calling it again at once changes nothing.

    Raises:
        InputError: a half-life that is not above 0.
    """

    route: ClassVar[str] = "POST /memory/decay"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)

    half_life_days: Annotated[
        float | None,
        Meta(
            description="days in which energies halve; default the setting `living.half_life`",
            extra_json_schema={"exclusiveMinimum": 0},
        ),
    ] = None


class Archive(Operation["Archived"], frozen=True):
    """Hide from recall the memories that have no energy left and are hardly used; `unarchive` brings one back."""

    route: ClassVar[str] = "POST /memory/archive"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (415,)

    dry_run: Annotated[bool, Meta(description="only list them; this also works on a read-only memory")] = False


class ListFading(Operation["tuple[FadingMemory, ...]"], frozen=True):
    """
    List the memories that will be archived if nobody uses them, the next one first, with their energy now and the day.

    Give a memory an importance of .7 or more (`mark`), and it is never archived.

    Raises:
        InputError: limit or offset out of range.
    """

    route: ClassVar[str] = "GET /memory/fading"
    is_idempotent: ClassVar[bool] = True

    limit: Limit = 50
    offset: Offset = 0


class ListArchived(Operation["tuple[model.Listed, ...]"], frozen=True):
    """
    List the archived memories of the namespace, the latest written first.

    Raises:
        InputError: limit or offset out of range.
    """

    route: ClassVar[str] = "GET /memory/archived"
    is_idempotent: ClassVar[bool] = True

    limit: Limit = 50
    offset: Offset = 0


class Unarchive(Operation["model.Strength"], frozen=True):
    """
    Bring an archived memory back, with its initial energy.

    Raises:
        NotFound: no such memory here.
    """

    route: ClassVar[str] = "POST /memory/{iri}/unarchive"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 415)

    iri: Annotated[Iri, Meta(description="the memory")]


class Evaluate(Operation["Evaluated"], frozen=True):
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

    expression: Annotated[Text, Meta(description="one or several expressions")]


class RecallItems(Operation["tuple[Item, ...]"], frozen=True):
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


class GetItem(Operation["Item"], frozen=True):
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
