"""
The query operation of the SPARQL 1.1 Protocol at `/sparql`: by URL, by form, and by direct POST; updates have their own address.

*Guarantees:* an answer that has begun and cannot be finished is broken off with its connection, so that no client takes a part of
it for the whole. A client that leaves frees its worker.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator

from flask import Blueprint, Response, request
from werkzeug.exceptions import UnsupportedMediaType

from memento.errors import Forbidden, InputError, MementoError
from memento.interfaces.sparql_http.cors import Cors
from memento.interfaces.web.departures import Presence, presence_of, scope_of
from memento.interfaces.web.requests import graphs, namespace
from memento.settings import SparqlSettings
from memento.sparql.jobs import Answer
from memento.sparql.prepare import QueryRequest

logger = logging.getLogger(__name__)

Fields = dict[str, list[str]]
_HOST = re.compile(r"[A-Za-z0-9.\-]+(?::\d+)?|\[[0-9A-Fa-f:.]+\](?::\d+)?")
METHODS = ("GET", "HEAD", "OPTIONS", "POST")
OF_UPDATES = ("using-graph-uri", "using-named-graph-uri")


class Sparql:
    """The address `/sparql`."""

    def __init__(
        self, settings: SparqlSettings, described: Callable[[], Response], *, needs_token: bool = True
    ) -> None:
        """
        Args:
            described: answers a GET without a query.
            needs_token: see `Cors`.
        """
        self._described = described
        self._cors = Cors(settings.origins, METHODS, needs_token=needs_token)

    def blueprint(self) -> Blueprint:
        """The route."""
        routes = Blueprint("sparql", __name__)
        routes.after_request(self._cors.told)
        routes.route("/sparql", methods=[m for m in METHODS if m != "OPTIONS"], provide_automatic_options=False)(
            self.query
        )
        routes.route("/sparql", methods=["OPTIONS"], provide_automatic_options=False)(self._cors.preflight)
        return routes

    def query(self) -> Response:
        """Answer a query in the media type that Accept likes best; without a query, say what this is."""
        given = fields()
        asked = _ask(given)
        if asked is None:
            return self._described()
        waiting = presence_of(request.environ)
        return rendered(graphs().answer(asked, timeout_s=timeout_s(given), namespace=namespace(), waiting=waiting))


def rendered(answer: Answer) -> Response:
    """An answer as it comes, whoever may leave in the meantime."""
    presence, is_watched = presence_of(request.environ), scope_of(request.environ) is not None
    media = answer.media
    response = Response(
        answer.whole if answer.whole is not None else _chunks(answer, presence if is_watched else None),
        content_type=f"{media}; charset=utf-8" if media.startswith("text/") else media,
        headers={"Vary": "Accept, Origin"},
    )
    if answer.whole is None:
        response.call_on_close(answer.close)
    return response


def _chunks(answer: Answer, presence: Presence | None) -> Iterator[bytes]:
    """The answer as it comes; without a server that could break the connection off, what goes wrong is raised."""
    try:
        yield from answer.chunks
    except MementoError as error:
        if presence is None:
            raise
        logger.warning("sparql.broken-off", extra={"code": error.code})
        presence.is_broken = True


def fields() -> Fields:
    """The parameters of the request, those of its form after those of its URL."""
    found = request.args.to_dict(flat=False)
    if request.method == "POST" and request.mimetype == "application/x-www-form-urlencoded":
        for name, values in request.form.lists():
            found[name] = [*found.get(name, ()), *values]
    return found


def _ask(given: Fields) -> QueryRequest | None:
    """The query of the request and its dataset, None for a GET without one; raises for an update."""
    if "update" in given or request.mimetype == "application/sparql-update":
        raise Forbidden("this endpoint only answers queries: send an update to /sparql/update")
    for name in OF_UPDATES:
        if name in given:
            raise InputError(
                f"{name} is for updates: choose what a query reads by default-graph-uri and named-graph-uri"
            )
    sparql = _query(given.get("query", []))
    if sparql is None:
        return None
    default, named = given.get("default-graph-uri", ()), given.get("named-graph-uri", ())
    has_dataset = bool(default or named)
    return QueryRequest(
        sparql=sparql,
        accept=request.headers.get("Accept", ""),
        default_graphs=tuple(default) if has_dataset else None,
        named_graphs=tuple(named) if has_dataset else None,
        base=base(),
    )


def _query(listed: list[str]) -> str | None:
    if request.method == "POST" and request.mimetype == "application/sparql-query":
        listed = [*listed, text_of("query")]
    elif request.method == "POST" and request.mimetype != "application/x-www-form-urlencoded":
        raise UnsupportedMediaType("send the query as application/sparql-query, or as the field query of a form")
    if len(listed) > 1:
        raise InputError(f"query comes {len(listed)} times: give it once")
    if not listed and request.method == "POST":
        raise InputError("query is missing: send it as the form field query")
    return listed[0] if listed else None


def text_of(what: str) -> str:
    """The body of the request as text, which is SPARQL; raises where it is none, by `what` it should be."""
    charset = request.mimetype_params.get("charset", "utf-8")
    if charset.lower().replace("-", "") != "utf8":
        raise UnsupportedMediaType(f"send the {what} as UTF-8, not {charset[:40]}")
    try:
        return request.get_data().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"the {what} is not UTF-8: {error.reason} at byte {error.start}") from error


def base() -> str | None:
    """What a relative IRI is read against: the address of the endpoint. Flask's own way there is the longest of a short query."""
    host = request.headers.get("Host", "")
    return f"{request.scheme}://{host}{request.path}" if _HOST.fullmatch(host) else None


def timeout_s(given: Fields) -> float | None:
    """The seconds that the request gives itself, None where it says nothing."""
    text = given.get("timeout", [""])[0]
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise InputError(f"timeout must be a number of seconds above 0, not {text[:40]!r}")
    return seconds
