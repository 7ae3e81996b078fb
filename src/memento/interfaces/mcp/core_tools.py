"""The tools that every client gets: note, correct and forget, which may ask the user first; recall, timeline, SPARQL, status."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Annotated, Literal

from msgspec import Meta

from memento.errors import TooMuch
from memento.interfaces.mcp.tools import Argument, Arguments, Ask, Reach, Told, Tool, tool_over
from memento.iris import IRI, MEM
from memento.model import Contradiction, Ended, Noted, NoteRef, Recalled, Retired
from memento.operations import notes
from memento.operations.base import FILTERS
from memento.operations.care import Status
from memento.operations.graphs import Query
from memento.operations.recall import Get, Recall, Timeline

NOTE = """Remember something about the user for later conversations.

Use when the user asks to remember, or says something lasting about themselves, their people, work or preferences.
1. Draft a note in the first person, as the user would say it: concise, self-contained, with full names and dates, and only what \
is new. "I moved from Paris to Lisbon in March 2025."
2. Show the draft to the user and wait for a clear yes.
3. Call this tool with confirmed=true. With confirmed=false nothing is stored.
Memories that the note replaces are retired, not deleted. Never note secrets or what a recall returned."""

_UNASKED = """Remember something about the user for later conversations.

Use when the user asks to remember, or says something lasting about themselves, their people, work or preferences.
Write the note in the first person, as the user would say it: concise, self-contained, with full names and dates, and only what is \
new. "I moved from Paris to Lisbon in March 2025." {}
Memories that the note replaces are retired, not deleted. Never note secrets or what a recall returned."""
NOTE_BY_CLIENT = _UNASKED.format("Call at once: the client shows the user the note and asks.")
NOTE_UNASKED = _UNASKED.format("Call at once, without asking: the user has chosen this.")

CORRECT = """Correct a memory that was never true, such as a misspelt name or a wrong date.

Use when the user says that a recalled memory is wrong. If something was true and has changed, write a new note instead. The \
old wording stays in the history, marked as corrected."""

FORGET = """Forget a memory, or all memories of a note: they are never recalled again.

Use when the user asks to forget. Show them what would be forgotten, wait for a clear yes, then call with confirmed=true. \
erase=true deletes the text itself, which cannot be undone: use it only if the user explicitly asks for it."""


class NoteArguments(Arguments, frozen=True, kw_only=True):
    content: Annotated[str, Meta(description="The note, in the first person, as the user would say it.")]
    confirmed: Annotated[bool, Meta(description="Whether the user has seen exactly this note and said yes.")]
    at: Annotated[str | None, Meta(description="When it was said or happened, ISO 8601; default now.")] = None
    wait: Annotated[
        bool, Meta(description="False returns as soon as the note is stored, before its facts are extracted.")
    ] = True
    tags: Annotated[tuple[str, ...], Meta(description="Tags to find it by, if the user names any.")] = ()
    container: Annotated[str | None, Meta(description="The container to put it into, if the user names one.")] = None


class UnaskedNoteArguments(NoteArguments, frozen=True, kw_only=True):
    confirmed: Annotated[bool, Meta(description="Ignored: notes need no confirmation here.")] = True


class CorrectArguments(Arguments, frozen=True, kw_only=True):
    iri: Annotated[str, Meta(description="The IRI of the wrong memory, as a recall returned it.")]
    content: Annotated[str, Meta(description="The right fact, as one sentence in the third person.")]
    at: Annotated[str | None, Meta(description="Since when it is true, ISO 8601; default as before.")] = None


class ForgetArguments(Arguments, frozen=True, kw_only=True):
    iri: Annotated[str, Meta(description="The IRI of a memory or a note, as a recall returned it.")]
    confirmed: Annotated[bool, Meta(description="Whether the user has seen what would be forgotten and said yes.")]
    erase: Annotated[bool, Meta(description="Delete the text for good instead of hiding it.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    The result of a call. `memories` were stored; `retired` were replaced, corrected or forgotten; `ended` are words of memories
    that hold on otherwise. A `pending` note is stored but not yet processed, so its memories do not exist yet.
    """

    status: Literal["noted", "pending", "skipped", "corrected", "forgotten", "erased", "unconfirmed", "declined"]
    note: IRI | None = None
    memories: tuple[IRI, ...] = ()
    retired: tuple[IRI, ...] = ()
    ended: tuple[str, ...] = ()
    reason: str | None = None


