"""
Tries an update or a document on a snapshot: determines what it would remove and add, without changing anything.

The pattern of an operation runs as a query, with the dataset as arguments like those of readers, because the engine's own update
cannot be restricted to graphs. Its solutions fill the templates here. A change log keeps the net change of the request: what is
added and removed again leaves no trace, except in a graph that was emptied. As soon as an operation reads what an earlier one of
the same request has changed, it reads a writable copy of the snapshot.

*Guarantees:* a pattern reads only its dataset; the snapshot does not change. Nothing is fetched, whatever a document refers to; the
blank nodes of a document are not those of the store.

*But:* nothing here can be interrupted: it runs in a worker that can be killed.

*Source:* SPARQL 1.1 Update, https://www.w3.org/TR/sparql11-update/, sections 3.1 and 3.2: the pattern is evaluated once, before the
operation writes anything, and its deletions come before its insertions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyoxigraph as ox

from memento.errors import Conflict, GraphError, InputError, NotFound, TooLong
from memento.graph.documents import MOST_NESTED, nesting, parse_quads, refuse_unsafe
from memento.graph.store import DEFAULT, Delta, graph_of, serialise_quads
from memento.iris import mint
from memento.sparql.evaluate import evaluate
from memento.sparql.jobs import ALL, NAMED, Clear, Create, Document, Modify, Operation, Transfer, TrialOptions

_Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
_Bound = Callable[[str], "_Term | None"]


def try_operations(
    operations: Sequence[Operation], snapshot: ox.Store, copy: Callable[[], ox.Store], options: TrialOptions
) -> Delta:
    """
    Try operations one after the other; return what they would change.

    Args:
        copy: makes a writable copy of the snapshot; called at most once.

    Raises:
        InputError: the engine cannot parse an operation; names line and column.
        NotFound: an operation without SILENT names a graph that does not exist.
        Conflict: it creates a graph that exists.
        TooLong: more than `options.most` quads would be removed and added.
        GraphError: the engine failed.
    """
    trial = _Trial(snapshot, copy, options)
    for operation in operations:
        raise_if_unreadable(operation, options.base)
    try:
        for operation in operations:
            trial.execute(operation)
        return trial.changes.delta()
    except (SyntaxError, OSError, RuntimeError, ValueError) as error:
        raise GraphError(f"the update failed: {error}") from error


def collect_data(operations: Sequence[Operation], options: TrialOptions) -> Delta:
    """
    Return the changes of operations on given data, whatever the store contains: the last operation on each quad counts.

    Raises:
        InputError, TooLong: as `try_operations`.
    """
    trial = _Trial(ox.Store(), ox.Store, options)
    for operation in operations:
        raise_if_unreadable(operation, options.base)
    words: dict[ox.Quad, bool] = {}
    for operation in operations:
        if isinstance(act := operation.act, Modify):
            for text, comes in ((act.deletes, False), (act.inserts, True)):
                template = trial.parse_template(operation.prologue, text)
                words.update(dict.fromkeys(trial.fill_template(template, lambda name: None, act, is_new=comes), comes))
                trial.changes.raise_if_too_many(len(words))
    gone, come = ([quad for quad, comes in words.items() if comes is wanted] for wanted in (False, True))
    touched = tuple(dict.fromkeys(map(graph_of, words)))
    return Delta(
        removes=serialise_quads(gone), adds=serialise_quads(come), removed=len(gone), added=len(come), touched=touched
    )


def copy_snapshot(snapshot: ox.Store, folder: Path | str) -> ox.Store:
    """Copy a snapshot to a writable store in a new folder on the same file system."""
    snapshot.backup(str(folder))
    return ox.Store(str(folder))


def raise_if_unreadable(operation: Operation, base: str | None) -> None:
    """Raise `InputError` if the engine cannot parse an operation; `_FAILS` before it fails at run time, so nothing is executed."""
    ahead = f"{operation.prologue}\n{_FAILS} ;\n"
    try:
        ox.Store().update(ahead + operation.text, base_iri=base)
    except RuntimeError:
        return
    except SyntaxError as error:
        raise InputError(_locate_error(str(error), ahead.count("\n"), operation)) from error


def _locate_error(message: str, lines_ahead: int, operation: Operation) -> str:
    """Return the engine's message with the position in the whole request."""
    place = re.match(r"error at (\d+):(\d+): ", message)
    if not place or int(place.group(1)) <= lines_ahead:
        return f"line {operation.line}, column {operation.column} of the update: {message}"
    line, column = int(place.group(1)) - lines_ahead, int(place.group(2))
    column += operation.column - 1 if line == 1 else 0
    why = "its prefix is not declared" if "Prefix not found" in message else "this is not SPARQL from here on"
    return f"line {operation.line + line - 1}, column {column} of the update: {why}"


