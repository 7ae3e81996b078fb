"""
Declare every operation on a memory, once for all interfaces.

`TABLE` has them by name, in the order of the reference pages. Loops over it generate REST and OpenAPI, the HTTP client, the
commands, the Python methods and the reference pages. `tests/operations` tests every operation at every interface.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

from memento import plugin
from memento.operations import care, cases, graphs, intake, keys, notes, recall, sessions, strength
from memento.operations.base import Field, Operation, check_fields, check_value, fields_of, name_of

__all__ = [
    "TABLE",
    "THEMES",
    "Field",
    "Operation",
    "check_fields",
    "check_value",
    "fields_of",
    "list_operations",
    "name_of",
]

THEMES: dict[str, ModuleType] = {
    "notes": notes,
    "intake": intake,
    "recall": recall,
    "sessions": sessions,
    "keys": keys,
    "strength": strength,
    "cases": cases,
    "graphs": graphs,
    "care": care,
}
"""The modules that declare operations, in the order of the reference pages."""


def _declared_in(module: ModuleType) -> dict[str, type[Operation[Any]]]:
    return {
        name_of(one): one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Operation) and one.__module__ == module.__name__
    }


TABLE: dict[str, type[Operation[Any]]] = {
    name: one for module in THEMES.values() for name, one in _declared_in(module).items()
}
"""Every operation by its name."""

PLUGGED: dict[str, str] = {}
"""The operations of plug-ins by their names, each with the name of its plug-in."""


def _add_plugins() -> None:
    """Add the operations of the plug-ins; raise `PluginError` if a name or an address is taken."""
    routes = {operation.route: name for name, operation in TABLE.items()}
    for of, module in plugin.collect("operations").items():
        plugin.refuse_clash("operations", dict.fromkeys(THEMES, "Memento"), (of,), of)
        declared = _declared_in(module)
        owners = {name: PLUGGED.get(name, "Memento") for name in TABLE}
        plugin.refuse_clash("operations", owners, declared, of)
        plugin.refuse_clash(
            "addresses", {r: owners[n] for r, n in routes.items()}, {o.route: n for n, o in declared.items()}, of
        )
        THEMES[of] = module
        TABLE.update(declared)
        PLUGGED.update(dict.fromkeys(declared, of))
        routes |= {operation.route: name for name, operation in declared.items()}


_add_plugins()


def list_operations(left_out: Collection[str]) -> Mapping[str, type[Operation[Any]]]:
    """Return the operations by name, without those of the plug-ins that are left out."""
    return {name: one for name, one in TABLE.items() if PLUGGED.get(name) not in left_out}
