"""Operations on a memory as a whole: export and import, status, checks, rebuilds, backups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.operations.base import Filtered, Interface, Iri, Operation, Right, Share, Text

if TYPE_CHECKING:
    from memento import model

    File = Path | str
else:
    File = str

STREAM = "it travels as a stream"
WHOLE = "it concerns files of the machine"
FOLDER: Mapping[Interface, str] = dict.fromkeys(("mcp", "sexpr"), "it concerns the whole data folder")


class Export(Filtered["model.Exported"], frozen=True):
    """
    Write every graph of the tenant that the caller sees into a file, or with a namespace that one, with what it needs of others.

    As RDF nothing is lost: `import_rdf` makes the same statements of it. As rows (jsonl, json, csv, markdown) it has what can be
    recalled: memories, their times, what they are about, and their notes; `import_rdf` makes the same memories of them. Of some
    memories alone, by a filter, RDF has what says something of them: their notes, what ended them, what they are about.

    Raises:
        InputError: a format that is none, or the file cannot be written.
        NotFound: nothing goes by the name of `entity`.
        NotAcceptable: a format that has no named graphs, rows with vectors or an audit, or RDF that is to be anonymised.
    """

    route: ClassVar[str] = "GET /memory/export"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 406)
    absent: ClassVar[Mapping[Interface, str]] = {"rest": STREAM, "client": STREAM, "sexpr": WHOLE}

    file: Annotated[File, Meta(description="takes the place of what is there once it is whole; `.gz` packs it")]
    form: (
        Annotated[
            str, Meta(description="trig, nquads, jsonld, turtle; rows: jsonl, json, csv, markdown; default by its name")
        ]
        | None
    ) = None
    vectors: Annotated[bool, Meta(description="put the vectors in, for an import by the same embedder")] = False
    audit: Annotated[bool, Meta(description="put in what was done with the store, for reading; takes admin")] = False
    past: Annotated[bool, Meta(description="rows: also memories that are over or forgotten")] = False
    anonymise: Annotated[bool, Meta(description="rows: pseudonyms in the place of names, addresses and IRIs")] = False
    dates: Annotated[
        Literal["keep", "month", "year"], Meta(description="what an anonymised export leaves of dates in figures")
    ] = "keep"
    pseudonym_key_file: (
        Annotated[
            File,
            Meta(description="a file whose text makes the same pseudonyms each time; default a key that is not kept"),
        ]
        | None
    ) = None


class ImportRdf(Operation["model.Merged"], frozen=True):
    """
    Take in a document: an export of this or another memory, as RDF or as rows, or one's own RDF; all of it or nothing, a second
    time nothing.

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
            Meta(description="as for `export`; turtle, ntriples, rdfxml with `data`; default by the file's name"),
        ]
        | None
    ) = None
    data: Annotated[str, Meta(description="the free graph that triples outside of any graph go to")] | None = None
    check: Annotated[bool, Meta(description="hold what is new against the shapes; only the owner may leave it out")] = (
        True
    )


class Status(Operation["model.Status"], frozen=True):
    """Say what the namespace holds and how the service stands."""

    route: ClassVar[str] = "GET /memory/status"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "`stats` has the memory in numbers"}


class Check(Operation["tuple[model.Difference, ...]"], frozen=True):
    """
    Read the store to its end, and compare indexes and shapes with the graph; an empty answer when all is well.

    Notes that are not understood yet are named too (`pending-note`, `failed-note`).

    Raises:
        Forbidden: the caller may not care for the whole data folder.
    """

    route: ClassVar[str] = "GET /memory/check"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = FOLDER


class Rebuild(Operation["int"], frozen=True):
    """
    Make every index from the graph alone; answers with how many texts were embedded or taken from the cache.

    Raises:
        Forbidden: the caller may not care for the whole data folder.
    """

    route: ClassVar[str] = "POST /memory/rebuild"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = FOLDER


class Compact(Operation["model.Compacted"], frozen=True):
    """
    Tidy the namespace up: hide what is old, make one of what says the same, hide what matters least where there is too much.

    A trial run stages it as a graph branch and lists what would go; `branch` applies that branch as it was shown, `undo` takes back
    the latest run, or that of `branch`. What goes is hidden and not deleted. Recall is answered meanwhile.

    Raises:
        NotFound: no such branch of this namespace that could be applied, or undone.
        InputError: a number out of range, or a trial run of `undo` or of a `branch`.
    """

    route: ClassVar[str] = "POST /memory/compact"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 415)

    dry_run: Annotated[bool, Meta(description="only stage it, and show what would go")] = False
    ttl_days: Annotated[
        float, Meta(ge=0, le=1e6, description="days after which a memory is old, by when it was written; 0: none is")
    ] = 180.0
    max_entries: Annotated[int, Meta(ge=1, description="memories to keep; beyond, the least important go")] = 10_000
    threshold: Annotated[Share, Meta(description="cosine from which two memories may say the same")] = 0.92
    newest: Annotated[
        int, Meta(ge=0, le=20_000, description="how many of the newest are compared with each other; 0: none")
    ] = 500
    branch: Annotated[Iri, Meta(description="a staged branch to apply; with `undo` an applied one")] | None = None
    undo: Annotated[bool, Meta(description="bring back exactly what a run has taken away")] = False
    lines: Annotated[int, Meta(ge=0, le=10_000, description="most lines of what goes")] = 100


