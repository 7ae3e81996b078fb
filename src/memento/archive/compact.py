"""
Compacts a namespace: hides what is too old, what repeats something, and what is least important if there is too much.

*Flow:* `stage_compaction` decides, and writes only a graph branch: what the namespace would gain and lose → the user reviews it →
`apply_branch` writes that in steps → `undo_branch` reverts exactly that.

*Guarantees:* compacted memories are hidden, as by `forget`: their text, note and history stay. Two memories are merged only if they
say the same in the same words, about the same, as the same kind of statement; the one that stays gets the notes, tags, names and
links of both. A recall waits for one step at most. An interrupted run can be continued or undone from where it stopped.
`undo_branch` leaves alone what was forgotten after the compaction, or restored by hand.

*Because:* cosines cannot distinguish paraphrases from different values: "the room is green" and "the room is blue" are as similar
as two wordings of one statement. Memories that are only similar are counted, not merged.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memento import rank
from memento.backends import Backends
from memento.errors import NotFound
from memento.graph.mapping import statements
from memento.graph.store import Row
from memento.graph.terms import to_own_quad, to_quads
from memento.iris import IRI, MEM, PROV, TYPE, association_iri, branch_iri, branch_prefix, link_iri
from memento.model import BranchStage, Change, Compacted, Compaction, Quad, Scope, Value
from memento.ports import Progress, Vectors
from memento.search.nodes import Record
from memento.text.claims import read_claims

Nodes = NDArray[np.int32]

STEP = 64
"""Memories hidden or restored in one write."""
_REST_S = 0.002
"""Seconds between two steps, in which waiting callers get the lock."""
_AT_ONCE = 500  # memories that are read together
_REMOVED = ":removed"
_COUNTS = re.compile(r"(?<!\d)(\d++) (expired|merged|evicted|in all)")

# Words that do not change the meaning, and different spellings of the same word.
_FILLER = frozenset(("a", "an", "the", "really", "also", "just", "please"))
_WORD = re.compile(r"[^\W_]+(?:[.,:/'’-][^\W_]+)*|[%$€£°+*=<>#@&/-]")
_STAMP = re.compile(r"\[[^\[\]]{0,40}\]")
_COPIED = (MEM.about, MEM.mentions, MEM.tagged, MEM.refers, MEM.contradicts, PROV.wasDerivedFrom)
"""Predicates whose values the remaining memory takes over from the hidden one."""
_SAME = (
    *(MEM.about, MEM.subject, MEM.saidBy, MEM.title, MEM.eventAt, MEM.mood),
    *(MEM.container, MEM.memoryType, MEM.invalidAt, MEM.expiresAt, MEM.parent, MEM.invalidates, MEM.supersedes),
)
"""Predicates whose values must be equal for a merge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """
    What a compaction hides: memories older than `ttl_days`; memories that repeat one of the `newest`, with a cosine of at least
    `alike`; and if there are more than `most`, the least important. 0 days, or 0 newest memories, turns a rule off.
    """

    ttl_days: float = 180.0
    most: int = 10_000
    alike: float = 0.92
    newest: int = 500
    shown: int = 100
    """Most lines of the answer."""


@dataclass(slots=True, kw_only=True)
class _Plan:
    """What would be hidden: positions in `iris` by reason, for merged ones the position of the one that stays, and the cosine."""

    iris: Sequence[IRI]
    expired: list[int]
    evicted: list[int]
    merged: dict[int, tuple[int, float]]
    alike: int
    weights: Mapping[int, float]
    created: NDArray[np.float64]


