"""A change held against the SHACL shapes before it is written, together with what it refers to."""

from __future__ import annotations

from collections.abc import Mapping

from memento.consolidation.write import Understood
from memento.errors import ShapeViolation
from memento.graph import mapping, shapes
from memento.model import Change, Quad
from memento.vocabulary import IRI, MEM, TYPE


def checked(change: Change, understood: Understood) -> None:
    """
    Nothing, when all that the change writes conforms.

    What it refers to is given with its type, so that a reference is judged; it is not judged itself. A memory that the change
    closes is judged as it will be.

    Raises:
        ShapeViolation: something does not conform; the report says what, a line each.
    """
    written = {subject for subject, _, _, _ in change.adds}
    found = [one for one in shapes.violations(_data(change, understood)) if one.focus in written]
    if found:
        lines = [one.line for one in found]
        raise ShapeViolation(f"{len(found)} of the shapes are broken: {lines[0]}", "\n".join(lines))


def _data(change: Change, understood: Understood) -> list[Quad]:
    scope = understood.scope
    gone = set(change.removes)
    written = {subject for subject, _, _, _ in change.adds}
    closed = [memory for memory in understood.retirable.values() if memory.iri in written]
    old = [quad for memory in closed for quad in mapping.quads(memory, scope.graph) if quad not in gone]
    data = [*change.adds, *old, *understood.task.pending]
    typed = {subject for subject, predicate, _, _ in data if predicate == TYPE}
    kinds: Mapping[IRI, IRI] = {
        scope.user: MEM.User,
        **{r.entity: MEM.Entity for r in understood.resolutions if r.entity},
        **{anchor: MEM.Entity for memory in closed for anchor in memory.about},
        **{memory.extracted_from: MEM.Note for memory in closed},
    }
    types = [(iri, TYPE, MEM.User if iri == scope.user else kind, scope.graph) for iri, kind in kinds.items()]
    return [*(quad for quad in data if quad not in gone), *(quad for quad in types if quad[0] not in typed)]
