"""
The vocabulary at `/ontology`: a page for browsers, RDF for programs, by content negotiation; every term has an address.

*Guarantees:* anybody who reaches the port may read it, because it is published text and contains nothing from a memory. An address
means the same in every format, and every answer has a `Vary` header and an ETag.

*Because:* the address of a term answers 303: the term is neither the page nor the document, but what both describe (Cool URIs for
the Semantic Web, W3C).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from flask import Blueprint, Response, redirect, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup, escape

from memento import ontology
from memento.errors import InputError, MementoError, NotFound
from memento.graph.documents import document, serialize_documents
from memento.iris import IRI, MEM, OWL, Namespace
from memento.ontology import Term, describe_ontology, load_alignments, load_terms, short
from memento.sparql.evaluate import GRAPH_FORMATS
from memento.sparql.prepare import negotiate

ADDRESS = "/ontology"
DOCUMENTS = {
    "": "ontology/memento.ttl",
    **{name: f"ontology/{name}.ttl" for name in ("alignment", "labels", "shapes", "values")},
}
"""The suffixes of the address, and the file at each."""

HTML = "text/html"
FORMATS = {
    "ttl": "text/turtle",
    "jsonld": "application/ld+json",
    "rdf": "application/rdf+xml",
    "nt": "application/n-triples",
    "html": HTML,
}
"""The values of `?format=`, with the default of programs first."""

_TERMS_OF = ("ontology/memento.ttl", "ontology/alignment.ttl", "ontology/labels.ttl")
_VERSION = re.compile(r"(?P<version>\d+\.\d[\w.+-]*)(?:/(?P<rest>.*))?")
_DCTERMS = Namespace("http://purl.org/dc/terms/")
_VANN = Namespace("http://purl.org/vocab/vann/")
_METADATA: Mapping[str, IRI] = {
    "Version": OWL.versionIRI,
    "Creator": _DCTERMS.creator,
    "Created": _DCTERMS.created,
    "Modified": _DCTERMS.modified,
    "Licence": _DCTERMS.license,
    "Imports": OWL.imports,
    "Preferred prefix": _VANN.preferredNamespacePrefix,
}
_KINDS = {
    "Classes": "class",
    "Object properties": "object property",
    "Data properties": "datatype property",
    "Individuals": "individual",
}


def is_public(path: str) -> bool:
    """Tell whether an address needs no token."""
    return path == ADDRESS or path.startswith(f"{ADDRESS}/")


def wants_page() -> bool:
    """Tell whether the client wants the vocabulary as a page; for an invalid format, whether it accepts an error page."""
    if not is_public(request.path):
        return False
    try:
        return _choose_media() == HTML
    except MementoError:
        return HTML in request.headers.get("Accept", "")


def blueprint(show: Callable[[], str]) -> Blueprint:
    """
    Return the routes.

    Args:
        show: renders the page.
    """
    routes = Blueprint("vocabulary", __name__)

    @routes.get(ADDRESS)
    @routes.get(f"{ADDRESS}/<path:name>")
    def send_vocabulary(name: str = "") -> ResponseReturnValue:
        return _respond_to(show, name)

    @routes.after_request
    def add_headers(response: Response) -> Response:
        response.headers["Vary"] = "Accept"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    return routes


def _respond_to(show: Callable[[], str], name: str) -> ResponseReturnValue:
    if found := _VERSION.fullmatch(name):
        if found["version"] != (current := describe_ontology(OWL.versionInfo)):
            raise NotFound(
                f"version {found['version'][:40]} of the ontology is not here: this service has {current}, at "
                f"{ADDRESS}/{current}; the version that goes with a release is in its source archive, ontology/memento.ttl"
            )
        name = found["rest"] or ""
    media = _choose_media()
    if name in DOCUMENTS:
        if media == HTML and name:
            return redirect(f"{ADDRESS}#{'terms' if name in ('labels', 'rules', 'values') else name}", 303)
        return (
            _send_text(show(), HTML) if media == HTML else _send_document((DOCUMENTS[name],), media, name or "memento")
        )
    term = next((one for one in load_terms() if one.name == name), None)
    if term is None:
        known = [*DOCUMENTS, *(one.name for one in load_terms())]
        near = [f"{ADDRESS}/{one}" for one in get_close_matches(name, known)]
        raise NotFound(
            f"the vocabulary has no term and no document {name[:80]!r}: "
            + (f"did you mean {' or '.join(near)}?" if near else f"{ADDRESS} lists all of them")
        )
    if media == HTML:
        return redirect(f"{ADDRESS}#{quote(name)}", 303)
    if "format" not in request.args:
        wanted = next(key for key, one in FORMATS.items() if one == media)
        return redirect(f"{ADDRESS}/{quote(name)}?format={wanted}", 303)
    return _send_document(_TERMS_OF, media, name, term.iri)


def _choose_media() -> str:
    """Return the media type that a request asks for; raise `NotAcceptable`, or `InputError` for an unknown format."""
    if (asked := request.args.get("format")) is not None:
        if asked not in FORMATS:
            raise InputError(f"format must be one of {', '.join(FORMATS)}, not {asked[:40]!r}")
        return FORMATS[asked]
    return negotiate(request.headers.get("Accept", ""), tuple(FORMATS.values()))


def _send_document(names: tuple[str, ...], media: str, name: str, subject: IRI | None = None) -> Response:
    """Answer with documents as one graph, or with their triples about a subject; send a single Turtle document as it is."""
    if media == "text/turtle" and subject is None:
        body = document(names[0]).text.encode()
    else:
        body = serialize_documents(names, GRAPH_FORMATS[media], subject)
    suffix = next(key for key, one in FORMATS.items() if one == media)
    response = _send_text(body, media)
    response.headers["Content-Disposition"] = f'inline; filename="{name}.{suffix}"'
    return response


def _send_text(body: str | bytes, media: str) -> Response:
    response = Response(body, content_type=f"{media}; charset=utf-8" if media.startswith("text/") else media)
    stated = "".join(document(one).text for one in DOCUMENTS.values()) if media != HTML else str(body)
    # A weak ETag: blank nodes get other names in each process.
    response.set_etag(sha256(f"{request.path} {media}\n{stated}".encode()).hexdigest()[:32], weak=True)
    response.headers["Cache-Control"] = "no-cache"
    response.make_conditional(request)
    return response


@cache
def describe_page() -> Mapping[str, Any]:
    """Return the variables of the page, the same for every reader."""
    terms = load_terms()
    tops, below = _build_hierarchy(terms)
    return {
        "title": describe_ontology(_DCTERMS.title),
        "abstract": describe_ontology(_DCTERMS.description),
        "comment": describe_ontology(IRI("http://www.w3.org/2000/01/rdf-schema#comment")),
        "base": MEM.base,
        "version_number": describe_ontology(OWL.versionInfo),
        "metadata": {label: value for label, predicate in _METADATA.items() if (value := describe_ontology(predicate))},
        "formats": {"Turtle": "ttl", "JSON-LD": "jsonld", "RDF/XML": "rdf", "N-Triples": "nt"},
        "documents": [name for name in DOCUMENTS if name],
        "notes": {heading: [_mark_code(text) for text in texts] for heading, texts in ontology.NOTES.items()},
        "tops": tops,
        "below": below,
        "kinds": {label: [one for one in terms if one.kind == kind] for label, kind in _KINDS.items()},
        "facts_of": _list_facts,
        "link": _link_iri,
        "uses_of": ontology.find_uses,
        "example_of": ontology.find_example,
        "query_of": ontology.write_example_query,
        "alignments": {
            one: said
            for one in terms
            if (said := [pair for pair in load_alignments().get(one.iri, ()) if pair[1] not in one.parents])
        },
        "shapes": ontology.load_shapes(),
        "prefixes": ontology.PREFIXES,
        "short": short,
        "mark_code": _mark_code,
    }


def _build_hierarchy(terms: Sequence[Term]) -> tuple[list[IRI], dict[IRI, list[IRI]]]:
    """
    Return the classes at the top, those of other vocabularies first, and the subclasses of each class.

    A class with two superclasses is below both.
    """
    classes = {one.iri: one for one in terms if one.kind == "class"}
    below: dict[IRI, list[IRI]] = {}
    for iri, one in classes.items():
        for parent in one.parents:
            below.setdefault(parent, []).append(iri)
    return [*(iri for iri in below if iri not in classes), *(iri for iri in classes if not classes[iri].parents)], below


def _list_facts(term: Term) -> dict[str, tuple[IRI, ...]]:
    """Return what the ontology says about a term, by the usual names of its properties."""
    is_class = term.kind == "class"
    facts = {
        "Type": (term.type,) if term.type else (),
        "Subclass of" if is_class else "Subproperty of": term.parents,
        "Domain": term.domain,
        "Range": term.range,
        "Inverse of": term.inverses,
        "One of": term.members,
    }
    return {how: iris for how, iris in facts.items() if iris}


def _locate_term(iri: str) -> str:
    """Return the address of an IRI on the page; empty for an IRI of another vocabulary."""
    return f"#{quote(iri.removeprefix(MEM.base))}" if any(one.iri == iri for one in load_terms()) else ""


def _link_iri(iri: str) -> Markup:
    """Return a link from the short name of an IRI to its description."""
    here = _locate_term(iri)
    if not here and not iri.startswith(("http://", "https://")):
        return Markup("<code>{}</code>").format(short(iri))
    return Markup('<a href="{}"><code>{}</code></a>').format(here or iri, short(iri))


def _mark_code(text: str) -> Markup:
    """Show text between backticks as code."""
    parts = (
        escape(part) if at % 2 == 0 else Markup("<code>{}</code>").format(part)
        for at, part in enumerate(text.split("`"))
    )
    return Markup("").join(parts)
