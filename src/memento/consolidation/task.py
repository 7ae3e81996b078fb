"""A note before it is understood: its text as received, whose it is, and what the graph knows about its user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Draft, Mention
from memento.consolidation.context import load_statements
from memento.errors import Conflict
from memento.graph.mapping import node
from memento.graph.store import Row
from memento.iris import IRI, MEM, mint, session_iri, tag_iri
from memento.model import Change, CodeEntity, Consolidation, Note, Noted, NoteRow, Priority, Quad, Scope, Session, User
from memento.search.nodes import EXPLICIT
from memento.settings import ConsolidationSettings
from memento.text.sentences import Piece, drop_controls, split_long
from memento.time import utc

_DAY = timedelta(days=1)
_LAST = 2**53  # beyond every place in a conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Where a turn stands in its conversation: what it comes after, what it comes before, and what that one follows so far."""

    before: IRI | None = None
    after: IRI | None = None
    followed: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """
    A note to be understood.

    `run` is the run that waits for it, when the note is in the graph as pending; `pending` are its quads there. With `keep` it
    becomes one memory of its own text, is compared with nothing and retires nothing. What it names of code it `refers` to; of
    what `is_code` nothing else is a name.
    """

    note: Note
    scope: Scope
    received: datetime
    session: Session | None = None
    speaker: str | None = None
    title: str | None = None
    neighbours: Neighbours = Neighbours()
    keep: bool = False
    is_code: bool = False
    refers: tuple[CodeEntity, ...] = ()
    run: Consolidation | None = None
    pending: tuple[Quad, ...] = ()


def make_task(row: NoteRow, scope: Scope, received: datetime, zone: tzinfo, *, keep: bool = False) -> Task:
    """Make a task of a row; a naive time is read in `zone`."""
    session = Session(iri=session_iri(scope.graph, row.session), name=row.session) if row.session else None
    source = (row.source or "").strip()
    note = Note(
        iri=mint("note"),
        content=drop_controls(row.content),
        at=utc(row.at, zone) if row.at else received,
        session=session.iri if session else None,
        position=row.position,
        idempotency_key=row.idempotency_key,
        source=None if source == EXPLICIT else source or None,
        container=(row.container or "").strip() or None,
        priority=None if row.priority == usual_priority(source) else row.priority,
        tags=tuple(dict.fromkeys(tag_iri(name) for name in row.tags if name.strip())),
        expires_at=None if row.ttl_s is None else received + timedelta(seconds=row.ttl_s),
    )
    return Task(
        note=note,
        scope=scope,
        received=received,
        session=session,
        speaker=(row.speaker or "").strip() or None,
        title=(row.title or "").strip() or None,
        keep=keep,
    )


def usual_priority(source: str | None) -> Priority:
    """Return the priority of a text that came in some way and says none: high where it was given on purpose."""
    return "high" if source in (None, "", EXPLICIT) else "normal"


def make_tasks(
    row: NoteRow, scope: Scope, received: datetime, zone: tzinfo, knobs: ConsolidationSettings, *, keep: bool = False
) -> list[Task]:
    """Make the task of a row, or of a long one a task for each piece, the first its parent; a key is that of the first piece."""
    pieces = split_row(row, knobs)
    first = make_task(replace(row, content=pieces[0].text), scope, received, zone, keep=keep)
    if len(pieces) == 1:
        return [first]
    tasks = [replace(first, note=replace(first.note, piece=1, pieces=len(pieces)))]
    for number, piece in enumerate(pieces[1:], start=2):
        key = key_of_piece(row.idempotency_key, number)
        task = make_task(replace(row, content=piece.text, idempotency_key=key), scope, received, zone, keep=keep)
        note = replace(
            task.note, parent=first.note.iri, piece=number, pieces=len(pieces), overlap=piece.overlap or None
        )
        tasks.append(replace(task, note=note))
    return tasks


def split_row(row: NoteRow, knobs: ConsolidationSettings) -> list[Piece]:
    """Split the text of a row as the settings say."""
    return split_long(
        drop_controls(row.content), over=knobs.chunk_over, most=knobs.chunk_words, overlap=knobs.chunk_overlap
    )


def key_of_piece(key: str | None, number: int) -> str | None:
    """Return the idempotency key of a piece, by that of its text."""
    return key if key is None or number == 1 else f"{key}#{number}"


def link_to_whole(task: Task, parts: Backends) -> Task:
    """Return the task without its parent where that was not kept, as nothing new was in it. Ask under the writers' lock."""
    parent = task.note.parent
    if parent is None or load_statements([parent], task.scope, parts):
        return task
    return replace(task, note=replace(task.note, parent=None))


def drop_overlap(task: Task) -> Task:
    """Return the task with what is new in its piece alone, as the rest was read with the piece before."""
    note = task.note
    return replace(task, note=replace(note, content=note.content[note.overlap :])) if note.overlap else task


def place_in_session(task: Task, parts: Backends) -> Task:
    """
    Give the task its note's place in the conversation, which is the next one unless it says another, and the turns beside it.

    Ask under the writers' lock. A note that was in the graph before has its place.
    """
    note = task.note
    if note.session is None or task.run is not None:
        return task
    place = _LAST if note.position is None else note.position
    rows = parts.graph.select("consolidation/neighbours", [task.scope.graph], session=note.session, place=place)
    places = [(cast(int, row["position"]), row) for row in rows]
    before = next((row for position, row in places if position <= place), None)
    after = next((row for position, row in places if position > place), None)
    if note.position is None:
        note = replace(note, position=cast(int, before["position"]) + 1 if before else 0)
    neighbours = Neighbours(
        before=cast(IRI, before["turn"]) if before else None,
        after=cast(IRI, after["turn"]) if after else None,
        followed=cast("IRI | None", after.get("follows")) if after else None,
    )
    return replace(task, note=note, neighbours=neighbours)


