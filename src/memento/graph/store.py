"""
The one seam to a store: what every room above asks of it, whichever engine holds the quads.

`select`, `apply`, `quads` and `load` speak in values; `match`, `holds` and `extend` in terms to the letter, with their languages,
datatypes and blank nodes, for documents and for what others write by SPARQL. What an update would change travels between processes
as a `Delta`, which is applied whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pyoxigraph as ox

from memento.graph.terms import to_own_quad, to_quads, to_term
from memento.iris import IRI
from memento.model import Change, Quad, Value

DEFAULT = ""
"""How the default graph is called where a name is expected."""

MARK = b"#\n"
"""Between what goes and what comes in a packed delta: no line of N-Quads begins so."""

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
        return b"".join([self.removes, MARK, self.adds, pack_rest(rest)])

    @classmethod
    def unpack(cls, data: bytes) -> Delta:
        """Read a delta from the bytes that `pack` made."""
        begin, end = (0 if data.startswith(MARK) else data.index(b"\n" + MARK) + 1), data.rindex(b"#{")
        rest: dict[str, Any] = json.loads(data[end + 1 :])
        lists: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in rest.items()
        }
        return cls(removes=data[:begin], adds=data[begin + len(MARK) : end], **lists)

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


def rewrite_terms(quads: bytes, rewrite: Callable[[str, str, bool], str]) -> bytes:
    """
    Return N-Quads with other literals and other IRIs in them; where a literal changes, it becomes plain text.

    Args:
        rewrite: is given the text of a subject or an object, what to call its place, and whether it is an IRI.
    """

    def rewrite_term(term: Any, place: str) -> Any:
        if isinstance(term, ox.Literal | ox.NamedNode):
            text = rewrite(term.value, place, isinstance(term, ox.NamedNode))
            if text != term.value:
                return (
                    ox.NamedNode(text) if isinstance(term, ox.NamedNode) else ox.Literal(text, language=term.language)
                )
        return term

    return serialise_quads(
        ox.Quad(
            rewrite_term(quad.subject, "a subject"),
            quad.predicate,
            rewrite_term(quad.object, f"a value of {quad.predicate}"),
            quad.graph_name,
        )
        for quad in parse_quads(quads)
    )


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


Row = Mapping[str, Value]
"""One solution of a SELECT: variable name → value; an unbound variable is absent."""


class Store(Protocol):
    """
    The store of truth: named graphs of quads behind SPARQL 1.1.

    `failure` says why nothing can be written until it is opened again, if anything does; `on_failure` is called when that comes
    to be.
    """

    failure: str | None
    on_failure: Callable[[], None] | None

    @property
    def is_on_disk(self) -> bool:
        """Whether it has files on this machine that can be backed up."""
        ...

    @property
    def writes(self) -> int:
        """How many writes were made or tried: what was learned after as many is still true."""
        ...

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        """
        Return the rows of `queries/{query}.rq`, read from the `readable` named graphs alone, without values out of their range.

        Args:
            query: path below `queries/` without the suffix, as `retrieval/trace`.
            readable: the dataset; nothing outside it is visible. Their union is the default graph, so a triple that
                stands in two of them may come back twice.
            slots: terms for the query's `VALUES ?name { … }` blocks. Text never becomes syntax. A slot that is not
                given keeps the sample that the file has; an empty sequence is an error.

        Raises:
            GraphError: the store failed, the file or a slot does not exist.
        """
        ...

    def apply(self, change: Change) -> None:
        """
        Write one change, all of it or nothing; removals come before additions.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        ...

    def apply_delta(self, delta: Delta, touched: Iterable[IRI] = ()) -> None:
        """
        Write what an update would change, all of it or nothing.

        Args:
            touched: the nodes whose indexes it outdates.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        ...

    def minimise_delta(self, delta: Delta) -> Delta:
        """Return a delta without the quads that are not there to go, or there already."""
        ...

    def extend(self, quads: Iterable[ox.Quad], subjects: Sequence[IRI], *, many: bool = False) -> None:
        """
        Add quads to the letter, all of them or nothing.

        Args:
            subjects: whom they are about; their indexes are outdated.
            many: more than fit into memory.
        """
        ...

    def load(self, turtle: bytes, graph: IRI) -> None:
        """Replace one named graph by a Turtle document, all of it or nothing."""
        ...

    def graphs(self) -> list[IRI]:
        """List the named graphs that hold something, sorted."""
        ...

    def has_graph(self, graph: IRI) -> bool:
        """Tell whether there is such a named graph, empty or not."""
        ...

    def quads(self, graph: IRI) -> Iterable[Quad]:
        """Yield every quad of one named graph, those of one subject together."""
        ...

    def match(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        graph: str | None = None,
    ) -> Iterator[ox.Quad]:
        """
        Yield the quads to the letter that have these parts, each the name of a node; None is any.

        Those of one subject in one graph come together. What is written after this call is not among them.
        """
        ...

    def holds(self, quad: ox.Quad) -> bool:
        """Tell whether a quad is in the store."""
        ...

    def backup(self, folder: Path, graphs: Collection[str] | None = None) -> Collection[str] | None:
        """
        Copy the store to a folder that is not there yet: by hard links, in milliseconds, on the same file system.

        Args:
            graphs: what is wanted, where that is not all; others may be there too.

        Returns:
            the graphs that the copy has; None for all.

        Raises:
            GraphError: the store has no files, is closed, or the disk has no room.
        """
        ...

    def end_segment(self, folder: Path) -> int:
        """
        Copy the store as `backup` does, and let the journal of its writes begin a new file behind the copy.

        Returns:
            the number of the last write that the copy has; 0 where there is no journal.
        """
        ...

    def copy_files(self, folder: Path) -> None:
        """Write the quads as they are now into a new store, with nothing else in its files; some ten seconds for a million."""
        ...

    def close(self) -> None:
        """Let go of the store; calling it twice is harmless."""
        ...
