"""
Maps nouns to quads and back: each field is in the graph under the predicate that `model.py` names beside it.

*Guarantees:* `node(cls, iri, statements(quads(x))) == x` for every noun; a field that is None or empty has no quad. A value out of
the range of its property is ignored; if a field takes one value and there are several, the first in text order is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, fields
from typing import Any, TypeVar, get_args, get_type_hints

from memento.errors import GraphError
from memento.graph.ranges import drop_unreadable, ranges
from memento.iris import IRI, MEM, PROV, SKOS, TYPE, tag_iri
from memento.model import KINDS, Marks, Node, Quad, Value

N = TypeVar("N", bound=Node)

_KIND_OF = {MEM[kind]: kind for kind in KINDS}


def quads(node: Node, graph: IRI) -> list[Quad]:
    """Return every quad of a noun, its type first, in the order of its fields."""
    found: list[Quad] = [(node.iri, TYPE, MEM[type(node).__name__], graph)]
    for predicate, item, _ in _PROPERTIES[type(node)]:
        value = getattr(node, item.name)
        if predicate == MEM.entityType:
            value = MEM[value]
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None and one != "":
                found.append((node.iri, predicate, one, graph))
    return found


def statements(found: Iterable[Quad]) -> dict[IRI, dict[IRI, list[Value]]]:
    """Group quads: subject → predicate → objects, in their order."""
    grouped: dict[IRI, dict[IRI, list[Value]]] = {}
    for subject, predicate, value, _ in found:
        grouped.setdefault(subject, {}).setdefault(predicate, []).append(value)
    return grouped


def node(cls: type[N], iri: IRI, said: Mapping[IRI, Sequence[Value]]) -> N:
    """
    Return the noun that `said` describes, given as predicate → objects.

    Raises:
        GraphError: a field that must be there is missing.
    """
    arguments: dict[str, Any] = {"iri": iri}
    readable = drop_unreadable(said)
    for predicate, item, is_many in _PROPERTIES[cls]:
        values = readable.get(predicate, ())
        if (one := ranges().get(predicate)) is None or one.is_text:
            values = [value if isinstance(value, IRI) or type(value) is str else str(value) for value in values]
        if is_many:
            arguments[item.name] = tuple(values)
        elif values:
            value = values[0] if len(values) == 1 else min(values, key=str)
            arguments[item.name] = _KIND_OF.get(IRI(str(value)), value) if item.name == "kind" else value
    try:
        return cls(**arguments)
    except TypeError as error:
        raise GraphError(f"{iri} is no {cls.__name__}: {error}") from error


def node_or_none(cls: type[N], iri: IRI, said: Mapping[IRI, Sequence[Value]]) -> N | None:
    """Return the same as `node`, or None if a required field is missing, for callers that read many and skip broken ones."""
    try:
        return node(cls, iri, said)
    except GraphError:
        return None


def tag_quads(subject: IRI, names: Iterable[str], graph: IRI) -> list[Quad]:
    """Return every quad that tags a node, including those of the tags, which are SKOS concepts; blank names are ignored."""
    tags = {tag_iri(name): " ".join(name.split()).casefold() for name in names if name.strip()}
    return [
        quad
        for tag, name in tags.items()
        for quad in (
            (subject, MEM.tagged, tag, graph),
            (tag, TYPE, MEM.Tag, graph),
            (tag, TYPE, SKOS.Concept, graph),
            (tag, MEM.name, name, graph),
            (tag, SKOS.prefLabel, name, graph),
        )
    ]


def mark_quads(memory: IRI, marks: Marks, graph: IRI) -> list[Quad]:
    """Return the quads of a memory's marks; tags are written with them."""
    values: dict[IRI, Value | None] = {
        MEM.memoryType: marks.type,
        MEM.importance: marks.importance,
        MEM.container: marks.container,
    }
    statements = [(memory, name, value, graph) for name, value in values.items() if value not in (None, "")]
    return [*statements, *tag_quads(memory, marks.tags, graph)]


def invalidates(new: IRI, old: IRI, graph: IRI) -> Quad:
    """Return the shortcut triple for an Invalidation, so that a property path can follow a chain of beliefs."""
    return (new, MEM.invalidates, old, graph)


def attribute_note(note: IRI, user: IRI, graph: IRI) -> Quad:
    """Return the quad that attributes a note to the user."""
    return (note, PROV.wasAttributedTo, user, graph)


def _list_properties(cls: type) -> list[tuple[IRI, Field[Any], bool]]:
    """Return the fields of a noun, each with its predicate and whether it takes several values."""
    hints = get_type_hints(cls)
    return [
        (item.metadata["predicate"], item, str(hints[item.name]).startswith("tuple"))
        for item in fields(cls)
        if item.name != "iri"
    ]


_PROPERTIES = {cls: _list_properties(cls) for cls in get_args(Node)}
