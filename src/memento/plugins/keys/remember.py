"""
Write a text under the keys that a caller gave it, as one change: one note, one memory, its keys and links; no model is used.

If the same words were remembered before, that memory is read again instead, which makes it deeper. A memory of the same namespace
that says nearly the same is superseded, unless names, numbers or sides differ. A similar memory with a common key is flagged as a
contradiction, unless it names other things.

*Guarantees:* every version stays complete in the graph; a deep one keeps most of its depth.

A `KeyResolver` decides which key a phrase means, in this order. The same text, or the same words apart from their endings, is the
same key, whatever its type; a concept that is now given as a name becomes a name. A name is never merged by meaning; a concept is,
from a cosine on that is higher for labels of one or two words. Siblings such as "Agent A" and "Agent B" are as similar as synonyms,
but stay separate. Keys of another namespace that the reader sees are used unchanged; only keys of the namespace itself learn names
or types.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

import numpy as np

from memento.backends import Backends
from memento.consolidation.amend import Correction, Rewrite, contradict
from memento.consolidation.context import find_current
from memento.consolidation.task import require_ttl
from memento.errors import InputError
from memento.graph.mapping import attribute_note, invalidates, quads
from memento.graph.store import Store
from memento.iris import IRI, MEM, SKOS, link_iri, mint
from memento.model import Change, Effect, Invalidation, Key, KeyLink, KeyType, Memory, Note, Quad, Read, Scope
from memento.plugins.keys.labels import check_types, clean_keys
from memento.plugins.keys.match import Thresholds, is_short
from memento.plugins.keys.nouns import Remembered, TextPiece, ToRemember
from memento.plugins.keys.view import KeyEntry, KeyView
from memento.ports import Embedder, Vectors
from memento.search.nodes import REMEMBERED, content_hash
from memento.search.postings import tokens
from memento.search.spellings import fold_text
from memento.search.subjects import OPENERS
from memento.settings import ConsolidationSettings
from memento.strength import Reinforcement, relate_alike
from memento.text.code_names import list_named_code
from memento.text.sentences import drop_controls

_NEAR_KEYS = 8  # keys that a new one is compared with

# What distinguishes siblings: a single letter, anything with a digit, or a Roman numeral.
_MARK = re.compile(r"\b(?:[^\W\d_]|\w*\d\w*|(?=[ivx]+\b)(?:x{0,3}(?:ix|iv|v?i{0,3})))\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedKey:
    """The key that a phrase means, and the quads to write for it; `vector` is that of a new concept (d,)."""

    phrase: str
    entry: KeyEntry
    written: Change = Change()
    vector: Vectors | None = None


def are_siblings(one: str, other: str) -> bool:
    """
    Tell whether two labels differ in a distinguishing mark, such as a letter or a number.

    >>> are_siblings("Agent A", "Agent B"), are_siblings("GPT-3", "GPT-4"), are_siblings("Rocky II", "Rocky III")
    (True, True, True)
    >>> are_siblings("vector database", "vector databases")
    False
    """
    first, second = (set(_MARK.findall(fold_text(label))) for label in (one, other))
    return first != second


class KeyResolver:
    """
    Resolves the keys of one memory after the other, within one change. Call it under `indexes.lock`, holding the writers' lock.
    """

    def __init__(
        self, view: KeyView, embedder: Embedder, graph: Store, own: IRI, limits: Thresholds, at: datetime
    ) -> None:
        """
        Args:
            own: the graph that is written to.
            at: the creation time of new keys.
        """
        self._view = view
        self._embedder = embedder
        self._graph = graph
        self._own = own
        self._limits = limits
        self._at = at
        self._new: list[ResolvedKey] = []

    def resolve(self, types: Mapping[str, KeyType]) -> list[ResolvedKey]:
        """Return the key of each phrase; `types` has the key type of each."""
        found: list[ResolvedKey] = []
        open_: list[tuple[str, KeyType]] = []
        for phrase, type in types.items():
            known = self._find_same(phrase, type)
            if known:
                found.append(known)
            else:
                open_.append((phrase, type))
        labels = [phrase for phrase, type in open_ if type == "concept"]
        vectors = dict(zip(labels, self._embedder.embed(labels), strict=True)) if labels else {}
        for phrase, type in open_:
            # It may equal the key that was just created for the previous phrase.
            one = (
                self._find_new(phrase)
                or self._find_synonym(phrase, vectors.get(phrase))
                or self._create_key(phrase, type, vectors.get(phrase))
            )
            found.append(one)
        return list({one.entry.iri: one for one in reversed(found)}.values())[::-1]

    def write_key(self, entry: KeyEntry) -> list[Quad]:
        """
        Return the quads of an entity's key, which is written once there is something to say about it; none if it is written
        already.
        """
        if not entry.denotes or entry.node is None:
            return []
        graph = self._view.indexes.nodes.graph(entry.node)
        if self._graph.select("search/statements", [graph], node=entry.iri):
            return []
        key = Key(iri=entry.iri, name=entry.name, type=entry.type, created_at=self._at, denotes=entry.denotes)
        return quads(key, graph)

    def _find_same(self, phrase: str, type: KeyType) -> ResolvedKey | None:
        entry = self._view.find_named(phrase, first=self._own) or self._view.find_worded(phrase, first=self._own)
        if entry is None:
            return None
        written = Change()
        if type != "concept" and entry.type == "concept" and self._is_own(entry):
            written = Change(
                ((entry.iri, MEM.keyType, type, self._own),), ((entry.iri, MEM.keyType, entry.type, self._own),)
            )
            entry = KeyEntry(iri=entry.iri, name=entry.name, type=type, node=entry.node)
        return ResolvedKey(phrase=phrase, entry=entry, written=written)

    def _find_new(self, phrase: str) -> ResolvedKey | None:
        stems = tokens(phrase)
        for one in self._new:
            if fold_text(one.phrase) == fold_text(phrase) or (stems and tokens(one.phrase) == stems):
                return ResolvedKey(phrase=phrase, entry=one.entry)
        return None

    def _find_synonym(self, phrase: str, vector: Vectors | None) -> ResolvedKey | None:
        """Return the concept with the same meaning, which learns the phrase as another name."""
        least = self._limits.short_merge if is_short(phrase) else self._limits.merge
        if vector is None or not least:
            return None
        best: tuple[float, KeyEntry] | None = None
        for cosine, entry in (*self._list_near(vector), *self._list_near_new(vector)):
            is_same = cosine >= least and not are_siblings(phrase, entry.name)
            if is_same and (best is None or cosine > best[0]):
                best = (cosine, entry)
        if best is None:
            return None
        return ResolvedKey(phrase=phrase, entry=best[1], written=self._add_name(best[1], phrase))

    def _list_near(self, vector: Vectors) -> list[tuple[float, KeyEntry]]:
        found = []
        for kind in ("key", "anchor"):
            nodes, cosines = self._view.indexes.vectors[kind].near(vector[None, :], _NEAR_KEYS, self._view.concepts)
            found += [(c, self._view.entry_of(n)) for n, c in zip(nodes.tolist(), cosines.tolist(), strict=True)]
        return found

    def _list_near_new(self, vector: Vectors) -> list[tuple[float, KeyEntry]]:
        return [(float(np.dot(one.vector, vector)), one.entry) for one in self._new if one.vector is not None]

    def _add_name(self, entry: KeyEntry, phrase: str) -> Change:
        if entry.node is not None and self._view.indexes.nodes.graph(entry.node) != self._own:
            return Change()
        adds: list[Quad] = [(entry.iri, SKOS.altLabel, phrase, self._own)]
        if entry.denotes:
            adds = [*self.write_key(entry), *adds]
        return Change(tuple(adds))

    def _create_key(self, phrase: str, type: KeyType, vector: Vectors | None) -> ResolvedKey:
        key = Key(iri=mint("key"), name=phrase, type=type, created_at=self._at)
        entry = KeyEntry(iri=key.iri, name=phrase, type=type)
        made = ResolvedKey(phrase=phrase, entry=entry, written=Change(tuple(quads(key, self._own))), vector=vector)
        self._new.append(made)
        return made

    def _is_own(self, entry: KeyEntry) -> bool:
        nodes = self._view.indexes.nodes
        return entry.node is not None and entry.denotes is None and nodes.graph(entry.node) == self._own


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext:
    """The stores and settings for writing under keys. Use it under `indexes.lock`, holding the writers' lock."""

    scope: Scope
    view: KeyView
    stores: Backends
    strengths: Reinforcement
    limits: Thresholds
    now: datetime
    near: ConsolidationSettings = ConsolidationSettings()
    """What happens to memories that are nearly equal."""

    def resolver(self) -> KeyResolver:
        """Return the resolver for the keys of one memory."""
        return KeyResolver(self.view, self.stores.embedder, self.stores.graph, self.scope.graph, self.limits, self.now)


