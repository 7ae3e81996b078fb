"""
The Flask application over a service: every HTTP interface, and one translation of errors for all of them.

*Guarantees:* an error is `{"error": {"code", "message"}}`; an unexpected one says nothing of the inside. A page of another origin
gets nothing, and a caller gets their own tenant's memory: `access` says who is who.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from time import time

from flask import Flask, Response, g, render_template, request
from markupsafe import Markup
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date

from memento import __version__
from memento.access import Caller, admit
from memento.errors import Busy, MementoError, Unauthorised
from memento.interfaces.picture import draw_manifest
from memento.interfaces.proxy.door import BODY_BYTES, PROXIED, Proxy
from memento.interfaces.sparql_http.description import Descriptions, described
from memento.interfaces.sparql_http.graphs import Graphs
from memento.interfaces.sparql_http.query import Sparql
from memento.interfaces.sparql_http.update import Updates
from memento.interfaces.web import openapi, rest
from memento.interfaces.web.documents import IMPORT as DOCUMENT
from memento.interfaces.web.documents import Documents
from memento.interfaces.web.metrics import exposition
from memento.interfaces.web.requests import Parameters, namespace
from memento.interfaces.web.requests import context as context_of_request
from memento.interfaces.web.rest import respond
from memento.interfaces.web.yasgui import FILES, Yasgui
from memento.operations.recall import Manifest
from memento.service import Context, Service, handle
from memento.service.handlers.recall import health as health_of
from memento.settings import LimitsSettings

logger = logging.getLogger(__name__)

IMPORT_BYTES = 64 * 1024 * 1024
IMPORTS = ("/memory/import", "/cases")
OPEN = ("/health",)
"""What anybody may ask who reaches the port: a stranger is told nothing but whether the service is up."""

DEGRADED = "Memento-Degraded"
"""The header that says why the memory is read-only and of what time it is, while a backup stands in for its store."""

EXPRESSIONS = "/memory/sexpr"
SPARQL, GRAPHS = "/sparql", "/sparql/graphs"


def create_app(service: Service) -> Flask:
    """The application; it does not close the memory."""
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # an IRI may hold two slashes
    app.url_map.strict_slashes = False
    app.config["MAX_FORM_MEMORY_SIZE"] = None  # the limit on the body is enough
    yasgui = Yasgui(service.settings, lambda: _notice(service))

    @app.before_request
    def limited() -> Response | None:
        if yasgui.is_wanted():  # it holds nothing of a memory
            return yasgui.page()
        # A browser asks without a token whether a page may send one.
        is_preflight = request.method == "OPTIONS" and request.path.startswith(SPARQL)
        if request.path not in OPEN and not is_preflight and not request.path.startswith(FILES):
            g.context = _admit(service)
        request.max_content_length = most_bytes(request.path, service.settings.limits, service.settings.sexpr.chars)
        return None

    app.register_blueprint(Documents().blueprint())
    app.register_blueprint(rest.blueprint())
    app.register_blueprint(Sparql(service.settings.sparql, described).blueprint())
    app.register_blueprint(Descriptions().blueprint())
    app.register_blueprint(Updates().blueprint())
    app.register_blueprint(Graphs().blueprint())
    app.register_blueprint(yasgui.blueprint())
    proxy = Proxy(service)
    app.register_blueprint(proxy.blueprint())
    _add_pages(app, service, proxy)
    add_manners(app)

    @app.after_request
    def told(response: Response) -> Response:
        if service.degraded:
            response.headers[DEGRADED] = service.degraded.brief
        return response

    return app


def add_manners(app: Flask) -> None:
    """What every application here does alike: how it tells errors, and that an answer is dated."""

    @app.after_request
    def dated(response: Response) -> Response:
        # The server adds none: a provider's answer has one already.
        if "Date" not in response.headers:
            response.headers["Date"] = _date(int(time()))
        return response

    app.register_error_handler(MementoError, _answer_failure)
    app.register_error_handler(HTTPException, _refuse)
    app.register_error_handler(Exception, _broken)


@lru_cache(1)
def _date(second: int) -> str:
    return http_date(second)


def most_bytes(path: str, limits: LimitsSettings, chars: int = 0) -> int:
    """
    The longest body; JSON and forms write a character with several, so the service counts texts itself.

    Args:
        chars: of an expression.
    """
    if path.startswith(PROXIED):
        return BODY_BYTES
    if path in IMPORTS:
        return IMPORT_BYTES
    if path == EXPRESSIONS:
        return 6 * chars + 65_536
    if path == DOCUMENT:
        return limits.document_bytes
    if path.startswith(GRAPHS):
        return limits.graph_bytes + 65_536
    return 2 * max(limits.text_bytes, limits.update_bytes) + 65_536


def _add_pages(app: Flask, service: Service, proxy: Proxy) -> None:
    @app.get("/")
    def home() -> str:
        return render_template("home.html", version=__version__, notice=_notice(service))

    @app.get("/map")
    def map_page() -> str:
        Parameters()
        drawn = handle(Manifest(namespace=namespace()), context_of_request())
        return render_template(
            "map.html", manifest=drawn, picture=Markup(draw_manifest(drawn)), notice=_notice(service)
        )  # which escapes what is shown

    @app.get("/health")
    def health() -> Response:
        status = 200 if service.stores.warm else 503
        try:
            return respond(health_of(_admit(service), proxy.origins), status)
        except MementoError:  # whoever asks may know whether it is up, and no more
            said = "starting" if status == 503 else "degraded" if service.degraded else "ok"
            return respond({"status": said}, status)

    @app.get("/memory/openapi.json")
    def describe_addresses() -> Response:
        Parameters()
        return Response(openapi.page(), mimetype="application/json")

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(exposition(g.context), content_type="text/plain; version=0.0.4; charset=utf-8")


def _notice(service: Service) -> str | None:
    return service.degraded.brief if service.degraded else None


def _admit(service: Service) -> Context:
    """Return the memory as the caller may see it; raise `Unauthorised` or `Forbidden`."""
    return service.context(admit(caller(), service.tokens, required=service.settings.server.token_required))


def caller() -> Caller:
    """What the request tells of who sent it."""
    return Caller(
        address=request.remote_addr or "",
        method=request.method,
        headers={name.lower(): value for name, value in request.headers.items()},
        is_proxied=request.path.startswith(PROXIED),
    )


def _answer_failure(error: MementoError) -> Response:
    if error.status >= 500:
        logger.warning("web.failed", extra={"code": error.code})
    response = _tell(error.status, error.code, str(error))
    if isinstance(error, Busy):
        response.headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, Unauthorised):
        response.headers["WWW-Authenticate"] = 'Bearer realm="memento"'
    return response


def _refuse(error: HTTPException) -> Response:
    messages = {
        404: f"there is nothing at {request.path[:200]}: GET / lists the addresses",
        405: f"{request.method} is not possible here: use {', '.join(getattr(error, 'valid_methods', None) or ())}",
        413: f"the body is longer than {request.max_content_length} bytes",
    }
    status = error.code or 500
    code = "too_long" if status == 413 else re.sub(r"[^a-z]+", "_", error.name.lower())
    response = _tell(status, code, messages.get(status, error.description or error.name))
    response.headers.extend((name, value) for name, value in error.get_headers() if name != "Content-Type")
    return response


def _broken(error: Exception) -> Response:
    logger.error("web.broken", exc_info=error)
    return _tell(500, "internal", "something broke inside; the log of the service says what")


def _tell(status: int, code: str, message: str) -> Response:
    return respond({"error": {"code": code, "message": message}}, status)
