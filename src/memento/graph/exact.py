"""
The embedded store's quads to the letter: as values they would lose languages, datatypes and blank nodes.

*But:* for this process's own store; one that is connected has an export of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pyoxigraph as ox

from memento.errors import Damaged, GraphError
from memento.graph import damage
from memento.graph.oxigraph import Oxigraph
from memento.iris import IRI
from memento.ports import Graph


class Exact:
    """The same store as a `Graph`, seen by its quads."""

    def __init__(self, graph: Graph) -> None:
        """Raises `GraphError` when the store is not embedded."""
        if not isinstance(graph, Oxigraph):
            raise GraphError("this takes the embedded store: use the export of the store that you connected")
        self._graph: Oxigraph | None = graph
        self._alone: ox.Store | None = None
        self.is_on_disk = graph._in_folder

    @classmethod
    def read_only(cls, folder: Path) -> Self:
        """A store that nobody has open, to be read alone; raises `GraphError` when it cannot be opened."""
        found = cls.__new__(cls)
        with failures():
            found._graph, found._alone, found.is_on_disk = None, ox.Store.read_only(str(folder)), True
        return found

    @property
    def _store(self) -> ox.Store:
        """The engine, asked for anew each time: whoever keeps it keeps the folder from being let go of."""
        if self._alone is not None:
            return self._alone
        assert self._graph is not None
        return self._graph._store  # of this room

    def statements(self, graph: IRI, subject: IRI | None = None) -> Iterator[ox.Quad]:
        """
        The quads of a named graph, or of one subject in it; those of one subject together. What is written after this call is
        not among them.
        """
        with failures():
            node = None if subject is None else node_of(subject)
            found = self._store.quads_for_pattern(node, None, None, ox.NamedNode(graph))
        return _each(found)

    def is_elsewhere(self, subject: IRI, graph: IRI, begins: tuple[str, ...]) -> bool:
        """Whether another graph, of those whose names begin so, says something of a subject."""
        with failures():
            names = (
                getattr(one.graph_name, "value", "")
                for one in self._store.quads_for_pattern(node_of(subject), None, None)
            )
            return any(name != graph and name.startswith(begins) for name in names)

    def pointing(self, node: IRI, predicate: ox.NamedNode, graphs: Iterable[IRI]) -> Iterator[ox.Quad]:
        """The quads of some graphs that point at a node along a predicate."""
        with failures():
            for graph in graphs:
                yield from self._store.quads_for_pattern(None, predicate, node_of(node), ox.NamedNode(graph))

    def holds(self, quad: ox.Quad) -> bool:
        """Whether the quad is in the store."""
        with failures():
            return quad in self._store

    def has_another(self, quad: ox.Quad) -> bool:
        """Whether the store has a value for the quad's subject and predicate in its graph, and it is not this one."""
        with failures():
            said = self._store.quads_for_pattern(quad.subject, quad.predicate, None, quad.graph_name)
            return any(True for _ in said) and quad not in self._store

    def extend(self, quads: Iterable[ox.Quad], subjects: Sequence[IRI], *, many: bool = False) -> None:
        """See `Oxigraph.extend`."""
        if self._graph is None:
            raise GraphError("this store was opened to be read alone")
        self._graph.extend(quads, subjects, many=many)

    def backup(self, folder: Path) -> None:
        """
        Put the store as it is now into a folder that is not there yet: in milliseconds on the same disk, by hard links.

        Raises:
            GraphError: the folder is there, or the disk has no room.
        """
        with failures():
            self._store.backup(folder)

    def copy(self, folder: Path) -> None:
        """Write the quads as they are now into a new store, with nothing else in its files; some ten seconds for a million."""
        with failures():
            target = ox.Store(folder)
            target.bulk_extend(self._store)
            target.flush()


def counted(folder: Path) -> int:
    """How many quads a store has that nobody has open; its files stay as they are."""
    with failures():
        return len(ox.Store.read_only(str(folder)))


def until_released(folder: Path, *, wait_s: float) -> None:
    """
    Wait until this process has let go of a store that was closed: what is still read from it holds it open.

    Raises:
        GraphError: it took longer.
    """
    last = time.monotonic() + wait_s
    while (folder / "LOCK").exists():  # else the engine would begin a store there
        try:
            ox.Store(folder)
            return
        except (OSError, RuntimeError) as error:
            if isinstance(damage.opening(folder, error), Damaged):
                return  # nobody holds it: whoever opens it next is told
            if time.monotonic() > last:
                raise GraphError(f"the store is still being read: {error}") from error
            time.sleep(0.02)


@contextmanager
def failures() -> Iterator[None]:
    """The engine signals with Python's own exceptions; none of them leaves this room."""
    try:
        yield
    except (SyntaxError, OSError, RuntimeError, ValueError) as error:
        raise damage.met(error, "") from error


def _each(found: Iterator[ox.Quad]) -> Iterator[ox.Quad]:
    with failures():
        yield from found


def node_of(name: str) -> ox.NamedNode | ox.BlankNode:
    """A subject by its name."""
    return ox.BlankNode(name[2:]) if name.startswith("_:") else ox.NamedNode(name)
