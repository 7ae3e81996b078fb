"""
An update tried on a snapshot: what it would remove and add, and nothing is changed.

The pattern of an operation runs as a query, with the dataset as arguments, as those of readers do: the engine's own update can be
kept from no graph. What it finds is put into the templates here. As soon as an operation reads what an earlier one of the same
request has changed, it reads a writable copy of the snapshot.

*Guarantees:* a pattern reads its dataset and nothing else; the snapshot stays as it is.

*But:* nothing here can be stopped: it runs in a worker that can be killed.

*Source:* SPARQL 1.1 Update, https://www.w3.org/TR/sparql11-update/, sections 3.1 and 3.2: the pattern is evaluated once, before
anything of the operation is written, and what it deletes goes before what it inserts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyoxigraph as ox

from memento.errors import Conflict, GraphError, InputError, NotFound
from memento.graph.acts import ALL, DEFAULT, NAMED, Clear, Create, Modify, Operation, Terms, Transfer
from memento.graph.delta import Delta, dumped, graph_of
from memento.graph.ledger import GraphName, Ledger, node
from memento.graph.parsing import MOST_NESTED, nesting
from memento.graph.snapshot import evaluated
from memento.vocabulary import mint

_Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
_Bound = Callable[[str], "_Term | None"]


def tried(operations: Sequence[Operation], snapshot: ox.Store, copy: Callable[[], ox.Store], terms: Terms) -> Delta:
    """
    What some operations would change, one after the other.

    Args:
        copy: makes a writable copy of the snapshot; called at most once.

    Raises:
        InputError: the engine takes an operation for no SPARQL; names line and column.
        NotFound: an operation that is not SILENT names a graph that is not there.
        Conflict: it creates one that is.
        TooLong: more than `terms.most` quads go and come.
        GraphError: the engine failed.
    """
    trial = _Trial(snapshot, copy, terms)
    for operation in operations:
        _parsed(operation, terms.base)
    try:
        for operation in operations:
            trial.do(operation)
        return trial.ledger.delta()
    except (SyntaxError, OSError, RuntimeError, ValueError) as error:
        raise GraphError(f"the update failed: {error}") from error


def stated(operations: Sequence[Operation], terms: Terms) -> Delta:
    """
    What operations on given data would change, whatever the store holds: the last word on each quad.

    Raises:
        InputError, TooLong: as `tried`.
    """
    trial = _Trial(ox.Store(), ox.Store, terms)
    for operation in operations:
        _parsed(operation, terms.base)
    words: dict[ox.Quad, bool] = {}
    for operation in operations:
        if isinstance(act := operation.act, Modify):
            for text, comes in ((act.deletes, False), (act.inserts, True)):
                template = trial.template(operation.prologue, text)
                words.update(dict.fromkeys(trial.filled(template, lambda name: None, act, is_new=comes), comes))
                trial.ledger.bounded(len(words))
    gone, come = ([quad for quad, comes in words.items() if comes is wanted] for wanted in (False, True))
    touched = tuple(dict.fromkeys(map(graph_of, words)))
    return Delta(removes=dumped(gone), adds=dumped(come), removed=len(gone), added=len(come), touched=touched)


def copied(snapshot: ox.Store, folder: Path | str) -> ox.Store:
    """A store of one's own that holds what a snapshot holds, in a folder that is not there yet on the same file system."""
    snapshot.backup(str(folder))
    return ox.Store(str(folder))


def _parsed(operation: Operation, base: str | None) -> None:
    """Nothing, when the engine can read an operation: it reads all of a text before it does the first, which fails here."""
    ahead = f"{operation.prologue}\n{_FAILS} ;\n"
    try:
        ox.Store().update(ahead + operation.text, base_iri=base)
    except RuntimeError:
        return
    except SyntaxError as error:
        raise InputError(_placed(str(error), ahead.count("\n"), operation)) from error


def _placed(message: str, lines_ahead: int, operation: Operation) -> str:
    """What the engine says, with the place counted in the whole request."""
    found = re.match(r"error at (\d+):(\d+): ", message)
    if not found or int(found.group(1)) <= lines_ahead:
        return f"line {operation.line}, column {operation.column} of the update: {message}"
    line, column = int(found.group(1)) - lines_ahead, int(found.group(2))
    column += operation.column - 1 if line == 1 else 0
    why = "its prefix is not declared" if "Prefix not found" in message else "this is not SPARQL from here on"
    return f"line {operation.line + line - 1}, column {column} of the update: {why}"


