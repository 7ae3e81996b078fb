"""
Connect to other machines, and check their addresses first.

*Guarantees:* a name is resolved once, all its addresses must be public, and the connection goes to a checked address: a later
change of the name has no effect. Proxies from the environment are not used.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from memento.errors import GraphError

_GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")
"""The IPv6 addresses that are globally allocated."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""The prefix with which a network without IPv4 writes IPv4 addresses."""

Address = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]]


def connect(url: str, until: float, *, trusts_literals: bool = False) -> http.client.HTTPConnection:
    """
    Connect to a checked address.

    Args:
        until: when to give up, by the monotonic clock.
        trusts_literals: accept a host that is itself an address, or localhost, without the check.

    Raises:
        GraphError: not an HTTP address, or the host is not public.
        OSError, TimeoutError: the host cannot be reached, or not in time.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if parts.scheme not in ("http", "https") or not host:
        raise GraphError(f"<{url}> is no address: it must begin with https:// or http://")
    family, kind, protocol, _, address = resolve_host(host, port, trusts_literals=trusts_literals)[0]
    plain = socket.socket(family, kind, protocol)
    try:
        plain.settimeout(remaining_s(until))
        plain.connect(address)
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(host, port)
            connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        else:
            connection = http.client.HTTPConnection(host, port)
            connection.sock = plain
    except BaseException:
        plain.close()
        raise
    return connection


def resolve_host(host: str, port: int, *, trusts_literals: bool = True) -> Sequence[Address]:
    """
    Return the addresses of a host; all of them are public unless the host is itself an address, or localhost.

    Args:
        trusts_literals: accept those two; otherwise they must be public too.

    Raises:
        GraphError: an address of the host is not public.
        OSError: the name cannot be resolved.
    """
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not (trusts_literals and _is_literal(host)):
        for address in addresses:
            if not is_public(str(address[4][0])):
                raise GraphError(
                    f"the endpoint's host {host!r} stands for an address that is not public: list the address itself"
                    if trusts_literals
                    else f"the host {host!r} is on this machine or in a private network"
                )
    return addresses


def is_public(address: str) -> bool:
    """
    Tell whether an address is a public Internet address: not of this machine, its network or the inside of a cloud.

    >>> [is_public(one) for one in ("8.8.8.8", "127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "fe80::1", "::ffff:127.0.0.1")]
    [True, False, False, False, False, False, False]
    >>> [is_public(one) for one in ("2606:4700::1", "64:ff9b::8.8.8.8", "64:ff9b::127.0.0.1", "::127.0.0.1", "fec0::1")]
    [True, True, False, False, False]
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        if ip not in _GLOBAL_IPV6 or (ip.sixtofour and not is_public(str(ip.sixtofour))):
            return False
    return ip.is_global and not ip.is_multicast


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True


def remaining_s(until: float) -> float:
    """Return the remaining seconds; raise `TimeoutError` if none remain."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
