"""What a person wrote is told from what programs add, and a person's wish from a program's own."""

from __future__ import annotations

import pytest

from memento.interfaces.proxy.dialects import is_utility, strip_programs


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("  Where do I live? ", "Where do I live?"),
        ("<memento>\n<query>x</query>\n</memento>\n\nWhere?", "Where?"),
        ("cut off</memento>\n\nWhere?", "Where?"),
        ("<system-reminder>a</system-reminder>Where?<system-reminder>b</system-reminder>", "Where?"),
        ("<SYSTEM>x</SYSTEM>Where?", "Where?"),
        ('Where? <system level="1">never closed', "Where?"),
        ("<environment_context>\n  <cwd>/</cwd>\n</environment_context>", ""),
        ("Is a < b and <b>bold</b> > c?", "Is a < b and <b>bold</b> > c?"),
        ("What is a </system> tag?", "What is a </system> tag?"),
        ("<system>a</instructions>b</system>c", "c"),
    ],
)
def test_what_programs_add_is_left_out(text: str, found: str) -> None:
    assert strip_programs(text) == found


@pytest.mark.parametrize("piece", ["<system>", "<system ", "</memento>", "<memento></system>", "generate a title "])
def test_no_text_takes_long(piece: str) -> None:
    strip_programs(piece * 50_000)  # quadratic work would hold the suite for minutes
    is_utility(piece * 50_000, piece * 90)


@pytest.mark.parametrize(
    ("question", "system"),
    [
        ("Given the above, please reply with a title for the chat that is 3-4 words in length", ""),
        ("Please write a 5-10 word title for the following conversation:\n\nUser: hi", ""),
        ("Generate a title for this conversation:", ""),
        ("### Task:\nGenerate a concise, 3-5 word title.\n### Chat History:\n<chat_history>x</chat_history>", ""),
        ("Where do I live?", "You need to summarize the user's conversation into a title within 10 words."),
        ("Where do I live?", "Analyze if this message opens a new conversation. If so, extract a 2-3 word title."),
    ],
)
def test_what_a_client_asks_for_itself_is_recognised(question: str, system: str) -> None:
    assert is_utility(question, system)


@pytest.mark.parametrize(
    ("question", "system"),
    [
        ("Give me the title of the book from our last conversation.", ""),
        ("Write a title for my blog post about my dog.", ""),
        ("Suggest a new title for my job, I had a chat with my boss.", ""),
        ("What is my job title?", "You are a helpful assistant. Keep the conversation short."),
        ("Where do I live?", "You write a title for each conversation. " + "And much more. " * 200),
    ],
)
def test_what_a_person_asks_is_a_question(question: str, system: str) -> None:
    assert not is_utility(question, system)
