"""REST for cases: one address for each method of the service. A view reads the request, calls, and renders."""

from __future__ import annotations

from typing import get_args

from flask import Blueprint, Response

from memento.interfaces.web import case_bodies as forms
from memento.interfaces.web.asked import Parameters, memory, namespace
from memento.interfaces.web.case_bodies import body
from memento.interfaces.web.rest import answered
from memento.model import TILTS, ZOOMS, StepState


class CaseRest:
    """The addresses below `/cases`."""

    def blueprint(self) -> Blueprint:
        """The routes; the fixed ones win over an IRI."""
        routes = Blueprint("cases", __name__, url_prefix="/cases")
        routes.get("")(self.list)
        routes.post("")(self.add)
        routes.post("/retrieve")(self.retrieve)
        routes.post("/retrieve/each")(self.retrieve_each)
        routes.post("/retrievals/<path:retrieval>/reward")(self.reward)
        routes.get("/view")(self.view)
        routes.get("/metrics")(self.metrics)
        routes.get("/status")(self.status)
        routes.post("/runs")(self.start)
        routes.get("/runs/<path:run>")(self.run)
        routes.post("/runs/<path:run>/steps")(self.step)
        routes.post("/runs/<path:run>/complete")(self.complete)
        routes.post("/runs/<path:run>/execute")(self.execute)
        routes.get("/runs")(self.runs)
        routes.post("/plan")(self.plan)
        routes.get("/tools")(self.tools)
        routes.post("/prune")(self.prune)
        routes.get("/<path:case>")(self.get)
        routes.delete("/<path:case>")(self.forget)
        return routes

    def add(self) -> Response:
        """Keep finished tasks as cases."""
        Parameters()
        return answered(memory().add_cases(**forms.kept()), 201)

    def retrieve(self) -> Response:
        """The cases to follow and those to avoid for a task."""
        Parameters()
        return answered(memory().retrieve_cases(**body(forms.Wanted)))

    def retrieve_each(self) -> Response:
        """The same for each of several tasks."""
        Parameters()
        return answered(memory().retrieve_cases_each(**body(forms.WantedEach)))

    def reward(self, retrieval: str) -> Response:
        """Tell what came of the task that cases were shown for."""
        Parameters()
        return answered(memory().reward_cases(retrieval, **body(forms.Earned)))

    def list(self) -> Response:
        """A page of cases, the latest first."""
        asked = Parameters("limit", "offset", "domain")
        limit = asked.number("limit")
        return answered(
            memory().list_cases(
                limit=50 if limit is None else limit,
                offset=asked.number("offset") or 0,
                domain=asked.text("domain"),
                namespace=namespace(),
            )
        )

    def get(self, case: str) -> Response:
        """Everything about one case."""
        asked = Parameters("domain")
        return answered(memory().get_case(case, domain=asked.text("domain"), namespace=namespace()))

    def forget(self, case: str) -> Response:
        """Show a case no more; with `erase=true` delete it."""
        asked = Parameters("erase", "domain")
        return answered(
            memory().forget_case(case, erase=asked.flag("erase"), domain=asked.text("domain"), namespace=namespace())
        )

    def view(self) -> Response:
        """The cases of a domain from a point of view."""
        asked = Parameters(
            "zoom", "pan", "tilt", "task", "since", "until", "previous", "limit", "domain", many=("pan",)
        )
        limit = asked.number("limit")
        return answered(
            memory().navigate_cases(
                zoom=asked.choice("zoom", ZOOMS),
                pan=asked.all("pan"),
                tilt=asked.choice("tilt", TILTS) if asked.text("tilt") else None,
                task=asked.text("task"),
                since=asked.instant("since"),
                until=asked.instant("until"),
                previous=asked.text("previous"),
                limit=20 if limit is None else limit,
                domain=asked.text("domain"),
                namespace=namespace(),
            )
        )

    def metrics(self) -> Response:
        """How well the cases of a domain do."""
        asked = Parameters("domain")
        return answered(memory().case_metrics(domain=asked.text("domain"), namespace=namespace()))

    def status(self) -> Response:
        """How many cases a domain has, and how far its Q function has come."""
        asked = Parameters("domain")
        return answered(memory().case_status(domain=asked.text("domain"), namespace=namespace()))

    def start(self) -> Response:
        """Begin to keep how a task is carried out."""
        Parameters()
        return answered(memory().start_case(**body(forms.Start)), 201)

    def run(self, run: str) -> Response:
        """A task under way or done."""
        asked = Parameters("domain")
        return answered(memory().task_run(run, domain=asked.text("domain"), namespace=namespace()))

    def step(self, run: str) -> Response:
        """Keep one step of a task."""
        Parameters()
        return answered(memory().record_step(run, **body(forms.StepDone)))

    def complete(self, run: str) -> Response:
        """End a task: it becomes a case."""
        Parameters()
        return answered(memory().complete_case(run, **body(forms.End)), 201)

    def runs(self) -> Response:
        """A page of tasks under way and done, the latest first."""
        asked = Parameters("state", "limit", "offset", "domain")
        limit = asked.number("limit")
        return answered(
            memory().task_runs(
                state=asked.choice("state", get_args(StepState)) if asked.text("state") else None,
                limit=50 if limit is None else limit,
                offset=asked.number("offset") or 0,
                domain=asked.text("domain"),
                namespace=namespace(),
            )
        )

    def plan(self) -> Response:
        """Plan a task after the cases that are most like it."""
        Parameters()
        return answered(memory().plan_task(**body(forms.Task)), 201)

    def execute(self, run: str) -> Response:
        """Carry out a task from the step that is next; answers when it ends."""
        Parameters()
        return answered(memory().execute_task(run, **body(forms.Execute)))

    def tools(self) -> Response:
        """The tools of the configured servers."""
        Parameters()
        return answered(memory().list_tools())

    def prune(self) -> Response:
        """Let the least valuable cases go."""
        Parameters()
        return answered(memory().prune_cases(**body(forms.Prune)))
