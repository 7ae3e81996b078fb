"""
A text under keys that somebody gave it: one note, one memory, its keys and links, as one change; no model is asked.

What was remembered in these very words is read once more instead, which makes it deeper. What says nearly the same is superseded,
in its own namespace alone, unless names or numbers differ. What is alike and shares a key is flagged, unless it names others.

*Guarantees:* every version stays whole in the graph; a deep one keeps most of its depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from memento.backends import Backends
from memento.errors import InputError
from memento.graph.mapping import attribute_note, invalidates, quads
from memento.iris import IRI, MEM, link_iri, mint
from memento.keys.differ import NAME, NUMBER, differ
from memento.keys.given import sanitised, types_of
from memento.keys.leads import Lead, Leads
from memento.keys.settle import Settled, Settling
from memento.keys.thresholds import Thresholds
from memento.model import (
    Change,
    Effect,
    Invalidation,
    KeyLink,
    KeyType,
    Memory,
    Note,
    Quad,
    Read,
    Remembered,
    Scope,
    ToRemember,
)
from memento.ports import Vectors
from memento.rank import laws
from memento.search.found import REMEMBERED, content_hash
from memento.strength.reinforcement import Reinforcement

MOST_KEYS = 50
_MOST_LINKED = 20  # existing keys that are linked by themselves
_NEAR = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What writing under keys stands on. Use it under `indexes.lock`, as one of the writers."""

    scope: Scope
    leads: Leads
    parts: Backends
    used: Reinforcement
    limits: Thresholds
    now: datetime

    def settling(self) -> Settling:
        return Settling(self.leads, self.parts.embedder, self.parts.graph, self.scope.graph, self.limits, self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is to be written and told. `note` is None where nothing is new, `effects` is what is noted then."""

    change: Change
    told: Remembered
    note: Note | None = None
    effects: tuple[Effect, ...] = ()


def wanted(item: ToRemember) -> dict[str, KeyType]:
    """
    The keys of a text and their types; none when none were given, as it is then reached by its own names and nouns.

    Raises:
        InputError: none of those that were given can be used, or a type that is none.
    """
    if item.keys is None:
        return {}
    keys = types_of(sanitised(item.keys), item.types)
    if not keys:
        raise InputError("keys must have one text of two characters at least, as a name or a short phrase")
    if len(keys) > MOST_KEYS:
        raise InputError(f"a memory has {MOST_KEYS} keys at most, not {len(keys)}")
    return keys


def remembered(item: ToRemember, desk: Desk) -> Written:
    """
    What is to be written so that a text is remembered.

    Raises:
        InputError: no usable key, a key type that is none, or a time to live that is not above 0.
    """
    types = wanted(item)
    if item.ttl_s is not None and not 0 < item.ttl_s < timedelta.max.total_seconds():
        raise InputError(f"ttl must be a number of seconds above 0, not {item.ttl_s}")
    settled = desk.settling().settled(types)
    if same := _same(item.content, desk):
        return _repeated(same, settled, desk)
    vector = desk.parts.embedder.embed(desk.parts.embedder.windows(item.content))
    near = _alike(vector, desk)
    given = {one.lead.iri for one in settled}
    old = _nearly_the_same(item.content, near, desk)
    flagged = None if old is not None else _contradicted(item.content, near, given, desk)
    note = Note(iri=mint("note"), content=item.content, at=desk.now)
    memory = Memory(
        iri=mint("memory"),
        content=item.content,
        about=tuple(one.lead.denotes for one in settled if one.lead.denotes),
        extracted_from=note.iri,
        valid_at=desk.now,
        created_at=desk.now,
        content_hash=content_hash(item.content),
        expires_at=None if item.ttl_s is None else desk.now + timedelta(seconds=item.ttl_s),
        related_to=tuple(related(item.related_to, desk)),
    )
    graph = desk.scope.graph
    change = _memory(memory, item.source, desk.scope, note)
    if settled:
        change += Change(((memory.iri, MEM.source, REMEMBERED, graph),))
        change += linked(memory.iri, {one.lead: 1.0 for one in settled}, settled, desk)
        change += auto_linked(memory.iri, item.content, vector, given, desk)
    told = Remembered(saved=memory.iri, keys=tuple(one.lead.iri for one in settled), expires_at=memory.expires_at)
    if old is not None:
        iri = desk.parts.indexes.nodes.iri(old)
        is_conflict = any(desk.leads.weight(one.lead, old) is not None for one in settled if one.lead.node is not None)
        change += _superseding(memory, iri, desk) + weakened(iri, graph, desk)
        told = replace(told, superseded=iri, conflict=is_conflict, deduplicated=not is_conflict)
    if flagged is not None:
        change += contradiction(memory.iri, flagged, graph)
        told = replace(told, contradicts=(flagged,))
    return Written(change=change, told=told, note=note)


def linked(memory: IRI, weights: Mapping[Lead, float], settled: Sequence[Settled], desk: Desk) -> Change:
    """The links from keys to a memory, with what their keys still need to be written."""
    written = sum((one.written for one in settled), Change())
    adds: list[Quad] = []
    for lead, weight in weights.items():
        adds += desk.settling().key(lead)
        link = KeyLink(
            iri=link_iri(lead.iri, memory), key=lead.iri, memory=memory, weight=round(weight, 4), created_at=desk.now
        )
        adds += quads(link, desk.scope.graph)
    return written + Change(tuple(adds))


def auto_linked(memory: IRI, content: str, vector: Vectors, given: Iterable[IRI], desk: Desk) -> Change:
    """Links from the keys that were not given but fit: a concept by its cosine, which is the weight, a name where it stands."""
    weights: dict[Lead, float] = {}
    for node in desk.leads.spelt_in(content):
        lead = desk.leads.of(node)
        if lead.is_named and lead.denotes != desk.scope.user:
            weights[lead] = 1.0
    for kind in ("key", "anchor"):
        index = desk.parts.indexes.vectors[kind]
        nodes, cosines = index.near(vector, _MOST_LINKED, desk.leads.concepts)
        for node, cosine in zip(nodes.tolist(), cosines.tolist(), strict=True):
            if cosine >= desk.limits.auto_link:
                weights.setdefault(desk.leads.of(node), min(float(cosine), 1.0))
    given = set(given)
    return linked(memory, {lead: weight for lead, weight in weights.items() if lead.iri not in given}, (), desk)


def weakened(memory: IRI, graph: IRI, desk: Desk) -> Change:
    """What a memory that was corrected keeps of its depth. Write what is noted first."""
    depth = desk.used.strength(memory).depth
    if not depth:
        return Change()
    return Change(
        ((memory, MEM.depth, round(laws.correct_depth(depth), 9), graph),), ((memory, MEM.depth, depth, graph),)
    )


def contradiction(one: IRI, other: IRI, graph: IRI) -> Change:
    """The flag, in both directions."""
    return Change(((one, MEM.contradicts, other, graph), (other, MEM.contradicts, one, graph)))


def related(iris: Iterable[str], desk: Desk) -> list[IRI]:
    """The memories among some IRIs, each once; what does not exist is left out."""
    nodes = desk.parts.indexes.nodes
    found = (nodes.find(IRI(iri)) for iri in dict.fromkeys(iris) if isinstance(iri, str))
    return [nodes.iri(node) for node in found if node is not None and desk.leads.visible[node]]


def contradicted(
    content: str, vector: Vectors, given: Iterable[IRI], desk: Desk, but: Sequence[int] = ()
) -> IRI | None:
    """The memory most like a text that shares one of its keys, and is alike enough to contradict it; not one of `but`."""
    return _contradicted(content, [one for one in _alike(vector, desk) if one[0] not in but], given, desk)


def _memory(memory: Memory, source: str, scope: Scope, note: Note) -> Change:
    graph = scope.graph
    return Change(
        (
            *quads(note, graph),
            attribute_note(note.iri, scope.user, graph),
            (note.iri, MEM.source, source, graph),
            *quads(memory, graph),
        )
    )


def _same(content: str, desk: Desk) -> IRI | None:
    """The memory of the namespace that says exactly this, and holds."""
    rows = desk.parts.graph.select("keys/same", [desk.scope.graph], hash=content_hash(content))
    for row in rows:
        node = desk.parts.indexes.nodes.find(cast(IRI, row["memory"]))
        if node is not None and desk.leads.visible[node]:
            return cast(IRI, row["memory"])
    return None


def _repeated(memory: IRI, settled: Sequence[Settled], desk: Desk) -> Written:
    node = desk.parts.indexes.nodes.find(memory)
    assert node is not None
    new = {one.lead: 1.0 for one in settled if one.lead.node is None or desk.leads.weight(one.lead, node) is None}
    told = Remembered(saved=memory, repeated=True, keys=tuple(one.lead.iri for one in settled))
    read = Read(memory=memory, graph=desk.scope.graph, at=desk.now)
    needed = [one for one in settled if one.lead in new or one.written.removes]
    return Written(change=linked(memory, new, needed, desk), told=told, effects=(read,))


def _alike(vector: Vectors, desk: Desk) -> list[tuple[int, float]]:
    """The memories of the namespace itself that are most like a text, best first: (id, cosine)."""
    indexes = desk.parts.indexes
    own = desk.leads.visible & indexes.nodes.within([desk.scope.graph], "memory")
    nodes, cosines = indexes.vectors["memory"].near(vector, _NEAR, own)
    return list(zip(nodes.tolist(), cosines.tolist(), strict=True))


def _nearly_the_same(content: str, near: Sequence[tuple[int, float]], desk: Desk) -> int | None:
    """The memory that says nearly the same, and of the same."""
    for node, cosine in near:
        if cosine < desk.limits.dedup:
            break
        said = _text(node, desk)
        if not differ(NAME, said, content) and not differ(NUMBER, said, content):
            return node
    return None


def _contradicted(content: str, near: Sequence[tuple[int, float]], given: Iterable[IRI], desk: Desk) -> IRI | None:
    """The memory most like a text that has a key in common and may not be true beside it; what is said of others may."""
    given = set(given)
    for node, cosine in near:
        if cosine < desk.limits.contradiction:
            break
        keys = {desk.leads.of(key).iri for key in desk.parts.indexes.keys.links(node)}
        if keys & given and not (cosine >= desk.limits.dedup and differ(NAME, _text(node, desk), content)):
            return desk.parts.indexes.nodes.iri(node)
    return None


def _text(node: int, desk: Desk) -> str:
    rows = desk.parts.graph.select("keys/texts", [desk.scope.graph], memory=desk.parts.indexes.nodes.iri(node))
    return str(rows[0]["content"]) if rows else ""


def _superseding(new: Memory, old: IRI, desk: Desk) -> Change:
    graph = desk.scope.graph
    act = Invalidation(
        iri=mint("invalidation"),
        invalidator=new.iri,
        invalidated=old,
        reason=f"Said anew: {new.content.rstrip('.!')}",
        at=desk.now,
        mode="correction",
        rule="nearly-the-same",
    )
    return Change(
        (
            *quads(act, graph),
            invalidates(new.iri, old, graph),
            (new.iri, MEM.supersedes, old, graph),
            (old, MEM.invalidAt, desk.now, graph),
        )
    )
