"""One HTTP exchange of a protocol test: what is sent where, and what is wrong with the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

from w3c.answers import difference, graph_of, is_about_solutions, media_type, read_answer

if TYPE_CHECKING:
    import httpx2

    from w3c.endpoint import Endpoint

UPDATES = ("update_", "bad_update", "bad_multiple_updates")
"""How the names of those protocol tests begin that are about updates."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a test demands of an answer; empty fields demand nothing."""

    statuses: tuple[range, ...] = ()
    boolean: bool | None = None
    form: str = ""
    location: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    graph: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request as the suite writes it: its path begins with `/sparql/` or `/gsp`."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    expected: Expected


def held(exchanges: tuple[Exchange, ...], name: str, endpoint: Endpoint) -> str:
    """Send one after the other; what is wrong with the first that fails, or nothing."""
    known: dict[str, str] = {}
    for exchange in exchanges:
        url = _url(exchange, name, endpoint, known)
        answer = endpoint.send(exchange.method, url, headers=dict(exchange.headers), content=exchange.body)
        wrong = _wrong(exchange.expected, answer)
        if wrong:
            return f"{exchange.method} {url.removeprefix(endpoint.origin)}: {wrong}"
        if exchange.expected.location:
            known[exchange.expected.location] = urljoin(url, answer.headers["location"])
    return ""


def _url(exchange: Exchange, name: str, endpoint: Endpoint, known: dict[str, str]) -> str:
    path = exchange.path
    for variable, value in known.items():
        path = path.replace(variable, quote(value, safe="") if "?" in path.partition(variable)[0] else value)
    if path.startswith("/gsp"):
        return endpoint.graphs + path.removeprefix("/gsp")
    media = dict(exchange.headers).get("content-type", "")
    if "sparql-query" in media:
        updates = False
    else:
        updates = "sparql-update" in media or name.startswith(UPDATES) or b"update=" in exchange.body
    return (endpoint.update if updates else endpoint.query) + path.removeprefix("/sparql/")


def _wrong(expected: Expected, answer: httpx2.Response) -> str:
    if not any(answer.status_code in statuses for statuses in expected.statuses):
        return f"{answer.status_code}: {answer.text[:200]}"
    media = media_type(answer)
    for name, value in expected.headers:
        if answer.headers.get(name, "").partition(";")[0].strip() != value.partition(";")[0].strip():
            return f"{name} is {answer.headers.get(name)!r}, not {value!r}"
    if expected.location and "location" not in answer.headers:
        return "no Location"
    if expected.form and is_about_solutions(media) != (expected.form != "RDF"):
        return f"{media} is no media type of a {expected.form} result"
    if expected.boolean is not None:
        said = read_answer(answer.content, media)
        return "" if said is expected.boolean else f"{said}, not {expected.boolean}"
    if expected.graph:
        base = str(answer.request.url)
        wanted = graph_of(expected.graph.encode(), "text/turtle", base)
        return difference(wanted, graph_of(answer.content, media, base))
    return ""