def note(reach: Reach, asked: NoteArguments) -> Told | Ask:
    """Ask for confirmation, or store the note."""
    if not asked.confirmed and reach.memory.settings.mcp.confirmation == "ask":
        return _list_unconfirmed(
            f"Remember this?\n\n{asked.content.strip()}",
            "Nothing is stored yet. Show this note to the user and ask whether to remember it; when they say yes, call "
            f"memento_note again with confirmed=true:\n\n{asked.content.strip()}",
        )
    noted = reach.memory.note(
        asked.content,
        at=asked.at,
        wait=asked.wait,
        tags=asked.tags,
        container=asked.container,
        namespace=reach.namespace,
    )
    return _store(noted, "noted", "Noted.")


def correct(reach: Reach, asked: CorrectArguments) -> Told:
    """Correct a memory."""
    corrected = reach.memory.correct(asked.iri, asked.content, at=asked.at, namespace=reach.namespace)
    return _store(corrected, "corrected", "Corrected.")


def forget(reach: Reach, asked: ForgetArguments) -> Told | Ask:
    """Ask for confirmation, or forget."""
    verb = "Delete for good" if asked.erase else "Forget"
    if not asked.confirmed:
        what = _content(reach, asked.iri)
        return _list_unconfirmed(
            f"{verb}?\n\n{what}",
            "Nothing is forgotten yet. Show this to the user and ask whether to "
            f"{verb.lower()} it; when they say yes, call memento_forget again with confirmed=true:\n\n{what}",
        )
    gone = reach.memory.forget(asked.iri, erase=asked.erase, namespace=reach.namespace)
    return Told(
        answer=Change(status="erased" if gone.erased else "forgotten", retired=gone.memories),
        text="Erased."
        if gone.erased
        else f"Hidden, not deleted. The user can bring it back with `memento unforget {asked.iri}`.",
    )


def _store(noted: Noted, status: Literal["noted", "corrected"], text: str) -> Told:
    if noted.skipped:
        return Told(answer=Change(status="skipped", reason=noted.skipped), text=f"Skipped: {noted.skipped}")
    state: Literal["noted", "pending", "corrected"] = "pending" if noted.pending else status
    done = Change(
        status=state,
        note=noted.note,
        memories=noted.memories,
        retired=noted.invalidated,
        ended=tuple(one.words for one in noted.ended),
        reason=noted.verbatim,
    )
    return Told(answer=done, text=f"{text} But {noted.verbatim}." if noted.verbatim else text)


def _list_unconfirmed(question: str, instead: str) -> Ask:
    return Ask(
        question=question,
        instead=Told(answer=Change(status="unconfirmed"), text=instead),
        refused=Told(answer=Change(status="declined"), text="The user said no: nothing was changed."),
    )


def _content(reach: Reach, iri: str) -> str:
    """Return the text of a memory or a note; raise `NotFound` before the user is asked."""
    found = reach.memory.get(iri, namespace=reach.namespace)
    return next((value for name, value in found.properties if name == MEM.content), found.iri)


WRITING_TOOLS = (
    Tool(
        name="memento_note",
        title="Remember",
        description=NOTE,
        arguments=NoteArguments,
        answer=Change,
        run=note,
        asks=(notes.Note,),
        repeats_harmlessly=True,
    ),
    Tool(
        name="memento_correct",
        title="Correct a memory",
        description=CORRECT,
        arguments=CorrectArguments,
        answer=Change,
        run=correct,
        asks=(notes.Correct,),
        repeats_harmlessly=True,
    ),
    Tool(
        name="memento_forget",
        title="Forget",
        description=FORGET,
        arguments=ForgetArguments,
        answer=Change,
        run=forget,
        asks=(Get, notes.Forget),
        destroys=True,
        repeats_harmlessly=True,
    ),
)


UNASKED_NOTES: Mapping[str, Tool] = {
    mode: replace(WRITING_TOOLS[0], description=description, arguments=UnaskedNoteArguments)
    for mode, description in (("client", NOTE_BY_CLIENT), ("never", NOTE_UNASKED))
}
"""The tool `memento_note` for the values of `mcp.confirmation` that ask no question here."""


RECALL = """Recall memories that answer a question: facts with the dates they were true, the note they came from, and what they \
replaced; best first.

Use before answering anything about the user, their people, projects, preferences or past, and whenever they refer to an earlier \
conversation. Ask in a full sentence, with names. An empty answer means that nothing relevant is known: say so, do not guess. What \
is nearest is shown apart then; it does not answer the question."""

