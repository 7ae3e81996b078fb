"""What is related to what by the properties that take part in inference, stated or inferred, and what all of it is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memento.graph.inference.axioms import Fact, Term, shown
from memento.graph.inference.reading import Reader
from memento.iris import IRI


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Kin:
    """`beside` has the neighbours of each node in both directions, `names` what a node is called, its labels in any language."""

    beside: Mapping[IRI, frozenset[IRI]] = field(default_factory=dict)
    names: Mapping[IRI, tuple[str, ...]] = field(default_factory=dict)


def kin_of(facts: Iterable[Fact], reader: Reader) -> Kin:
    """The kin that facts tell of; texts and classes are nobody's."""
    beside: dict[IRI, set[IRI]] = {}
    for fact in facts:
        triple = shown(fact)
        if triple is None or fact[0].startswith("a ") or not triple[2].startswith("<"):
            continue
        one, other = _iri(triple[0]), _iri(triple[2])
        if one != other:
            beside.setdefault(one, set()).add(other)
            beside.setdefault(other, set()).add(one)
    names = {node: tuple(reader.names(f"<{node}>")) for node in beside}
    return Kin({node: frozenset(others) for node, others in beside.items()}, names)


def _iri(term: Term) -> IRI:
    return IRI(term[1:-1])
