"""
The tokens of a SPARQL text, each with its place, which the guard and the rewriting read instead of characters; and what is wrong at
a place from which the engine cannot read on.

*Guarantees:* linear in the length of the text, no recursion. A token ends where the engine would end it, so that nothing that the
engine reads as a keyword stands inside a name, a string, an IRI or a comment here.

*Because:* the engine's grammar has no word boundaries, and takes one group of dots in a local name: `ex:a.b.c` is `ex:a.b`, a dot,
and `c`. A tokenizer that follows the standard to the letter would hide `ex:a.b.SERVICE<x>{}` in a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, cast

from memento.errors import InputError

Kind = Literal["iri", "string", "variable", "name", "blank", "tag", "word", "number", "sign"]


class Token(NamedTuple):
    """One token: `text == sparql[start:end]`; `line` and `column` count from 1, columns in characters."""

    kind: Kind
    text: str
    line: int
    column: int
    start: int
    end: int

    @property
    def place(self) -> str:
        """Where it stands, for a message."""
        return f"line {self.line}, column {self.column} of the query"


_ESCAPE = r"""\\[tbnrf"'\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"""
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]"
_MARKS = "·\u0300-\u036f\u203f\u2040"  # of which \w knows nothing
_IN_NAME = rf"[\w\-{_MARKS}]"
_IN_LOCAL = rf"[\w:\-{_MARKS}] | {_PLX}"
_TOKEN = re.compile(
    rf"""
      (?P<space> [\ \t\r\n]+ | \#[^\r\n]* )
    | (?P<iri> < (?: [^<>"{{}}|^`\\\x00-\x20] | \\u[0-9A-Fa-f]{{4}} | \\U[0-9A-Fa-f]{{8}} )*+ > )
    | (?P<string> '''(?: '{{0,2}}+ (?: [^'\\] | {_ESCAPE} ) )*+ '''
                | \"\"\"(?: "{{0,2}}+ (?: [^"\\] | {_ESCAPE} ) )*+ \"\"\"
                | '(?!'') (?: [^'\\\r\n] | {_ESCAPE} )*+ '
                | "(?!"") (?: [^"\\\r\n] | {_ESCAPE} )*+ " )
    | (?P<variable> [?$][\w{_MARKS}]+ )
    | (?P<name> (?: [^\W\d_] (?: (?: {_IN_NAME} | \. )* {_IN_NAME} )? )? :
                (?: (?: [\w:] | {_PLX} ) (?: {_IN_LOCAL} )*+ (?: \.+ (?: {_IN_LOCAL} )++ )? )? )
    | (?P<blank> _:\w (?: {_IN_NAME} )*+ (?: \.+ {_IN_NAME}++ )* )
    | (?P<tag> @[A-Za-z]+ (?: -[A-Za-z0-9]+ )* )
    | (?P<word> [^\W\d_] (?: (?: {_IN_NAME} | \. )* {_IN_NAME} )? )
    | (?P<number> (?: \d+ (?: \.\d* )? | \.\d+ ) (?: [eE][+-]?\d+ )? )
    | (?P<sign> <<\(? | \)?>> | && | \|\| | \^\^ | [<>!=]= | [{{}}()\[\]<>=!+\-*/|^.,;?~&] )
    """,
    re.VERBOSE,
)


def tokenise(sparql: str) -> Iterator[Token]:
    """
    Yield the tokens in their order, without space and comments.

    Raises:
        InputError: a string that does not end, or a character that SPARQL does not know; names line and column.

    >>> [token.text for token in tokenise("ASK { ?s a ex:a.b.c } # all")]
    ['ASK', '{', '?s', 'a', 'ex:a.b', '.', 'c', '}']
    """
    at, line, line_start = 0, 1, 0
    match = _TOKEN.match
    while at < len(sparql):
        token = match(sparql, at)
        if token is None or token.lastgroup is None:
            raise InputError(
                f"line {line}, column {at - line_start + 1} of the query: {_describe_stray(sparql[at : at + 3])}"
            )
        text, end = token.group(), token.end()
        if token.lastgroup != "space":
            yield Token(cast(Kind, token.lastgroup), text, line, at - line_start + 1, at, end)
        if "\n" in text:
            line += text.count("\n")
            line_start = at + text.rindex("\n") + 1
        at = end


def _describe_stray(text: str) -> str:
    if text[0] in "'\"":
        quote = text if text == 3 * text[0] else text[0]
        return f"a string that begins with {quote} does not end, or has a wrong escape"
    return f"{text[0]!r} is not SPARQL here"


LOOK_AHEAD = 50
"""Tokens after the place in which a prefix is looked up too: the engine goes back to where a pattern begins that it cannot read."""


def syntax_error_at(sparql: str, line: int, column: int) -> InputError:
    """
    Return the error for a text that the engine cannot read on from this place. Strings are not repeated: they may be anybody's.

    >>> syntax_error_at("SELECT * { ?s ex:p 1 }", 1, 12)
    InputError('line 1, column 15 of the query: the prefix ex: is not declared; write PREFIX ex: <…> before the query')
    >>> syntax_error_at("ASK { ?s ?p 1 } garbage", 1, 17)
    InputError("line 1, column 17 of the query: this is not SPARQL; 'garbage' cannot stand here")
    """
    declared: set[str] = set()
    before, wrong, beyond = "", None, 0
    for token in tokenise(sparql):
        if token.kind == "name":
            prefix = token.text.partition(":")[0]
            if before == "PREFIX":
                declared.add(prefix)
            elif prefix not in declared:
                return InputError(
                    f"{token.place}: the prefix {prefix}: is not declared; write PREFIX {prefix}: <…> before the query"
                )
        if (token.line, token.column + len(token.text)) > (line, column):
            wrong, beyond = wrong or token, beyond + 1
            if beyond > LOOK_AHEAD:
                break
        before = token.text.upper()
    if wrong is None:
        return InputError(f"line {line}, column {column} of the query: this is not SPARQL; it ends too early")
    what = "a string" if wrong.kind == "string" else repr(wrong.text[:60])
    return InputError(f"{wrong.place}: this is not SPARQL; {what} cannot stand here")
