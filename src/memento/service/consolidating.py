"""
How notes get understood: at once, or later by a thread of the process that owns the data folder.

*Guarantees:* one note is understood at a time, in the order in which they came; nobody who only writes waits for a model. A note
that somebody else has understood, forgotten or erased in the meantime is let go.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta

from memento.consolidation import pipeline, queue
from memento.consolidation.agents import Agents, Extraction
from memento.consolidation.checked import checked
from memento.consolidation.context import reread
from memento.consolidation.task import Task, in_order, noted_before
from memento.consolidation.write import Understood, change
from memento.instants import now
from memento.model import Noted, Recollection, Scope
from memento.retrieval import pipeline as retrieval
from memento.service.held import Held

logger = logging.getLogger(__name__)


class Consolidating(Held):
    """What note, import and retry share."""

    def resume(self) -> None:
        """
        Understand the notes that wait, and those to come, and keep checkpoints, in the background until the memory is closed.

        While the memory is read-only it does nothing.
        """
        if self._parts.degraded:
            return
        self._checkpoints.wake()
        if self._waiting():
            self._worker.wake()

    def _accepted(self, task: Task) -> Task | Noted:
        """Keep a note as pending; or what became of it, when its key was used before."""
        with self._writing:
            if earlier := noted_before(task.note, task.scope, self._parts):
                return earlier
            kept, written = queue.accepted(in_order(task, self._parts))
            self._parts.commit(written, task.scope)
            return kept

    def _consolidated(
        self,
        task: Task,
        agents: Agents,
        extraction: Extraction | None = None,
        *,
        keeps_skipped: bool = False,
    ) -> Noted | None:
        """
        Understand a note and write what came of it; None when the note waits no more.

        Raises:
            BackendError: store, embedder or model failed; nothing was written.
            ShapeViolation: what was understood breaks a shape; nothing was written.
        """
        with self._understanding:
            if task.run is None and (earlier := noted_before(task.note, task.scope, self._parts)):
                return earlier
            understood = replace(
                pipeline.understand(task, self._means(agents), extraction), keeps_skipped=keeps_skipped
            )
            if agents.kind == "model" or self.settings.consolidation.check_rules:
                checked(change(understood)[0], understood)
            return self._written(understood)

    def _written(self, understood: Understood) -> Noted | None:
        """The write phase: what may have changed while the note was being understood is looked at once more."""
        task = understood.task
        with self._writing:
            if task.run is not None and not queue.still_waits(task, self._parts):
                return None
            if task.run is None and (earlier := noted_before(task.note, task.scope, self._parts)):
                return earlier
            placed = replace(understood, task=in_order(task, self._parts))
            written, noted = change(reread(placed, self._parts))
            if written.adds or written.removes:
                self._parts.commit(written, task.scope)
            return noted

    def _tried(self, task: Task, agents: Agents) -> Noted | None:
        """
        One attempt at a pending note; None when it waits no more. A failure puts it off, or lets the rules have it.

        *Because:* the one place that forgives: whatever goes wrong, the note is in the store, and the next one must have its turn.
        """
        try:
            return self._consolidated(task, agents, keeps_skipped=True)
        except Exception as error:
            return self._put_off(task, agents, error)

    def _put_off(self, task: Task, agents: Agents, error: Exception) -> Noted | None:
        assert task.run is not None
        knobs = self.settings.consolidation
        failures = (task.run.attempts or 0) + 1
        logger.warning(
            "note.put-off", extra={"note": task.note.iri, "error": type(error).__name__, "attempt": failures}
        )
        is_last = failures > knobs.retries
        by_rules = is_last and agents.kind == "model" and self.settings.model.fallback_to_rules
        wait_s = min(knobs.retry_wait_s * 2 ** min(failures - 1, 30), knobs.retry_most_s)
        gives_up = is_last and agents.kind == "rules"
        with self._writing:
            if not queue.still_waits(task, self._parts):
                return None
            task, written = queue.put_off(
                task,
                error,
                "failed" if gives_up else "pending",
                None if gives_up else now() + timedelta(seconds=wait_s),
            )
            self._parts.commit(written, task.scope)
            self._put_off_here.add(task.note.iri)
        if by_rules:
            return self._tried(task, self._rules)
        return Noted(note=task.note.iri, pending=True)

    def _waiting(self) -> list[queue.Waiting]:
        return queue.waiting(self._parts)

    def _work(self) -> float | None:
        """Try every note that is due and can be read; seconds until the next one is, or None when none waits."""
        unreadable = set()
        for one in self._waiting():
            if self._worker.stopping.is_set():
                return None
            # A new process tries at once whatever an earlier one had put off.
            if one.note in self._put_off_here and one.retry_at and one.retry_at > now():
                continue
            if task := queue.task_again(one, self._parts):
                self._tried(task, self._agents())
            else:
                unreadable.add(one.note)
        due = [one.retry_at for one in self._waiting() if one.retry_at and one.note not in unreadable]
        return max((min(due) - now()).total_seconds(), 0.05) if due else None

    def _means(self, agents: Agents) -> pipeline.Means:
        return pipeline.Means(
            agents=agents, parts=self._parts, knobs=self.settings.consolidation, recall=self._recalled
        )

    def _recalled(self, text: str, scope: Scope) -> Recollection:
        """What a note brings back: the best there is, relevant or not, as the model is to judge that."""
        ungated = replace(self.settings, gate=replace(self.settings.gate, on=False))
        asked = retrieval.Asked(text, scope, k=self.settings.consolidation.recalled_memories)
        return retrieval.recall(asked, self._parts, ungated)
