"""
What a folder of an earlier version lacks: the edges of its memories to what their texts name.

*Guarantees:* they are written once. A folder that has any such edge, or whose vectors are marked as written, is left alone, so that
an edge which somebody took away stays away. One whose process ended half-way is marked as begun, and the next start goes through
all of it again: an edge that is there already is the same triple.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from memento.graph.store import Store
from memento.iris import MEM, TYPE
from memento.model import Change, Quad
from memento.ports import Progress
from memento.search.indexes import Indexes
from memento.search.mentions import MentionWriter
from memento.search.nodes import Record, read_records
from memento.search.vectors import UPGRADED

_BEGUN, _WRITTEN = "begun", "written"
AT_ONCE = 500
"""Memories whose edges are one write."""
_READ = frozenset({TYPE, MEM.content, MEM.title, MEM.extractedFrom, MEM.about, MEM.subject, MEM.session})


def write_missing_edges(
    graph: Store, indexes: Indexes, prepare: Callable[[int], object], progress: Progress | None = None
) -> int:
    """
    Write the edges by text of the memories of a folder that has none, and return how many memories were read.

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


def _read_memories(graph: Store) -> list[Record]:
    """Return the memories that are of no conversation. The graph says so: kept indexes know it of some notes only."""
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
            adds += writer.write(record.iri, record.graph, record.statements)
        if adds:
            graph.apply(Change(tuple(adds)))
            indexes.refresh(
                list(dict.fromkeys(quad[0] for quad in adds)), list(dict.fromkeys(quad[3] for quad in adds))
            )
        done += len(batch)
        if progress:
            progress(done, len(memories))
