"""
Declare every setting by group, with its bounds, its default and one sentence that says what it does and its unit; and load them:
the environment overrides `.env`, that overrides `memento.toml`, and that the defaults.

`MEMENTO_LAND_CANDIDATES=50` sets `candidates` of the group `land`; in the file it is `candidates = 50` under `[land]`. Only
`MEMENTO_HOME`, `MEMENTO_NAMESPACE`, `MEMENTO_TOOLS` and `MEMENTO_CONFIG` belong to no group. This is the only file that reads the
environment. Functions receive their own group, never all settings.

*Guarantees:* a bad value, or values that contradict each other, are refused in one line that names them and what is allowed. A
setting that does not exist, or no longer does, is ignored, with one warning for all of them. `.env` never overrides the
environment, and the environment itself is never changed.

*Because:* the groups are declared here and not in the packages that use them, so that a process that only calls a running service
can check the whole environment and file without loading those packages.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeVar, cast, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from memento import plugin
from memento.errors import InputError, PluginError, SettingsError
from memento.iris import check_namespace

logger = logging.getLogger(__name__)

G = TypeVar("G")

Parts = Literal["stores", "indexes", "engines"]
"""The kinds of what plug-ins add of which one is in use, in place of Memento's own."""

Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0)]
Span = Annotated[float, Meta(ge=0.001)]
"""A time in the unit that the sentence names, or any other positive number."""


def knob(default: Any, help: str, *, secret: bool = False, json: str = "", parts: Parts | None = None) -> Any:
    """
    Declare a setting with its default and one sentence that says what it does and its unit.

    Args:
        secret: whether `repr` and `memento config show` hide the value.
        json: an example, if the value is a JSON object as text; in a file it may be a table.
        parts: what of plug-ins the setting chooses among, if it is the default or the name of one of those.
    """
    metadata = {"help": help, "secret": secret, "json": json, "parts": parts}
    return field(default=default, repr=not secret, metadata=metadata)


def constant(value: Any) -> Any:
    """
    Declare a value of a group that is no setting: only a profile, a bench or a test gives another one.

    *Because:* functions receive their group, so that what a profile lays over the constants reaches them as well.
    """
    return field(default=value)


_OPTIONS = '{"reasoning_effort": "low"}'


def knobs(group: Any) -> dict[str, Field[Any]]:
    """Return the fields of a group that are settings, by name; the others are constants or groups."""
    return {item.name: item for item in fields(group) if "help" in item.metadata}


def hints_of(group: Any) -> dict[str, Any]:
    """Return the type of each field of a group with its bounds."""
    return get_type_hints(type(group), include_extras=True)


def unwrap_optional(hint: Any) -> tuple[Any, bool]:
    """
    Split a type into the type of a given value, and whether the value may be left empty.

    >>> unwrap_optional(Share | None) == (Share, True)
    True
    """
    if NoneType not in get_args(hint):
        return hint, False
    (inner,) = (one for one in get_args(hint) if one is not NoneType)
    return inner, True


def kind_of(hint: Any) -> type:
    """
    Return the plain type of a setting.

    >>> kind_of(Share), kind_of(Literal["a", "b"])
    (<class 'float'>, <class 'str'>)
    """
    if get_origin(hint) is Literal:
        return str
    plain: type = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return plain


def choices_of(hint: Any, item: Field[Any] | None = None) -> tuple[str, ...]:
    """Return the words that a setting accepts, those of plug-ins too, or nothing if it is no choice."""
    if item and item.metadata["parts"]:
        return list_parts(item.metadata["parts"], str(item.default))
    return get_args(hint) if get_origin(hint) is Literal else ()


def list_parts(parts: Parts, own: str) -> tuple[str, ...]:
    """Return the names of what there is of one kind, Memento's own first; raise `PluginError` if a plug-in uses one of those."""
    if parts != "engines":
        return (own, *plugin.name_owners(parts))
    return (*ENGINES, *plugin.name_beside(parts, (*ENGINES, *MODES)), *MODES)


def describe_choices(choices: Sequence[str]) -> str:
    """Say which words are allowed."""
    return f"one of {', '.join(choices)}"


def describe_bounds(hint: Any) -> str:
    """
    Say which values of a type are allowed.

    >>> describe_bounds(Share), describe_bounds(Positive), describe_bounds(Literal["a", "b"]), describe_bounds(float)
    ('from 0 to 1', 'at least 1', 'one of a, b', 'a finite number')
    """
    if choices := choices_of(hint):
        return describe_choices(choices)
    if get_origin(hint) is not Annotated:
        return "a finite number"
    meta = get_args(hint)[1]
    if meta.gt is not None:
        return f"above {meta.gt}"
    return f"at least {meta.ge}" if meta.le is None else f"from {meta.ge} to {meta.le}"


def variable(group: str, key: str) -> str:
    """
    Return the name of a setting in the environment.

    >>> variable("model.hypothesise", "temperature")
    'MEMENTO_MODEL_HYPOTHESISE_TEMPERATURE'
    """
    return f"MEMENTO_{group.replace('.', '_')}_{key}".upper()


Above = Literal["ivf", "hnsw"]
"""What finds the nearest of many vectors: an inverted file, or an HNSW graph."""
Mode = Literal["vector", "keyword", "hybrid"]
MODES: tuple[Mode, ...] = get_args(Mode)
ENGINES = ("signals", "ppr", "spread", "hops")
"""Memento's own engines, which rank by signals or by one of their walks; each of `MODES` is an engine too."""

Provider = Literal["none", "openai", "anthropic", "google", "ollama", "openai-compatible"]
Embedder = Literal["local", "openai", "google", "cohere", "mistral", "ollama", "openai-compatible"]


@dataclass(frozen=True, slots=True)
class LandSettings:
    engine: str = knob(
        "signals",
        "how memories are ranked: by weighted signals, by one of three walks alone (`ppr`, `spread`, `hops`), by one plain "
        "search, or as a plug-in does it",
        parts="engines",
    )
    mend: bool = knob(
        True, "correct a word that neither the memories nor the embedder know to a known word one letter away"
    )
    # Candidates that each strong signal contributes.
    pool: int = constant(200)
    whole: Natural = knob(
        50_000,
        "up to this many memories, every signal looks at all of them; above, only at those that vectors and words find",
    )
    flat: Natural = knob(
        200_000,
        "up to this many vectors, the question is compared with all of them; above, an index of codes finds the nearest",
    )
    above: Above = knob(
        "ivf",
        "type of that index: an inverted file, or an HNSW graph, which takes minutes to build and cannot remove vectors",
    )
    # Memories that a plain search of a large scope takes from vectors and from words.
    candidates: int = constant(100)


@dataclass(frozen=True, slots=True)
class SignalsSettings:
    """A weight for each signal of recall, by its name: `memento.retrieval.signals` registers them, with default and sentence."""

    if TYPE_CHECKING:

        def __init__(self, **weights: float) -> None: ...


def default_weights() -> SignalsSettings:
    """
    Return the weights that the signals are registered with.

    *Because:* each signal declares its own setting. So this function imports their module when settings are first created.
    """
    signals: SignalsSettings = import_module("memento.retrieval.signals").weights_class()()
    return signals


@dataclass(frozen=True, slots=True)
class AnchorSettings:
    # Best memories whose entities become anchors, in addition to the entities that the question names.
    seeds: int = constant(5)
    # Weight of an entity of the best memory; an entity in the question weighs 1.
    seed_share: float = constant(0.3)
    # Let the user be an anchor too; the user is a hub with very many links.
    user: bool = constant(False)


