"""How a task is carried out, kept step by step until it ends and becomes a case."""

from __future__ import annotations

from collections.abc import Sequence

from memento.cases import credit
from memento.cases import run as runs
from memento.cases.entities import entities_of
from memento.cases.forget import prune
from memento.cases.keep import finished, keep
from memento.errors import InputError
from memento.iris import mint, parse_iri
from memento.model import Completed, Outcome, StepState, TaskRun, TaskStep, ToolCall, Trajectory, Verdict
from memento.service.cased import Cased


class CaseRuns(Cased):
    """Tasks under way."""

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
        """
        Begin to keep how a task is carried out; `complete_case` makes a case of it.

        Args:
            plan: what is to be done, when that is known; `complete_case` may say better.
            retrieval: the cases that were shown for it, which then share its reward.
            about: entities that it concerns, by IRI, beside those that it names.
            derived_from: memories and notes that it uses.

        Raises:
            NotFound: no such retrieval in this domain.
        """
        self._checked(task, "task")
        if plan is not None:
            self._checked(plan, "plan")
        with self._writing:
            scope, name, held = self._domain(domain, namespace, "write")
            if retrieval is not None:
                credit.known(retrieval, held, self._parts)
            writer = self._writer(scope)
            way = Trajectory(
                iri=mint("trajectory"),
                state=mint("state"),
                at=writer.at,
                progress="pending",
                action=mint("action") if plan else None,
                retrieval=parse_iri(retrieval) if retrieval else None,
                about=entities_of(task, about, scope, self._parts),
                derived_from=tuple(dict.fromkeys(map(parse_iri, derived_from))),
            )
            writer.write(runs.begun(task, plan, way, held.graph), "cases.start", [way.iri], task)
            return runs.read(way.iri, held, self._parts).told(name)

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
        """
        Keep one step of a task with the calls of tools it made.

        Args:
            step: its place, counted from 0: a step that is there is replaced; default after the last.

        Raises:
            NotFound: no such run in this domain.
            Conflict: it is complete already.
        """
        self._checked(task, "task of the step")
        with self._writing:
            scope, name, held = self._domain(domain, namespace, "write")
            kept = runs.pending(run, held, self._parts)
            place = step if step is not None else max((one.step for one, _ in kept.steps), default=-1) + 1
            if place < 0:
                raise InputError(f"step must not be negative, not {place}")
            done = TaskStep(step=place, task=task, state=state, result=result or None, tools=tuple(tools))
            change = runs.stepped(kept, done, [parse_iri(one) for one in derived_from], held.graph)
            self._writer(scope).write(change, "cases.step", [kept.trajectory.iri])
            return runs.read(run, held, self._parts).told(name)

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
        """
        End a task: it becomes a case with its reward, and the cases that were shown for it share the credit.

        Args:
            outcome, efficiency, score: the verdict, from which the reward follows; or `reward` itself, in −0.2…1.
            plan: what was done; default the plan it began with, else its steps.
            reason: why the verdict is what it is.

        Raises:
            NotFound: no such run in this domain.
            Conflict: it is complete already.
            InputError: no verdict, or nothing to make a plan of.
        """
        earned = self._earned(outcome, reward, efficiency, score)
        with self._writing:
            scope, _, held = self._domain(domain, namespace, "write")
            kept, writer, knobs = runs.pending(run, held, self._parts), self._writer(scope), self.settings.cases
            done = plan or kept.plan or runs.plan_of(kept)
            if not done.strip():
                raise InputError("a case needs a plan: give one, or record the steps of the task")
            verdict = Verdict(
                reward=earned, at=writer.at, outcome=outcome, efficiency=efficiency, score=score, reason=reason
            )
            case = finished(kept, done, verdict, held.graph)
            ends = runs.ended(kept, knobs.record_chars, knobs.pack, held.graph)
            shown = kept.trajectory.retrieval
            debt = None
            if shown and credit.exists(shown, held, self._parts):
                debt = credit.owed(shown, earned, {}, held, writer)
            keep([case], ends + debt.change if debt else ends, held, writer, "cases.complete")
            credited = credit.settled(debt, held, writer) if debt else None
            pruned = prune(self._domains.of(held.graph), knobs, writer)
            return Completed(case=case.case.iri, reward=earned, credited=credited, pruned=pruned)

    def task_run(self, run: str, *, domain: str | None = None, namespace: str | None = None) -> TaskRun:
        """A task under way or done, with its steps in order; raises `NotFound`."""
        with self._writing:
            _, name, held = self._domain(domain, namespace)
            return runs.read(run, held, self._parts).told(name, runs.case_of(run, held, self._parts))
