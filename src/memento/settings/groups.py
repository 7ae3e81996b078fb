"""Every setting: its group, its default, and one sentence with its unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PROVIDERS = ("none", "openai", "anthropic", "google", "ollama", "openai-compatible")
EMBEDDERS = ("local", "openai", "google", "cohere", "mistral", "ollama", "openai-compatible")


def knob(
    default: Any,
    help: str,
    choices: tuple[str, ...] = (),
    *,
    least: float | None = None,
    most: float | None = None,
    secret: bool = False,
    json: bool = False,
) -> Any:
    """
    A setting with its default and one sentence that says what it does and its unit.

    Args:
        least, most: the range of a number, both ends included.
        secret: never shown: neither by `repr` nor by `memento config show`.
        json: a JSON object as text; in a file it may be a table.
    """
    about = {"help": help, "choices": choices, "least": least, "most": most, "secret": secret, "json": json}
    return field(default=default, repr=not secret, metadata=about)


ENGINES = ("signals", "ppr", "published")


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    namespace: str = knob("main", "where notes go when nothing names a namespace; `project` is the git checkout's name")


@dataclass(frozen=True, slots=True)
class LandSettings:
    engine: str = knob(
        "signals", "what ranks: weighed signals, the walk of EXPAND alone, or the phases as first published", ENGINES
    )
    mend: bool = knob(
        True, "read a word that neither the memories nor the embedder know as the known word one letter away"
    )
    pool: int = knob(200, "candidates that each strong signal brings in")
    candidates: int = knob(100, "as published: memories taken from each of the two searches and from the walk")


@dataclass(frozen=True, slots=True)
class SignalsSettings:
    meaning: float = knob(0.5, "weight of the cosine of question and memory")
    window: float = knob(0.5, "weight of the cosine of question and the turns around the memory")
    words: float = knob(0.35, "weight of BM25 on the memory and the turn before it")
    pairs: float = knob(0.25, "weight of BM25 on neighbouring words")
    session: float = knob(0.25, "weight of BM25 on the whole session")
    speaker: float = knob(
        0.5, "weight of being said by the one participant whom the question names, or by the one who asks"
    )
    own: float = knob(0.9, "weight of being about the user, when the question says I or my")
    slot: float = knob(0.8, "weight of filling the property that the question asks for, as the employer")
    when: float = knob(0.5, "weight of fitting a date in the question")
    form: float = knob(
        0.5, "weight of the shape of the sentence: long, no question, a time or number where one is asked for"
    )
    subject: float = knob(0.9, "weight of being about what the question names")
    link: float = knob(0.7, "weight of being about what a good memory mentions")
    shared: float = knob(0.35, "weight of sharing a rare name with a good memory and covering what it leaves open")
    tie: float = knob(0.15, "weight of sharing a name that hardly any other memory has with a good memory")
    walk: float = knob(0.0, "weight of the rank on a walk from the anchors; 0 leaves the walk out")


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
    seeds: int = knob(5, "best memories whose entities anchor, beside those that the question names")
    seed_share: float = knob(0.3, "weight of an entity of the best memory, when one in the question weighs 1")
    min_memories: int = knob(1, "as published: seed memories that must be about an entity before it anchors")
    semantic: float = knob(0.5, "as published: weight of the entity's own likeness to the question")
    memory: float = knob(0.3, "as published: weight of the mean likeness of the seed memories about it")
    structural: float = knob(0.2, "as published: weight of its degree in the graph; the three weights sum to 1")
    user: bool = knob(False, "let the user anchor too; the user is a giant hub")


@dataclass(frozen=True, slots=True)
class ExpandSettings:
    seeds: int = knob(20, "best memories whose links are followed")
    damping: float = knob(0.75, "share of the rank that follows links; the rest restarts at the anchors")
    passages: float = knob(0.5, "restart weight of the best memory itself, when a rare name in the question weighs 1")
    epsilon: float = knob(3e-5, "rank that the walk leaves behind for each link of a node; smaller is slower")
    iterations: int = knob(25, "as published: steps of the walk at most; 0 leaves ANCHOR and EXPAND out")
    structural_weight: float = knob(0.5, "as published: share of the walk in the score of EXPAND; cosine gets the rest")
    weighted: bool = knob(False, "as published: restart at the anchors by their weights, not equally")
    normalise: str = knob(
        "none", "as published: how walk scores are scaled before they are mixed with cosines", ("none", "max", "minmax")
    )


@dataclass(frozen=True, slots=True)
class DistillSettings:
    top_k: int = knob(10, "memories returned when the caller names no number")
    lambda_min: float = knob(0.5, "relevance share of MMR when the best score hardly stands out")
    lambda_max: float = knob(0.7, "relevance share of MMR when the best score stands out; 1 turns diversity off")


@dataclass(frozen=True, slots=True)
class GateSettings:
    on: bool = knob(True, "answer with nothing when nothing in the scope is relevant to the question")
    base: float = knob(0.0, "score of a scope of 600 memories below which it is empty; 0 takes what fits the embedder")
    slope: float = knob(0.04, "with `base`: what the threshold grows by when the scope grows e-fold")
    floor: float = knob(0.1, "with `base`: the least threshold, for scopes of ten memories and more; less for fewer")


@dataclass(frozen=True, slots=True)
class WordsSettings:
    k1: float = knob(1.5, "BM25: how soon repeated words stop counting")
    b: float = knob(0.75, "BM25: how much long texts are discounted, 0..1")


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    provider: str = knob("local", "who computes vectors: this machine, or a service that texts are sent to", EMBEDDERS)
    model: str = knob(
        "minilm",
        "local: `minilm` is all-MiniLM-L6-v2, `trigram` hashes characters and needs no model; elsewhere the provider's name",
    )
    dimensions: int = knob(0, "length of a vector; needed unless local", least=0)
    base_url: str = knob("", "address of the service, up to and including /v1; openai-compatible and ollama only")
    api_key: str = knob("", "key of the service", secret=True)
    provider_name: str = knob("", "what to call an openai-compatible service")
    max_chars: int = knob(2000, "longest text sent to a service, in characters; longer ones become windows", least=100)
    timeout_s: float = knob(60.0, "seconds a service may be silent", least=0.001)
    max_retries: int = knob(3, "how often a service is asked again when it fails", least=0)
    retry_wait_s: float = knob(0.5, "seconds before the first retry; doubles each time, with some chance", least=0)
    breaker_failures: int = knob(5, "failures in a row after which the service is left alone for a while", least=1)
    breaker_rest_s: float = knob(30.0, "seconds it is left alone, before one request tries it", least=0)
    runtime: str = knob(
        "auto",
        "what runs all-MiniLM-L6-v2: torch, or onnxruntime (`memento[onnx]`), which needs half the time for the same vectors; "
        "`auto` takes the second where it is installed",
        ("auto", "torch", "onnx"),
    )
    threads: int = knob(1, "threads for one question or note; imports use all cores", least=1)
    batch: int = knob(16, "texts embedded at once; locally, small batches of like lengths are the fastest", least=1)
    cache: bool = knob(True, "keep vectors under the user's cache folder by model and text digest")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What one question of consolidation asks differently."""

    model: str = knob("", "model for this question; empty: that of [model]")
    temperature: float | None = knob(None, "temperature for this question; empty: that of [model]", least=0, most=2)
    max_tokens: int | None = knob(None, "tokens of an answer to it; empty: those of [model]", least=1)
    options: str = knob("", "JSON object of fields for the request, laid over those of [model]", json=True)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    provider: str = knob("none", "who understands notes: rules (none), or a language model at a service", PROVIDERS)
    model: str = knob("", "the provider's name of the model; needed unless none")
    api_key: str = knob("", "key of the service; needed for openai, anthropic and google", secret=True)
    base_url: str = knob("", "address of the service, up to and including /v1; openai-compatible and ollama only")
    provider_name: str = knob("", "what to call an openai-compatible service")
    temperature: float | None = knob(
        0.5, "how freely the model answers; empty: as the provider has it", least=0, most=2
    )
    max_tokens: int = knob(15000, "most tokens of one answer", least=1)
    max_retries: int = knob(
        3, "how often one question is asked again, when the service fails or an answer is unfit", least=0
    )
    retry_wait_s: float = knob(0.5, "seconds before the first retry; doubles each time, with some chance", least=0)
    connect_s: float = knob(5.0, "seconds to connect within", least=0.001)
    timeout_s: float = knob(120.0, "seconds the service may be silent", least=0.001)
    call_s: float = knob(300.0, "seconds for one question with all its retries", least=0.001)
    breaker_failures: int = knob(5, "failures in a row after which the service is left alone for a while", least=1)
    breaker_rest_s: float = knob(30.0, "seconds it is left alone, before one request tries it", least=0)
    tokens_per_note: int = knob(60000, "most tokens that one note may cost; 0 sets no bound", least=0)
    fallback_to_rules: bool = knob(True, "let rules understand a note after the last retry; otherwise it stays pending")
    options: str = knob(
        "", "JSON object of fields for the request, passed on as they are; null takes a field out", json=True
    )
    extract_entities: AgentSettings = AgentSettings()
    resolve_entities: AgentSettings = AgentSettings()
    hypothesise: AgentSettings = AgentSettings(temperature=0.7)
    extract_memories: AgentSettings = AgentSettings()
    resolve_memories: AgentSettings = AgentSettings()


