"""
Facts and all that follows from them by rules, kept as facts come and go.

Facts that come are led on until nothing new follows. When facts go, what may rest on them goes too, and comes back where it
still follows from what is left (Gupta, Mumick and Subrahmanian 1993, "Maintaining Views Incrementally", SIGMOD).

*Guarantees:* the facts are those that a run from the beginning would give. Every derived fact has a proof whose premises were
there before it: its stage is larger than theirs.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator

from memento.graph.inference.rules import SAME, SAME_AS, CopyRule, Fact, JoinRule, Rule, Rules, Term, Triple, triple_of

_WORK = 30
"""Conclusions that may be drawn for each fact that may be derived: most of them are known already."""

Derivation = tuple[Rule, tuple[Fact, ...]]
"""A rule and the facts that it was used on."""


class Overflow(Exception):
    """More follows than is allowed: never leaves this room."""


class Closure:
    """The facts of one reader."""

    def __init__(self, rules: Rules, most: int) -> None:
        """
        Args:
            most: facts that may be derived; with more of them nothing is inferred at all.
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
        )  # the rule, and whether it is its second atom
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
        """How many facts are there that were not given."""
        return len(self._stage) - len(self._given)

    def values(self, predicate: Term, subject: Term) -> set[Term]:
        """Return what is known of a subject by a property."""
        return self._values.get((predicate, subject), set())

    def same(self, term: Term) -> set[Term]:
        """Return every name that is stated to mean the same as a term, through others too, and the term itself."""
        names, left = {term}, [term]
        while left:
            fresh = self.values(SAME, left.pop()) - names
            names |= fresh
            left += fresh
        return names

    def change(self, gone: Iterable[Fact], come: Iterable[Fact]) -> set[Fact]:
        """
        Take facts away, then give others; returns every fact that came or went, or for which there is another proof or one less.

        Raises:
            Overflow: more follows than is allowed; the closure is of no use any more.
        """
        self._left = self._most * _WORK
        changed: set[Fact] = set()
        self._remove(gone, changed)
        self._derive_from(self._add_given(come, changed), changed)
        return changed

    def stage(self, triple: Triple) -> int | None:
        """Return how many steps a triple is away from what was given, 0 for what was; None for one that does not follow."""
        known = [self._stage[fact] for fact in self._facts(triple) if fact in self._stage]
        return min(known) if known else None

    def proofs(self, triple: Triple) -> list[tuple[Rule, tuple[Triple, ...]]]:
        """Return the rules by which a triple follows and what each was used on; only what does not itself rest on the triple."""
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
        """Yield everything that follows in one step from a fact and others that are there."""
        predicate, subject, value = fact
        # Lists: what is drawn from them may be put among them at once.
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
        """Yield every way in which a fact follows in one step from facts that are there."""
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
        """Premises as triples, or None when one of them is no earlier than what they are to prove."""
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
