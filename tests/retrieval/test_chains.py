"""A question over several claims is answered at the end of their chain; an edge more or less leads elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conftest import at
from measure import fresh_memory
from memento.iris import IRI
from memento.model import Scope
from memento.python import Memento
from memento.retrieval.chains import CLOSE, Path, find_asked, walk_claims, write_path
from memento.retrieval.pipeline import read_question
from memento.retrieval.question import Query
from memento.telemetry import Stopwatch

MAIN = "urn:memento:graph:local:main"
NOTES = (
    ("2024-01-01", "My sister is Leila Haddad."),
    ("2024-01-02", "Leila Haddad works at Brel Labs."),
    ("2024-01-03", "Brel Labs is based in Ghent."),
    ("2024-01-04", "Ghent's mayor is Odile Maes."),
    ("2024-01-05", "Tom Ray works at Kelso Works."),
    ("2024-01-06", "Kelso Works is based in Lisbon."),
    ("2024-01-07", "Lisbon's mayor is Rui Costa."),
    ("2024-01-08", "The kiln cracked in the frost."),
)


@pytest.fixture
def memento() -> Iterator[Memento]:
    with fresh_memory("trigram") as opened:
        for day, text in NOTES:
            opened.note(text, at=at(day))
        yield opened


def walked(memento: Memento, question: str, as_of: str | None = None) -> list[str]:
    """The values on the best paths of at least two claims, each as "value → value"; the best path first."""
    paths = walk(memento, question, as_of)
    return [" → ".join(claim.value for claim in path.claims) for path in paths if len(path.claims) > 1]


def walk(memento: Memento, question: str, as_of: str | None = None) -> list[Path]:
    """The best paths, the best first."""
    stores, settings = memento.service.stores, memento.service.settings
    asked = Query(question=question, scope=Scope(), k=10, as_of=at(as_of) if as_of else None)
    with read_question(asked, stores, settings, Stopwatch("recall")) as read:
        assert read.asking is not None
        time, past = read.asking.at, read.asking.past
        steps = find_asked(read.asking.reading.clauses, read.view, time, past=past)
        named = [IRI(one.iri) for one in memento.graphs.entities(limit=100) if one.name in question]
        first = [one.claim for one in steps]
        reading = read.asking.reading
        return walk_claims(named, first, read.vectors, read.view, time, past=past, text=question, asked=reading)


def scores(memento: Memento, question: str, as_of: str | None = None) -> dict[str, float]:
    """What the signal of paths gives to each memory of the answer."""
    found = memento.recall(question, as_of=as_of, gate=False, k=20, explain=True).memories
    return {one.content: one.why["path"] for one in found if one.why.get("path", 0) > 0}


def best(memento: Memento, question: str, as_of: str | None = None) -> str:
    on_path = scores(memento, question, as_of)
    return max(on_path, key=lambda text: on_path[text], default="")


def update(memento: Memento, text: str) -> None:
    memento.graphs.update(f"PREFIX mem: <http://purl.org/memento/> {text}")


def test_two_claims_lead_to_the_city_of_an_employer(memento: Memento) -> None:
    question = "In which city is the employer of Leila Haddad based?"

    assert "Brel Labs → Ghent" in walked(memento, question)
    assert "Kelso Works → Lisbon" not in walked(memento, question)


def test_three_claims_lead_from_the_user_to_the_city_of_a_sisters_employer(memento: Memento) -> None:
    question = "In which city is the employer of my sister based?"

    assert any(path.endswith("Leila Haddad → Brel Labs → Ghent") for path in walked(memento, question))
    assert not any("Lisbon" in path for path in walked(memento, question))


def test_the_end_of_the_chain_is_found_in_the_answer(memento: Memento) -> None:
    assert best(memento, "Who is the mayor of the city where Brel Labs is based?").startswith("Ghent's mayor")
    assert best(memento, "Who is the mayor of the city where Kelso Works is based?").startswith("Lisbon's mayor")


def test_over_what_was_overridden_only_what_holds_is_walked(memento: Memento) -> None:
    question = "In which city is the employer of Leila Haddad based?"
    memento.note("Leila Haddad works at Kelso Works now.", at=at("2025-01-01"))

    found = walked(memento, question)
    assert "Kelso Works → Lisbon" in found
    assert not any("Brel Labs" in path for path in found)


def test_as_of_a_time_what_held_then_is_walked(memento: Memento) -> None:
    question = "In which city is the employer of Leila Haddad based?"
    memento.note("Leila Haddad works at Kelso Works now.", at=at("2025-01-01"))

    assert "Brel Labs → Ghent" in walked(memento, question, as_of="2024-06-01")
    assert "Kelso Works → Lisbon" not in walked(memento, question, as_of="2024-06-01")
    assert walked(memento, question, as_of="2023-01-01") == []


def test_a_first_step_may_go_backward_from_a_value_to_its_owner(memento: Memento) -> None:
    memento.note("Leila Haddad keeps bees.", at=at("2024-02-01"))

    assert "Brel Labs → bees" in walked(memento, "What does who works at Brel Labs keep?")


def test_an_edge_that_is_taken_away_ends_the_chain_and_one_that_is_added_leads_on(memento: Memento) -> None:
    question = "In which city is the employer of Leila Haddad based?"
    claim = "?c a mem:Claim ; mem:relationName 'work at' ; mem:owner/mem:name 'Leila Haddad' ; mem:value ?old"
    update(
        memento,
        f"DELETE {{ GRAPH <{MAIN}> {{ ?c mem:value ?old ; mem:valueText ?said }} }} "
        f"INSERT {{ GRAPH <{MAIN}> {{ ?c mem:value ?new ; mem:valueText 'Kelso Works' }} }} "
        f"WHERE {{ {claim} ; mem:valueText ?said . ?new mem:name 'Kelso Works' }}",
    )
    assert "Kelso Works → Lisbon" in walked(memento, question)
    assert "Brel Labs → Ghent" not in walked(memento, question)

    update(memento, f"DELETE {{ GRAPH <{MAIN}> {{ ?c ?p ?o }} }} WHERE {{ {claim} ; ?p ?o }}")
    assert not any("Lisbon" in path for path in walked(memento, question))
    assert memento.admin.check() == ()


def test_what_is_forgotten_or_belongs_to_another_namespace_is_no_step(memento: Memento) -> None:
    question = "In which city is the employer of Leila Haddad based?"
    memento.note("Brel Labs is based in Faro.", namespace="work", at=at("2024-05-01"))
    assert not any("Faro" in path for path in walked(memento, question))

    [based] = [one.iri for one in memento.list() if one.content == "Brel Labs is based in Ghent."]
    memento.forget(based)
    assert not any("Ghent" in path for path in walked(memento, question))


def test_a_question_that_asks_for_no_chain_gets_no_path(memento: Memento) -> None:
    assert scores(memento, "Where does Leila Haddad work?") == {}


def contents(memento: Memento, *notes: str, question: str) -> list[str]:
    for day, note in enumerate(notes, start=1):
        memento.note(note, at=at(f"2024-06-{day:02}"))
    return [one.content for one in memento.recall(question, gate=False, k=20).memories]


def test_where_somebody_else_works_comes_after_where_the_asked_one_does() -> None:
    with fresh_memory("trigram") as opened:
        found = contents(
            opened, "I joined Brel Labs.", "Anna works at Kelso Works and swims.", question="Where do I work?"
        )

    assert found[0] == "I joined Brel Labs."


def test_another_relation_of_the_same_thing_is_not_what_is_asked_for() -> None:
    with fresh_memory("trigram") as opened:
        opened.note("My sister swims at Zuid. My sister works at Brel Labs.")
        stores, settings = opened.service.stores, opened.service.settings
        asked = Query(question="Where does my sister work?", scope=Scope(), k=10)
        with read_question(asked, stores, settings, Stopwatch("recall")) as read:
            assert read.asking is not None
            steps = find_asked(read.asking.reading.clauses, read.view, read.asking.at, past=False)

    assert {step.claim.value for step in steps if step.fit > CLOSE} == {"Brel Labs"}


def test_what_has_changed_comes_before_what_it_changed(memento: Memento) -> None:
    found = contents(
        memento,
        "Jonas plays football for the Hillside club.",
        "Jonas gave up, no more football.",
        "Jonas is back at football, for Riverside this time.",
        question="Does Jonas play football?",
    )

    assert found.index("Jonas is back at football, for Riverside this time.") == 0


def memories_at(memento: Memento, path: str) -> str:
    body, _ = memento.graphs.query_bytes(
        f"PREFIX mem: <http://purl.org/memento/> SELECT ?memory {{ {path} }}", accept="text/csv"
    )
    return body.decode()


def test_an_explained_chain_is_a_property_path_that_leads_to_the_memory_when_it_is_asked_again(
    memento: Memento,
) -> None:
    found = memento.recall("Who is the mayor of the city where Brel Labs is based?", gate=False, explain=True).memories
    explained = {one.iri: step.name for one in found for step in one.path if step.by == "claim"}

    assert found[0].iri in explained
    assert "^mem:owner/mem:value/^mem:owner/mem:statedBy" in explained[found[0].iri]
    assert all(iri in memories_at(memento, path) for iri, path in explained.items())


def test_every_part_of_a_walk_can_be_asked_again_as_a_property_path_backward_too(memento: Memento) -> None:
    memento.note("Leila Haddad keeps bees.", at=at("2024-02-01"))
    paths = walk(memento, "What does who works at Brel Labs keep?")

    assert any(hop.is_back for path in paths for hop in path.hops)
    for path in paths:
        for place, hop in enumerate(path.hops, start=1):
            assert hop.claim.memory in memories_at(memento, write_path(path.hops[:place]))


def test_an_edge_moved_or_a_claim_removed_by_sparql_changes_what_is_shown_first(memento: Memento) -> None:
    question = "Who is the mayor of the city where Brel Labs is based?"
    assert memento.recall(question).memories[0].content == "Ghent's mayor is Odile Maes."

    claim = "?c a mem:Claim ; mem:relationName 'base in' ; mem:owner/mem:name 'Brel Labs' ; mem:value ?old"
    update(
        memento,
        f"DELETE {{ GRAPH <{MAIN}> {{ ?c mem:value ?old ; mem:valueText ?said }} }} "
        f"INSERT {{ GRAPH <{MAIN}> {{ ?c mem:value ?new ; mem:valueText 'Lisbon' }} }} "
        f"WHERE {{ {claim} ; mem:valueText ?said . ?new mem:name 'Lisbon' }}",
    )
    assert memento.recall(question).memories[0].content == "Lisbon's mayor is Rui Costa."

    update(memento, f"DELETE {{ GRAPH <{MAIN}> {{ ?c ?p ?o }} }} WHERE {{ {claim} ; ?p ?o }}")
    assert "Rui Costa" not in best(memento, question)


def test_things_that_are_no_nodes_lead_on_and_of_what_is_said_twice_the_later_one(memento: Memento) -> None:
    for day, text in enumerate(
        (
            "The kayak club meets in boathouse nine.",
            "Boathouse nine is painted green.",
            "Boathouse two is painted yellow.",
            "The kayak club meets in boathouse two now.",
        )
    ):
        memento.note(text, at=at(f"2024-07-0{day + 1}"))

    found = walked(memento, "In what colour is the boathouse of the kayak club painted?")
    assert any("yellow" in path for path in found)
    assert not any("green" in path for path in found)
