"""The settings in force: environment over `.env` over file over default."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import Field, is_dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_type_hints

from memento.errors import InputError, SettingsError
from memento.settings import files
from memento.settings.groups import Settings
from memento.settings.page import TOOL_GROUPS, groups, knobs, variable
from memento.settings.profiles import PROFILES
from memento.settings.recall import ENGINES
from memento.settings.rules import check

UNDIVIDED = ("MEMENTO_HOME", "MEMENTO_NAMESPACE", "MEMENTO_TOOLS", "MEMENTO_CONFIG")
"""Names of the environment that stand outside the groups."""

G = TypeVar("G")


def load(
    file: Path | None = None, environment: Mapping[str, str] | None = None, profile: str | None = None
) -> Settings:
    """
    The settings in force.

    Args:
        file: a `memento.toml`; one that does not exist counts as empty. Beside it, `config/memento.json` is read.
        environment: defaults to the process's own, and what `.env` beside the file and in the working directory adds to it.
        profile: a name from `PROFILES`, laid over the defaults and under file and environment.

    Raises:
        SettingsError: an unknown group, key or profile, or a value that is of the wrong type or does not go with the others; names
            it and the choices.
    """
    environment = _surroundings(file) if environment is None else environment
    settings = with_profile(Settings(), profile) if profile else Settings()
    settings, spelling = _configured(settings, file, environment)
    if file is not None and file.is_file():
        settings = _overlaid(settings, files.toml(file, environment), source=str(file))
    return check(_overlaid(settings, _from_environment(environment), source="the environment"), spelling)


def _surroundings(file: Path | None) -> dict[str, str]:
    """The environment over the data folder's `.env` over the working directory's."""
    here, home = Path.cwd(), (file.parent if file else Path.cwd()).absolute()
    near = {} if here == home else files.dotenv(here / ".env", trusted=False)
    return {**near, **files.dotenv(home / ".env", trusted=file is not None), **os.environ}


def _configured(
    settings: Settings, file: Path | None, environment: Mapping[str, str]
) -> tuple[Settings, files.Spelling]:
    """What `MEMENTO_CONFIG` names, else `config/memento.json` beside the file, laid over `settings`; and how it calls them."""
    named = environment.get("MEMENTO_CONFIG")
    path = Path(named) if named else file.parent / "config" / "memento.json" if file else None
    if path is None or not path.is_file():
        if named:
            raise SettingsError(f"MEMENTO_CONFIG names {named}, and there is no such file")
        return settings, {}
    if path.suffix != ".json":
        return _overlaid(settings, files.toml(path, environment), source=str(path)), {}
    spelling: files.Spelling = {}
    for layer in files.first_form(path, environment):
        overlaid = _overlaid(settings, layer.changes, str(path), layer.spelling)
        settings, spelling = (overlaid, layer.spelling) if layer.counts else (settings, spelling)
    return settings, spelling


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


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    names = {variable(name, key): (name, key) for name, group in groups(Settings()) for key in knobs(group)}
    for name, text in environment.items():
        if not name.startswith("MEMENTO_") or name in UNDIVIDED:
            continue
        if name not in names:
            raise SettingsError(f"unknown setting {name}: `memento config show` lists them all")
        group, key = names[name]
        place = found
        for step in group.split("."):
            place = place.setdefault(step, {})
        place[key] = text
    return found


def _overlaid(
    settings: G, changes: Mapping[str, Any], source: str, spelling: files.Spelling | None = None, above: str = ""
) -> G:
    """A copy of all groups, or of one, with some values changed."""
    hints = get_type_hints(type(settings))
    known = knobs(settings)
    inner = [key for key in hints if is_dataclass(hints[key])]
    new: dict[str, object] = {}
    for key, value in changes.items():
        group = above + key
        if key in inner:
            if not isinstance(value, Mapping):
                raise SettingsError(f"{group} in {source} must be a group of settings, as [{group}]")
            new[key] = _overlaid(getattr(settings, key), value, source, spelling, f"{group}.")
        elif key in known:
            where = f"{key} of [{above[:-1]}] in {source}"
            called = (spelling or {}).get((above[:-1], key), where)
            new[key] = _converted(value, hints[key], known[key], called)
        elif not above:
            raise SettingsError(f"unknown group [{key}] in {source}: choose one of {', '.join(inner)}")
        else:
            choices = ", ".join((*known, *inner))
            raise SettingsError(f"unknown setting {key} of [{above[:-1]}] in {source}: choose one of {choices}")
    return replace(cast(Any, settings), **new) if new else settings


def _converted(value: object, wanted: Any, item: Field[Any], where: str) -> object:
    """`value` as the type of the setting; text, as the environment has it, is read."""
    about = item.metadata
    if NoneType in get_args(wanted):
        if value is None or value == "":
            return None
        (wanted,) = (one for one in get_args(wanted) if one is not NoneType)
    if about["json"]:
        return _json_object(value, where)
    if wanted is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        value = words.get(value.lower(), value) if isinstance(value, str) else value
    elif wanted in (int, float) and not isinstance(value, bool):
        with suppress(ValueError, TypeError):
            value = wanted(cast(str, value)) if isinstance(value, str) or wanted is float else value
    if not isinstance(value, wanted) or (wanted is not bool and isinstance(value, bool)):
        raise SettingsError(f"{where} must be {_called(wanted)}{'' if about['secret'] else f', not {value!r}'}")
    if about["choices"] and value not in about["choices"]:
        raise SettingsError(f"{where} must be one of {', '.join(about['choices'])}, not {value!r}")
    least, most = about["least"], about["most"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        fits = math.isfinite(value) and (least is None or value >= least) and (most is None or value <= most)
        if not fits:
            bounds = f"at least {least}" if most is None else f"from {least} to {most}"
            raise SettingsError(f"{where} must be {'a finite number' if least is None else bounds}, not {value!r}")
    return value


def _json_object(value: object, where: str) -> str:
    """A JSON object as text, from text or from a table; "" for none."""
    try:
        found = json.loads(value) if isinstance(value, str) and value.strip() else value or {}
        if isinstance(found, dict):
            return json.dumps(found, ensure_ascii=False) if found else ""
    except (ValueError, TypeError):
        pass
    raise SettingsError(f'{where} must be a JSON object, as {{"reasoning_effort": "low"}}, or a table')


def _called(wanted: type) -> str:
    return {int: "a whole number", float: "a number", bool: "true or false", str: "text"}[wanted]
