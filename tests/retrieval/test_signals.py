"""Each signal says what it is there for, and nothing where its data is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memento.model import NoteRow, Scope
from memento.python import Memento, open_memento
from memento.retrieval import signals
from memento.retrieval.chains import find_asked
from memento.retrieval.question import Asking, find_named, strip_names, wants_number, wants_time
from memento.search.indexes import View
from memento.settings import WordsSettings, load, table
from memento.text.claims import read_question
from memento.text.dates import PartialDate, find_dates
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
    memento.intake.import_notes(rows, consolidate=False)
    memento.intake.import_notes([NoteRow(content="It has seven hills.", title="Lisbon")], consolidate=False)
    return View.at(memento.service.stores.indexes, Scope().memory_graphs, now(), None, None)


def by_text(found: signals.Signal, view: View, memento: Memento) -> dict[str, float]:
    """What a signal says of each memory, by the first word of its content."""
    indexes = view.indexes
    said = {one.iri: one.content for one in memento.list(past=True)}
    return {said[iri].split()[0]: float(found[node]) for iri in said if (node := indexes.nodes.find(iri)) is not None}


def test_words_of_the_turn_before_count(view: View, memento: Memento) -> None:
    found = by_text(signals.score_words("aquarium", view, WordsSettings()), view, memento)

    assert found["Did"] > found["Yes,"] > 0
    assert found["Otters"] == found["I"] == found["It"] == 0


def test_a_session_is_searched_as_a_whole(view: View, memento: Memento) -> None:
    found = by_text(signals.score_session("aquarium", view, WordsSettings()), view, memento)

    assert found["Did"] == found["Yes,"] == found["Otters"] > 0
    assert found["I"] == found["It"] == 0


def test_the_one_participant_who_is_named_is_preferred(view: View, memento: Memento) -> None:
    named = by_text(signals.score_speaker("What did Ben see?", view), view, memento)
    assert named == {"Did": 0, "Yes,": 1, "Otters": 0, "I": 1, "It": 0}

    assert not signals.score_speaker("Did Ana and Ben meet?", view).any()
    assert not signals.score_speaker("What was seen?", view).any()


@pytest.mark.parametrize("speaker", ["Ana", "user"])  # the turns of the user themselves name no speaker
def test_who_asks_about_my_or_our_is_not_the_assistant(speaker: str, memento: Memento) -> None:
    texts = [(speaker, "We use Flutter now."), ("assistant", "Which framework do you use?")]
    rows = [NoteRow(content=text, speaker=who, session="s", position=place) for place, (who, text) in enumerate(texts)]
    memento.intake.import_notes(rows, consolidate=False)
    view = View.at(memento.service.stores.indexes, Scope().memory_graphs, now(), None, None)

    mine = by_text(signals.score_speaker("Which framework do we use?", view), view, memento)
    assert mine == {"We": 1, "Which": 0}
    some = np.flatnonzero(view.visible).astype(np.int32)
    assert by_text(signals.score_speaker("Which framework do we use?", view, some), view, memento) == mine
    assert not signals.score_speaker("Which framework is used?", view).any()


def test_the_best_of_few_sessions_says_little(view: View, memento: Memento) -> None:
    assert by_text(signals.score_session("aquarium", view, WordsSettings()), view, memento)["Did"] == pytest.approx(0.2)


def test_a_month_prefers_what_was_said_in_it_and_soon_after(view: View, memento: Memento) -> None:
    found = by_text(signals.score_when("What happened in May 2023?", view), view, memento)
    assert found["Did"] == 1.0
    assert found["I"] == 0.5

    another = by_text(signals.score_when("What happened in May 2021?", view), view, memento)
    assert another["Did"] == pytest.approx(0.2)
    assert not signals.score_when("What happened?", view).any()


def test_a_day_prefers_the_days_after_it(view: View, memento: Memento) -> None:
    assert by_text(signals.score_dates([PartialDate(2023, 5, 7)], view), view, memento)["Did"] == 1.0
    assert by_text(signals.score_dates([PartialDate(2023, 4, 20)], view), view, memento)["Did"] == 0.5
    assert by_text(signals.score_dates([PartialDate(2023, 5, 20)], view), view, memento)["Did"] == 0.0


def test_who_asks_when_is_given_times_and_who_asks_how_many_numbers(view: View, memento: Memento) -> None:
    plain = by_text(signals.score_form("Tell me", view), view, memento)
    when = by_text(signals.score_form("When was it?", view), view, memento)
    many = by_text(signals.score_form("How many?", view), view, memento)

    assert plain["Did"] < 0 < plain["Otters"] < plain["Yes,"]
    assert when["Yes,"] - plain["Yes,"] == pytest.approx(0.3)
    assert many["It"] - plain["It"] == pytest.approx(0.3)
    assert when["Otters"] == plain["Otters"]


def test_a_window_is_the_cosine_to_the_sum_of_three_turns(view: View) -> None:
    indexes = view.indexes
    asked = indexes.embedder.embed(["otters and my sister"])
    own = np.maximum(indexes.vectors["memory"].likeness(asked, len(view.visible)), 0)
    found = signals.score_window(own, asked, view)
    (passages,) = view.passages()
    for node in passages.turn_nodes().tolist():
        three = [node, *(one for one in passages.turns.neighbours(node) if one >= 0)]
        vectors = indexes.vectors["memory"].vectors(three)
        summed = vectors.sum(axis=0)
        expected = sum(float(own[one]) for one in three) / float(np.linalg.norm(summed))
        assert found[node] == pytest.approx(expected, abs=1e-5)


def test_a_memory_of_no_conversation_has_no_window_of_its_own(view: View) -> None:
    asked = view.indexes.embedder.embed(["seven hills"])
    own = signals.score_meaning(asked, view)
    lisbon = max(set(np.flatnonzero(view.visible).tolist()) - set(view.passages()[0].turn_nodes().tolist()))

    assert signals.score_window(own, asked, view)[lisbon] == own[lisbon]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("on 8 May 2023", [PartialDate(2023, 5, 8)]),
        ("on May 8th, 2023", [PartialDate(2023, 5, 8)]),
        ("2023-05-08", [PartialDate(2023, 5, 8)]),
        ("in June", [PartialDate(None, 6)]),
        ("in 2022", [PartialDate(2022)]),
        ("may I ask, march on", []),
        ("in May", [PartialDate(None, 5)]),
        ("I have 2023 apples", [PartialDate(2023)]),
        ("31 February 2024", [PartialDate(2024, 2, 31)]),
    ],
)
def test_dates_in_a_question(question: str, expected: list[PartialDate]) -> None:
    assert find_dates(question) == expected


def test_a_day_that_is_none_is_no_full_date() -> None:
    assert PartialDate(2024, 2, 31).full is None
    assert PartialDate(2024, 2, 29).full == datetime(2024, 2, 29, tzinfo=UTC).date()


def test_names_are_found_whole_by_the_first_part_and_in_short() -> None:
    assert find_named("What does Mel's friend Caroline do?", ["Melanie Ray", "Caroline", "Bob"]) == [
        "Melanie Ray",
        "Caroline",
    ]
    assert strip_names("When did Caroline go?", ["Caroline"]) == "When did go?"
    assert strip_names("Caroline?", ["Caroline"]) == "Caroline?"
    assert strip_names("When did she go?", []) == "When did she go?"


def test_what_kind_of_answer_is_wanted() -> None:
    assert wants_time("How long has she lived there?")
    assert not wants_time("Where does she live?")
    assert wants_number("How many otters?")


@pytest.fixture
def user_view(memento: Memento) -> View:
    for text in ("My name is Danny.", "I joined Microsoft.", "I like tea.", "Anna works at Siemens."):
        memento.note(text)
    return View.at(memento.service.stores.indexes, Scope().memory_graphs, now(), None, None)


def asking(question: str) -> Asking:
    """What a question asks for, of now."""
    return Asking(read_question(question), now().timestamp(), past=False)


def claims_of(question: str, view: View) -> signals.Signal:
    """What the signal of claims gives to each memory."""
    asked = asking(question)
    return signals.score_claim(find_asked(asked.reading.clauses, view, asked.at, past=asked.past), view)


@pytest.mark.parametrize("question", ["Where do I work?", "Where does Danny work?"])
def test_a_question_about_the_user_prefers_the_users_own_employer(
    user_view: View, memento: Memento, question: str
) -> None:
    said = {one.iri: one.content for one in memento.list()}
    claims = claims_of(question, user_view)
    found = {
        text: claims[n] > 0.5 for iri, text in said.items() if (n := user_view.indexes.nodes.find(iri)) is not None
    }

    assert {text for text, is_it in found.items() if is_it} == {"I joined Microsoft."}


def test_a_question_about_the_users_brother_does_not_ask_where_the_user_is(memento: Memento) -> None:
    for text in ("I work at Google.", "My brother Tom works for BMW.", "My boss is Claire Dubois."):
        memento.note(text)
    view = View.at(memento.service.stores.indexes, Scope().memory_graphs, now(), None, None)
    said = {view.indexes.nodes.find(one.iri): one.content for one in memento.list()}

    def filling(question: str) -> set[str]:
        return {said[node] for node in np.flatnonzero(claims_of(question, view)).tolist()}

    assert filling("Where do I work?") == {"I work at Google."}
    assert filling("Where does my brother work?") == {"My brother Tom works for BMW."}
    assert filling("Where do my brother and I work?") == {"I work at Google.", "My brother Tom works for BMW."}
    assert filling("Who is my boss?") == {"My boss is Claire Dubois."}


def test_a_question_about_somebody_else_prefers_their_employer(user_view: View, memento: Memento) -> None:
    [anna] = [user_view.indexes.nodes.find(one.iri) for one in memento.list() if "Anna" in one.content]
    assert np.flatnonzero(claims_of("Where does Anna work?", user_view)).tolist() == [anna]
    assert not claims_of("What did Anna eat?", user_view).any()


@pytest.fixture
def registry() -> Iterator[dict[str, signals.RegisteredSignal]]:
    """The signals, as they were once the test is over."""
    before = dict(signals.SIGNALS)
    yield signals.SIGNALS
    signals.SIGNALS.clear()
    signals.SIGNALS.update(before)


def test_a_signal_that_is_off_is_a_setting_ranks_explains_and_is_documented(
    tmp_path: Path, registry: dict[str, signals.RegisteredSignal]
) -> None:
    @signals.signal(0.0, "having a long text", channel=True)
    def score_length(text: str, view: View) -> signals.Signal:
        """Return 1 for everything."""
        return view.visible.astype(np.float32) * len(text)

    settings = load(environment={"MEMENTO_SIGNALS_LENGTH": "5", "MEMENTO_EMBEDDING_MODEL": "trigram"})
    with open_memento(tmp_path, configured=settings) as memento:
        memento.note("Anna works at Siemens.")
        [found] = memento.recall("Who sings?", explain=True, gate=False).memories

    assert asdict(settings.signals)["length"] == 5.0
    assert found.why["length"] > 0.3
    assert "| length | 0 | having a long text |" in signals.document_signals()
    assert "weight of having a long text" in table()


@pytest.mark.parametrize("name", ["words", "subject", "link", "walk"])
def test_a_signal_that_is_not_registered_is_nowhere(
    tmp_path: Path, registry: dict[str, signals.RegisteredSignal], name: str
) -> None:
    del registry[name]
    settings = load(environment={"MEMENTO_EMBEDDING_MODEL": "trigram"})
    with open_memento(tmp_path, configured=settings) as memento:
        memento.note("Anna works at Siemens.")
        memento.note("Siemens builds trains.")
        found = memento.recall("What does the employer of Anna build?", explain=True).memories

    assert found
    assert all(name not in one.why and name not in {step.by for step in one.path} for one in found)
    assert name not in asdict(settings.signals)
    assert f"| {name} |" not in signals.document_signals()


def test_a_signal_that_needs_what_nobody_has_is_refused(registry: dict[str, signals.RegisteredSignal]) -> None:
    with pytest.raises(TypeError, match="the signal weather asks for forecast: there are anchors, asking, bm25"):

        @signals.signal(1.0, "the weather")
        def score_weather(forecast: str) -> signals.Signal:
            raise NotImplementedError


def test_the_page_of_recall_has_every_signal() -> None:
    page = (Path(__file__).parents[2] / "docs" / "recall.md").read_text(encoding="utf-8")

    assert f"<!-- signals -->\n\n{signals.document_signals()}\n<!-- /signals -->" in page


def test_what_most_is_about_comes_first_where_the_profile_counts(memento: Memento) -> None:
    for content in ("Siemens builds trains.", "Siemens has an office in Oslo.", "Siemens pays well."):
        memento.note(content, tags=["client"])
    memento.note("Nokia builds masts.")
    scopes = Scope().memory_graphs
    view = View.at(memento.service.stores.indexes, scopes, now(), None, None)

    found = by_text(signals.score_profile(signals.list_prominent(view), view), view, memento)

    assert found["Siemens"] == 1 and found["Nokia"] == 0

    def first(**weights: float) -> str:
        memento.service.settings = signals.with_weights(before, **{**dict.fromkeys(signals.SIGNALS, 0.0), **weights})
        return memento.recall("Who builds masts?", gate=False).memories[0].content

    before = memento.service.settings
    assert before.signals.profile == 0  # type: ignore[attr-defined]
    assert first(words=1.0) == "Nokia builds masts."
    assert first(words=1.0, profile=5.0).startswith("Siemens")
    memento.service.settings = before
