"""
Loads the settings in force: environment over `.env` over `memento.toml` over the JSON of the first design over the defaults.

*Guarantees:* a bad value is refused in one line that names it and what is allowed, and so is what does not go together. `.env`
never overrides the environment, and the environment itself is never changed.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast
from urllib.parse import urlsplit

import msgspec

from memento.errors import InputError, SettingsError
from memento.iris import check_namespace
from memento.settings.base import describe_bounds, hints_of, kind_of, knobs, unwrap_optional, variable
from memento.settings.groups import (
    ENGINES,
    MODES,
    TOOL_GROUPS,
    CasesSettings,
    EmbeddingSettings,
    KeysSettings,
    ModelSettings,
    ProxySettings,
    ScopeSettings,
    ServerSettings,
    Settings,
    groups,
)

PROFILES: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    # The constants of the first published design, whatever the defaults become.
    "seed": {
        "land": {"engine": "published", "candidates": 100},
        "fusion": {"vector_weight": 0.7, "quality_threshold": 0.3, "full_weight_results": 5},
        "anchor": {"min_memories": 1, "semantic": 0.5, "memory": 0.3, "structural": 0.2, "user": False},
        "expand": {"damping": 0.75, "iterations": 25, "structural_weight": 0.5, "weighted": False, "normalise": "none"},
        "distill": {"top_k": 10, "lambda_min": 0.5, "lambda_max": 0.7},
        "gate": {"on": False},
    },
    # The plain hybrid that every design should beat: half meaning, half words, over the whole scope, and nothing else.
    "half": {
        "land": {"engine": "published", "candidates": 1000},
        "fusion": {"vector_weight": 0.5, "quality_threshold": 0.0, "full_weight_results": 1},
        "expand": {"iterations": 0},
        "distill": {"lambda_min": 1.0, "lambda_max": 1.0},
        "gate": {"on": False},
    },
    # What memories are worth beside what is asked: energy grows by use and feedback, and fades.
    "living": {"living": {"rank_energy": 0.3}},
}


Changes = dict[str, dict[str, object]]
"""Values by group and key."""

Spelling = dict[tuple[str, str], str]
"""(group, key) → how a settings file calls it, where that is otherwise."""

PLACE = re.compile(r"\{env:([A-Z0-9_]+)\}")

# A folder that somebody else filled, as a checkout, must not decide where memories are sent, who may ask for them, or what is run.
STEERING = re.compile(r"^MEMENTO_(SERVER_\w+|EXECUTOR_\w+|CONFIG|\w+_(PROVIDER|BASE_URL|ENDPOINT))")

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


def read_dotenv(path: Path, trusted: bool) -> dict[str, str]:
    """
    Read the variables of a `.env` file; nothing when there is none.

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


def substitute_variables(text: str, environment: Mapping[str, str]) -> str:
    r"""
    Replace `{env:NAME}` by the variable, or by nothing when it is unset; a quote in it does not end the text around it.

    >>> substitute_variables('{"url": "http://{env:HOST}/v1"}', {"HOST": "box"})
    '{"url": "http://box/v1"}'
    """
    return PLACE.sub(lambda place: json.dumps(environment.get(place[1], ""), ensure_ascii=False)[1:-1], text)


