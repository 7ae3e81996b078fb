"""
Who may do what: tokens, each good for one tenant, for some of its namespaces and for some rights.

*Guarantees:* only digests are kept, so that nobody can read a token from the file; a token that is created or revoked counts
from the next request on, in every process. Digests are compared in constant time.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Literal, get_args

from memento.errors import Conflict, Forbidden, InputError, NotFound, SettingsError, Unauthorised

Right = Literal["read", "write", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)

PREFIX = "mem_"
"""How every token begins, so that it can be told from the key of a model provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a caller may do. Without `namespaces` it is all of the tenant's; `admin` and `write` include what is less."""

    tenant: str = "local"
    namespaces: tuple[str, ...] = ()
    right: Right = "read"
    name: str = "owner"

    @property
    def caller(self) -> str:
        """Who that is when shares are counted: programs of this machine without a token are one caller."""
        return f"{self.tenant} {self.name}"

    def may(self, right: Right) -> bool:
        """Whether the caller may do what takes this right."""
        return RIGHTS.index(right) <= RIGHTS.index(self.right)

    def needs(self, right: Right) -> None:
        """Raises `Forbidden` when the caller may not do what takes this right."""
        if not self.may(right):
            raise Forbidden(f"this takes the right to {right}; the token {self.name!r} may only {self.right}")

    def namespace(self, wanted: str | None, usual: str) -> str:
        """
        The namespace that a call works in: the wanted one, else the usual one, else the first of the caller's.

        Raises:
            Forbidden: the caller has no access to the wanted one; names those that it has.
        """
        if not self.namespaces:
            return wanted or usual
        if wanted is None:
            return usual if usual in self.namespaces else self.namespaces[0]
        if wanted not in self.namespaces:
            raise Forbidden(f"no access to the namespace {wanted!r}: the token is for {', '.join(self.namespaces)}")
        return wanted

    def sees(self, namespace: str) -> bool:
        """Whether the caller may read a namespace of its tenant."""
        return not self.namespaces or namespace in self.namespaces


OWNER = Access(right="admin")
"""Whoever sits at the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A token as it is kept: who has it, and the digest that tells it."""

    name: str
    tenant: str
    namespaces: tuple[str, ...]
    right: Right
    digest: str
    created_at: str

    @property
    def access(self) -> Access:
        return Access(tenant=self.tenant, namespaces=self.namespaces, right=self.right, name=self.name)


class Tokens:
    """The tokens of one data folder."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._owner = ""  # the digest of the token that is good as long as this process serves
        self._read: tuple[tuple[int, int], list[Issued]] = ((0, 0), [])

    def create(self, name: str, *, tenant: str, namespaces: Sequence[str], right: Right, at: datetime) -> str:
        """
        A new token, told this once.

        Raises:
            Conflict: there is a token of that name.
            InputError: an empty name or tenant, or a right that is none.
        """
        if not name.strip() or not tenant.strip():
            raise InputError("a token needs a name and a tenant")
        if right not in RIGHTS:
            raise InputError(f"the scope of a token must be one of {', '.join(RIGHTS)}, not {right!r}")
        issued = self.issued()
        if any(one.name == name for one in issued):
            raise Conflict(f"there is a token {name!r} already: revoke it first, or choose another name")
        token = f"{PREFIX}{secrets.token_urlsafe(32)}"
        fresh = Issued(
            name=name,
            tenant=tenant,
            namespaces=tuple(dict.fromkeys(namespaces)),
            right=right,
            digest=_digest(token),
            created_at=at.isoformat(),
        )
        self._write([*issued, fresh])
        return token

    def revoke(self, name: str) -> None:
        """Let a token open nothing any more; raises `NotFound`."""
        issued = self.issued()
        left = [one for one in issued if one.name != name]
        if len(left) == len(issued):
            raise NotFound(f"there is no token {name!r}: `memento token list` names them")
        self._write(left)

    def issued(self) -> list[Issued]:
        """
        Every token that is good, oldest first.

        Raises:
            SettingsError: the file is damaged; nobody gets in by it.
        """
        try:
            seen = self._file.stat()
        except OSError:
            return []
        stamp = (seen.st_mtime_ns, seen.st_ino)
        if self._read[0] != stamp:
            self._read = (stamp, self._parsed())
        return list(self._read[1])

    def for_owner(self) -> str:
        """A token with every right that is good until this process ends; one made earlier is good no more."""
        token = f"{PREFIX}{secrets.token_urlsafe(32)}"
        self._owner = _digest(token)
        return token

    def access(self, token: str) -> Access:
        """
        What a token is good for.

        Raises:
            Unauthorised: it is not known here.
        """
        digest = _digest(token)
        if self._owner and compare_digest(digest, self._owner):
            return OWNER
        for one in self.issued():
            if compare_digest(digest, one.digest):
                return one.access
        raise Unauthorised("this token is not known here: `memento token create` makes one")

    def _parsed(self) -> list[Issued]:
        try:
            rows = json.loads(self._file.read_text(encoding="utf-8"))
            return [Issued(**{**row, "namespaces": tuple(row["namespaces"])}) for row in rows]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SettingsError(f"{self._file} is damaged: delete it and create the tokens anew") from error

    def _write(self, issued: Sequence[Issued]) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps([asdict(one) for one in issued], indent=1), encoding="utf-8")
        fresh.replace(self._file)


def bearer(header: str | None) -> str | None:
    """
    The token of an Authorization header, or None when there is none.

    >>> bearer("Bearer mem_abc"), bearer("bearer  mem_abc "), bearer("Basic abc"), bearer(None)
    ('mem_abc', 'mem_abc', None, None)
    """
    kind, _, rest = (header or "").strip().partition(" ")
    return rest.strip() or None if kind.lower() == "bearer" else None


def right_called(name: str) -> Right:
    """A right by its name; raises `InputError` for another word."""
    if name not in RIGHTS:
        raise InputError(f"a scope must be one of {', '.join(RIGHTS)}, not {name!r}")
    return name


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", errors="surrogatepass")).hexdigest()
