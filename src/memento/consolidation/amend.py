"""
Apply what a person changes by hand: correct a memory or a claim, undo an invalidation, settle a dispute. A model is only asked
which entities a corrected text names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import (
    BY_CLAIMS,
    Account,
    Agents,
    Draft,
    Held,
    Invalidate,
    NotUnderstood,
    Resolution,
    Target,
)
from memento.consolidation.context import find_candidates, find_current, load_contents, load_existing, load_statements
from memento.consolidation.settle import drop_user
from memento.consolidation.task import Task, load_user
from memento.consolidation.write import Ending, Understanding, build_change, end_memory
from memento.errors import InputError, NotFound
from memento.graph.mapping import invalidates, mark_quads, node_or_none, quads
from memento.graph.ranges import fits
from memento.graph.store import Row
from memento.iris import IRI, MEM, TYPE, agent_iri, is_claim, is_tag, mint, parse_iri, tag_iri, tag_name
from memento.model import (
    Agent,
    Change,
    Dispute,
    Invalidation,
    KeyType,
    Marked,
    Marks,
    Memory,
    Mode,
    Note,
    Noted,
    Quad,
    Reversal,
    Scope,
    Settled,
    Undone,
    User,
    Value,
)
from memento.search.nodes import content_hash
from memento.strength import Reinforcement
from memento.text.sentences import drop_controls

SETTLED_CONTRADICTION = "settled-contradiction"
"""The rule of a manual invalidation that removed the flags of a contradiction, so that `undo` can restore them."""

_CONTRADICTION = "both give another value of one property from the same moment on"
_CANDIDATES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """
    The new text for a memory, when it begins (default: when that memory began), its keys, their types, and the memories that it is
    linked to; None keeps what there is.
    """

    iri: str
    content: str
    since: datetime | None = None
    keys: Sequence[str] | None = None
    types: Mapping[str, KeyType] | None = None
    related_to: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A memory that is about to be written in place of another one, and the correction that asks for it."""

    memory: IRI
    content: str
    replaces: Memory
    asked: Correction
    scope: Scope
    at: datetime


def correct(
    asked: Correction,
    scope: Scope,
    parts: Backends,
    strengths: Reinforcement,
    rules: Agents,
    *,
    add: Callable[[Rewrite], Change],
) -> Noted:
    """
    Replace a memory, or one claim of it, by a corrected text, which is written as a note. It begins and ends as that did,
    unless told otherwise.

    If it was corrected before, its latest correction is corrected.

    Args:
        add: returns what else is written with the new memory.

    Raises:
        NotFound: the namespace has no such memory or claim, or it is forgotten.
        InputError: the text equals that of the memory, or states nothing in place of the claim.
    """
    content, since, now = drop_controls(asked.content), asked.since, parts.clock()
    old, claim = _follow_corrections(asked.iri, scope, parts)
    _raise_if_same(content, old)
    user, user_is_new = load_user(scope, parts)
    beside = load_statements([old.iri], scope, parts).get(old.iri, {})
    note = Note(
        iri=mint("note"),
        content=content,
        at=now,
        container=next((str(one) for one in beside.get(MEM.container, ())), None),
        tags=_list_tags(beside),
    )
    unread = None
    try:
        draft, resolutions = _understand(note, user, scope, parts, rules)
    except NotUnderstood as error:
        draft, resolutions, unread = Draft(content=content.strip(), about=()), (), error.reason
    _raise_if_same(draft.content, old)
    [existing] = load_existing([old.iri], {}, scope, parts)
    began = since or (claim.since if claim else old.valid_at)
    reason = f"Corrected to: {draft.content.rstrip('.!')}"
    target = Target(memory=old.iri, reason=reason, mode="correction")
    if claim:
        by = _find_statement(claim, draft, old)
        target = replace(target, claim=claim.iri, at=began, by=by)
    # What is right was so for as long as what was wrong seemed to be.
    draft = replace(
        draft,
        valid_at=began,
        corrects=True,
        claims=tuple(replace(one, begins=None if since else one.begins or began) for one in draft.claims),
    )
    understood = Understanding(
        task=Task(note=note, scope=scope, received=now, keep=True),
        agent=Agent(iri=agent_iri(rules.name), name=rules.name, kind=rules.kind),
        account=Account(),
        began=now,
        ended=now,
        resolutions=resolutions,
        decisions=[Invalidate(draft=draft, targets=(target,))],
        user=user,
        user_is_new=user_is_new,
        retirable={old.iri: old},
        held={old.iri: existing.claims},
        unread=unread,
    )
    written, noted = build_change(understood)
    new = noted.memories[0]
    added = add(Rewrite(memory=new, content=draft.content, replaces=old, asked=asked, scope=scope, at=now))
    if known := beside.get(MEM.importance):
        kept = [quad for quad in written.adds if quad[:2] != (new, MEM.importance)]
        written = replace(written, adds=(*kept, (new, MEM.importance, known[0], scope.graph)))
    over = claim.until if claim else old.invalid_at
    added += _link_corrected(new, old, asked.related_to, scope, parts) + strengths.weaken(old.iri, scope.graph)
    parts.commit(written + _inherit(new, old, over, began, written, scope) + added, scope)
    flagged = [one for _, predicate, one, _ in added.adds if predicate == MEM.contradicts and isinstance(one, IRI)]
    others = [one for one in flagged if one != new]
    contents = {**noted.contents, **load_contents(others, scope, parts)} if others else noted.contents
    return replace(noted, contradicts=(*noted.contradicts, *others), contents=contents)


