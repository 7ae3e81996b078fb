"""
Updates of users: a worker tries them, the result is checked against what the caller may write, and is written atomically.

*Flow:* `guard` reads an update, `parse_operations` splits it, `plan_operations` determines its graphs, and a worker tries it on a
snapshot (`trial`). The resulting delta is checked here, graph by graph, before the owner of the store commits it.

*Guarantees:* a pattern reads only graphs of the caller; naming any other graph is refused, whether it exists or not, so that nobody
learns which exist. A committed change was tried on the current store: if something else was written meanwhile, it is tried again.
Nothing is written of a refused change.

*But:* this module parses the outline of an update, not what is inside the braces: the engine tells whether that is SPARQL. If a
template takes a graph from a variable, only the result shows which graph it is, so the result is checked too.

*Source:* SPARQL 1.1 Query Language, https://www.w3.org/TR/sparql11-query/#sparqlGrammar, productions 3 and 29 to 52.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from memento.errors import Forbidden, GraphError, InputError, NotFound, TooLong, WrongGraph
from memento.graph.binding import load_query
from memento.graph.store import DEFAULT, Delta, Store, graph_of, parse_quads
from memento.graph.terms import resolve_iri
from memento.iris import IRI, data_iri
from memento.model import Changed, Dataset
from memento.settings import LimitsSettings
from memento.sparql.guard import Token, read_sparql
from memento.sparql.jobs import (
    ALL,
    LIKELY,
    NAMED,
    UNKNOWN,
    Answer,
    Clear,
    Create,
    Document,
    Edit,
    Edited,
    Job,
    Modify,
    Operation,
    Transfer,
    TrialOptions,
    Update,
    Upload,
    WaitingClient,
)
from memento.sparql.pool import Pool
from memento.sparql.prepare import RDFLIB_DEFAULT, QueryRequest, VisibleGraphs, prepare_query

_GRAPH_VERBS = ("CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD")


@dataclass(slots=True, kw_only=True)
class WrittenOperation:
    """
    One operation as written, starting at `line` and `column`; it is filled as it is read.

    `verb` is LOAD, a verb of graph management, or INSERT for all that have templates. `graphs` are the names after the verb, as
    tokens: of graphs, or the words DEFAULT, NAMED and ALL. In templates, the IRI `marker` + name replaces each variable;
    `variables` are the names. `using` and `using_named` are None if it has neither clause.
    """

    verb: str
    prologue: str
    line: int
    column: int
    marker: str
    text: str = ""
    is_silent: bool = False
    graphs: tuple[Token, ...] = ()
    deletes: str = ""
    inserts: str = ""
    where: str = ""
    variables: tuple[str, ...] = ()
    with_graph: Token | None = None
    using: tuple[Token, ...] | None = None
    using_named: tuple[Token, ...] | None = None

    @property
    def position(self) -> str:
        """Its place, for a message."""
        return f"line {self.line}, column {self.column} of the update"


def parse_operations(sparql: str, tokens: Sequence[Token]) -> list[WrittenOperation]:
    """
    Split an update into its operations, in order; none for an empty one.

    Raises:
        InputError: there is something where no operation can be; names line and column.
    """
    reader = _Reader(sparql, tokens)
    operations: list[WrittenOperation] = []
    while reader.read_prologue():
        operations.append(reader.read_operation())
        if not reader.skip("sign", ";"):
            break
    if reader.token is not None:
        raise reader.error_for_next("; or the end of the update")
    return operations


def unwrap_default(sparql: str, tokens: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """
    Unwrap `GRAPH <urn:x-rdflib:default>` in a group that contains nothing else, which rdflib writes for a `Dataset`.

    >>> from memento.sparql.guard import tokenise
    >>> text = "INSERT DATA { GRAPH <urn:x-rdflib:default> {<urn:a> <urn:b> 3} }"
    >>> unwrap_default(text, list(tokenise(text)))[0].split()
    ['INSERT', 'DATA', '{', '<urn:a>', '<urn:b>', '3', '}']
    """
    wrapper = ["{", "GRAPH", f"<{RDFLIB_DEFAULT}>", "{"]
    if wrapper[2] not in sparql:
        return sparql, tokens
    texts = [token.text.upper() if token.kind == "word" else token.text for token in tokens]
    dropped: set[int] = set()
    for at in range(len(texts) - len(wrapper)):
        if texts[at : at + len(wrapper)] == wrapper:
            depth = 1
            for end in range(at + len(wrapper), len(texts)):
                depth += {"{": 1, "}": -1}.get(texts[end], 0)
                if depth == 0:
                    break
            if depth == 0 and texts[end + 1 : end + 2] == ["}"]:
                dropped |= {at + 1, at + 2, at + 3, end}
    out = [tokens[place] for place in dropped]
    blanked = Edited(
        sparql, tuple(Edit(one.start, one.end, " " * len(one.text)) for one in out)
    )  # positions stay the same
    return blanked.text, [token for place, token in enumerate(tokens) if place not in dropped]


class _Reader:
    """A position among the tokens, and the declarations before it."""

    def __init__(self, sparql: str, tokens: Sequence[Token]) -> None:
        self._sparql, self._tokens, self._at = sparql, tokens, 0
        self._prologue: list[str] = []
        self._labels: set[str] = set()  # of blank nodes of earlier INSERT DATA
        self._marker = f"urn:memento:variable:{secrets.token_hex(8)}:"
        self._variables: dict[str, None] = {}

    @property
    def token(self) -> Token | None:
        """The next token, None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def read_prologue(self) -> bool:
        """Read the declarations before an operation; return whether there were any."""
        while (word := self._next_word()) in ("BASE", "PREFIX"):
            begin = self._at
            self._at += 1
            if word == "PREFIX":
                self._expect("name", "a prefix")
            self._expect("iri", "an IRI")
            self._prologue.append(" ".join(token.text for token in self._tokens[begin : self._at]))
        return self.token is not None

    def read_operation(self) -> WrittenOperation:
        """Read one operation."""
        first, verb = self._tokens[self._at], self._next_word()
        operation = WrittenOperation(
            verb="INSERT" if verb in ("DELETE", "WITH") else verb,
            prologue="\n".join(self._prologue),
            line=first.line,
            column=first.column,
            marker=self._marker,
        )
        self._variables = {}
        if operation.verb == "INSERT":
            self._read_templates(operation)
        elif verb in (*_GRAPH_VERBS, "LOAD"):
            self._read_graph_operation(verb, operation)
        else:
            raise self.error_for_next("an operation such as INSERT or DELETE")
        operation.text = self._sparql[first.start : self._tokens[self._at - 1].end]
        operation.variables = tuple(self._variables)
        return operation

    def skip(self, kind: str, text: str) -> bool:
        """Skip a token if it is the next one."""
        token = self.token
        is_next = token is not None and token.kind == kind and token.text.upper() == text
        self._at += is_next
        return is_next

    def error_for_next(self, wanted: str) -> InputError:
        """Return the error for the next token."""
        if self.token is None:
            return InputError(f"the update ends where {wanted} must follow")
        token = self.token
        return InputError(
            f"line {token.line}, column {token.column} of the update: expected {wanted}, not {token.text[:40]!r}"
        )

    def _read_templates(self, operation: WrittenOperation) -> None:
        if self.skip("word", "WITH"):
            operation.with_graph = self._read_graph()
        verb = self._next_word()
        self._at += 1
        if verb in ("INSERT", "DELETE") and self.skip("word", "DATA"):
            begin, data = self._at, self._read_template()
            operation.deletes, operation.inserts = (data, "") if verb == "DELETE" else ("", data)
            return self._raise_if_label_reused(begin)
        if verb == "DELETE" and self._next_word() == "WHERE":
            self._at += 1
            begin = self._at
            operation.deletes = self._read_template()
            operation.where = self._text_between(begin, self._at)
            return None
        if verb == "DELETE":
            operation.deletes = self._read_template()
            if self.skip("word", "INSERT"):
                operation.inserts = self._read_template()
        elif verb == "INSERT":
            operation.inserts = self._read_template()
        else:
            self._at -= 1
            raise self.error_for_next("DELETE or INSERT")
        return self._read_pattern(operation)

    def _read_pattern(self, operation: WrittenOperation) -> None:
        using: list[Token] = []
        named: list[Token] = []
        while self.skip("word", "USING"):
            (named if self.skip("word", "NAMED") else using).append(self._read_graph())
        if using or named:
            operation.using, operation.using_named = tuple(using), tuple(named)
        if not self.skip("word", "WHERE"):
            raise self.error_for_next("USING or WHERE")
        begin = self._at
        self._skip_block()
        operation.where = self._text_between(begin, self._at)

    def _read_graph_operation(self, verb: str, operation: WrittenOperation) -> None:
        self._at += 1
        operation.is_silent = self.skip("word", "SILENT")
        if verb == "LOAD":
            operation.graphs = (self._read_graph(),)
            if self.skip("word", "INTO"):
                self.skip("word", "GRAPH")
                operation.graphs += (self._read_graph(),)
        elif verb in ("COPY", "MOVE", "ADD"):
            operation.graphs = (self._read_graph_or("DEFAULT"),)
            if not self.skip("word", "TO"):
                raise self.error_for_next("TO")
            operation.graphs += (self._read_graph_or("DEFAULT"),)
        elif verb == "CREATE":
            if not self.skip("word", "GRAPH"):
                raise self.error_for_next("GRAPH")
            operation.graphs = (self._read_graph(),)
        else:
            is_word = self._next_word() in ("DEFAULT", "NAMED", "ALL")
            if not is_word and self._next_word() != "GRAPH":
                raise self.error_for_next("GRAPH, DEFAULT, NAMED or ALL")
            operation.graphs = (self._read_graph_or("DEFAULT", "NAMED", "ALL"),)

    def _read_graph_or(self, *words: str) -> Token:
        if self._next_word() in words:
            self._at += 1
            return self._tokens[self._at - 1]
        self.skip("word", "GRAPH")
        return self._read_graph()

    def _read_graph(self) -> Token:
        token = self.token
        if token is None or token.kind not in ("iri", "name"):
            raise self.error_for_next("the IRI of a graph")
        self._at += 1
        return token

    def _read_template(self) -> str:
        """Read the content of the braces, with IRIs in place of its variables."""
        begin = self._at
        self._skip_block()
        inside = self._tokens[begin + 1 : self._at - 1]
        at, pieces = self._tokens[begin].end, []
        for token in inside:
            if token.kind == "variable":
                self._variables[token.text[1:]] = None
                pieces += [self._sparql[at : token.start], f" <{self._marker}{token.text[1:]}> "]
                at = token.end
        return "".join([*pieces, self._sparql[at : self._tokens[self._at - 1].start]])

    def _skip_block(self) -> None:
        """Skip a group in braces; the guard has checked that they are balanced."""
        if self.token is None or self.token.text != "{":
            raise self.error_for_next("{")
        depth = 0
        for at in range(self._at, len(self._tokens)):
            depth += {"{": 1, "}": -1}.get(self._tokens[at].text, 0)
            if depth == 0:
                self._at = at + 1
                return
        raise self.error_for_next("a group that ends")

    def _raise_if_label_reused(self, begin: int) -> None:
        here = {token.text: token for token in self._tokens[begin : self._at] if token.kind == "blank"}
        for text in sorted(here.keys() & self._labels):
            token = here[text]
            raise InputError(
                f"line {token.line}, column {token.column} of the update: {text} stands for a blank node of an earlier "
                "INSERT DATA: give this one another label"
            )
        self._labels.update(here)

    def _text_between(self, begin: int, end: int) -> str:
        return self._sparql[self._tokens[begin].start : self._tokens[end - 1].end]

    def _expect(self, kind: str, wanted: str) -> None:
        if self.token is None or self.token.kind != kind:
            raise self.error_for_next(wanted)
        self._at += 1

    def _next_word(self) -> str:
        return self.token.text.upper() if self.token is not None and self.token.kind == "word" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Using:
    """The graphs that a request chooses outside its text, by `using-graph-uri` and `using-named-graph-uri`."""

    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.default or self.named)


