"""A verb of the s-expressions asks the operations that it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memento.errors import MementoError
from memento.operations import Operation, find_operation
from memento.plugins.living.settings import SexprSettings
from memento.plugins.living.sexpr.evaluation import Evaluation
from memento.plugins.living.sexpr.verbs import VERBS, Host
from memento.python import Memento
from memento.service import handle
from operations.samples import Sample, make_sample


@pytest.fixture
def sample(memento: Memento, tmp_path: Path) -> Sample:
    return make_sample(memento, "main", tmp_path)


VERB_CALLS = {
    "recall": '(recall "Oslo")',
    "search": '(search "Where do I work?")',
    "item": '(item "{memory}")',
    "trace": '(trace "{memory}")',
    "activate": '(activate (list "{memory}"))',
    "stats": "(stats)",
    "sparql": '(sparql "ASK {{}}")',
    "policies": "(policies)",
    "policy": '(policy "numbers")',
    "run": '(run "nothing")',
    "remember": '(remember "Rome is warm.")',
    "associate": '(associate "{memory}" "{other}")',
    "feedback": '(feedback "{memory}" "success")',
    "decay!": "(decay!)",
    "consolidate": "(consolidate)",
    "compact": "(compact true)",
    "archived": "(archived)",
    "fading": "(fading)",
    "unarchive": '(unarchive "{memory}")',
    "set-policy": '(set-policy "again" (stats))',
    "snapshot": "(snapshot true)",
    "load": "(load)",
}


@pytest.mark.parametrize("verb", [verb for verb in VERBS.values() if verb.asks or verb.name in VERB_CALLS])
def test_a_verb_asks_the_operations_that_it_says(verb: Any, memento: Memento, sample: Sample) -> None:
    asked: set[type[Operation[Any]]] = set()
    context = memento.context
    memento.living.set_policy("nothing", "true")

    def call(operation: Operation[Any], /) -> Any:
        asked.add(type(operation))
        return handle(operation, context)

    host = Host(
        call=call,
        namespace="main",
        options=context.settings.of(SexprSettings),
        count_current=lambda: 3,
        export=lambda only: [],
        load=lambda document: memento.intake.import_rdf(sample.folder / "none.nq"),
    )
    try:
        Evaluation(VERBS, within=host).evaluate_text(
            VERB_CALLS[verb.name].format(memory=sample.memory, other=sample.other)
        )
    except MementoError:
        assert verb.name in ("unarchive", "load")  # nothing is archived, and there is no such file

    assert asked == {find_operation(one) if isinstance(one, str) else one for one in verb.asks}
