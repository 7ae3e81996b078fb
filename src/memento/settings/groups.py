"""
Every setting by group: its bounds, its default, and one sentence with its unit.

*Because:* groups stand here and not with the rooms that use them, so that a process that only asks a running service can check
the whole environment and file without loading those rooms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from msgspec import Meta

from memento.settings.base import (
    Amount,
    Natural,
    Positive,
    Share,
    Span,
    choices_of,
    hints_of,
    knob,
    knobs,
    unwrap_optional,
    variable,
)

Above = Literal["ivf", "hnsw"]
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
        json=True,
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
    rerank: str = knob("", "folder of a cross-encoder that orders the best 30 of direct recall again; empty: none")
    rerank_floor: float | None = knob(
        None, "score of the cross-encoder's best, below which direct recall has no answer; empty: none"
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
    dimensions: Natural = knob(0, "length of a vector; needed unless local")
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
    cache: bool = knob(True, "keep vectors under the user's cache folder by model and text digest")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What one question of consolidation asks differently."""

    model: str = knob("", "model for this question; empty: that of [model]")
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = knob(
        None, "temperature for this question; empty: that of [model]"
    )
    max_tokens: Positive | None = knob(None, "tokens of an answer to it; empty: those of [model]")
    options: str = knob("", "JSON object of fields for the request, laid over those of [model]", json=True)


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
        "", "JSON object of fields for the request, passed on as they are; null takes a field out", json=True
    )
    extract_entities: AgentSettings = AgentSettings()
    resolve_entities: AgentSettings = AgentSettings()
    hypothesise: AgentSettings = AgentSettings(temperature=0.7)
    extract_memories: AgentSettings = AgentSettings()
    resolve_memories: AgentSettings = AgentSettings()
    plan: AgentSettings = AgentSettings()
    act: AgentSettings = AgentSettings()


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
    time_zone: str = knob("UTC", "where the user's days begin, as Europe/Berlin: decides what yesterday means")


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    mode: Literal["redact", "refuse", "off"] = knob(
        "redact", "what becomes of a secret in a text: its kind stands in its place, the text is refused, or nothing"
    )
    refuse: str = knob("", "namespaces that refuse a text with a secret where others redact it, with commas between")
    entropy: bool = knob(True, "take a long word of letters and digits without any sense for a secret")
    patterns: str = knob(
        "", "further secrets: a JSON object, or a table in a file, of regular expressions by their kinds", json=True
    )
    allow: str = knob("", "a regular expression of what is never a secret; it must match the whole of it")


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
    limits: LimitsSettings = LimitsSettings()
    sparql: SparqlSettings = SparqlSettings()
    inference: InferenceSettings = InferenceSettings()
    server: ServerSettings = ServerSettings()
    sexpr: SexprSettings = SexprSettings()
    manifest: ManifestSettings = ManifestSettings()
    checkpoints: CheckpointsSettings = CheckpointsSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    proxy: ProxySettings = ProxySettings()
    keys: KeysSettings = KeysSettings()
    living: StrengthSettings = StrengthSettings()


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
