"""
The Flask application over a memory, with every HTTP interface.

*Guarantees:* errors are translated in one place: an error is `{"error": {"code", "message"}}`; an unexpected one reveals no
internals. A page of another origin gets nothing, and a caller gets only their own tenant's memory: `access` decides who the caller
is.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import Any

from flask import Flask, Request, Response, g, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date
from werkzeug.routing import BaseConverter, Rule

from memento import plugin, telemetry
from memento.access import Access, Caller, admit
from memento.archive.check import LOOK_S, list_gauges
from memento.errors import BackendError, Busy, LostTurn, MementoError, Overloaded, StoreAway, Unauthorised
from memento.interfaces import sparql_http
from memento.interfaces.proxy.routes import BODY_BYTES, PROXIED, Proxy
from memento.interfaces.web import openapi, pages, rest, vocabulary, yasgui
from memento.interfaces.web.pages import Pages, token_of_session
from memento.interfaces.web.requests import Parameters
from memento.interfaces.web.rest import IMPORT_RDF, MEMORY, MIRROR, answer_mirrored, find_mirrored, respond
from memento.interfaces.web.yasgui import Yasgui
from memento.model import Readiness
from memento.operations.base import route_of
from memento.service import Context, Service
from memento.service.handlers.recall import health as health_of
from memento.settings import LimitsSettings
from memento.telemetry import Gauge
from memento.worker import Look

logger = logging.getLogger(__name__)

OPEN = ("/health", "/health/ready", "/sign-in", "/favicon.ico")
"""
The paths that need no token, besides the published vocabulary. They reveal nothing about this service but whether it is up, and let
a visitor sign in.
"""
FILES = (yasgui.BUNDLE.address, pages.BUNDLE.address)

_FRESH_S = 0.5
"""Seconds for which a health report is reused: load balancers ask often."""

DEGRADED = "Memento-Degraded"
"""The header that says, while a backup replaces the store, why the memory is read-only and which time it is from."""

SPARQL, GRAPHS = "/sparql", "/sparql/graphs"


def create_app(service: Service) -> Flask:
    """Return the application over a memory, which it does not close."""
    app = new_app()
    sparql_page = Yasgui(service.settings, lambda: _notice(service))
    proxy = Proxy(service)
    for_people = Pages(service, proxy, lambda: _notice(service))
    longer = {
        route_of(operation)[1]: view.most_bytes(service.settings)
        for operation, view in rest.VIEWS.items()
        if view.most_bytes
    }

    @app.before_request
    def admit_request() -> ResponseReturnValue | None:
        if sparql_page.is_wanted():  # the page contains nothing from a memory
            return sparql_page.page()
        # A browser sends the preflight request without a token.
        is_preflight = request.method == "OPTIONS" and request.path.startswith(SPARQL)
        request.max_content_length = longer.get(request.path) or most_bytes(request, service.settings.limits)
        if vocabulary.is_public(request.path):
            with suppress(MementoError):  # the text is public; the page shows a known caller that they are signed in
                g.context = _admit(service)
        elif request.path not in OPEN and not is_preflight and not request.path.startswith(FILES):
            g.context = _admit(service)
        return for_people.answer_shared()

    app.register_blueprint(rest.blueprint(service.settings.plugins.left_out))
    _add_mirror(app, proxy)
    terms = vocabulary.blueprint(for_people.show_ontology)
    for addresses in (
        *sparql_http.blueprints(service.settings.sparql),
        sparql_page.blueprint(),
        proxy.blueprint(),
        terms,
    ):
        app.register_blueprint(addresses)
    for_people.register(app)
    _add_addresses(app, service, proxy)

    @app.errorhandler(MementoError)
    def answer_failure(error: MementoError) -> Response:
        return pages.show_failure(for_people, error.status, str(error)) or _answer_failure(error)

    @app.errorhandler(HTTPException)
    def answer_http_error(error: HTTPException) -> Response:
        shown = pages.show_failure(for_people, error.code or 500, _explain_http_error(error))
        return _answer_http_error(error, shown)

    @app.after_request
    def say_degraded(response: Response) -> Response:
        if service.degraded:
            response.headers[DEGRADED] = service.degraded.brief
        return response

    return app


class _Rule(Rule):
    """A rule that compiles the function that builds its address when one is built: no more than a few ever are."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compile_ = super()._compile_builder

        def build(rule: Rule, **values: Any) -> tuple[str, str]:
            return builder()(rule, **values)

        @cache
        def builder() -> Callable[..., tuple[str, str]]:
            return compile_(append_unknown)

        return build