@dataclass(frozen=True, slots=True)
class ExpandSettings:
    # Best memories whose links are followed.
    seeds: int = constant(20)
    # Share of the rank that follows links; the rest restarts at the anchors.
    damping: float = constant(0.75)
    # Restart weight of the best memory itself; a rare name in the question weighs 1.
    passages: float = constant(0.5)
    # Rank that the walk leaves unspread for each link of a node; smaller is slower.
    epsilon: float = constant(3e-05)
    # Weight of an edge between a memory and the one it superseded; an edge to a rare name weighs 1; 0: no such
    # edges.
    successions: float = constant(1.0)
    # The same for an edge to the neighbouring turns of a conversation.
    turns: float = constant(1.0)
    # The same for an association; multiplied by the association's own weight.
    associations: float = constant(1.0)
    # Engine spread: activation of the best memory at the start; with higher values all nodes end at 1.
    active: float = constant(0.3)
    # Engine spread: how often activation is passed on.
    steps: int = constant(3)
    # Engine spread: share of activation that arrives over a link of weight 1.
    decay: float = constant(0.85)
    # Engine spread: activation above which a node passes it on.
    threshold: float = constant(0.1)
    # Engine hops: how far from the seeds to go; the seeds themselves are the first hop.
    hops: int = constant(2)


@dataclass(frozen=True, slots=True)
class DistillSettings:
    top_k: Positive = knob(10, "memories returned when the caller gives no number")


@dataclass(frozen=True, slots=True)
class GateSettings:
    on: bool = knob(True, "return only relevant memories, each fact once, and nothing when nothing is relevant")
    base: Share = knob(
        0.0, "how sure recall must be that a scope of 600 memories answers a question; 0: calibrated for the embedder"
    )
    # With `base`: what the threshold grows by when the scope grows by a factor of e.
    slope: float = constant(0.0)
    # With `base`: the lowest threshold.
    floor: float = constant(0.0)
    keep: Share = knob(
        0.0, "share of the best memory's relevance below which a memory is cut; 0: calibrated for the embedder"
    )


@dataclass(frozen=True, slots=True)
class WordsSettings:
    # BM25: how soon repeated words stop counting.
    k1: float = constant(1.5)
    # BM25: how much long texts are discounted, 0..1.
    b: float = constant(0.75)


@dataclass(frozen=True, slots=True)
class RerankSettings:
    folder: str = knob(
        "",
        "folder of a cross-encoder (ONNX or safetensors) that reranks the best memories of every recall; empty: none",
    )
    # How many of the best memories it reranks.
    pool: int = constant(30)
    floor: float | None = knob(
        None,
        "the cross-encoder's best score below which there is no answer, unless the answer is in another script; empty: "
        "none",
    )
    factors: bool = knob(
        False, "multiply scores by the factors of the published design: age, source, tags, uses, priority"
    )


@dataclass(frozen=True, slots=True)
class AnswersSettings:
    cached: Natural = knob(
        0,
        "answers of recall that are cached for the same question of the same caller (100 in the published design); 0: "
        "none",
    )
    fresh_s: Amount = knob(60.0, "seconds for which a cached answer is reused while nothing was written")
    stale_s: Amount = knob(
        0.0,
        "seconds for which an older answer is returned once more while a new one is computed in the background; 0: never",
    )


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where the index is; a plug-in with another index extends this class by the settings of its own."""

    kind: str = knob(
        "faiss", "where the index is kept: in this process and its folder, or where a plug-in keeps it", parts="indexes"
    )


@dataclass(frozen=True, slots=True)
class StrengthSettings:
    half_life: Span = knob(7.0, "days in which energies halve when a request for decay names no half-life")
    # Energy up to which a memory counts as spent and can be archived.
    archive_energy: float = constant(0.05)
    # Uses up to which a spent memory is archived.
    archive_uses: int = constant(5)
    # Share of a memory's energy in its recall score: the profile `living` sets it to 0.3.
    rank_energy: float = constant(0.0)
    # Importance from which a memory is never archived.
    keep_importance: float = constant(0.7)
    count_recall: bool = knob(
        False,
        "count a memory as used when recall returns it to a caller who may write; memories that the proxy inserts never "
        "count",
    )


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    namespace: str = knob(
        "main", "where notes go when no namespace is named; `project` is the name of the git checkout"
    )


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    provider: Embedder = knob("local", "what computes vectors: this machine, or a service that texts are sent to")
    model: str = knob(
        "minilm",
        "local: `minilm` is all-MiniLM-L6-v2, `trigram` hashes characters and needs no model, any other value is the "
        "folder of a sentence-transformers model; otherwise the provider's name for the model",
    )
    dimensions: Natural = knob(0, "length of a vector; required for a service; `trigram` uses 256 unless you set it")
    base_url: str = knob("", "address of the service, up to and including /v1; openai-compatible and ollama only")
    api_key: str = knob("", "key of the service", secret=True)
    provider_name: str = knob("", "a name for an openai-compatible service")
    # Longest text sent to a service, in characters; longer ones are split into windows.
    max_chars: int = constant(2000)
    timeout_s: Span = knob(60.0, "seconds that a service may send nothing before the request times out")
    max_retries: Natural = knob(3, "how often a failed request is retried")
    # Seconds before the first retry; doubles each time, with random jitter.
    retry_wait_s: float = constant(0.5)
    # Circuit breaker: failures among the latest ten calls after which the service is not called for a while.
    breaker_failures: int = constant(5)
    # Circuit breaker: seconds without calls before one trial request; doubles each time that it fails, up to 300.
    breaker_rest_s: float = constant(30.0)
    runtime: Literal["auto", "torch", "onnx"] = knob(
        "auto",
        "what runs all-MiniLM-L6-v2: torch, or onnxruntime, which needs half the time for the same vectors; `auto` takes "
        "onnxruntime where it is installed",
    )
    # Threads for one question or note; imports use all cores.
    threads: int = constant(1)
    # Texts embedded at once; locally, small batches of texts of similar length are the fastest.
    batch: int = constant(16)
    auto_migrate: bool = knob(
        True,
        "when a start finds another model than the last one, make a backup and embed everything again; otherwise the "
        "folder keeps the model of its vectors until `memento store migrate`",
    )
    cache: bool = knob(True, "cache vectors in the user's cache folder, by model and text digest")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The settings of the model for one step, where they differ from those of [model]."""

    model: str = knob("", "model for this step; empty: that of [model]")
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = knob(
        None, "temperature for this step; empty: that of [model]"
    )
    max_tokens: Positive | None = knob(None, "most tokens of an answer in this step; empty: that of [model]")
    # JSON object of fields for the request, merged over those of [model].
    options: str = constant("")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    provider: Provider = knob("none", "what understands notes: rules (none), or a language model of this provider")
    model: str = knob("", "the provider's name for the model; required unless the provider is none")
    api_key: str = knob("", "key of the service; needed for openai, anthropic and google", secret=True)
    base_url: str = knob("", "address of the service, up to and including /v1; openai-compatible and ollama only")
    provider_name: str = knob("", "a name for an openai-compatible service")
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = knob(
        0.5, "how freely the model answers; empty: the provider's default"
    )
    max_tokens: Positive = knob(15000, "most tokens of one answer")
    max_retries: Natural = knob(3, "how often a request is retried when the service fails or the answer is invalid")
    # Seconds before the first retry; doubles each time, with random jitter.
    retry_wait_s: float = constant(0.5)
    # Connect timeout, in seconds.
    connect_s: float = constant(5.0)
    timeout_s: Span = knob(120.0, "seconds that the service may send nothing before the request times out")
    # Seconds for one request with all its retries.
    call_s: float = constant(300.0)
    # Circuit breaker: failures among the latest ten calls after which the service is not called for a while.
    breaker_failures: int = constant(5)
    # Circuit breaker: seconds without calls before one trial request; doubles each time that it fails, up to 300.
    breaker_rest_s: float = constant(30.0)
    tokens_per_note: Natural = knob(60000, "most tokens that one note may cost; 0: no limit")
    fallback_to_rules: bool = knob(True, "let rules understand a note after the last retry; otherwise it stays pending")
    options: str = knob(
        "", "JSON object of fields for the request, passed on unchanged; null removes a field", json=_OPTIONS
    )
    extract_entities: AgentSettings = AgentSettings()
    resolve_entities: AgentSettings = AgentSettings()
    hypothesise: AgentSettings = AgentSettings(temperature=0.7)
    extract_memories: AgentSettings = AgentSettings()
    resolve_memories: AgentSettings = AgentSettings()
    plan: AgentSettings = AgentSettings()
    act: AgentSettings = AgentSettings()
    answer: AgentSettings = AgentSettings()


