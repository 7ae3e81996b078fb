"""Policies: expressions that the user keeps under a name, to be run again."""

from __future__ import annotations

from memento.backends import Backends
from memento.errors import InputError
from memento.iris import IRI, MEM, TYPE, policy_iri
from memento.model import Change, Scope

MOST_NAME = 100


def read_policies(scope: Scope, parts: Backends) -> dict[str, str]:
    """Read every policy that a reader of the scope sees, by name; that of the namespace goes before that of `main`."""
    found: dict[str, str] = {}
    for graph in reversed([scope.graph, *(one for one in scope.memory_graphs if one != scope.graph)]):
        rows = parts.graph.select("library/policies", [graph])
        found |= {str(row["name"]): str(row["expression"]) for row in rows}
    return dict(sorted(found.items()))


def keep_policy(name: str, expression: str, scope: Scope, parts: Backends) -> IRI:
    """
    Keep an expression under a name, in the place of the one that was there. The writers' lock must be held.

    Raises:
        InputError: an empty name, or one of more than 100 characters.
    """
    if not name.strip() or len(name) > MOST_NAME:
        raise InputError(f"the name of a policy must have 1 to {MOST_NAME} characters")
    iri = policy_iri(scope.graph, name)
    after = {
        (iri, TYPE, MEM.Policy, scope.graph),
        (iri, MEM.name, name, scope.graph),
        (iri, MEM.expression, expression, scope.graph),
    }
    rows = parts.graph.select("search/statements", [scope.graph], node=iri)
    before = {(iri, IRI(str(row["predicate"])), row["value"], scope.graph) for row in rows}
    change = Change(tuple(after - before), tuple(before - after))
    if change.adds or change.removes:
        parts.commit(change, scope)
    return iri
