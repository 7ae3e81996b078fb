"""
Read memories that are in the graph already once more: what they claim, and why that did not end what was known.

*Guarantees:* the text of a memory is only read, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import cast

from memento.backends import Backends
from memento.consolidation.agents import USER, Agents, Draft, Mention
from memento.consolidation.context import find_existing, load_entities, load_statements
from memento.consolidation.passages import Passage, find_sentences
from memento.consolidation.rules import draft_passage, list_spared
from memento.graph.mapping import node_or_none
from memento.iris import IRI, parse_iri
from memento.model import Memory, Note, Scope, Spared
from memento.settings import ConsolidationSettings


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
    passage = Passage(text=text, start=0, end=len(text), sentences=find_sentences(text))
    draft = draft_passage(passage, mentions, note, zone, keeps_open=keeps_open)
    # What is known of the memory's times counts more than what its words say of them.
    return replace(draft, valid_at=memory.valid_at if memory.valid_at != note.at else draft.valid_at)


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
