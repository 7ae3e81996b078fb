"""Who gets in: holders of tokens, and programs of this machine that ask by its name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memento.access import OWNER, Caller, Tokens, admitted
from memento.errors import Forbidden, MementoError, Unauthorised


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "tokens.json")


def caller(address: str = "127.0.0.1", method: str = "GET", is_proxied: bool = False, **headers: str) -> Caller:
    named = {name.replace("_", "-"): value for name, value in {"host": "localhost:6366", **headers}.items()}
    return Caller(address=address, method=method, headers=named, is_proxied=is_proxied)


@pytest.mark.parametrize(
    "one",
    [
        caller(),
        caller(address="::1", host="[::1]:6366"),
        caller(method="POST", origin="http://localhost:6366"),
        caller(origin="https://elsewhere.example"),
        caller(is_proxied=True, authorization="Bearer sk-key-of-a-provider"),
        caller(sec_fetch_site="same-origin", sec_fetch_dest="empty"),
        caller(sec_fetch_site="same-site", sec_fetch_dest="empty"),
        caller(sec_fetch_site="none", sec_fetch_dest="document"),
        caller(sec_fetch_site="cross-site", sec_fetch_dest="document"),
        caller(method="OPTIONS", sec_fetch_site="cross-site", sec_fetch_dest="empty"),
    ],
)
def test_a_program_of_this_machine_needs_no_token(one: Caller, tokens: Tokens) -> None:
    assert admitted(one, tokens, required=False) == OWNER


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
        (caller(method="POST", origin="https://evil.example"), Forbidden),
        (caller(method="DELETE", origin="null"), Forbidden),
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
        admitted(one, tokens, required=False)


@pytest.mark.parametrize("pages", [("https://yasgui.example",), ("*",)])
def test_a_page_that_is_named_may_ask(pages: tuple[str, ...], tokens: Tokens) -> None:
    asking = {
        "method": "POST",
        "origin": "https://yasgui.example",
        "sec_fetch_site": "cross-site",
        "sec_fetch_dest": "empty",
    }

    assert admitted(caller(**asking), tokens, required=False, pages=pages) == OWNER  # type: ignore[arg-type]
    with pytest.raises(Forbidden):
        admitted(caller(**asking), tokens, required=False, pages=("https://other.example",))  # type: ignore[arg-type]
    with pytest.raises(Forbidden, match="Host"):
        admitted(caller(host="evil.example", **asking), tokens, required=False, pages=pages)  # type: ignore[arg-type]
    with pytest.raises(Unauthorised):
        admitted(caller(address="10.0.0.7", **asking), tokens, required=False, pages=pages)  # type: ignore[arg-type]


def test_where_tokens_are_required_this_machine_needs_one_too(tokens: Tokens) -> None:
    with pytest.raises(Unauthorised, match="memento token create"):
        admitted(caller(), tokens, required=True)


@pytest.mark.parametrize("header", ["authorization", "x-memento-token"])
def test_a_token_lets_its_holder_in_from_anywhere(header: str, tokens: Tokens) -> None:
    token = tokens.create("phone", tenant="acme", namespaces=[], right="read", at=datetime.now(UTC))
    value = f"Bearer {token}" if header == "authorization" else token
    headers = {"host": "memory.example", "origin": "https://app.example", header: value}
    far = Caller(address="10.0.0.7", method="POST", headers=headers)

    assert admitted(far, tokens, required=True).tenant == "acme"
