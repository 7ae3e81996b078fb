"""
Memento as a Python object: one method for each thing one can ask.

    with open_memento() as memento:
        memento.note("I work at Google as of today.")
        memento.recall("Where do I work?").memories[0].content

*Guarantees:* a note is written whole or not at all; when a call returns, what it wrote survives the death of the process
and is seen by the next recall. Methods may be called from many threads; writes are made one after the other.

*But:* one process owns a data folder. Where a service owns it already, `open_memento` returns a `Client` with the same methods.
"""

from memento.service.memento import Memento
from memento.service.opening import open_memento, restored

__all__ = ["Memento", "open_memento", "restored"]