def read_toml(path: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """Read the groups of a TOML file; raise `SettingsError` when it is none."""
    try:
        found = tomllib.loads(substitute_variables(_read_text(path), environment))
        return {group: values for group, values in found.items() if group != "$schema"}
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings to lay over others, and how their file calls them; unless it `counts` they need only be possible."""

    changes: Changes
    spelling: Spelling
    counts: bool = True


def read_first_form(path: Path, environment: Mapping[str, str]) -> list[Layer]:
    """
    Read the settings of a JSON file in the first design's form, in the order in which they overlay each other.

    Raises:
        SettingsError: it is not JSON, a key is unknown or missing, or the proxy's keys do not go together.
    """
    try:
        found = json.loads(substitute_variables(_read_text(path), environment))
    except ValueError as error:
        raise SettingsError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise SettingsError(f"{path} must hold an object with server, proxy, llm and embedding")
    values = dict(_flatten({key: value for key, value in found.items() if key != "$schema"}))
    for key in values:
        if key not in FIRST_FORM:
            siblings = [name for name in FIRST_FORM if name.startswith(key.partition(".")[0] + ".")] or FIRST_FORM
            raise SettingsError(f"unknown key {key} in {path}: choose one of {', '.join(siblings)}")
    for key in REQUIRED:
        group = key.partition(".")[0]
        if group in found and key not in values:
            raise SettingsError(f"{key} is required in {path}")
    special = ("llm.retrieval.", "llm.consolidation.")
    layers = [_lay(values, path, [key for key in FIRST_FORM if key.startswith(prefix)]) for prefix in special]
    base = _lay(values, path, [key for key in FIRST_FORM if not key.startswith(special)])
    base.changes.setdefault("proxy", {}).update(_find_upstream(values, path))
    # Nothing asks a model on retrieval.
    return [replace(layers[0], counts=False), base, replace(layers[1], spelling=base.spelling | layers[1].spelling)]


def _lay(values: Mapping[str, object], path: Path, keys: Sequence[str]) -> Layer:
    changes: Changes = {}
    for key in keys:
        target = FIRST_FORM[key]
        if target is not None and key in values:
            changes.setdefault(target[0], {})[target[1]] = values[key]
    return Layer(changes, {target: f"{key} in {path}" for key in keys if (target := FIRST_FORM[key])})


def _find_upstream(values: Mapping[str, object], path: Path) -> dict[str, object]:
    """Find the proxy's base URL by its protocol."""
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


def _flatten(found: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Yield dotted key and value of everything that is there; `options` is a value."""
    for key, value in found.items():
        if isinstance(value, dict) and key != "options":
            yield from _flatten(value, f"{above}{key}.")
        elif value is not None:
            yield above + key, value


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


CLOUD = ("openai", "anthropic", "google", "cohere", "mistral")  # one address each, and no answer without a key
LOCAL_MODELS = ("minilm", "trigram")


def check(settings: Settings, spelling: Spelling | None = None) -> Settings:
    """Return the same settings, once the rules that span several of them hold; raise `SettingsError` otherwise."""
    anchor, spelling = settings.anchor, spelling or {}
    if abs(anchor.semantic + anchor.memory + anchor.structural - 1) > 1e-6:
        raise SettingsError("the weights semantic, memory and structural of [anchor] must sum to 1")
    if settings.distill.lambda_min > settings.distill.lambda_max:
        raise SettingsError("lambda_min of [distill] must not exceed lambda_max")
    _check_model(settings.model, spelling)
    _check_embedding(settings.embedding, spelling)
    _check_proxy(settings.proxy, spelling)
    return settings


def _check_model(model: ModelSettings, spelling: Spelling) -> None:
    if model.provider == "none":  # what else is set waits to be switched on
        return
    if not model.model:
        _refuse("model", "model", f"is required for {model.provider}, as the provider calls it", spelling)
    _check_service("model", model, spelling)


def _check_embedding(embedding: EmbeddingSettings, spelling: Spelling) -> None:
    local, provider = embedding.model in LOCAL_MODELS, embedding.provider
    if provider == "local":
        if not local and not (Path(embedding.model).expanduser() / "modules.json").is_file():
            why = (
                f"must be one of {', '.join(LOCAL_MODELS)} when its provider is local, not {embedding.model!r}; "
                "or the folder of a sentence-transformers model, with its modules.json"
            )
            _refuse("embedding", "model", why, spelling)
        return
    if local or not embedding.model:
        _refuse("embedding", "model", f"is required for {provider}, as the provider calls it", spelling)
    if not embedding.dimensions:
        _refuse("embedding", "dimensions", f"is required for {provider}: the length of the model's vectors", spelling)
    _check_service("embedding", embedding, spelling)


def _check_service(group: str, service: ModelSettings | EmbeddingSettings, spelling: Spelling) -> None:
    provider = service.provider
    if provider in CLOUD and not service.api_key:
        how = f'set {variable(group, "api_key")}, or api_key = "{{env:NAME}}" in the file'
        _refuse(group, "api_key", f"is required for {provider}: {how}", spelling)
    if provider in CLOUD and service.base_url:
        why = f"has one address for {provider} and must be empty: for another choose openai-compatible or ollama"
        _refuse(group, "base_url", why, spelling)
    if provider == "openai-compatible" and not service.base_url:
        _refuse(group, "base_url", "is required for openai-compatible, as http://localhost:8000/v1", spelling)
    if provider != "openai-compatible" and service.provider_name:
        _refuse(group, "provider_name", f"is for openai-compatible only and must be empty for {provider}", spelling)
    if not (service.api_key.isascii() and service.api_key.isprintable()):
        _refuse(group, "api_key", "must be printable ASCII, without a line break", spelling)
    _check_url(group, "base_url", service.base_url, spelling)


def _check_proxy(proxy: ProxySettings, spelling: Spelling) -> None:
    for key in ("openai_base_url", "anthropic_base_url", "ollama_base_url"):
        _check_url("proxy", key, getattr(proxy, key), spelling)
    if proxy.provider == "ollama" and not proxy.ollama_base_url:
        _refuse("proxy", "ollama_base_url", "is required when its provider is ollama", spelling)
    if proxy.provider != "all" and not proxy.upstreams:
        keys = "openai_base_url or anthropic_base_url" if proxy.provider == "custom" else f"{proxy.provider}_base_url"
        _refuse("proxy", "provider", f"is {proxy.provider}: give {keys}, or choose all", spelling)


def _check_url(group: str, key: str, url: str, spelling: Spelling) -> None:
    if not url:
        return
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        _refuse(group, key, "must be an address such as http://localhost:8000/v1", spelling)
    if parts.username or parts.password or parts.query or parts.fragment:
        _refuse(group, key, "must hold no password, query or fragment; a key belongs into api_key", spelling)


def _refuse(group: str, key: str, why: str, spelling: Spelling) -> NoReturn:
    called = spelling.get((group, key))
    raise SettingsError(f"{key} of [{group}]{f' ({called})' if called else ''} {why}")


UNDIVIDED = ("MEMENTO_HOME", "MEMENTO_NAMESPACE", "MEMENTO_TOOLS", "MEMENTO_CONFIG")
"""Names of the environment that stand outside the groups."""

G = TypeVar("G")


def load(
    file: Path | None = None, environment: Mapping[str, str] | None = None, profile: str | None = None
) -> Settings:
    """
    Load the settings in force.

    Args:
        file: a `memento.toml`; one that does not exist counts as empty. Beside it, `config/memento.json` is read.
        environment: defaults to the process's own, and what `.env` beside the file and in the working directory adds to it.
        profile: a name from `PROFILES`, laid over the defaults and under file and environment.

    Raises:
        SettingsError: an unknown group, key or profile, or a value that is of the wrong type or does not go with the others; names
            it and the choices.
    """
    environment = _gather_environment(file) if environment is None else environment
    settings = with_profile(Settings(), profile) if profile else Settings()
    settings, spelling = _overlay_config_file(settings, file, environment)
    if file is not None and file.is_file():
        settings = _overlay(settings, read_toml(file, environment), source=str(file))
    return check(_overlay(settings, _group_environment(environment, settings), source="the environment"), spelling)


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The groups that a client of a running service goes by."""

    server: ServerSettings = field(default_factory=ServerSettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    keys: KeysSettings = field(default_factory=KeysSettings)
    cases: CasesSettings = field(default_factory=CasesSettings)


def load_client(file: Path | None = None, environment: Mapping[str, str] | None = None) -> ClientSettings:
    """
    Load what a client of a running service goes by, as `load` does, and nothing else.

    *Because:* the weights of the signals are declared where recall computes them; who only asks a service waits for none of it.

    Raises:
        SettingsError: an unknown key of these groups, or a value of the wrong type.
    """
    environment = _gather_environment(file) if environment is None else environment
    settings, _ = _overlay_config_file(ClientSettings(), file, environment)
    if file is not None and file.is_file():
        settings = _overlay(settings, read_toml(file, environment), source=str(file))
    names = {variable(name, key) for name, group in groups(settings) for key in knobs(group)}
    ours = {name: text for name, text in environment.items() if name in names or name in EARLIER_NAMES}
    return _overlay(settings, _group_environment(ours, settings), source="the environment")


def _gather_environment(file: Path | None) -> dict[str, str]:
    """Gather the environment over the data folder's `.env` over the working directory's."""
    here, home = Path.cwd(), (file.parent if file else Path.cwd()).absolute()
    near = {} if here == home else read_dotenv(here / ".env", trusted=False)
    return {**near, **read_dotenv(home / ".env", trusted=file is not None), **os.environ}


def _overlay_config_file(settings: G, file: Path | None, environment: Mapping[str, str]) -> tuple[G, Spelling]:
    """Overlay what `MEMENTO_CONFIG` names, else `config/memento.json` beside the file; return how it calls them, too."""
    named = environment.get("MEMENTO_CONFIG")
    path = Path(named) if named else file.parent / "config" / "memento.json" if file else None
    if path is None or not path.is_file():
        if named:
            raise SettingsError(f"MEMENTO_CONFIG names {named}, and there is no such file")
        return settings, {}
    if path.suffix != ".json":
        return _overlay(settings, read_toml(path, environment), source=str(path)), {}
    spelling: Spelling = {}
    for layer in read_first_form(path, environment):
        overlaid = _overlay(settings, layer.changes, str(path), layer.spelling)
        settings, spelling = (overlaid, layer.spelling) if layer.counts else (settings, spelling)
    return settings, spelling


def with_profile(settings: Settings, profile: str) -> Settings:
    """Return a copy with a profile's values laid over it; raises `SettingsError` for an unknown name."""
    if profile not in PROFILES:
        raise SettingsError(f"unknown profile {profile!r}: choose one of {', '.join(PROFILES)}")
    return _overlay(settings, PROFILES[profile], source=f"profile {profile}")


def with_mode(settings: Settings, mode: str) -> Settings:
    """Return a copy in which one plain search ranks, without a gate; raises `InputError` for an unknown one."""
    if mode not in MODES:
        raise InputError(f"unknown mode {mode!r}: choose one of {', '.join(MODES)}")
    return replace(with_engine(settings, mode), gate=replace(settings.gate, on=False))


def with_engine(settings: Settings, engine: str) -> Settings:
    """Return a copy in which `engine` ranks; raises `InputError` for an unknown one."""
    if engine not in ENGINES:
        raise InputError(f"unknown engine {engine!r}: choose one of {', '.join(ENGINES)}")
    return replace(settings, land=replace(settings.land, engine=engine))


def home_and_namespace() -> tuple[str | None, str | None]:
    """Return `MEMENTO_HOME` and `MEMENTO_NAMESPACE`, or None where they are unset or empty."""
    return os.environ.get("MEMENTO_HOME") or None, os.environ.get("MEMENTO_NAMESPACE") or None


def tool_groups(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """
    Return the groups of tools that `MEMENTO_TOOLS` adds to the default ones, in the order of `TOOL_GROUPS`; `full` means all.

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


def offered_groups(cases: CasesSettings, environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the groups of tools that are offered: those that `MEMENTO_TOOLS` adds, without what is switched off."""
    return tuple(name for name in tool_groups(environment) if name != "cases" or cases.on)


def resolve_namespace(name: str) -> str:
    """Resolve a namespace by its name; `project` means the folder name of the git checkout that the process stands in."""
    if name == "project":
        here = Path.cwd()
        return next((folder.name for folder in (here, *here.parents) if (folder / ".git").exists()), "main")
    return check_namespace(name)


EARLIER_NAMES: Mapping[str, str] = {
    "KEYMEM_KEY_RECALL": "MEMENTO_KEYS_KEY_RECALL",
    "KEYMEM_CONTENT_RECALL": "MEMENTO_KEYS_CONTENT_RECALL",
    "KEYMEM_KEY_AUTOLINK": "MEMENTO_KEYS_AUTO_LINK",
    "KEYMEM_KEY_MERGE": "MEMENTO_KEYS_MERGE",
    "KEYMEM_MEMORY_DEDUP": "MEMENTO_KEYS_DEDUP",
    "KEYMEM_MIN_SCORE": "MEMENTO_KEYS_MIN_SCORE",
    "KEYMEM_CONTRADICTION": "MEMENTO_KEYS_CONTRADICTION",
    "KEYMEM_GATE_Z": "MEMENTO_KEYS_GATE_Z",
    "KEYMEM_KEY_GATE": "MEMENTO_KEYS_KEY_GATE",
    "KEYMEM_KEY_HUB_MIN_LINKS": "MEMENTO_KEYS_HUB",
    "KEYMEM_DIRECT_RECALL": "MEMENTO_KEYS_DIRECT",
    "KEYMEM_RERANK_MIN_SCORE": "MEMENTO_KEYS_RERANK_FLOOR",
    "KEYMEM_AUTOKEY": "MEMENTO_KEYS_AUTOKEY",
    "KEYMEM_AUTOKEY_PROMOTE_N": "MEMENTO_KEYS_AUTOKEY_AFTER",
    "KEYMEM_AUTOKEY_CONFIRM_FLOOR": "MEMENTO_KEYS_AUTOKEY_FLOOR",
    "KEYMEM_AUTOKEY_MAX_ALIASES": "MEMENTO_KEYS_AUTOKEY_ALIASES",
    "KEYMEM_AUTOKEY_PRUNE_AGE": "MEMENTO_KEYS_AUTOKEY_DAYS",
}
"""The names that the published design of keys has for settings of ours; its ages are in seconds."""

_INSTEAD: Mapping[str, str] = {
    "KEYMEM_DATA_DIR": "set MEMENTO_HOME",
    "KEYMEM_RERANK": "set MEMENTO_KEYS_RERANK to the folder of a cross-encoder",
    "KEYMEM_AUTO_MIGRATE": "vectors of another model are made again by themselves",
    "KEYMEM_FORCE_REEMBED": "run `memento reindex`",
}


def _read_earlier_names(environment: Mapping[str, str], known: Mapping[str, object]) -> dict[str, str]:
    """
    Read the settings that stand in the environment under the names of the published design of keys.

    Raises:
        SettingsError: one has no counterpart; says what to do instead.
    """
    found: dict[str, str] = {}
    for name, text in environment.items():
        if not name.startswith("KEYMEM_"):
            continue
        ours = EARLIER_NAMES.get(name)
        if ours is None:
            how = _INSTEAD.get(name, f"of these names {', '.join(EARLIER_NAMES)} are read")
            raise SettingsError(f"{name} is not read here: {how}, and unset it")
        if ours in known:
            try:
                found[ours] = str(float(text) / 86_400) if name.endswith("_AGE") else text
            except ValueError as error:
                raise SettingsError(f"{name} must be a number of seconds, not {text!r}") from error
    return found


def _group_environment(environment: Mapping[str, str], settings: object) -> dict[str, Any]:
    found: dict[str, Any] = {}
    names = {variable(name, key): (name, key) for name, group in groups(settings) for key in knobs(group)}
    for name, text in (_read_earlier_names(environment, names) | dict(environment)).items():
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


def _overlay(
    settings: G, changes: Mapping[str, Any], source: str, spelling: Spelling | None = None, above: str = ""
) -> G:
    """Return a copy of all groups, or of one, with some values changed."""
    hints = hints_of(settings)
    known = knobs(settings)
    inner = [key for key in hints if is_dataclass(hints[key])]
    new: dict[str, object] = {}
    for key, value in changes.items():
        group = above + key
        if key in inner:
            if not isinstance(value, Mapping):
                raise SettingsError(f"{group} in {source} must be a group of settings, as [{group}]")
            new[key] = _overlay(getattr(settings, key), value, source, spelling, f"{group}.")
        elif key in known:
            where = f"{key} of [{above[:-1]}] in {source}"
            called = (spelling or {}).get((above[:-1], key), where)
            new[key] = _convert(value, hints[key], known[key], called)
        elif isinstance(settings, ClientSettings):
            continue  # another group, which `load` looks at
        elif not above:
            raise SettingsError(f"unknown group [{key}] in {source}: choose one of {', '.join(inner)}")
        else:
            choices = ", ".join((*known, *inner))
            raise SettingsError(f"unknown setting {key} of [{above[:-1]}] in {source}: choose one of {choices}")
    return replace(cast(Any, settings), **new) if new else settings


def _convert(value: object, hint: Any, item: Field[Any], where: str) -> object:
    """Convert a value to the type of its setting; text, as the environment has it, is parsed."""
    hint, is_optional = unwrap_optional(hint)
    if is_optional and (value is None or value == ""):
        return None
    if item.metadata["json"]:
        return _json_object(value, where)
    kind = kind_of(hint)
    if isinstance(value, str):
        value = _parse_text(value, kind)
    shown = "" if item.metadata["secret"] else f", not {value!r}"
    try:
        value = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise SettingsError(f"{where} must be {_KINDS[kind]}{shown}") from None
    try:
        if isinstance(value, float) and not math.isfinite(value):
            raise msgspec.ValidationError
        return msgspec.convert(value, hint)
    except msgspec.ValidationError:
        raise SettingsError(f"{where} must be {describe_bounds(hint)}{shown}") from None


def _parse_text(text: str, kind: type) -> object:
    """Parse text as a number or a truth; return the text itself where it is none."""
    if kind is bool:
        return _TRUTHS.get(text.lower(), text)
    if kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def _json_object(value: object, where: str) -> str:
    """Return a JSON object as text, from text or from a table; "" for none."""
    try:
        found = json.loads(value) if isinstance(value, str) and value.strip() else value or {}
        if isinstance(found, dict):
            return json.dumps(found, ensure_ascii=False) if found else ""
    except (ValueError, TypeError):
        pass
    raise SettingsError(f'{where} must be a JSON object, as {{"reasoning_effort": "low"}}, or a table')
