"""
Every setting by group, with its bounds, its default and one sentence that says what it does and its unit; and how they are loaded:
environment over `.env` over `memento.toml` over the JSON of the first design over the defaults.

`MEMENTO_LAND_CANDIDATES=50` sets `candidates` of the group `land`; in the file it is `candidates = 50` under `[land]`. Only
`MEMENTO_HOME`, `MEMENTO_NAMESPACE`, `MEMENTO_TOOLS` and `MEMENTO_CONFIG` stand outside the groups. This is the only file that
reads the environment. Functions receive their own group, never the whole.

*Guarantees:* a bad value is refused in one line that names it and what is allowed, and so is what does not go together. `.env`
never overrides the environment, and the environment itself is never changed.

*Because:* groups stand here and not with the rooms that use them, so that a process that only asks a running service can check
the whole environment and file without loading those rooms.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeVar, cast, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from memento.errors import InputError, SettingsError
from memento.iris import check_namespace

Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0)]
Span = Annotated[float, Meta(ge=0.001)]
"""Of time, in the unit that the sentence says; or anything else above nothing."""


def knob(default: Any, help: str, *, secret: bool = False, json: str = "") -> Any:
    """
    Declare a setting with its default and one sentence that says what it does and its unit.

    Args:
        secret: never shown: neither by `repr` nor by `memento config show`.
        json: an example, where it is a JSON object as text; in a file it may be a table.
    """
    return field(default=default, repr=not secret, metadata={"help": help, "secret": secret, "json": json})


_OPTIONS = '{"reasoning_effort": "low"}'


def knobs(group: Any) -> dict[str, Field[Any]]:
    """Return the fields of a group that are settings, by name."""
    return {item.name: item for item in fields(group) if not is_dataclass(getattr(group, item.name))}


def hints_of(group: Any) -> dict[str, Any]:
    """Return the type of each field of a group with its bounds."""
    return get_type_hints(type(group), include_extras=True)


def unwrap_optional(hint: Any) -> tuple[Any, bool]:
    """
    Split a type into what it is when it is there, and whether it may be left empty.

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


def choices_of(hint: Any) -> tuple[str, ...]:
    """Return the words that a setting may be, or nothing where any may."""
    return get_args(hint) if get_origin(hint) is Literal else ()


