"""Class diagrams of the vocabulary in Mermaid, which most Markdown viewers draw: one for each heading of the ontology."""

from __future__ import annotations

from collections.abc import Sequence

from memento.iris import IRI, MEM
from memento.ontology.terms import Term, short, terms


def diagram(heading: str) -> str:
    """
    The classes under a heading, what their properties hold, and what they point at; empty where there is nothing to draw.

    A class of another heading is drawn by its name alone.
    """
    own = [term for term in terms() if term.heading == heading]
    classes = [term.iri for term in own if term.kind == "class"]
    lines = [line for term in own for line in _lines(term, classes)]
    return "\n".join(["classDiagram", "  direction LR", *dict.fromkeys(lines)]) if lines else ""


def _lines(term: Term, classes: Sequence[IRI]) -> list[str]:
    match term.kind:
        case "class":
            return [f"  class {term.name}", *(f"  {_node(parent)} <|-- {term.name}" for parent in term.parents)]
        case "object property":
            return [f"  {_node(one)} --> {_node(to)} : {term.name}" for one in term.domain for to in term.range]
        case "datatype property":
            return [f"  {_node(one)} : {_kind(term)} {term.name}" for one in term.domain]
        case _:
            return [f"  {_node(term.type)} <|.. {term.name}"] if term.type in classes else []


def _node(iri: IRI | None) -> str:
    """The name of a class in a diagram, where a colon would end it."""
    name = iri or ""
    return name.removeprefix(MEM.base) if name.startswith(MEM.base) else short(name).replace(":", "_")


def _kind(term: Term) -> str:
    return short(term.range[0]).removeprefix("xsd:") if term.range else "any"
