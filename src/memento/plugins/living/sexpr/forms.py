"""
Parses and prints forms: lists, symbols, strings, numbers and nil, each with line and column; also converts a dataset, as N-Quads,
to a form and back.

    form := '(' form* ')' | "string" | number | symbol | nil          ; a comment ends with its line

*Guarantees:* linear in the length of the text, no recursion, no exception but `InputError`; the output of `print_form` parses to
the same form.

The form of a dataset is `(load (graph "…" ("subject" (predicate object …) …) …) …)`:

    (load
     (graph "urn:memento:graph:local:main"
      ("urn:memento:memory:0192" (a mem:Memory) (mem:content "USER likes tea.")
       (mem:validAt (typed "2025-01-08T09:00:00Z" xsd:dateTime)))))

A subject is the text of its IRI; a predicate is an IRI or a prefixed name. For an object, a text is a literal; a prefixed name
and `(iri "…")` are IRIs; `(typed "…" datatype)` and `(lang "…" "en")` are the other literals, `(blank "b0")` is a blank node.

*Guarantees:* a written dataset reads back as the same quads, to the letter.

*But:* nested triples have no form; `memento export` supports them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from memento.errors import InputError, TooLong

MOST_CHARS = 4_000_000
"""The default limit."""
DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name: of a verb where a list begins, of a value elsewhere."""

    name: str


@dataclass(frozen=True, slots=True)
class Form:
    """A parsed value and its place; two forms are equal if their values are, wherever they are."""

    value: str | int | float | Symbol | tuple[Form, ...] | None
    line: int = field(compare=False, default=1)
    column: int = field(compare=False, default=1)

    @property
    def position(self) -> str:
        return f"line {self.line}, column {self.column}"


Value: TypeAlias = "str | int | float | Symbol | tuple[Form, ...] | None"

