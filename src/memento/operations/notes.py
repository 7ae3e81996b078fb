"""Operations on notes and on the memories that come of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta

from memento.operations.base import Instant, Interface, Iri, Operation, Right, Share, Text

if TYPE_CHECKING:
    from memento import model

BODY = (413, 415)

Tags = Annotated[Sequence[str], Meta(description="words that sort it, as labels; rules may add their own")]


class Note(Operation["model.Noted"], frozen=True):
    """
    Remember a first-person note: extract its facts, skip what is known, retire what it replaces.

    All of it is one atomic write; of more than `consolidation.chunk_over` words each piece is one. Before a model is asked the note
    is kept as pending; when the model fails, the answer is a pending note, which is tried again in the background. Rules answer at
    once; what they cannot read in `consolidation.rules_s` is kept word for word, and the answer says so.

    Raises:
        InputError: empty content.
        TooLong: content over `limits.text_bytes`.
        Conflict: the key was used for another content.
        BackendError: store or embedder failed; nothing was written.
    """

    route: ClassVar[str] = "POST /memory/notes"
    right: ClassVar[Right] = "write"
    statuses: ClassVar[tuple[int, ...]] = (201, 202)
    fails: ClassVar[tuple[int, ...]] = (409, *BODY)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "an expression keeps a text as it stands, by `remember`"}

    content: Annotated[Text, Meta(description="what to remember, in the user's own words")]
    at: (
        Annotated[
            Instant,
            Meta(description="when it was said; default now; without an offset it is read in the user's time zone"),
        ]
        | None
    ) = None
    title: Annotated[str, Meta(description="what it is about, when it says so outside its text")] | None = None
    speaker: Annotated[str, Meta(description="who said it, when it was not the user")] | None = None
    session: Annotated[str, Meta(description="the conversation it belongs to")] | None = None
    position: (
        Annotated[int, Meta(ge=0, le=2**31 - 1, description="its place in that conversation, counted from 0")] | None
    ) = None
    idempotency_key: Annotated[str, Meta(description="a retry with the same key is the same note")] | None = None
    wait: Annotated[bool, Meta(description="false: answer as soon as the note is kept")] = True
    tags: Tags = ()
    container: (
        Annotated[str, Meta(description="the drawer that its memories are put into: a filter, no border of access")]
        | None
    ) = None
    priority: Annotated[
        Literal["low", "normal", "high"], Meta(description="how much the writer makes of it: a part of its importance")
    ] = "high"
    source: Annotated[Text, Meta(description="how it came in, as a short word")] = "explicit"
    dry_run: Annotated[
        bool,
        Meta(
            description="only say what would become of it, in `readings`; nothing is written, and no IRI of the answer stays"
        ),
    ] = False
    ttl_s: (
        Annotated[
            float,
            Meta(
                description="for how many seconds its memories are remembered; default for good",
                extra_json_schema={"exclusiveMinimum": 0},
            ),
        ]
        | None
    ) = None


class NoteStatus(Operation["model.NoteStatus"], frozen=True):
    """
    Say how far a note has come: pending, consolidated, skipped or failed, and why.

    Raises:
        NotFound: no such note in this namespace.
    """

    route: ClassVar[str] = "GET /memory/notes/{iri}/status"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "`memento_status` counts the notes that wait",
        "sexpr": "what an expression writes never waits",
    }

    iri: Annotated[Iri, Meta(description="the note")]


class ListWaiting(Operation["tuple[model.NoteStatus, ...]"], frozen=True):
    """List the notes of the namespace that are still to be understood or were given up, the oldest first, with what they say."""

    route: ClassVar[str] = "GET /memory/notes/waiting"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "`memento_status` counts the notes that wait",
        "sexpr": "what an expression writes never waits",
    }


class Retry(Operation["tuple[model.NoteStatus, ...]"], frozen=True):
    """
    Try every note now that is still to be understood, of every namespace the caller may write to; say what became of each.

    A note that fails again is put off as it would be by itself.
    """

    route: ClassVar[str] = "POST /memory/retry"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "notes that wait are tried again by themselves",
        "sexpr": "what an expression writes never waits",
    }


class ImportNotes(Operation["model.Imported"], frozen=True):
    """
    Note many rows, embedding them in batches; where a model understands notes, they are kept and understood in the background.

    A row whose key was used before is passed over at once, so that an import that was stopped goes on where it was.

    Raises:
        InputError: a row is empty or too long; names the row, counted from 1; nothing is stored.
    """

    route: ClassVar[str] = "POST /memory/import"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (409, *BODY)
    absent: ClassVar[Mapping[Interface, str]] = {
        "cli": "`memento import` reads files of several kinds",
        "sexpr": "an expression remembers one text at a time",
    }

    rows: Annotated[Sequence[model.NoteRow], Meta(description="the notes, in their order")]
    consolidate: Annotated[
        bool, Meta(description="false keeps each row as one memory of its own text, and retires nothing")
    ] = True
    dry_run: Annotated[
        bool, Meta(description="true counts what is known and what would be redacted, and writes nothing")
    ] = False


class Mark(Operation["tuple[model.Marked, ...]"], frozen=True):
    """
    Change what stands beside a memory, or beside all memories of a note: its tags, its container, its importance.

    Raises:
        NotFound: no memory or note with that IRI in this namespace.
        InputError: nothing to change.
    """

    route: ClassVar[str] = "POST /memory/{iri}/mark"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, *BODY)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model gives tags with the note; which change is for the user to say",
        "sexpr": "an expression gives tags as it remembers",
    }

    iri: Annotated[Iri, Meta(description="a memory or a note")]
    tags: Annotated[Sequence[str], Meta(description="tags to add")] = ()
    untag: Annotated[Sequence[str], Meta(description="tags to take away")] = ()
    container: Annotated[str, Meta(description="the container it moves to; empty: none")] | None = None
    importance: Annotated[Share, Meta(description="how important it is from now on")] | None = None


class Correct(Operation["model.Noted"], frozen=True):
    """
    Put a better text in the place of a memory, which is retired as never having been true.

    It loses depth; what is deep resists. The new text has its keys, as far as they fit, its links, its tags, its container, its
    importance and its time to live.

    Raises:
        NotFound: no such memory in this namespace, or it is forgotten.
        InputError: the content is empty or the same.
        TooLong: content over the limit.
    """

    route: ClassVar[str] = "POST /memory/{iri}/correct"
    right: ClassVar[Right] = "write"
    status: ClassVar[int] = 201
    fails: ClassVar[tuple[int, ...]] = (404, *BODY)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "an expression changes memories by its own verbs"}

    iri: Annotated[Iri, Meta(description="the memory")]
    content: Annotated[Text, Meta(description="what is right, in the first or the third person")]
    at: Annotated[Instant, Meta(description="since when that holds; default since the memory did")] | None = None
    keys: Annotated[Sequence[str], Meta(description="the keys of the new text; default those it had")] | None = None
    types: (
        Annotated[
            Mapping[str, model.KeyType],
            Meta(description="which keys are names, found by their spelling alone; the others are concepts"),
        ]
        | None
    ) = None
    related_to: Annotated[Sequence[str], Meta(description="the memories it is linked to; default as before")] | None = (
        None
    )


class Undo(Operation["model.Undone"], frozen=True):
    """
    Take an invalidation back: the memory that it retired holds again.

    The memory that had retired it stays; `forget` it if it is wrong.

    Raises:
        NotFound: no such invalidation in this namespace, and no memory that one has retired.
    """

    route: ClassVar[str] = "POST /memory/{iri}/undo"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model corrects; what holds again is for the user to say",
        "sexpr": "an expression changes memories by its own verbs",
    }

    iri: Annotated[Iri, Meta(description="the invalidation, or the retired memory, whose latest one is meant")]


class Disputes(Operation["tuple[model.Dispute, ...]"], frozen=True):
    """List memories of this namespace that cannot, or likely cannot, hold together: contradictions first, then likely rivals."""

    route: ClassVar[str] = "GET /memory/disputes"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model is told of a contradiction with the memory it recalls; a list of them is for the user to settle",
        "sexpr": "an expression changes memories by its own verbs",
    }

    limit: Annotated[int, Meta(ge=1, le=1000, description="most of them")] = 100


class Settle(Operation["model.Settled"], frozen=True):
    """
    Settle a dispute: one memory stays, the other is over since that one began.

    `undo` takes it back.

    Raises:
        NotFound: the namespace has no such memory.
        InputError: both are the same one, or the other is over already.
    """

    route: ClassVar[str] = "POST /memory/{kept}/settle"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model corrects; which of two memories is right is for the user to say",
        "sexpr": "an expression changes memories by its own verbs",
    }

    kept: Annotated[Iri, Meta(description="the memory that is right")]
    ended: Annotated[Iri, Meta(description="the memory that is over")]
    reason: Annotated[str, Meta(description="why, in your words; otherwise what the right one says")] = ""


class Forget(Operation["model.Forgotten"], frozen=True):
    """
    Hide a memory, all memories of a note, or all that a model made, from every recall from now on; history keeps them.

    A note that is still pending is not understood any more. `unforget` brings back what was hidden.

    Raises:
        NotFound: no memory, note or agent with that IRI in this namespace.
        InputError: an agent without `confirm`.
    """

    route: ClassVar[str] = "DELETE /memory/{iri}"
    right: ClassVar[Right] = "write"
    is_idempotent: ClassVar[bool] = True
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "an expression changes memories by its own verbs"}

    iri: Annotated[Iri, Meta(description="a memory, a note, or an agent as `sources` names it")]
    erase: Annotated[
        bool, Meta(description="also delete its content, and the note when nothing else derives from it")
    ] = False
    confirm: Annotated[bool, Meta(description="needed where the IRI is an agent: all that it made goes")] = False


class ForgetTagged(Operation["model.Forgotten"], frozen=True):
    """
    Hide every memory of the namespace with one of some tags, from every recall from now on; history keeps them.

    Raises:
        NotFound: no memory that holds has such a tag.
        InputError: no tag.
    """

    route: ClassVar[str] = "POST /memory/forget"
    right: ClassVar[Right] = "write"
    is_destructive: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404, *BODY)
    absent: ClassVar[Mapping[Interface, str]] = {"sexpr": "an expression changes memories by its own verbs"}

    tags: Annotated[Sequence[str], Meta(description="the tags, one of which a memory must have")]
    erase: Annotated[
        bool, Meta(description="also delete their content, and the notes from which nothing else derives")
    ] = False


class Unforget(Operation["model.Unforgotten"], frozen=True):
    """
    Bring a forgotten memory back, or all forgotten memories of a note; what was erased is gone for good.

    A note that was forgotten before it was understood waits again.

    Raises:
        NotFound: no memory or note with that IRI in this namespace, or nothing of it is forgotten.
    """

    route: ClassVar[str] = "POST /memory/{iri}/unforget"
    right: ClassVar[Right] = "write"
    fails: ClassVar[tuple[int, ...]] = (404, 415)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "a model forgets when the user says so; what comes back is for the user to say",
        "sexpr": "an expression changes memories by its own verbs",
    }

    iri: Annotated[Iri, Meta(description="a memory or a note")]


class Sources(Operation["tuple[model.Source, ...]"], frozen=True):
    """
    Say who told a memory, or each memory of a note, and what made it of the note.

    Raises:
        NotFound: no such memory or note in this namespace.
    """

    route: ClassVar[str] = "GET /memory/{iri}/sources"
    is_idempotent: ClassVar[bool] = True
    fails: ClassVar[tuple[int, ...]] = (404,)
    absent: ClassVar[Mapping[Interface, str]] = {
        "mcp": "`memento_recall` and `memento_timeline` name the note of each memory",
        "sexpr": "an expression asks `sparql`",
    }

    iri: Annotated[Iri, Meta(description="a memory or a note")]
