"""
The SPARQL 1.1 protocols over HTTP: queries at `/sparql`, updates at `/sparql/update`, whole graphs at `/sparql/graphs`.

A query comes by URL, by form, or by direct POST. A GET without a query returns the Service Description; `/.well-known/void` says
how many triples the graphs have. A graph is named indirectly, by `?graph=` with its IRI or `?default`, or directly, by the path
after `/sparql/graphs/`: its IRI, percent-encoded, or the name of one of the caller's own graphs. POST to `/sparql/graphs` itself
creates a graph with a new name.

*Guarantees:* if an answer fails after it has begun, its connection is closed, so that no client takes a part for the whole. A
client that disconnects frees its worker. Pages of other origins may query only if `sparql.origins` names them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote

from flask import Blueprint, Response, request
from werkzeug.datastructures import FileStorage
from werkzeug.exceptions import UnsupportedMediaType

from memento.access import Caller
from memento.errors import Forbidden, InputError, MementoError
from memento.interfaces.web.connection import scope_of, waiting_client
from memento.interfaces.web.requests import graphs_of_caller, namespace
from memento.interfaces.web.rest import respond
from memento.service.handlers.graphs import GraphCall
from memento.settings import SparqlSettings
from memento.sparql.jobs import Answer, WaitingClient
from memento.sparql.prepare import DOCUMENT_MEDIA, SUFFIXES, QueryRequest
from memento.sparql.update import SentDocument, Using

logger = logging.getLogger(__name__)

Fields = dict[str, list[str]]
_HOST = re.compile(r"[A-Za-z0-9.\-]+(?::\d+)?|\[[0-9A-Fa-f:.]+\](?::\d+)?")
QUERY_METHODS = ("GET", "HEAD", "OPTIONS", "POST")
UPDATE_FIELDS = ("using-graph-uri", "using-named-graph-uri")


def blueprints(settings: SparqlSettings) -> tuple[Blueprint, Blueprint]:
    """Return two sets of routes: the query endpoint, with CORS headers, and all others."""
    cors = Cors(settings.origins, QUERY_METHODS)
    queries = Blueprint("sparql", __name__)
    queries.after_request(cors.allow_reading)
    asking = [method for method in QUERY_METHODS if method != "OPTIONS"]
    queries.route(ENDPOINT, methods=asking, provide_automatic_options=False)(_answer_query)
    queries.route(ENDPOINT, methods=["OPTIONS"], provide_automatic_options=False)(cors.preflight)
    others = Blueprint("sparql-graphs", __name__)
    others.route("/.well-known/void", methods=["GET"])(_describe_graphs)
    others.route("/sparql/update", methods=["POST"])(_answer_update)
    for method, view in _GRAPH_VIEWS.items():
        for rule in ("/sparql/graphs", "/sparql/graphs/<path:name>"):
            others.route(rule, methods=[method])(view)
    others.after_request(_name_patch_media)
    return queries, others


def _answer_query() -> Response:
    """Answer a query in the media type that Accept prefers; without a query, return the Service Description."""
    given = _read_fields()
    asked = _parse_query_request(given)
    if asked is None:
        return _send_description(*graphs_of_caller().description(_endpoint(), accept=_accept(), namespace=namespace()))
    try:
        return stream_answer(graphs_of_caller().answer_query(asked, _read_call(given)))
    except Forbidden as error:
        raise Forbidden(str(error).replace("`update` takes it", "send it to /sparql/update")) from error


def stream_answer(answer: Answer) -> Response:
    """Return a response that streams an answer and frees its worker if the client disconnects."""
    presence, is_watched = waiting_client(request.environ), scope_of(request.environ) is not None
    media = answer.media
    response = Response(
        answer.whole if answer.whole is not None else _chunks(answer, presence if is_watched else None),
        content_type=f"{media}; charset=utf-8" if media.startswith("text/") else media,
        headers={"Vary": "Accept, Origin"},
    )
    if answer.whole is None:
        response.call_on_close(answer.close)
    return response


def _chunks(answer: Answer, presence: WaitingClient | None) -> Iterator[bytes]:
    """Yield the pieces of an answer; on a server that cannot close the connection, raise its errors."""
    try:
        yield from answer.chunks
    except MementoError as error:
        if presence is None:
            raise
        logger.warning("sparql.broken-off", extra={"code": error.code})
        presence.is_broken = True


def _read_fields() -> Fields:
    """Return the parameters of the request: those of its URL, then those of its form."""
    found = request.args.to_dict(flat=False)
    if request.method == "POST" and request.mimetype == "application/x-www-form-urlencoded":
        for name, values in request.form.lists():
            found[name] = [*found.get(name, ()), *values]
    return found


def _parse_query_request(given: Fields) -> QueryRequest | None:
    """Return the query of the request and its dataset, or None for a GET without a query; raise for an update."""
    if "update" in given or request.mimetype == "application/sparql-update":
        raise Forbidden("this endpoint only answers queries: send an update to /sparql/update")
    for name in UPDATE_FIELDS:
        if name in given:
            raise InputError(
                f"{name} is for updates: choose what a query reads by default-graph-uri and named-graph-uri"
            )
    sparql = _query_text(given.get("query", []))
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


def _query_text(listed: list[str]) -> str | None:
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
    """Return the SPARQL text in the body; raise an error that says `what` it should be if it is not UTF-8."""
    charset = request.mimetype_params.get("charset", "utf-8")
    if charset.lower().replace("-", "") != "utf8":
        raise UnsupportedMediaType(f"send the {what} as UTF-8, not {charset[:40]}")
    try:
        return request.get_data().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"the {what} is not UTF-8: {error.reason} at byte {error.start}") from error


def base() -> str | None:
    """Return the base for relative IRIs, the endpoint's address; Flask's own property is the slowest step of a short query."""
    host = request.headers.get("Host", "")
    return f"{request.scheme}://{host}{request.path}" if _HOST.fullmatch(host) else None


def timeout_s(given: Fields) -> float | None:
    """Return the timeout in the request, in seconds; None if it has none."""
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


DIRECT, FORM = "application/sparql-update", "application/x-www-form-urlencoded"
QUERY_FIELDS = ("query", "default-graph-uri", "named-graph-uri")


def _answer_update() -> Response:
    """Run an update; the answer counts quads."""
    given = _read_fields()
    changed = graphs_of_caller().update(
        _update_text(given),
        Using(default=tuple(given.get("using-graph-uri", ())), named=tuple(given.get("using-named-graph-uri", ()))),
        _read_call(given, base()),
    )
    return respond(changed)


def _update_text(given: Fields) -> str:
    for name in QUERY_FIELDS:
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


MULTIPART = "multipart/form-data"


def _read_graph(name: str = "") -> Response:
    """Return the triples of a graph in the media type that Accept prefers."""
    accept = request.headers.get("Accept", "")
    return stream_answer(graphs_of_caller().read_graph(_named_graph(name), _read_call(), accept=accept))


def _put_graph(name: str = "") -> Response:
    """Replace a graph by the triples in the body; 201 if the graph is new."""
    changed = graphs_of_caller().upload(
        _sent_documents(), _named_graph(name), _read_call(at=request.base_url), replaces=True
    )
    return respond(changed, 201 if changed.is_new else 200)


def _post_graph(name: str = "") -> Response:
    """Add the triples in the body to a graph, or to a new one if none is named; 201 and its address if the graph is new."""
    fresh = None
    if not name and not {"graph", "default"} & request.args.keys():
        fresh = graphs_of_caller().fresh_graph(request.base_url)
    changed = graphs_of_caller().upload(
        _sent_documents(), fresh or _named_graph(name), _read_call(at=request.base_url), replaces=False
    )
    response = respond(changed, 201 if changed.is_new else 200)
    if fresh:
        at = f"{request.base_url.rstrip('/')}/"
        response.headers["Location"] = fresh if fresh.startswith(at) else at + quote(fresh, safe="")
    return response


def _patch_graph(name: str = "") -> Response:
    """Run an update in one graph; the answer counts quads if the client prefers a representation (RFC 7240)."""
    if request.mimetype != DIRECT:
        raise UnsupportedMediaType(f"send the patch of a graph as {DIRECT}")
    given = _read_fields()
    for field in (*QUERY_FIELDS, *UPDATE_FIELDS):
        if field in given:
            raise InputError(f"{field} has no place here: a patch reads and writes the graph that the address names")
    changed = graphs_of_caller().patch(text_of("update"), _named_graph(name), _read_call(at=request.base_url))
    if "return=representation" not in request.headers.get("Prefer", "").lower().replace(" ", ""):
        return Response(status=204)
    answer = respond(changed)
    answer.headers["Preference-Applied"] = "return=representation"
    return answer


def _delete_graph(name: str = "") -> Response:
    """Delete a graph."""
    return respond(graphs_of_caller().drop_graph(_named_graph(name), _read_call(at=request.base_url)))


_GRAPH_VIEWS = {
    "GET": _read_graph,
    "PUT": _put_graph,
    "POST": _post_graph,
    "PATCH": _patch_graph,
    "DELETE": _delete_graph,
}


def _name_patch_media(response: Response) -> Response:
    """Add `Accept-Patch`, the one media type of a patch, to the answers to OPTIONS and PATCH (RFC 5789)."""
    rule = request.url_rule
    if rule is not None and rule.rule.startswith("/sparql/graphs") and request.method in ("OPTIONS", "PATCH"):
        response.headers["Accept-Patch"] = DIRECT
    return response


def _named_graph(name: str) -> str | None:
    """Return the graph that the request names; None is the default graph."""
    named = request.args.getlist("graph")
    is_default = "default" in request.args
    if name:
        if named or is_default:
            raise InputError("name the graph by the address or by a parameter, not by both")
        return graphs_of_caller().named_graph(name, request.base_url)
    if len(named) + is_default != 1:
        raise InputError("name one graph: ?graph= with its IRI, ?default, or /sparql/graphs/ and its IRI or name")
    return None if is_default else named[0]


def _read_call(given: Fields | None = None, at: str | None = None) -> GraphCall:
    """Return the options of the call; `at` is the base for relative IRIs in a write."""
    limit_s = None if given is None else timeout_s(given)
    return GraphCall(namespace=namespace(), base=at, timeout_s=limit_s, waiting=waiting_client(request.environ))


def _sent_documents() -> Sequence[SentDocument]:
    """Return the documents of the request: its body, or each part of a form."""
    if request.mimetype != MULTIPART:
        _require_utf8(request.mimetype_params.get("charset"))
        return [SentDocument(content=request.stream, media=_require_media(request.mimetype))]
    parts = [part for _, part in request.files.items(multi=True)]
    if not parts or request.form:
        raise InputError("send each document as a part of the form with a file name and a media type")
    return [SentDocument(content=part.stream, media=_part_media(part)) for part in parts]


def _part_media(part: FileStorage) -> str:
    _require_utf8(part.mimetype_params.get("charset"))
    by_name = SUFFIXES.get(PurePosixPath(part.filename or "").suffix.lower(), "")
    return _require_media(part.mimetype if part.mimetype in DOCUMENT_MEDIA else by_name or part.mimetype)


def _require_media(media: str) -> str:
    if media not in DOCUMENT_MEDIA:
        raise UnsupportedMediaType(
            f"{media or 'a document without Content-Type'} is not read here: send one of {', '.join(DOCUMENT_MEDIA)}"
        )
    return media


def _require_utf8(charset: str | None) -> None:
    if charset and charset.lower().replace("-", "") != "utf8":
        raise UnsupportedMediaType(f"send the document as UTF-8, not {charset[:40]}")


ENDPOINT = "/sparql"


def _describe_graphs() -> Response:
    """Describe the graphs that the caller can see, with their sizes."""
    return _send_description(*graphs_of_caller().void(_endpoint(), accept=_accept(), namespace=namespace()))


def _send_description(body: bytes, media: str) -> Response:
    response = Response(body, content_type=f"{media}; charset=utf-8" if media.startswith("text/") else media)
    response.headers["Vary"] = "Accept"
    return response


def _endpoint() -> str:
    return f"{request.host_url.rstrip('/')}{ENDPOINT}"


def _accept() -> str:
    return request.headers.get("Accept", "")


ASKED = "Authorization, X-Memento-Token, Memento-Namespace, Content-Type, Accept"
KEPT_S = "600"


def origins(listed: str) -> frozenset[str]:
    """
    Return the origins in a setting.

    >>> sorted(origins("https://yasgui.org/, https://example.org,"))
    ['https://example.org', 'https://yasgui.org']
    """
    return frozenset(one.strip().rstrip("/") for one in listed.split(",") if one.strip())


class Cors:
    """
    Which pages of other origins may query from a browser.

    *Guarantees:* no page may query while `sparql.origins` is empty. A page that it names can read an answer only if the request had
    a token, and a browser sends one only if the page has it. So a page cannot read the memory of this machine just because it is
    open in a browser here, where programs need no token. `*` opens the endpoint to tools anywhere, but only with a user's token.

    *But:* a page that may read nothing can still send a simple request from a browser that does not set `Sec-Fetch-Site`, which
    occupies a worker for a moment. Such a request changes nothing: a write needs a token or the origin of this service (`access`).
    """

    def __init__(self, listed: str, methods: Collection[str]) -> None:
        """
        Args:
            listed: the setting `sparql.origins`.
            methods: the methods of the endpoint.
        """
        self._origins = origins(listed)
        self._methods = ", ".join(sorted(methods))

    def preflight(self) -> Response:
        """Return the answer to OPTIONS: what a page may send, if it may send anything."""
        response = Response(status=204, headers={"Allow": self._methods})
        if request.headers.get("Access-Control-Request-Method") and self._knows(self._origin):
            response.headers["Access-Control-Allow-Origin"] = self._origin
            response.headers["Access-Control-Allow-Methods"] = self._methods
            response.headers["Access-Control-Allow-Headers"] = ASKED
            response.headers["Access-Control-Max-Age"] = KEPT_S
        response.headers["Vary"] = "Origin, Access-Control-Request-Method"
        return response

    def allow_reading(self, response: Response) -> Response:
        """Return an answer, with the CORS headers that let a permitted page read it."""
        if self._knows(self._origin) and _has_token():
            response.headers["Access-Control-Allow-Origin"] = self._origin
            response.headers["Access-Control-Expose-Headers"] = "Retry-After"
        return response

    @property
    def _origin(self) -> str:
        return request.headers.get("Origin", "")

    def _knows(self, origin: str) -> bool:
        return bool(origin) and (origin in self._origins or "*" in self._origins)


def _has_token() -> bool:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Caller(address="", method="", headers=headers).token is not None
