"""
What leads to memories, for one reader at one moment: keys, entities, the user, and phrases that texts share.

An entity, and the user, is a key by itself; its `mem:Key` is written when there is something to say of it. A phrase leads between
memories that came without keys, unless a key or an entity goes by it. As long as no link is written, a memory hangs on its subject
with the weight 1, on what else it is about with a share of 1, and on what it only mentions with the least weight there is.

*But:* use it under `indexes.lock`: a write in between would make its masks stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memento.iris import IRI, key_iri, phrase_iri, phrase_of
from memento.keys.phrases import MENTIONED, Phrase, mentioning, phrases_of
from memento.model import KeyType, Scope
from memento.rank import laws
from memento.search.indexes import Indexes
from memento.search.links import Joined
from memento.search.links.names import label_of
from memento.search.nodes import Ids, Mask
from memento.search.words import tokens
from memento.settings import KeysSettings
from memento.strength.reinforcement import Reinforcement

Weights = NDArray[np.float64]

TELLING = 1 / 3
"""The weight from which on a memory is about something, rather than mentioning it among much else."""
_COMMON = 0.03
"""What more than this share of the memories mentions leads nowhere; as `search.links` has it."""
_MOST_PHRASES = 8  # of one memory
_FEW, _MANY = 50, 200  # memories that may mention a phrase, however few or many there are in all


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """Something that leads to memories. `node` is the id of the key or anchor, None where it is only a phrase."""

    iri: IRI
    name: str
    type: KeyType
    node: int | None = None
    denotes: IRI | None = None

    @property
    def is_named(self) -> bool:
        """Whether it is found by its spelling alone."""
        return self.type != "concept"


class Leads:
    """A reader's share of the key graph."""

    def __init__(self, indexes: Indexes, used: Reinforcement, scope: Scope, visible: Mask, knobs: KeysSettings) -> None:
        """
        Args:
            visible: (ids,) the memories that the reader may be led to.
        """
        self.indexes = indexes
        self.graphs = scope.memory_graphs
        self.visible = visible
        self._user = scope.user
        self._spelt_in = (*scope.memory_graphs, scope.self_graph)
        self._used = used
        self._knobs = knobs
        self._known: dict[IRI, tuple[Ids, Weights]] = {}
        self._shown: dict[IRI, Ids] = {}
        self._mentions: dict[str, Ids] = {}
        self._times: dict[str, int] = {}  # how many memories have a stem
        self._postings = indexes.words(self.graphs, "memory")
        self._common = min(max(_FEW, int(_COMMON * sum(map(len, self._postings)))), _MANY)
        self._joined = Joined([indexes.links[graph] for graph in self.graphs if graph in indexes.links])
        self._empty: Ids = np.zeros(0, dtype=np.int32)

    def is_inside(self, node: int) -> bool:
        """Whether a node is a memory of the readable graphs, whatever its time."""
        return bool(self.indexes.nodes.among(np.array([node]), self.graphs, "memory")[0])

    @cached_property
    def concepts(self) -> Mask:
        """(ids,) the readable keys and anchors that match by meaning."""
        nodes = self.indexes.nodes
        readable = nodes.within(self.graphs, "key") | nodes.within(self.graphs, "anchor")
        return readable & self.indexes.keys.concepts(nodes.size)

    def lead(self, iri: str) -> Lead | None:
        """What goes by an IRI: a key, an entity, the user, a phrase; None where the reader has no such thing."""
        if phrase := phrase_of(iri):
            return self.called(phrase) or self.worded(phrase) or self._phrase(Phrase.of(phrase))
        node = self.indexes.keys.id(IRI(iri), self.indexes.nodes)
        if node is None or self.indexes.nodes.graph(node) not in self._spelt_in:
            return None
        return self.of(node)

    def of(self, node: int) -> Lead:
        """A key or an anchor by its id."""
        iri, type = self.indexes.nodes.iri(node), self.indexes.keys.type(node) or "concept"
        name = self.indexes.name(iri) or iri
        if self.indexes.nodes.kind(node) == "key":
            return Lead(iri=iri, name=name, type=type, node=node)
        return Lead(iri=key_iri(iri), name=name, type=type, node=node, denotes=iri)

    @property
    def user(self) -> Lead | None:
        """The user, once something is known of them."""
        node = self.indexes.nodes.find(self._user)
        return None if node is None else self.of(node)

    def called(self, phrase: str, first: IRI | None = None) -> Lead | None:
        """The key or the anchor that goes by a phrase; of several the one in the graph `first`."""
        return self._first(self.indexes.keys.named(phrase, self._spelt_in, self.indexes.labels), first)

    def worded(self, phrase: str, first: IRI | None = None) -> Lead | None:
        """The concept that has the same words as a phrase but for their endings."""
        return self._first(self.indexes.keys.worded(phrase, self._spelt_in), first)

    def spelt_in(self, text: str) -> dict[int, str]:
        """The keys and anchors that a text names, by id, with the phrase that stands there."""
        return self.indexes.keys.find(text, self._spelt_in, self.indexes.labels)

    def phrases_in(self, text: str) -> list[Lead]:
        """The phrases of a text that lead to memories that came without keys, as far as no key or anchor goes by them."""
        if not self._knobs.phrases:
            return []
        found = (self._phrase(one) for one in phrases_of(text) if not self._is_taken(one.name))
        return [lead for lead in found if lead is not None]

    def memories(self, lead: Lead) -> tuple[Ids, Weights]:
        """Where a lead leads within the readable graphs, retired memories too, ascending, and the weights."""
        known = self._known.get(lead.iri)
        if known is None:
            known = self._known[lead.iri] = self._memories(lead)
        return known

    def shown(self, lead: Lead) -> Ids:
        """The memories that the reader may be led to by a lead, ascending."""
        found = self._shown.get(lead.iri)
        if found is None:
            known = self._known.get(lead.iri)
            nodes = self._reached(lead) if known is None else known[0]
            found = self._shown[lead.iri] = nodes[self.visible[nodes]] if nodes.size else nodes
        return found

    def rarity(self, lead: Lead, links: int | None = None) -> float:
        """How much a lead says of a memory that hangs on it, 0..1."""
        return laws.key_rarity(len(self.memories(lead)[0]) if links is None else links, lead.is_named)

    def written_of(self, memory: int) -> dict[IRI, tuple[Lead, float]]:
        """What the graph says leads to a memory, and how strongly, by key: what it is about, and links."""
        about = self._readable(self.indexes.adjacency.about(memory))
        share = float(self._shares(np.array([memory]))[0])
        found = {lead.iri: (lead, max(share, self._subject(lead, memory))) for lead in about}
        linked = self.indexes.keys.links(memory)
        return found | {lead.iri: (lead, linked[lead.node or 0]) for lead in self._readable(linked)}

    def leads_of(self, memory: int, content: str, title: str | None = None) -> list[tuple[Lead, float]]:
        """What leads to a memory, and how strongly, the heaviest first; phrases only where they lead elsewhere too."""
        found = self.written_of(memory)
        if self._knobs.phrases and not self.indexes.keys.given(np.array([memory]))[0]:
            for phrase in self._rarest(phrases_of(content, title)):
                lead = self.called(phrase.name) or self.worded(phrase.name) or self._phrase(phrase, least=2)
                if lead is not None:
                    found.setdefault(lead.iri, (lead, max(self._subject(lead, memory), MENTIONED)))
        iri = self.indexes.nodes.iri(memory)
        used = [(lead, self._used.weight(lead.iri, iri, weight)) for lead, weight in found.values()]
        return sorted(used, key=lambda one: -one[1])

    def is_telling(self, lead: Lead) -> bool:
        """Whether a lead ties memories together: one of them hangs on it by more than a mention among many."""
        _, weights = self.memories(lead)
        return bool(weights.size) and float(weights.max()) >= TELLING

    def weight(self, lead: Lead, memory: int) -> float | None:
        """The weight with which a lead leads to one memory; None when it does not."""
        nodes, weights = self.memories(lead)
        place = np.flatnonzero(nodes == memory)
        return float(weights[place[0]]) if place.size else None

    def _first(self, nodes: Sequence[int], graph: IRI | None) -> Lead | None:
        if not nodes:
            return None
        return self.of(next((node for node in nodes if self.indexes.nodes.graph(node) == graph), nodes[0]))

    def _memories(self, lead: Lead) -> tuple[Ids, Weights]:
        parts: list[tuple[Ids, Weights]] = []
        if self._knobs.phrases:
            mentioning = self._mentioning(lead.name)
            parts.append((mentioning, np.full(len(mentioning), MENTIONED)))
            parts += self._subjects(lead)
        if lead.node is not None and lead.denotes:
            about = self.indexes.adjacency.memories(lead.node)
            parts.append((about, self._shares(about)))
        linked = self.indexes.keys.led_to(lead.node) if lead.node is not None else (self._empty, np.zeros(0))
        nodes, weights = _heaviest(parts, linked)
        readable = self.indexes.nodes.among(nodes, self.graphs, "memory")
        if not readable.all():
            nodes, weights = nodes[readable], weights[readable]
        return nodes, self._used.weights(lead.iri, nodes, weights)

    def _reached(self, lead: Lead) -> Ids:
        """The memories of `_memories`, ascending, and perhaps some that are not readable: without the weights it is quicker."""
        mentioning = self._mentioning(lead.name) if self._knobs.phrases else self._empty
        parts = [nodes for nodes, _ in self._subjects(lead)] if self._knobs.phrases else []
        if lead.node is not None:
            parts.append(self.indexes.keys.led_to(lead.node)[0])
            if lead.denotes:
                parts.append(self.indexes.adjacency.memories(lead.node))
        return np.unique(np.concatenate([mentioning, *parts])) if any(some.size for some in parts) else mentioning

    def _shares(self, memories: Ids) -> Weights:
        """(n,) how much each of some memories is about any one of the things that it is about."""
        counts = self.indexes.adjacency.counts(memories)
        return np.asarray(np.maximum(1.0 / np.maximum(counts, 1), laws.LIGHTEST))

    def _subjects(self, lead: Lead) -> list[tuple[Ids, Weights]]:
        """The memories without keys of their own whose subject a lead is, and how surely."""
        found = []
        for entity in self._joined.name(label_of(lead.name)).entities:
            nodes, weights = entity.subjects()
            new = ~self.indexes.keys.given(nodes)
            found.append((nodes[new], np.maximum(weights[new].astype(np.float64), MENTIONED)))
        return found

    def _subject(self, lead: Lead, memory: int) -> float:
        """How surely a lead is the subject of a memory, 0 when it is not."""
        entities = self._joined.name(label_of(lead.name)).entities if self._knobs.phrases else []
        return max((entity.subject_of.get(memory, 0.0) for entity in entities), default=0.0)

    def _readable(self, nodes: Iterable[int]) -> list[Lead]:
        graph = self.indexes.nodes.graph
        return [self.of(node) for node in nodes if graph(node) in self._spelt_in]

    def _is_taken(self, phrase: str) -> bool:
        return self.called(phrase) is not None

    def _phrase(self, phrase: Phrase, least: int = 1) -> Lead | None:
        """A phrase as a lead, when at least so many memories mention it."""
        if len(self._mentioning(phrase.name)) < least:
            return None
        return Lead(iri=phrase_iri(phrase.name.casefold()), name=phrase.name, type=phrase.type)

    def _rarest(self, phrases: Sequence[Phrase]) -> list[Phrase]:
        """Those of some phrases that may lead elsewhere, the rarest first; no more than a walker looks at."""
        times = {phrase: self._frequency(phrase) for phrase in phrases}
        there = [phrase for phrase in phrases if 1 < times[phrase] <= self._common]
        return sorted(there, key=lambda phrase: (-phrase.weight, times[phrase]))[:_MOST_PHRASES]

    def _frequency(self, phrase: Phrase) -> int:
        """How many memories have the rarest word of a phrase."""
        return min(map(self._having, phrase.stems), default=0)

    def _having(self, stem: str) -> int:
        times = self._times.get(stem)
        if times is None:
            times = self._times[stem] = sum(some.frequency(stem) for some in self._postings)
        return times

    def _mentioning(self, phrase: str) -> Ids:
        """The memories without keys of their own that mention a phrase."""
        known = self._mentions.get(phrase)
        if known is None:
            known = mentioning(tokens(phrase), self._postings, self._common, self._having)
            known = self._mentions[phrase] = known[~self.indexes.keys.given(known)] if known.size else known
        return known


