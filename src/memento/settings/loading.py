"""The settings in force: environment over file over default; and the page that lists them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

from memento.errors import InputError, SettingsError
from memento.settings.groups import ENGINES, Settings
from memento.settings.profiles import PROFILES

UNDIVIDED = ("MEMENTO_HOME", "MEMENTO_NAMESPACE", "MEMENTO_TOOLS")
"""Names of the environment that stand outside the groups."""

TOOL_GROUPS = ("connectors", "keys", "care", "cases", "sexpr")
"""Tools for MCP clients beyond the default ones."""


def load(
    file: Path | None = None, environment: Mapping[str, str] | None = None, profile: str | None = None
) -> Settings:
    """
    The settings in force.

    Args:
        file: a `memento.toml`; one that does not exist counts as empty.
        environment: defaults to the process's own.
        profile: a name from `PROFILES`, laid over the defaults and under file and environment.

    Raises:
        SettingsError: an unknown group, key or profile, or a value of the wrong type; names it and the choices.
    """
    environment = os.environ if environment is None else environment
    settings = with_profile(Settings(), profile) if profile else Settings()
    if file is not None and file.is_file():
        settings = _overlaid(settings, _parsed(file), source=str(file))
    return check(_overlaid(settings, _from_environment(environment), source="the environment"))


def with_profile(settings: Settings, profile: str) -> Settings:
    """A copy with a profile's values laid over it; raises `SettingsError` for an unknown name."""
    if profile not in PROFILES:
        raise SettingsError(f"unknown profile {profile!r}: choose one of {', '.join(PROFILES)}")
    return _overlaid(settings, PROFILES[profile], source=f"profile {profile}")


def with_engine(settings: Settings, engine: str) -> Settings:
    """A copy in which `engine` ranks; raises `InputError` for an unknown one."""
    if engine not in ENGINES:
        raise InputError(f"unknown engine {engine!r}: choose one of {', '.join(ENGINES)}")
    return replace(settings, land=replace(settings.land, engine=engine))


def check(settings: Settings) -> Settings:
    """The same settings, once the rules that span several of them hold; raises `SettingsError` otherwise."""
    anchor = settings.anchor
    if abs(anchor.semantic + anchor.memory + anchor.structural - 1) > 1e-6:
        raise SettingsError("the weights semantic, memory and structural of [anchor] must sum to 1")
    if settings.distill.lambda_min > settings.distill.lambda_max:
        raise SettingsError("lambda_min of [distill] must not exceed lambda_max")
    return settings


def home_and_namespace(environment: Mapping[str, str] | None = None) -> tuple[str | None, str | None]:
    """`MEMENTO_HOME` and `MEMENTO_NAMESPACE`, or None where they are unset or empty."""
    environment = os.environ if environment is None else environment
    return environment.get("MEMENTO_HOME") or None, environment.get("MEMENTO_NAMESPACE") or None


