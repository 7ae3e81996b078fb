"""
Declare every operation on a memory, once for all interfaces.

`TABLE` has them by name, in the order of the reference pages. Loops over it generate REST and OpenAPI, the HTTP client, the
commands, the Python methods and the reference pages. `tests/operations` tests every operation at every interface.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import ModuleType
from typing import Any

from memento import plugin
from memento.errors import NotFound
from memento.operations import capture, care, graphs, notes, recall, sessions
from memento.operations.base import Field, Operation, check_fields, check_value, fields_of, name_of

__all__ = [
    "GROUPS",
    "TABLE",
    "THEMES",
    "Field",
    "Operation",
    "check_fields",
    "check_value",
    "fields_of",
    "find_operation",
    "list_operations",
    "name_of",
]

THEMES: dict[str, ModuleType]
"""The modules that declare operations, in the order of the reference pages."""

GROUPS: Mapping[str, str] = {
    "admin": "Run and protect: checks, indexes, backups, tenants, tokens.",
    "graphs": "Whole graphs and updates by SPARQL, and how entities are connected.",
    "intake": "Bring in: notes of other programs, documents, projects, RDF, what was captured.",
    "review": "Look and correct: marks, disputes, sources, what waits, what was forgotten.",
    "sessions": "Sessions of agents, the profile, answers of a model.",
}
"""What the groups of Python methods are for; `method_of` says which method is in which."""

TABLE: dict[str, type[Operation[Any]]]
"""Every operation by its name."""
PLUGGED: dict[str, str]
"""The operations of plug-ins by their names, each with the name of its plug-in."""


def __getattr__(name: str) -> Any:
    # Not at import: a plug-in's module of operations imports this package, and is not complete before that is done.
    if name not in ("THEMES", "TABLE", "PLUGGED"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals().update(_build_tables())
    return globals()[name]


def _build_tables() -> dict[str, Any]:
    """Return the three tables above, plug-ins included; raise `PluginError` if a name or an address is taken."""
    own = (notes, capture, recall, sessions, graphs, care)
    themes = {module.__name__.rpartition(".")[2]: module for module in own}
    table = {name: one for module in own for name, one in _declared_in(module).items()}
    owners, addresses = dict.fromkeys(table, "Memento"), {one.route: "Memento" for one in table.values()}
    plugged: dict[str, str] = {}
    for of, module in plugin.merge("operations", dict.fromkeys(themes)).items():
        if module is not None:
            declared = _declared_in(module)
            plugin.refuse_clash("operations", owners, declared, of)
            plugin.refuse_clash("addresses", addresses, {one.route: "" for one in declared.values()}, of)
            themes[of] = module
            table |= declared
            plugged |= dict.fromkeys(declared, of)
            owners |= dict.fromkeys(declared, f"the plug-in {of}")
            addresses |= {one.route: f"the plug-in {of}" for one in declared.values() if one.route}
    return {"THEMES": themes, "TABLE": table, "PLUGGED": plugged}


def _declared_in(module: ModuleType) -> dict[str, type[Operation[Any]]]:
    return {
        name_of(one): one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Operation) and one.__module__ == module.__name__
    }


def list_operations(left_out: Collection[str]) -> Mapping[str, type[Operation[Any]]]:
    """Return the operations by name, without those of the plug-ins that are left out."""
    from memento.operations import PLUGGED, TABLE

    return {name: one for name, one in TABLE.items() if PLUGGED.get(name) not in left_out}


def find_operation(name: str) -> Callable[..., Operation[Any]]:
    """
    Return an operation by its name, for a plug-in that asks what another one answers.

    Raises:
        NotFound: no plug-in that is installed has it.
    """
    from memento.operations import TABLE

    if name not in TABLE:
        raise NotFound(f"there is no operation {name}: no plug-in that is installed has it")
    return TABLE[name]
