"""
Inferred triples as they are written: each with a statement to point at, and an inference for each way in which it follows.

    ex:lisbon ex:partOf ex:europe .
    <urn:memento:inference:…> a mem:Inference ; mem:rule "prp-trp" ;
        mem:concludes <urn:memento:statement:…> ; mem:premise <urn:memento:statement:…> , …  .
    <urn:memento:statement:…> a rdf:Statement ; rdf:subject ex:lisbon ; rdf:predicate ex:partOf ; rdf:object ex:portugal ;
        mem:statedIn <urn:memento:data:local:places> .

*Guarantees:* no blank nodes; the same triple and the same proof have the same IRI in every store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from hashlib import sha256

from memento.graph.inference.axioms import TYPE, Term, Triple
from memento.graph.inference.reading import Support
from memento.iris import MEM, PROV, RDF

Proof = tuple[str, tuple[Triple, ...]]
"""The name of a rule, and the triples it was used on, its axiom first."""

Line = Triple

_STATEMENT, _INFERENCE, _CONTRADICTION = f"<{RDF.Statement}>", f"<{MEM.Inference}>", f"<{MEM.Contradiction}>"
_SUBJECT, _PREDICATE, _OBJECT = f"<{RDF.subject}>", f"<{RDF.predicate}>", f"<{RDF.object}>"
_RULE, _CONCLUDES, _PREMISE = f"<{MEM.rule}>", f"<{MEM.concludes}>", f"<{MEM.premise}>"
_STATED_IN, _DERIVED_FROM = f"<{MEM.statedIn}>", f"<{PROV.wasDerivedFrom}>"


def statement(triple: Triple) -> Term:
    """The IRI of a triple that is spoken of."""
    return _named("statement", triple)


def inference(triple: Triple, proof: Proof) -> Term:
    """The IRI of one way in which a triple follows."""
    return _named("inference", (*triple, proof[0], *(term for premise in proof[1] for term in premise)))


def contradiction(subject: Term, predicate: Term, values: Collection[Term]) -> Term:
    """The IRI of several values where there can be one."""
    return _named("contradiction", (subject, predicate, *sorted(values)))


class Page:
    """What is written of one reader's inferences, and what is to be changed about it."""

    def __init__(self) -> None:
        self.proofs: dict[Triple, tuple[Proof, ...]] = {}
        self.contradictions: dict[tuple[Term, Term], tuple[frozenset[Term], Triple]] = {}
        self._spoken_of: Counter[Triple] = Counter()
        self._described: dict[Triple, tuple[Line, ...]] = {}
        self._again: set[Triple] = set()
        self._net: Counter[Line] = Counter()

    def prove(self, triple: Triple, proofs: tuple[Proof, ...]) -> None:
        """Write how a triple follows, in place of what was written; without a proof it does not."""
        before = self.proofs.pop(triple, ())
        if proofs:
            self.proofs[triple] = proofs
        if bool(proofs) != bool(before):
            self._net[triple] += 1 if proofs else -1
            self._speak_of(triple, 1 if proofs else -1)
        for sign, some in ((-1, before), (1, proofs)):
            for proof in some:
                self._add(_inferred(triple, proof), sign)
                for premise in proof[1]:
                    self._speak_of(premise, sign)

    def contradict(self, subject: Term, predicate: Term, values: Collection[Term], axiom: Triple | None) -> None:
        """Write that there are several values where there can be one, in place of what was written; nothing for fewer than two."""
        before = self.contradictions.pop((subject, predicate), None)
        if before:
            self._contradicted(subject, predicate, before, -1)
        if axiom and len(values) > 1:
            found = frozenset(values), axiom
            self.contradictions[subject, predicate] = found
            self._contradicted(subject, predicate, found, 1)

    def restate(self, triples: Iterable[Triple]) -> None:
        """Look at where some triples stand once more."""
        self._again.update(triples)

    def taken(self, supports: Callable[[Triple], Collection[Support]]) -> tuple[list[Line], list[Line]]:
        """The lines to remove and to add since the last call."""
        for triple in self._again:
            before = self._described.pop(triple, ())
            after = _described(triple, supports(triple)) if self._spoken_of[triple] > 0 else ()
            if after:
                self._described[triple] = after
            else:
                del self._spoken_of[triple]
            if after != before:
                self._add(before, -1)
                self._add(after, 1)
        self._again.clear()
        gone = [line for line, count in self._net.items() if count < 0]
        come = [line for line, count in self._net.items() if count > 0]
        self._net.clear()
        return gone, come

    def _contradicted(self, subject: Term, predicate: Term, found: tuple[frozenset[Term], Triple], sign: int) -> None:
        values, axiom = found
        node = contradiction(subject, predicate, values)
        premises = [axiom, *((subject, predicate, value) for value in sorted(values))]
        lines = [(node, TYPE, _CONTRADICTION), (node, _SUBJECT, subject), (node, _PREDICATE, predicate)]
        lines += [(node, _OBJECT, value) for value in values]
        self._add([*lines, *((node, _PREMISE, statement(one)) for one in premises)], sign)
        for one in premises:
            self._speak_of(one, sign)

    def _speak_of(self, triple: Triple, sign: int) -> None:
        self._spoken_of[triple] += sign
        self._again.add(triple)

    def _add(self, lines: Iterable[Line], sign: int) -> None:
        for line in lines:
            self._net[line] += sign


def _inferred(triple: Triple, proof: Proof) -> list[Line]:
    node = inference(triple, proof)
    lines = [(node, TYPE, _INFERENCE), (node, _RULE, f'"{proof[0]}"'), (node, _CONCLUDES, statement(triple))]
    return [*lines, *((node, _PREMISE, statement(one)) for one in dict.fromkeys(proof[1]))]


def _described(triple: Triple, supports: Collection[Support]) -> tuple[Line, ...]:
    node, (subject, predicate, value) = statement(triple), triple
    lines = [(node, TYPE, _STATEMENT), (node, _SUBJECT, subject), (node, _PREDICATE, predicate), (node, _OBJECT, value)]
    for one in supports:
        lines.append((node, _STATED_IN, one.graph))
        if one.memory:
            lines.append((node, _DERIVED_FROM, one.memory))
    return tuple(sorted(set(lines)))


def _named(kind: str, terms: Iterable[Term]) -> Term:
    return f"<urn:memento:{kind}:{sha256(' '.join(terms).encode()).hexdigest()[:32]}>"
