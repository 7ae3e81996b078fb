"""
Memento as a Python object: one method for each operation.

    with open_memento() as memento:
        memento.note("I work at Google as of today.")
        memento.recall("Where do I work?").memories[0].content

*Guarantees:* a note is written completely or not at all. When a call returns, its write survives a crash of the process, and the
next recall finds it. Methods may be called from many threads; writes run one after the other.

*But:* only one process can own a data folder. If a service owns it, `open_memento` returns a `Client` with the same methods.
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
    # The service imports the store and numpy: a command that talks to a running service must not wait for them.
    if name in ("Memento", "open_memento"):
        from memento.python import memento

        return getattr(memento, name)
    if name == "restore_folder":
        from memento import service

        return service.restore_folder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
