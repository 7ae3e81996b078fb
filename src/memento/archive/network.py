"""
Reads memories as a graph for display: the neighbours of nodes, and the shortest path between two of them.

*Guarantees:* both ends of every link are among the nodes; nothing that the reader may not see is in either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from memento.backends import Backends
from memento.graph.store import Row
from memento.iris import IRI
from memento.model import GraphLink, GraphNode, Neighbourhood, Scope

WIDEST = 3_000
"""Most nodes of one step of a path search; of more, only the newest are followed."""


_SOURCES = ("urn:memento:memory:", "urn:memento:note:")


def list_neighbours(iris: Sequence[IRI], limit: int, scope: Scope, parts: Backends) -> Neighbourhood:
    """
    List the neighbours of nodes, and the links among all of them.

    Args:
        limit: most neighbours of each node, the newest ones; the user counts as one.
    """
    nodes = dict.fromkeys(iris)
    rows = _select_links(nodes, scope, parts)
    added: dict[IRI, int] = dict.fromkeys(nodes, 0)
    chosen, left = dict.fromkeys(iris), set[IRI]()
    for row in rows:
        node, other = row["node"], row["other"]
        if other in chosen:
            continue
        if added[node] < limit:
            added[node] += 1
            chosen[other] = None
        else:
            left.add(other)
    links = _collect_links(rows, chosen)
    if len(chosen) > len(nodes) > 0:
        # Nearly every link starts at a memory or a note; the nodes that they are about may have thousands.
        sources = [one for one in chosen if one not in nodes and one.startswith(_SOURCES)]
        links |= _collect_links(_select_links(sources, scope, parts), chosen)
    return _describe(chosen, links, len(left - chosen.keys()), scope, parts)


def find_path(start: Sequence[IRI], end: Sequence[IRI], steps: int, scope: Scope, parts: Backends) -> Neighbourhood:
    """
    Find a shortest path from one of some nodes to one of others; no links if there is none.

    A path through the user is the last choice: nearly every memory is about the user, so it says little.

    Args:
        steps: maximum number of links.
    """
    if shared := set(start) & set(end):
        return _describe(shared, {}, 0, scope, parts)
    for avoided in ({scope.user}, set[IRI]()):
        if found := _meet(start, end, steps, avoided, scope, parts):
            return found
    return _describe([*start[:1], *end[:1]], {}, 0, scope, parts)


def _meet(
    start: Sequence[IRI], end: Sequence[IRI], steps: int, avoided: Collection[IRI], scope: Scope, parts: Backends
) -> Neighbourhood | None:
    """Search from both sides in turn, each time from the one with fewer nodes; None if they do not meet."""
    # For each node reached, the link that leads back, by the side it was reached from.
    came: tuple[dict[IRI, GraphLink | None], ...] = (dict.fromkeys(start), dict.fromkeys(end))
    edges: list[list[IRI]] = [list(dict.fromkeys(start)), list(dict.fromkeys(end))]
    for _ in range(steps):
        side = 0 if len(edges[0]) <= len(edges[1]) else 1
        mine, others = came[side], came[1 - side]
        fresh: list[IRI] = []
        for row in _select_links(edges[side], scope, parts):
            other = row["other"]
            if other in mine or (other in avoided and other not in others):
                continue
            mine[other] = _to_link(row)
            if other in others:
                return _describe_path(other, came, scope, parts)
            fresh.append(other)
        edges[side] = fresh[:WIDEST]
        if not fresh:
            break
    return None


def _describe_path(
    meeting: IRI, came: Sequence[Mapping[IRI, GraphLink | None]], scope: Scope, parts: Backends
) -> Neighbourhood:
    halves: list[list[IRI]] = []
    links: list[GraphLink] = []
    for reached in came:
        half, at = [meeting], meeting
        while link := reached[at]:
            links.append(link)
            at = link.source if link.target == at else link.target
            half.append(at)
        halves.append(half)
    order = [*reversed(halves[0]), *halves[1][1:]]
    return _describe(order, dict.fromkeys(links), 0, scope, parts)


def _select_links(nodes: Collection[IRI], scope: Scope, parts: Backends) -> list[Row]:
    return parts.graph.select("library/linked", scope.readable, node=list(nodes)) if nodes else []


def _to_link(row: Row) -> GraphLink:
    node, other = row["node"], row["other"]
    source, target = (other, node) if row["isBack"] else (node, other)
    name = str(row["relation"])
    return GraphLink(source=source, target=target, relation=name.rpartition("/")[2].rpartition(":")[2])


def _collect_links(rows: Iterable[Row], among: Collection[IRI]) -> dict[GraphLink, None]:
    return dict.fromkeys(_to_link(row) for row in rows if row["node"] in among and row["other"] in among)


def _describe(
    iris: Iterable[IRI], links: Mapping[GraphLink, None], left_out: int, scope: Scope, parts: Backends
) -> Neighbourhood:
    wanted = list(iris)
    rows = parts.graph.select("library/labels", scope.readable, node=wanted) if wanted else []
    known = {row["node"]: row for row in rows}
    now = parts.clock()
    nodes = tuple(_to_node(iri, known[iri], iri == scope.user, now) for iri in wanted if iri in known)
    shown = {one.iri for one in nodes}
    return Neighbourhood(
        nodes=nodes,
        links=tuple(one for one in links if one.source in shown and one.target in shown),
        left_out=left_out,
    )


def _to_node(iri: IRI, row: Row, is_user: bool, now: datetime) -> GraphNode:
    ended = row.get("invalidAt")
    return GraphNode(
        iri=iri,
        label=str(row.get("label") or ("you" if is_user else iri.rpartition(":")[2])),
        kind="User" if is_user else str(row.get("kind", "")).rpartition("/")[2],
        is_past="expiredAt" in row or bool(ended and ended <= now),
    )
