"""The calls about cases, over HTTP: see `service.cases` and `service.case_runs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from memento.client.connection import Connection

if TYPE_CHECKING:
    from datetime import datetime

    from memento.iris import IRI
    from memento.model import (
        CaseMetrics,
        CaseRow,
        CasesFound,
        CaseShown,
        CaseStatus,
        Completed,
        Credited,
        Navigated,
        Outcome,
        StepState,
        TaskRun,
        Tilt,
        ToolCall,
        Zoom,
    )

T = TypeVar("T")


class CaseCalls(Connection):
    """What one can ask of cases."""

    def add_cases(
        self, rows: Iterable[CaseRow], *, domain: str | None = None, namespace: str | None = None
    ) -> tuple[IRI, ...]:
        """See `Memento.add_cases`."""
        from memento.codec import plain
        from memento.iris import IRI

        told = [plain(row) for row in rows]
        return made(tuple[IRI, ...], self.ask("add_cases", rows=told, domain=domain, namespace=namespace))

    def retrieve_cases(
        self,
        task: str,
        *,
        k: int | None = None,
        about: Sequence[str] = (),
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        explore: bool = False,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> CasesFound:
        """See `Memento.retrieve_cases`."""
        from memento.model import CasesFound

        where = {"domain": domain, "namespace": namespace, "since": since, "until": until}
        return made(CasesFound, self.ask("retrieve_cases", task=task, k=k, about=list(about), explore=explore, **where))

    def retrieve_cases_each(
        self,
        tasks: Sequence[str],
        *,
        k: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> tuple[CasesFound, ...]:
        """See `Memento.retrieve_cases_each`."""
        from memento.model import CasesFound

        where = {"domain": domain, "namespace": namespace, "since": since, "until": until}
        return made(tuple[CasesFound, ...], self.ask("retrieve_cases_each", tasks=list(tasks), k=k, **where))

    def reward_cases(
        self,
        retrieval: str,
        outcome: Outcome | None = None,
        *,
        reward: float | None = None,
        efficiency: float | None = None,
        score: float | None = None,
        single: Mapping[str, float] | None = None,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> Credited:
        """See `Memento.reward_cases`."""
        from memento.model import Credited

        verdict = {"outcome": outcome, "reward": reward, "efficiency": efficiency, "score": score, "single": single}
        where = {"domain": domain, "namespace": namespace}
        return made(Credited, self.ask("reward_cases", retrieval=retrieval, **verdict, **where))

    def get_case(self, case: str, *, domain: str | None = None, namespace: str | None = None) -> CaseShown:
        """See `Memento.get_case`."""
        from memento.model import CaseShown

        return made(CaseShown, self.ask("get_case", case=case, domain=domain, namespace=namespace))

    def list_cases(
        self,
        *,
        limit: int = 50,
        offset: int = 0,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> tuple[CaseShown, ...]:
        """See `Memento.list_cases`."""
        from memento.model import CaseShown

        answer = self.ask("list_cases", limit=limit, offset=offset, domain=domain, namespace=namespace)
        return made(tuple[CaseShown, ...], answer)

    def forget_case(
        self, case: str, *, erase: bool = False, domain: str | None = None, namespace: str | None = None
    ) -> IRI:
        """See `Memento.forget_case`."""
        from memento.iris import IRI

        return made(IRI, self.ask("forget_case", case=case, erase=erase, domain=domain, namespace=namespace))

    def navigate_cases(
        self,
        *,
        zoom: Zoom = "case",
        pan: Sequence[str] = (),
        tilt: Tilt | None = None,
        task: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        previous: str | None = None,
        limit: int = 20,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> Navigated:
        """See `Memento.navigate_cases`."""
        from memento.model import Navigated

        view = {"zoom": zoom, "pan": list(pan), "tilt": tilt, "task": task, "previous": previous, "limit": limit}
        where = {"domain": domain, "namespace": namespace, "since": since, "until": until}
        return made(Navigated, self.ask("navigate_cases", **view, **where))

    def case_metrics(self, *, domain: str | None = None, namespace: str | None = None) -> CaseMetrics:
        """See `Memento.case_metrics`."""
        from memento.model import CaseMetrics

        return made(CaseMetrics, self.ask("case_metrics", domain=domain, namespace=namespace))

    def case_status(self, *, domain: str | None = None, namespace: str | None = None) -> CaseStatus:
        """See `Memento.case_status`."""
        from memento.model import CaseStatus

        return made(CaseStatus, self.ask("case_status", domain=domain, namespace=namespace))

    def start_case(
        self,
        task: str,
        *,
        plan: str | None = None,
        retrieval: str | None = None,
        about: Sequence[str] = (),
        derived_from: Sequence[str] = (),
        domain: str | None = None,
        namespace: str | None = None,
    ) -> TaskRun:
        """See `Memento.start_case`."""
        from memento.model import TaskRun

        given = {"plan": plan, "retrieval": retrieval, "about": list(about), "derived_from": list(derived_from)}
        return made(TaskRun, self.ask("start_case", task=task, domain=domain, namespace=namespace, **given))

    def record_step(
        self,
        run: str,
        task: str,
        *,
        result: str | None = None,
        state: StepState = "done",
        tools: Sequence[ToolCall] = (),
        step: int | None = None,
        derived_from: Sequence[str] = (),
        domain: str | None = None,
        namespace: str | None = None,
    ) -> TaskRun:
        """See `Memento.record_step`."""
        from memento.codec import plain
        from memento.model import TaskRun

        given = {"result": result, "state": state, "tools": [plain(one) for one in tools], "step": step}
        where = {"derived_from": list(derived_from), "domain": domain, "namespace": namespace}
        return made(TaskRun, self.ask("record_step", run=run, task=task, **given, **where))

    def complete_case(
        self,
        run: str,
        outcome: Outcome | None = None,
        *,
        plan: str | None = None,
        reward: float | None = None,
        efficiency: float | None = None,
        score: float | None = None,
        reason: str | None = None,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> Completed:
        """See `Memento.complete_case`."""
        from memento.model import Completed

        verdict = {"outcome": outcome, "reward": reward, "efficiency": efficiency, "score": score, "reason": reason}
        where = {"plan": plan, "domain": domain, "namespace": namespace}
        return made(Completed, self.ask("complete_case", run=run, **verdict, **where))

    def task_run(self, run: str, *, domain: str | None = None, namespace: str | None = None) -> TaskRun:
        """See `Memento.task_run`."""
        from memento.model import TaskRun

        return made(TaskRun, self.ask("task_run", run=run, domain=domain, namespace=namespace))


def made(cls: type[T], body: bytes) -> T:
    """The noun in an answer."""
    from memento.codec import decode

    return decode(cls, body)
