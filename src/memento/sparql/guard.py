"""
Reads SPARQL from users before the engine does: what it is, what it names, and whether it would access anything outside the store.

*Guarantees:* linear in the length of the text, no recursion, and no exception but `InputError` and its subclasses. An accepted text
calls no SERVICE but those that the caller of `read_sparql` allowed.

A token ends where the engine would end it, so nothing that the engine reads as a keyword is hidden inside a name, a string, an IRI
or a comment here.

*But:* this is a lexer, not a parser. An accepted text may still be invalid (the engine reports that), slow, or endless: a worker
that can be killed evaluates it. An update sent as a query is not inspected: the engine does not run it as a query.

*Because:* the engine's grammar has no word boundaries: `SERVICEex:x`, `1SERVICE<x>` and `true.SERVICE:x` all call out of the store.
So the word is refused inside every bare word, every tag and every prefix, not only where a reader would see it. And `<` is read in
its context: in `FILTER(?a<?b#>` the engine sees a comparison and a comment where a lexer sees an IRI. If both readings are possible
and the text has the word SERVICE anywhere, it is refused; a text without it cannot hide one, because the engine decodes `\\u0053`
only in strings and IRIs. The engine accepts one group of dots in a local name: `ex:a.b.c` is `ex:a.b`, a dot, and `c`; a tokenizer
that follows the standard exactly would hide `ex:a.b.SERVICE<x>{}` in a name. Inside strings, comments, IRIs, variables and local
names every word is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, cast, get_args
from urllib.parse import urljoin

from memento.errors import Forbidden, InputError, TooLong
from memento.iris import PREFIXES
from memento.settings import LimitsSettings
from memento.sparql.jobs import Edit, Edited

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
    def position(self) -> str:
        """Its place, for a message."""
        return f"line {self.line}, column {self.column} of the query"


_ESCAPE = r"""\\[tbnrf"'\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"""
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]"
_MARKS = "·\u0300-\u036f\u203f\u2040"  # which \w does not include
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
    Yield the tokens in order, without white space and comments.

    Raises:
        InputError: an unterminated string, or a character that SPARQL does not allow; names line and column.

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
"""Tokens after the place whose prefixes are checked too: the engine reports the start of a pattern that it cannot parse."""


def _undeclared_prefix(token: Token) -> InputError:
    """Return the error for a name with an undeclared prefix; for a common prefix, with the declaration to add."""
    prefix = token.text.partition(":")[0]
    meant = PREFIXES.get(prefix, "…")
    return InputError(
        f"{token.position}: the prefix {prefix}: is not declared; write PREFIX {prefix}: <{meant}> before the query"
    )