class _Trial:
    """One request being tried."""

    def __init__(self, snapshot: ox.Store, copy: Callable[[], ox.Store], options: TrialOptions) -> None:
        self.changes = ChangeLog(snapshot, options.listed, options.most)
        self._store = snapshot
        self._copy: Callable[[], ox.Store] | None = copy
        self._options = options
        self._named: dict[ox.BlankNode, ox.NamedNode] = {}

    def execute(self, operation: Operation) -> None:
        match operation.act:
            case Modify() as act:
                self._modify(act, operation.prologue)
            case Clear() as act:
                self._clear(act)
            case Create() as act:
                self.changes.touch(act.graph)
                if not self.changes.has_graph(act.graph):
                    self.changes.create(act.graph)
                elif not act.is_silent:
                    raise Conflict(f"there is a graph <{act.graph}> already")
            case Transfer() as act:
                self._transfer(act)

    def _modify(self, act: Modify, prologue: str) -> None:
        deletes, inserts = (self.parse_template(prologue, text) for text in (act.deletes, act.inserts))
        gone: dict[ox.Quad, None] = {}
        come: dict[ox.Quad, None] = {}
        for bound in self._solve(act, prologue):
            gone.update(dict.fromkeys(self.fill_template(deletes, bound, act, is_new=False)))
            come.update(dict.fromkeys(self.fill_template(inserts, bound, act, is_new=True)))
            self.changes.raise_if_too_many(len(gone) + len(come))
        self.changes.remove(gone)
        self.changes.add(come)

    def _clear(self, act: Clear) -> None:
        names = [act.graph]
        if act.graph in (NAMED, ALL):
            names = [*self.changes.list_graphs(), *([DEFAULT] if act.graph == ALL else [])]
        for graph in names:
            self.changes.touch(graph)
            if not self.changes.has_graph(graph):
                self._raise_if_missing(graph, act.is_silent)
            elif act.is_drop:
                self.changes.drop(graph)
            else:
                self.changes.clear_graph(graph)

    def _transfer(self, act: Transfer) -> None:
        self.changes.touch(act.target)
        if not self.changes.has_graph(act.source):
            return self._raise_if_missing(act.source, act.is_silent)
        if act.source == act.target:
            return None
        quads = list(self._current_store().quads_for_pattern(None, None, None, graph_term(act.source)))
        self.changes.raise_if_too_many(len(quads))
        if act.replaces:
            self.changes.clear_graph(act.target)
        self.changes.create(act.target)
        into = graph_term(act.target)
        self.changes.add(ox.Quad(quad.subject, quad.predicate, quad.object, into) for quad in quads)
        if act.drops:
            self.changes.drop(act.source)
        return None

    def _raise_if_missing(self, graph: str, is_silent: bool) -> None:
        if not is_silent:
            raise NotFound(f"there is no graph <{graph}>: add SILENT to go on without it")

    def _current_store(self) -> ox.Store:
        """Return a store with all changes of the request so far."""
        if not self.changes.is_replayed and self._copy is not None:
            self._store, self._copy = self._copy(), None
        if not self.changes.is_replayed:
            self.changes.replay_on(self._store)
        return self._store

    def _solve(self, act: Modify, prologue: str) -> Iterator[_Bound]:
        if not act.where:
            yield lambda name: None
            return
        projected = " ".join(f"?{name}" for name in act.variables) or "*"
        query = f"{prologue}\nSELECT {projected} WHERE {act.where}"
        store = self._current_store()
        free = self._list_free_graphs(store) if act.free_default or act.free_named else []
        default = act.default if act.default is None else [*act.default, *(free if act.free_default else ())]
        named = act.named if act.named is None else [*act.named, *(free if act.free_named else ())]
        solutions = evaluate(store, query, default, named, self._options.base, {})
        assert isinstance(solutions, ox.QuerySolutions)
        for solution in solutions:
            yield solution.__getitem__

    def _list_free_graphs(self, store: ox.Store) -> list[str]:
        options = self._options
        names = (name.value for name in store.named_graphs() if isinstance(name, ox.NamedNode))
        free = (name for name in names if options.free and name.startswith(options.free))
        return [name for name in free if options.free_names is None or name in options.free_names]

    def parse_template(self, prologue: str, text: str) -> list[ox.Quad]:
        """Return the quads of a template, parsed by the engine."""
        if not text.strip():
            return []
        scratch = ox.Store()
        scratch.update(f"{prologue}\n{_INSERTS} {{ {text}\n}}", base_iri=self._options.base)
        return list(scratch)

    def fill_template(
        self, template: Iterable[ox.Quad], bound: _Bound, act: Modify, *, is_new: bool
    ) -> Iterator[ox.Quad]:
        """Yield a template's quads for one solution, without invalid ones; blank nodes are new for each solution."""
        blanks: dict[ox.BlankNode, ox.BlankNode | ox.NamedNode] = {}

        def fill(term: _Term) -> _Term | None:
            if isinstance(term, ox.NamedNode) and act.marker and term.value.startswith(act.marker):
                found = bound(term.value.removeprefix(act.marker))
                return self._name_blank(found) if is_new and isinstance(found, ox.BlankNode) else found
            if isinstance(term, ox.BlankNode):
                if term not in blanks:
                    blanks[term] = self._name_blank(ox.BlankNode())
                return blanks[term]
            if isinstance(term, ox.Triple):
                return _make_triple(fill(term.subject), fill(term.predicate), fill(term.object))
            return term

        for quad in template:
            graph: _Term | GraphName | None = quad.graph_name
            graph = graph_term(act.into) if isinstance(graph, ox.DefaultGraph) else fill(graph)  # type: ignore[arg-type]
            made = _make_triple(fill(quad.subject), fill(quad.predicate), fill(quad.object))
            if made is not None and isinstance(graph, ox.NamedNode | ox.DefaultGraph):
                yield ox.Quad(made.subject, made.predicate, made.object, graph)

    def _name_blank(self, blank: ox.BlankNode) -> ox.BlankNode | ox.NamedNode:
        """Return a blank node, or the IRI that replaces it from now on."""
        if not self._options.no_blanks:
            return blank
        if blank not in self._named:
            self._named[blank] = ox.NamedNode(mint("blank"))
        return self._named[blank]


