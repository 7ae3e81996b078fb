"""A memory by rules is a passage of its note, word for word: cut where the topic changes, never from what it leans on."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.consolidation.passages import WHOLE, Passage, cut_note
from memento.consolidation.rules import RuleAgents
from memento.iris import IRI, mint, user_iri
from memento.model import Note, User
from memento.python import Memento

BOATS = (
    "The ferry to Bergen was late again, and the crew of the ferry rang the harbour. The harbour sent a tug for the ferry at noon. "
    "It arrived at two. The tug pulled the ferry to the northern pier, where its engine was repaired by the harbour's own people."
)
TAXES = (
    "Invoices for March go to the accountant by Friday, with every receipt that the kitchen kept. The accountant wants the "
    "receipts sorted by day. She will not sort them herself. Last year the accountant sent half of the receipts back unsorted."
)
NOTES = (
    "I moved to Oslo. It rains there.",
    "  Desk: 2.05\nHrs: Tue-Fri 10-19  ",
    f"{BOATS} {TAXES}",
    f"{BOATS}\n\n{TAXES}",
    "Shopping for the boat:\n\n- rope\n- paint, two tins\n- a new bilge pump from Aldo\n- sandpaper\n"
    + "- screws\n" * 60,
    "See this:\n\n```python\ndef moor(boat):\n\n    return boat.rope\n```\n\n" + TAXES,
    "| crew | berth |\n|---|---|\n" + "| Ana | 4 |\n" * 40,
    "Ich wohne in Köln. Mein Chef heißt Bo.",
    "¿Dónde vives? Vivo en Faro.",
    "naïve café — “quoted”, it's 5 o’clock\u00a0now\u200b.",
    "\n\nx\n\n",
)


def cut(text: str) -> list[str]:
    passages = cut_note(text)
    check(text, passages)
    return [one.text for one in passages]


def check(text: str, passages: list[Passage]) -> None:
    """Each is the span of the note that it says it is, and so are its sentences; together they hold every word, once, in order."""
    for one in passages:
        assert text[one.start : one.end] == one.text
        assert one.text == one.text.strip()
        assert all(0 <= start < end <= len(one.text) for start, end in one.sentences)
        assert [*one.sentences] == sorted(one.sentences)
    assert all(one.end <= other.start for one, other in pairwise(passages))
    assert [word for one in passages for word in one.text.split()] == text.split()


@pytest.mark.parametrize("text", NOTES)
def test_passages_are_spans_of_the_note_and_hold_every_word_of_it(text: str) -> None:
    assert cut(text)


WORDS = st.sampled_from(
    [
        "I",
        "she",
        "Ana",
        "moved",
        "to",
        "Oslo",
        ".",
        "!",
        "\n",
        "\n\n",
        "- ",
        "1.",
        "```",
        "café",
        "so",
        ":",
        "boat",
        "|",
        "2.05",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=400), st.lists(WORDS, max_size=300).map(" ".join)))
def test_whatever_is_told_is_cut_into_spans(text: str) -> None:
    check(text, cut_note(text))


@pytest.mark.parametrize("text", NOTES)
def test_a_memory_has_the_words_of_its_note_and_so_have_its_claims(text: str, memento: Memento) -> None:
    agents, user = RuleAgents(), User(iri=user_iri("local"))
    note = Note(iri=mint("note"), content=text, at=datetime(2024, 5, 15, tzinfo=UTC))
    drafts = agents.extract_memories(note, agents.extract_entities(note, user).mentions, user)
    noted = memento.note(text, at="2024-05-15")

    assert all(draft.content in text for draft in drafts)
    assert all(0 <= one.start < one.end <= len(draft.content) for draft in drafts for one in draft.claims)
    assert all(noted.contents[iri] in text for iri in noted.memories)
    assert noted.memories
    assert memento.admin.check() == ()


def test_a_short_note_is_one_passage_however_many_things_it_says() -> None:
    text = "I work at Acme. My boss is Bo. Ask Tomasz. It's a girl!"

    assert cut(text) == [text]
    assert cut_note(text)[0].sentences == ((0, 15), (16, 30), (31, 42), (43, 55))
    assert len(cut("boat " * WHOLE)) == 1


def test_a_long_note_is_cut_where_its_topic_changes() -> None:
    assert cut(f"{BOATS} {TAXES}") == [BOATS, TAXES]
    assert cut(f"{BOATS}\n\n{TAXES}") == [BOATS, TAXES]


def test_no_passage_begins_with_what_leans_on_the_sentence_before() -> None:
    for one in cut(f"{BOATS} So they rang. There it stayed. {TAXES} They are hers. She keeps them in a box.")[1:]:
        assert one.split()[0].lower() not in {"so", "it", "there", "they", "she", "them"}


def test_a_list_stays_under_its_heading() -> None:
    items = "\n".join(f"- tin {number} of the blue paint" for number in range(20))

    assert cut(f"Paint that is left in the shed:\n\n{items}\n\n{TAXES}") == [
        f"Paint that is left in the shed:\n\n{items}",
        TAXES,
    ]


def test_code_and_tables_stay_whole() -> None:
    code = "```python\n" + "\n\n".join(f"def moor_{n}(boat):\n    return boat.rope" for n in range(20)) + "\n```"
    table = "| crew | berth |\n|---|---|\n" + "\n".join(f"| Ana {n} | {n} |" for n in range(40))

    assert code in cut(f"{TAXES}\n\n{code}\n\n{BOATS}")
    assert table in cut(f"{TAXES}\n\n{table}\n\n{BOATS}")


def test_nothing_said_makes_no_passage() -> None:
    assert cut_note("") == cut_note(" \n\t ") == []


def test_an_introduction_keeps_its_words(memento: Memento) -> None:
    noted = memento.note("Hi! My name is Priya Raman, and I'm a nurse.")

    assert [noted.contents[iri] for iri in noted.memories] == ["Hi! My name is Priya Raman, and I'm a nurse."]
    assert (
        dict(memento.get(IRI("urn:memento:user:local")).properties).get("http://purl.org/memento/name") == "Priya Raman"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [("Thanks a lot!", "it is thanks"), ("ok", "it says nothing by itself"), ("Where do I live?", "it is a question")],
)
def test_what_tells_nothing_is_no_memory_and_the_answer_says_why(memento: Memento, text: str, why: str) -> None:
    assert memento.note(text).skipped == why
