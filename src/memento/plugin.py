"""
Find the plug-ins that are installed, and collect what they add.

A plug-in is a distribution with an entry point of the group `memento.plugins`, which names a `Plugin`: plain data that says by
dotted names what the plug-in adds. What a dotted name stands for is imported where it is first needed, handlers at the first call.
The plug-ins that come with Memento are declared and found in the same way.

*Guarantees:* a plug-in that cannot be loaded is left out, and `Found.problem` says why. If two plug-ins, or a plug-in and Memento,
use one name for the same kind of thing, nothing starts: a `PluginError` names both.

*Because:* the entry points are read from their files, because `importlib.metadata` takes as long as a command may take to start.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar

from memento.errors import PluginError

T = TypeVar("T")

GROUP = "memento.plugins"
API = 1
"""The version of this interface: the `api` of a plug-in that works with it."""

Kind = Literal[
    "operations",
    "before_write",
    "infers",
    "settings",
    "protects",
    "stores",
    "indexes",
    "engines",
    "profiles",
    "tools",
    "commands",
    "views",
    "pages",
    "panel",
    "gauges",
    "signals",
    "importers",
    "sections",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """
    What a plug-in is and adds. Dotted names are `package.module` or `package.module:attribute`.

    >>> Plugin(name="tides", summary="When the tide is high.", operations="tides.operations").api
    1
    """

    name: str
    """Its name, which is also that of its entry point."""
    summary: str
    """What it is for, in one sentence."""
    api: int = API
    needs: tuple[str, ...] = ()
    """The modules of other distributions that it cannot do without."""
    operations: str = ""
    """The module that declares its operations."""
    handlers: str = ""
    """The module whose functions, decorated with `handles`, answer them."""
    before_write: str = ""
    """The function that returns what else is written with a memory that replaces another: `service.context.BeforeWrite`."""
    corrects: tuple[str, ...] = ()
    """The fields of a correction that `before_write` answers for, of `keys` and `types`; nobody else's are accepted."""
    infers: str = ""
    """The function that returns what is inferred for a reader, and from what: `service.context.Infer`."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """For each group of settings, the dataclass that declares them; one that extends a group of Memento's has its name."""
    protects: Mapping[str, str] = field(default_factory=dict)
    """For each file by which a data folder or a backup is known to be protected, the function that unlocks it: `access.Unlock`."""
    stores: Mapping[str, str] = field(default_factory=dict)
    """For each value of `store.kind`, the function that opens a memory over that store: `backends.OpenStore`."""
    indexes: Mapping[str, str] = field(default_factory=dict)
    """For each value of `index.kind`, the function that opens that index over the store of a folder: `backends.OpenIndex`."""
    engines: Mapping[str, str] = field(default_factory=dict)
    """For each value of `land.engine`, the function that ranks memories: `retrieval.plain.RankMemories`."""
    profiles: Mapping[str, str] = field(default_factory=dict)
    """For each profile of settings, a mapping of groups to values, which lie over those in force."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """For each group of `MEMENTO_TOOLS`, the sequence of its tools."""
    groups: Mapping[str, str] | None = None
    """The groups that it adds for its commands, each with a sentence of help; by default one of its own name."""
    commands: str = ""
    """The module with what its commands differ in: `COMMANDS`, `BY_HAND` and `OLD_NAMES`, each optional."""
    views: str = ""
    """How its operations answer over HTTP if not as JSON: a mapping of operations to `View`s."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """For each address of a page, as `/tides` or `/tides/{iri}`, the function that shows it: `interfaces.web.pages.ShowPage`."""
    panel: str = ""
    """The function that returns the HTML of a further part of a memory's page: `interfaces.web.pages.ShowPanel`."""
    gauges: str = ""
    """The function of the context of a caller that returns what `/metrics` tells of it: `telemetry.Gauge`s."""
    buttons: tuple[str, ...] = ()
    """The operations that a form of a page may call."""
    signals: Mapping[str, str] = field(default_factory=dict)
    """For each signal of recall, the function `score_…` that is decorated with `retrieval.signals.signal`."""
    importers: Mapping[str, str] = field(default_factory=dict)
    """For each program that files can be imported from, the `intake.importers.Source` that reads them."""
    sections: Mapping[str, str] = field(default_factory=dict)
    """For each generated section of a page, as `docs/tides.md#table`, the function that writes it."""


@dataclass(slots=True, kw_only=True)
class Found:
    """A plug-in that is installed: the distribution with it, and what loading it has cost this process so far."""

    name: str
    distribution: str
    entry: str
    """The dotted name of its `Plugin`."""
    plugin: Plugin | None = None
    problem: str = ""
    """Why it is left out; empty if all is well."""
    modules: int = 0
    """How many modules were imported for it."""
    seconds: float = 0.0

    def load(self, dotted: str) -> Any:
        """Import what a dotted name stands for."""
        module, _, attribute = dotted.partition(":")
        with self._measure():
            found = import_module(module)
            return getattr(found, attribute) if attribute else found

    def leave_out(self, error: Exception) -> None:
        """Use nothing of the plug-in from now on, because of an error."""
        reason = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
        self.problem = " ".join(reason.split())
        import logging  # here, and find_spec below, because most commands do without

        logging.getLogger(__name__).warning("plugin.left-out", extra={"plugin": self.name, "error": self.problem})

    @contextmanager
    def _measure(self) -> Iterator[None]:
        modules, begun = len(sys.modules), time.perf_counter()
        try:
            yield
        finally:
            self.modules += len(sys.modules) - modules
            self.seconds += time.perf_counter() - begun


