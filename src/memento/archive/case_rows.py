"""
Cases as rows of an export, and back: a finished task with its plan, its verdicts, its steps and their calls of tools.

*Guarantees:* the nodes of a row are derived from the IRI of its case, so that a second import adds nothing.

*But:* a row lacks for which tasks the case was shown, and what these earned: an export as RDF has that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec

from memento.graph.mapping import quads, tag_quads
from memento.graph.runs import to_records
from memento.iris import IRI, tag_iri
from memento.model import (
    Action,
    Case,
    CaseShown,
    Node,
    Quad,
    Reward,
    State,
    TaskStep,
    Trajectory,
    Verdict,
)
from memento.time import utc


class CaseRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished task; `about`, `kinds` and `about_ids` correspond item by item."""

    id: str
    task: str
    plan: str
    domain: str = "main"
    at: datetime
    reward: float | None = None
    expired: datetime | None = None
    about: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    about_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    steps: tuple[TaskStep, ...] = ()

    @property
    def namespace(self) -> str:
        """The namespace of what it is about: the one with the name of the domain."""
        return self.domain


def record_case(case: CaseShown, topics: Sequence[tuple[str, IRI, str]]) -> CaseRecord:
    """Return the row of a case; `topics` are the name, IRI and kind of each thing that it is about."""
    return CaseRecord(
        id=case.iri,
        task=case.task,
        plan=case.plan,
        domain=case.domain,
        at=case.at,
        reward=case.reward,
        expired=case.expired_at,
        about=tuple(name for name, _, _ in topics),
        kinds=tuple(kind for _, _, kind in topics),
        about_ids=tuple(iri for _, iri, _ in topics),
        tags=case.tags,
        derived_from=case.derived_from,
        verdicts=case.verdicts,
        steps=case.steps,
    )


def list_texts(record: CaseRecord) -> list[str]:
    """List all texts in a row in which somebody may be named; those within JSON are read from it."""
    said: list[str | None] = [record.task, record.plan, *(one.reason for one in record.verdicts)]
    for step in record.steps:
        said += [step.task, step.result]
        for call in step.tools:
            said += [*_read_strings(call.arguments), *_read_strings(call.result or "")]
    return [text for text in said if text]


def _read_strings(text: str) -> Iterator[str]:
    found: list[str] = []

    def collect(one: str) -> str:
        found.append(one)
        return one

    map_strings(text, collect)
    yield from found


def map_strings(text: str, change: Callable[[str], str]) -> str:
    """
    Change a text, or, if it is JSON, each string, name and number in it, so that an escaped letter hides nothing.

    >>> map_strings('{"to": "Zo\\\\u00eb", "pages": [1]}', str.upper)
    '{"TO": "ZOË", "PAGES": [1]}'
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return change(text)
    changed = _map_values(value, change)
    written = json.dumps(changed, ensure_ascii=False)
    return written if _is_unicode(written) else json.dumps(changed)


def _is_unicode(text: str) -> bool:
    """Tell whether a text can be written: JSON may escape half of a surrogate pair, which UTF-8 cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _map_values(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case bool() | None:
            return value
        case int() | float():
            changed = change(str(value))
            return value if changed == str(value) else changed
        case Mapping():
            return {change(name): _map_values(one, change) for name, one in value.items()}
        case _:
            return [_map_values(one, change) for one in value]


def to_reward(verdict: Verdict, iri: IRI, case: IRI) -> Reward:
    """Return the verdict on a case as it is in the graph."""
    return Reward(
        iri=iri,
        case=case,
        value=verdict.reward,
        at=utc(verdict.at),
        outcome=verdict.outcome,
        efficiency=verdict.efficiency,
        score=verdict.score,
        reason=verdict.reason,
    )


def build_case_quads(record: CaseRecord, case: IRI, about: Iterable[IRI], graph: IRI) -> Iterator[Quad]:
    """Build the quads of a row, those of its tags, verdicts, steps and calls among them, in a graph of cases."""

    def derive(kind: str, *place: int) -> IRI:
        return IRI(f"urn:memento:{kind}:{uuid5(NAMESPACE_URL, ' '.join([case, kind, *map(str, place)]))}")

    state, action = State(iri=derive("state"), content=record.task), Action(iri=derive("action"), content=record.plan)
    run = derive("trajectory") if record.steps else None
    concerned, sources = tuple(about), tuple(map(IRI, record.derived_from))
    nodes: list[Node] = [state, action]
    nodes.append(
        Case(
            iri=case,
            state=state.iri,
            action=action.iri,
            at=utc(record.at),
            reward=record.reward,
            about=concerned,
            tags=tuple(dict.fromkeys(tag_iri(name) for name in record.tags if name.strip())),
            derived_from=sources,
            trajectory=run,
            expired_at=record.expired and utc(record.expired),
        )
    )
    for place, one in enumerate(record.verdicts):
        nodes.append(to_reward(one, derive("reward", place), case))
    for step in record.steps:
        subtask, calls = to_records(step, derive)
        nodes += [subtask, *calls]
    if run:
        nodes.append(
            Trajectory(
                iri=run,
                state=state.iri,
                at=utc(record.at),
                progress="failed" if record.reward is not None and record.reward <= 0 else "done",
                action=action.iri,
                about=concerned,
                derived_from=sources,
                subtasks=tuple(derive("subtask", step.step) for step in record.steps),
            )
        )
    written = [quad for node in nodes for quad in quads(node, graph)]
    yield from dict.fromkeys([*written, *tag_quads(case, record.tags, graph)])
