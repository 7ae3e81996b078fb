"""
Plans: made of cases, kept as they are carried out, and carried out with the tools of configured servers.

    planned = memento.plan_task("Put the size of report.txt into my notes.")
    done = memento.execute_task(planned.run.iri)
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from memento.cases import credit, forget, runs
from memento.cases import plan as plans
from memento.cases import run as one_run
from memento.cases.entities import entities_of
from memento.cases.execute import ANSWER, Ended, Execution, Shown
from memento.errors import Conflict, Forbidden, InputError
from memento.iris import IRI, mint
from memento.llm import chats_of
from memento.llm.tools import Toolbox, servers_of
from memento.model import (
    DOUBTS,
    CasesFound,
    Completed,
    Doubt,
    Executed,
    Offered,
    Outcome,
    Planned,
    StepState,
    TaskRun,
    TaskStep,
    Trajectory,
)
from memento.ports import Chat
from memento.service.case_runs import CaseRuns
from memento.service.cases import Cases

_under_way: set[IRI] = set()
_lock = threading.Lock()


class Plans(CaseRuns, Cases):
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
        """
        Plan a task after the cases that are most like it; the plan is kept, and `execute_task` carries it out.

        A model plans where the settings have one; otherwise the plan of the best case that worked is taken over, with what its
        task names replaced by what this one names.

        Args:
            steps: the plan, when the caller has one; the cases that are like it had no part in it, and share no reward.
            retrieval: the look-up whose cases those steps were made of, which then do.
            k: most cases of either section that are shown for it.
            about: entities that the task concerns, by IRI, beside those that it names.

        Raises:
            InputError: neither steps, nor a model, nor a case to follow; a retrieval without steps; or more steps than a task
                may have.
            NotFound: no such retrieval in this domain.
            ModelError: the model gave no usable plan.
            ToolError: a configured server cannot be used.
        """
        self._checked(task, "task")
        for number, step in enumerate(steps, start=1):
            self._checked(step, f"step {number}")
        if retrieval is not None and not steps:
            raise InputError("retrieval goes with steps: it names the look-up that your own plan was made of")
        self._in(namespace, "write")
        if retrieval is None:
            found = self.retrieve_cases(task, k=k, about=about, domain=domain, namespace=namespace)
        else:
            found = self._looked_up(task, retrieval, domain, namespace)
        draft = self._drafted(task, steps, found)
        most = self.settings.executor.steps
        if len(draft.steps) > most:
            raise InputError(f"a plan may have at most {most} steps (steps of [executor]), not {len(draft.steps)}")
        with self._writing:
            scope, name, held = self._domain(domain, namespace, "write")
            writer = self._writer(scope)
            way = Trajectory(
                iri=mint("trajectory"),
                state=mint("state"),
                at=writer.at,
                progress="pending",
                action=mint("action"),
                retrieval=None if steps and retrieval is None else found.retrieval,
                about=entities_of(task, about, scope, self._parts),
            )
            change = runs.begun(task, plans.numbered(draft.steps), draft.steps, way, held.graph)
            writer.write(change, "cases.plan", [way.iri], task)
            run = one_run.read(way.iri, held, self._parts).told(name)
        return Planned(run=run, by=draft.by, reason=draft.reason, found=found, tokens=draft.tokens)

    def execute_task(
        self,
        run: str,
        *,
        uncertain: Doubt = "ask",
        complete: bool = True,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> Executed:
        """
        Carry out a task from the step that is next, with the tools of the servers in `[executor]`.

        It ends when the steps are done, when no further plan is left after a failure, at a limit, or at a step that cannot be
        tried for want of a model or a tool; then, as after a death of the process, the next call goes on from there.

        Args:
            uncertain: what to do about a call that was under way when the process ended: `ask`, `repeat` or `skip` it.
            complete: make a case of it when it is done or has failed; otherwise that is left to `complete_case`.

        Raises:
            Forbidden: the caller has not the whole data folder: tools work in its owner's name.
            NotFound: no such run in this domain.
            Conflict: it is complete already, or being carried out.
            ToolError: a configured server cannot be used.
        """
        self._may_use_tools()
        if uncertain not in DOUBTS:
            raise InputError(f"uncertain must be one of {', '.join(DOUBTS)}, not {uncertain!r}")
        with self._writing:
            _, name, held = self._domain(domain, namespace, "write")
            told = one_run.pending(run, held, self._parts).told(name)
        if not told.steps:
            raise InputError(
                "the run has no steps to carry out: plan the task with `plan_task`, or record pending steps"
            )

        def keep(step: TaskStep) -> None:
            self._put(told.iri, step, domain, namespace)

        cases = self._cases_for(told, domain, namespace)
        with self._alone(told.iri), self._thinking() as chats, self._tools() as tools:
            ended = Execution(told, cases, tools, chats, self.settings.executor, keep).go(uncertain)
            completed = None
            if complete and ended.ending in ("done", "failed"):
                completed = self._completed(told.iri, ended, domain, namespace)
        return Executed(
            run=self.task_run(run, domain=domain, namespace=namespace),
            ending=ended.ending,
            reason=ended.reason,
            answer=ended.answer,
            calls=ended.calls,
            tokens=ended.tokens,
            seconds=ended.seconds,
            completed=completed,
        )

    def list_tools(self) -> tuple[Offered, ...]:
        """The tools of the servers in `[executor]`; raises `Forbidden`, `ToolError` or `SettingsError`."""
        self._may_use_tools()
        with self._tools() as tools:
            return tuple(tools.offered.values())

    def task_runs(
        self,
        *,
        state: StepState | None = None,
        limit: int = 50,
        offset: int = 0,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> tuple[TaskRun, ...]:
        """The tasks of a domain, the latest first, without their steps; `pending` ones are under way or were left."""
        if not 1 <= limit <= self.settings.limits.results:
            raise InputError(f"limit must be from 1 to {self.settings.limits.results}, not {limit}")
        if offset < 0:
            raise InputError(f"offset must not be negative, not {offset}")
        with self._writing:
            _, name, held = self._domain(domain, namespace)
            found = runs.listed([state] if state else ["pending", "done"], held, name, self._parts)
        return tuple(found[offset : offset + limit])

    def prune_cases(self, keep: int, *, domain: str | None = None, namespace: str | None = None) -> tuple[IRI, ...]:
        """Let the least valuable cases of a domain go until it has `keep`; it keeps one at least. Returns those that went."""
        if keep < 1:
            raise InputError(f"keep must be at least 1, not {keep}")
        with self._writing:
            scope, _, held = self._domain(domain, namespace, "write")
            return forget.prune(held, replace(self.settings.cases, limit=keep), self._writer(scope))

    def _drafted(self, task: str, steps: Sequence[str], found: CasesFound) -> plans.Draft:
        if steps:
            own = tuple(" ".join(step.split()) for step in steps)
            return plans.Draft(steps=own, by="caller", reason="the caller's own plan")
        with self._thinking() as chats:
            if chats is None:
                return plans.by_template(task, found, self.settings.cases.template_from)
            with ExitStack() as stack:
                offered = stack.enter_context(self._tools()).offered if self._has_whole_folder else {}
                return plans.by_model(chats[0], task, found, offered, most=self.settings.executor.steps)

    def _looked_up(self, task: str, retrieval: str, domain: str | None, namespace: str | None) -> CasesFound:
        """The cases that an earlier look-up showed; raises `NotFound`."""
        with self._writing:
            _, name, held = self._domain(domain, namespace)
            credit.known(retrieval, held, self._parts)
            return runs.shown_for(task, IRI(retrieval), name, held, self._parts)

    def _cases_for(self, run: TaskRun, domain: str | None, namespace: str | None) -> Shown:
        """The cases that a run is planned again with: those that it was planned with, or else those that are like it now."""

        def find() -> CasesFound:
            if run.retrieval is None:
                return self.retrieve_cases(run.task, domain=domain, namespace=namespace)
            with self._writing:
                _, name, held = self._domain(domain, namespace)
                return runs.shown_for(run.task, run.retrieval, name, held, self._parts)

        def follow(found: CasesFound) -> None:
            with self._writing:
                scope, _, held = self._domain(domain, namespace, "write")
                if one_run.pending(run.iri, held, self._parts).trajectory.retrieval is None and found.retrieval:
                    self._writer(scope).write(runs.followed(run.iri, found, held.graph), "cases.plan", [run.iri])

        return Shown(find, follow, self.settings.cases.template_from)

    def _completed(self, run: IRI, ended: Ended, domain: str | None, namespace: str | None) -> Completed:
        done = [one.task for one in ended.steps if one.state == "done" and one.task != ANSWER]
        tried = [one.task for one in ended.steps if one.state in ("done", "failed") and one.task != ANSWER]
        outcome: Outcome = "success" if ended.ending == "done" else "partial" if done else "failure"
        saved = max(0.0, 1 - len(ended.steps) / self.settings.executor.steps)
        return self.complete_case(
            run,
            outcome,
            plan=plans.numbered((done if outcome == "success" else tried) or [one.task for one in ended.steps]),
            efficiency=saved if outcome == "success" else None,
            reason=plans.short(ended.reason),
            domain=domain,
            namespace=namespace,
        )

    def _put(self, run: IRI, step: TaskStep, domain: str | None, namespace: str | None) -> None:
        """Write one step as it is now."""
        with self._writing:
            scope, _, held = self._domain(domain, namespace, "write")
            kept = one_run.pending(run, held, self._parts)
            self._writer(scope).write(one_run.stepped(kept, step, (), held.graph), "cases.step", [run])

    def _may_use_tools(self) -> None:
        self._access.needs("admin")
        if not self._has_whole_folder:
            raise Forbidden(
                "tools work in the name of whoever has the data folder: it takes an admin token of its tenant for all namespaces"
            )

    @property
    def _has_whole_folder(self) -> bool:
        try:
            self._as_owner()
        except Forbidden:
            return False
        return True

    def _tools(self) -> Toolbox:
        knobs = self.settings.executor
        return Toolbox(servers_of(knobs), knobs)

    @contextmanager
    def _thinking(self) -> Iterator[tuple[Chat, Chat] | None]:
        """The models that plan and act, where there are any."""
        chats = chats_of(self.settings.model)
        try:
            yield (chats["plan"], chats["act"]) if chats else None
        finally:
            for chat in chats.values():
                chat.close()

    @contextmanager
    def _alone(self, run: IRI) -> Iterator[None]:
        """Raises `Conflict` when the run is being carried out already."""
        with _lock:
            if run in _under_way:
                raise Conflict(f"the run <{run}> is being carried out already")
            _under_way.add(run)
        try:
            yield
        finally:
            with _lock:
                _under_way.discard(run)
