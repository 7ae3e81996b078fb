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

from memento.graph.acts import DEFAULT
from memento.graph.quads import to_quads
from memento.graph.terms import to_term, to_value
from memento.iris import IRI
from memento.model import Change, Quad

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

    def packed(self) -> bytes:
        """The delta as bytes: what goes, a line with a mark, what comes, and the rest as JSON in a comment."""
        rest = {name: value for name, value in asdict(self).items() if name not in ("removes", "adds")}
        return b"".join([self.removes, _MARK, self.adds, trailer(rest)])

    @classmethod
    def unpacked(cls, data: bytes) -> Delta:
        """What `packed` gave."""
        begin, end = (0 if data.startswith(_MARK) else data.index(b"\n" + _MARK) + 1), data.rindex(b"#{")
        rest: dict[str, Any] = json.loads(data[end + 1 :])
        lists: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in rest.items()
        }
        return cls(removes=data[:begin], adds=data[begin + len(_MARK) : end], **lists)

    def __add__(self, more: Change) -> Delta:
        """The same and some quads of our own, which are not counted: what is written down about it, what it takes along."""
        removes, adds = (dumped(to_quads(found)) for found in (more.removes, more.adds))
        return replace(self, removes=self.removes + removes, adds=self.adds + adds)


def trailer(rest: dict[str, Any]) -> bytes:
    """The last line of a packed delta: all but its quads. No IRI has a brace, so that nothing else looks like it."""
    return b"#" + json.dumps(rest).encode()


def parsed(quads: bytes) -> Iterable[ox.Quad]:
    """The quads of one side of a delta."""
    return ox.parse(quads, ox.RdfFormat.N_QUADS)


def dumped(quads: Iterable[ox.Quad]) -> bytes:
    """One side of a delta."""
    return ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b""


def graph_of(quad: ox.Quad) -> str:
    """The name of a quad's graph."""
    return DEFAULT if isinstance(quad.graph_name, ox.DefaultGraph) else quad.graph_name.value


def within(quads: bytes, graphs: Iterable[str]) -> list[ox.Quad]:
    """The quads of one side of a delta that lie in some graphs."""
    wanted = set(graphs)
    return [quad for quad in parsed(quads) if graph_of(quad) in wanted]


def change(removes: Iterable[ox.Quad], adds: Iterable[ox.Quad]) -> Change:
    """Quads as our own, for the indexes; the languages of literals and datatypes that we do not use are lost."""
    return Change(tuple(_ours(quad) for quad in adds), tuple(_ours(quad) for quad in removes))


def apply(delta: Delta, store: ox.Store) -> None:
    """
    Write a delta, all of it or nothing.

    Terms go in as terms, by functions that the update calls: an update's text can name no blank node that is in the store.

    Raises:
        OSError: the store failed; nothing was written.
    """
    removes, adds = list(parsed(delta.removes)), delta.adds
    is_more = not (removes or delta.cleared or delta.dropped or delta.created)
    if is_more and delta.added >= BULK:
        store.bulk_extend(parsed(adds))
        return
    added = list(parsed(adds))
    operations = [f"CLEAR SILENT {_named(graph)}" for graph in delta.cleared]
    operations += _templates("DELETE", removes, 0)
    operations += [f"DROP SILENT {_named(graph)}" for graph in delta.dropped]
    operations += [f"CREATE SILENT {_named(graph)}" for graph in delta.created]
    operations += _templates("INSERT", added, len(removes))
    store.update(" ; ".join(operations), custom_functions=_functions([*removes, *added]))


def exact(delta: Delta, store: ox.Store) -> Delta:
    """The same without what is not there to go, or there already: for one that was made without a look at the store."""
    removes = [quad for quad in parsed(delta.removes) if quad in store]
    adds = [quad for quad in parsed(delta.adds) if quad not in store]
    created = tuple(graph for graph in delta.created if not store.contains_named_graph(ox.NamedNode(graph)))
    return replace(
        delta, removes=dumped(removes), adds=dumped(adds), removed=len(removes), added=len(adds), created=created
    )


def _templates(verb: str, quads: Sequence[ox.Quad], begin: int) -> list[str]:
    """The operations that take some quads, numbered from `begin`, out of the store or put them in."""
    named = [number for number, quad in enumerate(quads, begin) if graph_of(quad) != DEFAULT]
    rest = [number for number, quad in enumerate(quads, begin) if graph_of(quad) == DEFAULT]
    bound = " ".join(f"BIND(<{_FUNCTION}{one}>(?i) AS ?{one})" for one in "spo")
    found = [
        (named, "GRAPH ?g { ?s ?p ?o }", f"{bound} BIND(<{_FUNCTION}g>(?i) AS ?g)"),
        (rest, "?s ?p ?o", bound),
    ]
    return [
        f"{verb} {{ {template} }} WHERE {{ VALUES ?i {{ {' '.join(map(str, numbers))} }} {binds} }}"
        for numbers, template, binds in found
        if numbers
    ]


def _functions(quads: Sequence[ox.Quad]) -> _Functions:
    """What gives the parts of a quad by its number."""

    def numbered(part: Callable[[ox.Quad], object]) -> Callable[..., ox.NamedNode]:
        return lambda number: part(quads[int(number.value)])  # type: ignore[return-value]

    return {
        ox.NamedNode(f"{_FUNCTION}s"): numbered(lambda quad: quad.subject),
        ox.NamedNode(f"{_FUNCTION}p"): numbered(lambda quad: quad.predicate),
        ox.NamedNode(f"{_FUNCTION}o"): numbered(lambda quad: quad.object),
        ox.NamedNode(f"{_FUNCTION}g"): numbered(lambda quad: quad.graph_name),
    }


_FUNCTION = "urn:memento:part:"


def _named(graph: str) -> str:
    return f"GRAPH {to_term(IRI(graph))}" if graph else "DEFAULT"


def _ours(quad: ox.Quad) -> Quad:
    subject = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else str(quad.subject)
    return (IRI(subject), IRI(quad.predicate.value), to_value(quad.object), IRI(graph_of(quad)))