def _make_triple(subject: _Term | None, predicate: _Term | None, value: _Term | None) -> ox.Triple | None:
    """Return the triple of three terms; None if one is missing or not allowed in its position."""
    if not isinstance(subject, ox.NamedNode | ox.BlankNode) or not isinstance(predicate, ox.NamedNode):
        return None
    if value is None:
        return None
    if nesting(value) > MOST_NESTED:
        raise InputError(f"triples would be nested deeper than {MOST_NESTED}")
    return ox.Triple(subject, predicate, value)


_FAILS = "DROP GRAPH <urn:memento:nothing>"
_INSERTS = "INSERT DATA"


GraphName = ox.NamedNode | ox.DefaultGraph
_Step = Callable[[ox.Store], None]


class ChangeLog:
    """The net change of one request."""

    def __init__(self, snapshot: ox.Store, listed: str, most: int) -> None:
        """
        Args:
            listed: prefix of the names of graphs whose quads are returned one by one when they are emptied; "" is none.
            most: quads that may be removed and added together, without those of graphs that are emptied as a whole.
        """
        self._snapshot, self._listed, self._most = snapshot, listed, most
        self._adds: dict[ox.Quad, None] = {}
        self._removes: dict[ox.Quad, None] = {}
        self._cleared: dict[str, None] = {}
        self._graphs: dict[str, bool] = {}  # those created or removed: whether they exist
        self._touched: dict[str, None] = {}
        self._steps: list[_Step] = []

    def touch(self, graph: str) -> None:
        """Record that the request names a graph as a target."""
        self._touched[graph] = None

    def has_graph(self, graph: str) -> bool:
        """Tell whether a graph exists; the default graph always does."""
        known = self._graphs.get(graph)
        if known is None:
            return graph == DEFAULT or self._snapshot.contains_named_graph(ox.NamedNode(graph))
        return known

    def list_graphs(self) -> list[str]:
        """List the existing named graphs."""
        here = dict.fromkeys(name.value for name in self._snapshot.named_graphs() if isinstance(name, ox.NamedNode))
        return [graph for graph in {**here, **self._graphs} if graph != DEFAULT and self.has_graph(graph)]

    def add(self, quads: Iterable[ox.Quad]) -> None:
        come = list(quads)
        for quad in come:
            graph = graph_of(quad)
            self._touched[graph] = None
            self._graphs[graph] = True
            if quad in self._removes:
                del self._removes[quad]
            elif graph in self._cleared or quad not in self._snapshot:
                self._adds[quad] = None
        self.raise_if_too_many(0)
        self._steps.append(lambda store: store.extend(come))

    def remove(self, quads: Iterable[ox.Quad]) -> None:
        gone = list(quads)
        for quad in gone:
            self._touched[graph_of(quad)] = None
            if quad in self._adds:
                del self._adds[quad]
            elif graph_of(quad) not in self._cleared and quad in self._snapshot:
                self._removes[quad] = None
        self.raise_if_too_many(0)

        def step(store: ox.Store) -> None:
            for quad in gone:
                store.remove(quad)

        self._steps.append(step)

    def clear_graph(self, graph: str) -> None:
        """Remove everything from a graph."""
        self._touched[graph] = None
        if self._listed and graph.startswith(self._listed):
            new = [quad for quad in self._adds if graph_of(quad) == graph]
            old = self._snapshot.quads_for_pattern(None, None, None, graph_term(graph))
            self.remove([*new, *(quad for quad in old if quad not in self._removes)])
            return
        for quads in (self._adds, self._removes):
            for quad in [quad for quad in quads if graph_of(quad) == graph]:
                del quads[quad]
        self._cleared[graph] = None
        self._steps.append(lambda store: store.clear_graph(graph_term(graph)))

    def create(self, graph: str) -> None:
        """Create a graph if it does not exist."""
        self._graphs[graph] = True
        self._steps.append(lambda store: store.add_graph(graph_term(graph)))

    def drop(self, graph: str) -> None:
        """Remove a graph with its content."""
        self.clear_graph(graph)
        if graph != DEFAULT:
            self._graphs[graph] = False
            self._steps.append(lambda store: store.remove_graph(graph_term(graph)))

    def raise_if_too_many(self, more: int) -> None:
        """Raise `TooLong` if too many quads would be removed and added."""
        if len(self._adds) + len(self._removes) + more > self._most:
            raise TooLong(
                f"an update may remove and add at most {self._most} quads (limits.update_quads): split it, "
                "or load a document with POST to the graph store"
            )

    def replay_on(self, store: ox.Store) -> None:
        """Repeat on a copy of the snapshot what was done since the last call."""
        for step in self._steps:
            step(store)
        self._steps.clear()

    @property
    def is_replayed(self) -> bool:
        """Whether nothing was done since the last replay."""
        return not self._steps

    def delta(self) -> Delta:
        """Return the changes of the whole request."""
        was = {graph: self._snapshot.contains_named_graph(ox.NamedNode(graph)) for graph in self._graphs if graph}
        filled = {graph_of(quad) for quad in self._adds}
        return Delta(
            removes=serialise_quads(self._removes),
            adds=serialise_quads(self._adds),
            removed=len(self._removes) + sum(map(self._count, self._cleared)),
            added=len(self._adds),
            cleared=tuple(
                graph for graph in self._cleared if graph == DEFAULT or was.get(graph, self.has_graph(graph))
            ),
            dropped=tuple(graph for graph, before in was.items() if before and not self.has_graph(graph)),
            created=tuple(g for g, before in was.items() if not before and self.has_graph(g) and g not in filled),
            touched=tuple(self._touched),
        )

    def _count(self, graph: str) -> int:
        counted = self._snapshot.query(_COUNT, default_graph=[graph_term(graph)], named_graphs=[])
        assert isinstance(counted, ox.QuerySolutions)
        [row] = counted
        return int(row[0].value)


