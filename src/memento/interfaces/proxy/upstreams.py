"""Which provider a request goes to, and how each of them says that something went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from memento.settings import ProxySettings

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


def target(protocol: Protocol, upstream: Upstream, path: str) -> str:
    """
    The path at the provider.

    >>> target("openai", Upstream("https", "a.b", 443, "/openai/v1"), "/v1/models")
    '/openai/v1/models'
    """
    return upstream.path + (path.removeprefix("/v1") if protocol == "openai" else path)


def told(protocol: Protocol, status: int, message: str) -> dict[str, object]:
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
