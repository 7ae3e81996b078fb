"""
Reads and writes RDF documents of any size piece by piece: TriG, N-Quads and JSON-LD with named graphs; Turtle, N-Triples and
RDF/XML can be read into one graph.

*Guarantees:* a document that is written and read again gives the same quads: text, languages and datatypes to the letter. No blank
node is written: those of a user's own RDF are named `urn:memento:genid:…`, and read back as blank nodes. Nothing is fetched,
whatever a document says.

A document of a user is scanned before it is parsed: the parser gets no DOCTYPE and no nesting deeper than `DEEPEST` or
`MOST_NESTED`, and every fault is an `InputError`. A JSON-LD context is never fetched: the address of ours is known, and any other
context that is not in the document is an error. `Document` gives access to a document of this installation.

*But:* JSON-LD cannot hold RDF 1.2 triple terms; the other formats can. Nothing here limits time or memory, so documents of users
are read in a worker.

*Because:* the parser expands entities each time they are named, and it builds and frees nested triples and nested JSON by
recursion.

*Source:* JSON-LD 1.1, W3C Recommendation, https://www.w3.org/TR/json-ld11/
"""

from __future__ import annotations

import io
import json
import mmap
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import chain, groupby, islice
from pathlib import Path
from typing import IO, Any, cast
from uuid import NAMESPACE_URL, uuid5

import pyoxigraph as ox

from memento import assets
from memento.errors import GraphError, InputError, NotAcceptable, TooLong
from memento.iris import IRI, MEM, PREFIXES, RDF, TYPE, XSD
from memento.time import iso, parse_time

_FIRST, _REST, _NIL = (ox.NamedNode(RDF[name]) for name in ("first", "rest", "nil"))

Name = IRI | str
"""An IRI, the text of a literal, or the name of a blank node, which begins with `_:`."""


class Document:
    """The triples of a document of this installation, in the default graph; a fault in it is our error, a `GraphError`."""

    def __init__(self, name: str) -> None:
        """
        Args:
            name: such as `ontology/memento.ttl`.

        Raises:
            MissingPart: there is no such file.
            GraphError: it is not valid Turtle.
        """
        self.text = assets.read(name).decode("utf-8")
        self._store = ox.Store()
        try:
            self._store.load(self.text, ox.RdfFormat.TURTLE)
        except SyntaxError as error:
            raise GraphError(f"{name} is no Turtle: {error}") from error

    def triples(self) -> Iterator[tuple[Name, IRI, Name]]:
        """Yield all triples, in no particular order."""
        for quad in self._store:
            yield _name_of(quad.subject), IRI(quad.predicate.value), _name_of(quad.object)

    def objects(self, subject: Name, predicate: IRI) -> list[Name]:
        """Return the objects of a subject and predicate, sorted."""
        found = self._store.quads_for_pattern(_node_of(subject), ox.NamedNode(predicate), None)
        return sorted(_name_of(quad.object) for quad in found)

    def one(self, subject: Name, predicate: IRI) -> str:
        """Return the first of `objects`, or an empty string."""
        return next(iter(self.objects(subject, predicate)), "")

    def subjects(self, predicate: IRI, value: IRI) -> list[Name]:
        """Return the subjects that have a value under a predicate, sorted."""
        found = self._store.quads_for_pattern(None, ox.NamedNode(predicate), ox.NamedNode(value))
        return sorted(_name_of(quad.subject) for quad in found)

    def describe_subject(self, subject: IRI | None = None) -> Iterator[ox.Triple]:
        """Yield the triples of a subject and of the blank nodes that it leads to; without a subject, every triple."""
        waiting: list[ox.NamedNode | ox.BlankNode | None] = [ox.NamedNode(subject) if subject else None]
        while waiting:
            for quad in self._store.quads_for_pattern(waiting.pop(), None, None):
                yield quad.triple
                if subject and isinstance(quad.object, ox.BlankNode):
                    waiting.append(quad.object)

    def items(self, head: Name) -> list[Name]:
        """Return the elements of an RDF list, in order; none if there is no list."""
        found: list[Name] = []
        at: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple = _node_of(head)
        while at != _NIL and not isinstance(at, ox.Literal | ox.Triple):
            first = next(self._store.quads_for_pattern(at, _FIRST, None), None)
            rest = next(self._store.quads_for_pattern(at, _REST, None), None)
            if first is None or rest is None:
                break
            found.append(_name_of(first.object))
            at = rest.object
        return found


