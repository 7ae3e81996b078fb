"""A memory is said better, and an invalidation is taken back; history stays readable."""

from __future__ import annotations

import pytest

from conftest import at
from memento.errors import InputError, NotFound
from memento.iris import MEM
from memento.python import Memento
from understanding import contents


def test_a_correction_takes_the_place_of_what_never_was_true(memento: Memento) -> None:
    noted = memento.note("I work at Gogle.", at="2024-03-01")
    done = memento.correct(noted.memories[0], "I work at Google.")

    assert done.invalidated == noted.memories
    assert contents(memento) == {"I work at Google."}
    [found] = memento.recall("Where do I work?", as_of="2024-06-01", gate=False).memories
    assert found.content == "I work at Google."
    assert found.valid_at == at("2024-03-01")
    assert (str(MEM.supersedes), noted.memories[0]) in memento.get(done.memories[0]).properties
    assert memento.admin.check() == ()


def test_a_correction_may_say_since_when(memento: Memento) -> None:
    noted = memento.note("I live in Paris.", at="2024-03-01")
    done = memento.correct(noted.memories[0], "I live in Rome.", at="2024-01-01")

    assert dict(memento.get(done.memories[0]).properties)[MEM.validAt] == "2024-01-01T00:00:00Z"
    assert memento.admin.check() == ()


def test_what_is_over_is_corrected_as_what_is_over(memento: Memento) -> None:
    old = memento.note("I work at Gogle.", at="2019-03-01").memories[0]
    memento.note("I work at Microsoft.", at="2024-03-01")
    memento.correct(old, "I work at Google.")

    assert contents(memento) == {"I work at Microsoft."}
    [then] = [one.content for one in memento.recall("Where do I work?", as_of="2020-01-01", gate=False).memories]
    assert then == "I work at Google."
    assert memento.admin.check() == ()


def test_a_text_without_a_name_is_about_what_the_memory_was_about(memento: Memento) -> None:
    old = memento.note("Anna works at Siemens.").memories[0]
    new = memento.correct(old, "she does not work").memories[0]
    about = {value for name, value in memento.get(old).properties if name == MEM.about}

    assert about
    assert {
        value for name, value in memento.get(new).properties if name == MEM.about
    } >= about or memento.admin.check() == ()


def test_what_cannot_be_corrected_is_refused_with_what_to_do(memento: Memento) -> None:
    old = memento.note("I like tea.").memories[0]

    with pytest.raises(InputError, match="already"):
        memento.correct(old, "I like tea.")
    new = memento.correct(old, "I like coffee.").memories[0]
    with pytest.raises(InputError, match=f"<{new}> says this already"):
        memento.correct(old, "I like coffee.")  # an old name leads to what took its place
    with pytest.raises(InputError, match=f"<{new}> says this already"):
        memento.correct(new, "I like coffee.")
    memento.forget(new)
    for gone in (new, "urn:memento:memory:none", "nonsense"):
        with pytest.raises(NotFound):
            memento.correct(gone, "I like cake.")


@pytest.mark.parametrize("by", ["memory", "invalidation"])
def test_an_invalidation_is_taken_back(memento: Memento, by: str) -> None:
    old = memento.note("I work at Google.", at="2020-01-01").memories[0]
    new = memento.note("I work at Microsoft.", at="2024-01-01")
    invalidation = next(s for s, name in memento.get(old).pointed_at_by if name == MEM.invalidated)
    done = memento.undo(old if by == "memory" else invalidation)

    assert (done.restored, done.invalidator, done.invalidation) == (old, new.memories[0], invalidation)
    assert contents(memento) == {"I work at Google.", "I work at Microsoft."}
    assert memento.admin.check() == ()
    with pytest.raises(NotFound):
        memento.undo(old)
    with pytest.raises(NotFound):
        memento.get(invalidation)


def test_what_two_have_retired_ends_with_the_other_when_one_is_taken_back(memento: Memento) -> None:
    old = memento.note("I work at Siemens.", at="2019-01-01").memories[0]
    memento.note("I work at Microsoft.", at="2025-01-01")
    between = memento.note("I work at Google.", at="2021-01-01").memories[0]
    assert dict(memento.get(old).properties)[MEM.invalidAt] == "2021-01-01T00:00:00Z"
    done = memento.undo(old)

    assert done.invalidator == between
    assert dict(memento.get(old).properties)[MEM.invalidAt] == "2025-01-01T00:00:00Z"
    assert memento.admin.check() == ()


def test_what_is_retired_again_was_believed_until_then(memento: Memento) -> None:
    old = memento.note("I work at Google.", at="2020-01-01").memories[0]
    memento.note("I work at Microsoft.", at="2024-01-01")
    memento.undo(old)
    restored = memento.status()
    memento.note("I work at Acme.", at="2025-01-01")

    assert restored.current == 2
    assert memento.admin.check() == ()
    with pytest.raises(NotFound):
        memento.undo("nonsense")
