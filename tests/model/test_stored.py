"""Which graphs are whose, by their names alone."""

from __future__ import annotations

import pytest

from memento.iris import IRI, ONTOLOGY, data_iri, graph_iri, self_iri
from memento.model import Dataset

MAIN, SELF = graph_iri("local", "main"), self_iri("local")
COMPANY = data_iri("local", "company")
MINE = Dataset(default=(MAIN, SELF, ONTOLOGY), named=(MAIN, SELF, ONTOLOGY, COMPANY), into=MAIN, tenant="local")


@pytest.mark.parametrize("graph", [MAIN, graph_iri("local", "work: alpha"), COMPANY, data_iri("local", "ä/b")])
def test_a_tenant_writes_its_memories_and_its_free_graphs(graph: str) -> None:
    assert MINE.may_write(graph)


@pytest.mark.parametrize(
    "graph",
    [
        SELF,
        ONTOLOGY,
        "urn:memento:provenance:local",
        "urn:memento:audit:local",
        "urn:memento:inferred:local:main",
        graph_iri("rival", "main"),
        data_iri("rival", "company"),
        graph_iri("local:x", "main"),
        graph_iri("local", ""),
        data_iri("local", " "),
        data_iri("local", "a\nb"),
        data_iri("local", "x" * 201),
        "urn:memento:graph:local:a:b",
        "urn:memento:graph:local:work alpha",
        "urn:memento:graph:local:m%61in",
        "urn:memento:graph:local:%E4",
        "urn:memento:graph:local",
        "http://example.org/graph",
        "",
    ],
)
def test_nothing_else_is_written(graph: str) -> None:
    assert not MINE.may_write(graph)


def test_a_token_of_some_namespaces_writes_no_others() -> None:
    some = Dataset(default=(), named=(), into=MAIN, tenant="local", namespaces=("main",))

    assert some.may_write(MAIN)
    assert not some.may_write(graph_iri("local", "work"))
    assert some.may_write(COMPANY)


def test_a_choice_of_graphs_is_cut_to_what_may_be_read() -> None:
    chosen = MINE.choosing([COMPANY, graph_iri("rival", "main")], [graph_iri("rival", "main")])

    assert (chosen.default, chosen.named) == ((COMPANY,), ())


def test_a_graph_may_be_read_by_its_name_even_when_it_is_not_there() -> None:
    assert MINE.may_read(data_iri("local", "later"))
    assert MINE.may_read(ONTOLOGY)
    assert not MINE.may_read(graph_iri("rival", "main"))


def test_a_plain_dataset_is_read_and_written_everywhere() -> None:
    plain = Dataset()

    assert plain.is_plain
    assert all(plain.may_read(graph) and plain.may_write(graph) for graph in ("", "http://example.org/g", ONTOLOGY))
    assert plain.choosing(["urn:a"], []).default == (IRI("urn:a"),)
