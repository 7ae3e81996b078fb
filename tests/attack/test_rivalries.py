"""What is erased between reading a note and writing it leaves no half link, and one of an earlier version is removed at a start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from conftest import OFFLINE
from memento.consolidation.pipeline import Resources, understand
from memento.consolidation.task import make_task
from memento.consolidation.write import Understanding, build_change, refresh_retirable
from memento.model import NoteRow
from memento.python import Memento, open_memento
from memento.settings import Settings

OLD, NEW = "The team hosts on Heroku.", "The team hosts on Hetzner."


def read_note(memento: Memento, text: str) -> Understanding:
    """What a note would change, before it is written."""
    service = memento.service
    scope, now = memento.context.scope(None, "write"), service.stores.clock()
    means = Resources(
        agents=service.new_rules(),
        parts=service.stores,
        knobs=service.settings.consolidation,
        recall=lambda text, scope: memento.recall(text),
    )
    return understand(make_task(NoteRow(content=text), scope, now, service.zone), means)


def write(understood: Understanding, memento: Memento) -> None:
    change, _ = build_change(refresh_retirable(understood, memento.service.stores))
    memento.service.stores.commit(change, understood.scope)


def test_a_rival_that_is_erased_meanwhile_leaves_no_half_rivalry(memento: Memento) -> None:
    [old] = memento.note(OLD).memories
    understood = read_note(memento, NEW)
    assert any(one.rivals for one in understood.decisions if hasattr(one, "rivals"))
    memento.forget(old, erase=True)
    write(understood, memento)

    assert memento.admin.check() == ()
    assert memento.review.disputes() == ()
    assert [one.content for one in memento.list()] == [NEW]


def test_a_rival_that_lives_is_linked(memento: Memento) -> None:
    memento.note(OLD)
    write(read_note(memento, NEW), memento)

    assert len(memento.review.disputes()) == 1
    assert memento.admin.check() == ()


def test_a_near_memory_that_is_erased_meanwhile_leaves_no_half_association(tmp_path: Path) -> None:
    near = replace(OFFLINE.consolidation, near="relate", near_related=0.1)
    settings: Settings = replace(OFFLINE, consolidation=near)
    opened = open_memento(tmp_path / "near", configured=settings)
    assert isinstance(opened, Memento)
    with opened as memento:
        [old] = memento.note("I like green tea from Japan.").memories
        understood = read_note(memento, "I like black tea from Japan.")
        assert any(understood.alike.values())
        memento.forget(old, erase=True)
        write(understood, memento)

        assert memento.admin.check() == ()
