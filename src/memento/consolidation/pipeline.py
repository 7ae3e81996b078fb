"""
A note on its way into the graph.

    row ── note ── extract ── remember ── embed ── resolve ── compare ── decide ── write

*Guarantees:* a retry with the same idempotency key writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Add, Agents, Draft, Existing, Extraction, Mention, Resolution
from memento.consolidation.context import existing
from memento.consolidation.resolve import candidates, said_of
from memento.consolidation.write import Beside, Understood, change, content_hash
from memento.errors import Conflict
from memento.graph.mapping import node
from memento.instants import now, utc
from memento.model import Imported, Memory, Note, Noted, NoteRow, Scope, Session, User
from memento.ports import Progress
from memento.search.found import text_of_anchor, text_of_memory
from memento.settings import ConsolidationSettings
from memento.telemetry import Stopwatch
from memento.vocabulary import IRI, mint, session_iri

_BATCH = 128
_LAST = 2**53  # beyond every place in a conversation


def consolidate(
    row: NoteRow,
    scope: Scope,
    *,
    received: datetime,
    zone: tzinfo,
    keep: bool,
    agents: Agents,
    parts: Backends,
    knobs: ConsolidationSettings,
    extraction: Extraction | None = None,
) -> Noted:
    """
    Take one note in, received now.

    Args:
        keep: make one memory of the note's own text, compare it with nothing and retire nothing.
        extraction: what the note names, where it was extracted before.

    Raises:
        Conflict: the idempotency key was used for another content.
        BackendError: store or embedder failed; nothing was written.
    """
    if row.idempotency_key and (earlier := _noted_before(row, scope, parts)):
        return earlier
    watch = Stopwatch("note")
    note, session = _note(row, scope, received, zone)
    note, beside = _in_order(note, scope, parts)
    user, user_is_new = _user(scope, parts)
    with watch.phase("extract"):
        extraction = extraction or agents.extract_entities(note, user, biography=not keep)
        mentions = _with_context(extraction.mentions, row, user)
        biography = None if _speaker(row, user) else extraction.biography
    with watch.phase("remember"):
        drafts = _drafts(row, note, mentions, user, agents, keep)
    with watch.phase("embed"):  # all at once: what follows finds each of these texts in the cache
        _embed(_texts(drafts, mentions, row, user), parts)
    with watch.phase("resolve"):
        offered = candidates(mentions, scope, knobs.entity_candidates, parts, exact_only=keep)
        resolved = agents.resolve_entities(list(zip(mentions, offered, strict=True)), biography, user)
    with watch.phase("compare"):
        known = [] if keep else _existing(drafts, resolved.resolutions, scope, received, parts, knobs)
    with watch.phase("decide"):
        decisions = [Add(draft=d) for d in drafts] if keep else agents.resolve_memories(drafts, known, note)
    understood = Understood(
        note=note,
        scope=scope,
        received=received,
        resolutions=resolved.resolutions,
        decisions=decisions,
        user=user,
        user_is_new=user_is_new,
        user_description=resolved.user_description,
        session=session,
        beside=beside,
        speaker=_speaker(row, user),
        title=(row.title or "").strip() or None,
        retirable=_retirable(known, scope, parts),
    )
    return _written(understood, watch, parts)


def _written(understood: Understood, watch: Stopwatch, parts: Backends) -> Noted:
    with watch.phase("write"):
        written, noted = change(understood)
        if noted.note:
            parts.commit(written, understood.scope)
    return noted


def imported(
    rows: Sequence[NoteRow],
    scope: Scope,
    take_in: Callable[[NoteRow, Extraction], Noted],
    *,
    keep: bool,
    zone: tzinfo,
    parts: Backends,
    agents: Agents,
    progress: Progress | None,
) -> Imported:
    """Take many notes in, one after the other; what they will need is embedded a batch at a time, beforehand."""
    noted: list[Noted] = []
    for begin in range(0, len(rows), _BATCH):
        batch = rows[begin : begin + _BATCH]
        user, _ = _user(scope, parts)
        notes = [_note(row, scope, now(), zone)[0] for row in batch]
        extractions = [agents.extract_entities(note, user, biography=not keep) for note in notes]
        read = list(zip(batch, notes, extractions, strict=True))
        _embed(
            [text for row, note, found in read for text in _anticipated(row, note, found, user, keep, agents)], parts
        )
        noted += [take_in(row, extraction) for row, _, extraction in read]
        if progress:
            progress(len(noted), len(rows))
    return Imported(
        notes=tuple(one.note for one in noted),
        memories=sum(len(one.memories) for one in noted),
        invalidated=sum(len(one.invalidated) for one in noted),
        skipped=sum(one.note is None for one in noted),
    )


def _embed(texts: Sequence[str], parts: Backends) -> None:
    """Into the cache, so that whoever needs them next has them at once."""
    if windows := [window for text in dict.fromkeys(texts) for window in parts.embedder.windows(text)]:
        parts.embedder.embed(windows)


def _anticipated(row: NoteRow, note: Note, extraction: Extraction, user: User, keep: bool, agents: Agents) -> list[str]:
    """The texts that a note will most likely need; a wrong guess costs time, nothing else."""
    mentions = _with_context(extraction.mentions, row, user)
    return _texts(_drafts(row, note, mentions, user, agents, keep), mentions, row, user)


def _texts(drafts: Sequence[Draft], mentions: Sequence[Mention], row: NoteRow, user: User) -> list[str]:
    """What will be embedded of some memories and of what they name."""
    speaker = _speaker(row, user)
    memories = [text_of_memory(draft.content, speaker, row.title) for draft in drafts]
    return memories + [text_of_anchor(mention.name, mention.description) for mention in mentions]


def _noted_before(row: NoteRow, scope: Scope, parts: Backends) -> Noted | None:
    rows = parts.graph.select("consolidation/noted", [scope.graph], key=row.idempotency_key or "")
    if not rows:
        return None
    if rows[0]["content"] != row.content:
        raise Conflict(f"the idempotency key {row.idempotency_key!r} was used for another note: choose a new key")
    return Noted(
        note=cast(IRI, rows[0]["note"]),
        memories=tuple(dict.fromkeys(cast(IRI, r["memory"]) for r in rows if "memory" in r)),
        invalidated=tuple(dict.fromkeys(cast(IRI, r["retired"]) for r in rows if "retired" in r)),
    )


def _note(row: NoteRow, scope: Scope, received: datetime, zone: tzinfo) -> tuple[Note, Session | None]:
    session = Session(iri=session_iri(scope.graph, row.session), name=row.session) if row.session else None
    note = Note(
        iri=mint("note"),
        content=row.content,
        at=utc(row.at, zone) if row.at else received,
        session=session.iri if session else None,
        position=row.position,
        idempotency_key=row.idempotency_key,
    )
    return note, session


def _in_order(note: Note, scope: Scope, parts: Backends) -> tuple[Note, Beside]:
    """The note with its place in the conversation, which is the next one unless it says another, and the turns beside it."""
    if note.session is None:
        return note, Beside()
    place = _LAST if note.position is None else note.position
    rows = parts.graph.select("consolidation/beside", [scope.graph], session=note.session, place=place)
    found = [(cast(int, row["position"]), row) for row in rows]
    before = next((row for position, row in found if position <= place), None)
    after = next((row for position, row in found if position > place), None)
    if note.position is None:
        note = replace(note, position=cast(int, before["position"]) + 1 if before else 0)
    return note, Beside(
        before=cast(IRI, before["turn"]) if before else None,
        after=cast(IRI, after["turn"]) if after else None,
        followed=cast("IRI | None", after.get("follows")) if after else None,
    )


def _user(scope: Scope, parts: Backends) -> tuple[User, bool]:
    """The user as the graph has them, and whether it has none yet."""
    said = said_of([scope.user], scope, parts).get(scope.user)
    return (node(User, scope.user, said), False) if said else (User(iri=scope.user), True)


def _speaker(row: NoteRow, user: User) -> str | None:
    """Who said it, when that is not the user."""
    name = (row.speaker or "").strip()
    return None if not name or name.casefold() in (USER.casefold(), (user.name or USER).casefold()) else name


def _with_context(mentions: Sequence[Mention], row: NoteRow, user: User) -> list[Mention]:
    """The mentions of a note, its title and its speaker, each name once."""
    named = {mention.name.casefold(): mention for mention in mentions}
    if speaker := _speaker(row, user):
        named[speaker.casefold()] = Mention(name=speaker, kind="Person")
    if title := (row.title or "").strip():
        named.setdefault(title.casefold(), Mention(name=title, kind="Concept"))
    return list(named.values())


def _drafts(
    row: NoteRow, note: Note, mentions: Sequence[Mention], user: User, agents: Agents, keep: bool
) -> list[Draft]:
    """The memories of a note; where there is none, one of its own text, so that nothing is lost."""
    names = tuple(mention.name for mention in mentions)
    title = (row.title or "").strip() or None
    if keep:
        return [Draft(content=note.content, about=names, subject=title)]
    drafts = agents.extract_memories(note, mentions, user) or [Draft(content=note.content, about=(USER, *names))]
    if title:
        drafts = [replace(draft, about=tuple(dict.fromkeys((*draft.about, title)))) for draft in drafts]
    speaker = _speaker(row, user)
    return [_said_by(draft, speaker) for draft in drafts] if speaker else drafts


def _said_by(draft: Draft, speaker: str) -> Draft:
    """The same draft where "I" was somebody else."""
    about = tuple(dict.fromkeys((*(speaker if name == USER else name for name in draft.about), speaker)))
    subject = speaker if draft.subject == USER else draft.subject
    content = draft.content.replace(USER, speaker)
    return replace(draft, content=content, about=about, subject=subject, user_name=None)


def _existing(
    drafts: Sequence[Draft],
    resolutions: Sequence[Resolution],
    scope: Scope,
    received: datetime,
    parts: Backends,
    knobs: ConsolidationSettings,
) -> list[Existing]:
    named = {USER: scope.user} | {r.mention.name: r.entity for r in resolutions if r.entity}
    hashes = [content_hash(draft.content) for draft in drafts]
    return existing(drafts, hashes, named, scope, received, knobs.similar_memories, parts)


def _retirable(known: Sequence[Existing], scope: Scope, parts: Backends) -> dict[IRI, Memory]:
    """The memories in the graph that is written: a note retires nothing in a namespace it does not belong to."""
    indexes = parts.indexes
    with indexes.lock:
        inside = indexes.nodes.within([scope.graph], "memory")
        found = [(one.memory, indexes.nodes.find(one.memory.iri)) for one in known]
        return {memory.iri: memory for memory, place in found if place is not None and inside[place]}
