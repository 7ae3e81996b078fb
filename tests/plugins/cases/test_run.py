"""How a task is carried out: steps in order, taken up again after a restart, and a case in the end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import OFFLINE
from memento.errors import Conflict, InputError, NotFound
from memento.graph.runs import pack_steps, unpack_steps
from memento.model import TaskStep, ToolCall
from memento.plugins.cases.nouns import CaseRow
from memento.plugins.cases.settings import CasesSettings
from memento.python import Memento, open_memento

LONG = "Brazil came out in 1985. " * 60
CALL = ToolCall(tool="look_up", arguments='{"title": "Brazil"}', result=LONG)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def test_one_task_fills_all_four_kinds_of_memory(memento: Memento) -> None:
    """Case, subtask and tool memory, and the notes that the task used."""
    noted = memento.note("I like films from Brazil.")
    run = memento.cases.start("Which film came out first, Alien or Brazil?", derived_from=noted.memories)
    memento.cases.record_step(run.iri, "Look up Brazil.", result=LONG, tools=[CALL])
    done = memento.cases.complete(run.iri, "success")
    body, _ = memento.graphs.query_bytes(
        """PREFIX mem: <http://purl.org/memento/> PREFIX prov: <http://www.w3.org/ns/prov#>
        ASK { ?case a mem:Case ; mem:hasTrajectory/mem:hasSubtask ?step ; prov:wasDerivedFrom ?memory .
              ?step a mem:SubtaskRecord ; mem:hasToolCall/mem:tool "look_up" . ?memory a mem:Memory }"""
    )

    assert b"true" in body
    assert memento.cases.get(done.case).derived_from == noted.memories
    assert memento.admin.check() == ()


def test_a_case_is_a_corpuscle_whose_parts_a_query_finds(memento: Memento) -> None:
    run = memento.cases.start("Which film came out first?", plan="1. Look up both.")
    memento.cases.record_step(run.iri, "Look up Brazil.", tools=[CALL])
    memento.cases.complete(run.iri, "success")
    prefixes = "PREFIX mem: <http://purl.org/memento/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    kinds, _ = memento.graphs.query_bytes(
        prefixes + "ASK { GRAPH ?g { mem:Case rdfs:subClassOf <http://purl.org/stuff/ragno/Corpuscle> } }"
    )
    parts, _ = memento.graphs.query_bytes(
        prefixes
        + """SELECT ?task ?reward { ?case a mem:Case ; mem:hasState/mem:content ?task ; mem:hasReward ?reward ;
               mem:hasAction/mem:content ?plan ; mem:timestamp ?at ; mem:hasTrajectory/mem:hasSubtask ?step }""",
        accept="text/csv",
    )

    assert b"true" in kinds
    assert parts.decode().split() == ["task,reward", "Which", "film", "came", "out", "first?,1"]


def test_steps_keep_their_order_and_their_texts(memento: Memento) -> None:
    run = memento.cases.start("Which film came out first?", plan="1. Look up both. 2. Compare.")
    memento.cases.record_step(run.iri, "Look up Alien.", result="1979")
    memento.cases.record_step(run.iri, "Look up Brazil.", state="pending", tools=[CALL])
    memento.cases.record_step(run.iri, "Compare.", result="Alien")
    memento.cases.record_step(run.iri, "Look up Brazil.", step=1, result=LONG, tools=[CALL, CALL])
    told = memento.cases.task_run(run.iri)

    assert [step.task for step in told.steps] == ["Look up Alien.", "Look up Brazil.", "Compare."]
    assert told.steps[1] == TaskStep(
        step=1, task="Look up Brazil.", state="done", result=LONG.strip() and LONG, tools=(CALL, CALL)
    )
    assert (told.state, told.case, told.plan) == ("pending", None, "1. Look up both. 2. Compare.")


def test_a_finished_run_is_packed_and_its_steps_are_shortened_for_sparql(memento: Memento) -> None:
    run = memento.cases.start("Which film came out first?")
    before = memento.cases.record_step(run.iri, "Look up Brazil.", result=LONG, tools=[CALL])
    done = memento.cases.complete(run.iri, "success")
    after = memento.cases.task_run(run.iri)
    body, _ = memento.graphs.query_bytes(
        "SELECT ?text { ?x <http://purl.org/memento/result> ?text }", accept="text/csv"
    )

    assert after.steps == before.steps
    assert (after.state, after.case) == ("done", done.case)
    assert memento.cases.get(done.case).steps == before.steps
    assert max(map(len, body.decode().splitlines())) <= memento.settings.of(CasesSettings).record_chars
    assert memento.admin.check() == ()


def test_a_run_is_taken_up_again_by_another_process(memento: Memento) -> None:
    run = memento.cases.start("Which film came out first?")
    memento.cases.record_step(run.iri, "Look up Brazil.", result="1985")
    memento.close()
    with open_memento(memento.datadir.path, configured=OFFLINE) as again:
        assert isinstance(again, Memento)
        told = again.cases.record_step(run.iri, "Compare.", result="Brazil")
        done = again.cases.complete(run.iri, "partial", score=1.0)

        assert [step.task for step in told.steps] == ["Look up Brazil.", "Compare."]
        assert again.cases.get(done.case).plan == "1. Look up Brazil.\n2. Compare."
        assert done.reward == pytest.approx(2 / 3)


def test_completing_tells_the_cases_that_were_shown_and_shows_the_new_one_next_time(memento: Memento) -> None:
    memento.cases.add([CaseRow(task="Which film came out first, Alien or Dune?", plan="1. Look.", outcome="success")])
    found = memento.cases.retrieve("Which film came out first, Alien or Brazil?")
    run = memento.cases.start(found.task, plan="1. Look up both.", retrieval=found.retrieval)
    done = memento.cases.complete(run.iri, "failure", reason="It was the wrong one.")
    again = memento.cases.retrieve(found.task)

    assert done.credited is not None
    assert done.credited.cases == (found.positives[0].iri,)
    assert again.positives[0].earned == -0.2
    assert [(one.iri, one.plan) for one in again.negatives] == [(done.case, "1. Look up both.")]
    assert [(v.reward, v.outcome, v.reason) for v in memento.cases.get(done.case).verdicts] == [
        (-0.2, "failure", "It was the wrong one.")
    ]


def test_a_run_that_cannot_go_on_says_why(memento: Memento) -> None:
    run = memento.cases.start("Which film came out first?")
    with pytest.raises(InputError, match="needs a plan"):
        memento.cases.complete(run.iri, "success")
    with pytest.raises(InputError, match="a reward or a judge's score"):
        memento.cases.complete(run.iri)
    memento.cases.complete(run.iri, "success", plan="1. Look.")

    with pytest.raises(Conflict, match="complete already"):
        memento.cases.complete(run.iri, "success")
    with pytest.raises(Conflict, match="complete already"):
        memento.cases.record_step(run.iri, "Look again.")
    with pytest.raises(NotFound, match="no run"):
        memento.cases.task_run("urn:memento:trajectory:none")
    with pytest.raises(NotFound, match="no retrieval"):
        memento.cases.start("A task", retrieval="urn:memento:retrieval:none")


@given(st.lists(st.tuples(TEXT, st.none() | TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=3)), max_size=5))
def test_packing_loses_nothing(rows: list[tuple[str, str | None, list[tuple[str, str]]]]) -> None:
    steps = tuple(
        TaskStep(
            step=place,
            task=task,
            state="done",
            result=result,
            tools=tuple(ToolCall(tool=tool, arguments=arguments) for tool, arguments in calls),
        )
        for place, (task, result, calls) in enumerate(rows)
    )

    assert unpack_steps(pack_steps(steps)) == steps
