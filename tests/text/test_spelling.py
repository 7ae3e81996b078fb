"""How far two words are from each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memento.text.spelling import count_edits


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_the_distance_of_words_is_symmetric_and_bounded(one: str, other: str) -> None:
    far = count_edits(one, other, 6)

    assert far == count_edits(other, one, 6)
    assert abs(len(one) - len(other)) <= far <= max(len(one), len(other))
    assert (far == 0) == (one == other)
    assert count_edits(one, other, max(far - 1, 0)) == (0 if far == 0 else max(far, 1))
