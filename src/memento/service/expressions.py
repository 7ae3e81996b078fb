"""What evaluates expressions: the small language of `sexpr` over the calls of the service."""

from __future__ import annotations

from typing import Any

import numpy as np

from memento.codec import plain
from memento.errors import InputError, NotFound
from memento.iris import IRI, parse_iri
from memento.model import Evaluated, Item, Marks, Remembered, ToRemember
from memento.retrieval.engines import activation
from memento.service.remembering import Remembering
from memento.sexpr import policies
from memento.sexpr.evaluation import Evaluation
from memento.sexpr.printer import printed
from memento.sexpr.reader import Form
from memento.sexpr.spoken import Said
from memento.sexpr.verbs import VERBS
from memento.time import now


class Expressions(Remembering):
    """Expressions, and what their verbs alone need."""

    def evaluate(self, expression: str, *, namespace: str | None = None) -> Evaluated:
        """
        The values of one or several expressions, as `(recall "tea")`; see docs/sexpr.md for the verbs.

        All of them are checked before the first runs. Those that change the memory take the right to write, others that to read.

        Raises:
            InputError: no expression, an unknown verb, wrong values, or too many calls; with line, column and the verb's signature.
                Errors of a verb keep their class, and are told with their place.
            TooLong: more than `sexpr.chars` characters.
            Forbidden: it would change the memory, and the caller may not.
        """
        knobs = self.settings.sexpr
        if not isinstance(expression, str):
            raise InputError(f"the expression must be text, not {type(expression).__name__}")
        within = Said(self, self._in(namespace).namespace)
        evaluation = Evaluation(VERBS, knobs.fuel, knobs.depth, knobs.chars, within)
        forms = evaluation.checked(expression)
        if evaluation.writes(forms):
            self._access.needs("write")
            self._writable()
        values = evaluation.evaluated(forms)
        return Evaluated(values=tuple(map(_shown, values)), text=printed(_simple(values[-1])), calls=evaluation.calls)

    def _marked(self, text: str, marks: Marks, ttl_s: float | None, namespace: str | None) -> Remembered:
        item = ToRemember(content=text, ttl_s=ttl_s, source="expression")
        return self._remembered(item, self._in(namespace, "write"), marks)

    def _activated(self, text: str, limit: int, namespace: str | None) -> tuple[Item, ...]:
        self._checked(text, "query")
        return activation.recall_by_activation(
            text, limit, self._in(namespace), now(), self._parts, self._reinforcement
        )

    def _item(self, iri: str, namespace: str | None) -> Item:
        scope = self._in(namespace)
        found = activation.read_items([parse_iri(iri)], scope, self._parts)
        if IRI(iri) not in found:
            raise NotFound(f"there is no memory <{iri[:200]}> in the namespace {scope.namespace!r}")
        return found[IRI(iri)]

    def _current(self, namespace: str | None) -> int:
        """How many memories of the namespace's own graph are current."""
        nodes = self._parts.indexes.nodes
        with self._parts.indexes.lock:
            return int(np.count_nonzero(nodes.current([self._in(namespace).graph], now=now())))

    def _policies(self, namespace: str | None) -> dict[str, str]:
        return policies.read_policies(self._in(namespace), self._parts)

    def _policy(self, name: str, namespace: str | None) -> str:
        return policies.find_policy(name, self._in(namespace), self._parts)

    def _keep_policy(self, name: str, expression: str, namespace: str | None) -> None:
        scope = self._in(namespace, "write")
        with self._writing:
            policies.keep_policy(name, expression, scope, self._parts)


def _simple(value: Any) -> Any:
    """A value of records, lists and atoms alone; what was read stays what it is."""
    match value:
        case Form():
            return value
        case dict():
            return {name: _simple(one) for name, one in value.items()}
        case list() | tuple():
            return [_simple(one) for one in value]
    return plain(value)


def _shown(value: Any) -> Any:
    """The same as JSON; what was read as its text."""
    return printed(value) if isinstance(value, Form) else _simple(value)
