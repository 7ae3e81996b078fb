"""A note before it is understood: its text as received, whose it is, and what the graph knows about its user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Draft, Mention
from memento.consolidation.context import list_stated, load_statements
from memento.errors import Conflict, InputError
from memento.graph.mapping import node
from memento.graph.store import Row
from memento.iris import IRI, MEM, mint, session_iri, tag_iri
from memento.model import Change, CodeEntity, Consolidation, Import, Note, Noted, NoteRow, Quad, Scope, Session, User
from memento.rank import usual_priority
from memento.search.nodes import EXPLICIT
from memento.settings import ConsolidationSettings
from memento.text.sentences import Piece, drop_controls, split_long
from memento.time import utc

_DAY = timedelta(days=1)
_LAST = 2**53  # after every position in a conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The turns around a turn: the one before it, the one after it, and the turn that the one after it follows so far."""

    before: IRI | None = None
    after: IRI | None = None
    followed: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """
    A note that is to be understood.

    `run` is the run that waits for the note if the graph holds it as pending; `pending` are its quads there. With `keep` the note
    becomes one memory with its own text, is compared with no other memory and retires none. `imported` is the import that brings it
    in, which is written with each of its notes, so that there is none without notes. `refers` lists the code entities that
    it names; where it is empty, each memory refers to the code that its text names. With `is_code` the note names nothing else.
    """

    note: Note
    scope: Scope
    received: datetime
    session: Session | None = None
    imported: Import | None = None
    speaker: str | None = None
    title: str | None = None
    neighbours: Neighbours = Neighbours()
    keep: bool = False
    is_code: bool = False
    refers: tuple[CodeEntity, ...] = ()
    run: Consolidation | None = None
    pending: tuple[Quad, ...] = ()

    @property
    def waits_for_claims(self) -> bool:
        """Whether its claims are read later: of a text that is kept as it is, but for pieces of documents and code."""
        return self.keep and not self.is_code and not self.refers


def make_task(row: NoteRow, scope: Scope, received: datetime, zone: tzinfo, *, keep: bool = False) -> Task:
    """Make a task from a row; a time without an offset is read in `zone`."""
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


def make_tasks(
    row: NoteRow, scope: Scope, received: datetime, zone: tzinfo, knobs: ConsolidationSettings, *, keep: bool = False
) -> list[Task]:
    """
    Make a task from a row, or one for each piece of a long row.

    The first piece is the parent of the others. An idempotency key belongs to the first piece.
    """
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
    """Return the idempotency key of a piece, derived from that of the whole text."""
    return key if key is None or number == 1 else f"{key}#{number}"


def link_to_whole(task: Task, parts: Backends) -> Task:
    """
    Remove the parent from a task if the graph does not have it because it said nothing new. Call this under the writers' lock.
    """
    parent = task.note.parent
    if parent is None or load_statements([parent], task.scope, parts):
        return task
    return replace(task, note=replace(task.note, parent=None))


def drop_overlap(task: Task) -> Task:
    """Cut the overlap from a piece, because it was read with the piece before."""
    note = task.note
    return replace(task, note=replace(note, content=note.content[note.overlap :])) if note.overlap else task


def place_in_session(task: Task, parts: Backends) -> Task:
    """
    Set the position of the task's note in its conversation, and the turns beside it.

    The position is the next free one unless the note states one. A note that is already in the graph keeps its position. Call this
    under the writers' lock.
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
    """Link a turn to the one before it, and the one after it, which may have been written earlier, to the turn."""
    neighbours, note, graph = task.neighbours, task.note.iri, task.scope.graph
    adds: list[Quad] = [(note, MEM.follows, neighbours.before, graph)] if neighbours.before else []
    if neighbours.after is None:
        return Change(tuple(adds))
    removes = [(neighbours.after, MEM.follows, neighbours.followed, graph)] if neighbours.followed else []
    return Change((*adds, (neighbours.after, MEM.follows, note, graph)), tuple(removes))


def find_earlier_note(note: Note, scope: Scope, parts: Backends) -> Noted | None:
    """
    Find the result of the earlier note that has the same idempotency key, if any.

    Raises:
        Conflict: that note has a different content.
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
    memories = tuple(dict.fromkeys(cast(IRI, r["memory"]) for r in rows if "memory" in r))
    return Noted(
        note=cast(IRI, rows[0]["note"]),
        memories=memories,
        claims=list_stated(memories, scope, parts),
        invalidated=tuple(dict.fromkeys(cast(IRI, r["retired"]) for r in rows if "retired" in r)),
        pending=state is not None,
        contents=contents_of(rows),
        verbatim="it could not be read, so it is kept in its own words" if rows[0].get("verbatim") else None,
    )


_LONGEST_S = timedelta(days=365_000).total_seconds()


def require_ttl(seconds: float | None, name: str) -> None:
    """Raise `InputError` if a time to live is not above 0; `name` is its name in the error."""
    if seconds is not None and not 0 < seconds < _LONGEST_S:
        raise InputError(f"{name} must be a number of seconds above 0, not {seconds}")


def find_known_keys(keys: Sequence[str], scope: Scope, parts: Backends) -> set[str]:
    """Find which of some idempotency keys are used by notes of the namespace."""
    rows = parts.graph.select("consolidation/known_keys", [scope.graph], key=list(keys)) if keys else []
    return {str(row["key"]) for row in rows}


def contents_of(rows: Sequence[Row]) -> dict[IRI, str]:
    """
    Map the memories in the rows of a query, `memory` and what it `retired`, to their texts.

    >>> contents_of([{"memory": IRI("urn:b"), "text": "B", "retired": IRI("urn:a"), "retiredText": "A"}, {}])
    {'urn:b': 'B', 'urn:a': 'A'}
    """
    pairs = (("memory", "text"), ("retired", "retiredText"))
    return {cast(IRI, row[iri]): str(row[text]) for row in rows for iri, text in pairs if text in row}


def find_repetition(task: Task, parts: Backends) -> IRI | None:
    """
    Find a memory of the same note of the same day, if everything that was taken from that note still holds: the note is a
    repetition.

    A turn of a conversation is never a repetition: two turns "yes" may answer two questions.
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
    """Load the user from the graph, and say whether the graph has none yet."""
    statements = load_statements([scope.user], scope, parts).get(scope.user)
    return (node(User, scope.user, statements), False) if statements else (User(iri=scope.user), True)


def name_other_speaker(task: Task, user: User) -> str | None:
    """Return the name of the speaker if it is not the user."""
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
    """Add the title of a note to what its drafts are about, and attribute them to its speaker."""
    if task.title:
        drafts = [replace(draft, about=tuple(dict.fromkeys((*draft.about, task.title)))) for draft in drafts]
    speaker = name_other_speaker(task, user)
    return [_attribute_to(draft, speaker) for draft in drafts] if speaker else list(drafts)


def _attribute_to(draft: Draft, speaker: str) -> Draft:
    """Let another speaker own what a draft claims of "I"; its words stay."""
    about = tuple(dict.fromkeys((*(speaker if name == USER else name for name in draft.about), speaker)))
    claims = tuple(replace(one, owner=speaker) if one.owner == USER else one for one in draft.claims)
    return replace(draft, about=about, claims=claims, user_name=None)