def stage_compaction(
    rules: Rules, scope: Scope, now: datetime, parts: Backends, writing: AbstractContextManager[object]
) -> Compacted:
    """
    Decide what a compaction of the namespace does, and write it as a branch of its graph; the graph itself does not change.
    Branches that were staged earlier and never applied are deleted.

    Args:
        writing: the lock of all writers; held only during each write.
    """
    plan = _plan_compaction(rules, scope, now, parts)
    nodes, iri_of = [*plan.expired, *plan.merged, *plan.evicted], plan.iris
    change = Change(tuple((iri_of[node], MEM.expiredAt, now, scope.graph) for node in nodes))
    change += _merge_memories([(iri_of[old], iri_of[kept]) for old, (kept, _) in plan.merged.items()], scope, parts)
    branch = branch_iri(scope.tenant, scope.namespace)
    counts = (
        f"{len(plan.expired)} expired, {len(plan.merged)} merged, {len(plan.evicted)} evicted, {len(plan.iris)} in all"
    )
    for stale in list_branches(scope, parts, stages=("staged",)):
        with writing:
            _drop_branch(stale, scope, parts)
    if nodes:
        record = (
            (branch, TYPE, MEM.Compaction),
            (branch, MEM.graph, scope.graph),
            (branch, MEM.at, now),
            (branch, MEM.reason, counts),
            (branch, MEM.stage, "staged"),
        )
        staged = (
            *((one, predicate, value, branch) for one, predicate, value, _ in change.adds),
            *((one, predicate, value, IRI(branch + _REMOVED)) for one, predicate, value, _ in change.removes),
        )
        for begin in range(0, len(staged), _AT_ONCE):
            with writing:
                parts.graph.extend(to_quads(staged[begin : begin + _AT_ONCE]), ())
        with writing:
            parts.apply(Change(tuple((*triple, scope.provenance) for triple in record)))
    return Compacted(
        branch=branch if nodes else None,
        stage="staged",
        expired=len(plan.expired),
        merged=len(plan.merged),
        evicted=len(plan.evicted),
        total=len(plan.iris),
        remaining=len(plan.iris) - len(nodes),
        alike=plan.alike,
        changes=_list_changes(plan, rules, now, scope, parts),
        more=max(len(nodes) - rules.shown, 0),
    )


def list_branches(scope: Scope, parts: Backends, *, stages: Sequence[str]) -> list[IRI]:
    """List the branches of a namespace at one of some stages, the latest first."""
    found = []
    for quad in parts.graph.match(None, MEM.graph, scope.graph, scope.provenance):
        iri = to_own_quad(quad)[0]
        if iri.startswith(branch_prefix(scope.tenant)) and _read_branch(iri, scope, parts).get(MEM.stage) in stages:
            found.append(iri)
    return sorted(found, reverse=True)


def apply_branch(
    branch: IRI, scope: Scope, parts: Backends, writing: AbstractContextManager[object], progress: Progress | None
) -> Compacted:
    """
    Write the changes of a branch in steps: first what the remaining memories gain, then what is hidden. Leave alone what has
    changed since the branch was staged.

    Args:
        writing: the lock of all writers; held only during each step.

    Raises:
        NotFound: the namespace has no such staged branch.
    """
    said = _require_stage(branch, ("staged", "applying"), scope, parts)
    with writing:
        _set_stage(branch, "applying", scope, parts)
    change = read_branch(branch, scope, parts)
    hidden = [quad for quad in change.adds if quad[1] == MEM.expiredAt]
    gains = Change(tuple(quad for quad in change.adds if quad[1] != MEM.expiredAt), change.removes)
    for step in _split_by_subject(gains):
        with writing:
            parts.commit(step, scope)
        time.sleep(_REST_S)
    for done, batch in _walk_steps(hidden):
        with writing:
            _hide(batch, scope, parts)
        if progress:
            progress(done, len(hidden))
    with writing:
        _set_stage(branch, "applied", scope, parts)
    return _sum_up(branch, "applied", said)