@cache
def find_plugins() -> Mapping[str, Found]:
    """
    Return the plug-ins that are installed, by name; those that cannot be loaded have a `problem`.

    Raises:
        PluginError: two distributions have a plug-in of the same name.
    """
    found: dict[str, Found] = {}
    for distribution, name, entry in _read_entry_points():
        if name not in found:
            found[name] = Found(name=name, distribution=distribution, entry=entry)
        elif found[name].entry != entry:
            raise PluginError(
                f"{found[name].distribution} and {distribution} both have a plug-in {name!r}: uninstall one of them"
            )
    for name, one in sorted(found.items()):
        try:
            one.plugin = _check_plugin(one.load(one.entry), name)
        except Exception as error:  # whatever a stranger's module does, the memory must start
            one.leave_out(error)
    return dict(sorted(found.items()))


def list_plugins() -> Iterator[tuple[Found, Plugin]]:
    """Yield the plug-ins that can be used."""
    for found in find_plugins().values():
        if found.plugin and not found.problem:
            yield found, found.plugin


def list_problems() -> dict[str, str]:
    """Return the plug-ins that could not be loaded, each with the reason."""
    return {name: found.problem for name, found in find_plugins().items() if found.problem}


@cache
def collect(kind: Kind) -> Mapping[str, Any]:
    """
    Import what the plug-ins add of one kind, by its name; of a kind that is one module or one object, by the name of the plug-in.

    Raises:
        PluginError: two plug-ins use one name.
    """
    owners = name_owners(kind)
    collected: dict[str, Any] = {}
    for found, plugin in list_plugins():
        try:
            collected |= {name: found.load(dotted) for name, dotted in _listed(plugin, kind).items()}
        except Exception as error:
            found.leave_out(error)
    return {name: collected[name] for name in owners if name in collected}


@cache
def name_owners(kind: Kind | Literal["groups"]) -> Mapping[str, str]:
    """Return the names of what the plug-ins add of one kind, each with its plug-in, importing nothing; raise as `collect`."""
    owners: dict[str, str] = {}
    for found, plugin in list_plugins():
        said = {name: f"the plug-in {of}" for name, of in owners.items()}
        refuse_clash(kind, said, _listed(plugin, kind), found.name)
        owners |= dict.fromkeys(_listed(plugin, kind), found.name)
    return owners


def load_handlers(name: str) -> None:
    """Import the handlers of a plug-in, which register themselves."""
    found = find_plugins()[name]
    assert found.plugin
    found.load(found.plugin.handlers)


def merge(kind: Kind, ours: Mapping[str, T]) -> dict[str, T]:
    """Return what Memento has of one kind, and what the plug-ins add; raise `PluginError` if two have the same name."""
    name_beside(kind, ours)
    return {**ours, **collect(kind)}


def name_beside(kind: Kind, ours: Iterable[str]) -> Mapping[str, str]:
    """Return the names of `name_owners`; raise `PluginError` if one of them is Memento's."""
    known = dict.fromkeys(ours, "Memento")
    for name, owner in name_owners(kind).items():
        refuse_clash(kind, known, (name,), owner)
    return name_owners(kind)


def refuse_clash(
    kind: str, owners: Mapping[str, str], names: Mapping[str, object] | tuple[str, ...], plugin: str
) -> None:
    """Raise `PluginError` if a plug-in brings a name that another owner has."""
    for name in names:
        if name in owners:
            raise PluginError(
                f"{kind}: {owners[name]} and the plug-in {plugin} both have {name!r}; uninstall or rename one of them"
            )


def list_groups(plugin: Plugin) -> Mapping[str, str]:
    """Return the groups that the commands of a plug-in are in, each with its sentence of help."""
    if plugin.groups is None:
        return {plugin.name: plugin.summary} if plugin.operations else {}
    return plugin.groups


def _listed(plugin: Plugin, kind: str) -> Mapping[str, str]:
    listed = list_groups(plugin) if kind == "groups" else getattr(plugin, kind)
    if isinstance(listed, str):
        return {plugin.name: listed} if listed else {}
    return dict(listed)


def _check_plugin(plugin: object, name: str) -> Plugin:
    """Return a plug-in that can be used; raise `PluginError` otherwise."""
    if not isinstance(plugin, Plugin):
        raise PluginError(f"its entry point names a {type(plugin).__name__}, not a memento.plugin.Plugin")
    if plugin.name != name:
        raise PluginError(f"it calls itself {plugin.name!r}, and its entry point {name!r}: give both the same name")
    if plugin.api != API:
        raise PluginError(
            f"it is made for version {plugin.api} of plug-ins, and this is {API}: install another version"
        )
    if plugin.needs:
        from importlib.util import find_spec

        if missing := [need for need in plugin.needs if find_spec(need) is None]:
            raise PluginError(f"it needs {', '.join(missing)}: install what has it")
    return plugin


def _read_entry_points() -> Iterator[tuple[str, str, str]]:
    """Yield the distribution, the name and the value of each entry point of a plug-in, in the order of `sys.path`."""
    for folder in dict.fromkeys(sys.path):
        for file in sorted(Path(folder or ".").glob("*-info/entry_points.txt")):
            text = file.read_text(encoding="utf-8")
            for line in text.partition(f"[{GROUP}]")[2].partition("\n[")[0].splitlines():
                name, equals, value = (part.strip() for part in line.partition("="))
                if equals:
                    yield file.parent.name.partition("-")[0], name, value
