"""Documents as quads, read as the store would read them."""

from collections.abc import Callable
from pathlib import Path

import pyoxigraph
import pytest

from memento.graph.terms import to_value
from memento.model import Quad
from memento.vocabulary import IRI

GRAPH = IRI("urn:memento:graph:local:main")


@pytest.fixture(scope="session")
def quads_of() -> Callable[[Path], list[Quad]]:
    def read(path: Path) -> list[Quad]:
        return [
            (
                IRI(str(found.subject.value)),
                IRI(found.predicate.value),
                to_value(found.object),
                IRI(found.graph_name.value) if isinstance(found.graph_name, pyoxigraph.NamedNode) else GRAPH,
            )
            for found in pyoxigraph.parse(path=path)
        ]

    return read