def undo_branch(
    branch: IRI | None,
    scope: Scope,
    parts: Backends,
    writing: AbstractContextManager[object],
    progress: Progress | None,
) -> Compacted:
    """
    Revert the changes of a branch in steps; what was forgotten or changed meanwhile stays as it is.

    Args:
        branch: None is the latest one of the namespace.
        writing: as for `apply_branch`.

    Raises:
        NotFound: the namespace has no such applied branch.
    """
    stages = ("applied", "applying", "undoing")
    latest = branch or next(iter(list_branches(scope, parts, stages=stages)), None)
    if latest is None:
        raise NotFound(f"no compaction of the namespace {scope.namespace!r} can be undone: none was applied")
    said = _require_stage(latest, stages, scope, parts)
    with writing:
        _set_stage(latest, "undoing", scope, parts)
    change = read_branch(latest, scope, parts)
    hidden = [quad for quad in change.adds if quad[1] == MEM.expiredAt]
    for done, batch in _walk_steps(hidden):
        with writing:
            _show(batch, scope, parts)
        if progress:
            progress(done, len(hidden))
    gains = Change(change.removes, tuple(quad for quad in change.adds if quad[1] != MEM.expiredAt))
    for step in _split_by_subject(gains):
        with writing:
            parts.commit(step, scope)
        time.sleep(_REST_S)
    with writing:
        _drop_branch(latest, scope, parts, keep_record=True)
        _set_stage(latest, "undone", scope, parts)
    holding = parts.indexes.count_current([scope.graph], parts.clock())
    # What was forgotten meanwhile is not restored, and not counted.
    merged, expired = _count_shown(hidden, change, said)
    evicted = len(hidden) - merged - expired
    summed = _sum_up(latest, "undone", said)
    return replace(summed, remaining=holding, merged=merged, expired=expired, evicted=evicted)


def read_branch(branch: IRI, scope: Scope, parts: Backends) -> Change:
    """Return what a branch adds to the graph of its namespace, and removes from it."""
    adds, removes = (
        tuple((one, predicate, value, scope.graph) for one, predicate, value, _ in parts.graph.quads(IRI(graph)))
        for graph in (branch, branch + _REMOVED)
    )
    return Change(adds, removes)


def find_merged(memories: Sequence[IRI], scope: Scope, parts: Backends) -> list[IRI]:
    """Find the memories that were merged into these, and transitively: they repeat something that is to be forgotten."""
    found: dict[IRI, None] = {}
    queue = list(memories)
    while queue:
        merged = [to_own_quad(quad)[2] for quad in parts.graph.match(queue.pop(), MEM.merges, None, scope.graph)]
        new = [cast(IRI, one) for one in merged if one not in found]
        found |= dict.fromkeys(new)
        queue += new
    return list(found)


def release(memories: Sequence[IRI], scope: Scope, parts: Backends) -> Change:
    """Return the change that keeps branches from restoring some memories, because somebody has forgotten them."""
    prefix = branch_prefix(scope.tenant)
    said = (to_own_quad(quad) for one in memories for quad in parts.graph.match(one, MEM.expiredAt))
    return Change(removes=tuple(quad for quad in said if quad[3].startswith(prefix)))


def _plan_compaction(rules: Rules, scope: Scope, now: datetime, parts: Backends) -> _Plan:
    """Decide what to hide, in the order of the published design: by age, by similarity, by importance."""
    every = parts.indexes.list_newest([scope.graph], now)
    iris, created, matters = every.iris[::-1], every.written[::-1], every.importance[::-1]
    nodes = np.arange(len(iris), dtype=np.int32)
    days = np.maximum(now.timestamp() - created, 0.0) / 86_400
    is_old = days > rules.ttl_days if rules.ttl_days else np.zeros(len(nodes), dtype=np.bool_)
    kept, kept_days, kept_matters = (
        nodes[~is_old],
        days[~is_old],
        matters[~is_old] * rank.age_importance(1.0, 1.0) ** days[~is_old],
    )
    merged, alike = _find_repeated(kept, created[~is_old], iris, rules, scope, parts) if rules.newest else ({}, 0)
    stays = ~np.isin(kept, np.array([*merged], dtype=np.int32))
    left, weights = kept[stays], kept_matters[stays]
    order = np.lexsort((left, -kept_days[stays], weights))  # of equal importance, the oldest first
    evicted = left[order][: max(len(left) - rules.most, 0)].tolist()
    return _Plan(
        iris=iris,
        expired=nodes[is_old].tolist(),
        evicted=evicted,
        merged=merged,
        alike=alike,
        weights=dict(zip(evicted, weights[order].tolist(), strict=False)),
        created=created,
    )


