"""`/metrics`: the tally of the process, and how the cases stand in each domain that the caller may see, as Prometheus text."""

from __future__ import annotations

from collections.abc import Iterator

from memento import telemetry
from memento.model import CaseMetrics
from memento.operations.cases import CaseMetrics as MeasureCases
from memento.operations.cases import CaseStatus
from memento.service import Context, handle

GAUGES = (
    ("cases", "cases kept", "cases"),
    ("case_retrievals", "look-ups of cases whose reward is known", "retrievals"),
    ("case_mrr", "mean reciprocal rank of the first case that helped", "mrr"),
    ("case_ndcg", "normalise_label discounted cumulative gain of the cases shown", "ndcg"),
    ("case_success_rate", "share of judged cases with a reward from 0.5", "success_rate"),
    ("case_execution_accuracy", "share of steps that were done", "execution_accuracy"),
    ("case_bytes", "bytes of memory for one case", "bytes_per_case"),
    ("case_earned", "reward per case kept", "earned_per_case"),
)
"""Name, help and field of `CaseMetrics` for each gauge."""


def exposition(context: Context) -> str:
    """Return the text; a value that is not known yet has no line."""
    domains = handle(CaseStatus(), context).domains
    found = [handle(MeasureCases(domain=name), context) for name in domains]
    return telemetry.exposition() + "".join(_lines(found))


def _lines(found: list[CaseMetrics]) -> Iterator[str]:
    for name, help, field in GAUGES:
        values = [(one.domain, getattr(one, field)) for one in found if getattr(one, field) is not None]
        if values:
            yield f"# HELP memento_{name} {help}\n# TYPE memento_{name} gauge\n"
            yield from (f'memento_{name}{{domain="{_escape(domain)}"}} {value:g}\n' for domain, value in values)
    curves = [(one.domain, one.curve[-1].reward) for one in found if one.curve]
    if curves:
        yield "# HELP memento_case_reward mean reward of the latest stretch of the learning curve\n"
        yield "# TYPE memento_case_reward gauge\n"
        yield from (f'memento_case_reward{{domain="{_escape(domain)}"}} {value:g}\n' for domain, value in curves)


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
