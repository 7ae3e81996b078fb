"""
Forgets and erases: forgotten data is hidden and stays in history; erased data is deleted with every trace of it.

Many notes contribute to a description, which names none of them: both remove the sentences that came from the removed ones, from
the user's and from those of what the removed memories are about.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

import numpy as np

from memento.archive.cases import drop_traces, find_derived_cases, find_look_ups
from memento.archive.compact import find_merged, release
from memento.backends import Backends
from memento.errors import InputError, NotFound
from memento.graph.ranges import fits
from memento.graph.store import Row
from memento.graph.terms import to_own_quad
from memento.iris import IRI, MEM, TYPE, branch_prefix, graph_iri, is_claim, parse_iri
from memento.model import Change, Forgotten, Quad, Scope, Unforgotten, Value
from memento.search.postings import tokens

UNREAD = "it was forgotten before it was understood"
"""The reason recorded for skipping a note that was forgotten while it waited; `unforget_iri` requeues only such notes."""
_NOTHING = Change()
_DERIVED = ("urn:memento:inferred:", "urn:memento:branch:")


def forget_iri(
    iri: str, scope: Scope, erase: bool, now: datetime, parts: Backends, *, confirm: bool = False
) -> Forgotten:
    """
    Let a memory, or all memories of a note or an agent, end at `now`; with `erase`, delete their text too.

    A claim alone is believed no more; its memory keeps every word.

    Raises:
        NotFound: the namespace's own graph has no memory, claim or note with that IRI, and nothing of such an agent.
        InputError: it is an agent, and it was not confirmed that everything it made should go; or a claim is to be erased.
    """
    if is_claim(iri):
        return _forget_claim(iri, scope, erase, now, parts)
    rows = parts.graph.select("library/memories_of", [scope.graph, scope.provenance], node=parse_iri(iri))
    if not rows:
        return _forget_note(iri, scope, erase, parts)
    memories = _add_dependent(rows, scope, parts)
    if not confirm and not any(iri in (row["memory"], row["note"], row.get("parent")) for row in rows):
        raise InputError(
            f"<{iri}> is an agent, which made {len(memories)} memories of the namespace {scope.namespace!r}: "
            "give confirm=true (`--confirm`) to forget all of them, or the IRI of one memory or note"
        )
    if erase:
        return _erase_memories(memories, rows, scope, now, parts)
    shorter = remove_from_description(memories, [str(row["content"]) for row in rows], scope, now, parts)
    # Cached copies of its topics may contain a memory even if the memory itself is not cached.
    said = parts.indexes.read(memories, [scope.graph])
    about = [IRI(str(one)) for record in said for one in record.statements.get(MEM.about, ())]
    copied = [*memories, *about, *_subjects_of(shorter)]
    parts.invalidate_copies(copied)
    live = [row["memory"] for row in rows if "expiredAt" not in row]
    change = Change(tuple((memory, MEM.expiredAt, now, scope.graph) for memory in live)) + shorter
    change += release(memories, scope, parts)
    if change.adds or change.removes:
        parts.commit(change, scope)
        parts.invalidate_copies(copied)  # one that was made meanwhile
    return Forgotten(memories=memories)


def erase_notes(notes: Sequence[IRI], scope: Scope, now: datetime, parts: Backends) -> Forgotten:
    """Delete notes and all that was made of them, as `forget_iri` does for one."""
    rows = parts.graph.select("library/memories_of", [scope.graph, scope.provenance], node=list(notes))
    memories = _add_dependent(rows, scope, parts)
    done = (
        _erase_memories(memories, rows, scope, now, parts)
        if memories
        else Forgotten(memories=(), notes=(), erased=True)
    )
    if rest := [note for note in notes if note not in done.notes and note not in done.still_told]:
        cases = _erase_nodes(rest, [], scope, parts)
        done = replace(done, notes=(*done.notes, *rest), cases=(*done.cases, *cases))
    return done


def _add_dependent(rows: list[Row], scope: Scope, parts: Backends) -> tuple[IRI, ...]:
    """
    Return the memories in rows of `library/memories_of`, with those that were merged into them, which say the same, and the
    summaries of sessions that use their words; add the rows of these.
    """
    memories = tuple(dict.fromkeys(row["memory"] for row in rows))
    if merged := find_merged(memories, scope, parts):
        rows += parts.graph.select("library/memories_of", [scope.graph, scope.provenance], node=merged)
        memories = tuple(dict.fromkeys((*memories, *merged)))
    if summing := parts.graph.select("library/summing", [scope.graph], memory=memories) if memories else ():
        summaries = [row["summary"] for row in summing]
        rows += parts.graph.select("library/memories_of", [scope.graph, scope.provenance], node=summaries)
        memories = tuple(dict.fromkeys((*memories, *summaries)))
    return memories


def _forget_claim(iri: str, scope: Scope, erase: bool, now: datetime, parts: Backends) -> Forgotten:
    said = _read_claim(iri, scope, parts)
    if erase:
        raise InputError(
            f"the words of <{iri}> are those of its memory: forget the claim alone, or erase the memory <{said[MEM.statedBy]}>"
        )
    if MEM.expiredAt not in said:
        parts.commit(Change(((IRI(iri), MEM.expiredAt, now, scope.graph),)), scope)
    return Forgotten(memories=(), claims=(IRI(iri),))


def _unforget_claim(iri: str, scope: Scope, parts: Backends) -> Unforgotten:
    said = _read_claim(iri, scope, parts)
    if MEM.expiredAt not in said:
        raise NotFound(f"<{iri}> cannot be brought back: it is not forgotten")
    parts.commit(Change(removes=((IRI(iri), MEM.expiredAt, said[MEM.expiredAt], scope.graph),)), scope)
    return Unforgotten(memories=(), claims=(IRI(iri),), contents={IRI(iri): str(said[MEM.words])})


def _read_claim(iri: str, scope: Scope, parts: Backends) -> dict[Value, Value]:
    """Read what is said of a claim of the namespace's own graph; raises `NotFound`."""
    rows = parts.graph.select("search/statements", [scope.graph], node=parse_iri(iri))
    if not any(row["predicate"] == MEM.statedBy for row in rows):
        raise NotFound(f"there is no claim <{iri[:200]}> in the namespace {scope.namespace!r}")
    return {row["predicate"]: row["value"] for row in rows}


