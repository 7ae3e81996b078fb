"""
Who a request is from: the holder of a token, or a program of this machine, which needs none.

*Guarantees:* without a token nobody gets in from another machine, through a forwarder that says so, by a name that is not
this machine's (DNS rebinding), or from the page of another origin that wants to write.

*But:* a forwarder on this machine that hides where a request comes from looks like a program of this machine: set
`server.token_required` behind one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from memento.access.tokens import OWNER, PREFIX, Access, Tokens, bearer
from memento.errors import Forbidden, Unauthorised

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_READS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What a request tells of who sent it. `headers` have names in lower case."""

    address: str
    method: str
    headers: Mapping[str, str]
    is_proxied: bool = False  # whether Authorization belongs to a model provider, unless it is a token of ours

    @property
    def token(self) -> str | None:
        """The token of ours that came along; X-Memento-Token leaves Authorization to the provider."""
        if own := self.headers.get("x-memento-token", "").strip():
            return own
        found = bearer(self.headers.get("authorization"))
        return found if found and (not self.is_proxied or found.startswith(PREFIX)) else None


def admitted(caller: Caller, tokens: Tokens, *, required: bool, pages: Collection[str] = ()) -> Access:
    """
    What the sender of a request may do.

    Args:
        required: whether programs of this machine need a token too.
        pages: origins whose pages may ask this without a token; `*` is any.

    Raises:
        Unauthorised: no token where one is needed, or one that is not known.
        Forbidden: the Host header, or the Origin of anything but a read, names another machine, or the page of another site asks,
            and no token came along.
    """
    if token := caller.token:
        return tokens.access(token)
    is_forwarded = any(name in caller.headers for name in _FORWARDED)
    if required or is_forwarded or not is_loopback(caller.address):
        raise Unauthorised("this takes a token: send `Authorization: Bearer mem_…`, made by `memento token create`")
    host, origin = caller.headers.get("host", ""), caller.headers.get("origin")
    if not is_loopback(_host_of(f"//{host}")):
        raise Forbidden(f"the Host header must name this machine, as localhost or 127.0.0.1, not {host[:80]!r}")
    if origin and ("*" in pages or origin in pages):
        return OWNER
    if origin and caller.method not in _READS and not is_loopback(_host_of(origin)):
        raise Forbidden(f"a page from {origin[:80]!r} may not write here")
    if caller.method != "OPTIONS" and _is_behind_the_back(caller.headers):
        raise Forbidden("a page of another site may not ask here without a token of its own")
    return OWNER


@lru_cache(256)
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


def _is_behind_the_back(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that a page of another site asks, and not the user by following a link."""
    return headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-dest") != "document"


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
