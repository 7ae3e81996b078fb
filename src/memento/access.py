"""
Authenticate callers and check their rights, by tokens: each is valid for one tenant, some of its namespaces, and some rights.

*Guarantees:* the file contains only digests of tokens, so nobody can read a token from it. A created or revoked token takes
effect with the next request, in every process. Digests are compared in constant time. These requests are refused without a token:
from another machine, through a reverse proxy that says so, to a host name that is not this machine's (DNS rebinding), and from a
page of another origin, also one of another port of this machine.

*But:* a reverse proxy on this machine that hides where a request comes from looks like a local program: set
`server.token_required` behind one.
"""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from memento import plugin
from memento.datadir import DataFolder, Vault, replace_file
from memento.errors import Conflict, Damaged, Forbidden, InputError, NotFound, SettingsError, Unauthorised
from memento.iris import IRI, data_iri, data_name
from memento.settings import Settings, require_plugin

Right = Literal["read", "write", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)

PREFIX = "mem_"
"""The prefix of every token, which tells it from the key of a model provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """
    The rights of a caller. Without `namespaces` they cover all namespaces of the tenant and all its free graphs; `admin` includes
    `write`, which includes `read`.

    With `namespaces` they cover only the free graphs named in `graphs`: `NAME` to read, `NAME:write` to write too.
    """

    tenant: str = "local"
    namespaces: tuple[str, ...] = ()
    right: Right = "read"
    name: str = "owner"
    graphs: tuple[str, ...] = ()

    @property
    def caller(self) -> str:
        """The name for sharing workers fairly: all programs of this machine without a token are one caller."""
        return f"{self.tenant} {self.name}"

    def may(self, right: Right) -> bool:
        """Tell whether the caller has a right."""
        return RIGHTS.index(right) <= RIGHTS.index(self.right)

    def describe_limit(self) -> str:
        """Return the restrictions of an admin right that one would not expect; empty without that right, and for the owner."""
        if self.right != "admin" or (self.tenant == OWNER.tenant and not self.namespaces):
            return ""
        return (
            f"this token cannot administer the whole data folder (check, rebuild, tenants, tokens): for that, create one of "
            f"the tenant {OWNER.tenant} without namespaces; for notes and forgetting, the scope write is enough"
        )

    def needs(self, right: Right) -> None:
        """Raise `Forbidden` if the caller lacks a right."""
        if not self.may(right):
            raise Forbidden(f"this takes the right to {right}; the token {self.name!r} may only {self.right}")

    def namespace(self, wanted: str | None, usual: str) -> str:
        """
        Choose the namespace of a call: the requested one, else the default, else the first of the caller's.

        Raises:
            Forbidden: the caller has no access to the requested namespace; the error names those it has.
        """
        if not self.namespaces:
            return wanted or usual
        if wanted is None:
            return usual if usual in self.namespaces else self.namespaces[0]
        if wanted not in self.namespaces:
            raise Forbidden(f"no access to the namespace {wanted!r}: the token is for {', '.join(self.namespaces)}")
        return wanted

    def sees(self, namespace: str) -> bool:
        """Tell whether the caller may read a namespace of its tenant."""
        return not self.namespaces or namespace in self.namespaces

    @property
    def readable_graphs(self) -> tuple[str, ...] | None:
        """The names of the free graphs that the caller may read; None for all of the tenant."""
        return tuple(one.removesuffix(_WRITE) for one in self.graphs) if self.namespaces else None

    @property
    def readable_free_graphs(self) -> tuple[IRI, ...] | None:
        """The IRIs of `readable_graphs`."""
        names = self.readable_graphs
        return None if names is None else tuple(data_iri(self.tenant, name) for name in names)

    @property
    def writable_graphs(self) -> tuple[str, ...] | None:
        """The names of the free graphs that the caller may write, given the right to write; None for all of the tenant."""
        if not self.namespaces:
            return None
        return tuple(one.removesuffix(_WRITE) for one in self.graphs if one.endswith(_WRITE))


_WRITE = ":write"


OWNER = Access(right="admin")
"""The rights of programs of this machine that need no token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A stored token: its name and rights, and the digest by which it is recognised."""

    name: str
    tenant: str
    namespaces: tuple[str, ...]
    right: Right
    digest: str
    created_at: str
    graphs: tuple[str, ...] = ()

    @property
    def access(self) -> Access:
        return Access(
            tenant=self.tenant, namespaces=self.namespaces, right=self.right, name=self.name, graphs=self.graphs
        )


TOKENS = "tokens"
"""The purpose for which the file of the tokens is sealed."""

Unlock: TypeAlias = "Callable[[DataFolder, Settings, bool], None]"
"""
Sets the vault of a data folder that is protected, or is to be; with True it also has the plain files in memory from then on, for
which this process must own the folder.
"""


def unlock_folder(datadir: DataFolder, settings: Settings, *, opens: bool = True) -> None:
    """
    Let the plug-ins that protect data folders unlock one, before anything of it is read; a plain one stays as it is.

    Args:
        opens: whether this process has acquired the folder, and opens it.

    Raises:
        SettingsError: the folder is protected by a plug-in that is switched off, or cannot be unlocked as it is asked for.
        Damaged: what it is protected with cannot be read.
    """
    owners = plugin.name_owners("protects")
    unlocks: Mapping[str, Unlock] = plugin.collect("protects")
    for mark, owner in owners.items():
        if owner in settings.plugins.left_out:
            if settings.encryption.on or (datadir.path / mark).is_file():
                require_plugin(settings, owner, f"the data folder {datadir.path}")
        elif mark in unlocks:
            unlocks[mark](datadir, settings, opens)
        elif (datadir.path / mark).is_file():
            raise SettingsError(
                f"the plug-in {owner}, which protects {datadir.path}, cannot be loaded: `memento plugins` says why"
            )


class Tokens:
    """The tokens of one data folder."""

    def __init__(self, file: Path, vault: Vault | None = None) -> None:
        """
        Args:
            vault: seals the file in an encrypted folder.
        """
        self._file, self._vault = file, vault
        self._owner = ""  # the digest of the owner's token, which is valid while this process serves
        self._read: tuple[tuple[int, int], list[Issued]] = ((0, 0), [])

    def create(
        self,
        name: str,
        *,
        tenant: str,
        namespaces: Sequence[str],
        right: Right,
        at: datetime,
        graphs: Sequence[str] = (),
    ) -> str:
        """
        Create a token and return it; it cannot be read again.

        Args:
            graphs: the free graphs that a token for some namespaces may read, by name or IRI; with `:write` behind it, also write.

        Raises:
            Conflict: a token of that name exists.
            InputError: an empty name or tenant, an unknown right, or graphs that the token cannot have.
        """
        if not name.strip() or not tenant.strip():
            raise InputError("a token needs a name and a tenant")
        if right not in RIGHTS:
            raise InputError(f"the scope of a token must be one of {', '.join(RIGHTS)}, not {right!r}")
        named = tuple(dict.fromkeys(_parse_graph(one, tenant, right) for one in graphs))
        if named and not namespaces:
            raise InputError(
                "a token for all namespaces reads every free graph of its tenant: name its namespaces, or leave the graphs out"
            )
        issued = self.list_issued()
        if any(one.name == name for one in issued):
            raise Conflict(f"there is a token {name!r} already: revoke it first, or choose another name")
        token = new_token()
        fresh = Issued(
            name=name,
            tenant=tenant,
            namespaces=tuple(dict.fromkeys(namespaces)),
            right=right,
            digest=_digest(token),
            created_at=at.isoformat(),
            graphs=named,
        )
        self._write([*issued, fresh])
        return token

    def revoke(self, name: str) -> None:
        """Revoke a token; raises `NotFound`."""
        issued = self.list_issued()
        left = [one for one in issued if one.name != name]
        if len(left) == len(issued):
            raise NotFound(f"there is no token {name!r}: `memento token list` names them")
        self._write(left)

    def list_issued(self) -> list[Issued]:
        """
        List every valid token, oldest first.

        Raises:
            SettingsError: the file is damaged; no token of it is accepted.
        """
        try:
            seen = self._file.stat()
        except OSError:
            return []
        stamp = (seen.st_mtime_ns, seen.st_ino)
        if self._read[0] != stamp:
            self._read = (stamp, self._load())
        return list(self._read[1])

    def for_owner(self) -> str:
        """Create a token with every right that is valid until this process ends; it replaces an earlier one."""
        token = new_token()
        self._owner = _digest(token)
        return token

    def access(self, token: str) -> Access:
        """
        Return the rights of a token.

        Raises:
            Unauthorised: the token is unknown.
        """
        digest = _digest(token)
        if self._owner and compare_digest(digest, self._owner):
            return OWNER
        for one in self.list_issued():
            if compare_digest(digest, one.digest):
                return one.access
        raise Unauthorised("this token is not known here: `memento token create` makes one")

    def _load(self) -> list[Issued]:
        try:
            data = self._vault.open_file(self._file, TOKENS) if self._vault else self._file.read_bytes()
            rows = json.loads(data)
            return [
                Issued(**{**row, "namespaces": tuple(row["namespaces"]), "graphs": tuple(row.get("graphs", ()))})
                for row in rows
            ]
        except (OSError, ValueError, TypeError, KeyError, Damaged) as error:
            raise SettingsError(f"{self._file} is damaged: delete it and create the tokens again") from error

    def _write(self, issued: Sequence[Issued]) -> None:
        if self._vault is not None:
            self._vault.seal_file(self._file, json.dumps([_to_row(one) for one in issued]).encode(), TOKENS)
            return
        replace_file(self._file, json.dumps([_to_row(one) for one in issued], indent=1))


def _to_row(one: Issued) -> dict[str, object]:
    """Return a token as it is stored; earlier versions read every row that names no graph."""
    row = asdict(one)
    return row if one.graphs else {key: value for key, value in row.items() if key != "graphs"}


def new_token() -> str:
    """Return a random token."""
    return f"{PREFIX}{secrets.token_urlsafe(32)}"


def bearer(header: str | None) -> str | None:
    """
    Return the token of an Authorization header, or None if there is none.

    >>> bearer("Bearer mem_abc"), bearer("bearer  mem_abc "), bearer("Basic abc"), bearer(None)
    ('mem_abc', 'mem_abc', None, None)
    """
    kind, _, rest = (header or "").strip().partition(" ")
    return rest.strip() or None if kind.lower() == "bearer" else None


def parse_right(name: str) -> Right:
    """Parse the name of a right; raises `InputError` for an unknown one."""
    if name not in RIGHTS:
        raise InputError(f"a scope must be one of {', '.join(RIGHTS)}, not {name!r}")
    return name


def _parse_graph(given: str, tenant: str, right: Right) -> str:
    """Return the name of a free graph of a tenant, with `:write` behind it if that is given; raise `InputError`."""
    called = given.removesuffix(_WRITE)
    name = data_name(tenant, called) or called
    if data_name(tenant, data_iri(tenant, name)) is None or name.startswith("urn:memento:"):
        raise InputError(
            f"{called[:80]!r} names no free graph of the tenant {tenant!r}: give its name, as `company` of "
            f"<{data_iri(tenant, 'company')}>, in 1 to 200 printable characters"
        )
    if given != called and right == "read":
        raise InputError(f"a token of the scope read cannot write: name the graph {name!r} without {_WRITE}")
    return name + given[len(called) :]


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", errors="surrogatepass")).hexdigest()


_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_READS = ("GET", "HEAD", "OPTIONS")
_OTHER_PAGES = ("cross-site", "same-site")
"""What a browser says of a request from a page of another origin: ports of one host are the same site."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The parts of a request that identify its sender. The names of `headers` are in lower case; `scheme` is `http` or `https`."""

    address: str
    method: str
    headers: Mapping[str, str]
    scheme: str = "http"
    is_proxied: bool = False  # Authorization belongs to a model provider, unless it contains a Memento token

    @property
    def token(self) -> str | None:
        """Return the Memento token of the request; X-Memento-Token leaves Authorization to the provider."""
        if own := self.headers.get("x-memento-token", "").strip():
            return own
        found = bearer(self.headers.get("authorization"))
        return found if found and (not self.is_proxied or found.startswith(PREFIX)) else None


