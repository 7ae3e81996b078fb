"""Which provider a request goes to, and how each of them says that something went wrong."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2

from memento.access import PREFIX, bearer
from memento.errors import MementoError
from memento.settings import ProxySettings
from memento.sparql.jobs import WaitingClient

Protocol = Literal["openai", "anthropic", "ollama"]


# What a base URL may end in although the paths of the protocol begin with it.
_SUFFIXES: dict[Protocol, str] = {"openai": "", "anthropic": "/v1", "ollama": "/api"}


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where a protocol is forwarded to: scheme, host and port, and the path that goes before the client's."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """As it is shown: no user, no password, no path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def upstreams(knobs: ProxySettings) -> dict[Protocol, Upstream]:
    """The protocols that have an upstream, and which."""
    found: dict[Protocol, Upstream] = {}
    for protocol, suffix in _SUFFIXES.items():
        if url := knobs.upstreams.get(protocol):
            found[protocol] = _upstream(url.rstrip("/").removesuffix(suffix))
    return found


def protocol_of(path: str, headers: Mapping[str, str]) -> Protocol:
    """
    The protocol of a request.

    >>> protocol_of("/v1/models", {}), protocol_of("/v1/models", {"x-api-key": "k"}), protocol_of("/api/tags", {})
    ('openai', 'anthropic', 'ollama')
    """
    if path.startswith("/api/"):
        return "ollama"
    if path.startswith("/v1/messages"):
        return "anthropic"
    if path.startswith(("/v1/chat/", "/v1/responses", "/v1/embeddings", "/v1/completions")):
        return "openai"
    is_anthropic = "anthropic-version" in headers or ("x-api-key" in headers and "authorization" not in headers)
    return "anthropic" if is_anthropic else "openai"


def path_at(protocol: Protocol, upstream: Upstream, path: str) -> str:
    """
    The path at the provider.

    >>> path_at("openai", Upstream("https", "a.b", 443, "/openai/v1"), "/v1/models")
    '/openai/v1/models'
    """
    return upstream.path + (path.removeprefix("/v1") if protocol == "openai" else path)


def word_error(protocol: Protocol, status: int, message: str) -> dict[str, object]:
    """An error in the words of the protocol."""
    match protocol:
        case "anthropic":
            kinds = {
                400: "invalid_request_error",
                401: "authentication_error",
                403: "permission_error",
                413: "request_too_large",
                504: "timeout_error",
            }
            return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}
        case "ollama":
            return {"error": message}
        case _:
            kind = "invalid_request_error" if status < 500 else "api_error"
            code = {502: "upstream_unreachable", 504: "upstream_timeout"}.get(status)
            return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _upstream(url: str) -> Upstream:
    parts = urlsplit(url)  # checked where settings are
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return Upstream(parts.scheme, parts.hostname or "", port, parts.path)


Headers = list[tuple[bytes, bytes]]

IDLE_S = 15.0  # a provider may close an idle connection; one that is reused too late costs the request
IDLE_CONNECTIONS = 64
WRITE_S = 60.0  # for each piece of a request

# RFC 9110, 7.6.1, and what speaks of the client's own connection to us.
HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)
OURS = (b"host", b"content-length", b"expect", b"cookie", b"memento-namespace")

_now = threading.local()


class UpstreamUnreachable(MementoError):
    """The provider cannot be reached, or gave no answer; the message names it, never a key."""

    status = 502


class UpstreamTimeout(UpstreamUnreachable):
    """The provider cannot be reached in time."""

    status = 504


class Answer:
    """A provider's answer: status, headers, and the body as an iterable that must be closed."""

    def __init__(self, response: httpcore2.Response, presence: WaitingClient) -> None:
        self.status = response.status
        self.headers = _end_to_end(response.headers)
        self._response, self._presence = response, presence

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._response.iter_stream():
                yield chunk
                if self._presence.has_left:
                    return
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError):
            self._presence.is_broken = True
        # Before the last byte goes out, after which the server takes the client for gone: the connection may be used again.
        self._presence.release()

    def close(self) -> None:
        """Let go of the connection; one that is not at its end is closed."""
        self._presence.release()
        with suppress(httpcore2.NetworkError, httpcore2.ProtocolError, OSError):
            self._response.close()


