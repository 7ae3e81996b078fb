"""
The operations of an update, cut apart at its tokens: the templates, the pattern, the dataset and the graphs of each.

*But:* it knows the outline of an update and nothing of what is inside the braces: the engine says whether that is SPARQL.

*Source:* SPARQL 1.1 Query Language, https://www.w3.org/TR/sparql11-query/#sparqlGrammar, productions 3 and 29 to 52.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from memento.errors import InputError
from memento.sparql.tokens import Token

_MANAGING = ("CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """
    One operation as it is written, from `line` and `column` on.

    `verb` is LOAD, one of those that manage graphs, or INSERT for all that has templates. `graphs` are the names that follow the
    verb, as tokens: of graphs, or the words DEFAULT, NAMED and ALL. In the templates the IRI `marker` + name stands for a variable;
    `variables` are the names. `using` and `using_named` are None where there is neither clause.
    """

    verb: str
    prologue: str
    text: str
    line: int
    column: int
    is_silent: bool = False
    graphs: tuple[Token, ...] = ()
    deletes: str = ""
    inserts: str = ""
    where: str = ""
    marker: str = ""
    variables: tuple[str, ...] = ()
    with_graph: Token | None = None
    using: tuple[Token, ...] | None = None
    using_named: tuple[Token, ...] | None = None


def operations(sparql: str, tokens: Sequence[Token]) -> list[Written]:
    """
    The operations of an update in their order; none for an empty one.

    Raises:
        InputError: something stands where no operation can; names line and column.
    """
    reader = _Reader(sparql, tokens)
    found: list[Written] = []
    while reader.begins():
        found.append(reader.operation())
        if not reader.took("sign", ";"):
            break
    if reader.token is not None:
        raise reader.unexpected("; or the end of the update")
    return found


@dataclass(slots=True)
class _Parts:
    """What has been read of one operation."""

    deletes: str = ""
    inserts: str = ""
    where: str = ""
    is_silent: bool = False
    graphs: tuple[Token, ...] = ()
    with_graph: Token | None = None
    using: tuple[Token, ...] | None = None
    using_named: tuple[Token, ...] | None = None


class _Reader:
    """A place among the tokens, and what was declared before it."""

    def __init__(self, sparql: str, tokens: Sequence[Token]) -> None:
        self._sparql, self._tokens, self._at = sparql, tokens, 0
        self._prologue: list[str] = []
        self._labels: set[str] = set()  # of the blank nodes of earlier INSERT DATA
        self._marker = f"urn:memento:variable:{secrets.token_hex(8)}:"
        self._variables: dict[str, None] = {}

    @property
    def token(self) -> Token | None:
        """The next token, None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def begins(self) -> bool:
        """Read the declarations before an operation; whether there is one."""
        while (word := self._word()) in ("BASE", "PREFIX"):
            begin = self._at
            self._at += 1
            if word == "PREFIX":
                self._take("name", "a prefix")
            self._take("iri", "an IRI")
            self._prologue.append(" ".join(token.text for token in self._tokens[begin : self._at]))
        return self.token is not None

    def operation(self) -> Written:
        """Read one operation."""
        first = self._tokens[self._at]
        verb, parts = self._word(), _Parts()
        self._variables = {}
        if verb in ("INSERT", "DELETE", "WITH"):
            self._templates(parts)
        elif verb in (*_MANAGING, "LOAD"):
            self._managing(verb, parts)
        else:
            raise self.unexpected("an operation such as INSERT or DELETE")
        return Written(
            verb="INSERT" if verb in ("DELETE", "WITH") else verb,
            prologue="\n".join(self._prologue),
            text=self._sparql[first.start : self._tokens[self._at - 1].end],
            line=first.line,
            column=first.column,
            is_silent=parts.is_silent,
            graphs=parts.graphs,
            deletes=parts.deletes,
            inserts=parts.inserts,
            where=parts.where,
            marker=self._marker,
            variables=tuple(self._variables),
            with_graph=parts.with_graph,
            using=parts.using,
            using_named=parts.using_named,
        )

    def took(self, kind: str, text: str) -> bool:
        """Step over a token if it is the next one."""
        token = self.token
        is_next = token is not None and token.kind == kind and token.text.upper() == text
        self._at += is_next
        return is_next

    def unexpected(self, wanted: str) -> InputError:
        """What is wrong with the next token."""
        if self.token is None:
            return InputError(f"the update ends where {wanted} must follow")
        token = self.token
        return InputError(
            f"line {token.line}, column {token.column} of the update: expected {wanted}, not {token.text[:40]!r}"
        )

    def _templates(self, parts: _Parts) -> None:
        if self.took("word", "WITH"):
            parts.with_graph = self._graph()
        verb = self._word()
        self._at += 1
        if verb in ("INSERT", "DELETE") and self.took("word", "DATA"):
            begin, data = self._at, self._template()
            parts.deletes, parts.inserts = (data, "") if verb == "DELETE" else ("", data)
            return self._own_labels(begin)
        if verb == "DELETE" and self._word() == "WHERE":
            self._at += 1
            begin = self._at
            parts.deletes = self._template()
            parts.where = self._between(begin, self._at)
            return None
        if verb == "DELETE":
            parts.deletes = self._template()
            if self.took("word", "INSERT"):
                parts.inserts = self._template()
        elif verb == "INSERT":
            parts.inserts = self._template()
        else:
            self._at -= 1
            raise self.unexpected("DELETE or INSERT")
        return self._pattern(parts)

    def _pattern(self, parts: _Parts) -> None:
        using: list[Token] = []
        named: list[Token] = []
        while self.took("word", "USING"):
            (named if self.took("word", "NAMED") else using).append(self._graph())
        if using or named:
            parts.using, parts.using_named = tuple(using), tuple(named)
        if not self.took("word", "WHERE"):
            raise self.unexpected("USING or WHERE")
        begin = self._at
        self._block()
        parts.where = self._between(begin, self._at)

    def _managing(self, verb: str, parts: _Parts) -> None:
        self._at += 1
        parts.is_silent = self.took("word", "SILENT")
        if verb == "LOAD":
            parts.graphs = (self._graph(),)
            if self.took("word", "INTO"):
                self.took("word", "GRAPH")
                parts.graphs += (self._graph(),)
        elif verb in ("COPY", "MOVE", "ADD"):
            parts.graphs = (self._graph_or("DEFAULT"),)
            if not self.took("word", "TO"):
                raise self.unexpected("TO")
            parts.graphs += (self._graph_or("DEFAULT"),)
        elif verb == "CREATE":
            if not self.took("word", "GRAPH"):
                raise self.unexpected("GRAPH")
            parts.graphs = (self._graph(),)
        else:
            is_word = self._word() in ("DEFAULT", "NAMED", "ALL")
            if not is_word and self._word() != "GRAPH":
                raise self.unexpected("GRAPH, DEFAULT, NAMED or ALL")
            parts.graphs = (self._graph_or("DEFAULT", "NAMED", "ALL"),)

    def _graph_or(self, *words: str) -> Token:
        if self._word() in words:
            self._at += 1
            return self._tokens[self._at - 1]
        self.took("word", "GRAPH")
        return self._graph()

    def _graph(self) -> Token:
        token = self.token
        if token is None or token.kind not in ("iri", "name"):
            raise self.unexpected("the IRI of a graph")
        self._at += 1
        return token

    def _template(self) -> str:
        """What the braces hold, with IRIs in the place of its variables."""
        begin = self._at
        self._block()
        inside = self._tokens[begin + 1 : self._at - 1]
        at, pieces = self._tokens[begin].end, []
        for token in inside:
            if token.kind == "variable":
                self._variables[token.text[1:]] = None
                pieces += [self._sparql[at : token.start], f" <{self._marker}{token.text[1:]}> "]
                at = token.end
        return "".join([*pieces, self._sparql[at : self._tokens[self._at - 1].start]])

    def _block(self) -> None:
        """Step over a group in its braces; the guard has seen to it that they are balanced."""
        if self.token is None or self.token.text != "{":
            raise self.unexpected("{")
        depth = 0
        for at in range(self._at, len(self._tokens)):
            depth += {"{": 1, "}": -1}.get(self._tokens[at].text, 0)
            if depth == 0:
                self._at = at + 1
                return
        raise self.unexpected("a group that ends")

    def _own_labels(self, begin: int) -> None:
        here = {token.text: token for token in self._tokens[begin : self._at] if token.kind == "blank"}
        for text in sorted(here.keys() & self._labels):
            token = here[text]
            raise InputError(
                f"line {token.line}, column {token.column} of the update: {text} stands for a blank node of an earlier "
                "INSERT DATA: give this one another label"
            )
        self._labels.update(here)

    def _between(self, begin: int, end: int) -> str:
        return self._sparql[self._tokens[begin].start : self._tokens[end - 1].end]

    def _take(self, kind: str, wanted: str) -> None:
        if self.token is None or self.token.kind != kind:
            raise self.unexpected(wanted)
        self._at += 1

    def _word(self) -> str:
        return self.token.text.upper() if self.token is not None and self.token.kind == "word" else ""
