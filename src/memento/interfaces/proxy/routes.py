"""The routes of the providers: a request is parsed, gets its memories if it is a conversation, and is forwarded."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from urllib.parse import quote

from flask import Blueprint, Request, Response, request
from werkzeug.exceptions import HTTPException

from memento import telemetry
from memento.backends import CopyCache
from memento.errors import InputError, MementoError
from memento.interfaces.proxy.blocks import Block, Enriched, Enricher, Sticky
from memento.interfaces.proxy.dialects import DIALECTS
from memento.interfaces.proxy.relay import (
    ForwardedRequest,
    Headers,
    Protocol,
    Relay,
    Upstream,
    UpstreamUnreachable,
    path_at,
    protocol_of,
    upstreams,
    word_error,
)
from memento.interfaces.web.connection import Event, OnLoop, Send, answer_on_loop, scope_of
from memento.interfaces.web.requests import context
from memento.service import Service

PROXIED = ("/v1/", "/api/")
"""The paths on which the header Authorization has the key of a model provider."""
BODY_BYTES = 64 * 1024 * 1024  # requests may contain images and files
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Proxy:
    """The routes below `/v1` and `/api`."""

    def __init__(self, service: Service) -> None:
        knobs = service.settings.proxy
        self._upstreams = upstreams(knobs)
        self._relay = Relay(knobs.connect_s, service.settings.server.connections)
        self._sticky = Sticky(service.datadir, knobs.blocks)
        self._enricher = Enricher(self._sticky, knobs)
        service.stores.caches.append(CopyCache(self._sticky.forget_shown, self.close, self._sticky.forget_all))

    def blueprint(self) -> Blueprint:
        """Return the routes; every path of a provider is served."""
        routes = Blueprint("proxy", __name__)
        for prefix in PROXIED:
            rule = f"{prefix}<path:rest>"
            routes.add_url_rule(rule, view_func=self.forward, methods=METHODS, provide_automatic_options=False)
        routes.register_error_handler(MementoError, lambda error: _answer_error(error.status, str(error)))
        routes.register_error_handler(HTTPException, _answer_http_error)
        return routes

    @property
    def origins(self) -> dict[str, str]:
        """Return the target of each protocol that is served: scheme, host and port."""
        return {protocol: upstream.origin for protocol, upstream in self._upstreams.items()}

    def list_prompts(self, limit: int) -> list[tuple[Block, list[str]]]:
        """List the blocks put into prompts last, of every tenant, with what each shows; empty if `proxy.blocks` is 0."""
        return self._sticky.list_latest(limit)

    def close(self) -> None:
        """Close connections and files; called when the memory is closed."""
        self._enricher.close()
        self._relay.close()
        self._sticky.close()

    def forward(self, rest: str) -> Response:
        """Forward the request, with memories if it is a conversation, and stream the answer back."""
        protocol = protocol_of(request.path, _lower(request))
        upstream = self._upstream(protocol)
        body = request.get_data(cache=False)
        begin = time.perf_counter()
        enriched = self._enrich(body)
        spent_ms = (time.perf_counter() - begin) * 1000
        telemetry.count(f"proxy.{enriched.state}")
        asked = ForwardedRequest(
            method=request.method,
            upstream=upstream,
            target=_target(protocol, upstream),
            headers=_headers(),
            body=enriched.body,
        )
        answer = partial(self._answer, protocol, asked, enriched.capture)
        response = Response()
        response.automatically_set_content_length = False
        response.headers.clear()
        response.headers["x-memento-status"] = enriched.state
        response.headers["x-memento-count"] = str(enriched.memories)
        response.headers["x-memento-ms"] = f"{spent_ms:.1f}"
        if enriched.caught_up:
            response.headers["x-memento-caught-up"] = str(enriched.caught_up)
        if scope_of(request.environ) is None:  # a server without an event loop
            return asyncio.run(_gather(answer, response.headers.to_wsgi_list()))
        answer_on_loop(request.environ, answer)
        return response

    async def _answer(
        self,
        protocol: Protocol,
        asked: ForwardedRequest,
        capture: Callable[[], None] | None,
        headers: Headers,
        send: Send,
    ) -> None:
        """Stream the provider's answer to a request, and capture the last turn afterwards."""
        try:
            status = await self._relay.exchange(asked, headers, send)
            if capture and status < 400:
                capture()
        except UpstreamUnreachable as error:
            body = _word_error(protocol, error.status, str(error))
            kept = [(name, value) for name, value in headers if not name.startswith(b"x-memento")]
            head = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"x-memento-status", b"error"),
            ]
            await send({"type": "http.response.start", "status": error.status, "headers": [*head, *kept]})
            await send({"type": "http.response.body", "body": body})

    def _enrich(self, body: bytes) -> Enriched:
        dialect = DIALECTS.get(request.path)
        is_off = request.headers.get("x-memento", "").strip().lower() == "off"
        if dialect is None or request.method != "POST" or is_off or _is_encoded(request):
            return Enriched(body, "skipped")
        namespace = request.headers.get("x-memento-namespace") or request.headers.get("Memento-Namespace") or None
        enriched = self._enricher.enrich(body, dialect, context(), namespace)
        is_counting = request.path.endswith("_tokens")  # the counted text may never be sent
        return replace(enriched, capture=None) if is_counting else enriched

    def _upstream(self, protocol: Protocol) -> Upstream:
        upstream = self._upstreams.get(protocol)
        if upstream is None:
            served = ", ".join(sorted(self._upstreams)) or "none"
            raise InputError(
                f"{request.path[:200]} needs an upstream for {protocol}: set {protocol}_base_url of [proxy]; served are {served}"
            )
        if upstream.host in LOOPBACK and upstream.port == (request.server or ("", None))[1]:
            raise InputError(f"{protocol}_base_url of [proxy] is the address of Memento itself: {upstream.origin}")
        return upstream