_TOKEN = re.compile(
    r"""
      (?P<space> [\s]+ | ;[^\n]* )
    | (?P<open> \( )
    | (?P<close> \) )
    | (?P<string> " (?: [^"\\] | \\. )*+ " )
    | (?P<atom> [^\s()";]+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?\d+(?P<fraction>\.\d+)?(?P<power>[eE][+-]?\d+)?")
_SYMBOL = re.compile(r"(?:[^\W\d]|[!?*/<>=+&%$.:-])[\w!?*/<>=+&%$.:-]*")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


def read_forms(text: str, most_chars: int = MOST_CHARS) -> tuple[Form, ...]:
    """
    Return the forms of a text, in order.

    Raises:
        TooLong: the text has more characters than allowed.
        InputError: an unclosed bracket or string, a bracket too many, lists deeper than 64, or anything else that is not a form;
            each with its place.

    >>> [form.value for form in read_forms('(recall "tea" 3)')[0].value]
    [Symbol(name='recall'), 'tea', 3]
    """
    if len(text) > most_chars:
        raise TooLong(f"expressions must have at most {most_chars:,} characters, not {len(text):,}")
    done: list[Form] = []
    opened: list[tuple[int, int, list[Form]]] = []
    at, line, begins = 0, 1, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        column = at - begins + 1
        if found is None:  # only a quote can be where no token begins
            raise InputError(f'line {line}, column {column}: the string that begins here does not end: close it with "')
        kind, token = str(found.lastgroup), found.group()
        into = opened[-1][2] if opened else done
        if kind == "open":
            if len(opened) == DEEPEST:
                raise InputError(f"line {line}, column {column}: lists are nested deeper than {DEEPEST}")
            opened.append((line, column, []))
        elif kind == "close":
            if not opened:
                raise InputError(f"line {line}, column {column}: ')' closes nothing")
            line_of, column_of, inside = opened.pop()
            (opened[-1][2] if opened else done).append(Form(tuple(inside), line_of, column_of))
        elif kind != "space":
            value = _parse_string(token, line, column) if kind == "string" else _parse_atom(token, line, column)
            into.append(Form(value, line, column))
        if "\n" in token:
            line += token.count("\n")
            begins = at + token.rindex("\n") + 1
        at = found.end()
    if opened:
        raise InputError(
            f"line {opened[-1][0]}, column {opened[-1][1]}: the list that begins here does not end: close it with )"
        )
    return tuple(done)


def _parse_atom(token: str, line: int, column: int) -> Value:
    if token == "nil":
        return None
    if number := _NUMBER.fullmatch(token):
        if not number["fraction"] and not number["power"] and len(token) < 20:
            return int(token)
        value = float(token)
        if abs(value) == float("inf"):
            raise InputError(f"line {line}, column {column}: {token} is too large for a number")
        return value
    if _SYMBOL.fullmatch(token):
        return Symbol(token)
    raise InputError(
        f'line {line}, column {column}: {token[:40]!r} is neither a number nor a name: put text in quotes, as "{token[:40]}"'
    )


def _parse_string(token: str, line: int, column: int) -> str:
    def decode_escape(escape: re.Match[str]) -> str:
        what = escape[1]
        if what[0] == "u" and len(what) == 5 and not 0xD800 <= int(what[1:], 16) <= 0xDFFF:
            return chr(int(what[1:], 16))
        if what in _ESCAPES:
            return _ESCAPES[what]
        known = '\\" \\\\ \\n \\t \\r and \\u with four digits'
        raise InputError(f"line {line}, column {column}: \\{what} in this string is no escape: there are {known}")

    return _ESCAPE.sub(decode_escape, token[1:-1]) if "\\" in token else token[1:-1]


WIDTH = 100

_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def print_form(value: Any) -> str:
    """
    Return a form or a value on as few lines as fit; a record becomes a list of lists, each of a name and a value.

    >>> print_form({"id": "urn:m", "score": 0.5, "tags": ["a", 'b"']})
    '((id "urn:m") (score 0.5) (tags ("a" "b\\\\"")))'
    """
    return _lay_out(_simplify(value), 0)


def _simplify(value: Any) -> Any:
    """Return a value made only of lists, symbols and atoms."""
    match value:
        case Form(value=inside):
            return _simplify(inside)
        case Mapping():
            return [[Symbol(str(name)), _simplify(one)] for name, one in value.items()]
        case list() | tuple():
            return [_simplify(one) for one in value]
        case bool():
            return Symbol("true" if value else "false")
        case datetime():
            return value.isoformat()
    return value


def _lay_out(value: Any, indent: int) -> str:
    line = _write_line(value)
    if not isinstance(value, list) or len(line) + indent <= WIDTH:
        return line
    inside = f"\n{' ' * (indent + 1)}".join(_lay_out(one, indent + 1) for one in value)
    return f"({inside})"


def _write_line(value: Any) -> str:
    match value:
        case None:
            return "nil"
        case list():
            return f"({' '.join(_write_line(one) for one in value)})"
        case Symbol(name=name):
            return name
        case str():
            return f'"{"".join(_ESCAPED.get(c, c) for c in value)}"'
        case float():
            return repr(value)
    return str(value)


PREFIXES = {
    "mem": "http://purl.org/memento/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "prov": "http://www.w3.org/ns/prov#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
}
_TYPE = PREFIXES["rdf"] + "type"
_LOCAL = re.compile(r"[A-Za-z][\w-]*")
_TERM = re.compile(
    r"""
      <(?P<iri>[^>]*)>
    | _:(?P<blank>[^\s<>"]+?)(?=\s)
    | "(?P<text>(?:[^"\\]|\\.)*+)"(?:\^\^<(?P<datatype>[^>]*)>|@(?P<language>[A-Za-z0-9-]+))?
    | (?P<end>\.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NQUADS_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_NQUADS_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE_OF = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def build_form(lines: Iterable[str]) -> Form:
    """
    Return the expression that loads the quads of N-Quads lines.

    Raises:
        InputError: a line is not N-Quads, or has a nested triple.
    """
    graphs: dict[str, dict[Value, dict[Value, list[Form]]]] = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        terms = _parse_terms(line)
        if len(terms) not in (3, 4):
            raise InputError(f"this has no form as an expression: {line[:120].strip()}: use `memento export`")
        subject, predicate, value = terms[:3]
        graph = terms[3]["iri"] if len(terms) == 4 else ""
        predicates = graphs.setdefault(graph, {}).setdefault(_node_value(subject), {})
        predicates.setdefault(_shorten(predicate["iri"]), []).append(_object_form(value))
    return _list_form(
        Symbol("load"),
        *(
            _list_form(
                Symbol("graph"),
                graph,
                *(
                    _list_form(node, *(_list_form(name, *values) for name, values in predicates.items()))
                    for node, predicates in nodes.items()
                ),
            )
            for graph, nodes in graphs.items()
        ),
    )


def write_lines(forms: Iterable[Form]) -> Iterator[str]:
    """
    Yield the N-Quads lines for the arguments of `load`.

    Raises:
        InputError: a form is not a graph, subject, predicate or object; with its place.
    """
    for graph in forms:
        head, name, *nodes = _take_items(graph, 2, '(graph "IRI" …)')
        if head.value != Symbol("graph") or not isinstance(name.value, str):
            raise InputError(f'{graph.position}: this must be (graph "IRI" …)')
        ending = f" {_write_iri(name.value, name)} ." if name.value else " ."
        for node in nodes:
            subject, *predicates = _take_items(node, 1, '("subject" (predicate object …) …)')
            written = _write_subject(subject)
            for one in predicates:
                predicate, *values = _take_items(one, 1, "(predicate object …)")
                for value in values:
                    yield f"{written} {_write_predicate(predicate)} {_write_object(value)}{ending}\n"


def _parse_terms(line: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        term = _TERM.match(line, at)
        if term is None or term["end"]:
            return found if term else []
        found.append({name: value for name, value in term.groupdict().items() if value is not None})
        at = term.end()
    return []


def _node_value(term: dict[str, str]) -> Value:
    return (Form(Symbol("blank")), Form(term["blank"])) if "blank" in term else _unescape(term["iri"])


def _shorten(iri: str) -> Value:
    if iri == _TYPE:
        return Symbol("a")
    for prefix, begin in PREFIXES.items():
        if iri.startswith(begin) and _LOCAL.fullmatch(iri, len(begin)):
            return Symbol(f"{prefix}:{iri[len(begin) :]}")
    return _unescape(iri)


def _object_form(term: dict[str, str]) -> Form:
    if "blank" in term:
        return _list_form(Symbol("blank"), term["blank"])
    if "iri" in term:
        name = _shorten(term["iri"])
        return (
            Form(name)
            if isinstance(name, Symbol) and name.name != "a"
            else _list_form(Symbol("iri"), _unescape(term["iri"]))
        )
    text = _unescape(term["text"])
    if "language" in term:
        return _list_form(Symbol("lang"), text, term["language"])
    return _list_form(Symbol("typed"), text, _shorten(term["datatype"])) if "datatype" in term else Form(text)


def _write_object(form: Form) -> str:
    match form.value:
        case str(text):
            return f'"{_escape(text)}"'
        case Symbol():
            return _write_predicate(form)
        case (Form(value=Symbol(name="iri")), Form(value=str(iri)) as one):
            return _write_iri(iri, one)
        case (Form(value=Symbol(name="typed")), Form(value=str(text)), datatype):
            return f'"{_escape(text)}"^^{_write_predicate(datatype)}'
        case (Form(value=Symbol(name="lang")), Form(value=str(text)), Form(value=str(language))):
            if re.fullmatch(r"[A-Za-z]+(-[A-Za-z0-9]+)*", language):
                return f'"{_escape(text)}"@{language}'
        case (Form(value=Symbol(name="blank")), Form(value=str(label))):
            return _write_blank(label, form)
    raise InputError(
        f'{form.position}: this is no object: write "text", mem:Name, (iri "…"), (typed "…" xsd:date), (lang "…" "en") or '
        '(blank "b0")'
    )


def _write_subject(form: Form) -> str:
    match form.value:
        case str(iri):
            return _write_iri(iri, form)
        case (Form(value=Symbol(name="blank")), Form(value=str(label))):
            return _write_blank(label, form)
    return _write_predicate(form)


def _write_predicate(form: Form) -> str:
    match form.value:
        case str(iri):
            return _write_iri(iri, form)
        case Symbol(name="a"):
            return f"<{_TYPE}>"
        case Symbol(name=name) if ":" in name:
            prefix, _, local = name.partition(":")
            if prefix in PREFIXES:
                return _write_iri(PREFIXES[prefix] + local, form)
            raise InputError(f"{form.position}: unknown prefix {prefix}: there are {', '.join(PREFIXES)}")
    raise InputError(f"{form.position}: this must be an IRI in quotes, or a name with a prefix, as mem:content")


def _write_iri(iri: str, form: Form) -> str:
    if not iri or any(c in '<>"{}|^`\\' or ord(c) <= 32 for c in iri):
        raise InputError(f"{form.position}: {iri[:80]!r} is no IRI")
    return f"<{iri}>"


def _write_blank(label: str, form: Form) -> str:
    if not re.fullmatch(r"[\w.-]*\w", label):
        raise InputError(f"{form.position}: {label[:80]!r} cannot be the label of a blank node")
    return f"_:{label}"


def _take_items(form: Form, least: int, wanted: str) -> tuple[Form, ...]:
    if not isinstance(form.value, tuple) or len(form.value) < least:
        raise InputError(f"{form.position}: this must be {wanted}")
    return form.value


def _list_form(*items: Form | Value) -> Form:
    return Form(tuple(one if isinstance(one, Form) else Form(one) for one in items))


def _unescape(text: str) -> str:
    def decode_escape(escape: re.Match[str]) -> str:
        what = escape[1]
        return _NQUADS_ESCAPES[what] if what in _NQUADS_ESCAPES else chr(int(what[1:], 16))

    return _NQUADS_ESCAPE.sub(decode_escape, text) if "\\" in text else text


def _escape(text: str) -> str:
    return "".join(_ESCAPE_OF.get(c, c) for c in text)
