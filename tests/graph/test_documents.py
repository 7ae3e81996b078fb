"""What is written is read again to the letter; what is wrong is named by line and column; nothing is fetched."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from memento import assets
from memento.errors import InputError, NotAcceptable
from memento.graph.documents import HEAD, form_called, read_document, read_lines, rewrite, writable, write_document
from memento.iris import MEM, RDF, XSD

NAMED = ["trig", "nquads", "jsonld"]
GRAPH = ox.NamedNode("urn:memento:data:local:own")

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
# Names that look like a prefix or a term of the context must not be read as one.
names = st.builds(
    lambda scheme, rest, end: ox.NamedNode(f"{scheme}:{rest}{end}"),
    st.sampled_from(["urn", "mem", "content", "note", "http://purl.org/memento/x"]),
    st.text("abXY01:.-", max_size=8),
    st.sampled_from(["", "#a", "?a=b"]),
)
blanks = st.sampled_from("ab0").map(lambda label: ox.BlankNode(f"n{label}"))
typed = st.builds(
    lambda value, of: ox.Literal(value, datatype=ox.NamedNode(of)),
    st.sampled_from(
        ["1", "-07", "0.5", "true", "2024-02-29T12:00:00Z", "0044-03-15T09:00:00Z", "INF", "odd \" '\\ \n\t"]
    ),
    st.sampled_from([XSD.integer, XSD.dateTime, XSD.double, XSD.boolean, XSD.date, RDF.JSON, RDF.HTML, "urn:a-type"]),
)
literals = (
    text.map(ox.Literal)
    | typed
    | st.builds(lambda t, tag: ox.Literal(t, language=tag), text, st.sampled_from(["en", "de-ch", "ar"]))
)
predicates = st.sampled_from([MEM.content, MEM.about, MEM.position, MEM.validAt, RDF.type, "urn:p", "mem:p"]).map(
    ox.NamedNode
)
quads = st.builds(ox.Quad, names | blanks, predicates, names | blanks | literals, st.just(GRAPH) | names)


def document(found: list[ox.Quad], name: str) -> bytes:
    ordered = sorted(found, key=lambda quad: (str(quad.graph_name), str(quad.subject)))
    return b"".join(write_document([ordered], form_called(name)))


def back(data: bytes, name: str) -> list[ox.Quad]:
    """The quads of a document; the lines that a worker makes of it say the same."""
    with TemporaryDirectory() as folder:
        path, target = Path(folder) / "it", Path(folder) / "lines"
        path.write_bytes(data)
        found = list(read_document(path, form_called(name), f"a.{name}"))
        assert rewrite(path, form_called(name), f"a.{name}", target, 1_000_000) == len(found)
        with target.open("rb") as file:
            assert list(read_lines(file)) == found
        return found


@pytest.mark.parametrize("name", NAMED)
@settings(max_examples=40)
@given(found=st.lists(quads, max_size=12))
def test_what_is_written_is_read_again_to_the_letter(name: str, found: list[ox.Quad]) -> None:
    data = document(found, name)

    assert set(back(data, name)) == set(found)
    assert b"_:" not in data.replace(b"\\u", b"") or any("_:" in str(quad.object) for quad in found)


@pytest.mark.parametrize("name", ["trig", "nquads"])
def test_a_triple_term_survives_where_the_format_has_them(name: str) -> None:
    inside = ox.Triple(ox.NamedNode("urn:a"), ox.NamedNode("urn:p"), ox.BlankNode("n1"))
    quad = ox.Quad(ox.NamedNode("urn:x"), ox.NamedNode(RDF.reifies), inside, GRAPH)

    assert back(document([quad], name), name) == [quad]
    with pytest.raises(InputError, match="trig or nquads"):
        document([quad], "jsonld")


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_other_programs_read_what_we_write() -> None:
    world = set(ox.parse(assets.read("ontology/world.trig"), ox.RdfFormat.TRIG))
    counts = {}
    for name, of in (("trig", "trig"), ("nquads", "nquads"), ("jsonld", "json-ld")):
        dataset = rdflib.Dataset()
        dataset.parse(data=document(list(world), name), format=of)
        counts[name] = len(list(dataset.quads()))

    assert counts == dict.fromkeys(counts, len(world))


def test_json_ld_is_one_array_however_many_pieces_it_is_written_in() -> None:
    many = [ox.Quad(ox.NamedNode(f"urn:n:{n}"), ox.NamedNode(MEM.depth), ox.Literal(n), GRAPH) for n in range(4_500)]
    told = json.loads(document(many, "jsonld"))

    assert sum(len(graph["@graph"]) for graph in told) == 4_500
    assert {graph["@id"] for graph in told} == {GRAPH.value}
    assert json.loads(document([], "jsonld")) == []


def test_the_address_of_our_context_stands_for_it() -> None:
    data = b"""{"@context": ["http://purl.org/memento/context.jsonld", {"own": "urn:own"}], "@id": "urn:memento:data:local:x",
               "@graph": [{"@id": "urn:a", "content": "Hi", "own": true}]}"""

    assert {str(quad.predicate) for quad in back(data, "jsonld")} == {f"<{MEM.content}>", "<urn:own>"}


@contextmanager
def somebody() -> Iterator[tuple[str, list[str]]]:
    """A server, its address, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *arguments: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "body",
    [
        '{"@id": "urn:a",\n  "@context": "ADDRESS"}',
        '{"@id": "urn:a",\n  "@context": ["ADDRESS"]}',
        '{"@id": "urn:a",\n  "@context": {"x": {"@id": "urn:x", "@context": "ADDRESS"}}}',
        '{"@id": "urn:a", "urn:p": {\n  "@context": "ADDRESS"}}',
        '{"@id": "urn:a",\n  "@context": {"@version": 1.1, "@import": "ADDRESS"}}',
    ],
)
def test_a_context_elsewhere_is_not_fetched_and_is_named_by_its_place(body: str) -> None:
    with somebody() as (address, asked), pytest.raises(InputError) as refused:
        back(body.replace("ADDRESS", f"{address}/context").encode(), "jsonld")

    assert re.match(r"a.jsonld line 2, column \d+: the context 'http://127.*is not fetched", str(refused.value))
    assert asked == []


