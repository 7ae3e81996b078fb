"""
RDF documents of any size, written and read a piece at a time: TriG, N-Quads and JSON-LD with named graphs, Turtle, N-Triples
and RDF/XML to be read into one graph.

*Guarantees:* what is written and read again is the same set of quads: text, languages, datatypes and names to the letter. No
blank node is written: one that somebody's own RDF has goes by a name, `urn:memento:genid:…`, and comes back as itself. Nothing is
fetched, whatever a document says.

*But:* JSON-LD cannot hold RDF 1.2 triple terms; other formats do. What somebody else has written is read in a worker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import IO, cast
from uuid import NAMESPACE_URL, uuid5

import pyoxigraph as ox

from memento.errors import InputError, NotAcceptable, TooLong
from memento.graph import jsonld
from memento.graph.parsing import parse_quads, refuse_unsafe
from memento.iris import IRI, MEM, PREFIXES, TYPE, XSD
from memento.time import iso, parse_time

HEAD = b"# Memento export\n"
"""The first line of TriG and N-Quads; the last one says how many statements there are, so that a cut-off end is noticed."""

Node = ox.NamedNode | ox.BlankNode
Term = Node | ox.Literal | ox.Triple

_GENID = "urn:memento:genid:"
_HEADER = re.compile(rb"\A(?:@prefix [^\n]*\n)+")
_CHUNK = 2_000
_FEW = 100
"""So many quads are rewritten before their size is looked at: a prefix can make each of them long."""
_LABEL = re.compile(r"\w+", re.ASCII)
_TAIL = re.compile(rb"# (\d+) statements\s*\Z")


@dataclass(frozen=True, slots=True)
class Form:
    """A format: what it is called here, on the web, and at the end of a file's name."""

    name: str
    media: str
    suffixes: tuple[str, ...]
    of: ox.RdfFormat
    has_graphs: bool = True


FORMS: tuple[Form, ...] = (
    Form("trig", "application/trig", (".trig",), ox.RdfFormat.TRIG),
    Form("nquads", "application/n-quads", (".nq", ".nquads"), ox.RdfFormat.N_QUADS),
    Form("jsonld", "application/ld+json", (".jsonld",), ox.RdfFormat.JSON_LD),
    Form("turtle", "text/turtle", (".ttl", ".turtle"), ox.RdfFormat.TURTLE, has_graphs=False),
    Form("ntriples", "application/n-triples", (".nt", ".ntriples"), ox.RdfFormat.N_TRIPLES, has_graphs=False),
    Form("rdfxml", "application/rdf+xml", (".rdf", ".owl"), ox.RdfFormat.RDF_XML, has_graphs=False),
)


def form_called(name: str) -> Form:
    """
    A format by its name, media type, or file name, packed or not.

    Raises:
        InputError: it is none; names those there are.

    >>> form_called("trig").media, form_called("a.nq.gz").name, form_called("application/ld+json").name
    ('application/trig', 'nquads', 'jsonld')
    """
    wanted = name.strip().lower().removesuffix(".gz")
    for form in FORMS:
        if wanted in (form.name, form.media) or wanted.endswith(form.suffixes):
            return form
    known = ", ".join(f"{form.name} ({form.suffixes[0]})" for form in FORMS)
    raise InputError(f"{name[:80]!r} is no RDF format that is known here: {known}")


def writable(form: Form) -> Form:
    """The format itself; raises `NotAcceptable` when it cannot hold named graphs."""
    if not form.has_graphs:
        raise NotAcceptable(f"{form.name} has no named graphs: export as trig, nquads or jsonld")
    return form


def written(graphs: Iterable[Iterable[ox.Quad]], form: Form) -> Iterator[bytes]:
    """
    The document of some graphs' quads, a piece at a time; those of one subject should stand together.

    Raises:
        InputError: JSON-LD cannot hold one of them.
    """
    grounded = (map(_grounded, quads) for quads in graphs)
    if form.name == "jsonld":
        yield from jsonld.written(grounded)
        return
    yield HEAD
    count, every = 0, chain.from_iterable(grounded)
    if form.name == "trig":
        yield "".join(f"@prefix {prefix}: <{base}> .\n" for prefix, base in PREFIXES.items()).encode()
    while chunk := list(islice(every, _CHUNK)):
        count += len(chunk)
        data = ox.serialize(chunk, format=form.of, prefixes=dict(PREFIXES)) or b""
        yield _HEADER.sub(b"", data, count=1)  # each piece has one of its own
    yield b"# %d statements\n" % count


def read(path: Path, form: Form, name: str) -> Iterator[ox.Quad]:
    """
    The quads of a document in a file; those outside of any graph are in the default graph.

    Args:
        name: what errors call it.

    Raises:
        InputError: it is not well formed, is nested too deep, has a DOCTYPE, names a context that would have to be fetched, or its
            end is missing; says where.
    """
    refuse_unsafe(path, form.of, name)
    with path.open("rb") as source:
        mark = _checked(source, name)
        names: dict[str, ox.BlankNode] = {}

        def own(quad: ox.Quad) -> ox.Quad:
            is_plain = all(
                isinstance(term, ox.Literal) or (isinstance(term, ox.NamedNode) and not term.value.startswith(_GENID))
                for term in (quad.subject, quad.object)
            )
            return quad if is_plain else _mapped(quad, lambda term: _blank(term, names, mark))

        given = jsonld.with_known_context(source, name) if form.name == "jsonld" else source
        yield from map(own, parse_quads(given, form.of, name))