def unforget_iri(iri: str, scope: Scope, now: datetime, parts: Backends) -> Unforgotten:
    """
    Restore what `forget_iri` has hidden of a memory, a claim or a note; a note that was forgotten before it was processed waits
    again.

    Raises:
        NotFound: the namespace's own graph has no such memory, claim or note, or nothing of it was forgotten: archived
            memories, and those that are over because their time has passed, do not count.
    """
    if is_claim(iri):
        return _unforget_claim(iri, scope, parts)
    rows = parts.graph.select("library/memories_of", [scope.graph, scope.provenance], node=parse_iri(iri))
    if not rows and (waiting := _await_note(iri, scope, parts)):
        return waiting
    own = [row for row in rows if iri in (row["memory"], row["note"], row.get("parent"))]
    hidden = list(dict.fromkeys(row["memory"] for row in own if "expiredAt" in row))
    said = parts.graph.select("search/statements", [scope.graph], node=hidden) if hidden else []
    stays = {
        row["node"]
        for row in said
        if row["predicate"] == MEM.archivedAt
        or (row["predicate"] == MEM.expiresAt and fits(MEM.expiresAt, row["value"]) and row["value"] <= now)
    }
    gone = [_to_statement(row) for row in said if row["predicate"] == MEM.expiredAt and row["node"] not in stays]
    if not gone:
        state = "nothing of it is forgotten" if own else "there is no such memory or note"
        raise NotFound(f"<{iri[:200]}> cannot be brought back: {state} in the namespace {scope.namespace!r}")
    memories = tuple(dict.fromkeys(quad[0] for quad in gone))
    parts.commit(Change(removes=tuple(gone)), scope)
    contents = {row["memory"]: str(row["content"]) for row in own if row["memory"] in memories}
    return Unforgotten(memories=memories, contents=contents)


