"""
The protocol of a store, which all modules above use whichever engine holds the quads.

`select`, `apply`, `quads` and `load` use our values; `match`, `holds` and `extend` use exact terms with languages, datatypes and
blank nodes, for documents and for SPARQL of users. A `Delta` carries the changes of an update between processes, and is applied
atomically.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pyoxigraph as ox

from memento.graph.terms import to_own_quad, to_quads, to_term
from memento.iris import IRI, PREFIXES
from memento.model import Change, Quad, Value

DEFAULT = ""
"""The name for the default graph."""

MARK = b"#\n"
"""The separator between removals and additions in a packed delta: no line of N-Quads begins like this."""

BULK = 5_000
"""From this number of quads on, a delta that only adds is written as files, several times faster than a transaction."""

_Functions = dict[ox.NamedNode, Callable[..., "ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """
    `removes` and `adds` are N-Quads without duplicates, of existing and of new quads. Graphs in `cleared` lose everything first,
    whatever its size; those in `dropped` also lose their names; those in `created` are empty.

    `removed` also counts what `cleared` removes. `touched` are all graphs that the update names as targets, changed or not.
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
        """Whether there is nothing to write."""
        return not (self.removed or self.added or self.cleared or self.dropped or self.created)

    def pack(self) -> bytes:
        """Serialise the delta: removals, a separator line, additions, and the rest as JSON in a comment."""
        rest = {name: value for name, value in asdict(self).items() if name not in ("removes", "adds")}
        return b"".join([self.removes, MARK, self.adds, pack_rest(rest)])

    @classmethod
    def unpack(cls, data: bytes) -> Delta:
        """Read a delta from the output of `pack`."""
        begin, end = (0 if data.startswith(MARK) else data.index(b"\n" + MARK) + 1), data.rindex(b"#{")
        rest: dict[str, Any] = json.loads(data[end + 1 :])
        lists: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in rest.items()
        }
        return cls(removes=data[:begin], adds=data[begin + len(MARK) : end], **lists)

    def __add__(self, more: Change) -> Delta:
        """Return the delta with further quads of our own, such as an audit record; they are not counted."""
        removes, adds = (serialise_quads(to_quads(found)) for found in (more.removes, more.adds))
        return replace(self, removes=self.removes + removes, adds=self.adds + adds)


def pack_rest(rest: dict[str, Any]) -> bytes:
    """Return the last line of a packed delta: all but its quads. No IRI has a brace, so no other line looks like it."""
    return b"#" + json.dumps(rest).encode()


def parse_quads(quads: bytes) -> Iterable[ox.Quad]:
    """Read the quads of one side of a delta."""
    return ox.parse(quads, ox.RdfFormat.N_QUADS)


def serialise_quads(quads: Iterable[ox.Quad]) -> bytes:
    """Write one side of a delta as N-Quads."""
    return ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b""


def write_trig(quads: Iterable[ox.Quad]) -> str:
    """Write quads as TriG, with the prefixes of the vocabularies."""
    prefixes = {name: base for name, base in PREFIXES.items() if not base.startswith("urn:")}
    return (ox.serialize(quads, format=ox.RdfFormat.TRIG, prefixes=prefixes) or b"").decode()


def rewrite_terms(quads: bytes, rewrite: Callable[[str, str, bool], str]) -> bytes:
    """
    Return N-Quads with rewritten literals and IRIs; a changed literal becomes plain text.

    Args:
        rewrite: gets the text of a subject or object, the name of its place, and whether it is an IRI.
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
    """Return quads as a change in our values, for the indexes; language tags and unused datatypes are lost."""
    return Change(tuple(to_own_quad(quad) for quad in adds), tuple(to_own_quad(quad) for quad in removes))


def apply_delta(delta: Delta, store: ox.Store) -> None:
    """
    Write a delta atomically.

    Terms are inserted by functions that the update calls, because the text of an update cannot name a blank node of the store.

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
    """Return a delta that was made without reading the store, without removals of missing quads and additions of existing ones."""
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
    """Return the operations that remove or insert some quads, numbered from `begin`."""
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
    """Return the functions that return the parts of a quad by its number."""

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


