"""Operations on notes and on the memories that are made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.operations.base import Instant, Interface, Iri, Operation, Right, Share, Text

if TYPE_CHECKING:
    from memento import model

GROUP = "review"

BODY = (413, 415)

Tags = Annotated[Sequence[str], Meta(description="words that sort it, as labels; rules may add their own")]


class Note(Operation["model.Noted"], frozen=True):
    """
    Remember a first-person note: extract its facts, skip what is known, retire what it replaces.

    The whole note is one atomic write; a note over `consolidation.chunk_over` words is split into pieces, each one write. If a
    model understands notes, the note is first kept as pending. When the model fails, the answer is a pending note, which is
    retried in the background. Rules answer at once; what they cannot read is kept word for word, and
    the answer says so.

    Raises:
        InputError: empty content.
        TooLong: content over `limits.text_bytes`.
        Conflict: the key was used for a note with other content.
        BackendError: store or embedder failed; nothing was written.
    """

    route: ClassVar[str] = "POST /memory/notes"
    method: ClassVar[str] = "note"
    right: ClassVar[Right] = "write"
    statuses: ClassVar[tuple[int, ...]] = (201, 202)
    fails: ClassVar[tuple[int, ...]] = (409, *BODY)

    content: Annotated[Text, Meta(description="what to remember, in the user's own words")]
    at: Annotated[
        Instant | None,
        Meta(description="when it was said; default now; a time without an offset is in the user's time zone"),
    ] = None
    title: Annotated[str, Meta(description="what it is about, if it has a title outside its text")] | None = None
    speaker: Annotated[str, Meta(description="who said it, if not the user")] | None = None
    session: Annotated[str, Meta(description="the conversation it belongs to")] | None = None
    position: (
        Annotated[int, Meta(ge=0, le=2**31 - 1, description="its place in that conversation, counted from 0")] | None
    ) = None
    idempotency_key: Annotated[str, Meta(description="retries with the same key make only one note")] | None = None
    wait: Annotated[bool, Meta(description="false: answer as soon as the note is kept, before it is understood")] = True
    tags: Tags = ()
    container: Annotated[
        str | None, Meta(description="the container that its memories are put into: a filter, not an access boundary")
    ] = None
    priority: Annotated[
        Literal["low", "normal", "high"],
        Meta(description="how important the writer thinks it is: one part of its importance"),
    ] = "high"
    source: Annotated[Text, Meta(description="how it came in, as a short word")] = "explicit"
    dry_run: Annotated[
        bool,
        Meta(
            description="only say what would be made of it, in `readings`; nothing is written, and the answer's IRIs are not kept"
        ),
    ] = False
    ttl_s: Annotated[
        float | None,
        Meta(
            description="for how many seconds its memories are remembered; default forever",
            extra_json_schema={"exclusiveMinimum": 0},
        ),
    ] = None


class NoteStatus(Operation["model.NoteStatus"], frozen=True):
    """
    Say how far a note has come: pending, consolidated, skipped or failed, and why.

    Raises:
        NotFound: no such note in this namespace.
    """

    route: ClassVar[str] = "GET /memory/notes/{iri}/status"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "`memento_status` counts the notes that wait"}

    iri: Annotated[Iri, Meta(description="the note")]


class ListWaiting(Operation["tuple[model.NoteStatus, ...]"], frozen=True):
    """List the notes of the namespace that wait to be understood or have failed, oldest first, with their text."""

    route: ClassVar[str] = "GET /memory/notes/waiting"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "`memento_status` counts the notes that wait"}


class Retry(Operation["tuple[model.NoteStatus, ...]"], frozen=True):
    """
    Retry every note now that waits to be understood, in every namespace that the caller may write to; return the status of each.

    A note that fails again waits for its next retry as usual.
    """

    route: ClassVar[str] = "POST /memory/retry"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "notes that wait are retried automatically"}


class ImportNotes(Operation["model.Imported"], frozen=True):
    """
    Note many rows and embed them in batches; if a model understands notes, they are kept first and understood in the background.

    A row whose key was used before is skipped, so an import that was stopped continues where it was. `undo_import` takes out again
    what an import brought in.

    Raises:
        InputError: a row is empty or too long; the message names the row, counted from 1; nothing is stored.
        NotFound: `part_of` is no import of this namespace.
    """

    route: ClassVar[str] = "POST /memory/import"
    method: ClassVar[str] = "intake.import_notes"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 409, *BODY)
    absent: ClassVar[Mapping[Interface, str]] = {"cli": "`memento import` reads files of several kinds"}

    rows: Annotated[Sequence[model.NoteRow], Meta(description="the notes, in order")]
    consolidate: Annotated[
        bool, Meta(description="false keeps each row as one memory of its own text, and retires nothing")
    ] = True
    dry_run: Annotated[
        bool, Meta(description="true counts what is known and what would be redacted, and writes nothing")
    ] = False
    origin: Annotated[Text, Meta(description="the program that the rows are from, in a word such as `chatgpt`")] = (
        "import"
    )
    part_of: Annotated[
        Iri | None, Meta(description="the import that they continue, for rows sent in portions; default a new one")
    ] = None


WHOSE: Mapping[Interface, str] = {
    "mcp": "what comes in from other programs, and goes again, is for the user to decide",
}
"""Why no model asks what is brought in from elsewhere."""


class Imports(Operation["tuple[model.ImportShown, ...]"], frozen=True):
    """List the imports of the namespace of which something is left, newest first."""

    route: ClassVar[str] = "GET /memory/imports"
    method: ClassVar[str] = "intake.imports"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = WHOSE


class UndoImport(Operation["model.ImportUndone"], frozen=True):
    """
    Take out again all that one import brought in: its notes and their memories are erased, and what they had ended holds again.

    The same can be imported again afterwards.

    Raises:
        NotFound: this namespace has no such import.
    """

    route: ClassVar[str] = "POST /memory/imports/{iri}/undo"
    method: ClassVar[str] = "intake.undo_import"
    reports_progress: ClassVar[bool] = True
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = WHOSE

    iri: Annotated[Iri, Meta(description="the import, as `imports` lists it")]


class Mark(Operation["tuple[model.Marked, ...]"], frozen=True):
    """
    Change the tags, the container or the importance of a memory, or of all memories of a note.

    Raises:
        NotFound: no memory or note with that IRI in this namespace.
        InputError: nothing to change.
    """

    route: ClassVar[str] = "POST /memory/{iri}/mark"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, *BODY)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model gives tags with the note; changing them is for the user to decide",
    }

    iri: Annotated[Iri, Meta(description="a memory or a note")]
    tags: Annotated[Sequence[str], Meta(description="tags to add")] = ()
    untag: Annotated[Sequence[str], Meta(description="tags to remove")] = ()
    container: Annotated[str, Meta(description="the container it moves to; empty: none")] | None = None
    importance: Annotated[Share, Meta(description="how important it is from now on")] | None = None


class Correct(Operation["model.Noted"], frozen=True):
    """
    Replace a memory, or one claim of it, by a better text; the old one is retired as never having been true.

    The old memory loses most of its depth; a deep one keeps most of it. The new memory takes over the links, tags, container,
    importance and time to live of the old one, and those of its keys that fit.

    Raises:
        NotFound: no such memory or claim in this namespace, or it is forgotten.
        InputError: the content is empty or the same, or states nothing in place of the claim.
        TooLong: content over the limit.
    """

    route: ClassVar[str] = "POST /memory/{iri}/correct"
    method: ClassVar[str] = "correct"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (404, *BODY)

    iri: Annotated[Iri, Meta(description="the memory, or a claim of it")]
    content: Annotated[Text, Meta(description="what is right, in the first or the third person")]
    at: Annotated[Instant, Meta(description="since when that is true; default since the old memory was")] | None = None
    keys: Annotated[
        Sequence[str] | None, Meta(description="the keys of the new text; default those of the old one")
    ] = None
    types: Annotated[
        Mapping[str, model.KeyType] | None,
        Meta(description="which keys are names, found by their spelling alone; the others are concepts"),
    ] = None
    related_to: Annotated[Sequence[str] | None, Meta(description="the memories it is linked to; default as before")] = (
        None
    )


class Undo(Operation["model.Undone"], frozen=True):
    """
    Undo an invalidation: the memory or the claim that it retired is current again.

    The memory that had replaced it stays; `forget` it if it is wrong.

    Raises:
        NotFound: this namespace has no such invalidation, and no retired memory or claim with that IRI.
    """

    route: ClassVar[str] = "POST /memory/{iri}/undo"
    method: ClassVar[str] = "undo"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model corrects; what becomes current again is for the user to decide",
    }

    iri: Annotated[Iri, Meta(description="the invalidation, or the retired memory or claim: its latest one is undone")]


class Disputes(Operation["tuple[model.Dispute, ...]"], frozen=True):
    """List memories of this namespace that cannot, or likely cannot, both be true: contradictions first, then likely rivals."""

    route: ClassVar[str] = "GET /memory/disputes"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "recall tells a model of contradictions; the list of them is for the user to settle",
    }

    limit: Annotated[int, Meta(ge=1, le=1000, description="most of them")] = 100


class Settle(Operation["model.Settled"], frozen=True):
    """
    Settle a dispute: one memory stays, the other ends when that one began.

    `undo` reverts it.

    Raises:
        NotFound: the namespace has no such memory.
        InputError: both are the same memory, or the other has ended already.
    """

    route: ClassVar[str] = "POST /memory/{kept}/settle"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model corrects; which of two memories is right is for the user to decide",
    }

    kept: Annotated[Iri, Meta(description="the memory that is right")]
    ended: Annotated[Iri, Meta(description="the memory that ends")]
    reason: Annotated[str, Meta(description="why, in your words; default the text of the memory that is right")] = ""


class Forget(Operation["model.Forgotten"], frozen=True):
    """
    Hide a memory, all memories of a note, or all that a model made, from every recall from now on; history keeps them.

    A claim alone is believed no more, and its memory keeps every word. A note that is still pending will not be understood.
    `unforget` brings back what was hidden.

    Raises:
        NotFound: no memory, claim, note or agent with that IRI in this namespace.
        InputError: an agent without `confirm`, or a claim to be erased: erase its memory.
    """

    route: ClassVar[str] = "DELETE /memory/{iri}"
    method: ClassVar[str] = "forget"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)

    iri: Annotated[Iri, Meta(description="a memory, a claim, a note, or an agent as `sources` names it")]
    restore: Annotated[
        bool,
        Meta(description="also take back what it had ended: all of that holds again, as if it had never been said"),
    ] = False
    erase: Annotated[
        bool, Meta(description="also delete its content, and the note when nothing else derives from it")
    ] = False
    confirm: Annotated[
        bool, Meta(description="required if the IRI is an agent, since everything it made is hidden")
    ] = False


class ForgetTagged(Operation["model.Forgotten"], frozen=True):
    """
    Hide every memory of the namespace that has one of the given tags, from every recall from now on; history keeps them.

    Raises:
        NotFound: no current memory has such a tag.
        InputError: no tag.
    """

    route: ClassVar[str] = "POST /memory/forget"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, *BODY)

    tags: Annotated[Sequence[str], Meta(description="the tags; a memory must have one of them")]
    erase: Annotated[
        bool, Meta(description="also delete their content, and the notes from which nothing else derives")
    ] = False


class Unforget(Operation["model.Unforgotten"], frozen=True):
    """
    Bring a forgotten memory or claim back, or all forgotten memories of a note; what was erased cannot be brought back.

    A note that was forgotten before it was understood waits to be understood again.

    Raises:
        NotFound: no memory, claim or note with that IRI in this namespace, or nothing of it is forgotten.
    """

    route: ClassVar[str] = "POST /memory/{iri}/unforget"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model forgets when the user says so; what comes back is for the user to decide",
    }

    iri: Annotated[Iri, Meta(description="a memory, a claim or a note")]


class Sources(Operation["tuple[model.Source, ...]"], frozen=True):
    """
    Show who said a memory, or each memory of a note, and what derived it from the note.

    Raises:
        NotFound: no such memory or note in this namespace.
    """

    route: ClassVar[str] = "GET /memory/{iri}/sources"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "`memento_recall` and `memento_timeline` name the note of each memory",
    }

    iri: Annotated[Iri, Meta(description="a memory or a note")]
