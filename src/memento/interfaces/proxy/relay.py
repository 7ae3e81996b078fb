"""Choose the provider of a request, forward the request, and write errors in each provider's format."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2

from memento.access import PREFIX, bearer
from memento.errors import MementoError
from memento.interfaces.web.connection import BrokenOff, Send
from memento.settings import ProxySettings

Protocol = Literal["openai", "anthropic", "ollama"]


# Suffixes of a base URL that the paths of the protocol repeat.
_SUFFIXES: dict[Protocol, str] = {"openai": "", "anthropic": "/v1", "ollama": "/api"}


@dataclass(frozen=True, slots=True)
class Upstream:
    """The target of a protocol: scheme, host and port, and a path prefix for the client's path."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """The address to show: without user, password and path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def upstreams(knobs: ProxySettings) -> dict[Protocol, Upstream]:
    """Return the upstream of each protocol that has one."""
    found: dict[Protocol, Upstream] = {}
    for protocol, suffix in _SUFFIXES.items():
        if url := knobs.upstreams.get(protocol):
            found[protocol] = _upstream(url.rstrip("/").removesuffix(suffix))
    return found


def protocol_of(path: str, headers: Mapping[str, str]) -> Protocol:
    """
    Return the protocol of a request.

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
    Return the path at the provider.

    >>> path_at("openai", Upstream("https", "a.b", 443, "/openai/v1"), "/v1/models")
    '/openai/v1/models'
    """
    return upstream.path + (path.removeprefix("/v1") if protocol == "openai" else path)


def word_error(protocol: Protocol, status: int, message: str) -> dict[str, object]:
    """Return an error in the format of the protocol."""
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
    parts = urlsplit(url)  # already validated with the settings
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return Upstream(parts.scheme, parts.hostname or "", port, parts.path)


Headers = list[tuple[bytes, bytes]]

IDLE_S = 15.0  # a provider may close an idle connection, and a request on a closed one fails
IDLE_CONNECTIONS = 64
WRITE_S = 60.0  # for each piece of a request

# RFC 9110, 7.6.1, and headers about the client's own connection to us.
HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)
OURS = (b"host", b"content-length", b"expect", b"cookie", b"memento-namespace")

_FAILURES = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError)


class UpstreamUnreachable(MementoError):
    """The provider cannot be reached, or did not answer; the message names the provider, never a key."""

    status = 502


class UpstreamTimeout(UpstreamUnreachable):
    """The provider cannot be reached in time."""

    status = 504


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedRequest:
    """A request to a provider: `headers` are the client's, `target` is path and query."""

    method: str
    upstream: Upstream
    target: bytes
    headers: Headers
    body: bytes


class Relay:
    """The connection pool for providers, on the event loop, so that a waiting stream needs no thread."""

    def __init__(self, connect_s: float, connections: int) -> None:
        self._connect_s, self._connections = connect_s, connections
        self._pools: dict[tuple[str, asyncio.AbstractEventLoop], _Pool] = {}

    async def exchange(self, asked: ForwardedRequest, added: Headers, send: Send) -> int:
        """
        Send a request, stream the answer to the client, and return its status. `added` headers of Memento replace the provider's;
        other `added` headers are used only if the provider sends none of that name. Cancelling closes the connection.

        Raises:
            UpstreamUnreachable: no connection, or no answer; nothing was sent to the client.
            UpstreamTimeout: no connection in time; nothing was sent to the client.
            BrokenOff: the answer ended before it was complete.
        """
        answer = await self._ask(asked)
        try:
            headers = _join_headers(_end_to_end(answer.headers), added)
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            async for piece in answer.aiter_stream():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except _FAILURES:
            raise BrokenOff from None
        finally:
            with suppress(*_FAILURES):
                await answer.aclose()
        await send({"type": "http.response.body", "body": b""})
        return answer.status

    async def _ask(self, asked: ForwardedRequest) -> httpcore2.Response:
        """Send a request, and wait for the head of its answer."""
        upstream = asked.upstream
        timeouts = {"connect": self._connect_s, "pool": self._connect_s, "write": WRITE_S, "read": None}
        url = httpcore2.URL(
            scheme=upstream.scheme.encode(), host=upstream.host.encode("idna"), port=upstream.port, target=asked.target
        )
        request = httpcore2.Request(
            asked.method,
            url,
            headers=_forward(asked.headers, upstream, asked.method, asked.body),
            content=asked.body,
            extensions={"timeout": timeouts},
        )
        try:
            return await (await self._pool(upstream)).handle_async_request(request)
        except (httpcore2.ConnectTimeout, httpcore2.PoolTimeout, httpcore2.WriteTimeout) as error:
            raise UpstreamTimeout(f"{upstream.origin} did not take the request within {self._connect_s:g} s") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError, OSError) as error:
            kind = type(error).__name__
            raise UpstreamUnreachable(f"{upstream.origin} cannot be reached or gave no answer ({kind})") from error

    def close(self) -> None:
        """Close every connection; an event loop that has ended has already closed its own."""
        for (_, loop), (_, keeper) in self._pools.items():
            if loop.is_running():
                asyncio.run_coroutine_threadsafe(keeper.aclose(), loop)
        self._pools.clear()

    async def _pool(self, upstream: Upstream) -> httpcore2.AsyncConnectionPool:
        key = upstream.origin, asyncio.get_running_loop()
        if key not in self._pools:
            self._pools = {key: one for key, one in self._pools.items() if not key[1].is_closed()}
            pool = self._new_pool(upstream)
            self._pools[key] = pool, (keeper := _keep(pool))
            await anext(keeper)
        return self._pools[key][0]

    def _new_pool(self, upstream: Upstream) -> httpcore2.AsyncConnectionPool:
        return httpcore2.AsyncConnectionPool(
            ssl_context=_trust() if upstream.scheme == "https" else None,
            proxy=_proxy_to(upstream),
            max_connections=self._connections,
            max_keepalive_connections=IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_S,
            network_backend=_Network(),
            socket_options=[(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)],
        )


