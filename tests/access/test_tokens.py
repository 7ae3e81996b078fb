"""Tokens: told once, kept as digests, good for what they were made for."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memento.access import OWNER, Access, Right, Tokens
from memento.errors import Conflict, Forbidden, InputError, NotFound, SettingsError, Unauthorised

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
