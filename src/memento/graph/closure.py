"""
Turns axioms into rules, and keeps facts with everything that follows from them up to date as facts are added and removed.

The rules say which facts lead to which, for which properties facts must be read at all, and, in a sentence, what each rule does.
Added facts are derived from until nothing new follows. When facts are removed, everything that may rest on them is removed too, and
returns if it still follows from the rest (Gupta, Mumick and Subrahmanian 1993, "Maintaining Views Incrementally", SIGMOD).

A fact is (predicate, subject, object), each a term in N-Triples syntax. Two kinds of predicates are not properties: the class
`a <C>`, and those that begin with `=`: `=same`, and the `=edge <p>` from which a transitive property is computed.

*Guarantees:* the rules are those of `queries/inference/*.rq`, run until nothing new follows: a test checks this. The facts are
those that a run from scratch would give. Every derived fact has a proof with premises derived before it: its stage is higher than
theirs. No `owl:sameAs` is ever derived.

*Source:* the rules have their names from OWL 2 Profiles, section 4.3, https://www.w3.org/TR/owl2-profiles/
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    """One statement about properties: a triple; for a chain, with its members as the object."""

    triple: Triple
    members: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class CopyRule:
    """body(x, y) → head(x, y); head(y, x) if `turned`; head(x, `value`) if there is a value."""

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
    The rules that a set of axioms amounts to.

    `read` are the properties whose facts are used, `classes` the classes whose members are. `edges` are transitive properties:
    what is stated of them, or derived other than by transitivity, is a fact of `=edge <p>`. `functional` maps a property to the
    axiom that gives it one value; `slots` maps the name of a slot to the properties with the same meaning, each with its axiom.
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
    """Return the predicate of the edges from which a transitive property is computed."""
    return f"=edge {predicate}"


def triple_of(fact: Fact) -> Triple | None:
    """Return the triple that a fact stands for; None for `=same`, which may stand for a triple in either direction."""
    predicate, subject, value = fact
    if predicate.startswith("a "):
        return (subject, TYPE, value)
    if predicate.startswith("=edge "):
        return (subject, predicate[6:], value)
    return None if predicate == SAME else (subject, predicate, value)


def rules_of(axioms: Iterable[Axiom]) -> Rules:
    """Return the rules for some axioms; axioms about the vocabularies of RDF, RDFS and OWL themselves are ignored."""
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
    # If both are transitive, only the edges are copied: the head derives the rest from them, in far fewer ways.
    source = edge_predicate(body) if body in edges and head in edges else body
    return CopyRule(name, source, edge_predicate(head) if head in edges else head, axiom, turned)


def _chain_rules(axiom: Axiom, edges: frozenset[Term]) -> list[Rule]:
    if len(axiom.members) != 2:
        return []
    head = axiom.triple[0]
    return [JoinRule("prp-spo2", *axiom.members, edge_predicate(head) if head in edges else head, axiom.triple)]


def _substitution_rules(properties: Sequence[Term], edges: frozenset[Term]) -> list[Rule]:
    """Return the rules that carry statements about a name over to another name with the same meaning."""
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
"""The name of each rule, from OWL 2 Profiles if it is defined there → the file that states it."""


def describe_rule(rule: str) -> str:
    """
    Return what a rule does.

    >>> describe_rule("prp-symp")
    'Symmetric properties: a statement also holds in the opposite direction.'
    """
    return load_query(RULES[rule]).text.partition("\n")[0].removeprefix("# ")


_WORK = 30
"""Derivation steps allowed for each derived fact allowed: most steps lead to known facts."""

Derivation = tuple[Rule, tuple[Fact, ...]]
"""A rule and the facts it was applied to."""


class Overflow(Exception):
    """More facts follow than allowed; never raised outside this package."""


class Closure:
    """The facts of one reader, given and derived."""

    def __init__(self, rules: Rules, most: int) -> None:
        """
        Args:
            most: facts that may be derived; if more follow, nothing is inferred at all.
        """
        self.rules = rules
        self._most = most
        self._left = 0
        self._stage: dict[Fact, int] = {}
        self._given: set[Fact] = set()
        self._values: dict[tuple[str, Term], set[Term]] = defaultdict(set)
        self._subjects: dict[tuple[str, Term], set[Term]] = defaultdict(set)
        self._by_body: dict[str, list[tuple[Rule, bool]]] = defaultdict(
            list
        )  # the rule, and whether this is its second atom
        self._by_head: dict[str, list[Rule]] = defaultdict(list)
        for rule in rules.rules:
            self._by_head[rule.head].append(rule)
            if isinstance(rule, CopyRule):
                self._by_body[rule.body].append((rule, False))
            else:
                self._by_body[rule.first].append((rule, False))
                self._by_body[rule.second].append((rule, True))

    @property
    def facts(self) -> Collection[Fact]:
        """Every fact, given or derived."""
        return self._stage.keys()

    @property
    def derived_count(self) -> int:
        """The number of facts that were derived, not given."""
        return len(self._stage) - len(self._given)

    def values(self, predicate: Term, subject: Term) -> set[Term]:
        """Return the known values of a property of a subject."""
        return self._values.get((predicate, subject), set())

    def same(self, term: Term) -> set[Term]:
        """Return all names that are stated to mean the same as a term, also through others, and the term itself."""
        names, left = {term}, [term]
        while left:
            fresh = self.values(SAME, left.pop()) - names
            names |= fresh
            left += fresh
        return names

    def change(self, gone: Iterable[Fact], come: Iterable[Fact]) -> set[Fact]:
        """
        Remove facts, then add others; return every fact that came or went, or that gained or lost a proof.

        Raises:
            Overflow: more follows than allowed; do not use the closure any more.
        """
        self._left = self._most * _WORK
        changed: set[Fact] = set()
        self._remove(gone, changed)
        self._derive_from(self._add_given(come, changed), changed)
        return changed

    def stage(self, triple: Triple) -> int | None:
        """Return how many steps a triple is from the given facts, 0 for a given one; None if it does not follow."""
        known = [self._stage[fact] for fact in self._facts(triple) if fact in self._stage]
        return min(known) if known else None

    def proofs(self, triple: Triple) -> list[tuple[Rule, tuple[Triple, ...]]]:
        """Return the rules by which a triple follows with their premises, without proofs that rest on the triple itself."""
        own = self.stage(triple)
        proofs = {
            (rule, premises): None
            for fact in self._facts(triple)
            if fact in self._stage
            for rule, facts in self._derivations(fact)
            if rule.name and own is not None and (premises := self._grounds(facts, own)) is not None
        }
        return sorted(proofs, key=lambda one: (one[0].name, one[1]))

    def _add_given(self, come: Iterable[Fact], changed: set[Fact]) -> list[Fact]:
        fresh = []
        for fact in come:
            self._given.add(fact)
            changed.add(fact)
            if fact not in self._stage:
                self._put(fact, 0)
                fresh.append(fact)
            self._stage[fact] = 0
        return fresh

    def _remove(self, gone: Iterable[Fact], changed: set[Fact]) -> None:
        shaken: set[Fact] = set()
        left = [fact for fact in gone if fact in self._given]
        self._given.difference_update(left)
        while left:
            fact = left.pop()
            if fact in shaken or fact in self._given:
                continue
            shaken.add(fact)
            left += [head for head, _ in self._conclusions(fact)]
        for fact in shaken:
            self._drop(fact)
        changed |= shaken
        again = []
        for fact in shaken:
            if fact not in self._stage and (stage := self._lowest_stage(fact)) is not None:
                self._put(fact, stage)
                again.append(fact)
        self._derive_from(again, changed)

    def _derive_from(self, fresh: Iterable[Fact], changed: set[Fact]) -> None:
        waiting = deque(fresh)
        while waiting:
            for head, premises in self._conclusions(waiting.popleft()):
                changed.add(head)
                if head not in self._stage:
                    self._put(head, 1 + max(self._stage[one] for one in premises))
                    waiting.append(head)
            if self.derived_count > self._most:
                raise Overflow(f"more than {self._most} facts follow")

    def _conclusions(self, fact: Fact) -> Iterator[tuple[Fact, tuple[Fact, ...]]]:
        """Yield everything that follows in one step from a fact and other present facts."""
        predicate, subject, value = fact
        # Lists, because what is derived from them may be added to them meanwhile.
        for rule, is_second in self._by_body.get(predicate, ()):
            if isinstance(rule, CopyRule):
                if head := _apply_copy_rule(rule, subject, value):
                    yield self._count_conclusion(head, fact)
            elif is_second:
                for first in list(self._subjects.get((rule.first, subject), ())):
                    yield self._count_conclusion((rule.head, first, value), (rule.first, first, subject), fact)
            elif not value.startswith('"'):
                for last in list(self._values.get((rule.second, value), ())):
                    yield self._count_conclusion((rule.head, subject, last), fact, (rule.second, value, last))

    def _count_conclusion(self, head: Fact, *premises: Fact) -> tuple[Fact, tuple[Fact, ...]]:
        self._left -= 1
        if self._left < 0:
            raise Overflow(f"more than {self._most * _WORK} conclusions are to be drawn")
        return head, premises

    def _derivations(self, fact: Fact) -> Iterator[Derivation]:
        """Yield every way in which a fact follows in one step from present facts."""
        predicate, subject, value = fact
        for rule in self._by_head.get(predicate, ()):
            if isinstance(rule, JoinRule):
                for middle in self._values.get((rule.first, subject), ()):
                    if (last := (rule.second, middle, value)) in self._stage:
                        yield rule, ((rule.first, subject, middle), last)
            elif rule.value is not None:
                for old in self._values.get((rule.body, subject), ()):
                    yield rule, ((rule.body, subject, old),)
            else:
                body = (rule.body, value, subject) if rule.turned else (rule.body, subject, value)
                if body in self._stage:
                    yield rule, (body,)

    def _lowest_stage(self, fact: Fact) -> int | None:
        stages = [1 + max(self._stage[one] for one in facts) for _, facts in self._derivations(fact)]
        return min(stages) if stages else None

    def _facts(self, triple: Triple) -> tuple[Fact, ...]:
        """Return the facts that stand for a triple: two for a transitive property."""
        subject, predicate, value = triple
        entered = self.rules.fact_of(triple)
        return (entered, (predicate, subject, value)) if predicate in self.rules.edges else (entered,)

    def _grounds(self, facts: tuple[Fact, ...], below: int) -> tuple[Triple, ...] | None:
        """Return premises as triples; None if one of them is not earlier than what they should prove."""
        found: list[Triple] = []
        for fact in facts:
            triple = triple_of(fact)
            if triple is not None:
                if (stage := self.stage(triple)) is None or stage >= below:
                    return None
                found.append(triple)
            else:
                found.append(self._stated_same(fact))
        return tuple(found)

    def _stated_same(self, fact: Fact) -> Triple:
        _, first, other = fact
        return (first, SAME_AS, other) if (SAME_AS, first, other) in self._stage else (other, SAME_AS, first)

    def _put(self, fact: Fact, stage: int) -> None:
        predicate, subject, value = fact
        self._stage[fact] = stage
        self._values[predicate, subject].add(value)
        self._subjects[predicate, value].add(subject)

    def _drop(self, fact: Fact) -> None:
        predicate, subject, value = fact
        del self._stage[fact]
        for index, key, other in (
            (self._values, (predicate, subject), value),
            (self._subjects, (predicate, value), subject),
        ):
            index[key].discard(other)
            if not index[key]:
                del index[key]


def _apply_copy_rule(rule: CopyRule, subject: Term, value: Term) -> Fact | None:
    if rule.value is not None:
        return (rule.head, subject, rule.value)
    if not rule.turned:
        return (rule.head, subject, value)
    return None if value.startswith('"') else (rule.head, value, subject)
