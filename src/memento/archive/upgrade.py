"""
Upgrades a folder to this version, and migrates it to another embedder.

A folder of an earlier version lacks the edges from its memories to the things that their texts name. They are written once. A
folder that has any such edge, or whose vectors are marked as done, is left alone, so that an edge that somebody removed stays
removed. If the process is killed half-way, the folder is marked as begun, and the next start repeats all of it: an edge that exists
already is the same triple.

A migration to another embedder runs during use: the new vectors are made while the old ones answer.

*Guarantees:* nodes keep their IRIs and their dense ids, so only the vector index changes. Concurrent writes are in the new vectors
too: whatever the current file has and the new one lacks is embedded, whoever wrote it, until nothing is missing. A kill at any
    point
leaves either the old vectors or the new ones complete in place; embedded texts stay in the other file, and the next migration to
the same embedder continues from there. What is erased meanwhile is in neither.

*Flow:* `Migration.catch_up`, during use → `Migration.finish`, with the write lock held → `Backends.switch_embedder`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

from memento.archive.cases import embed_tasks, load_tasks
from memento.backends import Backends
from memento.datadir import DataFolder, replace_file
from memento.errors import Conflict, SettingsError
from memento.graph.backups import sync_to_disk
from memento.graph.store import Store
from memento.iris import CASES, IRI, MEM, TYPE
from memento.model import Change, Quad
from memento.ports import Embedder, Progress
from memento.search.embedders import Cached
from memento.search.indexes import Indexes, embed_records
from memento.search.mentions import MentionWriter
from memento.search.nodes import Record, is_indexed, read_records
from memento.search.vectors import CLAIMED, UPGRADED, Lag, VectorFile, digest, open_vector_file, read_marks
from memento.settings import EmbeddingSettings, Settings, check_settings, load, set_in_file, variable

_BEGUN, _WRITTEN = "begun", "written"
AT_ONCE = 500
"""Memories whose edges are written at once."""
_READ = frozenset({TYPE, MEM.content, MEM.title, MEM.extractedFrom, MEM.about, MEM.subject, MEM.session})


def write_missing_edges(
    graph: Store, indexes: Indexes, prepare: Callable[[int], object], progress: Progress | None = None
) -> int:
    """
    Write the missing edges of a folder without any, from the texts of its memories; return how many memories were read.

    Args:
        prepare: called with their number before anything is written, to make a backup.
    """
    mark = indexes.file.get_mark(UPGRADED)
    if mark == _WRITTEN:
        return 0
    memories: list[Record] = []
    if mark == _BEGUN or not indexes.links.anchors.has_names():
        memories = _read_memories(graph)
    if memories:
        if mark != _BEGUN:
            prepare(len(memories))
            indexes.file.set_mark(UPGRADED, _BEGUN)
        _write_edges(sorted(memories, key=lambda one: one.iri), graph, indexes, progress)
    indexes.file.set_mark(UPGRADED, _WRITTEN)
    return len(memories)


def list_unclaimed(parts: Backends) -> tuple[Quad, ...]:
    """
    List the quads that say of each memory of an earlier version that its claims are still to be read; none once that was done.
    """
    if parts.indexes.file.get_mark(CLAIMED) == _WRITTEN:
        return ()
    graphs = [one for one in parts.graph.graphs() if one.startswith("urn:memento:graph:")]
    rows = parts.graph.select("consolidation/unclaimed", graphs) if graphs else []
    return tuple((row["memory"], MEM.state, "pending", row["graph"]) for row in rows)


def _read_memories(graph: Store) -> list[Record]:
    """Return the memories without a conversation, according to the graph: saved indexes know it for some notes only."""
    memories, turns = list[Record](), set[str]()
    for record in read_records(graph, _READ):
        if record.kind == "memory":
            memories.append(record)
        elif record.first(MEM.session):
            turns.add(record.iri)
    return [record for record in memories if record.first(MEM.extractedFrom) not in turns]


def _write_edges(memories: list[Record], graph: Store, indexes: Indexes, progress: Progress | None) -> None:
    done, rest = 0, iter(memories)
    while batch := list(islice(rest, AT_ONCE)):
        writer = MentionWriter(indexes, {}, {})
        adds: list[Quad] = []
        for record in batch:
            adds += writer.link_mentions(record.iri, record.graph, record.statements)
        if adds:
            graph.apply(Change(tuple(adds)))
            indexes.refresh(
                list(dict.fromkeys(quad[0] for quad in adds)), list(dict.fromkeys(quad[3] for quad in adds))
            )
        done += len(batch)
        if progress:
            progress(done, len(memories))


EMBEDDED_AT_ONCE = 64
"""Texts embedded together; few, so that queries are answered in between."""
_FEW = 32
"""Most texts to embed while the write lock is held."""
_ROUNDS = 20
"""How often new texts are looked for; if more arrive than are embedded, the rest waits for `finish`."""


class Migration:
    """Makes the vectors of a memory with another embedder. A context manager; only one can run at a time."""

    def __init__(self, parts: Backends, embedder: Cached, *, afresh: bool = False) -> None:
        """
        Args:
            afresh: embed texts again that are in the vector cache.

        Raises:
            Conflict: another migration is running.
        """
        self._parts, self.embedder, self._indexes = parts, embedder, parts.indexes
        self._maker: Embedder = _Afresh(embedder) if afresh else embedder
        self.embedded = 0

    def __enter__(self) -> Self:
        if self._parts.is_migrating:
            raise Conflict("the memory is being moved to another embedder: wait until that is done")
        self._parts.is_migrating = True
        try:
            self.file = open_vector_file(self._parts.datadir.next_vectors, self.embedder.fingerprint)
        except BaseException:
            self._parts.is_migrating = False
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        self._parts.is_migrating = False
        self.file.close()

    def measure(self) -> Lag:
        """Return what remains to be embedded."""
        return self.file.compare(self._parts.datadir.vectors)

    def catch_up(self, progress: Progress | None = None) -> None:
        """
        Embed existing and new texts until hardly any are left.

        Raises:
            EmbeddingError: the embedder failed; what was embedded is kept.
            GraphError: a backup was restored, and the store was released.
        """
        before = -1
        for _ in range(_ROUNDS):
            lag = self.measure()
            if lag.missing in (0, before) or (before >= 0 and lag.missing <= _FEW):
                return
            before = lag.missing
            self._embed(lag, progress)

    def finish(self) -> None:
        """
        Embed what is left; call this with the write lock held.

        Raises:
            Conflict: a backup was restored meanwhile.
        """
        if self._parts.indexes is not self._indexes:
            raise Conflict("a backup was restored meanwhile: start the migration again")
        self._embed(self.measure(), None)

    def _embed(self, lag: Lag, progress: Progress | None) -> None:
        self.file.write_entries([], lag.gone)
        self.file.write_states([], lag.gone_states)
        done = lag.total - lag.missing
        for begin in range(0, len(lag.nodes), EMBEDDED_AT_ONCE):
            nodes = lag.nodes[begin : begin + EMBEDDED_AT_ONCE]
            self._embed_nodes(nodes)
            done += len(nodes)
            if progress:
                progress(done, lag.total)
        tasks = self._load_tasks() if lag.states else {}
        for begin in range(0, len(lag.states), EMBEDDED_AT_ONCE):
            states = lag.states[begin : begin + EMBEDDED_AT_ONCE]
            self._embed_states({iri: tasks[iri] for iri in states if iri in tasks})
            done += len(states)
            if progress:
                progress(done, lag.total)

    def _embed_nodes(self, nodes: Sequence[tuple[int, IRI]]) -> None:
        ids = {iri: node for node, iri in nodes}
        graphs = [graph for graph in self._parts.graph.graphs() if is_indexed(graph)]
        records = self._indexes.read(list(ids), graphs)
        texts = [self._indexes.text(record) for record in records]
        rows = embed_records(records, texts, self._maker)
        entries = zip(records, texts, rows, strict=True)
        self.file.adopt([(ids[one.iri], one.iri, digest(text), vectors) for one, text, vectors in entries])
        self.embedded += len(records)

    def _embed_states(self, tasks: Mapping[IRI, str]) -> None:
        rows = embed_tasks(list(tasks.values()), self._maker) if tasks else ()
        marked = zip(tasks.items(), rows, strict=True)
        self.file.write_states([(iri, digest(task), row) for (iri, task), row in marked])
        self.embedded += len(tasks)

    def _load_tasks(self) -> dict[IRI, str]:
        graphs = [graph for graph in self._parts.graph.graphs() if graph.startswith(CASES)]
        return {iri: task for graph in graphs for iri, task in load_tasks(graph, self._parts).items()}


def count_kept(datadir: DataFolder, fingerprint: str) -> int:
    """Return how many texts an earlier attempt has embedded with the same embedder, and nobody has changed since."""
    if read_marks(datadir.next_vectors).get("fingerprint") != fingerprint:
        return 0
    with closing(VectorFile(datadir.next_vectors, fingerprint)) as file:
        return file.compare(datadir.vectors).done


class _Afresh:
    """An embedder that does not use the cache."""

    def __init__(self, embedder: Cached) -> None:
        self.fingerprint, self.dimensions = embedder.fingerprint, embedder.dimensions
        self.windows, self.embed = embedder.windows, embedder.embed_afresh


def choose_target(settings: EmbeddingSettings, chosen: Mapping[str, str | int | None]) -> EmbeddingSettings:
    """
    Return the target settings: the current ones with the chosen changes.

    Raises:
        SettingsError: they are inconsistent; names what is wrong.

    >>> choose_target(EmbeddingSettings(), {"model": "trigram", "dimensions": 64}).dimensions
    64
    """
    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if given.get("provider", settings.provider) != settings.provider:
        given = {"base_url": "", "provider_name": "", "dimensions": 0, **given}
    elif given.get("model", settings.model) != settings.model:
        given = {"dimensions": 0, **given}
    target = replace(settings, **given)
    check_settings(replace(Settings(), embedding=target))
    return target


def prepare_settings(file: Path, target: EmbeddingSettings) -> str:
    """
    Return the text for the settings file of a folder with which the next start uses an embedder.

    Raises:
        SettingsError: the file cannot be edited, or has no effect because the environment overrides it.
    """
    before = EmbeddingSettings()
    values = {name: getattr(target, name) for name in ("provider", "model", "dimensions", "base_url", "provider_name")}
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    there = tomllib.loads(text).get("embedding", {}) if text else {}
    kept = {name: value for name, value in values.items() if name in there or value != getattr(before, name)}
    edited = set_in_file(text, "embedding", {"model": target.model, **kept})
    trial = file.with_name(f"{file.name}.new")
    try:
        trial.write_text(edited, encoding="utf-8")
        trial.chmod(0o600)
        found = load(trial).embedding
    finally:
        trial.unlink(missing_ok=True)
    wrong = [name for name, value in values.items() if getattr(found, name) != value]
    if wrong:
        raise SettingsError(
            f"the next start would not open the folder with that embedder: the environment sets {wrong[0]} of [embedding] to "
            f"{getattr(found, wrong[0])!r}, and wins over {file.name}: set {variable('embedding', wrong[0])} to "
            f"{values[wrong[0]]!r}, or unset it"
        )
    return edited


def write_settings(file: Path, text: str) -> None:
    """Replace a settings file atomically; it is on disk when this returns."""
    replace_file(file, text, mode=file.stat().st_mode & 0o777 if file.is_file() else 0o600)
    sync_to_disk(file.parent, deep=False)
