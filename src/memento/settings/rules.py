"""What must hold between settings: the rules of each provider, sums, and orders; a breach is one line that names the key."""

from __future__ import annotations

from typing import NoReturn
from urllib.parse import urlsplit

from memento.errors import SettingsError
from memento.settings.files import Spelling
from memento.settings.groups import EmbeddingSettings, ModelSettings, ProxySettings, Settings
from memento.settings.page import variable

CLOUD = ("openai", "anthropic", "google", "cohere", "mistral")  # one address each, and no answer without a key
LOCAL_MODELS = ("minilm", "trigram")


def check(settings: Settings, spelling: Spelling | None = None) -> Settings:
    """The same settings, once the rules that span several of them hold; raises `SettingsError` otherwise."""
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
        if not local:
            why = f"must be one of {', '.join(LOCAL_MODELS)} when its provider is local, not {embedding.model!r}"
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