def _await_note(iri: str, scope: Scope, parts: Backends) -> Unforgotten | None:
    """Let a note wait again that was forgotten before it was processed; None if there is no such note."""
    rows = parts.graph.select("library/unread", [scope.graph, scope.provenance], node=parse_iri(iri))
    runs = [row["run"] for row in rows if "run" in row and row["state"] == "skipped"]
    said = parts.graph.select("search/statements", [scope.provenance], node=runs) if runs else []
    reasons = [_to_statement(row) for row in said if row["predicate"] == MEM.reason and row["value"] == UNREAD]
    if not reasons:
        return None
    note = cast(IRI, rows[0]["note"])
    ends = [(note, scope.graph), *((reason[0], scope.provenance) for reason in reasons)]
    removes = (*((node, MEM.state, "skipped", graph) for node, graph in ends), *reasons)
    parts.commit(Change(tuple((node, MEM.state, "pending", graph) for node, graph in ends), removes), scope)
    return Unforgotten(memories=(), notes=(note,), contents={note: str(rows[0]["content"])})


def _erase_memories(
    memories: Sequence[IRI], rows: Sequence[Row], scope: Scope, now: datetime, parts: Backends
) -> Forgotten:
    notes: list[IRI] = []
    still: list[IRI] = []
    for note in dict.fromkeys(row["note"] for row in rows):
        derived = parts.graph.select("library/memories_of", [scope.graph], node=note)
        (notes if {row["memory"] for row in derived} <= set(memories) else still).append(note)
    names, keys = parts.indexes.find_idle(memories, scope.graph, scope.memory_graphs)
    texts = [parts.indexes.text(one) for one in parts.indexes.read(memories, [scope.graph])]
    said = parts.indexes.read(notes, [scope.graph]) if notes else []
    stated = [str(row["content"]) for row in rows] + [one.first(MEM.content) for one in said]
    shorter = remove_from_description(memories, stated, scope, now, parts, names)
    if described := _subjects_of(shorter):
        texts += [parts.indexes.text(one) for one in parts.indexes.read(described, [scope.self_graph, scope.graph])]
    texts += [parts.indexes.name(key) for key in keys]
    idle = parts.graph.select("library/idle_code", [scope.graph], memory=list(memories))
    code = [row["code"] for row in idle]
    cases = _erase_nodes([*memories, *notes, *keys, *names, *code], texts, scope, parts, shorter)
    return Forgotten(memories=tuple(memories), notes=tuple(notes), erased=True, still_told=tuple(still), cases=cases)


def _forget_note(iri: str, scope: Scope, erase: bool, parts: Backends) -> Forgotten:
    """Forget a note that waits to be processed, or from which no memory came: it is not tried again."""
    rows = parts.graph.select("library/unread", [scope.graph, scope.provenance], node=parse_iri(iri))
    if not rows:
        raise NotFound(f"there is no memory or note <{iri}> in the namespace {scope.namespace!r}")
    note, state = cast(IRI, rows[0]["note"]), rows[0]["state"]
    cases: tuple[IRI, ...] = ()
    if erase:
        cases = _erase_nodes([note], [], scope, parts)
    elif state != "skipped":
        ends = [(note, scope.graph), *((row["run"], scope.provenance) for row in rows if "run" in row)]
        adds = [(node, MEM.state, "skipped", graph) for node, graph in ends]
        adds += [(node, MEM.reason, UNREAD, graph) for node, graph in ends[1:]]
        said = parts.graph.select("search/statements", [scope.provenance], node=[node for node, _ in ends])
        gone = [_to_statement(row) for row in said if row["predicate"] in (MEM.reason, MEM.retryAt)]
        removes = [(node, MEM.state, state, graph) for node, graph in ends]
        parts.commit(Change(tuple(adds), (*removes, *gone)), scope)
    return Forgotten(memories=(), notes=(note,), erased=erase, cases=cases)


