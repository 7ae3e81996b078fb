"""
Snapshots of a store: its owner takes them beside it, the workers that evaluate SPARQL of users open them, and they are deleted when
no longer needed.

*Guarantees:* a snapshot has every write that was acknowledged before it was requested. A new one is taken only after the store has
changed. `drop` removes all of them, so that none keeps erased data; so do the end of the process and the next start.

For a store behind an endpoint they are copies of the requested graphs.

*But:* a snapshot is hard links to the store's own files. It takes milliseconds, and shares with them the text that the engine
keeps in its files until they are rewritten (`oxigraph.rewrite`). A store in memory has no files and so no snapshots.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from memento.errors import GraphError
from memento.graph.store import Store


class Snapshots:
    """The snapshots of one store, managed by the process that owns the store. Thread-safe."""

    def __init__(self, graph: Store, folder: Path) -> None:
        """
        Args:
            folder: where snapshots are created, on the file system of the store; leftovers of an earlier process are deleted.

        Raises:
            GraphError: the folder cannot be emptied.
        """
        self._graph, self._folder = graph, folder
        self._lock = threading.Lock()
        self.newest: Path | None = None
        """The current snapshot, which may be deleted at any time."""
        self.on_drop: Callable[[], None] = lambda: None
        """Called after `drop`, to end readers that still have one open."""
        self._writes = -1  # the number of writes in the newest one
        self._graphs: Collection[str] | None = None  # its graphs, unless it has all
        self._leases: dict[Path, int] = {}
        self._taken = 0
        delete_snapshots(folder)

    @contextmanager
    def lease(self, *, stale: bool = False, graphs: Collection[str] | None = None) -> Iterator[Path]:
        """
        Lend a folder with everything written before the call, until the end of the block.

        Args:
            stale: whether an older snapshot will do, for callers that do not look at its content.
            graphs: the graphs to read, unless all; the snapshot may have others too.

        Raises:
            GraphError: the store is closed or in memory, or the disk has no room.
        """
        path = self._acquire(stale, None if graphs is None else frozenset(graphs))
        try:
            yield path
        finally:
            self._release(path)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """
        Lend a path beside the snapshots for a copy of one that a worker may write to; it is deleted at the end of the block.

        Raises:
            GraphError: the folder cannot be created.
        """
        with self._lock:
            path = self._new_path()
        try:
            yield path
        finally:
            rmtree(path, ignore_errors=True)

    def drop(self) -> None:
        """Stop using all snapshots; each is deleted at once, or as soon as its last reader has finished."""
        with self._lock:
            self._writes = -1
            self._retire()
        self.on_drop()

    def switch_to(self, graph: Store) -> None:
        """Take snapshots of another store from now on."""
        with self._lock:
            self._graph = graph
        self.drop()

    def close(self) -> None:
        """Delete every snapshot; call it after the workers have ended. Calling it twice is harmless."""
        self.drop()
        delete_snapshots(self._folder)

    def _acquire(self, stale: bool, graphs: frozenset[str] | None) -> Path:
        with self._lock:
            writes = self._graph.writes  # before the backup: concurrent writes may or may not be in it
            is_whole = self._graphs is None or (graphs is not None and graphs.issubset(self._graphs))
            if self.newest is None or ((self._writes != writes or not is_whole) and not stale):
                path = self._new_path()
                self._graphs = self._graph.backup(path, frozenset() if stale else graphs)
                self._retire()
                self.newest, self._writes = path, writes
            self._leases[self.newest] = self._leases.get(self.newest, 0) + 1
            return self.newest

    def _release(self, path: Path) -> None:
        with self._lock:
            self._leases[path] -= 1
            if self._leases[path] == 0 and path != self.newest:
                del self._leases[path]
                rmtree(path, ignore_errors=True)

    def _retire(self) -> None:
        old, self.newest = self.newest, None
        if old is not None and not self._leases.get(old):
            self._leases.pop(old, None)
            rmtree(old, ignore_errors=True)

    def _new_path(self) -> Path:
        self._taken += 1
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise GraphError(f"{self._folder} cannot hold a snapshot: {error.strerror}") from error
        return self._folder / str(self._taken)


def delete_snapshots(folder: Path) -> None:
    """Delete the snapshots in a folder; raise `GraphError` if that fails."""
    try:
        rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise GraphError(f"{folder} holds snapshots that cannot be deleted: {error.strerror}") from error
