"""
What each verb of an expression does: a call of the service, with the rights of whoever sent the expression.

*Guarantees:* what a verb is given is a value, never part of a query's text.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from typing import Any, cast

from memento.codec import plain
from memento.errors import InputError, NotAcceptable, TooLong
from memento.model import Marks
from memento.sexpr.dataset import form_of, lines_of
from memento.sexpr.evaluation import Evaluation
from memento.sexpr.printer import printed
from memento.sexpr.reader import Form

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_TTL = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")


@dataclass(frozen=True, slots=True)
class Said:
    """What an expression works on: the `Memento` as its sender may use it, and the namespace."""

    memento: Any
    namespace: str


def seconds(ttl: str) -> float:
    """
    A time to live in seconds.

    Raises:
        InputError: it is none.

    >>> seconds("30d"), seconds("90 s")
    (2592000.0, 90.0)
    """
    found = _TTL.fullmatch(ttl.strip())
    if found is None:
        raise InputError(f'ttl is a number and one of {", ".join(_UNITS)}, as "30d", not {ttl[:40]!r}')
    return float(found[1]) * _UNITS[found[2]]


def _said(evaluation: Evaluation) -> Said:
    return cast(Said, evaluation.within)


def remember(
    of: Evaluation, text: str, kind: str, importance: float, ttl: str | None, tags: list[str] | None
) -> dict[str, Any]:
    """Keep a text; its id, and whether it was known."""
    said = _said(of)
    marks = Marks(type=kind, importance=min(max(float(importance), 0.0), 1.0), tags=tuple(tags or ()))
    told = said.memento._marked(text, marks, seconds(ttl) if ttl else None, said.namespace)
    made: dict[str, Any] = {"id": told.saved, "repeated": told.repeated}
    return {**made, "superseded": told.superseded} if told.superseded else made


def recall(of: Evaluation, query: str, limit: int) -> Any:
    """Items, best first."""
    said = _said(of)
    return [_told(one) for one in said.memento._activated(query, limit, said.namespace)]


def search(of: Evaluation, question: str, limit: int) -> Any:
    """Memories, best first."""
    said = _said(of)
    found = said.memento.recall(question, k=limit, namespace=said.namespace)
    return [
        {"id": one.iri, "content": one.content, "valid_at": one.valid_at, "score": one.score} for one in found.memories
    ]


def item(of: Evaluation, iri: str) -> Any:
    """A memory with its numbers."""
    said = _said(of)
    one = said.memento._item(iri, said.namespace)
    strength = {
        name: value
        for name, value in plain(said.memento.strength(iri, namespace=said.namespace)).items()
        if value is not None
    }
    return {**_told(one), **strength}


def associate(of: Evaluation, source: str, target: str, relation: str, weight: float) -> Any:
    """The link and its weight afterwards."""
    said = _said(of)
    made = said.memento.associate(source, target, relation=relation, weight=weight, namespace=said.namespace)
    return {"id": made.iri, "weight": made.weight}


def feedback(of: Evaluation, iri: str, outcome: str) -> Any:
    """The memory's numbers afterwards."""
    if outcome not in ("success", "fail"):
        raise InputError(f'outcome is "success" or "fail", not {outcome[:40]!r}')
    said = _said(of)
    after = said.memento.feedback(iri, helped=outcome == "success", namespace=said.namespace)
    return {
        "id": iri,
        "energy": after.energy,
        "importance": after.importance,
        "usefulness": after.usefulness,
        "success": after.success_count,
        "fail": after.failure_count,
    }


def trace(of: Evaluation, start: str, depth: int) -> Any:
    """Paths with their relations and weights."""
    said = _said(of)
    found = said.memento.trace(start, depth=depth, namespace=said.namespace)
    return [{"path": one.memories, "relations": one.relations, "weights": one.weights} for one in found]


def activate(of: Evaluation, seeds: Any, steps: int, decay: float, threshold: float) -> Any:
    """Memories and their activation."""
    said = _said(of)
    found = said.memento.activate(seeds, steps=steps, decay=decay, threshold=threshold, namespace=said.namespace)
    return [{"id": one.memory, "activation": one.activation} for one in found]


def decay(of: Evaluation, half_life_days: float | None) -> Any:
    """Until when, by which half-life, and how many memories it concerns."""
    said = _said(of)
    done = said.memento.decay(half_life_days=half_life_days, namespace=said.namespace)
    return {"until": done.until, "half_life_days": done.half_life, "memories": said.memento._current(said.namespace)}


