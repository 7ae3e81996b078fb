"""Whom a question means is followed through the graph, from the user or from somebody named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from measure import fresh_memory
from memento.python import Memento


@pytest.fixture
def memento() -> Iterator[Memento]:
    with fresh_memory("trigram") as opened:
        for text in (
            "My sister Ilse rents a flat in Tarn.",
            "Ilse's landlord Otto Kamp is deaf.",
            "My partner Milo plays the oboe.",
            "Anders (Milo's brother) breeds llamas.",
            "Dad (Joris) has a bad knee.",
            "Vera = daughter of Otto Kamp.",
            "I rent a garage, my knee hurts and I like llamas.",
        ):
            opened.note(text)
        opened.note("Otto Kamp moved to the coast.")
        opened.note("Anders lives in Brill.")
        opened.note("Ilse studied law in Kolm.")
        opened.note("Bo studied law in Fenn.")
        yield opened


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where did my sister study law?", "Kolm"),
        ("Where did my sister's landlord move?", "coast"),
        ("To which coast did the father of Vera move?", "coast"),
        ("Where does my brother-in-law live?", "Brill"),
        ("Where does my partner's brother live?", "Brill"),
        ("What ails my father's knee?", "Joris"),
    ],
)
def test_a_chain_of_whose_leads_to_the_person_by_name(memento: Memento, question: str, answer: str) -> None:
    # Before it there may stand what says the tie, which has as many words of the question.
    assert any(answer in one.content for one in memento.recall(question, gate=False).memories[:2])


def test_who_is_forgotten_is_followed_no_more(memento: Memento) -> None:
    asked = "Where did my sister study law?"
    [tie] = [one for one in memento.list() if "sister Ilse" in one.content]
    followed = memento.recall(asked, gate=False).memories[0].score
    memento.forget(tie.iri)
    [studied] = [one for one in memento.recall(asked, k=20, gate=False).memories if "Kolm" in one.content]

    assert studied.score < followed
