"""
Memento: a memory service for LLM agents whose memory is an RDF graph.

    from memento import open_memento
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from memento.assets import VERSION as __version__

__all__ = [
    "Client",
    "Memento",
    "MementoError",
    "Noted",
    "Recollection",
    "Settings",
    "__version__",
    "open_memento",
    "restore_folder",
]

if TYPE_CHECKING:
    from memento.errors import MementoError
    from memento.model import Noted, Recollection
    from memento.python import Client, Memento, open_memento, restore_folder
    from memento.settings import Settings

_HOMES = {"MementoError": "errors", "Noted": "model", "Recollection": "model", "Settings": "settings"}


def __getattr__(name: str) -> Any:
    # The service brings the store and numpy with it: `memento --help` must not wait for them.
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"memento.{_HOMES.get(name, 'python')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Give the cell magic `%%sparql`: what `%load_ext memento` does."""
    from memento.interfaces.notebook import load_extension

    load_extension(shell)


if "IPython" in sys.modules:  # a notebook: what comes back shows as tables
    from memento.interfaces.notebook import attach

    attach()
