"""What a folder of an earlier version lacks: the edges of memories to what their texts name."""

from __future__ import annotations

from itertools import islice

from memento.graph.store import Store
from memento.iris import MEM, TYPE
from memento.model import Change, Quad
from memento.ports import Progress
from memento.search.indexes import Indexes
from memento.search.mentions import MentionWriter
from memento.search.nodes import read_records

_AT_ONCE = 500


def write_missing_mentions(graph: Store, indexes: Indexes, progress: Progress | None = None) -> int:
    """Write the edges by text of every memory that has none; return how many memories got some."""
    wanted = frozenset({MEM.subject, MEM.about, MEM.mentions, MEM.content, MEM.title, MEM.extractedFrom})
    memories = [
        record
        for record in read_records(graph, wanted | {TYPE})
        if record.kind == "memory" and indexes.turn_place(record) is None
    ]
    written, done = 0, 0
    writer = MentionWriter(indexes, {}, {})
    rest = iter(memories)
    while batch := list(islice(rest, _AT_ONCE)):
        adds: list[Quad] = []
        for record in batch:
            adds += writer.write(record.iri, record.graph, record.statements)
        written += len(batch)
        if adds:
            graph.apply(Change(tuple(adds)))
            indexes.refresh(list(dict.fromkeys(quad[0] for quad in adds)), [*dict.fromkeys(quad[3] for quad in adds)])
        done += len(batch)
        if progress:
            progress(done, len(memories))
    return written