def admit(caller: Caller, tokens: Tokens, *, required: bool) -> Access:
    """
    Decide the rights of the sender of a request.

    Args:
        required: whether programs of this machine also need a token.

    Raises:
        Unauthorised: a token is needed and missing, or unknown.
        Forbidden: there is no token, and the Host header names another machine, or a page of another origin sends the request: a
            read is judged by what the browser says of it, everything else also by its Origin.
    """
    if token := caller.token:
        return tokens.access(token)
    is_forwarded = any(name in caller.headers for name in _FORWARDED)
    if required or is_forwarded or not is_loopback(caller.address):
        raise Unauthorised("this takes a token: send `Authorization: Bearer mem_…`, made by `memento token create`")
    host, origin = caller.headers.get("host", ""), caller.headers.get("origin")
    if not names_loopback(host):
        raise Forbidden(f"the Host header must name this machine, as localhost or 127.0.0.1, not {host[:80]!r}")
    if caller.method in _READS:
        is_foreign = caller.method != "OPTIONS" and _is_behind_the_back(caller.headers)
    else:
        is_own = origin is None or origin.lower() == f"{caller.scheme}://{host}".lower()
        is_foreign = not is_own or caller.headers.get("sec-fetch-site") in _OTHER_PAGES
    if is_foreign:
        raise Forbidden(
            f"a page of another origin may not ask here without a token of its own{f': {origin[:80]!r}' if origin else ''}"
        )
    return OWNER


@lru_cache(256)
def is_loopback(host: str) -> bool:
    """
    Tell whether a name or an address can only mean this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([0-9A-Za-z.-]{1,253}))(?::([0-9]{1,5}))?")


def names_loopback(host: str) -> bool:
    """
    Tell whether a Host header names this machine and is only a name with an optional port.

    >>> [names_loopback(host) for host in ("localhost", "127.0.0.1:6366", "[::1]:80", "LocalHost:80")]
    [True, True, True, True]
    >>> [names_loopback(host) for host in ("", "[localhost]", "me@localhost", "localhost:", "localhost/x", "localhost:99999")]
    [False, False, False, False, False, False]
    """
    found = _HOST.fullmatch(host)
    if found is None or int(found[3] or 0) > 65535:
        return False
    return (":" in found[1] and is_loopback(found[1])) if found[1] else is_loopback(found[2].lower())


def _is_behind_the_back(headers: Mapping[str, str]) -> bool:
    """Tell whether a browser reports that a page of another origin sends the request, and not the user by following a link."""
    return headers.get("sec-fetch-site") in _OTHER_PAGES and headers.get("sec-fetch-dest") != "document"
