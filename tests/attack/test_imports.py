"""Documents that mean it ill, at every interface that takes RDF: refused by name, nothing stored, and the service goes on."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import OFFLINE
from doors import serving
from memento.access import Access
from memento.archive.exchange import find_refused
from memento.errors import Forbidden, InputError, MementoError, ShapeViolation, TimedOut, TooLong
from memento.graph.backups import verify_backup
from memento.interfaces.cli import main
from memento.iris import IRI, MEM, TYPE
from memento.model import Merged, Value
from memento.plugins.cases.plan import parse_call
from memento.plugins.keys.labels import clean_keys
from memento.python import Client, Memento, open_memento
from memento.search.attributes import Sorting
from memento.search.index import Update
from memento.search.nodes import Record
from memento.service.handlers.care import take_in

MAIN = "urn:memento:graph:local:main"
RDF_XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'
DEEP = 20_000


def in_main(statements: str) -> bytes:
    return f"@prefix mem: <{MEM.base}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . <{MAIN}> {{ {statements} }}".encode()


def entities(doctype: str = "DOCTYPE") -> bytes:
    """Some 800 bytes that stand for ten times a million million."""
    names = "abcdefghijkl"
    made = '<!ENTITY a "xxxxxxxxxx">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names)
    )
    body = "<rdf:Description><e:p>&l;</e:p></rdf:Description></rdf:RDF>"
    return f"<!{doctype} r [{made}]>{RDF_XML}{body}".encode()


def nested(begin: bytes, middle: bytes, end: bytes, count: int = DEEP) -> bytes:
    return begin * count + middle + end * count


TRIPLES = b"<urn:s> <urn:p> " + nested(b"<<( <urn:s> <urn:p> ", b"<urn:o>", b" )>>") + b" ."
NESTED = {
    "entities": ("application/rdf+xml", entities(), "DOCTYPE"),
    "entities in small letters": ("application/rdf+xml", entities("doctype"), "DOCTYPE"),
    "triples in Turtle": ("text/turtle", TRIPLES, "triples are nested deeper than 8"),
    "triples in N-Triples": ("application/n-triples", TRIPLES, "triples are nested deeper than 8"),
    "triples behind a text": (
        "text/turtle",
        b'<urn:s> <urn:p> "<<(\\" <<(" , <urn:o> .\n' + TRIPLES,
        "line 2: triples",
    ),
    "graphs in JSON": ("application/ld+json", nested(b'{"@graph":', b"1", b"}"), "nested deeper than 100"),
    "contexts in JSON": (
        "application/ld+json",
        nested(b'{"@context":{"a":{"@context":', b"{}", b"}}}"),
        "nested deeper",
    ),
    "lists in JSON": ("application/ld+json", nested(b"[", b"1", b"]"), "nested deeper than 100"),
    "nodes in JSON": ("application/ld+json", nested(b'{"urn:p":', b"1", b"}"), "nested deeper than 100"),
}
FORMS = {
    "application/rdf+xml": "rdfxml",
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "application/ld+json": "jsonld",
}
ENDS = {"rdfxml": ".rdf", "turtle": ".ttl", "ntriples": ".nt", "jsonld": ".jsonld"}
SMALL = replace(OFFLINE, sparql=replace(OFFLINE.sparql, memory_mb=64, query_s=0.05))


def taken(memento: Memento, source: io.BytesIO, name: str, form: str, **options: Any) -> Merged:
    """A document brought in as the web brings it."""
    return take_in(source, name, form, memento.context, **{"namespace": None, **options})


Way = Callable[[Memento, bytes, str, Path], None]


def by_python(memento: Memento, document: bytes, media: str, folder: Path) -> None:
    (folder / "it").write_bytes(gzip.compress(document))
    memento.intake.import_rdf(folder / "it", form=FORMS[media], data="mine")


def by_stream(memento: Memento, document: bytes, media: str, folder: Path) -> None:
    taken(memento, io.BytesIO(document), "it", FORMS[media], data="mine")


def by_graph_store(memento: Memento, document: bytes, media: str, folder: Path) -> None:
    memento.graphs.put(document, "urn:memento:data:local:mine", media=media)


@pytest.mark.parametrize("way", [by_python, by_stream, by_graph_store])
@pytest.mark.parametrize("name", NESTED)
def test_what_would_end_the_process_is_refused_by_name(name: str, way: Way, memento: Memento, tmp_path: Path) -> None:
    media, document, said = NESTED[name]
    before = set(memento.service.stores.graph.graphs())

    with pytest.raises(InputError, match=said) as found:
        way(memento, document, media, tmp_path)

    assert found.value.status == 400
    assert set(memento.service.stores.graph.graphs()) == before


def test_what_is_nested_as_people_do_it_comes_in(memento: Memento) -> None:
    triple = b"<urn:s> <urn:p> " + nested(b"<<( <urn:s> <urn:p> ", b"<urn:o>", b" )>>", 8) + b" ."
    texts = b'<urn:s> <urn:p> "' + b"<<( " * 100 + b'" , <urn:o> . # <<( <<( <<( <<( <<( <<( <<( <<( <<( <<(\n'
    taken(memento, io.BytesIO(triple + texts), "it", "turtle", data="mine")
    taken(memento, io.BytesIO(nested(b'{"urn:p":', b'{"@id": "urn:x"}', b"}", 90)), "it", "jsonld", data="mine")

    assert b"urn:o" in memento.graphs.get("urn:memento:data:local:mine", accept="application/n-quads")[0]


@pytest.fixture
def served(memento: Memento) -> Iterator[str]:
    with serving(memento) as address:
        yield address


def posted(address: str, path: str, document: bytes, media: str, method: str = "POST") -> tuple[int, str]:
    connection = http.client.HTTPConnection(address.removeprefix("http://"))
    connection.request(method, path, document, {"Content-Type": media})
    answer = connection.getresponse()
    said = answer.status, answer.read().decode()
    connection.close()
    return said


@pytest.mark.parametrize("name", ["entities", "triples in Turtle", "graphs in JSON"])
def test_the_service_answers_400_and_goes_on(name: str, served: str, memento: Memento, tmp_path: Path) -> None:
    media, document, said = NESTED[name]
    (tmp_path / f"it{ENDS[FORMS[media]]}").write_bytes(document)
    arguments = ["import", str(tmp_path / f"it{ENDS[FORMS[media]]}"), "--data", "mine"]
    by_command = CliRunner().invoke(main, arguments, env={"MEMENTO_HOME": str(memento.service.datadir.path)})

    for path, method in (
        (f"/memory/import/rdf?data=mine&format={FORMS[media]}", "POST"),
        ("/sparql/graphs?graph=urn:memento:data:local:mine", "PUT"),
    ):
        status, body = posted(served, path, document, media, method)
        assert status == 400 and said in json.loads(body)["error"]["message"]
    assert by_command.exit_code != 0 and said in by_command.output
    assert Client(served).note("I live in Lisbon.").memories


@pytest.mark.parametrize(
    ("statements", "triple", "fix"),
    [
        (
            '<urn:memento:note:evil> mem:session <urn:x:s> ; mem:position "abc"',
            '<urn:memento:note:evil> mem:position "abc"',
            "a whole",
        ),
        ('<urn:x:fading> mem:halfLife "x"', '<urn:x:fading> mem:halfLife "x"', "a number of days"),
        ('<urn:x:link> mem:weight "heavy"', '<urn:x:link> mem:weight "heavy"', "a number"),
        ('<urn:x:link> mem:weight "NaN"^^xsd:double', '<urn:x:link> mem:weight "NaN"', "a number"),
        (
            '<urn:x:one> mem:validAt "2026-13-01T00:00:00Z"^^xsd:dateTime',
            '<urn:x:one> mem:validAt "2026-13',
            "xsd:dateTime",
        ),
        ('<urn:x:one> mem:about "Ana"', '<urn:x:one> mem:about "Ana"', "point at an IRI"),
        ('<urn:x:one> mem:keyType "odd"', '<urn:x:one> mem:keyType "odd"', "proper_noun"),
        ('<urn:x:one> mem:content "secret"@en', "<urn:x:one> mem:content …", "without a language"),
        (
            '<urn:x:one> a mem:Note ; mem:content "It is." ; mem:at "soon"',
            '<urn:x:one> mem:at "soon"',
            "exactly one mem:at",
        ),
    ],
)
def test_a_statement_that_no_reader_could_take_is_named_with_its_fix(
    statements: str, triple: str, fix: str, served: str, memento: Memento
) -> None:
    memento.note("I live in Lisbon.")
    before = memento.service.stores.graph.writes
    status, body = posted(served, "/memory/import/rdf?format=trig", in_main(f"{statements} ."), "application/trig")
    said = json.loads(body)["error"]["message"]

    assert status == 422 and triple in said and fix in said and "secret" not in said
    assert memento.service.stores.graph.writes == before
    with pytest.raises(ShapeViolation):
        memento.living.evaluate(f'(load (graph "{MAIN}" ("urn:x:note" (mem:position "abc"))))')


def test_only_the_owner_leaves_the_shapes_out(served: str, memento: Memento) -> None:
    document = in_main('<urn:memento:note:evil> mem:session <urn:x:s> ; mem:position "abc" .')
    memento.note("I live in Lisbon.")
    rights: list[dict[str, object]] = [
        {"right": "write"},
        {"right": "admin", "namespaces": ["main"]},
        {"right": "admin", "tenant": "other"},
    ]
    for number, right in enumerate(rights):
        access = Access(name=f"t{number}", **{"tenant": "local", "namespaces": (), **right})  # type: ignore[arg-type]
        with pytest.raises(Forbidden, match="check=false skips the shapes, which only the owner may do") as found:
            taken(memento.with_access(access), io.BytesIO(document), "it", "trig", check=False)
        assert found.value.status == 403
    status, _ = posted(served, "/memory/import/rdf?format=trig&check=false", document, "application/trig")

    assert status == 200
    aside = memento.status().set_aside
    assert aside is not None and aside.nodes == ("urn:memento:note:evil",)
    with open_memento(memento.service.datadir.path, configured=OFFLINE) as again:
        assert again.recall("Where do I live?").memories


def test_a_document_has_no_more_time_and_memory_than_a_worker(tmp_path: Path) -> None:
    slow = b"".join(b"<urn:s> <urn:p> %d .\n" % number for number in range(400_000))
    large = b'{"@context": "http://purl.org/memento/context.jsonld", "@graph": [%s]}' % b",".join(
        [b'{"@id": "urn:a"}'] * 2_000_000
    )
    with open_memento(tmp_path / "home", configured=SMALL) as memento:
        assert isinstance(memento, Memento)
        with pytest.raises(TimedOut, match=r"the document took longer than 0\.05 s"):
            taken(memento, io.BytesIO(slow), "it", "turtle", data="mine")
        memento.service.workers.limits = replace(memento.service.workers.limits, query_s=60)
        memento.service.settings = replace(memento.settings, sparql=replace(memento.settings.sparql, query_s=60))
        with pytest.raises(TooLong, match="the document took more memory than a worker has: 64 MiB"):
            taken(memento, io.BytesIO(large), "it", "jsonld", data="mine")
        assert memento.note("I live in Lisbon.").memories
        assert not list(memento.service.datadir.snapshots.glob("*/document"))


def test_statements_that_are_written_out_are_bounded_by_their_document(memento: Memento) -> None:
    prefix = b"@prefix a: <http://example.org/%s/> .\n" % (b"x" * 100_000)

    with pytest.raises(TooLong, match="bring it in parts"):
        taken(memento, io.BytesIO(prefix + b"a:a a:b a:c, a:d, a:e, a:f .\n" * 2_000), "it", "turtle", data="mine")


def test_a_node_that_indexes_would_not_take_in_is_found_before_it_is_written(
    memento: Memento, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No document brings one, as far as is known: an index refuses this one by its graph."""
    memory: dict[IRI, list[Value]] = {TYPE: [MEM.Memory], MEM.content: ["It is."]}
    sound, broken = (
        Record(IRI(f"urn:m:{graph}"), IRI(graph), memory) for graph in ("urn:memento:graph:local:main", "urn:x")
    )
    take_in = Sorting.apply

    def refuse(index: Sorting, update: Update) -> None:
        if any(record.graph == broken.graph for _, record in update.nodes):
            raise ValueError("no tenant")
        take_in(index, update)

    monkeypatch.setattr(Sorting, "apply", refuse)

    assert find_refused([sound], memento.service.stores.indexes) is None
    assert find_refused([sound, broken], memento.service.stores.indexes) == broken.iri
    assert len(memento.service.stores.indexes.nodes) == 0


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000])
def test_what_is_nested_too_deep_for_python_is_an_error_of_who_sent_it(text: str, tmp_path: Path, served: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="damaged"):
        verify_backup(tmp_path)
    assert len(clean_keys(text)) <= 1
    assert parse_call(f"read {text}", ()) is None
    for path in ("/memory/notes", "/memory/recall", "/memory/import", "/cases"):
        status, _ = posted(served, path, text.encode(), "application/json")
        assert status in (400, 404, 405, 415)
    begin = time.monotonic()
    status, _ = posted(served, "/memory/sexpr", json.dumps({"expression": "(" * 100_000}).encode(), "application/json")
    assert status == 400 and time.monotonic() - begin < 60
    with pytest.raises(MementoError):
        Client(served).living.evaluate("(" * 100_000)
