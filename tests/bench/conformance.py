"""
How much of SPARQL does the service support, by the W3C's own test suites over HTTP, and where does it differ from the engine's own
server?

Data: a checkout of https://github.com/w3c/rdf-tests, given by its path, with the suites of SPARQL 1.0, 1.1 and 1.2. Each case has
its own dataset, loaded by the Graph Store Protocol. Baseline: `oxigraph serve`, beside Memento's SPARQL over a plain dataset
(`tests/dataset.py`).
Run: `.venv/bin/python tests/bench/conformance.py RDF_TESTS [--page docs/reference/conformance.md]`; five minutes on two cores.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from w3c import endpoint, reports
from w3c.cases import Case, Checkout
from w3c.trials import Mark, Outcome, outcomes

Told = dict[str, list[Outcome]]
SERVERS = {"memento": endpoint.memento, "oxigraph": endpoint.oxigraph}
PAGE = """# SPARQL conformance

The W3C's suites for SPARQL over HTTP: Memento {memento} beside `oxigraph serve` {oxigraph}, whose engine it shares.
Its guard, workers and protocols run over a plain dataset (`tests/dataset.py`), because a memory refuses what the suites write.
This page is written by `python tests/bench/conformance.py RDF_TESTS --page docs/reference/conformance.md`, where `RDF_TESTS` is a
checkout of [w3c/rdf-tests](https://github.com/w3c/rdf-tests); `--json` writes every outcome, `--earl` a report in the W3C's
[Evaluation and Report Language](https://www.w3.org/TR/EARL10-Schema/).

{table}

Passed, unless a cell says otherwise. *Refused* is a case whose text reaches out of the store, which this service answers with 403.

## Where they differ, and what neither passes

What both fail is the engine's, which reads and evaluates; what the guard before it can refuse or mend is refused or mended.

{apart}

## What was not run

{unwanted}

## How answers are compared

- Over HTTP alone: data go in by `PUT` to the graph store, or by `INSERT DATA` where graphs share blank nodes; queries and
  updates go by direct `POST`; results come back in the media type of the expected file, where it is one of results, else as JSON.
- Blank nodes may have other labels. Literals of one datatype are the same when their numbers or times are: a store may normalise
  them.
- The order of solutions counts where the expected file numbers them.
- A syntax case is passed by 400 for a wrong text, and by any answer but 4xx for a right one, which may still fail when it runs.
- The suite leaves the tests of service descriptions in prose; here they are SHACL shapes and the endpoint's own address.
"""


def main(argv: Sequence[str] | None = None) -> Told:
    """Print the table, write what was asked for, and return every outcome by service."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of w3c/rdf-tests, or its folder sparql")
    parser.add_argument("--servers", nargs="+", choices=list(SERVERS), default=list(SERVERS))
    parser.add_argument("--only", default="", metavar="REGEX", help="only cases whose IRI this is found in")
    parser.add_argument("--page", type=Path, help="write the page of documentation here")
    parser.add_argument("--earl", type=Path, metavar="FOLDER", help="write a report in EARL for each service here")
    parser.add_argument("--json", type=Path, help="write every outcome here")
    chosen = parser.parse_args(argv)
    checkout = Checkout(chosen.checkout)
    cases = [case for case in checkout.cases() if re.search(chosen.only, case.iri)]
    if not cases:
        raise SystemExit(f"no case in {chosen.checkout}: it should hold the folder sparql of w3c/rdf-tests")
    told = run(checkout, chosen.servers, cases)
    print("\n".join(reports.table(told)), "\n\n", "\n".join(reports.apart(told)), sep="")
    _written(chosen.page, page(told))
    _written(chosen.json, reports.as_json(told))
    for service, results in told.items() if chosen.earl else ():
        name = service.partition(" ")[0]
        _written(chosen.earl / f"{name}.ttl", reports.earl(service, _version(name), results))
    return told


def run(checkout: Checkout, servers: Sequence[str] = tuple(SERVERS), cases: Sequence[Case] = ()) -> Told:
    """Every outcome by service; of all cases, when none are given."""
    told: Told = {}
    for server in servers:
        with SERVERS[server]() as running:
            told[running.name] = list(outcomes(cases or checkout.cases(), checkout, running))
    return told


def page(told: reports.Told) -> str:
    """The page of documentation."""
    return PAGE.format(
        memento=_version("memento"),
        oxigraph=_version("oxigraph"),
        table="\n".join(reports.table(told)),
        apart="\n".join(reports.apart(told)),
        unwanted="\n".join(reports.unwanted(told)),
    )


def _version(name: str) -> str:
    return version(name)


def _written(path: Path | None, text: str) -> None:
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    told = main()
    sys.exit(any(outcome.mark is Mark.FAILED for outcome in told.get("memento dataset", [])))
