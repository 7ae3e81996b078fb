"""Memories that cannot, or likely cannot, hold together: which there are, and how a person settles it."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.consolidation.context import load_statements
from memento.errors import InputError, NotFound
from memento.graph.mapping import invalidates, node_or_none, quads
from memento.iris import IRI, MEM, TYPE, mint, parse_iri
from memento.model import Change, Dispute, Invalidation, Memory, Quad, Scope, Settled

SETTLED_CONTRADICTION = "settled-contradiction"
"""The rule of an invalidation by hand that took the flags of a contradiction away, so that `undo` can put them back."""

_CONTRADICTION = "both give another value of one property from the same moment on"


def list_disputes(scope: Scope, parts: Backends, limit: int = 100) -> tuple[Dispute, ...]:
    """Return the disputes of a namespace, contradictions first, then the likeliest rivals."""
    rows = parts.graph.select("library/disputed", [scope.graph])
    return tuple(
        Dispute(
            one=cast(IRI, row["one"]),
            other=cast(IRI, row["other"]),
            confidence=cast(float, row.get("confidence", 1.0)),
            reason=str(row.get("reason", "" if "confidence" in row else _CONTRADICTION)),
            contents=(str(row["oneContent"]), str(row["otherContent"])),
            since=(cast(datetime, row["oneSince"]), cast(datetime, row["otherSince"])),
        )
        for row in rows[:limit]
    )


def settle_dispute(kept: str, ended: str, scope: Scope, parts: Backends, *, reason: str = "") -> Settled:
    """
    End one of two memories in favour of the other, and drop what flagged them; `undo` takes it back.

    Raises:
        NotFound: the namespace has no such current memory.
        InputError: both are the same one, or the other is over already.
    """
    if kept == ended:
        raise InputError("a memory is in no dispute with itself: name the one to keep and the one to end")
    right, wrong = _memory(kept, scope, parts), _memory(ended, scope, parts)
    flags = contradict(right.iri, wrong.iri, scope.graph)
    said = load_statements([right.iri, wrong.iri], scope, parts)
    is_contradiction = any(to in said[one].get(MEM.contradicts, ()) for one, _, to, _ in flags)
    now = parts.clock()
    if wrong.invalid_at is not None and wrong.invalid_at <= now:
        raise InputError(f"the memory <{wrong.iri}> is over already: there is nothing to settle")
    act = Invalidation(
        iri=mint("invalidation"),
        invalidator=right.iri,
        invalidated=wrong.iri,
        reason=reason or f"Settled by hand: {right.content.rstrip('.!')}",
        at=now,
        mode="state-change",
        rule=SETTLED_CONTRADICTION if is_contradiction else "settled",
    )
    graph = scope.graph
    adds: list[Quad] = [*quads(act, graph), invalidates(right.iri, wrong.iri, graph)]
    adds.append((wrong.iri, MEM.invalidAt, max(wrong.valid_at, min(right.valid_at, now)), graph))
    removes = flags
    if wrong.invalid_at is not None:
        removes.append((wrong.iri, MEM.invalidAt, wrong.invalid_at, graph))
    parts.commit(Change(tuple(adds), tuple(removes)), scope)
    return Settled(
        invalidation=act.iri,
        kept=right.iri,
        ended=wrong.iri,
        contents={one.iri: one.content for one in (right, wrong)},
    )


def contradict(one: IRI, other: IRI, graph: IRI) -> list[Quad]:
    """Return what flags two memories as a contradiction, from either side."""
    return [(one, MEM.contradicts, other, graph), (other, MEM.contradicts, one, graph)]


def _memory(iri: str, scope: Scope, parts: Backends) -> Memory:
    known = parse_iri(iri) if ":" in iri else None
    said = load_statements([known], scope, parts).get(known) if known else None
    memory = node_or_none(Memory, known, said) if known and said and MEM.Memory in said.get(TYPE, ()) else None
    if memory is None:
        raise NotFound(f"there is no memory <{iri[:200]}> in the namespace {scope.namespace!r}")
    return memory
