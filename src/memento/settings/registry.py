"""Every setting by group: as it is in force, for a person to read, and as the page that lists them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from memento.settings.base import choices_of, hints_of, knobs, unwrap_optional, variable
from memento.settings.groups import Settings

MASK = "***"

TOOL_GROUPS = ("connectors", "keys", "living", "care", "cases", "sexpr")
"""Tools for MCP clients beyond the default ones."""


def groups(settings: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (group name, group) in the order they are declared; a group within a group follows it, as `model.hypothesise`."""
    for item in fields(settings):
        group = getattr(settings, item.name)
        if is_dataclass(group):
            yield above + item.name, group
            yield from groups(group, f"{above}{item.name}.")


def mask_secrets(settings: Settings) -> dict[str, dict[str, object]]:
    """Return values by group and key, secrets masked."""
    return {
        name: {
            key: MASK if item.metadata["secret"] and getattr(group, key) else getattr(group, key)
            for key, item in knobs(group).items()
        }
        for name, group in groups(settings)
    }


def table() -> str:
    """Write `docs/settings.md`: every setting with its environment name, default, choices and sentence."""
    lines = [
        "# Settings",
        "",
        "Made by `make docs` from `src/memento/settings/groups.py`.",
        "The environment wins over `.env`, that over `memento.toml` in the data folder, and that over the default.",
        "",
        "`MEMENTO_HOME` is the data folder (default: the platform's user data folder),",
        "`MEMENTO_NAMESPACE` the namespace (default: `main`),",
        f"`MEMENTO_TOOLS` what MCP clients get beyond the default tools: any of `{'`, `'.join(TOOL_GROUPS)}`, or `full`.",
        "",
        "`{env:NAME}` anywhere in a settings file becomes the value of that variable, or nothing when it is unset: no key need",
        "be written down. `.env` is read from the data folder and from the working directory; the latter may hold keys and knobs,",
        "but nothing that decides where memories go, who may see them or what is run (`…_PROVIDER`, `…_BASE_URL`, `…_ENDPOINT`,",
        "`MEMENTO_SERVER_…`, `MEMENTO_EXECUTOR_…`, `MEMENTO_CONFIG`).",
        "",
        "`MEMENTO_CONFIG` names another settings file, laid under `memento.toml`: TOML, or the JSON of the first published design",
        "(`server`, `proxy`, `llm`, `embedding`), which is also read from `config/memento.json` in the data folder.",
        "",
    ]
    for name, group in groups(Settings()):
        lines += [f"## [{name}]", "", "| key | environment | default | what it does |", "| --- | --- | --- | --- |"]
        hints = hints_of(group)
        for key, item in knobs(group).items():
            choices = choices_of(unwrap_optional(hints[key])[0])
            help = item.metadata["help"] + (f" ({', '.join(choices)})" if choices else "")
            default = getattr(group, key)
            usual = "" if default in (None, "") else f"`{default}`"
            lines.append(f"| `{key}` | `{variable(name, key)}` | {usual} | {help} |")
        lines.append("")
    return "\n".join(lines)
