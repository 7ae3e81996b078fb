"""
Where settings stand: `memento.toml`, the JSON of the first published design, and `.env`.

*Guarantees:* `.env` never overrides the environment, and the environment itself is never changed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memento.errors import SettingsError

Changes = dict[str, dict[str, object]]
"""Values by group and key."""

Spelling = dict[tuple[str, str], str]
"""(group, key) → how a settings file calls it, where that is otherwise."""

PLACE = re.compile(r"\{env:([A-Z0-9_]+)\}")

# A folder that somebody else filled, as a checkout, must not decide where memories are sent, who may ask for them, or what is run.
STEERING = re.compile(r"MEMENTO_(SERVER_\w+|EXECUTOR_\w+|CONFIG|\w+_(PROVIDER|BASE_URL|ENDPOINT))")

FIRST_FORM: Mapping[str, tuple[str, str] | None] = {
    "server.port": ("server", "port"),
    "llm.provider": ("model", "provider"),
    "llm.apiKey": ("model", "api_key"),
    "llm.baseUrl": ("model", "base_url"),
    "llm.providerName": ("model", "provider_name"),
    "embedding.provider": ("embedding", "provider"),
    "embedding.apiKey": ("embedding", "api_key"),
    "embedding.baseUrl": ("embedding", "base_url"),
    "embedding.providerName": ("embedding", "provider_name"),
    "embedding.model": ("embedding", "model"),
    "embedding.dimensions": ("embedding", "dimensions"),
    "proxy.provider": ("proxy", "provider"),
    "proxy.baseUrl": None,
    "proxy.protocol": None,
    "proxy.providerName": None,
    **{
        f"llm.{layer}.{name}": ("model", key)
        for layer in ("defaults", "consolidation", "retrieval")
        for name, key in (
            ("model", "model"),
            ("temperature", "temperature"),
            ("maxTokens", "max_tokens"),
            ("maxRetries", "max_retries"),
            ("options", "options"),
        )
    },
}
"""Key of the first form → (group, key); None for what no setting takes over as it is."""

REQUIRED = (
    "proxy.provider",
    "llm.provider",
    "llm.defaults.model",
    "embedding.provider",
    "embedding.model",
    "embedding.dimensions",
)
"""Keys that must stand in a group that is there."""


def dotenv(path: Path, trusted: bool) -> dict[str, str]:
    """
    The variables of a `.env` file; empty when there is none.

    Raises:
        SettingsError: it cannot be read; or it is not `trusted` and would decide where texts go.
    """
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        found = {name: value for name, value in dotenv_values(path, interpolate=False).items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    steering = [name for name in found if STEERING.fullmatch(name)]
    if steering and not trusted:
        raise SettingsError(
            f"{steering[0]} in {path} would decide where memories go, who may see them or what is run, "
            "and is not taken from a working directory: put it into .env or memento.toml of the data folder, "
            "or into the environment"
        )
    return found


def substituted(text: str, environment: Mapping[str, str]) -> str:
    r"""
    `{env:NAME}` replaced by the variable, or by nothing when it is unset; a quote in it does not end the text around it.

    >>> substituted('{"url": "http://{env:HOST}/v1"}', {"HOST": "box"})
    '{"url": "http://box/v1"}'
    """
    return PLACE.sub(lambda place: json.dumps(environment.get(place[1], ""), ensure_ascii=False)[1:-1], text)


def toml(path: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """The groups of a TOML file; raises `SettingsError` when it is none."""
    try:
        return tomllib.loads(substituted(_text(path), environment))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings to lay over others, and how their file calls them; unless it `counts` they need only be possible."""

    changes: Changes
    spelling: Spelling
    counts: bool = True


def first_form(path: Path, environment: Mapping[str, str]) -> list[Layer]:
    """
    The settings of a JSON file in the first design's form, in the order in which they overlay each other.

    Raises:
        SettingsError: it is not JSON, a key is unknown or missing, or the proxy's keys do not go together.
    """
    try:
        found = json.loads(substituted(_text(path), environment))
    except ValueError as error:
        raise SettingsError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise SettingsError(f"{path} must hold an object with server, proxy, llm and embedding")
    values = dict(_leaves(found))
    for key in values:
        if key not in FIRST_FORM:
            siblings = [name for name in FIRST_FORM if name.startswith(key.partition(".")[0] + ".")] or FIRST_FORM
            raise SettingsError(f"unknown key {key} in {path}: choose one of {', '.join(siblings)}")
    for key in REQUIRED:
        group = key.partition(".")[0]
        if group in found and key not in values:
            raise SettingsError(f"{key} is required in {path}")
    special = ("llm.retrieval.", "llm.consolidation.")
    layers = [_layer(values, path, [key for key in FIRST_FORM if key.startswith(prefix)]) for prefix in special]
    base = _layer(values, path, [key for key in FIRST_FORM if not key.startswith(special)])
    base.changes.setdefault("proxy", {}).update(_upstream(values, path))
    # Nothing asks a model on retrieval.
    return [replace(layers[0], counts=False), base, replace(layers[1], spelling=base.spelling | layers[1].spelling)]


def _layer(values: Mapping[str, object], path: Path, keys: Sequence[str]) -> Layer:
    changes: Changes = {}
    for key in keys:
        target = FIRST_FORM[key]
        if target is not None and key in values:
            changes.setdefault(target[0], {})[target[1]] = values[key]
    return Layer(changes, {target: f"{key} in {path}" for key in keys if (target := FIRST_FORM[key])})


def _upstream(values: Mapping[str, object], path: Path) -> dict[str, object]:
    """The proxy's base URL by its protocol."""
    provider, url = values.get("proxy.provider"), values.get("proxy.baseUrl")
    protocol, name = values.get("proxy.protocol"), values.get("proxy.providerName")
    if provider is None:
        return {}
    choices = ("openai", "anthropic", "ollama", "custom")
    if provider not in choices:
        raise SettingsError(f"proxy.provider in {path} must be one of {', '.join(choices)}, not {provider!r}")
    if provider == "custom":
        if not url:
            raise SettingsError(f"proxy.baseUrl is required in {path} when proxy.provider is custom")
        if protocol not in ("openai", "anthropic"):
            raise SettingsError(f"proxy.protocol in {path} must be openai or anthropic when proxy.provider is custom")
        if not name:
            raise SettingsError(f"proxy.providerName is required in {path} when proxy.provider is custom")
        other = "anthropic" if protocol == "openai" else "openai"
        return {f"{protocol}_base_url": url, f"{other}_base_url": ""}
    for key, value in (("proxy.protocol", protocol), ("proxy.providerName", name)):
        if value is not None:
            raise SettingsError(f"{key} in {path} is for proxy.provider custom only, not {provider}")
    if provider != "ollama" and url is not None:
        raise SettingsError(
            f"proxy.baseUrl in {path} must be left out for {provider}: for another address choose custom"
        )
    return {"ollama_base_url": str(url).rstrip("/").removesuffix("/api")} if url else {}


def _leaves(found: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Dotted key and value of everything that is there; `options` is a value."""
    for key, value in found.items():
        if isinstance(value, dict) and key != "options":
            yield from _leaves(value, f"{above}{key}.")
        elif value is not None:
            yield above + key, value


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
