"""Among memories that cannot all hold, the one that holds at the asked time comes first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest

from conftest import make_grains
from measure import fresh_memory
from memento.model import Scope, Scored
from memento.python import Memento
from memento.retrieval.timely import Likeness, asked_time, order_by_time

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def memento() -> Iterator[Memento]:
    with fresh_memory("trigram") as opened:
        opened.note("Ilse Brandt is treasurer of Orbital Choir.", at="2019-01-10")
        opened.note("Milo Vance took over as treasurer of Orbital Choir.", at="2021-03-05")
        opened.note("Rumour: Oda Frey might become treasurer of Orbital Choir.", at="2024-03-05")
        yield opened


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who was treasurer in May 2021?", "2021-05-16"),
        ("Who was treasurer on 3 May 2021?", "2021-05-03"),
        ("Who was treasurer in 2021?", "2021-07-02"),
        ("Who is treasurer?", ""),
        ("Who will be treasurer in 2030?", ""),
    ],
)
def test_a_question_names_the_time_it_asks_of(question: str, asked: str) -> None:
    found = asked_time(question, NOW)

    assert (f"{found:%Y-%m-%d}" if found else "") == asked


def first(memento: Memento, question: str, as_of: str | None = None) -> str:
    return memento.recall(question, as_of=as_of, gate=False).memories[0].content


def test_the_present_holder_comes_before_a_rumour(memento: Memento) -> None:
    assert first(memento, "Who is the treasurer of Orbital Choir?").startswith("Milo Vance")


def test_who_held_at_a_time_is_found_by_field_and_by_words(memento: Memento) -> None:
    assert first(memento, "Who is the treasurer of Orbital Choir?", as_of="2020-01-01").startswith("Ilse Brandt")
    assert first(memento, "Who was the treasurer of Orbital Choir in June 2020?").startswith("Ilse Brandt")


def test_a_bounded_stay_gives_its_place_back() -> None:
    with fresh_memory("trigram") as memento:
        memento.note("Our supervisor is Lena.", at="2025-01-05")
        memento.note("Rosa is our supervisor until March.", at="2025-02-01")

        assert "Rosa" in first(memento, "Who is our supervisor?", as_of="2025-02-10")


def test_who_was_before_somebody_and_while_somebody_was_is_found_though_it_is_over(memento: Memento) -> None:
    memento.note("Ines Falk is conductor of Orbital Choir.", at="2018-05-01")
    memento.note("Otis Lamb is now conductor of Orbital Choir.", at="2022-05-01")

    assert first(memento, "Who was treasurer of Orbital Choir before Milo Vance?").startswith("Ilse Brandt")
    asked = "Who was the conductor of Orbital Choir while Milo Vance was treasurer of Orbital Choir?"
    assert first(memento, asked).startswith("Ines Falk")


def test_whoever_held_an_office_is_found_behind_many_who_held_it_later() -> None:
    with fresh_memory("trigram") as memento:
        for year in range(40):
            name = f"{chr(65 + year % 26)}lda {chr(90 - year % 26)}orn{'a' * (year // 26)}"
            memento.note(f"{name} is now treasurer of Orbital Choir.", at=f"{1980 + year}-01-10")
        memento.note("Ines Falk is now conductor of Lunar Choir.", at="1984-06-01")
        memento.note("Otis Lamb is now conductor of Lunar Choir.", at="1999-06-01")

        asked = "Who was the treasurer of Orbital Choir while Ines Falk was conductor of Lunar Choir?"
        assert first(memento, asked).startswith("Elda Vorn ")
        assert first(memento, "Who was treasurer of Orbital Choir before Elda Vorn?").startswith("Dlda Worn ")


def test_who_held_an_office_on_a_day_is_found_among_all_who_held_it_however_it_was_told() -> None:
    told = (
        "{} has taken office as Premier of Norland.",
        "Premier of Norland: {} starts the job.",
        "{} became Premier of Norland.",
    )
    names = [
        f"{first} {last}" for first in ("Ana", "Tom", "Mia", "Leo") for last in ("Ruiz", "Reed", "Sol", "Falk", "Lamb")
    ]
    with fresh_memory("trigram") as memento:
        for year, name in enumerate(names):
            memento.note(told[year % 3].format(name), at=f"{1990 + year}-01-10")
            memento.note(f"{name}, the Premier of Norland, spoke about trade.", at=f"{1990 + year}-06-10")

        for year in (1991, 1997, 2002):
            assert names[year - 1990] in first(memento, f"Who was the Premier of Norland on 3 May {year}?")
        assert names[-1] in first(memento, "Who is the Premier of Norland?")
        found = memento.recall("List everyone who became Premier of Norland since 2006.", k=4, gate=False).memories
        assert sorted(name for one in found for name in names if name in one.content) == sorted(names[16:])


def test_the_later_word_on_a_matter_comes_first_though_nothing_says_that_it_ends_the_earlier_one() -> None:
    with fresh_memory("trigram") as memento:
        memento.note("The kiln gets its clay from the Brel pit, forty sacks a month.", at="2024-02-01")
        memento.note("The wheel squeaks.", at="2024-03-01")
        memento.note("Clay for the kiln comes from the Ostra pit, forty sacks a month.", at="2025-02-01")

        asked = "Which pit does the clay for the kiln come from?"
        assert "Ostra" in first(memento, asked)
        assert "Brel" in first(memento, asked, as_of="2024-06-01")
        for one in memento.recall(asked, explain=True, gate=False).memories:
            assert sum(one.why.values()) == pytest.approx(one.score, abs=2e-5)


def test_a_later_word_on_another_matter_takes_no_place() -> None:
    with fresh_memory("trigram") as memento:
        memento.note("Ilse Brandt is treasurer of Orbital Choir.", at="2019-01-10")
        memento.note("Otis Lamb is treasurer of Lunar Choir.", at="2024-01-10")

        assert first(memento, "Who is the treasurer of Orbital Choir?").startswith("Ilse Brandt")


@pytest.mark.parametrize(
    ("said", "later", "is_passed"),
    [
        ("I live in Ghent.", "Maria moved to Porto.", False),
        ("Ana lives in Ghent.", "Maria moved to Porto.", True),
        ("I like Ghent.", "Maria moved to Porto.", True),
    ],
)
def test_what_is_told_of_others_later_is_no_newer_word_on_where_one_lives(
    said: str, later: str, is_passed: bool
) -> None:
    with fresh_memory("trigram") as memento:
        told = [
            memento.note(said, at="2024-02-01").memories[0],
            memento.note(later, at="2025-02-01").memories[0],
        ]
        scored = [Scored(one, score, "meaning") for one, score in zip(told, (0.5, 0.4), strict=True)]
        alike, same = np.full((2, 2), 0.9, dtype=np.float32), np.ones((2, 2), dtype=np.bool_)
        likeness = Likeness(
            alike, alike[0], np.ones(2), np.ones(2), same[0], ~same[0] | [False, True], ~same[0], ~same, same
        )
        graphs = Scope().readable

        ordered = order_by_time(scored, NOW, memento.service.stores.graph, graphs, "Where do I live?", likeness)

        assert [one.item for one in ordered] == (told[::-1] if is_passed else told)


@pytest.mark.parametrize(
    ("said", "later", "question", "is_passed"),
    [
        (
            "Plumber: Delroy, came in an hour.",
            "Delroy emigrated; for leaks ring Agnieszka.",
            "Who is the plumber?",
            True,
        ),
        (
            "Choir sings in the Otter.",
            "The Otter closed for good, so Ada hosts us.",
            "Where does the choir sing?",
            True,
        ),
        (
            "Lab meeting every Tuesday.",
            "Tuesdays clash with a lecture, so Wednesdays.",
            "When is the lab meeting?",
            True,
        ),
        ("I take the 7:42 train to work.", "They scrapped the 7:42 train.", "Which train do I take to work?", True),
        ("Lab meeting with Ada on Tuesday.", "Tuesdays are sold out.", "Who is in the lab meeting?", False),
        ("Plumber: Delroy, came in an hour.", "Delroy brought his son along.", "Who is the plumber?", False),
        ("My mentor is Ravi Menon.", "Ravi's mentor retired; his new one is Beatriz.", "Who mentors me?", False),
        ("Plumber: Delroy. Ada likes him.", "Ada moved to Porto.", "Who is the plumber?", False),
        ("Ada's flatmate Niamh plays the harp.", "Ada switched to law.", "What does Niamh play?", False),
        ("Our landlord Mr Amsel lives upstairs.", "Mr Oyelaran retired.", "Who is my landlord?", False),
    ],
)
def test_what_became_of_the_answer_comes_before_it(said: str, later: str, question: str, is_passed: bool) -> None:
    with fresh_memory("minilm") as memento:
        memento.note(said, at="2024-02-01")
        memento.note(later, at="2025-02-01")
        memento.note("The kettle is red.", at="2025-03-01")

        assert first(memento, question) == (later if is_passed else said)


@pytest.mark.parametrize("noted", [True, False])
def test_turns_of_a_conversation_are_no_news(noted: bool) -> None:
    with fresh_memory("trigram") as memento:
        told = [
            memento.note("Delroy comes at nine.", at="2024-02-01").memories[0],
            memento.note("Delroy is gone.", at="2025-02-01").memories[0],
        ]
        scored = [Scored(one, score, "meaning") for one, score in zip(told, (0.5, 0.1), strict=True)]
        apart, same = np.eye(2, dtype=np.float32), np.ones((2, 2), dtype=np.bool_)
        one = np.ones(2)
        likeness = Likeness(
            apart, same[0] * 0.5, one, one, same[0] & noted, ~same[0], ~same[0], ~np.eye(2, dtype=np.bool_), same
        )
        graphs = Scope().readable

        ordered = order_by_time(scored, NOW, memento.service.stores.graph, graphs, "Who comes?", likeness)

        assert [one.item for one in ordered] == (told[::-1] if noted else told)


def test_what_happened_is_not_ordered_by_time() -> None:
    with fresh_memory("trigram") as memento:
        memento.note("The kiln cracked in the frost, as wet clay was in it.", at="2024-02-01")
        memento.note("The kiln has a new lid, as clay fell in.", at="2025-02-01")

        assert "cracked" in first(memento, "Why was it that the kiln cracked in the frost?")


@pytest.mark.parametrize(
    "said",
    [
        "I wish I lived in Rome.",
        "One day I might live in Rome.",
        "Rumour has it that I live in Rome.",
        "I dream of living in Rome.",
    ],
)
def test_what_is_only_wished_or_told_comes_behind_what_is_so(said: str) -> None:
    with fresh_memory("trigram") as memento:
        memento.note("I live in Ghent.", at="2025-01-05")
        memento.note(said, at="2025-06-01")

        assert "Ghent" in first(memento, "Where do I live?")


def test_that_something_is_only_wished_is_written_beside_its_memory() -> None:
    with fresh_memory("trigram") as memento:
        memento.note("I wish I had a boat.", at="2025-06-01")

        rows = memento.query(
            "PREFIX mem: <http://purl.org/memento/> SELECT ?mood WHERE { ?m a mem:Memory ; mem:mood ?mood }"
        )
        assert "possible" in [row["mood"] for row in rows]


def test_what_happened_in_a_month_comes_in_its_order_and_alone() -> None:
    with fresh_memory("trigram") as memento:
        memento.note("The kiln cracked.", at="2025-05-20")
        memento.note("We glazed forty bowls.", at="2025-05-03")
        memento.note("The fair was rained off.", at="2025-06-14")

        found = memento.recall("What happened in May 2025?").memories
        assert [one.content for one in found] == ["We glazed forty bowls.", "The kiln cracked."]
        assert not memento.recall("What happened in May 2019?").memories


@pytest.mark.parametrize(
    ("note", "end"),
    [("My last day at Orbital GmbH is 30 June 2025.", 6), ("I'm leaving Orbital GmbH on 1 July 2025.", 7)],
)
def test_an_announced_leaving_ends_a_job_on_its_day(note: str, end: int) -> None:
    with fresh_memory("trigram") as memento:
        job = memento.note("I work at Orbital GmbH.", at="2025-01-05").memories[0]
        memento.note(note, at="2025-05-05")

        (kept,) = [one for one in memento.list(past=True) if one.iri == job]
        assert kept.invalid_at is not None
        assert kept.invalid_at.month == end


def test_when_at_the_beginning_asks_for_a_time_and_names_none() -> None:
    with fresh_memory("minilm") as opened:
        opened.note("Mel and I play squash every Monday at 7.", at="2026-02-02")
        opened.note("Squash moved to Fridays because the court is taken.", at="2026-04-11")
        assert "Fridays" in first(opened, "When do I play squash?")
        assert "Monday" in first(opened, "When did I play squash before it was on Fridays?")


@pytest.mark.parametrize(
    "change",
    ["Swapped the Golf for a Zoe.", "Replaced the Golf with a Zoe.", "I sold the Golf and bought a Renault Zoe."],
)
def test_what_took_the_place_of_a_thing_answers_what_that_one_answered(change: str) -> None:
    with fresh_memory("minilm") as opened:
        opened.note("I drive a Golf.", at="2026-03-05")
        opened.note(change, at="2026-04-05")
        [golf] = [one for one in opened.list(past=True) if one.content == "I drive a Golf."]

        assert golf.invalid_at is not None
        assert [one.content for one in opened.recall("What car do I drive?").memories] == [change]


@pytest.mark.parametrize(
    ("standing", "stand_in", "question", "during", "after"),
    [
        (
            "Vikram heads the lab.",
            "Elif stands in for Vikram until the end of August.",
            "Who heads the lab?",
            "2025-07-10",
            None,
        ),
        (
            "Ingrid runs the clinic.",
            "Paul covers for Ingrid in July.",
            "Who leads the clinic?",
            "2025-07-10",
            "2025-09-10",
        ),
        ("My physio is Lars.", "Edda replaces Lars until October.", "Who is my physio?", "2025-07-10", "2025-12-10"),
    ],
)
def test_who_stands_in_comes_before_who_is_stood_in_for_while_it_lasts(
    standing: str, stand_in: str, question: str, during: str, after: str | None
) -> None:
    with fresh_memory("minilm") as memento:
        memento.note(standing, at="2025-01-15")
        memento.note(stand_in, at="2025-06-02")
        found = memento.recall(question, as_of=during).memories
        assert [one.content for one in found] == [stand_in, standing]
        assert memento.recall(question, as_of=after).memories[0].content == standing


def test_who_somebody_is_to_one_does_not_change_while_somebody_stands_in_for_them() -> None:
    with fresh_memory("minilm") as memento:
        memento.note("My sister is Ana Ruiz.", at="2025-01-15")
        memento.note("I met Ana Ruiz in Rome.", at="2025-02-15")
        memento.note("Bo Lind stands in for Ana Ruiz until October.", at="2025-06-02")
        for question, first in (
            ("Who is my sister?", "My sister is Ana Ruiz."),
            ("Who did I meet in Rome?", "I met Ana Ruiz in Rome."),
        ):
            assert memento.recall(question, as_of="2025-07-10").memories[0].content == first


def test_who_stands_in_comes_first_whether_or_not_the_gate_is_open() -> None:
    with fresh_memory("minilm") as memento:
        memento.note("My physio is Lars.", at="2025-01-15")
        memento.note("Edda replaces Lars until October.", at="2025-06-02")
        for gate in (True, False):
            found = memento.recall("Who is my physio?", as_of="2025-07-10", gate=gate).memories
            assert found[0].content == "Edda replaces Lars until October."


TOGETHER = [
    ("My dog is Rex.", "My dog is a poodle."),
    ("My vet is Dr Amsel.", "My vet is on Mill Road."),
    ("My mother is Irena.", "My mother-in-law is Dorota."),
    ("Marit is a smith by trade.", "Marit keeps her anvil in the dairy."),
]
"""Pairs of notes that hold together."""

OF_A_KIND = {
    "What is my dog's name?": "Rex",
    "What's my dog called?": "Rex",
    "Who is my vet?": "Amsel",
    "Where is my vet?": "Mill Road",
    "Who is my mother?": "Irena",
    "Who is my mother-in-law?": "Dorota",
    "What does Marit do for a living?": "smith",
    "What is Marit's job?": "smith",
}
"""Questions, and what is in the note that answers them."""


def test_what_states_the_asked_claim_is_not_passed_by_something_else_of_the_same_owner() -> None:
    with fresh_memory("minilm") as memento:
        memento.note("Wren keeps bees.", at="2026-03-01")
        memento.note("Wren is allergic to walnuts.", at="2026-03-04")
        memento.note("Wren moved to Bodø.", at="2026-07-01")
        make_grains(memento)

        assert first(memento, "What does Wren keep?") == "Wren keeps bees."
        assert first(memento, "Where does Wren live?") == "Wren moved to Bodø."


@pytest.mark.parametrize(
    "question",
    [
        "What does Solveig do?",
        "What does Solveig do for a living?",
        "Where does Solveig work?",
    ],
)
def test_what_somebody_does_answers_what_their_work_is_where_nothing_else_does(question: str) -> None:
    with fresh_memory("minilm") as memento:
        memento.note("Solveig restores pianos in Bergen.", at="2026-03-01")
        memento.note("Solveig's birthday is on 12 May.", at="2026-03-02")
        memento.note("Solveig got married to Fedor.", at="2026-06-02")

        assert first(memento, question) == "Solveig restores pianos in Bergen."


@pytest.mark.parametrize("question", ["Who is Delroy?", "Who's Delroy?"])
def test_who_somebody_is_comes_before_what_they_did_later(question: str) -> None:
    with fresh_memory("minilm") as memento:
        memento.note("Delroy is our plumber.", at="2025-01-10")
        memento.note("Delroy moved away for good.", at="2025-03-10")
        memento.note("Delroy likes Fado.", at="2025-04-10")

        assert first(memento, question) == "Delroy is our plumber."


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_what_holds_together_the_kind_that_is_asked_for_comes_first(order: tuple[int, int]) -> None:
    with fresh_memory("minilm") as memento:
        for day, note in enumerate((pair[at] for at in order for pair in TOGETHER), start=1):
            memento.note(note, at=f"2025-01-{day:02d}")
        found = {question: memento.recall(question).memories[0].content for question in OF_A_KIND}

    assert [question for question, wanted in OF_A_KIND.items() if wanted not in found[question]] == []