# Capitalised words, and single letters except "I" and an article at the beginning of a text.
NAME = re.compile(r"\b(?:[^\W\d_a-z]\w+|(?<=\s)[^\W\d_a-zI]\b)")
NUMBER = re.compile(r"\b\w*\d\w*")
# Words for counts, and words for one of two sides. "Room five" is a name, not a count.
COUNT = re.compile(
    r"\b(?:no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|half|twice|thrice"
    r"|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b"
    r"(?=\s+(?!(?:in|on|at|and|or|to|of|for|by|with|until|from)\b)[^\W\d_]{2})",
    re.IGNORECASE,
)
SIDE = re.compile(
    r"\b(?:left|right|north|south|east|west|northern|southern|eastern|western|upper|lower|upstairs|downstairs|inner|outer|inside|outside"
    r"|front|rear|back|top|bottom|above|below|before|after|morning|evening|noon|midnight|odd|even|older|younger|elder)\b",
    re.IGNORECASE,
)
_MARKS = (NAME, NUMBER, COUNT, SIDE)


def differ(marks: re.Pattern[str], one: str, other: str) -> bool:
    """
    Tell whether each of two texts has a name, or a number, that the other lacks.

    >>> differ(NAME, "Agent A likes tea.", "Agent B likes tea."), differ(NAME, "I own a car.", "My car is red.")
    (True, False)
    >>> differ(NUMBER, "The dog weighs 20 kg.", "The dog weighs 25 kg."), differ(NUMBER, "It is 9.", "It is.")
    (True, False)
    >>> differ(COUNT, "I have two cats.", "I have three cats."), differ(SIDE, "My left knee.", "My right knee.")
    (True, True)
    """
    first, second = (
        {
            mark if marks is NAME else mark.casefold()
            for mark in marks.findall(text)
            if marks is not NAME or len(mark) == 1 or mark.casefold() not in OPENERS
        }
        for text in (one, other)
    )
    return bool(first - second) and bool(second - first)


