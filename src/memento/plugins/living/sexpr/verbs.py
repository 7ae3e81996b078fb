"""
The verbs of expressions: their names, their parameters, and the operations that each calls with the rights of the sender of the
expression.

*Guarantees:* arguments of a verb are values, never part of a query's text.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import IO, Any, Protocol, TypeVar, cast

from memento.codec import plain
from memento.errors import InputError, NotAcceptable, NotFound, TooLong
from memento.iris import parse_iri
from memento.model import Merged
from memento.operations import Operation, care, find_operation, graphs
from memento.operations import recall as recalls
from memento.operations.base import FILTERS
from memento.plugins.living import operations
from memento.plugins.living.settings import SexprSettings
from memento.plugins.living.sexpr.evaluation import VALUES, Evaluation, Parameter, Table, Verb
from memento.plugins.living.sexpr.forms import Form, build_form, print_form, write_lines

A = TypeVar("A")

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_TTL = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)")


class Call(Protocol):
    """Executes operations."""

    def __call__(self, operation: Operation[A], /) -> A:
        """Execute an operation as the sender of the expression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The context of an expression."""

    call: Call
    namespace: str
    options: SexprSettings
    count_current: Callable[[], int]
    """Counts the current memories of the namespace."""
    export: Callable[[bool], Iterable[bytes]]
    """Returns the N-Quads of the namespace alone, or of everything that the sender can read."""
    load: Callable[[IO[bytes]], Merged]
    """Imports N-Quads."""


def seconds(ttl: str) -> float:
    """
    Return a time to live in seconds.

    Raises:
        InputError: it is not a duration.

    >>> seconds("30d"), seconds("90 s")
    (2592000.0, 90.0)
    """
    found = _TTL.fullmatch(ttl.strip())
    if found is None:
        raise InputError(f'ttl is a number and one of {", ".join(_UNITS)}, as "30d", not {ttl[:40]!r}')
    return float(found[1]) * _UNITS[found[2]]


def _host(evaluation: Evaluation) -> Host:
    return cast(Host, evaluation.within)


def _within(name: str, least: float, most: float) -> Callable[[float], None]:
    """Return a check that a number is in a range."""

    def check(value: float) -> None:
        if not least <= value <= most:
            raise InputError(f"{name} must be from {least} to {most}, not {value}")

    return check


def _filled(name: str) -> Callable[[str], None]:
    """Return a check that a text is not blank."""

    def check(value: str) -> None:
        if not value.strip():
            raise InputError(f"{name} must not be empty")

    return check


def _check_half_life(days: float) -> None:
    if not 0 < days < 1e6:
        raise InputError(f"the half-life must be a number of days above 0, not {days}")


def _check_outcome(outcome: str) -> None:
    if outcome not in ("success", "fail"):
        raise InputError(f'outcome is "success" or "fail", not {outcome[:40]!r}')


def _look_up_memory(of: Evaluation, iri: str) -> None:
    """Raise `NotFound` if there is no such memory."""
    host = _host(of)
    host.call(operations.Strength(iri, namespace=host.namespace))


def remember(
    of: Evaluation, text: str, kind: str, importance: float, ttl: str | None, tags: list[str] | None
) -> dict[str, Any]:
    """Store a text; return its id, and whether it was known."""
    host = _host(of)
    done = host.call(
        find_operation("remember")(
            text,
            ttl_s=seconds(ttl) if ttl else None,
            source="expression",
            type=kind,
            importance=min(max(float(importance), 0.0), 1.0),
            tags=tuple(tags or ()),
            namespace=host.namespace,
        )
    )
    record: dict[str, Any] = {"id": done.saved, "repeated": done.repeated}
    return {**record, "superseded": done.superseded} if done.superseded else record


def recall_memories(of: Evaluation, query: str, limit: int) -> Any:
    """Return items, best first."""
    host = _host(of)
    items = host.call(operations.RecallItems(query, limit, namespace=host.namespace))
    return [_record_of(item) for item in items]


def search(of: Evaluation, question: str, limit: int, mode: str, tags: list[str] | None, *only: str | None) -> Any:
    """Return memories, best first."""
    host = _host(of)
    filters: dict[str, Any] = {name: value for name, value in zip(_ONLY, only, strict=True) if value}
    recollection = host.call(
        recalls.Recall(question, k=limit, mode=mode or None, tags=tags or (), namespace=host.namespace, **filters)
    )
    return [
        {"id": one.iri, "content": one.content, "valid_at": one.valid_at, "score": one.score}
        for one in recollection.memories
    ]


_ONLY = tuple(name for name in FILTERS if name != "tags")


def item(of: Evaluation, iri: str) -> Any:
    """Return a memory with its numbers."""
    host = _host(of)
    one = host.call(operations.GetItem(iri, namespace=host.namespace))
    strength = plain(host.call(operations.Strength(iri, namespace=host.namespace)))
    return {**_record_of(one), **{name: value for name, value in strength.items() if value is not None}}


def associate(of: Evaluation, source: str, target: str, relation: str, weight: float) -> Any:
    """Return the link and its new weight."""
    host = _host(of)
    link = host.call(operations.Associate(source, target, relation, weight, namespace=host.namespace))
    return {"id": link.iri, "weight": link.weight}


def feedback(of: Evaluation, iri: str, outcome: str) -> Any:
    """Return the memory's new numbers."""
    _check_outcome(outcome)
    host = _host(of)
    after = host.call(operations.Feedback(iri, outcome == "success", namespace=host.namespace))
    return {
        "id": iri,
        "energy": after.energy,
        "importance": after.importance,
        "usefulness": after.usefulness,
        "success": after.success_count,
        "fail": after.failure_count,
    }