@pytest.mark.parametrize(
    ("name", "data", "place"),
    [
        ("trig", b"GRAPH <urn:g> {\n  <urn:a> <urn:b> bad .\n}", "line 2, column 19"),
        ("nquads", b"<urn:a> <urn:b> <urn:c> <urn:g> .\n<urn:a> <urn b> 3 .\n", "line 2, column 9"),
        ("jsonld", b'{"@id": "urn:a",\n  "urn:b": }', "line 2, column 12"),
        ("trig", b'<urn:a> <urn:b> """never\nclosed', "line 1, column 17"),
    ],
)
def test_what_is_wrong_is_named_by_line_and_column(name: str, data: bytes, place: str) -> None:
    with pytest.raises(InputError, match=f"a.{name} {place}: ") as failed:
        back(data, name)

    assert "Parser error" not in str(failed.value)


@pytest.mark.parametrize("name", ["trig", "nquads"])
def test_a_document_without_its_end_is_noticed(name: str) -> None:
    quad = ox.Quad(ox.NamedNode("urn:a"), ox.NamedNode("urn:p"), ox.Literal("x"), GRAPH)
    data = document([quad, ox.Quad(ox.NamedNode("urn:b"), quad.predicate, quad.object, GRAPH)], name)
    lines = data.splitlines(keepends=True)

    assert data.startswith(HEAD)
    with pytest.raises(InputError, match="cut off"):
        back(b"".join(lines[:-1]), name)


def test_a_documents_own_blank_nodes_are_the_same_each_time_and_no_others() -> None:
    one, other = b"_:x <urn:p> [ <urn:q> 1 ] .", b"_:x <urn:p> [ <urn:q> 2 ] ."

    assert set(back(one, "turtle")) == set(back(one, "turtle"))
    assert not {quad.subject for quad in back(one, "turtle")} & {quad.subject for quad in back(other, "turtle")}


def test_a_format_is_found_by_name_by_media_type_and_by_the_end_of_a_file_name() -> None:
    assert form_called("/tmp/Mine.NQ.gz").name == "nquads"
    assert form_called("text/turtle").name == "turtle"
    with pytest.raises(InputError, match=r"trig \(\.trig\), nquads"):
        form_called("notes.docx")
    with pytest.raises(NotAcceptable, match="named graphs"):
        writable(form_called("rdfxml"))