@dataclass(frozen=True, slots=True)
class ProxySettings:
    provider: Literal["all", "openai", "anthropic", "ollama", "custom"] = knob(
        "all", "upstream that the proxy serves: all that have a base URL, or one"
    )
    openai_base_url: str = knob(
        "https://api.openai.com/v1", "where OpenAI's protocol is forwarded to, with /v1; empty: not served"
    )
    anthropic_base_url: str = knob(
        "https://api.anthropic.com", "where Anthropic's protocol is forwarded to, without /v1; empty: not served"
    )
    ollama_base_url: str = knob(
        "http://localhost:11434", "where Ollama's protocol is forwarded to, without /api; empty: not served"
    )
    deadline_ms: Positive = knob(
        150,
        "milliseconds that a recall may always take; where recalls take longer, the limit is twice what 95 of the last 100 took, "
        "and at most ten times this. After that the request is forwarded, and its memories come with the next turn",
    )
    block_tokens: Annotated[int, Meta(ge=1, le=2000)] = knob(
        800,
        "most tokens that are inserted in a turn, with its frame and the memories that earlier turns lack, at most 2,000; the "
        "estimate is on the high side",
    )
    format: Literal["lines", "xml"] = knob(
        "lines",
        "form of the block: a dated line for each memory, or XML with entities, notes and what each memory replaced",
    )
    # Begin the block with a sentence that tells the model what it is.
    instructions: bool = constant(True)
    # Recalls that may run at once; further requests wait, within the deadline.
    recalls: int = constant(4)
    # Seconds in which a repeated turn gets the same block without another recall.
    repeat_s: float = constant(300.0)
    blocks: Natural = knob(20_000, "blocks that are kept to be inserted into their conversations again; 0 keeps none")
    connect_s: Span = knob(
        10.0, "connect timeout for a provider, in seconds; how long it thinks and streams is not limited"
    )

    @property
    def upstreams(self) -> dict[str, str]:
        """Base URL by protocol (openai, anthropic, ollama) of what is served; Ollama speaks OpenAI's protocol too."""
        urls = {"openai": self.openai_base_url, "anthropic": self.anthropic_base_url, "ollama": self.ollama_base_url}
        if self.provider == "ollama":
            urls |= {"openai": f"{self.ollama_base_url.rstrip('/').removesuffix('/api')}/v1", "anthropic": ""}
        spoken = {"openai": ("openai",), "anthropic": ("anthropic",), "custom": ("openai", "anthropic")}
        served = spoken.get(self.provider, tuple(urls))
        return {protocol: url for protocol, url in urls.items() if url and protocol in served}


@dataclass(frozen=True, slots=True)
class ConsolidationSettings:
    # Existing memories that a new one is compared with.
    similar_memories: int = constant(15)
    # Entities in the graph that a mention is compared with.
    entity_candidates: int = constant(5)
    # With a model: memories that are recalled for a note and from which the model makes its guesses.
    recalled_memories: int = constant(10)
    # With a model: memories that each guess finds.
    guessed_memories: int = constant(10)
    # Longest description of the user, in characters; the oldest facts are dropped.
    description_chars: int = constant(2000)
    read_imports: bool = knob(
        True,
        "read in the background what rows claim that are imported as they are; if false, `memento store upgrade` reads them",
    )
    retries: Natural = knob(5, "how often a note that could not be understood is retried")
    # Seconds before the first retry; doubles each time.
    retry_wait_s: float = constant(10.0)
    # Most seconds between two retries.
    retry_most_s: float = constant(600.0)
    check_rules: bool = knob(
        False,
        "validate what rules write against the shapes too, which takes some 30 ms a note; what a model writes is always "
        "validated",
    )
    tag_rules: Literal["on", "published", "off"] = knob(
        "on",
        "give memories the tags that rules recognise in their words, such as `decision`; `published`: also by the broad "
        'signs of the published design ("because", "layer", "must"), and all others get `conversation`',
    )
    chunk_over: Natural = knob(
        0,
        "words above which a text is split into pieces, each of them a note (1000 in the published design); 0: never, a "
        "text is one note",
    )
    # Most words of a piece.
    chunk_words: int = constant(500)
    # Words that a piece repeats from the end of the one before; less than `chunk_words`.
    chunk_overlap: int = constant(100)
    near: Literal["keep", "relate", "skip"] = knob(
        "keep",
        "what happens to a memory that is nearly the same as another: it is kept, linked with its nearest, or skipped "
        "where it says no more",
    )
    # Cosine from which two memories are nearly the same and are linked as similar.
    near_cosine: float = constant(0.92)
    # Cosine from which a memory is linked with one that it may refer to.
    near_related: float = constant(0.7)
    time_zone: str = knob("UTC", "the user's time zone, as Europe/Berlin: decides what yesterday means")


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    mode: Literal["redact", "refuse", "off"] = knob(
        "redact",
        "what happens to a secret in a text: it is replaced by the name of its kind, the text is refused, or nothing "
        "happens",
    )
    refuse: str = knob("", "namespaces that refuse a text with a secret instead of redacting it, separated by commas")
    entropy: bool = knob(True, "treat a long random-looking word of letters and digits as a secret")
    patterns: str = knob(
        "",
        "further secrets: regular expressions by kind, as a JSON object, or a table in a file",
        json='{"badge": "B-[0-9]{6}"}',
    )
    allow: str = knob("", "a regular expression for what is never a secret; it must match the whole of it")


Capture = Literal["off", "propose", "on"]


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    mode: Capture = knob(
        "off",
        "what happens to what hooks and the proxy see said: nothing, a proposal that waits for approval, or a note",
    )
    namespaces: str = knob(
        "",
        'the same for single namespaces: a JSON object, or a table in a file, as {"work": "on"}',
        json='{"work": "on"}',
    )
    deny: str = knob(
        "", "words or phrases, separated by commas: a text that contains one, in any case, is not captured"
    )
    most: Positive = knob(1_000, "most texts that may wait to be noted or approved; what comes then is not captured")

    def find_mode(self, namespace: str) -> Capture:
        """Return what becomes of what is said in a namespace."""
        given: dict[str, Capture] = json.loads(self.namespaces or "{}")
        return given.get(namespace, self.mode)

    @property
    def is_on(self) -> bool:
        """Whether anything is captured at all."""
        return any(mode != "off" for mode in (self.mode, *json.loads(self.namespaces or "{}").values()))