async def _gather(answer: OnLoop, headers: Iterable[tuple[str, str]]) -> Response:
    """Return an answer in one piece."""
    events: list[Event] = []

    async def keep(event: Event) -> None:
        events.append(event)

    await answer([(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers], keep)
    head, *pieces = events
    response = Response(b"".join(piece["body"] for piece in pieces), status=head["status"])
    response.headers.clear()
    response.headers.extend((name.decode("latin-1"), value.decode("latin-1")) for name, value in head["headers"])
    return response


def _target(protocol: Protocol, upstream: Upstream) -> bytes:
    """Return the path and query at the provider, as the client wrote them."""
    path = (scope_of(request.environ) or {}).get("raw_path", b"").decode("latin-1")
    if not path.startswith(PROXIED):
        path = quote(request.path, safe="/:@!$&'()*+,;=~-._")
    query = request.query_string
    return path_at(protocol, upstream, path).encode("latin-1") + (b"?" + query if query else b"")


def _headers() -> Headers:
    """Return the client's headers in order, with repeated ones, which WSGI would have merged."""
    if scope := scope_of(request.environ):
        return list(scope["headers"])
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request.headers]


def _lower(asked: Request) -> dict[str, str]:
    return {name.lower(): value for name, value in asked.headers}


def _is_encoded(asked: Request) -> bool:
    return asked.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity")


def _answer_http_error(error: HTTPException) -> Response:
    message = error.description or error.name
    if error.code == 413:
        message = f"the request is longer than {BODY_BYTES} bytes"
    return _answer_error(error.code or 500, message)


def _answer_error(status: int, message: str) -> Response:
    words = _word_error(protocol_of(request.path, _lower(request)), status, message)
    response = Response(words, status=status, mimetype="application/json")
    response.headers["x-memento-status"] = "error"
    return response


def _word_error(protocol: Protocol, status: int, message: str) -> bytes:
    if status >= 502:
        telemetry.count("proxy.upstream_unreachable")
    return json.dumps(word_error(protocol, status, f"Memento: {message}"), ensure_ascii=False).encode()
