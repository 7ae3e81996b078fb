"""
One note with everything that came of it, as one atomic change.

*Guarantees:* `change` is pure; what it returns is written whole or not at all. A retired memory ends when its successor
begins, and stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from memento.consolidation.agents import USER, Add, Decision, Draft, Invalidate, Resolution, Skip
from memento.graph import mapping
from memento.model import Change, Entity, Invalidation, Memory, Note, Noted, Quad, Scope, Session, User
from memento.vocabulary import IRI, MEM, TYPE, mint


def content_hash(content: str) -> str:
    """The digest that tells exact duplicates: of the text without case and runs of space."""
    return sha256(" ".join(content.casefold().split()).encode("utf-8", errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Where a turn stands in its conversation: what it comes after, what it comes before, and what that one follows so far."""

    before: IRI | None = None
    after: IRI | None = None
    followed: IRI | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A note and what the agents made of it, before it is written."""

    note: Note
    scope: Scope
    received: datetime
    resolutions: Sequence[Resolution]
    decisions: Sequence[Decision]
    user: User
    user_is_new: bool
    user_description: str | None = None
    session: Session | None = None
    beside: Beside = Beside()
    speaker: str | None = None
    title: str | None = None
    retirable: Mapping[
        IRI, Memory
    ]  # the memories that may be retired: shown to the agents, and in the graph that is written


def change(understood: Understood) -> tuple[Change, Noted]:
    """
    The change that writes a note, and what to tell the caller.

    When every memory is known already nothing is written: the change is empty and the answer says why.
    """
    added = [decision for decision in understood.decisions if not isinstance(decision, Skip)]
    if not added:
        count = len(understood.decisions)
        reason = "it is already known" if count == 1 else f"all {count} memories in it are already known"
        return Change(), Noted(note=None, skipped=reason)
    entities, names, entity_quads = _entities(understood)
    memories = [(decision, _memory(decision.draft, names, understood)) for decision in added]
    ended, endings = _endings(memories, understood)
    said_by = names.get(understood.speaker) if understood.speaker else None
    note = replace(understood.note, mentions=tuple(entities), said_by=said_by)
    graph = understood.scope.graph
    adds = [*mapping.quads(note, graph), mapping.attributed(note.iri, said_by or understood.user.iri, graph)]
    if understood.session:
        adds += [*mapping.quads(understood.session, graph), (note.iri, TYPE, MEM.Turn, graph)]
    order = _order(note, understood.beside, graph)
    adds += entity_quads
    for _, memory in memories:
        adds += mapping.quads(memory, graph)
    written = Change(tuple(dict.fromkeys(adds))) + order + endings + _user_change(memories, understood)
    noted = Noted(note=note.iri, memories=tuple(memory.iri for _, memory in memories), invalidated=tuple(ended))
    return written, noted


def _order(note: Note, beside: Beside, graph: IRI) -> Change:
    """The turn in its place: it follows the one before, and the one after, which may have come earlier, follows it."""
    adds: list[Quad] = [(note.iri, MEM.follows, beside.before, graph)] if beside.before else []
    if beside.after is None:
        return Change(tuple(adds))
    removes = [(beside.after, MEM.follows, beside.followed, graph)] if beside.followed else []
    return Change((*adds, (beside.after, MEM.follows, note.iri, graph)), tuple(removes))


def _entities(understood: Understood) -> tuple[list[IRI], dict[str, IRI], list[Quad]]:
    """Every entity the note mentions, their IRIs by the names of the note, and the quads of what is new about them."""
    adds: list[Quad] = []
    names: dict[str, IRI] = {USER: understood.user.iri}
    for resolution in understood.resolutions:
        mention, graph = resolution.mention, understood.scope.graph
        iri = resolution.entity or names.get(mention.name) or mint("entity")
        if resolution.entity is None and mention.name not in names:
            entity = Entity(
                iri=iri,
                name=mention.name,
                kind=mention.kind,
                description=mention.description,
                is_well_known=mention.is_well_known,
                aliases=mention.aliases,
            )
            adds += mapping.quads(entity, graph)
        for name in (mention.name, *mention.aliases):
            names.setdefault(name, iri)
    iris = dict.fromkeys(names[r.mention.name] for r in understood.resolutions)
    return list(iris), names, adds


def _memory(draft: Draft, names: Mapping[str, IRI], understood: Understood) -> Memory:
    # A slot belongs to a subject: where the subject is nothing we know, the memory fills no slot.
    subject = names.get(draft.subject) if draft.subject else None
    about = [names[name] for name in draft.about if name in names]
    return Memory(
        iri=mint("memory"),
        content=draft.content,
        about=tuple(dict.fromkeys([*about, subject] if subject else about)),
        extracted_from=understood.note.iri,
        valid_at=draft.valid_at or understood.note.at,
        created_at=understood.received,
        event_at=draft.event_at,
        said_by=names.get(understood.speaker) if understood.speaker else None,
        title=understood.title,
        subject=subject,
        slot=draft.slot if subject else None,
        slot_value=draft.slot_value if subject else None,
        content_hash=content_hash(draft.content),
    )


def _endings(memories: Sequence[tuple[Add | Invalidate, Memory]], understood: Understood) -> tuple[list[IRI], Change]:
    """The memories that end, each once, and the quads that end them; a target that was never shown is left alone."""
    adds: list[Quad] = []
    removes: list[Quad] = []
    ended: dict[IRI, None] = {}
    graph = understood.scope.graph
    for decision, memory in memories:
        follows = decision.successor
        if follows and (later := understood.retirable.get(follows.memory)):
            adds += _closed(memory, later, follows.reason, understood)
        for target in decision.targets if isinstance(decision, Invalidate) else ():
            old = understood.retirable.get(target.memory)
            if old is None or old.iri in ended:
                continue
            ended[old.iri] = None
            invalidation = Invalidation(
                iri=mint("invalidation"),
                invalidator=memory.iri,
                invalidated=old.iri,
                reason=target.reason,
                at=understood.received,
                mode=target.mode,
                rule=target.rule or None,
            )
            adds += [*mapping.quads(invalidation, graph), mapping.invalidates(memory.iri, old.iri, graph)]
            # A correction may begin before what it corrects; an interval never ends before it begins.
            end = max(memory.valid_at, old.valid_at)
            adds.append((old.iri, MEM.invalidAt, end, graph))
            if old.invalid_at:
                removes.append((old.iri, MEM.invalidAt, old.invalid_at, graph))
    return list(ended), Change(tuple(adds), tuple(removes))


def _closed(memory: Memory, later: Memory, reason: str, understood: Understood) -> list[Quad]:
    """A belief about the past ends where the one that is known to follow it begins."""
    graph = understood.scope.graph
    invalidation = Invalidation(
        iri=mint("invalidation"),
        invalidator=later.iri,
        invalidated=memory.iri,
        reason=reason,
        at=understood.received,
        mode="state-change",
        rule="history",
    )
    return [
        *mapping.quads(invalidation, graph),
        mapping.invalidates(later.iri, memory.iri, graph),
        (memory.iri, MEM.invalidAt, max(memory.valid_at, later.valid_at), graph),
    ]


def _user_change(memories: Sequence[tuple[Add | Invalidate, Memory]], understood: Understood) -> Change:
    """The user is made with the first memory about them, and renamed or described anew when the note says so."""
    old, graph = understood.user, understood.scope.self_graph
    name = next((d.draft.user_name for d, _ in memories if d.draft.user_name), None) or old.name
    described = understood.user_description if understood.user_description is not None else old.description
    fresh = User(iri=old.iri, name=name, description=described)
    is_needed = any(old.iri in memory.about for _, memory in memories) or described != old.description
    if not is_needed or (fresh == old and not understood.user_is_new):
        return Change()
    before = () if understood.user_is_new else tuple(mapping.quads(old, graph))
    after = tuple(mapping.quads(fresh, graph))
    return Change(tuple(q for q in after if q not in before), tuple(q for q in before if q not in after))
