"""
Read memories that are in the graph already: what those of plain imports and of earlier versions claim, and why a memory did not end
what was known.

    a row is imported ── (pending) ── read_waiting ── its claims are written

A memory whose claims are still to be read is pending in its graph, so that another process goes on after a kill. Its
claims end nothing: nobody knows whether what came meanwhile is newer.

*Guarantees:* the text of a memory is only read, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Agents, Draft, Mention, NotUnderstood
from memento.consolidation.context import find_existing, load_contents, load_entities, load_statements
from memento.consolidation.passages import Passage, find_sentences
from memento.consolidation.pipeline import MOST_READ_CHARS
from memento.consolidation.rules import draft_passage, keep_if_failing, list_spared
from memento.consolidation.task import load_user
from memento.consolidation.write import make_claims
from memento.graph.mapping import node_or_none, quads
from memento.iris import IRI, MEM, namespace_of, parse_iri, tenant_of
from memento.model import Change, Claim, Memory, Note, Quad, Scope, Spared
from memento.settings import ConsolidationSettings
from memento.text.claims import parse_ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """A memory with its note, what its text claims, and the nodes that the names in its claims mean."""

    memory: Memory
    note: Note
    draft: Draft
    names: Mapping[str, IRI]


def reread_memories(
    iris: Sequence[IRI], scope: Scope, zone: tzinfo, parts: Backends, *, keeps_open: bool = False
) -> list[Reread]:
    """
    Read the claims of some memories that the scope can see and that are believed, in their order.

    Args:
        keeps_open: also those that are nobody's, because the words leave their owner open.
    """
    statements = load_statements(iris, scope, parts)
    memories = [memory for iri in iris if iri in statements and (memory := node_or_none(Memory, iri, statements[iri]))]
    memories = [memory for memory in memories if memory.expired_at is None]
    of_notes = load_statements({memory.extracted_from for memory in memories}, scope, parts)
    notes = {iri: note for iri, said in of_notes.items() if (note := node_or_none(Note, iri, said))}
    named = {iri for note in notes.values() for iri in note.mentions}
    named |= {iri for memory in memories for iri in (*memory.about, memory.said_by) if iri}
    entities = load_entities(named - {scope.user}, scope, parts)
    found: list[Reread] = []
    for memory in memories:
        if (note := notes.get(memory.extracted_from)) is None:
            continue
        meant = dict.fromkeys([*note.mentions, *memory.about, *([memory.said_by] if memory.said_by else [])])
        known = [entities[iri] for iri in meant if iri in entities]
        mentions = [Mention(name=one.name, kind=one.kind, aliases=one.aliases) for one in known]
        names: dict[str, IRI] = {USER: scope.user}
        for one in known:
            for name in (one.name, *one.aliases):
                names.setdefault(name, one.iri)
        draft = _draft_memory(memory, mentions, note, zone, keeps_open)
        if memory.said_by in entities:  # "I" is whoever said it
            speaker = entities[memory.said_by].name
            claims = tuple(replace(one, owner=speaker) if one.owner == USER else one for one in draft.claims)
            draft = replace(draft, claims=claims)
        found.append(Reread(memory=memory, note=note, draft=draft, names=names))
    return found


def _draft_memory(memory: Memory, mentions: Sequence[Mention], note: Note, zone: tzinfo, keeps_open: bool) -> Draft:
    text = memory.content
    if len(text) > MOST_READ_CHARS:
        return Draft(content=text, about=())
    passage = Passage(text=text, start=0, end=len(text), sentences=find_sentences(text))
    try:
        with keep_if_failing():
            draft = draft_passage(passage, mentions, note, zone, keeps_open=keeps_open)
    except NotUnderstood:
        return Draft(content=text, about=())
    # What is known of the memory's times counts more than what its words say of them.
    return replace(draft, valid_at=memory.valid_at if memory.valid_at != note.at else draft.valid_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A memory whose claims are still to be read."""

    memory: IRI
    graph: IRI

    @property
    def quad(self) -> Quad:
        """The statement that it waits."""
        return self.memory, MEM.state, "pending", self.graph


def list_unread(parts: Backends) -> list[Unread]:
    """List the next memories of all tenants whose claims are still to be read, the earliest first."""
    graphs = [graph for graph in parts.graph.graphs() if graph.startswith("urn:memento:graph:")]
    rows = parts.graph.select("consolidation/unread", graphs) if graphs else []
    return [Unread(memory=cast(IRI, row["memory"]), graph=cast(IRI, row["graph"])) for row in rows]


def count_unread(graphs: Sequence[IRI], parts: Backends) -> int:
    """Count the memories whose claims are still to be read in some graphs."""
    rows = parts.graph.select("consolidation/unread_count", graphs) if graphs else []
    return sum(int(str(row["count"])) for row in rows)


def read_unread(unread: Sequence[Unread], zone: tzinfo, parts: Backends) -> list[tuple[Scope, Change]]:
    """Read the claims of some memories; return for each graph the change that writes them and says that nothing waits any more."""
    changes: list[tuple[Scope, Change]] = []
    for graph in dict.fromkeys(one.graph for one in unread):
        waiting = [one for one in unread if one.graph == graph]
        scope, iris = Scope(tenant_of(graph), namespace_of(graph)), [one.memory for one in waiting]
        adds: list[Quad] = []
        parse_ahead([text for text in load_contents(iris, scope, parts).values() if len(text) <= MOST_READ_CHARS])
        for one in reread_memories(iris, scope, zone, parts):
            adds += [quad for claim in _claim_again(one) for quad in quads(claim, graph)]
        user, is_new = load_user(scope, parts)
        if is_new and any(value == scope.user for _, predicate, value, _ in adds if predicate == MEM.owner):
            adds += quads(user, scope.self_graph)  # rows that are kept as they are make no user
        changes.append((scope, Change(tuple(adds), tuple(one.quad for one in waiting))))
    return changes


def _claim_again(one: Reread) -> list[Claim]:
    """Return the claims of a memory, which end no later than it has ended."""
    end, began = one.memory.invalid_at, one.draft.valid_at or one.memory.valid_at
    claims = make_claims(one.draft, replace(one.memory, valid_at=began), one.names)
    if end is None:
        return claims
    return [replace(claim, invalid_at=max(claim.valid_at, min(claim.invalid_at or end, end))) for claim in claims]


def explain_spared(
    iri: str, scope: Scope, now: datetime, zone: tzinfo, rules: Agents, parts: Backends, knobs: ConsolidationSettings
) -> tuple[Spared, ...]:
    """Explain why a memory, or each memory of a note, did not end other claims that are known now; empty for any other node."""
    rows = parts.graph.select("library/memories_of", scope.readable, node=parse_iri(iri))
    found: list[Spared] = []
    for one in reread_memories([cast(IRI, row["memory"]) for row in rows[:_MOST]], scope, zone, parts, keeps_open=True):
        # A claim that is nobody's is compared with those of the user, to say that it is nobody's.
        asked = replace(
            one.draft, claims=tuple(replace(claim, owner=claim.owner or USER) for claim in one.draft.claims)
        )
        existing = find_existing([asked], one.names, [], rules, scope, now, parts, knobs)
        found += list_spared(one.draft, existing, one.note)
    return tuple(found)


_MOST = 50
"""The most memories of a note that are explained."""
