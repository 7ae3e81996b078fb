"""A note before it is understood: as it came in, whose it is, and what the graph has of its user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Draft, Mention
from memento.consolidation.resolve import said_of
from memento.errors import Conflict
from memento.graph.mapping import node
from memento.iris import IRI, MEM, mint, session_iri
from memento.model import Change, Consolidation, Note, Noted, NoteRow, Quad, Scope, Session, User
from memento.time import utc

_DAY = timedelta(days=1)
_LAST = 2**53  # beyond every place in a conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Where a turn stands in its conversation: what it comes after, what it comes before, and what that one follows so far."""

    before: IRI | None = None
    after: IRI | None = None
    followed: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """
    A note to be understood.

    `run` is the run that waits for it, when the note lies in the graph as pending; `pending` are its quads there. With `keep` it
    becomes one memory of its own text, is compared with nothing and retires nothing.
    """

    note: Note
    scope: Scope
    received: datetime
    session: Session | None = None
    speaker: str | None = None
    title: str | None = None
    beside: Beside = Beside()
    keep: bool = False
    run: Consolidation | None = None
    pending: tuple[Quad, ...] = ()


def task_of(row: NoteRow, scope: Scope, received: datetime, zone: tzinfo, *, keep: bool = False) -> Task:
    """A row as a note of its own; a naive time is read in `zone`."""
    session = Session(iri=session_iri(scope.graph, row.session), name=row.session) if row.session else None
    note = Note(
        iri=mint("note"),
        content=row.content,
        at=utc(row.at, zone) if row.at else received,
        session=session.iri if session else None,
        position=row.position,
        idempotency_key=row.idempotency_key,
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


def in_order(task: Task, parts: Backends) -> Task:
    """
    The task with its note's place in the conversation, which is the next one unless it says another, and the turns beside it.

    Ask under the writers' lock. A note that was in the graph before has its place.
    """
    note = task.note
    if note.session is None or task.run is not None:
        return task
    place = _LAST if note.position is None else note.position
    rows = parts.graph.select("consolidation/beside", [task.scope.graph], session=note.session, place=place)
    found = [(cast(int, row["position"]), row) for row in rows]
    before = next((row for position, row in found if position <= place), None)
    after = next((row for position, row in found if position > place), None)
    if note.position is None:
        note = replace(note, position=cast(int, before["position"]) + 1 if before else 0)
    beside = Beside(
        before=cast(IRI, before["turn"]) if before else None,
        after=cast(IRI, after["turn"]) if after else None,
        followed=cast("IRI | None", after.get("follows")) if after else None,
    )
    return replace(task, note=note, beside=beside)


def order(task: Task) -> Change:
    """The turn in its place: it follows the one before, and the one after, which may have come earlier, follows it."""
    beside, note, graph = task.beside, task.note.iri, task.scope.graph
    adds: list[Quad] = [(note, MEM.follows, beside.before, graph)] if beside.before else []
    if beside.after is None:
        return Change(tuple(adds))
    removes = [(beside.after, MEM.follows, beside.followed, graph)] if beside.followed else []
    return Change((*adds, (beside.after, MEM.follows, note, graph)), tuple(removes))


def noted_before(note: Note, scope: Scope, parts: Backends) -> Noted | None:
    """
    What became of the note that has the same idempotency key, if any.

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
    )


def said_before(task: Task, parts: Backends) -> IRI | None:
    """
    A memory of the same note of the same day, when all that was taken from that note still holds: the note says nothing new.

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


def user_of(scope: Scope, parts: Backends) -> tuple[User, bool]:
    """The user as the graph has them, and whether it has none yet."""
    said = said_of([scope.user], scope, parts).get(scope.user)
    return (node(User, scope.user, said), False) if said else (User(iri=scope.user), True)


def stranger(task: Task, user: User) -> str | None:
    """Who said it, when that is not the user."""
    name = task.speaker
    return None if not name or name.casefold() in (USER.casefold(), (user.name or USER).casefold()) else name


def with_context(mentions: Sequence[Mention], task: Task, user: User) -> list[Mention]:
    """The mentions of a note, its title and its speaker, each name once."""
    named = {mention.name.casefold(): mention for mention in mentions}
    if speaker := stranger(task, user):
        named[speaker.casefold()] = Mention(name=speaker, kind="Person")
    if task.title:
        named.setdefault(task.title.casefold(), Mention(name=task.title, kind="Concept"))
    return list(named.values())


def in_context(drafts: Sequence[Draft], task: Task, user: User) -> list[Draft]:
    """The drafts of a note as being about its title, and said by its speaker, too."""
    if task.title:
        drafts = [replace(draft, about=tuple(dict.fromkeys((*draft.about, task.title)))) for draft in drafts]
    speaker = stranger(task, user)
    return [_said_by(draft, speaker) for draft in drafts] if speaker else list(drafts)


def _said_by(draft: Draft, speaker: str) -> Draft:
    """The same draft where "I" was somebody else."""
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