def _find_repeated(
    places: Nodes, created: NDArray[np.float64], every: Sequence[IRI], rules: Rules, scope: Scope, parts: Backends
) -> tuple[dict[int, tuple[int, float]], int]:
    """Find which of the newest memories repeat a newer one, and count the pairs that are as similar but say something else."""
    newest, indexes = places[np.lexsort((-places, -created))[: rules.newest]].tolist(), parts.indexes
    with indexes.lock:
        known = indexes.find_all([every[place] for place in newest], [scope.graph])
        ids = {place: known[every[place]] for place in newest if every[place] in known}
        vectors = indexes.vectors["memory"].vectors(np.array([*ids.values()], dtype=np.int32))
    newest = [*ids]
    iris = [every[place] for place in newest]
    pairs = _list_alike(vectors, rules.alike)
    read = _read_records(sorted({iris[place] for pair in pairs for place in pair[:2]}), scope, parts)
    merged: dict[int, tuple[int, float]] = {}
    alike = 0
    for newer, older, cosine in pairs:
        if older in merged or newer in merged:
            continue
        one, other = read.get(iris[newer]), read.get(iris[older])
        if one is None or other is None or not say_the_same(one, other):
            alike += 1
        else:
            merged[older] = (newer, cosine)
    return {newest[older]: (newest[newer], cosine) for older, (newer, cosine) in merged.items()}, alike


def _list_alike(vectors: Vectors, least: float) -> list[tuple[int, int, float]]:
    """List the pairs of rows of (n, d) unit vectors with a cosine of at least `least`; for each row the highest first."""
    found = []
    for begin in range(0, len(vectors), _AT_ONCE):
        cosines = vectors[begin : begin + _AT_ONCE] @ vectors.T
        for one, other in zip(*np.nonzero(cosines >= least), strict=True):
            if begin + one < other:
                found.append((int(begin + one), int(other), float(cosines[one, other])))
    return sorted(found, key=lambda pair: (pair[0], -pair[2], pair[1]))


def say_the_same(one: Record, other: Record) -> bool:
    """
    Tell whether two memories may be merged: the same words in the same order, apart from articles and the like, about the same,
    said by the same speaker. Events of two days are different events.
    """
    if any(set(one.statements.get(name, ())) != set(other.statements.get(name, ())) for name in _SAME):
        return False
    text, again = one.first(MEM.content), other.first(MEM.content)
    if _list_words(text) != _list_words(again):
        return False
    began, before = one.time_of(MEM.validAt), other.time_of(MEM.validAt)
    if began is None or before is None or began.date() == before.date():
        return began is not None and before is not None
    claims = read_claims(text)
    happened = any(claim.is_event or claim.tense == "past" for claim in claims)
    return bool(claims) and not happened and MEM.eventAt not in one.statements


def _list_words(text: str) -> list[str]:
    """
    List the words and signs of a text without those that do not change its meaning.

    >>> _list_words("I really like the tea.") == _list_words("I like tea"), _list_words("-3 °C") == _list_words("3 °C")
    (True, False)
    """
    words = _WORD.findall(_STAMP.sub(" ", text).casefold().replace("’", "'"))
    return [word for word in words if word not in _FILLER]


def _read_records(memories: Sequence[IRI], scope: Scope, parts: Backends) -> dict[IRI, Record]:
    records = []
    for begin in range(0, len(memories), _AT_ONCE):
        records += parts.indexes.read(memories[begin : begin + _AT_ONCE], [scope.graph])
    return {one.iri: one for one in records}


def _merge_memories(pairs: Sequence[tuple[IRI, IRI]], scope: Scope, parts: Backends) -> Change:
    """
    Return what the remaining memories gain, given pairs of a hidden memory and the one that stays: notes, tags, names, links, and
    the earlier start.
    """
    adds: list[Quad] = []
    removes: dict[Quad, None] = {}
    records = _read_records(sorted({iri for pair in pairs for iri in pair}), scope, parts)
    begun: dict[IRI, tuple[datetime, datetime]] = {}
    for old, kept in pairs:
        gone, stays = records[old], records[kept]
        adds.append((kept, MEM.merges, old, scope.graph))
        notes = gone.statements.get(MEM.extractedFrom, ())
        adds += [(kept, PROV.wasDerivedFrom, note, scope.graph) for note in notes]
        adds += [
            (kept, name, value, scope.graph)
            for name in _COPIED
            for value in gone.statements.get(name, ())
            if value not in stays.statements.get(name, ()) and value != kept
        ]
        adds += _move_links(old, kept, scope, parts)
        first, last = gone.time_of(MEM.validAt), stays.time_of(MEM.validAt)
        if first and last and first < begun.get(kept, (last, last))[0]:
            begun[kept] = (first, last)
    for kept, (first, before) in begun.items():
        quad: Quad = (kept, MEM.validAt, before, scope.graph)
        if all(
            parts.graph.holds(one) for one in to_quads([quad])
        ):  # in our own terms: what is restored is what was there
            adds.append((kept, MEM.validAt, first, scope.graph))
            removes[quad] = None
    return Change(tuple(dict.fromkeys(adds)), tuple(removes))


