"""
Write one note with everything derived from it, as one atomic change, after validation against the SHACL shapes.

*Flow:* `Understanding` → `refresh_retirable` (under the lock of writers) → `build_change` → `raise_if_invalid` → the store.

*Guarantees:* `build_change` is pure. Its result is written completely or not at all, and the same write ends the note's pending
state: no note is understood twice. A retired memory ends when its successor begins, and stays in the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from memento.backends import Backends
from memento.consolidation.agents import (
    USER,
    Account,
    Add,
    Decision,
    Draft,
    Existing,
    Held,
    Invalidate,
    NotUnderstood,
    Resolution,
    Skip,
    Successor,
    Target,
)
from memento.consolidation.context import describe_claims, hold_claim, load_statements
from memento.consolidation.rules import list_spared
from memento.consolidation.task import Task, link_turns, name_other_speaker
from memento.errors import ShapeViolation
from memento.graph import mapping, shapes
from memento.graph.mapping import node_or_none, quads
from memento.iris import IRI, MEM, TYPE, mint, tag_name
from memento.model import (
    Agent,
    Change,
    Claim,
    Consolidation,
    Ended,
    Entity,
    Invalidation,
    Marks,
    Memory,
    Mode,
    Note,
    Noted,
    Quad,
    Reading,
    Rivalry,
    Scope,
    Stated,
    StepState,
    User,
)
from memento.rank import MIDDLING, rate_importance, usual_priority
from memento.search.nodes import EXPLICIT, content_hash
from memento.strength import relate_alike
from memento.text.code_names import list_named_code
from memento.text.tags import sort_by_rules

WORDS = re.compile(r"[\w-]+")

_EXCERPT = 60
"""The length, in characters, of the excerpt of a note that a remark shows."""

HAPPENED = ("fact", "past")
"""Moods of what is or was so; a memory stores only other moods."""

WAITING = (MEM.state, MEM.title, MEM.speaker)
"""Properties that a note has only until it is understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """
    A note and the agents' result for it, before it is written.

    `retirable` are the memories that may be retired: shown to the agents, and in the graph that is written. `began` is when the
    agents began. With `keeps_skipped` a pending note in which nothing is new stays in the graph, because its caller has its IRI.
    `unread` is the reason why the agents gave the note up; its own words are then kept.
    """

    task: Task
    agent: Agent
    account: Account
    began: datetime
    ended: datetime
    resolutions: Sequence[Resolution]
    decisions: Sequence[Decision]
    user: User
    user_is_new: bool
    user_description: str | None = None
    retirable: Mapping[IRI, Memory]
    held: Mapping[IRI, Sequence[Held]] = field(default_factory=dict)
    """The known claims of these memories."""
    keeps_skipped: bool = False
    longest_description: int = 2000
    unread: str | None = None
    tag_rules: str = "on"
    alike: Mapping[str, Sequence[tuple[IRI, float]]] = field(default_factory=dict)
    """The memories to link with each new memory, by its text, and their cosines; from `alike_from` on they are similar."""
    alike_from: float = 1.0
    described: Mapping[IRI, str] = field(default_factory=dict)
    """The present descriptions of the entities of the written graph to which the model gives a better one."""
    writes: int = -1
    """The number of the store's writes when the agents began: what they were shown is as it was while it is the same."""

    @property
    def note(self) -> Note:
        return self.task.note

    @property
    def scope(self) -> Scope:
        return self.task.scope

    @property
    def speaker(self) -> str | None:
        """The name of the speaker if it is not the user."""
        return name_other_speaker(self.task, self.user)