def describe_bounds(hint: Any) -> str:
    """
    Say which values of a type are allowed.

    >>> describe_bounds(Share), describe_bounds(Positive), describe_bounds(Literal["a", "b"]), describe_bounds(float)
    ('from 0 to 1', 'at least 1', 'one of a, b', 'a finite number')
    """
    if choices := choices_of(hint):
        return f"one of {', '.join(choices)}"
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
IndexKind = Literal["faiss", "lance", "milvus"]
"""What finds the nearest of many vectors: an inverted file, or an HNSW graph."""
Mode = Literal["vector", "keyword", "hybrid"]
MODES: tuple[Mode, ...] = get_args(Mode)
Engine = Literal["signals", "ppr", "spread", "hops", "published", "vector", "keyword", "hybrid"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

Provider = Literal["none", "openai", "anthropic", "google", "ollama", "openai-compatible"]
Embedder = Literal["local", "openai", "google", "cohere", "mistral", "ollama", "openai-compatible"]


@dataclass(frozen=True, slots=True)
class LandSettings:
    engine: Engine = knob(
        "signals",
        "what ranks: weighed signals, one of three walks alone, the phases as first published, or one plain search",
    )
    mend: bool = knob(
        True, "read a word that neither the memories nor the embedder know as the known word one letter away"
    )
    pool: Positive = knob(200, "candidates that each strong signal brings in")
    whole: Natural = knob(
        50_000, "memories up to which every signal looks at all of them; above, only at what vectors and words bring in"
    )
    flat: Natural = knob(
        200_000,
        "vectors up to which all are compared with the question; above, those that an index of codes finds",
    )
    above: Above = knob(
        "ivf", "that index: an inverted file, or an HNSW graph, which takes minutes to build and cannot remove"
    )
    candidates: Positive = knob(100, "as published: memories taken from each of the two searches and from the walk")


@dataclass(frozen=True, slots=True)
class SignalsSettings:
    """A weight for each signal of recall, by its name: `memento.retrieval.signals` registers them, with default and sentence."""

    if TYPE_CHECKING:

        def __init__(self, **weights: float) -> None: ...


def default_weights() -> SignalsSettings:
    """
    Return the weights that the signals are registered with.

    *Because:* a signal declares its setting where it is written. So the room is named here and imported when settings are first
    made.
    """
    signals: SignalsSettings = import_module("memento.retrieval.signals").weights_class()()
    return signals


@dataclass(frozen=True, slots=True)
class FusionSettings:
    vector_weight: Share = knob(
        0.7, "share of the first list when two ranked lists are fused; the second gets the rest"
    )
    quality_threshold: float = knob(0.3, "normalised score below which an item of the second list is dropped")
    full_weight_results: Natural = knob(5, "results a list needs to keep its whole weight")
    target_mean: float = knob(0.5, "mean that scores are aligned to before they are scaled to 0..1")
    target_deviation: Amount = knob(0.2, "standard deviation that scores are aligned to")


@dataclass(frozen=True, slots=True)
class AnchorSettings:
    seeds: Natural = knob(5, "best memories whose entities anchor, beside those that the question names")
    seed_share: Amount = knob(0.3, "weight of an entity of the best memory, when one in the question weighs 1")
    min_memories: Natural = knob(1, "as published: seed memories that must be about an entity before it anchors")
    semantic: Share = knob(0.5, "as published: weight of the entity's own likeness to the question")
    memory: Share = knob(0.3, "as published: weight of the mean likeness of the seed memories about it")
    structural: Share = knob(0.2, "as published: weight of its degree in the graph; the three weights sum to 1")
    user: bool = knob(False, "let the user anchor too; the user is a giant hub")


@dataclass(frozen=True, slots=True)
class ExpandSettings:
    seeds: Natural = knob(20, "best memories whose links are followed")
    damping: Share = knob(0.75, "share of the rank that follows links; the rest restarts at the anchors")
    passages: Amount = knob(0.5, "restart weight of the best memory itself, when a rare name in the question weighs 1")
    epsilon: Annotated[float, Meta(gt=0)] = knob(
        3e-5, "rank that the walk leaves behind for each link of a node; smaller is slower"
    )
    successions: Amount = knob(
        1.0, "weight of an edge to what a memory ended, when one to a rare name weighs 1; 0 for none"
    )
    turns: Amount = knob(1.0, "the same for an edge to the turns beside one of a conversation")
    associations: Amount = knob(1.0, "the same for an association, times its own weight")
    active: Share = knob(0.3, "engine spread: activation of the best memory at the start; with more all end at 1")
    steps: Natural = knob(3, "engine spread: how often activation is passed on")
    decay: Share = knob(0.85, "engine spread: share of activation that arrives over a link of weight 1")
    threshold: Share = knob(0.1, "engine spread: activation above which a node passes it on")
    hops: Natural = knob(2, "engine hops: how far from the seeds, themselves being the first hop")
    iterations: Natural = knob(25, "as published: steps of the walk at most; 0 leaves ANCHOR and EXPAND out")
    structural_weight: Share = knob(0.5, "as published: share of the walk in the score of EXPAND; cosine gets the rest")
    weighted: bool = knob(False, "as published: restart at the anchors by their weights, not equally")
    normalise: Literal["none", "max", "minmax"] = knob(
        "none", "as published: how walk scores are scaled before they are mixed with cosines"
    )


@dataclass(frozen=True, slots=True)
class DistillSettings:
    top_k: Positive = knob(10, "memories returned when the caller names no number")
    lambda_min: Share = knob(0.5, "relevance share of MMR when the best score hardly stands out")
    lambda_max: Share = knob(0.7, "relevance share of MMR when the best score stands out; 1 turns diversity off")


@dataclass(frozen=True, slots=True)
class GateSettings:
    on: bool = knob(
        True, "answer with what is relevant alone, each thing once, and with nothing when nothing is relevant"
    )
    base: Share = knob(
        0.0, "how sure it must be that a scope of 600 memories answers a question; 0 takes what fits the embedder"
    )
    slope: float = knob(0.0, "with `base`: what the threshold grows by when the scope grows e-fold")
    floor: Share = knob(0.0, "with `base`: the least threshold")
    keep: Share = knob(
        0.0, "relevance, as a share of the best one's, below which a memory is cut; 0 takes what fits the embedder"
    )


@dataclass(frozen=True, slots=True)
class WordsSettings:
    k1: Amount = knob(1.5, "BM25: how soon repeated words stop counting")
    b: Share = knob(0.75, "BM25: how much long texts are discounted, 0..1")


@dataclass(frozen=True, slots=True)
class CasesSettings:
    on: bool = knob(True, "keep and find cases; off, nothing of them is offered and what is stored stays as it is")
    k: Positive = knob(4, "most cases to follow, and most cases to avoid, that one retrieval shows")
    candidates: Positive = knob(50, "cases that are ranked: the nearest ones, and those that share an entity")
    ranking: Literal["q", "cosine"] = knob(
        "q", "what ranks cases: q is the learned value beside the cosine, as soon as it has learned"
    )
    relevant_from: Annotated[float, Meta(ge=-1, le=1)] = knob(
        0.15,
        "cosine from which a case is shown, to follow or to avoid, unless it shares an entity or a tag with the task",
    )
    context: Share = knob(0.2, "what sharing all entities and tags of the task adds to a case's likeness to it")
    positive_from: Annotated[float, Meta(ge=-1, le=1)] = knob(0.5, "reward from which a case is one to follow")
    template_from: Annotated[float, Meta(ge=-1, le=1)] = knob(
        0.3, "cosine from which a case is like enough for its plan to be copied where no model plans"
    )
    limit: Positive = knob(10_000, "most cases kept in one domain; the least valuable go")
    retrievals: Annotated[int, Meta(ge=100)] = knob(
        5_000, "look-ups of cases kept in one domain with what they showed; the oldest go"
    )
    prune: Literal["value", "oldest", "unused", "reward"] = knob(
        "value",
        "which cases go over the limit: those worth least after their age, those finished first, those shown least, or those that "
        "earned least",
    )
    half_life_days: Span = knob(90.0, "days after which a case counts half when the least valuable go")
    record_chars: Positive = knob(500, "characters of a step's texts in the graph; the packed trajectory has all")
    pack: bool = knob(True, "keep the whole trajectory of a finished task, gzipped, beside its steps")
    efficiency_bonus: Amount = knob(
        0.1, "what a reward gains for a task that cost nothing; so much less for what it cost"
    )
    judge_weight: Amount = knob(0.5, "weight of a judge's score in a reward, beside 1 of the outcome")
    pairs_needed: Annotated[int, Meta(ge=2)] = knob(
        50, "pairs with a reward, of both kinds together, before Q has a say"
    )
    update_every: Positive = knob(10, "rewarded pairs after which the network learns")
    temperature: Span = knob(0.1, "alpha of the softmax that cases are drawn from when a caller wants to explore")
    seed: Natural = knob(7, "number that the network's beginning and every draw are made from")


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    servers: str = knob(
        "",
        "JSON object, or tables, of MCP servers by name: command, args, env and cwd of a program, or url and headers of an "
        "address; tools lists those that may be used, prefix goes before their names",
        secret=True,
        json='{"files": {"command": "/usr/bin/python3", "args": ["files.py"]}}',
    )
    cycles: Positive = knob(3, "plans that one task may have: after a failure it is planned again")
    steps: Positive = knob(20, "steps that one task may have, those of all its plans together")
    calls: Positive = knob(50, "calls of tools in one go")
    tokens: Natural = knob(100_000, "tokens of the model in one go; 0 sets no bound")
    wall_s: Span = knob(600.0, "seconds of one go, before which every call ends")
    start_s: Span = knob(20.0, "seconds that a server may take to start and to list its tools")
    call_s: Span = knob(60.0, "seconds that one call of a tool may take")
    result_chars: Annotated[int, Meta(ge=100)] = knob(20_000, "characters kept of what a tool says")


_OWN = "; empty: as calibrated for the embedder"


@dataclass(frozen=True, slots=True)
class KeysSettings:
    key_recall: Share | None = knob(None, f"cosine from which a concept key answers a question{_OWN}")
    content_recall: Share | None = knob(
        None, f"cosine of question and memory from which the memory's keys answer{_OWN}"
    )
    auto_link: Share | None = knob(
        None, f"cosine of key and memory from which an existing key is linked by itself{_OWN}"
    )
    merge: Share | None = knob(None, f"cosine from which two concept keys are one{_OWN}")
    short_merge: Share | None = knob(
        None, f"the same for keys of one or two words, which mean less; 0 keeps them apart{_OWN}"
    )
    dedup: Share | None = knob(None, f"cosine from which two memories say the same{_OWN}")
    contradiction: Share | None = knob(
        None, f"cosine from which two memories with a common key may contradict each other{_OWN}"
    )
    min_score: Share | None = knob(
        None, f"best cosine below which direct recall has no answer, unless a key is named{_OWN}"
    )
    gate_z: Amount = knob(0.0, "robust z-score that the best cosine of direct recall must stand out by; 0: none")
    key_gate: Share = knob(0.0, "best cosine of a key from which direct recall answers, whatever the memories; 0: none")
    hub: Annotated[int, Meta(ge=2)] = knob(3, "memories from which on a key is shown as a hub")
    phrases: bool = knob(True, "let names and nouns lead between memories that came without keys, as those of notes do")
    autokey: bool = knob(True, "learn the words of questions that led to a memory as names of its key")
    autokey_after: Positive = knob(3, "how often a question must have led there, before its words are learned")
    autokey_floor: Share = knob(0.45, "cosine of question and key from which its words are learned")
    autokey_aliases: Natural = knob(8, "most phrases that one key learns")
    autokey_days: Amount = knob(30.0, "days after which a learned phrase goes that nobody has used")
    direct: bool = knob(False, "offer direct recall over the key graph (`recall_memories`) beside the walk")


@dataclass(frozen=True, slots=True)
class RerankSettings:
    folder: str = knob(
        "",
        "folder of a cross-encoder (ONNX or safetensors) that orders the best memories of every recall again; empty: none",
    )
    pool: Positive = knob(30, "how many of the best it orders")
    floor: float | None = knob(
        None,
        "score of the cross-encoder's best, below which there is no answer, unless it is in another script; empty: none",
    )
    factors: bool = knob(
        False, "multiply scores by the factors of the published design: age, source, tags, uses, priority"
    )


@dataclass(frozen=True, slots=True)
class AnswersSettings:
    cached: Natural = knob(
        0, "answers of recall that are kept for the same question of the same caller, as published with 100; 0: none"
    )
    fresh_s: Amount = knob(60.0, "seconds for which an answer is given again while nothing was written")
    stale_s: Amount = knob(
        0.0, "seconds for which an older answer is given once more while a new one is made in the background; 0: never"
    )


@dataclass(frozen=True, slots=True)
class IndexSettings:
    kind: IndexKind = knob(
        "faiss",
        "what holds the index: this process and its folder, a table of LanceDB, or a collection of Milvus",
    )
    uri: str = knob(
        "", "where: a folder or s3://bucket/path for lance; http://host:19530 or a file for milvus; empty for faiss"
    )
    token: str = knob(
        "", "what Milvus or LanceDB's own service asks for, as user:password; empty where nothing is", secret=True
    )
    pool: Positive = knob(40, "memories that each search of the engine brings in for a question; unused by faiss")
    whole: Natural = knob(
        2_000, "nodes up to which a namespace is brought in whole, so that nothing of it is missed; unused by faiss"
    )
    hot: Positive = knob(
        50_000, "nodes that stay in this process once a question has brought them in, some 6 kB each; unused by faiss"
    )
    replica_mb: Natural = knob(
        20_000,
        "MB up to which LanceDB's files in an object store are copied into the data folder, to be read there; 0 for no copy; "
        "unused by others",
    )


@dataclass(frozen=True, slots=True)
class StrengthSettings:
    half_life: Span = knob(7.0, "days in which energies halve where decay is asked for without saying")
    archive_energy: Share = knob(0.05, "energy up to which a memory that is hardly used is archived")
    archive_uses: Natural = knob(5, "uses up to which a memory without energy is archived")
    rank_energy: Share = knob(
        0.0, "share of a memory's energy in its score when recall ranks; the profile `living` gives it 0.3"
    )
    keep_importance: Share = knob(0.7, "importance from which a memory that nobody has read is never archived")
    count_recall: bool = knob(
        False,
        "count a memory as used when recall gives it to somebody who may write; what the proxy puts in never counts",
    )


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    namespace: str = knob("main", "where notes go when nothing names a namespace; `project` is the git checkout's name")


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    provider: Embedder = knob("local", "who computes vectors: this machine, or a service that texts are sent to")
    model: str = knob(
        "minilm",
        "local: `minilm` is all-MiniLM-L6-v2, `trigram` hashes characters and needs no model, anything else is the folder of a "
        "model of sentence-transformers; elsewhere the provider's name",
    )
    dimensions: Natural = knob(0, "length of a vector; needed unless local; 256 of `trigram` unless it is given")
    base_url: str = knob("", "address of the service, up to and including /v1; openai-compatible and ollama only")
    api_key: str = knob("", "key of the service", secret=True)
    provider_name: str = knob("", "what to call an openai-compatible service")
    max_chars: Annotated[int, Meta(ge=100)] = knob(
        2000, "longest text sent to a service, in characters; longer ones become windows"
    )
    timeout_s: Span = knob(60.0, "seconds a service may be silent")
    max_retries: Natural = knob(3, "how often a service is asked again when it fails")
    retry_wait_s: Amount = knob(0.5, "seconds before the first retry; doubles each time, with some chance")
    breaker_failures: Positive = knob(
        5, "failures among the latest ten calls after which the service is left alone for a while"
    )
    breaker_rest_s: Amount = knob(
        30.0, "seconds it is left alone, before one request tries it; twice as long each time that fails, up to 300"
    )
    runtime: Literal["auto", "torch", "onnx"] = knob(
        "auto",
        "what runs all-MiniLM-L6-v2: torch, or onnxruntime, which needs half the time for the same vectors; "
        "`auto` takes the second where it is installed",
    )
    threads: Positive = knob(1, "threads for one question or note; imports use all cores")
    batch: Positive = knob(16, "texts embedded at once; locally, small batches of like lengths are the fastest")
    auto_migrate: bool = knob(
        True,
        "embed everything again at a start with another model than the last one, after a backup; else the folder goes on with the "
        "model of its vectors, until `memento migrate`",
    )
    cache: bool = knob(True, "keep vectors under the user's cache folder by model and text digest")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What one question of consolidation asks differently."""

    model: str = knob("", "model for this question; empty: that of [model]")
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = knob(
        None, "temperature for this question; empty: that of [model]"
    )
    max_tokens: Positive | None = knob(None, "tokens of an answer to it; empty: those of [model]")
    options: str = knob("", "JSON object of fields for the request, laid over those of [model]", json=_OPTIONS)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    provider: Provider = knob("none", "who understands notes: rules (none), or a language model at a service")
    model: str = knob("", "the provider's name of the model; needed unless none")
    api_key: str = knob("", "key of the service; needed for openai, anthropic and google", secret=True)
    base_url: str = knob("", "address of the service, up to and including /v1; openai-compatible and ollama only")
    provider_name: str = knob("", "what to call an openai-compatible service")
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = knob(
        0.5, "how freely the model answers; empty: as the provider has it"
    )
    max_tokens: Positive = knob(15000, "most tokens of one answer")
    max_retries: Natural = knob(
        3, "how often one question is asked again, when the service fails or an answer is unfit"
    )
    retry_wait_s: Amount = knob(0.5, "seconds before the first retry; doubles each time, with some chance")
    connect_s: Span = knob(5.0, "seconds to connect within")
    timeout_s: Span = knob(120.0, "seconds the service may be silent")
    call_s: Span = knob(300.0, "seconds for one question with all its retries")
    breaker_failures: Positive = knob(
        5, "failures among the latest ten calls after which the service is left alone for a while"
    )
    breaker_rest_s: Amount = knob(
        30.0, "seconds it is left alone, before one request tries it; twice as long each time that fails, up to 300"
    )
    tokens_per_note: Natural = knob(60000, "most tokens that one note may cost; 0 sets no bound")
    fallback_to_rules: bool = knob(True, "let rules understand a note after the last retry; otherwise it stays pending")
    options: str = knob(
        "", "JSON object of fields for the request, passed on as they are; null takes a field out", json=_OPTIONS
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
        150, "milliseconds that recall may take before a request is forwarded without memories"
    )
    block_tokens: Positive = knob(800, "most tokens of the block of memories, by an estimate that errs upwards")
    instructions: bool = knob(True, "begin the block with a sentence that tells the model what it is")
    recalls: Positive = knob(4, "recalls at once; more requests than that wait, within the deadline")
    repeat_s: Amount = knob(300.0, "seconds in which a turn that is asked again gets the same block, without a recall")
    blocks: Natural = knob(20_000, "blocks kept to be put into their conversations again; 0 keeps none")
    connect_s: Span = knob(
        10.0, "seconds to connect to a provider within; how long it thinks and streams is not limited"
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
    similar_memories: Natural = knob(15, "existing memories that a new one is compared with")
    entity_candidates: Natural = knob(5, "entities in the graph that a mention is compared with")
    recalled_memories: Positive = knob(10, "with a model: memories that a note brings back, which it guesses from")
    guessed_memories: Positive = knob(10, "with a model: memories found by each of its guesses")
    description_chars: Annotated[int, Meta(ge=100)] = knob(
        2000, "longest description of the user, in characters; the oldest facts go"
    )
    retries: Natural = knob(5, "how often a note that could not be understood is tried again")
    retry_wait_s: Amount = knob(10.0, "seconds before it is tried again; doubles each time")
    retry_most_s: Amount = knob(600.0, "most seconds between two tries")
    check_rules: bool = knob(
        False, "hold what rules write against the shapes too, for some 30 ms a note; what a model writes always is"
    )
    rules_s: Annotated[float, Meta(ge=0.05)] = knob(
        5.0, "seconds of computing that rules may take for one note; past them it is kept in its own words"
    )
    tag_rules: Literal["on", "published", "off"] = knob(
        "on",
        "give memories the tags that rules see in their words, as `decision`; `published`: all others are `conversation`",
    )
    chunk_over: Natural = knob(
        0,
        "words above which a text is kept in pieces, each a note, as published with 1000; 0: never, a note is what was said",
    )
    chunk_words: Annotated[int, Meta(ge=20)] = knob(500, "most words of a piece")
    chunk_overlap: Natural = knob(
        100, "words that a piece begins with and that end the one before; less than a piece has"
    )
    near: Literal["keep", "relate", "skip"] = knob(
        "keep",
        "what becomes of a memory nearly like another: it is kept, linked with its nearest, or, where it says no more, skipped",
    )
    near_cosine: Share = knob(0.92, "cosine from which two memories are nearly alike, and linked as similar")
    near_related: Share = knob(0.7, "cosine from which a memory is linked with one that it may refer to")
    time_zone: str = knob("UTC", "where the user's days begin, as Europe/Berlin: decides what yesterday means")


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    mode: Literal["redact", "refuse", "off"] = knob(
        "redact", "what becomes of a secret in a text: its kind stands in its place, the text is refused, or nothing"
    )
    refuse: str = knob("", "namespaces that refuse a text with a secret where others redact it, with commas between")
    entropy: bool = knob(True, "take a long word of letters and digits without any sense for a secret")
    patterns: str = knob(
        "",
        "further secrets: a JSON object, or a table in a file, of regular expressions by their kinds",
        json='{"badge": "B-[0-9]{6}"}',
    )
    allow: str = knob("", "a regular expression of what is never a secret; it must match the whole of it")


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    file_bytes: Positive = knob(67_108_864, "longest file that `ingest` reads, in bytes")
    url_bytes: Positive = knob(16_777_216, "most bytes of a page that `ingest` fetches")
    url_s: Span = knob(20.0, "seconds to fetch a page within, redirects included")
    private_urls: bool = knob(
        False, "let `ingest` fetch from this machine and from private networks, by their addresses"
    )
    inbox: str = knob("", "folder that `memento watch` takes files from; default `inbox` in the data folder")


Capture = Literal["off", "propose", "on"]


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    mode: Capture = knob(
        "off", "what becomes of what hooks and the proxy see said: nothing, a proposal that waits for a yes, or a note"
    )
    namespaces: str = knob(
        "",
        'the same for single namespaces: a JSON object, or a table in a file, as {"work": "on"}',
        json='{"work": "on"}',
    )
    deny: str = knob("", "words or phrases with commas between: a text with one of them, in any case, is not captured")
    most: Positive = knob(1_000, "most that may wait to be noted or for a yes; what comes then is not captured")

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
        "before `memento_note` keeps a note: ask the user, leave that to the client, which shows each call, or ask nobody",
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
        "most graphs that one tenant may have to make another by SPARQL; all of them are looked at after every write",
    )
    graph_bytes: Positive = knob(67_108_864, "longest document for the graph store, in bytes")
    graph_quads: Positive = knob(1_000_000, "most quads that one document for the graph store adds")
    query_depth: Positive = knob(200, "deepest nesting of braces and parentheses in a SPARQL query")
    document_bytes: Positive = knob(
        1_073_741_824, "longest RDF document that an import over HTTP takes, in bytes, unpacked"
    )
    results: Positive = knob(1_000, "most memories that one recall or one page of a listing returns")
    writers: Positive = knob(
        128,
        "changes that may be under way or wait for their turn at once; one more is refused (503), to be asked again",
    )
    pending: Positive = knob(
        100_000,
        "notes that may wait to be understood; another that would wait is refused (503), to be given again later",
    )


@dataclass(frozen=True, slots=True)
class SparqlSettings:
    workers: Annotated[int, Meta(ge=2)] = knob(
        4, "processes that evaluate foreign SPARQL; one is kept for queries that promise a quick answer"
    )
    share: Positive = knob(2, "workers that one caller may use at once for other queries")
    query_s: Annotated[float, Meta(ge=0.05)] = knob(10.0, "seconds that a query may take; `timeout` may ask for less")
    stall_s: Amount = knob(30.0, "seconds that a client may leave an answer unread, over all of it")
    memory_mb: Annotated[int, Meta(ge=64)] = knob(512, "most memory of one worker, in MiB")
    rows: Positive = knob(1_000_000, "most rows of one SELECT")
    bytes: Annotated[int, Meta(ge=1024)] = knob(268_435_456, "longest answer, in bytes")
    queue: Annotated[int, Meta(ge=2)] = knob(
        64, "queries that may wait for a worker; of one caller at most half as many"
    )
    wait_s: Amount = knob(10.0, "seconds that a query may wait for a worker")
    services: str = knob(
        "",
        "endpoints that SERVICE may name, as https://query.wikidata.org/sparql, several with commas; none when empty",
    )
    service_bytes: Annotated[int, Meta(ge=1024)] = knob(1_048_576, "longest answer of such an endpoint, in bytes")
    origins: str = knob(
        "", "web pages that may query with a token, as https://yasgui.org, several with commas; * is any"
    )


@dataclass(frozen=True, slots=True)
class InferenceSettings:
    on: bool = knob(
        True, "let SPARQL queries see what follows from the axioms that you state; nothing does without any"
    )
    most: Positive = knob(
        50_000, "most facts that may follow for one namespace; with more of them nothing is inferred there"
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str = knob("127.0.0.1", "address the service listens on; other than loopback only where there are tokens")
    port: Annotated[int, Meta(ge=0, le=65535)] = knob(6366, "port the service listens on; 0 takes a free one")
    token_required: bool = knob(False, "ask programs of this machine for a token too; needed behind a forwarder")
    threads: Positive = knob(256, "requests served at once")
    waiting: Natural = knob(
        512, "requests that may wait for a thread; one more is refused (503). Those of the proxy are never refused"
    )
    connections: Annotated[int, Meta(ge=1, le=1_000_000)] = knob(
        2_000,
        "connections held at once, fewer where the system allows fewer files; one more closes the one longest idle",
    )
    head_s: Annotated[float, Meta(gt=0, le=3600)] = knob(
        30.0, "seconds for the head of a request, from its first byte; of a new connection from its beginning"
    )
    body_s: Annotated[float, Meta(gt=0, le=3600)] = knob(
        30.0, "seconds for the body of a request, beside those that it takes at 4096 bytes a second"
    )
    idle_s: Annotated[float, Meta(gt=0, le=3600)] = knob(
        75.0, "seconds for which a connection is kept between two requests: longer than clients keep theirs"
    )
    lock_wait_s: Amount = knob(10.0, "seconds a command waits for another command to let go of the data folder")


@dataclass(frozen=True, slots=True)
class SexprSettings:
    chars: Annotated[int, Meta(ge=100)] = knob(
        4_000_000, "longest text of expressions, in characters; a snapshot is one too"
    )
    fuel: Positive = knob(500, "most calls of verbs in one evaluation, those inside policies included")
    depth: Annotated[int, Meta(ge=1, le=64)] = knob(64, "deepest nesting of calls in one evaluation")
    rows: Positive = knob(1_000, "most rows that `sparql` gives to an expression")


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    updates: Positive = knob(100, "changes of a namespace after which its map is drawn again in the background")
    cache_s: Amount = knob(30.0, "seconds for which a map is given as it was drawn")


@dataclass(frozen=True, slots=True)
class CheckpointsSettings:
    hours: Amount = knob(
        24.0, "hours between two checkpoints, from which the memory is read should its store be damaged; 0: none"
    )
    keep: Positive = knob(2, "checkpoints to keep, the latest")


@dataclass(frozen=True, slots=True)
class EncryptionSettings:
    on: bool = knob(False, "whether the data folder must be an encrypted one, as `memento serve --encrypted` has it")
    key: str = knob(
        "", "what opens the data folder: at least 16 characters; never in a file of the folder", secret=True
    )
    key_file: str = knob("", "a file that has the key, readable by its owner alone")
    memory: str = knob(
        "/dev/shm", "a folder of a memory file system, where an encrypted folder is in plain text while open"
    )


@dataclass(frozen=True, slots=True)
class StoreSettings:
    kind: Literal["embedded", "sparql"] = knob(
        "embedded", "where the graph is: in the data folder, or behind a SPARQL 1.1 endpoint that several nodes share"
    )
    query_url: str = knob("", "address of that endpoint for queries, as http://store:7878/query")
    update_url: str = knob("", "its address for updates, as http://store:7878/update")
    token: str = knob("", "sent to both as a bearer token", secret=True)
    probe: bool = knob(
        True,
        "refuse at the start a store that would lose memories or show them to others; off only for a node that has it alone",
    )
    timeout_s: Span = knob(60.0, "seconds that one request to it may take, and that a writer waits for its turn")
    lease_s: Annotated[float, Meta(ge=0.5)] = knob(
        10.0, "seconds without a sign of life after which another node takes the turn to write"
    )
    follow_ms: Annotated[int, Meta(ge=10)] = knob(
        200, "milliseconds between two looks at what other nodes have written"
    )
    start_s: Amount = knob(
        15.0, "seconds that a start waits for a store which cannot be reached yet, before it gives up"
    )
    replica: Literal["auto", "on", "off"] = knob(
        "auto",
        "copy it into the folder of each node, which reads from there; `auto` does where the index is in memory too "
        '(index.kind = "faiss")',
    )
    replica_quads: Positive = knob(
        20_000_000, "most statements of such a copy, some 200 bytes each; a larger store is read at its endpoint"
    )
    snapshot_quads: Positive = knob(
        1_000_000, "most statements that are copied to answer SPARQL where there is no replica; with more it is refused"
    )
    shards: str = knob(
        "",
        "further stores, to which `memento tenant move` takes tenants, by name: a table of tables with query_url, update_url and, "
        "where needed, token, index_uri, index_token; for example `[store.shards.b]`",
        secret=True,
        json='{"b": {"query_url": "http://10.0.1.5:7878/query", "update_url": "http://10.0.1.5:7878/update"}}',
    )


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    otlp_endpoint: str = knob("", "where spans go, as http://127.0.0.1:4318/v1/traces; nowhere when empty")


@dataclass(frozen=True, slots=True)
class Settings:
    """All groups; frozen, so that a profile or a test makes a changed copy."""

    scope: ScopeSettings = ScopeSettings()
    land: LandSettings = LandSettings()
    signals: SignalsSettings = field(default_factory=default_weights)
    fusion: FusionSettings = FusionSettings()
    anchor: AnchorSettings = AnchorSettings()
    expand: ExpandSettings = ExpandSettings()
    distill: DistillSettings = DistillSettings()
    gate: GateSettings = GateSettings()
    words: WordsSettings = WordsSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    model: ModelSettings = ModelSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    cases: CasesSettings = CasesSettings()
    executor: ExecutorSettings = ExecutorSettings()
    redaction: RedactionSettings = RedactionSettings()
    intake: IntakeSettings = IntakeSettings()
    capture: CaptureSettings = CaptureSettings()
    mcp: McpSettings = McpSettings()
    limits: LimitsSettings = LimitsSettings()
    sparql: SparqlSettings = SparqlSettings()
    inference: InferenceSettings = InferenceSettings()
    server: ServerSettings = ServerSettings()
    sexpr: SexprSettings = SexprSettings()
    manifest: ManifestSettings = ManifestSettings()
    checkpoints: CheckpointsSettings = CheckpointsSettings()
    encryption: EncryptionSettings = EncryptionSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    store: StoreSettings = StoreSettings()
    proxy: ProxySettings = ProxySettings()
    keys: KeysSettings = KeysSettings()
    living: StrengthSettings = StrengthSettings()
    rerank: RerankSettings = RerankSettings()
    answers: AnswersSettings = AnswersSettings()
    index: IndexSettings = IndexSettings()


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
        "Made by `make docs` from `src/memento/settings.py`.",
        "The environment wins over `.env`, that over `memento.toml` in the data folder, and that over the default.",
        "",
        "`MEMENTO_HOME` is the data folder (default: the platform's user data folder),",
        "`MEMENTO_NAMESPACE` the namespace (default: `main`),",
        f"`MEMENTO_TOOLS` what MCP clients get beyond the default tools: any of `{'`, `'.join(TOOL_GROUPS)}`, or `full`.",
        "",
        "`{env:NAME}` anywhere in a settings file becomes the value of that variable: no key need be written down. One that is not",
        "set is an error that names it, but for `api_key` and `executor.servers`, where it is nothing; set it to nothing where",
        "none is needed. `.env` is read from the data folder and from the working directory; the latter may hold keys and knobs,",
        "but nothing that decides where memories go, who may see them or what is run (`…_PROVIDER`, `…_BASE_URL`, `…_ENDPOINT`,",
        "`MEMENTO_SERVER_…`, `MEMENTO_EXECUTOR_…`, `MEMENTO_STORE_…`, `MEMENTO_CONFIG`).",
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

_UNSET = re.compile("\ue000([A-Z0-9_]+)\ue001")
"""What stands for a variable that is not set, until the setting is known in which it is."""

_WAITING = ("api_key", "servers")
"""Settings that may name a variable which is not set: their services say so when they are used."""

# A folder that somebody else filled, as a checkout, must not decide where memories are sent, who may ask for them, or what is run.
STEERING = re.compile(r"^MEMENTO_(SERVER_\w+|EXECUTOR_\w+|STORE_\w+|CONFIG|\w+_(PROVIDER|BASE_URL|ENDPOINT))")

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
    Replace `{env:NAME}` by the variable, or by a mark for `_fill_unset`; a quote in it does not end the text around it.

    >>> substitute_variables('{"url": "http://{env:HOST}/v1"}', {"HOST": "box"})
    '{"url": "http://box/v1"}'
    """
    return PLACE.sub(
        lambda place: json.dumps(environment.get(place[1], f"\ue000{place[1]}\ue001"), ensure_ascii=False)[1:-1], text
    )


def read_toml(path: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """Read the groups of a TOML file; raise `SettingsError` when it is none."""
    text = substitute_variables(_read_text(path), environment)
    try:
        return {group: values for group, values in tomllib.loads(text).items() if group != "$schema"}
    except tomllib.TOMLDecodeError as error:
        unset = "".join(f"; the variable {name} is not set" for name in dict.fromkeys(_UNSET.findall(text)))
        raise SettingsError(f"{path} is not TOML: {error}{unset}") from error


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


def check_settings(settings: Settings, spelling: Spelling | None = None) -> Settings:
    """Return the same settings, once the rules that span several of them hold; raise `SettingsError` otherwise."""
    anchor, spelling = settings.anchor, spelling or {}
    if abs(anchor.semantic + anchor.memory + anchor.structural - 1) > 1e-6:
        raise SettingsError("the weights semantic, memory and structural of [anchor] must sum to 1")
    if settings.distill.lambda_min > settings.distill.lambda_max:
        raise SettingsError("lambda_min of [distill] must not exceed lambda_max")
    _check_model(settings.model, spelling)
    _check_embedding(settings.embedding, spelling)
    _check_proxy(settings.proxy, spelling)
    _check_capture(settings.capture, spelling)
    _check_store(settings, spelling)
    _check_index(settings.index, spelling)
    return settings


def _check_store(settings: Settings, spelling: Spelling) -> None:
    for name in (shards := list_shards(settings)):
        if not _SHARD.fullmatch(name) or name == "default":
            _refuse(
                "store", "shards", f"must have names of a-z, 0-9 and -, other than default, not {name[:40]!r}", spelling
            )
        for key in ("query_url", "update_url"):
            if not getattr(shards[name].store, key):
                _refuse("store", f"shards.{name}.{key}", "must be the address of a SPARQL endpoint", spelling)
            _check_url("store", f"shards.{name}.{key}", getattr(shards[name].store, key), spelling)
            for other, one in {"default": settings, **shards}.items():
                if other != name and getattr(one.store, key) == getattr(shards[name].store, key):
                    fix = f"must be the address of another store than that of {other}"
                    _refuse("store", f"shards.{name}.{key}", fix, spelling)
        _check_index(shards[name].index, spelling)
    if settings.store.kind == "embedded":
        return
    for key in ("query_url", "update_url"):
        if not getattr(settings.store, key):
            _refuse("store", key, "must be the address of the SPARQL endpoint", spelling)
        _check_url("store", key, getattr(settings.store, key), spelling)
    if settings.encryption.on:
        _refuse("encryption", "on", "must be false where the store is a SPARQL endpoint: encrypt its disk", spelling)


_SHARD = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
_OF_SHARD = {
    "query_url": "store",
    "update_url": "store",
    "token": "store",
    "index_uri": "index",
    "index_token": "index",
}


def list_shards(settings: Settings) -> dict[str, Settings]:
    """
    Return the settings for each further store, by its name: those of the memory, but for where store and index are.

    Raises:
        SettingsError: one has something that it cannot have, or is no table.
    """
    found: dict[str, Settings] = {}
    for name, said in json.loads(settings.store.shards or "{}").items():
        if not isinstance(said, dict) or not all(isinstance(one, str) for one in said.values()):
            raise SettingsError(f"shards.{name} of [store] must be a table of texts: {', '.join(_OF_SHARD)}")
        if unknown := said.keys() - _OF_SHARD.keys():
            raise SettingsError(
                f"unknown setting {min(unknown)} of [store.shards.{name}]: choose one of {', '.join(_OF_SHARD)}"
            )
        values = {"store": {"kind": "sparql", "token": "", "shards": ""}, "index": {"uri": "", "token": ""}}
        for key, value in said.items():
            values[_OF_SHARD[key]][key.removeprefix("index_")] = value
        store = replace(settings.store, **{"query_url": "", "update_url": ""} | values["store"])  # type: ignore[arg-type]
        found[name] = replace(settings, store=store, index=replace(settings.index, **values["index"]))  # type: ignore[arg-type]
    return found


def _check_index(index: IndexSettings, spelling: Spelling) -> None:
    if index.kind == "faiss" and index.uri:
        _refuse("index", "uri", "must be empty for faiss, whose index is in the data folder", spelling)
    if index.kind != "faiss" and not index.uri:
        where = "a folder or s3://bucket/path" if index.kind == "lance" else "http://host:19530 or a file"
        _refuse("index", "uri", f"is required for {index.kind}: {where}", spelling)


def _check_capture(capture: CaptureSettings, spelling: Spelling) -> None:
    for namespace, mode in json.loads(capture.namespaces or "{}").items():
        if mode not in get_args(Capture):
            why = f"must say {', '.join(get_args(Capture))} of {namespace!r}, not {str(mode)[:40]!r}"
            _refuse("capture", "namespaces", why, spelling)


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
    example, secret = ("7878/query", "token") if group == "store" else ("8000/v1", "api_key")
    if not usable:
        _refuse(group, key, f"must be an address such as http://localhost:{example}", spelling)
    if parts.username or parts.password or parts.query or parts.fragment:
        _refuse(group, key, f"must hold no password, query or fragment; a key belongs into {secret}", spelling)


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
        found = read_toml(file, environment)
        if "key" in found.get("encryption", {}):
            raise SettingsError(
                f"{file} holds the key of [encryption], which opens what is beside it: name a key_file elsewhere"
            )
        settings = _overlay(settings, found, source=str(file))
    return check_settings(
        _overlay(settings, _group_environment(environment, settings), source="the environment"), spelling
    )


def set_in_file(text: str, group: str, values: Mapping[str, str | int]) -> str:
    """
    Return the text of a `memento.toml` with other values in one group, and everything else as it was.

    Raises:
        SettingsError: the group is written in a way that is not edited here, as on one line.

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
    """The groups that a client of a running service goes by, and who keeps for one what it is to take in."""

    server: ServerSettings = field(default_factory=ServerSettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    keys: KeysSettings = field(default_factory=KeysSettings)
    cases: CasesSettings = field(default_factory=CasesSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    redaction: RedactionSettings = field(default_factory=RedactionSettings)


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
    "KEYMEM_RERANK_MIN_SCORE": "MEMENTO_RERANK_FLOOR",
    "KEYMEM_AUTOKEY": "MEMENTO_KEYS_AUTOKEY",
    "KEYMEM_AUTOKEY_PROMOTE_N": "MEMENTO_KEYS_AUTOKEY_AFTER",
    "KEYMEM_AUTOKEY_CONFIRM_FLOOR": "MEMENTO_KEYS_AUTOKEY_FLOOR",
    "KEYMEM_AUTOKEY_MAX_ALIASES": "MEMENTO_KEYS_AUTOKEY_ALIASES",
    "KEYMEM_AUTOKEY_PRUNE_AGE": "MEMENTO_KEYS_AUTOKEY_DAYS",
}
"""The names that the published design of keys has for settings of ours; its ages are in seconds."""

_INSTEAD: Mapping[str, str] = {
    "KEYMEM_DATA_DIR": "set MEMENTO_HOME",
    "KEYMEM_RERANK": "set MEMENTO_RERANK_FOLDER to the folder of a cross-encoder",
    "KEYMEM_AUTO_MIGRATE": "vectors of another model are made again by themselves",
    "KEYMEM_FORCE_REEMBED": "run `memento migrate --force`",
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
    try:
        if isinstance(value, float) and not math.isfinite(value):
            raise msgspec.ValidationError
        return msgspec.convert(value, hint)
    except msgspec.ValidationError:
        raise SettingsError(f"{where} must be {describe_bounds(hint)}{shown}") from None


def _fill_unset(value: object, key: str, where: str, inner: str = "") -> object:
    """Return a value with nothing in the place of variables that are not set; raise `SettingsError` where one is needed."""
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
    """Parse text as a number or a truth; return the text itself where it is none."""
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