@cache
def serialize_documents(names: tuple[str, ...], of: ox.RdfFormat, subject: IRI | None = None) -> bytes:
    """Write documents of this installation as one graph, or what they say of a subject; empty if they say nothing of it."""
    stated = "".join(document(name).text for name in names)
    prefixes = dict(sorted(set(re.findall(r"^@prefix (\w+):\s+<([^>\s]++)> \.", stated, flags=re.M))))
    triples = sorted(set(chain(*(document(name).describe_subject(subject) for name in names))), key=str)
    return (ox.serialize(triples, format=of, prefixes=prefixes) or b"") if triples else b""


@cache
def document(name: str) -> Document:
    """Return a document, read once and kept."""
    return Document(name)


def _node_of(node: Name) -> ox.NamedNode | ox.BlankNode:
    return ox.BlankNode(node[2:]) if node.startswith("_:") else ox.NamedNode(node)


def _name_of(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> Name:
    if isinstance(term, ox.NamedNode):
        return IRI(term.value)
    return term.value if isinstance(term, ox.Literal) else str(term)


DEEPEST = 100
"""Nested objects and lists in JSON-LD."""
MOST_NESTED = 8
"""Nested triples."""

_DOCTYPE = re.compile(rb"<!(?:doctype|entity)", re.IGNORECASE)
_TRIPLE = re.compile(rb"<<")
_OF_TRIPLES = re.compile(
    rb'''"""(?:[^"\\]|\\.|"(?!""))*+""" | \'\'\'(?:[^'\\]|\\.|'(?!''))*+\'\'\' | "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+'
      | (?P<open> << ) | (?P<close> >> ) | <[^<>\s]*+> | \#[^\n]*+''',
    re.VERBOSE | re.DOTALL,
)
_OF_JSON = re.compile(rb'"(?:[^"\\]|\\.)*+" | (?P<open> [\[{] ) | (?P<close> [\]}] )', re.VERBOSE | re.DOTALL)


def refuse_unsafe(path: Path, of: ox.RdfFormat, name: str) -> None:
    """
    Scan a document for content that must not reach the parser.

    Args:
        name: the document's name in errors.

    Raises:
        InputError: it has a DOCTYPE or is nested too deep; the message names the line.
    """
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if of == ox.RdfFormat.RDF_XML:
            if found := _DOCTYPE.search(data):
                raise InputError(
                    f"{name} line {_line(data, found)}: a DOCTYPE is refused, as its entities can multiply: take it out and write "
                    "in full what they stand for"
                )
        elif of == ox.RdfFormat.JSON_LD:
            _refuse_deep(data, _OF_JSON, DEEPEST, f"objects and lists are nested deeper than {DEEPEST}", name)
        elif sum(1 for _ in islice(_TRIPLE.finditer(data), MOST_NESTED + 1)) > MOST_NESTED:
            _refuse_deep(data, _OF_TRIPLES, MOST_NESTED, f"triples are nested deeper than {MOST_NESTED}", name)


def parse_quads(
    source: IO[bytes], of: ox.RdfFormat, name: str, *, base: str | None = None, rename_blank_nodes: bool = False
) -> Iterator[ox.Quad]:
    """
    Parse a document that `refuse_unsafe` has accepted.

    Raises:
        InputError: it is not well formed; the message says where.
    """
    found = ox.parse(source, of, base_iri=base, rename_blank_nodes=rename_blank_nodes)
    while True:
        try:
            quad = next(found, None)
        except SyntaxError as error:
            raise InputError(_locate_error(error, name)) from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name} cannot be read: {error}") from error
        if quad is None:
            return
        if nesting(quad.object) > MOST_NESTED:
            raise InputError(f"{name}: triples are nested deeper than {MOST_NESTED}")
        yield quad


def nesting(term: Term) -> int:
    """Count how deep triples are nested in a term; 0 for a term that is not a triple."""
    found = 0
    while isinstance(term, ox.Triple):
        found, term = found + 1, term.object
    return found


_PLACE = re.compile(r"^Parser error .*?(?:columns? \d+(?: and (?:line \d+ column )?\d+)?|line \d+): ")


def _locate_error(error: SyntaxError, name: str) -> str:
    """Say what is wrong and where; line and column count from 1."""
    where = f" line {error.lineno}" + (f", column {error.offset}" if error.offset else "") if error.lineno else ""
    message = _PLACE.sub("", str(error.msg or error)).strip()
    return f"{name}{where}: {message}"


