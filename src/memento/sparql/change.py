"""
Changes to the graphs by somebody else: tried by a worker, held against what the caller may write, and written in one piece.

*Flow:* `guard` reads an update, `operations` cuts it, `plan` names its graphs, a worker tries it on a snapshot
(`graph.trial`, `graph.upload`), and what comes back is looked at here, graph by graph, before whoever owns the store commits it.

*Guarantees:* what is committed was tried on the store as it is: when something else was written meanwhile, it is tried again.
Nothing is written of a change that is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from memento.errors import Forbidden, GraphError, InputError, NotFound, TooLong
from memento.graph.acts import DEFAULT, Clear, Document, Modify, Operation, Terms
from memento.graph.binding import query
from memento.graph.delta import Delta, graph_of, parsed
from memento.graph.oxigraph import Oxigraph
from memento.iris import IRI
from memento.model import Changed, Dataset
from memento.settings import LimitsSettings
from memento.sparql import asking, guard
from memento.sparql.asking import Asked, Visible
from memento.sparql.jobs import Answer, Job, Update, Upload, Waiting
from memento.sparql.operations import operations
from memento.sparql.plan import Using, planned, refused
from memento.sparql.pool import Pool
from memento.sparql.weight import LIKELY, UNKNOWN

MEMORIES = "urn:memento:graph:"
"""How the names of the graphs begin that hold memories: what goes from one is known quad by quad, for the indexes."""
_TRIES = 3
"""How often a change is tried again because something else was written meanwhile; then everybody else waits."""
_SMALL_BYTES = 1_000_000
"""Documents of which it is looked up here what is there already; of larger ones a worker does it, on a fresh snapshot."""
_FEW = 8
"""Operations on given data that most likely end at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Who wants a change: what they may write, whose share of the workers it takes, and how it is committed."""

    dataset: Dataset
    caller: str
    commit: Callable[[Delta], None]
    base: str | None = None
    timeout_s: float | None = None
    waiting: Waiting | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A document as somebody sent it."""

    content: IO[bytes]
    media: str


