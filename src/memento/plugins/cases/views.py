"""How the operations on cases are read from requests, their pages, and what `/metrics` tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from flask import request
from werkzeug.datastructures import MultiDict

from memento.interfaces.web.requests import namespace
from memento.interfaces.web.rest import IMPORT_BYTES, View, build, load_object, read_form, read_operation
from memento.operations import Operation
from memento.plugins.cases.operations import AddCases, CaseMetrics, CaseStatus, GetCase, ListCases
from memento.service import Context, handle
from memento.telemetry import Gauge

PAGE = 50


def _read_rows() -> Operation[Any]:
    """Return the cases in the body: an object with `rows`, or a single case."""
    body = load_object(request.get_data())
    if not (request.is_json and isinstance(body, dict) and "task" in body and "rows" not in body):
        return read_operation(AddCases, {})
    apart = {name: body.pop(name, None) for name in ("domain", "namespace")}
    apart["namespace"] = apart["namespace"] or namespace()
    return build(AddCases, {"rows": [body], **apart})


VIEWS = {AddCases: View(read=_read_rows, most_bytes=lambda settings: IMPORT_BYTES)}

Ask = Callable[[Operation[Any]], Any]


def show_cases(ask: Ask, parameters: Mapping[str, str]) -> tuple[str, Mapping[str, Any]]:
    """List finished tasks with what was learned from them."""
    asked = {
        name: value.strip() for name in ("task", "domain", "offset") if (value := parameters.get(name, "")).strip()
    }
    here = {"namespace": chosen} if (chosen := namespace()) else {}
    rows = ask(read_form(ListCases, MultiDict({"limit": str(PAGE), **asked, **here})))
    status = ask(CaseStatus(domain=asked.get("domain"), namespace=namespace()))
    return "cases.html", {"asked": asked, "rows": rows, "status": status}


def show_case(ask: Ask, parameters: Mapping[str, str]) -> tuple[str, Mapping[str, Any]]:
    """Show one finished task."""
    domain = parameters.get("domain", "").strip() or None
    case = ask(build(GetCase, {"case": parameters["case"], "domain": domain, "namespace": namespace()}))
    return "case.html", {"case": case, "domain": domain}


_GAUGES = (
    ("cases", "cases kept", "cases"),
    ("case_retrievals", "look-ups of cases whose reward is known", "retrievals"),
    ("case_mrr", "mean reciprocal rank of the first case that helped", "mrr"),
    ("case_ndcg", "normalised discounted cumulative gain of the cases shown", "ndcg"),
    ("case_success_rate", "share of judged cases with a reward from 0.5", "success_rate"),
    ("case_execution_accuracy", "share of steps that were done", "execution_accuracy"),
    ("case_bytes", "bytes of memory for one case", "bytes_per_case"),
    ("case_earned", "reward per case kept", "earned_per_case"),
)
"""Name, help and field of `CaseMetrics` for each gauge."""


def measure_cases(context: Context) -> Iterator[Gauge]:
    """Measure every domain that the caller may see; a value that is not known yet is left out."""
    for domain in handle(CaseStatus(), context).domains:
        found = handle(CaseMetrics(domain=domain), context)
        for name, help, field in _GAUGES:
            if (value := getattr(found, field)) is not None:
                yield Gauge(name=name, help=help, value=value, labels={"domain": domain})
        if found.curve:
            about = "mean reward of the latest stretch of the learning curve"
            yield Gauge(name="case_reward", help=about, value=found.curve[-1].reward, labels={"domain": domain})
