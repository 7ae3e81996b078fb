"""Who waits for whom: what may take long keeps nobody from noting."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kept import keep
from memento.errors import InputError
from memento.python import Memento

SOON_S = 60.0


def run_beside(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Call in a thread; the list gets what came back, or the error."""
    answers: list[Any] = []

    def keep() -> None:
        try:
            answers.append(call())
        except Exception as error:
            answers.append(error)

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    return thread, answers


def test_a_check_waits_for_nobody_who_writes(memento: Memento) -> None:
    memento.note("I live in Lisbon.")
    with memento.service.writing:
        thread, answers = run_beside(memento.admin.check)
        thread.join(SOON_S)
    assert answers == [()]


def test_what_is_written_during_a_check_is_no_difference(memento: Memento) -> None:
    ended = threading.Event()

    def write() -> None:
        number = 0
        while not ended.wait(0.05):
            keep(memento, f"The ship {number} is in port.")
            number += 1

    thread, _ = run_beside(write)
    try:
        assert [memento.admin.check() for _ in range(3)] == [()] * 3
    finally:
        ended.set()
        thread.join(SOON_S)


def test_a_difference_that_lasts_is_found_while_others_write(memento: Memento) -> None:
    iri = keep(memento, "The ship is in port.")
    assert iri
    memento.service.stores.indexes.file.write_entries([], [iri])
    ended = threading.Event()

    def write() -> None:
        while not ended.wait(0.05):
            keep(memento, "The sea is calm.")

    thread, _ = run_beside(write)
    try:
        assert {(one.what, one.iri) for one in memento.admin.check()} == {("missing-vector", iri)}
    finally:
        ended.set()
        thread.join(SOON_S)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_note_is_taken_while_a_patch_is_written_into_a_slow_folder(memento: Memento, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    machine = memento.admin.sync(shared).machine
    memento.note("I live in Lisbon.")
    number = len(list(shared.glob("*.trig")))
    pipe = shared / f"{machine}-{number + 1:06}.part"
    os.mkfifo(pipe)  # whoever opens it to write waits until somebody reads
    syncing, answers = run_beside(lambda: memento.admin.sync(shared))
    noting, noted = run_beside(lambda: memento.note("I work at Google."))
    noting.join(SOON_S)
    was_waiting = syncing.is_alive()
    end = os.open(pipe, os.O_RDWR)
    syncing.join(SOON_S)
    os.close(end)
    assert was_waiting and len(noted) == 1 and noted[0].memories
    assert isinstance(answers[0], InputError)  # a pipe is no file that lasts: nothing was sent
    pipe.unlink()
    assert memento.admin.sync(shared).sent > 0 and len(list(shared.glob("*.trig"))) == number + 1