def build_change(understood: Understanding) -> tuple[Change, Noted]:
    """
    Build the change that writes a note, and the result for the caller.

    If nothing in the note is new, only what it says of the user is written; the result gives the reason.
    """
    added = [decision for decision in understood.decisions if not isinstance(decision, Skip)]
    if not added:
        return _build_skip(understood)
    entities, names, entity_quads = _collect_entities(understood)
    memories = [(decision, _make_memory(decision.draft, names, understood)) for decision in added]
    claims = {memory.iri: make_claims(decision.draft, memory, names) for decision, memory in memories}
    ended, endings = _end_memories(memories, claims, understood)
    said_by = names.get(understood.speaker) if understood.speaker else None
    note = replace(understood.note, mentions=tuple(entities), said_by=said_by)
    graph = understood.scope.graph
    adds = [*mapping.quads(note, graph), mapping.attribute_note(note.iri, said_by or understood.user.iri, graph)]
    if understood.task.imported:
        adds += mapping.quads(understood.task.imported, graph)
    if understood.task.session:
        adds += [*mapping.quads(understood.task.session, graph), (note.iri, TYPE, MEM.Turn, graph)]
    adds += entity_quads
    adds += mapping.tag_quads(note.iri, map(tag_name, note.tags), graph)
    for decision, memory in memories:
        adds += mapping.quads(memory, graph)
        adds += mapping.mark_quads(memory.iri, _sort_memory(decision.draft, note, understood), graph)
        for code in understood.task.refers or list_named_code(memory.content, graph):
            adds += [*mapping.quads(code, graph), (memory.iri, MEM.refers, code.iri, graph)]
        adds += [quad for claim in claims[memory.iri] for quad in mapping.quads(claim, graph)]
        if understood.task.waits_for_claims and isinstance(decision, Add):
            adds.append((memory.iri, MEM.state, "pending", graph))
        near = understood.alike.get(memory.content, ())
        adds += relate_alike(memory.iri, near, understood.alike_from, graph, understood.ended)
    adds += _make_rivalries(memories, understood)
    contradicted = _flag_contradictions(memories, understood)
    adds += contradicted
    written = (
        _replace_quads(understood.task.pending, tuple(adds))
        + link_turns(understood.task)
        + endings
        + _change_user_of(memories, understood)
        + _change_descriptions({iri for _, memory in memories for iri in memory.about}, understood)
    )
    written += finish_run(understood, "done", [memory.iri for _, memory in memories], understood.unread)
    against = dict.fromkeys(old for _, _, old, _ in contradicted[::2] if isinstance(old, IRI))
    noted = Noted(
        note=note.iri,
        memories=tuple(memory.iri for _, memory in memories),
        invalidated=tuple(ended),
        claims=tuple(_list_stated(memories, claims)),
        ended=tuple(_list_ended(memories, claims, ended, understood)),
        contradicts=tuple(against),
        contents={
            **{memory.iri: memory.content for _, memory in memories},
            **{iri: understood.retirable[iri].content for iri in (*ended, *against)},
        },
        verbatim=understood.unread,
        remarks=_list_remarks(understood.decisions),
    )
    return written, noted


def _list_stated(
    memories: Sequence[tuple[Add | Invalidate, Memory]], claims: Mapping[IRI, Sequence[Claim]]
) -> Iterator[Stated]:
    """Yield what the new memories state of an owner, by the names that the note gives."""
    for decision, memory in memories:
        owners = zip(decision.draft.claims, claims[memory.iri], strict=True)
        names = {claim.owner: draft.owner for draft, claim in owners if claim.owner}
        yield from describe_claims(sorted(claims[memory.iri], key=lambda one: (one.start, one.iri)), names)


def _list_ended(
    memories: Sequence[tuple[Add | Invalidate, Memory]],
    claims: Mapping[IRI, Sequence[Claim]],
    over: Sequence[IRI],
    understood: Understanding,
) -> Iterator[Ended]:
    """Yield what ended of memories that hold on otherwise; `over` are those that ended whole."""
    for decision, memory in memories:
        for target in decision.targets if isinstance(decision, Invalidate) else ():
            if target.claim and target.memory in understood.retirable and target.memory not in over:
                ending = _make_ending(target, memory, claims[memory.iri])
                words = _name_ended(target, over, understood)
                yield Ended(
                    words=words, at=ending.at, by=ending.by or memory.iri, reason=ending.reason, iri=target.claim
                )


def describe_understanding(understood: Understanding) -> Noted:
    """Describe what would be written for a note, without IRIs of new nodes."""
    _, noted = build_change(understood)
    added = [decision for decision in understood.decisions if not isinstance(decision, Skip)]
    readings = tuple(_describe_draft(one, noted.invalidated, understood) for one in added)
    return replace(noted, note=None, memories=(), claims=(), contents={}, readings=readings)


