"""
Which keys a question leads to, without a word of any memory: `recall` of the walk.

A key answers when the question spells it; a concept also when it means nearly the same, or when a memory that it leads to does.
What is named counts 1, all else its best cosine. A memory that is close and has no concept at all is reached by its names.

*Guarantees:* nothing is written; what comes back leads to one memory at least that the reader may see now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from memento.graph.store import Row, Store
from memento.iris import IRI, MEM, SKOS
from memento.keys.leads import Lead, Leads
from memento.keys.thresholds import Thresholds
from memento.model import FoundKey, Match
from memento.ports import Vectors
from memento.search.nearest import Values
from memento.search.nodes import Ids
from memento.search.words import tokens
from memento.settings import KeysSettings

_NEAR = 64  # keys, and memories, that the question is compared with
_READ = 4  # of the nearest memories, those whose texts are read for phrases
_MOST = 256  # memories of one key whose cosines are looked at, the latest
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)


@dataclass(slots=True)
class Candidate:
    """A key that may answer, and why."""

    lead: Lead
    spelt: str | None = None
    own: float = 0.0
    """Cosine of question and key."""
    content: float = 0.0
    """Best cosine of the question to a memory that the key leads to."""
    nearest: int | None = None
    """The memory that it is."""

    @property
    def relevance(self) -> float:
        return 1.0 if self.spelt is not None and self.lead.is_named else max(self.own, self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question to the key graph: its text and its vectors (w, d)."""

    text: str
    vectors: Vectors
    limits: Thresholds


@dataclass(slots=True)
class Matched:
    """What a question leads to: every candidate, and those near misses that may become names of their keys."""

    candidates: dict[IRI, Candidate] = field(default_factory=dict)
    missed: dict[IRI, float] = field(default_factory=dict)

    def of(self, lead: Lead) -> Candidate:
        return self.candidates.setdefault(lead.iri, Candidate(lead))


def matched(asked: Asked, leads: Leads, graph: Store, knobs: KeysSettings) -> Matched:
    """The keys that a question may lead to. Ask under `indexes.lock`."""
    found = Matched()
    _spelt(asked, leads, found)
    _meant(asked, leads, found, knobs.autokey_floor)
    nodes, cosines = leads.indexes.vectors["memory"].near(asked.vectors, _NEAR, leads.visible)
    for one in found.candidates.values():
        _compare(one, nodes, cosines, asked, leads)
    close = cosines >= asked.limits.content_recall
    _near(list(zip(nodes[close].tolist(), cosines[close].tolist(), strict=True)), leads, graph, found)
    return found


def chosen(found: Matched, leads: Leads, k: int) -> list[Candidate]:
    """The `k` best that lead somewhere, best first; of those that came by one memory alone only the first."""
    there = [one for one in found.candidates.values() if leads.shown(one.lead).size]
    counts = {one.lead.iri: len(leads.shown(one.lead)) for one in there}
    there.sort(key=lambda one: (-one.relevance, one.spelt is None, counts[one.lead.iri], one.lead.name))
    seen: set[int] = set()
    kept = []
    for one in there:
        if one.spelt is None and not one.own and one.nearest is not None:
            if one.nearest in seen:
                continue
            seen.add(one.nearest)
        kept.append(one)
    return kept[:k]


def shown(
    candidates: Sequence[Candidate], leads: Leads, called: Mapping[IRI, Sequence[str]], hub: int
) -> list[FoundKey]:
    """
    The rows that a reader is given.

    Args:
        called: the other names of keys, by key.
        hub: memories from which on a key is a hub.
    """
    return [_row(one, leads, called.get(one.lead.iri, ()), hub) for one in candidates]


def aliases(leads: Sequence[Lead], readable: Sequence[IRI], graph: Store) -> dict[IRI, list[str]]:
    """The names of keys beside their first, by key; those of what a key denotes are its own."""
    subjects: dict[IRI, IRI] = {lead.iri: lead.iri for lead in leads if lead.node is not None}
    subjects |= {lead.denotes: lead.iri for lead in leads if lead.denotes}
    if not subjects:
        return {}
    rows: list[Row] = graph.select("search/statements", readable, node=list(subjects))
    names = {lead.iri: lead.name for lead in leads}
    found: dict[IRI, list[str]] = {}
    for row in rows:
        if row["predicate"] in (MEM.name, SKOS.altLabel, MEM.alias):
            key, name = subjects[cast(IRI, row["node"])], str(row["value"])
            of = found.setdefault(key, [])
            if name not in (names[key], *of):
                of.append(name)
    return {key: sorted(of) for key, of in found.items()}


def specificity(count: int) -> float:
    """
    How much a key says of where it leads: one over the number of memories, 0 when there is none.

    >>> specificity(3), specificity(0)
    (0.333, 0.0)
    """
    return round(1 / count, 3) if count else 0.0