def _refuse_deep(data: mmap.mmap, tokens: re.Pattern[bytes], most: int, message: str, name: str) -> None:
    level = 0
    for token in tokens.finditer(data):
        if token["open"]:
            level += 1
            if level > most:
                raise InputError(f"{name} line {_line(data, token)}: {message}")
        elif token["close"] and level:
            level -= 1


def _line(data: mmap.mmap, found: re.Match[bytes]) -> int:
    return data[: found.start()].count(b"\n") + 1


CONTEXT = "http://purl.org/memento/context.jsonld"
"""The address that a document may use instead of our full context."""

_IMPORT = b'"@import"'
_CONTEXT_OF = re.compile(rb'"@context"\s*:\s*(.)', re.DOTALL)

Json = dict[str, Any]


@cache
def load_context() -> Json:
    """Return the terms of `ontology/context.jsonld`."""
    return cast(Json, json.loads(assets.read("ontology/context.jsonld"))["@context"])


def with_known_context(source: IO[bytes], name: str) -> IO[bytes]:
    """
    Return the document with our full context in place of its address; the document itself if it contains all its contexts.

    Raises:
        InputError: it names a context that would have to be fetched (by line and column), or is not JSON.
    """
    data = source.read()
    source.seek(0)
    if _IMPORT not in data and all(found == b"{" for found in _CONTEXT_OF.findall(data)):
        return source
    try:
        document = json.loads(data)
        return io.BytesIO(_dump_json(_resolve_contexts(document, data, name)))
    except json.JSONDecodeError as error:
        raise InputError(f"{name} line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not usable JSON: {error}") from error


def _resolve_contexts(value: Any, data: bytes, name: str) -> Any:
    if isinstance(value, list):
        return [_resolve_contexts(one, data, name) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _resolve_context(inside, data, name) if key == "@context" else _resolve_contexts(inside, data, name)
        for key, inside in value.items()
    }


def _resolve_context(given: Any, data: bytes, name: str) -> Any:
    """Return a context in the form in which a document can contain it without network access, with the contexts of its terms."""
    if isinstance(given, str):
        if given == CONTEXT:
            return load_context()
        raise _explain_remote(given, data, name)
    if isinstance(given, list):
        return [_resolve_context(one, data, name) for one in given]
    if isinstance(given, dict):
        if isinstance(imported := given.get("@import"), str):
            raise _explain_remote(imported, data, name)
        return {key: _resolve_contexts(inside, data, name) for key, inside in given.items()}
    return given


def _explain_remote(address: str, data: bytes, name: str) -> InputError:
    before = data[: max(data.find(json.dumps(address, ensure_ascii=False).encode()), 0)]
    line, column = before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1
    return InputError(
        f"{name} line {line}, column {column}: the context {address[:80]!r} is not fetched: write the context into the document"
    )


def _dump_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", errors="surrogatepass")


HEAD = b"# Memento export\n"
"""The first line of TriG and N-Quads; the last one has the number of statements, which reveals a cut-off document."""

Node = ox.NamedNode | ox.BlankNode
Term = Node | ox.Literal | ox.Triple

_GENID = "urn:memento:genid:"
_HEADER = re.compile(rb"\A(?:@prefix [^\n]*\n)+")
_CHUNK = 2_000
_FEW = 100
"""Quads rewritten before their size is checked: a prefix can make each of them long."""
_LABEL = re.compile(r"\w+", re.ASCII)
_TAIL = re.compile(rb"# (\d+) statements\s*\Z")


@dataclass(frozen=True, slots=True)
class Form:
    """A format: its name here, its media type, and its file suffix."""

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
    Find a format by its name, media type, or file name, compressed or not.

    Raises:
        InputError: there is no such format; the message lists those there are.

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
    """Return the format itself; raise `NotAcceptable` if it cannot hold named graphs."""
    if form.of == ox.RdfFormat.RDF_XML:
        raise NotAcceptable(
            f"{form.name} has no named graphs, nor names for all properties: export as trig, nquads, jsonld or turtle"
        )
    return form


IN_GRAPH = "urn:memento:in-graph"
"""In a document without named graphs: the graph of a node; stated of the document, the default for all nodes."""
_DOCUMENT = "urn:memento:document"