def _find_statement(claim: Held, draft: Draft, old: Memory) -> int:
    """Return which claim of a text takes the place of another: of the same relation, else the first; raises `InputError`."""
    if not draft.claims:
        raise InputError(
            f"no statement is found in the text that could take the place of “{old.content[slice(*claim.span)]}”: "
            f"give a whole sentence, or correct the memory <{old.iri}>"
        )
    same = (place for place, one in enumerate(draft.claims) if one.relation == claim.relation)
    return next(same, 0)


def mark_memories(iri: str, marks: Marks, untag: Sequence[str], scope: Scope, parts: Backends) -> tuple[Marked, ...]:
    """
    Change the tags, container or importance of a memory, or of all memories of a note, and return the new values.

    Args:
        marks: the tags to add, and the new container and importance; an empty container removes the container.
        untag: the tags to remove.

    Raises:
        NotFound: the namespace's own graph has no such memory or note.
    """
    rows = parts.graph.select("library/memories_of", [scope.graph], node=parse_iri(iri)) if ":" in iri else []
    contents = {cast(IRI, row["memory"]): str(row["content"]) for row in rows}
    if not contents:
        raise NotFound(f"there is no memory or note <{iri[:200]}> in the namespace {scope.namespace!r}")
    said, graph, changed = load_statements(list(contents), scope, parts), scope.graph, Change()
    gone = {tag_iri(name) for name in untag if name.strip()}
    replaced: dict[IRI, Value | None] = {MEM.container: marks.container, MEM.importance: marks.importance}
    for memory in contents:
        removes: list[Quad] = [
            (memory, MEM.tagged, tag, graph) for tag in said[memory].get(MEM.tagged, ()) if tag in gone
        ]
        for predicate, value in replaced.items():
            removes += [(memory, predicate, old, graph) for old in said[memory].get(predicate, ()) if value is not None]
        adds = [
            quad for quad in mark_quads(memory, marks, graph) if quad[1:3] not in {(MEM.tagged, tag) for tag in gone}
        ]
        changed += Change(
            tuple(quad for quad in adds if quad not in removes), tuple(quad for quad in removes if quad not in adds)
        )
    parts.commit(changed, scope)
    after = load_statements(list(contents), scope, parts)
    return tuple(
        Marked(
            iri=memory,
            content=content,
            tags=tuple(sorted(map(tag_name, _list_tags(after[memory])))),
            container=next((str(one) for one in after[memory].get(MEM.container, ())), None),
            importance=next(
                (float(str(one)) for one in after[memory].get(MEM.importance, ()) if fits(MEM.importance, one)), None
            ),
        )
        for memory, content in contents.items()
    )


def _raise_if_same(content: str, old: Memory) -> None:
    if content_hash(content) == content_hash(old.content):
        raise InputError(f"<{old.iri}> says this already: give the text that is right")


def _follow_corrections(iri: str, scope: Scope, parts: Backends) -> tuple[Memory, Held | None]:
    """Load a memory, or one with the claim that has the IRI; or its latest correction if it was corrected; raises `NotFound`."""
    seen = set[str]()
    while iri not in seen:
        seen.add(iri)
        rows = (
            parts.graph.select("consolidation/invalidation", [scope.graph], node=parse_iri(iri)) if ":" in iri else []
        )
        corrected = (row for row in rows if row["mode"] == "correction" and row["invalidated"] == iri)
        iri = next((str(row["invalidator"]) for row in corrected), iri)
    if not is_claim(iri):
        return _load_memory(iri, scope, parts), None
    memory = _load_memory(_find_stating(iri, scope, parts), scope, parts)
    [existing] = load_existing([memory.iri], {}, scope, parts)
    claim = next((one for one in existing.claims if one.iri == iri), None)
    if claim is None:
        raise NotFound(f"<{iri}> is forgotten: correct the memory <{memory.iri}> instead")
    return memory, claim


