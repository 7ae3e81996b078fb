"""Tokens open what they were made for; who gets in: their holders, and programs of this machine that ask by its name."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from memento.access import OWNER, Access, Caller, Right, Tokens, admit, is_loopback, names_loopback, parse_right
from memento.errors import Conflict, Forbidden, InputError, MementoError, NotFound, SettingsError, Unauthorised

AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "tokens.json")


def made(tokens: Tokens, name: str = "laptop", right: Right = "write", *namespaces: str) -> str:
    return tokens.create(name, tenant="acme", namespaces=namespaces, right=right, at=AT)


def test_a_token_opens_what_it_was_made_for(tokens: Tokens) -> None:
    token = made(tokens, "laptop", "write", "work")

    assert tokens.access(token) == Access(tenant="acme", namespaces=("work",), right="write", name="laptop")


def test_only_the_digest_is_kept_and_only_the_user_may_read_it(tokens: Tokens, tmp_path: Path) -> None:
    token = made(tokens)

    assert token not in (tmp_path / "tokens.json").read_text()
    assert stat.S_IMODE((tmp_path / "tokens.json").stat().st_mode) == 0o600


def test_a_token_that_another_process_makes_or_revokes_counts_at_once(tokens: Tokens, tmp_path: Path) -> None:
    other = Tokens(tmp_path / "tokens.json")
    token = made(other)
    assert tokens.access(token).name == "laptop"

    other.revoke("laptop")
    with pytest.raises(Unauthorised):
        tokens.access(token)


@pytest.mark.parametrize("token", ["", "mem_", "mem_" + "x" * 43, "sk-somebody-elses", "\ud800"])
def test_a_token_that_was_never_made_opens_nothing(tokens: Tokens, token: str) -> None:
    made(tokens)

    with pytest.raises(Unauthorised):
        tokens.access(token)


def test_the_owners_token_is_good_until_the_next(tokens: Tokens) -> None:
    first = tokens.for_owner()
    assert tokens.access(first) == OWNER

    tokens.for_owner()
    with pytest.raises(Unauthorised):
        tokens.access(first)


def test_a_token_has_one_of_three_rights(tokens: Tokens) -> None:
    with pytest.raises(InputError, match="root"):
        made(tokens, right=cast(Right, "root"))
    assert tokens.list_issued() == []


def test_tokens_are_read_again_only_when_their_file_is_another(tokens: Tokens, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    made(tokens)
    known, at = tokens.list_issued(), file.stat().st_mtime_ns
    file.write_text("damaged")
    os.utime(file, ns=(at, at))

    assert tokens.list_issued() == known


def test_a_name_is_given_once(tokens: Tokens) -> None:
    made(tokens)

    with pytest.raises(Conflict, match="laptop"):
        made(tokens)
    with pytest.raises(NotFound, match="phone"):
        tokens.revoke("phone")
    with pytest.raises(InputError):
        made(tokens, "  ")


def test_a_damaged_file_lets_nobody_in_and_says_so(tokens: Tokens, tmp_path: Path) -> None:
    token = made(tokens)
    (tmp_path / "tokens.json").write_text('[{"name": ')

    with pytest.raises(SettingsError, match=r"tokens\.json is damaged"):
        tokens.access(token)


@pytest.mark.parametrize(
    ("held", "allowed"), [("read", {"read"}), ("write", {"read", "write"}), ("admin", {"read", "write", "admin"})]
)
def test_a_right_includes_those_below_it(held: Right, allowed: set[str]) -> None:
    access = Access(right=held)

    def may(right: Right) -> bool:
        try:
            access.needs(right)
        except Forbidden:
            return False
        return True

    assert {right for right in ("read", "write", "admin") if may(right)} == allowed


def test_a_narrow_token_works_in_its_own_namespaces() -> None:
    narrow, wide = Access(namespaces=("work", "home")), Access()

    assert narrow.namespace(None, "main") == "work"
    assert narrow.namespace("home", "main") == "home"
    assert wide.namespace(None, "main") == "main"
    assert (narrow.sees("main"), wide.sees("main")) == (False, True)
    with pytest.raises(Forbidden, match="work, home"):
        narrow.namespace("main", "main")


def caller(address: str = "127.0.0.1", method: str = "GET", is_proxied: bool = False, **headers: str) -> Caller:
    named = {name.replace("_", "-"): value for name, value in {"host": "localhost:6366", **headers}.items()}
    return Caller(address=address, method=method, headers=named, is_proxied=is_proxied)


@pytest.mark.parametrize(
    "one",
    [
        caller(),
        caller(address="::1", host="[::1]:6366"),
        caller(method="POST"),
        caller(host="localhost:65535"),
        caller(method="POST", origin="http://localhost:6366"),
        caller(origin="https://elsewhere.example"),
        caller(is_proxied=True, authorization="Bearer sk-key-of-a-provider"),
        caller(sec_fetch_site="same-origin", sec_fetch_dest="empty"),
        caller(method="POST", origin="http://localhost:6366", sec_fetch_site="same-origin"),
        replace(caller(method="POST", origin="https://localhost:6366"), scheme="https"),
        caller(sec_fetch_site="same-site", sec_fetch_dest="document"),
        caller(sec_fetch_site="none", sec_fetch_dest="document"),
        caller(sec_fetch_site="cross-site", sec_fetch_dest="document"),
        caller(method="OPTIONS", sec_fetch_site="cross-site", sec_fetch_dest="empty"),
    ],
)
def test_a_program_of_this_machine_needs_no_token(one: Caller, tokens: Tokens) -> None:
    assert admit(one, tokens, required=False) == OWNER


ODD_HOSTS = (
    *("evil.example@localhost", "localhost/evil", "localhost#evil", "localhost?evil", "localhost\\evil", "[localhost]"),
    *("[127.0.0.1]", "[2001:db8::1]", "localhost:65536"),
    *("localhost:", "localhost:port", "localhost:99999", "localhost:-1", " localhost", "localhost ", "local\thost"),
    *("[127.0.0.1", "[::1", "::1", "[::1]evil", "[fe80::1%lo]", "localhost.", "localhost,evil.example", "127.1"),
)
"""Of most of them a parser of addresses makes this machine."""


@pytest.mark.parametrize(
    ("one", "error"),
    [
        (caller(address="10.0.0.7"), Unauthorised),
        (caller(address="10.0.0.7", host="127.0.0.1"), Unauthorised),
        (caller(x_forwarded_for="127.0.0.1"), Unauthorised),
        (caller(forwarded="for=10.0.0.7"), Unauthorised),
        (caller(host="evil.example"), Forbidden),
        (caller(host="127.0.0.1.evil.example"), Forbidden),
        (caller(host=""), Forbidden),
        *((caller(host=host), Forbidden) for host in ODD_HOSTS),
        *((caller(method="POST", origin=f"http://{host}"), Forbidden) for host in ODD_HOSTS),
        (caller(method="POST", origin="https://evil.example"), Forbidden),
        (caller(method="DELETE", origin="null"), Forbidden),
        (caller(method="POST", origin="http://localhost:3000"), Forbidden),
        (caller(method="POST", origin="http://127.0.0.1:6366"), Forbidden),
        (caller(method="POST", origin="https://localhost:6366"), Forbidden),
        (caller(method="PUT", sec_fetch_site="same-site", sec_fetch_dest="document"), Forbidden),
        (caller(method="POST", sec_fetch_site="cross-site", sec_fetch_dest="document"), Forbidden),
        (caller(sec_fetch_site="same-site", sec_fetch_dest="empty"), Forbidden),
        (caller(sec_fetch_site="cross-site", sec_fetch_dest="empty"), Forbidden),
        (caller(sec_fetch_site="cross-site", sec_fetch_dest="image"), Forbidden),
        (caller(sec_fetch_site="cross-site", sec_fetch_dest="iframe"), Forbidden),
        (caller(authorization="Bearer sk-no-token-of-ours"), Unauthorised),
        (caller(is_proxied=True, authorization="Bearer mem_unknown"), Unauthorised),
        (caller(is_proxied=True, x_memento_token="mem_unknown"), Unauthorised),
    ],
)
def test_everybody_else_is_turned_away(one: Caller, error: type[MementoError], tokens: Tokens) -> None:
    with pytest.raises(error):
        admit(one, tokens, required=False)


def test_where_tokens_are_required_this_machine_needs_one_too(tokens: Tokens) -> None:
    with pytest.raises(Unauthorised, match="memento token create"):
        admit(caller(), tokens, required=True)


@pytest.mark.parametrize("header", ["authorization", "x-memento-token"])
def test_a_token_lets_its_holder_in_from_anywhere(header: str, tokens: Tokens) -> None:
    token = tokens.create("phone", tenant="acme", namespaces=[], right="read", at=datetime.now(UTC))
    value = f"Bearer {token}" if header == "authorization" else token
    headers = {"host": "memory.example", "origin": "https://app.example", header: value}
    far = Caller(address="10.0.0.7", method="POST", headers=headers)

    assert admit(far, tokens, required=True).tenant == "acme"


def test_what_is_no_address_of_this_machine_is_answered_with_no() -> None:
    assert is_loopback("elsewhere") is False
    assert names_loopback("localhost:99999") is False


def test_a_right_is_parsed_and_another_word_refused() -> None:
    assert [parse_right(name) for name in ("read", "write", "admin")] == ["read", "write", "admin"]
    with pytest.raises(InputError, match="owner"):
        parse_right("owner")


def test_callers_of_different_tokens_and_tenants_have_different_shares() -> None:
    callers = [Access(), Access(name="phone"), Access(tenant="acme"), Access(tenant="acme", name="phone")]

    assert len({one.caller for one in callers}) == len(callers)
