"""
What a folder of an earlier version lacks: the edges of its memories to what their texts name.

*Guarantees:* they are written once. A folder that has any such edge, or whose vectors are marked, is left alone, so that an edge
which somebody took away stays away.
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

_MARK = "names"  # in the vector file, which a backup takes along
_AT_ONCE = 500
_READ = frozenset({TYPE, MEM.content, MEM.title, MEM.extractedFrom, MEM.about, MEM.subject})


def write_missing_edges(
    graph: Store, indexes: Indexes, prepare: Callable[[int], object], progress: Progress | None = None
) -> int:
    """
    Write the edges by text of the memories of a folder that has none, and return how many memories were read.

    Args:
        prepare: called with their number before anything is written, to make a backup.
    """
    if indexes.file.get_mark(_MARK) is not None:
        return 0
    memories: list[Record] = []
    if not indexes.links.anchors.has_names():
        memories = [
            record
            for record in read_records(graph, _READ)
            if record.kind == "memory" and indexes.turn_place(record) is None
        ]
    if memories:
        prepare(len(memories))
        _write_edges(sorted(memories, key=lambda one: one.iri), graph, indexes, progress)
    indexes.file.set_mark(_MARK, "written")
    return len(memories)


def _write_edges(memories: list[Record], graph: Store, indexes: Indexes, progress: Progress | None) -> None:
    done, rest = 0, iter(memories)
    while batch := list(islice(rest, _AT_ONCE)):
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