class Migrate(Operation["model.Migrated"], frozen=True):
    """
    Move the memory to another embedder: its vectors are made beside those in use, which answer until the others are whole.

    A backup comes first. What is written meanwhile is in the new vectors too; then they take the place of the old ones in one step,
    and `memento.toml` of the data folder names the embedder. Killed on the way it goes on where it was when asked again.

    Raises:
        SettingsError: an embedder that is none, or the environment would choose another one at the next start.
        EmbeddingError: the embedder fails; the memory is as it was, and what was embedded is kept for the next try.
        Conflict: the memory is being moved already, or a backup was put in its place meanwhile.
        Forbidden: the caller may not care for the whole data folder, or not name a model.
    """

    route: ClassVar[str] = "POST /memory/migrate"
    right: ClassVar[Right] = "admin"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (409, 502)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": FOLDER["sexpr"]}

    model: (
        Annotated[
            str,
            Meta(description="`minilm`, `trigram`, a model's folder, or a provider's name; default by the settings"),
        ]
        | None
    ) = None
    provider: (
        Annotated[str, Meta(description="as of the setting `embedding.provider`; its key by the settings")] | None
    ) = None
    dimensions: Annotated[int, Meta(ge=1, description="length of a vector; needed unless local")] | None = None
    base_url: Annotated[str, Meta(description="address of the service; openai-compatible and ollama only")] | None = (
        None
    )
    force: Annotated[
        bool, Meta(description="embed everything again, though the embedder is the same or has done it")
    ] = False
    dry_run: Annotated[bool, Meta(description="say what there is to do, and change nothing")] = False


class Sync(Operation["model.Synced"], frozen=True):
    """
    Keep the memory in step with those of other machines, by a folder that all of them reach, as one in a cloud or on a stick.

    Each machine writes there what it has changed, as a numbered patch that is never changed but to take out what was erased, and
    takes in what the others wrote: all of it or nothing, whatever came first. What was said on several machines stays; `disputes`
    lists what can hardly both hold. What is forgotten or erased on one is so on all.

    Raises:
        InputError: a patch is damaged or missing, by name, or the folder cannot be written; nothing is taken.
        ShapeViolation: what came would break a shape.
        Forbidden: the caller may not care for the whole data folder, or not name a folder.
    """

    route: ClassVar[str] = "POST /memory/sync"
    right: ClassVar[Right] = "admin"
    fails: ClassVar[tuple[int, ...]] = (422,)
    absent: ClassVar[Mapping[Interface, str]] = FOLDER

    folder: Annotated[File, Meta(description="where the machines leave their patches, on the machine of the service")]
    dry_run: Annotated[bool, Meta(description="say what would be sent and taken, and change nothing")] = False


class Backup(Operation["model.BackedUp"], frozen=True):
    """
    Make a backup while the memory is in use: store and vectors as they are at one instant, and the settings, without tokens.

    Raises:
        InputError: other things are in the folder, or it cannot be written.
        Damaged: the store's files cannot be read to their end; older backups stay.
        Forbidden: the caller may not care for the whole data folder, or not name a folder.
    """

    route: ClassVar[str] = "POST /memory/backup"
    right: ClassVar[Right] = "admin"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (415,)
    absent: ClassVar[Mapping[Interface, str]] = FOLDER

    folder: (
        Annotated[
            File,
            Meta(description="where to put it, on the machine of the service; default `backups` in the data folder"),
        ]
        | None
    ) = None
    keep: Annotated[int, Meta(ge=1, description="how many of the latest to leave there; default all")] | None = None


class Restore(Operation["model.Restored"], frozen=True):
    """
    Let a backup be the memory from now on; what was here is moved aside and stays.

    Tokens stay as they are, settings too where there are some.

    Raises:
        NotFound: there is no backup.
        InputError: it is damaged, or newer than this version; the memory is as it was.
        Forbidden: the caller may not care for the whole data folder, or not name a folder.
    """

    route: ClassVar[str] = "POST /memory/restore"
    right: ClassVar[Right] = "admin"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = FOLDER

    folder: (
        Annotated[
            File,
            Meta(description="a backup, or a folder of backups, of which the latest is taken; default as for `backup`"),
        ]
        | None
    ) = None


TOKENS: Mapping[Interface, str] = {
    "cli": "`memento token` works on the folder, served or not",
    "mcp": "who gets in is for people to say",
    "sexpr": "it concerns the whole data folder",
}