def _row(one: Candidate, leads: Leads, called: Sequence[str], hub: int) -> FoundKey:
    count = len(leads.shown(one.lead))
    match: Match = "semantic" if one.own >= one.content else "content"
    if one.spelt is not None:
        match = "concept" if tokens(one.spelt) == tokens(one.lead.name) else "alias"
    return FoundKey(
        key=one.lead.iri,
        name=one.lead.name,
        type=one.lead.type,
        score=round(min(max(one.relevance, 0.0), 1.0), 4),
        match=match,
        memory_count=count,
        is_hub=count >= hub,
        specificity=specificity(count),
        aliases=tuple(called),
        cluster=1 + len(called),
        denotes=one.lead.denotes,
    )


def _spelt(asked: Asked, leads: Leads, found: Matched) -> None:
    """What the question names, letter for letter."""
    for node, phrase in leads.spelt_in(asked.text).items():
        found.of(leads.of(node)).spelt = phrase
    for lead in leads.phrases_in(asked.text):
        one = found.of(lead)
        one.spelt = lead.name.casefold()
        one.own = _covered(lead.name, asked.text)
    if _FIRST_PERSON.search(asked.text) and (user := leads.user):
        found.of(user).own = asked.limits.key_recall  # "I" is in most questions and says little of what is asked


def _meant(asked: Asked, leads: Leads, found: Matched, floor: float) -> None:
    """Concepts that mean nearly the same as the question."""
    if not leads.concepts.any():
        return
    for kind in ("key", "anchor"):
        index = leads.indexes.vectors[kind]
        nodes, cosines = index.near(asked.vectors, _NEAR, leads.concepts)
        for node, cosine in zip(nodes.tolist(), cosines.tolist(), strict=True):
            if cosine >= asked.limits.key_recall:
                found.of(leads.of(node)).own = cosine
            elif cosine >= floor:
                found.missed[leads.of(node).iri] = cosine
    for one in found.candidates.values():
        if one.spelt is not None and not one.lead.is_named and one.lead.node is not None and not one.own:
            kind = leads.indexes.nodes.kind(one.lead.node)
            one.own = float(leads.indexes.vectors[kind].cosines([one.lead.node], asked.vectors)[0])


def _compare(one: Candidate, nodes: Ids, cosines: Values, asked: Asked, leads: Leads) -> None:
    """How near the question is to the memories that a key leads to; those that are nearest of all are known."""
    shown = leads.shown(one.lead)
    place = np.minimum(np.searchsorted(shown, nodes), max(len(shown) - 1, 0))
    among = shown[place] == nodes if shown.size else np.zeros(len(nodes), dtype=np.bool_)
    if among.any():
        one.content = float(cosines[among].max())
    elif shown.size:
        one.content = float(leads.indexes.vectors["memory"].cosines(shown[-_MOST:], asked.vectors).max())


def _near(near: Sequence[tuple[int, float]], leads: Leads, graph: Store, found: Matched) -> None:
    """Concepts that lead to a memory which means nearly the same as the question, best first; names where it has no concept."""
    bare = [node for node, _ in near if all(lead.is_named for lead, _ in leads.written_of(node).values())][:_READ]
    texts = texts_of(bare, leads, graph)
    for node, cosine in near:
        if node in texts:
            leading = [lead for lead, _ in leads.leads_of(node, *texts[node])]
        else:
            leading = [lead for lead, _ in leads.written_of(node).values()]
        concepts = [lead for lead in leading if not lead.is_named]
        for lead in concepts or [lead for lead in leading if lead.iri not in found.candidates][:1]:
            one = found.of(lead)
            if cosine > one.content:
                one.content, one.nearest = cosine, node


def texts_of(nodes: Sequence[int], leads: Leads, graph: Store) -> dict[int, tuple[str, str | None]]:
    """Content and title of some memories, by id."""
    if not nodes:
        return {}
    iris = {leads.indexes.nodes.iri(node): node for node in nodes}
    rows = graph.select("keys/texts", leads.graphs, memory=list(iris))
    return {
        iris[cast(IRI, row["memory"])]: (str(row["content"]), str(row["title"]) if "title" in row else None)
        for row in rows
    }


def _covered(phrase: str, question: str) -> float:
    """The share of a question's words that a phrase is; what stands for a cosine where nothing was embedded."""
    asked = tokens(question)
    return min(len(tokens(phrase)) / len(asked), 1.0) if asked else 0.0


def is_short(text: str) -> bool:
    """
    Whether a text is a label rather than a sentence: two words, or fifteen characters, at most.

    >>> is_short("vector store"), is_short("a b c"), is_short("what I said of the vector store")
    (True, True, False)
    """
    return len(text.split()) <= 2 or len(text.strip()) <= 15