def _heaviest(parts: Sequence[tuple[Ids, Weights]], linked: tuple[Ids, Weights]) -> tuple[Ids, Weights]:
    """Each node once, ascending, with the weight of its link if it has one, else with its largest weight."""
    if sum(len(nodes) for nodes, _ in parts) + len(linked[0]) <= _FEW:  # most keys: quicker than arrays
        found: dict[int, float] = {}
        for nodes, weights in parts:
            for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                found[node] = max(found.get(node, 0.0), weight)
        found |= dict(zip(linked[0].tolist(), linked[1].tolist(), strict=True))
        ordered = sorted(found)
        return np.array(ordered, dtype=np.int32), np.array([found[node] for node in ordered], dtype=np.float64)
    nodes = np.concatenate([linked[0], *(some for some, _ in parts)])
    # A link counts before all else, however light it is.
    heavy = np.concatenate([linked[1] + 2 * laws.HEAVIEST, *(weights for _, weights in parts)])
    order = np.lexsort((-heavy, nodes))
    nodes, heavy = nodes[order], heavy[order]
    first = np.ones(len(nodes), dtype=np.bool_)
    first[1:] = nodes[1:] != nodes[:-1]
    nodes, heavy = nodes[first], heavy[first]
    return nodes, np.where(heavy > 2 * laws.HEAVIEST, heavy - 2 * laws.HEAVIEST, heavy)
