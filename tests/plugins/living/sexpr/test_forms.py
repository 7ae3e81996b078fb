"""The reader: every form, every place, every mistake; and that what is printed reads back as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento.errors import InputError, TooLong
from memento.plugins.living.sexpr.forms import DEEPEST, MOST_CHARS, Form, Symbol, print_form, read_forms

ATOMS = (
    st.none()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.sampled_from(["recall", "decay!", "a-b", "set-policy", "true"]).map(Symbol)
)
FORMS = st.recursive(ATOMS.map(Form), lambda inner: st.lists(inner, max_size=4).map(lambda some: Form(tuple(some))))


@given(st.lists(FORMS, max_size=4))
def test_what_is_printed_reads_back_as_the_same(forms: list[Form]) -> None:
    assert list(read_forms("\n".join(map(print_form, forms)))) == forms


@given(st.text(max_size=60) | st.text('()";\\ \nab1-.', max_size=60))
def test_no_text_ends_in_anything_but_forms_or_an_error_with_its_place(text: str) -> None:
    try:
        read_forms(text)
    except InputError as error:
        assert str(error).startswith("line ")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3", -3),
        ("+4", 4),
        ("2.50", 2.5),
        ("-1e3", -1000.0),
        ("nil", None),
        ('"a \\"b\\" \\n \\u00e9"', 'a "b" \n é'),
        ("decay!", Symbol("decay!")),
        ('"two\nlines"', "two\nlines"),
    ],
)
def test_an_atom_is_read(text: str, value: object) -> None:
    [form] = read_forms(text)

    assert form.value == value


def test_lists_nest_and_comments_are_passed_over() -> None:
    [form] = read_forms('(associate ; from here\n  "a" (list "b" (list)) ;; to there\n)')

    assert form == Form(
        (Form(Symbol("associate")), Form("a"), Form((Form(Symbol("list")), Form("b"), Form((Form(Symbol("list")),)))))
    )


def test_every_form_knows_its_place() -> None:
    [form] = read_forms('(recall\n   "tea"\n 3)')
    assert isinstance(form.value, tuple)

    assert [one.position for one in form.value] == ["line 1, column 2", "line 2, column 4", "line 3, column 2"]


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("(recall", "line 1, column 1", "does not end"),
        ('(recall\n "tea', "line 2, column 2", "close it with"),
        ("(a))", "line 1, column 4", "closes nothing"),
        ("(recall 3abc)", "line 1, column 9", "neither a number nor a name"),
        ('(recall "\\q")', "line 1, column 9", "is no escape"),
        ('"\\ud800"', "line 1, column 1", "is no escape"),
        ("1e999", "line 1, column 1", "too large"),
        ("(" * (DEEPEST + 1), f"line 1, column {DEEPEST + 1}", "deeper than"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, place: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_forms(text)

    assert str(caught.value).startswith(place)


def test_a_text_without_end_is_refused_unread() -> None:
    with pytest.raises(TooLong, match="4,000,000"):
        read_forms(" " * (MOST_CHARS + 1))
