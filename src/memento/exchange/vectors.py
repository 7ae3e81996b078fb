"""
The vectors of what comes in, put into the vector file before anything is written: the document's own where they fit, else new ones.

*Because:* embedding is what takes long and what may fail; a write must do neither.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

import numpy as np

from memento.backends import Backends
from memento.cases.bank import embedded
from memento.graph.staged import Staged
from memento.ports import Vectors
from memento.search.found import Found
from memento.search.vectors import digest
from memento.vocabulary import IRI, MEM

_BATCH = 256


class Prepared:
    """The vectors of nodes that are not in the store yet; those of known nodes follow the graph."""

    def __init__(self, staged: Staged, parts: Backends) -> None:
        self._staged, self._parts = staged, parts
        self._names: dict[IRI, str] = {}
        self._written: list[IRI] = []
        self._states: list[IRI] = []
        self.taken = 0
        self.embedded = 0

    def put(self, nodes: Iterable[Found], told: Callable[[int], None]) -> None:
        """
        Put the vectors of some nodes into the file, anchors before memories.

        Args:
            told: called with how many nodes were done, as the work goes on.

        Raises:
            EmbeddingError: the embedder failed; nothing is left in the file.
        """
        try:
            done = 0
            every = iter(nodes)
            while batch := list(islice(every, _BATCH)):
                self._put(batch)
                done += len(batch)
                told(done)
        except BaseException:
            self.undo()
            raise

    def put_states(self, tasks: Mapping[IRI, str]) -> None:
        """
        The same for the states of cases and look-ups, by the text of their tasks; those that the file has stay.

        Raises:
            EmbeddingError: the embedder failed; nothing is left in the file.
        """
        file = self._parts.indexes.file
        known = file.states(list(tasks))
        missing = [iri for iri in tasks if iri not in known]
        try:
            for begin in range(0, len(missing), _BATCH):
                batch = missing[begin : begin + _BATCH]
                own = {iri: rows[0] for iri in batch if (rows := self._own(iri, digest(tasks[iri]))) is not None}
                rest = [iri for iri in batch if iri not in own]
                made = dict(zip(rest, embedded([tasks[iri] for iri in rest], self._parts), strict=True)) if rest else {}
                file.write_states([(iri, digest(tasks[iri]), row) for iri, row in (own | made).items()])
                self._states += batch
                self.taken, self.embedded = self.taken + len(own), self.embedded + len(made)
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """Take them out again."""
        self._parts.indexes.file.write([], self._written)
        self._parts.indexes.file.write_states([], self._states)
        self._written, self._states = [], []

    def _put(self, batch: Sequence[Found]) -> None:
        indexes, embedder = self._parts.indexes, self._parts.embedder
        for node in batch:
            if node.kind == "anchor":
                self._names[node.iri] = indexes.name(node.iri) or node.name
        texts = {node.iri: node.text(self._speaker(node)) for node in batch}
        own = {iri: found for iri, text in texts.items() if (found := self._own(iri, digest(text))) is not None}
        windows = {node.iri: indexes.windows(node, texts[node.iri]) for node in batch if node.iri not in own}
        every = [window for some in windows.values() for window in some]
        rows = embedder.embed(every) if every else np.zeros((0, embedder.dimensions), dtype=np.float32)
        begin, entries = 0, [(iri, digest(texts[iri]), vectors) for iri, vectors in own.items()]
        for iri, some in windows.items():
            entries.append((iri, digest(texts[iri]), rows[begin : begin + len(some)]))
            begin += len(some)
        fresh = [entry for entry in entries if indexes.file.id(entry[0]) is None]
        indexes.file.write(fresh)
        self._written += [iri for iri, _, _ in fresh]
        self.taken += len(own)
        self.embedded += len(windows)

    def _speaker(self, node: Found) -> dict[IRI, str]:
        """What who said it is called, once the document is in the store."""
        speaker = IRI(node.one(MEM.saidBy))
        return {speaker: self._parts.indexes.name(speaker) or self._names.get(speaker, "")}

    def _own(self, iri: IRI, mark: bytes) -> Vectors | None:
        """The vectors that the document has of a node, when our embedder made them, of the same text."""
        said, embedder = self._staged.vector(iri), self._parts.embedder
        if said.get("embeddedBy") != embedder.fingerprint or said.get("embeddedHash") != mark.hex():
            return None
        try:
            encoded = said.get("embedding", said.get("hasStateEmbedding", ""))
            rows = np.frombuffer(b64decode(encoded, validate=True), dtype="<f4")
            rows = rows.reshape(-1, embedder.dimensions).astype(np.float32)
        except ValueError:
            return None
        is_usable = (
            len(rows) > 0 and bool(np.isfinite(rows).all()) and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-2)
        )
        return rows if is_usable else None