def trace(of: Evaluation, start: str, depth: int) -> Any:
    """Return paths with their relations and weights."""
    host = _host(of)
    paths = host.call(operations.Trace(start, depth, namespace=host.namespace))
    return [{"path": one.memories, "relations": one.relations, "weights": one.weights} for one in paths]


def activate(of: Evaluation, seeds: Any, steps: int, decay: float, threshold: float) -> Any:
    """Return memories and their activation."""
    host = _host(of)
    active = host.call(operations.Activate(seeds, steps, decay, threshold, namespace=host.namespace))
    return [{"id": one.memory, "activation": one.activation} for one in active]


def decay(of: Evaluation, half_life_days: float | None) -> Any:
    """Return until when decay is computed, with which half-life, and for how many memories."""
    host = _host(of)
    done = host.call(operations.Decay(half_life_days, namespace=host.namespace))
    return {"until": done.until, "half_life_days": done.half_life, "memories": host.count_current()}


def consolidate(of: Evaluation, dry_run: bool) -> Any:
    """Return how many memories were archived, and which."""
    host = _host(of)
    gone = host.call(operations.Archive(bool(dry_run), namespace=host.namespace))
    if not dry_run:
        host.call(recalls.Manifest(fresh=True, namespace=host.namespace))
    return {"pruned": len(gone.memories), "memories": gone.memories, "dry_run": gone.dry_run}


def compact(of: Evaluation, dry_run: bool, undo: bool) -> Any:
    """Return what was hidden, or would be, by reason, and how many memories are left."""
    host = _host(of)
    done = host.call(care.Compact(dry_run=bool(dry_run), undo=bool(undo), namespace=host.namespace))
    counts = {name: getattr(done, name) for name in ("expired", "merged", "evicted", "remaining")}
    return {"branch": done.branch, "stage": done.stage, **counts}


def list_archived(of: Evaluation, limit: int) -> Any:
    """Return the archived memories, the latest first."""
    host = _host(of)
    listed = host.call(operations.ListArchived(limit=limit, namespace=host.namespace))
    return [{"id": one.iri, "content": one.content, "archived_at": one.archived_at} for one in listed]


