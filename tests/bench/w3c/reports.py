"""What became of every case at every service: the committed table, EARL in Turtle, JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode

from w3c.trials import Mark, Outcome

Told = Mapping[str, Sequence[Outcome]]
"""Outcomes by the name of the service, the same cases in the same order for each."""

EARL_OUTCOMES = {
    Mark.PASSED: "passed",
    Mark.FAILED: "failed",
    Mark.REFUSED: "inapplicable",
    Mark.SKIPPED: "untested",
}
BENCHMARK = "<http://purl.org/memento/bench/conformance>"
PREFIXES = """@prefix dct: <http://purl.org/dc/terms/> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix earl: <http://www.w3.org/ns/earl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


REASONS = {
    r"(distinct/distinct-1|expr-builtin/(q-str-[12]|sameTerm.*)|expr-equals/query-eq-graph-[12]|open-world/open-eq-01"
    r"|csv-tsv-res/csvtsv01|grouping/group01)\.rq": "the engine's store keeps one spelling of each number, as `1` for `01`",
    r"(graph/graph-(variable-scope|optional)|bindings/graph|negation/graph-minus)\.rq": "the engine binds the variable of GRAPH "
    "before what is in the group, the standard after it",
    r"aggregates/agg-empty-group-count-graph\.rq": "the engine has no row for a graph in which nothing is counted",
    r"open-world/date-2\.rq": "the engine compares dates with a time zone and dates without one",
    r"syntax-sparql3/syn-bad-26\.rq": "read as a comparison on purpose: people write `FILTER(?x<5&&?y>3)`",
    r"aggregates/agg-groupconcat-[46]\.rq": "the engine keeps the language that all texts of a group have",
    r"functions/bnode01\.rq": "the engine makes one blank node of a text in all solutions",
    r"property-path/zero_or_.*": "the engine has no path of length zero at a term that is in no triple",
    r"grouping/select-variable-reuse\.rq": "the engine lets no expression of a SELECT use an aggregate's alias of the same SELECT",
    r"syntax-update-1/.*": "LOAD: nothing is fetched from here",
}
"""Why this service does not pass a case, by the end of its address."""


def table(told: Told) -> Iterator[str]:
    """Lines of Markdown: a row for each suite, `passed / tried` for each service, and how many were not asked."""
    services = list(told)
    asked = [n for n, outcome in enumerate(told[services[0]]) if outcome.mark is not Mark.SKIPPED]
    rows = {outcome.case.suite: None for outcome in told[services[0]]}
    yield "| suite | cases | " + " | ".join(services) + " |"
    yield "| --- | --: | " + " | ".join("--:" for _ in services) + " |"
    for suite in rows:
        cells = [_cell(outcome for outcome in told[service] if outcome.case.suite == suite) for service in services]
        count = sum(outcome.case.suite == suite for outcome in told[services[0]])
        yield f"| {suite} | {count} | " + " | ".join(cells) + " |"
    total = [_cell(told[service][n] for n in asked) for service in services]
    yield f"| **all that were run** | {len(asked)} | " + " | ".join(total) + " |"


def _cell(outcomes: Iterable[Outcome]) -> str:
    marks = Counter(outcome.mark for outcome in outcomes)
    if set(marks) == {Mark.SKIPPED}:
        return "not run"
    refused = f", {marks[Mark.REFUSED]} refused" if marks[Mark.REFUSED] else ""
    failed = f", {marks[Mark.FAILED]} failed" if marks[Mark.FAILED] else ""
    return f"{marks[Mark.PASSED]}{failed}{refused}"


def apart(told: Told) -> Iterator[str]:
    """Rows of Markdown: each case that the services do not all answer alike, and each that none passes."""
    services = list(told)
    yield "| case | " + " | ".join(services) + " | why |"
    yield "| --- | " + " | ".join("---" for _ in services) + " | --- |"
    for outcomes in zip(*told.values(), strict=True):
        if any(outcome.mark in (Mark.FAILED, Mark.REFUSED) for outcome in outcomes):
            cells = [outcome.mark + (f": {_short(outcome.why)}" if outcome.why else "") for outcome in outcomes]
            name = _name(outcomes[0])
            why = next((why for cases, why in REASONS.items() if re.fullmatch(cases, name)), "")
            yield f"| {name} | " + " | ".join(cells) + f" | {why} |"


def worse(told: Told, ours: str, theirs: str) -> list[str]:
    """The cases that their service passes and ours fails; a case that ours refuses by its policy is not among them."""
    pairs = zip(told[ours], told[theirs], strict=True)
    return [_name(mine) for mine, other in pairs if mine.mark is Mark.FAILED and other.mark is Mark.PASSED]


def unwanted(told: Told) -> Iterator[str]:
    """Why cases were not run: a line for each reason."""
    reasons = Counter((o.case.suite, o.why) for o in next(iter(told.values())) if o.mark is Mark.SKIPPED)
    for (suite, why), count in reasons.items():
        yield f"- {suite}, {count}: {why}."


def earl(service: str, version: str, outcomes: Sequence[Outcome]) -> str:
    """A report in the Evaluation and Report Language."""
    home = "https://github.com/oxigraph/oxigraph" if "oxigraph" in service else "http://purl.org/memento/"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [
        PREFIXES,
        f"<{home}> a doap:Project, earl:TestSubject, earl:Software ;",
        f"  doap:name {Literal(service)} ; doap:release [ doap:revision {Literal(version)} ] .",
        f"{BENCHMARK} a earl:Assertor, earl:Software ; doap:name {Literal('tests/bench/conformance.py')} .",
        f'<> dct:date "{now}"^^xsd:dateTime .',
        "",
    ]
    for outcome in outcomes:
        told = f" ; dct:description {Literal(outcome.why)}" if outcome.why else ""
        lines += [
            f"[] a earl:Assertion ; earl:assertedBy {BENCHMARK} ; earl:subject <{home}> ; earl:mode earl:automatic ;",
            f"  earl:test {NamedNode(outcome.case.iri)} ; "
            f"earl:result [ a earl:TestResult ; earl:outcome earl:{EARL_OUTCOMES[outcome.mark]}{told} ] .",
        ]
    return "\n".join(lines) + "\n"


def as_json(told: Told) -> str:
    """Every outcome, by service and by case."""
    rows = {
        service: {o.case.iri: {"suite": o.case.suite, "mark": o.mark, "why": o.why} for o in outcomes}
        for service, outcomes in told.items()
    }
    return json.dumps(rows, indent=1, ensure_ascii=False)


def _name(outcome: Outcome) -> str:
    address = outcome.case.text or outcome.case.iri
    return "/".join(address.replace("manifest#", "").split("/")[-2:])


def _short(why: str) -> str:
    return " ".join(why.split()).replace("|", "\\|")[:110]
