"""
The Flask application over a `Memento`: every HTTP door, and one translation of errors for all of them.

*Guarantees:* an error is `{"error": {"code", "message"}}`; an unexpected one says nothing of the inside. A page of another origin
gets nothing: names other than loopback (DNS rebinding) and writes from other origins are refused.
"""

from __future__ import annotations

import ipaddress
import logging
import re
from urllib.parse import urlsplit

from flask import Flask, Response, g, render_template, request
from werkzeug.exceptions import HTTPException

from memento import __version__, telemetry
from memento.errors import Forbidden, MementoError
from memento.service import Memento
from memento.web.rest import Rest, answered
from memento.web.sparql import Sparql

logger = logging.getLogger(__name__)

IMPORT_BYTES = 64 * 1024 * 1024


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
        _refuse_strangers()
        g.memory = memento
        request.max_content_length = IMPORT_BYTES if request.path == "/memory/import" else note_bytes

    app.register_blueprint(Rest().blueprint())
    app.register_blueprint(Sparql().blueprint())
    _add_pages(app, memento)
    app.register_error_handler(MementoError, _failed)
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(Exception, _broken)
    return app


def is_loopback(host: str) -> bool:
    """
    Whether a name or an address can only mean this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _add_pages(app: Flask, memento: Memento) -> None:
    @app.get("/")
    def home() -> str:
        return render_template("home.html", version=__version__)

    @app.get("/health")
    def health() -> Response:
        if not memento.ready:
            return answered({"status": "starting"}, 503)
        return answered({"status": "ok", "version": __version__})

    @app.get("/metrics")
    def metrics() -> Response:
        return Response(telemetry.exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _refuse_strangers() -> None:
    """
    Only programs of this machine may ask, and only pages of this machine may write.

    Raises:
        Forbidden: the Host header, or the Origin of anything but a read, is not loopback.
    """
    if not is_loopback(_host_of(f"//{request.host}")):
        raise Forbidden(f"the Host header must name this machine, as localhost or 127.0.0.1, not {request.host[:80]!r}")
    origin = request.headers.get("Origin")
    if origin and request.method not in ("GET", "HEAD", "OPTIONS") and not is_loopback(_host_of(origin)):
        raise Forbidden(f"a page from {origin[:80]!r} may not write here")


def _failed(error: MementoError) -> Response:
    if error.status >= 500:
        logger.warning("web.failed", extra={"code": error.code})
    return _told(error.status, error.code, str(error))


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