class ProbeStore(Operation["model.Probed"], frozen=True):
    """
    Say whether a memory can be kept in a SPARQL endpoint: what Memento needs of one and whether it has it, each with its request.

    Takes about 10 s, and writes only to graphs below `urn:memento:probe:`, which are removed at the end. An endpoint that cannot be
    reached is answered without findings.

    Raises:
        InputError: an address that is none.
        Forbidden: anybody but a program of the owner on the machine of the memory.
    """

    route: ClassVar[str] = "POST /memory/store/probe"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = dict.fromkeys(("mcp", "sexpr"), "it concerns another store")

    query_url: Annotated[Text, Meta(description="where queries go, as http://127.0.0.1:7878/query")]
    update_url: Annotated[Text, Meta(description="where updates go, as http://127.0.0.1:7878/update")]
    token: Annotated[str, Meta(description="sent as bearer to both")] | None = None
    quick: Annotated[bool, Meta(description="only what loses memories or shows them to others, in a second")] = False


TENANTS: Mapping[Interface, str] = dict.fromkeys(("mcp", "sexpr"), "it concerns the memory of others")


class MoveTenant(Operation["model.TenantMoved"], frozen=True):
    """
    Move the memory of a tenant to another store while it is read and written; asked again after a kill, it goes on.

    It is copied and kept level, then nobody writes to both stores while the last of it is brought and the digests of all its graphs
    are compared, then it is in its new place, and what was in the old one is removed.

    Raises:
        Conflict: somebody moves it now, or it is being moved elsewhere, or it cannot be taken back any more.
        NotFound: this node knows no such store, or there is no move to be taken back.
        GraphError: a store failed, or the two had not the same, and the tenant stays where it is.
        Forbidden: the caller may not care for the whole memory.
    """

    route: ClassVar[str] = "POST /memory/tenants/{tenant}/move"
    right: ClassVar[Right] = "admin"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 409, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = TENANTS

    tenant: Annotated[Text, Meta(description="whose memory")]
    to: (
        Annotated[Text, Meta(description="the store, as `store.shards` calls it; `default` is that of the settings")]
        | None
    ) = None
    cancel: Annotated[bool, Meta(description="take a move back that did not end; the tenant stays where it is")] = False


class ListTenants(Operation["tuple[model.TenantShown, ...]"], frozen=True):
    """
    List the tenants that have something, by name, each with the store where that is, and what is being moved.

    Raises:
        Forbidden: the caller may not care for the whole memory.
    """

    route: ClassVar[str] = "GET /memory/tenants"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = TENANTS


class LocateTenant(Operation["model.TenantShown"], frozen=True):
    """
    Say in which store the memory of a tenant is; of one that has nothing, where it would be.

    Raises:
        GraphError: that store is away, or this node does not know it.
        Forbidden: the caller may not care for the whole memory.
    """

    route: ClassVar[str] = "GET /memory/tenants/{tenant}"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = TENANTS

    tenant: Annotated[Text, Meta(description="whose memory")]


class ListTokens(Operation["tuple[model.TokenShown, ...]"], frozen=True):
    """
    List the tokens that are good, the oldest first, without what would let anybody in.

    Raises:
        Forbidden: the caller may not care for the whole data folder.
    """

    route: ClassVar[str] = "GET /memory/tokens"
    is_idempotent: ClassVar[bool] = True
    right: ClassVar[Right] = "admin"
    absent: ClassVar[Mapping[Interface, str]] = TOKENS


class CreateToken(Operation["model.TokenShown"], frozen=True):
    """
    Create a token; `token` of the answer is shown this once.

    Raises:
        Forbidden: the caller is not the owner on the machine of the memory: a token cannot make another.
        Conflict: there is a token of that name.
    """

    route: ClassVar[str] = "POST /memory/tokens"
    right: ClassVar[Right] = "admin"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (409, 413, 415)
    absent: ClassVar[Mapping[Interface, str]] = TOKENS

    name: Annotated[str, Meta(min_length=1, max_length=100, description="what to call it")]
    scope: Annotated[Literal["read", "write", "admin"], Meta(description="what it may do")] = "read"
    namespaces: Annotated[Sequence[str], Meta(description="where it may do that; default everywhere")] = ()
    tenant: Annotated[str, Meta(min_length=1, max_length=200, description="whose memory it opens")] = "local"


class RevokeToken(Operation["model.TokenShown"], frozen=True):
    """
    Make a token invalid from the next request on.

    Raises:
        NotFound: there is no such token.
        Forbidden: the caller may not care for the whole data folder.
    """

    route: ClassVar[str] = "DELETE /memory/tokens/{name}"
    right: ClassVar[Right] = "admin"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = TOKENS

    name: Annotated[Text, Meta(description="the token, by its name")]
