"""
Memento: a memory service for LLM agents whose memory is an RDF graph.

    from memento import open_memento
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Memento", "__version__", "open_memento"]

if TYPE_CHECKING:
    from memento.service import Memento, open_memento


def __getattr__(name: str) -> Any:
    # The service brings the store and numpy with it: `memento --help` must not wait for them.
    if name in ("Memento", "open_memento"):
        from memento import service

        return getattr(service, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext memento` does: gives the cell magic `%%sparql`."""
    from memento.interfaces.notebook.magic import load

    load(shell)
