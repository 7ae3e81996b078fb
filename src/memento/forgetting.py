"""What is forgotten is hidden, and stays in history; what is erased is gone, with every trace of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import cast

from memento.backends import Backends
from memento.errors import NotFound
from memento.library import named
from memento.model import Change, Forgotten, Quad, Scope
from memento.ports import Row
from memento.vocabulary import IRI, MEM


def forget(iri: str, scope: Scope, erase: bool, now: datetime, parts: Backends) -> Forgotten:
    """
    Let a memory, or all memories of a note or an agent, be believed no more from `now` on; with `erase` delete their text as well.

    Raises:
        NotFound: the namespace's own graph has no memory or note with that IRI, and nothing of such an agent.
    """
    rows = parts.graph.select("library/memories_of", [scope.graph, scope.provenance], node=named(iri))
    if not rows:
        return _unread(iri, scope, erase, parts)
    memories = tuple(dict.fromkeys(cast(IRI, row["memory"]) for row in rows))
    if erase:
        return _erased(memories, rows, scope, parts)
    parts.forget_copies(memories)
    live = [cast(IRI, row["memory"]) for row in rows if "expiredAt" not in row]
    if live:
        parts.commit(Change(tuple((memory, MEM.expiredAt, now, scope.graph) for memory in live)), scope)
    return Forgotten(memories=memories)


def _erased(memories: Sequence[IRI], rows: Sequence[Row], scope: Scope, parts: Backends) -> Forgotten:
    notes = []
    for note in dict.fromkeys(cast(IRI, row["note"]) for row in rows):
        derived = parts.graph.select("library/memories_of", [scope.graph], node=note)
        if {row["memory"] for row in derived} <= set(memories):
            notes.append(note)
    texts = [parts.indexes.text(one) for one in parts.indexes.read(memories, [scope.graph])]
    _erase([*memories, *notes], texts, scope, parts)
    return Forgotten(memories=tuple(memories), notes=tuple(notes), erased=True)


def _unread(iri: str, scope: Scope, erase: bool, parts: Backends) -> Forgotten:
    """Forget a note that is still to be understood, or of which nothing came: nobody will understand it any more."""
    rows = parts.graph.select("library/unread", [scope.graph, scope.provenance], node=named(iri))
    if not rows:
        raise NotFound(f"there is no memory or note <{iri}> in the namespace {scope.namespace!r}")
    note, state = cast(IRI, rows[0]["note"]), rows[0]["state"]
    if erase:
        _erase([note], [], scope, parts)
    elif state != "skipped":
        ends = [(note, scope.graph), *((cast(IRI, row["run"]), scope.provenance) for row in rows if "run" in row)]
        adds = [(node, MEM.state, "skipped", graph) for node, graph in ends]
        adds += [(node, MEM.reason, "it was forgotten before it was understood", graph) for node, graph in ends[1:]]
        said = parts.graph.select("search/statements", [scope.provenance], node=[node for node, _ in ends])
        gone = [_statement(row) for row in said if row["predicate"] in (MEM.reason, MEM.retryAt)]
        removes = [(node, MEM.state, state, graph) for node, graph in ends]
        parts.commit(Change(tuple(adds), (*removes, *gone)), scope)
    return Forgotten(memories=(), notes=(note,), erased=erase)


def _erase(nodes: Sequence[IRI], texts: Sequence[str], scope: Scope, parts: Backends) -> None:
    """Delete all that is said of some nodes or points at them; the texts of notes were embedded too, to be compared."""
    parts.forget_copies(nodes)
    found = [_quad(row) for row in parts.graph.select("library/traces", [scope.graph, scope.provenance], node=nodes)]
    said = [str(value) for subject, predicate, value, _ in found if subject in nodes and predicate == MEM.content]
    gone = tuple(dict.fromkeys(found))
    parts.erase(Change(_closed_up(gone, nodes), gone), scope, [*texts, *said])


def _closed_up(gone: Sequence[Quad], notes: Collection[IRI]) -> tuple[Quad, ...]:
    """The turns after erased ones follow what is left before those."""
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


def _quad(row: Row) -> Quad:
    return (cast(IRI, row["subject"]), cast(IRI, row["predicate"]), row["value"], cast(IRI, row["graph"]))


def _statement(row: Row) -> Quad:
    return (cast(IRI, row["node"]), cast(IRI, row["predicate"]), row["value"], cast(IRI, row["graph"]))