def flatten_graphs(graphs: Sequence[Iterable[ox.Quad]], usual: IRI) -> Iterator[Iterable[ox.Quad]]:
    """
    Yield the quads of some graphs without graph names; for each node in another graph than the usual one, also say which. The
    quads of one subject must come together.
    """
    yield [ox.Quad(ox.NamedNode(_DOCUMENT), ox.NamedNode(IN_GRAPH), ox.NamedNode(usual))]
    home = ox.NamedNode(usual)
    at_home, elsewhere = set[object](), set[object]()
    for quads in graphs:
        for (subject, graph), said in groupby(quads, key=lambda quad: (quad.subject, quad.graph_name)):
            yield (ox.Quad(quad.subject, quad.predicate, quad.object) for quad in said)
            (at_home if graph == home else elsewhere).add(subject)
            places = {graph, home} if subject in at_home and subject in elsewhere else {graph} - {home}
            yield [ox.Quad(subject, ox.NamedNode(IN_GRAPH), cast(ox.NamedNode, place)) for place in places]


def restore_graphs(lines: IO[bytes]) -> Iterator[ox.Quad]:
    """Yield the quads of a document, those that `flatten_graphs` took out of their graphs back in them."""
    is_flat = lines.readline().startswith(f"<{_DOCUMENT}> <{IN_GRAPH}> ".encode())
    lines.seek(0)
    if not is_flat:
        yield from read_lines(lines)
        return
    places: dict[object, list[ox.NamedNode]] = {}
    for quad in read_lines(lines):
        if quad.predicate.value == IN_GRAPH and isinstance(quad.object, ox.NamedNode):
            places.setdefault(quad.subject, []).append(quad.object)
    usual = places[ox.NamedNode(_DOCUMENT)]
    lines.seek(0)
    for quad in read_lines(lines):
        if quad.predicate.value != IN_GRAPH:
            yield from (
                ox.Quad(quad.subject, quad.predicate, quad.object, graph) for graph in places.get(quad.subject, usual)
            )


def write_document(graphs: Iterable[Iterable[ox.Quad]], form: Form) -> Iterator[bytes]:
    """
    Write the quads of some graphs as a document, piece by piece; the quads of one subject should come together.

    Raises:
        InputError: JSON-LD cannot hold one of them.
    """
    grounded = (map(_ground_quad, quads) for quads in graphs)
    count, every = 0, chain.from_iterable(grounded)
    if form.name == "jsonld":
        yield from _write_json_ld(every)
        return
    yield HEAD
    if form.name in ("trig", "turtle"):
        yield "".join(f"@prefix {prefix}: <{base}> .\n" for prefix, base in PREFIXES.items()).encode()
    while chunk := list(islice(every, _CHUNK)):
        count += len(chunk)
        data = ox.serialize(chunk, format=form.of, prefixes=dict(PREFIXES)) or b""
        yield _HEADER.sub(b"", data, count=1)  # each piece has its own header
    yield b"# %d statements\n" % count


def _write_json_ld(quads: Iterator[ox.Quad]) -> Iterator[bytes]:
    """Write quads as an array of graphs; a graph may come several times, each time with further nodes."""
    before = b"["
    while chunk := list(islice(quads, _CHUNK)):
        if any(isinstance(quad.object, ox.Triple) for quad in chunk):
            raise InputError("JSON-LD cannot hold RDF 1.2 triple terms: export as trig or nquads")
        yield before + b"\n" + (ox.serialize(chunk, format=ox.RdfFormat.JSON_LD) or b"[]").strip()[1:-1]
        before = b","
    yield b"[]\n" if before == b"[" else b"\n]\n"


def read_document(path: Path, form: Form, name: str) -> Iterator[ox.Quad]:
    """
    Read the quads of a document in a file; those outside of any graph are in the default graph.

    Args:
        name: the document's name in errors.

    Raises:
        InputError: it is not well formed, is nested too deep, has a DOCTYPE, names a context that would have to be fetched, or
            is cut off; the message says where.
    """
    refuse_unsafe(path, form.of, name)
    with path.open("rb") as source:
        mark = _digest_whole(source, name)
        names: dict[str, ox.BlankNode] = {}

        def own(quad: ox.Quad) -> ox.Quad:
            is_plain = all(
                isinstance(term, ox.Literal) or (isinstance(term, ox.NamedNode) and not term.value.startswith(_GENID))
                for term in (quad.subject, quad.object)
            )
            return quad if is_plain else _map_nodes(quad, lambda term: _blank(term, names, mark))

        given = with_known_context(source, name) if form.name == "jsonld" else source
        yield from map(own, parse_quads(given, form.of, name))