def syntax_error_at(sparql: str, line: int, column: int) -> InputError:
    """
    Return the error for a text that the engine cannot parse further from this place. It does not quote strings, which may be
    private.

    >>> syntax_error_at("SELECT * { ?s ex:p 1 }", 1, 12)
    InputError('line 1, column 15 of the query: the prefix ex: is not declared; write PREFIX ex: <…> before the query')
    >>> str(syntax_error_at("ASK { ?s mem:about 1 }", 1, 10)).partition("; ")[2]
    'write PREFIX mem: <http://purl.org/memento/> before the query'
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
                return _undeclared_prefix(token)
        if (token.line, token.column + len(token.text)) > (line, column):
            wrong, beyond = wrong or token, beyond + 1
            if beyond > LOOK_AHEAD:
                break
        before = token.text.upper()
    if wrong is None:
        return InputError(f"line {line}, column {column} of the query: this is not SPARQL; it ends too early")
    what = "a string" if wrong.kind == "string" else repr(wrong.text[:60])
    return InputError(f"{wrong.position}: this is not SPARQL; {what} cannot stand here")


QueryForm = Literal["select", "ask", "construct", "describe"]
Form = Literal["select", "ask", "construct", "describe", "update"]
QUERY_FORMS: tuple[QueryForm, ...] = get_args(QueryForm)

_UPDATES = {"LOAD", "INSERT", "DELETE", "CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD", "WITH"}
_CLOSES = {")": "(", "]": "[", "}": "{"}
_AGGREGATES = {"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"}
_BOOLEANS = {"true", "false"}
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_BRACKETS = re.compile(r"[()\[\]'#]")
_URL = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*://")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """
    A SERVICE block: the endpoint it calls, and its place.

    `sparql[start:end]` is the whole block from the word to the closing brace, `sparql[inside:end - 1]` the content of its braces;
    `first` and `last` are the positions of its first and last token in `Reading.tokens`, `opening` that of its opening brace.
    """

    iri: str
    is_silent: bool
    start: int
    inside: int
    end: int
    first: int
    opening: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """
    What a text is and names, as read from its tokens; `sparql` is the text with `true` and `false` as the engine writes them.

    `functions` are the IRIs followed by a parenthesis, most of which are function calls. `default_graphs` and `named_graphs` are
    those of FROM and FROM NAMED, None if it has neither clause. `prefixes` are the declarations in force at the end.
    """

    sparql: str
    form: Form
    tokens: tuple[Token, ...]
    prefixes: Mapping[str, str]
    base: str
    functions: tuple[str, ...]
    services: tuple[Service, ...]
    default_graphs: tuple[str, ...] | None
    named_graphs: tuple[str, ...] | None

    def resolve(self, token: Token) -> str | None:
        """Resolve an IRI or a prefixed name; return None if it is neither, or its prefix is not declared."""
        return _resolve_iri(token, self.prefixes, self.base)


@dataclass(slots=True)
class _State:
    """What was seen so far."""

    depth: int
    has_service: bool
    is_ambiguous: bool = False
    tokens: list[Token] = field(default_factory=list)
    nesting: list[str] = field(default_factory=list)
    expressions: list[tuple[int, str]] = field(default_factory=list)  # parentheses after a word: depth and word
    booleans: list[Token] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)
    base: str = ""
    form: Form | None = None
    functions: dict[str, None] = field(default_factory=dict)
    default_graphs: list[str] = field(default_factory=list)
    named_graphs: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)


def read_sparql(
    sparql: str, limits: LimitsSettings, *, services: Collection[str] = (), is_update: bool = False
) -> Reading:
    """
    Read a query or an update, and refuse what no worker may get.

    Args:
        services: IRIs that a SERVICE may name; the caller must rewrite these before a worker gets the text.
        is_update: whether it was sent as an update, which may be longer, or empty.

    Raises:
        TooLong: longer than `limits.query_bytes`, or for an update than `limits.update_bytes`.
        Forbidden: a SERVICE that is not among `services`; names its line.
        InputError: empty, nested too deep, unbalanced, or not SPARQL; names line and column.
    """
    size = len(sparql.encode("utf-8", errors="surrogatepass"))
    most = limits.update_bytes if is_update else limits.query_bytes
    if size > most:
        what = ("an update", "limits.update_bytes") if is_update else ("a query", "limits.query_bytes")
        more = "split it, or send the data to the graph store" if is_update else "put long lists in several queries"
        raise TooLong(f"{what[0]} must have at most {most} bytes ({what[1]}), not {size}: {more}")
    seen = _State(limits.query_depth, "service" in sparql.lower())
    for token in tokenise(sparql):
        _read_token(token, seen)
        seen.tokens.append(token)
    if not (seen.tokens or is_update):
        raise InputError("query must not be empty")
    all_tokens = tuple(seen.tokens)
    lowered = tuple(Edit(token.start, token.end, token.text.lower()) for token in seen.booleans)
    has_dataset = bool(seen.default_graphs or seen.named_graphs)
    return Reading(
        sparql=Edited(sparql, lowered).text if lowered else sparql,
        form="update" if is_update else seen.form or "select",
        tokens=all_tokens,
        prefixes=seen.prefixes,
        base=seen.base,
        functions=tuple(seen.functions),
        services=tuple(_read_service(place, all_tokens, seen, services) for place in seen.calls),
        default_graphs=tuple(seen.default_graphs) if has_dataset else None,
        named_graphs=tuple(seen.named_graphs) if has_dataset else None,
    )


def _read_token(token: Token, seen: _State) -> None:
    before = seen.tokens[-1] if seen.tokens else None
    if before is not None and before.text == "<<(" and _words_around(seen):
        _raise_if_no_subject(token)
    if token.kind == "sign":
        _read_sign(token, before, seen)
    elif token.kind in ("word", "name", "tag"):
        _read_word(token, seen)
    if token.kind in ("iri", "name"):
        if token.kind == "iri" and _is_ambiguous(token, before, seen):
            seen.is_ambiguous = True
        _read_iri(token, before, seen)


def _read_word(token: Token, seen: _State) -> None:
    bare = token.text.partition(":")[0].upper()
    if token.text.lower() in _BOOLEANS and token.text not in _BOOLEANS:
        seen.booleans.append(token)
    if "SERVICE" in bare:
        if token.kind != "word" or bare != "SERVICE":
            raise Forbidden(
                f"{token.position}: SERVICE is refused, as a query reads this memory alone; "
                "ask the other endpoint yourself (a prefix or a name must not contain the word either)"
            )
        seen.calls.append(len(seen.tokens))
    if seen.form is None and token.kind == "word":
        form = bare.lower()
        seen.form = next((one for one in QUERY_FORMS if one == form), "update" if bare in _UPDATES else None)


def _read_iri(token: Token, before: Token | None, seen: _State) -> None:
    """Record what an IRI declares or names: a base, a prefix, a graph of the dataset."""
    last = before.text.upper() if before else ""
    earlier = seen.tokens[-2].text.upper() if len(seen.tokens) > 1 else ""
    if token.kind == "iri" and last == "BASE":
        seen.base = _resolve_iri(token, seen.prefixes, seen.base) or ""
    elif token.kind == "iri" and earlier == "PREFIX" and before and before.kind == "name":
        seen.prefixes[before.text.partition(":")[0]] = _resolve_iri(token, seen.prefixes, seen.base) or ""
    elif before and before.kind == "word" and (last == "FROM" or (last == "NAMED" and earlier == "FROM")):
        graphs = seen.default_graphs if last == "FROM" else seen.named_graphs
        if iri := _resolve_iri(token, seen.prefixes, seen.base):  # otherwise the engine reports what is wrong with it
            graphs.append(iri)


def _read_sign(token: Token, before: Token | None, seen: _State) -> None:
    sign = token.text.removeprefix("<<").removesuffix(">>")
    if sign in _CLOSES.values():
        seen.nesting.append(sign)
        if len(seen.nesting) > seen.depth:
            raise InputError(f"{token.position}: brackets are nested deeper than {seen.depth}: split the query")
        if sign == "(" and before and before.kind == "word" and before.text != "a":
            word = before.text.upper()
            if word in _AGGREGATES and not _AGGREGATES.isdisjoint(_words_around(seen)):
                raise InputError(
                    f"{before.position}: {word} stands within another aggregate: aggregate in a subquery first"
                )
            seen.expressions.append((len(seen.nesting), word))
        if sign == "(" and before and before.kind in ("iri", "name"):
            iri = _resolve_iri(before, seen.prefixes, seen.base)
            if iri:
                seen.functions[iri] = None
    elif sign in _CLOSES:
        if seen.nesting[-1:] == [_CLOSES[sign]]:
            if seen.expressions and seen.expressions[-1][0] == len(seen.nesting):
                seen.expressions.pop()
            seen.nesting.pop()
        elif not seen.is_ambiguous:  # otherwise what it closes may have been read as a part of an IRI
            raise InputError(f"{token.position}: {sign!r} closes nothing")


def _words_around(seen: _State) -> set[str]:
    """Return the words before the open parentheses in this group; none where patterns are expected."""
    group = len(seen.nesting) - seen.nesting[::-1].index("{") if "{" in seen.nesting else 0
    return {word for depth, word in seen.expressions if depth > group}


def _raise_if_no_subject(token: Token) -> None:
    """Raise `InputError` for a subject of a triple term in an expression that the engine accepts and RDF 1.2 forbids."""
    is_value = token.kind in ("string", "number") or token.text in ("<<(", "+", "-")
    if is_value or (token.kind == "word" and token.text.lower() in _BOOLEANS):
        raise InputError(
            f"{token.position}: the subject of a triple term is an IRI, a blank node or a variable, not a literal or a triple term"
        )


def _is_ambiguous(token: Token, before: Token | None, seen: _State) -> bool:
    """
    Tell whether an IRI could also be a comparison and what follows it: after an operand, within parentheses.

    `<scheme://` cannot be a comparison, because nothing may follow the second slash.

    Raises:
        InputError: it could, in a text with the word SERVICE.
    """
    follows_operand = before is not None and (
        before.kind != "sign" or before.text in (")", "]", "}", ">>", ")>>", "*", "+", "?")
    )
    if not follows_operand or seen.nesting[-1:] != ["("] or not _BRACKETS.search(token.text) or _URL.match(token.text):
        return False
    if seen.has_service:
        raise InputError(
            f"{token.position}: this can be read as an IRI or as a comparison, in a query that says SERVICE: "
            "put a space after <, or declare a PREFIX for the IRI"
        )
    return True


def _read_service(place: int, tokens: Sequence[Token], seen: _State, allowed: Collection[str]) -> Service:
    """Return the block of the SERVICE at this place; raise `Forbidden` if it may not be called."""
    word = tokens[place]
    after = place + 1
    is_silent = tokens[after].text.upper() == "SILENT" if after < len(tokens) else False
    after += is_silent
    iri = _resolve_iri(tokens[after], seen.prefixes, seen.base) if after < len(tokens) else None
    if iri is None and after < len(tokens) and tokens[after].kind == "name":
        raise _undeclared_prefix(tokens[after])
    if iri is None or iri not in allowed:
        raise Forbidden(
            f"{word.position}: SERVICE is refused, as a query reads this memory alone; ask the other endpoint yourself"
        )
    opening = after + 1
    if opening >= len(tokens) or tokens[opening].text != "{":
        raise InputError(f"{word.position}: SERVICE <{iri}> must be followed by a group {{ … }}")
    depth, last = 0, opening
    for last in range(opening, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[last].text, 0)
        if depth == 0:
            break
    else:
        raise InputError(f"{word.position}: the group of SERVICE <{iri}> does not end")
    return Service(
        iri=iri,
        is_silent=is_silent,
        start=word.start,
        inside=tokens[opening].end,
        end=tokens[last].end,
        first=place,
        opening=opening,
        last=last,
    )


def _resolve_iri(token: Token, prefixes: Mapping[str, str], base: str) -> str | None:
    if token.kind == "iri":
        iri = _ESCAPED.sub(_decode_escape, token.text[1:-1])
        return iri if _SCHEME.match(iri) or not base else urljoin(base, iri)
    if token.kind == "name":
        prefix, _, local = token.text.partition(":")
        start = prefixes.get(prefix)
        return None if start is None else start + local.replace("\\", "")
    return None


def _decode_escape(escape: re.Match[str]) -> str:
    code = int(escape.group(1) or escape.group(2), 16)
    return chr(code) if code < 0x110000 else "\ufffd"
