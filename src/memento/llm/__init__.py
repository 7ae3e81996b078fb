"""
Language models behind OpenAI-compatible, Anthropic and Ollama endpoints, each filling in pydantic forms.

*Flow:* `chat` (ask, check, ask again), with `forms` (schema, parsing) → `dialects` (three wire formats) → `endpoint` (HTTP).

*Guarantees:* without a provider in the settings nothing here is imported or connected.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memento.settings import AgentSettings, ModelSettings

if TYPE_CHECKING:
    from memento.llm.chat import Service
    from memento.ports import Chat

__all__ = ["AGENTS", "chats_of"]

AGENTS = (
    "extract_entities",
    "resolve_entities",
    "hypothesise",
    "extract_memories",
    "resolve_memories",
    "plan",
    "act",
)
"""The questions that a model is asked; each may have settings of its own under [model]."""

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"


def chats_of(settings: ModelSettings) -> dict[str, Chat]:
    """
    A model for each of `AGENTS`, all behind one connection and one circuit breaker; empty when the provider is `none`.

    Nothing is connected before the first question.

    >>> chats_of(ModelSettings())
    {}
    """
    if settings.provider == "none":
        return {}
    from memento.llm.chat import Model

    service = _service(settings)
    called = settings.provider_name or settings.provider

    def chat(agent: AgentSettings) -> Chat:
        model = agent.model or settings.model
        return Model(
            name=f"{called}:{model}",
            service=service,
            model=model,
            temperature=settings.temperature if agent.temperature is None else agent.temperature,
            max_tokens=agent.max_tokens or settings.max_tokens,
            max_retries=settings.max_retries,
            call_s=settings.call_s,
            options={**_object(settings.options), **_object(agent.options)},
        )

    return {name: chat(getattr(settings, name)) for name in AGENTS}


def _service(settings: ModelSettings) -> Service:
    from memento.breaker import Breaker
    from memento.errors import ModelError
    from memento.llm.chat import Service
    from memento.llm.dialects import Anthropic, Dialect, Ollama, OpenAi
    from memento.llm.endpoint import Endpoint, Limits

    known: dict[str, tuple[Dialect, str]] = {
        "openai": (OpenAi("max_completion_tokens"), "https://api.openai.com/v1"),
        "google": (OpenAi(), GOOGLE),
        "openai-compatible": (OpenAi(), ""),
        "anthropic": (Anthropic(), "https://api.anthropic.com"),
        "ollama": (Ollama(), "http://localhost:11434"),
    }
    dialect, usual = known[settings.provider]
    limits = Limits(connect_s=settings.connect_s, silence_s=settings.timeout_s, retry_wait_s=settings.retry_wait_s)
    base_url = (settings.base_url or usual).rstrip("/")
    endpoint = Endpoint(
        base_url.removesuffix(dialect.inner),
        headers=dialect.headers(settings.api_key),
        secret=settings.api_key,
        called=settings.provider_name or settings.provider,
        error=ModelError,
        limits=limits,
        breaker=Breaker(settings.breaker_failures, settings.breaker_rest_s),
    )
    return Service(endpoint, dialect)


def _object(text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(text) if text else {}
    return found
