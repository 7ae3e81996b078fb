"""
Memento as a Python object: one method for each operation.

    with open_memento() as memento:
        memento.note("I work at Google as of today.")
        memento.recall("Where do I work?").memories[0].content

*Guarantees:* a note is written whole or not at all; when a call returns, what it wrote survives the death of the process
and is seen by the next recall. Methods may be called from many threads; writes are made one after the other.

*But:* one process owns a data folder. Where a service owns it already, `open_memento` returns a `Client` with the same methods.
"""

from memento.python.client import Client
from memento.python.memento import Memento, open_memento
from memento.python.memory import Memory
from memento.service import restore_folder

__all__ = ["Client", "Memento", "Memory", "open_memento", "restore_folder"]
