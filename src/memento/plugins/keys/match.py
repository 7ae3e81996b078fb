"""
Find the keys that a question leads to, without reading out any memory: `find_keys` of the walk.

A key matches when the question contains its spelling; a concept also when its meaning, or a memory that it leads to, is near the
question. A named key scores 1, any other its best cosine. In direct recall, a memory that is near and has no concept at all is
reached by its names.

*Guarantees:* nothing is written; every returned key leads to at least one memory that the reader may see now.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from memento.graph.store import Row, Store
from memento.iris import IRI, MEM, SKOS
from memento.plugins.keys.nouns import FoundKey, Match
from memento.plugins.keys.settings import KeysSettings
from memento.plugins.keys.view import KeyEntry, KeyView
from memento.ports import Vectors
from memento.search.nearest import Values
from memento.search.nodes import Ids
from memento.search.postings import tokens

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Cosines; the settings of the same names describe what each decides."""

    key_recall: float
    content_recall: float
    auto_link: float
    merge: float
    short_merge: float
    dedup: float
    min_score: float
    contradiction: float


def _thresholds(*values: float) -> Thresholds:
    return Thresholds(**dict(zip((item.name for item in fields(Thresholds)), values, strict=True)))


BGE = "bge"
CALIBRATED: dict[str, tuple[re.Pattern[str], Thresholds]] = {
    # key, content, link, merge, short, dedup, least, contradiction
    "openai": (
        re.compile(r"text-embedding-(?:3|ada)"),
        _thresholds(0.28, 0.28, 0.50, 0.85, 0.90, 0.90, 0.28, 0.85),
    ),
    "bge-m3": (re.compile(r"bge-?_?m3"), _thresholds(0.62, 0.55, 0.62, 0.86, 0.90, 0.94, 0.55, 0.80)),
    BGE: (re.compile(r"bge"), _thresholds(0.60, 0.50, 0.60, 0.85, 0.90, 0.90, 0.50, 0.85)),
    "e5": (re.compile(r"\be5\b|_e5|e5[-_]"), _thresholds(0.85, 0.80, 0.93, 0.97, 0.98, 0.985, 0.80, 0.95)),
    "minilm": (re.compile(r"minilm"), _thresholds(0.50, 0.45, 0.60, 0.85, 0.90, 0.90, 0.45, 0.85)),
    "trigram": (re.compile(r"^trigram"), _thresholds(0.50, 0.45, 0.60, 0.85, 0.90, 0.90, 0.45, 0.70)),
}
"""By family: the pattern of its models' names (the first match counts), and its thresholds."""

_MODEL = re.compile(r"^(?:openai-compatible|openai|google|cohere|mistral|ollama|folder)-(.+?)-\d{2,5}-")
"""The model's name in the fingerprint of a service or a folder; provider and location do not affect the cosines."""

_warned: set[str] = set()


def find_family(fingerprint: str) -> str | None:
    """
    Return the family of an embedder by its fingerprint; None when it is not calibrated.

    >>> find_family("all-MiniLM-L6-v2-512-53aa51172d14"), find_family("ollama-bge-m3-1024-localhost-1a2b"), find_family("x-1")
    ('minilm', 'bge-m3', None)
    >>> find_family("openai-compatible-nomic-embed-text-768-bge.local-1a2b")
    """
    named = _MODEL.match(fingerprint.lower())
    model = named[1] if named else fingerprint.lower()
    return next((name for name, (like, _) in CALIBRATED.items() if like.search(model)), None)


def choose_thresholds(fingerprint: str, settings: KeysSettings) -> Thresholds:
    """
    Return the effective thresholds: those of the settings override those of the family.

    >>> choose_thresholds("trigram-256", KeysSettings(merge=0.7)).merge
    0.7
    """
    name = find_family(fingerprint)
    if name is None and fingerprint not in _warned:
        _warned.add(fingerprint)
        logger.warning("keys.not-calibrated", extra={"embedder": fingerprint, "instead": BGE})
    found = CALIBRATED[name or BGE][1]
    given = {item.name: getattr(settings, item.name) for item in fields(Thresholds)}
    return replace(found, **{key: value for key, value in given.items() if value is not None})


_NEAR = 64  # keys, and memories, that the question is compared with
_READ = 4  # of the nearest memories, the number whose texts are searched for phrases
_MOST = 256  # memories of one key whose cosines are computed, the latest
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)


