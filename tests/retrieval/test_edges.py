"""What the graph says decides what comes back: one edge more, less or elsewhere changes the default answer."""

from __future__ import annotations

import json

import pytest

from conftest import at
from memento.model import NoteRow
from memento.python import Memento
from memento.retrieval import anchor as anchoring

MAIN = "urn:memento:graph:local:main"
FILMS = [
    "Ed Wood is a film that was directed by Tim Burton.",
    "Tim Burton was born in Burbank.",
    "Burbank is a city in California with many studios.",
    "Faro is a town in Algarve.",
    "Algarve is the south of Portugal.",
    "It was sold for little money.",
]
QUESTION = "Who directed the film Ed Wood?"


@pytest.fixture
def films(memento: Memento) -> Memento:
    memento.intake.import_notes([NoteRow(content=text) for text in FILMS], consolidate=False)
    return memento


def scores(memento: Memento, question: str = QUESTION) -> dict[str, float]:
    """The default answer, every memory with its score."""
    return {one.content: one.score for one in memento.recall(question, gate=False).memories}


def select(memento: Memento, pattern: str) -> list[dict[str, str]]:
    query = f"PREFIX mem: <http://purl.org/memento/> SELECT * WHERE {{ {pattern} }}"
    rows = json.loads(memento.graphs.query_bytes(query)[0])["results"]["bindings"]
    return [{name: value["value"] for name, value in row.items()} for row in rows]


def memory(memento: Memento, content: str) -> str:
    [row] = select(memento, f"?m a mem:Memory ; mem:content {json.dumps(content)}")
    return row["m"]


def anchor(memento: Memento, name: str) -> str:
    [row] = select(memento, f"?a mem:name {json.dumps(name)} FILTER NOT EXISTS {{ ?a a mem:Session }}")
    return row["a"]


def update(memento: Memento, text: str) -> None:
    memento.graphs.update(f"PREFIX mem: <http://purl.org/memento/> {text}")


def edges(memento: Memento, content: str) -> set[tuple[str, str]]:
    found = select(
        memento, f"<{memory(memento, content)}> ?p ?a . ?a mem:name ?n FILTER(?p IN (mem:about, mem:mentions))"
    )
    return {(row["p"].rsplit("/", 1)[1], row["n"]) for row in found}


def test_names_in_a_text_are_edges_of_its_memory_however_it_was_written(memento: Memento) -> None:
    text = "Anna Smith met Bob at the Monday Club in 2019."
    memento.note(text)
    memento.intake.import_notes([NoteRow(content="Carl Jones left the Monday Club in 2019.")], consolidate=False)

    said, kept = edges(memento, text), edges(memento, "Carl Jones left the Monday Club in 2019.")
    assert ("about", "Anna Smith") in said
    assert ("about", "Carl Jones") in kept
    assert ("mentions", "2019") in said & kept
    assert {name for _, name in said} >= {"Anna Smith", "Bob", "Monday Club", "2019"}
    assert memento.admin.check() == ()


def test_a_name_has_one_anchor_in_a_namespace_and_is_no_entity(memento: Memento) -> None:
    for year in ("He was in Rome in 1999.", "It rained in 1999."):
        memento.intake.import_notes([NoteRow(content=year)], consolidate=False)
    memento.intake.import_notes([NoteRow(content="It snowed in 1999.")], consolidate=False, namespace="work")

    assert len(select(memento, "?n a mem:Name ; mem:name '1999'")) == 1
    assert "1999" not in [entity.name for entity in memento.graphs.entities()]
    assert "1999" not in [name for one in memento.recall("1999", gate=False).memories for name in one.about]


def test_a_turn_of_a_conversation_gets_no_edge_by_its_text(memento: Memento) -> None:
    memento.intake.import_notes(
        [NoteRow(content="It was cold in 1999.", session="s", speaker="Anna")], consolidate=False
    )

    assert select(memento, "?n a mem:Name") == []


