"""
Axioms as rules: which facts lead to which, and for which properties facts are to be read at all.

A fact is (predicate, subject, object), each a term as N-Triples writes it. Two kinds of predicates are no properties: the class
`a <C>`, and those that begin with `=`: `=same`, and the `=edge <p>` that a transitive property is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memento.iris import MEM, OWL, RDF, RDFS

Term = str
Fact = tuple[str, Term, Term]
"""Predicate, subject, object."""

Triple = tuple[Term, Term, Term]
"""Subject, predicate, object."""

SAME = "=same"
SAME_AS = f"<{OWL.sameAs}>"
TYPE = f"<{RDF.type}>"

_RESERVED = tuple(f"<{namespace.base}" for namespace in (RDF, RDFS, OWL))


@dataclass(frozen=True, slots=True)
class Axiom:
    """One statement about properties: a triple, and for a chain its members in the place of the object."""

    triple: Triple
    members: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Copied:
    """body(x, y) → head(x, y); head(y, x) when it is `turned`; head(x, `value`) when there is one."""

    name: str
    body: str
    head: str
    axiom: Triple | None = None
    turned: bool = False
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """first(x, y) and second(y, z) → head(x, z)."""

    name: str
    first: str
    second: str
    head: str
    axiom: Triple | None = None


Rule = Copied | Joined


@dataclass(frozen=True, slots=True)
class Rules:
    """
    What some axioms amount to.

    `read` are the properties whose facts take part, `classes` those whose members do. `edges` are transitive properties: what is
    stated of them, or follows otherwise than from their transitivity, is a fact of `=edge <p>`. `functional` maps a property to the
    axiom that gives it one value, `slots` the name of a slot to the properties that say the same, each with its axiom.
    """

    rules: tuple[Rule, ...] = ()
    read: frozenset[Term] = frozenset()
    classes: frozenset[Term] = frozenset()
    edges: frozenset[Term] = frozenset()
    functional: dict[Term, Triple] = field(default_factory=dict)
    slots: dict[str, list[tuple[Term, Triple]]] = field(default_factory=dict)

    def entered(self, triple: Triple) -> Fact:
        """A stated triple as the fact that the rules start from."""
        subject, predicate, value = triple
        if predicate == TYPE:
            return (f"a {value}", subject, value)
        return (edge(predicate) if predicate in self.edges else predicate, subject, value)


def edge(predicate: Term) -> str:
    """The predicate of what a transitive property is made of."""
    return f"=edge {predicate}"


def shown(fact: Fact) -> Triple | None:
    """The triple that a fact stands for; None for `=same`, which stands for a triple in one of two directions."""
    predicate, subject, value = fact
    if predicate.startswith("a "):
        return (subject, TYPE, value)
    if predicate.startswith("=edge "):
        return (subject, predicate[6:], value)
    return None if predicate == SAME else (subject, predicate, value)


def rules_of(axioms: Iterable[Axiom]) -> Rules:
    """The rules that some axioms amount to; those about the vocabularies of RDF, RDFS and OWL themselves are passed over."""
    stated = [one for one in axioms if not _is_reserved(one)]
    edges = frozenset(one.triple[0] for one in stated if _says(one, OWL.TransitiveProperty))
    found: list[Rule] = []
    functional: dict[Term, Triple] = {}
    slots: dict[str, list[tuple[Term, Triple]]] = {}
    for one in stated:
        subject, predicate, value = one.triple
        if _says(one, OWL.FunctionalProperty):
            functional.setdefault(subject, one.triple)
        elif predicate == f"<{MEM.ofSlot}>":
            slots.setdefault(value, []).append((subject, one.triple))
        else:
            found += _rules(one, edges)
    properties = {term for one in stated for term in _properties(one)}
    found += [Copied("", edge(term), term) for term in sorted(edges)]
    found += _replacing(sorted(properties), edges)
    return Rules(
        tuple(dict.fromkeys(found)),
        frozenset({*properties, SAME_AS}) if properties else frozenset(),
        frozenset(term[2:] for rule in found for term in _ends(rule) if term.startswith("a ")),
        edges,
        functional,
        slots,
    )


def _rules(one: Axiom, edges: frozenset[Term]) -> list[Rule]:
    subject, predicate, value = one.triple
    if _says(one, OWL.TransitiveProperty):
        return [Joined("prp-trp", edge(subject), subject, subject, one.triple)]
    if _says(one, OWL.SymmetricProperty):
        return [_copied("prp-symp", subject, subject, one.triple, edges, turned=True)]
    match predicate[1:-1]:
        case RDFS.subPropertyOf if subject != value:
            return [_copied("prp-spo1", subject, value, one.triple, edges)]
        case OWL.equivalentProperty:
            return [
                _copied("prp-eqp1", subject, value, one.triple, edges),
                _copied("prp-eqp2", value, subject, one.triple, edges),
            ]
        case OWL.inverseOf:
            return [
                _copied("prp-inv1", subject, value, one.triple, edges, turned=True),
                _copied("prp-inv2", value, subject, one.triple, edges, turned=True),
            ]
        case RDFS.subClassOf if subject != value:
            return [Copied("cax-sco", f"a {subject}", f"a {value}", one.triple, value=value)]
        case OWL.propertyChainAxiom:
            return _chain(one, edges)
    return []


def _copied(
    name: str, body: Term, head: Term, axiom: Triple, edges: frozenset[Term], *, turned: bool = False
) -> Copied:
    # Where both are transitive the steps alone are handed over: the head makes the rest of them, and in far fewer ways.
    source = edge(body) if body in edges and head in edges else body
    return Copied(name, source, edge(head) if head in edges else head, axiom, turned)


def _chain(one: Axiom, edges: frozenset[Term]) -> list[Rule]:
    if len(one.members) != 2:
        return []
    head = one.triple[0]
    return [Joined("prp-spo2", *one.members, edge(head) if head in edges else head, one.triple)]


def _replacing(properties: Sequence[Term], edges: frozenset[Term]) -> list[Rule]:
    """What is said of one of two names that are stated to be the same is said of the other."""
    found: list[Rule] = [Copied("", SAME_AS, SAME), Copied("", SAME_AS, SAME, turned=True)]
    for term in properties:
        own = edge(term) if term in edges else term
        found += [Joined("eq-rep-s", SAME, own, own), Joined("eq-rep-o", own, SAME, own)]
    return found


def _says(one: Axiom, kind: str) -> bool:
    return one.triple[1] == TYPE and one.triple[2] == f"<{kind}>"


def _is_reserved(one: Axiom) -> bool:
    subject, _, value = one.triple
    ends = [subject, *one.members]
    if one.triple[1] != TYPE and not one.members:
        ends.append(value)
    return any(term.startswith(_RESERVED) or term.startswith("_:") for term in ends)


def _ends(rule: Rule) -> tuple[str, ...]:
    return (rule.body, rule.head) if isinstance(rule, Copied) else (rule.first, rule.second, rule.head)


def _properties(one: Axiom) -> list[Term]:
    """The properties that an axiom names."""
    subject, predicate, value = one.triple
    match predicate[1:-1]:
        case RDFS.subClassOf:
            return []
        case RDFS.subPropertyOf | OWL.equivalentProperty | OWL.inverseOf:
            return [subject, value]
    return [subject, *one.members]