def _describe_draft(decision: Add | Invalidate, ended: Sequence[IRI], understood: Understanding) -> Reading:
    draft, known = decision.draft, understood.retirable
    targets = decision.targets if isinstance(decision, Invalidate) else ()
    ending = {target.claim or target.memory for target in targets}
    existing = [
        Existing(memory=old, about=(), claims=tuple(understood.held.get(old.iri, ()))) for old in known.values()
    ]
    spared = list_spared(draft, existing, understood.note)
    stated = next((one for one in draft.claims if one.owner), None)
    return Reading(
        content=draft.content,
        about=draft.about,
        valid_at=draft.valid_at or understood.note.at,
        until=draft.until,
        event_at=draft.event_at,
        relation=stated.relation if stated else None,
        value=(stated.value or None) if stated else None,
        mood=draft.mood,
        tags=_sort_memory(draft, understood.note, understood).tags,
        retires=tuple(dict.fromkeys(_name_ended(one, ended, understood) for one in targets if one.memory in known)),
        rivals=tuple(known[one.memory].content for one in decision.rivals if one.memory in known),
        spared=tuple(one for one in spared if one.claim not in ending and one.memory not in ending),
    )


def _name_ended(target: Target, ended: Sequence[IRI], understood: Understanding) -> str:
    """Return the text of a memory that ends, or the words of its one claim that does."""
    text = understood.retirable[target.memory].content
    claim = next((one for one in understood.held.get(target.memory, ()) if one.iri == target.claim), None)
    return text[slice(*claim.span)] if claim and target.memory not in ended else text


def _build_skip(understood: Understanding) -> tuple[Change, Noted]:
    count, task = len(understood.decisions), understood.task
    noises = list(dict.fromkeys(one.draft.noise for one in understood.decisions if one.draft.noise))
    known = count - sum(bool(one.draft.noise) for one in understood.decisions)
    reason = "it is already known" if known == 1 else f"all {known} memories in it are already known"
    reason = reason if known else noises[0] if noises else "no memory could be extracted"
    if task.run is None:
        written = Change()
    elif understood.keeps_skipped or task.session:  # other turns may come before and after it
        note = mapping.quads(replace(task.note, state="skipped"), task.scope.graph)
        kept = tuple(quad for quad in task.pending if quad[0] != task.note.iri or quad[1] not in WAITING)
        written = _replace_quads(task.pending, (*kept, *note)) + finish_run(understood, "skipped", (), reason)
    else:
        written = Change(removes=(*task.pending, *mapping.quads(task.run, task.scope.provenance)))
    noted = Noted(note=None, skipped=reason, remarks=_list_remarks(understood.decisions))
    return written + _change_user_of((), understood), noted


def _list_remarks(decisions: Sequence[Decision]) -> tuple[str, ...]:
    """List what the writer should know about how the note was read, one sentence for each part."""
    remarks = [
        f"“{_excerpt(one.draft.content)}” is not kept: {one.reason}"
        if isinstance(one, Skip)
        else f"“{_excerpt(one.draft.content)}” is kept as it was said: {one.draft.remark}"
        for one in decisions
        if isinstance(one, Skip) or one.draft.remark
    ]
    return tuple(dict.fromkeys(remarks))


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 1].rstrip()}…"


def _replace_quads(before: Sequence[Quad], after: Sequence[Quad]) -> Change:
    """Build the change from some quads to others; quads in both stay."""
    gone, kept = set(after), set(before)
    return Change(
        tuple(quad for quad in dict.fromkeys(after) if quad not in kept), tuple(q for q in before if q not in gone)
    )


def _collect_entities(understood: Understanding) -> tuple[list[IRI], dict[str, IRI], list[Quad]]:
    """Collect the entities that the note mentions, their IRIs by name, and the quads of the new ones."""
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


