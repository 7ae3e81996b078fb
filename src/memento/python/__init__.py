"""
Memento as a Python object: one method for each operation.

    with open_memento() as memento:
        memento.note("I work at Google as of today.")
        memento.recall("Where do I work?").memories[0].content

*Guarantees:* a note is written whole or not at all; when a call returns, what it wrote survives the death of the process
and is seen by the next recall. Methods may be called from many threads; writes are made one after the other.

*But:* one process owns a data folder. Where a service owns it already, `open_memento` returns a `Client` with the same methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memento.python.client import Client
from memento.python.memory import Memory, MemoryTool

__all__ = ["Client", "Memento", "Memory", "MemoryTool", "open_memento", "restore_folder"]

if TYPE_CHECKING:
    from memento.python.memento import Memento, open_memento
    from memento.service import restore_folder


def __getattr__(name: str) -> Any:
    # The service brings the store and numpy with it: a command that asks a running one must not wait for them.
    if name in ("Memento", "open_memento"):
        from memento.python import memento

        return getattr(memento, name)
    if name == "restore_folder":
        from memento import service

        return service.restore_folder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
