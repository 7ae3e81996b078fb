"""Reports the state of the service, finds inconsistencies and damage, and rebuilds derived data."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from shutil import disk_usage
from typing import Literal

from memento import plugin, settings, telemetry
from memento.access import Access
from memento.assets import VERSION
from memento.backends import Backends, raise_if_store_is_missing
from memento.datadir import DataFolder
from memento.errors import BackendError, Damaged, GraphError, MementoError, SettingsError, StoreAway
from memento.graph import shapes
from memento.graph.backups import explain_way_out, list_all_backups, list_backups, verify_backup
from memento.graph.oxigraph import Oxigraph, find_damage
from memento.graph.store import Store
from memento.iris import IRI, MEM, graph_iri, namespace_of, parse_graph_name
from memento.model import Difference, Health, Inferred, PartHealth, PartName, Readiness, Scope, SetAside, Status
from memento.retrieval import relevance
from memento.search import cache
from memento.search.embedders import embedder_of
from memento.search.vectors import examine_vector_file
from memento.settings import Settings
from memento.time import iso
from memento.worker import Look


def report_status(
    scope: Scope,
    access: Access,
    datadir: DataFolder,
    now: datetime,
    parts: Backends,
    settings: Settings,
    inferred: Inferred | None,
) -> Status:
    """Report counts over the readable graphs of a scope, and the state of the service."""
    rows = parts.graph.select("library/counted", scope.memory_graphs)
    counts = {str(row["type"]): int(str(row["count"])) for row in rows}
    states = parts.graph.select("library/waiting", scope.memory_graphs)
    waiting = {str(row["state"]): int(str(row["count"])) for row in states}
    unread = parts.graph.select("consolidation/unread_count", scope.memory_graphs)
    owner = datadir.read_owner()
    disputes = parts.graph.select("library/disputed", [scope.graph])
    # Those with a confidence are rivals, which may both be true.
    disputed = sum("confidence" not in row for row in disputes)
    current, vectors = parts.indexes.count_current(scope.memory_graphs, now), parts.indexes.count_nodes()
    names = {namespace_of(graph) for graph in _graphs_of(scope.tenant, parts)}
    return Status(
        version=VERSION,
        home=str(datadir.path),
        namespace=scope.namespace,
        namespaces=tuple(sorted(filter(access.sees, names))),
        ready=parts.warm or owner is None or owner.address is None,  # without a service nothing has to warm up
        embedder=parts.embedder.fingerprint,
        runtime=parts.embedder.runtime,
        notes=counts.get(MEM.Note, 0),
        memories=counts.get(MEM.Memory, 0),
        current=current,
        entities=counts.get(MEM.Entity, 0),
        invalidations=counts.get(MEM.Invalidation, 0),
        pending=waiting.get("pending", 0),
        failed=waiting.get("failed", 0),
        unread=int(str(unread[0]["count"])),
        inferred=inferred.triples if inferred else 0,
        contradictions=disputed + (inferred.contradictions if inferred else 0),
        vectors=vectors,
        gate=relevance.describe_gate(parts.embedder.fingerprint, settings.gate),
        address=owner.address if owner else None,
        degraded=_explain_damage(parts),
        set_aside=find_set_aside(scope.tenant, access, parts),
        differences=parts.differences,
    )


def report_health(
    scope: Scope, access: Access, upstreams: Mapping[str, str], parts: Backends, readiness: Readiness
) -> Health:
    """Report the state of the service within milliseconds, whatever its size; report a failing store instead of raising."""
    figures = {one.part: one.figures for one in readiness.parts}
    harm = _explain_damage(parts)
    store: Literal["ok", "failing", "damaged"] = "damaged" if harm else "ok"
    if not harm and parts.graph.failure:
        harm, store = explain_failure(parts.graph), "failing"
    if "store" in readiness.away:
        store = "failing"
    waiting: dict[str, int] = {}
    try:
        raise_if_store_is_away(readiness)
        graphs = [g for g in _graphs_of(scope.tenant, parts) if access.sees(namespace_of(g))]
        rows = parts.graph.select("library/waiting", graphs or scope.memory_graphs)
        waiting = {str(row["state"]): int(str(row["count"])) for row in rows}
    except BackendError:
        store = "failing"
    return Health(
        status="starting" if not parts.warm else "degraded" if harm else "ok",
        version=VERSION,
        embedder=parts.embedder.fingerprint,
        runtime=parts.embedder.runtime,
        store=store,
        indexes=int(figures["index"].get("nodes", 0)),  # unknown for an engine that is away
        pending=waiting.get("pending", 0),
        failed=waiting.get("failed", 0),
        upstreams=upstreams,
        degraded=harm,
        set_aside=find_set_aside(scope.tenant, access, parts),
        differences=parts.differences,
        plugins=plugin.list_problems(),
    )


class Watch:
    """
    Checks the parts of a service, each in its own thread, so that callers do not wait for a part that does not answer.
    Thread-safe.
    """

    def __init__(self, stores: Backends, settings: Settings, find_rest: Callable[[], float]) -> None:
        """
        Args:
            find_rest: returns for how many more seconds the model is not called.
        """
        self._stores, self._settings, self._find_rest = stores, settings, find_rest
        looks: Mapping[PartName, Callable[[], PartHealth]] = {
            "store": self._look_at_store,
            "index": self._look_at_index,
            "embedder": self._look_at_embedder,
            "model": self._look_at_model,
            "notes": self._look_at_notes,
            "disk": self._look_at_disk,
        }
        self._looks = {name: Look(partial(_look_safely, name, look), name) for name, look in looks.items()}

    def report(self, *, fresh_s: float = 0.0) -> Readiness:
        """
        Report the state of all parts, within `LOOK_S` and a little.

        Args:
            fresh_s: maximum age in seconds of an earlier check to reuse.
        """
        until = time.monotonic() + LOOK_S
        for look in self._looks.values():
            look.begin(fresh_s)
        parts = tuple(
            look.wait(until) or _say_away(name, f"it has not answered for {look.waited_s:.0f} s")
            for name, look in self._looks.items()
        )
        away = tuple(one.part for one in parts if one.is_needed and one.state == "away")
        return Readiness(
            status="away" if away else "starting" if not self._stores.warm else "ready", away=away, parts=parts
        )

    def count_pending(self, *, fresh_s: float) -> int:
        """Return how many notes wait to be processed; 0 if the store does not answer."""
        look = self._looks["notes"]
        look.begin(fresh_s)
        found = look.wait(time.monotonic() + LOOK_S)
        return int(found.figures.get("pending", 0)) if found else 0

    def _look_at_store(self) -> PartHealth:
        graph = self._stores.graph
        figures = self._stores.measure_store()
        if harm := _explain_damage(self._stores):
            return PartHealth(part="store", state="damaged", is_needed=True, detail=harm, figures=figures)
        harm = explain_failure(graph) if graph.failure else ""
        return PartHealth(
            part="store",
            state="failing" if harm else "ok",
            is_needed=True,
            detail=harm,
            figures=figures,
        )

    def _look_at_index(self) -> PartHealth:
        indexes = self._stores.indexes
        figures: dict[str, float | str] = {"kind": self._settings.index.kind, "nodes": indexes.count_nodes()}
        return PartHealth(part="index", state="ok", is_needed=True, figures=figures)

    def _look_at_embedder(self) -> PartHealth:
        stores = self._stores
        return PartHealth(
            part="embedder",
            state="ok" if stores.warm else "starting",
            is_needed=False,
            figures={"embedder": stores.embedder.fingerprint, "runtime": stores.embedder.runtime},
        )

    def _look_at_model(self) -> PartHealth:
        provider, rest_s = self._settings.model.provider, self._find_rest()
        return PartHealth(
            part="model",
            state="away" if rest_s else "ok",
            is_needed=False,
            detail=f"it has kept failing, and is left alone for another {rest_s:.0f} s" if rest_s else "",
            figures={"kind": "rules" if provider == "none" else provider},
        )

    def _look_at_notes(self) -> PartHealth:
        graph, most = self._stores.graph, self._settings.limits.pending
        graphs = [name for name in graph.graphs() if name.startswith("urn:memento:graph:")]
        rows = graph.select("library/waiting", graphs) if graphs else []
        counts = {str(row["state"]): int(str(row["count"])) for row in rows}
        oldest = next((row.get("oldest") for row in rows if row["state"] == "pending"), None)
        waited_s = (self._stores.clock() - oldest).total_seconds() if isinstance(oldest, datetime) else 0.0
        pending = counts.get("pending", 0)
        is_full = pending >= most
        return PartHealth(
            part="notes",
            state="full" if is_full else "ok",
            is_needed=False,
            detail=f"{pending:,} notes wait to be understood, and limits.pending is {most:,}: no more are taken"
            if is_full
            else "",
            figures={"pending": pending, "failed": counts.get("failed", 0), "oldest_s": round(max(waited_s, 0.0), 1)},
        )

    def _look_at_disk(self) -> PartHealth:
        path = self._stores.datadir.path
        free = disk_usage(path).free
        is_full = free < LEAST_FREE
        return PartHealth(
            part="disk",
            state="full" if is_full else "ok",
            is_needed=False,
            detail=f"{free // 2**20:,} MiB are left on the disk of the data folder: make room" if is_full else "",
            figures={"free_bytes": free},
        )


LOOK_S = 1.0
"""Seconds in which a part must answer."""
LEAST_FREE = 200 * 2**20
"""Bytes that should be free on the disk."""


def _look_safely(part: PartName, look: Callable[[], PartHealth]) -> PartHealth:
    try:
        return look()
    except (MementoError, OSError) as error:
        return _say_away(part, str(error))
    except Exception as error:  # of a library, in a part that is being closed
        return _say_away(part, type(error).__name__)


def _say_away(part: PartName, detail: str) -> PartHealth:
    return PartHealth(part=part, state="away", is_needed=part in ("store", "index"), detail=detail)


def raise_if_store_is_away(readiness: Readiness) -> None:
    """
    Raise `StoreAway` if the store does not answer, so that callers get the error at once instead of waiting.
    """
    for one in readiness.parts:
        if one.part == "store" and one.state == "away":
            raise StoreAway(f"the store is away: {one.detail}")


def list_gauges(readiness: Readiness, parts: Backends) -> Iterator[telemetry.Sample]:
    """List the gauges of `telemetry.METRICS` about the parts over a store; for a part that is away, only that."""
    for one in readiness.parts:
        yield "part_up", {"part": one.part}, float(one.state == "ok")
        for figure, name in _GAUGES.get(one.part, {}).items():
            value = one.figures.get(figure)
            if isinstance(value, int | float):
                yield name, {}, value


_GAUGES: Mapping[str, Mapping[str, str]] = {
    "store": {"sequence": "store_sequence", "behind": "engine_behind"},
    "index": {"nodes": "index_nodes"},
    "notes": {"pending": "pending_notes", "failed": "failed_notes", "oldest_s": "pending_oldest_seconds"},
    "disk": {"free_bytes": "disk_free_bytes"},
}
"""The metric for each part and figure."""


def find_set_aside(tenant: str, access: Access, parts: Backends) -> SetAside | None:
    """Return what readers ignore in the graphs that the caller can read; None if that is nothing."""

    def is_seen(graph: IRI) -> bool:
        found = parse_graph_name(graph)
        if found is None or found.tenant != tenant:
            return False
        return access.sees(found.name) if found.name else found.kind == "self" or not access.namespaces

    statements, nodes = parts.aside.within(is_seen)
    return SetAside(statements=statements, nodes=nodes[:_SHOWN]) if statements else None


def read_store_files(parts: Backends) -> str | None:
    """Read the store's files completely and describe the damage; None if there is none, or the store is in memory."""
    if not parts.graph.is_on_disk:
        return None
    with parts.snapshots.lease() as snapshot:
        parts.harm = find_damage(snapshot)
    return parts.harm


