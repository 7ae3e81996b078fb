"""
JSON-LD with the names of the vocabulary: `"content": "…"` instead of a predicate's IRI. The context stands in the document itself.

*Guarantees:* a context is never fetched. Ours is known by its address; another one that is not in the document is an error.

*Source:* JSON-LD 1.1, W3C Recommendation, https://www.w3.org/TR/json-ld11/
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import IO, Any, cast

import pyoxigraph as ox

from memento import assets
from memento.errors import InputError
from memento.iris import TYPE, XSD

CONTEXT = "http://purl.org/memento/context.jsonld"
"""What a document may name instead of writing the context out."""

_IMPORT = b'"@import"'
_CONTEXT_OF = re.compile(rb'"@context"\s*:\s*(.)', re.DOTALL)
_NUMBERS = 2**53  # beyond it JSON readers round whole numbers

Json = dict[str, Any]


def written(graphs: Iterable[Iterable[ox.Quad]]) -> Iterator[bytes]:
    """
    One document of all graphs, a graph being an object of its own, a subject at a time.

    Raises:
        InputError: a triple term, which JSON-LD does not know.
    """
    yield b'{"@context": ' + _dumped(context()) + b',\n"@graph": ['
    before = b"\n"
    for quads in graphs:
        for graph, inside in groupby(quads, key=lambda quad: quad.graph_name):
            yield before + b'{"@id": ' + _dumped(cast(ox.NamedNode, graph).value) + b', "@graph": ['
            before, first = b",\n", True
            for subject, said in groupby(inside, key=lambda quad: quad.subject):
                yield (b"\n" if first else b",\n") + _dumped(_node(cast(ox.NamedNode, subject).value, said))
                first = False
            yield b"\n]}"
    yield b"\n]}\n"


@cache
def context() -> Json:
    """The terms of `ontology/context.jsonld`."""
    return cast(Json, json.loads(assets.read("ontology/context.jsonld"))["@context"])


def with_known_context(source: IO[bytes], name: str) -> IO[bytes]:
    """
    The document with our context written out where its address stands; the document itself where all contexts are written out.

    Raises:
        InputError: it names a context that would have to be fetched, by line and column, or is no JSON.
    """
    data = source.read()
    source.seek(0)
    if _IMPORT not in data and all(found == b"{" for found in _CONTEXT_OF.findall(data)):
        return source
    try:
        document = json.loads(data)
        return io.BytesIO(_dumped(_resolved(document, data, name)))
    except json.JSONDecodeError as error:
        raise InputError(f"{name} line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not usable JSON: {error}") from error


def _resolved(value: Any, data: bytes, name: str) -> Any:
    if isinstance(value, list):
        return [_resolved(one, data, name) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _local(inside, data, name) if key == "@context" else _resolved(inside, data, name)
        for key, inside in value.items()
    }


def _local(given: Any, data: bytes, name: str) -> Any:
    """A context as it may stand in a document that is read without the network; contexts of terms are inside of it."""
    if isinstance(given, str):
        if given == CONTEXT:
            return context()
        raise _remote(given, data, name)
    if isinstance(given, list):
        return [_local(one, data, name) for one in given]
    if isinstance(given, dict):
        if isinstance(imported := given.get("@import"), str):
            raise _remote(imported, data, name)
        return {key: _resolved(inside, data, name) for key, inside in given.items()}
    return given


def _remote(address: str, data: bytes, name: str) -> InputError:
    before = data[: max(data.find(json.dumps(address, ensure_ascii=False).encode()), 0)]
    line, column = before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1
    return InputError(
        f"{name} line {line}, column {column}: the context {address[:80]!r} is not fetched: write the context into the document"
    )


def _node(iri: str, said: Iterable[ox.Quad]) -> Json:
    node: Json = {"@id": iri}
    for quad in said:
        predicate, value = quad.predicate.value, quad.object
        if predicate == TYPE and isinstance(value, ox.NamedNode):
            key, shown = "@type", cast(object, _classes().get(value.value, value.value))
        else:
            key, coerced = _terms().get(predicate, (predicate, None))
            shown = _value(value, coerced)
        node.setdefault(key, []).append(shown)
    return {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in node.items()}


def _value(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple, coerced: str | None) -> object:
    """A value as it stands under a term that is read as `coerced`."""
    if isinstance(term, ox.NamedNode):
        return term.value if coerced == "@id" else {"@id": term.value}
    if not isinstance(term, ox.Literal):
        raise InputError("JSON-LD cannot hold RDF 1.2 triple terms: export as trig or nquads")
    text, datatype = term.value, term.datatype.value
    if term.language:
        direction = {"@direction": term.direction.value} if term.direction else {}
        return {"@value": text, "@language": term.language, **direction}
    if coerced == datatype or (coerced is None and datatype == XSD.string):
        return _native(text, datatype)
    return {"@value": text} if datatype == XSD.string else {"@value": text, "@type": datatype}


def _native(text: str, datatype: str) -> object:
    if datatype == XSD.boolean and text in ("true", "false"):
        return text == "true"
    if (
        datatype == XSD.integer
        and len(text) < 20
        and text.lstrip("-").isdecimal()
        and abs(number := int(text)) < _NUMBERS
    ):
        return number if str(number) == text else text
    return text


@cache
def _terms() -> dict[str, tuple[str, str | None]]:
    """Predicate → its name in the context, and how what stands there is read."""
    found = {}
    for name, what in context().items():
        if isinstance(what, dict):
            found[what["@id"]] = (name, what.get("@type"))
        elif isinstance(what, str):
            found[what] = (name, None)
    return found


@cache
def _classes() -> dict[str, str]:
    return {iri: name for iri, (name, _) in _terms().items()}


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", errors="surrogatepass")
