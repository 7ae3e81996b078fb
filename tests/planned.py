"""What tests of plans share: how a memory is opened whose plans may act, and how it asks a scripted model."""

from __future__ import annotations

from collections.abc import Callable

from memento.python import Memento
from memento.settings import ModelSettings
from scripted import ScriptedModel

Opened = Callable[..., Memento]


def asking(model: ScriptedModel) -> ModelSettings:
    """The settings that ask a scripted model, once again where it fails."""
    return ModelSettings(
        provider="openai-compatible", base_url=model.openai, model="m", retry_wait_s=0.0, max_retries=1
    )
