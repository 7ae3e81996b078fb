"""
Looks at somebody else's SPARQL before the engine does, and refuses what would reach out, change data or end the process.

*Guarantees:* linear in the length of the query, no recursion, and no exception but `InputError` and its kin.

*But:* it is a lexer, not a parser. What it passes may still be wrong (the engine says so) or slow (nothing here stops it).

*Because:* the engine's grammar has no word boundaries: `SERVICEex:x`, `1SERVICE<x>` and `true.SERVICE:x` all call out of the store.
So the word is refused inside every bare word and every prefix, not only where a reader would see it. And `<` is read by context:
in `FILTER(?a<?b#>` the engine sees a comparison and a comment where a lexer sees an IRI. Where both readings are possible and
they differ in what follows, the query is refused. Inside strings, comments, IRIs, variables and local names every word is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from memento.errors import Forbidden, InputError, TooLong
from memento.settings import LimitsSettings

# pyoxigraph 0.5.13 overflows its stack at 4,000 to 20,000 links of a chain such as `1+1+1` or `:a/:b/:c`, or members of a list;
# paths take seconds from 300 links on.
MOST_OPERATORS = 200
MOST_TOKENS = 2_000

UPDATES = {"LOAD", "INSERT", "DELETE", "CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD", "WITH", "USING"}
OPERATORS = {"!", "+", "-", "*", "/", "|", "^", "&&", "||", "<<", "<<("}
CLOSES = {")": "(", "]": "[", "}": "{"}

_ESCAPE = r"""\\[tbnrf"'\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"""
_LOCAL = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]"
_TOKEN = re.compile(
    rf"""
      (?P<space> [\ \t\r\n]+ | \#[^\r\n]* )
    | (?P<iri> < (?: [^<>"{{}}|^`\\\x00-\x20] | \\u[0-9A-Fa-f]{{4}} | \\U[0-9A-Fa-f]{{8}} )*+ > )
    | (?P<string> '''(?: '{{0,2}}+ (?: [^'\\] | {_ESCAPE} ) )*+ '''
                | \"\"\"(?: "{{0,2}}+ (?: [^"\\] | {_ESCAPE} ) )*+ \"\"\"
                | '(?!'') (?: [^'\\\r\n] | {_ESCAPE} )*+ '
                | "(?!"") (?: [^"\\\r\n] | {_ESCAPE} )*+ " )
    | (?P<variable> [?$]\w+ )
    | (?P<name> (?: [^\W\d_] (?: [\w.\-·]* [\w\-·] )? )? : (?: (?: [\w:] | {_LOCAL} )
                (?: (?: [\w:.\-·] | {_LOCAL} )* (?: [\w:\-·] | {_LOCAL} ) )? )? )
    | (?P<blank> _:\w (?: [\w.\-·]* [\w\-·] )? )
    | (?P<tag> @[A-Za-z]+ (?: -[A-Za-z0-9]+ )* )
    | (?P<word> [^\W\d_] (?: [\w.\-·]* [\w\-·] )? )
    | (?P<number> (?: \d+ (?: \.\d* )? | \.\d+ ) (?: [eE][+-]?\d+ )? )
    | (?P<sign> <<\(? | \)?>> | && | \|\| | \^\^ | [<>!=]= | [{{}}()\[\]<>=!+\-*/|^.,;?~&] )
    """,
    re.VERBOSE,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


@dataclass(slots=True)
class _Reading:
    """What has been seen so far."""

    depth: int
    nesting: list[str] = field(default_factory=list)
    previous: _Token = _Token("sign", "", 1)
    values: bool = False
    values_nesting: int = 0
    tokens: int = 0
    operators: int = 0

    @property
    def in_data(self) -> bool:
        """Inside the braces of VALUES: flat rows of terms, of which there may be many."""
        return self.values_nesting > 0


def check(sparql: str, limits: LimitsSettings) -> None:
    """
    Pass a read-only query that stays inside the store and that the engine can take; say of any other what is wrong with it.

    Raises:
        TooLong: longer than `limits.query_bytes`.
        Forbidden: SERVICE, FROM, or a form of update.
        InputError: empty, nested deeper than `limits.query_depth`, too many operators or terms, or no SPARQL at all.
    """
    size = len(sparql.encode("utf-8", errors="surrogatepass"))
    if size > limits.query_bytes:
        raise TooLong(
            f"a query must have at most {limits.query_bytes} bytes, not {size}: put long lists in several queries"
        )
    reading = _Reading(limits.query_depth)
    for token in _tokens(sparql):
        if token.kind in ("word", "name", "tag"):
            _word(token, reading)
        elif token.kind == "iri":
            _iri(token, reading)
        elif token.kind == "sign":
            _sign(token, reading)
        _counted(token, reading)
        reading.previous = token
    if not reading.previous.text:
        raise InputError("query must not be empty")


def _tokens(sparql: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(sparql):
        found = _TOKEN.match(sparql, at)
        if found is None or found.lastgroup is None:
            raise InputError(f"line {line} of the query: {_stray(sparql[at : at + 3])}")
        if found.lastgroup != "space":
            yield _Token(found.lastgroup, found.group(), line)
        line += found.group().count("\n")
        at = found.end()


def _stray(text: str) -> str:
    if text[0] in "'\"":
        quote = text if text == 3 * text[0] else text[0]
        return f"a string that begins with {quote} does not end, or has a wrong escape"
    return f"{text[0]!r} is not SPARQL here"


def _word(token: _Token, reading: _Reading) -> None:
    bare = token.text.partition(":")[0].upper()
    if "SERVICE" in bare:
        raise Forbidden(
            f"line {token.line} of the query: SERVICE is refused, as a query reads this memory alone; "
            "ask the other endpoint yourself (a prefix or a name must not contain the word either)"
        )
    if token.kind != "word":
        return
    if bare == "FROM":
        raise Forbidden(
            f"line {token.line} of the query: FROM is refused, as the namespace decides which graphs are read; "
            "leave it out, or choose among them with GRAPH"
        )
    if bare in UPDATES:
        raise Forbidden(
            f"line {token.line} of the query: {bare} is refused, as only SELECT, ASK, CONSTRUCT and DESCRIBE run here; "
            "write with note and forget"
        )
    reading.values = reading.values or bare == "VALUES"


def _iri(token: _Token, reading: _Reading) -> None:
    """
    Count, or refuse, an IRI that could also be a comparison with what follows: after an operand, within parentheses.

    `<scheme://` cannot be one, as nothing may follow the second slash; nor can a term of VALUES.
    """
    previous, body = reading.previous, token.text[1:-1]
    follows_operand = previous.kind != "sign" or previous.text in (")", "]", "}", ">>", ")>>", "*", "+", "?")
    compared = follows_operand and reading.nesting[-1:] == ["("] and not reading.in_data
    if not compared or re.match(r"[A-Za-z][A-Za-z0-9+.\-]*://", body):
        return
    if re.search(r"[()\[\]'#]", body):
        raise InputError(
            f"line {token.line} of the query: {token.text[:60]} can be read as an IRI or as a comparison: "
            "put a space after <, or declare a PREFIX for the IRI"
        )
    reading.operators += len(re.findall(r"[!+*/&=-]", body))


def _sign(token: _Token, reading: _Reading) -> None:
    sign = token.text.removeprefix("<<").removesuffix(">>")
    if sign in CLOSES.values():
        reading.nesting.append(sign)
        if len(reading.nesting) > reading.depth:
            raise InputError(
                f"line {token.line} of the query: brackets are nested deeper than {reading.depth}: "
                "split the query, or raise limits.query_depth"
            )
        if sign == "{" and reading.values and not reading.in_data:
            reading.values_nesting = len(reading.nesting)
    elif sign in CLOSES:
        if reading.nesting[-1:] != [CLOSES[sign]]:
            raise InputError(f"line {token.line} of the query: {sign!r} closes nothing")
        if len(reading.nesting) == reading.values_nesting:
            reading.values, reading.values_nesting = False, 0
        reading.nesting.pop()


def _counted(token: _Token, reading: _Reading) -> None:
    reading.operators += token.kind == "sign" and token.text in OPERATORS
    reading.tokens += not reading.in_data
    if reading.operators > MOST_OPERATORS:
        raise InputError(
            f"line {token.line} of the query: more than {MOST_OPERATORS} operators such as ! + - * / | ^ && ||: split the query"
        )
    if reading.tokens > MOST_TOKENS:
        raise InputError(
            f"line {token.line} of the query: more than {MOST_TOKENS} terms and signs outside VALUES: "
            "put long lists in a VALUES block, or split the query"
        )
