"""Reading a request as a conversation: what a person wrote out of what programs added, and where a block can stand in the text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento.interfaces.proxy.dialects import (
    CHAT,
    RESPONSES,
    Splice,
    Unreadable,
    document,
    is_utility,
    items,
    members,
    read_conversation,
    splice_in,
    strip_programs,
)


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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TEXTS = st.text().map(lambda words: f"Hello {words}")
BLOCKS = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
    | st.fixed_dictionaries({"type": st.just("image"), "source": JSON}),
    max_size=4,
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "tool"]), "content": TEXTS | BLOCKS},
    optional={"name": st.text(), "x": JSON},
)
BODY = st.fixed_dictionaries({"messages": st.lists(MESSAGE, max_size=5)}, optional={"model": st.text(), "x": JSON})


@settings(max_examples=60)
@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_every_value_is_found_where_it_is_written(value: object, ascii: bool, indent: int | None) -> None:
    text, whole = document(json.dumps(value, ensure_ascii=ascii, indent=indent).encode("utf-8", "surrogatepass"))

    assert whole.value == value
    if isinstance(value, dict):
        assert {key: json.loads(text[one.start : one.end]) for key, one in members(text, whole).items()} == value
    if isinstance(value, list):
        assert [json.loads(text[one.start : one.end]) for one in items(text, whole)] == value


@settings(max_examples=60)
@given(BODY, st.booleans(), st.sampled_from([None, 2]), st.booleans(), st.booleans())
def test_a_block_can_be_taken_out_again(
    body: dict[str, list[dict[str, object]]], ascii: bool, indent: int | None, marked: bool, behind: bool
) -> None:
    given = ("\ufeff" if marked else "") + json.dumps(body, ensure_ascii=ascii, indent=indent)
    conversation = read_conversation(given.encode(), CHAT, "me")
    splices = [splice for turn in conversation.turns for splice in turn.place.splices("BLO\\nCK é", behind, "text")]
    changed = splice_in(conversation.text, splices)

    restored = changed.decode()
    for splice in sorted(splices):
        assert restored[splice.at : splice.at + len(splice.text)] == splice.text
        restored = restored[: splice.at] + restored[splice.at + len(splice.text) :]
    assert restored == given
    assert json.loads(changed.decode().removeprefix("\ufeff")).keys() == body.keys()
    people = [one for one in body["messages"] if one["role"] == "user" and "Hello" in json.dumps(one["content"])]
    assert len(conversation.turns) == len(people)
    assert changed.decode().count("BLO\\nCK é") == len(people)


@settings(max_examples=60)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_what_is_no_request_is_unreadable_and_nothing_else(body: bytes) -> None:
    for dialect in (CHAT, RESPONSES):
        with pytest.raises(Unreadable):
            read_conversation(body, dialect, "me")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"{}x", b'{"a":1,}', b"[1,]", b"{'a':1}", b'{"a" 1}', b'"\x00"', b"[" * 200_000, b"\xff"]
)
def test_broken_documents_are_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        document(body)


def test_splices_go_in_by_their_place() -> None:
    assert splice_in("abcd", [Splice(3, "2"), Splice(1, "1")]) == b"a1bc2d"


def test_a_key_that_comes_twice_is_refused_only_where_it_matters() -> None:
    text, whole = document(b'{"a": {"b": 1, "b": 2}, "c": 3}')
    found = members(text, whole)

    assert found["c"].value == 3
    with pytest.raises(Unreadable, match="twice"):
        members(text, found["a"])
