"""
Declare every operation on a memory, once for all interfaces.

`TABLE` has them by name, in the order of the reference pages. Loops over it generate REST and OpenAPI, the HTTP client, the
commands, the s-expressions, the Python methods and the reference pages. `tests/operations` tests every operation at every
interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memento.operations import care, cases, expressions, graphs, intake, keys, notes, recall, sessions, strength
from memento.operations.base import Field, Operation, check_fields, check_value, fields_of, name_of

__all__ = ["GROUPS", "TABLE", "THEMES", "Field", "Operation", "check_fields", "check_value", "fields_of", "name_of"]

THEMES = {
    "notes": notes,
    "intake": intake,
    "recall": recall,
    "sessions": sessions,
    "keys": keys,
    "strength": strength,
    "cases": cases,
    "expressions": expressions,
    "graphs": graphs,
    "care": care,
}
"""The modules that declare operations, in the order of the reference pages."""

GROUPS: Mapping[str, str] = {
    "admin": "Run and protect: checks, indexes, backups, tenants, tokens.",
    "cases": "Finished tasks as examples, tasks that run, plans.",
    "graphs": "Whole graphs and updates by SPARQL, and how entities are connected.",
    "intake": "Bring in: notes of other programs, documents, projects, RDF, what was captured.",
    "keys": "Memories under keys: find keys, open memories, walk from one to the next.",
    "living": "Strength, fading and associations; the map; expressions.",
    "review": "Look and correct: marks, disputes, sources, what waits, what was forgotten.",
    "sessions": "Sessions of agents, the profile, pages that are always in the context, answers of a model.",
}
"""What the groups of Python methods are for; `method_of` says which method is in which."""

TABLE: Mapping[str, type[Operation[Any]]] = {
    name_of(one): one
    for module in THEMES.values()
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, Operation) and one.__module__ == module.__name__
}
"""Every operation by its name."""
