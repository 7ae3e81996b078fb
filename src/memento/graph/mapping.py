"""
Nouns as quads, and back: each field lies in the graph under the predicate that `model.py` names beside it.

*Guarantees:* `node(cls, iri, statements(quads(x))) == x` for every noun; a field that is None or empty is no quad. A value that is
out of the range of its property is no value of a field; of several where one is allowed the first in the order of text is taken.
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
    """Subject → predicate → objects, in the order they came."""
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
    """The same, or None where a field that must be there is missing: for readers of many, who go on with the others."""
    try:
        return node(cls, iri, said)
    except GraphError:
        return None


def tag_quads(subject: IRI, names: Iterable[str], graph: IRI) -> list[Quad]:
    """Return every quad that tags a node, those of the tags among them, which are SKOS concepts; blank names are passed over."""
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
    """Return the quads of what stands beside a memory's text; a tag is written with it."""
    values: dict[IRI, Value | None] = {
        MEM.memoryType: marks.type,
        MEM.importance: marks.importance,
        MEM.container: marks.container,
    }
    statements = [(memory, name, value, graph) for name, value in values.items() if value not in (None, "")]
    return [*statements, *tag_quads(memory, marks.tags, graph)]


def invalidates(new: IRI, old: IRI, graph: IRI) -> Quad:
    """Return the shortcut beside an Invalidation, so that a property path can walk a chain of beliefs."""
    return (new, MEM.invalidates, old, graph)


def attribute_note(note: IRI, user: IRI, graph: IRI) -> Quad:
    """Return the quad that says that a note comes from the user."""
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