class GraphStore:
    """The graphs of one store, for whoever may read and write them. May be used from many threads."""

    def __init__(
        self, graph: Oxigraph, pool: Pool, limits: LimitsSettings, writing: AbstractContextManager[object]
    ) -> None:
        """
        Args:
            writing: held by whoever writes to the store.
        """
        self._graph, self._pool, self._limits, self._writing = graph, pool, limits, writing

    @property
    def writes(self) -> int:
        """How many writes there were: what was learned after as many is still true."""
        return self._graph.writes

    def update(self, sparql: str, errand: Errand, using: Using) -> Changed:
        """
        Do what an update says, all of it or nothing.

        Raises:
            InputError: no SPARQL; names line and column.
            Forbidden: LOAD, SERVICE, or a graph that is not the caller's; names it.
            NotFound, Conflict: it takes for granted that there is a graph, or that there is none.
            TooLong: its text, or what it changes, is over a limit; names it.
            Busy, TimedOut, TooMuch: as a query.
            whatever `errand.commit` raises.
        """
        reading = guard.read(sparql, self._limits, is_update=True)
        acts = tuple(planned(operations(sparql, reading.tokens), errand.dataset, using, errand.base))
        if not acts:
            return Changed(added=0, removed=0)
        terms = self._terms(errand, self._limits.update_quads)
        with self._pool.snapshots.scratch() as scratch:
            is_data = all(isinstance(one.act, Modify) and not one.act.where for one in acts)
            job = Update(
                sparql=sparql,
                operations=acts,
                terms=terms,
                scratch=str(scratch),
                is_data=is_data,
                weight=LIKELY if is_data and len(acts) <= _FEW else UNKNOWN,
            )
            return _told(self._stated(job, errand) if is_data else self._changed(job, errand))

    def read(
        self, graph: str | None, dataset: Dataset, *, accept: str, caller: str, waiting: Waiting | None = None
    ) -> Answer:
        """
        All triples of a graph, as they come; None is the default graph.

        Raises:
            NotFound: there is no such graph.
            Forbidden: it is not the caller's, whether it is there or not.
            NotAcceptable: no offered media type fits.
            Busy, TimedOut, TooMuch: as a query.
        """
        name = target(graph, dataset)
        if not dataset.reads(name):
            raise Forbidden(f"the graph <{name}> is not yours to read")
        if graph is not None and not self._graph.has(IRI(name)):
            raise NotFound(f"there is no graph <{name}>")
        only = Visible(default=(IRI(name),), named=()) if name else None
        found = asking.job(Asked(sparql=query("sparql/graph").text, accept=accept), only, self._limits)
        return self._pool.run(found, caller=caller, waiting=waiting)

    def upload(self, documents: Sequence[Sent], graph: str, errand: Errand, *, replaces: bool) -> Changed:
        """
        Put documents into a graph, in the place of what is there or beside it; "" is the default graph. Raises as `update`.
        """
        if not errand.dataset.writes(graph):
            raise refused(graph, errand.dataset)
        is_new = graph != DEFAULT and not self._graph.has(IRI(graph))
        with self._pool.snapshots.scratch() as scratch:
            scratch.mkdir()
            base = graph or errand.base
            files = tuple(self._kept(one, scratch / str(n), base) for n, one in enumerate(documents))
            job = Upload(
                documents=files,
                graph=graph,
                replaces=replaces,
                terms=self._terms(errand, self._limits.graph_quads),
                is_data=not replaces and sum(Path(one.path).stat().st_size for one in files) <= _SMALL_BYTES,
            )
            if job.is_data:
                return _told(self._stated(job, errand), is_new)
            return _told(self._changed(job, replace(errand, commit=self._few(errand.commit))), is_new)

    def drop(self, graph: str, errand: Errand) -> Changed:
        """Take a graph away with all that is in it, or empty the default graph; raises as `update`."""
        if not errand.dataset.writes(graph):
            raise refused(graph, errand.dataset)
        if graph != DEFAULT and not self._graph.has(IRI(graph)):
            raise NotFound(f"there is no graph <{graph}>")
        act = Operation(act=Clear(graph=graph, is_drop=True, is_silent=True), prologue="", text="")
        with self._pool.snapshots.scratch() as scratch:
            terms = self._terms(errand, self._limits.update_quads)
            return _told(self._changed(Update(sparql="", operations=(act,), terms=terms, scratch=str(scratch)), errand))

    def _few(self, commit: Callable[[Delta], None]) -> Callable[[Delta], None]:
        """The same for what is written in one transaction: only what is new alone may be more."""

        def few(delta: Delta) -> None:
            most = self._limits.update_quads
            if delta.removed and delta.removed + delta.added > most:
                raise TooLong(
                    f"the document would change {delta.removed + delta.added} quads of what is there, and at most {most} can be "
                    "(limits.update_quads): DELETE the graph first"
                )
            commit(delta)

        return few

    def _terms(self, errand: Errand, most: int) -> Terms:
        plain = errand.dataset.is_plain
        listed = "" if plain else MEMORIES
        return Terms(base=errand.base, no_blanks=not plain, listed=listed, free=errand.dataset.free, most=most)

    def _kept(self, one: Sent, path: Path, base: str | None) -> Document:
        with path.open("wb") as file:
            copyfileobj(one.content, file)
            if file.tell() > self._limits.graph_bytes:
                raise TooLong(f"a document must have at most {self._limits.graph_bytes} bytes (limits.graph_bytes)")
        return Document(path=str(path), media=one.media, base=base)

    def _changed(self, job: Job, errand: Errand) -> Delta:
        for _ in range(_TRIES):
            writes = self._graph.writes
            delta = self._tried(job, errand)
            if delta.is_empty:
                return delta
            with self._writing:
                if self._graph.writes == writes:
                    errand.commit(delta)
                    return delta
        with self._writing:
            delta = self._tried(job, errand)
            if not delta.is_empty:
                errand.commit(delta)
            return delta

    def _stated(self, job: Job, errand: Errand) -> Delta:
        """Given data, of which it only matters when they are written what is there already."""
        delta = self._tried(job, errand)
        with self._writing:
            delta = self._graph.exact(delta)
            if not delta.is_empty:
                errand.commit(delta)
        return delta

    def _tried(self, job: Job, errand: Errand) -> Delta:
        answer = self._pool.run(job, caller=errand.caller, timeout_s=errand.timeout_s, waiting=errand.waiting)
        try:
            delta = Delta.unpacked(b"".join(answer.chunks))
        finally:
            answer.close()
        if not errand.dataset.is_plain:
            quads = (graph_of(quad) for side in (delta.removes, delta.adds) for quad in parsed(side))
            changed = {*quads, *delta.cleared, *delta.dropped, *delta.created}
            for graph in sorted({*changed, *delta.touched}):
                if not errand.dataset.writes(graph):
                    raise refused(graph, errand.dataset)
            if not changed <= set(delta.touched):
                raise GraphError("a worker did not name every graph that it would change")
            self._not_too_many(changed - {*delta.dropped}, errand.dataset)
        return delta

    def _not_too_many(self, graphs: Collection[str], dataset: Dataset) -> None:
        """Raises `TooLong` when a tenant would have more graphs than it may."""
        fresh = [graph for graph in graphs if not self._graph.has(IRI(graph))]
        if fresh and len(fresh) + sum(map(dataset.writes, self._graph.graphs())) > self._limits.graphs:
            raise TooLong(f"a tenant may have at most {self._limits.graphs} graphs (limits.graphs): DROP some")


def target(graph: str | None, dataset: Dataset, *, empties: bool = False) -> str:
    """
    The graph that somebody means; None is the default graph.

    Raises:
        Forbidden: the default graph would be emptied, and holds memories.
        InputError: a name that is no IRI.
    """
    if graph is None:
        if empties and not dataset.is_plain:
            raise Forbidden(
                f"the default graph is the memories of a namespace, which are not emptied unnamed: name <{dataset.into}>"
            )
        return dataset.into or DEFAULT
    if not is_absolute(graph) or not graph.isprintable() or any(sign in graph for sign in ' <>"{}|\\^`'):
        raise InputError(
            f"{graph[:80]!r} is no IRI of a graph: give an absolute one such as urn:memento:data:local:company"
        )
    return graph


def is_absolute(name: str) -> bool:
    """Whether a name begins as an absolute IRI does."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:", name) is not None


def _told(delta: Delta, is_new: bool = False) -> Changed:
    graphs = tuple(IRI(graph) for graph in delta.touched if graph)
    return Changed(added=delta.added, removed=delta.removed, graphs=graphs, is_new=is_new)