def graph_term(graph: str) -> GraphName:
    """Return the name of a graph as a term."""
    return ox.NamedNode(graph) if graph else ox.DefaultGraph()


_COUNT = "SELECT (COUNT(*) AS ?count) WHERE { ?s ?p ?o }"


FORMATS: Mapping[str, ox.RdfFormat] = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/x-turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
    "application/trig": ox.RdfFormat.TRIG,
    "application/n-quads": ox.RdfFormat.N_QUADS,
    "text/n3": ox.RdfFormat.N3,
}
"""The supported media types."""


def try_upload(
    documents: Sequence[Document], graph: str, replaces: bool, snapshot: ox.Store | None, terms: TrialOptions
) -> Delta:
    """
    Return what documents would change in a graph; "" is the default graph.

    Args:
        replaces: whether to remove everything else in the graph.
        snapshot: None returns everything in the documents, as if the graph were empty.

    Raises:
        InputError: a document is not well formed, or names another graph.
        TooLong: more than `options.most` quads would be removed and added.
    """
    snapshot = ox.Store() if snapshot is None else snapshot
    ledger = ChangeLog(snapshot, terms.listed, terms.most)
    ledger.touch(graph)
    ledger.create(graph)
    new: set[ox.Quad] = set()
    named: dict[ox.BlankNode, ox.NamedNode] = {}

    def kept(
        term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple,
    ) -> ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple:
        if isinstance(term, ox.Triple):
            return ox.Triple(kept(term.subject), term.predicate, kept(term.object))  # type: ignore[arg-type]
        if not isinstance(term, ox.BlankNode) or not terms.no_blanks:
            return term
        if term not in named:
            named[term] = ox.NamedNode(mint("blank"))
        return named[term]

    for document in documents:
        for quad in _quads(document, graph):
            new.add(ox.Quad(kept(quad.subject), quad.predicate, kept(quad.object), graph_term(graph)))  # type: ignore[arg-type]
            ledger.raise_if_too_many(len(new))
    if replaces:
        old = snapshot.quads_for_pattern(None, None, None, graph_term(graph))
        ledger.remove(quad for quad in old if quad not in new)
    ledger.add(new)
    return ledger.delta()


def _quads(document: Document, graph: str) -> Iterator[ox.Quad]:
    path, of, name = Path(document.path), FORMATS[document.media], f"the {document.media} document"
    refuse_unsafe(path, of, name)
    with path.open("rb") as file:
        for quad in parse_quads(file, of, name, base=document.base, rename_blank_nodes=True):
            if not isinstance(quad.graph_name, ox.DefaultGraph) and quad.graph_name != graph_term(graph):
                raise InputError(
                    f"the document names the graph {quad.graph_name}, and goes into <{graph}>: send it to the graph that it names"
                )
            yield quad