@dataclass(frozen=True, slots=True)
class ProxySettings:
    provider: str = knob(
        "all",
        "upstream that the proxy serves: all that have a base URL, or one",
        ("all", "openai", "anthropic", "ollama", "custom"),
    )
    openai_base_url: str = knob(
        "https://api.openai.com/v1", "where OpenAI's protocol is forwarded to; empty: not served"
    )
    anthropic_base_url: str = knob(
        "https://api.anthropic.com", "where Anthropic's protocol is forwarded to, without /v1; empty: not served"
    )
    ollama_base_url: str = knob(
        "http://localhost:11434", "where Ollama's protocol is forwarded to, without /api; empty: not served"
    )
    deadline_ms: int = knob(
        150, "milliseconds that recall may take before a request is forwarded without memories", least=1
    )
    block_tokens: int = knob(1000, "most tokens of the block of memories", least=1)

    @property
    def upstreams(self) -> dict[str, str]:
        """Base URL by protocol (openai, anthropic, ollama) of what is served; Ollama speaks OpenAI's protocol too."""
        urls = {"openai": self.openai_base_url, "anthropic": self.anthropic_base_url, "ollama": self.ollama_base_url}
        if self.provider == "ollama":
            urls |= {"openai": f"{self.ollama_base_url.rstrip('/')}/v1", "anthropic": ""}
        spoken = {"openai": ("openai",), "anthropic": ("anthropic",), "custom": ("openai", "anthropic")}
        served = spoken.get(self.provider, tuple(urls))
        return {protocol: url for protocol, url in urls.items() if url and protocol in served}


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
    host: str = knob("127.0.0.1", "address the service listens on; other than loopback only where there are tokens")
    port: int = knob(6366, "port the service listens on; 0 takes a free one", least=0, most=65535)
    token_required: bool = knob(False, "ask programs of this machine for a token too; needed behind a forwarder")
    threads: int = knob(256, "requests served at once")
    lock_wait_s: float = knob(10.0, "seconds a command waits for another command to let go of the data folder")


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    otlp_endpoint: str = knob("", "where spans go, as http://127.0.0.1:4318/v1/traces; nowhere when empty")


@dataclass(frozen=True, slots=True)
class Settings:
    """All groups; frozen, so that a profile or a test makes a changed copy."""

    scope: ScopeSettings = ScopeSettings()
    land: LandSettings = LandSettings()
    signals: SignalsSettings = SignalsSettings()
    fusion: FusionSettings = FusionSettings()
    anchor: AnchorSettings = AnchorSettings()
    expand: ExpandSettings = ExpandSettings()
    distill: DistillSettings = DistillSettings()
    gate: GateSettings = GateSettings()
    words: WordsSettings = WordsSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    model: ModelSettings = ModelSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    limits: LimitsSettings = LimitsSettings()
    server: ServerSettings = ServerSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    proxy: ProxySettings = ProxySettings()