def _make_memory(draft: Draft, names: Mapping[str, IRI], understood: Understanding) -> Memory:
    titled = names.get(understood.task.title or "") if understood.task.keep else None
    about = [names[name] for name in draft.about if name in names]
    until = understood.note.expires_at
    return Memory(
        iri=mint("memory"),
        content=draft.content,
        about=tuple(dict.fromkeys(about)),
        extracted_from=understood.note.iri,
        valid_at=draft.valid_at or understood.note.at,
        created_at=understood.ended,
        event_at=draft.event_at,
        said_by=names.get(understood.speaker) if understood.speaker else None,
        title=understood.task.title,
        subject=titled,
        mood=draft.mood if draft.mood not in HAPPENED else None,
        invalid_at=draft.until,
        content_hash=content_hash(draft.content),
        is_verbatim=True if understood.unread else None,
        expires_at=until and max(until, understood.ended),  # the note may have waited longer than that
    )


def _sort_memory(draft: Draft, note: Note, understood: Understanding) -> Marks:
    """Return the memory's tags, from its note and from rules, its container, and its importance unless it is the middle value."""
    given = tuple(tag_name(tag) for tag in note.tags)
    ruled = sort_by_rules(draft.content, understood.tag_rules)
    importance = rate_importance(
        note.source or EXPLICIT, (*given, *ruled), note.priority or usual_priority(note.source)
    )
    return Marks(
        tags=tuple(dict.fromkeys((*given, *ruled))),
        container=note.container,
        importance=None if importance == MIDDLING else importance,
    )


def _find_value(value: str, names: Mapping[str, IRI]) -> IRI | None:
    """Return the node that a value names: all of it, or else the longest name in it ("the Sint-Lucas hospital")."""
    if value in names:
        return names[value]
    padded = f" {' '.join(WORDS.findall(value))} "
    inside = [name for name in names if name != USER and f" {' '.join(WORDS.findall(name))} " in padded]
    return names[max(inside, key=len)] if inside else None


def make_claims(draft: Draft, memory: Memory, names: Mapping[str, IRI]) -> list[Claim]:
    """Return the claims of a memory; a claim whose owner is no known node is nobody's."""
    return [
        Claim(
            iri=mint("claim"),
            memory=memory.iri,
            owner=names.get(one.owner) if one.owner else None,
            relation=one.relation,
            complement=tuple(sorted(one.complement)),
            value=one.value,
            value_entity=_find_value(one.value, names),
            words=draft.content[one.start : one.end],
            start=one.start,
            end=one.end,
            polarity=one.polarity,
            mood=one.mood,
            is_event=one.is_event or None,
            kind=one.kind,
            valid_at=one.begins or memory.valid_at,
            created_at=memory.created_at,
            invalid_at=one.stops,
        )
        for one in draft.claims
    ]


