"""Each signal says what it is there for, and nothing where its data is not."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from memento.model import NoteRow, Scope
from memento.python import Memento
from memento.retrieval import signals
from memento.retrieval.question import Named, dates, named_among, wants_number, wants_time, without
from memento.search.view import View
from memento.settings import WordsSettings
from memento.time import now

TALK = [
    ("Ana", "Did you go to the aquarium?", "2023-05-08"),
    ("Ben", "Yes, I went with my sister last week, we saw three otters.", "2023-05-08"),
    ("Ana", "Otters are lovely.", "2023-05-08"),
    ("Ben", "I start a pottery class in June.", "2023-06-20"),
]


@pytest.fixture
def view(memento: Memento) -> View:
    rows = [
        NoteRow(content=text, speaker=who, session=day, position=place, at=datetime.fromisoformat(day))
        for place, (who, text, day) in enumerate(TALK)
    ]
    memento.import_notes(rows, consolidate=False)
    memento.import_notes([NoteRow(content="It has seven hills.", title="Lisbon")], consolidate=False)
    return View.at(memento.service.stores.indexes, Scope().memory_graphs, now(), None, None)


def by_text(found: signals.Signal, view: View, memento: Memento) -> dict[str, float]:
    """What a signal says of each memory, by the first word of its content."""
    indexes = view.indexes
    said = {one.iri: one.content for one in memento.list(past=True)}
    return {said[iri].split()[0]: float(found[node]) for iri in said if (node := indexes.nodes.find(iri)) is not None}


def test_words_of_the_turn_before_count(view: View, memento: Memento) -> None:
    found = by_text(signals.words("aquarium", view, WordsSettings()), view, memento)

    assert found["Did"] > found["Yes,"] > 0
    assert found["Otters"] == found["I"] == found["It"] == 0


def test_a_session_is_searched_as_a_whole(view: View, memento: Memento) -> None:
    found = by_text(signals.session("aquarium", view, WordsSettings()), view, memento)

    assert found["Did"] == found["Yes,"] == found["Otters"] > 0
    assert found["I"] == found["It"] == 0


def test_the_one_participant_who_is_named_is_preferred(view: View, memento: Memento) -> None:
    named = by_text(signals.speaker("What did Ben see?", view), view, memento)
    assert named == {"Did": 0, "Yes,": 1, "Otters": 0, "I": 1, "It": 0}

    assert not signals.speaker("Did Ana and Ben meet?", view).any()
    assert not signals.speaker("What was seen?", view).any()


def test_who_asks_about_my_or_our_is_not_the_assistant(memento: Memento) -> None:
    texts = [("Ana", "We use Flutter now."), ("assistant", "Which framework do you use?")]
    rows = [NoteRow(content=text, speaker=who, session="s", position=place) for place, (who, text) in enumerate(texts)]
    memento.import_notes(rows, consolidate=False)
    view = View.at(memento.service.stores.indexes, Scope().memory_graphs, now(), None, None)

    mine = by_text(signals.speaker("Which framework do we use?", view), view, memento)
    assert mine == {"We": 1, "Which": 0}
    assert not signals.speaker("Which framework is used?", view).any()


def test_the_best_of_few_sessions_says_little(view: View, memento: Memento) -> None:
    assert by_text(signals.session("aquarium", view, WordsSettings()), view, memento)["Did"] == pytest.approx(0.2)


def test_a_month_prefers_what_was_said_in_it_and_soon_after(view: View, memento: Memento) -> None:
    found = by_text(signals.when(dates("What happened in May 2023?"), view), view, memento)
    assert found["Did"] == 1.0
    assert found["I"] == 0.5

    another = by_text(signals.when(dates("What happened in May 2021?"), view), view, memento)
    assert another["Did"] == pytest.approx(0.2)
    assert not signals.when(dates("What happened?"), view).any()


def test_a_day_prefers_the_days_after_it(view: View, memento: Memento) -> None:
    assert by_text(signals.when([Named(2023, 5, 7)], view), view, memento)["Did"] == 1.0
    assert by_text(signals.when([Named(2023, 4, 20)], view), view, memento)["Did"] == 0.5
    assert by_text(signals.when([Named(2023, 5, 20)], view), view, memento)["Did"] == 0.0


def test_who_asks_when_is_given_times_and_who_asks_how_many_numbers(view: View, memento: Memento) -> None:
    plain = by_text(signals.form("Tell me", view), view, memento)
    when = by_text(signals.form("When was it?", view), view, memento)
    many = by_text(signals.form("How many?", view), view, memento)

    assert plain["Did"] < 0 < plain["Otters"] < plain["Yes,"]
    assert when["Yes,"] - plain["Yes,"] == pytest.approx(0.3)
    assert many["It"] - plain["It"] == pytest.approx(0.3)
    assert when["Otters"] == plain["Otters"]


def test_a_window_is_the_cosine_to_the_sum_of_three_turns(view: View) -> None:
    indexes = view.indexes
    asked = indexes.embedder.embed(["otters and my sister"])
    own = np.maximum(indexes.vectors["memory"].likeness(asked, len(view.visible)), 0)
    found = signals.window(own, view)
    (passages,) = view.passages()
    for node in passages.turn_nodes().tolist():
        three = [node, *(one for one in passages.turns.beside(node) if one >= 0)]
        vectors = indexes.vectors["memory"].vectors(three)
        summed = vectors.sum(axis=0)
        expected = sum(float(own[one]) for one in three) / float(np.linalg.norm(summed))
        assert found[node] == pytest.approx(expected, abs=1e-5)


def test_a_memory_of_no_conversation_has_no_window_of_its_own(view: View) -> None:
    asked = view.indexes.embedder.embed(["seven hills"])
    own = signals.meaning(asked, view)
    lisbon = max(set(np.flatnonzero(view.visible).tolist()) - set(view.passages()[0].turn_nodes().tolist()))

    assert signals.window(own, view)[lisbon] == own[lisbon]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("on 8 May 2023", [Named(2023, 5, 8)]),
        ("on May 8th, 2023", [Named(2023, 5, 8)]),
        ("2023-05-08", [Named(2023, 5, 8)]),
        ("in June", [Named(None, 6)]),
        ("in 2022", [Named(2022)]),
        ("may I ask, march on", []),
        ("in May", [Named(None, 5)]),
        ("I have 2023 apples", [Named(2023)]),
        ("31 February 2024", [Named(2024, 2, 31)]),
    ],
)
def test_dates_in_a_question(question: str, expected: list[Named]) -> None:
    assert dates(question) == expected


def test_a_day_that_is_none_is_no_full_date() -> None:
    assert Named(2024, 2, 31).full is None
    assert Named(2024, 2, 29).full == datetime(2024, 2, 29, tzinfo=UTC).date()


def test_names_are_found_whole_by_the_first_part_and_in_short() -> None:
    assert named_among("What does Mel's friend Caroline do?", ["Melanie Ray", "Caroline", "Bob"]) == [
        "Melanie Ray",
        "Caroline",
    ]
    assert without("When did Caroline go?", ["Caroline"]) == "When did go?"
    assert without("Caroline?", ["Caroline"]) == "Caroline?"
    assert without("When did she go?", []) == "When did she go?"


def test_what_kind_of_answer_is_wanted() -> None:
    assert wants_time("How long has she lived there?")
    assert not wants_time("Where does she live?")
    assert wants_number("How many otters?")


@pytest.fixture
def user_view(memento: Memento) -> View:
    for text in ("My name is Danny.", "I joined Microsoft.", "I like tea.", "Anna works at Siemens."):
        memento.note(text)
    return View.at(memento.service.stores.indexes, Scope().memory_graphs, now(), None, None)


@pytest.mark.parametrize("question", ["Where do I work?", "Where does Danny work?"])
def test_a_question_about_the_user_prefers_the_users_own_employer(
    user_view: View, memento: Memento, question: str
) -> None:
    said = {one.iri: one.content for one in memento.list()}
    slots, own = signals.slot(question, user_view), signals.own(question, user_view)
    found = {
        text: (slots[n], own[n]) for iri, text in said.items() if (n := user_view.indexes.nodes.find(iri)) is not None
    }

    assert found["USER joined Microsoft."] == (1, 1)
    assert found["USER likes tea."] == (0, 1)
    assert found["Anna works at Siemens."] == (0, 0)


def test_a_question_about_the_users_brother_does_not_ask_where_the_user_is(memento: Memento) -> None:
    for text in ("I work at Google.", "My brother Tom works for BMW.", "My boss is Claire Dubois."):
        memento.note(text)
    view = View.at(memento.service.stores.indexes, Scope().memory_graphs, now(), None, None)
    said = {view.indexes.nodes.find(one.iri): one.content for one in memento.list()}

    def filling(question: str) -> set[str]:
        return {said[node] for node in np.flatnonzero(signals.slot(question, view)).tolist()}

    assert filling("Where do I work?") == {"USER works at Google."}
    assert filling("Where does my brother work?") == {"USER's brother Tom works for BMW."}
    assert filling("Where did I and my brother work?") == {"USER works at Google.", "USER's brother Tom works for BMW."}
    assert filling("Who is my boss?") == {"USER's boss is Claire Dubois."}


def test_a_question_about_somebody_else_prefers_every_employer(user_view: View) -> None:
    assert not signals.own("Where does Anna work?", user_view).any()
    assert signals.slot("Where does Anna work?", user_view).sum() == 2
    assert not signals.slot("What did Anna eat?", user_view).any()