def test_emptying_the_rows_of_anchor_changes_the_default_answer(
    films: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = scores(films)
    monkeypatch.setattr(anchoring, "find_anchors", lambda *_: ())

    assert scores(films) != before


@pytest.mark.parametrize("predicate", ["about", "mentions"])
def test_an_edge_that_is_added_brings_its_memory_and_one_taken_away_no_more(films: Memento, predicate: str) -> None:
    sold, burton = memory(films, FILMS[5]), anchor(films, "Tim Burton")
    before = scores(films)

    update(films, f"INSERT DATA {{ GRAPH <{MAIN}> {{ <{sold}> mem:{predicate} <{burton}> }} }}")
    with_edge = scores(films)
    update(films, f"DELETE DATA {{ GRAPH <{MAIN}> {{ <{sold}> mem:{predicate} <{burton}> }} }}")

    assert with_edge[FILMS[5]] > 2 * before.get(FILMS[5], 0.0)
    assert scores(films) == pytest.approx(before)


@pytest.mark.parametrize("predicate", ["about", "mentions"])
def test_an_edge_that_is_moved_leads_elsewhere(films: Memento, predicate: str) -> None:
    sold, faro, burton = memory(films, FILMS[5]), anchor(films, "Faro"), anchor(films, "Tim Burton")
    update(films, f"INSERT DATA {{ GRAPH <{MAIN}> {{ <{sold}> mem:{predicate} <{faro}> }} }}")
    asked_of_faro, asked_of_wood = scores(films, "What is Faro?"), scores(films)

    update(
        films,
        f"DELETE {{ GRAPH ?g {{ <{sold}> mem:{predicate} <{faro}> }} }} "
        f"INSERT {{ GRAPH ?g {{ <{sold}> mem:{predicate} <{burton}> }} }} "
        f"WHERE {{ GRAPH ?g {{ <{sold}> mem:{predicate} <{faro}> }} }}",
    )

    assert scores(films, "What is Faro?")[FILMS[5]] < asked_of_faro[FILMS[5]]
    assert scores(films)[FILMS[5]] > asked_of_wood.get(FILMS[5], 0.0)


def test_what_a_memory_is_about_is_what_its_edge_says_and_no_statement_restores_it(films: Memento) -> None:
    born, burton = memory(films, FILMS[1]), anchor(films, "Tim Burton")
    before = scores(films)
    assert select(films, f"<{born}> mem:subject <{burton}>")

    update(films, f"DELETE WHERE {{ GRAPH <{MAIN}> {{ <{born}> mem:about <{burton}> }} }}")

    assert select(films, f"<{born}> mem:subject <{burton}>")
    assert scores(films)[FILMS[1]] < before[FILMS[1]] - 0.02
    films.admin.rebuild()
    assert scores(films)[FILMS[1]] < before[FILMS[1]] - 0.02


def test_a_succession_that_is_taken_away_changes_the_default_answer(memento: Memento) -> None:
    memento.note("I work at Siemens.", at=at("2020-01-01"))
    memento.note("I work at Google now.", at=at("2022-01-01"))
    memento.note("Siemens builds trains in Munich.", at=at("2022-01-02"))
    memento.note("Trains are loud.", at=at("2022-01-02"))
    question = "What does Siemens build?"
    before = scores(memento, question)
    [row] = select(memento, "?new a mem:Memory ; mem:invalidates ?old . ?end a mem:Invalidation ; mem:invalidated ?old")

    update(
        memento,
        f"DELETE {{ GRAPH ?g {{ <{row['new']}> mem:invalidates <{row['old']}> . <{row['end']}> ?p ?o }} }} "
        f"WHERE {{ GRAPH ?g {{ <{row['new']}> mem:invalidates <{row['old']}> . <{row['end']}> ?p ?o }} }}",
    )

    job = "I work at Google now."
    assert scores(memento, question).get(job, 0.0) < before[job]
