"""How often graphs are listed, and how many there may be: nobody slows down the others by making thousands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import OFFLINE
from memento.access import Access
from memento.errors import TooLong
from memento.graph.oxigraph import Oxigraph
from memento.iris import IRI, data_iri, graph_iri
from memento.python import Memento, open_memento
from memento.settings import LimitsSettings

MOST = 20


@pytest.fixture
def memento(tmp_path: Path) -> Iterator[Memento]:
    """A memory in which a tenant may have few graphs."""
    opened = open_memento(tmp_path / "home", configured=replace(OFFLINE, limits=LimitsSettings(graphs=MOST)))
    assert isinstance(opened, Memento)
    with opened:
        yield opened


def making(names: Iterator[str]) -> str:
    return "INSERT DATA { " + " ".join(f"GRAPH <{name}> {{ <urn:a> <urn:b> 1 }}" for name in names) + " }"


def test_graphs_are_listed_once_for_all_callers_until_something_is_written(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[Oxigraph] = []
    lists = Oxigraph.graphs

    def graphs(graph: Oxigraph) -> list[IRI]:
        listed.append(graph)
        return lists(graph)

    monkeypatch.setattr(Oxigraph, "graphs", graphs)
    callers = [memento.with_access(Access(tenant=tenant, right="write")) for tenant in ("local", "acme", "beta")]
    for caller in callers:
        caller.graphs.query_bytes("ASK {}")
    listed.clear()
    for caller in callers * 3:
        caller.graphs.query_bytes("ASK {}")

    assert not listed

    callers[1].graphs.update(making(iter([data_iri("acme", "one")])))
    seen = [
        caller.graphs.query_bytes("SELECT ?g { GRAPH ?g { <urn:a> ?p ?o } }", accept="text/csv")[0]
        for caller in callers
    ]
    listed.clear()
    for caller in callers * 3:
        caller.graphs.query_bytes("ASK {}")

    assert not listed
    assert [b"acme" in body for body in seen] == [False, True, False]


@pytest.mark.parametrize("iri", [data_iri, graph_iri])
def test_a_tenant_has_so_many_graphs_and_no_more(memento: Memento, iri: object) -> None:
    assert callable(iri)
    acme, beta = (memento.with_access(Access(tenant=tenant, right="write")) for tenant in ("acme", "beta"))
    create = " ; ".join(f"CREATE GRAPH <{iri('acme', f'n{n}')}>" for n in range(MOST))
    acme.graphs.update(create)

    with pytest.raises(TooLong, match=rf"at most {MOST} graphs \(limits\.graphs\)"):
        acme.graphs.update(f"CREATE GRAPH <{data_iri('acme', 'more')}>")
    with pytest.raises(TooLong):
        acme.graphs.put(b"<urn:a> <urn:b> 1 .", data_iri("acme", "more"))
    beta.graphs.update(making(data_iri("beta", f"n{n}") for n in range(MOST)))
    acme.graphs.update(f"DROP GRAPH <{iri('acme', 'n0')}>")
    acme.graphs.update(f"CREATE GRAPH <{data_iri('acme', 'more')}>")

    with pytest.raises(TooLong):
        memento.graphs.update(making(data_iri("local", f"n{n}") for n in range(MOST + 1)))
