"""A text is found under the names that its first sentence gives its subject."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.search.labels import normalise_label
from memento.search.subjects import aliases


def named(content: str, title: str | None = None) -> dict[str, float]:
    return dict(aliases(content, title))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Frozen is a film.", {"frozen": 1.0}),
        ('"You\'ve Got a Friend" is a song.', {"you ve got a friend": 1.0}),
        ("The Zed editor is fast.", {"the zed editor": 1.0, "zed editor": 1.0}),
        ("The Campaign is a film.", {"the campaign": 1.0, "campaign": 0.5}),
        ("In 1990, Boris Dvornik retired.", {"boris dvornik": 1.0}),
        ("When I Was a Boy is an album.", {"when i was a boy": 1.0}),
        (
            "John H. Auer (born 1906) was a director.",
            {"john h. auer": 1.0, "john auer": 0.8, "h. auer": 0.5, "john h.": 0.4},
        ),
    ],
)
def test_the_head_of_the_first_sentence_is_the_subject(content: str, expected: dict[str, float]) -> None:
    assert named(content) == expected


def test_a_person_goes_by_shorter_names() -> None:
    found = named('Tobias Alistair Patrick "Toby" Kebbell (born 9 July 1982) is an English actor.')

    assert found == {
        "toby kebbell": 1.0,
        "tobias alistair patrick kebbell": 1.0,
        "tobias kebbell": 0.8,
        "patrick kebbell": 0.5,
        "tobias alistair": 0.4,
    }


def test_what_is_no_person_keeps_its_middle() -> None:
    assert named("New York City is a city.") == {"new york city": 1.0}


def test_other_names_are_names_too() -> None:
    assert named("CapitaGreen, also known as Market Street Tower, is a tower.")["market street tower"] == 0.8
    assert named("Beamus Pierce aka Eagle Feather was a player.")["eagle feather"] == 0.8
    assert named("Herod, also known as Herod the Great and Herod I, was a king.").keys() >= {
        "herod the great",
        "herod i",
    }
    assert named("Attack Squadron 174 (VA-174) was a squadron.")["va-174"] == 0.6


def test_dates_degrees_and_languages_in_parentheses_are_no_names() -> None:
    assert named("Paul Hogan (born 1963 in Dudley) is a player.") == {"paul hogan": 1.0}
    assert named("Martin Fettman (B.S.) is a pathologist.") == {"martin fettman": 1.0}
    assert "french" not in named('The Man (French: "L\'Homme") is a film.')


def test_a_rank_and_a_place_belong_to_the_name() -> None:
    assert named("Frederick, Duke of Legnica (1520) was a duke.")["frederick duke of legnica"] == 1.0
    assert named("Royston is a town in Hertfordshire, England.") == {
        "royston": 1.0,
        "royston hertfordshire": 0.6,
        "royston england": 0.8,
    }


def test_a_title_leads_and_guesses_follow() -> None:
    found = named("Edward Solomon is a writer. He was born in 1960.", "Ed Solomon (writer)")

    assert found == {"ed solomon writer": 1.0, "ed solomon": 1.0, "edward solomon": 0.49}  # .7 · min(1, .7)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Anna lives in Munich.", {"anna": 1.0}),
        ("Anna, USER's sister, lives in Munich.", {"anna": 1.0}),
        ("Anna hates spiders. She is brave.", {"anna": 1.0}),
        ("USER works at Google.", {"google": 0.6}),
        ("USER's sister Anna lives in Munich.", {"anna": 0.6}),
        ("In March 2024, USER started learning Rust.", {"rust": 0.6}),
        ("My wife Clara loves sushi", {"clara": 0.6}),
        ("Dr. Miller recommended a diet.", {"dr. miller": 1.0, "miller": 0.8}),
        ("USER prefers tea over coffee.", {}),
        ("USER: I love hiking", {}),
        ("He left.", {}),
        ("", {}),
    ],
)
def test_notes_about_a_user_are_about_the_others_in_them(content: str, expected: dict[str, float]) -> None:
    assert named(content) == expected


pieces = st.sampled_from(
    [
        "Anna",
        "de la",
        "(",
        ")",
        '"',
        "“",
        "also known as",
        ",",
        ".",
        " ",
        "is a village in",
        "The",
        "USER",
        "Jr.",
        "born 1980",
        "\n",
    ]
)


@given(st.text() | st.lists(pieces, max_size=12).map(" ".join), st.none() | st.text(max_size=20))
def test_odd_text_gives_labels_in_order_of_weight(content: str, title: str | None) -> None:
    found = aliases(content, title)

    weights = [weight for _, weight in found]
    assert all(0 < weight <= 1 for weight in weights)
    assert weights == sorted(weights, reverse=True)
    assert all(label == " ".join(label.split()) and label for label, _ in found)
    assert len(dict(found)) == len(found)
    assert aliases(content, title) == found


@given(st.from_regex(r"[A-Z][a-z]{2,8} [A-Z][a-z]{2,8}", fullmatch=True))
def test_a_title_alone_is_enough(title: str) -> None:
    assert (normalise_label(title), 1.0) in aliases("", title)