def _find_stating(claim: str, scope: Scope, parts: Backends) -> str:
    """Find the memory that states a claim; raises `NotFound`."""
    said = load_statements([parse_iri(claim)], scope, parts).get(IRI(claim), {})
    if not (memories := said.get(MEM.statedBy, ())):
        raise NotFound(f"there is no claim <{claim[:200]}> in the namespace {scope.namespace!r}")
    return str(memories[0])


def undo(iri: str, scope: Scope, now: datetime, parts: Backends) -> Undone:
    """
    Undo an invalidation. If others have retired the same memory or claim too, it ends when the earliest of them says.

    A memory comes back with all its claims that the same memory has ended; a claim comes back alone, and its memory with it if it
    had ended with the last of its claims. If the invalidation settled a contradiction, the contradiction is restored.

    Raises:
        NotFound: the namespace has no such invalidation, and no such memory or claim that an invalidation has retired.
    """
    rows = parts.graph.select("consolidation/invalidation", [scope.graph], node=parse_iri(iri)) if ":" in iri else []
    if not rows:
        raise NotFound(f"nothing was retired by or as <{iri[:200]}> in the namespace {scope.namespace!r}")
    first = next((row for row in rows if row["invalidated"] == iri), rows[0])
    is_alone = iri != first["of"] and first["invalidated"] != first["of"]
    old_iri, new_iri = cast(IRI, first["of"]), cast(IRI, first["by"])
    both = load_statements([old_iri, new_iri], scope, parts)
    old = node_or_none(Memory, old_iri, both.get(old_iri, {}))
    if old is None:
        raise _report_unreadable(old_iri)
    ended = parts.graph.select("consolidation/invalidation", [scope.graph], node=old_iri)
    gone = [row for row in ended if _goes_with(row, first, is_alone=is_alone)]
    left = [row for row in ended if row not in gone]
    acts = [_to_invalidation(row) for row in gone]
    act = next(one for one in acts if one.iri == first["invalidation"])
    reversal = Reversal(iri=mint("reversal"), at=now, restored=old_iri, reason=act.reason)
    adds, removes = quads(reversal, scope.provenance), list[Quad]()
    for one in acts:
        removes += quads(one, scope.graph)
        if not any((row["invalidator"], row["invalidated"]) == (one.invalidator, one.invalidated) for row in left):
            removes.append(invalidates(one.invalidator, one.invalidated, scope.graph))
            removes.append((one.invalidator, MEM.supersedes, one.invalidated, scope.graph))
        if one.rule == SETTLED_CONTRADICTION:
            adds += contradict(one.invalidator, one.invalidated, scope.graph)
    reopened = _reopen(old, {one.invalidated for one in acts}, left, scope, parts)
    parts.commit(Change(tuple(adds), tuple(removes)) + reopened, scope)
    return Undone(
        invalidation=act.iri,
        restored=old_iri,
        invalidator=new_iri,
        contents={iri: str(said[0]) for iri, statements in both.items() if (said := statements.get(MEM.content))},
    )


def restore_ended(iri: str, scope: Scope, now: datetime, parts: Backends) -> dict[IRI, str]:
    """Let all hold again that a memory, or the memories of a note, have ended; return those memories, with their texts."""
    rows = parts.graph.select("library/memories_of", [scope.graph], node=parse_iri(iri))
    # What an agent ended stays ended: it is no memory, and to forget all that it made needs a confirmation.
    is_told = any(iri in (row["memory"], row["note"], row.get("parent")) for row in rows)
    memories = list(dict.fromkeys(row["memory"] for row in rows)) if is_told else []
    acts = parts.graph.select("consolidation/ended_by", [scope.graph], memory=memories) if memories else []
    restored: dict[IRI, str] = {}
    for act in acts:
        with suppress(NotFound):  # undone together with one before
            done = undo(str(act["invalidation"]), scope, now, parts)
            restored[done.restored] = done.contents.get(done.restored, "")
    return restored