def _erase_nodes(
    nodes: Sequence[IRI], texts: Sequence[str], scope: Scope, parts: Backends, shorter: Change = _NOTHING
) -> tuple[IRI, ...]:
    """
    Delete all statements about some nodes and all references to them; also the vectors of note texts, which serve comparison.

    Returns:
        the cases that were deleted with them.
    """
    cases, theirs = find_derived_cases(nodes, scope.tenant, parts)
    found = _select_traces(nodes, scope, parts)
    if bare := _find_bare(nodes, found, scope, parts):
        names = [*parts.indexes.names_of(bare, scope.memory_graphs).values()]
        texts = [*texts, *names]
        theirs += find_look_ups(names, scope.tenant, parts)
        texts += [parts.indexes.text(one) for one in parts.indexes.read(bare, [scope.graph])]
        found += _select_traces(bare, scope, parts)
    nodes = [*nodes, *bare]
    about = [IRI(str(value)) for subject, predicate, value, _ in found if subject in nodes and predicate == MEM.about]
    copied = [*nodes, *about, *_subjects_of(shorter)]
    parts.invalidate_copies(copied)
    said = [str(value) for subject, predicate, value, _ in found if subject in nodes and predicate == MEM.content]
    gone = tuple(dict.fromkeys(found))
    links = Change(removes=_find_links_of_cases(gone, theirs, parts))
    parts.erase(
        Change(_close_gaps(gone, nodes), gone) + Change(removes=theirs) + links + shorter, scope, [*texts, *said]
    )
    drop_traces(theirs, parts)
    parts.invalidate_copies(copied)  # one that was made meanwhile
    return cases


def _find_links_of_cases(gone: Sequence[Quad], deleted: Sequence[Quad], parts: Backends) -> tuple[Quad, ...]:
    """Find the links of cases that stay to claims that go."""
    claims = [subject for subject, predicate, value, _ in gone if (predicate, value) == (TYPE, MEM.Claim)]
    links = [quad for one in claims for quad in _match(parts, predicate=MEM.about, value=one)]
    return tuple(quad for quad in dict.fromkeys(links) if quad not in deleted)


def _select_traces(nodes: Sequence[IRI], scope: Scope, parts: Backends) -> list[Quad]:
    branches = [graph for graph in parts.graph.graphs() if graph.startswith(branch_prefix(scope.tenant))]
    graphs = [scope.graph, scope.provenance, *branches]
    return [_to_quad(row) for row in parts.graph.select("library/traces", graphs, node=nodes)]


_NAMED = frozenset({MEM.Entity, MEM.CodeEntity, MEM.Key, MEM.Session, MEM.Tag, MEM.Relation})
"""Types of nodes that exist only for what refers to them, and whose names are somebody's words."""


def _find_bare(nodes: Sequence[IRI], gone: Sequence[Quad], scope: Scope, parts: Backends) -> list[IRI]:
    """
    Find the entities, keys, sessions, tags and kinds of association that nothing refers to once some nodes are deleted: their
    names may be what was erased.
    """
    going = {*nodes, *(quad[0] for quad in gone)}
    bare: dict[IRI, None] = {}
    queue = list(dict.fromkeys(quad[2] for quad in gone if isinstance(quad[2], IRI)))
    while queue:
        one = queue.pop()
        if one in going or not _is_named(one, scope, parts):
            continue
        pointing = {quad[0] for quad in _match(parts, value=one) if not _is_look_up(quad, parts)} - going
        # The key of an entity does not keep the entity: it is deleted with it, unless it leads somewhere.
        keys = {iri for iri in pointing if any(True for _ in parts.graph.match(iri, MEM.denotes, one, scope.graph))}
        leading = {quad[0] for key in keys for quad in _match(parts, value=key)}
        if pointing - keys or leading - going:
            continue
        bare |= dict.fromkeys((one, *sorted(keys)))
        going |= {one, *keys}
        queue += [quad[2] for quad in _match(parts, subject=one, graph=scope.graph) if isinstance(quad[2], IRI)]
    return list(bare)


def _is_named(node: IRI, scope: Scope, parts: Backends) -> bool:
    types = {quad[2] for quad in _match(parts, subject=node, predicate=TYPE, graph=scope.graph)}
    return bool(types & _NAMED)


def _is_look_up(quad: Quad, parts: Backends) -> bool:
    """Tell whether a quad is a reference from a look-up of cases, which is deleted with the name."""
    return any(True for _ in parts.graph.match(quad[0], TYPE, MEM.CaseRetrieval, quad[3]))


