"""
The tools that every client gets: note, correct and forget, which ask the user first; recall, timeline, SPARQL, status.

*Guarantees:* an answer is text alone, once. It names a memory by the end of its IRI, which `memento_correct` and `memento_forget`
take. One rule for the three tools that write: without `confirmed` they change nothing and return what to show the user.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

from msgspec import Meta

from memento.errors import TooMuch
from memento.interfaces.mcp.tools import Arguments, Ask, Reach, Told, Tool
from memento.iris import MEM, is_short_id, short_id
from memento.model import Believed, Noted, Stated
from memento.operations import notes
from memento.operations.care import Status
from memento.operations.graphs import Query
from memento.operations.recall import Get, Recall, Timeline

NOTE = """Remember something about the user for later conversations.

Use when the user asks to remember, or says something lasting about themselves, their people, work or preferences. Write one \
concise, self-contained note with full names and dates, and only what is new: "I moved from Paris to Lisbon in March 2025." \
{} The answer says what was understood and what it ended. Never note secrets or what a recall returned."""

CORRECT = """Correct a memory that was never true, such as a misspelt name or a wrong date. {}

If it was true and has changed, write a new note instead."""

FORGET = """Forget a memory, a claim, or all memories of a note: they are never recalled again. {}

The user can bring back what is forgotten; what is erased is gone: erase only if they explicitly ask for it."""

ASKING: Mapping[str, str] = {
    "ask": "Show it to the user; after a clear yes call with confirmed=true. Without that nothing is changed.",
    "client": "Call at once: the client shows the call to the user and asks.",
    "never": "Call at once, without asking: the user has chosen this.",
}
"""Who asks the user before something is written, by the setting `mcp.confirmation`."""

CONFIRMED = Meta(description="The user has seen this and said yes.")
ID = Meta(description="The id at the end of its line in an answer, or its IRI.")


class NoteArguments(Arguments, frozen=True, kw_only=True):
    content: Annotated[str, Meta(description="The note, in the first person, as the user would say it.")]
    confirmed: Annotated[bool, CONFIRMED] = False
    at: Annotated[str | None, Meta(description="When it was said or happened, ISO 8601; default now.")] = None
    tags: Annotated[tuple[str, ...], Meta(description="Tags that the user names.")] = ()
    container: Annotated[str | None, Meta(description="A container that the user names.")] = None


class CorrectArguments(Arguments, frozen=True, kw_only=True):
    id: Annotated[str, ID]
    content: Annotated[str, Meta(description="What is right, in the first person, as the user would say it.")]
    confirmed: Annotated[bool, CONFIRMED] = False
    at: Annotated[str | None, Meta(description="Since when it is true, ISO 8601; default as before.")] = None


class ForgetArguments(Arguments, frozen=True, kw_only=True):
    id: Annotated[str, ID]
    confirmed: Annotated[bool, CONFIRMED] = False
    erase: Annotated[bool, Meta(description="Delete the text for good instead of hiding it.")] = False


def note(reach: Reach, asked: NoteArguments) -> Told | Ask:
    """Ask for confirmation, or store the note."""
    if _must_ask(reach, asked.confirmed):
        return _ask("Remember this?", asked.content.strip(), "Nothing is stored yet", "memento_note")
    noted = reach.memory.note(
        asked.content,
        at=asked.at,
        tags=asked.tags,
        container=asked.container,
        namespace=reach.namespace,
    )
    return Told(text=_say_noted(noted, "Noted"))


def correct(reach: Reach, asked: CorrectArguments) -> Told | Ask:
    """Ask for confirmation, or correct a memory."""
    if _must_ask(reach, asked.confirmed):
        change = f"{_content(reach, asked.id)}\n→ {asked.content.strip()}"
        return _ask("Correct this?", change, "Nothing is corrected yet", "memento_correct")
    corrected = reach.memory.correct(asked.id, asked.content, at=asked.at, namespace=reach.namespace)
    return Told(text=_say_noted(corrected, "Corrected"))


def forget(reach: Reach, asked: ForgetArguments) -> Told | Ask:
    """Ask for confirmation, or forget. What cannot be undone is always asked."""
    if _must_ask(reach, asked.confirmed, always=asked.erase):
        verb = "Delete this for good?" if asked.erase else "Forget this?"
        return _ask(verb, _content(reach, asked.id), "Nothing is forgotten yet", "memento_forget")
    gone = reach.memory.forget(asked.id, erase=asked.erase, namespace=reach.namespace)
    if gone.erased:
        return Told(text="Erased.")
    return Told(text=f"Hidden, not deleted. The user can bring it back with `memento unforget {asked.id}`.")


def _must_ask(reach: Reach, confirmed: bool, *, always: bool = False) -> bool:
    """Tell whether the user must be asked first: the one rule for all tools that write."""
    return not confirmed and (always or reach.memory.settings.mcp.confirmation == "ask")


def _ask(question: str, what: str, so_far: str, tool: str) -> Ask:
    told = (
        f"{so_far}. Show this to the user and ask: {question} When they say yes, call {tool} again with confirmed=true."
    )
    return Ask(
        question=f"{question}\n\n{what}",
        instead=Told(text=f"{told}\n\n{what}"),
        refused=Told(text="The user said no: nothing was changed."),
    )


def _content(reach: Reach, iri: str) -> str:
    """Return the text of a memory, note or claim; raise `NotFound` before the user is asked."""
    found = dict(reach.memory.get(iri, namespace=reach.namespace).properties)
    return found.get(MEM.content) or found.get(MEM.words) or iri


def _say_noted(noted: Noted, done: str) -> str:
    """Say what was understood, a line for each memory, and what ended."""
    if noted.skipped:
        return f"Skipped: {noted.skipped}"
    if noted.pending and noted.note:
        return f"{done}, and still to be understood: note {short_id(noted.note)}"
    claims = {iri: [_say_claim(one) for one in noted.claims if one.memory == iri] for iri in noted.memories}
    lines = [
        f"{done}: {'; '.join(said) or f'“{_clip(noted.contents[iri])}”'} {short_id(iri)}"
        for iri, said in claims.items()
    ]
    lines += [f"Ended: “{_clip(noted.contents[iri])}” {short_id(iri)}" for iri in noted.invalidated]
    lines += [f"Ended: “{_clip(one.words)}” since {one.at.date()}" for one in noted.ended]
    lines += [f"Against: “{_clip(noted.contents[iri])}” {short_id(iri)}; both stay" for iri in noted.contradicts]
    lines += [f"But {one}." for one in (noted.verbatim, *noted.remarks) if one]
    return "\n".join(lines)


def _say_claim(one: Stated) -> str:
    """
    Say an owner, a relation and a value, and when.

    >>> from datetime import datetime
    >>> told = {"owner": "USER", "relation": "employer", "value": "Acme", "valid_at": datetime(2025, 3, 1)}
    >>> _say_claim(Stated(iri=MEM.claim, memory=MEM.memory, **told))
    'user · employer · Acme (since 2025-03-01)'
    """
    owner = "user" if one.owner == "USER" else one.owner
    when = f"{'on' if one.is_event else 'since'} {one.valid_at.date()}"
    when += f", until {one.invalid_at.date()}" if one.invalid_at else ""
    mood = "" if one.mood == "fact" else f", {one.mood}"
    relation = one.relation if one.polarity else f"not {one.relation}"
    return f"{' · '.join(filter(None, (owner, relation, one.value)))} ({when}{mood})"


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= CLIPPED else f"{text[:CLIPPED].rstrip()}…"


CLIPPED = 160
"""The longest text of a memory, in characters, in the answer to a note, whose author knows it."""


def _write_tools(confirmation: str) -> tuple[Tool, ...]:
    """Return the tools that write, described for a value of `mcp.confirmation`."""
    asking = ASKING[confirmation]

    def tool(
        name: str,
        title: str,
        description: str,
        arguments: type[Arguments],
        run: Callable[..., Any],
        *asks: Any,
        destroys: bool = False,
    ) -> Tool:
        return Tool(
            name=name,
            title=title,
            description=description.format(asking),
            arguments=arguments,
            run=run,
            asks=asks,
            also={} if arguments is NoteArguments else {"iri": "id"},
            destroys=destroys,
            repeats_harmlessly=True,
        )

    return (
        tool("memento_note", "Remember", NOTE, NoteArguments, note, notes.Note),
        tool("memento_correct", "Correct a memory", CORRECT, CorrectArguments, correct, Get, notes.Correct),
        tool("memento_forget", "Forget", FORGET, ForgetArguments, forget, Get, notes.Forget, destroys=True),
    )


WRITING_TOOLS: Mapping[str, tuple[Tool, ...]] = {mode: _write_tools(mode) for mode in ASKING}
"""The tools that write, for each value of `mcp.confirmation`."""


RECALL = """Recall memories that answer a question: facts with the dates they were true and what they replaced, best first.

