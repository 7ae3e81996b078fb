"""Reads memories as a collection: describes one, lists many, orders some by their history, and finds their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nlargest

import numpy as np

from memento.backends import Backends
from memento.errors import NotFound
from memento.graph.binding import bind_query
from memento.graph.store import Row
from memento.iris import IRI, MEM, TYPE, namespace_of, parse_iri, relation_name
from memento.model import (
    Believed,
    BelievedClaim,
    Described,
    Ended,
    Filter,
    Listed,
    NoteRef,
    RecalledEntity,
    Relation,
    Scope,
    Source,
    TagCount,
    Timeline,
    Value,
)
from memento.retrieval.trace import describe_entities
from memento.time import NEVER, iso


def describe(iri: str, scope: Scope, parts: Backends) -> Described:
    """Describe an IRI by all statements in the readable graphs; raise `NotFound` if there are none."""
    rows = parts.graph.select("library/described", scope.readable, node=parse_iri(iri))
    own = [row for row in rows if "subject" not in row]
    if not own:
        raise NotFound(f"nothing is known of <{iri}> in the namespace {scope.namespace!r}")
    types = [str(row["value"]) for row in own if row["predicate"] == TYPE]
    properties = [(str(row["predicate"]), _as_text(row["value"])) for row in own if row["predicate"] != MEM.description]
    told = "".join(_as_text(row["value"]) for row in own if row["predicate"] == MEM.description)
    known = any(row["predicate"] == MEM.isWellKnown and row["value"] is True for row in own)
    if told or iri == scope.user:
        name = next((text for predicate, text in properties if predicate == MEM.name), "")
        anchor = RecalledEntity(
            iri=IRI(iri), name=name, kind="", description=told, is_well_known=known, is_user=iri == scope.user
        )
        if parts.indexes.find_all([anchor.iri], scope.memory_graphs, steps=1 if told else 0):
            (anchor,) = describe_entities([anchor], scope, parts)
        properties += [(str(MEM.description), anchor.description)] if anchor.description else []
    return Described(
        iri=IRI(iri),
        type=types[0].rsplit("/", 1)[-1] if types else "",
        namespace=namespace_of(str(own[0]["graph"])),
        properties=tuple(properties),
        pointed_at_by=tuple((str(row["subject"]), str(row["predicate"])) for row in rows if "subject" in row),
    )


def list_memories(
    scope: Scope,
    limit: int,
    offset: int,
    past: bool,
    now: datetime,
    parts: Backends,
    *,
    archived: bool = False,
    only: Filter | None = None,
) -> list[Listed]:
    """
    List a page of the memories of the readable graphs, the latest written first; with `past`, also those that are over.

    Args:
        archived: list only archived memories of the namespace itself.
        only: list only those that a filter accepts; None for all.
    """
    indexes = parts.indexes
    if archived:
        away = parts.graph.select("library/archived", [scope.graph])[offset : offset + limit]
        iris = [row["memory"] for row in away]
    else:
        iris = indexes.list_newest(scope.memory_graphs, None if past else now, only, skip=offset, most=limit).iris
    with indexes.lock:
        known = indexes.find_all(iris, scope.memory_graphs)
        tags = {iri: indexes.sorting.tags_of(node) for iri, node in known.items()}
    if not tags:
        return []
    rows = {row["memory"]: row for row in parts.graph.select("library/listed", scope.readable, memory=[*tags])}
    return [replace(_to_listed(rows[iri]), tags=tags[iri]) for iri in tags if iri in rows]


def build_timeline(
    subject: str,
    scope: Scope,
    limit: int,
    parts: Backends,
    *,
    now: datetime,
    as_of: datetime | None = None,
    believed_at: datetime | None = None,
) -> Timeline:
    """
    Build the history of an entity, the user, a memory or a note, oldest first; if there are more than `limit`, the latest.

    Args:
        subject: an IRI, the name of an entity, or `me`.
        as_of: only what was true then.
        believed_at: as far as known then; includes what was forgotten since.

    Raises:
        NotFound: nothing in the readable graphs goes by that name.
    """
    iris = resolve_subject(subject, scope, parts)
    indexes, graphs = parts.indexes, scope.memory_graphs
    with indexes.lock:
        told = _find_history(iris, scope, parts)
        nodes = indexes.nodes
        if as_of is None:
            visible = nodes.history(graphs, now=now, believed_at=believed_at)
        else:
            visible = nodes.current(graphs, now=now, as_of=as_of, believed_at=believed_at)
        ids = [node for node in told if visible[node]]
        days = nodes.days()
        # In the order in which they became true; on the same day, in the order in which they were written.
        ids.sort(key=lambda node: (int(days[node]), node))
        chosen = [nodes.iri(node) for node in ids[-limit:]]
        is_about = bool(_find_anchors(iris, scope, parts))
    rows = parts.graph.select("library/timeline", scope.readable, memory=chosen) if chosen else []
    parted = _load_ended(chosen, scope, believed_at, parts)
    # The first end counts, because there may be two.
    ends = {row["memory"]: row for row in reversed(rows) if "retiredAt" in row}
    memories = sorted(
        (
            replace(
                _to_believed({**row, **ends.get(row["memory"], {})}, as_of or now, believed_at or now),
                ended=parted.get(row["memory"], ()),
            )
            for row in rows
            if "content" in row
        ),
        key=lambda one: (one.valid_at, one.iri),
    )
    return Timeline(
        subject=subject,
        namespace=scope.namespace,
        iris=tuple(iris),
        memories=tuple(memories),
        claims=_load_claims(iris, scope, now, as_of, believed_at, parts) if is_about else (),
        earlier=max(len(ids) - limit, 0),
        sparql=_explain_as_query(iris, as_of, believed_at) if is_about and as_of else None,
    )


def list_tags(scope: Scope, parts: Backends) -> tuple[TagCount, ...]:
    """List the tags of the current memories of the readable graphs, the most used first."""
    counts = parts.indexes.count_tags(scope.memory_graphs, parts.clock())
    rows = parts.graph.select("library/tags", scope.readable, tag=list(counts)) if counts else []
    known = {row["tag"]: row for row in rows}
    found = [
        TagCount(tag=str(row["name"]), count=counts[tag], meaning=str(row.get("meaning", "")))
        for tag, row in known.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.count, one.tag)))


def list_entities(scope: Scope, limit: int, parts: Backends) -> tuple[RecalledEntity, ...]:
    """List the entities with the most memories in the readable graphs, past memories included; the most mentioned first."""
    indexes = parts.indexes
    counts = indexes.count_about(scope.memory_graphs)
    chosen = [iri for iri in nlargest(limit, counts, key=lambda iri: (counts[iri], iri)) if counts[iri]]
    if not chosen:
        return ()
    rows = {row["entity"]: row for row in parts.graph.select("library/entities", scope.readable, entity=chosen)}
    found = [
        RecalledEntity(
            iri=iri,
            name=str(rows[iri]["name"]),
            kind=str(rows[iri]["kind"]).rsplit("/", 1)[-1],
            description=str(rows[iri].get("description", "")),
            is_well_known=bool(rows[iri].get("isWellKnown", False)),
            memory_count=counts[iri],
        )
        for iri in chosen
        if iri in rows
    ]
    told = indexes.find_all([one.iri for one in found if one.description], scope.memory_graphs, steps=1)
    described = {one.iri: one for one in describe_entities([one for one in found if one.iri in told], scope, parts)}
    return tuple(described.get(one.iri, one) for one in found)


def list_sources(iri: str, scope: Scope, parts: Backends) -> list[Source]:
    """
    List the sources of a memory, or of each memory of a note; a note without memories has none.

    Raises:
        NotFound: the readable graphs do not know the IRI.
    """
    rows = parts.graph.select("library/sources", [*scope.readable, scope.provenance], node=parse_iri(iri))
    if not rows:
        describe(iri, scope, parts)
    grouped: dict[Value, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row["memory"], []).append(row)
    return [_to_source(found) for found in grouped.values()]


def list_relations(iri: str, scope: Scope, limit: int, now: datetime, parts: Backends) -> list[Relation]:
    """
    List how other memories are related to one, the strongest first; forgotten ones are left out, merged ones are not.

    Raises:
        NotFound: the readable graphs have no such memory.
    """
    rows = parts.graph.select("library/relations", scope.memory_graphs, node=IRI(iri))
    with parts.indexes.lock:
        places = parts.indexes.find_all([IRI(iri), *(row["memory"] for row in rows)], scope.memory_graphs)
        history = parts.indexes.nodes.history(scope.memory_graphs, now=now)
        shown = {iri for iri, node in places.items() if history[node]}
    if IRI(iri) not in shown:
        raise NotFound(f"there is no memory <{iri[:200]}> in the namespace {scope.namespace!r}")
    return [
        _to_relation(row)
        for row in sorted(rows, key=_rank_relation)
        if row["relation"] == MEM.merges or row["memory"] in shown
    ][:limit]


def list_linked(
    memories: Sequence[IRI],
    scope: Scope,
    limit: int,
    parts: Backends,
    *,
    now: datetime,
    as_of: datetime | None = None,
    believed_at: datetime | None = None,
    only: Filter | None = None,
) -> list[Relation]:
    """
    List the current memories that are linked to some others, each once, by its strongest link; the strongest first.

    Args:
        as_of: those that were true then.
        believed_at: as far as known then.
        only: list only those that a filter accepts; None for all.
    """
    if not memories:
        return []
    rows = parts.graph.select("library/relations", scope.memory_graphs, node=list(memories))
    found = {row["memory"]: row for row in sorted(rows, key=_rank_relation, reverse=True)}
    with parts.indexes.lock:
        known = parts.indexes.find_all([*found], scope.memory_graphs)
        nodes = parts.indexes.nodes
        shown = nodes.current(scope.memory_graphs, now=now, as_of=as_of, believed_at=believed_at)
        if only:
            shown = shown & parts.indexes.filter_nodes(only)
    linked = [row for iri, row in found.items() if iri not in memories and iri in known and shown[known[iri]]]
    return [_to_relation(row) for row in sorted(linked, key=_rank_relation)[:limit]]


def _rank_relation(row: Row) -> float:
    return -float(str(row.get("strength", 0.0)))


def _to_relation(row: Row) -> Relation:
    return Relation(
        memory=row["memory"],
        content=str(row["content"]),
        relation=relation_name(str(row["relation"])),
        way=row["way"],
        strength=None if "strength" not in row else float(str(row["strength"])),
        at=row.get("at"),
        of=row["node"],
    )


def list_mentioning(entity: str, scope: Scope, limit: int, now: datetime, parts: Backends) -> list[Relation]:
    """
    List the current memories about an entity, or about code with that part in its name, the latest first.

    Raises:
        NotFound: no entity or code has that name.
    """
    rows = parts.graph.select("library/code_memories", scope.memory_graphs, part=entity.strip().casefold())
    refers = [Relation(memory=row["memory"], content=str(row["content"]), relation="refers", way="in") for row in rows]
    try:
        about = tuple(resolve_subject(entity, scope, parts))
    except NotFound:
        if not refers:
            raise
        about = ()
    listed = list_memories(scope, limit, 0, False, now, parts, only=Filter(about=about)) if about else []
    found = [
        Relation(memory=one.iri, content=one.content, relation="about", way="in", at=one.created_at) for one in listed
    ]
    return list({one.memory: one for one in (*refers, *found)[::-1]}.values())[::-1][:limit]


def resolve_subject(subject: str, scope: Scope, parts: Backends) -> list[IRI]:
    """
    Resolve what a subject may mean: the IRI, every anchor with that name, or the only one whose longer name contains its words; if
    there is none, the only one whose name contains parts of words in their place.

    Raises:
        NotFound: nothing in the readable graphs has that name, or several longer names contain its words.
    """
    if subject.strip().lower() in ("me", "i", "myself", "user"):
        return [scope.user]
    with parts.indexes.lock:
        labels = parts.indexes.find_labels([subject], scope.memory_graphs, longer=True)
        if found := labels.find_exact(subject, (*scope.memory_graphs, scope.self_graph)):
            return [parts.indexes.nodes.iri(node) for node in found]
        longer = dict(labels.find_longer(subject, scope.memory_graphs)) or dict(
            labels.find_containing(subject, scope.memory_graphs)
        )
        if len(longer) == 1:
            return [parts.indexes.nodes.iri(node) for node in longer]
    if subject.startswith("urn:"):
        return [parse_iri(subject)]
    if longer:
        names = ", ".join(sorted(parts.indexes.name(parts.indexes.nodes.iri(node)) for node in longer)[:10])
        raise NotFound(f"{subject[:80]!r} may be any of {names}: give the whole name")
    raise NotFound(
        f"nothing in the namespace {scope.namespace!r} is called {subject[:80]!r}: "
        "give the name of an entity as a recall shows it, an IRI, or `me`"
    )


def _find_history(iris: Sequence[IRI], scope: Scope, parts: Backends) -> list[int]:
    """Find the ids of memories: those about some anchors, the successors and predecessors of a memory, or those of a note."""
    indexes = parts.indexes
    if known := _find_anchors(iris, scope, parts):
        return [int(node) for node in np.unique(np.concatenate([indexes.adjacency.memories(node) for node in known]))]
    rows = parts.graph.select("library/chain", scope.readable, node=iris[0])
    if not rows and iris[0] != scope.user:
        raise NotFound(f"there is no entity, memory or note <{iris[0]}> in the namespace {scope.namespace!r}")
    return [*indexes.find_all([row["memory"] for row in rows], scope.memory_graphs).values()]


def _find_anchors(iris: Sequence[IRI], scope: Scope, parts: Backends) -> list[int]:
    """Find the ids of those IRIs that are entities or the user."""
    known = parts.indexes.find_all(iris, scope.memory_graphs, steps=1).values()
    anchors = parts.indexes.nodes.within((*scope.memory_graphs, scope.self_graph), "anchor")
    return [node for node in known if anchors[node]]


def _explain_as_query(about: Sequence[IRI], true_at: datetime, believed_at: datetime | None) -> str:
    """Return a query for what was true of something then; without `believed_at`, as believed at the time the query runs."""
    return bind_query("library/as_of", {"about": about, "trueAt": true_at, "believedAt": believed_at or NEVER})


def _load_ended(
    memories: Sequence[IRI], scope: Scope, believed_at: datetime | None, parts: Backends
) -> dict[IRI, tuple[Ended, ...]]:
    """Load the claims of some memories that have ended, as far as that was known at `believed_at`."""
    found: dict[IRI, tuple[Ended, ...]] = {}
    for row in parts.graph.select("library/ended", scope.readable, memory=list(memories)) if memories else ():
        if believed_at and "learned" in row and row["learned"] > believed_at:
            continue
        one = Ended(
            words=str(row["words"]),
            at=row["at"],
            by=row.get("by"),
            reason=str(row.get("reason", "")),
            iri=row["claim"],
        )
        memory = row["memory"]
        found[memory] = (*found.get(memory, ()), one)
    return found


def _to_believed(row: Row, true_at: datetime, believed_at: datetime) -> Believed:
    retired = row.get("retiredAt")
    known = retired is None or retired <= believed_at
    invalid = row.get("invalidAt") if known else None
    corrected = known and row.get("mode") == "correction"
    return Believed(
        iri=row["memory"],
        content=str(row["content"]),
        note=row["note"],
        valid_at=row["validAt"],
        created_at=row["createdAt"],
        state="corrected" if corrected else "ended" if invalid and invalid <= true_at else "holds",
        invalid_at=invalid,
        successor=row.get("successor") if known else None,
        reason=str(row["reason"]) if known and "reason" in row else None,
        retired_at=retired if known else None,
    )


def _load_claims(
    nodes: Sequence[IRI],
    scope: Scope,
    now: datetime,
    as_of: datetime | None,
    believed_at: datetime | None,
    parts: Backends,
) -> tuple[BelievedClaim, ...]:
    """Load the claims of an entity or the user, and those about it, as known at `believed_at`."""
    rows = parts.graph.select("library/claims_of", scope.readable, node=list(nodes))
    known_at = believed_at or now
    hidden = {row["claim"] for row in rows if "forgottenAt" in row and row["forgottenAt"] <= known_at}
    # The first end counts, because there may be two.
    ends = {row["claim"]: row for row in reversed(rows) if "retiredAt" in row}
    stated = [
        {**row, **ends.get(row["claim"], {})}
        for row in rows
        if "words" in row and row["claim"] not in hidden and row["createdAt"] <= known_at
    ]
    names = {row["node"]: str(row["label"]) for row in _label([row["owner"] for row in stated], scope, parts)}
    claims = [_to_believed_claim(row, names, scope, as_of or now, known_at) for row in stated]
    if as_of is not None:
        claims = [one for one in claims if one.state == "holds" and one.valid_at <= as_of]
    return tuple(sorted(claims, key=lambda one: (one.valid_at, one.iri)))


def _label(nodes: Sequence[IRI], scope: Scope, parts: Backends) -> list[Row]:
    distinct = list(dict.fromkeys(nodes))
    rows = parts.graph.select("library/labels", scope.readable, node=distinct) if distinct else []
    return [row for row in rows if "label" in row]


def _to_believed_claim(
    row: Row, names: Mapping[Value, str], scope: Scope, true_at: datetime, known_at: datetime
) -> BelievedClaim:
    retired = row.get("retiredAt")
    known = retired is None or retired <= known_at
    invalid = row.get("invalidAt") if known else None
    corrected = known and row.get("mode") == "correction"
    owner = row["owner"]
    return BelievedClaim(
        iri=row["claim"],
        memory=row["memory"],
        owner=owner,
        name="you" if owner == scope.user else names.get(owner, str(owner)),
        relation=str(row["relation"]),
        complement=" ".join(sorted(str(row.get("complement", "")).split())),
        value=str(row.get("value", "")),
        words=str(row["words"]),
        valid_at=row["validAt"],
        created_at=row["createdAt"],
        state="corrected" if corrected else "ended" if invalid and invalid <= true_at else "holds",
        entity=row.get("entity"),
        mood=str(row.get("mood", "fact")),
        is_denied=row.get("isDenied") is True,
        is_event=row.get("isEvent") is True,
        invalid_at=invalid,
        retired_at=retired if known else None,
        by=row.get("by") if known else None,
        reason=str(row["reason"]) if known and "reason" in row else None,
    )


def _to_listed(row: Row) -> Listed:
    return Listed(
        iri=row["memory"],
        content=str(row["content"]),
        note=row["note"],
        valid_at=row["validAt"],
        created_at=row["createdAt"],
        invalid_at=row.get("invalidAt"),
        expired_at=row.get("expiredAt"),
        archived_at=row.get("archivedAt"),
    )


def _to_source(rows: Sequence[Row]) -> Source:
    row = rows[0]
    return Source(
        memory=row["memory"],
        content=str(row["content"]),
        note=NoteRef(iri=row["note"], content=str(row["said"]), at=row["at"]),
        said_by=str(row.get("speaker", "USER")),
        agent=str(row.get("agentName", "")),
        agent_iri=row.get("agent"),
        kind=str(row.get("kind", "")),
        at=row.get("ended"),
        rules=tuple(dict.fromkeys(str(one["rule"]) for one in rows if "rule" in one)),
        prompts=str(row["prompts"]) if "prompts" in row else None,
    )


def _as_text(value: Value) -> str:
    return iso(value) if isinstance(value, datetime) else str(value)
