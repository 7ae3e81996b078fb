"""Snapshots of a store: taken beside it, opened by the worker that evaluates foreign SPARQL, and gone when nobody needs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Snapshots:
    """The snapshots of one store, owned by the process that owns the store."""

    @contextmanager
    def lease(self) -> Iterator[Path]:
        """A folder that holds all that was written before the call, to be opened read-only until the end of the block."""
        raise NotImplementedError

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """The same as a folder of one's own, to be opened for writing; it is deleted at the end of the block."""
        raise NotImplementedError

    def drop(self) -> None:
        """Delete every snapshot, as what they hold is erased; calling it twice is harmless."""
        raise NotImplementedError
