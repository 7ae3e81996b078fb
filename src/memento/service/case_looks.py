"""How the cases of a domain look and how well they do: points of view, figures, how far learning has come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from memento.cases import metrics, navigate
from memento.cases.entities import called, entities_of
from memento.errors import InputError
from memento.iris import IRI
from memento.model import TILTS, ZOOMS, CaseMetrics, CaseStatus, Navigated, Tilt, Zoom
from memento.service.cased import Cased
from memento.time import instant


class CaseLooks(Cased):
    """What one can look at."""

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
        """
        Look at the cases of a domain from a point of view, and keep that one has looked, where there are any.

        Args:
            zoom: what is looked at: cases, the steps they took, or communities of cases that share entities.
            pan: only what concerns all of these: entities by IRI or name, or words of the task.
            tilt: put in order by likeness to `task`, by its words, by shared entities, or by time; default by likeness with a
                task, and by time without one.
            since, until: only cases finished in since ≤ at < until.
            previous: an earlier view: what was seen there comes a little earlier.

        Raises:
            InputError: an unknown zoom or tilt, no task where the tilt needs one, or limit out of range.
            NotFound: no such earlier view.
        """
        if tilt is None:
            tilt = "temporal" if task is None else "embedding"
        if zoom not in ZOOMS or tilt not in TILTS:
            raise InputError(f"zoom must be one of {', '.join(ZOOMS)} and tilt one of {', '.join(TILTS)}")
        if task is None and tilt in ("embedding", "keyword"):
            raise InputError(f"the tilt {tilt!r} puts cases in order by a task: give task, or the tilt 'temporal'")
        if not 1 <= limit <= self.settings.limits.results:
            raise InputError(f"limit must be from 1 to {self.settings.limits.results}, not {limit}")
        if task is not None:
            self._checked(task, "task")
        with self._writing:
            scope, _, held = self._domain(domain, namespace)
            entities, words = navigate.within_pan(pan, held.bank, partial(called, scope=scope, parts=self._parts))
            look = navigate.Look(
                zoom=zoom,
                tilt=tilt,
                limit=limit,
                pan=tuple(pan),
                entities=tuple(entities),
                words=tuple(words),
                task=task,
                about=entities_of(task, (), scope, self._parts) if task else (),
                since=None if since is None else instant(since, "since", self._zone),
                until=None if until is None else instant(until, "until", self._zone),
                previous=IRI(previous) if previous else None,
            )
            return navigate.navigate(look, held, self._writer(scope), keep=self._keeps(held))

    def case_metrics(self, *, domain: str | None = None, namespace: str | None = None) -> CaseMetrics:
        """How well the cases of a domain do: rankings, success, execution, the learning curve, what they cost."""
        with self._writing:
            _, name, held = self._domain(domain, namespace)
            return metrics.metrics(held, name, self._parts, self.settings.cases)

    def case_status(self, *, domain: str | None = None, namespace: str | None = None) -> CaseStatus:
        """How many cases a domain has, and how far its Q function has come."""
        with self._writing:
            scope, name, held = self._domain(domain, namespace)
            bank, learner = held.bank, held.learner
            good, bad = learner.labelled
            weight = learner.weight
            judged = bank.reward[bank.alive]
            return CaseStatus(
                domain=name,
                cases=len(bank),
                successes=int((judged >= self.settings.cases.positive_from).sum()),
                retrievals=learner.retrievals,
                labelled=good + bad,
                positives=good,
                negatives=bad,
                updates=learner.updates,
                beta=weight.beta,
                guarded=weight.guarded,
                reason=weight.reason,
                auc_q=weight.auc_q,
                auc_cosine=weight.auc_cosine,
                domains=self._domains_seen(scope),
            )