def _make_rivalries(memories: Sequence[tuple[Add | Invalidate, Memory]], understood: Understanding) -> list[Quad]:
    """Return the links between memories that likely cannot be true together."""
    return [
        quad
        for decision, memory in memories
        for rival in decision.rivals
        if rival.memory in understood.retirable
        for quad in mapping.quads(
            Rivalry(
                iri=mint("rivalry"),
                rivals=(memory.iri, rival.memory),
                confidence=rival.confidence,
                reason=rival.reason,
            ),
            understood.scope.graph,
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """
    What ends a claim, or with `claim` None a whole memory: the newer memory, its claim `by` if it has one, and the time.
    """

    claim: IRI | None
    memory: IRI
    by: IRI | None
    at: datetime
    reason: str
    mode: Mode = "state-change"
    rule: str | None = None


def _end_memories(
    memories: Sequence[tuple[Add | Invalidate, Memory]],
    claims: Mapping[IRI, Sequence[Claim]],
    understood: Understanding,
) -> tuple[list[IRI], Change]:
    """
    List the memories that end, each once, and the change that ends them and their claims; targets that the agents were not
    shown are ignored.
    """
    written = Change()
    ended: dict[IRI, None] = {}
    graph, now = understood.scope.graph, understood.ended
    for decision, memory in memories:
        endings: dict[IRI, list[Ending]] = {}
        for target in decision.targets if isinstance(decision, Invalidate) else ():
            if target.memory in understood.retirable and target.memory not in ended:
                endings.setdefault(target.memory, []).append(_make_ending(target, memory, claims[memory.iri]))
        for old, of_memory in endings.items():
            held = understood.held.get(old, ())
            change, is_over = end_memory(understood.retirable[old], held, of_memory, graph, now)
            written += change
            ended |= {old: None} if is_over else {}
        if followed := [_follow(one, claims[memory.iri], understood) for one in decision.successors]:
            held = [hold_claim(one, {}) for one in claims[memory.iri]]
            written += end_memory(memory, held, [one for one in followed if one], graph, now)[0]
    return list(ended), written


def _make_ending(target: Target, memory: Memory, claims: Sequence[Claim]) -> Ending:
    return Ending(
        claim=target.claim,
        memory=memory.iri,
        by=claims[target.by].iri if target.by < len(claims) else None,
        at=target.at or memory.valid_at,
        reason=target.reason,
        mode=target.mode,
        rule=target.rule or None,
    )


def _follow(follows: Successor, claims: Sequence[Claim], understood: Understanding) -> Ending | None:
    """Return how something that is told late ends when what is known to have followed it began."""
    later = understood.retirable.get(follows.memory)
    if later is None:
        return None
    after = next((one for one in understood.held.get(later.iri, ()) if one.iri == follows.claim), None)
    return Ending(
        claim=claims[follows.of].iri if after else None,
        memory=later.iri,
        by=follows.claim,
        at=after.since if after else later.valid_at,
        reason=follows.reason,
        rule="history",
    )


def end_memory(
    old: Memory, held: Sequence[Held], endings: Sequence[Ending], graph: IRI, now: datetime
) -> tuple[Change, bool]:
    """
    Return the change that ends some claims of a memory, or all of it, and whether all of it is past.

    A memory ends with the last of what it claims. A correction may begin before what it corrects; an interval never ends before it
    begins.

    Args:
        held: the claims of the memory.
    """
    adds: list[Quad] = []
    removes: list[Quad] = []
    over = {one.iri: one.until for one in held if one.until is not None}
    whole = next((one for one in endings if one.claim is None), None)
    for known in held:
        ending = next((one for one in endings if one.claim == known.iri), whole)
        end = max(ending.at, old.valid_at, known.since) if ending else None
        if ending is None or end is None or (known.until is not None and known.until <= end):
            continue
        if ending.claim is not None and ending.by is not None:
            adds += _invalidate(ending.by, known.iri, ending, graph, now)
        adds.append((known.iri, MEM.invalidAt, end, graph))
        if known.until is not None:
            removes.append((known.iri, MEM.invalidAt, known.until, graph))
        over[known.iri] = end
    if not endings or (whole is None and not _is_past(old, held, over)):
        return Change(tuple(adds), tuple(removes)), False
    ending = whole or endings[-1]
    end = max(whole.at if whole else max(over.values()), old.valid_at)
    adds += _invalidate(ending.memory, old.iri, ending, graph, now)
    if ending.mode == "correction":
        adds.append((ending.memory, MEM.supersedes, old.iri, graph))
    adds.append((old.iri, MEM.invalidAt, end, graph))
    if old.invalid_at is not None:
        removes.append((old.iri, MEM.invalidAt, old.invalid_at, graph))
    return Change(tuple(adds), tuple(one for one in removes if one not in adds)), True


def _invalidate(newer: IRI, older: IRI, ending: Ending, graph: IRI, at: datetime) -> list[Quad]:
    """Return the quads of an invalidation, and of its shortcut."""
    invalidation = Invalidation(
        iri=mint("invalidation"),
        invalidator=newer,
        invalidated=older,
        reason=ending.reason,
        at=at,
        mode=ending.mode,
        rule=ending.rule,
    )
    return [*mapping.quads(invalidation, graph), mapping.invalidates(newer, older, graph)]


def _is_past(memory: Memory, held: Sequence[Held], over: Mapping[IRI, datetime]) -> bool:
    """Tell whether all that a memory claims is past: no claim is left that holds, and no words but those of ended claims matter."""
    left = [one for one in held if one.iri not in over]
    gone = [one.span for one in held if one.iri in over]
    inside = [any(start <= one.span[0] and one.span[1] <= end for start, end in gone) for one in left]
    if not all(inside):
        return False
    covered = sum(end - start for start, end in _merge_spans(gone))
    return covered >= _COVERED * len(memory.content.strip())


_COVERED = 0.6
"""The share of a memory's text that its ended claims cover when all of it is past."""


def _merge_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _flag_contradictions(memories: Sequence[tuple[Add | Invalidate, Memory]], understood: Understanding) -> list[Quad]:
    """Flag, in both directions, memories of the same instant that cannot be true together."""
    graph = understood.scope.graph
    return [
        quad
        for decision, memory in memories
        for old in dict.fromkeys(decision.contradicts)
        if old in understood.retirable
        for quad in ((memory.iri, MEM.contradicts, old, graph), (old, MEM.contradicts, memory.iri, graph))
    ]


def finish_run(
    understood: Understanding, state: StepState, generated: Sequence[IRI], reason: str | None = None
) -> Change:
    """Replace the waiting run by the finished one; nothing for a note that is kept without being understood."""
    task, account = understood.task, understood.account
    if task.keep:
        return Change()
    earlier, provenance = task.run, task.scope.provenance
    targets = [target for one in understood.decisions if isinstance(one, Invalidate) for target in one.targets]
    run = Consolidation(
        iri=earlier.iri if earlier else mint("consolidation"),
        note=task.note.iri,
        at=earlier.at if earlier else task.received,
        state=state,
        agent=understood.agent.iri,
        generated=tuple(generated),
        started_at=understood.began if account.calls else None,  # rules answer at once
        ended_at=understood.ended,
        rules=tuple(sorted({target.rule for target in targets if target.rule})),
        prompts=account.prompts,
        tokens=account.tokens or None,
        attempts=earlier.attempts if earlier else None,
        error=NotUnderstood.__name__ if understood.unread else earlier.error if earlier else None,
        reason=reason or (earlier.reason if earlier else None),
        isolated=earlier.isolated if earlier else None,
    )
    before = mapping.quads(earlier, provenance) if earlier else []
    return _replace_quads(before, [*mapping.quads(run, provenance), *mapping.quads(understood.agent, provenance)])


def _change_user_of(memories: Sequence[tuple[Add | Invalidate, Memory]], understood: Understanding) -> Change:
    name = next((d.draft.user_name for d, _ in memories if d.draft.user_name), None)
    description = understood.user_description
    is_met = any(understood.user.iri in memory.about for _, memory in memories)
    return change_user(
        understood.user,
        name,
        description,
        understood.longest_description,
        is_new=understood.user_is_new,
        is_met=is_met,
        scope=understood.scope,
    )


def _change_descriptions(about: Set[IRI], understood: Understanding) -> Change:
    # Only of what a memory is about: forgetting the memory then takes its words out of the description again.
    graph, most = understood.scope.graph, understood.longest_description
    better = {one.entity: one.description for one in understood.resolutions if one.entity and one.description}
    changed = {
        iri: (old, new)
        for iri, old in understood.described.items()
        if iri in better and iri in about and (new := cut_description(better[iri], most)) != old
    }
    return Change(
        tuple((iri, MEM.description, new, graph) for iri, (_, new) in changed.items()),
        tuple((iri, MEM.description, old, graph) for iri, (old, _) in changed.items() if old),
    )


def load_described(understood: Understanding, parts: Backends) -> Understanding:
    """Load the present descriptions that a model's better ones replace; entities of other graphs are left alone."""
    matched = [one.entity for one in understood.resolutions if one.entity and one.description]
    if understood.agent.kind != "model" or not matched:
        return understood
    known = parts.indexes.read(matched, [understood.scope.graph])
    return replace(
        understood, described={one.iri: one.first(MEM.description) for one in known if one.first(MEM.entityType)}
    )


def refresh_retirable(understood: Understanding, parts: Backends) -> Understanding:
    """
    Reload what a note retires or links, if anything was written meanwhile: memories that were retired, forgotten or erased are left
    alone, and an entity that was erased becomes a new one.
    """
    touched = {
        iri
        for decision in understood.decisions
        if not isinstance(decision, Skip)
        for iri in (
            *(target.memory for target in (decision.targets if isinstance(decision, Invalidate) else ())),
            *decision.contradicts,
            *(one.memory for one in decision.successors),
            *(rival.memory for rival in decision.rivals),
        )
        if iri in understood.retirable
    }
    named = {one.entity for one in understood.resolutions if one.entity}
    linked = named | {iri for pairs in understood.alike.values() for iri, _ in pairs}
    if understood.writes == parts.graph.writes or not (touched or linked):
        return understood
    statements = load_statements(touched | linked, understood.scope, parts)
    fresh = {
        iri: memory for iri in touched if iri in statements and (memory := node_or_none(Memory, iri, statements[iri]))
    }
    same = {
        iri: memory
        for iri, memory in fresh.items()
        if memory.expired_at is None and memory.invalid_at == understood.retirable[iri].invalid_at
    }
    return replace(
        understood,
        retirable=same,
        alike={
            text: [(iri, cosine) for iri, cosine in pairs if iri in statements]
            for text, pairs in understood.alike.items()
        },
        # Whoever was erased meanwhile begins anew under the same name.
        resolutions=[
            one if one.entity is None or one.entity in statements else replace(one, entity=None)
            for one in understood.resolutions
        ],
    )


def change_user(
    old: User, name: str | None, description: str | None, most: int, *, is_new: bool, is_met: bool, scope: Scope
) -> Change:
    """
    Build the change to the user; it is empty if nothing changes.

    Args:
        name, description: what the note gives, if it does.
        most: the longest description, in characters.
        is_new: the graph has no user yet.
        is_met: a memory of the note is about the user.
    """
    new_description = old.description if description is None else cut_description(description, most)
    fresh = User(iri=old.iri, name=name or old.name, description=new_description)
    is_needed = is_met or new_description != old.description
    if not is_needed or (fresh == old and not is_new):
        return Change()
    before = () if is_new else tuple(quads(old, scope.self_graph))
    after = tuple(quads(fresh, scope.self_graph))
    return Change(tuple(q for q in after if q not in before), tuple(q for q in before if q not in after))


def cut_description(description: str, most: int) -> str:
    """
    Cut a description to at most `most` characters, keeping its last sentences, which are the newest.

    >>> cut_description("USER grew up in Rome. USER works at Acme.", 25)
    'USER works at Acme.'
    """
    if len(description) <= most:
        return description
    end = description[-most:]
    sentence = end.find(". ")
    return (end[sentence + 2 :] if sentence >= 0 else end).strip()


def raise_if_invalid(change: Change, understood: Understanding) -> None:
    """
    Raise unless everything that the change writes conforms to the shapes.

    Nodes that it refers to, and claims that it closes, are included with their type, so that references can be checked; they
    are not checked themselves. A memory that the change closes is checked in its new form.

    Raises:
        ShapeViolation: something does not conform; the report has one line for each violation.
    """
    known = {one.iri for held in understood.held.values() for one in held}
    written = {subject for subject, _, _, _ in change.adds} - known
    violations = [one for one in shapes.violations(_collect_data(change, understood)) if one.focus in written]
    if violations:
        lines = [one.line for one in violations]
        raise ShapeViolation(f"{len(violations)} of the shapes are broken: {lines[0]}", "\n".join(lines))


def _collect_data(change: Change, understood: Understanding) -> list[Quad]:
    scope = understood.scope
    gone = set(change.removes)
    written = {subject for subject, _, _, _ in change.adds}
    closed = [memory for memory in understood.retirable.values() if memory.iri in written]
    old = [quad for memory in closed for quad in mapping.quads(memory, scope.graph) if quad not in gone]
    data = [*change.adds, *old, *understood.task.pending]
    typed = {subject for subject, predicate, _, _ in data if predicate == TYPE}
    kinds: Mapping[IRI, IRI] = {
        scope.user: MEM.User,
        **{r.entity: MEM.Entity for r in understood.resolutions if r.entity},
        **{anchor: MEM.Entity for memory in closed for anchor in memory.about},
        **{memory.extracted_from: MEM.Note for memory in closed},
        **{one.iri: MEM.Claim for held in understood.held.values() for one in held},
    }
    types = [(iri, TYPE, MEM.User if iri == scope.user else kind, scope.graph) for iri, kind in kinds.items()]
    return [*(quad for quad in data if quad not in gone), *(quad for quad in types if quad[0] not in typed)]
