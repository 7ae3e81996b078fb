"""Every setting: its group, its default, and one sentence with its unit; those of recall are in `recall.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

from memento.settings.cases import CasesSettings
from memento.settings.executor import ExecutorSettings
from memento.settings.keys import KeysSettings
from memento.settings.knob import knob
from memento.settings.living import LivingSettings
from memento.settings.recall import (
    AnchorSettings,
    DistillSettings,
    ExpandSettings,
    FusionSettings,
    GateSettings,
    LandSettings,
    SignalsSettings,
    WordsSettings,
    default_weights,
)

PROVIDERS = ("none", "openai", "anthropic", "google", "ollama", "openai-compatible")
EMBEDDERS = ("local", "openai", "google", "cohere", "mistral", "ollama", "openai-compatible")


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    namespace: str = knob("main", "where notes go when nothing names a namespace; `project` is the git checkout's name")


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
    plan: AgentSettings = AgentSettings()
    act: AgentSettings = AgentSettings()


@dataclass(frozen=True, slots=True)
class ProxySettings:
    provider: str = knob(
        "all",
        "upstream that the proxy serves: all that have a base URL, or one",
        ("all", "openai", "anthropic", "ollama", "custom"),
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
    deadline_ms: int = knob(
        150, "milliseconds that recall may take before a request is forwarded without memories", least=1
    )
    block_tokens: int = knob(1000, "most tokens of the block of memories, by an estimate that errs upwards", least=1)
    instructions: bool = knob(True, "begin the block with a sentence that tells the model what it is")
    recalls: int = knob(4, "recalls at once; more requests than that wait, within the deadline", least=1)
    repeat_s: float = knob(
        300.0, "seconds in which a turn that is asked again gets the same block, without a recall", least=0
    )
    blocks: int = knob(20_000, "blocks kept to be put into their conversations again; 0 keeps none", least=0)
    connect_s: float = knob(
        10.0, "seconds to connect to a provider within; how long it thinks and streams is not limited", least=0.001
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
    similar_memories: int = knob(15, "existing memories that a new one is compared with")
    entity_candidates: int = knob(5, "entities in the graph that a mention is compared with")
    recalled_memories: int = knob(10, "with a model: memories that a note brings back, which it guesses from", least=1)
    guessed_memories: int = knob(10, "with a model: memories found by each of its guesses", least=1)
    description_chars: int = knob(
        2000, "longest description of the user, in characters; the oldest facts go", least=100
    )
    retries: int = knob(5, "how often a note that could not be understood is tried again", least=0)
    retry_wait_s: float = knob(10.0, "seconds before it is tried again; doubles each time", least=0)
    retry_most_s: float = knob(600.0, "most seconds between two tries", least=0)
    check_rules: bool = knob(
        False, "hold what rules write against the shapes too, for some 30 ms a note; what a model writes always is"
    )
    time_zone: str = knob("UTC", "where the user's days begin, as Europe/Berlin: decides what yesterday means")


@dataclass(frozen=True, slots=True)
class LimitsSettings:
    text_bytes: int = knob(1_048_576, "longest note or question, in bytes of UTF-8")
    query_bytes: int = knob(262_144, "longest SPARQL query, in bytes of UTF-8")
    update_bytes: int = knob(1_048_576, "longest SPARQL update, in bytes of UTF-8")
    update_quads: int = knob(100_000, "most quads that one update removes and adds", least=1)
    update_nodes: int = knob(500, "most memories, notes and other nodes of namespaces that one update touches", least=1)
    graphs: int = knob(
        5_000,
        "most graphs that one tenant may have to make another by SPARQL; all of them are looked at after every write",
        least=1,
    )
    graph_bytes: int = knob(67_108_864, "longest document for the graph store, in bytes")
    graph_quads: int = knob(1_000_000, "most quads that one document for the graph store adds", least=1)
    query_depth: int = knob(200, "deepest nesting of braces and parentheses in a SPARQL query", least=1)
    document_bytes: int = knob(
        1_073_741_824, "longest RDF document that an import over HTTP takes, in bytes, unpacked", least=1
    )
    results: int = knob(1_000, "most memories that one recall or one page of a listing returns")


@dataclass(frozen=True, slots=True)
class SparqlSettings:
    workers: int = knob(
        4, "processes that evaluate foreign SPARQL; one is kept for queries that promise a quick answer", least=2
    )
    share: int = knob(2, "workers that one caller may use at once for other queries", least=1)
    query_s: float = knob(10.0, "seconds that a query may take; `timeout` may ask for less", least=0.05)
    stall_s: float = knob(30.0, "seconds that a client may leave an answer unread, over all of it", least=0)
    memory_mb: int = knob(512, "most memory of one worker, in MiB", least=64)
    rows: int = knob(1_000_000, "most rows of one SELECT", least=1)
    bytes: int = knob(268_435_456, "longest answer, in bytes", least=1024)
    queue: int = knob(64, "queries that may wait for a worker; of one caller at most half as many", least=2)
    wait_s: float = knob(10.0, "seconds that a query may wait for a worker", least=0)
    services: str = knob(
        "",
        "endpoints that SERVICE may name, as https://query.wikidata.org/sparql, several with commas; none when empty",
    )
    service_bytes: int = knob(1_048_576, "longest answer of such an endpoint, in bytes", least=1024)
    origins: str = knob(
        "", "web pages that may query with a token of their own, as https://yasgui.org, several with commas; * is any"
    )


@dataclass(frozen=True, slots=True)
class InferenceSettings:
    on: bool = knob(
        True, "let SPARQL queries see what follows from the axioms that you state; nothing does without any"
    )
    most: int = knob(
        50_000, "most facts that may follow for one namespace; with more of them nothing is inferred there", least=1
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str = knob("127.0.0.1", "address the service listens on; other than loopback only where there are tokens")
    port: int = knob(6366, "port the service listens on; 0 takes a free one", least=0, most=65535)
    token_required: bool = knob(False, "ask programs of this machine for a token too; needed behind a forwarder")
    threads: int = knob(256, "requests served at once")
    lock_wait_s: float = knob(10.0, "seconds a command waits for another command to let go of the data folder")


@dataclass(frozen=True, slots=True)
class SexprSettings:
    chars: int = knob(4_000_000, "longest text of expressions, in characters; a snapshot is one too", least=100)
    fuel: int = knob(500, "most calls of verbs in one evaluation, those inside policies included", least=1)
    depth: int = knob(64, "deepest nesting of calls in one evaluation", least=1, most=64)
    rows: int = knob(1_000, "most rows that `sparql` gives to an expression", least=1)


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    updates: int = knob(100, "changes of a namespace after which its map is drawn anew in the background", least=1)
    cache_s: float = knob(30.0, "seconds for which a map is given as it was drawn", least=0)


@dataclass(frozen=True, slots=True)
class CheckpointsSettings:
    hours: float = knob(
        24.0,
        "hours between two checkpoints, from which the memory is read should its store be damaged; 0: none",
        least=0,
    )
    keep: int = knob(2, "checkpoints to keep, the latest", least=1)


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
    living: LivingSettings = LivingSettings()
