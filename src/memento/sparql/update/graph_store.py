"""
Changes to the graphs by somebody else: tried by a worker, held against what the caller may write, and written in one piece.

*Flow:* `query.guard` reads an update, `parse` cuts it and names its graphs, a worker tries it on a snapshot (`trial`), and what
comes back is looked at here, graph by graph, before whoever owns the store commits it.

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
from memento.graph.binding import load_query
from memento.graph.delta import DEFAULT, Delta, graph_of, parse_quads
from memento.graph.store import Store
from memento.iris import IRI
from memento.model import Changed, Dataset
from memento.settings import LimitsSettings
from memento.sparql.query import guard
from memento.sparql.query import prepare as asking
from memento.sparql.query.prepare import QueryRequest, VisibleGraphs
from memento.sparql.update.parse import Using, parse_operations, plan_operations, refuse_write
from memento.sparql.worker.jobs import (
    LIKELY,
    UNKNOWN,
    Answer,
    Clear,
    Document,
    Job,
    Modify,
    Operation,
    TrialOptions,
    Update,
    Upload,
    WaitingClient,
)
from memento.sparql.worker.pool import Pool

MEMORIES = "urn:memento:graph:"
"""How the names of the graphs begin that hold memories: what goes from one is known quad by quad, for the indexes."""
_TRIES = 3
"""How often a change is tried again because something else was written meanwhile; then everybody else waits."""
_SMALL_BYTES = 1_000_000
"""Documents of which it is looked up here what is there already; of larger ones a worker does it, on a fresh snapshot."""
_FEW = 8
"""Operations on given data that most likely end at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest:
    """Who wants a change: what they may write, whose share of the workers it takes, and how it is committed."""

    dataset: Dataset
    caller: str
    commit: Callable[[Delta], None]
    base: str | None = None
    timeout_s: float | None = None
    waiting: WaitingClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SentDocument:
    """A document as somebody sent it."""

    content: IO[bytes]
    media: str