def consolidate(of: Evaluation, dry_run: bool) -> Any:
    """How many memories were archived, and which."""
    said = _said(of)
    gone = said.memento.archive(dry_run=bool(dry_run), namespace=said.namespace)
    if not dry_run:
        said.memento._redraw(said.namespace)
    return {"pruned": len(gone.memories), "memories": gone.memories, "dry_run": gone.dry_run}


def unarchive(of: Evaluation, iri: str) -> Any:
    """The memory and its energy."""
    said = _said(of)
    return {"id": iri, "energy": said.memento.unarchive(iri, namespace=said.namespace).energy}


def stats(of: Evaluation) -> Any:
    """The memory in numbers."""
    said = _said(of)
    drawn, counts = said.memento.manifest(namespace=said.namespace), said.memento.memory_stats(namespace=said.namespace)
    tags = sorted(counts.by_tag.items(), key=lambda one: (-one[1], one[0]))[:5]
    layout = drawn.layout
    return {
        "nodes": layout.memories + layout.anchors,
        "memories": layout.memories,
        "edges": layout.links,
        "average_degree": layout.average_degree,
        "average_energy": round(drawn.energy / 100, 6),
        "density": layout.density,
        "tags": [{"name": name, "count": count} for name, count in tags],
        "communities": len(drawn.regions),
        "manifest": drawn.text,
        "drawn_at": drawn.at,
    }


def sparql(of: Evaluation, query: str) -> Any:
    """A list of records, a truth, or Turtle."""
    said = _said(of)
    try:
        body, _ = said.memento.query(query, accept="application/sparql-results+json", namespace=said.namespace)
    except NotAcceptable:  # the query makes a graph
        body, _ = said.memento.query(query, accept="text/turtle", namespace=said.namespace)
        return body.decode()
    answer = json.loads(body)
    if "boolean" in answer:
        return answer["boolean"]
    rows = answer["results"]["bindings"][: said.memento.settings.sexpr.rows]
    return [{name: term["value"] for name, term in row.items()} for row in rows]


def snapshot(of: Evaluation, only: bool) -> Form:
    """The expression that loads the memory."""
    said = _said(of)
    leaving = said.memento.exporting("nquads", namespace=said.namespace if only else None)
    most, size, pieces = said.memento.settings.sexpr.chars, 0, []
    for piece in leaving.pieces:
        size += len(piece)
        if size > 4 * most:  # an expression is shorter, but not by so much
            raise TooLong(f"the memory makes more than {most:,} characters: raise sexpr.chars, or use `memento export`")
        pieces.append(piece)
    return form_of(b"".join(pieces).decode().splitlines())


def load(of: Evaluation, *graphs: Form) -> Any:
    """What became of the statements."""
    said = _said(of)
    document = io.BytesIO("".join(lines_of(graphs)).encode())
    merged = said.memento.take_in(document, "the expression", "nquads")
    return {"statements": merged.statements, "added": merged.added, "memories": merged.memories, "notes": merged.notes}


def policies(of: Evaluation) -> Any:
    """Every policy by name."""
    said = _said(of)
    return said.memento._policies(said.namespace)


def policy(of: Evaluation, name: str) -> Any:
    """The expression of one."""
    said = _said(of)
    return said.memento._policy(name, said.namespace)


def set_policy(of: Evaluation, name: Form, *rest: Form) -> Any:
    """The policy as it is kept."""
    said = _said(of)
    if not isinstance(name.value, str) or len(rest) != 1:
        raise InputError("a policy has a name in quotes, and one expression")
    text = rest[0].value if isinstance(rest[0].value, str) else printed(rest[0])
    try:
        of.checked(text)
    except InputError as error:
        raise InputError(f"in the policy: {error}") from error
    said.memento._keep_policy(name.value, text, said.namespace)
    return {"name": name.value, "expression": text}


def run(of: Evaluation, name: str) -> Any:
    """The value of a policy's last expression."""
    said = _said(of)
    return of.run(said.memento._policy(name, said.namespace))[-1]


def _told(noun: object) -> Any:
    """A noun as a record: what is not there is left out."""
    found = {("id" if name == "iri" else name): value for name, value in plain(noun).items()}
    return {name: value for name, value in found.items() if value is not None}
