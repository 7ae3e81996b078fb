"""
The Flask application over a `Memento`: every HTTP door, and one translation of errors for all of them.

*Guarantees:* an error is `{"error": {"code", "message"}}`; an unexpected one says nothing of the inside. A page of another origin
gets nothing, and a caller gets their own tenant's memory: `access.admission` says who is who.
"""

from __future__ import annotations

import logging
import re

from flask import Flask, Response, g, render_template, request
from werkzeug.exceptions import HTTPException
from werkzeug.http import http_date

from memento import __version__
from memento.access import Caller, admitted
from memento.errors import MementoError, Unauthorised
from memento.service import Memento
from memento.web.cases import CaseRest
from memento.web.metrics import exposition
from memento.web.proxy.door import BODY_BYTES, PROXIED, Proxy
from memento.web.rest import Rest, answered
from memento.web.sparql import Sparql

logger = logging.getLogger(__name__)

IMPORT_BYTES = 64 * 1024 * 1024
IMPORTS = ("/memory/import", "/cases")
OPEN = ("/health",)
"""What anybody may ask who reaches the port: a stranger is told nothing but whether the service is up."""


def create_app(memento: Memento) -> Flask:
    """The application; it does not close the memory."""
    app = Flask(__name__)
    app.url_map.merge_slashes = False  # an IRI may hold two slashes
    app.url_map.strict_slashes = False
    app.config["MAX_FORM_MEMORY_SIZE"] = None  # the limit on the body is enough
    # JSON may write a character with six, so this only stops what cannot be right; the service counts the text itself.
    note_bytes = 2 * memento.settings.limits.text_bytes + 65_536

    @app.before_request
    def limited() -> None:
        if request.path not in OPEN:
            g.memory = _admitted(memento)
        if request.path.startswith(PROXIED):
            request.max_content_length = BODY_BYTES
        else:
            request.max_content_length = IMPORT_BYTES if request.path in IMPORTS else note_bytes

    @app.after_request
    def dated(response: Response) -> Response:
        # The server adds none: a provider's answer has one already.
        if "Date" not in response.headers:
            response.headers["Date"] = http_date()
        return response

    app.register_blueprint(Rest().blueprint())
    app.register_blueprint(CaseRest().blueprint())
    app.register_blueprint(Sparql().blueprint())
    proxy = Proxy(memento)
    app.register_blueprint(proxy.blueprint())
    _add_pages(app, memento, proxy)
    app.register_error_handler(MementoError, _failed)
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(Exception, _broken)
    return app


def _add_pages(app: Flask, memento: Memento, proxy: Proxy) -> None:
    @app.get("/")
    def home() -> str:
        return render_template("home.html", version=__version__)

    @app.get("/health")
    def health() -> Response:
        status = 200 if memento.ready else 503
        try:
            return answered(_admitted(memento).health(proxy.origins), status)
        except MementoError:  # whoever asks may know whether it is up, and no more
            return answered({"status": "ok" if status == 200 else "starting"}, status)

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(exposition(g.memory), content_type="text/plain; version=0.0.4; charset=utf-8")


def _admitted(memento: Memento) -> Memento:
    """The memory as the caller may see it; raises `Unauthorised` or `Forbidden`."""
    caller = Caller(
        address=request.remote_addr or "",
        method=request.method,
        headers={name.lower(): value for name, value in request.headers.items()},
        is_proxied=request.path.startswith(PROXIED),
    )
    return memento.seen_by(admitted(caller, memento.tokens, required=memento.settings.server.token_required))


def _failed(error: MementoError) -> Response:
    if error.status >= 500:
        logger.warning("web.failed", extra={"code": error.code})
    response = _told(error.status, error.code, str(error))
    if isinstance(error, Unauthorised):
        response.headers["WWW-Authenticate"] = 'Bearer realm="memento"'
    return response


def _refused(error: HTTPException) -> Response:
    messages = {
        404: f"there is nothing at {request.path[:200]}: GET / lists the addresses",
        405: f"{request.method} is not possible here: use {', '.join(getattr(error, 'valid_methods', None) or ())}",
        413: f"the body is longer than {request.max_content_length} bytes",
    }
    status = error.code or 500
    code = "too_long" if status == 413 else re.sub(r"[^a-z]+", "_", error.name.lower())
    response = _told(status, code, messages.get(status, error.description or error.name))
    response.headers.extend((name, value) for name, value in error.get_headers() if name != "Content-Type")
    return response


def _broken(error: Exception) -> Response:
    logger.error("web.broken", exc_info=error)
    return _told(500, "internal", "something broke inside; the log of the service says what")


def _told(status: int, code: str, message: str) -> Response:
    return answered({"error": {"code": code, "message": message}}, status)