class _App(Flask):
    url_rule_class = _Rule


def new_app() -> Flask:
    """Return an application without routes that answers errors and sets the date of answers."""
    app = _App(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # an IRI may contain two slashes
    app.url_map.strict_slashes = False
    app.config["MAX_FORM_MEMORY_SIZE"] = None  # the limit on the body is enough

    @app.after_request
    def add_date(response: Response) -> Response:
        # The server adds no date, because a provider's answer has one already.
        if "Date" not in response.headers:
            response.headers["Date"] = _date(int(time.time()))
        return response

    app.register_error_handler(MementoError, _answer_failure)
    app.register_error_handler(HTTPException, _answer_http_error)
    app.register_error_handler(Exception, _answer_bug)
    return app


@lru_cache(1)
def _date(second: int) -> str:
    return http_date(second)


def most_bytes(asked: Request, limits: LimitsSettings) -> int:
    """
    Return the size limit of a request body in bytes. JSON and forms may encode a character with several, so the service itself
    checks the length of texts.
    """
    path = asked.path
    if path.startswith(PROXIED) and f"{asked.method} {path}" not in MIRROR:
        return BODY_BYTES
    if path == IMPORT_RDF:
        return limits.document_bytes
    if path.startswith(GRAPHS) and asked.method != "PATCH":
        return limits.graph_bytes + 65_536
    return 2 * max(limits.text_bytes, limits.update_bytes) + 65_536


def _add_mirror(app: Flask, proxy: Proxy) -> None:
    """Add our routes below the addresses of the providers; every other request is forwarded to the provider."""

    def answer(rest: str) -> Response:
        tool = find_mirrored()
        return proxy.forward(rest) if tool is None else answer_mirrored(tool)

    app.url_map.converters["memory"] = MemoryConverter
    app.add_url_rule("/api/<memory:rest>", "api_delete", answer, methods=["DELETE"])
    for address in MIRROR:
        verb, path = address.split(" ")
        app.add_url_rule(path, path, answer, methods=[verb], defaults={"rest": path.removeprefix("/api/")})


class MemoryConverter(BaseConverter):
    """Match the part of an address that names a memory."""

    regex = MEMORY.pattern


def _add_addresses(app: Flask, service: Service, proxy: Proxy) -> None:
    @app.get("/health")
    def health() -> Response:
        status = 200 if service.stores.warm else 503
        try:
            access = admit(caller(), service.tokens, required=service.settings.server.token_required)
            # Do not check what other nodes wrote: that would wait for a store that is away.
            return respond(health_of(Context(service, access), proxy.origins), status)
        except MementoError:  # without a token, a caller learns only whether the service is up
            said = "starting" if status == 503 else "degraded" if service.degraded else "ok"
            return respond({"status": said}, status)

    @app.get("/health/ready")
    def tell_readiness() -> Response:
        found = service.watch.report(fresh_s=_FRESH_S)
        try:
            admit(caller(), service.tokens, required=service.settings.server.token_required)
        except MementoError:  # without a token, a caller learns only whether to send requests here
            found = Readiness(status=found.status)
        return respond(found, 200 if found.status == "ready" else 503)

    @app.get("/memory/openapi.json")
    def describe_addresses() -> Response:
        Parameters()
        return Response(openapi.page(service.settings.plugins.left_out), mimetype="application/json")

    looks: dict[Access, Look[list[Gauge]]] = {}

    @app.get("/metrics")
    def metrics() -> Response:
        look = looks.setdefault(g.context.access, Look(partial(measure_plugins, g.context), "plugins"))
        return Response(write_metrics(g.context, look), content_type="text/plain; version=0.0.4; charset=utf-8")


def _notice(service: Service) -> str | None:
    return service.degraded.brief if service.degraded else None


def _admit(service: Service) -> Context:
    """Return the memory with the caller's access rights; raise `Unauthorised` or `Forbidden`."""
    return service.context(admit(caller(), service.tokens, required=service.settings.server.token_required))


def caller() -> Caller:
    """Return what the request says about its sender; for a page, including the token in its session."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    if token := token_of_session():
        headers.setdefault("x-memento-token", token)
    return Caller(
        address=request.remote_addr or "",
        method=request.method,
        headers=headers,
        scheme=request.scheme,
        is_proxied=request.path.startswith(PROXIED) and find_mirrored() is None,
    )


def _answer_failure(error: MementoError) -> Response:
    if error.status >= 500:
        logger.warning("web.failed", extra={"code": error.code})
    response = _tell(error.status, error.code, str(error))
    if isinstance(error, Busy | Overloaded | StoreAway):
        response.headers["Retry-After"] = str(error.retry_after_s)
    elif isinstance(error, LostTurn):  # another node is writing
        response.headers["Retry-After"] = "1"
    if isinstance(error, Unauthorised):
        response.headers["WWW-Authenticate"] = 'Bearer realm="memento"'
    return response


def _explain_http_error(error: HTTPException) -> str:
    messages = {
        404: f"there is nothing at {request.path[:200]}: /memory/openapi.json lists the addresses, /docs explains them",
        405: f"{request.method} is not possible here: use {', '.join(getattr(error, 'valid_methods', None) or ())}",
        413: f"the body is longer than {request.max_content_length} bytes",
    }
    return messages.get(error.code or 500, error.description or error.name)


def _answer_http_error(error: HTTPException, shown: Response | None = None) -> Response:
    """Answer an HTTP error with its headers, as the given page or otherwise as JSON."""
    status = error.code or 500
    code = "too_long" if status == 413 else re.sub(r"[^a-z]+", "_", error.name.lower())
    response = shown or _tell(status, code, _explain_http_error(error))
    response.headers.extend((name, value) for name, value in error.get_headers() if name != "Content-Type")
    return response


def _answer_bug(error: Exception) -> Response:
    logger.error("web.broken", exc_info=error)
    return _tell(500, "internal", "something broke inside; the log of the service says what")


def _tell(status: int, code: str, message: str) -> Response:
    return respond({"error": {"code": code, "message": message}}, status)


def write_metrics(context: Context, plugged: Look[list[Gauge]]) -> str:
    """
    Return Prometheus text with the counters of the process, the state of its parts, and what the plug-ins measure.

    A value that is not known yet has no line, and neither has one whose part does not answer in time.

    Args:
        plugged: measures what the plug-ins tell, in the background; that may wait for a writer.
    """
    service = context.service
    until = time.monotonic() + LOOK_S
    plugged.begin(_FRESH_S)
    gauges = list(list_gauges(service.watch.report(fresh_s=_FRESH_S), service.stores))
    with suppress(BackendError):
        gauges.append(("captured_turns", {}, sum(one.state == "waiting" for one in service.journal.list_waiting())))
    return telemetry.exposition(gauges) + telemetry.write_gauges(plugged.wait(until) or [])


def measure_plugins(context: Context) -> list[Gauge]:
    """Measure what the plug-ins have to tell the caller; nothing of one that needs the store while that is away."""
    found: list[Gauge] = []
    for name, measure in plugin.collect("gauges").items():
        if name not in context.settings.plugins.left_out:
            with suppress(BackendError):
                found += [*measure(context)]
    return found