class _Trial:
    """One request in the making."""

    def __init__(self, snapshot: ox.Store, copy: Callable[[], ox.Store], terms: Terms) -> None:
        self.ledger = Ledger(snapshot, terms.listed, terms.most)
        self._store = snapshot
        self._copy: Callable[[], ox.Store] | None = copy
        self._terms = terms
        self._named: dict[ox.BlankNode, ox.NamedNode] = {}

    def do(self, operation: Operation) -> None:
        match operation.act:
            case Modify() as act:
                self._modify(act, operation.prologue)
            case Clear() as act:
                self._clear(act)
            case Create() as act:
                self.ledger.touch(act.graph)
                if not self.ledger.has(act.graph):
                    self.ledger.create(act.graph)
                elif not act.is_silent:
                    raise Conflict(f"there is a graph <{act.graph}> already")
            case Transfer() as act:
                self._transfer(act)

    def _modify(self, act: Modify, prologue: str) -> None:
        deletes, inserts = (self.template(prologue, text) for text in (act.deletes, act.inserts))
        gone: dict[ox.Quad, None] = {}
        come: dict[ox.Quad, None] = {}
        for bound in self._solutions(act, prologue):
            gone.update(dict.fromkeys(self.filled(deletes, bound, act, is_new=False)))
            come.update(dict.fromkeys(self.filled(inserts, bound, act, is_new=True)))
            self.ledger.bounded(len(gone) + len(come))
        self.ledger.remove(gone)
        self.ledger.add(come)

    def _clear(self, act: Clear) -> None:
        names = [act.graph]
        if act.graph in (NAMED, ALL):
            names = [*self.ledger.graphs(), *([DEFAULT] if act.graph == ALL else [])]
        for graph in names:
            self.ledger.touch(graph)
            if not self.ledger.has(graph):
                self._missing(graph, act.is_silent)
            elif act.is_drop:
                self.ledger.drop(graph)
            else:
                self.ledger.clear(graph)

    def _transfer(self, act: Transfer) -> None:
        self.ledger.touch(act.target)
        if not self.ledger.has(act.source):
            return self._missing(act.source, act.is_silent)
        if act.source == act.target:
            return None
        found = list(self._settled().quads_for_pattern(None, None, None, node(act.source)))
        self.ledger.bounded(len(found))
        if act.replaces:
            self.ledger.clear(act.target)
        self.ledger.create(act.target)
        into = node(act.target)
        self.ledger.add(ox.Quad(quad.subject, quad.predicate, quad.object, into) for quad in found)
        if act.drops:
            self.ledger.drop(act.source)
        return None

    def _missing(self, graph: str, is_silent: bool) -> None:
        if not is_silent:
            raise NotFound(f"there is no graph <{graph}>: add SILENT to go on without it")

    def _settled(self) -> ox.Store:
        """The store as it is after all that the request has done so far."""
        if not self.ledger.is_settled and self._copy is not None:
            self._store, self._copy = self._copy(), None
        if not self.ledger.is_settled:
            self.ledger.settle(self._store)
        return self._store

    def _solutions(self, act: Modify, prologue: str) -> Iterator[_Bound]:
        if not act.where:
            yield lambda name: None
            return
        projected = " ".join(f"?{name}" for name in act.variables) or "*"
        query = f"{prologue}\nSELECT {projected} WHERE {act.where}"
        store = self._settled()
        free = self._free(store) if act.free_default or act.free_named else []
        default = act.default if act.default is None else [*act.default, *(free if act.free_default else ())]
        named = act.named if act.named is None else [*act.named, *(free if act.free_named else ())]
        found = evaluated(store, query, default, named, self._terms.base, {})
        assert isinstance(found, ox.QuerySolutions)
        for solution in found:
            yield solution.__getitem__

    def _free(self, store: ox.Store) -> list[str]:
        names = (name.value for name in store.named_graphs() if isinstance(name, ox.NamedNode))
        return [name for name in names if self._terms.free and name.startswith(self._terms.free)]

    def template(self, prologue: str, text: str) -> list[ox.Quad]:
        """The quads of a template as the engine reads them."""
        if not text.strip():
            return []
        scratch = ox.Store()
        scratch.update(f"{prologue}\n{_INSERTS} {{ {text}\n}}", base_iri=self._terms.base)
        return list(scratch)

    def filled(self, template: Iterable[ox.Quad], bound: _Bound, act: Modify, *, is_new: bool) -> Iterator[ox.Quad]:
        """A template's quads for one solution, those left out that are no RDF; a blank node is another one each time."""
        blanks: dict[ox.BlankNode, ox.BlankNode | ox.NamedNode] = {}

        def filled(term: _Term) -> _Term | None:
            if isinstance(term, ox.NamedNode) and act.marker and term.value.startswith(act.marker):
                found = bound(term.value.removeprefix(act.marker))
                return self._unblanked(found) if is_new and isinstance(found, ox.BlankNode) else found
            if isinstance(term, ox.BlankNode):
                if term not in blanks:
                    blanks[term] = self._unblanked(ox.BlankNode())
                return blanks[term]
            if isinstance(term, ox.Triple):
                return _triple(filled(term.subject), filled(term.predicate), filled(term.object))
            return term

        for quad in template:
            graph: _Term | GraphName | None = quad.graph_name
            graph = node(act.into) if isinstance(graph, ox.DefaultGraph) else filled(graph)  # type: ignore[arg-type]
            made = _triple(filled(quad.subject), filled(quad.predicate), filled(quad.object))
            if made is not None and isinstance(graph, ox.NamedNode | ox.DefaultGraph):
                yield ox.Quad(made.subject, made.predicate, made.object, graph)

    def _unblanked(self, blank: ox.BlankNode) -> ox.BlankNode | ox.NamedNode:
        """A blank node, or the IRI that stands for it from now on."""
        if not self._terms.no_blanks:
            return blank
        if blank not in self._named:
            self._named[blank] = ox.NamedNode(mint("blank"))
        return self._named[blank]


def _triple(subject: _Term | None, predicate: _Term | None, value: _Term | None) -> ox.Triple | None:
    """The triple of three terms, None when one is missing or cannot stand where it does."""
    if not isinstance(subject, ox.NamedNode | ox.BlankNode) or not isinstance(predicate, ox.NamedNode):
        return None
    if value is None:
        return None
    if nesting(value) > MOST_NESTED:
        raise InputError(f"triples would be nested deeper than {MOST_NESTED}")
    return ox.Triple(subject, predicate, value)


_FAILS = "DROP GRAPH <urn:memento:nothing>"
_INSERTS = "INSERT DATA"
