"""
A dataset as one expression, and back: N-Quads ↔ `(load (graph "…" ("subject" (predicate object …) …) …) …)`.

    (load
     (graph "urn:memento:graph:local:main"
      ("urn:memento:memory:0192" (a mem:Memory) (mem:content "USER likes tea.")
       (mem:validAt (typed "2025-01-08T09:00:00Z" xsd:dateTime)))))

A subject is the text of its IRI; a predicate is one, or a name with a prefix. As an object text is a literal; a name with a prefix
and `(iri "…")` are IRIs; `(typed "…" datatype)` and `(lang "…" "en")` are the other literals, `(blank "b0")` is a blank node.

*Guarantees:* what is written reads back as the same quads, to the letter.

*But:* a triple inside a triple has no form here: `memento export` takes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memento.errors import InputError
from memento.sexpr.forms import Form, Symbol, Value

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
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE_OF = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def build_form(lines: Iterable[str]) -> Form:
    """
    Return the expression that loads the quads of N-Quads lines.

    Raises:
        InputError: a line is none of N-Quads, or has a triple inside a triple.
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
    Yield the N-Quads lines of what `load` is given.

    Raises:
        InputError: a form that says no graph, subject, predicate or object; with its place.
    """
    for graph in forms:
        head, name, *nodes = _take_items(graph, 2, '(graph "IRI" …)')
        if head.value != Symbol("graph") or not isinstance(name.value, str):
            raise InputError(f'{graph.place}: this must be (graph "IRI" …)')
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
        f'{form.place}: this is no object: write "text", mem:Name, (iri "…"), (typed "…" xsd:date), (lang "…" "en") or (blank "b0")'
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
            raise InputError(f"{form.place}: unknown prefix {prefix}: there are {', '.join(PREFIXES)}")
    raise InputError(f"{form.place}: this must be an IRI in quotes, or a name with a prefix, as mem:content")


def _write_iri(iri: str, form: Form) -> str:
    if not iri or any(c in '<>"{}|^`\\' or ord(c) <= 32 for c in iri):
        raise InputError(f"{form.place}: {iri[:80]!r} is no IRI")
    return f"<{iri}>"


def _write_blank(label: str, form: Form) -> str:
    if not re.fullmatch(r"[\w.-]*\w", label):
        raise InputError(f"{form.place}: {label[:80]!r} cannot be the label of a blank node")
    return f"_:{label}"


def _take_items(form: Form, least: int, wanted: str) -> tuple[Form, ...]:
    if not isinstance(form.value, tuple) or len(form.value) < least:
        raise InputError(f"{form.place}: this must be {wanted}")
    return form.value


def _list_form(*items: Form | Value) -> Form:
    return Form(tuple(one if isinstance(one, Form) else Form(one) for one in items))


def _unescape(text: str) -> str:
    def decode_escape(escape: re.Match[str]) -> str:
        what = escape[1]
        return _ESCAPES[what] if what in _ESCAPES else chr(int(what[1:], 16))

    return _ESCAPE.sub(decode_escape, text) if "\\" in text else text


def _escape(text: str) -> str:
    return "".join(_ESCAPE_OF.get(c, c) for c in text)
