"""
The seams: what the rooms above ask of a store, of an embedder and of a language model.

A protocol is born with its second real implementation; vectors, words and adjacency have one each and stay classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from memento.model import Change, Quad, Value
from memento.vocabulary import IRI

if TYPE_CHECKING:
    from pydantic import BaseModel

Form = TypeVar("Form", bound="BaseModel")
"""The shape that a model's answer must have."""

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
        The rows of `queries/{query}.rq`, read from the `readable` named graphs alone, without values out of their range.

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

    def graphs(self) -> list[IRI]:
        """Every named graph that holds something, sorted."""
        ...

    def quads(self, graph: IRI) -> Iterable[Quad]:
        """Every quad of one named graph, those of one subject together."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is asked: the rules, the input, and how freely and how long it may answer (None: as configured)."""

    system: str
    user: str
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[Form]):
    """A model's answer in the form asked for, and what it cost over all attempts; 0 where the provider does not say."""

    value: Form
    tokens_in: int = 0
    tokens_out: int = 0
    attempts: int = 1


class Chat(Protocol):
    """A language model that answers in a given form. May be asked from several threads."""

    name: str
    """Provider and model, as `openai:gpt-5-mini`: goes into the provenance of what it says."""

    def answer(
        self, asked: Prompt, form: type[Form], complaint: Callable[[Form], str | None] | None = None
    ) -> Reply[Form]:
        """
        The answer to one prompt.

        Args:
            form: a pydantic model; an answer that does not fit is sent back with what is wrong, as often as is configured.
            complaint: what is wrong with an answer that fits the form, or None; it is sent back too.

        Raises:
            ModelError: no fitting answer after the last attempt, the provider refuses, or the circuit is open.
        """
        ...

    def close(self) -> None:
        """Let go of connections; the next question opens new ones."""
        ...