def _goes_with(row: Row, first: Row, *, is_alone: bool) -> bool:
    """Tell whether an invalidation is undone with another of the same memory."""
    if row["invalidation"] == first["invalidation"]:
        return True
    if is_alone:  # the memory had ended with the last of its claims
        return row["invalidated"] == row["of"] and row.get("rule") == BY_CLAIMS
    return bool(row["by"] == first["by"])


def _reopen(old: Memory, restored: Set[IRI], left: Sequence[Row], scope: Scope, parts: Backends) -> Change:
    """Return the change that lets a memory and its claims hold again, or until another invalidation ends them."""
    adds: list[Quad] = []
    removes: list[Quad] = []
    [existing] = load_existing([old.iri], {}, scope, parts)
    nodes = {old.iri: (old.valid_at, old.invalid_at)} | {one.iri: (one.since, one.until) for one in existing.claims}
    ended = {cast(IRI, row["invalidated"]) for row in left}
    for iri, (since, until) in nodes.items():
        # With the whole memory its claims had ended too.
        with_whole = old.iri in restored and iri not in ended and until == max(old.invalid_at or since, since)
        if until is None or not (iri in restored or with_whole):
            continue
        removes.append((iri, MEM.invalidAt, until, scope.graph))
        ends = [
            max(cast(datetime, row["began"]), since)
            for row in left
            if row["invalidated"] == iri and "began" in row and row["mode"] != "heuristic"
        ]
        if ends:
            adds.append((iri, MEM.invalidAt, min(ends), scope.graph))
    return Change(tuple(adds), tuple(removes))


def list_disputes(scope: Scope, parts: Backends, limit: int = 100) -> tuple[Dispute, ...]:
    """Return the disputes of a namespace: contradictions first, then rivals, the most likely first."""
    rows = parts.graph.select("library/disputed", [scope.graph])
    return tuple(
        Dispute(
            one=cast(IRI, row["one"]),
            other=cast(IRI, row["other"]),
            confidence=cast(float, row.get("confidence", 1.0)),
            reason=str(row.get("reason", "" if "confidence" in row else _CONTRADICTION)),
            contents=(str(row["oneContent"]), str(row["otherContent"])),
            since=(cast(datetime, row["oneSince"]), cast(datetime, row["otherSince"])),
        )
        for row in rows[:limit]
    )


def settle_dispute(kept: str, ended: str, scope: Scope, parts: Backends, *, reason: str = "") -> Settled:
    """
    End one of two memories in favour of the other, and remove the flags between them; `undo` reverts it.

    Raises:
        NotFound: the namespace has no such current memory.
        InputError: both are the same memory, or the one to be ended has already ended.
    """
    if kept == ended:
        raise InputError("a memory is in no dispute with itself: name the one to keep and the one to end")
    right, wrong = _find_memory(kept, scope, parts), _find_memory(ended, scope, parts)
    flags = contradict(right.iri, wrong.iri, scope.graph)
    said = load_statements([right.iri, wrong.iri], scope, parts)
    is_contradiction = any(to in said[one].get(MEM.contradicts, ()) for one, _, to, _ in flags)
    now = parts.clock()
    if wrong.invalid_at is not None and wrong.invalid_at <= now:
        raise InputError(f"the memory <{wrong.iri}> is over already: there is nothing to settle")
    right_claims, wrong_claims = (one.claims for one in load_existing([right.iri, wrong.iri], {}, scope, parts))
    end = max(wrong.valid_at, min(right.valid_at, now))
    rule = SETTLED_CONTRADICTION if is_contradiction else "settled"
    because = reason or f"Settled by hand: {right.content.rstrip('.!')}"
    ending = Ending(claim=None, memory=right.iri, by=None, at=end, reason=because, rule=rule)
    rivals = [
        replace(ending, claim=old.iri, by=new.iri)
        for old in wrong_claims
        if (new := next((one for one in right_claims if _are_rivals(one, old)), None))
    ]
    change, is_over = end_memory(wrong, wrong_claims, rivals or [ending], scope.graph, now)
    parts.commit(change + Change(removes=tuple(flags)), scope)
    acts = [one for one, predicate, _, _ in change.adds if predicate == MEM.invalidated]
    return Settled(
        invalidation=acts[-1] if is_over else acts[0],
        kept=right.iri,
        ended=wrong.iri,
        contents={one.iri: one.content for one in (right, wrong)},
    )


def _are_rivals(new: Held, old: Held) -> bool:
    """Tell whether two claims give one relation of one owner two values."""
    is_open = old.until is None and old.polarity and new.polarity and not old.is_event
    return (
        is_open
        and bool(old.owner)
        and (new.owner, new.relation) == (old.owner, old.relation)
        and new.value != old.value
    )