def _match(parts: Backends, **pattern: str) -> list[Quad]:
    """Return the quads that match a pattern in our own terms, without inferred ones and those of branches."""
    return [quad for quad in map(to_own_quad, parts.graph.match(**pattern)) if not quad[3].startswith(_DERIVED)]


def remove_from_description(
    memories: Sequence[IRI],
    texts: Sequence[str],
    scope: Scope,
    now: datetime,
    parts: Backends,
    going: Sequence[IRI] = (),
) -> Change:
    """
    Remove from the descriptions of the user and of what some memories are about the sentences that came only from these memories.

    A sentence is removed if it has a word of theirs that no other memory about the same has, or if all of its words are theirs and
    no other memory has them together. Words are compared, not sentences, because a model may phrase a description freely.

    Args:
        texts: the texts of the memories, and of the notes that are removed with them.
        going: nodes that are deleted with the memories, and their descriptions with them.
    """
    said = parts.indexes.read(memories, [scope.graph])
    about = dict.fromkeys(IRI(str(one)) for record in said for one in record.statements.get(MEM.about, ()))
    change = _shorten_description(scope.user, scope.self_graph, memories, texts, scope, now, parts)
    for anchor in about:
        if anchor != scope.user and anchor not in going:
            change += _shorten_description(anchor, scope.graph, memories, texts, scope, now, parts)
    return change


def _shorten_description(
    anchor: IRI,
    graph: IRI,
    memories: Sequence[IRI],
    texts: Sequence[str],
    scope: Scope,
    now: datetime,
    parts: Backends,
) -> Change:
    indexes = parts.indexes
    description = "".join(one.first(MEM.description) for one in indexes.read([anchor], [graph]))
    if not description:
        return _NOTHING
    sentences = re.split(r"(?<=[.!?])\s+", description)
    said = {stem for text in texts for stem in tokens(text)}
    with indexes.lock:
        known = indexes.find_all([anchor, *memories], scope.memory_graphs, texts=sentences, now=now)
        if anchor not in known:
            return _NOTHING
        named = {*tokens("user"), *tokens(indexes.name(anchor))}
        graphs = [graph for graph in indexes.nodes.graphs() if graph.startswith(graph_iri(scope.tenant, ""))]
        about = indexes.adjacency.memories(known[anchor])
        gone = [known[iri] for iri in memories if iri in known]
        if not np.isin(about, gone).any():
            return _NOTHING
        left = np.setdiff1d(about[indexes.nodes.current(graphs, now=now)[about]], gone)
        postings = indexes.words(graphs, "memory")

        def tellers(stem: str) -> set[int]:
            found = [one[0] for some in postings if (one := some.having(stem))]
            return set(np.intersect1d(np.concatenate(found), left).tolist()) if found else set()

        def is_gone(sentence: str) -> bool:
            stems = set(tokens(sentence)) - named
            theirs = stems & said
            is_all = stems == theirs != set()
            return any(not tellers(stem) for stem in theirs) or (is_all and not set.intersection(*map(tellers, stems)))

        kept = " ".join(sentence for sentence in sentences if not is_gone(sentence))
    if kept == description:
        return _NOTHING
    adds = ((anchor, MEM.description, kept, graph),) if kept else ()
    return Change(adds, ((anchor, MEM.description, description, graph),))


def _subjects_of(change: Change) -> list[IRI]:
    return list(dict.fromkeys(quad[0] for quad in change.removes))


def _close_gaps(gone: Sequence[Quad], notes: Collection[IRI]) -> tuple[Quad, ...]:
    """Connect the turns after erased ones to what is left before those."""
    before = {turn: cast(IRI, earlier) for turn, predicate, earlier, _ in gone if predicate == MEM.follows}
    adds = []
    for turn, predicate, earlier, graph in gone:
        if predicate == MEM.follows and turn not in notes:
            left = cast("IRI | None", earlier)
            while left is not None and left in notes:
                left = before.get(left)
            if left:
                adds.append((turn, MEM.follows, left, graph))
    return tuple(adds)


def _to_quad(row: Row) -> Quad:
    return (row["subject"], row["predicate"], row["value"], row["graph"])


def _to_statement(row: Row) -> Quad:
    return (row["node"], row["predicate"], row["value"], row["graph"])