_Pool = tuple[httpcore2.AsyncConnectionPool, AsyncGenerator[None]]


async def _keep(pool: httpcore2.AsyncConnectionPool) -> AsyncGenerator[None]:
    """Close the connections when the event loop ends: it then closes this generator."""
    try:
        yield
    finally:
        await pool.aclose()


class _Network(httpcore2.AsyncNetworkBackend):
    """
    A network backend directly on asyncio.

    *Because:* httpcore's own layer, which supports other event loops, takes a third of the time of a request.
    """

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        with _translate_errors(httpcore2.ConnectTimeout, httpcore2.ConnectError):
            async with asyncio.timeout(timeout):
                reader, writer = await asyncio.open_connection(host, port)
            for option in socket_options or ():
                writer.get_extra_info("socket").setsockopt(*option)
            return _Stream(reader, writer)


class _Stream(httpcore2.AsyncNetworkStream):
    """A connection to a provider."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _translate_errors(httpcore2.ReadTimeout, httpcore2.ReadError):
            async with asyncio.timeout(timeout):
                return await self._reader.read(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with _translate_errors(httpcore2.WriteTimeout, httpcore2.WriteError):
            self._writer.write(buffer)
            async with asyncio.timeout(timeout):
                await self._writer.drain()

    async def aclose(self) -> None:
        self._writer.close()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        with _translate_errors(httpcore2.ConnectTimeout, httpcore2.ConnectError):
            await self._writer.start_tls(ssl_context, server_hostname=server_hostname, ssl_handshake_timeout=timeout)
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # an idle connection is readable when the provider has closed it
            return self._reader.at_eof() or self._writer.is_closing()
        return self._writer.get_extra_info(info)


@contextmanager
def _translate_errors(late: type[Exception], broken: type[Exception]) -> Iterator[None]:
    """Translate network errors into the exceptions of httpcore."""
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except OSError as error:
        raise broken(str(error)) from error


def _forward(headers: Headers, upstream: Upstream, method: str, body: bytes) -> Headers:
    """Return the client's headers without those of its connection and those for Memento; host and length are set again."""
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
    """Tell whether a header carries a token of Memento, which must not reach the provider."""
    return name.lower() == b"authorization" and (bearer(value.decode("latin-1")) or "").startswith(PREFIX)


def _join_headers(theirs: Headers, added: Headers) -> Headers:
    known = {name.lower() for name, _ in theirs}
    ours = [(name, value) for name, value in added if name.startswith(b"x-memento") or name not in known]
    replaced = {name for name, _ in ours}
    return [*(one for one in theirs if one[0].lower() not in replaced), *ours]


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return headers without the hop-by-hop ones and those that `Connection` names."""
    listed = list(headers)
    named = {
        token.strip().lower() for name, value in listed if name.lower() == b"connection" for token in value.split(b",")
    }
    return [(name, value) for name, value in listed if name.lower() not in HOP_BY_HOP | named]


def _proxy_to(upstream: Upstream) -> httpcore2.Proxy | None:
    """Return the HTTP proxy that the environment sets for this provider, if any: a client without Memento would use it too."""
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