def contradict(one: IRI, other: IRI, graph: IRI) -> list[Quad]:
    """Return the quads that flag two memories as contradicting each other, in both directions."""
    return [(one, MEM.contradicts, other, graph), (other, MEM.contradicts, one, graph)]


def _understand(
    note: Note, user: User, scope: Scope, parts: Backends, rules: Agents
) -> tuple[Draft, tuple[Resolution, ...]]:
    """Return the one fact of the corrected text, and what it names; if it states several, return the text as it is."""
    mentions = drop_user(rules.extract_entities(note, user).mentions, user)
    offered = find_candidates(mentions, scope, _CANDIDATES, parts, exact_only=True)
    resolved = rules.resolve_entities(list(zip(mentions, offered, strict=True)), None, user)
    read = rules.extract_memories(note, mentions, user)
    names = tuple(mention.name for mention in mentions)
    return (
        replace(read[0], noise="") if len(read) == 1 else Draft(content=note.content.strip(), about=names)
    ), resolved.resolutions


def _load_memory(iri: str, scope: Scope, parts: Backends) -> Memory:
    """Load a believed memory of the namespace's own graph."""
    records = parts.indexes.read([parse_iri(iri)], [scope.graph]) if ":" in iri else []
    if not records or MEM.Memory not in records[0].statements.get(TYPE, ()):
        raise NotFound(f"there is no memory <{iri[:200]}> in the namespace {scope.namespace!r}")
    memory = node_or_none(Memory, records[0].iri, records[0].statements)
    if memory is None:
        raise _report_unreadable(records[0].iri)
    if memory.expired_at is not None:
        raise NotFound(f"<{iri}> is forgotten: note what is right instead")
    return memory


def _report_unreadable(iri: IRI) -> NotFound:
    return NotFound(f"the memory <{iri}> cannot be read: `get` shows what is said of it, and `check` how it is mended")


def _inherit(new: IRI, old: Memory, over: datetime | None, began: datetime, written: Change, scope: Scope) -> Change:
    """Copy to the correction when the old memory ended and, if the correction names nothing, what the old memory was about."""
    adds: list[Quad] = []
    if not any(subject == new and predicate == MEM.about for subject, predicate, _, _ in written.adds):
        adds += [(new, MEM.about, anchor, scope.graph) for anchor in old.about]
    if over is not None and over > began:
        claims = [one for one, predicate, of, _ in written.adds if predicate == MEM.statedBy and of == new]
        adds += [(iri, MEM.invalidAt, over, scope.graph) for iri in (new, *claims)]
    return Change(tuple(adds))


def _link_corrected(new: IRI, old: Memory, related_to: Sequence[str] | None, scope: Scope, parts: Backends) -> Change:
    """Link a correction to some memories, by default to those of the old memory; it expires when that one would have."""
    links = old.related_to if related_to is None else find_current(related_to, scope, parts)
    adds: list[Quad] = [(new, MEM.relatedTo, other, scope.graph) for other in links]
    if old.expires_at is not None:
        adds.append((new, MEM.expiresAt, old.expires_at, scope.graph))
    return Change(tuple(adds))


def _to_invalidation(row: Row) -> Invalidation:
    return Invalidation(
        iri=cast(IRI, row["invalidation"]),
        invalidator=cast(IRI, row["invalidator"]),
        invalidated=cast(IRI, row["invalidated"]),
        reason=str(row["reason"]),
        at=cast(datetime, row["at"]),
        mode=cast(Mode, str(row["mode"])),
        rule=str(row["rule"]) if "rule" in row else None,
    )


def _list_tags(statements: Mapping[IRI, Sequence[Value]]) -> tuple[IRI, ...]:
    """Return the tags among the statements of a memory; statements written by hand may have any value."""
    return tuple(IRI(str(tag)) for tag in statements.get(MEM.tagged, ()) if is_tag(IRI(str(tag))))


def _find_memory(iri: str, scope: Scope, parts: Backends) -> Memory:
    known = parse_iri(iri) if ":" in iri else None
    said = load_statements([known], scope, parts).get(known) if known else None
    memory = node_or_none(Memory, known, said) if known and said and MEM.Memory in said.get(TYPE, ()) else None
    if memory is None:
        raise NotFound(f"there is no memory <{iri[:200]}> in the namespace {scope.namespace!r}")
    return memory
