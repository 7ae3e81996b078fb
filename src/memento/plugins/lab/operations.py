"""The operation of the laboratory: infer what follows from axioms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from memento.operations.base import Interface, Operation

if TYPE_CHECKING:
    from memento import model

GROUP = "graphs"


class Infer(Operation["model.Inferred"], frozen=True):
    """
    Infer again what follows from the graphs of the namespace, if they changed, and say how much that is.

    A query that reads inferred triples does the same first. They are a graph of their own.

    Raises:
        Forbidden: inference is switched off (`inference.on`).
    """

    route: ClassVar[str] = "GET /memory/inferred"
    is_idempotent: ClassVar[bool] = True
    absent: ClassVar[Mapping[Interface, str]] = {"mcp": "a model asks `memento_sparql`"}