def tool_groups(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """
    The groups of tools that `MEMENTO_TOOLS` adds to the default ones, in the order of `TOOL_GROUPS`; `full` means all.

    Raises:
        SettingsError: an unknown group; names it and the choices.

    >>> tool_groups({"MEMENTO_TOOLS": "sexpr, connectors"})
    ('connectors', 'sexpr')
    """
    environment = os.environ if environment is None else environment
    asked = [name.strip() for name in environment.get("MEMENTO_TOOLS", "").split(",") if name.strip()]
    for name in asked:
        if name not in (*TOOL_GROUPS, "full"):
            raise SettingsError(
                f"unknown group {name[:80]!r} in MEMENTO_TOOLS: choose from {', '.join((*TOOL_GROUPS, 'full'))}"
            )
    return tuple(name for name in TOOL_GROUPS if name in asked or "full" in asked)


def namespace_called(name: str) -> str:
    """A namespace by its name; `project` means the folder name of the git checkout that the process stands in."""
    if name == "project":
        here = Path.cwd()
        return next((folder.name for folder in (here, *here.parents) if (folder / ".git").exists()), "main")
    return namespace_checked(name)


def namespace_checked(name: str) -> str:
    """
    The same name, when it can be one.

    Raises:
        InputError: it is empty, longer than 200 characters, or has a control character.
    """
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise InputError(f"a namespace must have 1 to 200 printable characters, not {name[:40]!r}")
    return name


def groups(settings: Settings) -> Iterator[tuple[str, Any]]:
    """(group name, group) in the order they are declared."""
    return ((item.name, getattr(settings, item.name)) for item in fields(settings))


def table() -> str:
    """`docs/settings.md`: every setting with its environment name, default, choices and sentence."""
    lines = [
        "# Settings",
        "",
        "Made by `make docs` from `src/memento/settings/groups.py`.",
        "The environment wins over `memento.toml` in the data folder, and that over the default.",
        "",
        "`MEMENTO_HOME` is the data folder (default: the platform's user data folder),",
        "`MEMENTO_NAMESPACE` the namespace (default: `main`),",
        f"`MEMENTO_TOOLS` what MCP clients get beyond the default tools: any of `{'`, `'.join(TOOL_GROUPS)}`, or `full`.",
        "",
    ]
    for name, group in groups(Settings()):
        lines += [f"## [{name}]", "", "| key | environment | default | what it does |", "| --- | --- | --- | --- |"]
        for item in fields(group):
            choices = item.metadata["choices"]
            help = item.metadata["help"] + (f" ({', '.join(choices)})" if choices else "")
            lines.append(f"| `{item.name}` | `{_variable(name, item.name)}` | `{getattr(group, item.name)}` | {help} |")
        lines.append("")
    return "\n".join(lines)


def _variable(group: str, key: str) -> str:
    return f"MEMENTO_{group}_{key}".upper()


def _parsed(file: Path) -> dict[str, dict[str, object]]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} is not TOML: {error}") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    names = {
        _variable(group, item.name): (group, item.name) for group, knobs in groups(Settings()) for item in fields(knobs)
    }
    for variable, text in environment.items():
        if not variable.startswith("MEMENTO_") or variable in UNDIVIDED:
            continue
        if variable not in names:
            raise SettingsError(f"unknown setting {variable}: `memento config show` lists them all")
        group, key = names[variable]
        found.setdefault(group, {})[key] = text
    return found


def _overlaid(settings: Settings, changes: Mapping[str, Mapping[str, object]], source: str) -> Settings:
    for group, values in changes.items():
        if group not in (known := [item.name for item in fields(settings)]):
            raise SettingsError(f"unknown group [{group}] in {source}: choose one of {', '.join(known)}")
        if not isinstance(values, Mapping):
            raise SettingsError(f"{group} in {source} must be a group of settings, as [{group}]")
        old = getattr(settings, group)
        hints, knobs = get_type_hints(type(old)), {item.name: item for item in fields(old)}
        new: dict[str, object] = {}
        for key, value in values.items():
            if key not in knobs:
                raise SettingsError(f"unknown setting {key} of [{group}] in {source}: choose one of {', '.join(knobs)}")
            new[key] = _converted(value, hints[key], knobs[key], where=f"{key} of [{group}] in {source}")
        settings = replace(settings, **{group: replace(old, **new)})
    return settings


def _converted(value: object, wanted: type, item: Field[Any], where: str) -> object:
    """`value` as the type of the setting; text, as the environment has it, is read."""
    if wanted is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        value = words.get(value.lower(), value) if isinstance(value, str) else value
    elif wanted in (int, float) and not isinstance(value, bool):
        with suppress(ValueError, TypeError):
            value = wanted(cast(str, value)) if isinstance(value, str) or wanted is float else value
    if not isinstance(value, wanted) or (wanted is not bool and isinstance(value, bool)):
        raise SettingsError(f"{where} must be {_called(wanted)}, not {value!r}")
    choices = item.metadata["choices"]
    if choices and value not in choices:
        raise SettingsError(f"{where} must be one of {', '.join(choices)}, not {value!r}")
    return value


def _called(wanted: type) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    return names.get(wanted, str(get_args(wanted) or wanted))
