"""
What an update would change: the quads that go and come, and the graphs that are emptied, as it travels between processes.

*Guarantees:* terms stay what they are, with their language, their datatype and their blank nodes; a delta is applied whole or not
at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyoxigraph as ox

from memento.graph.terms import to_own_quad, to_quads, to_term
from memento.iris import IRI
from memento.model import Change

DEFAULT = ""
"""How the default graph is called where a name is expected."""

_MARK = b"#\n"  # no line of N-Quads begins so

BULK = 5_000
"""Quads from which on a delta that only adds is written as files, several times faster than as a transaction."""

_Functions = dict[ox.NamedNode, Callable[..., "ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """
    `removes` and `adds` are N-Quads without duplicates, of quads that are there and that are not. Graphs in `cleared` lose
    everything before, however much it is; of those in `dropped` not even the name is left; `created` are empty.

    `removed` counts what `cleared` takes too. `touched` are all graphs that the update names as written, changed or not.
    """

    removes: bytes = b""
    adds: bytes = b""
    removed: int = 0
    added: int = 0
    cleared: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be written."""
        return not (self.removed or self.added or self.cleared or self.dropped or self.created)

    def pack(self) -> bytes:
        """Return the delta as bytes: what goes, a line with a mark, what comes, and the rest as JSON in a comment."""
        rest = {name: value for name, value in asdict(self).items() if name not in ("removes", "adds")}
        return b"".join([self.removes, _MARK, self.adds, pack_rest(rest)])

    @classmethod
    def unpack(cls, data: bytes) -> Delta:
        """Read a delta from the bytes that `pack` made."""
        begin, end = (0 if data.startswith(_MARK) else data.index(b"\n" + _MARK) + 1), data.rindex(b"#{")
        rest: dict[str, Any] = json.loads(data[end + 1 :])
        lists: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in rest.items()
        }
        return cls(removes=data[:begin], adds=data[begin + len(_MARK) : end], **lists)

    def __add__(self, more: Change) -> Delta:
        """Return the delta with some quads of our own, which are not counted: what is recorded about it, what it takes along."""
        removes, adds = (serialise_quads(to_quads(found)) for found in (more.removes, more.adds))
        return replace(self, removes=self.removes + removes, adds=self.adds + adds)


def pack_rest(rest: dict[str, Any]) -> bytes:
    """Return the last line of a packed delta: all but its quads. No IRI has a brace, so that nothing else looks like it."""
    return b"#" + json.dumps(rest).encode()


def parse_quads(quads: bytes) -> Iterable[ox.Quad]:
    """Read the quads of one side of a delta."""
    return ox.parse(quads, ox.RdfFormat.N_QUADS)


def serialise_quads(quads: Iterable[ox.Quad]) -> bytes:
    """Write one side of a delta as N-Quads."""
    return ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b""


def graph_of(quad: ox.Quad) -> str:
    """Return the name of a quad's graph."""
    return DEFAULT if isinstance(quad.graph_name, ox.DefaultGraph) else quad.graph_name.value


def select_quads(quads: bytes, graphs: Iterable[str]) -> list[ox.Quad]:
    """Return the quads of one side of a delta that are in some graphs."""
    wanted = set(graphs)
    return [quad for quad in parse_quads(quads) if graph_of(quad) in wanted]


def to_change(removes: Iterable[ox.Quad], adds: Iterable[ox.Quad]) -> Change:
    """Return quads as a change of our own, for the indexes; the languages of literals and datatypes that we do not use are lost."""
    return Change(tuple(to_own_quad(quad) for quad in adds), tuple(to_own_quad(quad) for quad in removes))


def apply_delta(delta: Delta, store: ox.Store) -> None:
    """
    Write a delta, all of it or nothing.

    Terms go in as terms, by functions that the update calls: an update's text can name no blank node that is in the store.

    Raises:
        OSError: the store failed; nothing was written.
    """
    removes, adds = list(parse_quads(delta.removes)), delta.adds
    is_more = not (removes or delta.cleared or delta.dropped or delta.created)
    if is_more and delta.added >= BULK:
        store.bulk_extend(parse_quads(adds))
        return
    added = list(parse_quads(adds))
    operations = [f"CLEAR SILENT {_write_graph(graph)}" for graph in delta.cleared]
    operations += _write_templates("DELETE", removes, 0)
    operations += [f"DROP SILENT {_write_graph(graph)}" for graph in delta.dropped]
    operations += [f"CREATE SILENT {_write_graph(graph)}" for graph in delta.created]
    operations += _write_templates("INSERT", added, len(removes))
    store.update(" ; ".join(operations), custom_functions=_part_functions([*removes, *added]))


def minimise_delta(delta: Delta, store: ox.Store) -> Delta:
    """Return a delta, made without a look at the store, without what is not there to go, or there already."""
    removes = [quad for quad in parse_quads(delta.removes) if quad in store]
    adds = [quad for quad in parse_quads(delta.adds) if quad not in store]
    created = tuple(graph for graph in delta.created if not store.contains_named_graph(ox.NamedNode(graph)))
    return replace(
        delta,
        removes=serialise_quads(removes),
        adds=serialise_quads(adds),
        removed=len(removes),
        added=len(adds),
        created=created,
    )


def _write_templates(verb: str, quads: Sequence[ox.Quad], begin: int) -> list[str]:
    """Return the operations that take some quads, numbered from `begin`, out of the store or put them in."""
    named = [number for number, quad in enumerate(quads, begin) if graph_of(quad) != DEFAULT]
    rest = [number for number, quad in enumerate(quads, begin) if graph_of(quad) == DEFAULT]
    bound = " ".join(f"BIND(<{_FUNCTION}{one}>(?i) AS ?{one})" for one in "spo")
    groups = [
        (named, "GRAPH ?g { ?s ?p ?o }", f"{bound} BIND(<{_FUNCTION}g>(?i) AS ?g)"),
        (rest, "?s ?p ?o", bound),
    ]
    return [
        f"{verb} {{ {template} }} WHERE {{ VALUES ?i {{ {' '.join(map(str, numbers))} }} {binds} }}"
        for numbers, template, binds in groups
        if numbers
    ]


def _part_functions(quads: Sequence[ox.Quad]) -> _Functions:
    """Return the functions that give the parts of a quad by its number."""

    def part_of(part: Callable[[ox.Quad], object]) -> Callable[..., ox.NamedNode]:
        return lambda number: part(quads[int(number.value)])  # type: ignore[return-value]

    return {
        ox.NamedNode(f"{_FUNCTION}s"): part_of(lambda quad: quad.subject),
        ox.NamedNode(f"{_FUNCTION}p"): part_of(lambda quad: quad.predicate),
        ox.NamedNode(f"{_FUNCTION}o"): part_of(lambda quad: quad.object),
        ox.NamedNode(f"{_FUNCTION}g"): part_of(lambda quad: quad.graph_name),
    }


_FUNCTION = "urn:memento:part:"


def _write_graph(graph: str) -> str:
    return f"GRAPH {to_term(IRI(graph))}" if graph else "DEFAULT"
