"""A memory that lived moves from files of its own to a shared store with an engine, and back, with nothing lost on either way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyoxigraph as ox
import pytest

from conftest import OFFLINE
from endpoints import Server
from memento.access import Access
from memento.iris import MEM, parse_graph_name
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.scale.settings import IndexSettings, StoreSettings
from memento.python import Memento, open_memento
from memento.settings import Settings

pytest.importorskip("lancedb", reason="pip install 'memento-rdf[lance]'")

TENANTS = ("local", "rival")
NOTES = (
    ("I work at Northwind Labs.", "2024-02-01"),
    ("Anna Keller moved to Lisbon in March 2024.", "2024-03-09"),
    ("I left Northwind Labs and joined Contoso in June 2025.", "2025-06-20"),
    ("My sister's name is Mia, and she plays the cello in Graz.", "2025-07-01"),
    ("Anna prefers green tea; she can't stand coffee.", "2025-07-02"),
    ("Ich wohne seit 2019 in Köln und spreche „Kölsch“ — 👍🏽 naïve.", "2025-07-03"),
    ('The build fails with `ValueError: x\\n\\t"y"` on line 3.', "2025-07-04"),
)
QUESTIONS = (
    "Where do I work?",
    "Where did I work in 2024?",
    "Where does Anna live?",
    "What does Anna drink?",
    "What does my sister play?",
    "Wo wohne ich?",
    "Why does the build fail?",
    "What happened in the second session?",
)
OWN = """
@prefix x: <urn:x:> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<urn:x:1> x:at [ x:says "salut"@fr , "hi"@en-GB ; x:inner [ x:deep true ] ] ;
  x:double "1.0E-320"^^xsd:double , "-0.0"^^xsd:double , "INF"^^xsd:double , "NaN"^^xsd:double , 0.1e0 , 1e21 ;
  x:number 12345678901234567890123456789 , 1.50 ; x:own "?"^^<urn:x:type> ; x:text "a\\nb\\t\\"c\\" \\u0007" .
"""


def describe_life(memento: Memento, tenant: str) -> None:
    """Let a tenant have something of every kind."""
    for text, at in NOTES:
        memento.note(f"{text}" if tenant == "local" else text.replace("Anna", "Otto"), at=at)
    [found, *_] = memento.recall("What does my sister play?").memories
    memento.correct(found.iri, "Mia plays the viola in Graz.")
    tea = memento.note("The tea tin is empty.").memories[0]
    memento.forget(tea)
    for place, text in enumerate(("We spoke about the boat.", "It needs a new mast.", "The mast costs 900 euros.")):
        memento.note(text, session="s2", position=place, speaker="Ida", tags=["boat"], at=f"2025-08-01T10:0{place}:00Z")
    memento.note("Dora keeps bees in Faro.", namespace="work", idempotency_key="bees")
    kept = memento.keys.remember("USER met Ada in Cork.", ["Ada", "Cork", "travel"])
    memento.living.associate(kept.saved, memento.note("Cork is rainy.").memories[0], weight=0.7)
    memento.cases.add(
        [
            CaseRow(task="Boil an egg.", plan="1. Heat water.\n2. Wait.", outcome="success", reward=0.9),
            CaseRow(task="Fry an egg.", plan="1. Burn it.", outcome="failure"),
        ]
    )
    run = memento.cases.start("Bake bread.", plan="1. Knead.")
    memento.cases.record_step(run.iri, "knead", state="done", step=0)
    memento.cases.complete(run.iri, "success", reward=1 / 3)
    memento.intake.memory_file("create", path="/memories/home.md", file_text="# Home\n\n- USER has a cat called Tom\n")
    memento.living.set_policy("numbers", "(stats)")
    memento.graphs.put(OWN.encode(), f"urn:memento:data:{tenant}:own", media="text/turtle")
    memento.note("It is not understood yet: the heron waits.", wait=False)


def views(memento: Memento) -> dict[str, Memento]:
    rival = memento.with_access(Access(tenant="rival", right="write"))
    assert isinstance(rival, Memento)
    return {"local": memento, "rival": rival}


def read_dataset(memento: Memento) -> dict[str, set[str]]:
    """
    Every statement by its graph, blank nodes by what is said of them. Not the audit, which is of one store, nor stored
    profiles, which are counted again.
    """
    graph, found = memento.service.stores.graph, {}
    for name in graph.graphs():
        known = parse_graph_name(name)
        if known is None or known.kind in ("audit", "inferred"):
            continue
        dataset = ox.Dataset(graph.match(graph=name))
        dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
        found[str(name)] = {str(quad) for quad in dataset if quad.predicate.value not in (MEM.rendered, MEM.renderedAt)}
    return found


def recall_all(memento: Memento) -> dict[str, list[str]]:
    at = datetime(2026, 6, 1, tzinfo=UTC)
    return {
        f"{tenant}: {question}": [f"{one.iri} {one.content}" for one in view.recall(question, as_of=at).memories]
        for tenant, view in views(memento).items()
        for question in QUESTIONS
    }


def move(one: Memento, other: Memento, folder: Path) -> None:
    """Take every tenant's memory from one to the other."""
    for tenant in TENANTS:
        file = folder / f"{tenant}.trig"
        views(one)[tenant].export(file, overwrite=True)
        views(other)[tenant].intake.import_rdf(file)


