"""
What leads to memories, for one reader at one moment: keys, entities, the user, and phrases that texts share.

Entities and the user act as keys; their `mem:Key` is written when there is something to say about it. A phrase connects memories
that were saved without keys, unless a key or an entity has it as a name. Until a link is written, the subject of a memory leads to
it with weight 1, other things that it is about with a share of 1, and things that it only mentions with the smallest weight.

*But:* use it under `indexes.lock`: a write in between would make its masks stale.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.iris import IRI, key_iri, phrase_iri, phrase_of
from memento.model import KeyType, Scope
from memento.plugins.keys.settings import KeysSettings
from memento.search.indexes import Indexes
from memento.search.links import Joined
from memento.search.names import label_of, read_names
from memento.search.nodes import Ids, Mask
from memento.search.postings import Postings, tokens
from memento.search.spellings import fold_text
from memento.search.subjects import aliases
from memento.strength import Reinforcement
from memento.text.kinds import KIND_OF_NOUN
from memento.text.words import BASES, DETERMINERS, FUNCTION_WORDS, MODALS, PARTICIPLES, PAST, STOP_WORDS, WORDS

MENTIONED = rank.LIGHTEST
"""The weight of something that a text only mentions; that of its subject is 1."""

_LOOKED_UP = 8  # up to this many memories, each is checked for a word, instead of looking up the memories of the word
_MOST = 40  # phrases of one text that are examined
_NOUN = re.compile(r"[^\W\d_]{3,}(?:-[^\W\d_]+)*")
# Words that are not nouns, or that say nothing about a text.
_OTHER = STOP_WORDS | WORDS["untelling"]
_ENDINGS = ("ly", "ing", "ed", "est", "ous", "ful", "less", "able", "ible")
"""Endings of adverbs, of many adjectives and of most verb forms."""
_NOUNS = frozenset(
    re.findall(
        r"\w+",
        """
        ally anomaly apply arrest assembly basis bearing bed beginning belly bible bleed blessing bombing booking breast
        breed briefing building bully bus butterfly cable campus ceiling chest clothing coating conquest constable contest
        cooking creed crest crossing crucible cutting darling dealing deed digest doily dragonfly drawing dressing duckling
        dumpling earring embed ending engraving evening exam fable family feed feeling filing finding firefly fishing
        flooring fly folly forest gable gathering greed greeting guest gully handful harvest hatred hearing heating herring
        hiking hillbilly honest housing hundred icing inning inquest interest invest italy jelly jest july kindred king
        knitting landing layering learning lettering lighting lightning lily lining listing living mandible manifest
        marketing meaning meeting melancholy midwest monopoly moped morning mourning mouthful need nest newlywed northwest
        nothing offering opening outing packaging painting parking parsing pest pricing printing programming protest pudding
        quest railing ranking rating reading recording reed reply request rest ring roofing running sailing saving schooling
        seasoning seating seed serving setting sewing shed shipping shopping sibling sightseeing signing singing skiing sled
        sling southwest spacing speed spelling spring stable starling steed sterling stocking string stuffing supply surfing
        swimming swing syllable table tally teaching test thing timetable timing topping training tubing turntable tweed
        typing underbelly unrest upbringing variable vegetable vest viking warning washing wedding weed weighing welding
        west wing wiring wording writing yearling zest
        """,
    )
)
"""Nouns with such an ending."""
_SUBJECTS = frozenset(["i", "you", "he", "she", "it", "we", "they", "who", "this", "that", "there"])
_SLANG = frozenset(
    re.findall(
        r"\w+",
        """
        aren couldn didn doesn gonna gotta hadn hasn haven isn rocks shouldn suck sucked sucks wanna wasn weren wouldn
        """,
    )
)
_CONTRACTED = re.compile(r"['’]t\b")
_LETTER = re.compile(r"[^\W_]")
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """
    A phrase as the text spells it, how surely the text is about it (1 for its subject), and the form used for comparison.
    """

    name: str
    type: KeyType
    weight: float
    stems: tuple[str, ...]

    @classmethod
    def parse(cls, name: str, type: KeyType = "concept", weight: float = MENTIONED) -> Self:
        return cls(name, type, weight, tuple(tokens(name)))


def extract_phrases(content: str, title: str | None = None) -> list[Phrase]:
    """
    Return the phrases of a text, each once: its subject first, then names, then nouns in order.

    >>> [(one.name, one.type) for one in extract_phrases("Isaac Newton watched an apple fall from a tree.")]
    [('Isaac Newton', 'proper_noun'), ('apple', 'concept'), ('tree', 'concept')]
    """
    content = unicodedata.normalize("NFKC", content)
    found: dict[tuple[str, ...], Phrase] = {}
    for name, weight in aliases(content, title):
        _add_phrase(found, _subject_phrase(_spell(name, f"{title or ''} {content}"), weight))
    for label in sorted(read_names(content).spans, key=lambda label: _locate(label, content)):
        if not label.isdecimal():
            _add_phrase(found, Phrase.parse(_spell(label, content), "proper_noun"))
    for noun in extract_nouns(content):
        _add_phrase(found, Phrase.parse(noun))
    return list(found.values())[:_MOST]


def extract_nouns(text: str) -> list[str]:
    """
    Return the words of a text that may be nouns, lower-cased, each once, and pairs of neighbouring ones.

    >>> extract_nouns("She bakes sourdough bread on Sundays with her red oven.")
    ['sourdough', 'sourdough bread', 'bread', 'oven']
    >>> extract_nouns("My family has a table in that building, but it might break: the old one sucks and hasn't held.")
    ['family', 'table', 'building']
    """
    found: dict[str, None] = {}
    before = None
    for match in _NOUN.finditer(text):
        is_noun = _is_noun(match, text)
        word = match[0]
        if is_noun:
            found[word] = None
            if before and text[before.end() : match.start()] == " ":
                found.pop(word)
                found[f"{before[0]} {word}"] = None
                found[word] = None
        before = match if is_noun else None
    return list(found)


def _is_noun(match: re.Match[str], text: str) -> bool:
    """Tell whether a word may be a noun: judged by itself, by the previous word, and by what follows it."""
    word = match[0]
    if not word.islower() or word in _OTHER or word in _SLANG or word in MODALS or word in FUNCTION_WORDS:
        return False
    if _CONTRACTED.match(text, match.end()) or word in PAST or (word in PARTICIPLES and word not in BASES):
        return False
    leading = text[max(match.start() - 20, 0) : match.start()].split()
    last = leading[-1].casefold() if leading and text[match.start() - 1].isspace() else ""
    if last in _SUBJECTS or last in MODALS or (last == "to" and word in BASES):
        # "She bakes", "it might rain", "this sucks": a verb, unless the word can only be a noun.
        is_verb = word in BASES or word.removesuffix("s") in BASES or word.removesuffix("es") in BASES
        if is_verb or (last in _SUBJECTS - {"this", "that"} and word.endswith("s")):
            return False
    if not word.endswith(_ENDINGS) or word in _NOUNS or word in KIND_OF_NOUN or word.removesuffix("s") in KIND_OF_NOUN:
        return True
    # "The tiling.", "a handful of": after an article, and not before a word that it could modify.
    return last in DETERMINERS and not _DESCRIBED.match(text, match.end())


_DESCRIBED = re.compile(
    r"\s+(?!(?:of|in|on|at|for|with|and|or|is|was|are|were|has|had|to|from|that|which|who|by)\b)[^\W\d_]{3,}"
)


def find_mentions(
    stems: Sequence[str], postings: Sequence[Postings], most: int, having: Callable[[str], int] | None = None
) -> NDArray[np.int32]:
    """
    Return the memories that have all of some stems, ascending; none if more than `most` have the rarest of them.

    Args:
        having: how many memories have each stem, where that is known already.

    >>> words = Postings()
    >>> words.add(1, "green tea"); words.add(2, "black tea")
    >>> find_mentions(["tea"], [words], 9).tolist(), find_mentions(["black", "tea"], [words], 9).tolist()
    ([1, 2], [2])
    """
    counted = having or (lambda stem: sum(some.frequency(stem) for some in postings))
    times = {stem: counted(stem) for stem in dict.fromkeys(stems)}
    ordered = sorted(times, key=lambda stem: times[stem])
    if not ordered or not 0 < times[ordered[0]] <= most:
        return np.zeros(0, dtype=np.int32)
    nodes = np.sort(np.concatenate([some.nodes(ordered[0]) for some in postings]))
    for stem in ordered[1:]:
        if len(nodes) <= _LOOKED_UP:
            has = [any(some.has(stem, node) for some in postings) for node in nodes.tolist()]
            nodes = nodes[np.array(has, dtype=np.bool_)]
        else:
            has_it = np.zeros(int(nodes.max(initial=-1)) + 1, dtype=np.bool_)
            for others in (some.nodes(stem) for some in postings):
                has_it[others[others < len(has_it)]] = True
            nodes = nodes[has_it[nodes]]
    return nodes


def _add_phrase(found: dict[tuple[str, ...], Phrase], phrase: Phrase) -> None:
    stems = phrase.stems
    if stems and (stems not in found or found[stems].weight < phrase.weight):
        found[stems] = phrase


def _subject_phrase(name: str, weight: float) -> Phrase:
    """Return the phrase for a subject: a kind of thing if it is lower-case after an article, else a name."""
    bare = _ARTICLE.sub("", name)
    return Phrase.parse(bare, "concept", weight) if bare.islower() else Phrase.parse(name, "proper_noun", weight)


def _locate(label: str, text: str) -> int:
    match = _label_pattern(label).search(text)
    return match.start() if match else len(text)


def _spell(label: str, text: str) -> str:
    """Return a label as its text spells it."""
    match = _label_pattern(label_of(label) or label).search(text)
    return " ".join(match[0].split()) if match else label


def _label_pattern(label: str) -> re.Pattern[str]:
    # A character that stands alone in a label, as in "R & D", may also separate its words in the text.
    words = [word for word in label.split() if _LETTER.search(word)] or [label]
    return re.compile(r"[\W_]+".join(map(re.escape, words)), re.IGNORECASE)


Weights = NDArray[np.float64]

TELLING = 1 / 3
"""The weight from which on a memory is about something, rather than mentioning it among many things."""
_COMMON = 0.03
"""A phrase that more than this share of the memories mentions leads nowhere, as in `search.links`."""
_MOST_PHRASES = 8  # phrases of one memory
_FEW, _MANY = 50, 200  # lower and upper limit for the number of memories that may mention a phrase


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEntry:
    """
    Something that leads to memories. `node` is the id of the key or anchor, None for a mere phrase.

    `twin` is the id of the entity with the same name as a key: both count as one.
    """

    iri: IRI
    name: str
    type: KeyType
    node: int | None = None
    denotes: IRI | None = None
    twin: int | None = None

    @property
    def written(self) -> tuple[IRI, ...]:
        """Its nodes in the graph: the key, and what it denotes."""
        return (self.iri, *((self.denotes,) if self.denotes else ()))

    @property
    def is_named(self) -> bool:
        """Tell whether it is found by its spelling alone."""
        return self.type != "concept"


class KeyView:
    """The part of the key graph that a reader may see."""

    def __init__(
        self, indexes: Indexes, strengths: Reinforcement, scope: Scope, visible: Mask, settings: KeysSettings
    ) -> None:
        """
        Args:
            visible: (ids,) the memories that the reader may reach.
        """
        self.indexes = indexes
        self.graphs = scope.memory_graphs
        self.visible = visible
        self._user = scope.user
        self._named_in = (*scope.memory_graphs, scope.self_graph)
        self._strengths = strengths
        self._settings = settings
        self._entries: dict[int, KeyEntry] = {}
        self._known: dict[IRI, tuple[Ids, Weights]] = {}
        self._visible: dict[IRI, Ids] = {}
        self._mentions: dict[str, Ids] = {}
        self._times: dict[str, int] = {}  # how many memories have each stem
        self._postings = indexes.words(self.graphs, "memory")
        self._common = min(max(_FEW, int(_COMMON * sum(map(len, self._postings)))), _MANY)
        self._joined = Joined([indexes.links[graph] for graph in self.graphs if graph in indexes.links])
        self._empty: Ids = np.zeros(0, dtype=np.int32)

    def is_inside(self, node: int) -> bool:
        """Tell whether a node is a memory of the readable graphs, at any time."""
        return bool(self.indexes.nodes.among(np.array([node]), self.graphs, "memory")[0])

    @cached_property
    def concepts(self) -> Mask:
        """Return (ids,) the readable keys and anchors that match by meaning."""
        nodes = self.indexes.nodes
        readable = nodes.within(self.graphs, "key") | nodes.within(self.graphs, "anchor")
        return readable & self.indexes.keys.concepts(nodes.size)

    def find_entry(self, iri: str) -> KeyEntry | None:
        """Return the entry with an IRI: a key, an entity, the user or a phrase; None if the reader has none."""
        if phrase := phrase_of(iri):
            return self.find_named(phrase) or self.find_worded(phrase) or self._phrase_entry(Phrase.parse(phrase))
        node = self.indexes.keys.id(IRI(iri))
        if node is None or self.indexes.nodes.graph(node) not in self._named_in:
            return None
        return self.entry_of(node)

    def entry_of(self, node: int) -> KeyEntry:
        """Return the entry of a key or an anchor by id; a key and an entity with the same name give the same entry."""
        entry = self._entries.get(node)
        if entry is None:
            entry = self._entries[node] = self._make_entry(node)
        return entry

    def _make_entry(self, node: int) -> KeyEntry:
        iri, type = self.indexes.nodes.iri(node), self.indexes.keys.type(node) or "concept"
        name = self.indexes.name(iri) or iri
        is_key = self.indexes.nodes.kind(node) == "key"
        others = [] if iri == self._user else self._find_twins(name, "anchor" if is_key else "key")
        if others:
            key, anchor = (node, others[0]) if is_key else (others[0], node)
            own = self.indexes.keys.type(key) or "concept"
            return KeyEntry(
                iri=self.indexes.nodes.iri(key),
                name=self.indexes.name(self.indexes.nodes.iri(key)) or name,
                type=own if own != "concept" else self.indexes.keys.type(anchor) or own,
                node=key,
                denotes=self.indexes.nodes.iri(anchor),
                twin=anchor,
            )
        if is_key:
            return KeyEntry(iri=iri, name=name, type=type, node=node)
        return KeyEntry(iri=key_iri(iri), name=name, type=type, node=node, denotes=iri)

    def _find_twins(self, name: str, kind: str) -> list[int]:
        """Return the readable keys, or entities, whose first name is this."""
        nodes = self.indexes.nodes
        return [
            node
            for node in self.indexes.keys.find_exact(name, self.graphs, self.indexes.labels)
            if nodes.kind(node) == kind
            and nodes.iri(node) != self._user
            and fold_text(self.indexes.name(nodes.iri(node)) or "") == fold_text(name)
        ]

    @property
    def user_entry(self) -> KeyEntry | None:
        """Return the entry of the user, once anything is known about them."""
        node = self.indexes.nodes.find(self._user)
        return None if node is None else self.entry_of(node)

    def find_named(self, phrase: str, first: IRI | None = None) -> KeyEntry | None:
        """Return the key or anchor that has a phrase as a name; of several, the one in the graph `first`."""
        return self._pick_entry(self.indexes.keys.find_exact(phrase, self._named_in, self.indexes.labels), first)

    def find_worded(self, phrase: str, first: IRI | None = None) -> KeyEntry | None:
        """Return the concept that has the same words as a phrase, apart from their endings."""
        return self._pick_entry(self.indexes.keys.find_by_stems(phrase, self._named_in), first)

    def find_spelt(self, text: str) -> dict[int, str]:
        """Return the keys and anchors that a text names, by id, with the matching phrase."""
        return self.indexes.keys.find_in_text(text, self._named_in, self.indexes.labels)

    def find_phrases(self, text: str) -> list[KeyEntry]:
        """Return the phrases of a text that lead to memories saved without keys, except those that are names of keys or anchors."""
        if not self._settings.phrases:
            return []
        found = (self._phrase_entry(one) for one in extract_phrases(text) if not self._is_taken(one.name))
        return [entry for entry in found if entry is not None]

    def weigh_memories(self, entry: KeyEntry) -> tuple[Ids, Weights]:
        """Return the memories of the readable graphs that an entry leads to, retired ones too, ascending, and the weights."""
        known = self._known.get(entry.iri)
        if known is None:
            known = self._known[entry.iri] = self._collect_memories(entry)
        return known

    def list_visible(self, entry: KeyEntry) -> Ids:
        """Return the memories that the reader may reach from an entry, ascending."""
        found = self._visible.get(entry.iri)
        if found is None:
            known = self._known.get(entry.iri)
            nodes = self._reach_memories(entry) if known is None else known[0]
            found = self._visible[entry.iri] = nodes[self.visible[nodes]] if nodes.size else nodes
        return found

    def rarity(self, entry: KeyEntry, links: int | None = None) -> float:
        """Return how much an entry says about a memory that it leads to, 0..1."""
        return rank.key_rarity(len(self.weigh_memories(entry)[0]) if links is None else links, entry.is_named)

    def list_written(self, memory: int) -> dict[IRI, tuple[KeyEntry, float]]:
        """Return the keys that the graph links to a memory, with weights: what it is about, and explicit links."""
        about = self._list_readable(self.indexes.adjacency.about(memory))
        share = float(self._share_weights(np.array([memory]))[0])
        found = {entry.iri: (entry, max(share, self._subject(entry, memory))) for entry in about}
        linked = self.indexes.keys.links(memory)
        for node in self._readable_nodes(linked):  # if a key and an entity are one, the key's link counts
            entry = self.entry_of(node)
            if entry.node == node or entry.node not in linked:
                found[entry.iri] = (entry, linked[node])
        return found

    def list_entries(self, memory: int, content: str, title: str | None = None) -> list[tuple[KeyEntry, float]]:
        """Return what leads to a memory, with weights, the heaviest first; phrases only if they also lead to other memories."""
        found = self.list_written(memory)
        if self._settings.phrases and not self.indexes.keys.have_given_keys(np.array([memory]))[0]:
            for phrase in self._pick_rarest(extract_phrases(content, title)):
                entry = (
                    self.find_named(phrase.name) or self.find_worded(phrase.name) or self._phrase_entry(phrase, least=2)
                )
                if entry is not None:
                    found.setdefault(entry.iri, (entry, max(self._subject(entry, memory), MENTIONED)))
        iri = self.indexes.nodes.iri(memory)
        strengths = [(entry, self._strengths.weight(entry.iri, iri, weight)) for entry, weight in found.values()]
        return sorted(strengths, key=lambda one: -one[1])

    def is_telling(self, entry: KeyEntry) -> bool:
        """Tell whether an entry connects memories: it leads to one of them by more than a mention among many."""
        _, weights = self.weigh_memories(entry)
        return bool(weights.size) and float(weights.max()) >= TELLING

    def weight_of(self, entry: KeyEntry, memory: int) -> float | None:
        """Return the weight with which an entry leads to one memory; None if it does not."""
        nodes, weights = self.weigh_memories(entry)
        place = np.flatnonzero(nodes == memory)
        return float(weights[place[0]]) if place.size else None

    def _pick_entry(self, nodes: Sequence[int], graph: IRI | None) -> KeyEntry | None:
        if not nodes:
            return None
        return self.entry_of(next((node for node in nodes if self.indexes.nodes.graph(node) == graph), nodes[0]))

    def _collect_memories(self, entry: KeyEntry) -> tuple[Ids, Weights]:
        parts: list[tuple[Ids, Weights]] = []
        if self._settings.phrases:
            mentions = self._find_mentions(entry.name)
            parts.append((mentions, np.full(len(mentions), MENTIONED)))
            parts += self._list_subjects(entry)
        if (anchor := self._anchor_of(entry)) is not None:
            about = self.indexes.adjacency.memories(anchor)
            parts.append((about, self._share_weights(about)))
        linked = self.indexes.keys.led_to(entry.node) if entry.node is not None else (self._empty, np.zeros(0))
        if entry.twin is not None:
            parts.append(self.indexes.keys.led_to(entry.twin))
        nodes, weights = _keep_heaviest(parts, linked)
        readable = self.indexes.nodes.among(nodes, self.graphs, "memory")
        if not readable.all():
            nodes, weights = nodes[readable], weights[readable]
        return nodes, self._strengths.weights(entry.iri, nodes, weights)

    def _reach_memories(self, entry: KeyEntry) -> Ids:
        """
        Return the memories of `_memories`, ascending, and perhaps some unreadable ones; it is quicker because it computes no
        weights.
        """
        mentions = self._find_mentions(entry.name) if self._settings.phrases else self._empty
        parts = [nodes for nodes, _ in self._list_subjects(entry)] if self._settings.phrases else []
        if entry.node is not None:
            parts.append(self.indexes.keys.led_to(entry.node)[0])
            if entry.twin is not None:
                parts.append(self.indexes.keys.led_to(entry.twin)[0])
            if (anchor := self._anchor_of(entry)) is not None:
                parts.append(self.indexes.adjacency.memories(anchor))
        return np.unique(np.concatenate([mentions, *parts])) if any(some.size for some in parts) else mentions

    def _anchor_of(self, entry: KeyEntry) -> int | None:
        """Return the id of the entity or the user that an entry represents."""
        return entry.twin if entry.twin is not None else entry.node if entry.denotes else None

    def _share_weights(self, memories: Ids) -> Weights:
        """Return (n,) the weight of one subject of each memory: a share of 1 among the things that the memory is about."""
        counts = self.indexes.adjacency.counts(memories)
        return np.asarray(np.maximum(1.0 / np.maximum(counts, 1), rank.LIGHTEST))

    def _list_subjects(self, entry: KeyEntry) -> list[tuple[Ids, Weights]]:
        """Return the memories without given keys whose subject an entry is, and how surely."""
        found = []
        for entity in self._joined.name(label_of(entry.name)).entities:
            nodes, weights = entity.subjects()
            new = ~self.indexes.keys.have_given_keys(nodes)
            found.append((nodes[new], np.maximum(weights[new].astype(np.float64), MENTIONED)))
        return found

    def _subject(self, entry: KeyEntry, memory: int) -> float:
        """Return how surely an entry is the subject of a memory, 0 when it is not."""
        entities = self._joined.name(label_of(entry.name)).entities if self._settings.phrases else []
        return max((entity.subject_of.get(memory, 0.0) for entity in entities), default=0.0)

    def _list_readable(self, nodes: Iterable[int]) -> list[KeyEntry]:
        return [self.entry_of(node) for node in self._readable_nodes(nodes)]

    def _readable_nodes(self, nodes: Iterable[int]) -> list[int]:
        graph = self.indexes.nodes.graph
        return [node for node in nodes if graph(node) in self._named_in]

    def _is_taken(self, phrase: str) -> bool:
        return self.find_named(phrase) is not None

    def _phrase_entry(self, phrase: Phrase, least: int = 1) -> KeyEntry | None:
        """Return a phrase as an entry, if at least `least` memories mention it."""
        if len(self._find_mentions(phrase.name)) < least:
            return None
        return KeyEntry(iri=phrase_iri(phrase.name.casefold()), name=phrase.name, type=phrase.type)

    def _pick_rarest(self, phrases: Sequence[Phrase]) -> list[Phrase]:
        """Return the phrases that may lead to other memories, the rarest first; no more than a reader looks at."""
        times = {phrase: self._count_rarest(phrase) for phrase in phrases}
        there = [phrase for phrase in phrases if 1 < times[phrase] <= self._common]
        return sorted(there, key=lambda phrase: (-phrase.weight, times[phrase]))[:_MOST_PHRASES]

    def _count_rarest(self, phrase: Phrase) -> int:
        """Return the number of memories with the rarest word of a phrase."""
        return min(map(self._count_stem, phrase.stems), default=0)

    def _count_stem(self, stem: str) -> int:
        times = self._times.get(stem)
        if times is None:
            times = self._times[stem] = sum(some.frequency(stem) for some in self._postings)
        return times

    def _find_mentions(self, phrase: str) -> Ids:
        """Return the memories without given keys that mention a phrase."""
        known = self._mentions.get(phrase)
        if known is None:
            known = find_mentions(tokens(phrase), self._postings, self._common, self._count_stem)
            known = self._mentions[phrase] = known[~self.indexes.keys.have_given_keys(known)] if known.size else known
        return known


def _keep_heaviest(parts: Sequence[tuple[Ids, Weights]], linked: tuple[Ids, Weights]) -> tuple[Ids, Weights]:
    """Return each node once, ascending, with the weight of its link if it has one, else with its largest weight."""
    if sum(len(nodes) for nodes, _ in parts) + len(linked[0]) <= _FEW:  # true of most keys: quicker than arrays
        found: dict[int, float] = {}
        for nodes, weights in parts:
            for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                found[node] = max(found.get(node, 0.0), weight)
        found |= dict(zip(linked[0].tolist(), linked[1].tolist(), strict=True))
        ordered = sorted(found)
        return np.array(ordered, dtype=np.int32), np.array([found[node] for node in ordered], dtype=np.float64)
    nodes = np.concatenate([linked[0], *(some for some, _ in parts)])
    # A link takes precedence, however light it is.
    heavy = np.concatenate([linked[1] + 2 * rank.HEAVIEST, *(weights for _, weights in parts)])
    order = np.lexsort((-heavy, nodes))
    nodes, heavy = nodes[order], heavy[order]
    first = np.ones(len(nodes), dtype=np.bool_)
    first[1:] = nodes[1:] != nodes[:-1]
    nodes, heavy = nodes[first], heavy[first]
    return nodes, np.where(heavy > 2 * rank.HEAVIEST, heavy - 2 * rank.HEAVIEST, heavy)
