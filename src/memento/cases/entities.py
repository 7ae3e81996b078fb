"""What a task concerns: the entities that its caller names, and those that its text names."""

from __future__ import annotations

from collections.abc import Sequence

from memento.backends import Backends
from memento.errors import InputError
from memento.iris import IRI, parse_iri
from memento.model import Scope
from memento.retrieval.anchor import named_entities


def entities_of(task: str, about: Sequence[str], scope: Scope, parts: Backends) -> tuple[IRI, ...]:
    """
    The entities of the readable graphs that a task concerns, those given first.

    Raises:
        InputError: one that is given is no entity of these graphs.
    """
    return entities_of_each([(task, about)], scope, parts)[0]


def entities_of_each(
    tasks: Sequence[tuple[str, Sequence[str]]], scope: Scope, parts: Backends
) -> list[tuple[IRI, ...]]:
    """The same for many tasks, each with the entities that are given."""
    indexes, graphs = parts.indexes, scope.memory_graphs
    with indexes.lock:
        anchors = indexes.nodes.within((*graphs, scope.self_graph), "anchor")
        are_names = bool(anchors.any())
        found = []
        for task, about in tasks:
            given = tuple(dict.fromkeys(map(parse_iri, about)))
            for iri in given:
                node = indexes.nodes.find(iri)
                if node is None or not anchors[node]:
                    raise InputError(
                        f"<{iri[:80]}> is no entity of the namespace {scope.namespace!r}: note something about it"
                    )
            mentioned = named_entities(task, indexes.labels, graphs) if are_names else []
            found.append(tuple(dict.fromkeys([*given, *map(indexes.nodes.iri, mentioned)])))
    return found


def called(name: str, scope: Scope, parts: Backends) -> list[IRI]:
    """The entities of the readable graphs that go by a name."""
    indexes = parts.indexes
    with indexes.lock:
        return [indexes.nodes.iri(node) for node in indexes.labels.find(name, scope.memory_graphs)]
