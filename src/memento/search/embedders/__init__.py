"""
Text in, unit vectors out: all-MiniLM-L6-v2 on this machine, in torch or onnxruntime, or hashed trigrams where no model may be;
both behind a cache.

*Guarantees:* nothing here touches the network; importing this imports no model library; all embedders may be shared by threads.
"""

from __future__ import annotations

from pathlib import Path

from memento.search.embedders.cached import Cached
from memento.search.embedders.minilm import MiniLm
from memento.search.embedders.trigram import Trigram
from memento.settings import EmbeddingSettings

__all__ = ["Cached", "MiniLm", "Trigram", "embedder_of"]


def embedder_of(settings: EmbeddingSettings, cache_folder: Path | None) -> Cached:
    """
    The embedder that the settings name, behind its cache; nothing is loaded or opened before it is needed.

    Args:
        cache_folder: for vectors, if the settings want them kept, and for the model as onnxruntime reads it.

    >>> embedder_of(EmbeddingSettings(model="trigram"), None).embed(["tea"]).shape
    (1, 256)
    """
    if settings.model == "trigram":  # computing a vector is faster than looking it up in a file
        return Cached(Trigram(), None)
    model = MiniLm(settings.threads, settings.batch, settings.runtime, cache_folder)
    return Cached(model, cache_folder if settings.cache else None)
