"""
Understand notes: at once, or later in a thread of the process that owns the data folder.

*Guarantees:* notes are understood one at a time, in the order of arrival; other writes do not wait for a model. A note that was
understood, forgotten or erased in the meantime is dropped from the queue.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic

from memento import telemetry
from memento.consolidation import pipeline, queue, reread
from memento.consolidation.agents import Agents, Extraction
from memento.consolidation.task import (
    Task,
    find_earlier_note,
    find_repetition,
    link_to_whole,
    load_user,
    place_in_session,
)
from memento.consolidation.write import (
    Understanding,
    build_change,
    describe_understanding,
    load_described,
    raise_if_invalid,
    refresh_retirable,
)
from memento.errors import BackendError, GraphError, Overloaded, ShapeViolation, StoreAway, Unanswered
from memento.model import Noted, Recollection, Scope
from memento.retrieval import pipeline as retrieval
from memento.retrieval.question import Query
from memento.service.context import Service
from memento.sparql.jobs import CLIENT, WaitingClient
from memento.sparql.pool import ClientGone
from memento.time import now

logger = logging.getLogger(__name__)


_CLAIM_CALLS = 4
"""How many model calls a claim on a note lasts before another node may try it."""
_LOOK_S = 15.0
"""Seconds between two looks for notes that another node of a shared store left unfinished."""
_AWAY_S = 5.0
"""Seconds until a store that did not answer is asked again."""


_SHORT_CHARS = 4_000
"""The length up to which a note is short: it is read and written within some tens of milliseconds."""
_COUNTED_S = 2.0
"""Seconds for which a count of the waiting notes stays valid."""


def take_note(task: Task, service: Service, *, wait: bool) -> Noted:
    """
    Understand a note, or queue it to be understood later; return what became of it.

    Raises:
        BackendError: the store or the embedder failed; nothing was written.
    """
    agents = service.new_agents()
    if wait and agents.kind == "rules":
        return consolidate(task, agents, service) or Noted(note=None)
    kept = accept(task, service, is_claimed=wait and service.stores.is_shared)
    if isinstance(kept, Noted):
        return kept
    if not wait:
        service.consolidator.wake()
        return Noted(note=kept.note.iri, pending=True)
    try:
        noted = consolidate(kept, agents, service)
    except (BackendError, ShapeViolation) as error:
        noted = put_off(kept, agents, error, service)
        service.consolidator.wake()
    return noted or Noted(note=None, skipped="it was forgotten before it was understood")


def raise_if_full(service: Service) -> None:
    """
    Refuse a note if the queue is full; the queue is counted only every few seconds.

    Raises:
        Overloaded: nothing was stored.
    """
    most = service.settings.limits.pending
    if (pending := service.watch.count_pending(fresh_s=_COUNTED_S)) >= most:
        telemetry.increment("refused_total", what="notes")
        raise Overloaded(
            f"{pending} notes wait to be understood, the most that limits.pending allows: send this one again later", 30
        )


def preview_note(task: Task, service: Service) -> Noted:
    """
    Return what would become of a note now; write nothing.

    Raises:
        BackendError: the store, the embedder or a model failed.
    """
    agents = service.new_agents()
    extraction = _read_ahead(task, agents, service)
    with service.understanding.take(is_short=_is_short(task)):
        if earlier := find_earlier_note(task.note, task.scope, service.stores):
            return earlier
        return describe_understanding(pipeline.understand(task, _gather_resources(agents, service), extraction))


def _is_short(task: Task) -> bool:
    return len(task.note.content) <= _SHORT_CHARS


def _read_ahead(task: Task, agents: Agents, service: Service) -> Extraction | None:
    """
    Have rules read a note and embed its texts before its turn, so that others can write meanwhile; return what it names.

    Return None for a note that is left to a model or is known, and for one that the rules cannot read.
    """
    if agents.kind != "rules" or find_repetition(task, service.stores):
        return None
    if task.run is None and find_earlier_note(task.note, task.scope, service.stores):
        return None
    user, is_new = load_user(task.scope, service.stores)
    with service.reading_notes.take(is_short=_is_short(task)):
        extraction, texts = pipeline.foresee(task, user, agents, user_is_new=is_new)
        pipeline.warm_embeddings(texts, service.stores)
    return extraction


def _gather_resources(agents: Agents, service: Service, batch: pipeline.Batch | None = None) -> pipeline.Resources:
    return pipeline.Resources(
        agents=agents,
        parts=service.stores,
        knobs=service.settings.consolidation,
        recall=lambda text, scope: _recall_known(text, scope, service),
        batch=batch,
    )


_Foreseen = tuple[Task, Agents, Extraction | None]
"""A note of an import, the rules that will understand it, and what it names if the rules can tell."""


def take_batches(batches: Iterable[Sequence[Task]], scope: Scope, service: Service) -> Iterator[list[Noted]]:
    """
    Process the batches of an import: with rules one note after the other; for a model, queue them as pending.

    While the notes of a batch are written, the next batch is parsed and embedded.
    """
    is_left_to_a_model, client = service.new_agents().kind == "model", CLIENT.get()
    waiting = iter(batches)
    with ThreadPoolExecutor(1, thread_name_prefix="import") as ahead:

        def read_ahead() -> Future[list[_Foreseen]] | None:
            tasks = next(waiting, None)
            return None if tasks is None else ahead.submit(_foresee, tasks, scope, service, is_left_to_a_model, client)

        reading, batch = read_ahead(), pipeline.Batch()
        while reading is not None:
            foreseen = reading.result()
            reading, batch = read_ahead(), pipeline.Batch(resolutions=batch.resolutions)
            noted: list[Noted] = []
            for task, agents, extraction in foreseen:
                _raise_if_over(service, client)
                if is_left_to_a_model and not task.keep:
                    noted.append(take_note(task, service, wait=False))
                else:
                    kept = batch if task.keep else None
                    noted.append(consolidate(task, agents, service, extraction, kept) or Noted(note=None))
            yield noted


def _raise_if_over(service: Service, client: WaitingClient | None) -> None:
    """
    Stop long work between two notes; what was noted stays, and the same call goes on there.

    Raises:
        ClientGone: nobody waits for the answer any more.
        GraphError: the service is being closed.
    """
    if client is not None and client.has_left:
        raise ClientGone("whoever asked has left")
    if service.closing.is_set():
        raise GraphError("the memory is closed: open it again")


def _foresee(
    tasks: Sequence[Task], scope: Scope, service: Service, is_left_to_a_model: bool, client: WaitingClient | None
) -> list[_Foreseen]:
    """Parse a batch with rules and embed it together, before any note is understood; notes left to a model are not parsed."""
    user, _ = load_user(scope, service.stores)
    found: list[_Foreseen] = []
    texts: list[str] = []
    for task in tasks:
        _raise_if_over(service, client)
        rules, extraction = service.new_rules(), None
        if task.keep or not is_left_to_a_model:
            with service.reading_notes.take(is_short=_is_short(task)):
                extraction, of_task = pipeline.foresee(task, user, rules)
            texts += of_task
        found.append((task, rules, extraction))
    pipeline.warm_embeddings(texts, service.stores)
    return found


def accept(task: Task, service: Service, *, is_claimed: bool = False) -> Task | Noted:
    """Store a note as pending, claimed by this node if `is_claimed`; or return what became of it if its key was used before."""
    with service.writing:
        if earlier := find_earlier_note(task.note, task.scope, service.stores):
            return earlier
        kept, written = queue.accept_note(place_in_session(link_to_whole(task, service.stores), service.stores))
        if is_claimed:
            kept, claimed = queue.claim(kept, _end_of_claim(service))
            written += claimed
        service.stores.commit(written, task.scope)
        return kept


def consolidate(
    task: Task,
    agents: Agents,
    service: Service,
    extraction: Extraction | None = None,
    batch: pipeline.Batch | None = None,
    *,
    keeps_skipped: bool = False,
) -> Noted | None:
    """
    Understand a note and write the result; None if the note no longer waits.

    Raises:
        BackendError: the store, the embedder or a model failed; nothing was written.
        ShapeViolation: the result violates a shape; nothing was written.
    """
    extraction = extraction or (None if batch else _read_ahead(task, agents, service))
    with service.understanding.take(is_short=_is_short(task)):
        if task.run is None and (earlier := find_earlier_note(task.note, task.scope, service.stores)):
            return earlier
        means = _gather_resources(agents, service, batch)

        def understand() -> Understanding:
            understood = replace(pipeline.understand(task, means, extraction), keeps_skipped=keeps_skipped)
            if agents.kind == "model" or service.settings.consolidation.check_rules:
                raise_if_invalid(build_change(understood)[0], understood)
            return understood

        def write() -> Noted | None:
            with service.stores.decide(understand, service.writing, is_quick=agents.kind == "rules") as understood:
                return _write(understood, service)

        return service.stores.run(write)


def retry_note(task: Task, agents: Agents, service: Service) -> Noted | None:
    """
    Try a pending note once; None if it no longer waits. A failure postpones it, or hands it to the rules.

    *Because:* this is the one place that tolerates every failure: the note is in the store, and the next one must have its turn.
    """
    try:
        return consolidate(task, agents, service, keeps_skipped=True)
    except Exception as error:
        return put_off(task, agents, error, service)


def put_off(task: Task, agents: Agents, error: Exception, service: Service) -> Noted | None:
    """Postpone a note that failed, hand it to the rules, or give it up; None if it no longer waits."""
    assert task.run is not None
    options = service.settings.consolidation
    failures = (task.run.attempts or 0) + 1
    logger.warning("note.put-off", extra={"note": task.note.iri, "error": type(error).__name__, "attempt": failures})
    is_last = failures > options.retries
    by_rules = is_last and agents.kind == "model" and service.settings.model.fallback_to_rules
    wait_s = min(options.retry_wait_s * 2 ** min(failures - 1, 30), options.retry_most_s)
    gives_up = is_last and agents.kind == "rules"
    with service.writing:
        if not queue.is_waiting(task, service.stores):
            return None
        task, written = queue.postpone(
            task,
            error,
            "failed" if gives_up else "pending",
            None if gives_up else now() + timedelta(seconds=wait_s),
        )
        service.stores.commit(written, task.scope)
        service.put_off.add(task.note.iri)
    if by_rules:
        return retry_note(task, service.new_rules(), service)
    return Noted(note=task.note.iri, pending=True)


def work(service: Service) -> float | None:
    """Try every note that is due and readable; return the seconds until the next one is due, or None when none waits."""
    try:
        return _try_waiting(service)
    except (StoreAway, Unanswered):  # it may be back before anybody asks for anything
        return _AWAY_S


def _try_waiting(service: Service) -> float | None:
    unreadable = set()
    for one in queue.list_waiting(service.stores):
        if service.consolidator.stopping.is_set():
            return None
        # A new process tries at once what an earlier one postponed; another node may be working on it.
        is_put_off = one.note in service.put_off or service.stores.is_shared
        if is_put_off and one.retry_at and one.retry_at > now():
            continue
        if task := take_up(one, service):
            retry_note(task, service.new_agents(), service)
        else:
            unreadable.add(one.note)
    due = [one.retry_at for one in queue.list_waiting(service.stores) if one.retry_at and one.note not in unreadable]
    wait_s = max((min(due) - now()).total_seconds(), 0.05) if due else None
    # Nobody wakes this worker for notes that a dead node has accepted.
    return min(wait_s or _LOOK_S, _LOOK_S) if service.stores.is_shared else wait_s


def read_waiting(service: Service) -> float | None:
    """Read the claims of the next memories that were imported as they are; return when to go on, None if nothing waits."""
    begun = monotonic()
    if (wait_s := service.imported_at + _QUIET_S - begun) > 0:
        return wait_s
    return monotonic() - begun if read_some(service) else None  # half of the time is for others


def read_some(service: Service) -> int:
    """Read the claims of the next memories whose claims are still to be read, and write them; return how many there were."""
    stores = service.stores

    def read() -> int:
        unread = reread.list_unread(stores)
        changes = reread.read_unread(unread, service.zone, stores)
        with service.writing:
            left = set(reread.list_unread(stores))
            if not left.issuperset(unread):  # another node was faster, or something was erased meanwhile
                unread = [one for one in unread if one in left]
                changes = reread.read_unread(unread, service.zone, stores)
            for scope, change in changes:
                stores.commit(change, scope)
        return len(unread)

    return stores.run(read)


_QUIET_S = 0.5
"""Seconds after the last row of an import before its claims are read: the import goes first."""


def _end_of_claim(service: Service) -> datetime:
    return now() + timedelta(seconds=_CLAIM_CALLS * service.settings.model.timeout_s)


def take_up(waiting: queue.WaitingNote, service: Service) -> Task | None:
    """
    Load a waiting note, and claim it for this node if nodes share the store; None if another node has claimed it, or it no longer
    waits.
    """
    if not service.stores.is_shared:
        return queue.load_task(waiting, service.stores)

    def claim() -> Task | None:
        with service.writing:
            task = queue.load_task(waiting, service.stores)
            if task is None or task.run is None or (task.run.retry_at and task.run.retry_at > now()):
                return None
            task, claimed = queue.claim(task, _end_of_claim(service))
            service.stores.commit(claimed, task.scope)
            return task

    return service.stores.run(claim)


def resume(service: Service) -> None:
    """
    Understand waiting and future notes, and make checkpoints, in the background until the service is closed.

    While the memory is read-only it does nothing.
    """
    if service.degraded:
        return
    service.checkpointer.wake()
    if service.settings.consolidation.read_imports:
        service.reader.wake()
    if service.settings.capture.is_on:
        service.capturer.wake()
    service.consolidator.wake()


def _write(understood: Understanding, service: Service) -> Noted | None:
    """Write what was understood; check again what may have changed meanwhile. Hold the write lock."""
    task = understood.task
    if task.run is not None and not queue.is_waiting(task, service.stores):
        return None
    if task.run is None and (earlier := find_earlier_note(task.note, task.scope, service.stores)):
        return earlier
    placed = replace(understood, task=place_in_session(link_to_whole(task, service.stores), service.stores))
    written, noted = build_change(load_described(refresh_retirable(placed, service.stores), service.stores))
    if written.adds or written.removes:
        service.stores.commit(written, task.scope)
        if task.waits_for_claims and service.reader.running:
            service.imported_at = monotonic()
            service.reader.wake()
    return noted


def _recall_known(text: str, scope: Scope, service: Service) -> Recollection:
    """Return what a note recalls: the best memories, relevant or not, since the model judges that."""
    ungated = replace(service.settings, gate=replace(service.settings.gate, on=False))
    query = Query(text, scope, k=service.settings.consolidation.recalled_memories)
    return retrieval.recall(query, service.stores, ungated)
