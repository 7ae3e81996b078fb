"""
The seams: what the rooms above ask of a store and of an embedder.

A protocol is born with its second real implementation; vectors, words and adjacency have one each and stay classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memento.model import Change, Quad, Value
from memento.vocabulary import IRI

Row = Mapping[str, Value]
"""One solution of a SELECT: variable name → value; an unbound variable is absent."""

Vectors = NDArray[np.float32]
"""(n, dimensions) unit rows."""

Progress = Callable[[int, int], None]
"""Called with (done, total) as long work goes on."""


class Graph(Protocol):
    """The store of truth: named graphs of quads behind SPARQL 1.1."""

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        """
        The rows of `queries/{query}.rq`, read from the `readable` named graphs alone.

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

    def answer(self, sparql: str, readable: Sequence[IRI], accept: str) -> tuple[bytes, str]:
        """
        The serialised answer to somebody else's read-only query and its media type.

        Raises:
            InputError: the query is not SPARQL, or no offered media type fits `accept`.
            GraphError: the store failed.
        """
        ...

    def graphs(self) -> list[IRI]:
        """Every named graph that holds something, sorted."""
        ...

    def quads(self, graph: IRI) -> Iterable[Quad]:
        """Every quad of one named graph, in no order."""
        ...

    def load(self, turtle: bytes, graph: IRI) -> None:
        """Replace one named graph by a Turtle document, all of it or nothing."""
        ...

    def close(self) -> None:
        """Let go of the store; calling it twice is harmless."""
        ...


class Embedder(Protocol):
    """Turns text into unit vectors."""

    fingerprint: str
    """Model, version and weights digest: vectors are comparable only when it is equal."""

    dimensions: int

    def windows(self, text: str) -> list[str]:
        """
        The text itself, or overlapping pieces that each fit the model, so that nothing is cut silently.

        Raises:
            EmbeddingError: the text is empty or blank.
        """
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """
        (len(texts), dimensions) unit rows, in the order of `texts`; each text must fit the model (see `windows`).

        Raises:
            EmbeddingError: a text is empty or blank, or the model failed.
        """
        ...
