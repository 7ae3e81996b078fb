"""
Every knob, its default and its reason: environment over `memento.toml` over default.

`MEMENTO_LAND_CANDIDATES=50` sets `candidates` of the group `land`; in the file it is `candidates = 50` under `[land]`. Only
`MEMENTO_HOME` and `MEMENTO_NAMESPACE` stand outside the groups. This is the only file that reads the environment.
Functions receive their own group, never the whole.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

from memento.errors import SettingsError


def knob(default: Any, help: str, choices: tuple[str, ...] = ()) -> Any:
    """A setting with its default and one sentence that says what it does and its unit."""
    return field(default=default, metadata={"help": help, "choices": choices})


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    namespace: str = knob("main", "where notes go when nothing names a namespace; `project` is the git checkout's name")


@dataclass(frozen=True, slots=True)
class LandSettings:
    candidates: int = knob(100, "memories taken from each of the two searches, and from the walk of EXPAND")


@dataclass(frozen=True, slots=True)
class FusionSettings:
    vector_weight: float = knob(
        0.7, "share of the first list when two ranked lists are fused; the second gets the rest"
    )
    quality_threshold: float = knob(0.3, "normalised score below which an item of the second list is dropped")
    full_weight_results: int = knob(5, "results a list needs to keep its whole weight")
    target_mean: float = knob(0.5, "mean that scores are aligned to before they are scaled to 0..1")
    target_deviation: float = knob(0.2, "standard deviation that scores are aligned to")


@dataclass(frozen=True, slots=True)
class AnchorSettings:
    min_memories: int = knob(1, "seed memories that must be about an entity before it anchors")
    semantic: float = knob(0.5, "weight of the entity's own likeness to the question")
    memory: float = knob(0.3, "weight of the mean likeness of the seed memories about it")
    structural: float = knob(0.2, "weight of its degree in the graph; the three weights sum to 1")
    user: bool = knob(False, "let the user anchor too; the user is a giant hub")


@dataclass(frozen=True, slots=True)
class ExpandSettings:
    damping: float = knob(0.75, "share of the rank that follows links; the rest restarts at the anchors")
    iterations: int = knob(25, "steps of power iteration at most")
    structural_weight: float = knob(0.5, "share of the walk in the score of EXPAND; cosine gets the rest")
    weighted: bool = knob(False, "restart at the anchors by their weights, not equally")
    normalise: str = knob(
        "none", "how walk scores are scaled before they are mixed with cosines", ("none", "max", "minmax")
    )


@dataclass(frozen=True, slots=True)
class DistillSettings:
    top_k: int = knob(10, "memories returned when the caller names no number")
    lambda_min: float = knob(0.5, "relevance share of MMR when the best score hardly stands out")
    lambda_max: float = knob(0.7, "relevance share of MMR when the best score stands out; 1 turns diversity off")


@dataclass(frozen=True, slots=True)
class WordsSettings:
    k1: float = knob(1.5, "BM25: how soon repeated words stop counting")
    b: float = knob(0.75, "BM25: how much long texts are discounted, 0..1")


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    model: str = knob(
        "minilm",
        "the embedder: all-MiniLM-L6-v2 on this machine, or hashed character trigrams that need no model",
        ("minilm", "trigram"),
    )
    threads: int = knob(1, "threads for one question or note; imports use all cores")
    batch: int = knob(16, "texts embedded at once; small batches of like lengths are the fastest")
    cache: bool = knob(True, "keep vectors under the user's cache folder by model and text digest")


@dataclass(frozen=True, slots=True)
class ConsolidationSettings:
    similar_memories: int = knob(15, "existing memories that a new one is compared with")
    entity_candidates: int = knob(5, "entities in the graph that a mention is compared with")
    time_zone: str = knob("UTC", "where the user's days begin, as Europe/Berlin: decides what yesterday means")


@dataclass(frozen=True, slots=True)
class LimitsSettings:
    text_bytes: int = knob(1_048_576, "longest note or question, in bytes of UTF-8")
    query_bytes: int = knob(65_536, "longest SPARQL query, in bytes of UTF-8")
    query_depth: int = knob(50, "deepest nesting of braces and parentheses in a SPARQL query")
    results: int = knob(1_000, "most memories that one recall or one page of a listing returns")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str = knob("127.0.0.1", "address the service listens on; only loopback until tokens exist")
    port: int = knob(6366, "port the service listens on")
    threads: int = knob(256, "requests served at once")
    lock_wait_s: float = knob(10.0, "seconds a command waits for another command to let go of the data folder")


@dataclass(frozen=True, slots=True)
class Settings:
    """All groups; frozen, so that a profile or a test makes a changed copy."""

    scope: ScopeSettings = ScopeSettings()
    land: LandSettings = LandSettings()
    fusion: FusionSettings = FusionSettings()
    anchor: AnchorSettings = AnchorSettings()
    expand: ExpandSettings = ExpandSettings()
    distill: DistillSettings = DistillSettings()
    words: WordsSettings = WordsSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    limits: LimitsSettings = LimitsSettings()
    server: ServerSettings = ServerSettings()


PROFILES: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    # The constants of the first published design, whatever the defaults become.
    "seed": {
        "land": {"candidates": 100},
        "fusion": {"vector_weight": 0.7, "quality_threshold": 0.3, "full_weight_results": 5},
        "anchor": {"min_memories": 1, "semantic": 0.5, "memory": 0.3, "structural": 0.2, "user": False},
        "expand": {"damping": 0.75, "iterations": 25, "structural_weight": 0.5, "weighted": False, "normalise": "none"},
        "distill": {"top_k": 10, "lambda_min": 0.5, "lambda_max": 0.7},
    },
}


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


def groups(settings: Settings) -> Iterator[tuple[str, Any]]:
    """(group name, group) in the order they are declared."""
    return ((item.name, getattr(settings, item.name)) for item in fields(settings))


def table() -> str:
    """`docs/settings.md`: every setting with its environment name, default, choices and sentence."""
    lines = [
        "# Settings",
        "",
        "Made by `make docs` from `src/memento/settings.py`.",
        "The environment wins over `memento.toml` in the data folder, and that over the default.",
        "",
        "`MEMENTO_HOME` is the data folder (default: the platform's user data folder),",
        "`MEMENTO_NAMESPACE` the namespace (default: `main`).",
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
        if not variable.startswith("MEMENTO_") or variable in ("MEMENTO_HOME", "MEMENTO_NAMESPACE"):
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