def rewrite(path: Path, form: Form, name: str, target: Path, most: int) -> int:
    """
    Write the quads of a document to another file as N-Quads lines; return their number.

    Raises:
        InputError: as `read_document`.
        TooLong: the lines exceed `most` bytes.
    """
    count, found = 0, read_document(path, form, name)
    with target.open("wb") as lines:
        while chunk := list(islice(found, _FEW)):
            count += len(chunk)
            lines.write(ox.serialize(chunk, format=ox.RdfFormat.N_QUADS) or b"")
            if lines.tell() > most:
                raise TooLong(f"{name} makes more than {most} bytes of statements: bring it in parts")
    return count


def read_lines(source: IO[bytes]) -> Iterator[ox.Quad]:
    """Read the quads that `rewrite` has written; raise `InputError` if the document contains something that is not RDF."""
    try:
        yield from ox.parse(source, ox.RdfFormat.N_QUADS)
    except SyntaxError as error:
        raise InputError(f"the document says something that is no RDF: {error.msg}") from None


_TEXTS = {MEM.hasState: ("state", MEM.State), MEM.hasAction: ("action", MEM.Action)}


def adopt_cases(lines: IO[bytes], bank: IRI) -> Iterator[ox.Quad]:
    """
    Yield the quads of a document; cases that are in no graph become those of a bank.

    *Because:* the first published design writes a case in the default graph, with its task, its plan and its time as plain text.
    The vector beside them is from another embedder.
    """
    cases = {
        quad.subject
        for quad in restore_graphs(lines)
        if isinstance(quad.graph_name, ox.DefaultGraph)
        and (quad.predicate.value, getattr(quad.object, "value", "")) == (TYPE, MEM.Case)
    }
    lines.seek(0)
    graph = ox.NamedNode(bank)
    for quad in restore_graphs(lines):
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


def _digest_whole(source: IO[bytes], name: str) -> str:
    """Return the digest of the document and rewind it; raise `InputError` if it is cut off."""
    digest, head, tail = sha256(), b"", b""
    while piece := source.read(1 << 20):
        digest.update(piece)
        head = head or piece[: len(HEAD)]
        tail = (tail + piece)[-100:]
    source.seek(0)
    if head == HEAD and not _TAIL.search(tail):
        raise InputError(f"{name} was cut off: its last line must say how many statements there are; export it again")
    return digest.hexdigest()


def _ground_quad(quad: ox.Quad) -> ox.Quad:
    """Return the quad with IRIs in place of its blank nodes."""
    is_plain = isinstance(quad.subject, ox.NamedNode) and isinstance(quad.object, ox.NamedNode | ox.Literal)
    return quad if is_plain else _map_nodes(quad, _name_blank)


def _name_blank(term: Node) -> Node:
    return ox.NamedNode(f"{_GENID}{term.value}") if isinstance(term, ox.BlankNode) else term


def _blank(term: Node, names: dict[str, ox.BlankNode], mark: str) -> Node:
    """Return the blank node for one of our names; number a document's own blank nodes, in the same way at each reading."""
    if isinstance(term, ox.NamedNode):
        label = term.value.removeprefix(_GENID)
        return ox.BlankNode(label) if _LABEL.fullmatch(label) and label != term.value else term
    if isinstance(term, ox.BlankNode):
        if term.value not in names:
            names[term.value] = ox.BlankNode(sha256(f"{mark} {len(names)}".encode()).hexdigest()[:32])
        return names[term.value]
    return term


def _map_nodes(quad: ox.Quad, change: Callable[[Node], Node]) -> ox.Quad:
    """Return the quad with other nodes, also inside triple terms."""

    def inside(term: Term) -> Term:
        if isinstance(term, ox.NamedNode | ox.BlankNode):
            return change(term)
        if isinstance(term, ox.Triple):
            return ox.Triple(cast(Node, inside(term.subject)), term.predicate, inside(term.object))
        return term

    return ox.Quad(cast(Node, inside(quad.subject)), quad.predicate, inside(quad.object), quad.graph_name)


def shorten_turtle(turtle: bytes) -> bytes:
    """
    Write Turtle again with those of the usual prefixes that it uses.

    >>> print(shorten_turtle(b"<urn:a> <http://purl.org/memento/about> <urn:b> .").decode(), end="")
    @prefix mem: <http://purl.org/memento/> .
    <urn:a> mem:about <urn:b> .
    """
    used = {name: base for name, base in PREFIXES.items() if base.encode() in turtle}
    triples = (quad.triple for quad in ox.parse(turtle, ox.RdfFormat.TURTLE))
    return ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=used) or b""
