"""
The SPARQL 1.1 Graph Store HTTP Protocol at `/sparql/graphs`: whole graphs in and out.

A graph is named indirectly, by `?graph=` its IRI or `?default`, or directly, by what follows `/sparql/graphs/`: its IRI,
percent-encoded, or the name of a free graph. POST to the address itself makes a graph with a new name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TypedDict
from urllib.parse import quote

from flask import Blueprint, Response, request
from werkzeug.datastructures import FileStorage
from werkzeug.exceptions import UnsupportedMediaType

from memento.errors import InputError
from memento.interfaces.sparql_http.query import rendered
from memento.interfaces.web.departures import Presence, presence_of
from memento.interfaces.web.requests import graphs, namespace
from memento.interfaces.web.rest import respond
from memento.sparql.prepare import DOCUMENT_MEDIA, SUFFIXES
from memento.sparql.update import SentDocument

METHODS = ("GET", "PUT", "POST", "DELETE")
MULTIPART = "multipart/form-data"


class Graphs:
    """The addresses at and below `/sparql/graphs`."""

    def blueprint(self) -> Blueprint:
        """The routes."""
        routes = Blueprint("sparql-graphs", __name__)
        for method, view in (("GET", self.get), ("PUT", self.put), ("POST", self.post), ("DELETE", self.delete)):
            for rule in ("/sparql/graphs", "/sparql/graphs/<path:name>"):
                routes.route(rule, methods=[method])(view)
        return routes

    def get(self, name: str = "") -> Response:
        """The triples of a graph in the media type that Accept likes best."""
        answer = graphs().read(
            _graph(name),
            accept=request.headers.get("Accept", ""),
            namespace=namespace(),
            waiting=presence_of(request.environ),
        )
        return rendered(answer)

    def put(self, name: str = "") -> Response:
        """Let a graph hold what comes, and nothing else: 201 when there was none."""
        changed = graphs().upload(_send(), _graph(name), replaces=True, **_more())
        return respond(changed, 201 if changed.is_new else 200)

    def post(self, name: str = "") -> Response:
        """Add what comes to a graph, or to a new one where none is named: 201 and its address when there was none."""
        fresh = None
        if not name and not {"graph", "default"} & request.args.keys():
            fresh = graphs().fresh_graph(request.base_url)
        changed = graphs().upload(_send(), fresh or _graph(name), replaces=False, **_more())
        response = respond(changed, 201 if changed.is_new else 200)
        if fresh:
            at = f"{request.base_url.rstrip('/')}/"
            response.headers["Location"] = fresh if fresh.startswith(at) else at + quote(fresh, safe="")
        return response

    def delete(self, name: str = "") -> Response:
        """Take a graph away."""
        return respond(graphs().drop(_graph(name), **_more()))


def _graph(name: str) -> str | None:
    """The graph that the request names; None is the default graph."""
    named = request.args.getlist("graph")
    is_default = "default" in request.args
    if name:
        if named or is_default:
            raise InputError("name the graph by the address or by a parameter, not by both")
        return graphs().named_graph(name, request.base_url)
    if len(named) + is_default != 1:
        raise InputError("name one graph: ?graph= with its IRI, ?default, or /sparql/graphs/ and its IRI or name")
    return None if is_default else named[0]


class _More(TypedDict):
    base: str
    namespace: str | None
    waiting: Presence


def _more() -> _More:
    return {"base": request.base_url, "namespace": namespace(), "waiting": presence_of(request.environ)}


def _send() -> Sequence[SentDocument]:
    """The documents of the request: its body, or each part of a form."""
    if request.mimetype != MULTIPART:
        _utf8(request.mimetype_params.get("charset"))
        return [SentDocument(content=request.stream, media=_media(request.mimetype))]
    parts = [part for _, part in request.files.items(multi=True)]
    if not parts or request.form:
        raise InputError("send each document as a part of the form with a file name and a media type")
    return [SentDocument(content=part.stream, media=_of_part(part)) for part in parts]


def _of_part(part: FileStorage) -> str:
    _utf8(part.mimetype_params.get("charset"))
    by_name = SUFFIXES.get(PurePosixPath(part.filename or "").suffix.lower(), "")
    return _media(part.mimetype if part.mimetype in DOCUMENT_MEDIA else by_name or part.mimetype)


def _media(media: str) -> str:
    if media not in DOCUMENT_MEDIA:
        raise UnsupportedMediaType(
            f"{media or 'a document without Content-Type'} is not read here: send one of {', '.join(DOCUMENT_MEDIA)}"
        )
    return media


def _utf8(charset: str | None) -> None:
    if charset and charset.lower().replace("-", "") != "utf8":
        raise UnsupportedMediaType(f"send the document as UTF-8, not {charset[:40]}")
