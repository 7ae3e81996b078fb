"""The query operation of the SPARQL 1.1 Protocol: by URL, by form, and by direct POST; updates are refused."""

from __future__ import annotations

from flask import Blueprint, Response, request
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import UnsupportedMediaType

from memento.errors import Forbidden, InputError
from memento.web.asked import memory, namespace

DATASET = ("default-graph-uri", "named-graph-uri", "using-graph-uri", "using-named-graph-uri")
READ_ONLY = "this endpoint only answers queries: write with POST /memory/notes and DELETE /memory/{iri}"
ABOUT = """SPARQL 1.1 query endpoint of Memento

GET  /sparql?query=...                     the query in the URL
POST /sparql  query=...                    as a form
POST /sparql  application/sparql-query     the query itself

SELECT and ASK answer as JSON, XML, CSV or TSV; CONSTRUCT and DESCRIBE as Turtle or N-Triples: say which with Accept.
The parameter or header `namespace` / `Memento-Namespace` chooses the graphs; updates, SERVICE and FROM are refused.
"""


class Sparql:
    """The address `/sparql`."""

    def blueprint(self) -> Blueprint:
        """The route."""
        routes = Blueprint("sparql", __name__)
        routes.route("/sparql", methods=["GET", "POST"])(self.query)
        return routes

    def query(self) -> Response:
        """Answer a query in the media type that Accept likes best; without a query, say what this is."""
        sparql = _query()
        if sparql is None:
            return Response(ABOUT, mimetype="text/plain")
        body, media = memory().query(sparql, accept=request.headers.get("Accept", ""), namespace=namespace())
        response = Response(body, content_type=f"{media}; charset=utf-8" if media.startswith("text/") else media)
        response.headers["Vary"] = "Accept"
        return response


def _query() -> str | None:
    """The query of the request, None for a GET without one; raises for an update or a dataset."""
    _refuse(request.args)
    if request.method != "POST":
        return _one(request.args)
    if request.mimetype == "application/sparql-query":
        try:
            return request.get_data().decode()
        except UnicodeDecodeError as error:
            raise InputError(f"the query is not UTF-8: {error}") from error
    if request.mimetype == "application/x-www-form-urlencoded":
        _refuse(request.form)
        query = _one(request.form)
        if query is None:
            raise InputError("query is missing: send it as the form field query")
        return query
    if request.mimetype == "application/sparql-update":
        raise Forbidden(READ_ONLY)
    raise UnsupportedMediaType("send the query as application/sparql-query, or as the field query of a form")


def _refuse(given: MultiDict[str, str]) -> None:
    if "update" in given:
        raise Forbidden(READ_ONLY)
    for name in DATASET:
        if name in given:
            raise InputError(
                f"{name} is not supported: the namespace decides which graphs are read; use GRAPH in the query"
            )


def _one(given: MultiDict[str, str]) -> str | None:
    queries = given.getlist("query")
    if len(queries) > 1:
        raise InputError(f"query comes {len(queries)} times: give it once")
    return queries[0] if queries else None
