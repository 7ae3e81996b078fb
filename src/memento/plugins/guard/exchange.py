"""One machine's turn in the exchange of patches: send what is new here, merge what others sent, send what the merge changed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from memento.archive.exchange import PreparedImport
from memento.errors import MementoError
from memento.graph import mapping
from memento.graph.store import parse_quads, serialise_quads
from memento.intake.redaction import Redaction
from memento.iris import MEM, audit_iri, mint
from memento.model import Change, Quad, Scope, Update
from memento.plugins.guard.ledger import Ledger
from memento.plugins.guard.merge import prepare_merge, write_merge
from memento.plugins.guard.nouns import Synced
from memento.plugins.guard.patches import (
    Merger,
    Patch,
    blank_patches,
    collect_changes,
    find_footing,
    find_rivals,
    list_graphs,
    list_patches,
    note_own,
    read_known,
    read_patches,
    record_patches,
    write_patch,
)
from memento.service import Context
from memento.time import now

logger = logging.getLogger(__name__)


class Exchange:
    """One machine's exchange of patches; `importing` is held. Nothing is applied until all patches were found complete."""

    def __init__(self, ledger: Ledger, folder: Path, scope: Scope, context: Context, *, is_trial: bool) -> None:
        self._ledger, self._folder, self._scope, self._context = ledger, folder, scope, context
        self._service, self._parts, self._is_trial = context.service, context.stores, is_trial
        self._sent = self._withdrawn = 0

    def take_turn(self) -> Synced:
        """Send, receive, and send what the merge changed."""
        if not self._is_trial:
            self._recover()
        ledger = self._ledger
        joined = not ledger.last_patches()
        patches = read_patches(self._folder, ledger.last_patches())
        if not joined:
            self._send_patch()
        redaction = self._context.begin_redaction(None)
        merger, rivals = self._take_patches(patches, redaction) if patches else (None, 0)
        redacted = redaction.close(is_trial=self._is_trial)
        if joined or rivals or redacted:
            self._send_patch()
        if not self._is_trial:
            blank_patches(self._folder, ledger)
        return Synced(
            machine="" if joined and self._is_trial else ledger.machine,  # a trial run creates no name
            sent=self._sent,
            withdrawn=self._withdrawn,
            patches=len(patches),
            added=len(merger.adds) if merger else 0,
            removed=len(merger.removes) if merger else 0,
            rivals=rivals,
            overruled=merger.overruled if merger else 0,
            machines=tuple(sorted(list_patches(self._folder))),
            joined=joined,
            redacted=redacted,
            dry_run=self._is_trial,
        )

    def _recover(self) -> None:
        """Record what an earlier run did before it was killed, or start over if the memory was replaced by an older one."""
        ledger, graph = self._ledger, self._parts.graph
        said, known, found = read_known(graph, self._scope.tenant), ledger.last_patches(), list_patches(self._folder)
        intended, name = ledger.read_intent()
        own = found.get(ledger.machine, {})
        begun = {machine: number for machine, number in intended.items() if number > known.get(machine, 0)}
        if begun and (
            any(said.get(one, 0) >= number for one, number in begun.items()) or (self._folder / name).is_file()
        ):
            patches = read_patches(self._folder, known)
            patches = [one for one in patches if one.sequence <= begun.get(one.machine, 0)]
            with self._service.writing, ledger.transaction():
                Merger(ledger, graph, list_graphs(graph, self._scope.tenant)).merge_patches(patches)
                self._parts.apply(Change(tuple(record_patches(patches, self._scope.tenant))))
            said, known = read_known(graph, self._scope.tenant), ledger.last_patches()
        last = known.get(ledger.machine, 0)
        is_earlier = any(said.get(machine, 0) < number for machine, number in known.items())
        if is_earlier or last not in (0, max(own, default=0)):
            logger.warning("sync.joins-anew", extra={"machine": ledger.machine})
            ledger.begin_anew()

    def _send_patch(self) -> None:
        """Write a patch of local changes, if there are any. No lock is held while the folder is written, since it may be slow."""
        ledger, graph, tenant = self._ledger, self._parts.graph, self._scope.tenant
        with self._service.writing:
            graphs = list_graphs(graph, tenant)
            adds, removes, erases = collect_changes(ledger, graph, graphs)
            footing = find_footing(adds, graph, graphs)
        self._sent, self._withdrawn = self._sent + len(adds), self._withdrawn + len(removes) + len(erases)
        if self._is_trial or not (adds or removes or erases):
            return
        known = ledger.last_patches()
        patch = Patch(
            machine=ledger.machine,
            sequence=known.pop(ledger.machine, 0) + 1,
            stamp=max(round(self._parts.clock().timestamp() * 1000), ledger.latest() + 1),
            adds=tuple(adds),
            removes=tuple(removes),
            erases=tuple(erases),
            footing=tuple(footing),
            known=known,
        )
        fresh, name = write_patch(patch, self._folder)
        ledger.intend({patch.machine: patch.sequence}, name)
        fresh.replace(self._folder / name)
        with self._service.writing, ledger.transaction():  # concurrent writes go into the next patch
            self._parts.apply(Change(tuple(record_patches([patch], tenant))))
            note_own(patch, ledger)

    def _take_patches(self, patches: Sequence[Patch], redaction: Redaction) -> tuple[Merger, int]:
        """Merge patches of others: first a trial without the locks, which may take long, then the real merge."""
        ledger, parts = self._ledger, self._parts
        with ledger.transaction(is_trial=True):
            trial = self._merge(patches)
            rivals = find_rivals(trial, ledger, parts.graph)
            if self._is_trial:
                return trial, _count_links(rivals)
            prepared = self._prepare(trial, redaction)
        ledger.intend({patch.machine: patch.sequence for patch in patches})  # the last patch of each machine wins
        try:
            with self._service.understanding, self._service.writing, ledger.transaction():
                merger = self._merge(patches)
                rivals = find_rivals(merger, ledger, parts.graph)
                if (merger.adds.keys(), merger.removes.keys()) != (trial.adds.keys(), trial.removes.keys()):
                    prepared.vectors.undo()
                    prepared = self._prepare(merger, redaction)
                entry = Update(
                    iri=mint("update"),
                    at=now(),
                    token=self._context.access.name,
                    graphs=prepared.graphs,
                    added=len(merger.adds),
                    removed=len(merger.removes),
                )
                audit = mapping.quads(entry, audit_iri(self._scope.tenant))
                ledger_says = record_patches(patches, self._scope.tenant)
                write_merge(prepared, merger.removes.keys(), [*rivals, *audit, *ledger_says], self._scope, parts)
        except MementoError:
            prepared.vectors.undo()
            raise
        return merger, _count_links(rivals)

    def _merge(self, patches: Sequence[Patch]) -> Merger:
        graph = self._parts.graph
        merger = Merger(self._ledger, graph, list_graphs(graph, self._scope.tenant))
        merger.merge_patches(patches)
        return merger

    def _prepare(self, merger: Merger, redaction: Redaction) -> PreparedImport:
        lines = redaction.redact_quads(serialise_quads(merger.adds))
        return prepare_merge(
            parse_quads(lines),
            merger.removes.keys(),
            self._scope,
            self._parts,
            "what came",
            None,
            self._context.progress,
        )


def _count_links(quads: Sequence[Quad]) -> int:
    return sum(1 for quad in quads if quad[2] == MEM.Rivalry)