class Relay:
    """Connections to providers, kept open between requests. Safe to use from many threads."""

    def __init__(self, connect_s: float, connections: int) -> None:
        self._connect_s, self._connections = connect_s, connections
        self._pools: dict[str, httpcore2.ConnectionPool] = {}
        self._lock = threading.Lock()

    def send(
        self, method: str, upstream: Upstream, target: bytes, headers: Headers, body: bytes, presence: WaitingClient
    ) -> Answer:
        """
        Send a request and wait for the head of its answer.

        Raises:
            UpstreamUnreachable: no connection, or no answer.
            UpstreamTimeout: no connection in time.
        """
        timeouts = {"connect": self._connect_s, "pool": self._connect_s, "write": WRITE_S, "read": None}
        url = httpcore2.URL(
            scheme=upstream.scheme.encode(), host=upstream.host.encode("idna"), port=upstream.port, target=target
        )
        request = httpcore2.Request(
            method,
            url,
            headers=_forward(headers, upstream, method, body),
            content=body,
            extensions={"timeout": timeouts},
        )
        _now.presence = presence
        try:
            return Answer(self._pool(upstream).handle_request(request), presence)
        except (httpcore2.ConnectTimeout, httpcore2.PoolTimeout, httpcore2.WriteTimeout) as error:
            raise UpstreamTimeout(f"{upstream.origin} did not take the request within {self._connect_s:g} s") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError, OSError) as error:
            kind = type(error).__name__
            raise UpstreamUnreachable(f"{upstream.origin} cannot be reached or gave no answer ({kind})") from error
        finally:
            _now.presence = None

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()

    def _pool(self, upstream: Upstream) -> httpcore2.ConnectionPool:
        with self._lock:
            if upstream.origin not in self._pools:
                self._pools[upstream.origin] = self._new_pool(upstream)
            return self._pools[upstream.origin]

    def _new_pool(self, upstream: Upstream) -> httpcore2.ConnectionPool:
        return httpcore2.ConnectionPool(
            ssl_context=_trust() if upstream.scheme == "https" else None,
            proxy=_proxy_to(upstream),
            max_connections=self._connections,
            max_keepalive_connections=IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_S,
            network_backend=_Network(),
            socket_options=[(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)],
        )


class _Network(httpcore2.SyncBackend):
    """The network, with each connection known to the caller whose request it carries."""

    def connect_tcp(self, *args: Any, **kwargs: Any) -> httpcore2.NetworkStream:
        return _Stream(super().connect_tcp(*args, **kwargs))


class _Stream(httpcore2.NetworkStream):
    """A connection whose socket is handed to the caller before anything is written for them."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        presence: WaitingClient | None = getattr(_now, "presence", None)
        if presence and not presence.hold(self._stream.get_extra_info("socket")):
            raise httpcore2.ReadError("the caller has left")  # of writes that fail httpcore waits for an answer
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _forward(headers: Headers, upstream: Upstream, method: str, body: bytes) -> Headers:
    """The client's headers, but for those of its connection and for ours; the host and the length are told anew."""
    kept = [
        (name, value)
        for name, value in _end_to_end(headers)
        if name.lower() not in OURS and not name.lower().startswith(b"x-memento") and not _is_token(name, value)
    ]
    is_default = upstream.port == (443 if upstream.scheme == "https" else 80)
    host = upstream.host if is_default else upstream.origin.split("//", 1)[1]
    length = [(b"content-length", str(len(body)).encode())] if body or method in ("POST", "PUT", "PATCH") else []
    return [(b"host", host.encode("idna")), *kept, *length]


def _is_token(name: bytes, value: bytes) -> bool:
    """Whether a header carries a token of ours, which is none of the provider's business."""
    return name.lower() == b"authorization" and (bearer(value.decode("latin-1")) or "").startswith(PREFIX)


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Without the headers of the hop, and those that `Connection` names."""
    listed = list(headers)
    named = {
        token.strip().lower() for name, value in listed if name.lower() == b"connection" for token in value.split(b",")
    }
    return [(name, value) for name, value in listed if name.lower() not in HOP_BY_HOP | named]


def _proxy_to(upstream: Upstream) -> httpcore2.Proxy | None:
    """The proxy that the environment names for this provider, as it would be used without us."""
    known: dict[str, str] = getproxies()
    found = known.get(upstream.scheme) or known.get("all")
    if not found or proxy_bypass(upstream.host):
        return None
    parts = urlsplit(found if "://" in found else f"http://{found}")
    url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return httpcore2.Proxy(url, auth=auth)


def _trust() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()