@dataclass(frozen=True, slots=True)
class McpSettings:
    confirmation: Literal["ask", "client", "never"] = knob(
        "ask",
        "before a tool notes, corrects or forgets: ask the user, leave that to the client, which shows each call, or ask nobody",
    )


@dataclass(frozen=True, slots=True)
class LimitsSettings:
    text_bytes: Positive = knob(1_048_576, "longest note or question, in bytes of UTF-8")
    query_bytes: Positive = knob(262_144, "longest SPARQL query, in bytes of UTF-8")
    update_bytes: Positive = knob(1_048_576, "longest SPARQL update, in bytes of UTF-8")
    update_quads: Positive = knob(100_000, "most quads that one update removes and adds")
    update_nodes: Positive = knob(500, "most memories, notes and other nodes of namespaces that one update touches")
    graphs: Positive = knob(
        5_000,
        "most graphs of one tenant, above which SPARQL creates no further one; all of them are looked at after every "
        "write",
    )
    graph_bytes: Positive = knob(67_108_864, "longest document for the graph store, in bytes")
    # Most quads that one document for the graph store adds.
    graph_quads: int = constant(1_000_000)
    # Deepest nesting of braces and parentheses in a SPARQL query.
    query_depth: int = constant(200)
    document_bytes: Positive = knob(
        1_073_741_824, "longest RDF document that an import over HTTP takes, in bytes after unpacking"
    )
    results: Positive = knob(1_000, "most memories that one recall or one page of a listing returns")
    writers: Positive = knob(
        128,
        "writes that may run or wait at once; one more is refused (503), and you can retry it",
    )
    pending: Positive = knob(
        100_000,
        "notes that may wait to be understood; one more is refused (503), and you can send it again later",
    )


