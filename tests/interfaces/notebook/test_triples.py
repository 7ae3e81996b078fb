"""Triples of a query, and small graphs drawn."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento import assets
from memento.interfaces.notebook import answer, draw_triples, show_triples
from memento.iris import IRI, MEM, TYPE
from memento.model import Value
from memento.python import Memento
from memento.python.rows import Rows, Triples, parse_triples

NAMES = ("subject", "predicate", "object")
EVIL = "</text><script>alert(1)</script>"


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    root = ElementTree.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', ""))
    sides = ("x", "y", "width", "height")
    return [tuple(float(one.attrib[side]) for side in sides) for one in root.iter("rect")]  # type: ignore[misc]


@pytest.fixture
def told(memento: Memento, tmp_path: Path) -> Memento:
    (tmp_path / "world.trig").write_bytes(assets.read("ontology/world.trig"))
    memento.intake.import_rdf(tmp_path / "world.trig", check=False)
    return memento


def test_a_construct_gives_triples_a_drawing_and_a_frame(told: Memento) -> None:
    found = told.query(
        """PREFIX mem: <http://purl.org/memento/>
        CONSTRUCT { ?new mem:invalidates ?old . ?new mem:content ?n . ?old mem:content ?o ; mem:invalidAt ?end }
        WHERE { ?new mem:invalidates ?old ; mem:content ?n . ?old mem:content ?o ; mem:invalidAt ?end }""",
    )
    assert isinstance(found, Triples)
    svg, alone = show_triples(found), draw_triples(found, alone=True)

    assert alone != svg
    assert [box[2:] for box in boxes(svg)] == [box[2:] for box in boxes(alone)]
    assert "USER works at Google" in svg and "mem:invalidates" in svg
    assert 'stroke-dasharray="4 3"' in svg, "what is over is dashed"
    assert list(found.to_frame(short=True).columns) == ["subject", "predicate", "object"]
    assert len(found.to_frame()) == len(found)


def test_a_select_and_an_ask_are_answered_too(told: Memento) -> None:
    rows = told.query("SELECT (COUNT(*) AS ?n) { ?s a <http://purl.org/memento/Memory> }")

    assert isinstance(rows, Rows)
    assert [row["n"] for row in rows] == [13]
    assert told.query("ASK { ?s a <http://purl.org/memento/Memory> }")
    assert not told.query("ASK { ?s a <urn:nothing> }")
    with pytest.warns(DeprecationWarning, match=r"`answer` is `memento\.query` now"):
        assert answer(told, "ASK { ?s a <http://purl.org/memento/Memory> }")


def test_a_large_graph_is_a_table() -> None:
    many = Triples(NAMES, tuple((IRI(f"urn:{n}"), MEM.content, EVIL) for n in range(80)))

    assert "80 triples, the first 50" in show_triples(many)
    assert "<script" not in show_triples(many)
    assert "0 triples" in show_triples(Triples(NAMES, ()))


def test_text_in_a_drawing_stays_text_and_nothing_comes_from_elsewhere() -> None:
    svg = draw_triples([(IRI("urn:a"), MEM.content, EVIL), (IRI("urn:a"), IRI(f"urn:{EVIL}"), IRI(f"urn:{EVIL}"))])
    names = {one.tag for one in ElementTree.fromstring(svg).iter()}

    assert names == {"svg", "title", "g", "rect", "text", "path"}
    assert not re.search(r"http|url\(|href|#[0-9a-f]{3}", svg)


names = st.sampled_from([IRI(f"urn:{letter}") for letter in "abcdefgh"])
values = names | st.text(max_size=60) | st.integers()
triples = st.tuples(names, st.sampled_from([MEM.about, MEM.content, MEM.invalidates, TYPE]), values)


@settings(max_examples=60)
@given(st.lists(triples, max_size=25))
def test_boxes_never_overlap_whatever_circles_there_are(found: list[tuple[IRI, IRI, Value]]) -> None:
    svg = draw_triples(found)
    placed = boxes(svg)

    for number, (x, y, width, height) in enumerate(placed):
        for other_x, other_y, other_width, other_height in placed[number + 1 :]:
            beside = x + width <= other_x or other_x + other_width <= x
            assert beside or y + height <= other_y or other_y + other_height <= y
    assert svg == draw_triples(found)


def test_triples_keep_what_they_were_read_from() -> None:
    data = b'<urn:a> <urn:b> "x" .\n<urn:a> <urn:c> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'

    assert parse_triples(data).values == ((IRI("urn:a"), IRI("urn:b"), "x"), (IRI("urn:a"), IRI("urn:c"), 3))
    assert parse_triples(data).data == data
