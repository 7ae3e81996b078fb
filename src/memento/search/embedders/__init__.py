"""
Text in, unit vectors out: all-MiniLM-L6-v2 on this machine, in torch or onnxruntime, a model of sentence-transformers in a folder,
hashed trigrams where no model may be, or a service; behind a cache.

*Guarantees:* nothing here touches the network unless the settings name a provider; importing this imports no model library and no
HTTP client; all embedders may be shared by threads.
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
    Return the embedder that the settings name, behind its cache; nothing is loaded or opened before it is needed.

    Args:
        cache_folder: for vectors, if the settings want them kept, and for the model as onnxruntime reads it.

    >>> embedder_of(EmbeddingSettings(model="trigram"), None).embed(["tea"]).shape
    (1, 256)
    """
    if settings.provider == "local" and settings.model == "trigram":
        # Computing a vector is faster than looking it up in a file.
        return Cached(Trigram(), None)
    if settings.provider != "local":
        from memento.search.embedders.remote import Remote

        return Cached(Remote(settings), cache_folder if settings.cache else None)
    if settings.model != "minilm":
        from memento.search.embedders.folder import FolderModel

        folder = FolderModel(Path(settings.model).expanduser(), settings.threads, settings.batch)
        return Cached(folder, cache_folder if settings.cache else None)
    model = MiniLm(settings.threads, settings.batch, settings.runtime, cache_folder)
    return Cached(model, cache_folder if settings.cache else None)