MOST_KEYS = 50
_MOST_LINKED = 20  # existing keys that are linked automatically
_NEAR = 16
_LINKED = 5  # nearest memories that a new one is linked with


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What to write, and the result for the caller. `note` is None if nothing is new; `effects` are noted in that case."""

    change: Change
    answer: Remembered
    note: Note | None = None
    effects: tuple[Effect, ...] = ()


def check_item(item: ToRemember) -> dict[str, KeyType]:
    """
    Return the keys of a text and their types; none if none were given, because its own names and nouns then lead to it.

    Raises:
        InputError: none of the given keys is usable, or a type is unknown.
    """
    if item.keys is None:
        return {}
    keys = check_types(clean_keys(item.keys), item.types)
    if not keys:
        raise InputError("keys must have one text of two characters at least, as a name or a short phrase")
    if len(keys) > MOST_KEYS:
        raise InputError(f"a memory has {MOST_KEYS} keys at most, not {len(keys)}")
    return keys


def plan_memory(item: ToRemember, context: WriteContext) -> Outcome:
    """
    Return what to write so that a text is remembered.

    Raises:
        InputError: no usable key, an unknown key type, a time to live that is not above 0, or a place outside the long text.
    """
    types = check_item(item)
    item = replace(item, content=drop_controls(item.content))
    require_ttl(item.ttl_s, "ttl")
    resolved = context.resolver().resolve(types)
    if same := _find_same(item.content, context):
        return _repeat(same, resolved, context)
    vector = context.stores.embedder.embed(context.stores.embedder.windows(item.content))
    near = _find_alike(vector, context)
    given = {one.entry.iri for one in resolved}
    related = find_current(item.related_to, context.scope, context.stores)
    old = _find_duplicate(item.content, near, _list_beside(related, context), context)
    flagged = None if old is not None else _pick_contradicted(item.content, near, given, context)
    note = _place_piece(Note(iri=mint("note"), content=item.content, at=context.now), item.piece, context)
    memory = Memory(
        iri=mint("memory"),
        content=item.content,
        about=tuple(one.entry.denotes for one in resolved if one.entry.denotes),
        extracted_from=note.iri,
        valid_at=context.now,
        created_at=context.now,
        content_hash=content_hash(item.content),
        expires_at=None if item.ttl_s is None else context.now + timedelta(seconds=item.ttl_s),
        related_to=tuple(related),
    )
    graph = context.scope.graph
    change = _state_memory(memory, item.source, context.scope, note)
    if resolved:
        change += Change(((memory.iri, MEM.source, REMEMBERED, graph),))
        change += link_keys(memory.iri, {one.entry: 1.0 for one in resolved}, resolved, context)
        change += link_fitting_keys(memory.iri, item.content, vector, given, context)
    if context.near.near == "relate":
        iris = [(context.stores.indexes.nodes.iri(node), cosine) for node, cosine in near[:_LINKED] if node != old]
        linked = [one for one in iris if one[1] >= context.near.near_related]
        change += Change(tuple(relate_alike(memory.iri, linked, context.near.near_cosine, graph, context.now)))
    answer = Remembered(saved=memory.iri, keys=tuple(one.entry.iri for one in resolved), expires_at=memory.expires_at)
    if old is not None:
        iri = context.stores.indexes.nodes.iri(old)
        is_conflict = any(
            context.view.weight_of(one.entry, old) is not None for one in resolved if one.entry.node is not None
        )
        change += _supersede(memory, iri, context) + context.strengths.weaken(iri, graph)
        answer = replace(answer, superseded=iri, conflict=is_conflict, deduplicated=not is_conflict)
    if flagged is not None:
        change += Change(tuple(contradict(memory.iri, flagged, graph)))
        answer = replace(answer, contradicts=(flagged,))
    return Outcome(change=change, answer=answer, note=note)


def link_keys(
    memory: IRI, weights: Mapping[KeyEntry, float], resolved: Sequence[ResolvedKey], context: WriteContext
) -> Change:
    """Return the links from keys to a memory, with the quads that these keys still need."""
    written = sum((one.written for one in resolved), Change())
    adds: list[Quad] = []
    for entry, weight in weights.items():
        adds += context.resolver().write_key(entry)
        link = KeyLink(
            iri=link_iri(entry.iri, memory),
            key=entry.iri,
            memory=memory,
            weight=round(weight, 4),
            created_at=context.now,
        )
        adds += quads(link, context.scope.graph)
    return written + Change(tuple(adds))


def link_fitting_keys(
    memory: IRI, content: str, vector: Vectors, given: Iterable[IRI], context: WriteContext
) -> Change:
    """
    Return links from fitting keys that were not given: a concept by its cosine, which is the weight, a name if the text contains
    it.
    """
    weights: dict[KeyEntry, float] = {}
    for node in context.view.find_spelt(content):
        entry = context.view.entry_of(node)
        if entry.is_named and entry.denotes != context.scope.user:
            weights[entry] = 1.0
    for kind in ("key", "anchor"):
        index = context.stores.indexes.vectors[kind]
        nodes, cosines = index.near(vector, _MOST_LINKED, context.view.concepts)
        for node, cosine in zip(nodes.tolist(), cosines.tolist(), strict=True):
            if cosine >= context.limits.auto_link:
                weights.setdefault(context.view.entry_of(node), min(float(cosine), 1.0))
    given = set(given)
    return link_keys(
        memory, {entry: weight for entry, weight in weights.items() if entry.iri not in given}, (), context
    )


def find_contradicted(
    content: str, vector: Vectors, given: Iterable[IRI], context: WriteContext, but: Sequence[int] = ()
) -> IRI | None:
    """Return the memory most similar to a text that shares a key with it and is similar enough to contradict it; none of `but`."""
    return _pick_contradicted(
        content, [one for one in _find_alike(vector, context) if one[0] not in but], given, context
    )


def _state_memory(memory: Memory, source: str, scope: Scope, note: Note) -> Change:
    graph = scope.graph
    return Change(
        (
            *quads(note, graph),
            attribute_note(note.iri, scope.user, graph),
            (note.iri, MEM.source, source, graph),
            *quads(memory, graph),
            *(
                quad
                for code in list_named_code(memory.content, graph)
                for quad in (*quads(code, graph), (memory.iri, MEM.refers, code.iri, graph))
            ),
        )
    )


def _place_piece(note: Note, piece: TextPiece | None, context: WriteContext) -> Note:
    """Set the place of a note in the text that it is a piece of; without a parent if the first piece is not there any more."""
    if piece is None:
        return note
    if not (1 <= piece.number <= piece.count and 0 <= piece.overlap <= len(note.content)):
        raise InputError(
            f"piece is number {piece.number} of {piece.count} with an overlap of {piece.overlap}: give a number from 1 to the "
            "count, and an overlap from 0 to the length of the text"
        )
    first = find_current([piece.first] if piece.first else [], context.scope, context.stores)
    rows = context.stores.graph.select("library/memories_of", [context.scope.graph], node=first) if first else []
    return replace(
        note,
        parent=cast(IRI, rows[0]["note"]) if rows else None,
        piece=piece.number,
        pieces=piece.count,
        overlap=piece.overlap or None,
    )


def _find_same(content: str, context: WriteContext) -> IRI | None:
    """Return the current memory of the namespace with exactly this text."""
    rows = context.stores.graph.select("plugins/keys/same", [context.scope.graph], hash=content_hash(content))
    for row in rows:
        node = context.stores.indexes.nodes.find(row["memory"])
        if node is not None and context.view.visible[node]:
            return IRI(row["memory"])
    return None


def _repeat(memory: IRI, resolved: Sequence[ResolvedKey], context: WriteContext) -> Outcome:
    node = context.stores.indexes.nodes.find(memory)
    assert node is not None
    new = {
        one.entry: 1.0 for one in resolved if one.entry.node is None or context.view.weight_of(one.entry, node) is None
    }
    answer = Remembered(saved=memory, repeated=True, keys=tuple(one.entry.iri for one in resolved))
    read = Read(memory=memory, graph=context.scope.graph, at=context.now)
    needed = [one for one in resolved if one.entry in new or one.written.removes]
    return Outcome(change=link_keys(memory, new, needed, context), answer=answer, effects=(read,))


def _find_alike(vector: Vectors, context: WriteContext) -> list[tuple[int, float]]:
    """Return the memories of the namespace itself that are most similar to a text, best first: (id, cosine)."""
    indexes = context.stores.indexes
    own = context.view.visible & indexes.nodes.within([context.scope.graph], "memory")
    nodes, cosines = indexes.vectors["memory"].near(vector, _NEAR, own)
    return list(zip(nodes.tolist(), cosines.tolist(), strict=True))


def _list_beside(related: Sequence[IRI], context: WriteContext) -> set[IRI]:
    """Return some memories and what is linked to them, as the pieces of one text are: these stay however alike they are."""
    rows = (
        context.stores.graph.select("plugins/keys/beside", [context.scope.graph], memory=list(related))
        if related
        else []
    )
    return {*related, *(row["other"] for row in rows if row["way"] == MEM.relatedTo)}


def _find_duplicate(
    content: str, near: Sequence[tuple[int, float]], beside: Collection[IRI], context: WriteContext
) -> int | None:
    """Return the memory that says nearly the same about the same things; none of `beside`."""
    for node, cosine in near:
        if cosine < context.limits.dedup:
            break
        if context.stores.indexes.nodes.iri(node) in beside:
            continue
        text = _read_text(node, context)
        if not any(differ(marks, text, content) for marks in _MARKS):
            return node
    return None


def _pick_contradicted(
    content: str, near: Sequence[tuple[int, float]], given: Iterable[IRI], context: WriteContext
) -> IRI | None:
    """Return the memory most similar to a text that shares a key and may contradict it; a memory about other things may not."""
    given = set(given)
    for node, cosine in near:
        if cosine < context.limits.contradiction:
            break
        keys = {context.view.entry_of(key).iri for key in context.stores.indexes.keys.links(node)}
        if keys & given and not (cosine >= context.limits.dedup and differ(NAME, _read_text(node, context), content)):
            return context.stores.indexes.nodes.iri(node)
    return None


def _read_text(node: int, context: WriteContext) -> str:
    rows = context.stores.graph.select(
        "search/texts", [context.scope.graph], memory=context.stores.indexes.nodes.iri(node)
    )
    return str(rows[0]["content"]) if rows else ""


def _supersede(new: Memory, old: IRI, context: WriteContext) -> Change:
    graph = context.scope.graph
    act = Invalidation(
        iri=mint("invalidation"),
        invalidator=new.iri,
        invalidated=old,
        reason=f"Said again: {new.content.rstrip('.!')}",
        at=context.now,
        mode="correction",
        rule="nearly-the-same",
    )
    return Change(
        (
            *quads(act, graph),
            invalidates(new.iri, old, graph),
            (new.iri, MEM.supersedes, old, graph),
            (old, MEM.invalidAt, context.now, graph),
        )
    )


def inherit_keys(rewrite: Rewrite, context: WriteContext) -> Change:
    """
    Return the links of a corrected memory to keys: those given for it, or those of the old memory that still fit; and what it may
    contradict.

    Raises:
        InputError: none of the given keys is usable.
    """
    new, content, old = rewrite.memory, rewrite.content, rewrite.replaces
    node = context.stores.indexes.nodes.find(old.iri)
    if node is None:
        return Change()
    graph, vector = context.scope.graph, context.stores.embedder.embed(context.stores.embedder.windows(content))
    is_given = rewrite.asked.keys is not None
    resolved = _resolve_keys(rewrite.asked, context)
    kept = {} if is_given else _keep_fitting(node, content, old.content, vector, context)
    weights = {one.entry: 1.0 for one in resolved} if is_given else kept
    change = link_keys(new, weights, resolved, context)
    if is_given or context.stores.indexes.keys.have_given_keys(np.array([node]))[0]:
        given = {entry.iri for entry in weights}
        change += link_fitting_keys(new, content, vector, given, context) + Change(
            ((new, MEM.source, REMEMBERED, graph),)
        )
        if flagged := find_contradicted(content, vector, given, context, but=[node]):
            change += Change(tuple(contradict(new, flagged, graph)))
    return change


def _resolve_keys(asked: Correction, context: WriteContext) -> list[ResolvedKey]:
    if asked.keys is None:
        return []
    keys = clean_keys(asked.keys)
    if not keys:
        raise InputError("keys must have one text of two characters at least, or be left out to keep those there are")
    return context.resolver().resolve(check_types(keys, asked.types))


def _keep_fitting(
    node: int, content: str, before: str, vector: Vectors, context: WriteContext
) -> dict[KeyEntry, float]:
    """
    Return the links of a memory that still fit its new text, and their weights.

    A key that the text contains fits. Of the others, a concept fits by its cosine; a name fits unless the earlier text (`before`)
    contained it, because somebody then gave it in addition to the text.
    """
    indexes = context.stores.indexes
    found = {context.view.entry_of(key): weight for key, weight in indexes.keys.links(node).items()}
    spelt, stems = (context.view.find_spelt(content), set(tokens(content)))
    gone = context.view.find_spelt(before)
    fits: dict[KeyEntry, float] = {}
    for entry in found:
        assert entry.node is not None
        words = set(tokens(entry.name))
        if entry.node in spelt or (words and words <= stems):
            fits[entry] = 1.0
        elif entry.is_named:
            fits[entry] = 0.0 if entry.node in gone else 1.0
        else:
            index = indexes.vectors[indexes.nodes.kind(entry.node)]
            fits[entry] = float(index.cosines([entry.node], vector)[0])
    kept = {entry: weight for entry, weight in found.items() if fits[entry] >= context.limits.content_recall}
    if not kept and fits:
        best = max(fits, key=lambda entry: fits[entry])
        kept = {best: found[best]}
    return kept
