"""
What every handler receives: the service of one data folder, and the caller.

A `Service` is what all callers share: the data folder, the stores, the locks, the background work. A `Context` is one caller's view
of it; it exists for one request.

*Guarantees:* every handler that reads or writes a namespace gets it from `Context.scope`, which checks the caller's rights, so that
no interface can forget the check.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast
from zoneinfo import ZoneInfo

from msgspec import json as msgspec_json
from msgspec import structs

from memento import plugin, telemetry
from memento.access import OWNER, Access, Right, Tokens
from memento.archive.cases import drop_weights
from memento.archive.check import Watch, explain_failure
from memento.archive.read import resolve_subject
from memento.backends import Backends
from memento.consolidation.agents import Agents
from memento.consolidation.amend import Rewrite
from memento.consolidation.rules import RuleAgents
from memento.datadir import DataFolder
from memento.errors import (
    Forbidden,
    GraphError,
    InputError,
    NotAnIri,
    NotFound,
    Overloaded,
    ReadOnly,
    TooLong,
)
from memento.graph.inferences import Premises, ReadPremises
from memento.intake.capture import Journal
from memento.intake.redaction import Redaction, Redactor, describe_counts
from memento.iris import (
    GLOBAL,
    IRI,
    ONTOLOGY,
    audit_iri,
    branch_prefix,
    cases_iri,
    check_namespace,
    data_name,
    graph_iri,
    namespace_of,
    provenance_iri,
    tag_iri,
)
from memento.manifest import Maps
from memento.model import Change, Degraded, Filter, Recollection, Scope
from memento.operations import PLUGGED, Operation, check_fields, name_of
from memento.operations.base import FILTERS, Filtered, list_iri_fields, read_items
from memento.operations.capture import Capture
from memento.overview import Profiles
from memento.ports import Progress, Vectors
from memento.search.nodes import milliseconds
from memento.search.reranker import Reranker
from memento.service.audit import ReadLog
from memento.settings import AnswersSettings, Settings, resolve_namespace
from memento.sparql.description import Statistics
from memento.sparql.federation import Endpoints
from memento.sparql.pool import Pool
from memento.sparql.prepare import VisibleGraphs
from memento.strength import Reinforcement
from memento.text.sentences import drop_controls
from memento.time import instant, now
from memento.worker import CALLER, Turns, Worker

if TYPE_CHECKING:
    from memento.consolidation.models import Models


_READERS = max(2, min(4, os.cpu_count() or 2))
"""Notes that are read by rules at once; one place is for short ones."""


class Service:
    """The state that all callers of one data folder share. May be used from many threads."""

    def __init__(
        self,
        datadir: DataFolder,
        stores: Backends,
        scope: Scope,
        settings: Settings,
        *,
        consolidate: Callable[[Service], float | None],
        read: Callable[[Service], float | None],
        checkpoint: Callable[[Service], float | None],
        mend: Callable[[Service], float | None],
        capture: Callable[[Service], float | None],
    ) -> None:
        """
        Args:
            scope: the namespace of notes and recalls whose call names none.
            consolidate, read, checkpoint, mend, capture: the background work; each returns the seconds until it wants to be called
                again.
        """
        self.datadir = datadir
        self.settings = settings
        self.stores = stores
        self.default_scope = scope
        self.tokens = Tokens(datadir.tokens, datadir.vault)
        self.redactor = Redactor(settings.redaction, datadir.redactions)
        self.zone = ZoneInfo(settings.consolidation.time_zone)
        self.new_rules = partial(RuleAgents, settings.consolidation.time_zone)
        """Creates the rules that understand one note."""
        self.models = _open_models(settings, self.new_rules)
        self.new_agents: Callable[[], Agents] = self.models or self.new_rules
        self.importing = threading.Lock()
        """Lock for importing, exporting or replacing a whole memory; acquired before all other locks."""
        self.reading_notes = Turns("a process that reads notes", _READERS, reserved=1)
        """The places for reading notes by rules, before anything is compared; acquired before all other locks."""
        self.understanding = Turns("the turn to write")
        """Held while a note is being compared and written; acquired before `writing`, never after it."""
        self.writing = stores.make_lock()
        """The lock of all who write; whoever has it has seen what others have written to a store that they share."""
        self.writers = Writers(settings.limits.writers)
        self.watch = Watch(stores, settings, lambda: self.models.rest_s if self.models else 0.0)
        self.closing = threading.Event()
        """Set when the service is being closed: long work stops at its next step."""
        self.put_off: set[IRI] = set()
        """The notes that this process has postponed: a new process tries them at once, even if an earlier one postponed them."""
        self.reinforcement = Reinforcement(stores, self.writing)
        self._kept: dict[Callable[..., Any], Any] = {}
        self._keeping = threading.RLock()  # what is made may keep another
        self.maps = Maps(stores, settings.manifest)
        self.profiles = Profiles(stores, self.writing)
        self.workers = Pool(stores.snapshots, settings.sparql)
        self.statistics = Statistics(self.workers)
        self.endpoints = Endpoints.from_settings(settings.sparql)
        self.graph_names = GraphNames(stores)
        self.reranker = Reranker(settings.rerank)
        self.answers = AnswerCache(stores, settings.answers)
        stores.change_listeners.append(lambda change: drop_weights(change, datadir))
        self.case_reads = ReadLog(stores, self.writing)
        self.opened_at = now()
        self.checkpointed_writes = -1
        """The number of writes that the last checkpoint contains."""
        self.consolidator = Worker(lambda: consolidate(self), "consolidation")
        self.reader = Worker(lambda: read(self), "claims")
        self.imported_at = float("-inf")
        """When a text that is kept as it is was last written, by `time.monotonic`."""
        self.checkpointer = Worker(lambda: checkpoint(self), "checkpoints")
        self.mender = Worker(lambda: mend(self), "mending")
        self.journal = Journal(datadir.captures, settings.capture.most)
        self.capturer = Worker(lambda: capture(self), "capture")
        stores.graph.on_failure = self.mender.wake

    def keep(self, kind: Callable[..., T], make: Callable[[], T] | None = None) -> T:
        """
        Return the one object of a class that a plug-in keeps while this service is open.

        Args:
            make: makes it when it is first needed; default the class without arguments. Its method `close`, if it has one, is
                called when the service is closed, before the store is.
        """
        with self._keeping:
            if kind not in self._kept:
                self._kept[kind] = (make or kind)()
            return cast(T, self._kept[kind])

    def close_kept(self) -> None:
        """Close what plug-ins keep."""
        for kept in self._kept.values():
            if close := getattr(kept, "close", None):
                close()

    @property
    def degraded(self) -> Degraded | None:
        """
        Why the store is read-only and the time of the backup that is read, if the store cannot be opened; None when all is well.
        """
        return self.stores.degraded

    def context(self, access: Access = OWNER, progress: Progress | None = None) -> Context:
        """
        Return the memory as a caller may use it: their tenant, their namespaces and rights; with all that other nodes wrote.
        """
        self.stores.refresh()
        return Context(self, access, progress)


_END = re.compile(r"[0-9a-f][0-9a-f-]{3,34}[0-9a-f]")
"""The end of an IRI that Memento created: five characters at least."""


@dataclass(frozen=True, slots=True)
class Context:
    """One caller's view of a service. `progress` is called with (done, total) as long work goes on."""

    service: Service
    access: Access = OWNER
    progress: Progress | None = None
    notices: list[str] = field(default_factory=list, compare=False)
    """A notice for the caller, for answers that have no field `notice`."""

    @property
    def settings(self) -> Settings:
        """Return the settings in force."""
        return self.service.settings

    @property
    def stores(self) -> Backends:
        """Return the graph, the indexes and the embedder."""
        return self.service.stores

    def scope(self, namespace: str | None, right: Right = "read") -> Scope:
        """
        Return the scope that a call reads and writes.

        Raises:
            Forbidden: the caller lacks the right, or has no access to the namespace.
            InputError: the name cannot be a namespace.
            ReadOnly: it is a write, and a backup is read in place of the store.
        """
        self.access.needs(right)
        if right != "read":
            self.require_writable()
        scope = self._locate(namespace)
        if right != "read":
            self.service.maps.count_write(scope)
        return scope

    def _locate(self, namespace: str | None) -> Scope:
        chosen = self.access.namespace(namespace, self.service.default_scope.namespace)
        return Scope(
            self.access.tenant,
            check_namespace(chosen),
            with_main=self.access.sees("main"),
            with_global=self.access.sees(GLOBAL) and self.stores.indexes.knows(graph_iri(self.access.tenant, GLOBAL)),
            with_self=not self.access.namespaces,
            free=self.access.readable_free_graphs,
        )

    def list_read_graphs(self, operation: Operation[Any]) -> Sequence[IRI]:
        """Return the graphs of memories that an operation reads."""
        scope = self._locate(operation.namespace)
        return (self.widen(scope) if getattr(operation, "everywhere", False) else scope).memory_graphs

    def widen(self, scope: Scope) -> Scope:
        """Return a scope that reads every namespace of the tenant that the caller may read."""
        names = self.service.graph_names.list_namespaces(scope.tenant)
        return replace(scope, others=tuple(name for name in names if self.access.sees(name)))

    def begin_redaction(self, namespace: str | None, *, is_question: bool = False) -> Redaction:
        """Return what redacts the secrets in the texts of one call; `is_question` if nothing of them is stored."""
        return Redaction(self.service.redactor, lambda: self._locate(namespace), is_question=is_question)

    def redact_question(self, question: T, namespace: str | None) -> T:
        """Return a question, or an operation with one, without its secrets: they are not needed to answer it."""
        redaction = self.begin_redaction(namespace, is_question=True)
        redacted = redaction.redact(question)
        redaction.close()
        return redacted

    def require_writable(self) -> None:
        """Raise `ReadOnly` while a backup is read in place of the store, and `GraphError` while the store cannot write files."""
        if self.stores.degraded:
            raise ReadOnly(self.stores.degraded.brief)
        if self.stores.graph.failure:
            raise GraphError(explain_failure(self.stores.graph))

    def require_files(self) -> None:
        """Raise `InputError` if the store has no files here to copy or replace, such as one behind an endpoint."""
        if not self.stores.graph.is_on_disk:
            raise InputError(
                "the store is behind an endpoint (store.kind = sparql): use the backups of its engine, or `memento export` and "
                "`memento import`; to change the embedder, set it on each node and restart the node"
            )

    def require_owner(self, why: str = "this concerns the whole data folder") -> None:
        """Raise `Forbidden` unless the caller may manage the whole folder, including the memories of other tenants."""
        if not self.access.may("admin"):
            raise Forbidden(f"{why}: it takes a token with the right to admin")
        if self.access.tenant != OWNER.tenant or self.access.namespaces:
            raise Forbidden(f"{why}: it takes a token of the tenant {OWNER.tenant!r} for all namespaces")

    def require_own_machine(self, why: str) -> None:
        """Raise `Forbidden` unless the caller has the owner's access: a program of this machine that needs no token."""
        if self.access != OWNER:
            raise Forbidden(f"{why}: only the owner's programs on the machine of the memory may do this")

    def owns_folder(self) -> bool:
        """Tell whether the caller may manage the whole folder."""
        try:
            self.require_owner()
        except Forbidden:
            return False
        return True

    def require_text(self, text: object, name: str) -> None:
        """Raise `InputError` or `TooLong` if an argument is no usable text; `name` is its name in the error."""
        if not isinstance(text, str):
            raise InputError(f"{name} must be text, not {type(text).__name__}")
        if not drop_controls(text).strip():
            raise InputError(f"{name} must not be empty")
        try:
            size = len(text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise InputError(f"{name} must be Unicode text; it has an unpaired surrogate at {error.start}") from error
        if size > self.settings.limits.text_bytes:
            raise TooLong(f"{name} must have at most {self.settings.limits.text_bytes} bytes, not {size}")

    def require_page(self, limit: int, offset: int = 0) -> None:
        """Raise `InputError` if a page is larger than the setting `limits.results`, or begins before the first row."""
        if not 1 <= limit <= self.settings.limits.results:
            raise InputError(f"limit must be from 1 to {self.settings.limits.results}, not {limit}")
        if offset < 0:
            raise InputError(f"offset must not be negative, not {offset}")

    def read_filter(self, operation: Filtered[Any]) -> Filter | None:
        """
        Return the memories that an operation is restricted to; None for all.

        Raises:
            InputError: an invalid time, or a blank filter.
            NotFound: nothing has the name `entity`.
        """
        given = {name: value for name in FILTERS if (value := getattr(operation, name))}
        if not given:
            return None
        for name in ("container", "source", "entity"):
            if name in given:
                self.require_text(given[name], name)
        times = {one: instant(given[one], one, self.service.zone) for one in ("after", "before") if one in given}
        scope = self.scope(operation.namespace)
        return Filter(
            tags=tuple(tag_iri(name) for name in given.get("tags", ()) if name.strip()),
            container=given.get("container"),
            source=given.get("source"),
            about=tuple(resolve_subject(given["entity"], scope, self.stores)) if "entity" in given else (),
            **times,
        )

    def embed_question(self, text: str) -> Vectors:
        """Return the vectors of a question's windows."""
        return self.stores.embedder.embed_question(text)

    def add_to_rewrite(self, rewrite: Rewrite) -> Change:
        """
        Return what the plug-ins write with a memory that takes the place of another.

        Raises:
            InputError: keys or types were given for it, and no plug-in that is switched on takes them.
        """
        hooks = {
            of: add for of, add in plugin.collect("before_write").items() if of not in self.settings.plugins.left_out
        }
        taken = {field for found, one in plugin.list_plugins() if found.name in hooks for field in one.corrects}
        if any(getattr(rewrite.asked, field) and field not in taken for field in ("keys", "types")):
            raise InputError("keys and types cannot be given: no plug-in that is switched on takes them")
        return sum((add(rewrite, self) for add in hooks.values()), Change())

    def visible_graphs(self, scope: Scope) -> VisibleGraphs:
        """Return the graphs that the caller may read by SPARQL."""
        inferred = (scope.inferred,) if self.list_inferring() else ()
        return self.service.graph_names.visible(scope, self.access, inferred)

    def list_inferring(self) -> list[ReadPremises]:
        """
        List the functions of plug-ins that read the premises of inferred triples; none for a store behind an endpoint, because the
        triples are written beside the memories by the one owner of a folder.
        """
        if self.stores.is_shared:
            return []
        left_out = self.settings.plugins.left_out
        return [partial(read, context=self) for of, read in plugin.collect("infers").items() if of not in left_out]


Infer = Callable[[Scope, datetime, Context], Premises | None]
"""What `Plugin.infers` names: called when inferred triples are read, if something was written since or the premises are due."""

BeforeWrite = Callable[[Rewrite, Context], Change]
"""What `Plugin.before_write` names: called with the write lock held, before anything is written; an error stops the write."""


@dataclass(slots=True)
class _Kept:
    """
    A cached answer: how to make it again, the number of writes it was made after, when, and when part of it expires by itself.
    """

    answer: Recollection
    make: Callable[[], Recollection]
    writes: int
    at: datetime
    until: int


class AnswerCache:
    """
    A cache of recall answers, for the same question of the same caller. May be used from many threads.

    *Guarantees:* an answer is reused only for a caller with the same rights, and never with a memory that was forgotten, erased,
    hidden or ended since. After a write a stale answer is reused for at most `stale_s`, while a new one is made.

    *Because:* a store counts its writes: an answer stays true while the count is the same, until something expires by itself.
    """

    def __init__(self, stores: Backends, settings: AnswersSettings) -> None:
        self._stores, self._settings = stores, settings
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._waiting: dict[bytes, None] = {}
        self._cleared = 0
        self.worker = Worker(self._make_again, "answers")
        if settings.cached:
            stores.forget_listeners.append(self.drop_answers)

    def drop_answers(self, is_ours: bool = True) -> None:
        """Drop every answer that was made, or begun, before now."""
        with self._lock:
            self._cleared += 1
            self._kept.clear()
            self._waiting.clear()

    def get_answer(
        self, question: Operation[Any], access: Access, scope: Scope, make: Callable[[], Recollection]
    ) -> Recollection:
        """Return the answer to a question, from the cache or from `make`; `cached` says which."""
        if not self._settings.cached:
            return make()
        key = repr((access, scope, msgspec_json.encode(question))).encode()
        with self._lock:
            kept = self._kept.get(key)
            if kept:
                self._kept.move_to_end(key)
        if kept and (state := self._rate(kept, scope)):
            if state == "stale":
                with self._lock:
                    self._waiting[key] = None
                self.worker.wake()
            return replace(kept.answer, cached=state)
        return self._make(key, make)

    def _rate(self, kept: _Kept, scope: Scope) -> Literal["fresh", "stale"] | None:
        """Tell whether an answer is current, or stale but still usable; None if neither."""
        at, indexes = self._stores.clock(), self._stores.indexes
        age_s = (at - kept.at).total_seconds()
        is_same = self._stores.graph.writes == kept.writes and milliseconds(at) < kept.until
        if is_same and age_s <= self._settings.fresh_s:
            return "fresh"
        if age_s > self._settings.stale_s:
            return None
        told = [iri for one in (*kept.answer.memories, *kept.answer.nearest) for iri in (one.iri, *one.merged)]
        with indexes.lock:
            nodes = indexes.find_all(told, scope.memory_graphs)
            shown = indexes.nodes.current(scope.memory_graphs, now=at)
            return "stale" if all(iri in nodes and shown[nodes[iri]] for iri in told) else None

    def _make(self, key: bytes, make: Callable[[], Recollection]) -> Recollection:
        with self._lock:
            cleared = self._cleared
        stores = self._stores
        writes, at = stores.graph.writes, stores.clock()

        def answer_and_look() -> tuple[Recollection, int]:
            answer = make()
            with stores.indexes.lock:
                return answer, stores.indexes.nodes.next_end(at)

        answer, until = stores.run(answer_and_look, is_read=True)
        if answer.degraded is None:
            with self._lock:
                if cleared == self._cleared:
                    self._kept[key] = _Kept(answer, make, writes, at, until)
                    self._kept.move_to_end(key)
                    while len(self._kept) > self._settings.cached:
                        self._kept.popitem(last=False)
        return answer

    def _make_again(self) -> float | None:
        """Refresh the stale answers that were reused; the worker calls this."""
        while not self.worker.stopping.is_set():
            with self._lock:
                key = next(iter(self._waiting), None)
                kept = self._kept.get(key) if key is not None else None
                if key is not None:
                    del self._waiting[key]
            if key is None:
                return None
            if kept:
                self._make(key, kept.make)
        return None


class Writers:
    """Limits how many changes are in progress at once. May be used from many threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = most // 8
        """Places for callers who have none."""
        self._of_callers: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._inside = threading.local()

    @property
    def running(self) -> int:
        """How many changes run or wait."""
        return self._of_callers.total()

    @contextmanager
    def admit(self, caller: str = "") -> Iterator[None]:
        """
        Let a change begin; a nested change in the same thread is part of it.

        Raises:
            Overloaded: too many changes are in progress or waiting, or so many of this caller that others would find no place;
                nothing was done.
        """
        if getattr(self._inside, "is_admitted", False):
            yield
            return
        with self._lock:
            count = self._of_callers.total()
            if count >= self._most - (self._kept if self._of_callers[caller] else 0):
                telemetry.increment("refused_total", what="writers")
                raise Overloaded(
                    f"{count} changes are running or queued, the most that limits.writers allows: ask again"
                )
            self._add(caller, 1)
        self._inside.is_admitted = True
        try:
            yield
        finally:
            self._inside.is_admitted = False
            with self._lock:
                self._add(caller, -1)

    def _add(self, caller: str, by: int) -> None:
        self._of_callers[caller] += by
        if not self._of_callers[caller]:
            del self._of_callers[caller]
        telemetry.shift_level("writers", by)


class GraphNames:
    """
    A cache of the named graphs of one store, and of those that each reader may see. May be used from many threads.

    *Because:* every request has its own context: without this cache, a caller who creates thousands of graphs would make every
    question of every caller list them again.
    """

    def __init__(self, stores: Backends) -> None:
        self._stores = stores
        self._lock = threading.Lock()
        self._writes = -1
        self._graphs: tuple[IRI, ...] = ()
        self._visible: dict[tuple[Any, ...], VisibleGraphs] = {}

    def visible(self, scope: Scope, access: Access, inferred: tuple[IRI, ...] = ()) -> VisibleGraphs:
        """
        Return the graphs that a reader of a scope may see; a reader of all namespaces of a tenant also sees the graphs about all of
        them.

        Args:
            inferred: the graphs of inferred triples, which need not exist yet.
        """
        with self._lock:
            self._refresh()
            key = (scope, access, inferred)
            if key not in self._visible:
                self._visible[key] = _visible_graphs(scope, self._graphs, access, inferred)
            return self._visible[key]

    def list_namespaces(self, tenant: str) -> list[str]:
        """List the namespaces of a tenant that contain memories."""
        with self._lock:
            self._refresh()
            return [namespace_of(graph) for graph in self._graphs if graph.startswith(graph_iri(tenant, ""))]

    def holds(self, graphs: Iterable[IRI]) -> bool:
        """Tell whether at least one of some graphs exists."""
        with self._lock:
            self._refresh()
            return not set(self._graphs).isdisjoint(graphs)

    def _refresh(self) -> None:
        """List the graphs again if anything was written since; hold the lock."""
        graph = self._stores.graph  # a different object after a restore
        writes = graph.writes  # read before listing: a concurrent write may or may not be included
        if writes != self._writes:
            self._graphs, self._visible = tuple(graph.graphs()), {}
            self._writes = writes


def _visible_graphs(scope: Scope, graphs: tuple[IRI, ...], access: Access, inferred: tuple[IRI, ...]) -> VisibleGraphs:
    named = access.readable_graphs
    free = [graph for graph in graphs if (name := data_name(scope.tenant, graph)) and (named is None or name in named)]
    cases = cases_iri(scope.tenant, "")
    known = [graph for graph in graphs if graph.startswith(cases) and access.sees(namespace_of(graph))]
    default = (*scope.memory_graphs, *scope.user_graphs, *free, *inferred, *known)
    is_whole = not access.namespaces
    provenance = (provenance_iri(scope.tenant),) if is_whole else ()
    audit = (audit_iri(scope.tenant),) if is_whole and access.may("admin") else ()
    branches = [graph for graph in graphs if is_whole and graph.startswith(branch_prefix(scope.tenant))]
    return VisibleGraphs(default=default, named=(*default, ONTOLOGY, *provenance, *audit, *branches))


def _open_models(settings: Settings, rules: Callable[[], Agents]) -> Models | None:
    """Return the factory of the agents of each note, if they use a model."""
    if settings.model.provider == "none":
        return None
    from memento.consolidation.models import (
        Models,
    )  # its dependencies take longer to import than everything else takes to open

    return Models(settings.model, rules)


A = TypeVar("A")
T = TypeVar("T")
O = TypeVar("O", bound=Operation[Any])  # noqa: E741

HANDLERS: dict[type[Operation[Any]], Callable[[Any, Context], Any]] = {}
"""The handler of each operation; the modules of `handlers` register theirs."""


def handles(operation: type[O]) -> Callable[[Callable[[O, Context], A]], Callable[[O, Context], A]]:
    """Register a function as the handler of an operation."""

    def add_handler(handler: Callable[[O, Context], A]) -> Callable[[O, Context], A]:
        HANDLERS[operation] = handler
        return handler

    return add_handler


def find_handler(kind: type[Operation[Any]], settings: Settings) -> Callable[[Any, Context], Any]:
    """
    Return the handler of an operation; the first call of an operation of a plug-in imports the plug-in's handlers.

    Raises:
        NotFound: its plug-in is left out.
    """
    name = name_of(kind)
    of = PLUGGED.get(name)
    if of in settings.plugins.left_out:
        raise NotFound(f"there is no operation {name}: the plug-in {of} is switched off by plugins.off")
    if of and kind not in HANDLERS:
        plugin.load_handlers(of)
    return HANDLERS[kind]


def spell_out(operation: Operation[A], context: Context) -> Operation[A]:
    """
    Return an operation with abbreviated IRIs, named by their ends, in full.

    Raises:
        InputError: several nodes have that end; lists them.
        NotAnIri: it is neither an IRI nor the end of one.
        NotFound: no node has that end.
    """
    whole: dict[str, str] = {}
    for name in list_iri_fields(type(operation)):
        end = getattr(operation, name)
        if not isinstance(end, str) or ":" in end:
            continue
        readable = context.scope(operation.namespace).readable
        is_end = _END.fullmatch(end) is not None
        rows = (
            context.stores.graph.select("retrieval/ending", readable, end=[str(end)]) if is_end else ()
        )  # text, not an IRI
        found = [str(row["node"]) for row in rows]
        if len(found) > 1:
            raise InputError(f"{name}: {end} is the end of several IRIs: {', '.join(found)}")
        if not found:
            raise (NotFound if is_end else NotAnIri)(
                f"{name}: {end[:80]!r} is neither an IRI nor the end of an IRI that you may read: give a whole IRI such as "
                "urn:memento:memory:0192d5a0-…, or at least its last five characters, as lists show them"
            )
        whole[name] = found[0]
    return structs.replace(operation, **whole) if whole else operation


def handle(operation: Operation[A], context: Context) -> A:
    """
    Answer an operation for a caller. Secrets in its texts are redacted before anything else happens.

    Raises:
        InputError: an argument is out of bounds, or contains a secret and the namespace refuses secrets.
        MementoError: as documented for the operation.
    """
    redaction = context.begin_redaction(operation.namespace, is_question=operation.right == "read")
    operation = redaction.redact(read_items(operation, redaction.redact))
    redacted = redaction.close(is_trial=getattr(operation, "dry_run", False))
    check_fields(operation)
    # Captured entries only go to the journal, to be noted later, and wait for nothing.
    is_change = operation.right != "read" and not isinstance(operation, Capture)
    caller = context.access.caller
    with _answering(caller), context.service.writers.admit(caller) if is_change else nullcontext():
        answer = context.stores.run(
            lambda: _answer(spell_out(operation, context), context),
            is_read=operation.right == "read",
            graphs=lambda: context.list_read_graphs(operation),
            notices=context.notices,
        )
    if operation.right == "read" and (unknown := describe_unknown(operation.namespace, context)):
        notice = f"{unknown}: the status lists those there are"
        if hasattr(answer, "notice"):
            answer = replace(answer, notice=notice)
        elif notice not in context.notices:
            context.notices.append(notice)
    if redacted and hasattr(answer, "remarks"):
        answer = replace(answer, remarks=(*answer.remarks, describe_counts(redacted)))
    return cast(A, replace(answer, redacted=redacted) if redacted and hasattr(answer, "redacted") else answer)


@contextmanager
def _answering(caller: str) -> Iterator[None]:
    """Name the caller for the turns that this thread takes."""
    before = CALLER.set(caller)
    try:
        yield
    finally:
        CALLER.reset(before)


def _answer(operation: Operation[Any], context: Context) -> Any:
    """
    Answer an operation. Ask again once if a question was embedded before the embedder was switched.
    """
    handler, embedder = find_handler(type(operation), context.settings), context.stores.embedder

    try:
        answer = handler(operation, context)
    except Exception:
        if operation.right != "read" or context.stores.embedder is embedder:
            raise
        return handler(operation, context)
    is_stale = operation.right == "read" and operation.is_idempotent and context.stores.embedder is not embedder
    return handler(operation, context) if is_stale else answer


def describe_unknown(namespace: str | None, context: Context) -> str | None:
    """Return a notice that a namespace which the caller named is empty, since its name may be misspelt."""
    # The opener of the folder may have named it too; a name from the settings is no typing error.
    namespace = namespace or context.service.default_scope.namespace
    if resolve_namespace(context.settings.scope.namespace) == namespace:
        return None
    scope = context.scope(namespace)
    if context.service.graph_names.holds((scope.graph, cases_iri(scope.tenant, scope.namespace))):
        return None
    return f"nothing is remembered in a namespace {namespace!r}"