def list_fading(of: Evaluation, limit: int) -> Any:
    """Return the memories that fade, the next to be archived first."""
    host = _host(of)
    listed = host.call(operations.ListFading(limit=limit, namespace=host.namespace))
    return [
        {"id": one.iri, "content": one.content, "energy": one.energy, "archived_on": one.archived_on} for one in listed
    ]


def unarchive(of: Evaluation, iri: str) -> Any:
    """Return the memory and its energy."""
    host = _host(of)
    return {"id": iri, "energy": host.call(operations.Unarchive(iri, namespace=host.namespace)).energy}


def stats(of: Evaluation) -> Any:
    """Return statistics of the memory."""
    host = _host(of)
    # The cached map may be older than the counts beside it, which would contradict it.
    manifest = host.call(recalls.Manifest(namespace=host.namespace, fresh=True))
    tags = host.call(recalls.Tags(namespace=host.namespace))[:5]
    layout = manifest.layout
    return {
        "nodes": layout.memories + layout.anchors,
        "memories": layout.memories,
        "edges": layout.links,
        "average_degree": layout.average_degree,
        "average_energy": round(manifest.energy / 100, 6),
        "density": layout.density,
        "tags": [{"name": one.tag, "count": one.count} for one in tags],
        "communities": len(manifest.regions),
        "manifest": manifest.text,
        "drawn_at": manifest.at,
    }


def sparql(of: Evaluation, query: str) -> Any:
    """Return a list of records, a truth value, or Turtle."""
    host = _host(of)
    try:
        body, _ = host.call(graphs.Query(query, "application/sparql-results+json", namespace=host.namespace))
    except NotAcceptable:  # the query is a CONSTRUCT or DESCRIBE
        body, _ = host.call(graphs.Query(query, "text/turtle", namespace=host.namespace))
        return body.decode()
    answer = json.loads(body)
    if "boolean" in answer:
        return answer["boolean"]
    rows = answer["results"]["bindings"][: host.options.rows]
    return [{name: term["value"] for name, term in row.items()} for row in rows]


def snapshot(of: Evaluation, only: bool) -> Form:
    """Return the expression that loads the memory."""
    host = _host(of)
    most, size, pieces = host.options.chars, 0, []
    for piece in host.export(only):
        size += len(piece)
        if size > 4 * most:  # an expression is shorter, but not by that much
            raise TooLong(f"the memory makes more than {most:,} characters: raise sexpr.chars, or use `memento export`")
        pieces.append(piece)
    form = build_form(b"".join(pieces).decode().splitlines())
    if len(print_form(form)) > most:  # `load` would refuse it
        raise TooLong(f"the memory makes more than {most:,} characters: raise sexpr.chars, or use `memento export`")
    return form


def load_dataset(of: Evaluation, *documents: Form) -> Any:
    """Return what happened to the statements."""
    merged = _host(of).load(io.BytesIO("".join(write_lines(documents)).encode()))
    return {"statements": merged.statements, "added": merged.added, "memories": merged.memories, "notes": merged.notes}


def policies(of: Evaluation) -> Any:
    """Return every policy by name."""
    host = _host(of)
    return host.call(operations.Policies(namespace=host.namespace))


def policy(of: Evaluation, name: str) -> Any:
    """Return the expression of a policy."""
    kept = policies(of)
    if name not in kept:
        known = ", ".join(kept) or "none yet"
        raise NotFound(f"there is no policy {name[:100]!r} in the namespace {_host(of).namespace!r}: there are {known}")
    return kept[name]


def set_policy(of: Evaluation, name: Form, *rest: Form) -> Any:
    """Return the policy as stored."""
    host = _host(of)
    if not isinstance(name.value, str) or len(rest) != 1:
        raise InputError("a policy has a name in quotes, and one expression")
    text = rest[0].value if isinstance(rest[0].value, str) else print_form(rest[0])
    kept = host.call(operations.SetPolicy(name.value, text, namespace=host.namespace))
    return {"name": name.value, "expression": kept}


