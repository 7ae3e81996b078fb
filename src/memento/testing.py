"""
Test a plug-in: open small memories with it and without it, and check all that can be checked of any plug-in.

    def test_tides():
        with memory(plugins=["tides"]) as memento:
            assert memento.tides.tide(...)

    def test_it_is_a_good_plugin():
        assert check_plugin("tides", lambda memento: [Tide(...)]) == []

The plug-in must be installed, `pip install --editable .` suffices: it is found in tests as it is found in earnest.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from inspect import getdoc
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import click
from click.testing import CliRunner
from flask.testing import FlaskClient

from memento import plugin
from memento.codec import plain
from memento.errors import InputError, MementoError
from memento.interfaces.cli import main
from memento.interfaces.cli.base import list_owned
from memento.interfaces.cli.commands import command_of
from memento.interfaces.mcp import catalogue
from memento.interfaces.web.app import create_app
from memento.operations import PLUGGED, TABLE, Operation, fields_of, name_of
from memento.operations.base import complete, places_of, route_of
from memento.python import Memento, open_memento
from memento.python.methods import METHODS
from memento.settings import EXTENDED, ConsolidationSettings, EmbeddingSettings, Settings, groups, without_plugins

SMALL = Settings(
    embedding=EmbeddingSettings(model="trigram", cache=False),  # needs no model
    consolidation=ConsolidationSettings(read_imports=False),  # nothing is written behind a test's back
)
"""The settings of a small memory."""
MOST_MODULES = 2
"""The most modules that importing a manifest may load: the plug-in's package, and one more."""

Prepare = Callable[[Memento], Sequence[Operation[Any]]]
"""Fills a memory with what the calls need, and returns one call of each operation of the plug-in."""


@contextmanager
def memory(
    plugins: Collection[str] = (), *, folder: Path | None = None, configured: Settings = SMALL
) -> Iterator[Memento]:
    """
    Open a memory with some of the installed plug-ins, and with no others.

    Args:
        plugins: their names.
        folder: a data folder; default a new one, which is removed.
        configured: the settings of everything else.

    Raises:
        InputError: a plug-in is not installed, or cannot be loaded; says why.
    """
    for name in plugins:
        _require_plugin(name)
    chosen = without_plugins(configured, plugin.find_plugins().keys() - {*plugins})
    with TemporaryDirectory() as made:
        opened = open_memento(folder or Path(made, "home"), configured=chosen)
        assert isinstance(opened, Memento)
        with opened:
            yield opened


def check_plugin(name: str, prepare: Prepare = lambda memento: (), *, configured: Settings = SMALL) -> list[str]:
    """
    Return what is wrong with an installed plug-in, a sentence each; nothing if all is well.

    Checked are: its manifest loads, quickly; no name clashes; every operation is described, and can be called from Python, over
    HTTP and as a command, and by a tool if it does not say why not; switched off, all of it is gone, but an export is the same.

    Args:
        prepare: fills a memory and returns one call of each operation.
        configured: the settings of those memories.

    Raises:
        PluginError: one of its names is taken.
    """
    try:
        _require_plugin(name)
    except InputError as error:
        return [str(error)]
    own = [operation for operation, of in PLUGGED.items() if of == name]
    with TemporaryDirectory() as made:
        folder = Path(made)
        with memory(plugins=[name], folder=folder / "home", configured=configured) as memento:
            calls = {name_of(type(call)): call for call in prepare(memento)}
            wrong = [f"{operation}: `prepare` returns no call of it" for operation in own if operation not in calls]
            with create_app(memento.service).test_client() as client:
                for call in calls.values():
                    wrong += _check_call(call, memento, client)
        with (
            memory(plugins=[name], configured=configured) as memento,
            create_app(memento.service).test_client() as client,
        ):
            for call in prepare(memento):
                if call.right != "read":  # a write is not asked twice of one memory
                    wrong += _ask_over_http(call, client)[1]
        wrong += [problem for operation in own for problem in _check_declaration(operation)]
        with memory(
            plugins=[name], folder=folder / "home", configured=configured
        ) as memento:  # closing wrote what the calls had counted
            memento.export(folder / "on.nq")
        with memory(folder=folder / "home", configured=configured) as memento:
            memento.export(folder / "off.nq")
            wrong += _check_absence(name, memento)
        if sorted((folder / "on.nq").read_bytes().splitlines()) != sorted(
            (folder / "off.nq").read_bytes().splitlines()
        ):
            wrong.append("an export without it differs from the one with it")
    return [*_check_manifest(name), *wrong]


def _require_plugin(name: str) -> None:
    """Raise `InputError` if a plug-in is not installed, or cannot be loaded."""
    installed = plugin.find_plugins()
    if name not in installed:
        raise InputError(f"there is no plug-in {name!r}: install it; there are {', '.join(installed) or 'none'}")
    if installed[name].problem:
        raise InputError(f"{name} cannot be loaded: {installed[name].problem}")


