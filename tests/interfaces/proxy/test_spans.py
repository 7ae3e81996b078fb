"""Whatever a document looks like, what is put in can be taken out again, and it means what it meant besides."""

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
    items,
    members,
    read_conversation,
    splice_in,
)

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


@settings(max_examples=60, deadline=None)
@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_every_value_is_found_where_it_is_written(value: object, ascii: bool, indent: int | None) -> None:
    text, whole = document(json.dumps(value, ensure_ascii=ascii, indent=indent).encode("utf-8", "surrogatepass"))

    assert whole.value == value
    if isinstance(value, dict):
        assert {key: json.loads(text[one.start : one.end]) for key, one in members(text, whole).items()} == value
    if isinstance(value, list):
        assert [json.loads(text[one.start : one.end]) for one in items(text, whole)] == value


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=60, deadline=None)
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