def run(of: Evaluation, name: str) -> Any:
    """Return the value of a policy's last expression."""
    return of.evaluate_text(policy(of, name))[-1]


def _record_of(noun: object) -> Any:
    """Return a noun as a record, without missing values."""
    record = {("id" if name == "iri" else name): value for name, value in plain(noun).items()}
    return {name: value for name, value in record.items() if value is not None}


__all__ = ["READING", "VALUES", "VERBS", "WRITING", "table"]

READING = (
    Verb(
        name="archived",
        does="The memories that are archived, the latest first; `unarchive` brings one back.",
        parameters=(Parameter("limit", "whole", 50),),
        run=list_archived,
        asks=(operations.ListArchived,),
    ),
    Verb(
        name="fading",
        does="The memories that will be archived if nobody uses them, the next one first, with their energy and the day.",
        parameters=(Parameter("limit", "whole", 50),),
        run=list_fading,
        asks=(operations.ListFading,),
    ),
    Verb(
        name="recall",
        does="The memories whose text or tags have the query in them, and those tied to them, by activation, recency and "
        "importance. They count as used.",
        parameters=(
            Parameter("query", "text", check=_filled("query")),
            Parameter("limit", "whole", 10, _within("limit", 1, 100)),
        ),
        run=recall_memories,
        asks=(operations.RecallItems,),
    ),
    Verb(
        name="search",
        does="The memories that answer a question, as `memento recall`; the mode `vector`, `keyword` or `hybrid` is one plain "
        "search. What follows it says which memories may come back: those with one of the tags, in the container, and so on.",
        parameters=(
            Parameter("question", "text", check=_filled("question")),
            Parameter("limit", "whole", 10),
            Parameter("mode", "text", ""),
            Parameter("tags", "texts", None),
            *(Parameter(name, "text", None) for name in _ONLY),
        ),
        run=search,
        asks=(recalls.Recall,),
    ),
    Verb(
        name="item",
        does="One memory with its numbers.",
        parameters=(Parameter("id", "text", check=parse_iri, look_up=_look_up_memory),),
        run=item,
        asks=(operations.GetItem, operations.Strength),
    ),
    Verb(
        name="trace",
        does="The paths over associations that lead away from a memory; depth is 1 to 6.",
        parameters=(
            Parameter("start", "text", check=parse_iri, look_up=_look_up_memory),
            Parameter("depth", "whole", 2, _within("depth", 1, 6)),
        ),
        run=trace,
        asks=(operations.Trace,),
    ),
    Verb(
        name="activate",
        does="Spread activation from some memories; the twenty most active.",
        parameters=(
            Parameter("seeds", "texts"),
            Parameter("steps", "whole", 3, _within("steps", 1, 10)),
            Parameter("decay", "number", 0.85, _within("decay", 0, 1)),
            Parameter("threshold", "number", 0.1, _within("threshold", 0, 1)),
        ),
        run=activate,
        asks=(operations.Activate,),
    ),
    Verb(
        name="stats",
        does="The memory in numbers, and its map.",
        parameters=(),
        run=stats,
        asks=(recalls.Manifest, recalls.Tags),
    ),
    Verb(
        name="sparql",
        does="A read-only SPARQL query: a list of records, true or false, or Turtle.",
        parameters=(Parameter("query", "text"),),
        run=sparql,
        asks=(graphs.Query,),
    ),
    Verb(
        name="snapshot",
        does="The whole memory as one expression that loads it; `true` for the namespace alone.",
        parameters=(Parameter("only", "truth", False),),
        run=snapshot,
    ),
    Verb(name="policies", does="The policies, by name.", parameters=(), run=policies, asks=(operations.Policies,)),
    Verb(
        name="policy",
        does="The expression of a policy.",
        parameters=(Parameter("name", "text"),),
        run=policy,
        asks=(operations.Policies,),
    ),
    Verb(
        name="run",
        does="Evaluate a policy; it costs fuel as what it holds does.",
        parameters=(Parameter("name", "text"),),
        run=run,
        brings_memories=True,
        asks=(operations.Policies,),
    ),
)
WRITING = (
    Verb(
        name="remember",
        does='Keep a text as a memory, in the third person; importance is 0..1, ttl as "30d".',
        parameters=(
            Parameter("text", "text", check=_filled("content")),
            Parameter("type", "text", "fact"),
            Parameter("importance", "number", 0.5),
            Parameter("ttl", "text", None, seconds),
            Parameter("tags", "texts", None),
        ),
        run=remember,
        asks=("remember",),
        writes=True,
    ),
    Verb(
        name="associate",
        does="Let one memory lead to another; where it does already, the link grows by a tenth of the weight.",
        parameters=(
            Parameter("from", "text", check=parse_iri, look_up=_look_up_memory),
            Parameter("to", "text", check=parse_iri, look_up=_look_up_memory),
            Parameter("relation", "text", "similar", _filled("relation")),
            Parameter("weight", "number", 0.5, _within("weight", 0, 1)),
        ),
        run=associate,
        asks=(operations.Associate,),
        writes=True,
    ),
    Verb(
        name="feedback",
        does='Say that a memory helped ("success") or misled ("fail"): its energy grows or shrinks by a tenth.',
        parameters=(
            Parameter("id", "text", check=parse_iri, look_up=_look_up_memory),
            Parameter("outcome", "text", check=_check_outcome),
        ),
        run=feedback,
        asks=(operations.Feedback,),
        writes=True,
    ),
    Verb(
        name="decay!",
        does="Let energies fade up to now, by half in `living.half_life` days (7); a second time at once changes nothing.",
        parameters=(Parameter("half-life-days", "number", None, _check_half_life),),
        run=decay,
        asks=(operations.Decay,),
        writes=True,
    ),
    Verb(
        name="consolidate",
        does="Archive the memories that have no energy left and are hardly used, and draw the map again.",
        parameters=(Parameter("dry-run", "truth", False),),
        run=consolidate,
        asks=(operations.Archive, recalls.Manifest),
        writes=True,
    ),
    Verb(
        name="compact",
        does="Hide what is old, what says the same again, what matters least where there is too much; undo: not.",
        parameters=(Parameter("dry-run", "truth", False), Parameter("undo", "truth", False)),
        run=compact,
        asks=(care.Compact,),
        writes=True,
    ),
    Verb(
        name="unarchive",
        does="Bring an archived memory back.",
        parameters=(Parameter("id", "text"),),
        run=unarchive,
        brings_memories=True,
        asks=(operations.Unarchive,),
        writes=True,
    ),
    Verb(
        name="set-policy",
        does="Keep an expression under a name, to be run again.",
        parameters=(Parameter("name", "text"), Parameter("expression", "any")),
        run=set_policy,
        asks=(operations.SetPolicy,),
        writes=True,
        takes_forms=True,
    ),
    Verb(
        name="load",
        does="Take in what `snapshot` gave; a second time changes nothing.",
        parameters=(),
        run=load_dataset,
        brings_memories=True,
        writes=True,
        takes_forms=True,
        takes_more=True,
    ),
)
VERBS: Table = {verb.name: verb for verb in (*READING, *WRITING, *VALUES)}


def table() -> str:
    """Return the verbs as the table of docs/sexpr.md."""
    lines = ["| expression | what it does |", "| --- | --- |"]
    for kind, verbs in (("reading", READING), ("changing the memory", WRITING), ("taking values apart", VALUES)):
        lines.append(f"| *{kind}* | |")
        lines += [f"| `{verb.signature}` | {verb.does} |" for verb in verbs]
    return "\n".join(lines) + "\n"
