"""One case against one service: passed, failed with what is wrong, or not asked and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import httpx2
from pyoxigraph import Dataset

from w3c.answers import BY_ENDING, SOLUTIONS, difference, media_type, read_answer
from w3c.cases import Case, Checkout, Data, datasets_named
from w3c.described import wrong_with_description
from w3c.endpoint import Endpoint, dataset_of
from w3c.exchanges import held

JSON, TURTLE = "application/sparql-results+json", "text/turtle"


class Mark(StrEnum):
    """What became of a case; REFUSED is one that the service understands and does not do, by a stated policy (403)."""

    PASSED = "passed"
    FAILED = "failed"
    REFUSED = "refused"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A mark, and why it is not PASSED."""

    case: Case
    mark: Mark
    why: str = ""


def outcomes(cases: Iterable[Case], checkout: Checkout, endpoint: Endpoint) -> Iterator[Outcome]:
    """Each case in turn."""
    for case in cases:
        if case.skipped:
            yield Outcome(case, Mark.SKIPPED, case.skipped)
            continue
        try:
            why = tried(case, checkout, endpoint)
        except (httpx2.HTTPError, RuntimeError, ValueError, SyntaxError) as error:
            endpoint.held = None
            why = f"{type(error).__name__}: {error}"
        except Refused as refused:
            yield Outcome(case, Mark.REFUSED, str(refused))
            continue
        yield Outcome(case, Mark.FAILED if why else Mark.PASSED, why)


class Refused(Exception):
    """The service said 403."""


def tried(case: Case, checkout: Checkout, endpoint: Endpoint) -> str:
    """What is wrong; nothing when it is as the suite wants it."""
    match case.kind:
        case "QueryEvaluationTest" | "CSVResultFormatTest":
            return evaluated(case, checkout, endpoint)
        case "UpdateEvaluationTest":
            return updated(case, checkout, endpoint)
        case "ProtocolTest" | "GraphStoreProtocolTest":
            endpoint.hold(case.data, checkout)
            return held(case.exchanges, case.iri.rpartition("#")[2], endpoint)
        case "ServiceDescriptionTest":
            return wrong_with_description(case.iri.rpartition("#")[2], endpoint)
        case _:
            return parsed(case, checkout, endpoint)


def evaluated(case: Case, checkout: Checkout, endpoint: Endpoint) -> str:
    """Ask a query over its data, and compare."""
    query = checkout.read(case.text)
    named = [iri for iri in datasets_named(query.decode(), case.text) if checkout.has(iri)]
    data = Data(case.data.default, case.data.named + tuple((iri, iri) for iri in dict.fromkeys(named)))
    endpoint.hold(data, checkout)
    media = BY_ENDING[case.result.rpartition(".")[2]]
    wanted = read_answer(checkout.read(case.result), media, case.result)
    if media not in SOLUTIONS and media != "text/csv":
        media = TURTLE if isinstance(wanted, Dataset) else JSON
    answer = endpoint.ask(_with_base(query, case.text), media)
    if not answer.is_success:
        return _said(answer)
    if media_type(answer) != media:
        return f"{media_type(answer)}, not {media}"
    return difference(wanted, read_answer(answer.content, media), is_lax=case.is_lax)


def updated(case: Case, checkout: Checkout, endpoint: Endpoint) -> str:
    """Send an update, and compare what is held afterwards."""
    endpoint.hold(case.data, checkout)
    answer = endpoint.change(_with_base(checkout.read(case.text), case.text))
    if not answer.is_success:
        return _said(answer)
    return difference(Dataset(dataset_of(case.after, checkout)), endpoint.dataset())


def parsed(case: Case, checkout: Checkout, endpoint: Endpoint) -> str:
    """
    Send a text: a wrong one is answered with 400, and only a wrong one.

    A text may be right and still fail when it runs, as one that drops a graph that there is not.
    """
    text = checkout.read(case.text)
    if case.text.endswith(".ru"):
        endpoint.hold(Data(), checkout)
        answer = endpoint.change(text)
    else:
        answer = endpoint.ask(text, "*/*")
    if answer.status_code == 403:
        raise Refused(_said(answer))
    if case.kind.startswith("Negative"):
        return "" if answer.status_code == 400 else f"accepted with {answer.status_code}"
    return _said(answer) if 400 <= answer.status_code < 500 and answer.status_code != 404 else ""


def _said(answer: httpx2.Response) -> str:
    if answer.status_code == 403:
        raise Refused(f"403: {answer.text[:200]}")
    return f"{answer.status_code}: {' '.join(answer.text[:200].split())}"


def _with_base(text: bytes, address: str) -> bytes:
    return f"BASE <{address}>\n".encode() + text
