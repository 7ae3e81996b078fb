"""An explanation adds up, says which names led to a memory, and its query returns the same memories."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest

from memento.errors import InputError
from memento.graph.binding import bind_query
from memento.model import NoteRow, Recalled, Recollection
from memento.python import Memento
from test_story import STORY, day


@pytest.fixture
def life(memento: Memento) -> Memento:
    for when, text in STORY:
        memento.note(text, at=day(when))
    return memento


def rows(memento: Memento, found: Recollection, namespace: str | None = None) -> list[dict[str, str]]:
    """What the query of an explained answer returns."""
    assert found.sparql
    body, _ = memento.graphs.query_bytes(found.sparql, accept="text/csv", namespace=namespace)
    return list(csv.DictReader(io.StringIO(body.decode())))


def told(memory: Recalled) -> tuple[object, ...]:
    note = memory.note
    assert note
    return (str(memory.rank), memory.iri, memory.score, memory.content, set(memory.about), note.iri, note.content)


def read(row: dict[str, str]) -> tuple[object, ...]:
    about = set(row["about"].split(", ")) - {""}
    return (row["rank"], row["memory"], float(row["score"]), row["content"], about, row["note"], row["source"])


@pytest.mark.parametrize("engine", ["signals", "ppr", "published"])
@pytest.mark.parametrize("as_of", [None, "2024-01-01", "2019-12-31"])
@pytest.mark.parametrize("question", ["Where do I work?", "Who lives in Munich?"])
def test_the_query_returns_the_same_memories(life: Memento, question: str, as_of: str | None, engine: str) -> None:
    found = life.recall(question, as_of=day(as_of) if as_of else None, engine=engine, explain=True, k=30, gate=False)

    assert found.memories
    assert [read(row) for row in rows(life, found)] == [told(one) for one in found.memories]


def test_the_query_holds_to_the_graph_and_to_the_asked_time(life: Memento) -> None:
    found = life.recall("Where do I live?", explain=True, k=30, gate=False)
    everything = [(one.iri, place, 0.5) for place, one in enumerate(life.list(limit=100, past=True), start=1)]
    instants = {name: datetime(2020, 1, 1, tzinfo=UTC) for name in ("trueAt", "begunBy")}
    later = {name: datetime(2100, 1, 1, tzinfo=UTC) for name in ("believedAt", "writtenBy")}
    found_all = [iri for iri, *_ in everything]
    then = bind_query("retrieval/explained", {"memory": everything, "found": found_all, **instants, **later})
    body, _ = life.graphs.query_bytes(then, accept="text/csv")

    assert len(found.memories) < len(everything)
    expected = {one.iri for one in life.recall("Where do I live?", as_of=instants["trueAt"], k=30, gate=False).memories}
    assert {row["memory"] for row in csv.DictReader(io.StringIO(body.decode()))} == expected


def test_what_was_believed_then_is_explained_as_it_was(memento: Memento) -> None:
    memento.note("I live in Paris.", at=day("2020-01-01"))
    before = memento.list()[0].created_at
    memento.note("I moved to Lisbon.", at=day("2022-01-01"))
    found = memento.recall("Where do I live?", believed_at=before, explain=True)

    assert [row["content"] for row in rows(memento, found)] == ["I live in Paris."]


def test_a_namespace_is_explained_within_itself(memento: Memento) -> None:
    memento.note("I prefer tea.")
    memento.note("I use Postgres.", namespace="work")
    found = memento.recall("Which database do I use?", namespace="work", explain=True, gate=False)

    assert {row["content"] for row in rows(memento, found, "work")} == {"I prefer tea.", "I use Postgres."}
    assert [row["content"] for row in rows(memento, found)] == ["I prefer tea."]


def test_the_signals_sum_to_the_score(life: Memento) -> None:
    found = life.recall("Where does Anna work?", explain=True)

    assert {"meaning", "words", "subject"} <= set(found.memories[0].why)
    for memory in found.memories:
        assert sum(memory.why.values()) == pytest.approx(memory.score, abs=2e-5)
        assert list(memory.why.values()) == sorted(memory.why.values(), key=abs, reverse=True)
    [published] = life.recall("Where does Anna work?", explain=True, profile="seed", k=1).memories
    assert published.why == {published.source: published.score}


def test_the_path_names_what_led_there(memento: Memento) -> None:
    texts = [
        ("Ed Wood", "Ed Wood is a film that was directed by Tim Burton."),
        ("Tim Burton", "Tim Burton is an American director who was born in Burbank."),
        ("Burbank", "Burbank is a city in California."),
        ("Faro", "Faro is a town in Algarve."),
    ]
    memento.intake.import_notes([NoteRow(content=text, title=title) for title, text in texts], consolidate=False)
    found = memento.recall("Where was the director of Ed Wood born?", explain=True, gate=False)
    film, director = (
        next(one for one in found.memories if one.content.startswith(start)) for start in ("Ed Wood", "Tim Burton")
    )

    assert ("subject", "ed wood", None) in [(step.by, step.name, step.via) for step in film.path]
    assert ("link", "tim burton", film.iri) in [(step.by, step.name, step.via) for step in director.path]


DIRECTOR = "Where was the director of the film Ed Wood born?"


@pytest.fixture
def films(memento: Memento) -> Memento:
    texts = [
        ("Ed Wood", "Ed Wood is a film that was directed by Tim Burton."),
        ("Tim Burton", "Tim Burton is an American who grew up with his aunt."),
        ("Burbank", "Burbank is a city in California."),
        ("Faro", "Faro is a town in Algarve where a film was shot."),
        ("Oslo", "Oslo is a city where the director of a bank was born."),
    ]
    memento.intake.import_notes([NoteRow(content=text, title=title) for title, text in texts], consolidate=False)
    return memento


def test_the_query_says_which_edges_brought_a_memory_and_only_where_they_did(films: Memento) -> None:
    found = films.recall(DIRECTOR, k=3, explain=True, gate=False)
    film = next(one for one in found.memories if one.content.startswith("Ed Wood"))
    brought = {row["content"].split()[0]: set(row["by"].split("; ")) for row in rows(films, found)}

    assert brought["Tim"] == {"about Tim Burton", f"about Tim Burton as {film.iri}"}
    assert brought["Ed"] >= {"found", "about Ed Wood"}


def test_what_the_texts_alone_brought_has_no_edge(memento: Memento) -> None:
    memento.intake.import_notes(
        [NoteRow(content="it rained all day"), NoteRow(content="green tea is best")], consolidate=False
    )

    assert [row["by"] for row in rows(memento, memento.recall("did it rain?", explain=True, gate=False))] == [
        "found"
    ] * 2


def test_what_only_an_edge_brought_is_no_row_once_the_edge_is_gone(films: Memento) -> None:
    found = films.recall(DIRECTOR, k=3, explain=True, gate=False)
    director = next(one for one in found.memories if one.content.startswith("Tim Burton"))
    films.graphs.update(
        "PREFIX mem: <http://purl.org/memento/> "
        f"DELETE WHERE {{ GRAPH <urn:memento:graph:local:main> {{ <{director.iri}> mem:about ?any }} }}"
    )

    assert {row["memory"] for row in rows(films, found)} == {one.iri for one in found.memories} - {director.iri}


def test_without_an_explanation_there_is_none(life: Memento) -> None:
    found = life.recall("Where do I work?")

    assert found.sparql is None
    assert {(len(one.why), len(one.path)) for one in found.memories} == {(0, 0)}
    plain = [replaced_by(one) for one in life.recall("Where do I work?", explain=True).memories]
    assert plain == [replaced_by(one) for one in found.memories]


def replaced_by(memory: Recalled) -> tuple[str, float]:
    return memory.iri, memory.score


def test_nothing_needs_no_query(memento: Memento) -> None:
    assert memento.recall("Where do I live?", explain=True).sparql is None


def test_the_longest_explanation_passes_the_endpoint(memento: Memento) -> None:
    memento.intake.import_notes([NoteRow(content=f"Tea number {n} is green.") for n in range(300)], consolidate=False)
    found = memento.recall("Which tea is green?", k=300, explain=True, gate=False)

    assert len(rows(memento, found)) == len(found.memories) > 200
    with pytest.raises(InputError, match="k must be from 1 to 300, explained, not 301"):
        memento.recall("Which tea is green?", k=301, explain=True)