def link_turns(task: Task) -> Change:
    """Link the turn in its place: it follows the one before, and the one after, which may have come earlier, follows it."""
    neighbours, note, graph = task.neighbours, task.note.iri, task.scope.graph
    adds: list[Quad] = [(note, MEM.follows, neighbours.before, graph)] if neighbours.before else []
    if neighbours.after is None:
        return Change(tuple(adds))
    removes = [(neighbours.after, MEM.follows, neighbours.followed, graph)] if neighbours.followed else []
    return Change((*adds, (neighbours.after, MEM.follows, note, graph)), tuple(removes))


def find_earlier_note(note: Note, scope: Scope, parts: Backends) -> Noted | None:
    """
    Find what became of the note that has the same idempotency key, if any.

    Raises:
        Conflict: that note has another content.
    """
    if not note.idempotency_key:
        return None
    rows = parts.graph.select("consolidation/noted", [scope.graph], key=note.idempotency_key)
    if not rows:
        return None
    if rows[0]["content"] != note.content:
        raise Conflict(f"the idempotency key {note.idempotency_key!r} was used for another note: choose a new key")
    state = rows[0].get("state")
    if state == "skipped":
        return Noted(note=None, skipped="it is already known")
    return Noted(
        note=cast(IRI, rows[0]["note"]),
        memories=tuple(dict.fromkeys(cast(IRI, r["memory"]) for r in rows if "memory" in r)),
        invalidated=tuple(dict.fromkeys(cast(IRI, r["retired"]) for r in rows if "retired" in r)),
        pending=state is not None,
        contents=contents_of(rows),
        verbatim="it could not be read, so it is kept in its own words" if rows[0].get("verbatim") else None,
    )


def find_known_keys(keys: Sequence[str], scope: Scope, parts: Backends) -> set[str]:
    """Find which idempotency keys a note of the namespace has."""
    rows = parts.graph.select("consolidation/known_keys", [scope.graph], key=list(keys)) if keys else []
    return {str(row["key"]) for row in rows}


def contents_of(rows: Sequence[Row]) -> dict[IRI, str]:
    """
    Map the memories that a query names, `memory` and what it `retired`, to their texts.

    >>> contents_of([{"memory": IRI("urn:b"), "text": "B", "retired": IRI("urn:a"), "retiredText": "A"}, {}])
    {'urn:b': 'B', 'urn:a': 'A'}
    """
    pairs = (("memory", "text"), ("retired", "retiredText"))
    return {cast(IRI, row[iri]): str(row[text]) for row in rows for iri, text in pairs if text in row}


def find_repetition(task: Task, parts: Backends) -> IRI | None:
    """
    Find a memory of the same note of the same day, when all that was taken from that note still holds: the note says nothing new.

    A turn of a conversation is never such a repetition: who says "yes" twice says it of two things.
    """
    if task.keep or task.session or task.speaker or task.title:
        return None
    memories: dict[IRI, list[bool]] = {}
    first: dict[IRI, IRI] = {}
    for row in parts.graph.select("consolidation/said_before", [task.scope.graph], content=task.note.content):
        earlier, at = cast(IRI, row["note"]), cast(datetime, row["at"])
        if earlier != task.note.iri and abs(task.note.at - at) < _DAY:
            memories.setdefault(earlier, []).append("ended" not in row)
            first.setdefault(earlier, cast(IRI, row["memory"]))
    return next((first[note] for note, holds in memories.items() if all(holds)), None)


def load_user(scope: Scope, parts: Backends) -> tuple[User, bool]:
    """Load the user as the graph has them, and whether it has none yet."""
    statements = load_statements([scope.user], scope, parts).get(scope.user)
    return (node(User, scope.user, statements), False) if statements else (User(iri=scope.user), True)


def name_other_speaker(task: Task, user: User) -> str | None:
    """Name who said it, when that is not the user."""
    name = task.speaker
    return None if not name or name.casefold() in (USER.casefold(), (user.name or USER).casefold()) else name


def add_context_mentions(mentions: Sequence[Mention], task: Task, user: User) -> list[Mention]:
    """List the mentions of a note, its title and its speaker, each name once."""
    by_name = {mention.name.casefold(): mention for mention in mentions}
    if speaker := name_other_speaker(task, user):
        by_name[speaker.casefold()] = Mention(name=speaker, kind="Person")
    if task.title and not task.is_code:
        by_name.setdefault(task.title.casefold(), Mention(name=task.title, kind="Concept"))
    return list(by_name.values())


def add_context(drafts: Sequence[Draft], task: Task, user: User) -> list[Draft]:
    """Make the drafts of a note be about its title, and said by its speaker, too."""
    if task.title:
        drafts = [replace(draft, about=tuple(dict.fromkeys((*draft.about, task.title)))) for draft in drafts]
    speaker = name_other_speaker(task, user)
    return [_attribute_to(draft, speaker) for draft in drafts] if speaker else list(drafts)


def _attribute_to(draft: Draft, speaker: str) -> Draft:
    """Make "I" somebody else in a draft."""
    about = tuple(dict.fromkeys((*(speaker if name == USER else name for name in draft.about), speaker)))
    subject = speaker if draft.subject == USER else draft.subject
    return replace(
        draft,
        content=draft.content.replace(USER, speaker),
        reads=draft.reads.replace(USER, speaker),
        about=about,
        subject=subject,
        states=tuple(replace(one, subject=speaker) if one.subject == USER else one for one in draft.states),
        user_name=None,
    )
