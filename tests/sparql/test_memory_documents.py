"""What the pages about memory in SPARQL and about inference say is true: their queries find something, their tables are whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento import assets
from memento.graph.binding import load_query
from memento.iris import data_iri
from memento.model import Change
from memento.python import Memento, open_memento
from memento.settings import GateSettings
from memento.sparql.description import EXAMPLES
from trig import parse_trig

DOCS = Path(__file__).parents[2] / "docs"
SPARQL, INFERENCE = ((DOCS / name).read_text(encoding="utf-8") for name in ("memory-in-sparql.md", "inference.md"))
GOOGLE = "urn:memento:entity:018d0c59-5fb1-7772-8ee3-7136aa901dac"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.M | re.S)


@pytest.fixture(scope="module")
def danny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memento]:
    """The sample world, and the axioms of the page in a free graph."""
    opened = open_memento(tmp_path_factory.mktemp("danny"), configured=replace(OFFLINE, gate=GateSettings(on=False)))
    assert isinstance(opened, Memento)
    [axioms] = blocks(INFERENCE, "turtle")
    with opened:
        opened.service.stores.graph.apply(Change(tuple(parse_trig(assets.read("ontology/world.trig")))))
        opened.service.stores.graph.load(
            axioms.replace("urn:memento:entity:…", GOOGLE).encode(), data_iri("local", "page")
        )
        opened.admin.rebuild()
        yield opened


@pytest.mark.parametrize("query", blocks(SPARQL, "sparql"))
def test_a_query_of_a_page_finds_something(danny: Memento, query: str) -> None:
    body, _ = danny.graphs.query_bytes(query, accept="text/csv")

    assert body.count(b"\n") > 1


@pytest.mark.parametrize("query", blocks(INFERENCE, "sparql"))
def test_a_query_of_the_page_of_inference_finds_something(danny: Memento, query: str) -> None:
    assert danny.graphs.infer().triples
    test_a_query_of_a_page_finds_something(danny, query)


def test_the_axioms_of_the_page_lead_where_it_says(danny: Memento) -> None:
    danny.note("I work at Google again.")
    assert danny.graphs.infer().triples
    asked = f"{blocks(INFERENCE, 'turtle')[0].split('ex:partOf a')[0].replace('@prefix', 'PREFIX').replace('> .', '>')}"
    body, _ = danny.graphs.query_bytes(
        f"{asked} ASK {{ <urn:memento:user:local> ex:affiliatedWith ex:alphabet }}", accept="text/csv"
    )

    assert body.strip() == b"true"


def test_every_rule_and_every_ready_query_is_in_its_table() -> None:
    assert set(re.findall(r"`((?:prp|cax|eq)-[\w-]+|slot)`", INFERENCE)) == set(
        re.findall(r'"((?:prp|cax|eq)-[\w-]+|slot)"', load_query("library/why").text)
    )
    assert [f"library/{name}" for name in re.findall(r"^\| `(\w+)\.rq` \|", SPARQL, flags=re.M)] == list(EXAMPLES)