@dataclass(slots=True)
class Candidate:
    """A key that may match, and the reason."""

    entry: KeyEntry
    spelt: str | None = None
    own: float = 0.0
    """Cosine between question and key."""
    content: float = 0.0
    """Best cosine between the question and a memory of the key."""
    nearest: int | None = None
    """The memory with that cosine."""

    @property
    def relevance(self) -> float:
        return 1.0 if self.spelt is not None and self.entry.is_named else max(self.own, self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyQuery:
    """A question to the key graph: its text and its vectors (w, d)."""

    text: str
    vectors: Vectors
    limits: Thresholds


@dataclass(slots=True)
class Matches:
    """The result for a question: every candidate, and the near misses that may become names of their keys."""

    candidates: dict[IRI, Candidate] = field(default_factory=dict)
    missed: dict[IRI, float] = field(default_factory=dict)

    def candidate_of(self, entry: KeyEntry) -> Candidate:
        return self.candidates.setdefault(entry.iri, Candidate(entry))


def match_keys(query: KeyQuery, view: KeyView, graph: Store, settings: KeysSettings) -> Matches:
    """Return the keys that a question may lead to. Call it under `indexes.lock`."""
    found = Matches()
    _match_spelling(query, view, found)
    _match_meaning(query, view, found, settings.autokey_floor)
    nodes, cosines = view.indexes.vectors["memory"].near(query.vectors, _NEAR, view.visible)
    for one in found.candidates.values():
        _compare_memories(one, nodes, cosines, query, view)
    close = cosines >= query.limits.content_recall
    _match_memories(list(zip(nodes[close].tolist(), cosines[close].tolist(), strict=True)), view, graph, found)
    return found


def pick_best(found: Matches, view: KeyView, k: int) -> list[Candidate]:
    """Return the `k` best candidates that lead somewhere, best first; of those found through the same memory, only the first."""
    there = [
        one
        for one in found.candidates.values()
        if (one.spelt is not None or one.own or not one.entry.is_named) and view.list_visible(one.entry).size
    ]
    counts = {one.entry.iri: len(view.list_visible(one.entry)) for one in there}
    there.sort(key=lambda one: (-one.relevance, one.spelt is None, counts[one.entry.iri], one.entry.name))
    seen: set[int] = set()
    kept = []
    for one in there:
        if one.spelt is None and not one.own and one.nearest is not None:
            if one.nearest in seen:
                continue
            seen.add(one.nearest)
        kept.append(one)
    return kept[:k]


def describe_keys(
    candidates: Sequence[Candidate], view: KeyView, aliases: Mapping[IRI, Sequence[str]], hub: int
) -> list[FoundKey]:
    """
    Return the rows to show to a reader.

    Args:
        aliases: the other names of each key.
        hub: number of memories from which on a key is a hub.
    """
    return [_describe_key(one, view, aliases.get(one.entry.iri, ()), hub) for one in candidates]


def list_aliases(entries: Sequence[KeyEntry], readable: Sequence[IRI], graph: Store) -> dict[IRI, list[str]]:
    """Return the names of each key besides its first one; the names of an entity that a key denotes are the key's names too."""
    subjects: dict[IRI, IRI] = {entry.iri: entry.iri for entry in entries if entry.node is not None}
    subjects |= {entry.denotes: entry.iri for entry in entries if entry.denotes}
    if not subjects:
        return {}
    rows: list[Row] = graph.select("search/statements", readable, node=list(subjects))
    names = {entry.iri: entry.name for entry in entries}
    found: dict[IRI, list[str]] = {}
    for row in rows:
        if row["predicate"] in (MEM.name, SKOS.altLabel, MEM.alias):
            key, name = subjects[row["node"]], str(row["value"])
            of = found.setdefault(key, [])
            if name not in (names[key], *of):
                of.append(name)
    return {key: sorted(of) for key, of in found.items()}


def compute_specificity(count: int) -> float:
    """
    Return how specific a key is: one over its number of memories, 0 when there are none.

    >>> compute_specificity(3), compute_specificity(0)
    (0.333, 0.0)
    """
    return round(1 / count, 3) if count else 0.0


def _describe_key(one: Candidate, view: KeyView, aliases: Sequence[str], hub: int) -> FoundKey:
    count = len(view.list_visible(one.entry))
    match: Match = "semantic" if one.own >= one.content else "content"
    if one.spelt is not None:
        match = "concept" if tokens(one.spelt) == tokens(one.entry.name) else "alias"
    return FoundKey(
        key=one.entry.iri,
        name=one.entry.name,
        type=one.entry.type,
        score=round(min(max(one.relevance, 0.0), 1.0), 4),
        match=match,
        memory_count=count,
        is_hub=count >= hub,
        specificity=compute_specificity(count),
        aliases=tuple(aliases),
        cluster=1 + len(aliases),
        denotes=one.entry.denotes,
    )


def _match_spelling(query: KeyQuery, view: KeyView, found: Matches) -> None:
    """Add the keys that the question names literally."""
    for node, phrase in view.find_spelt(query.text).items():
        found.candidate_of(view.entry_of(node)).spelt = phrase
    for entry in view.find_phrases(query.text):
        one = found.candidate_of(entry)
        one.spelt = entry.name.casefold()
        one.own = _share_of(entry.name, query.text)
    if _FIRST_PERSON.search(query.text) and (user := view.user_entry):
        # "I" occurs in most questions and says little about the topic.
        found.candidate_of(user).own = query.limits.key_recall


def _match_meaning(query: KeyQuery, view: KeyView, found: Matches, floor: float) -> None:
    """Add the concepts whose meaning is near the question."""
    if not view.concepts.any():
        return
    for kind in ("key", "anchor"):
        index = view.indexes.vectors[kind]
        nodes, cosines = index.near(query.vectors, _NEAR, view.concepts)
        for node, cosine in zip(nodes.tolist(), cosines.tolist(), strict=True):
            entry = view.entry_of(node)
            if entry.is_named:  # a key merged with an entity, which is found by its name alone
                continue
            if cosine >= query.limits.key_recall:
                found.candidate_of(entry).own = cosine
            elif cosine >= floor:
                found.missed[entry.iri] = cosine
    for one in found.candidates.values():
        if one.spelt is not None and not one.entry.is_named and one.entry.node is not None and not one.own:
            kind = view.indexes.nodes.kind(one.entry.node)
            one.own = float(view.indexes.vectors[kind].cosines([one.entry.node], query.vectors)[0])


def _compare_memories(one: Candidate, nodes: Ids, cosines: Values, query: KeyQuery, view: KeyView) -> None:
    """Set how near the question is to the memories of a key; the nearest memories of all are known already."""
    shown = view.list_visible(one.entry)
    place = np.minimum(np.searchsorted(shown, nodes), max(len(shown) - 1, 0))
    among = shown[place] == nodes if shown.size else np.zeros(len(nodes), dtype=np.bool_)
    if among.any():
        one.content = float(cosines[among].max())
    elif shown.size:
        one.content = float(view.indexes.vectors["memory"].cosines(shown[-_MOST:], query.vectors).max())


def _match_memories(near: Sequence[tuple[int, float]], view: KeyView, graph: Store, found: Matches) -> None:
    """Add the concepts of memories near the question, best first; where a memory has no concept, add its names."""
    bare = [node for node, _ in near if all(entry.is_named for entry, _ in view.list_written(node).values())][:_READ]
    texts = read_texts(bare, view, graph)
    for node, cosine in near:
        if node in texts:
            leading = [entry for entry, _ in view.list_entries(node, *texts[node])]
        else:
            leading = [entry for entry, _ in view.list_written(node).values()]
        concepts = [entry for entry in leading if not entry.is_named]
        for entry in concepts or [entry for entry in leading if entry.iri not in found.candidates][:1]:
            one = found.candidate_of(entry)
            if cosine > one.content:
                one.content, one.nearest = cosine, node


def read_texts(nodes: Sequence[int], view: KeyView, graph: Store) -> dict[int, tuple[str, str | None]]:
    """Return the content and title of some memories, by id."""
    if not nodes:
        return {}
    iris = {view.indexes.nodes.iri(node): node for node in nodes}
    rows = graph.select("search/texts", view.graphs, memory=list(iris))
    return {iris[row["memory"]]: (str(row["content"]), str(row["title"]) if "title" in row else None) for row in rows}


def _share_of(phrase: str, question: str) -> float:
    """Return the share of a question's words that a phrase has; used in place of a cosine where nothing was embedded."""
    words = tokens(question)
    return min(len(tokens(phrase)) / len(words), 1.0) if words else 0.0


def is_short(text: str) -> bool:
    """
    Tell whether a text is a label rather than a sentence: at most two words, or at most fifteen characters.

    >>> is_short("vector store"), is_short("a b c"), is_short("what I said of the vector store")
    (True, True, False)
    """
    return len(text.split()) <= 2 or len(text.strip()) <= 15
