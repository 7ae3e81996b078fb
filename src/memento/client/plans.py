"""The calls about plans, over HTTP: see `service.plans`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memento.client.cases import CaseCalls, made

if TYPE_CHECKING:
    from memento.iris import IRI
    from memento.model import Doubt, Executed, Offered, Planned, StepState, TaskRun


class PlanCalls(CaseCalls):
    """What one can have done."""

    def plan_task(
        self,
        task: str,
        *,
        steps: Sequence[str] = (),
        retrieval: str | None = None,
        k: int | None = None,
        about: Sequence[str] = (),
        domain: str | None = None,
        namespace: str | None = None,
    ) -> Planned:
        """See `Memento.plan_task`."""
        from memento.model import Planned

        given = {"steps": list(steps), "retrieval": retrieval, "k": k, "about": list(about)}
        return made(Planned, self.ask("plan_task", task=task, domain=domain, namespace=namespace, **given))

    def execute_task(
        self,
        run: str,
        *,
        uncertain: Doubt = "ask",
        complete: bool = True,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> Executed:
        """See `Memento.execute_task`."""
        from memento.model import Executed

        where = {"domain": domain, "namespace": namespace}
        return made(Executed, self.ask("execute_task", run=run, uncertain=uncertain, complete=complete, **where))

    def list_tools(self) -> tuple[Offered, ...]:
        """See `Memento.list_tools`."""
        from memento.model import Offered

        return made(tuple[Offered, ...], self.ask("list_tools"))

    def task_runs(
        self,
        *,
        state: StepState | None = None,
        limit: int = 50,
        offset: int = 0,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> tuple[TaskRun, ...]:
        """See `Memento.task_runs`."""
        from memento.model import TaskRun

        page = {"state": state, "limit": limit, "offset": offset}
        return made(tuple[TaskRun, ...], self.ask("task_runs", domain=domain, namespace=namespace, **page))

    def prune_cases(self, keep: int, *, domain: str | None = None, namespace: str | None = None) -> tuple[IRI, ...]:
        """See `Memento.prune_cases`."""
        from memento.iris import IRI

        return made(tuple[IRI, ...], self.ask("prune_cases", keep=keep, domain=domain, namespace=namespace))
