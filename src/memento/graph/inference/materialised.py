"""
What one reader's graphs lead to: facts and proofs in memory, and the lines that their graph of inferences is to gain and lose.

*Guarantees:* `follow` gives the graph that `build` would. When a memory is over, forgotten or erased, what rested on it alone goes,
however many steps away; what has another proof stays.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from memento.graph.inference.axioms import SAME_AS, Rules, Term, Triple, rules_of, shown
from memento.graph.inference.closure import Closure, Overflow
from memento.graph.inference.kin import Kin, kin_of
from memento.graph.inference.reading import Reader, Said, Support
from memento.graph.inference.written import Line, Page, Proof

K = TypeVar("K")
V = TypeVar("V")

_NOTHING = Said()


class Materialised:
    """The inferences of one reader; `is_complete` is False, and there are none, when more follows than is allowed."""

    def __init__(self, reader: Reader, most: int, now: datetime) -> None:
        self.reader = reader
        self._axioms = reader.axioms()
        self.rules: Rules = rules_of(self._axioms)
        self._axiom_supports = {one.triple: supports for one, supports in self._axioms.items()}
        self._closure = Closure(self.rules, most)
        self._page = Page()
        self._kin: Kin | None = None
        self._said: dict[Term, Said] = {}
        self._stated: dict[Triple, dict[Support, None]] = {}
        self._told: dict[Triple, dict[tuple[Triple, ...], None]] = {}
        self._grounds: dict[Triple, dict[Support, int]] = {}
        self._ends: list[tuple[datetime, Term]] = []
        self._leaning: dict[Term, set[Term]] = {}  # an entity → the memories whose slot is read as it
        self.is_complete = True
        try:
            self._apply(reader.everything(self.rules, now) if self.rules.read else {})
        except Overflow:
            self.is_complete = False

    @property
    def triples(self) -> int:
        """How many triples are inferred."""
        return len(self._page.proofs)

    @property
    def contradictions(self) -> int:
        return len(self._page.contradictions)

    @property
    def by_rule(self) -> dict[str, int]:
        """Inferences by the name of their rule."""
        return dict(Counter(proof[0] for proofs in self._page.proofs.values() for proof in proofs))

    def kin(self) -> Kin:
        """What is related to what, kept until that changes."""
        if self._kin is None:
            self._kin = kin_of(self._closure.facts, self.reader)
        return self._kin

    def is_outdated(self, nodes: Iterable[Term]) -> bool:
        """Whether a change to some nodes may have changed the axioms, so that all is to be built anew."""
        known = {one.triple[0] for one in self._axioms}
        return any(node in known or node.startswith("_:") or self.reader.states_axioms(node) for node in nodes)

    def concerns(self, nodes: Iterable[Term], now: datetime) -> bool:
        """Whether some nodes take part, or did."""
        known = (node in self._said or self.reader.said(node, self.rules, now) != _NOTHING for node in nodes)
        return any(known)

    def follow(self, nodes: Iterable[Term], now: datetime) -> tuple[list[Line], list[Line]]:
        """
        The lines to remove and to add after some nodes have changed, or after time has gone by.

        Args:
            nodes: everything of which something may be stated now that was not before, or no longer.

        Raises:
            Overflow: more follows than is allowed; this is of no use any more.
        """
        if self.rules.read:
            changed = set(nodes)
            while self._ends and self._ends[0][0] <= now:
                changed.add(heapq.heappop(self._ends)[1])
            changed |= {memory for node in list(changed) for memory in self._leaning.get(node, ())}
            self._apply({node: self.reader.said(node, self.rules, now) for node in changed if node.startswith("<")})
        return self._page.taken(self._supports)

    def due(self, now: datetime) -> bool:
        """Whether a memory has ended since the last time."""
        return bool(self._ends) and self._ends[0][0] <= now

    def _apply(self, said: dict[Term, Said]) -> None:
        gone: set[Triple] = set()
        come: set[Triple] = set()
        shifted: set[Triple] = set()
        for node, after in said.items():
            before = self._said.pop(node, _NOTHING)
            if before == after:
                if after is not _NOTHING:
                    self._said[node] = after
                continue
            touched = {one[0] for one in (*before.stated, *after.stated, *before.told, *after.told)}
            held = {triple for triple in touched if self._holds(triple)}
            self._withdraw(node, before)
            self._state(node, after)
            shifted |= touched | {one[0] for one in (*before.grounds, *after.grounds)}
            for triple in touched:
                if self._holds(triple) != (triple in held):
                    # Several nodes of one change may take a triple away and give it again.
                    (gone if triple in held else come).add(triple)
        gone = {triple for triple in gone if not self._holds(triple)}
        come = {triple for triple in come if self._holds(triple)}
        if shifted:
            self._kin = None
        entered = self.rules.entered
        changed = self._closure.change(map(entered, sorted(gone)), map(entered, sorted(come)))
        conclusions = {found for fact in changed if (found := shown(fact)) is not None}
        for triple in shifted | conclusions:
            self._page.prove(triple, self._proofs(triple))
        self._page.restate(shifted)
        for predicate, axiom in self.rules.functional.items():
            for subject in {triple[0] for triple in shifted | conclusions if triple[1] == predicate}:
                self._page.contradict(subject, predicate, self._different(predicate, subject), axiom)

    def _holds(self, triple: Triple) -> bool:
        return triple in self._stated or triple in self._told

    def _state(self, node: Term, said: Said) -> None:
        if said == _NOTHING:
            return
        self._said[node] = said
        for triple, support in said.stated:
            self._stated.setdefault(triple, {})[support] = None
        for triple, because in said.told:
            self._told.setdefault(triple, {})[because] = None
        for triple, support in said.grounds:
            counted = self._grounds.setdefault(triple, {})
            counted[support] = counted.get(support, 0) + 1
        for name in said.names:
            self._leaning.setdefault(name, set()).add(node)
        if said.until:
            heapq.heappush(self._ends, (said.until, node))

    def _withdraw(self, node: Term, said: Said) -> None:
        for triple, support in said.stated:
            _taken_from(self._stated, triple, support)
        for triple, because in said.told:
            _taken_from(self._told, triple, because)
        for triple, support in said.grounds:
            counted = self._grounds[triple]
            counted[support] -= 1
            if counted[support] <= 0:
                _taken_from(self._grounds, triple, support)
        for name in said.names:
            self._leaning.get(name, set()).discard(node)

    def _proofs(self, triple: Triple) -> tuple[Proof, ...]:
        """Every way in which a triple follows; none when it is stated, or is a statement about names."""
        if triple in self._stated or triple[1] == SAME_AS:
            return ()
        told = [("slot", because) for because in self._told.get(triple, ())]
        derived = [
            (rule.name, (rule.axiom, *premises) if rule.axiom else premises)
            for rule, premises in self._closure.proofs(triple)
        ]
        return (*sorted(told), *derived)

    def _different(self, predicate: Term, subject: Term) -> list[Term]:
        """The values of a property of a subject, one for each thing: of two names that are stated to be the same, the first."""
        found: list[Term] = []
        known: set[Term] = set()
        for value in sorted(self._closure.values(predicate, subject)):
            if value not in known:
                found.append(value)
                known |= self._closure.same(value)
        return found

    def _supports(self, triple: Triple) -> list[Support]:
        supports = [
            *self._stated.get(triple, ()),
            *self._grounds.get(triple, ()),
            *self._axiom_supports.get(triple, ()),
        ]
        return list(dict.fromkeys(supports))


def _taken_from(table: dict[Triple, dict[K, V]], key: Triple, value: K) -> None:
    found = table[key]
    del found[value]
    if not found:
        del table[key]
