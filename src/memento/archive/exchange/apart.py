"""
What an export needs to go on by itself: the store as it was at one instant, and a thread that reads it.

*Because:* the engine's iterators live and die in the thread that made them, and a web server reads and drops an answer in any. As
the store is a copy, by hard links, an export holds up nobody: not who writes, and not who puts a backup in the store's place.
"""

from __future__ import annotations

import os
import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from shutil import rmtree
from uuid import uuid4

from memento.backends import Backends
from memento.errors import GraphError, MementoError
from memento.graph.exact import Exact

_WAITING = 8  # pieces that are made before anybody reads them


class Snapshot:
    """The store as it is now, in a folder that goes when this object goes; nobody may write while it is made."""

    def __init__(self, parts: Backends) -> None:
        """Raises `GraphError` when there is no room for it."""
        self._live = Exact(parts.graph)
        if self._live.is_on_disk:
            for left in parts.datadir.path.glob("export-*"):
                if not left.name.startswith(f"export-{os.getpid()}-"):  # of a process that was killed
                    rmtree(left, ignore_errors=True)
            self._folder = parts.datadir.path / f"export-{os.getpid()}-{uuid4().hex}"
            self._live.backup(self._folder)
            weakref.finalize(self, rmtree, self._folder, ignore_errors=True)

    def opened(self) -> Exact:
        """The snapshot, to be read by this thread; what is in memory is as it is now."""
        return Exact.read_only(self._folder) if self._live.is_on_disk else self._live


def apart(make: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """
    The pieces that `make` gives, made and let go of in a thread of their own, whoever reads them and however far.

    Raises:
        MementoError: as the pieces.
    """
    ready: queue.Queue[bytes | MementoError | None] = queue.Queue(_WAITING)
    stopped = threading.Event()

    def put(one: bytes | MementoError | None) -> bool:
        while not stopped.is_set():
            try:
                ready.put(one, timeout=0.2)
                return True
            except queue.Full:
                continue
        return False

    def run() -> None:
        try:
            for piece in make():
                if not put(piece):
                    return
            put(None)
        except MementoError as error:
            put(type(error)(*error.args))  # without the frames of this thread, which hold what must die here
        except Exception as error:
            put(GraphError(f"the export broke off: {type(error).__name__}: {error}"))

    threading.Thread(target=run, name="export", daemon=True).start()
    try:
        while (piece := ready.get()) is not None:
            if isinstance(piece, MementoError):
                raise piece
            yield piece
    finally:
        stopped.set()