def plan_operations(
    written: Collection[WrittenOperation], dataset: Dataset, using: Using, base: str | None
) -> list[Operation]:
    """
    Plan the operations of an update for a worker; a SILENT LOAD is skipped, because it fails silently.

    Raises:
        Forbidden: LOAD, a graph that is not the caller's, or an operation on all graphs at once where they hold memories.
        InputError: a name cannot be resolved, or the request chooses graphs and the text has USING or WITH.
    """
    planner = _Planner(dataset, using, base)
    operations = []
    for operation in written:
        act = planner.plan_act(operation)
        if act is not None:
            operations.append(
                Operation(
                    act=act,
                    prologue=operation.prologue,
                    text=operation.text,
                    line=operation.line,
                    column=operation.column,
                )
            )
    return operations


def refuse_write(graph: str, dataset: Dataset) -> Forbidden:
    """Return the error for a graph that the caller may not write."""
    if dataset.free_writable is None:
        own = f"a free one as <{data_iri(dataset.tenant or '', 'NAME')}>"
    else:
        own = "a free one that your token may write (`memento token create --graph NAME:write`)"
    return Forbidden(
        f"the graph <{graph}> is not yours to write: name the graph of a namespace, or {own}"
        if graph
        else f"the default graph is not yours to write: name a graph, as {own}"
    )


