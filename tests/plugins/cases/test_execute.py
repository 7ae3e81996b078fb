"""Plans carried out against a real MCP server: done, failed, planned again, stopped at each limit, gone on from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memento.access import Access
from memento.errors import Conflict, Forbidden, InputError, NotFound, SettingsError, ToolError
from memento.model import TaskStep, ToolCall
from memento.plugins.cases import plan
from memento.plugins.cases.nouns import CaseRow, Executed
from memento.python import Memento
from planned import Opened, asking
from scripted import Asked, ScriptedModel

COPY = ('read_file {"path": "a.txt"}', 'append_line {"path": "log.txt", "line": "{{1}}!"}')
Json = dict[str, Any]


def carried_out(memento: Memento, task: str, *steps: str, **how: Any) -> Executed:
    return memento.cases.execute_task(memento.cases.plan_task(task, steps=steps).run.iri, **how)


@pytest.fixture
def thinking() -> Iterator[Callable[[Callable[[Asked], Any]], ScriptedModel]]:
    models: list[ScriptedModel] = []

    def started(script: Callable[[Asked], Any]) -> ScriptedModel:
        models.append(ScriptedModel(script).__enter__())
        return models[-1]

    yield started
    for model in models:
        model.__exit__(None, None, None)


def test_steps_that_are_calls_are_made_one_after_the_other_and_become_a_case(opening: Opened, folder: Path) -> None:
    memento = opening()
    done = carried_out(memento, "Copy a.txt to the log.", *COPY)
    [first, second] = done.run.steps

    assert (done.ending, done.answer, done.calls) == ("done", "added to log.txt", 2)
    assert (folder / "log.txt").read_text() == "hello!\n"
    assert (first.result, first.tools[0].arguments) == ("hello", '{"path": "a.txt"}')
    assert json.loads(second.tools[0].arguments)["line"] == "hello!"
    assert second.tools[0].at is not None and second.tools[0].took_ms is not None
    assert done.completed is not None and 0.9 < done.completed.reward <= 1
    kept = memento.cases.get(done.completed.case)
    assert kept.plan.splitlines()[0] == f"1. {COPY[0]}"
    assert kept.steps == done.run.steps
    assert memento.admin.check() == ()


def test_the_next_task_follows_the_case_and_its_reward_goes_back_to_it(opening: Opened, folder: Path) -> None:
    memento = opening()
    first = carried_out(memento, "Copy a.txt to the log.", *COPY)
    planned = memento.cases.plan_task("Copy b.txt to the log.")
    done = memento.cases.execute_task(planned.run.iri)

    assert planned.by == "template"
    assert (folder / "log.txt").read_text() == "hello!\ngoodbye!\n"
    assert done.completed is not None and first.completed is not None
    assert done.completed.credited is not None
    assert done.completed.credited.cases == (first.completed.case,)
    assert memento.cases.get(first.completed.case).uses == 1


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ('read_file {"path": "none.txt"}', "Error executing tool read_file"),
        ("read_file {}", "path"),
    ],
)
def test_a_step_that_fails_says_why_and_the_rest_is_passed_over(
    step: str, told: str, opening: Opened, folder: Path
) -> None:
    done = carried_out(opening(), "Try.", step, COPY[0])

    assert done.ending == "failed"
    assert told in done.reason
    assert [one.state for one in done.run.steps] == ["failed", "skipped"]
    assert done.completed is not None and done.completed.reward == -0.2


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("fly {}", "there is no tool 'fly': there are list_files, read_file"),
        ("Say hello.", "no model to carry out a step in words: set provider and model of [model]"),
        ('append_line {"path": "log.txt", "line": "{{7}}"}', "needs the result of step 7"),
    ],
)
def test_what_cannot_be_tried_stops_the_task_and_is_no_failure(
    step: str, told: str, opening: Opened, folder: Path
) -> None:
    memento = opening()
    stopped = carried_out(memento, "Try.", COPY[0], step)

    assert (stopped.ending, stopped.completed, stopped.run.state) == ("stopped", None, "pending")
    assert "step 2 cannot be tried: " in stopped.reason and told in stopped.reason
    assert [one.state for one in stopped.run.steps] == ["done", "pending"]
    assert memento.cases.list() == ()
    memento.cases.record_step(stopped.run.iri, 'read_file {"path": "b.txt"}', state="pending", step=1)
    assert memento.cases.execute_task(stopped.run.iri).answer == "goodbye"


def test_without_server_and_model_a_plan_waits_and_its_cases_are_not_blamed(opening: Opened, folder: Path) -> None:
    memento = opening(servers="")
    [shown] = memento.cases.add([CaseRow(task="Read a.txt.", plan=f"1. {COPY[0]}", outcome="success")])
    planned = memento.cases.plan_task("Read b.txt.")
    stopped = memento.cases.execute_task(planned.run.iri)

    assert (stopped.ending, stopped.calls, stopped.completed) == ("stopped", 0, None)
    assert "there is no tool 'read_file': no server is configured in [executor.servers]" in stopped.reason
    assert memento.cases.get(shown).uses == 0
    assert memento.cases.complete(planned.run.iri, "success").credited is not None


def test_after_a_failure_the_plan_of_another_case_is_tried(opening: Opened, folder: Path) -> None:
    memento = opening()
    first = carried_out(memento, "Show a.txt.", COPY[0])
    done = carried_out(memento, "Show b.txt.", 'read_file {"path": "gone.txt"}')

    assert done.ending == "done"
    assert [(one.cycle, one.state) for one in done.run.steps] == [(1, "failed"), (2, "done")]
    assert done.answer == "goodbye"
    assert first.completed is not None and done.completed is not None and done.completed.credited is not None
    assert done.completed.credited.cases == (first.completed.case,)


def test_a_model_plans_acts_and_answers(opening: Opened, folder: Path, thinking: Any) -> None:
    def script(asked: Asked) -> Json:
        if asked.form == "Plan":
            if "# Steps so far" in asked.user:
                return {"plan": [], "finalAnswer": "It says hello.", "solved": True}
            return {"plan": [{"id": 1, "description": "Read a.txt."}, {"id": 2, "description": "Log what it says."}]}
        if "# Calls so far" in asked.user:
            return {"action": "done", "result": "hello" if "Read" in asked.user.partition("# Step\n")[2] else "logged"}
        if "# Step\n\nRead a.txt." in asked.user:
            return {"action": "call", "tool": "read_file", "arguments": '{"path": "a.txt"}'}
        assert "done: hello" in asked.user
        return {"action": "call", "tool": "append_line", "arguments": '{"path": "log.txt", "line": "hello"}'}

    model = thinking(script)
    memento = opening(asking(model))
    done = memento.cases.execute_task(memento.cases.plan_task("What does a.txt say? Log it.").run.iri)

    assert (done.ending, done.answer, done.reason) == ("done", "It says hello.", "answered")
    assert (folder / "log.txt").read_text() == "hello\n"
    assert [one.result for one in done.run.steps] == ["hello", "logged", "It says hello."]
    assert (done.calls, done.tokens) == (2, 5 * 120)
    assert done.completed is not None
    assert memento.cases.get(done.completed.case).plan == "1. Read a.txt.\n2. Log what it says."


def test_a_model_plans_again_after_a_failure_and_gives_up_after_the_last_plan(
    opening: Opened, folder: Path, thinking: Any
) -> None:
    def script(asked: Asked) -> Json:
        if asked.form == "Plan":
            number = asked.user.count("failed: ") + 1
            return {"plan": [{"id": 1, "description": f"Try way {number}."}]}
        return {"action": "failed", "result": "the door is shut"}

    done = carried_out(opening(asking(thinking(script)), cycles=3), "Open it.", "Try way 0.")

    assert done.ending == "failed"
    assert "the door is shut (plan 3 of at most 3)" in done.reason
    assert [(one.task, one.cycle) for one in done.run.steps] == [
        ("Try way 0.", 1),
        ("Try way 2.", 2),
        ("Try way 3.", 3),
    ]


def test_a_move_that_names_no_tool_or_no_object_is_sent_back(opening: Opened, folder: Path, thinking: Any) -> None:
    moves = iter(
        [
            {"action": "call", "tool": "fly", "arguments": "{}"},
            {"action": "call", "tool": "list_files", "arguments": "[]"},
            {"action": "done", "result": "looked"},
        ]
    )
    model = thinking(
        lambda asked: next(moves) if asked.form == "Move" else {"plan": [], "finalAnswer": "ok", "solved": False}
    )
    settings = asking(model)
    done = carried_out(opening(type(settings)(**{**as_dict(settings), "max_retries": 3})), "Look.", "Look around.")

    assert [one.last for one in model.requests][1].startswith("That answer cannot be used. There is no tool 'fly'")
    assert "arguments must be a JSON object" in model.requests[2].last
    assert (done.ending, done.calls, done.answer) == ("failed", 0, "ok")  # what its own planner says of it


def test_a_limit_stops_it_and_the_next_go_carries_on(opening: Opened, folder: Path) -> None:
    memento = opening(calls=1)
    planned = memento.cases.plan_task("Copy.", steps=COPY)
    stopped = memento.cases.execute_task(planned.run.iri)
    done = memento.cases.execute_task(planned.run.iri)

    assert (stopped.ending, stopped.completed) == ("stopped", None)
    assert "1 calls were made (calls of [executor])" in stopped.reason
    assert [one.state for one in stopped.run.steps] == ["done", "pending"]
    assert done.ending == "done"
    assert (folder / "log.txt").read_text() == "hello!\n"


def test_time_and_tokens_are_limits_too(opening: Opened, folder: Path, thinking: Any) -> None:
    model = thinking(lambda asked: {"action": "call", "tool": "list_files", "arguments": "{}"})
    spent = carried_out(opening(asking(model), tokens=300), "Look for ever.", "Look.")
    late = carried_out(opening(home="other", wall_s=0.2), "Wait.", 'look_slowly {"seconds": 600}', COPY[0])

    assert (spent.ending, spent.tokens) == ("stopped", 360)
    assert late.ending in ("stopped", "failed")
    assert late.seconds < 60


def test_a_tool_that_does_not_answer_in_time_has_failed_and_may_have_happened(opening: Opened, folder: Path) -> None:
    done = carried_out(
        opening(call_s=2.0), "Wait.", 'append_and_wait {"path": "log.txt", "line": "once", "seconds": 600}'
    )

    assert done.ending == "failed"
    assert "it may have happened all the same" in done.reason
    assert (folder / "log.txt").read_text() == "once\n"


def left_in_the_middle(memento: Memento, call: ToolCall) -> str:
    """A run whose process ended while its one call was under way."""
    planned = memento.cases.plan_task("Log it.", steps=[f"{call.tool} {call.arguments}", COPY[0]])
    memento.cases.record_step(planned.run.iri, planned.run.steps[0].task, state="pending", tools=[call], step=0)
    return planned.run.iri


def test_a_call_that_may_have_happened_is_not_made_again_unasked(opening: Opened, folder: Path) -> None:
    memento = opening()
    call = ToolCall(tool="append_line", arguments='{"path": "log.txt", "line": "x"}', state="pending")
    one, other = left_in_the_middle(memento, call), left_in_the_middle(memento, call)
    asked = memento.cases.execute_task(one)

    assert (asked.ending, asked.completed) == ("uncertain", None)
    assert "the call of append_line in step 1 was under way" in asked.reason
    assert not (folder / "log.txt").exists()
    assert memento.cases.execute_task(one, uncertain="skip").ending == "done"
    assert not (folder / "log.txt").exists()
    assert memento.cases.execute_task(other, uncertain="repeat").ending == "done"
    assert (folder / "log.txt").read_text() == "x\n"
    with pytest.raises(InputError, match="uncertain must be one of ask, repeat, skip"):
        memento.cases.execute_task(other, uncertain="perhaps")  # type: ignore[arg-type]


def test_a_call_that_only_looks_is_made_again(opening: Opened, folder: Path) -> None:
    memento = opening()
    run = left_in_the_middle(memento, ToolCall(tool="read_file", arguments='{"path": "b.txt"}', state="pending"))

    assert memento.cases.execute_task(run).run.steps[0].result == "goodbye"


def test_the_verdict_may_be_left_to_the_caller(opening: Opened, folder: Path) -> None:
    memento = opening()
    done = carried_out(memento, "Copy.", *COPY, complete=False)

    assert (done.ending, done.completed, done.run.state) == ("done", None, "pending")
    assert memento.cases.complete(done.run.iri, reward=0.3).reward == 0.3
    with pytest.raises(Conflict):
        memento.cases.execute_task(done.run.iri)


def test_what_a_tool_says_is_kept_up_to_a_length(opening: Opened, folder: Path) -> None:
    (folder / "long.txt").write_text("x" * 1000)
    done = carried_out(opening(result_chars=100), "Read.", 'read_file {"path": "long.txt"}')

    assert done.answer is not None and len(done.answer) == 100


def test_only_whoever_has_the_whole_folder_uses_tools(opening: Opened) -> None:
    memento = opening()
    run = memento.cases.plan_task("Copy.", steps=COPY).run.iri
    for access in (
        Access(tenant="rival", right="admin"),
        Access(tenant="local", right="write"),
        Access(tenant="local", right="admin", namespaces=("main",)),
    ):
        with pytest.raises(Forbidden):
            memento.with_access(access).cases.execute_task(run)
        with pytest.raises(Forbidden):
            memento.with_access(access).cases.list_tools()


def test_a_run_is_known_in_its_own_domain_only(opening: Opened) -> None:
    memento = opening()
    run = memento.cases.plan_task("Copy.", steps=COPY, domain="kitchen").run.iri

    with pytest.raises(NotFound):
        memento.cases.execute_task(run)
    assert memento.cases.task_runs() == ()
    assert [one.iri for one in memento.cases.task_runs(domain="kitchen")] == [run]
    assert memento.with_access(Access(tenant="rival", right="read")).cases.task_runs(domain="kitchen") == ()


def test_a_run_is_carried_out_once_at_a_time(opening: Opened, folder: Path) -> None:
    import threading

    memento = opening()
    run = memento.cases.plan_task("Wait.", steps=['look_slowly {"seconds": 0.6}']).run.iri
    thread = threading.Thread(target=memento.cases.execute_task, args=(run,))
    thread.start()
    refused = None
    while thread.is_alive() and refused is None:
        try:
            memento.cases.execute_task(run)
        except Conflict as error:
            refused = error
    thread.join()

    assert refused is not None


def test_pruning_keeps_the_most_valuable(opening: Opened) -> None:
    memento = opening(servers="")
    rows = [memento.cases.start(f"Task {n}.", plan="Do.") for n in range(3)]
    kept = [
        memento.cases.complete(run.iri, reward=reward).case for run, reward in zip(rows, (1, -0.2, 0.5), strict=True)
    ]

    assert memento.cases.prune(1) == (kept[1], kept[2])
    assert memento.cases.prune(1) == ()
    with pytest.raises(InputError, match="at least 1"):
        memento.cases.prune(0)


def test_a_step_and_its_calls_come_back_as_they_were_packed() -> None:
    from memento.graph.runs import pack_steps, unpack_steps
    from memento.time import now

    step = TaskStep(step=0, task="x", state="done", tools=(ToolCall(tool="t", at=now(), took_ms=3),), cycle=2)

    assert unpack_steps(pack_steps([step])) == (step,)


def test_a_server_that_is_not_there_is_named(opening: Opened) -> None:
    memento = opening(servers='{"gone": {"url": "http://127.0.0.1:9/mcp"}}', start_s=2.0)
    with pytest.raises(ToolError, match="the server 'gone' of \\[executor\\] cannot be used"):
        memento.cases.list_tools()
    with pytest.raises(SettingsError, match="needs either command"):
        opening(home="other", servers='{"odd": {}}').cases.list_tools()


def as_dict(settings: Any) -> Json:
    return {name: getattr(settings, name) for name in type(settings).__dataclass_fields__}


def test_a_task_that_failed_is_an_example_to_avoid_however_far_it_came(opening: Opened, folder: Path) -> None:
    memento = opening()
    failed = carried_out(memento, "Copy a.txt to the log.", COPY[0], 'read_file {"path": "gone.txt"}')
    again = memento.cases.retrieve("Copy a.txt to the log.")

    assert (failed.ending, failed.run.state) == ("failed", "failed")
    assert failed.completed is not None and failed.completed.reward == -0.2
    assert ([one.iri for one in again.negatives], again.positives) == ([failed.completed.case], ())
    assert memento.cases.metrics().success_rate == 0
    assert memento.cases.task_runs() == memento.cases.task_runs(state="failed") != ()
    with pytest.raises(InputError, match="no other case that worked to follow"):
        memento.cases.plan_task("Copy a.txt to the log.")
    assert memento.admin.check() == ()


def test_a_step_names_the_result_of_another_by_the_number_that_the_plan_gives_it() -> None:
    done = [TaskStep(step=0, task="Read.", state="done", result="hello", id=10)]

    for place in ("10", "1"):
        call = plan.parse_call(f'say {{"text": "{{{{{place}}}}}"}}', done)
        assert isinstance(call, plan.CallRequest) and call.arguments == {"text": "hello"}


def test_a_plan_keeps_its_numbers_when_it_is_followed_without_a_model(
    opening: Opened, folder: Path, thinking: Any
) -> None:
    steps = [{"id": 10 + n, "description": step.replace("{{1}}", "{{11}}")} for n, step in enumerate(COPY, 1)]
    model = thinking(
        lambda asked: {"plan": [], "finalAnswer": "copied"} if "# Steps so far" in asked.user else {"plan": steps}
    )
    planner = opening(asking(model))
    planner.cases.execute_task(planner.cases.plan_task("Copy a.txt to the log.").run.iri)
    planner.cases.plan_task("Copy b.txt to the log.")
    assert f"Plan:\n11. {COPY[0]}\n12. " in model.requests[-1].user
    planner.close()
    memento = opening()
    planned = memento.cases.plan_task("Copy b.txt to the log.")
    done = memento.cases.execute_task(planned.run.iri)

    assert [one.id for one in planned.run.steps] == [11, 12]
    assert (done.ending, (folder / "log.txt").read_text()) == ("done", "hello!\ngoodbye!\n")


def test_a_plan_made_in_two_goes_names_its_results_by_its_own_numbers(
    opening: Opened, folder: Path, thinking: Any
) -> None:
    plans = iter(
        [
            ["list_files {}", 'read_file {"path": "gone.txt"}'],
            ["list_files {}", COPY[0], COPY[1].replace("{{1}}", "{{2}}")],
        ]
    )

    def script(asked: Asked) -> Json:
        steps = next(plans, None)
        if steps is None:
            return {"plan": [], "finalAnswer": "copied"}
        return {"plan": [{"id": n, "description": step} for n, step in enumerate(steps, 1)]}

    planner = opening(asking(thinking(script)))
    first = planner.cases.execute_task(planner.cases.plan_task("Copy a.txt to the log.").run.iri)
    assert first.completed is not None
    case = planner.cases.get(first.completed.case)
    planner.close()
    memento = opening()
    done = memento.cases.execute_task(memento.cases.plan_task("Copy b.txt to the log.").run.iri)

    assert case.plan.splitlines()[3] == "4. " + COPY[1].replace("{{1}}", "{{3}}")
    assert (done.ending, (folder / "log.txt").read_text()) == ("done", "hello!\ngoodbye!\n")


def test_a_recorded_step_keeps_the_number_that_its_plan_gave_it(opening: Opened, thinking: Any) -> None:
    steps = [{"id": 11, "description": "Look."}, {"id": 12, "description": "Go."}]
    memento = opening(asking(thinking(lambda asked: {"plan": steps})))
    run = memento.cases.plan_task("Walk.").run.iri
    for place, step in enumerate(("Look.", "Go.")):
        memento.cases.record_step(run, step, step=place)

    assert [one.id for one in memento.cases.task_run(run).steps] == [11, 12]


@pytest.mark.parametrize("task", ["Read the lentils for the kitchen.", "Read the rice and a.txt for the kitchen."])
def test_a_plan_of_another_task_is_not_carried_out_and_earns_nothing(task: str, opening: Opened, folder: Path) -> None:
    memento = opening()
    [case] = memento.cases.add([CaseRow(task="Read the rice for the kitchen.", plan=COPY[0], outcome="success")])
    planned = memento.cases.plan_task(task)
    stopped = memento.cases.execute_task(planned.run.iri)

    assert "it is the plan of 'Read the rice for the kitchen.'" in planned.reason
    assert (stopped.ending, stopped.calls, stopped.completed, stopped.run.state) == ("stopped", 0, None, "pending")
    assert "copied from a similar task and would do that one, not this one" in stopped.reason
    assert memento.cases.get(case).uses == 0
    memento.cases.record_step(planned.run.iri, 'read_file {"path": "b.txt"}', state="pending", step=0)
    assert memento.cases.execute_task(planned.run.iri).answer == "goodbye"


def test_the_plan_of_a_case_that_can_follow_the_task_comes_before_one_that_cannot(
    opening: Opened, folder: Path
) -> None:
    memento = opening()
    memento.cases.add(
        [
            CaseRow(task="Show the file b.txt now.", plan="1. list_files {}", outcome="success"),
            CaseRow(task="Show the file a.txt.", plan=f"1. {COPY[0]}", outcome="success"),
        ]
    )
    done = memento.cases.execute_task(memento.cases.plan_task("Show the file b.txt.").run.iri)

    assert (done.ending, done.answer) == ("done", "goodbye")


def test_of_two_plans_that_work_the_cheaper_one_earns_more(opening: Opened, folder: Path) -> None:
    memento = opening(steps=10, calls=10)
    cheap, dear = (carried_out(memento, f"Look {n} times.", *[COPY[0]] * n).completed for n in (3, 5))

    assert cheap is not None and cheap.reward == pytest.approx(1.07 / 1.1)
    assert dear is not None and dear.reward == pytest.approx(1.05 / 1.1)