def _check_manifest(name: str) -> list[str]:
    """Import the manifest in a new process, and look at what comes with it."""
    module = plugin.find_plugins()[name].entry.partition(":")[0]
    program = (
        f"import sys, memento.plugin; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = sorted(one for one in done.stdout.split() if one.partition(".")[0] not in sys.stdlib_module_names)
    if len(loaded) <= MOST_MODULES:
        return []
    return [
        f"its manifest imports {', '.join(loaded)}: {MOST_MODULES} modules at most; import the others where they are used"
    ]


def _check_declaration(name: str) -> list[str]:
    """Check that an operation says what interfaces need."""
    operation = TABLE[name]
    wrong = []
    if not getdoc(operation):
        wrong.append(f"{name}: has no docstring")
    wrong += [
        f"{name}: the field {one} has no description" for one, of in fields_of(operation).items() if not of.description
    ]
    path = command_of(name)
    if path is not None and not isinstance(_find_command(path), click.Command):
        wrong.append(f"{name}: there is no command `memento {path}`")
    tools = {one for tool in catalogue.tools(tuple(catalogue.GROUPS)).values() for one in tool.asks}
    if (operation in tools) == ("mcp" in operation.absent):
        wrong.append(
            f"{name}: is asked by no tool, and `absent` does not say why"
            if operation not in tools
            else f"{name}: is asked by a tool, although `absent` says it is not"
        )
    return wrong


def _find_command(path: str) -> click.Command | None:
    found: click.Command | None = main
    for word in path.split():
        found = found.commands.get(word) if isinstance(found, click.Group) else None
    return found


def _check_call(call: Operation[Any], memento: Memento, client: FlaskClient) -> list[str]:
    """Ask an operation in Python, and one that only reads over HTTP too."""
    operation, name = type(call), name_of(type(call))
    complete(operation)
    try:
        answer = attrgetter(METHODS[name])(memento)(**{one: getattr(call, one) for one in fields_of(operation)})
    except MementoError as error:
        return [f"{name}: fails: {error}"]
    if "rest" in operation.absent or operation.right != "read":
        return []
    body, wrong = _ask_over_http(call, client)
    if not wrong and _outline(json.loads(body)) != _outline(plain(answer)):
        return [f"{name}: answers in another form over HTTP than in Python"]
    return wrong


def _outline(value: object) -> object:
    """Return the fields and kinds of a value, which may itself change with every second."""
    match value:
        case dict():
            return {name: _outline(one) for name, one in value.items()}
        case list() | tuple():
            return [_outline(one) for one in value]
    return type(value)


def _ask_over_http(call: Operation[Any], client: FlaskClient) -> tuple[bytes, list[str]]:
    """Return the answer to an operation as bytes, and what is wrong with it."""
    verb, path = route_of(type(call))
    sent = {one: value for one, value in plain(call).items() if value is not None}
    for place in places_of(type(call)):
        path = path.replace(f"{{{place}}}", quote(str(sent.pop(place)), safe=""))
    response = (
        client.open(path, method=verb, json=sent)
        if verb == "POST"
        else client.open(path, method=verb, query_string={one: _write_parameter(value) for one, value in sent.items()})
    )
    is_wrong = response.status_code >= 400
    return response.data, [f"{name_of(type(call))}: {verb} {path} fails: {response.text[:200]}"] if is_wrong else []


def _write_parameter(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _check_absence(name: str, memento: Memento) -> list[str]:
    """Check that nothing of a plug-in can be reached in a memory without it."""
    wrong = []
    rules = {rule.rule for rule in create_app(memento.service).url_map.iter_rules()}
    for operation in [one for one, of in PLUGGED.items() if of == name]:
        if TABLE[operation].route.partition(" ")[2].replace("{", "<path:").replace("}", ">") in rules:
            wrong.append(f"{operation}: is served over HTTP although the plug-in is off")
    wrong += [
        f"{page}: is a page although the plug-in is off"
        for page, of in plugin.name_owners("pages").items()
        if of == name and page in rules
    ]
    there = dict(groups(memento.settings))
    wrong += [
        f"[{group}]: is a group of settings although the plug-in is off"
        for group, of in plugin.name_owners("settings").items()
        if of == name and group in there and type(there[group]) is not EXTENDED.get(group)
    ]
    off = {"MEMENTO_PLUGINS_OFF": name}
    return wrong + [
        f"`memento {path}`: is there although the plug-in is off"
        for path, _ in list_owned(name, main)
        if CliRunner().invoke(main, [*path.split(), "--help"], env=off).exit_code == 0
    ]
