"""Cases from points of view: zoom, pan and tilt each change what is seen, and so does what was seen before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conftest import at
from memento.errors import InputError, NotFound
from memento.plugins.cases import navigate
from memento.plugins.cases.nouns import CaseRow, Navigated
from memento.python import Memento


@pytest.fixture
def memory(memento: Memento) -> Memento:
    """Cases about Google and about Microsoft, one about neither."""
    memento.note("I work at Google.")
    memento.note("Grace Hopper works at Microsoft.")
    names = {one.name: one.iri for one in memento.graphs.entities()}
    rows = [
        CaseRow(task="Book a room.", plan="1. Call.", outcome="success", about=(names["Google"],), at=at("2025-01-01")),
        CaseRow(task="Order lunch.", plan="1. Ask.", outcome="success", about=(names["Google"],), at=at("2025-01-02")),
        CaseRow(
            task="Book a flight.", plan="1. Look.", outcome="failure", about=(names["Microsoft"],), at=at("2025-01-03")
        ),
        CaseRow(
            task="Write to them.", plan="1. Write.", outcome="success", about=(names["Microsoft"],), at=at("2025-01-04")
        ),
        CaseRow(task="Sleep.", plan="1. Lie down.", outcome="success", at=at("2025-01-05")),
    ]
    memento.cases.add(rows)
    return memento


def seen(found: Navigated) -> list[str]:
    return [one.label for one in found.seen]


@pytest.mark.parametrize(
    ("pan", "labels"),
    [
        (("Google",), ["Order lunch.", "Book a room."]),
        (("book",), ["Book a flight.", "Book a room."]),
        (("book", "Google"), ["Book a room."]),
        (("nothing of the kind",), []),
    ],
)
def test_a_pan_leaves_what_concerns_all_of_it(pan: Sequence[str], labels: list[str], memory: Memento) -> None:
    assert seen(memory.cases.navigate(pan=pan, tilt="temporal")) == labels


def test_a_pan_over_time(memory: Memento) -> None:
    found = memory.cases.navigate(tilt="temporal", since="2025-01-02", until="2025-01-04")

    assert seen(found) == ["Book a flight.", "Order lunch."]


def test_each_tilt_has_an_order_of_its_own(memory: Memento) -> None:
    task = "Book a flight to Google."
    by = {tilt: seen(memory.cases.navigate(tilt=tilt, task=task)) for tilt in ("embedding", "keyword", "graph")}

    assert by["embedding"][0] == by["keyword"][0] == "Book a flight."
    assert set(by["graph"][:2]) == {"Book a room.", "Order lunch."}
    assert seen(memory.cases.navigate(tilt="temporal"))[0] == "Sleep."


def test_zoomed_out_one_sees_communities_of_cases_that_share_entities(memory: Memento) -> None:
    found = memory.cases.navigate(zoom="community", tilt="temporal")
    tasks = {one.iri: one.task for one in memory.cases.list()}

    assert {one.label for one in found.seen} == {"Google", "Microsoft"}
    assert sorted(sorted(tasks[case] for case in one.cases) for one in found.seen) == [
        ["Book a flight.", "Write to them."],
        ["Book a room.", "Order lunch."],
    ]


def test_zoomed_in_one_sees_the_steps_that_were_taken(memory: Memento) -> None:
    run = memory.cases.start("Book a train.")
    memory.cases.record_step(run.iri, "Find the timetable.", result="It is here.")
    memory.cases.record_step(run.iri, "Pay.", state="failed")
    done = memory.cases.complete(run.iri, "partial")
    found = memory.cases.navigate(zoom="subtask", tilt="embedding", task="Book a train.")

    assert seen(found) == ["Find the timetable.", "Pay."]
    assert {one.cases for one in found.seen} == {(done.case,)}
    assert "step 1 of its case, failed" in found.seen[1].reason


def test_what_was_seen_before_comes_a_little_earlier(memory: Memento) -> None:
    first = memory.cases.navigate(pan=("Google",), tilt="temporal")
    plain = memory.cases.navigate(tilt="embedding", task="Booking a flight or a room")
    after = memory.cases.navigate(tilt="embedding", task="Booking a flight or a room", previous=first.view)

    assert seen(plain)[0] == "Book a flight."
    assert seen(after) != seen(plain)
    assert seen(after)[0] == "Book a room."
    assert after.previous == first.view
    with pytest.raises(NotFound, match="no view"):
        memory.cases.navigate(tilt="temporal", previous="urn:memento:view:none")


def test_each_look_is_kept_and_only_so_many(memory: Memento, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(navigate, "VIEWS", 3)
    views = [memory.cases.navigate(tilt="temporal", limit=2).view for _ in range(5)]
    body, _ = memory.graphs.query_bytes(
        """PREFIX zpt: <http://purl.org/stuff/zpt/> SELECT ?view ?level (COUNT(?case) AS ?cases) {
             ?view a zpt:NavigationView ; zpt:hasZoomState/zpt:atZoomLevel ?level ; zpt:selectedCorpuscle ?case ;
               zpt:hasTiltState/zpt:withTiltProjection zpt:TemporalProjection } GROUP BY ?view ?level ORDER BY ?view""",
        accept="text/csv",
    )

    assert body.decode().split()[1:] == [f"{view},http://purl.org/stuff/zpt/UnitLevel,2" for view in views[2:]]
    assert memory.admin.check() == ()


def test_without_a_tilt_the_order_is_by_the_task_or_else_by_time(memory: Memento) -> None:
    assert seen(memory.cases.navigate())[0] == "Sleep."
    assert memory.cases.navigate(task="Book a flight.").tilt == "embedding"
    assert seen(memory.cases.navigate(task="Book a flight."))[0] == "Book a flight."


def test_a_point_of_view_that_is_none_is_refused(memory: Memento) -> None:
    with pytest.raises(InputError, match="zoom must be one of"):
        memory.cases.navigate(zoom="moon")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="by a task: give task"):
        memory.cases.navigate(tilt="embedding")
    with pytest.raises(InputError, match="limit must be"):
        memory.cases.navigate(tilt="temporal", limit=0)


def test_what_earned_more_and_what_is_looked_at_often_comes_earlier(memento: Memento) -> None:
    rows = [CaseRow(task="Book a room.", plan=f"{n}. Call.", reward=0.1) for n in (1, 2, 3)]
    first, second, third = memento.cases.add(rows)
    order = [one.iri for one in memento.cases.navigate(task="Book a room.").seen]
    run = memento.cases.start("Book it.", plan="1. Call.", retrieval=memento.cases.retrieve("Book a room.").retrieval)
    memento.cases.complete(run.iri, "failure")
    [_, other] = memento.cases.add([rows[0], CaseRow(task="Book a room.", plan="4. Ask.", reward=1.0)])
    rewarded = [one.iri for one in memento.cases.navigate(task="Book a room.", limit=1).seen]

    assert order == [first, second, third]
    assert rewarded == [other]
    for case in (third, second):
        memento.cases.forget(case)
    memento.cases.navigate(task="Book a room.", limit=1)
    assert "has earned more" in memento.cases.navigate(task="Book a room.").seen[0].reason


def test_what_was_looked_at_before_moves_the_next_look(memento: Memento) -> None:
    memento.note("I work at Google.")
    [google] = [one.iri for one in memento.graphs.entities()]
    one, other = memento.cases.add(
        [
            CaseRow(task="Book a room.", plan="1. Call.", outcome="success"),
            CaseRow(task="Book a room.", plan="1. Call.", outcome="success", about=(google,)),
        ]
    )
    before = [seen.iri for seen in memento.cases.navigate(task="Book a room.").seen]
    memento.cases.navigate(task="Book a room.", pan=("Google",))
    after = [seen.iri for seen in memento.cases.navigate(task="Book a room.").seen]

    assert (before, after) == ([one, other], [other, one])
