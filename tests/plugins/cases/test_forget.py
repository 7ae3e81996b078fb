"""What goes, and what goes with it: forgotten, erased and pruned cases, old look-ups, and cases made with an erased memory."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import OFFLINE
from memento.archive.cases import weights_path
from memento.errors import NotFound
from memento.iris import cases_iri
from memento.model import ToolCall
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.cases.settings import CasesSettings
from memento.python import Memento, open_memento
from memento.settings import Settings
from memento.time import now

SECRET = "Snollygoster"
GRAPH = cases_iri("local", "main")


def said(memento: Memento) -> str:
    """Everything that the graph says of cases."""
    return str(
        [
            quad
            for graph in memento.service.stores.graph.graphs()
            for quad in memento.service.stores.graph.quads(graph)
            if "cases" in graph
        ]
    )


def carried_out(memento: Memento, **how: object) -> str:
    """A finished task that tells a secret everywhere; its case."""
    found = memento.cases.retrieve(f"Feed the {SECRET}.")
    run = memento.cases.start(found.task, retrieval=found.retrieval, **how)  # type: ignore[arg-type]
    call = ToolCall(tool="feed", arguments=f'{{"who": "{SECRET}"}}', result=f"{SECRET} is fed.")
    memento.cases.record_step(run.iri, f"Find the {SECRET}.", result=f"The {SECRET} is here.", tools=[call])
    return memento.cases.complete(run.iri, "success", reason=f"The {SECRET} said so.").case


def test_a_forgotten_case_is_shown_no_more_and_stays_in_the_graph(memento: Memento) -> None:
    case = carried_out(memento)
    memento.cases.forget(case)
    memento.cases.forget(case)

    assert memento.cases.retrieve(f"Feed the {SECRET}.").positives == ()
    assert memento.cases.list() == ()
    assert memento.cases.get(case).expired_at is not None
    with pytest.raises(NotFound):
        memento.cases.forget("urn:memento:case:none")


def test_an_erased_case_leaves_no_word(memento: Memento) -> None:
    case = carried_out(memento)
    later = memento.cases.retrieve("Feed somebody else.")
    memento.cases.forget(case, erase=True)

    assert [one.iri for one in later.positives] == [case]
    assert SECRET not in said(memento)
    assert memento.service.stores.indexes.file.find(case) is None  # type: ignore[arg-type]
    assert memento.datadir.erasure_mark.exists()
    assert not weights_path(GRAPH, memento.datadir).exists()
    assert memento.admin.check() == ()
    with pytest.raises(NotFound):
        memento.cases.get(case)


def test_forgetting_a_memory_leaves_the_case_that_used_it(memento: Memento) -> None:
    noted = memento.note(f"I have a {SECRET}.")
    case = carried_out(memento, derived_from=noted.memories)
    gone = memento.forget(noted.memories[0])

    assert gone.cases == ()
    assert memento.cases.retrieve("Feed it.").positives[0].iri == case


@pytest.mark.parametrize("of_note", [False, True])
def test_erasing_a_memory_takes_the_cases_made_with_it_along(of_note: bool, memento: Memento) -> None:
    noted = memento.note(f"I have a {SECRET}.")
    assert noted.note
    other = memento.cases.add([CaseRow(task="Feed the cat.", plan="1. Feed it.", outcome="success")])
    case = carried_out(memento, derived_from=(*noted.memories, noted.note))
    memento.cases.start(f"Feed the {SECRET} again.", plan=f"1. Call the {SECRET}.", derived_from=noted.memories)
    gone = memento.forget(noted.note if of_note else noted.memories[0], erase=True)

    assert gone.cases == (case,)
    assert SECRET not in said(memento)
    assert [one.iri for one in memento.cases.list()] == [*other]
    assert memento.admin.check() == ()


def opened(path: Path, cases: CasesSettings) -> Memento:
    memento = open_memento(path / "home", configured=Settings(embedding=OFFLINE.embedding).having(cases))
    assert isinstance(memento, Memento)
    return memento


def test_the_least_valuable_cases_go_when_there_are_too_many(tmp_path: Path) -> None:
    ages = [("new and good", 1.0, 0), ("old and good", 1.0, 400), ("new and bad", 0.1, 0), ("older", 0.9, 30)]
    rows = [
        CaseRow(task=task, plan="1. Do.", reward=reward, at=now() - timedelta(days=days)) for task, reward, days in ages
    ]
    with opened(tmp_path, CasesSettings(limit=2)) as memento:
        memento.cases.add(rows[:2])
        memento.cases.add(rows[2:])

        assert {one.task for one in memento.cases.list()} == {"new and good", "older"}
        assert "old and good" not in said(memento)
        assert memento.admin.check() == ()


def test_the_only_case_of_a_domain_is_never_pruned(tmp_path: Path) -> None:
    with opened(tmp_path, CasesSettings(limit=1)) as memento:
        memento.cases.add([CaseRow(task="First", plan="1. Do.", reward=-0.2)])
        memento.cases.add([CaseRow(task="Second", plan="1. Do.", reward=0.5)], domain="other")
        run = memento.cases.start("Third", plan="1. Do.")
        done = memento.cases.complete(run.iri, "failure")

        assert len(done.pruned) == 1
        assert len(memento.cases.list()) == 1
        assert len(memento.cases.list(domain="other")) == 1


def test_the_oldest_look_ups_go_when_there_are_too_many(tmp_path: Path) -> None:
    with opened(tmp_path, CasesSettings(retrievals=100)) as memento:
        memento.cases.add([CaseRow(task="Feed the cat.", plan="1. Feed it.", outcome="success")])
        first = memento.cases.retrieve("Feed the dog.")
        run = memento.cases.start("Feed the dog.", plan="1. Feed it.", retrieval=first.retrieval)
        for number in range(125):
            memento.cases.retrieve(f"Feed number {number}.")
        body, _ = memento.graphs.query_bytes(
            "SELECT (COUNT(*) AS ?n) { ?r a <http://purl.org/memento/CaseRetrieval> }", accept="text/csv"
        )

        assert 100 <= int(body.split()[-1]) <= 120
        assert "Feed number 0." not in said(memento)
        assert memento.cases.complete(run.iri, "success").credited is None
        assert memento.admin.check() == ()


@pytest.mark.parametrize(
    ("strategy", "stays"), [("value", "new"), ("oldest", "new"), ("unused", "shown"), ("reward", "old and good")]
)
def test_the_cases_that_go_are_those_that_the_strategy_names(strategy: Any, stays: str, memento: Memento) -> None:
    rows = [("old and good", 1.0, 400), ("shown", 0.6, 300), ("new", 0.8, 0)]
    [_, shown, _] = memento.cases.add(
        [
            CaseRow(task=task, plan="1. Do.", reward=reward, at=now() - timedelta(days=days))
            for task, reward, days in rows
        ]
    )
    found = memento.cases.retrieve("shown", k=1)
    assert found.retrieval and found.positives[0].iri == shown
    memento.cases.reward(found.retrieval, "success")
    gone = memento.cases.prune(1, strategy=strategy)

    assert len(gone) == 2
    assert [one.task for one in memento.cases.list()] == [stays]