Row = Mapping[str, Any]
"""One solution of a SELECT: variable name → a `Value`, of the type that its property takes; an unbound variable is absent."""


class Store(Protocol):
    """
    The store of truth: named graphs of quads behind SPARQL 1.1.

    `failure` says why nothing can be written until the store is reopened, None if it can; `on_failure` is called when it is set.
    """

    failure: str | None
    on_failure: Callable[[], None] | None

    @property
    def is_on_disk(self) -> bool:
        """Whether it has local files that can be backed up."""
        ...

    @property
    def writes(self) -> int:
        """The number of writes made or tried: what was cached after this many is still valid."""
        ...

    def select(self, query: str, readable: Sequence[IRI], /, **slots: Value | Sequence[Value]) -> list[Row]:
        """
        Return the rows of `queries/{query}.rq`, read only from the `readable` named graphs, without values out of range.

        Args:
            query: path below `queries/` without the suffix, as `retrieval/trace`.
            readable: the dataset; nothing outside it is visible. Its union is the default graph, so a triple that is in two of
                them may be returned twice.
            slots: terms for the query's `VALUES ?name { … }` blocks. Text never becomes syntax. A slot that is not given keeps
                the sample of the file; an empty sequence is an error.

        Raises:
            GraphError: the store failed, the file or a slot does not exist.
        """
        ...

    def apply(self, change: Change) -> None:
        """
        Write one change atomically; removals come before additions.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        ...

    def apply_delta(self, delta: Delta, touched: Iterable[IRI] = ()) -> None:
        """
        Write the changes of an update atomically.

        Args:
            touched: the nodes whose indexes are outdated by it.

        Raises:
            GraphError: the store refused; nothing was written.
        """
        ...

    def minimise_delta(self, delta: Delta) -> Delta:
        """Return a delta without removals of missing quads and additions of existing ones."""
        ...

    def extend(self, quads: Iterable[ox.Quad], subjects: Sequence[IRI], *, many: bool = False) -> None:
        """
        Add quads to the letter, atomically.

        Args:
            subjects: of the quads; their indexes are outdated.
            many: they do not fit into memory.
        """
        ...

    def load(self, turtle: bytes, graph: IRI) -> None:
        """Replace one named graph by a Turtle document, atomically."""
        ...

    def graphs(self) -> list[IRI]:
        """List the named graphs that have quads, sorted."""
        ...

    def has_graph(self, graph: IRI) -> bool:
        """Tell whether a named graph exists, empty or not."""
        ...

    def quads(self, graph: IRI) -> Iterable[Quad]:
        """Yield every quad of one named graph, grouped by subject."""
        ...

    def match(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        value: str | None = None,
        graph: str | None = None,
    ) -> Iterator[ox.Quad]:
        """
        Yield the quads with these parts, to the letter; each part is the name of a node, None matches any.

        They are grouped by subject and graph. Quads written after this call are not among them.
        """
        ...

    def holds(self, quad: ox.Quad) -> bool:
        """Tell whether a quad is in the store."""
        ...

    def backup(self, folder: Path, graphs: Collection[str] | None = None) -> Collection[str] | None:
        """
        Copy the store to a new folder: by hard links, within milliseconds, if it is on the same file system.

        Args:
            graphs: the graphs to copy, unless all; the copy may have others too.

        Returns:
            the graphs in the copy; None for all.

        Raises:
            GraphError: the store has no files or is closed, or the disk is full.
        """
        ...

    def end_segment(self, folder: Path) -> int:
        """
        Copy the store as `backup` does, and start a new file of its journal after the copy.

        Returns:
            the number of the last write in the copy; 0 if there is no journal.
        """
        ...

    def copy_files(self, folder: Path) -> None:
        """Write the current quads to a new store whose files have nothing else; some ten seconds for a million."""
        ...

    def close(self) -> None:
        """Release the store; calling it twice is harmless."""
        ...
