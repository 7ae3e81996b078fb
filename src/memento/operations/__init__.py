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

__all__ = ["TABLE", "THEMES", "Field", "Operation", "check_fields", "check_value", "fields_of", "name_of"]

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

TABLE: Mapping[str, type[Operation[Any]]] = {
    name_of(one): one
    for module in THEMES.values()
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, Operation) and one.__module__ == module.__name__
}
"""Every operation by its name."""