Use before answering anything about the user, their people, projects, preferences or past, and when they refer to an earlier \
conversation. If nothing answers, nothing relevant is known: say so, do not guess; what is nearest answers nothing."""

TIMELINE = """Show the history of an entity, of the user, or of one memory: what was true from when to when, and why it ended.

Use when the user asks how something changed or what was true at some time."""

SPARQL = """Answer a read-only SPARQL 1.1 query over the memory graph.

Use for counts, lists and joins that memento_recall cannot answer. PREFIX mem: <http://purl.org/memento/> \
A mem:Memory has mem:content, mem:about (with mem:name), mem:extractedFrom (a mem:Note with mem:at), mem:validAt, and if it ended \
mem:invalidAt or mem:expiredAt. memento://ontology has every term. \
SERVICE mem:search { ?memory mem:matches "a question" ; mem:score ?score } recalls inside the query."""

STATUS = """Show how many notes, memories and entities there are, in which namespaces, and the state of the service."""

BUDGET = 600
"""The token budget of a recall that names none."""
ROWS = 200
MOST_BYTES = 262_144
"""The longest answer: a model does not read more, and the answer takes many times its size in memory before it is sent."""


class RecallArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="The question, as a full sentence with names.")]
    k: Annotated[int | None, Meta(description="The most; default 10.")] = None
    as_of: Annotated[str | None, Meta(description="What was true then, ISO 8601; default now.")] = None
    believed_at: Annotated[str | None, Meta(description="What was known then; default now.")] = None
    budget: Annotated[int | None, Meta(description="The most tokens of the answer; default 600.")] = None
    tags: Annotated[tuple[str, ...], Meta(description="Only with one of these tags.")] = ()
    after: Annotated[str | None, Meta(description="Only true since then or later.")] = None
    before: Annotated[str | None, Meta(description="Only true since before then.")] = None
    entity: Annotated[str | None, Meta(description="Only about the entity with this name.")] = None


class TimelineArguments(Arguments, frozen=True, kw_only=True):
    subject: Annotated[str, Meta(description="A name, the id of a memory, or `me`.")]
    as_of: Annotated[str | None, Meta(description="Only what was true then, ISO 8601.")] = None
    believed_at: Annotated[str | None, Meta(description="As known then, ISO 8601.")] = None
    limit: Annotated[int, Meta(description="The most memories, latest last.", ge=1, le=1000)] = 50


class SparqlArguments(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, Meta(description="The query, with its prefixes.")]
    limit: Annotated[int, Meta(description="The most rows.", ge=1, le=1000)] = ROWS


class StatusArguments(Arguments, frozen=True, kw_only=True):
    pass


def recall(reach: Reach, asked: RecallArguments) -> Told:
    """Recall the memories that answer a question."""
    from memento.retrieval.render import as_list  # the shim lists this tool and does not run it

    found = reach.memory.recall(
        asked.query,
        k=asked.k,
        as_of=asked.as_of,
        believed_at=asked.believed_at,
        budget=asked.budget or BUDGET,
        tags=asked.tags,
        after=asked.after,
        before=asked.before,
        entity=asked.entity,
        counts=True,  # a recall by a model counts as use of the memories
        namespace=reach.namespace,
    )
    return Told(text=as_list(found))


def timeline(reach: Reach, asked: TimelineArguments) -> Told:
    """Show a history, a line for each memory."""
    subject = asked.subject
    if is_short_id(subject):
        subject = reach.memory.get(subject, namespace=reach.namespace).iri
    found = reach.memory.timeline(
        subject,
        as_of=asked.as_of,
        believed_at=asked.believed_at,
        limit=asked.limit,
        namespace=reach.namespace,
    )
    lines = [f"{found.earlier} earlier ones are left out: a larger limit shows them."] if found.earlier else []
    lines += [_say_believed(one) for one in found.memories]
    return Told(text="\n".join(lines) or "No memory is known.")


def _say_believed(one: Believed) -> str:
    span = f"since {one.valid_at.date()}"
    if one.state == "corrected":
        span = "never true"
    elif one.invalid_at:
        span = f"{one.valid_at.date()} to {one.invalid_at.date()}"
    why = f" ({one.reason})" if one.reason else ""
    why += "".join(f" (“{' '.join(over.words.split())}” ended {over.at.date()})" for over in one.ended)
    return f"- {span}: {' '.join(one.content.split())}{why} {short_id(one.iri)}"


def status(reach: Reach, asked: StatusArguments) -> Told:
    """Show counts, and what needs attention."""
    found = reach.memory.status(namespace=reach.namespace)
    lines = [
        f"Namespace {found.namespace}: {found.memories:,} memories ({found.current:,} true now) from {found.notes:,} notes about "
        f"{found.entities:,} entities.",
        f"Namespaces: {', '.join(found.namespaces[:20])}.",
    ]
    counts = {"wait to be understood": found.pending, "failed": found.failed, "wait for approval": found.proposals}
    lines += [f"Notes that {what}: {count:,}." for what, count in counts.items() if count]
    lines += [f"Contradictions: {found.contradictions:,}."] if found.contradictions else []
    lines += [f"Degraded: {found.degraded}"] if found.degraded else []
    if aside := found.set_aside:
        lines.append(
            f"{aside.statements:,} statements of {', '.join(aside.nodes[:3])} cannot be read: `memento care check` says why."
        )
    return Told(text="\n".join(lines))


def sparql(reach: Reach, asked: SparqlArguments) -> Told:
    """Answer a query as CSV, `true` or `false`, or Turtle, evaluating no further than the last row that is shown."""
    from memento.service.handlers.graphs import (
        GraphCall,
        Graphs,
    )  # the shim lists this tool and must not import the store
    from memento.sparql.prepare import QueryRequest

    question = QueryRequest(sparql=asked.query, accept="text/csv, text/turtle;q=0.9")
    answer = Graphs(reach.memory.context).answer_query(question, GraphCall(namespace=reach.namespace))
    try:
        if answer.media == "text/turtle":
            return Told(text=_join_bounded(answer.chunks).decode())
        if answer.whole in (b"true", b"false"):  # no newline, unlike a CSV header
            return Told(text=answer.whole.decode())
        portion = _Portion(answer.chunks)
        csv.field_size_limit(MOST_BYTES)
        rows = csv.reader(_lines(portion))
        columns = next(rows)
        found = list(islice((row or [""] * len(columns) for row in rows), asked.limit + 1))
        if portion.is_cut:
            found = found[:-1]  # the last row is incomplete
            if not found:
                raise TooMuch(f"the first row has more than {MOST_BYTES // 1024} KiB: shorten its texts with SUBSTR")
    finally:
        answer.close()
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *found[: asked.limit]])
    if portion.is_cut or len(found) > asked.limit:
        text.write("More rows were left out: raise limit, or page with ORDER BY, LIMIT and OFFSET.\n")
    return Told(text=text.getvalue() if found else f"No row matches.\n{text.getvalue()}")


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


READING_TOOLS = tuple(
    Tool(
        name=name,
        title=title,
        description=description,
        arguments=arguments,
        run=run,
        asks=(operation,),
        reads_only=True,
    )
    for name, title, description, arguments, run, operation in (
        ("memento_recall", "Recall", RECALL, RecallArguments, recall, Recall),
        ("memento_timeline", "History", TIMELINE, TimelineArguments, timeline, Timeline),
        ("memento_sparql", "Query the graph", SPARQL, SparqlArguments, sparql, Query),
        ("memento_status", "Status", STATUS, StatusArguments, status, Status),
    )
)
