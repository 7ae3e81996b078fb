"""
The one seam to a store: what every room above asks of it, whichever engine holds the quads.

`select`, `apply`, `quads` and `load` speak in values; `match`, `holds` and `extend` in terms to the letter, with their languages,
datatypes and blank nodes, for documents and for what others write by SPARQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import pyoxigraph as ox

from memento import assets
from memento.graph.delta import Delta
from memento.iris import IRI, MEM, ONTOLOGY
from memento.model import Change, Quad, Value

Row = Mapping[str, Value]
"""One solution of a SELECT: variable name → value; an unbound variable is absent."""

_ONTOLOGY_FILES = ("ontology/memento.ttl", "ontology/alignment.ttl", "ontology/rules.ttl")


class Store(Protocol):
    """The store of truth: named graphs of quads behind SPARQL 1.1."""

    @property
    def is_on_disk(self) -> bool:
        """Whether it has files on this machine that can be backed up."""
        ...

    @property
    def writes(self) -> int:
        """How many writes were made or tried: what was learned after as many is still true."""
        ...

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        """
        Return the rows of `queries/{query}.rq`, read from the `readable` named graphs alone, without values out of their range.

        Args:
            query: path below `queries/` without the suffix, as `retrieval/trace`.
            readable: the dataset; nothing outside it is visible. Their union is the default graph, so a triple that
                stands in two of them may come back twice.
            slots: terms for the query's `VALUES ?name { … }` blocks. Text never becomes syntax. A slot that is not
                given keeps the sample that the file has; an empty sequence is an error.

        Raises:
            GraphError: the store failed, the file or a slot does not exist.
        """
        ...

    def apply(self, change: Change) -> None:
        """
        Write one change, all of it or nothing; removals come before additions.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        ...

    def apply_delta(self, delta: Delta, touched: Iterable[IRI] = ()) -> None:
        """
        Write what an update would change, all of it or nothing.

        Args:
            touched: the nodes whose indexes it outdates.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        ...

    def minimise_delta(self, delta: Delta) -> Delta:
        """Return a delta without the quads that are not there to go, or there already."""
        ...

    def extend(self, quads: Iterable[ox.Quad], subjects: Sequence[IRI], *, many: bool = False) -> None:
        """
        Add quads to the letter, all of them or nothing.

        Args:
            subjects: whom they are about; their indexes are outdated.
            many: more than fit into memory.
        """
        ...

    def load(self, turtle: bytes, graph: IRI) -> None:
        """Replace one named graph by a Turtle document, all of it or nothing."""
        ...

    def graphs(self) -> list[IRI]:
        """List the named graphs that hold something, sorted."""
        ...

    def has(self, graph: IRI) -> bool:
        """Tell whether there is such a named graph, empty or not."""
        ...

    def quads(self, graph: IRI) -> Iterable[Quad]:
        """Yield every quad of one named graph, those of one subject together."""
        ...

    def match(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        graph: str | None = None,
    ) -> Iterator[ox.Quad]:
        """
        Yield the quads to the letter that have these parts, each the name of a node; None is any.

        Those of one subject in one graph come together. What is written after this call is not among them.
        """
        ...

    def holds(self, quad: ox.Quad) -> bool:
        """Tell whether a quad is in the store."""
        ...

    def backup(self, folder: Path) -> None:
        """
        Copy the store to a folder that is not there yet: by hard links, in milliseconds, on the same file system.

        Raises:
            GraphError: the store has no files, is closed, or the disk has no room.
        """
        ...

    def copy(self, folder: Path) -> None:
        """Write the quads as they are now into a new store, with nothing else in its files; some ten seconds for a million."""
        ...

    def close(self) -> None:
        """Let go of the store; calling it twice is harmless."""
        ...


def load_ontology(store: Store) -> None:
    """Put the ontology into its graph when it is not this version's; doing it twice changes nothing."""
    documents = [assets.read(name) for name in _ONTOLOGY_FILES]
    mark = sha256(b"".join(documents)).hexdigest()
    rows = store.select("search/statements", [ONTOLOGY], node=ONTOLOGY)
    if [row["value"] for row in rows if row["predicate"] == MEM.contentHash] != [mark]:
        note = f'\n<{ONTOLOGY}> <{MEM.contentHash}> "{mark}" .\n'.encode()
        store.load(b"\n".join([*documents, note]), ONTOLOGY)
