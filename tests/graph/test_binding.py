"""Slots take terms; a query file runs as it stands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Store

from memento import assets
from memento.errors import GraphError
from memento.graph import binding
from memento.graph.binding import bind_query, load_query
from memento.iris import IRI
from memento.python import Memento

ASKS_MEMORY = re.compile(r"\bSERVICE\s+mem:|\bmem:similarity\s*\(")
HEADER = re.compile(r"\A# .+\n# in: .+\n# out: .+\n# used by: .+\n")


@pytest.mark.parametrize("name", assets.queries())
def test_every_query_has_a_header_and_runs_as_it_stands(name: str, request: pytest.FixtureRequest) -> None:
    text = load_query(name).text

    assert HEADER.match(text), "the header names a sentence, in, out and used by"
    if ASKS_MEMORY.search(text):  # as it stands for whoever asks the service: the engine alone knows of no memory
        opened: Memento = request.getfixturevalue("memento")
        opened.graphs.query_bytes(text)
    else:
        Store().query(text)


@pytest.mark.parametrize("name", assets.queries())
def test_every_query_is_used(name: str) -> None:
    sources = (assets.folder("queries").parent / "src").rglob("*.py")

    assert any(f'"{name}"' in path.read_text() for path in sources)


@pytest.mark.parametrize("name", assets.queries())
def test_every_slot_of_a_query_is_found_by_binding(name: str) -> None:
    text = load_query(name).text

    assert len(re.findall(r"\bVALUES\b", re.sub(r"^#.*", "", text, flags=re.M))) == len(binding._SLOT.findall(text))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_becomes_syntax(text: str) -> None:
    store = Store()
    rows = list(store.query(bind_query("consolidation/noted", {"key": text})))  # type: ignore[arg-type]

    assert rows == []


def test_a_list_fills_every_slot_of_its_name() -> None:
    text = bind_query("retrieval/trace", {"memory": [IRI("urn:a"), IRI("urn:b")]})

    assert text.count("VALUES ?memory { <urn:a> <urn:b> }") == 11


def test_an_unknown_slot_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(GraphError, match=r"no slot entity.*memory"):
        bind_query("search/texts", {"entity": IRI("urn:a")})


def test_an_empty_slot_is_an_error_and_not_every_memory() -> None:
    with pytest.raises(GraphError, match="at least one value"):
        bind_query("search/texts", {"memory": []})


def test_an_unknown_query_is_an_error() -> None:
    with pytest.raises(GraphError, match="no query 'retrieval/nothing'"):
        load_query("retrieval/nothing")


def test_a_table_is_filled_with_rows() -> None:
    text = bind_query("retrieval/explained", {"memory": [(IRI("urn:a"), 1, 0.5), (IRI("urn:b"), 2, 0.25)]})

    assert text.count("VALUES (?memory ?rank ?score) { (<urn:a> ") == 4
    Store().query(text)


@pytest.mark.parametrize(
    ("name", "slot"), [("retrieval/explained", [(IRI("urn:a"), 1)]), ("search/texts", [(IRI("urn:a"), 1)])]
)
def test_a_row_of_the_wrong_length_is_an_error(name: str, slot: list[tuple[IRI, int]]) -> None:
    with pytest.raises(GraphError, match="takes"):
        bind_query(name, {"memory": slot})