def _move_links(old: IRI, kept: IRI, scope: Scope, parts: Backends) -> Iterator[Quad]:
    """Yield the links from keys, and from and to other memories, that the remaining memory does not have yet."""
    ends = (MEM["from"], MEM.to)
    links = {to_own_quad(quad)[0] for end in ends for quad in parts.graph.match(None, end, old, scope.graph)}
    for link in sorted(links):
        quads = [to_own_quad(quad) for quad in parts.graph.match(link, None, None, scope.graph)]
        said = {predicate: kept if predicate in ends and value == old else value for _, predicate, value, _ in quads}
        source, target = str(said.get(MEM["from"], "")), str(said.get(MEM.to, ""))
        if source == target or not (source and target):
            continue
        moved = (
            association_iri(source, str(said[MEM.relation]), target)
            if MEM.relation in said
            else link_iri(source, target)
        )
        if not any(True for _ in parts.graph.match(moved, None, None, scope.graph)):
            yield from ((moved, predicate, value, scope.graph) for predicate, value in said.items())


def _split_by_subject(change: Change) -> Iterator[Change]:
    """Yield a change in parts of some subjects each, without empty parts."""
    subjects = list(dict.fromkeys(quad[0] for quad in (*change.adds, *change.removes)))
    for begin in range(0, len(subjects), STEP):
        some = set(subjects[begin : begin + STEP])
        yield Change(
            tuple(quad for quad in change.adds if quad[0] in some),
            tuple(quad for quad in change.removes if quad[0] in some),
        )


def _walk_steps(hidden: Sequence[Quad]) -> Iterator[tuple[int, Sequence[Quad]]]:
    """Yield the memories to hide in steps, each with the number that are done after it; pause in between."""
    for begin in range(0, len(hidden), STEP):
        batch = hidden[begin : begin + STEP]
        yield begin + len(batch), batch
        time.sleep(_REST_S)


def _hide(batch: Sequence[Quad], scope: Scope, parts: Backends) -> None:
    """Hide those of the memories that are still visible."""
    ended = _list_ended([quad[0] for quad in batch], scope, parts)
    fresh = tuple(quad for quad in batch if quad[0] not in ended)
    if fresh:
        memories = [quad[0] for quad in fresh]
        parts.invalidate_copies(memories)
        parts.reschedule(Change(fresh), memories, scope.graph)
        parts.invalidate_copies(memories)  # one that was made meanwhile


def _show(batch: Sequence[Quad], scope: Scope, parts: Backends) -> None:
    """Restore the memories that are hidden since that time and only by this compaction."""
    ended = _list_ended([quad[0] for quad in batch], scope, parts)
    back = tuple(quad for quad in batch if ended.get(quad[0]) == {quad[2]})
    if back:
        parts.reschedule(Change(removes=back), [quad[0] for quad in back], scope.graph)


def _list_ended(memories: Sequence[IRI], scope: Scope, parts: Backends) -> dict[IRI, set[Value]]:
    """Return since when some memories are hidden, for those that are."""
    said = (to_own_quad(quad) for one in memories for quad in parts.graph.match(one, MEM.expiredAt, None, scope.graph))
    return {one: set(values[MEM.expiredAt]) for one, values in statements(said).items()}


def _read_branch(branch: IRI, scope: Scope, parts: Backends) -> dict[IRI, Value]:
    return {
        to_own_quad(quad)[1]: to_own_quad(quad)[2] for quad in parts.graph.match(branch, None, None, scope.provenance)
    }