TIMELINE = """Show the history of an entity, of the user, or of one memory: every belief in the order it became true, with when \
and why it ended.

Use when the user asks how something changed, what was true at some time, or why a memory was replaced."""

SPARQL = """Answer a read-only SPARQL 1.1 query over the memory graph.

Use for counts, lists and joins that memento_recall cannot answer. Prefix mem: <http://purl.org/memento/> . A mem:Memory has \
mem:content, mem:about (a mem:Entity or mem:User with mem:name), mem:extractedFrom (a mem:Note with mem:content and mem:at), \
mem:validAt, and when it has ended mem:invalidAt or mem:expiredAt; mem:invalidates leads to what it replaced. The resource \
memento://ontology has every term. SERVICE mem:search { ?memory mem:matches "a question" ; mem:score ?score } recalls inside the \
query; updates and any other SERVICE are refused."""

STATUS = """Show how many notes, memories and entities there are, in which namespaces, and the state of the service.

Use when the user asks what is stored, or when another tool fails."""

BUDGET = 600
"""The token budget of a recall that names none."""
ROWS = 200
MOST_BYTES = 262_144
"""The longest answer: a model does not read more, and the answer takes many times its size in memory before it is sent."""


class RecallArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="The question, as a full sentence with names.")]
    k: Annotated[int | None, Meta(description="The most memories to return; default 10.")] = None
    as_of: Annotated[str | None, Meta(description="Return what was true at this time, ISO 8601; default now.")] = None
    believed_at: Annotated[
        str | None,
        Meta(description="Return what was believed at this time, ISO 8601, ignoring what was learned later."),
    ] = None
    engine: Annotated[
        str | None, Meta(description="The ranking engine: signals (default), ppr, spread, hops or published.")
    ] = None
    mode: Annotated[
        str | None, Meta(description="A plain search instead of an engine: vector, keyword or hybrid (70/30).")
    ] = None
    budget: Annotated[
        int | None, Meta(description="The most tokens for the memories and the texts of their notes; default 600.")
    ] = None
    tags: Annotated[tuple[str, ...], Meta(description="Only memories with one of these tags.")] = ()
    container: Annotated[str | None, Meta(description="Only memories in this container.")] = None
    source: Annotated[str | None, Meta(description="Only memories from this source, as explicit or import.")] = None
    after: Annotated[str | None, Meta(description="Only memories true since this time or later, ISO 8601.")] = None
    before: Annotated[str | None, Meta(description="Only memories true since before this time, ISO 8601.")] = None
    entity: Annotated[str | None, Meta(description="Only memories about the entity with this name.")] = None


class SparqlArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="A SELECT, ASK, CONSTRUCT or DESCRIBE query with its prefixes.")]
    limit: Annotated[int, Meta(description="The most rows to return.", ge=1, le=1000)] = ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """
    A memory that is relevant to the question. `score` is in 0..1; `count` is the number of memories that say the same; `note` has
    the text around it in its note; `ended` are words of it that no longer hold, since when and why; `replaced` are the
    memories that it replaced, `contradicts` current ones that cannot be true together with it; `sentence` is the one of
    several that answers.
    """

    iri: IRI
    content: str
    score: float
    sentence: str | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    about: tuple[str, ...] = ()
    count: int = 1
    note: NoteRef | None = None
    ended: tuple[Ended, ...] = ()
    replaced: tuple[Retired, ...] = ()
    contradicts: tuple[Contradiction, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallAnswer:
    """
    Memories that answer, best first. Where none does, `nearest` has up to three that are near the question; they are no answers.
    `gated` means that memories were found but none was relevant; `left_out` counts those beyond the budget; `degraded` says why all
    of them are from an earlier time.
    """

    memories: tuple[Found, ...]
    nearest: tuple[Found, ...] = ()
    gated: bool = False
    left_out: int = 0
    degraded: str | None = None
    notice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SparqlAnswer:
    """The rows of a SELECT, the boolean of an ASK, or the Turtle of a CONSTRUCT; `more` means that rows were left out."""

    kind: Literal["rows", "truth", "turtle"]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    truth: bool | None = None
    turtle: str | None = None
    more: bool = False


def recall(reach: Reach, asked: RecallArguments) -> Told:
    """Recall the memories that answer a question."""
    from memento.retrieval.render import as_list  # the shim lists this tool and does not run it

    found = reach.memory.recall(
        asked.query,
        k=asked.k,
        as_of=asked.as_of,
        believed_at=asked.believed_at,
        engine=asked.engine,
        mode=asked.mode,
        budget=asked.budget or BUDGET,
        **{name: getattr(asked, name) for name in FILTERS},
        counts=True,  # a recall by a model counts as use of the memories
        namespace=reach.namespace,
    )
    answer = RecallAnswer(
        memories=tuple(map(_find, found.memories)),
        nearest=tuple(map(_find, found.nearest)),
        gated=found.gated,
        left_out=found.left_out,
        degraded=found.degraded,
        notice=found.notice,
    )
    return Told(answer=answer, text=as_list(found))


def sparql(reach: Reach, asked: SparqlArguments) -> Told:
    """Answer a query, evaluating no further than the last row that is shown."""
    from memento.service.graphs import GraphCall  # the shim lists this tool and must not import the store
    from memento.service.handlers.graphs import TenantGraphs
    from memento.sparql.prepare import QueryRequest

    question = QueryRequest(sparql=asked.query, accept="text/csv, text/turtle;q=0.9")
    answer = TenantGraphs(reach.memory.context).answer_query(question, GraphCall(namespace=reach.namespace))
    try:
        if answer.media == "text/turtle":
            return Told(answer=SparqlAnswer(kind="turtle", turtle=_join_bounded(answer.chunks).decode()))
        if answer.whole in (b"true", b"false"):  # no newline, unlike a CSV header
            return Told(answer=SparqlAnswer(kind="truth", truth=answer.whole == b"true"))
        portion = _Portion(answer.chunks)
        csv.field_size_limit(MOST_BYTES)
        rows = csv.reader(_lines(portion))
        columns = next(rows)
        found = list(islice((tuple(row) or ("",) * len(columns) for row in rows), asked.limit + 1))
        if portion.is_cut:
            found = found[:-1]  # the last row is incomplete
            if not found:
                raise TooMuch(f"the first row has more than {MOST_BYTES // 1024} KiB: shorten its texts with SUBSTR")
    finally:
        answer.close()
    return Told(
        answer=SparqlAnswer(
            kind="rows",
            columns=tuple(columns),
            rows=tuple(found[: asked.limit]),
            more=portion.is_cut or len(found) > asked.limit,
        )
    )


class _Portion:
    """The beginning of an answer, up to `MOST_BYTES`; `is_cut` is set when there was more."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.is_cut = False
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        left = MOST_BYTES
        for chunk in self._chunks:
            if len(chunk) > left:
                self.is_cut = True
                yield chunk[:left]
                return
            left -= len(chunk)
            yield chunk


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a text as they arrive, with their line ends."""
    rest = ""
    for text in codecs.iterdecode(chunks, "utf-8", errors="ignore"):  # the last character may be cut
        *lines, rest = (rest + text).split("\n")
        yield from (f"{line}\n" for line in lines)
    if rest:
        yield rest


def _join_bounded(chunks: Iterable[bytes]) -> bytes:
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > MOST_BYTES:
            raise TooMuch(f"the graph has more than {MOST_BYTES // 1024} KiB of Turtle: add a LIMIT to the query")
    return b"".join(parts)


def _find(one: Recalled) -> Found:
    return Found(
        iri=one.iri,
        content=one.content,
        score=one.score,
        sentence=one.sentence,
        valid_at=one.valid_at,
        invalid_at=one.invalid_at,
        about=one.about,
        count=one.count,
        note=one.note,
        ended=one.ended,
        replaced=one.invalidates,
        contradicts=one.contradicts,
    )


READING_TOOLS = (
    Tool(
        name="memento_recall",
        title="Recall",
        description=RECALL,
        arguments=RecallArguments,
        answer=RecallAnswer,
        run=recall,
        asks=(Recall,),
        reads_only=True,
        repeats_harmlessly=True,
    ),
    tool_over(
        Timeline,
        "memento_timeline",
        "History",
        TIMELINE,
        {
            "subject": Argument(
                field="subject", description="The name of an entity, the IRI of a memory, entity or note, or `me`."
            ),
            "as_of": Argument(field="as_of", description="Only what was true at this time, ISO 8601."),
            "believed_at": Argument(field="believed_at", description="The history as known at this time, ISO 8601."),
            "limit": Argument(field="limit", description="The most memories; the latest are kept."),
        },
    ),
    Tool(
        name="memento_sparql",
        title="Query the graph",
        description=SPARQL,
        arguments=SparqlArguments,
        answer=SparqlAnswer,
        run=sparql,
        asks=(Query,),
        reads_only=True,
        repeats_harmlessly=True,
    ),
    tool_over(Status, "memento_status", "Status", STATUS, {}),
)