def find_differences(parts: Backends) -> list[Difference]:
    """
    Find differences between the indexes and the graph, and violations of shapes; change nothing.

    Writers do not wait for it: concurrent writes may be among the differences.
    """
    found = [Difference(what="degraded", iri="", detail=str(parts.degraded))] if parts.degraded else []
    if parts.harm:  # queries to a damaged store fail, or would be reported as differences
        return [*found, Difference(what=DAMAGED, iri="", detail=f"{parts.harm}. {_REMEDY}")]
    found += parts.indexes.check()
    # All graphs at once, because a memory of one namespace may be about an entity of another.
    names = [name for name in parts.graph.graphs() if name.startswith(_OURS)]
    quads = chain.from_iterable(parts.graph.quads(name) for name in names)
    return found + [Difference(what="shape", iri=one.focus, detail=one.line) for one in shapes.violations(quads)]


def discard_kept(found: Iterable[Difference], parts: Backends) -> None:
    """If indexes differ, discard what is saved for the next start, so that it reads the graph. Call this with the write lock."""
    if any(one.what.endswith(("-vector", "-indexed", "-index")) for one in found):
        cache.discard(parts.datadir.indexes, parts.indexes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong with a data folder: its kind in a word, what was found, and what to do."""

    kind: str
    found: str
    remedy: str


def examine_folder(datadir: DataFolder, at: datetime, least_free: int) -> list[Finding]:
    """
    Find what is wrong with the files of a data folder, without opening or changing it.

    The store and the vectors are checked only if no process has the folder open.

    Args:
        least_free: bytes that should be free on its disk.
    """
    found = [*_examine_rights(datadir), *_examine_settings(datadir)]
    free = disk_usage(datadir.path).free
    if free < least_free:
        said = f"{free // 2**20:,} MiB are left on the disk of {datadir.path}"
        found.append(
            Finding(
                kind="disk-full",
                found=said,
                remedy="Make room, or move the folder to another disk and name it with --home; nothing is lost meanwhile.",
            )
        )
    owner = datadir.read_owner()
    is_open = datadir.is_open()
    if owner and not is_open:
        said = (
            f"`{owner.command}` (process {owner.pid}) did not end by itself: {datadir.path / 'owner.json'} is left over"
        )
        found.append(
            Finding(
                kind="left-over-owner",
                found=said,
                remedy="Delete that file; the next command that opens the folder does.",
            )
        )
    for backup in (*list_backups(datadir.checkpoints), *list_backups(datadir.backups)):
        try:
            verify_backup(backup)
        except (MementoError, OSError) as error:
            said = f"{backup} cannot be restored: {error}"
            remedy = "Delete it, so that nobody relies on it, and make another with `memento backup`."
            found.append(Finding(kind="unreadable-backup", found=said, remedy=remedy))
    if not is_open:
        found += [
            *_examine_store(datadir, at),
            *_examine_vectors(datadir, not any(f.kind == "settings" for f in found)),
        ]
    return found


def _examine_rights(datadir: DataFolder) -> Iterator[Finding]:
    for path in (datadir.path, datadir.store, datadir.vectors):
        if path.exists() and not (path.stat().st_mode & stat.S_IWUSR and os.access(path, os.W_OK)):
            yield Finding(
                kind="no-rights",
                found=f"you may not write to {path}",
                remedy=f"Get the right with `chmod u+w {path}`, or with chown if it belongs to another user.",
            )


def _examine_settings(datadir: DataFolder) -> Iterator[Finding]:
    told: list[str] = []
    try:
        settings.load(datadir.settings_file, tell=told.append)
    except SettingsError as error:
        told.append(str(error))
    remedy = f"Mend or delete that line; `memento config docs` lists all settings. The file is {datadir.settings_file}."
    for one in told:
        yield Finding(kind="settings", found=one, remedy=remedy)


def _examine_store(datadir: DataFolder, at: datetime) -> Iterator[Finding]:
    """
    Check a store that no process has open: that it exists, can be opened, and has no times in the future and no dangling
    references.
    """
    try:
        raise_if_store_is_missing(datadir)
    except Damaged as damage:
        usual = "`memento restore` puts the latest backup in its place."
        remedy = usual if list_all_backups(datadir) else f"{explain_way_out(datadir)}."
        yield Finding(kind="missing-store", found=str(damage), remedy=remedy)
        return
    if not datadir.store.is_dir():
        return
    try:
        store = Oxigraph.read_only(datadir.store)
        graphs = [name for name in store.graphs() if name.startswith(_OURS)]
        latest = [row.get("last") for row in store.select("library/written_last", graphs)] if graphs else []
        dangling = store.select("library/dangling", graphs) if graphs else []
    except GraphError as error:
        yield Finding(kind="damaged-store", found=f"{datadir.store} cannot be read: {error}", remedy=f"{_REMEDY}.")
        return
    if latest and isinstance(latest[0], datetime) and latest[0] > at:
        remedy = "Set the clock of this machine; until then new memories sort before existing ones; nothing is lost."
        found = f"the clock says {iso(at)}, and the latest memory was written at {iso(latest[0])}"
        yield Finding(kind="clock", found=found, remedy=remedy)
    if dangling:
        shown = ", ".join(str(row["missing"]) for row in dangling[:_SHOWN_DANGLING])
        remedy = "`memento care check` names each statement; `memento graph update` removes them, or `memento restore` goes back."
        yield Finding(
            kind="missing-memories",
            found=f"statements name {len(dangling):,} memories or notes that are not there: {shown}",
            remedy=remedy,
        )


_SHOWN_DANGLING = 3

_REMEDIES: Mapping[str, str] = {
    "pending-note": "A running service understands it by itself; `memento care retry` tries now, `memento forget IRI` gives it up.",
    "failed-note": "`memento care retry` tries again, `memento forget IRI` gives it up; its words are kept meanwhile.",
    "shape": "Fix the statement with `memento graph update`, or go back with `memento restore`.",
    "damaged-store": "`memento restore` puts a backup in its place; without one, `memento export` saves what can be read.",
    "degraded": "A backup stands in for the store, and nothing can be written: `memento restore` puts it in its place for good.",
}


def explain_difference(difference: Difference) -> Finding:
    """Return a difference that `find_differences` found, with the remedy: rebuilding the indexes from the graph."""
    remedy = _REMEDIES.get(
        difference.what, "`memento care rebuild` rebuilds every index from the graph; nothing is lost."
    )
    about = f"{difference.iri}: " if difference.iri else ""
    return Finding(kind=difference.what, found=f"{about}{difference.detail}", remedy=remedy)


_PART_REMEDIES: Mapping[PartName, str] = {
    "store": "Start it, or check store.query_url and store.update_url; nothing that was acknowledged is lost.",
    "index": "Start the engine, or check index.uri; if it has lost its table, `memento care rebuild` builds it again.",
    "model": "Look at the endpoint of [model]; notes wait meanwhile, or are understood by rules.",
    "notes": "`memento care retry` tries them now; a faster model or more nodes make them fewer.",
    "disk": "Make room, or move the folder to another disk and name it with --home; nothing is lost meanwhile.",
}


def explain_part(part: PartHealth) -> Finding:
    """Return a part that is not well, with the remedy."""
    remedy = _PART_REMEDIES.get(part.part, "Start the service again; the log says why.")
    return Finding(kind=f"{part.part}-{part.state}", found=f"{part.part}: {part.detail or part.state}", remedy=remedy)


def _examine_vectors(datadir: DataFolder, can_load: bool) -> Iterator[Finding]:
    if not datadir.vectors.is_file():
        return
    made_by, damage = examine_vector_file(datadir.vectors)
    if damage:
        remedy = f"Delete {datadir.vectors}: it is made again from the graph at the next start."
        yield Finding(kind="damaged-vectors", found=f"{datadir.vectors} cannot be read: {damage}", remedy=remedy)
    elif can_load and made_by != (
        wanted := embedder_of(settings.load(datadir.settings_file).embedding, None).fingerprint
    ):
        yield Finding(
            kind="other-embedder",
            found=f"the vectors were made by {made_by}, and the settings name {wanted}",
            remedy="Set the embedder back in [embedding], or let the next start embed every memory again, which takes a while.",
        )


def explain_failure(graph: Store) -> str:
    """Explain why a store with a `failure` cannot be written to, and what helps."""
    room = "Make room: writing then continues by itself, and questions" if graph.is_on_disk else "Questions"
    return f"nothing can be written: {graph.failure}. {room} are answered meanwhile"


def _explain_damage(parts: Backends) -> str | None:
    if parts.degraded:
        return str(parts.degraded)
    return f"the store is damaged: {parts.harm}. {_REMEDY}" if parts.harm else None


def _graphs_of(tenant: str, parts: Backends) -> list[IRI]:
    return [graph for graph in parts.graph.graphs() if graph.startswith(graph_iri(tenant, ""))]


_SHOWN = 100  # nodes that are named
DAMAGED = "damaged-store"
"""The name that `find_differences` uses for files that cannot be read completely."""
_REMEDY = "`memento restore` puts a backup in its place; if there is none, `memento export` saves what can be read"
_OURS = tuple(f"urn:memento:{kind}:" for kind in ("graph", "self", "provenance", "cases", "audit"))
