"""What a caller in Python is told of wrong arguments, and what is done to what comes in oddly."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Any

import pytest

import memento as package
from kept import keep
from memento.errors import InputError
from memento.interfaces.web.app import create_app
from memento.python import Memento


@pytest.mark.parametrize("k", [2.5, "3", True])
def test_a_number_that_is_none_is_refused_by_its_name(memento: Memento, k: Any) -> None:
    with pytest.raises(InputError, match="k must be a whole number"):
        memento.recall("Where do I live?", k=k)


def test_rows_may_be_mappings_and_a_wrong_one_is_named(memento: Memento) -> None:
    rows: list[Any] = [{"content": "I like tea.", "at": "2024-01-08T00:00:00Z"}, {"content": "I live in Oslo."}]
    assert memento.intake.import_notes(rows).memories == 2
    assert {one.content for one in memento.list()} == {"I like tea.", "I live in Oslo."}

    wrong: list[tuple[Any, str]] = [
        ({"text": "x"}, "row 2 has no text"),
        ({"title": "x"}, "row 2: .*content"),
        ("x", "row 2 must be"),
    ]
    for row, said in wrong:
        with pytest.raises(InputError, match=said):
            memento.intake.import_notes([{"content": "I like milk."}, row])
    assert len(memento.list()) == 2


def test_control_characters_of_a_text_are_left_out(memento: Memento) -> None:
    memento.note("I like\x00 green\x1b tea.")
    assert [said.content for said in memento.list()] == ["I like green tea."]
    kept = keep(memento, "Milk\x07 is\twhite.")
    assert [said.content for said in memento.list() if said.iri == kept] == ["Milk is\twhite."]
    with pytest.raises(InputError, match="empty"):
        memento.note("\x00\x01")


def test_a_namespace_that_holds_nothing_is_said(memento: Memento) -> None:
    memento.note("I like tea.")
    assert memento.recall("What do I like?", namespace="main").notice is None
    assert "'wrok'" in (memento.recall("What do I like?", namespace="wrok").notice or "")

    notices: list[str] = []
    memento.on_notice = notices.append
    assert memento.list(namespace="main") and not notices
    for ask in (
        memento.list,
        memento.graphs.entities,
        memento.keys.list_memories,
        partial(memento.timeline, "me"),
        memento.status,
    ):
        assert ask(namespace="wrok") is not None
    assert len(notices) == 5
    assert all("'wrok'" in notice for notice in notices)

    with create_app(memento.service).test_client() as web:
        assert "'wr\\xf6k'" in web.get("/memory/list?namespace=wrök").headers["Memento-Notice"]
        assert "Memento-Notice" not in web.get("/memory/list?namespace=main").headers


def test_the_package_offers_its_public_names_without_loading_them() -> None:
    assert dir(package) == sorted(package.__all__)
    assert package.Client.__name__ == "Client"
    assert callable(package.open_memento)
    loads = "import sys, memento; print([name for name in ('numpy', 'pyoxigraph', 'flask') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True).stdout == "[]\n"