def scaled(server: Server, folder: Path) -> Settings:
    store = StoreSettings("sparql", server.query_url, server.update_url, probe=False)
    return replace(OFFLINE, store=store, index=IndexSettings(kind="lance", uri=str(folder / "engine")))


@pytest.fixture(scope="module")
def moved(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memento, Memento, Memento]]:
    """A memory with files, the same over a store and LanceDB, and with files again."""
    server.empty()
    folder = tmp_path_factory.mktemp("moved")
    with ExitStack() as stack:
        opened = []
        for name, settings in (("a", OFFLINE), ("b", scaled(server, folder)), ("c", OFFLINE)):
            memento = stack.enter_context(open_memento(folder / name, configured=settings))
            assert isinstance(memento, Memento)
            memento.service.consolidator.stop(5)  # what waits goes on waiting
            opened.append(memento)
        first, second, third = opened
        for tenant, view in views(first).items():
            describe_life(view, tenant)
        move(first, second, folder)
        move(second, third, folder)
        yield first, second, third


def test_every_statement_arrives_and_comes_back(moved: tuple[Memento, Memento, Memento]) -> None:
    first, second, third = map(read_dataset, moved)
    kinds = {known.kind for name in first if (known := parse_graph_name(name))}
    assert kinds >= {"graph", "self", "cases", "provenance", "data"}
    for there in (second, third):
        assert sorted(there) == sorted(first)
        for name in first:
            assert len(there[name]) == len(first[name]), name
            if ":rival" in name:  # its tags have the names of those of the first tenant, and get others
                continue
            assert there[name] - first[name] == set(), name
            assert first[name] - there[name] == set(), name


def test_the_same_is_recalled_in_the_same_order_wherever_it_is(moved: tuple[Memento, Memento, Memento]) -> None:
    first, second, third = map(recall_all, moved)
    assert sum(map(len, first.values())) > 2 * len(QUESTIONS)
    assert second == first
    assert third == first


def test_indexes_are_as_the_graph_says_on_each_side(moved: tuple[Memento, Memento, Memento]) -> None:
    found = [[one for one in memento.admin.check() if one.what != "pending-note"] for memento in moved]
    assert found == [[], [], []]


def test_what_waits_is_understood_after_the_move(moved: tuple[Memento, Memento, Memento]) -> None:
    _, second, third = moved
    for memento in (second, third):
        assert memento.status().pending == 1
        memento.review.retry()
        assert "heron" in str(memento.recall("What waits?").memories)