def rewrite(path: Path, form: Form, name: str, target: Path, most: int) -> int:
    """
    Write the quads of a document as N-Quads lines into another file; returns how many they are.

    Raises:
        InputError: as `read`.
        TooLong: they take more than `most` bytes.
    """
    count, found = 0, read(path, form, name)
    with target.open("wb") as lines:
        while chunk := list(islice(found, _FEW)):
            count += len(chunk)
            lines.write(ox.serialize(chunk, format=ox.RdfFormat.N_QUADS) or b"")
            if lines.tell() > most:
                raise TooLong(f"{name} makes more than {most} bytes of statements: bring it in parts")
    return count


def read_lines(source: IO[bytes]) -> Iterator[ox.Quad]:
    """Read the quads that `rewrite` has written."""
    return ox.parse(source, ox.RdfFormat.N_QUADS)


_TEXTS = {MEM.hasState: ("state", MEM.State), MEM.hasAction: ("action", MEM.Action)}


def adopt_cases(lines: IO[bytes], bank: IRI) -> Iterator[ox.Quad]:
    """
    Yield the quads of a document, with the cases in it that are in no graph as those of a bank.

    *Because:* the first published design writes a case in the default graph, its task and its plan as texts, and the time as plain
    text. The vector beside them is that of another embedder.
    """
    cases = {
        quad.subject
        for quad in read_lines(lines)
        if isinstance(quad.graph_name, ox.DefaultGraph)
        and (quad.predicate.value, getattr(quad.object, "value", "")) == (TYPE, MEM.Case)
    }
    lines.seek(0)
    graph = ox.NamedNode(bank)
    for quad in read_lines(lines):
        if quad.subject not in cases or not isinstance(quad.graph_name, ox.DefaultGraph):
            yield quad
            continue
        subject, name, value = quad.subject, IRI(quad.predicate.value), quad.object
        if name in _TEXTS and isinstance(value, ox.Literal):
            kind, cls = _TEXTS[name]
            node = ox.NamedNode(f"urn:memento:{kind}:{uuid5(NAMESPACE_URL, str(subject))}")
            text = "\n".join(line.strip() for line in value.value.strip().splitlines())
            yield ox.Quad(node, ox.NamedNode(TYPE), ox.NamedNode(cls), graph)
            yield ox.Quad(node, ox.NamedNode(MEM.content), ox.Literal(text), graph)
            value = node
        elif name == MEM.timestamp and isinstance(value, ox.Literal):
            at = iso(parse_time(value.value, "timestamp"))
            value = ox.Literal(at, datatype=ox.NamedNode(XSD.dateTime))
        elif name == MEM.hasStateEmbedding:
            continue
        yield ox.Quad(subject, quad.predicate, value, graph)


def _checked(source: IO[bytes], name: str) -> str:
    """A digest of the document, which is then at its beginning again; raises `InputError` when its end is missing."""
    digest, head, tail = sha256(), b"", b""
    while piece := source.read(1 << 20):
        digest.update(piece)
        head = head or piece[: len(HEAD)]
        tail = (tail + piece)[-100:]
    source.seek(0)
    if head == HEAD and not _TAIL.search(tail):
        raise InputError(f"{name} was cut off: its last line must say how many statements there are; export it again")
    return digest.hexdigest()


def _grounded(quad: ox.Quad) -> ox.Quad:
    """The quad with names in the place of its blank nodes."""
    is_plain = isinstance(quad.subject, ox.NamedNode) and isinstance(quad.object, ox.NamedNode | ox.Literal)
    return quad if is_plain else _mapped(quad, _named)


def _named(term: Node) -> Node:
    return ox.NamedNode(f"{_GENID}{term.value}") if isinstance(term, ox.BlankNode) else term


def _blank(term: Node, names: dict[str, ox.BlankNode], mark: str) -> Node:
    """Our name for a blank node as that node; a document's own as the n-th of this document, the same each time it is read."""
    if isinstance(term, ox.NamedNode):
        label = term.value.removeprefix(_GENID)
        return ox.BlankNode(label) if _LABEL.fullmatch(label) and label != term.value else term
    if isinstance(term, ox.BlankNode):
        if term.value not in names:
            names[term.value] = ox.BlankNode(sha256(f"{mark} {len(names)}".encode()).hexdigest()[:32])
        return names[term.value]
    return term


def _mapped(quad: ox.Quad, change: Callable[[Node], Node]) -> ox.Quad:
    """The quad with other nodes, those inside of triple terms too."""

    def inside(term: Term) -> Term:
        if isinstance(term, ox.NamedNode | ox.BlankNode):
            return change(term)
        if isinstance(term, ox.Triple):
            return ox.Triple(cast(Node, inside(term.subject)), term.predicate, inside(term.object))
        return term

    return ox.Quad(cast(Node, inside(quad.subject)), quad.predicate, inside(quad.object), quad.graph_name)
