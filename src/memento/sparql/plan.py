"""
What an update does, with every graph named: the operations as a worker tries them, within what the caller may read and write.

*Guarantees:* a pattern reads graphs of the caller alone; a graph that is named and is not the caller's is refused, whether it is
there or not, so that nobody learns which are.

*But:* a graph that a template takes from a variable shows only in what would be written: `change.py` looks at that.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from memento.errors import Forbidden, InputError
from memento.graph.acts import ALL, DEFAULT, NAMED, Clear, Create, Modify, Operation, Transfer
from memento.graph.terms import resolved
from memento.iris import data_iri
from memento.model import Dataset
from memento.sparql.operations import Written
from memento.sparql.tokens import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Using:
    """The graphs that a request chooses outside of its text, by `using-graph-uri` and `using-named-graph-uri`."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.default or self.named)


def planned(written: Collection[Written], dataset: Dataset, using: Using, base: str | None) -> list[Operation]:
    """
    The operations of an update for a worker; a LOAD that is SILENT is none, as it fails without a word.

    Raises:
        Forbidden: LOAD, a graph that is not the caller's, or an operation on all graphs at once where they are memories.
        InputError: a name stands for no IRI, or the request chooses graphs beside USING or WITH.
    """
    planner = _Planner(dataset, using, base)
    found = []
    for one in written:
        act = planner.act(one)
        if act is not None:
            found.append(Operation(act=act, prologue=one.prologue, text=one.text, line=one.line, column=one.column))
    return found


def refused(graph: str, dataset: Dataset) -> Forbidden:
    """Why a graph cannot be written."""
    own = data_iri(dataset.tenant or "", "NAME")
    return Forbidden(
        f"the graph <{graph}> is not yours to write: name the graph of a namespace, or a free one as <{own}>"
        if graph
        else f"the default graph is not yours to write: name a graph, as <{own}>"
    )


@dataclass(frozen=True, slots=True)
class _Planner:
    dataset: Dataset
    using: Using
    base: str | None

    def act(self, one: Written) -> Modify | Clear | Create | Transfer | None:
        match one.verb:
            case "INSERT":
                return self._modify(one)
            case "LOAD":
                self._load(one)
                return None
            case "CREATE":
                return Create(graph=self._written(one, one.graphs[0]), is_silent=one.is_silent)
            case "CLEAR" | "DROP":
                return self._clear(one)
            case _:
                return self._transfer(one)

    def _modify(self, one: Written) -> Modify:
        into = self._written(one, one.with_graph) if one.with_graph else self.dataset.into or DEFAULT
        act = Modify(
            deletes=one.deletes,
            inserts=one.inserts,
            where=one.where,
            marker=one.marker,
            variables=one.variables,
            default=self.dataset.default,
            named=self.dataset.named,
            free_default=not self.dataset.is_plain,
            free_named=not self.dataset.is_plain,
            into=into,
        )
        if (chosen := self._chosen(one)) is not None:
            return replace(act, default=chosen.default, named=chosen.named, free_default=False, free_named=False)
        return replace(act, default=self.dataset.among([into]), free_default=False) if one.with_graph else act

    def _chosen(self, one: Written) -> Dataset | None:
        """The graphs that the request wants a pattern to read, as far as the caller may; None where it names none."""
        if self.using and (one.using is not None or one.with_graph):
            raise InputError("choose graphs by parameters, as using-graph-uri, or by USING and WITH, not by both")
        if one.using is not None and one.using_named is not None:
            default, named = ([self._read(one, token) for token in some] for some in (one.using, one.using_named))
            return self.dataset.choosing(default, named)
        return self.dataset.choosing(self.using.default, self.using.named) if self.using else None

    def _load(self, one: Written) -> None:
        if self.dataset.is_plain and one.is_silent:
            return
        raise Forbidden(
            f"line {one.line}, column {one.column} of the update: LOAD is refused, as nothing is fetched from here; "
            "fetch the document yourself and send it to the graph store"
        )

    def _clear(self, one: Written) -> Clear:
        word = _word(one.graphs[0])
        if word in (NAMED, ALL, "DEFAULT") and not self.dataset.is_plain:
            raise Forbidden(
                f"line {one.line}, column {one.column} of the update: {one.verb} {word} is refused, as it would empty memories "
                f"without naming them: name the graph, as {one.verb} GRAPH <{self.dataset.into}>"
            )
        graph = word if word in (NAMED, ALL) else self._written(one, one.graphs[0])
        return Clear(graph=graph, is_drop=one.verb == "DROP", is_silent=one.is_silent)

    def _transfer(self, one: Written) -> Transfer:
        source, target = one.graphs
        drops, replaces = one.verb == "MOVE", one.verb != "ADD"
        for token, is_emptied in ((source, drops), (target, replaces)):
            if is_emptied and _word(token) and not self.dataset.is_plain:
                raise Forbidden(
                    f"line {one.line}, column {one.column} of the update: {one.verb} is refused, as it would empty the default "
                    f"graph, where memories are, without naming it: write <{self.dataset.into}>"
                )
        return Transfer(
            source=self._written(one, source) if drops else self._read(one, source),
            target=self._written(one, target),
            replaces=replaces,
            drops=drops,
            is_silent=one.is_silent,
        )

    def _written(self, one: Written, token: Token) -> str:
        graph = self._named(one, token)
        if not self.dataset.writes(graph):
            raise refused(graph, self.dataset)
        return graph

    def _read(self, one: Written, token: Token) -> str:
        graph = self._named(one, token)
        if not self.dataset.reads(graph):
            raise Forbidden(f"line {token.line}, column {token.column} of the update: <{graph}> is not yours to read")
        return graph

    def _named(self, one: Written, token: Token) -> str:
        if _word(token):
            return self.dataset.into or DEFAULT
        return resolved(one.prologue, token.text, self.base)


def _word(token: Token) -> str:
    return token.text.upper() if token.kind == "word" else ""