@dataclass(frozen=True, slots=True)
class _Planner:
    dataset: Dataset
    using: Using
    base: str | None

    def plan_act(self, operation: WrittenOperation) -> Modify | Clear | Create | Transfer | None:
        match operation.verb:
            case "INSERT":
                return self._modify(operation)
            case "LOAD":
                self._load(operation)
                return None
            case "CREATE":
                return Create(graph=self._writable_graph(operation, operation.graphs[0]), is_silent=operation.is_silent)
            case "CLEAR" | "DROP":
                return self._clear(operation)
            case _:
                return self._transfer(operation)

    def _modify(self, operation: WrittenOperation) -> Modify:
        into = (
            self._writable_graph(operation, operation.with_graph)
            if operation.with_graph
            else self.dataset.into or DEFAULT
        )
        act = Modify(
            deletes=operation.deletes,
            inserts=operation.inserts,
            where=operation.where,
            marker=operation.marker,
            variables=operation.variables,
            default=self.dataset.default,
            named=self.dataset.named,
            free_default=not self.dataset.is_plain,
            free_named=not self.dataset.is_plain,
            into=into,
        )
        if (chosen := self._choose_dataset(operation)) is not None:
            return replace(act, default=chosen.default, named=chosen.named, free_default=False, free_named=False)
        return (
            replace(act, default=self.dataset.keep_readable([into]), free_default=False)
            if operation.with_graph
            else act
        )

    def _choose_dataset(self, operation: WrittenOperation) -> Dataset | None:
        """Return the graphs that a request chooses for a pattern, as far as the caller may read them; None if it chooses none."""
        if self.using and (operation.using is not None or operation.with_graph):
            raise InputError(
                "choose graphs by the address or by parameters, as using-graph-uri, or by USING and WITH, not by both"
            )
        if operation.using is not None and operation.using_named is not None:
            default, named = (
                [self._readable_graph(operation, token) for token in some]
                for some in (operation.using, operation.using_named)
            )
            return self.dataset.choosing(default, named)
        return self.dataset.choosing(self.using.default, self.using.named) if self.using else None

    def _load(self, operation: WrittenOperation) -> None:
        if self.dataset.is_plain and operation.is_silent:
            return
        raise Forbidden(
            f"{operation.position}: LOAD is refused, as nothing is fetched from here; "
            "fetch the document yourself and send it to the graph store"
        )

    def _clear(self, operation: WrittenOperation) -> Clear:
        word = _keyword(operation.graphs[0])
        if word in (NAMED, ALL, "DEFAULT") and not self.dataset.is_plain:
            raise Forbidden(
                f"{operation.position}: {operation.verb} {word} is refused, as it would empty memories "
                f"without naming them: name the graph, as {operation.verb} GRAPH <{self.dataset.into}>"
            )
        graph = word if word in (NAMED, ALL) else self._writable_graph(operation, operation.graphs[0])
        return Clear(graph=graph, is_drop=operation.verb == "DROP", is_silent=operation.is_silent)

    def _transfer(self, operation: WrittenOperation) -> Transfer:
        source, target = operation.graphs
        drops, replaces = operation.verb == "MOVE", operation.verb != "ADD"
        for token, is_emptied in ((source, drops), (target, replaces)):
            if is_emptied and _keyword(token) and not self.dataset.is_plain:
                raise Forbidden(
                    f"{operation.position}: {operation.verb} is refused, as it would empty the default "
                    f"graph, where memories are, without naming it: write <{self.dataset.into}>"
                )
        return Transfer(
            source=self._writable_graph(operation, source) if drops else self._readable_graph(operation, source),
            target=self._writable_graph(operation, target),
            replaces=replaces,
            drops=drops,
            is_silent=operation.is_silent,
        )

    def _writable_graph(self, operation: WrittenOperation, token: Token) -> str:
        graph = self._resolve_graph(operation, token)
        if not self.dataset.may_write(graph):
            raise refuse_write(graph, self.dataset)
        return graph

    def _readable_graph(self, operation: WrittenOperation, token: Token) -> str:
        graph = self._resolve_graph(operation, token)
        if not self.dataset.may_read(graph):
            raise Forbidden(f"line {token.line}, column {token.column} of the update: <{graph}> is not yours to read")
        return graph

    def _resolve_graph(self, operation: WrittenOperation, token: Token) -> str:
        if _keyword(token):
            return self.dataset.into or DEFAULT
        return resolve_iri(operation.prologue, token.text, self.base)


