"""
How several nodes write to one store: compare-and-set on a number in a system graph, which no caller can read.

The graph has the number and the token of the last write, the tokens of the latest ones, by which a writer finds whether its own was
made, and debts: the nodes whose entries the engine may not have yet, because their writer has not put them, or has died. A write is
one update of the endpoint, whatever its size, and has no effect unless number and token are still those that its writer knows.

*Guarantees:* if two nodes write after the same number, one wins, and nothing of the other's write is in the store. What the engine
lacks is in the store as a debt, so that any node can put it there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyoxigraph as ox

from memento.errors import GraphError, LostTurn, Unanswered
from memento.graph.binding import bind_query
from memento.graph.store import graph_of
from memento.graph.terms import to_term, to_value
from memento.iris import IRI
from memento.model import Value
from memento.plugins.scale.endpoint import SparqlClient

SYSTEM = IRI("urn:memento:feed")
"""The system graph, and the prefix of the names in it."""

_KEPT, _TRIM_EVERY = 1_000, 500  # tokens of writes, and how often the oldest go
_ASKED = 5  # tries to find out what became of an update without an answer, with increasing waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """
    The number of the last write and its token; the number of the last one that removed texts or changed the ontology; the id of the
    store; and the debts.
    """

    number: int
    token: str
    cut: int
    id: str
    debts: frozenset[IRI] = frozenset()

    def is_at(self, other: Head) -> bool:
        """Whether the store was not written between two heads."""
        return (self.number, self.token, self.id) == (other.number, other.token, other.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """
    A write: quads to remove, graphs to clear, and quads to add, in this order; the nodes that the engine gets, and where they are
    described; and whether texts or the ontology go with it.
    """

    removes: Sequence[ox.Quad] = ()
    adds: Sequence[ox.Quad] = ()
    cleared: Sequence[str] = ()
    nodes: Collection[IRI] = ()
    graphs: Collection[str] = ()
    cuts: bool = False


class Emptied(GraphError):
    """The store has no system graph."""


class System:
    """The system graph of one store. Thread-safe; keeps no state but the client."""

    def __init__(self, client: SparqlClient) -> None:
        self._client = client

    def begin(self) -> Head:
        """
        Return the head; create the graph if there is none, in place of that of an earlier version.

        Raises:
            GraphError: the endpoint cannot be read or written, or has two heads, which happens without isolation.
        """
        with suppress(Emptied):
            return self.read_head()
        self._client.update(
            f"DELETE {{ GRAPH <{SYSTEM}> {{ ?s ?p ?o }} }} WHERE {{ GRAPH <{SYSTEM}> {{ ?s ?p ?o "
            f"FILTER NOT EXISTS {{ <{SYSTEM}> <{SYSTEM}:number> ?number }} }} }}"
        )
        fields: dict[str, Value] = {"number": 0, "token": "", "cut": 0, "id": uuid4().hex}
        self._client.update(
            f"INSERT {{ {_say(fields)} }} WHERE {{ "
            f"FILTER NOT EXISTS {{ GRAPH <{SYSTEM}> {{ <{SYSTEM}> <{SYSTEM}:number> ?number }} }} }}"
        )
        return self.read_head()

    def read_head(self) -> Head:
        """
        Return the head.

        Raises:
            Emptied: there is none, for example because somebody has emptied the store.
            GraphError: the endpoint failed, or there are two.
        """
        rows = list(self._select("plugins/scale/head"))
        debts = frozenset(IRI(row.pop("debt")) for row in rows if "debt" in row)
        heads = {Head(**row, debts=debts) for row in rows}
        if not heads:
            raise Emptied(
                f"the store has no graph <{SYSTEM}>: it was emptied; put its backup back, or start a node again"
            )
        if len(heads) > 1:
            raise GraphError(f"the store has {len(heads)} heads in <{SYSTEM}>: it does not keep writers apart")
        return heads.pop()

    def read_agreed(self) -> dict[str, str]:
        """Return the settings recorded for all nodes, by name; raise `GraphError` if the endpoint failed."""
        return self._read_agreed()[1]

    def note_agreed(self, settings: Mapping[str, str], *, replaces: bool = False) -> None:
        """
        Record settings for all nodes, unless others of these names are recorded and `replaces` is not set.

        Raises:
            GraphError: the endpoint failed, or other nodes keep recording theirs.
        """
        for _ in range(_ASKED):
            text, noted = self._read_agreed()
            merged = {**noted, **settings} if replaces else {**settings, **noted}
            if merged == noted:
                return
            new = f"INSERT {{ {_say({'agreed': json.dumps(merged, sort_keys=True)})} }}"
            if text is None:
                none = f"FILTER NOT EXISTS {{ GRAPH <{SYSTEM}> {{ <{SYSTEM}> <{SYSTEM}:agreed> ?agreed }} }}"
                self._client.update(f"{new} WHERE {{ {none} }}")
            else:
                old = _say({"agreed": text})
                self._client.update(f"DELETE {{ {old} }} {new} WHERE {{ {old} }}")
        raise GraphError("the settings that nodes agree on could not be noted in the store: start again")

    def _read_agreed(self) -> tuple[str | None, dict[str, str]]:
        texts = [str(row["text"]) for row in self._select("plugins/scale/agreed")]
        return (texts[0], json.loads(texts[0])) if texts else (None, {})

    def write(self, writing: Writing, head: Head) -> Head:
        """
        Make a write after `head`; return the head that it makes, whose debt is its own.

        Raises:
            LostTurn: something else was written after that; nothing was written.
            Unanswered: the outcome is unknown.
            GraphError: the endpoint refused, or makes no updates; nothing was written.
        """
        debts = frozenset([IRI(f"{SYSTEM}:debt:{uuid4().hex}")] if writing.nodes else [])
        new = Head(
            number=head.number + 1,
            token=uuid4().hex,
            cut=head.number + 1 if writing.cuts else head.cut,
            id=head.id,
            debts=debts,
        )
        self._send(_write_update(writing, head, new), new)
        if not new.number % _TRIM_EVERY:
            with suppress(GraphError):  # the next one tries again
                self._client.update(
                    f"DELETE {{ GRAPH <{SYSTEM}> {{ ?write ?p ?o }} }} WHERE {{ GRAPH <{SYSTEM}> {{ "
                    f"?write <{SYSTEM}:number> ?number ; ?p ?o }} FILTER (?number <= {new.number - _KEPT}) }}"
                )
        return new

    def _send(self, text: str, new: Head) -> None:
        """Send an update until it is known whether it was made."""
        mine = f"ASK {{ {_say({'token': new.token}, _name_write(new))} }}"
        is_made, is_open = False, False
        for attempt in range(_ASKED):
            wait_s = 0.05 * 2**attempt
            try:
                if not is_made:
                    self._client.update(text)
                is_made = True
            except GraphError as error:
                if not (is_open or isinstance(error, Unanswered)):
                    raise
                # It may still be running; sent twice, it is made once, because the number has changed then.
                is_open = True
                time.sleep(wait_s)
            try:
                if self._client.ask(mine):
                    return
            except GraphError:
                time.sleep(wait_s)
                continue
            if is_made:
                if self.read_head().number < new.number:
                    raise GraphError("the endpoint takes updates and does not make them: check store.update_url")
                raise LostTurn("another node has written first: ask again")
        raise Unanswered("the endpoint does not say whether it wrote")

    def is_after(self, head: Head, known: Head) -> bool:
        """
        Tell whether the store went from one head to another by writes, as far as it still knows; not if a backup was restored.

        Raises:
            GraphError: the endpoint failed.
        """
        if head.id != known.id or head.number < known.number:
            return False
        if not known.number or head.number - known.number > _KEPT - _TRIM_EVERY:
            return True
        return self._client.ask(f"ASK {{ {_say({'token': known.token}, _name_write(known))} }}")

    def owe(self, name: str, nodes: Collection[IRI], graphs: Collection[str]) -> IRI:
        """Add a debt of this name to the store, and return it; raise `GraphError` if the endpoint failed."""
        debt = IRI(f"{SYSTEM}:debt:{name}")
        self._client.update(f"INSERT DATA {{ {_owe(debt, nodes, graphs)} }}")
        return debt

    def read_owed(self, debts: Collection[IRI]) -> tuple[list[IRI], list[IRI]]:
        """Return some of the nodes that are owed, and the graphs that describe them; raise `GraphError` if the endpoint failed."""
        nodes, graphs = (
            [
                IRI(str(row["value"]))
                for row in self._select("plugins/scale/owed", debt=[*debts], property=IRI(f"{SYSTEM}:{name}"))
            ]
            for name in ("of", "in")
        )
        return nodes, graphs

    def forgive(self, debts: Collection[IRI], nodes: Collection[IRI] = ()) -> None:
        """Take the debts from the store, or only what they owe of some nodes; raise `GraphError` if the endpoint failed."""
        if nodes:
            owed = " ".join(f"<{debt}> <{SYSTEM}:of> <{node}> ." for debt in debts for node in nodes)
            self._client.update(f"DELETE DATA {{ GRAPH <{SYSTEM}> {{ {owed} }} }}")
            return
        listed = " ".join(f"<{debt}>" for debt in debts)
        self._client.update(
            f"DELETE {{ GRAPH <{SYSTEM}> {{ <{SYSTEM}> <{SYSTEM}:owes> ?debt . ?debt ?p ?o }} }} "
            f"WHERE {{ VALUES ?debt {{ {listed} }} GRAPH <{SYSTEM}> {{ ?debt ?p ?o }} }}"
        )

    def _select(self, query: str, **slots: Value | Sequence[Value]) -> Iterator[dict[str, Any]]:
        for row in self._client.select(bind_query(query, slots), [SYSTEM], [SYSTEM]):
            yield {name: to_value(term) for name, term in row.items()}


def is_system(graph: str) -> bool:
    """Whether a graph is ours, and no caller may read it."""
    return graph == SYSTEM or graph.startswith(f"{SYSTEM}:")


def _write_update(writing: Writing, head: Head, new: Head) -> str:
    """Write the update that makes a write, all operations of which have no effect if another write came first."""
    before: dict[str, Value] = {"number": head.number, "token": head.token}
    after: dict[str, Value] = {"number": new.number, "token": new.token}
    old = _say(before)
    said = _say({**after, "cut": new.cut}) + _say(after, _name_write(new))
    said += "".join(_owe(debt, writing.nodes, writing.graphs) for debt in new.debts)
    gone = _say({**before, "cut": head.cut}) + _write_quads(writing.removes)
    adds = _write_quads(writing.adds)
    if not writing.cleared:
        return f"DELETE {{ {gone} }} INSERT {{ {said} {adds} }} WHERE {{ {old} }}"
    mine = _say(after)
    clear = (f"GRAPH {to_term(IRI(graph))} {{ ?s ?p ?o }}" for graph in writing.cleared)
    return " ;\n".join(
        [
            f"DELETE {{ {gone} }} INSERT {{ {said} }} WHERE {{ {old} }}",
            *(f"DELETE {{ {every} }} WHERE {{ {mine} {every} }}" for every in clear),
            f"INSERT {{ {adds} }} WHERE {{ {mine} }}",
        ]
    )


def _name_write(head: Head) -> str:
    return f"<{SYSTEM}:write:{head.number}>"


def _say(said: Mapping[str, Value], node: str = f"<{SYSTEM}>") -> str:
    """Write statements about a node of the system graph, for use in a template or a pattern."""
    return f"GRAPH <{SYSTEM}> {{ {node} {' ; '.join(f'<{SYSTEM}:{name}> {to_term(one)}' for name, one in said.items())} }} "


def _owe(debt: IRI, nodes: Iterable[IRI], graphs: Iterable[str]) -> str:
    of, within = (" , ".join(str(to_term(IRI(one))) for one in some) for some in (nodes, graphs))
    return (
        f"GRAPH <{SYSTEM}> {{ <{SYSTEM}> <{SYSTEM}:owes> <{debt}> . "
        f"<{debt}> <{SYSTEM}:of> {of} ; <{SYSTEM}:in> {within} }} "
    )


def _write_quads(quads: Iterable[ox.Quad]) -> str:
    return "\n".join(f"GRAPH <{graph_of(quad)}> {{ {quad.triple} }}" for quad in quads)