@dataclass(frozen=True, slots=True)
class SparqlSettings:
    workers: Annotated[int, Meta(ge=2)] = knob(
        4, "processes that evaluate SPARQL from callers; one is reserved for queries that promise to be quick"
    )
    # Workers that one caller may use at once for all other queries.
    share: int = constant(2)
    query_s: Annotated[float, Meta(ge=0.05)] = knob(10.0, "seconds that a query may take; `timeout` may ask for less")
    stall_s: Amount = knob(30.0, "seconds that a client may leave an answer unread, over the whole answer")
    memory_mb: Annotated[int, Meta(ge=64)] = knob(512, "most memory of one worker, in MiB")
    rows: Positive = knob(1_000_000, "most rows of one SELECT")
    bytes: Annotated[int, Meta(ge=1024)] = knob(268_435_456, "longest answer, in bytes")
    queue: Annotated[int, Meta(ge=2)] = knob(
        64, "queries that may wait for a worker; one caller may have at most half of them"
    )
    wait_s: Amount = knob(10.0, "seconds that a query may wait for a worker")
    services: str = knob(
        "",
        "endpoints that SERVICE may name, as https://query.wikidata.org/sparql, separated by commas; empty: none",
    )
    service_bytes: Annotated[int, Meta(ge=1024)] = knob(1_048_576, "longest answer of such an endpoint, in bytes")
    origins: str = knob(
        "", "web origins that may query with a token, as https://yasgui.org, separated by commas; * is any"
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str = knob("127.0.0.1", "address the service listens on; an address other than loopback requires tokens")
    port: Annotated[int, Meta(ge=0, le=65535)] = knob(6366, "port the service listens on; 0 takes a free one")
    token_required: bool = knob(
        False, "require a token from programs of this machine too; needed behind a reverse proxy"
    )
    threads: Positive = knob(256, "requests served at once")
    waiting: Natural = knob(
        512, "requests that may wait for a thread; one more is refused (503). Those of the proxy are never refused"
    )
    connections: Annotated[int, Meta(ge=1, le=1_000_000)] = knob(
        2_000,
        "connections that may be open at once, fewer where the system allows fewer files; one more closes the one that "
        "has been idle longest",
    )
    # Seconds for the head of a request, counted from its first byte; on a new connection, from the connect.
    head_s: float = constant(30.0)
    # Seconds for the body of a request, in addition to the time that it takes at 4096 bytes a second.
    body_s: float = constant(30.0)
    # Seconds for which a connection is kept open between two requests: longer than clients keep theirs.
    idle_s: float = constant(75.0)
    lock_wait_s: Amount = knob(10.0, "seconds that a command waits for another command to release the data folder")


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    # Changes to a namespace after which its map is redrawn in the background.
    updates: int = constant(100)
    # Seconds after which a cached map is redrawn, if something was written.
    cache_s: float = constant(30.0)


@dataclass(frozen=True, slots=True)
class CheckpointsSettings:
    hours: Amount = knob(
        24.0, "hours between two checkpoints, from which the memory is read if its store is damaged; 0: none"
    )
    keep: Positive = knob(2, "how many of the latest checkpoints to keep")


@dataclass(frozen=True, slots=True)
class EncryptionSettings:
    """Whether the data folder must be encrypted; the plug-in that does it extends this class by the settings of its own."""

    on: bool = knob(False, "require the data folder to be encrypted, as by `memento serve --encrypted`")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the graph is; a plug-in with another store extends this class by the settings of its own."""

    kind: str = knob(
        "embedded", "where the graph is: in the data folder, or in a store that a plug-in opens", parts="stores"
    )


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    otlp_endpoint: str = knob("", "where spans are sent, as http://127.0.0.1:4318/v1/traces; empty: nowhere")


@dataclass(frozen=True, slots=True)
class PluginsSettings:
    off: str = knob("", "plug-ins that are left out, by name, separated by commas; `memento plugins` lists all of them")

    @property
    def left_out(self) -> frozenset[str]:
        """Return the names of the plug-ins that are left out."""
        return frozenset(name.strip() for name in self.off.split(",") if name.strip())


EXTENDED: Mapping[str, type] = {"store": StoreSettings, "index": IndexSettings, "encryption": EncryptionSettings}
"""The groups that a plug-in may extend, by a class of the same name in its `settings` that is derived from theirs."""


def plugin_groups() -> Mapping[str, Any]:
    """Return the groups of settings that the plug-ins declare, with their defaults; raise `PluginError` if a name is taken."""
    ours: dict[str, Any] = {item.name: None for item in fields(Settings) if item.name not in EXTENDED}
    declared = plugin.merge("settings", ours)
    return {name: group() for name, group in declared.items() if group is not None and name not in EXTENDED}


def extend_group(name: str) -> Any:
    """Return a group of `EXTENDED` with its defaults, extended if a plug-in does so; raise `PluginError` if it is no such class."""
    own = EXTENDED[name]
    made = plugin.collect("settings").get(name, own)
    if not issubclass(made, own):
        raise PluginError(
            f"settings: {made.__name__} of the plug-in {plugin.name_owners('settings')[name]} must extend {own}"
        )
    return made()


@dataclass(frozen=True, slots=True)
class Settings:
    """All groups. They are frozen: a profile or a test makes a changed copy."""

    scope: ScopeSettings = ScopeSettings()
    land: LandSettings = LandSettings()
    signals: SignalsSettings = field(default_factory=default_weights)
    anchor: AnchorSettings = AnchorSettings()
    expand: ExpandSettings = ExpandSettings()
    distill: DistillSettings = DistillSettings()
    gate: GateSettings = GateSettings()
    words: WordsSettings = WordsSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    model: ModelSettings = ModelSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    redaction: RedactionSettings = RedactionSettings()
    capture: CaptureSettings = CaptureSettings()
    mcp: McpSettings = McpSettings()
    limits: LimitsSettings = LimitsSettings()
    sparql: SparqlSettings = SparqlSettings()
    server: ServerSettings = ServerSettings()
    manifest: ManifestSettings = ManifestSettings()
    checkpoints: CheckpointsSettings = CheckpointsSettings()
    encryption: EncryptionSettings = field(default_factory=partial(extend_group, "encryption"))
    telemetry: TelemetrySettings = TelemetrySettings()
    store: StoreSettings = field(default_factory=partial(extend_group, "store"))
    proxy: ProxySettings = ProxySettings()
    living: StrengthSettings = StrengthSettings()
    rerank: RerankSettings = RerankSettings()
    answers: AnswersSettings = AnswersSettings()
    index: IndexSettings = field(default_factory=partial(extend_group, "index"))
    plugins: PluginsSettings = PluginsSettings()
    plugged: Mapping[str, Any] = field(default_factory=plugin_groups, hash=False)
    """The groups of the plug-ins, by name."""

    def of(self, kind: type[G]) -> G:
        """Return the group of a plug-in, or one that it extends, by its class; its defaults while the plug-in is left out."""
        groups = (*self.plugged.values(), *(getattr(self, name) for name in EXTENDED))
        return next((one for one in groups if isinstance(one, kind)), None) or kind()

    def having(self, *groups: Any) -> Settings:
        """Return a copy with other values of some groups of plug-ins; those of plug-ins that are left out stay away."""
        given = {type(one): one for one in groups}
        return replace(self, plugged={name: given.get(type(one), one) for name, one in self.plugged.items()})


MASK = "***"

TOOL_GROUPS = ("connectors", "care")
"""Tools for MCP clients beyond the default ones; plug-ins add further groups."""


def list_tool_groups() -> tuple[str, ...]:
    """Return the names of all groups of tools."""
    return (*TOOL_GROUPS, *plugin.name_owners("tools"))


def groups(settings: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (group name, group) in the order they are declared; a group within a group follows it, as `model.hypothesise`."""
    plugged = getattr(settings, "plugged", {})
    for name, group in {**{item.name: getattr(settings, item.name) for item in fields(settings)}, **plugged}.items():
        if is_dataclass(group):
            yield above + name, group
            yield from groups(group, f"{above}{name}.")


def mask_secrets(settings: Settings) -> dict[str, dict[str, object]]:
    """Return values by group and key, secrets masked."""
    return {
        name: {
            key: MASK if item.metadata["secret"] and getattr(group, key) else getattr(group, key)
            for key, item in knobs(group).items()
        }
        for name, group in groups(settings)
        if knobs(group)
    }


def table() -> str:
    """Write `docs/settings.md`: every setting with its environment name, default, choices and sentence."""
    lines = [
        "# Settings",
        "",
        "Made by `make docs` from `src/memento/settings.py`.",
        "Environment variables override `.env`, `.env` overrides `memento.toml` in the data folder, and `memento.toml` overrides",
        "the defaults.",
        "",
        "`MEMENTO_HOME` is the data folder (default: the platform's user data folder),",
        "`MEMENTO_NAMESPACE` is the namespace (default: `main`), and",
        f"`MEMENTO_TOOLS` adds tools for MCP clients to the default ones: any of `{'`, `'.join(list_tool_groups())}`, or `full`.",
        "",
        "`{env:NAME}` anywhere in a settings file is replaced by the value of that environment variable, so you need not write API",
        "keys into the file. If the variable is not set, loading fails with an error that names it; only in `api_key` and",
        "`executor.servers` it counts as empty. If no value is needed, set the variable to an empty value.",
        "",
        "`.env` is read from the data folder and from the working directory. The one in the working directory may set keys and",
        "ordinary settings, but none that decides where memories go, who may see them or which programs run (`…_PROVIDER`,",
        "`…_BASE_URL`, `…_ENDPOINT`, `MEMENTO_SERVER_…`, `MEMENTO_EXECUTOR_…`, `MEMENTO_STORE_…`, `MEMENTO_CONFIG`).",
        "",
        "`MEMENTO_CONFIG` names another TOML file, which `memento.toml` overrides.",
        "",
        "A setting that is not in these tables is ignored, with a warning that names it: remove it, or correct its name.",
        "",
    ]
    for name, group in groups(Settings()):
        if not knobs(group):
            continue
        lines += [f"## [{name}]", "", "| key | environment | default | what it does |", "| --- | --- | --- | --- |"]
        hints = hints_of(group)
        for key, item in knobs(group).items():
            choices = choices_of(unwrap_optional(hints[key])[0], item)
            help = item.metadata["help"] + (f" ({', '.join(choices)})" if choices else "")
            default = getattr(group, key)
            usual = "" if default in (None, "") else f"`{default}`"
            lines.append(f"| `{key}` | `{variable(name, key)}` | {usual} | {help} |")
        lines.append("")
    return "\n".join(lines)


Changes = dict[str, dict[str, object]]
"""Values by group and key."""

PLACE = re.compile(r"\{env:([A-Z0-9_]+)\}")

_UNSET = re.compile("\ue000([A-Z0-9_]+)\ue001")
"""The placeholder for a variable that is not set, until it is known which setting uses it."""

_WAITING = ("api_key", "servers")
"""Settings that may name a variable which is not set: their services report it when they are used."""

# The `.env` file of an untrusted folder, such as a checkout, must not decide where memories go, who may read them, or what is run.
STEERING = re.compile(r"^MEMENTO_(SERVER_\w+|EXECUTOR_\w+|STORE_\w+|CONFIG|\w+_(PROVIDER|BASE_URL|ENDPOINT))")


def read_dotenv(path: Path, trusted: bool) -> dict[str, str]:
    """
    Read the variables of a `.env` file; return none if there is no file.

    Raises:
        SettingsError: the file cannot be read; or it is not `trusted` and sets something that `STEERING` matches.
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
    Replace `{env:NAME}` by the variable, or by a placeholder for `_fill_unset`; quotes in its value are escaped.

    >>> substitute_variables('{"url": "http://{env:HOST}/v1"}', {"HOST": "box"})
    '{"url": "http://box/v1"}'
    """
    return PLACE.sub(
        lambda place: json.dumps(environment.get(place[1], f"\ue000{place[1]}\ue001"), ensure_ascii=False)[1:-1], text
    )


def read_toml(path: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """Read the groups of a TOML file; raise `SettingsError` if it is not TOML."""
    text = substitute_variables(_read_text(path), environment)
    try:
        return {group: values for group, values in tomllib.loads(text).items() if group != "$schema"}
    except tomllib.TOMLDecodeError as error:
        unset = "".join(f"; the variable {name} is not set" for name in dict.fromkeys(_UNSET.findall(text)))
        raise SettingsError(f"{path} is not TOML: {error}{unset}") from error


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error


CLOUD = ("openai", "anthropic", "google", "cohere", "mistral")  # one fixed address each; they require a key
LOCAL_MODELS = ("minilm", "trigram")


def check_settings(settings: Settings) -> Settings:
    """Check the rules that span several settings and return the same settings; raise `SettingsError` if one is broken."""
    require_engine(settings, settings.land.engine)
    _check_model(settings.model)
    _check_embedding(settings.embedding)
    _check_proxy(settings.proxy)
    _check_capture(settings.capture)
    for name, group in groups(settings):
        if name in ("store", "index"):
            find_provider(settings, name)
        if check := getattr(group, "check", None):
            check(settings)
    return settings


def find_provider(settings: Settings, group: str) -> str:
    """
    Return the plug-in that opens the store or the index that a group of `EXTENDED` names; empty for Memento's own.

    Raises:
        SettingsError: no plug-in that is installed and switched on has it.
    """
    [item] = (item for item in fields(EXTENDED[group]) if item.name == "kind")
    kind = getattr(settings, group).kind
    if kind == item.default:
        return ""
    owner = plugin.name_owners(item.metadata["parts"]).get(kind)
    if owner is None:
        raise SettingsError(
            f"{group}.kind must be {describe_choices(choices_of(str, item))}, not {kind!r}: no plug-in that is installed has that"
        )
    require_plugin(settings, owner, f"{group}.kind = {kind!r}")
    return owner


def require_plugin(settings: Settings, owner: str, needs: str) -> None:
    """Raise `SettingsError` if a plug-in is switched off that something needs."""
    if owner in settings.plugins.left_out:
        raise SettingsError(
            f"{needs} needs the plug-in {owner}, which is switched off: `memento plugins --on {owner}` switches it on"
        )


def list_engines() -> tuple[str, ...]:
    """Return the names of all engines of recall; raise `PluginError` if a plug-in uses one of Memento's."""
    return list_parts("engines", "")


def require_engine(settings: Settings, engine: str) -> None:
    """
    Check that an engine can rank.

    Raises:
        InputError: there is no such engine.
        SettingsError: its plug-in is switched off.
    """
    if engine not in list_engines():
        raise InputError(f"unknown engine {engine!r}: choose {describe_choices(list_engines())}")
    require_plugin(settings, plugin.name_owners("engines").get(engine, ""), f"the engine {engine}")


def _check_capture(capture: CaptureSettings) -> None:
    for namespace, mode in json.loads(capture.namespaces or "{}").items():
        if mode not in get_args(Capture):
            why = f"must say {', '.join(get_args(Capture))} of {namespace!r}, not {str(mode)[:40]!r}"
            refuse("capture", "namespaces", why)


def _check_model(model: ModelSettings) -> None:
    if model.provider == "none":  # the other settings have no effect until a provider is set
        return
    if not model.model:
        refuse("model", "model", f"is required for {model.provider}, as the provider calls it")
    _check_service("model", model)


def _check_embedding(embedding: EmbeddingSettings) -> None:
    local, provider = embedding.model in LOCAL_MODELS, embedding.provider
    if provider not in get_args(Embedder):
        why = f"must be one of {', '.join(get_args(Embedder))}, not {str(provider)[:40]!r}"
        refuse("embedding", "provider", why)
    if provider == "local":
        if not local and not _is_model_folder(embedding.model):
            why = (
                f"must be one of {', '.join(LOCAL_MODELS)} when its provider is local, not {embedding.model[:200]!r}; "
                "or the folder of a sentence-transformers model, with its modules.json"
            )
            refuse("embedding", "model", why)
        return
    if local or not embedding.model:
        refuse("embedding", "model", f"is required for {provider}, as the provider calls it")
    if not embedding.dimensions:
        refuse("embedding", "dimensions", f"is required for {provider}: the length of the model's vectors")
    _check_service("embedding", embedding)


def _is_model_folder(path: str) -> bool:
    try:
        return (Path(path).expanduser() / "modules.json").is_file()
    except (OSError, RuntimeError, ValueError):  # a name that is too long, of no user, or with a zero
        return False


def _check_service(group: str, service: ModelSettings | EmbeddingSettings) -> None:
    provider = service.provider
    if provider in CLOUD and not service.api_key:
        how = f'set {variable(group, "api_key")}, or api_key = "{{env:NAME}}" in the file'
        refuse(group, "api_key", f"is required for {provider}: {how}")
    if provider in CLOUD and service.base_url:
        why = f"has one address for {provider} and must be empty: for another choose openai-compatible or ollama"
        refuse(group, "base_url", why)
    if provider == "openai-compatible" and not service.base_url:
        refuse(group, "base_url", "is required for openai-compatible, as http://localhost:8000/v1")
    if provider != "openai-compatible" and service.provider_name:
        refuse(group, "provider_name", f"is for openai-compatible only and must be empty for {provider}")
    if not (service.api_key.isascii() and service.api_key.isprintable()):
        refuse(group, "api_key", "must be printable ASCII, without a line break")
    check_url(group, "base_url", service.base_url)


def _check_proxy(proxy: ProxySettings) -> None:
    for key in ("openai_base_url", "anthropic_base_url", "ollama_base_url"):
        check_url("proxy", key, getattr(proxy, key))
    if proxy.provider == "ollama" and not proxy.ollama_base_url:
        refuse("proxy", "ollama_base_url", "is required when its provider is ollama")
    if proxy.provider != "all" and not proxy.upstreams:
        keys = "openai_base_url or anthropic_base_url" if proxy.provider == "custom" else f"{proxy.provider}_base_url"
        refuse("proxy", "provider", f"is {proxy.provider}: give {keys}, or choose all")


def check_url(group: str, key: str, url: str) -> None:
    """Raise `SettingsError` if an address is not one of HTTP."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    example, secret = ("7878/query", "token") if group == "store" else ("8000/v1", "api_key")
    if not usable:
        refuse(group, key, f"must be an address such as http://localhost:{example}")
    if parts.username or parts.password or parts.query or parts.fragment:
        refuse(group, key, f"must hold no password, query or fragment; a key belongs into {secret}")


def refuse(group: str, key: str, why: str) -> NoReturn:
    """Raise a `SettingsError` that names a setting."""
    raise SettingsError(f"{key} of [{group}] {why}")


UNDIVIDED = ("MEMENTO_HOME", "MEMENTO_NAMESPACE", "MEMENTO_TOOLS", "MEMENTO_CONFIG")
"""Environment variables that belong to no group."""


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    profile: str | None = None,
    tell: Callable[[str], object] | None = None,
) -> Settings:
    """
    Load the settings in force.

    Args:
        file: a `memento.toml`; one that does not exist counts as empty.
        environment: defaults to that of the process, and what `.env` beside the file and in the working directory adds to it.
        profile: the name of a profile of a plug-in, which overrides the defaults; file and environment override the profile.
        tell: called with one sentence if there are settings that do not exist, which are ignored; by default it is logged.

    Raises:
        SettingsError: an unknown profile, or a value that is of the wrong type or contradicts the others; the message names it and
            the choices.
    """
    environment = _gather_environment(file) if environment is None else environment
    settings = with_profile(Settings(), profile) if profile else Settings()
    unknown: list[str] = []
    settings = _overlay_config_file(settings, environment, unknown)
    if file is not None and file.is_file():
        found = read_toml(file, environment)
        if "key" in found.get("encryption", {}):
            raise SettingsError(
                f"{file} holds the key of [encryption], which opens what is beside it: name a key_file elsewhere"
            )
        settings = _overlay(settings, found, str(file), unknown)
    settings = _overlay(settings, _group_environment(environment, settings, unknown), "the environment", unknown)
    if profile:
        require_profile(settings, profile)
    settings = without_plugins(settings, settings.plugins.left_out)
    if missing := settings.plugins.left_out - plugin.find_plugins().keys():
        unknown.append(f"plugins.off = {', '.join(sorted(missing))} (`memento plugins` lists the plug-ins)")
    if unknown:
        (tell or logger.warning)(
            f"ignored, because there is no such setting: {', '.join(unknown)}; remove it, or correct its name: `memento config "
            "show` lists all settings"
        )
    return check_settings(settings)


def without_plugins(settings: Settings, names: Collection[str]) -> Settings:
    """Return the settings without the groups of some plug-ins, which are then left out."""
    owners = plugin.name_owners("settings")
    kept = {group: value for group, value in settings.plugged.items() if owners[group] not in names}
    silent = {name: 0.0 for name, of in plugin.name_owners("signals").items() if of in names}
    own = {
        name: own(**{item.name: getattr(getattr(settings, name), item.name) for item in fields(own)})
        for name, own in EXTENDED.items()
        if owners.get(name) in names
    }
    known = {item.name for item in fields(settings.signals)}
    return replace(
        settings,
        plugins=PluginsSettings(", ".join(sorted(names))),
        plugged=kept,
        signals=replace(settings.signals, **{name: weight for name, weight in silent.items() if name in known}),
        **own,
    )


def set_in_file(text: str, group: str, values: Mapping[str, str | int]) -> str:
    """
    Return the text of a `memento.toml` with other values in one group, and everything else unchanged.

    Raises:
        SettingsError: the group is written in a form that this function cannot edit, for example on one line.

    >>> print(set_in_file('[embedding]  # mine\\nmodel = "minilm"\\n[land]\\n', "embedding", {"model": "trigram", "dimensions": 0}))
    [embedding]  # mine
    model = "trigram"
    dimensions = 0
    [land]
    <BLANKLINE>
    """
    lines, rest = (
        text.splitlines(),
        {key: f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()},
    )
    heading = f"[{group}]"
    begin = next(
        (place for place, line in enumerate(lines) if "".join(line.partition("#")[0].split()) == heading), None
    )
    if begin is None:
        lines += [*([""] if lines else ()), f"[{group}]"]
        begin = len(lines) - 1
    end = next((place for place in range(begin + 1, len(lines)) if lines[place].lstrip().startswith("[")), len(lines))
    for place in range(begin + 1, end):
        key = lines[place].partition("=")[0].strip()
        lines[place] = rest.pop(key, lines[place])
    while end > begin + 1 and not lines[end - 1].strip():
        end -= 1
    edited = "\n".join([*lines[:end], *rest.values(), *lines[end:], ""])
    try:
        before, after = tomllib.loads(text), tomllib.loads(edited)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"[{group}] of the settings cannot be edited: {error}; write {dict(values)} into it"
        ) from error
    if after != {**before, group: {**before.get(group, {}), **values}}:
        raise SettingsError(f"[{group}] of the settings cannot be edited: write {dict(values)} into it")
    return edited


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The groups that a client of a running service needs, and that a hook needs to queue texts for it."""

    server: ServerSettings = field(default_factory=ServerSettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    redaction: RedactionSettings = field(default_factory=RedactionSettings)
    plugins: PluginsSettings = field(default_factory=PluginsSettings)
    plugged: Mapping[str, Any] = field(default_factory=plugin_groups, hash=False)


def load_client(file: Path | None = None, environment: Mapping[str, str] | None = None) -> ClientSettings:
    """
    Load the settings that a client of a running service needs, as `load` does, and no others.

    *Because:* the weights of the signals are declared where recall computes them; a client need not load that code.

    Raises:
        SettingsError: a value of the wrong type.
    """
    environment = _gather_environment(file) if environment is None else environment
    settings = _overlay_config_file(ClientSettings(), environment, [])
    if file is not None and file.is_file():
        settings = _overlay(settings, read_toml(file, environment), str(file), [])
    return _overlay(settings, _group_environment(environment, settings, []), "the environment", [])


def _gather_environment(file: Path | None) -> dict[str, str]:
    """Gather the environment over the data folder's `.env` over the working directory's."""
    here, home = Path.cwd(), (file.parent if file else Path.cwd()).absolute()
    near = {} if here == home else read_dotenv(here / ".env", trusted=False)
    return {**near, **read_dotenv(home / ".env", trusted=file is not None), **os.environ}


def _overlay_config_file(settings: G, environment: Mapping[str, str], unknown: list[str]) -> G:
    """Overlay the file that `MEMENTO_CONFIG` names, if it names one."""
    named = environment.get("MEMENTO_CONFIG")
    if not named:
        return settings
    if not Path(named).is_file():
        raise SettingsError(f"MEMENTO_CONFIG names {named}, and there is no such file")
    return _overlay(settings, read_toml(Path(named), environment), named, unknown)


def with_profile(settings: Settings, profile: str) -> Settings:
    """Return a copy with a profile's values laid over it; raise `SettingsError` if there is none of that name."""
    require_profile(settings, profile)
    changes: Mapping[str, Mapping[str, object]] = plugin.collect("profiles")[profile]
    plugged = {
        name: replace(group, **changes[name]) if name in changes else group for name, group in settings.plugged.items()
    }
    ours = {name: replace(getattr(settings, name), **changes[name]) for name in changes.keys() - plugged.keys()}
    return replace(settings, plugged=plugged, **ours)


def require_profile(settings: Settings, profile: str) -> None:
    """Raise `SettingsError` if no plug-in that is switched on has a profile."""
    owners = plugin.name_owners("profiles")
    if profile not in owners:
        raise SettingsError(f"unknown profile {profile!r}: choose {describe_choices((*owners,))}")
    require_plugin(settings, owners[profile], f"the profile {profile}")


def with_mode(settings: Settings, mode: str) -> Settings:
    """Return a copy in which one plain search ranks, without a gate; raise `InputError` for an unknown mode."""
    if mode not in MODES:
        raise InputError(f"unknown mode {mode!r}: choose one of {', '.join(MODES)}")
    return replace(with_engine(settings, mode), gate=replace(settings.gate, on=False))


def with_engine(settings: Settings, engine: str) -> Settings:
    """Return a copy in which `engine` ranks; raise as `require_engine`."""
    require_engine(settings, engine)
    return replace(settings, land=replace(settings.land, engine=engine))


def with_key_file(settings: Settings, key_file: str | Path) -> Settings:
    """Return a copy in which a file has the key of the data folder; raise `SettingsError` if no plug-in takes a key."""
    if "key_file" not in knobs(settings.encryption):
        raise SettingsError(
            f"the key file {key_file} opens nothing: no plug-in that encrypts data folders is switched on; `memento plugins` lists "
            "them"
        )
    return replace(settings, encryption=replace(settings.encryption, key="", key_file=str(key_file)))  # type: ignore[call-arg]


def home_and_namespace() -> tuple[str | None, str | None]:
    """Return `MEMENTO_HOME` and `MEMENTO_NAMESPACE`, or None where they are unset or empty."""
    return os.environ.get("MEMENTO_HOME") or None, os.environ.get("MEMENTO_NAMESPACE") or None


def tool_groups(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """
    Return the groups of tools that `MEMENTO_TOOLS` adds to the default ones, in the order of all groups; `full` means all.

    Raises:
        SettingsError: an unknown group; the message names it and the choices.

    >>> tool_groups({"MEMENTO_TOOLS": "sexpr, connectors"})
    ('connectors', 'sexpr')
    """
    environment = os.environ if environment is None else environment
    asked = [name.strip() for name in environment.get("MEMENTO_TOOLS", "").split(",") if name.strip()]
    known = list_tool_groups()
    for name in asked:
        if name not in (*known, "full"):
            raise SettingsError(
                f"unknown group {name[:80]!r} in MEMENTO_TOOLS: choose from {', '.join((*known, 'full'))}"
            )
    return tuple(name for name in known if name in asked or "full" in asked)


def offered_groups(
    settings: Settings | ClientSettings, environment: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the groups of tools that `MEMENTO_TOOLS` adds, without those that are switched off."""
    return tuple(name for name in tool_groups(environment) if is_offered(name, settings))


def is_offered(group: str, settings: Settings | ClientSettings) -> bool:
    """Tell whether a group of tools is switched on: its plug-in, and the setting `on` of the group of that name if there is one."""
    left_out = plugin.name_owners("tools").get(group) in settings.plugins.left_out
    return not left_out and getattr(dict(groups(settings)).get(group), "on", True)


def is_on(setting: str, settings: Settings | ClientSettings) -> bool:
    """Tell whether a setting such as `server.docs` is on; one of a plug-in that is left out is not."""
    name, _, key = setting.partition(".")
    left_out = plugin.name_owners("settings").get(name) in settings.plugins.left_out
    return not left_out and bool(getattr(dict(groups(settings)).get(name), key, False))


def resolve_namespace(name: str) -> str:
    """Resolve a namespace by its name; `project` means the folder name of the git checkout that the process stands in."""
    if name == "project":
        here = Path.cwd()
        return next((folder.name for folder in (here, *here.parents) if (folder / ".git").exists()), "main")
    return check_namespace(name)


def _read_earlier_names(
    environment: Mapping[str, str], settings: object, known: Mapping[str, object]
) -> dict[str, str]:
    """
    Read the settings that stand in the environment under the `EARLIER_NAMES` of a group; an age (`…_AGE`) is in seconds there.

    Raises:
        SettingsError: a name that begins like those has no counterpart; `INSTEAD` says what to do.
    """
    found: dict[str, str] = {}
    for _, group in groups(settings):
        earlier: Mapping[str, str] = getattr(group, "EARLIER_NAMES", {})
        prefixes = tuple({f"{name.partition('_')[0]}_" for name in earlier})
        for name, text in environment.items():
            if not name.startswith(prefixes):
                continue
            ours = earlier.get(name)
            if ours is None:
                how = getattr(group, "INSTEAD", {}).get(name, f"of these names {', '.join(earlier)} are read")
                raise SettingsError(f"{name} is not read here: {how}, and unset it")
            if ours in known:
                try:
                    found[ours] = str(float(text) / 86_400) if name.endswith("_AGE") else text
                except ValueError as error:
                    raise SettingsError(f"{name} must be a number of seconds, not {text!r}") from error
    return found


def _group_environment(environment: Mapping[str, str], settings: object, unknown: list[str]) -> dict[str, Any]:
    """Return the settings of the environment by group; names that are none are added to `unknown`."""
    found: dict[str, Any] = {}
    names = {variable(name, key): (name, key) for name, group in groups(settings) for key in knobs(group)}
    for name, text in (_read_earlier_names(environment, settings, names) | dict(environment)).items():
        if not name.startswith("MEMENTO_") or name in UNDIVIDED:
            continue
        if name not in names:
            unknown.append(name)
            continue
        group, key = names[name]
        place = found
        for step in group.split("."):
            place = place.setdefault(step, {})
        place[key] = text
    return found


def _overlay(settings: G, changes: Mapping[str, Any], source: str, unknown: list[str], above: str = "") -> G:
    """Return a copy of all groups, or of one, with some values changed; settings that do not exist are added to `unknown`."""
    hints = hints_of(settings)
    known = knobs(settings)
    inner = {key: getattr(settings, key) for key in hints if is_dataclass(hints[key])}
    plugged = dict(getattr(settings, "plugged", {}))
    new: dict[str, object] = {}
    for key, value in changes.items():
        group = above + key
        if key in inner or key in plugged:
            if not isinstance(value, Mapping):
                raise SettingsError(f"{group} in {source} must be a group of settings, as [{group}]")
            if key in inner:
                new[key] = _overlay(inner[key], value, source, unknown, f"{group}.")
            else:
                plugged[key] = _overlay(plugged[key], value, source, unknown, f"{group}.")
                new["plugged"] = plugged
        elif key in known:
            new[key] = _convert(value, hints[key], known[key], f"{key} of [{above[:-1]}] in {source}")
        else:
            unknown.append(f"{key} of [{above[:-1]}] in {source}" if above else f"[{key}] in {source}")
    return replace(cast(Any, settings), **new) if new else settings


def _convert(value: object, hint: Any, item: Field[Any], where: str) -> object:
    """Convert a value to the type of its setting; text, as the environment has it, is parsed."""
    value = _fill_unset(value, item.name, where)
    hint, is_optional = unwrap_optional(hint)
    if is_optional and (value is None or value == ""):
        return None
    if item.metadata["json"]:
        return _json_object(value, where, item.metadata["json"])
    kind = kind_of(hint)
    if isinstance(value, str):
        value = _parse_text(value, kind)
    shown = "" if item.metadata["secret"] else f", not {value!r}"
    try:
        value = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise SettingsError(f"{where} must be {_KINDS[kind]}{shown}") from None
    if (choices := choices_of(hint, item)) and value not in choices:
        raise SettingsError(f"{where} must be {describe_choices(choices)}{shown}")
    try:
        if isinstance(value, float) and not math.isfinite(value):
            raise msgspec.ValidationError
        return msgspec.convert(value, hint)
    except msgspec.ValidationError:
        raise SettingsError(f"{where} must be {describe_bounds(hint)}{shown}") from None


def _fill_unset(value: object, key: str, where: str, inner: str = "") -> object:
    """Return a value with unset variables replaced by nothing; raise `SettingsError` if the setting requires one."""
    if isinstance(value, dict):
        return {name: _fill_unset(one, key, where, f"{inner}{name}.") for name, one in value.items()}
    if isinstance(value, list):
        return [_fill_unset(one, key, where, inner) for one in value]
    if not isinstance(value, str) or not (unset := _UNSET.search(value)):
        return value
    if key not in _WAITING:
        place = f"{inner[:-1]} in {where}" if inner else where
        raise SettingsError(
            f"{place} takes the variable {unset[1]} of the environment, which is not set: set it, to nothing where none is needed"
        )
    return _UNSET.sub("", value)


def _parse_text(text: str, kind: type) -> object:
    """Parse text as a number or a truth value; return the text itself if it is neither."""
    if kind is bool:
        return _TRUTHS.get(text.lower(), text)
    if kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def _json_object(value: object, where: str, example: str) -> str:
    """Return a JSON object as text, from text or from a table; "" for none."""
    try:
        found = json.loads(value) if isinstance(value, str) and value.strip() else value or {}
        if isinstance(found, dict):
            return json.dumps(found, ensure_ascii=False) if found else ""
    except (ValueError, TypeError):
        pass
    raise SettingsError(f"{where} must be a JSON object, as {example}, or a table")