def _require_stage(branch: IRI, stages: Sequence[str], scope: Scope, parts: Backends) -> dict[IRI, Value]:
    said = _read_branch(branch, scope, parts)
    if said.get(MEM.graph) != scope.graph or said.get(MEM.stage) not in stages:
        is_known = said.get(MEM.graph) == scope.graph
        state = f"it is {said.get(MEM.stage)}" if is_known else "there is none of that name"
        raise NotFound(f"no branch <{branch[:200]}> of the namespace {scope.namespace!r} is {stages[0]}: {state}")
    return said


def _set_stage(branch: IRI, stage: str, scope: Scope, parts: Backends) -> None:
    before = _read_branch(branch, scope, parts).get(MEM.stage)
    if before != stage:
        removes = ((branch, MEM.stage, before, scope.provenance),) if before is not None else ()
        parts.apply(Change(((branch, MEM.stage, stage, scope.provenance),), removes))


def _drop_branch(branch: IRI, scope: Scope, parts: Backends, *, keep_record: bool = False) -> None:
    """Remove a branch from the store; `keep_record` keeps what was done and when."""
    said = [quad for graph in (branch, branch + _REMOVED) for quad in parts.graph.quads(IRI(graph))]
    if not keep_record:
        said += [to_own_quad(quad) for quad in parts.graph.match(branch, None, None, scope.provenance)]
    if said:
        parts.apply(Change(removes=tuple(said)))


def _count_shown(hidden: Sequence[Quad], change: Change, said: Mapping[IRI, Value]) -> tuple[int, int]:
    """Count what an undo has restored: how many had been merged, and how many of the rest were old."""
    counts = {name: int(number) for number, name in _COUNTS.findall(str(said.get(MEM.reason, "")))}
    into = {quad[2] for quad in change.adds if quad[1] == MEM.merges}
    merged = sum(quad[0] in into for quad in hidden)
    return merged, min(counts.get("expired", 0), len(hidden) - merged)


def _sum_up(branch: IRI, stage: BranchStage, said: Mapping[IRI, Value]) -> Compacted:
    counts = {name: int(number) for number, name in _COUNTS.findall(str(said.get(MEM.reason, "")))}
    gone = counts.get("expired", 0) + counts.get("merged", 0) + counts.get("evicted", 0)
    total = counts.get("in all", 0)
    return Compacted(
        branch=branch,
        stage=stage,
        expired=counts.get("expired", 0),
        merged=counts.get("merged", 0),
        evicted=counts.get("evicted", 0),
        total=total,
        remaining=total if stage == "undone" else total - gone,
    )


def _list_changes(plan: _Plan, rules: Rules, now: datetime, scope: Scope, parts: Backends) -> tuple[Compaction, ...]:
    """List what is hidden, one line each up to a limit: first merged ones, then old ones, then unimportant ones."""
    shown = [*plan.merged, *plan.expired, *plan.evicted][: rules.shown]
    into, iri_of = {node: plan.merged[node][0] for node in shown if node in plan.merged}, plan.iris
    text_of = _read_contents([iri_of[node] for node in {*shown, *into.values()}], scope, parts)
    expired = set(plan.expired)
    changes = []
    for node in shown:
        kept = iri_of[into[node]] if node in into else None
        if kept:
            detail = f"says the same, cosine {plan.merged[node][1]:.2f}"
        elif node in expired:
            detail = f"written {(now.timestamp() - plan.created[node]) / 86_400:.0f} days ago"
        else:
            detail = f"importance {plan.weights[node]:.3f}"
        changes.append(
            Compaction(
                memory=iri_of[node],
                content=text_of.get(iri_of[node], ""),
                why="merged" if kept else "expired" if node in expired else "evicted",
                into=kept,
                into_content=text_of.get(kept) if kept else None,
                detail=detail,
            )
        )
    return tuple(changes)


def _read_contents(memories: Sequence[IRI], scope: Scope, parts: Backends) -> dict[IRI, str]:
    rows: list[Row] = parts.graph.select("search/texts", [scope.graph], memory=memories) if memories else []
    return {row["memory"]: str(row["content"]) for row in rows}
