"""The update operation of the SPARQL 1.1 Protocol at `/sparql/update`: by form and by direct POST."""

from __future__ import annotations

from flask import Blueprint, Response, request
from werkzeug.exceptions import UnsupportedMediaType

from memento.errors import InputError
from memento.interfaces.sparql_http.query import Fields, base, fields, text_of, timeout_s
from memento.interfaces.web.departures import presence_of
from memento.interfaces.web.requests import graphs, namespace
from memento.interfaces.web.rest import respond
from memento.sparql.update import Using

DIRECT, FORM = "application/sparql-update", "application/x-www-form-urlencoded"
OF_QUERIES = ("query", "default-graph-uri", "named-graph-uri")


class Updates:
    """The address `/sparql/update`."""

    def blueprint(self) -> Blueprint:
        """The route."""
        routes = Blueprint("sparql-update", __name__)
        routes.route("/sparql/update", methods=["POST"])(self.update)
        return routes

    def update(self) -> Response:
        """Do what an update says; the answer counts quads."""
        given = fields()
        changed = graphs().update(
            _text(given),
            Using(default=tuple(given.get("using-graph-uri", ())), named=tuple(given.get("using-named-graph-uri", ()))),
            base=base(),
            timeout_s=timeout_s(given),
            namespace=namespace(),
            waiting=presence_of(request.environ),
        )
        return respond(changed)


def _text(given: Fields) -> str:
    for name in OF_QUERIES:
        if name in given:
            raise InputError(f"{name} is for queries, which are answered at /sparql: send the update as update")
    texts = given.get("update", [])
    if request.mimetype == DIRECT:
        texts = [*texts, text_of("update")]
    elif request.mimetype != FORM:
        raise UnsupportedMediaType(f"send the update as {DIRECT}, or as the field update of a form")
    if len(texts) != 1:
        raise InputError(f"update comes {len(texts)} times: give it once")
    return texts[0]
