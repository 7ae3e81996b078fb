"""
Cases: finished tasks as examples for later ones, found by likeness and by what showing them has earned.

    found = memento.retrieve_cases("Which of the two films came out first?")
    run = memento.start_case(found.task, retrieval=found.retrieval)
    memento.record_step(run.iri, "Look up both years.", result="1999 and 2003")
    memento.complete_case(run.iri, "success", plan="1. Look up both years. 2. Compare them.")

A domain is a bank of its own: nothing of it is shown in another. Without one it is the namespace, and who may not see a namespace
may not see the domain of that name either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from memento.cases import credit, described, forget, retrieve
from memento.cases.bank import embedded
from memento.cases.entities import entities_of, entities_of_each
from memento.cases.keep import keep, made
from memento.cases.rewards import checked
from memento.errors import InputError
from memento.iris import IRI
from memento.model import (
    CaseRow,
    CasesFound,
    CaseShown,
    Change,
    Credited,
    Outcome,
)
from memento.service.case_looks import CaseLooks
from memento.time import instant


class Cases(CaseLooks):
    """What one can ask of cases."""

    def add_cases(
        self, rows: Iterable[CaseRow], *, domain: str | None = None, namespace: str | None = None
    ) -> tuple[IRI, ...]:
        """
        Keep finished tasks as cases, in one write; returns their IRIs in the order of the rows.

        Where that makes more than `cases.limit`, the least valuable go.

        Raises:
            InputError: an empty task or plan, an unknown outcome, or a reward that is out of range or contradicts the outcome;
                names the row, counted from 1; nothing is stored.
            TooLong: a text over `limits.text_bytes`.
            BackendError: store or embedder failed; nothing was written.
        """
        listed = list(rows)
        for number, row in enumerate(listed, start=1):
            self._checked(row.task, f"task of row {number}")
            self._checked(row.plan, f"plan of row {number}")
            try:
                if row.outcome is not None or row.reward is not None:
                    self._earned(row.outcome, row.reward, None, None)
            except InputError as error:
                raise InputError(f"row {number}: {error}") from error
        with self._writing:
            scope, _, held = self._domain(domain, namespace, "write")
            writer, knobs = self._writer(scope), self.settings.cases
            concerned = entities_of_each([(row.task, row.about) for row in listed], scope, self._parts)
            cases = [
                made(row, about, held.graph, writer.at, knobs) for row, about in zip(listed, concerned, strict=True)
            ]
            iris = tuple(one.case.iri for one in cases)
            keep(cases, Change(), held, writer)
            forget.prune(held, knobs, writer)
        return iris

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
        """
        The cases to follow and those to avoid for a task, each best first, with why each was chosen.

        What was shown is kept under `retrieval`, so that `reward_cases` can tell what came of it; where the domain has no cases, or
        nothing can be written, nothing is kept, and it is None.

        Args:
            k: most cases of either section; default the setting `cases.k`.
            about: entities that the task concerns, by IRI, beside those that it names.
            since, until: when the cases were finished: since ≤ at < until.
            explore: draw the cases to follow by a softmax of their scores, instead of taking the best.

        Raises:
            InputError: empty task, k out of range.
            TooLong: task over `limits.text_bytes`.
            Forbidden: no access to the domain.
        """
        self._checked(task, "task")
        knobs = self.settings.cases
        if k is not None and not 1 <= k <= self.settings.limits.results:
            raise InputError(f"k must be from 1 to {self.settings.limits.results}, not {k}")
        with self._writing:
            scope, name, held = self._domain(domain, namespace)
            concerned = entities_of(task, about, scope, self._parts)
            asked = retrieve.Asked(
                task=task,
                k=k or knobs.k,
                about=concerned,
                since=None if since is None else instant(since, "since", self._zone),
                until=None if until is None else instant(until, "until", self._zone),
                explore=explore,
            )
            writer = self._writer(scope)
            found, vector = retrieve.retrieve(asked, held, name, writer.at, self._parts, knobs)
            if not len(held.bank):
                found = replace(found, reason=f"the domain {name!r} has no cases: `cases status` lists those that have")
            if not self._keeps(held):
                return found
            return credit.keep(found, vector, concerned, held, writer, knobs.retrievals)

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
        """The same for each of several tasks, which are embedded together; raises `InputError` when they are too many."""
        if not 1 <= len(tasks) <= self.settings.limits.results:
            raise InputError(f"tasks must be from 1 to {self.settings.limits.results}, not {len(tasks)}")
        for number, task in enumerate(tasks, start=1):
            self._checked(task, f"task {number}")
        self._domain(domain, namespace)
        embedded(tasks, self._parts)
        rest = partial(self.retrieve_cases, k=k, since=since, until=until, domain=domain, namespace=namespace)
        return tuple(map(rest, tasks))

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
        """
        Tell what the task earned that some cases were shown for: they share the credit equally, and the Q function learns.

        Args:
            retrieval: as `retrieve_cases` named it; telling it again replaces what was told before.
            outcome, efficiency, score: the verdict, from which the reward follows; or `reward` itself, in −0.2…1.
            single: the rewards of single cases by IRI, where it is known which of them helped; without a verdict the others
                get none.

        Raises:
            NotFound: no such retrieval in this domain, or it did not show a case of `single`.
            InputError: neither a verdict nor a reward, or out of range.
        """
        apart = {IRI(iri): checked(value) for iri, value in (single or {}).items()}
        told = apart and outcome is None and reward is None and score is None
        earned = None if told else self._earned(outcome, reward, efficiency, score)
        with self._writing:
            scope, _, held = self._domain(domain, namespace, "write")
            writer = self._writer(scope)
            debt = credit.owed(retrieval, earned, apart, held, writer)
            writer.write(debt.change, "cases.reward", [debt.retrieval, *(pair.case for pair in debt.pairs)])
            return credit.settled(debt, held, writer)

    def get_case(self, case: str, *, domain: str | None = None, namespace: str | None = None) -> CaseShown:
        """Everything about one case, its verdicts and steps among it; raises `NotFound`."""
        with self._writing:
            _, name, held = self._domain(domain, namespace)
            return described.described(case, held, name, self._parts)

    def list_cases(
        self,
        *,
        limit: int = 50,
        offset: int = 0,
        domain: str | None = None,
        namespace: str | None = None,
    ) -> tuple[CaseShown, ...]:
        """The cases of a domain, the latest first, without steps and verdicts."""
        if not 1 <= limit <= self.settings.limits.results:
            raise InputError(f"limit must be from 1 to {self.settings.limits.results}, not {limit}")
        if offset < 0:
            raise InputError(f"offset must not be negative, not {offset}")
        with self._writing:
            _, name, held = self._domain(domain, namespace)
            return described.listed(limit, offset, held, name, self._parts)

    def forget_case(
        self, case: str, *, erase: bool = False, domain: str | None = None, namespace: str | None = None
    ) -> IRI:
        """
        Show a case no more.

        Args:
            erase: also delete its texts, its steps, its verdicts and that it was ever shown; the Q function then learns anew.

        Raises:
            NotFound: no such case in this domain.
        """
        with self._writing:
            scope, _, held = self._domain(domain, namespace, "write")
            iri = forget.forget(case, held, self._writer(scope))
            if erase:
                forget.erase([iri], held, self._writer(scope))
            return iri
