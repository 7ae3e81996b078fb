"""Whatever is put in, the rules answer: nothing raises, nothing is lost, answers fit their questions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memento.consolidation.agents import Agents, Existing, Hypotheses
from memento.consolidation.rules import RuleAgents
from memento.iris import mint, user_iri
from memento.model import Memory, Note, User

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)
TELLING = """
    I we my USER Anna Google Berlin and but not no longer over from to in at since until May 5 2021 last week is was moved work
    works use , . ; : ! ? " ' ’ “ ” ( ) [ ] I'm I've 's team has 8 people editor Correction: next Friday Q3 <b> é 東京 🎉
"""
WORDS = st.sampled_from([*TELLING.split(), "\n"])


def consolidated(text: str, name: str | None = None) -> int:
    agents: Agents = RuleAgents(zone="Europe/Berlin")
    note, user = Note(iri=mint("note"), content=text, at=AT), User(iri=user_iri("local"), name=name)
    extraction = agents.extract_entities(note, user)
    agents.resolve_entities([(mention, ()) for mention in extraction.mentions], extraction.biography, user)
    drafts = agents.extract_memories(note, extraction.mentions, user)
    known = [
        Existing(
            memory=Memory(
                iri=mint("memory"),
                content=d.content,
                extracted_from=note.iri,
                valid_at=AT,
                created_at=AT,
                slot=d.slot,
                slot_value="x",
            ),
            about=d.about,
            subject=d.subject,
        )
        for d in drafts
    ]
    assert len(agents.resolve_memories(drafts, known, note)) == len(drafts)
    return len(drafts)


@given(st.text(max_size=300))
@example("")
@example("\ue000 works at \uf000")
@example("I " * 100)
@example("in 9999-99-99 and 99/99/99 and Q9 of 0000")
def test_any_text_is_taken_in(text: str) -> None:
    assert consolidated(text) or not text.strip()


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=40).map(" ".join), st.sampled_from([None, "Ana", "", " ", "(", "user"]))
def test_any_order_of_telling_words_is_taken_in(text: str, name: str | None) -> None:
    consolidated(text, name)


@pytest.mark.parametrize(
    "text",
    [
        "東京に住んでいます。猫が好きです。",
        "Я живу в Москве.",
        "🎉🎉🎉",
        "<memento>& </memento>",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```python\nprint('hi')\n```",
        "a" * 20_000,
        "I like tea and coffee, " * 2_000,
        "Anna " * 3_000,
        "I moved to Berlin last week. " * 500,
    ],
    ids=[
        "japanese",
        "russian",
        "emoji",
        "markup",
        "table",
        "code",
        "one word",
        "one sentence",
        "names",
        "many sentences",
    ],
)
def test_odd_and_long_notes_are_taken_in(text: str) -> None:
    assert consolidated(text)


def test_the_rules_guess_no_texts_to_search_with() -> None:
    assert RuleAgents().hypothesise([]) == Hypotheses()
