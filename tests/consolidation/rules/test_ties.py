"""Who is what to whom is read wherever a sentence says it in passing."""

from __future__ import annotations

import pytest

from memento.consolidation.rules.ties import read_ties
from memento.text.kin import derive_kin, kin_name


@pytest.mark.parametrize(
    ("content", "tie"),
    [
        ("USER's sister Ilse rents a flat.", ("USER", "sister", "Ilse")),
        ("We met our older daughter Ilse there.", ("USER", "daughter", "Ilse")),
        ("USER's mum (Ilse) is here.", ("USER", "mother", "Ilse")),
        ("Milo's landlord is a Mr Ilse.", ("Milo", "landlord", "Ilse")),
        ("Ilse, Milo's brother-in-law, called.", ("Milo", "brother-in-law", "Ilse")),
        ("Ilse (wife) keeps the books.", ("USER", "partner", "Ilse")),
        ("Dinner at Ilse's (Milo's cousin).", ("Milo", "cousin", "Ilse")),
        ("Ilse is USER's boss.", ("USER", "manager", "Ilse")),
        ("Ilse = daughter of Milo.", ("Milo", "daughter", "Ilse")),
        ("Mum (Ilse) is on her own.", ("USER", "mother", "Ilse")),
        ("Milo has a younger son, Ilse.", ("Milo", "son", "Ilse")),
        ("USER has a stepsister called Ilse.", ("USER", "stepsister", "Ilse")),
    ],
)
def test_a_tie_is_read_in_passing(content: str, tie: tuple[str, str, str]) -> None:
    assert [(one.subject, one.relation, one.value) for one in read_ties(content, ["Ilse", "Milo"])] == [tie]


@pytest.mark.parametrize(
    "content",
    [
        "Ilse met Milo.",
        "USER's sister met Ilse.",
        "Ilse's sister is kind to Milo.",
        "Milo is a friend of music, like Ilse.",
    ],
)
def test_what_is_no_tie_is_not_read_as_one(content: str) -> None:
    assert not read_ties(content, ["Ilse", "Milo"])


def test_words_for_one_tie_meet() -> None:
    assert {kin_name(word) for word in ("Mum", "moms", "mother")} == {"mother"}
    assert (("son", True),) in derive_kin("mother")


def test_each_tie_of_a_chain_is_read() -> None:
    found = read_ties("USER's brother Milo's daughter Ilse sings.", ["Ilse", "Milo"])

    assert {(one.subject, one.relation, one.value) for one in found} == {
        ("USER", "brother", "Milo"),
        ("Milo", "daughter", "Ilse"),
    }


def test_a_tie_that_the_sentence_ends_is_past() -> None:
    assert [one.mood for one in read_ties("USER's girlfriend Ilse dumped USER.", ["Ilse"])] == ["past"]
    assert [one.mood for one in read_ties("USER's girlfriend Ilse sings.", ["Ilse"])] == ["fact"]


def test_kin_follow_from_two_steps() -> None:
    assert (("brother", False), ("daughter", False)) in derive_kin("niece")
    assert (("sister", False), ("son", False)) in derive_kin("nephew")
    assert kin_name("stepbrothers") == "stepbrother"
