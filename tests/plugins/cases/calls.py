"""One call of every operation of cases on a sample, in its namespace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memento.model import ToolCall
from memento.operations import Operation
from memento.plugins.cases import operations
from memento.plugins.cases.nouns import CaseRow
from memento.python import Memento


def prepare(memento: Memento, namespace: str) -> dict[str, str]:
    """Store a case, a task under way, a plan, and a look-up; return their IRIs."""
    [case] = memento.cases.add([CaseRow(task="Move to Rome.", plan="Pack.", reward=1.0)], namespace=namespace)
    run = memento.cases.start("Move to Bergen.", plan="Ask.", namespace=namespace)
    planned = memento.cases.plan_task("Move to Oslo.", ["Pack."], namespace=namespace)
    retrieval = memento.cases.retrieve("Where to move?", namespace=namespace).retrieval
    assert retrieval
    return {"case": case, "run": run.iri, "planned": planned.run.iri, "retrieval": retrieval}


CALLS: Mapping[type[Operation[Any]], Callable[[Any, str], Operation[Any]]] = {
    operations.AddCases: lambda s, n: operations.AddCases(
        (CaseRow(task="Cook.", plan="Boil.", reward=0.5),), namespace=n
    ),
    operations.RetrieveCases: lambda s, n: operations.RetrieveCases("Move to Oslo.", namespace=n),
    operations.RetrieveCasesEach: lambda s, n: operations.RetrieveCasesEach(("Move.", "Cook."), namespace=n),
    operations.RewardCases: lambda s, n: operations.RewardCases(s.plugged["retrieval"], reward=1.0, namespace=n),
    operations.GetCase: lambda s, n: operations.GetCase(s.plugged["case"], namespace=n),
    operations.ListCases: lambda s, n: operations.ListCases(namespace=n),
    operations.ForgetCase: lambda s, n: operations.ForgetCase(s.plugged["case"], namespace=n),
    operations.NavigateCases: lambda s, n: operations.NavigateCases(tilt="temporal", namespace=n),
    operations.CaseMetrics: lambda s, n: operations.CaseMetrics(namespace=n),
    operations.CaseStatus: lambda s, n: operations.CaseStatus(namespace=n),
    operations.PruneCases: lambda s, n: operations.PruneCases(1, namespace=n),
    operations.StartCase: lambda s, n: operations.StartCase("Move to Lima.", namespace=n),
    operations.TaskRun: lambda s, n: operations.TaskRun(s.plugged["run"], namespace=n),
    operations.RecordStep: lambda s, n: operations.RecordStep(
        s.plugged["run"], "Pack.", tools=(ToolCall(tool="box", arguments="{}", result="done"),), namespace=n
    ),
    operations.CompleteCase: lambda s, n: operations.CompleteCase(s.plugged["run"], "success", namespace=n),
    operations.TaskRuns: lambda s, n: operations.TaskRuns(namespace=n),
    operations.PlanTask: lambda s, n: operations.PlanTask("Move to Kyoto.", ("Pack.",), namespace=n),
    operations.ExecuteTask: lambda s, n: operations.ExecuteTask(s.plugged["planned"], namespace=n),
    operations.ListTools: lambda s, n: operations.ListTools(namespace=n),
}
