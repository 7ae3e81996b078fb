"""A dry run of a note: it says what would become of it, and leaves the memory as it was."""

from __future__ import annotations

from memento.python import Memento


def test_a_dry_run_says_what_a_note_would_become_and_writes_nothing(memento: Memento) -> None:
    memento.note("I work at Google.")
    before = memento.service.stores.graph.writes

    tried = memento.note("I work at Microsoft since May 2025.", dry_run=True)

    assert tried.note is None and tried.memories == () and tried.skipped is None
    [reading] = tried.readings
    assert reading.content == "I work at Microsoft since May 2025."
    assert reading.about == ("USER", "Microsoft")
    assert reading.valid_at and (reading.valid_at.year, reading.valid_at.month) == (2025, 5)
    assert reading.retires == ("I work at Google.",)
    assert (reading.relation, reading.value) == ("work at", "Microsoft")
    assert memento.service.stores.graph.writes == before
    assert memento.status().memories == 1


def test_a_dry_run_names_the_words_that_would_end_of_a_memory_that_holds_on(memento: Memento) -> None:
    memento.note("I live in Lisbon. I work at Google.")
    [reading] = memento.note("I work at Microsoft.", dry_run=True).readings
    assert reading.retires == ("I work at Google",)


def test_a_dry_run_of_what_is_known_says_so(memento: Memento) -> None:
    memento.note("I work at Google.")
    tried = memento.note("I work at Google.", dry_run=True)
    assert tried.readings == () and tried.skipped == "it is already known"
