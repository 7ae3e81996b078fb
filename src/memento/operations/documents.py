"""Operations on whole memories as RDF documents; over HTTP they travel as streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from memento.operations.base import Interface, Operation, Right

if TYPE_CHECKING:
    from memento import model

    File = Path | str
else:
    File = str

STREAM = "it travels as a stream"
WHOLE = "it concerns files of the machine"


class Export(Operation["model.Exported"], frozen=True):
    """
    Write every graph of the tenant that the caller sees into a file, or with a namespace that one, with what it needs of others.

    Nothing is lost: `import_rdf` makes the same statements of it.

    Raises:
        InputError: a format that is none, or the file cannot be written.
        NotAcceptable: a format that has no named graphs.
    """

    route: ClassVar[str] = "GET /memory/export"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (406,)
    absent: ClassVar[Mapping[Interface, str]] = {"rest": STREAM, "client": STREAM, "mcp": WHOLE, "sexpr": WHOLE}

    file: Annotated[File, Meta(description="takes the place of what is there once it is whole; `.gz` packs it")]
    form: Annotated[str, Meta(description="trig, nquads or jsonld; default by the file's name")] | None = None
    vectors: Annotated[bool, Meta(description="put the vectors in, for an import by the same embedder")] = False
    audit: Annotated[bool, Meta(description="put in what was done with the store, for reading; takes admin")] = False


class ImportRdf(Operation["model.Merged"], frozen=True):
    """
    Take in an RDF document: an export of this or another memory, or one's own RDF; all of it or nothing, a second time nothing.

    Raises:
        InputError: not well formed, by line and column, nested too deep, or with a DOCTYPE; or a graph that memories cannot be in.
        Forbidden: a namespace that the caller has no access to, or shapes left out by another than the owner.
        ShapeViolation: it would break a shape; names the statement and how to mend it.
        TooLong, TimedOut, Busy: reading it took more memory or time than a worker has, or all are taken.
    """

    route: ClassVar[str] = "POST /memory/import/rdf"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 422)
    absent: ClassVar[Mapping[Interface, str]] = {"rest": STREAM, "client": STREAM, "mcp": WHOLE, "sexpr": WHOLE}

    file: Annotated[File, Meta(description="packed or not")]
    form: (
        Annotated[
            str,
            Meta(description="trig, nquads, jsonld; turtle, ntriples, rdfxml with `data`; default by the file's name"),
        ]
        | None
    ) = None
    data: Annotated[str, Meta(description="the free graph that triples outside of any graph go to")] | None = None
    check: Annotated[bool, Meta(description="hold what is new against the shapes; only the owner may leave it out")] = (
        True
    )