class GraphStore:
    """The graphs of one store, for whoever may read and write them. May be used from many threads."""

    def __init__(
        self, graph: Store, pool: Pool, limits: LimitsSettings, writing: AbstractContextManager[object]
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

    def update(self, sparql: str, request: WriteRequest, using: Using) -> Changed:
        """
        Do what an update says, all of it or nothing.

        Raises:
            InputError: no SPARQL; names line and column.
            Forbidden: LOAD, SERVICE, or a graph that is not the caller's; names it.
            NotFound, Conflict: it takes for granted that there is a graph, or that there is none.
            TooLong: its text, or what it changes, is over a limit; names it.
            Busy, TimedOut, TooMuch: as a query.
            whatever `request.commit` raises.
        """
        reading = guard.read_sparql(sparql, self._limits, is_update=True)
        acts = tuple(plan_operations(parse_operations(sparql, reading.tokens), request.dataset, using, request.base))
        if not acts:
            return Changed(added=0, removed=0)
        options = self._trial_options(request, self._limits.update_quads)
        with self._pool.snapshots.scratch() as scratch:
            is_data = all(isinstance(one.act, Modify) and not one.act.where for one in acts)
            job = Update(
                sparql=sparql,
                operations=acts,
                options=options,
                scratch=str(scratch),
                is_data=is_data,
                cost=LIKELY if is_data and len(acts) <= _FEW else UNKNOWN,
            )
            return _summarise(self._commit_data(job, request) if is_data else self._try_and_commit(job, request))

    def read(
        self, graph: str | None, dataset: Dataset, *, accept: str, caller: str, waiting: WaitingClient | None = None
    ) -> Answer:
        """
        Answer with all triples of a graph, as they come; None is the default graph.

        Raises:
            NotFound: there is no such graph.
            Forbidden: it is not the caller's, whether it is there or not.
            NotAcceptable: no offered media type fits.
            Busy, TimedOut, TooMuch: as a query.
        """
        name = resolve_target(graph, dataset)
        if not dataset.reads(name):
            raise Forbidden(f"the graph <{name}> is not yours to read")
        if graph is not None and not self._graph.has(IRI(name)):
            raise NotFound(f"there is no graph <{name}>")
        only = VisibleGraphs(default=(IRI(name),), named=()) if name else None
        job = asking.prepare_query(
            QueryRequest(sparql=load_query("sparql/graph").text, accept=accept), only, self._limits
        )
        return self._pool.run(job, caller=caller, waiting=waiting)

    def upload(
        self, documents: Sequence[SentDocument], graph: str, request: WriteRequest, *, replaces: bool
    ) -> Changed:
        """
        Put documents into a graph, in the place of what is there or beside it; "" is the default graph. Raises as `update`.
        """
        if not request.dataset.writes(graph):
            raise refuse_write(graph, request.dataset)
        is_new = graph != DEFAULT and not self._graph.has(IRI(graph))
        with self._pool.snapshots.scratch() as scratch:
            scratch.mkdir()
            base = graph or request.base
            files = tuple(self._save_document(one, scratch / str(n), base) for n, one in enumerate(documents))
            job = Upload(
                documents=files,
                graph=graph,
                replaces=replaces,
                options=self._trial_options(request, self._limits.graph_quads),
                is_data=not replaces and sum(Path(one.path).stat().st_size for one in files) <= _SMALL_BYTES,
            )
            if job.is_data:
                return _summarise(self._commit_data(job, request), is_new)
            return _summarise(
                self._try_and_commit(job, replace(request, commit=self._limit_commit(request.commit))), is_new
            )

    def drop(self, graph: str, request: WriteRequest) -> Changed:
        """Take a graph away with all that is in it, or empty the default graph; raises as `update`."""
        if not request.dataset.writes(graph):
            raise refuse_write(graph, request.dataset)
        if graph != DEFAULT and not self._graph.has(IRI(graph)):
            raise NotFound(f"there is no graph <{graph}>")
        act = Operation(act=Clear(graph=graph, is_drop=True, is_silent=True), prologue="", text="")
        with self._pool.snapshots.scratch() as scratch:
            options = self._trial_options(request, self._limits.update_quads)
            return _summarise(
                self._try_and_commit(
                    Update(sparql="", operations=(act,), options=options, scratch=str(scratch)), request
                )
            )

    def _limit_commit(self, commit: Callable[[Delta], None]) -> Callable[[Delta], None]:
        """Limit a commit to what is written in one transaction: only what is new alone may be more."""

        def few(delta: Delta) -> None:
            most = self._limits.update_quads
            if delta.removed and delta.removed + delta.added > most:
                raise TooLong(
                    f"the document would change {delta.removed + delta.added} quads of what is there, and at most {most} can be "
                    "(limits.update_quads): DELETE the graph first"
                )
            commit(delta)

        return few

    def _trial_options(self, request: WriteRequest, most: int) -> TrialOptions:
        plain = request.dataset.is_plain
        listed = "" if plain else MEMORIES
        return TrialOptions(base=request.base, no_blanks=not plain, listed=listed, free=request.dataset.free, most=most)

    def _save_document(self, document: SentDocument, path: Path, base: str | None) -> Document:
        with path.open("wb") as file:
            copyfileobj(document.content, file)
            if file.tell() > self._limits.graph_bytes:
                raise TooLong(f"a document must have at most {self._limits.graph_bytes} bytes (limits.graph_bytes)")
        return Document(path=str(path), media=document.media, base=base)

    def _try_and_commit(self, job: Job, request: WriteRequest) -> Delta:
        for _ in range(_TRIES):
            writes = self._graph.writes
            delta = self._try_job(job, request)
            if delta.is_empty:
                return delta
            with self._writing:
                if self._graph.writes == writes:
                    request.commit(delta)
                    return delta
        with self._writing:
            delta = self._try_job(job, request)
            if not delta.is_empty:
                request.commit(delta)
            return delta

    def _commit_data(self, job: Job, request: WriteRequest) -> Delta:
        """Given data, of which it only matters when they are written what is there already."""
        delta = self._try_job(job, request)
        with self._writing:
            delta = self._graph.minimise_delta(delta)
            if not delta.is_empty:
                request.commit(delta)
        return delta

    def _try_job(self, job: Job, request: WriteRequest) -> Delta:
        answer = self._pool.run(job, caller=request.caller, timeout_s=request.timeout_s, waiting=request.waiting)
        try:
            delta = Delta.unpack(b"".join(answer.chunks))
        finally:
            answer.close()
        if not request.dataset.is_plain:
            quads = (graph_of(quad) for side in (delta.removes, delta.adds) for quad in parse_quads(side))
            changed = {*quads, *delta.cleared, *delta.dropped, *delta.created}
            for graph in sorted({*changed, *delta.touched}):
                if not request.dataset.writes(graph):
                    raise refuse_write(graph, request.dataset)
            if not changed <= set(delta.touched):
                raise GraphError("a worker did not name every graph that it would change")
            self._raise_if_too_many_graphs(changed - {*delta.dropped}, request.dataset)
        return delta

    def _raise_if_too_many_graphs(self, graphs: Collection[str], dataset: Dataset) -> None:
        """Raises `TooLong` when a tenant would have more graphs than it may."""
        fresh = [graph for graph in graphs if not self._graph.has(IRI(graph))]
        if fresh and len(fresh) + sum(map(dataset.writes, self._graph.graphs())) > self._limits.graphs:
            raise TooLong(f"a tenant may have at most {self._limits.graphs} graphs (limits.graphs): DROP some")


def resolve_target(graph: str | None, dataset: Dataset, *, empties: bool = False) -> str:
    """
    Return the name of the graph that somebody means; None is the default graph.

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
    """Tell whether a name begins as an absolute IRI does."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:", name) is not None


def _summarise(delta: Delta, is_new: bool = False) -> Changed:
    graphs = tuple(IRI(graph) for graph in delta.touched if graph)
    return Changed(added=delta.added, removed=delta.removed, graphs=graphs, is_new=is_new)
