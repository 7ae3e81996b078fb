"""Operations on a memory as a whole: export and import, status, checks, rebuilds, backups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.operations.base import File, Filtered, Interface, Iri, Operation, Right, Share, Text

if TYPE_CHECKING:
    from memento import model

GROUP = "admin"
STREAM = "it travels as a stream"
WHOLE = "it concerns files of the machine"
FOLDER: Mapping[Interface, str] = {"mcp": "it concerns the whole data folder"}


class Export(Filtered["model.Exported"], frozen=True):
    """
    Write all graphs of the tenant that the caller can see into a file; with a namespace, only that one and what it needs of others.

    RDF is complete: `import_rdf` creates the same statements from it. Rows (jsonl, json, csv, markdown) contain what can be
    recalled: memories, their times, what they are about, and their notes; `import_rdf` creates the same memories from them. With a
    filter, RDF contains the selected memories with their notes, what ended them, and what they are about. `okf` writes a folder in
    the Open Knowledge Format: a Markdown file for each entity, with the memories that hold and their statements.

    Raises:
        InputError: an unknown format, or the file cannot be written, or exists and `overwrite` is not set.
        NotFound: nothing goes by the name of `entity`.
        NotAcceptable: a format without named graphs, rows with vectors or an audit, or RDF that should be anonymised.
    """

    route: ClassVar[str] = "GET /memory/export"
    method: ClassVar[str] = "export"
    reports_progress: ClassVar[bool] = True
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 406)
    absent: ClassVar[Mapping[Interface, str]] = {"rest": STREAM, "client": STREAM}

    file: Annotated[File, Meta(description="where to write; `.gz` compresses it; for okf a folder")]
    form: Annotated[
        str | None,
        Meta(
            description="trig, nquads, jsonld, turtle; rows: jsonl, json, csv, markdown; a folder: okf; default by the name",
            extra={"aliases": ("format",)},
        ),
    ] = None
    vectors: Annotated[bool, Meta(description="include the vectors, for an import with the same embedder")] = False
    audit: Annotated[bool, Meta(description="include the audit log of the store, for reading; requires admin")] = False
    past: Annotated[bool, Meta(description="rows: also memories that have ended or are forgotten")] = False
    anonymise: Annotated[
        bool, Meta(description="rows, with those of cases: replace names, addresses and IRIs by pseudonyms")
    ] = False
    dates: Annotated[
        Literal["keep", "month", "year"], Meta(description="how much an anonymised export keeps of dates in figures")
    ] = "keep"
    pseudonym_key_file: Annotated[
        File | None,
        Meta(
            description="a file with a key, which makes the pseudonyms the same each time; default a key that is not kept"
        ),
    ] = None
    overwrite: Annotated[bool, Meta(description="replace the file if it exists, once the new one is complete")] = False


class ImportRdf(Operation["model.Merged"], frozen=True):
    """
    Import a document: an export of this or another memory, as RDF, as rows or as a folder, or your own RDF; atomic, and idempotent.

    Raises:
        InputError: not well formed, by line and column, nested too deep, or with a DOCTYPE; or a graph that cannot hold memories.
        Forbidden: a namespace that the caller has no access to, or shapes switched off by anybody but the owner.
        ShapeViolation: it would break a shape; the message names the statement and how to fix it.
        TooLong, TimedOut, Busy: reading it took more memory or time than a worker has, or all workers are busy.
    """

    route: ClassVar[str] = "POST /memory/import/rdf"
    method: ClassVar[str] = "intake.import_rdf"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (413, 422)
    absent: ClassVar[Mapping[Interface, str]] = {"rest": STREAM, "client": STREAM, "mcp": WHOLE}

    file: Annotated[File, Meta(description="the file to read, compressed or not; or the folder of an export as okf")]
    form: Annotated[
        str | None,
        Meta(description="as for `export`; turtle, ntriples, rdfxml with `data`; default by the file's name"),
    ] = None
    data: Annotated[str, Meta(description="the free graph for triples that are in no graph")] | None = None
    check: Annotated[
        bool, Meta(description="validate what is new against the shapes; only the owner may switch this off")
    ] = True


class Status(Operation["model.Status"], frozen=True):
    """Show what the namespace contains and the state of the service."""

    route: ClassVar[str] = "GET /memory/status"
    method: ClassVar[str] = "status"
    is_idempotent: ClassVar[bool] = True


class Check(Operation["tuple[model.Difference, ...]"], frozen=True):
    """
    Read the whole store, and compare indexes and shapes with the graph; the answer is empty if all is well.

    Notes that are not understood yet are listed too (`pending-note`, `failed-note`).

    Raises:
        Forbidden: the caller may not administer the whole data folder.
    """

    route: ClassVar[str] = "GET /memory/check"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = FOLDER


class Rebuild(Operation["int"], frozen=True):
    """
    Rebuild every index from the graph; return how many texts were embedded or taken from the cache.

    Raises:
        Forbidden: the caller may not administer the whole data folder.
    """

    route: ClassVar[str] = "POST /memory/rebuild"
    reports_progress: ClassVar[bool] = True
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = FOLDER


class Upgrade(Operation["model.Upgraded"], frozen=True):
    """
    Read what memories of an earlier version claim, after a backup; their texts stay as they are, and nothing ends.

    The claims of rows that were imported as they are, and whose reading waits, are read too. Nothing is read twice.

    Raises:
        Forbidden: the caller may not administer the whole data folder.
        InputError: no backup can be made.
    """

    route: ClassVar[str] = "POST /memory/upgrade"
    reports_progress: ClassVar[bool] = True
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = FOLDER


class Compact(Operation["model.Compacted"], frozen=True):
    """
    Tidy up the namespace: hide what is old, merge duplicates, hide the least important memories if there are too many.

    A dry run stages the changes as a graph branch and lists what would be hidden. `branch` applies that branch exactly as shown;
    `undo` reverts the latest run, or that of `branch`. Memories are hidden, not deleted. Recall keeps working meanwhile.

    Raises:
        NotFound: this namespace has no such branch that can be applied or undone.
        InputError: a number out of range, or a dry run of `undo` or of a `branch`.
    """

    route: ClassVar[str] = "POST /memory/compact"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 415)

    dry_run: Annotated[bool, Meta(description="only stage it, and show what would be hidden")] = False
    ttl_days: Annotated[
        float, Meta(ge=0, le=1e6, description="days after it was written when a memory is old; 0: never")
    ] = 180.0
    max_entries: Annotated[
        int, Meta(ge=1, description="memories to keep; above it, the least important are hidden")
    ] = 10_000
    threshold: Annotated[Share, Meta(description="cosine from which two memories may be duplicates")] = 0.92
    newest: Annotated[
        int, Meta(ge=0, le=20_000, description="how many of the newest are compared with each other; 0: none")
    ] = 500
    branch: Annotated[Iri, Meta(description="a staged branch to apply; with `undo` an applied one")] | None = None
    undo: Annotated[bool, Meta(description="bring back exactly what a run has hidden")] = False
    lines: Annotated[int, Meta(ge=0, le=10_000, description="most lines in the list of what is hidden")] = 100


class Migrate(Operation["model.Migrated"], frozen=True):
    """
    Migrate the memory to another embedder: the new vectors are built next to the old ones, which are used until the new are
    complete.

    A backup is made first. What is written meanwhile gets new vectors too. Then the new vectors replace the old ones in one step,
    and `memento.toml` of the data folder names the new embedder. If the process is killed, the next call continues where it was.

    Raises:
        SettingsError: an unknown embedder, or the environment would choose another one at the next start.
        EmbeddingError: the embedder fails; the memory is unchanged, and what was embedded is kept for the next try.
        Conflict: a migration is running already, or a backup was restored meanwhile.
        Forbidden: the caller may not administer the whole data folder, or may not name a model.
    """

    route: ClassVar[str] = "POST /memory/migrate"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (409, 502)

    model: Annotated[
        str | None,
        Meta(description="`minilm`, `trigram`, a model's folder, or a provider's name; default by the settings"),
    ] = None
    provider: Annotated[
        str | None, Meta(description="as in the setting `embedding.provider`; its key comes from the settings")
    ] = None
    dimensions: Annotated[int, Meta(ge=1, description="length of a vector; required unless local")] | None = None
    base_url: Annotated[str | None, Meta(description="address of the service; openai-compatible and ollama only")] = (
        None
    )
    force: Annotated[
        bool, Meta(description="embed everything again, even if the embedder is the same or its vectors exist already")
    ] = False
    dry_run: Annotated[bool, Meta(description="only say what would be done, and change nothing")] = False


class Backup(Operation["model.BackedUp"], frozen=True):
    """
    Make a backup while the memory is in use: a consistent snapshot of store and vectors, and the settings, without tokens.

    Raises:
        InputError: the folder contains other things, or cannot be written.
        Damaged: the store's files cannot be read completely; older backups stay.
        Forbidden: the caller may not administer the whole data folder, or may not name a folder.
    """

    route: ClassVar[str] = "POST /memory/backup"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = FOLDER

    folder: Annotated[
        File | None,
        Meta(description="where to put it, on the machine of the service; default `backups` in the data folder"),
    ] = None
    keep: Annotated[int, Meta(ge=1, description="how many of the latest backups to keep there; default all")] | None = (
        None
    )


class Restore(Operation["model.Restored"], frozen=True):
    """
    Replace the memory by a backup; the current memory is moved aside and kept.

    Tokens stay as they are, and so do settings if there are any.

    Raises:
        NotFound: there is no backup.
        InputError: it is damaged, or newer than this version; the memory is unchanged.
        Forbidden: the caller may not administer the whole data folder, or may not name a folder.
    """

    route: ClassVar[str] = "POST /memory/restore"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = FOLDER

    folder: Annotated[
        File | None, Meta(description="a backup, or a folder of backups, whose latest is used; default as for `backup`")
    ] = None


TOKENS: Mapping[Interface, str] = {
    "cli": "`memento token` works on the folder, whether a service runs or not",
    "mcp": "who gets access is for people to decide",
}


TENANTS: Mapping[Interface, str] = {"mcp": "it concerns the memory of others"}


class ListTenants(Operation["tuple[model.TenantShown, ...]"], frozen=True):
    """
    List the tenants that have data, by name, each with the number of its statements.

    Raises:
        Forbidden: the caller may not administer the whole memory.
    """

    route: ClassVar[str] = "GET /memory/tenants"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = TENANTS


class ListTokens(Operation["tuple[model.TokenShown, ...]"], frozen=True):
    """
    List the valid tokens, oldest first, without their secrets.

    Raises:
        Forbidden: the caller may not administer the whole data folder.
    """

    route: ClassVar[str] = "GET /memory/tokens"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = TOKENS


class CreateToken(Operation["model.TokenShown"], frozen=True):
    """
    Create a token; the answer's `token` is shown only once.

    Raises:
        Forbidden: the caller is not the owner on the machine of the memory: a token cannot create another.
        Conflict: there is a token of that name.
        InputError: graphs for a token of all namespaces, or that can be none of its tenant.
    """

    route: ClassVar[str] = "POST /memory/tokens"
    right: ClassVar[Right] = "admin"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (409, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = TOKENS

    name: Annotated[str, Meta(min_length=1, max_length=100, description="what to call it")]
    scope: Annotated[Literal["read", "write", "admin"], Meta(description="what the token allows")] = "read"
    namespaces: Annotated[Sequence[str], Meta(description="the namespaces where it is valid; default all")] = ()
    tenant: Annotated[str, Meta(min_length=1, max_length=200, description="whose memory it opens")] = "local"
    graphs: Annotated[
        Sequence[str],
        Meta(
            description="the free graphs that a token for some namespaces reads, by name; with `:write` behind a name, it writes "
            "that graph too; a token for all namespaces reads all"
        ),
    ] = ()


class RevokeToken(Operation["model.TokenShown"], frozen=True):
    """
    Make a token invalid from the next request on.

    Raises:
        NotFound: there is no such token.
        Forbidden: the caller may not administer the whole data folder.
    """

    route: ClassVar[str] = "DELETE /memory/tokens/{name}"
    right: ClassVar[Right] = "admin"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = TOKENS

    name: Annotated[Text, Meta(description="the token, by its name")]
