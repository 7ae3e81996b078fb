"""
Axioms as rules: which facts lead to which, for which properties facts are to be read at all, and the sentence that says what each
rule does.

A fact is (predicate, subject, object), each a term as N-Triples writes it. Two kinds of predicates are no properties: the class
`a <C>`, and those that begin with `=`: `=same`, and the `=edge <p>` that a transitive property is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memento.graph.binding import load_query
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
class CopyRule:
    """body(x, y) → head(x, y); head(y, x) when it is `turned`; head(x, `value`) when there is one."""

    name: str
    body: str
    head: str
    axiom: Triple | None = None
    turned: bool = False
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class JoinRule:
    """first(x, y) and second(y, z) → head(x, z)."""

    name: str
    first: str
    second: str
    head: str
    axiom: Triple | None = None


Rule = CopyRule | JoinRule


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

    def fact_of(self, triple: Triple) -> Fact:
        """Return a stated triple as the fact that the rules start from."""
        subject, predicate, value = triple
        if predicate == TYPE:
            return (f"a {value}", subject, value)
        return (edge_predicate(predicate) if predicate in self.edges else predicate, subject, value)


def edge_predicate(predicate: Term) -> str:
    """Return the predicate of what a transitive property is made of."""
    return f"=edge {predicate}"


def triple_of(fact: Fact) -> Triple | None:
    """Return the triple that a fact stands for; None for `=same`, which stands for a triple in one of two directions."""
    predicate, subject, value = fact
    if predicate.startswith("a "):
        return (subject, TYPE, value)
    if predicate.startswith("=edge "):
        return (subject, predicate[6:], value)
    return None if predicate == SAME else (subject, predicate, value)


def rules_of(axioms: Iterable[Axiom]) -> Rules:
    """Return the rules that some axioms amount to; those about the vocabularies of RDF, RDFS and OWL themselves are passed over."""
    stated = [axiom for axiom in axioms if not _is_reserved(axiom)]
    edges = frozenset(axiom.triple[0] for axiom in stated if _has_type(axiom, OWL.TransitiveProperty))
    rules: list[Rule] = []
    functional: dict[Term, Triple] = {}
    slots: dict[str, list[tuple[Term, Triple]]] = {}
    for axiom in stated:
        subject, predicate, value = axiom.triple
        if _has_type(axiom, OWL.FunctionalProperty):
            functional.setdefault(subject, axiom.triple)
        elif predicate == f"<{MEM.ofSlot}>":
            slots.setdefault(value, []).append((subject, axiom.triple))
        else:
            rules += _rules_of_axiom(axiom, edges)
    properties = {term for axiom in stated for term in _properties_of(axiom)}
    rules += [CopyRule("", edge_predicate(term), term) for term in sorted(edges)]
    rules += _substitution_rules(sorted(properties), edges)
    return Rules(
        tuple(dict.fromkeys(rules)),
        frozenset({*properties, SAME_AS}) if properties else frozenset(),
        frozenset(term[2:] for rule in rules for term in _predicates_of(rule) if term.startswith("a ")),
        edges,
        functional,
        slots,
    )


def _rules_of_axiom(axiom: Axiom, edges: frozenset[Term]) -> list[Rule]:
    subject, predicate, value = axiom.triple
    if _has_type(axiom, OWL.TransitiveProperty):
        return [JoinRule("prp-trp", edge_predicate(subject), subject, subject, axiom.triple)]
    if _has_type(axiom, OWL.SymmetricProperty):
        return [_copy_rule("prp-symp", subject, subject, axiom.triple, edges, turned=True)]
    match predicate[1:-1]:
        case RDFS.subPropertyOf if subject != value:
            return [_copy_rule("prp-spo1", subject, value, axiom.triple, edges)]
        case OWL.equivalentProperty:
            return [
                _copy_rule("prp-eqp1", subject, value, axiom.triple, edges),
                _copy_rule("prp-eqp2", value, subject, axiom.triple, edges),
            ]
        case OWL.inverseOf:
            return [
                _copy_rule("prp-inv1", subject, value, axiom.triple, edges, turned=True),
                _copy_rule("prp-inv2", value, subject, axiom.triple, edges, turned=True),
            ]
        case RDFS.subClassOf if subject != value:
            return [CopyRule("cax-sco", f"a {subject}", f"a {value}", axiom.triple, value=value)]
        case OWL.propertyChainAxiom:
            return _chain_rules(axiom, edges)
    return []


def _copy_rule(
    name: str, body: Term, head: Term, axiom: Triple, edges: frozenset[Term], *, turned: bool = False
) -> CopyRule:
    # Where both are transitive the steps alone are handed over: the head makes the rest of them, and in far fewer ways.
    source = edge_predicate(body) if body in edges and head in edges else body
    return CopyRule(name, source, edge_predicate(head) if head in edges else head, axiom, turned)


def _chain_rules(axiom: Axiom, edges: frozenset[Term]) -> list[Rule]:
    if len(axiom.members) != 2:
        return []
    head = axiom.triple[0]
    return [JoinRule("prp-spo2", *axiom.members, edge_predicate(head) if head in edges else head, axiom.triple)]


def _substitution_rules(properties: Sequence[Term], edges: frozenset[Term]) -> list[Rule]:
    """Return the rules by which what is said of one of two names that mean the same is said of the other."""
    rules: list[Rule] = [CopyRule("", SAME_AS, SAME), CopyRule("", SAME_AS, SAME, turned=True)]
    for term in properties:
        own = edge_predicate(term) if term in edges else term
        rules += [JoinRule("eq-rep-s", SAME, own, own), JoinRule("eq-rep-o", own, SAME, own)]
    return rules


def _has_type(axiom: Axiom, kind: str) -> bool:
    return axiom.triple[1] == TYPE and axiom.triple[2] == f"<{kind}>"


def _is_reserved(axiom: Axiom) -> bool:
    subject, _, value = axiom.triple
    ends = [subject, *axiom.members]
    if axiom.triple[1] != TYPE and not axiom.members:
        ends.append(value)
    return any(term.startswith(_RESERVED) or term.startswith("_:") for term in ends)


def _predicates_of(rule: Rule) -> tuple[str, ...]:
    return (rule.body, rule.head) if isinstance(rule, CopyRule) else (rule.first, rule.second, rule.head)


def _properties_of(axiom: Axiom) -> list[Term]:
    """Return the properties that an axiom names."""
    subject, predicate, value = axiom.triple
    match predicate[1:-1]:
        case RDFS.subClassOf:
            return []
        case RDFS.subPropertyOf | OWL.equivalentProperty | OWL.inverseOf:
            return [subject, value]
    return [subject, *axiom.members]


RULES: Mapping[str, str] = {
    "cax-sco": "inference/sub_class",
    "eq-rep-o": "inference/same",
    "eq-rep-s": "inference/same",
    "prp-eqp1": "inference/equivalent",
    "prp-eqp2": "inference/equivalent",
    "prp-fp": "inference/functional",
    "prp-inv1": "inference/inverse",
    "prp-inv2": "inference/inverse",
    "prp-spo1": "inference/sub_property",
    "prp-spo2": "inference/chain",
    "prp-symp": "inference/symmetric",
    "prp-trp": "inference/transitive",
    "slot": "inference/slot",
}
"""The name of each rule, in OWL 2 Profiles where it is one of theirs → the file that states it."""


def describe_rule(rule: str) -> str:
    """
    Return what a rule does.

    >>> describe_rule("prp-symp")
    'What holds of a symmetric property holds the other way round too.'
    """
    return load_query(RULES[rule]).text.partition("\n")[0].removeprefix("# ")