def _keyword(token: Token) -> str:
    return token.text.upper() if token.kind == "word" else ""


MEMORIES = "urn:memento:graph:"
"""The prefix of the names of memory graphs, whose removals are listed quad by quad for the indexes."""
_TRIES = 3
"""How often a change is retried after concurrent writes; then it is tried with the write lock held."""
_SMALL_BYTES = 1_000_000
"""Bytes of a document up to which existing quads are looked up here; for larger ones a worker does it on a new snapshot."""
_FEW = 8
"""Most operations on given data that probably end at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest:
    """
    Whose change it is: what the caller may write, whose share of the workers it uses, and how it is committed.

    Before the lock is taken, `redact` removes from the tried change what must not be written, and `prepare` gets the rest.
    """

    dataset: Dataset
    caller: str
    commit: Callable[[Delta], None]
    redact: Callable[[Delta], Delta] = lambda delta: delta
    prepare: Callable[[Delta], None] = lambda delta: None
    base: str | None = None
    timeout_s: float | None = None
    waiting: WaitingClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SentDocument:
    """A document as received."""

    content: IO[bytes]
    media: str


class GraphStore:
    """The graphs of one store, with access control for reading and writing. Thread-safe."""

    def __init__(
        self, graph: Store, pool: Pool, limits: LimitsSettings, writing: AbstractContextManager[object]
    ) -> None:
        """
        Args:
            writing: the lock of all writers of the store.
        """
        self._graph, self._pool, self._limits, self._writing = graph, pool, limits, writing

    @property
    def writes(self) -> int:
        """The number of writes: what was cached after this many is still valid."""
        return self._graph.writes

    def commit_update(self, sparql: str, request: WriteRequest, using: Using) -> Changed:
        """
        Execute an update atomically.

        Raises:
            InputError: not SPARQL; names line and column.
            Forbidden: LOAD, SERVICE, or a graph that is not the caller's; names it.
            NotFound, Conflict: it requires that a graph exists, or that it does not.
            TooLong: its text or its change exceeds a limit; names it.
            Busy, TimedOut, TooMuch: as for a query.
            whatever `request.commit` raises.
        """
        reading = read_sparql(sparql, self._limits, is_update=True)
        sparql, tokens = unwrap_default(reading.sparql, reading.tokens)
        acts = tuple(plan_operations(parse_operations(sparql, tokens), request.dataset, using, request.base))
        if not acts:
            return Changed(added=0, removed=0)
        options = self._trial_options(request, self._limits.update_quads)
        with self._pool.snapshots.scratch() as scratch:
            is_data = all(isinstance(one.act, Modify) and not one.act.where for one in acts)
            job = Update(
                sparql=sparql,
                operations=acts,
                options=options,
                scratch=str(scratch),
                is_data=is_data,
                cost=LIKELY if is_data and len(acts) <= _FEW else UNKNOWN,
            )
            return _summarise(self._commit_data(job, request) if is_data else self._try_and_commit(job, request))

    def read_graph(
        self, graph: str | None, dataset: Dataset, *, accept: str, caller: str, waiting: WaitingClient | None = None
    ) -> Answer:
        """
        Answer with all triples of a graph, as they come; None is the default graph.

        Raises:
            NotFound: the graph does not exist.
            Forbidden: it is not the caller's, whether it exists or not.
            NotAcceptable: no offered media type is accepted.
            Busy, TimedOut, TooMuch: as for a query.
        """
        name = resolve_target(graph, dataset)
        if not dataset.may_read(name):
            raise Forbidden(f"the graph <{name}> is not yours to read")
        if graph is not None and not self._graph.has_graph(IRI(name)):
            raise NotFound(f"there is no graph <{name}>")
        only = VisibleGraphs(default=(IRI(name),), named=()) if name else None
        job = prepare_query(QueryRequest(sparql=load_query("sparql/graph").text, accept=accept), only, self._limits)
        return self._pool.run(job, caller=caller, waiting=waiting)

    def upload(
        self, documents: Sequence[SentDocument], graph: str, request: WriteRequest, *, replaces: bool
    ) -> Changed:
        """
        Write documents to a graph, replacing its content or adding to it; "" is the default graph. Raise as `commit_update`.
        """
        if not request.dataset.may_write(graph):
            raise refuse_write(graph, request.dataset)
        is_new = graph != DEFAULT and not self._graph.has_graph(IRI(graph))
        with self._pool.snapshots.scratch() as scratch:
            scratch.mkdir()
            base = graph or request.base
            files = tuple(self._save_document(one, scratch / str(n), base) for n, one in enumerate(documents))
            job = Upload(
                documents=files,
                graph=graph,
                replaces=replaces,
                options=self._trial_options(request, self._limits.graph_quads),
                is_data=not replaces and sum(Path(one.path).stat().st_size for one in files) <= _SMALL_BYTES,
            )
            if job.is_data:
                return _summarise(self._commit_data(job, request), is_new)
            return _summarise(
                self._try_and_commit(job, replace(request, commit=self._limit_commit(request.commit))), is_new
            )

    def patch(self, sparql: str, graph: str | None, request: WriteRequest) -> Changed:
        """
        Execute an update that reads and writes only one graph; None is the default graph. Raise as `commit_update`, and:

        Raises:
            NotFound: the graph does not exist.
            WrongGraph: it would change another graph.
        """
        dataset, name = request.dataset, resolve_target(graph, request.dataset)
        if not dataset.may_write(name):
            raise refuse_write(name, dataset)
        if graph is not None and not self._graph.has_graph(IRI(name)):
            raise NotFound(f"there is no graph <{name}>: PUT makes one")

        def commit(delta: Delta) -> None:
            if other := next((one for one in delta.touched if one != name), None):
                raise WrongGraph(
                    f"the update would change <{other or 'the default graph'}> beside <{name or 'the default graph'}>, which alone "
                    "is patched here: send it to /sparql/update"
                )
            request.commit(delta)

        into = replace(
            request, dataset=replace(dataset, into=IRI(name) or None), commit=commit, base=name or request.base
        )
        return self.commit_update(sparql, into, Using(default=(name,), named=(name,)) if name else Using())

    def drop(self, graph: str, request: WriteRequest) -> Changed:
        """Remove a graph with its content, or empty the default graph; raise as `commit_update`."""
        if not request.dataset.may_write(graph):
            raise refuse_write(graph, request.dataset)
        if graph != DEFAULT and not self._graph.has_graph(IRI(graph)):
            raise NotFound(f"there is no graph <{graph}>")
        act = Operation(act=Clear(graph=graph, is_drop=True, is_silent=True), prologue="", text="")
        with self._pool.snapshots.scratch() as scratch:
            options = self._trial_options(request, self._limits.update_quads)
            return _summarise(
                self._try_and_commit(
                    Update(sparql="", operations=(act,), options=options, scratch=str(scratch)), request
                )
            )

    def _limit_commit(self, commit: Callable[[Delta], None]) -> Callable[[Delta], None]:
        """Wrap a commit so that it refuses more than fits into one transaction; only a change that just adds may be larger."""

        def few(delta: Delta) -> None:
            most = self._limits.update_quads
            if delta.removed and delta.removed + delta.added > most:
                raise TooLong(
                    f"the document would change {delta.removed + delta.added} quads of what is there, and at most {most} can be "
                    "(limits.update_quads): DELETE the graph first"
                )
            commit(delta)

        return few

    def _trial_options(self, request: WriteRequest, most: int) -> TrialOptions:
        plain = request.dataset.is_plain
        listed = "" if plain else MEMORIES
        return TrialOptions(
            base=request.base,
            no_blanks=not plain,
            listed=listed,
            free=request.dataset.free,
            free_names=request.dataset.free_names,
            most=most,
        )

    def _save_document(self, document: SentDocument, path: Path, base: str | None) -> Document:
        with path.open("wb") as file:
            copyfileobj(document.content, file)
            if file.tell() > self._limits.graph_bytes:
                raise TooLong(f"a document must have at most {self._limits.graph_bytes} bytes (limits.graph_bytes)")
        return Document(path=str(path), media=document.media, base=base)

    def _try_and_commit(self, job: Job, request: WriteRequest) -> Delta:
        for _ in range(_TRIES):
            writes = self._graph.writes
            delta = self._try_job(job, request)
            if delta.is_empty:
                return delta
            request.prepare(delta)
            with self._writing:
                if self._graph.writes == writes:
                    request.commit(delta)
                    return delta
        with self._writing:
            delta = self._try_job(job, request)
            if not delta.is_empty:
                request.commit(delta)
            return delta

    def _commit_data(self, job: Job, request: WriteRequest) -> Delta:
        """Commit given data; what exists already is determined only when it is written."""
        delta = self._try_job(job, request)
        request.prepare(delta)
        with self._writing:
            delta = self._graph.minimise_delta(delta)
            if not delta.is_empty:
                request.commit(delta)
        return delta

    def _try_job(self, job: Job, request: WriteRequest) -> Delta:
        answer = self._pool.run(job, caller=request.caller, timeout_s=request.timeout_s, waiting=request.waiting)
        try:
            delta = request.redact(Delta.unpack(b"".join(answer.chunks)))
        finally:
            answer.close()
        if not request.dataset.is_plain:
            quads = (graph_of(quad) for side in (delta.removes, delta.adds) for quad in parse_quads(side))
            changed = {*quads, *delta.cleared, *delta.dropped, *delta.created}
            for graph in sorted({*changed, *delta.touched}):
                if not request.dataset.may_write(graph):
                    raise refuse_write(graph, request.dataset)
            if not changed <= set(delta.touched):
                raise GraphError("a worker did not name every graph that it would change")
            self._raise_if_too_many_graphs(changed - {*delta.dropped}, request.dataset)
        return delta

    def _raise_if_too_many_graphs(self, graphs: Collection[str], dataset: Dataset) -> None:
        """Raise `TooLong` if a tenant would have more graphs than allowed."""
        fresh = [graph for graph in graphs if not self._graph.has_graph(IRI(graph))]
        if fresh and len(fresh) + sum(map(dataset.may_write, self._graph.graphs())) > self._limits.graphs:
            raise TooLong(f"a tenant may have at most {self._limits.graphs} graphs (limits.graphs): DROP some")


def resolve_target(graph: str | None, dataset: Dataset, *, empties: bool = False) -> str:
    """
    Return the name of the target graph; None is the default graph.

    Raises:
        Forbidden: the default graph would be emptied, and it holds memories.
        InputError: the name is not an IRI.
    """
    if graph is None:
        if empties and not dataset.is_plain:
            raise Forbidden(
                f"the default graph is the memories of a namespace, which are not emptied unnamed: name <{dataset.into}>"
            )
        return dataset.into or DEFAULT
    if not is_absolute(graph) or not graph.isprintable() or any(sign in graph for sign in ' <>"{}|\\^`'):
        raise InputError(
            f"{graph[:80]!r} is no IRI of a graph: give an absolute one such as urn:memento:data:local:company"
        )
    return graph


def is_absolute(name: str) -> bool:
    """Tell whether a name begins like an absolute IRI."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:", name) is not None


def _summarise(delta: Delta, is_new: bool = False) -> Changed:
    graphs = tuple(IRI(graph) for graph in delta.touched if graph)
    return Changed(added=delta.added, removed=delta.removed, graphs=graphs, is_new=is_new)
